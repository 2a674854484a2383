"""Patch: every operation, positions in arrays, atomicity, and what is refused."""

import json

import pytest

from sdk import refused, without_system_properties


def _op(op, path, **members):
    return {"op": op, "path": path, **members}


GOOD = {
    "add a member": ({}, [_op("add", "/a", value=1)], {"a": 1}),
    "add over a member": ({"a": 1}, [_op("add", "/a", value=2)], {"a": 2}),
    "add an object": ({}, [_op("add", "/a", value={"b": [1]})], {"a": {"b": [1]}}),
    "add below": ({"a": {}}, [_op("add", "/a/b", value=1)], {"a": {"b": 1}}),
    "add null": ({}, [_op("add", "/a", value=None)], {"a": None}),
    "add at the front": ({"a": [1, 2]}, [_op("add", "/a/0", value=0)], {"a": [0, 1, 2]}),
    "add in the middle": ({"a": [1, 2]}, [_op("add", "/a/1", value=0)], {"a": [1, 0, 2]}),
    "add at the length": ({"a": [1, 2]}, [_op("add", "/a/2", value=0)], {"a": [1, 2, 0]}),
    "append": ({"a": [1, 2]}, [_op("add", "/a/-", value=0)], {"a": [1, 2, 0]}),
    "append to nothing": ({"a": []}, [_op("add", "/a/-", value=0)], {"a": [0]}),
    "add inside an element": ({"a": [{"b": 1}]}, [_op("add", "/a/0/c", value=2)], {"a": [{"b": 1, "c": 2}]}),
    "set a member": ({}, [_op("set", "/a", value=1)], {"a": 1}),
    "set over a member": ({"a": 1}, [_op("set", "/a", value="x")], {"a": "x"}),
    "set an element": ({"a": [1, 2, 3]}, [_op("set", "/a/1", value=0)], {"a": [1, 0, 3]}),
    "replace a member": ({"a": 1}, [_op("replace", "/a", value=[2])], {"a": [2]}),
    "replace an element": ({"a": [1, 2]}, [_op("replace", "/a/0", value=0)], {"a": [0, 2]}),
    "remove a member": ({"a": 1, "b": 2}, [_op("remove", "/a")], {"b": 2}),
    "remove an element": ({"a": [1, 2, 3]}, [_op("remove", "/a/1")], {"a": [1, 3]}),
    "remove below": ({"a": {"b": 1, "c": 2}}, [_op("remove", "/a/b")], {"a": {"c": 2}}),
    "increment": ({"a": 41}, [_op("incr", "/a", value=1)], {"a": 42}),
    "decrement": ({"a": 1}, [_op("incr", "/a", value=-3)], {"a": -2}),
    "increment by a fraction": ({"a": 1}, [_op("incr", "/a", value=0.5)], {"a": 1.5}),
    "increment what is missing": ({}, [_op("incr", "/a", value=5)], {"a": 5}),
    "increment an element": ({"a": [1, 2]}, [_op("incr", "/a/1", value=1)], {"a": [1, 3]}),
    "move a member": ({"a": 1}, [_op("move", "/b", **{"from": "/a"})], {"b": 1}),
    "move over a member": ({"a": 1, "b": 2}, [_op("move", "/b", **{"from": "/a"})], {"b": 1}),
    "move below": ({"a": 1, "b": {}}, [_op("move", "/b/c", **{"from": "/a"})], {"b": {"c": 1}}),
    "move out of an array": ({"a": [1, 2]}, [_op("move", "/b", **{"from": "/a/0"})], {"a": [2], "b": 1}),
    "escaped slash": ({}, [_op("set", "/a~1b", value=1)], {"a/b": 1}),
    "escaped tilde": ({}, [_op("set", "/a~0b", value=1)], {"a~b": 1}),
    "escapes in order": ({}, [_op("set", "/a~01b", value=1)], {"a~1b": 1}),
    "digits name a member of an object": ({"a": {}}, [_op("set", "/a/0", value=1)], {"a": {"0": 1}}),
    "one after the other": (
        {"a": [1]},
        [
            _op("add", "/b", value={}),
            _op("add", "/b/c", value=1),
            _op("incr", "/b/c", value=1),
            _op("add", "/a/-", value=2),
        ],
        {"a": [1, 2], "b": {"c": 2}},
    ),
    "ten operations": ({"a": 0}, [_op("incr", "/a", value=1)] * 10, {"a": 10}),
    "time to live": ({}, [_op("set", "/ttl", value=100)], {"ttl": 100}),
}

