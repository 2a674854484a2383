"""Logging in to the Gremlin API: keys, tokens, graphs that are not there."""

import pytest

from gremlin import connect, refused, run
from mongo import READ_ONLY_KEY, SECONDARY_KEY
from server import KEY


@pytest.fixture
def keyed(start_server):
    """A server with more than one key, and the name of a graph in it."""
    return start_server("--secondary-key", SECONDARY_KEY, "--read-only-key", READ_ONLY_KEY)


@pytest.fixture
def keyed_graph(keyed):
    """A graph with one vertex in that server."""
    from azure.cosmos import CosmosClient, PartitionKey

    with CosmosClient(keyed.https, KEY) as client:
        database = client.create_database("graphs")
        container = database.create_container("g", PartitionKey("/pk"))
        container.create_item({"id": "1", "label": "x", "pk": "p"})
        yield database, "/dbs/graphs/colls/g"


def test_the_keys_of_the_account_open_a_graph(keyed, keyed_graph):
    for key in (KEY, SECONDARY_KEY, READ_ONLY_KEY):
        client = connect(keyed, keyed_graph[1], password=key)
        assert run(client, "g.V().count()") == [1]
        client.close()


def test_a_wrong_key_is_refused(keyed, keyed_graph):
    client = connect(keyed, keyed_graph[1], password="d3Jvbmc=")
    with refused(401, 401, "Unauthorized: Invalid credentials provided"):
        run(client, "g.V().count()")
    client.close()


def test_a_graph_that_is_not_there(keyed, keyed_graph):
    for graph in ("/dbs/graphs/colls/other", "/dbs/other/colls/g"):
        client = connect(keyed, graph)
        with refused(500, 404, "Owner resource does not exist"):
            run(client, "g.V().count()")
        client.close()


def test_a_key_for_reading_writes_nothing(keyed, keyed_graph):
    client = connect(keyed, keyed_graph[1], password=READ_ONLY_KEY)
    for script in ("g.addV('x').property('pk','p')", "g.V('1').drop()", "g.V('1').property('a',1)"):
        with refused(500, 403, "Insufficient permissions provided in the authorization header"):
            run(client, script)
    assert run(client, "g.V().count()") == [1]
    client.close()


def test_resource_tokens(keyed, keyed_graph):
    database, graph = keyed_graph
    container = database.get_container_client("g")
    user = database.create_user({"id": "reader"})
    tokens = {}
    for mode in ("Read", "All"):
        permission = user.create_permission(
            {"id": mode, "permissionMode": mode, "resource": container.container_link}
            if mode == "Read"
            else {
                "id": mode,
                "permissionMode": mode,
                "resource": f"{container.container_link}/docs/1",
                "resourcePartitionKey": ["p"],
            }
        )
        tokens[mode] = permission.properties["_token"]
    client = connect(keyed, graph, password=tokens["Read"])
    assert run(client, "g.V().count()") == [1]
    with refused(500, 403):
        run(client, "g.addV('x').property('pk','p')")
    client.close()
    client = connect(keyed, graph, password=tokens["All"])
    assert run(client, "g.V(['p','1']).id()") == ["1"]
    client.close()
