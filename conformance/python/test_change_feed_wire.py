"""The change feed on the wire: statuses, headers, positions and waiting, as far as the SDK hides them."""

import json
import threading
import time
from datetime import UTC, datetime

import pytest
from azure.cosmos import CosmosClient, PartitionKey

import wire
from feeds import EVERY_VERSION_POLICY, FULL_FIDELITY, INCREMENTAL, WIRE_FORMAT, by_city, drain, get, item
from partitions import ranges, split
from sdk import session_lsn
from server import KEY

CITIES = [f"city {n}" for n in range(12)]
# Somebody who waits is answered within this time after a write; the machine may be busy.
WAKE_SECONDS_MAX = 2
# Time for a request to arrive and to begin its wait.
ARRIVE_SECONDS = 0.3


@pytest.fixture
def kept(make_container):
    """A container that keeps every version."""
    return make_container(change_feed_policy=EVERY_VERSION_POLICY)


def _fill(container) -> list[dict]:
    return [container.create_item({"id": "1", "city": city, "n": n}) for n, city in enumerate(CITIES)]


def _ids(answer: wire.Answer) -> list[str]:
    return [change["id"] for change in answer.body["Documents"]]


def test_pages_end_with_not_modified(server, container):
    made = [container.create_item({"id": str(n), "city": "Oslo"}) for n in range(5)]
    etag, seen = None, []
    for size in (2, 2, 1):
        answer = get(server, container, etag, size=2)
        assert answer.status == 200
        assert len(answer.body["Documents"]) == answer.body["_count"] == size
        assert answer.headers["x-ms-item-count"] == str(size)
        assert answer.body["_rid"] == container.read()["_rid"]
        assert "x-ms-continuation" not in answer.headers
        seen += answer.body["Documents"]
        etag = answer.headers["etag"]
        # The position is that of the last change, so that a child of this range can go on from it.
        assert json.loads(etag) == str(seen[-1]["_lsn"])
    assert [item(change) for change in seen] == made
    for _ in range(2):
        answer = get(server, container, etag)
        assert (answer.status, answer.body, answer.headers["etag"]) == (304, None, etag)
        assert float(answer.headers["x-ms-request-charge"]) > 0
        assert session_lsn(answer.headers["x-ms-session-token"]) == seen[-1]["_lsn"]


def test_lag_can_be_told_from_any_answer(server, container):
    """What estimators count: the commit of the session token minus that before the first change."""
    _fill(container)
    everything = get(server, container, size=-1)
    places = [change["_lsn"] for change in everything.body["Documents"]]
    for behind in range(len(CITIES)):
        answer = get(server, container, f'"{places[-1] - behind}"', size=1)
        newest = session_lsn(answer.headers["x-ms-session-token"])
        lag = 0 if answer.status == 304 else newest - (answer.body["Documents"][0]["_lsn"] - 1)
        assert lag == behind


def test_empty_container(server, container):
    for asked in ({}, {"etag": "*"}, {"since": 0}, {"key": "Oslo"}, {"range_id": "0"}, {"arc": ("", "FF")}):
        answer = get(server, container, **asked)
        assert (answer.status, answer.body) == (304, None), asked
        first = answer.headers["etag"]
        assert get(server, container, first).status == 304
    container.create_item({"id": "1", "city": "Oslo"})
    assert _ids(get(server, container, first)) == ["1"]


def test_star_is_the_end_as_it_is_now(server, container):
    _fill(container)
    answer = get(server, container, "*")
    assert (answer.status, answer.body) == (304, None)
    assert get(server, container, answer.headers["etag"]).status == 304
    container.create_item({"id": "2", "city": "Oslo"})
    assert _ids(get(server, container, answer.headers["etag"])) == ["2"]


def test_entries_are_items_and_their_commit(server, container):
    made = container.create_item({"id": "1", "city": "Oslo", "z": 1, "a": [1.5, None, "é"]})
    [change] = get(server, container).body["Documents"]
    assert list(change) == [*made, "_lsn"]
    assert change["_lsn"] == session_lsn(made.get_response_headers()["x-ms-session-token"])


