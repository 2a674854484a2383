"""Physical partitions that split and merge by command: what stays, what changes, and what clients notice of it."""

import itertools

import pytest
from azure.cosmos import CosmosClient, PartitionKey

import partitions
import wire
from partitions import command_merge, command_split, merge, range_ids, ranges, split, until
from procedures import call, register, script
from query_data import items as query_items
from query_fixtures import run
from sdk import refused, session_lsn, through
from server import KEY

RANGE_ID = "x-ms-documentdb-partitionkeyrangeid"
MIDDLE = "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"
CITIES = [f"city {n}" for n in range(40)]
QUERIES = {
    "filter": "SELECT * FROM c WHERE c.n >= 190",
    "scan": "SELECT VALUE c.n FROM c WHERE LOWER(c.word) = 'fig'",
    "order": "SELECT VALUE c.n FROM c WHERE c.n < 80 ORDER BY c.n DESC",
    "order of every type": "SELECT c.id, c.mixed FROM c WHERE c.n < 90 ORDER BY c.mixed",
    "top": "SELECT TOP 45 VALUE c.n FROM c ORDER BY c.n",
    "offset": "SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 7 LIMIT 61",
    "distinct": "SELECT DISTINCT VALUE c.word FROM c",
    "groups": "SELECT c.band, COUNT(1) AS n FROM c GROUP BY c.band",
    "join": "SELECT c.n, t FROM c JOIN t IN c.tags WHERE c.n < 60",
}
UNORDERED = {"filter", "scan", "distinct", "groups", "join"}
# Rows that are equal in the order have no order among themselves, and a split may change it.
TIES = {"order of every type": "mixed"}
UNPLANNED = {"order of every type", "groups"}


def _fill(container, each: int = 5) -> dict[tuple[str, str], dict]:
    """Creates items of every city and returns them as they were answered."""
    made = {}
    for city in CITIES:
        batch = [("create", ({"id": str(n), "city": city, "n": n, "text": city * n},)) for n in range(each)]
        for result in container.execute_item_batch(batch, partition_key=city):
            made[city, result["resourceBody"]["id"]] = result["resourceBody"]
    return made


def _fill_for_queries(container) -> None:
    by_device = {}
    for item in query_items():
        by_device.setdefault(item["device"], []).append(("create", (item,)))
    for device, batch in by_device.items():
        container.execute_item_batch(batch, partition_key=device)


def _check(server, container, made: dict) -> None:
    """Everything is there once, as it was: by key, in the feed, in queries, in the figures."""
    for (city, name), item in made.items():
        assert container.read_item(name, city) == item
    by_key = {(item["city"], item["id"]): item for item in container.read_all_items()}
    assert by_key == made
    assert len(list(container.read_all_items())) == len(made)
    assert run(container, "SELECT VALUE COUNT(1) FROM c") == [len(made)]
    rows = run(container, "SELECT VALUE c._rid FROM c ORDER BY c._ts")
    assert sorted(rows) == sorted(item["_rid"] for item in made.values())
    assert partitions.total(server, container, "items") == len(made)


def _assert_same_rows(title: str, found: list, wanted: list) -> None:
    if title in TIES:
        assert [row.get(TIES[title]) for row in found] == [row.get(TIES[title]) for row in wanted], title
    if title in UNORDERED | TIES.keys():
        found, wanted = sorted(map(repr, found)), sorted(map(repr, wanted))
    assert found == wanted, title


def _assert_covers_the_ring(found: list[dict]) -> None:
    assert found[0]["minInclusive"] == ""
    assert found[-1]["maxExclusive"] == "FF"
    assert all(left["maxExclusive"] == right["minInclusive"] for left, right in itertools.pairwise(found))


def test_split_makes_two_children_with_everything_in_them(server, container):
    made = _fill(container)
    assert split(server, container) == ["1", "2"]
    found = ranges(server, container)
    _assert_covers_the_ring(found)
    assert found[0]["maxExclusive"] == MIDDLE
    assert [one["parents"] for one in found] == [["0"], ["0"]]
    assert [one["status"] for one in found] == ["online", "online"]
    assert [one["throughputFraction"] for one in found] == [0.5, 0.5]
    _check(server, container, made)
    used = {container.read_item("0", city).get_response_headers()[RANGE_ID] for city in CITIES}
    assert used == {"1", "2"}


