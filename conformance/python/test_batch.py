"""Transactional batches: every operation, all or nothing, one step of the session."""

import copy
from concurrent.futures import ThreadPoolExecutor

import pytest
from azure.cosmos import CosmosClient
from azure.cosmos.exceptions import CosmosBatchOperationError

import charges
import wire
from conftest import fresh
from sdk import last_headers, refused, session_lsn

ROUNDING = 0.0051
OPERATIONS_MAX = 100
BATCH_HEADERS = {
    "x-ms-cosmos-is-batch-request": "True",
    "x-ms-cosmos-batch-atomic": "True",
    "x-ms-documentdb-partitionkey": '["Oslo"]',
}


def item(name: str, **members) -> dict:
    return {"id": name, "city": "Oslo", **members}


def execute(container, *operations, key="Oslo"):
    return container.execute_item_batch(list(operations), partition_key=key)


def codes(results) -> list[int]:
    return [result["statusCode"] for result in results]


def fails(container, operations, index, status, **options):
    """Expects a batch to fail at one operation and to leave everything as it was."""
    before = list(container.read_all_items())
    with pytest.raises(CosmosBatchOperationError) as caught:
        execute(container, *operations, **options)
    error = caught.value
    assert (error.error_index, error.status_code) == (index, status), error.operation_responses
    assert codes(error.operation_responses) == [
        status if position == index else 424 for position in range(len(operations))
    ]
    assert list(container.read_all_items()) == before
    return error


def test_every_operation(container):
    for name in ("replaced", "patched", "deleted", "read"):
        container.create_item(item(name, n=1))
    results = execute(
        container,
        ("create", (item("created"),)),
        ("upsert", (item("upserted"),)),
        ("upsert", (item("upserted", n=2),)),
        ("replace", ("replaced", item("replaced", n=2))),
        ("patch", ("patched", [{"op": "incr", "path": "/n", "value": 5}])),
        ("read", ("read",)),
        ("delete", ("deleted",)),
    )
    assert codes(results) == [201, 201, 200, 200, 200, 200, 204]
    bodies = [result.get("resourceBody") for result in results]
    assert [body and body["id"] for body in bodies] == [
        "created",
        "upserted",
        "upserted",
        "replaced",
        "patched",
        "read",
        None,
    ]
    stored = {found["id"]: found for found in container.read_all_items()}
    assert bodies[0] == stored["created"], "what the batch gave back is what is stored"
    assert bodies[4] == stored["patched"]
    assert {name: found.get("n") for name, found in stored.items()} == {
        "created": None,
        "upserted": 2,
        "replaced": 2,
        "patched": 6,
        "read": 1,
    }
    for result, body in zip(results, bodies, strict=True):
        if body:
            assert result["eTag"] == body["_etag"]
        assert result["requestCharge"] > 0


def test_operations_see_the_ones_before(container):
    results = execute(
        container,
        ("create", (item("1", n=1),)),
        ("read", ("1",)),
        ("patch", ("1", [{"op": "incr", "path": "/n", "value": 1}])),
        ("replace", ("1", item("1", n=3))),
        ("read", ("1",)),
        ("delete", ("1",)),
        ("create", (item("1", n=4),)),
        ("read", ("1",)),
    )
    assert [result.get("resourceBody", {}).get("n") for result in results] == [1, 1, 2, 3, 3, None, 4, 4]
    assert container.read_item("1", "Oslo") == results[7]["resourceBody"]


@pytest.mark.parametrize(
    ("operation", "status"),
    [
        (("create", (item("there"),)), 409),
        (("read", ("no",)), 404),
        (("replace", ("no", item("no"))), 404),
        (("delete", ("no",)), 404),
        (("patch", ("no", [{"op": "add", "path": "/n", "value": 1}])), 404),
        (("patch", ("there", [{"op": "replace", "path": "/no/such", "value": 1}])), 400),
        (("create", ({"id": "x", "city": "Bergen"},)), 400),
        (("create", ({"id": "x"},)), 400),
        (("create", ({"id": "", "city": "Oslo"},)), 400),
        (("create", ({"city": "Oslo"},)), 400),
        (("replace", ("there", {"id": "there", "city": "Bergen"})), 400),
        (("replace", ("there", item("there")), {"if_match_etag": '"stale"'}), 412),
        (("upsert", (item("there"),), {"if_match_etag": '"stale"'}), 412),
        (("delete", ("there",), {"if_match_etag": '"stale"'}), 412),
        (("patch", ("there", [{"op": "add", "path": "/n", "value": 1}]), {"if_match_etag": '"stale"'}), 412),
    ],
    ids=repr,
)
@pytest.mark.parametrize("index", [0, 1, 2])
def test_one_failure_undoes_all(container, operation, status, index):
    container.create_item(item("there", n=0))
    operations = [("create", (item("new"),)), ("upsert", (item("there", n=1),))]
    operations.insert(index, copy.deepcopy(operation))  # the SDK takes options out of the tuple it is given
    if index == 2 and operation[0] == "create" and status == 409:
        operations[1] = ("upsert", (item("other"),))
    fails(container, operations, index, status)


