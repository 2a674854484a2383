"""Each accumulator and window function of the aggregation language by its name: what it gives, and what is refused.

The names are those of the rows in COMPAT.md.
"""

import pytest
from bson import Int64

from mongo import compare, refused

NUMBERS = [
    {"_id": 1, "g": "a", "n": 2, "s": "x", "o": {"p": 1}},
    {"_id": 2, "g": "a", "n": 4.5, "s": "y", "o": {"q": 2}},
    {"_id": 3, "g": "a", "n": None, "s": "x"},
    {"_id": 4, "g": "b", "n": Int64(7), "s": None, "o": None},
    {"_id": 5, "g": "b", "s": "z"},
]

# Of each accumulator: its argument, and what it gives for the groups a and b, in the order of `_id`.
ACCUMULATORS = {
    "$sum": [("$n", 6.5, Int64(7)), (1, 3, 2), ("$s", 0, 0), ({"$multiply": ["$_id", 2]}, 12, 18)],
    "$avg": [("$n", 3.25, 7.0), ("$s", None, None)],
    "$min": [("$n", 2, Int64(7)), ("$s", "x", "z"), ("$nothing", None, None)],
    "$max": [("$n", 4.5, Int64(7)), ("$s", "y", "z")],
    "$first": [("$n", 2, Int64(7)), ("$s", "x", None), ("$nothing", None, None)],
    "$last": [("$n", None, None), ("$s", "x", "z")],
    "$push": [
        ("$n", [2, 4.5, None], [Int64(7)]),
        ({"s": "$s"}, [{"s": "x"}, {"s": "y"}, {"s": "x"}], [{"s": None}, {"s": "z"}]),
    ],
    "$addToSet": [("$g", ["a"], ["b"]), ("$nothing", [], [])],
    "$count": [({}, 3, 2)],
    "$stdDevPop": [("$n", 1.25, 0.0)],
    "$stdDevSamp": [("$s", None, None)],
    "$mergeObjects": [("$o", {"p": 1, "q": 2}, {})],
    "$top": [
        ({"sortBy": {"_id": -1}, "output": "$_id"}, 3, 5),
        ({"sortBy": {"s": -1, "_id": 1}, "output": ["$s", "$_id"]}, ["y", 2], ["z", 5]),
    ],
    "$topN": [({"sortBy": {"_id": -1}, "output": "$_id", "n": 2}, [3, 2], [5, 4])],
    "$bottom": [({"sortBy": {"_id": -1}, "output": "$_id"}, 1, 4)],
    "$bottomN": [({"sortBy": {"_id": 1}, "output": "$_id", "n": 2}, [2, 3], [4, 5])],
    "$firstN": [({"input": "$s", "n": 2}, ["x", "y"], [None, "z"])],
    "$lastN": [({"input": "$n", "n": 2}, [4.5, None], [Int64(7), None])],
    "$maxN": [({"input": "$n", "n": 2}, [4.5, 2], [Int64(7)])],
    "$minN": [({"input": "$n", "n": 2}, [2, 4.5], [Int64(7)])],
    "$median": [({"input": "$_id", "method": "approximate"}, 2.0, 4.0)],
    "$percentile": [({"input": "$_id", "p": [1], "method": "approximate"}, [3.0], [5.0])],
}  # fmt: skip


@pytest.fixture(scope="module")
def numbers(mongo_database):
    """Documents in two groups."""
    made = mongo_database["each-accumulator"]
    made.drop()
    made.insert_many(NUMBERS)
    yield made
    made.drop()


@pytest.mark.parametrize("name", ACCUMULATORS)
def test_each_accumulator(numbers, name):
    cases = {f"r{number}": {name: case[0]} for number, case in enumerate(ACCUMULATORS[name])}
    sort = {"$sort": {"_id": 1}}
    found = list(numbers.aggregate([sort, {"$group": {"_id": "$g", **cases}}, sort]))
    for place, one in enumerate(found):
        expected = {f"r{number}": case[1 + place] for number, case in enumerate(ACCUMULATORS[name])}
        compare(one, expected, cases)
    assert [one["_id"] for one in found] == ["a", "b"]
    # The same as the output of buckets.
    if name != "$count":
        bucket = {"groupBy": "$g", "boundaries": ["a", "b", "c"], "output": cases}
        for place, one in enumerate(numbers.aggregate([sort, {"$bucket": bucket}])):
            expected = {f"r{number}": case[1 + place] for number, case in enumerate(ACCUMULATORS[name])}
            compare(one, expected, cases)


