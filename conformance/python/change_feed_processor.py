"""A change feed processor: hosts that share a feed by leases in a container, as the SDKs that bring one do it.

There is a lease for each range of the monitored container, with its owner and its position. Hosts find each other by
nothing but these leases: whoever has fewer than its share takes unowned and expired ones, then one of the fullest
host's. Every change of a lease is a replace with If-Match, so of two hosts one wins and the other is told 412.

What holds: a position is written after the delegate has returned, so each change is delivered at least once, and
again where a host dies or loses its lease in between. A lease whose range has split is replaced by leases of the
children with the parent's position; a lease whose range is part of a merged one goes on as it is.

As in the SDKs, hosts compare times they wrote themselves; their clocks must not differ by as much as a lease lives.
"""

import base64
import json
import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from azure.core import MatchConditions
from azure.cosmos import CosmosClient
from azure.cosmos.exceptions import (
    CosmosAccessConditionFailedError,
    CosmosResourceExistsError,
    CosmosResourceNotFoundError,
)

from feeds import LATEST_VERSION, lsn
from sdk import session_lsn

LEASE_VERSION = 1
JOIN_SECONDS_MAX = 20

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Intervals:
    """How often a host does what; the SDKs have 13, 17, 60 and 5 seconds."""

    acquire_seconds: float = 0.2
    renew_seconds: float = 0.3
    expire_seconds: float = 2.0
    poll_seconds: float = 0.05
    lock_seconds: int = 2


class LeaseLostError(Exception):
    """Another host has the lease, or its range is no more."""


@dataclass(frozen=True)
class Page:
    """One answer of the feed: its changes, the position in each range it came from, and how far the log goes."""

    changes: list[dict]
    parts: list[tuple[dict, str | None]]
    newest: int


def read_page(monitored, lease: dict, start, items_max: int) -> Page:
    """Reads once from a lease's position."""
    feed_range, token = lease["FeedRange"]["Range"], lease["ContinuationToken"]
    if token is None:
        asked = {"feed_range": lease["FeedRange"], "start_time": start, "mode": lease["Mode"]}
    else:
        asked = {"continuation": _continuation(monitored, feed_range, token, lease["Mode"])}
    answers: list[dict] = []
    # The client's own last headers are those of whichever thread came last; the hook's are those of this feed.
    pages = monitored.query_items_change_feed(
        **asked, max_item_count=items_max, response_hook=lambda headers, _: answers.append(headers)
    ).by_page()
    changes = list(next(pages, ()))
    state = json.loads(base64.b64decode(answers[-1]["etag"]))
    parts = [(part["range"], part["token"]) for part in state["continuation"]["continuation"]]
    return Page(changes, parts, session_lsn(answers[-1]["x-ms-session-token"]))


def _continuation(monitored, feed_range: dict, token: str, mode: str) -> str:
    """Returns what the SDK would have given out for one range at the server's token."""
    rid = monitored._get_properties()["_rid"]
    state = {
        "v": "v2",
        "containerRid": rid,
        "mode": mode,
        "startFrom": {"Type": "Beginning"},
        "continuation": {
            "v": "v2",
            "rid": rid,
            "continuation": [{"token": token, "range": feed_range}],
            "Range": feed_range,
        },
    }
    return base64.b64encode(json.dumps(state).encode()).decode()