BAD = {
    "nothing to do": [],
    "eleven operations": [_op("incr", "/n", value=1)] * 11,
    "unknown operation": [_op("copy", "/b", **{"from": "/n"})],
    "no operation": [{"path": "/n", "value": 1}],
    "no path": [{"op": "set", "value": 1}],
    "no value": [_op("set", "/n")],
    "root": [_op("set", "", value={})],
    "path without a slash": [_op("set", "n", value=1)],
    "add below nothing": [_op("add", "/x/y", value=1)],
    "add below a number": [_op("add", "/n/y", value=1)],
    "add past the end": [_op("add", "/list/4", value=1)],
    "set past the end": [_op("set", "/list/9", value=1)],
    "array position is a word": [_op("add", "/list/first", value=1)],
    "replace what is missing": [_op("replace", "/x", value=1)],
    "replace an element past the end": [_op("replace", "/list/3", value=1)],
    "remove what is missing": [_op("remove", "/x")],
    "remove an element past the end": [_op("remove", "/list/3")],
    "increment text": [_op("incr", "/text", value=1)],
    "increment by text": [_op("incr", "/n", value="1")],
    "move what is missing": [_op("move", "/y", **{"from": "/x"})],
    "move below itself": [_op("move", "/object/inner", **{"from": "/object"})],
    "move without a source": [_op("move", "/y")],
    "id": [_op("set", "/id", value="2")],
    "partition key": [_op("set", "/city", value="Bergen")],
    "remove the partition key": [_op("remove", "/city")],
    "move the partition key": [_op("move", "/x", **{"from": "/city"})],
    "_ts": [_op("set", "/_ts", value=1)],
    "_etag": [_op("set", "/_etag", value="x")],
    "_rid": [_op("remove", "/_rid")],
    "_self": [_op("set", "/_self", value="x")],
    "time to live zero": [_op("set", "/ttl", value=0)],
    "second of two": [_op("set", "/n", value=100), _op("remove", "/x")],
}


@pytest.mark.parametrize(("before", "operations", "after"), GOOD.values(), ids=GOOD.keys())
def test_operations_apply(container, before, operations, after):
    created = container.create_item({"id": "1", "city": "Oslo", **before})
    patched = container.patch_item("1", "Oslo", operations)
    assert without_system_properties(patched) == {"id": "1", "city": "Oslo", **after}
    assert container.read_item("1", "Oslo") == patched
    assert patched["_etag"] != created["_etag"]
    assert patched["_rid"] == created["_rid"]


@pytest.mark.parametrize("operations", BAD.values(), ids=BAD.keys())
def test_operations_refused_change_nothing(container, operations):
    body = {"id": "1", "city": "Oslo", "n": 1, "text": "x", "list": [1, 2, 3], "object": {"inner": {}}}
    created = container.create_item(body)
    with refused(400):
        container.patch_item("1", "Oslo", operations)
    assert container.read_item("1", "Oslo") == created


def test_nested_partition_key_cannot_be_patched(make_container):
    container = make_container("/address/city")
    container.create_item({"id": "1", "address": {"city": "Oslo", "street": "x"}})
    for operation in [
        _op("set", "/address/city", value="Bergen"),
        _op("set", "/address", value={"city": "Bergen"}),
        _op("remove", "/address"),
    ]:
        with refused(400):
            container.patch_item("1", "Oslo", [operation])
    assert container.patch_item("1", "Oslo", [_op("set", "/address/street", value="y")])["address"]["street"] == "y"


def test_integers_stay_integers_and_order_stays_order(container):
    container.create_item({"z": 1, "id": "1", "city": "Oslo", "a": 2**53 + 1, "m": 0.5})
    patched = container.patch_item("1", "Oslo", [_op("incr", "/z", value=1), _op("set", "/new", value=2**63 - 1)])
    wanted = {"z": 2, "id": "1", "city": "Oslo", "a": 2**53 + 1, "m": 0.5, "new": 2**63 - 1}
    assert json.dumps(without_system_properties(patched)) == json.dumps(wanted)


def test_condition_decides_whether_a_patch_applies(container):
    container.create_item({"id": "1", "city": "Oslo", "n": 1})
    operations = [_op("incr", "/n", value=1)]
    patched = container.patch_item("1", "Oslo", operations, filter_predicate="FROM c WHERE c.n = 1")
    assert patched["n"] == 2
    with refused(412):
        container.patch_item("1", "Oslo", operations, filter_predicate="FROM c WHERE c.n = 1")
    with refused(400):
        container.patch_item("1", "Oslo", operations, filter_predicate="FROM c WHERE")
    assert container.read_item("1", "Oslo")["n"] == 2
