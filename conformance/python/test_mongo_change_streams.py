"""Change streams: what happened to a collection, a database or all of it, in order, and from any moment on."""

import threading
import time

import pytest
from bson import ObjectId, Timestamp

from mongo import connect, refused

SECONDS_MAX = 20


def take(stream, count: int) -> list[dict]:
    """Waits for this many events."""
    found = []
    deadline = time.monotonic() + SECONDS_MAX
    while len(found) < count:
        assert time.monotonic() < deadline, found
        event = stream.try_next()
        if event is not None:
            found.append(event)
    return found


def kinds(events: list[dict]) -> list[str]:
    """What happened."""
    return [event["operationType"] for event in events]


@pytest.fixture
def watched(collection):
    """A collection that exists."""
    collection.insert_one({"_id": "before"})
    return collection


def test_events_of_every_kind(watched):
    with watched.watch() as stream:
        watched.insert_one({"_id": 1, "a": 1})
        watched.update_one({"_id": 1}, {"$set": {"a": 2, "n.x": 1}, "$unset": {"b": 1}})
        watched.update_one({"_id": 1}, {"$unset": {"a": 1}})
        watched.replace_one({"_id": 1}, {"z": 1})
        watched.delete_one({"_id": 1})
        inserted, updated, unset, replaced, deleted = take(stream, 5)
    names = {"db": watched.database.name, "coll": watched.name}
    for event in (inserted, updated, unset, replaced, deleted):
        assert isinstance(event["_id"]["_data"], str)
        assert event["ns"] == names
        assert event["documentKey"] == {"_id": 1}
        assert isinstance(event["clusterTime"], Timestamp)
        assert event["wallTime"]
    assert kinds([inserted, updated, unset, replaced, deleted]) == ["insert", "update", "update", "replace", "delete"]
    assert inserted["fullDocument"] == {"_id": 1, "a": 1}
    assert updated["updateDescription"]["updatedFields"] == {"a": 2, "n": {"x": 1}}
    assert updated["updateDescription"]["removedFields"] == []
    assert updated["updateDescription"]["truncatedArrays"] == []
    assert "fullDocument" not in updated
    assert unset["updateDescription"]["removedFields"] == ["a"]
    assert replaced["fullDocument"] == {"_id": 1, "z": 1}
    assert "fullDocument" not in deleted
    times = [event["clusterTime"] for event in (inserted, updated, unset, replaced, deleted)]
    assert times == sorted(times)


def test_what_does_not_change_is_no_event(watched):
    with watched.watch() as stream:
        watched.update_one({"_id": "before"}, {"$set": {"_id": "before"}})
        watched.update_one({"_id": "absent"}, {"$set": {"a": 1}})
        watched.delete_one({"_id": "absent"})
        watched.insert_one({"_id": "end"})
        (event,) = take(stream, 1)
        assert event["documentKey"] == {"_id": "end"}


def test_updates_are_described_by_path(watched):
    watched.insert_one({"_id": 1, "o": {"x": 1, "y": 2}, "l": [1, 2, 3]})
    with watched.watch() as stream:
        watched.update_one({"_id": 1}, {"$set": {"o.x": 5, "l.1": 9}})
        (event,) = take(stream, 1)
    assert event["updateDescription"]["updatedFields"] == {"o.x": 5, "l.1": 9}


def test_the_whole_document_of_an_update(watched):
    with watched.watch(full_document="updateLookup") as stream:
        watched.update_one({"_id": "before"}, {"$set": {"a": 1}})
        (event,) = take(stream, 1)
        assert event["fullDocument"] == {"_id": "before", "a": 1}


def test_a_pipeline(watched):
    pipeline = [
        {"$match": {"operationType": "insert", "fullDocument.n": {"$gte": 5}}},
        {"$project": {"fullDocument": 1, "twice": {"$multiply": ["$fullDocument.n", 2]}}},
    ]
    with watched.watch(pipeline) as stream:
        watched.insert_many({"_id": number, "n": number} for number in range(7))
        found = take(stream, 2)
    assert [event["twice"] for event in found] == [10, 12]
    assert all(set(event) == {"_id", "fullDocument", "twice"} for event in found)


def test_the_request_form_of_the_service(watched):
    pipeline = [
        {"$match": {"operationType": {"$in": ["insert", "update", "replace"]}}},
        {"$project": {"_id": 1, "fullDocument": 1, "ns": 1, "documentKey": 1}},
    ]
    with watched.watch(pipeline, full_document="updateLookup") as stream:
        watched.insert_one({"_id": 1})
        watched.update_one({"_id": 1}, {"$set": {"a": 1}})
        first, second = take(stream, 2)
    assert first["documentKey"] == {"_id": 1}
    assert second["fullDocument"] == {"_id": 1, "a": 1}


