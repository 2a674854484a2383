"""What a stored procedure does with items: every method of the collection, links, options, callbacks, own writes."""

import re

import pytest

from procedures import call, procedure, register, run, script
from sdk import SYSTEM_PROPERTIES, refused, without_system_properties

GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture
def one(container):
    """The item most tests begin with."""
    return container.create_item({"id": "one", "city": "Oslo", "n": 1})


def test_links_of_the_collection(database, container):
    links = run(container, procedure("answer([collection.getSelfLink(), collection.getAltLink(), __.getSelfLink()]);"))
    own = container.read()["_self"]
    assert links == [own, f"dbs/{database.id}/colls/{container.id}", own]


def test_read_by_every_form_of_a_link(container, one):
    body = procedure(
        """
        const found = [];
        const alt = collection.getAltLink();
        const links = [
            own, own.replace(/\\/$/, ''), alt + '/docs/one', alt + '/docs/one/',
            alt.replace('dbs', 'DBS').replace('colls', 'Colls') + '/Docs/one',
        ];
        links.forEach((name) => collection.readDocument(name, (error, item) => {
            if (error) throw error;
            found.push(item);
            if (found.length === links.length) answer(found);
        }));
    """,
        "own",
    )
    assert run(container, body, one["_self"]) == [one] * 5


@pytest.mark.parametrize(
    "other",
    [
        "'dbs/other/colls/other/docs/one'",
        "collection.getAltLink() + 'x/docs/one'",
        "'one'",
        "''",
        "link + 'sprocs/one'",
    ],
    ids=["another database", "another container", "no link", "nothing", "no item"],
)
def test_links_out_of_the_collection_are_refused(container, one, other):
    with refused(400):
        run(container, procedure(f"collection.readDocument({other}, (error) => {{ if (error) throw error; }});"))


@pytest.mark.parametrize("method", ["createDocument", "upsertDocument", "queryDocuments", "readDocuments"])
def test_other_collections_are_out_of_reach(container, method):
    argument = "'SELECT * FROM c'" if method == "queryDocuments" else "{ id: 'x', city: 'Oslo' }"
    with refused(400):
        run(container, procedure(f"collection.{method}('dbs/other/colls/other', {argument});"))


def test_create_gives_the_stored_item(container):
    body = procedure(
        "collection.createDocument(link, item, (error, made) => { if (error) throw error; answer(made); });", "item"
    )
    made = run(container, body, {"id": "new", "city": "Oslo", "nested": {"a": [1, 2.5, None]}})
    assert set(made) >= SYSTEM_PROPERTIES
    assert made == container.read_item("new", "Oslo"), "what the script saw is what clients see"


def test_create_makes_an_id_on_a_copy(container):
    body = procedure("""
        const item = { city: 'Oslo' };
        collection.createDocument(link, item, (error, made) => {
            if (error) throw error;
            answer({ made, isUnchanged: !('id' in item) && !('_rid' in item) });
        });
    """)
    answer = run(container, body)
    assert GUID.fullmatch(answer["made"]["id"])
    assert answer["isUnchanged"] is True
    with refused(400, 400):
        run(
            container,
            procedure("""
            collection.createDocument(link, { city: 'Oslo' }, { disableAutomaticIdGeneration: true }, (error) => {
                throw error;
            });
        """),
        )


def test_create_takes_text(container):
    run(container, procedure('collection.createDocument(link, \'{"id":"text","city":"Oslo"}\');'))
    assert container.read_item("text", "Oslo")["city"] == "Oslo"


def test_create_of_a_taken_id_conflicts(container, one):
    body = "collection.createDocument(link, { id: 'one', city: 'Oslo' }, (error) => answer(error.number));"
    assert run(container, procedure(body)) == 409
    with refused(400, 409):
        run(container, procedure("collection.createDocument(link, { id: 'one', city: 'Oslo' });"))


def test_upsert_creates_then_replaces(container):
    body = procedure("""
        collection.upsertDocument(link, { id: 'u', city: 'Oslo', n: 1 }, (error, first) => {
            if (error) throw error;
            collection.upsertDocument(link, { id: 'u', city: 'Oslo', n: 2 }, (error, second) => {
                if (error) throw error;
                answer([first.n, second.n, first._rid === second._rid, first._etag !== second._etag]);
            });
        });
    """)
    assert run(container, body) == [1, 2, True, True]
    assert container.read_item("u", "Oslo")["n"] == 2


@pytest.mark.parametrize("link", ["own", "collection.getAltLink() + '/docs/one'"])
def test_replace_by_link(container, one, link):
    body = f"""
        collection.replaceDocument({link}, {{ id: 'one', city: 'Oslo', n: 2 }}, (error, stored) => {{
            if (error) throw error;
            answer(stored);
        }});
    """
    stored = run(container, procedure(body, "own"), one["_self"])
    assert stored == container.read_item("one", "Oslo")
    assert (stored["n"], stored["_rid"]) == (2, one["_rid"])


