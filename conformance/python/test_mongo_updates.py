"""Every update operator: what it makes of a document, what it counts, and what it refuses."""

import datetime

import bson
import pytest
from bson import Decimal128, Int64, ObjectId, Timestamp

from mongo import refused, stored_bytes

BIG = 2**63 - 1

# Before, update, after.
CHANGES = [
    ({"a": 1}, {"$set": {"a": 2}}, {"a": 2}),
    ({}, {"$set": {"b": 1, "a": 2}}, {"a": 2, "b": 1}),
    ({}, {"$set": {"a.b.c": 1}}, {"a": {"b": {"c": 1}}}),
    ({"a": {"x": 0}}, {"$set": {"a.b": 1}}, {"a": {"x": 0, "b": 1}}),
    ({"a": [1, 2]}, {"$set": {"a.1": 9}}, {"a": [1, 9]}),
    ({"a": [1]}, {"$set": {"a.3": 9}}, {"a": [1, None, None, 9]}),
    ({"a": [{"b": 1}]}, {"$set": {"a.0.b": 2}}, {"a": [{"b": 2}]}),
    ({"a": 1}, {"$set": {"a": 1.0}}, {"a": 1.0}),
    ({"a": 1, "b": 2}, {"$unset": {"a": ""}}, {"b": 2}),
    ({"a": {"b": 1, "c": 2}}, {"$unset": {"a.b": 1}}, {"a": {"c": 2}}),
    ({"a": [1, 2, 3]}, {"$unset": {"a.1": 1}}, {"a": [1, None, 3]}),
    ({"a": 1}, {"$inc": {"a": 2}}, {"a": 3}),
    ({"a": 1}, {"$inc": {"a": -2, "b": 5}}, {"a": -1, "b": 5}),
    ({"a": 1}, {"$inc": {"a": 1.5}}, {"a": 2.5}),
    ({"a": 1}, {"$inc": {"a": Int64(1)}}, {"a": Int64(2)}),
    ({"a": 1}, {"$inc": {"a": Decimal128("0.1")}}, {"a": Decimal128("1.1")}),
    ({"a": 2**31 - 1}, {"$inc": {"a": 1}}, {"a": Int64(2**31)}),
    ({"a": 3}, {"$mul": {"a": 4}}, {"a": 12}),
    ({"a": 3}, {"$mul": {"a": 0.5}}, {"a": 1.5}),
    ({}, {"$mul": {"a": 4}}, {"a": 0}),
    ({}, {"$mul": {"a": Int64(4)}}, {"a": Int64(0)}),
    ({}, {"$mul": {"a": 2.5}}, {"a": 0.0}),
    ({"a": 2**30}, {"$mul": {"a": 4}}, {"a": Int64(2**32)}),
    ({"a": 5}, {"$min": {"a": 3, "b": 1}}, {"a": 3, "b": 1}),
    ({"a": 5}, {"$min": {"a": None}}, {"a": None}),
    ({"a": 5}, {"$max": {"a": "text", "b": 1}}, {"a": "text", "b": 1}),
    ({"a": 5}, {"$max": {"a": 7.5}}, {"a": 7.5}),
    ({"a": 1, "b": 2}, {"$rename": {"a": "c"}}, {"b": 2, "c": 1}),
    ({"a": 1, "b": 2}, {"$rename": {"a": "b"}}, {"b": 1}),
    ({"a": {"b": 1}}, {"$rename": {"a.b": "c.d"}}, {"a": {}, "c": {"d": 1}}),
    ({"a": [1]}, {"$push": {"a": 2}}, {"a": [1, 2]}),
    ({}, {"$push": {"a": 2}}, {"a": [2]}),
    ({"a": [1]}, {"$push": {"a": [2, 3]}}, {"a": [1, [2, 3]]}),
    ({"a": [1]}, {"$push": {"a": {"$each": [2, 3]}}}, {"a": [1, 2, 3]}),
    ({"a": [1, 4]}, {"$push": {"a": {"$each": [2, 3], "$position": 1}}}, {"a": [1, 2, 3, 4]}),
    ({"a": [1, 4]}, {"$push": {"a": {"$each": [2, 3], "$position": -1}}}, {"a": [1, 2, 3, 4]}),
    ({"a": [3, 1]}, {"$push": {"a": {"$each": [2], "$sort": 1}}}, {"a": [1, 2, 3]}),
    ({"a": [3, 1]}, {"$push": {"a": {"$each": [2], "$sort": -1, "$slice": 2}}}, {"a": [3, 2]}),
    ({"a": [3, 1]}, {"$push": {"a": {"$each": [2], "$slice": -2}}}, {"a": [1, 2]}),
    ({"a": [3, 1]}, {"$push": {"a": {"$each": [], "$slice": 0}}}, {"a": []}),
    ({"a": [{"n": 2}]}, {"$push": {"a": {"$each": [{"n": 1}], "$sort": {"n": 1}}}}, {"a": [{"n": 1}, {"n": 2}]}),
    ({"a": [1]}, {"$addToSet": {"a": 2}}, {"a": [1, 2]}),
    ({}, {"$addToSet": {"a": 2}}, {"a": [2]}),
    ({"a": [1]}, {"$addToSet": {"a": {"$each": [1.0, 2, 2, 3]}}}, {"a": [1, 2, 3]}),
    ({"a": [1]}, {"$addToSet": {"a": [1]}}, {"a": [1, [1]]}),
    ({"a": [1, 2, 3]}, {"$pop": {"a": 1}}, {"a": [1, 2]}),
    ({"a": [1, 2, 3]}, {"$pop": {"a": -1}}, {"a": [2, 3]}),
    ({"a": [1, 2, 1.0, 3]}, {"$pull": {"a": 1}}, {"a": [2, 3]}),
    ({"a": [1, 5, 9]}, {"$pull": {"a": {"$gte": 5}}}, {"a": [1]}),
    ({"a": [{"b": 1, "c": 1}, {"b": 2}]}, {"$pull": {"a": {"b": 1}}}, {"a": [{"b": 2}]}),
    ({"a": [{"b": 1}, {"b": 5}]}, {"$pull": {"a": {"b": {"$gt": 2}}}}, {"a": [{"b": 1}]}),
    ({"a": [[1, 2], [2, 1], 1]}, {"$pull": {"a": [1, 2]}}, {"a": [[2, 1], 1]}),
    ({"a": ["xa", "b"]}, {"$pull": {"a": {"$in": ["b", "c"]}}}, {"a": ["xa"]}),
    ({"a": [1, 2, 3, 2]}, {"$pullAll": {"a": [2, 3.0]}}, {"a": [1]}),
    ({"a": 13}, {"$bit": {"a": {"and": 10}}}, {"a": 8}),
    ({"a": 5}, {"$bit": {"a": {"or": 10}}}, {"a": 15}),
    ({"a": Int64(5)}, {"$bit": {"a": {"xor": 1}}}, {"a": Int64(4)}),
    ({"a": [1, 2]}, {"$inc": {"a.$[]": 10}}, {"a": [11, 12]}),
    ({"a": [{"b": [1, 2]}, {"b": [3]}]}, {"$inc": {"a.$[].b.$[]": 1}}, {"a": [{"b": [2, 3]}, {"b": [4]}]}),
    ({"a": 1, "b": 5}, [{"$set": {"c": {"$add": ["$a", "$b"]}}}, {"$unset": "b"}], {"a": 1, "c": 6}),
    ({"a": 1, "b": 5}, [{"$replaceWith": {"_id": "$_id", "x": "$a"}}], {"x": 1}),
    ({"a": 1, "b": 5}, [{"$project": {"b": 1}}], {"b": 5}),
    ({"a": [{"b": 1}, 2]}, [{"$addFields": {"a": {"$size": "$a"}}}], {"a": 2}),
    ({"a": 1}, {"$set": {"b": 1}, "$inc": {"a": 1}, "$unset": {"z": 1}}, {"a": 2, "b": 1}),
]


