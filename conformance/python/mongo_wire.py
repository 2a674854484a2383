"""Messages of the MongoDB wire protocol by hand, for what no driver sends."""

import socket
import struct

import bson

from server import Server

OP_REPLY = 1
OP_QUERY = 2004
OP_COMPRESSED = 2012
OP_MSG = 2013
CHECKSUM_PRESENT = 1
MORE_TO_COME = 2
SECONDS_MAX = 10


class Wire:
    """A connection without TLS that says what it is told to."""

    def __init__(self, server: Server):
        self._socket = socket.create_connection(("127.0.0.1", server.mongo_port), timeout=SECONDS_MAX)
        self._number = 0

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_) -> None:
        self._socket.close()

    def send(self, code: int, body: bytes) -> int:
        """Sends a message and returns its number."""
        self._number += 1
        self._socket.sendall(struct.pack("<iiii", 16 + len(body), self._number, 0, code) + body)
        return self._number

    def send_bytes(self, data: bytes) -> None:
        """Sends bytes as they are."""
        self._socket.sendall(data)

    def message(self, document: dict, flags: int = 0, sequences: dict | None = None) -> int:
        """Sends a document in OP_MSG, with sequences of documents beside it."""
        body = struct.pack("<I", flags) + b"\0" + bson.encode(document)
        for name, documents in (sequences or {}).items():
            section = name.encode() + b"\0" + b"".join(map(bson.encode, documents))
            body += b"\1" + struct.pack("<i", len(section) + 4) + section
        return self.send(OP_MSG, body)

    def receive(self) -> tuple[int, int, int, bytes]:
        """Returns number, what it answers, opcode and body of the next message."""
        header = self._exactly(16)
        length, number, answers, code = struct.unpack("<iiii", header)
        return number, answers, code, self._exactly(length - 16)

    def answer(self) -> dict:
        """Returns the document of the next OP_MSG."""
        _, answers, code, body = self.receive()
        assert code == OP_MSG
        assert answers == self._number
        assert body[4] == 0
        return bson.decode(body[5:])

    def ask(self, document: dict, **more) -> dict:
        """Sends a document and returns the answer."""
        self.message(document, **more)
        return self.answer()

    def query(self, document: dict, namespace: str = "admin.$cmd", number_to_return: int = -1) -> tuple[int, dict]:
        """Sends a document in OP_QUERY; returns the flags and the document of the answer."""
        body = struct.pack("<i", 0) + namespace.encode() + b"\0" + struct.pack("<ii", 0, number_to_return)
        asked = self.send(OP_QUERY, body + bson.encode(document))
        _, answers, code, body = self.receive()
        assert (answers, code) == (asked, OP_REPLY)
        flags, cursor, start, count = struct.unpack("<iqii", body[:20])
        assert (cursor, start, count) == (0, 0, 1)
        return flags, bson.decode(body[20:])

    def is_closed(self) -> bool:
        """Whether the server has ended the connection; waits for it."""
        try:
            return self._socket.recv(1) == b""
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    def _exactly(self, count: int) -> bytes:
        parts = b""
        while len(parts) < count:
            part = self._socket.recv(count - len(parts))
            if not part:
                raise ConnectionError("the server closed the connection")
            parts += part
        return parts
