"""Physical partitions as clients see them: how many, where they meet, and which one holds a key."""

import itertools

import pytest
from azure.cosmos import CosmosClient, PartitionKey, ThroughputProperties

import wire
from server import KEY

RANGE_ID = "x-ms-documentdb-partitionkeyrangeid"


def _ranges(container) -> list[dict]:
    return list(container.client_connection._ReadPartitionKeyRanges(container.container_link))


@pytest.mark.parametrize(
    ("throughput", "count"),
    [
        (400, 1),
        (10_000, 1),
        (10_100, 2),
        (20_000, 2),
        (50_000, 5),
        (ThroughputProperties(auto_scale_max_throughput=20_000), 2),
    ],
    ids=["400", "10000", "10100", "20000", "50000", "autoscale 20000"],
)
def test_throughput_decides_how_many_there_are(make_container, throughput, count):
    container = make_container("/deviceId", offer_throughput=throughput)
    ranges = _ranges(container)
    assert len(ranges) == count
    assert len(list(container.read_feed_ranges())) == count


def test_manual_throughput_begins_with_room_to_grow(start_server):
    server = start_server("--initial-partition-ru", "6000")
    with CosmosClient(server.http, KEY) as client:
        database = client.create_database("d")
        for throughput, count in [(6_000, 1), (12_000, 2), (21_000, 4), (30_000, 5)]:
            container = database.create_container(str(throughput), PartitionKey("/id"), offer_throughput=throughput)
            assert len(list(container.read_feed_ranges())) == count
        most = ThroughputProperties(auto_scale_max_throughput=30_000)
        container = database.create_container("autoscale", PartitionKey("/id"), offer_throughput=most)
        assert len(list(container.read_feed_ranges())) == 3
        shared = client.create_database("shared", offer_throughput=21_000)
        assert len(list(shared.create_container("c", PartitionKey("/id")).read_feed_ranges())) == 3


@pytest.mark.parametrize("version", [1, 2])
def test_ranges_cover_the_ring_without_gap_or_overlap(make_container, version):
    container = make_container("/deviceId", version=version, offer_throughput=40_000)
    ranges = sorted(_ranges(container), key=lambda one: one["minInclusive"])
    assert ranges[0]["minInclusive"] == ""
    assert ranges[-1]["maxExclusive"] == "FF"
    assert all(left["maxExclusive"] == right["minInclusive"] for left, right in itertools.pairwise(ranges))
    inner = [one["minInclusive"] for one in ranges[1:]]
    assert all(bound == bound.upper() for bound in inner)
    # Hashes of version 2 stay below 40; those of version 1 start with the number marker and a positive sign.
    assert all(bound < "40" if version == 2 else bound.startswith("05C1") for bound in inner)


def test_range_resource_has_every_field(make_container):
    container = make_container("/deviceId", offer_throughput=20_000)
    container_rid = container.read()["_rid"]
    ranges = _ranges(container)
    assert sorted(one["id"] for one in ranges) == ["0", "1"]
    for one in ranges:
        assert one["status"] == "online"
        assert one["parents"] == []
        assert one["throughputFraction"] == 0.5
        assert one["_rid"].startswith(container_rid[:10])
        assert one["_self"].endswith(f"/colls/{container_rid}/pkranges/{one['_rid']}/")
        assert one["_etag"].startswith('"')
        assert isinstance(one["_ts"], int)
        assert isinstance(one["_lsn"], int)


def test_incremental_read_ends_in_not_modified(server, database, make_container):
    container = make_container("/deviceId", offer_throughput=20_000)
    path = f"/dbs/{database.id}/colls/{container.id}/pkranges"
    first = wire.send(server, "GET", path, headers={"A-IM": "Incremental Feed", "x-ms-max-item-count": "-1"})
    assert first.status == 200
    assert first.body["_count"] == len(first.body["PartitionKeyRanges"]) == 2
    again = wire.send(server, "GET", path, headers={"A-IM": "Incremental Feed", "If-None-Match": first.headers["etag"]})
    assert again.status == 304
    assert again.body is None
    assert again.headers["etag"] == first.headers["etag"]


@pytest.mark.parametrize(
    ("path", "version"),
    [("/deviceId", 1), ("/deviceId", 2), (["/deviceId", "/day"], 2)],
    ids=["version 1", "version 2", "hierarchical"],
)
def test_server_and_sdk_agree_where_a_key_lives(make_container, path, version):
    container = make_container(path, version=version, offer_throughput=40_000)
    id_of = {one["minInclusive"]: one["id"] for one in _ranges(container)}
    feed_ranges = list(container.read_feed_ranges())
    used = set()
    for number in range(60):
        item = {"id": "1", "deviceId": f"device-{number}", "day": number}
        key = item["deviceId"] if isinstance(path, str) else [item["deviceId"], item["day"]]
        wanted = container.feed_range_from_partition_key(key)
        home = next(one for one in feed_ranges if container.is_feed_range_subset(one, wanted))
        answered = container.create_item(item).get_response_headers()[RANGE_ID]
        assert answered == id_of[home["Range"]["min"]], key
        used.add(answered)
    assert used == set(id_of.values()), "sixty keys reach all four ranges"
