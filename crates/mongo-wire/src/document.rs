//! Between the documents that MongoDB's clients see and the items that a container keeps.
//!
//! An item always has a string `id`, which for a document is derived from its `_id`; and a few names belong to the
//! system in an item, not in a document. So an item that came as a document begins with the derived `id`, then
//! `_id`, and writes the members that collide with `$$` in front:
//!
//! ```text
//! document { _id: 5, id: "x", $$id: 1, a: 1 }   item { id: "~n5", _id: 5, $$id: "x", $$$$id: 1, a: 1 }
//! ```
//!
//! An item without `_id` was written by a REST client: its document has the `id` as its `_id`, and every member
//! beside.
//!
//! Invariants:
//! * [`document_to_body`] and back gives the same document, `_id` moved to its front;
//! * names collide in the root alone; below it nothing is changed.
//!
//! Not here: what to do about a document without `_id` (the server makes one), sizes.

mod write;

use std::borrow::Cow;

use armilla_value::{Node, Object, Value};

use crate::error::{WireError, WireErrorKind};
use crate::item_id::{Origin, item_id_in};

pub use write::encode_node;

/// Names that an item has for itself.
const SYSTEM_NAMES: [&str; 6] = ["id", "_rid", "_self", "_etag", "_ts", "_attachments"];

const PREFIX: &str = "$$";

/// The name that an item has for itself where its value says how long it lives, and that is a document's own otherwise.
pub const LIFETIME_NAME: &str = "ttl";

/// The name of a document's member of that name which says nothing of the kind.
pub const ESCAPED_LIFETIME_NAME: &str = "$$ttl";

/// Returns the name of a document's member in the root of an item.
pub fn name_in_item(name: &str) -> Cow<'_, str> {
    // Nearly all names are neither prefixed nor the system's.
    if !name.starts_with(['$', '_', 'i']) {
        return Cow::Borrowed(name);
    }
    let bare = name.trim_start_matches(PREFIX);
    if is_system_name(bare) || (bare == LIFETIME_NAME && bare.len() < name.len()) {
        Cow::Owned(format!("{PREFIX}{name}"))
    } else {
        Cow::Borrowed(name)
    }
}

/// Returns the name in a document of a member in the root of an item that has an `_id`.
pub fn name_in_document(name: &str) -> &str {
    match name.strip_prefix(PREFIX) {
        Some(inner) => {
            let bare = inner.trim_start_matches(PREFIX);
            if is_system_name(bare) || bare == LIFETIME_NAME { inner } else { name }
        }
        _ => name,
    }
}

/// Returns the name in a document of a member of an item without `_id`, whose own `id` is kept.
fn name_beside_id(name: &str) -> &str {
    if name.ends_with("id") && name.trim_start_matches(PREFIX) == "id" {
        name
    } else {
        name_in_document(name)
    }
}

fn is_system_name(name: &str) -> bool {
    SYSTEM_NAMES.contains(&name)
}

/// Makes the item of a document: `id` first, `_id` next, colliding names with their prefix.
///
/// A document without `_id`, or with one of a type that it may not have, is refused.
pub fn document_to_body(document: &Object) -> Result<Value, WireError> {
    document_into_body(Origin::Mongo, document.clone())
}

/// Makes the item of a document for a container of that origin, and copies nothing but names that collide.
pub fn document_into_body(origin: Origin, document: Object) -> Result<Value, WireError> {
    let Some(id) = document.get("_id") else {
        return Err(WireError::new(
            WireErrorKind::InvalidId,
            53,
            "a document must have an '_id' to be stored",
        ));
    };
    let mut members = Vec::with_capacity(document.len() + 1);
    members.push(("id".to_owned(), Value::String(item_id_in(origin, id)?)));
    // Its place is kept until the walk comes to it.
    members.push(("_id".to_owned(), Value::Null));
    for (name, value) in document {
        if name == "_id" {
            members[1].1 = value;
        } else {
            let name = match name_in_item(&name) {
                Cow::Owned(prefixed) => prefixed,
                Cow::Borrowed(_) => name,
            };
            members.push((name, value));
        }
    }
    Ok(Value::Object(Object::from(members)))
}

/// Makes the document of an item, as a tree; [`encode_node`] makes its bytes without one.
pub fn node_to_document(item: Node<'_>) -> Object {
    let mut members = Vec::with_capacity(item.len() + 1);
    match item.get("_id") {
        Some(id) => {
            members.push(("_id".to_owned(), id.to_value()));
            for (name, value) in item.members() {
                if name != "_id" && name != "id" {
                    members.push((name_in_document(&name).to_owned(), value.to_value()));
                }
            }
        }
        None => {
            if let Some(id) = item.get("id") {
                members.push(("_id".to_owned(), id.to_value()));
            }
            for (name, value) in item.members() {
                members.push((name_beside_id(&name).to_owned(), value.to_value()));
            }
        }
    }
    Object::from(members)
}

#[cfg(test)]
mod tests;
