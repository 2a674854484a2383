"""The account in an object store: in a folder, and on SeaweedFS by the API of S3."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from azure.core.exceptions import AzureError
from azure.cosmos import CosmosClient, PartitionKey, exceptions

from server import KEY, Server, binary
from weed import BUCKET, Weed

# Long enough for an object store on a busy machine.
LEASE_SECONDS = 8

# How long something may take that a busy machine does, and that would not happen at all were it wrong.
PATIENCE_SECONDS = 60

# Nothing here is about how fast a request is answered, and a busy machine may be slow.
NOT_SLOW = ("--slow-request-ms", str(PATIENCE_SECONDS * 1_000))


@pytest.fixture(scope="module")
def weed(tmp_path_factory):
    """An object store that speaks S3."""
    started = Weed(tmp_path_factory.mktemp("weed")).start()
    yield started
    started.stop()


@pytest.fixture(params=["file", "s3"])
def place(request, tmp_path, monkeypatch) -> str:
    """The URL of a place for a store, which is empty."""
    if request.param == "file":
        return f"file://{tmp_path}/objects"
    started = request.getfixturevalue("weed")
    for name, value in started.environment().items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{tmp_path.name}"


@pytest.fixture
def make(tmp_path, place):
    """Makes servers on the place, each with a folder of its own."""
    made: list[Server] = []

    def make_one(*flags: str, lease: int = LEASE_SECONDS) -> Server:
        folder = tmp_path / f"server-{len(made)}"
        folder.mkdir()
        made.append(Server(folder, "--store", place, "--lease-seconds", str(lease), *NOT_SLOW, *flags))
        return made[-1]

    yield make_one
    for server in made:
        server.kill()


def connect(server: Server) -> CosmosClient:
    return CosmosClient(server.http, KEY, retry_total=0, connection_timeout=5)


def container_of(server: Server):
    database = connect(server).create_database_if_not_exists("shop")
    return database.create_container_if_not_exists("orders", PartitionKey("/customer"))


def check(place: str) -> subprocess.CompletedProcess:
    return subprocess.run([binary(), "check", "--store", place], capture_output=True, text=True, timeout=120)


def order(number: int) -> dict:
    return {"id": f"o{number}", "customer": f"c{number % 7}", "total": number}


def test_what_was_acknowledged_survives_a_kill(make, place):
    server = make().start()
    assert server.ready["data"] == place
    orders = container_of(server)
    for number in range(50):
        orders.create_item(order(number))
    orders.delete_item("o7", "c0")
    server.kill()
    # The process that died keeps its lease for a while, and not for longer.
    began = time.monotonic()
    server.start()
    assert time.monotonic() - began < LEASE_SECONDS * 1.1 + 20
    assert "is held by process" in server.log_text()
    orders = container_of(server)
    assert orders.read_item("o13", "c6")["total"] == 13
    totals = orders.query_items("SELECT VALUE o.total FROM orders o", enable_cross_partition_query=True)
    assert sorted(totals) == [number for number in range(50) if number != 7]
    with pytest.raises(exceptions.CosmosResourceNotFoundError):
        orders.read_item("o7", "c0")
    assert server.stop() == 0
    checked = check(place)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "1 databases, 1 containers, 1 partitions, 49 items" in checked.stdout


def test_a_check_finds_the_store_as_the_server_does(tmp_path):
    """With the environment of a server, which has a folder of its own beside the store."""
    folder, objects = tmp_path / "server", f"file://{tmp_path}/objects"
    folder.mkdir()
    server = Server(folder, "--store", objects, *NOT_SLOW).start()
    container_of(server).create_item(order(1))
    assert server.stop() == 0
    config = tmp_path / "armilla.toml"
    config.write_text(f'store = "{objects}"\n')
    for variables in ({"ARMILLA_STORE": objects}, {"ARMILLA_CONFIG": str(config)}):
        environment = {**os.environ, **variables, "ARMILLA_DATA_DIR": str(server.data_folder)}
        checked = subprocess.run([binary(), "check"], capture_output=True, text=True, timeout=120, env=environment)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        assert "1 databases, 1 containers, 1 partitions, 1 items" in checked.stdout


def test_one_that_stops_gives_the_place_up_at_once(make):
    first = make(lease=60).start()
    container_of(first).create_item(order(1))
    assert first.stop() == 0
    second = make().start()
    assert container_of(second).read_item("o1", "c1")["total"] == 1
    assert "is held by process" not in second.log_text()
    assert second.stop() == 0


def test_one_that_waits_can_be_ended(make):
    first = make().start()
    second = make()
    command = [binary(), "--port", "0", "--data-dir", str(second.data_folder), *second._flags]
    environment = {
        **os.environ,
        "ARMILLA_STORAGE_TABLE_PORT": "0",
        "ARMILLA_MONGO_PORT": "0",
        "ARMILLA_GREMLIN_PORT": "0",
    }
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as waiting:
        for line in waiting.stderr:
            if "is held by process" in line:
                break
        # The lease is renewed all the time: it would wait for ever.
        waiting.send_signal(signal.SIGTERM)
        assert waiting.wait(PATIENCE_SECONDS) == 0
        assert waiting.stdout.read() == ""
    assert container_of(first).create_item(order(1))["total"] == 1
    assert first.stop() == 0


def test_one_that_is_paused_loses_the_place_and_never_shows_what_is_old(make, expect_log):
    first = make().start()
    orders = container_of(first)
    orders.create_item(order(1))
    pid = int(first.ready["pid"])
    os.kill(pid, signal.SIGSTOP)
    try:
        second = make().start()
        taken = container_of(second)
        assert taken.read_item("o1", "c1")["total"] == 1
        taken.replace_item("o1", {**order(1), "total": 2})
    finally:
        os.kill(pid, signal.SIGCONT)
    # It has the old item in memory. It may say that it cannot answer, and it may be gone, but it must not show it.
    deadline = time.monotonic() + PATIENCE_SECONDS
    while first._process.poll() is None and time.monotonic() < deadline:
        try:
            answer = orders.read_item("o1", "c1")
        except AzureError:
            continue
        assert answer["total"] == 2
    expect_log("another armilla has taken the store")
    # Its trees may find out first.
    expect_log("another armilla has taken the store|slatedb::|a space is closed|a lease could not be")
    assert first._process.poll() not in (None, 0)
    Server.running.remove(first)
    assert taken.read_item("o1", "c1")["total"] == 2
    taken.create_item(order(2))
    assert second.stop() == 0


def test_splits_scripts_feeds_and_lifetimes(make, place):
    server = make("--throttle", "off", "--physical-partition-ru", "1000").start()
    database = connect(server).create_database("shop")
    orders = database.create_container("orders", PartitionKey("/customer"), offer_throughput=1000, default_ttl=-1)
    for number in range(60):
        orders.create_item(order(number))
    orders.create_item({**order(1_000), "ttl": 1})
    short_since = time.monotonic()
    orders.scripts.create_stored_procedure(
        {
            "id": "add",
            "body": """function add(id) {
                var context = getContext();
                context.getCollection().createDocument(context.getCollection().getSelfLink(),
                    {id: id, customer: 'c1', total: -1}, function (error, made) {
                        if (error) throw error;
                        context.getResponse().setBody(made.id);
                    });
            }""",
        }
    )
    assert orders.scripts.execute_stored_procedure("add", "c1", ["scripted"]) == "scripted"
    split = subprocess.run(
        [binary(), "split", "--database", "shop", "--container", "orders", "--endpoint", server.http],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert split.returncode == 0, split.stdout + split.stderr
    # It lives through its last second, and seconds are whole: one more than the one it was given.
    time.sleep(max(0.0, short_since + 2.1 - time.monotonic()))
    seen = {change["id"] for change in orders.query_items_change_feed(start_time="Beginning")}
    assert {f"o{number}" for number in range(60)} | {"scripted"} <= seen
    totals = orders.query_items("SELECT VALUE COUNT(1) FROM o", enable_cross_partition_query=True)
    assert list(totals) == [61]
    assert server.stop() == 0
    checked = check(place)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "2 partitions, " in checked.stdout


def names_at(place: str, request) -> set[str]:
    """The names of all objects of a place."""
    if place.startswith("file://"):
        folder = Path(place.removeprefix("file://"))
        return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    prefix = place.removeprefix(f"s3://{BUCKET}/") + "/"
    return {name.removeprefix(prefix) for name in request.getfixturevalue("weed").names(prefix)}


def test_many_containers_start_at_once(make, place, request):
    server = make("--throttle", "off").start()
    database = connect(server).create_database("shop")
    for number in range(60):
        database.create_container(f"c{number}", PartitionKey("/customer"))
    for number in range(0, 60, 10):
        database.get_container_client(f"c{number}").create_item(order(number))
    assert server.stop() == 0
    before = names_at(place, request)
    spaces = {name.split("/")[1] for name in before if name.startswith("spaces/")}
    assert len(spaces) > 6
    server.start()
    # Nothing but the tree of resources was opened: one that is has a new manifest.
    opened = {name.split("/")[1] for name in names_at(place, request) - before if "/manifest/" in name}
    assert opened == {min(spaces)}
    database = connect(server).get_database_client("shop")
    for number in range(0, 60, 10):
        assert database.get_container_client(f"c{number}").read_item(f"o{number}", f"c{number % 7}")["total"] == number
    assert server.stop() == 0


def test_an_object_store_that_does_not_answer_for_a_while(tmp_path, monkeypatch):
    away = Weed(tmp_path / "weed").start()
    for name, value in away.environment().items():
        monkeypatch.setenv(name, value)
    lease = ("--lease-seconds", str(LEASE_SECONDS))
    server = Server(tmp_path, "--store", f"s3://{BUCKET}/away", *lease, *NOT_SLOW).start()
    try:
        orders = container_of(server)
        orders.create_item(order(1))
        away.pause()
        # What is in memory is shown until another process could have the store, and not longer.
        assert orders.read_item("o1", "c1")["total"] == 1
        time.sleep(LEASE_SECONDS * 1.5)
        with pytest.raises(exceptions.CosmosHttpResponseError) as refused:
            orders.read_item("o1", "c1")
        assert refused.value.status_code == 503
        away.resume()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                orders.upsert_item(order(2))
                break
            except AzureError:
                assert time.monotonic() < deadline
                time.sleep(0.2)
        assert orders.read_item("o1", "c1")["total"] == 1
        assert server.stop() == 0
    finally:
        away.resume()
        server.kill()
        away.stop()


def refusal(folder: Path, *arguments: str, **variables: str) -> str:
    command = [binary(), "--port", "0", "--data-dir", str(folder), *arguments]
    environment = {**os.environ, "ARMILLA_STORAGE_TABLE_PORT": "0", "NO_COLOR": "1", **variables}
    refused = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=environment)
    assert refused.returncode == 1, refused.stderr
    return refused.stderr


def test_what_cannot_be_is_refused_with_a_reason(tmp_path):
    folder = tmp_path / "data"
    assert "its scheme is none of file, s3, az and gs" in refusal(folder, "--store", "ftp://host/x")
    assert "two places for the data" in refusal(folder, "--store", "file:///tmp/x", "--memory")
    objects = f"file://{tmp_path}/objects"
    assert "--lease-seconds is 1, but must be at least 2" in refusal(folder, "--store", objects, "--lease-seconds", "1")
    # What would have no effect, wherever it is set.
    for option, store, reason in (
        ("lease-seconds", None, "--lease-seconds is for the lease of an object store: give --store as well"),
        (
            "store-cache-mb",
            None,
            "--store-cache-mb is for copies of what lies in an object store: give --store as well",
        ),
        ("write-buffer-mb", objects, "--write-buffer-mb is for data in a folder and does nothing with --store"),
    ):
        flags = ["--store", store] if store else []
        assert reason in refusal(folder, *flags, f"--{option}", "7")
        variables = {f"ARMILLA_{option.upper().replace('-', '_')}": "7"}
        assert reason in refusal(folder, *flags, **variables)
        config = tmp_path / f"{option}.toml"
        config.write_text(f"{option} = 7\n" + (f'store = "{store}"\n' if store else ""))
        assert reason in refusal(folder, "--config", str(config))
    own = Server(tmp_path / "own")
    (tmp_path / "own").mkdir()
    own.start()
    assert own.stop() == 0
    assert "has an account of its own" in refusal(own.data_folder, "--store", f"file://{tmp_path}/objects")
    nothing = check(f"file://{tmp_path}/nothing")
    assert nothing.returncode == 1
    assert "there is no store of armilla at" in nothing.stderr


def test_the_promises_of_every_store(weed, tmp_path):
    """The suite of the storage contract, as a program, against SeaweedFS."""
    suite = binary().parent / "examples" / "store-suite"
    ran = subprocess.run(
        [suite, f"s3://{BUCKET}/{tmp_path.name}"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **weed.environment()},
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-4000:]
    assert "fixtures passed" in ran.stdout