def test_commit_of_an_item_that_was_written_back(server, container):
    """Somebody may store what a feed gave him, the member that is not his included."""
    container.create_item({"id": "1", "city": "Oslo", "n": 1})
    [change] = get(server, container).body["Documents"]
    container.replace_item("1", change)
    answer = get(server, container)
    [again] = answer.body["Documents"]
    assert json.loads(answer.headers["etag"]) == str(again["_lsn"])
    assert again["_lsn"] > change["_lsn"]
    assert list(again).count("_lsn") == 1


@pytest.mark.parametrize("form", [lambda etag: etag, lambda etag: etag.strip('"'), lambda etag: "W/" + etag])
def test_etag_comes_back_in_any_form(server, container, form):
    _fill(container)
    page = get(server, container, size=5)
    rest = get(server, container, form(page.headers["etag"]))
    assert len(rest.body["Documents"]) == len(CITIES) - 5


@pytest.mark.parametrize(
    "etag",
    [
        '"x"',
        '"-1"',
        '"1.5"',
        '"18446744073709551616"',
        '"F1"',
        '"F1;"',
        '"F1;;"',
        '"F1;-FF-x"',
        '"F1;10-FF-1"',
        '"F9;-FF-1"',
    ],
)
@pytest.mark.parametrize("mode", [INCREMENTAL, FULL_FIDELITY])
def test_position_that_is_none_is_refused(server, kept, mode, etag):
    kept.create_item({"id": "1", "city": "Oslo"})
    answer = get(server, kept, etag, mode=mode)
    assert answer.status == 400, answer
    assert answer.body["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {"A-IM": "Latest Feed"},
        {"x-ms-max-item-count": "many"},
        {"x-ms-cosmos-changefeed-wire-format-version": "1999-01-01"},
        {"x-ms-documentdb-partitionkey": "Oslo"},
    ],
    ids=lambda headers: next(iter(headers)),
)
def test_malformed_header_is_refused(server, container, headers):
    answer = get(server, container, headers=headers)
    assert answer.status == 400, answer
    assert answer.body["message"]


def test_unknown_range_is_gone(server, container):
    answer = get(server, container, range_id="7")
    assert (answer.status, answer.sub_status) == (410, 1002)


def test_words_in_any_case(server, kept):
    kept.create_item({"id": "1", "city": "Oslo"})
    for mode in ("incremental feed", "INCREMENTAL FEED", "Incremental feed"):
        assert _ids(get(server, kept, mode=mode)) == ["1"]
    assert get(server, kept, "*", mode="full-fidelity feed").status == 304


def test_time_filters_what_a_position_finds(server, container):
    """Clients go on sending the time with the etag: after a merge older items may come later."""
    first = container.create_item({"id": "1", "city": "Oslo"})
    time.sleep(max(first["_ts"] + 2.1 - time.time(), 0))
    second = container.create_item({"id": "2", "city": "Oslo"})
    between = first["_ts"] + 1
    assert second["_ts"] > between
    assert _ids(get(server, container, since=between)) == ["2"]
    assert _ids(get(server, container, '"0"', since=between)) == ["2"]
    assert _ids(get(server, container, '"0"', since=first["_ts"])) == ["1", "2"]
    assert get(server, container, '"0"', since=second["_ts"] + 100).status == 304
    end = get(server, container, since=between).headers["etag"]
    assert get(server, container, end, since=between).status == 304
    assert get(server, container, since=second["_ts"] + 100).status == 304
    container.create_item({"id": "3", "city": "Oslo"})
    assert _ids(get(server, container, end, since=between)) == ["3"]
    for other in ("Bergen", "Oslo"):
        changes, _ = drain(server, container, since=between, key=other)
        assert [change["id"] for change in changes] == (["2", "3"] if other == "Oslo" else [])


