"""Kills the server while PyMongo writes through the MongoDB API, starts it again, and looks for what it lost.

    python mongo_crash.py --rounds 100 [--seed 7] [--bin PATH]

Each round some threads write, the server is killed at a random moment and started again on the same ports while they
go on: the driver sends a write again whose answer never came. Then they stop, and everything stored is compared with
what was answered:

* documents that one thread writes alone: nothing acknowledged is lost, and nothing is there that was not asked for;
* counters that all threads raise: a write that was sent twice counts once;
* transfers between accounts, as transactions: all of one or nothing, once, and balances are those of the journal;
* what an index finds is what a scan finds.

A write that ended with a lost connection may be there or not; once it was looked at, it is known.

Choices follow from the seed. The moments at which things happen do not: a failure may need several runs to come again.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pymongo import MongoClient, ReturnDocument
from pymongo.collection import Collection
from pymongo.errors import ConnectionFailure, OperationFailure

from mongo import connect
from server import Server, binary

FLAGS = ("--throttle", "off", "--durability", "strict")
DATABASE = "crash"
CITIES = ("Oslo", "Rome", "Bonn", "Kyiv", "Faro")
ACCOUNTS = 8
COUNTERS = 3
# More than this, and threads delete rather than insert.
DOCUMENTS_OF_THREAD_MAX = 150
VALUE_MAX = 60
WRITING_SECONDS = (0.2, 2.0)
# The driver looks for the server again every half second; after that come the writes that are sent twice.
AFTER_SECONDS = (0.5, 1.2)
JOIN_SECONDS_MAX = 90
CHECK_EVERY = 10
SECOND_KILL_SHARE = 0.2
SHOWN_MAX = 20

State = tuple[int, int] | None


class ViolationError(Exception):
    """The server did what it must not; the arguments say what was seen."""


class AbortedError(Exception):
    """A transaction that its own thread gives up."""


class Model:
    """What may be stored of the documents that one thread writes: for each the states that are possible."""

    def __init__(self, thread: int, is_sharded: bool):
        self.thread = thread
        self.is_sharded = is_sharded
        self.possible: dict[str, set[State]] = {}
        self.created = 0

    def body(self, id: str, state: tuple[int, int]) -> dict[str, Any]:
        """Returns the document as it is in a state."""
        v, w = state
        document = {"_id": id, "owner": self.thread, "unique": id, "v": v, "w": w, "tags": [v % 7, f"t{v % 5}"]}
        if self.is_sharded:
            document["city"] = self.city(id)
        return document

    def city(self, id: str) -> str:
        """Returns the shard key of a document."""
        return CITIES[int(id.split("-")[1]) % len(CITIES)]

    def new_id(self) -> str:
        """Returns an id that was never used."""
        self.created += 1
        return f"{self.thread}-{self.created}"

    def may(self, id: str, change: Callable[[tuple[int, int]], State]) -> None:
        """A write to a document that is there, of unknown outcome."""
        before = self.possible[id]
        self.possible[id] = before | {change(state) for state in before if state is not None}

    def did(self, id: str, change: Callable[[tuple[int, int]], State], matched: bool) -> None:
        """A write to a document, with the answer whether it was there."""
        before = self.possible[id]
        held = {state for state in before if (state is not None) == matched}
        if not held:
            raise ViolationError(f"a write to {id} matched {int(matched)}, but its states are {before}")
        self.possible[id] = {change(state) if state is not None else None for state in held}

    def seen(self, id: str, state: State) -> None:
        """A document was read."""
        if state not in self.possible.get(id, {None}):
            raise ViolationError(f"{id} is {state}, but its states are {self.possible.get(id)}")
        self.possible[id] = {state}


def state_of(document: dict[str, Any] | None) -> State:
    """Returns the state of a document that was read."""
    return None if document is None else (document["v"], document["w"])


class Writer:
    """A thread that writes, and remembers what was answered."""

    def __init__(self, number: int, client: MongoClient, is_sharded: bool, does_transfers: bool):
        self.number = number
        self.client = client
        self.does_transfers = does_transfers
        self.collection: Collection = client[DATABASE]["people" if is_sharded else "notes"]
        self.model = Model(number, is_sharded)
        self.known_raises: Counter = Counter()
        self.unknown_raises: Counter = Counter()
        self.transfers: dict[str, bool | None] = {}
        self.transfer_number = 0
        self.operations = 0
        self.unknown = 0
        self.violations: list[str] = []
        self.random = random.Random()

    def run(self, stopped: threading.Event) -> None:
        """Writes until it is told to stop."""
        while not stopped.is_set():
            try:
                self.step()
                self.operations += 1
            except ConnectionFailure:
                self.unknown += 1
                # Nothing can be sent: no need to ask as fast as possible.
                time.sleep(0.05)
            except ViolationError as violation:
                self.violations.append(f"thread {self.number}: {violation}")
            except OperationFailure as failure:
                self.violations.append(f"thread {self.number}: the server refused: {failure} {failure.details}")

    def step(self) -> None:
        """Makes one write."""
        if self.does_transfers and self.random.random() < 0.6:
            self.transfer()
            return
        if self.random.random() < 0.25:
            self.raise_counter()
            return
        there = [id for id, states in self.model.possible.items() if states != {None}]
        if len(there) > DOCUMENTS_OF_THREAD_MAX:
            self.delete_many()
        elif len(there) < 10:
            self.insert_many()
        else:
            id = self.random.choice(there)
            chosen = self.random.choices(
                [self.insert_one, self.insert_many, self.update_many, self.delete_many], weights=[6, 2, 1, 1]
            )[0]
            of_one = [self.update_one, self.change_by_pipeline, self.replace_one, self.find_and_update]
            of_one += [self.delete_one, self.find_and_delete, self.read]
            if self.random.random() < 0.6:
                self.random.choice(of_one)(id)
            else:
                chosen()

    def filter_of(self, id: str) -> dict[str, Any]:
        """Returns a filter that finds one document; in a sharded collection with the shard key or without."""
        found: dict[str, Any] = {"_id": id} if self.random.random() < 0.8 else {"unique": id}
        if self.model.is_sharded and self.random.random() < 0.7:
            found["city"] = self.model.city(id)
        return found

    def value(self) -> int:
        """Returns a value, of few, so that many documents share it."""
        return self.random.randrange(VALUE_MAX)

    def insert_one(self) -> None:
        """Inserts a document."""
        id, state = self.model.new_id(), (self.value(), 0)
        self.model.possible[id] = {None, state}
        self.collection.insert_one(self.model.body(id, state))
        self.model.possible[id] = {state}

    def insert_many(self) -> None:
        """Inserts documents, in order or not."""
        new = {self.model.new_id(): (self.value(), 0) for _ in range(self.random.randint(2, 25))}
        self.model.possible.update({id: {None, state} for id, state in new.items()})
        bodies = [self.model.body(id, state) for id, state in new.items()]
        self.collection.insert_many(bodies, ordered=self.random.random() < 0.5)
        self.model.possible.update({id: {state} for id, state in new.items()})

    def update_one(self, id: str) -> None:
        """Adds to a number."""
        self.change(id, lambda state: (state[0], state[1] + 1), {"$inc": {"w": 1}})

    def change_by_pipeline(self, id: str) -> None:
        """Sets what depends on one value, by an update that computes."""
        v = self.value()
        tags = [{"$mod": ["$v", 7]}, {"$concat": ["t", {"$toString": {"$mod": ["$v", 5]}}]}]
        update = [{"$set": {"v": {"$literal": v}}}, {"$set": {"tags": tags, "w": {"$add": ["$w", 2]}}}]
        self.change(id, lambda state: (v, state[1] + 2), update)

    def replace_one(self, id: str) -> None:
        """Replaces a document."""
        state = (self.value(), 0)
        self.change(id, lambda _: state, self.model.body(id, state))

    def change(self, id: str, change: Callable[[tuple[int, int]], State], update: Any) -> None:
        """Changes one document."""
        before = self.model.possible[id]
        self.model.may(id, change)
        is_replacement = isinstance(update, dict) and "_id" in update
        send = self.collection.replace_one if is_replacement else self.collection.update_one
        result = send(self.filter_of(id), update)
        self.model.possible[id] = before
        self.model.did(id, change, matched=result.matched_count == 1)

    def delete_one(self, id: str) -> None:
        """Deletes a document."""
        before = self.model.possible[id]
        self.model.may(id, lambda _: None)
        result = self.collection.delete_one(self.filter_of(id))
        self.model.possible[id] = before
        self.model.did(id, lambda _: None, matched=result.deleted_count == 1)

    def find_and_update(self, id: str) -> None:
        """Changes a document and gets it as it was, or as it is then."""
        before = self.model.possible[id]
        self.model.may(id, lambda state: (state[0], state[1] + 3))
        is_after = self.random.random() < 0.5
        found = self.collection.find_one_and_update(
            self.filter_of(id),
            {"$inc": {"w": 3}},
            return_document=ReturnDocument.AFTER if is_after else ReturnDocument.BEFORE,
        )
        state = state_of(found)
        self.model.possible[id] = before
        if is_after and state is not None:
            state = (state[0], state[1] - 3)
        self.model.seen(id, state)
        self.model.did(id, lambda state: (state[0], state[1] + 3), matched=state is not None)

    def find_and_delete(self, id: str) -> None:
        """Deletes a document and gets it as it was."""
        before = self.model.possible[id]
        self.model.may(id, lambda _: None)
        found = self.collection.find_one_and_delete(self.filter_of(id))
        self.model.possible[id] = before
        self.model.seen(id, state_of(found))
        self.model.possible[id] = {None}

    def read(self, id: str) -> None:
        """Reads a document."""
        self.model.seen(id, state_of(self.collection.find_one(self.filter_of(id))))

    def update_many(self) -> None:
        """Adds to a number of several documents; the driver does not send that twice."""
        limit = self.value()
        self.change_many(
            {"v": {"$lt": limit}},
            lambda state: (state[0], state[1] + 5) if state[0] < limit else state,
            lambda filter: self.collection.update_many(filter, {"$inc": {"w": 5}}),
        )

    def delete_many(self) -> None:
        """Deletes several documents; the driver does not send that twice."""
        low = self.value()
        high = low + VALUE_MAX // 4
        self.change_many(
            {"v": {"$gte": low, "$lt": high}},
            lambda state: None if low <= state[0] < high else state,
            self.collection.delete_many,
        )

    def change_many(self, filter: dict, change: Callable[[tuple[int, int]], State], send: Callable) -> None:
        """Changes several documents of the thread's own."""
        before = dict(self.model.possible)
        for id in before:
            self.model.may(id, change)
        send({"owner": self.number, **filter})
        for id, states in before.items():
            self.model.possible[id] = {state if state is None else change(state) for state in states}

    def raise_counter(self) -> None:
        """Raises a number that the other threads raise as well."""
        key = (self.collection.name, f"counter-{self.random.randrange(COUNTERS)}")
        self.unknown_raises[key] += 1
        if self.random.random() < 0.5:
            result = self.collection.update_one({"_id": key[1]}, {"$inc": {"n": 1}})
            matched = result.matched_count, result.modified_count
        else:
            found = self.collection.find_one_and_update({"_id": key[1]}, {"$inc": {"n": 1}})
            matched = (0, 0) if found is None else (1, 1)
        self.unknown_raises[key] -= 1
        self.known_raises[key] += 1
        if matched != (1, 1):
            raise ViolationError(f"{key} was matched and modified {matched}")

    def transfer(self) -> None:
        """Moves amounts between accounts in a transaction: what is taken is given, and a journal says so."""
        self.transfer_number += 1
        name = f"{self.number}-{self.transfer_number}"
        accounts = self.random.sample(range(ACCOUNTS), self.random.randint(2, 5))
        amounts = [self.random.randint(-9, 9) for _ in accounts[1:]]
        amounts.append(-sum(amounts))
        gives_up = self.random.random() < 0.1
        bank = self.client[DATABASE]["bank"]
        attempts = 0

        def move(session) -> None:
            nonlocal attempts
            # Each attempt has documents of its own, so that a transfer done twice is seen.
            attempts += 1
            entries = [
                {
                    "_id": f"{name}-{attempts}-{account}",
                    "transfer": name,
                    "attempt": attempts,
                    "of": len(accounts),
                    "account": account,
                    "amount": amount,
                }
                for account, amount in zip(accounts, amounts, strict=True)
            ]
            bank.insert_many(entries, session=session)
            for entry in entries:
                found = bank.update_one(
                    {"_id": f"account-{entry['account']}"}, {"$inc": {"balance": entry["amount"]}}, session=session
                )
                if found.matched_count != 1:
                    raise ViolationError(f"account {entry['account']} is not there")
            if gives_up:
                raise AbortedError

        self.transfers[name] = None
        try:
            with self.client.start_session() as session:
                session.with_transaction(move)
            self.transfers[name] = True
        except AbortedError:
            self.transfers[name] = False


