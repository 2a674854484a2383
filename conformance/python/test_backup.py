"""`armilla backup` and `armilla restore` of real servers: under load, cut off, damaged, restored and served again."""

import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from azure.cosmos import CosmosClient, PartitionKey

from partitions import range_ids, split
from server import KEY, Server, binary

END_SECONDS_MAX = 300
TAKEN = re.compile(
    r"^backup (\w+(?:-\d+)?): ([\d,]+) spaces, ([\d,]+) entries, .*; ([\d,]+) files written \(([\d.]+ \w+)\), "
    r"([\d,]+) shared with earlier backups \(([\d.]+ \w+)\), in [\d.]+ s$"
)
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}

# Moves an amount between two accounts of a logical partition.
TRANSFER = """function (from, to, amount) {
    const collection = getContext().getCollection();
    const read = (id, then) => collection.readDocument(
        collection.getAltLink() + "/docs/" + id, {}, (error, item) => { if (error) throw error; then(item); });
    read(from, (one) => read(to, (other) => {
        one.balance -= amount;
        other.balance += amount;
        collection.replaceDocument(one._self, one, (error) => {
            if (error) throw error;
            collection.replaceDocument(other._self, other, (error) => { if (error) throw error; });
        });
    }));
}"""

BANKS = 6
ACCOUNTS = 4
BALANCE = 1_000


