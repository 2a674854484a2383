"""The judge of histories of several nodes: what is right passes, and every kind of violation is found."""

import dataclasses
import itertools
import json
import random

import pytest

import cluster_chaos
import cluster_figures
from cluster_figures import Trouble, longest_gap, percentile
from cluster_history import Operation, Version, by_item, holds, outcome_of, read_operations, version_of
from cluster_judge import check_commits, check_counter, check_feed, judge
from cluster_search import Step, UndecidedError, linearize, step_of
from cluster_versions import check_versions

ITEM = "key/item"
HISTORIES = 3_000


def did(kind: str, invoked: float, returned: float, value: str | None = None, **told) -> Operation:
    """Returns an acknowledged operation; a read saw `value`."""
    seen = {"seen": value} if kind == "read" else {"value": value}
    told = {"outcome": "ok", "status": 200, "client": "one", "item": ITEM, **seen, **told}
    return Operation(kind=kind, invoked=invoked, returned=returned, **told)


def lost(kind: str, invoked: float, returned: float, value: str | None = None, **told) -> Operation:
    """Returns an operation of unknown outcome."""
    return did(kind, invoked, returned, value, outcome="unknown", status=408, **told)


def refused(status: int, kind: str, invoked: float, returned: float, value: str | None = None, **told) -> Operation:
    """Returns an operation that was refused."""
    return did(kind, invoked, returned, value, outcome="failed", status=status, **told)


def versions(*values: str | None, first: int = 1) -> list[Version]:
    """Returns versions in the order of commits; nothing is a delete."""
    found, before = [], "made"
    for lsn, value in enumerate(values, first):
        kind = "delete" if value is None else "create" if before is None else "replace"
        found.append(Version(ITEM, lsn, kind, value))
        before = value
    return found


MADE = Version(ITEM, 0, "create", "made")

# What was done to an item that was there as `made`, and the versions that the feed tells.
SOUND = {
    "nothing": ([], []),
    "one after the other": (
        [did("upsert", 1, 2, "a"), did("read", 3, 4, "a"), did("replace", 5, 6, "b"), did("read", 7, 8, "b")],
        ["a", "b"],
    ),
    "a read beside a write sees either": (
        [did("upsert", 1, 9, "a"), did("read", 2, 3, "made"), did("read", 4, 5, "a")],
        ["a"],
    ),
    "two writes in the order that they did not begin in": (
        [did("upsert", 1, 9, "a"), did("upsert", 2, 8, "b"), did("read", 10, 11, "a")],
        ["b", "a"],
    ),
    "a lost write that happened much later": (
        [lost("upsert", 1, 2, "a"), did("read", 3, 4, "made"), did("upsert", 5, 6, "b"), did("read", 9, 10, "a")],
        ["b", "a"],
    ),
    "a lost write that never happened": ([lost("upsert", 1, 2, "a"), did("read", 3, 4, "made")], []),
    "a lost write that changed nothing seen": (
        [lost("upsert", 1, 2, "a"), did("upsert", 3, 4, "b"), did("read", 5, 6, "b")],
        ["a", "b"],
    ),
    "a condition met": (
        [did("cas", 1, 2, "a", expected="made"), did("cas", 3, 4, "b", expected="a"), did("read", 5, 6, "b")],
        ["a", "b"],
    ),
    "a condition not met": (
        [did("upsert", 1, 2, "a"), refused(412, "cas", 3, 4, "b", expected="made"), did("read", 5, 6, "a")],
        ["a"],
    ),
    "a condition not met for a lost write": (
        [lost("upsert", 1, 2, "a"), refused(412, "cas", 3, 4, "b", expected="made"), did("upsert", 5, 6, "c")],
        ["a", "c"],
    ),
    "a chain of lost conditional writes": (
        [
            lost("cas", 1, 2, "a", expected="made"),
            lost("cas", 3, 4, "b", expected="a"),
            did("read", 5, 6, "b"),
        ],
        ["a", "b"],
    ),
    "deleted and made again": (
        [
            did("delete", 1, 2, lsn=1),
            did("read", 3, 4, None),
            refused(404, "replace", 5, 6, "a"),
            refused(404, "delete", 5, 6),
            did("create", 7, 8, "b"),
            refused(409, "create", 9, 10, "c"),
            did("read", 11, 12, "b"),
        ],
        [None, "b"],
    ),
    "a lost delete": (
        [lost("delete", 1, 2), lost("delete", 3, 4), did("read", 5, 6, None), did("create", 7, 8, "a")],
        [None, "a"],
    ),
    "lost deletes and lost creates": (
        [
            lost("delete", 1, 2),
            lost("create", 3, 4, "a"),
            lost("delete", 5, 6),
            refused(409, "create", 7, 8, "b"),
            did("read", 9, 10, None),
        ],
        [None, "a", None],
    ),
    "refused for other reasons": (
        [refused(503, "upsert", 1, 2, "a"), refused(429, "upsert", 3, 4, "b"), did("read", 5, 6, "made")],
        [],
    ),
    "reads of a version until it goes": (
        [did("read", 1, 5, "made"), did("upsert", 2, 6, "a"), did("read", 4, 7, "made"), did("read", 5, 8, "a")],
        ["a"],
    ),
}

