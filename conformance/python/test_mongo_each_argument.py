"""Each argument of each command by its name: that it is honoured, or refused in words that say why.

The names are those of the rows in COMPAT.md: `command.argument`.
"""

import threading
import time
import uuid

import pytest
from bson import Binary, Int64
from pymongo.errors import OperationFailure

from mongo import connect, ids, refused

CURSOR_IN_USE = 143
CURSOR_OF_ANOTHER_SESSION = 50738
SIMPLE, NORWEGIAN = {"locale": "simple"}, {"locale": "nb"}


class Place:
    """A collection with ten documents, and its commands."""

    def __init__(self, collection):
        self.collection = collection
        self.database = collection.database
        self.name = collection.name

    def fill(self) -> None:
        """Puts the documents in."""
        self.collection.delete_many({})
        self.collection.insert_many({"_id": number, "a": number, "g": number % 2} for number in range(10))

    def run(self, command: str, **arguments) -> dict:
        """Sends a command to the collection."""
        return self.database.command({command: self.name, **arguments})

    def refuses(self, *codes: int, command: str, **arguments) -> str:
        """Expects a command to be refused; returns why."""
        with refused(*codes) as caught:
            self.run(command, **arguments)
        return str(caught.value)

    def find(self, **arguments) -> list:
        """Finds, and returns the ids of the first batch."""
        return ids(self.run("find", **arguments)["cursor"]["firstBatch"])

    def all(self) -> list:
        """Returns all ids."""
        return sorted(ids(self.collection.find()))


@pytest.fixture(scope="module")
def shared(mongo_database):
    """A collection for those that only read."""
    place = Place(mongo_database["each-argument"])
    place.collection.drop()
    place.collection.create_index("a")
    place.fill()
    yield place
    place.collection.drop()


@pytest.fixture
def own(collection):
    """A collection for those that write."""
    place = Place(collection)
    place.fill()
    return place


def on_find(place: Place) -> dict:
    """`find`."""
    by = {"sort": {"_id": 1}}
    return {
        "filter": lambda: (place.find(filter={"a": {"$gt": 7}}, **by), [8, 9]),
        "sort": lambda: (place.find(sort={"g": 1, "_id": -1}), [8, 6, 4, 2, 0, 9, 7, 5, 3, 1]),
        "projection": lambda: (place.run("find", filter={"_id": 1}, projection={"a": 1, "_id": 0})["cursor"]["firstBatch"], [{"a": 1}]),
        "hint": lambda: ((place.find(filter={"a": 3}, hint="a_1"), place.find(filter={"a": 3}, hint={"a": 1}), place.find(filter={"a": 3}, hint={"$natural": 1}), place.refuses(2, command="find", hint="none")[:8]), ([3], [3], [3], "error pr")),
        "skip": lambda: (place.find(skip=8, **by), [8, 9]),
        "limit": lambda: ((place.find(limit=2, **by), place.find(limit=0, **by)), ([0, 1], list(range(10)))),
        "batchSize": lambda: ((len(place.find(batchSize=3)), place.find(batchSize=0)), (3, [])),
        "singleBatch": lambda: (place.run("find", batchSize=3, singleBatch=True)["cursor"]["id"], 0),
        "comment": lambda: (place.find(filter={"_id": 1}, comment={"any": "thing"}), [1]),
        "maxTimeMS": lambda: ((place.find(filter={"_id": 1}, maxTimeMS=10_000), place.refuses(2, 9, command="find", maxTimeMS=-1) != ""), ([1], True)),
        "min": lambda: (place.find(hint={"a": 1}, min={"a": 8}), [8, 9]),
        "max": lambda: (place.find(hint={"a": 1}, max={"a": 2}), [0, 1]),
        "returnKey": lambda: ("returnKey" in place.refuses(238, command="find", returnKey=True), True),
        "showRecordId": lambda: ("showRecordId" in place.refuses(238, command="find", showRecordId=True), True),
        "tailable": lambda: ("capped" in place.refuses(2, command="find", tailable=True), True),
        "awaitData": lambda: ("tailable" in place.refuses(9, command="find", awaitData=True), True),
        "noCursorTimeout": lambda: (place.find(noCursorTimeout=True, **by), list(range(10))),
        "allowPartialResults": lambda: (place.find(allowPartialResults=True, **by), list(range(10))),
        "allowDiskUse": lambda: ((place.find(allowDiskUse=True, **by), place.find(allowDiskUse=False, **by)), (list(range(10)), list(range(10)))),
        "collation": lambda: ((place.find(filter={"_id": 1}, collation=SIMPLE), "nb" in place.refuses(115, command="find", collation=NORWEGIAN)), ([1], True)),
        "let": lambda: (place.find(filter={"$expr": {"$eq": ["$a", "$$v"]}}, let={"v": 4}), [4]),
        "oplogReplay": lambda: (place.find(filter={"_id": 1}, oplogReplay=True), [1]),
        "encryptionInformation": lambda: ("encrypt" in place.refuses(115, command="find", encryptionInformation={"a": 1}), True),
        "requestResumeToken": lambda: ("requestResumeToken" in place.refuses(238, command="find", requestResumeToken=True), True),
        "a name that is none": lambda: ("find.nonsense" in place.refuses(40415, command="find", nonsense=1), True),
    }  # fmt: skip


def on_count_and_distinct(place: Place) -> dict:
    """`count` and `distinct`."""
    return {
        "count.query": lambda: (place.run("count", query={"g": 1})["n"], 5),
        "count.limit": lambda: (place.run("count", limit=3)["n"], 3),
        "count.skip": lambda: (place.run("count", skip=8)["n"], 2),
        "count.hint": lambda: ((place.run("count", query={"a": 1}, hint="a_1")["n"], place.refuses(2, command="count", hint="none") != ""), (1, True)),
        "count.collation": lambda: ("nb" in place.refuses(115, command="count", collation=NORWEGIAN), True),
        "count of nothing": lambda: (place.database.command("count", "each-nothing")["n"], 0),
        "distinct.key": lambda: (place.run("distinct", key="g")["values"], [0, 1]),
        "distinct.query": lambda: (place.run("distinct", key="a", query={"a": {"$gt": 7}})["values"], [8, 9]),
        "distinct.hint": lambda: ((place.run("distinct", key="g", hint="a_1")["values"], place.refuses(2, command="distinct", key="g", hint="none") != ""), ([0, 1], True)),
        "distinct.collation": lambda: ("nb" in place.refuses(115, command="distinct", key="a", collation=NORWEGIAN), True),
    }  # fmt: skip


