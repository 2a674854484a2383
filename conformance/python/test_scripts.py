"""Stored procedures: resources of a container, execution, results, logs, errors and who may run them.

What a procedure can do with items is in test_scripts_collection.py, its queries in test_scripts_queries.py, the limits
on time and memory in test_scripts_time.py.
"""

import urllib.parse

import pytest
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.exceptions import CosmosResourceExistsError, CosmosResourceNotFoundError

import charges
import wire
from conftest import fresh
from procedures import call, procedure, register, run, script
from sdk import last_headers, refused, session_lsn
from server import KEY

LOG_HEADER = "x-ms-documentdb-script-log-results"
ROUNDING = 0.0051
PROCEDURES_MAX = 100
SCRIPT_COST = 12 * charges.UNIT


# Resources


def test_procedure_lives_through_every_verb(container):
    scripts = container.scripts
    body = script("greet")
    created = scripts.create_stored_procedure({"id": "greet", "body": body})
    assert (created["id"], created["body"]) == ("greet", body), "the text comes back as it was sent"
    assert created["_self"] == f"{container.read()['_self']}sprocs/{created['_rid']}/"
    with pytest.raises(CosmosResourceExistsError):
        scripts.create_stored_procedure({"id": "greet", "body": body})
    assert scripts.get_stored_procedure("greet") == created
    assert list(scripts.list_stored_procedures()) == [created]
    query = "SELECT * FROM root r WHERE r.id = @id"
    found = scripts.query_stored_procedures(query, parameters=[{"name": "@id", "value": "greet"}])
    assert list(found) == [created]

    replaced = scripts.replace_stored_procedure("greet", {"id": "greet", "body": "function () { }"})
    assert (replaced["_rid"], replaced["body"]) == (created["_rid"], "function () { }")
    assert replaced["_etag"] != created["_etag"]
    assert call(container, "greet") is None, "the new text runs"
    scripts.delete_stored_procedure("greet")
    assert list(scripts.list_stored_procedures()) == []
    for attempt in (
        lambda: scripts.get_stored_procedure("greet"),
        lambda: scripts.replace_stored_procedure("greet", {"id": "greet", "body": body}),
        lambda: scripts.delete_stored_procedure("greet"),
        lambda: call(container, "greet"),
    ):
        with pytest.raises(CosmosResourceNotFoundError):
            attempt()


def test_trigger_lives_through_every_verb(container):
    scripts = container.scripts
    definition = {"id": "stamp", "body": script("stamp"), "triggerType": "pre", "triggerOperation": "all"}
    created = scripts.create_trigger(definition)
    assert {name: created[name] for name in definition} == definition, "also the spelling of type and operation"
    assert created["_self"].endswith(f"/triggers/{created['_rid']}/")
    with pytest.raises(CosmosResourceExistsError):
        scripts.create_trigger(definition)
    assert scripts.get_trigger("stamp") == created
    assert list(scripts.list_triggers()) == [created]
    query = "SELECT * FROM root r WHERE r.id = @id"
    assert list(scripts.query_triggers(query, parameters=[{"name": "@id", "value": "stamp"}])) == [created]
    changed = {**definition, "triggerType": "Post", "triggerOperation": "Replace"}
    replaced = scripts.replace_trigger("stamp", changed)
    assert {name: replaced[name] for name in changed} == changed
    assert replaced["_rid"] == created["_rid"]
    scripts.delete_trigger("stamp")
    with pytest.raises(CosmosResourceNotFoundError):
        scripts.get_trigger("stamp")


@pytest.mark.parametrize("path", ["sprocs", "triggers", "udfs"])
def test_scripts_are_upserted(server, database, container, path):
    # This SDK has no upsert of scripts.
    address = f"/dbs/{database.id}/colls/{container.id}/{path}"
    upsert = {"x-ms-documentdb-is-upsert": "True"}
    body = {"id": "s", "body": "function () { return 1; }", "triggerType": "Pre", "triggerOperation": "All"}
    created = wire.send(server, "POST", address, body, upsert)
    assert created.status == 201
    replaced = wire.send(server, "POST", address, {**body, "body": "function () { return 2; }"}, upsert)
    assert (replaced.status, replaced.body["_rid"]) == (200, created.body["_rid"])
    assert wire.send(server, "GET", f"{address}/s").body == replaced.body


def test_scripts_are_kinds_apart(container):
    scripts = container.scripts
    body = "function () { }"
    scripts.create_stored_procedure({"id": "same", "body": body})
    scripts.create_trigger({"id": "same", "body": body, "triggerType": "Pre", "triggerOperation": "All"})
    scripts.create_user_defined_function({"id": "same", "body": body})
    scripts.delete_trigger("same")
    assert scripts.get_stored_procedure("same")["id"] == scripts.get_user_defined_function("same")["id"]


