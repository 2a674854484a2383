"""Kills and pauses nodes of one account while clients of two SDKs use it, and looks for answers no order explains.

    python cluster_chaos.py --kills 200 --pauses 100 [--seed 7] [--store file|s3] [--bin PATH] [--report FILE]

Several nodes serve one account over one object store. Clients in Python and JavaScript read and write a few items
through any of them; every now and then a node is killed and started again, or stopped for longer than its lease. Every
operation is recorded with its answer, and at the end all of it is judged (`cluster_judge`):

* each item is linearizable, by the answers alone and by the order of versions in the change feed;
* nothing acknowledged is lost, nothing is done twice, nothing that was refused is there;
* readers of the change feed, which read all the time, saw every version once and in its order;
* partitions of a killed node serve again after `SERVED_AGAIN_SECONDS_MAX`, and others never stop (`cluster_figures`);
* no node logs an error or ends by itself, but one that was away for longer than its lease; SIGTERM ends each with 0;
* `armilla check` finds nothing.

What was recorded stays in the folder where something was wrong, and can be judged again with `--judge FOLDER`.
Choices follow from the seed. The moments at which things happen do not: a failure may need several runs to come again.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from azure.core.exceptions import AzureError
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError

from cluster_ceiling import Ceiling
from cluster_clients import PROCEDURE, PROCEDURE_BODY, connect
from cluster_figures import Trouble, figures
from cluster_history import Version, read_operations, read_versions, version_of
from cluster_judge import Verdict, judge
from cluster_processes import READY_SECONDS_MAX, STOP_SECONDS_MAX, FailedError, Node, Program
from feeds import ALL_VERSIONS, Reader
from server import REPOSITORY, binary
from weed import BUCKET, Weed

DATABASE = "chaos"
CONTAINER = "items"
PARTITION_RU = 1_000
# The items of each physical partition, and what is done to them.
KINDS = {"first": "register", "second": "register", "guest": "passing", "counter": "counter"}
SETTLE_SECONDS = (0.5, 2.5)
DOWN_SECONDS = (0.0, 4.0)
# How much longer than its lease a node is stopped.
AWAY_SECONDS = (1.0, 4.0)
# A node that was away finds out in this time, and ends.
NOTICE_SECONDS = 3.0
WHOLE_SECONDS_MAX = 60
# A killed node's partitions serve again: its lease, and what it takes to open them.
SERVED_AGAIN_SECONDS_MAX = 10.0
PROBE_MS = 200
PYTHON_CLIENTS_MAX = 4
SHOWN_MAX = 40

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_ERROR = re.compile(r"^(?:\S+\s+)?ERROR\b|^thread .* panicked at")
_WARNING = re.compile(r"^(?:\S+\s+)?WARN\b")
# What a node says that was away and finds that others have taken what it had: it cannot write, what it wanted to tidy up
# has been, and it ends.
_TAKEN = re.compile(
    r"another armilla has taken the store: ending"
    r"|slatedb::dispatcher: .*error=(?:Fenced|Closed)"
    r"|slatedb::garbage_collector: error collecting garbage .*ManifestMissing"
    r"|slatedb::wal::slatedb::writer: failed to flush WAL"
    r"|a group commit failed .*detected newer DB client"
)
_COORDINATES = re.compile(r"^(\S+)\s.*this node coordinates")


class Run:
    """One account, its nodes, its clients, and what happens to them."""

    def __init__(self, folder: Path, options: argparse.Namespace):
        self.folder = folder
        self.options = options
        self.random = random.Random(options.seed)
        self.weed = Weed(folder / "weed") if options.store == "s3" else None
        self.place = f"s3://{BUCKET}/chaos" if self.weed else f"file://{folder}/objects"
        self.environment: dict[str, str] = {}
        self.nodes: list[Node] = []
        self.programs: list[Program] = []
        self.ceiling: Ceiling | None = None
        self.troubles: list[Trouble] = []
        self.wrong: list[str] = []
        self.items: list[dict[str, str]] = []
        self.probes: list[dict[str, str]] = []
        self.began = 0
        self.exit_codes: Counter = Counter()

    def play(self) -> None:
        """Plays it from the start of the nodes to their end, and records what happens."""
        try:
            self._start_nodes()
            self._make_items()
            self._start_programs()
            for kind in self._kinds():
                time.sleep(self.random.uniform(*SETTLE_SECONDS))
                self._trouble(kind)
            time.sleep(SETTLE_SECONDS[1])
            self._end_programs()
            self._end_nodes()
        except FailedError:
            # What the clients have seen so far is judged all the same.
            with contextlib.suppress(FailedError, OSError):
                self._stop_clients()
            raise
        finally:
            if self.ceiling:
                self.ceiling.stop()
            self._record()
            for one in [*self.programs, *self.nodes]:
                one.end()
            if self.weed:
                self.weed.stop()

    def _kinds(self) -> list[str]:
        kinds = ["kill"] * self.options.kills + ["pause"] * self.options.pauses + ["stop"] * self.options.stops
        self.random.shuffle(kinds)
        return kinds

    def _start_nodes(self) -> None:
        if self.weed:
            self.environment = self.weed.start().environment()
            weed = self.weed
            self.ceiling = Ceiling(lambda name: weed.put(f"{BUCKET}/{name}")).start()
        flags = ["--store", self.place, "--node", "127.0.0.1:0", "--lease-seconds", str(self.options.lease_seconds)]
        for api in ("table", "mongo", "gremlin"):
            flags += [f"--{api}-port", "off"]
        flags += ["--consistency", "Strong", "--throttle", "off", "--continuous-backup", "7d"]
        flags += ["--physical-partition-ru", str(PARTITION_RU), "--slow-request-ms", "60000"]
        programs = [str(binary()), *([self.options.other_bin] if self.options.other_bin else [])]
        first = Node(0, self.folder, flags, self.environment, programs)
        self.nodes.append(first)
        first.start()
        tls = first.data / "tls"
        # Clients trust one certificate.
        flags = [*flags, "--tls-cert", str(tls / "cert.pem"), "--tls-key", str(tls / "key.pem")]
        for number in range(1, self.options.nodes):
            self.nodes.append(Node(number, self.folder, flags, self.environment, programs))
            self.nodes[-1].start()

    def _make_items(self) -> None:
        """Makes the container, and in every physical partition a few items."""
        self.clients = [connect(node.endpoint, READY_SECONDS_MAX) for node in self.nodes]
        database = self.clients[0].create_database(DATABASE)
        throughput = PARTITION_RU * self.options.partitions
        container = database.create_container(CONTAINER, PartitionKey("/pk"), offer_throughput=throughput)
        container.scripts.create_stored_procedure({"id": PROCEDURE, "body": PROCEDURE_BODY})
        ranges = list(container.read_feed_ranges())
        if len(ranges) != self.options.partitions:
            self.wrong.append(f"the container has {len(ranges)} physical partitions, not {self.options.partitions}")
        self.ranges: dict[str, str] = {}
        keys: dict[int, str] = {}
        number = 0
        while len(keys) < len(ranges):
            number += 1
            mine = container.feed_range_from_partition_key(f"key-{number}")
            place = next(at for at, one in enumerate(ranges) if container.is_feed_range_subset(one, mine))
            keys.setdefault(place, f"key-{number}")
        for place, key in sorted(keys.items()):
            self.ranges[key] = str(place)
            for id, kind in KINDS.items():
                self.items.append({"pk": key, "id": id, "kind": kind})
            self.probes.append({"pk": key, "id": "probe", "kind": "probe"})
        for item in [*self.items, *self.probes]:
            if item["kind"] != "passing":
                count = {"n": 0} if item["kind"] == "counter" else {}
                container.create_item({"id": item["id"], "pk": item["pk"], "v": "made", **count})
        self.reader = Reader(None, start_time="Now", mode=ALL_VERSIONS)
        if self.reader.read(container):
            self.wrong.append("a feed that starts now has changes of before")

    def _container(self, node: int):
        return self.clients[node].get_database_client(DATABASE).get_container_client(CONTAINER)

    def _start_programs(self) -> None:
        lease = self.options.lease_seconds
        config = {
            "folder": str(self.folder),
            "seed": self.options.seed,
            "endpoints": [node.endpoint for node in self.nodes],
            "certificate": str(self.nodes[0].data / "tls" / "cert.pem"),
            "database": DATABASE,
            "container": CONTAINER,
            "items": self.items,
            "probes": self.probes,
            "probe_ms": PROBE_MS,
            "pause_ms": self.options.pause_ms,
            "read_seconds": [lease + AWAY_SECONDS[1] + 15, lease / 2],
        }
        in_python = self.options.clients // 2
        processes = max(1, -(-in_python // PYTHON_CLIENTS_MAX))
        shares = [in_python // processes + (at < in_python % processes) for at in range(processes)]
        python = [sys.executable, str(Path(__file__).with_name("cluster_clients.py"))]
        javascript = ["node", str(REPOSITORY / "conformance" / "js" / "lib" / "chaos_client.mjs")]
        commands = [(f"python-{at}", python, share) for at, share in enumerate(shares)]
        commands.append(("javascript", javascript, self.options.clients - in_python))
        before = time.monotonic_ns()
        for name, command, count in commands:
            self.programs.append(Program(name, command, {**config, "clients": count}, self.folder))
        for program in self.programs:
            moment = int(program.hear("ready"))
            # Moments of all programs are compared: they have to be of one clock.
            if not before < moment <= time.monotonic_ns():
                raise FailedError(f"the clock of {program.name} is {moment}, and ours {time.monotonic_ns()}")
        self.began = time.monotonic_ns()
        self._tell("go")

    def _tell(self, words: str) -> None:
        for program in self.programs:
            program.tell(words)

    def _trouble(self, kind: str) -> None:
        """Does something to a node, or to two, and waits until all are there again."""
        count = 2 if self.options.overlap and self.random.random() < 0.5 else 1
        nodes = self.random.sample(self.nodes, count)
        self._tell("avoid " + ",".join(str(node.number) for node in nodes))
        found = []
        threads = []
        for node in nodes:
            trouble = Trouble(kind, node.number, time.monotonic_ns())
            found.append(trouble)
            lasts = self.random.uniform(*(AWAY_SECONDS if kind == "pause" else DOWN_SECONDS))
            threads.append(threading.Thread(target=self._one_trouble, args=(trouble, node, lasts)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.troubles += found
        if self.wrong:
            raise FailedError(*self.wrong)
        self._await_whole()
        for trouble in found:
            trouble.whole = time.monotonic_ns()
        self._tell("avoid")
        for trouble in found:
            lasted = (trouble.whole - trouble.began) / 1e9
            code = "" if trouble.exit_code is None else f", it ended with {trouble.exit_code}"
            print(f"{len(self.troubles)}: {kind} of node {trouble.node}: whole after {lasted:.1f} s{code}", flush=True)

    def _one_trouble(self, trouble: Trouble, node: Node, lasts: float) -> None:
        try:
            if trouble.kind == "kill":
                node.signal(signal.SIGKILL)
                # What it answered before is not to count as an answer of another node.
                trouble.began = time.monotonic_ns()
                time.sleep(lasts)
                node.start()
            elif trouble.kind == "stop":
                self._stop(node)
                time.sleep(lasts)
                node.start()
            else:
                node.was_away.add(node.starts)
                node.signal(signal.SIGSTOP)
                trouble.began = time.monotonic_ns()
                time.sleep(self.options.lease_seconds + lasts)
                node.signal(signal.SIGCONT)
                trouble.exit_code = node.exit_code(NOTICE_SECONDS)
                if trouble.exit_code is not None:
                    node.start()
                self.exit_codes[trouble.exit_code] += 1
            trouble.ended = time.monotonic_ns()
        except FailedError as error:
            self.wrong += [str(one) for one in error.args]

    def _await_whole(self) -> None:
        """Waits until every node serves every physical partition."""
        deadline = time.monotonic() + WHOLE_SECONDS_MAX
        for node in self.nodes:
            for probe in self.probes:
                while True:
                    if node.exit_code() is not None:
                        if node.starts not in node.was_away:
                            raise FailedError(f"node {node.number} ended by itself with {node.exit_code()}")
                        self.exit_codes[node.exit_code()] += 1
                        node.start()
                    try:
                        self._container(node.number).read_item(probe["id"], probe["pk"])
                        break
                    except (AzureError, OSError) as error:
                        if time.monotonic() > deadline:
                            raise FailedError(f"node {node.number} does not serve {probe}: {error}") from error
                    time.sleep(0.1)

    def _end_programs(self) -> None:
        self._stop_clients()
        self._read_items()
        self._tell("end")
        for program in self.programs:
            told = json.loads(program.hear("ended"))
            if told["wrong"]:
                self.wrong.append(f"{program.name}: {told['wrong']}")
        with (self.folder / "whole-feed.jsonl").open("w") as lines:
            for change in self.reader.read(self._container(self.random.randrange(len(self.nodes)))):
                lines.write(json.dumps(dataclasses.asdict(version_of(change))) + "\n")

    def _stop_clients(self) -> None:
        self.ended = time.monotonic_ns()
        self._tell("stop")
        for program in self.programs:
            self.wrong += json.loads(program.hear("stopped"))

    def _read_items(self) -> None:
        """Reads every item through every node, as operations of a client of its own."""
        with (self.folder / "operations-final.jsonl").open("w") as lines:
            for node in self.nodes:
                container = self._container(node.number)
                for item in [*self.items, *self.probes]:
                    name = f"{item['pk']}/{item['id']}"
                    record = {"client": "final", "item": name, "kind": "read", "outcome": "ok", "node": node.number}
                    record["invoked"] = time.monotonic_ns()
                    try:
                        found = container.read_item(item["id"], item["pk"])
                        record |= {"seen": found["v"], "count": found.get("n"), "status": 200}
                    except CosmosHttpResponseError as error:
                        if error.status_code != 404:
                            raise
                        record["status"] = 404
                    lines.write(json.dumps({**record, "returned": time.monotonic_ns()}) + "\n")

    def _end_nodes(self) -> None:
        self.random.shuffle(self.nodes)
        for node in self.nodes:
            self._stop(node)
        command = [str(binary()), "check", "--store", self.place]
        environment = {**os.environ, **self.environment}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0:
            self.wrong.append(f"armilla check: {done.returncode}: {done.stdout[-2_000:]} {done.stderr[-2_000:]}")

    def _stop(self, node: Node) -> None:
        node.signal(signal.SIGTERM)
        code = node.exit_code(STOP_SECONDS_MAX)
        if code != 0:
            log = node.log(node.starts).read_text(errors="replace")[-1_000:]
            self.wrong.append(f"SIGTERM ended node {node.number} with {code}: {log}")
            node.end()

    def _record(self) -> None:
        """Keeps what is needed to judge it."""
        kept = {
            "seed": self.options.seed,
            "lease_seconds": self.options.lease_seconds,
            "began": self.began,
            "wall_clock_ahead": time.time_ns() - time.monotonic_ns(),
            "ended": getattr(self, "ended", time.monotonic_ns()),
            "troubles": [dataclasses.asdict(trouble) for trouble in self.troubles],
            "items": self.items,
            "probes": self.probes,
            "ceiling": self.ceiling and {"puts": self.ceiling.puts, "sleeps": self.ceiling.sleeps},
            "ranges": getattr(self, "ranges", {}),
            "starts": {node.number: node.starts for node in self.nodes},
            "was_away": {node.number: sorted(node.was_away) for node in self.nodes},
            "exit_codes_after_pauses": {str(code): count for code, count in self.exit_codes.items()},
        }
        (self.folder / "run.json").write_text(json.dumps(kept))


def judge_folder(folder: Path) -> Verdict:
    """Judges what a run has recorded."""
    kept = json.loads((folder / "run.json").read_text())
    operations = read_operations(folder)
    initial: dict[str, Version | None] = {}
    for item in [*kept["items"], *kept["probes"]]:
        count = 0 if item["kind"] == "counter" else None
        made = Version(f"{item['pk']}/{item['id']}", 0, "create", "made", count)
        initial[made.item] = None if item["kind"] == "passing" else made
    final = {name: None for name, version in initial.items() if version and version.count is not None}
    final |= {one.item: one.count for one in operations if one.client == "final" and one.item in final}
    feed = folder / "whole-feed.jsonl"
    whole = read_versions(feed) if feed.exists() else None
    readers = {file.stem: read_versions(file) for file in sorted(folder.glob("feed-*.jsonl"))}
    # What was there before has a commit that was not told.
    for version in whole or []:
        first = initial.get(version.item)
        if first is not None and first.lsn == 0:
            first.lsn = version.previous_lsn or 0
    verdict = judge(operations, initial, kept["ranges"], whole, readers, final)
    _judge_logs(folder, kept, verdict)
    troubles = [Trouble(**trouble) for trouble in kept["troubles"]]
    coordinators = _coordinators(folder, kept)
    for trouble in troubles:
        before = [node for moment, node in coordinators if moment < trouble.began]
        trouble.coordinated = before[-1:] == [trouble.node]
    verdict.figures |= {
        "seed": kept["seed"],
        "seconds": round((kept["ended"] - kept["began"]) / 1e9, 1),
        "troubles": dict(Counter(trouble.kind for trouble in troubles)),
        "exit_codes_after_pauses": kept["exit_codes_after_pauses"],
        "refusals": _refusals(operations),
        "availability": figures(operations, troubles, kept["ended"], kept["lease_seconds"], kept.get("ceiling")),
    }
    of_kills = verdict.figures["availability"].get("kill")
    verdict.wrong += _late(of_kills) if of_kills else []
    return verdict


def _late(of_kills: dict[str, dict[str, Any]]) -> list[str]:
    """Returns what is wrong with how soon partitions of killed nodes served again.

    While the store or the machine stands still no node can serve; where that is most of the time, nothing was shown.
    """
    all_of_them, calm = of_kills["seconds_until_hurt_served_again"], of_kills["of_those_without_a_stall"]
    if 2 * calm["count"] < all_of_them["count"]:
        return [
            f"the store or the machine stood still in most kills: {calm['count']} of {all_of_them['count']} are left"
        ]
    if calm["p99"] is not None and calm["p99"] > SERVED_AGAIN_SECONDS_MAX:
        return [f"partitions of killed nodes served again after {calm['p99']} s (p99)"]
    return []


def _refusals(operations: list) -> dict[str, int]:
    counts = Counter(
        f"{one.outcome} {one.status}/{one.sub_status}" for one in operations if one.outcome != "ok" and not one.tells()
    )
    return dict(counts.most_common())


def _coordinators(folder: Path, kept: dict[str, Any]) -> list[tuple[int, int]]:
    """Returns since when which node has told the others what they have, by the monotonic clock."""
    found = []
    for number, starts in kept["starts"].items():
        for start in range(1, starts + 1):
            for line in _ANSI.sub("", (folder / f"node-{number}-{start}.log").read_text(errors="replace")).splitlines():
                if match := _COORDINATES.match(line):
                    moment = datetime.fromisoformat(match.group(1)).timestamp()
                    found.append((int(moment * 1e9) - kept["wall_clock_ahead"], int(number)))
    return sorted(found)


def _judge_logs(folder: Path, kept: dict[str, Any], verdict: Verdict) -> None:
    """Looks for errors in the logs, and counts the warnings by what they say."""
    warnings: Counter = Counter()
    errors: dict[str, list[str]] = {}
    for number, starts in kept["starts"].items():
        for start in range(1, starts + 1):
            log = folder / f"node-{number}-{start}.log"
            was_away = start in kept["was_away"][number]
            for line in _ANSI.sub("", log.read_text(errors="replace")).splitlines():
                if _ERROR.search(line) and not (was_away and _TAKEN.search(line)):
                    errors.setdefault(_same(line.partition("ERROR")[2] or line), []).append(f"{log.name}: {line}")
                elif _WARNING.search(line):
                    warnings[_same(line.partition("WARN")[2])] += 1
    verdict.wrong += [f"{len(lines)} lines in logs, such as {lines[0][:500]}" for lines in errors.values()]
    verdict.figures["warnings"] = dict(warnings.most_common(20))


def _same(line: str) -> str:
    """Returns what lines have in common that differ in names and numbers."""
    without_ids = re.sub(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "ID", line)
    return re.sub(r"\d+", "N", without_ids).strip()[:160]


def run(folder: Path, options: argparse.Namespace) -> Verdict:
    """Plays a run and judges it."""
    played = Run(folder, options)
    failed: list[str] = []
    try:
        played.play()
    except FailedError as error:
        failed = [str(one) for one in error.args]
    verdict = judge_folder(folder)
    verdict.wrong = list(dict.fromkeys([*failed, *played.wrong, *verdict.wrong]))
    return verdict


def arguments() -> argparse.ArgumentParser:
    """Returns what can be chosen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pauses", type=int, default=10)
    parser.add_argument("--stops", type=int, default=0, help="how often a node is ended by SIGTERM and started again")
    parser.add_argument("--seed", type=int, default=None, help="what choices follow from (default: the time)")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--clients", type=int, default=16, help="half of them Python, half JavaScript")
    parser.add_argument("--partitions", type=int, default=9, help="physical partitions of the container")
    parser.add_argument("--lease-seconds", type=int, default=6)
    parser.add_argument("--pause-ms", type=float, default=40, help="a client's pause between operations, on average")
    parser.add_argument("--overlap", action="store_true", help="two nodes are in trouble at once, half of the times")
    parser.add_argument("--store", choices=["file", "s3"], default="s3", help="a folder, or SeaweedFS")
    parser.add_argument("--bin", help="the server program (default: ARMILLA_BIN, or the debug build)")
    parser.add_argument("--other-bin", help="another version of it: nodes are started with one and the other in turn")
    parser.add_argument("--folder", type=Path, help="folder for everything; kept (default: a new one)")
    parser.add_argument("--report", type=Path, help="file for figures and violations, as JSON")
    parser.add_argument("--judge", type=Path, metavar="FOLDER", help="judge what a run has recorded, and run nothing")
    return parser


