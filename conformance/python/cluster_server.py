#!/usr/bin/env python3
"""Looks like the server's program, and is several nodes of it behind what spreads requests over them.

    ARMILLA_BIN=.../cluster_server.py ARMILLA_CLUSTER_BIN=.../armilla ARMILLA_TEST_NODES=3 npm test

So suites that start a server of their own test a cluster without knowing it. Commands that do not serve, and servers in
memory, are passed on to the program as they are.
"""

import ctypes
import functools
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

program = os.environ["ARMILLA_CLUSTER_BIN"]
os.environ["ARMILLA_BIN"] = program
os.environ.setdefault("ARMILLA_TEST_NODES", "3")
# What the program does where nothing is said; the suite in Python has its own.
os.environ.setdefault("ARMILLA_INITIAL_PARTITION_RU", "6000")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from server import _ENDED_NODE, Server  # noqa: E402

PR_SET_PDEATHSIG = 1
LOOK_PERIOD = 0.02

# Nodes end with what stands for them, whatever ends that.
subprocess.Popen = functools.partial(
    subprocess.Popen, preexec_fn=lambda: ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
)


def main() -> int:
    arguments = sys.argv[1:]
    if not arguments or not arguments[0].startswith("--") or {"--memory", "--store", "--help"} & set(arguments):
        os.execv(program, [program, *arguments])
    data, ports, flags = _sorted_out(arguments)
    asked = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: asked.append(number))
    logs = data.parent / f"{data.name}-logs"
    logs.mkdir(parents=True, exist_ok=True)
    instance = Server(logs, *flags)
    instance.data_folder = data
    over = threading.Event()
    before = set(logs.glob("*/stderr-*")) | set(logs.glob("stderr-*")) | set(data.parent.glob("*-node-*/stderr-*"))
    telling = threading.Thread(target=_tell, args=(data, logs, before, over))
    telling.start()
    instance.ready = {name: f"http://localhost:{port}/" for name, port in ports.items() if port}
    instance.start()
    line = " ".join(f"{name}={address}" for name, address in instance.ready.items())
    print(f"armilla ready: {line}", flush=True)
    while not asked:
        signal.pause()
    code = instance.stop(asked[0])
    over.set()
    telling.join()
    return code


def _tell(data: Path, logs: Path, before: set[Path], over: threading.Event) -> None:
    """Says what the nodes say."""
    told: dict[Path, int] = {}
    is_last = False
    while not is_last:
        is_last = over.is_set()
        for log in [*logs.glob("stderr-*"), *data.parent.glob(f"{data.name}-node-*/stderr-*")]:
            if log in before:
                continue
            with log.open("rb") as file:
                file.seek(told.get(log, 0))
                text = file.read()
            whole = text[: text.rfind(b"\n") + 1] if not is_last else text
            told[log] = told.get(log, 0) + len(whole)
            # What is killed here is killed on purpose.
            lines = [line for line in whole.splitlines(keepends=True) if _ENDED_NODE.encode() not in line]
            sys.stderr.buffer.writelines(lines)
            sys.stderr.buffer.flush()
        time.sleep(LOOK_PERIOD)


def _sorted_out(arguments: list[str]) -> tuple[Path, dict[str, int], list[str]]:
    """Returns the data folder, the ports that are asked for, and all other flags."""
    names = {"--port": "sql", "--table-port": "table", "--mongo-port": "mongo", "--gremlin-port": "gremlin"}
    data, ports, flags = Path("armilla-data"), {}, []
    words = iter(arguments)
    for word in words:
        if word == "--data-dir":
            data = Path(next(words))
        elif word in names:
            value = next(words)
            if value.isdigit():
                ports[names[word]] = int(value)
            else:
                flags += [word, value]
        else:
            flags.append(word)
    return data, ports, flags


if __name__ == "__main__":
    sys.exit(main())
