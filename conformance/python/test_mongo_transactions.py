"""Transactions over documents and collections: isolation, conflicts, ends, refusals."""

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from bson import Int64
from pymongo.errors import OperationFailure

from mongo import connect, ids, refused

WRITE_CONFLICT = 112
NO_SUCH_TRANSACTION = 251
NOT_IN_A_TRANSACTION = 263
TRANSIENT = ["TransientTransactionError"]


@pytest.fixture
def session(mongo):
    """A session of its own."""
    with mongo.start_session() as started:
        yield started


@pytest.fixture
def one(collection):
    """A collection with a document."""
    collection.insert_one({"_id": 0, "n": 0})
    return collection


def test_a_commit_shows_all_at_once(session, one):
    one.insert_one({"_id": "gone"})
    with session.start_transaction():
        one.insert_one({"_id": 1}, session=session)
        one.update_one({"_id": 0}, {"$inc": {"n": 1}}, session=session)
        one.delete_one({"_id": "gone"}, session=session)
        assert sorted(ids(one.find(session=session))) == [0, 1]
        assert one.find_one({"_id": 0}, session=session)["n"] == 1
        assert {found["_id"]: found.get("n") for found in one.find()} == {0: 0, "gone": None}
    assert {found["_id"]: found.get("n") for found in one.find()} == {0: 1, 1: None}


def test_an_abort_shows_nothing(session, one):
    session.start_transaction()
    one.insert_many([{"_id": 1}, {"_id": 2}], session=session)
    assert one.find_one_and_update({"_id": 0}, {"$set": {"x": 1}}, session=session, return_document=True)["x"] == 1
    one.delete_many({"_id": 0}, session=session)
    session.abort_transaction()
    assert list(one.find()) == [{"_id": 0, "n": 0}]


def test_an_exception_aborts(session, one):
    def fail():
        with session.start_transaction():
            one.insert_one({"_id": 1}, session=session)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert ids(one.find()) == [0]


def test_reads_are_of_one_moment(session, one):
    with session.start_transaction():
        assert ids(one.find(session=session)) == [0]
        one.insert_one({"_id": "later"})
        one.update_one({"_id": 0}, {"$set": {"n": 99}})
        assert list(one.find(session=session)) == [{"_id": 0, "n": 0}]
        assert list(one.aggregate([{"$count": "n"}], session=session)) == [{"n": 1}]
        assert one.distinct("n", session=session) == [0]
    assert one.find_one({"_id": 0})["n"] == 99


def test_a_transaction_stays_in_one_collection(session, one, second_collection):
    second_collection.insert_one({"_id": 0})
    session.start_transaction()
    one.update_one({"_id": 0}, {"$inc": {"n": 1}}, session=session)
    with refused(NOT_IN_A_TRANSACTION):
        second_collection.insert_one({"_id": 1}, session=session)
    with contextlib.suppress(OperationFailure):
        session.abort_transaction()
    assert one.find_one()["n"] == 0


def test_a_transaction_stays_in_one_logical_partition(session, empty_database):
    empty_database.command({"shardCollection": f"{empty_database.name}.people", "key": {"city": "hashed"}})
    people = empty_database["people"]
    people.insert_many([{"_id": 1, "city": "Oslo"}, {"_id": 2, "city": "Rome"}])
    with session.start_transaction():
        people.update_one({"_id": 1, "city": "Oslo"}, {"$set": {"n": 1}}, session=session)
        people.insert_one({"_id": 3, "city": "Oslo"}, session=session)
    assert people.count_documents({"city": "Oslo"}) == 2
    session.start_transaction()
    people.update_one({"_id": 1, "city": "Oslo"}, {"$set": {"n": 2}}, session=session)
    with refused(NOT_IN_A_TRANSACTION):
        people.update_one({"_id": 2, "city": "Rome"}, {"$set": {"n": 2}}, session=session)
    with contextlib.suppress(OperationFailure):
        session.abort_transaction()
    assert people.count_documents({"n": 2}) == 0


def test_own_writes_are_seen_by_everything(session, collection):
    collection.insert_many({"_id": number, "n": number} for number in range(10))
    with session.start_transaction():
        collection.delete_many({"n": {"$lt": 5}}, session=session)
        collection.update_many({}, {"$inc": {"n": 100}}, session=session)
        collection.insert_one({"_id": "new", "n": 1}, session=session)
        assert sorted(one["n"] for one in collection.find(session=session)) == [1, 105, 106, 107, 108, 109]
        assert ids(collection.find({"n": {"$gt": 107}}, sort=[("n", -1)], session=session)) == [9, 8]
        assert collection.count_documents({}, session=session) == 6
        assert len(list(collection.find(session=session, batch_size=2))) == 6
    assert collection.count_documents({}) == 6