def on_aggregate(place: Place) -> dict:
    """`aggregate`."""

    def run(*stages, **arguments) -> list:
        return place.run("aggregate", pipeline=list(stages), **{"cursor": {}, **arguments})["cursor"]["firstBatch"]

    def refuses(*codes, **arguments) -> bool:
        return place.refuses(*codes, command="aggregate", **{"pipeline": [], "cursor": {}, **arguments}) != ""

    return {
        "pipeline": lambda: (run({"$match": {"_id": 1}}), [{"_id": 1, "a": 1, "g": 1}]),
        "cursor": lambda: ((len(run(cursor={"batchSize": 2})), run(cursor={"batchSize": 0}), refuses(40415, cursor={"nonsense": 1}), place.refuses(9, command="aggregate", pipeline=[])[:10]), (2, [], True, "The 'curso")),
        "explain": lambda: ("queryPlanner" in str(place.run("aggregate", pipeline=[], explain=True)), True),
        "allowDiskUse": lambda: (run({"$match": {"_id": 1}}, {"$project": {"_id": 1}}, allowDiskUse=True), [{"_id": 1}]),
        "hint": lambda: ((run({"$match": {"a": 1}}, {"$project": {"_id": 1}}, hint="a_1"), refuses(2, hint="none")), ([{"_id": 1}], True)),
        "collation": lambda: (refuses(115, collation=NORWEGIAN), True),
        "let": lambda: (run({"$match": {"$expr": {"$eq": ["$a", "$$v"]}}}, {"$project": {"_id": 1}}, let={"v": 4}), [{"_id": 4}]),
        "bypassDocumentValidation": lambda: (_out_and_merge(place), [121, None, 121, None, ["text"]]),
        "a name that is none": lambda: (refuses(40415, needsMerge=True), True),
        "no collection": lambda: (place.database.command("aggregate", 1, pipeline=[{"$documents": [{"a": 1}]}], cursor={})["cursor"]["ns"], f"{place.database.name}.$cmd.aggregate"),
    }  # fmt: skip


def _out_and_merge(place: Place) -> list:
    target = place.database["each-argument-target"]
    target.drop()
    place.database.create_collection(target.name, validator={"a": {"$type": "number"}})
    target.insert_one({"_id": "old", "a": 1})
    text = [{"$match": {"_id": 1}}, {"$project": {"a": {"$literal": "text"}}}]
    codes = []
    for last in ({"$merge": target.name}, {"$out": target.name}):
        for bypass in (False, True):
            pipeline = [*text, last]
            try:
                place.run("aggregate", pipeline=pipeline, cursor={}, bypassDocumentValidation=bypass)
                codes.append(None)
            except OperationFailure as error:
                codes.append(error.code)
                # A refusal costs nothing of what is there.
                assert target.find_one({"_id": "old"}) is not None
    found = [one["a"] for one in target.find()]
    target.drop()
    return [*codes, found]


READING = {"find": on_find, "": on_count_and_distinct, "aggregate": on_aggregate}
READ_NAMES = [
    *(f"find.{name}" for name in on_find(None)),
    *on_count_and_distinct(None),
    *(f"aggregate.{name}" for name in on_aggregate(None)),
]


@pytest.mark.parametrize("name", READ_NAMES)
def test_each_argument_of_reading(shared, name):
    command, _, argument = name.partition(".")
    cases = READING[command](shared) if command in ("find", "aggregate") else on_count_and_distinct(shared)
    found, expected = cases[argument if command in ("find", "aggregate") else name]()
    assert found == expected