@pytest.mark.parametrize(("before", "update", "after"), CHANGES, ids=[f"{row[0]} {row[1]}" for row in CHANGES])
def test_an_update_makes(collection, before, update, after):
    collection.insert_one({"_id": 1, **before})
    updated = collection.update_one({"_id": 1}, update)
    assert (updated.matched_count, updated.modified_count) == (1, 1)
    assert stored_bytes(collection, {}) == bson.encode({"_id": 1, **after})
    # The same through the other two commands that update.
    collection.delete_many({})
    collection.insert_one({"_id": 1, **before})
    assert collection.update_many({}, update).modified_count == 1
    assert stored_bytes(collection, {}) == bson.encode({"_id": 1, **after})
    collection.delete_many({})
    collection.insert_one({"_id": 1, **before})
    assert collection.find_one_and_update({}, update, return_document=True) == {"_id": 1, **after}


UNCHANGED = [
    ({"a": 1}, {"$set": {"a": 1}}),
    ({"a": {"b": [1]}}, {"$set": {"a": {"b": [1]}}}),
    ({"a": 1}, {"$set": {}}),
    ({"a": 1}, {"$unset": {"b": 1, "a.c": 1}}),
    ({"a": 1}, {"$inc": {"a": 0}}),
    ({"a": 1}, {"$mul": {"a": 1}}),
    ({"a": 1}, {"$min": {"a": 5}}),
    ({"a": 1}, {"$max": {"a": 1}}),
    ({"a": 1}, {"$rename": {"b": "c"}}),
    ({"a": [1]}, {"$addToSet": {"a": 1}}),
    ({"a": [1]}, {"$pull": {"a": 2}}),
    ({"a": [1]}, {"$pullAll": {"a": [2]}}),
    ({"a": []}, {"$pop": {"a": 1}}),
    ({"a": 1}, {"$pull": {"b": 2}}),
    ({"a": 1}, {"$setOnInsert": {"a": 2}}),
    ({"a": 1}, [{"$set": {"a": 1}}]),
    ({"a": []}, {"$set": {"a.$[]": 1}}),
]


