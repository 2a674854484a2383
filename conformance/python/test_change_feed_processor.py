"""The change feed processor pattern on a lease container: at least once, shared, taken over, through splits."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from azure.cosmos import CosmosClient

from change_feed_processor import Intervals, LeaseLostError, LeaseStore, Processor, estimate, leases_to_take, read_page
from feeds import ALL_VERSIONS, EVERY_VERSION_POLICY, LATEST_VERSION, key_and_id, lsn
from partitions import merge, split, until
from sdk import refused
from server import KEY

CITIES = [f"city {n}" for n in range(20)]
# Leases that do not expire while a test runs, where only their order is looked at.
PATIENT = Intervals(expire_seconds=60)


class Seen:
    """What delegates were given, by whom."""

    def __init__(self):
        self.changes: list[tuple[str, dict]] = []
        self._lock = threading.Lock()

    def by(self, host: str):
        """Returns a delegate for one host."""

        def delegate(changes: list[dict]) -> None:
            with self._lock:
                self.changes += [(host, change) for change in changes]

        return delegate

    @property
    def hosts(self) -> set[str]:
        return {host for host, _ in self.changes}

    def newest(self) -> dict[tuple[str, str], dict]:
        """The last state of every item; of two deliveries of the same one it does not matter which."""
        found: dict[tuple[str, str], dict] = {}
        for _, change in list(self.changes):
            known = found.get(key_and_id(change))
            if known is None or lsn(known) <= lsn(change):
                found[key_and_id(change)] = change
        return found

    def knows(self, wanted: dict[tuple[str, str], int]) -> bool:
        """Whether the newest state of each of these items has come."""
        newest = self.newest()
        return all(key in newest and newest[key]["n"] == n for key, n in wanted.items())

    def repeated(self) -> int:
        """How many deliveries were not the first of their kind."""
        each = [(*key_and_id(change), lsn(change)) for _, change in self.changes]
        return len(each) - len(set(each))


class Pattern:
    """A monitored container, its leases, and hosts that are ended with the test."""

    def __init__(self, server, monitored, leases):
        self.server = server
        self.monitored = monitored
        self.store = LeaseStore(leases)
        self.leases = leases
        self.seen = Seen()
        self.written: dict[tuple[str, str], int] = {}
        self.hosts: list[Processor] = []
        self._client = CosmosClient(server.http, KEY)

    def host(self, name: str, delegate=None, **options) -> Processor:
        processor = Processor(
            name,
            self._client,
            self.monitored.container_link,
            self.leases.container_link,
            delegate or self.seen.by(name),
            **options,
        )
        self.hosts.append(processor.__enter__())
        return processor

    def write(self, name: str, n: int = 0) -> None:
        for city in CITIES:
            self.monitored.upsert_item({"id": name, "city": city, "n": n})
            self.written[city, name] = n

    def until_all_is_known(self) -> None:
        until(lambda: self.seen.knows(self.written), "not everything was delivered")

    def until_positions(self, count: int) -> None:
        until(lambda: sum(bool(lease["ContinuationToken"]) for lease in self.store.all()) == count, "no positions")

    def until_shared(self, *counts: int) -> None:
        alive = [host for host in self.hosts if host.is_running]
        until(
            lambda: [host.lease_count for host in alive] == list(counts),
            f"leases are not shared {counts}: {[host.lease_count for host in alive]}",
        )

    def close(self) -> None:
        for host in self.hosts:
            host.stop()
        self._client.close()


@pytest.fixture
def pattern(server, make_container):
    made = []

    def make(throughput: int = 10_000, **options) -> Pattern:
        leases = make_container("/id", default_ttl=-1)
        made.append(Pattern(server, make_container(offer_throughput=throughput, **options), leases))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_every_change_is_delivered(pattern):
    one = pattern(20_000)
    one.write("before")
    host = one.host("a", items_max=7)
    one.until_all_is_known()
    for n in range(3):
        one.write("again", n)
    one.write("after")
    one.until_all_is_known()
    assert host.failures == []
    assert one.seen.repeated() == 0, "nobody died, nobody took a lease away"
    for city in CITIES:
        places = [lsn(change) for _, change in one.seen.changes if change["city"] == city]
        assert places == sorted(places)


def test_only_what_comes_after_the_start(pattern):
    one = pattern()
    one.write("before")
    one.host("a", start="Now")
    one.until_positions(1)
    one.write("after")
    until(lambda: len(one.seen.changes) >= len(CITIES), "nothing came")
    assert {name for _, name in one.seen.newest()} == {"after"}


def test_position_outlives_the_host(pattern):
    one = pattern(20_000)
    one.write("first")
    host = one.host("a")
    one.until_all_is_known()
    until(lambda: sum(estimate(one.monitored, one.store).values()) == 0, "no position was kept")
    host.stop()
    assert [lease["Owner"] for lease in one.store.all()] == [None, None]
    one.write("second")
    one.host("b")
    one.until_all_is_known()
    assert {change["id"] for host, change in one.seen.changes if host == "b"} == {"second"}


def test_two_hosts_share(pattern):
    one = pattern(40_000)
    one.host("a", intervals=PATIENT)
    one.until_shared(4)
    one.write("alone")
    one.until_all_is_known()
    one.host("b", intervals=PATIENT)
    one.until_shared(2, 2)
    owners = [lease["Owner"] for lease in one.store.all()]
    assert sorted(owners) == ["a", "a", "b", "b"]
    one.write("together")
    one.until_all_is_known()
    assert {host for host, change in one.seen.changes if change["id"] == "together"} == {"a", "b"}
    one.host("c", intervals=PATIENT)
    until(lambda: all(1 <= host.lease_count <= 2 for host in one.hosts), "three hosts do not share four leases")
    one.write("three of them")
    one.until_all_is_known()
    one.hosts[0].stop()
    one.until_shared(2, 2)
    one.write("without the first")
    one.until_all_is_known()
    assert one.seen.repeated() <= 4 * len(CITIES), "only what was under way when a lease went over"


def test_dead_host_is_replaced(pattern):
    """It dies after the delegate has returned and before its position is written: what it was given comes again."""
    one = pattern(20_000)
    given = []

    def dying(changes: list[dict]) -> None:
        given.extend(changes)
        host.die()

    host = one.host("a", dying)
    one.until_shared(2)
    one.write("first")
    until(lambda: given, "the first host was given nothing")
    survivor = one.host("b")
    one.until_all_is_known()
    until(lambda: survivor.lease_count == 2, "the leases of the dead were not taken over")
    redelivered = {(*key_and_id(change), lsn(change)) for _, change in one.seen.changes}
    assert {(*key_and_id(change), lsn(change)) for change in given} <= redelivered
    assert {lease["Owner"] for lease in one.store.all()} == {"b"}


def test_delegate_that_fails_is_given_the_same_again(pattern):
    one = pattern()
    attempts = []

    def failing(changes: list[dict]) -> None:
        attempts.append([change["id"] for change in changes])
        if len(attempts) < 3:
            raise RuntimeError("not yet")
        one.seen.by("a")(changes)

    one.monitored.create_item({"id": "1", "city": "Oslo", "n": 0})
    one.written["Oslo", "1"] = 0
    host = one.host("a", failing)
    one.until_all_is_known()
    assert attempts == [["1"]] * 3
    assert [str(failure) for failure in host.failures] == ["not yet"] * 2


@pytest.mark.parametrize("hosts", [1, 2])
def test_leases_follow_splits_and_merges(server, pattern, hosts):
    one = pattern()
    one.write("before")
    for name in "ab"[:hosts]:
        one.host(name)
    one.until_all_is_known()
    [parent] = one.store.all()

    split(server, one.monitored)
    one.write("split", 1)
    one.until_all_is_known()
    until(lambda: len(one.store.all()) == 2, "the children have no leases")
    assert parent["id"] not in {lease["id"] for lease in one.store.all()}

    split(server, one.monitored, range="1")
    one.write("split", 2)
    one.write("again")
    one.until_all_is_known()
    until(lambda: len(one.store.all()) == 3, "the grandchildren have no leases")
    if hosts == 2:
        until(lambda: all(host.lease_count for host in one.hosts), "one host has nothing to do")

    kept = {lease["LeaseToken"] for lease in one.store.all()}
    merge(server, one.monitored, "3", "4")
    one.write("merged", 3)
    one.write("again", 4)
    one.until_all_is_known()
    assert {lease["LeaseToken"] for lease in one.store.all()} == kept, "leases of a merged range go on as they are"
    if hosts == 1:
        assert one.seen.repeated() == 0
    assert [failure for host in one.hosts for failure in host.failures] == []


def test_writers_splits_and_a_death_at_once(server, pattern):
    one = pattern(20_000)
    hosts = [one.host(name) for name in "ab"]
    stopping = threading.Event()

    def write(writer: int) -> dict[tuple[str, str], int]:
        written = {}
        n = 0
        while not stopping.is_set():
            city = CITIES[n % len(CITIES)]
            one.monitored.upsert_item({"id": f"{writer} {n % 7}", "city": city, "n": n})
            written[city, f"{writer} {n % 7}"] = n
            n += 1
        return written

    with ThreadPoolExecutor(3) as pool:
        writers = [pool.submit(write, number) for number in range(3)]
        try:
            split(server, one.monitored, range="0")
            hosts[0].die()
            one.host("c")
            split(server, one.monitored, range="1")
            time.sleep(0.5)
        finally:
            stopping.set()
        for writer in writers:
            one.written |= writer.result()
    one.until_all_is_known()
    until(lambda: len(one.store.all()) == 4, "a lease for each range")
    until(lambda: {lease["Owner"] for lease in one.store.all()} == {"b", "c"}, "the living share")
    assert [failure for host in one.hosts for failure in host.failures] == []


def test_estimate_goes_to_nothing(server, pattern):
    one = pattern(20_000)
    assert estimate(one.monitored, one.store) == {}, "no host ever ran"
    go = threading.Event()

    def slow(changes: list[dict]) -> None:
        go.wait()
        one.seen.by("a")(changes)

    one.host("a", slow, items_max=5)
    until(lambda: sorted(estimate(one.monitored, one.store).values()) == [0, 0], "no position was kept")
    for n in range(3):
        one.write("counted", n)
    lags = estimate(one.monitored, one.store)
    # Commits, not items: the states in between are gone from the feed, their numbers are not.
    assert 20 <= sum(lags.values()) <= 60
    split(server, one.monitored, range="0")
    assert sum(estimate(one.monitored, one.store).values()) > 0, "a lease of a range that is gone is not forgotten"
    go.set()
    one.until_all_is_known()
    until(lambda: sum(estimate(one.monitored, one.store).values()) == 0, "still behind")
    assert len(estimate(one.monitored, one.store)) == 3


def test_all_versions_are_processed(pattern):
    one = pattern(20_000, change_feed_policy=EVERY_VERSION_POLICY)
    one.host("a", mode=ALL_VERSIONS, start="Now")
    one.until_positions(2)
    for city in CITIES:
        one.monitored.create_item({"id": "1", "city": city})
        one.monitored.upsert_item({"id": "1", "city": city})
        one.monitored.delete_item("1", city)
    until(lambda: len(one.seen.changes) >= 3 * len(CITIES), "not every version came")
    for city in CITIES:
        told = [change["metadata"]["operationType"] for _, change in one.seen.changes if key_and_id(change)[0] == city]
        assert told == ["create", "replace", "delete"]


def test_hosts_that_start_together_make_the_leases_once(pattern):
    one = pattern(40_000)
    for name in "abcd":
        one.host(name, intervals=PATIENT)
    one.until_shared(1, 1, 1, 1)
    stored = {item["id"]: item for item in one.leases.read_all_items()}
    assert len(one.store.all()) == 4
    assert set(stored) == {"processor.info", *(lease["id"] for lease in one.store.all())}, "and the lock is gone"


def test_lock_of_a_dead_host_expires(pattern):
    one = pattern()
    one.leases.create_item({"id": "processor.lock", "Owner": "dead", "ttl": 1})
    one.write("first")
    one.host("a")
    one.until_all_is_known()
    with refused(404):
        one.leases.read_item("processor.lock", "processor.lock")


def test_of_two_takers_one_wins(pattern):
    one = pattern()
    one.store.initialize(list(one.monitored.read_feed_ranges()), LATEST_VERSION, "a", PATIENT)
    [lease] = one.store.all()
    taken = one.store.change(lease, Owner="a")
    with pytest.raises(LeaseLostError):
        one.store.change(lease, Owner="b")
    with pytest.raises(LeaseLostError):
        one.store.delete(lease)
    assert one.store.all() == [taken]
    assert one.store.create(lease["FeedRange"]["Range"], None, LATEST_VERSION, "b") is None, "409: it is there"
    one.store.delete(taken)
    with pytest.raises(LeaseLostError):
        one.store.change(taken, Owner="b")

    with ThreadPoolExecutor(8) as pool:
        one.store.create(lease["FeedRange"]["Range"], None, LATEST_VERSION, None)
        [lease] = one.store.all()

        def take(name: str) -> str | None:
            try:
                return one.store.change(lease, Owner=name)["Owner"]
            except LeaseLostError:
                return None

        winners = [winner for winner in pool.map(take, "abcdefgh") if winner]
    assert len(winners) == 1
    assert [lease["Owner"] for lease in one.store.all()] == winners


def test_page_of_a_lease_says_where_it_goes_on(server, pattern):
    one = pattern()
    one.write("first")
    one.store.initialize(list(one.monitored.read_feed_ranges()), LATEST_VERSION, "a", PATIENT)
    [lease] = one.store.all()
    page = read_page(one.monitored, lease, "Beginning", 5)
    assert len(page.changes) == 5
    [(_, token)] = page.parts
    split(server, one.monitored)
    after = read_page(one.monitored, {**lease, "ContinuationToken": token}, "Beginning", 5)
    assert len(after.parts) == 2
    assert all(part_token is not None for _, part_token in after.parts)
    assert not {key_and_id(change) for change in page.changes} & {key_and_id(change) for change in after.changes}


@pytest.mark.parametrize(
    ("owners", "host", "taken"),
    [
        ([], "a", 0),
        ([None, None, None], "a", 3),
        (["b", None, None], "a", 2),
        (["b", "b", "b"], "a", 1),
        (["b", "b", "a"], "a", 0),
        (["b", "b", "a", "a"], "c", 1),
        (["b", "a"], "c", 0),
        (["b", "b", "b", "b", "a"], "a", 1),
        (["dead", "dead", "a"], "a", 2),
        (["dead", "dead", "b", "a"], "a", 1),
    ],
)
def test_share_of_a_host(owners, host, taken):
    """Who has what, and what a host takes next; leases of the dead are free, and the dead have no share."""
    leases = [
        {"id": str(n), "Owner": owner, "timestamp": 0 if owner == "dead" else 100} for n, owner in enumerate(owners)
    ]
    found = leases_to_take(leases, host, expired_before=50)
    assert len(found) == taken
    assert all(lease["Owner"] != host for lease in found)
