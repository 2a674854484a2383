//! Documents as items, and items as documents.
//!
//! A document is stored as it is, `_id` included, with the `id` that other APIs know it by in front of it. A member
//! whose name belongs to the server there (`id`, `_ts`, ...) is stored with two dollars before its name, and so shown
//! by those. An item that was written without `_id` has its `id` for one.

use armilla_engine::Item;
use armilla_mongo_expression::{codes, type_name};
use armilla_mongo_wire::item_id;
use armilla_value::{Component, Object, PartitionKey, Value};

use crate::failure::{Failure, Result};

/// Names that belong to the server in other APIs.
const SYSTEM_NAMES: [&str; 6] = ["id", "_rid", "_self", "_etag", "_ts", "_attachments"];
/// What stands before such a name where it is a document's own.
const PREFIX: &str = "$$";

/// Returns the name under which a top-level member is stored.
pub(crate) fn stored_name(name: &str) -> std::borrow::Cow<'_, str> {
    if SYSTEM_NAMES.contains(&name) { format!("{PREFIX}{name}").into() } else { name.into() }
}

/// Returns the name that a stored top-level member has in a document.
pub(crate) fn shown_name(name: &str) -> &str {
    name.strip_prefix(PREFIX).filter(|rest| SYSTEM_NAMES.contains(rest)).unwrap_or(name)
}

/// Checks the `_id` of a document that is to be stored.
pub(crate) fn check_id(id: &Value) -> Result<()> {
    match id {
        Value::Array(_) | Value::Regex { .. } => Err(Failure::new(
            codes::INVALID_ID_FIELD,
            format!("The '_id' value cannot be of type {}", type_name(id)),
        )),
        _ if type_name(id) == "undefined" => {
            Err(Failure::new(codes::INVALID_ID_FIELD, "The '_id' value cannot be of type undefined"))
        }
        _ => Ok(()),
    }
}

/// Returns the body of the item that a document is stored as. The document has an `_id`.
pub(crate) fn to_body(document: Object) -> Result<(String, Value)> {
    let Some(id) = document.get("_id") else {
        return Err(Failure::new(codes::INTERNAL_ERROR, "a document without _id came to be stored"));
    };
    check_id(id)?;
    let item_id = item_id::derive(id);
    let mut members: Vec<(String, Value)> = Vec::with_capacity(document.len() + 1);
    members.push(("id".to_owned(), Value::String(item_id.clone())));
    members.extend(document.into_iter().map(|(name, value)| {
        if SYSTEM_NAMES.contains(&name.as_str()) { (format!("{PREFIX}{name}"), value) } else { (name, value) }
    }));
    Ok((item_id, Value::Object(members.into())))
}

/// Returns the document that an item is.
pub(crate) fn of_item(item: &Item) -> Object {
    of_body(item.stored().root().to_value())
}

/// Returns the document that the body of an item is.
pub(crate) fn of_body(body: Value) -> Object {
    let Value::Object(body) = body else { return Object::new() };
    let has_id = body.contains("_id");
    let mut members: Vec<(String, Value)> = Vec::with_capacity(body.len() + 1);
    if !has_id && let Some(id) = body.get("id") {
        members.push(("_id".to_owned(), id.clone()));
    }
    for (name, value) in body {
        if has_id && name == "id" {
            continue;
        }
        let shown = shown_name(&name);
        members.push((if shown.len() == name.len() { name } else { shown.to_owned() }, value));
    }
    // It was first when it was inserted; other APIs may have put it elsewhere.
    if let Some(position) = members.iter().position(|(name, _)| name == "_id")
        && position > 0
    {
        members[..=position].rotate_right(1);
    }
    members.into()
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