@pytest.mark.parametrize("name", ["a b", "100%", "é \U0001f600", "a+b&c=d", "x" * 255])
def test_procedure_may_have_any_name(container, name):
    container.scripts.create_stored_procedure({"id": name, "body": script("greet")})
    assert call(container, name, "Ada") == "Hello, Ada"
    assert container.scripts.get_stored_procedure(name)["id"] == name
    container.scripts.delete_stored_procedure(name)


@pytest.mark.parametrize("name", ["a/b", "a\\b", "a?b", "a#b", "", "x" * 256])
def test_names_that_are_refused(server, database, container, name):
    address = f"/dbs/{database.id}/colls/{container.id}/sprocs"
    assert wire.send(server, "POST", address, {"id": name, "body": "function () { }"}).status == 400


def test_procedure_is_addressed_by_its_self_link_too(container):
    created = container.scripts.create_stored_procedure({"id": "greet", "body": script("greet")})
    assert call(container, created, "Ada") == "Hello, Ada"
    assert container.scripts.get_stored_procedure(created) == created
    renamed = container.scripts.replace_stored_procedure(created, {**created, "id": "hello"})
    assert (renamed["id"], renamed["_rid"]) == ("hello", created["_rid"])
    assert call(container, "hello", "Ada") == "Hello, Ada"
    container.scripts.delete_stored_procedure(renamed)
    with pytest.raises(CosmosResourceNotFoundError):
        call(container, "hello")


def test_lists_have_pages(container):
    names = [register(container, "function () { }") for _ in range(5)]
    pages = [[found["id"] for found in page] for page in container.scripts.list_stored_procedures(2).by_page()]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert sorted(name for page in pages for name in page) == sorted(names)


@pytest.mark.parametrize(
    "body",
    ["function (", "function () { return ]; }", "var x = 1;", "42"],
    ids=["cut off", "wrong bracket", "a statement", "a number"],
)
def test_text_that_is_no_function_fails_when_it_runs(container, body):
    scripts = container.scripts
    assert scripts.create_stored_procedure({"id": "bad", "body": body})["body"] == body
    scripts.create_trigger({"id": "bad", "body": body, "triggerType": "Pre", "triggerOperation": "All"})
    with refused(400):
        scripts.execute_stored_procedure("bad", partition_key="Oslo")
    with refused(400):
        container.create_item({"id": "1", "city": "Oslo"}, pre_trigger_include="bad")
    assert list(container.read_all_items()) == []


def test_text_that_does_not_compile_has_its_sub_status(container):
    container.scripts.create_stored_procedure({"id": "bad", "body": "function ("})
    with refused(400, 65535):
        container.scripts.execute_stored_procedure("bad", partition_key="Oslo")


def test_scripts_of_a_container_are_counted(container):
    for _ in range(PROCEDURES_MAX):
        register(container, "function () { }")
    with refused(400):
        register(container, "function () { }")
    first = next(iter(container.scripts.list_stored_procedures()))
    container.scripts.delete_stored_procedure(first["id"])
    register(container, "function () { }")


@pytest.mark.parametrize(
    "body",
    ["function named(x) { X }", "function (x) { X }", "(x) => { X }", "async function (x) { X }", "async x => { X }"],
)
def test_every_form_of_a_function_runs(container, body):
    assert run(container, body.replace("X", "getContext().getResponse().setBody(x + 1);"), 1) == 2


def test_scripts_go_with_their_container(make_container, database):
    container = make_container(name=fresh("gone"))
    register(container, script("greet"))
    database.delete_container(container.id)
    again = database.create_container(container.id, PartitionKey("/city"))
    assert list(again.scripts.list_stored_procedures()) == []


