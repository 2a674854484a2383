"""Messages that no driver sends, or not like that: flags, sequences, checksums, compression, limits, nonsense."""

import struct
import time
import zlib

import bson
import pytest

from mongo_wire import CHECKSUM_PRESENT, MORE_TO_COME, OP_COMPRESSED, OP_MSG, Wire
from server import Server

HELLO = {"hello": 1, "$db": "admin"}
PING = {"ping": 1, "$db": "admin"}


@pytest.fixture
def wire(mongo_server):
    """A connection of its own."""
    with Wire(mongo_server) as connected:
        yield connected


@pytest.mark.parametrize("name", ["ismaster", "isMaster", "ISMASTER", "hello"])
def test_the_first_words_in_the_old_form(wire, name):
    flags, answer = wire.query({name: 1, "helloOk": True})
    assert flags == 8
    assert answer["ok"] == 1.0
    assert answer["helloOk"] is True
    assert answer["maxWireVersion"] >= 21
    assert wire.ask(PING)["ok"] == 1.0


def test_the_old_form_may_be_wrapped(wire):
    _, answer = wire.query({"$query": {"ismaster": 1}, "$readPreference": {"mode": "primary"}})
    assert answer["ok"] == 1.0


def test_nothing_else_in_the_old_form(wire):
    flags, answer = wire.query({"find": "c"}, "test.$cmd")
    assert flags & 2
    assert answer["code"] == 352
    assert answer["$err"]


@pytest.mark.parametrize("name", ["hello", "isMaster", "ismaster"])
def test_the_first_words_in_the_new_form(wire, name):
    answer = wire.ask({name: 1, "$db": "admin"})
    assert answer["ok"] == 1.0
    assert answer["setName"] == "globaldb"


def test_a_command_names_its_database(wire):
    answer = wire.ask({"ping": 1})
    assert answer["ok"] == 0.0
    assert answer["code"] in {40571, 9, 40414}


def test_no_answer_where_none_is_wanted(wire):
    wire.message(PING, flags=MORE_TO_COME)
    wire.message({"nonsense": 1, "$db": "admin"}, flags=MORE_TO_COME)
    assert wire.ask({"buildInfo": 1, "$db": "admin"})["version"]


def test_many_messages_before_the_first_answer(wire):
    numbers = [wire.message(PING) for _ in range(20)]
    assert [wire.receive()[1] for _ in numbers] == numbers


def test_a_message_in_pieces(wire):
    body = struct.pack("<I", 0) + b"\0" + bson.encode(PING)
    data = struct.pack("<iiii", 16 + len(body), 77, 0, OP_MSG) + body
    for position in range(len(data)):
        wire.send_bytes(data[position : position + 1])
    assert wire.receive()[1] == 77


def test_unknown_flags(wire):
    assert wire.ask(PING, flags=1 << 20)["ok"] == 1.0
    wire.message(PING, flags=1 << 5)
    assert wire.answer()["code"] == 223
    assert wire.is_closed()


def crc32c(data: bytes) -> int:
    """The checksum of Castagnoli, bit by bit."""
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = (register >> 1) ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def with_checksum(document: dict, *, wrong: bool = False) -> bytes:
    """A whole message with its checksum."""
    body = struct.pack("<I", CHECKSUM_PRESENT) + b"\0" + bson.encode(document)
    start = struct.pack("<iiii", 16 + len(body) + 4, 5, 0, OP_MSG) + body
    return start + struct.pack("<I", crc32c(start) ^ (1 if wrong else 0))


def test_checksums(wire):
    wire.send_bytes(with_checksum(PING))
    number, answers, code, body = wire.receive()
    assert (answers, code) == (5, OP_MSG)
    assert struct.unpack("<I", body[:4])[0] & CHECKSUM_PRESENT
    start = struct.pack("<iiii", 16 + len(body), number, answers, code) + body[:-4]
    assert struct.unpack("<I", body[-4:])[0] == crc32c(start)
    assert bson.decode(body[5:-4])["ok"] == 1.0


def test_a_wrong_checksum(wire):
    wire.send_bytes(with_checksum(PING, wrong=True))
    _, _, _, body = wire.receive()
    length = struct.unpack("<i", body[5:9])[0]
    assert bson.decode(body[5 : 5 + length])["code"] == 288
    assert wire.is_closed()


def test_compressed_messages(wire):
    assert wire.ask({**HELLO, "compression": ["zlib"]})["compression"] == ["zlib"]
    body = struct.pack("<I", 0) + b"\0" + bson.encode(PING)
    for kind, data in ((2, zlib.compress(body)), (0, body)):
        wire.send(OP_COMPRESSED, struct.pack("<iiB", OP_MSG, len(body), kind) + data)
        _, _, code, answer = wire.receive()
        if code == OP_COMPRESSED:
            original, size, used = struct.unpack("<iiB", answer[:9])
            assert original == OP_MSG
            answer = zlib.decompress(answer[9:]) if used == 2 else answer[9:]
            assert len(answer) == size
        assert bson.decode(answer[5:])["ok"] == 1.0


