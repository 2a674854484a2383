"""Queries of the Table API: every form of a filter, parameters, pages."""

import math
import uuid
from datetime import UTC, datetime

import pytest
from azure.data.tables import EdmType, EntityProperty, TableErrorCode

from conftest import fresh_table
from tables import BOTH_FLAVOURS, ROOMY, entity, refused, rows

GUIDS = [uuid.UUID(int=n << 64) for n in range(12)]
DAYS = [datetime(2020, 1, 1 + n, 12, 30, tzinfo=UTC) for n in range(12)]


def _person(n: int) -> dict:
    body = entity(
        f"r{n:02}",
        f"p{n % 3}",
        n=n,
        big=EntityProperty(2**53 + n, EdmType.INT64),
        ratio=n / 4,
        name=["Ann", "Bob", "it's", "Ünïcödé 🙂"][n % 4],
        even=n % 2 == 0,
        when=DAYS[n],
        uid=GUIDS[n],
        data=bytes([n, 255]),
        mixed=[n, str(n), n / 2, EntityProperty(n, EdmType.INT64)][n % 4],
    )
    if n % 5 == 0:
        body["rare"] = "here"
    return body


PEOPLE = [_person(n) for n in range(12)]


@pytest.fixture(scope="module")
def people(table_service):
    table = table_service.create_table(fresh_table(), headers=ROOMY)
    for partition in range(3):
        table.submit_transaction([("create", one) for one in PEOPLE if one["PartitionKey"] == f"p{partition}"])
    yield table
    table.delete_table()


def _big(one: dict) -> int:
    return one["big"].value


