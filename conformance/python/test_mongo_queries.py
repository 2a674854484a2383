"""What each filter finds: the same small set of documents, and every operator with its odd cases."""

import datetime
import struct

import pytest
from bson import Binary, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex

from mongo import element, ids, raw, refused

NAN = float("nan")
DATE = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)

ONES = {"one", "pair", "long", "decimal"}
NULLS = {"null", "undefined", "missing", "nulls"}
DOCUMENTS = {
    "one": 1,
    "pair": [1, 5],
    "null": None,
    "x": "x",
    "empty": [],
    "nested": [[1]],
    "object": {"b": 1},
    "objects": [{"b": 1}, {"b": 2}],
    "half": 2.5,
    "long": Int64(1),
    "decimal": Decimal128("1"),
    "nulls": [None],
    "yes": True,
    "nan": NAN,
    "date": DATE,
}
ALL = {*DOCUMENTS, "missing", "undefined"}
SCALARS = {"one", "null", "undefined", "missing", "x", "half", "long", "decimal", "yes", "nan", "date"}
ARRAYS = {"pair", "empty", "nested", "objects", "nulls"}

TABLE = [
    ({"a": 1}, ONES),
    ({"a": 1.0}, ONES),
    ({"a": Decimal128("1.0")}, ONES),
    ({"a": {"$eq": 1}}, ONES),
    ({"a": {"$ne": 1}}, ALL - ONES),
    ({"a": {"$in": [1]}}, ONES),
    ({"a": {"$in": [1, "x", 7]}}, ONES | {"x"}),
    ({"a": {"$in": []}}, set()),
    ({"a": {"$nin": [1, "x"]}}, ALL - ONES - {"x"}),
    ({"a": {"$nin": []}}, ALL),
    ({"a": {"$in": [Regex("^x")]}}, {"x"}),
    ({"a": None}, NULLS),
    ({"a": {"$eq": None}}, NULLS),
    ({"a": {"$in": [None]}}, NULLS),
    ({"a": {"$gte": None}}, NULLS),
    ({"a": {"$lte": None}}, NULLS),
    ({"a": {"$gt": None}}, set()),
    ({"a": {"$lt": None}}, set()),
    ({"a": {"$ne": None}}, ALL - NULLS),
    ({"a": {"$not": {"$eq": None}}}, ALL - NULLS),
    ({"a.b": None}, SCALARS),
    ({"a.b": {"$ne": None}}, ALL - SCALARS),
    ({"a.b": 1}, {"object", "objects"}),
    ({"a.b": {"$gt": 1}}, {"objects"}),
    ({"a.b": {"$exists": True}}, {"object", "objects"}),
    ({"a.b": {"$exists": False}}, ALL - {"object", "objects"}),
    ({"a.b": {"$in": [2, 3]}}, {"objects"}),
    ({"a.1": 5}, {"pair"}),
    ({"a.1.b": 2}, {"objects"}),
    ({"a": {"$gt": 1}}, {"pair", "half"}),
    ({"a": {"$gte": 1}}, ONES | {"half"}),
    ({"a": {"$lt": 2}}, ONES),
    ({"a": {"$lte": 1}}, ONES),
    ({"a": {"$gt": 1, "$lt": 5}}, {"pair", "half"}),
    ({"a": {"$not": {"$gt": 1}}}, ALL - {"pair", "half"}),
    ({"a": {"$elemMatch": {"$gt": 1}}}, {"pair"}),
    ({"a": {"$elemMatch": {"$gt": 1, "$lt": 5}}}, set()),
    ({"a": {"$elemMatch": {"b": 2}}}, {"objects"}),
    ({"a": {"$elemMatch": {"b": {"$gte": 1}, "$or": [{"b": 7}, {"b": 2}]}}}, {"objects"}),
    ({"a": {"$elemMatch": {"$in": [None]}}}, {"nulls"}),
    ({"a": {"$elemMatch": {"$elemMatch": {"$eq": 1}}}}, {"nested"}),
    ({"a": [1]}, {"nested"}),
    ({"a": [1, 5]}, {"pair"}),
    ({"a": [1.0, Int64(5)]}, {"pair"}),
    ({"a": [5, 1]}, set()),
    ({"a": []}, {"empty"}),
    ({"a": [None]}, {"nulls"}),
    ({"a": {"b": 1}}, {"object", "objects"}),
    ({"a": {"b": 1.0}}, {"object", "objects"}),
    ({"a": {}}, set()),
    ({"a": {"$size": 0}}, {"empty"}),
    ({"a": {"$size": 2}}, {"pair", "objects"}),
    ({"a": {"$size": 1.0}}, {"nested", "nulls"}),
    ({"a": {"$all": []}}, set()),
    ({"a": {"$all": [1]}}, ONES),
    ({"a": {"$all": [1, 5]}}, {"pair"}),
    ({"a": {"$all": [[1, 5]]}}, {"pair"}),
    ({"a": {"$all": [None]}}, NULLS),
    ({"a": {"$all": [{"$elemMatch": {"b": 1}}, {"$elemMatch": {"b": 2}}]}}, {"objects"}),
    ({"a": {"$exists": False}}, {"missing"}),
    ({"a": {"$exists": True}}, ALL - {"missing"}),
    ({"a": {"$exists": 0}}, {"missing"}),
    ({"a": {"$type": "array"}}, ARRAYS),
    ({"a": {"$type": 4}}, ARRAYS),
    ({"a": {"$type": "number"}}, {"one", "pair", "half", "long", "decimal", "nan"}),
    ({"a": {"$type": "int"}}, {"one", "pair"}),
    ({"a": {"$type": ["long", "decimal"]}}, {"long", "decimal"}),
    ({"a": {"$type": "double"}}, {"half", "nan"}),
    ({"a": {"$type": "string"}}, {"x"}),
    ({"a": {"$type": "object"}}, {"object", "objects"}),
    ({"a": {"$type": "null"}}, {"null", "nulls"}),
    ({"a": {"$type": 6}}, {"undefined"}),
    ({"a": {"$type": "bool"}}, {"yes"}),
    ({"a": {"$type": "date"}}, {"date"}),
    ({"a": {"$type": "objectId"}}, set()),
    ({"a": NAN}, {"nan"}),
    ({"a": {"$gte": NAN}}, {"nan"}),
    ({"a": {"$lte": NAN}}, {"nan"}),
    ({"a": {"$gt": NAN}}, set()),
    ({"a": {"$lt": NAN}}, set()),
    ({"a": {"$in": [NAN]}}, {"nan"}),
    ({"a": Decimal128("NaN")}, {"nan"}),
    ({"a": {"$gt": MinKey()}}, ALL),
    ({"a": {"$lt": MaxKey()}}, ALL),
    ({"a": MinKey()}, set()),
    ({"a": {"$lt": [2]}}, {"pair", "empty", "nested", "nulls"}),
    ({"a": True}, {"yes"}),
    ({"a": {"$gt": False}}, {"yes"}),
    ({"a": {"$gte": DATE}}, {"date"}),
    ({"a": {"$gt": DATE}}, set()),
    ({"a": "x"}, {"x"}),
    ({"a": {"$gte": ""}}, {"x"}),
    ({"a": {"$regex": "^X", "$options": "i"}}, {"x"}),
    ({"a": {"$not": {"$regex": "x"}}}, ALL - {"x"}),
    ({"a": {"$not": Regex("x")}}, ALL - {"x"}),
    ({"a": {"$gt": {"b": 0}}}, {"object", "objects"}),
    ({"a": {"$mod": [2, 1]}}, ONES),
    ({"a": {"$mod": [2, 0]}}, {"half"}),
    ({"a": {"$bitsAllSet": 1}}, ONES),
    ({"a": {"$bitsAllSet": [0, 2]}}, {"pair"}),
    ({"a": {"$bitsAnyClear": [0]}}, set()),
    ({"a": {"$bitsAllClear": [1]}}, ONES),
    ({"a": {"$bitsAnySet": Binary(b"\x04")}}, {"pair"}),
    ({"$expr": {"$gt": ["$a", 1]}}, ARRAYS | {"x", "object", "half", "yes", "date"}),
    ({"$expr": {"$eq": ["$a", 1]}}, {"one", "long", "decimal"}),
    ({"$expr": {"$eq": ["$a", None]}}, {"null"}),
    ({"$expr": {"$isArray": "$a"}}, ARRAYS),
    ({"$and": [{"a": {"$gte": 1}}, {"a": {"$lte": 1}}]}, ONES),
    ({"$or": [{"a": "x"}, {"a": 2.5}]}, {"x", "half"}),
    ({"$nor": [{"a": 1}, {"a": None}]}, ALL - ONES - NULLS),
    ({"$or": [{"a": "x"}], "_id": "x"}, {"x"}),
    ({"$or": [{"a": "x"}], "_id": "one"}, set()),
    ({"_id": {"$in": ["one", "x", "absent"]}}, {"one", "x"}),
    ({"_id": {"$gte": "pair"}, "a": {"$exists": True}}, {"pair", "undefined", "x", "yes"}),
    ({"_id": {"$regex": "^n"}}, {"null", "nulls", "nested", "nan"}),
    ({"$comment": "why"}, ALL),
    ({"a": 1, "$comment": "why"}, ONES),
    ({}, ALL),
    ({"$jsonSchema": {"properties": {"a": {"bsonType": "string"}}, "required": ["a"]}}, {"x"}),
    ({"$alwaysTrue": 1}, ALL),
    ({"$alwaysFalse": 1}, set()),
]  # fmt: skip


