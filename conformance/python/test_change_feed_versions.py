"""The change feed with all versions and deletes, as the SDK reads it."""

import itertools

import pytest
from azure.core.exceptions import HttpResponseError

import procedures
from feeds import ALL_VERSIONS, EVERY_VERSION_POLICY, LATEST_VERSION, Reader, by_city, item, key_and_id, stored
from partitions import until
from sdk import refused


@pytest.fixture
def kept(make_container):
    """A container that keeps every version."""
    return make_container(change_feed_policy=EVERY_VERSION_POLICY)


def _follow(container, **options) -> Reader:
    reader = Reader(container, start_time="Now", mode=ALL_VERSIONS, **options)
    assert reader.read() == []
    return reader


def _operations(changes: list[dict]) -> list[tuple[str, str]]:
    return [(change["metadata"]["operationType"], key_and_id(change)[1]) for change in changes]


def test_every_operation_is_told(kept):
    reader = _follow(kept)
    versions = [
        kept.create_item({"id": "1", "city": "Oslo", "n": 0}),
        kept.replace_item("1", {"id": "1", "city": "Oslo", "n": 1}),
        kept.upsert_item({"id": "1", "city": "Oslo", "n": 2}),
        kept.patch_item("1", "Oslo", [{"op": "incr", "path": "/n", "value": 1}]),
        kept.upsert_item({"id": "2", "city": "Oslo", "n": 4}),
    ]
    kept.delete_item("1", "Oslo")
    changes = reader.read()
    assert _operations(changes) == [
        ("create", "1"),
        ("replace", "1"),
        ("replace", "1"),
        ("replace", "1"),
        ("create", "2"),
        ("delete", "1"),
    ]
    assert [item(change["current"]) for change in changes[:5]] == versions
    for change, version in zip(changes, versions, strict=False):
        assert change["metadata"]["crts"] == version["_ts"]
    places = [change["metadata"]["lsn"] for change in changes]
    assert places == sorted(set(places))
    for before, change in itertools.pairwise(changes[:4]):
        assert change["metadata"]["previousImageLSN"] == before["metadata"]["lsn"]
    assert reader.read() == []


def test_delete_tells_what_it_deleted(kept):
    reader = _follow(kept)
    created = kept.create_item({"id": "1", "city": "Oslo", "text": "é"})
    kept.delete_item("1", "Oslo")
    [creation, deletion] = reader.read()
    assert not deletion.get("current")
    assert item(deletion["previous"]) == created
    metadata = deletion["metadata"]
    assert (metadata["id"], metadata["partitionKey"]) == ("1", {"city": "Oslo"})
    assert metadata["previousImageLSN"] == creation["metadata"]["lsn"]
    assert not metadata.get("timeToLiveExpired")


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/city", {"city": "Oslo"}, {"city": "Oslo"}),
        ("/city", {"city": 7}, {"city": 7}),
        ("/city", {"city": True}, {"city": True}),
        ("/city", {"city": None}, {"city": None}),
        ("/address/city", {"address": {"city": "Oslo"}}, {"city": "Oslo"}),
        (["/tenant", "/city"], {"tenant": "a", "city": 1}, {"tenant": "a", "city": 1}),
    ],
    ids=["text", "number", "boolean", "null", "nested", "hierarchical"],
)
def test_deleted_key_is_told_by_its_paths(make_container, path, body, told):
    container = make_container(path, change_feed_policy=EVERY_VERSION_POLICY)
    reader = _follow(container)
    container.create_item({"id": "1", **body})
    key = list(told.values())
    container.delete_item("1", key if len(key) > 1 else key[0])
    assert reader.read()[-1]["metadata"]["partitionKey"] == told


def test_previous_images_where_the_policy_asks_for_them(make_container, kept):
    asking = make_container(change_feed_policy={**EVERY_VERSION_POLICY, "previousImages": True})
    assert asking.read()["changeFeedPolicy"] == {**EVERY_VERSION_POLICY, "previousImages": True}
    for container, has_previous in ((asking, True), (kept, False)):
        reader = _follow(container)
        first = container.create_item({"id": "1", "city": "Oslo", "n": 0})
        second = container.replace_item("1", {"id": "1", "city": "Oslo", "n": 1})
        container.delete_item("1", "Oslo")
        [creation, replacement, deletion] = reader.read()
        assert "previous" not in creation
        assert ("previous" in replacement) == has_previous
        if has_previous:
            assert item(replacement["previous"]) == first
        assert item(replacement["current"]) == second
        assert item(deletion["previous"]) == second


def test_item_that_came_back(kept):
    reader = _follow(kept)
    for n in range(3):
        kept.create_item({"id": "1", "city": "Oslo", "n": n})
        kept.delete_item("1", "Oslo")
    changes = reader.read(max_item_count=1)
    assert _operations(changes) == [("create", "1"), ("delete", "1")] * 3
    assert [stored(change["current"])["n"] for change in changes[::2]] == [0, 1, 2]
    assert [stored(change["previous"])["n"] for change in changes[1::2]] == [0, 1, 2]
    latest = kept.query_items_change_feed(start_time="Beginning", mode=LATEST_VERSION)
    assert list(latest) == []


