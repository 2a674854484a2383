//! When two lists of rows are the same.
//!
//! Numbers compare by value, members in any order, elements in order. Whole items are compared without the
//! properties that the server gives them.

use std::fmt::Write as _;

use armilla_value::{Object, Value, json, sql_cmp};

use crate::script::Comparison;

/// What the server adds to an item.
const SYSTEM_PROPERTIES: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

/// Rows that a difference shows at most.
const SHOWN_ROWS_MAX: usize = 12;

/// Bytes of a row that a difference shows at most.
const SHOWN_BYTES_MAX: usize = 600;

/// Takes the server's properties out of every value inside that is an item.
pub(crate) fn without_system_properties(value: Value) -> Value {
    match value {
        Value::Array(elements) => {
            elements.into_iter().map(without_system_properties).collect::<Vec<_>>().into()
        }
        Value::Object(object) => {
            let is_item = SYSTEM_PROPERTIES.iter().all(|name| object.contains(name));
            let kept = object
                .into_iter()
                .filter(|(name, _)| !is_item || !SYSTEM_PROPERTIES.contains(&name.as_str()));
            Value::Object(
                kept.map(|(name, value)| (name, without_system_properties(value))).collect::<Object>(),
            )
        }
        scalar => scalar,
    }
}

/// Says what is different, or nothing.
pub(crate) fn difference(expected: &[Value], actual: &[Value], comparison: Comparison) -> Option<String> {
    if comparison.unordered {
        return unordered_difference(expected, actual, comparison);
    }
    if expected.len() == actual.len() && pairs_equal(expected, actual, comparison) {
        return None;
    }
    let same = expected.iter().zip(actual).take_while(|(left, right)| equal(left, right, comparison)).count();
    let mut text = format!(
        "{} rows expected, {} came; first difference in row {}\n",
        expected.len(),
        actual.len(),
        same + 1
    );
    show(&mut text, '-', &expected[same..]);
    show(&mut text, '+', &actual[same..]);
    if let (Some(left), Some(right)) = (expected.get(same), actual.get(same)) {
        members_difference(&mut text, "", left, right, comparison);
    }
    Some(text)
}

fn unordered_difference(expected: &[Value], actual: &[Value], comparison: Comparison) -> Option<String> {
    let mut missing = Vec::new();
    let mut unexpected: Vec<Value> = actual.to_vec();
    for row in expected {
        match unexpected.iter().position(|other| equal(row, other, comparison)) {
            Some(position) => {
                unexpected.swap_remove(position);
            }
            None => missing.push(row.clone()),
        }
    }
    if missing.is_empty() && unexpected.is_empty() {
        return None;
    }
    let mut text = format!("{} rows expected, {} came\n", expected.len(), actual.len());
    show(&mut text, '-', &missing);
    show(&mut text, '+', &unexpected);
    if let ([left], [right]) = (missing.as_slice(), unexpected.as_slice()) {
        members_difference(&mut text, "", left, right, comparison);
    }
    Some(text)
}

fn show(text: &mut String, sign: char, rows: &[Value]) {
    for row in rows.iter().take(SHOWN_ROWS_MAX) {
        let mut row = json::to_string(row);
        if row.len() > SHOWN_BYTES_MAX {
            row.truncate(row.floor_char_boundary(SHOWN_BYTES_MAX));
            row.push_str("...");
        }
        let _ = writeln!(text, "  {sign} {row}");
    }
    if rows.len() > SHOWN_ROWS_MAX {
        let _ = writeln!(text, "  {sign} and {} more", rows.len() - SHOWN_ROWS_MAX);
    }
}

