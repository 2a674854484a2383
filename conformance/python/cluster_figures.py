"""Figures of a run of `cluster_chaos`: how long partitions did not serve around each trouble.

Probes ask every physical partition on and on, through nodes that are not in trouble. Which node had a partition is not
asked: one that served nothing from the moment of the trouble on, for long, is taken for one of the node in trouble
(`hurt`), the others for those of other nodes (`spared`).
"""

import bisect
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from cluster_ceiling import is_stalled, spans, stalls
from cluster_history import Operation

NS = 1_000_000_000


@dataclass(slots=True)
class Trouble:
    """What was done to a node, in nanoseconds of the monotonic clock."""

    # `kill`, `pause` or `stop`.
    kind: str
    node: int
    began: int
    # It was started again, or went on.
    ended: int = 0
    # All nodes served all partitions again.
    whole: int = 0
    # Of a node that was paused and then ended by itself.
    exit_code: int | None = None
    # It was the one that tells the others what they have.
    coordinated: bool = False


def percentile(values: list[float], share: float) -> float | None:
    """Returns the value that this share of them does not exceed."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spread(values: list[float]) -> dict[str, Any]:
    """Returns how many there are, and how they are spread."""
    found = {"count": len(values)}
    for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)):
        value = percentile(values, share)
        found[name] = None if value is None else round(value, 3)
    return found


def longest_gap(successes: list[int], began: int, ended: int) -> tuple[float, int]:
    """Returns the longest time in seconds between successes in a window, and when it was over."""
    first = bisect.bisect_right(successes, began)
    best, over, before = 0, began, began
    for moment in [*successes[first : bisect.bisect_left(successes, ended)], ended]:
        if moment - before > best:
            best, over = moment - before, moment
        before = moment
    return best / NS, over


def figures(
    operations: list[Operation],
    troubles: list[Trouble],
    ended: int,
    lease_seconds: float,
    ceiling: dict[str, list] | None = None,
) -> dict[str, Any]:
    """Returns how available the account was; beside it what the store and the machine were, where that was measured."""
    puts, sleeps = (ceiling or {}).get("puts", []), (ceiling or {}).get("sleeps", [])
    stalled = stalls(puts, sleeps)
    probes: dict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        if operation.client.startswith("probe-") and operation.outcome == "ok":
            probes[operation.item].append(operation)
    partitions = [Partition(mine) for mine in probes.values()]
    latencies = [(one.returned - one.invoked) / NS for one in operations if one.outcome == "ok"]
    found: dict[str, Any] = {"latency_of_all_seconds": spread(latencies), "in_turn": []}
    if ceiling:
        found["ceiling"] = {"seconds_of_a_put": spread(spans(puts)), "stalls_seconds": spread(spans(stalled))}
    seen: dict[str, list[Seen]] = defaultdict(list)
    for trouble in troubles:
        # Another node may be in trouble at the same time.
        over = min((other.began for other in troubles if other.began >= (trouble.whole or ended)), default=ended)
        one = Seen(trouble, partitions, over, lease_seconds)
        seen[trouble.kind].append(one)
        found["in_turn"].append(one.told())
    for kind, some in seen.items():
        found[kind] = {
            "seconds_until_hurt_served_again": spread([value for one in some for value in one.again]),
            "of_those_where_the_coordinator_was_hurt": spread(
                [value for one in some if one.trouble.coordinated for value in one.again]
            ),
            "of_those_without_a_stall": spread(
                [value for one in some if not one.is_stalled(stalled) for value in one.again]
            ),
            "seconds_longest_gap_of_spared": spread([value for one in some for value in one.gaps]),
            "gaps_of_those_without_a_stall": spread(
                [value for one in some if not one.is_stalled(stalled) for value in one.gaps]
            ),
            "seconds_latency_of_spared": spread([value for one in some for value in one.latencies]),
            "seconds_longest_gap_after_return": spread([value for one in some for value in one.returning]),
        }
    return found


class Partition:
    """A physical partition, as the successful probes of it show it."""

    def __init__(self, probes: list[Operation]):
        self._by_start = sorted(probes, key=lambda one: one.invoked)
        self._starts = [one.invoked for one in self._by_start]
        self.returns = sorted(one.returned for one in probes)

    def sent(self, began: int, ended: int) -> list[Operation]:
        """Returns the probes that were sent in a window."""
        return self._by_start[bisect.bisect_left(self._starts, began) : bisect.bisect_left(self._starts, ended)]


class Seen:
    """What probes saw of one trouble."""

    def __init__(self, trouble: Trouble, partitions: list[Partition], over: int, lease_seconds: float):
        self.trouble = trouble
        # Seconds: of partitions that were hurt, and of the others.
        self.again: list[float] = []
        self.gaps: list[float] = []
        self.latencies: list[float] = []
        self.returning: list[float] = []
        whole = trouble.whole or over
        for partition in partitions:
            sent = partition.sent(trouble.began, over)
            first = min((one.returned for one in sent), default=over)
            if first - trouble.began >= lease_seconds / 2 * NS:
                self.again.append((first - trouble.began) / NS)
            else:
                self.gaps.append(longest_gap(partition.returns, trouble.began, whole)[0])
                during = partition.sent(trouble.began, whole)
                self.latencies += [(one.returned - one.invoked) / NS for one in during]
            # Partitions are given back to a node that is there again.
            self.returning.append(longest_gap(partition.returns, whole, over)[0])

    def is_stalled(self, stalled: list[tuple[int, int]]) -> bool:
        """Whether the store or the machine stood still before all was served again."""
        began = self.trouble.began
        return is_stalled(stalled, began, began + int(max([*self.again, *self.gaps], default=0) * NS))

    def told(self) -> str:
        """Returns it in one line of a report."""
        trouble = self.trouble
        coordinated = ", which coordinated," if trouble.coordinated else ""
        code = "" if trouble.exit_code is None else f", ended with {trouble.exit_code}"
        again = f"{len(self.again)} partitions served again after {max(self.again, default=0):.1f} s"
        spared = f"{len(self.gaps)} others stood still for {max(self.gaps, default=0):.1f} s"
        lasted = f"away for {(trouble.ended - trouble.began) / NS:.1f} s{code}"
        return f"{trouble.kind} of node {trouble.node}{coordinated} {lasted}: {again}, {spared} at most"
