"""Rows of queries over four physical partitions, compared with the same computed here."""

import pytest

from query_data import DEVICE_COUNT, ITEM_COUNT, MISSING, get, greater, group, items, order_key, same_number, type_rank
from query_fixtures import fill, run
from sdk import without_system_properties

ITEMS = items()
SIZES = [1, 2, 3, 50, None]


@pytest.fixture(scope="module")
def filled(database):
    container = fill(database, "queries-rows")
    assert len(list(container.read_feed_ranges())) == 4
    yield container
    database.delete_container(container)


def _ids(rows):
    return sorted(row["id"] for row in rows)


FILTERS = {
    "c.n >= 300": lambda item: item["n"] >= 300,
    "c.n > 10 AND c.n <= 20": lambda item: 10 < item["n"] <= 20,
    "c.half = 10.5": lambda item: item["half"] == 10.5,
    "c.n IN (1, 2, 3, 999)": lambda item: item["n"] in (1, 2, 3),
    "c.n BETWEEN 100 AND 105": lambda item: 100 <= item["n"] <= 105,
    "c.band = 3 AND c.word = 'fig'": lambda item: item["band"] == 3 and item["word"] == "fig",
    "c.band = 3 OR c.word = 'fig'": lambda item: item["band"] == 3 or item["word"] == "fig",
    "NOT (c.band = 3 OR c.n < 300)": lambda item: item["band"] != 3 and item["n"] >= 300,
    "c.nested.x = 4 AND c.nested.list[1] = 0": lambda item: item["nested"]["x"] == 4 and item["n"] % 4 == 0,
    "STARTSWITH(c.word, 'cherry')": lambda item: item["word"].startswith("cherry"),
    "STARTSWITH(c.word, 'a', true)": lambda item: item["word"].lower().startswith("a"),
    "CONTAINS(c.word, 'an')": lambda item: "an" in item["word"],
    "ENDSWITH(c.word, 'e')": lambda item: item["word"].endswith("e"),
    "c.word LIKE '%pie'": lambda item: item["word"].endswith("pie"),
    "c.word LIKE '_i%'": lambda item: item["word"][1] == "i",
    "LENGTH(c.word) = 3": lambda item: len(item["word"]) == 3,
    "ARRAY_CONTAINS(c.tags, 'tag 2')": lambda item: "tag 2" in item["tags"],
    "ARRAY_LENGTH(c.tags) = 0": lambda item: not item["tags"],
    "EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 'tag 1')": lambda item: "tag 1" in item["tags"],
    "IS_DEFINED(c.mixed)": lambda item: "mixed" in item,
    "NOT IS_DEFINED(c.mixed)": lambda item: "mixed" not in item,
    "c.mixed = null": lambda item: get(item, "mixed") is None,
    "c.mixed != null": lambda item: get(item, "mixed") not in (None, MISSING),
    "c.mixed > 0": lambda item: greater(get(item, "mixed"), 0),
    "c.mixed > 'a'": lambda item: greater(get(item, "mixed"), "a"),
    "c.mixed = true": lambda item: get(item, "mixed") is True,
    "c.mixed = [1, 2]": lambda item: get(item, "mixed") == [1, 2],
    "c.mixed = {'k': 1}": lambda item: get(item, "mixed") == {"k": 1},
    "c.mixed = 9007199254740993": lambda item: get(item, "mixed") == 2**53 + 1,
    "IS_NUMBER(c.mixed)": lambda item: type_rank(get(item, "mixed")) == 4,
    "IS_STRING(c.mixed)": lambda item: type_rank(get(item, "mixed")) == 5,
    "IS_ARRAY(c.mixed) OR IS_OBJECT(c.mixed)": lambda item: type_rank(get(item, "mixed")) >= 6,
    "c.device = 'device 7'": lambda item: item["device"] == "device 7",
    "c.device IN ('device 7', 'device 8') AND c.n < 100": lambda item: item["n"] in (7, 8, 47, 48, 87, 88),
    "c.id = 'item 17'": lambda item: item["n"] == 17,
    "c._ts > 0 AND c.n < 5": lambda item: item["n"] < 5,
    "c.n % 50 = 0": lambda item: item["n"] % 50 == 0,
    "true": lambda item: True,
    "false": lambda item: False,
}