# Of each window function: the whole of it, and what it gives for the five documents.
WINDOWS = {
    "$rank": [({"$rank": {}}, [1, 2, 2, 4, 5])],
    "$denseRank": [({"$denseRank": {}}, [1, 2, 2, 3, 4])],
    "$documentNumber": [({"$documentNumber": {}}, [1, 2, 3, 4, 5])],
    "$shift": [
        ({"$shift": {"output": "$v", "by": 1}}, [20, 20, None, 50, None]),
        ({"$shift": {"output": "$v", "by": -1, "default": "none"}}, ["none", 10, 20, 20, None]),
    ],
    "$derivative": [
        ({"$derivative": {"input": "$d"}, "window": {"documents": [-1, 0]}}, [None, 10.0, 0.0, 10.0, 10.0]),
    ],
    "$integral": [
        ({"$integral": {"input": "$c"}, "window": {"documents": ["unbounded", "current"]}}, [0, 1.0, 2.0, 3.0, 4.0]),
    ],
    "$expMovingAvg": [({"$expMovingAvg": {"input": "$d", "alpha": 0.5}}, [10.0, 15.0, 17.5, 23.75, 31.875])],
    "$linearFill": [({"$linearFill": "$w"}, [1, 1.75, 2.5, 3.25, 4])],
    "$locf": [({"$locf": "$v"}, [10, 20, 20, 20, 50])],
    "$covariancePop": [
        ({"$covariancePop": ["$s", "$c"], "window": {"documents": ["unbounded", "unbounded"]}}, [0.0] * 5),
    ],
    "$covarianceSamp": [
        ({"$covarianceSamp": ["$s", "$s"], "window": {"documents": ["unbounded", "unbounded"]}}, [1.3] * 5),
    ],
    "$sum": [
        ({"$sum": "$d", "window": {"documents": [-1, 1]}}, [30, 50, 70, 90, 70]),
        ({"$sum": "$d", "window": {"range": [-1, 0]}}, [10, 50, 50, 70, 70]),
    ],
    "$avg": [({"$avg": "$d", "window": {"documents": [0, 1]}}, [15.0, 20.0, 25.0, 35.0, 40.0])],
    "$min": [({"$min": "$d", "window": {"documents": ["current", "unbounded"]}}, [10, 20, 20, 30, 40])],
    "$max": [({"$max": "$d", "window": {"documents": ["unbounded", "current"]}}, [10, 20, 20, 30, 40])],
    "$push": [({"$push": "$_id", "window": {"documents": [-1, 0]}}, [[1], [1, 2], [2, 3], [3, 4], [4, 5]])],
    "$addToSet": [({"$addToSet": "$c", "window": {"documents": [-1, 0]}}, [[1]] * 5)],
    "$count": [({"$count": {}, "window": {"documents": ["unbounded", "current"]}}, [1, 2, 3, 4, 5])],
    "$first": [({"$first": "$_id", "window": {"documents": [-1, 0]}}, [1, 1, 2, 3, 4])],
    "$last": [({"$last": "$_id", "window": {"documents": [0, 1]}}, [2, 3, 4, 5, 5])],
    "$stdDevPop": [({"$stdDevPop": "$c", "window": {"documents": [-1, 0]}}, [0.0] * 5)],
    "$stdDevSamp": [({"$stdDevSamp": "$c", "window": {"documents": [0, 1]}}, [0.0, 0.0, 0.0, 0.0, None])],
    "$top": [({"$top": {"sortBy": {"_id": -1}, "output": "$_id"}, "window": {"documents": [-1, 0]}}, [1, 2, 3, 4, 5])],
    "$topN": [
        ({"$topN": {"sortBy": {"_id": -1}, "output": "$_id", "n": 2}, "window": {"documents": [-1, 0]}}, [[1], [2, 1], [3, 2], [4, 3], [5, 4]]),
    ],
    "$bottom": [
        ({"$bottom": {"sortBy": {"_id": -1}, "output": "$_id"}, "window": {"documents": [-1, 0]}}, [1, 1, 2, 3, 4]),
    ],
    "$bottomN": [
        ({"$bottomN": {"sortBy": {"_id": -1}, "output": "$_id", "n": 1}, "window": {"documents": [-1, 0]}}, [[1], [1], [2], [3], [4]]),
    ],
    "$firstN": [({"$firstN": {"input": "$_id", "n": 1}, "window": {"documents": [-1, 0]}}, [[1], [1], [2], [3], [4]])],
    "$lastN": [({"$lastN": {"input": "$_id", "n": 1}, "window": {"documents": [-1, 0]}}, [[1], [2], [3], [4], [5]])],
    "$maxN": [({"$maxN": {"input": "$_id", "n": 1}, "window": {"documents": [-1, 0]}}, [[1], [2], [3], [4], [5]])],
    "$minN": [({"$minN": {"input": "$_id", "n": 1}, "window": {"documents": [-1, 0]}}, [[1], [1], [2], [3], [4]])],
    "$median": [
        ({"$median": {"input": "$_id", "method": "approximate"}, "window": {"documents": [-2, 0]}}, [1.0, 1.0, 2.0, 3.0, 4.0]),
    ],
    "$percentile": [
        ({"$percentile": {"input": "$_id", "p": [1], "method": "approximate"}, "window": {"documents": [-2, 0]}}, [[1.0], [2.0], [3.0], [4.0], [5.0]]),
    ],
}  # fmt: skip

