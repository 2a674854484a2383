"""Shard keys, and the commands that the service adds to the server's: custom actions."""

import datetime

import pytest
from bson import ObjectId
from pymongo.errors import BulkWriteError

from conftest import fresh
from mongo import codes, ids, refused


@pytest.fixture
def sharded(empty_database):
    """A collection with the shard key `city`."""
    answer = empty_database.command({"shardCollection": f"{empty_database.name}.people", "key": {"city": "hashed"}})
    assert list(answer.items())[:3] == [
        ("_t", "ShardCollectionResponse"),
        ("ok", 1),
        ("collectionsharded", f"{empty_database.name}.people"),
    ]
    return empty_database["people"]


@pytest.fixture
def people(sharded):
    """Forty people in four cities."""
    cities = ["Oslo", "Rome", "Bonn", None]
    sharded.insert_many({"_id": number, "city": cities[number % 4], "n": number} for number in range(40))
    return sharded


def test_documents_of_all_keys(people):
    assert people.count_documents({}) == 40
    assert sorted(ids(people.find())) == list(range(40))
    assert sorted(ids(people.find({"city": "Oslo"}))) == list(range(0, 40, 4))
    assert people.find_one({"_id": 5, "city": "Rome"})["n"] == 5
    assert people.find_one({"_id": 5, "city": "Oslo"}) is None
    assert ids(people.find(sort=[("n", -1)], limit=3)) == [39, 38, 37]
    assert ids(people.find(sort=[("n", 1)], batch_size=7)) == list(range(40))
    assert sorted(people.distinct("city", {"city": {"$ne": None}})) == ["Bonn", "Oslo", "Rome"]
    groups = people.aggregate([{"$group": {"_id": "$city", "n": {"$sum": "$n"}}}, {"$sort": {"_id": 1}}])
    assert [one["n"] for one in groups] == [210, 200, 180, 190]


def test_writes_with_the_key(people):
    assert people.update_one({"_id": 4, "city": "Oslo"}, {"$set": {"x": 1}}).modified_count == 1
    assert people.replace_one({"_id": 4, "city": "Oslo"}, {"city": "Oslo", "y": 1}).modified_count == 1
    assert people.delete_one({"_id": 4, "city": "Oslo"}).deleted_count == 1
    assert people.update_many({"city": "Rome"}, {"$inc": {"n": 1}}).modified_count == 10
    assert people.delete_many({"city": "Rome"}).deleted_count == 10


def test_writes_without_the_key(people):
    assert people.update_one({"_id": 7}, {"$set": {"x": 1}}).modified_count == 1
    assert people.update_many({"n": {"$gte": 30}}, {"$set": {"x": 2}}).modified_count == 10
    assert people.find_one_and_update({"n": 8}, {"$set": {"x": 3}})["_id"] == 8
    assert people.delete_one({"n": 9}).deleted_count == 1
    assert people.delete_many({"n": {"$lt": 5}}).deleted_count == 5
    assert people.count_documents({}) == 34


def test_a_document_needs_its_key(sharded):
    with refused(61):
        sharded.insert_one({"_id": 1})
    sharded.insert_one({"_id": 1, "city": None})
    with pytest.raises(BulkWriteError) as caught:
        sharded.insert_many([{"_id": 2, "city": "Oslo"}, {"_id": 3}, {"_id": 4, "city": "Rome"}], ordered=False)
    assert codes(caught.value) == [(1, 61)]
    assert sorted(ids(sharded.find())) == [1, 2, 4]
    with refused(61):
        sharded.insert_one({"_id": 5, "city": ["Oslo"]})


def test_upserts_need_the_key(sharded):
    with refused(61):
        sharded.update_one({"_id": 1}, {"$set": {"n": 1}}, upsert=True)
    assert sharded.update_one({"_id": 1, "city": "Oslo"}, {"$set": {"n": 1}}, upsert=True).upserted_id == 1
    assert sharded.update_one({"_id": 2}, {"$set": {"city": "Rome"}}, upsert=True).upserted_id == 2
    assert sharded.replace_one({"_id": 3, "city": "Bonn"}, {"city": "Bonn"}, upsert=True).upserted_id == 3
    assert sorted(one["city"] for one in sharded.find()) == ["Bonn", "Oslo", "Rome"]


def test_the_key_does_not_change(people):
    with refused(66):
        people.update_one({"_id": 4, "city": "Oslo"}, {"$set": {"city": "Rome"}})
    with refused(66):
        people.replace_one({"_id": 4, "city": "Oslo"}, {"city": "Rome"})
    with refused(66, 61):
        people.update_one({"_id": 4, "city": "Oslo"}, {"$unset": {"city": 1}})
    assert people.update_one({"_id": 4, "city": "Oslo"}, {"$set": {"city": "Oslo", "n": 0}}).modified_count == 1