@pytest.mark.parametrize(("before", "update"), UNCHANGED, ids=[f"{row[0]} {row[1]}" for row in UNCHANGED])
def test_an_update_changes_nothing(collection, before, update):
    collection.insert_one({"_id": 1, **before})
    updated = collection.update_one({"_id": 1}, update)
    assert (updated.matched_count, updated.modified_count) == (1, 0)
    assert stored_bytes(collection, {}) == bson.encode({"_id": 1, **before})


FILTERED = [
    ({"a": [1, 5, 9]}, {"$set": {"a.$[big]": 0}}, [{"big": {"$gt": 4}}], {"a": [1, 0, 0]}),
    ({"a": [{"b": 1}, {"b": 2}]}, {"$inc": {"a.$[x].n": 1}}, [{"x.b": 2}], {"a": [{"b": 1}, {"b": 2, "n": 1}]}),
    (
        {"a": [{"k": "x", "l": [1, 2]}, {"k": "y", "l": [2]}]},
        {"$set": {"a.$[o].l.$[i]": 7}},
        [{"o.k": "x"}, {"i": 2}],
        {"a": [{"k": "x", "l": [1, 7]}, {"k": "y", "l": [2]}]},
    ),
    ({"a": [1, 2]}, {"$unset": {"a.$[x]": 1}}, [{"x": 2}], {"a": [1, None]}),
]


