"""What the server shows about its physical partitions agrees with what clients were charged and what they stored."""

import itertools
import time

import pytest
from azure.cosmos import CosmosClient, PartitionKey

import partitions
from budget import Spent, spend, wide_item
from procedures import register, script
from sdk import charge, last_headers, refused, without_system_properties
from server import KEY

CITIES = [f"city {n}" for n in range(20)]
LABELS = {"database", "container", "range"}


class Bill:
    """Adds up what every answer on a container cost, refused requests aside."""

    def __init__(self, container):
        self.container = container
        self.charges: list[float] = []
        self.refused = 0

    def hook(self, headers, _) -> None:
        self.charges.append(float(headers["x-ms-request-charge"]))

    def last(self) -> None:
        self.charges.append(float(last_headers(self.container)["x-ms-request-charge"]))

    @property
    def total(self) -> float:
        return round(sum(self.charges), 2)


def _work(container) -> Bill:
    """One request of every kind that is charged to a partition, failures included."""
    bill = Bill(container)
    for city in CITIES:
        container.create_item({"id": "1", "city": city, "n": 1}, response_hook=bill.hook)
        container.read_item("1", city, response_hook=bill.hook)
        container.upsert_item({"id": "2", "city": city, "n": 2}, response_hook=bill.hook)
        container.replace_item("2", {"id": "2", "city": city, "n": 3}, response_hook=bill.hook)
        patch = [{"op": "incr", "path": "/n", "value": 1}]
        container.patch_item("2", city, patch, response_hook=bill.hook)
    batch = [("create", ({"id": "3", "city": CITIES[0]},)), ("delete", ("3",))]
    container.execute_item_batch(batch, partition_key=CITIES[0])
    bill.last()
    name = register(container, script("import-items"))
    container.scripts.execute_stored_procedure(name, partition_key=CITIES[0], params=[[{"id": "4", "city": CITIES[0]}]])
    bill.last()
    container.delete_item("4", CITIES[0], response_hook=bill.hook)
    list(container.query_items("SELECT * FROM c", partition_key=CITIES[0], response_hook=bill.hook))
    count = 0
    for page in container.read_all_items(max_item_count=7).by_page():
        bill.last()
        count += len(list(page))
    assert count == 2 * len(CITIES)
    for status, request in [
        (404, lambda: container.read_item("missing", CITIES[0])),
        (409, lambda: container.create_item({"id": "1", "city": CITIES[0]})),
        (404, lambda: container.delete_item("missing", CITIES[0])),
    ]:
        with refused(status) as caught:
            request()
        bill.charges.append(float(caught.value.headers["x-ms-request-charge"]))
    return bill


def test_totals_are_what_clients_were_charged(server, make_container):
    container = make_container(offer_throughput=20_000)
    bill = _work(container)
    figures = partitions.figures(server, container)
    assert [one["id"] for one in figures["partitions"]] == ["0", "1"]
    assert partitions.total(server, container, "totalRu") == pytest.approx(bill.total, abs=0.01)
    assert partitions.total(server, container, "totalRefused") == 0
    assert partitions.total(server, container, "items") == 2 * len(CITIES)
    assert [one["provisionedRu"] for one in figures["partitions"]] == [10_000, 10_000]
    assert (figures["throughput"], figures["shared"], figures["pending"]) == (20_000, False, False)


def test_queries_over_all_partitions_are_charged_to_each(server, make_container):
    container = make_container(offer_throughput=20_000)
    _work(container)
    before = partitions.figures(server, container)["partitions"]
    bill = Bill(container)
    query = "SELECT * FROM c ORDER BY c.n"
    list(container.query_items(query, enable_cross_partition_query=True, max_item_count=9, response_hook=bill.hook))
    after = partitions.figures(server, container)["partitions"]
    spent = [round(new["totalRu"] - old["totalRu"], 2) for old, new in zip(before, after, strict=True)]
    assert all(share > 1 for share in spent)
    assert sum(spent) == pytest.approx(bill.total, abs=0.02 * len(bill.charges))


def test_metrics_say_the_same(server, database, make_container):
    container = make_container(offer_throughput=20_000)
    _work(container)
    figures = partitions.figures(server, container)["partitions"]
    samples = {}
    for name, by_labels in partitions.metrics(server).items():
        for labels, value in by_labels.items():
            named = dict(labels)
            if set(named) == LABELS and named["container"] == container.id and named["database"] == database.id:
                samples.setdefault(name, {})[named["range"]] = value
    assert samples, "no metric of physical partitions"
    for name in ("totalRu", "totalRequests", "items", "bytes", "indexBytes", "provisionedRu"):
        wanted = {one["id"]: pytest.approx(one[name], abs=0.01) for one in figures}
        assert any(found == wanted for found in samples.values()), (name, wanted, samples)


