"""Several nodes over one object store: each serves everything, and they come, go and die."""

import json
import re
import signal
import subprocess
import threading

import pytest
from azure.core.exceptions import AzureError
from azure.cosmos import CosmosClient, PartitionKey

import mongo
from partitions import until
from server import KEY, Server, binary

# Long enough for a machine that is busy with other tests.
LEASE_SECONDS = 4
PATIENCE_SECONDS = 60
OTHER_KEY = "b3RoZXIga2V5IG9mIGFub3RoZXIgYWNjb3VudA=="


@pytest.fixture
def make_node(tmp_path):
    """Makes nodes of an account of the test's own, each with a folder of its own."""
    made: list[Server] = []

    def make(*flags: str) -> Server:
        folder = tmp_path / f"node-{len(made)}"
        folder.mkdir()
        place = ("--store", f"file://{tmp_path}/objects", "--lease-seconds", str(LEASE_SECONDS))
        quiet = ("--slow-request-ms", str(PATIENCE_SECONDS * 1_000), "--throttle", "off")
        made.append(Server(folder, *place, *quiet, "--node", "127.0.0.1:0", "--physical-partition-ru", "1000", *flags))
        return made[-1]

    yield make
    for node in made:
        node.kill()


def connect(node: Server) -> CosmosClient:
    return CosmosClient(node.http, KEY, retry_total=0, retry_connect=0, retry_read=0)


def fill(node: Server, name: str = "c") -> list[str]:
    """Makes a container of six partitions with an item under each of some keys. Returns the keys."""
    keys = [f"key {n}" for n in range(40)]
    with connect(node) as client:
        made = client.create_database_if_not_exists("d").create_container(
            name, PartitionKey("/pk"), offer_throughput=6_000
        )
        for key in keys:
            made.create_item({"id": "x", "pk": key, "n": 0})
    return keys


def command(node: Server, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(binary()), *words, "--endpoint", node.http], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )


def listed(node: Server) -> list[dict]:
    answer = command(node, "nodes", "--json")
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)["nodes"]


def even(node: Server, count: int) -> list[dict]:
    """Waits until so many nodes have about the same number of partitions, as one of them sees it."""

    def is_even() -> list[dict] | None:
        nodes = listed(node)
        sizes = sorted(row["partitions"] for row in nodes)
        return nodes if len(nodes) == count and sizes[-1] - sizes[0] <= 2 and sizes[0] > 0 else None

    return until(is_even, "the partitions are not even", PATIENCE_SECONDS)


def test_each_node_serves_everything(make_node):
    first, second, third = make_node().start(), make_node().start(), make_node().start()
    keys = fill(first)
    even(first, 3)
    with connect(second) as client:
        container = client.get_database_client("d").get_container_client("c")
        for key in keys:
            container.patch_item("x", key, [{"op": "incr", "path": "/n", "value": 1}])
        second_count = list(container.query_items("SELECT VALUE COUNT(1) FROM c", enable_cross_partition_query=True))
        assert second_count == [len(keys)]
    with connect(third) as client:
        container = client.get_database_client("d").get_container_client("c")
        assert [container.read_item("x", key)["n"] for key in keys] == [1] * len(keys)
        total = list(container.query_items("SELECT VALUE SUM(c.n) FROM c", enable_cross_partition_query=True))
        assert total == [len(keys)]
        changed = list(container.query_items_change_feed(start_time="Beginning"))
        assert sorted(item["pk"] for item in changed) == sorted(keys)
        # What is made at one node is there at the others when it is answered.
        client.get_database_client("d").create_container("made", PartitionKey("/pk"))
    for node in (first, second):
        with connect(node) as client:
            assert client.get_database_client("d").get_container_client("made").read()["id"] == "made"
    assert [node.complaints() for node in (first, second, third)] == [[], [], []]


def test_nodes_are_listed_and_drained_by_command(make_node):
    first, second = make_node().start(), make_node().start()
    keys = fill(first)
    nodes = even(second, 2)
    assert [row["self"] for row in nodes].count(True) == 1
    table = command(first, "nodes").stdout
    assert all(re.search(rf"^{row['name']} +{row['address']} ", table, re.MULTILINE) for row in nodes), table
    containers = json.loads(command(first, "partitions", "--json").stdout)["containers"]
    assert {one["node"] for one in containers[0]["partitions"]} == {row["name"] for row in nodes}
    unknown = command(first, "drain", "--node", "nowhere:1")
    assert unknown.returncode == 1
    assert "There is no node 'nowhere:1'" in unknown.stderr
    own = next(row["name"] for row in listed(second) if row["self"])
    drained = command(first, "drain", "--node", own)
    assert drained.returncode == 0, drained.stderr
    assert drained.stdout.endswith(f"{own} has ended\n")
    assert second._process.wait(PATIENCE_SECONDS) == 0
    assert [row["self"] for row in listed(first)] == [True]
    with connect(first) as client:
        container = client.get_database_client("d").get_container_client("c")
        assert all(container.read_item("x", key)["pk"] == key for key in keys)
    last = command(first, "drain")
    assert last.returncode == 1
    assert "only node" in last.stderr