@pytest.mark.parametrize(("before", "update", "filters", "after"), FILTERED, ids=[str(row[1]) for row in FILTERED])
def test_array_filters(collection, before, update, filters, after):
    collection.insert_one({"_id": 1, **before})
    assert collection.update_one({}, update, array_filters=filters).modified_count == 1
    assert collection.find_one() == {"_id": 1, **after}


def test_the_place_that_the_query_found(collection):
    collection.insert_one({"_id": 1, "a": [1, 5, 9], "o": [{"x": 1}, {"x": 2}]})
    collection.update_one({"a": {"$gt": 3}}, {"$set": {"a.$": 0}})
    collection.update_one({"o.x": 2}, {"$set": {"o.$.y": 3}})
    collection.update_one({"o": {"$elemMatch": {"x": 1}}}, {"$inc": {"o.$.x": 10}})
    assert collection.find_one() == {"_id": 1, "a": [1, 0, 9], "o": [{"x": 11}, {"x": 2, "y": 3}]}
    with refused(2):
        collection.update_one({"_id": 1}, {"$set": {"a.$": 0}})


REFUSED = [
    ({"a": 1}, {"$set": {"a.b": 1}}, {28}),
    ({"a": None}, {"$set": {"a.b": 1}}, {28}),
    ({"a": [1]}, {"$set": {"a.b": 1}}, {28}),
    ({"a": [1]}, {"$set": {"a.1500002": 1}}, {34, 2}),
    ({"a": "x"}, {"$inc": {"a": 1}}, {14}),
    ({"a": 1}, {"$inc": {"a": "x"}}, {14}),
    ({"a": Int64(BIG)}, {"$inc": {"a": 1}}, {2}),
    ({"a": Int64(BIG)}, {"$mul": {"a": 2}}, {2}),
    ({"a": "x"}, {"$mul": {"a": 2}}, {14}),
    ({"a": 1}, {"$push": {"a": 1}}, {2}),
    ({"a": 1}, {"$addToSet": {"a": 1}}, {2}),
    ({"a": 1}, {"$pull": {"a": 1}}, {2}),
    ({"a": 1}, {"$pullAll": {"a": [1]}}, {2}),
    ({"a": 1}, {"$pop": {"a": 1}}, {14, 2}),
    ({"a": [1]}, {"$pop": {"a": 2}}, {9}),
    ({"a": [1]}, {"$pullAll": {"a": 1}}, {2}),
    ({"a": 1}, {"$bit": {"a": {"nand": 1}}}, {2}),
    ({"a": 1.5}, {"$bit": {"a": {"or": 1}}}, {2}),
    ({"a": 1}, {"$bit": {"a": 1}}, {2, 9}),
    ({"a": 1}, {"$rename": {"a": "a"}}, {2}),
    ({"a": 1}, {"$rename": {"a": "a.b"}}, {2}),
    ({"a": 1}, {"$rename": {"a": 1}}, {2}),
    ({"a": 1}, {"$set": {"a": 1}, "$inc": {"a": 1}}, {40}),
    ({"a": 1}, {"$set": {"b": 1, "b.c": 1}}, {40}),
    ({"a": 1}, {"$set": {"b.c": 1}, "$unset": {"b": 1}}, {40}),
    ({"a": 1}, {"$set": {"_id": 2}}, {66}),
    ({"a": 1}, {"$unset": {"_id": 1}}, {66}),
    ({"a": 1}, {"$inc": {"_id": 1}}, {66}),
    ({"a": 1}, {"$rename": {"a": "_id"}}, {66}),
    ({"a": 1}, [{"$set": {"_id": 2}}], {66}),
    ({"a": 1}, {"$nonsense": {"a": 1}}, {9}),
    ({"a": 1}, {"$set": 1}, {9}),
    ({"a": 1}, {"$set": {"": 1}}, {56}),
    ({"a": 1}, {"$set": {"a..b": 1}}, {56}),
    ({"a": 1}, {"$set": {"a.$[]": 1}}, {2}),
    ({"a": 1}, {"$set": {"b.$[]": 1}}, {2}),
    ({"a": [1]}, {"$set": {"a.$[x]": 1}}, {2}),
    ({"a": [1]}, {"$push": {"a": {"$each": 1}}}, {2}),
    ({"a": [1]}, {"$push": {"a": {"$each": [1], "$slice": "x"}}}, {2}),
    ({"a": [1]}, {"$push": {"a": {"$each": [1], "$sort": 2}}}, {2}),
    ({"a": [1]}, {"$push": {"a": {"$each": [1], "$nonsense": 2}}}, {2, 9}),
    ({"a": 1}, {"$currentDate": {"b": 1}}, {2}),
    ({"a": 1}, {"$currentDate": {"b": {"$type": "nonsense"}}}, {2}),
    ({"a": 1}, [{"$match": {}}], {72}),
    ({"a": 1}, [{"$group": {"_id": 1}}], {72}),
    ({"a": 1}, [{"$nonsense": {}}], {40324, 72}),
]


