"""Expressions of the aggregation language: one row for each, over one document."""

import datetime
import math

import pytest
from bson import Binary, Decimal128, Int64, ObjectId

from mongo import refused


def at(year: int, month: int = 1, day: int = 1, *time: int) -> datetime.datetime:
    """A moment as PyMongo gives it back."""
    return datetime.datetime(year, month, day, *time)


DOCUMENT = {
    "_id": 1,
    "i": 7,
    "l": Int64(2**40),
    "d": 2.5,
    "m": Decimal128("1.25"),
    "s": "Hello",
    "u": "é日😀",
    "a": [3, 1, 2],
    "o": {"x": 1, "y": [{"z": 1}, {"z": 2}]},
    "t": at(2024, 2, 29, 13, 14, 15, 678000),
    "n": None,
    "yes": True,
    "b": Binary(b"abc"),
    "k": ObjectId("65e0a0800000000000000000"),
}
MISSING = object()

ROWS = [
    ("$i", 7),
    ("$o.y.z", [1, 2]),
    ("$nothing", MISSING),
    ({"$literal": "$i"}, "$i"),
    ({"$cond": [{"$gt": ["$i", 5]}, "big", "small"]}, "big"),
    ({"$cond": {"if": "$nothing", "then": 1, "else": 2}}, 2),
    ({"$ifNull": ["$n", "$nothing", "x"]}, "x"),
    ({"$switch": {"branches": [{"case": False, "then": 1}, {"case": "$yes", "then": 2}], "default": 3}}, 2),
    ({"$let": {"vars": {"v": {"$add": ["$i", 1]}}, "in": {"$multiply": ["$$v", 2]}}}, 16),
    ({"$eq": ["$i", 7.0]}, True),
    ({"$ne": ["$i", "7"]}, True),
    ({"$gt": ["$s", "$i"]}, True),
    ({"$lt": ["$n", "$i"]}, True),
    ({"$lt": ["$nothing", "$n"]}, True),
    ({"$cmp": ["$i", 8]}, -1),
    ({"$and": ["$i", "", []]}, True),
    ({"$and": []}, True),
    ({"$or": [0, None, False]}, False),
    ({"$not": [0]}, True),
    ({"$add": ["$i", "$d"]}, 9.5),
    ({"$add": ["$i", "$m"]}, Decimal128("8.25")),
    ({"$add": ["$t", 1000]}, at(2024, 2, 29, 13, 14, 16, 678000)),
    ({"$add": ["$i", None]}, None),
    ({"$add": [2**31 - 1, 1]}, Int64(2**31)),
    ({"$subtract": ["$i", 10]}, -3),
    ({"$subtract": ["$t", at(2024, 2, 29)]}, Int64(47655678)),
    ({"$multiply": ["$i", 2, 3]}, 42),
    ({"$divide": ["$i", 2]}, 3.5),
    ({"$mod": [-7, 3]}, -1),
    ({"$abs": -5}, 5),
    ({"$ceil": 2.1}, 3.0),
    ({"$floor": -2.1}, -3.0),
    ({"$round": [2.5, 0]}, 2.0),
    ({"$round": [3.14159, 2]}, 3.14),
    ({"$round": [1234, -2]}, 1200),
    ({"$trunc": [-2.7]}, -2.0),
    ({"$pow": [2, 10]}, 1024),
    ({"$pow": [2, -1]}, 0.5),
    ({"$sqrt": 16}, 4.0),
    ({"$exp": 0}, 1.0),
    ({"$ln": 1}, 0.0),
    ({"$log": [8, 2]}, 3.0),
    ({"$log10": 1000}, 3.0),
    ({"$concat": ["$s", " ", "$u"]}, "Hello é日😀"),
    ({"$concat": ["$s", None]}, None),
    ({"$toLower": "$s"}, "hello"),
    ({"$toUpper": "$s"}, "HELLO"),
    ({"$toUpper": None}, ""),
    ({"$substrCP": ["$u", 1, 2]}, "日😀"),
    ({"$substrBytes": ["$u", 2, 3]}, "日"),
    ({"$strLenCP": "$u"}, 3),
    ({"$strLenBytes": "$u"}, 9),
    ({"$split": ["a,b,c", ","]}, ["a", "b", "c"]),
    ({"$trim": {"input": "  x "}}, "x"),
    ({"$ltrim": {"input": "xxay", "chars": "x"}}, "ay"),
    ({"$rtrim": {"input": "ayy", "chars": "y"}}, "a"),
    ({"$indexOfCP": ["$u", "😀"]}, 2),
    ({"$indexOfBytes": ["$s", "l"]}, 2),
    ({"$indexOfCP": ["$s", "z"]}, -1),
    ({"$strcasecmp": ["a", "B"]}, -1),
    ({"$replaceOne": {"input": "aXbX", "find": "X", "replacement": "-"}}, "a-bX"),
    ({"$replaceAll": {"input": "aXbX", "find": "X", "replacement": "-"}}, "a-b-"),
    ({"$regexMatch": {"input": "$s", "regex": "^h", "options": "i"}}, True),
    ({"$regexFind": {"input": "$s", "regex": "l(l)(o)"}}, {"match": "llo", "idx": 2, "captures": ["l", "o"]}),
    ({"$size": {"$regexFindAll": {"input": "$s", "regex": "l"}}}, 2),
    ({"$size": "$a"}, 3),
    ({"$arrayElemAt": ["$a", 0]}, 3),
    ({"$arrayElemAt": ["$a", -1]}, 2),
    ({"$arrayElemAt": ["$a", 9]}, MISSING),
    ({"$first": "$a"}, 3),
    ({"$last": "$a"}, 2),
    ({"$slice": ["$a", 2]}, [3, 1]),
    ({"$slice": ["$a", -2]}, [1, 2]),
    ({"$slice": ["$a", 1, 1]}, [1]),
    ({"$in": [1.0, "$a"]}, True),
    ({"$indexOfArray": ["$a", 2]}, 2),
    ({"$concatArrays": ["$a", [9]]}, [3, 1, 2, 9]),
    ({"$isArray": "$a"}, True),
    ({"$isArray": ["$i"]}, False),
    ({"$filter": {"input": "$a", "as": "e", "cond": {"$gte": ["$$e", 2]}}}, [3, 2]),
    ({"$filter": {"input": "$a", "cond": {"$gte": ["$$this", 2]}, "limit": 1}}, [3]),
    ({"$map": {"input": "$a", "as": "e", "in": {"$multiply": ["$$e", 2]}}}, [6, 2, 4]),
    ({"$reduce": {"input": "$a", "initialValue": 0, "in": {"$add": ["$$value", "$$this"]}}}, 6),
    ({"$range": [0, 10, 3]}, [0, 3, 6, 9]),
    ({"$reverseArray": "$a"}, [2, 1, 3]),
    ({"$sortArray": {"input": "$a", "sortBy": -1}}, [3, 2, 1]),
    ({"$zip": {"inputs": [[1, 2], ["a"]], "useLongestLength": True, "defaults": [0, "z"]}}, [[1, "a"], [2, "z"]]),
    ({"$firstN": {"input": "$a", "n": 2}}, [3, 1]),
    ({"$lastN": {"input": "$a", "n": 2}}, [1, 2]),
    ({"$maxN": {"input": "$a", "n": 2}}, [3, 2]),
    ({"$minN": {"input": "$a", "n": 2}}, [1, 2]),
    ({"$max": "$a"}, 3),
    ({"$min": ["$i", 3]}, 3),
    ({"$sum": "$a"}, 6),
    ({"$avg": "$a"}, 2.0),
    ({"$setUnion": [[1, 2], [2, 3]]}, [1, 2, 3]),
    ({"$setIntersection": [[1, 2], [2, 3]]}, [2]),
    ({"$setDifference": [[1, 2], [2, 3]]}, [1]),
    ({"$setEquals": [[1, 2], [2, 1, 1]]}, True),
    ({"$setIsSubset": [[1], [2, 1]]}, True),
    ({"$anyElementTrue": [[0, 1]]}, True),
    ({"$allElementsTrue": [[0, 1]]}, False),
    ({"$mergeObjects": ["$o", {"x": 5}]}, {"x": 5, "y": [{"z": 1}, {"z": 2}]}),
    ({"$objectToArray": {"a": 1}}, [{"k": "a", "v": 1}]),
    ({"$arrayToObject": [[["a", 1], ["b", 2]]]}, {"a": 1, "b": 2}),
    ({"$getField": {"field": "x", "input": "$o"}}, 1),
    ({"$setField": {"field": "x", "input": {"a": 1}, "value": 2}}, {"a": 1, "x": 2}),
    ({"$unsetField": {"field": "a", "input": {"a": 1, "b": 2}}}, {"b": 2}),
    ({"$type": "$i"}, "int"),
    ({"$type": "$l"}, "long"),
    ({"$type": "$m"}, "decimal"),
    ({"$type": "$nothing"}, "missing"),
    ({"$type": "$t"}, "date"),
    ({"$type": "$k"}, "objectId"),
    ({"$isNumber": "$d"}, True),
    ({"$toString": "$d"}, "2.5"),
    ({"$toString": "$yes"}, "true"),
    ({"$toString": "$k"}, "65e0a0800000000000000000"),
    ({"$toString": "$t"}, "2024-02-29T13:14:15.678Z"),
    ({"$toInt": "42"}, 42),
    ({"$toInt": 2.9}, 2),
    ({"$toLong": "$i"}, Int64(7)),
    ({"$toDouble": "1e3"}, 1000.0),
    ({"$toDecimal": "$i"}, Decimal128("7")),
    ({"$toBool": "false"}, True),
    ({"$toBool": 0}, False),
    ({"$toDate": Int64(0)}, at(1970)),
    ({"$toDate": "2020-01-02T03:04:05Z"}, at(2020, 1, 2, 3, 4, 5)),
    ({"$toObjectId": "65e0a0800000000000000000"}, ObjectId("65e0a0800000000000000000")),
    ({"$convert": {"input": "x", "to": "int", "onError": "bad"}}, "bad"),
    ({"$convert": {"input": None, "to": "int", "onNull": "none"}}, "none"),
    ({"$year": "$t"}, 2024),
    ({"$month": "$t"}, 2),
    ({"$dayOfMonth": "$t"}, 29),
    ({"$hour": "$t"}, 13),
    ({"$hour": {"date": "$t", "timezone": "Europe/Oslo"}}, 14),
    ({"$hour": {"date": "$t", "timezone": "-05:00"}}, 8),
    ({"$minute": "$t"}, 14),
    ({"$second": "$t"}, 15),
    ({"$millisecond": "$t"}, 678),
    ({"$dayOfWeek": "$t"}, 5),
    ({"$dayOfYear": "$t"}, 60),
    ({"$week": "$t"}, 8),
    ({"$isoWeek": "$t"}, 9),
    ({"$isoWeekYear": "$t"}, Int64(2024)),
    ({"$isoDayOfWeek": "$t"}, 4),
    ({"$dateToString": {"date": "$t", "format": "%Y-%m-%d %H:%M:%S.%L"}}, "2024-02-29 13:14:15.678"),
    ({"$dateToString": {"date": "$t"}}, "2024-02-29T13:14:15.678Z"),
    ({"$dateToString": {"date": "$n", "onNull": "x"}}, "x"),
    ({"$dateFromString": {"dateString": "2020-05-06"}}, at(2020, 5, 6)),
    ({"$dateFromString": {"dateString": "06/05/2020", "format": "%d/%m/%Y"}}, at(2020, 5, 6)),
    ({"$dateFromParts": {"year": 2020, "month": 14}}, at(2021, 2)),
    ({"$getField": {"field": "hour", "input": {"$dateToParts": {"date": "$t"}}}}, 13),
    ({"$dateAdd": {"startDate": "$t", "unit": "year", "amount": 1}}, at(2025, 2, 28, 13, 14, 15, 678000)),
    ({"$dateSubtract": {"startDate": "$t", "unit": "month", "amount": 1}}, at(2024, 1, 29, 13, 14, 15, 678000)),
    ({"$dateDiff": {"startDate": at(2020), "endDate": "$t", "unit": "month"}}, Int64(49)),
    ({"$dateTrunc": {"date": "$t", "unit": "hour"}}, at(2024, 2, 29, 13)),
    ({"$dateTrunc": {"date": "$t", "unit": "week", "startOfWeek": "monday"}}, at(2024, 2, 26)),
    ({"$bitAnd": ["$i", 3]}, 3),
    ({"$bitOr": ["$i", 8]}, 15),
    ({"$bitXor": ["$i", 1]}, 6),
    ({"$bitNot": "$i"}, -8),
    ({"$bsonSize": {"a": 1}}, 12),
    ({"$binarySize": "$b"}, 3),
    ({"$binarySize": "$u"}, 9),
    ({"$round": [{"$sin": math.pi / 2}, 6]}, 1.0),
    ({"$round": [{"$degreesToRadians": 180}, 6]}, 3.141593),
    ({"$lt": [{"$rand": {}}, 1]}, True),
]  # fmt: skip


