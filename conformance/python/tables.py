"""The doors to the Table API, and one shape for the SDK's two clients.

A door is a client, a flavour and a way to address it. Four of them stand for all: the synchronous and the asynchronous
client both meet both flavours, TLS and plain HTTP, and both spellings of the host. The host matters: the SDK takes
`localhost` for Cosmos DB and tunnels MERGE through POST, and takes `127.0.0.1` for Azure Storage and sends PATCH.
"""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from azure.core.async_paging import AsyncItemPaged
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import HttpResponseError
from azure.data import tables
from azure.data.tables import aio

from server import KEY, Server

STORAGE_ACCOUNT = "devstoreaccount1"
STORAGE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
COSMOS_ACCOUNT = "localhost"
# A table that is made without a throughput has 400 RU/s, which a busy test runs into.
ROOMY = {"x-ms-offer-throughput": "10000"}
FULL_METADATA = {"Accept": "application/json;odata=fullmetadata"}
NO_METADATA = {"Accept": "application/json;odata=nometadata"}


@dataclass(frozen=True)
class Door:
    """One way in."""

    is_async: bool
    is_storage: bool
    scheme: str
    host: str
    account: str

    @property
    def name(self) -> str:
        """What the tests are called by."""
        client = "async" if self.is_async else "sync"
        return f"{client}-{'storage' if self.is_storage else 'cosmos'}-{self.scheme}-{self.host}"

    @property
    def key(self) -> str:
        """The account's well-known key."""
        return STORAGE_KEY if self.account == STORAGE_ACCOUNT else KEY

    @property
    def credential(self) -> AzureNamedKeyCredential:
        """The account and its key, as the SDK takes them."""
        return AzureNamedKeyCredential(self.account, self.key)

    def endpoint(self, server: Server) -> str:
        """Returns the endpoint; Storage emulators name the account in the path."""
        port = server.storage_table_port if self.is_storage else server.table_port
        path = f"/{self.account}" if self.account == STORAGE_ACCOUNT else ""
        return f"{self.scheme}://{self.host}:{port}{path}"

    def connection_string(self, server: Server) -> str:
        """Returns what an application is configured with."""
        return (
            f"DefaultEndpointsProtocol={self.scheme};AccountName={self.account};AccountKey={self.key};"
            f"TableEndpoint={self.endpoint(server)};"
        )

    def service(self, server: Server, **options: Any) -> AbstractContextManager[Any]:
        """Connects a TableServiceClient, with the account's key unless another credential is given."""
        options = {"credential": self.credential, **options}
        return self.connect(
            server, lambda sdk, **more: sdk.TableServiceClient(self.endpoint(server), **more), **options
        )

    def table(self, server: Server, name: str, **options: Any) -> AbstractContextManager[Any]:
        """Connects a TableClient, with the account's key unless another credential is given."""
        options = {"credential": self.credential, **options}
        return self.connect(server, lambda sdk, **more: sdk.TableClient(self.endpoint(server), name, **more), **options)

    @contextmanager
    def connect(self, server: Server, make: Callable, **options: Any) -> Iterator[Any]:
        """Holds the client that `make` builds from the SDK's module for this door and the options."""
        # Given a certificate, the asynchronous transport opens a connection for every request.
        options.setdefault("connection_verify", False if self.is_async else str(server.certificate))
        if not self.is_async:
            with make(tables, **options) as client:
                yield client
            return
        with asyncio.Runner() as runner:

            async def build() -> Any:
                return make(aio, **options)

            client = runner.run(build())
            try:
                yield Awaited(client, runner)
            finally:
                runner.run(client.close())


DOORS = [
    Door(is_async=False, is_storage=False, scheme="https", host="localhost", account=COSMOS_ACCOUNT),
    Door(is_async=True, is_storage=False, scheme="http", host="127.0.0.1", account=COSMOS_ACCOUNT),
    Door(is_async=False, is_storage=True, scheme="http", host="127.0.0.1", account=STORAGE_ACCOUNT),
    Door(is_async=True, is_storage=True, scheme="https", host="localhost", account=STORAGE_ACCOUNT),
]
# For tests in which the client makes no difference: both flavours, and both clients all the same.
BOTH_FLAVOURS = [DOORS[0], DOORS[3]]
COSMOS = DOORS[0]
STORAGE = DOORS[2]


class Awaited:
    """An asynchronous client of which every answer is waited for, so that one test serves both clients."""

    def __init__(self, inner: Any, runner: asyncio.Runner):
        self.inner = inner
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.inner, name)
        if not callable(attribute):
            return attribute
        return lambda *arguments, **options: self._settled(attribute(*arguments, **options))

    def _settled(self, answer: Any) -> Any:
        if inspect.isawaitable(answer):
            answer = self._runner.run(_value(answer))
        if isinstance(answer, AsyncItemPaged):
            return AwaitedPages(answer, self._runner)
        if isinstance(answer, aio.TableClient):
            return Awaited(answer, self._runner)
        return answer


class AwaitedPages:
    """An asynchronous list, read like the synchronous one."""

    def __init__(self, inner: AsyncItemPaged, runner: asyncio.Runner):
        self._inner = inner
        self._runner = runner

    def __iter__(self) -> Iterator[Any]:
        return iter(self._runner.run(_all(self._inner)))

    def by_page(self, continuation_token: Any = None) -> "AwaitedPageIterator":
        """Returns the pages from that token on."""
        return AwaitedPageIterator(self._inner.by_page(continuation_token), self._runner)


class AwaitedPageIterator:
    """Pages of an asynchronous list, each of them read whole."""

    def __init__(self, inner: Any, runner: asyncio.Runner):
        self._inner = inner
        self._runner = runner

    def __iter__(self) -> "AwaitedPageIterator":
        return self

    def __next__(self) -> list:
        try:
            return self._runner.run(_page(self._inner))
        except StopAsyncIteration:
            raise StopIteration from None

    @property
    def continuation_token(self) -> Any:
        """Where the next page begins."""
        return self._inner.continuation_token


async def _value(answer: Any) -> Any:
    return await answer


async def _all(items: Any) -> list:
    return [item async for item in items]


async def _page(pages: Any) -> list:
    return await _all(await anext(pages))


@contextmanager
def refused(status: int, code: str | None = None, kind: type = HttpResponseError) -> Iterator[pytest.ExceptionInfo]:
    """Expects the SDK to raise for this status, with this error code where one is given."""
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    assert error.status_code == status, error
    if code is not None:
        assert error_code(error) == code, error


def error_code(error: HttpResponseError) -> str:
    """Returns the service's code for an error: create_entity raises errors that the SDK has not decoded."""
    code = getattr(error, "error_code", None) or error.response.headers["x-ms-error-code"]
    return getattr(code, "value", code)


def entity(row: str, partition: str = "p", **properties: Any) -> dict:
    """Returns an entity to be sent."""
    return {"PartitionKey": partition, "RowKey": row, **properties}


def rows(entities: Any) -> list[str]:
    """Returns the row keys in the order they came."""
    return [one["RowKey"] for one in entities]