def test_whole_container_is_one_feed(server, make_container):
    """Without a range: pages go over all of them, and one etag is the position in each."""
    container = make_container(offer_throughput=30_000)
    made = {one["city"]: one for one in _fill(container)}
    etags = []
    for size in (1, 5, 100):
        changes, etag = drain(server, container, size=size)
        assert {change["city"]: item(change) for change in changes} == made
        assert len(changes) == len(made)
        etags.append(etag)
    for city in CITIES:
        container.create_item({"id": "2", "city": city})
        container.create_item({"id": "3", "city": city})
    after = {city: ["2", "3"] for city in CITIES}
    assert all(by_city(drain(server, container, etag, size=7)[0]) == after for etag in etags)
    assert len(etags[0]) < 1_000, "a header has its limits"

    # A position of the whole is one of each part: of a range, of an arc in the middle of one, of a key.
    found = {}
    for one in ranges(server, container):
        arc = (one["minInclusive"], one["maxExclusive"])
        mine = by_city(drain(server, container, etags[0], range_id=one["id"])[0])
        assert by_city(drain(server, container, etags[0], arc=arc)[0]) == mine
        assert by_city(drain(server, container, etags[0], arc=arc, range_id=one["id"])[0]) == mine
        found |= mine
    assert found == after
    for city in CITIES:
        assert by_city(drain(server, container, etags[0], key=city)[0]) == {city: ["2", "3"]}
    hashed = {city: container.feed_range_from_partition_key(city)["Range"]["min"] for city in CITIES}
    arc = ("08" + "0" * 30, "28" + "0" * 30)
    inside = {city for city in CITIES if arc[0] <= hashed[city] < arc[1]}
    assert by_city(drain(server, container, etags[0], arc=arc)[0]) == {city: after[city] for city in inside}
    assert 0 < len(inside) < len(CITIES)


def test_page_has_a_hundred_items_unless_told(server, container):
    for start in range(0, 120, 60):
        batch = [("create", ({"id": str(n), "city": f"city {start}"},)) for n in range(start, start + 60)]
        container.execute_item_batch(batch, partition_key=f"city {start}")
    assert [get(server, container, size=size).body["_count"] for size in (-1, 1_000, 60, 59, 1)] == [
        120,
        120,
        60,
        60,
        60,
    ]
    assert get(server, container).body["_count"] == 120, "a hundred is in the middle of the second transaction"


def test_deletes_leave_nothing_in_the_latest_versions(server, container):
    for n in range(20):
        container.upsert_item({"id": "1", "city": "Oslo", "n": n})
        container.create_item({"id": f"gone {n}", "city": "Oslo"})
        container.delete_item(f"gone {n}", "Oslo")
    answer = get(server, container)
    assert _ids(answer) == ["1"]
    etag = answer.headers["etag"]
    container.delete_item("1", "Oslo")
    assert get(server, container).status == 304
    assert get(server, container, etag).status == 304


def test_latest_versions_in_envelopes(server, container):
    """The newer wire format goes with either mode; of latest versions nobody knows what kind of write they were."""
    made = container.create_item({"id": "1", "city": "Oslo"})
    [change] = get(server, container, headers=WIRE_FORMAT).body["Documents"]
    assert item(change["current"]) == made
    place = session_lsn(made.get_response_headers()["x-ms-session-token"])
    assert change["metadata"] == {"lsn": place, "crts": made["_ts"]}
    assert "previous" not in change