# The filter, and what it means.
FILTERS = [
    ("n eq 5", lambda e: e["n"] == 5),
    ("n ne 5", lambda e: e["n"] != 5),
    ("n gt 5", lambda e: e["n"] > 5),
    ("n ge 5", lambda e: e["n"] >= 5),
    ("n lt 5", lambda e: e["n"] < 5),
    ("n le 5", lambda e: e["n"] <= 5),
    ("5 lt n", lambda e: e["n"] > 5),
    ("n gt -1", lambda e: True),
    ("n eq 5.0", lambda e: e["n"] == 5),
    ("n eq 5L", lambda e: e["n"] == 5),
    ("n lt 4.5", lambda e: e["n"] < 4.5),
    ("n gt 1e0", lambda e: e["n"] > 1),
    (f"big eq {2**53 + 5}L", lambda e: e["n"] == 5),
    (f"big gt {2**53 + 5}L", lambda e: e["n"] > 5),
    (f"big le {2**53 + 4}L", lambda e: e["n"] <= 4),
    (f"big ne {2**53 + 1}L", lambda e: e["n"] != 1),
    ("big gt 9223372036854775807L", lambda e: False),
    ("ratio eq 1.25", lambda e: e["ratio"] == 1.25),
    ("ratio eq 2", lambda e: e["ratio"] == 2),
    ("ratio gt 1.1 and ratio lt 2.1", lambda e: 1.1 < e["ratio"] < 2.1),
    ("name eq 'Ann'", lambda e: e["name"] == "Ann"),
    ("name eq 'it''s'", lambda e: e["name"] == "it's"),
    ("name eq 'Ünïcödé 🙂'", lambda e: e["name"] == "Ünïcödé 🙂"),
    ("name ge 'B' and name lt 'C'", lambda e: e["name"] == "Bob"),
    ("name ne 'Ann'", lambda e: e["name"] != "Ann"),
    ("name gt ''", lambda e: True),
    ("name eq 'ann'", lambda e: False),
    ("even eq true", lambda e: e["even"]),
    ("even eq false", lambda e: not e["even"]),
    ("even ne true", lambda e: not e["even"]),
    ("even", lambda e: e["even"]),
    ("n", lambda e: False),
    ("not even", lambda e: not e["even"]),
    ("even and n gt 6", lambda e: e["even"] and e["n"] > 6),
    ("when eq datetime'2020-01-03T12:30:00Z'", lambda e: e["n"] == 2),
    ("when eq datetime'2020-01-03T12:30:00.0000000Z'", lambda e: e["n"] == 2),
    ("when gt datetime'2020-01-03T12:30:00Z'", lambda e: e["n"] > 2),
    ("when lt datetime'2020-01-03T12:30:00.0000001Z'", lambda e: e["n"] <= 2),
    (f"uid eq guid'{GUIDS[4]}'", lambda e: e["n"] == 4),
    (f"uid eq guid'{str(GUIDS[11]).upper()}'", lambda e: e["n"] == 11),
    (f"uid ne guid'{GUIDS[4]}'", lambda e: e["n"] != 4),
    (f"uid eq '{GUIDS[4]}'", lambda e: False),
    ("data eq X'05ff'", lambda e: e["n"] == 5),
    ("data eq binary'05FF'", lambda e: e["n"] == 5),
    ("data gt X'05ff'", lambda e: e["n"] > 5),
    ("data ne X'05ff'", lambda e: e["n"] != 5),
    ("PartitionKey eq 'p1'", lambda e: e["PartitionKey"] == "p1"),
    ("PartitionKey gt 'p0'", lambda e: e["PartitionKey"] > "p0"),
    ("PartitionKey ne 'p1'", lambda e: e["PartitionKey"] != "p1"),
    ("PartitionKey eq 'p1' and RowKey eq 'r04'", lambda e: e["RowKey"] == "r04"),
    ("RowKey eq 'r04' and PartitionKey eq 'p1'", lambda e: e["RowKey"] == "r04"),
    ("PartitionKey eq 'p1' and RowKey eq 'r05'", lambda e: False),
    ("PartitionKey eq 'p1' and RowKey eq 'r04' and n eq 4", lambda e: e["RowKey"] == "r04"),
    ("PartitionKey eq 'p1' and RowKey eq 'r04' and n eq 5", lambda e: False),
    ("RowKey eq 'r04'", lambda e: e["RowKey"] == "r04"),
    ("RowKey ge 'r03' and RowKey lt 'r06'", lambda e: "r03" <= e["RowKey"] < "r06"),
    ("PartitionKey eq 'p1' and RowKey gt 'r03'", lambda e: e["PartitionKey"] == "p1" and e["RowKey"] > "r03"),
    ("PartitionKey eq 'p1' or PartitionKey eq 'p2'", lambda e: e["PartitionKey"] != "p0"),
    ("PartitionKey eq 'p1' and PartitionKey eq 'p2'", lambda e: False),
    ("Timestamp gt datetime'2001-01-01T00:00:00Z'", lambda e: True),
    ("Timestamp lt datetime'2001-01-01T00:00:00Z'", lambda e: False),
    ("n eq 1 or n eq 3", lambda e: e["n"] in (1, 3)),
    ("n eq 1 or n gt 3 and even eq true", lambda e: e["n"] == 1 or (e["n"] > 3 and e["even"])),
    ("(n eq 1 or n gt 3) and even eq true", lambda e: e["n"] > 3 and e["even"]),
    ("not (n eq 1)", lambda e: e["n"] != 1),
    ("not (n gt 1 and n lt 10)", lambda e: not 1 < e["n"] < 10),
    ("not not (n eq 1)", lambda e: e["n"] == 1),
    ("not (name eq 'Ann' or name eq 'Bob')", lambda e: e["name"] not in ("Ann", "Bob")),
    ("((((n eq 1))))", lambda e: e["n"] == 1),
    ("(n eq 1)or(n eq 2)", lambda e: e["n"] in (1, 2)),
    ("  n   eq   1  ", lambda e: e["n"] == 1),
    ("rare eq 'here'", lambda e: "rare" in e),
    ("rare ne 'there'", lambda e: "rare" in e),
    ("rare eq 'there' or n eq 3", lambda e: e["n"] == 3),
    ("not (rare eq 'here')", lambda e: "rare" not in e),
    ("missing eq 1", lambda e: False),
    ("missing ne 1", lambda e: False),
    ("mixed eq '1'", lambda e: e["n"] == 1),
    ("mixed ge 3", lambda e: e["n"] in (3, 4, 6, 7, 8, 10, 11)),
    ("name eq 5", lambda e: False),
    ("n eq '5'", lambda e: False),
    ("even eq 'true'", lambda e: False),
    ("", lambda e: True),
    (" or ".join(f"n eq {n}" for n in range(0, 40, 4)), lambda e: e["n"] % 4 == 0),
]


