"""One set of data, two APIs: entities are items of the containers of TablesDB, and those items are entities."""

import json
import math
import signal
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import ResourceModifiedError, ResourceNotFoundError
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos import exceptions as cosmos
from azure.data.tables import EdmType, EntityProperty, TableAccessPolicy, UpdateMode

import wire
from conftest import fresh_table
from sdk import without_system_properties
from server import KEY
from tables import BOTH_FLAVOURS, ROOMY, entity, refused, rows

DATABASE = "TablesDB"
WRITERS = 4
STEPS = 8
GUID = uuid.UUID("c9da6455-213d-42c9-9a79-3e9149a57833")

pytestmark = pytest.mark.parametrize("door", BOTH_FLAVOURS, indirect=True, ids=[door.name for door in BOTH_FLAVOURS])


@pytest.fixture
def container(client, table):
    """The container behind the table, through SQL."""
    return client.get_database_client(DATABASE).get_container_client(table.table_name)


def test_an_entity_is_a_plain_item(table, container):
    table.create_entity(
        entity(
            "r",
            name="Ann",
            age=39,
            ratio=3.1,
            even=3.0,
            married=True,
            big=EntityProperty(2**62 + 1, EdmType.INT64),
            born=datetime(1973, 10, 4, tzinfo=UTC),
            bin=b"binary",
            uid=GUID,
            nan=math.nan,
            nothing=None,
        )
    )
    item = container.read_item("r", "p")
    assert without_system_properties(item) == {
        "id": "r",
        "PartitionKey": "p",
        "RowKey": "r",
        "name": "Ann",
        "age": 39,
        "ratio": 3.1,
        "even": 3.0,
        "married": True,
        "big": 2**62 + 1,
        "born": "1973-10-04T00:00:00.0000000Z",
        "bin": "YmluYXJ5",
        "uid": str(GUID),
        "nan": "NaN",
        "$edm": {"big": "Int64", "born": "DateTime", "bin": "Binary", "uid": "Guid", "nan": "Double"},
    }
    assert isinstance(item["even"], float)
    timestamp = table.get_entity("p", "r").metadata["timestamp"]
    assert int(timestamp.timestamp()) == item["_ts"]


def test_simple_types_need_no_annotation(table, container):
    table.create_entity(entity("r", text="x", n=1, x=0.5, yes=True))
    assert "$edm" not in container.read_item("r", "p")


def test_an_item_with_the_keys_is_an_entity(table, container):
    container.create_item(
        {
            "id": "r",
            "PartitionKey": "p",
            "RowKey": "r",
            "text": "x",
            "n": 5,
            "x": 2.5,
            "even": 3.0,
            "yes": True,
            "object": {"a": 1},
            "list": [1],
            "nothing": None,
        }
    )
    expected = entity("r", text="x", n=5, x=2.5, even=3.0, yes=True)
    read = table.get_entity("p", "r")
    assert read == expected
    assert isinstance(read["even"], float)
    assert list(table.list_entities()) == [expected]
    for query_filter in ("n eq 5", "x lt 3 and text eq 'x'", "PartitionKey eq 'p' and RowKey eq 'r'", "yes eq true"):
        assert list(table.query_entities(query_filter)) == [expected], query_filter


def test_annotations_written_through_sql_are_understood(table, container):
    container.create_item(
        {
            "id": "r",
            "PartitionKey": "p",
            "RowKey": "r",
            "big": 7,
            "when": "2020-01-01T00:00:00.0000000Z",
            "wrong": "no time",
            "$edm": {"big": "Int64", "when": "DateTime", "wrong": "DateTime", "absent": "Guid", "odd": 5},
        }
    )
    assert table.get_entity("p", "r") == entity(
        "r", big=EntityProperty(7, EdmType.INT64), when=datetime(2020, 1, 1, tzinfo=UTC), wrong="no time"
    )
    assert rows(table.query_entities("when lt datetime'2021-01-01T00:00:00Z'")) == ["r"]


@pytest.mark.parametrize(
    "item",
    [
        {"id": "r", "PartitionKey": "p"},
        {"id": "other", "PartitionKey": "p", "RowKey": "r"},
        {"id": "r", "PartitionKey": "p", "RowKey": 5},
        {"id": "r", "PartitionKey": 5, "RowKey": "r"},
        {"id": "r", "RowKey": "r"},
    ],
    ids=json.dumps,
)
def test_items_that_are_no_entities_are_not_seen(table, container, item):
    container.create_item(item)
    table.create_entity(entity("seen"))
    assert rows(table.list_entities()) == ["seen"]
    assert rows(table.query_entities("RowKey ge ''")) == ["seen"]
    with pytest.raises(ResourceNotFoundError):
        table.get_entity("p", "r")
    assert len(list(container.read_all_items())) == 2


