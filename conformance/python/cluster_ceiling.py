"""What no node can be faster than, measured beside a run of `cluster_chaos`: the object store and the machine.

A small object is put into the store again and again, and a thread sleeps again and again and sees how late it wakes up.
Where those stand still, so does every node, and what that lasted says nothing of the nodes.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from http.client import HTTPException

PUT_PERIOD_SECONDS = 0.25
SLEEP_SECONDS = 0.05
# A put that takes longer is a stall of the store, and so is waking up as much too late of the machine.
STALL_SECONDS = 1.0
NS = 1_000_000_000


class Ceiling:
    """Measures until it is told to stop."""

    def __init__(self, put: Callable[[str], None]):
        self._put = put
        self._over = threading.Event()
        # From and until when, in nanoseconds of the monotonic clock.
        self.puts: list[tuple[int, int]] = []
        self.sleeps: list[tuple[int, int]] = []
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._put_on, self._sleep_on)]

    def start(self) -> "Ceiling":
        """Begins."""
        for thread in self._threads:
            thread.start()
        return self

    def stop(self) -> None:
        """Ends."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _put_on(self) -> None:
        number = 0
        while not self._over.wait(PUT_PERIOD_SECONDS):
            began = time.monotonic_ns()
            number += 1
            # One that failed is over as well, and the next one tells how long it goes on.
            with contextlib.suppress(OSError, HTTPException):
                self._put(f"ceiling/{number % 16}")
            self.puts.append((began, time.monotonic_ns()))

    def _sleep_on(self) -> None:
        while not self._over.is_set():
            began = time.monotonic_ns()
            time.sleep(SLEEP_SECONDS)
            ended = time.monotonic_ns()
            # What is not late is not kept: there are too many of them.
            if ended - began > 2 * SLEEP_SECONDS * NS:
                self.sleeps.append((began, ended))


def stalls(puts: list, sleeps: list) -> list[tuple[int, int]]:
    """Returns when the store or the machine stood still."""
    return sorted((began, ended) for began, ended in [*puts, *sleeps] if ended - began > STALL_SECONDS * NS)


def spans(moments: list) -> list[float]:
    """Returns how long each lasted, in seconds."""
    return [(ended - began) / NS for began, ended in moments]


def is_stalled(stalled: list[tuple[int, int]], began: int, ended: int) -> bool:
    """Whether something stood still in between."""
    return any(one < ended and other > began for one, other in stalled)
