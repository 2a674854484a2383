"""Values of every Edm type go through the Table API without a loss, and so do their types."""

import json
import math
import uuid
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum

import pytest
from azure.data.tables import EdmType, EntityProperty, UpdateMode

from tables import FULL_METADATA, STORAGE, entity, refused, rows

GUID = uuid.UUID("c9da6455-213d-42c9-9a79-3e9149a57833")


class Colour(Enum):
    RED = "red"


VALUES = {
    "String": [
        "",
        "text",
        "Ünïcödé 表 🙂",
        'it\'s "quoted" \\ / \b\f\n\r\t',
        "\u2028\u2029\ufeff",
        "\u0001\u001f",
        "NaN",
        "2020-01-01T00:00:00Z",
        " padded ",
        "\U0010ffff",
    ],
    "Int32": [0, 1, -1, 2**31 - 1, -(2**31)],
    "Int64": [EntityProperty(n, EdmType.INT64) for n in (0, 5, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))],
    "Double": [0.0, 3.0, -3.5, 0.1, 1e21, 1e300, 5e-324, 1.7976931348623157e308, 2.0**53, math.inf, -math.inf],
    "Boolean": [True, False],
    "DateTime": [
        datetime(1973, 10, 4, tzinfo=UTC),
        datetime(1601, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2022, 4, 1, 9, 30, 45, 123_456, tzinfo=UTC),
    ],
    "Guid": [GUID, uuid.UUID(int=0)],
    "Binary": [b"", b"binary", bytes(range(256))],
}
CASES = [(name, value) for name, values in VALUES.items() for value in values]


@pytest.mark.parametrize("name", list(VALUES))
def test_values_come_back_as_they_went(table, name):
    body = entity("r", **{f"{name}{n}": value for n, value in enumerate(VALUES[name])})
    table.create_entity(body)
    table.submit_transaction([("create", {**body, "RowKey": "s"})])
    read = table.get_entity("p", "r")
    assert read == body
    assert {key: type(value).__name__ for key, value in read.items() if key.startswith(name)} == {
        f"{name}{n}": "TablesEntityDatetime" if name == "DateTime" else type(value).__name__
        for n, value in enumerate(VALUES[name])
    }
    assert table.get_entity("p", "s") == {**body, "RowKey": "s"}
    assert list(table.query_entities("RowKey eq 'r'")) == [body]

    # What was read is written again, in all the ways, and is still the same.
    table.update_entity(read, mode=UpdateMode.REPLACE)
    assert table.get_entity("p", "r") == body
    table.upsert_entity(read, mode=UpdateMode.MERGE)
    assert table.get_entity("p", "r") == body


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("text", EdmType.STRING, "text"),
        (7, EdmType.STRING, "7"),
        (7, EdmType.INT32, 7),
        ("7", EdmType.INT32, 7),
        (7, EdmType.INT64, EntityProperty(7, EdmType.INT64)),
        ("7", EdmType.INT64, EntityProperty(7, EdmType.INT64)),
        (5, EdmType.DOUBLE, 5.0),
        ("5.5", EdmType.DOUBLE, 5.5),
        ("NaN", EdmType.DOUBLE, math.nan),
        ("Infinity", EdmType.DOUBLE, math.inf),
        (True, EdmType.BOOLEAN, True),
        ("true", EdmType.BOOLEAN, True),
        ("false", EdmType.BOOLEAN, False),
        (datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC), EdmType.DATETIME, datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2020-01-02T03:04:05Z", EdmType.DATETIME, datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2020-01-02T03:04:05.1234567Z", EdmType.DATETIME, datetime(2020, 1, 2, 3, 4, 5, 123_456, tzinfo=UTC)),
        (GUID, EdmType.GUID, GUID),
        (str(GUID).upper(), EdmType.GUID, GUID),
        (b"\x00\xff", EdmType.BINARY, b"\x00\xff"),
        ("text", EdmType.BINARY, b"text"),
    ],
)
def test_values_that_name_their_type(common_table, partition, value, kind, expected):
    common_table.create_entity(entity("r", partition, v=EntityProperty(value, kind), w=(value, kind.value)))
    read = common_table.get_entity(partition, "r")
    for name in "vw":
        assert type(read[name]).__name__.removeprefix("TablesEntity").lower() == type(expected).__name__.lower()
        assert read[name] == expected or (math.isnan(expected) and math.isnan(read[name]))


