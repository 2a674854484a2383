"""Each expression of the aggregation language by its name: what it gives, to the type, and what it refuses.

The names are those of the rows in COMPAT.md.
"""

import datetime
import math

import pytest
from bson import Binary, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp

from mongo import MISSING, compare, refused


def at(year: int, month: int = 1, day: int = 1, *time: int) -> datetime.datetime:
    """A moment as PyMongo gives it back."""
    return datetime.datetime(year, month, day, *time)


NAN = float("nan")
INFINITY = float("inf")
T = at(2024, 2, 29, 13, 14, 15, 678000)
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
    "t": T,
    "n": None,
    "yes": True,
    "no": False,
    "b": Binary(b"abc"),
    "k": ObjectId("65e0a0800000000000000000"),
    "ts": Timestamp(1700000000, 5),
    "$odd.name": 9,
}

PARTS = {"year": 2024, "month": 2, "day": 29, "hour": 13, "minute": 14, "second": 15, "millisecond": 678}


def nearly(expression, places: int = 6):
    """An expression whose last digits differ from machine to machine."""
    return {"$round": [expression, places]}


# Of each name: expressions and what they give; a set of numbers is a refusal with one of these codes.
EACH = {
    "field paths": [
        ("$i", 7),
        ("$o.x", 1),
        ("$o.y.z", [1, 2]),
        ("$a.0", []),
        ("$o.y.0", []),
        ("$nothing", MISSING),
        ("$i.x", MISSING),
        (["$nothing", "$i"], [None, 7]),
        ({"x": "$nothing", "y": "$i"}, {"y": 7}),
    ],
    "$$ROOT": [({"$getField": {"field": "i", "input": "$$ROOT"}}, 7), ("$$ROOT.i", 7)],
    "$$CURRENT": [("$$CURRENT.i", 7)],
    "$$REMOVE": [("$$REMOVE", MISSING), ({"x": "$$REMOVE", "y": "$i"}, {"y": 7})],
    "$$NOW": [({"$type": "$$NOW"}, "date"), ({"$eq": ["$$NOW", "$$NOW"]}, True)],
    "$$CLUSTER_TIME": [({"$type": "$$CLUSTER_TIME"}, "timestamp")],
    "$$nothing": [("$$nothing", {17276})],
    "$literal": [({"$literal": "$i"}, "$i"), ({"$literal": {"$add": [1, 2]}}, {"$add": [1, 2]})],
    "$cond": [
        ({"$cond": [{"$gt": ["$i", 5]}, "big", "small"]}, "big"),
        ({"$cond": {"if": "$nothing", "then": 1, "else": 2}}, 2),
        ({"$cond": ["", 1, 2]}, 1),
        ({"$cond": ["$no", 1, "$nothing"]}, MISSING),
        ({"$cond": [1, 2]}, {16020}),
        ({"$cond": {"if": 1, "then": 2}}, {17082}),
        ({"$cond": {"if": 1, "then": 2, "else": 3, "more": 4}}, {17083}),
    ],
    "$ifNull": [
        ({"$ifNull": ["$n", "$nothing", "x"]}, "x"),
        ({"$ifNull": ["$i", "x"]}, 7),
        ({"$ifNull": ["$n", "$nothing"]}, MISSING),
        ({"$ifNull": ["$n"]}, {1257300}),
    ],
    "$switch": [
        ({"$switch": {"branches": [{"case": False, "then": 1}, {"case": "$yes", "then": 2}], "default": 3}}, 2),
        ({"$switch": {"branches": [{"case": "$no", "then": 1}], "default": 3}}, 3),
        ({"$switch": {"branches": [{"case": "$no", "then": 1}]}}, {40066}),
        ({"$switch": {"branches": []}}, {40068}),
        ({"$switch": 1}, {40060}),
    ],
    "$let": [
        ({"$let": {"vars": {"v": {"$add": ["$i", 1]}}, "in": {"$multiply": ["$$v", 2]}}}, 16),
        ({"$let": {"vars": {"CURRENT": "$o"}, "in": "$x"}}, 1),
        ({"$let": {"vars": {"V": 1}, "in": 1}}, {16867, 9}),
        ({"$let": {"vars": {}}}, {16877}),
    ],
    "$eq": [
        ({"$eq": ["$i", 7.0]}, True),
        ({"$eq": ["$n", "$nothing"]}, False),
        ({"$eq": ["$a", [3, 1, 2]]}, True),
        ({"$eq": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]}, False),
    ],
    "$ne": [({"$ne": ["$i", "7"]}, True), ({"$ne": [1, Decimal128("1.0")]}, False)],
    "$gt": [({"$gt": ["$s", "$i"]}, True), ({"$gt": ["$a", "$o"]}, True), ({"$gt": [1]}, {16020})],
    "$gte": [({"$gte": ["$i", 7]}, True), ({"$gte": ["$n", 0]}, False), ({"$gte": [MaxKey(), "$t"]}, True)],
    "$lt": [({"$lt": ["$nothing", "$n"]}, True), ({"$lt": [NAN, -INFINITY]}, True)],
    "$lte": [({"$lte": ["$i", 7.0]}, True), ({"$lte": ["$yes", "$no"]}, False), ({"$lte": [MinKey(), None]}, True)],
    "$cmp": [({"$cmp": ["$i", 8]}, -1), ({"$cmp": ["$i", 7.0]}, 0), ({"$cmp": ["b", "a"]}, 1)],
    "$and": [({"$and": ["$i", "", []]}, True), ({"$and": []}, True), ({"$and": [1, "$n"]}, False)],
    "$or": [({"$or": [0, None, False]}, False), ({"$or": []}, False), ({"$or": [0, "x"]}, True)],
    "$not": [({"$not": [0]}, True), ({"$not": "$s"}, False), ({"$not": [1, 2]}, {16020})],
    "$add": [
        ({"$add": ["$i", "$d"]}, 9.5),
        ({"$add": ["$i", "$m"]}, Decimal128("8.25")),
        ({"$add": ["$t", 1000]}, at(2024, 2, 29, 13, 14, 16, 678000)),
        ({"$add": ["$i", None]}, None),
        ({"$add": ["$i", "$nothing"]}, None),
        ({"$add": [2**31 - 1, 1]}, Int64(2**31)),
        ({"$add": [Int64(2**63 - 1), 1]}, 2.0**63),
        ({"$add": []}, 0),
        ({"$add": ["$s", 1]}, {14}),
        ({"$add": ["$t", "$t"]}, {16612}),
    ],
    "$subtract": [
        ({"$subtract": ["$i", 10]}, -3),
        ({"$subtract": ["$t", at(2024, 2, 29)]}, Int64(47655678)),
        ({"$subtract": ["$t", 678]}, at(2024, 2, 29, 13, 14, 15)),
        ({"$subtract": ["$n", 1]}, None),
        ({"$subtract": ["$s", 1]}, {14}),
    ],
    "$multiply": [
        ({"$multiply": ["$i", 2, 3]}, 42),
        ({"$multiply": [2**30, 4]}, Int64(2**32)),
        ({"$multiply": [Int64(2**62), 4]}, 2.0**64),
        ({"$multiply": ["$m", 2]}, Decimal128("2.50")),
        ({"$multiply": ["$n", 2]}, None),
        ({"$multiply": ["$s", 1]}, {14}),
    ],
    "$divide": [
        ({"$divide": ["$i", 2]}, 3.5),
        ({"$divide": [6, 2]}, 3.0),
        ({"$divide": ["$m", 2]}, Decimal128("0.625")),
        ({"$divide": [1, 0]}, {2}),
        ({"$divide": ["$s", 1]}, {14}),
    ],
    "$mod": [
        ({"$mod": [-7, 3]}, -1),
        ({"$mod": [7.5, 2]}, 1.5),
        ({"$mod": [Int64(7), 4]}, Int64(3)),
        ({"$mod": ["$n", 2]}, None),
        ({"$mod": [1, 0]}, {16610}),
    ],
    "$abs": [
        ({"$abs": -5}, 5),
        ({"$abs": -2.5}, 2.5),
        ({"$abs": -(2**31)}, Int64(2**31)),
        ({"$abs": "$n"}, None),
        ({"$abs": "$s"}, {28765}),
        ({"$abs": Int64(-(2**63))}, {28680}),
    ],
    "$ceil": [({"$ceil": 2.1}, 3.0), ({"$ceil": 7}, 7), ({"$ceil": Decimal128("-1.5")}, Decimal128("-1"))],
    "$floor": [({"$floor": -2.1}, -3.0), ({"$floor": "$m"}, Decimal128("1")), ({"$floor": "$n"}, None)],
    "$round": [
        ({"$round": [2.5, 0]}, 2.0),
        ({"$round": [3.14159, 2]}, 3.14),
        ({"$round": [1234, -2]}, 1200),
        ({"$round": "$d"}, 2.0),
        ({"$round": Decimal128("2.567")}, Decimal128("3")),
        ({"$round": [1, 101]}, {51083}),
        ({"$round": [1, 1.5]}, {51082}),
    ],
    "$trunc": [({"$trunc": [-2.7]}, -2.0), ({"$trunc": [3.789, 1]}, 3.7), ({"$trunc": [1299, -2]}, 1200)],
    "$pow": [
        ({"$pow": [2, 10]}, 1024),
        ({"$pow": [2, -1]}, 0.5),
        ({"$pow": [2, 40]}, Int64(2**40)),
        ({"$pow": [0, -1]}, {28764}),
    ],
    "$sqrt": [({"$sqrt": 16}, 4.0), ({"$sqrt": "$n"}, None), ({"$sqrt": -1}, {28714})],
    "$exp": [({"$exp": 0}, 1.0), (nearly({"$exp": 1}), 2.718282), ({"$exp": "$n"}, None)],
    "$ln": [({"$ln": 1}, 0.0), ({"$ln": "$n"}, None), ({"$ln": 0}, {28766})],
    "$log": [
        ({"$log": [8, 2]}, 3.0),
        ({"$log": ["$n", 2]}, None),
        ({"$log": [8, 1]}, {28759}),
        ({"$log": [0, 2]}, {28758}),
    ],
    "$log10": [({"$log10": 1000}, 3.0), ({"$log10": 0}, {28761})],
    "$concat": [
        ({"$concat": ["$s", " ", "$u"]}, "Hello é日😀"),
        ({"$concat": ["$s", None]}, None),
        ({"$concat": ["$s", 1]}, {16702}),
    ],
    "$toLower": [({"$toLower": "$s"}, "hello"), ({"$toLower": None}, ""), ({"$toLower": "É"}, "É")],
    "$toUpper": [({"$toUpper": "$s"}, "HELLO"), ({"$toUpper": "$nothing"}, ""), ({"$toUpper": ["$i"]}, "7")],
    "$substr": [
        ({"$substr": ["$s", 1, 3]}, "ell"),
        ({"$substr": ["$s", 1, -1]}, "ello"),
        ({"$substr": ["$n", 0, 1]}, ""),
    ],
    "$substrCP": [
        ({"$substrCP": ["$u", 1, 2]}, "日😀"),
        ({"$substrCP": ["$s", 9, 2]}, ""),
        ({"$substrCP": ["$s", -1, 2]}, {34455}),
    ],
    "$substrBytes": [
        ({"$substrBytes": ["$u", 2, 3]}, "日"),
        ({"$substrBytes": ["$u", 1, 1]}, {28656}),
        ({"$substrBytes": ["$u", 2, 1]}, {28657}),
        ({"$substrBytes": ["$s", -1, 1]}, {50752}),
    ],
    "$strLenCP": [({"$strLenCP": "$u"}, 3), ({"$strLenCP": 5}, {34471})],
    "$strLenBytes": [({"$strLenBytes": "$u"}, 9), ({"$strLenBytes": 5}, {34473})],
    "$split": [
        ({"$split": ["a,b,c", ","]}, ["a", "b", "c"]),
        ({"$split": ["abc", ","]}, ["abc"]),
        ({"$split": ["$n", ","]}, None),
        ({"$split": ["a", ""]}, {40087}),
        ({"$split": [1, ","]}, {40085}),
    ],
    "$trim": [
        ({"$trim": {"input": "  x \n"}}, "x"),
        ({"$trim": {"input": "abxba", "chars": "ab"}}, "x"),
        ({"$trim": {"input": "$n"}}, None),
        ({"$trim": {"input": 5}}, {50699}),
    ],
    "$ltrim": [({"$ltrim": {"input": "xxay", "chars": "x"}}, "ay"), ({"$ltrim": {"input": " a "}}, "a ")],
    "$rtrim": [({"$rtrim": {"input": "ayy", "chars": "y"}}, "a"), ({"$rtrim": {"input": " a "}}, " a")],
    "$indexOfCP": [
        ({"$indexOfCP": ["$u", "😀"]}, 2),
        ({"$indexOfCP": ["$s", "z"]}, -1),
        ({"$indexOfCP": ["$s", "l", 3]}, 3),
        ({"$indexOfCP": ["$n", "l"]}, None),
        ({"$indexOfCP": [1, "l"]}, {40093}),
    ],
    "$indexOfBytes": [
        ({"$indexOfBytes": ["$s", "l"]}, 2),
        ({"$indexOfBytes": ["$u", "😀"]}, 5),
        ({"$indexOfBytes": ["$s", "l", 0, 2]}, -1),
        ({"$indexOfBytes": [1, "l"]}, {40091}),
    ],
    "$strcasecmp": [
        ({"$strcasecmp": ["a", "B"]}, -1),
        ({"$strcasecmp": ["a", "A"]}, 0),
        ({"$strcasecmp": ["$n", "A"]}, -1),
    ],
    "$replaceOne": [
        ({"$replaceOne": {"input": "aXbX", "find": "X", "replacement": "-"}}, "a-bX"),
        ({"$replaceOne": {"input": "$n", "find": "X", "replacement": "-"}}, None),
        ({"$replaceOne": {"input": 1, "find": "X", "replacement": "-"}}, {51746}),
    ],
    "$replaceAll": [
        ({"$replaceAll": {"input": "aXbX", "find": "X", "replacement": "-"}}, "a-b-"),
        ({"$replaceAll": {"input": "a", "find": 1, "replacement": "-"}}, {51745}),
        ({"$replaceAll": {"input": "a", "find": "a", "replacement": 1}}, {51744}),
    ],
    "$regexMatch": [
        ({"$regexMatch": {"input": "$s", "regex": "^h", "options": "i"}}, True),
        ({"$regexMatch": {"input": "$n", "regex": "x"}}, False),
        ({"$regexMatch": {"input": "$s", "regex": Regex("^H")}}, True),
        ({"$regexMatch": {"input": 1, "regex": "x"}}, {51104}),
        ({"$regexMatch": {"input": "x", "regex": 1}}, {51105}),
        ({"$regexMatch": {"input": "x", "regex": "("}}, {51111}),
    ],
    "$regexFind": [
        ({"$regexFind": {"input": "$s", "regex": "l(l)(o)"}}, {"match": "llo", "idx": 2, "captures": ["l", "o"]}),
        ({"$regexFind": {"input": "$s", "regex": "z"}}, None),
        ({"$regexFind": {"input": "$u", "regex": "😀"}}, {"match": "😀", "idx": 2, "captures": []}),
    ],
    "$regexFindAll": [
        ({"$regexFindAll": {"input": "$s", "regex": "l"}}, [{"match": "l", "idx": 2, "captures": []}, {"match": "l", "idx": 3, "captures": []}]),
        ({"$regexFindAll": {"input": "$n", "regex": "l"}}, []),
    ],
    "$size": [({"$size": "$a"}, 3), ({"$size": [[]]}, 0), ({"$size": 5}, {17124}), ({"$size": "$nothing"}, {17124})],
    "$arrayElemAt": [
        ({"$arrayElemAt": ["$a", 0]}, 3),
        ({"$arrayElemAt": ["$a", -1]}, 2),
        ({"$arrayElemAt": ["$a", 9]}, MISSING),
        ({"$arrayElemAt": ["$n", 0]}, None),
        ({"$arrayElemAt": [5, 0]}, {28689}),
        ({"$arrayElemAt": ["$a", 0.5]}, {28691}),
    ],
    "$first": [
        ({"$first": "$a"}, 3),
        ({"$first": [[]]}, MISSING),
        ({"$first": "$n"}, None),
        ({"$first": "$i"}, {28689}),
    ],
    "$last": [({"$last": "$a"}, 2), ({"$last": [[]]}, MISSING), ({"$last": "$i"}, {28689})],
    "$slice": [
        ({"$slice": ["$a", 2]}, [3, 1]),
        ({"$slice": ["$a", -2]}, [1, 2]),
        ({"$slice": ["$a", 1, 1]}, [1]),
        ({"$slice": ["$a", -2, 1]}, [1]),
        ({"$slice": ["$n", 1]}, None),
        ({"$slice": ["$a", 1, -1]}, {28729}),
        ({"$slice": [1, 1]}, {28724}),
    ],
    "$in": [({"$in": [1.0, "$a"]}, True), ({"$in": ["1", "$a"]}, False), ({"$in": [1, 2]}, {40081})],
    "$indexOfArray": [
        ({"$indexOfArray": ["$a", 2]}, 2),
        ({"$indexOfArray": ["$a", 9]}, -1),
        ({"$indexOfArray": ["$a", 3, 1]}, -1),
        ({"$indexOfArray": ["$n", 3]}, None),
        ({"$indexOfArray": [1, 3]}, {40090}),
    ],
    "$concatArrays": [
        ({"$concatArrays": ["$a", [9]]}, [3, 1, 2, 9]),
        ({"$concatArrays": ["$a", None]}, None),
        ({"$concatArrays": []}, []),
        ({"$concatArrays": [1]}, {28664}),
    ],
    "$isArray": [({"$isArray": "$a"}, True), ({"$isArray": ["$i"]}, False)],
    "$filter": [
        ({"$filter": {"input": "$a", "as": "e", "cond": {"$gte": ["$$e", 2]}}}, [3, 2]),
        ({"$filter": {"input": "$a", "cond": {"$gte": ["$$this", 2]}, "limit": 1}}, [3]),
        ({"$filter": {"input": "$n", "cond": True}}, None),
        ({"$filter": {"input": 5, "cond": True}}, {28651}),
        ({"$filter": {"input": "$a"}}, {28650}),
        ({"$filter": {"input": "$a", "cond": 1, "limit": 0}}, {327392, 327391}),
    ],
    "$map": [
        ({"$map": {"input": "$a", "as": "e", "in": {"$multiply": ["$$e", 2]}}}, [6, 2, 4]),
        ({"$map": {"input": "$a", "in": "$$this"}}, [3, 1, 2]),
        ({"$map": {"input": "$a", "in": "$nothing"}}, [None, None, None]),
        ({"$map": {"input": "$n", "in": 1}}, None),
        ({"$map": {"input": 5, "in": 1}}, {16883}),
    ],
    "$reduce": [
        ({"$reduce": {"input": "$a", "initialValue": 0, "in": {"$add": ["$$value", "$$this"]}}}, 6),
        ({"$reduce": {"input": "$n", "initialValue": 0, "in": 1}}, None),
        ({"$reduce": {"input": [], "initialValue": "x", "in": 1}}, "x"),
        ({"$reduce": {"input": 5, "initialValue": 0, "in": 1}}, {40080}),
        ({"$reduce": {"input": [], "in": 1}}, {40079, 40077, 40078}),
    ],
    "$range": [
        ({"$range": [0, 10, 3]}, [0, 3, 6, 9]),
        ({"$range": [3, 0, -1]}, [3, 2, 1]),
        ({"$range": [3, 0]}, []),
        ({"$range": [0, 10, 0]}, {34449}),
        ({"$range": ["a", 1]}, {34443}),
        ({"$range": [0, 1.5]}, {34446}),
    ],
    "$reverseArray": [
        ({"$reverseArray": "$a"}, [2, 1, 3]),
        ({"$reverseArray": "$n"}, None),
        ({"$reverseArray": 1}, {34435}),
    ],
    "$sortArray": [
        ({"$sortArray": {"input": "$a", "sortBy": -1}}, [3, 2, 1]),
        ({"$sortArray": {"input": "$o.y", "sortBy": {"z": -1}}}, [{"z": 2}, {"z": 1}]),
        ({"$sortArray": {"input": "$n", "sortBy": 1}}, None),
        ({"$sortArray": {"input": 1, "sortBy": 1}}, {2942504}),
    ],
    "$zip": [
        ({"$zip": {"inputs": [[1, 2], ["a"]], "useLongestLength": True, "defaults": [0, "z"]}}, [[1, "a"], [2, "z"]]),
        ({"$zip": {"inputs": [[1, 2], ["a"]]}}, [[1, "a"]]),
        ({"$zip": {"inputs": ["$n", [1]]}}, None),
        ({"$zip": {"inputs": []}}, {34465}),
        ({"$zip": {"inputs": [1]}}, {34468}),
    ],
    "$firstN": [
        ({"$firstN": {"input": "$a", "n": 2}}, [3, 1]),
        ({"$firstN": {"input": "$a", "n": 9}}, [3, 1, 2]),
        ({"$firstN": {"input": "$a", "n": 0}}, {5787908}),
        ({"$firstN": {"input": 1, "n": 1}}, {5788200}),
    ],
    "$lastN": [({"$lastN": {"input": "$a", "n": 2}}, [1, 2]), ({"$lastN": {"input": "$a", "n": -1}}, {5787908})],
    "$maxN": [
        ({"$maxN": {"input": "$a", "n": 2}}, [3, 2]),
        ({"$maxN": {"input": [1, None], "n": 2}}, [1]),
        ({"$maxN": {"input": "$a", "n": "x"}}, {5787902}),
    ],
    "$minN": [({"$minN": {"input": "$a", "n": 2}}, [1, 2]), ({"$minN": {"input": "$a", "n": 1.5}}, {5787903})],
    "$max": [({"$max": "$a"}, 3), ({"$max": ["$i", 3, None]}, 7), ({"$max": ["$n"]}, None), ({"$max": [1, "x"]}, "x")],
    "$min": [({"$min": ["$i", 3]}, 3), ({"$min": "$a"}, 1), ({"$min": [None, 2]}, 2)],
    "$sum": [({"$sum": "$a"}, 6), ({"$sum": ["$i", "x", 1.5]}, 8.5), ({"$sum": "$nothing"}, 0)],
    "$avg": [({"$avg": "$a"}, 2.0), ({"$avg": ["x"]}, None), ({"$avg": [1, Decimal128("2")]}, Decimal128("1.5"))],
    "$stdDevPop": [({"$stdDevPop": [1, 3]}, 1.0), ({"$stdDevPop": []}, None)],
    "$stdDevSamp": [(nearly({"$stdDevSamp": [1, 3]}), 1.414214), ({"$stdDevSamp": [1]}, None)],
    "$setUnion": [
        ({"$setUnion": [[1, 2], [2, 3]]}, [1, 2, 3]),
        ({"$setUnion": ["$n", [1]]}, None),
        ({"$setUnion": [1]}, {17043}),
    ],
    "$setIntersection": [
        ({"$setIntersection": [[1, 2], [2.0, 3]]}, [2]),
        ({"$setIntersection": [[1], "$n"]}, None),
        ({"$setIntersection": [1]}, {17047}),
    ],
    "$setDifference": [
        ({"$setDifference": [[1, 2, 1], [2, 3]]}, [1]),
        ({"$setDifference": [[1], "$n"]}, None),
        ({"$setDifference": [1, []]}, {17048}),
    ],
    "$setEquals": [
        ({"$setEquals": [[1, 2], [2, 1, 1]]}, True),
        ({"$setEquals": [[1], [1], [2]]}, False),
        ({"$setEquals": [[1]]}, {17045}),
        ({"$setEquals": [1, [1]]}, {17044}),
    ],
    "$setIsSubset": [
        ({"$setIsSubset": [[1], [2, 1]]}, True),
        ({"$setIsSubset": [[3], [2, 1]]}, False),
        ({"$setIsSubset": [1, []]}, {17046}),
    ],
    "$anyElementTrue": [
        ({"$anyElementTrue": [[0, 1]]}, True),
        ({"$anyElementTrue": [[]]}, False),
        ({"$anyElementTrue": [1]}, {17041}),
    ],
    "$allElementsTrue": [
        ({"$allElementsTrue": [[0, 1]]}, False),
        ({"$allElementsTrue": [[]]}, True),
        ({"$allElementsTrue": [1]}, {17040}),
    ],
    "$mergeObjects": [
        ({"$mergeObjects": ["$o", {"x": 5}]}, {"x": 5, "y": [{"z": 1}, {"z": 2}]}),
        ({"$mergeObjects": [None, {"x": 1}]}, {"x": 1}),
        ({"$mergeObjects": []}, {}),
        ({"$mergeObjects": [1]}, {40400}),
    ],
    "$objectToArray": [
        ({"$objectToArray": {"a": 1}}, [{"k": "a", "v": 1}]),
        ({"$objectToArray": "$n"}, None),
        ({"$objectToArray": 1}, {40390}),
    ],
    "$arrayToObject": [
        ({"$arrayToObject": [[["a", 1], ["b", 2]]]}, {"a": 1, "b": 2}),
        ({"$arrayToObject": [[{"k": "a", "v": 1}]]}, {"a": 1}),
        ({"$arrayToObject": "$n"}, None),
        ({"$arrayToObject": 1}, {40386}),
        ({"$arrayToObject": [[1]]}, {40398}),
    ],
    "$getField": [
        ({"$getField": {"field": "x", "input": "$o"}}, 1),
        ({"$getField": {"$literal": "$odd.name"}}, 9),
        ({"$getField": {"field": "x", "input": "$i"}}, MISSING),
        ({"$getField": {"field": 1, "input": "$o"}}, {5654602, 3041704}),
    ],
    "$setField": [
        ({"$setField": {"field": "x", "input": {"a": 1}, "value": 2}}, {"a": 1, "x": 2}),
        ({"$setField": {"field": "a", "input": {"a": 1, "b": 2}, "value": "$$REMOVE"}}, {"b": 2}),
        ({"$setField": {"field": "a.b", "input": {}, "value": 1}}, {"a.b": 1}),
        ({"$setField": {"field": "x", "input": 1, "value": 2}}, {4161105}),
    ],
    "$unsetField": [
        ({"$unsetField": {"field": "a", "input": {"a": 1, "b": 2}}}, {"b": 2}),
        ({"$unsetField": {"field": "a", "input": "$n"}}, None),
    ],
    "$type": [
        ({"$type": "$i"}, "int"),
        ({"$type": "$l"}, "long"),
        ({"$type": "$m"}, "decimal"),
        ({"$type": "$d"}, "double"),
        ({"$type": "$nothing"}, "missing"),
        ({"$type": "$n"}, "null"),
        ({"$type": "$t"}, "date"),
        ({"$type": "$k"}, "objectId"),
        ({"$type": "$b"}, "binData"),
        ({"$type": "$ts"}, "timestamp"),
        ({"$type": "$a"}, "array"),
        ({"$type": "$o"}, "object"),
        ({"$type": "$yes"}, "bool"),
        ({"$type": {"$literal": Regex("a")}}, "regex"),
        ({"$type": MinKey()}, "minKey"),
    ],
    "$isNumber": [({"$isNumber": "$d"}, True), ({"$isNumber": "$m"}, True), ({"$isNumber": "$s"}, False)],
    "$convert": [
        ({"$convert": {"input": "x", "to": "int", "onError": "bad"}}, "bad"),
        ({"$convert": {"input": None, "to": "int", "onNull": "none"}}, "none"),
        ({"$convert": {"input": "7", "to": 16}}, 7),
        ({"$convert": {"input": "$t", "to": "double"}}, 1709212455678.0),
        ({"$convert": {"input": "x", "to": "int"}}, {241}),
        ({"$convert": {"input": "x", "to": "nonsense"}}, {2}),
        ({"$convert": {"input": "x", "to": 99}}, {9}),
        ({"$convert": {"input": "x"}}, {9}),
    ],
    "$toString": [
        ({"$toString": "$d"}, "2.5"),
        ({"$toString": "$yes"}, "true"),
        ({"$toString": "$k"}, "65e0a0800000000000000000"),
        ({"$toString": "$t"}, "2024-02-29T13:14:15.678Z"),
        ({"$toString": "$n"}, None),
        ({"$toString": "$m"}, "1.25"),
        ({"$toString": "$a"}, {241}),
    ],
    "$toInt": [
        ({"$toInt": "42"}, 42),
        ({"$toInt": 2.9}, 2),
        ({"$toInt": "$yes"}, 1),
        ({"$toInt": "$n"}, None),
        ({"$toInt": "x"}, {241}),
        ({"$toInt": "$l"}, {241}),
        ({"$toInt": "1.5"}, {241}),
    ],
    "$toLong": [({"$toLong": "$i"}, Int64(7)), ({"$toLong": "$t"}, Int64(1709212455678)), ({"$toLong": NAN}, {241})],
    "$toDouble": [({"$toDouble": "1e3"}, 1000.0), ({"$toDouble": "$m"}, 1.25), ({"$toDouble": "x"}, {241})],
    "$toDecimal": [
        ({"$toDecimal": "$i"}, Decimal128("7")),
        ({"$toDecimal": "1.50"}, Decimal128("1.50")),
        ({"$toDecimal": "x"}, {241}),
    ],
    "$toBool": [
        ({"$toBool": "false"}, True),
        ({"$toBool": 0}, False),
        ({"$toBool": "$n"}, None),
        ({"$toBool": "$t"}, True),
    ],
    "$toDate": [
        ({"$toDate": Int64(0)}, at(1970)),
        ({"$toDate": "2020-01-02T03:04:05Z"}, at(2020, 1, 2, 3, 4, 5)),
        ({"$toDate": "$k"}, at(2024, 2, 29, 15, 19, 28)),
        ({"$toDate": "x"}, {241}),
        ({"$toDate": "$yes"}, {241}),
    ],
    "$toObjectId": [
        ({"$toObjectId": "65e0a0800000000000000000"}, ObjectId("65e0a0800000000000000000")),
        ({"$toObjectId": "x"}, {241}),
    ],
    "$year": [
        ({"$year": "$t"}, 2024),
        ({"$year": "$n"}, None),
        ({"$year": "$k"}, 2024),
        ({"$year": "$ts"}, 2023),
        ({"$year": "x"}, {16006}),
    ],
    "$month": [({"$month": "$t"}, 2)],
    "$dayOfMonth": [
        ({"$dayOfMonth": "$t"}, 29),
        ({"$dayOfMonth": {"date": "$t", "timezone": "Pacific/Kiritimati"}}, 1),
    ],
    "$hour": [
        ({"$hour": "$t"}, 13),
        ({"$hour": {"date": "$t", "timezone": "Europe/Oslo"}}, 14),
        ({"$hour": {"date": "$t", "timezone": "-05:00"}}, 8),
        ({"$hour": {"date": "$t", "timezone": "No/Where"}}, {40485}),
    ],
    "$minute": [({"$minute": "$t"}, 14), ({"$minute": {"date": "$t", "timezone": "+05:30"}}, 44)],
    "$second": [({"$second": "$t"}, 15)],
    "$millisecond": [({"$millisecond": "$t"}, 678)],
    "$dayOfWeek": [({"$dayOfWeek": "$t"}, 5), ({"$dayOfWeek": at(2024, 3, 3)}, 1)],
    "$dayOfYear": [({"$dayOfYear": "$t"}, 60), ({"$dayOfYear": at(2023, 12, 31)}, 365)],
    "$week": [({"$week": "$t"}, 8), ({"$week": at(2024, 1, 6)}, 0), ({"$week": at(2024, 1, 7)}, 1)],
    "$isoWeek": [({"$isoWeek": "$t"}, 9), ({"$isoWeek": at(2021, 1, 3)}, 53)],
    "$isoWeekYear": [({"$isoWeekYear": "$t"}, Int64(2024)), ({"$isoWeekYear": at(2021, 1, 3)}, Int64(2020))],
    "$isoDayOfWeek": [({"$isoDayOfWeek": "$t"}, 4), ({"$isoDayOfWeek": at(2024, 3, 3)}, 7)],
    "$dateToString": [
        ({"$dateToString": {"date": "$t", "format": "%Y-%m-%d %H:%M:%S.%L"}}, "2024-02-29 13:14:15.678"),
        ({"$dateToString": {"date": "$t"}}, "2024-02-29T13:14:15.678Z"),
        ({"$dateToString": {"date": "$t", "format": "%j %u %w %U %V %G %z %Z %%", "timezone": "+02:00"}}, "060 4 5 08 09 2024 +0200 +120 %"),
        ({"$dateToString": {"date": "$n", "onNull": "x"}}, "x"),
        ({"$dateToString": {"date": "$t", "format": "%n"}}, {18536}),
        ({"$dateToString": {"format": "%Y"}}, {18628}),
    ],
    "$dateFromString": [
        ({"$dateFromString": {"dateString": "2020-05-06"}}, at(2020, 5, 6)),
        ({"$dateFromString": {"dateString": "06/05/2020", "format": "%d/%m/%Y"}}, at(2020, 5, 6)),
        ({"$dateFromString": {"dateString": "2020-05-06T10:00:00", "timezone": "Europe/Oslo"}}, at(2020, 5, 6, 8)),
        ({"$dateFromString": {"dateString": "x", "onError": "bad"}}, "bad"),
        ({"$dateFromString": {"dateString": "$n", "onNull": "none"}}, "none"),
        ({"$dateFromString": {"dateString": "nonsense"}}, {241}),
    ],
    "$dateToParts": [
        ({"$dateToParts": {"date": "$t"}}, PARTS),
        ({"$dateToParts": {"date": "$t", "iso8601": True}}, {"isoWeekYear": 2024, "isoWeek": 9, "isoDayOfWeek": 4, "hour": 13, "minute": 14, "second": 15, "millisecond": 678}),
        ({"$dateToParts": {"date": "$n"}}, None),
    ],
    "$dateFromParts": [
        ({"$dateFromParts": {"year": 2020, "month": 14}}, at(2021, 2)),
        ({"$dateFromParts": PARTS}, T),
        ({"$dateFromParts": {"isoWeekYear": 2024, "isoWeek": 9, "isoDayOfWeek": 4}}, at(2024, 2, 29)),
        ({"$dateFromParts": {"year": "$n"}}, None),
        ({"$dateFromParts": {"month": 1}}, {40516}),
        ({"$dateFromParts": {"year": 0}}, {40523}),
        ({"$dateFromParts": {"year": 2020, "isoWeek": 1}}, {40489}),
    ],
    "$dateAdd": [
        ({"$dateAdd": {"startDate": "$t", "unit": "year", "amount": 1}}, at(2025, 2, 28, 13, 14, 15, 678000)),
        ({"$dateAdd": {"startDate": at(2024, 3, 30, 12), "unit": "day", "amount": 1, "timezone": "Europe/Oslo"}}, at(2024, 3, 31, 11)),
        ({"$dateAdd": {"startDate": "$n", "unit": "day", "amount": 1}}, None),
        ({"$dateAdd": {"startDate": "$t", "unit": "age", "amount": 1}}, {9}),
        ({"$dateAdd": {"startDate": "$t", "unit": "day", "amount": 1.5}}, {5166405}),
        ({"$dateAdd": {"startDate": 1, "unit": "day", "amount": 1}}, {5166403}),
    ],
    "$dateSubtract": [
        ({"$dateSubtract": {"startDate": "$t", "unit": "month", "amount": 1}}, at(2024, 1, 29, 13, 14, 15, 678000)),
        ({"$dateSubtract": {"startDate": "$t", "unit": "quarter", "amount": 1}}, at(2023, 11, 29, 13, 14, 15, 678000)),
    ],
    "$dateDiff": [
        ({"$dateDiff": {"startDate": at(2020), "endDate": "$t", "unit": "month"}}, Int64(49)),
        ({"$dateDiff": {"startDate": at(2024, 3, 2), "endDate": at(2024, 3, 4), "unit": "week", "startOfWeek": "monday"}}, Int64(1)),
        ({"$dateDiff": {"startDate": at(2024, 3, 2), "endDate": at(2024, 3, 4), "unit": "week", "startOfWeek": "tuesday"}}, Int64(0)),
        ({"$dateDiff": {"startDate": "$n", "endDate": "$t", "unit": "day"}}, None),
        ({"$dateDiff": {"startDate": 1, "endDate": "$t", "unit": "day"}}, {5166307}),
    ],
    "$dateTrunc": [
        ({"$dateTrunc": {"date": "$t", "unit": "hour"}}, at(2024, 2, 29, 13)),
        ({"$dateTrunc": {"date": "$t", "unit": "week", "startOfWeek": "monday"}}, at(2024, 2, 26)),
        ({"$dateTrunc": {"date": "$t", "unit": "minute", "binSize": 10}}, at(2024, 2, 29, 13, 10)),
        ({"$dateTrunc": {"date": "$n", "unit": "day"}}, None),
        ({"$dateTrunc": {"date": 1, "unit": "day"}}, {5439012}),
        ({"$dateTrunc": {"date": "$t", "unit": "day", "binSize": 0}}, {5439017, 5439018}),
    ],
    "$bitAnd": [
        ({"$bitAnd": ["$i", 3]}, 3),
        ({"$bitAnd": []}, -1),
        ({"$bitAnd": ["$n", 1]}, None),
        ({"$bitAnd": [1, Int64(3)]}, Int64(1)),
        ({"$bitAnd": [1.5, 1]}, {14}),
    ],
    "$bitOr": [({"$bitOr": ["$i", 8]}, 15), ({"$bitOr": []}, 0)],
    "$bitXor": [({"$bitXor": ["$i", 1]}, 6), ({"$bitXor": []}, 0)],
    "$bitNot": [({"$bitNot": "$i"}, -8), ({"$bitNot": "$n"}, None), ({"$bitNot": 1.5}, {28765, 14})],
    "$bsonSize": [({"$bsonSize": {"a": 1}}, 12), ({"$bsonSize": "$n"}, None), ({"$bsonSize": 1}, {31393})],
    "$binarySize": [
        ({"$binarySize": "$b"}, 3),
        ({"$binarySize": "$u"}, 9),
        ({"$binarySize": "$n"}, None),
        ({"$binarySize": 1}, {51276}),
    ],
    "$rand": [
        ({"$lt": [{"$rand": {}}, 1]}, True),
        ({"$gte": [{"$rand": {}}, 0]}, True),
        ({"$rand": 1}, {3040501, 10065}),
    ],
    "$sin": [
        (nearly({"$sin": math.pi / 2}), 1.0),
        ({"$sin": "$n"}, None),
        ({"$sin": "$s"}, {28765}),
        ({"$sin": INFINITY}, {50989}),
    ],
    "$cos": [({"$cos": 0}, 1.0), ({"$cos": -INFINITY}, {50989})],
    "$tan": [({"$tan": 0}, 0.0), (nearly({"$tan": math.pi / 4}), 1.0)],
    "$asin": [(nearly({"$asin": 1}), 1.570796), ({"$asin": 2}, {50989})],
    "$acos": [({"$acos": 1}, 0.0), ({"$acos": 2}, {50989})],
    "$atan": [(nearly({"$atan": 1}), 0.785398)],
    "$atan2": [(nearly({"$atan2": [1, -1]}), 2.356194), ({"$atan2": ["$n", 1]}, None)],
    "$sinh": [(nearly({"$sinh": 1}), 1.175201)],
    "$cosh": [(nearly({"$cosh": 1}), 1.543081)],
    "$tanh": [(nearly({"$tanh": 1}), 0.761594)],
    "$asinh": [(nearly({"$asinh": 1}), 0.881374)],
    "$acosh": [(nearly({"$acosh": 2}), 1.316958), ({"$acosh": 0}, {50989})],
    "$atanh": [(nearly({"$atanh": 0.5}), 0.549306), ({"$atanh": 2}, {50989})],
    "$degreesToRadians": [(nearly({"$degreesToRadians": 180}), 3.141593)],
    "$radiansToDegrees": [(nearly({"$radiansToDegrees": math.pi}), 180.0)],
    "$tsSecond": [
        ({"$tsSecond": "$ts"}, Int64(1700000000)),
        ({"$tsSecond": "$n"}, None),
        ({"$tsSecond": "$t"}, {5687301}),
    ],
    "$tsIncrement": [
        ({"$tsIncrement": "$ts"}, Int64(5)),
        ({"$tsIncrement": "$n"}, None),
        ({"$tsIncrement": 1}, {5687302}),
    ],
    "$median": [
        ({"$median": {"input": [1, 5, 3], "method": "approximate"}}, 3.0),
        ({"$median": {"input": "$n", "method": "approximate"}}, None),
        ({"$median": {"input": [1], "method": "exact"}}, {2}),
    ],
    "$percentile": [
        ({"$percentile": {"input": [1, 2, 3, 4, 5], "p": [0, 0.5, 1], "method": "approximate"}}, [1.0, 3.0, 5.0]),
        ({"$percentile": {"input": "x", "p": [0.5], "method": "approximate"}}, [None]),
        ({"$percentile": {"input": [1], "p": [2], "method": "approximate"}}, {7750303, 7750302}),
        ({"$percentile": {"input": [1], "p": [], "method": "approximate"}}, {7750301}),
    ],
    "$toHashedIndexKey": [({"$toHashedIndexKey": "$i"}, {238})],
    "$meta": [({"$meta": "textScore"}, {40218})],
    "$function": [({"$function": {"body": "x", "args": [], "lang": "js"}}, {238})],
    "$accumulator": [({"$accumulator": {}}, {238})],
    "an unknown expression": [
        ({"$nonsense": 1}, {31325}),
        ({"$add": [{"$nonsense": 1}]}, {168}),
        ({"x": {"$nonsense": 1}}, {31325, 168}),
    ],
    "wrong numbers of arguments": [
        ({"$eq": [1]}, {16020}),
        ({"$subtract": [1, 2, 3]}, {16020}),
        ({"$size": [1, 2]}, {16020}),
        ({"$substrCP": ["a"]}, {16020}),
    ],
    "an object with several operators": [({"$add": [{"$add": [1], "$subtract": [1, 2]}]}, {15983})],
}  # fmt: skip


@pytest.fixture(scope="module")
def one(mongo_database):
    """A collection of one document."""
    made = mongo_database["each-expression"]
    made.drop()
    made.insert_one(DOCUMENT)
    yield made
    made.drop()


@pytest.mark.parametrize("name", EACH)
def test_each_expression(one, name):
    given = [case for case in EACH[name] if not isinstance(case[1], set)]
    cases = {f"r{number}": expression for number, (expression, _) in enumerate(given)}
    expected = {f"r{number}": value for number, (_, value) in enumerate(given)}
    if cases:
        (found,) = one.aggregate([{"$project": {"_id": 0, **cases}}])
        compare(found, expected, cases)
        # In a filter the same.
        for case, value in zip(cases.values(), expected.values(), strict=True):
            if value is not MISSING and not (isinstance(value, float) and math.isnan(value)):
                filter = {"$expr": {"$eq": [case, {"$literal": value}]}}
                if "NOW" not in str(case) and "CLUSTER" not in str(case):
                    assert one.count_documents(filter) == 1, case
    for expression, codes in EACH[name]:
        if isinstance(codes, set):
            with refused(*codes):
                list(one.aggregate([{"$project": {"_id": 0, "r": expression}}]))
