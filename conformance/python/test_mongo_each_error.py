"""Each number of a failure, with a situation that leads to it, and its name; and each option of a change stream."""

import time
import uuid

import bson
import pytest
from bson import Binary, Int64, Timestamp
from pymongo.errors import BulkWriteError, OperationFailure

from mongo import connect, refused
from mongo_wire import Wire

NAMES = {
    2: "BadValue", 9: "FailedToParse", 11: "UserNotFound", 13: "Unauthorized", 14: "TypeMismatch", 15: "Overflow",
    16: "InvalidLength", 17: "ProtocolError", 18: "AuthenticationFailed", 20: "IllegalOperation", 23: "AlreadyInitialized",
    26: "NamespaceNotFound", 27: "IndexNotFound", 28: "PathNotViable", 31: "RoleNotFound", 34: "CannotBackfillArray",
    40: "ConflictingUpdateOperators", 43: "CursorNotFound", 48: "NamespaceExists",
    52: "DollarPrefixedFieldName", 53: "InvalidIdField", 54: "NotSingleValueField", 56: "EmptyFieldName",
    59: "CommandNotFound", 61: "ShardKeyNotFound", 66: "ImmutableField", 67: "CannotCreateIndex", 72: "InvalidOptions",
    73: "InvalidNamespace", 85: "IndexOptionsConflict", 86: "IndexKeySpecsConflict", 112: "WriteConflict",
    115: "CommandNotSupported", 117: "ConflictingOperationInProgress", 121: "DocumentValidationFailure",
    168: "InvalidPipelineOperator", 171: "CannotIndexParallelArrays", 197: "InvalidIndexSpecificationOption",
    225: "TransactionTooOld", 238: "NotImplemented", 241: "ConversionFailure",
    251: "NoSuchTransaction", 256: "TransactionCommitted", 260: "InvalidResumeToken",
    263: "OperationNotSupportedInTransaction", 280: "ChangeStreamFatalError", 292: "QueryExceededMemoryLimitNoDiskUseAllowed",
    322: "APIVersionError", 323: "APIStrictError", 334: "MechanismUnavailable", 10334: "BSONObjectTooLarge",
    11000: "DuplicateKey", 31082: "SearchNotEnabled", 40323: "Location40323", 40324: "Location40324",
    40414: "Location40414", 40415: "Location40415", 50768: "NotARetryableWriteCommand",
}  # fmt: skip


class Situation:
    """A collection with one document, and ways into trouble."""

    def __init__(self, server, client, collection):
        self.server, self.client, self.collection, self.database = server, client, collection, collection.database

    def run(self, **command) -> None:
        """Sends a command to the database; a failed statement is a failure."""
        reply = self.database.command(command)
        for error in reply.get("writeErrors", []):
            raise OperationFailure(error["errmsg"], error["code"], {**reply, "codeName": None})

    def on(self, command: str, **arguments) -> None:
        """Sends a command to the collection."""
        self.run(**{command: self.collection.name, **arguments})

    def update(self, update, **more) -> None:
        """Updates the document."""
        self.on("update", updates=[{"q": {"_id": 1}, "u": update, **more}])

    def index(self, key=None, **options) -> None:
        """Makes an index."""
        self.on("createIndexes", indexes=[{"key": key or {"a": 1}, "name": "i", **options}])

    def index_twice(self, key, **options) -> None:
        """Makes an index, and then another one."""
        self.index()
        self.index(key, **options)

    def pipeline(self, *stages) -> None:
        """Runs a pipeline."""
        list(self.collection.aggregate(list(stages)))

    def project(self, expression) -> None:
        """Computes an expression."""
        self.pipeline({"$project": {"r": expression}})

    def insert(self, *documents) -> None:
        """Inserts."""
        self.on("insert", documents=list(documents))

    def sharded(self) -> None:
        """Inserts without the shard key."""
        name = f"{self.collection.name}-sharded"
        self.run(shardCollection=f"{self.database.name}.{name}", key={"k": 1})
        try:
            self.run(insert=name, documents=[{"_id": 1}])
        finally:
            self.database.drop_collection(name)

    def sharded_again(self) -> None:
        """Shards by another key."""
        name = f"{self.database.name}.{self.collection.name}"
        self.run(shardCollection=name, key={"k": 1})

    def nested(self) -> None:
        """Inserts what nests too deep."""
        value: dict = {}
        for _ in range(150):
            value = {"a": value}
        self.insert({"v": value})

    def as_reader(self) -> None:
        """Writes with a role that reads."""
        user = f"reader-{uuid.uuid4().hex}"
        self.run(createUser=user, pwd="secret", roles=["read"])
        try:
            with connect(self.server, username=user, password="secret", authSource=self.database.name) as client:
                client[self.database.name][self.collection.name].insert_one({})
        finally:
            self.run(dropUser=user)

    def wrong_password(self) -> None:
        """Logs in with a wrong password."""
        with connect(self.server, password="wrong") as client:
            client.admin.command("ping")

    def alone(self, **command) -> None:
        """Sends a command about a login on a connection of its own."""
        with connect(self.server) as client:
            client.admin.command(command)

    def in_transaction(self, *commands: dict) -> None:
        """Sends commands as parts of one transaction."""
        session = {"id": Binary(uuid.uuid4().bytes, 4)}
        for position, command in enumerate(commands):
            start = {"startTransaction": True} if position == 0 else {}
            inside = {**command, "lsid": session, "txnNumber": Int64(1), "autocommit": False, **start}
            self.send(inside)

    def send(self, command: dict) -> None:
        """Sends a command as it is, without what a driver adds."""
        command = {**command}
        database = command.pop("in", self.database.name)
        with self.client._conn_for_writes(None, "x") as connection:
            reply = connection.command(database, command, check=False)
        if not reply["ok"]:
            raise OperationFailure(reply["errmsg"], reply["code"], reply)

    def conflict(self) -> None:
        """Two transactions write one document."""
        with self.client.start_session() as first, self.client.start_session() as second:
            first.start_transaction()
            second.start_transaction()
            self.collection.update_one({"_id": 1}, {"$set": {"a": 5}}, session=first)
            self.collection.update_one({"_id": 1}, {"$set": {"a": 6}}, session=second)

    def committed(self) -> None:
        """Aborts what is committed."""
        name = self.collection.name
        find = {"find": name}
        self.in_transaction(find, {"commitTransaction": 1, "in": "admin"}, {"abortTransaction": 1, "in": "admin"})

    def older(self) -> None:
        """Sends a number again that is past."""
        session = {"id": Binary(uuid.uuid4().bytes, 4)}
        for number in (5, 4):
            self.send({"insert": self.collection.name, "documents": [{}], "lsid": session, "txnNumber": Int64(number)})

    def watch(self, *stages, **options) -> None:
        """Opens a change stream, writes, and waits for the event."""
        with self.collection.watch(list(stages), **options) as stream:
            self.collection.insert_one({})
            deadline = time.monotonic() + 10
            while stream.try_next() is None:
                assert time.monotonic() < deadline


