"""Each stage of pipelines by its name, with each of its options: what comes out, and what is refused.

The names are those of the rows in COMPAT.md.
"""

import datetime

import pytest
from bson import Int64

from mongo import refused

DAY = datetime.datetime(2024, 1, 1)
DOCUMENTS = [
    {"_id": 1, "c": "Oslo", "n": 2, "t": ["a", "b"], "r": 2},
    {"_id": 2, "c": "Oslo", "n": 1, "t": [], "r": 3},
    {"_id": 3, "c": "Rome", "n": 5, "t": ["b"]},
    {"_id": 4, "c": "Rome", "n": 3},
]
OTHERS = [{"_id": 2, "x": "two"}, {"_id": 3, "x": "three", "k": [1, 2]}, {"_id": 9, "x": "nine", "k": None}]
PLACES = [
    {"_id": "near", "p": {"type": "Point", "coordinates": [0, 0]}, "v": 1},
    {"_id": "far", "p": {"type": "Point", "coordinates": [10, 10]}, "v": 2},
]
SORT = {"$sort": {"_id": 1}}
IDS = {"$project": {"_id": 1}}


def only(*keys: int) -> list:
    """What is left of the documents."""
    return [{"_id": key} for key in keys]


# Of each stage: pipelines over DOCUMENTS with what they give; a set of numbers is a refusal with one of these codes.
# `others` is another collection, whose name is put in.
STAGES = {
    "$match": [
        ([{"$match": {"n": {"$gt": 1}}}, SORT, IDS], only(1, 3, 4)),
        ([SORT, {"$limit": 3}, {"$match": {"c": "Rome"}}, IDS], only(3)),
        ([{"$match": 1}], {15959}),
        ([{"$limit": 1}, {"$match": {"p": {"$near": [0, 0]}}}], {2, 5626500}),
        ([{"$match": {"$where": "1"}}], {115}),
    ],
    "$project": [
        ([{"$match": {"_id": 1}}, {"$project": {"c": 1, "_id": 0}}], [{"c": "Oslo"}]),
        ([{"$match": {"_id": 4}}, {"$project": {"n": 0}}], [{"_id": 4, "c": "Rome"}]),
        ([{"$match": {"_id": 4}}, {"$project": {"x": {"$add": ["$n", 1]}, "y": "$nothing"}}], [{"_id": 4, "x": 4}]),
        ([{"$project": {}}], {51272}),
        ([{"$project": {"a": 1, "b": 0}}], {31254}),
    ],
    "$addFields": [
        ([{"$match": {"_id": 4}}, {"$addFields": {"n": 9, "o.p": "$c"}}], [{"_id": 4, "c": "Rome", "n": 9, "o": {"p": "Rome"}}]),
        ([{"$addFields": 1}], {40272}),
    ],
    "$set": [([{"$match": {"_id": 4}}, {"$set": {"n": "$$REMOVE"}}], [{"_id": 4, "c": "Rome"}])],
    "$unset": [
        ([{"$match": {"_id": 4}}, {"$unset": ["n"]}], [{"_id": 4, "c": "Rome"}]),
        ([{"$match": {"_id": 4}}, {"$unset": "c"}], [{"_id": 4, "n": 3}]),
        ([{"$unset": []}], {31119}),
        ([{"$unset": 1}], {31002}),
    ],
    "$group": [
        ([{"$group": {"_id": "$c", "n": {"$sum": "$n"}}}, SORT], [{"_id": "Oslo", "n": 3}, {"_id": "Rome", "n": 8}]),
        ([{"$group": {"_id": None, "n": {"$count": {}}}}], [{"_id": None, "n": 4}]),
        ([{"$match": {"_id": 99}}, {"$group": {"_id": None}}], []),
        ([{"$group": {"_id": "$r"}}, SORT], [{"_id": None}, {"_id": 2}, {"_id": 3}]),
        ([{"$group": {"n": {"$sum": 1}}}], {15955}),
        ([{"$group": {"_id": 1, "n": {"$nonsense": 1}}}], {15952}),
        ([{"$group": 1}], {15947}),
    ],
    "$sort": [
        ([{"$sort": {"c": -1, "n": 1}}, IDS], only(4, 3, 2, 1)),
        ([{"$sort": {"t": 1, "_id": 1}}, IDS], only(2, 4, 1, 3)),
        ([{"$sort": {}}], {15976}),
        ([{"$sort": {"a": 2}}], {15975}),
        ([{"$sort": 1}], {15973}),
    ],
    "$limit": [
        ([SORT, {"$limit": 2}, IDS], only(1, 2)),
        ([{"$limit": 0}], {15958}),
        ([{"$limit": -1}], {5107201}),
        ([{"$limit": "x"}], {5107201, 2107201}),
    ],
    "$skip": [
        ([SORT, {"$skip": 3}, IDS], only(4)),
        ([{"$skip": 0}, SORT, IDS], only(1, 2, 3, 4)),
        ([{"$skip": -1}], {5107200}),
    ],
    "$count": [
        ([{"$count": "n"}], [{"n": 4}]),
        ([{"$match": {"_id": 99}}, {"$count": "n"}], []),
        ([{"$count": ""}], {40157}),
        ([{"$count": 1}], {40156}),
        ([{"$count": "$a"}], {40158}),
        ([{"$count": "a.b"}], {40160}),
    ],
    "$unwind": [
        ([SORT, {"$unwind": "$t"}, {"$project": {"t": 1}}], [{"_id": 1, "t": "a"}, {"_id": 1, "t": "b"}, {"_id": 3, "t": "b"}]),
        ([SORT, {"$unwind": {"path": "$t", "includeArrayIndex": "i"}}, {"$project": {"i": 1}}], [{"_id": 1, "i": Int64(0)}, {"_id": 1, "i": Int64(1)}, {"_id": 3, "i": Int64(0)}]),
        ([SORT, {"$unwind": {"path": "$t", "preserveNullAndEmptyArrays": True}}, {"$project": {"t": 1}}], [{"_id": 1, "t": "a"}, {"_id": 1, "t": "b"}, {"_id": 2}, {"_id": 3, "t": "b"}, {"_id": 4}]),
        ([{"$match": {"_id": 1}}, {"$unwind": "$n"}, {"$project": {"n": 1}}], [{"_id": 1, "n": 2}]),
        ([{"$unwind": "a"}], {28818}), ([{"$unwind": {}}], {28812}), ([{"$unwind": 1}], {15981}),
    ],
    "$lookup": [
        ([{"$match": {"_id": {"$in": [1, 2]}}}, SORT, {"$lookup": {"from": "others", "localField": "r", "foreignField": "_id", "as": "o"}}, {"$project": {"o.x": 1}}], [{"_id": 1, "o": [{"x": "two"}]}, {"_id": 2, "o": [{"x": "three"}]}]),
        ([{"$match": {"_id": 4}}, {"$lookup": {"from": "others", "localField": "r", "foreignField": "k", "as": "o"}}, {"$project": {"o._id": 1}}], [{"_id": 4, "o": [{"_id": 2}, {"_id": 9}]}]),
        ([{"$match": {"_id": 1}}, {"$lookup": {"from": "others", "let": {"v": "$r"}, "pipeline": [{"$match": {"$expr": {"$gte": ["$_id", "$$v"]}}}, SORT, {"$limit": 2}, IDS], "as": "o"}}, {"$project": {"o": 1}}], [{"_id": 1, "o": only(2, 3)}]),
        ([{"$match": {"_id": 2}}, {"$lookup": {"from": "others", "localField": "r", "foreignField": "_id", "pipeline": [{"$project": {"_id": 0, "x": 1}}], "as": "o"}}, {"$project": {"o": 1}}], [{"_id": 2, "o": [{"x": "three"}]}]),
        ([{"$match": {"_id": 1}}, {"$lookup": {"pipeline": [{"$documents": [{"z": 1}]}], "as": "o"}}, {"$project": {"o": 1}}], [{"_id": 1, "o": [{"z": 1}]}]),
        ([{"$lookup": {"from": "others"}}], {9}), ([{"$lookup": {"from": "others", "as": "y", "localField": "a"}}], {9}),
    ],
    "$replaceRoot": [
        ([{"$match": {"_id": 4}}, {"$replaceRoot": {"newRoot": {"a": "$n"}}}], [{"a": 3}]),
        ([{"$replaceRoot": {"newRoot": "$c"}}], {40228}),
        ([{"$replaceRoot": {}}], {40231, 40414}),
    ],
    "$replaceWith": [
        ([{"$match": {"_id": 4}}, {"$replaceWith": {"$mergeObjects": ["$$ROOT", {"z": 1}]}}], [{"_id": 4, "c": "Rome", "n": 3, "z": 1}]),
        ([{"$replaceWith": "$c"}], {40228}),
    ],
    "$facet": [
        ([{"$facet": {"a": [{"$count": "n"}], "b": [{"$match": {"_id": 99}}]}}], [{"a": [{"n": 4}], "b": []}]),
        ([{"$facet": {}}], {40169}),
        ([{"$facet": {"a": [{"$out": "x"}]}}], {40600}),
        ([{"$facet": {"a": [{"$indexStats": {}}]}}], {40600}),
    ],
    "$sample": [
        ([{"$sample": {"size": 9}}, {"$count": "n"}], [{"n": 4}]),
        ([{"$sample": {"size": 2}}, {"$count": "n"}], [{"n": 2}]),
        ([{"$sample": {"size": -1}}], {28747}),
        ([{"$sample": {}}], {28749}),
        ([{"$sample": {"size": "x"}}], {28746}),
    ],
    "$sortByCount": [
        ([{"$sortByCount": "$c"}, {"$match": {"_id": "Oslo"}}], [{"_id": "Oslo", "count": 2}]),
        ([{"$sortByCount": "c"}], {40148}),
    ],
    "$bucket": [
        ([{"$bucket": {"groupBy": "$n", "boundaries": [0, 2, 4]}}, {"$match": {"_id": 99}}], {40066}),
        ([{"$bucket": {"groupBy": "$n", "boundaries": [0, 2, 4], "default": "more"}}], [{"_id": 0, "count": 1}, {"_id": 2, "count": 2}, {"_id": "more", "count": 1}]),
        ([{"$bucket": {"groupBy": "$n", "boundaries": [0, 9], "output": {"s": {"$sum": "$n"}}}}], [{"_id": 0, "s": 11}]),
        ([{"$bucket": {"groupBy": "$n", "boundaries": [1]}}], {40192}),
        ([{"$bucket": {"groupBy": "$n", "boundaries": [2, 1]}}], {40194}),
    ],
    "$bucketAuto": [
        ([{"$bucketAuto": {"groupBy": "$n", "buckets": 2}}], [{"_id": {"min": 1, "max": 3}, "count": 2}, {"_id": {"min": 3, "max": 5}, "count": 2}]),
        ([{"$bucketAuto": {"groupBy": "$n", "buckets": 1, "output": {"s": {"$sum": "$n"}}, "granularity": "POWERSOF2"}}], [{"_id": {"min": 0.5, "max": 8.0}, "s": 11}]),
        ([{"$bucketAuto": {"groupBy": "$n", "buckets": 0}}], {40243}),
        ([{"$bucketAuto": {"groupBy": "$n", "buckets": 1, "granularity": "x"}}], {40257}),
    ],
    "$unionWith": [
        ([SORT, IDS, {"$unionWith": "others"}, {"$match": {"x": {"$exists": True}}}, IDS, SORT], only(2, 3, 9)),
        ([IDS, {"$unionWith": {"coll": "others", "pipeline": [{"$match": {"_id": 9}}, IDS]}}, SORT], only(1, 2, 3, 4, 9)),
        ([{"$unionWith": {"coll": "others", "pipeline": [{"$out": "x"}]}}], {31441}),
    ],
    "$redact": [
        ([{"$redact": {"$cond": [{"$eq": ["$c", "Rome"]}, "$$KEEP", "$$PRUNE"]}}, SORT, IDS], only(3, 4)),
        ([{"$match": {"_id": 1}}, {"$redact": "$$DESCEND"}, IDS], only(1)),
        ([{"$redact": 1}], {17053}),
    ],
    "$graphLookup": [
        ([{"$match": {"_id": 1}}, {"$graphLookup": {"from": "self", "startWith": "$r", "connectFromField": "r", "connectToField": "_id", "as": "g"}}, {"$project": {"g": {"$sortArray": {"input": "$g._id", "sortBy": 1}}}}], [{"_id": 1, "g": [2, 3]}]),
        ([{"$match": {"_id": 1}}, {"$graphLookup": {"from": "self", "startWith": "$r", "connectFromField": "r", "connectToField": "_id", "as": "g", "maxDepth": 0, "depthField": "d"}}, {"$project": {"g._id": 1, "g.d": 1}}], [{"_id": 1, "g": [{"_id": 2, "d": Int64(0)}]}]),
        ([{"$match": {"_id": 1}}, {"$graphLookup": {"from": "self", "startWith": "$r", "connectFromField": "r", "connectToField": "_id", "as": "g", "restrictSearchWithMatch": {"c": "Oslo"}}}, {"$project": {"g._id": 1}}], [{"_id": 1, "g": [{"_id": 2}]}]),
        ([{"$graphLookup": {"from": "self"}}], {40105}),
    ],
    "$setWindowFields": [
        ([{"$setWindowFields": {"partitionBy": "$c", "sortBy": {"_id": 1}, "output": {"s": {"$sum": "$n", "window": {"documents": ["unbounded", "current"]}}}}}, {"$project": {"s": 1}}], [{"_id": 1, "s": 2}, {"_id": 2, "s": 3}, {"_id": 3, "s": 5}, {"_id": 4, "s": 8}]),
        ([{"$setWindowFields": {"output": {"s": {"$nonsense": 1}}}}], {9}),
        ([{"$setWindowFields": {"output": {"s": {"$rank": {}}}}}], {5371602, 5371603}),
    ],
    "$densify": [
        ([IDS, {"$match": {"_id": {"$ne": 2}}}, {"$densify": {"field": "_id", "range": {"step": 1, "bounds": "full"}}}], only(1, 2, 3, 4)),
        ([IDS, {"$match": {"_id": 1}}, {"$densify": {"field": "_id", "range": {"step": 1, "bounds": [1, 3]}}}], only(1, 2)),
        ([{"$match": {"_id": {"$lt": 3}}}, {"$project": {"n": 1, "c": 1, "_id": 0}}, {"$densify": {"field": "n", "partitionByFields": ["c"], "range": {"step": 0.5, "bounds": "partition"}}}], [{"c": "Oslo", "n": 1}, {"c": "Oslo", "n": 1.5}, {"c": "Oslo", "n": 2}]),
        ([{"$densify": {"field": "n", "range": {"step": 0, "bounds": "full"}}}], {5733401}),
    ],
    "$fill": [
        ([{"$project": {"r": 1}}, {"$fill": {"sortBy": {"_id": 1}, "output": {"r": {"method": "locf"}}}}], [{"_id": 1, "r": 2}, {"_id": 2, "r": 3}, {"_id": 3, "r": 3}, {"_id": 4, "r": 3}]),
        ([SORT, {"$project": {"r": 1}}, {"$fill": {"output": {"r": {"value": 0}}}}], [{"_id": 1, "r": 2}, {"_id": 2, "r": 3}, {"_id": 3, "r": 0}, {"_id": 4, "r": 0}]),
        ([{"$fill": {"output": {}}}], {9, 6050203}),
    ],
    "$search": [([{"$search": {}}], {31082}), ([{"$searchMeta": {}}], {31082})],
    "$vectorSearch": [([{"$vectorSearch": {}}], {31082})],
    "an unknown stage": [([{"$nonsense": {}}], {40324}), ([{}], {40323}), ([{"$match": {}, "$limit": 1}], {40323})],
    "places of stages": [
        ([{"$out": "x"}, SORT], {40601}),
        ([{"$merge": "x"}, SORT], {40601}),
        ([SORT, {"$collStats": {"count": {}}}], {40602}),
        ([SORT, {"$changeStream": {}}], {40602}),
        ([SORT, {"$geoNear": {"near": [0, 0], "distanceField": "d"}}], {40602}),
        ([SORT, {"$indexStats": {}}], {40602}),
    ],
}  # fmt: skip


