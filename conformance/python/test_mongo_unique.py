"""Unique indexes over documents that are there: made, refused, dropped; sparse ones; beside writers; after a restart."""

import threading

import pytest
from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError, OperationFailure

from mongo import refused


def names(collection) -> set[str]:
    return set(collection.index_information())


def test_a_unique_index_over_documents(collection):
    collection.insert_many({"_id": number, "a": number, "b": number % 3} for number in range(500))
    collection.create_index("a", unique=True)
    assert names(collection) == {"_id_", "a_1"}
    with pytest.raises(DuplicateKeyError) as caught:
        collection.insert_one({"_id": 1000, "a": 77})
    assert "index: a_1 dup key: { a: 77 }" in caught.value.details["errmsg"]
    collection.delete_one({"_id": 77})
    collection.insert_one({"_id": 1000, "a": 77})
    with refused(11000):
        collection.update_one({"_id": 1000}, {"$set": {"a": 78}})
    collection.update_one({"_id": 1000}, {"$set": {"b": 5}})
    assert collection.count_documents({}) == 500


def test_duplicates_keep_an_index_from_being(collection):
    collection.insert_many([{"_id": 1, "a": 1}, {"_id": 2, "a": "x"}, {"_id": 3, "a": 1.0}])
    with refused(11000, text=f"E11000 duplicate key error collection: {collection.full_name} index: a_1 dup key:"):
        collection.create_index("a", unique=True)
    assert names(collection) == {"_id_"}
    collection.insert_one({"_id": 4, "a": "x"})
    with refused(11000):
        collection.create_indexes([IndexModel("b"), IndexModel("a", unique=True)])
    assert names(collection) == {"_id_"}
    collection.delete_many({"_id": {"$in": [3, 4]}})
    collection.create_index("a", unique=True)
    with refused(11000):
        collection.insert_one({"_id": 5, "a": "x"})


def test_documents_that_lack_the_field_have_null(collection):
    collection.insert_many([{"_id": 1}, {"_id": 2, "a": None}])
    with refused(11000, text="dup key: { a: null }"):
        collection.create_index("a", unique=True)
    collection.delete_one({"_id": 2})
    collection.create_index("a", unique=True)
    with refused(11000):
        collection.insert_one({"_id": 3})


def test_a_dropped_index_lets_duplicates_in(collection):
    collection.insert_many({"_id": number, "a": number} for number in range(300))
    collection.create_index("a", unique=True)
    collection.create_index("b", unique=True, sparse=True)
    collection.drop_index("a_1")
    collection.insert_one({"_id": 1000, "a": 7, "b": 1})
    with refused(11000):
        collection.insert_one({"_id": 1001, "b": 1})
    with refused(11000):
        collection.create_index("a", unique=True)
    collection.delete_one({"_id": 7})
    collection.create_index("a", unique=True)
    with refused(11000):
        collection.insert_one({"_id": 1001, "a": 7})
    collection.drop_indexes()
    collection.insert_one({"_id": 1001, "a": 7, "b": 1})
    assert names(collection) == {"_id_"}


def test_a_sparse_index_leaves_documents_out(collection):
    collection.insert_many([{"_id": 1}, {"_id": 2}, {"_id": 3, "a": 1}])
    with refused(11000):
        collection.create_index("a", unique=True)
    collection.create_index("a", unique=True, sparse=True)
    collection.insert_one({"_id": 4})
    with refused(11000):
        collection.insert_one({"_id": 5, "a": 1})
    collection.insert_one({"_id": 5, "a": None})
    with refused(11000):
        collection.insert_one({"_id": 6, "a": None})
    collection.update_one({"_id": 3}, {"$unset": {"a": 1}})
    collection.insert_one({"_id": 6, "a": 1})


def test_a_sparse_index_of_a_new_collection(collection):
    collection.create_index([("a", 1), ("b", 1)], unique=True, sparse=True)
    collection.insert_many([{"_id": 1}, {"_id": 2}, {"_id": 3, "a": 1}, {"_id": 4, "b": 1}])
    with refused(11000):
        collection.insert_one({"_id": 5, "b": 1})


def test_a_partial_index_is_not_unique(collection):
    with refused(67, text="partialFilterExpression"):
        collection.create_index("a", unique=True, partialFilterExpression={"b": True})


def test_no_duplicate_slips_in_beside_writers(collection):
    collection.insert_many({"_id": number, "a": number} for number in range(2000))
    stop = threading.Event()

    def write(seed: int) -> None:
        number = seed
        while not stop.is_set():
            number = (number * 31 + 7) % 2100
            try:
                value = number if number % 5 else (number * 7) % 2100
                collection.update_one({"_id": number}, {"$set": {"a": value}}, upsert=True)
            except DuplicateKeyError:
                pass

    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(3)]
    for writer in writers:
        writer.start()
    try:
        try:
            collection.create_index("a", unique=True)
            is_made = True
        except OperationFailure as error:
            assert error.code == 11000
            is_made = False
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert ("a_1" in names(collection)) == is_made
    repeated = list(collection.aggregate([{"$group": {"_id": "$a", "n": {"$sum": 1}}}, {"$match": {"n": {"$gt": 1}}}]))
    assert not is_made or repeated == []


def test_sharded_collections(empty_database):
    empty_database.command({"shardCollection": f"{empty_database.name}.people", "key": {"city": "hashed"}})
    people = empty_database["people"]
    people.insert_many({"_id": number, "city": f"c{number % 20}", "a": number // 20} for number in range(400))
    with refused(67):
        people.create_index("a", unique=True)
    people.create_index([("city", 1), ("a", 1)], unique=True)
    with refused(11000):
        people.insert_one({"_id": 1000, "city": "c3", "a": 5})
    people.insert_one({"_id": 1000, "city": "other", "a": 5})
    people.drop_index("city_1_a_1")
    people.insert_one({"_id": 1001, "city": "other", "a": 5})
    assert names(people) == {"_id_"}
