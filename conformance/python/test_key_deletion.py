"""Deleting all items of a logical partition."""

import time

import pytest
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceNotFoundError

from server import KEY


def _count(container, key: str) -> int:
    return next(iter(container.query_items("SELECT VALUE COUNT(1) FROM c", partition_key=key)))


def test_all_items_of_a_key_are_gone(container):
    for number in range(30):
        container.create_item({"id": str(number), "city": "Oslo" if number % 3 else "Rome"})
    container.delete_all_items_by_partition_key("Oslo")
    assert (_count(container, "Oslo"), _count(container, "Rome")) == (0, 10)
    assert len(list(container.read_all_items())) == 10
    assert len(list(container.query_items_change_feed(start_time="Beginning"))) == 10
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("1", "Oslo")
    assert container.create_item({"id": "1", "city": "Oslo"})["id"] == "1"
    container.delete_all_items_by_partition_key("nothing there")


def test_more_items_than_one_step_takes(container):
    operations = [("create", ({"id": str(number), "city": "Oslo"},)) for number in range(1_200)]
    for start in range(0, len(operations), 100):
        container.execute_item_batch(operations[start : start + 100], "Oslo")
    container.delete_all_items_by_partition_key("Oslo")
    assert _count(container, "Oslo") == 0


def test_it_outlives_the_process(start_server):
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"), offer_throughput=400)
        for number in range(40):
            container.create_item({"id": str(number), "city": "Oslo"})
        container.delete_all_items_by_partition_key("Oslo")
        assert _count(container, "Oslo") == 0
        server.kill()
        server.start_again()
        # With a tenth of 400 RU/s most of them are still stored.
        assert _count(container, "Oslo") == 0
        assert container.create_item({"id": "39", "city": "Oslo"})["id"] == "39"
        assert [item["id"] for item in container.read_all_items()] == ["39"]


def test_expired_items_are_no_end(make_container):
    container = make_container("/city", default_ttl=-1)
    for number in range(20):
        container.create_item({"id": str(number), "city": "Oslo", **({"ttl": 1} if number < 15 else {})})
    time.sleep(2.1)
    container.delete_all_items_by_partition_key("Oslo")
    assert _count(container, "Oslo") == 0


def test_the_beginning_of_a_hierarchical_key_is_refused(make_container):
    container = make_container(["/tenant", "/user"])
    container.create_item({"id": "1", "tenant": "a", "user": "b"})
    with pytest.raises(CosmosHttpResponseError) as refused:
        container.delete_all_items_by_partition_key(["a"])
    assert refused.value.status_code == 400
    assert len(list(container.read_all_items())) == 1
    container.delete_all_items_by_partition_key(["a", "b"])
    assert list(container.read_all_items()) == []
