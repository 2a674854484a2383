"""`armilla bench`: short runs of every workload, what they write, and comparisons of it."""

import json
import os
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosResourceNotFoundError

from conftest import fresh
from server import Server, binary

END_SECONDS_MAX = 60
# Short, small, and with few connections: what is tested is the command and not the server.
BRIEF = ["--seconds", "0.4", "--warm-up", "0.1", "--connections", "2", "--items", "60"]
QUANTILES = ["mean", "p50", "p90", "p99", "p999", "max"]

# What `armilla demo blog` registers as well.
ADD_TO_POST = """function (postId, item) {
    const collection = getContext().getCollection();
    collection.readDocument(`${collection.getAltLink()}/docs/${postId}`, (error, post) => {
        if (error) throw error;
        post.COUNTER += 1;
        collection.replaceDocument(post._self, post, (error) => {
            if (error) throw error;
            collection.createDocument(collection.getSelfLink(), item);
        });
    });
}"""


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("ARMILLA_")}


def bench(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess:
    """Runs the command, which has to end with this code."""
    command = [str(binary()), "bench", *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=END_SECONDS_MAX, env=environment())
    assert ended.returncode == code, f"{ended.returncode}: {ended.stdout}{ended.stderr}"
    return ended


def on(server: Server, database: str | None = None) -> list[str]:
    """The options that name a server and a database of its own there."""
    return ["--endpoint", server.http, "--database", database or fresh("bench")]


def measurements(path: Path) -> dict[tuple[str, str | None], dict]:
    """Reads a result, by workload and kind of operation."""
    result = json.loads(path.read_text())
    assert (result["format"], result["version"]) == ("armilla-bench", 2)
    return {(row["workload"], row.get("operation")): row for row in result["measurements"]}


@pytest.fixture(scope="module")
def roomy(tmp_path_factory) -> Iterator[Server]:
    """A server that refuses nothing for want of throughput."""
    started = Server(tmp_path_factory.mktemp("roomy"), "--throttle", "off").start()
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="module")
def result(roomy, tmp_path_factory) -> Path:
    """The result of a run with several workloads."""
    path = tmp_path_factory.mktemp("bench") / "result.json"
    bench("point-read", "mixed", "script", *BRIEF, *on(roomy), "--json", path)
    return path


def test_what_a_result_says(result):
    rows = measurements(result)
    whole = {("point-read", None), ("mixed", None), ("script", None)}
    assert rows.keys() == whole | {("mixed", "read"), ("mixed", "write")}
    for row in rows.values():
        assert row["side"] == "armilla"
        assert row["loop"] == "closed"
        assert (row["connections"], row["state"]) == (2, "loaded")
        assert row["operations"] > 0
        assert (row["failed"], row["refused"]) == (0, 0)
        assert row["operationsPerSecond"] == pytest.approx(row["operations"] / row["seconds"])
        for name in ("latencyUs", "serviceUs"):
            assert [*row[name]] == QUANTILES
            assert 0 < row[name]["p50"] <= row[name]["p90"] <= row[name]["p99"] <= row[name]["max"]
        percentiles = [one for one, _ in row["percentilesUs"]]
        assert percentiles == sorted(percentiles)
    for row in (rows[name] for name in whole):
        assert 0 < sum(row["bySecond"]) <= row["operations"]
        # The server counts in hundredths of a second, and cannot have used more than all cores.
        assert 0 < row["cpuSeconds"] <= (row["seconds"] + 0.1) * os.cpu_count()
        assert row["cpuUsPerOperation"] == pytest.approx(row["cpuSeconds"] * 1e6 / row["operations"])
    assert "cpuSeconds" not in rows["mixed", "read"]
    # An item of the default size is one kilobyte with its system properties.
    assert rows["point-read", None]["requestUnitsPerOperation"] == pytest.approx(1)
    assert rows["mixed", "write"]["requestUnitsPerOperation"] > 5
    kinds = [rows["mixed", kind]["operations"] for kind in ("read", "write")]
    assert sum(kinds) == rows["mixed", None]["operations"]
    settings = json.loads(result.read_text())["settings"]
    assert {"connections": "2", "items": "60", "seconds": "0.4", "seed": "1"}.items() <= settings.items()


