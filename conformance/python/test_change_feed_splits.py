"""Change feeds of containers whose physical partitions split and merge while they are read.

Nothing is lost, nothing comes twice, and each logical partition keeps its order: for a pager that is in the middle of
its pages, and for positions that were kept as text and taken up by another client.
"""

import itertools
import threading
from datetime import UTC, datetime, timedelta

import pytest
from azure.cosmos import CosmosClient

import feeds
from feeds import ALL_VERSIONS, EVERY_VERSION_POLICY, FULL_FIDELITY, INCREMENTAL, Reader, by_city, key_and_id, lsn
from load import Crowd, Worker
from partitions import merge, range_ids, ranges, split, until
from sdk import through
from server import KEY

CITIES = [f"city {n}" for n in range(6)]
PAGE_ITEMS = 3
MIDDLE = "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"
WHOLE = ("", "FF")
HALVES = (("", MIDDLE), (MIDDLE, "FF"))


class Writer:
    """Writes rounds of changes and knows what a reader of them must have seen."""

    def __init__(self, container):
        self.container = container
        self.rounds = 0
        self.versions: dict[str, list[tuple[str, str]]] = {city: [] for city in CITIES}

    def write(self) -> None:
        """One item of its own, another state of the common one, and a creation that is taken back, in every city."""
        number, self.rounds = self.rounds, self.rounds + 1
        for city in CITIES:
            new, gone = f"{number}", f"gone {number}"
            self.container.create_item({"id": new, "city": city, "round": number})
            self.container.upsert_item({"id": "common", "city": city, "round": number})
            self.container.create_item({"id": gone, "city": city, "round": number})
            self.container.delete_item(gone, city)
            common = "replace" if number else "create"
            self.versions[city] += [("create", new), (common, "common"), ("create", gone), ("delete", gone)]

    @property
    def newest(self) -> set[tuple[str, str, int]]:
        """Every item with the round that wrote it last."""
        single = {(city, str(number), number) for city in CITIES for number in range(self.rounds)}
        return single | {(city, "common", self.rounds - 1) for city in CITIES}


class Steps:
    """Splits, merges and splits again, always along cuts that the SDK's own ranges can follow.

    A position of the SDK has a token for each range it has met. Where a cut goes through the middle of one of them
    after a merge, the SDK asks both children for all they have, not for its part; below such cuts are followed by hand.
    """

    def __init__(self, server, container):
        self._server = server
        self._container = container
        self._cut = ""

    def __iter__(self):
        yield lambda: split(self._server, self._container)
        yield lambda: split(self._server, self._container, range="2")
        yield self._merge
        yield lambda: split(self._server, self._container, range="5", at=self._cut)

    def _merge(self) -> None:
        self._cut = ranges(self._server, self._container)[0]["maxExclusive"]
        assert merge(self._server, self._container, "1", "3") == ["5", "4"]


def _newest(changes: list[dict]) -> set[tuple[str, str, int]]:
    return {(change["city"], change["id"], change["round"]) for change in changes}


def _assert_each_once_in_order(changes: list[dict]) -> None:
    seen = [(*key_and_id(change), lsn(change)) for change in changes]
    assert len(set(seen)) == len(seen), "nothing comes twice"
    for city in CITIES:
        positions = [lsn(change) for change in changes if key_and_id(change)[0] == city]
        assert positions == sorted(positions)


def _take(pages, count: int | None) -> list[dict]:
    """Takes some pages, or all there are for the moment; the pager goes on later."""
    return [change for page in itertools.islice(pages, count) for change in page]


@pytest.mark.parametrize("start", ["Beginning", "Now", "time"])
def test_pager_goes_on_through_splits_and_merges(server, container, start):
    writer = Writer(container)
    if start == "Beginning":
        writer.write()
    begin = datetime.now(UTC) - timedelta(minutes=1) if start == "time" else start
    pages = container.query_items_change_feed(start_time=begin, max_item_count=PAGE_ITEMS).by_page()
    found = _take(pages, 2)
    for step in Steps(server, container):
        writer.write()
        found += _take(pages, 2)
        step()
        found += _take(pages, 3)
    assert range_ids(server, container) == ["6", "7", "4"]
    found += _take(pages, None)
    writer.write()
    found += _take(pages, None)
    _assert_each_once_in_order(found)
    by_item = {key_and_id(change): change for change in found}
    assert _newest(by_item.values()) >= writer.newest
    gone = {name for _, name in by_item if name.startswith("gone")}
    assert not gone, "created and deleted between two reads"
    assert _take(pages, None) == []


