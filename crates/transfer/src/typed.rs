//! What a field of a CSV file means: text, or what it looks like.

use std::borrow::Cow;

use armilla_value::{Value, json};

/// Digits up to which every whole number is a double of its own.
const EXACT_DIGITS_MAX: usize = 15;

/// Returns the value of a field; nothing for an empty one, if types are inferred.
pub(crate) fn value(field: Cow<'_, str>, infers: bool) -> Option<Value> {
    if !infers {
        return Some(Value::String(field.into_owned()));
    }
    match field.as_ref() {
        "" => None,
        "true" | "TRUE" | "True" => Some(Value::Bool(true)),
        "false" | "FALSE" | "False" => Some(Value::Bool(false)),
        text if is_number(text) => json::parse(text.as_bytes()).ok(),
        _ => Some(Value::String(field.into_owned())),
    }
}

/// Whether a text is a number as JSON writes it that keeps all of its digits.
///
/// Numbers with leading zeros or more digits than a double keeps are rather names of something, such as postal codes and
/// card numbers: as numbers they would be changed.
fn is_number(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let begins = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let ends = text.ends_with(|last: char| last.is_ascii_digit());
    begins
        && ends
        && digits <= EXACT_DIGITS_MAX
        && matches!(json::parse(text.as_bytes()), Ok(value) if value.as_f64().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fields_mean() {
        for (field, expected) in [
            ("", None),
            ("7", Some("7")),
            ("-7.5", Some("-7.5")),
            ("1e3", Some("1000.0")),
            ("0", Some("0")),
            ("007", Some("\"007\"")),
            ("0123", Some("\"0123\"")),
            ("+1", Some("\"+1\"")),
            ("1.", Some("\"1.\"")),
            (".5", Some("\".5\"")),
            (" 1", Some("\" 1\"")),
            ("1 ", Some("\"1 \"")),
            ("NaN", Some("\"NaN\"")),
            ("123456789012345", Some("123456789012345")),
            ("1234567890123456", Some("\"1234567890123456\"")),
            ("true", Some("true")),
            ("FALSE", Some("false")),
            ("tRUE", Some("\"tRUE\"")),
            ("null", Some("\"null\"")),
            ("{}", Some("\"{}\"")),
            ("1e999", Some("\"1e999\"")),
        ] {
            let found = value(field.into(), true).map(|value| json::to_string(&value));
            assert_eq!(found.as_deref(), expected, "{field}");
            let text = value(field.into(), false).unwrap();
            assert_eq!(text.as_str(), Some(field));
        }
    }
}