def on_writing(place: Place) -> dict:
    """`insert`, `update`, `delete`, `findAndModify`."""

    def insert(*documents, **arguments) -> dict:
        return place.run("insert", documents=list(documents), **arguments)

    def update(*statements, **arguments) -> dict:
        return place.run("update", updates=list(statements), **arguments)

    def delete(*statements, **arguments) -> dict:
        return place.run("delete", deletes=list(statements), **arguments)

    def modify(**arguments) -> dict:
        return place.run("findAndModify", **arguments)

    def at(key) -> dict | None:
        return place.collection.find_one({"_id": key})

    def validated() -> None:
        place.database.command("collMod", place.name, validator={"a": {"$type": "number"}})

    def bypassed(**arguments) -> tuple:
        validated()
        refusing = insert({"_id": "x", "a": "text"})["writeErrors"][0]
        return refusing["code"], "errInfo" in refusing, insert({"_id": "x", "a": "text"}, **arguments)["n"]

    def bypassed_update(run) -> tuple:
        validated()
        return run(False), run(True), at(1)["a"]

    def in_update(bypass: bool) -> int:
        reply = update({"q": {"_id": 1}, "u": {"$set": {"a": "x"}}}, bypassDocumentValidation=bypass)
        return reply["writeErrors"][0]["code"] if "writeErrors" in reply else reply["nModified"]

    def in_modify(bypass: bool) -> int:
        try:
            return modify(query={"_id": 1}, update={"$set": {"a": "x"}}, bypassDocumentValidation=bypass)[
                "lastErrorObject"
            ]["n"]
        except OperationFailure as error:
            return error.code

    def failed(reply: dict) -> list:
        return [(one["index"], one["code"]) for one in reply.get("writeErrors", [])]

    set_z = {"$set": {"z": 1}}
    return {
        "insert.documents": lambda: ((insert({"_id": 20}, {"_id": 21})["n"], at(21), place.refuses(16, command="insert", documents=[]) != ""), (2, {"_id": 21}, True)),
        "insert.ordered": lambda: ((failed(insert({"_id": 0}, {"_id": 30})), at(30), failed(insert({"_id": 0}, {"_id": 30}, ordered=False)), at(30)), ([(0, 11000)], None, [(0, 11000)], {"_id": 30})),
        "insert.bypassDocumentValidation": lambda: (bypassed(bypassDocumentValidation=True), (121, True, 1)),
        "update.updates": lambda: (update({"q": {"_id": 1}, "u": set_z}, {"q": {"_id": 99}, "u": set_z})["n"], 1),
        "update.q": lambda: ((update({"q": {"a": 3}, "u": set_z})["n"], at(3)["z"]), (1, 1)),
        "update.u": lambda: ((update({"q": {"_id": 3}, "u": {"b": 1}})["n"], at(3)), (1, {"_id": 3, "b": 1})),
        "update.c": lambda: ((update({"q": {"_id": 3}, "u": [{"$set": {"z": "$$v"}}], "c": {"v": 7}})["n"], at(3)["z"]), (1, 7)),
        "update.upsert": lambda: ((update({"q": {"_id": 40}, "u": set_z, "upsert": True})["upserted"], at(40)), ([{"index": 0, "_id": 40}], {"_id": 40, "z": 1})),
        "update.multi": lambda: ((update({"q": {}, "u": set_z, "multi": True})["nModified"], update({"q": {}, "u": {"$set": {"z": 2}}})["nModified"], failed(update({"q": {}, "u": {"a": 1}, "multi": True}))), (10, 1, [(0, 9)])),
        "update.collation": lambda: ("nb" in place.refuses(115, command="update", updates=[{"q": {}, "u": set_z, "collation": NORWEGIAN}]), True),
        "update.arrayFilters": lambda: ((insert({"_id": 50, "l": [1, 5]})["n"], update({"q": {"_id": 50}, "u": {"$set": {"l.$[e]": 0}}, "arrayFilters": [{"e": {"$gt": 2}}]})["nModified"], at(50)["l"]), (1, 1, [1, 0])),
        "update.hint": lambda: ((update({"q": {"_id": 1}, "u": set_z, "hint": "_id_"})["n"], failed(update({"q": {"_id": 1}, "u": set_z, "hint": "none"}))), (1, [(0, 2)])),
        "update.sort": lambda: ("sort" in place.refuses(40415, command="update", updates=[{"q": {}, "u": set_z, "sort": {"a": 1}}]), True),
        "update.ordered": lambda: ((failed(update({"q": {"_id": 1}, "u": {"$inc": {"g": 1, "a.b": 1}}}, {"q": {"_id": 2}, "u": set_z})), at(2).get("z"), failed(update({"q": {"_id": 1}, "u": {"$inc": {"a.b": 1}}}, {"q": {"_id": 2}, "u": set_z}, ordered=False)), at(2).get("z")), ([(0, 28)], None, [(0, 28)], 1)),
        "update.let": lambda: ((update({"q": {"$expr": {"$eq": ["$a", "$$v"]}}, "u": set_z}, let={"v": 6})["n"], at(6)["z"]), (1, 1)),
        "update.bypassDocumentValidation": lambda: (bypassed_update(in_update), (121, 1, "x")),
        "delete.deletes": lambda: ((delete({"q": {"_id": 1}, "limit": 1}, {"q": {"_id": 2}, "limit": 1})["n"], at(1), at(2)), (2, None, None)),
        "delete.q": lambda: ((delete({"q": {"a": {"$gte": 5}}, "limit": 0})["n"], place.all()), (5, [0, 1, 2, 3, 4])),
        "delete.limit": lambda: ((delete({"q": {}, "limit": 1})["n"], place.refuses(9, command="delete", deletes=[{"q": {}, "limit": 7}]) != "", delete({"q": {}, "limit": 0})["n"]), (1, True, 9)),
        "delete.collation": lambda: ("nb" in place.refuses(115, command="delete", deletes=[{"q": {}, "limit": 1, "collation": NORWEGIAN}]), True),
        "delete.hint": lambda: (failed(delete({"q": {}, "limit": 1, "hint": "none"})), [(0, 2)]),
        "delete.ordered": lambda: ((failed(delete({"q": {}, "limit": 1, "hint": "none"}, {"q": {"_id": 1}, "limit": 1}, ordered=False)), at(1)), ([(0, 2)], None)),
        "delete.let": lambda: ((delete({"q": {"$expr": {"$eq": ["$a", "$$v"]}}, "limit": 0}, let={"v": 6})["n"], at(6)), (1, None)),
        "findAndModify.query": lambda: (modify(query={"a": 3}, update=set_z)["value"], {"_id": 3, "a": 3, "g": 1}),
        "findAndModify.sort": lambda: (modify(query={}, sort={"g": -1, "a": -1}, update=set_z)["value"]["_id"], 9),
        "findAndModify.remove": lambda: ((modify(query={"_id": 3}, remove=True)["lastErrorObject"], at(3), place.refuses(9, command="findAndModify", query={}, remove=True, update=set_z) != "", place.refuses(9, command="findAndModify", query={}, remove=True, new=True) != ""), ({"n": 1}, None, True, True)),
        "findAndModify.update": lambda: ((modify(query={"_id": 3}, update={"b": 1})["lastErrorObject"], at(3), modify(query={"_id": 3}, update=[{"$set": {"b": 2}}])["value"]["b"], at(3)["b"]), ({"n": 1, "updatedExisting": True}, {"_id": 3, "b": 1}, 1, 2)),
        "findAndModify.new": lambda: (modify(query={"_id": 3}, update=set_z, new=True)["value"]["z"], 1),
        "findAndModify.fields": lambda: (modify(query={"_id": 3}, update=set_z, fields={"a": 1, "_id": 0})["value"], {"a": 3}),
        "findAndModify.upsert": lambda: ((modify(query={"_id": 60}, update=set_z, upsert=True), at(60)), None),
        "findAndModify.arrayFilters": lambda: ((insert({"_id": 50, "l": [1, 5]})["n"], modify(query={"_id": 50}, update={"$set": {"l.$[e]": 0}}, arrayFilters=[{"e": 5}], new=True)["value"]["l"]), (1, [1, 0])),
        "findAndModify.hint": lambda: ((modify(query={"_id": 3}, update=set_z, hint="_id_")["value"]["_id"], place.refuses(2, command="findAndModify", query={}, update=set_z, hint="none") != ""), (3, True)),
        "findAndModify.let": lambda: (modify(query={"$expr": {"$eq": ["$a", "$$v"]}}, update=set_z, let={"v": 6})["value"]["_id"], 6),
        "findAndModify.collation": lambda: ("nb" in place.refuses(115, command="findAndModify", query={}, remove=True, collation=NORWEGIAN), True),
        "findAndModify.bypassDocumentValidation": lambda: (bypassed_update(in_modify), (121, 1, "x")),
    }  # fmt: skip


