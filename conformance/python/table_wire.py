"""Signed requests of the Table API by hand, for what the SDK refuses to send or hides from its caller."""

import base64
import hashlib
import hmac
import http.client
import json
import urllib.parse
from dataclasses import dataclass
from email.utils import formatdate

from server import Server
from tables import STORAGE_ACCOUNT, Door

TIMEOUT_SECONDS = 30


@dataclass
class Answer:
    """A response: header names in lower case, the body as text."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> dict:
        """The body, where it is JSON."""
        return json.loads(self.text)


def send(
    door: Door,
    server: Server,
    verb: str,
    target: str,
    body: str | None = None,
    headers: dict[str, str] | None = None,
    *,
    is_lite: bool = False,
) -> Answer:
    """Sends one request over plain HTTP; the target is given as it travels, without the account's segment."""
    port = server.storage_table_port if door.is_storage else server.table_port
    if door.account == STORAGE_ACCOUNT:
        target = f"/{door.account}{target}"
    all_headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2019-02-02", "Accept": "application/json"}
    if body is not None:
        all_headers["Content-Type"] = "application/json"
    all_headers |= headers or {}
    all_headers.setdefault("Authorization", _authorization(door, verb, target, all_headers, is_lite))
    connection = http.client.HTTPConnection(door.host, port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request(
            verb, target, body=body and body.encode(), headers={n: v for n, v in all_headers.items() if v}
        )
        response = connection.getresponse()
        text = response.read().decode("utf-8-sig")
    finally:
        connection.close()
    return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, text)


def _authorization(door: Door, verb: str, target: str, headers: dict[str, str], is_lite: bool) -> str:
    parts = urllib.parse.urlsplit(target)
    resource = f"/{door.account}{parts.path}"
    for name, value in urllib.parse.parse_qsl(parts.query):
        if name == "comp":
            resource += f"?comp={value}"
    lines = [headers["x-ms-date"], resource]
    if not is_lite:
        lines = [verb, headers.get("Content-MD5", ""), headers.get("Content-Type", ""), *lines]
    digest = hmac.new(base64.b64decode(door.key), "\n".join(lines).encode(), hashlib.sha256).digest()
    return f"SharedKey{'Lite' if is_lite else ''} {door.account}:{base64.b64encode(digest).decode()}"
