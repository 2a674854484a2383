"""Bounds on items: size, nesting, time to live, bodies that are no items."""

import pytest

import wire
from sdk import refused

ITEM_BYTES_MAX = 2 * 1024 * 1024
NESTING_MAX = 128


def test_item_just_below_the_limit_is_stored(container):
    text = "x" * (ITEM_BYTES_MAX - 1024)
    container.create_item({"id": "1", "city": "Oslo", "text": text})
    assert container.read_item("1", "Oslo")["text"] == text


@pytest.mark.parametrize("too_much", [ITEM_BYTES_MAX, ITEM_BYTES_MAX + 1, 3 * 1024 * 1024])
def test_item_above_the_limit_is_too_large(container, too_much):
    item = {"id": "1", "city": "Oslo", "text": "x" * too_much}
    with refused(413) as caught:
        container.create_item(item)
    assert "(RequestEntityTooLarge)" in str(caught.value)
    with refused(413):
        container.upsert_item(item)
    assert list(container.read_all_items()) == []


def test_item_may_not_grow_above_the_limit(container):
    created = container.create_item({"id": "1", "city": "Oslo", "text": "x" * (ITEM_BYTES_MAX - 1024)})
    with refused(413):
        container.replace_item("1", {"id": "1", "city": "Oslo", "text": "x" * ITEM_BYTES_MAX})
    with refused(413):
        container.patch_item("1", "Oslo", [{"op": "add", "path": "/more", "value": "x" * 2048}])
    assert container.read_item("1", "Oslo") == created


def _nested(levels: int):
    value = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def test_nesting_has_a_limit(container):
    assert container.create_item({"id": "1", "city": "Oslo", **_nested(NESTING_MAX - 8)})["id"] == "1"
    with refused(400):
        container.create_item({"id": "2", "city": "Oslo", **_nested(NESTING_MAX + 1)})


BODIES = {
    "nothing": b"",
    "array": b"[]",
    "text": b'"text"',
    "number": b"5",
    "cut off": b'{"id":"1","city":"Oslo"',
    "two values": b'{"id":"1","city":"Oslo"}{}',
    "bare word": b'{"id":"1","city":Oslo}',
    "NaN": b'{"id":"1","city":"Oslo","n":NaN}',
    "control character": b'{"id":"1","city":"Oslo","t":"\x01"}',
    "invalid UTF-8": b'{"id":"1","city":"Oslo","t":"\xff\xfe"}',
    "trailing comma": b'{"id":"1","city":"Oslo",}',
    "leading zero": b'{"id":"1","city":"Oslo","n":01}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_bodies_that_are_no_items_are_refused(server, database, container, body):
    path = f"/dbs/{database.id}/colls/{container.id}/docs"
    headers = {"x-ms-documentdb-partitionkey": '["Oslo"]', "content-type": "application/json"}
    answer = wire.send(server, "POST", path, body, headers)
    assert answer.status == 400
    assert answer.body["code"] == "BadRequest"
    assert list(container.read_all_items()) == []


@pytest.mark.parametrize("ttl", [0, -2, 2_147_483_648, 1.5, "60", True, {}])
def test_time_to_live_of_an_item_has_a_form(make_container, ttl):
    container = make_container(default_ttl=-1)
    with refused(400):
        container.create_item({"id": "1", "city": "Oslo", "ttl": ttl})


@pytest.mark.parametrize("ttl", [1, -1, 2_147_483_647])
def test_time_to_live_of_an_item_is_kept(make_container, ttl):
    container = make_container(default_ttl=-1)
    assert container.create_item({"id": "1", "city": "Oslo", "ttl": ttl})["ttl"] == ttl
