"""Containers: create, read, replace, list, delete, names."""

import pytest
from azure.cosmos import PartitionKey, ThroughputProperties
from azure.cosmos.exceptions import CosmosResourceExistsError, CosmosResourceNotFoundError

import wire
from conftest import fresh
from sdk import refused

DEFAULT_INDEXING_POLICY = {
    "indexingMode": "consistent",
    "automatic": True,
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": '/"_etag"/?'}],
}


def test_created_container_reads_back(database, container):
    properties = container.read()
    database_rid = database.read()["_rid"]
    assert properties["id"] == container.id
    assert len(properties["_rid"]) == 12
    assert properties["_self"] == f"dbs/{database_rid}/colls/{properties['_rid']}/"
    assert properties["partitionKey"] == {"paths": ["/city"], "kind": "Hash", "version": 2}
    assert properties["indexingPolicy"] == DEFAULT_INDEXING_POLICY
    links = {name: properties[name] for name in ["_docs", "_sprocs", "_triggers", "_udfs", "_conflicts"]}
    assert links == {
        "_docs": "docs/",
        "_sprocs": "sprocs/",
        "_triggers": "triggers/",
        "_udfs": "udfs/",
        "_conflicts": "conflicts/",
    }
    assert properties.get_response_headers()["etag"] == properties["_etag"]


def test_read_reports_that_indexing_is_complete(container):
    headers = container.read(populate_quota_info=True).get_response_headers()
    assert headers["x-ms-documentdb-collection-index-transformation-progress"] == "100"
    assert "documentsSize=" in headers["x-ms-resource-quota"]


def test_read_reports_the_storage_used(container):
    container.create_item({"id": "1", "city": "Oslo"})
    assert "documentsCount=1;" in container.read(populate_quota_info=True).get_response_headers()["x-ms-resource-usage"]


def test_what_was_left_out_stays_out(container):
    absent = {"defaultTtl", "uniqueKeyPolicy", "computedProperties", "vectorEmbeddingPolicy", "fullTextPolicy"}
    assert absent.isdisjoint({name for name, value in container.read().items() if value in (None, [], {})})
    assert "defaultTtl" not in container.read()


def test_second_container_of_a_name_conflicts(database, container):
    with pytest.raises(CosmosResourceExistsError):
        database.create_container(container.id, PartitionKey("/city"))
    again = database.create_container_if_not_exists(container.id, PartitionKey("/city"))
    assert again.read()["_rid"] == container.read()["_rid"]


def test_missing_container_is_not_found(database):
    with pytest.raises(CosmosResourceNotFoundError):
        database.get_container_client("no such container").read()
    with pytest.raises(CosmosResourceNotFoundError):
        database.delete_container("no such container")


def test_missing_owner_has_its_own_sub_status(server, database):
    of_database = wire.send(server, "GET", "/dbs/no such database/colls/c")
    assert (of_database.status, of_database.sub_status) == (404, 1003)
    in_container = wire.send(
        server,
        "POST",
        f"/dbs/{database.id}/colls/no such container/docs",
        {"id": "1"},
        {"x-ms-documentdb-partitionkey": '["a"]'},
    )
    assert (in_container.status, in_container.sub_status) == (404, 1003)


def test_list_has_every_container_in_pages(database, make_container):
    names = {make_container().id for _ in range(5)}
    assert names <= {listed["id"] for listed in database.list_containers()}
    pages = [[listed["id"] for listed in page] for page in database.list_containers(max_item_count=2).by_page()]
    assert max(len(page) for page in pages) == 2
    assert names <= {name for page in pages for name in page}


@pytest.mark.parametrize("name", ["a b", "100%", "a+b&c=d", "Größe", "容器", "docs", "colls", "x" * 255])
def test_names_may_be_odd(database, make_container, name):
    container = make_container(name=name)
    container.create_item({"id": "1", "city": "Oslo"})
    found = database.get_container_client(name)
    assert found.read()["id"] == name
    assert found.read_item("1", "Oslo")["city"] == "Oslo"


def test_delete_then_recreate_gives_a_new_identity(database, make_container, second_client):
    container = make_container()
    old_rid = container.read()["_rid"]
    container.create_item({"id": "1", "city": "Oslo"})
    database.delete_container(container.id)
    with pytest.raises(CosmosResourceNotFoundError):
        database.get_container_client(container.id).read()

    recreated = make_container(name=container.id)
    assert recreated.read()["_rid"] != old_rid
    other = second_client.get_database_client(database.id).get_container_client(container.id)
    assert list(other.read_all_items()) == []
    recreated.create_item({"id": "2", "city": "Oslo"})
    assert [item["id"] for item in recreated.read_all_items()] == ["2"]


# The SDK keeps session tokens by the container's name and sends the old one until a write brings a new one.
def test_session_of_a_deleted_container_does_not_outlive_it(database, make_container):
    container = make_container()
    container.create_item({"id": "1", "city": "Oslo"})
    database.delete_container(container.id)
    recreated = make_container(name=container.id)
    assert list(recreated.read_all_items()) == []


