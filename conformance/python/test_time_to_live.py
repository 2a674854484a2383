"""Time to live: expired items are gone at once for every reader and writer, and only where the container says so.

Everything that has to grow old is made at once and waits once; each test then looks at a container of its own.
"""

import time
from dataclasses import dataclass

import pytest
from azure.core import MatchConditions
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.exceptions import CosmosResourceNotFoundError

import partitions
import procedures
import wire
from conftest import fresh
from feeds import ALL_VERSIONS, EVERY_VERSION_POLICY, Reader, drain
from partitions import merge, split, until
from query_fixtures import run
from sdk import refused, through
from server import KEY

# An item lives for at least its time, and at most a second longer: `_ts` has no fractions.
TTL_SECONDS = 1
GONE_SECONDS = TTL_SECONDS + 1
CITIES = [f"city {n}" for n in range(12)]
UNIQUE_EMAIL = {"uniqueKeys": [{"paths": ["/email"]}]}


def _crowd(container, ttl: int | None = TTL_SECONDS) -> None:
    """In every city: two items that stay, three that go."""
    for city in CITIES:
        items = [{"id": f"stays {n}", "city": city, "n": n, "ttl": -1, "word": "stays"} for n in range(2)]
        items += [{"id": f"goes {n}", "city": city, "n": 10 + n, "word": "goes"} for n in range(3)]
        if ttl is not None:
            items = [{"ttl": ttl, **item} for item in items]
        container.execute_item_batch([("create", (item,)) for item in items], partition_key=city)


def _one(container, **members) -> None:
    container.create_item({"id": "1", "city": "Oslo", "ttl": TTL_SECONDS, "n": 1, **members})


def _by_either_time(container) -> None:
    for name, members in {"default": {}, "own": {"ttl": 2}, "long": {"ttl": 3_600}, "never": {"ttl": -1}}.items():
        container.create_item({"id": name, "city": "Oslo", **members})


def _by_default(container) -> None:
    container.create_item({"id": "default", "city": "Oslo"})


def _patched(container) -> None:
    for name, ttl in {"sooner": 3_600, "later": 2}.items():
        container.create_item({"id": name, "city": "Oslo", "ttl": ttl})
    container.patch_item("sooner", "Oslo", [{"op": "set", "path": "/ttl", "value": 1}])
    container.patch_item("later", "Oslo", [{"op": "remove", "path": "/ttl"}])


@dataclass
class Old:
    """How a container that has grown old is made and filled."""

    options: dict
    fill: object


CONTAINERS = {
    "either time": Old({"default_ttl": TTL_SECONDS}, _by_either_time),
    "no default": Old({"default_ttl": -1}, lambda container: (_one(container), _one(container, id="2", ttl=-1))),
    "off": Old({}, _one),
    "turned on later": Old({"offer_throughput": 20_000}, _crowd),
    "written when turned on": Old({"offer_throughput": 20_000}, _crowd),
    "turned off later": Old(
        {"default_ttl": -1}, lambda container: (_one(container), _one(container, id="2", ttl=3_600))
    ),
    "patched": Old({"default_ttl": -1}, _patched),
    "shorter later": Old(
        {"default_ttl": 3_600}, lambda container: (_one(container, ttl=3_600), _by_default(container))
    ),
    "queries": Old({"default_ttl": -1, "offer_throughput": 20_000}, _crowd),
    "feeds": Old({"default_ttl": -1, "offer_throughput": 20_000}, _crowd),
    "scripts": Old({"default_ttl": -1}, _crowd),
    "figures": Old({"default_ttl": -1, "offer_throughput": 20_000}, _crowd),
    "splits": Old({"default_ttl": TTL_SECONDS}, lambda container: _crowd(container, None)),
    "unique": Old(
        {"default_ttl": -1, "unique_key_policy": UNIQUE_EMAIL}, lambda container: _one(container, email="a@x")
    ),
    "kept": Old({"default_ttl": -1}, lambda container: _one(container, ttl=3)),
    **{
        f"write by {name}": Old({"default_ttl": -1, "change_feed_policy": EVERY_VERSION_POLICY}, _one)
        for name in ("create", "upsert", "replace", "patch", "delete", "batch", "condition")
    },
}