def test_ids_are_never_reused_and_ancestors_are_listed(server, container):
    made = _fill(container)
    assert split(server, container) == ["1", "2"]
    assert split(server, container, range="2") == ["1", "3", "4"]
    assert split(server, container, range="1") == ["5", "6", "3", "4"]
    assert {one["id"]: one["parents"] for one in ranges(server, container)} == {
        "3": ["0", "2"],
        "4": ["0", "2"],
        "5": ["0", "1"],
        "6": ["0", "1"],
    }
    assert merge(server, container, "6", "3") == ["5", "7", "4"]
    merged = {one["id"]: set(one["parents"]) for one in ranges(server, container)}
    assert merged["7"] == {"0", "1", "2", "3", "6"}
    _assert_covers_the_ring(ranges(server, container))
    _check(server, container, made)
    assert split(server, container, range="7") == ["5", "8", "9", "4"]
    _check(server, container, made)


def test_split_without_a_range_takes_the_widest(server, container):
    container.create_item({"id": "1", "city": "Oslo"})
    split(server, container)
    split(server, container, range="2")
    assert split(server, container) == ["5", "6", "3", "4"]


def test_split_at_a_hashed_key(server, container):
    made = _fill(container)
    at = "0A" + "0" * 30
    assert split(server, container, at=at) == ["1", "2"]
    assert ranges(server, container)[0]["maxExclusive"] == at
    _check(server, container, made)


def test_children_write_on_where_the_parent_stopped(server, container):
    made = _fill(container)
    before = {}
    for city in CITIES:
        headers = container.read_item("0", city).get_response_headers()
        before[city] = session_lsn(headers["x-ms-session-token"])
    split(server, container)
    for city in CITIES:
        replaced = container.replace_item("0", {"id": "0", "city": city, "again": True})
        assert replaced["_rid"] == made[city, "0"]["_rid"]
        assert replaced["_etag"] != made[city, "0"]["_etag"]
        assert session_lsn(replaced.get_response_headers()["x-ms-session-token"]) > before[city]
        made[city, "0"] = replaced
        new = container.create_item({"id": "new", "city": city})
        made[city, "new"] = new
    assert len({item["_rid"] for item in made.values()}) == len(made), "rids stay unique"
    container.delete_item("1", CITIES[0])
    del made[CITIES[0], "1"]
    _check(server, container, made)


def test_merge_brings_neighbours_together(server, make_container):
    container = make_container(offer_throughput=20_000)
    made = _fill(container)
    refusal = command_merge(server, container, "0", "1")
    assert refusal.status == 400, "20,000 RU/s need two partitions"
    container.replace_throughput(10_000)
    assert merge(server, container, "0", "1") == ["2"]
    [only] = ranges(server, container)
    assert (only["minInclusive"], only["maxExclusive"]) == ("", "FF")
    assert sorted(only["parents"]) == ["0", "1"]
    _check(server, container, made)
    for city in CITIES:
        made[city, "new"] = container.create_item({"id": "new", "city": city})
    assert len({item["_rid"] for item in made.values()}) == len(made)
    _check(server, container, made)


@pytest.mark.parametrize(
    ("body", "statuses"),
    [
        ({"range": "7"}, {404, 410}),
        ({"range": "x"}, {400}),
        ({"range": "0", "at": ""}, {400}),
        ({"range": "0", "at": "FF"}, {400}),
        ({"range": "0", "at": MIDDLE}, {400}),
        ({"range": "0", "at": "no hex"}, {400}),
        ({"unknown": 1}, {400}),
    ],
    ids=["unknown range", "no number", "at its start", "at its end", "at its end too", "no hex", "unknown name"],
)
def test_impossible_split_is_refused(server, make_container, body, statuses):
    container = make_container(offer_throughput=20_000)
    answer = command_split(server, container, **body)
    assert answer.status in statuses, answer
    assert answer.body["message"]
    assert range_ids(server, container) == ["0", "1"]


@pytest.mark.parametrize("pair", [("0", "2"), ("0", "0"), ("0", "9"), ("0",), ("0", "1", "2")])
def test_impossible_merge_is_refused(server, make_container, pair):
    container = make_container(offer_throughput=30_000)
    assert command_merge(server, container, *pair).status in {400, 404, 410}
    assert range_ids(server, container) == ["0", "1", "2"]