@pytest.mark.parametrize("start", ["Beginning", "Now"])
def test_positions_of_another_time_go_on(server, container, second_client, start):
    """Each position is kept from the step at which it was taken, and read to the end after all of them."""
    # With a time as its start, this SDK does not read its own continuation back: it takes milliseconds for seconds.
    writer = Writer(container)
    reader = Reader(container, start_time=start)
    reader.read()
    kept = [(0, reader.position)]
    for step in Steps(server, container):
        writer.write()
        changes = reader.read(max_item_count=PAGE_ITEMS)
        assert len(changes) == 2 * len(CITIES)
        _assert_each_once_in_order(changes)
        kept.append((writer.rounds, reader.position))
        step()
        assert reader.read() == [], "the change of the partitions is no change of the items"
        kept.append((writer.rounds, reader.position))
    other = through(second_client, container)
    for known, position in kept:
        changes = list(other.query_items_change_feed(continuation=position, max_item_count=PAGE_ITEMS))
        _assert_each_once_in_order(changes)
        missed = {city: [*map(str, range(known, writer.rounds)), "common"] for city in CITIES}
        assert by_city(changes) == ({} if known == writer.rounds else missed), (known, position)


@pytest.mark.parametrize("kind", ["feed ranges", "keys"])
def test_narrower_scopes_go_on(server, make_container, kind):
    container = make_container(offer_throughput=20_000)
    writer = Writer(container)
    writer.write()
    if kind == "keys":
        readers = [Reader(container, start_time="Beginning", partition_key=city) for city in CITIES]
    else:
        feed_ranges = container.read_feed_ranges()
        readers = [Reader(container, start_time="Beginning", feed_range=feed_range) for feed_range in feed_ranges]
    found = [change for reader in readers for change in reader.read(max_item_count=5)]
    assert _newest(found) == writer.newest
    for step in (
        lambda: split(server, container, range="0"),
        lambda: split(server, container, range="1"),
        lambda: merge(server, container, "3", "4"),
    ):
        step()
        writer.write()
        found = [change for reader in readers for change in reader.read(max_item_count=5)]
        assert _newest(found) == {entry for entry in writer.newest if entry[2] == writer.rounds - 1}
        _assert_each_once_in_order(found)


def test_every_version_comes_once_through_splits_and_merges(server, make_container):
    container = make_container(change_feed_policy=EVERY_VERSION_POLICY)
    writer = Writer(container)
    early, reader = (Reader(container, start_time="Now", mode=ALL_VERSIONS) for _ in range(2))
    assert early.read() == reader.read() == []
    pages = container.query_items_change_feed(mode=ALL_VERSIONS, max_item_count=PAGE_ITEMS).by_page()
    assert _take(pages, 1) == []
    followed, paged = [], []
    for step in Steps(server, container):
        writer.write()
        paged += _take(pages, 2)
        followed += reader.read(max_item_count=PAGE_ITEMS)
        step()
        paged += _take(pages, 1)
    writer.write()
    followed += reader.read(max_item_count=PAGE_ITEMS)
    paged += _take(pages, None)
    for changes in (early.read(max_item_count=PAGE_ITEMS), followed, paged):
        _assert_each_once_in_order(changes)
        for city in CITIES:
            told = [
                (change["metadata"]["operationType"], key_and_id(change)[1])
                for change in changes
                if key_and_id(change)[0] == city
            ]
            assert told == writer.versions[city]