def test_scripts_survive_a_restart(start_server):
    server = start_server()
    with CosmosClient(server.https, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/city"))
        name = register(container, script("import-items"))
        trigger = {"id": "stamp", "body": script("stamp"), "triggerType": "Pre", "triggerOperation": "Create"}
        container.scripts.create_trigger(trigger)
        call(container, name, [{"id": "1", "city": "Oslo"}])
        before = (list(container.scripts.list_stored_procedures()), list(container.scripts.list_triggers()))
        items = list(container.read_all_items())
    assert server.stop() == 0
    with CosmosClient(start_server().https, KEY) as client:
        container = client.get_database_client("d").get_container_client("c")
        assert (list(container.scripts.list_stored_procedures()), list(container.scripts.list_triggers())) == before
        assert list(container.read_all_items()) == items, "also the etags of what a script wrote"
        assert call(container, name, [{"id": "2", "city": "Oslo"}]) == 1
        made = container.create_item({"id": "3", "city": "Oslo", "name": "Ada"}, pre_trigger_include="stamp")
        assert made["stampedBy"] == "Create"


# Arguments and results


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        -1.5,
        1e300,
        "",
        "text",
        'quote " and é and \U0001f600',
        [],
        [1, "a", None],
        {},
        {"a": [{}]},
    ],
    ids=repr,
)
def test_values_come_back_as_they_went(container, value):
    assert run(container, procedure("answer([value]);", "value"), value) == [value]
    assert run(container, procedure("answer(value);", "value"), value) == value


def test_arguments_arrive_in_order(container):
    body = "function () { getContext().getResponse().setBody(Array.prototype.slice.call(arguments)); }"
    name = register(container, body)
    assert call(container, name, 1, "b", [2], {"c": 3}) == [1, "b", [2], {"c": 3}]
    assert call(container, name) == []
    assert container.scripts.execute_stored_procedure(name, partition_key="Oslo") == []
    assert container.scripts.execute_stored_procedure(name, partition_key="Oslo", params="alone") == ["alone"]


def test_missing_arguments_are_undefined(container):
    assert run(container, procedure("answer([typeof a, typeof b]);", "a, b"), 1) == ["number", "undefined"]


def test_no_body_is_nothing(container):
    assert run(container, "function () { }") is None
    assert run(container, "function () { return 'a result is not a body'; }") is None
    assert run(container, procedure("answer(undefined);")) is None


def test_the_last_body_counts_and_appends_add(container):
    assert run(container, procedure("answer(1); answer(2);")) == 2
    body = "const r = getContext().getResponse(); r.setBody('a'); r.appendBody('b'); r.appendBody('c');"
    assert run(container, procedure(body)) == "abc"


def test_numbers_keep_their_value(container):
    assert run(container, procedure("answer([0.1 + 0.2, 1e21, -0, 9007199254740991]);")) == [
        0.1 + 0.2,
        1e21,
        0,
        9007199254740991,
    ]


# Logging


def test_log_comes_only_when_asked_for(container):
    body = procedure("console.log('The value of %s is %s.', 'x', 1); answer('Success!');")
    name = register(container, body)
    assert call(container, name) == "Success!"
    assert LOG_HEADER not in last_headers(container)
    assert call(container, name, enable_script_logging=True) == "Success!"
    assert last_headers(container)[LOG_HEADER] == urllib.parse.quote("The value of x is 1.")
    assert call(container, name, enable_script_logging=False) == "Success!"
    assert LOG_HEADER not in last_headers(container)


def test_log_keeps_any_text(container):
    run(container, "function () { console.log('1 + 1 = 2; 100% é \U0001f600'); }", enable_script_logging=True)
    assert urllib.parse.unquote(last_headers(container)[LOG_HEADER]).strip() == "1 + 1 = 2; 100% é \U0001f600"


def test_log_of_a_failure_comes_too(container):
    body = "function () { console.log('so far'); throw new Error('and no further'); }"
    with refused(400) as caught:
        run(container, body, enable_script_logging=True)
    assert urllib.parse.unquote(caught.value.headers[LOG_HEADER]).strip() == "so far"


# Errors


def test_thrown_error_is_a_bad_request_with_its_text(container):
    with refused(400) as caught:
        run(container, "function () { throw new Error('boom'); }")
    assert "Encountered exception while executing" in caught.value.message
    assert "Error: boom" in caught.value.message


@pytest.mark.parametrize("number", [404, 409, 412, 4711])
def test_number_of_an_error_is_the_sub_status(container, number):
    with refused(400, number) as caught:
        run(container, "function (number) { throw new Error(number, 'with a number'); }", number)
    assert "with a number" in caught.value.message


@pytest.mark.parametrize(
    "statement",
    [
        "throw 'text'",
        "throw 42",
        "throw null",
        "throw undefined",
        "throw { number: 5 }",
        "null.x",
        "missing()",
        "getContext().abort(new Error('aborted'))",
        "Promise.reject(new Error('rejected'))",
        "(async () => { await null; throw new Error('later'); })()",
        "(function again() { again(); })()",
        "[].length = -1",
        "JSON.parse('{')",
    ],
)
def test_whatever_is_thrown_fails_the_procedure_and_undoes_its_writes(container, statement):
    body = procedure(f"collection.createDocument(link, {{ id: 'x', city: 'Oslo' }}); {statement};")
    with refused(400):
        run(container, body)
    assert list(container.read_all_items()) == []