def test_no_request_fails_while_nodes_come_and_go_in_order(make_node):
    first, second = make_node().start(), make_node().start()
    keys = fill(first)
    even(first, 2)
    failures: list[str] = []
    served = [0]
    over = threading.Event()

    def ask() -> None:
        with connect(first) as client:
            container = client.get_database_client("d").get_container_client("c")
            while not over.is_set():
                key = keys[served[0] % len(keys)]
                try:
                    container.patch_item("x", key, [{"op": "incr", "path": "/n", "value": 1}])
                    container.read_item("x", key)
                    served[0] += 1
                except AzureError as error:
                    failures.append(f"{key}: {error}")

    asking = [threading.Thread(target=ask) for _ in range(4)]
    for thread in asking:
        thread.start()
    third = make_node().start()
    even(first, 3)
    assert second.stop() == 0
    even(first, 2)
    assert third.stop(signal.SIGTERM) == 0
    until(lambda: len(listed(first)) == 1, "a node that has ended is still there", PATIENCE_SECONDS)
    # Every key has been asked for.
    until(lambda: failures or served[0] > len(keys), "hardly anything is served", PATIENCE_SECONDS)
    over.set()
    for thread in asking:
        thread.join()
    assert failures == []


def test_partitions_of_a_killed_node_are_taken_over(make_node):
    first, second, third = make_node().start(), make_node().start(), make_node().start()
    keys = fill(first)
    even(first, 3)
    Server.has_killed = True
    third.kill()
    with connect(first) as client:
        container = client.get_database_client("d").get_container_client("c")

        def read(key: str) -> bool:
            try:
                return container.read_item("x", key)["pk"] == key
            except AzureError:
                return False

        for key in keys:
            until(lambda key=key: read(key), f"{key} is not served", PATIENCE_SECONDS)
        container.patch_item("x", keys[0], [{"op": "set", "path": "/n", "value": 7}])
    with connect(second) as client:
        container = client.get_database_client("d").get_container_client("c")
        assert container.read_item("x", keys[0])["n"] == 7


def test_what_a_killed_node_had_is_never_missing_from_a_count(make_node):
    first, second, third = make_node().start(), make_node().start(), make_node().start()
    keys = fill(first)
    even(first, 3)
    Server.has_killed = True
    third.kill()
    with connect(first) as client:
        # What the container is can be told at once, whoever has its items.
        assert client.get_database_client("d").get_container_client("c").read()["id"] == "c"
    for node in (first, second):
        with mongo.connect(node) as client:
            assert client["d"].command("count", "c")["n"] == len(keys)


def test_a_node_with_another_key_does_not_join(make_node):
    first = make_node().start()
    keys = fill(first)
    other = make_node("--key", OTHER_KEY)
    with pytest.raises(AssertionError, match="have another key"):
        other.start()
    assert len(listed(first)) == 1
    with connect(first) as client:
        assert client.get_database_client("d").get_container_client("c").read_item("x", keys[0])["n"] == 0
    # Where no node is left, another key is as good as the first.
    assert first.stop() == 0
    assert other.start().stop() == 0


def test_a_backup_is_refused_while_nodes_serve(make_node, tmp_path):
    node = make_node().start()
    refused = command(node, "backup", "--to", str(tmp_path / "backups"))
    assert refused.returncode == 1
    assert "several nodes serve" in refused.stderr


def test_a_server_that_wants_all_of_it_waits_until_no_node_is_left(make_node, tmp_path):
    node = make_node().start()
    keys = fill(node)
    alone = Server(tmp_path, "--store", f"file://{tmp_path}/objects", "--lease-seconds", str(LEASE_SECONDS))
    starting = threading.Thread(target=alone.start)
    starting.start()
    until(lambda: "waiting until it is given up" in _log(alone), "it does not wait", PATIENCE_SECONDS)
    with connect(node) as client:
        assert client.get_database_client("d").get_container_client("c").read_item("x", keys[0])["n"] == 0
    assert node.stop() == 0
    starting.join(PATIENCE_SECONDS)
    with CosmosClient(alone.http, KEY) as client:
        container = client.get_database_client("d").get_container_client("c")
        assert all(container.read_item("x", key)["pk"] == key for key in keys)
        answer = command(alone, "nodes")
        assert (answer.returncode, answer.stdout) == (0, "this server serves the account alone\n")
        refused = command(alone, "drain")
        assert refused.returncode == 1
        assert "not one of several nodes" in refused.stderr
    assert alone.stop() == 0


def _log(node: Server) -> str:
    return node.log_file.read_text(errors="replace") if node.log_file.exists() else ""