def test_commands_need_the_account_key(server, database, make_container):
    container = make_container()
    database.create_user({"id": "reader"})
    permission = database.get_user_client("reader").create_permission(
        {"id": "all", "permissionMode": "All", "resource": container.container_link}
    )
    paths = [
        ("GET", "/_armilla/partitions", None),
        ("POST", f"/_armilla/{container.container_link}/split", {}),
        ("POST", f"/_armilla/{container.container_link}/merge", {"ranges": ["0", "1"]}),
    ]
    for verb, path, body in paths:
        token = wire.urllib.parse.quote(permission.properties["_token"], safe="")
        assert wire.send(server, verb, path, body, authorization=None).status == 401
        assert wire.send(server, verb, path, body, authorization=token).status in {401, 403}
        wrong = wire.sign(verb, path, wire.formatdate(usegmt=True), key="AAAA")
        assert wire.send(server, verb, path, body, authorization=wrong).status == 401
    database.delete_user("reader")
    assert range_ids(server, container) == ["0"]
    missing = wire.send(server, "POST", "/_armilla/dbs/nowhere/colls/nothing/split", {})
    assert missing.status == 404


def test_incremental_range_feed_says_what_came(server, container):
    path = f"/{container.container_link}/pkranges"

    def since(etag: str | None) -> wire.Answer:
        headers = {"A-IM": "Incremental Feed", "x-ms-max-item-count": "-1"}
        return wire.send(server, "GET", path, headers=headers | ({"If-None-Match": etag} if etag else {}))

    def ids(answer: wire.Answer) -> dict[str, list[str]]:
        assert answer.status == 200, answer
        assert answer.body["_count"] == len(answer.body["PartitionKeyRanges"])
        return {one["id"]: one["parents"] for one in answer.body["PartitionKeyRanges"]}

    first = since(None)
    assert ids(first) == {"0": []}
    split(server, container)
    second = since(first.headers["etag"])
    assert ids(second) == {"1": ["0"], "2": ["0"]}
    assert second.headers["etag"] != first.headers["etag"]
    assert since(second.headers["etag"]).status == 304
    split(server, container, range="2")
    third = since(second.headers["etag"])
    assert ids(third) == {"3": ["0", "2"], "4": ["0", "2"]}
    assert ids(since(first.headers["etag"])) == {"1": ["0"], **ids(third)}
    again = since(third.headers["etag"])
    assert (again.status, again.headers["etag"]) == (304, third.headers["etag"])
    merge(server, container, "3", "4")
    fourth = ids(since(third.headers["etag"]))
    assert list(fourth) == ["5"]
    assert set(fourth["5"]) == {"0", "2", "3", "4"}
    whole = {"1": ["0"], "5": fourth["5"]}
    assert ids(since(None)) == ids(since('"nonsense"')) == ids(since(first.headers["etag"])) == whole


def test_sdk_learns_of_a_split_by_itself(server, container):
    """The SDK keeps the ranges; it reads on from its last etag when an answer names one it does not know."""
    made = _fill(container)
    assert len(list(container.read_feed_ranges())) == 1
    split(server, container)
    assert len(list(container.read_feed_ranges(force_refresh=True))) == 2
    split(server, container, range="1")
    for (city, name), item in made.items():
        assert container.read_item(name, city) == item
    assert run(container, "SELECT VALUE COUNT(1) FROM c") == [len(made)]
    assert len(list(container.read_feed_ranges(force_refresh=True))) == 3
    merge(server, container, "3", "4")
    assert run(container, "SELECT VALUE COUNT(1) FROM c") == [len(made)]
    assert len(list(container.read_feed_ranges(force_refresh=True))) == 2


def test_named_range_that_is_gone_says_so(server, container):
    _fill(container)
    split(server, container)
    path, query = f"/{container.container_link}/docs", {"query": "SELECT * FROM c", "parameters": []}
    is_query = {"x-ms-documentdb-isquery": "true", "content-type": "application/query+json"}
    for range_id, status in [("0", 410), ("1", 200), ("2", 200), ("3", 410)]:
        named = {RANGE_ID: range_id}
        feed = wire.send(server, "GET", path, headers=named)
        asked = wire.send(server, "POST", path, query, is_query | named)
        for answer in (feed, asked):
            assert answer.status == status, (range_id, answer)
            if status == 410:
                assert answer.sub_status == 1002
    by_key = {"x-ms-documentdb-partitionkey": f'["{CITIES[0]}"]'}
    assert wire.send(server, "GET", f"{path}/0", headers=by_key).status == 200