@pytest.fixture(scope="module")
def aged(server, database):
    """The containers, after their items' time; one item was written again in between."""
    made, readers = {}, {}
    for name, old in CONTAINERS.items():
        options = {"offer_throughput": 10_000, **old.options}
        made[name] = database.create_container(fresh("aged"), PartitionKey("/city"), **options)
        if "change_feed_policy" in old.options:
            readers[name] = Reader(made[name], start_time="Now", mode=ALL_VERSIONS)
            readers[name].read()
    for name, old in CONTAINERS.items():
        old.fill(made[name])
        if name == "turned off later":
            _set_default(database, made[name], None)
    started = time.time()
    time.sleep(2.2)
    made["kept"].patch_item("1", "Oslo", [{"op": "incr", "path": "/n", "value": 1}])
    time.sleep(max(started + 4.2 - time.time(), 0))
    found = made["kept"].read_item("1", "Oslo")
    yield made, readers, found
    for container in made.values():
        database.delete_container(container)


@pytest.fixture
def old(aged):
    return aged[0]


def _ids(items) -> list[str]:
    return sorted(item["id"] for item in items)


def test_item_expires_by_its_own_or_the_containers_time(old):
    container = old["either time"]
    assert _ids(container.read_all_items()) == ["long", "never"]
    for name in ("default", "own"):
        with pytest.raises(CosmosResourceNotFoundError):
            container.read_item(name, "Oslo")
    assert container.create_item({"id": "default", "city": "Oslo", "ttl": -1})["id"] == "default"


def test_without_a_default_only_those_expire_that_say_so(old):
    assert _ids(old["no default"].read_all_items()) == ["2"]


def test_without_the_containers_word_nothing_expires(old):
    container = old["off"]
    assert container.read_item("1", "Oslo")["ttl"] == TTL_SECONDS
    assert run(container, "SELECT VALUE COUNT(1) FROM c") == [1]


def test_every_write_starts_the_time_anew(aged):
    assert aged[2]["n"] == 2, "three seconds from the patch, not from the creation"


def test_item_lives_for_its_time(make_container):
    container = make_container(default_ttl=2)
    item = container.create_item({"id": "1", "city": "Oslo"})
    while time.time() < item["_ts"] + 1.8:
        assert container.read_item("1", "Oslo") == item
        time.sleep(0.1)
    time.sleep(max(item["_ts"] + 3.1 - time.time(), 0))
    with refused(404):
        container.read_item("1", "Oslo")


QUERIES = {
    "SELECT VALUE COUNT(1) FROM c": [24],
    "SELECT VALUE COUNT(1) FROM c WHERE c.n >= 10": [0],
    "SELECT VALUE COUNT(1) FROM c WHERE c.word = 'goes'": [0],
    "SELECT VALUE SUM(c.n) FROM c": [12],
    "SELECT VALUE MAX(c.n) FROM c": [1],
    "SELECT VALUE MAX(c._ts) FROM c WHERE c.n > 1": [],
    "SELECT DISTINCT VALUE c.word FROM c": ["stays"],
    "SELECT c.word, COUNT(1) AS n FROM c GROUP BY c.word": [{"word": "stays", "n": 24}],
    "SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n DESC": [1, 1, 1],
    "SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 22 LIMIT 9": [0, 0],
    "SELECT VALUE c.id FROM c WHERE STARTSWITH(c.id, 'goes')": [],
    "SELECT VALUE c.id FROM c WHERE c.id = 'goes 1' AND c.city = 'city 3'": [],
    "SELECT VALUE c.n FROM c WHERE c.city = 'city 3' ORDER BY c.n": [0, 1],
    "SELECT VALUE EXISTS(SELECT VALUE t FROM t IN c.none) FROM c WHERE c.ttl = 1": [],
}


def _assert_answers(container, query: str) -> None:
    found = run(container, query)
    # An aggregate of nothing is undefined, which the SDK shows in a way of its own.
    assert ([] if found in ([None], [{}]) else found) == QUERIES[query], query


@pytest.mark.parametrize("query", QUERIES)
def test_queries_do_not_see_them(old, query):
    _assert_answers(old["queries"], query)


def test_lists_do_not_see_them(old):
    container = old["queries"]
    assert len(list(container.read_all_items(max_item_count=5))) == 24
    many = [(f"{kind} {n}", city) for kind in ("stays", "goes") for n in range(2) for city in CITIES]
    assert _ids(container.read_items(many, max_concurrency=1)) == sorted(["stays 0", "stays 1"] * len(CITIES))
    for city in CITIES:
        assert _ids(container.query_items("SELECT * FROM c", partition_key=city)) == ["stays 0", "stays 1"]


