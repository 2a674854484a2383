"""Provisioned throughput as a resource: reading and changing it, its limits, autoscale, sharing, splits it starts."""

import pytest
from azure.cosmos import CosmosClient, PartitionKey, ThroughputProperties

import partitions
import wire
from budget import spend, wide_item
from partitions import until
from sdk import refused, without_system_properties
from server import KEY

TO_AUTOSCALE = "x-ms-cosmos-migrate-offer-to-autopilot"
TO_MANUAL = "x-ms-cosmos-migrate-offer-to-manual-throughput"
PENDING = "x-ms-offer-replace-pending"
MINIMUM = "x-ms-cosmos-min-throughput"
AUTOSCALE_SECONDS_MAX = 60
SHARING_MAX = 25


def _offer(owner) -> dict:
    return dict(owner.get_throughput().properties)


def _put(server, offer: dict, **headers: str) -> wire.Answer:
    return wire.send(server, "PUT", f"/offers/{offer['_rid']}", offer, headers)


def _get(server, offer: dict) -> wire.Answer:
    return wire.send(server, "GET", f"/offers/{offer['_rid']}")


def _settled(server, offer: dict) -> dict:
    """Waits until a change is done and returns the offer."""
    return until(lambda: (answer := _get(server, offer)).headers[PENDING] == "false" and answer.body, "still pending")


def _with_throughput(offer: dict, throughput: int) -> dict:
    return {**offer, "content": {**offer["content"], "offerThroughput": throughput}}


def test_throughput_is_read_and_replaced(server, make_container):
    container = make_container(offer_throughput=1_000)
    assert container.get_throughput().offer_throughput == 1_000
    assert container.replace_throughput(1_500).offer_throughput == 1_500
    assert container.get_throughput().offer_throughput == 1_500
    assert container.replace_throughput(400).offer_throughput == 400
    answer = _get(server, _offer(container))
    assert answer.headers[PENDING] == "false"
    assert answer.headers[MINIMUM] == "400"
    [figures] = partitions.figures(server, container)["partitions"]
    assert figures["provisionedRu"] in (400, None), "known once the partition is open"


@pytest.mark.parametrize("throughput", [0, 100, 300, 399, 450, 401, 1_000_100])
def test_impossible_manual_throughput_is_refused(make_container, throughput):
    container = make_container(offer_throughput=1_000)
    with refused(400):
        container.replace_throughput(throughput)
    assert container.get_throughput().offer_throughput == 1_000


@pytest.mark.parametrize("throughput", [0, 500, 900, 1_500, 2_100, 1_001_000])
def test_impossible_autoscale_throughput_is_refused(make_container, throughput):
    container = make_container(offer_throughput=ThroughputProperties(auto_scale_max_throughput=4_000))
    with refused(400):
        container.replace_throughput(ThroughputProperties(auto_scale_max_throughput=throughput))
    assert _offer(container)["content"]["offerAutopilotSettings"]["maxThroughput"] == 4_000


def test_highest_throughput_ever_raises_the_minimum(server, make_container):
    container = make_container(offer_throughput=100_000)
    offer = _offer(container)
    assert _get(server, offer).headers[MINIMUM] == "1000"
    with refused(400):
        container.replace_throughput(900)
    assert container.replace_throughput(1_000).offer_throughput == 1_000
    assert _get(server, offer).headers[MINIMUM] == "1000", "it stays after scaling down"
    content = _offer(container)["content"]
    assert content["offerMinimumThroughputParameters"]["maxThroughputEverProvisioned"] == 100_000


def test_highest_autoscale_ever_raises_the_minimum(server, make_container):
    container = make_container(offer_throughput=ThroughputProperties(auto_scale_max_throughput=50_000))
    assert _get(server, _offer(container)).headers[MINIMUM] == "5000"
    with refused(400):
        container.replace_throughput(ThroughputProperties(auto_scale_max_throughput=4_000))
    replaced = container.replace_throughput(ThroughputProperties(auto_scale_max_throughput=5_000))
    assert replaced.properties["content"]["offerAutopilotSettings"]["maxThroughput"] == 5_000