@pytest.mark.parametrize("condition", FILTERS)
def test_filters(filled, condition):
    expected = [item for item in ITEMS if FILTERS[condition](item)]
    found = run(filled, f"SELECT * FROM c WHERE {condition}")
    assert _ids(found) == _ids(expected)
    by_id = {item["id"]: item for item in expected}
    assert all(without_system_properties(item) == by_id[item["id"]] for item in found)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "condition", ["c.n >= 290", "c.mixed > 0 AND c.n > 200", "CONTAINS(c.word, 'an') AND c.n < 99"]
)
def test_filters_in_small_pages(filled, condition, size):
    expected = {
        "c.n >= 290": lambda item: item["n"] >= 290,
        "c.mixed > 0 AND c.n > 200": lambda item: greater(get(item, "mixed"), 0) and item["n"] > 200,
        "CONTAINS(c.word, 'an') AND c.n < 99": lambda item: "an" in item["word"] and item["n"] < 99,
    }[condition]
    found = run(filled, f"SELECT * FROM c WHERE {condition}", max_item_count=size)
    assert _ids(found) == _ids(item for item in ITEMS if expected(item))


def test_one_logical_partition_comes_in_insertion_order(filled):
    found = run(filled, "SELECT VALUE c.n FROM c", partition_key="device 5")
    assert found == list(range(5, ITEM_COUNT, DEVICE_COUNT))
    assert run(filled, "SELECT VALUE c.n FROM c WHERE c.device = 'device 6'", partition_key="device 5") == []
    assert run(filled, "SELECT VALUE c.n FROM c", partition_key="device none") == []


def test_projections(filled):
    query = "SELECT c.id, c.nested.x, c['word'] AS text, c.none, c.n + 1 FROM c WHERE c.n = 12"
    assert run(filled, query) == [{"id": "item 12", "x": 2, "text": "cherry pie", "$1": 13}]
    query = "SELECT VALUE {'n': c.n, 'list': [c.band, c.none], 'in': {'x': c.nested.x}} FROM c WHERE c.n = 12"
    assert run(filled, query) == [{"n": 12, "list": [5], "in": {"x": 2}}]
    assert run(filled, "SELECT VALUE c.n FROM c WHERE c.n = 12") == [12]
    assert run(filled, "SELECT c FROM c WHERE c.n = 12")[0]["c"]["id"] == "item 12"
    assert run(filled, "SELECT VALUE c.none FROM c") == []
    assert run(filled, "SELECT c.none FROM c WHERE c.n < 3") == [{}, {}, {}]


def test_parameters(filled):
    parameters = [
        {"name": "@least", "value": 310},
        {"name": "@words", "value": ["fig", "date"]},
        {"name": "@nested", "value": {"x": 4, "list": [1, 3]}},
        {"name": "@unused", "value": None},
    ]
    found = run(
        filled, "SELECT VALUE c.n FROM c WHERE c.n >= @least AND ARRAY_CONTAINS(@words, c.word)", parameters=parameters
    )
    assert sorted(found) == [n for n in range(310, ITEM_COUNT) if n % 8 in (5, 7)]
    found = run(filled, "SELECT VALUE c.n FROM c WHERE c.nested = @nested", parameters=parameters)
    assert sorted(found) == [n for n in range(ITEM_COUNT) if n % 5 == 4 and n % 3 == 1 and n % 4 == 3]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("direction", ["ASC", "DESC"])
def test_order_by_a_unique_key(filled, direction, size):
    expected = sorted(range(ITEM_COUNT), reverse=direction == "DESC")
    query = f"SELECT VALUE c.n FROM c ORDER BY c.n {direction}"
    if size in (1, 2, 3):
        expected = expected[:60]
        query = f"SELECT TOP 60 VALUE c.n FROM c ORDER BY c.n {direction}"
    assert run(filled, query, max_item_count=size) == expected


@pytest.mark.parametrize("direction", ["ASC", "DESC"])
def test_order_by_every_type(filled, direction):
    expected = sorted((order_key(get(item, "mixed")) for item in ITEMS), reverse=direction == "DESC")
    found = run(filled, f"SELECT c.id, c.mixed FROM c ORDER BY c.mixed {direction}", max_item_count=40)
    assert [order_key(get(row, "mixed")) for row in found] == expected
    assert _ids(found) == _ids(ITEMS), "every item once"


@pytest.mark.parametrize("size", SIZES)
def test_order_with_a_filter(filled, size):
    expected = sorted((item["word"], item["n"]) for item in ITEMS if item["band"] == 2)
    found = run(filled, "SELECT c.word, c.n FROM c WHERE c.band = 2 ORDER BY c.word", max_item_count=size)
    assert [row["word"] for row in found] == [word for word, _ in expected]
    assert sorted((row["word"], row["n"]) for row in found) == expected


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("reverse", [False, True])
def test_order_by_two_keys(filled, reverse, size):
    order = "c.band DESC, c.n ASC" if reverse else "c.band ASC, c.n DESC"
    expected = sorted(([item["band"], item["n"]] for item in ITEMS), key=lambda row: (row[0], -row[1]), reverse=reverse)
    found = run(filled, f"SELECT VALUE [c.band, c.n] FROM c ORDER BY {order} OFFSET 0 LIMIT 70", max_item_count=size)
    assert found == expected[:70]


