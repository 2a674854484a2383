"""Each query operator, projection form and update operator by its name: what it finds or makes, and what it refuses.

The names are those of the rows in COMPAT.md.
"""

import datetime

import bson
import pytest
from bson import Binary, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from pymongo.errors import OperationFailure

from mongo import ids, refused, stored_bytes

DATE = datetime.datetime(2020, 1, 1)
SQUARE = [[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]
DOCUMENTS = [
    {"_id": 1, "a": 1, "s": "apple", "t": [1, 2], "p": {"type": "Point", "coordinates": [5, 5]}, "q": [5, 5]},
    {"_id": 2, "a": 2, "s": "Banana", "t": [3], "p": {"type": "Point", "coordinates": [20, 20]}, "q": [20, 20]},
    {"_id": 3, "a": 6, "s": "cherry\npie", "t": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "q": [5, 8]},
    {"_id": 4, "a": None, "s": "apple pie", "t": []},
    {"_id": 5, "b": Binary(b"\x05"), "k": ObjectId("65e0a0800000000000000000"), "d": DATE},
    {"_id": 6, "a": "x", "o": {"u": 1, "v": {"w": [1, 2]}}, "t": "no array"},
    {"_id": 7, "a": Decimal128("2.0"), "l": Int64(2**40)},
]


def geometry(kind: str, coordinates: list) -> dict:
    """A shape as GeoJSON."""
    return {"$geometry": {"type": kind, "coordinates": coordinates}}


# Of each name: filters and the documents that they find; a set of numbers in the third place are codes of refusals.
QUERIES = {
    "$eq": [
        ({"a": {"$eq": 2}}, [2, 7]),
        ({"o": {"$eq": {"u": 1, "v": {"w": [1, 2]}}}}, [6]),
        ({"a": {"$eq": None}}, [4, 5]),
    ],
    "$ne": [({"a": {"$ne": 2}}, [1, 3, 4, 5, 6]), ({"t": {"$ne": 1}}, [2, 3, 4, 5, 6, 7])],
    "$gt": [
        ({"a": {"$gt": 1}}, [2, 3, 7]),
        ({"s": {"$gt": "b"}}, [3]),
        ({"d": {"$gt": datetime.datetime(2019, 1, 1)}}, [5]),
        ({"a": {"$gt": MinKey()}}, [1, 2, 3, 4, 5, 6, 7]),
    ],
    "$gte": [({"a": {"$gte": 2}}, [2, 3, 7]), ({"a": {"$gte": None}}, [4, 5])],
    "$lt": [({"a": {"$lt": 2}}, [1]), ({"t": {"$lt": 2}}, [1]), ({"a": {"$lt": MaxKey()}}, [1, 2, 3, 4, 5, 6, 7])],
    "$lte": [({"a": {"$lte": 2.0}}, [1, 2, 7])],
    "$in": [
        ({"a": {"$in": [1, "x"]}}, [1, 6]),
        ({"s": {"$in": [Regex("^a")]}}, [1, 4]),
        ({"a": {"$in": 1}}, {2}),
        ({"a": {"$in": [{"$gt": 1}]}}, {2}),
    ],
    "$nin": [({"a": {"$nin": [1, None]}}, [2, 3, 6, 7]), ({"a": {"$nin": 1}}, {2})],
    "$and": [({"$and": [{"a": {"$gt": 1}}, {"a": {"$lt": 6}}]}, [2, 7]), ({"$and": []}, {2}), ({"$and": {}}, {2})],
    "$or": [({"$or": [{"a": 1}, {"s": "Banana"}]}, [1, 2]), ({"$or": [1]}, {2})],
    "$nor": [({"$nor": [{"a": {"$gt": 0}}, {"a": None}]}, [6]), ({"$nor": []}, {2})],
    "$not": [
        ({"a": {"$not": {"$gt": 1}}}, [1, 4, 5, 6]),
        ({"s": {"$not": Regex("apple")}}, [2, 3, 5, 6, 7]),
        ({"a": {"$not": 1}}, {2}),
    ],
    "$exists": [
        ({"a": {"$exists": True}}, [1, 2, 3, 4, 6, 7]),
        ({"a": {"$exists": False}}, [5]),
        ({"o.v.w": {"$exists": 1}}, [6]),
        ({"a": {"$exists": 0}}, [5]),
    ],
    "$type": [
        ({"a": {"$type": "number"}}, [1, 2, 3, 7]),
        ({"a": {"$type": 10}}, [4]),
        ({"t": {"$type": "array"}}, [1, 2, 3, 4]),
        ({"a": {"$type": ["string", "decimal"]}}, [6, 7]),
        ({"a": {"$type": "nonsense"}}, {2}),
    ],
    "$regex": [
        ({"s": {"$regex": "^apple"}}, [1, 4]),
        ({"s": Regex("pie$")}, [3, 4]),
        ({"s": {"$regex": "(a)p+\\S*(?! pie)$"}}, [1]),
        ({"s": {"$regex": "("}}, {51091}),
    ],
    "$options": [
        ({"s": {"$regex": "^b", "$options": "i"}}, [2]),
        ({"s": {"$regex": "^pie", "$options": "m"}}, [3]),
        ({"s": {"$regex": "y.p", "$options": "s"}}, [3]),
        ({"s": {"$regex": "b a n # x", "$options": "xi"}}, [2]),
        ({"s": {"$regex": "^a", "$options": "u"}}, [1, 4]),
        ({"s": {"$options": "i"}}, {2}),
        ({"s": {"$regex": "a", "$options": "q"}}, {51108}),
    ],
    "$mod": [
        ({"a": {"$mod": [4, 2]}}, [2, 3, 7]),
        ({"a": {"$mod": [4.9, 2.1]}}, [2, 3, 7]),
        ({"a": {"$mod": [0, 1]}}, {2}),
        ({"a": {"$mod": [1]}}, {2}),
    ],
    "$expr": [
        ({"$expr": {"$eq": ["$a", 6]}}, [3]),
        ({"$expr": {"$gt": ["$a", "a"]}}, [6]),
        ({"$expr": {"$gt": ["$o.u", 0]}}, [6]),
    ],
    "$jsonSchema": [
        ({"$jsonSchema": {"required": ["o"]}}, [6]),
        ({"$jsonSchema": {"required": ["a"], "properties": {"a": {"bsonType": "int", "minimum": 2}}}}, [2, 3]),
        ({"$jsonSchema": {"required": ["s"], "properties": {"s": {"type": "string", "pattern": "^B", "maxLength": 6}}}}, [2]),
        ({"$jsonSchema": {"required": ["t"], "properties": {"t": {"bsonType": "array", "minItems": 2, "items": {"bsonType": "object"}}}}}, [3]),
        ({"$jsonSchema": {"properties": {"a": {"enum": [1, "x"]}}, "required": ["a"]}}, [1, 6]),
        ({"$jsonSchema": {"not": {"required": ["a"]}}}, [5]),
        ({"$jsonSchema": {"oneOf": [{"required": ["o"]}, {"required": ["l"]}]}}, [6, 7]),
        ({"$jsonSchema": {"anyOf": [{"required": ["b"]}, {"required": ["l"]}]}}, [5, 7]),
        ({"$jsonSchema": {"allOf": [{"required": ["a"]}, {"required": ["l"]}]}}, [7]),
        ({"$jsonSchema": {"properties": {"o": {"additionalProperties": False, "properties": {"u": {}, "v": {}}}}, "required": ["o"]}}, [6]),
        ({"$jsonSchema": {"properties": {"a": {"multipleOf": 3}}, "required": ["a", "q"]}}, [3]),
        ({"$jsonSchema": {"type": "nonsense"}}, {2}),
        ({"$jsonSchema": {"nonsense": 1}}, {9}),
    ],
    "$all": [
        ({"t": {"$all": [1, 2]}}, [1]),
        ({"t": {"$all": [{"$elemMatch": {"x": 1}}, {"$elemMatch": {"x": 3}}]}}, [3]),
        ({"t": {"$all": []}}, []),
        ({"a": {"$all": [1]}}, [1]),
        ({"t": {"$all": 1}}, {2}),
    ],
    "$elemMatch": [
        ({"t": {"$elemMatch": {"x": 1, "y": 2}}}, [3]),
        ({"t": {"$elemMatch": {"x": 1, "y": 4}}}, []),
        ({"t": {"$elemMatch": {"$gt": 1, "$lt": 3}}}, [1]),
        ({"t": {"$elemMatch": 1}}, {2}),
    ],
    "$size": [
        ({"t": {"$size": 2}}, [1, 3]),
        ({"t": {"$size": 0}}, [4]),
        ({"t": {"$size": -1}}, {2}),
        ({"t": {"$size": "2"}}, {2}),
    ],
    "$bitsAllSet": [
        ({"a": {"$bitsAllSet": 6}}, [3]),
        ({"a": {"$bitsAllSet": [1]}}, [2, 3, 7]),
        ({"b": {"$bitsAllSet": Binary(b"\x05")}}, [5]),
        ({"a": {"$bitsAllSet": -1}}, {9}),
    ],
    "$bitsAnySet": [({"a": {"$bitsAnySet": 5}}, [1, 3]), ({"b": {"$bitsAnySet": [0, 1]}}, [5])],
    "$bitsAllClear": [({"a": {"$bitsAllClear": 5}}, [2, 7]), ({"b": {"$bitsAllClear": [1]}}, [5])],
    "$bitsAnyClear": [({"a": {"$bitsAnyClear": [0]}}, [2, 3, 7]), ({"a": {"$bitsAnyClear": "x"}}, {2})],
    "$geoWithin": [
        ({"p": {"$geoWithin": geometry("Polygon", [SQUARE])}}, [1]),
        ({"p": {"$geoWithin": geometry("MultiPolygon", [[SQUARE]])}}, [1]),
        ({"p": {"$geoWithin": {}}}, {2}),
    ],
    "$geoIntersects": [
        ({"p": {"$geoIntersects": geometry("Polygon", [SQUARE])}}, [1]),
        ({"p": {"$geoIntersects": geometry("Point", [20, 20])}}, [2]),
        ({"p": {"$geoIntersects": geometry("Nonsense", [1])}}, {2}),
    ],
    "$near": [
        ({"p": {"$near": geometry("Point", [19, 19])}}, [2, 1]),
        ({"p": {"$near": {**geometry("Point", [5, 5]), "$maxDistance": 1000}}}, [1]),
    ],
    "$nearSphere": [
        ({"p": {"$nearSphere": geometry("Point", [5, 5])}}, [1, 2]),
        ({"p": {"$nearSphere": {**geometry("Point", [5, 5]), "$minDistance": 1000}}}, [2]),
    ],
    "$geometry": [({"p": {"$geoWithin": {"$geometry": {"type": "Polygon", "coordinates": [SQUARE]}}}}, [1])],
    "$minDistance": [({"p": {"$near": {**geometry("Point", [5, 5]), "$minDistance": 10}}}, [2])],
    "$maxDistance": [({"p": {"$near": {**geometry("Point", [20, 20]), "$maxDistance": 10}}}, [2])],
    "$box": [({"q": {"$geoWithin": {"$box": [[0, 0], [6, 6]]}}}, [1])],
    "$center": [({"q": {"$geoWithin": {"$center": [[5, 6], 2.5]}}}, [1, 3])],
    "$centerSphere": [({"q": {"$geoWithin": {"$centerSphere": [[5, 5], 0.01]}}}, [1])],
    "$polygon": [({"q": {"$geoWithin": {"$polygon": [[0, 0], [10, 0], [10, 10], [0, 10]]}}}, [1, 3])],
    "$comment": [({"a": 1, "$comment": "why"}, [1]), ({"$comment": {"any": "thing"}, "a": {"$gt": 5}}, [3])],
    "$rand": [({"$expr": {"$lt": [{"$rand": {}}, 2]}}, [1, 2, 3, 4, 5, 6, 7])],
    "$sampleRate": [
        ({"$sampleRate": 1.0}, [1, 2, 3, 4, 5, 6, 7]),
        ({"$sampleRate": 0.0}, []),
        ({"$sampleRate": 2}, {2}),
    ],
    "$alwaysTrue": [({"$alwaysTrue": 1}, [1, 2, 3, 4, 5, 6, 7]), ({"$alwaysTrue": 2}, {9})],
    "$alwaysFalse": [({"$alwaysFalse": 1}, [])],
    "$where": [({"$where": "true"}, {115})],
    "$text": [({"$text": {"$search": "x"}}, {115})],
    "an unknown operator": [({"a": {"$nonsense": 1}}, {2}), ({"$nonsense": 1}, {2})],
    "paths through arrays": [
        ({"t.x": 3}, [3]),
        ({"t.0": 1}, [1]),
        ({"t.1.y": 4}, [3]),
        ({"o.v.w": 2}, [6]),
        ({"t.x": {"$gt": 1}, "t.y": {"$lt": 3}}, [3]),
    ],
    "equality with documents and arrays": [
        ({"t": [1, 2]}, [1]),
        ({"t": {"x": 1, "y": 2}}, [3]),
        ({"t": {"y": 2, "x": 1}}, []),
        ({"t": []}, [4]),
    ],
}  # fmt: skip
ORDERED = {"$near", "$nearSphere"}


@pytest.fixture(scope="module")
def documents(mongo_database):
    """The documents of the table."""
    made = mongo_database["each-operator"]
    made.drop()
    made.create_index([("p", "2dsphere")])
    made.insert_many(DOCUMENTS)
    yield made
    made.drop()


@pytest.mark.parametrize("name", QUERIES)
def test_each_query_operator(documents, name):
    for filter, expected in QUERIES[name]:
        if isinstance(expected, set):
            with refused(*expected):
                list(documents.find(filter))
            continue
        found = ids(documents.find(filter))
        assert (found if name in ORDERED else sorted(found)) == expected, filter
        if name not in ORDERED | {"$minDistance", "$maxDistance"}:
            assert sorted(ids(documents.aggregate([{"$match": filter}]))) == expected, filter
            assert documents.count_documents(filter) == len(expected), filter


STORED = {
    "_id": 1,
    "a": 1,
    "b": {"c": 2, "d": [{"e": 1, "f": 2}, {"e": 3, "f": 4}, 5, [{"e": 6}]]},
    "g": [1, 2, 3, 4],
    "h": "x",
}
PROJECTIONS = {
    "inclusion": [({"a": 1}, {"_id": 1, "a": 1}), ({"h": True, "a": 1}, {"_id": 1, "a": 1, "h": "x"})],
    "exclusion": [
        ({"b": 0, "g": 0}, {"_id": 1, "a": 1, "h": "x"}),
        ({"b.d": 0, "g": 0, "h": 0}, {"_id": 1, "a": 1, "b": {"c": 2}}),
    ],
    "_id either way": [
        ({"a": 1, "_id": 0}, {"a": 1}),
        ({"_id": 1}, {"_id": 1}),
        ({"_id": 0, "b": 0, "g": 0}, {"a": 1, "h": "x"}),
        ({"_id": 1, "a": 0, "b": 0, "g": 0}, {"_id": 1, "h": "x"}),
    ],
    "mixtures": [({"a": 1, "b": 0}, {31254}), ({"a": 0, "b": 1}, {31253})],
    "nested forms": [
        ({"b": {"c": 1}}, {"_id": 1, "b": {"c": 2}}),
        ({"b.c": 1}, {"_id": 1, "b": {"c": 2}}),
        ({"b": {}}, {51270}),
    ],
    "over arrays": [
        ({"b.d.e": 1}, {"_id": 1, "b": {"d": [{"e": 1}, {"e": 3}, [{"e": 6}]]}}),
        ({"b.d.e": 0, "g": 0, "h": 0, "a": 0}, {"_id": 1, "b": {"c": 2, "d": [{"f": 2}, {"f": 4}, 5, [{}]]}}),
        ({"g.0": 1}, {"_id": 1, "g": []}),
    ],
    "expressions and literals": [
        ({"x": {"$add": ["$a", 1]}}, {"_id": 1, "x": 2}),
        ({"x": "$h", "a": 1}, {"_id": 1, "a": 1, "x": "x"}),
        ({"x": "lit"}, {"_id": 1, "x": "lit"}),
        ({"x": {"$literal": 1}}, {"_id": 1, "x": 1}),
    ],
    "$slice": [
        ({"g": {"$slice": 2}, "b": 0}, {"_id": 1, "a": 1, "g": [1, 2], "h": "x"}),
        ({"g": {"$slice": -1}, "a": 1}, {"_id": 1, "a": 1, "g": [4]}),
        ({"g": {"$slice": [1, 2]}, "_id": 1, "a": 1}, {"_id": 1, "a": 1, "g": [2, 3]}),
        ({"g": {"$slice": [1, 0]}}, {28724, 28729, 2}),
    ],
    "$elemMatch": [
        ({"b.d": {"$elemMatch": {"e": 3}}}, {31275}),
        ({"g": {"$elemMatch": {"$gt": 2}}}, {"_id": 1, "g": [3]}),
        ({"g": {"$elemMatch": {"$gt": 9}}, "a": 1}, {"_id": 1, "a": 1}),
    ],
    "collisions": [({"b": 1, "b.c": 1}, {31249}), ({"b.c": 1, "b": 1}, {31250})],
    "$meta": [({"x": {"$meta": "textScore"}}, {40218})],
    "wrong paths": [({"": 1}, {40352}), ({"a.": 1}, {40353}), ({"$a": 1}, {16410})],
}  # fmt: skip


@pytest.fixture(scope="module")
def stored(mongo_database):
    """One document."""
    made = mongo_database["each-projection"]
    made.drop()
    made.insert_one(STORED)
    yield made
    made.drop()


@pytest.mark.parametrize("name", PROJECTIONS)
def test_each_projection(stored, name):
    for projection, expected in PROJECTIONS[name]:
        if isinstance(expected, set):
            with refused(*expected):
                list(stored.find({}, projection))
            continue
        (found,) = stored.find({}, projection)
        assert bson.encode(found) == bson.encode(expected), projection
        # `findAndModify` shows the same.
        assert stored.find_one_and_update({}, {"$set": {"a": 1}}, projection=projection) == expected, projection


def test_a_positional_projection(stored):
    assert stored.find_one({"g": {"$gt": 2}}, {"g.$": 1}) == {"_id": 1, "g": [3]}
    with refused(51246):
        stored.find_one({"a": 1}, {"g.$": 1})
    with refused(31276, 31287):
        stored.find_one({"g": 1}, {"g.$": 1, "b.$": 1})


TIME = object()
# Of each name: before, update, after (or codes of a refusal).
UPDATES = {
    "$set": [
        ({"a": 1}, {"$set": {"a": 2, "b.c": 3}}, {"a": 2, "b": {"c": 3}}),
        ({"a": [1]}, {"$set": {"a.2": 9}}, {"a": [1, None, 9]}),
        ({"a": 1}, {"$set": {"a": 1.0}}, {"a": 1.0}),
        ({"a": 1}, {"$set": {"a.b": 1}}, {28}),
        ({"a": None}, {"$set": {"a.b": 1}}, {28}),
        ({"a": []}, {"$set": {"a.b": 1}}, {28}),
        ({"a": []}, {"$set": {"a.1500001": 1}}, {34}),
        ({}, {"$set": {"_id": 5}}, {66}),
        ({}, {"$set": {"": 1}}, {56}),
        ({}, {"$set": {"a..b": 1}}, {56}),
        ({}, {"$set": 1}, {9}),
    ],
    "$unset": [
        ({"a": 1, "b": 2}, {"$unset": {"a": ""}}, {"b": 2}),
        ({"a": [1, 2]}, {"$unset": {"a.0": 1}}, {"a": [None, 2]}),
        ({"a": {"b": 1}}, {"$unset": {"a.b": 1}}, {"a": {}}),
        ({}, {"$unset": {"_id": 1}}, {66}),
    ],
    "$setOnInsert": [({"a": 1}, {"$setOnInsert": {"a": 2}, "$set": {"b": 1}}, {"a": 1, "b": 1})],
    "$inc": [
        ({"a": 1}, {"$inc": {"a": 2, "b": 3}}, {"a": 3, "b": 3}),
        ({"a": 2**31 - 1}, {"$inc": {"a": 1}}, {"a": Int64(2**31)}),
        ({"a": 1}, {"$inc": {"a": Decimal128("0.5")}}, {"a": Decimal128("1.5")}),
        ({"a": "x"}, {"$inc": {"a": 1}}, {14}),
        ({"a": 1}, {"$inc": {"a": "x"}}, {14}),
        ({"a": Int64(2**63 - 1)}, {"$inc": {"a": 1}}, {2}),
    ],
    "$mul": [
        ({"a": 3}, {"$mul": {"a": 2}}, {"a": 6}),
        ({}, {"$mul": {"a": Int64(2)}}, {"a": Int64(0)}),
        ({"a": 2**30}, {"$mul": {"a": 4}}, {"a": Int64(2**32)}),
        ({"a": "x"}, {"$mul": {"a": 1}}, {14}),
        ({"a": Int64(2**62)}, {"$mul": {"a": 4}}, {2}),
    ],
    "$min": [({"a": 5}, {"$min": {"a": 3, "b": 1}}, {"a": 3, "b": 1}), ({"a": 5}, {"$min": {"a": None}}, {"a": None})],
    "$max": [
        ({"a": 5}, {"$max": {"a": 7.5, "b": 1}}, {"a": 7.5, "b": 1}),
        ({"a": 5}, {"$max": {"a": "x"}}, {"a": "x"}),
    ],
    "$rename": [
        ({"a": 1, "b": 2}, {"$rename": {"a": "c"}}, {"b": 2, "c": 1}),
        ({"a": 1, "b": 2}, {"$rename": {"a": "b"}}, {"b": 1}),
        ({"a": {"b": 1}}, {"$rename": {"a.b": "c.d"}}, {"a": {}, "c": {"d": 1}}),
        ({"a": 1}, {"$rename": {"a": "a"}}, {2}),
        ({"a": 1}, {"$rename": {"a": 1}}, {2}),
        ({"a": [{"b": 1}]}, {"$rename": {"a.0.b": "c"}}, {2}),
        ({"a": [1]}, {"$rename": {"a.b": "c"}}, {28, 2}),
    ],
    "$currentDate": [
        ({}, {"$currentDate": {"a": True}}, {"a": TIME}),
        ({}, {"$currentDate": {"a": {"$type": "date"}}}, {"a": TIME}),
        ({}, {"$currentDate": {"a": {"$type": "timestamp"}}}, {"a": TIME}),
        ({}, {"$currentDate": {"a": {"$type": "x"}}}, {2}),
        ({}, {"$currentDate": {"a": 1}}, {2}),
    ],
    "$push": [
        ({"a": [1]}, {"$push": {"a": 2}}, {"a": [1, 2]}),
        ({}, {"$push": {"a": [1]}}, {"a": [[1]]}),
        ({"a": 1}, {"$push": {"a": 2}}, {2}),
        ({"a": [1]}, {"$push": {"a": {"$each": 2}}}, {2}),
        ({"a": [1]}, {"$push": {"a": {"$each": [2], "$nonsense": 1}}}, {2}),
    ],
    "$each": [
        ({"a": [1]}, {"$push": {"a": {"$each": [2, 3]}}}, {"a": [1, 2, 3]}),
        ({"a": [1]}, {"$addToSet": {"a": {"$each": [1.0, 2, 2]}}}, {"a": [1, 2]}),
    ],
    "$position": [
        ({"a": [1, 4]}, {"$push": {"a": {"$each": [2, 3], "$position": 1}}}, {"a": [1, 2, 3, 4]}),
        ({"a": [1, 4]}, {"$push": {"a": {"$each": [2], "$position": -1}}}, {"a": [1, 2, 4]}),
        ({"a": [1]}, {"$push": {"a": {"$each": [2], "$position": 9}}}, {"a": [1, 2]}),
        ({"a": [1]}, {"$push": {"a": {"$each": [2], "$position": "x"}}}, {2}),
    ],
    "$sort": [
        ({"a": [3, 1]}, {"$push": {"a": {"$each": [2], "$sort": 1}}}, {"a": [1, 2, 3]}),
        ({"a": [{"n": 1}, {"n": 3}]}, {"$push": {"a": {"$each": [{"n": 2}], "$sort": {"n": -1}}}}, {"a": [{"n": 3}, {"n": 2}, {"n": 1}]}),
        ({"a": []}, {"$push": {"a": {"$each": [], "$sort": 2}}}, {2}),
    ],
    "$slice": [
        ({"a": [1]}, {"$push": {"a": {"$each": [2, 3], "$slice": 2}}}, {"a": [1, 2]}),
        ({"a": [1, 2]}, {"$push": {"a": {"$each": [3], "$slice": -2}}}, {"a": [2, 3]}),
        ({"a": [1]}, {"$push": {"a": {"$each": [3], "$slice": 0}}}, {"a": []}),
        ({"a": [1]}, {"$push": {"a": {"$each": [3], "$slice": 1.5}}}, {2}),
    ],
    "$addToSet": [
        ({"a": [1]}, {"$addToSet": {"a": 2}}, {"a": [1, 2]}),
        ({}, {"$addToSet": {"a": 2}}, {"a": [2]}),
        ({"a": [1]}, {"$addToSet": {"a": [1]}}, {"a": [1, [1]]}),
        ({"a": 1}, {"$addToSet": {"a": 2}}, {2}),
    ],
    "$pop": [
        ({"a": [1, 2, 3]}, {"$pop": {"a": 1}}, {"a": [1, 2]}),
        ({"a": [1, 2, 3]}, {"$pop": {"a": -1}}, {"a": [2, 3]}),
        ({"a": [1]}, {"$pop": {"a": 2}}, {9}),
        ({"a": 1}, {"$pop": {"a": 1}}, {14}),
    ],
    "$pull": [
        ({"a": [1, 2, 1.0]}, {"$pull": {"a": 1}}, {"a": [2]}),
        ({"a": [1, 5]}, {"$pull": {"a": {"$gte": 5}}}, {"a": [1]}),
        ({"a": [{"b": 1, "c": 1}, {"b": 2}]}, {"$pull": {"a": {"b": 1}}}, {"a": [{"b": 2}]}),
        ({"a": [[1, 2], 1]}, {"$pull": {"a": [1, 2]}}, {"a": [1]}),
        ({"a": 1}, {"$pull": {"a": 1}}, {2}),
    ],
    "$pullAll": [
        ({"a": [1, 2, 3]}, {"$pullAll": {"a": [2, 3.0]}}, {"a": [1]}),
        ({"a": [1]}, {"$pullAll": {"a": 1}}, {2}),
        ({"a": 1}, {"$pullAll": {"a": [1]}}, {2}),
    ],
    "$bit": [
        ({"a": 13}, {"$bit": {"a": {"and": 10}}}, {"a": 8}),
        ({"a": 5}, {"$bit": {"a": {"or": 10}}}, {"a": 15}),
        ({"a": Int64(5)}, {"$bit": {"a": {"xor": 1}}}, {"a": Int64(4)}),
        ({"a": 1.5}, {"$bit": {"a": {"and": 1}}}, {2}),
        ({"a": 1}, {"$bit": {"a": {"not": 1}}}, {2}),
    ],
    "$[]": [
        ({"a": [1, 2]}, {"$inc": {"a.$[]": 10}}, {"a": [11, 12]}),
        ({"a": 1}, {"$inc": {"a.$[]": 1}}, {2}),
        ({}, {"$inc": {"a.$[]": 1}}, {2}),
    ],
    "replacement": [({"a": 1}, {"c": 3, "b": 2}, {"c": 3, "b": 2}), ({"a": 1}, {"_id": 2, "b": 1}, {66})],
    "pipeline": [
        ({"a": 1, "b": 2}, [{"$set": {"c": {"$add": ["$a", "$b"]}}}, {"$unset": "b"}], {"a": 1, "c": 3}),
        ({"a": 1}, [{"$addFields": {"b": 2}}, {"$project": {"b": 1}}], {"b": 2}),
        ({"a": 1}, [{"$replaceWith": {"x": "$a"}}], {"x": 1}),
        ({"a": 1}, [{"$replaceRoot": {"newRoot": {"y": "$a"}}}], {"y": 1}),
        ({"a": 1}, [{"$match": {}}], {72}),
        ({"a": 1}, [{"$set": {"_id": 9}}], {66}),
    ],
    "conflicts": [
        ({"a": 1}, {"$set": {"a": 1}, "$inc": {"a": 1}}, {40}),
        ({"a": 1}, {"$set": {"a.b": 1, "a": 1}}, {40}),
        ({"a": 1}, {"$rename": {"a": "b"}, "$set": {"b": 1}}, {40}),
    ],
    "unknown operators": [({"a": 1}, {"$nonsense": {"a": 1}}, {9})],
}  # fmt: skip


def statement_is_refused(collection, statement: dict, *codes: int) -> None:
    """Expects a statement to be refused: alone, or the whole command for what is wrong with it."""
    try:
        reply = collection.database.command("update", collection.name, updates=[statement])
        found = reply["writeErrors"][0]["code"] if "writeErrors" in reply else None
    except OperationFailure as error:
        found = error.code
    assert found in codes, statement


@pytest.mark.parametrize("name", UPDATES)
def test_each_update_operator(collection, name):
    for number, (before, update, after) in enumerate(UPDATES[name]):
        collection.insert_one({"_id": number, **before})
        statement = {"q": {"_id": number}, "u": update}
        if isinstance(after, set):
            statement_is_refused(collection, statement, *after)
            assert stored_bytes(collection, {"_id": number}) == bson.encode({"_id": number, **before}), update
            continue
        reply = collection.database.command("update", collection.name, updates=[statement])
        assert (reply["n"], reply["nModified"]) == (1, 1), update
        if TIME in after.values():
            value = collection.find_one({"_id": number})["a"]
            wanted = Timestamp if "timestamp" in str(update) else datetime.datetime
            assert isinstance(value, wanted)
            moment = value.as_datetime().replace(tzinfo=None) if wanted is Timestamp else value
            assert abs(datetime.datetime.now(datetime.UTC).replace(tzinfo=None) - moment) < datetime.timedelta(
                minutes=5
            )
            continue
        assert stored_bytes(collection, {"_id": number}) == bson.encode({"_id": number, **after}), update


def test_positional_updates(collection):
    collection.insert_one({"_id": 1, "a": [1, 5, 9], "b": [{"x": 1, "y": [1, 2]}, {"x": 2, "y": [3]}]})
    collection.update_one({"a": {"$gt": 4}}, {"$set": {"a.$": 50}})
    assert collection.find_one()["a"] == [1, 50, 9]
    filters = [{"e.x": 2}, {"f": {"$gte": 3}}]
    collection.update_one({}, {"$inc": {"b.$[e].y.$[f]": 10}}, array_filters=filters)
    assert collection.find_one()["b"] == [{"x": 1, "y": [1, 2]}, {"x": 2, "y": [13]}]
    statement_is_refused(collection, {"q": {"_id": 1}, "u": {"$set": {"a.$": 1}}}, 2)
    statement_is_refused(collection, {"q": {}, "u": {"$set": {"a.$[e]": 1}}}, 2)
    statement_is_refused(collection, {"q": {}, "u": {"$set": {"a": 1}}, "arrayFilters": [{"e": 1}]}, 9)
    twice = {"q": {}, "u": {"$set": {"a.$[e]": 1}}, "arrayFilters": [{"e": 1}, {"e": 2}]}
    statement_is_refused(collection, twice, 9)
    statement_is_refused(collection, {"q": {}, "u": {"$set": {"a.$[E]": 1}}, "arrayFilters": [{"E": 1}]}, 2)
    statement_is_refused(collection, {"q": {}, "u": [{"$set": {"a": 1}}], "arrayFilters": [{"e": 1}]}, 9)
    assert collection.find_one()["a"] == [1, 50, 9]


UPSERTS = {
    "equalities of the query": [
        ({"a": 5, "b": {"$eq": 6}, "c": {"$in": [7]}, "d": {"$all": [8]}}, {"a": 5, "b": 6, "c": 7, "d": 8}),
        ({"$and": [{"a": 1}, {"b": 2}]}, {"a": 1, "b": 2}),
        ({"$or": [{"a": 1}]}, {"a": 1}),
        ({"a.b": 1}, {"a": {"b": 1}}),
    ],
    "what contributes nothing": [
        ({"a": {"$gt": 1}, "b": {"$ne": 2}, "c": {"$in": [1, 2]}, "d": Regex("x")}, {}),
        ({"$or": [{"a": 1}, {"a": 2}]}, {}),
        ({"a": {"$elemMatch": {"b": 1}}}, {}),
    ],
    "what says two things": [({"a": 1, "a.b": 1}, {54})],
}  # fmt: skip


@pytest.mark.parametrize("name", UPSERTS)
def test_each_upsert(collection, name):
    for filter, expected in UPSERTS[name]:
        statement = {"q": filter, "u": {"$setOnInsert": {"z": 1}}, "upsert": True}
        if isinstance(expected, set):
            statement_is_refused(collection, statement, *expected)
            continue
        reply = collection.database.command("update", collection.name, updates=[statement])
        assert (reply["n"], reply["nModified"], reply["upserted"][0]["index"]) == (1, 0, 0)
        key = reply["upserted"][0]["_id"]
        assert isinstance(key, ObjectId)
        assert collection.find_one({"_id": key}) == {"_id": key, **expected, "z": 1}
        collection.delete_many({})
