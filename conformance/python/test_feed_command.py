"""`armilla feed`: the changes of a container as lines, from every start, and on through whatever happens meanwhile."""

import itertools
import json
import os
import queue
import re
import signal
import subprocess
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from azure.cosmos import CosmosClient, PartitionKey

import wire
from feeds import EVERY_VERSION_POLICY, by_city, item, key_and_id
from partitions import merge, range_ids, split, until
from server import KEY, Server, binary

LINE_SECONDS_MAX = 15
END_SECONDS_MAX = 15
# What a reader of the output is promised to wait for a change at most, on a machine with other things to do.
DELIVERY_SECONDS_MAX = 1
POSITION = re.compile(r"go on after them with --from '?([^'\s]+)'?$")


class Feed:
    """A running command: its lines as they come, and what it says to people."""

    numbers = itertools.count(1)

    def __init__(self, folder: Path, server: Server, container, *options: str, endpoint: str | None = None):
        self._stderr = folder / f"feed-{next(Feed.numbers)}.txt"
        with self._stderr.open("wb") as stderr:
            self.process = subprocess.Popen(
                _command(server, container, *options, endpoint=endpoint),
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                encoding="utf-8",
                env=_environment(),
            )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._pump = threading.Thread(target=self._read, daemon=True)
        self._pump.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def next(self, seconds: float = LINE_SECONDS_MAX) -> dict:
        """Returns the next change."""
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise AssertionError(f"no line within {seconds} s; said: {self.said()}") from None
        assert line is not None, f"the command ended: {self.said()}"
        assert line.endswith("\n"), "lines are whole"
        return json.loads(line)

    def take(self, count: int) -> list[dict]:
        """Returns the next changes."""
        return [self.next() for _ in range(count)]

    def is_quiet(self, seconds: float = 0.5) -> bool:
        """Whether nothing comes for a while."""
        try:
            return self._lines.get(timeout=seconds) is None
        except queue.Empty:
            return True

    def rest(self) -> list[dict]:
        """Returns the changes up to the end of a command that ended well."""
        self.ends()
        self._pump.join(END_SECONDS_MAX)
        lines = []
        while (line := self._lines.get(timeout=END_SECONDS_MAX)) is not None:
            lines.append(json.loads(line))
        return lines

    def ends(self, code: int = 0) -> list[str]:
        """Waits for the end and returns what was said, by lines."""
        try:
            assert self.process.wait(END_SECONDS_MAX) == code, self.said()
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the command does not end: {self.said()}") from None
        return self.said().splitlines()

    def said(self) -> str:
        """What the command said to people so far."""
        return self._stderr.read_text()

    def position(self) -> str:
        """The position that a command told at its end."""
        return POSITION.search(self.said().splitlines()[-1]).group(1)

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> None:
        """Asks the command to end."""
        self.process.send_signal(with_signal)


def _command(server: Server, container, *options: str, endpoint: str | None = None) -> list[str]:
    _, database_id, _, container_id = container.container_link.split("/")
    return [str(binary()), "feed", database_id, container_id, "--endpoint", endpoint or server.http, *options]


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("ARMILLA_")}


@pytest.fixture
def feed(tmp_path, server):
    """Starts commands that are gone after the test."""
    started = []

    def start(container, *options: str, of: Server | None = None, **more) -> Feed:
        started.append(Feed(tmp_path, of or server, container, *options, **more))
        return started[-1]

    yield start
    for command in started:
        if command.process.poll() is None:
            command.process.kill()
        command.process.wait()


@pytest.fixture
def follow(tmp_path, feed):
    """Starts commands that follow from now on, and waits until they have their position."""

    def start(container, *options: str, **more) -> Feed:
        state = tmp_path / f"state-{next(Feed.numbers)}.json"
        command = feed(container, "--from", "now", "--state", str(state), *options, **more)
        until(lambda: state.exists() or command.process.poll() is not None, "no position")
        return command

    return start


def _position(command: Feed) -> str:
    """The position in the state of a command that keeps one."""
    return json.loads(Path(command.process.args[command.process.args.index("--state") + 1]).read_text())["position"]


def _create(container, names, city: str = "Oslo") -> list[dict]:
    return [container.create_item({"id": str(name), "city": city}) for name in names]


