"""Session tokens: their form, read-your-writes across clients, tokens from elsewhere."""

import re

import pytest
from azure.cosmos import CosmosClient
from azure.cosmos.exceptions import CosmosResourceNotFoundError

import wire
from sdk import last_headers, refused, session_lsn
from server import KEY

TOKEN = re.compile(r"\d+:-?\d+#\d+(#\d+=-?\d+)*")


def _token(container) -> str:
    return last_headers(container)["x-ms-session-token"]


def test_every_item_response_has_a_token(container):
    container.create_item({"id": "1", "city": "Oslo"})
    tokens = [_token(container)]
    container.read_item("1", "Oslo")
    tokens.append(_token(container))
    container.upsert_item({"id": "1", "city": "Oslo", "n": 1})
    tokens.append(_token(container))
    container.patch_item("1", "Oslo", [{"op": "incr", "path": "/n", "value": 1}])
    tokens.append(_token(container))
    container.delete_item("1", "Oslo")
    tokens.append(_token(container))
    assert all(TOKEN.fullmatch(token) for token in tokens), tokens
    # Create, upsert, patch and delete each take one step; the read takes none.
    first = session_lsn(tokens[0])
    assert [session_lsn(token) for token in tokens] == [first, first, first + 1, first + 2, first + 3]


def test_resources_above_items_have_none(container, database, client):
    for properties in (container.read(), database.read()):
        assert "x-ms-session-token" not in properties.get_response_headers()


def test_lsn_headers_are_numbers(container):
    container.create_item({"id": "1", "city": "Oslo"})
    headers = last_headers(container)
    assert int(headers["lsn"]) == session_lsn(headers["x-ms-session-token"])
    assert int(headers["x-ms-item-lsn"]) == int(headers["lsn"])
    assert int(headers["x-ms-global-committed-lsn"]) <= int(headers["lsn"])


def test_second_client_reads_what_the_first_wrote(database, container, second_client):
    other = second_client.get_database_client(database.id).get_container_client(container.id)
    for n in range(20):
        container.upsert_item({"id": "1", "city": "Oslo", "n": n})
        assert other.read_item("1", "Oslo", session_token=_token(container))["n"] == n


def test_token_of_the_future_is_not_served(container):
    container.create_item({"id": "1", "city": "Oslo"})
    range_id, progress = _token(container).split(":")
    version, lsn = progress.split("#")[:2]
    future = f"{range_id}:{version}#{int(lsn) + 1_000_000}"
    with pytest.raises(CosmosResourceNotFoundError) as caught:
        container.read_item("1", "Oslo", session_token=future)
    assert caught.value.sub_status == 1002
    assert container.read_item("1", "Oslo")["id"] == "1", "the client forgets the token and goes on"


def test_token_of_an_unknown_range_is_ignored(container):
    container.create_item({"id": "1", "city": "Oslo"})
    assert container.read_item("1", "Oslo", session_token="77:-1#1000000")["id"] == "1"


@pytest.mark.parametrize("token", ["nonsense", "0:", "0:-1#x", "0:-1#1,,", "a:-1#1"])
def test_malformed_token_is_refused(server, database, container, token):
    container.create_item({"id": "1", "city": "Oslo"})
    answer = wire.send(
        server,
        "GET",
        f"/dbs/{database.id}/colls/{container.id}/docs/1",
        headers={"x-ms-documentdb-partitionkey": '["Oslo"]', "x-ms-session-token": token},
    )
    assert answer.status == 400


def test_compound_token_is_read_for_its_range(server, database, make_container):
    container = make_container("/deviceId", offer_throughput=20_000)
    tokens = {}
    for n in range(20):
        headers = container.create_item({"id": "1", "deviceId": f"d{n}"}).get_response_headers()
        tokens[headers["x-ms-documentdb-partitionkeyrangeid"]] = headers["x-ms-session-token"]
    assert set(tokens) == {"0", "1"}
    answer = wire.send(
        server,
        "GET",
        f"/dbs/{database.id}/colls/{container.id}/docs/1",
        headers={"x-ms-documentdb-partitionkey": '["d0"]', "x-ms-session-token": ",".join(tokens.values())},
    )
    assert answer.status == 200


@pytest.mark.parametrize("level", ["Session", "ConsistentPrefix", "Eventual"])
def test_consistency_may_be_weakened(server, database, container, level):
    container.create_item({"id": "1", "city": "Oslo"})
    with CosmosClient(server.https, KEY, consistency_level=level) as weaker:
        other = weaker.get_database_client(database.id).get_container_client(container.id)
        assert other.read_item("1", "Oslo")["id"] == "1"


@pytest.mark.parametrize("level", ["Strong", "BoundedStaleness"])
def test_consistency_may_not_be_strengthened(server, database, container, level):
    container.create_item({"id": "1", "city": "Oslo"})
    with CosmosClient(server.https, KEY, consistency_level=level) as stronger:
        other = stronger.get_database_client(database.id).get_container_client(container.id)
        with refused(400):
            other.read_item("1", "Oslo")