def test_a_database_is_left_as_it_was(server, client, make_database, tmp_path):
    kept = make_database(fresh("kept"))
    kept.create_container("mine", PartitionKey("/id"))
    said = bench("point-read", *BRIEF, *on(server, kept.id), code=1).stderr
    assert f"has a database {kept.id} already" in said
    assert [one["id"] for one in kept.list_containers()] == ["mine"]
    page = tmp_path / "page.html"
    bench("point-read", *BRIEF, *on(server, kept.id), "--replace", "--report", page)
    with pytest.raises(CosmosResourceNotFoundError):
        kept.read()
    assert page.read_text().lstrip().lower().startswith("<!doctype html>")
    assert "point-read" in page.read_text()
    bench("point-read", *BRIEF, *on(server, kept.id), "--keep")
    assert [one["id"] for one in client.get_database_client(kept.id).list_containers()] == ["items"]


def test_a_signal_ends_a_run_and_removes_its_database(server, client):
    name = fresh("bench")
    command = [str(binary()), "bench", "write", "--seconds", "60", "--items", "60", *on(server, name)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment())
    while "write on armilla" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=END_SECONDS_MAX)
    assert process.returncode == 1
    assert "stopped by a signal" in said
    with pytest.raises(CosmosResourceNotFoundError):
        client.get_database_client(name).read()


def test_comparisons(result, tmp_path):
    said = bench("compare", result, result, "--fail-if-slower", "0").stdout
    assert said.count("1.00") >= 5
    slower = json.loads(result.read_text())
    for row in slower["measurements"]:
        row["operations"] = row["operations"] // 2
    other = tmp_path / "slower.json"
    other.write_text(json.dumps(slower))
    assert "slower" not in bench("compare", result, other).stdout
    said = bench("compare", result, other, "--fail-if-slower", "10", code=2).stdout
    named = re.escape("slower: point-read (armilla, 2 connections, loaded)")
    assert re.search(rf"{named} does .* operations a second, .* before", said)
    assert bench("compare", other, result, "--fail-if-slower", "10").returncode == 0
    bench("compare", result, other, "--fail-if-slower", "60")

    slower["measurements"] = []
    other.write_text(json.dumps(slower))
    assert "have nothing in common" in bench("compare", result, other, code=1).stderr
    other.write_text(json.dumps({**slower, "version": 3}))
    assert "version 3 of the format" in bench("compare", result, other, code=1).stderr
    assert "cannot read" in bench("compare", result, tmp_path / "none.json", code=1).stderr


def test_several_connections_and_states(tmp_path):
    path = tmp_path / "states.json"
    circumstances = ["--connections", "1,3,1", "--states", "rested,written,loaded", "--write-rate", "50"]
    ended = bench("point-read", "script", "feed", *BRIEF[:4], "--items", "60", *circumstances, "--json", path)
    result = json.loads(path.read_text())
    rows = {(row["workload"], row["connections"], row["state"]): row for row in result["measurements"]}
    workloads = ["point-read", "script", "feed:drain", "feed:write", "feed:delay"]
    states = ["loaded", "written", "rested"]
    expected = [(workload, count, state) for workload in workloads for count in (1, 3) for state in states]
    assert [*rows] == expected
    assert len(result["measurements"]) == len(expected)
    for (_, _, state), row in rows.items():
        assert row["operations"] > 0
        assert row["failed"] == 0
        assert ("backgroundWrites" in row) == (state == "written")
    written = rows["point-read", 3, "written"]["backgroundWrites"]
    assert written["rate"] == 50
    assert 0 < written["operationsPerSecond"] <= 60
    settings = {"connections": "1,3", "states": "loaded,written,rested", "writeRate": "50"}
    assert settings.items() <= result["settings"].items()
    assert re.search(r"^point-read +3 +rested ", ended.stdout, re.MULTILINE)
    assert ended.stderr.index("3 connections, loaded") < ended.stderr.index("1 connection, written")
    assert "waiting until armilla rests" in ended.stderr

    # What differs in connections or state alone is not the same thing.
    some = tmp_path / "some.json"
    keep = [row for row in result["measurements"] if (row["connections"], row["state"]) != (1, "rested")]
    some.write_text(json.dumps({**result, "measurements": keep}))
    said = bench("compare", path, some).stdout
    assert said.count("point-read") == 5 + 1
    assert "only before: point-read (armilla, 1 connection, rested)" in said


def test_results_of_the_first_version_can_be_compared(result, tmp_path):
    first = json.loads(result.read_text())
    first["version"] = 1
    for row in first["measurements"]:
        del row["connections"], row["state"]
    path = tmp_path / "first.json"
    path.write_text(json.dumps(first))
    said = bench("compare", path, result, "--fail-if-slower", "0").stdout
    assert "only" not in said


