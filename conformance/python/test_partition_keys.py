"""Partition keys of every kind: where an item lives, and what happens when the key is wrong."""

import pytest
from azure.cosmos.exceptions import CosmosResourceNotFoundError
from azure.cosmos.partition_key import NonePartitionKeyValue, NullPartitionKeyValue

import wire
from sdk import refused, without_system_properties

MISSING = object()

VALUES = {
    "text": "Oslo",
    "empty text": "",
    "Unicode": "Ålesund 😀",
    "long text": "x" * 1_000,
    "integer": 42,
    "zero": 0,
    "negative": -7,
    "fraction": 0.1,
    "huge": 1e300,
    "true": True,
    "false": False,
    "null": None,
    "missing": MISSING,
}


def _body(value, **members) -> dict:
    return {"id": "1", **({} if value is MISSING else {"city": value}), **members}


def _key(value):
    return NonePartitionKeyValue if value is MISSING else value


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_key_of_any_kind_works_through_every_verb(make_container, value, version):
    if version == 1 and value == VALUES["long text"]:
        value = value[:100]
    container = make_container(version=version)
    key = _key(value)
    container.create_item(_body(value, n=1))
    assert container.read_item("1", key)["n"] == 1
    container.replace_item("1", _body(value, n=2))
    container.upsert_item(_body(value, n=3))
    container.patch_item("1", key, [{"op": "incr", "path": "/n", "value": 1}])
    assert without_system_properties(container.read_item("1", key)) == _body(value, n=4)
    container.delete_item("1", key)
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("1", key)


def test_one_id_lives_once_under_each_key(container):
    for number, value in enumerate(VALUES.values()):
        container.create_item(_body(value, n=number))
    assert [container.read_item("1", _key(value))["n"] for value in VALUES.values()] == list(range(len(VALUES)))
    assert len(list(container.read_all_items())) == len(VALUES)


def test_null_has_two_spellings_and_is_not_missing(container):
    container.create_item({"id": "null", "city": None})
    assert container.read_item("null", None)["city"] is None
    assert container.read_item("null", NullPartitionKeyValue)["city"] is None
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("null", NonePartitionKeyValue)
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("null", "")


def test_equal_numbers_are_one_key(container):
    container.create_item({"id": "1", "city": 5})
    assert container.read_item("1", 5.0)["city"] == 5
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("1", "5")


@pytest.mark.parametrize(
    ("path", "body", "key"),
    [
        ("/address/city", {"address": {"city": "Oslo"}}, "Oslo"),
        ("/a/b/c/d", {"a": {"b": {"c": {"d": 5}}}}, 5),
        ("/address/city", {"address": {"street": "x"}}, NonePartitionKeyValue),
        ("/address/city", {"address": "flat"}, NonePartitionKeyValue),
        ("/address/city", {}, NonePartitionKeyValue),
        ('/"first name"', {"first name": "Ada"}, "Ada"),
        ('/"a/b"/c', {"a/b": {"c": "deep"}}, "deep"),
        ("/id", {}, "1"),
    ],
)
def test_key_is_found_along_its_path(make_container, path, body, key):
    container = make_container(path)
    container.create_item({"id": "1", **body})
    assert without_system_properties(container.read_item("1", key)) == {"id": "1", **body}


LEVELS = ["/tenant", "/user", "/session"]


@pytest.mark.parametrize(
    "key",
    [["t", "u", "s"], ["t", 5, True], ["t", None, -0.5], ["", "", ""], ["Ünï", "日本", "😀"]],
    ids=["text", "mixed", "null", "empty", "Unicode"],
)
def test_hierarchical_key_works_through_every_verb(make_container, key):
    container = make_container(LEVELS)
    body = {"id": "1", "tenant": key[0], "user": key[1], "session": key[2]}
    container.create_item(body)
    assert without_system_properties(container.read_item("1", key)) == body
    container.replace_item("1", {**body, "n": 1})
    container.upsert_item({**body, "n": 2})
    assert container.patch_item("1", key, [{"op": "incr", "path": "/n", "value": 1}])["n"] == 3
    container.delete_item("1", key)
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("1", key)


def test_hierarchical_levels_are_told_apart(make_container):
    container = make_container(["/tenant", "/user"])
    pairs = [("a", "b"), ("b", "a"), ("ab", ""), ("", "ab"), ("a", None), (None, "a")]
    for number, (tenant, user) in enumerate(pairs):
        container.create_item({"id": "1", "tenant": tenant, "user": user, "n": number})
    assert [container.read_item("1", list(pair))["n"] for pair in pairs] == list(range(len(pairs)))


def test_prefix_of_a_hierarchical_key_names_no_item(make_container):
    container = make_container(LEVELS)
    container.create_item({"id": "1", "tenant": "t", "user": "u", "session": "s"})
    with refused(400):
        container.read_item("1", ["t", "u"])
    with refused(400):
        container.delete_item("1", ["t"])


def test_key_other_than_the_items_is_a_mismatch(container):
    with refused(400, 1001):
        container.create_item({"id": "1", "city": "Oslo"}, request_options={"partitionKey": "Bergen"})
    with refused(400, 1001):
        container.upsert_item({"id": "1", "city": "Oslo"}, request_options={"partitionKey": None})
    container.create_item({"id": "1", "city": "Oslo"})
    with refused(400, 1001):
        container.replace_item("1", {"id": "1", "city": "Bergen"}, request_options={"partitionKey": "Oslo"})
    assert container.read_item("1", "Oslo")["city"] == "Oslo"


def test_replace_under_another_key_finds_nothing(container):
    container.create_item({"id": "1", "city": "Oslo"})
    with pytest.raises(CosmosResourceNotFoundError):
        container.replace_item("1", {"id": "1", "city": "Bergen"})


@pytest.mark.parametrize(
    "key", [None, "", "Oslo", '"Oslo"', '["Oslo"', "{}", '["Oslo","Bergen"]', "[[1]]", '[{"a":1}]']
)
def test_malformed_key_header_is_refused(server, database, container, key):
    headers = {} if key is None else {"x-ms-documentdb-partitionkey": key}
    path = f"/dbs/{database.id}/colls/{container.id}/docs"
    answer = wire.send(server, "POST", path, {"id": "1", "city": "Oslo"}, headers)
    assert answer.status == 400
    assert wire.send(server, "GET", f"{path}/1", headers=headers).status == 400


def test_key_has_a_length_limit(container):
    assert container.create_item({"id": "1", "city": "x" * 2048})["id"] == "1"
    with refused(400):
        container.create_item({"id": "2", "city": "x" * 2049})
