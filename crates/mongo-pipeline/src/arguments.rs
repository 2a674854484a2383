//! Reading the arguments of stages: shapes, types and the texts of what is wrong.

use armilla_mongo_expression::{Error, Result, Scope, codes};
use armilla_value::{Object, Value, json};

use crate::limits::{DEPTH_MAX, SHOWN_CHARACTERS_MAX};

pub(crate) use armilla_mongo_expression::arithmetic::to_double as as_double;
pub(crate) use armilla_mongo_expression::{is_number, type_name};

/// Returns the object that a stage's argument must be.
pub(crate) fn object_or(value: &Value, code: i32, message: impl FnOnce() -> String) -> Result<&Object> {
    value.as_object().ok_or_else(|| Error::new(code, message()))
}

/// Refuses members that are not known, as the server's generated readers do.
pub(crate) fn known_members(stage: &str, object: &Object, known: &[&str]) -> Result<()> {
    match object.iter().find(|(name, _)| !known.contains(name)) {
        Some((name, _)) => Err(unknown_member(stage, name)),
        None => Ok(()),
    }
}

/// The failure of a member that is not known.
pub(crate) fn unknown_member(stage: &str, name: &str) -> Error {
    Error::new(40415, format!("BSON field '{stage}.{name}' is an unknown field."))
}

/// The failure of a member that is missing.
pub(crate) fn missing_member(stage: &str, name: &str) -> Error {
    Error::new(40414, format!("BSON field '{stage}.{name}' is missing but a required field"))
}

/// The failure of a member of the wrong type.
pub(crate) fn wrong_type(stage: &str, name: &str, value: &Value, expected: &str) -> Error {
    Error::new(
        codes::TYPE_MISMATCH,
        format!(
            "BSON field '{stage}.{name}' is the wrong type '{}', expected type '{expected}'",
            type_name(value)
        ),
    )
}

/// The failure of a stage's arguments in general.
pub(crate) fn failed(message: impl Into<String>) -> Error {
    Error::new(codes::FAILED_TO_PARSE, message)
}

/// Reads a number that must be an integer of at least zero, as `$limit` and `$skip` do.
pub(crate) fn non_negative(stage: &str, code: i32, value: &Value) -> Result<u64> {
    let refuse = |reason: String| {
        Err(Error::new(
            code,
            format!("invalid argument to {stage} stage: {reason} {stage}: {}", shown(value)),
        ))
    };
    match integer(value) {
        Integer::NotNumber => refuse("Expected a number in:".to_owned()),
        Integer::NaN => refuse("Expected an integer, but found NaN in:".to_owned()),
        Integer::Fraction => refuse("Expected an integer:".to_owned()),
        Integer::TooLarge => refuse("Cannot represent as a 64-bit integer:".to_owned()),
        Integer::Is(number) => match u64::try_from(number) {
            Ok(number) => Ok(number),
            Err(_) => refuse("Expected a non-negative number in:".to_owned()),
        },
    }
}

/// What a value is as an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Integer {
    NotNumber,
    NaN,
    Fraction,
    TooLarge,
    Is(i64),
}

/// Tells what a value is as an integer.
pub(crate) fn integer(value: &Value) -> Integer {
    let double = match value {
        Value::Int32(_) | Value::Int64(_) => return value.as_i64().map_or(Integer::NotNumber, Integer::Is),
        Value::Double(double) => *double,
        Value::Decimal128(_) => match as_double(value) {
            Some(double) => double,
            None => return Integer::NotNumber,
        },
        _ => return Integer::NotNumber,
    };
    if double.is_nan() {
        Integer::NaN
    } else if double.is_infinite() {
        Integer::TooLarge
    } else if double.trunc() != double {
        Integer::Fraction
    } else {
        Value::Double(double).as_i64().map_or(Integer::TooLarge, Integer::Is)
    }
}

/// Writes a value for a message, much as the server would: `{ a: 1, b: [ "x" ] }`.
pub(crate) fn shown(value: &Value) -> String {
    let mut text = String::new();
    show(value, 0, &mut text);
    if text.chars().count() > SHOWN_CHARACTERS_MAX {
        text = text.chars().take(SHOWN_CHARACTERS_MAX).chain("...".chars()).collect();
    }
    text
}

/// Writes a document for a message.
pub(crate) fn shown_object(object: &Object) -> String {
    shown(&Value::Object(object.clone()))
}

fn show(value: &Value, depth: usize, out: &mut String) {
    if out.len() > 4 * SHOWN_CHARACTERS_MAX || depth > DEPTH_MAX {
        return;
    }
    let separated = |index: usize| if index == 0 { " " } else { ", " };
    match value {
        Value::Array(elements) if elements.is_empty() => out.push_str("[]"),
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                out.push_str(separated(index));
                show(element, depth + 1, out);
            }
            out.push_str(" ]");
        }
        Value::Object(object) if object.is_empty() => out.push_str("{}"),
        Value::Object(object) => {
            out.push('{');
            for (index, (name, value)) in object.iter().enumerate() {
                out.push_str(separated(index));
                out.push_str(name);
                out.push_str(": ");
                show(value, depth + 1, out);
            }
            out.push_str(" }");
        }
        Value::ObjectId(_) | Value::Date(_) => {
            let text = json::to_string(value);
            let inner = text.split('"').nth(3).unwrap_or(&text).to_owned();
            match value {
                Value::ObjectId(_) => out.push_str(&format!("ObjectId('{inner}')")),
                _ => out.push_str(&inner),
            }
        }
        _ => out.push_str(&json::to_string(value)),
    }
}

/// Returns a scope with more names.
pub(crate) fn scope_with<'a>(scope: &Scope, names: impl IntoIterator<Item = &'a str>) -> Scope {
    let mut scope = scope.clone();
    for name in names {
        if !scope.variables.iter().any(|known| known == name) {
            scope.variables.push(name.to_owned());
        }
    }
    scope
}

/// Checks the name of a variable that a stage defines.
pub(crate) fn check_variable_name(name: &str) -> Result<()> {
    let mut characters = name.chars();
    let Some(first) = characters.next() else {
        return Err(Error::new(codes::FAILED_TO_PARSE, "empty variable names are not allowed"));
    };
    if first.is_ascii() && !first.is_ascii_lowercase() {
        return Err(Error::new(
            codes::FAILED_TO_PARSE,
            format!("'{name}' starts with an invalid character for a user variable name"),
        ));
    }
    match characters
        .find(|character| !(character.is_ascii_alphanumeric() || *character == '_' || !character.is_ascii()))
    {
        None => Ok(()),
        Some(character) => Err(Error::new(
            codes::FAILED_TO_PARSE,
            format!("'{name}' contains an invalid character for a variable name: '{character}'"),
        )),
    }
}
