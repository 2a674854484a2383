"""Request charges: the price of point operations, computed again here from the published table."""

import pytest
from azure.core import MatchConditions
from azure.cosmos import CosmosClient
from azure.cosmos.exceptions import CosmosHttpResponseError

import charges
from sdk import last_headers
from server import KEY

# Charges travel with two decimals.
ROUNDING = 0.0051

ITEMS = {
    "smallest": {},
    "one leaf": {"name": "Ada"},
    "many leaves": {f"property{n}": n for n in range(20)},
    "nested": {"address": {"street": "Storgata", "number": 1, "position": {"x": 1.5, "y": 2.5}}},
    "array": {"tags": ["a", "b", "c"]},
    "array with repetition": {"tags": ["a", "b", "a", "a"]},
    "array of objects": {"lines": [{"sku": "x", "count": 1}, {"sku": "y", "count": 1}]},
    "scalars of every type": {"null": None, "true": True, "false": False, "number": 0.5, "text": ""},
    "same value under two paths": {"a": 1, "b": 1},
    "below a kilobyte": {"text": "x" * 700},
    "one and a half kilobytes": {"text": "x" * 1_300},
    "three kilobytes": {"text": "x" * 2_800},
    "ten kilobytes": {"text": "x" * 10_000},
    "a hundred kilobytes": {"text": "x" * 100_000},
}
EVERY_ITEM = pytest.mark.parametrize("members", ITEMS.values(), ids=ITEMS.keys())


def _charge(container) -> float:
    return float(last_headers(container)["x-ms-request-charge"])


def _close(actual: float, wanted: float) -> bool:
    return abs(actual - wanted) <= ROUNDING


@EVERY_ITEM
def test_create_read_and_delete(container, members):
    created = container.create_item({"id": "1", "city": "Oslo", **members})
    assert _close(_charge(container), charges.create(created)), (_charge(container), charges.create(created))
    container.read_item("1", "Oslo")
    assert _close(_charge(container), charges.read(created)), (_charge(container), charges.read(created))
    container.delete_item("1", "Oslo")
    assert _close(_charge(container), charges.create(created)), (_charge(container), charges.create(created))


def test_point_read_below_a_kilobyte_costs_one(container):
    container.create_item({"id": "1", "city": "Oslo"})
    container.read_item("1", "Oslo")
    assert _charge(container) == 1.0


def test_key_by_id_saves_a_term(make_container):
    container = make_container("/id")
    created = container.create_item({"id": "1", "username": "Ada"})
    assert _close(_charge(container), charges.create(created, key_is_id=True))
    assert _close(_charge(container), 5.71), "the published figure for creating a user"


def test_same_request_always_costs_the_same(container):
    seen = set()
    for n in range(5):
        container.create_item({"id": str(n), "city": "Oslo", "name": "Ada"})
        seen.add(_charge(container))
    assert len(seen) == 1


def test_excluded_paths_cost_nothing(make_container):
    policy = {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/name/?"}],
        "excludedPaths": [{"path": "/*"}],
    }
    container = make_container(indexing_policy=policy)
    container.create_item({"id": "1", "city": "Oslo", "name": "Ada", "other": 1, "more": [1, 2, 3]})
    few = _charge(container)
    container.create_item({"id": "2", "city": "Oslo", "name": "Ada"})
    assert few == _charge(container)
    assert few < charges.create({"id": "1", "city": "Oslo", "name": "Ada", "other": 1, "more": [1, 2, 3]})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"n": 1, "m": 1}, {"n": 2, "m": 1}),
        ({"n": 1}, {"n": 1}),
        ({"n": 1}, {}),
        ({}, {"n": 1, "tags": ["a", "b"]}),
        ({"text": "x" * 3_000}, {"text": "y"}),
    ],
    ids=["one changed", "nothing changed", "one removed", "three added", "shrunk"],
)
def test_replace_and_upsert_pay_for_what_changed(container, before, after):
    old = container.create_item({"id": "1", "city": "Oslo", **before})
    new = container.replace_item("1", {"id": "1", "city": "Oslo", **after})
    wanted = charges.replace(old, new)
    assert _close(_charge(container), wanted), (_charge(container), wanted)
    container.upsert_item({"id": "1", "city": "Oslo", **before})
    assert _close(_charge(container), wanted), (_charge(container), wanted)


def test_upsert_of_a_new_item_costs_a_create(container):
    created = container.upsert_item({"id": "1", "city": "Oslo", "n": 1})
    assert _close(_charge(container), charges.create(created))


def test_patch_pays_for_its_operations(container):
    old = container.create_item({"id": "1", "city": "Oslo", "n": 1})
    operations = [{"op": "incr", "path": "/n", "value": 1}, {"op": "add", "path": "/m", "value": 1}]
    new = container.patch_item("1", "Oslo", operations)
    wanted = charges.patch(old, new, len(operations))
    assert _close(_charge(container), wanted), (_charge(container), wanted)


def test_failures_are_charged(container):
    item = container.create_item({"id": "1", "city": "Oslo"})
    changed = {"etag": '"stale"', "match_condition": MatchConditions.IfNotModified}
    for attempt, wanted in [
        (lambda: container.read_item("no", "Oslo"), 1.0),
        (lambda: container.create_item({"id": "1", "city": "Oslo"}), charges.FAILED_WRITE),
        (lambda: container.delete_item("no", "Oslo"), charges.FAILED_WRITE),
        (lambda: container.replace_item("1", {"id": "1", "city": "Oslo"}, **changed), charges.FAILED_WRITE),
    ]:
        with pytest.raises(CosmosHttpResponseError) as caught:
            attempt()
        assert _close(float(caught.value.headers["x-ms-request-charge"]), wanted), caught.value
    unchanged = {"etag": item["_etag"], "match_condition": MatchConditions.IfModified}
    container.read_item("1", "Oslo", **unchanged)
    assert _charge(container) == 1.0


def test_feed_page_costs_the_reads_of_its_items(container):
    for n in range(5):
        container.create_item({"id": str(n), "city": "Oslo"})
    items = list(next(container.read_all_items().by_page()))
    assert len(items) == 5
    assert _charge(container) == 5.0


def test_text_is_measured_in_utf8(server, database, container):
    with CosmosClient(server.https, KEY, enable_compact_utf8_item_writes=True) as compact:
        other = compact.get_database_client(database.id).get_container_client(container.id)
        created = other.create_item({"id": "1", "city": "Oslo", "text": "é" * 1_400})
        assert _close(_charge(other), charges.create(created)), (_charge(other), charges.create(created))


def test_escapes_of_the_client_cost_nothing(container):
    created = container.create_item({"id": "1", "city": "Oslo", "text": "é" * 1_400})
    assert _close(_charge(container), charges.create(created))
