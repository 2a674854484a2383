"""`armilla import` and `armilla export`: every format, what is rejected and why, and nothing lost or doubled."""

import csv
import gzip
import io
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from azure.cosmos import CosmosClient, PartitionKey

from partitions import range_ids, split, until
from server import KEY, Server, binary

END_SECONDS_MAX = 120
SUMMARY = re.compile(
    r"read (\d+) records: imported (\d+) \(created (\d+), replaced (\d+), there already (\d+)\), "
    r"rejected (\d+), skipped (\d+)$"
)
SYSTEM_PROPERTIES = ("_rid", "_self", "_etag", "_attachments", "_ts")


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("ARMILLA_")}


def _command(verb: str, server: Server, container, *options) -> list[str]:
    _, database_id, _, container_id = container.container_link.split("/")
    names = ["--database", database_id, "--container", container_id, "--endpoint", server.http]
    return [str(binary()), verb, *names, *map(str, options)]


class Counts:
    """What an import says about its records; adds up, or is not made."""

    def __init__(self, line: str):
        numbers = [int(number) for number in SUMMARY.search(line).groups()]
        self.read, self.imported, self.created, self.replaced, self.there, self.rejected, self.skipped = numbers
        assert self.read == self.imported + self.rejected + self.skipped, line
        assert self.imported == self.created + self.replaced + self.there, line


