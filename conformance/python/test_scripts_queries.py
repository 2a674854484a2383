"""Queries inside stored procedures: pages and continuations, parameters, read feeds, and the integrated query."""

import pytest

from procedures import call, procedure, register, run, script
from sdk import refused

COUNT = 25


@pytest.fixture
def filled(container):
    items = [
        {"id": f"{n:02}", "city": "Oslo", "n": n, "even": n % 2 == 0, "tags": [f"t{n % 3}", "all"], "in": {"x": n % 5}}
        for n in range(COUNT)
    ]
    assert run(container, script("import-items"), items) == COUNT
    container.create_item({"id": "elsewhere", "city": "Bergen", "n": 100})
    return container


def query(container, text, parameters=None, page_size=None, continuation=None):
    return run(container, script("page-of-query"), text, parameters, page_size, continuation)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SELECT VALUE c.n FROM c WHERE c.n < 3 ORDER BY c.n DESC", [2, 1, 0]),
        ("SELECT VALUE COUNT(1) FROM c", [COUNT]),
        ("SELECT VALUE SUM(c.n) FROM c WHERE c.even", [sum(range(0, COUNT, 2))]),
        ("SELECT TOP 2 c.id, c.n FROM c ORDER BY c.n", [{"id": "00", "n": 0}, {"id": "01", "n": 1}]),
        ("SELECT c.even, COUNT(1) AS k FROM c GROUP BY c.even", None),
        ("SELECT VALUE t FROM c JOIN t IN c.tags WHERE c.n = 4", ["t1", "all"]),
        ("SELECT DISTINCT VALUE c['in'].x FROM c WHERE c.n < 2", [0, 1]),
        ("SELECT VALUE c.n FROM c WHERE c.city = 'Bergen'", []),
        ("SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 3 LIMIT 2", [3, 4]),
    ],
)
def test_queries_see_their_partition(filled, text, wanted):
    page = query(filled, text)
    assert page["continuation"] is None
    if wanted is None:
        assert sorted(row["k"] for row in page["found"]) == [12, 13]
    else:
        assert page["found"] == wanted


def test_query_takes_parameters(filled):
    parameters = [{"name": "@least", "value": 22}, {"name": "@tags", "value": ["t0", "t1", "t2"]}]
    text = "SELECT VALUE c.n FROM c WHERE c.n >= @least AND ARRAY_CONTAINS(@tags, c.tags[0]) ORDER BY c.n"
    assert query(filled, text, parameters)["found"] == [22, 23, 24]


@pytest.mark.parametrize("text", ["SELECT VALUE c.n FROM c", "SELECT VALUE c.n FROM c ORDER BY c.n DESC"])
def test_pages_follow_each_other(filled, text):
    name = register(filled, script("page-of-query"))
    found, continuation, pages = [], None, 0
    while True:
        page = call(filled, name, text, None, 10, continuation)
        assert len(page["found"]) <= 10
        found += page["found"]
        continuation, pages = page["continuation"], pages + 1
        if continuation is None:
            break
    assert pages >= 3
    assert sorted(found) == list(range(COUNT))
    if "DESC" in text:
        assert found == list(reversed(range(COUNT)))


def test_page_has_a_hundred_items_unless_told(container):
    items = [{"id": f"{n:03}", "city": "Oslo"} for n in range(130)]
    assert run(container, script("import-items"), items) == 130
    first = query(container, "SELECT VALUE c.id FROM c")
    assert len(first["found"]) == 100
    second = query(container, "SELECT VALUE c.id FROM c", None, None, first["continuation"])
    assert sorted(first["found"] + second["found"]) == [item["id"] for item in items]


def test_read_documents_is_the_feed(filled):
    body = """
        let found = [];
        (function next(continuation) {
            collection.readDocuments(link, { pageSize: 7, continuation }, (error, page, options) => {
                if (error) throw error;
                found = found.concat(page.map((item) => item.n));
                options.continuation ? next(options.continuation) : answer(found);
            });
        })();
    """
    assert sorted(run(filled, procedure(body))) == list(range(COUNT))


@pytest.mark.parametrize("text", ["SELECT", "SELECT * FROM c WHERE", "SELECT VALUE nosuch(1) FROM c", ""])
def test_query_that_means_nothing(filled, text):
    body = "collection.queryDocuments(link, text, (error) => answer(error ? error.number : 'fine'));"
    assert run(filled, procedure(body, "text"), text) == 400


def test_stale_continuation_is_refused(filled):
    with refused(400):
        query(filled, "SELECT * FROM c", None, 5, "nonsense")


def test_functions_are_called_from_queries_of_scripts(filled):
    filled.scripts.create_user_defined_function({"id": "tax", "body": script("tax")})
    assert query(filled, "SELECT VALUE udf.tax(c.n * 100) FROM c WHERE c.n = 20")["found"] == [800]


