"""Reading change feeds: through the SDK with positions kept as text, and by hand with every header in sight."""

import base64
import json
import time
from datetime import UTC, datetime
from email.utils import format_datetime

import wire
from sdk import SYSTEM_PROPERTIES, last_headers
from server import Server

LATEST_VERSION = "LatestVersion"
ALL_VERSIONS = "AllVersionsAndDeletes"
INCREMENTAL = "Incremental Feed"
FULL_FIDELITY = "Full-Fidelity Feed"
WIRE_FORMAT = {"x-ms-cosmos-changefeed-wire-format-version": "2021-09-15"}
EVERY_VERSION_POLICY = {"retentionDuration": 10}

# A feed that has not ended by then goes round in circles.
PAGES_MAX = 1_000


class Reader:
    """Reads to the end, keeps nothing but the position, and goes on from there when asked again."""

    def __init__(self, container, **options):
        self.container = container
        self.position: str | None = None
        self._options = options

    def read(self, container=None, **options) -> list[dict]:
        """Returns what changed since the last time; through another client where one is given."""
        container = container or self.container
        start = {"continuation": self.position} if self.position else self._options
        found = list(container.query_items_change_feed(**start, **options))
        self.position = last_headers(container)["etag"]
        return found


def parts(position: str) -> list[tuple[str, str, str | None]]:
    """Returns the ranges of a position of the SDK in the order of the ring, each with the server's own token."""
    state = json.loads(base64.b64decode(position))
    found = [
        (part["range"]["min"], part["range"]["max"], part["token"]) for part in state["continuation"]["continuation"]
    ]
    return sorted(found)


def key_and_id(change: dict) -> tuple[str, str]:
    """Returns what a change is about, in either mode."""
    if "metadata" not in change:
        return change["city"], change["id"]
    metadata = change["metadata"]
    if metadata["operationType"] == "delete":
        return metadata["partitionKey"]["city"], metadata["id"]
    return change["current"]["city"], change["current"]["id"]


def lsn(change: dict) -> int:
    """Returns the commit of a change, in either mode."""
    return change["metadata"]["lsn"] if "metadata" in change else change["_lsn"]


def by_city(changes: list[dict]) -> dict[str, list[str]]:
    """Returns the ids of each logical partition in the order they came."""
    found: dict[str, list[str]] = {}
    for change in changes:
        city, name = key_and_id(change)
        found.setdefault(city, []).append(name)
    return found


def item(change: dict) -> dict:
    """Returns the item of an entry as a point read shows it."""
    return {name: value for name, value in change.items() if name != "_lsn"}


def stored(change: dict) -> dict:
    """Returns what the user stored of an item in an entry."""
    return {name: value for name, value in change.items() if name not in SYSTEM_PROPERTIES | {"_lsn"}}


def http_date(seconds: int) -> str:
    """Returns a point in time as If-Modified-Since has it."""
    return format_datetime(datetime.fromtimestamp(seconds, UTC), usegmt=True)


def get(
    server: Server,
    container,
    etag: str | None = None,
    *,
    mode: str = INCREMENTAL,
    key: str | None = None,
    range_id: str | None = None,
    arc: tuple[str, str] | None = None,
    size: int | None = None,
    since: int | None = None,
    wait: float | None = None,
    headers: dict[str, str] | None = None,
) -> wire.Answer:
    """Asks once for changes: after an etag, of one key, one range or an arc of hashed keys."""
    asked = {
        "A-IM": mode,
        "If-None-Match": etag,
        "x-ms-documentdb-partitionkey": None if key is None else json.dumps([key]),
        "x-ms-documentdb-partitionkeyrangeid": range_id,
        "x-ms-max-item-count": None if size is None else str(size),
        "If-Modified-Since": None if since is None else http_date(since),
        "Prefer": None if wait is None else f"wait={wait}",
    }
    if arc is not None:
        asked |= {"x-ms-read-key-type": "EffectivePartitionKeyRange", "x-ms-start-epk": arc[0], "x-ms-end-epk": arc[1]}
    if mode == FULL_FIDELITY:
        asked |= WIRE_FORMAT
    asked |= headers or {}
    path = f"/{container.container_link}/docs"
    sent = {name: value for name, value in asked.items() if value is not None}
    return wire.send(server, "GET", path, headers=sent, scheme="http")


def drain(server: Server, container, etag: str | None = None, **options) -> tuple[list[dict], str]:
    """Reads pages up to the first 304, as fast as it may, and returns everything with the etag of that."""
    found = []
    for _ in range(PAGES_MAX):
        answer = get(server, container, etag, **options)
        if answer.status == 429:
            time.sleep(int(answer.headers["x-ms-retry-after-ms"]) / 1_000)
            continue
        assert answer.status in {200, 304}, answer
        etag = answer.headers["etag"]
        if answer.status == 304:
            return found, etag
        found += answer.body["Documents"]
    raise AssertionError(f"no end after {PAGES_MAX} pages")