SITUATIONS = {
    2: lambda s: s.on("find", filter={"a": {"$nonsense": 1}}),
    9: lambda s: s.on("delete", deletes=[{"q": {}, "limit": 7}]),
    11: lambda s: s.run(dropUser="none"),
    13: lambda s: s.as_reader(),
    14: lambda s: s.update({"$inc": {"s": 1}}),
    15: lambda s: s.nested(),
    16: lambda s: s.on("insert", documents=[]),
    17: lambda s: s.alone(saslContinue=1, conversationId=1, payload=b""),
    18: lambda s: s.wrong_password(),
    20: lambda s: s.client.admin.command({"renameCollection": f"{s.collection.full_name}", "to": s.collection.full_name}),
    23: lambda s: s.sharded_again(),
    26: lambda s: s.run(listIndexes="none"),
    27: lambda s: s.on("dropIndexes", index="none"),
    28: lambda s: s.update({"$set": {"a.b": 1}}),
    31: lambda s: s.run(createUser="x", pwd="x", roles=["nonsense"]),
    34: lambda s: s.update({"$set": {"l.2000000": 1}}),
    40: lambda s: s.update({"$set": {"a": 1}, "$inc": {"a": 1}}),
    43: lambda s: s.run(getMore=Int64(12345), collection="x"),
    48: lambda s: s.on("create", validator={"a": 1}),
    52: lambda s: s.insert({"_id": {"$a": 1}}),
    53: lambda s: s.insert({"_id": [1]}),
    54: lambda s: s.on("update", updates=[{"q": {"a": 1, "a.b": 1}, "u": {"$set": {"z": 1}}, "upsert": True}]),
    56: lambda s: s.update({"$set": {"": 1}}),
    59: lambda s: s.run(nonsense=1),
    61: lambda s: s.sharded(),
    66: lambda s: s.update({"$set": {"_id": 2}}),
    67: lambda s: s.index({"a": "text"}),
    72: lambda s: s.on("dropIndexes", index="_id_"),
    73: lambda s: s.run(insert="a$b", documents=[{}]),
    85: lambda s: s.index_twice({"a": 1}, name="other"),
    86: lambda s: s.index_twice({"b": 1}),
    112: lambda s: s.conflict(),
    115: lambda s: s.run(mapReduce="x"),
    117: lambda s: s.in_transaction({"find": s.collection.name}, {"find": s.collection.name, "startTransaction": True}),
    121: lambda s: (s.on("collMod", validator={"a": {"$type": "number"}}), s.insert({"a": "x"})),
    168: lambda s: s.project({"$add": [{"$nonsense": 1}]}),
    171: lambda s: (s.index({"x": 1, "y": 1}), s.insert({"x": [1, 2], "y": [1, 2]})),
    197: lambda s: s.index(nonsense=1),
    225: lambda s: s.older(),
    238: lambda s: s.on("find", returnKey=True),
    241: lambda s: s.project({"$toInt": "$s"}),
    251: lambda s: s.send({"find": s.collection.name, "lsid": {"id": Binary(uuid.uuid4().bytes, 4)}, "txnNumber": Int64(1), "autocommit": False}),
    256: lambda s: s.committed(),
    260: lambda s: s.watch(resume_after={"_data": "nonsense"}),
    263: lambda s: s.in_transaction({"count": s.collection.name}),
    280: lambda s: s.watch({"$project": {"_id": 0}}),
    322: lambda s: s.run(ping=1, apiVersion="2"),
    323: lambda s: s.run(serverStatus=1, apiVersion="1", apiStrict=True),
    334: lambda s: s.alone(saslStart=1, mechanism="PLAIN", payload=b""),
    10334: lambda s: s.insert({"v": "x" * (3 * 1024 * 1024)}),
    11000: lambda s: s.insert({"_id": 1}),
    31082: lambda s: s.on("createSearchIndexes", indexes=[]),
    40323: lambda s: s.pipeline({}),
    40324: lambda s: s.pipeline({"$nonsense": 1}),
    40414: lambda s: s.on("distinct"),
    40415: lambda s: s.on("find", nonsense=1),
    50768: lambda s: s.send({"find": s.collection.name, "lsid": {"id": Binary(uuid.uuid4().bytes, 4)}, "txnNumber": Int64(1)}),
}  # fmt: skip


