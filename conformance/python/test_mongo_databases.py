"""Databases and collections: made by a write or by a command, listed, renamed, dropped; names; validators; views."""

import uuid

import pytest
from bson import Int64
from pymongo.errors import CollectionInvalid

from conftest import fresh
from mongo import ids, refused


def test_a_write_makes_both(mongo, empty_database):
    assert empty_database.name not in mongo.list_database_names()
    empty_database["notes"].insert_one({"_id": 1})
    assert empty_database.name in mongo.list_database_names()
    assert empty_database.list_collection_names() == ["notes"]
    mongo.drop_database(empty_database.name)
    assert empty_database.name not in mongo.list_database_names()
    assert empty_database["notes"].count_documents({}) == 0


def test_databases_are_listed(mongo, empty_database):
    empty_database["notes"].insert_one({})
    answer = mongo.admin.command("listDatabases")
    (listed,) = [one for one in answer["databases"] if one["name"] == empty_database.name]
    assert isinstance(listed["sizeOnDisk"], Int64)
    assert listed["empty"] is False
    assert answer["totalSize"] >= 0
    assert "totalSizeMb" in answer
    names = mongo.admin.command("listDatabases", nameOnly=True, filter={"name": empty_database.name})["databases"]
    assert names == [{"name": empty_database.name}]
    with refused(13):
        empty_database.command("listDatabases")


def test_collections_are_listed(empty_database):
    empty_database.create_collection("one")
    empty_database.create_collection("two")
    answer = empty_database.command("listCollections")["cursor"]
    assert answer["ns"] == f"{empty_database.name}.$cmd.listCollections"
    assert answer["id"] == 0
    one = next(found for found in answer["firstBatch"] if found["name"] == "one")
    assert one["type"] == "collection"
    assert one["options"] == {}
    assert one["info"]["readOnly"] is False
    assert isinstance(uuid.UUID(bytes=bytes(one["info"]["uuid"])), uuid.UUID)
    assert one["idIndex"] == {"v": 2, "key": {"_id": 1}, "name": "_id_"}
    assert empty_database.list_collection_names(filter={"name": "two"}) == ["two"]
    names = empty_database.command("listCollections", nameOnly=True)["cursor"]["firstBatch"]
    assert sorted(found["name"] for found in names) == ["one", "two"]
    assert set(names[0]) == {"name", "type"}


def test_listing_in_batches(empty_database):
    for number in range(5):
        empty_database.create_collection(f"c{number}")
    answer = empty_database.command("listCollections", cursor={"batchSize": 2})["cursor"]
    assert len(answer["firstBatch"]) == 2
    rest = empty_database.command("getMore", answer["id"], collection="$cmd.listCollections")["cursor"]
    assert len(rest["nextBatch"]) == 3


def test_making_a_collection_again(empty_database):
    empty_database.create_collection("one")
    with pytest.raises(CollectionInvalid):
        empty_database.create_collection("one")
    assert empty_database.command("create", "one")["ok"] == 1.0
    with refused(48):
        empty_database.command("create", "one", validator={"a": 1})


def test_dropping(empty_database):
    notes = empty_database["notes"]
    notes.create_index("a")
    answer = empty_database.command("drop", "notes")
    assert answer["ns"] == notes.full_name
    assert answer["nIndexesWas"] == 2
    assert empty_database.command("drop", "notes")["ok"] == 1.0
    notes.insert_one({"_id": 1})
    notes.drop()
    assert list(notes.find()) == []
    notes.insert_one({"_id": 1})
    assert list(notes.index_information()) == ["_id_"]


def test_dropping_a_database(mongo, empty_database):
    empty_database["notes"].insert_one({})
    assert empty_database.command("dropDatabase")["dropped"] == empty_database.name
    assert "dropped" not in empty_database.command("dropDatabase")
    for name in ("admin", "config", "local"):
        if name != "local":
            with refused(20):
                mongo[name].command("dropDatabase")


def test_renaming(mongo, empty_database):
    notes = empty_database["notes"]
    notes.insert_many({"_id": number, "a": number} for number in range(10))
    notes.create_index("a")
    notes.rename("renamed")
    assert empty_database.list_collection_names() == ["renamed"]
    renamed = empty_database["renamed"]
    assert sorted(ids(renamed.find())) == list(range(10))
    assert set(renamed.index_information()) == {"_id_", "a_1"}
    with refused(26):
        notes.rename("other")
    notes.insert_one({"_id": "old"})
    with refused(48):
        renamed.rename("notes")
    renamed.rename("notes", dropTarget=True)
    assert notes.count_documents({}) == 10


