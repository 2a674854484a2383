"""Writes what becomes of each test of PyMongo's to a file, line by line, and ends a run whose test hangs.

A run that was ended can be begun again: tests that are in the file are left out then. pytest's own file of results is
written at the end only, and its plugin for time limits takes a signal that some of these tests need for themselves.

OWN_LINES is the file, OWN_TEST_SECONDS_MAX how long a test may take.
"""

import json
import os
import threading
import time

TIMED_OUT = 99
REASON_CHARACTERS_MAX = 600

LINES = os.environ["OWN_LINES"]
SECONDS_MAX = float(os.environ.get("OWN_TEST_SECONDS_MAX", "60"))

# These raise an interrupt after a second of waiting for JavaScript, which then hits whatever runs.
LEFT_OUT = ("::test_interrupt_signal",)

current: dict = {"test": None, "since": 0.0}
outcomes: dict[str, tuple[str, str]] = {}


def note(test: str, outcome: str, reason: str) -> None:
    """Adds a line."""
    with open(LINES, "a", encoding="utf-8") as lines:
        lines.write(json.dumps({"test": test, "outcome": outcome, "reason": reason}) + "\n")


def watch() -> None:
    """Ends the process when a test takes too long."""
    while True:
        time.sleep(0.5)
        test, since = current["test"], current["since"]
        if test is not None and time.monotonic() - since > SECONDS_MAX:
            note(test, "failed", f"took more than {SECONDS_MAX:.0f} seconds")
            os._exit(TIMED_OUT)


def pytest_configure(config) -> None:
    """Begins to watch; hides that the tests run in a container, which they take for something else."""
    import pymongo.pool_options

    pymongo.pool_options.DOCKER_ENV_PATH = "/nonexistent"
    threading.Thread(target=watch, daemon=True).start()


def pytest_collection_modifyitems(items: list, config) -> None:
    """Leaves out what a run before did."""
    done = set()
    if os.path.exists(LINES):
        with open(LINES, encoding="utf-8") as lines:
            done = {json.loads(line)["test"] for line in lines}
    for item in items:
        if item.nodeid.endswith(LEFT_OUT) and item.nodeid not in done:
            note(item.nodeid, "failed", "left out: it would interrupt another test")
            done.add(item.nodeid)
    items[:] = [item for item in items if item.nodeid not in done]


def pytest_runtest_logstart(nodeid: str) -> None:
    """Notes which test runs."""
    current.update(test=nodeid, since=time.monotonic())


def pytest_runtest_logreport(report) -> None:
    """Keeps the worst outcome of a test's phases and parts."""
    known = outcomes.get(report.nodeid, ("passed", ""))[0]
    if report.failed and known != "failed":
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = crash.message if crash is not None else str(report.longrepr)
        outcomes[report.nodeid] = ("failed", " ".join(reason.split())[:REASON_CHARACTERS_MAX])
    elif report.skipped and known == "passed" and not hasattr(report, "context"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        outcomes[report.nodeid] = ("skipped", " ".join(reason.split())[:REASON_CHARACTERS_MAX])
    else:
        outcomes.setdefault(report.nodeid, ("passed", ""))


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Writes the outcome."""
    current.update(test=None)
    note(nodeid, *outcomes.pop(nodeid, ("passed", "")))
