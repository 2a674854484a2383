//! Updates by pipeline.

use armilla_mongo_expression::{Result, Scope};
use armilla_mongo_filter::{Filter, Matched};
use armilla_value::{Object, Value, json};

use super::{check, check_all, environment, object, value};
use crate::{Update, Updated};

#[test]
fn refusals() {
    check_all(&[
        (r#"{"_id": 1}"#, r#"[]"#, "="),
        (r#"{"_id": 1}"#, r#"[1]"#, "!14"),
        (r#"{"_id": 1}"#, r#"[{}]"#, "!40323"),
        (r#"{"_id": 1}"#, r#"[{"$set": {"a": 1}, "$unset": "b"}]"#, "!40323"),
        (r#"{"_id": 1}"#, r#"[{"$foo": 1}]"#, "!40324 Unrecognized pipeline stage name: '$foo'"),
        (r#"{"_id": 1}"#, r#"[{"$match": {}}]"#, "!72 $match is not allowed to be used within an update"),
        (r#"{"_id": 1}"#, r#"[{"$replaceRoot": 1}]"#, "!40229"),
        (r#"{"_id": 1}"#, r#"[{"$replaceRoot": {"x": 1}}]"#, "!40415"),
        (r#"{"_id": 1}"#, r#"[{"$replaceRoot": {}}]"#, "!40414"),
    ]);
}

#[test]
fn stages() {
    check_all(&[
        (
            r#"{"_id": 1, "a": 1}"#,
            r#"[{"$set": {"b": {"$add": ["$a", 1]}}}]"#,
            r#"{"_id": 1, "a": 1, "b": 2}"#,
        ),
        (r#"{"_id": 1, "a": 1}"#, r#"[{"$set": {"a": 1}}]"#, "="),
        (r#"{"_id": 1, "a": 1}"#, r#"[{"$set": {"a": 1.0}}]"#, r#"{"_id": 1, "a": 1.0}"#),
        (r#"{"_id": 1, "a": 1}"#, r#"[{"$set": {"a": 2}}, {"$set": {"a": 1}}]"#, "="),
        (
            r#"{"_id": 1, "a": 1}"#,
            r#"[{"$addFields": {"b.c": "$a"}}]"#,
            r#"{"_id": 1, "a": 1, "b": {"c": 1}}"#,
        ),
        (r#"{"_id": 1, "a": 1, "b": 2}"#, r#"[{"$unset": "a"}]"#, r#"{"_id": 1, "b": 2}"#),
        (r#"{"_id": 1, "a": 1, "b": 2}"#, r#"[{"$unset": ["a", "b"]}]"#, r#"{"_id": 1}"#),
        (r#"{"_id": 1, "a": 1, "b": 2}"#, r#"[{"$project": {"a": 1}}]"#, r#"{"_id": 1, "a": 1}"#),
        // `_id` stays also where a stage takes it away.
        (r#"{"_id": 1, "a": 1, "b": 2}"#, r#"[{"$project": {"_id": 0, "a": 1}}]"#, r#"{"_id": 1, "a": 1}"#),
        (r#"{"_id": 1, "a": 1}"#, r#"[{"$unset": "_id"}]"#, "="),
        (r#"{"_id": 1, "a": {"b": 2}}"#, r#"[{"$replaceWith": "$a"}]"#, r#"{"_id": 1, "b": 2}"#),
        (r#"{"_id": 1, "a": {"b": 2}}"#, r#"[{"$replaceRoot": {"newRoot": "$a"}}]"#, r#"{"_id": 1, "b": 2}"#),
        (r#"{"_id": 1, "a": 1}"#, r#"[{"$replaceWith": {"x": "$a", "_id": 1}}]"#, r#"{"_id": 1, "x": 1}"#),
        (r#"{"_id": 1, "a": 1}"#, r#"[{"$set": {"b": 1}}, {"$unset": "a"}]"#, r#"{"_id": 1, "b": 1}"#),
        (
            r#"{"_id": 1}"#,
            r#"[{"$set": {"t": "$$NOW"}}]"#,
            r#"{"_id": 1, "t": {"$date": {"$numberLong": "1234"}}}"#,
        ),
        (r#"{"_id": 1}"#, r#"[{"$set": {"_id": 2}}]"#, "!66 altered to _id: 2"),
        (r#"{"_id": 1}"#, r#"[{"$replaceWith": {"_id": 2}}]"#, "!66"),
        (r#"{"_id": 1, "a": 1}"#, r#"[{"$replaceWith": "$a"}]"#, "!40228 Type of resulting value: 'long'"),
        (r#"{"_id": 1, "a": 1}"#, r#"[{"$replaceWith": "$b"}]"#, "!40228"),
        (r#"{"_id": 1, "a": 1}"#, r#"[{"$set": 1}]"#, "!40272"),
        (r#"{"_id": 1, "a": 1}"#, r#"[{"$project": 1}]"#, "!15969"),
        (r#"{"_id": 1, "a": 1}"#, r#"[{"$project": {}}]"#, "!51272"),
        (r#"{"_id": 1, "a": 1}"#, r#"[{"$unset": 1}]"#, "!31002"),
        (r#"{"_id": 1, "a": 1}"#, r#"[{"$set": {"b": "$$x"}}]"#, "!17276"),
    ]);
}

fn apply_with(update: &str, constants: &str, variables: &str) -> Result<Updated> {
    let variables = object(variables);
    let scope = Scope { variables: variables.iter().map(|(name, _)| name.to_owned()).collect() };
    let update = Update::parse(&value(update), None, Some(&object(constants)), &scope)?;
    let environment = armilla_mongo_expression::Environment { variables, ..environment() };
    update.apply(object(r#"{"_id": 1}"#), &Matched::default(), &environment)
}

#[test]
fn constants_and_variables() {
    let before = r#"{"_id": 1}"#;
    for (update, constants, variables, expected) in [
        (r#"[{"$set": {"a": "$$x"}}]"#, r#"{"x": 5}"#, "{}", r#"{"_id": 1, "a": 5}"#),
        (r#"[{"$set": {"a": "$$x"}}]"#, r#"{"x": "$_id"}"#, "{}", r#"{"_id": 1, "a": "$_id"}"#),
        (
            r#"[{"$set": {"a": "$$x", "b": "$$y"}}]"#,
            r#"{"x": 5}"#,
            r#"{"y": 6}"#,
            r#"{"_id": 1, "a": 5, "b": 6}"#,
        ),
        (r#"[{"$set": {"a": "$$x"}}]"#, r#"{"x": 5}"#, r#"{"x": 6}"#, r#"{"_id": 1, "a": 5}"#),
        (r#"[]"#, r#"{"X": 5}"#, r#"{}"#, "!16867"),
        (r#"[]"#, r#"{"x-y": 5}"#, r#"{}"#, "!16868"),
        (r#"[]"#, r#"{"": 5}"#, r#"{}"#, "!16866"),
        (r#"{"$set": {"a": 1}}"#, r#"{"x": 5}"#, r#"{}"#, "!51198"),
        (r#"{"a": 1}"#, r#"{"x": 5}"#, r#"{}"#, "!51198"),
    ] {
        check(&format!("{update} {constants}"), apply_with(update, constants, variables), before, expected);
    }
}

#[test]
fn upserts_by_pipeline() {
    for (filter, update, expected) in [
        (
            r#"{"_id": 1, "a": 2}"#,
            r#"[{"$set": {"b": {"$add": ["$a", 1]}}}]"#,
            r#"{"_id": 1, "a": 2, "b": 3}"#,
        ),
        (r#"{"a": 2}"#, r#"[{"$set": {"_id": "$a"}}]"#, r#"{"_id": 2, "a": 2}"#),
        (r#"{"_id": 1, "a": 2}"#, r#"[{"$replaceWith": {"b": 1}}]"#, r#"{"_id": 1, "b": 1}"#),
    ] {
        let scope = Scope::default();
        let filter = Filter::parse(&object(filter), &scope).unwrap();
        let update = Update::parse(&value(update), None, None, &scope).unwrap();
        let document: Object = update.insert(&filter, &environment()).unwrap();
        assert_eq!(json::to_string(&Value::Object(document)), json::to_string(&value(expected)));
    }
}

#[test]
fn too_many_stages() {
    let stages = |count: usize| format!("[{}]", vec![r#"{"$unset": "a"}"#; count].join(","));
    let parse = |count: usize| Update::parse(&value(&stages(count)), None, None, &Scope::default());
    assert!(parse(crate::limits::PIPELINE_STAGES_MAX).is_ok());
    assert_eq!(parse(crate::limits::PIPELINE_STAGES_MAX + 1).unwrap_err().code, 7_749_501);
}

#[test]
fn stages_cannot_make_a_document_grow_for_ever() {
    let stages: Vec<String> = (0..100).map(|index| format!(r#"{{"$set": {{"b{index}": "$a"}}}}"#)).collect();
    let update = format!("[{}]", stages.join(","));
    let document = format!(r#"{{"_id": 1, "a": "{}"}}"#, "x".repeat(1_000_000));
    check("grown", super::apply(&document, "", &update, ""), &document, "!10334");
}