@pytest.mark.parametrize("name", on_writing(None))
def test_each_argument_of_writing(own, name):
    found, expected = on_writing(own)[name]()
    if name == "findAndModify.upsert":
        reply, stored = found
        assert stored == {"_id": 60, "z": 1}
        assert reply["value"] is None
        assert reply["lastErrorObject"] == {"n": 1, "updatedExisting": False, "upserted": 60}
        return
    assert found == expected


def on_collections(database, name: str) -> dict:
    """`create`, `collMod`, `drop`, `renameCollection`, `listCollections`, `createIndexes` and so on."""

    def create(**arguments) -> dict:
        return database.command("create", name, **arguments)

    def refuses(*codes, command="create", **arguments) -> str:
        with refused(*codes) as caught:
            database.command(command, name, **arguments)
        return str(caught.value)

    def options() -> dict:
        (listed,) = database.list_collections(filter={"name": name})
        return listed["options"]

    def made(**arguments) -> dict:
        create(**arguments)
        return options()

    def failing() -> int:
        return database.command("insert", name, documents=[{"a": "x"}]).get("writeErrors", [{"code": 0}])[0]["code"]

    def change(**arguments) -> dict:
        return database.command("collMod", name, **arguments)

    def index(option: str, value, key=None) -> dict:
        spec = {"key": key or {"a": 1}, "name": "i", option: value}
        database.command("createIndexes", name, indexes=[spec])
        (found,) = [one for one in database[name].list_indexes() if one["name"] == "i"]
        return dict(found)

    def no_index(*codes, key=None, **options) -> bool:
        return (
            refuses(*codes, command="createIndexes", indexes=[{"key": key or {"a": 1}, "name": "i", **options}]) != ""
        )

    def with_index(**options) -> None:
        database.command("createIndexes", name, indexes=[{"key": {"a": 1}, "name": "i", **options}])

    validator = {"a": {"$type": "number"}}
    number = {"validator": validator}
    return {
        "create.capped": lambda: ("capped" in refuses(115, capped=True, size=1000), True),
        "create.size": lambda: ("capped" in refuses(72, size=1000), True),
        "create.max": lambda: ("capped" in refuses(72, max=10), True),
        "create.validator": lambda: ((made(**number), failing()), (number, 121)),
        "create.validationLevel": lambda: ((made(**number, validationLevel="off")["validationLevel"], failing(), refuses(2, validationLevel="x") != ""), ("off", 0, True)),
        "create.validationAction": lambda: ((made(**number, validationAction="warn")["validationAction"], failing()), ("warn", 0)),
        "create.indexOptionDefaults": lambda: (made(indexOptionDefaults={"storageEngine": {}}), {}),
        "create.viewOn": lambda: (made(viewOn="other"), {"viewOn": "other", "pipeline": []}),
        "create.pipeline": lambda: ((refuses(72, pipeline=[]) != "", made(viewOn="other", pipeline=[{"$match": {"a": 1}}])["pipeline"]), (True, [{"$match": {"a": 1}}])),
        "create.collation": lambda: (("nb" in refuses(115, collation=NORWEGIAN), made(collation=SIMPLE)), (True, {})),
        "create.timeseries": lambda: ("time series" in refuses(115, timeseries={"timeField": "t"}), True),
        "create.expireAfterSeconds": lambda: ("time series" in refuses(115, expireAfterSeconds=5), True),
        "create.changeStreamPreAndPostImages": lambda: (made(changeStreamPreAndPostImages={"enabled": True}), {"changeStreamPreAndPostImages": {"enabled": True}}),
        "create.encryptedFields": lambda: ("encrypt" in refuses(115, encryptedFields={"fields": []}), True),
        "create.storageEngine": lambda: (made(storageEngine={"wiredTiger": {}}), {}),
        "create.idIndex": lambda: ((refuses(2, idIndex={"key": {"a": 1}, "name": "_id_"}) != "", made(idIndex={"v": 2, "key": {"_id": 1}, "name": "_id_"})), (True, {})),
        "create again": lambda: ((create()["ok"], create()["ok"], refuses(48, **number) != ""), (1.0, 1.0, True)),
        "create.a name that is none": lambda: (refuses(40415, autoIndexId=True) != "", True),
        "collMod.index": lambda: ((with_index(expireAfterSeconds=5), change(index={"name": "i", "expireAfterSeconds": 9})["expireAfterSeconds_new"], change(index={"keyPattern": {"a": 1}, "hidden": True})["hidden_new"], refuses(27, command="collMod", index={"name": "none", "hidden": True}) != "", refuses(72, command="collMod", index={"name": "i"}) != ""), (None, 9, True, True, True)),
        "collMod.validator": lambda: ((made(), change(**number)["ok"], options(), failing()), ({}, 1.0, number, 121)),
        "collMod.validationLevel": lambda: ((made(**number)["validator"], change(validationLevel="off")["ok"], failing()), (validator, 1.0, 0)),
        "collMod.validationAction": lambda: ((made(**number)["validator"], change(validationAction="warn")["ok"], failing()), (validator, 1.0, 0)),
        "collMod.changeStreamPreAndPostImages": lambda: ((made(), change(changeStreamPreAndPostImages={"enabled": True})["ok"], options()), ({}, 1.0, {"changeStreamPreAndPostImages": {"enabled": True}})),
        "collMod.viewOn": lambda: ((create(viewOn="x")["ok"], change(viewOn="y", pipeline=[])["ok"], options()["viewOn"], refuses(72, command="collMod", **number) != ""), (1.0, 1.0, "y", True)),
        "collMod.pipeline": lambda: ((create()["ok"], refuses(72, command="collMod", pipeline=[]) != ""), (1.0, True)),
        "collMod.expireAfterSeconds": lambda: ((create()["ok"], "time series" in refuses(115, command="collMod", expireAfterSeconds=5)), (1.0, True)),
        "collMod.dryRun": lambda: ((create()["ok"], refuses(115, command="collMod", dryRun=True) != ""), (1.0, True)),
        "drop": lambda: ((create()["ok"], database.command("drop", name)["nIndexesWas"], database.command("drop", name)["ok"]), (1.0, 1, 1.0)),
        "createIndexes.reply": lambda: ({key: value for key, value in database.command("createIndexes", name, indexes=[{"key": {"a": 1}, "name": "i"}]).items() if key.startswith(("num", "created", "note"))}, {"numIndexesBefore": 1, "numIndexesAfter": 2, "createdCollectionAutomatically": True}),
        "createIndexes.commitQuorum": lambda: (database.command("createIndexes", name, indexes=[{"key": {"a": 1}, "name": "i"}], commitQuorum="majority")["ok"], 1.0),
        "createIndexes.ignoreUnknownIndexOptions": lambda: (refuses(115, command="createIndexes", indexes=[{"key": {"a": 1}, "name": "i"}], ignoreUnknownIndexOptions=True) != "", True),
        "createIndexes.key": lambda: ((no_index(67, key={"a": 0}), no_index(67, key={"a": "nonsense"}), no_index(67, key={"": 1}), index("hidden", False, key={"b": 1, "c": -1})["key"]), (True, True, True, {"b": 1, "c": -1})),
        "createIndexes.name": lambda: ((refuses(9, command="createIndexes", indexes=[{"key": {"a": 1}}]) != "", with_index(), refuses(86, command="createIndexes", indexes=[{"key": {"b": 1}, "name": "i"}]) != "", refuses(85, command="createIndexes", indexes=[{"key": {"a": 1}, "name": "j"}]) != ""), (True, None, True, True)),
        "createIndexes.unique": lambda: ((index("unique", True)["unique"], database.command("insert", name, documents=[{"a": 1}, {"a": 1.0}])["writeErrors"][0]["code"]), (True, 11000)),
        "createIndexes.sparse": lambda: (index("sparse", True)["sparse"], True),
        "createIndexes.background": lambda: (index("background", True)["key"], {"a": 1}),
        "createIndexes.expireAfterSeconds": lambda: ((index("expireAfterSeconds", 3600)["expireAfterSeconds"], no_index(67, expireAfterSeconds=-1), no_index(67, key={"a": 1, "b": 1}, expireAfterSeconds=1), no_index(67, 197, key={"_id": 1}, expireAfterSeconds=1)), (3600, True, True, True)),
        "createIndexes.partialFilterExpression": lambda: ((index("partialFilterExpression", {"a": {"$gt": 1}})["partialFilterExpression"], no_index(67, key={"b": 1}, partialFilterExpression={"a": {"$ne": 1}})), ({"a": {"$gt": 1}}, True)),
        "createIndexes.hidden": lambda: (index("hidden", True)["hidden"], True),
        "createIndexes.collation": lambda: ((no_index(115, collation=NORWEGIAN), "collation" in index("collation", SIMPLE)), (True, False)),
        "createIndexes.weights": lambda: (no_index(67, weights={"a": 1}), True),
        "createIndexes.default_language": lambda: (no_index(67, default_language="none"), True),
        "createIndexes.textIndexVersion": lambda: (no_index(67, textIndexVersion=3), True),
        "createIndexes.2dsphereIndexVersion": lambda: (index("2dsphereIndexVersion", 3, key={"p": "2dsphere"})["2dsphereIndexVersion"], 3),
        "createIndexes.bits": lambda: (no_index(67, bits=26), True),
        "createIndexes.min": lambda: (no_index(67, min=-180), True),
        "createIndexes.max": lambda: (no_index(67, max=180), True),
        "createIndexes.wildcardProjection": lambda: ((index("wildcardProjection", {"a": 1}, key={"$**": 1})["wildcardProjection"], no_index(2, wildcardProjection={"a": 1})), ({"a": 1}, True)),
        "createIndexes.storageEngine": lambda: (index("storageEngine", {"wiredTiger": {}})["key"], {"a": 1}),
        "createIndexes.v": lambda: ((index("v", 2)["v"], no_index(67, v=5)), (2, True)),
        "createIndexes.an option that is none": lambda: (no_index(197, nonsense=1), True),
        "createIndexes of text": lambda: (no_index(67, key={"a": "text"}), True),
        "createIndexes of 2d": lambda: (no_index(67, key={"a": "2d"}), True),
        "createIndexes of hashes": lambda: (index("hidden", False, key={"a": "hashed"})["key"], {"a": "hashed"}),
        "dropIndexes.index": lambda: ((with_index(), database.command("dropIndexes", name, index="i")["nIndexesWas"], with_index(), database.command("dropIndexes", name, index={"a": 1})["nIndexesWas"], with_index(), database.command("dropIndexes", name, index=["i"])["nIndexesWas"], with_index(), database.command("dropIndexes", name, index="*")["msg"], refuses(27, command="dropIndexes", index="i") != "", refuses(72, command="dropIndexes", index="_id_") != ""), (None, 2, None, 2, None, 2, None, "non-_id indexes dropped for collection", True, True)),
        "listIndexes.cursor": lambda: ((with_index(), len(database.command("listIndexes", name, cursor={"batchSize": 1})["cursor"]["firstBatch"])), (None, 1)),
        "listIndexes.includeIndexBuildInfo": lambda: ((create()["ok"], refuses(115, command="listIndexes", includeIndexBuildInfo=True) != ""), (1.0, True)),
        "listCollections.filter": lambda: ((create()["ok"], [one["name"] for one in database.command("listCollections", filter={"name": name})["cursor"]["firstBatch"]]), (1.0, [name])),
        "listCollections.nameOnly": lambda: ((create()["ok"], database.command("listCollections", nameOnly=True)["cursor"]["firstBatch"]), (1.0, [{"name": name, "type": "collection"}])),
        "listCollections.cursor": lambda: ((create()["ok"], database.command("listCollections", cursor={"batchSize": 0})["cursor"]["firstBatch"]), (1.0, [])),
        "listCollections.authorizedCollections": lambda: ((create()["ok"], len(database.command("listCollections", nameOnly=True, authorizedCollections=True)["cursor"]["firstBatch"])), (1.0, 1)),
        "dbStats.scale": lambda: ((create()["ok"], database.command("dbStats", scale=1024)["scaleFactor"]), (1.0, 1024)),
        "dbStats.freeStorage": lambda: (database.command("dbStats", freeStorage=1)["totalFreeStorageSize"], 0.0),
        "collStats.scale": lambda: ((create()["ok"], database.command("collStats", name, scale=1024)["scaleFactor"]), (1.0, 1024)),
        "dataSize.min": lambda: ("whole collections" in _refused(database, {"dataSize": f"{database.name}.{name}", "keyPattern": {"_id": 1}, "min": {"_id": 1}, "max": {"_id": 2}}, 115), True),
        "validate.full": lambda: ((create()["ok"], database.command("validate", name, full=True)["valid"], refuses(72, command="validate", full=True, background=True) != ""), (1.0, True, True)),
        "validate.repair": lambda: ((create()["ok"], refuses(115, command="validate", repair=True) != ""), (1.0, True)),
        "reIndex": lambda: ((create()["ok"], database.command("reIndex", name)["ok"], _refused(database, {"reIndex": "none"}, 26) != ""), (1.0, 1.0, True)),
        "compact": lambda: ((create()["ok"], database.command("compact", name)["ok"], _refused(database, {"compact": "none"}, 26) != ""), (1.0, 1.0, True)),
        "profile.slowms": lambda: ("--slow-request-ms" in _refused(database, {"profile": 0, "slowms": 5}, 115), True),
        "profile of a level": lambda: ("profiled" in _refused(database, {"profile": 1}, 115), True),
        "dropDatabase": lambda: ((create()["ok"], database.command("dropDatabase")["dropped"], "dropped" in database.command("dropDatabase")), (1.0, database.name, False)),
    }  # fmt: skip


