"""`armilla query`: rows as lines, and how a query is answered with a price that adds up."""

import json
import re
import subprocess

import pytest

from query_command import ask, hundredths, priced_json, priced_tree
from query_fixtures import charge, fill, read_pages, run
from server import Server

QUERIES = [
    "SELECT * FROM c",
    "SELECT c.id, c.n FROM c WHERE c.n > 100",
    "SELECT VALUE COUNT(1) FROM c WHERE c.band = 2",
    "SELECT c.band, COUNT(1) AS n FROM c GROUP BY c.band",
    "SELECT TOP 10 * FROM c ORDER BY c.n DESC",
    "SELECT DISTINCT VALUE c.word FROM c",
    "SELECT VALUE c.id FROM c WHERE CONTAINS(c.word, 'an')",
    "SELECT c.id FROM c ORDER BY c.band ASC, c.n DESC",
    "SELECT VALUE 1",
    "SELECT VALUE t FROM c JOIN t IN (SELECT VALUE [1, 2]) WHERE c.n < 10",
]


@pytest.fixture(scope="module")
def wide(database):
    return fill(database, "query-command")


def _ask(server: Server, container, *arguments: str) -> subprocess.CompletedProcess:
    _, database_id, _, container_id = container.container_link.split("/")
    return ask(server, database_id, container_id, *arguments)


def _told(stderr: str) -> tuple[int, float]:
    rows, units = re.fullmatch(r"(\d+) rows? for ([\d.]+) RU, \d+ pages?\n", stderr).groups()
    return int(rows), float(units)


@pytest.mark.parametrize("query", QUERIES)
def test_rows_are_those_of_the_sdk(server, wide, query):
    done = _ask(server, wide, query)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    wanted = run(wide, query)
    key = lambda row: json.dumps(row, sort_keys=True)  # noqa: E731
    assert sorted(map(key, rows)) == sorted(map(key, wanted))
    assert _told(done.stderr)[0] == len(wanted)


@pytest.mark.parametrize("query", QUERIES)
def test_price_adds_up_to_the_charge(server, wide, query):
    plain = _ask(server, wide, query)
    done = _ask(server, wide, query, "--explain")
    assert done.returncode == 0, done.stderr
    priced = priced_tree(done.stdout)
    assert sum(priced.steps.values()) == priced.charge
    rows, units = _told(plain.stderr)
    assert (priced.rows, priced.charge) == (rows, hundredths(units))
    assert priced_json(_ask(server, wide, query, "--explain", "--json").stdout) == priced


def test_charge_is_that_of_the_sdk(server, wide):
    query = "SELECT c.id FROM c WHERE c.n > 100"
    _, headers = read_pages(wide, query, 100, partition_key="device 1")
    done = _ask(server, wide, query, "--partition-key", '["device 1"]', "--explain", "--json")
    assert json.loads(done.stdout)["charge"] == charge(headers)


def test_plan_names_what_is_read(server, wide):
    done = _ask(server, wide, "SELECT c.id FROM c WHERE c.n = @n", "-p", "@n=7", "--explain", "plan")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Rows\n  Items\n  Filter c.n = 7\n")
    # Partitions of which different things are known stand apart.
    assert sum(int(count) for count in re.findall(r"^Items of (\d+) partitions?$", done.stdout, re.MULTILINE)) == 4
    assert "  IndexSeek /n/? = 7 " in done.stdout


def test_parameters_and_limits(server, wide):
    done = _ask(server, wide, "SELECT VALUE c.word FROM c WHERE c.word = @word", "-p", "word=fig", "--max", "3")
    assert (done.returncode, done.stdout) == (0, '"fig"\n' * 3), done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["SELECT * FRM c"], "Syntax error"),
        (["SELECT * FROM c", "-p", "x"], "@name=value"),
        (["SELECT * FROM c", "--json"], "--explain"),
    ],
)
def test_what_cannot_be_asked_is_told(server, wide, arguments, said):
    done = _ask(server, wide, *arguments)
    assert done.returncode != 0
    assert said in done.stderr
