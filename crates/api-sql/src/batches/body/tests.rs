use armilla_engine::{BATCH_ACTIONS_MAX, ItemAction, ItemBody};
use bytes::Bytes;

use super::{BatchOperation, parse};
use crate::limits::BATCH_MEMBER_BYTES_MAX;

const ETAG: &str = "00000000-0000-0001-0000-0000000000ff";

fn read(body: &str) -> Result<Vec<BatchOperation>, String> {
    parse(&Bytes::copy_from_slice(body.as_bytes())).map_err(|failure| {
        assert_eq!(failure.status.http, 400, "{body}");
        failure.message.into_owned()
    })
}

fn one(operation: &str) -> BatchOperation {
    read(&format!("[{operation}]")).unwrap_or_else(|error| panic!("{operation}: {error}")).remove(0)
}

/// An action in a few words.
fn words(action: &ItemAction) -> String {
    match action {
        ItemAction::Put { mode, id, body, precondition } => {
            let ItemBody::Json(body) = body else { panic!("{body:?}") };
            let body = std::str::from_utf8(body).unwrap();
            format!("{mode:?} {} {body} {}", id.as_deref().unwrap_or("-"), condition(precondition))
        }
        ItemAction::Delete { id, precondition } => format!("Delete {id} {}", condition(precondition)),
        ItemAction::Patch { id, condition: text, precondition, .. } => {
            format!("Patch {id} {} {}", text.as_deref().unwrap_or("-"), condition(precondition))
        }
        ItemAction::Read { id, known, precondition } => {
            let known = if known.is_some() { "known" } else { "-" };
            format!("Read {id} {known} {}", condition(precondition))
        }
        ItemAction::Invalid(why) => format!("Invalid {why}"),
    }
}

fn condition(precondition: &armilla_engine::Precondition) -> &'static str {
    match precondition {
        armilla_engine::Precondition::None => "-",
        armilla_engine::Precondition::Exists => "exists",
        armilla_engine::Precondition::Version(Some(_)) => "version",
        armilla_engine::Precondition::Version(None) => "no version",
        armilla_engine::Precondition::WrittenAt(_) => "moment",
        armilla_engine::Precondition::Missing => "missing",
    }
}