def test_latest_versions_do_not_have_them(server, old):
    container = old["feeds"]
    changes = list(container.query_items_change_feed(start_time="Beginning", max_item_count=5))
    assert len(changes) == 24
    assert {change["word"] for change in changes} == {"stays"}
    assert len(drain(server, container)[0]) == 24
    for city in CITIES[:3]:
        keyed = container.query_items_change_feed(start_time="Beginning", partition_key=city)
        assert _ids(keyed) == ["stays 0", "stays 1"]


def test_scripts_do_not_see_them(old):
    container = old["scripts"]
    counted = procedures.run(
        container,
        procedures.procedure(
            "collection.queryDocuments(link, 'SELECT VALUE COUNT(1) FROM c', (e, rows) => answer(rows));"
        ),
        key=CITIES[0],
    )
    assert counted == [2]
    listed = procedures.run(
        container,
        procedures.procedure(
            "collection.readDocuments(link, (error, found) => answer(found.map((one) => one.id).sort()));"
        ),
        key=CITIES[0],
    )
    assert listed == ["stays 0", "stays 1"]
    body = (
        "collection.createDocument(link, {id: 'goes 0', city: 'city 0', again: true}, (e, made) => answer(made.again));"
    )
    assert procedures.run(container, procedures.procedure(body), key=CITIES[0]) is True
    assert container.read_item("goes 0", CITIES[0])["again"] is True


def test_purge_takes_them_away(server, old):
    """What is left counts and weighs as much as if the others had never been."""
    container = old["figures"]
    until(lambda: partitions.total(server, container, "items") == 24, "the items were not purged", seconds=15)
    bytes_left = partitions.total(server, container, "bytes")
    assert run(container, "SELECT VALUE COUNT(1) FROM c") == [24]
    for city in CITIES:
        for n in range(2):
            container.delete_item(f"stays {n}", city)
    assert partitions.total(server, container, "items") == 0
    assert partitions.total(server, container, "bytes") < bytes_left
    _crowd(container, ttl=3_600)
    assert partitions.total(server, container, "items") == 60


def test_expired_value_of_a_unique_key_is_free(old):
    container = old["unique"]
    assert container.create_item({"id": "2", "city": "Oslo", "email": "a@x"})["id"] == "2"
    with refused(409):
        container.create_item({"id": "3", "city": "Oslo", "email": "a@x"})
    assert _ids(container.read_all_items()) == ["2"]


