"""Looks for an order of the operations on one item that explains every answer, from the answers alone.

It follows the moments at which operations returned and keeps every state that the item may be in (Wing and Gong, in the
variant of Lowe, which decides about an operation when some operation returns). An operation of unknown outcome may
happen at any time after it was sent, or never. Three things keep the number of states small, and lose none that
matters:

* of two possibilities that differ in which unknown operations were used up, the one that used fewer can do whatever the
  other can;
* what only reads is put at the first moment that suits it;
* an unknown operation happens only right before one that needs it.

Where more than `POSSIBILITIES_MAX` remain it gives up and says so, which is no verdict.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cluster_history import ABSENT, ANY, PRESENT, RAISES, Condition, Operation, holds, told_by

POSSIBILITIES_MAX = 20_000
SHOWN_MAX = 6

_UNOBSERVED = object()


@dataclass(slots=True, eq=False)
class Step:
    """An operation as a change of an item's state."""

    operation: Operation
    condition: Condition
    # `read`, `put`, `drop` or `raise`.
    effect: str
    value: Any = None

    def after(self, state: Any) -> Any:
        """Returns the state that it leaves."""
        match self.effect:
            case "read":
                return state
            case "raise":
                return (state or 0) + 1
            case _:
                return self.value


def step_of(operation: Operation) -> Step | None:
    """Returns what an operation does and says; nothing where it tells nothing."""
    kind, is_known = operation.kind, operation.outcome == "ok"
    if operation.outcome == "failed" or kind == "read":
        condition = told_by(operation)
        return Step(operation, condition, "read") if condition else None
    if kind in RAISES:
        condition = ("is", operation.count - 1) if is_known else PRESENT
        return Step(operation, condition, "raise")
    if kind == "delete":
        return Step(operation, PRESENT, "drop")
    conditions = {"upsert": ANY, "replace": PRESENT, "create": ABSENT, "cas": ("is", operation.expected)}
    return Step(operation, conditions[kind], "put", operation.value)


Possibility = tuple[Any, frozenset[int], frozenset[int]]


class Possibilities:
    """States that an item may be in, with the pending operations that were done and the unknown ones that were used."""

    def __init__(self) -> None:
        self._used: dict[tuple[Any, frozenset[int]], list[frozenset[int]]] = {}
        self.count = 0

    def add(self, possibility: Possibility) -> bool:
        """Adds one, unless another can do whatever it can; returns whether it was added."""
        state, done, used = possibility
        known = self._used.setdefault((state, done), [])
        if any(other <= used for other in known):
            return False
        kept = [other for other in known if not used <= other]
        self.count += len(kept) + 1 - len(known)
        kept.append(used)
        self._used[state, done] = kept
        return True

    def __iter__(self) -> Iterator[Possibility]:
        for (state, done), all_used in self._used.items():
            for used in all_used:
                yield state, done, used


class _Unknown:
    """Operations of unknown outcome that were sent by now, for one item."""

    def __init__(self, observed: set[Any]):
        self._observed = observed
        # Those that nothing can tell apart, in the order in which they were sent.
        self._classes: dict[Any, list[int]] = {}
        # The classes that may leave a value, and those that leave any.
        self._leaving: dict[Any, list[list[int]]] = defaultdict(list)
        self._putting: list[list[int]] = []
        self._steps: dict[int, Step] = {}

    def sent(self, number: int, step: Step) -> None:
        """Takes note of one."""
        self._steps[number] = step
        value = step.value if step.effect != "put" or step.value in self._observed else _UNOBSERVED
        key = (step.effect, step.condition, value)
        if key not in self._classes:
            self._classes[key] = []
            if step.effect == "put":
                self._putting.append(self._classes[key])
            if value is not _UNOBSERVED:
                self._leaving[value if step.effect != "raise" else "raise"].append(self._classes[key])
        self._classes[key].append(number)

    def lead_to(self, condition: Condition, start: "Possibility", pending: dict[int, Step]) -> Iterator["Possibility"]:
        """Returns the possibilities that meet a condition, after what has to have happened for them."""
        state, _, used = start
        if holds(condition, state):
            yield start
            return
        for numbers in self._classes_for(condition, state):
            number = next((number for number in numbers if number not in used), None)
            if number is None:
                continue
            step = self._steps[number]
            before = step.condition
            if step.effect == "raise":
                # A counter goes up by one: it was one less before.
                before = ("is", condition[1] - 1)
            elif not holds(condition, step.value):
                continue
            for earlier, done, needed in self.lead_to(before, (state, start[1], used | {number}), pending):
                yield _read_early((step.after(earlier), done, needed), pending)

    def _classes_for(self, condition: Condition, state: Any) -> list[list[int]]:
        kind, wanted = condition
        if kind != "is":
            return self._putting
        if isinstance(wanted, int):
            return self._leaving["raise"] if (state or 0) < wanted else []
        return self._leaving.get(wanted, [])