def run(*words, code: int = 0) -> str:
    """Runs a command, and returns what it said: the result if it went well, the complaint if not."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ARMILLA_")}
    done = subprocess.run(
        [str(binary()), *map(str, words)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=END_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done.stderr if code == 1 else done.stdout


class Taken:
    """What a backup says about itself."""

    def __init__(self, text: str):
        name, spaces, entries, written, written_bytes, shared, shared_bytes = TAKEN.match(text.strip()).groups()
        self.name = name
        numbers = (int(number.replace(",", "")) for number in (spaces, entries, written, shared))
        self.spaces, self.entries, self.written, self.shared = numbers
        self.written_bytes, self.shared_bytes = _bytes(written_bytes), _bytes(shared_bytes)


def _bytes(text: str) -> float:
    amount, unit = text.split()
    return float(amount) * UNITS[unit]


def back_up(server: Server, to: Path, *options) -> Taken:
    """Backs up a running server."""
    return Taken(run("backup", "--to", to, "--endpoint", server.http, *options))


def restore(backups: Path, folder: Path, *options) -> Server:
    """Restores a backup and serves it."""
    folder.mkdir(exist_ok=True)
    said = run("restore", "--from", backups, "--data-dir", folder / "data", *options)
    assert re.match(r"restored backup \S+ to .*, verified, in [\d.]+ s$", said.strip()), said
    return Server(folder).start()


def check(folder: Path) -> str:
    """Verifies a data folder that is at rest."""
    said = run("check", "--data-dir", folder / "data")
    assert said.strip().endswith(": OK"), said
    return said


def picture(server: Server, *, leave_out: tuple[str, ...] = ()) -> dict:
    """Returns everything that a server stores, as its clients see it."""
    with CosmosClient(server.http, KEY) as client:
        seen = {}
        for database in client.list_databases():
            handle = client.get_database_client(database["id"])
            for definition in handle.list_containers():
                if definition["id"] in leave_out:
                    continue
                container = handle.get_container_client(definition["id"])
                items = sorted(container.read_all_items(), key=lambda item: (item["id"], item["_rid"]))
                scripts = [script["body"] for script in container.scripts.list_stored_procedures()]
                seen[f"{database['id']}/{definition['id']}"] = (definition, items, scripts)
        return seen


class Load:
    """Clients that write all the time, and remember what was acknowledged and when."""

    def __init__(self, server: Server):
        self.server = server
        self.acknowledged: list[tuple[float, str, str]] = []
        self.failures: list[BaseException] = []
        self._over = threading.Event()
        with CosmosClient(server.http, KEY) as client:
            database = client.create_database("load")
            for name in ("bank", "first", "second", "wide"):
                database.create_container(name, PartitionKey("/pk"), offer_throughput=10_000)
            bank = database.get_container_client("bank")
            bank.scripts.create_stored_procedure({"id": "transfer", "body": TRANSFER})
            for number in range(BANKS):
                for account in range(ACCOUNTS):
                    bank.create_item({"id": f"{account}", "pk": f"bank {number}", "balance": BALANCE})
        works = [self._transfer, self._transfer, self._in_turn, self._anywhere, self._anywhere]
        self._threads = [threading.Thread(target=self._run, args=(work, n)) for n, work in enumerate(works)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _run(self, work, number: int) -> None:
        try:
            with CosmosClient(self.server.http, KEY) as client:
                work(client.get_database_client("load"), number)
        except BaseException as failure:
            self.failures.append(failure)

    def _transfer(self, database, number: int) -> None:
        bank = database.get_container_client("bank")
        step = number
        while not self._over.is_set():
            step += 7
            accounts = [str(step % ACCOUNTS), str((step + 1 + step // 3 % 3) % ACCOUNTS)]
            if accounts[0] != accounts[1]:
                key = f"bank {step % BANKS}"
                bank.scripts.execute_stored_procedure("transfer", key, params=[*accounts, step % 50])

    def _in_turn(self, database, _number: int) -> None:
        containers = [database.get_container_client(name) for name in ("first", "second")]
        count = 0
        while not self._over.is_set():
            for name, container in zip(("first", "second"), containers, strict=True):
                container.create_item({"id": f"{count}", "pk": f"key {count % 20}"})
                self.acknowledged.append((time.monotonic(), name, f"{count}"))
            count += 1

    def _anywhere(self, database, number: int) -> None:
        wide = database.get_container_client("wide")
        count = 0
        while not self._over.is_set():
            identity = f"{number}-{count}"
            wide.create_item({"id": identity, "pk": f"key {count}", "text": identity * 50})
            self.acknowledged.append((time.monotonic(), "wide", identity))
            count += 1

    def before(self, moment: float, container: str) -> set[str]:
        """Returns the ids that were acknowledged before a moment."""
        return {identity for acked, name, identity in list(self.acknowledged) if acked < moment and name == container}


def assert_of_one_moment(server: Server, load: Load, begun: float) -> dict:
    """Sees to it that what a restored server holds is one moment of what was written."""
    seen = picture(server)
    ids = {name.removeprefix("load/"): {item["id"] for item in items} for name, (_, items, _) in seen.items()}
    for name in ("first", "second", "wide"):
        missing = load.before(begun, name) - ids[name]
        assert not missing, f"{name}: {len(missing)} items were acknowledged before the backup began"
    balances: dict[str, int] = {}
    for item in seen["load/bank"][1]:
        balances[item["pk"]] = balances.get(item["pk"], 0) + item["balance"]
    assert balances == {f"bank {number}": ACCOUNTS * BALANCE for number in range(BANKS)}
    # Written in turn, so of one moment: as many, or one more in the first.
    first, second = len(ids["first"]), len(ids["second"])
    assert ids["first"] == {f"{number}" for number in range(first)}
    assert ids["second"] == {f"{number}" for number in range(second)}
    assert first - second in (0, 1)
    return seen


def test_under_load(start_server, tmp_path):
    server = start_server("--throttle", "off")
    backups = tmp_path / "backups"
    items = tmp_path / "items.jsonl"
    with items.open("w") as file:
        for number in range(6_000):
            file.write(json.dumps({"id": f"{number}", "pk": f"key {number}", "text": os.urandom(500).hex()}) + "\n")
    run("import", "--database", "still", "--container", "c", "--create", "/pk", "--endpoint", server.http, items)
    run("import", "--database", "gone", "--container", "c", "--create", "/pk", "--endpoint", server.http, items)
    with Load(server) as load, CosmosClient(server.http, KEY) as client:
        wide = client.get_database_client("load").get_container_client("wide")
        while len(load.acknowledged) < 100 and not load.failures:
            time.sleep(0.05)
        begun = time.monotonic()
        # Slow enough that a partition is split and a container deleted while it is read.
        taking = threading.Thread(target=lambda: taken.append(back_up(server, backups, "--megabytes-per-second", 10)))
        taken: list[Taken] = []
        taking.start()
        time.sleep(0.5)
        split(server, wide)
        client.delete_database("gone")
        split(server, wide)
        taking.join()
        [first] = taken
        again = time.monotonic()
        # Others go on, and a second backup shares what did not change.
        while len(load.before(time.monotonic(), "wide")) < len(load.before(again, "wide")) + 20 and not load.failures:
            time.sleep(0.05)
        between = time.monotonic()
        second = back_up(server, backups)
    assert load.failures == []
    assert len(range_ids(server, wide)) == 3
    assert (first.shared, second.shared > 0) == (0, True)
    assert second.written_bytes < first.written_bytes / 2, (first.written_bytes, second.written_bytes)
    verified = run("backup", "verify", backups)
    assert re.fullmatch(r"verify: 2 of 2 backups whole, .*: OK", verified.strip()), verified
    still = picture(server, leave_out=("bank", "first", "second", "wide"))
    for name, moment in ((first.name, begun), (second.name, between)):
        folder = tmp_path / name
        restored = restore(backups, folder, "--backup", name)
        seen = assert_of_one_moment(restored, load, moment)
        assert seen["still/c"] == still["still/c"]
        assert ("gone/c" in seen) == (name == first.name)
        assert name != first.name or len(seen["gone/c"][1]) == 6_000
        # It serves, writes included, and goes on with its numbers.
        with CosmosClient(restored.http, KEY) as client:
            client.get_database_client("load").get_container_client("wide").create_item({"id": "new", "pk": "new"})
        assert restored.complaints() == []
        assert restored.stop() == 0
        check(folder)
    # A backup of what was restored is the same state.
    lines = run("backup", "list", backups).splitlines()
    assert [line.split()[0] for line in lines] == [first.name, second.name]


def test_a_folder_at_rest_and_the_same_state_twice(start_server, tmp_path):
    server = start_server()
    backups = tmp_path / "backups"
    with CosmosClient(server.http, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/pk"))
        for number in range(50):
            container.create_item({"id": f"{number}", "pk": f"{number % 5}"})
    running = back_up(server, backups)
    before = picture(server)
    refused = run("backup", "--to", backups, "--data-dir", server.data_folder, code=1)
    assert "in use by another armilla" in refused, refused
    assert server.stop() == 0
    at_rest = Taken(run("backup", "--to", backups, "--data-dir", server.data_folder))
    assert (at_rest.entries, at_rest.written, at_rest.shared) == (running.entries, 0, running.written)
    states = {line.split("state ")[1] for line in run("backup", "list", backups).splitlines()}
    assert len(states) == 1
    restored = restore(backups, tmp_path / "restored")
    assert picture(restored) == before
    assert restored.stop() == 0
    check(tmp_path / "restored")
    pruned = run("backup", "prune", backups, "--keep", 1)
    assert pruned.splitlines() == [f"removed {running.name}", "prune: 1 backups and 0 files removed, 0 B"]
    assert run("backup", "verify", backups).strip().endswith(": OK")


def test_damaged_backups_are_refused(start_server, tmp_path):
    server = start_server()
    backups = tmp_path / "backups"
    with CosmosClient(server.http, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/pk"))
        for number in range(20):
            container.create_item({"id": f"{number}", "pk": f"{number % 5}", "text": os.urandom(50_000).hex()})
    back_up(server, backups)
    files = sorted(path for path in backups.rglob("*") if path.is_file() and path.name != "LOCK")
    assert len(files) >= 5
    for file in files:
        whole = file.read_bytes()
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 4]) + whole[middle + 1 :]
        for damaged in (None, b"", whole[:-1], flipped):
            if damaged is None:
                file.unlink()
            else:
                file.write_bytes(damaged)
            # Without the index it is no folder of backups.
            code = 1 if file.name == "INDEX" and damaged is None else 2
            assert file.name in run("backup", "verify", backups, code=code), (file, damaged is None)
            code = 1 if file.name == "INDEX" else 2
            said = run("restore", "--from", backups, "--data-dir", tmp_path / "restored", code=code)
            assert file.name in said, said
            assert not (tmp_path / "restored").exists(), "nothing is made of a damaged backup"
            file.write_bytes(whole)
    assert run("backup", "verify", backups).strip().endswith(": OK")


def test_who_may_and_where(start_server, tmp_path):
    read_only = "cmVhZCBvbmx5IGtleSBvZiBhIHRlc3QsIGxvbmcgZW5vdWdo"
    server = start_server("--read-only-key", read_only)
    backups = tmp_path / "backups"
    to = ("backup", "--to", backups, "--endpoint", server.http)
    assert "reading only" in run(*to, "--key", read_only, code=1)
    assert "does not take this key" in run(*to, "--key", "d3Jvbmc=", code=1)
    assert "--to FOLDER" in run("backup", "--endpoint", server.http, code=1)
    none = tmp_path / "none"
    assert "no backup that was finished" in run("restore", "--from", backups, "--data-dir", none, code=1)
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "holiday.jpg").write_bytes(b"x")
    assert "is not empty and holds no backups" in run("backup", "--to", photos, "--endpoint", server.http, code=1)
    back_up(server, backups)
    for folder in (photos, server.data_folder):
        refused = run("restore", "--from", backups, "--data-dir", folder, code=1)
        assert "is not empty" in refused, refused
    assert [path.name for path in photos.iterdir()] == ["holiday.jpg"]
    assert "has no backup 19700101T000000Z" in run(
        "restore", "--from", backups, "--backup", "19700101T000000Z", "--data-dir", none, code=1
    )
    # Another account does not get into the same folder.
    (tmp_path / "other").mkdir()
    other = Server(tmp_path / "other").start()
    assert "another account" in run("backup", "--to", backups, "--endpoint", other.http, code=1)
    assert other.stop() == 0
    index = backups / "INDEX"
    index.write_text(index.read_text().replace("format 1", "format 2"))
    for words in (("backup", "verify", backups), ("restore", "--from", backups, "--data-dir", none)):
        assert "has format 2, this armilla reads format 1: use a newer armilla" in run(*words, code=1)


@pytest.mark.parametrize("signal_sent", [signal.SIGKILL, signal.SIGINT])
def test_what_is_cut_off_counts_for_nothing(start_server, tmp_path, signal_sent):
    server = start_server()
    backups = tmp_path / "backups"
    with CosmosClient(server.http, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/pk"), offer_throughput=10_000)
        for number in range(60):
            container.create_item({"id": f"{number}", "pk": f"{number % 5}", "text": os.urandom(100_000).hex()})
    command = [str(binary()), "backup", "--to", str(backups), "--endpoint", server.http, "--megabytes-per-second", "2"]
    # A test run in the background of a shell ignores interrupts, and so would what it starts.
    heeds_interrupts = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=heeds_interrupts
    ) as taking:
        while not list(backups.glob("segments/*/*")):
            time.sleep(0.02)
            assert taking.poll() is None
        taking.send_signal(signal_sent)
    assert taking.returncode != 0
    assert "holds no backup that was finished" in run("backup", "verify", backups, code=1)
    # The next one goes through, although the server may still keep the moment of the first.
    back_up(server, backups)
    assert run("backup", "verify", backups).strip().endswith(": OK")
    restored = tmp_path / "restored"
    command = [str(binary()), "restore", "--from", str(backups), "--data-dir", str(restored / "data")]
    for attempt in range(8):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as restoring:
            while not (restored / "data" / "RESTORING").exists() and restoring.poll() is None:
                time.sleep(0.002)
            time.sleep(0.02 * attempt)
            restoring.send_signal(signal_sent)
        if restoring.returncode == 0:
            break
        for words in (("serve", "--port", "0"), ("check",)):
            complaint = run(*words, "--data-dir", restored / "data", code=1)
            assert re.search("is not complete|is not empty|is not a data folder", complaint), complaint
        assert "is not empty" in run(*command[1:], code=1)
        shutil.rmtree(restored)
    else:
        restored.mkdir()
        run(*command[1:])
    again = Server(restored).start()
    assert len(picture(again)["d/c"][1]) == 60
    assert again.stop() == 0
    check(restored)
