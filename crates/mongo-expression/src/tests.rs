//! Expressions by examples: what they give for a document, and with which code they fail.
//!
//! Values are written in Extended JSON; plain integers are 32-bit ones where they fit, as clients send them. Results
//! are shown with their types: `1`, `1L`, `1.0`, `1m`.

mod accumulators;
mod arrays;
mod bounds;
mod dates;
mod hostile;
mod logic;
mod numbers;
mod objects;
mod strings;

use armilla_value::{Decimal, Object, Value, json};

use crate::{Environment, Expression, Scope};

/// Reads a value; integers are as narrow as they can be.
pub(super) fn value(text: &str) -> Value {
    narrowed(json::parse_extended(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error:?}")))
}

fn narrowed(value: Value) -> Value {
    match value {
        // A wrapper says 64 bits by a number that is not plain; tests write such as `{"$numberLong": "1"}`, which
        // the reader has turned into the same as a plain one, so that they add the sign of a string instead.
        Value::Int64(number) => i32::try_from(number).map_or(Value::Int64(number), Value::Int32),
        Value::Array(elements) => Value::Array(elements.into_iter().map(narrowed).collect()),
        Value::Object(object) => {
            if object.len() == 1
                && let Some(Value::String(text)) = object.get("$long")
            {
                return Value::Int64(text.parse().unwrap());
            }
            Value::Object(object.into_iter().map(|(name, value)| (name, narrowed(value))).collect())
        }
        other => other,
    }
}

pub(super) fn object(text: &str) -> Object {
    match value(text) {
        Value::Object(object) => object,
        other => panic!("no object: {other:?}"),
    }
}

/// Shows a value with its types.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int32(number) => number.to_string(),
        Value::Int64(number) => format!("{number}L"),
        Value::Double(number) => format!("{number:?}"),
        Value::Decimal128(bytes) => format!("{}m", Decimal::from_bytes(bytes)),
        Value::String(text) => format!("'{text}'"),
        Value::Date(ms) => format!("date({})", crate::date::format::iso_text(*ms)),
        Value::Array(elements) => {
            format!("[{}]", elements.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        Value::Object(object) => {
            let members: Vec<_> =
                object.iter().map(|(name, value)| format!("{name}: {}", shown(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        other => json::to_string(other),
    }
}

pub(super) fn environment() -> Environment {
    Environment {
        now_ms: 1_600_000_000_000,
        cluster_time: (1_600_000_000, 7),
        user_roles: vec![Value::Object(Object::from([("role", "read")]))],
        variables: object(r#"{"limit": 5, "nested": {"a": [{"b": 1}, {"b": 2}]}}"#),
        seed: 42,
    }
}

pub(super) fn scope() -> Scope {
    Scope { variables: vec!["limit".to_owned(), "nested".to_owned()] }
}

/// Evaluates; a failure is shown as its code.
pub(super) fn evaluated(document: &Object, expression: &str) -> String {
    let result = Expression::parse(&value(expression), &scope())
        .and_then(|expression| expression.evaluate(document, &environment()));
    match result {
        Ok(Some(value)) => shown(&value),
        Ok(None) => "missing".to_owned(),
        Err(error) => format!("error {}", error.code),
    }
}

/// Checks what expressions give for a document.
pub(super) fn check(document: &str, cases: &[(&str, &str)]) {
    let document = object(document);
    for (expression, expected) in cases {
        assert_eq!(evaluated(&document, expression), *expected, "{expression}");
        // The same without constants, which are folded at reading: each is taken from the document instead.
        if let Some((document, expression)) = unfolded(&value(expression)) {
            assert_eq!(evaluated(&document, &expression), *expected, "unfolded: {expression}");
        }
    }
}

/// Turns `{$f: [constants]}` into `{$f: ["$0", "$1"]}` and a document that has them.
fn unfolded(expression: &Value) -> Option<(Object, String)> {
    let Value::Object(outer) = expression else { return None };
    if outer.len() != 1 {
        return None;
    }
    let (name, Value::Array(arguments)) = outer.iter().next()? else { return None };
    if name == "$literal" || name == "$log" && arguments.is_empty() {
        return None;
    }
    let is_plain = |value: &Value| {
        !json::to_string(value).contains('$')
            || !matches!(value, Value::Object(_) | Value::Array(_) | Value::String(_))
    };
    if arguments.is_empty() || !arguments.iter().all(is_plain) {
        return None;
    }
    let document: Object =
        arguments.iter().enumerate().map(|(place, value)| (format!("a{place}"), value.clone())).collect();
    let paths: Vec<String> = (0..arguments.len()).map(|place| format!("\"$a{place}\"")).collect();
    Some((document, format!("{{\"{name}\": [{}]}}", paths.join(", "))))
}

#[test]
fn what_is_read_can_be_shared_by_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Expression>();
    shared::<crate::Accumulator>();
    shared::<crate::regex::Regex>();
    shared::<Environment>();
}
