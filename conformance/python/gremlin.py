"""How the tests reach the Gremlin API: clients of gremlinpython, and small readings of what they return and raise."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import aiohttp
import pytest
from gremlin_python.driver.aiohttp.transport import AiohttpTransport
from gremlin_python.driver.client import Client
from gremlin_python.driver.protocol import GremlinServerError
from gremlin_python.driver.serializer import GraphSONSerializersV2d0

from server import KEY, Server


def url(server: Server, scheme: str = "wss", path: str = "/gremlin") -> str:
    """Returns the address of the endpoint."""
    return f"{scheme}://localhost:{server.gremlin_port}{path}"


def trusted(server: Server) -> ssl.SSLContext:
    """Trusts the certificate that the server made for itself."""
    return ssl.create_default_context(cafile=str(server.certificate))


def connect(server: Server, graph: str, **more: Any) -> Client:
    """Makes a client as applications of the service do: TLS, a login, GraphSON 2.0."""
    address = more.pop("url", None) or url(server)
    options: dict[str, Any] = {
        "username": graph,
        "password": KEY,
        "message_serializer": GraphSONSerializersV2d0(),
        "pool_size": 1,
        "max_workers": 1,
        **more,
    }
    if address.startswith("wss"):
        options.setdefault("transport_factory", lambda: AiohttpTransport(ssl_options=trusted(server)))
    return Client(address, "g", **{name: value for name, value in options.items() if value is not None})


def run(client: Client, script: str, bindings: dict[str, Any] | None = None) -> list[Any]:
    """Runs a script and returns all results."""
    return client.submit(script, bindings).all().result()


@contextmanager
def refused(code: int, inner: int | None = None, text: str | None = None) -> Iterator[pytest.ExceptionInfo]:
    """Expects a status, perhaps an inner one, and this in the message."""
    with pytest.raises(GremlinServerError) as caught:
        yield caught
    error = caught.value
    assert error.status_code == code, error
    if inner is not None:
        assert error.status_attributes["x-ms-status-code"] == inner, error.status_attributes
    if text is not None:
        assert text in str(error), error


async def converse(server: Server, *, scheme: str = "ws", path: str = "/gremlin") -> tuple[Any, Any]:
    """Opens a bare WebSocket, for what no driver does."""
    session = aiohttp.ClientSession()
    socket = await session.ws_connect(url(server, scheme, path), ssl=trusted(server) if scheme == "wss" else True)
    return session, socket
