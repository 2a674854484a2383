"""Pages of queries: sizes, continuation tokens, feed ranges, restarts, and what all pages cost together."""

import pytest
from azure.cosmos import CosmosClient, PartitionKey

from query_data import DEVICE_COUNT, ITEM_COUNT
from query_fixtures import charge, fill, read_pages, run
from sdk import refused
from server import KEY

QUERIES = {
    "filter": "SELECT * FROM c WHERE c.n >= 290",
    "scan": "SELECT VALUE c.n FROM c WHERE LOWER(c.word) = 'fig'",
    "order": "SELECT VALUE c.n FROM c WHERE c.n < 50 ORDER BY c.n DESC",
    "order of every type": "SELECT c.id, c.mixed FROM c WHERE c.n < 60 ORDER BY c.mixed",
    "two keys": "SELECT VALUE [c.band, c.n] FROM c WHERE c.n < 40 ORDER BY c.band, c.n DESC",
    "top": "SELECT TOP 25 VALUE c.n FROM c ORDER BY c.n",
    "offset": "SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 7 LIMIT 21",
    "distinct": "SELECT DISTINCT VALUE c.word FROM c",
    "groups": "SELECT c.band, COUNT(1) AS n FROM c GROUP BY c.band",
    "count": "SELECT VALUE COUNT(1) FROM c WHERE c.n > 100",
    "join": "SELECT c.n, t FROM c JOIN t IN c.tags WHERE c.n < 30",
}
EVERY_QUERY = pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())


def _comparable(query: str, rows: list) -> list:
    """Returns rows as they can be compared: those of DISTINCT and GROUP BY come in another order on several pages."""
    return sorted(rows, key=repr) if "DISTINCT" in query or "GROUP BY" in query else rows


@pytest.fixture(scope="module")
def filled(database):
    container = fill(database, "queries-paging")
    yield container
    database.delete_container(container)


@EVERY_QUERY
@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_pages_give_the_same_rows_and_cost_one_each_at_least(filled, query, size):
    [whole], headers = read_pages(filled, query, 1000)
    pages, page_headers = read_pages(filled, query, size)
    assert all(len(page) <= size for page in pages)
    assert _comparable(query, [row for page in pages for row in page]) == _comparable(query, whole)
    charges = [float(answer["x-ms-request-charge"]) for answer in page_headers]
    assert all(page >= 1 for page in charges)
    # What the pages cost beside that is what the query costs on one page.
    assert round(sum(page for page in charges if page > 1), 2) <= charge(headers) <= charge(page_headers)


@EVERY_QUERY
def test_same_query_costs_the_same(filled, query):
    assert len({charge(read_pages(filled, query, 1000)[1]) for _ in range(3)}) == 1


def test_charges_say_what_is_expensive(filled):
    def cost(query, **options):
        return charge(read_pages(filled, query, 1000, **options)[1])

    one = cost("SELECT * FROM c WHERE c.id = 'item 5'", partition_key="device 5")
    few = cost("SELECT * FROM c WHERE c.n < 5")
    many = cost("SELECT * FROM c WHERE c.n < 200")
    scan = cost("SELECT * FROM c WHERE LOWER(c.word) = 'none'")
    assert 0 < one < few < many
    assert few < scan


def test_pages_are_full(filled):
    pages, _ = read_pages(filled, "SELECT VALUE c.n FROM c WHERE c.n < 100 ORDER BY c.n", 30)
    assert [len(page) for page in pages] == [30, 30, 30, 10]


def test_default_page_is_a_hundred_rows(filled):
    paged = filled.query_items("SELECT VALUE c.n FROM c ORDER BY c.n", enable_cross_partition_query=True).by_page()
    assert [len(page) for page in (list(page) for page in paged) if page] == [100, 100, 100, 20]


@EVERY_QUERY
def test_continuation_resumes_in_another_client(database, filled, second_client, query):
    other = second_client.get_database_client(database.id).get_container_client(filled.id)
    options = {"enable_cross_partition_query": True, "max_item_count": 4}
    whole = run(filled, query)
    found, token = [], None
    for turn in range(200):
        pages = (filled, other)[turn % 2].query_items(query, **options).by_page(token)
        found += list(next(pages, []))
        token = pages.continuation_token
        if not token:
            break
    assert _comparable(query, found) == _comparable(query, whole)


def test_continuation_is_fit_for_a_header(filled):
    for query in QUERIES.values():
        pages = filled.query_items(query, enable_cross_partition_query=True, max_item_count=1).by_page()
        next(pages, None)
        token = pages.continuation_token or ""
        assert len(token) < 1024
        assert token.isascii()
        assert token.isprintable()


