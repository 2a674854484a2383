//! Values as messages show them, in the way of the server's log: `{ a: 1, b: [ "x" ] }`.

use std::fmt::Write;

use armilla_value::{Decimal, Legacy, Object, Value};

use crate::limits::MESSAGE_VALUE_BYTES_MAX;

/// Returns the text of a value.
pub(crate) fn render(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, &mut text);
    shorten(&mut text, MESSAGE_VALUE_BYTES_MAX);
    text
}

/// Returns the text of a named value: `a: 1`.
pub(crate) fn render_member(name: &str, value: &Value) -> String {
    format!("{name}: {}", render(value))
}

/// Returns the text of an object.
pub(crate) fn render_object(object: &Object) -> String {
    let mut text = String::new();
    write_object(object, &mut text);
    shorten(&mut text, MESSAGE_VALUE_BYTES_MAX);
    text
}

/// Returns how messages name a document: by its `_id`.
pub(crate) fn render_id(id: Option<&Value>) -> String {
    id.map_or_else(|| "no id".to_owned(), |id| render_member("_id", id))
}

/// Cuts a text that is too long.
pub(crate) fn shorten(text: &mut String, bytes_max: usize) {
    if text.len() > bytes_max {
        let end = (0..=bytes_max).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("...");
    }
}

// Writing to a `String` does not fail, so that results of `write!` are dropped below.
fn write_value(value: &Value, text: &mut String) {
    // What lies beyond the bound is cut anyway; this keeps large values from being written at all.
    if text.len() > MESSAGE_VALUE_BYTES_MAX {
        return;
    }
    let _ = match value {
        Value::Null => write!(text, "null"),
        Value::Bool(truth) => write!(text, "{truth}"),
        Value::Int32(number) => write!(text, "{number}"),
        Value::Int64(number) => write!(text, "{number}"),
        Value::Double(number) if number.is_finite() => write!(text, "{number:?}"),
        Value::Double(number) if number.is_nan() => write!(text, "nan"),
        Value::Double(number) => write!(text, "{}inf", if *number < 0.0 { "-" } else { "" }),
        Value::Decimal128(bytes) => write!(text, "{}", Decimal::from_bytes(bytes)),
        Value::String(string) => write!(text, "\"{string}\""),
        Value::ObjectId(bytes) => write!(text, "ObjectId('{}')", hex(bytes)),
        Value::Date(milliseconds) => write!(text, "new Date({milliseconds})"),
        Value::Binary { subtype, bytes } => {
            write!(text, "BinData({subtype}, {})", hex(&bytes[..bytes.len().min(MESSAGE_VALUE_BYTES_MAX)]))
        }
        Value::Timestamp { seconds, increment } => write!(text, "Timestamp({seconds}, {increment})"),
        Value::Regex { pattern, options } => write!(text, "/{pattern}/{options}"),
        Value::MinKey => write!(text, "MinKey"),
        Value::MaxKey => write!(text, "MaxKey"),
        Value::Array(elements) => {
            text.push('[');
            for (index, element) in elements.iter().enumerate() {
                if text.len() > MESSAGE_VALUE_BYTES_MAX {
                    break;
                }
                text.push_str(if index == 0 { " " } else { ", " });
                write_value(element, text);
            }
            write!(text, "{}", if elements.is_empty() { "]" } else { " ]" })
        }
        Value::Object(object) => {
            write_object(object, text);
            Ok(())
        }
        Value::Legacy(legacy) => match &**legacy {
            Legacy::Undefined => write!(text, "undefined"),
            Legacy::Code(code) | Legacy::CodeWithScope { code, .. } => write!(text, "{code}"),
            Legacy::Symbol(symbol) => write!(text, "\"{symbol}\""),
            Legacy::DbPointer { namespace, id } => write!(text, "DBRef('{namespace}', {})", hex(id)),
        },
    };
}

fn write_object(object: &Object, text: &mut String) {
    text.push('{');
    for (index, (name, value)) in object.iter().enumerate() {
        if text.len() > MESSAGE_VALUE_BYTES_MAX {
            break;
        }
        let _ = write!(text, "{}{name}: ", if index == 0 { " " } else { ", " });
        write_value(value, text);
    }
    text.push_str(if object.is_empty() { "}" } else { " }" });
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02X}");
        text
    })
}
