"""Headers about how a query ran: metrics, indexes used and missed, item counts, session tokens."""

import base64
import json

import pytest

from query_data import items
from query_fixtures import fill, read_pages

METRICS = {
    "totalExecutionTimeInMs",
    "queryCompileTimeInMs",
    "indexLookupTimeInMs",
    "documentLoadTimeInMs",
    "retrievedDocumentCount",
    "retrievedDocumentSize",
    "outputDocumentCount",
    "outputDocumentSize",
    "indexUtilizationRatio",
}


@pytest.fixture(scope="module")
def filled(database):
    container = fill(database, "queries-metrics")
    yield container
    database.delete_container(container)


def _metrics(answer: dict) -> dict[str, float]:
    return {
        name: float(value)
        for name, value in (pair.split("=") for pair in answer["x-ms-documentdb-query-metrics"].split(";"))
    }


def _utilization(answer: dict) -> dict:
    found = answer["x-ms-cosmos-index-utilization"]
    if isinstance(found, dict):
        return found
    return json.loads(found if found.startswith("{") else base64.b64decode(found))


def _single(utilization: dict, kind: str) -> set[str]:
    return {one["IndexSpec"] for one in utilization[f"{kind}SingleIndexes"]}


def test_metrics_only_when_asked_for(filled):
    _, [plain] = read_pages(filled, "SELECT * FROM c WHERE c.n < 3", 100)
    assert "x-ms-documentdb-query-metrics" not in plain
    assert "x-ms-cosmos-index-utilization" not in plain


def test_metrics_count_what_was_read_and_given(filled):
    [rows], [answer] = read_pages(filled, "SELECT * FROM c WHERE c.n < 12", 100, populate_query_metrics=True)
    metrics = _metrics(answer)
    assert metrics.keys() >= METRICS
    assert metrics["retrievedDocumentCount"] == metrics["outputDocumentCount"] == len(rows) == 12
    assert metrics["retrievedDocumentSize"] > 0
    assert metrics["indexUtilizationRatio"] == 1
    assert metrics["totalExecutionTimeInMs"] >= 0


def test_metrics_of_a_scan(filled):
    [rows], [answer] = read_pages(
        filled, "SELECT VALUE c.n FROM c WHERE LOWER(c.word) = 'fig'", 1000, populate_query_metrics=True
    )
    metrics = _metrics(answer)
    assert metrics["retrievedDocumentCount"] == len(items())
    assert metrics["outputDocumentCount"] == len(rows) == 40
    assert metrics["indexUtilizationRatio"] < 1


def test_metrics_of_pages_add_up(filled):
    pages, answers = read_pages(
        filled, "SELECT VALUE c.n FROM c WHERE c.n < 20 ORDER BY c.n", 7, populate_query_metrics=True
    )
    assert [len(page) for page in pages] == [7, 7, 6]
    assert sum(_metrics(answer)["outputDocumentCount"] for answer in answers) == 20


def test_used_indexes(filled):
    _, [answer] = read_pages(
        filled, "SELECT * FROM c WHERE c.n < 3 AND c.word = 'apple'", 100, populate_index_metrics=True
    )
    assert _single(_utilization(answer), "Utilized") & {"/n/?", "/word/?"}


def test_used_composite_index(filled):
    query = "SELECT c.n FROM c ORDER BY c.band, c.n DESC OFFSET 0 LIMIT 5"
    _, [answer] = read_pages(filled, query, 100, populate_index_metrics=True)
    composite = _utilization(answer)["UtilizedCompositeIndexes"]
    assert ["/band ASC", "/n DESC"] in [one["IndexSpecs"] for one in composite]


def test_missed_index(make_container):
    policy = {"indexingMode": "consistent", "includedPaths": [{"path": "/a/?"}], "excludedPaths": [{"path": "/*"}]}
    container = make_container(indexing_policy=policy)
    container.create_item({"id": "1", "city": "Oslo", "a": 1, "b": 1})
    _, [answer] = read_pages(container, "SELECT * FROM c WHERE c.b = 1", 100, populate_index_metrics=True)
    assert "/b/?" in _single(_utilization(answer), "Potential")
    _, [answer] = read_pages(container, "SELECT * FROM c WHERE c.a = 1", 100, populate_index_metrics=True)
    assert _single(_utilization(answer), "Utilized") == {"/a/?"}


def test_every_answer_counts_its_rows(filled):
    pages, answers = read_pages(filled, "SELECT VALUE c.n FROM c WHERE c.n < 20 ORDER BY c.n", 8)
    assert [answer["x-ms-item-count"] for answer in answers] == [str(len(page)) for page in pages]
    assert all(answer["x-ms-session-token"] and answer["x-ms-activity-id"] for answer in answers)
    assert ["x-ms-continuation" in answer for answer in answers] == [True, True, False]
