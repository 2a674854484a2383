"""Many statements at once, and how their failures are told."""

import pytest
from bson import ObjectId
from pymongo import DeleteMany, DeleteOne, InsertOne, ReplaceOne, UpdateMany, UpdateOne
from pymongo.errors import BulkWriteError

from mongo import codes, ids


def test_a_mixture(collection):
    result = collection.bulk_write(
        [
            InsertOne({"_id": 1, "a": 1}),
            InsertOne({"_id": 2, "a": 1}),
            UpdateOne({"_id": 1}, {"$set": {"a": 2}}),
            UpdateMany({}, {"$inc": {"n": 1}}),
            UpdateOne({"_id": 3}, {"$set": {"a": 3}}, upsert=True),
            ReplaceOne({"_id": 2}, {"b": 1}),
            ReplaceOne({"x": 1}, {"y": 1}, upsert=True),
            DeleteOne({"_id": 1}),
            DeleteMany({"a": 3}),
        ]
    )
    assert result.inserted_count == 2
    assert result.matched_count == 4
    assert result.modified_count == 4
    assert result.deleted_count == 2
    assert result.upserted_count == 2
    assert result.upserted_ids[4] == 3
    assert isinstance(result.upserted_ids[6], ObjectId)
    assert sorted(collection.find({}, {"_id": 0}), key=str) == [{"b": 1}, {"y": 1}]


def test_an_ordered_batch_stops(collection):
    with pytest.raises(BulkWriteError) as caught:
        collection.insert_many([{"_id": 1}, {"_id": 1}, {"_id": 2}])
    assert codes(caught.value) == [(1, 11000)]
    assert caught.value.details["nInserted"] == 1
    assert ids(collection.find()) == [1]


def test_an_unordered_batch_goes_on(collection):
    with pytest.raises(BulkWriteError) as caught:
        collection.insert_many([{"_id": 1}, {"_id": 1}, {"_id": 2}, {"_id": 2}, {"_id": 3}], ordered=False)
    assert codes(caught.value) == [(1, 11000), (3, 11000)]
    assert caught.value.details["nInserted"] == 3
    assert sorted(ids(collection.find())) == [1, 2, 3]


def test_the_shape_of_a_failure(collection):
    collection.insert_one({"_id": 1})
    answer = collection.database.command(
        "insert", collection.name, documents=[{"_id": 0}, {"_id": 1}, {"_id": 2}], ordered=True
    )
    assert answer["ok"] == 1.0
    assert answer["n"] == 1
    (failed,) = answer["writeErrors"]
    assert failed["index"] == 1
    assert failed["code"] == 11000
    assert failed["keyPattern"] == {"_id": 1}
    assert failed["keyValue"] == {"_id": 1}
    assert failed["errmsg"].startswith("E11000 duplicate key error collection: ")


def test_updates_that_fail_in_the_middle(collection):
    collection.insert_many([{"_id": 1, "a": 1}, {"_id": 2, "a": "x"}, {"_id": 3, "a": 3}])
    statements = [{"q": {"_id": key}, "u": {"$inc": {"a": 1}}} for key in (1, 2, 3)]
    answer = collection.database.command("update", collection.name, updates=statements)
    assert (answer["n"], answer["nModified"]) == (1, 1)
    assert [(failed["index"], failed["code"]) for failed in answer["writeErrors"]] == [(1, 14)]
    answer = collection.database.command("update", collection.name, updates=statements, ordered=False)
    assert (answer["n"], answer["nModified"]) == (2, 2)
    assert [(failed["index"], failed["code"]) for failed in answer["writeErrors"]] == [(1, 14)]
    assert [found["a"] for found in collection.find(sort=[("_id", 1)])] == [3, "x", 4]


def test_upserts_are_told_by_their_position(collection):
    statements = [
        {"q": {"_id": "a"}, "u": {"$set": {"n": 1}}, "upsert": True},
        {"q": {"_id": "a"}, "u": {"$set": {"n": 2}}, "upsert": True},
        {"q": {"_id": "b"}, "u": {"n": 3}, "upsert": True},
    ]
    answer = collection.database.command("update", collection.name, updates=statements)
    assert (answer["n"], answer["nModified"]) == (3, 1)
    assert answer["upserted"] == [{"index": 0, "_id": "a"}, {"index": 2, "_id": "b"}]


