"""Databases: create, read, list, delete, names."""

import pytest
from azure.cosmos import PartitionKey, ThroughputProperties
from azure.cosmos.exceptions import CosmosResourceExistsError, CosmosResourceNotFoundError

import wire
from conftest import fresh
from sdk import refused

NAMES = [
    "a b",
    "100%",
    "a+b&c=d",
    'it\'s "quoted"',
    "Größe",
    "数据库",
    "colls",
    "docs",
    "x" * 255,
]
BAD_IDS = {
    "missing": {},
    "empty": {"id": ""},
    "number": {"id": 5},
    "null": {"id": None},
    "slash": {"id": "a/b"},
    "backslash": {"id": "a\\b"},
    "question mark": {"id": "a?b"},
    "hash": {"id": "a#b"},
    "trailing space": {"id": "a "},
    "256 characters": {"id": "x" * 256},
}


def test_created_database_reads_back(client, make_database):
    database = make_database()
    properties = database.read()
    assert properties["id"] == database.id
    assert len(properties["_rid"]) == 8
    assert properties["_rid"].endswith("==")
    assert properties["_self"] == f"dbs/{properties['_rid']}/"
    assert properties["_colls"] == "colls/"
    assert properties["_users"] == "users/"
    assert isinstance(properties["_ts"], int)
    assert properties["_etag"].startswith('"')
    assert properties["_etag"].endswith('"')
    assert properties.get_response_headers()["etag"] == properties["_etag"]


def test_second_database_of_a_name_conflicts(client, make_database):
    database = make_database()
    with pytest.raises(CosmosResourceExistsError) as caught:
        client.create_database(database.id)
    assert caught.value.status_code == 409


def test_create_if_not_exists_finds_the_existing_one(client, make_database):
    database = make_database()
    again = client.create_database_if_not_exists(database.id)
    assert again.read()["_rid"] == database.read()["_rid"]


def test_missing_database_is_not_found(client):
    missing = client.get_database_client("no such database")
    with pytest.raises(CosmosResourceNotFoundError):
        missing.read()
    with pytest.raises(CosmosResourceNotFoundError):
        client.delete_database("no such database")


def test_deleted_database_is_gone_with_its_content(client, make_database):
    database = make_database()
    old_rid = database.read()["_rid"]
    container = database.create_container("c", PartitionKey("/city"))
    container.create_item({"id": "1", "city": "Oslo"})
    client.delete_database(database.id)
    with pytest.raises(CosmosResourceNotFoundError):
        database.read()

    recreated = client.create_database(database.id)
    assert recreated.read()["_rid"] != old_rid
    assert list(recreated.list_containers()) == []


def test_list_has_every_database(client, make_database):
    names = {make_database().id for _ in range(5)}
    listed = list(client.list_databases())
    assert names <= {database["id"] for database in listed}
    assert all(database["_rid"] for database in listed)


def test_list_in_pages_resumes_from_its_continuation(client, make_database):
    names = {make_database().id for _ in range(5)}
    pages = client.list_databases(max_item_count=2).by_page()
    first = [database["id"] for database in next(pages)]
    assert len(first) == 2
    rest = [
        database["id"]
        for page in client.list_databases(max_item_count=2).by_page(pages.continuation_token)
        for database in page
    ]
    assert len(first + rest) == len(set(first + rest))
    assert names <= set(first + rest)


@pytest.mark.parametrize("name", NAMES)
def test_names_may_be_odd(client, make_database, name):
    make_database(name)
    assert client.get_database_client(name).read()["id"] == name
    assert name in {database["id"] for database in client.list_databases()}
    client.delete_database(name)
    with pytest.raises(CosmosResourceNotFoundError):
        client.get_database_client(name).read()


@pytest.mark.parametrize("body", BAD_IDS.values(), ids=BAD_IDS.keys())
def test_ids_the_server_refuses(server, body):
    answer = wire.send(server, "POST", "/dbs", body)
    assert answer.status == 400
    assert answer.body["code"] == "BadRequest"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"text"', b"\xff\xfe"])
def test_bodies_the_server_refuses(server, body):
    answer = wire.send(server, "POST", "/dbs", body)
    assert answer.status == 400
    assert answer.body["code"] == "BadRequest"


@pytest.mark.parametrize(
    "throughput", [400, 1_000, ThroughputProperties(auto_scale_max_throughput=4_000)], ids=["400", "1000", "autoscale"]
)
def test_throughput_is_accepted_at_creation(make_database, throughput):
    assert make_database(offer_throughput=throughput).read()["_rid"]


@pytest.mark.parametrize(
    "throughput",
    [
        100,
        450,
        ThroughputProperties(auto_scale_max_throughput=500),
        ThroughputProperties(auto_scale_max_throughput=1500),
    ],
    ids=["below minimum", "not a step", "autoscale below minimum", "autoscale not a step"],
)
def test_throughput_out_of_the_rules_is_refused(client, throughput):
    name = fresh("database")
    with refused(400):
        client.create_database(name, offer_throughput=throughput)
    with pytest.raises(CosmosResourceNotFoundError):
        client.get_database_client(name).read()


def test_trailing_slash_is_the_same_resource(server, make_database):
    database = make_database()
    for path in [f"/dbs/{database.id}", f"/dbs/{database.id}/"]:
        assert wire.send(server, "GET", path).body["id"] == database.id
