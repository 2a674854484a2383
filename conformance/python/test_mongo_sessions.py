"""Sessions, causal consistency, and writes that are sent twice and done once."""

import uuid

import pytest
from bson import Binary, Int64, Timestamp

from mongo import connect, ids, refused
from mongo_wire import Wire


@pytest.fixture
def client(mongo_server):
    """A client of its own, whose sessions have used no numbers yet."""
    with connect(mongo_server) as connected:
        yield connected


@pytest.fixture
def session(client):
    """A session of its own."""
    with client.start_session() as started:
        yield started


def test_a_session_is_used_and_ended(mongo, collection):
    with mongo.start_session() as session:
        collection.insert_one({"_id": 1}, session=session)
        assert ids(collection.find(session=session)) == [1]
        assert collection.update_one({}, {"$set": {"a": 1}}, session=session).modified_count == 1
        assert collection.count_documents({}, session=session) == 1
        key = session.session_id
    assert mongo.admin.command("endSessions", [key])["ok"] == 1.0


def test_the_session_commands(mongo):
    started = mongo.admin.command("startSession")
    assert started["timeoutMinutes"] == 30
    assert uuid.UUID(bytes=bytes(started["id"]["id"]))
    key = {"id": started["id"]["id"]}
    for command in ("refreshSessions", "killSessions", "endSessions"):
        assert mongo.admin.command(command, [key])["ok"] == 1.0
    assert mongo.admin.command("killAllSessions", [])["ok"] == 1.0


def test_causal_consistency(mongo, collection):
    with mongo.start_session(causal_consistency=True) as session:
        assert session.operation_time is None
        collection.insert_one({"_id": 1}, session=session)
        first = session.operation_time
        assert isinstance(first, Timestamp)
        assert ids(collection.find(session=session)) == [1]
        collection.update_one({"_id": 1}, {"$set": {"a": 1}}, session=session)
        assert session.operation_time > first
        assert session.cluster_time["clusterTime"] >= session.operation_time
    with mongo.start_session(causal_consistency=True) as other:
        other.advance_operation_time(session.operation_time)
        other.advance_cluster_time(session.cluster_time)
        assert collection.find_one(session=other) == {"_id": 1, "a": 1}


def test_reads_of_one_moment(mongo, collection):
    collection.insert_many([{"_id": number, "n": 0} for number in range(4)])
    collection.delete_one({"_id": 3})
    with mongo.start_session(snapshot=True) as session:
        assert sorted(ids(collection.find(session=session))) == [0, 1, 2]
        collection.update_many({}, {"$inc": {"n": 1}})
        collection.delete_one({"_id": 0})
        collection.insert_one({"_id": 7, "n": 7})
        collection.update_one({"_id": 1}, {"$inc": {"n": 1}})
        with mongo.start_session(snapshot=True) as later:
            assert sorted(ids(collection.find({"n": {"$gt": 0}}, session=later))) == [1, 2, 7]
        # Still what it was, whichever command reads it.
        for _ in range(2):
            assert list(collection.find({"n": 0}, session=session).sort("_id", -1)) == [
                {"_id": 2, "n": 0},
                {"_id": 1, "n": 0},
                {"_id": 0, "n": 0},
            ]
            assert collection.find_one({"_id": 7}, session=session) is None
            assert collection.distinct("n", session=session) == [0]
            assert collection.count_documents({}, session=session) == 3
            joined = [{"$match": {"_id": 1}}, {"$lookup": {"from": collection.name, "pipeline": [], "as": "all"}}]
            assert len(next(collection.aggregate(joined, session=session))["all"]) == 3
        assert list(collection.find({"_id": 0}, {"n": 1, "_id": 0}, session=session)) == [{"n": 0}]
    assert sorted(ids(collection.find())) == [1, 2, 7]


def test_reads_of_a_moment_of_another_collection(mongo, collection):
    other = collection.database["other"]
    other.insert_one({"_id": 1, "n": 0})
    collection.insert_one({"_id": 1})
    with mongo.start_session(snapshot=True) as session:
        assert collection.find_one(session=session) == {"_id": 1}
        other.update_one({"_id": 1}, {"$set": {"n": 1}})
        other.insert_one({"_id": 2})
        assert list(other.find(session=session)) == [{"_id": 1, "n": 0}]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ({"count": "c", "readConcern": {"level": "snapshot"}}, 72),
        ({"insert": "c", "documents": [{}], "readConcern": {"level": "snapshot"}}, 72),
        ({"find": "c", "readConcern": {"level": "snapshot", "atClusterTime": Timestamp(0, 0)}}, 72),
        ({"find": "c", "readConcern": {"level": "snapshot", "atClusterTime": Timestamp(4_000_000_000, 1)}}, 72),
        ({"find": "c", "readConcern": {"level": "snapshot", "atClusterTime": 1}}, 14),
        ({"find": "c", "readConcern": {"level": "local", "atClusterTime": Timestamp(1, 1)}}, 72),
        ({"aggregate": "c", "pipeline": [{"$out": "x"}], "cursor": {}, "readConcern": {"level": "snapshot"}}, 72),
    ],
)
def test_reads_of_a_moment_are_refused(collection, command, code):
    with refused(code):
        collection.database.command(command)


@pytest.mark.parametrize("retry", [True, False])
def test_both_settings_of_the_client(mongo_server, collection, retry):
    with connect(mongo_server, retryWrites=retry, retryReads=retry) as client:
        seen = client[collection.database.name][collection.name]
        seen.insert_one({"_id": 1})
        seen.insert_many([{"_id": 2}, {"_id": 3}])
        assert seen.update_one({"_id": 1}, {"$inc": {"n": 1}}).modified_count == 1
        assert seen.find_one_and_delete({"_id": 2}) == {"_id": 2}
        assert seen.delete_many({}).deleted_count == 2


