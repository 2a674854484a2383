"""The README's Python snippets, run as they are printed.

Each is a program of its own, as a reader would start it; only the ports are another, since the usual ones may be
taken. Every Python snippet of the README has to be expected here.
"""

import ast
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator

import pytest

from server import KEY, REPOSITORY, Server

SECONDS_MAX = 60
SNIPPETS = {
    "sql": "from azure.cosmos import",
    "tables": "from azure.data.tables import",
    "mongo": "from pymongo import",
    "graph": "from gremlin_python.driver import",
    "traversal": "from gremlin_python.driver.driver_remote_connection import",
}


@pytest.fixture(scope="module")
def own_server(tmp_path_factory) -> Iterator[Server]:
    """A server nobody has used, as a reader has it."""
    server = Server(tmp_path_factory.mktemp("readme")).start()
    yield server
    assert server.stop() == 0


def fenced(language: str) -> list[str]:
    """The README's blocks of one language, in the order in which they are printed."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def snippet(name: str) -> str:
    """The one snippet that begins with the import of this library."""
    found = [block for block in fenced("python") if block.startswith(SNIPPETS[name])]
    assert len(found) == 1, f"{len(found)} snippets begin with {SNIPPETS[name]!r}"
    return found[0]


def run(program: str, server: Server) -> list[str]:
    """Runs a snippet against the server; returns the lines it prints."""
    moved = program.replace("localhost:8081", f"localhost:{server.port}")
    moved = moved.replace("localhost:8902", f"localhost:{server.table_port}")
    moved = moved.replace("localhost:10255", f"localhost:{server.mongo_port}")
    moved = moved.replace("localhost:8901", f"localhost:{server.gremlin_port}")
    assert moved != program, "the snippet does not connect where the README says that the server listens"
    done = subprocess.run([sys.executable, "-c", moved], capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_every_snippet_is_expected():
    beginnings = tuple(SNIPPETS.values())
    assert [block for block in fenced("python") if not block.startswith(beginnings)] == []


# Twice, since a reader who likes it does it again.
@pytest.mark.parametrize("time", ["the first time", "the second time"])
def test_items(own_server, time):
    item, average, charge = run(snippet("sql"), own_server)
    read = ast.literal_eval(item)
    stored = {name: value for name, value in read.items() if not name.startswith("_")}
    assert stored == {"id": "reading-1", "deviceId": "pump-7", "celsius": 41.5}
    assert {"_rid", "_self", "_etag", "_ts"} <= read.keys()
    assert ast.literal_eval(average) == [41.5]
    assert 0 < float(charge) < 20


@pytest.mark.parametrize("time", ["the first time", "the second time"])
def test_entities(own_server, time):
    (line,) = run(snippet("tables"), own_server)
    row_key, total, timestamp = line.split(" ", 2)
    assert (row_key, float(total)) == ("2026-001", 41.5)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d.*", timestamp)


@pytest.mark.parametrize("time", ["the first time", "the second time"])
def test_documents(own_server, time):
    document, sold, charge = run(snippet("mongo"), own_server)
    lines = [{"sku": "a7", "count": 3}]
    assert ast.literal_eval(document) == {"_id": 1, "customer": "ann", "total": 41.5, "lines": lines}
    assert ast.literal_eval(sold) == [{"_id": "a7", "sold": 3}]
    assert float(charge) > 0


@pytest.mark.parametrize("time", ["the first time", "the second time"])
def test_graphs(own_server, time):
    known, counted = run(snippet("graph"), own_server)
    assert ast.literal_eval(known) == [{"id": "eva", "city": "Oslo"}]
    count, charge = counted.split(" ")
    assert ast.literal_eval(count) == [2]
    assert float(charge) > 0
    assert run(snippet("traversal"), own_server) == ["['eva']"]


def test_the_exported_key_is_the_one_the_server_takes():
    exported = re.findall(r"^export COSMOS_KEY='(.*)'$", "".join(fenced("sh")), re.MULTILINE)
    assert exported == [KEY]


def test_the_ready_line_says_what_the_readme_says(own_server):
    (printed,) = [block for block in fenced("text") if block.startswith("armilla ready:")]
    names = re.findall(r"(\w+)=\S+", printed)
    # The tests ask for this port, which a start without options does not have.
    assert [name for name in own_server.ready if name != "storage_table"] == names


def test_what_curl_is_pointed_at(own_server):
    commands = "".join(fenced("sh"))
    paths = re.findall(r"^curl http://localhost:8081(/\S*)", commands, re.MULTILINE)
    assert paths
    for path in paths:
        with urllib.request.urlopen(urllib.parse.urljoin(own_server.http, path), timeout=SECONDS_MAX) as response:
            assert response.status == 200
