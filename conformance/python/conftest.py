"""Fixtures: a server for the session, clients, a database, and containers that live for one test."""

import itertools
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError

from mongo import READ_ONLY_KEY, SECONDARY_KEY, connect
from server import KEY, Server
from several_nodes import reasons
from tables import DOORS, ROOMY, Door

# Enough that no test is throttled by accident, few enough for one physical partition.
ROOMY_THROUGHPUT = 10_000
LOG_SECONDS_MAX = 5

_numbers = itertools.count(1)


def pytest_collection_modifyitems(items):
    """Leaves out what is different where several nodes serve the account."""
    if int(os.environ.get("ARMILLA_TEST_NODES", "1")) > 1:
        for item in items:
            for reason in reasons(item.nodeid):
                item.add_marker(pytest.mark.skip(reason=reason))


def fresh(prefix: str) -> str:
    """Returns a name no other test uses."""
    return f"{prefix}-{next(_numbers)}"


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[Server]:
    """The server most tests share."""
    shared = Server(tmp_path_factory.mktemp("server")).start()
    assert shared.complaints() == []
    yield shared
    before_stop = shared.log_length()
    exit_code = shared.stop()
    assert exit_code == 0, f"SIGTERM ended the server with {exit_code}: {shared.log_text()[-2000:]}"
    assert shared.complaints(before_stop) == []


@pytest.fixture(autouse=True)
def expect_log() -> Iterator[Callable[[str], None]]:
    """Announces a warning or error the test is going to cause, by regular expression.

    An announced line has to appear; one that was not announced fails the test.
    """
    starts = {id(instance): instance.log_length() for instance in Server.running}
    known = list(Server.running)
    started_before = len(Server.started)
    announced: list[str] = []
    yield announced.append
    watched = known + Server.started[started_before:]

    def lines() -> list[str]:
        return [line for instance in watched for line in instance.complaints(starts.get(id(instance), 0))]

    deadline = time.monotonic() + LOG_SECONDS_MAX
    missing = [pattern for pattern in announced if not any(re.search(pattern, line) for line in lines())]
    while missing and time.monotonic() < deadline:
        time.sleep(0.02)
        missing = [pattern for pattern in announced if not any(re.search(pattern, line) for line in lines())]
    assert missing == [], "announced log lines never came"
    surprising = [line for line in lines() if not any(re.search(pattern, line) for pattern in announced)]
    assert surprising == [], "the server logged warnings or errors nobody announced"


@pytest.fixture
def start_server(tmp_path) -> Iterator[Callable[..., Server]]:
    """Starts further servers on this test's own folder; those still running at the end are stopped."""
    started: list[Server] = []

    def start(*flags: str) -> Server:
        instance = Server(tmp_path, *flags).start()
        started.append(instance)
        return instance

    yield start
    for instance in started:
        if instance in Server.running:
            assert instance.stop() == 0
        instance.kill()


@pytest.fixture(scope="session")
def client(server) -> Iterator[CosmosClient]:
    """A client over HTTPS with the account key."""
    with CosmosClient(server.https, KEY) as connected:
        yield connected


@pytest.fixture
def second_client(server) -> Iterator[CosmosClient]:
    """Another application: a client that shares nothing with the first but the process."""
    with CosmosClient(server.https, KEY) as connected:
        yield connected


@pytest.fixture(scope="session")
def database(client):
    """A database for the whole session."""
    return client.create_database("conformance")


@pytest.fixture
def make_database(client):
    """Makes databases that are gone after the test."""
    made = []

    def make(name: str | None = None, **options):
        made.append(name or fresh("database"))
        return client.create_database(made[-1], **options)

    yield make
    for name in made:
        with _already_gone():
            client.delete_database(name)


@pytest.fixture
def make_container(database):
    """Makes containers that are gone after the test."""
    made = []

    def make(path: str | list[str] = "/city", *, name: str | None = None, version: int = 2, **options):
        kind = "Hash" if isinstance(path, str) else "MultiHash"
        made.append(name or fresh("container"))
        options.setdefault("offer_throughput", ROOMY_THROUGHPUT)
        return database.create_container(made[-1], PartitionKey(path, kind=kind, version=version), **options)

    yield make
    for name in made:
        with _already_gone():
            database.delete_container(name)


@pytest.fixture
def graph_container(make_container):
    """An empty container for a graph, partitioned by /pk."""
    return make_container("/pk")


