"""Queries under indexing policies that change, and computed properties."""

import time

import pytest
from azure.cosmos import PartitionKey

from query_data import items
from query_fixtures import COMPOSITE, WIDE_THROUGHPUT, run
from sdk import last_headers, refused

REINDEX_SECONDS_MAX = 30
DEFAULT = {"indexingMode": "consistent", "includedPaths": [{"path": "/*"}], "excludedPaths": [{"path": '/"_etag"/?'}]}
ONLY_N = {"indexingMode": "consistent", "includedPaths": [{"path": "/n/?"}], "excludedPaths": [{"path": "/*"}]}
PROGRESS = "x-ms-documentdb-collection-index-transformation-progress"


def _indexed(container) -> None:
    """Waits until a changed policy is carried out."""
    deadline = time.monotonic() + REINDEX_SECONDS_MAX
    while True:
        container.read(populate_quota_info=True)
        progress = int(last_headers(container)[PROGRESS])
        assert 0 <= progress <= 100
        if progress == 100:
            return
        assert time.monotonic() < deadline, "the new policy is never carried out"
        time.sleep(0.05)


def _check_rows(container) -> None:
    assert sorted(run(container, "SELECT VALUE c.n FROM c WHERE c.n >= 310")) == list(range(310, 320))
    assert len(run(container, "SELECT VALUE c.n FROM c WHERE c.word = 'fig'")) == 40
    assert len(run(container, "SELECT VALUE c.n FROM c WHERE NOT IS_DEFINED(c.mixed)")) == 22
    assert run(container, "SELECT VALUE COUNT(1) FROM c WHERE c.band = 3 AND c.n > 100") == [32]


def test_queries_stay_right_while_the_policy_changes(database, make_container):
    container = make_container("/device", offer_throughput=WIDE_THROUGHPUT, indexing_policy=DEFAULT)
    for item in items():
        container.create_item(item)
    two_keys = "SELECT VALUE [c.band, c.n] FROM c ORDER BY c.band, c.n DESC"
    expected = sorted(([item["band"], item["n"]] for item in items()), key=lambda row: (row[0], -row[1]))
    with refused(400):
        run(container, two_keys)

    database.replace_container(container, PartitionKey("/device"), indexing_policy=COMPOSITE)
    _check_rows(container)
    _indexed(container)
    assert run(container, two_keys) == expected
    _check_rows(container)

    database.replace_container(container, PartitionKey("/device"), indexing_policy=ONLY_N)
    _check_rows(container)
    with refused(400):
        run(container, "SELECT * FROM c ORDER BY c.word")
    assert run(container, "SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n") == [0, 1, 2]
    _indexed(container)
    _check_rows(container)

    database.replace_container(container, PartitionKey("/device"), indexing_policy=DEFAULT)
    _check_rows(container)
    _indexed(container)
    assert len(run(container, "SELECT * FROM c ORDER BY c.word")) == 320
    _check_rows(container)


def test_computed_properties(make_container):
    policy = {**DEFAULT, "includedPaths": [{"path": "/*"}, {"path": "/lower_word/?"}]}
    computed = [
        {"name": "lower_word", "query": "SELECT VALUE LOWER(c.word) FROM c"},
        {"name": "twice", "query": "SELECT VALUE c.n * 2 FROM c"},
    ]
    container = make_container("/device", offer_throughput=40_000, indexing_policy=policy, computed_properties=computed)
    for item in items()[:50]:
        container.create_item(item)
    assert sorted(run(container, "SELECT VALUE c.n FROM c WHERE c.lower_word = 'elder'")) == list(range(6, 50, 8))
    assert sorted(run(container, "SELECT VALUE c.twice FROM c WHERE c.twice > 90")) == [92, 94, 96, 98]
    assert run(container, "SELECT TOP 1 VALUE c.lower_word FROM c ORDER BY c.lower_word DESC") == ["fig"]
    assert run(container, "SELECT VALUE SUM(c.twice) FROM c") == [49 * 50]
    groups = run(container, "SELECT c.lower_word AS w, COUNT(1) AS n FROM c GROUP BY c.lower_word")
    assert {row["w"] for row in groups} == {item["word"].lower() for item in items()}
    [whole] = run(container, "SELECT * FROM c WHERE c.n = 6")
    assert "lower_word" not in whole
    assert "twice" not in whole
    with refused(400):
        run(container, "SELECT * FROM c ORDER BY c.twice")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT c.x FROM c",
        "SELECT VALUE c.x FROM c WHERE c.x = 1",
        "SELECT VALUE t FROM c JOIN t IN c.tags",
        "SELECT VALUE COUNT(1) FROM c",
        "SELECT VALUE c.x FROM c GROUP BY c.x",
        "SELECT VALUE c.x FROM c ORDER BY c.x",
        "SELECT TOP 1 VALUE c.x FROM c",
        "SELECT DISTINCT VALUE c.x FROM c",
        "SELECT VALUE c.x FROM c OFFSET 0 LIMIT 1",
        "SELECT VALUE (SELECT VALUE c.x) FROM c",
        "SELECT VALUE EXISTS(SELECT VALUE c.x) FROM c",
        "SELECT VALUE udf.f(c.x) FROM c",
        "SELECT VALUE RAND() FROM c",
        "SELECT VALUE GETCURRENTDATETIME() FROM c",
        "SELECT VALUE ST_DISTANCE(c.a, c.b) FROM c",
        "SELECT VALUE c.x FROM",
        "SELECT VALUE NOSUCH(c.x) FROM c",
        "SELECT VALUE d.x FROM c",
    ],
)
def test_computed_property_that_cannot_be(make_container, query):
    with refused(400):
        make_container(computed_properties=[{"name": "p", "query": query}])


@pytest.mark.parametrize("name", ["id", "_rid", "_ts", "_etag", "_self", ""])
def test_names_that_computed_properties_cannot_have(make_container, name):
    with refused(400):
        make_container(computed_properties=[{"name": name, "query": "SELECT VALUE c.x FROM c"}])


def test_number_of_computed_properties(make_container):
    def computed(count):
        return [{"name": f"p{n}", "query": f"SELECT VALUE c.x + {n} FROM c"} for n in range(count)]

    container = make_container(computed_properties=computed(20))
    container.create_item({"id": "1", "city": "Oslo", "x": 1})
    assert run(container, "SELECT VALUE c.p0 + c.p19 FROM c") == [21]
    with refused(400):
        make_container(computed_properties=computed(21))
    with refused(400):
        make_container(computed_properties=computed(1) * 2)
