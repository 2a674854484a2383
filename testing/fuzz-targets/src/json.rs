//! JSON in and out: what is read is written as text that reads the same, and another reader agrees about what is JSON.

use armilla_value::Value;
use armilla_value::json::{self, JsonErrorKind};
use serde_json::Value as Other;

/// Reads bytes as JSON, by our reader and by another.
pub fn json(data: &[u8]) {
    let (ours, other) = (json::parse(data), serde_json::from_slice::<Other>(data));
    match (&ours, &other) {
        (Ok(ours), Ok(other)) => assert!(is_same(ours, other), "{ours:?} and {other:?}"),
        (Err(error), _) if error.kind == JsonErrorKind::TooDeep => {}
        (_, Err(error)) if error.to_string().contains("recursion limit exceeded") => {}
        (Err(_), Err(_)) => {}
        (ours, other) => panic!("{ours:?} and {other:?}"),
    }
    let Ok(value) = ours else { return };
    round_trip(&value);
    let extended = json::parse_extended(data).unwrap_or_else(|error| panic!("{error}"));
    let written = json::to_string(&extended);
    let again = json::parse_extended(written.as_bytes()).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(json::to_string(&again), written);
}

fn round_trip(value: &Value) {
    let written = json::to_string(value);
    let read = json::parse(written.as_bytes()).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(read, *value, "{written}");
    assert_eq!(json::to_string(&read), written);
}

fn is_same(ours: &Value, other: &Other) -> bool {
    match (ours, other) {
        (Value::Null, Other::Null) => true,
        (Value::Bool(ours), Other::Bool(other)) => ours == other,
        (Value::String(ours), Other::String(other)) => ours == other,
        (Value::Array(ours), Other::Array(other)) => {
            ours.len() == other.len() && ours.iter().zip(other).all(|(ours, other)| is_same(ours, other))
        }
        (Value::Object(ours), Other::Object(other)) => {
            ours.len() == other.len()
                && other.iter().all(|(name, other)| ours.get(name).is_some_and(|ours| is_same(ours, other)))
        }
        (number, Other::Number(other)) => match (number.as_i64(), other.as_i64()) {
            (Some(ours), Some(other)) => ours == other,
            _ => number.as_f64().is_some_and(|ours| Some(ours) == other.as_f64()),
        },
        _ => false,
    }
}