class LeaseStore:
    """The leases of one processor, by its prefix, in a container with the key /id."""

    def __init__(self, container, prefix: str = "processor"):
        self._container = container
        self._prefix = prefix

    def initialize(self, feed_ranges: list[dict], mode: str, host: str, intervals: Intervals, ending=None) -> bool:
        """Makes the leases of a new processor, once, whoever comes first; returns whether this call did it."""
        ending = ending or threading.Event()
        lock = {"id": f"{self._prefix}.lock", "Owner": host, "ttl": intervals.lock_seconds}
        while not ending.is_set() and self._find(f"{self._prefix}.info") is None:
            try:
                held = self._container.create_item(lock)
            except CosmosResourceExistsError:
                # Its maker is at work, or died and its time to live runs out.
                ending.wait(intervals.poll_seconds)
                continue
            if self._find(f"{self._prefix}.info") is None:
                for feed_range in feed_ranges:
                    self.create(feed_range["Range"], None, mode, None)
                self._container.create_item({"id": f"{self._prefix}.info"})
                self._container.delete_item(held["id"], held["id"])
                return True
            self._container.delete_item(held["id"], held["id"])
        return False

    def all(self) -> list[dict]:
        """Returns every lease as it is stored."""
        query = "SELECT * FROM c WHERE STARTSWITH(c.id, @prefix)"
        parameters = [{"name": "@prefix", "value": f"{self._prefix}.."}]
        return list(self._container.query_items(query, parameters=parameters, enable_cross_partition_query=True))

    def create(self, feed_range: dict, token: str | None, mode: str, owner: str | None) -> dict | None:
        """Makes a lease; None where another host has made it already."""
        name = f"{feed_range['min']}-{feed_range['max']}"
        lease = {
            "id": f"{self._prefix}..{name}",
            "version": LEASE_VERSION,
            "LeaseToken": name,
            "FeedRange": {"Range": feed_range},
            "Owner": owner,
            "ContinuationToken": token,
            "timestamp": time.time(),
            "properties": {},
            "Mode": mode,
        }
        try:
            return dict(self._container.create_item(lease))
        except CosmosResourceExistsError:
            return None

    def change(self, lease: dict, **members) -> dict:
        """Replaces a lease that nobody else has changed."""
        try:
            return dict(
                self._container.replace_item(
                    lease["id"],
                    {**lease, "timestamp": time.time(), **members},
                    etag=lease["_etag"],
                    match_condition=MatchConditions.IfNotModified,
                )
            )
        except (CosmosAccessConditionFailedError, CosmosResourceNotFoundError) as error:
            raise LeaseLostError(lease["LeaseToken"]) from error

    def delete(self, lease: dict) -> None:
        """Deletes a lease that nobody else has changed."""
        try:
            self._container.delete_item(
                lease["id"], lease["id"], etag=lease["_etag"], match_condition=MatchConditions.IfNotModified
            )
        except (CosmosAccessConditionFailedError, CosmosResourceNotFoundError) as error:
            raise LeaseLostError(lease["LeaseToken"]) from error

    def _find(self, name: str) -> dict | None:
        try:
            return self._container.read_item(name, name)
        except CosmosResourceNotFoundError:
            return None


@dataclass
class _Held:
    """A lease this host has, and the thread that reads its range. The lock is for who writes the lease."""

    lease: dict
    lock: threading.Lock = field(default_factory=threading.Lock)
    ended: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None


