//! Operators on arrays.

use super::check_all;

#[test]
fn push() {
    check_all(&[
        (r#"{}"#, r#"{"$push": {"a": 1}}"#, r#"{"a": [1]}"#),
        (r#"{"a": [1]}"#, r#"{"$push": {"a": 1}}"#, r#"{"a": [1, 1]}"#),
        (r#"{"a": [1]}"#, r#"{"$push": {"a": [2, 3]}}"#, r#"{"a": [1, [2, 3]]}"#),
        (r#"{"a": [1]}"#, r#"{"$push": {"a": {"$each": [2, 3]}}}"#, r#"{"a": [1, 2, 3]}"#),
        (r#"{"a": [1]}"#, r#"{"$push": {"a": {"$each": []}}}"#, "="),
        (r#"{}"#, r#"{"$push": {"a": {"$each": []}}}"#, r#"{"a": []}"#),
        (r#"{}"#, r#"{"$push": {"a.b": 1}}"#, r#"{"a": {"b": [1]}}"#),
        (r#"{"a": [1]}"#, r#"{"$push": {"a": {"x": 1}}}"#, r#"{"a": [1, {"x": 1}]}"#),
        (r#"{"a": [1]}"#, r#"{"$push": {"a": {"$position": 1}}}"#, r#"{"a": [1, {"$position": 1}]}"#),
        (
            r#"{"_id": 1, "a": 1}"#,
            r#"{"$push": {"a": 1}}"#,
            "!2 The field 'a' must be an array but is of type long in document {_id: 1}",
        ),
        (r#"{"a": null}"#, r#"{"$push": {"a": 1}}"#, "!2 of type null in document {no id}"),
        (r#"{"a": {"b": 1}}"#, r#"{"$push": {"a.b": 1}}"#, "!2 The field 'a.b'"),
        // Where.
        (
            r#"{"a": [1, 2]}"#,
            r#"{"$push": {"a": {"$each": [8, 9], "$position": 0}}}"#,
            r#"{"a": [8, 9, 1, 2]}"#,
        ),
        (r#"{"a": [1, 2]}"#, r#"{"$push": {"a": {"$each": [9], "$position": 1}}}"#, r#"{"a": [1, 9, 2]}"#),
        (r#"{"a": [1, 2]}"#, r#"{"$push": {"a": {"$each": [9], "$position": 7}}}"#, r#"{"a": [1, 2, 9]}"#),
        (r#"{"a": [1, 2]}"#, r#"{"$push": {"a": {"$each": [9], "$position": -1}}}"#, r#"{"a": [1, 9, 2]}"#),
        (r#"{"a": [1, 2]}"#, r#"{"$push": {"a": {"$each": [9], "$position": -7}}}"#, r#"{"a": [9, 1, 2]}"#),
        (r#"{"a": [1, 2]}"#, r#"{"$push": {"a": {"$position": 0, "$each": [9]}}}"#, r#"{"a": [9, 1, 2]}"#),
        // How many.
        (r#"{"a": [1, 2]}"#, r#"{"$push": {"a": {"$each": [3], "$slice": 2}}}"#, "="),
        (r#"{"a": [1, 2]}"#, r#"{"$push": {"a": {"$each": [3], "$slice": -2}}}"#, r#"{"a": [2, 3]}"#),
        (r#"{"a": [1, 2]}"#, r#"{"$push": {"a": {"$each": [3], "$slice": 0}}}"#, r#"{"a": []}"#),
        (r#"{"a": [1, 2]}"#, r#"{"$push": {"a": {"$each": [3], "$slice": 10.0}}}"#, r#"{"a": [1, 2, 3]}"#),
        (r#"{"a": [1, 2]}"#, r#"{"$push": {"a": {"$each": [3], "$slice": -10}}}"#, r#"{"a": [1, 2, 3]}"#),
        (
            r#"{"a": [1, 2]}"#,
            r#"{"$push": {"a": {"$each": [3], "$slice": -9223372036854775808}}}"#,
            r#"{"a": [1, 2, 3]}"#,
        ),
        (r#"{}"#, r#"{"$push": {"a": {"$each": [1, 2, 3], "$slice": -2}}}"#, r#"{"a": [2, 3]}"#),
        // In which order: put in, sort, cut.
        (r#"{"a": [3, 1]}"#, r#"{"$push": {"a": {"$each": [2], "$sort": 1}}}"#, r#"{"a": [1, 2, 3]}"#),
        (
            r#"{"a": [3, 1]}"#,
            r#"{"$push": {"a": {"$each": [2], "$sort": -1, "$slice": 2}}}"#,
            r#"{"a": [3, 2]}"#,
        ),
        (r#"{"a": [1, 2]}"#, r#"{"$push": {"a": {"$each": [], "$sort": 1}}}"#, "="),
        (
            r#"{"a": ["x", null, 2, {"b": 1}, [0], true]}"#,
            r#"{"$push": {"a": {"$each": [], "$sort": 1}}}"#,
            r#"{"a": [null, 2, "x", {"b": 1}, [0], true]}"#,
        ),
        (
            r#"{"a": [{"b": 2, "c": 1}, {"b": 1, "c": 2}, {"c": 3}]}"#,
            r#"{"$push": {"a": {"$each": [{"b": 1, "c": 0}], "$sort": {"b": 1, "c": -1}}}}"#,
            r#"{"a": [{"c": 3}, {"b": 1, "c": 2}, {"b": 1, "c": 0}, {"b": 2, "c": 1}]}"#,
        ),
        (
            r#"{"a": [{"b": {"c": 2}}, 5, {"b": {"c": 1}}, {"b": 0}]}"#,
            r#"{"$push": {"a": {"$each": [], "$sort": {"b.c": -1}}}}"#,
            r#"{"a": [{"b": {"c": 2}}, {"b": {"c": 1}}, 5, {"b": 0}]}"#,
        ),
        // What is wrong with them.
        (
            r#"{}"#,
            r#"{"$push": {"a": {"$each": 1}}}"#,
            "!2 The argument to $each in $push must be an array but it was of type: long",
        ),
        (r#"{}"#, r#"{"$push": {"a": {"$each": [], "$x": 1}}}"#, "!2 Unrecognized clause in $push: $x"),
        (r#"{}"#, r#"{"$push": {"a": {"$each": [], "x": 1}}}"#, "!2 Unrecognized clause in $push: x"),
        (
            r#"{}"#,
            r#"{"$push": {"a": {"$each": [], "$slice": "1"}}}"#,
            "!2 The value for $slice must be an integer value but was given type: string",
        ),
        (r#"{}"#, r#"{"$push": {"a": {"$each": [], "$slice": 1.5}}}"#, "!2"),
        (
            r#"{}"#,
            r#"{"$push": {"a": {"$each": [], "$position": "1"}}}"#,
            "!2 The value for $position must be an integer value, not of type: string",
        ),
        (
            r#"{}"#,
            r#"{"$push": {"a": {"$each": [], "$sort": 2}}}"#,
            "!2 The $sort element value must be either 1 or -1",
        ),
        (r#"{}"#, r#"{"$push": {"a": {"$each": [], "$sort": "x"}}}"#, "!2 The $sort is invalid"),
        (r#"{}"#, r#"{"$push": {"a": {"$each": [], "$sort": {}}}}"#, "!2 The $sort pattern is empty"),
        (r#"{}"#, r#"{"$push": {"a": {"$each": [], "$sort": {"b": 2}}}}"#, "!2 either 1 or -1"),
        (r#"{}"#, r#"{"$push": {"a": {"$each": [], "$sort": {"b..c": 1}}}}"#, "!2 has an empty part: b..c"),
    ]);
}

#[test]
fn add_to_set() {
    check_all(&[
        (r#"{}"#, r#"{"$addToSet": {"a": 1}}"#, r#"{"a": [1]}"#),
        (r#"{"a": [1]}"#, r#"{"$addToSet": {"a": 1}}"#, "="),
        (r#"{"a": [1]}"#, r#"{"$addToSet": {"a": 1.0}}"#, "="),
        (r#"{"a": [1]}"#, r#"{"$addToSet": {"a": {"$numberDecimal": "1.0"}}}"#, "="),
        (r#"{"a": [1]}"#, r#"{"$addToSet": {"a": 2}}"#, r#"{"a": [1, 2]}"#),
        (r#"{"a": [1, 1]}"#, r#"{"$addToSet": {"a": 2}}"#, r#"{"a": [1, 1, 2]}"#),
        (r#"{"a": [1]}"#, r#"{"$addToSet": {"a": [1]}}"#, r#"{"a": [1, [1]]}"#),
        (r#"{"a": [{"x": 1, "y": 2}]}"#, r#"{"$addToSet": {"a": {"x": 1.0, "y": 2}}}"#, "="),
        (
            r#"{"a": [{"x": 1, "y": 2}]}"#,
            r#"{"$addToSet": {"a": {"y": 2, "x": 1}}}"#,
            r#"{"a": [{"x": 1, "y": 2}, {"y": 2, "x": 1}]}"#,
        ),
        (r#"{"a": [1]}"#, r#"{"$addToSet": {"a": {"$each": [2, 1, 2.0, 3]}}}"#, r#"{"a": [1, 2, 3]}"#),
        (r#"{}"#, r#"{"$addToSet": {"a": {"$each": [2, 2]}}}"#, r#"{"a": [2]}"#),
        (r#"{}"#, r#"{"$addToSet": {"a": {"$each": []}}}"#, r#"{"a": []}"#),
        (r#"{"a": []}"#, r#"{"$addToSet": {"a": {"$each": []}}}"#, "="),
        (r#"{"a": [null]}"#, r#"{"$addToSet": {"a": null}}"#, "="),
        (
            r#"{"a": []}"#,
            r#"{"$addToSet": {"a": {"x": 1, "$each": [1]}}}"#,
            r#"{"a": [{"x": 1, "$each": [1]}]}"#,
        ),
        (
            r#"{"a": []}"#,
            r#"{"$addToSet": {"a": {"$each": 1}}}"#,
            "!14 The argument to $each in $addToSet must be an array but it was of type long",
        ),
        (
            r#"{"a": []}"#,
            r#"{"$addToSet": {"a": {"$each": [1], "x": 1}}}"#,
            "!2 Found unexpected fields after $each in $addToSet",
        ),
        (
            r#"{"a": 1}"#,
            r#"{"$addToSet": {"a": 1}}"#,
            "!2 Cannot apply $addToSet to non-array field. Field named 'a' has non-array type long",
        ),
    ]);
}

#[test]
fn pop() {
    check_all(&[
        (r#"{"a": [1, 2, 3]}"#, r#"{"$pop": {"a": 1}}"#, r#"{"a": [1, 2]}"#),
        (r#"{"a": [1, 2, 3]}"#, r#"{"$pop": {"a": -1}}"#, r#"{"a": [2, 3]}"#),
        (r#"{"a": [1, 2, 3]}"#, r#"{"$pop": {"a": 1.0}}"#, r#"{"a": [1, 2]}"#),
        (r#"{"a": [1]}"#, r#"{"$pop": {"a": 1}}"#, r#"{"a": []}"#),
        (r#"{"a": []}"#, r#"{"$pop": {"a": 1}}"#, "="),
        (r#"{}"#, r#"{"$pop": {"a": 1}}"#, "="),
        (r#"{"a": {}}"#, r#"{"$pop": {"a.b": 1}}"#, "="),
        (r#"{"a": 1}"#, r#"{"$pop": {"a": 1}}"#, "!14 Path 'a' contains an element of non-array type 'long'"),
        (
            r#"{"a": 1}"#,
            r#"{"$pop": {"a.b": 1}}"#,
            "!28 Cannot use the part (b) of (a.b) to traverse the element ({a: 1})",
        ),
        (r#"{"a": [1]}"#, r#"{"$pop": {"a.b": 1}}"#, "!28"),
        (r#"{"a": [[1]]}"#, r#"{"$pop": {"a.0": 1}}"#, r#"{"a": [[]]}"#),
        (r#"{"a": [1]}"#, r#"{"$pop": {"a": 2}}"#, "!9 $pop expects 1 or -1, found: 2"),
        (r#"{"a": [1]}"#, r#"{"$pop": {"a": 0}}"#, "!9"),
        (r#"{"a": [1]}"#, r#"{"$pop": {"a": 1.5}}"#, "!9 Expected an integer: a: 1.5"),
        (r#"{"a": [1]}"#, r#"{"$pop": {"a": "1"}}"#, "!9 Expected a number in: a: \"1\""),
    ]);
}

#[test]
fn pull() {
    check_all(&[
        (r#"{"a": [1, 2, 1.0, 3]}"#, r#"{"$pull": {"a": 1}}"#, r#"{"a": [2, 3]}"#),
        (r#"{"a": [1, 2]}"#, r#"{"$pull": {"a": 3}}"#, "="),
        (r#"{}"#, r#"{"$pull": {"a": 3}}"#, "="),
        (r#"{"a": []}"#, r#"{"$pull": {"a": 3}}"#, "="),
        (r#"{"a": [1, null, 2]}"#, r#"{"$pull": {"a": null}}"#, r#"{"a": [1, 2]}"#),
        (r#"{"a": [1, 5, 9]}"#, r#"{"$pull": {"a": {"$gt": 1, "$lt": 9}}}"#, r#"{"a": [1, 9]}"#),
        (r#"{"a": [1, 5, 9]}"#, r#"{"$pull": {"a": {"$in": [1, 9]}}}"#, r#"{"a": [5]}"#),
        (r#"{"a": [1, 5, 9]}"#, r#"{"$pull": {"a": {"$ne": 5}}}"#, r#"{"a": [5]}"#),
        (r#"{"a": ["ab", "b", 1]}"#, r#"{"$pull": {"a": {"$regex": "^a"}}}"#, r#"{"a": ["b", 1]}"#),
        (
            r#"{"a": ["ab", "b", 1]}"#,
            r#"{"$pull": {"a": {"$regularExpression": {"pattern": "^A", "options": "i"}}}}"#,
            r#"{"a": ["b", 1]}"#,
        ),
        // A plain object is a filter over elements that are objects.
        (
            r#"{"a": [{"b": 1, "c": 2}, {"b": 2}, 1]}"#,
            r#"{"$pull": {"a": {"b": 1}}}"#,
            r#"{"a": [{"b": 2}, 1]}"#,
        ),
        (
            r#"{"a": [{"b": 1, "c": 2}, {"b": 5}, 1]}"#,
            r#"{"$pull": {"a": {"b": {"$gte": 1}, "c": 2}}}"#,
            r#"{"a": [{"b": 5}, 1]}"#,
        ),
        (
            r#"{"a": [{"b": 1}, {"c": 5}, 1]}"#,
            r#"{"$pull": {"a": {"$or": [{"b": 1}, {"c": 5}]}}}"#,
            r#"{"a": [1]}"#,
        ),
        (r#"{"a": [{"b": 1}, 2, {}]}"#, r#"{"$pull": {"a": {}}}"#, r#"{"a": [2]}"#),
        (
            r#"{"a": [{"b": [{"c": 1}, {"d": 2}]}, {"b": []}]}"#,
            r#"{"$pull": {"a": {"b": {"$elemMatch": {"c": 1}}}}}"#,
            r#"{"a": [{"b": []}]}"#,
        ),
        // An array must be equal to the element.
        (r#"{"a": [[1, 2], [2, 1], 1]}"#, r#"{"$pull": {"a": [1, 2]}}"#, r#"{"a": [[2, 1], 1]}"#),
        (r#"{"a": 1}"#, r#"{"$pull": {"a": 1}}"#, "!2 Cannot apply $pull to a non-array value"),
        (r#"{"a": 1}"#, r#"{"$pull": {"a.b": 1}}"#, "!28"),
        (r#"{"a": [1]}"#, r#"{"$pull": {"a": {"$foo": 1}}}"#, "!2"),
        (r#"{"a": [{"b": [1, 2]}]}"#, r#"{"$pull": {"a.0.b": 1}}"#, r#"{"a": [{"b": [2]}]}"#),
    ]);
}

#[test]
fn pull_all() {
    check_all(&[
        (r#"{"a": [1, 2, 1.0, 3]}"#, r#"{"$pullAll": {"a": [3, 1]}}"#, r#"{"a": [2]}"#),
        (r#"{"a": [1, 2]}"#, r#"{"$pullAll": {"a": []}}"#, "="),
        (
            r#"{"a": [{"b": 1, "c": 2}, {"b": 1}]}"#,
            r#"{"$pullAll": {"a": [{"b": 1}]}}"#,
            r#"{"a": [{"b": 1, "c": 2}]}"#,
        ),
        (r#"{"a": [[1], 1]}"#, r#"{"$pullAll": {"a": [[1]]}}"#, r#"{"a": [1]}"#),
        (r#"{}"#, r#"{"$pullAll": {"a": [1]}}"#, "="),
        (r#"{"a": 1}"#, r#"{"$pullAll": {"a": [1]}}"#, "!2 Cannot apply $pullAll to a non-array value"),
        (r#"{"a": [1]}"#, r#"{"$pullAll": {"a": 1}}"#, "!2"),
    ]);
}