def test_an_open_loop_that_keeps_its_rate(roomy, tmp_path):
    path = tmp_path / "open.json"
    said = bench("point-read", *BRIEF, "--rate", "50", *on(roomy), "--json", path).stdout
    assert "could not keep" not in said
    row = measurements(path)["point-read", None]
    assert row["loop"] == "open"
    assert (row["openLoop"]["rate"], row["openLoop"]["due"], row["openLoop"]["keptRate"]) == (50, 20, True)
    assert row["operations"] == 20 - row["openLoop"]["unsent"]


def test_an_open_loop_that_cannot_keep_its_rate(roomy, tmp_path):
    path = tmp_path / "open.json"
    said = bench("write", *BRIEF, "--rate", "100000", *on(roomy), "--json", path).stdout
    assert "write (armilla, 2 connections, loaded) could not keep the rate: 100,000 a second were asked for" in said
    row = measurements(path)["write", None]
    assert row["openLoop"]["due"] == 40_000
    assert not row["openLoop"]["keptRate"]
    assert row["operations"] + row["openLoop"]["unsent"] == 40_000
    # What had to wait for a connection waited longer than the server took.
    assert row["latencyUs"]["p50"] > 2 * row["serviceUs"]["p50"]


def test_what_is_beyond_the_throughput_is_refused_and_counted(server, tmp_path):
    path = tmp_path / "refused.json"
    few = ["--seconds", "0.5", "--warm-up", "0", "--items", "20", "--throughput", "400", "--connections", "8"]
    said = bench("write", *few, *on(server), "--json", path).stdout
    refused = measurements(path)["write", None]["refused"]
    assert refused > 0
    assert f"{refused} operations were refused for want of throughput (429)" in said


def test_queries_and_the_feed_on_a_server_of_its_own(tmp_path):
    path = tmp_path / "own.json"
    data = tmp_path / "data"
    arguments = ["--queries", "by-key,count", "--partitions", "3", "--rate", "100", "--data-dir", data]
    bench("query", "feed", *BRIEF, *arguments, "--server-arg=--cache-mb=8", "--json", path)
    rows = {workload: row for (workload, _), row in measurements(path).items()}
    queries = ["query:by-key", "query:count"]
    assert [*rows] == [*queries, "feed:drain", "feed:write", "feed:delay"]
    assert rows["query:by-key"]["items"] == 20 * rows["query:by-key"]["operations"]
    assert rows["query:count"]["items"] == rows["query:count"]["operations"]
    assert rows["feed:drain"]["loop"] == "closed"
    # All changes are told of; those of the warm-up are not counted.
    assert rows["feed:delay"]["operations"] == pytest.approx(40, abs=3)
    assert rows["feed:delay"]["latencyUs"]["max"] < 5e6
    assert data.is_dir()


def test_postgresql_where_it_is_installed(tmp_path):
    path = tmp_path / "postgres.json"
    wanted = ["--queries", "range,count", "--postgres", "--postgres-gin", "--states", "written"]
    ended = bench("mixed", "query", *BRIEF, *wanted, "--write-rate", "50", "--json", path)
    result = json.loads(path.read_text())
    if "postgresql" not in result["indexes"]:
        assert "PostgreSQL is not installed here: it is left out" in result["notes"]
        return
    rows = {(row["workload"], row["side"], row.get("operation")): row for row in result["measurements"]}
    sides = ("armilla", "postgresql", "postgresql-gin")
    kinds = [("mixed", None), ("mixed", "read"), ("mixed", "write"), ("query:range", None), ("query:count", None)]
    assert rows.keys() == {(workload, side, kind) for workload, kind in kinds for side in sides}
    assert all(row["operations"] > 0 and row["failed"] == 0 for row in rows.values())
    assert "requestUnits" not in rows["mixed", "postgresql", None]
    for side in sides:
        assert rows["mixed", side, None]["backgroundWrites"]["operationsPerSecond"] > 0
        # Counted in hundredths of a second, in which so little may be nothing.
        cpu_seconds = sum(rows[workload, side, None]["cpuSeconds"] for workload, kind in kinds if kind is None)
        assert 0 < cpu_seconds <= 3 * 0.6 * os.cpu_count()
    indexes = result["indexes"]
    assert indexes["armilla"] == ["every path of every item"]
    assert sum("items_pkey" in index for index in indexes["postgresql"]) == 1
    assert len(indexes["postgresql"]) == 4
    assert [index for index in indexes["postgresql-gin"] if "USING gin (doc)" in index]
    assert len(indexes["postgresql-gin"]) == 2
    for name in ("rate of postgresql", "CPU of postgresql", "rate of postgresql-gin", "CPU of postgresql-gin"):
        assert name in ended.stdout
    assert "index of postgresql-gin: CREATE INDEX" in ended.stdout


