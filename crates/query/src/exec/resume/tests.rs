//! Resume filters as clients write them.

use armilla_value::Value;

use super::*;
use crate::error::ErrorKind;
use crate::exec::testing::value;

fn parse(text: &str) -> Result<ResumeFilter> {
    ResumeFilter::parse(&value(text), |rid| rid.strip_prefix("rid").and_then(|number| number.parse().ok()))
}

#[test]
fn what_clients_send() {
    let one = |value| vec![ResumeValue::Value(value)];
    for (text, values, number, exclude) in [
        (r#"{"value":[5],"exclude":true}"#, one(Value::Int64(5)), None, true),
        (r#"{"value":["a"],"rid":"rid7","exclude":false}"#, one(Value::from("a")), Some(7), false),
        (r#"{"value":[null]}"#, one(Value::Null), None, false),
        (r#"{"value":[[]],"rid":null}"#, vec![ResumeValue::Undefined], None, false),
        (r#"{"value":[{"type":"array","low":1,"high":2}]}"#, vec![ResumeValue::SomeArray], None, false),
        (r#"{"value":[{"type":"object","low":1,"high":2}]}"#, vec![ResumeValue::SomeObject], None, false),
        (r#"{"value":[]}"#, vec![], None, false),
    ] {
        assert_eq!(parse(text).unwrap(), ResumeFilter { values, number, exclude }, "{text}");
    }
}

#[test]
fn what_is_refused() {
    for text in [
        "5",
        "{}",
        r#"{"value":5}"#,
        r#"{"value":[[1]]}"#,
        r#"{"value":[{"type":"number"}]}"#,
        r#"{"value":[{}]}"#,
        r#"{"value":[1],"rid":"nonsense"}"#,
        r#"{"value":[1],"rid":5}"#,
        r#"{"value":[1],"exclude":1}"#,
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Continuation, "{text}");
        assert!(error.message.starts_with("resume filter is malformed: "), "{text}");
    }
}
