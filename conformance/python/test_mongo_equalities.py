"""A find by one equality: the same documents at the same price, whether the index alone finds them or a query does."""

from datetime import datetime

import pytest
from bson import Binary, Decimal128, Int64, ObjectId, Regex

from test_mongo_charges import last

OID = ObjectId("64b0f0f0f0f0f0f0f0f0f0f0")
LONG = "x" * 3_000
VALUES = [
    "red",
    "",
    "ré",
    LONG + "a",
    LONG + "b",
    0,
    1,
    Int64(1),
    1.0,
    -0.0,
    1.5,
    2**53 + 1,
    Decimal128("1"),
    True,
    False,
    None,
    OID,
    datetime(2026, 1, 2, 3, 4, 5),
    Binary(b"\x00\x01"),
    {"b": 1},
    ["red"],
    [["red"]],
    [],
    Regex("^re"),
    float("nan"),
]


def without_index(collection, value) -> list:
    """The ids of the documents with a value, found by looking at each."""
    found = collection.aggregate([{"$match": {"$nor": [{"a": {"$ne": value}}]}}])
    return sorted(document["_id"] for document in found)


@pytest.fixture
def filled(collection):
    """Every value alone, in an array, in an array of arrays, in an object, twice in an array; and one without it."""
    documents = [{"_id": -1}]
    for number, value in enumerate(VALUES):
        shapes = [value, [value, "other"], [[value]], {"a": value}, [value, value]]
        documents += [{"_id": number * 10 + place, "a": shape} for place, shape in enumerate(shapes)]
    collection.insert_many(documents)
    return collection


@pytest.mark.parametrize("value", [value for value in VALUES if not isinstance(value, Regex)], ids=str)
def test_every_value_is_found_as_by_looking_at_each_document(filled, value):
    found = [document["_id"] for document in filled.find({"a": value})]
    assert sorted(found) == without_index(filled, value)
    assert found


@pytest.mark.parametrize("value", ["red", 1, OID, LONG + "a", True, "nowhere"], ids=str)
def test_it_costs_what_the_query_does(mongo, filled, value):
    with mongo.start_session() as session:
        alone = list(filled.find({"a": value}, session=session))
        price = last(session)["RequestCharge"]
        queried = list(filled.find({"a": {"$in": [value]}}, session=session))
        assert sorted(alone, key=lambda one: one["_id"]) == sorted(queried, key=lambda one: one["_id"])
        assert price == last(session)["RequestCharge"]


def test_few_and_many(collection):
    collection.insert_many(
        {"_id": number, "a": "many" if number % 2 else "few"[: 1 + number % 3]} for number in range(300)
    )
    collection.insert_many({"_id": 1_000 + number, "a": ["many", number]} for number in range(10))
    assert collection.count_documents({"a": "many"}) == 160
    assert sorted(document["_id"] for document in collection.find({"a": "many"})) == [
        *range(1, 300, 2),
        *range(1_000, 1_010),
    ]
    for value in ["many", "f"]:
        whole = [document["_id"] for document in collection.find({"a": value})]
        for skip, limit in [(0, 1), (1, 1), (0, 3), (5, 40), (1_000, 1), (2, 0)]:
            part = [document["_id"] for document in collection.find({"a": value}).skip(skip).limit(limit)]
            assert len(part) == len(whole[skip : skip + limit if limit else None])
            assert set(part) <= set(whole)
    assert len(list(collection.find({"a": 7}).skip(1))) == 0
    assert [one["_id"] for one in collection.find({"a": 7}).batch_size(1)] == [1_007]
    assert len(list(collection.find({"a": "few"}).batch_size(2))) == 50


def test_one_of_many_costs_what_it_costs_the_query(mongo, collection):
    collection.insert_many({"_id": number, "a": "same", "text": "x" * 1_000} for number in range(30))
    with mongo.start_session() as session:
        assert collection.find_one({"a": "same"}, session=session) is not None
        one = last(session)["RequestCharge"]
        assert collection.find_one({"a": {"$in": ["same"]}}, session=session) is not None
        assert one == last(session)["RequestCharge"]
        assert len(list(collection.find({"a": "same"}, session=session))) == 30
        assert one < last(session)["RequestCharge"]


def test_projections_know_which_element_matched(collection):
    collection.insert_one({"_id": 1, "a": ["x", "y", "z"], "b": 1, "c": 2})
    assert collection.find_one({"a": "y"}, {"a.$": 1}) == {"_id": 1, "a": ["y"]}
    assert collection.find_one({"a": "y"}, {"_id": 0, "b": 1}) == {"b": 1}
    assert collection.find_one({"a": "y"}, {"sum": {"$add": ["$b", "$c"]}})["sum"] == 3


def test_what_a_transaction_wrote_is_found(mongo, collection):
    collection.insert_one({"_id": 1, "a": "old"})
    with mongo.start_session() as session, session.start_transaction():
        collection.update_one({"_id": 1}, {"$set": {"a": "new"}}, session=session)
        assert [one["_id"] for one in collection.find({"a": "new"}, session=session)] == [1]
        assert list(collection.find({"a": "old"}, session=session)) == []


def test_what_was_written_is_found_at_once(collection):
    collection.insert_one({"_id": 1, "a": 0})
    for number in range(1, 50):
        collection.update_one({"_id": 1}, {"$set": {"a": number}})
        assert collection.find_one({"a": number}) == {"_id": 1, "a": number}
        assert collection.find_one({"a": number - 1}) is None


def test_a_collection_whose_documents_are_spread(mongo_database):
    mongo_database.command({"customAction": "CreateCollection", "collection": "spread", "shardKey": "k"})
    spread = mongo_database["spread"]
    spread.insert_many({"_id": number, "k": f"k{number % 7}", "a": number % 5} for number in range(70))
    assert sorted(one["_id"] for one in spread.find({"a": 3})) == list(range(3, 70, 5))
    assert sorted(one["_id"] for one in spread.find({"k": "k2"})) == list(range(2, 70, 7))
    assert sorted(one["_id"] for one in spread.find({"a": 3, "k": "k2"})) == [23, 58]
