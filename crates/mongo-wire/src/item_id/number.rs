//! One spelling for each number, whichever of the four types it has.
//!
//! An integer of 64 bits is written in digits, any other double in its shortest form, and a decimal that is neither
//! with an `m` behind its digits: the double `0.1` and the decimal `0.1` are two numbers.

use armilla_value::{Decimal, Value, key};

/// Returns the number with the type that all equal ones share: a 64-bit integer where it is one, else a double
/// where it is one, else a decimal.
pub(super) fn canonical(number: &Value) -> Value {
    match number {
        Value::Int32(whole) => Value::Int64(i64::from(*whole)),
        Value::Int64(_) => number.clone(),
        _ => {
            // Key bytes are equal where numbers are, and say everything about the number but its type.
            let mut bytes = Vec::new();
            key::encode_value(number, &mut bytes);
            key::decode(&bytes).map_or_else(|_| number.clone(), |(number, _)| number)
        }
    }
}

/// Returns the text of a number.
pub(super) fn text(number: &Value) -> String {
    match canonical(number) {
        Value::Int64(whole) => whole.to_string(),
        Value::Double(double) if double.is_nan() => "NaN".to_owned(),
        Value::Double(double) if double.is_infinite() => {
            if double > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
        }
        Value::Double(double) => format!("{double:?}"),
        Value::Decimal128(bytes) => format!("{}m", Decimal::from_bytes(&bytes)),
        _ => String::new(),
    }
}

/// Reads a number; the caller sees to it that only one spelling of each is taken.
pub(super) fn parse(text: &str) -> Option<Value> {
    if let Some(decimal) = text.strip_suffix('m') {
        return Some(Value::Decimal128(decimal.parse::<Decimal>().ok()?.to_bytes()));
    }
    Some(match text {
        "NaN" => Value::Double(f64::NAN),
        "Infinity" => Value::Double(f64::INFINITY),
        "-Infinity" => Value::Double(f64::NEG_INFINITY),
        _ => match text.parse() {
            Ok(whole) => Value::Int64(whole),
            Err(_) => Value::Double(text.parse().ok()?),
        },
    })
}