@pytest.fixture(scope="module", params=[False, True], ids=["scan", "index"])
def documents(request, mongo_database):
    """The documents of the table, without and with an index on the field."""
    made = mongo_database["queries-indexed" if request.param else "queries"]
    made.drop()
    if request.param:
        made.create_index("a")
        made.create_index("a.b")
    made.insert_many({"_id": name, "a": value} for name, value in DOCUMENTS.items())
    made.insert_one({"_id": "missing"})
    made.insert_one(raw(element(2, "_id", struct.pack("<i", 10) + b"undefined\0") + element(6, "a")))
    yield made
    made.drop()


@pytest.mark.parametrize(("filter", "expected"), TABLE, ids=[str(filter) for filter, _ in TABLE])
def test_a_filter_finds(documents, filter, expected):
    found = ids(documents.find(filter))
    assert set(found) == expected
    assert len(found) == len(expected)
    if "$jsonSchema" not in filter and "$comment" not in filter:
        assert documents.count_documents(filter) == len(expected)
    assert documents.database.command("count", documents.name, query=filter)["n"] == len(expected)


@pytest.mark.parametrize(("filter", "expected"), TABLE, ids=[str(filter) for filter, _ in TABLE])
def test_match_finds_the_same(documents, filter, expected):
    assert set(ids(documents.aggregate([{"$match": filter}]))) == expected


