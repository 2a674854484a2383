"""Judges one item by the order of its versions in the change feed of all versions and deletes.

With that order nothing is left to search: each version has the operation that wrote it, each read the version it saw,
and moments for all of them exist exactly if the earliest ones that the order allows are early enough. It takes time in
proportion to the history.
"""

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from cluster_history import ABSENT, ALWAYS, NEVER, RAISES, WRITES, Operation, Version, seconds, told_by


@dataclass(slots=True)
class _Slot:
    """A version between the one before it and the one after it."""

    version: Version | None
    operation: Operation | None
    state: Any
    invoked: float
    ends: float
    reads: list[Operation] = field(default_factory=list)


def check_versions(
    item: str, initial: Version | None, operations: list[Operation], versions: list[Version]
) -> list[str]:
    """Returns what is wrong with one item, by the order of its versions in the change feed."""
    wrong: list[str] = []
    writes = {operation.value: operation for operation in operations if operation.value is not None}
    slots = [_Slot(initial, None, initial and initial.value, ALWAYS, NEVER)]
    deletes = _deletes(item, operations, versions, wrong)
    written: set[str] = set()
    for version in versions:
        before = slots[-1]
        operation = deletes.get(version.lsn) if version.kind == "delete" else writes.get(version.value)
        if operation is None:
            wrong.append(f"{item}: version {version.lsn} ({version.kind} {version.value}) was asked for by no client")
        elif version.value is not None and version.value in written:
            wrong.append(f"{item}: {version.value} was written twice, the second time as version {version.lsn}")
        else:
            wrong += [f"{item}: version {version.lsn}: {why}" for why in _mismatches(version, before, operation)]
        if version.value is not None:
            written.add(version.value)
        invoked, ends = (operation.invoked, operation.ends) if operation else (ALWAYS, NEVER)
        slots.append(_Slot(version, operation, version.value, invoked, ends))
    for operation in operations:
        is_put = operation.kind in WRITES and operation.kind != "delete"
        if operation.outcome == "ok" and is_put and operation.value not in written:
            wrong.append(f"{item}: an acknowledged write is in no version: {operation}")
    wrong += _place(item, slots, operations)
    return wrong


def _deletes(item: str, operations: list[Operation], versions: list[Version], wrong: list[str]) -> dict[int, Operation]:
    """Returns the deletes of versions that are gone, by their commits.

    Acknowledged ones say their commit. Of the others, the one that was sent first is given to the first that is left:
    none of them has an end, so no other choice could do better.
    """
    of_feed = [version.lsn for version in versions if version.kind == "delete"]
    asked = [operation for operation in operations if operation.kind == "delete"]
    known = {operation.lsn: operation for operation in asked if operation.outcome == "ok"}
    missing = [operation for lsn, operation in known.items() if lsn not in set(of_feed)]
    wrong += [f"{item}: an acknowledged delete is in no version: {operation}" for operation in missing]
    unknown = sorted((one for one in asked if one.outcome == "unknown"), key=lambda one: one.invoked)
    left = [lsn for lsn in of_feed if lsn not in known]
    return known | dict(zip(left, unknown, strict=False))


def _mismatches(version: Version, before: _Slot, operation: Operation) -> Iterator[str]:
    """Tells what a version has that does not go with the operation that wrote it, or with the version before."""
    if operation.outcome == "failed":
        yield f"it was refused with {operation.status}, and is there: {operation}"
    if operation.outcome == "ok":
        for name in ("lsn", "etag"):
            told, found = getattr(operation, name), getattr(version, name)
            if told is not None and found is not None and told != found:
                yield f"its {name} is {found}, and was told as {told}: {operation}"
        if operation.count is not None and operation.count != version.count:
            yield f"it counts {version.count}, and was told as {operation.count}: {operation}"
    is_there = before.state is not None
    if version.kind != "delete" and (version.kind == "create") == is_there:
        yield f"it is a {version.kind}, and before it was {before.state}: {operation}"
    if operation.kind == "create" and is_there:
        yield f"it was created although it was there as {before.state}: {operation}"
    if operation.kind in {"replace", "delete"} and not is_there:
        yield f"it was changed although it was not there: {operation}"
    if operation.kind == "cas" and before.state != operation.expected:
        yield f"it replaced {before.state}, on the condition that it is {operation.expected}: {operation}"
    if operation.kind in RAISES and before.version and version.count != (before.version.count or 0) + 1:
        yield f"it counts {version.count} after {before.version.count}: {operation}"
    if version.previous_lsn is not None and before.version and before.version.lsn != version.previous_lsn:
        yield f"the version before it is {before.version.lsn}, and the feed says {version.previous_lsn}"