def outcome(run) -> OperationFailure | None:
    """Returns how a statement or a commit failed, if it did."""
    try:
        run()
    except OperationFailure as error:
        return error
    return None


def test_one_of_two_writers_wins(mongo, one):
    with mongo.start_session() as first, mongo.start_session() as second:
        first.start_transaction()
        second.start_transaction()
        one.update_one({"_id": 0}, {"$inc": {"n": 1}}, session=first)
        # A conflict shows at the statement, or at the latest at the commit.
        error = outcome(lambda: one.update_one({"_id": 0}, {"$inc": {"n": 1}}, session=second))
        first.commit_transaction()
        error = error or outcome(second.commit_transaction)
        assert error is not None
        assert error.code == WRITE_CONFLICT
        assert error.has_error_label("TransientTransactionError")
        assert not error.has_error_label("UnknownTransactionCommitResult")
    assert one.find_one()["n"] == 1


def test_a_write_after_the_snapshot_conflicts(session, one):
    session.start_transaction()
    assert one.find_one(session=session)["n"] == 0
    one.update_one({"_id": 0}, {"$inc": {"n": 1}})
    error = outcome(lambda: one.update_one({"_id": 0}, {"$inc": {"n": 1}}, session=session))
    error = error or outcome(session.commit_transaction)
    assert error is not None
    assert error.code == WRITE_CONFLICT
    assert error.has_error_label("TransientTransactionError")
    assert one.find_one()["n"] == 1


def test_a_plain_write_conflicts_with_nothing(session, one):
    session.start_transaction()
    one.update_one({"_id": 0}, {"$inc": {"n": 1}}, session=session)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(lambda: one.update_one({"_id": 0}, {"$inc": {"n": 10}}))
        time.sleep(0.2)
        error = outcome(session.commit_transaction)
        assert waiting.result(30).modified_count == 1
    # The plain write came first or last; it is never the one that is refused.
    assert one.find_one()["n"] == (11 if error is None else 10)
    assert error is None or error.code == WRITE_CONFLICT


def test_an_error_aborts(session, one):
    session.start_transaction()
    one.insert_one({"_id": 1}, session=session)
    with refused(11000):
        one.insert_one({"_id": 0}, session=session)
    with refused(NO_SUCH_TRANSACTION, labels=TRANSIENT):
        one.insert_one({"_id": 2}, session=session)
    session.abort_transaction()
    assert ids(one.find()) == [0]


@pytest.fixture
def fresh_session(mongo_server):
    """A session of a client of its own, which has used no numbers yet."""
    with connect(mongo_server) as client, client.start_session() as started:
        yield started


def command(collection, session, number: int, *, start: bool = False, more: dict | None = None, **fields) -> dict:
    """Sends a statement of a transaction by hand."""
    sent = {**fields, **(more or {}), "txnNumber": Int64(number), "autocommit": False}
    if start:
        sent["startTransaction"] = True
    is_end = "commitTransaction" in fields or "abortTransaction" in fields
    return session.client["admin" if is_end else collection.database.name].command(sent, session=session)


def test_statements_that_are_out_of_turn(fresh_session, one):
    insert = {"insert": one.name, "documents": [{}]}
    with refused(NO_SUCH_TRANSACTION, labels=TRANSIENT):
        command(one, fresh_session, 1, **insert)
    command(one, fresh_session, 2, start=True, **insert)
    with refused(117):
        command(one, fresh_session, 2, start=True, **insert)
    with refused(225):
        command(one, fresh_session, 1, start=True, **insert)


def test_ends_are_told_again(fresh_session, one):
    insert = {"insert": one.name, "documents": [{"_id": 1}]}
    command(one, fresh_session, 1, start=True, **insert)
    for _ in range(3):
        assert command(one, fresh_session, 1, commitTransaction=1)["ok"] == 1.0
    with refused(256):
        command(one, fresh_session, 1, abortTransaction=1)
    command(one, fresh_session, 2, start=True, insert=one.name, documents=[{"_id": 2}])
    assert command(one, fresh_session, 2, abortTransaction=1)["ok"] == 1.0
    with refused(NO_SUCH_TRANSACTION):
        command(one, fresh_session, 2, commitTransaction=1)
    with refused(NO_SUCH_TRANSACTION):
        command(one, fresh_session, 9, abortTransaction=1)
    assert sorted(ids(one.find())) == [0, 1]


def test_concerns_belong_to_the_ends(fresh_session, one):
    insert = {"insert": one.name, "documents": [{}]}
    with refused(72):
        command(one, fresh_session, 1, start=True, more={"writeConcern": {"w": 1}}, **insert)
    command(one, fresh_session, 2, start=True, more={"readConcern": {"level": "snapshot"}}, **insert)
    with refused(72):
        command(one, fresh_session, 2, find=one.name, more={"readConcern": {"level": "snapshot"}})