def test_caught_error_fails_nothing(container):
    body = procedure("try { throw new Error(7, 'seven'); } catch (e) { answer([e.number, e.message]); }")
    assert run(container, body) == [7, "seven"]


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("new Error('text')", [None, "text", "Error", True]),
        ("new Error(404, 'text')", [404, "text", "Error", True]),
        ("Error(404, 'text')", [404, "text", "Error", True]),
        ("new TypeError('text')", [None, "text", "TypeError", True]),
        ("new Error()", [None, "", "Error", True]),
    ],
)
def test_error_takes_a_number_first(container, expression, wanted):
    body = f"const e = {expression}; answer([e.number, e.message, e.name, e instanceof Error].map((v) => v ?? null));"
    assert run(container, procedure(body)) == wanted


def test_codes_of_errors_have_names(container):
    wanted = {
        "BadRequest": 400,
        "Forbidden": 403,
        "NotFound": 404,
        "Conflict": 409,
        "PreconditionFailed": 412,
        "RequestEntityTooLarge": 413,
        "RetryWith": 449,
        "InternalServerError": 500,
    }
    codes = run(container, procedure("answer(ErrorCodes);"))
    assert {name: codes[name] for name in wanted} == wanted
    assert (
        run(container, procedure("try { ErrorCodes.NotFound = 1; } catch (e) { } answer(ErrorCodes.NotFound);")) == 404
    )


def test_failure_keeps_nothing(container):
    for account, balance in (("a", 10), ("b", 0)):
        container.create_item({"id": account, "city": "Oslo", "balance": balance})
    name = register(container, script("transfer"))
    before = list(container.read_all_items())
    with refused(400, 4001) as caught:
        call(container, name, "a", "b", 11)
    assert "account a would be -1" in caught.value.message
    with refused(400, 404):
        call(container, name, "a", "nobody", 5)
    assert list(container.read_all_items()) == before, "not even a new etag"
    assert call(container, name, "a", "b", 10) == "done"
    assert {item["id"]: item["balance"] for item in container.read_all_items()} == {"a": 0, "b": 10}


# What there is around a procedure


def test_there_is_nothing_but_the_context(container):
    names = ["require", "process", "fetch", "setTimeout", "XMLHttpRequest", "std", "os", "Deno", "performance"]
    body = procedure("answer(names.filter((name) => typeof globalThis[name] !== 'undefined'));", "names")
    assert run(container, body, names) == []
    with refused(400):
        run(container, "async function () { await import('fs'); }")


def test_nothing_is_left_for_the_next_run(container):
    body = """
        const before = [globalThis.left, [].left, ({}).left, JSON.left, getContext.left];
        globalThis.left = Array.prototype.left = Object.prototype.left = JSON.left = getContext.left = 'behind';
        answer(before.map((value) => value === undefined));
    """
    name = register(container, procedure(body))
    for _ in range(3):
        assert call(container, name) == [True] * 5


def test_request_and_response_of_a_procedure(container):
    body = """
        const context = getContext();
        answer([typeof context.getRequest(), typeof context.getResponse(), typeof __, __.request !== undefined]);
    """
    assert run(container, procedure(body)) == ["object", "object", "object", True]


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("getContext().getResponse().setValue('x-new', 1)", "Cannot set new values: "),
        ("getContext().getRequest().setBody({})", "not a function"),
        ("getContext().getRequest().getOperationType()", "not a function"),
    ],
)
def test_what_a_procedure_may_not_set(container, statement, text):
    with refused(400) as caught:
        run(container, procedure(f"{statement};"))
    assert text in caught.value.message


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [("new Date(0)", "1970-01-01T00:00:00.000Z"), ("NaN", None), ("[undefined, () => 1]", [None, None])],
)
def test_body_is_written_as_json_is(container, expression, wanted):
    assert run(container, procedure(f"answer({expression});")) == wanted


@pytest.mark.parametrize("statement", ["const a = []; a.push(a); answer(a)", "answer(10n)"])
def test_body_that_json_does_not_know(container, statement):
    with refused(400):
        run(container, procedure(f"{statement};"))


def test_time_and_chance_are_there(container):
    now, chance = run(container, procedure("answer([Date.now(), Math.random()]);"))
    assert now > 1_600_000_000_000
    assert 0 <= chance < 1


# The partition key


def test_key_is_asked_for(server, database, container):
    name = register(container, script("greet"))
    answer = wire.send(server, "POST", f"/dbs/{database.id}/colls/{container.id}/sprocs/{name}", ["Ada"])
    assert answer.status == 400


