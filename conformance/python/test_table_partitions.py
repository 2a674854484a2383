"""Tables of several physical partitions: queries over all of them, and splits and merges that clients do not notice."""

import threading

import pytest
from azure.core import MatchConditions

from partitions import merge, range_ids, split
from tables import BOTH_FLAVOURS, entity, rows

PARTITION_KEYS = [f"key {n}" for n in range(24)]
ROW_KEYS = [f"r{n}" for n in range(5)]
EVERYTHING = sorted((partition, row) for partition in PARTITION_KEYS for row in ROW_KEYS)

pytestmark = pytest.mark.parametrize("door", BOTH_FLAVOURS, indirect=True, ids=[door.name for door in BOTH_FLAVOURS])


@pytest.fixture
def wide(make_table):
    """A table of four physical partitions, filled."""
    table = make_table(headers={"x-ms-offer-throughput": "40000"})
    for partition in PARTITION_KEYS:
        table.submit_transaction([("create", entity(row, partition, n=int(row[1:]))) for row in ROW_KEYS])
    return table


@pytest.fixture
def container(client, wide):
    """The container behind the table."""
    return client.get_database_client("TablesDB").get_container_client(wide.table_name)


def _keys(entities) -> list[tuple[str, str]]:
    return [(one["PartitionKey"], one["RowKey"]) for one in entities]


def test_queries_over_all_of_them(server, wide, container):
    assert len(range_ids(server, container)) == 4
    whole = _keys(wide.list_entities())
    assert sorted(whole) == EVERYTHING
    for size in (1, 7, 50):
        assert _keys(wide.list_entities(results_per_page=size)) == whole
    found = _keys(wide.query_entities("n ge 3 and PartitionKey lt 'key 2'", results_per_page=4))
    assert sorted(found) == [pair for pair in EVERYTHING if pair[1] >= "r3" and pair[0] < "key 2"]
    assert rows(wide.query_entities("PartitionKey eq 'key 7'")) == ROW_KEYS


def test_pages_go_on_through_splits_and_merges(server, wide, container):
    pages = wide.list_entities(results_per_page=9).by_page()
    one_partition = wide.query_entities("PartitionKey eq 'key 7'", results_per_page=2).by_page()
    read, in_order = _keys(next(pages)), rows(next(one_partition))
    etag = wide.get_entity("key 7", "r0").metadata["etag"]
    ids = split(server, container)
    read += _keys(next(pages))
    in_order += rows(next(one_partition))
    ids = split(server, container)
    read += _keys(next(pages))
    merge(server, container, *ids[:2])
    for page in pages:
        read += _keys(page)
    for page in one_partition:
        in_order += rows(page)
    assert sorted(read) == EVERYTHING
    assert in_order == ROW_KEYS
    assert wide.get_entity("key 7", "r0").metadata["etag"] == etag
    wide.update_entity(entity("r0", "key 7", n=9), etag=etag, match_condition=MatchConditions.IfNotModified)


def test_writes_go_on_while_partitions_split(server, door, wide, container):
    stop = threading.Event()
    counts: dict[str, int] = {}
    failures: list[Exception] = []

    def write(partition: str) -> None:
        try:
            with door.table(server, wide.table_name) as own:
                count = 0
                while not stop.is_set() or count < 5:
                    count += 1
                    own.upsert_entity(entity("counter", partition, n=count))
                    own.submit_transaction(
                        [("upsert", entity(row, partition, count=count)) for row in ("first", "second")]
                    )
                counts[partition] = count
        except Exception as error:
            failures.append(error)

    writers = [threading.Thread(target=write, args=(f"writer {n}",)) for n in range(4)]
    for writer in writers:
        writer.start()
    try:
        ids = split(server, container)
        ids = split(server, container)
        merge(server, container, *ids[:2])
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert failures == []
    for partition, count in counts.items():
        assert wide.get_entity(partition, "counter")["n"] == count
        assert [wide.get_entity(partition, row)["count"] for row in ("first", "second")] == [count, count]
    assert len(list(wide.list_entities())) == len(EVERYTHING) + 3 * len(writers)
