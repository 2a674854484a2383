"""The change feed in latest-version mode as the SDK reads it: every start, every scope, pages and positions.

All versions and deletes: test_change_feed_versions.py. Splits and merges in between: test_change_feed_splits.py.
"""

import asyncio
import signal
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import pytest
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.aio import CosmosClient as AsyncCosmosClient
from azure.cosmos.partition_key import NonePartitionKeyValue

import procedures
from conftest import fresh
from feeds import ALL_VERSIONS, EVERY_VERSION_POLICY, Reader, by_city, http_date, item, key_and_id, parts, stored
from partitions import merge, range_ids, split
from sdk import last_headers, refused, through
from server import KEY

CITIES = [f"city {n}" for n in range(10)]
BEFORE_AND_AFTER = {city: ["2", "0", "new"] for city in CITIES}
AFTER = {city: ["0", "new"] for city in CITIES}


@dataclass
class History:
    """A container whose items were written at two times, some seconds apart."""

    container: object
    since: datetime
    is_merged: bool


def _write_before(container) -> None:
    for city in CITIES:
        batch = [("create", ({"id": str(n), "city": city, "n": n},)) for n in range(3)]
        container.execute_item_batch(batch, partition_key=city)


def _write_after(container) -> None:
    for city in CITIES:
        container.replace_item("0", {"id": "0", "city": city, "n": 100})
        container.delete_item("1", city)
        container.create_item({"id": "new", "city": city, "n": 3})


@pytest.fixture(scope="module")
def histories(server, database):
    """One container for each way its physical partitions came to be; all wait for the same seconds to pass."""
    made = {
        name: database.create_container(fresh("history"), PartitionKey("/city"), offer_throughput=throughput)
        for name, throughput in {"one range": 10_000, "two ranges": 20_000, "split": 10_000, "merged": 10_000}.items()
    }
    split(server, made["merged"])
    for container in made.values():
        _write_before(container)
    since = int(time.time()) + 2
    time.sleep(max(since + 0.2 - time.time(), 0))
    for container in made.values():
        _write_after(container)
    split(server, made["split"])
    merge(server, made["merged"], "1", "2")
    yield {
        name: History(container, datetime.fromtimestamp(since, UTC), name == "merged")
        for name, container in made.items()
    }
    for container in made.values():
        database.delete_container(container)


@pytest.fixture(params=["one range", "two ranges", "split", "merged"])
def history(histories, request) -> History:
    return histories[request.param]


def test_from_the_beginning_each_item_comes_once_at_its_newest(history):
    changes = list(history.container.query_items_change_feed(start_time="Beginning"))
    assert by_city(changes) == BEFORE_AND_AFTER, "by their last write; what was deleted is not there"
    for change in changes:
        assert item(change) == history.container.read_item(change["id"], change["city"])
    for city in CITIES:
        positions = [change["_lsn"] for change in changes if change["city"] == city]
        assert positions == sorted(set(positions))


def test_from_now_nothing_has_happened_yet(history):
    assert list(history.container.query_items_change_feed(start_time="Now")) == []
    assert list(history.container.query_items_change_feed()) == [], "which is the default"
    assert last_headers(history.container)["etag"]


def test_from_a_time(history):
    read = history.container.query_items_change_feed
    assert by_city(list(read(start_time=history.since))) == AFTER
    elsewhere = history.since.astimezone(timezone(timedelta(hours=5)))
    assert by_city(list(read(start_time=elsewhere))) == AFTER, "whatever the time zone"
    assert by_city(list(read(start_time=datetime(1990, 1, 1, tzinfo=UTC)))) == BEFORE_AND_AFTER
    assert by_city(list(read(start_time=datetime.now(UTC) + timedelta(days=1)))) == {}


@pytest.mark.parametrize("size", [1, 4, 5_000, -1])
def test_pages_have_the_size_asked_for(history, size):
    asked = {"start_time": "Beginning", "max_item_count": size}
    pages = [list(page) for page in history.container.query_items_change_feed(**asked).by_page()]
    assert by_city([change for page in pages for change in page]) == BEFORE_AND_AFTER
    assert all(pages), "the SDK never shows the empty page that ended its feed"
    # What the creations of each batch left behind is one item. Ranges that were merged may have had commits of the same
    # number, and a page ends between numbers.
    longest = max(size, 2 if history.is_merged else 1) if size > 0 else 1_000
    assert all(len(page) <= longest for page in pages)