def run_import(server: Server, container, *options, text: str | bytes | None = None, code: int = 0) -> Counts:
    """Imports, and returns the counts."""
    done = subprocess.run(
        _command("import", server, container, *options),
        input=text.encode() if isinstance(text, str) else text,
        capture_output=True,
        env=_environment(),
        timeout=END_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    return Counts(done.stdout.decode().strip())


def refused(server: Server, container, *options, text: str = "") -> str:
    """Runs an import that cannot go on, and returns what it says."""
    done = subprocess.run(
        _command("import", server, container, *options),
        input=text,
        capture_output=True,
        text=True,
        env=_environment(),
        timeout=END_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 1, (done.stdout, done.stderr)
    return done.stderr


def run_export(server: Server, container, *options) -> bytes:
    """Exports to standard output."""
    done = subprocess.run(
        _command("export", server, container, *options),
        capture_output=True,
        env=_environment(),
        timeout=END_SECONDS_MAX,
        check=True,
    )
    lines = done.stdout.count(b"\n")
    assert re.search(rf"exported {lines} items?$", done.stderr.decode().strip()), done.stderr
    return done.stdout


def canonical(text: bytes) -> list[bytes]:
    """The canonical form of a set of items: its lines in their order as bytes."""
    return sorted(text.splitlines())


def stored(container) -> list[dict]:
    """All items by id, without what the server adds."""
    items = container.read_all_items()
    plain = [{name: value for name, value in item.items() if name not in SYSTEM_PROPERTIES} for item in items]
    return sorted(plain, key=lambda item: item["id"])


def numbered(count: int, **more) -> list[dict]:
    """Items under ten cities."""
    return [{"id": f"{number:06}", "city": f"city {number % 10}", "n": number, **more} for number in range(count)]


def json_lines(items: list[dict]) -> str:
    """Items as JSON lines."""
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)


@pytest.mark.parametrize("form", ["lines", "array", "pretty array", "csv"])
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("source", ["file", "stdin"])
def test_every_format(server, container, tmp_path, form, compressed, source):
    items = [{"id": f"{n}", "city": 'Tromsø, "N"', "text": "a\nb", "n": n + 0.5, "yes": n % 2 == 0} for n in range(250)]
    if form == "csv":
        out = io.StringIO()
        writer = csv.DictWriter(out, fieldnames=list(items[0]))
        writer.writeheader()
        writer.writerows({**item, "yes": str(item["yes"]).lower()} for item in items)
        text, options = out.getvalue(), ["--infer"]
    else:
        texts = {"lines": json_lines(items), "array": json.dumps(items), "pretty array": json.dumps(items, indent=2)}
        text, options = texts[form], []
    data = text.encode()
    if compressed:
        data = gzip.compress(data)
    if source == "file":
        path = tmp_path / "input"
        path.write_bytes(data)
        counts = run_import(server, container, path, *options)
    else:
        counts = run_import(server, container, *options, text=data)
    assert (counts.read, counts.created) == (250, 250)
    assert stored(container) == sorted(items, key=lambda item: item["id"])


def test_csv_without_types_and_with_mappings(server, make_container):
    container = make_container("/customer/id")
    text = 'number;town;empty\r\n007;Oslo;\r\n8;"Ber;gen";x\r\n'
    options = ["--delimiter", ";", "--id-from", "number", "--partition-key-from", "/customer/id=town"]
    assert run_import(server, container, "--format", "csv", *options, text=text).created == 2
    assert stored(container) == [
        {"number": "007", "town": "Oslo", "empty": "", "customer": {"id": "Oslo"}, "id": "007"},
        {"number": "8", "town": "Ber;gen", "empty": "x", "customer": {"id": "Ber;gen"}, "id": "8"},
    ]
    assert container.read_item("8", partition_key="Ber;gen")["empty"] == "x"


def test_hierarchical_and_missing_keys(server, make_container):
    container = make_container(["/tenant", "/user"])
    items = [{"id": "1", "tenant": "a", "user": 1.5}, {"id": "2", "tenant": None, "user": True}, {"id": "3"}]
    assert run_import(server, container, text=json_lines(items)).created == 3
    assert stored(container) == items


def test_ids_are_made_once(server, container):
    text = json_lines([{"city": "Oslo"}, {"city": "Oslo"}])
    assert run_import(server, container, text=text).created == 2
    again = run_import(server, container, text=text)
    assert (again.created, again.replaced) == (0, 2), "the same input has the same ids"
    assert len({item["id"] for item in stored(container)}) == 2


def test_rejects_say_why_and_add_up(server, make_container, tmp_path):
    container = make_container("/city", unique_key_policy={"uniqueKeys": [{"paths": ["/serial"]}]})
    lines = [
        '{"id":"good","city":"Oslo","serial":1}',
        "",
        "not json",
        '{"id":"cut","city":',
        '{"id":"two","city":"Oslo"}{"id":"three"}',
        '{"id":7,"city":"Oslo"}',
        '{"id":"","city":"Oslo"}',
        '{"id":"bad number","city":"Oslo","n":01}',
        '{"id":"same serial","city":"Oslo","serial":1}',
        '{"id":"injected","city":"Oslo"},{"operationType":"Delete","id":"good","partitionKey":"[\\"Oslo\\"]"}',
        json.dumps({"id": "too large", "city": "Oslo", "text": "x" * 3_000_000}),
        json.dumps({"id": "far too large", "city": "Oslo", "text": "x" * 5_000_000}),
        '{"id":"fine","city":"Oslo","serial":2}',
    ]
    rejects = tmp_path / "rejects.jsonl"
    counts = run_import(server, container, "--rejects", rejects, text="\n".join(lines), code=2)
    assert (counts.read, counts.imported, counts.rejected) == (12, 2, 10)
    assert [item["id"] for item in stored(container)] == ["fine", "good"]
    entries = sorted(map(json.loads, rejects.read_text().splitlines()), key=lambda entry: entry["line"])
    assert [entry["line"] for entry in entries] == [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    for entry in entries:
        assert entry["reason"], entry
        assert lines[entry["line"] - 1].startswith(entry["text"][:1000]), entry["line"]
    by_line = {entry["line"]: entry for entry in entries}
    assert by_line[9]["status"] == 409
    assert by_line[11]["status"] == 413
    assert "status" not in by_line[3]
    told = subprocess.run(
        _command("import", server, container),
        input="\n".join(lines),
        capture_output=True,
        text=True,
        env=_environment(),
        check=False,
    )
    assert told.returncode == 2
    assert "line 3 is rejected: " in told.stderr


def test_invalid_utf8_is_that_lines_own_problem(server, container):
    data = b'{"id":"1","city":"Oslo"}\n{"id":"2","city":"\xff"}\n{"id":"3","city":"Oslo"}\n'
    counts = run_import(server, container, text=data, code=2)
    assert (counts.imported, counts.rejected) == (2, 1)


def test_create_keeps_what_is_there(server, container):
    container.create_item({"id": "1", "city": "Oslo", "n": 1})
    container.create_item({"id": "2", "city": "Oslo", "n": 2})
    items = [{"id": "1", "city": "Oslo", "n": 1.0}, {"id": "2", "city": "Oslo", "n": 3}, {"id": "3", "city": "Oslo"}]
    counts = run_import(server, container, "--mode", "create", text=json_lines(items), code=2)
    assert (counts.created, counts.there, counts.rejected) == (1, 1, 1)
    assert container.read_item("2", partition_key="Oslo")["n"] == 2


def test_the_later_of_two_records_wins(server, container):
    items = [{"id": f"{number % 7}", "city": "Oslo", "n": number} for number in range(2_000)]
    counts = run_import(server, container, "--connections", 8, text=json_lines(items))
    assert (counts.created, counts.replaced) == (7, 1_993)
    assert {item["id"]: item["n"] for item in stored(container)} == {item["id"]: item["n"] for item in items}


def test_containers_are_made(server, client):
    text = json_lines([{"id": "1", "city": "Oslo", "shop": "x"}])
    database = client.get_database_client("imported")
    container = database.get_container_client("made")
    try:
        assert "--create PATH" in refused(server, container, text=text)
        options = ["--create", "/city", "--create", "/shop", "--throughput", 500]
        assert run_import(server, container, *options, text=text).created == 1
        assert container.read()["partitionKey"]["paths"] == ["/city", "/shop"]
        assert container.get_throughput().offer_throughput == 500
        assert run_import(server, container, "--create", "/other", text=text).replaced == 1
    finally:
        client.delete_database("imported")


def test_inputs_that_break_off(server, container, tmp_path):
    items = numbered(500)
    said = refused(server, container, text=json.dumps(items)[:-1])
    assert "cut off" in said
    assert "imported 499" in said, "everything before it is there"
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(json_lines(numbered(5_000)).encode())[:-20])
    assert "cannot read on" in refused(server, container, cut)
    assert "cannot read" in refused(server, container, tmp_path / "none")


def test_throttled_imports_wait(server, make_container):
    container = make_container(offer_throughput=1_000)
    items = numbered(1_500)
    counts = run_import(server, container, text=json_lines(items))
    assert counts.created == 1_500
    assert stored(container) == items


def test_export_is_imported_as_it_was(server, make_container, tmp_path):
    source, target = make_container(), make_container()
    items = [
        {"id": "a", "city": "Oslo", "n": 1.5, "big": 12345678901234567890, "small": -0.0, "e": 1e300},
        {"id": "b", "city": "Tromsø 😀", "text": 'q"\\\n\u0001\u2028', "list": [1, [2, {"x": None}]], "": {"": ""}},
        {"id": "a", "city": None},
        {"id": "a"},
        {"id": " x", "city": 7},
        {"id": "_", "city": True, "_own": 1, "$": "{}"},
        *numbered(2_500),
    ]
    # As other programs write it: with white space, escapes and members in their own order.
    odd = '{ "z" : 1.0, "id" : "\\u006fdd", "city" : "\\u004fslo", "n" : 1E2, "z2" : "\\/" }\n'
    assert run_import(server, source, text=json_lines(items) + odd).created == len(items) + 1
    plain, packed = tmp_path / "plain.jsonl", tmp_path / "packed.jsonl.gz"
    for path in (plain, packed):
        told = subprocess.run(
            _command("export", server, source, path), capture_output=True, text=True, env=_environment(), check=True
        )
        assert told.stdout == f"exported {len(items) + 1} items to {path}\n"
    exported = plain.read_bytes()
    assert gzip.decompress(packed.read_bytes()) == exported
    assert not any(name.encode() in exported for name in ("_rid", "_etag"))
    assert run_import(server, target, packed).created == len(items) + 1
    assert canonical(run_export(server, target)) == canonical(exported)
    assert run_import(server, source, plain).replaced == len(items) + 1
    assert canonical(run_export(server, source)) == canonical(exported)
    full = run_export(server, source, "--system-properties").splitlines()
    assert all(set(SYSTEM_PROPERTIES) <= json.loads(line).keys() for line in full)
    third = make_container()
    run_import(server, third, text=b"\n".join(full))
    assert canonical(run_export(server, third)) == canonical(exported)


def test_export_of_queries(server, container):
    run_import(server, container, text=json_lines(numbered(3_000)))
    rows = run_export(server, container, "--query", "SELECT * FROM c WHERE c.n >= 1000 ORDER BY c.n").splitlines()
    assert [json.loads(row) for row in rows] == numbered(3_000)[1_000:]
    values = run_export(server, container, "--query", "SELECT VALUE c.n FROM c WHERE c.n < 3 ORDER BY c.n")
    assert values == b"0\n1\n2\n"
    stamped = run_export(server, container, "--query", "SELECT c.id, c._ts FROM c WHERE c.n = 1")
    assert json.loads(stamped).keys() == {"id", "_ts"}


def test_export_of_a_graph_as_a_picture(server, make_container):
    graph = make_container("/pk")
    vertices = [{"id": name, "label": "person", "pk": name[0]} for name in ("anna", "ben")]
    edge = {"id": "e", "label": "knows", "pk": "a", "_isEdge": True, "_vertexId": "anna", "_vertexLabel": "person"}
    sink = {"_sink": "ben", "_sinkLabel": "person", "_sinkPartition": "b"}
    run_import(server, graph, text=json_lines([*vertices, {**edge, **sink}]))
    first, *statements, last = _picture(server, graph)
    assert (first, last) == ("digraph graph_of_items {", "}")
    assert sorted(statements) == [
        r"""  "[\"a\",\"anna\"]" -> "[\"b\",\"ben\"]" [label="knows"];""",
        r"""  "[\"a\",\"anna\"]" [label="person\nanna"];""",
        r"""  "[\"b\",\"ben\"]" [label="person\nben"];""",
    ]
    people = _picture(server, graph, "--query", "SELECT * FROM c WHERE NOT IS_DEFINED(c._isEdge)")
    assert len(people) == 4
    assert not any("->" in line for line in people)


def _picture(server: Server, graph, *options: str) -> list[str]:
    command = _command("export", server, graph, "--dot", *options)
    done = subprocess.run(command, capture_output=True, text=True, env=_environment(), check=True)
    return done.stdout.splitlines()


def test_export_of_nothing(server, container, tmp_path):
    assert run_export(server, container) == b""
    path = tmp_path / "empty.jsonl"
    subprocess.run(_command("export", server, container, path), env=_environment(), check=True)
    assert path.read_bytes() == b""
    command = _command("export", server, container, tmp_path / "none.jsonl")
    command[command.index("--container") + 1] = "none"
    done = subprocess.run(command, capture_output=True, text=True, env=_environment(), check=False)
    assert done.returncode == 1
    assert "there is no container none" in done.stderr
    assert not (tmp_path / "none.jsonl").exists()


class Running:
    """A command under way."""

    def __init__(self, command: list[str]):
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=_environment(),
        )

    def counts(self, code: int = 0) -> Counts:
        """Waits for the end."""
        out, said = self.process.communicate(timeout=END_SECONDS_MAX)
        assert self.process.returncode == code, said
        return Counts(out.strip())


