"""Pipelines: every stage with what it gives and what it refuses."""

import datetime

import pytest
from bson import Decimal128, Int64

from mongo import ids, refused

SALES = [
    {"_id": 1, "city": "Oslo", "item": "tea", "n": 2, "price": 10, "tags": ["a", "b"]},
    {"_id": 2, "city": "Oslo", "item": "milk", "n": 1, "price": 20, "tags": []},
    {"_id": 3, "city": "Rome", "item": "tea", "n": 5, "price": 30, "tags": ["b"]},
    {"_id": 4, "city": "Rome", "item": "wine", "n": 3, "price": 40},
    {"_id": 5, "city": None, "item": "tea", "n": 4, "price": 50, "tags": None},
    {"_id": 6, "item": "milk", "n": 6, "price": 60, "tags": "c"},
]


@pytest.fixture(scope="module")
def sales(mongo_database):
    """Six sales."""
    made = mongo_database["sales"]
    made.drop()
    made.insert_many(SALES)
    yield made
    made.drop()


# Pipeline, what comes out of it, and whether the order matters.
ORDERED = [
    ([], SALES),
    ([{"$match": {"city": "Oslo"}}], SALES[:2]),
    ([{"$sort": {"price": -1}}, {"$limit": 2}, {"$project": {"_id": 1}}], [{"_id": 6}, {"_id": 5}]),
    ([{"$sort": {"_id": 1}}, {"$skip": 4}, {"$project": {"_id": 1}}], [{"_id": 5}, {"_id": 6}]),
    ([{"$match": {"_id": 1}}, {"$project": {"city": 1, "_id": 0}}], [{"city": "Oslo"}]),
    (
        [{"$match": {"_id": 1}}, {"$project": {"tags": 0, "n": 0, "price": 0}}],
        [{"_id": 1, "city": "Oslo", "item": "tea"}],
    ),
    ([{"$match": {"_id": 1}}, {"$project": {"sum": {"$multiply": ["$n", "$price"]}}}], [{"_id": 1, "sum": 20}]),
    ([{"$match": {"_id": 6}}, {"$project": {"city": "$city", "item": "$item"}}], [{"_id": 6, "item": "milk"}]),
    ([{"$match": {"_id": 6}}, {"$project": {"c": ["$city"]}}], [{"_id": 6, "c": [None]}]),
    (
        [{"$match": {"_id": 2}}, {"$set": {"sum": {"$add": ["$n", "$price"]}, "item": "x"}}],
        [{"_id": 2, "city": "Oslo", "item": "x", "n": 1, "price": 20, "tags": [], "sum": 21}],
    ),
    ([{"$match": {"_id": 4}}, {"$unset": ["city", "item", "n"]}], [{"_id": 4, "price": 40}]),
    ([{"$match": {"_id": 4}}, {"$unset": "city"}, {"$project": {"item": 1}}], [{"_id": 4, "item": "wine"}]),
    ([{"$match": {"_id": 1}}, {"$replaceRoot": {"newRoot": {"a": "$n"}}}], [{"a": 2}]),
    ([{"$match": {"_id": 1}}, {"$replaceWith": {"$mergeObjects": [{"z": 0}, {"a": "$n"}]}}], [{"z": 0, "a": 2}]),
    ([{"$count": "all"}], [{"all": 6}]),
    ([{"$match": {"_id": 99}}, {"$count": "all"}], []),
    ([{"$group": {"_id": None, "sum": {"$sum": "$n"}}}], [{"_id": None, "sum": 21}]),
    ([{"$match": {"_id": 99}}, {"$group": {"_id": None, "sum": {"$sum": "$n"}}}], []),
    (
        [{"$group": {"_id": "$item", "n": {"$sum": "$n"}, "avg": {"$avg": "$price"}}}, {"$sort": {"_id": 1}}],
        [
            {"_id": "milk", "n": 7, "avg": 40.0},
            {"_id": "tea", "n": 11, "avg": 30.0},
            {"_id": "wine", "n": 3, "avg": 40.0},
        ],
    ),
    (
        [{"$group": {"_id": "$city", "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}],
        [{"_id": None, "n": 2}, {"_id": "Oslo", "n": 2}, {"_id": "Rome", "n": 2}],
    ),
    (
        [
            {"$group": {"_id": {"c": "$city", "i": "$item"}, "n": {"$count": {}}}},
            {"$match": {"_id.c": "Oslo"}},
            {"$sort": {"_id.i": 1}},
        ],
        [{"_id": {"c": "Oslo", "i": "milk"}, "n": 1}, {"_id": {"c": "Oslo", "i": "tea"}, "n": 1}],
    ),
    (
        [
            {"$sort": {"_id": 1}},
            {
                "$group": {
                    "_id": None,
                    "min": {"$min": "$price"},
                    "max": {"$max": "$price"},
                    "first": {"$first": "$item"},
                    "last": {"$last": "$item"},
                    "all": {"$push": "$city"},
                }
            },
        ],
        [
            {
                "_id": None,
                "min": 10,
                "max": 60,
                "first": "tea",
                "last": "milk",
                "all": ["Oslo", "Oslo", "Rome", "Rome", None],
            }
        ],
    ),
    (
        [
            {"$group": {"_id": None, "set": {"$addToSet": "$item"}}},
            {"$project": {"set": {"$sortArray": {"input": "$set", "sortBy": 1}}}},
        ],
        [{"_id": None, "set": ["milk", "tea", "wine"]}],
    ),
    (
        [
            {"$group": {"_id": None, "p": {"$stdDevPop": "$n"}, "s": {"$stdDevSamp": "$n"}}},
            {"$project": {"_id": 0, "p": {"$round": ["$p", 4]}, "s": {"$round": ["$s", 4]}}},
        ],
        [{"p": 1.7078, "s": 1.8708}],
    ),
    (
        [
            {
                "$group": {
                    "_id": None,
                    "t": {"$top": {"sortBy": {"n": -1}, "output": "$_id"}},
                    "b": {"$bottomN": {"sortBy": {"n": -1}, "output": "$_id", "n": 2}},
                }
            }
        ],
        [{"_id": None, "t": 6, "b": [1, 2]}],
    ),
    (
        [
            {"$sort": {"_id": 1}},
            {
                "$group": {
                    "_id": None,
                    "f": {"$firstN": {"input": "$_id", "n": 2}},
                    "l": {"$lastN": {"input": "$_id", "n": 2}},
                    "x": {"$maxN": {"input": "$n", "n": 2}},
                    "i": {"$minN": {"input": "$n", "n": 2}},
                }
            },
        ],
        [{"_id": None, "f": [1, 2], "l": [5, 6], "x": [6, 5], "i": [1, 2]}],
    ),
    (
        [
            {"$group": {"_id": None, "m": {"$mergeObjects": {"$arrayToObject": [[["$item", "$city"]]]}}}},
            {"$project": {"k": {"$size": {"$objectToArray": "$m"}}}},
        ],
        [{"_id": None, "k": 3}],
    ),
    (
        [
            {"$match": {"_id": {"$lte": 6}}},
            {"$unwind": "$tags"},
            {"$sort": {"_id": 1, "tags": 1}},
            {"$project": {"tags": 1}},
        ],
        [{"_id": 1, "tags": "a"}, {"_id": 1, "tags": "b"}, {"_id": 3, "tags": "b"}, {"_id": 6, "tags": "c"}],
    ),
    (
        [
            {"$sort": {"_id": 1}},
            {"$unwind": {"path": "$tags", "includeArrayIndex": "i", "preserveNullAndEmptyArrays": True}},
            {"$project": {"tags": 1, "i": 1}},
        ],
        [
            {"_id": 1, "tags": "a", "i": 0},
            {"_id": 1, "tags": "b", "i": 1},
            {"_id": 2, "i": None},
            {"_id": 3, "tags": "b", "i": 0},
            {"_id": 4, "i": None},
            {"_id": 5, "tags": None, "i": None},
            {"_id": 6, "tags": "c", "i": None},
        ],
    ),
    ([{"$sortByCount": "$item"}, {"$limit": 1}], [{"_id": "tea", "count": 3}]),
    (
        [
            {
                "$bucket": {
                    "groupBy": "$price",
                    "boundaries": [0, 25, 45],
                    "default": "more",
                    "output": {"n": {"$sum": "$n"}},
                }
            }
        ],
        [{"_id": 0, "n": 3}, {"_id": 25, "n": 8}, {"_id": "more", "n": 10}],
    ),
    (
        [{"$bucketAuto": {"groupBy": "$price", "buckets": 3}}],
        [
            {"_id": {"min": 10, "max": 30}, "count": 2},
            {"_id": {"min": 30, "max": 50}, "count": 2},
            {"_id": {"min": 50, "max": 60}, "count": 2},
        ],
    ),
    (
        [
            {
                "$facet": {
                    "n": [{"$count": "all"}],
                    "tea": [{"$match": {"item": "tea"}}, {"$sort": {"_id": 1}}, {"$project": {"n": 1}}],
                    "no": [{"$match": {"x": 1}}],
                }
            }
        ],
        [{"n": [{"all": 6}], "tea": [{"_id": 1, "n": 2}, {"_id": 3, "n": 5}, {"_id": 5, "n": 4}], "no": []}],
    ),
    ([{"$sample": {"size": 10}}, {"$count": "n"}], [{"n": 6}]),
    ([{"$sample": {"size": 2}}, {"$count": "n"}], [{"n": 2}]),
    (
        [
            {"$match": {"_id": 1}},
            {"$redact": {"$cond": [{"$eq": ["$city", "Oslo"]}, "$$KEEP", "$$PRUNE"]}},
            {"$project": {"_id": 1}},
        ],
        [{"_id": 1}],
    ),
    (
        [
            {"$match": {"_id": {"$in": [1, 2]}}},
            {
                "$setWindowFields": {
                    "partitionBy": "$city",
                    "sortBy": {"n": 1},
                    "output": {
                        "sum": {"$sum": "$n", "window": {"documents": ["unbounded", "current"]}},
                        "rank": {"$rank": {}},
                    },
                }
            },
            {"$project": {"sum": 1, "rank": 1}},
        ],
        [{"_id": 2, "sum": 1, "rank": 1}, {"_id": 1, "sum": 3, "rank": 2}],
    ),
    (
        [
            {"$match": {"_id": {"$in": [1, 3]}}},
            {"$project": {"_id": 1}},
            {"$densify": {"field": "_id", "range": {"step": 1, "bounds": "full"}}},
        ],
        [{"_id": 1}, {"_id": 2}, {"_id": 3}],
    ),
    (
        [
            {"$match": {"_id": {"$gte": 4}}},
            {"$sort": {"_id": 1}},
            {"$project": {"city": 1}},
            {"$fill": {"sortBy": {"_id": 1}, "output": {"city": {"method": "locf"}}}},
        ],
        [{"_id": 4, "city": "Rome"}, {"_id": 5, "city": "Rome"}, {"_id": 6, "city": "Rome"}],
    ),
]


@pytest.mark.parametrize(("pipeline", "expected"), ORDERED, ids=[str(row[0])[:100] for row in ORDERED])
def test_a_pipeline_gives(sales, pipeline, expected):
    found = list(sales.aggregate(pipeline))
    if not pipeline or pipeline == [{"$match": {"city": "Oslo"}}]:
        found.sort(key=lambda one: one["_id"])
    assert found == expected
    # The same in many batches.
    again = list(sales.aggregate(pipeline, batchSize=1))
    assert len(again) == len(expected)


REFUSED = [
    ([{"$nonsense": {}}], {40324}),
    ([{}], {40323}),
    ([{"$match": {}, "$limit": 1}], {40323}),
    ([{"$match": 1}], {15959, 14, 2}),
    ([{"$match": {"a": {"$nonsense": 1}}}], {2}),
    ([{"$limit": 0}], {15958}),
    ([{"$limit": -1}], {15958, 5107201}),
    ([{"$limit": "x"}], {15957, 2107201, 5107201}),
    ([{"$skip": -1}], {15956, 5107200}),
    ([{"$group": {"n": {"$sum": 1}}}], {15955}),
    ([{"$group": {"_id": 1, "n": {"$nonsense": 1}}}], {15952}),
    ([{"$group": {"_id": 1, "n": 5}}], {40234}),
    ([{"$group": {"_id": 1, "a.b": {"$sum": 1}}}], {40235}),
    ([{"$group": 1}], {15947}),
    ([{"$sort": {}}], {15976}),
    ([{"$sort": {"a": 2}}], {15975}),
    ([{"$sort": 1}], {15973}),
    ([{"$unwind": "a"}], {28818}),
    ([{"$unwind": {}}], {28812}),
    ([{"$unwind": 1}], {15981}),
    ([{"$count": ""}], {40156, 40157}),
    ([{"$count": "$a"}], {40158}),
    ([{"$count": "a.b"}], {40160}),
    ([{"$replaceRoot": {"newRoot": "$item"}}], {40228}),
    ([{"$sample": {"size": -1}}], {28747}),
    ([{"$sample": {}}], {28749, 28748}),
    ([{"$project": {}}], {51272, 40177}),
    ([{"$project": {"a": 1, "b": 0}}], {31254}),
    ([{"$project": {"a": {"$nonsense": 1}}}], {31325, 168}),
    ([{"$project": {"a": {"$add": [{"$nonsense": 1}]}}}], {168}),
    ([{"$project": {"a": "$$nothing"}}], {17276}),
    ([{"$addFields": {"a": {"$divide": ["$n", 0]}}}], {2, 16608}),
    ([{"$addFields": {"a": {"$mod": ["$n", 0]}}}], {16610}),
    ([{"$addFields": {"a": {"$add": ["$item", 1]}}}], {14, 16554}),
    ([{"$addFields": {"a": {"$toInt": "$item"}}}], {241}),
    ([{"$addFields": {"a": {"$size": "$item"}}}], {17124}),
    ([{"$addFields": {"a": {"$cond": [1]}}}], {16020}),
    ([{"$addFields": 1}], {40272}),
    ([{"$facet": {}}], {40169}),
    ([{"$facet": {"a": [{"$out": "x"}]}}], {40600}),
    ([{"$facet": {"a": [{"$facet": {"b": []}}]}}], {40600}),
    ([{"$out": "x"}, {"$match": {}}], {40601}),
    ([{"$merge": "x"}, {"$match": {}}], {40601}),
    ([{"$match": {}}, {"$changeStream": {}}], {40602}),
    ([{"$match": {}}, {"$collStats": {"count": {}}}], {40602}),
    ([{"$lookup": {"from": "x"}}], {9, 4572}),
    ([{"$lookup": {"from": "x", "as": "y", "localField": "a"}}], {9, 4572}),
    ([{"$bucket": {"groupBy": "$n", "boundaries": [1]}}], {40192, 40196}),
    ([{"$bucket": {"groupBy": "$n", "boundaries": [2, 1]}}], {40194}),
    ([{"$bucket": {"groupBy": "$n", "boundaries": [0, 2]}}], {7158302, 40066}),
    ([{"$unset": []}], {31119, 31002}),
    ([{"$documents": [{}]}], {73, 40324}),
]


@pytest.mark.parametrize(("pipeline", "codes"), REFUSED, ids=[str(row[0]) for row in REFUSED])
def test_a_pipeline_is_refused(sales, pipeline, codes):
    with refused(*codes):
        list(sales.aggregate(pipeline))


def test_a_thousand_stages_and_no_more(sales):
    assert len(list(sales.aggregate([{"$skip": 0}] * 900))) == 6
    with refused(7749501, 7749500, 9, 2):
        list(sales.aggregate([{"$skip": 0}] * 1001))


def test_lookup(collection, second_collection):
    collection.insert_many([{"_id": 1, "k": "a"}, {"_id": 2, "k": ["a", "b"]}, {"_id": 3, "k": None}, {"_id": 4}])
    second_collection.insert_many(
        [{"_id": "x", "k": "a"}, {"_id": "y", "k": "b"}, {"_id": "z"}, {"_id": "w", "k": None}]
    )
    joined = collection.aggregate(
        [{"$lookup": {"from": second_collection.name, "localField": "k", "foreignField": "k", "as": "found"}}]
    )
    assert {one["_id"]: sorted(ids(one["found"])) for one in joined} == {
        1: ["x"],
        2: ["x", "y"],
        3: ["w", "z"],
        4: ["w", "z"],
    }
    with_pipeline = {
        "from": second_collection.name,
        "let": {"key": "$k"},
        "pipeline": [{"$match": {"$expr": {"$eq": ["$k", "$$key"]}}}, {"$project": {"_id": 1}}],
        "as": "found",
    }
    joined = collection.aggregate([{"$match": {"_id": 1}}, {"$lookup": with_pipeline}])
    assert [one["found"] for one in joined] == [[{"_id": "x"}]]
    both = {
        "from": second_collection.name,
        "localField": "k",
        "foreignField": "k",
        "pipeline": [{"$match": {"_id": "y"}}],
        "as": "found",
    }
    joined = collection.aggregate([{"$match": {"_id": 2}}, {"$lookup": both}])
    assert [ids(one["found"]) for one in joined] == [["y"]]
    nothing = {"from": "no-such-collection", "localField": "k", "foreignField": "k", "as": "found"}
    assert [one["found"] for one in collection.aggregate([{"$lookup": nothing}])] == [[]] * 4


def test_graph_lookup(collection):
    collection.insert_many([{"_id": 1, "to": 2}, {"_id": 2, "to": 3}, {"_id": 3, "to": 1}, {"_id": 4}])
    walk = {"from": collection.name, "startWith": "$to", "connectFromField": "to", "connectToField": "_id", "as": "r"}
    (found,) = collection.aggregate([{"$match": {"_id": 1}}, {"$graphLookup": walk}])
    assert sorted(ids(found["r"])) == [1, 2, 3]
    (found,) = collection.aggregate(
        [{"$match": {"_id": 1}}, {"$graphLookup": {**walk, "maxDepth": 0, "depthField": "d"}}]
    )
    assert found["r"] == [{"_id": 2, "to": 3, "d": 0}]


def test_union_with(collection, second_collection):
    collection.insert_many([{"_id": 1}, {"_id": 2}])
    second_collection.insert_many([{"_id": 2}, {"_id": 3}])
    union = [{"$unionWith": {"coll": second_collection.name, "pipeline": [{"$match": {"_id": 3}}]}}]
    assert ids(collection.aggregate(union)) == [1, 2, 3]
    assert sorted(ids(collection.aggregate([{"$unionWith": second_collection.name}]))) == [1, 2, 2, 3]


def test_out(collection, second_collection):
    collection.insert_many({"_id": number, "n": number} for number in range(5))
    second_collection.insert_one({"_id": "old"})
    second_collection.create_index("n")
    assert list(collection.aggregate([{"$match": {"n": {"$gt": 2}}}, {"$out": second_collection.name}])) == []
    assert sorted(ids(second_collection.find())) == [3, 4]
    assert "n_1" in second_collection.index_information()
    into = {"db": second_collection.database.name, "coll": second_collection.name}
    collection.aggregate([{"$match": {"_id": 0}}, {"$out": into}])
    assert ids(second_collection.find()) == [0]


def test_merge(collection, second_collection):
    collection.insert_many({"_id": number, "n": number} for number in range(3))
    second_collection.insert_many([{"_id": 1, "n": "old", "kept": True}, {"_id": 9}])
    name = second_collection.name

    def merged(**options) -> dict:
        second_collection.delete_many({"_id": {"$ne": 9}})
        second_collection.insert_one({"_id": 1, "n": "old", "kept": True})
        collection.aggregate([{"$merge": {"into": name, **options}}])
        return {one.pop("_id"): one for one in second_collection.find()}

    new = {0: {"n": 0}, 2: {"n": 2}, 9: {}}
    assert merged() == {**new, 1: {"n": 1, "kept": True}}
    assert merged(whenMatched="replace") == {**new, 1: {"n": 1}}
    assert merged(whenMatched="keepExisting") == {**new, 1: {"n": "old", "kept": True}}
    assert merged(whenNotMatched="discard") == {1: {"n": 1, "kept": True}, 9: {}}
    assert merged(whenMatched=[{"$set": {"n": {"$add": ["$$new.n", 10]}}}]) == {**new, 1: {"n": 11, "kept": True}}
    with refused(11000):
        merged(whenMatched="fail")
    with refused(13113, 51132):
        merged(whenNotMatched="fail")
    with refused(51183, 51190):
        merged(on="n")


def test_numbers_widen(collection):
    collection.insert_many([{"n": 2**31 - 1}, {"n": 1}])
    (found,) = collection.aggregate([{"$group": {"_id": None, "n": {"$sum": "$n"}}}])
    assert found["n"] == 2**31
    assert isinstance(found["n"], Int64)
    collection.insert_one({"n": Decimal128("0.5")})
    (found,) = collection.aggregate([{"$group": {"_id": None, "n": {"$sum": "$n"}}}])
    assert found["n"] == Decimal128("2147483648.5")


def test_keys_of_groups_compare_by_value(collection):
    collection.insert_many([{"k": 1}, {"k": 1.0}, {"k": Int64(1)}, {"k": Decimal128("1")}, {"k": "1"}])
    found = list(collection.aggregate([{"$group": {"_id": "$k", "n": {"$sum": 1}}}, {"$sort": {"n": -1}}]))
    assert [one["n"] for one in found] == [4, 1]


def test_variables_of_a_command(sales):
    found = sales.aggregate([{"$match": {"$expr": {"$eq": ["$city", "$$c"]}}}, {"$count": "n"}], let={"c": "Oslo"})
    assert list(found) == [{"n": 2}]


def test_now_is_one_moment(sales):
    found = list(sales.aggregate([{"$project": {"now": "$$NOW"}}]))
    assert len({one["now"] for one in found}) == 1
    age = datetime.datetime.now(datetime.UTC).replace(tzinfo=None) - found[0]["now"]
    assert abs(age.total_seconds()) < 60


def test_stages_that_tell_of_the_collection(sales):
    (stats,) = sales.aggregate([{"$collStats": {"count": {}, "storageStats": {}}}])
    assert stats["count"] == 6
    assert stats["ns"] == sales.full_name
    assert stats["storageStats"]["count"] == 6
    assert [one["name"] for one in sales.aggregate([{"$indexStats": {}}])] == ["_id_"]


def test_stages_without_a_collection(mongo):
    found = list(mongo["any"].aggregate([{"$documents": [{"a": 1}, {"a": 2}]}, {"$match": {"a": 2}}]))
    assert found == [{"a": 2}]
    operations = list(mongo.admin.aggregate([{"$currentOp": {}}]))
    assert operations
    with refused(73):
        list(mongo["any"].aggregate([{"$match": {}}]))


def test_explain_runs_nothing(collection, second_collection):
    collection.insert_one({"_id": 1})
    plan = collection.database.command(
        "explain",
        {"aggregate": collection.name, "pipeline": [{"$out": second_collection.name}], "cursor": {}},
        verbosity="queryPlanner",
    )
    assert plan["ok"] == 1.0
    assert second_collection.count_documents({}) == 0


def test_large_sorts_and_groups(collection):
    collection.insert_many({"_id": number, "k": number % 97, "r": (number * 7919) % 10007} for number in range(5000))
    found = [one["r"] for one in collection.aggregate([{"$sort": {"r": 1, "_id": 1}}], allowDiskUse=True)]
    assert found == sorted(found)
    assert len(found) == 5000
    groups = list(collection.aggregate([{"$group": {"_id": "$k", "n": {"$sum": 1}}}]))
    assert len(groups) == 97
    assert sum(one["n"] for one in groups) == 5000