@pytest.mark.parametrize(("query_filter", "means"), FILTERS, ids=[one[0][:60] or "empty" for one in FILTERS])
def test_every_form_of_a_filter(people, query_filter, means):
    found = rows(people.query_entities(query_filter))
    assert sorted(found) == [one["RowKey"] for one in PEOPLE if means(one)]


PARAMETERS = [
    ("n eq @v", 5, lambda e: e["n"] == 5),
    ("big eq @v", 2**53 + 5, lambda e: e["n"] == 5),
    ("ratio ge @v", 1.5, lambda e: e["ratio"] >= 1.5),
    ("even eq @v", True, lambda e: e["even"]),
    ("even eq @v", False, lambda e: not e["even"]),
    ("name eq @v", "it's", lambda e: e["name"] == "it's"),
    ("name eq @v", "Ünïcödé 🙂", lambda e: e["name"] == "Ünïcödé 🙂"),
    ("name eq @v", "x' or 'a' eq 'a", lambda e: False),
    ("when le @v", DAYS[3], lambda e: e["n"] <= 3),
    ("uid eq @v", GUIDS[7], lambda e: e["n"] == 7),
    ("data eq @v", b"\x05\xff", lambda e: e["n"] == 5),
    ("PartitionKey eq @v and n gt 6", "p1", lambda e: e["PartitionKey"] == "p1" and e["n"] > 6),
]


@pytest.mark.parametrize(("query_filter", "value", "means"), PARAMETERS)
def test_parameters(people, query_filter, value, means):
    found = rows(people.query_entities(query_filter, parameters={"v": value}))
    assert sorted(found) == [one["RowKey"] for one in PEOPLE if means(one)]


@pytest.mark.parametrize(
    "query_filter",
    [
        "n eq",
        "eq 5",
        "n eq 5 and",
        "n = 5",
        "n like 5",
        "(n eq 5",
        "n eq 5)",
        "name eq 'open",
        "when eq datetime'yesterday'",
        "uid eq guid'zz'",
        "data eq X'0'",
        "n eq 5 n eq 6",
        "n eq 99999999999999999999L",
        "aaa bbb ccc",
    ],
)
def test_filters_that_cannot_be_read(people, query_filter):
    with refused(400, TableErrorCode.INVALID_INPUT):
        list(people.query_entities(query_filter))


def test_special_numbers(table):
    for row, value in {"nan": math.nan, "inf": math.inf, "minus": -math.inf, "one": 1.0, "int": 1}.items():
        table.create_entity(entity(row, v=value))
    assert sorted(rows(table.query_entities("v gt 0"))) == ["inf", "int", "one"]
    assert sorted(rows(table.query_entities("v lt 0"))) == ["minus"]
    assert sorted(rows(table.query_entities("v eq 1"))) == ["int", "one"]


def test_rows_of_a_partition_come_in_the_order_of_their_keys(table):
    keys = ["10", "9", "B", "a", "a a", "b", "z", "~", "é", "ｚ"]
    for key in reversed(keys):
        table.create_entity(entity(key, copy=key))
    assert rows(table.query_entities("PartitionKey eq 'p'")) == keys
    assert rows(table.query_entities("PartitionKey eq 'p'", results_per_page=2)) == keys
    for position, key in enumerate(keys):
        for name in ("RowKey", "copy"):
            below = table.query_entities(f"PartitionKey eq 'p' and {name} lt '{key}'")
            assert rows(below) == keys[:position], (name, key)
    # Texts compare by UTF-16 code units: what is beyond the basic plane is less than its last characters.
    table.create_entity(entity("🙂", copy="🙂"))
    for name in ("RowKey", "copy"):
        above = table.query_entities(f"PartitionKey eq 'p' and {name} gt '🙂'")
        assert rows(above) == ["ｚ"], name
        below = table.query_entities(f"PartitionKey eq 'p' and {name} lt 'ｚ'")
        assert sorted(rows(below)) == sorted({*keys, "🙂"} - {"ｚ"}), name