@pytest.mark.parametrize(("before", "update", "codes"), REFUSED, ids=[f"{row[0]} {row[1]}" for row in REFUSED])
def test_an_update_is_refused(collection, before, update, codes):
    collection.insert_one({"_id": 1, **before})
    with refused(*codes):
        collection.update_one({"_id": 1}, update)
    with refused(*codes):
        collection.find_one_and_update({"_id": 1}, update)
    assert stored_bytes(collection, {}) == bson.encode({"_id": 1, **before})


FILTERS_REFUSED = [
    ({"$set": {"a.$[x]": 1}}, [{"y": 1}], {2, 9}),
    ({"$set": {"a.$[x]": 1}}, [{"x": 1}, {"y": 1}], {9}),
    ({"$set": {"a.$[x]": 1}}, [{"x": 1}, {"x": 2}], {9}),
    ({"$set": {"a.$[x]": 1}}, [{"x": 1, "y": 1}], {9}),
    ({"$set": {"a.$[x]": 1}}, [{}], {9}),
    ({"$set": {"a.$[X]": 1}}, [{"X": 1}], {2}),
    ([{"$set": {"a": 1}}], [{"x": 1}], {9}),
]


@pytest.mark.parametrize(("update", "filters", "codes"), FILTERS_REFUSED, ids=[str(row[1]) for row in FILTERS_REFUSED])
def test_array_filters_are_refused(collection, update, filters, codes):
    collection.insert_one({"_id": 1, "a": [1]})
    with refused(*codes):
        collection.update_one({}, update, array_filters=filters)
    assert collection.find_one() == {"_id": 1, "a": [1]}


UPSERTS = [
    ({"_id": 1, "a": 5}, {"$set": {"b": 1}}, {"a": 5, "b": 1}),
    ({"_id": 1, "a": {"$eq": 5}}, {"$set": {"b": 1}}, {"a": 5, "b": 1}),
    ({"_id": 1, "a.b": 5}, {"$set": {"c": 1}}, {"a": {"b": 5}, "c": 1}),
    ({"_id": 1, "a": {"$gt": 5}}, {"$set": {"b": 1}}, {"b": 1}),
    ({"_id": 1, "a": {"$in": [5]}}, {"$set": {"b": 1}}, {"a": 5, "b": 1}),
    ({"_id": 1, "a": {"$in": [5, 6]}}, {"$set": {"b": 1}}, {"b": 1}),
    ({"_id": 1, "a": {"$all": [5]}}, {"$set": {"b": 1}}, {"a": 5, "b": 1}),
    ({"$and": [{"_id": 1}, {"a": 5}]}, {"$set": {"b": 1}}, {"a": 5, "b": 1}),
    ({"_id": 1, "$or": [{"a": 5}]}, {"$set": {"b": 1}}, {"a": 5, "b": 1}),
    ({"_id": 1, "$or": [{"a": 5}, {"a": 6}]}, {"$set": {"b": 1}}, {"b": 1}),
    ({"_id": 1, "a": {"$ne": 5}}, {"$set": {"b": 1}}, {"b": 1}),
    ({"_id": 1, "a": 5}, {"$inc": {"a": 2}}, {"a": 7}),
    ({"_id": 1}, {"$inc": {"a": 2}}, {"a": 2}),
    ({"_id": 1}, {"$push": {"a": 2}}, {"a": [2]}),
    ({"_id": 1}, {"$setOnInsert": {"a": 2}}, {"a": 2}),
    ({"_id": 1}, {"$unset": {"a": 2}}, {}),
    ({"_id": 1}, {"$min": {"a": 2}}, {"a": 2}),
    ({"_id": 1, "a": 5}, [{"$set": {"b": {"$add": ["$a", 1]}}}], {"a": 5, "b": 6}),
]


