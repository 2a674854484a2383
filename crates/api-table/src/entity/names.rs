//! Names: of properties as items hold them, and of entities as items are named.
//!
//! Invariants:
//! * [`stored_name`] and [`shown_name`] are inverse to each other, and no two properties share a member;
//! * [`row_id`] gives different ids to different row keys, but for a chance of 2^-128 where a key is too long for an
//!   id; each is a valid item id.
//!
//! Not here: addresses (`path`).

use std::borrow::Cow;

use armilla_rest_wire::percent;
use armilla_value::fingerprint;

use super::limits::{ITEM_ID_BYTES_MAX, SHORTENED_ROW_KEY_BYTES};

/// The member in which an item keeps the types that its JSON does not tell.
pub(crate) const TYPES_MEMBER: &str = "$edm";

/// Stands before the names of properties that an item cannot have under their own name.
const PREFIX: &str = "$p:";

/// Begins an id that is not the row key itself. No row key contains it.
const MARK: char = '\u{1f}';

/// Returns the member of an item that holds a property.
pub(crate) fn stored_name(name: &str) -> Cow<'_, str> {
    if is_taken(name) { Cow::Owned(format!("{PREFIX}{name}")) } else { Cow::Borrowed(name) }
}

/// Returns the property that a member of an item holds; `None` for what is no property.
pub(crate) fn shown_name(member: &str) -> Option<&str> {
    if let Some(name) = member.strip_prefix(PREFIX) {
        // Only names that need the prefix have it: anything else has a member of its own.
        return is_taken(name).then_some(name);
    }
    if is_taken(member) || is_control_name(member) || member == "Timestamp" {
        return None;
    }
    Some(member)
}

/// Says whether items use a name for themselves.
fn is_taken(name: &str) -> bool {
    match name.as_bytes() {
        [b'$', ..] => true,
        [b'_', ..] => is_system_member(name),
        [b'i', b'd'] | [b't', b't', b'l'] => true,
        _ => false,
    }
}

/// Says whether the engine writes a member of this name into every item that it shows.
pub(crate) fn is_system_member(name: &str) -> bool {
    matches!(name, "_rid" | "_self" | "_etag" | "_attachments" | "_ts")
}

/// Says whether a name in a request or an answer is about properties rather than one.
pub(crate) fn is_control_name(name: &str) -> bool {
    name.starts_with("odata.") || name.contains('@')
}

/// Returns the id of the item that holds the entity with a row key.
pub(crate) fn row_id(row_key: &str) -> Cow<'_, str> {
    if is_plain_id(row_key) {
        return Cow::Borrowed(row_key);
    }
    let mut id = String::with_capacity(row_key.len() + 8);
    id.push(MARK);
    let last = row_key.len() - row_key.chars().next_back().map_or(0, char::len_utf8);
    for (at, character) in row_key.char_indices() {
        let is_trailing_space = at == last && character.is_whitespace();
        if is_refused(character) || character == '%' || is_trailing_space {
            let mut bytes = [0; 4];
            character
                .encode_utf8(&mut bytes)
                .bytes()
                .for_each(|byte| id.push_str(percent::encode_byte(byte)));
        } else {
            id.push(character);
        }
    }
    if id.len() > ITEM_ID_BYTES_MAX { Cow::Owned(shortened_id(row_key)) } else { Cow::Owned(id) }
}

/// Says whether an id is that of a row key.
pub(crate) fn is_row_id(id: &str, row_key: &str) -> bool {
    if is_plain_id(row_key) { id == row_key } else { id == row_id(row_key) }
}

/// Says whether a row key can be an item's id.
fn is_plain_id(row_key: &str) -> bool {
    !row_key.is_empty()
        && row_key.len() <= ITEM_ID_BYTES_MAX
        && !row_key.ends_with(char::is_whitespace)
        && !row_key.chars().any(is_refused)
}

/// Says whether a character is in no key: those that paths give a meaning, and control characters.
pub(crate) fn is_refused(character: char) -> bool {
    matches!(character, '/' | '\\' | '#' | '?') || character.is_control()
}

/// Returns the id of a row key that is too long for one: its beginning, and a fingerprint of all of it.
fn shortened_id(row_key: &str) -> String {
    let mut id = format!("{MARK}{MARK}{:032x}", fingerprint(row_key.as_bytes()));
    let beginning = row_key.chars().filter(|&character| !is_refused(character));
    for character in beginning {
        if id.len() + character.len_utf8() > SHORTENED_ROW_KEY_BYTES {
            break;
        }
        id.push(character);
    }
    if id.ends_with(char::is_whitespace) {
        id.push('_');
    }
    id
}

#[cfg(test)]
mod tests;
