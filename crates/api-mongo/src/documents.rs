//! Documents as items, and items as documents.
//!
//! A document is stored as it is, `_id` included, with the `id` that other APIs know it by in front of it. A member
//! whose name belongs to the server there (`id`, `_ts`, ...) is stored with two dollars before its name, and so shown
//! by those. An item that was written without `_id` has its `id` for one.

use std::borrow::Cow;

use armilla_engine::Item;
use armilla_mongo_expression::codes;
use armilla_mongo_wire::document::{ESCAPED_LIFETIME_NAME, LIFETIME_NAME};
use armilla_mongo_wire::item_id::Origin;
use armilla_mongo_wire::{WireError, document};
use armilla_value::{Component, Object, PartitionKey, Value};

use crate::failure::{Failure, Result};

/// Returns the name under which a top-level member is stored.
pub(crate) fn stored_name(name: &str) -> Cow<'_, str> {
    document::name_in_item(name)
}

/// Returns the name that a stored top-level member has in a document.
pub(crate) fn shown_name(name: &str) -> &str {
    document::name_in_document(name)
}

/// Returns the body of the item that a document is stored as, and the id of that. The document has an `_id`.
pub(crate) fn to_body(document: Object) -> Result<(String, Value)> {
    let mut body = document::document_into_body(Origin::Mongo, document)?;
    if let Value::Object(members) = &mut body
        && members.get(LIFETIME_NAME).is_some_and(|value| !is_lifetime(value))
    {
        // Other APIs would refuse it: a member of this name says how long an item lives.
        *members = std::mem::take(members)
            .into_iter()
            .map(|(name, value)| {
                (if name == LIFETIME_NAME { ESCAPED_LIFETIME_NAME.to_owned() } else { name }, value)
            })
            .collect();
    }
    let id = body.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok((id, body))
}

/// Returns the id of an item.
pub(crate) fn id_of_item(item: &Item) -> String {
    item.stored().root().get("id").and_then(|id| id.as_str()).map(Cow::into_owned).unwrap_or_default()
}

/// Says whether a value is a time to live.
fn is_lifetime(value: &Value) -> bool {
    value.as_i64().is_some_and(|seconds| seconds == -1 || (1..=i64::from(i32::MAX)).contains(&seconds))
}

/// Returns the document that an item is.
pub(crate) fn of_item(item: &Item) -> Object {
    document::node_to_document(item.stored().root())
}

/// Appends the document that an item is, as BSON.
pub(crate) fn encode_item(item: &Item, out: &mut Vec<u8>) -> std::result::Result<(), WireError> {
    document::encode_node(item.stored().root(), out)
}

/// Puts the time into empty timestamps at the top of a document, but not into its `_id`.
pub(crate) fn fill_timestamps(document: &mut Object, now: (u32, u32)) {
    for (name, value) in document.iter_mut() {
        if name != "_id" && *value == (Value::Timestamp { seconds: 0, increment: 0 }) {
            *value = Value::Timestamp { seconds: now.0, increment: now.1 };
        }
    }
}

/// A top-level member of documents that is read of items.
#[derive(Debug, Clone)]
pub(crate) struct PartName {
    name: String,
    stored: String,
}

impl PartName {
    pub(crate) fn new(name: String) -> PartName {
        PartName { stored: stored_name(&name).into_owned(), name }
    }
}

/// Returns some top-level members of the document that an item is, and how long they are, about.
pub(crate) fn parts_of_item(item: &Item, names: &[PartName]) -> (Object, usize) {
    let stored = item.stored();
    let root = stored.root();
    let mut members = Vec::with_capacity(names.len());
    let mut bytes = 0;
    for PartName { name, stored } in names {
        let found = match name.as_str() {
            "_id" => root.get("_id").or_else(|| root.get("id")),
            // One without `_id` shows the id that it has in other APIs.
            "id" if root.get("_id").is_none() => root.get("id"),
            LIFETIME_NAME => root.get(LIFETIME_NAME).or_else(|| root.get(ESCAPED_LIFETIME_NAME)),
            _ => root.get(stored),
        };
        if let Some(node) = found {
            bytes += node.raw().len();
            members.push((name.clone(), node.to_value()));
        }
    }
    (members.into(), bytes)
}

/// Moves `_id` to the front, and gives one to a document that has none.
pub(crate) fn with_id_first(document: Object, make: impl FnOnce() -> Value) -> Object {
    let first = document.iter().next().is_some_and(|(name, _)| name == "_id");
    if first {
        return document;
    }
    let mut members: Vec<(String, Value)> = Vec::with_capacity(document.len() + 1);
    let mut document = document;
    let id = document.remove("_id").unwrap_or_else(make);
    members.push(("_id".to_owned(), id));
    members.extend(document);
    members.into()
}

/// Returns what lies at a path through objects alone.
pub(crate) fn at_path<'v>(document: &'v Object, path: &[String]) -> Option<&'v Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(document.get(shown_name(first))?, |value, name| value.get(name))
}

/// Returns the logical partition that a document lies in.
pub(crate) fn partition_key(document: &Object, shard_key: &[Vec<String>]) -> Result<PartitionKey> {
    let component = |path: &Vec<String>| match at_path(document, path) {
        None | Some(Value::Array(_)) => Err(Failure::new(
            codes::SHARD_KEY_NOT_FOUND,
            format!(
                "document does not contain required fields of the shard key: '{}' is missing, or lies in an array",
                path.join(".")
            ),
        )),
        Some(value) => Ok(Component::of(value)),
    };
    Ok(PartitionKey(shard_key.iter().map(component).collect::<Result<_>>()?))
}

/// Returns the logical partition of a stored item.
pub(crate) fn partition_key_of_item(item: &Item, shard_key: &[Vec<String>]) -> PartitionKey {
    let root = item.stored().root();
    let component = |path: &Vec<String>| {
        root.get_path(path).map_or(Component::Undefined, |node| Component::of(&node.to_value()))
    };
    PartitionKey(shard_key.iter().map(component).collect())
}
