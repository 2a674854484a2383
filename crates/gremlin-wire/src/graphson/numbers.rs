//! Numbers of GraphSON.

use std::sync::Arc;

use armilla_gremlin_value::Value;

use crate::error::Fault;
use crate::json::{Json, is_number};

/// Reads a number without a type: an integer as narrow as it fits, from 32 bits on, or a double.
pub(super) fn plain(text: &str) -> Value {
    if !text.contains(['.', 'e', 'E']) {
        if let Ok(number) = text.parse() {
            return Value::Int32(number);
        }
        if let Ok(number) = text.parse() {
            return Value::Int64(number);
        }
        if let Ok(number) = text.parse() {
            return Value::BigInteger(number);
        }
    }
    Value::Double(text.parse().unwrap_or(f64::NAN))
}

/// Reads an integer of a type, which some drivers write as text.
pub(super) fn integer<T: std::str::FromStr>(json: &Json<'_>, name: &str) -> Result<T, Fault> {
    let text = match json {
        Json::Number(text) => text,
        Json::Text(text) => text.as_ref(),
        _ => return Err(Fault::new(format!("The value of {name} is not a number."))),
    };
    text.parse().map_err(|_| Fault::new(format!("The value of {name} is not an integer of its range.")))
}

/// Reads a number with a fraction, or one of the words for what JSON has no number for.
pub(super) fn fraction<T: std::str::FromStr>(json: &Json<'_>, name: &str) -> Result<T, Fault> {
    let text = match json {
        Json::Number(text) => text,
        Json::Text(text) => match text.as_ref() {
            "NaN" => "NaN",
            "Infinity" | "+Infinity" => "inf",
            "-Infinity" => "-inf",
            text if is_number(text) => text,
            _ => "",
        },
        _ => "",
    };
    text.parse().map_err(|_| Fault::new(format!("The value of {name} is not a number.")))
}

/// Reads a decimal number, which keeps its text.
pub(super) fn decimal(json: &Json<'_>) -> Result<Value, Fault> {
    let text = match json {
        Json::Number(text) => text,
        Json::Text(text) if is_number(text) => text.as_ref(),
        _ => return Err(Fault::new("The value of gx:BigDecimal is not a number.")),
    };
    Ok(Value::BigDecimal(Arc::from(text)))
}