def test_client_with_a_stale_cache_notices_a_recreated_container(server, database, make_container, second_client):
    container = make_container()
    stale = second_client.get_database_client(database.id).get_container_client(container.id)
    stale.create_item({"id": "1", "city": "Oslo"})
    old_rid = container.read()["_rid"]
    database.delete_container(container.id)
    make_container(name=container.id)

    answer = wire.send(
        server,
        "POST",
        f"/dbs/{database.id}/colls/{container.id}/docs",
        {"id": "1", "city": "Oslo"},
        {"x-ms-documentdb-partitionkey": '["Oslo"]', "x-ms-cosmos-intended-collection-rid": old_rid},
    )
    assert (answer.status, answer.sub_status) == (400, 1024)
    assert stale.create_item({"id": "1", "city": "Oslo"})["id"] == "1", "the SDK refreshes and tries again"


def test_replace_changes_the_mutable_parts(database, make_container):
    container = make_container()
    before = container.read()
    policy = {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/name/?"}],
        "excludedPaths": [{"path": "/*"}, {"path": '/"_etag"/?'}],
    }
    computed = [{"name": "lowerName", "query": "SELECT VALUE LOWER(c.name) FROM c"}]
    database.replace_container(
        container, PartitionKey("/city"), indexing_policy=policy, default_ttl=60, computed_properties=computed
    )
    after = container.read()
    assert after["indexingPolicy"] == policy
    assert after["defaultTtl"] == 60
    assert after["computedProperties"] == computed
    assert after["_rid"] == before["_rid"]
    assert after["_self"] == before["_self"]
    assert after["_etag"] != before["_etag"]


def test_replace_without_a_part_resets_it(database, make_container):
    container = make_container(default_ttl=60)
    database.replace_container(container, PartitionKey("/city"))
    after = container.read()
    assert "defaultTtl" not in after
    assert after["indexingPolicy"] == DEFAULT_INDEXING_POLICY


def test_replace_keeps_items(database, make_container):
    container = make_container()
    item = container.create_item({"id": "1", "city": "Oslo"})
    database.replace_container(container, PartitionKey("/city"), default_ttl=3600)
    assert container.read_item("1", "Oslo") == item


def test_replace_keeps_the_unique_keys_the_sdk_does_not_send(database, make_container):
    policy = {"uniqueKeys": [{"paths": ["/email"]}]}
    container = make_container(unique_key_policy=policy)
    database.replace_container(container, PartitionKey("/city"), default_ttl=60)
    assert container.read()["uniqueKeyPolicy"] == policy


@pytest.mark.parametrize(
    "key",
    [PartitionKey("/country"), PartitionKey("/city", version=1), PartitionKey(["/city"], kind="MultiHash")],
    ids=["path", "version", "kind"],
)
def test_partition_key_cannot_change(database, container, key):
    with refused(400):
        database.replace_container(container, key)
    assert container.read()["partitionKey"] == {"paths": ["/city"], "kind": "Hash", "version": 2}


def test_unique_keys_cannot_change(server, database, make_container):
    container = make_container(unique_key_policy={"uniqueKeys": [{"paths": ["/email"]}]})
    body = {**container.read(), "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/phone"]}]}}
    answer = wire.send(server, "PUT", f"/dbs/{database.id}/colls/{container.id}", body)
    assert answer.status == 400


def test_id_cannot_change(server, database, container):
    body = {**container.read(), "id": fresh("renamed")}
    answer = wire.send(server, "PUT", f"/dbs/{database.id}/colls/{container.id}", body)
    assert answer.status == 400


def test_replace_of_a_missing_container_is_not_found(database):
    with refused(404):
        database.replace_container("no such container", PartitionKey("/city"))


@pytest.mark.parametrize(
    "throughput",
    [400, 1_000, ThroughputProperties(auto_scale_max_throughput=4_000, auto_scale_increment_percent=10)],
    ids=["400", "1000", "autoscale"],
)
def test_throughput_is_accepted_at_creation(make_container, throughput):
    container = make_container(offer_throughput=throughput)
    assert container.create_item({"id": "1", "city": "Oslo"})["id"] == "1"


@pytest.mark.parametrize(
    "throughput",
    [
        399,
        450,
        ThroughputProperties(auto_scale_max_throughput=500),
        ThroughputProperties(auto_scale_max_throughput=1500),
    ],
    ids=["below minimum", "not a step", "autoscale below minimum", "autoscale not a step"],
)
def test_throughput_out_of_the_rules_is_refused(database, throughput):
    with refused(400):
        database.create_container(fresh("container"), PartitionKey("/city"), offer_throughput=throughput)


def test_manual_and_autoscale_throughput_exclude_each_other(server, database):
    answer = wire.send(
        server,
        "POST",
        f"/dbs/{database.id}/colls",
        {"id": fresh("container"), "partitionKey": {"paths": ["/city"], "kind": "Hash", "version": 2}},
        {"x-ms-offer-throughput": "400", "x-ms-cosmos-offer-autopilot-settings": '{"maxThroughput":4000}'},
    )
    assert answer.status == 400


def test_container_shares_the_throughput_of_its_database(make_database):
    database = make_database(offer_throughput=1_000)
    container = database.create_container("shares", PartitionKey("/city"))
    assert container.create_item({"id": "1", "city": "Oslo"})["id"] == "1"


def test_feed_of_conflicts_is_empty(container):
    assert list(container.list_conflicts()) == []
