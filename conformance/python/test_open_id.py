"""Tokens of an OpenID Connect issuer, by its keys in a file or at an address, and the roles that they give.

`open_id.json` has an issuer's public key and tokens that it signed, which do not expire in this century.
"""

import base64
import http.server
import json
import threading
from pathlib import Path

import pytest
from azure.core.credentials import AccessToken
from azure.cosmos import CosmosClient, PartitionKey
from azure.data.tables import TableServiceClient

from sdk import refused
from server import KEY, Server
from wire import send

ISSUER = json.loads((Path(__file__).parent / "open_id.json").read_text())
TOKENS = ISSUER["tokens"]
NEVER = 4_102_444_800


class Bearer:
    """A credential with a token that it has already."""

    def __init__(self, token: str):
        self._token = token

    def get_token(self, *_scopes, **_options) -> AccessToken:
        """Returns the token, whatever it is for."""
        return AccessToken(self._token, NEVER)


@pytest.fixture
def believing(start_server, tmp_path) -> Server:
    """A server that believes the issuer, with a container in it."""
    keys, roles = tmp_path / "keys.json", tmp_path / "roles.toml"
    keys.write_text(json.dumps(ISSUER["keys"]))
    roles.write_text('"boss" = "contributor"\n')
    flags = ("--oidc-issuer", "https://issuer.example/", "--oidc-audience", "armilla")
    started = start_server(*flags, "--oidc-keys", str(keys), "--oidc-roles", str(roles))
    with CosmosClient(started.https, KEY) as client:
        database = client.create_database("d")
        database.create_container("c", PartitionKey("/city")).create_item({"id": "1", "city": "Oslo"})
    return started


def _container(server: Server, token: str):
    client = CosmosClient(server.https, Bearer(TOKENS[token]))
    return client.get_database_client("d").get_container_client("c")


def test_roles_say_what_a_bearer_may_do(believing):
    reader = _container(believing, "reader")
    assert reader.read_item("1", "Oslo")["city"] == "Oslo"
    assert [item["id"] for item in reader.query_items("SELECT * FROM c", enable_cross_partition_query=True)] == ["1"]
    assert reader.read()["id"] == "c"
    with refused(403, 5301):
        reader.create_item({"id": "2", "city": "Oslo"})
    for token in ("contributor", "by name"):
        writer = _container(believing, token)
        writer.upsert_item({"id": token, "city": "Oslo"})
        writer.delete_item(token, "Oslo")
        with refused(403, 5300):
            CosmosClient(believing.https, Bearer(TOKENS[token])).create_database("more")


@pytest.mark.parametrize("token", ["no role", "other audience", "expired"])
def test_tokens_that_are_not_believed(believing, token):
    answer = send(believing, "GET", "/dbs/d", authorization=f"type=aad&ver=1.0&sig={TOKENS[token]}")
    assert (answer.status, answer.body["code"]) == (401, "Unauthorized")
    assert "The Microsoft Entra ID token" in answer.body["message"]


def test_a_changed_token_is_not_believed(believing):
    head, claims, signature = TOKENS["reader"].split(".")
    more = json.loads(base64.urlsafe_b64decode(claims + "=="))
    more["roles"] = ["contributor"]
    forged = base64.urlsafe_b64encode(json.dumps(more).encode()).rstrip(b"=").decode()
    answer = send(believing, "GET", "/dbs/d", authorization=f"type=aad&ver=1.0&sig={head}.{forged}.{signature}")
    assert answer.status == 401


def test_tables_take_the_same_tokens(believing):
    def service(token: str) -> TableServiceClient:
        return TableServiceClient(
            f"https://localhost:{believing.table_port}/", credential=Bearer(TOKENS[token]), connection_verify=False
        )

    table = service("contributor").create_table("t")
    table.create_entity({"PartitionKey": "a", "RowKey": "1"})
    assert [entity["RowKey"] for entity in service("reader").get_table_client("t").list_entities()] == ["1"]
    with pytest.raises(Exception, match=r"(?i)forbidden|authorization"):
        service("reader").get_table_client("t").create_entity({"PartitionKey": "a", "RowKey": "2"})


def test_keys_come_from_an_address(start_server):
    class Keys(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps(ISSUER["keys"]).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    issuer = http.server.HTTPServer(("127.0.0.1", 0), Keys)
    threading.Thread(target=issuer.serve_forever, daemon=True).start()
    try:
        flags = ("--oidc-issuer", "https://issuer.example/", "--oidc-audience", "armilla")
        server = start_server(*flags, "--oidc-keys", f"http://127.0.0.1:{issuer.server_port}/keys")
        authorization = f"type=aad&ver=1.0&sig={TOKENS['reader']}"
        assert send(server, "GET", "/dbs", authorization=authorization).status == 200
    finally:
        issuer.shutdown()


def test_an_issuer_that_does_not_answer_does_not_matter_to_keys(start_server, expect_log):
    expect_log("no keys of the issuer yet")
    # A token that names a key which is not known is a reason to ask again.
    expect_log("keys cannot be read again")
    flags = ("--oidc-issuer", "https://issuer.example/", "--oidc-audience", "armilla")
    server = start_server(*flags, "--oidc-keys", "http://127.0.0.1:9/keys")
    assert send(server, "GET", "/dbs").status == 200
    authorization = f"type=aad&ver=1.0&sig={TOKENS['reader']}"
    assert send(server, "GET", "/dbs", authorization=authorization).status == 401
