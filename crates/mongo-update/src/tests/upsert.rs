//! Documents of upserts that found none.

use armilla_mongo_expression::{Result, Scope};
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value, json};

use super::{environment, object, value};
use crate::Update;

fn insert(filter: &str, update: &str) -> Result<Object> {
    let scope = Scope::default();
    let filter = Filter::parse(&object(filter), &scope)?;
    Update::parse(&value(update), None, None, &scope)?.insert(&filter, &environment())
}

#[test]
fn upserts() {
    for (filter, update, expected) in [
        (r#"{}"#, r#"{"$set": {"a": 1}}"#, r#"{"a": 1}"#),
        (r#"{"_id": 5}"#, r#"{"$set": {"a": 1}}"#, r#"{"_id": 5, "a": 1}"#),
        (r#"{"b": 2, "a": 1}"#, r#"{"$set": {"c": 1}}"#, r#"{"a": 1, "b": 2, "c": 1}"#),
        (r#"{"b": 2, "_id": 1, "A": 3}"#, r#"{"$set": {"c": 1}}"#, r#"{"_id": 1, "A": 3, "b": 2, "c": 1}"#),
        (r#"{"a": {"$eq": 1}}"#, r#"{"$inc": {"a": 1}}"#, r#"{"a": 2}"#),
        (r#"{"a.b": 1, "a.c": 2}"#, r#"{"$set": {"d": 1}}"#, r#"{"a": {"b": 1, "c": 2}, "d": 1}"#),
        (r#"{"a": {"b": 1}}"#, r#"{"$set": {"a.c": 1}}"#, r#"{"a": {"b": 1, "c": 1}}"#),
        (r#"{"a": {"$in": [1]}}"#, r#"{"$set": {"c": 1}}"#, r#"{"a": 1, "c": 1}"#),
        (r#"{"a": {"$all": [1]}}"#, r#"{"$set": {"c": 1}}"#, r#"{"a": 1, "c": 1}"#),
        (r#"{"$and": [{"a": 1}, {"b": 2}]}"#, r#"{"$set": {"c": 1}}"#, r#"{"a": 1, "b": 2, "c": 1}"#),
        (r#"{"$or": [{"a": 1}]}"#, r#"{"$set": {"c": 1}}"#, r#"{"a": 1, "c": 1}"#),
        (r#"{"$or": [{"a": 1}, {"b": 1}]}"#, r#"{"$set": {"c": 1}}"#, r#"{"c": 1}"#),
        (
            r#"{"a": {"$gt": 1}, "b": {"$ne": 2}, "d": {"$in": [1, 2]}, "e": {"$elemMatch": {"f": 1}}}"#,
            r#"{"$set": {"c": 1}}"#,
            r#"{"c": 1}"#,
        ),
        (r#"{"a": null}"#, r#"{"$set": {"c": 1}}"#, r#"{"a": null, "c": 1}"#),
        (r#"{"a": [1, 2]}"#, r#"{"$push": {"a": 3}}"#, r#"{"a": [1, 2, 3]}"#),
        (r#"{"a": 1}"#, r#"{"$set": {"a": 2}}"#, r#"{"a": 2}"#),
        (r#"{"a": 1}"#, r#"{"$unset": {"a": 1}}"#, r#"{}"#),
        (r#"{"a": 1}"#, r#"{"$set": {"a.b": 2}}"#, "!28"),
        (r#"{"a": 1, "$and": [{"a": 2}]}"#, r#"{"$set": {"c": 1}}"#, "!54"),
        (r#"{"a": {"c": 1}, "a.b": 1}"#, r#"{"$set": {"c": 1}}"#, "!54"),
        // `$setOnInsert`.
        (
            r#"{"_id": 1}"#,
            r#"{"$setOnInsert": {"b": 1, "a": 2}, "$set": {"c": 3}}"#,
            r#"{"_id": 1, "a": 2, "b": 1, "c": 3}"#,
        ),
        (r#"{"x": 1}"#, r#"{"$setOnInsert": {"_id": 7}}"#, r#"{"_id": 7, "x": 1}"#),
        (r#"{"_id": 1}"#, r#"{"$setOnInsert": {"_id": 7}}"#, "!66"),
        (r#"{"_id": 1}"#, r#"{"$set": {"_id": 1}}"#, r#"{"_id": 1}"#),
        (r#"{"_id": {"$gt": 1}}"#, r#"{"$set": {"_id": 7}}"#, r#"{"_id": 7}"#),
        (r#"{}"#, r#"{"$set": {"_id": [1]}}"#, "!53 The '_id' value cannot be of type array"),
        (r#"{}"#, r#"{"$set": {"_id": {"$regularExpression": {"pattern": "x", "options": ""}}}}"#, "!53"),
        (r#"{}"#, r#"{"$set": {"_id": {"$undefined": true}}}"#, "!53 cannot be of type undefined"),
        (r#"{}"#, r#"{"$set": {"_id": {"$x": 1}}}"#, "!52 '$x' in '_id.$x'"),
        (r#"{}"#, r#"{"$set": {"_id": {"a": [{"$x": 1}]}}}"#, "!52"),
        (r#"{}"#, r#"{"a": 1, "$x": 1}"#, "!52"),
        (r#"{"a": 5}"#, r#"{"$set": {"a.$": 1}}"#, "!2"),
        // A replacement takes `_id` only.
        (r#"{"_id": 1, "a": 2}"#, r#"{"b": 3}"#, r#"{"_id": 1, "b": 3}"#),
        (r#"{"a": 2}"#, r#"{"b": 3}"#, r#"{"b": 3}"#),
        (r#"{"a": 2}"#, r#"{"b": 3, "_id": 4}"#, r#"{"_id": 4, "b": 3}"#),
        (r#"{"_id": 1}"#, r#"{"_id": 4}"#, "!66"),
        (r#"{"_id": 1}"#, r#"{"_id": 1.0, "a": 1}"#, r#"{"_id": 1.0, "a": 1}"#),
        // Pipelines begin with what operators begin with.
        (r#"{"_id": 1, "a": 2}"#, r#"[]"#, r#"{"_id": 1, "a": 2}"#),
    ] {
        let what = format!("{filter} {update}");
        match (expected.strip_prefix('!'), insert(filter, update)) {
            (Some(failure), Err(error)) => {
                let (code, words) = failure.split_once(' ').unwrap_or((failure, ""));
                assert_eq!(error.code.to_string(), code, "{what}: {error}");
                assert!(error.message.contains(words), "{what}: {error}");
            }
            (None, Ok(document)) => {
                assert_eq!(
                    json::to_string(&Value::Object(document)),
                    json::to_string(&value(expected)),
                    "{what}"
                );
            }
            (_, other) => panic!("{what}: {other:?}"),
        }
    }
}
