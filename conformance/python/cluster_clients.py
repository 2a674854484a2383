"""Clients with the Python SDK for `cluster_chaos`: they read and write a few items through any node, and record it.

    python cluster_clients.py CONFIG.json

A process has some clients and a reader of the change feed. It says `ready` once the reader has its position, does what
it is told on standard input, and records into the run's folder. `chaos_client.mjs` of the JavaScript suite says and
does the same. What it may be told, one word a line: `go`, `stop` (ends the clients), `end` (reads the feed to its end,
and ends); it is also told which node is in trouble, and does nothing about that.

A client talks to one node until a request fails there. What the SDK does by itself must not hide that something was
done twice: a write whose first attempt may have arrived is not sent again, whatever the SDK wants (`Once`).
"""

import json
import random
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

from azure.core import MatchConditions
from azure.core.exceptions import AzureError, ServiceRequestError
from azure.core.pipeline.transport import RequestsTransport
from azure.cosmos import CosmosClient
from azure.cosmos.exceptions import CosmosHttpResponseError
from urllib3.exceptions import InsecureRequestWarning

from cluster_history import DEFINITE, outcome_of, version_of
from feeds import ALL_VERSIONS, Reader
from sdk import session_lsn
from server import KEY

CONNECT_SECONDS = 2
FEED_PAUSE_SECONDS = 0.4
FEED_END_SECONDS_MAX = 60

# How often a client goes to another node although it has no reason to.
WANDERS = 0.01

WEIGHTS = {
    "register": {"read": 45, "upsert": 15, "replace": 10, "cas": 30},
    "passing": {"read": 30, "create": 25, "delete": 25, "upsert": 10, "replace": 10},
    "counter": {"read": 25, "increment": 65, "run": 10},
}

PROCEDURE = "raise"
# Raises a counter as a patch does, in a transaction of its own.
PROCEDURE_BODY = """function (id, value) {
    const collection = getContext().getCollection();
    const link = collection.getAltLink() + "/docs/" + id;
    const isAsked = collection.readDocument(link, {}, (failure, item) => {
        if (failure) throw failure;
        item.n += 1;
        item.v = value;
        const isWritten = collection.replaceDocument(item._self, item, { etag: item._etag }, (failed, written) => {
            if (failed) throw failed;
            getContext().getResponse().setBody({ n: written.n, etag: written._etag });
        });
        if (!isWritten) throw new Error("not written");
    });
    if (!isAsked) throw new Error("not read");
}"""

# The SDK skips certificate checks for localhost by itself; its transport then warns on every request.
warnings.filterwarnings("ignore", category=InsecureRequestWarning)

_attempt = threading.local()


class RepeatedError(Exception):
    """The SDK wants to send something again that may have been done."""


class Once(RequestsTransport):
    """Sends what changes something again only where the first answer was that nothing was done."""

    def send(self, request, **options):
        """Sends a request."""
        if request.method == "GET" or not hasattr(_attempt, "is_open"):
            return super().send(request, **options)
        if _attempt.is_open:
            raise RepeatedError(f"{request.method} again")
        _attempt.is_open = True
        try:
            response = super().send(request, **options)
        except ServiceRequestError as error:
            if "refused" in str(error):
                _attempt.is_open = False
            raise
        # Threads share a client, and what it says were the last headers may be those of another thread.
        _attempt.token = response.headers.get("x-ms-session-token")
        _attempt.is_open = response.status_code not in DEFINITE
        return response


def connect(endpoint: str, read_seconds: float, **options) -> CosmosClient:
    """Returns a client that stays with one node, and tries as little as possible by itself."""
    return CosmosClient(
        endpoint,
        KEY,
        enable_endpoint_discovery=False,
        transport=Once(),
        connection_timeout=CONNECT_SECONDS,
        read_timeout=read_seconds,
        retry_total=0,
        retry_connect=0,
        retry_read=0,
        retry_status=0,
        retry_throttle_total=-1,
        **options,
    )