SERIES = [
    {"_id": 1, "s": 1, "v": 10, "d": 10, "c": 1, "w": 1},
    {"_id": 2, "s": 2, "v": 20, "d": 20, "c": 1, "w": None},
    {"_id": 3, "s": 2, "v": 20, "d": 20, "c": 1, "w": None},
    {"_id": 4, "s": 3, "v": None, "d": 30, "c": 1, "w": None},
    {"_id": 5, "s": 4, "v": 50, "d": 40, "c": 1, "w": 4},
]
# Functions whose order is the field with equals in it.
WITH_EQUALS = {"$rank", "$denseRank"}


@pytest.fixture(scope="module")
def series(mongo_database):
    """Five documents in an order."""
    made = mongo_database["each-window"]
    made.drop()
    made.insert_many(SERIES)
    yield made
    made.drop()


@pytest.mark.parametrize("name", WINDOWS)
def test_each_window_function(series, name):
    for function, expected in WINDOWS[name]:
        field = "s" if name in WITH_EQUALS or "range" in function.get("window", {}) else "_id"
        stage = {"$setWindowFields": {"sortBy": {field: 1}, "output": {"r": function}}}
        found = [one["r"] for one in series.aggregate([stage, {"$sort": {"_id": 1}}])]
        assert found == [pytest.approx(value) if isinstance(value, float) else value for value in expected], function
        assert [type(value) for value in found] == [type(value) for value in expected], function


ACCUMULATORS_REFUSED = [
    ({"$count": 1}, {14}),
    ({"$nonsense": 1}, {15952}),
    ({"$sum": 1, "$avg": 1}, {40238}),
    ({"$top": {"output": 1}}, {5788005}),
    ({"$topN": {"output": 1, "sortBy": {"a": 1}}}, {5788003}),
    ({"$firstN": {"input": 1, "n": 0}}, {5787908}),
    ({"$firstN": {"input": 1}}, {5787906}),
    ({"$push": ["$a", "$b"]}, {40237}),
    ({"$mergeObjects": "$s"}, {40400}),
    ({"$accumulator": {}}, {238}),
]


@pytest.mark.parametrize(
    ("accumulator", "codes"), ACCUMULATORS_REFUSED, ids=[str(row[0]) for row in ACCUMULATORS_REFUSED]
)
def test_an_accumulator_is_refused(numbers, accumulator, codes):
    with refused(*codes):
        list(numbers.aggregate([{"$group": {"_id": None, "r": accumulator}}]))
