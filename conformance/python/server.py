"""Starts and stops the server under test, and reads what it logs.

The binary comes from ARMILLA_BIN, or is the debug build of this repository. Standard error goes to a file, so a
line the server wrote before it answered is there when the answer is.
"""

import os
import queue
import re
import signal
import subprocess
import threading
from pathlib import Path

from balancer import Balancer

KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

REPOSITORY = Path(__file__).resolve().parents[2]
READY_SECONDS_MAX = 30
STOP_SECONDS_MAX = 30

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_ENDED_NODE = "a node has ended without a word"

_COMPLAINT = re.compile(r'^(?:\S+\s+)?(?:WARN|ERROR)\b|"level":"(?:WARN|ERROR)"|^thread .* panicked at', re.IGNORECASE)


def binary() -> Path:
    """Returns the path of the server binary."""
    return Path(os.environ.get("ARMILLA_BIN") or REPOSITORY / "target" / "debug" / "armilla")


class Server:
    """One server process on a free port, with its data folder and its log."""

    # Both registries are shared on purpose.
    running: list["Server"] = []  # noqa: RUF012
    started: list["Server"] = []  # noqa: RUF012
    has_killed = False

    def __init__(self, folder: Path, *flags: str):
        self.data_folder = folder / "data"
        self.log_file = folder / f"stderr-{len(list(folder.glob('stderr-*')))}.log"
        self._flags = flags
        self._fixed_port = 0
        self._fixed_mongo_port = 0
        self._fixed_gremlin_port = 0
        self._process: subprocess.Popen | None = None
        self._others: list[Server] = []
        self._balancer: Balancer | None = None
        self._own_ready: dict[str, str] = {}
        self.ready: dict[str, str] = {}

    def start(self) -> "Server":
        """Starts the process and waits for its ready line."""
        if self._nodes() > 1:
            return self._start_nodes()
        return self._start_one()

    def _nodes(self) -> int:
        """How many nodes serve the account: several where ARMILLA_TEST_NODES says so."""
        alone = "--memory" in self._flags or "--store" in self._flags
        return 1 if alone else int(os.environ.get("ARMILLA_TEST_NODES", "1"))

    def _start_nodes(self) -> "Server":
        """Starts a node, then others beside it, and what spreads connections over all of them."""
        fixed = dict(self.ready)
        self._fixed_port = self._fixed_mongo_port = self._fixed_gremlin_port = 0
        self._start_one()
        self._own_ready = dict(self.ready)
        # Clients trust one certificate.
        trusted = ("--tls-cert", str(self.certificate), "--tls-key", str(self.certificate.with_name("key.pem")))
        flags = self._flags if "--tls-cert" in self._flags else (*self._flags, *trusted)
        for number in range(1, self._nodes()):
            folder = self.data_folder.parent / f"{self.data_folder.name}-node-{number}"
            folder.mkdir(exist_ok=True)
            other = Server(folder, *flags, *self._store())
            other._start_one()
            Server.running.remove(other)
            self._others.append(other)
        self._balancer = Balancer(self.certificate, self.certificate.with_name("key.pem"))
        for name, address in self._own_ready.items():
            if match := re.search(r":(\d+)(?=/)", address):
                targets = [int(match.group(1)), *(_port_of(other.ready[name]) for other in self._others)]
                before = _port_of(fixed[name]) if name in fixed else 0
                # HTTP is spread request by request.
                by_request = address.startswith("http") and name != "gremlin"
                port = self._balancer.listen(targets, before, by_request=by_request)
                self.ready[name] = address.replace(match.group(0), f":{port}", 1)
        return self

    def _others_ended(self) -> None:
        if self._balancer is not None:
            self._balancer.close()
            self._balancer = None
        self._others = []

    def _start_one(self) -> "Server":
        port = str(self._fixed_port)
        command = [str(binary()), "--port", port, "--data-dir", str(self.data_folder), *self._store(), *self._flags]
        # The Table endpoint takes a free port by itself when the SQL endpoint does; the others have to be asked for.
        environment = {**os.environ, "NO_COLOR": "1", "ARMILLA_STORAGE_TABLE_PORT": "0"}
        environment["ARMILLA_MONGO_PORT"] = str(self._fixed_mongo_port)
        environment["ARMILLA_GREMLIN_PORT"] = str(self._fixed_gremlin_port)
        # As many physical partitions as the throughput needs, so that a test says how many it has.
        environment.setdefault("ARMILLA_INITIAL_PARTITION_RU", "10000")
        if self._fixed_port:
            environment["ARMILLA_TABLE_PORT"] = "0"
        with self.log_file.open("wb") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=_pump, args=(self._process.stdout, lines), daemon=True).start()
        seen = []
        while True:
            try:
                line = lines.get(timeout=READY_SECONDS_MAX)
            except queue.Empty:
                line = None
            if line is None:
                self.kill()
                raise AssertionError(f"no ready line from {command}: stdout {seen}, stderr {self.log_text()}")
            seen.append(line)
            if line.startswith("armilla ready:"):
                break
        self.ready = dict(re.findall(r"(\w+)=(\S+)", line))
        Server.running.append(self)
        Server.started.append(self)
        return self

    def _store(self) -> list[str]:
        """Where ARMILLA_TEST_STORE names an object store, every account lies there, under a prefix of its own."""
        store = os.environ.get("ARMILLA_TEST_STORE")
        if "--store" in self._flags or "--memory" in self._flags:
            return []
        prefix = re.sub(r"\W+", "-", str(self.data_folder)).strip("-")
        if self._nodes() > 1:
            place = f"{store}/{prefix}" if store else f"file://{self.data_folder}-objects"
            return ["--store", place, "--lease-seconds", "2", "--node", "127.0.0.1:0"]
        if not store:
            return []
        return ["--store", f"{store}/{prefix}", "--lease-seconds", "2"]

    def start_again(self) -> "Server":
        """Starts the process on the ports it had, so that its clients find it."""
        self._fixed_port = self.port
        self._fixed_mongo_port = self.mongo_port if "mongo" in self.ready else 0
        self._fixed_gremlin_port = self.gremlin_port if "gremlin" in self.ready else 0
        return self.start()

    @property
    def https(self) -> str:
        """The endpoint an application is given."""
        return self.ready["sql"]

    @property
    def port(self) -> int:
        """The port of the SQL endpoint, for both schemes."""
        return _port(self.https)

    @property
    def table_port(self) -> int:
        """The port of the Table endpoint in the flavour of Cosmos DB, for both schemes."""
        return _port(self.ready["table"])

    @property
    def storage_table_port(self) -> int:
        """The port of the Table endpoint in the flavour of Azure Storage, for both schemes."""
        return _port(self.ready["storage_table"])

    @property
    def mongo_port(self) -> int:
        """The port of the MongoDB API, with and without TLS."""
        return _port(self.ready["mongo"])

    @property
    def gremlin_port(self) -> int:
        """The port of the Gremlin API, with and without TLS."""
        return _port(self.ready["gremlin"])

    @property
    def certificate(self) -> Path:
        """The certificate the server made for itself."""
        return self.data_folder / "tls" / "cert.pem"

    @property
    def http(self) -> str:
        """The same endpoint without TLS: the first byte of a connection decides."""
        return f"http://localhost:{self.port}/"

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> int:
        """Ends the process with a signal and returns its exit code; of several nodes, that of one that failed."""
        if self in Server.running:
            Server.running.remove(self)
        Server.has_killed |= with_signal == signal.SIGKILL
        nodes = [self, *self._others]
        for node in nodes:
            node._process.send_signal(with_signal)
        try:
            codes = [node._process.wait(STOP_SECONDS_MAX) for node in nodes]
            self._others_ended()
            return next((code for code in codes if code != 0), 0)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running {STOP_SECONDS_MAX} s after {with_signal.name}") from None

    def kill(self) -> None:
        """Ends the process without ceremony, whatever state it is in."""
        Server.has_killed |= self._process is not None and self._process.poll() is None
        if self in Server.running:
            Server.running.remove(self)
        for node in (self, *self._others):
            if node._process is not None and node._process.poll() is None:
                node._process.kill()
                node._process.wait()
        self._others_ended()

    def log_text(self) -> str:
        """Everything logged so far."""
        texts = [node.log_file.read_text(errors="replace") for node in (self, *self._others)]
        return "".join(texts)

    def log_length(self) -> int:
        """How many bytes have been logged so far."""
        return self.log_file.stat().st_size

    def complaints(self, since: int = 0) -> list[str]:
        """The warnings, errors and panics logged after byte `since`."""
        with self.log_file.open("rb") as log:
            log.seek(since)
            text = _ANSI.sub("", log.read().decode(errors="replace"))
        lines = [line for line in text.splitlines() if _COMPLAINT.search(line)]
        # Nodes complain of one that was killed, which a test that kills its server knows.
        lines = [line for line in lines if not (Server.has_killed and _ENDED_NODE in line)]
        others = self._others if since == 0 else []
        return lines + [line for other in others for line in other.complaints()]


def _port(endpoint: str) -> int:
    return int(re.search(r":(\d+)/?$", endpoint).group(1))


def _port_of(address: str) -> int:
    return int(re.search(r":(\d+)(?=/)", address).group(1))


def _pump(stream, lines: queue.Queue) -> None:
    for line in stream:
        lines.put(line.rstrip("\n"))
    lines.put(None)