REFUSED = {
    "count": lambda c: {"count": c.name},
    "listCollections": lambda c: {"listCollections": 1},
    "createIndexes": lambda c: {"createIndexes": c.name, "indexes": [{"key": {"a": 1}, "name": "a_1"}]},
    "$out": lambda c: {"aggregate": c.name, "pipeline": [{"$out": "x"}], "cursor": {}},
    "$merge": lambda c: {"aggregate": c.name, "pipeline": [{"$merge": "x"}], "cursor": {}},
    "drop": lambda c: {"drop": c.name},
    "dropDatabase": lambda c: {"dropDatabase": 1},
    "collStats": lambda c: {"collStats": c.name},
}


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
def test_what_no_transaction_does(session, one, make):
    session.start_transaction()
    one.find_one(session=session)
    with refused(NOT_IN_A_TRANSACTION):
        one.database.command(make(one), session=session)


def test_collections_are_made_inside(session, empty_database):
    with session.start_transaction():
        empty_database["made"].insert_one({"_id": 1}, session=session)
        assert empty_database["made"].count_documents({}) == 0
        assert "made" not in empty_database.list_collection_names()
    assert ids(empty_database["made"].find()) == [1]
    assert empty_database.list_collection_names() == ["made"]


def test_collections_of_an_aborted_transaction_are_gone(session, empty_database):
    session.start_transaction()
    empty_database.create_collection("made", session=session)
    empty_database["made"].create_index("a", session=session)
    assert list(empty_database["made"].list_indexes()) == []
    session.abort_transaction()
    assert empty_database.list_collection_names() == []
    session.start_transaction()
    empty_database["made"].create_index("a", name="a_1", session=session)
    session.commit_transaction()
    assert set(empty_database["made"].index_information()) == {"_id_", "a_1"}
    session.start_transaction()
    with refused(48):
        empty_database.create_collection("made", session=session)


def test_the_callback_form_counts_right(mongo, one):
    one.insert_one({"_id": 1, "n": 0})

    def move(session):
        one.update_one({"_id": 0}, {"$inc": {"n": -1}}, session=session)
        one.update_one({"_id": 1}, {"$inc": {"n": 1}}, session=session)

    def work(_):
        with mongo.start_session() as session:
            for _ in range(10):
                session.with_transaction(move)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert {found["_id"]: found["n"] for found in one.find()} == {0: -40, 1: 40}


def test_no_reader_sees_half_a_transfer(mongo, collection):
    collection.insert_many([{"_id": number, "n": 100} for number in range(4)])
    wrong = []

    def transfer(seed):
        with mongo.start_session() as session:
            for step in range(15):
                source, target = (seed + step) % 4, (seed + step + 1) % 4

                def move(inside, source=source, target=target):
                    collection.update_one({"_id": source}, {"$inc": {"n": -1}}, session=inside)
                    collection.update_one({"_id": target}, {"$inc": {"n": 1}}, session=inside)

                session.with_transaction(move)

    def watch(_):
        with mongo.start_session() as session:
            for _ in range(20):
                with session.start_transaction():
                    total = sum(one["n"] for one in collection.find(session=session, batch_size=2))
                if total != 400:
                    wrong.append(total)

    with ThreadPoolExecutor(4) as threads:
        done = [threads.submit(transfer, seed) for seed in range(3)] + [threads.submit(watch, 0)]
        for one in done:
            one.result(60)
    assert wrong == []
    assert sum(one["n"] for one in collection.find()) == 400


def test_unique_keys_hold_in_a_transaction(session, collection):
    collection.create_index("a", unique=True)
    collection.insert_one({"a": 1})
    session.start_transaction()
    with refused(11000):
        collection.insert_one({"a": 1}, session=session)
    session.abort_transaction()
    with session.start_transaction():
        collection.delete_one({"a": 1}, session=session)
        collection.insert_one({"a": 1, "new": True}, session=session)
    assert [one.get("new") for one in collection.find()] == [True]


def test_a_session_that_ends_aborts(mongo, one):
    with mongo.start_session() as session:
        session.start_transaction()
        one.insert_one({"_id": 1}, session=session)
    assert ids(one.find()) == [0]
    one.update_one({"_id": 0}, {"$inc": {"n": 1}})


def test_killing_all_sessions_aborts(mongo, one):
    with mongo.start_session() as session:
        session.start_transaction()
        one.insert_one({"_id": 1}, session=session)
        mongo.admin.command("killAllSessions", [])
        with pytest.raises(OperationFailure) as caught:
            session.commit_transaction()
        assert caught.value.code == NO_SUCH_TRANSACTION
    assert ids(one.find()) == [0]


def test_a_transaction_of_many_documents(session, collection):
    with session.start_transaction():
        collection.insert_many(({"_id": number} for number in range(1000)), session=session)
        assert collection.count_documents({}, session=session) == 1000
    assert collection.count_documents({}) == 1000