def _refused(database, command: dict, *codes: int) -> str:
    with refused(*codes) as caught:
        database.command(command)
    return str(caught.value)


@pytest.mark.parametrize("name", on_collections(None, ""))
def test_each_argument_of_collections(empty_database, name):
    found, expected = on_collections(empty_database, "c")[name]()
    assert found == expected


def on_administration(mongo, database) -> dict:
    """Commands of the database `admin`, and of users and sessions."""
    admin = mongo.admin

    def says(command: dict, *codes: int, of=None) -> str:
        return _refused(of if of is not None else admin, command, *codes)

    def with_two() -> None:
        database["a"].insert_one({"_id": 1})
        database["b"].insert_one({"_id": 2})

    def names() -> list:
        return sorted(database.list_collection_names())

    def rename(source: str, target: str, **more) -> dict:
        return {"renameCollection": f"{database.name}.{source}", "to": f"{database.name}.{target}", **more}

    def user(name: str, **more) -> dict:
        return database.command("createUser", name, pwd="secret", roles=["read"], **more)

    def shown(name: str, **more) -> dict:
        (found,) = database.command("usersInfo", name, **more)["users"]
        return found

    session = Binary(uuid.uuid4().bytes, 4)
    return {
        "listDatabases.filter": lambda: ((with_two(), [one["name"] for one in admin.command("listDatabases", filter={"name": database.name})["databases"]]), (None, [database.name])),
        "listDatabases.nameOnly": lambda: ((with_two(), {"name": database.name} in admin.command("listDatabases", nameOnly=True)["databases"]), (None, True)),
        "listDatabases.authorizedDatabases": lambda: ((with_two(), database.name in [one["name"] for one in admin.command("listDatabases", authorizedDatabases=True)["databases"]]), (None, True)),
        "renameCollection.to": lambda: ((with_two(), admin.command(rename("a", "c"))["ok"], names(), says(rename("none", "d"), 26) != "", says(rename("b", "c"), 48) != "", says(rename("b", "b"), 20) != ""), (None, 1.0, ["b", "c"], True, True, True)),
        "renameCollection.dropTarget": lambda: ((with_two(), admin.command(rename("a", "b", dropTarget=True))["ok"], names(), database["b"].find_one()), (None, 1.0, ["b"], {"_id": 1})),
        "connectionStatus.showPrivileges": lambda: (("authenticatedUserPrivileges" in admin.command("connectionStatus")["authInfo"], bool(admin.command("connectionStatus", showPrivileges=True)["authInfo"]["authenticatedUserPrivileges"])), (False, True)),
        "getParameter of a name": lambda: ((set(admin.command("getParameter", 1, featureCompatibilityVersion=1)) & {"featureCompatibilityVersion", "authenticationMechanisms"}, says({"getParameter": 1, "nonsense": 1}, 72) != ""), ({"featureCompatibilityVersion"}, True)),
        "getLog": lambda: ((admin.command("getLog", "global")["log"], says({"getLog": "nonsense"}, 96) != ""), ([], True)),
        "fsync.lock": lambda: ((admin.command("fsync")["ok"], "backup" in says({"fsync": 1, "lock": True}, 115)), (1.0, True)),
        "setFeatureCompatibilityVersion": lambda: ((admin.command("setFeatureCompatibilityVersion", "7.0", confirm=True)["ok"], "7.0" in says({"setFeatureCompatibilityVersion": "6.0", "confirm": True}, 2)), (1.0, True)),
        "enableSharding": lambda: ((admin.command("enableSharding", database.name)["ok"], says({"enableSharding": database.name, "primaryShard": "x"}, 115) != ""), (1.0, True)),
        "currentOp": lambda: ((len(admin.command("currentOp")["inprog"]), len(admin.command({"currentOp": 1, "active": True})["inprog"]), admin.command({"currentOp": 1, "op": "nonsense"})["inprog"]), (1, 1, [])),
        "killOp.op": lambda: (("kill" in admin.command("killOp", op=5)["info"], says({"killOp": 1}, 26, 40414) != ""), (True, True)),
        "usersInfo.filter": lambda: ((user("one")["ok"], user("two")["ok"], [one["user"] for one in database.command("usersInfo", 1, filter={"user": "two"})["users"]]), (1.0, 1.0, ["two"])),
        "usersInfo.showCustomData": lambda: ((user("one", customData={"a": 1})["ok"], shown("one")["customData"], "customData" in shown("one", showCustomData=False)), (1.0, {"a": 1}, False)),
        "usersInfo.showCredentials": lambda: (says({"usersInfo": 1, "showCredentials": True}, 115, of=database) != "", True),
        "usersInfo.showPrivileges": lambda: (says({"usersInfo": 1, "showPrivileges": True}, 115, of=database) != "", True),
        "createUser.mechanisms": lambda: ((user("one", mechanisms=["SCRAM-SHA-256"])["ok"], shown("one")["mechanisms"], says({"createUser": "x", "pwd": "x", "roles": [], "mechanisms": ["PLAIN"]}, 2, of=database) != ""), (1.0, ["SCRAM-SHA-256"], True)),
        "createUser.digestPassword": lambda: (says({"createUser": "x", "pwd": "x", "roles": [], "digestPassword": False}, 2, of=database) != "", True),
        "createUser.authenticationRestrictions": lambda: (says({"createUser": "x", "pwd": "x", "roles": [], "authenticationRestrictions": [{"clientSource": ["10.0.0.1"]}]}, 115, of=database) != "", True),
        "createUser.roles": lambda: (("not find role" in says({"createUser": "x", "pwd": "x", "roles": ["nonsense"]}, 31, of=database), user("one")["ok"], shown("one")["roles"]), (True, 1.0, [{"role": "read", "db": database.name}])),
        "updateUser.roles": lambda: ((user("one")["ok"], database.command("updateUser", "one", roles=["readWrite"])["ok"], shown("one")["roles"]), (1.0, 1.0, [{"role": "readWrite", "db": database.name}])),
        "updateUser.mechanisms": lambda: ((user("one")["ok"], database.command("updateUser", "one", mechanisms=["SCRAM-SHA-1"])["ok"], shown("one")["mechanisms"], says({"updateUser": "one", "mechanisms": ["SCRAM-SHA-256"]}, 2, of=database) != ""), (1.0, 1.0, ["SCRAM-SHA-1"], True)),
        "dropUser": lambda: ((user("one")["ok"], database.command("dropUser", "one")["ok"], says({"dropUser": "one"}, 11, of=database) != ""), (1.0, 1.0, True)),
        "dropAllUsersFromDatabase": lambda: ((user("one")["ok"], user("two")["ok"], database.command("dropAllUsersFromDatabase")["n"]), (1.0, 1.0, 2)),
        "rolesInfo": lambda: (([one["role"] for one in database.command("rolesInfo", "read")["roles"]], database.command("rolesInfo", 1)["roles"], "root" in [one["role"] for one in admin.command("rolesInfo", 1, showBuiltinRoles=True)["roles"]], database.command("rolesInfo", "nonsense")["roles"]), (["read"], [], True, [])),
        "killAllSessions": lambda: (says({"killAllSessions": [{"user": "x", "db": "y"}]}, 115) != "", True),
        "refreshSessions": lambda: (admin.command("refreshSessions", [{"id": session}])["ok"], 1.0),
        "endSessions": lambda: (admin.command("endSessions", [{"id": session}])["ok"], 1.0),
        "startSession": lambda: ((admin.command("startSession")["timeoutMinutes"], admin.command("startSession")["id"]["id"].subtype), (30, 4)),
        "shardCollection.key": lambda: ((database.command("shardCollection", f"{database.name}.s", key={"a": "hashed"})["collectionsharded"], says({"shardCollection": f"{database.name}.s", "key": {"b": 1}}, 23, of=database) != "", says({"shardCollection": f"{database.name}.t", "key": {}}, 2, of=database) != ""), (f"{database.name}.s", True, True)),
        "shardCollection.unique": lambda: (says({"shardCollection": f"{database.name}.s", "key": {"a": 1}, "unique": True}, 115, of=database) != "", True),
        "shardCollection.numInitialChunks": lambda: (database.command("shardCollection", f"{database.name}.s", key={"a": 1}, numInitialChunks=4)["ok"], 1.0),
        "shardCollection.timeseries": lambda: (says({"shardCollection": f"{database.name}.s", "key": {"a": 1}, "timeseries": {"timeField": "t"}}, 115, of=database) != "", True),
        "shardCollection.collation": lambda: (says({"shardCollection": f"{database.name}.s", "key": {"a": 1}, "collation": NORWEGIAN}, 115, of=database) != "", True),
        "customAction fields of other actions": lambda: (says({"customAction": "GetDatabase", "shardKey": "a"}, 40415, of=database) != "", True),
        "explain.verbosity": lambda: ((with_two(), "executionStats" in database.command("explain", {"find": "a"}, verbosity="queryPlanner"), "executionStats" in database.command("explain", {"find": "a"}, verbosity="executionStats"), says({"explain": {"find": "a"}, "verbosity": "nonsense"}, 9, 2, of=database) != ""), (None, False, True, True)),
        "serverStatus": lambda: (admin.command("serverStatus")["storageEngine"]["name"], "armilla"),
        "getLastError": lambda: ({key: database.command("getLastError")[key] for key in ("err", "n")}, {"err": None, "n": 0}),
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", on_administration(_Anything := type("Anything", (), {"admin": None, "name": ""})(), _Anything)
)
def test_each_argument_of_administration(mongo, empty_database, name):
    cases = on_administration(mongo, empty_database)
    try:
        found, expected = cases[name]()
        assert found == expected
    finally:
        empty_database.command("dropAllUsersFromDatabase")


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-1", "SCRAM-SHA-256"])
def test_a_user_logs_in_by_the_mechanisms_it_has(mongo_server, empty_database, mechanism):
    empty_database.command("createUser", "one", pwd="secret", roles=["read"], mechanisms=[mechanism])
    try:
        source = {"username": "one", "password": "secret", "authSource": empty_database.name}
        with connect(mongo_server, **source) as client:
            assert client[empty_database.name].command("ping")["ok"] == 1.0
        with connect(mongo_server, **source, authMechanism=mechanism) as client:
            assert client[empty_database.name].command("ping")["ok"] == 1.0
        (other,) = {"SCRAM-SHA-1", "SCRAM-SHA-256"} - {mechanism}
        with connect(mongo_server, **source, authMechanism=other) as client, refused(18):
            client[empty_database.name].command("ping")
    finally:
        empty_database.command("dropAllUsersFromDatabase")


