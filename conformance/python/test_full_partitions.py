"""Logical partitions that are full: what grows them is refused, the rest goes on. And containers without a key."""

import pytest
from azure.cosmos import CosmosClient, PartitionKey

import partitions
import wire
from procedures import register, script
from sdk import refused, without_system_properties
from server import KEY

LIMIT_BYTES = 1_000_000
ITEM_TEXT = 20_000
FIXED_THROUGHPUT_MAX = 10_000


@pytest.fixture
def full(start_server):
    """A server whose logical partitions hold a megabyte, a container, and how many items made Oslo full."""
    server = start_server("--logical-partition-bytes", str(LIMIT_BYTES))
    with CosmosClient(server.http, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"), offer_throughput=10_000)
        yield server, container, _fill(container)


def _item(name: str, text: int = ITEM_TEXT, city: str = "Oslo") -> dict:
    return {"id": name, "city": city, "text": "x" * text}


def _fill(container) -> int:
    """Creates items until one is refused, then a small one until that is, and returns how many there are."""
    count = 0
    for text in (ITEM_TEXT, 100):
        with refused(403, 1014) as caught:
            while True:
                container.create_item(_item(str(count), text))
                count += 1
        assert "Partition key reached maximum size" in caught.value.message
    return count


def test_full_partition_holds_what_it_may(full):
    server, container, count = full
    assert count > 20
    [figures] = partitions.figures(server, container)["partitions"]
    assert LIMIT_BYTES - 2_000 < figures["bytes"] + figures["indexBytes"] <= LIMIT_BYTES
    assert figures["items"] == count


def test_writes_that_grow_are_refused(full):
    server, container, count = full
    before = list(container.read_all_items())
    grown = _item("0", ITEM_TEXT + 5_000)
    with refused(403, 1014):
        container.create_item(_item("new"))
    with refused(403, 1014):
        container.upsert_item(_item("new"))
    with refused(403, 1014):
        container.upsert_item(grown)
    with refused(403, 1014):
        container.replace_item("0", grown)
    with refused(403, 1014):
        container.patch_item("0", "Oslo", [{"op": "add", "path": "/more", "value": "x" * 5_000}])
    answer = wire.send(
        server,
        "POST",
        f"/{container.container_link}/docs",
        [{"operationType": "Create", "resourceBody": _item("new")}],
        {
            "x-ms-documentdb-partitionkey": '["Oslo"]',
            "x-ms-cosmos-is-batch-request": "True",
            "x-ms-cosmos-batch-atomic": "True",
        },
    )
    assert [result["statusCode"] for result in answer.body] == [403]
    name = register(container, script("import-items"))
    with pytest.raises(Exception, match=r"(?i)1014|403|maximum size|Forbidden"):
        container.scripts.execute_stored_procedure(name, partition_key="Oslo", params=[[_item("new")]])
    assert list(container.read_all_items()) == before
    assert len(before) == count


def test_everything_else_goes_on(full):
    _, container, count = full
    assert container.read_item("0", "Oslo")["text"] == "x" * ITEM_TEXT
    assert len(list(container.query_items("SELECT * FROM c", partition_key="Oslo"))) == count
    same = container.replace_item("0", _item("0"))
    assert len(same["text"]) == ITEM_TEXT, "an item of the same size takes its own place"
    shrunk = container.replace_item("0", _item("0", ITEM_TEXT - 10_000))
    assert len(shrunk["text"]) == ITEM_TEXT - 10_000
    container.patch_item("1", "Oslo", [{"op": "remove", "path": "/text"}])
    assert "text" not in container.read_item("1", "Oslo")
    container.delete_item("2", "Oslo")
    with refused(404):
        container.read_item("2", "Oslo")


def test_other_keys_are_not_affected(full):
    _, container, _ = full
    for n in range(10):
        container.create_item(_item("1", city=f"city {n}"))
        assert container.read_item("1", f"city {n}")["city"] == f"city {n}"


def test_room_that_is_made_can_be_used(full):
    server, container, count = full
    for turn in range(3):
        container.delete_item(str(turn), "Oslo")
        made = container.create_item(_item(f"new {turn}"))
        assert len(made["text"]) == ITEM_TEXT
        with refused(403, 1014):
            container.create_item(_item("one too many"))
    for item in list(container.query_items("SELECT c.id FROM c", partition_key="Oslo")):
        container.delete_item(item["id"], "Oslo")
    [figures] = partitions.figures(server, container)["partitions"]
    assert (figures["items"], figures["bytes"], figures["indexBytes"]) == (0, 0, 0)
    assert _fill(container) == pytest.approx(count, abs=3), "as many as the first time"


def test_full_partition_stays_full_over_splits_and_restarts(full, start_server):
    server, container, count = full
    partitions.split(server, container)
    with refused(403, 1014):
        container.create_item(_item("new"))
    assert server.stop() == 0
    server = start_server("--logical-partition-bytes", str(LIMIT_BYTES))
    with CosmosClient(server.http, KEY) as client:
        container = client.get_database_client("d").get_container_client("c")
        with refused(403, 1014):
            container.create_item(_item("new"))
        container.delete_item("0", "Oslo")
        container.create_item(_item("new"))
        counted = container.query_items("SELECT VALUE COUNT(1) FROM c", partition_key="Oslo")
        assert list(counted) == [count]


def test_full_path_of_a_hierarchy_is_the_logical_partition(start_server):
    server = start_server("--logical-partition-bytes", str(LIMIT_BYTES))
    with CosmosClient(server.http, KEY) as client:
        key = PartitionKey(["/tenant", "/city"], kind="MultiHash")
        container = client.create_database("d").create_container("c", key, offer_throughput=10_000)
        with refused(403, 1014):
            for n in range(100):
                container.create_item({**_item(str(n)), "tenant": "t"})
        container.create_item({**_item("1", city="Bergen"), "tenant": "t"})
        container.create_item({**_item("1"), "tenant": "u"})


def _fixed(server, database, name: str, throughput: int | None = None) -> wire.Answer:
    headers = {} if throughput is None else {"x-ms-offer-throughput": str(throughput)}
    return wire.send(server, "POST", f"/dbs/{database.id}/colls", {"id": name}, headers)


def test_container_without_a_key_is_fixed(server, make_database):
    """Made by raw requests: the SDKs insist on a key."""
    database = make_database()
    assert _fixed(server, database, "c", 1_000).status == 201
    path = f"/dbs/{database.id}/colls/c"
    for name in ("1", "2"):
        made = wire.send(server, "POST", f"{path}/docs", {"id": name, "n": 1})
        assert made.status == 201, made
        read = wire.send(server, "GET", f"{path}/docs/{name}")
        assert (read.status, read.body) == (200, made.body)
    assert wire.send(server, "POST", f"{path}/docs", {"id": "1"}).status == 409, "one logical partition"
    assert wire.send(server, "DELETE", f"{path}/docs/2").status == 204
    feed = wire.send(server, "GET", f"{path}/docs")
    assert [without_system_properties(item) for item in feed.body["Documents"]] == [{"id": "1", "n": 1}]
    query = {"x-ms-documentdb-isquery": "true", "content-type": "application/query+json"}
    rows = wire.send(server, "POST", f"{path}/docs", {"query": "SELECT VALUE c.n FROM c", "parameters": []}, query)
    assert rows.body["Documents"] == [1]
    assert len(wire.send(server, "GET", f"{path}/pkranges").body["PartitionKeyRanges"]) == 1


def test_fixed_container_has_a_throughput_limit(server, make_database):
    database = make_database()
    assert _fixed(server, database, "c", FIXED_THROUGHPUT_MAX + 100).status == 400
    assert _fixed(server, database, "c", FIXED_THROUGHPUT_MAX).status == 201
    container = database.get_container_client("c")
    assert container.get_throughput().offer_throughput == FIXED_THROUGHPUT_MAX
    with refused(400):
        container.replace_throughput(FIXED_THROUGHPUT_MAX + 100)
    assert container.replace_throughput(400).offer_throughput == 400
    assert partitions.command_split(server, container).status == 400, "there is nothing to cut"
