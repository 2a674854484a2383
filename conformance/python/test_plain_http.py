"""The same port without TLS."""

import pytest
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.exceptions import CosmosResourceNotFoundError

from conftest import fresh
from server import KEY


@pytest.fixture
def plain_client(server):
    with CosmosClient(server.http, KEY) as connected:
        yield connected


def test_everything_works_without_tls(plain_client):
    database = plain_client.create_database(fresh("plain"))
    container = database.create_container("c", PartitionKey("/city"))
    created = container.create_item({"id": "1", "city": "Oslo"})
    assert container.read_item("1", "Oslo") == created
    assert container.patch_item("1", "Oslo", [{"op": "add", "path": "/n", "value": 1}])["n"] == 1
    assert len(list(container.read_feed_ranges())) == 1
    assert [item["id"] for item in container.read_all_items()] == ["1"]
    container.delete_item("1", "Oslo")
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("1", "Oslo")
    plain_client.delete_database(database.id)


def test_both_doors_lead_to_the_same_data(plain_client, database, container):
    plain = plain_client.get_database_client(database.id).get_container_client(container.id)
    created = container.create_item({"id": "1", "city": "Oslo"})
    assert plain.read_item("1", "Oslo") == created
    replaced = plain.replace_item("1", {"id": "1", "city": "Oslo", "n": 1})
    assert container.read_item("1", "Oslo") == replaced