@pytest.mark.parametrize("size", [2, 9])
def test_continuation_of_every_page_resumes_in_another_client(history, second_client, size):
    everything = list(history.container.query_items_change_feed(start_time="Beginning", max_item_count=100))
    other = through(second_client, history.container)
    pages = history.container.query_items_change_feed(start_time="Beginning", max_item_count=size).by_page()
    read = []
    for number, page in enumerate(pages):
        read += list(page)
        position = pages.continuation_token
        if any(token is None for _, _, token in parts(position)):
            # As long as one range has not been read, the SDK does not take back its own continuation.
            continue
        rest = list(other.query_items_change_feed(continuation=position))
        assert len(read) + len(rest) == len(everything), number
        assert sorted(map(str, read + rest)) == sorted(map(str, everything)), number
    by_page = other.query_items_change_feed(max_item_count=size).by_page(position)
    assert [list(page) for page in by_page] == [], "the last page's is the end"
    assert len(read) == len(everything)


def test_feed_of_one_logical_partition(history):
    read = history.container.query_items_change_feed
    for city in CITIES[:4]:
        assert by_city(list(read(partition_key=city, start_time="Beginning"))) == {city: BEFORE_AND_AFTER[city]}
        assert by_city(list(read(partition_key=city, start_time=history.since))) == {city: AFTER[city]}
        assert list(read(partition_key=city, start_time="Now")) == []
        pages = read(partition_key=city, start_time="Beginning", max_item_count=2).by_page()
        assert [change["id"] for change in next(pages)] == ["2", "0"]
        assert [change["id"] for change in read(continuation=pages.continuation_token)] == ["new"]
    assert list(read(partition_key="nowhere", start_time="Beginning")) == []


def test_feed_ranges_cover_the_container_once(server, history):
    feed_ranges = list(history.container.read_feed_ranges(force_refresh=True))
    assert len(feed_ranges) == len(range_ids(server, history.container))
    found: dict[str, list[str]] = {}
    for feed_range in feed_ranges:
        mine = by_city(list(history.container.query_items_change_feed(feed_range=feed_range, start_time="Beginning")))
        assert not mine.keys() & found.keys()
        found |= mine
        later = by_city(
            list(history.container.query_items_change_feed(feed_range=feed_range, start_time=history.since))
        )
        assert later == {city: AFTER[city] for city in mine}
        assert list(history.container.query_items_change_feed(feed_range=feed_range)) == []
    assert found == BEFORE_AND_AFTER


def test_feed_range_of_a_key(history):
    for city in CITIES[:3]:
        feed_range = history.container.feed_range_from_partition_key(city)
        changes = list(history.container.query_items_change_feed(feed_range=feed_range, start_time="Beginning"))
        assert by_city(changes) == {city: BEFORE_AND_AFTER[city]}


def test_feed_of_a_partition_key_range(history):
    """The oldest way to ask. This SDK does not send the id it is given: the server reads all ranges in one go."""
    read = history.container.query_items_change_feed
    starts = [({"is_start_from_beginning": True}, BEFORE_AND_AFTER), ({"start_time": history.since}, AFTER), ({}, {})]
    for start, wanted in starts:
        with pytest.warns(DeprecationWarning, match="deprecated"):
            changes = list(read(partition_key_range_id="0", max_item_count=7, **start))
        assert by_city(changes) == wanted
        assert len(changes) == sum(len(ids) for ids in wanted.values())


def test_priority_is_accepted(history):
    for priority in ("High", "Low"):
        changes = list(history.container.query_items_change_feed(start_time="Beginning", priority=priority))
        assert by_city(changes) == BEFORE_AND_AFTER


def test_every_answer_is_charged_and_tells_its_session(history):
    answers = []
    list(
        history.container.query_items_change_feed(
            start_time="Beginning",
            max_item_count=10,
            response_hook=lambda headers, body: answers.append((headers, body)),
        )
    )
    assert len(answers) >= 4
    assert [body for _, body in answers].count(None) >= 1, "a range ends with 304 and without a body"
    for headers, _ in answers:
        assert float(headers["x-ms-request-charge"]) > 0
        assert headers["x-ms-session-token"]