class Nodes:
    """The container as each of the nodes shows it."""

    def __init__(self, config: dict[str, Any], read_seconds: float):
        self._config = config
        self._read_seconds = read_seconds
        self._containers: dict[int, Any] = {}
        self._lock = threading.Lock()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._config["endpoints"])

    def container(self, node: int):
        """Returns the container through a node. It may fail: a client begins by asking for the account."""
        with self._lock:
            known = self._containers.get(node)
        if known is None:
            client = connect(self._config["endpoints"][node], self._read_seconds)
            database = client.get_database_client(self._config["database"])
            known = database.get_container_client(self._config["container"])
            with self._lock:
                self._containers[node] = known
        return known


class Recorder:
    """A file of JSON lines that several threads write."""

    def __init__(self, file: Path):
        self._lines = file.open("w")
        self._lock = threading.Lock()

    def add(self, record: dict[str, Any]) -> None:
        """Writes a line, without what says nothing."""
        text = json.dumps({name: value for name, value in record.items() if value is not None}) + "\n"
        with self._lock:
            self._lines.write(text)

    def flush(self) -> None:
        """Writes what is in memory."""
        with self._lock:
            self._lines.flush()


class Client(threading.Thread):
    """One client: does one thing after the other, at one node."""

    def __init__(self, name: str, config: dict[str, Any], nodes: Nodes, recorder: Recorder, stopped: threading.Event):
        super().__init__(name=name, daemon=True)
        self._config = config
        self._nodes = nodes
        self._recorder = recorder
        self._stopped = stopped
        self._random = random.Random(f"{config['seed']} {name}")
        self._node = self._random.randrange(nodes.count)
        self._number = 0
        self.wrong: str | None = None
        # What was seen last of each item, for conditional writes.
        self._seen: dict[str, tuple[str, str]] = {}

    def run(self) -> None:
        """Works until it is told to stop."""
        try:
            self._work()
        except BaseException as error:
            self.wrong = f"{self.name} ended: {error!r}"
            raise

    def _work(self) -> None:
        pause = self._config["pause_ms"] / 1_000
        while not self._stopped.is_set():
            self._stopped.wait(self._random.uniform(0, 2 * pause))
            if self._random.random() < WANDERS:
                self._move()
            self._one()

    def _move(self) -> None:
        self._node = (self._node + self._random.randrange(1, self._nodes.count)) % self._nodes.count

    def _one(self) -> None:
        item = self._random.choice(self._config["items"])
        weights = WEIGHTS[item["kind"]]
        kind = self._random.choices(list(weights), list(weights.values()))[0]
        name = f"{item['pk']}/{item['id']}"
        seen = self._seen.get(name)
        if kind == "cas" and seen is None:
            kind = "read"
        self._number += 1
        record: dict[str, Any] = {"client": self.name, "item": name, "kind": kind, "node": self._node}
        if kind not in {"read", "delete"}:
            record["value"] = f"{self.name}:{self._number}"
        if kind == "cas":
            record["expected"] = seen[0]
        invoked = time.monotonic_ns()
        try:
            container = self._nodes.container(self._node)
        except Exception:
            # Nothing was sent: the SDK could not find out what account it is.
            self._move()
            return
        _attempt.is_open, _attempt.token = False, None
        record["invoked"] = invoked
        try:
            self._do(container, item, record, seen)
            record |= {"outcome": "ok"}
        except CosmosHttpResponseError as error:
            self._failed(record, error)
        except Exception as error:
            record |= {"outcome": "unknown" if _attempt.is_open else "failed", "error": str(error)[:200]}
            self._move()
        record["returned"] = time.monotonic_ns()
        self._recorder.add(record)

    def _failed(self, record: dict[str, Any], error: CosmosHttpResponseError) -> None:
        record |= {"status": error.status_code or 0, "sub_status": error.sub_status or 0}
        if record["kind"] == "read" and error.status_code == 404 and not error.sub_status:
            record["outcome"] = "ok"
            self._seen.pop(record["item"], None)
            return
        record |= {"outcome": outcome_of(error.status_code or 0), "error": (error.message or "")[:300]}
        if record["outcome"] == "unknown" or error.status_code == 503:
            self._move()

    def _do(self, container, item: dict[str, str], record: dict[str, Any], seen: tuple[str, str] | None) -> None:
        pk, id, value, name = item["pk"], item["id"], record.get("value"), record["item"]
        body = {"id": id, "pk": pk, "v": value}
        answer: Any
        match record["kind"]:
            case "read":
                answer = container.read_item(id, pk)
                record |= {"seen": answer["v"], "count": answer.get("n")}
            case "upsert":
                answer = container.upsert_item(body)
            case "replace":
                answer = container.replace_item(id, body)
            case "cas":
                answer = container.replace_item(id, body, etag=seen[1], match_condition=MatchConditions.IfNotModified)
            case "create":
                answer = container.create_item(body)
            case "delete":
                container.delete_item(id, pk)
                self._seen.pop(name, None)
                record |= {"lsn": session_lsn(_attempt.token), "status": 204}
                return
            case "increment":
                changes = [{"op": "incr", "path": "/n", "value": 1}, {"op": "set", "path": "/v", "value": value}]
                answer = container.patch_item(id, pk, changes)
                record["count"] = answer["n"]
            case _:
                answer = container.scripts.execute_stored_procedure(PROCEDURE, pk, [id, value])
                record |= {"count": answer["n"], "etag": answer["etag"], "status": 200}
                return
        record |= {"etag": answer["_etag"], "status": 200}
        if record["kind"] != "read":
            record["lsn"] = session_lsn(_attempt.token)
        self._seen[name] = (answer["v"], answer["_etag"])


