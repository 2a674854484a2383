"""Accounts that say they have several regions: preferred and failing ones, and where writes go."""

import subprocess

import pytest
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError

from server import KEY, Server, binary
from wire import send

REGIONS = ("--regions", "West US 2,East US")
TWO = ["West US 2", "East US"]


def _region(server: Server, *arguments: str) -> str:
    command = [str(binary()), "region", *arguments, "--endpoint", server.http]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _client(server: Server, **options) -> CosmosClient:
    return CosmosClient(server.https, KEY, preferred_locations=TWO, retry_total=2, **options)


def _endpoints(client: CosmosClient, kind: str) -> list[str]:
    account = client.get_database_account()
    return [location["databaseAccountEndpoint"] for location in getattr(account, f"{kind}Locations")]


def _served_by(container, **options) -> str:
    """Reads an item, and returns the port that it was asked of."""
    ports = []
    container.read_item("1", "Oslo", raw_request_hook=lambda request: ports.append(request.http_request.url), **options)
    return ports[-1].split("/")[2].split(":")[1]


@pytest.fixture
def two(start_server) -> Server:
    """A server with two regions, and a container in it."""
    server = start_server(*REGIONS)
    with _client(server) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"))
        container.create_item({"id": "1", "city": "Oslo"})
    return server


def test_the_account_names_its_regions(two):
    east = two.ready["sql_region_2"]
    with _client(two) as client:
        assert _endpoints(client, "Readable") == [two.https, east]
        assert _endpoints(client, "Writable") == [two.https]
    listed = _region(two, "list").splitlines()
    port = east.split(":")[2].rstrip("/")
    assert listed == ["West US 2: online, reads and writes", f"East US: online, reads, port {port}"]


def test_preferred_and_excluded_locations(two):
    west, east = str(two.port), two.ready["sql_region_2"].split(":")[2].rstrip("/")
    with CosmosClient(two.https, KEY, preferred_locations=["East US", "West US 2"]) as client:
        container = client.get_database_client("d").get_container_client("c")
        assert _served_by(container) == east
        assert _served_by(container, excluded_locations=["East US"]) == west
        # Writes go where they are taken.
        assert container.upsert_item({"id": "2", "city": "Oslo"})["id"] == "2"


def test_a_region_that_fails_is_left(two):
    east = two.ready["sql_region_2"].split(":")[2].rstrip("/")
    with _client(two) as client:
        container = client.get_database_client("d").get_container_client("c")
        assert _served_by(container) == str(two.port)
        assert "West US 2: offline" in _region(two, "offline", "westus2")
        assert send(two, "GET", "/dbs/d").status == 503
        assert _served_by(container) == east
        assert "West US 2: online" in _region(two, "online", "West US 2")
        assert send(two, "GET", "/dbs/d").status == 200


def test_writes_are_refused_where_they_are_not_taken(two):
    item, key = {"id": "3", "city": "Oslo"}, {"x-ms-documentdb-partitionkey": '["Oslo"]'}
    _region(two, "write", "East US")
    refused = send(two, "POST", "/dbs/d/colls/c/docs", item, key)
    assert (refused.status, refused.sub_status) == (403, 3)
    query = {"x-ms-documentdb-isquery": "True", "content-type": "application/query+json", **key}
    assert send(two, "POST", "/dbs/d/colls/c/docs", {"query": "SELECT * FROM c"}, query).status == 200
    assert send(two, "GET", "/dbs/d/colls/c/docs/1", headers=key).status == 200
    # A client finds the one that does.
    with _client(two) as client:
        container = client.get_database_client("d").get_container_client("c")
        assert container.create_item(item)["id"] == "3"


def test_all_regions_take_writes_where_they_are_to(start_server):
    server = start_server(*REGIONS, "--multi-write", "on")
    with _client(server, multiple_write_locations=True) as client:
        assert len(_endpoints(client, "Writable")) == 2
        assert client.create_database("d").id == "d"
    _region(server, "offline", "East US")
    answer = send(server, "POST", "/dbs", {"id": "e"})
    assert answer.status == 201


def test_unknown_regions_are_named(two):
    with pytest.raises(subprocess.CalledProcessError) as failed:
        _region(two, "offline", "Mars")
    assert "it has West US 2, East US" in failed.value.stderr
    with _client(two) as client, pytest.raises(CosmosHttpResponseError):
        client.create_database("d")