NAMES = ["a", "a.b", "a b", "a-b", "é", "日本語", "A", "_x", "x" * 120, "system"]


@pytest.mark.parametrize("name", NAMES)
def test_a_collection_may_be_called(empty_database, name):
    made = empty_database[name]
    made.insert_one({"_id": 1})
    made.create_index("a")
    assert ids(made.find()) == [1]
    assert empty_database.list_collection_names() == [name]
    made.drop()


@pytest.mark.parametrize("name", ["", "$x", "a$b", ".a", "a.", "system.x", "x" * 255])
def test_a_collection_may_not_be_called(empty_database, name):
    with refused(73, 20, 13):
        empty_database.command("create", name)
    with refused(73, 20, 13):
        empty_database.command("insert", name, documents=[{}])


@pytest.mark.parametrize("name", ["x" * 64, "a*b", "a<b", "a|b", "a:b", "a?b"])
def test_a_database_may_not_be_called(mongo, name):
    # PyMongo refuses some names itself.
    with refused(73):
        mongo[name].command("create", "c")


def test_names_of_databases_differ_by_more_than_case(mongo):
    name = fresh("Case")
    mongo[name]["c"].insert_one({})
    with refused(13297):
        mongo[name.lower()]["c"].insert_one({})
    mongo.drop_database(name)


def test_what_is_not_made(empty_database):
    with refused(115, 72, 238):
        empty_database.create_collection("capped", capped=True, size=1000)
    with refused(40415):
        empty_database.command("create", "x", nonsense=1)


SCHEMA = {"$jsonSchema": {"required": ["name"], "properties": {"age": {"bsonType": "int", "minimum": 0}}}}


def test_a_validator(empty_database):
    people = empty_database.create_collection("people", validator=SCHEMA)
    people.insert_one({"_id": 1, "name": "Ann", "age": 5})
    with refused(121) as caught:
        people.insert_one({"_id": 2, "age": 5})
    assert caught.value.details["errInfo"]["failingDocumentId"] == 2
    with refused(121):
        people.update_one({"_id": 1}, {"$set": {"age": -1}})
    people.insert_one({"_id": 3}, bypass_document_validation=True)
    (listed,) = empty_database.list_collections()
    assert listed["options"]["validator"] == SCHEMA
    empty_database.command("collMod", "people", validator={}, validationLevel="off")
    people.insert_one({"_id": 4})


def test_a_view(empty_database):
    people = empty_database["people"]
    people.insert_many([{"_id": 1, "age": 5}, {"_id": 2, "age": 50}])
    adults = empty_database.create_collection("adults", viewOn="people", pipeline=[{"$match": {"age": {"$gte": 18}}}])
    assert ids(adults.find()) == [2]
    assert adults.count_documents({}) == 1
    assert [one["a"] for one in adults.aggregate([{"$project": {"a": "$age"}}])] == [50]
    with refused(166):
        adults.insert_one({})
    (listed,) = empty_database.list_collections(filter={"name": "adults"})
    assert listed["type"] == "view"
    assert listed["options"]["viewOn"] == "people"


def test_statistics(empty_database):
    notes = empty_database["notes"]
    notes.insert_many({"_id": number, "text": "x" * 100} for number in range(10))
    stats = empty_database.command("collStats", "notes")
    assert stats["ns"] == notes.full_name
    assert stats["count"] == 10
    assert stats["size"] >= 1000
    assert stats["nindexes"] == 1
    stats = empty_database.command("dbStats")
    assert stats["db"] == empty_database.name
    assert stats["collections"] == 1
    assert stats["objects"] == 10
    assert empty_database.validate_collection("notes")["valid"] is True


def test_a_clustered_collection(empty_database):
    empty_database.create_collection("clustered", clusteredIndex={"key": {"_id": 1}, "unique": True, "name": "by id"})
    clustered = empty_database["clustered"]
    clustered.insert_many([{"_id": 2}, {"_id": 1}])
    options = next(empty_database.list_collections(filter={"name": "clustered"}))["options"]
    assert options["clusteredIndex"] == {"v": 2, "key": {"_id": 1}, "name": "by id", "unique": True}
    assert [(index["name"], index["clustered"]) for index in clustered.list_indexes()] == [("by id", True)]
    assert clustered.find_one({"_id": 1}, hint="by id") == {"_id": 1}
    for wrong in ({"key": {"a": 1}, "unique": True}, {"key": {"_id": 1}, "unique": False}, {"key": {"_id": -1}}):
        with refused(197):
            empty_database.create_collection("other", clusteredIndex=wrong)
