"""Throughput buckets: shares of a container's throughput, given by a command, used by a header."""

import subprocess

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError

from server import binary

THROUGHPUT = 400


def _buckets(server, container, *arguments: str) -> str:
    name = ["--database", "conformance", "--container", container.id]
    command = [str(binary()), "buckets", *name, *arguments, "--endpoint", server.http]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _writes_until_refused(container, bucket: int | None, most: int) -> int:
    """Writes without retries until it is refused; returns how many writes were done."""
    options = {} if bucket is None else {"throughput_bucket": bucket}
    for number in range(most):
        try:
            container.upsert_item({"id": str(number % 5), "city": "Oslo"}, **options)
        except CosmosHttpResponseError as error:
            assert error.status_code == 429, error
            assert bucket is None or f"throughput bucket {bucket}" in error.message
            return number
    return most


@pytest.fixture
def metered(make_container, client):
    """A container with little throughput, and no retries."""
    container = make_container(offer_throughput=THROUGHPUT)
    policy = client.client_connection.connection_policy.RetryOptions
    before = policy._max_retry_attempt_count
    policy._max_retry_attempt_count = 0
    yield container
    policy._max_retry_attempt_count = before


def test_a_bucket_uses_no_more_than_its_share(server, metered):
    assert _buckets(server, metered).startswith("no bucket has a share")
    assert _buckets(server, metered, "1=10", "2=100") == (
        "bucket 1: at most 10 % of the container's throughput\n"
        "bucket 2: at most 100 % of the container's throughput\n"
    )
    # 40 of 400 RU/s are a handful of writes, over two seconds at most.
    assert _writes_until_refused(metered, 1, 40) < 30
    # The rest is there for others all the same.
    metered.upsert_item({"id": "9", "city": "Oslo"}, throughput_bucket=3)
    metered.upsert_item({"id": "9", "city": "Oslo"})
    assert _buckets(server, metered, "--clear").startswith("no bucket has a share")


def test_shares_that_are_none(server, metered):
    for share in ("6=10", "1=0", "1=101", "1"):
        with pytest.raises(subprocess.CalledProcessError) as failed:
            _buckets(server, metered, share)
        assert "such as 1=40" in failed.value.stderr