def test_queries_cost(filled):
    query(filled, "SELECT * FROM c")
    charge = float(filled.client_connection.last_response_headers["x-ms-request-charge"])
    assert charge > 2.5


# Integrated query


INTEGRATED = [
    ("__.filter((c) => c.n < 3, done)", [0, 1, 2]),
    ("__.filter((c) => c.even && c.in.x === 0, done)", [0, 10, 20]),
    ("__.filter(function (c) { return c.tags.indexOf('t0') >= 0 && c.n > 20; }, done)", [21, 24]),
    ("__.chain().filter((c) => c.n > 22).value(done)", [23, 24]),
    ("__.chain().filter((c) => c.n > 20).filter((c) => c.even).value(done)", [22, 24]),
    ("__.filter((c) => c.n >= least, done)", [24]),
]


@pytest.mark.parametrize(("expression", "wanted"), INTEGRATED)
def test_filters(filled, expression, wanted):
    body = f"""
        const least = 24;
        const done = (error, found) => {{
            if (error) throw error;
            answer(found.map((item) => item.n).sort((a, b) => a - b));
        }};
        if (!{expression}.isAccepted) throw new Error('not accepted');
    """
    assert run(filled, procedure(body)) == wanted


SHAPES = [
    ("__.map((c) => c.n * 2, done)", [n * 2 for n in range(COUNT)]),
    ("__.pluck('n', done)", list(range(COUNT))),
    ("__.chain().filter((c) => c.n < 2).map((c) => ({ id: c.id, k: c.n + 1 })).value(done)", None),
    ("__.chain().filter((c) => c.n < 2).pluck('tags').value(done)", [["t0", "all"], ["t1", "all"]]),
    ("__.chain().filter((c) => c.n < 2).pluck('tags').flatten().value(done)", ["all", "all", "t0", "t1"]),
    ("__.chain().filter((c) => c.n > 21).sortByDescending((c) => c.n).pluck('n').value(done)", "ordered down"),
    ("__.chain().filter((c) => c.n > 21).sortBy((c) => -c.n).pluck('n').value(done)", "ordered down"),
    ("__.chain().filter((c) => c.n > 21).sortBy((c) => c.n).pluck('n').value(done)", "ordered up"),
    ("__.chain().filter((c) => c.n === 4).unwind((c) => c.tags, (c, tag) => c.n + tag).value(done)", ["4all", "4t1"]),
]


@pytest.mark.parametrize(("expression", "wanted"), SHAPES, ids=[expression for expression, _ in SHAPES])
def test_shapes(filled, expression, wanted):
    body = f"""
        const done = (error, found) => {{ if (error) throw error; answer(found); }};
        if (!{expression}.isAccepted) throw new Error('not accepted');
    """
    found = run(filled, procedure(body))
    if wanted == "ordered down":
        assert found == [24, 23, 22]
    elif wanted == "ordered up":
        assert found == [22, 23, 24]
    elif wanted is None:
        assert sorted(found, key=lambda row: row["k"]) == [{"id": "00", "k": 1}, {"id": "01", "k": 2}]
    else:
        assert sorted(found) == wanted


def test_without_a_callback_the_page_becomes_the_body(filled):
    assert run(filled, procedure("__.chain().filter((c) => c.n === 7).pluck('n').value();")) == [7]


def test_flatten_is_deep_unless_told(container):
    container.create_item({"id": "1", "city": "Oslo", "deep": [1, [2, [3]]]})
    expression = (
        "__.chain().pluck('deep').flatten({}).value((error, found) => {{ if (error) throw error; answer(found); }});"
    )
    assert run(container, procedure(expression.format(""))) == [1, 2, 3]
    assert run(container, procedure(expression.format("true"))) == [1, [2, [3]]]


def test_callback_inside_a_chain_is_refused(filled):
    with refused(400):
        run(filled, procedure("__.chain().filter((c) => true, () => { }).value();"))


def test_integrated_query_has_pages(filled):
    body = """
        let found = [];
        (function next(continuation) {
            __.filter((c) => c.even, { pageSize: 4, continuation }, (error, page, options) => {
                if (error) throw error;
                found = found.concat(page.map((item) => item.n));
                options.continuation ? next(options.continuation) : answer(found);
            });
        })();
    """
    assert sorted(run(filled, procedure(body))) == list(range(0, COUNT, 2))


def test_deleted_items_are_found_no_more(container):
    items = [{"id": str(n), "city": "Oslo", "n": n} for n in range(250)]
    assert run(container, script("import-items"), items) == 250
    answer = run(container, script("clear"), "SELECT * FROM c WHERE c.n >= 10")
    assert answer == {"deleted": 240, "continuation": False}
    left = container.query_items("SELECT VALUE c.n FROM c ORDER BY c.n", partition_key="Oslo")
    assert list(left) == list(range(10))
