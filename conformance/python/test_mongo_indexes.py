"""Indexes: making, listing, dropping; what conflicts; unique ones; time to live; explain."""

import datetime
import time

import pytest
from pymongo import HASHED, IndexModel
from pymongo.errors import DuplicateKeyError

from mongo import ids, refused, wait_until


def create(collection, *indexes, **more) -> dict:
    """Makes indexes by command and returns the answer."""
    return collection.database.command("createIndexes", collection.name, indexes=list(indexes), **more)


def test_making_listing_and_dropping(collection):
    answer = create(collection, {"key": {"a": 1}, "name": "a_1"}, {"key": {"b": -1, "c": 1}, "name": "other"})
    assert answer["numIndexesBefore"] == 1
    assert answer["numIndexesAfter"] == 3
    assert answer["createdCollectionAutomatically"] is True
    answer = create(collection, {"key": {"a": 1}, "name": "a_1"})
    assert answer["numIndexesBefore"] == answer["numIndexesAfter"] == 3
    assert answer["note"] == "all indexes already exist"
    listed = list(collection.list_indexes())
    assert [dict(one) for one in listed] == [
        {"v": 2, "key": {"_id": 1}, "name": "_id_"},
        {"v": 2, "key": {"a": 1}, "name": "a_1"},
        {"v": 2, "key": {"b": -1, "c": 1}, "name": "other"},
    ]
    assert list(listed[2]["key"]) == ["b", "c"]
    answer = collection.database.command("dropIndexes", collection.name, index="a_1")
    assert answer["nIndexesWas"] == 3
    collection.database.command("dropIndexes", collection.name, index={"b": -1, "c": 1})
    assert list(collection.index_information()) == ["_id_"]


def test_the_driver_names_them(collection):
    assert collection.create_index([("a", 1), ("b.c", -1)]) == "a_1_b.c_-1"
    assert collection.create_indexes([IndexModel("x"), IndexModel([("y", HASHED)])]) == ["x_1", "y_hashed"]
    assert set(collection.index_information()) == {"_id_", "a_1_b.c_-1", "x_1", "y_hashed"}
    collection.drop_indexes()
    assert list(collection.index_information()) == ["_id_"]


def test_dropping_all(collection):
    collection.create_index("a")
    answer = collection.database.command("dropIndexes", collection.name, index="*")
    assert answer["nIndexesWas"] == 2
    assert answer["msg"] == "non-_id indexes dropped for collection"
    collection.create_index("a")
    collection.create_index("b")
    collection.database.command("dropIndexes", collection.name, index=["a_1", "b_1"])
    assert list(collection.index_information()) == ["_id_"]


def test_what_cannot_be_dropped(collection):
    collection.create_index("a")
    with refused(72):
        collection.drop_index("_id_")
    with refused(27):
        collection.drop_index("nothing")
    with refused(27):
        collection.drop_index([("nothing", 1)])
    with refused(26):
        collection.database["no-such-collection"].database.command("dropIndexes", "no-such-collection", index="*")
    with refused(26):
        collection.database.command("listIndexes", "no-such-collection")


CONFLICTS = [
    ({"key": {"b": 1}, "name": "a_1"}, {86}),
    ({"key": {"a": 1}, "name": "other"}, {85}),
    ({"key": {"a": 1}, "name": "a_1", "unique": True}, {85, 86}),
    ({"key": {"a": 1}, "name": "a_1", "expireAfterSeconds": 5}, {85, 86}),
    ({"key": {"a": 1}, "name": "a_1", "sparse": True}, {85, 86}),
]


@pytest.mark.parametrize(("index", "codes"), CONFLICTS, ids=[str(row[0]) for row in CONFLICTS])
def test_indexes_conflict(collection, index, codes):
    collection.create_index("a")
    with refused(*codes):
        create(collection, index)
    assert set(collection.index_information()) == {"_id_", "a_1"}