@pytest.mark.parametrize("mode", [INCREMENTAL, FULL_FIDELITY])
def test_any_cut_can_be_followed_by_hand(server, make_container, mode):
    """The server's own tokens, of the whole container and of parts of it, with cuts that cross earlier ones."""
    container = make_container(change_feed_policy=EVERY_VERSION_POLICY)
    writer = Writer(container)
    kept: list[tuple[int, tuple | None, str]] = []

    def keep() -> None:
        for arc in (None, *HALVES):
            found, etag = feeds.drain(server, container, "*", mode=mode, arc=arc)
            assert found == []
            kept.append((writer.rounds, arc, etag))

    keep()
    for step in (
        lambda: split(server, container),
        lambda: split(server, container, range="2"),
        lambda: merge(server, container, "1", "3"),
        lambda: split(server, container, range="5", at="1" + "0" * 31),
        lambda: merge(server, container, "7", "4"),
        lambda: split(server, container, range="8", at="2A" + "0" * 30),
        lambda: merge(server, container, "6", "9"),
    ):
        writer.write()
        keep()
        step()
    whole, _ = feeds.drain(server, container, kept[0][2], mode=mode)
    hashed = {city: container.feed_range_from_partition_key(city)["Range"]["min"] for city in CITIES}
    for known, arc, etag in kept:
        for scope in (arc,) if arc else (None, WHOLE, *HALVES):
            changes, end = feeds.drain(server, container, etag, mode=mode, arc=scope, size=200)
            _assert_each_once_in_order(changes)
            low, high = scope or WHOLE
            mine = {city: ids for city, ids in by_city(whole).items() if low <= hashed[city] < high}
            missed = {city: ids[_seen(mode, known, ids) :] for city, ids in mine.items()}
            assert by_city(changes) == {city: ids for city, ids in missed.items() if ids}, (known, arc, scope, etag)
            assert feeds.get(server, container, end, mode=mode, arc=scope).status == 304


def _seen(mode: str, rounds: int, ids: list[str]) -> int:
    """How many of a city's changes a position after so many rounds has behind it."""
    if mode == FULL_FIDELITY:
        return rounds * 4
    # One item of each round, and the common one after all of them.
    return len(ids) if rounds == len(ids) - 1 else rounds


def test_position_of_the_parent_serves_each_child(server, container):
    """As a client without a map of ranges does it: 410 for the parent, then its etag for the children."""
    writer = Writer(container)
    writer.write()
    _, etag = feeds.drain(server, container, range_id="0")
    writer.write()
    split(server, container)
    gone = feeds.get(server, container, etag, range_id="0")
    assert (gone.status, gone.sub_status) == (410, 1002)
    halves = [feeds.drain(server, container, etag, range_id=child) for child in ("1", "2")]
    changes = halves[0][0] + halves[1][0]
    assert by_city(changes) == {city: ["1", "common"] for city in CITIES}
    assert not by_city(halves[0][0]).keys() & by_city(halves[1][0]).keys()
    merge(server, container, "1", "2")
    for (_, end), arc in zip(halves, HALVES, strict=True):
        assert feeds.get(server, container, end, range_id="3", arc=arc).status == 304


def test_position_before_a_split_of_its_own_range_only(server, make_container):
    """Other ranges do not care: their positions are neither moved nor read again."""
    container = make_container(offer_throughput=20_000)
    writer = Writer(container)
    writer.write()
    ends = {range_id: feeds.drain(server, container, range_id=range_id)[1] for range_id in ("0", "1")}
    split(server, container, range="0")
    assert feeds.get(server, container, ends["1"], range_id="1").status == 304
    assert feeds.get(server, container, ends["1"], range_id="1").headers["etag"] == ends["1"]


def test_follower_beside_writers_and_splits(server, make_container):
    """A reader that never stops, six writers, partitions that change: in the end it knows what is there."""
    container = make_container(offer_throughput=20_000)
    clients = [CosmosClient(server.http, KEY) for _ in range(4)]
    workers = [Worker(through(client, container), f"worker {n}") for n, client in enumerate(clients[1:])]
    done = threading.Event()
    state: dict[tuple[str, str], dict] = {}
    followed: list[dict] = []
    reader = Reader(through(clients[0], container), start_time="Now")
    reader.read()

    def follow() -> None:
        while True:
            was_done = done.is_set()
            changes = reader.read(max_item_count=50)
            followed.extend(changes)
            if was_done and not changes:
                return

    follower = threading.Thread(target=follow, daemon=True)
    follower.start()
    try:
        with Crowd(workers) as crowd:
            split(server, container, range="0")
            split(server, container, range="1")
            merge(server, container, "3", "4")
            until(lambda: all(worker.done.total() > 60 for worker in workers), "the writers are stuck")
    finally:
        done.set()
        follower.join()
    for change in followed:
        city, name = key_and_id(change)
        before = state.get((city, name))
        assert before is None or before["_lsn"] < change["_lsn"], "no item goes back in time"
        state[city, name] = change
    # What was deleted meanwhile stays known to a reader of latest versions.
    live = {key: change["n"] for key, change in state.items() if key in crowd.items}
    assert live == {key: item["n"] for key, item in crowd.items.items()}
    for client in clients:
        client.close()
