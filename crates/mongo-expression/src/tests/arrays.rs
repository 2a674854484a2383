//! Arrays, what goes through them, and sets.

use super::check;

#[test]
fn elements() {
    check(
        r#"{"a": [1, 2, 3, 4], "n": null, "e": [], "s": "x"}"#,
        &[
            (r#"{"$size": "$a"}"#, "4"),
            (r#"{"$size": "$zzz"}"#, "error 17124"),
            (r#"{"$size": "$n"}"#, "error 17124"),
            (r#"{"$arrayElemAt": ["$a", 0]}"#, "1"),
            (r#"{"$arrayElemAt": ["$a", -1]}"#, "4"),
            (r#"{"$arrayElemAt": ["$a", 9]}"#, "missing"),
            (r#"{"$arrayElemAt": ["$a", -9]}"#, "missing"),
            (r#"{"$arrayElemAt": ["$a", 1.0]}"#, "2"),
            (r#"{"$arrayElemAt": ["$a", 1.5]}"#, "error 28691"),
            (r#"{"$arrayElemAt": ["$a", "x"]}"#, "error 28690"),
            (r#"{"$arrayElemAt": ["$s", 0]}"#, "error 28689"),
            (r#"{"$arrayElemAt": ["$n", 0]}"#, "null"),
            (r#"{"$arrayElemAt": [[7, 8], 1]}"#, "8"),
            (r#"{"$first": "$a"}"#, "1"),
            (r#"{"$last": "$a"}"#, "4"),
            (r#"{"$first": "$e"}"#, "missing"),
            (r#"{"$last": "$zzz"}"#, "null"),
            (r#"{"$first": "$s"}"#, "error 28689"),
            (r#"{"$slice": ["$a", 2]}"#, "[1, 2]"),
            (r#"{"$slice": ["$a", -2]}"#, "[3, 4]"),
            (r#"{"$slice": ["$a", 1, 2]}"#, "[2, 3]"),
            (r#"{"$slice": ["$a", -3, 2]}"#, "[2, 3]"),
            (r#"{"$slice": ["$a", 15, 2]}"#, "[]"),
            (r#"{"$slice": ["$a", 1, 0]}"#, "error 28729"),
            (r#"{"$slice": ["$s", 1]}"#, "error 28724"),
            (r#"{"$slice": ["$a", "x"]}"#, "error 28725"),
            (r#"{"$slice": ["$a", null]}"#, "null"),
            (r#"{"$in": [2.0, "$a"]}"#, "true"),
            (r#"{"$in": ["$zzz", "$a"]}"#, "false"),
            (r#"{"$in": [2, "$n"]}"#, "error 40081"),
            (r#"{"$indexOfArray": ["$a", 3]}"#, "2"),
            (r#"{"$indexOfArray": ["$a", 3, 3]}"#, "-1"),
            (r#"{"$indexOfArray": ["$a", 3, 0, 2]}"#, "-1"),
            (r#"{"$indexOfArray": ["$n", 3]}"#, "null"),
            (r#"{"$indexOfArray": ["$s", 3]}"#, "error 40090"),
            (r#"{"$indexOfArray": ["$a", 3, -1]}"#, "error 40097"),
            (r#"{"$concatArrays": ["$a", [5], []]}"#, "[1, 2, 3, 4, 5]"),
            (r#"{"$concatArrays": ["$a", "$n"]}"#, "null"),
            (r#"{"$concatArrays": ["$a", 1]}"#, "error 28664"),
            (r#"{"$isArray": ["$a"]}"#, "true"),
            (r#"{"$isArray": "$s"}"#, "false"),
            (r#"{"$range": [0, 10, 3]}"#, "[0, 3, 6, 9]"),
            (r#"{"$range": [5, 0, -2]}"#, "[5, 3, 1]"),
            (r#"{"$range": [0, 3]}"#, "[0, 1, 2]"),
            (r#"{"$range": [3, 0]}"#, "[]"),
            (r#"{"$range": [0, 3, 0]}"#, "error 34449"),
            (r#"{"$range": [0.5, 3]}"#, "error 34444"),
            (r#"{"$range": ["x", 3]}"#, "error 34443"),
            (r#"{"$range": [-2147483648, 2147483647, 2147483647]}"#, "[-2147483648, -1, 2147483646]"),
            (r#"{"$reverseArray": "$a"}"#, "[4, 3, 2, 1]"),
            (r#"{"$reverseArray": "$n"}"#, "null"),
            (r#"{"$reverseArray": "$s"}"#, "error 34435"),
            (r#"{"$zip": {"inputs": ["$a", ["x", "y"]]}}"#, "[[1, 'x'], [2, 'y']]"),
            (r#"{"$zip": {"inputs": [[1, 2], ["x"]], "useLongestLength": true}}"#, "[[1, 'x'], [2, null]]"),
            (
                r#"{"$zip": {"inputs": [[1, 2], ["x"]], "useLongestLength": true, "defaults": [0, "z"]}}"#,
                "[[1, 'x'], [2, 'z']]",
            ),
            (r#"{"$zip": {"inputs": [[1], ["x"]], "defaults": [0, "z"]}}"#, "error 34466"),
            (r#"{"$zip": {"inputs": [[1], "$n"]}}"#, "null"),
            (r#"{"$zip": {"inputs": [[1], 1]}}"#, "error 34468"),
            (r#"{"$zip": {"inputs": []}}"#, "error 34465"),
        ],
    );
}

#[test]
fn orders() {
    check(
        r#"{"a": [3, 1, 2], "d": [{"x": 2, "y": 1}, {"x": 1}, {"x": 2, "y": 0}], "m": ["b", null, 5, 1]}"#,
        &[
            (r#"{"$sortArray": {"input": "$a", "sortBy": 1}}"#, "[1, 2, 3]"),
            (r#"{"$sortArray": {"input": "$a", "sortBy": -1}}"#, "[3, 2, 1]"),
            (
                r#"{"$sortArray": {"input": "$d", "sortBy": {"x": -1, "y": 1}}}"#,
                "[{x: 2, y: 0}, {x: 2, y: 1}, {x: 1}]",
            ),
            (r#"{"$sortArray": {"input": "$zzz", "sortBy": 1}}"#, "null"),
            (r#"{"$sortArray": {"input": 1, "sortBy": 1}}"#, "error 2942504"),
            (r#"{"$sortArray": {"input": "$a", "sortBy": 2}}"#, "error 15975"),
            (r#"{"$firstN": {"input": "$a", "n": 2}}"#, "[3, 1]"),
            (r#"{"$lastN": {"input": "$a", "n": 2}}"#, "[1, 2]"),
            (r#"{"$maxN": {"input": "$m", "n": 2}}"#, "['b', 5]"),
            (r#"{"$minN": {"input": "$m", "n": 9}}"#, "[1, 5, 'b']"),
            (r#"{"$firstN": {"input": "$a", "n": 0}}"#, "error 5787908"),
            (r#"{"$firstN": {"input": "$a", "n": "x"}}"#, "error 5787902"),
            (r#"{"$firstN": {"input": "$a"}}"#, "error 5787906"),
            (r#"{"$firstN": {"input": "x", "n": 1}}"#, "error 5788200"),
        ],
    );
}

#[test]
fn iteration() {
    check(
        r#"{"a": [1, 2, 3], "k": 10, "n": null, "s": "x", "o": [{"q": 1}, {"q": 5}]}"#,
        &[
            (r#"{"$map": {"input": "$a", "as": "x", "in": {"$multiply": ["$$x", "$k"]}}}"#, "[10, 20, 30]"),
            (r#"{"$map": {"input": "$a", "in": "$$this"}}"#, "[1, 2, 3]"),
            (r#"{"$map": {"input": "$a", "in": "$zzz"}}"#, "[null, null, null]"),
            (r#"{"$map": {"input": "$o", "as": "o", "in": "$$o.q"}}"#, "[1, 5]"),
            (
                r#"{"$map": {"input": "$a", "as": "x", "in": {"$map": {"input": [1, 2], "as": "y", "in": {"$add": ["$$x", "$$y"]}}}}}"#,
                "[[2, 3], [3, 4], [4, 5]]",
            ),
            (r#"{"$map": {"input": "$n", "in": 1}}"#, "null"),
            (r#"{"$map": {"input": "$s", "in": 1}}"#, "error 16883"),
            (r#"{"$map": {"in": 1}}"#, "error 16880"),
            (r#"{"$map": {"input": "$a", "in": 1, "x": 1}}"#, "error 16879"),
            (r#"{"$filter": {"input": "$a", "as": "x", "cond": {"$gt": ["$$x", 1]}}}"#, "[2, 3]"),
            (r#"{"$filter": {"input": "$a", "cond": true, "limit": 2}}"#, "[1, 2]"),
            (r#"{"$filter": {"input": "$a", "cond": true, "limit": 0}}"#, "error 327392"),
            (r#"{"$filter": {"input": "$a", "cond": true, "limit": 1.5}}"#, "error 327391"),
            (r#"{"$filter": {"input": "$s", "cond": true}}"#, "error 28651"),
            (r#"{"$filter": {"input": "$n", "cond": true}}"#, "null"),
            (r#"{"$filter": {"input": "$a"}}"#, "error 28650"),
            (
                r#"{"$reduce": {"input": "$a", "initialValue": 0, "in": {"$add": ["$$value", "$$this"]}}}"#,
                "6",
            ),
            (
                r#"{"$reduce": {"input": "$a", "initialValue": {"s": 0}, "in": {"s": {"$add": ["$$value.s", "$$this"]}}}}"#,
                "{s: 6}",
            ),
            (
                r#"{"$reduce": {"input": [[1, 2], [3], []], "initialValue": [0], "in": {"$concatArrays": ["$$value", "$$this"]}}}"#,
                "[0, 1, 2, 3]",
            ),
            (
                r#"{"$reduce": {"input": "$a", "initialValue": [0], "in": {"$concatArrays": ["$$value", ["$$this"], {"$slice": ["$$value", 1]}]}}}"#,
                "[0, 1, 0, 2, 0, 3, 0]",
            ),
            (
                r#"{"$reduce": {"input": [[1], null], "initialValue": [], "in": {"$concatArrays": ["$$value", "$$this"]}}}"#,
                "null",
            ),
            (
                r#"{"$reduce": {"input": [[1], 2], "initialValue": [], "in": {"$concatArrays": ["$$value", "$$this"]}}}"#,
                "error 28664",
            ),
            (
                r#"{"$reduce": {"input": [[1]], "initialValue": 5, "in": {"$concatArrays": ["$$value", "$$this"]}}}"#,
                "error 28664",
            ),
            (
                r#"{"$reduce": {"input": [], "initialValue": 5, "in": {"$concatArrays": ["$$value", "$$this"]}}}"#,
                "5",
            ),
            (r#"{"$reduce": {"input": "$n", "initialValue": 0, "in": 1}}"#, "null"),
            (r#"{"$reduce": {"input": [], "initialValue": "$zzz", "in": 1}}"#, "missing"),
            (r#"{"$reduce": {"input": "$s", "initialValue": 0, "in": 1}}"#, "error 40080"),
            (r#"{"$reduce": {"input": "$a", "in": 1}}"#, "error 40078"),
        ],
    );
}

#[test]
fn sets() {
    check(
        r#"{"a": [1, 2, 2, 3], "n": null}"#,
        &[
            (r#"{"$setUnion": ["$a", [3, 4]]}"#, "[1, 2, 3, 4]"),
            (r#"{"$setUnion": ["$a", null]}"#, "null"),
            (r#"{"$setUnion": ["$a", 1]}"#, "error 17043"),
            (r#"{"$setUnion": []}"#, "[]"),
            (r#"{"$setIntersection": ["$a", [3, 2.0]]}"#, "[2, 3]"),
            (r#"{"$setIntersection": ["$a", 1]}"#, "error 17047"),
            (r#"{"$setDifference": [[4, 1, 4, 2], "$a"]}"#, "[4]"),
            (r#"{"$setDifference": [[3, 1, 3], [1]]}"#, "[3]"),
            (r#"{"$setDifference": [1, [1]]}"#, "error 17048"),
            (r#"{"$setDifference": [[1], 1]}"#, "error 17049"),
            (r#"{"$setEquals": ["$a", [3, 2, 1]]}"#, "true"),
            (r#"{"$setEquals": ["$a", [3, 2]]}"#, "false"),
            (r#"{"$setEquals": ["$a"]}"#, "error 17045"),
            (r#"{"$setEquals": ["$a", null]}"#, "error 17044"),
            (r#"{"$setIsSubset": [[1, 1], "$a"]}"#, "true"),
            (r#"{"$setIsSubset": [[9], "$a"]}"#, "false"),
            (r#"{"$setIsSubset": [1, "$a"]}"#, "error 17046"),
            (r#"{"$setIsSubset": ["$a", 1]}"#, "error 17042"),
            (r#"{"$anyElementTrue": [[0, null, 1]]}"#, "true"),
            (r#"{"$anyElementTrue": [[]]}"#, "false"),
            (r#"{"$allElementsTrue": [["x", 1]]}"#, "true"),
            (r#"{"$allElementsTrue": [[0]]}"#, "false"),
            (r#"{"$allElementsTrue": [1]}"#, "error 17040"),
            (r#"{"$anyElementTrue": ["$n"]}"#, "error 17041"),
        ],
    );
}