def _count(container) -> int:
    return next(iter(container.query_items("SELECT VALUE COUNT(1) FROM c", enable_cross_partition_query=True)))


@pytest.fixture
def own(start_server):
    """A server of the test's own, and a container on it."""
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        database = client.create_database("d")
        yield server, database.create_container("c", PartitionKey("/city"), offer_throughput=10_000)


@pytest.mark.parametrize("mode", ["upsert", "create"])
def test_a_killed_import_goes_on(server, make_container, tmp_path, mode):
    container = make_container(offer_throughput=10_000)
    items = numbered(12_000, text="x" * 500)
    lines = json_lines(items).splitlines(keepends=True)
    for place in (100, 5_000, 11_999):
        lines.insert(place, "no json\n")
    path, state, rejects = tmp_path / "in.jsonl", tmp_path / "state.json", tmp_path / "rejects.jsonl"
    path.write_text("".join(lines))
    options = [path, "--mode", mode, "--resume", state, "--rejects", rejects]
    kills = 0
    while True:
        running = Running(_command("import", server, container, *options))
        before = json.loads(state.read_text())["records"] if state.exists() else 0
        deadline = time.monotonic() + END_SECONDS_MAX
        while running.process.poll() is None and time.monotonic() < deadline and kills < 3:
            if state.exists() and json.loads(state.read_text())["records"] > before + 500:
                running.process.kill()
                kills += 1
                break
            time.sleep(0.01)
        if running.process.wait(END_SECONDS_MAX) != -signal.SIGKILL:
            break
    assert kills > 0, "the import was too fast to be killed"
    last = running.counts(code=2 if running.process.returncode == 2 else 0)
    assert last.skipped > 0
    assert last.read == len(lines)
    assert json.loads(state.read_text())["records"] == len(lines)
    assert stored(container) == items
    entries = [json.loads(line)["line"] for line in rejects.read_text().splitlines()]
    assert sorted(entries) == [101, 5_001, 12_000], "none is missing and none is there twice"
    done = run_import(server, container, *options)
    assert (done.skipped, done.imported) == (len(lines), 0)
    other = tmp_path / "other.jsonl"
    other.write_text(json_lines(numbered(20_000)))
    assert "another one" in refused(server, container, other, "--resume", state)
    other.write_text(json_lines(numbered(3)))
    assert "another one" in refused(server, container, other, "--resume", state)