def _place(item: str, slots: list[_Slot], operations: list[Operation]) -> list[str]:
    """Looks for moments of all versions and reads, in the order of versions; tells for what there are none."""
    wrong: list[str] = []
    place_of = {slot.state: place for place, slot in enumerate(slots) if slot.state is not None}
    absent = [place for place, slot in enumerate(slots) if slot.state is None]
    present = [place for place, slot in enumerate(slots) if slot.state is not None]
    choosing: list[tuple[Operation, list[int], int | None]] = []
    for operation in operations:
        condition = told_by(operation) if operation.kind == "read" or operation.outcome == "failed" else None
        if condition is None:
            continue
        if operation.kind == "read" and operation.seen is not None:
            place = place_of.get(operation.seen)
            if place is None:
                wrong.append(f"{item}: a read saw what is in no version: {operation}")
            else:
                slots[place].reads.append(operation)
        elif condition == ABSENT:
            choosing.append((operation, absent, None))
        else:
            other = place_of.get(operation.expected) if condition[0] == "other" else None
            choosing.append((operation, present, other))
    # What may have been at one of several versions goes to the last that has begun when it returned, which leaves the
    # others the most room. Moments only move on, so this ends, and at the earliest moments that there are.
    pushed: dict[int, float] = {}
    chosen: dict[int, int] = {}
    while True:
        moments = _earliest(slots, pushed)
        is_settled = True
        for number, (operation, places, other) in enumerate(choosing):
            place = _last_begun(moments, places, other, operation.returned)
            if place is None:
                if chosen.get(number) != -1:
                    wrong.append(f"{item}: it was in no state, by any order, that explains {operation}")
                    chosen[number] = -1
                continue
            if chosen.get(number) == place:
                continue
            chosen[number] = place
            if operation.invoked > pushed.get(place + 1, ALWAYS):
                pushed[place + 1] = operation.invoked
                is_settled = False
        if is_settled:
            break
    for place, slot in enumerate(slots):
        if moments[place] > slot.ends:
            late = _late(slots, pushed, place, moments[place])
            wrong.append(f"{item}: {late}, but it had returned: {slot.operation}")
        for read in slot.reads:
            if moments[place] > read.returned:
                late = _late(slots, pushed, place, moments[place])
                wrong.append(f"{item}: {late}, but was read before: {read}")
    return wrong


def _earliest(slots: list[_Slot], pushed: dict[int, float]) -> list[float]:
    """Returns the earliest moment of every version that the order allows."""
    moments, moment = [], ALWAYS
    for place, slot in enumerate(slots):
        moment = max(moment, slot.invoked, pushed.get(place, ALWAYS))
        moments.append(moment)
        # The next one comes after all reads of this one.
        moment = max([moment, *(read.invoked for read in slot.reads)])
    return moments


def _last_begun(moments: list[float], places: list[int], other: int | None, returned: float) -> int | None:
    """Returns the last of some versions that has begun at a moment, `other` left out."""
    bound = bisect.bisect_right(moments, returned)
    at = bisect.bisect_left(places, bound) - 1
    if at >= 0 and places[at] == other:
        at -= 1
    return places[at] if at >= 0 else None


def _late(slots: list[_Slot], pushed: dict[int, float], place: int, moment: float) -> str:
    """Says why a version cannot be earlier."""
    for at in range(place, -1, -1):
        slot = slots[at]
        if slot.invoked == moment and slot.operation:
            return f"version {_name(slots[place])} is from {seconds(moment)} at the earliest, as is {slot.operation}"
        for read in slot.reads:
            if at < place and read.invoked == moment:
                return f"version {_name(slots[place])} is from {seconds(moment)} at the earliest, for {read}"
        if pushed.get(at) == moment:
            break
    return f"version {_name(slots[place])} is from {seconds(moment)} at the earliest"


def _name(slot: _Slot) -> str:
    return f"{slot.version.lsn} ({slot.state})" if slot.version else "before all"