def test_resuming(watched):
    with watched.watch() as stream:
        watched.insert_many({"_id": number} for number in range(10))
        events = take(stream, 10)
    for position in (0, 4, 9):
        token = events[position]["_id"]
        for option in ("resume_after", "start_after"):
            with watched.watch(**{option: token}) as stream:
                watched.insert_one({"_id": f"{position} {option}"})
                found = take(stream, 9 - position + 1)
                assert [event["documentKey"]["_id"] for event in found[: 9 - position]] == list(range(position + 1, 10))
        events_since = {"_id": {"$type": "string", "$ne": "before"}}
        watched.delete_many(events_since)


def test_starting_at_a_moment(mongo, watched):
    first = watched.database.command("insert", watched.name, documents=[{"_id": 1}])["operationTime"]
    watched.insert_one({"_id": 2})
    with watched.watch(start_at_operation_time=first) as stream:
        assert [event["documentKey"]["_id"] for event in take(stream, 2)] == [1, 2]
    later = Timestamp(first.time, first.inc + 1)
    with watched.watch(start_at_operation_time=later) as stream:
        assert [event["documentKey"]["_id"] for event in take(stream, 1)] == [2]


def test_the_token_moves_on_while_nothing_happens(watched, second_collection):
    with watched.watch(max_await_time_ms=100) as stream:
        assert stream.try_next() is None
        before = stream.resume_token
        assert before is not None
        second_collection.insert_one({})
        deadline = time.monotonic() + SECONDS_MAX
        while stream.resume_token["_data"] <= before["_data"]:
            assert stream.try_next() is None
            assert time.monotonic() < deadline
        token = stream.resume_token
    watched.insert_one({"_id": "after"})
    with watched.watch(resume_after=token) as stream:
        assert take(stream, 1)[0]["documentKey"] == {"_id": "after"}


def test_waiting_ends_in_time(watched):
    with watched.watch(max_await_time_ms=300) as stream:
        stream.try_next()
        started = time.monotonic()
        assert stream.try_next() is None
        waited = time.monotonic() - started
    assert 0.2 <= waited < 5


def test_a_stream_wakes_up_for_a_write(mongo_server, watched):
    with watched.watch(max_await_time_ms=10_000) as stream:
        threading.Timer(0.5, lambda: watched.insert_one({"_id": 1})).start()
        started = time.monotonic()
        assert next(stream)["documentKey"] == {"_id": 1}
        assert time.monotonic() - started < 5


def test_a_collection_that_is_not_there_yet(collection):
    with collection.watch() as stream:
        assert stream.try_next() is None
        collection.insert_one({"_id": 1})
        assert take(stream, 1)[0]["operationType"] == "insert"


def test_a_database(empty_database):
    with empty_database.watch() as stream:
        empty_database["one"].insert_one({"_id": 1})
        empty_database["two"].insert_one({"_id": 2})
        empty_database["one"].delete_one({"_id": 1})
        found = take(stream, 3)
    assert [(event["ns"]["coll"], event["operationType"]) for event in found] == [
        ("one", "insert"),
        ("two", "insert"),
        ("one", "delete"),
    ]


def test_everything(mongo, mongo_server, empty_database):
    match = [{"$match": {"ns.db": {"$in": [empty_database.name, "conformance-other"]}}}]
    with mongo.watch(match) as stream:
        empty_database["one"].insert_one({"_id": 1})
        mongo["conformance-other"]["two"].insert_one({"_id": 2})
        found = take(stream, 2)
    assert [event["ns"]["db"] for event in found] == [empty_database.name, "conformance-other"]
    mongo.drop_database("conformance-other")


def test_a_drop_ends_the_stream(watched):
    with watched.watch() as stream:
        watched.insert_one({"_id": 1})
        watched.drop()
        events = take(stream, 3)
        assert kinds(events) == ["insert", "drop", "invalidate"]
        assert "documentKey" not in events[1]
        with pytest.raises(StopIteration):
            next(stream)
        token = events[2]["_id"]
    with refused(260):
        watched.watch(resume_after=token)
    with watched.watch(start_after=token) as stream:
        watched.insert_one({"_id": 2})
        assert take(stream, 1)[0]["documentKey"] == {"_id": 2}


