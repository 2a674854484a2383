//! Replacing a document as a whole, which a replacement does and, after its stages, a pipeline too.

use armilla_mongo_expression::{Environment, Error, Result, codes};
use armilla_value::{Object, Value, mongo_cmp};

use crate::depth::document_depth;
use crate::limits::DOCUMENT_DEPTH_MAX;
use crate::render::render_member;

/// Checks what a replacement makes of a document.
pub(crate) fn check(replacement: &Object) -> Result<()> {
    if let Some((name, _)) = replacement.iter().find(|(name, _)| name.starts_with('$')) {
        return Err(dollar_prefixed(name, name));
    }
    check_depth(replacement)
}

/// Refuses a name that begins with a dollar.
pub(crate) fn dollar_prefixed(name: &str, path: &str) -> Error {
    Error::new(
        codes::DOLLAR_PREFIXED_FIELD_NAME,
        format!(
            "The dollar ($) prefixed field '{name}' in '{path}' is not allowed in the context of an update's \
             replacement document. Consider using an aggregation pipeline with $replaceWith."
        ),
    )
}

/// Makes of a replacement the new document: `_id` comes first, and from the old one if the replacement has none.
pub(crate) fn replace(old: &Object, replacement: Object) -> Result<Object> {
    let id = match (old.get("_id"), replacement.get("_id")) {
        (Some(old), Some(new)) if mongo_cmp(old, new).is_ne() => {
            return Err(Error::new(
                codes::IMMUTABLE_FIELD,
                format!(
                    "After applying the update, the (immutable) field '_id' was found to have been altered to {}",
                    render_member("_id", new)
                ),
            ));
        }
        (_, Some(new)) => new.clone(),
        (Some(old), None) => old.clone(),
        (None, None) => return Ok(replacement),
    };
    if replacement.iter().next().is_some_and(|(name, _)| name == "_id") {
        return Ok(replacement);
    }
    Ok(with_id_first(id, replacement))
}

/// Returns a document with that `_id`, as its first member.
pub(crate) fn with_id_first(id: Value, document: Object) -> Object {
    let mut members = Vec::with_capacity(document.len() + 1);
    members.push(("_id".to_owned(), id));
    members.extend(document.into_iter().filter(|(name, _)| name != "_id"));
    members.into()
}

/// Puts the current time where the document itself has an empty timestamp, as inserts do.
pub(crate) fn fill_timestamps(document: &mut Object, environment: &Environment) {
    let (seconds, increment) = environment.cluster_time;
    for (name, value) in document.iter_mut() {
        if name != "_id" && *value == (Value::Timestamp { seconds: 0, increment: 0 }) {
            *value = Value::Timestamp { seconds, increment };
        }
    }
}

/// Refuses a document that nests too deep.
pub fn check_depth(document: &Object) -> Result<()> {
    if document_depth(document) > DOCUMENT_DEPTH_MAX {
        return Err(Error::new(
            codes::OVERFLOW,
            format!("Document exceeds maximum nesting depth of {DOCUMENT_DEPTH_MAX}"),
        ));
    }
    Ok(())
}
