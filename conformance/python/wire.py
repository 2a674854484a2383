"""Signed requests by hand, for what the SDK refuses to send or hides from its caller, and for the server's own."""

import base64
import functools
import hashlib
import hmac
import http.client
import json
import ssl
import urllib.parse
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any

from server import KEY, Server

TIMEOUT_SECONDS = 30
OWN_ENDPOINTS = "_armilla"


@dataclass
class Answer:
    """A response: header names in lower case, the body parsed where it is JSON."""

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def sub_status(self) -> int:
        """The sub-status, 0 when there is none."""
        return int(self.headers.get("x-ms-substatus", 0))


def send(
    server: Server,
    verb: str,
    path: str,
    body: Any = None,
    headers: dict[str, str] | None = None,
    *,
    scheme: str = "https",
    host: str = "localhost",
    date: str | None = None,
    authorization: str | None = "",
) -> Answer:
    """Sends one request. The path is given decoded; `authorization` None leaves the header out, "" signs it."""
    all_headers = {"x-ms-version": "2020-07-15", "x-ms-date": date or formatdate(usegmt=True)}
    if authorization == "":
        authorization = sign(verb, path, all_headers["x-ms-date"])
    if authorization is not None:
        all_headers["authorization"] = authorization
    all_headers.update(headers or {})
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    if scheme == "https":
        connection = http.client.HTTPSConnection(host, server.port, timeout=TIMEOUT_SECONDS, context=_unverified())
    else:
        connection = http.client.HTTPConnection(host, server.port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request(verb, urllib.parse.quote(path), body=data, headers=all_headers)
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    parsed = json.loads(content) if content else None
    return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, parsed)


@functools.cache
def _unverified() -> ssl.SSLContext:
    # The default context reads the system's certificates first, which takes longer than a request and is not needed.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def sign(verb: str, path: str, date: str, key: str = KEY) -> str:
    """Returns the Authorization value for a request addressed by names, or to the server's own endpoints."""
    segments = [segment for segment in path.split("/") if segment]
    if segments[:1] == [OWN_ENDPOINTS]:
        return _authorization(verb, OWN_ENDPOINTS.lstrip("_"), urllib.parse.quote("/".join(segments)), date, key)
    if segments[:1] == ["offers"] and len(segments) == 2:
        # Offers have no names: what is signed is the rid alone, in lower case.
        return _authorization(verb, "offers", segments[1].lower(), date, key)
    is_feed = len(segments) % 2 == 1
    resource_type = (segments[-1] if is_feed else segments[-2]) if segments else ""
    link = "/".join(segments[:-1] if is_feed else segments)
    return _authorization(verb, resource_type, link, date, key)


def _authorization(verb: str, resource_type: str, link: str, date: str, key: str) -> str:
    text = f"{verb.lower()}\n{resource_type}\n{link}\n{date.lower()}\n\n"
    digest = hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()
    return urllib.parse.quote(f"type=master&ver=1.0&sig={base64.b64encode(digest).decode()}", safe="")
