"""Queries that are refused: status, code, place, and the server that goes on."""

import json

import pytest
from azure.cosmos import PartitionKey

from query_fixtures import run
from sdk import refused

ERRORS = [
    ("SELECT * FORM c", "SC1001", (9, 13)),
    ("SELEKT * FROM c", "SC1001", (0, 6)),
    ("SELECT * FROM c WHERE", "SC1002", None),
    ("SELECT * FROM c WHERE c.x IN ()", "SC1001", (30, 31)),
    ("SELECT '\U0001f600' AS x FORM c", "SC1001", (17, 21)),
    ("SELECT id FROM c", "SC2001", (7, 9)),
    ("SELECT f.id FROM c", "SC2001", (7, 8)),
    ("SELECT VALUE BADFUNC(c.x) FROM c", "SC2005", (13, 20)),
    ("SELECT VALUE STARTSWITH(c.x) FROM c", "SC2050", (13, 28)),
    ("SELECT * FROM c GROUP BY c.x", "SC2041", None),
    ("SELECT c.x, COUNT(1) FROM c", "SC2102", None),
    ("SELECT VALUE SUM(COUNT(1)) FROM c", "SC2101", (13, 26)),
    ("SELECT TOP 1.5 * FROM c", "SC2060", None),
    ("SELECT * FROM c OFFSET 4294967296 LIMIT 1", "SC2062", None),
    ("SELECT VALUE ARRAY(SELECT VALUE t FROM t IN c.x ORDER BY t) FROM c", "SC2202", (48, 58)),
]
EVERY_ERROR = pytest.mark.parametrize(("query", "code", "place"), ERRORS, ids=[query for query, _, _ in ERRORS])


def _error_list(error) -> list[dict]:
    """Returns the error list inside the message, as people who handle errors cut it out."""
    text = error.message
    start = text.index('{"errors"')
    return json.JSONDecoder().raw_decode(text[start:])[0]["errors"]


@pytest.fixture(scope="module")
def filled(database):
    container = database.create_container("queries-errors", PartitionKey("/city"), offer_throughput=40_000)
    container.create_item({"id": "1", "city": "Oslo", "x": [1, 2]})
    yield container
    database.delete_container(container)


@EVERY_ERROR
@pytest.mark.parametrize("scope", ["all", "key"])
def test_refused_with_code_and_place(filled, query, code, place, scope):
    options = {"partition_key": "Oslo"} if scope == "key" else {}
    with refused(400) as caught:
        run(filled, query, **options)
    [first, *_] = _error_list(caught.value)
    assert first["code"] == code
    assert first["severity"] == "Error"
    assert first["message"]
    if place:
        assert (first["location"]["start"], first["location"]["end"]) == place


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("SELECT * FROM c ORDER BY c.a, c.b", "does not have a corresponding composite index"),
        ("SELECT VALUE t FROM c JOIN t IN c.x ORDER BY t", "Order-by over correlated collections is not supported."),
        ("SELECT VALUE (SELECT VALUE t FROM t IN c.x) FROM c", "cardinality of a scalar subquery"),
        ("SELECT * FROM c ORDER BY LOWER(c.x)", "could not be mapped to a document path"),
        ("SELECT * FROM c WHERE c.x = @missing", "@missing"),
        ("SELECT *", ""),
        ("", ""),
        ("   ", ""),
        ("SELECT VALUE udf.nobody(c.x) FROM c", ""),
    ],
)
def test_refused_with_a_text(filled, query, text):
    with refused(400) as caught:
        run(filled, query)
    assert text in caught.value.message


def test_order_by_an_excluded_path(make_container):
    policy = {"indexingMode": "consistent", "includedPaths": [{"path": "/*"}], "excludedPaths": [{"path": "/secret/*"}]}
    container = make_container(indexing_policy=policy)
    with refused(400) as caught:
        run(container, "SELECT * FROM c ORDER BY c.secret")
    assert "The index path corresponding to the specified order-by item is excluded." in caught.value.message
    assert run(container, "SELECT * FROM c WHERE c.secret = 1") == []


def test_longest_text(filled):
    def text(length):
        query = "SELECT VALUE LENGTH('{}') FROM c"
        return query.format("x" * (length - len(query) + 2))

    limit = 512 * 1024
    assert run(filled, text(limit)) == [limit - len("SELECT VALUE LENGTH('') FROM c")]
    with refused(400):
        run(filled, text(limit + 1))


def test_deeply_nested_text_is_refused(filled):
    for opening, closing in (("(", ")"), ("[", "]"), ("{a:", "}"), ("NOT ", ""), ("-", ""), ("ABS(", ")")):
        with refused(400):
            run(filled, f"SELECT VALUE {opening * 20_000}1{closing * 20_000} FROM c")
    assert run(filled, "SELECT VALUE ((((1)))) FROM c") == [1]


def test_cross_partition_query_needs_permission(filled):
    with refused(400) as caught:
        list(filled.query_items("SELECT * FROM c WHERE c.x = 1"))
    assert "Cross partition query is required but disabled" in caught.value.message


def test_query_of_what_is_not_there(database, client):
    with refused(404):
        run(database.get_container_client("nobody"), "SELECT * FROM c")
    with refused(404):
        run(client.get_database_client("nobody").get_container_client("c"), "SELECT * FROM c", partition_key="x")