def _ids(changes: list[dict]) -> list[str]:
    return [key_and_id(change)[1] for change in changes]


def test_once_from_the_beginning(container, feed):
    made = _create(container, range(30)) + _create(container, ["é", "😀"], "Tromsø")
    container.delete_item("7", "Oslo")
    made[3] = container.replace_item("3", {"id": "3", "city": "Oslo", "text": "line\nbreak\u2028", "n": 1.5e300})
    command = feed(container, "--once", "--page-items", "7")
    changes = command.rest()
    expected = {one["id"]: one for one in made if one["id"] != "7"}
    assert {change["id"]: item(change) for change in changes} == expected
    assert len(changes) == len(expected)
    places = [change["_lsn"] for change in changes]
    assert places == sorted(places)
    assert changes[-1]["id"] == "3", "at the place of its last change"
    [summary] = command.said().splitlines()
    assert summary.startswith(f"armilla: {len(expected)} changes; ")
    again = feed(container, "--once", "--from", command.position())
    assert again.rest() == []
    assert again.said().startswith("armilla: 0 changes; ")
    _create(container, ["new"])
    assert _ids(feed(container, "--once", "--from", command.position()).rest()) == ["new"]


def test_follows_what_is_written(container, feed, follow):
    _create(container, ["before"])
    command = feed(container)
    assert command.next()["id"] == "before"
    for number in range(10):
        written = container.upsert_item({"id": str(number % 3), "city": "Oslo", "n": number})
        change = command.next(DELIVERY_SECONDS_MAX)
        assert item(change) == written
    container.delete_item("1", "Oslo")
    assert command.is_quiet()
    command.stop()
    assert command.ends()[-1].startswith("armilla: 11 changes; go on after them with --from ")
    idle = follow(container)
    idle.stop(signal.SIGINT)
    assert idle.ends()[-1].startswith("armilla: 0 changes; ")


def test_from_now_and_from_a_time(container, feed, follow):
    _create(container, ["old"])
    now = follow(container, "--max", "1")
    # Times are exact to the second, so the next item has to be of another one.
    time.sleep(1.1)
    middle = datetime.now(UTC)
    made = _create(container, ["new", "newer"])
    assert [item(change) for change in now.rest()] == made[:1]
    assert _ids(feed(container, "--once").rest()) == ["old", "new", "newer"]
    for text in [middle.strftime("%Y-%m-%dT%H:%M:%SZ"), middle.strftime("%a, %d %b %Y %H:%M:%S GMT")]:
        assert _ids(feed(container, "--once", "--from", text).rest()) == ["new", "newer"], text


def test_one_partition_key(make_container, feed):
    container = make_container(offer_throughput=20_000)
    for city in ["Oslo", "Tromsø", "São Paulo"]:
        _create(container, range(5), city)
    wanted = feed(container, "--partition-key", '"Tromsø"')
    assert [(change["city"], change["id"]) for change in wanted.take(5)] == [("Tromsø", str(n)) for n in range(5)]
    _create(container, ["elsewhere"])
    _create(container, ["there"], "Tromsø")
    assert wanted.next()["id"] == "there"
    refused = feed(container, "--partition-key", "Oslo").ends(1)
    assert "strings need quotes" in refused[0]


def test_partition_key_of_several_paths(make_container, feed):
    container = make_container(["/tenant", "/user"])
    for tenant, user in itertools.product("ab", range(3)):
        container.create_item({"id": "1", "tenant": tenant, "user": user})
    changes = feed(container, "--once", "--partition-key", '["b", 1]').rest()
    assert [(change["tenant"], change["user"]) for change in changes] == [("b", 1)]


def test_max_does_not_cut_a_transaction(container, feed):
    _create(container, range(3))
    batch = [("create", ({"id": f"batch {n}", "city": "Oslo"},)) for n in range(5)]
    container.execute_item_batch(batch, partition_key="Oslo")
    _create(container, ["after"])
    two = feed(container, "--max", "2")
    assert _ids(two.rest()) == ["0", "1"]
    four = feed(container, "--max", "2", "--from", two.position())
    assert sorted(_ids(four.rest())) == sorted(["2", *(f"batch {n}" for n in range(5))])
    assert _ids(feed(container, "--max", "1", "--from", four.position()).rest()) == ["after"]