def test_a_merge_keeps_what_only_sql_can_see(table, container):
    container.create_item({"id": "r", "PartitionKey": "p", "RowKey": "r", "n": 1, "list": [1, {"a": None}], "ttl": 900})
    table.update_entity(entity("r", n=2, m=EntityProperty(3, EdmType.INT64)))
    assert without_system_properties(container.read_item("r", "p")) == {
        "id": "r",
        "PartitionKey": "p",
        "RowKey": "r",
        "n": 2,
        "list": [1, {"a": None}],
        "ttl": 900,
        "m": 3,
        "$edm": {"m": "Int64"},
    }
    table.update_entity(entity("r", n=3), mode=UpdateMode.REPLACE)
    assert "list" not in container.read_item("r", "p")


def test_a_write_through_one_api_is_a_new_version_for_the_other(table, container):
    table.create_entity(entity("r", n=1))
    seen = table.get_entity("p", "r")
    item = container.read_item("r", "p")

    container.replace_item("r", {**item, "n": 2}, etag=item["_etag"], match_condition=MatchConditions.IfNotModified)
    with pytest.raises(ResourceModifiedError):
        table.update_entity(seen, match_condition=MatchConditions.IfNotModified)
    now = table.get_entity("p", "r")
    assert now["n"] == 2
    assert now.metadata["etag"] > seen.metadata["etag"]

    item = container.read_item("r", "p")
    table.update_entity(entity("r", n=3), etag=now.metadata["etag"], match_condition=MatchConditions.IfNotModified)
    with pytest.raises(cosmos.CosmosAccessConditionFailedError):
        container.replace_item("r", item, etag=item["_etag"], match_condition=MatchConditions.IfNotModified)
    container.patch_item("r", "p", [{"op": "incr", "path": "/n", "value": 4}])
    assert table.get_entity("p", "r")["n"] == 7
    container.delete_item("r", "p")
    with pytest.raises(ResourceNotFoundError):
        table.get_entity("p", "r")
    table.create_entity(entity("r"))
    table.delete_entity("p", "r")
    with pytest.raises(cosmos.CosmosResourceNotFoundError):
        container.read_item("r", "p")


def test_merges_and_patches_of_both_apis_lose_nothing(server, door, table, container):
    table.create_entity(entity("r", n=0))

    def merge(writer: int) -> None:
        with door.table(server, table.table_name) as own:
            for step in range(STEPS):
                own.upsert_entity(entity("r", **{f"w{writer}": step}))

    def patch(_: int) -> None:
        for _ in range(STEPS):
            container.patch_item("r", "p", [{"op": "incr", "path": "/n", "value": 1}])

    with ThreadPoolExecutor(2 * WRITERS) as pool:
        merging = [pool.submit(merge, writer) for writer in range(WRITERS)]
        patching = [pool.submit(patch, writer) for writer in range(WRITERS)]
        for one in merging + patching:
            one.result()
    written = {f"w{writer}": STEPS - 1 for writer in range(WRITERS)}
    assert table.get_entity("p", "r") == entity("r", n=WRITERS * STEPS, **written)


def test_sql_queries_of_entities(table, container):
    table.submit_transaction([("create", entity(f"r{n}", n=n, name=f"name {n}")) for n in range(10)])
    query = "SELECT c.RowKey, c.name FROM c WHERE c.PartitionKey = 'p' AND c.n > 6 ORDER BY c.n DESC"
    assert list(container.query_items(query, partition_key="p")) == [
        {"RowKey": f"r{n}", "name": f"name {n}"} for n in (9, 8, 7)
    ]
    assert list(container.query_items("SELECT VALUE SUM(c.n) FROM c", enable_cross_partition_query=True)) == [45]


def test_properties_that_items_use_for_themselves(table, container):
    table.create_entity(entity("r", id="mine", ttl=5, _ts="x"))
    item = container.read_item("r", "p")
    assert item["id"] == "r"
    assert "ttl" not in item
    assert isinstance(item["_ts"], int)
    assert (item["$p:id"], item["$p:ttl"], item["$p:_ts"]) == ("mine", 5, "x")


def test_a_transaction_through_each_api(table, container):
    table.submit_transaction([("create", entity(row, n=1)) for row in "ab"])
    container.execute_item_batch(
        [
            ("create", ({"id": "c", "PartitionKey": "p", "RowKey": "c", "n": 2},)),
            ("patch", ("a", [{"op": "set", "path": "/n", "value": 2}])),
            ("delete", ("b",)),
        ],
        partition_key="p",
    )
    assert list(table.list_entities()) == [entity("a", n=2), entity("c", n=2)]


def test_a_table_is_a_container(client, table, container):
    properties = container.read()
    assert properties["partitionKey"] == {"paths": ["/PartitionKey"], "kind": "Hash", "version": 2}
    assert {"path": '/"$edm"/*'} in properties["indexingPolicy"]["excludedPaths"]
    assert table.table_name in [one["id"] for one in client.get_database_client(DATABASE).list_containers()]
    client.get_database_client(DATABASE).delete_container(table.table_name)
    with pytest.raises(ResourceNotFoundError):
        list(table.list_entities())