@pytest.mark.parametrize("key", ["Oslo", "é", 1, 1.5, True, False])
def test_key_of_every_type_names_a_partition(container, key):
    body = procedure("collection.createDocument(link, { id: 'made', city: key });", "key")
    run(container, body, key, key=key)
    assert container.read_item("made", key)["city"] == key


def test_hierarchical_key_names_a_partition(make_container):
    container = make_container(["/tenant", "/user"])
    body = procedure("collection.createDocument(link, { id: 'made', tenant: 't', user: 'u' });")
    name = register(container, body)
    call(container, name, key=["t", "u"])
    assert container.read_item("made", ["t", "u"])["id"] == "made"
    with refused(400):
        call(container, name, key=["t", "other"])
    with refused(400):
        call(container, name, key=["t"])


# Charges and sessions


def _charge(container) -> float:
    return float(last_headers(container)["x-ms-request-charge"])


def test_charge_of_an_empty_run(container):
    run(container, "function () { }")
    assert abs(_charge(container) - SCRIPT_COST) <= ROUNDING, _charge(container)


def test_charge_is_of_what_was_done(container):
    account = container.create_item({"id": "a", "city": "Oslo", "balance": 0})
    name = register(container, script("import-items"))
    assert call(container, name, [{"id": str(n), "city": "Oslo"} for n in range(10)]) == 10
    one = charges.create(container.read_item("0", "Oslo")) - 4 * charges.WRITE_UNIT
    call(container, register(container, procedure("collection.readDocument(collection.getAltLink() + '/docs/a');")))
    assert abs(_charge(container) - SCRIPT_COST - charges.read(account)) <= ROUNDING, _charge(container)
    call(container, name, [{"id": f"more {n}", "city": "Oslo"} for n in range(10)])
    # Ids of another length cost the same below a kilobyte.
    assert abs(_charge(container) - SCRIPT_COST - 10 * one) <= 10 * ROUNDING, (_charge(container), one)


def test_failed_run_is_charged(container):
    body = procedure("collection.createDocument(link, { id: 'x', city: 'Oslo' }); throw new Error('no');")
    with refused(400) as caught:
        run(container, body)
    assert float(caught.value.headers["x-ms-request-charge"]) > SCRIPT_COST


def test_run_takes_one_step_of_the_session(database, container, second_client):
    name = register(container, script("import-items"))
    container.create_item({"id": "first", "city": "Oslo"})
    before = session_lsn(last_headers(container)["x-ms-session-token"])
    call(container, name, [{"id": str(n), "city": "Oslo"} for n in range(5)])
    token = last_headers(container)["x-ms-session-token"]
    assert session_lsn(token) == before + 1
    assert int(last_headers(container)["lsn"]) == before + 1
    other = second_client.get_database_client(database.id).get_container_client(container.id)
    assert other.read_item("4", "Oslo", session_token=token)["id"] == "4"
    call(container, register(container, "function () { }"))
    assert session_lsn(last_headers(container)["x-ms-session-token"]) == before + 1, "nothing written, no step"


# Permissions


@pytest.fixture
def holder(server, database):
    """Opens clients that have a resource token for a container instead of the account key."""
    opened = []
    user = database.create_user({"id": fresh("user")})

    def connect(container, mode, **members):
        body = {"id": fresh("permission"), "permissionMode": mode, "resource": container.container_link, **members}
        permission = user.create_permission(body)
        client = CosmosClient(server.https, credential={permission.resource_link: permission.properties["_token"]})
        opened.append(client)
        return client.get_database_client(database.id).get_container_client(container.id)

    yield connect
    for client in opened:
        client.close()
    database.delete_user(user.id)


def test_full_token_runs_procedures(container, holder):
    name = register(container, script("greet"))
    assert call(holder(container, "All"), name, "Ada") == "Hello, Ada"


def test_read_token_runs_none(container, holder):
    name = register(container, script("import-items"))
    with refused(403):
        call(holder(container, "Read"), name, [{"id": "1", "city": "Oslo"}])
    assert list(container.read_all_items()) == []


def test_token_of_a_key_runs_procedures_on_that_key(container, holder):
    name = register(container, script("greet"))
    limited = holder(container, "All", resourcePartitionKey=["Oslo"])
    assert call(limited, name, "Ada", key="Oslo") == "Hello, Ada"
    with refused(403):
        call(limited, name, "Ada", key="Bergen")


def test_read_token_makes_no_scripts(container, holder):
    with refused(403):
        register(holder(container, "Read"), script("greet"))