def test_reader_sees_what_comes_later(container):
    reader = Reader(container, start_time="Now")
    assert reader.read() == []
    for n in range(3):
        made = container.upsert_item({"id": "1", "city": "Oslo", "n": n})
        container.create_item({"id": f"and {n}", "city": "Bergen"})
        changes = reader.read()
        assert [key_and_id(change) for change in changes] == [("Oslo", "1"), ("Bergen", f"and {n}")]
        assert item(changes[0]) == made
    container.delete_item("1", "Oslo")
    assert reader.read() == [], "a delete shows in no latest version"
    container.upsert_item({"id": "1", "city": "Oslo", "n": 4})
    container.upsert_item({"id": "1", "city": "Oslo", "n": 5})
    assert [change["n"] for change in reader.read()] == [5], "states in between are not kept"
    assert reader.read() == []


def test_every_kind_of_write_is_a_change(container):
    reader = Reader(container, start_time="Now")
    reader.read()
    container.create_item({"id": "created", "city": "Oslo"})
    container.upsert_item({"id": "upserted", "city": "Oslo"})
    container.create_item({"id": "patched", "city": "Oslo", "n": 0})
    container.create_item({"id": "replaced", "city": "Oslo", "n": 0})
    container.create_item({"id": "deleted", "city": "Oslo", "n": 0})
    container.patch_item("patched", "Oslo", [{"op": "incr", "path": "/n", "value": 1}])
    container.replace_item("replaced", {"id": "replaced", "city": "Oslo", "n": 1})
    container.delete_item("deleted", "Oslo")
    container.execute_item_batch([("create", ({"id": "batched", "city": "Oslo"},))], partition_key="Oslo")
    procedures.run(container, procedures.script("import-items"), [{"id": "imported", "city": "Oslo"}])
    assert [change["id"] for change in reader.read()] == [
        "created",
        "upserted",
        "patched",
        "replaced",
        "batched",
        "imported",
    ]


def test_writes_that_change_nothing_are_no_changes(container):
    container.create_item({"id": "1", "city": "Oslo", "n": 0})
    reader = Reader(container, start_time="Now")
    reader.read()
    with refused(409):
        container.create_item({"id": "1", "city": "Oslo"})
    with refused(412):
        container.patch_item(
            "1", "Oslo", [{"op": "incr", "path": "/n", "value": 1}], filter_predicate="FROM c WHERE c.n = 1"
        )
    with refused(404):
        container.delete_item("2", "Oslo")
    assert reader.read() == []


@pytest.mark.parametrize("key", ["Oslo", 7.5, True, NonePartitionKeyValue], ids=["text", "number", "boolean", "none"])
def test_keys_of_every_type(make_container, key):
    # For keys that are false in Python (0, "", False, None) the SDK reads the whole container instead.
    container = make_container()
    for n, city in enumerate(["Oslo", 7.5, True]):
        container.create_item({"id": f"{n}", "city": city})
    container.create_item({"id": "3"})
    wanted = {"Oslo": "0", 7.5: "1", True: "2"}.get(key, "3")
    changes = list(container.query_items_change_feed(partition_key=key, start_time="Beginning"))
    assert [change["id"] for change in changes] == [wanted]


def test_hierarchical_keys_and_their_prefixes(make_container):
    container = make_container(["/tenant", "/city", "/street"])
    for tenant in "ab":
        for city in "xy":
            for street in "12":
                key = {"tenant": tenant, "city": city, "street": street}
                container.create_item({"id": tenant + city + street, **key})
    read = container.query_items_change_feed

    def ids(*key):
        return [change["id"] for change in read(partition_key=list(key), start_time="Beginning")]

    assert ids("a", "x", "2") == ["ax2"]
    assert ids("a", "y") == ["ay1", "ay2"]
    assert ids("b") == ["bx1", "bx2", "by1", "by2"]
    assert ids("c") == ids("a", "z") == ids("a", "x", "3") == []
    pages = read(partition_key=["b"], start_time="Beginning", max_item_count=3).by_page()
    assert [change["id"] for change in next(pages)] == ["bx1", "bx2", "by1"]
    container.upsert_item({"id": "bx1", "tenant": "b", "city": "x", "street": "1"})
    container.upsert_item({"id": "ax1", "tenant": "a", "city": "x", "street": "1"})
    assert [change["id"] for change in read(continuation=pages.continuation_token)] == ["by2", "bx1"]