def test_each_argument_of_get_more(shared):
    opened = shared.run("find", batchSize=2)["cursor"]["id"]
    more = shared.database.command("getMore", Int64(opened), collection=shared.name, batchSize=3)["cursor"]
    assert len(more["nextBatch"]) == 3
    with refused(2):
        shared.database.command("getMore", Int64(opened), collection=shared.name, maxTimeMS=5)
    with refused(40415):
        shared.database.command("getMore", Int64(opened), collection=shared.name, term=Int64(1))
    killed = shared.database.command("killCursors", shared.name, cursors=[Int64(opened), Int64(12345)])
    assert (killed["cursorsKilled"], killed["cursorsNotFound"]) == ([opened], [12345])
    with refused(43):
        shared.database.command("getMore", Int64(opened), collection=shared.name)


ENVELOPE = {
    "readConcern": [
        ({"readConcern": {"level": level}}, None) for level in ("local", "available", "majority", "linearizable")] + [({"readConcern": {"level": "nonsense"}}, {9}),
    ],
    "$readPreference": [
        ({"$readPreference": {"mode": mode}}, None) for mode in ("primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest")] + [({"$readPreference": {"mode": "nonsense"}}, {9}),
    ],
    "writeConcern": [
        ({"writeConcern": {}}, None),
        ({"writeConcern": {"w": 1}}, None),
        ({"writeConcern": {"w": "majority", "j": True, "wtimeout": 5}}, None),
        ({"writeConcern": {"w": 3}}, None),
        ({"writeConcern": {"w": []}}, {9}),
        ({"writeConcern": {"w": -1}}, {9}),
        ({"writeConcern": {"nonsense": 1}}, {40415}),
        ({"writeConcern": 1}, {14}),
        ({"writeConcern": {"j": "x"}}, {14}),
    ],
    "maxTimeMS": [
        ({"maxTimeMS": 0}, None),
        ({"maxTimeMS": 10_000}, None),
        ({"maxTimeMS": "x"}, {14}),
        ({"maxTimeMS": -1}, {2}),
    ],
    "comment": [({"comment": value}, None) for value in (1, "x", {"a": 1}, [1], None, True)],
    "apiVersion": [({"apiVersion": "1"}, None), ({"apiVersion": "2"}, {322})],
    "apiStrict": [({"apiVersion": "1", "apiStrict": True}, None), ({"apiStrict": True}, {322})],
    "apiDeprecationErrors": [({"apiVersion": "1", "apiDeprecationErrors": True}, None)],
    "txnNumber": [({"txnNumber": Int64(1)}, {72, 50768})],
    "an unknown field": [({"nonsense": 1}, {40415})],
}  # fmt: skip


