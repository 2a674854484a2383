"""Failures on demand, for tests of drivers: a server with test commands, and what drivers make of its failures."""

import time

import pytest
from pymongo import WriteConcern, monitoring
from pymongo.errors import AutoReconnect, OperationFailure, ServerSelectionTimeoutError, WriteConcernError

from mongo import connect, refused
from server import Server

# Drivers try these again: the first means that the server steps down, the second is an ordinary failure.
RETRYABLE = 189
TIME_LIMIT = 262


@pytest.fixture(scope="module")
def failing_server(tmp_path_factory):
    """A server that takes these commands."""
    server = Server(tmp_path_factory.mktemp("fail-points"), "--throttle", "off", "--mongo-test-commands", "on").start()
    yield server
    assert server.stop() == 0


@pytest.fixture
def client(failing_server):
    """A client; afterwards nothing fails on demand any more."""
    with connect(failing_server) as connected:
        assert connected.admin.command("getParameter", "*")["enableTestCommands"] is True
        yield connected
        connected.admin.command("configureFailPoint", "failCommand", mode="off")


def fail(client, mode, *commands: str, **data) -> None:
    """Arms the fail point."""
    client.admin.command("configureFailPoint", "failCommand", mode=mode, data={"failCommands": list(commands), **data})


def test_a_command_fails_as_often_as_told(client):
    fail(client, {"times": 2}, "find", errorCode=2)
    for _ in range(2):
        with refused(2):
            client["points"]["notes"].find_one()
    assert client["points"]["notes"].find_one() is None


def test_a_command_fails_until_told_otherwise(client):
    fail(client, "alwaysOn", "count", errorCode=20)
    for _ in range(5):
        with refused(20):
            client["points"]["notes"].estimated_document_count()
    assert client.admin.command("ping")["ok"] == 1.0
    client.admin.command("configureFailPoint", "failCommand", mode="off")
    assert client["points"]["notes"].estimated_document_count() == 0


def test_the_first_ones_pass(client):
    fail(client, {"skip": 2}, "distinct", errorCode=20)
    notes = client["points"]["notes"]
    assert notes.distinct("a") == []
    assert notes.distinct("a") == []
    with refused(20):
        notes.distinct("a")


def test_a_command_that_fails_is_not_done(client):
    notes = client["points"]["undone"]
    fail(client, {"times": 1}, "insert", errorCode=20)
    with refused(20):
        notes.insert_one({"_id": 1})
    assert notes.count_documents({}) == 0


def test_retryable_writes_are_retried(client):
    notes = client["points"]["retried"]
    fail(client, {"times": 1}, "insert", errorCode=RETRYABLE)
    notes.insert_one({"_id": 1})
    fail(client, {"times": 1}, "update", closeConnection=True)
    assert notes.update_one({"_id": 1}, {"$inc": {"n": 1}}).modified_count == 1
    fail(client, {"times": 1}, "findAndModify", errorCode=RETRYABLE)
    assert notes.find_one_and_update({"_id": 1}, {"$inc": {"n": 1}}, return_document=True) == {"_id": 1, "n": 2}
    notes.drop()


def test_labels_follow_the_code(failing_server, client):
    with connect(failing_server, retryWrites=False) as plain:
        fail(client, {"times": 1}, "insert", errorCode=TIME_LIMIT)
        with pytest.raises(OperationFailure) as caught:
            plain["points"]["labels"].insert_one({})
        assert not caught.value.has_error_label("RetryableWriteError")
    fail(client, {"times": 2}, "insert", errorCode=TIME_LIMIT)
    with pytest.raises(OperationFailure) as caught:
        client["points"]["labels"].insert_one({})
    assert caught.value.has_error_label("RetryableWriteError")
    fail(client, {"times": 2}, "insert", errorCode=TIME_LIMIT, errorLabels=[])
    with pytest.raises(OperationFailure) as caught:
        client["points"]["labels"].insert_one({})
    assert not caught.value.has_error_label("RetryableWriteError")
    fail(client, {"times": 1}, "find", errorCode=2, errorLabels=["Mine"])
    with refused(2, labels=["Mine"]):
        client["points"]["labels"].find_one()


