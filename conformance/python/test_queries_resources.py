"""Queries of everything that is no item, read many, throughput by owner, and patches with a condition."""

import pytest
from azure.cosmos import PartitionKey, ThroughputProperties

from query_data import items
from query_fixtures import fill
from sdk import refused, without_system_properties


def test_databases(client, make_database):
    for name in ("query-a", "query-b", "query-c"):
        make_database(name)
    query = "SELECT * FROM root r WHERE STARTSWITH(r.id, 'query-')"
    found = list(client.query_databases(query))
    assert sorted(one["id"] for one in found) == ["query-a", "query-b", "query-c"]
    by_id = {one["id"]: one for one in client.list_databases()}
    assert all(one == by_id[one["id"]] for one in found), "the same documents as in the list"
    ordered = client.query_databases(
        "SELECT VALUE r.id FROM r WHERE r.id > 'query-a' AND r.id < 'query-z' ORDER BY r.id DESC"
    )
    assert list(ordered) == ["query-c", "query-b"]
    parameters = [{"name": "@id", "value": "query-b"}]
    assert len(list(client.query_databases("SELECT * FROM r WHERE r.id = @id", parameters=parameters))) == 1
    pages = client.query_databases(query, max_item_count=2).by_page()
    assert [len(page) for page in (list(page) for page in pages) if page] == [2, 1]
    assert list(client.query_databases("SELECT VALUE COUNT(1) FROM r WHERE STARTSWITH(r.id, 'query-')")) == [3]
    with refused(400):
        list(client.query_databases("SELECT * FORM r"))


def test_containers(make_database):
    database = make_database()
    for name in ("a", "b", "c"):
        database.create_container(name, PartitionKey(f"/{name}"), default_ttl=None if name == "a" else 100)
    found = list(database.query_containers("SELECT * FROM r WHERE r.defaultTtl > 0"))
    assert sorted(one["id"] for one in found) == ["b", "c"]
    by_id = {one["id"]: one for one in database.list_containers()}
    assert all(one == by_id[one["id"]] for one in found)
    query = "SELECT VALUE r.id FROM r WHERE ARRAY_CONTAINS(r.partitionKey.paths, @path)"
    assert list(database.query_containers(query, parameters=[{"name": "@path", "value": "/c"}])) == ["c"]
    assert list(database.query_containers("SELECT VALUE r.id FROM r ORDER BY r.id DESC")) == ["c", "b", "a"]
    assert list(database.query_containers("SELECT VALUE r.id FROM r WHERE r.id = 'none'")) == []


def test_users_and_permissions(make_database):
    database = make_database()
    for mode in ("Read", "All"):
        database.create_container(mode, PartitionKey("/pk"))
    for name in ("ada", "bo", "cy"):
        user = database.create_user({"id": name})
        for mode in ("Read", "All"):
            link = database.get_container_client(mode).container_link
            user.create_permission({"id": mode, "permissionMode": mode, "resource": link})
    assert sorted(one["id"] for one in database.query_users("SELECT * FROM u WHERE u.id != 'bo'")) == ["ada", "cy"]
    query = "SELECT * FROM u WHERE u.id = @id"
    found = list(database.query_users(query, parameters=[{"name": "@id", "value": "bo"}]))
    assert found == [one for one in database.list_users() if one["id"] == "bo"]
    user = database.get_user_client("ada")
    permissions = list(user.query_permissions("SELECT * FROM p WHERE p.permissionMode = 'Read'"))
    assert [one["id"] for one in permissions] == ["Read"]
    assert list(user.query_permissions("SELECT VALUE p.id FROM p ORDER BY p.id")) == ["All", "Read"]


def test_throughput_of_containers(make_container):
    container = make_container(offer_throughput=1_000)
    assert container.get_throughput().offer_throughput == 1_000
    assert container.replace_throughput(2_000).offer_throughput == 2_000
    assert container.get_throughput().offer_throughput == 2_000
    with refused(400):
        container.replace_throughput(150)
    scaled = make_container(offer_throughput=ThroughputProperties(auto_scale_max_throughput=4_000))
    assert scaled.get_throughput().auto_scale_max_throughput == 4_000
    scaled.replace_throughput(ThroughputProperties(auto_scale_max_throughput=6_000))
    assert scaled.get_throughput().auto_scale_max_throughput == 6_000


def test_throughput_of_databases(make_database):
    database = make_database(offer_throughput=1_000)
    assert database.get_throughput().offer_throughput == 1_000
    assert database.replace_throughput(1_500).offer_throughput == 1_500
    own = database.create_container("own", PartitionKey("/pk"), offer_throughput=500)
    assert own.get_throughput().offer_throughput == 500


@pytest.fixture(scope="module")
def filled(database):
    container = fill(database, "queries-read-many")
    yield container
    database.delete_container(container)


