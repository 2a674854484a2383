"""Spending request units against the clock: budgets are given out at the start of every second.

A test that counts what one second admits begins at the start of one; when a busy machine made it run over into the
next, it is run again after an idle second, in which all debt is paid.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from azure.cosmos.exceptions import CosmosHttpResponseError

from sdk import charge

ATTEMPTS_MAX = 6
# Of the second that has begun, when a test may start in it.
LATE_SECONDS = 0.05
# 26 units for the size, two terms for each leaf, one for the partition key: 107 units of 4/21 RU.
LEAVES = 40


def wide_item(name: str, city: str = "Oslo", leaves: int = LEAVES) -> dict:
    """Returns an item that, with the leaves unless told, is below a kilobyte and costs 20.38 RU to create."""
    item = {"id": name, "city": city}
    return item | {f"f{n}": n for n in range(leaves - len(item))}


@dataclass
class Spent:
    """What a run of requests came to."""

    charges: list[float] = field(default_factory=list)
    refusal: CosmosHttpResponseError | None = None

    @property
    def total(self) -> float:
        """All charges together, in the two decimals in which they travel."""
        return round(sum(self.charges), 2)

    @property
    def largest(self) -> float:
        """The most expensive of them."""
        return max(self.charges, default=0.0)


def spend(request: Callable, at_least: float = float("inf")) -> Spent:
    """Repeats a request until it is refused with 429, or until that much is spent."""
    spent = Spent()
    while spent.total < at_least:
        try:
            spent.charges.append(charge(request()))
        except CosmosHttpResponseError as error:
            if error.status_code != 429:
                raise
            spent.refusal = error
            break
    return spent


def start_of_second() -> int:
    """Waits for the start of a second and returns which one it is."""
    now = time.time()
    if now % 1 > LATE_SECONDS:
        time.sleep(1 - now % 1)
    return int(time.time())


def in_one_second(action: Callable, idle_seconds: float = 0):
    """Runs an action inside one second of the clock and returns that second and what the action came to.

    Before each attempt nothing is done for `idle_seconds`.
    """
    for _ in range(ATTEMPTS_MAX):
        time.sleep(idle_seconds)
        second = start_of_second()
        result = action()
        if int(time.time()) == second:
            return second, result
        time.sleep(2 - time.time() % 1)
    raise AssertionError(f"the action took more than a second {ATTEMPTS_MAX} times")


def retry_after_seconds(refusal: CosmosHttpResponseError) -> float:
    """Returns how long a refused client is told to wait."""
    milliseconds = refusal.headers["x-ms-retry-after-ms"]
    assert milliseconds.isdigit(), milliseconds
    assert int(milliseconds) >= 1
    return int(milliseconds) / 1000