def test_a_container_with_that_key_is_a_table(client, table_service, make_table):
    make_table()  # the database is there
    database = client.get_database_client(DATABASE)
    name, other = fresh_table(), fresh_table()
    container = database.create_container(name, PartitionKey("/PartitionKey"))
    database.create_container(other, PartitionKey("/city"))
    listed = [one.name for one in table_service.list_tables()]
    assert name in listed
    assert other not in listed
    table = table_service.get_table_client(name)
    table.create_entity(entity("r", n=1))
    assert container.read_item("r", "p")["n"] == 1
    with refused(404):
        list(table_service.get_table_client(other).list_entities())
    table.delete_table()
    with pytest.raises(cosmos.CosmosResourceNotFoundError):
        container.read()
    database.delete_container(other)


def test_throughput_of_tables(client, make_table):
    database = client.get_database_client(DATABASE)
    for headers, expected in (
        (None, (400, None)),
        ({"x-ms-offer-throughput": "1000"}, (1000, None)),
        ({"x-ms-cosmos-offer-autopilot-settings": '{"maxThroughput": 4000}'}, (None, 4000)),
    ):
        table = make_table(headers=headers)
        offer = database.get_container_client(table.table_name).get_throughput()
        autoscale = offer.auto_scale_max_throughput
        assert (None if autoscale else offer.offer_throughput, autoscale) == expected
    with refused(400):
        make_table(headers={"x-ms-offer-throughput": "399"})


def test_the_change_feed_of_a_table(table, container):
    table.create_entity(entity("a", n=1))
    table.submit_transaction([("create", entity("b", n=1)), ("create", entity("c", n=1))])
    table.update_entity(entity("a", n=2))
    changes = list(container.query_items_change_feed(start_time="Beginning", partition_key="p"))
    assert [(one["RowKey"], one["n"]) for one in changes] == [("b", 1), ("c", 1), ("a", 2)]
    token = container.client_connection.last_response_headers["etag"]
    assert list(container.query_items_change_feed(continuation=token, partition_key="p")) == []
    table.upsert_entity(entity("d", n=3))
    container.upsert_item({"id": "e", "PartitionKey": "p", "RowKey": "e", "n": 4})
    later = list(container.query_items_change_feed(continuation=token, partition_key="p"))
    assert [(one["RowKey"], one["n"]) for one in later] == [("d", 3), ("e", 4)]


def test_time_to_live_of_a_table(table, container, client):
    database = client.get_database_client(DATABASE)
    database.replace_container(table.table_name, PartitionKey("/PartitionKey"), default_ttl=-1)
    container.create_item({"id": "r", "PartitionKey": "p", "RowKey": "r", "ttl": 1})
    table.create_entity(entity("s"))
    assert rows(table.list_entities()) in (["r", "s"], ["s"])
    deadline = time.monotonic() + 5
    while rows(table.list_entities()) != ["s"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_settings_of_tables_are_not_tables(table_service, table):
    table.set_table_access_policy({"id": TableAccessPolicy(permission="r")})
    assert all(not one.name.startswith("$") for one in table_service.list_tables())
    with refused(400):
        list(table_service.get_table_client("$TableSettings").list_entities())


def test_everything_survives_a_kill(start_server, door):
    server = start_server()
    with door.service(server) as service:
        table = service.create_table("kept", headers=ROOMY)
        service.create_table("dropped")
        service.delete_table("dropped")
        table.submit_transaction([("create", entity(f"r{n}", n=n, big=(n, "Edm.Int64"))) for n in range(50)])
        table.update_entity(entity("r7", when=datetime(2020, 1, 1, tzinfo=UTC)))
        table.delete_entity("p", "r8")
        table.create_entity(entity("it's", "other", uid=GUID))
        table.set_table_access_policy({"id": TableAccessPolicy(permission="ra", expiry="2040-01-01T00:00:00Z")})
        pages = table.list_entities(results_per_page=20).by_page()
        first = rows(next(pages))
        token = pages.continuation_token
        before = [(dict(one), one.metadata["etag"], one.metadata["timestamp"]) for one in table.list_entities()]
    etags = {one["RowKey"]: etag for one, etag, _ in before}
    assert server.stop(signal.SIGKILL) == -signal.SIGKILL
    server = start_server()
    with door.service(server) as service:
        assert [one.name for one in service.list_tables()] == ["kept"]
        table = service.get_table_client("kept")
        assert [(dict(one), one.metadata["etag"], one.metadata["timestamp"]) for one in table.list_entities()] == before
        rest = [row for page in table.list_entities(results_per_page=20).by_page(token) for row in rows(page)]
        assert first + rest == [one[0]["RowKey"] for one in before]
        policies = table.get_table_access_policy()
        assert policies["id"].permission == "ra"
        condition = {"etag": etags["r1"], "match_condition": MatchConditions.IfNotModified}
        written = table.update_entity(entity("r1", n=-1), **condition)
        assert written["etag"] > max(etags.values())
    with CosmosClient(server.https, KEY) as sql:
        assert wire.send(server, "GET", "/dbs/TablesDB").status == 200
        kept = sql.get_database_client(DATABASE).get_container_client("kept")
        assert kept.read_item("r1", "p")["n"] == -1
