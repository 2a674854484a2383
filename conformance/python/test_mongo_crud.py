"""Documents: insert, find, replace, update, delete, count, each with what its answer says."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from bson import Int64, ObjectId, Timestamp
from pymongo import ReturnDocument, WriteConcern
from pymongo.errors import DuplicateKeyError, InvalidOperation
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import make_read_preference, read_pref_mode_from_name

from mongo import ids, refused, wait_until


def test_a_document_lives_through_every_verb(collection):
    body = {"name": "Ann", "age": 39}
    inserted = collection.insert_one(body)
    assert inserted.acknowledged
    assert isinstance(inserted.inserted_id, ObjectId)
    assert collection.find_one({"_id": inserted.inserted_id}) == body
    replaced = collection.replace_one({"name": "Ann"}, {"name": "Ann", "age": 40})
    assert (replaced.matched_count, replaced.modified_count, replaced.upserted_id) == (1, 1, None)
    assert collection.find_one() == {"_id": inserted.inserted_id, "name": "Ann", "age": 40}
    updated = collection.update_one({"name": "Ann"}, {"$inc": {"age": 1}})
    assert (updated.matched_count, updated.modified_count) == (1, 1)
    assert collection.find_one()["age"] == 41
    assert collection.delete_one({"name": "Ann"}).deleted_count == 1
    assert collection.delete_one({"name": "Ann"}).deleted_count == 0
    assert collection.find_one() is None


def test_insert_many_keeps_the_order(collection):
    inserted = collection.insert_many([{"_id": number} for number in (3, 1, 2)])
    assert inserted.inserted_ids == [3, 1, 2]
    assert sorted(ids(collection.find())) == [1, 2, 3]


def test_many_documents_in_several_messages(collection):
    collection.insert_many({"_id": number, "text": "x" * 1000} for number in range(3000))
    assert collection.count_documents({}) == 3000
    assert sum(len(found["text"]) for found in collection.find()) == 3_000_000


def test_a_duplicate_is_told_in_the_words_of_the_server(collection):
    collection.insert_one({"_id": 1})
    with pytest.raises(DuplicateKeyError) as caught:
        collection.insert_one({"_id": 1})
    name = collection.full_name
    assert caught.value.code == 11000
    assert caught.value.details["errmsg"] == (
        f"E11000 duplicate key error collection: {name} index: _id_ dup key: {{ _id: 1 }}"
    )
    assert caught.value.details["keyPattern"] == {"_id": 1}
    assert caught.value.details["keyValue"] == {"_id": 1}
    with pytest.raises(DuplicateKeyError) as caught:
        collection.insert_one({"_id": 1.0})
    with pytest.raises(DuplicateKeyError) as caught:
        collection.insert_many([{"_id": "t"}]), collection.insert_one({"_id": "t"})
    assert 'dup key: { _id: "t" }' in caught.value.details["errmsg"]


def test_update_many(collection):
    collection.insert_many({"_id": number, "n": number} for number in range(10))
    updated = collection.update_many({"n": {"$gte": 5}}, {"$set": {"big": True}})
    assert (updated.matched_count, updated.modified_count) == (5, 5)
    updated = collection.update_many({"n": {"$gte": 4}}, {"$set": {"big": True}})
    assert (updated.matched_count, updated.modified_count) == (6, 1)
    updated = collection.update_many({"n": 99}, {"$set": {"big": True}})
    assert (updated.matched_count, updated.modified_count) == (0, 0)
    assert collection.delete_many({"big": True}).deleted_count == 6
    assert collection.delete_many({}).deleted_count == 4


def test_only_one_is_updated_or_deleted(collection):
    collection.insert_many({"_id": number, "a": 1} for number in range(5))
    assert collection.update_one({"a": 1}, {"$set": {"a": 2}}).modified_count == 1
    assert collection.count_documents({"a": 2}) == 1
    assert collection.delete_one({"a": 1}).deleted_count == 1
    assert collection.count_documents({}) == 4


def test_upserts(collection):
    upserted = collection.update_one({"_id": 1, "a": 5}, {"$set": {"b": 2}, "$setOnInsert": {"c": 3}}, upsert=True)
    assert (upserted.matched_count, upserted.modified_count, upserted.upserted_id) == (0, 0, 1)
    assert collection.find_one() == {"_id": 1, "a": 5, "b": 2, "c": 3}
    again = collection.update_one({"_id": 1}, {"$set": {"b": 3}, "$setOnInsert": {"c": 9}}, upsert=True)
    assert (again.matched_count, again.modified_count, again.upserted_id) == (1, 1, None)
    assert collection.find_one() == {"_id": 1, "a": 5, "b": 3, "c": 3}
    replaced = collection.replace_one({"x": 7}, {"y": 8}, upsert=True)
    assert isinstance(replaced.upserted_id, ObjectId)
    assert collection.find_one({"y": 8}) == {"_id": replaced.upserted_id, "y": 8}
    assert collection.replace_one({"_id": "k"}, {"y": 9}, upsert=True).upserted_id == "k"


def test_replacing_keeps_the_id(collection):
    collection.insert_one({"_id": 1, "a": 1})
    with refused(66):
        collection.replace_one({"_id": 1}, {"_id": 2, "a": 2})
    assert collection.replace_one({"_id": 1}, {"_id": 1, "z": 1, "a": 2}).modified_count == 1
    assert list(collection.find_one()) == ["_id", "z", "a"]
    same = collection.replace_one({"_id": 1}, {"_id": 1, "z": 1, "a": 2})
    assert (same.matched_count, same.modified_count) == (1, 0)


def test_counts(collection):
    assert collection.count_documents({}) == 0
    assert collection.estimated_document_count() == 0
    collection.insert_many({"_id": number, "a": number % 3} for number in range(30))
    assert collection.estimated_document_count() == 30
    assert collection.count_documents({"a": 1}) == 10
    assert collection.count_documents({"a": 1}, skip=3) == 7
    assert collection.count_documents({"a": 1}, limit=4) == 4
    assert collection.count_documents({"a": 1}, skip=20) == 0
    command = collection.database.command
    assert command("count", collection.name)["n"] == 30
    assert command("count", collection.name, query={"a": 1}, skip=8, limit=5)["n"] == 2
    assert command("count", collection.name, query={"a": 1}, limit=-4)["n"] == 4
    assert command("count", "no-such-collection")["n"] == 0


def test_find_on_nothing(mongo_database):
    missing = mongo_database["no-such-collection"]
    assert list(missing.find()) == []
    assert missing.find_one() is None
    assert missing.delete_many({}).deleted_count == 0
    assert missing.update_many({}, {"$set": {"a": 1}}).matched_count == 0
    assert missing.find_one_and_delete({}) is None
    assert missing.distinct("a") == []
    assert list(missing.aggregate([{"$match": {}}])) == []
    assert "no-such-collection" not in mongo_database.list_collection_names()


def test_unacknowledged_writes(collection):
    silent = collection.with_options(write_concern=WriteConcern(w=0))
    collection.insert_one({"_id": 0})
    for number in range(20):
        assert not silent.insert_one({"_id": number}).acknowledged
    silent.update_one({"_id": 5}, {"$set": {"a": 1}})
    silent.delete_one({"_id": 6})
    # A stray answer would be taken for the next command's.
    for _ in range(3):
        assert collection.database.command("ping")["ok"] == 1.0
    wait_until(lambda: collection.count_documents({}) == 19 and collection.count_documents({"a": 1}) == 1)
    with pytest.raises(InvalidOperation):
        silent.delete_one({"_id": 1}).deleted_count  # noqa: B018


@pytest.mark.parametrize("concern", [{"w": 1}, {"w": "majority"}, {"w": 1, "j": True}, {"w": 1, "wtimeout": 1000}])
def test_write_concerns_are_met(collection, concern):
    sure = collection.with_options(write_concern=WriteConcern(**concern))
    assert sure.insert_one({"_id": 1}).acknowledged
    assert sure.update_one({"_id": 1}, {"$set": {"a": 1}}).modified_count == 1
    assert sure.delete_one({"_id": 1}).deleted_count == 1


@pytest.mark.parametrize("level", ["local", "available", "majority", "linearizable"])
def test_read_concerns_are_met(collection, level):
    collection.insert_one({"_id": 1})
    assert ids(collection.with_options(read_concern=ReadConcern(level)).find()) == [1]


def test_a_snapshot_tells_its_moment(collection):
    collection.insert_one({"_id": 1})
    assert ids(collection.with_options(read_concern=ReadConcern("snapshot")).find()) == [1]
    answer = collection.database.command("find", collection.name, readConcern={"level": "snapshot"})
    assert isinstance(answer["cursor"]["atClusterTime"], Timestamp)
    answer = collection.database.command("distinct", collection.name, key="_id", readConcern={"level": "snapshot"})
    assert isinstance(answer["atClusterTime"], Timestamp)


def test_an_unknown_read_concern_is_refused(collection):
    with refused(9, 2):
        collection.database.command("find", collection.name, readConcern={"level": "nonsense"})


@pytest.mark.parametrize("mode", ["primary", "primaryPreferred", "secondaryPreferred", "nearest"])
def test_reads_go_where_they_may(collection, mode):
    collection.insert_one({"_id": 1})
    preference = make_read_preference(read_pref_mode_from_name(mode), None)
    assert ids(collection.with_options(read_preference=preference).find()) == [1]


FIELDS = ["nonsense", "filters", "Filter"]


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_no_command_has_is_refused(collection, field):
    with refused(40415, text=f"BSON field 'find.{field}' is an unknown field."):
        collection.database.command("find", collection.name, **{field: 1})


WRONG = [
    ({"find": 1}, {2, 73}),
    ({"find": ""}, {73}),
    ({"find": "c", "filter": 1}, {14}),
    ({"find": "c", "limit": -1}, {51024}),
    ({"find": "c", "skip": -1}, {51024}),
    ({"find": "c", "batchSize": -1}, {51024}),
    ({"find": "c", "limit": "1"}, {14}),
    ({"find": "c", "maxTimeMS": -1}, {2, 51024}),
    ({"find": "c", "tailable": True}, {2, 72}),
    ({"insert": "c"}, {40414, 9}),
    ({"insert": "c", "documents": []}, {16}),
    ({"insert": "$c", "documents": [{}]}, {73}),
    ({"insert": "a..b$", "documents": [{}]}, {73}),
    ({"update": "c"}, {40414, 9}),
    ({"update": "c", "updates": []}, {16}),
    ({"update": "c", "updates": [{"q": {}}]}, {40414, 9}),
    ({"update": "c", "updates": [{"u": {}}]}, {40414, 9}),
    ({"update": "c", "updates": [{"q": {}, "u": {"a": 1}, "multi": True}]}, {9}),
    ({"update": "c", "updates": [{"q": {}, "u": 1}]}, {9, 14}),
    ({"delete": "c", "deletes": [{"q": {}}]}, {40414, 9}),
    ({"delete": "c", "deletes": [{"q": {}, "limit": 7}]}, {9}),
    ({"delete": "c", "deletes": []}, {16}),
    ({"distinct": "c"}, {40414, 9}),
    ({"distinct": "c", "key": 1}, {14}),
    ({"aggregate": "c", "pipeline": []}, {9}),
    ({"aggregate": "c", "pipeline": 1, "cursor": {}}, {14}),
    ({"aggregate": "c", "cursor": {}}, {40414, 9}),
    ({"findAndModify": "c", "query": {}}, {9}),
    ({"findAndModify": "c", "remove": True, "update": {}}, {9}),
    ({"findAndModify": "c", "remove": True, "new": True}, {9}),
    ({"findAndModify": "c", "remove": True, "upsert": True}, {9}),
    ({"count": "c", "skip": -1}, {51024}),
    ({"nonsense": 1}, {59}),
    ({"mapReduce": "c", "map": "x", "reduce": "y", "out": {"inline": 1}}, {115, 238}),
    ({"find": "c", "readConcern": {"level": 5}}, {14, 9, 2}),
    ({"find": "c", "$readPreference": {"mode": "nonsense"}}, {9, 2}),
]


@pytest.mark.parametrize(("command", "codes"), WRONG, ids=[str(row[0]) for row in WRONG])
def test_a_wrong_command_is_refused(empty_database, command, codes):
    answer = empty_database.command(command, check=False)
    # Some are statements that fail, and the command is a success.
    failed = answer.get("writeErrors") or [answer]
    assert failed[0].get("code") in codes, answer


def test_time_runs_out(collection):
    collection.insert_many({"_id": number} for number in range(100))
    assert len(list(collection.find().max_time_ms(60_000))) == 100
    slow = [{"$lookup": {"from": collection.name, "pipeline": [], "as": f"l{level}"}} for level in range(2)]
    slow += [{"$unwind": "$l0"}, {"$unwind": "$l1"}, {"$group": {"_id": None, "n": {"$sum": 1}}}]
    with refused(50):
        list(collection.aggregate(slow, maxTimeMS=1))


def test_find_one_and(collection):
    collection.insert_many({"_id": number, "n": number} for number in range(5))
    assert collection.find_one_and_update({"n": 3}, {"$set": {"x": 1}}) == {"_id": 3, "n": 3}
    assert collection.find_one_and_update({"n": 3}, {"$inc": {"x": 1}}, return_document=ReturnDocument.AFTER) == {
        "_id": 3,
        "n": 3,
        "x": 2,
    }
    assert collection.find_one_and_update({}, {"$set": {"y": 1}}, sort=[("n", -1)], projection={"n": 1, "_id": 0}) == {
        "n": 4
    }
    assert collection.find_one_and_replace({"n": 0}, {"z": 1}, return_document=ReturnDocument.AFTER) == {
        "_id": 0,
        "z": 1,
    }
    assert collection.find_one_and_delete({}, sort=[("_id", -1)]) == {"_id": 4, "n": 4, "y": 1}
    assert collection.find_one_and_delete({"n": 99}) is None
    assert collection.find_one_and_update({"n": 99}, {"$set": {"x": 1}}) is None


def test_find_and_modify_says_what_it_did(collection):
    def modify(**arguments):
        answer = collection.database.command("findAndModify", collection.name, **arguments)
        return answer["value"], answer["lastErrorObject"]

    assert modify(query={"_id": 1}, update={"$set": {"a": 1}}) == (None, {"n": 0, "updatedExisting": False})
    assert modify(query={"_id": 1}, update={"$set": {"a": 1}}, upsert=True) == (
        None,
        {"n": 1, "updatedExisting": False, "upserted": 1},
    )
    assert modify(query={"_id": 2}, update={"$set": {"a": 1}}, upsert=True, new=True) == (
        {"_id": 2, "a": 1},
        {"n": 1, "updatedExisting": False, "upserted": 2},
    )
    assert modify(query={"_id": 1}, update={"$set": {"a": 2}}) == (
        {"_id": 1, "a": 1},
        {"n": 1, "updatedExisting": True},
    )
    assert modify(query={"_id": 1}, update={"$set": {"a": 2}}, new=True, fields={"a": 1, "_id": 0}) == (
        {"a": 2},
        {"n": 1, "updatedExisting": True},
    )
    assert modify(query={"_id": 1}, remove=True) == ({"_id": 1, "a": 2}, {"n": 1})
    assert modify(query={"_id": 1}, remove=True) == (None, {"n": 0})
    assert modify(query={"_id": 2}, update=[{"$set": {"b": {"$add": ["$a", 1]}}}], new=True)[0] == {
        "_id": 2,
        "a": 1,
        "b": 2,
    }


def test_find_and_modify_sorts_by_several_keys(collection):
    collection.insert_many({"_id": f"{a}{b}", "a": a, "b": b} for a in (1, 2) for b in (1, 2))
    taken = [collection.find_one_and_delete({}, sort=[("a", -1), ("b", 1)])["_id"] for _ in range(4)]
    assert taken == ["21", "22", "11", "12"]


def test_find_and_modify_takes_each_once(mongo_server, collection):
    collection.insert_many({"_id": number, "taken": False} for number in range(100))

    def take(_):
        mine = []
        while (found := collection.find_one_and_update({"taken": False}, {"$set": {"taken": True}})) is not None:
            mine.append(found["_id"])
        return mine

    with ThreadPoolExecutor(4) as threads:
        taken = [key for mine in threads.map(take, range(4)) for key in mine]
    assert sorted(taken) == list(range(100))


def test_no_increment_is_lost(collection):
    collection.insert_one({"_id": 1, "n": 0})

    def add(_):
        for _ in range(50):
            assert collection.update_one({"_id": 1}, {"$inc": {"n": 1}}).modified_count == 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add, range(8)))
    assert collection.find_one()["n"] == 400


def test_upserts_of_one_key_meet(collection):
    def count(key):
        collection.update_one({"_id": key % 10}, {"$inc": {"n": 1}}, upsert=True)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(200)))
    assert [found["n"] for found in collection.find()] == [20] * 10


def test_comments_of_every_type(collection):
    for comment in ("why", {"a": 1}, 5, [1]):
        collection.insert_one({}, comment=comment)
        assert collection.find_one({}, comment=comment)
        collection.update_one({}, {"$set": {"a": 1}}, comment=comment)
        assert list(collection.aggregate([], comment=comment))
        collection.delete_one({}, comment=comment)


def test_large_messages(collection):
    collection.insert_many({"_id": number, "text": "x" * 1_000_000} for number in range(40))
    assert sum(1 for _ in collection.find()) == 40
    assert collection.count_documents({"text": {"$gte": "x"}}) == 40


def test_the_size_of_a_batch_is_limited(collection):
    answer = collection.database.command("insert", collection.name, documents=[{}] * 100_001, check=False)
    assert answer["code"] == 16


def test_counts_are_of_the_types_clients_expect(collection):
    answer = collection.database.command("insert", collection.name, documents=[{"_id": 1}])
    assert answer["n"] == 1
    assert not isinstance(answer["n"], (Int64, float))
    answer = collection.database.command("update", collection.name, updates=[{"q": {}, "u": {"$set": {"a": 1}}}])
    assert (answer["n"], answer["nModified"]) == (1, 1)
    answer = collection.database.command("delete", collection.name, deletes=[{"q": {}, "limit": 0}])
    assert answer["n"] == 1