@pytest.mark.parametrize("code", SITUATIONS)
def test_each_error(mongo_server, mongo, collection, code):
    collection.insert_one({"_id": 1, "a": 1, "s": "text", "l": []})
    with pytest.raises((OperationFailure, BulkWriteError)) as caught:
        SITUATIONS[code](Situation(mongo_server, mongo, collection))
    error = caught.value
    assert error.code == code, error.details
    # A failed statement has no name of its code.
    assert error.details.get("codeName") in (NAMES[code], None)


def test_a_message_has_two_sequences_at_most(mongo_server):
    with Wire(mongo_server) as wire:
        wire.message({"ping": 1, "$db": "admin"}, sequences={"a": [{}], "b": [{}], "c": [{}]})
        answer = wire.answer()
    assert (answer["code"], answer["codeName"]) == (233, "TooManyDocumentSequences")


# Of each option of a change stream: what is asked, and what the event of an update then has.
@pytest.fixture
def watched(collection):
    """A collection that keeps images, with one document."""
    collection.database.create_collection(collection.name, changeStreamPreAndPostImages={"enabled": True})
    collection.insert_one({"_id": 1, "a": 1})
    return collection


def event_of_update(watched, *stages, **options) -> dict:
    """Returns the event of an update."""
    with watched.watch(list(stages), **options) as stream:
        watched.update_one({"_id": 1}, {"$inc": {"a": 1}})
        deadline = time.monotonic() + 20
        while True:
            event = stream.try_next()
            if event is not None:
                return event
            assert time.monotonic() < deadline


STREAM_OPTIONS = {
    "fullDocument: default": ({}, lambda e: "fullDocument" not in e),
    "fullDocument: updateLookup": ({"full_document": "updateLookup"}, lambda e: e["fullDocument"] == {"_id": 1, "a": 2}),
    "fullDocument: whenAvailable": ({"full_document": "whenAvailable"}, lambda e: e["fullDocument"] == {"_id": 1, "a": 2}),
    "fullDocument: required": ({"full_document": "required"}, lambda e: e["fullDocument"] == {"_id": 1, "a": 2}),
    "fullDocumentBeforeChange: off": ({"full_document_before_change": "off"}, lambda e: "fullDocumentBeforeChange" not in e),
    "fullDocumentBeforeChange: whenAvailable": ({"full_document_before_change": "whenAvailable"}, lambda e: e["fullDocumentBeforeChange"] == {"_id": 1, "a": 1}),
    "fullDocumentBeforeChange: required": ({"full_document_before_change": "required"}, lambda e: e["fullDocumentBeforeChange"] == {"_id": 1, "a": 1}),
    "batchSize": ({"batch_size": 1}, lambda e: e["operationType"] == "update"),
    "collation": ({"collation": {"locale": "simple"}}, lambda e: e["operationType"] == "update"),
    "maxAwaitTimeMS": ({"max_await_time_ms": 50}, lambda e: e["operationType"] == "update"),
    "comment": ({"comment": "why"}, lambda e: e["operationType"] == "update"),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAM_OPTIONS)
