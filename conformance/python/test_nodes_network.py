"""Nodes on hosts of their own, between which the network is cut: what they have is served, nothing is lost or stale."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path

import pytest
from azure.core.exceptions import AzureError
from azure.cosmos import CosmosClient, PartitionKey

import wire
from cluster_network import Host, Network, why_not
from partitions import until
from server import binary
from weed import BUCKET, Weed

# Beyond this machine's loopback the well-known key is refused.
KEY = "dGhlIGtleSBvZiBub2RlcyBvbiBob3N0cyBvZiB0aGVpciBvd24sIGZvciB0ZXN0cyBhbG9uZQ=="
LEASE_SECONDS = 4
READY_SECONDS_MAX = 60
PATIENCE_SECONDS = 60
# How long a node waits for another one before it says that it cannot be asked.
ASKING_SECONDS_MAX = 30
PORT = 8081
# So many that every node has some besides the one of the resource tree: places are even by number, not to the last one.
PARTITIONS = 12
KEYS = [f"key {number}" for number in range(24)]

# It takes a minute in which the machine has to do nothing else, so it is run by itself.
_unfit = why_not() if "ARMILLA_TEST_NETWORK" in os.environ else "it is run by itself, with ARMILLA_TEST_NETWORK=1"
pytestmark = pytest.mark.skipif(_unfit is not None, reason=str(_unfit))

# Run on a host that is cut off, to ask the node there. Prints the status and the value of each key.
ASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_nodes_network import ask_there
print(json.dumps(ask_there(sys.argv[2])))
"""


class Node:
    """A node on a host of its own."""

    port = PORT

    def __init__(self, host: Host, folder: Path, store: Weed):
        self.host = host
        self._folder = folder
        self._store = store
        self._process: subprocess.Popen | None = None

    def start(self) -> "Node":
        """Starts it and waits for its ready line."""
        self._folder.mkdir(exist_ok=True)
        flags = ["--bind", self.host.address, "--port", str(PORT), "--node", f"{self.host.address}:7000"]
        flags += ["--store", f"s3://{BUCKET}/account", "--lease-seconds", str(LEASE_SECONDS), "--throttle", "off"]
        flags += ["--data-dir", str(self._folder / "data"), "--physical-partition-ru", "1000", "--consistency", "Strong"]
        flags += ["--slow-request-ms", "60000"]
        for api in ("mongo", "gremlin", "table"):
            flags += [f"--{api}-port", "off"]
        environment = {**os.environ, **self._store.environment(), "ARMILLA_KEY": KEY, "NO_COLOR": "1"}
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self.host.command(str(binary()), *flags), stdout=subprocess.PIPE, stderr=log, text=True, env=environment
            )
        line = self._process.stdout.readline()
        assert line.startswith("armilla ready:"), self.log()[-2_000:]
        return self

    def container(self):
        """Returns the container through this node; the client tries nothing by itself."""
        return connect(self.host.address).get_database_client("d").get_container_client("c")

    def log(self) -> str:
        """Returns what it has logged."""
        return (self._folder / "log").read_text(errors="replace")

    def exit_code(self, seconds: float) -> int | None:
        """Returns its exit code, if it ends in this time."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> int:
        """Ends it, and returns its exit code."""
        # `ip netns exec` becomes what it runs.
        self._process.terminate()
        return self._process.wait(PATIENCE_SECONDS)

    def kill(self) -> None:
        """Ends it, whatever state it is in."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def connect(address: str) -> CosmosClient:
    return CosmosClient(
        f"https://{address}:{PORT}/",
        KEY,
        connection_verify=False,
        enable_endpoint_discovery=False,
        connection_timeout=3,
        read_timeout=ASKING_SECONDS_MAX + 15,
        retry_total=0,
        retry_connect=0,
        retry_read=0,
        retry_status=0,
    )


def ask_there(address: str) -> dict[str, int]:
    """Reads every key at one node. Returns the value of each that is answered, and the negative status of others."""
    try:
        container = connect(address).get_database_client("d").get_container_client("c")
    except AzureError as error:
        # The node answers nothing at all: the client asks for the account first.
        return dict.fromkeys(KEYS, -(getattr(error, "status_code", None) or 1))
    found = {}
    for key in KEYS:
        try:
            found[key] = container.read_item("x", key)["n"]
        except AzureError as error:
            found[key] = -(getattr(error, "status_code", None) or 1)
    return found


@pytest.fixture
def network():
    with Network() as made:
        yield made


@pytest.fixture
def nodes(network, tmp_path):
    """Three nodes that have about as many partitions each, on SeaweedFS, with an item under each key."""
    store = Weed(tmp_path / "weed", network.address)
    made: list[Node] = []
    try:
        store.start()
        for number in range(3):
            made.append(Node(network.add_host(), tmp_path / f"node-{number}", store))
            made[-1].start()
        database = connect(made[0].host.address).create_database("d")
        container = database.create_container("c", PartitionKey("/pk"), offer_throughput=PARTITIONS * 1_000)
        for key in KEYS:
            container.create_item({"id": "x", "pk": key, "n": 0})
        until(lambda: len(owners(made[0])) == len(made), "a node has no partition", PATIENCE_SECONDS)
        yield made
    finally:
        for node in made:
            node.kill()
        store.stop()


def told(node: Node, path: str) -> dict:
    """Returns what a node answers."""
    date = formatdate(usegmt=True)
    signed = wire.sign("GET", path, date, KEY)
    answer = wire.send(node, "GET", path, host=node.host.address, date=date, authorization=signed)
    assert answer.status == 200, answer
    return answer.body