@pytest.mark.parametrize("step", ["split", "merge", "both"])
def test_paused_queries_go_on(server, make_container, step):
    """Every kind of query is paused after each of its pages, the partitions change, and it goes on where it was."""
    container = make_container("/device", offer_throughput=20_000)
    _fill_for_queries(container)
    whole = {title: run(container, query) for title, query in QUERIES.items()}
    paused = {}
    for title, query in QUERIES.items():
        pages = container.query_items(query, enable_cross_partition_query=True, max_item_count=6).by_page()
        rows = list(next(pages))
        if title == "order":
            rows += list(next(pages))
        paused[title] = (rows, pages.continuation_token)

    if step in ("split", "both"):
        split(server, container, range="0")
        split(server, container, range="1")
        assert range_ids(server, container) == ["2", "3", "4", "5"]
    if step == "merge":
        container.replace_throughput(10_000)
        merge(server, container, "0", "1")
    elif step == "both":
        merge(server, container, "3", "4")
        merge(server, container, "2", "6")
    for title, (rows, token) in paused.items():
        if token is not None:
            pages = container.query_items(QUERIES[title], enable_cross_partition_query=True, max_item_count=6)
            rows = rows + [row for page in pages.by_page(token) for row in page]
        _assert_same_rows(title, rows, whole[title])


@pytest.mark.parametrize("step", ["split", "merge"])
def test_paused_feed_goes_on(server, make_container, step):
    container = make_container(offer_throughput=20_000)
    made = _fill(container)
    pages = container.read_all_items(max_item_count=30).by_page()
    read, token = list(next(pages)), pages.continuation_token
    read += list(next(pages))
    later = pages.continuation_token
    if step == "split":
        split(server, container, range="0")
        split(server, container, range="1")
    else:
        container.replace_throughput(10_000)
        merge(server, container, "0", "1")
    for rows, start in [(read[:30], token), (read, later)]:
        rest = [item for page in container.read_all_items(max_item_count=30).by_page(start) for item in page]
        assert len(rows + rest) == len(made)
        assert {(item["city"], item["id"]): item for item in rows + rest} == made


def test_tokens_of_two_clients_outlive_a_split(server, container, second_client):
    """A session from before the split is honoured by the children: what was written is read by the other client."""
    other = through(second_client, container)
    tokens = {}
    for n, city in enumerate(CITIES):
        answer = container.create_item({"id": "1", "city": city, "n": n})
        tokens[city] = answer.get_response_headers()["x-ms-session-token"]
    assert all(token.startswith("0:") for token in tokens.values())
    assert split(server, container) == ["1", "2"]
    split(server, container, range="1")
    for n, city in enumerate(CITIES):
        answer = other.read_item("1", city, session_token=tokens[city])
        assert answer["n"] == n
        new = answer.get_response_headers()["x-ms-session-token"]
        assert session_lsn(new) > session_lsn(tokens[city]), "the children begin above their parent"
        assert not new.startswith("0:")
    compound = ",".join({token.split(":")[0]: token for token in tokens.values()}.values())
    assert run(other, "SELECT VALUE COUNT(1) FROM c", session_token=compound) == [len(CITIES)]


def test_token_of_the_parents_future_is_not_served(server, container):
    answer = container.create_item({"id": "1", "city": "Oslo"})
    version, lsn = answer.get_response_headers()["x-ms-session-token"].split(":")[1].split("#")[:2]
    split(server, container)
    headers = {"x-ms-documentdb-partitionkey": '["Oslo"]', "x-ms-session-token": f"0:{version}#{int(lsn) + 1_000_000}"}
    answer = wire.send(server, "GET", f"/{container.container_link}/docs/1", headers=headers)
    assert (answer.status, answer.sub_status) == (404, 1002)


def test_session_of_a_client_goes_on(server, container):
    """The client's own session, kept inside the SDK, over a split and a merge."""
    for step in ("before", "split", "merge"):
        if step == "split":
            split(server, container)
        elif step == "merge":
            merge(server, container, "1", "2")
        for city in CITIES:
            container.upsert_item({"id": "1", "city": city, "step": step})
            assert container.read_item("1", city)["step"] == step
            container.upsert_item({"id": "1", "city": city, "step": step + " again"})
            assert container.read_item("1", city)["step"] == step + " again"