def test_a_rename_ends_the_stream(empty_database):
    notes = empty_database["notes"]
    notes.insert_one({})
    with notes.watch() as stream:
        notes.rename("renamed")
        renamed, ended = take(stream, 2)
    assert kinds([renamed, ended]) == ["rename", "invalidate"]
    assert renamed["to"] == {"db": empty_database.name, "coll": "renamed"}


def test_dropping_a_database_ends_its_stream(mongo, empty_database):
    empty_database["notes"].insert_one({})
    with empty_database.watch() as stream:
        mongo.drop_database(empty_database.name)
        assert kinds(take(stream, 3)) == ["drop", "dropDatabase", "invalidate"]


def test_a_transaction_comes_as_one(mongo, watched):
    with watched.watch() as stream:
        with mongo.start_session() as session:
            with session.start_transaction():
                watched.insert_one({"_id": 1}, session=session)
                watched.insert_one({"_id": 2}, session=session)
                watched.update_one({"_id": "before"}, {"$set": {"a": 1}}, session=session)
            session.start_transaction()
            watched.insert_one({"_id": "aborted"}, session=session)
            session.abort_transaction()
        watched.insert_one({"_id": 3})
        found = take(stream, 4)
    assert sorted(str(event["documentKey"]["_id"]) for event in found[:3]) == ["1", "2", "before"]
    assert found[3]["documentKey"] == {"_id": 3}


def test_images_before_and_after(empty_database):
    notes = empty_database.create_collection("notes", changeStreamPreAndPostImages={"enabled": True})
    notes.insert_one({"_id": 1, "a": 1})
    with notes.watch(full_document="required", full_document_before_change="required") as stream:
        notes.update_one({"_id": 1}, {"$set": {"a": 2}})
        notes.delete_one({"_id": 1})
        updated, deleted = take(stream, 2)
    assert updated["fullDocumentBeforeChange"] == {"_id": 1, "a": 1}
    assert updated["fullDocument"] == {"_id": 1, "a": 2}
    assert deleted["fullDocumentBeforeChange"] == {"_id": 1, "a": 2}


def test_images_that_are_not_kept(watched):
    with watched.watch(full_document_before_change="whenAvailable") as stream:
        watched.update_one({"_id": "before"}, {"$set": {"a": 2}})
        assert take(stream, 1)[0].get("fullDocumentBeforeChange") is None
    with watched.watch(full_document_before_change="required") as stream:
        watched.update_one({"_id": "before"}, {"$set": {"a": 3}})
        with refused(47):
            take(stream, 1)


REFUSED = [
    ([{"$changeStream": {"nonsense": 1}}], {40415}),
    ([{"$changeStream": {"fullDocument": "nonsense"}}], {2, 9, 40575}),
    ([{"$changeStream": {"resumeAfter": {"_data": "nonsense"}}}], {9, 260, 40647}),
    ([{"$changeStream": {"resumeAfter": {"_data": "00"}, "startAfter": {"_data": "00"}}}], {50865}),
    ([{"$changeStream": {"resumeAfter": {"_data": "00"}, "startAtOperationTime": Timestamp(1, 1)}}], {40674}),
    ([{"$changeStream": {"allChangesForCluster": True}}], {72}),
    ([{"$changeStream": {}}, {"$group": {"_id": 1}}], {20}),
    ([{"$changeStream": {}}, {"$sort": {"a": 1}}], {20}),
    ([{"$changeStream": {}}, {"$out": "x"}], {20}),
]


@pytest.mark.parametrize(("pipeline", "codes"), REFUSED, ids=[str(row[0]) for row in REFUSED])
def test_a_stream_is_refused(watched, pipeline, codes):
    with refused(*codes):
        watched.database.command("aggregate", watched.name, pipeline=pipeline, cursor={})


def test_no_streams_of_the_system(mongo):
    with refused(73):
        mongo["config"].command("aggregate", 1, pipeline=[{"$changeStream": {}}], cursor={})


def test_a_pipeline_that_loses_the_token(watched):
    with watched.watch([{"$project": {"_id": 0}}]) as stream:
        watched.insert_one({"_id": ObjectId()})
        with refused(280, labels=["NonResumableChangeStreamError"]):
            take(stream, 1)


def test_a_stream_goes_on_after_a_restart(start_server):
    server = start_server("--throttle", "off")
    with connect(server) as client:
        notes = client["streams"]["notes"]
        with notes.watch() as stream:
            notes.insert_one({"_id": 1})
            token = take(stream, 1)[0]["_id"]
            notes.insert_one({"_id": 2})
    server.stop()
    server.start_again()
    with connect(server) as client:
        notes = client["streams"]["notes"]
        notes.insert_one({"_id": 3})
        with notes.watch(resume_after=token) as stream:
            assert [event["documentKey"]["_id"] for event in take(stream, 2)] == [2, 3]
    assert server.stop() == 0


