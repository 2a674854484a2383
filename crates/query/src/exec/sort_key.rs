//! Sort keys: the values of ORDER BY as bytes whose order is the order asked for.
//!
//! A key is, for each expression, what the index holds for the value: key bytes of scalars, class and structural
//! fingerprint of arrays and objects, every byte inverted where the order is descending. Unlike terms of the index,
//! strings are never cut. So a walk through an index and a sort in memory give the same order.
//!
//! With several expressions arrays and objects count as undefined, as in the composite index that serves them.

use armilla_functions::Datum;
use armilla_index::term;
use armilla_value::key::{self, class};
use armilla_value::{Kind, Legacy, Value};

use crate::bound::OrderKey;
use crate::error::Result;
use crate::eval::Evaluator;
use crate::frame::Frame;

/// Appends the sort key of a row.
pub(super) fn push_sort_key(
    evaluator: &Evaluator<'_>,
    order: &[OrderKey],
    frame: &Frame<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    for OrderKey { expr, descending } in order {
        let value = evaluator.eval(expr, frame)?;
        push_component(&value, *descending, order.len() > 1, out);
    }
    Ok(())
}

/// Returns the sort key of an item that lacks every path.
pub(super) fn undefined_key(order: &[OrderKey]) -> Vec<u8> {
    let mut key = Vec::new();
    for OrderKey { descending, .. } in order {
        push_component(&Datum::Undefined, *descending, order.len() > 1, &mut key);
    }
    key
}

/// Appends one value.
pub(super) fn push_component(value: &Datum<'_>, descending: bool, scalars_only: bool, out: &mut Vec<u8>) {
    let start = out.len();
    match value {
        Datum::Undefined => key::encode_undefined(out),
        Datum::Null => out.push(class::NULL),
        Datum::Bool(truth) => out.push(if *truth { class::TRUE } else { class::FALSE }),
        Datum::Int(number) => key::encode_value(&Value::Int64(*number), out),
        Datum::Double(number) => key::encode_value(&Value::Double(*number), out),
        Datum::Str(text) => key::encode_string(text, out),
        Datum::Node(node) => match node.kind() {
            Kind::Array | Kind::Object if scalars_only => key::encode_undefined(out),
            Kind::Array | Kind::Object => term::push_node(*node, out),
            Kind::Legacy => push_legacy(&node.to_value(), out),
            _ => key::encode_node(*node, out),
        },
        Datum::Value(value) => match value.kind() {
            Kind::Array | Kind::Object if scalars_only => key::encode_undefined(out),
            Kind::Array | Kind::Object => term::push_value(value, out),
            Kind::Legacy => push_legacy(value, out),
            _ => key::encode_value(value, out),
        },
    }
    if descending {
        invert(&mut out[start..]);
    }
}

/// Appends a value of a type that BSON deprecated: code with a scope is in the index by a fingerprint, as an object is.
fn push_legacy(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Legacy(legacy) if matches!(**legacy, Legacy::CodeWithScope { .. }) => {
            term::push_value(value, out);
        }
        value => key::encode_value(value, out),
    }
}

/// Appends where arrays or objects begin in the order.
pub(super) fn push_class_start(class_byte: u8, descending: bool, out: &mut Vec<u8>) {
    out.push(if descending { !class_byte } else { class_byte });
}

/// Inverts every byte, which turns the order round.
pub(super) fn invert(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = !*byte;
    }
}