REFUSED = [
    ({"key": {"a": 1}}, {9}),
    ({"name": "x"}, {9}),
    ({"key": {}, "name": "x"}, {67}),
    ({"key": {"a": 0}, "name": "x"}, {67}),
    ({"key": {"a": "nonsense"}, "name": "x"}, {67}),
    ({"key": {"": 1}, "name": "x"}, {67}),
    ({"key": {"a..b": 1}, "name": "x"}, {67}),
    ({"key": {"$a": 1}, "name": "x"}, {67}),
    ({"key": {"a": 1}, "name": ""}, {67}),
    ({"key": {"a": 1}, "name": "*"}, {67, 2}),
    ({"key": {"a": 1}, "name": "x", "nonsense": 1}, {197}),
    ({"key": {"a": 1}, "name": 5}, {14}),
    ({"key": {"a": 1}, "name": "x", "unique": "x"}, {14}),
    ({"key": {"a": 1}, "name": "x", "expireAfterSeconds": -1}, {67}),
    ({"key": {"a": 1, "b": 1}, "name": "x", "expireAfterSeconds": 5}, {67}),
    ({"key": {"_id": 1}, "name": "x", "expireAfterSeconds": 5}, {67, 197, 86, 85}),
    ({"key": {"a": 1}, "name": "x", "sparse": True, "partialFilterExpression": {"a": 1}}, {67}),
    ({"key": {"a": 1}, "name": "x", "partialFilterExpression": {"a": {"$ne": 1}}}, {67}),
    ({"key": {"a": "text"}, "name": "x"}, {67}),
    ({"key": {"a": "2d"}, "name": "x"}, {67}),
    ({"key": {f"f{number}": 1 for number in range(33)}, "name": "x"}, {13103, 67}),
]


@pytest.mark.parametrize(("index", "codes"), REFUSED, ids=[str(row[0])[:80] for row in REFUSED])
def test_an_index_is_refused(collection, index, codes):
    with refused(*codes):
        create(collection, index)


def test_no_indexes_at_all(collection):
    with refused(2, 67, 9):
        create(collection)