class FeedReader(threading.Thread):
    """Reads the change feed again and again, from where it was, at any node."""

    def __init__(self, name: str, config: dict[str, Any], nodes: Nodes, recorder: Recorder):
        super().__init__(name=name, daemon=True)
        self._config = config
        self._nodes = nodes
        self._recorder = recorder
        self._random = random.Random(f"{config['seed']} {name}")
        self._ending = threading.Event()
        self.reader = Reader(None, start_time="Now", mode=ALL_VERSIONS)
        self.failures = 0
        self.wrong: str | None = None

    def begin(self) -> None:
        """Takes the position from which it will read."""
        if self.read() != 0:
            self.wrong = "there were changes before there was a client"

    def read(self) -> int:
        """Reads what is new and returns how much that was. Of what fails half-way nothing counts."""
        container = self._nodes.container(self._random.randrange(self._nodes.count))
        changes = self.reader.read(container)
        for change in changes:
            version = version_of(change)
            self._recorder.add({name: getattr(version, name) for name in version.__slots__})
        return len(changes)

    def run(self) -> None:
        """Reads until it is told to end, and then to the end."""
        while not self._ending.wait(FEED_PAUSE_SECONDS):
            self._try()
        deadline = time.monotonic() + FEED_END_SECONDS_MAX
        while self._try() != 0:
            if time.monotonic() > deadline:
                self.wrong = "the feed does not come to an end"
                return

    def _try(self) -> int:
        try:
            return self.read()
        except CosmosHttpResponseError as error:
            if error.status_code == 400:
                self.wrong = f"the feed refuses a position: {error.message}"
        except AzureError:
            pass
        self.failures += 1
        return -1

    def end(self) -> None:
        """Reads to the end."""
        self._ending.set()
        self.join()


def main() -> None:
    """Does what standard input says."""
    config = json.loads(Path(sys.argv[1]).read_text())
    name, folder = config["name"], Path(config["folder"])
    operations = Recorder(folder / f"operations-{name}.jsonl")
    versions = Recorder(folder / f"feed-{name}.jsonl")
    stopped = threading.Event()
    # Some clients are patient enough to hear a node that was away for a while, and some are not.
    nodes = [Nodes(config, seconds) for seconds in config["read_seconds"]]
    clients = [
        Client(f"{name}-{number}", config, nodes[number % len(nodes)], operations, stopped)
        for number in range(config["clients"])
    ]
    reader = FeedReader(f"{name}-feed", config, nodes[0], versions)
    reader.begin()
    print(f"ready {time.monotonic_ns()}", flush=True)
    for line in sys.stdin:
        match line.split()[0]:
            case "go":
                reader.start()
                for client in clients:
                    client.start()
            case "stop":
                stopped.set()
                for client in clients:
                    client.join()
                operations.flush()
                wrong = [client.wrong for client in clients if client.wrong]
                print("stopped " + json.dumps(wrong), flush=True)
            case "end":
                reader.end()
                versions.flush()
                print("ended " + json.dumps({"failures": reader.failures, "wrong": reader.wrong}), flush=True)
                return


if __name__ == "__main__":
    main()
