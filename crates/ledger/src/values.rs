//! Which values say what a request is about when they come back, and the hashes that they are known by.
//!
//! Short texts and small numbers are left out: they are equal by chance. A number is the same one however it is written.

use armilla_value::json::{self, slice};
use armilla_value::{Component, Value};

use crate::hash;
use crate::limits::{WATCHED_CHARS_MIN, WATCHED_NUMBER_MIN};

/// Returns the hash of a text.
pub(crate) fn of_text(text: &str) -> Option<u64> {
    text.chars().nth(WATCHED_CHARS_MIN - 1)?;
    Some(hash::bytes(1, text.as_bytes()))
}

fn of_integer(number: i64) -> Option<u64> {
    (number >= WATCHED_NUMBER_MIN).then(|| hash::mix(2, number as u64))
}

fn of_double(number: f64) -> Option<u64> {
    // Two to the power of 63, from which on there is no such integer.
    const INTEGERS_END: f64 = 9_223_372_036_854_775_808.0;
    if number.fract() == 0.0 && number.abs() < INTEGERS_END {
        return of_integer(number as i64);
    }
    (number >= WATCHED_NUMBER_MIN as f64).then(|| hash::mix(3, number.to_bits()))
}

/// Returns the hash of a scalar in JSON text.
pub(crate) fn of_token(token: &[u8]) -> Option<u64> {
    match token.first()? {
        b'"' => of_text(&slice::string(token)?),
        b'0'..=b'9' => {
            let token = std::str::from_utf8(token).ok()?;
            match token.parse() {
                Ok(integer) => of_integer(integer),
                Err(_) => of_double(token.parse().ok()?),
            }
        }
        // Negative numbers are small.
        _ => None,
    }
}

/// Returns the hash of a level of a partition key.
pub(crate) fn of_component(component: &Component) -> Option<u64> {
    match component {
        Component::String(text) => of_text(text),
        Component::Number(number) => of_double(*number),
        Component::Undefined | Component::Null | Component::Bool(_) => None,
    }
}

/// Hands over the hashes of a value: a scalar's own, those of an array's elements.
pub(crate) fn each_of(value: &Value, found: &mut impl FnMut(u64)) {
    let hash = match value {
        Value::String(text) => of_text(text),
        Value::Int32(number) => of_integer(i64::from(*number)),
        Value::Int64(number) => of_integer(*number),
        Value::Double(number) => of_double(*number),
        Value::Array(elements) => {
            for element in elements.iter().filter(|element| !matches!(element, Value::Array(_))) {
                each_of(element, found);
            }
            None
        }
        // Items show it as an object with this text in it.
        Value::ObjectId(_) => json::extended_object(value)
            .and_then(|object| object.iter().next().and_then(|(_, inner)| of_text(inner.as_str()?))),
        _ => None,
    };
    if let Some(hash) = hash {
        found(hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_of(value: &Value) -> Vec<u64> {
        let mut hashes = Vec::new();
        each_of(value, &mut |hash| hashes.push(hash));
        hashes
    }

    #[test]
    fn a_value_has_one_hash_wherever_it_stands() {
        let text = |text: &str| Component::String(text.to_owned());
        for (token, value, component) in [
            (r#""user-1""#, Value::from("user-1"), text("user-1")),
            (r#""\u0075ser-1""#, Value::from("user-1"), text("user-1")),
            ("\"\u{e4}\u{f6}\u{fc}\"", Value::from("\u{e4}\u{f6}\u{fc}"), text("\u{e4}\u{f6}\u{fc}")),
            ("1000", Value::Int64(1_000), Component::Number(1_000.0)),
            ("1e3", Value::Int32(1_000), Component::Number(1_000.0)),
            ("1000.0", Value::Double(1_000.0), Component::Number(1_000.0)),
            ("1000.5", Value::Double(1_000.5), Component::Number(1_000.5)),
            ("1e300", Value::Double(1e300), Component::Number(1e300)),
        ] {
            let hash = of_token(token.as_bytes()).unwrap();
            assert_eq!(all_of(&value), [hash], "{token}");
            assert_eq!(of_component(&component), Some(hash), "{token}");
        }
        assert_ne!(of_token(b"1000"), of_token(b"\"1000\""));
        let id = Value::ObjectId([0xAB; 12]);
        assert_eq!(all_of(&id), [of_text("abababababababababababab").unwrap()]);
    }

    #[test]
    fn what_is_equal_by_chance_has_none() {
        for token in [
            "\"ab\"", "\"\"", "999", "999.5", "-5000", "-5000.5", "0", "true", "null", "{}", "[]", "", "\"",
            "x",
        ] {
            assert_eq!(of_token(token.as_bytes()), None, "{token}");
        }
        for value in
            [Value::Null, Value::Bool(true), Value::from("ab"), Value::Double(f64::NAN), Value::Int32(7)]
        {
            assert!(all_of(&value).is_empty(), "{value:?}");
        }
        assert_eq!(of_component(&Component::Number(f64::NEG_INFINITY)), None);
    }

    #[test]
    fn an_array_has_those_of_its_elements() {
        let list = Value::from(vec![Value::from("one"), Value::from(2_000), Value::from(1)]);
        assert_eq!(all_of(&list), [of_text("one").unwrap(), of_token(b"2000").unwrap()]);
    }
}