def test_the_seventh_digit_of_a_time(table):
    text = "2020-01-02T03:04:05.1234567Z"
    table.create_entity(entity("r", when=(text, EdmType.DATETIME)))
    read = table.get_entity("p", "r")
    assert read["when"].tables_service_value == text
    table.update_entity(read, mode=UpdateMode.REPLACE)
    assert table.get_entity("p", "r")["when"].tables_service_value == text
    assert rows(table.query_entities(f"when eq datetime'{text}'")) == ["r"]
    assert rows(table.query_entities("when eq datetime'2020-01-02T03:04:05.1234568Z'")) == []


def test_times_of_other_zones_are_stored_as_utc(table):
    there = datetime(2020, 6, 1, 12, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    table.create_entity(entity("r", when=there))
    read = table.get_entity("p", "r")["when"]
    assert read == there
    assert read.tzinfo == UTC


def test_nan(table):
    table.create_entity(entity("r", v=math.nan))
    assert math.isnan(table.get_entity("p", "r")["v"])


def test_negative_zero_keeps_its_sign(table):
    table.create_entity(entity("r", v=-0.0))
    assert math.copysign(1, table.get_entity("p", "r")["v"]) == -1


def test_none_and_enumerations(table):
    table.create_entity(entity("r", nothing=None, typed=(None, EdmType.INT64), colour=Colour.RED))
    assert table.get_entity("p", "r") == entity("r", colour="Colour.RED")


@pytest.mark.parametrize("headers", [None, FULL_METADATA], ids=["minimal", "full"])
def test_types_are_annotated(table, headers):
    table.create_entity(
        entity("r", s="x", i=1, l=(1, "Edm.Int64"), d=1.0, n=math.nan, b=True, t=datetime.now(UTC), g=GUID, y=b"x")
    )
    seen = []
    options = {"headers": headers} if headers else {}
    table.get_entity(
        "p", "r", raw_response_hook=lambda answer: seen.append(json.loads(answer.http_response.text())), **options
    )
    annotated = {name: value for name, value in seen[0].items() if name.endswith("@odata.type")}
    expected = {"l": "Int64", "n": "Double", "t": "DateTime", "g": "Guid", "y": "Binary"}
    if headers:
        expected["Timestamp"] = "DateTime"
    assert annotated == {f"{name}@odata.type": f"Edm.{kind}" for name, kind in expected.items()}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("not a number", EdmType.DOUBLE),
        ("2020-13-01T00:00:00Z", EdmType.DATETIME),
        ("yesterday", EdmType.DATETIME),
        ("not a guid", EdmType.GUID),
        ("maybe", EdmType.BOOLEAN),
    ],
)
def test_values_that_do_not_fit_their_type(common_table, partition, value, kind):
    with refused(400, "InvalidInput"):
        common_table.create_entity(entity("r", partition, v=(value, kind)))
    assert list(common_table.query_entities(f"PartitionKey eq '{partition}'")) == []


def test_types_survive_merges_of_other_properties(table):
    body = entity("r", **{f"v{n}": value for n, (_, value) in enumerate(CASES)})
    table.create_entity(body)
    table.update_entity(entity("r", more=1))
    assert table.get_entity("p", "r") == {**body, "more": 1}
    table.submit_transaction([("update", entity("r", more=2, v0=EntityProperty(1, EdmType.INT64)))])
    assert table.get_entity("p", "r") == {**body, "more": 2, "v0": EntityProperty(1, EdmType.INT64)}


def test_both_flavours_read_the_same_values(server, table):
    body = entity("r", **{f"v{n}": value for n, (_, value) in enumerate(CASES)})
    table.create_entity(body)
    with STORAGE.table(server, table.table_name) as other:
        assert other.get_entity("p", "r") == body