WRITES = {
    "create": (lambda container: container.create_item({"id": "1", "city": "Oslo", "again": True}), None),
    "upsert": (lambda container: container.upsert_item({"id": "1", "city": "Oslo", "again": True}), None),
    "replace": (lambda container: container.replace_item("1", {"id": "1", "city": "Oslo"}), 404),
    "patch": (lambda container: container.patch_item("1", "Oslo", [{"op": "incr", "path": "/n", "value": 1}]), 404),
    "delete": (lambda container: container.delete_item("1", "Oslo"), 404),
    "batch": (
        lambda container: container.execute_item_batch(
            [("create", ({"id": "1", "city": "Oslo", "again": True},)), ("read", ("1",))], partition_key="Oslo"
        ),
        None,
    ),
    "condition": (
        lambda container: container.upsert_item(
            {"id": "1", "city": "Oslo", "again": True}, match_condition=MatchConditions.IfMissing
        ),
        None,
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_do_not_meet_them(aged, name):
    """As if it were not there; and whoever reads every version is told of its end before of what came after it."""
    made, readers, _ = aged
    container, reader = made[f"write by {name}"], readers[f"write by {name}"]
    write, status = WRITES[name]
    if status is None:
        write(container)
        found = container.read_item("1", "Oslo")
        assert (found["again"], found.get("n"), found.get("ttl")) == (True, None, None)
    else:
        with refused(status):
            write(container)
        assert list(container.read_all_items()) == []
    wanted = [("create", False), ("delete", True)] + ([("create", False)] if status is None else [])
    told: list[tuple[str, bool]] = []

    def enough() -> bool:
        metadata = [change["metadata"] for change in reader.read()]
        told.extend((one["operationType"], bool(one.get("timeToLiveExpired"))) for one in metadata)
        return len(told) >= len(wanted)

    until(enough, "nobody was told of its end")
    assert told == wanted


def _set_default(database, container, default: int | None) -> None:
    database.replace_container(container, PartitionKey("/city"), default_ttl=default)


def test_turned_on_later_it_counts_from_the_last_write(server, database, old):
    """What is due has been for long, and nobody has purged it yet: readers and writers pass over it all the same."""
    container = old["turned on later"]
    assert run(container, "SELECT VALUE COUNT(1) FROM c") == [60]
    _set_default(database, container, -1)
    with refused(404):
        container.read_item("goes 0", CITIES[0])
    assert len(list(container.query_items_change_feed(start_time="Beginning"))) == 24
    assert len(list(container.read_all_items())) == 24
    for query in QUERIES:
        _assert_answers(container, query)
    until(lambda: partitions.total(server, container, "items") == 24, "the items were not purged", seconds=15)


def test_turned_on_later_writes_go_on_as_if_they_were_gone(database, old):
    container = old["written when turned on"]
    _set_default(database, container, -1)
    for n, city in enumerate(CITIES):
        with refused(404):
            container.patch_item("goes 0", city, [{"op": "incr", "path": "/n", "value": 1}])
        with refused(404):
            container.delete_item("goes 1", city)
        write = container.create_item if n % 2 else container.upsert_item
        assert write({"id": "goes 2", "city": city, "n": n})["n"] == n
    assert run(container, "SELECT VALUE COUNT(1) FROM c") == [36]
    assert sorted(run(container, "SELECT VALUE c.n FROM c WHERE c.id = 'goes 2'")) == list(range(12))


def test_turned_off_nothing_expires(database, old):
    container = old["turned off later"]
    assert _ids(container.read_all_items()) == ["1", "2"], "their time has come, but does not count"
    _set_default(database, container, -1)
    assert _ids(container.read_all_items()) == ["2"]


def test_other_default_counts_at_once(database, old):
    shorter = old["shorter later"]
    assert _ids(shorter.read_all_items()) == ["1", "default"]
    _set_default(database, shorter, 1)
    assert _ids(shorter.read_all_items()) == ["1"], "which has a time of its own"
    assert run(shorter, "SELECT VALUE COUNT(1) FROM c") == [1]


def test_partitions_change_without_bringing_them_back(server, old):
    container = old["splits"]
    for reshape in (
        lambda: split(server, container),
        lambda: split(server, container, range="1"),
        lambda: merge(server, container, "3", "4"),
    ):
        reshape()
        assert run(container, "SELECT VALUE COUNT(1) FROM c") == [24]
        assert len(list(container.read_all_items())) == 24
        assert len(list(container.query_items_change_feed(start_time="Beginning"))) == 24
    until(lambda: partitions.total(server, container, "items") == 24, "the items were not purged", seconds=15)


def test_patched_time_counts(old):
    assert _ids(old["patched"].read_all_items()) == ["later"]


def test_expired_stay_gone_over_a_restart(start_server):
    server = start_server()
    with CosmosClient(server.http, KEY) as client:
        database = client.create_database("d")
        container = database.create_container("c", PartitionKey("/city"), default_ttl=-1, offer_throughput=10_000)
        _crowd(container)
    assert server.stop() == 0
    time.sleep(GONE_SECONDS)
    server = start_server()
    with CosmosClient(server.http, KEY) as client:
        container = through(client, container)
        assert run(container, "SELECT VALUE COUNT(1) FROM c") == [24]
        assert len(list(container.query_items_change_feed(start_time="Beginning"))) == 24
        until(lambda: partitions.total(server, container, "items") == 24, "the items were not purged", seconds=15)


def test_upsert_of_an_expired_item_creates(server, make_container):
    container = make_container(default_ttl=TTL_SECONDS)
    first = container.create_item({"id": "1", "city": "Oslo"})
    time.sleep(max(first["_ts"] + GONE_SECONDS + 0.1 - time.time(), 0))
    headers = {"x-ms-documentdb-partitionkey": '["Oslo"]', "x-ms-documentdb-is-upsert": "True"}
    answer = wire.send(server, "POST", f"/{container.container_link}/docs", {"id": "1", "city": "Oslo"}, headers)
    assert answer.status == 201
    assert answer.body["_rid"] != first["_rid"]