def test_all_versions(make_container, feed, follow):
    container = make_container(change_feed_policy=EVERY_VERSION_POLICY)
    _create(container, ["before"])
    command = follow(container, "--all-versions")
    _create(container, ["1"])
    replaced = container.replace_item("1", {"id": "1", "city": "Oslo", "n": 1})
    container.delete_item("1", "Oslo")
    changes = command.take(3)
    assert [(change["metadata"]["operationType"], key_and_id(change)[1]) for change in changes] == [
        ("create", "1"),
        ("replace", "1"),
        ("delete", "1"),
    ]
    assert item(changes[1]["current"]) == replaced
    assert item(changes[2]["previous"]) == replaced
    assert not changes[2]["metadata"].get("timeToLiveExpired")
    command.stop()
    command.ends()
    container.delete_item("before", "Oslo")
    rest = feed(container, "--all-versions", "--once", "--from", _position(command)).rest()
    assert [(change["metadata"]["operationType"], key_and_id(change)[1]) for change in rest] == [("delete", "before")]


def test_items_that_expire(make_container, feed, follow):
    container = make_container(change_feed_policy=EVERY_VERSION_POLICY, default_ttl=-1)
    versions = follow(container, "--all-versions")
    container.create_item({"id": "1", "city": "Oslo", "ttl": 1})
    container.create_item({"id": "2", "city": "Oslo"})
    changes = versions.take(3)
    assert [(change["metadata"]["operationType"], key_and_id(change)[1]) for change in changes] == [
        ("create", "1"),
        ("create", "2"),
        ("delete", "1"),
    ]
    assert changes[2]["metadata"]["timeToLiveExpired"]
    assert _ids(feed(container, "--once").rest()) == ["2"]