@pytest.mark.parametrize(("filter", "update", "made"), UPSERTS, ids=[f"{row[0]} {row[1]}" for row in UPSERTS])
def test_an_upsert_makes(collection, filter, update, made):
    upserted = collection.update_one(filter, update, upsert=True)
    assert upserted.upserted_id == 1
    assert collection.find_one() == {"_id": 1, **made}


def test_an_upsert_that_says_two_things_is_refused(collection):
    with refused(54):
        collection.update_one({"a": 1, "a.b": 1}, {"$set": {"c": 1}}, upsert=True)
    with refused(66, 54):
        collection.update_one({"_id": 1}, {"$set": {"_id": 2}}, upsert=True)
    assert collection.count_documents({}) == 0


def test_an_upsert_takes_the_id_of_the_update(collection):
    assert collection.update_one({"a": 1}, {"$set": {"_id": 7}}, upsert=True).upserted_id == 7
    assert isinstance(collection.update_one({"a": 2}, {"$set": {"b": 7}}, upsert=True).upserted_id, ObjectId)


def test_the_current_date(collection):
    collection.insert_one({"_id": 1})
    collection.update_one({}, {"$currentDate": {"a": True, "b": {"$type": "date"}, "c": {"$type": "timestamp"}}})
    found = collection.find_one()
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    assert abs((now - found["a"]).total_seconds()) < 60
    assert found["a"] == found["b"]
    assert isinstance(found["c"], Timestamp)


def test_variables_in_updates(collection):
    collection.insert_many([{"_id": 1, "a": 1}, {"_id": 2, "a": 2}])
    updated = collection.update_many(
        {"$expr": {"$eq": ["$a", "$$wanted"]}}, [{"$set": {"b": "$$given"}}], let={"wanted": 2, "given": "x"}
    )
    assert updated.modified_count == 1
    assert collection.find_one({"b": "x"}) == {"_id": 2, "a": 2, "b": "x"}
    assert collection.delete_many({"$expr": {"$eq": ["$a", "$$wanted"]}}, let={"wanted": 1}).deleted_count == 1


def test_new_fields_are_appended_in_the_order_of_their_paths(collection):
    collection.insert_one({"_id": 1, "z": 0})
    collection.update_one({}, {"$set": {"c": 1, "b": 2, "a.y": 3, "a.x": 4, "z": 5}})
    found = collection.find_one()
    assert list(found) == ["_id", "z", "a", "b", "c"]
    assert list(found["a"]) == ["x", "y"]


def test_a_mixture_of_replacement_and_operators_is_refused(collection):
    collection.insert_one({"_id": 1})
    command = collection.database.command
    for update, codes in (({"$set": {"a": 1}, "b": 1}, {9}), ({"b": 1, "$set": {"a": 1}}, {9, 52})):
        answer = command("update", collection.name, updates=[{"q": {}, "u": update}], check=False)
        failed = answer.get("writeErrors") or [answer]
        assert failed[0]["code"] in codes, answer
    assert collection.find_one() == {"_id": 1}