OPTIONS = [
    {"unique": True},
    {"sparse": True},
    {"hidden": True},
    {"expireAfterSeconds": 3600},
    {"partialFilterExpression": {"a": {"$gt": 5}}},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options_are_kept(collection, options):
    create(collection, {"key": {"a": 1}, "name": "a_1", **options})
    listed = {one["name"]: dict(one) for one in collection.list_indexes()}
    assert listed["a_1"] == {"v": 2, "key": {"a": 1}, "name": "a_1", **options}


@pytest.mark.parametrize("key", [{"$**": 1}, {"a.$**": 1}, {"at": "2dsphere"}, {"a": "hashed"}], ids=str)
def test_kinds_of_indexes(collection, key):
    create(collection, {"key": key, "name": "x"})
    collection.insert_many({"_id": number, "a": {"b": number}} for number in range(20))
    assert ids(collection.find({"a.b": 7})) == [7]
    assert ids(collection.find({"a": {"b": 7}})) == [7]


def test_unique(collection):
    collection.create_index("email", unique=True)
    collection.insert_one({"_id": 1, "email": "a@x"})
    with pytest.raises(DuplicateKeyError) as caught:
        collection.insert_one({"_id": 2, "email": "a@x"})
    assert caught.value.details["keyPattern"] == {"email": 1}
    assert caught.value.details["keyValue"] == {"email": "a@x"}
    assert 'index: email_1 dup key: { email: "a@x" }' in caught.value.details["errmsg"]
    collection.insert_one({"_id": 2})
    with refused(11000):
        collection.insert_one({"_id": 3, "email": None})
    collection.insert_one({"_id": 4, "email": "b@x"})
    with refused(11000):
        collection.update_one({"_id": 1}, {"$set": {"email": "b@x"}})
    assert collection.update_one({"_id": 1}, {"$set": {"email": "d@x"}}).modified_count == 1
    collection.insert_one({"_id": 6, "email": "a@x"})
    with refused(11000):
        collection.update_one({"email": "new"}, {"$set": {"email": "a@x"}}, upsert=True)


@pytest.mark.xfail(strict=True, reason="COMPAT: a unique key takes an array as one value")
def test_unique_elements(collection):
    collection.create_index("email", unique=True)
    collection.insert_one({"_id": 4, "email": ["b@x", "c@x", "b@x"]})
    with refused(11000):
        collection.insert_one({"_id": 5, "email": "c@x"})


def test_unique_of_several_fields(collection):
    collection.create_index([("a", 1), ("b", 1)], unique=True)
    collection.insert_many([{"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 1}])
    with pytest.raises(DuplicateKeyError) as caught:
        collection.insert_one({"a": 1.0, "b": 2})
    assert caught.value.details["keyPattern"] == {"a": 1, "b": 1}
    with refused(11000):
        collection.insert_one({"a": 1})


def test_parallel_arrays_have_no_index(collection):
    collection.create_index([("a", 1), ("b", 1)])
    with refused(171):
        collection.insert_one({"a": [1, 2], "b": [1, 2]})
    collection.insert_one({"a": [1, 2], "b": 1})
    with refused(171):
        collection.update_one({}, {"$set": {"b": [1, 2]}})


def test_an_index_changes_no_answer(collection):
    values = [1, "x", None, [1, 2], [], {"b": 1}, 2.5, True, [[1]], [{"b": 2}]]
    collection.insert_many({"_id": number, "a": values[number % len(values)]} for number in range(200))
    filters = [{"a": 1}, {"a": None}, {"a": {"$gt": 0}}, {"a.b": {"$gte": 1}}, {"a": {"$ne": 1}}, {"a": [1, 2]}]
    before = [sorted(ids(collection.find(filter))) for filter in filters]
    sorts = [[found["a"] for found in collection.find(sort=[("a", way), ("_id", 1)])] for way in (1, -1)]
    collection.create_index("a")
    collection.create_index("a.b")
    assert [sorted(ids(collection.find(filter))) for filter in filters] == before
    assert [[found["a"] for found in collection.find(sort=[("a", way), ("_id", 1)])] for way in (1, -1)] == sorts


def test_documents_expire(collection):
    collection.create_index("at", expireAfterSeconds=1)
    now = datetime.datetime.now(datetime.UTC)
    collection.insert_many(
        [
            {"_id": "past", "at": now - datetime.timedelta(hours=1)},
            {"_id": "array", "at": [now + datetime.timedelta(hours=1), now - datetime.timedelta(hours=1)]},
            {"_id": "future", "at": now + datetime.timedelta(hours=1)},
            {"_id": "number", "at": 5},
            {"_id": "none"},
        ]
    )
    deadline = time.monotonic() + 90
    while collection.count_documents({"_id": {"$in": ["past", "array"]}}) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert sorted(ids(collection.find())) == ["future", "none", "number"]


def test_changing_an_index(collection):
    collection.create_index("at", expireAfterSeconds=100)
    answer = collection.database.command(
        "collMod", collection.name, index={"keyPattern": {"at": 1}, "expireAfterSeconds": 200}
    )
    assert (answer["expireAfterSeconds_old"], answer["expireAfterSeconds_new"]) == (100, 200)
    assert collection.index_information()["at_1"]["expireAfterSeconds"] == 200
    collection.database.command("collMod", collection.name, index={"name": "at_1", "hidden": True})
    assert collection.index_information()["at_1"]["hidden"] is True


def stages(plan: dict) -> list[str]:
    """The stages of a plan, from the outermost."""
    found = [plan["stage"]]
    inner = plan.get("inputStage")
    return found + (stages(inner) if inner else [])


def test_explain(collection):
    collection.insert_many({"_id": number, "a": number} for number in range(100))
    explained = collection.find({"a": 5}).explain()
    planner = explained["queryPlanner"]
    assert planner["namespace"] == collection.full_name
    assert "COLLSCAN" in stages(planner["winningPlan"])
    assert planner["rejectedPlans"] == []
    statistics = explained["executionStats"]
    assert statistics["executionSuccess"] is True
    assert statistics["nReturned"] == 1
    assert statistics["totalDocsExamined"] == 100
    assert explained["serverInfo"]["version"]
    collection.create_index("a")
    wait_until(lambda: "IXSCAN" in stages(collection.find({"a": 5}).explain()["queryPlanner"]["winningPlan"]))
    statistics = collection.find({"a": 5}).explain()["executionStats"]
    assert statistics["nReturned"] == 1
    assert statistics["totalDocsExamined"] == 1


def test_explain_of_each_command(collection):
    collection.insert_one({"_id": 1})
    for command in (
        {"find": collection.name},
        {"aggregate": collection.name, "pipeline": [], "cursor": {}},
        {"count": collection.name},
        {"distinct": collection.name, "key": "a"},
        {"update": collection.name, "updates": [{"q": {}, "u": {"$set": {"a": 1}}}]},
        {"delete": collection.name, "deletes": [{"q": {}, "limit": 0}]},
        {"findAndModify": collection.name, "remove": True, "query": {}},
    ):
        for verbosity in ("queryPlanner", "executionStats", "allPlansExecution"):
            assert collection.database.command("explain", command, verbosity=verbosity)["ok"] == 1.0
    assert list(collection.find()) == [{"_id": 1}]