@pytest.mark.parametrize("size", [-1, 2**31 - 1, 0, 5])
def test_compressed_lies(wire, size):
    body = struct.pack("<I", 0) + b"\0" + bson.encode(PING)
    wire.ask({**HELLO, "compression": ["zlib"]})
    wire.send(OP_COMPRESSED, struct.pack("<iiB", OP_MSG, size, 2) + zlib.compress(body))
    assert wire.is_closed()


@pytest.mark.parametrize("code", [2001, 2002, 2005, 2006, 2007, 2010, 2011, 9999])
def test_other_messages_end_the_connection(wire, code):
    wire.send(code, bytes(20))
    assert wire.is_closed()


@pytest.mark.parametrize("length", [0, 15, -1, 48_000_001, 2**31 - 1])
def test_lengths_that_cannot_be(wire, length):
    wire.send_bytes(struct.pack("<iiii", length, 1, 0, OP_MSG))
    assert wire.is_closed()


SECTION = bson.encode(PING)
BROKEN = {
    "no section": b"",
    "unknown kind": b"\2" + SECTION,
    "two bodies": b"\0" + SECTION + b"\0" + SECTION,
    "short document": b"\0" + SECTION[:-3],
    "long document": b"\0" + struct.pack("<i", 1000) + SECTION[4:],
    "short sequence": b"\0" + SECTION + b"\1" + struct.pack("<i", 100) + b"documents\0",
    "no body": b"\1" + struct.pack("<i", 14) + b"documents\0",
}


@pytest.mark.parametrize("sections", BROKEN.values(), ids=BROKEN)
def test_broken_messages(mongo_server, wire, sections):
    wire.send(OP_MSG, struct.pack("<I", 0) + sections)
    try:
        answer = wire.answer()
    except ConnectionError:
        answer = {"ok": 0.0}
    assert answer["ok"] == 0.0
    with Wire(mongo_server) as other:
        assert other.ask(PING)["ok"] == 1.0


def test_a_sequence_beside_its_field(wire):
    answer = wire.ask({"ping": 1, "documents": [], "$db": "admin"}, sequences={"documents": [{}]})
    assert answer["ok"] == 0.0


def test_nonsense_on_the_port(mongo_server):
    for data in (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", bytes(100), b"\xff" * 100):
        with Wire(mongo_server) as wire:
            wire.send_bytes(data)
            assert wire.is_closed()
    with Wire(mongo_server) as wire:
        assert wire.ask(PING)["ok"] == 1.0


def test_many_connections(mongo_server):
    opened = [Wire(mongo_server) for _ in range(200)]
    for wire in opened:
        assert wire.ask(PING)["ok"] == 1.0
    for wire in opened:
        with wire:
            pass


EXHAUST_ALLOWED = 1 << 16


def streamed(wire) -> tuple[int, int, bool, dict]:
    """Returns number, what it answers, whether more is to come, and the document of the next message."""
    number, answers, code, body = wire.receive()
    assert code == OP_MSG
    flags = struct.unpack("<I", body[:4])[0]
    return number, answers, bool(flags & MORE_TO_COME), bson.decode(body[5:])


def test_hello_waits_for_another_topology(wire):
    version = wire.ask(HELLO)["topologyVersion"]
    began = time.monotonic()
    answer = wire.ask({**HELLO, "topologyVersion": version, "maxAwaitTimeMS": 500})
    assert time.monotonic() - began >= 0.5
    assert answer["topologyVersion"] == version
    began = time.monotonic()
    elsewhere = {"processId": bson.ObjectId(), "counter": bson.Int64(5)}
    assert wire.ask({**HELLO, "topologyVersion": elsewhere, "maxAwaitTimeMS": 5000})["topologyVersion"] == version
    assert time.monotonic() - began < 4


def test_hello_is_streamed(wire):
    version = wire.ask(HELLO)["topologyVersion"]
    asked = {**HELLO, "topologyVersion": version, "maxAwaitTimeMS": 50}
    before = wire.message(asked, flags=EXHAUST_ALLOWED)
    for _ in range(4):
        number, answers, more, answer = streamed(wire)
        assert (answers, more, answer["ok"]) == (before, True, 1.0)
        before = number


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"maxAwaitTimeMS": 5}, 31368),
        ({"topologyVersion": {"processId": bson.ObjectId(), "counter": bson.Int64(0)}}, 31368),
        ({"topologyVersion": {"processId": bson.ObjectId(), "counter": bson.Int64(0)}, "maxAwaitTimeMS": -1}, 31373),
        ({"topologyVersion": {"processId": 1, "counter": bson.Int64(0)}, "maxAwaitTimeMS": 1}, 14),
    ],
)
def test_hello_that_waits_is_refused(wire, more, code):
    assert wire.ask({**HELLO, **more})["code"] == code


def test_a_server_ends_while_hello_is_streamed(tmp_path):
    server = Server(tmp_path, "--throttle", "off").start()
    with Wire(server) as wire:
        version = wire.ask(HELLO)["topologyVersion"]
        wire.message({**HELLO, "topologyVersion": version, "maxAwaitTimeMS": 60_000}, flags=EXHAUST_ALLOWED)
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 20
