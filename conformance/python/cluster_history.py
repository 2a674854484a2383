"""What clients of several nodes asked for and were answered, what the change feed told, and what an answer says.

Not here: the clients that record it (`cluster_clients`), what is made of it (`cluster_judge`).
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NEVER = math.inf

# What a version is before the first write, and how long ago that was.
ALWAYS = -math.inf

# Refusals that tell in what state the item was, of the operations that may be refused so.
TELLING = {
    404: {"read", "replace", "cas", "delete", "increment", "run"},
    409: {"create"},
    412: {"cas"},
}

# Answers that say that nothing was done.
DEFINITE = {304, 400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 423, 424, 429, 449, 503}

RAISES = {"increment", "run"}
WRITES = {"upsert", "replace", "cas", "create", "delete"} | RAISES


@dataclass(slots=True)
class Operation:
    """What a client asked for, and what it was answered."""

    client: str
    item: str
    kind: str
    outcome: str
    invoked: float
    returned: float
    # The value that it writes, which no other operation does.
    value: str | None = None
    # The value that a conditional write goes by.
    expected: str | None = None
    # The value that a read saw; nothing where the item was not there.
    seen: str | None = None
    # Of a counter: what it was, or what it was raised to.
    count: int | None = None
    etag: str | None = None
    lsn: int | None = None
    status: int = 0
    sub_status: int = 0
    node: int | None = None
    error: str | None = None

    @property
    def ends(self) -> float:
        """Returns the latest moment at which it was done, if it was."""
        return self.returned if self.outcome == "ok" else NEVER

    def tells(self) -> bool:
        """Returns whether it was refused for the state that the item was in."""
        is_refusal = self.outcome == "failed" and not self.sub_status
        return is_refusal and self.kind in TELLING.get(self.status, ())

    def __str__(self) -> str:
        """Returns it in one line of a report."""
        what = [f"{self.kind} by {self.client} at node {self.node}: {self.outcome} {self.status}"]
        for name in ("value", "expected", "seen", "count", "lsn"):
            if getattr(self, name) is not None:
                what.append(f"{name} {getattr(self, name)}")
        return ", ".join([*what, f"from {seconds(self.invoked)} to {seconds(self.returned)}"])


@dataclass(slots=True)
class Version:
    """What the change feed says about one write."""

    item: str
    lsn: int
    kind: str
    value: str | None = None
    count: int | None = None
    etag: str | None = None
    previous_lsn: int | None = None


def seconds(moment: float) -> str:
    """Returns a moment of the clock for people."""
    return f"{moment / 1e9:.4f} s" if math.isfinite(moment) else "no time"


def outcome_of(status: int) -> str:
    """Returns what a status says about a write: `ok`, `failed` where nothing was done, or `unknown`."""
    if 200 <= status < 300:
        return "ok"
    return "failed" if status in DEFINITE else "unknown"


def read_operations(folder: Path) -> list[Operation]:
    """Returns everything that the clients recorded in a folder."""
    files = sorted(folder.glob("operations-*.jsonl"))
    return [Operation(**record) for file in files for record in _records(file)]


def read_versions(file: Path) -> list[Version]:
    """Returns what a reader of the change feed has seen, in its order."""
    return [Version(**record) for record in _records(file)]


def _records(file: Path) -> Iterator[dict[str, Any]]:
    with file.open() as lines:
        for line in lines:
            # The last one of a program that was killed may be half a line.
            if line.endswith("\n"):
                yield json.loads(line)


def version_of(change: dict[str, Any]) -> Version:
    """Returns what an entry of the change feed says."""
    metadata = change["metadata"]
    kind, lsn, previous_lsn = metadata["operationType"], metadata["lsn"], metadata.get("previousImageLSN") or None
    if kind == "delete":
        item = f"{metadata['partitionKey']['pk']}/{metadata['id']}"
        return Version(item, lsn, kind, previous_lsn=previous_lsn)
    current = change["current"]
    name = f"{current['pk']}/{current['id']}"
    return Version(name, lsn, kind, current["v"], current.get("n"), current["_etag"], previous_lsn)


def by_item(found: Iterable[Any]) -> dict[str, list[Any]]:
    """Returns operations or versions by the item that they are about, in their order."""
    items: dict[str, list[Any]] = defaultdict(list)
    for one in found:
        items[one.item].append(one)
    return dict(items)


# Conditions on the state of an item, which is the value that it has, the count of a counter, or nothing.

Condition = tuple[str, Any]
ANY: Condition = ("any", None)
PRESENT: Condition = ("present", None)
ABSENT: Condition = ("is", None)


def holds(condition: Condition, state: Any) -> bool:
    """Returns whether an item in this state meets a condition."""
    kind, wanted = condition
    match kind:
        case "any":
            return True
        case "is":
            return state == wanted
        case "present":
            return state is not None
        case _:
            return state is not None and state != wanted


def told_by(operation: Operation) -> Condition | None:
    """Returns the state that a read saw, or for which something was refused."""
    if operation.kind == "read" and operation.outcome == "ok":
        return ("is", operation.seen if operation.count is None else operation.count)
    if not operation.tells():
        return None
    match operation.status:
        case 404:
            return ABSENT
        case 409:
            return PRESENT
        case _:
            return ("other", operation.expected)