def test_failure_tells_which_and_why(container):
    error = fails(container, [("create", (item("a"),)), ("create", (item("a"),))], 1, 409)
    assert "index 1" in error.message
    assert float(error.headers["x-ms-request-charge"]) > 0
    assert error.headers["x-ms-session-token"]


@pytest.mark.parametrize("count", [1, OPERATIONS_MAX])
def test_batch_of_the_largest_size(container, count):
    results = execute(container, *[("create", (item(str(n)),)) for n in range(count)])
    assert codes(results) == [201] * count
    assert len(list(container.read_all_items())) == count


def test_batch_sizes_that_are_refused(container):
    with refused(400) as caught:
        execute(container)
    assert "Batch request has no operations." in caught.value.message
    with refused(400) as caught:
        execute(container, *[("create", (item(str(n)),)) for n in range(OPERATIONS_MAX + 1)])
    assert "Batch request has more operations than what is supported." in caught.value.message
    with refused(413) as caught:
        execute(container, *[("create", (item(str(n), text="x" * 900_000),)) for n in range(3)])
    assert "RequestEntityTooLarge" in caught.value.message
    assert list(container.read_all_items()) == []


def test_etags_guard_operations(container):
    first = container.create_item(item("1"))
    results = execute(
        container,
        ("replace", ("1", item("1", n=1)), {"if_match_etag": first["_etag"]}),
        ("read", ("1",)),
    )
    etag = results[0]["eTag"]
    assert (results[1]["eTag"], container.read_item("1", "Oslo")["_etag"]) == (etag, etag)
    fails(container, [("replace", ("1", item("1")), {"if_match_etag": first["_etag"]})], 0, 412)
    results = execute(container, ("read", ("1",), {"if_none_match_etag": etag}), ("create", (item("2"),)))
    assert codes(results) == [304, 201]
    assert "resourceBody" not in results[0]


def test_etag_is_checked_against_the_operation_before(container):
    first = container.create_item(item("1"))
    operations = [
        ("upsert", (item("1", n=1),)),
        ("replace", ("1", item("1", n=2)), {"if_match_etag": first["_etag"]}),
    ]
    fails(container, operations, 1, 412)


def test_patch_with_a_condition(container):
    container.create_item(item("1", n=1))
    patch = ("1", [{"op": "set", "path": "/done", "value": True}])
    fails(container, [("patch", patch, {"filter_predicate": "from c where c.n = 2"})], 0, 412)
    operations = [("upsert", (item("1", n=2),)), ("patch", patch, {"filter_predicate": "from c where c.n = 2"})]
    assert execute(container, *operations)[1]["resourceBody"]["done"] is True


def test_every_patch_operation(container):
    container.create_item(item("1", a=1, gone=1, old="x", port=9000, tags=["a"]))
    operations = [
        {"op": "add", "path": "/color", "value": "red"},
        {"op": "add", "path": "/tags/-", "value": "b"},
        {"op": "remove", "path": "/gone"},
        {"op": "replace", "path": "/a", "value": 2},
        {"op": "set", "path": "/set", "value": None},
        {"op": "incr", "path": "/port", "value": 5},
        {"op": "move", "from": "/old", "path": "/new"},
    ]
    body = execute(container, ("patch", ("1", operations)))[0]["resourceBody"]
    wanted = {"a": 2, "port": 9005, "tags": ["a", "b"], "color": "red", "set": None, "new": "x"}
    assert {name: body[name] for name in wanted} == wanted
    assert "gone" not in body
    assert "old" not in body


def test_unique_keys_hold_inside(make_container):
    container = make_container(unique_key_policy={"uniqueKeys": [{"paths": ["/email"]}]})
    fails(container, [("create", (item("1", email="x"),)), ("create", (item("2", email="x"),))], 1, 409)
    results = execute(
        container, ("create", (item("1", email="x"),)), ("delete", ("1",)), ("create", (item("2", email="x"),))
    )
    assert codes(results) == [201, 204, 201]