def test_order_across_partitions_is_the_same_every_time(people):
    first = rows(people.list_entities())
    assert sorted(first) == rows(PEOPLE)
    assert rows(people.list_entities()) == first
    assert rows(people.list_entities(results_per_page=1)) == first


@pytest.mark.parametrize("size", [1, 5, 12, 1000])
@pytest.mark.parametrize("query_filter", [None, "n ge 0", "PartitionKey eq 'p1'", "even eq true and rare ne 'x'"])
def test_pages(people, query_filter, size):
    def pages_of():
        if query_filter is None:
            return people.list_entities(results_per_page=size)
        return people.query_entities(query_filter, results_per_page=size)

    pages = pages_of().by_page()
    read, tokens = [], []
    for page in pages:
        read.append(rows(page))
        tokens.append(pages.continuation_token)
    whole = [row for page in read for row in page]
    expected = rows(people.list_entities()) if query_filter is None else rows(people.query_entities(query_filter))
    assert whole == expected
    assert all(len(page) <= size for page in read)
    assert tokens[-1] is None
    assert all(token["PartitionKey"] for token in tokens[:-1])
    for count, token in list(enumerate(tokens[:-1], 1))[::3]:
        rest = [row for page in pages_of().by_page(token) for row in rows(page)]
        assert [row for page in read[:count] for row in page] + rest == expected


def test_a_token_may_be_used_again_with_another_size(people):
    pages = people.list_entities(results_per_page=5).by_page()
    first = rows(next(pages))
    for size in (1, 3, 100):
        rest = people.list_entities(results_per_page=size).by_page(pages.continuation_token)
        assert first + [row for page in rest for row in rows(page)] == rows(people.list_entities())


def test_a_token_that_is_none(people):
    with refused(400):
        list(next(people.list_entities().by_page({"PartitionKey": "no token of ours", "RowKey": "x"})))


def test_pages_go_on_while_the_table_changes(table):
    for n in range(6):
        table.create_entity(entity(f"r{n}"))
    pages = table.query_entities("PartitionKey eq 'p'", results_per_page=2).by_page()
    read = rows(next(pages))
    table.delete_entity("p", "r0")
    table.delete_entity("p", "r2")
    table.create_entity(entity("r9"))
    for page in pages:
        read += rows(page)
    assert read == ["r0", "r1", "r3", "r4", "r5", "r9"]


@pytest.mark.parametrize("door", BOTH_FLAVOURS, indirect=True, ids=[door.name for door in BOTH_FLAVOURS])
def test_a_thousand_are_a_page(table):
    for start in range(0, 1200, 100):
        table.submit_transaction([("create", entity(f"r{n:04}")) for n in range(start, start + 100)])
    sizes = [len(list(page)) for page in table.list_entities().by_page()]
    assert sizes == [1000, 200]
    assert rows(table.query_entities("PartitionKey eq 'p'")) == [f"r{n:04}" for n in range(1200)]


@pytest.mark.parametrize("size", [0, -1, 1001])
def test_sizes_of_pages_that_are_refused(door, people, size):
    if size == 1001 and not door.is_storage:
        assert len(list(people.list_entities(results_per_page=size))) == len(PEOPLE)
        return
    with refused(400):
        list(people.list_entities(results_per_page=size))


def test_filters_use_the_index(people):
    charges = []

    def note(answer) -> None:
        charges.append(float(answer.http_response.headers["x-ms-request-charge"]))

    assert rows(people.query_entities("PartitionKey eq 'p1' and RowKey eq 'r04'", raw_response_hook=note)) == ["r04"]
    people.get_entity("p1", "r04", raw_response_hook=note)
    assert charges[0] == charges[1], "a filter that names both keys is a read of one item"
