"""Spreads what clients ask over several nodes in turn: requests where it is HTTP/1.1, and connections elsewhere."""

import asyncio
import contextlib
import itertools
import re
import socket
import ssl
import threading
from pathlib import Path

PIECE = 256 * 1024
HEAD_BYTES_MAX = 1024 * 1024
HANDSHAKE = b"\x16"
PEEK_PERIOD = 0.002

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Balancer:
    """Listens on ports of its own, each of which leads to one port of each node in turn."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self._as_server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._as_server.load_cert_chain(certificate, key)
        # Clients check the certificate, which is the nodes' own.
        self._as_client = ssl.create_default_context()
        self._as_client.check_hostname = False
        self._as_client.verify_mode = ssl.CERT_NONE
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._listening: list[socket.socket] = []
        self._idle: dict[tuple[int, bool], list[Pair]] = {}

    def listen(self, targets: list[int], port: int = 0, *, by_request: bool) -> int:
        """Returns the port that leads to the targets, request by request or connection by connection."""
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(512)
        listening.setblocking(False)
        self._listening.append(listening)
        asyncio.run_coroutine_threadsafe(self._accept(listening, targets, by_request), self._loop)
        return listening.getsockname()[1]

    async def _accept(self, listening: socket.socket, targets: list[int], by_request: bool) -> None:
        turns = itertools.cycle(range(len(targets)))
        serving: set[asyncio.Task] = set()
        while True:
            accepted, _ = await self._loop.sock_accept(listening)
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = self._loop.create_task(self._serve(accepted, targets, turns, by_request))
            serving.add(task)
            task.add_done_callback(serving.discard)

    async def _serve(
        self, accepted: socket.socket, targets: list[int], turns: itertools.cycle, by_request: bool
    ) -> None:
        writer = None
        try:
            # The first byte says whether it is TLS, as it does to a node.
            is_tls = by_request and await self._peek(accepted) == HANDSHAKE
            reader = asyncio.StreamReader(HEAD_BYTES_MAX, self._loop)
            transport, protocol = await self._loop.connect_accepted_socket(
                lambda: asyncio.StreamReaderProtocol(reader),
                accepted,
                ssl=self._as_server if is_tls else None,
            )
            writer = asyncio.StreamWriter(transport, protocol, reader, self._loop)
            if by_request:
                await self._serve_requests((reader, writer), targets, turns, is_tls)
            else:
                await _pass_on(b"", (reader, writer), await self._reach(targets, next(turns), is_tls))
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass
        finally:
            (writer or accepted).close()

    async def _peek(self, accepted: socket.socket) -> bytes:
        while True:
            try:
                return accepted.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                await asyncio.sleep(PEEK_PERIOD)

    async def _serve_requests(self, client: Pair, targets: list[int], turns: itertools.cycle, is_tls: bool) -> None:
        while True:
            try:
                head = await client[0].readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError as error:
                if not error.partial:
                    return
                # No request: a node is to say what it thinks of it.
                head = error.partial
            length = _length(head)
            node = await self._reach(targets, next(turns), is_tls)
            if length is None:
                await _pass_on(head, client, node)
                return
            try:
                node[1].write(head)
                # A node may answer before it has read everything, and read no more.
                with contextlib.suppress(ConnectionError):
                    await _copy(client[0], node[1], length)
                answer = await node[0].readuntil(b"\r\n\r\n")
                client[1].write(answer)
                rest = 0 if _is_bare(head, answer) else _length(answer)
                if rest is None:
                    await _pass_on(b"", client, node)
                    return
                await _copy(node[0], client[1], rest)
            except BaseException:
                node[1].close()
                raise
            if _says(head, b"connection", b"close") or _says(answer, b"connection", b"close"):
                node[1].close()
                return
            self._idle.setdefault((node[1].get_extra_info("peername")[1], is_tls), []).append(node)

    async def _reach(self, targets: list[int], first: int, is_tls: bool) -> Pair:
        # One that is not there is passed by, as a balancer of a cluster would.
        failure: OSError = ConnectionRefusedError()
        for turn in range(len(targets)):
            target = targets[(first + turn) % len(targets)]
            idle = self._idle.get((target, is_tls), [])
            while idle:
                reader, writer = idle.pop()
                if not reader.at_eof() and reader.exception() is None and not writer.is_closing():
                    return reader, writer
                writer.close()
            try:
                context = self._as_client if is_tls else None
                return await asyncio.open_connection("127.0.0.1", target, ssl=context, limit=HEAD_BYTES_MAX)
            except OSError as error:
                failure = error
        raise failure

    def close(self) -> None:
        """Ends it, and every connection."""

        async def end() -> None:
            for listening in self._listening:
                listening.close()
            for task in asyncio.all_tasks():
                if task is not asyncio.current_task():
                    task.cancel()
            for idle in self._idle.values():
                for _, writer in idle:
                    writer.close()

        with contextlib.suppress(Exception):
            asyncio.run_coroutine_threadsafe(end(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        # Others may listen there from now on.
        for listening in self._listening:
            listening.close()


def _says(head: bytes, name: bytes, value: bytes) -> bool:
    return re.search(rb"\r\n" + name + rb":[^\r]*\b" + value, head, re.IGNORECASE) is not None


def _length(head: bytes) -> int | None:
    """How many bytes follow, if that is known: -1 where they come in chunks, nothing where HTTP does not say."""
    # Requests of HTTP/2 share a connection, which goes to one node.
    if head.startswith(b"PRI * HTTP/2.0\r\n"):
        return None
    if not head.endswith(b"\r\n\r\n") or _says(head, b"upgrade", b"websocket") or _says(head, b"expect", b"100"):
        return None
    if _says(head, b"transfer-encoding", b"chunked"):
        return -1
    if found := re.search(rb"\r\ncontent-length: *(\d+) *\r\n", head, re.IGNORECASE):
        return int(found.group(1))
    return None if head.startswith(b"HTTP/") else 0


def _is_bare(head: bytes, answer: bytes) -> bool:
    return head.startswith(b"HEAD ") or re.match(rb"HTTP/1.. (204|304)", answer) is not None


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int) -> None:
    if length < 0:
        while True:
            size = await reader.readuntil(b"\r\n")
            writer.write(size)
            await _copy(reader, writer, int(size.split(b";")[0], 16) + 2)
            if int(size.split(b";")[0], 16) == 0:
                return
    while length > 0:
        piece = await reader.read(min(length, PIECE))
        if not piece:
            raise EOFError
        writer.write(piece)
        await writer.drain()
        length -= len(piece)
    await writer.drain()


async def _pass_on(begun: bytes, client: Pair, node: Pair) -> None:
    """Leads everything from here on to one node."""
    node[1].write(begun)
    await asyncio.gather(_pipe(client[0], node[1]), _pipe(node[0], client[1]))
    node[1].close()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError, NotImplementedError):
        writer.write_eof()
