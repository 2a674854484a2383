"""Containers of several physical partitions that are filled once, and readings of pages."""

from azure.cosmos import PartitionKey

from query_data import items

# Four physical partitions of 10,000 request units each.
WIDE_THROUGHPUT = 40_000

COMPOSITE = {
    "indexingMode": "consistent",
    "automatic": True,
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": '/"_etag"/?'}],
    "compositeIndexes": [
        [{"path": "/band", "order": "ascending"}, {"path": "/n", "order": "descending"}],
        [{"path": "/word", "order": "ascending"}, {"path": "/band", "order": "ascending"}, {"path": "/n"}],
    ],
}


def fill(database, name: str, **options):
    """Makes a container of four physical partitions and creates the items in it."""
    options.setdefault("indexing_policy", COMPOSITE)
    container = database.create_container(name, PartitionKey("/device"), offer_throughput=WIDE_THROUGHPUT, **options)
    for item in items():
        container.create_item(item)
    return container


def run(container, query: str, **options) -> list:
    """Returns all rows of a query over all partitions, unless a key or a range is named."""
    if "partition_key" not in options and "feed_range" not in options:
        options["enable_cross_partition_query"] = True
    return list(container.query_items(query, **options))


def read_pages(container, query: str, size: int, **options) -> tuple[list[list], list[dict]]:
    """Returns the rows of every page that had some, and the headers of every answer."""
    headers = []
    if "partition_key" not in options and "feed_range" not in options:
        options["enable_cross_partition_query"] = True
    options["response_hook"] = lambda answer, _: headers.append(dict(answer))
    pages = container.query_items(query, max_item_count=size, **options).by_page()
    return [page for page in (list(page) for page in pages) if page], headers


def charge(headers: list[dict]) -> float:
    """Returns what all answers cost together, in the two decimals in which charges travel."""
    return round(sum(float(answer["x-ms-request-charge"]) for answer in headers), 2)