def test_feed_ranges_from_before_serve_after(server, make_container):
    container = make_container(offer_throughput=20_000)
    made = _fill(container)
    old = list(container.read_feed_ranges())
    split(server, container, range="0")
    split(server, container, range="1")
    new = list(container.read_feed_ranges(force_refresh=True))
    assert (len(old), len(new)) == (2, 4)
    merge(server, container, "3", "4")
    for feed_ranges in (old, new):
        found = []
        for feed_range in feed_ranges:
            pages = container.query_items("SELECT * FROM c", feed_range=feed_range, max_item_count=17)
            found += list(pages)
        assert len(found) == len(made)
        assert {(item["city"], item["id"]): item for item in found} == made
    assert [any(container.is_feed_range_subset(parent, child) for parent in old) for child in new] == [True] * 4


@pytest.mark.parametrize("plan", [False, True], ids=["served whole", "merged by the SDK"])
def test_ranges_of_a_stale_client_are_refreshed(start_server, plan):
    """A query that names a range which is gone meanwhile; the SDK reads the ranges again and asks their children."""
    server = start_server(*(["--cross-partition-queries", "plan"] if plan else []))
    with CosmosClient(server.http, KEY) as stale, CosmosClient(server.http, KEY) as other:
        database = stale.create_database("d")
        container = database.create_container("c", PartitionKey("/device"), offer_throughput=20_000)
        _fill_for_queries(container)
        # This SDK merges neither values of several types nor groups.
        queries = {title: query for title, query in QUERIES.items() if not plan or title not in UNPLANNED}
        before = {title: run(container, query) for title, query in queries.items()}
        for parent in ("0", "1"):
            split(server, through(other, container), range=parent)
        for title, query in queries.items():
            _assert_same_rows(title, run(container, query), before[title])
        many = [(item["id"], item["device"]) for item in query_items()]
        assert len(container.read_items(many, max_concurrency=1)) == len(many)


@pytest.mark.parametrize(
    ("path", "version"),
    [("/city", 1), ("/city", 2), (["/tenant", "/city"], 2), (["/tenant", "/city", "/id"], 2)],
    ids=["version 1", "version 2", "two levels", "three levels"],
)
def test_keys_of_every_kind_are_cut(server, make_container, path, version):
    container = make_container(path, version=version)
    made = {}
    for n in range(120):
        item = {"id": str(n), "tenant": f"tenant {n % 30}", "city": f"city {n % 40}", "n": n}
        paths = [path] if isinstance(path, str) else path
        values = [item[name.strip("/")] for name in paths]
        made[str(n)] = (values[0] if len(values) == 1 else values, container.create_item(item))
    for _ in range(3):
        split(server, container)
    found = ranges(server, container)
    _assert_covers_the_ring(found)
    assert len(found) == 4
    used = set()
    for name, (key, item) in made.items():
        read = container.read_item(name, key)
        assert read == item
        used.add(read.get_response_headers()[RANGE_ID])
    assert used == {one["id"] for one in found}
    if len(paths) > 1:
        # A cut between the keys of one tenant: its prefix reaches over two ranges.
        tenant = container.feed_range_from_partition_key(["tenant 0"])["Range"]["min"]
        home = next(one for one in found if one["minInclusive"] < tenant < one["maxExclusive"])
        split(server, container, range=home["id"], at=tenant + MIDDLE)
        assert tenant + MIDDLE in {one["minInclusive"] for one in ranges(server, container)}
        for number in range(30):
            rows = list(container.query_items("SELECT VALUE c.n FROM c", partition_key=[f"tenant {number}"]))
            assert sorted(rows) == list(range(number, 120, 30)), number
        found = ranges(server, container)
    merge(server, container, found[1]["id"], found[2]["id"])
    for name, (key, item) in made.items():
        assert container.read_item(name, key) == item
    assert sorted(run(container, "SELECT VALUE c.n FROM c")) == list(range(120))
    answer = container.read_all_items()
    assert len(list(answer)) == 120


def test_hashed_key_is_never_cut(server, container):
    """A hierarchy whose first level is one value: the cut goes between its second levels, never through a key."""
    for city in CITIES:
        container.create_item({"id": "1", "city": city})
    for _ in range(5):
        split(server, container)
    seen = {city: container.read_item("1", city).get_response_headers()[RANGE_ID] for city in CITIES}
    for city in CITIES:
        container.create_item({"id": "2", "city": city})
        assert container.read_item("2", city).get_response_headers()[RANGE_ID] == seen[city]