@pytest.mark.parametrize(("filter", "expected"), TABLE, ids=[str(filter) for filter, _ in TABLE])
def test_the_negation_finds_the_rest(documents, filter, expected):
    assert set(ids(documents.find({"$nor": [filter]}))) == ALL - expected


WRONG = [
    ({"a": {"$nonsense": 1}}, {2}, "unknown operator: $nonsense"),
    ({"$nonsense": 1}, {2}, "unknown top level operator: $nonsense"),
    ({"a": {"$in": 1}}, {2}, "$in needs an array"),
    ({"a": {"$in": [{"$gt": 1}]}}, {2}, None),
    ({"a": {"$nin": {}}}, {2}, "$nin needs an array"),
    ({"$and": []}, {2}, None),
    ({"$or": []}, {2}, None),
    ({"$nor": []}, {2}, None),
    ({"$or": 1}, {2}, None),
    ({"$or": [1]}, {2}, None),
    ({"a": {"$not": 1}}, {2}, None),
    ({"a": {"$not": {}}}, {2}, None),
    ({"a": {"$size": -1}}, {2}, None),
    ({"a": {"$size": 1.5}}, {2}, None),
    ({"a": {"$size": "1"}}, {2}, None),
    ({"a": {"$all": 1}}, {2}, None),
    ({"a": {"$elemMatch": 1}}, {2}, None),
    ({"a": {"$mod": [0, 1]}}, {2}, "divisor cannot be 0"),
    ({"a": {"$mod": [1]}}, {2}, None),
    ({"a": {"$mod": []}}, {2}, None),
    ({"a": {"$type": "nonsense"}}, {2}, None),
    ({"a": {"$type": 99}}, {2}, None),
    ({"a": {"$regex": "("}}, {51091, 2}, None),
    ({"a": {"$regex": "a", "$options": "q"}}, {51108, 2}, None),
    ({"a": {"$options": "i"}}, {2}, None),
    ({"a": {"$bitsAllSet": -1}}, {2, 9}, None),
    ({"a": {"$bitsAllSet": "x"}}, {2, 9}, None),
    ({"$expr": {"$nonsense": 1}}, {168}, None),
    ({"$expr": "$$nothing"}, {17276}, None),
    ({"$jsonSchema": {"type": "nonsense"}}, {9, 2, 14}, None),
    ({"$where": "true"}, {2, 115, 238, 139, 263, 242}, None),
    ({"$text": {"$search": "x"}}, {27, 2, 115, 238}, None),
]


@pytest.mark.parametrize(("filter", "codes", "text"), WRONG, ids=[str(row[0]) for row in WRONG])
def test_a_wrong_filter_is_refused(documents, filter, codes, text):
    with refused(*codes, text=text):
        list(documents.find(filter))
    with refused(*codes):
        documents.delete_many(filter)
    with refused(*codes):
        documents.update_one(filter, {"$set": {"b": 1}})
    assert documents.estimated_document_count() == len(ALL)