#[test]
fn every_operation_type_is_read() {
    for (operation, expected) in [
        (r#"{"operationType":"Create","resourceBody":{"id":"1"}}"#, r#"Create - {"id":"1"} -"#),
        (r#"{"operationType":"create","resourceBody": {"id" : "1"} }"#, r#"Create - {"id" : "1"} -"#),
        (r#"{"operationType":"Upsert","resourceBody":{"id":"1"}}"#, r#"Upsert - {"id":"1"} -"#),
        (r#"{"operationType":"Replace","id":"1","resourceBody":{"id":"1"}}"#, r#"Replace 1 {"id":"1"} -"#),
        (r#"{"id":"a\"\u00e9","operationType":"Delete"}"#, "Delete a\"\u{e9} -"),
        (r#"{"operationType":"Read","id":"1"}"#, "Read 1 - -"),
        (
            r#"{"operationType":"Patch","id":"1","resourceBody":{"operations":[{"op":"remove","path":"/a"}],
                "condition":"from c where c.a"}}"#,
            "Patch 1 from c where c.a -",
        ),
        (r#"{"operationType":"Patch","id":"1","resourceBody":[{"op":"remove","path":"/a"}]}"#, "Patch 1 - -"),
    ] {
        assert_eq!(words(&one(operation).action), expected, "{operation}");
    }
}

#[test]
fn conditions_are_those_of_the_operation() {
    let quoted = format!("\\\"{ETAG}\\\"");
    let body = r#""resourceBody":{}"#;
    for (kind, condition, expected) in [
        ("Create", r#""ifNoneMatch":"*""#, "Create - {} missing"),
        ("Create", r#""ifMatch":"*""#, "Create - {} -"),
        ("Create", &format!(r#""ifNoneMatch":"{quoted}""#), "Create - {} -"),
        ("Upsert", r#""ifNoneMatch":"*""#, "Upsert - {} missing"),
        ("Upsert", &format!(r#""ifMatch":"{quoted}""#), "Upsert - {} version"),
        ("Upsert", r#""ifMatch":"*","ifNoneMatch":"*""#, "Upsert - {} exists"),
        ("Replace", &format!(r#""ifMatch":"{ETAG}""#), "Replace 1 {} version"),
        ("Replace", r#""ifMatch":"odd""#, "Replace 1 {} no version"),
        ("Replace", r#""ifMatch":"","ifNoneMatch":null"#, "Replace 1 {} -"),
        ("Delete", &format!(r#""ifMatch":"{quoted}""#), "Delete 1 version"),
        ("Read", &format!(r#""ifMatch":"{quoted}""#), "Read 1 - version"),
        ("Read", &format!(r#""ifNoneMatch":"{quoted}""#), "Read 1 known -"),
        ("Read", r#""ifNoneMatch":"odd""#, "Read 1 - -"),
    ] {
        let operation = format!(r#"{{"operationType":"{kind}","id":"1",{body},{condition}}}"#);
        assert_eq!(words(&one(&operation).action), expected, "{operation}");
    }
    let any = one(r#"{"operationType":"Read","id":"1","ifNoneMatch":"*"}"#);
    assert!(any.knows_any_version);
}

#[test]
fn partition_keys_come_as_text_or_as_they_are() {
    for (key, expected) in [
        (r#""[\"a\"]""#, Some(r#"["a"]"#)),
        (r#"["a"]"#, Some(r#"["a"]"#)),
        (r#""[\"a\",1,null,{},true]""#, Some(r#"["a",1,null,{},true]"#)),
        (r#""[]""#, Some("[]")),
        ("null", None),
    ] {
        let operation = one(&format!(r#"{{"operationType":"Read","id":"1","partitionKey":{key}}}"#));
        assert_eq!(operation.partition_key.map(|key| key.to_json()).as_deref(), expected, "{key}");
    }
    assert!(one(r#"{"operationType":"Read","id":"1"}"#).partition_key.is_none());
}

#[test]
fn minimal_answers_are_asked_for_by_each_operation() {
    for (value, expected) in [("true", true), ("false", false), ("null", false)] {
        let text = format!(r#"{{"operationType":"Delete","id":"1","minimalReturnPreference":{value}}}"#);
        assert_eq!(one(&text).is_minimal, expected, "{value}");
    }
}

#[test]
fn the_last_of_two_members_counts() {
    let operation = one(r#"{"operationType":"Read","operationTyp\u0065":"Delete","id":"1","id":"2"}"#);
    assert_eq!(words(&operation.action), "Delete 2 -");
}

#[test]
fn items_are_views_of_the_body() {
    let body = Bytes::from_static(br#"[{"operationType":"Create","resourceBody":{"id":"1","n":1.0}}]"#);
    let operations = parse(&body).unwrap();
    let ItemAction::Put { body: ItemBody::Json(item), .. } = &operations[0].action else {
        panic!("{operations:?}")
    };
    assert_eq!(&item[..], br#"{"id":"1","n":1.0}"#);
    assert_eq!(item.as_ptr(), body[42..].as_ptr());
}

#[test]
fn wrong_operations_fail_by_themselves() {
    for (operation, word) in [
        (r#"{"operationType":"Create"}"#, "'resourceBody'"),
        (r#"{"operationType":"Replace","resourceBody":{}}"#, "'id'"),
        (r#"{"operationType":"Replace","id":"1"}"#, "'resourceBody'"),
        (r#"{"operationType":"Read"}"#, "'id'"),
        (r#"{"operationType":"Delete","id":7}"#, "'id' is no text"),
        (r#"{"operationType":"Patch","id":"1","resourceBody":{}}"#, "operations"),
        (r#"{"operationType":"Patch","id":"1","resourceBody":{"operations":[]}}"#, "operation"),
        (r#"{"operationType":"Patch","id":"1","resourceBody":[{"op":"no","path":"/a"}]}"#, "'no'"),
        (r#"{"operationType":"Read","id":"1","ifMatch":7}"#, "'ifMatch' is no text"),
        (r#"{"operationType":"Read","id":"1","ifNoneMatch":[]}"#, "'ifNoneMatch' is no text"),
        (r#"{"operationType":"Read","id":"1","partitionKey":"a"}"#, "'partitionKey'"),
        (r#"{"operationType":"Read","id":"1","partitionKey":7}"#, "'partitionKey'"),
        (r#"{"operationType":"Read","id":"1","partitionKey":"[[1]]"}"#, "'partitionKey'"),
        (r#"{"operationType":"Read","id":"1","minimalReturnPreference":1}"#, "'minimalReturnPreference'"),
        (r#"{"operationType":"Read","id":tru}"#, "'id' is not valid JSON"),
    ] {
        let operation = one(operation);
        let text = words(&operation.action);
        assert!(text.contains(word), "{text}");
        assert!(text.starts_with("Invalid "), "{text}");
    }
    let with_id = |length| format!(r#"{{"operationType":"Read","id":"{}"}}"#, "x".repeat(length - 2));
    assert!(words(&one(&with_id(BATCH_MEMBER_BYTES_MAX)).action).starts_with("Read"));
    assert!(words(&one(&with_id(BATCH_MEMBER_BYTES_MAX + 1)).action).starts_with("Invalid"));
}

#[test]
fn wrong_batches_are_refused_whole() {
    for (body, word) in [
        ("", "an array"),
        ("{}", "an array"),
        ("null", "an array"),
        ("[", "a value"),
        ("[]", "Batch request has no operations."),
        ("[5]", "operation 0 of the batch is no JSON object"),
        (r#"[{"operationType":"Read","id":"1"},[]]"#, "operation 1"),
        (r#"[{"operationType":"Read","id":"1"}"#, "a comma"),
        (r#"[{"operationType":"Read" "id":"1"}]"#, "a comma"),
        ("[{}]", "has no text 'operationType'"),
        (r#"[{"operationType":null}]"#, "has no text 'operationType'"),
        (r#"[{"operationType":4}]"#, "has no text 'operationType'"),
        (r#"[{"operationType":"Query"}]"#, "the unknown operationType 'Query'"),
        (r#"[{"operationType":"Read","id":"1","odd":[}]}]"#, "'odd'"),
        (r#"[{"operationType":"Read","\q":1}]"#, "name"),
    ] {
        let message = read(body).unwrap_err();
        assert!(message.contains(word), "{body}: {message}");
    }
    let hybrid_row = parse(&Bytes::from_static(&[0x81, 0, 0])).unwrap_err();
    assert!(hybrid_row.message.contains("HybridRow"), "{}", hybrid_row.message);
}

#[test]
fn operations_are_counted() {
    let body = |count| format!("[{}]", vec![r#"{"operationType":"Read","id":"1"}"#; count].join(","));
    assert_eq!(read(&body(BATCH_ACTIONS_MAX)).unwrap().len(), BATCH_ACTIONS_MAX);
    let message = read(&body(BATCH_ACTIONS_MAX + 1)).unwrap_err();
    assert_eq!(message, "Batch request has more operations than what is supported.");
}
