"""How the tests reach the MongoDB API, and small readings of what PyMongo returns and raises."""

import base64
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bson
import pytest
from bson.raw_bson import RawBSONDocument
from pymongo import AsyncMongoClient, MongoClient
from pymongo.errors import BulkWriteError, OperationFailure, PyMongoError

from server import KEY, Server

ACCOUNT = "localhost"
REPLICA_SET = "globaldb"
SECONDARY_KEY = base64.b64encode(b"the second key of the account, sixty-four bytes long or so it is").decode()
READ_ONLY_KEY = base64.b64encode(b"a key that permits reading alone, sixty-four bytes long or so it").decode()
# Long enough for a slow machine; a test that cannot connect should not wait for the default of thirty seconds.
SELECTION_MS_MAX = 10_000
WAIT_SECONDS_MAX = 20

DUPLICATE_KEY = 11000
# What a field that is not there is compared with.
MISSING = object()


def options(server: Server, **more: Any) -> dict[str, Any]:
    """Returns what both clients are made with: TLS that trusts the server's own certificate, the account, its key."""
    given = {
        "host": "localhost",
        "port": server.mongo_port,
        "username": ACCOUNT,
        "password": KEY,
        "tls": True,
        "serverSelectionTimeoutMS": SELECTION_MS_MAX,
        **more,
    }
    if given["tls"]:
        given.setdefault("tlsCAFile", str(server.certificate))
    return {name: value for name, value in given.items() if value is not None}


def connect(server: Server, **more: Any) -> MongoClient:
    """Makes a client; an option that is None is left out."""
    return MongoClient(**options(server, **more))


def connect_async(server: Server, **more: Any) -> AsyncMongoClient:
    """Makes an asynchronous client."""
    return AsyncMongoClient(**options(server, **more))


@contextmanager
def refused(*codes: int, text: str | None = None, labels: Iterable[str] = ()) -> Iterator[pytest.ExceptionInfo]:
    """Expects one of these codes, this in the message, and these labels."""
    with pytest.raises(PyMongoError) as caught:
        yield caught
    error = caught.value
    assert isinstance(error, OperationFailure), repr(error)
    found = error.details["writeErrors"][0]["code"] if isinstance(error, BulkWriteError) else error.code
    assert found in codes, f"code {found} instead of {codes}: {error} {error.details}"
    if text is not None:
        assert text in str(error), error
    for label in labels:
        assert error.has_error_label(label), error.details


def ids(found: Iterable[dict]) -> list:
    """Returns the `_id`s in the order of the answer."""
    return [document["_id"] for document in found]


def raw(fields: bytes) -> RawBSONDocument:
    """Makes a document out of its elements, for what PyMongo does not write: type byte, name, NUL, value."""
    return RawBSONDocument((len(fields) + 5).to_bytes(4, "little") + fields + b"\0")


def element(kind: int, name: str, value: bytes = b"") -> bytes:
    """Returns the bytes of one element."""
    return bytes([kind]) + name.encode() + b"\0" + value


def stored_bytes(collection, filter: dict) -> bytes:
    """Returns the one document that a filter finds, as it came over the wire."""
    as_bytes = collection.with_options(bson.CodecOptions(document_class=RawBSONDocument))
    (found,) = as_bytes.find(filter)
    return found.raw


def codes(error: BulkWriteError) -> list[tuple[int, int]]:
    """Returns position and code of every failed statement."""
    return [(failed["index"], failed["code"]) for failed in error.details["writeErrors"]]


def wait_until(holds: Callable[[], bool]) -> None:
    """Waits for what other threads and the server's own tasks do."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not holds():
        assert time.monotonic() < deadline, "waited for too long"
        time.sleep(0.05)


def compare(found: dict, expected: dict, cases: dict) -> None:
    """Compares results to the type, and says which case it was."""
    wrong = []
    for name, case in cases.items():
        if expected[name] is MISSING:
            if name in found:
                wrong.append(f"{case}: {found[name]!r} instead of nothing")
        elif name not in found:
            wrong.append(f"{case}: nothing instead of {expected[name]!r}")
        elif bson.encode({"v": found[name]}) != bson.encode({"v": expected[name]}):
            wrong.append(f"{case}: {found[name]!r} instead of {expected[name]!r}")
    assert wrong == []