def linearize(operations: list[Operation], initial: Any = None) -> str | None:
    """Returns why no order of one item's operations explains all answers, or nothing where one does.

    Raises `UndecidedError` where there are too many possibilities to follow.
    """
    steps = [step for step in map(step_of, operations) if step is not None]
    unknown = _Unknown(_observed(steps))
    pending: dict[int, Step] = {}
    possible = Possibilities()
    possible.add((initial, frozenset(), frozenset()))
    lately: list[Step] = []
    for number, is_return in _moments(steps):
        step = steps[number]
        if not is_return:
            if step.operation.outcome == "unknown" and step.effect != "read":
                unknown.sent(number, step)
                continue
            pending[number] = step
            if step.effect == "read":
                possible = _all(_read_early(one, pending) for one in possible)
            continue
        following = _after_return(number, step, pending, unknown, possible)
        del pending[number]
        lately = [*lately, step][-SHOWN_MAX:]
        if following.count == 0:
            states = sorted({str(state) for state, _, _ in possible})[:SHOWN_MAX]
            before = "".join(f"\n    {earlier.operation}" for earlier in lately)
            return f"{step.operation.item}: no order explains the last of{before}\n    it was {' or '.join(states)}"
        if following.count > POSSIBILITIES_MAX:
            raise UndecidedError(f"{step.operation.item}: {following.count} possibilities")
        possible = following
    return None


class UndecidedError(Exception):
    """There are too many possibilities to follow; the arguments say of what."""


def _observed(steps: list[Step]) -> set[Any]:
    """Returns the values on which an answer depends."""
    return {step.condition[1] for step in steps if step.condition[0] in {"is", "other"}}


def _moments(steps: list[Step]) -> list[tuple[int, bool]]:
    """Returns when operations were sent and when they returned, in the order of time."""
    moments = []
    for number, step in enumerate(steps):
        operation = step.operation
        moments.append((operation.invoked, 0, number))
        # A read or a refusal has an end; an unknown write has none.
        if operation.outcome != "unknown":
            moments.append((operation.returned, 1, number))
    return [(number, bool(is_return)) for _, is_return, number in sorted(moments)]


def _all(found: Iterable[Possibility]) -> Possibilities:
    possible = Possibilities()
    for one in found:
        possible.add(one)
    return possible


def _read_early(possibility: Possibility, pending: dict[int, Step]) -> Possibility:
    """Does what only reads and finds what it has to find: there is no better moment for it."""
    state, done, used = possibility
    more = [
        number
        for number, step in pending.items()
        if step.effect == "read" and number not in done and holds(step.condition, state)
    ]
    return (state, done | frozenset(more), used) if more else possibility


def _after_return(
    number: int, step: Step, pending: dict[int, Step], unknown: _Unknown, possible: Possibilities
) -> Possibilities:
    """Returns what is possible once an operation has returned, so that it has been done."""
    following, seen = Possibilities(), Possibilities()
    waiting = [one for one in possible if seen.add(one)]
    while waiting:
        state, done, used = waiting.pop()
        if number in done:
            following.add((state, done - {number}, used))
            continue
        if seen.count > POSSIBILITIES_MAX:
            raise UndecidedError(f"{step.operation.item}: {seen.count} possibilities at once")
        # Others that are pending may have been done before it, in any order.
        for other, step_before in pending.items():
            if other in done:
                continue
            for earlier in unknown.lead_to(step_before.condition, _read_early((state, done, used), pending), pending):
                made = (step_before.after(earlier[0]), earlier[1] | {other}, earlier[2])
                made = _read_early(made, pending)
                if seen.add(made):
                    waiting.append(made)
    return following