def test_replace_of_a_missing_item(container):
    body = """
        const name = collection.getAltLink() + '/docs/no';
        collection.replaceDocument(name, { id: 'no', city: 'Oslo' }, (error) => answer(error.number));
    """
    assert run(container, procedure(body)) == 404


def test_delete_gives_no_item(container, one):
    body = """
        collection.deleteDocument(own, function (error, options) {
            if (error) throw error;
            answer([arguments.length, typeof options]);
        });
    """
    count, options = run(container, procedure(body, "own"), one["_self"])
    assert count <= 2
    assert options == "object"
    assert list(container.read_all_items()) == []
    body = "collection.deleteDocument(collection.getAltLink() + '/docs/one', (error) => answer(error.number));"
    assert run(container, procedure(body)) == 404


@pytest.mark.parametrize("method", ["replaceDocument", "deleteDocument", "upsertDocument"])
def test_etag_guards_a_write(container, one, method):
    arguments = {
        "replaceDocument": "own._self, { id: 'one', city: 'Oslo', n: 2 }",
        "deleteDocument": "own._self",
        "upsertDocument": "link, { id: 'one', city: 'Oslo', n: 2 }",
    }[method]
    stale = f"collection.{method}({arguments}, {{ etag: '\"stale\"' }}, (error) => answer(error.number));"
    assert run(container, procedure(stale, "own"), one) == 412
    assert container.read_item("one", "Oslo") == one
    fresh = f"""
        collection.{method}({arguments}, {{ etag: own._etag }}, (error) => {{ if (error) throw error; answer('ok'); }});
    """
    assert run(container, procedure(fresh, "own"), one) == "ok"


def test_unchanged_item_is_not_sent_again(container, one):
    body = """
        collection.readDocument(own._self, { ifNoneMatch: own._etag }, (error, item, options) => {
            if (error) throw error;
            answer([item === undefined, options.notModified]);
        });
    """
    assert run(container, procedure(body, "own"), one) == [True, True]


def test_missing_item_reaches_the_callback(container):
    body = """
        collection.readDocument(collection.getAltLink() + '/docs/no', (error, item) => {
            answer([error.number, typeof error.body, item === undefined]);
        });
    """
    assert run(container, procedure(body)) == [404, "string", True]


def test_failure_without_a_callback_fails_the_procedure(container):
    body = """
        collection.createDocument(link, { id: 'x', city: 'Oslo' });
        collection.readDocument(collection.getAltLink() + '/docs/no');
    """
    with refused(400, 404):
        run(container, procedure(body))
    assert list(container.read_all_items()) == []


def test_options_may_be_left_out_or_undefined(container, one):
    body = """
        const seen = [];
        const done = (error, item) => {
            if (error) throw error;
            seen.push(item.id);
            answer(seen);
        };
        collection.readDocument(own, done);
        collection.readDocument(own, undefined, done);
        collection.readDocument(own, {}, done);
    """
    assert run(container, procedure(body, "own"), one["_self"]) == ["one"] * 3


@pytest.mark.parametrize(
    "attempt",
    [
        "collection.readDocument()",
        "collection.queryDocuments(link)",
        "collection.createDocument(link)",
        "collection.replaceDocument(link)",
        "collection.deleteDocument()",
    ],
)
def test_missing_arguments_are_refused(container, attempt):
    with refused(400):
        run(container, procedure(f"{attempt};"))


def test_methods_tell_that_they_are_accepted(container, one):
    body = """
        answer([
            collection.readDocument(own),
            collection.readDocuments(link),
            collection.queryDocuments(link, 'SELECT * FROM c'),
            collection.createDocument(link, { id: 'a', city: 'Oslo' }),
            collection.upsertDocument(link, { id: 'b', city: 'Oslo' }),
            collection.replaceDocument(own, { id: 'one', city: 'Oslo' }),
            collection.deleteDocument(own),
        ]);
    """
    assert run(container, procedure(body, "own"), one["_self"]) == [True] * 7
    assert sorted(item["id"] for item in container.read_all_items()) == ["a", "b"]


def test_callbacks_come_later_and_in_order(container, one):
    body = """
        const order = [];
        for (let n = 0; n < 5; n++) collection.readDocument(own, () => { order.push(n); if (n === 4) answer(order); });
        order.push('first');
    """
    assert run(container, procedure(body, "own"), one["_self"]) == ["first", 0, 1, 2, 3, 4]


def test_long_chains_of_callbacks(container, one):
    body = """
        let left = 2000;
        (function next() {
            if (left-- === 0) return answer('end');
            collection.readDocument(own, next);
        })();
    """
    assert run(container, procedure(body, "own"), one["_self"]) == "end"


def test_reads_see_own_writes_and_queries_do_not(container):
    seen = run(container, script("own-writes"), {"id": "new", "city": "Oslo"})
    assert (seen["byLink"], seen["byQuery"]) == (True, 0)
    assert seen["created"] == container.read_item("new", "Oslo")


