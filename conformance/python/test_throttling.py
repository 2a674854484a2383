"""Throughput is enforced: what a second admits, what a refusal says and leaves alone, what SDK retries make of it."""

import itertools
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from azure.cosmos import CosmosClient, PartitionKey, ThroughputProperties
from azure.cosmos.exceptions import CosmosHttpResponseError

import partitions
import wire
from budget import Spent, in_one_second, retry_after_seconds, spend, start_of_second, wide_item
from procedures import register, script
from sdk import charge, last_headers, refused, through
from server import KEY

THROUGHPUT = 400
MESSAGE = "Request rate is large. More Request Units may be needed, so no changes were made."
REFUSED_CHARGE = 0.38
WRITERS = 4
# Network and scheduling between the server's clock reading and ours.
SLACK_SECONDS = 0.25

_numbers = itertools.count()


@pytest.fixture
def impatient(server):
    """A client that does not retry what is throttled; 0 would mean the default."""
    with CosmosClient(server.https, KEY, retry_throttle_total=-1) as connected:
        yield connected


@pytest.fixture
def narrow(make_container, impatient):
    """A container of 400 RU/s as the impatient client sees it."""
    return through(impatient, make_container(offer_throughput=THROUGHPUT))


def _create(container, city="Oslo", **options):
    return container.create_item(wide_item(str(next(_numbers)), city), **options)


def _into_debt(container, items: int) -> tuple[int, float]:
    """Runs one expensive script in a fresh second; returns the second and the charge."""
    name = register(container, script("import-items"))

    def execute():
        batch = [wide_item(f"debt {next(_numbers)}") for _ in range(items)]
        container.scripts.execute_stored_procedure(name, partition_key="Oslo", params=[batch])
        return float(last_headers(container)["x-ms-request-charge"])

    return in_one_second(execute)


def test_second_admits_its_budget_and_one_overdraft(narrow):
    _, spent = in_one_second(lambda: spend(lambda: _create(narrow)))
    assert spent.total >= THROUGHPUT > round(spent.total - spent.charges[-1], 2)
    assert set(spent.charges) == {20.38}


def test_refusal_says_when_to_come_back(narrow):
    second, spent = in_one_second(lambda: spend(lambda: _create(narrow)))
    refusal = spent.refusal
    assert (refusal.status_code, refusal.sub_status) == (429, 3200)
    assert MESSAGE in refusal.message
    assert float(refusal.headers["x-ms-request-charge"]) == REFUSED_CHARGE
    assert refusal.headers["x-ms-documentdb-partitionkeyrangeid"] == "0"
    wait = retry_after_seconds(refusal)
    assert abs(time.time() + wait - (second + 1)) < SLACK_SECONDS, "the budget comes back with the next second"
    time.sleep(wait)
    assert charge(_create(narrow)) == 20.38