@pytest.mark.parametrize("name", ENVELOPE)
def test_each_argument_of_all_commands(mongo_server, shared, name):
    # A client that adds nothing of its own.
    with connect(mongo_server, directConnection=True) as client:
        database = client[shared.database.name]
        for arguments, codes in ENVELOPE[name]:
            command = {"find": shared.name, "filter": {"_id": 1}, **arguments}
            if codes is None:
                assert len(database.command(command)["cursor"]["firstBatch"]) == 1, arguments
            else:
                assert _refused(database, command, *codes) != "", arguments


def test_a_view_is_a_pipeline_that_reads(own):
    view = f"{own.name}-view"
    for stage in ({"$out": "x"}, {"$merge": "x"}, {"$collStats": {"count": {}}}):
        _refused(own.database, {"create": view, "viewOn": own.name, "pipeline": [stage]}, 167)
    _refused(own.database, {"create": view, "viewOn": own.name, "validator": {"a": 1}}, 72)
    own.database.command("create", view, viewOn=own.name, pipeline=[{"$match": {"g": 1}}])
    assert own.database[view].count_documents({}) == 5
    _refused(own.database, {"collMod": view, "viewOn": own.name, "pipeline": [{"$out": "x"}]}, 167)
    own.database.drop_collection(view)


def test_a_moderate_validator_lets_be_what_was_not_valid(own):
    own.collection.insert_one({"_id": "old", "a": "text"})
    own.run("collMod", validator={"a": {"$type": "number"}}, validationLevel="moderate")
    change = {"$set": {"a": "other text"}}
    assert own.collection.update_one({"_id": "old"}, change).modified_count == 1
    with refused(121):
        own.collection.update_one({"_id": 1}, change)
    with refused(121):
        own.collection.insert_one({"a": "text"})
    own.refuses(2, command="collMod", validationLevel="nonsense")
    own.refuses(2, command="collMod", validationAction="nonsense")