def test_position_of_the_server_itself_is_a_continuation(container):
    """A plain number goes into the request as it is, with the key in its header."""
    for n in range(4):
        container.create_item({"id": str(n), "city": "Oslo"})
        container.create_item({"id": str(n), "city": "Bergen"})
    changes = list(container.query_items_change_feed(partition_key="Oslo", start_time="Beginning"))
    for n, change in enumerate(changes):
        for continuation in (str(change["_lsn"]), f'"{change["_lsn"]}"'):
            rest = list(container.query_items_change_feed(partition_key="Oslo", continuation=continuation))
            assert [(one["city"], one["id"]) for one in rest] == [("Oslo", str(k)) for k in range(n + 1, 4)]


@pytest.mark.parametrize("size", [1, 3, 10])
def test_transactions_are_never_cut(container, size):
    for transaction in range(4):
        creations = [("create", ({"id": f"{transaction} {n}", "city": "Oslo"},)) for n in range(5)]
        container.execute_item_batch(creations, partition_key="Oslo")
    created = procedures.run(
        container, procedures.script("import-items"), [{"id": f"4 {n}", "city": "Oslo"} for n in range(5)]
    )
    assert created == 5
    pages = container.query_items_change_feed(start_time="Beginning", max_item_count=size).by_page()
    seen = []
    for page in pages:
        changes = list(page)
        transactions = {change["id"].split()[0] for change in changes}
        assert len(changes) == 5 * len(transactions), "whole transactions only"
        assert len({change["_lsn"] for change in changes}) == len(transactions)
        assert len(transactions) <= max(size // 5, 1)
        seen += sorted(transactions)
    assert seen == ["0", "1", "2", "3", "4"]


def test_what_others_replaced_in_a_transaction_comes_alone(container):
    creations = [("create", ({"id": str(n), "city": "Oslo"},)) for n in range(4)]
    container.execute_item_batch(creations, partition_key="Oslo")
    container.upsert_item({"id": "1", "city": "Oslo", "again": True})
    changes = list(container.query_items_change_feed(start_time="Beginning", max_item_count=1))
    assert [change["id"] for change in changes] == ["0", "2", "3", "1"]
    assert len({change["_lsn"] for change in changes}) == 2


def test_continuation_of_another_container_is_refused(container, make_container):
    other = make_container()
    other.create_item({"id": "1", "city": "Oslo"})
    reader = Reader(other, start_time="Beginning")
    assert len(reader.read()) == 1
    with pytest.raises(ValueError, match="rid"):
        reader.read(container)


def test_large_items_come_whole(container):
    made = {}
    for n in range(6):
        made[str(n)] = container.create_item({"id": str(n), "city": "Oslo", "text": f"{n} " * 700_000})
    pages = [list(page) for page in container.query_items_change_feed(start_time="Beginning").by_page()]
    assert {change["id"]: item(change) for page in pages for change in page} == made
    assert len(pages) > 1, "a page has a size in bytes as well"


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL], ids=["terminated", "killed"])
def test_positions_survive_a_restart(start_server, ending):
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        database = client.create_database("d")
        one = database.create_container("one", PartitionKey("/city"), offer_throughput=10_000)
        two = database.create_container(
            "two", PartitionKey("/city"), offer_throughput=20_000, change_feed_policy=EVERY_VERSION_POLICY
        )
        readers = {}
        for container in (one, two):
            readers[container.id, "now"] = Reader(container, start_time="Now")
            readers[container.id, "now"].read()
            _write_before(container)
            readers[container.id, "some"] = Reader(container, start_time="Beginning", max_item_count=7)
            readers[container.id, "some"].read()
        readers["two", "versions"] = Reader(two, start_time="Now", mode=ALL_VERSIONS)
        readers["two", "versions"].read()
        for container in (one, two):
            _write_after(container)
        answers = {
            name: list(reader.container.query_items_change_feed(continuation=reader.position))
            for name, reader in readers.items()
        }
    server.stop(ending)
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        for (name, kind), reader in readers.items():
            container = client.get_database_client("d").get_container_client(name)
            changes = reader.read(container)
            assert sorted(map(str, changes)) == sorted(map(str, answers[name, kind])), (name, kind)
            assert len(changes) == {"now": 30, "some": 20, "versions": 30}[kind]
            assert reader.read(container) == []
        for (name, kind), reader in readers.items():
            container = client.get_database_client("d").get_container_client(name)
            reader.read(container)
            made = container.upsert_item({"id": f"later {kind}", "city": CITIES[0]})
            [change] = reader.read(container)
            assert item(change.get("current", change)) == made


