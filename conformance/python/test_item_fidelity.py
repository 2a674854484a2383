"""What is stored is what was sent: order of members, numbers, text."""

import json

import pytest
from azure.cosmos import CosmosClient

from sdk import without_system_properties
from server import KEY

NUMBERS = [
    0,
    -1,
    2**31,
    2**53,
    2**53 + 1,
    -(2**53) - 1,
    2**63 - 1,
    -(2**63),
    0.1,
    -0.0,
    1.5e-7,
    5e-324,
    1.7976931348623157e308,
    3.141592653589793,
    123456789.123456789,
    1e21,
]

TEXTS = [
    "",
    "plain",
    "\u0000\u0001\u001f",
    '"\\/\b\f\n\r\t',
    "\u007f\u0080\u2028\u2029\ufeff",
    "Ελληνικά",
    "日本語",
    "😀 👩‍👩‍👧‍👦",
    "\U0010ffff",
    "x" * 10_000,
]


def _stored(container, value):
    container.upsert_item({"id": "1", "city": "Oslo", "value": value})
    return container.read_item("1", "Oslo")["value"]


@pytest.mark.parametrize("number", NUMBERS)
def test_number_is_exact(container, number):
    stored = _stored(container, number)
    assert type(stored) is type(number)
    assert json.dumps(stored) == json.dumps(number)


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_exact(container, text):
    assert _stored(container, text) == text


@pytest.mark.parametrize(
    "value",
    [None, True, False, [], {}, [[]], [{}], {"": ""}, {"a": [1, "two", None, {"b": []}]}, {"a.b": {"c/d": "~"}}],
)
def test_value_is_exact(container, value):
    assert _stored(container, value) == value


def test_order_of_members_is_kept(container):
    body = {"zulu": 1, "id": "1", "alpha": {"y": 1, "x": {"b": 1, "a": 2}}, "city": "Oslo", "mike": [{"n": 1, "m": 2}]}
    container.create_item(body)
    read = container.read_item("1", "Oslo")
    assert json.dumps(without_system_properties(read)) == json.dumps(body)
    listed = next(iter(container.read_all_items()))
    assert json.dumps(listed) == json.dumps(read)


def test_deep_nesting_is_kept(container):
    value = "bottom"
    for _ in range(50):
        value = {"a": [value]}
    assert _stored(container, value) == value


def test_many_members_are_kept(container):
    value = {f"member {number}": number for number in range(2_000)}
    assert _stored(container, value) == value


def test_unicode_sent_unescaped_is_the_same(server, database, container):
    body = {"id": "ключ", "city": "Осло", "text": "😀 日本語 é"}
    with CosmosClient(server.https, KEY, enable_compact_utf8_item_writes=True) as compact:
        other = compact.get_database_client(database.id).get_container_client(container.id)
        other.create_item(body)
    assert without_system_properties(container.read_item("ключ", "Осло")) == body