def test_an_id_is_unique_with_its_key(sharded):
    sharded.insert_one({"_id": 1, "city": "Oslo"})
    sharded.insert_one({"_id": 1, "city": "Rome"})
    with refused(11000):
        sharded.insert_one({"_id": 1, "city": "Rome"})
    assert len(list(sharded.find({"_id": 1}))) == 2


@pytest.mark.parametrize("value", ["text", 1, 1.5, True, None, ObjectId("65f0c0ffee65f0c0ffee65f0"), "", -7], ids=str)
def test_keys_of_every_type(sharded, value):
    sharded.insert_one({"_id": 1, "city": value})
    assert sharded.find_one({"city": value}) == {"_id": 1, "city": value}
    assert sharded.update_one({"city": value}, {"$set": {"a": 1}}).modified_count == 1
    assert sharded.delete_one({"_id": 1, "city": value}).deleted_count == 1


def test_numbers_of_every_type_are_one_key(sharded):
    sharded.insert_one({"_id": 1, "city": 5})
    assert sharded.find_one({"city": 5.0})
    with refused(11000):
        sharded.insert_one({"_id": 1, "city": 5.0})


def test_keys_that_json_lacks(sharded):
    first, second, when = ObjectId(), ObjectId(), datetime.datetime(2024, 2, 29, 12)
    values = [first, second, when, str(first), 0.0]
    for number, value in enumerate(values):
        sharded.insert_one({"_id": 1, "city": value, "n": number})
    for number, value in enumerate(values):
        assert [found["n"] for found in sharded.find({"city": value})] == [number]
        assert sharded.update_one({"_id": 1, "city": value}, {"$inc": {"m": 1}}).modified_count == 1
    with refused(11000):
        sharded.insert_one({"_id": 1, "city": -0.0})
    assert sharded.count_documents({"city": -0.0}) == 1
    assert sharded.delete_one({"city": first}).deleted_count == 1
    assert sharded.count_documents({}) == 4


def test_a_key_inside(empty_database):
    empty_database.command({"shardCollection": f"{empty_database.name}.c", "key": {"a.b": "hashed"}})
    made = empty_database["c"]
    made.insert_one({"_id": 1, "a": {"b": "x"}})
    assert ids(made.find({"a.b": "x"})) == [1]
    with refused(61):
        made.insert_one({"_id": 2, "a": {}})


def test_sharding_again(empty_database, sharded):
    name = f"{empty_database.name}.people"
    assert empty_database.command({"shardCollection": name, "key": {"city": "hashed"}})["ok"] == 1
    sharded.insert_one({"city": "Oslo"})
    with refused(23):
        empty_database.command({"shardCollection": name, "key": {"other": "hashed"}})


def test_sharding_what_is_there(empty_database):
    empty_database.create_collection("empty")
    assert empty_database.command({"shardCollection": f"{empty_database.name}.empty", "key": {"k": 1}})["ok"] == 1
    with refused(61):
        empty_database["empty"].insert_one({})
    empty_database["full"].insert_one({})
    with refused(23, 72):
        empty_database.command({"shardCollection": f"{empty_database.name}.full", "key": {"k": 1}})


def test_sharding_through_admin(mongo, empty_database):
    assert mongo.admin.command("enableSharding", empty_database.name)["ok"] == 1
    answer = mongo.admin.command({"shardCollection": f"{empty_database.name}.c", "key": {"k": "hashed"}})
    assert answer["collectionsharded"] == f"{empty_database.name}.c"


def test_unique_indexes_contain_the_key(sharded):
    with refused(67):
        sharded.create_index("email", unique=True)
    sharded.create_index([("city", 1), ("email", 1)], unique=True)
    sharded.insert_one({"city": "Oslo", "email": "a"})
    sharded.insert_one({"city": "Rome", "email": "a"})
    with refused(11000):
        sharded.insert_one({"city": "Oslo", "email": "a"})


def test_events_name_the_key(sharded):
    with sharded.watch() as stream:
        sharded.insert_one({"_id": 1, "city": "Oslo"})
        assert next(stream)["documentKey"] == {"city": "Oslo", "_id": 1}


def act(database, action: str, **fields) -> dict:
    """Runs a custom action."""
    return database.command({"customAction": action, **fields})


