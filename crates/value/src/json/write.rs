//! A [`Value`] to JSON text without white space.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::string::find_special;
use crate::decimal::Decimal;
use crate::value::{Legacy, Object, Value};

/// Appends the JSON text of a value; what JSON lacks is written as canonical Extended JSON.
pub fn write(value: &Value, out: &mut Vec<u8>) {
    write_with(value, write_scalar, out);
}

fn write_with(value: &Value, scalars: fn(&Value, &mut Vec<u8>), out: &mut Vec<u8>) {
    match value {
        Value::Array(elements) => {
            out.push(b'[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_with(element, scalars, out);
            }
            out.push(b']');
        }
        Value::Object(object) => write_object(object, scalars, out),
        scalar => scalars(scalar, out),
    }
}

fn write_object(object: &Object, scalars: fn(&Value, &mut Vec<u8>), out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (name, value)) in object.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(name, out);
        out.push(b':');
        write_with(value, scalars, out);
    }
    out.push(b'}');
}

/// Returns the JSON text of a value.
pub fn to_string(value: &Value) -> String {
    let mut out = Vec::new();
    write(value, &mut out);
    String::from_utf8(out).expect("written text is UTF-8")
}

/// Appends a string as a JSON token, escaping only what JSON requires.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.push(b'"');
    let mut run_start = 0;
    loop {
        let at = find_special(bytes, run_start);
        out.extend_from_slice(&bytes[run_start..at]);
        let Some(&byte) = bytes.get(at) else { break };
        write_escape(byte, out);
        run_start = at + 1;
    }
    out.push(b'"');
}

/// Appends a string as a JSON token of ASCII characters alone, as headers need it.
pub fn write_ascii_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for character in text.chars() {
        match character {
            '"' | '\\' | '\0'..='\x1F' => write_escape(character as u8, out),
            ' '..='~' => out.push(character as u8),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    append(out, format_args!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push(b'"');
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        0x08 => b'b',
        0x0C => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => return append(out, format_args!("\\u{byte:04x}")),
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Appends a value that is neither array nor object; for those it appends nothing.
pub(crate) fn write_scalar(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Int32(number) => write_integer(i64::from(*number), out),
        Value::Int64(number) => write_integer(*number, out),
        Value::Double(number) => write_double(*number, out),
        Value::String(text) => write_string(text, out),
        Value::Decimal128(bytes) => {
            append(out, format_args!("{{\"$numberDecimal\":\"{}\"}}", Decimal::from_bytes(bytes)));
        }
        Value::ObjectId(bytes) => {
            out.extend_from_slice(b"{\"$oid\":\"");
            for byte in bytes {
                append(out, format_args!("{byte:02x}"));
            }
            out.extend_from_slice(b"\"}");
        }
        Value::Date(ms) => append(out, format_args!("{{\"$date\":{{\"$numberLong\":\"{ms}\"}}}}")),
        Value::Binary { subtype, bytes } => append(
            out,
            format_args!(
                "{{\"$binary\":{{\"base64\":\"{}\",\"subType\":\"{subtype:02x}\"}}}}",
                STANDARD.encode(bytes)
            ),
        ),
        Value::Timestamp { seconds, increment } => {
            append(out, format_args!("{{\"$timestamp\":{{\"t\":{seconds},\"i\":{increment}}}}}"));
        }
        Value::Regex { pattern, options } => {
            out.extend_from_slice(b"{\"$regularExpression\":{\"pattern\":");
            write_string(pattern, out);
            out.extend_from_slice(b",\"options\":");
            write_string(options, out);
            out.extend_from_slice(b"}}");
        }
        Value::MinKey => out.extend_from_slice(b"{\"$minKey\":1}"),
        Value::MaxKey => out.extend_from_slice(b"{\"$maxKey\":1}"),
        Value::Legacy(legacy) => write_legacy(legacy, out),
        Value::Array(_) | Value::Object(_) => {}
    }
}

fn write_legacy(legacy: &Legacy, out: &mut Vec<u8>) {
    match legacy {
        Legacy::Undefined => out.extend_from_slice(b"{\"$undefined\":true"),
        Legacy::Code(code) => {
            out.extend_from_slice(b"{\"$code\":");
            write_string(code, out);
        }
        Legacy::CodeWithScope { code, scope } => {
            out.extend_from_slice(b"{\"$code\":");
            write_string(code, out);
            out.extend_from_slice(b",\"$scope\":");
            write_object(scope, write_typed_scalar, out);
        }
        Legacy::Symbol(text) => {
            out.extend_from_slice(b"{\"$symbol\":");
            write_string(text, out);
        }
        Legacy::DbPointer { namespace, id } => {
            out.extend_from_slice(b"{\"$dbPointer\":{\"$ref\":");
            write_string(namespace, out);
            out.extend_from_slice(b",\"$id\":");
            write_scalar(&Value::ObjectId(*id), out);
            out.push(b'}');
        }
    }
    out.push(b'}');
}

/// Appends a scalar inside a scope: a stored item has no skeleton there that could tell the 32-bit integers.
pub(super) fn write_typed_scalar(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Int32(number) => append(out, format_args!("{{\"$numberInt\":\"{number}\"}}")),
        value => write_scalar(value, out),
    }
}

/// Appends an integer in decimal.
fn write_integer(number: i64, out: &mut Vec<u8>) {
    append(out, format_args!("{number}"));
}

/// Appends a double in the shortest form that reads back the same and as a double: `1.0`, `0.1`, `1e300`.
fn write_double(number: f64, out: &mut Vec<u8>) {
    if number.is_finite() {
        append(out, format_args!("{number:?}"));
    } else if number.is_nan() {
        out.extend_from_slice(b"{\"$numberDouble\":\"NaN\"}");
    } else if number > 0.0 {
        out.extend_from_slice(b"{\"$numberDouble\":\"Infinity\"}");
    } else {
        out.extend_from_slice(b"{\"$numberDouble\":\"-Infinity\"}");
    }
}

fn append(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a vector does not fail");
}
