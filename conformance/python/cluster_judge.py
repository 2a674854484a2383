"""Judges what clients of several nodes were answered: whether one order of all operations explains it, what was lost.

Every item is checked twice, by ways that do not trust each other: by looking for an order of the operations from the
answers alone (`cluster_search`), and by the order of versions in the change feed (`cluster_versions`). Besides, here:
counters, the order of commits of a physical partition over all of its items, what readers of the change feed saw, and
refusals that no client of a sound account meets.

Not here: how long anything took (`cluster_figures`).
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from cluster_history import ALWAYS, RAISES, Operation, Version, by_item
from cluster_search import UndecidedError, linearize
from cluster_versions import check_versions

# Refusals that clients of a sound account may meet while nodes come and go.
PASSING = {(404, 1002), (408, 0), (410, 1002), (429, 3200), (449, 0), (503, 0)}


def check_counter(item: str, initial: int, operations: list[Operation], final: int | None) -> list[str]:
    """Returns what is wrong with what a counter was raised to, by the answers alone."""
    wrong: list[str] = []
    raises = [operation for operation in operations if operation.kind in RAISES]
    known = [operation for operation in raises if operation.outcome == "ok"]
    unknown = sum(operation.outcome == "unknown" for operation in raises)
    if final is None:
        wrong.append(f"{item}: the counter is not there at the end")
    elif not initial + len(known) <= final <= initial + len(known) + unknown:
        raised = f"{len(known)} acknowledged and {unknown} unknown raises of {initial}"
        wrong.append(f"{item}: it is {final} after {raised}")
    told: dict[int, Operation] = {}
    for operation in known:
        if operation.count in told:
            wrong.append(f"{item}: raised to {operation.count} twice: {told[operation.count]}; {operation}")
        told[operation.count] = operation
    highest: Operation | None = None
    by_return = sorted(known, key=lambda one: one.returned)
    at = 0
    for operation in sorted(known, key=lambda one: one.invoked):
        while at < len(by_return) and by_return[at].returned < operation.invoked:
            if highest is None or by_return[at].count > highest.count:
                highest = by_return[at]
            at += 1
        if highest and operation.count <= highest.count:
            wrong.append(f"{item}: raised to {operation.count} after {highest.count}: {operation}; {highest}")
    return wrong


def check_commits(name: str, operations: list[Operation], versions: list[Version]) -> list[str]:
    """Returns what is wrong with the order of commits of one physical partition, over all of its items."""
    writes = {one.value: one for one in operations if one.value is not None}
    # Of deletes only those that said their commit; versions of others are left out.
    deletes = {(one.item, one.lsn): one for one in operations if one.kind == "delete" and one.outcome == "ok"}
    wrong, latest, because = [], ALWAYS, None
    for version in sorted(versions, key=lambda version: version.lsn):
        is_delete = version.kind == "delete"
        operation = deletes.get((version.item, version.lsn)) if is_delete else writes.get(version.value)
        if operation is None:
            continue
        if operation.invoked > latest:
            latest, because = operation.invoked, operation
        if operation.ends < latest:
            wrong.append(
                f"{name}: commit {version.lsn} had returned before an earlier one was sent: {operation}; {because}"
            )
    return wrong


def check_feed(name: str, seen: list[Version], whole: list[Version] | None = None) -> list[str]:
    """Returns what is wrong with what a reader of the change feed saw: twice, out of order, or not what `whole` has."""
    wrong: list[str] = []
    last: dict[str, int] = {}
    found: set[tuple[str, int]] = set()
    for version in seen:
        key = version.item.partition("/")[0]
        if (version.item, version.lsn) in found:
            wrong.append(f"{name}: version {version.lsn} of {version.item} came twice")
        elif version.lsn <= last.get(key, 0):
            wrong.append(f"{name}: version {version.lsn} of {version.item} came after {last[key]} of the same key")
        found.add((version.item, version.lsn))
        last[key] = max(last.get(key, 0), version.lsn)
    if whole is not None:
        expected = {(version.item, version.lsn): version for version in whole}
        wrong += [f"{name}: missed version {lsn} of {item}" for item, lsn in sorted(expected.keys() - found)]
        for version in seen:
            other = expected.get((version.item, version.lsn))
            if other is None:
                wrong.append(f"{name}: version {version.lsn} of {version.item} is not there any more")
            elif other != version:
                wrong.append(f"{name}: version {version.lsn} of {version.item} was {version} and is {other}")
    return wrong


@dataclass
class Verdict:
    """What was checked, and what was found."""

    wrong: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)


def judge(
    operations: list[Operation],
    initial: dict[str, Version | None],
    ranges: dict[str, str],
    whole: list[Version] | None,
    readers: dict[str, list[Version]],
    final: dict[str, int | None],
) -> Verdict:
    """Checks a whole run.

    `initial` has every item as it was before the clients began, `ranges` the physical partition of every key, `whole`
    the change feed from that moment on, `readers` what was read of it meanwhile, `final` the counters at the end. A run
    that was cut off has no `whole`: then the answers alone are judged.
    """
    verdict = Verdict()
    wrong = verdict.wrong
    asked, versions = by_item(operations), by_item(whole or [])
    for item in sorted(asked.keys() | versions.keys() | initial.keys()):
        first, mine = initial.get(item), asked.get(item, [])
        if whole is not None:
            wrong += check_versions(item, first, mine, versions.get(item, []))
        is_counter = item in final
        try:
            why = linearize(mine, (first and first.count) if is_counter else (first and first.value))
            wrong += [why] if why else []
        except UndecidedError as undecided:
            verdict.undecided += map(str, undecided.args)
        if is_counter and whole is not None:
            wrong += check_counter(item, first.count, mine, final[item])
    wrong += check_feed("the feed from its beginning", whole or [])
    for name, seen in readers.items():
        wrong += check_feed(name, seen, whole)
    of_range: dict[str, tuple[list, list]] = defaultdict(lambda: ([], []))
    for item, range_id in ((item, ranges[item.partition("/")[0]]) for item in asked):
        of_range[range_id][0].extend(asked[item])
        of_range[range_id][1].extend(versions.get(item, []))
    for range_id, (mine, theirs) in of_range.items():
        wrong += check_commits(f"partition {range_id}", mine, theirs)
    strange = defaultdict(list)
    for operation in operations:
        answer = (operation.status, operation.sub_status)
        is_refused = operation.outcome != "ok" and operation.status >= 400
        if is_refused and answer not in PASSING and not operation.tells():
            strange[answer].append(operation)
    for (status, sub_status), some in strange.items():
        wrong.append(f"{len(some)} answers {status}/{sub_status}, such as {some[0]}: {some[0].error}")
    outcomes = Counter(operation.outcome for operation in operations)
    done = Counter(operation.kind for operation in operations if operation.outcome == "ok")
    verdict.figures = {
        "operations": len(operations),
        "outcomes": dict(sorted(outcomes.items())),
        "done": dict(sorted(done.items())),
        "refused_for_the_state": sum(operation.tells() for operation in operations),
        "items": len(asked),
        "versions": len(whole or []),
        "feed_readers": {name: len(seen) for name, seen in readers.items()},
    }
    return verdict
