"""Results in batches: how large, how long they live, who may ask for the next one."""

import threading

import bson
import pytest
from bson import Int64
from pymongo import CursorType, monitoring
from pymongo.errors import CursorNotFound

from mongo import connect, ids, refused

NOT_FOUND = 43


@pytest.fixture
def numbers(collection):
    """Two hundred and fifty documents."""
    collection.insert_many({"_id": number} for number in range(250))
    return collection


def find(collection, **arguments) -> dict:
    """Returns the cursor of a find, as the server answers it."""
    return collection.database.command("find", collection.name, **arguments)["cursor"]


def more(collection, cursor: dict, **arguments) -> dict:
    """Returns the next batch, as the server answers it."""
    return collection.database.command("getMore", cursor["id"], collection=collection.name, **arguments)["cursor"]


def test_the_first_batch_has_101_documents(numbers):
    cursor = find(numbers)
    assert len(cursor["firstBatch"]) == 101
    assert cursor["ns"] == numbers.full_name
    assert isinstance(cursor["id"], Int64)
    assert cursor["id"] != 0
    rest = more(numbers, cursor)
    assert len(rest["nextBatch"]) == 149
    assert rest["id"] == 0
    assert isinstance(rest["id"], Int64)
    assert rest["ns"] == numbers.full_name
    assert sorted(ids(cursor["firstBatch"] + rest["nextBatch"])) == list(range(250))


@pytest.mark.parametrize("size", [1, 2, 7, 100, 249, 250, 251, 1000])
def test_batches_of_any_size(numbers, size):
    assert sorted(ids(numbers.find(batch_size=size))) == list(range(250))
    cursor = find(numbers, batchSize=size)
    assert len(cursor["firstBatch"]) == min(size, 250)
    seen = cursor["firstBatch"]
    while cursor["id"]:
        cursor = more(numbers, cursor, batchSize=size)
        assert len(cursor["nextBatch"]) <= size
        seen += cursor["nextBatch"]
    assert sorted(ids(seen)) == list(range(250))


def test_an_empty_first_batch(numbers):
    cursor = find(numbers, batchSize=0)
    assert cursor["firstBatch"] == []
    assert cursor["id"] != 0
    assert len(more(numbers, cursor)["nextBatch"]) == 250
    answer = numbers.database.command("aggregate", numbers.name, pipeline=[], cursor={"batchSize": 0})["cursor"]
    assert answer["firstBatch"] == []
    assert len(more(numbers, answer, batchSize=10)["nextBatch"]) == 10


def test_a_limit_is_for_all_batches(numbers):
    assert len(list(numbers.find(limit=120))) == 120
    assert len(list(numbers.find(limit=120, batch_size=50))) == 120
    cursor = find(numbers, limit=50, batchSize=20)
    assert len(cursor["firstBatch"]) == 20
    cursor = more(numbers, cursor, batchSize=20)
    cursor = more(numbers, cursor, batchSize=20)
    assert len(cursor["nextBatch"]) == 10
    assert cursor["id"] == 0


def test_a_single_batch(numbers):
    cursor = find(numbers, singleBatch=True, batchSize=10)
    assert len(cursor["firstBatch"]) == 10
    assert cursor["id"] == 0


def test_sorted_results_in_batches(numbers):
    assert ids(numbers.find(sort=[("_id", -1)], batch_size=7)) == list(range(249, -1, -1))
    assert ids(numbers.find({"_id": {"$gte": 100}}, sort=[("_id", 1)], skip=5, limit=40, batch_size=9)) == list(
        range(105, 145)
    )


def test_aggregation_in_batches(numbers):
    pipeline = [{"$match": {"_id": {"$lt": 200}}}, {"$project": {"n": {"$multiply": ["$_id", 2]}}}]
    assert sorted(found["n"] for found in numbers.aggregate(pipeline, batchSize=13)) == list(range(0, 400, 2))


def test_a_batch_is_no_larger_than_a_message(collection):
    collection.insert_many({"_id": number, "text": "x" * 1_000_000} for number in range(40))
    cursor = find(collection)
    assert 1 <= len(cursor["firstBatch"]) <= 17
    seen = len(cursor["firstBatch"])
    while cursor["id"]:
        cursor = more(collection, cursor)
        assert 1 <= len(cursor["nextBatch"]) <= 17
        seen += len(cursor["nextBatch"])
    assert seen == 40


def test_a_cursor_belongs_to_no_connection(mongo_server):
    opened = []

    class Listener(monitoring.ConnectionPoolListener):
        def connection_created(self, event):
            opened.append(event.connection_id)

        def __getattribute__(self, name):
            if name.startswith(("connection_", "pool_")) and name != "connection_created":
                return lambda event: None
            return super().__getattribute__(name)

    with connect(mongo_server, event_listeners=[Listener()]) as client:
        numbers = client["conformance"]["cursor-of-no-connection"]
        numbers.insert_many({"_id": number} for number in range(250))
        with client.start_session() as session:
            cursor = numbers.find({}, batch_size=100, session=session)
            seen = [next(cursor)]

            # Others take the connection that is free, so that a batch is asked for through another one.
            def occupy():
                for _ in range(5):
                    list(numbers.find({}, batch_size=50))

            threads = [threading.Thread(target=occupy) for _ in range(8)]
            for thread in threads:
                thread.start()
            seen += cursor
            for thread in threads:
                thread.join()
        assert sorted(ids(seen)) == list(range(250))
        numbers.drop()
    assert len(opened) > 1