def test_a_mistake_in_any_statement_stops_the_whole_command(collection):
    deletes = [{"q": {"_id": 1}, "limit": 1}, {"q": {}, "limit": 7}]
    collection.insert_one({"_id": 1})
    answer = collection.database.command("delete", collection.name, deletes=deletes, check=False)
    assert (answer["ok"], answer["code"]) == (0.0, 9)
    assert collection.count_documents({}) == 1


def test_a_wrong_filter_or_update_is_the_failure_of_its_statement(collection):
    collection.insert_many([{"_id": 1}, {"_id": 2}])
    database, name = collection.database, collection.name
    updates = [
        {"q": {"_id": 1}, "u": {"$set": {"a": 1}}},
        {"q": {"_id": 2}, "u": {"$unknown": {"a": 1}}},
        {"q": {"_id": {"$unknown": 1}}, "u": {"$set": {"a": 1}}},
        {"q": {"_id": 2}, "u": {"$set": {"a": 1}}},
    ]
    answer = database.command("update", name, updates=updates)
    assert (answer["ok"], answer["n"]) == (1.0, 1)
    assert [(error["index"], error["code"]) for error in answer["writeErrors"]] == [(1, 9)]
    answer = database.command("update", name, updates=updates, ordered=False)
    assert [(error["index"], error["code"]) for error in answer["writeErrors"]] == [(1, 9), (2, 2)]
    assert answer["n"] == 2
    deletes = [{"q": {"_id": {"$unknown": 1}}, "limit": 1}, {"q": {"_id": 1}, "limit": 1}]
    answer = database.command("delete", name, deletes=deletes, ordered=False)
    assert [(error["index"], error["code"]) for error in answer["writeErrors"]] == [(0, 2)]
    assert answer["n"] == 1
    # Also where there is no collection.
    answer = database.command("delete", "nothing", deletes=deletes)
    assert [(error["index"], error["code"]) for error in answer["writeErrors"]] == [(0, 2)]


def test_deletes_of_a_batch(collection):
    collection.insert_many({"_id": number, "a": number % 2} for number in range(10))
    answer = collection.database.command(
        "delete", collection.name, deletes=[{"q": {"a": 1}, "limit": 1}, {"q": {"a": 0}, "limit": 0}]
    )
    assert answer["n"] == 6
    assert collection.count_documents({}) == 4


@pytest.mark.parametrize("ordered", [True, False])
def test_thousands_at_once(collection, ordered):
    collection.insert_many(({"_id": number, "n": 0} for number in range(5000)), ordered=ordered)
    result = collection.bulk_write(
        [UpdateOne({"_id": number}, {"$inc": {"n": number}}) for number in range(2000)], ordered=ordered
    )
    assert result.matched_count == 2000
    # Adding nothing to the first is no change.
    assert result.modified_count == 1999
    assert collection.count_documents({"n": {"$gt": 0}}) == 1999


def test_unique_keys_fail_by_statement(collection):
    collection.create_index("email", unique=True)
    with pytest.raises(BulkWriteError) as caught:
        collection.insert_many(
            [{"_id": 1, "email": "a"}, {"_id": 2, "email": "a"}, {"_id": 3, "email": "b"}], ordered=False
        )
    (failed,) = caught.value.details["writeErrors"]
    assert (failed["index"], failed["code"]) == (1, 11000)
    assert failed["keyPattern"] == {"email": 1}
    assert failed["keyValue"] == {"email": "a"}
    assert 'index: email_1 dup key: { email: "a" }' in failed["errmsg"]
    assert sorted(ids(collection.find())) == [1, 3]


def test_a_document_too_large_is_refused_alone(collection):
    large = {"_id": 2, "text": "x" * (16 * 1024 * 1024 - 1000)}
    answer = collection.database.command(
        "insert", collection.name, documents=[{"_id": 1}, {"_id": 3}], ordered=False, check=False
    )
    assert answer["n"] == 2
    # Whether the engine stores sixteen megabytes or fewer, the answer is a document or a code.
    answer = collection.database.command("insert", collection.name, documents=[large], check=False)
    failed = answer.get("writeErrors") or [answer]
    assert answer.get("n") == 1 or failed[0]["code"] in {10334, 17419, 17280, 16}, answer
