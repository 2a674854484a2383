//! Values in messages, written as the server's shell-like notation has them.

use armilla_value::{Decimal, Value};

/// Writes a value on one line.
pub(crate) fn show(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// Writes a member with its name.
pub(crate) fn show_member(name: &str, value: &Value) -> String {
    format!("{name}: {}", show(value))
}

fn write(value: &Value, text: &mut String) {
    use std::fmt::Write;
    let written = match value {
        Value::Null => write!(text, "null"),
        Value::Bool(truth) => write!(text, "{truth}"),
        Value::Int32(number) => write!(text, "{number}"),
        Value::Int64(number) => write!(text, "{number}"),
        Value::Double(number) if number.is_nan() => write!(text, "nan.0"),
        Value::Double(number) if number.is_infinite() => {
            write!(text, "{}inf.0", if *number < 0.0 { "-" } else { "" })
        }
        Value::Double(number) => write!(text, "{number:?}"),
        Value::Decimal128(bytes) => write!(text, "{}", Decimal::from_bytes(bytes)),
        Value::String(string) => write!(text, "\"{string}\""),
        Value::Array(elements) => {
            text.push('[');
            for (index, element) in elements.iter().enumerate() {
                text.push_str(if index > 0 { ", " } else { " " });
                write(element, text);
            }
            write!(text, " ]")
        }
        Value::Object(object) if object.is_empty() => write!(text, "{{}}"),
        Value::Object(object) => {
            text.push('{');
            for (index, (name, member)) in object.iter().enumerate() {
                text.push_str(if index > 0 { ", " } else { " " });
                text.push_str(name);
                text.push_str(": ");
                write(member, text);
            }
            write!(text, " }}")
        }
        other => write!(text, "{}", armilla_value::json::to_string(other)),
    };
    // Writing into a string does not fail.
    let _ = written;
}
