"""One set of data, two APIs: documents are items and items are documents, at the same time, types and all."""

import datetime
import threading
import uuid

import pytest
from azure.core import MatchConditions
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.exceptions import CosmosResourceNotFoundError
from bson import Binary, Code, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp

import sdk
from mongo import ids, refused
from sdk import without_system_properties
from server import KEY

OBJECT_ID = ObjectId("507f1f77bcf86cd799439011")


@pytest.fixture(scope="module")
def sql(mongo_server):
    """The SQL API of the same server."""
    with CosmosClient(mongo_server.https, KEY) as connected:
        yield connected


@pytest.fixture
def sharded(empty_database):
    """A collection with the shard key `city`."""
    empty_database.command({"shardCollection": f"{empty_database.name}.people", "key": {"city": "hashed"}})
    return empty_database["people"]


@pytest.fixture
def container(sql, sharded):
    """The container behind it."""
    return sql.get_database_client(sharded.database.name).get_container_client(sharded.name)


@pytest.fixture
def made_by_sql(sql, empty_database):
    """A container that the SQL API made, and the collection that it is."""
    database = sql.create_database(empty_database.name)
    container = database.create_container("items", PartitionKey("/city"), offer_throughput=10_000)
    return container, empty_database["items"]


def test_databases_and_containers_are_the_same(sql, sharded):
    assert sharded.database.name in [database["id"] for database in sql.list_databases()]
    database = sql.get_database_client(sharded.database.name)
    (listed,) = database.list_containers()
    assert listed["id"] == sharded.name
    assert listed["partitionKey"]["paths"] == ["/city"]
    database.delete_container(sharded.name)
    assert sharded.database.list_collection_names() == []


def test_a_collection_that_sql_made(made_by_sql):
    container, collection = made_by_sql
    assert collection.name in collection.database.list_collection_names()
    assert collection.count_documents({}) == 0
    container.create_item({"id": "1", "city": "Oslo", "n": 5, "list": [1, {"a": None}], "x": 1.5})
    found = collection.find_one({"city": "Oslo"})
    assert found["_id"] == "1"
    assert found["city"] == "Oslo"
    assert found["n"] == 5
    assert found["list"] == [1, {"a": None}]
    assert found["x"] == 1.5
    assert not {"_rid", "_self", "_etag", "_ts", "_attachments"} & set(found)


