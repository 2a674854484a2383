"""The account document, and who may read it."""

import time
from email.utils import formatdate

import pytest
from azure.cosmos import CosmosClient

import wire
from sdk import refused
from server import KEY

HOUR_SECONDS = 3600


@pytest.mark.parametrize("scheme", ["https", "http"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_locations_repeat_how_the_caller_came(server, scheme, host):
    account = wire.send(server, "GET", "/", scheme=scheme, host=host).body
    endpoint = f"{scheme}://{host}:{server.port}/"
    assert [place["databaseAccountEndpoint"] for place in account["writableLocations"]] == [endpoint]
    assert [place["databaseAccountEndpoint"] for place in account["readableLocations"]] == [endpoint]


def test_document_has_what_every_sdk_needs(server):
    account = wire.send(server, "GET", "/").body
    assert {"_self", "id", "_rid"} <= account.keys()
    assert account["id"] != "localhost", "the JavaScript SDK would ask for the account before every request"
    assert account["userConsistencyPolicy"]["defaultConsistencyLevel"] == "Session"
    assert account["enableMultipleWriteLocations"] is False
    assert not [name for name in account if name.startswith("thinClient")]
    assert isinstance(account["queryEngineConfiguration"], str)


def test_sdk_reads_the_account(server, client):
    account = client.get_database_account()
    assert account.ConsistencyPolicy["defaultConsistencyLevel"] == "Session"
    assert [place["databaseAccountEndpoint"] for place in account.WritableLocations] == [server.https]


def test_client_from_a_connection_string(server):
    with CosmosClient.from_connection_string(f"AccountEndpoint={server.https};AccountKey={KEY};") as connected:
        assert connected.get_database_account().ReadableLocations


def test_wrong_key_is_unauthorized(server):
    wrong = KEY[:-4] + "AA=="
    with refused(401):
        CosmosClient(server.https, wrong)


@pytest.mark.parametrize("path", ["/", "/dbs", "/dbs/nowhere/colls/nothing"])
def test_request_without_credentials_is_unauthorized(server, path):
    answer = wire.send(server, "GET", path, authorization=None)
    assert answer.status == 401
    assert answer.body["code"] == "Unauthorized"
    assert isinstance(answer.body["message"], str)


@pytest.mark.parametrize("authorization", ["nonsense", "type%3Dmaster%26ver%3D1.0%26sig%3D", "type=master&ver=1.0"])
def test_malformed_credentials_are_unauthorized(server, authorization):
    answer = wire.send(server, "GET", "/dbs", authorization=authorization)
    assert answer.status == 401
    assert answer.body["code"] == "Unauthorized"


@pytest.mark.parametrize("hours", [-1, 1])
def test_stale_date_is_forbidden(server, hours):
    date = formatdate(time.time() + hours * HOUR_SECONDS, usegmt=True)
    answer = wire.send(server, "GET", "/dbs", date=date)
    assert answer.status == 403
    assert answer.body["code"] == "Forbidden"


def test_every_answer_carries_the_standard_headers(server):
    answer = wire.send(server, "GET", "/dbs", headers={"x-ms-activity-id": "6d0d4d9a-2f8e-4f0d-9a3e-0f6a3c3e8c11"})
    assert answer.status == 200
    assert answer.headers["x-ms-activity-id"] == "6d0d4d9a-2f8e-4f0d-9a3e-0f6a3c3e8c11"
    assert float(answer.headers["x-ms-request-charge"]) >= 0
    assert answer.headers["content-type"].startswith("application/json")


@pytest.mark.parametrize(("verb", "path"), [("GET", "/nothing"), ("GET", "/dbs/a/nothing/b"), ("PUT", "/dbs")])
def test_unknown_routes_answer_with_a_json_error(server, verb, path):
    answer = wire.send(server, verb, path, body={} if verb == "PUT" else None)
    assert 400 <= answer.status < 500
    assert isinstance(answer.body["message"], str), "the JavaScript SDK parses every error body"
