//! How versions became others.

use armilla_value::{Value, json};

use super::{object, value};
use crate::describe;

#[test]
fn descriptions() {
    for (before, after, updated, removed, truncated) in [
        (r#"{"a": 1}"#, r#"{"a": 1}"#, "{}", "[]", "[]"),
        (r#"{"a": 1}"#, r#"{"a": 1.0}"#, r#"{"a": 1.0}"#, "[]", "[]"),
        (r#"{"a": 1, "b": 2}"#, r#"{"a": 3, "c": 4}"#, r#"{"a": 3, "c": 4}"#, r#"["b"]"#, "[]"),
        (
            r#"{"a": {"b": 1, "c": {"d": 2}}}"#,
            r#"{"a": {"b": 1, "c": {"d": 3, "e": 4}}}"#,
            r#"{"a.c.d": 3, "a.c.e": 4}"#,
            "[]",
            "[]",
        ),
        (r#"{"a": {"b": 1, "c": 2}}"#, r#"{"a": {"c": 2}}"#, "{}", r#"["a.b"]"#, "[]"),
        (r#"{"a": {"b": 1}}"#, r#"{"a": {}}"#, "{}", r#"["a.b"]"#, "[]"),
        (r#"{"a": {"b": 1}}"#, r#"{"a": 1}"#, r#"{"a": 1}"#, "[]", "[]"),
        // Arrays.
        (r#"{"a": [1, 2, 3]}"#, r#"{"a": [1, 9, 3]}"#, r#"{"a.1": 9}"#, "[]", "[]"),
        (r#"{"a": [1, 2]}"#, r#"{"a": [1, 2, 3, 4]}"#, r#"{"a.2": 3, "a.3": 4}"#, "[]", "[]"),
        (r#"{"a": []}"#, r#"{"a": [1]}"#, r#"{"a.0": 1}"#, "[]", "[]"),
        (
            r#"{"a": [1, 2, 3]}"#,
            r#"{"a": [1]}"#,
            "{}",
            "[]",
            r#"[{"field": "a", "newSize": {"$numberInt": "1"}}]"#,
        ),
        (
            r#"{"a": [1, 2, 3]}"#,
            r#"{"a": []}"#,
            "{}",
            "[]",
            r#"[{"field": "a", "newSize": {"$numberInt": "0"}}]"#,
        ),
        (r#"{"a": [1, 2, 3]}"#, r#"{"a": [2, 3]}"#, r#"{"a": [2, 3]}"#, "[]", "[]"),
        (r#"{"a": [1, 2]}"#, r#"{"a": [3, 4]}"#, r#"{"a": [3, 4]}"#, "[]", "[]"),
        (r#"{"a": [{"b": 1, "c": 2}, 5]}"#, r#"{"a": [{"b": 2, "c": 2}, 5]}"#, r#"{"a.0.b": 2}"#, "[]", "[]"),
        (
            r#"{"a": [{"b": [1, 2]}]}"#,
            r#"{"a": [{"b": [1]}]}"#,
            "{}",
            "[]",
            r#"[{"field": "a.0.b", "newSize": {"$numberInt": "1"}}]"#,
        ),
        (r#"{"a": [{"b": 1, "c": 2}]}"#, r#"{"a": [{"c": 2}]}"#, "{}", r#"["a.0.b"]"#, "[]"),
        // Names that look like paths.
        (
            r#"{"a": {"b.c": 1, "d": 1}}"#,
            r#"{"a": {"b.c": 2, "d": 1}}"#,
            r#"{"a": {"b.c": 2, "d": 1}}"#,
            "[]",
            "[]",
        ),
        (r#"{"a": {"b.c": 1, "d": 1}}"#, r#"{"a": {"b.c": 1, "d": 2}}"#, r#"{"a.d": 2}"#, "[]", "[]"),
        // Members that moved.
        (r#"{"a": 1, "b": 2}"#, r#"{"b": 2, "a": 1}"#, r#"{"b": 2, "a": 1}"#, "[]", "[]"),
        (
            r#"{"x": {"a": 1, "b": 2}}"#,
            r#"{"x": {"b": 2, "a": 1}}"#,
            r#"{"x": {"b": 2, "a": 1}}"#,
            "[]",
            "[]",
        ),
    ] {
        let description = Value::Object(describe(&object(before), &object(after)));
        let expected = format!(
            r#"{{"updatedFields": {updated}, "removedFields": {removed}, "truncatedArrays": {truncated}}}"#
        );
        assert_eq!(json::to_string(&description), json::to_string(&value(&expected)), "{before} {after}");
    }
}