def test_reads_are_retried(client):
    client["points"]["reads"].insert_one({"_id": 1})
    fail(client, {"times": 1}, "find", errorCode=RETRYABLE)
    assert client["points"]["reads"].find_one() == {"_id": 1}
    fail(client, {"times": 1}, "aggregate", closeConnection=True)
    assert list(client["points"]["reads"].aggregate([])) == [{"_id": 1}]


def test_a_connection_that_closes(failing_server, client):
    with connect(failing_server, retryReads=False) as plain:
        fail(client, {"times": 1}, "find", closeConnection=True)
        with pytest.raises(AutoReconnect):
            plain["points"]["notes"].find_one()
        assert plain["points"]["notes"].find_one() is None


def test_a_command_that_takes_its_time(client):
    fail(client, {"times": 1}, "ping", blockConnection=True, blockTimeMS=500)
    started = time.monotonic()
    assert client.admin.command("ping")["ok"] == 1.0
    assert time.monotonic() - started >= 0.45
    assert client.admin.command("ping")["ok"] == 1.0


def test_a_write_concern_that_is_not_met(client):
    notes = client["points"]["concern"].with_options(write_concern=WriteConcern(w=1))
    fail(client, {"times": 1}, "insert", writeConcernError={"code": 64, "errmsg": "waiting for replication"})
    with pytest.raises(WriteConcernError) as caught:
        notes.insert_one({"_id": 1})
    assert caught.value.code == 64
    assert notes.count_documents({}) == 1
    notes.drop()


def test_only_one_application(failing_server, client):
    with connect(failing_server, appname="unlucky") as unlucky:
        fail(client, "alwaysOn", "find", errorCode=2, appName="unlucky")
        assert client["points"]["notes"].find_one() is None
        with refused(2):
            unlucky["points"]["notes"].find_one()


def test_a_stream_resumes(client):
    notes = client["points"]["streams"]
    notes.insert_one({})
    with notes.watch() as stream:
        notes.insert_one({"_id": 1})
        assert next(stream)["documentKey"] == {"_id": 1}
        fail(client, {"times": 1}, "getMore", errorCode=RETRYABLE)
        notes.insert_one({"_id": 2})
        assert next(stream)["documentKey"] == {"_id": 2}
        fail(client, {"times": 1}, "getMore", closeConnection=True)
        notes.insert_one({"_id": 3})
        assert next(stream)["documentKey"] == {"_id": 3}
    notes.drop()


def test_a_commit_that_is_lost(client):
    notes = client["points"]["commits"]
    notes.insert_one({"_id": 0})
    with client.start_session() as session:
        with session.start_transaction():
            notes.insert_one({"_id": 1}, session=session)
            fail(client, {"times": 1}, "commitTransaction", closeConnection=True)
        assert notes.count_documents({}) == 2
        session.start_transaction()
        fail(client, {"times": 1}, "insert", errorCode=112)
        with refused(112, labels=["TransientTransactionError"]):
            notes.insert_one({"_id": 2}, session=session)
        session.abort_transaction()
    notes.drop()


def test_the_callback_form_tries_again(client):
    notes = client["points"]["callbacks"]
    notes.insert_one({"_id": 0, "n": 0})
    tries = []

    def add(session):
        tries.append(1)
        notes.update_one({"_id": 0}, {"$inc": {"n": 1}}, session=session)

    fail(client, {"times": 2}, "update", errorCode=112, errorLabels=["TransientTransactionError"])
    with client.start_session() as session:
        session.with_transaction(add)
    assert len(tries) == 3
    assert notes.find_one()["n"] == 1
    notes.drop()