def test_expired_items_are_marked(make_container):
    container = make_container(default_ttl=-1, change_feed_policy=EVERY_VERSION_POLICY)
    reader = _follow(container)
    expiring = container.create_item({"id": "short", "city": "Oslo", "ttl": 1})
    container.create_item({"id": "long", "city": "Oslo", "ttl": 1_000})
    container.create_item({"id": "deleted", "city": "Oslo", "ttl": 1_000})
    container.delete_item("deleted", "Oslo")
    changes = reader.read()
    assert _operations(changes) == [
        ("create", "short"),
        ("create", "long"),
        ("create", "deleted"),
        ("delete", "deleted"),
    ]
    [expiry] = until(reader.read, "nobody purged the item")
    assert _operations([expiry]) == [("delete", "short")]
    assert expiry["metadata"]["timeToLiveExpired"] is True
    assert expiry["metadata"]["partitionKey"] == {"city": "Oslo"}
    assert expiry["metadata"]["previousImageLSN"] == changes[0]["metadata"]["lsn"]
    assert item(expiry["previous"]) == expiring
    assert not changes[-1]["metadata"].get("timeToLiveExpired")
    assert [change["id"] for change in container.query_items_change_feed(start_time="Beginning")] == ["long"]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_transactions_are_never_cut(kept, size):
    reader = _follow(kept)
    kept.create_item({"id": "0", "city": "Oslo"})
    batch = [
        ("create", ({"id": "1", "city": "Oslo"},)),
        ("upsert", ({"id": "0", "city": "Oslo", "n": 1},)),
        ("create", ({"id": "2", "city": "Oslo"},)),
    ]
    for n in range(3):
        kept.execute_item_batch(batch, partition_key="Oslo")
        clear = [("delete", ("1",)), ("delete", ("2",))]
        kept.execute_item_batch(clear, partition_key="Oslo")
        procedures.run(kept, procedures.script("import-items"), [{"id": f"{n} {k}", "city": "Oslo"} for k in range(3)])
    pages = kept.query_items_change_feed(max_item_count=size).by_page(reader.position)
    whole = []
    for page in pages:
        changes = list(page)
        # The first page after a cut would begin with the commit the last one ended with.
        assert not {change["metadata"]["lsn"] for change in changes} & {change["metadata"]["lsn"] for change in whole}
        whole += changes
    transactions: dict[int, list] = {}
    for change in whole:
        transactions.setdefault(change["metadata"]["lsn"], []).append(_operations([change])[0])
    assert [len(told) for told in transactions.values()] == [1, 3, 2, 3, 3, 2, 3, 3, 2, 3]
    assert sorted(list(transactions.values())[1]) == [("create", "1"), ("create", "2"), ("replace", "0")]
    assert sorted(list(transactions.values())[2]) == [("delete", "1"), ("delete", "2")]


def test_one_key_and_one_feed_range(make_container):
    container = make_container(offer_throughput=20_000, change_feed_policy=EVERY_VERSION_POLICY)
    cities = [f"city {n}" for n in range(8)]
    keyed = {city: _follow(container, partition_key=city) for city in cities}
    ranged = [_follow(container, feed_range=feed_range) for feed_range in container.read_feed_ranges()]
    for city in cities:
        container.create_item({"id": "1", "city": city})
        container.upsert_item({"id": "1", "city": city, "n": 1})
        container.delete_item("1", city)
    for city, reader in keyed.items():
        assert _operations(reader.read(max_item_count=2)) == [("create", "1"), ("replace", "1"), ("delete", "1")]
        assert reader.read() == [], city
    halves = [by_city(reader.read()) for reader in ranged]
    assert not halves[0].keys() & halves[1].keys()
    assert halves[0] | halves[1] == {city: ["1", "1", "1"] for city in cities}


def test_both_modes_of_one_container(kept):
    versions = _follow(kept)
    latest = Reader(kept, start_time="Now")
    latest.read()
    for n in range(5):
        kept.upsert_item({"id": "1", "city": "Oslo", "n": n})
        kept.upsert_item({"id": "2", "city": "Oslo", "n": n})
    kept.delete_item("2", "Oslo")
    assert [(change["id"], change["n"]) for change in latest.read()] == [("1", 4)]
    assert len(versions.read()) == 11


def test_container_without_the_policy_refuses(container):
    container.create_item({"id": "1", "city": "Oslo"})
    with refused(400) as caught:
        list(container.query_items_change_feed(mode=ALL_VERSIONS))
    assert "changeFeedPolicy" in caught.value.message or "retention" in caught.value.message


def test_other_starts_are_refused_by_the_sdk_already(kept):
    for options in ({"start_time": "Beginning"}, {"is_start_from_beginning": True}, {"partition_key_range_id": "0"}):
        with pytest.raises(ValueError, match="AllVersionsAndDeletes"):
            kept.query_items_change_feed(mode=ALL_VERSIONS, **options)


def test_refused_and_conditional_writes_are_no_versions(kept):
    kept.create_item({"id": "1", "city": "Oslo", "n": 0})
    reader = _follow(kept)
    for write in (
        lambda: kept.create_item({"id": "1", "city": "Oslo"}),
        lambda: kept.delete_item("2", "Oslo"),
        lambda: kept.patch_item(
            "1", "Oslo", [{"op": "incr", "path": "/n", "value": 1}], filter_predicate="FROM c WHERE c.n = 9"
        ),
        lambda: kept.execute_item_batch([("upsert", ({"id": "1", "city": "Oslo"},)), ("delete", ("9",))], "Oslo"),
        lambda: procedures.run(
            kept,
            procedures.procedure(
                "collection.createDocument(link, {id: '3', city: 'Oslo'}, () => { throw new Error('no'); });"
            ),
        ),
    ):
        with pytest.raises(HttpResponseError):
            write()
    assert reader.read() == []
