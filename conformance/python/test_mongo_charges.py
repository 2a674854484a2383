"""Request units: what the last request cost, and what happens when they are used up."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from pymongo.errors import BulkWriteError, OperationFailure

from mongo import connect

TOO_MANY_REQUESTS = 16500
TEXT = re.compile(r"^Error=16500, RetryAfterMs=(\d+), Details='.*'")


def last(session) -> dict:
    """What the last request of this session cost."""
    return session.client["conformance"].command({"getLastRequestStatistics": 1}, session=session)


@pytest.fixture
def session(mongo):
    """A session, so that no other request comes between."""
    with mongo.start_session() as started:
        yield started


def test_what_a_request_cost(collection, session):
    collection.insert_one({"_id": 1, "text": "x" * 900}, session=session)
    inserted = last(session)
    assert inserted["_t"] == "GetRequestStatisticsResponse"
    assert inserted["ok"] == 1
    assert inserted["CommandName"] == "insert"
    assert isinstance(inserted["RequestCharge"], float)
    assert isinstance(inserted["RequestDurationInMilliSeconds"], float)
    assert inserted["RequestCharge"] > 1
    collection.find_one({"_id": 1}, session=session)
    found = last(session)
    assert found["CommandName"] == "find"
    assert found["RequestCharge"] == 1.0
    assert last(session)["RequestCharge"] == 1.0


def test_free_requests_leave_no_trace(mongo, collection, session):
    collection.insert_one({"_id": 1}, session=session)
    before = last(session)
    mongo.admin.command("ping", session=session)
    mongo.admin.command("hello", session=session)
    after = last(session)
    assert after["CommandName"] == "insert"
    assert after["RequestCharge"] == before["RequestCharge"]


def test_more_costs_more(collection, session):
    def charge_of(write) -> float:
        write()
        return last(session)["RequestCharge"]

    # The first write makes the collection, and that is charged too.
    collection.insert_one({"_id": 0})
    small = charge_of(lambda: collection.insert_one({"_id": 1, "t": "x" * 100}, session=session))
    large = charge_of(lambda: collection.insert_one({"_id": 2, "t": "x" * 50_000}, session=session))
    many = charge_of(lambda: collection.insert_many([{"_id": 10 + number} for number in range(20)], session=session))
    assert large > 2 * small
    assert many > 10 * small
    point = charge_of(lambda: collection.find_one({"_id": 1}, session=session))
    scan = charge_of(lambda: list(collection.find({"nothing": 1}, session=session)))
    assert scan > point


def test_each_command_has_its_name(collection, session):
    for name, run in {
        "update": lambda: collection.update_one({"_id": 1}, {"$set": {"a": 1}}, upsert=True, session=session),
        "aggregate": lambda: list(collection.aggregate([], session=session)),
        "count": lambda: collection.estimated_document_count(),
        "distinct": lambda: collection.distinct("a", session=session),
        "findAndModify": lambda: collection.find_one_and_update({}, {"$inc": {"a": 1}}, session=session),
        "delete": lambda: collection.delete_one({}, session=session),
    }.items():
        run()
        if name != "count":
            assert last(session)["CommandName"] == name


def test_failures_cost_too(collection, session):
    collection.insert_one({"_id": 1})
    with pytest.raises(OperationFailure):
        collection.insert_one({"_id": 1}, session=session)
    assert last(session)["RequestCharge"] > 0


def test_each_batch_has_its_charge(collection, session):
    collection.insert_many({"_id": number, "t": "x" * 500} for number in range(300))
    cursor = collection.find(batch_size=100, session=session)
    next(cursor)
    first = last(session)
    assert first["CommandName"] == "find"
    list(cursor)
    assert last(session)["CommandName"] == "getMore"
    assert last(session)["RequestCharge"] > 0
    assert first["RequestCharge"] > 1


@pytest.fixture
def throttled(start_server):
    """A server that throttles, and a collection of 400 RU/s."""
    server = start_server()
    # Without the driver's own retries every refusal shows.
    with connect(server, maxAdaptiveRetries=0) as client:
        client["busy"].command({"customAction": "CreateCollection", "collection": "notes", "offerThroughput": 400})
        yield server, client["busy"]["notes"]


def failure_of(run) -> OperationFailure | None:
    """Returns how it failed, if it did."""
    try:
        run()
    except OperationFailure as error:
        return error
    return None


def flood(notes, seconds: float) -> tuple[int, list[OperationFailure]]:
    """Writes as fast as eight clients can; returns how many writes were done, and the failures."""
    deadline = time.monotonic() + seconds

    def write(_):
        done, failed = 0, []
        while time.monotonic() < deadline:
            try:
                notes.insert_one({"text": "x" * 5000})
                done += 1
            except OperationFailure as error:
                failed.append(error)
        return done, failed

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(write, range(8)))
    return sum(done for done, _ in results), [error for _, failed in results for error in failed]


def test_requests_beyond_the_budget_are_refused(throttled):
    _, notes = throttled
    done, failed = flood(notes, 4)
    assert done > 0
    assert failed
    for error in failed:
        assert error.code == TOO_MANY_REQUESTS, error
        assert error.details["codeName"] == "TooManyRequests"
        assert TEXT.match(error.details["errmsg"]), error.details
        # Drivers that understand backpressure try again by themselves.
        assert error.has_error_label("SystemOverloadedError")
        assert error.has_error_label("RetryableError")
    time.sleep(2)
    assert notes.estimated_document_count() == done


def test_the_same_without_retrying_writes(throttled):
    server, notes = throttled
    with connect(server, retryWrites=False, maxAdaptiveRetries=0) as client:
        done, failed = flood(client["busy"]["notes"], 3)
    assert failed
    assert all(error.code == TOO_MANY_REQUESTS for error in failed)
    time.sleep(2)
    assert notes.estimated_document_count() == done


def test_a_batch_is_done_or_tells_what_was_not(throttled):
    server, notes = throttled
    with connect(server, retryWrites=False, maxAdaptiveRetries=0) as client:
        seen = client["busy"]["notes"]
        documents = [{"_id": number, "text": "x" * 5000} for number in range(400)]
        error = failure_of(lambda: seen.insert_many(documents, ordered=False))
    time.sleep(2)
    stored = notes.estimated_document_count()
    if isinstance(error, BulkWriteError):
        failed = error.details["writeErrors"]
        assert {one["code"] for one in failed} == {TOO_MANY_REQUESTS}
        assert all(TEXT.match(one["errmsg"]) for one in failed)
        assert error.details["nInserted"] == stored == 400 - len(failed)
    else:
        assert error is not None, "400 writes of five kilobytes passed in a moment"
        assert error.code == TOO_MANY_REQUESTS


def test_free_requests_are_never_refused(throttled):
    _, notes = throttled
    flood(notes, 2)
    for _ in range(50):
        assert notes.database.command("ping")["ok"] == 1.0
        assert notes.database.client.admin.command("hello")["ok"] == 1.0


def test_throttling_kills_no_cursor(throttled):
    _, notes = throttled
    for number in range(100):
        while (error := failure_of(lambda key=number: notes.insert_one({"_id": key, "text": "x" * 5000}))) is not None:
            assert error.code == TOO_MANY_REQUESTS
            time.sleep(0.1)
    time.sleep(1)
    database = notes.database
    answer = database.command("find", "notes", batchSize=10)["cursor"]
    seen = list(answer["firstBatch"])
    deadline = time.monotonic() + 60
    key = answer["id"]
    while key:
        assert time.monotonic() < deadline
        answer = database.command("getMore", key, collection="notes", batchSize=30, check=False)
        if answer["ok"] != 1.0:
            assert answer["code"] == TOO_MANY_REQUESTS
            time.sleep(0.1)
            continue
        seen += answer["cursor"]["nextBatch"]
        key = answer["cursor"]["id"]
    assert len(seen) == 100


def test_a_stream_is_not_refused(throttled):
    _, notes = throttled
    with notes.watch(max_await_time_ms=200) as stream:
        done, _ = flood(notes, 2)
        seen = 0
        deadline = time.monotonic() + 30
        while seen < done and time.monotonic() < deadline:
            if stream.try_next() is not None:
                seen += 1
        assert seen >= done


def test_the_server_may_wait_instead(start_server):
    server = start_server("--mongo-server-side-retry", "on")
    with connect(server) as client:
        client["busy"].command({"customAction": "CreateCollection", "collection": "notes", "offerThroughput": 400})
        done, failed = flood(client["busy"]["notes"], 4)
        assert failed == []
        assert client["busy"]["notes"].estimated_document_count() == done