def test_time_is_compared_with_the_items_own(container):
    made = [container.create_item({"id": str(n), "city": "Oslo"}) for n in range(3)]
    stamps = {one["_ts"] for one in made}
    for start in range(min(stamps) - 1, max(stamps) + 2):
        changes = list(container.query_items_change_feed(start_time=datetime.fromtimestamp(start, UTC)))
        assert [item(change) for change in changes] == [one for one in made if one["_ts"] >= start], http_date(start)


def test_reading_without_blocking(server, database, make_container):
    """The other client of the SDK: every start, a key, all versions, and a split under way."""
    container = make_container()
    versions = make_container(change_feed_policy=EVERY_VERSION_POLICY)
    _write_before(container)

    async def read(feed) -> list[dict]:
        return [change async for change in feed]

    async def work() -> None:
        async with AsyncCosmosClient(server.http, KEY) as client:
            opened = client.get_database_client(database.id)
            mine, every = opened.get_container_client(container.id), opened.get_container_client(versions.id)
            assert len(await read(mine.query_items_change_feed(start_time="Beginning"))) == 30
            assert await read(mine.query_items_change_feed(start_time="Now")) == []
            now = mine.client_connection.last_response_headers["etag"]
            time_ago = datetime.now(UTC) - timedelta(hours=1)
            assert len(await read(mine.query_items_change_feed(start_time=time_ago))) == 30
            one = await read(mine.query_items_change_feed(start_time="Beginning", partition_key=CITIES[3]))
            assert by_city(one) == {CITIES[3]: ["0", "1", "2"]}
            pages = mine.query_items_change_feed(start_time="Beginning", max_item_count=9).by_page()
            first = [change async for change in await anext(pages)]
            await asyncio.to_thread(split, server, container)
            rest = [change async for page in pages async for change in page]
            assert len(first) + len(rest) == 30
            assert len({key_and_id(change) for change in first + rest}) == 30
            await asyncio.to_thread(_write_after, container)
            assert by_city(await read(mine.query_items_change_feed(continuation=now))) == AFTER
            feed_ranges = [feed_range async for feed_range in mine.read_feed_ranges(force_refresh=True)]
            assert len(feed_ranges) == 2
            halves = [
                by_city(await read(mine.query_items_change_feed(feed_range=feed_range, start_time="Beginning")))
                for feed_range in feed_ranges
            ]
            assert halves[0] | halves[1] == BEFORE_AND_AFTER
            assert await read(every.query_items_change_feed(mode=ALL_VERSIONS)) == []
            position = every.client_connection.last_response_headers["etag"]
            await every.create_item({"id": "1", "city": "Oslo"})
            await every.delete_item("1", "Oslo")
            operations = await read(every.query_items_change_feed(continuation=position))
            assert [change["metadata"]["operationType"] for change in operations] == ["create", "delete"]
            assert stored(operations[0]["current"]) == {"id": "1", "city": "Oslo"}

    asyncio.run(work())


def test_permission_to_read_is_permission_to_follow(server, database, container):
    container.create_item({"id": "1", "city": "Oslo"})
    container.create_item({"id": "1", "city": "Bergen"})
    user = database.create_user({"id": fresh("follower")})
    body = {"id": "all", "permissionMode": "Read", "resource": container.container_link}
    whole = user.create_permission(body).properties["_token"]
    user.delete_permission("all")
    part = user.create_permission({**body, "id": "oslo", "resourcePartitionKey": ["Oslo"]}).properties["_token"]
    with CosmosClient(server.https, credential={container.container_link: whole}) as client:
        assert len(list(through(client, container).query_items_change_feed(start_time="Beginning"))) == 2
    with CosmosClient(server.https, credential={container.container_link: part}) as client:
        read = through(client, container).query_items_change_feed
        # A position that is a number makes the SDK send the key itself, which the permission is about.
        assert [change["city"] for change in read(partition_key="Oslo", continuation="0")] == ["Oslo"]
        with refused(403):
            list(read(partition_key="Bergen", continuation="0"))
        with refused(403):
            list(read(start_time="Beginning"))
    database.delete_user(user.id)
