"""A table's throughput: what a second admits, what a refusal says, and that the SDK waits by itself."""

import itertools
import time

import pytest
from azure.core.exceptions import HttpResponseError

from budget import LEAVES, in_one_second
from tables import BOTH_FLAVOURS, entity, error_code

THROUGHPUT = 400

pytestmark = pytest.mark.parametrize("door", BOTH_FLAVOURS, indirect=True, ids=[door.name for door in BOTH_FLAVOURS])


@pytest.fixture
def narrow(make_table):
    """A table with the least throughput."""
    return make_table(headers={"x-ms-offer-throughput": str(THROUGHPUT)})


def wide(number: int) -> dict:
    """Returns an entity of which a create costs about 20 RU."""
    return entity(f"r{number}", **{f"f{n}": n for n in range(LEAVES - 3)})


def spend(table, numbers) -> tuple[list[float], HttpResponseError | None]:
    """Creates entities until one is refused; returns the charges of those that were made, and the refusal."""
    charges = []

    def note(answer) -> None:
        if answer.http_response.status_code < 300:
            charges.append(float(answer.http_response.headers["x-ms-request-charge"]))

    for _ in range(4 * THROUGHPUT // 20):
        try:
            table.create_entity(wide(next(numbers)), retry_total=0, raw_response_hook=note)
        except HttpResponseError as error:
            if error.status_code != 429:
                raise
            return charges, error
    return charges, None


def test_what_a_second_admits(narrow):
    numbers = itertools.count()

    def overdraw():
        charges, refusal = spend(narrow, numbers)
        try:
            narrow.submit_transaction([("create", entity("first")), ("create", entity("second"))], retry_total=0)
        except HttpResponseError as error:
            return charges, refusal, error
        return charges, refusal, None

    _, (charges, refusal, of_transaction) = in_one_second(overdraw)
    assert refusal is not None
    assert sum(charges) - charges[-1] < THROUGHPUT <= sum(charges) + charges[-1]
    assert error_code(refusal) == "TooManyRequests"
    headers = refusal.response.headers
    assert 1 <= int(headers["x-ms-retry-after-ms"]) <= 1000
    assert int(headers["Retry-After"]) == 1
    assert "x-ms-request-id" in headers
    assert of_transaction is not None
    assert of_transaction.status_code == 429
    assert not {"first", "second"} & {one["RowKey"] for one in narrow.list_entities()}


def test_the_sdk_waits_and_asks_again(narrow):
    started = time.monotonic()
    for n in range(40):
        narrow.create_entity(wide(n))
    narrow.submit_transaction([("create", wide(n)) for n in range(40, 45)])
    narrow.submit_transaction([("upsert", wide(n)) for n in range(40, 45)])
    assert time.monotonic() - started > 1
    assert len(list(narrow.list_entities())) == 45