def test_databases_by_action(empty_database):
    assert act(empty_database, "CreateDatabase", offerThroughput=1000)["ok"] == 1
    found = act(empty_database, "GetDatabase")
    assert found["database"] == empty_database.name
    assert found["provisionedThroughput"] == 1000
    assert act(empty_database, "UpdateDatabase", offerThroughput=1200)["ok"] == 1
    assert act(empty_database, "GetDatabase")["provisionedThroughput"] == 1200


def test_a_database_without_throughput(empty_database):
    act(empty_database, "CreateDatabase")
    found = act(empty_database, "GetDatabase")
    assert found["database"] == empty_database.name
    assert "provisionedThroughput" not in found


def test_an_autoscaled_database(empty_database):
    act(empty_database, "CreateDatabase", autoScaleSettings={"maxThroughput": 4000})
    assert act(empty_database, "GetDatabase")["autoScaleSettings"] == {"maxThroughput": 4000}
    act(empty_database, "UpdateDatabase", autoScaleSettings={"maxThroughput": 8000})
    assert act(empty_database, "GetDatabase")["autoScaleSettings"] == {"maxThroughput": 8000}
    with refused(2, 9, 72, 20):
        act(empty_database, "UpdateDatabase", offerThroughput=1000)


def test_collections_by_action(empty_database):
    act(empty_database, "CreateCollection", collection="people", shardKey="city", offerThroughput=1000)
    found = act(empty_database, "GetCollection", collection="people")
    assert found["database"] == empty_database.name
    assert found["collection"] == "people"
    assert found["shardKeyDefinition"] == {"city": "hashed"}
    assert found["provisionedThroughput"] == 1000
    act(empty_database, "UpdateCollection", collection="people", offerThroughput=1500)
    assert act(empty_database, "GetCollection", collection="people")["provisionedThroughput"] == 1500
    with refused(61):
        empty_database["people"].insert_one({})
    with refused(48):
        act(empty_database, "CreateCollection", collection="people")


def test_a_collection_by_action_without_more(empty_database):
    act(empty_database, "CreateCollection", collection="people")
    found = act(empty_database, "GetCollection", collection="people")
    assert found["provisionedThroughput"] == 400
    assert "shardKeyDefinition" not in found
    empty_database["people"].insert_one({"_id": 1})


def test_an_autoscaled_collection(empty_database):
    act(empty_database, "CreateCollection", collection="people", autoScaleSettings={"maxThroughput": 4000})
    found = act(empty_database, "GetCollection", collection="people")
    assert found["autoScaleSettings"]["maxThroughput"] == 4000
    assert found["provisionedThroughput"] == 400


def test_indexes_by_action(empty_database):
    keys = [{"key": {"_id": 1}, "name": "_id_1"}, {"key": {"a": 1}, "name": "a_1"}]
    act(empty_database, "CreateCollection", collection="people", indexes=keys)
    assert {"a_1"} <= set(empty_database["people"].index_information())
    act(empty_database, "UpdateCollection", collection="people", indexes=[keys[0], {"key": {"b": 1}, "name": "b_1"}])
    found = set(empty_database["people"].index_information())
    assert "b_1" in found
    assert "a_1" not in found


def test_tokens_by_action(empty_database):
    act(empty_database, "CreateCollection", collection="people", shardKey="city", offerThroughput=1000)
    # A change stream covers all partitions, so there is no token for one of them.
    with refused(115):
        act(empty_database, "GetChangeStreamTokens", collection="people")


ACTIONS_REFUSED = [
    ({"customAction": "Nonsense"}, {2, 9, 59, 115}),
    ({"customAction": 1}, {2, 9, 14}),
    ({"customAction": "CreateCollection"}, {2, 9, 40414, 73}),
    ({"customAction": "CreateCollection", "collection": "x", "offerThroughput": 399}, {2, 9, 72}),
    ({"customAction": "CreateCollection", "collection": "x", "offerThroughput": 450}, {2, 9, 72}),
    ({"customAction": "CreateCollection", "collection": "x", "offerThroughput": 20000}, {2, 9, 72}),
    ({"customAction": "GetCollection", "collection": "absent"}, {26}),
    ({"customAction": "UpdateCollection", "collection": "absent", "offerThroughput": 400}, {26}),
]


@pytest.mark.parametrize(("command", "codes"), ACTIONS_REFUSED, ids=[str(row[0]) for row in ACTIONS_REFUSED])
def test_an_action_is_refused(empty_database, command, codes):
    empty_database["exists"].insert_one({})
    with refused(*codes):
        empty_database.command(command)


def test_a_database_that_is_not_there(mongo):
    with refused(26):
        act(mongo[fresh("absent")], "GetDatabase")