def named(value, names: dict):
    """Puts in the names of collections."""
    if isinstance(value, dict):
        return {
            key: names.get(inner, inner)
            if key in ("from", "coll", "$unionWith") and isinstance(inner, str)
            else named(inner, names)
            for key, inner in value.items()
        }
    return [named(inner, names) for inner in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def documents(mongo_database):
    """The documents, and the others beside them."""
    made, others = mongo_database["each-stage"], mongo_database["each-stage-others"]
    made.drop()
    others.drop()
    made.insert_many(DOCUMENTS)
    others.insert_many(OTHERS)
    yield made
    made.drop()
    others.drop()


@pytest.mark.parametrize("name", STAGES)
def test_each_stage(documents, name):
    names = {"others": "each-stage-others", "self": documents.name}
    for pipeline, expected in STAGES[name]:
        pipeline = named(pipeline, names)
        if isinstance(expected, set):
            with refused(*expected):
                list(documents.aggregate(pipeline))
            continue
        found = list(documents.aggregate(pipeline))
        assert found == expected, pipeline
        assert str(found) == str(expected), pipeline


def test_geo_near(collection):
    collection.create_index([("p", "2dsphere")])
    collection.insert_many(PLACES)
    near = {"near": {"type": "Point", "coordinates": [0, 0]}, "distanceField": "d"}
    found = list(collection.aggregate([{"$geoNear": near}]))
    assert [one["_id"] for one in found] == ["near", "far"]
    assert found[0]["d"] == 0
    assert found[1]["d"] == pytest.approx(1_568_000, rel=0.01)

    def run(**options) -> list:
        return list(collection.aggregate([{"$geoNear": {**near, **options}}]))

    assert [one["_id"] for one in run(maxDistance=1000)] == ["near"]
    assert [one["_id"] for one in run(minDistance=1000)] == ["far"]
    assert [one["_id"] for one in run(query={"v": 2})] == ["far"]
    assert run(distanceMultiplier=0.001)[1]["d"] == pytest.approx(1568, rel=0.01)
    assert run(includeLocs="l", key="p")[1]["l"] == PLACES[1]["p"]
    assert [one["_id"] for one in run(spherical=True)] == ["near", "far"]
    with refused(14):
        list(collection.aggregate([{"$geoNear": {"near": near["near"], "distanceField": 1}}]))


def test_out(collection, second_collection):
    collection.insert_many(DOCUMENTS)
    second_collection.insert_one({"_id": "old"})
    second_collection.create_index("c")
    assert list(collection.aggregate([{"$match": {"c": "Rome"}}, IDS, {"$out": second_collection.name}])) == []
    assert list(second_collection.find(sort=[("_id", 1)])) == only(3, 4)
    assert "c_1" in second_collection.index_information()
    target = {"db": collection.database.name, "coll": second_collection.name}
    list(collection.aggregate([{"$match": {"_id": 1}}, IDS, {"$out": target}]))
    assert list(second_collection.find()) == only(1)


def test_merge(collection, second_collection):
    collection.insert_many([{"_id": 1, "a": 1}, {"_id": 2, "a": 2}])

    def run(**options) -> list:
        second_collection.delete_many({})
        second_collection.insert_one({"_id": 1, "b": 5})
        list(collection.aggregate([{"$merge": {"into": second_collection.name, **options}}]))
        return list(second_collection.find(sort=[("_id", 1)]))

    two = {"_id": 2, "a": 2}
    assert run() == [{"_id": 1, "b": 5, "a": 1}, two]
    assert run(whenMatched="replace") == [{"_id": 1, "a": 1}, two]
    assert run(whenMatched="keepExisting") == [{"_id": 1, "b": 5}, two]
    assert run(whenMatched="merge", whenNotMatched="discard") == [{"_id": 1, "b": 5, "a": 1}]
    update = [{"$set": {"b": {"$add": ["$b", "$$new.a", "$$v"]}}}]
    assert run(whenMatched=update, let={"v": 10, "new": "$$ROOT"})[0] == {"_id": 1, "b": 16}
    assert run(on="_id")[0] == {"_id": 1, "b": 5, "a": 1}
    with refused(11000):
        run(whenMatched="fail")
    with refused(13113):
        run(whenNotMatched="fail")
    with refused(51183, 51190):
        run(on="a")


def test_stages_of_the_server(mongo, collection):
    collection.insert_many(DOCUMENTS)
    collection.create_index("n")
    database = collection.database
    (stats,) = collection.aggregate([{"$collStats": {"count": {}}}])
    assert stats["count"] == 4
    assert stats["ns"] == collection.full_name
    (stats,) = collection.aggregate([{"$collStats": {"storageStats": {}, "latencyStats": {}}}])
    assert stats["storageStats"]["nindexes"] == 2
    assert {"reads", "writes", "commands"} <= set(stats["latencyStats"])
    with refused(40415):
        list(collection.aggregate([{"$collStats": {"queryExecStats": {}}}]))
    used = {one["name"]: one for one in collection.aggregate([{"$indexStats": {}}])}
    assert set(used) == {"_id_", "n_1"}
    assert used["n_1"]["key"] == {"n": 1}
    assert [one["active"] for one in mongo.admin.aggregate([{"$currentOp": {}}])] == [True]
    assert list(database.aggregate([{"$documents": [{"a": 1}, {"a": 2}]}, {"$match": {"a": 2}}])) == [{"a": 2}]
    with refused(73, 40324):
        list(collection.aggregate([{"$documents": []}]))
    assert list(collection.aggregate([{"$planCacheStats": {}}])) == []
    with mongo.start_session() as session:
        mongo.admin.command("ping", session=session)
        listed = list(database.aggregate([{"$listLocalSessions": {}}]))
        assert session.session_id["id"] in [one["_id"]["id"] for one in listed]
    assert list(mongo["config"]["system.sessions"].aggregate([{"$listSessions": {}}])) is not None