def owners(node: Node) -> dict[str, set[str]]:
    """Which ranges each node has, by its address, as one of them sees it."""
    addresses = {one["name"]: one["address"].split(":")[0] for one in told(node, "/_armilla/nodes")["nodes"]}
    found: dict[str, set[str]] = {}
    [container] = told(node, "/_armilla/partitions")["containers"]
    for one in container["partitions"]:
        if one["node"] in addresses:
            found.setdefault(addresses[one["node"]], set()).add(one["id"])
    return found


def keys_of(node: Node) -> list[str]:
    """Which keys a node has."""
    own = owners(node)[node.host.address]
    ranges = told(node, "/dbs/d/colls/c/pkranges")["PartitionKeyRanges"]
    container = node.container()

    def place(key: str) -> str:
        start = container.feed_range_from_partition_key(key)["Range"]["min"]
        return next(one["id"] for one in ranges if one["minInclusive"] <= start < one["maxExclusive"])

    return [key for key in KEYS if place(key) in own]


class Counting(threading.Thread):
    """Raises counters through one node, one key after the other."""

    def __init__(self, node: Node):
        super().__init__(daemon=True)
        self._container = node.container()
        self._over = threading.Event()
        self.done = dict.fromkeys(KEYS, 0)
        self.unknown = dict.fromkeys(KEYS, 0)
        self.statuses: set[int] = set()

    def run(self) -> None:
        while not self._over.is_set():
            for key in KEYS:
                try:
                    self._container.patch_item("x", key, [{"op": "incr", "path": "/n", "value": 1}])
                    self.done[key] += 1
                except AzureError as error:
                    status = getattr(error, "status_code", None)
                    self.statuses.add(status)
                    self.unknown[key] += status != 503
                if self._over.is_set():
                    return

    def end(self) -> None:
        self._over.set()
        self.join(2 * PATIENCE_SECONDS)
        assert not self.is_alive()


def test_nodes_that_cannot_reach_each_other_serve_what_they_have(nodes):
    first, second, third = nodes
    mine, theirs = keys_of(first), keys_of(second)
    assert mine
    assert theirs
    counting = [Counting(node) for node in nodes]
    for one in counting:
        one.start()
    # One of the two may be cut from who keeps the resource tree, and serves nothing any more after half a minute of that:
    # clients know the container before.
    at_first, at_second, at_third = (node.container() for node in nodes)
    for container in (at_first, at_second, at_third):
        container.read_item("x", KEYS[0])
    first.host.cut_from(second.host)
    began = time.monotonic()
    # Whom neither is cut from is asked for everything; each serves what it has itself.
    for key in KEYS:
        assert at_third.read_item("x", key)["pk"] == key
    for container, keys in ((at_first, mine), (at_second, theirs)):
        for key in keys:
            assert container.read_item("x", key)["pk"] == key
    # What the other has is refused with what it is about, and not for ever.
    with pytest.raises(AzureError) as refused:
        at_first.read_item("x", theirs[0])
    assert refused.value.status_code == 503, refused.value
    assert re.search("[Nn]ode", refused.value.message), refused.value.message
    assert time.monotonic() - began < ASKING_SECONDS_MAX + 15
    # Both live: nobody takes what they have.
    assert set(owners(third)) == {node.host.address for node in nodes}
    first.host.join_with(second.host)
    for node in nodes:
        until(lambda node=node: min(ask_there(node.host.address).values()) >= 0, "a node does not serve all", 60)
    for one in counting:
        one.end()
    check_counters(counting, third)
    assert [node.exit_code(0) for node in nodes] == [None] * 3
    assert [node.stop() for node in nodes] == [0, 0, 0]


def test_a_node_that_is_cut_off_answers_nothing_stale(nodes, network):
    first, second, third = nodes
    theirs = keys_of(second)
    assert theirs
    counting = [Counting(node) for node in (first, third)]
    for one in counting:
        one.start()
    second.host.cut_off()
    began = time.monotonic()
    before = dict(ask_there(third.host.address))
    # Others take what it had.
    assert min(before.values()) >= 0, before
    assert time.monotonic() - began < PATIENCE_SECONDS
    for key in theirs:
        first.container().patch_item("x", key, [{"op": "incr", "path": "/n", "value": 1_000_000}])
    # Who is beside the node gets no old value from it.
    here = str(Path(__file__).resolve().parent)
    asked = subprocess.run(
        second.host.command(sys.executable, "-c", ASK, here, second.host.address),
        capture_output=True,
        text=True,
        check=True,
        timeout=len(KEYS) * (ASKING_SECONDS_MAX + 15),
    )
    told = json.loads(asked.stdout)
    assert {key: told[key] for key in theirs if told[key] >= 0} == {}
    second.host.join(network)
    # It finds that it has lost what it had, and ends; started again, it serves everything.
    assert second.exit_code(PATIENCE_SECONDS) == 1
    second.start()
    for node in nodes:
        until(lambda node=node: min(ask_there(node.host.address).values()) >= 0, "a node does not serve all", 60)
    for one in counting:
        one.end()
    check_counters(counting, second, {key: 1_000_000 for key in theirs})
    assert [node.stop() for node in nodes] == [0, 0, 0]


def check_counters(counting: list[Counting], node: Node, more: dict[str, int] | None = None) -> None:
    """Every acknowledged count is there, and none twice."""
    values = ask_there(node.host.address)
    sums: Callable[[str, str], int] = lambda which, key: sum(getattr(one, which)[key] for one in counting)  # noqa: E731
    for key in KEYS:
        least = sums("done", key) + (more or {}).get(key, 0)
        assert least <= values[key] <= least + sums("unknown", key), key
    assert sum(sums("done", key) for key in KEYS) > len(KEYS)
    assert set().union(*(one.statuses for one in counting)) <= {503, 408, None}
