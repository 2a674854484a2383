"""The processes of `cluster_chaos`: nodes, each on a port that it keeps, and programs with clients."""

import contextlib
import json
import os
import queue
import random
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

READY_SECONDS_MAX = 90
STOP_SECONDS_MAX = 60
WORD_SECONDS_MAX = 180
PORTS = range(10_000, 19_000)


class FailedError(Exception):
    """The run cannot go on; the arguments say why."""


class Node:
    """A process on a port that it keeps."""

    def __init__(
        self, number: int, folder: Path, flags: list[str], environment: dict[str, str], programs: list[str]
    ):
        self.number = number
        # One after the other, start by start: so versions serve beside each other.
        self._programs = programs
        self.folder = folder
        self.port = _free_port()
        self._flags = flags
        self._environment = {**os.environ, **environment, "NO_COLOR": "1"}
        self._process: subprocess.Popen | None = None
        self.starts = 0
        # Starts of a process that was stopped for longer than its lease later on.
        self.was_away: set[int] = set()

    @property
    def endpoint(self) -> str:
        """Where clients reach it."""
        return f"https://localhost:{self.port}/"

    @property
    def data(self) -> Path:
        """Its data folder."""
        return self.folder / f"node-{self.number}"

    def log(self, start: int) -> Path:
        """The log of one of its processes."""
        return self.folder / f"node-{self.number}-{start}.log"

    def start(self) -> None:
        """Starts it and waits for its ready line."""
        self.starts += 1
        program = self._programs[(self.number + self.starts) % len(self._programs)]
        command = [program, "--port", str(self.port), "--data-dir", str(self.data), *self._flags]
        with self.log(self.starts).open("wb") as log:
            self._process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=self._environment
            )
        lines = _lines_of(self._process)
        line = _next(lines, READY_SECONDS_MAX)
        if line is None or not line.startswith("armilla ready:"):
            self.signal(signal.SIGKILL)
            log = self.log(self.starts).read_text(errors="replace")[-1_500:]
            raise FailedError(f"node {self.number} does not start: {line!r}; {log}")

    def exit_code(self, seconds: float = 0) -> int | None:
        """Returns its exit code, if it ends in this time."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def signal(self, number: signal.Signals) -> None:
        """Sends it a signal; waits for its end where that is sure."""
        self._process.send_signal(number)
        if number == signal.SIGKILL:
            self._process.wait()

    def end(self) -> None:
        """Ends it, whatever state it is in."""
        if self._process is not None and self._process.poll() is None:
            self.signal(signal.SIGKILL)


class Program:
    """A process with clients, which is told what to do in words."""

    def __init__(self, name: str, command: list[str], config: dict[str, Any], folder: Path):
        self.name = name
        file = folder / f"{name}.json"
        file.write_text(json.dumps({**config, "name": name}))
        self._log = folder / f"{name}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self._lines = _lines_of(self._process)

    def hear(self, word: str) -> str:
        """Waits for a word, and returns what follows it."""
        line = _next(self._lines, WORD_SECONDS_MAX)
        if line is None or line.split()[0] != word:
            log = self._log.read_text(errors="replace")[-1_500:]
            raise FailedError(f"{self.name} does not say {word}: {line!r}; {log}")
        return line.removeprefix(word).strip()

    def tell(self, words: str) -> None:
        """Tells it something."""
        self._process.stdin.write(words + "\n")
        self._process.stdin.flush()

    def end(self) -> None:
        """Ends it, whatever it does."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


def _lines_of(process: subprocess.Popen) -> "queue.Queue[str | None]":
    lines: queue.Queue[str | None] = queue.Queue()

    def pump() -> None:
        for line in process.stdout:
            lines.put(line.rstrip("\n"))
        lines.put(None)

    threading.Thread(target=pump, daemon=True).start()
    return lines


def _next(lines: "queue.Queue[str | None]", timeout: float) -> str | None:
    try:
        return lines.get(timeout=timeout)
    except queue.Empty:
        return None


_given: set[int] = set()


def _free_port() -> int:
    """Returns a port below those that the system gives to clients, so that it is free again after a kill."""
    for port in random.sample(PORTS, len(PORTS)):
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            if port not in _given:
                _given.add(port)
                return port
    raise FailedError("there is no free port")