def test_order_by_three_keys(filled):
    expected = sorted(ITEMS, key=lambda item: (order_key(item["word"]), item["band"], item["n"]))
    found = run(filled, "SELECT VALUE c.n FROM c ORDER BY c.word, c.band, c.n", max_item_count=33)
    assert found == [item["n"] for item in expected]


@pytest.mark.parametrize(("offset", "limit"), [(0, 5), (3, 1), (100, 30), (318, 10), (320, 10), (5, 0)])
def test_offset_limit(filled, offset, limit):
    found = run(filled, f"SELECT VALUE c.n FROM c ORDER BY c.n OFFSET {offset} LIMIT {limit}", max_item_count=3)
    assert found == list(range(ITEM_COUNT))[offset : offset + limit]


@pytest.mark.parametrize("count", [0, 1, 7, 1000])
def test_top(filled, count):
    assert (
        run(filled, f"SELECT TOP {count} VALUE c.n FROM c ORDER BY c.n DESC") == sorted(range(ITEM_COUNT))[::-1][:count]
    )
    assert len(run(filled, f"SELECT TOP {count} * FROM c", max_item_count=2)) == min(count, ITEM_COUNT)
    parameters = [{"name": "@top", "value": count}]
    assert len(run(filled, "SELECT TOP @top * FROM c WHERE c.n >= 10", parameters=parameters)) == min(count, 310)


@pytest.mark.parametrize("size", SIZES)
def test_distinct(filled, size):
    assert sorted(run(filled, "SELECT DISTINCT VALUE c.word FROM c", max_item_count=size)) == sorted(
        {item["word"] for item in ITEMS}
    )
    mixed = run(filled, "SELECT DISTINCT c.mixed FROM c", max_item_count=size)
    assert len(mixed) == 15, "14 values and the empty row"
    assert {} in mixed
    ordered = run(filled, "SELECT DISTINCT VALUE c.word FROM c ORDER BY c.word", max_item_count=size)
    assert ordered == sorted({item["word"] for item in ITEMS})
    pairs = run(filled, "SELECT DISTINCT c.band, c.nested.x FROM c", max_item_count=size)
    assert len(pairs) == 35


@pytest.mark.parametrize("size", SIZES)
def test_group_by(filled, size):
    found = run(
        filled,
        "SELECT c.band, COUNT(1) AS n, SUM(c.n) AS total, MAX(c.n) AS most FROM c GROUP BY c.band",
        max_item_count=size,
    )
    expected = [
        {"band": key[1], "n": len(rows), "total": sum(row["n"] for row in rows), "most": max(row["n"] for row in rows)}
        for key, rows in group(ITEMS, "band").items()
    ]
    assert sorted(found, key=lambda row: row["band"]) == expected


def test_group_by_every_type(filled):
    found = run(filled, "SELECT c.mixed, COUNT(1) AS n FROM c GROUP BY c.mixed")
    expected = sorted((key, len(rows)) for key, rows in group(ITEMS, "mixed").items())
    assert sorted((order_key(get(row, "mixed")), row["n"]) for row in found) == expected


def test_group_by_an_expression_and_two_keys(filled):
    found = run(filled, "SELECT LOWER(c.word) AS w, COUNT(1) AS n FROM c GROUP BY LOWER(c.word)")
    assert {row["w"]: row["n"] for row in found} == {word.lower(): 40 for word in {item["word"] for item in ITEMS}}
    found = run(filled, "SELECT c.band, c.nested.x, COUNT(1) AS n FROM c GROUP BY c.band, c.nested.x")
    assert len(found) == 35
    assert sum(row["n"] for row in found) == ITEM_COUNT
    ordered = run(filled, "SELECT c.band, COUNT(1) AS n FROM c GROUP BY c.band ORDER BY c.band DESC")
    assert [row["band"] for row in ordered] == [6, 5, 4, 3, 2, 1, 0]