def test_own_deletes_and_replaces_are_seen_by_reads(container, one):
    body = """
        collection.replaceDocument(own, { id: 'one', city: 'Oslo', n: 2 });
        collection.readDocument(own, (error, item) => {
            if (error) throw error;
            collection.deleteDocument(own);
            collection.readDocument(own, (error) => {
                collection.createDocument(link, { id: 'one', city: 'Oslo', n: 3 });
                answer([item.n, error.number]);
            });
        });
    """
    assert run(container, procedure(body, "own"), one["_self"]) == [2, 404]
    again = container.read_item("one", "Oslo")
    assert (again["n"], again["_rid"] != one["_rid"]) == (3, True)


@pytest.mark.parametrize(
    "attempt",
    [
        "collection.createDocument(link, { id: 'x', city: 'Bergen' })",
        "collection.createDocument(link, { id: 'x' })",
        "collection.upsertDocument(link, { id: 'x', city: 'Bergen' })",
        "collection.replaceDocument(own, { id: 'one', city: 'Bergen' })",
    ],
)
def test_other_partition_keys_are_refused(container, one, attempt):
    with refused(400):
        run(container, procedure(f"{attempt};", "own"), one["_self"])
    assert list(container.read_all_items()) == [one]


def test_other_partitions_are_not_seen(container, one):
    there = container.create_item({"id": "there", "city": "Bergen"})
    body = """
        const numbers = [];
        const look = (name) => collection.readDocument(name, (error) => {
            numbers.push(error ? error.number : 'found');
            if (numbers.length === 2) answer(numbers);
        });
        look(own);
        look(collection.getAltLink() + '/docs/there');
    """
    assert run(container, procedure(body, "own"), there["_self"]) == [404, 404]


def test_unique_keys_hold_inside(make_container):
    container = make_container(unique_key_policy={"uniqueKeys": [{"paths": ["/email"]}]})
    body = """
        collection.createDocument(link, { id: 'a', city: 'Oslo', email: 'x' });
        collection.createDocument(link, { id: 'b', city: 'Oslo', email: 'x' }, (error) => answer(error.number));
    """
    assert run(container, procedure(body)) == 409
    assert [item["id"] for item in container.read_all_items()] == ["a"]


@pytest.mark.parametrize(
    "item", ["{ id: 'x'.repeat(1024), city: 'Oslo' }", "{ id: 5, city: 'Oslo' }", "'{'", "[1]", "null"]
)
def test_items_that_could_not_be_written_otherwise_either(container, item):
    with refused(400):
        run(container, procedure(f"collection.createDocument(link, {item});"))


def test_item_above_the_size_limit(container):
    body = (
        "collection.createDocument(link, { id: 'x', city: 'Oslo', t: 'x'.repeat(2200000) }, (e) => answer(e.number));"
    )
    assert run(container, procedure(body)) == 413


def test_promises_and_async_functions(container, one):
    body = """async function (own) {
        const collection = getContext().getCollection();
        const read = (name) => new Promise((resolve, reject) =>
            collection.readDocument(name, (error, item) => (error ? reject(error) : resolve(item))));
        const item = await read(own);
        const missing = await read(collection.getAltLink() + '/docs/no').catch((error) => error.number);
        const both = await Promise.all([read(own), read(own)]);
        getContext().getResponse().setBody([item.id, missing, both.length]);
    }"""
    assert run(container, body, one["_self"]) == ["one", 404, 2]


def test_double_underscore_is_the_collection(container, one):
    body = """function (own) {
        __.readDocument(own, (error, item) => { if (error) throw error; __.response.setBody(item.id); });
    }"""
    assert run(container, body, one["_self"]) == "one"


def test_items_keep_their_members_and_order(container):
    item = {"z": 1, "id": "order", "a": {"é": [True, None, 1.5], "": ""}, "city": "Oslo", "1": "one"}
    run(container, procedure("collection.createDocument(link, item);", "item"), item)
    stored = without_system_properties(container.read_item("order", "Oslo"))
    assert stored == item
    # The language itself puts members that look like numbers first.
    assert list(stored) == ["1", "z", "id", "a", "city"]


def test_import_and_removal_of_many(container):
    items = [{"id": f"{n:03}", "city": "Oslo", "n": n} for n in range(250)]
    assert run(container, script("import-items"), items) == 250
    name = register(container, script("remove-items"))
    assert call(container, name, "SELECT * FROM c WHERE c.n >= 100", 30) == {"removed": 150, "isMoreLeft": False}
    assert sorted(item["n"] for item in container.read_all_items()) == list(range(100))
    assert call(container, name, "SELECT * FROM c", 30) == {"removed": 100, "isMoreLeft": False}


def test_response_options_name_the_status(container, one):
    body = (
        "collection.readDocument(own, (error, item, options) => { if (error) throw error; answer(typeof options); });"
    )
    assert run(container, procedure(body, "own"), one["_self"]) == "object"


def test_attachments_are_gone(container, one):
    with refused(400):
        run(container, procedure("collection.createAttachment(own, { id: 'a' });", "own"), one["_self"])
