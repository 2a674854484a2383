//! A stored item to the BSON of its document, without a tree in between.
//!
//! What corruption made unreadable becomes null or is left out, as [`Node::to_value`] does it.

use armilla_value::{Kind, Node};

use super::{name_beside_id, name_in_document};
use crate::bson::{
    element_type as t, finish_document, start_document, type_of, write_index, write_name, write_string,
    write_value,
};
use crate::error::WireError;
use crate::item_id::unhex;
use crate::limits::WRITE_DEPTH_MAX;

/// Appends the document of an item. On an error nothing is appended.
///
/// Integers that came as JSON text are 64-bit ones, as the stored form has them.
pub fn encode_node(item: Node<'_>, out: &mut Vec<u8>) -> Result<(), WireError> {
    let start = out.len();
    let result = write_item(item, out);
    if result.is_err() {
        out.truncate(start);
    }
    result
}

fn write_item(item: Node<'_>, out: &mut Vec<u8>) -> Result<(), WireError> {
    let start = start_document(out);
    match item.get("_id") {
        Some(id) => {
            write_element("_id", id, 1, out)?;
            for (name, value) in item.members() {
                if name != "_id" && name != "id" {
                    write_element(name_in_document(&name), value, 1, out)?;
                }
            }
        }
        None => {
            if let Some(id) = item.get("id") {
                write_element("_id", id, 1, out)?;
            }
            for (name, value) in item.members() {
                write_element(name_beside_id(&name), value, 1, out)?;
            }
        }
    }
    finish_document(start, out)
}

fn write_element(name: &str, node: Node<'_>, depth: usize, out: &mut Vec<u8>) -> Result<(), WireError> {
    let type_at = out.len();
    write_name(0, name, out)?;
    out[type_at] = write_node(node, depth, out)?;
    Ok(())
}

/// Appends a value in a document of that depth and returns its type.
fn write_node(node: Node<'_>, depth: usize, out: &mut Vec<u8>) -> Result<u8, WireError> {
    Ok(match node.kind() {
        Kind::Object => {
            check_depth(depth + 1)?;
            let start = start_document(out);
            for (name, value) in node.members() {
                write_element(&name, value, depth + 1, out)?;
            }
            finish_document(start, out)?;
            t::OBJECT
        }
        Kind::Array => {
            check_depth(depth + 1)?;
            let start = start_document(out);
            for (index, element) in node.elements().enumerate() {
                let type_at = out.len();
                write_index(0, index, out);
                out[type_at] = write_node(element, depth + 1, out)?;
            }
            finish_document(start, out)?;
            t::ARRAY
        }
        Kind::String => match node.as_str() {
            Some(text) => {
                write_string(&text, out)?;
                t::STRING
            }
            None => t::NULL,
        },
        Kind::Int32 => match node.as_i64().and_then(|number| i32::try_from(number).ok()) {
            Some(number) => fixed(t::INT32, &number.to_le_bytes(), out),
            None => t::NULL,
        },
        Kind::Int64 => match node.as_i64() {
            Some(number) => fixed(t::INT64, &number.to_le_bytes(), out),
            None => t::NULL,
        },
        Kind::Double => match node.as_f64() {
            Some(number) => fixed(t::DOUBLE, &number.to_le_bytes(), out),
            None => t::NULL,
        },
        Kind::Bool => match node.as_bool() {
            Some(truth) => fixed(t::BOOL, &[u8::from(truth)], out),
            None => t::NULL,
        },
        Kind::Null => t::NULL,
        Kind::ObjectId => match object_id(node.raw()) {
            Some(bytes) => fixed(t::OBJECT_ID, &bytes, out),
            None => write_tree(node, depth, out)?,
        },
        Kind::Date => match date(node.raw()) {
            Some(ms) => fixed(t::DATE, &ms.to_le_bytes(), out),
            None => write_tree(node, depth, out)?,
        },
        _ => write_tree(node, depth, out)?,
    })
}

fn fixed(element_type: u8, bytes: &[u8], out: &mut Vec<u8>) -> u8 {
    out.extend_from_slice(bytes);
    element_type
}

/// Appends a value by way of a tree, which the rare types take.
fn write_tree(node: Node<'_>, depth: usize, out: &mut Vec<u8>) -> Result<u8, WireError> {
    let value = node.to_value();
    write_value(&value, depth, out)?;
    Ok(type_of(&value))
}

/// Reads an object id as it stands in the text of an item.
fn object_id(raw: &str) -> Option<[u8; 12]> {
    unhex(raw.strip_prefix(r#"{"$oid":""#)?.strip_suffix(r#""}"#)?)
}

/// Reads a date as it stands in the text of an item.
fn date(raw: &str) -> Option<i64> {
    raw.strip_prefix(r#"{"$date":{"$numberLong":""#)?.strip_suffix(r#""}}"#)?.parse().ok()
}

fn check_depth(depth: usize) -> Result<(), WireError> {
    if depth > WRITE_DEPTH_MAX { Err(WireError::too_deep()) } else { Ok(()) }
}