class Processor:
    """One host. The delegate is given a list of changes of one range, by one thread for each lease."""

    def __init__(
        self,
        host: str,
        client: CosmosClient,
        monitored_link: str,
        leases_link: str,
        delegate: Callable[[list[dict]], None],
        *,
        mode: str = LATEST_VERSION,
        start="Beginning",
        items_max: int = 20,
        intervals: Intervals | None = None,
    ):
        self.host = host
        self.failures: list[BaseException] = []
        self._monitored = _container(client, monitored_link)
        self._store = LeaseStore(_container(client, leases_link))
        self._delegate = delegate
        self._mode = mode
        self._start = start
        self._items_max = items_max
        self._intervals = intervals or Intervals()
        self._held: dict[str, _Held] = {}
        self._ending = threading.Event()
        self._is_dead = False
        self._thread = threading.Thread(target=self._run, daemon=True, name=host)

    def __enter__(self) -> "Processor":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    @property
    def is_running(self) -> bool:
        """Whether nobody has ended it."""
        return not self._ending.is_set()

    @property
    def lease_count(self) -> int:
        """How many leases this host has."""
        return len(self._held)

    def stop(self) -> None:
        """Ends the host in good order: whatever is under way is finished, and its leases are free."""
        self._ending.set()
        self._join(self._thread)
        # A range that splits at this moment leaves its children's leases.
        while self._held:
            for held in list(self._held.values()):
                self._end(held)
                self._release(held)

    def die(self) -> None:
        """Ends the host as a crash does: no lease is written any more, not even for what is being handled."""
        self._is_dead = True
        self._ending.set()

    def _run(self) -> None:
        ranges = list(self._monitored.read_feed_ranges())
        self._store.initialize(ranges, self._mode, self.host, self._intervals, self._ending)
        renewed = acquired = -math.inf
        while not self._ending.is_set():
            try:
                now = time.monotonic()
                if now - renewed >= self._intervals.renew_seconds:
                    renewed = now
                    self._renew()
                if now - acquired >= self._intervals.acquire_seconds:
                    acquired = now
                    self._acquire()
            except Exception as failure:
                _log.exception("%s: balancing failed", self.host)
                self.failures.append(failure)
            self._ending.wait(min(self._intervals.renew_seconds, self._intervals.acquire_seconds) / 4)

    def _renew(self) -> None:
        for held in list(self._held.values()):
            try:
                self._change(held)
            except LeaseLostError:
                self._drop(held)

    def _acquire(self) -> None:
        wanted = leases_to_take(self._store.all(), self.host, time.time() - self._intervals.expire_seconds)
        for lease in wanted:
            if lease["LeaseToken"] in self._held:
                continue
            try:
                self._begin(self._store.change(lease, Owner=self.host))
            except LeaseLostError:
                _log.debug("%s: somebody else took %s", self.host, lease["LeaseToken"])

    def _begin(self, lease: dict) -> None:
        held = _Held(lease)
        held.thread = threading.Thread(target=self._work, args=(held,), daemon=True, name=f"{self.host} {lease['id']}")
        self._held[lease["LeaseToken"]] = held
        held.thread.start()

    def _work(self, held: _Held) -> None:
        try:
            while not (held.ended.is_set() or self._ending.is_set()):
                page = read_page(self._monitored, held.lease, self._start, self._items_max)
                if page.changes:
                    self._delegate(page.changes)
                self._advance(held, page.parts)
                if not page.changes:
                    held.ended.wait(self._intervals.poll_seconds)
        except LeaseLostError:
            self._drop(held)
        except Exception as failure:
            # The delegate's, or the feed's: the lease is free, and whoever takes it reads the same changes again.
            self.failures.append(failure)
            self._release(held)

    def _advance(self, held: _Held, parts: list[tuple[dict, str | None]]) -> None:
        lease = held.lease
        if len(parts) == 1:
            if parts[0][1] != lease["ContinuationToken"]:
                self._change(held, ContinuationToken=parts[0][1])
            return
        # The children first: where this host dies before the parent is gone, somebody reads it again.
        self._assert_alive(held)
        children = [self._store.create(feed_range, token, self._mode, self.host) for feed_range, token in parts]
        with held.lock:
            self._store.delete(held.lease)
        self._drop(held)
        for child in children:
            if child is not None:
                self._begin(child)
        raise LeaseLostError(lease["LeaseToken"])

    def _change(self, held: _Held, **members) -> None:
        with held.lock:
            self._assert_alive(held)
            held.lease = self._store.change(held.lease, Owner=self.host, **members)

    def _release(self, held: _Held) -> None:
        try:
            with held.lock:
                self._assert_alive(held)
                self._store.change(held.lease, Owner=None)
        except LeaseLostError:
            _log.debug("%s: %s was somebody else's already", self.host, held.lease["LeaseToken"])
        self._drop(held)

    def _assert_alive(self, held: _Held) -> None:
        if self._is_dead or held.lease["LeaseToken"] not in self._held:
            raise LeaseLostError(held.lease["LeaseToken"])

    def _drop(self, held: _Held) -> None:
        held.ended.set()
        if self._held.get(held.lease["LeaseToken"]) is held:
            del self._held[held.lease["LeaseToken"]]

    def _end(self, held: _Held) -> None:
        held.ended.set()
        self._join(held.thread)

    @staticmethod
    def _join(thread: threading.Thread) -> None:
        if thread.is_alive() and thread is not threading.current_thread():
            thread.join(JOIN_SECONDS_MAX)
            assert not thread.is_alive(), f"{thread.name} does not end"


def leases_to_take(leases: list[dict], host: str, expired_before: float) -> list[dict]:
    """Returns the leases a host should take now: its share of free ones, or one of the fullest host's."""
    free = [lease for lease in leases if lease["Owner"] is None or lease["timestamp"] < expired_before]
    free_ids = {lease["id"] for lease in free}
    counts = Counter(lease["Owner"] for lease in leases if lease["id"] not in free_ids)
    counts.setdefault(host, 0)
    share = math.ceil(len(leases) / len(counts))
    needed = share - counts[host]
    if needed <= 0:
        return []
    if free:
        return free[:needed]
    fullest, count = counts.most_common(1)[0]
    # One lease too few may be as even as it gets; then nobody takes from somebody who has just his share.
    if count > share - (1 if needed > 1 else 0):
        return [lease for lease in leases if lease["Owner"] == fullest][:1]
    return []


def estimate(monitored, store: LeaseStore) -> dict[str, int]:
    """Returns how many commits each lease is behind; at least one for those that never wrote a position."""
    lags = {}
    for lease in store.all():
        if lease["ContinuationToken"] is None:
            lags[lease["LeaseToken"]] = 1
            continue
        page = read_page(monitored, lease, "Beginning", 1)
        lags[lease["LeaseToken"]] = page.newest - (lsn(page.changes[0]) - 1) if page.changes else 0
    return lags


def _container(client: CosmosClient, link: str):
    _, database_id, _, container_id = link.split("/")
    return client.get_database_client(database_id).get_container_client(container_id)
