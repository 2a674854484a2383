"""Kills the server while gremlinpython writes a graph, starts it again, and looks for what it lost.

    python gremlin_crash.py --rounds 100 [--seed 7] [--bin PATH]

Each round some threads write, the server is killed at a random moment and started again on the same ports while they
go on. Then they stop, and everything stored is compared with what was answered:

* vertices and edges that one thread writes alone: nothing acknowledged is lost, and nothing is there that was not
  asked for;
* a traversal whose answer never came: in each logical partition that it wrote to, all of it or nothing;
* so no edge is there without the vertex that it leaves, if one traversal wrote or dropped both;
* counters that all threads raise: none of them raises what another has raised meanwhile;
* what an index finds, and what is found along edges, is what a list of everything has.

A traversal that ended with a lost connection may be done or not. Its thread looks before it goes on, and knows then;
what was seen once stays.

Choices follow from the seed. The moments at which things happen do not: a failure may need several runs to come again.
"""

import argparse
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from azure.cosmos import CosmosClient, PartitionKey

from gremlin_writers import Door, Judge, ViolationError, Writer
from server import KEY, Server, binary

FLAGS = ("--throttle", "off", "--durability", "strict")
GRAPH = "/dbs/crash/colls/graph"
# Enough throughput for several physical partitions.
THROUGHPUT = 30_000
WRITING_SECONDS = (0.2, 1.6)
AFTER_SECONDS = (0.3, 0.9)
JOIN_SECONDS_MAX = 90
CHECK_EVERY = 10
SECOND_KILL_SHARE = 0.2
SHOWN_MAX = 20


class Trial:
    """A server, its writers, and what must hold."""

    def __init__(self, folder: Path, seed: int, threads: int):
        self.seed = seed
        self.server = Server(folder, *FLAGS).start()
        self.writers = [Writer(self.server, GRAPH, number) for number in range(threads)]
        self.judge = Judge(Door(self.server, GRAPH, 0), self.writers)
        with CosmosClient(self.server.https, KEY) as client:
            database = client.create_database("crash")
            database.create_container("graph", PartitionKey("/pk"), offer_throughput=THROUGHPUT)
        self.judge.prepare()

    def round(self, number: int) -> str:
        """Writes, kills, starts again, writes on, and checks; returns what happened."""
        chance = random.Random(f"{self.seed}-{number}")
        stopped = threading.Event()
        threads = []
        for writer in self.writers:
            writer.random = random.Random(f"{self.seed}-{number}-{writer.number}")
            writer.operations = writer.unknown = writer.halves = 0
            threads.append(threading.Thread(target=writer.run, args=(stopped,), daemon=True))
            threads[-1].start()
        seconds = chance.uniform(*WRITING_SECONDS)
        time.sleep(seconds)
        kills = 1
        self._kill_and_start()
        if chance.random() < SECOND_KILL_SHARE:
            # While writers look what became of their traversals.
            time.sleep(chance.uniform(0, 0.5))
            kills += 1
            self._kill_and_start()
        time.sleep(chance.uniform(*AFTER_SECONDS))
        stopped.set()
        deadline = time.monotonic() + JOIN_SECONDS_MAX
        for thread in threads:
            thread.join(max(0, deadline - time.monotonic()))
            if thread.is_alive():
                raise ViolationError(f"a writer did not end within {JOIN_SECONDS_MAX} s")
        complaints = self.judge.take_violations()
        done, unknown, halves = (
            sum(getattr(writer, name) for writer in self.writers) for name in ("operations", "unknown", "halves")
        )
        found = self.judge.verify(chance, complaints)
        if complaints:
            raise ViolationError(*complaints)
        times = f"{kills} kills, the first after {seconds:.2f} s" if kills > 1 else f"killed after {seconds:.2f} s"
        return f"{times}, {done} traversals, {unknown} of unknown outcome ({halves} done in some partitions), {found}"

    def _kill_and_start(self) -> None:
        self.server.stop(signal.SIGKILL)
        self._look_at_log()
        self.server.start_again()

    def _look_at_log(self) -> None:
        if lines := self.server.complaints():
            raise ViolationError(*(f"logged: {line}" for line in lines))

    def check_folder(self) -> None:
        """Verifies the data folder of the killed server, and starts it again."""
        self.server.stop(signal.SIGKILL)
        self._look_at_log()
        command = [str(binary()), "check", "--data-dir", str(self.server.data_folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ViolationError(f"armilla check: {done.returncode}: {done.stdout[-2000:]} {done.stderr[-2000:]}")
        self.server.start_again()

    def close(self) -> None:
        """Ends clients and server."""
        self.server.kill()
        for door in [self.judge.door, *(writer.door for writer in self.writers)]:
            door.close()


def run(folder: Path, rounds: int, seed: int, threads: int = 6, goes_on: bool = False) -> list[str]:
    """Plays rounds; returns what was wrong, of the first round in which something was or of all."""
    trial = Trial(folder, seed, threads)
    wrong: list[str] = []
    try:
        for number in range(1, rounds + 1):
            began = time.monotonic()
            try:
                line = trial.round(number)
                if number % CHECK_EVERY == 0 or number == rounds:
                    trial.check_folder()
                    line += ", check clean"
                print(f"round {number}: {line}, {time.monotonic() - began:.1f} s", flush=True)
            except ViolationError as violation:
                found = [f"round {number}: {one}" for one in violation.args]
                for one in found[:SHOWN_MAX]:
                    print(f"VIOLATION {one}", flush=True)
                if len(found) > SHOWN_MAX:
                    print(f"and {len(found) - SHOWN_MAX} more", flush=True)
                wrong += found
                if not goes_on:
                    break
        return wrong
    finally:
        trial.close()


def main() -> int:
    """Runs from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=None, help="what choices follow from (default: the time)")
    parser.add_argument("--threads", type=int, default=6)
    parser.add_argument("--keep-going", action="store_true", help="play on after a violation")
    parser.add_argument("--bin", help="the server program (default: ARMILLA_BIN, or the debug build)")
    parser.add_argument("--folder", type=Path, help="folder for data and log (default: a new one)")
    options = parser.parse_args()
    # The driver tells every refusal and every connection that was cut, which is what is done here.
    for name in ("gremlinpython", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Nor can it always end its event loop when it is collected.
    sys.unraisablehook = lambda _: None
    if options.bin:
        os.environ["ARMILLA_BIN"] = options.bin
    seed = int(time.time()) if options.seed is None else options.seed
    folder = options.folder or Path(tempfile.mkdtemp(prefix="gremlin-crash-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {seed}, {folder}", flush=True)
    wrong = run(folder, options.rounds, seed, options.threads, options.keep_going)
    if wrong:
        print(f"{len(wrong)} violations with --seed {seed}; the data is in {folder}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