def test_every_version_on_the_wire(server, kept):
    start = get(server, kept, "*", mode=FULL_FIDELITY)
    assert (start.status, start.body) == (304, None)
    first = kept.create_item({"id": "1", "city": "Oslo", "n": 0})
    second = kept.replace_item("1", {"id": "1", "city": "Oslo", "n": 1})
    kept.delete_item("1", "Oslo")
    answer = get(server, kept, start.headers["etag"], mode=FULL_FIDELITY)
    assert answer.body["_count"] == 3
    assert session_lsn(answer.headers["x-ms-session-token"]) == int(json.loads(answer.headers["etag"]))
    creation, replacement, deletion = answer.body["Documents"]
    place = creation["metadata"]["lsn"]
    assert item(creation["current"]) == first
    assert creation["metadata"].items() >= {"operationType": "create", "crts": first["_ts"]}.items()
    assert item(replacement["current"]) == second
    assert (
        replacement["metadata"].items()
        >= {
            "operationType": "replace",
            "lsn": place + 1,
            "crts": second["_ts"],
            "previousImageLSN": place,
        }.items()
    )
    assert deletion["current"] == {}
    assert item(deletion["previous"]) == second
    assert (
        deletion["metadata"].items()
        >= {
            "operationType": "delete",
            "lsn": place + 2,
            "previousImageLSN": place + 1,
            "id": "1",
            "partitionKey": {"city": "Oslo"},
        }.items()
    )
    pages = [get(server, kept, f'"{place - 1 + n}"', mode=FULL_FIDELITY, size=1) for n in range(4)]
    assert [page.status for page in pages] == [200, 200, 200, 304]


@pytest.mark.parametrize(
    "asked",
    [{}, {"since": 0}, {"since": int(time.time()) - 60}, {"etag": '""'}],
    ids=["no start", "beginning of time", "a time", "empty etag"],
)
def test_every_version_starts_now_or_at_a_position(server, kept, asked):
    kept.create_item({"id": "1", "city": "Oslo"})
    answer = get(server, kept, mode=FULL_FIDELITY, **asked)
    assert answer.status == 400, answer


def test_every_version_needs_the_policy(server, container):
    container.create_item({"id": "1", "city": "Oslo"})
    for etag in ("*", '"0"', None):
        answer = get(server, container, etag, mode=FULL_FIDELITY)
        assert answer.status == 400, answer
        assert answer.body["message"]


def _set_policy(server, container, policy: dict | None) -> None:
    definition = {name: value for name, value in container.read().items() if not name.startswith("_")}
    definition.pop("changeFeedPolicy", None)
    if policy is not None:
        definition["changeFeedPolicy"] = policy
    answer = wire.send(server, "PUT", f"/{container.container_link}", definition)
    assert answer.status == 200, answer


def test_versions_are_there_from_the_policy_on(server, container):
    """A position from before it is one from before the window: what is missing there nobody knows."""
    container.create_item({"id": "1", "city": "Oslo"})
    _, old = drain(server, container)
    container.upsert_item({"id": "1", "city": "Oslo", "n": 1})
    container.upsert_item({"id": "1", "city": "Oslo", "n": 2})
    _set_policy(server, container, EVERY_VERSION_POLICY)
    now = get(server, container, "*", mode=FULL_FIDELITY)
    assert now.status == 304
    container.upsert_item({"id": "1", "city": "Oslo", "n": 3})
    container.upsert_item({"id": "1", "city": "Oslo", "n": 4})
    changes, _ = drain(server, container, now.headers["etag"], mode=FULL_FIDELITY)
    assert [change["current"]["n"] for change in changes] == [3, 4]
    refusal = get(server, container, old, mode=FULL_FIDELITY)
    assert refusal.status == 400, refusal
    assert refusal.body["message"]
    assert [change["n"] for change in drain(server, container, old)[0]] == [4], "latest versions know no window"

    _set_policy(server, container, None)
    assert get(server, container, now.headers["etag"], mode=FULL_FIDELITY).status == 400
    container.upsert_item({"id": "1", "city": "Oslo", "n": 5})
    _set_policy(server, container, EVERY_VERSION_POLICY)
    assert get(server, container, now.headers["etag"], mode=FULL_FIDELITY).status == 400, "one version is missing"
    assert get(server, container, "*", mode=FULL_FIDELITY).status == 304
    assert [change["n"] for change in drain(server, container)[0]] == [5]


class Waiting:
    """A request that waits, in a thread of its own; its answer with the seconds it took."""

    def __init__(self, *arguments, **options):
        self._arguments, self._options = arguments, options
        self.answer: wire.Answer | None = None
        self.seconds = 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        time.sleep(ARRIVE_SECONDS)

    def _run(self) -> None:
        started = time.monotonic()
        self.answer = get(*self._arguments, **self._options)
        self.seconds = time.monotonic() - started

    @property
    def is_waiting(self) -> bool:
        return self._thread.is_alive()

    def result(self) -> wire.Answer:
        self._thread.join(wire.TIMEOUT_SECONDS)
        assert self.answer is not None, "no answer"
        return self.answer