TYPES = {
    "objectid": (OBJECT_ID, {"$oid": str(OBJECT_ID)}),
    "date": (datetime.datetime(2020, 1, 1), {"$date": {"$numberLong": "1577836800000"}}),
    "decimal": (Decimal128("1.10"), {"$numberDecimal": "1.10"}),
    "binary": (b"abc", {"$binary": {"base64": "YWJj", "subType": "00"}}),
    "uuid": (
        Binary(uuid.UUID(int=1).bytes, 4),
        {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAQ==", "subType": "04"}},
    ),
    "timestamp": (Timestamp(5, 6), {"$timestamp": {"t": 5, "i": 6}}),
    "regex": (Regex("^a", "i"), {"$regularExpression": {"pattern": "^a", "options": "i"}}),
    "minkey": (MinKey(), {"$minKey": 1}),
    "maxkey": (MaxKey(), {"$maxKey": 1}),
    "code": (Code("x"), {"$code": "x"}),
    "int32": (7, 7),
    "int64": (Int64(2**53 + 1), 2**53 + 1),
    "double": (2.5, 2.5),
    "double-whole": (3.0, 3.0),
    "nan": (float("inf"), {"$numberDouble": "Infinity"}),
    "string": ("text", "text"),
    "bool": (True, True),
    "null": (None, None),
    "object": ({"a": 1}, {"a": 1}),
    "array": ([1, "x", OBJECT_ID], [1, "x", {"$oid": str(OBJECT_ID)}]),
}


@pytest.mark.parametrize(("value", "shown"), TYPES.values(), ids=TYPES)
def test_types_read_as_extended_json(sharded, container, value, shown):
    sharded.insert_one({"_id": "k", "city": "Oslo", "v": value, "in": {"v": [value]}})
    item = container.read_item("k", "Oslo")
    assert item["v"] == shown
    assert item["in"] == {"v": [shown]}
    assert list(without_system_properties(item)) == ["id", "_id", "city", "v", "in"]
    rows = list(container.query_items("SELECT VALUE c.v FROM c", enable_cross_partition_query=True))
    assert rows == [shown]


@pytest.mark.parametrize(("value", "shown"), TYPES.values(), ids=TYPES)
def test_types_survive_a_replace_through_rest(sharded, container, value, shown):
    sharded.insert_one({"_id": "k", "city": "Oslo", "v": value})
    item = container.read_item("k", "Oslo")
    item["touched"] = "yes"
    container.replace_item("k", item)
    found = sharded.find_one({"_id": "k", "city": "Oslo"})
    assert found == {"_id": "k", "city": "Oslo", "v": value, "touched": "yes"}
    assert type(found["v"]) is type(value)


def test_types_survive_a_patch_through_rest(sharded, container):
    values = {name: value for name, (value, _) in TYPES.items()}
    sharded.insert_one({"_id": "k", "city": "Oslo", **values})
    container.patch_item("k", "Oslo", [{"op": "set", "path": "/touched", "value": True}])
    assert sharded.find_one() == {"_id": "k", "city": "Oslo", **values, "touched": True}


def test_rest_writes_types_too(sharded, container):
    shown = {name: shown for name, (_, shown) in TYPES.items()}
    container.create_item({"id": "k", "_id": "k", "city": "Oslo", **shown})
    found = sharded.find_one({"_id": "k"})
    for name, (value, _) in TYPES.items():
        if name != "double-whole":
            assert found[name] == value, name


IDS = [
    (OBJECT_ID, str(OBJECT_ID)),
    ("plain", "plain"),
    (7, None),
    (1.5, None),
    (True, None),
    (None, None),
    (datetime.datetime(2020, 1, 1), None),
    (b"abc", None),
    ({"a": 1, "b": 2}, None),
    ("a/b", None),
    ("507f1f77bcf86cd799439011", None),
    ("x" * 500, None),
]


@pytest.mark.parametrize(("key", "expected"), IDS, ids=[str(row[0])[:30] for row in IDS])
def test_every_id_has_a_name_in_rest(sharded, container, key, expected):
    sharded.insert_one({"_id": key, "city": "Oslo"})
    (item,) = container.query_items("SELECT * FROM c", enable_cross_partition_query=True)
    assert expected is None or item["id"] == expected
    assert container.read_item(item["id"], "Oslo")["_id"] == item["_id"]
    container.replace_item(item["id"], {**item, "n": 1})
    assert sharded.find_one({"_id": key, "city": "Oslo"}) == {"_id": key, "city": "Oslo", "n": 1}
    container.delete_item(item["id"], "Oslo")
    assert sharded.count_documents({}) == 0


def test_names_of_ids_are_never_the_same(sharded, container):
    keys = [1, "1", "~n1", True, "true", OBJECT_ID, str(OBJECT_ID), None, "null", b"1", {"a": 1}, Int64(2**40)]
    sharded.insert_many({"_id": key, "city": "Oslo"} for key in keys)
    names = list(container.query_items("SELECT VALUE c.id FROM c", enable_cross_partition_query=True))
    assert len(set(names)) == len(keys)
    with refused(11000):
        sharded.insert_one({"_id": 1.0, "city": "Oslo"})


def test_own_fields_of_system_names(sharded, container):
    sharded.insert_one({"_id": "k", "city": "Oslo", "id": "mine", "_ts": "then", "_etag": 5})
    item = container.read_item("k", "Oslo")
    assert item["id"] == "k"
    assert item["$$id"] == "mine"
    assert item["$$_ts"] == "then"
    assert isinstance(item["_ts"], int)
    container.replace_item("k", {**item, "n": 1})
    assert sharded.find_one() == {"_id": "k", "city": "Oslo", "id": "mine", "_ts": "then", "_etag": 5, "n": 1}


def test_sql_queries_over_documents(sharded, container):
    # Without it only `_id` and the shard key have an index, and SQL sorts by indexes alone.
    sharded.create_index("n")
    sharded.insert_many(
        {"_id": OBJECT_ID if number == 3 else number, "city": "Oslo", "n": number, "tags": ["a", f"t{number}"]}
        for number in range(10)
    )

    def ask(text: str, *parameters: object) -> list:
        given = [{"name": f"@p{position}", "value": value} for position, value in enumerate(parameters)]
        return list(container.query_items(text, parameters=given, partition_key="Oslo"))

    assert ask("SELECT VALUE COUNT(1) FROM c") == [10]
    assert ask("SELECT VALUE c.n FROM c WHERE c.n >= 7 ORDER BY c.n DESC") == [9, 8, 7]
    assert ask("SELECT VALUE c.n FROM c WHERE ARRAY_CONTAINS(c.tags, @p0)", "t4") == [4]
    # What such a value reads as is no object to a path: it is found by the object that it reads as.
    assert ask('SELECT VALUE c.n FROM c WHERE c._id["$oid"] = @p0', str(OBJECT_ID)) == []
    assert ask("SELECT VALUE SUM(c.n) FROM c") == [45]
    assert ask("SELECT VALUE t FROM c JOIN t IN c.tags WHERE c.n = 2") == ["a", "t2"]


def test_writes_of_both_at_once(sharded, container):
    sharded.insert_one({"_id": "k", "city": "Oslo", "n": 0})

    def through_mongo():
        for _ in range(30):
            sharded.update_one({"_id": "k", "city": "Oslo"}, {"$inc": {"n": 1}})

    def through_rest():
        for _ in range(30):
            container.patch_item("k", "Oslo", [{"op": "incr", "path": "/n", "value": 1}])

    threads = [threading.Thread(target=run) for run in (through_mongo, through_rest)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sharded.find_one()["n"] == 60
    assert container.read_item("k", "Oslo")["n"] == 60


def test_an_etag_moves_with_a_write_through_mongo(sharded, container):
    sharded.insert_one({"_id": "k", "city": "Oslo"})
    item = container.read_item("k", "Oslo")
    sharded.update_one({"_id": "k", "city": "Oslo"}, {"$set": {"a": 1}})
    with sdk.refused(412):
        container.replace_item("k", item, etag=item["_etag"], match_condition=MatchConditions.IfNotModified)


def test_a_collection_made_by_sql_takes_documents(made_by_sql):
    container, collection = made_by_sql
    collection.insert_one({"_id": "k", "city": "Oslo", "at": datetime.datetime(2020, 1, 1)})
    assert container.read_item("k", "Oslo")["at"] == {"$date": {"$numberLong": "1577836800000"}}
    with refused(61):
        collection.insert_one({"_id": "j"})
    assert collection.update_one({"city": "Oslo"}, {"$set": {"n": 1}}).modified_count == 1
    assert container.read_item("k", "Oslo")["n"] == 1
    container.create_item({"id": "r", "city": "Rome", "n": 7})
    assert collection.update_one({"_id": "r", "city": "Rome"}, {"$inc": {"n": 1}}).modified_count == 1
    assert container.read_item("r", "Rome")["n"] == 8
    assert sorted(ids(collection.find())) == ["k", "r"]
    assert collection.delete_one({"_id": "r"}).deleted_count == 1
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("r", "Rome")


def test_rest_changes_come_in_change_streams(sharded, container):
    with sharded.watch(full_document="updateLookup") as stream:
        container.create_item({"id": "k", "_id": "k", "city": "Oslo", "n": 1})
        container.replace_item("k", {"id": "k", "_id": "k", "city": "Oslo", "n": 2})
        container.delete_item("k", "Oslo")
        found = [next(stream) for _ in range(3)]
    assert [event["operationType"] for event in found] == ["insert", "replace", "delete"]
    assert found[0]["fullDocument"] == {"_id": "k", "city": "Oslo", "n": 1}
    assert all(event["documentKey"] == {"city": "Oslo", "_id": "k"} for event in found)


def test_documents_come_in_the_change_feed(sharded, container):
    sharded.insert_many({"_id": number, "city": "Oslo", "at": datetime.datetime(2020, 1, 1)} for number in range(5))
    found = list(container.query_items_change_feed(start_time="Beginning"))
    assert [item["_id"] for item in found] == [0, 1, 2, 3, 4]
    assert found[0]["at"] == {"$date": {"$numberLong": "1577836800000"}}


def test_indexes_are_in_the_policy(sharded, container):
    sharded.create_index("n")
    policy = container.read()["indexingPolicy"]
    assert any("/n" in path["path"] for path in policy["includedPaths"])
    sharded.create_index([("a", 1), ("b", -1)])
    assert container.read()["indexingPolicy"]["compositeIndexes"]


def test_throughput_is_the_same(sql, empty_database):
    empty_database.command({"customAction": "CreateCollection", "collection": "people", "offerThroughput": 700})
    container = sql.get_database_client(empty_database.name).get_container_client("people")
    assert container.get_throughput().offer_throughput == 700
    container.replace_throughput(900)
    found = empty_database.command({"customAction": "GetCollection", "collection": "people"})
    assert found["provisionedThroughput"] == 900


def test_a_collection_without_a_shard_key(sql, collection):
    collection.create_index("n")
    collection.insert_many({"_id": number, "n": number} for number in range(5))
    container = sql.get_database_client(collection.database.name).get_container_client(collection.name)
    rows = list(container.query_items("SELECT VALUE c.n FROM c ORDER BY c.n", enable_cross_partition_query=True))
    assert rows == [0, 1, 2, 3, 4]