@pytest.fixture
def blog(client):
    """The databases of the blog with two users, three posts, and something about each."""
    databases = {name: client.create_database(name) for name in ("blog-v1", "blog-v2", "blog-v3")}
    paths = {"users": "/id", "posts": "/postId"}
    users = [str(uuid.uuid4()) for _ in range(2)]
    posts = [(str(uuid.uuid4()), users[number % 2]) for number in range(3)]
    for version in (1, 2):
        made = {
            name: databases[f"blog-v{version}"].create_container(name, PartitionKey(path), offer_throughput=10_000)
            for name, path in paths.items()
        }
        for user in users:
            made["users"].create_item({"id": user, "username": "somebody"})
        for post, author in posts:
            about = {"postId": post, "userId": author, "creationDate": "2019-05-23T12:00:00.0000000Z"}
            made["posts"].create_item({"id": post, "type": "post", "commentCount": 1, "likeCount": 1, **about})
            for kind in ("comment", "like"):
                made["posts"].create_item({"id": str(uuid.uuid4()), "type": kind, **about})
    for name, counter in (("createComment", "commentCount"), ("createLike", "likeCount")):
        body = ADD_TO_POST.replace("COUNTER", counter)
        made["posts"].scripts.create_stored_procedure({"id": name, "body": body})
    third = databases["blog-v3"]
    of_user = third.create_container("users", PartitionKey("/userId"), offer_throughput=10_000)
    newest = third.create_container("feed", PartitionKey("/type"), offer_throughput=10_000)
    for user in users:
        of_user.create_item({"id": user, "type": "user", "userId": user, "username": "somebody"})
    for post, author in posts:
        copy = {"id": post, "type": "post", "userId": author, "creationDate": "2019-05-23T12:00:00.0000000Z"}
        of_user.create_item(copy)
        newest.create_item(copy)
    yield made["posts"]
    for database in databases.values():
        client.delete_database(database)


def test_the_blog(server, client, blog, tmp_path):
    path = tmp_path / "blog.json"
    bench("blog", *BRIEF, "--endpoint", server.http, "--json", path)
    rows = measurements(path)
    for version in (1, 2, 3):
        kinds = {kind: row for (workload, kind), row in rows.items() if workload == f"blog-v{version}"}
        assert {*kinds} == {None, "C1", "C2", "C3", "C4", "Q1", "Q2", "Q3", "Q4", "Q5", "Q6"}
        assert kinds[None]["failed"] == 0
        assert kinds["Q2"]["operations"] > 0
        requests = kinds["Q2"]["requests"] / kinds["Q2"]["operations"]
        assert requests == (4 if version == 1 else 1)
    text = "SELECT VALUE SUM(c.commentCount) FROM c WHERE c.type = 'post'"
    counted = [*blog.query_items(text, enable_cross_partition_query=True)]
    text = "SELECT VALUE COUNT(1) FROM c WHERE c.type = 'comment'"
    assert counted == [*blog.query_items(text, enable_cross_partition_query=True)]


def test_the_blog_has_to_be_loaded(server):
    said = bench("blog", *BRIEF, "--endpoint", server.http, code=1).stderr
    assert "there is no blog-v1/users on this server: load it with `armilla demo blog --keep`" in said


def test_workloads_are_described():
    said = bench("list").stdout
    for name in ("point-read", "write", "mixed", "query", "script", "feed", "blog", "all"):
        assert re.search(rf"^{name}\b", said, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "required"),
        (["wrote"], "possible values: point-read, write"),
        (["write", "--seconds", "0"], "not a number from 0.1 to 86400"),
        (["write", "--rate", "0"], "not a number from 0.1 to 1000000"),
        (["write", "--connections", "1025"], "1..=1024"),
        (["write", "--connections", "1,0"], "1..=1024"),
        (["write", "--states", "tired"], "possible values: loaded, written, rested"),
        (["write", "--write-rate", "0"], "not a number from 0.1 to 1000000"),
        (["write", "--item-bytes", "299"], "300..=2000000"),
        (["write", "--queries", "none"], "possible values: by-key"),
        (["write", "--partitions", "2", "--throughput", "400"], "cannot be used with"),
        (["compare", "a.json"], "required"),
        (["compare", "a.json", "b.json", "--fail-if-slower", "x"], "not a number"),
        (["write", "--endpoint", "http://localhost:1/"], "no server answers at http://localhost:1/"),
        (["write", "--postgres-gin"], "--postgres"),
        (["write", "--postgres", "--postgres-bin", "/none"], "/none has no initdb"),
    ],
)
def test_wrong_command_lines(arguments, expected):
    ended = bench(*arguments, code=1)
    assert expected in ended.stderr
    assert ended.stdout == ""