def test_another_session_may_not_go_on(mongo, numbers):
    with mongo.start_session() as one, mongo.start_session() as two:
        cursor = numbers.database.command("find", numbers.name, batchSize=10, session=one)["cursor"]
        with refused(50737, 50738, 13):
            numbers.database.command("getMore", cursor["id"], collection=numbers.name, session=two)
        # The owner's cursor is none the worse for it.
        answer = numbers.database.command("getMore", cursor["id"], collection=numbers.name, session=one)
        assert len(answer["cursor"]["nextBatch"]) == 240


def test_killing(mongo, numbers):
    cursor = find(numbers, batchSize=10)
    answer = numbers.database.command("killCursors", numbers.name, cursors=[cursor["id"], Int64(12345)])
    assert answer["cursorsKilled"] == [cursor["id"]]
    assert answer["cursorsNotFound"] == [12345]
    assert answer["cursorsAlive"] == []
    assert answer["cursorsUnknown"] == []
    with refused(NOT_FOUND):
        more(numbers, cursor)


def test_a_client_closes_its_cursors(mongo_server, numbers):
    killed = []

    class Listener(monitoring.CommandListener):
        def started(self, event):
            pass

        def succeeded(self, event):
            if event.command_name == "killCursors":
                killed.append(event.reply["cursorsKilled"])

        def failed(self, event):
            pass

    with connect(mongo_server, event_listeners=[Listener()]) as client:
        cursor = client[numbers.database.name][numbers.name].find(batch_size=5)
        next(cursor)
        key = cursor.cursor_id
        cursor.close()
    assert killed == [[key]]


def test_a_cursor_that_is_not_there(numbers):
    for key in (1, 2**62):
        with refused(NOT_FOUND):
            more(numbers, {"id": Int64(key)})
    cursor = numbers.find(batch_size=10)
    next(cursor)
    numbers.database.command("killCursors", numbers.name, cursors=[cursor.cursor_id])
    with pytest.raises(CursorNotFound):
        list(cursor)


def test_another_collection_may_not_go_on(numbers):
    cursor = find(numbers, batchSize=10)
    with refused(13):
        numbers.database.command("getMore", cursor["id"], collection="another")


def test_a_time_limit_is_for_waiting_cursors_only(numbers):
    cursor = find(numbers, batchSize=10)
    with refused(2):
        more(numbers, cursor, maxTimeMS=1000)


@pytest.mark.parametrize("size", [-1, "x"])
def test_wrong_sizes(numbers, size):
    cursor = find(numbers, batchSize=10)
    with refused(51024, 2, 14):
        more(numbers, cursor, batchSize=size)


def test_dropping_the_collection_ends_its_cursors(numbers):
    cursor = find(numbers, batchSize=10)
    numbers.drop()
    with refused(175, 26, NOT_FOUND, 237):
        more(numbers, cursor)


def test_writes_between_batches(numbers):
    cursor = numbers.find({}, sort=[("_id", 1)], batch_size=10)
    seen = [next(cursor)["_id"] for _ in range(5)]
    numbers.delete_many({"_id": {"$gte": 200}})
    numbers.update_many({}, {"$set": {"touched": True}})
    numbers.insert_many({"_id": number} for number in range(-20, 0))
    seen += ids(cursor)
    assert len(set(seen)) == len(seen)
    assert set(range(200)) <= set(seen)


def test_many_cursors_side_by_side(numbers):
    cursors = [numbers.find({}, sort=[("_id", 1)], batch_size=20) for _ in range(20)]
    for number in range(250):
        assert {next(cursor)["_id"] for cursor in cursors} == {number}


def test_exhaust(numbers):
    assert sorted(ids(numbers.find(cursor_type=CursorType.EXHAUST, batch_size=20))) == list(range(250))
    # One that is left in the middle takes its connection with it, and no other.
    cursor = numbers.find(cursor_type=CursorType.EXHAUST, batch_size=20)
    for _ in range(50):
        next(cursor)
    cursor.close()
    assert numbers.count_documents({}) == 250


def test_tailing_needs_what_there_is_not(numbers):
    with refused(2):
        list(numbers.find(cursor_type=CursorType.TAILABLE))
    with refused(2):
        list(numbers.find(cursor_type=CursorType.TAILABLE_AWAIT))


def test_raw_batches(numbers):
    assert sum(len(batch) for batch in numbers.find_raw_batches(batch_size=50)) == 250 * len(bson.encode({"_id": 1}))


def test_listings_have_cursors(mongo_database, collection):
    collection.create_index("a")
    answer = mongo_database.command("listIndexes", collection.name, cursor={"batchSize": 1})["cursor"]
    assert answer["ns"] == f"{mongo_database.name}.{collection.name}" or "listIndexes" in answer["ns"]
    assert len(answer["firstBatch"]) == 1
    assert answer["id"] != 0
    rest = mongo_database.command("getMore", answer["id"], collection=answer["ns"].split(".", 1)[1])["cursor"]
    assert [found["name"] for found in answer["firstBatch"] + rest["nextBatch"]] == ["_id_", "a_1"]


def test_ending_a_session_ends_its_cursors(mongo, numbers):
    with mongo.start_session() as session:
        cursor = numbers.database.command("find", numbers.name, batchSize=10, session=session)["cursor"]
        mongo.admin.command("killSessions", [session.session_id])
        with refused(NOT_FOUND, 237):
            numbers.database.command("getMore", cursor["id"], collection=numbers.name, session=session)