def twice(collection, session, number: int, command: dict) -> tuple[dict, dict]:
    """Sends a write two times as one, the way a driver does after it lost the first answer."""
    sent = {**command, "txnNumber": Int64(number)}
    once = send(collection, session, sent)
    again = send(collection, session, sent)
    return once, again


def send(collection, session, command: dict) -> dict:
    """Sends a command through the client of the session."""
    return session.client[collection.database.name].command(command, session=session)


def test_an_insert_is_done_once(collection, session):
    once, again = twice(collection, session, 1, {"insert": collection.name, "documents": [{"_id": 1}, {"a": 5}]})
    assert once["n"] == again["n"] == 2
    assert "writeErrors" not in again
    assert collection.count_documents({}) == 2


def test_an_update_is_done_once(collection, session):
    collection.insert_one({"_id": 1, "n": 0})
    command = {"update": collection.name, "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}
    once, again = twice(collection, session, 1, command)
    assert (once["n"], once["nModified"]) == (again["n"], again["nModified"]) == (1, 1)
    assert collection.find_one()["n"] == 1
    twice(collection, session, 2, command)
    assert collection.find_one()["n"] == 2


def test_an_upsert_is_done_once(collection, session):
    command = {"update": collection.name, "updates": [{"q": {"k": 1}, "u": {"$inc": {"n": 1}}, "upsert": True}]}
    once, again = twice(collection, session, 1, command)
    assert once["upserted"] == again["upserted"]
    assert collection.find_one() == {"_id": once["upserted"][0]["_id"], "k": 1, "n": 1}


def test_a_delete_is_done_once(collection, session):
    collection.insert_many([{"_id": 1}, {"_id": 2}])
    once, again = twice(collection, session, 1, {"delete": collection.name, "deletes": [{"q": {}, "limit": 1}]})
    assert once["n"] == again["n"] == 1
    assert collection.count_documents({}) == 1


def test_find_and_modify_is_done_once(collection, session):
    collection.insert_one({"_id": 1, "n": 0})
    command = {"findAndModify": collection.name, "query": {"_id": 1}, "update": {"$inc": {"n": 1}}}
    once, again = twice(collection, session, 1, command)
    assert once["value"] == again["value"] == {"_id": 1, "n": 0}
    assert once["lastErrorObject"] == again["lastErrorObject"]
    once, again = twice(collection, session, 2, {**command, "new": True})
    assert once["value"] == again["value"] == {"_id": 1, "n": 2}
    once, again = twice(collection, session, 3, {"findAndModify": collection.name, "query": {"_id": 1}, "remove": True})
    assert once["value"] == again["value"] == {"_id": 1, "n": 2}
    assert collection.count_documents({}) == 0


def test_a_part_that_was_done_is_not_done_again(collection, session):
    first = {"insert": collection.name, "documents": [{"_id": 1}], "txnNumber": Int64(1)}
    send(collection, session, first)
    both = {"insert": collection.name, "documents": [{"_id": 1}, {"_id": 2}], "txnNumber": Int64(1)}
    assert send(collection, session, both)["n"] == 2
    assert sorted(ids(collection.find())) == [1, 2]


def test_a_failure_fails_again(collection, session):
    collection.insert_one({"_id": 1})
    once, again = twice(collection, session, 1, {"insert": collection.name, "documents": [{"_id": 1}]})
    assert [answer["writeErrors"][0]["code"] for answer in (once, again)] == [11000, 11000]


def test_an_older_number_is_too_old(collection, session):
    send(collection, session, {"insert": collection.name, "documents": [{}], "txnNumber": Int64(5)})
    with refused(225):
        send(collection, session, {"insert": collection.name, "documents": [{}], "txnNumber": Int64(4)})


def test_a_number_belongs_to_a_session(mongo_server, collection):
    for number in range(3):
        with connect(mongo_server) as client, client.start_session() as session:
            command = {"insert": collection.name, "documents": [{"_id": number}], "txnNumber": Int64(1)}
            assert send(collection, session, command)["n"] == 1
    assert collection.count_documents({}) == 3


def test_what_is_not_retried(collection, session):
    number = Int64(1)
    with refused(72):
        updates = [{"q": {}, "u": {"$set": {"a": 1}}, "multi": True}]
        send(collection, session, {"update": collection.name, "updates": updates, "txnNumber": number})
    with refused(72):
        deletes = [{"q": {}, "limit": 0}]
        send(collection, session, {"delete": collection.name, "deletes": deletes, "txnNumber": number})
    with refused(50768):
        send(collection, session, {"find": collection.name, "txnNumber": number})


def test_a_session_has_an_id_of_sixteen_bytes(mongo_server):
    with Wire(mongo_server) as wire:
        answer = wire.ask({"ping": 1, "$db": "admin", "lsid": {"id": Binary(b"short", 4)}})
        assert answer["ok"] == 0.0


def test_records_outlive_the_server(start_server):
    server = start_server("--throttle", "off")
    with connect(server) as client, client.start_session() as session:
        database = client["retry"]
        command = {"insert": "notes", "documents": [{"_id": 1}], "txnNumber": Int64(1)}
        assert database.command(command, session=session)["n"] == 1
        key = session.session_id
        database["notes"].delete_one({"_id": 1})
    server.stop()
    server.start_again()
    with connect(server) as client, client.start_session() as session:
        client.admin.command("ping", session=session)
        # The same session, as a client has it that outlives the server.
        session._server_session.session_id = key
        assert client["retry"].command(command, session=session)["n"] == 1
        assert client["retry"]["notes"].count_documents({}) == 0
    assert server.stop() == 0