@pytest.fixture(scope="module")
def one(mongo_database):
    """A collection of one document."""
    made = mongo_database["expressions"]
    made.drop()
    made.insert_one(DOCUMENT)
    yield made
    made.drop()


@pytest.mark.parametrize(("expression", "expected"), ROWS, ids=[str(row[0]) for row in ROWS])
def test_an_expression_gives(one, expression, expected):
    (found,) = one.aggregate([{"$project": {"_id": 0, "r": expression}}])
    if expected is MISSING:
        assert found == {}
        return
    assert found == {"r": expected}
    assert type(found["r"]) is type(expected)


REFUSED = [
    ({"$divide": [1, 0]}, {2, 16608}),
    ({"$add": ["$s", 1]}, {14, 16554}),
    ({"$add": ["$t", "$t"]}, {16612}),
    ({"$subtract": ["$s", 1]}, {14, 16556}),
    ({"$multiply": ["$s", 1]}, {14, 16555}),
    ({"$concat": ["$s", 1]}, {16702}),
    ({"$size": 5}, {17124}),
    ({"$arrayElemAt": [5, 0]}, {28689}),
    ({"$substrBytes": ["$u", 1, 1]}, {28656, 28657}),
    ({"$toInt": "x"}, {241}),
    ({"$toInt": "$l"}, {241}),
    ({"$toObjectId": "x"}, {241}),
    ({"$in": [1, 2]}, {40081}),
    ({"$filter": {"input": 5, "cond": True}}, {28651}),
    ({"$map": {"input": 5, "in": 1}}, {16883}),
    ({"$reduce": {"input": 5, "initialValue": 0, "in": 1}}, {40080}),
    ({"$switch": {"branches": [{"case": False, "then": 1}]}}, {40066}),
    ({"$sqrt": -1}, {28714}),
    ({"$ln": 0}, {28766}),
    ({"$year": "x"}, {16006}),
    ({"$hour": {"date": "$t", "timezone": "No/Where"}}, {40485}),
    ({"$dateFromString": {"dateString": "nonsense"}}, {241}),
    ({"$range": [0, 10, 0]}, {34449}),
    ({"$strLenCP": 5}, {34471}),
    ({"$split": ["a", ""]}, {40087}),
    ({"$ifNull": ["$n"]}, {1257300}),
    ({"$cmp": [1]}, {16020}),
    ({"$let": {"vars": {}}}, {16876, 16877}),
    ({"$nonsense": 1}, {31325, 168}),
    ({"$function": {"body": "x", "args": [], "lang": "js"}}, {31325, 168, 115, 238}),
]


@pytest.mark.parametrize(("expression", "codes"), REFUSED, ids=[str(row[0]) for row in REFUSED])
def test_an_expression_is_refused(one, expression, codes):
    with refused(*codes):
        list(one.aggregate([{"$project": {"_id": 0, "r": expression}}]))