def test_sizes_are_those_of_the_items(server, container):
    for n in range(10):
        container.create_item({"id": str(n), "city": "Oslo", "text": "x" * 1_000})
    [figures] = partitions.figures(server, container)["partitions"]
    assert figures["items"] == 10
    assert 10_000 < figures["bytes"] < 15_000
    assert figures["indexBytes"] > 0
    for n in range(10):
        container.delete_item(str(n), "Oslo")
    [figures] = partitions.figures(server, container)["partitions"]
    assert (figures["items"], figures["bytes"], figures["indexBytes"]) == (0, 0, 0)


def test_hottest_key_is_the_hot_one(server, make_container):
    container = make_container(offer_throughput=10_000)
    spent = {}
    for n in range(200):
        city = "hot" if n % 2 else f"cold {n}"
        spent[city] = spent.get(city, 0) + charge(container.create_item(wide_item(str(n), city)))
    [figures] = partitions.figures(server, container)["partitions"]
    hottest = figures["hottest"]
    assert hottest[0]["partitionKey"] == ["hot"]
    assert hottest[0]["ru"] == pytest.approx(spent["hot"], rel=0.05)
    assert len(hottest) <= 100
    assert all(one["ru"] >= two["ru"] for one, two in itertools.pairwise(hottest))


def test_use_of_the_last_second_and_minute(start_server):
    server = start_server("--physical-partition-ru", "400")
    with CosmosClient(server.http, KEY, retry_throttle_total=-1) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"), offer_throughput=400)
        names = itertools.count()

        # Costs so much that a busy machine, too, asks for more than a second admits.
        def request() -> Spent:
            item = wide_item(str(next(names)), leaves=400)
            return spend(lambda: container.create_item(item), at_least=1)

        outcomes = [request() for _ in range(30)]
        total = sum(one.total for one in outcomes)
        refusals = sum(one.refusal is not None for one in outcomes)
        assert 0 < refusals < 30
        time.sleep(1 - time.time() % 1 + 0.05)
        [figures] = partitions.figures(server, container)["partitions"]
        assert figures["usedRuLastMinute"] == pytest.approx(total, abs=0.01)
        assert figures["refusedLastMinute"] == refusals
        assert figures["requestsLastMinute"] in (30, 30 - refusals)
        assert figures["normalizedPercent"] == 100
        assert figures["totalRefused"] == refusals


def test_latencies_are_counted_by_kind(server, container):
    for n in range(10):
        container.create_item({"id": str(n), "city": "Oslo"})
        container.read_item(str(n), "Oslo")
    list(container.query_items("SELECT * FROM c", partition_key="Oslo"))
    [figures] = partitions.figures(server, container)["partitions"]
    latencies = figures["latencies"]
    assert {kind: one["count"] for kind, one in latencies.items() if one["count"]} == {
        "read": 10,
        "write": 10,
        "query": 1,
    }
    for one in latencies.values():
        assert one["count"] == 0 or 0 < one["p50Us"] <= one["p99Us"] < 10_000_000


def test_figures_of_the_children_begin_with_their_sizes(server, container):
    for city in CITIES:
        container.create_item({"id": "1", "city": city, "text": "x" * 500})
    [parent] = partitions.figures(server, container)["partitions"]
    partitions.split(server, container)
    children = partitions.figures(server, container)["partitions"]
    assert [one["parents"] for one in children] == [["0"], ["0"]]
    for name in ("items", "bytes", "indexBytes"):
        assert sum(one[name] for one in children) == parent[name], name
    assert all(one["lsn"] > parent["lsn"] for one in children)
    assert [one["provisionedRu"] for one in children] == [5_000, 5_000]


def test_usage_headers_count_what_is_stored(container):
    made = [container.create_item({"id": str(n), "city": "Oslo", "text": "x" * 10_000}) for n in range(20)]
    headers = made[-1].get_response_headers()
    usage = dict(pair.split("=") for pair in headers["x-ms-resource-usage"].strip(";").split(";"))
    quota = dict(pair.split("=") for pair in headers["x-ms-resource-quota"].strip(";").split(";"))
    assert int(usage["documentsCount"]) in (19, 20)
    assert 190 <= int(usage["documentsSize"]) <= 300
    assert int(quota["collectionSize"]) >= int(usage["collectionSize"]) > 0
    assert all(without_system_properties(item)["city"] == "Oslo" for item in made)