def test_state_outlives_the_command_and_the_server(start_server, tmp_path, feed):
    server = start_server()
    state = tmp_path / "position.json"
    numbers = itertools.count()
    seen = []
    with CosmosClient(server.https, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"), offer_throughput=10_000)
        for round_number in range(3):
            command = feed(container, "--state", str(state), "--from", "beginning", "--page-items", "3", of=server)
            made = [str(next(numbers)) for _ in range(20)]
            _create(container, made)
            while not seen or seen[-1] != made[-1]:
                seen.append(command.next()["id"])
            command.stop(signal.SIGKILL)
            command.process.wait()
            kept = json.loads(state.read_text())
            assert (kept["database"], kept["container"], kept["mode"]) == ("d", "c", "latest"), round_number
        _create(container, made := [str(next(numbers)) for _ in range(20)])
    assert server.stop() == 0
    again = start_server()
    with CosmosClient(again.https, KEY) as client:
        container = client.get_database_client("d").get_container_client("c")
        last = feed(container, "--state", str(state), "--once", of=again)
        seen += [change["id"] for change in last.rest()]
        assert str(state) in last.said()
        assert feed(container, "--state", str(state), "--once", of=again).rest() == []
    assert list(dict.fromkeys(seen)) == [str(number) for number in range(next(numbers))], "nothing is missed"
    # What was printed and not yet kept when the command was killed comes again: a page or so for each kill.
    assert len(seen) - len(set(seen)) <= 3 * 20


def test_a_server_that_closes_is_waited_for(start_server, follow):
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"))
        command = follow(container, of=server)
        _create(container, ["1"])
        assert command.next()["id"] == "1"
    start = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - start < 5, "a request that waits for changes does not hold up the end"
    until(lambda: "lost the server" in command.said(), "nothing is said of the server that is gone")
    command.stop()
    said = command.ends()
    assert said[0].startswith(f"armilla: lost the server at {server.http}, trying again: ")
    assert said[-1].startswith("armilla: 1 change; ")


def test_through_splits_and_merges(server, make_container, feed):
    container = make_container()
    cities = [f"city {n}" for n in range(12)]
    for city in cities:
        _create(container, ["0"], city)
    command = feed(container, "--page-items", "5")
    early = feed(container, "--max", "5")
    found = command.take(len(cities))
    early.rest()
    for number in range(1, 5):
        for city in cities[:6]:
            _create(container, [str(number)], city)
        if number == 3:
            ids = range_ids(server, container)
            merge(server, container, *ids[:2])
        else:
            split(server, container)
        for city in cities[6:]:
            _create(container, [str(number)], city)
    found += command.take(4 * len(cities))
    expected = {city: [str(number) for number in range(5)] for city in cities}
    assert by_city(found) == expected, "in order under each key, nothing twice"
    assert command.is_quiet()
    command.stop()
    command.ends()
    assert by_city(feed(container, "--once").rest()) == expected
    late = by_city(feed(container, "--once", "--from", early.position()).rest())
    assert sum(map(len, late.values())) == 5 * len(cities) - 5, "positions of before are still good"
    assert feed(container, "--once", "--from", command.position()).rest() == []


@pytest.mark.parametrize(("count", "size"), [(3, 1), (100, 10_000)], ids=["at rest", "in the middle"])
def test_ends_when_nobody_reads(server, container, count, size):
    for number in range(count):
        container.create_item({"id": str(number), "city": "Oslo", "text": "x" * size})
    command = _command(server, container)
    with subprocess.Popen(command, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as piped:
        assert json.loads(piped.stdout.readline())["id"] == "0"
        piped.stdout.close()
        assert piped.wait(END_SECONDS_MAX) == 0
        said = piped.stderr.read().decode().splitlines()
    assert all("changes; go on after them" in line for line in said), said


def test_throttled_feeds_wait(make_container, feed):
    container = make_container(offer_throughput=400)
    for number in range(150):
        container.create_item({"id": str(number), "city": "Oslo", "text": "x" * 4_000})
    feeds = [feed(container, "--once", "--page-items", "50") for _ in range(4)]
    assert [len(command.rest()) for command in feeds] == [150] * 4
    assert not any("lost" in command.said() for command in feeds)


def test_over_https(server, container, feed):
    _create(container, range(3))
    assert len(feed(container, "--once", "--page-items", "1", endpoint=server.https).rest()) == 3


def test_what_cannot_be(container, database, feed, tmp_path):
    _create(container, ["1"])
    for options, expected in [
        (("--key", "AAAA"), "does not take this key: give the account key with --key or ARMILLA_KEY"),
        (("--all-versions",), "changeFeedPolicy"),
        (("--all-versions", "--from", "beginning"), "--all-versions can start now or at a position"),
        (("--from", "yesterday"), "nor a position"),
        (("--page-items", "0"), "--page-items"),
        (("--page-items", "1001"), "--page-items"),
        (("--max", "0"), "--max"),
        (("--state", str(tmp_path)), "cannot read"),
    ]:
        command = feed(container, "--once", *options)
        assert any(expected in line for line in command.ends(1)), (options, command.said())
        assert command.is_quiet(0.1)
    missing = feed(database.get_container_client("missing"), "--once").ends(1)
    assert missing == [f"armilla: there is no container missing in a database {database.id}"]
    stopped = feed(container, endpoint="http://localhost:1/").ends(1)
    assert "no server answers at http://localhost:1/" in stopped[0]


def test_a_container_that_was_made_again(make_container, database, feed, follow, tmp_path):
    container = make_container()
    _create(container, range(3))
    state = tmp_path / "state.json"
    assert len(feed(container, "--once", "--state", str(state)).rest()) == 3
    following = follow(container)
    database.delete_container(container.id)
    assert "there is no container" in following.ends(1)[-1]
    make_container(name=container.id)
    refused = feed(container, "--once", "--state", str(state)).ends(1)
    assert "was deleted and made again since this position" in refused[-1]


def test_a_position_from_before_all_versions_were_kept(server, make_container, feed):
    container = make_container()
    _create(container, ["1"])
    early = feed(container, "--once")
    early.rest()
    _create(container, ["2"])
    # The SDK has no way to say so of a container that is there.
    definition = container.read() | {"changeFeedPolicy": EVERY_VERSION_POLICY}
    assert wire.send(server, "PUT", f"/{container.container_link}", definition).status == 200
    _create(container, ["3"])
    refused = feed(container, "--once", "--all-versions", "--from", early.position()).ends(1)
    assert refused[-1].startswith("armilla: ")
    assert len(refused) == 2, "the position is told even so"