def test_overload_is_retried_by_the_driver(failing_server, client):
    started = []

    class Listener(monitoring.CommandListener):
        def started(self, event):
            started.append(event.command_name)

        def succeeded(self, event):
            pass

        def failed(self, event):
            pass

    with connect(failing_server, event_listeners=[Listener()]) as watched:
        fail(
            client,
            {"times": 2},
            "find",
            errorCode=16500,
            errorLabels=["SystemOverloadedError", "RetryableError"],
        )
        assert watched["points"]["notes"].find_one() is None
    assert started.count("find") == 3


@pytest.mark.parametrize(
    "command",
    [
        {"configureFailPoint": "nonsense", "mode": "off"},
        {"configureFailPoint": "failCommand", "mode": "sometimes"},
        {"configureFailPoint": "failCommand", "mode": {"times": "x"}},
        {"configureFailPoint": "failCommand"},
    ],
    ids=str,
)
def test_a_fail_point_is_refused(client, command):
    with pytest.raises(OperationFailure) as caught:
        client.admin.command(command)
    assert caught.value.code != 1


def test_a_write_whose_answer_is_lost(client):
    lost = client["points"]["lost"]
    lost.drop()
    client.admin.command("configureFailPoint", "onPrimaryTransactionalWrite", mode={"times": 1})
    lost.insert_many([{"_id": 1, "n": 0}, {"_id": 2, "n": 0}])
    client.admin.command("configureFailPoint", "onPrimaryTransactionalWrite", mode={"times": 1})
    assert lost.update_one({"_id": 1}, {"$inc": {"n": 1}}).modified_count == 1
    client.admin.command("configureFailPoint", "onPrimaryTransactionalWrite", mode={"times": 1})
    assert lost.find_one_and_delete({"_id": 2}) == {"_id": 2, "n": 0}
    assert list(lost.find()) == [{"_id": 1, "n": 1}]


def test_a_write_that_is_lost_before_it_is_stored(client):
    lost = client["points"]["lost-before"]
    lost.drop()
    never = {"failBeforeCommitExceptionCode": 1}
    client.admin.command("configureFailPoint", "onPrimaryTransactionalWrite", mode={"times": 2}, data=never)
    with pytest.raises(AutoReconnect):
        lost.insert_one({"_id": 1})
    client.admin.command("configureFailPoint", "onPrimaryTransactionalWrite", mode={"times": 1}, data=never)
    lost.insert_one({"_id": 2})
    client.admin.command("configureFailPoint", "onPrimaryTransactionalWrite", mode="off")
    assert list(lost.find()) == [{"_id": 2}]


def test_the_first_words_of_an_application(failing_server, client):
    fail(client, "alwaysOn", "hello", "isMaster", closeConnection=True, appName="never")
    with (
        connect(failing_server, appName="never", serverSelectionTimeoutMS=500) as refused_client,
        pytest.raises(ServerSelectionTimeoutError),
    ):
        refused_client.admin.command("ping")
    with connect(failing_server, appName="other") as other:
        assert other.admin.command("ping")["ok"] == 1.0


def test_all_batches_of_a_cursor_share_their_time(client):
    many = client["points"]["many"]
    many.drop()
    many.insert_many([{} for _ in range(30)])
    cursor = many.find(batch_size=10).max_time_ms(60_000)
    next(cursor)
    client.admin.command("configureFailPoint", "maxTimeAlwaysTimeOut", mode="alwaysOn")
    try:
        with refused(50):
            list(cursor)
    finally:
        client.admin.command("configureFailPoint", "maxTimeAlwaysTimeOut", mode="off")


def test_the_concern_of_a_pipeline_that_writes(client):
    source = client["points"]["source"]
    source.insert_one({})
    with pytest.raises(WriteConcernError):
        source.with_options(write_concern=WriteConcern(w=7)).aggregate([{"$out": "target"}])
