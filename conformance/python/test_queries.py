"""Queries as applications write them first: one partition, all partitions, many items at once, other resources."""

import pytest
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError

from server import KEY

ITEMS = [{"id": str(n), "city": ("Oslo", "Rome", "Lima")[n % 3], "n": n} for n in range(9)]


@pytest.fixture
def filled(container):
    for item in ITEMS:
        container.create_item(item)
    return container


def test_query_of_one_logical_partition(filled):
    found = list(filled.query_items("SELECT VALUE c.n FROM c WHERE c.n > 0", partition_key="Oslo"))
    assert found == [3, 6]


def test_query_across_partitions(filled):
    found = list(filled.query_items("SELECT VALUE c.n FROM c", enable_cross_partition_query=True))
    assert sorted(found) == list(range(9))


def test_query_across_partitions_needs_permission(filled):
    with pytest.raises(CosmosHttpResponseError, match="Cross partition query is required but disabled") as refused:
        list(filled.query_items("SELECT * FROM c WHERE c.n > 3"))
    assert refused.value.status_code == 400


def test_query_with_parameters(filled):
    parameters = [{"name": "@city", "value": "Rome"}, {"name": "@least", "value": 4}]
    query = "SELECT VALUE c.n FROM c WHERE c.city = @city AND c.n >= @least"
    assert list(filled.query_items(query, parameters=parameters, partition_key="Rome")) == [4, 7]


def test_wrong_query_is_refused_with_the_place(filled):
    with pytest.raises(CosmosHttpResponseError) as refused:
        list(filled.query_items("SELECT * FORM c", partition_key="Oslo"))
    assert refused.value.status_code == 400
    assert "SC1001" in refused.value.message
    assert '"start":9' in refused.value.message


def test_query_of_databases(client, database):
    found = list(client.query_databases(f"SELECT * FROM root r WHERE r.id = '{database.id}'"))
    assert [one["id"] for one in found] == [database.id]


def test_query_of_containers(database, container):
    query = "SELECT * FROM root r WHERE r.id = @id"
    parameters = [{"name": "@id", "value": container.id}]
    assert [one["id"] for one in database.query_containers(query, parameters=parameters)] == [container.id]


def test_read_many_items(filled):
    found = filled.read_items([(item["id"], item["city"]) for item in ITEMS], max_concurrency=1)
    assert sorted(item["id"] for item in found) == [item["id"] for item in ITEMS]


def test_throughput_is_read_and_replaced(make_container):
    container = make_container(offer_throughput=1_000)
    assert container.get_throughput().offer_throughput == 1_000
    assert container.replace_throughput(2_000).offer_throughput == 2_000
    assert container.get_throughput().offer_throughput == 2_000


def test_query_metrics_and_index_metrics(filled):
    headers = []
    found = filled.query_items(
        "SELECT * FROM c WHERE c.n > 1",
        partition_key="Oslo",
        populate_query_metrics=True,
        populate_index_metrics=True,
        response_hook=lambda answer, _: headers.append(answer),
    )
    assert [item["n"] for item in found] == [3, 6]
    metrics = dict(pair.split("=") for pair in headers[0]["x-ms-documentdb-query-metrics"].split(";"))
    assert metrics["outputDocumentCount"] == "2"
    assert "/n/?" in str(headers[0]["x-ms-cosmos-index-utilization"])


def test_server_leaves_the_merge_to_the_client(start_server):
    server = start_server("--cross-partition-queries", "plan", "--memory")
    with CosmosClient(server.https, KEY) as client:
        database = client.create_database("d")
        container = database.create_container("c", PartitionKey("/city"), offer_throughput=30_000)
        for item in ITEMS:
            container.create_item(item)

        def query(text):
            return list(container.query_items(text, enable_cross_partition_query=True))

        assert query("SELECT VALUE c.n FROM c ORDER BY c.n DESC") == list(range(9))[::-1]
        assert query("SELECT TOP 2 VALUE c.n FROM c ORDER BY c.n") == [0, 1]
        assert query("SELECT VALUE COUNT(1) FROM c") == [9]
        assert query("SELECT VALUE AVG(c.n) FROM c") == [4]
        assert sorted(query("SELECT DISTINCT VALUE c.city FROM c")) == ["Lima", "Oslo", "Rome"]
        assert query("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 2 LIMIT 3") == [2, 3, 4]
        with pytest.raises(CosmosHttpResponseError, match="Cross partition query only supports"):
            query("SELECT COUNT(1) FROM c")
