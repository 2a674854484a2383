//! Tests of updates: tables of document, update and what comes of it.

mod array;
mod describe;
mod operators;
mod pipeline;
mod positional;
mod random;
mod upsert;

use armilla_mongo_expression::{Environment, Result, Scope};
use armilla_mongo_filter::{Filter, Matched};
use armilla_value::{Object, Value, json};

use crate::{Update, Updated};

/// Reads Extended JSON. Integers are 64-bit, `{"$numberInt": "1"}` is a 32-bit one; names need quotes.
pub(crate) fn value(text: &str) -> Value {
    json::parse_extended(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn object(text: &str) -> Object {
    match value(text) {
        Value::Object(object) => object,
        other => panic!("not an object: {other:?}"),
    }
}

pub(crate) fn environment() -> Environment {
    Environment { now_ms: 1234, cluster_time: (7, 8), ..Environment::default() }
}

/// Applies an update; the filter says what the positional `$` stands for.
pub(crate) fn apply(document: &str, filter: &str, update: &str, array_filters: &str) -> Result<Updated> {
    let document = object(document);
    let scope = Scope::default();
    let array_filters = match array_filters {
        "" => None,
        text => value(text).as_array().map(<[Value]>::to_vec),
    };
    let update = Update::parse(&value(update), array_filters.as_deref(), None, &scope)?;
    let matched = match filter {
        "" => Matched::default(),
        text => Filter::parse(&object(text), &scope)?
            .find(&document, &environment())?
            .expect("the filter of a test matches its document"),
    };
    update.apply(document.clone(), &matched, &environment())
}

/// Compares a result with what a table says: `{...}` is the new document, `=` is one that was not modified,
/// `!28` a failure with that code, and `!28 words` one with these words in its message.
pub(crate) fn check(what: &str, result: Result<Updated>, before: &str, expected: &str) {
    match (expected.strip_prefix('!'), result) {
        (Some(failure), Err(error)) => {
            let (code, words) = failure.split_once(' ').unwrap_or((failure, ""));
            assert_eq!(error.code.to_string(), code, "{what}: {error}");
            assert!(error.message.contains(words), "{what}: {error}");
        }
        (Some(failure), Ok(updated)) => {
            panic!("{what}: no failure {failure} but {}", json::to_string(&Value::Object(updated.document)))
        }
        (None, Err(error)) => panic!("{what}: {} {error}", error.code),
        (None, Ok(updated)) => {
            let wanted = if expected == "=" { before } else { expected };
            let (got, wanted) = (Value::Object(updated.document), value(wanted));
            assert_eq!(json::to_string(&got), json::to_string(&wanted), "{what}");
            assert_eq!(got, wanted, "{what}");
            assert_eq!(updated.is_modified, expected != "=", "{what}: modified");
        }
    }
}

/// Checks rows of document, update, result.
pub(crate) fn check_all(rows: &[(&str, &str, &str)]) {
    for (document, update, expected) in rows {
        check(&format!("{document} {update}"), apply(document, "", update, ""), document, expected);
    }
}
