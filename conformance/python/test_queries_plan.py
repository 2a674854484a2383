"""A server that leaves the merge to the client: the SDK runs the rewritten query on every partition."""

import pytest
from azure.cosmos import CosmosClient

from query_data import ITEM_COUNT, items, same_number
from query_fixtures import fill, read_pages, run
from sdk import refused
from server import KEY, Server

ITEMS = items()


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("plan"), "--cross-partition-queries", "plan", "--memory").start()
    with CosmosClient(server.https, KEY) as client:
        yield fill(client.create_database("d"), "c")
    assert server.stop() == 0
    assert server.complaints() == []


def test_filters_need_no_plan(filled):
    assert sorted(run(filled, "SELECT VALUE c.n FROM c WHERE c.n >= 300", max_item_count=3)) == list(range(300, 320))


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("direction", ["ASC", "DESC"])
def test_order_by(filled, direction, size):
    query = f"SELECT VALUE c.n FROM c WHERE c.n < 60 ORDER BY c.n {direction}"
    assert run(filled, query, max_item_count=size) == sorted(range(60), reverse=direction == "DESC")
    query = f"SELECT c.word FROM c WHERE c.n < 60 ORDER BY c.word {direction}"
    words = sorted((item["word"] for item in ITEMS[:60]), reverse=direction == "DESC")
    assert [row["word"] for row in run(filled, query, max_item_count=size)] == words


@pytest.mark.parametrize("size", [1, 3, 100])
def test_order_by_whole_items(filled, size):
    found = run(filled, "SELECT * FROM c WHERE c.n < 20 ORDER BY c.n", max_item_count=size)
    assert [item["id"] for item in found] == [f"item {n}" for n in range(20)]
    assert all(item["_rid"] for item in found)


@pytest.mark.parametrize("size", [2, 100])
def test_order_by_two_keys(filled, size):
    found = run(
        filled, "SELECT VALUE [c.band, c.n] FROM c WHERE c.n < 60 ORDER BY c.band, c.n DESC", max_item_count=size
    )
    assert found == sorted(([n % 7, n] for n in range(60)), key=lambda row: (row[0], -row[1]))


@pytest.mark.parametrize("size", [1, 3, 100])
def test_top_and_offset(filled, size):
    assert run(filled, "SELECT TOP 7 VALUE c.n FROM c ORDER BY c.n DESC", max_item_count=size) == list(
        range(319, 312, -1)
    )
    assert len(run(filled, "SELECT TOP 7 * FROM c", max_item_count=size)) == 7
    assert run(filled, "SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 10 LIMIT 5", max_item_count=size) == list(
        range(10, 15)
    )
    assert run(filled, "SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 318 LIMIT 5", max_item_count=size) == [318, 319]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_distinct(filled, size):
    words = {item["word"] for item in ITEMS}
    assert sorted(run(filled, "SELECT DISTINCT VALUE c.word FROM c", max_item_count=size)) == sorted(words)
    assert run(filled, "SELECT DISTINCT VALUE c.word FROM c ORDER BY c.word", max_item_count=size) == sorted(words)
    found = run(filled, "SELECT DISTINCT c.band FROM c ORDER BY c.band DESC", max_item_count=size)
    assert [row["band"] for row in found] == [6, 5, 4, 3, 2, 1, 0]


def test_aggregates(filled):
    numbers = [item["n"] for item in ITEMS]
    assert run(filled, "SELECT VALUE COUNT(1) FROM c") == [ITEM_COUNT]
    assert run(filled, "SELECT VALUE SUM(c.n) FROM c") == [sum(numbers)]
    assert run(filled, "SELECT VALUE MIN(c.n) FROM c") == [0]
    assert run(filled, "SELECT VALUE MAX(c.n) FROM c") == [319]
    [mean] = run(filled, "SELECT VALUE AVG(c.half) FROM c")
    assert same_number(mean, sum(numbers) / 2 / ITEM_COUNT)
    assert run(filled, "SELECT VALUE COUNT(1) FROM c WHERE c.n < 0") == [0]
    assert run(filled, "SELECT VALUE MAX(c.n) FROM c WHERE c.band = 2 AND c.n < 100") == [93]
    assert run(filled, "SELECT VALUE SUM(c.n) FROM c WHERE c.device = 'device 5'") == [sum(range(5, 320, 40))]


def test_what_this_sdk_cannot_merge_is_refused(filled):
    with refused(400):
        run(filled, "SELECT COUNT(1) AS n, MAX(c.n) AS most FROM c")
    with refused(400):
        run(filled, "SELECT c.band, COUNT(1) AS n FROM c GROUP BY c.band")
    with refused(400):
        run(filled, "SELECT VALUE AVG(c.n) + 1 FROM c")


def test_one_logical_partition_needs_no_plan(filled):
    query = "SELECT COUNT(1) AS n, MAX(c.n) AS most FROM c"
    assert run(filled, query, partition_key="device 3") == [{"n": 8, "most": 283}]
    query = "SELECT c.band, COUNT(1) AS n FROM c GROUP BY c.band"
    assert sum(row["n"] for row in run(filled, query, partition_key="device 3")) == 8
    assert run(filled, "SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 1 LIMIT 2", partition_key="device 3") == [
        243,
        203,
    ]
    assert run(filled, "SELECT VALUE c.n FROM c WHERE c.device = 'device 3' ORDER BY c.n") == list(range(3, 320, 40))


def test_pages_of_a_merged_query(filled):
    pages, _ = read_pages(filled, "SELECT VALUE c.n FROM c WHERE c.n < 30 ORDER BY c.n", 7)
    assert [row for page in pages for row in page] == list(range(30))


def test_parameters_reach_the_partitions(filled):
    parameters = [{"name": "@least", "value": 310}, {"name": "@word", "value": 'it\'s "x"'}]
    query = "SELECT VALUE c.n FROM c WHERE c.n >= @least AND c.word != @word ORDER BY c.n"
    assert run(filled, query, parameters=parameters) == list(range(310, 320))


def test_errors_come_from_the_plan_too(filled):
    with refused(400) as caught:
        run(filled, "SELECT * FROM c ORDER BY LOWER(c.word)")
    assert "ORDER BY item expression could not be mapped to a document path" in caught.value.message
    with refused(400) as caught:
        run(filled, "SELECT * FROM c ORDER BY c.word, c.half")
    assert "composite index" in caught.value.message