def test_policies_hold_on_the_children(server, make_container):
    container = make_container(
        default_ttl=-1,
        unique_key_policy={"uniqueKeys": [{"paths": ["/email"]}]},
        computed_properties=[{"name": "lower", "query": "SELECT VALUE LOWER(c.name) FROM c"}],
    )
    for city in CITIES:
        container.create_item({"id": "1", "city": city, "email": "a@x", "name": "ADA"})
        container.create_item({"id": "2", "city": city, "email": "b@x", "name": "EVE", "ttl": 3600})
    increment = register(container, script("increment-by-link"))
    split(server, container)
    for city in CITIES:
        with refused(409):
            container.create_item({"id": "3", "city": city, "email": "a@x"})
        with refused(409):
            container.create_item({"id": "1", "city": city, "email": "c@x"})
        container.delete_item("1", city)
        container.create_item({"id": "3", "city": city, "email": "a@x", "name": "ADA", "n": 0})
        assert call(container, increment, "3", key=city) == 1
    assert len(run(container, "SELECT c.id FROM c WHERE c.lower = 'ada'")) == len(CITIES)


def test_empty_container_splits_and_merges(server, container):
    assert split(server, container) == ["1", "2"]
    assert merge(server, container, "1", "2") == ["3"]
    container.create_item({"id": "1", "city": "Oslo"})
    assert split(server, container) == ["4", "5"]
    assert container.read_item("1", "Oslo")["id"] == "1"


def test_splits_survive_a_restart(start_server):
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"), offer_throughput=400)
        container.replace_throughput(10_000)
        made = _fill(container)
        split(server, container)
        split(server, container, range="2")
        merge(server, container, "1", "3")
        before = ranges(server, container)
        token = container.read_item("0", CITIES[0]).get_response_headers()["x-ms-session-token"]
    assert server.stop() == 0
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        container = client.get_database_client("d").get_container_client("c")
        assert ranges(server, container) == before
        assert container.read_item("0", CITIES[0], session_token=token) == made[CITIES[0], "0"]
        _check(server, container, made)


def test_container_may_go_in_the_middle(server, make_container):
    container = make_container()
    for n in range(20):
        _fill_city = [("create", ({"id": str(k), "city": f"city {n}", "text": "x" * 2_000},)) for k in range(100)]
        container.execute_item_batch(_fill_city, partition_key=f"city {n}")
    assert command_split(server, container).status == 202
    container.client_connection.DeleteContainer(container.container_link)
    assert wire.send(server, "GET", f"/{container.container_link}/pkranges").status == 404


def test_partitions_split_by_their_size(start_server):
    limit = 2_000_000
    server = start_server("--physical-partition-bytes", str(limit))
    with CosmosClient(server.http, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"), offer_throughput=10_000)
        made = {}
        for n in range(30):
            city = f"city {n}"
            batch = [("create", ({"id": str(k), "city": city, "text": f"{k} " * 3_000},)) for k in range(25)]
            for result in container.execute_item_batch(batch, partition_key=city):
                made[city, result["resourceBody"]["id"]] = result["resourceBody"]

        def small_enough() -> bool:
            figures = partitions.figures(server, container)
            return all((one["bytes"] or 0) <= limit for one in figures["partitions"])

        assert sum(len(item["text"]) for item in made.values()) > 2 * limit
        until(small_enough, "still a partition beyond its limit")
        found = partitions.figures(server, container)["partitions"]
        assert len(found) >= 3
        assert all(one["bytes"] > limit // 8 for one in found), "about half of the bytes on each side"
        _check(server, container, made)
        assert container.get_throughput().offer_throughput == 10_000, "size does not change what is provisioned"


def test_one_key_beyond_the_size_is_not_cut(start_server, expect_log):
    server = start_server("--physical-partition-bytes", "500000")
    expect_log("(?i)partition.*(split|cut)")
    with CosmosClient(server.http, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"), offer_throughput=10_000)
        for n in range(4):
            batch = [("create", ({"id": f"{n} {k}", "city": "Oslo", "text": "x" * 9_000},)) for k in range(25)]
            container.execute_item_batch(batch, partition_key="Oslo")
        until(lambda: len(server.complaints()) > 0, "no warning")
        assert len(range_ids(server, container)) == 1
        assert run(container, "SELECT VALUE COUNT(1) FROM c") == [100]