def test_wait_ends_with_a_change(server, container):
    container.create_item({"id": "1", "city": "Oslo"})
    end = get(server, container, "*").headers["etag"]
    waiting = Waiting(server, container, end, wait=20)
    assert waiting.is_waiting
    container.create_item({"id": "2", "city": "Oslo"})
    answer = waiting.result()
    assert (answer.status, _ids(answer)) == (200, ["2"])
    assert answer.headers["preference-applied"] == "wait=20"
    assert waiting.seconds < ARRIVE_SECONDS + WAKE_SECONDS_MAX


def test_wait_ends_with_its_time(server, container):
    container.create_item({"id": "1", "city": "Oslo"})
    for etag in ("*", drain(server, container)[1]):
        started = time.monotonic()
        answer = get(server, container, etag, wait=1)
        assert answer.status == 304
        assert 0.9 < time.monotonic() - started < 1 + WAKE_SECONDS_MAX
        assert answer.headers["preference-applied"] == "wait=1"
        assert answer.headers["etag"]
        assert answer.headers["x-ms-session-token"]


@pytest.mark.parametrize("wait", ["60", "61", "1000000", "99999999999999999999", "0", "-1", "x", "1.5", ""])
def test_wait_is_not_waited_when_there_is_something(server, container, wait):
    container.create_item({"id": "1", "city": "Oslo"})
    started = time.monotonic()
    answer = get(server, container, headers={"Prefer": f"wait={wait}"})
    assert (answer.status, _ids(answer)) == (200, ["1"])
    assert time.monotonic() - started < WAKE_SECONDS_MAX
    # A preference that cannot be met is not an error (RFC 7240); no wait is longer than a minute.
    applied = {"60": "wait=60", "61": "wait=60", "1000000": "wait=60", "99999999999999999999": "wait=60"}
    assert answer.headers.get("preference-applied") == applied.get(wait)


def test_wait_beside_other_preferences(server, container):
    end = get(server, container, "*").headers["etag"]
    waiting = Waiting(server, container, end, headers={"Prefer": "return=minimal, wait=20"})
    assert waiting.is_waiting
    container.create_item({"id": "1", "city": "Oslo"})
    assert _ids(waiting.result()) == ["1"]


def test_wait_is_for_its_scope(server, make_container):
    container = make_container(offer_throughput=20_000, change_feed_policy=EVERY_VERSION_POLICY)
    _fill(container)
    end = get(server, container, "*").headers["etag"]
    hashed = container.feed_range_from_partition_key(CITIES[0])["Range"]["min"]
    [home] = [one for one in ranges(server, container) if one["minInclusive"] <= hashed < one["maxExclusive"]]
    scopes = [
        {},
        {"key": CITIES[0]},
        {"range_id": home["id"]},
        {"arc": (home["minInclusive"], home["maxExclusive"])},
        {"mode": FULL_FIDELITY},
        {"mode": FULL_FIDELITY, "key": CITIES[0]},
    ]
    waiting = [Waiting(server, container, end, wait=25, **scope) for scope in scopes]
    elsewhere = Waiting(server, container, end, wait=2, key="nowhere")
    container.upsert_item({"id": "1", "city": CITIES[0], "n": 100})
    for scope, one in zip(scopes, waiting, strict=True):
        answer = one.result()
        assert (answer.status, answer.body["_count"]) == (200, 1), scope
        [change] = answer.body["Documents"]
        assert change.get("current", change)["n"] == 100
    answer = elsewhere.result()
    assert answer.status == 304
    assert elsewhere.seconds > 1.9, "somebody else's change does not end a wait"