def test_autoscale_says_its_maximum_and_its_floor(make_container):
    container = make_container(offer_throughput=ThroughputProperties(auto_scale_max_throughput=4_000))
    content = _offer(container)["content"]
    assert content["offerAutopilotSettings"]["maxThroughput"] == 4_000
    assert content["offerThroughput"] == 400
    read = container.get_throughput()
    assert read.auto_scale_max_throughput == 4_000
    container.replace_throughput(ThroughputProperties(auto_scale_max_throughput=6_000))
    assert _offer(container)["content"]["offerThroughput"] == 600


def test_autoscale_reports_what_was_used(server, make_container):
    container = make_container(offer_throughput=ThroughputProperties(auto_scale_max_throughput=1_000))
    numbers = iter(range(100_000))

    def risen() -> int | None:
        spend(lambda: container.upsert_item(wide_item(f"item {next(numbers)}")), at_least=500)
        now = _offer(container)["content"]["offerThroughput"]
        return now if now >= 300 else None

    # The stretches of five seconds over which use is averaged began before this test did: what is spent may fall into
    # two of them, so spending goes on until one is full of it.
    assert until(risen, "the offer never rose", AUTOSCALE_SECONDS_MAX) <= 1_000
    assert partitions.figures(server, container)["autoscaleNow"] >= 300


def test_manual_becomes_autoscale_and_back(server, make_container):
    container = make_container(offer_throughput=3_400)
    offer = _offer(container)
    answer = _put(server, offer, **{TO_AUTOSCALE: "true"})
    assert answer.status == 200, answer
    content = _offer(container)["content"]
    assert content["offerAutopilotSettings"]["maxThroughput"] == 4_000, "rounded up to a thousand"
    assert content["offerThroughput"] == 400
    answer = _put(server, _offer(container), **{TO_MANUAL: "true"})
    assert answer.status == 200, answer
    content = _offer(container)["content"]
    assert "offerAutopilotSettings" not in content
    assert content["offerThroughput"] == 4_000
    assert container.replace_throughput(2_000).offer_throughput == 2_000


def test_smallest_autoscale_is_a_thousand(server, make_container):
    container = make_container(offer_throughput=400)
    assert _put(server, _offer(container), **{TO_AUTOSCALE: "true"}).status == 200
    assert _offer(container)["content"]["offerAutopilotSettings"]["maxThroughput"] == 1_000


def test_migration_both_ways_at_once_is_refused(server, make_container):
    container = make_container(offer_throughput=400)
    assert _put(server, _offer(container), **{TO_AUTOSCALE: "true", TO_MANUAL: "true"}).status == 400
    assert container.get_throughput().offer_throughput == 400


def test_scaling_up_within_the_partitions_is_immediate(server, make_container):
    container = make_container(offer_throughput=400)
    answer = _put(server, _with_throughput(_offer(container), 10_000))
    assert (answer.status, answer.headers[PENDING]) == (200, "false")
    assert partitions.range_ids(server, container) == ["0"]


def test_scaling_beyond_the_partitions_splits_them(server, make_container):
    container = make_container(offer_throughput=10_000)
    items = [container.create_item({"id": str(n), "city": f"city {n}"}) for n in range(100)]
    offer = _offer(container)
    answer = _put(server, _with_throughput(offer, 30_000))
    assert answer.status == 200
    assert answer.body["content"]["offerThroughput"] == 30_000
    assert _settled(server, offer)["content"]["offerThroughput"] == 30_000
    # The widest arc is cut first, then the lower of two equal halves: 0 -> 1, 2 and 1 -> 3, 4.
    assert partitions.range_ids(server, container) == ["3", "4", "2"]
    assert [one["parents"] for one in partitions.ranges(server, container)] == [["0", "1"], ["0", "1"], ["0"]]
    fractions = [one["throughputFraction"] for one in partitions.ranges(server, container)]
    assert fractions == pytest.approx([1 / 3] * 3)
    figures = partitions.figures(server, container)
    assert (figures["throughput"], figures["pending"]) == (30_000, False)
    assert [container.read_item(item["id"], item["city"]) for item in items] == items