# The same, where something is wrong; what the two checks say about it.
WRONG = {
    "a stale read": (
        [did("upsert", 1, 2, "a"), did("read", 3, 4, "made")],
        ["a"],
        "no order explains",
        "had returned",
    ),
    "a stale read of a node that was away": (
        [did("upsert", 1, 2, "a"), did("upsert", 3, 4, "b"), did("read", 5, 6, "b"), did("read", 7, 8, "a")],
        ["a", "b"],
        "no order explains",
        "had returned",
    ),
    "reads that go back": (
        [did("upsert", 1, 9, "a"), did("read", 2, 3, "a"), did("read", 4, 5, "made")],
        ["a"],
        "no order explains",
        "was read before",
    ),
    "an acknowledged write that is lost": (
        [did("upsert", 1, 2, "a"), did("read", 3, 4, "made")],
        [],
        "no order explains",
        "in no version",
    ),
    "an acknowledged delete that is lost": (
        [did("delete", 1, 2, lsn=1), did("read", 3, 4, "made")],
        [],
        "no order explains",
        "acknowledged delete is in no version",
    ),
    "a write done twice": (
        [did("upsert", 1, 2, "a"), did("upsert", 3, 4, "b"), did("read", 5, 6, "a")],
        ["a", "b", "a"],
        "no order explains",
        "written twice",
    ),
    "a write before it was asked for": (
        [did("read", 1, 2, "a"), did("upsert", 3, 4, "a")],
        ["a"],
        "no order explains",
        "was read before",
    ),
    "two writes in the wrong order": (
        [did("upsert", 1, 2, "a"), did("upsert", 3, 4, "b"), did("read", 5, 6, "a")],
        ["b", "a"],
        "no order explains",
        "had returned",
    ),
    "a conditional write on a version that was gone": (
        [did("upsert", 1, 2, "a"), did("cas", 3, 4, "b", expected="made"), did("read", 5, 6, "b")],
        ["a", "b"],
        "no order explains",
        "on the condition that it is made",
    ),
    "two conditional writes on one version": (
        [did("cas", 1, 9, "a", expected="made"), did("cas", 2, 8, "b", expected="made")],
        ["a", "b"],
        "no order explains",
        "on the condition that it is made",
    ),
    "a condition not met by what was there all the time": (
        [refused(412, "cas", 1, 2, "a", expected="made"), did("read", 3, 4, "made")],
        [],
        "no order explains",
        "it was in no state",
    ),
    "a refused write that is there": (
        [refused(503, "upsert", 1, 2, "a"), did("read", 3, 4, "a")],
        ["a"],
        "no order explains",
        "it was refused with 503, and is there",
    ),
    "a value of no client": ([did("read", 3, 4, "a")], ["a"], "no order explains", "asked for by no client"),
    "a read of no version": ([did("read", 3, 4, "a")], [], "no order explains", "saw what is in no version"),
    "made although it was there": (
        [did("create", 1, 2, "a"), did("read", 3, 4, "a")],
        ["a"],
        "no order explains",
        "created although it was there",
    ),
    "not found although it was there": (
        [did("read", 1, 2, None)],
        [],
        "no order explains",
        "it was in no state",
    ),
    "not found after it was made again": (
        [did("delete", 1, 2, lsn=1), did("create", 3, 4, "a"), refused(404, "replace", 5, 6, "b")],
        [None, "a"],
        "no order explains",
        "had returned",
    ),
    "found although it was deleted": (
        [did("delete", 1, 2, lsn=1), refused(409, "create", 3, 4, "a")],
        [None],
        "no order explains",
        "had returned",
    ),
    "one lost delete that happened twice": (
        [lost("delete", 1, 2), did("create", 3, 4, "a"), did("read", 5, 6, "a"), did("read", 7, 8, None)],
        [None, "a", None],
        "no order explains",
        "asked for by no client",
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_is_right_passes(name):
    operations, values = SOUND[name]
    assert linearize(operations, "made") is None
    assert check_versions(ITEM, MADE, operations, versions(*values)) == []


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name):
    operations, values, by_answers, by_versions = WRONG[name]
    assert by_answers in linearize(operations, "made")
    found = check_versions(ITEM, MADE, operations, versions(*values))
    assert any(by_versions in one for one in found), found


def test_the_report_names_what_was_done():
    told = linearize([did("upsert", 1e9, 2e9, "a"), did("read", 3e9, 4e9, "made", node=2)], "made")
    assert "read by one at node 2: ok 200, seen made, from 3.0000 s to 4.0000 s" in told
    assert told.endswith("it was a")


def test_an_item_that_was_not_there_at_first():
    operations = [
        did("read", 1, 2, None),
        did("create", 3, 4, "a"),
        did("delete", 5, 6, lsn=2),
        did("read", 7, 8, None),
    ]
    found = [Version(ITEM, 1, "create", "a"), Version(ITEM, 2, "delete")]
    assert linearize(operations) is None
    assert check_versions(ITEM, None, operations, found) == []
    assert "no order" in linearize([*operations, did("read", 9, 10, "a")])
    assert check_versions(ITEM, None, [*operations, did("read", 9, 10, "a")], found) != []


def test_what_a_version_says_is_what_was_answered():
    [version] = versions("a")
    version.etag, version.previous_lsn = "e1", 0
    for told in ({"lsn": 1, "etag": "e1"}, {}):
        assert check_versions(ITEM, MADE, [did("upsert", 1, 2, "a", **told)], [version]) == []
    for told, why in (({"lsn": 2}, "its lsn is 1"), ({"etag": "e2"}, "its etag is e1")):
        [wrong] = check_versions(ITEM, MADE, [did("upsert", 1, 2, "a", **told)], [version])
        assert why in wrong
    version.previous_lsn = 7
    [wrong] = check_versions(ITEM, MADE, [did("upsert", 1, 2, "a")], [version])
    assert "the version before it is 0, and the feed says 7" in wrong


def raised(invoked: float, returned: float, count: int | None, value: str) -> Operation:
    return did("increment", invoked, returned, value, count=count)


def test_counters():
    counted = [Version(ITEM, lsn, "replace", f"v{lsn}", count=lsn) for lsn in (1, 2, 3)]
    zero = Version(ITEM, 0, "create", "made", count=0)
    unknown = lost("run", 1, 9, "v2")
    sound = [raised(1, 2, 1, "v1"), unknown, raised(5, 6, 3, "v3"), did("read", 7, 8, "v3", count=3)]
    assert linearize(sound, 0) is None
    assert check_versions(ITEM, zero, sound, counted) == []
    assert check_counter(ITEM, 0, sound, 3) == []
    # The unknown one may have happened or not, but only once, and no other.
    assert [len(check_counter(ITEM, 0, sound, final)) for final in (None, 1, 2, 3, 4)] == [1, 1, 0, 0, 1]
    assert "no order" in linearize([*sound, did("read", 9, 10, "v3", count=4)], 0)
    twice = [raised(1, 2, 1, "v1"), raised(1, 2, 1, "v2")]
    assert "raised to 1 twice" in check_counter(ITEM, 0, twice, 2)[0]
    assert "no order" in linearize(twice, 0)
    back = [raised(1, 2, 2, "v1"), raised(3, 4, 1, "v2")]
    assert "raised to 1 after 2" in check_counter(ITEM, 0, back, 2)[0]
    assert "no order" in linearize(back, 0)
    skipped = [raised(1, 2, 2, "v1")]
    assert "no order" in linearize(skipped, 0)
    [wrong] = check_versions(ITEM, zero, skipped, [Version(ITEM, 1, "replace", "v1", count=2)])
    assert "it counts 2 after 0" in wrong


def test_counters_with_many_unknown_raises():
    operations, count = [], 0
    for at in range(200):
        operations.append(lost("increment", 10 * at, 10 * at + 1, f"lost-{at}"))
        count += 2
        operations.append(raised(10 * at + 5, 10 * at + 9, count, f"known-{at}"))
    assert linearize(operations, 0) is None
    operations.append(did("read", 9_000, 9_001, "x", count=count + 1))
    assert "no order" in linearize(operations, 0)


def test_many_unknown_writes_are_followed():
    """Three hundred writes that were lost, each of which may happen at any time, beside a thousand that are known."""
    operations: list[Operation] = []
    for at in range(300):
        moment = 100 * at
        operations.append(lost("upsert", moment, moment + 1, f"lost-{at}"))
        operations.append(lost("delete", moment, moment + 1))
        operations.append(did("upsert", moment + 10, moment + 20, f"known-{at}"))
        operations.append(did("read", moment + 30, moment + 40, f"known-{at}"))
        operations.append(refused(412, "cas", moment + 50, moment + 60, f"refused-{at}", expected=f"known-{at}"))
    assert linearize(operations, "made") is None
    assert "no order" in linearize([*operations, did("read", 90_000, 90_001, "made")], "made")


def test_too_many_possibilities_are_no_verdict(monkeypatch):
    monkeypatch.setattr("cluster_search.POSSIBILITIES_MAX", 50)
    operations = [did("upsert", 1, 100 + at, f"v{at}") for at in range(12)]
    with pytest.raises(UndecidedError):
        linearize(operations, "made")


def explained(steps: list[Step], initial) -> bool:
    """Returns whether some order of the operations, without some of the unknown ones, explains all answers."""
    unknown = [step for step in steps if step.operation.outcome == "unknown"]
    known = [step for step in steps if step.operation.outcome != "unknown"]
    for count in range(len(unknown) + 1):
        for some in itertools.combinations(unknown, count):
            for order in itertools.permutations([*known, *some]):
                if _is_in_time(order) and _is_possible(order, initial):
                    return True
    return False


def _is_in_time(order) -> bool:
    latest = 0.0
    for step in order:
        latest = max(latest, step.operation.invoked)
        if step.operation.outcome != "unknown" and latest > step.operation.returned:
            return False
    return True


def _is_possible(order, state) -> bool:
    for step in order:
        if not holds(step.condition, state):
            return False
        state = step.after(state)
    return True


def made_up(source: random.Random) -> tuple[list[Operation], list[Version]]:
    """Returns a history that is right, of an item that was there as `made`, with its versions in their order."""
    length = source.randint(1, 6)
    moments = sorted(source.uniform(0, 100) for _ in range(length))
    state, operations, found, earlier = "made", [], [], ["made", "none"]
    for number, moment in enumerate(moments):
        reach = source.choice([3, 30])
        invoked, returned = moment - source.uniform(0, reach), moment + source.uniform(0, reach)
        kind = source.choice(["read", "read", "upsert", "replace", "cas", "create", "delete"])
        value = None if kind in {"read", "delete"} else f"v{number}"
        expected = source.choice([state or "none", source.choice(earlier)]) if kind == "cas" else None
        operation = did(kind, invoked, returned, state if kind == "read" else value, expected=expected)
        operations.append(operation)
        step = step_of(operation)
        is_unknown = kind != "read" and source.random() < 0.3
        if is_unknown:
            operation.outcome, operation.status = "unknown", 408
            # It may be done later than the client has waited.
            operation.returned = source.uniform(invoked, returned)
        if kind == "read":
            continue
        if not holds(step.condition, state):
            if not is_unknown:
                operation.outcome = "failed"
                operation.status = 404 if state is None else 409 if kind == "create" else 412
            continue
        if is_unknown and source.random() < 0.5:
            continue
        lsn = len(found) + 1
        told = "delete" if kind == "delete" else "create" if state is None else "replace"
        found.append(Version(ITEM, lsn, told, value))
        operation.lsn = lsn if operation.outcome == "ok" else None
        state = value
        earlier.append(value or "none")
    return operations, found


def test_histories_that_are_right_pass():
    for seed in range(HISTORIES):
        operations, found = made_up(random.Random(seed))
        assert linearize(operations, "made") is None, seed
        assert check_versions(ITEM, MADE, operations, found) == [], seed


def test_changed_histories_are_judged_as_by_trying_every_order():
    """An answer or a moment is changed: the quick check says what trying all orders says."""
    verdicts = {True: 0, False: 0}
    for seed in range(HISTORIES // 3):
        source = random.Random(seed)
        operations, found = made_up(source)
        operations = operations[:5]
        changed = source.choice(operations)
        if changed.kind == "read" and source.random() < 0.7:
            changed.seen = source.choice([one.value for one in operations if one.value] + ["made", None])
        else:
            lasts, moved = changed.returned - changed.invoked, source.uniform(0, 100)
            changed.invoked, changed.returned = moved, moved + lasts
        steps = [step for step in map(step_of, operations) if step is not None]
        is_right = explained(steps, "made")
        verdicts[is_right] += 1
        told = linearize(operations, "made")
        assert (told is None) == is_right, (seed, told)
        if not is_right and len(operations) == len(made_up(random.Random(seed))[0]):
            # The check by versions knows the order besides, so it finds at least as much.
            assert check_versions(ITEM, MADE, operations, found) != [], seed
    assert min(verdicts.values()) > HISTORIES // 20, verdicts


def test_commits_of_a_partition_are_in_the_order_of_time():
    found = [Version("key/a", 1, "replace", "a"), Version("key/b", 2, "replace", "b"), Version("key/a", 3, "delete")]
    operations = [
        did("upsert", 1, 4, "a", item="key/a"),
        did("upsert", 2, 3, "b", item="key/b"),
        did("delete", 5, 6, item="key/a", lsn=3),
    ]
    assert check_commits("partition 0", operations, found) == []
    operations[0].invoked = 3.5
    [wrong] = check_commits("partition 0", operations, found)
    assert "commit 2 had returned before an earlier one was sent" in wrong
    operations[1].outcome = "unknown"
    assert check_commits("partition 0", operations, found) == []


def test_feeds():
    whole = [Version("one/a", 1, "create", "a"), Version("two/a", 1, "create", "b"), Version("one/b", 2, "create", "c")]
    assert check_feed("feed", whole, whole) == []
    # Keys are not ordered among each other.
    assert check_feed("feed", [whole[1], whole[0], whole[2]], whole) == []
    for seen, why in (
        ([whole[2], whole[0], whole[1]], "came after 2 of the same key"),
        ([*whole, whole[2]], "came twice"),
        (whole[:2], "missed version 2 of one/b"),
        ([*whole, Version("one/c", 3, "create", "d")], "is not there any more"),
        ([*whole[:2], Version("one/b", 2, "create", "x")], "was Version("),
    ):
        [wrong] = check_feed("feed", seen, whole)
        assert why in wrong


def test_entries_of_feeds_are_read():
    current = {"id": "i", "pk": "k", "v": "a", "n": 3, "_etag": '"e"'}
    changed = {"current": current, "metadata": {"operationType": "replace", "lsn": 7, "previousImageLSN": 6}}
    assert version_of(changed) == Version("k/i", 7, "replace", "a", 3, '"e"', 6)
    gone = {"metadata": {"operationType": "delete", "lsn": 8, "id": "i", "partitionKey": {"pk": "k"}}}
    assert version_of(gone) == Version("k/i", 8, "delete")


@pytest.mark.parametrize(
    ("outcome", "statuses"),
    [("ok", {200, 201, 204}), ("failed", {404, 412, 449, 503}), ("unknown", {0, 408, 500, 502})],
)
def test_outcomes(outcome, statuses):
    assert {outcome_of(status) for status in statuses} == {outcome}


def judged(operations: list[Operation], found: list[Version], **changed):
    told = {"initial": {ITEM: MADE}, "ranges": {"key": "0"}, "whole": found, "readers": {"one": found}, "final": {}}
    return judge(operations, **{**told, **changed})


def test_whole_runs():
    operations, found = [did("upsert", 1, 2, "a"), did("read", 3, 4, "a")], versions("a")
    verdict = judged(operations, found)
    assert (verdict.wrong, verdict.undecided) == ([], [])
    assert verdict.figures["operations"] == 2
    assert verdict.figures["outcomes"] == {"ok": 2}
    assert verdict.figures["done"] == {"read": 1, "upsert": 1}
    assert "missed version" in judged(operations, found, readers={"one": []}).wrong[0]
    strange = [*operations, refused(400, "upsert", 5, 6, "b", error="odd")]
    [wrong] = judged(strange, found).wrong
    assert wrong.startswith("1 answers 400/0, such as upsert by one")
    assert wrong.endswith("odd")
    passing = [*operations, refused(404, "upsert", 5, 6, "b", sub_status=1002), refused(503, "upsert", 5, 6, "c")]
    assert judged(passing, found).wrong == []
    assert len(judged([*operations, refused(404, "upsert", 5, 6, "b")], found).wrong) == 1
    assert by_item(operations) == {ITEM: operations}
    # Of a run that was cut off the answers are judged.
    assert judged(operations, found, whole=None).wrong == []
    stale = [*operations, did("read", 5, 6, "made")]
    [wrong] = judged(stale, found, whole=None).wrong
    assert "no order explains" in wrong


def test_records_are_read_but_for_half_a_line(tmp_path):
    lines = [json.dumps(dataclasses.asdict(did("upsert", at, at + 1, f"v{at}"))) for at in range(2)]
    (tmp_path / "operations-one.jsonl").write_text(lines[0] + "\n" + lines[1][:20])
    assert read_operations(tmp_path) == [did("upsert", 0, 1, "v0")]


def test_gaps():
    second = cluster_figures.NS
    served = [at * second for at in (1, 2, 3, 8, 9)]
    assert longest_gap(served, 3 * second, 10 * second) == (5, 8 * second)
    assert longest_gap(served, 4 * second, 10 * second) == (4, 8 * second)
    assert longest_gap(served, 9 * second, 20 * second) == (11, 20 * second)
    assert longest_gap([], 0, 2 * second) == (2, 2 * second)
    assert [percentile([3, 1, 2], share) for share in (0, 0.5, 0.99, 1)] == [1, 2, 3, 3]
    assert percentile([], 0.5) is None


def test_figures():
    second = cluster_figures.NS
    # One partition stands still for four seconds from the kill on, one later on, and one serves all the time.
    moments = {"a": (9, 14, 15, 16), "b": (8, 9, 10.5, 14, 15, 16), "c": range(8, 17)}
    probes = [
        did("read", at * second, at * second + 1, "made", client=f"probe-{item}", item=item)
        for item, mine in moments.items()
        for at in mine
    ]
    trouble = Trouble("kill", 0, began=10 * second, ended=12 * second, whole=15 * second, coordinated=True)
    found = cluster_figures.figures(probes, [trouble], 17 * second, lease_seconds=6)
    of_kills = found["kill"]
    assert of_kills["seconds_until_hurt_served_again"] == {"count": 1, "p50": 4, "p99": 4, "p999": 4, "max": 4}
    assert of_kills["of_those_where_the_coordinator_was_hurt"]["count"] == 1
    assert of_kills["seconds_longest_gap_of_spared"]["max"] == 3.5
    assert of_kills["seconds_longest_gap_of_spared"]["count"] == 2
    assert of_kills["seconds_longest_gap_after_return"]["max"] == 1
    [told] = found["in_turn"]
    assert told == (
        "kill of node 0, which coordinated, away for 2.0 s: "
        "1 partitions served again after 4.0 s, 2 others stood still for 3.5 s at most"
    )
    assert "pause" not in found
    # Another node in trouble at the same time changes nothing about what is seen of this one.
    other = Trouble("pause", 1, began=10 * second + 1, ended=12 * second, whole=15 * second)
    assert cluster_figures.figures(probes, [trouble, other], 17 * second, lease_seconds=6)["kill"] == of_kills


def test_a_stall_of_the_store_or_the_machine_is_told_apart():
    second = cluster_figures.NS
    probes = [
        did("read", at * second, at * second + 1, "made", client="probe-a", item="a") for at in (9, 14, 15, 29, 34, 35)
    ]
    troubles = [
        Trouble("kill", 0, began=10 * second, ended=12 * second, whole=15 * second),
        Trouble("kill", 0, began=30 * second, ended=32 * second, whole=35 * second),
    ]

    def counts(ceiling):
        found = cluster_figures.figures(probes, troubles, 37 * second, lease_seconds=6, ceiling=ceiling)
        return (
            found["kill"]["seconds_until_hurt_served_again"]["count"],
            found["kill"]["of_those_without_a_stall"]["count"],
            found.get("ceiling"),
        )

    assert counts(None) == (2, 2, None)
    # A put that takes a second is none, and one that was over before the trouble is another's.
    puts = [[11 * second, 12 * second], [7 * second, 10 * second - 1]]
    assert counts({"puts": puts, "sleeps": []})[:2] == (2, 2)
    assert counts({"puts": [*puts, [11 * second, 13 * second]], "sleeps": []})[:2] == (2, 1)
    told = counts({"puts": puts, "sleeps": [[33 * second, 36 * second]]})
    assert told[:2] == (2, 1)
    assert told[2]["seconds_of_a_put"]["max"] == 3
    assert told[2]["stalls_seconds"]["count"] == 2


def test_what_is_late_is_judged_without_stalls_unless_they_are_most_of_it():
    def told(count, calm_count, p99):
        return cluster_chaos._late(
            {
                "seconds_until_hurt_served_again": {"count": count, "p99": 99},
                "of_those_without_a_stall": {"count": calm_count, "p99": p99},
            }
        )

    assert told(10, 5, 9.9) == []
    assert told(0, 0, None) == []
    assert told(10, 5, 10.1) == ["partitions of killed nodes served again after 10.1 s (p99)"]
    for calm_count, p99 in [(4, 9.9), (0, None)]:
        [wrong] = told(10, calm_count, p99)
        assert "stood still in most kills" in wrong