@pytest.mark.parametrize("token", ["nonsense", "{}", "AAAA", "-1", "+RID:~abc==#RT:1", "e30=", "x" * 900])
def test_malformed_continuation_is_refused(filled, token):
    for query in ("SELECT * FROM c", "SELECT * FROM c ORDER BY c.n", "SELECT DISTINCT c.word FROM c"):
        with refused(400):
            list(filled.query_items(query, enable_cross_partition_query=True).by_page(token))


def test_continuation_of_another_query_is_refused(filled):
    pages = filled.query_items(
        "SELECT * FROM c WHERE c.n < 50", enable_cross_partition_query=True, max_item_count=3
    ).by_page()
    next(pages)
    with refused(400):
        list(
            filled.query_items("SELECT * FROM c ORDER BY c.n", enable_cross_partition_query=True).by_page(
                pages.continuation_token
            )
        )


def test_continuation_survives_writes_in_between(make_container):
    container = make_container("/device", offer_throughput=40_000)
    for n in range(0, 40, 2):
        container.create_item({"id": str(n), "device": str(n % 10), "n": n})
    query = "SELECT VALUE c.n FROM c ORDER BY c.n"
    pages = container.query_items(query, enable_cross_partition_query=True, max_item_count=5).by_page()
    first = list(next(pages))
    container.create_item({"id": "1", "device": "1", "n": 1})
    container.create_item({"id": "11", "device": "1", "n": 11})
    container.delete_item("10", "0")
    container.delete_item("8", "8")
    rest = [row for page in pages for row in page]
    assert first == [0, 2, 4, 6, 8]
    assert rest == [11, *range(12, 40, 2)]


def test_rows_of_one_key_come_in_pages(filled):
    expected = list(range(3, ITEM_COUNT, DEVICE_COUNT))
    pages, _ = read_pages(filled, "SELECT VALUE c.n FROM c", 3, partition_key="device 3")
    assert pages == [expected[:3], expected[3:6], expected[6:]]
    pages, _ = read_pages(filled, "SELECT VALUE c.n FROM c ORDER BY c.n DESC", 5, partition_key="device 3")
    assert [row for page in pages for row in page] == expected[::-1]


def test_feed_ranges_share_the_rows(filled):
    ranges = list(filled.read_feed_ranges())
    assert len(ranges) == 4
    parts = [run(filled, "SELECT VALUE c.n FROM c", feed_range=one) for one in ranges]
    assert sorted(n for part in parts for n in part) == list(range(ITEM_COUNT))
    assert all(parts), "every physical partition holds something"
    counts = [run(filled, "SELECT VALUE COUNT(1) FROM c", feed_range=one) for one in ranges]
    assert counts == [[len(part)] for part in parts]
    for one, part in zip(ranges, parts, strict=True):
        assert run(filled, "SELECT VALUE c.n FROM c ORDER BY c.n", feed_range=one) == sorted(part)
        pages, _ = read_pages(filled, "SELECT VALUE c.n FROM c ORDER BY c.n DESC", 7, feed_range=one)
        assert [row for page in pages for row in page] == sorted(part, reverse=True)


def test_feed_range_of_a_key(filled):
    one = filled.feed_range_from_partition_key("device 9")
    assert run(filled, "SELECT VALUE c.n FROM c", feed_range=one) == list(range(9, ITEM_COUNT, DEVICE_COUNT))


@pytest.mark.parametrize(
    "query",
    ["SELECT VALUE c.n FROM c", "SELECT VALUE c.n FROM c ORDER BY c.n DESC", "SELECT DISTINCT VALUE c.n FROM c"],
)
def test_continuation_survives_a_restart(start_server, query):
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        database = client.create_database("d")
        container = database.create_container("c", PartitionKey("/device"), offer_throughput=40_000)
        for n in range(30):
            container.create_item({"id": str(n), "device": str(n % 12), "n": n})
        whole = run(container, query)
        pages = container.query_items(query, enable_cross_partition_query=True, max_item_count=7).by_page()
        found = list(next(pages))
        token = pages.continuation_token
    assert server.stop() == 0
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        container = client.get_database_client("d").get_container_client("c")
        pages = container.query_items(query, enable_cross_partition_query=True, max_item_count=7).by_page(token)
        found += [row for page in pages for row in page]
        assert _comparable(query, found) == _comparable(query, whole)
        assert run(container, query) == whole
