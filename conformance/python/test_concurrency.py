"""Many clients on one item: every write is decided once."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from azure.core import MatchConditions
from azure.cosmos.exceptions import (
    CosmosAccessConditionFailedError,
    CosmosHttpResponseError,
    CosmosResourceExistsError,
    CosmosResourceNotFoundError,
)

WRITERS = 16
ROUNDS = 20


@pytest.fixture
def together():
    """Runs one function in every writer at the same time and returns what each came to."""
    with ThreadPoolExecutor(WRITERS) as pool:

        def attempt(function, writer):
            try:
                return function(writer)
            except CosmosHttpResponseError as error:
                return error

        yield lambda function: list(pool.map(lambda writer: attempt(function, writer), range(WRITERS)))


def test_one_replace_wins_each_round(container, together):
    current = container.create_item({"id": "1", "city": "Oslo", "round": -1})
    for number in range(ROUNDS):
        etag = current["_etag"]

        def replace(writer, etag=etag, number=number):
            return container.replace_item(
                "1",
                {"id": "1", "city": "Oslo", "round": number, "writer": writer},
                etag=etag,
                match_condition=MatchConditions.IfNotModified,
            )

        results = together(replace)
        winners = [result for result in results if not isinstance(result, Exception)]
        losers = [result for result in results if isinstance(result, CosmosAccessConditionFailedError)]
        assert (len(winners), len(losers)) == (1, WRITERS - 1), results
        current = container.read_item("1", "Oslo")
        assert current == winners[0]


def test_one_create_wins_each_round(container, together):
    for number in range(ROUNDS):

        def create(writer, number=number):
            return container.create_item({"id": f"round-{number}", "city": "Oslo", "writer": writer})

        results = together(create)
        winners = [result for result in results if not isinstance(result, Exception)]
        losers = [result for result in results if isinstance(result, CosmosResourceExistsError)]
        assert (len(winners), len(losers)) == (1, WRITERS - 1), results
        assert container.read_item(f"round-{number}", "Oslo") == winners[0]


def test_one_owner_of_a_unique_value(make_container, together):
    container = make_container(unique_key_policy={"uniqueKeys": [{"paths": ["/email"]}]})
    results = together(lambda writer: container.create_item({"id": str(writer), "city": "Oslo", "email": "a@x"}))
    winners = [result for result in results if not isinstance(result, Exception)]
    assert len(winners) == 1
    assert list(container.read_all_items()) == winners


def test_no_increment_is_lost(container, together):
    container.create_item({"id": "1", "city": "Oslo", "n": 0})

    def increment(_writer):
        return [
            container.patch_item("1", "Oslo", [{"op": "incr", "path": "/n", "value": 1}])["n"] for _ in range(ROUNDS)
        ]

    results = together(increment)
    seen = sorted(n for result in results for n in result)
    assert seen == list(range(1, WRITERS * ROUNDS + 1)), "every increment saw a number of its own"
    assert container.read_item("1", "Oslo")["n"] == WRITERS * ROUNDS


def test_writers_of_different_items_all_succeed(container, together):
    def create(writer):
        return [container.create_item({"id": f"{writer}-{n}", "city": f"city {writer}"})["id"] for n in range(ROUNDS)]

    made = [item for result in together(create) for item in result]
    assert sorted(item["id"] for item in container.read_all_items()) == sorted(made)


def test_deleting_a_container_under_its_writers_is_no_failure(database, make_container, together):
    """Writers are told that it is gone, and the log has nothing to complain about."""
    for _ in range(ROUNDS):
        flash = make_container()

        def write(writer, flash=flash):
            if writer == 0:
                time.sleep(0.02)
                return database.delete_container(flash.id)
            for number in range(1000):
                flash.upsert_item({"id": f"{writer}-{number}", "city": "Oslo"})
            return None

        deleted, *refusals = together(write)
        assert deleted is None
        assert all(isinstance(refusal, CosmosResourceNotFoundError) for refusal in refusals), refusals
