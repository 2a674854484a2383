"""Small readings of what the SDK returns and raises."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError

SYSTEM_PROPERTIES = {"_rid", "_self", "_etag", "_attachments", "_ts"}


@contextmanager
def refused(status: int, sub_status: int | None = None) -> Iterator[pytest.ExceptionInfo]:
    """Expects the SDK to raise for this status, with this sub-status where one is given."""
    with pytest.raises(CosmosHttpResponseError) as caught:
        yield caught
    assert caught.value.status_code == status, caught.value
    if sub_status is not None:
        assert (caught.value.sub_status or 0) == sub_status, caught.value


def without_system_properties(item: dict) -> dict:
    """Returns what the user stored, in the order it came back."""
    return {name: value for name, value in item.items() if name not in SYSTEM_PROPERTIES}


def last_headers(container) -> dict:
    """Returns the headers of the last response on this container's client."""
    return container.client_connection.last_response_headers


def session_lsn(token: str) -> int:
    """Returns the global LSN inside a session token for one range."""
    return int(token.split(":")[1].split("#")[1])


def through(client, container):
    """Returns the same container as another client sees it."""
    _, database_id, _, container_id = container.container_link.split("/")
    return client.get_database_client(database_id).get_container_client(container_id)


def charge(answer) -> float:
    """Returns what the request behind an answer cost."""
    return float(answer.get_response_headers()["x-ms-request-charge"])