SEQUENCE = [
    ({"skip": 2}, [2, 3, 4, 5, 6, 7, 8, 9]),
    ({"limit": 3}, [0, 1, 2]),
    ({"skip": 8, "limit": 5}, [8, 9]),
    ({"skip": 20}, []),
    ({"limit": 0}, list(range(10))),
    ({"limit": -2}, [0, 1]),
]


@pytest.mark.parametrize(("options", "expected"), SEQUENCE)
def test_skip_and_limit(collection, options, expected):
    collection.insert_many({"_id": number} for number in range(10))
    assert ids(collection.find(sort=[("_id", 1)], **options)) == expected


def test_min_max_and_hint(collection):
    collection.create_index("a")
    collection.insert_many({"_id": number, "a": number} for number in range(10))
    assert sorted(ids(collection.find().hint([("a", 1)]).min([("a", 3)]).max([("a", 6)]))) == [3, 4, 5]
    assert sorted(ids(collection.find({"a": 4}, hint="a_1"))) == [4]
    assert sorted(ids(collection.find({"a": 4}, hint="_id_"))) == [4]
    assert sorted(ids(collection.find({"a": 4}, hint=[("$natural", 1)]))) == [4]
    with refused(2, 27):
        list(collection.find({"a": 4}, hint="no_such_index"))


def test_variables(collection):
    collection.insert_many({"_id": number} for number in range(5))
    assert ids(collection.find({"$expr": {"$eq": ["$_id", "$$wanted"]}}, let={"wanted": 3})) == [3]


def test_a_regular_expression_has_what_perl_has(collection):
    collection.insert_many([{"_id": 1, "a": "foobar"}, {"_id": 2, "a": "foofoo"}, {"_id": 3, "a": "x\ny"}])
    assert ids(collection.find({"a": {"$regex": r"foo(?!bar)"}}, sort=[("_id", 1)])) == [2]
    assert ids(collection.find({"a": {"$regex": r"^(foo)\1$"}})) == [2]
    assert ids(collection.find({"a": {"$regex": r"(?<=foo)bar"}})) == [1]
    assert ids(collection.find({"a": {"$regex": "^y", "$options": "m"}})) == [3]
    assert ids(collection.find({"a": {"$regex": "x.y", "$options": "s"}})) == [3]
    assert ids(collection.find({"a": {"$regex": "x.y"}})) == []
    assert ids(collection.find({"a": {"$regex": " f o o b ", "$options": "x"}})) == [1]
    assert ids(collection.find({"a": {"$regex": "^foo"}}, sort=[("_id", 1)])) == [1, 2]


def test_distinct(collection):
    collection.insert_many(
        [{"a": 1}, {"a": 1.0}, {"a": Int64(1)}, {"a": [1, 2, [3]]}, {"a": None}, {"a": "x"}, {}, {"a": {"b": 5}}]
    )
    values = collection.distinct("a")
    assert len(values) == 6
    for value in (1, 2, [3], None, "x", {"b": 5}):
        assert value in values
    assert collection.distinct("a.b") == [5]
    assert collection.distinct("nothing") == []
    assert sorted(collection.distinct("a", {"a": {"$in": [1, 2]}}), key=str) == [1, 2, [3]]


POINTS = {
    "oslo": [10.75, 59.91],
    "bergen": [5.32, 60.39],
    "rome": [12.5, 41.9],
}


@pytest.fixture
def places(collection):
    """Cities with a spatial index."""
    collection.create_index([("at", "2dsphere")])
    collection.insert_many(
        {"_id": name, "at": {"type": "Point", "coordinates": point}} for name, point in POINTS.items()
    )
    return collection


def test_places(places):
    norway = {"type": "Polygon", "coordinates": [[[4, 58], [12, 58], [12, 62], [4, 62], [4, 58]]]}
    assert set(ids(places.find({"at": {"$geoWithin": {"$geometry": norway}}}))) == {"oslo", "bergen"}
    assert set(ids(places.find({"at": {"$geoIntersects": {"$geometry": norway}}}))) == {"oslo", "bergen"}
    near = {"$geometry": {"type": "Point", "coordinates": POINTS["oslo"]}}
    assert ids(places.find({"at": {"$near": near}})) == ["oslo", "bergen", "rome"]
    assert ids(places.find({"at": {"$near": {**near, "$maxDistance": 500_000}}})) == ["oslo", "bergen"]
    assert ids(places.find({"at": {"$nearSphere": {**near, "$minDistance": 1000}}})) == ["bergen", "rome"]


def test_the_documents_an_object_id_belongs_to(collection):
    keys = [ObjectId() for _ in range(5)]
    collection.insert_many({"_id": key} for key in keys)
    assert ids(collection.find({"_id": {"$gt": keys[2]}}, sort=[("_id", 1)])) == keys[3:]
    assert ids(collection.find({"_id": str(keys[0])})) == []
