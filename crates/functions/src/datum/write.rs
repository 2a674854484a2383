//! Data to JSON text as query results show it.
//!
//! Differs from `json::write` in numbers alone: whole doubles have no fraction, and what is not finite is a
//! string. A value of a stored item is copied as it was written.

use std::io::Write;

use armilla_value::{Value, json};

use super::Datum;

/// From here on a double is written with an exponent, as JavaScript does.
const EXPONENT_FROM: f64 = 1e21;
/// Below this, too.
const EXPONENT_BELOW: f64 = 1e-6;

impl Datum<'_> {
    /// Appends the JSON text; for undefined, nothing.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Datum::Undefined => {}
            Datum::Null => out.extend_from_slice(b"null"),
            Datum::Bool(true) => out.extend_from_slice(b"true"),
            Datum::Bool(false) => out.extend_from_slice(b"false"),
            Datum::Int(number) => write_integer(*number, out),
            Datum::Double(number) => write_double_json(*number, out),
            Datum::Str(text) => json::write_string(text, out),
            Datum::Node(node) => {
                let raw = node.raw();
                // Only corruption leaves nothing to copy; the page must stay JSON all the same.
                out.extend_from_slice(if raw.is_empty() { "null" } else { raw }.as_bytes());
            }
            Datum::Value(value) => write_value(value, out),
        }
    }

    /// Returns the JSON text; empty for undefined.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.write_json(&mut out);
        String::from_utf8(out).expect("written text is UTF-8")
    }
}

fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Array(elements) => {
            out.push(b'[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_value(element, out);
            }
            out.push(b']');
        }
        Value::Object(object) => {
            out.push(b'{');
            for (index, (name, value)) in object.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                json::write_string(name, out);
                out.push(b':');
                write_value(value, out);
            }
            out.push(b'}');
        }
        Value::Double(number) => write_double_json(*number, out),
        Value::Int64(number) => write_integer(*number, out),
        scalar => json::write(scalar, out),
    }
}

fn write_double_json(number: f64, out: &mut Vec<u8>) {
    if number.is_finite() {
        return write_double(number, out);
    }
    out.push(b'"');
    write_double(number, out);
    out.push(b'"');
}

/// Appends a double in its shortest form: `3`, `0.1`, `1e21`, `NaN`, `-Infinity`.
pub fn write_double(number: f64, out: &mut Vec<u8>) {
    let size = number.abs();
    if number == 0.0 {
        out.push(b'0');
    } else if number.is_nan() {
        out.extend_from_slice(b"NaN");
    } else if size.is_infinite() {
        out.extend_from_slice(if number > 0.0 { b"Infinity" } else { b"-Infinity" });
    } else if size < super::INT64_END && number.trunc() == number {
        // All digits, because a reader that takes them for an integer must get the same number.
        write_integer(number as i64, out);
    } else if (EXPONENT_BELOW..EXPONENT_FROM).contains(&size) {
        append(out, format_args!("{number}"));
    } else {
        append(out, format_args!("{number:e}"));
    }
}

/// Appends an integer in decimal.
pub fn write_integer(number: i64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

fn append(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a vector does not fail");
}