def test_debt_is_paid_before_anything_else_is_admitted(narrow):
    """One script of some 1,500 RU is admitted while there is budget, runs to its end, and closes the partition."""
    second, cost = _into_debt(narrow, items=70)
    assert cost > 2.5 * THROUGHPUT
    with refused(429, 3200) as caught:
        _create(narrow)
    wait = retry_after_seconds(caught.value)
    opens_again = second + int(cost // THROUGHPUT)
    assert abs(time.time() + wait - opens_again) < SLACK_SECONDS
    time.sleep(max(0, opens_again - SLACK_SECONDS - time.time()))
    with refused(429, 3200):
        _create(narrow)
    time.sleep(opens_again + SLACK_SECONDS / 5 - time.time())
    assert charge(_create(narrow)) == 20.38


def test_every_kind_of_request_is_refused_and_does_nothing(server, database, narrow):
    narrow.create_item({"id": "kept", "city": "Oslo", "n": 1})
    name = register(narrow, "function () { getContext().getResponse().setBody('ran'); }")
    _into_debt(narrow, items=100)
    path, key = f"/{narrow.container_link}/docs", {"x-ms-documentdb-partitionkey": '["Oslo"]'}
    batch = [("create", ({"id": "from batch", "city": "Oslo"},)), ("delete", ("kept",))]
    requests = {
        "create": lambda: narrow.create_item({"id": "new", "city": "Oslo"}),
        "create of what exists": lambda: narrow.create_item({"id": "kept", "city": "Oslo"}),
        "read": lambda: narrow.read_item("kept", "Oslo"),
        "read of nothing": lambda: narrow.read_item("missing", "Oslo"),
        "upsert": lambda: narrow.upsert_item({"id": "kept", "city": "Oslo", "n": 2}),
        "replace": lambda: narrow.replace_item("kept", {"id": "kept", "city": "Oslo", "n": 2}),
        "patch": lambda: narrow.patch_item("kept", "Oslo", [{"op": "incr", "path": "/n", "value": 1}]),
        "delete": lambda: narrow.delete_item("kept", "Oslo"),
        "batch": lambda: narrow.execute_item_batch(batch, partition_key="Oslo"),
        "query of a key": lambda: list(narrow.query_items("SELECT * FROM c", partition_key="Oslo")),
        "query of all": lambda: list(narrow.query_items("SELECT * FROM c", enable_cross_partition_query=True)),
        "feed": lambda: list(narrow.read_all_items()),
        "procedure": lambda: narrow.scripts.execute_stored_procedure(name, partition_key="Oslo"),
    }
    for title, request in requests.items():
        with pytest.raises(CosmosHttpResponseError) as caught:
            request()
        error = caught.value
        assert (error.status_code, error.sub_status) == (429, 3200), title
        assert retry_after_seconds(error) > 1, title
    # Refusals of what is not addressed to items cost nothing and are not made.
    assert narrow.read()["id"] == narrow.id
    assert wire.send(server, "GET", path, headers=key).status == 429

    waited = wire.send(server, "GET", path + "/kept", headers=key)
    assert waited.status == 429
    time.sleep(int(waited.headers["x-ms-retry-after-ms"]) / 1000)
    everything = list(narrow.query_items("SELECT c.id, c.n FROM c WHERE NOT IS_DEFINED(c.f0)", partition_key="Oslo"))
    assert everything == [{"id": "kept", "n": 1}]


def test_default_retries_bring_everything_home(server, make_container):
    container = make_container(offer_throughput=THROUGHPUT)
    items = [wide_item(f"item {n}") for n in range(60)]

    def write(writer: int) -> Spent:
        with CosmosClient(server.https, KEY) as client:
            mine = through(client, container)
            return Spent([charge(mine.create_item(item)) for item in items[writer::WRITERS]])

    with ThreadPoolExecutor(WRITERS) as pool:
        start = start_of_second()
        spent = list(pool.map(write, range(WRITERS)))
        seconds = int(time.time()) - start + 1
    total = round(sum(one.total for one in spent), 2)
    assert total == round(20.38 * len(items), 2)
    # Each writer may have one request under way when the budget ends.
    assert total <= seconds * THROUGHPUT + WRITERS * 20.38, "no second admits more than its budget"
    figures = partitions.figures(server, container)["partitions"][0]
    assert figures["totalRefused"] > 0, "sixty writes need three seconds"
    assert figures["totalRu"] == total, "what was refused is not charged to the budget"
    read = list(container.query_items("SELECT VALUE c.id FROM c", partition_key="Oslo"))
    assert sorted(read) == sorted(item["id"] for item in items)


@pytest.mark.parametrize("kind", ["even", "hot"])
def test_steady_load_gets_what_is_provisioned(start_server, kind):
    """1,000 RU/s on two physical partitions: an even load gets all of it, a hot key the half of its partition."""
    server = start_server("--physical-partition-ru", "500")
    with CosmosClient(server.http, KEY, retry_throttle_total=-1) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"), offer_throughput=1_000)
        home = {}
        for n in range(20):
            answer = container.create_item({"id": "home", "city": f"city {n}"})
            home.setdefault(answer.get_response_headers()["x-ms-documentdb-partitionkeyrangeid"], []).append(n)
        assert sorted(home) == ["0", "1"]
        seconds, wanted = 3, 1_000 if kind == "even" else 500
        deadline = 0.0

        def write(writer: int) -> float:
            ids = sorted(home) if kind == "even" else ["0"]
            city = f"city {home[ids[writer % len(ids)]][0]}"
            total = 0.0
            while time.time() < deadline:
                spent = spend(lambda: _create(own[writer], city), at_least=1)
                total += spent.total
                if spent.refusal:
                    time.sleep(retry_after_seconds(spent.refusal))
            return total

        # A client keeps the headers of its last answer, which threads would change under each other's eyes.
        clients = [CosmosClient(server.http, KEY, retry_throttle_total=-1) for _ in range(WRITERS)]
        own = [through(client, container) for client in clients]
        for one in own:
            one.read()
        time.sleep(1)
        deadline = start_of_second() + seconds - SLACK_SECONDS
        with ThreadPoolExecutor(WRITERS) as pool:
            accepted = sum(pool.map(write, range(WRITERS)))
        overdraft = WRITERS * 20.38
        assert seconds * wanted * 0.98 <= accepted <= seconds * wanted * 1.02 + overdraft, accepted


def test_hot_partition_does_not_disturb_its_neighbour(start_server):
    server = start_server("--physical-partition-ru", "500")
    with CosmosClient(server.http, KEY, retry_throttle_total=-1) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"), offer_throughput=1_000)
        cities = {}
        for n in range(20):
            headers = container.create_item({"id": "home", "city": f"city {n}"}).get_response_headers()
            cities[headers["x-ms-documentdb-partitionkeyrangeid"]] = f"city {n}"
        time.sleep(1)

        def both() -> tuple[Spent, Spent]:
            return spend(lambda: _create(container, cities["0"])), spend(lambda: _create(container, cities["1"]))

        _, (hot, neighbour) = in_one_second(both)
        for spent in (hot, neighbour):
            assert 500 <= spent.total < 500 + 20.38
        figures = partitions.figures(server, container)["partitions"]
        assert [one["provisionedRu"] for one in figures] == [500, 500]


def test_server_without_throttling_never_refuses_and_still_counts(start_server):
    server = start_server("--throttle", "off")
    with CosmosClient(server.http, KEY, retry_throttle_total=-1) as client:
        container = client.create_database("d").create_container(
            "c", PartitionKey("/city"), offer_throughput=THROUGHPUT
        )
        spent = spend(lambda: _create(container), at_least=5 * THROUGHPUT)
        assert spent.refusal is None
        _, cost = _into_debt(container, items=100)
        assert cost > 4 * THROUGHPUT
        spent.charges.append(charge(_create(container)))
        [figures] = partitions.figures(server, container)["partitions"]
        assert figures["totalRefused"] == 0
        assert figures["totalRu"] == pytest.approx(spent.total + cost, abs=0.01)


def test_low_priority_is_throttled_first(narrow):
    """Low priority gets what high priority is not expected to use, judged by the last second."""

    def two_seconds() -> tuple[Spent, Spent, Spent]:
        demand = spend(lambda: _create(narrow, priority="High"), at_least=300)
        time.sleep(max(0, 1 - time.time() % 1))
        low = spend(lambda: _create(narrow, priority="Low"))
        high = spend(lambda: _create(narrow))
        return demand, low, high

    for _ in range(6):
        second = start_of_second()
        demand, low, high = two_seconds()
        if int(time.time()) == second + 1:
            break
        time.sleep(2)
    else:
        pytest.fail("the machine is too busy")
    assert demand.refusal is None
    left = THROUGHPUT - demand.total
    assert low.refusal.status_code == 429
    assert left <= low.total < left + 2 * 20.38
    assert THROUGHPUT <= low.total + high.total < THROUGHPUT + 20.38, "high priority gets the rest"


def test_low_priority_alone_gets_everything(narrow):
    time.sleep(1)
    _, spent = in_one_second(lambda: spend(lambda: _create(narrow, priority="Low")))
    assert THROUGHPUT <= spent.total < THROUGHPUT + 20.38


def test_priority_of_a_client_is_that_of_its_requests(server, make_container):
    container = make_container(offer_throughput=THROUGHPUT)
    with CosmosClient(server.https, KEY, retry_throttle_total=-1, priority="Low") as client:
        low = through(client, container)
        assert charge(_create(low)) == 20.38
    for level, status in [("High", 201), ("Low", 201), ("Highest", 400)]:
        headers = {"x-ms-documentdb-partitionkey": '["Oslo"]', "x-ms-cosmos-priority-level": level}
        path = f"/{container.container_link}/docs"
        assert wire.send(server, "POST", path, {"id": level, "city": "Oslo"}, headers).status == status


@pytest.mark.parametrize("burst", ["on", "off"])
def test_burst_capacity_spends_what_idle_seconds_left(start_server, burst):
    server = start_server("--burst-capacity", burst)
    with CosmosClient(server.http, KEY, retry_throttle_total=-1) as client:
        database = client.create_database("d")
        container = database.create_container("c", PartitionKey("/city"), offer_throughput=THROUGHPUT)
        made = time.time()
        charge(_create(container))
        _, spent = in_one_second(lambda: spend(lambda: _create(container)), idle_seconds=2.1)
        if burst == "off":
            assert THROUGHPUT <= spent.total < THROUGHPUT + 20.38
        else:
            idle = int(time.time()) - int(made) + 1
            assert 2.5 * THROUGHPUT <= spent.total <= idle * THROUGHPUT + 20.38
            _, after = in_one_second(lambda: spend(lambda: _create(container)))
            assert after.total < 2 * THROUGHPUT, "the bank is empty"


def test_containers_share_the_budget_of_their_database(impatient, make_database):
    name = make_database(offer_throughput=THROUGHPUT).id
    database = impatient.get_database_client(name)
    first, second = (database.create_container(name, PartitionKey("/city")) for name in ("first", "second"))
    own = database.create_container("own", PartitionKey("/city"), offer_throughput=THROUGHPUT)

    def in_turn() -> tuple[Spent, Spent, Spent]:
        return tuple(spend(lambda one=one: _create(one)) for one in (first, second, own))

    _, (spent, nothing, apart) = in_one_second(in_turn)
    assert THROUGHPUT <= spent.total < THROUGHPUT + 20.38
    assert nothing.total == 0
    assert THROUGHPUT <= apart.total < THROUGHPUT + 20.38, "a container with its own throughput is apart"


def test_autoscale_admits_its_maximum_at_once(impatient, make_container):
    throughput = ThroughputProperties(auto_scale_max_throughput=1_000)
    container = through(impatient, make_container(offer_throughput=throughput))
    _, spent = in_one_second(lambda: spend(lambda: _create(container)))
    assert 1_000 <= spent.total < 1_000 + 20.38


def test_raised_throughput_counts_from_the_running_second(impatient, narrow):
    narrow.get_throughput()

    def raise_in_between() -> tuple[Spent, Spent]:
        narrow.replace_throughput(THROUGHPUT)
        before = spend(lambda: _create(narrow))
        narrow.replace_throughput(1_000)
        return before, spend(lambda: _create(narrow))

    _, (before, after) = in_one_second(raise_in_between)
    assert THROUGHPUT <= before.total < THROUGHPUT + 20.38
    assert 1_000 <= before.total + after.total < 1_000 + 20.38


def test_pages_of_a_throttled_query_add_up(server, make_container):
    """A page ends when its partition's second is spent; all pages together have the same rows and price."""
    container = make_container(offer_throughput=10_000)
    for n in range(40):
        batch = [("create", ({"id": f"{n} {k}", "city": "Oslo", "n": n * 25 + k},)) for k in range(25)]
        container.execute_item_batch(batch, partition_key="Oslo")

    def run() -> tuple[list, list[int], float]:
        charges, rows, sizes = [], [], []
        pages = container.query_items(
            "SELECT * FROM c WHERE c.n >= 0",
            partition_key="Oslo",
            max_item_count=1_000,
            response_hook=lambda headers, _: charges.append(float(headers["x-ms-request-charge"])),
        ).by_page()
        for page in pages:
            page = list(page)
            rows += [item["n"] for item in page]
            sizes.append(len(page))
        return rows, [size for size in sizes if size], round(sum(charges), 2)

    rows, sizes, price = run()
    assert sorted(rows) == list(range(1_000))
    container.replace_throughput(1_000)
    time.sleep(1)
    [spare] = partitions.figures(server, container)["partitions"]
    assert spare["provisionedRu"] == 1_000
    container.replace_throughput(THROUGHPUT)
    again, more_sizes, same_price = run()
    assert again == rows
    assert same_price == price
    assert len(more_sizes) >= len(sizes)