def test_aggregates_with_value(filled):
    numbers = [item["n"] for item in ITEMS]
    assert run(filled, "SELECT VALUE COUNT(1) FROM c") == [ITEM_COUNT]
    assert run(filled, "SELECT VALUE COUNT(c.mixed) FROM c") == [sum("mixed" in item for item in ITEMS)]
    assert run(filled, "SELECT VALUE SUM(c.n) FROM c") == [sum(numbers)]
    [mean] = run(filled, "SELECT VALUE AVG(c.half) FROM c")
    assert same_number(mean, sum(numbers) / 2 / ITEM_COUNT)
    assert run(filled, "SELECT VALUE MIN(c.word) FROM c") == ["Apricot"]
    assert run(filled, "SELECT VALUE MAX(c.word) FROM c") == ["fig"]
    assert run(filled, "SELECT VALUE MAX(c.n) FROM c WHERE c.band = 2") == [317]
    assert run(filled, "SELECT VALUE COUNT(1) FROM c WHERE c.n > 1000") == [0]
    assert run(filled, "SELECT VALUE SUM(c.none) FROM c") == [0]
    assert run(filled, "SELECT VALUE AVG(c.none) FROM c") == []
    assert run(filled, "SELECT VALUE SUM(c.mixed) FROM c") == []
    assert run(filled, "SELECT VALUE MIN(c.mixed) FROM c WHERE IS_PRIMITIVE(c.mixed)") == [None]
    assert run(filled, "SELECT VALUE MAX(c.mixed) FROM c") == [], "an array or object among the values"


def test_aggregates_in_a_list(filled):
    query = "SELECT COUNT(1) AS n, SUM(c.n) AS total, AVG(c.n) AS mean, MIN(c.n) AS least, MAX(c.n) AS most FROM c"
    expected = {"n": 320, "total": sum(range(320)), "mean": 159.5, "least": 0, "most": 319}
    assert run(filled, query) == [expected]
    assert run(filled, "SELECT COUNT(1) FROM c WHERE false") == [{"$1": 0}]
    own = list(range(5, ITEM_COUNT, DEVICE_COUNT))
    query = "SELECT COUNT(1) AS n, SUM(c.n) AS total FROM c"
    assert run(filled, query, partition_key="device 5") == [{"n": 8, "total": sum(own)}]


def test_counting_distinct_values(filled):
    assert run(filled, "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT c.word FROM c)") == [8]
    assert run(filled, "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.mixed FROM c)") == [14]


@pytest.mark.parametrize("size", SIZES)
def test_join(filled, size):
    found = run(filled, "SELECT c.n, t FROM c JOIN t IN c.tags WHERE c.n < 40", max_item_count=size)
    expected = [(item["n"], tag) for item in ITEMS if item["n"] < 40 for tag in item["tags"]]
    assert sorted((row["n"], row["t"]) for row in found) == sorted(expected)
    found = run(filled, "SELECT VALUE c.n FROM c JOIN t IN c.tags WHERE t = 'tag 2' AND c.n < 40", max_item_count=size)
    assert sorted(found) == [n for n in range(40) if n % 4 == 3]


def test_join_counts_and_orders(filled):
    assert run(filled, "SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags") == [sum(len(item["tags"]) for item in ITEMS)]
    found = run(filled, "SELECT VALUE [c.n, t] FROM c JOIN t IN c.tags WHERE c.n < 8 ORDER BY c.n DESC")
    assert found == [[n, f"tag {k}"] for n in (7, 6, 5, 3, 2, 1) for k in range(n % 4)]


def test_subqueries(filled):
    rest = "ARRAY(SELECT VALUE t FROM t IN c.tags WHERE t != 'tag 0')"
    assert run(filled, f"SELECT c.n, {rest} AS rest FROM c WHERE c.n < 5 ORDER BY c.n") == [
        {"n": n, "rest": [f"tag {k}" for k in range(1, n % 4)]} for n in range(5)
    ]
    query = "SELECT VALUE c.n FROM c WHERE (SELECT VALUE COUNT(1) FROM t IN c.tags) = 3 AND c.n < 20"
    assert sorted(run(filled, query)) == [3, 7, 11, 15, 19]
    query = "SELECT VALUE g FROM (SELECT c.band, COUNT(1) AS n FROM c GROUP BY c.band) g WHERE g.n > 45"
    assert sorted(row["band"] for row in run(filled, query)) == [0, 1, 2, 3, 4]


def test_without_from(filled):
    assert run(filled, "SELECT VALUE 1 + 1") == [2]
    assert run(filled, "SELECT VALUE CONCAT('a', 'b')", partition_key="device 1") == ["ab"]


def test_query_sees_every_write(make_container):
    container = make_container("/device", offer_throughput=40_000)
    query = "SELECT VALUE c.n FROM c WHERE c.n >= 5 ORDER BY c.n"
    for n in range(10):
        container.create_item({"id": str(n), "device": str(n), "n": n})
        assert run(container, query) == list(range(5, n + 1))
    container.replace_item("7", {"id": "7", "device": "7", "n": 1})
    container.patch_item("8", "8", [{"op": "set", "path": "/n", "value": 80}])
    container.delete_item("9", "9")
    container.upsert_item({"id": "5", "device": "5"})
    assert run(container, query) == [6, 80]
    assert run(container, "SELECT VALUE COUNT(1) FROM c") == [9]
    assert sorted(run(container, "SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.n)")) == ["5"]