def test_expanded_events(collection):
    database, name = collection.database, collection.name
    collection.insert_one({"_id": 1})
    with database.watch(show_expanded_events=True) as stream, database.watch() as plain:
        collection.create_index("a", name="a_1")
        collection.create_index("a", name="a_1")
        collection.update_one({"_id": 1}, {"$set": {"b": {"1": 1}}})
        collection.update_one({"_id": 1}, {"$set": {"b.1": 2}})
        collection.drop_index("a_1")
        database.command("collMod", name, validationLevel="off")
        database.create_collection("view", viewOn=name, pipeline=[])
        database["made"].insert_one({"_id": 1})
        events = take(stream, 8)
        assert kinds(take(plain, 3)) == ["update", "update", "insert"]
    assert kinds(events) == [
        "createIndexes",
        "update",
        "update",
        "dropIndexes",
        "modify",
        "create",
        "create",
        "insert",
    ]
    indexed, _, updated, dropped, modified, view, made, inserted = events
    assert indexed["operationDescription"]["indexes"][0]["name"] == "a_1"
    assert indexed["ns"] == {"db": database.name, "coll": name}
    assert updated["updateDescription"]["disambiguatedPaths"] == {"b.1": ["b", "1"]}
    assert updated["collectionUUID"] == indexed["collectionUUID"]
    assert dropped["operationDescription"] == {"indexes": [{"name": "a_1"}]}
    assert modified["operationDescription"] == {"validationLevel": "off"}
    assert view["operationDescription"] == {"viewOn": name, "pipeline": []}
    assert made["operationDescription"]["idIndex"]["key"] == {"_id": 1}
    assert made["ns"]["coll"] == inserted["ns"]["coll"] == "made"
    times = [event["clusterTime"] for event in events]
    assert times == sorted(times)


def test_expanded_events_after_a_token(collection):
    collection.insert_one({"_id": 1})
    with collection.watch(show_expanded_events=True) as stream:
        collection.create_index("a", name="a_1")
        collection.create_index("b", name="b_1")
        first = take(stream, 1)[0]
    with collection.watch(show_expanded_events=True, resume_after=first["_id"]) as stream:
        collection.drop_index("a_1")
        assert kinds(take(stream, 2)) == ["createIndexes", "dropIndexes"]


def test_a_rename_over_another_collection_is_told(collection):
    collection.insert_one({"_id": 1})
    target = collection.database["target"]
    target.insert_one({"_id": 2})
    with collection.watch(show_expanded_events=True) as stream:
        collection.rename("target", dropTarget=True)
        renamed = take(stream, 1)[0]
    assert renamed["operationDescription"]["to"] == {"db": collection.database.name, "coll": "target"}
    assert renamed["operationDescription"]["dropTarget"]
    assert renamed["collectionUUID"]


def test_an_end_comes_after_what_was_before_it(watched):
    database = watched.database
    database["ending"].insert_one({"_id": 1})
    with database.watch() as stream:
        watched.insert_one({"_id": 1})
        database["ending"].insert_one({"_id": 2})
        watched.insert_one({"_id": 2})
        database["ending"].drop()
        watched.insert_one({"_id": 3})
        events = take(stream, 5)
    assert kinds(events) == ["insert", "insert", "insert", "drop", "insert"]
    assert [event["documentKey"]["_id"] for event in events if "documentKey" in event] == [1, 2, 2, 3]


def test_collections_are_told_in_the_order_of_their_writes(watched):
    """One after the other, within a millisecond, which moments could not tell apart; and while a stream looked at one
    collection after the other, so that it had seen the first before it was written to, and the second after that.
    """
    database = watched.database.client[f"order-{ObjectId()}"]
    collections = [database[f"c{number:02}"] for number in range(24)]
    for each in collections:
        each.insert_one({"_id": "before"})
    count = 3_000
    with database.watch() as stream:

        def write() -> None:
            for number in range(count):
                # Far apart in the order of names.
                collections[number * 7 % len(collections)].insert_one({"_id": number})

        writer = threading.Thread(target=write)
        writer.start()
        try:
            told = [event["documentKey"]["_id"] for event in take(stream, count)]
        finally:
            writer.join()
    watched.database.client.drop_database(database)
    assert told == list(range(count))