def main() -> int:
    """Runs from the command line."""
    options = arguments().parse_args()
    if options.bin:
        os.environ["ARMILLA_BIN"] = options.bin
    if options.judge:
        folder, verdict = options.judge, judge_folder(options.judge)
    else:
        options.seed = int(time.time()) if options.seed is None else options.seed
        folder = options.folder or Path(tempfile.mkdtemp(prefix="cluster-chaos-"))
        folder.mkdir(parents=True, exist_ok=True)
        print(f"seed {options.seed}, {folder}", flush=True)
        verdict = run(folder, options)
    report = {"violations": verdict.wrong, "undecided": verdict.undecided, **verdict.figures}
    if options.report:
        options.report.write_text(json.dumps(report, indent=2) + "\n")
    print(json.dumps(verdict.figures, indent=2))
    for one in verdict.undecided:
        print(f"UNDECIDED {one}")
    for one in verdict.wrong[:SHOWN_MAX]:
        print(f"VIOLATION {one}")
    if verdict.wrong:
        print(f"{len(verdict.wrong)} violations; everything is in {folder}; again: {_again(options)}")
        return 1
    if not options.judge and not options.folder:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def _again(options: argparse.Namespace) -> str:
    if options.judge:
        return f"python cluster_chaos.py --judge {options.judge}"
    chosen = [f"--seed {options.seed} --kills {options.kills} --pauses {options.pauses} --stops {options.stops}"]
    chosen.append(
        f"--nodes {options.nodes} --clients {options.clients} --partitions {options.partitions} --store {options.store}"
    )
    chosen.append(f"--lease-seconds {options.lease_seconds} --pause-ms {options.pause_ms}")
    if options.overlap:
        chosen.append("--overlap")
    if options.other_bin:
        chosen.append(f"--other-bin {options.other_bin}")
    return "python cluster_chaos.py " + " ".join(chosen)


if __name__ == "__main__":
    sys.exit(main())