def test_each_option_of_a_stream(watched, name):
    options, holds = STREAM_OPTIONS[name]
    event = event_of_update(watched, **options)
    assert holds(event), event


STREAM_STAGES = {
    "$match": ({"$match": {"operationType": "update"}}, lambda e: e["operationType"] == "update"),
    "$project": ({"$project": {"ns": 1}}, lambda e: set(e) == {"_id", "ns"}),
    "$addFields": ({"$addFields": {"x": 1}}, lambda e: e["x"] == 1),
    "$set": ({"$set": {"x": "$operationType"}}, lambda e: e["x"] == "update"),
    "$unset": ({"$unset": "ns"}, lambda e: "ns" not in e),
    "$replaceRoot": ({"$replaceRoot": {"newRoot": {"_id": "$_id", "k": "$documentKey"}}}, lambda e: e["k"] == {"_id": 1}),
    "$replaceWith": ({"$replaceWith": {"_id": "$_id", "k": "$documentKey"}}, lambda e: e["k"] == {"_id": 1}),
    "$redact": ({"$redact": "$$KEEP"}, lambda e: e["operationType"] == "update"),
    "$changeStreamSplitLargeEvent": ({"$changeStreamSplitLargeEvent": {}}, lambda e: e["operationType"] == "update" and "splitEvent" not in e),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAM_STAGES)
def test_each_stage_of_a_stream(watched, name):
    stage, holds = STREAM_STAGES[name]
    event = event_of_update(watched, stage)
    assert holds(event), event


NOW = Timestamp(2_000_000_000, 1)
STREAM_REFUSED = {
    "fullDocument of another word": ({"fullDocument": "nonsense"}, {2, 9}),
    "fullDocumentBeforeChange of another word": ({"fullDocumentBeforeChange": "nonsense"}, {2, 9}),
    "a token that is none": ({"resumeAfter": {"_data": "zz"}}, {260, 50811, 9}),
    "two tokens": ({"resumeAfter": {"_data": "82"}, "startAfter": {"_data": "82"}}, {50865}),
    "a token and a moment": ({"resumeAfter": {"_data": "82"}, "startAtOperationTime": NOW}, {40674}),
    "allChangesForCluster of a collection": ({"allChangesForCluster": True}, {72}),
    "showSystemEvents": ({"showSystemEvents": True}, {40415}),
    "an unknown option": ({"nonsense": 1}, {40415}),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAM_REFUSED)
def test_each_option_that_a_stream_refuses(watched, name):
    options, codes = STREAM_REFUSED[name]
    with refused(*codes):
        watched.database.command("aggregate", watched.name, pipeline=[{"$changeStream": options}], cursor={})


@pytest.mark.parametrize("stage", ["$group", "$sort", "$limit", "$skip", "$lookup", "$unwind", "$out", "$facet"])
def test_each_stage_that_no_stream_has(watched, stage):
    value = {"$group": {"_id": 1}, "$sort": {"a": 1}, "$limit": 1, "$skip": 1, "$unwind": "$a", "$out": "x"}.get(stage)
    value = (
        value
        or {"$lookup": {"from": "x", "localField": "a", "foreignField": "b", "as": "c"}, "$facet": {"a": []}}[stage]
    )
    with refused(20, 40600, 263):
        watched.database.command("aggregate", watched.name, pipeline=[{"$changeStream": {}}, {stage: value}], cursor={})


def test_a_stream_of_everything_is_for_admin(mongo, watched):
    with refused(72):
        watched.database.command(
            "aggregate", 1, pipeline=[{"$changeStream": {"allChangesForCluster": True}}], cursor={}
        )
    for name in ("local", "config"):
        with refused(73):
            mongo[name].command("aggregate", 1, pipeline=[{"$changeStream": {}}], cursor={})


def test_resuming_by_each_way(watched):
    with watched.watch() as stream:
        watched.update_one({"_id": 1}, {"$inc": {"a": 1}})
        watched.update_one({"_id": 1}, {"$inc": {"b": 1}})
        events = []
        deadline = time.monotonic() + 20
        while len(events) < 2:
            assert time.monotonic() < deadline
            event = stream.try_next()
            events.extend([event] if event else [])
    first, second = events
    for options in (
        {"resume_after": first["_id"]},
        {"start_after": first["_id"]},
        {"start_at_operation_time": second["clusterTime"]},
    ):
        with watched.watch(**options) as stream:
            event = None
            while event is None:
                assert time.monotonic() < deadline + 20
                event = stream.try_next()
            assert event["_id"] == second["_id"], options
            assert bson.encode(event) == bson.encode(second)
