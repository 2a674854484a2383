"""Physical partitions from outside: their ranges and figures, splits and merges by command, and waiting for them."""

import http.client
import re
import time
import urllib.parse
from collections.abc import Callable

import wire
from server import Server

CHANGE_SECONDS_MAX = 30
POLL_SECONDS = 0.02

# armilla_x_total{database="d",container="c",range="0"} 12.5
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def ranges(server: Server, container) -> list[dict]:
    """Returns the live ranges in the order of the ring, past every cache of the SDK."""
    answer = wire.send(server, "GET", f"/{container.container_link}/pkranges")
    assert answer.status == 200, answer
    return sorted(answer.body["PartitionKeyRanges"], key=lambda one: one["minInclusive"])


def range_ids(server: Server, container) -> list[str]:
    """Returns the ids of the live ranges in the order of the ring."""
    return [one["id"] for one in ranges(server, container)]


def figures(server: Server, container) -> dict:
    """Returns the server's figures of one container."""
    answer = wire.send(server, "GET", "/_armilla/partitions")
    assert answer.status == 200, answer
    _, database_id, _, container_id = container.container_link.split("/")
    [found] = [
        one for one in answer.body["containers"] if (one["database"], one["container"]) == (database_id, container_id)
    ]
    return found


def total(server: Server, container, name: str) -> float:
    """Returns one figure summed over all partitions that were ever opened."""
    return round(sum(one.get(name) or 0 for one in figures(server, container)["partitions"]), 2)


def metrics(server: Server) -> dict[str, dict[tuple, float]]:
    """Returns the samples of /metrics: by name, then by labels (sorted pairs)."""
    address = urllib.parse.urlsplit(server.http)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=wire.TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/metrics")
        response = connection.getresponse()
        text = response.read().decode()
    finally:
        connection.close()
    assert response.status == 200, text
    samples: dict[str, dict[tuple, float]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, labels, value = _SAMPLE.match(line).groups()
            samples.setdefault(name, {})[tuple(sorted(_LABEL.findall(labels or "")))] = float(value)
    return samples


def command_split(server: Server, container, **body) -> wire.Answer:
    """Asks for a split of one range (`range`, else the widest), at a hashed key (`at`, else in the middle)."""
    return wire.send(server, "POST", f"/_armilla/{container.container_link}/split", body)


def command_merge(server: Server, container, *range_ids: str) -> wire.Answer:
    """Asks for a merge of two neighbouring ranges."""
    return wire.send(server, "POST", f"/_armilla/{container.container_link}/merge", {"ranges": list(range_ids)})


def split(server: Server, container, **body) -> list[str]:
    """Splits a range and returns the ids of all ranges once it is done."""
    before = range_ids(server, container)
    answer = command_split(server, container, **body)
    assert answer.status == 202, answer
    return until(lambda: _changed(server, container, before), f"{before} never split")


def merge(server: Server, container, *parents: str) -> list[str]:
    """Merges two ranges and returns the ids of all ranges once it is done."""
    before = range_ids(server, container)
    answer = command_merge(server, container, *parents)
    assert answer.status == 202, answer
    return until(lambda: _changed(server, container, before), f"{before} never merged")


def wait_for_ranges(server: Server, container, count: int, seconds: float = CHANGE_SECONDS_MAX) -> list[str]:
    """Waits until there are this many ranges, and returns their ids."""

    def enough() -> list[str] | None:
        ids = range_ids(server, container)
        return ids if len(ids) >= count else None

    ids = until(enough, f"never {count} ranges", seconds)
    assert len(ids) == count, ids
    return ids


def until(condition: Callable, complaint: str, seconds: float = CHANGE_SECONDS_MAX):
    """Returns what the condition comes to, once it is true."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{complaint} within {seconds} s"
        time.sleep(POLL_SECONDS)
    return value


def _changed(server: Server, container, before: list[str]) -> list[str] | None:
    ids = range_ids(server, container)
    return ids if ids != before and figures(server, container)["failed"] is None else None