@pytest.mark.parametrize("mode", ["upsert", "create"])
def test_a_server_that_is_killed_is_waited_for(own, tmp_path, mode):
    server, container = own
    items = numbered(12_000, text="x" * 500)
    path = tmp_path / "in.jsonl"
    path.write_text(json_lines(items))
    running = Running(_command("import", server, container, path, "--mode", mode))
    until(lambda: _count(container) > 1_000, "nothing is imported")
    server.kill()
    assert running.process.poll() is None, "the import was too fast to be interrupted"
    time.sleep(0.3)
    server.start_again()
    counts = running.counts()
    assert counts.imported == counts.read == 12_000
    with CosmosClient(server.https, KEY) as client:
        assert stored(client.get_database_client("d").get_container_client("c")) == items


def test_splits_do_not_matter(own, tmp_path):
    server, container = own
    items = numbered(12_000, text="x" * 300)
    running = Running(_command("import", server, container, "-"))
    text = json_lines(items)
    half = text.index("\n", len(text) // 2) + 1
    running.process.stdin.write(text[:half])
    running.process.stdin.flush()
    until(lambda: _count(container) > 1_000, "nothing is imported")
    split(server, container)
    running.process.stdin.write(text[half:])
    running.process.stdin.close()
    running.process.stdin = None
    assert running.counts().created == 12_000
    assert len(range_ids(server, container)) == 2
    # A reader that stops in the middle holds the export there.
    export = subprocess.Popen(
        _command("export", server, container), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
    )
    lines = [export.stdout.readline() for _ in range(100)]
    assert len(split(server, container)) == 3
    lines.extend(export.stdout)
    assert export.wait(END_SECONDS_MAX) == 0
    assert sorted((json.loads(line) for line in lines), key=lambda item: item["id"]) == items


def test_export_outlives_a_restart(own):
    server, container = own
    items = numbered(6_000, text="x" * 1_000)
    run_import(server, container, text=json_lines(items))
    export = subprocess.Popen(
        _command("export", server, container), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
    )
    lines = [export.stdout.readline()]
    server.kill()
    server.start_again()
    lines.extend(export.stdout)
    assert export.wait(END_SECONDS_MAX) == 0
    assert sorted((json.loads(line) for line in lines), key=lambda item: item["id"]) == items


def test_options_that_make_no_sense(server, container, tmp_path):
    state = tmp_path / "state.json"
    state.write_text("{}")
    assert "no state of an import" in refused(server, container, "--resume", state)
    assert "no column x" in refused(server, container, "--format", "csv", "--id-from", "x", text="a,b\n1,2\n")
    assert "no JSON array" in refused(server, container, "--format", "json", text="{}")
    assert "at most 3 paths" in refused(server, container, *["--create", "/a"] * 4)
    assert Path(state).read_text() == "{}"
