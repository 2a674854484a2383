"""Physical partitions split and merge while clients of this SDK work on them.

The JavaScript suite runs both SDKs at once in splits-under-load.
"""

from azure.cosmos import CosmosClient

from load import Crowd, Paused, Worker
from partitions import merge, split
from procedures import call, register, script
from sdk import through
from server import KEY

CITIES = [f"city {n}" for n in range(40)]


def test_clients_work_on_while_partitions_split_and_merge(server, database, make_container):
    container = make_container(offer_throughput=20_000)
    for n in range(6):
        for city in CITIES:
            batch = [("create", ({"id": f"{n}", "city": city, "owner": "still", "n": CITIES.index(city) * 6 + n},))]
            container.execute_item_batch(batch, partition_key=city)
    paused = Paused(container)
    clients = [CosmosClient(server.http, KEY) for _ in range(6)]
    workers = [Worker(through(client, container), f"worker {n}") for n, client in enumerate(clients)]
    with Crowd(workers) as crowd:
        assert split(server, container, range="0") == ["2", "3", "1"]
        assert split(server, container, range="1") == ["2", "3", "4", "5"]
        assert merge(server, container, "3", "4") == ["2", "6", "5"]
        assert split(server, container, range="6") == ["2", "7", "8", "5"]
        assert merge(server, container, "2", "7") == ["9", "8", "5"]
        assert merge(server, container, "9", "8") == ["10", "5"]
    for worker in workers:
        worker.check_one_by_one()
    paused.check_resumed(container)
    found = [item for item in container.read_all_items() if item["owner"] != "still"]
    assert len(found) == len(crowd.items)
    assert {(item["city"], item["id"]): item["n"] for item in found} == {
        key: item["n"] for key, item in crowd.items.items()
    }
    for client in clients:
        client.__exit__(None, None, None)


def test_no_increment_is_lost_while_partitions_change(server, container):
    """Counters of procedures and patches in one logical partition that moves from partition to partition."""
    container.create_item({"id": "counter", "city": "Oslo", "n": 0})
    name = register(container, script("increment-by-link"))
    counted = []

    class Counting:
        done = 0
        items: dict = {}  # noqa: RUF012 - never filled

        def run(self, stop):
            while not stop.is_set():
                if self.done % 2:
                    counted.append(call(container, name, "counter"))
                else:
                    patch = [{"op": "incr", "path": "/n", "value": 1}]
                    counted.append(container.patch_item("counter", "Oslo", patch)["n"])
                self.done += 1

    with Crowd([Counting() for _ in range(6)]):
        split(server, container)
        split(server, container, range="1")
        merge(server, container, "3", "4")
        split(server, container, range="2")
    assert sorted(counted) == list(range(1, len(counted) + 1))
    assert container.read_item("counter", "Oslo")["n"] == len(counted)
