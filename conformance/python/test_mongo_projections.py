"""What a find shows of its documents, and in which order it gives them."""

import datetime

import pytest
from bson import Binary, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp

from mongo import ids, refused

DOCUMENT = {
    "_id": 1,
    "a": 1,
    "b": {"c": 2, "d": {"e": 3}},
    "l": [{"x": 1, "y": 2}, 5, {"y": 3}, [{"x": 4}, 6], {"x": 7}],
    "n": [1, 2, 3, 4, 5],
    "z": "end",
}


def rest(*without: str) -> dict:
    """The document without these fields."""
    return {name: value for name, value in DOCUMENT.items() if name not in without}


PROJECTIONS = [
    (None, DOCUMENT),
    ({}, DOCUMENT),
    ({"a": 1}, {"_id": 1, "a": 1}),
    ({"a": True, "_id": 0}, {"a": 1}),
    ({"z": 1, "a": 1}, {"_id": 1, "a": 1, "z": "end"}),
    ({"_id": 1}, {"_id": 1}),
    ({"_id": 0}, rest("_id")),
    ({"a": 0}, rest("a")),
    ({"a": 0, "_id": 1}, rest("a")),
    ({"a": False, "_id": 0}, rest("a", "_id")),
    ({"nothing": 1}, {"_id": 1}),
    ({"nothing": 0}, DOCUMENT),
    ({"b.c": 1}, {"_id": 1, "b": {"c": 2}}),
    ({"b": {"c": 1}}, {"_id": 1, "b": {"c": 2}}),
    ({"b.d.e": 1, "_id": 0}, {"b": {"d": {"e": 3}}}),
    ({"b.c": 0}, {**rest("b"), "b": {"d": {"e": 3}}}),
    ({"a.nothing": 1}, {"_id": 1}),
    ({"b.nothing": 1}, {"_id": 1, "b": {}}),
    ({"l.x": 1}, {"_id": 1, "l": [{"x": 1}, {}, [{"x": 4}], {"x": 7}]}),
    ({"l.x": 0, "b": 0, "n": 0}, {"_id": 1, "a": 1, "l": [{"y": 2}, 5, {"y": 3}, [{}, 6], {}], "z": "end"}),
    ({"n.0": 1}, {"_id": 1, "n": []}),
    ({"n": {"$slice": 2}}, {**DOCUMENT, "n": [1, 2]}),
    ({"n": {"$slice": -2}}, {**DOCUMENT, "n": [4, 5]}),
    ({"n": {"$slice": [1, 2]}}, {**DOCUMENT, "n": [2, 3]}),
    ({"n": {"$slice": [-3, 2]}}, {**DOCUMENT, "n": [3, 4]}),
    ({"n": {"$slice": [10, 2]}}, {**DOCUMENT, "n": []}),
    ({"n": {"$slice": 1}, "a": 1}, {"_id": 1, "a": 1, "n": [1]}),
    ({"n": {"$slice": 1}, "a": 0}, {**rest("a"), "n": [1]}),
    ({"n": {"$elemMatch": {"$gt": 2}}}, {"_id": 1, "n": [3]}),
    ({"l": {"$elemMatch": {"y": 3}}, "_id": 0}, {"l": [{"y": 3}]}),
    ({"n": {"$elemMatch": {"$gt": 9}}}, {"_id": 1}),
    ({"sum": {"$add": ["$a", 1]}}, {"_id": 1, "sum": 2}),
    ({"sum": {"$sum": "$n"}, "a": 1}, {"_id": 1, "a": 1, "sum": 15}),
    ({"text": "literal"}, {"_id": 1, "text": "literal"}),
    ({"copy": "$b.c", "_id": 0}, {"copy": 2}),
    ({"one": {"$literal": 1}}, {"_id": 1, "one": 1}),
]


@pytest.mark.parametrize(("projection", "expected"), PROJECTIONS, ids=[str(row[0]) for row in PROJECTIONS])
def test_a_projection_shows(collection, projection, expected):
    collection.insert_one(DOCUMENT)
    found = collection.find_one({}, projection)
    assert found == expected
    if "b" not in expected or "b" not in (projection or {}):
        assert sorted(found) == sorted(expected)


def test_fields_keep_the_order_of_the_document(collection):
    collection.insert_one(DOCUMENT)
    assert list(collection.find_one({}, {"z": 1, "n": 1, "a": 1})) == ["_id", "a", "n", "z"]