def test_hierarchical_keys(make_container):
    container = make_container(["/state", "/city"])
    operations = [("create", ({"id": "1", "state": "WA", "city": "Redmond"},)), ("read", ("1",))]
    assert codes(execute(container, *operations, key=["WA", "Redmond"])) == [201, 200]
    with refused(400) as caught:
        execute(container, *operations, key=["WA"])
    assert "Partition key provided either doesn't correspond to definition in the collection" in caught.value.message


# Steps of the session


def test_batch_takes_one_step(container):
    for name in ("replaced", "patched", "deleted", "read"):
        container.create_item(item(name))
    container.read_item("read", "Oslo")
    before = int(last_headers(container)["lsn"])
    results = execute(
        container,
        ("create", (item("created"),)),
        ("replace", ("replaced", item("replaced", n=1))),
        ("upsert", (item("upserted"),)),
        ("patch", ("patched", [{"op": "add", "path": "/n", "value": 1}])),
        ("read", ("read",)),
        ("delete", ("deleted",)),
    )
    headers = results.get_response_headers()
    assert int(headers["lsn"]) == before + 1
    assert session_lsn(headers["x-ms-session-token"]) == before + 1
    container.create_item(item("next"))
    assert int(last_headers(container)["lsn"]) == before + 2


def test_reads_alone_and_failures_take_none(container):
    container.create_item(item("1"))
    before = int(last_headers(container)["lsn"])
    execute(container, ("read", ("1",)), ("read", ("1",)))
    assert int(last_headers(container)["lsn"]) == before
    with pytest.raises(CosmosBatchOperationError):
        execute(container, ("create", (item("2"),)), ("read", ("no",)))
    container.create_item(item("3"))
    assert int(last_headers(container)["lsn"]) == before + 1


def test_second_client_reads_after_the_batch(database, container, second_client):
    other = second_client.get_database_client(database.id).get_container_client(container.id)
    for n in range(10):
        execute(container, ("upsert", (item("a", n=n),)), ("upsert", (item("b", n=n),)))
        token = last_headers(container)["x-ms-session-token"]
        assert [other.read_item(name, "Oslo", session_token=token)["n"] for name in "ab"] == [n, n]


def test_batches_of_many_writers_are_whole(container):
    def write(writer):
        for n in range(10):
            execute(container, *[("upsert", (item(name, writer=writer, n=n),)) for name in "abc"])

    def read(_):
        for _ in range(10):
            results = execute(container, *[("read", (name,)) for name in "abc"])
            seen = {(result["resourceBody"]["writer"], result["resourceBody"]["n"]) for result in results}
            assert len(seen) == 1, "a batch was seen in part"

    write("first")
    with ThreadPoolExecutor(8) as pool:
        writers = [pool.submit(write, writer) for writer in range(4)]
        readers = [pool.submit(read, reader) for reader in range(4)]
        for done in writers + readers:
            done.result()