def test_second_change_during_splits_is_locked(server, make_container):
    """Either the first change is done by the time of the second, or the second is told to come back."""
    container = make_container(offer_throughput=10_000)
    for n in range(40):
        batch = [("create", ({"id": f"{k}", "city": f"city {n}", "text": "x" * 500},)) for k in range(50)]
        container.execute_item_batch(batch, partition_key=f"city {n}")
    offer = _offer(container)
    first = _put(server, _with_throughput(offer, 80_000))
    assert (first.status, first.headers[PENDING]) == (200, "true"), "2,000 items take longer to split than to answer"
    second = _put(server, _with_throughput(offer, 90_000))
    assert second.status in (200, 423), second
    wanted = 80_000 if second.status == 423 else 90_000
    assert _settled(server, offer)["content"]["offerThroughput"] == wanted
    assert len(partitions.range_ids(server, container)) == wanted // 10_000
    counted = container.query_items("SELECT VALUE COUNT(1) FROM c", enable_cross_partition_query=True)
    assert list(counted) == [2_000]


def test_scaling_down_is_immediate_and_keeps_the_partitions(server, make_container):
    container = make_container(offer_throughput=30_000)
    answer = _put(server, _with_throughput(_offer(container), 3_000))
    assert (answer.status, answer.headers[PENDING]) == (200, "false")
    assert partitions.range_ids(server, container) == ["0", "1", "2"]
    for n in range(30):
        container.create_item({"id": "1", "city": f"city {n}"})
    figures = partitions.figures(server, container)
    assert [one["provisionedRu"] for one in figures["partitions"]] == [1_000] * 3
    container.replace_throughput(30_000)
    assert partitions.range_ids(server, container) == ["0", "1", "2"], "there are enough already"


def test_database_throughput_is_read_and_replaced(server, make_database):
    database = make_database(offer_throughput=400)
    assert database.get_throughput().offer_throughput == 400
    assert database.replace_throughput(1_000).offer_throughput == 1_000
    with refused(400):
        database.replace_throughput(100)
    sharing = database.create_container("sharing", PartitionKey("/city"))
    own = database.create_container("own", PartitionKey("/city"), offer_throughput=500)
    offers = wire.send(server, "GET", "/offers").body["Offers"]
    owners = {offer["resource"] for offer in offers}
    assert [one.read()["_self"] in owners for one in (database, sharing, own)] == [True, False, True]
    assert own.get_throughput().offer_throughput == 500
    assert partitions.figures(server, sharing)["shared"] is True
    assert partitions.figures(server, own)["shared"] is False


def test_sharing_containers_are_limited(make_database):
    database = make_database(offer_throughput=400)
    for n in range(SHARING_MAX):
        database.create_container(f"c{n}", PartitionKey("/city"))
    with refused(400):
        database.create_container("one too many", PartitionKey("/city"))
    own = database.create_container("own", PartitionKey("/city"), offer_throughput=400)
    assert own.get_throughput().offer_throughput == 400, "one with its own throughput does not count"
    database.delete_container("c0")
    database.create_container("in its place", PartitionKey("/city"))


def test_shared_throughput_follows_the_database(start_server):
    """The partitions of sharing containers draw on the budgets of their database, which grow with its offer."""
    server = start_server("--physical-partition-ru", "1000")
    with CosmosClient(server.http, KEY) as client:
        database = client.create_database("d", offer_throughput=1_000)
        container = database.create_container("c", PartitionKey("/city"))
        item = container.create_item({"id": "1", "city": "Oslo"})
        offer = _offer(database)
        assert _put(server, _with_throughput(offer, 3_000)).status == 200
        assert _settled(server, offer)["content"]["offerThroughput"] == 3_000
        assert container.read_item("1", "Oslo") == item


def test_throughput_survives_a_restart(start_server):
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"), offer_throughput=10_000)
        container.create_item({"id": "1", "city": "Oslo"})
        container.replace_throughput(20_000)
        partitions.wait_for_ranges(server, container, 2)
        before = partitions.ranges(server, container)
    assert server.stop() == 0
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        container = client.get_database_client("d").get_container_client("c")
        assert container.get_throughput().offer_throughput == 20_000
        after = partitions.ranges(server, container)
        assert [without_system_properties(one) for one in after] == [without_system_properties(one) for one in before]
        assert container.read_item("1", "Oslo")["id"] == "1"
        assert partitions.split(server, container, range="1")[0] == "3", "range ids go on after a restart"