def test_wait_outlasts_a_split(server, container):
    _fill(container)
    end = get(server, container, "*").headers["etag"]
    whole, key = Waiting(server, container, end, wait=25), Waiting(server, container, end, wait=25, key=CITIES[0])
    parent = Waiting(server, container, end, wait=25, range_id="0")
    split(server, container)
    gone = parent.result()
    assert (gone.status, gone.sub_status) == (410, 1002), "its range is no more"
    assert whole.is_waiting
    assert key.is_waiting
    container.upsert_item({"id": "1", "city": CITIES[0], "n": 100})
    for one in (whole, key):
        answer = one.result()
        assert [change["n"] for change in answer.body["Documents"]] == [100]


def test_wait_ends_with_the_container(server, make_container, database):
    container = make_container()
    waiting = Waiting(server, container, "*", wait=25)
    database.delete_container(container)
    assert waiting.result().status == 404
    assert waiting.seconds < ARRIVE_SECONDS + WAKE_SECONDS_MAX


def test_server_does_not_wait_for_those_who_wait(start_server):
    server = start_server()
    with CosmosClient(server.http, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"))
        waiting = [Waiting(server, container, "*", wait=25) for _ in range(3)]
        started = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - started < 5
        for one in waiting:
            assert one.result().status == 304


def test_follower_that_waits_misses_nothing(server, container):
    """Writes come while it reads as well as while it waits; between the two there is no gap."""
    written = 40
    end = get(server, container, "*").headers["etag"]
    seen: list[int] = []

    def follow() -> None:
        etag = end
        while len(seen) < written:
            answer = get(server, container, etag, wait=5)
            etag = answer.headers["etag"]
            if answer.status == 304:
                return
            seen.extend(change["n"] for change in answer.body["Documents"])

    follower = threading.Thread(target=follow, daemon=True)
    follower.start()
    for n in range(written):
        container.create_item({"id": str(n), "city": f"city {n % 3}", "n": n})
        time.sleep(0.005 * (n % 5))
    follower.join(wire.TIMEOUT_SECONDS)
    assert sorted(seen) == list(range(written))
    for remainder in range(3):
        mine = [n for n in seen if n % 3 == remainder]
        assert mine == sorted(mine)


@pytest.mark.parametrize("year", ["0001", "1601", "1969", "1970", "1994"])
def test_times_before_everything_are_the_beginning(server, container, year):
    """Clients write the first day of their calendar."""
    container.create_item({"id": "1", "city": "Oslo"})
    day = datetime(int(year), 1, 1, tzinfo=UTC)
    date = day.strftime("%a, %d %b ") + year + " 00:00:00 GMT"
    assert _ids(get(server, container, headers={"If-Modified-Since": date})) == ["1"]


def test_positions_do_not_move_without_changes(server, container):
    _fill(container)
    _, end = drain(server, container)
    for asked in ({}, {"range_id": "0"}, {"arc": ("", "FF")}):
        for _ in range(2):
            assert get(server, container, end, **asked).headers["etag"] == end
    etags = [get(server, container, size=3).headers["etag"] for _ in range(3)]
    assert len(set(etags)) == 1, "the same question has the same answer"


def test_position_beyond_the_end(server, container):
    """A token of the future, of another container say: nothing is there, and what comes later is not lost silently."""
    container.create_item({"id": "1", "city": "Oslo"})
    answer = get(server, container, f'"{10**15}"')
    assert answer.status == 400


def test_transactions_are_whole_in_every_scope(server, kept):
    start = get(server, kept, "*").headers["etag"]
    for n in range(3):
        batch = [("upsert", ({"id": str(k), "city": "Oslo", "n": n},)) for k in range(10)]
        kept.execute_item_batch(batch, partition_key="Oslo")
    for asked in ({}, {"key": "Oslo"}, {"range_id": "0"}):
        latest = get(server, kept, start, size=1, **asked)
        assert latest.body["_count"] == 10, "of the last transaction; nothing is left of the others"
        for size, counts in {1: {10}, 10: {10}, 11: {10, 20}, 25: {20, 30}, 30: {30}}.items():
            every = get(server, kept, start, mode=FULL_FIDELITY, size=size, **asked)
            assert every.body["_count"] in counts, (asked, size)