@pytest.fixture
def graph(graph_container, database) -> str:
    """The name of an empty graph, as its users are called."""
    return f"/dbs/{database.id}/colls/{graph_container.id}"


@pytest.fixture
def make_graph_at() -> Callable[[Server], str]:
    """Makes a graph in a server of the test's own."""

    def make(instance: Server) -> str:
        with CosmosClient(instance.https, KEY) as connected:
            made = connected.create_database(fresh("graphs"))
            made.create_container("g", PartitionKey("/pk"), offer_throughput=ROOMY_THROUGHPUT)
            return f"/dbs/{made.id}/colls/g"

    return make


@pytest.fixture
def free_server(start_server) -> Server:
    """A server of the test's own that throttles nothing, for writers that write as fast as they can."""
    return start_server("--throttle", "off")


@pytest.fixture
def free_container(free_server):
    """An empty container for a graph in it, partitioned by /pk."""
    with CosmosClient(free_server.https, KEY) as connected:
        made = connected.create_database("graphs")
        yield made.create_container("g", PartitionKey("/pk"), offer_throughput=ROOMY_THROUGHPUT)


@pytest.fixture
def free_graph(free_container) -> str:
    """The name of that graph, as its users are called."""
    return f"/dbs/graphs/colls/{free_container.id}"


@pytest.fixture
def container(make_container):
    """An empty container partitioned by /city, with the default policies."""
    return make_container()


@pytest.fixture(scope="session", params=DOORS, ids=[door.name for door in DOORS])
def door(request) -> Door:
    """A way to the Table API; see `tables`."""
    return request.param


@pytest.fixture(scope="session")
def table_service(server, door):
    """A TableServiceClient through each of the doors."""
    with door.service(server) as connected:
        yield connected


@pytest.fixture
def make_table(table_service):
    """Makes tables that are gone after the test."""
    made = []

    def make(name: str | None = None, **options):
        options.setdefault("headers", ROOMY)
        made.append(name or fresh_table())
        return table_service.create_table(made[-1], **options)

    yield make
    for name in made:
        table_service.delete_table(name)


@pytest.fixture
def table(make_table):
    """An empty table."""
    return make_table()


@pytest.fixture(scope="session")
def common_table(table_service):
    """A table that tests share which have a partition of their own."""
    made = table_service.create_table(fresh_table(), headers=ROOMY)
    yield made
    made.delete_table()


@pytest.fixture
def partition() -> str:
    """A partition key no other test uses."""
    return fresh("partition")


@pytest.fixture(scope="session")
def mongo_server(tmp_path_factory) -> Iterator[Server]:
    """The server that tests of the MongoDB API share: collections that a write makes have 400 RU/s, too few for it."""
    keys = ("--secondary-key", SECONDARY_KEY, "--read-only-key", READ_ONLY_KEY)
    shared = Server(tmp_path_factory.mktemp("mongo"), "--throttle", "off", *keys).start()
    yield shared
    before_stop = shared.log_length()
    exit_code = shared.stop()
    assert exit_code == 0, f"SIGTERM ended the server with {exit_code}: {shared.log_text()[-2000:]}"
    assert shared.complaints(before_stop) == []


@pytest.fixture(scope="session")
def mongo(mongo_server):
    """A MongoClient over TLS with the account's name and key."""
    with connect(mongo_server) as connected:
        yield connected


@pytest.fixture(scope="session")
def mongo_database(mongo):
    """A database for the whole session."""
    return mongo["conformance"]


@pytest.fixture
def collection(mongo_database):
    """A collection that does not exist yet; gone after the test."""
    made = mongo_database[fresh("collection")]
    yield made
    made.drop()


@pytest.fixture
def second_collection(mongo_database):
    """Another one."""
    made = mongo_database[fresh("collection")]
    yield made
    made.drop()


@pytest.fixture
def empty_database(mongo):
    """A database that does not exist yet; gone after the test."""
    made = mongo[fresh("database")]
    yield made
    mongo.drop_database(made.name)


def fresh_table() -> str:
    """Returns a name for a table that no other test uses and that both flavours allow."""
    return fresh("table").replace("-", "")


@contextmanager
def _already_gone():
    try:
        yield
    except CosmosHttpResponseError as error:
        if error.status_code != 404:
            raise