def test_counters_of_many_writers_add_up(container):
    container.create_item(item("a", n=0))
    container.create_item(item("b", n=0))

    def increment(_):
        patch = [{"op": "incr", "path": "/n", "value": 1}]
        for _ in range(10):
            execute(container, ("patch", ("a", patch)), ("patch", ("b", patch)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(increment, range(8)))
    assert [container.read_item(name, "Oslo")["n"] for name in "ab"] == [80, 80]


# Charges


def test_charge_is_the_sum_of_its_operations(container):
    old = container.create_item(item("old", n=0))
    results = execute(
        container,
        ("create", (item("new"),)),
        ("read", ("new",)),
        ("replace", ("old", item("old", n=1))),
        ("delete", ("new",)),
    )
    each = [result["requestCharge"] for result in results]
    total = float(last_headers(container)["x-ms-request-charge"])
    assert abs(sum(each) - total) <= len(each) * ROUNDING, (each, total)
    made = results[0]["resourceBody"]
    saved = 4 * charges.WRITE_UNIT
    assert abs(each[0] - (charges.create(made) - saved)) <= ROUNDING, each
    assert abs(each[1] - charges.read(made)) <= ROUNDING, each
    assert abs(each[2] - (charges.replace(old, results[2]["resourceBody"]) - saved)) <= ROUNDING, each


def test_batch_is_cheaper_than_its_writes(container):
    alone = charges.create(container.create_item(item("alone")))
    execute(container, *[("create", (item(str(n)),)) for n in range(10)])
    assert float(last_headers(container)["x-ms-request-charge"]) < 10 * alone


# What this SDK does not send


def test_minimal_answers_have_no_bodies(server, database, container):
    operations = [
        {"operationType": "Create", "resourceBody": item("1")},
        {"operationType": "Upsert", "resourceBody": item("1", n=1)},
        {"operationType": "Read", "id": "1"},
    ]
    address = f"/dbs/{database.id}/colls/{container.id}/docs"
    answer = wire.send(server, "POST", address, operations, {**BATCH_HEADERS, "prefer": "return=minimal"})
    assert answer.status == 200
    assert codes(answer.body) == [201, 200, 200]
    assert ["resourceBody" in result for result in answer.body] == [False, False, True]
    assert answer.body[0]["eTag"]


def test_failed_batch_is_a_multi_status(server, database, container):
    operations = [{"operationType": "Create", "resourceBody": item("1")}, {"operationType": "Read", "id": "no"}]
    address = f"/dbs/{database.id}/colls/{container.id}/docs"
    answer = wire.send(server, "POST", address, operations, BATCH_HEADERS)
    assert (answer.status, codes(answer.body)) == (207, [424, 404])


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[",
        b"[1]",
        b'[{"operationType":"Create"}]',
        b'[{"operationType":"Sing","id":"1"}]',
        b'[{"operationType":"Read"}]',
        b'[{"id":"1"}]',
        b"\x81\x00\x00",
    ],
    ids=repr,
)
def test_malformed_batches_change_nothing(server, database, container, body):
    address = f"/dbs/{database.id}/colls/{container.id}/docs"
    answer = wire.send(server, "POST", address, body, BATCH_HEADERS)
    if answer.status == 207:
        assert codes(answer.body) == [400]
    else:
        assert answer.status == 400
    assert list(container.read_all_items()) == []


def test_key_is_asked_for(server, database, container):
    headers = {name: value for name, value in BATCH_HEADERS.items() if "partitionkey" not in name}
    address = f"/dbs/{database.id}/colls/{container.id}/docs"
    operations = [{"operationType": "Create", "resourceBody": item("1")}]
    assert wire.send(server, "POST", address, operations, headers).status == 400


def test_bulk_requests_answer_for_each_operation(server, database, container):
    container.create_item(item("there"))
    operations = [
        {"operationType": "Create", "resourceBody": item("there"), "partitionKey": '["Oslo"]'},
        {"operationType": "Create", "resourceBody": {"id": "1", "city": "Bergen"}, "partitionKey": '["Bergen"]'},
        {"operationType": "Read", "id": "no", "partitionKey": '["Oslo"]'},
        {"operationType": "Delete", "id": "there", "partitionKey": '["Oslo"]'},
    ]
    headers = {
        "x-ms-cosmos-is-batch-request": "True",
        "x-ms-cosmos-batch-atomic": "False",
        "x-ms-cosmos-batch-continue-on-error": "True",
        "x-ms-documentdb-partitionkeyrangeid": "0",
    }
    address = f"/dbs/{database.id}/colls/{container.id}/docs"
    answer = wire.send(server, "POST", address, operations, headers)
    assert (answer.status, codes(answer.body)) == (207, [409, 201, 404, 204])
    assert [found["id"] for found in container.read_all_items()] == ["1"]


# Permissions


def test_tokens_decide_what_a_batch_may_do(server, database, container):
    container.create_item(item("1"))
    user = database.create_user({"id": fresh("user")})
    for mode, members, allowed in [
        ("Read", {}, False),
        ("All", {"resourcePartitionKey": ["Bergen"]}, False),
        ("All", {"resourcePartitionKey": ["Oslo"]}, True),
        ("All", {}, True),
    ]:
        body = {"id": fresh("permission"), "permissionMode": mode, "resource": container.container_link, **members}
        permission = user.create_permission(body)
        token = permission.properties["_token"]
        with CosmosClient(server.https, credential={container.container_link: token}) as client:
            holder = client.get_database_client(database.id).get_container_client(container.id)
            if allowed:
                assert codes(execute(holder, ("upsert", (item("1", mode=mode),)), ("read", ("1",)))) == [200, 200]
            else:
                with refused(403):
                    execute(holder, ("upsert", (item("1", mode=mode),)))
        user.delete_permission(permission.id)
    database.delete_user(user.id)