@pytest.mark.parametrize("count", [0, 1, 2, 10, 320])
def test_read_many(filled, count):
    wanted = items()[:count]
    # One after the other, here and elsewhere: parts of it at once write to the same headers inside of this SDK.
    found = filled.read_items([(item["id"], item["device"]) for item in wanted], max_concurrency=1)
    assert sorted(item["id"] for item in found) == sorted(item["id"] for item in wanted)
    by_id = {item["id"]: item for item in wanted}
    assert all(without_system_properties(item) == by_id[item["id"]] for item in found)


def test_read_many_leaves_out_what_is_not_there(filled):
    pairs = [("item 1", "device 1"), ("item 1", "device 2"), ("none", "device 1"), ("item 41", "device 1")]
    assert sorted(item["id"] for item in filled.read_items(pairs, max_concurrency=1)) == ["item 1", "item 41"]


def test_read_many_of_keys_of_every_type(make_container):
    container = make_container("/k", offer_throughput=40_000)
    # Not None, for which this SDK asks for items without a key.
    keys = ["text", 'it\'s "quoted" \\ back', "", 1, 2.5, -3, True, False, "é😀"]
    for n, key in enumerate(keys):
        container.create_item({"id": str(n), "k": key})
        container.create_item({"id": f"other {n}", "k": key})
    found = container.read_items([(str(n), key) for n, key in enumerate(keys)], max_concurrency=1)
    assert sorted(item["id"] for item in found) == [str(n) for n in range(len(keys))]


def test_read_many_by_id_keys(make_container):
    container = make_container("/id", offer_throughput=40_000)
    for n in range(50):
        container.create_item({"id": str(n)})
    found = container.read_items([(str(n), str(n)) for n in range(0, 60, 2)], max_concurrency=1)
    assert sorted(int(item["id"]) for item in found) == list(range(0, 50, 2))


def test_read_many_by_hierarchical_keys(make_container):
    container = make_container(["/tenant", "/user"], offer_throughput=40_000)
    for n in range(20):
        container.create_item({"id": str(n), "tenant": f"t{n % 3}", "user": n})
    found = container.read_items([(str(n), [f"t{n % 3}", n]) for n in range(10)], max_concurrency=1)
    assert sorted(int(item["id"]) for item in found) == list(range(10))


def test_query_by_the_prefix_of_a_hierarchical_key(make_container):
    container = make_container(["/tenant", "/user"], offer_throughput=40_000)
    for n in range(30):
        container.create_item({"id": str(n), "tenant": f"t{n % 3}", "user": n})
    found = list(container.query_items("SELECT VALUE c.user FROM c", partition_key=["t1"]))
    assert sorted(found) == list(range(1, 30, 3))
    found = list(container.query_items("SELECT VALUE c.user FROM c ORDER BY c.user DESC", partition_key=["t1"]))
    assert found == list(range(1, 30, 3))[::-1]
    assert list(container.query_items("SELECT VALUE c.user FROM c", partition_key=["t1", 4])) == [4]
    assert list(container.query_items("SELECT VALUE COUNT(1) FROM c", partition_key=["t2"])) == [10]


CONDITIONS = [
    ("FROM c WHERE c.n = 1", True),
    ("from c where c.n > 0 and c.tags[0] = 'a'", True),
    ("FROM x WHERE x.city = 'Oslo'", True),
    ("FROM c WHERE NOT IS_DEFINED(c.none)", True),
    ("FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 'b')", True),
    ("FROM c WHERE c._etag != null", True),
    ("FROM c WHERE c.n = 2", False),
    ("FROM c WHERE c.none = 1", False),
    ("FROM c WHERE c.n", False),
    ("FROM c WHERE NOT (c.none = 1)", False),
]


@pytest.mark.parametrize(("condition", "holds"), CONDITIONS)
def test_patch_condition(container, condition, holds):
    container.create_item({"id": "1", "city": "Oslo", "n": 1, "tags": ["a", "b"]})
    operations = [{"op": "set", "path": "/done", "value": True}]
    if holds:
        assert container.patch_item("1", "Oslo", operations, filter_predicate=condition)["done"] is True
    else:
        with refused(412):
            container.patch_item("1", "Oslo", operations, filter_predicate=condition)
        assert "done" not in container.read_item("1", "Oslo")


@pytest.mark.parametrize("condition", ["FROM c WHERE", "nonsense", "FROM c WHERE d.n = 1", "FROM c WHERE BAD(c.n)"])
def test_malformed_patch_condition(container, condition):
    container.create_item({"id": "1", "city": "Oslo", "n": 1})
    with refused(400):
        container.patch_item("1", "Oslo", [{"op": "remove", "path": "/n"}], filter_predicate=condition)
    assert container.read_item("1", "Oslo")["n"] == 1