def test_time_is_up_in_a_long_command(own):
    own.collection.insert_many({"_id": 1000 + number} for number in range(2000))
    # It begins at each document's own number: what is the same for all of them is computed once.
    numbers = {"$range": ["$_id", {"$add": ["$_id", 10_000]}]}
    heavy = {"$expr": {"$lt": [{"$sum": {"$map": {"input": numbers, "in": {"$sqrt": "$$this"}}}}, 0]}}
    begun = time.monotonic()
    with refused(50):
        own.run("find", filter=heavy, maxTimeMS=100)
    assert time.monotonic() - begun < 15


def test_strict_clients_get_what_the_version_has(mongo_database, shared):
    strict = {"apiVersion": "1", "apiStrict": True}
    assert mongo_database.command({"count": shared.name, **strict})["n"] == 10
    for command in ({"distinct": shared.name, "key": "a"}, {"serverStatus": 1}, {"collStats": shared.name}):
        assert _refused(mongo_database, {**command, **strict}, 323) != ""
    stats = {"aggregate": shared.name, "pipeline": [{"$indexStats": {}}], "cursor": {}}
    assert _refused(mongo_database, {**stats, **strict}, 323) != ""


def test_cursors_are_not_taken_by_two_at_once(shared):
    opened = shared.run("find", batchSize=0)["cursor"]["id"]
    seen: list = []

    def take() -> None:
        try:
            batch = shared.database.command("getMore", Int64(opened), collection=shared.name, batchSize=1)
            seen.extend(ids(batch["cursor"]["nextBatch"]))
        except OperationFailure as error:
            seen.append(error.code)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Sessions of the driver are its own choice: a thread that got another than the cursor's is refused, too.
    taken = [one for one in seen if one not in (CURSOR_IN_USE, CURSOR_OF_ANOTHER_SESSION)]
    assert taken
    assert len(taken) == len(set(taken))
    shared.database.command("killCursors", shared.name, cursors=[Int64(opened)])
