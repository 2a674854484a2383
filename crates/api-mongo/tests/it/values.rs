//! Values as text, and how they are compared to the bit.

use armilla_value::{Object, Value, json};

/// Reads a value; apostrophes stand for quotation marks, and integers that fit are of 32 bits, as drivers send them.
#[track_caller]
pub(crate) fn value(text: &str) -> Value {
    let text = text.replace('\'', "\"");
    let mut value = json::parse_extended(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    narrow(&mut value);
    value
}

fn narrow(value: &mut Value) {
    match value {
        Value::Int64(number) => {
            if let Ok(number) = i32::try_from(*number) {
                *value = Value::Int32(number);
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(narrow),
        Value::Object(object) => object.iter_mut().for_each(|(_, value)| narrow(value)),
        _ => {}
    }
}

#[track_caller]
pub(crate) fn object(text: &str) -> Object {
    match value(text) {
        Value::Object(object) => object,
        other => panic!("{other:?} is no object"),
    }
}

/// Returns an object with one member.
pub(crate) fn single(name: &str, value: impl Into<Value>) -> Object {
    Object::from([(name, value.into())])
}

/// Writes a value so that two have the same text only if they are the same to the bit.
pub(crate) fn exactly(value: &Value) -> String {
    format!("{value:?}")
}

pub(crate) fn exactly_object(object: &Object) -> String {
    format!("{object:?}")
}

/// Writes an object as Extended JSON, for people.
pub(crate) fn shown(object: &Object) -> String {
    json::to_string(&Value::Object(object.clone()))
}