/// Names the members and elements that differ, where two rows have some that do not.
fn members_difference(
    text: &mut String,
    path: &str,
    expected: &Value,
    actual: &Value,
    comparison: Comparison,
) {
    match (expected, actual) {
        (Value::Object(left), Value::Object(right)) => {
            for (name, value) in left.iter() {
                let path = format!("{path}.{name}");
                match right.get(name) {
                    Some(other) => members_difference(text, &path, value, other, comparison),
                    None => _ = writeln!(text, "  {path}: {} expected, nothing came", json::to_string(value)),
                }
            }
            for (name, value) in right.iter().filter(|(name, _)| !left.contains(name)) {
                let _ = writeln!(text, "  {path}.{name}: nothing expected, {} came", json::to_string(value));
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (position, (value, other)) in left.iter().zip(right).enumerate() {
                members_difference(text, &format!("{path}[{position}]"), value, other, comparison);
            }
        }
        _ if equal(expected, actual, comparison) => {}
        _ if path.is_empty() => {}
        _ => {
            let (left, right) = (json::to_string(expected), json::to_string(actual));
            let _ = writeln!(text, "  {path}: {left} expected, {right} came");
        }
    }
}

fn pairs_equal(left: &[Value], right: &[Value], comparison: Comparison) -> bool {
    left.iter().zip(right).all(|(left, right)| equal(left, right, comparison))
}

fn equal(left: &Value, right: &Value, comparison: Comparison) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) if comparison.arrays_as_sets => {
            unordered_difference(left, right, comparison).is_none()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && pairs_equal(left, right, comparison)
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, value)| right.get(name).is_some_and(|other| equal(value, other, comparison)))
        }
        _ => sql_cmp(left, right).is_eq() || close(left, right, comparison.tolerance),
    }
}

fn close(left: &Value, right: &Value, tolerance: f64) -> bool {
    match (left.as_f64(), right.as_f64()) {
        // Without a tolerance doubles decide nothing: they cannot tell large integers apart.
        (Some(left), Some(right)) if tolerance > 0.0 => {
            (left - right).abs() <= tolerance * left.abs().max(right.abs()).max(tolerance)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<Value> {
        match json::parse(text.as_bytes()).unwrap() {
            Value::Array(elements) => elements,
            _ => panic!("a list of rows"),
        }
    }

    fn check(expected: &str, actual: &str, comparison: Comparison, same: bool) {
        let found = difference(&values(expected), &values(actual), comparison);
        assert_eq!(found.is_none(), same, "{expected} and {actual}: {found:?}");
    }

    #[test]
    fn rows_compare_by_value() {
        let ordered = Comparison::default();
        let unordered = Comparison { unordered: true, ..ordered };
        let sets = Comparison { arrays_as_sets: true, ..ordered };
        let roughly = Comparison { tolerance: 1e-6, ..ordered };
        for (expected, actual, comparison, same) in [
            ("[1, 2]", "[1.0, 2]", ordered, true),
            ("[1, 2]", "[2, 1]", ordered, false),
            ("[1, 2, 2]", "[2, 1, 2]", unordered, true),
            ("[1, 2, 2]", "[2, 1, 1]", unordered, false),
            ("[1]", "[1, 1]", unordered, false),
            ("[]", "[1]", ordered, false),
            (r#"[{"a":1,"b":[1,2]}]"#, r#"[{"b":[1,2],"a":1}]"#, ordered, true),
            (r#"[{"a":[1,2]}]"#, r#"[{"a":[2,1]}]"#, ordered, false),
            (r#"[{"a":[1,2]}]"#, r#"[{"a":[2,1]}]"#, sets, true),
            (r#"[{"a":null}]"#, "[{}]", ordered, false),
            ("[9007199254740993]", "[9007199254740992]", ordered, false),
            ("[1.0000001]", "[1]", roughly, true),
            ("[1.0000001]", "[1]", ordered, false),
            ("[1.1]", "[1]", roughly, false),
            (r#"["1"]"#, "[1]", roughly, false),
        ] {
            check(expected, actual, comparison, same);
        }
    }

    #[test]
    fn items_lose_what_the_server_gave_them() {
        let item =
            r#"[{"id":"1","_rid":"r","_self":"s","_etag":"e","_attachments":"a","_ts":1,"n":{"_ts":2}}]"#;
        assert_eq!(
            without_system_properties(values(item).into()),
            values(r#"[{"id":"1","n":{"_ts":2}}]"#).into()
        );
    }

    #[test]
    fn differences_name_the_member() {
        let text = difference(
            &values(r#"[{"a":1,"b":[1,2]}]"#),
            &values(r#"[{"b":[1,3],"c":0}]"#),
            Comparison::default(),
        );
        let text = text.unwrap();
        for part in
            [".a: 1 expected, nothing came", ".b[1]: 2 expected, 3 came", ".c: nothing expected, 0 came"]
        {
            assert!(text.contains(part), "{text}");
        }
    }
}
