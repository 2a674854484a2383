"""Transactions of many clients at once end as if they had come one after the other."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from azure.core import MatchConditions

from procedures import call, register, script
from sdk import refused

WRITERS = 16
INCREMENTS = 1_000
ROUNDS = 5
ACCOUNTS = ["x", "y"]


@pytest.fixture
def pool():
    with ThreadPoolExecutor(WRITERS) as made:
        yield made


def test_two_procedures_count_to_the_exact_sum(container, pool):
    container.create_item({"id": "counter", "city": "Oslo", "n": 0})
    names = [register(container, script(name)) for name in ("increment-by-link", "increment-by-query")]
    seen = list(pool.map(lambda n: call(container, names[n % 2], "counter"), range(2 * INCREMENTS)))
    assert sorted(seen) == list(range(1, 2 * INCREMENTS + 1)), "every run saw a number of its own"
    assert container.read_item("counter", "Oslo")["n"] == 2 * INCREMENTS


def test_no_increment_is_lost_between_procedures_and_patches(container, pool):
    container.create_item({"id": "counter", "city": "Oslo", "n": 0})
    name = register(container, script("increment-by-link"))
    patch = [{"op": "incr", "path": "/n", "value": 1}]

    def increment(n):
        if n % 2 == 0:
            return call(container, name, "counter")
        return container.patch_item("counter", "Oslo", patch)["n"]

    assert sorted(pool.map(increment, range(200))) == list(range(1, 201))


@pytest.mark.parametrize("total", [100, 95])
def test_two_accounts_are_never_overdrawn_together(container, pool, total):
    """Each withdrawal reads both accounts and writes one: a skew would let two of them take the last money twice."""
    name = register(container, script("withdraw"))
    for _ in range(ROUNDS):
        for account, balance in zip(ACCOUNTS, (total // 2, total - total // 2), strict=True):
            container.upsert_item({"id": account, "city": "Oslo", "balance": balance})
        taken = list(pool.map(lambda n: call(container, name, ACCOUNTS[n % 2], 10, ACCOUNTS), range(WRITERS)))
        left = sum(container.read_item(account, "Oslo")["balance"] for account in ACCOUNTS)
        assert left == total - 10 * sum(taken)
        assert (left >= 0, sum(taken)) == (True, total // 10)


def test_other_partitions_do_not_wait(container, pool):
    name = register(container, script("increment-by-link"))
    for n in range(WRITERS):
        container.create_item({"id": "counter", "city": f"city {n}", "n": 0})
    list(pool.map(lambda n: call(container, name, "counter", key=f"city {n % WRITERS}"), range(WRITERS * 10)))
    assert {item["n"] for item in container.read_all_items()} == {10}


def test_name_is_claimed_once(container, pool):
    """Each run looks for a name by a query and creates an item if it found none: a phantom would let two win."""
    name = register(container, script("claim"))
    for claimed in range(ROUNDS):
        won = list(
            pool.map(lambda n, claimed=claimed: call(container, name, claimed, f"{claimed} by {n}"), range(WRITERS))
        )
        assert sum(won) == 1
    assert len(list(container.read_all_items())) == ROUNDS


def test_every_write_has_an_etag_of_its_own(container):
    """Etags of plain writes, procedures, triggers and batches never repeat, so a stale one never passes."""
    name = register(container, script("increment-by-link"))
    trigger = {"id": "nothing", "body": "function () { }", "triggerType": "Post", "triggerOperation": "All"}
    container.scripts.create_trigger(trigger)
    item = {"id": "counter", "city": "Oslo", "n": 0}
    seen = [container.create_item(item)["_etag"]]
    for _ in range(25):
        call(container, name, "counter")
        seen.append(container.read_item("counter", "Oslo")["_etag"])
        seen.append(container.replace_item("counter", item, post_trigger_include="nothing")["_etag"])
        seen.append(container.upsert_item(item)["_etag"])
        batch = [("upsert", (item,)), ("replace", ("counter", item)), ("upsert", ({**item, "id": "other"},))]
        results = container.execute_item_batch(batch, partition_key="Oslo")
        seen += [result["eTag"] for result in results[:2]]
    assert len(set(seen)) == len(seen)
    for stale in seen[:-1:10]:
        with refused(412):
            container.replace_item("counter", item, etag=stale, match_condition=MatchConditions.IfNotModified)


def test_partitions_of_a_wide_container_are_apart(make_container, pool):
    container = make_container(offer_throughput=40_000)
    name = register(container, script("import-items"))
    cities = [f"city {n}" for n in range(40)]
    list(
        pool.map(lambda city: call(container, name, [{"id": str(n), "city": city} for n in range(5)], key=city), cities)
    )
    items = list(container.read_all_items())
    assert sorted((item["city"], item["id"]) for item in items) == sorted(
        (city, str(n)) for city in cities for n in range(5)
    )
    assert len({item["_rid"] for item in items}) == len(items)
    for city in cities[:5]:
        batch = [("delete", (str(n),)) for n in range(5)]
        container.execute_item_batch(batch, partition_key=city)
    assert len(list(container.read_all_items())) == 35 * 5


def test_money_is_neither_made_nor_lost(container, pool):
    """Transfers by procedure and by batch, and readers of four kinds that must never see one in part."""
    ids = [f"account {n}" for n in range(6)]
    for account in ids:
        container.create_item({"id": account, "city": "Oslo", "balance": 100})
    transfer = register(container, script("transfer"))
    page = register(container, script("page-of-query"))
    total, query = 100 * len(ids), "SELECT VALUE SUM(c.balance) FROM c"

    def change(account, by):
        return ("patch", (account, [{"op": "incr", "path": "/balance", "value": by}]))

    def work(n):
        giver, taker = ids[n % 6], ids[(n * 7 + 1) % 6]
        if n % 3 == 0 and giver != taker:
            call(container, transfer, giver, taker, 1)
        elif n % 3 == 1:
            container.execute_item_batch([change(giver, -1), change(taker, 1)], partition_key="Oslo")
        elif n % 4 == 0:
            assert list(container.query_items(query, partition_key="Oslo")) == [total]
        elif n % 4 == 1:
            assert call(container, page, query)["found"] == [total]
        elif n % 4 == 2:
            results = container.execute_item_batch([("read", (account,)) for account in ids], partition_key="Oslo")
            assert sum(result["resourceBody"]["balance"] for result in results) == total
        else:
            page_of_feed = list(container.query_items("SELECT * FROM c", partition_key="Oslo"))
            assert sum(item["balance"] for item in page_of_feed) == total

    list(pool.map(work, range(600)))
    assert sum(item["balance"] for item in container.read_all_items()) == total
