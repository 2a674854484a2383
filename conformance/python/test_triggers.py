"""Pre- and post-triggers: run with the write that names them, in its transaction, and only then."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from azure.core import MatchConditions
from azure.cosmos.exceptions import CosmosAccessConditionFailedError

import charges
import wire
from procedures import register, run, script
from sdk import last_headers, refused, session_lsn

ROUNDING = 0.0051
SCRIPT_COST = 12 * charges.UNIT


@pytest.fixture
def trigger(container):
    """Creates triggers in the container and returns their names."""

    def make(body, *, when="Post", operation="All", name=None):
        name = name or f"trigger-{len(list(container.scripts.list_triggers()))}"
        container.scripts.create_trigger({"id": name, "body": body, "triggerType": when, "triggerOperation": operation})
        return name

    return make


def note(text: str) -> str:
    """A post-trigger that leaves an item with what it saw of the request and the response."""
    return f"""function () {{
        const collection = getContext().getCollection();
        const request = getContext().getRequest();
        const seen = {{ id: 'note {text}', city: 'Oslo', operation: request.getOperationType() }};
        seen.request = request.getBody() === undefined ? null : request.getBody();
        seen.response = getContext().getResponse().getBody() || null;
        collection.upsertDocument(collection.getSelfLink(), seen);
    }}"""


# Before the write


@pytest.mark.parametrize(("verb", "wanted"), [("create", "Create"), ("upsert", "Upsert"), ("replace", "Replace")])
def test_pre_trigger_changes_what_is_written(container, trigger, verb, wanted):
    name = trigger(script("stamp"), when="Pre")
    if verb == "replace":
        container.create_item({"id": "1", "city": "Oslo"})
    body = {"id": "1", "city": "Oslo", "name": "Ada"}
    written = {
        "create": lambda: container.create_item(body, pre_trigger_include=name),
        "upsert": lambda: container.upsert_item(body, pre_trigger_include=name),
        "replace": lambda: container.replace_item("1", body, pre_trigger_include=name),
    }[verb]()
    assert written["stampedBy"] == wanted
    assert container.read_item("1", "Oslo") == written


def test_pre_trigger_may_change_the_id(container, trigger):
    body = """function () {
        const item = getContext().getRequest().getBody();
        item.id = item.id.toUpperCase();
        getContext().getRequest().setBody(item);
    }"""
    assert (
        container.create_item({"id": "a", "city": "Oslo"}, pre_trigger_include=trigger(body, when="Pre"))["id"] == "A"
    )
    assert [item["id"] for item in container.read_all_items()] == ["A"]


def test_pre_trigger_may_not_change_the_partition_key(container, trigger):
    body = """function () {
        const item = getContext().getRequest().getBody();
        item.city = 'Bergen';
        getContext().getRequest().setBody(item);
    }"""
    name = trigger(body, when="Pre")
    with refused(400):
        container.create_item({"id": "a", "city": "Oslo"}, pre_trigger_include=name)
    assert list(container.read_all_items()) == []


def test_body_that_is_not_set_stays(container, trigger):
    body = "function () { getContext().getRequest().getBody().changed = true; }"
    made = container.create_item({"id": "1", "city": "Oslo"}, pre_trigger_include=trigger(body, when="Pre"))
    assert "changed" not in made


def test_pre_trigger_refuses_the_write(container, trigger):
    name = trigger(script("stamp"), when="Pre")
    with refused(400, 4002) as caught:
        container.create_item({"id": "1", "city": "Oslo"}, pre_trigger_include=name)
    assert "an item needs a name" in caught.value.message
    assert list(container.read_all_items()) == []


def test_pre_trigger_has_no_response(container, trigger):
    body = "function () { getContext().getResponse().setBody('x'); }"
    with refused(400):
        container.create_item({"id": "1", "city": "Oslo"}, pre_trigger_include=trigger(body, when="Pre"))


def test_pre_trigger_writes_in_the_same_transaction(container, trigger):
    body = """function () {
        const collection = getContext().getCollection();
        collection.createDocument(collection.getSelfLink(), { id: 'before', city: 'Oslo' });
    }"""
    name = trigger(body, when="Pre")
    container.create_item({"id": "1", "city": "Oslo"}, pre_trigger_include=name)
    assert sorted(item["id"] for item in container.read_all_items()) == ["1", "before"]
    container.delete_item("before", "Oslo")
    with refused(409):
        container.create_item({"id": "1", "city": "Oslo"}, pre_trigger_include=name)
    assert [item["id"] for item in container.read_all_items()] == ["1"], "the write failed, the trigger's with it"


# After the write


@pytest.mark.parametrize(
    ("verb", "operation"),
    [
        ("create", "Create"),
        ("upsert", "Upsert"),
        ("upsert again", "Upsert"),
        ("replace", "Replace"),
        ("delete", "Delete"),
    ],
)
def test_post_trigger_sees_the_write(container, trigger, verb, operation):
    name = trigger(note("of it"))
    if verb not in ("create", "upsert"):
        container.create_item({"id": "1", "city": "Oslo", "n": 0})
    body = {"id": "1", "city": "Oslo", "n": 1}
    written = {
        "create": lambda: container.create_item(body, post_trigger_include=name),
        "upsert": lambda: container.upsert_item(body, post_trigger_include=name),
        "upsert again": lambda: container.upsert_item(body, post_trigger_include=name),
        "replace": lambda: container.replace_item("1", body, post_trigger_include=name),
        "delete": lambda: container.delete_item("1", "Oslo", post_trigger_include=name),
    }[verb]()
    seen = container.read_item("note of it", "Oslo")
    assert seen["operation"] == operation
    if verb == "delete":
        assert [item["id"] for item in container.read_all_items()] == ["note of it"]
    else:
        assert seen["request"] == body
        assert seen["response"] == written == container.read_item("1", "Oslo")


def test_post_trigger_may_change_the_answer(container, trigger):
    body = """function () {
        const response = getContext().getResponse();
        response.setBody({ shown: response.getBody().id });
    }"""
    made = container.create_item({"id": "1", "city": "Oslo"}, post_trigger_include=trigger(body))
    assert made == {"shown": "1"}
    assert "shown" not in container.read_item("1", "Oslo"), "what is stored is the item"


@pytest.mark.parametrize(
    ("change", "wanted"), [("replaceDocument(item._self, item)", 1), ("deleteDocument(item._self)", 0)]
)
def test_post_trigger_may_change_the_item_just_written(container, trigger, change, wanted):
    body = f"""function () {{
        const item = getContext().getResponse().getBody();
        item.later = true;
        getContext().getCollection().{change};
    }}"""
    container.create_item({"id": "1", "city": "Oslo"}, post_trigger_include=trigger(body))
    assert [item["later"] for item in container.read_all_items()] == [True] * wanted


def test_post_trigger_knows_the_quota(container, trigger):
    body = """function () {
        const response = getContext().getResponse();
        if (!response.getResourceQuotaCurrentUsage() || !response.getMaxResourceQuota()) throw new Error('no quota');
    }"""
    container.create_item({"id": "1", "city": "Oslo"}, post_trigger_include=trigger(body))


def test_failing_post_trigger_undoes_the_write(container, trigger):
    name = trigger("function () { throw new Error(4711, 'no'); }")
    kept = container.create_item({"id": "kept", "city": "Oslo", "n": 0})
    for attempt in (
        lambda: container.create_item({"id": "1", "city": "Oslo"}, post_trigger_include=name),
        lambda: container.upsert_item({"id": "kept", "city": "Oslo", "n": 1}, post_trigger_include=name),
        lambda: container.replace_item("kept", {"id": "kept", "city": "Oslo", "n": 1}, post_trigger_include=name),
        lambda: container.delete_item("kept", "Oslo", post_trigger_include=name),
    ):
        with refused(400, 4711):
            attempt()
    assert list(container.read_all_items()) == [kept]


def test_register_is_kept_in_step(container, trigger):
    name = trigger(script("register-item"), operation="Create")
    with ThreadPoolExecutor(8) as pool:
        items = [{"id": str(n), "city": "Oslo"} for n in range(40)]
        list(pool.map(lambda item: container.create_item(item, post_trigger_include=name), items))
    register_item = container.read_item("register", "Oslo")
    assert register_item["written"] == 40
    assert len(list(container.read_all_items())) == 41


def test_trimming_keeps_exactly_its_maximum(container, trigger):
    name = trigger(script("keep-newest"), operation="Create")
    with ThreadPoolExecutor(16) as pool:
        items = [{"id": str(n), "city": "Oslo", "n": n} for n in range(80)]
        list(pool.map(lambda item: container.create_item(item, post_trigger_include=name), items))
    assert sorted(item["n"] for item in container.read_all_items()) == list(range(70, 80))


def test_both_triggers_run(container, trigger):
    pre, post = trigger(script("stamp"), when="Pre"), trigger(note("after"))
    made = container.create_item(
        {"id": "1", "city": "Oslo", "name": "Ada"}, pre_trigger_include=pre, post_trigger_include=post
    )
    assert made["stampedBy"] == "Create"
    assert container.read_item("note after", "Oslo")["response"] == made


def test_triggered_write_takes_one_step_of_the_session(container, trigger):
    name = trigger(note("after"))
    container.create_item({"id": "0", "city": "Oslo"})
    before = session_lsn(last_headers(container)["x-ms-session-token"])
    container.create_item({"id": "1", "city": "Oslo"}, post_trigger_include=name)
    assert session_lsn(last_headers(container)["x-ms-session-token"]) == before + 1


def test_charge_has_the_trigger_in_it(container, trigger):
    name = trigger("function () { }")
    made = container.create_item({"id": "1", "city": "Oslo"}, post_trigger_include=name)
    charge = float(last_headers(container)["x-ms-request-charge"])
    alone = charges.create(made)
    # The write is part of a transaction and may cost its four units less.
    assert alone + SCRIPT_COST - 4 * charges.WRITE_UNIT - ROUNDING <= charge <= alone + SCRIPT_COST + ROUNDING


def test_conditions_are_checked_with_a_trigger(container, trigger):
    name = trigger(note("after"))
    item = container.create_item({"id": "1", "city": "Oslo"})
    options = {"match_condition": MatchConditions.IfNotModified, "post_trigger_include": name}
    with pytest.raises(CosmosAccessConditionFailedError):
        container.replace_item("1", {"id": "1", "city": "Oslo", "n": 1}, etag='"stale"', **options)
    assert list(container.read_all_items()) == [item]
    assert container.replace_item("1", {"id": "1", "city": "Oslo", "n": 1}, etag=item["_etag"], **options)["n"] == 1


def test_ordinary_failures_keep_their_status(container, trigger):
    name = trigger("function () { }")
    container.create_item({"id": "1", "city": "Oslo"})
    with refused(409):
        container.create_item({"id": "1", "city": "Oslo"}, post_trigger_include=name)
    with refused(404):
        container.delete_item("no", "Oslo", post_trigger_include=name)
    with refused(404):
        container.replace_item("no", {"id": "no", "city": "Oslo"}, post_trigger_include=name)


# When they run


def test_triggers_run_only_when_named(container, trigger):
    trigger("function () { throw new Error('ran'); }", when="Pre")
    trigger("function () { throw new Error('ran'); }", when="Post")
    container.create_item({"id": "1", "city": "Oslo"})
    container.upsert_item({"id": "1", "city": "Oslo"})
    container.replace_item("1", {"id": "1", "city": "Oslo"})
    container.patch_item("1", "Oslo", [{"op": "add", "path": "/n", "value": 1}])
    container.delete_item("1", "Oslo")


def test_writes_of_scripts_run_no_triggers(container, trigger):
    trigger("function () { throw new Error('ran'); }", when="Pre")
    run(container, script("import-items"), [{"id": "1", "city": "Oslo"}])
    name = trigger(note("once"))
    container.create_item({"id": "2", "city": "Oslo"}, post_trigger_include=name)
    assert len(list(container.read_all_items())) == 3


def test_unknown_trigger_is_refused(container, trigger):
    for option in ("pre_trigger_include", "post_trigger_include"):
        with refused(400):
            container.create_item({"id": "1", "city": "Oslo"}, **{option: "nobody"})
    assert list(container.read_all_items()) == []


def test_trigger_of_the_other_time_is_refused(container, trigger):
    pre, post = trigger("function () { }", when="Pre"), trigger("function () { }", when="Post")
    with refused(400):
        container.create_item({"id": "1", "city": "Oslo"}, pre_trigger_include=post)
    with refused(400):
        container.create_item({"id": "1", "city": "Oslo"}, post_trigger_include=pre)
    assert list(container.read_all_items()) == []


@pytest.mark.parametrize(
    ("operation", "allowed"),
    [
        ("All", {"create", "replace", "upsert", "delete"}),
        ("Create", {"create", "upsert"}),
        ("Replace", {"replace", "upsert"}),
        ("Update", {"replace"}),
        ("Delete", {"delete"}),
        ("Upsert", {"upsert"}),
    ],
)
def test_trigger_runs_on_its_operation(container, trigger, operation, allowed):
    name = trigger("function () { }", operation=operation)
    attempts = {
        "create": lambda: container.create_item({"id": "new", "city": "Oslo"}, post_trigger_include=name),
        "replace": lambda: container.replace_item("1", {"id": "1", "city": "Oslo"}, post_trigger_include=name),
        "upsert": lambda: container.upsert_item({"id": "1", "city": "Oslo"}, post_trigger_include=name),
        "delete": lambda: container.delete_item("1", "Oslo", post_trigger_include=name),
    }
    container.create_item({"id": "1", "city": "Oslo"})
    for verb, attempt in attempts.items():
        if verb in allowed:
            attempt()
        elif (operation, verb) != ("Update", "upsert"):  # whether an upsert is an update is not told anywhere
            with refused(400):
                attempt()


@pytest.mark.parametrize(
    "members",
    [
        {"triggerType": "Sometime", "triggerOperation": "All"},
        {"triggerType": "Pre", "triggerOperation": "Read"},
        {"triggerType": 1, "triggerOperation": "All"},
        {"triggerOperation": "All"},
        {"triggerType": "Pre"},
    ],
    ids=["time", "operation", "number", "no time", "no operation"],
)
def test_malformed_trigger_is_refused(container, members):
    with refused(400):
        container.scripts.create_trigger({"id": "t", "body": "function () { }", **members})


def test_one_trigger_of_each_kind(container, trigger):
    first, second = trigger("function () { }"), trigger("function () { }")
    with refused(400):
        container.create_item({"id": "1", "city": "Oslo"}, post_trigger_include=[first, second])


def test_batches_take_no_triggers(container, trigger):
    name = trigger(note("after"))
    with refused(400):
        container.execute_item_batch(
            [("create", ({"id": "1", "city": "Oslo"},))], partition_key="Oslo", post_trigger_include=name
        )
    assert list(container.read_all_items()) == []


def test_patch_takes_no_triggers(server, database, container, trigger):
    container.create_item({"id": "1", "city": "Oslo"})
    headers = {
        "x-ms-documentdb-partitionkey": '["Oslo"]',
        "x-ms-documentdb-post-trigger-include": trigger(note("after")),
    }
    operations = {"operations": [{"op": "add", "path": "/n", "value": 1}]}
    address = f"/dbs/{database.id}/colls/{container.id}/docs/1"
    assert wire.send(server, "PATCH", address, operations, headers).status == 400


def test_replaced_trigger_runs_its_new_text(container, trigger):
    name = trigger("function () { throw new Error('old'); }")
    container.scripts.replace_trigger(
        name, {"id": name, "body": note("new"), "triggerType": "Post", "triggerOperation": "All"}
    )
    container.create_item({"id": "1", "city": "Oslo"}, post_trigger_include=name)
    assert container.read_item("note new", "Oslo")["operation"] == "Create"
    container.scripts.delete_trigger(name)
    with refused(400):
        container.create_item({"id": "2", "city": "Oslo"}, post_trigger_include=name)


def test_procedure_is_no_trigger(container):
    name = register(container, "function () { }")
    with refused(400):
        container.create_item({"id": "1", "city": "Oslo"}, pre_trigger_include=name)
