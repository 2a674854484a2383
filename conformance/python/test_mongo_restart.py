"""What was answered is there after a stop or a kill, and clients go on by themselves."""

import signal
import threading
import time

import pytest
from pymongo.errors import PyMongoError

from mongo import connect, ids


def test_everything_is_there_after_a_stop(start_server):
    server = start_server("--throttle", "off")
    with connect(server) as client:
        notes = client["restart"]["notes"]
        notes.create_index("a", unique=True, name="mine")
        notes.insert_many({"_id": number, "a": number} for number in range(300))
        client["restart"].command({"shardCollection": "restart.people", "key": {"city": "hashed"}})
        client["restart"]["people"].insert_one({"_id": 1, "city": "Oslo"})
        uuids = {one["name"]: one["info"]["uuid"] for one in client["restart"].list_collections()}
        assert server.stop() == 0
        server.start_again()
        # The same client finds the server again.
        assert sorted(ids(notes.find())) == list(range(300))
        assert notes.index_information()["mine"]["unique"] is True
        assert {one["name"]: one["info"]["uuid"] for one in client["restart"].list_collections()} == uuids
        with pytest.raises(PyMongoError):
            notes.insert_one({"a": 5})
        with pytest.raises(PyMongoError):
            client["restart"]["people"].insert_one({"_id": 2})
    assert server.stop() == 0


def test_what_was_answered_survives_a_kill(start_server):
    server = start_server("--throttle", "off")
    done: list[int] = []
    stopped = threading.Event()
    with connect(server, serverSelectionTimeoutMS=30_000) as client:
        notes = client["restart"]["notes"]
        notes.insert_one({"_id": -1})

        def write():
            number = 0
            while not stopped.is_set():
                try:
                    notes.insert_one({"_id": number})
                    done.append(number)
                except PyMongoError:
                    time.sleep(0.05)
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        time.sleep(1)
        server.stop(signal.SIGKILL)
        server.start_again()
        time.sleep(2)
        stopped.set()
        writer.join()
        assert len(done) > 10
        assert set(done) <= set(ids(notes.find()))
        # A write that was sent twice was done once: there is no duplicate, and each number at most one time.
        assert len(ids(notes.find())) == len(set(ids(notes.find())))
    assert server.stop() == 0


def test_a_stop_ends_idle_connections_at_once(start_server):
    server = start_server()
    with connect(server) as client:
        client.admin.command("ping")
        started = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - started < 15
