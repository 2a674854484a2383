"""Stopping and starting again on the same folder: everything acknowledged is still there."""

import http.client
import itertools
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from azure.cosmos import CosmosClient, PartitionKey

import wire
from sdk import session_lsn, without_system_properties
from server import KEY

STOP_SECONDS_MAX = 5
WRITERS = 8
LOAD_ITEMS = 400

POLICY = {
    "indexingMode": "consistent",
    "automatic": True,
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": '/"_etag"/?'}],
    "compositeIndexes": [[{"path": "/a", "order": "ascending"}, {"path": "/b", "order": "descending"}]],
}


def _fill(client) -> None:
    database = client.create_database("kept", offer_throughput=1_000)
    people = database.create_container(
        "people",
        PartitionKey("/city"),
        indexing_policy=POLICY,
        default_ttl=-1,
        unique_key_policy={"uniqueKeys": [{"paths": ["/email"]}]},
        computed_properties=[{"name": "lowerName", "query": "SELECT VALUE LOWER(c.name) FROM c"}],
    )
    wide = database.create_container(
        "wide", PartitionKey(["/tenant", "/user"], kind="MultiHash"), offer_throughput=20_000
    )
    for n in range(50):
        people.create_item({"id": str(n), "city": f"city {n % 5}", "email": f"{n}@x", "n": n})
        wide.create_item({"id": str(n), "tenant": f"t{n % 7}", "user": n, "text": "é" * n})
    people.replace_item("7", {"id": "7", "city": "city 2", "email": "seven@x", "n": 700})
    people.patch_item("8", "city 3", [{"op": "incr", "path": "/n", "value": 800}])
    people.delete_item("9", "city 4")
    user = database.create_user({"id": "reader"})
    user.create_permission({"id": "read", "permissionMode": "Read", "resource": people.container_link})
    client.create_database("dropped").create_container("c", PartitionKey("/city"))
    client.delete_database("dropped")


def _everything(client) -> dict:
    """Returns all there is to see through the API, without what is minted on every read."""
    seen = {}
    for listed in client.list_databases():
        database = client.get_database_client(listed["id"])
        seen[listed["id"]] = dict(listed)
        for properties in database.list_containers():
            container = database.get_container_client(properties["id"])
            seen[container.container_link] = {
                "definition": dict(properties),
                "items": list(container.read_all_items()),
                "ranges": list(container.client_connection._ReadPartitionKeyRanges(container.container_link)),
                "feed ranges": list(container.read_feed_ranges()),
            }
        for user in database.list_users():
            permissions = database.get_user_client(user["id"]).list_permissions()
            seen[user["_self"]] = [
                dict(user),
                [{name: value for name, value in one.items() if name != "_token"} for one in permissions],
            ]
    return seen


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL], ids=["terminated", "killed"])
def test_everything_survives(start_server, ending):
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        _fill(client)
        before = _everything(client)
    assert len(before) == 4
    exit_code = server.stop(ending)
    assert exit_code == (0 if ending is signal.SIGTERM else -signal.SIGKILL)

    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        assert _everything(client) == before


def test_work_goes_on_where_it_stopped(start_server):
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        _fill(client)
        people = client.get_database_client("kept").get_container_client("people")
        last = people.upsert_item({"id": "last", "city": "Oslo", "email": "last@x"})
        token = last.get_response_headers()["x-ms-session-token"]
        pages = people.read_all_items(max_item_count=10).by_page()
        first_page = list(next(pages))
        continuation = pages.continuation_token
        everything = list(people.read_all_items())
    assert server.stop() == 0

    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        database = client.get_database_client("kept")
        people = database.get_container_client("people")
        assert people.read_item("last", "Oslo", session_token=token) == last
        rest = [item for page in people.read_all_items(max_item_count=10).by_page(continuation) for item in page]
        assert first_page + rest == everything

        replaced = people.replace_item("last", {**without_system_properties(last), "n": 1})
        assert replaced["_rid"] == last["_rid"]
        assert session_lsn(replaced.get_response_headers()["x-ms-session-token"]) > session_lsn(token)
        new = people.create_item({"id": "new", "city": "Oslo", "email": "new@x"})
        assert new["_rid"] not in {item["_rid"] for item in everything}

        permission = database.get_user_client("reader").get_permission("read")
        with CosmosClient(server.https, credential={people.container_link: permission.properties["_token"]}) as holder:
            reader = holder.get_database_client("kept").get_container_client("people")
            assert reader.read_item("new", "Oslo") == new


def test_open_connections_do_not_hold_up_the_end(start_server):
    server = start_server()
    with CosmosClient(server.https, KEY) as secure, CosmosClient(server.http, KEY) as plain:
        assert list(secure.list_databases()) == list(plain.list_databases()) == []
        started = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - started < STOP_SECONDS_MAX


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL], ids=["terminated", "killed"])
def test_acknowledged_writes_survive_an_end_under_load(start_server, ending):
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        client.create_database("d").create_container("c", PartitionKey("/city"), offer_throughput=20_000)
    acknowledged = []

    def write(writer: int) -> None:
        headers = {"x-ms-documentdb-partitionkey": f'["city {writer}"]'}
        for number in itertools.count():
            item = {"id": f"{writer}-{number}", "city": f"city {writer}"}
            try:
                answer = wire.send(server, "POST", "/dbs/d/colls/c/docs", item, headers, scheme="http")
            except (OSError, http.client.HTTPException):
                return
            if answer.status != 201:
                return
            acknowledged.append(item["id"])

    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(write, writer) for writer in range(WRITERS)]
        while len(acknowledged) < LOAD_ITEMS and not any(writer.done() for writer in writers):
            time.sleep(0.01)
        exit_code = server.stop(ending)
        for writer in writers:
            writer.result()
    assert exit_code == (0 if ending is signal.SIGTERM else -signal.SIGKILL)
    assert len(acknowledged) >= LOAD_ITEMS

    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        kept = {item["id"] for item in client.get_database_client("d").get_container_client("c").read_all_items()}
    assert set(acknowledged) <= kept
    assert len(kept) <= len(acknowledged) + WRITERS, "at most one write of each writer was on its way"


def test_second_server_on_the_same_folder_is_refused(start_server, tmp_path):
    server = start_server()
    with pytest.raises(AssertionError, match="no ready line"):
        start_server()
    with CosmosClient(server.https, KEY) as client:
        assert list(client.list_databases()) == []