def test_a_place_in_an_array(collection):
    collection.insert_one({"_id": 1, "n": [1, 5, 9], "l": [{"x": 1, "y": 1}, {"x": 2, "y": 2}]})
    assert collection.find_one({"n": {"$gt": 3}}, {"n.$": 1}) == {"_id": 1, "n": [5]}
    assert collection.find_one({"l.x": 2}, {"l.$": 1, "_id": 0}) == {"l": [{"x": 2, "y": 2}]}
    assert collection.find_one({"l": {"$elemMatch": {"x": 1, "y": 1}}}, {"l.$": 1}) == {
        "_id": 1,
        "l": [{"x": 1, "y": 1}],
    }
    with refused(31277, 51246):
        collection.find_one({"_id": 1}, {"n.$": 1})


WRONG = [
    ({"a": 1, "b": 0}, {31254}),
    ({"a": 0, "b": 1}, {31253}),
    ({"b": 1, "b.c": 1}, {31249, 31250}),
    ({"b.c": 1, "b": 1}, {31249, 31250}),
    ({"a": {"$nonsense": 1}}, {31325, 168}),
    ({"n": {"$slice": "x"}}, {28667, 2, 28724, 14}),
    ({"n": {"$elemMatch": 1}}, {31274, 2}),
    ({"n.$": 1, "l.$": 1}, {31276, 2}),
    ({"": 1}, {40352, 15998, 2, 31249}),
    ({"$a": 1}, {16410, 16404, 16420, 2, 31324, 40353}),
]


@pytest.mark.parametrize(("projection", "codes"), WRONG, ids=[str(row[0]) for row in WRONG])
def test_a_wrong_projection_is_refused(collection, projection, codes):
    collection.insert_one(DOCUMENT)
    with refused(*codes):
        list(collection.find({"n": 1}, projection))


# One of each class, in the order of the classes.
LADDER = [
    MinKey(),
    [],
    None,
    float("nan"),
    Decimal128("-Infinity"),
    -1,
    0,
    Decimal128("0.5"),
    1,
    Int64(2**53),
    Int64(2**53 + 1),
    1e300,
    "",
    "A",
    "a",
    "é",
    "😀",
    {},
    {"a": 1},
    {"a": 1, "b": 1},
    {"b": 0},
    {"a": "x"},
    Binary(b""),
    Binary(b"b"),
    Binary(b"aa"),
    ObjectId("000000000000000000000001"),
    ObjectId("f00000000000000000000001"),
    False,
    True,
    datetime.datetime(1960, 1, 1, tzinfo=datetime.UTC),
    datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC),
    Timestamp(1, 1),
    Timestamp(4294967295, 1),
    Regex("a"),
    Regex("b"),
    MaxKey(),
]


@pytest.mark.parametrize("indexed", [False, True])
def test_values_have_an_order(collection, indexed):
    if indexed:
        collection.create_index("v")
    collection.insert_many({"_id": number, "v": value} for number, value in reversed(list(enumerate(LADDER))))
    expected = list(range(len(LADDER)))
    assert ids(collection.find(sort=[("v", 1)])) == expected
    assert ids(collection.find(sort=[("v", -1)])) == expected[::-1]
    assert ids(collection.aggregate([{"$sort": {"v": 1}}])) == expected


def test_arrays_sort_by_their_least_or_greatest(collection):
    rows = {"a": [5, 1], "b": 2, "c": [3, 4], "d": [], "e": None, "g": [[0]]}
    collection.insert_many({"_id": name, "v": value} for name, value in rows.items())
    collection.insert_one({"_id": "f"})
    up = ids(collection.find(sort=[("v", 1), ("_id", 1)]))
    assert up == ["d", "e", "f", "a", "b", "c", "g"]
    down = ids(collection.find(sort=[("v", -1), ("_id", 1)]))
    assert down == ["g", "a", "c", "b", "e", "f", "d"]


def test_several_keys(collection):
    collection.insert_many({"_id": f"{a}{b}", "a": a, "o": {"b": b}} for a in (2, 1) for b in (1, 3, 2))
    assert ids(collection.find(sort=[("a", 1), ("o.b", -1)])) == ["13", "12", "11", "23", "22", "21"]
    assert ids(collection.find(sort=[("o.b", 1), ("a", -1)], limit=3)) == ["21", "11", "22"]
    assert ids(collection.find(sort=[("a", -1), ("o.b", 1)], skip=4)) == ["12", "13"]


def test_parallel_arrays_do_not_sort(collection):
    collection.insert_one({"a": [1, 2], "b": [1, 2]})
    with refused(2):
        list(collection.find(sort=[("a", 1), ("b", 1)]))


@pytest.mark.parametrize("direction", [0, 2, "up", None])
def test_a_direction_is_one_or_minus_one(collection, direction):
    collection.insert_one({})
    with refused(15975, 15974, 2):
        collection.database.command("find", collection.name, sort={"a": direction})
