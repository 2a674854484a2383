//! Values and stored nodes to key bytes.

use super::escape::{escape, escape_mapped};
use super::{END, class, number};
use crate::number::Number;
use crate::stored::Node;
use crate::utf16::{reorder, utf16_cmp};
use crate::value::{Kind, Legacy, Object, Value};

/// Appends the key bytes of a value.
pub fn encode_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(class::NULL),
        Value::Bool(truth) => encode_bool(*truth, out),
        Value::Int32(_) | Value::Int64(_) | Value::Double(_) | Value::Decimal128(_) => {
            out.push(class::NUMBER);
            number::encode(Number::of(value).expect("the kinds matched are numbers"), out);
        }
        Value::String(text) => encode_string(text, out),
        Value::Array(elements) => {
            out.push(class::ARRAY);
            for element in elements {
                encode_value(element, out);
            }
            out.push(END);
        }
        Value::Object(object) => encode_object(object, out),
        Value::MinKey => out.push(class::MIN_KEY),
        Value::MaxKey => out.push(class::MAX_KEY),
        Value::Binary { subtype, bytes } => {
            out.push(class::BINARY);
            out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
            out.push(*subtype);
            out.extend_from_slice(bytes);
        }
        Value::ObjectId(bytes) => {
            out.push(class::OBJECT_ID);
            out.extend_from_slice(bytes);
        }
        Value::Date(ms) => {
            out.push(class::DATE);
            out.extend_from_slice(&(*ms ^ i64::MIN).to_be_bytes());
        }
        Value::Timestamp { seconds, increment } => {
            out.push(class::TIMESTAMP);
            out.extend_from_slice(&seconds.to_be_bytes());
            out.extend_from_slice(&increment.to_be_bytes());
        }
        Value::Regex { pattern, options } => {
            out.push(class::REGEX);
            escape(pattern.as_bytes(), out);
            escape(options.as_bytes(), out);
        }
        Value::Legacy(legacy) => encode_legacy(legacy, out),
    }
}

fn encode_object(object: &Object, out: &mut Vec<u8>) {
    out.push(class::OBJECT);
    for (name, value) in object.sorted() {
        encode_string(name, out);
        encode_value(value, out);
    }
    out.push(END);
}

fn encode_legacy(legacy: &Legacy, out: &mut Vec<u8>) {
    match legacy {
        Legacy::Undefined => out.push(class::UNDEFINED_VALUE),
        Legacy::Code(code) => {
            out.push(class::CODE);
            escape(code.as_bytes(), out);
        }
        Legacy::CodeWithScope { code, scope } => {
            out.push(class::CODE_WITH_SCOPE);
            escape(code.as_bytes(), out);
            encode_object(scope, out);
        }
        Legacy::Symbol(text) => {
            out.push(class::SYMBOL);
            escape(text.as_bytes(), out);
        }
        Legacy::DbPointer { namespace, id } => {
            out.push(class::DB_POINTER);
            out.extend_from_slice(&(namespace.len() as u32).to_be_bytes());
            out.extend_from_slice(namespace.as_bytes());
            out.extend_from_slice(id);
        }
    }
}

/// Appends the key bytes of a value inside a stored item, without building it; equal to those of the value.
pub fn encode_node(node: Node<'_>, out: &mut Vec<u8>) {
    match node.kind() {
        Kind::Null => out.push(class::NULL),
        Kind::Bool => encode_bool(node.as_bool().unwrap_or_default(), out),
        Kind::Int32 | Kind::Int64 => {
            out.push(class::NUMBER);
            number::encode(Number::Int(node.as_i64().unwrap_or_default()), out);
        }
        Kind::Double => encode_number(node.as_f64().unwrap_or_default(), out),
        Kind::String => encode_string(&node.as_str().unwrap_or_default(), out),
        Kind::Array => {
            out.push(class::ARRAY);
            for element in node.elements() {
                encode_node(element, out);
            }
            out.push(END);
        }
        Kind::Object => {
            out.push(class::OBJECT);
            let mut members: Vec<_> = node.members().collect();
            members.sort_unstable_by(|left, right| utf16_cmp(&left.0, &right.0));
            for (name, value) in members {
                encode_string(&name, out);
                encode_node(value, out);
            }
            out.push(END);
        }
        _ => encode_value(&node.to_value(), out),
    }
}

/// Appends the key bytes of an absent value, which sort before all others.
pub fn encode_undefined(out: &mut Vec<u8>) {
    out.push(class::UNDEFINED);
}

/// Appends the key bytes of a string.
pub fn encode_string(text: &str, out: &mut Vec<u8>) {
    out.push(class::STRING);
    escape_mapped(text.as_bytes(), reorder, out);
}

/// Appends the key bytes of a double, which are those of every number equal to it.
pub fn encode_number(double: f64, out: &mut Vec<u8>) {
    out.push(class::NUMBER);
    number::encode(Number::Double(double), out);
}

fn encode_bool(truth: bool, out: &mut Vec<u8>) {
    out.push(if truth { class::TRUE } else { class::FALSE });
}