class Trial:
    """A server, its writers, and what must hold."""

    def __init__(self, folder: Path, seed: int, threads: int):
        self.seed = seed
        self.server = Server(folder, *FLAGS).start()
        plain = {"serverSelectionTimeoutMS": 30_000, "retryWrites": True}
        self.clients = [
            connect(self.server, **plain, tls=False),
            connect(self.server, **plain, compressors="zstd,snappy"),
        ]
        self.writers = [
            Writer(
                number,
                self.clients[number // 2 % 2],
                is_sharded=number % 2 == 1,
                does_transfers=number >= threads // 2,
            )
            for number in range(threads)
        ]
        self.database = self.clients[0][DATABASE]
        self.counters: Counter = Counter()
        self.balances: Counter = Counter()
        self._prepare()

    def _prepare(self) -> None:
        # Enough throughput for several physical partitions.
        self.database.command(
            {"customAction": "CreateCollection", "collection": "people", "shardKey": "city", "offerThroughput": 30_000}
        )
        for name in ("notes", "people"):
            collection = self.database[name]
            collection.create_index("v")
            collection.create_index("tags")
            collection.create_index([("owner", 1), ("w", -1)])
            key = ["city", "unique"] if name == "people" else ["unique"]
            collection.create_index(key, unique=True)
            for number in range(COUNTERS):
                id = f"counter-{number}"
                collection.insert_one({"_id": id, "unique": id, "n": 0, "city": CITIES[number]})
        self.database["bank"].insert_many({"_id": f"account-{number}", "balance": 0} for number in range(ACCOUNTS))
        self.database["bank"].create_index("account")

    def round(self, number: int) -> str:
        """Writes, kills, starts again, writes on, and checks; returns what happened."""
        chance = random.Random(f"{self.seed}-{number}")
        stopped = threading.Event()
        threads = []
        for writer in self.writers:
            writer.random = random.Random(f"{self.seed}-{number}-{writer.number}")
            writer.operations = writer.unknown = 0
            threads.append(threading.Thread(target=writer.run, args=(stopped,), daemon=True))
            threads[-1].start()
        seconds = chance.uniform(*WRITING_SECONDS)
        time.sleep(seconds)
        kills = 1
        self._kill_and_start()
        if chance.random() < SECOND_KILL_SHARE:
            # In the middle of what clients send again.
            time.sleep(chance.uniform(0, 0.7))
            kills += 1
            self._kill_and_start()
        time.sleep(chance.uniform(*AFTER_SECONDS))
        stopped.set()
        deadline = time.monotonic() + JOIN_SECONDS_MAX
        for thread in threads:
            thread.join(max(0, deadline - time.monotonic()))
            if thread.is_alive():
                raise ViolationError(f"a writer did not end within {JOIN_SECONDS_MAX} s")
        complaints = [line for writer in self.writers for line in writer.violations]
        for writer in self.writers:
            writer.violations = []
        done, unknown = (sum(getattr(writer, name) for writer in self.writers) for name in ("operations", "unknown"))
        found = self.verify(chance, complaints)
        if complaints:
            raise ViolationError(*complaints)
        times = f"{kills} kills, the first after {seconds:.2f} s" if kills > 1 else f"killed after {seconds:.2f} s"
        return f"{times}, {done} writes, {unknown} of unknown outcome, {found}"

    def _kill_and_start(self) -> None:
        self.server.stop(signal.SIGKILL)
        self._look_at_log()
        self.server.start_again()

    def _look_at_log(self) -> None:
        if lines := self.server.complaints():
            raise ViolationError(*(f"logged: {line}" for line in lines))

    def verify(self, chance: random.Random, complaints: list[str]) -> str:
        """Compares what is stored with what was answered; adds what is wrong."""
        documents = 0
        for name in ("notes", "people"):
            documents += self._verify_documents(name, complaints)
            self._verify_indexes(name, chance, complaints)
        self._verify_counters(complaints)
        transfers = self._verify_transfers(chance, complaints)
        return f"{documents} documents, {transfers} transfers"

    def _verify_documents(self, name: str, complaints: list[str]) -> int:
        found: dict[str, dict] = {}
        for document in self.database[name].find({"owner": {"$exists": True}}):
            if document["_id"] in found:
                complaints.append(f"{name} has {document['_id']} twice")
            found[document["_id"]] = document
        count = len(found)
        for writer in self.writers:
            if writer.collection.name != name:
                continue
            model = writer.model
            seen: dict[str, State] = {}
            for id, states in model.possible.items():
                document = found.pop(id, None)
                seen[id] = state = state_of(document)
                if state not in states:
                    complaints.append(f"{name}: {id} is {state}, may be {states}")
                elif state is not None and document != model.body(id, state):
                    complaints.append(f"{name}: {id} is {document}, not {model.body(id, state)}")
            # What is gone must not come back: ids are not used again, so it would be a document that no model has.
            model.possible = {id: {seen[id]} for id in model.possible if seen[id] is not None}
        complaints.extend(f"{name}: {id} is there, though it was deleted or never written" for id in found)
        return count

    def _verify_indexes(self, name: str, chance: random.Random, complaints: list[str]) -> None:
        collection = self.database[name]
        pairs: list[tuple[dict, dict]] = []
        for v in chance.sample(range(VALUE_MAX), 4):
            pairs.append(({"v": v}, {"$eq": ["$v", v]}))
        in_range = {"$and": [{"$gte": ["$v", 10]}, {"$lt": ["$v", 40]}]}
        pairs.append(({"v": {"$gte": 10, "$lt": 40}}, in_range))
        for tag in (chance.randrange(7), f"t{chance.randrange(5)}"):
            pairs.append(({"tags": tag}, {"$in": [tag, {"$ifNull": ["$tags", []]}]}))
        owner = chance.randrange(len(self.writers))
        pairs.append(({"owner": owner}, {"$eq": ["$owner", owner]}))
        scanned = {"$and": [{"$eq": ["$owner", owner]}, {"$gt": ["$w", 2]}]}
        pairs.append(({"owner": owner, "w": {"$gt": 2}}, scanned))
        for filter, expression in pairs:
            by_index = sorted(one["_id"] for one in collection.find(filter, {"_id": 1}))
            by_scan = sorted(one["_id"] for one in collection.find({"$expr": expression}, {"_id": 1}))
            if by_index != by_scan:
                only_index = sorted(set(by_index) - set(by_scan))
                only_scan = sorted(set(by_scan) - set(by_index))
                complaints.append(f"{name} {filter}: only by index {only_index}, only by scan {only_scan}")
        counted, estimated = collection.count_documents({}), collection.estimated_document_count()
        if counted != estimated:
            complaints.append(f"{name} has {counted} documents, but says {estimated}")

    def _verify_counters(self, complaints: list[str]) -> None:
        for name in ("notes", "people"):
            for number in range(COUNTERS):
                key = (name, f"counter-{number}")
                known = self.counters[key] + sum(writer.known_raises[key] for writer in self.writers)
                unknown = sum(writer.unknown_raises[key] for writer in self.writers)
                document = self.database[name].find_one({"_id": key[1]})
                value = None if document is None else document["n"]
                if value is None or not known <= value <= known + unknown:
                    complaints.append(f"{key} is {value}, but {known} raises were answered, {unknown} may be done")
                self.counters[key] = value or 0
                for writer in self.writers:
                    writer.known_raises[key] = writer.unknown_raises[key] = 0

    def _verify_transfers(self, chance: random.Random, complaints: list[str]) -> int:
        bank = self.database["bank"]
        journal: dict[str, list[dict]] = defaultdict(list)
        for entry in bank.find({"transfer": {"$exists": True}}):
            journal[entry["transfer"]].append(entry)
        asked = {name: outcome for writer in self.writers for name, outcome in writer.transfers.items()}
        for name, outcome in asked.items():
            entries = journal.get(name, [])
            if outcome is True and not entries:
                complaints.append(f"transfer {name} was answered, and is lost")
            if outcome is False and entries:
                complaints.append(f"transfer {name} was given up, and is there: {entries}")
        for name, entries in journal.items():
            if name not in asked:
                complaints.append(f"transfer {name} is back: {entries}")
            attempts = {entry["attempt"] for entry in entries}
            if len(attempts) > 1:
                complaints.append(f"transfer {name} was done {len(attempts)} times")
            elif len(entries) != entries[0]["of"]:
                complaints.append(f"transfer {name} has {len(entries)} of {entries[0]['of']} entries")
            for entry in entries:
                self.balances[entry["account"]] += entry["amount"]
        for number in range(ACCOUNTS):
            account = bank.find_one({"_id": f"account-{number}"})
            if account is None or account["balance"] != self.balances[number]:
                complaints.append(f"account {number} is {account}, its journal says {self.balances[number]}")
        entries = [entry for entries in journal.values() for entry in entries]
        account = chance.randrange(ACCOUNTS)
        by_index = sorted(entry["_id"] for entry in bank.find({"account": account}))
        if by_index != sorted(entry["_id"] for entry in entries if entry["account"] == account):
            complaints.append(f"account {account}: its entries by index are {by_index}, and there are {entries}")
        # They are in the balances now; that they do not come back is seen in the next round.
        bank.delete_many({"transfer": {"$exists": True}})
        for writer in self.writers:
            writer.transfers = {}
        return len(journal)

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
        for client in self.clients:
            client.close()
        self.server.kill()


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
    if options.bin:
        os.environ["ARMILLA_BIN"] = options.bin
    seed = int(time.time()) if options.seed is None else options.seed
    folder = options.folder or Path(tempfile.mkdtemp(prefix="mongo-crash-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {seed}, {folder}", flush=True)
    wrong = run(folder, options.rounds, seed, options.threads, options.keep_going)
    if wrong:
        print(f"{len(wrong)} violations with --seed {seed}; the data is in {folder}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
