"""What is not implemented yet: the server says so with 501, and the day it stops saying so these tests fail."""

from contextlib import contextmanager

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError

ITEMS = [{"id": str(n), "city": "Oslo", "n": n} for n in range(3)]


class NotImplementedYetError(Exception):
    """The server answered 501."""


def not_yet(what: str):
    """Marks a test of a feature the server answers with 501."""
    return pytest.mark.xfail(
        strict=True, raises=NotImplementedYetError, reason=f"COMPAT: {what} are not implemented yet"
    )


@contextmanager
def implemented():
    """Tells the answer 501 from every other failure."""
    try:
        yield
    except CosmosHttpResponseError as error:
        if error.status_code == 501:
            raise NotImplementedYetError(str(error)) from error
        raise


@pytest.fixture
def filled(container):
    for item in ITEMS:
        container.create_item(item)
    return container


@not_yet("deletes by partition key")
def test_delete_of_all_items_of_a_key(filled):
    with implemented():
        filled.delete_all_items_by_partition_key("Oslo")
    assert list(filled.read_all_items()) == []
