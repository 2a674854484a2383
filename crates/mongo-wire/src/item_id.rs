//! The `id` that an item has in a container for the `_id` that its document has.
//!
//! Two values of `_id` that MongoDB takes for equal have one id, any others have two: `1`, `1.0` and the decimal
//! `1` are one key, a string that looks like an object id and that object id are two. What is neither an object
//! id nor an ordinary string begins with `~` and a letter:
//!
//! ```text
//! ~0 null              ~b0 ~b1 false, true      ~d<ms> date             ~n<number> number
//! ~t<t>-<i> timestamp  ~x<subtype>-<base64url>  ~o<base64url> document  ~s<base64url> string
//! ~i<hex> object id in a container of the REST API                      ~kmin ~kmax MinKey, MaxKey
//! ~v<base64url> any other value, as BSON        ~h<hash> what would be too long
//! ```
//!
//! Invariants:
//! * [`item_id`] gives equal values equal ids, and others other ids (up to SHA-256 for `~h`);
//! * every id is one that a container takes.
//!
//! Not here: looking items up. A REST client may give an item any id, `~n5` too, so that the `_id` of an item found
//! is still to be compared.

mod number;

use armilla_value::{Legacy, Object, Value};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::bson;
use crate::error::{WireError, WireErrorKind};
use crate::limits::{ITEM_ID_BYTES_MAX, ITEM_ID_DOCUMENT_BYTES_MAX};

/// In which API a container was created, which decides how an object id reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The MongoDB API: object ids are the rule.
    Mongo,
    /// Another API: ids are strings, and one of 24 hexadecimal digits is no object id.
    Rest,
}

/// Returns the id of an item whose document has that `_id`, in a container of the MongoDB API.
pub fn item_id(id: &Value) -> Result<String, WireError> {
    item_id_in(Origin::Mongo, id)
}

/// Returns the id of an item whose document has that `_id`.
pub fn item_id_in(origin: Origin, id: &Value) -> Result<String, WireError> {
    check(id)?;
    let text = match id {
        Value::ObjectId(bytes) => {
            let prefix = if origin == Origin::Mongo { "" } else { "~i" };
            format!("{prefix}{}", hex(bytes))
        }
        Value::String(text) => string_id(origin, text),
        Value::Legacy(legacy) => match &**legacy {
            // MongoDB takes a symbol and a string of the same text for equal.
            Legacy::Symbol(text) => string_id(origin, text),
            _ => format!("~v{}", base64(&as_bson(id)?)),
        },
        Value::Null => "~0".to_owned(),
        Value::Bool(truth) => format!("~b{}", u8::from(*truth)),
        Value::Int32(_) | Value::Int64(_) | Value::Double(_) | Value::Decimal128(_) => {
            format!("~n{}", number::text(id))
        }
        Value::Date(ms) => format!("~d{ms}"),
        Value::Timestamp { seconds, increment } => format!("~t{seconds}-{increment}"),
        Value::Binary { subtype, bytes } => format!("~x{subtype:02x}-{}", base64(bytes)),
        Value::MinKey => "~kmin".to_owned(),
        Value::MaxKey => "~kmax".to_owned(),
        Value::Object(object) => {
            let mut bytes = Vec::new();
            bson::encode(&canonical_object(object), &mut bytes)?;
            if bytes.len() > ITEM_ID_DOCUMENT_BYTES_MAX {
                return hash_id(id);
            }
            format!("~o{}", base64(&bytes))
        }
        Value::Array(_) | Value::Regex { .. } => return Err(refused(id)),
    };
    if text.len() > ITEM_ID_BYTES_MAX { hash_id(id) } else { Ok(text) }
}

/// Refuses the types that `_id` may not have.
pub fn check(id: &Value) -> Result<(), WireError> {
    match id {
        Value::Array(_) | Value::Regex { .. } => Err(refused(id)),
        Value::Legacy(legacy) if **legacy == Legacy::Undefined => Err(refused(id)),
        _ => Ok(()),
    }
}

/// Returns the ids under which an item with that `_id` may be: first the one that [`item_id`] gives, then the text
/// of a string itself, which is the id of an item that a REST client wrote.
pub fn candidates(id: &Value) -> Result<Vec<String>, WireError> {
    let derived = item_id(id)?;
    match id {
        Value::String(text) if *text != derived && is_legal(text) => Ok(vec![derived, text.clone()]),
        _ => Ok(vec![derived]),
    }
}

/// Returns the `_id` that an id stands for, in a container of the MongoDB API; `None` where it holds a hash or was
/// not made by [`item_id`].
///
/// A number comes back with its value, not with its type.
pub fn value_of(id: &str) -> Option<Value> {
    value_in(Origin::Mongo, id)
}

/// Returns the `_id` that an id stands for; `None` where it holds a hash or was not made by [`item_id_in`].
pub fn value_in(origin: Origin, id: &str) -> Option<Value> {
    let value = match id.strip_prefix('~') {
        None if origin == Origin::Mongo && is_object_id(id) => Value::ObjectId(unhex(id)?),
        None => Value::String(id.to_owned()),
        Some(form) => of_form(form)?,
    };
    // Only the one spelling that is written is read.
    (item_id_in(origin, &value).ok()? == id).then_some(value)
}

fn of_form(form: &str) -> Option<Value> {
    let mut characters = form.chars();
    let letter = characters.next()?;
    let rest = characters.as_str();
    Some(match letter {
        '0' => Value::Null,
        'b' => Value::Bool(rest == "1"),
        'd' => Value::Date(rest.parse().ok()?),
        'i' => Value::ObjectId(unhex(rest)?),
        'k' => match rest {
            "min" => Value::MinKey,
            "max" => Value::MaxKey,
            _ => return None,
        },
        'n' => number::parse(rest)?,
        'o' => Value::Object(bson::decode(&unbase64(rest)?).ok()?),
        's' => Value::String(String::from_utf8(unbase64(rest)?).ok()?),
        't' => {
            let (seconds, increment) = rest.split_once('-')?;
            Value::Timestamp { seconds: seconds.parse().ok()?, increment: increment.parse().ok()? }
        }
        'v' => bson::decode(&unbase64(rest)?).ok()?.into_iter().next()?.1,
        'x' => {
            let (subtype, bytes) = rest.split_once('-')?;
            Value::Binary { subtype: u8::from_str_radix(subtype, 16).ok()?, bytes: unbase64(bytes)? }
        }
        _ => return None,
    })
}

/// Says whether a container takes this as an id.
fn is_legal(id: &str) -> bool {
    (1..=ITEM_ID_BYTES_MAX).contains(&id.len())
}

fn string_id(origin: Origin, text: &str) -> String {
    let looks_like_another = text.starts_with('~') || (origin == Origin::Mongo && is_object_id(text));
    // What clients cannot carry in the path of a request.
    let is_no_path = text.contains(['/', '\\', '?', '#']);
    let is_plain = is_legal(text) && !looks_like_another && !is_no_path;
    if is_plain { text.to_owned() } else { format!("~s{}", base64(text.as_bytes())) }
}

fn is_object_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn hash_id(id: &Value) -> Result<String, WireError> {
    let hash = ring::digest::digest(&ring::digest::SHA256, &as_bson(id)?);
    Ok(format!("~h{}", hex(hash.as_ref())))
}

/// Returns the BSON of a document whose one member is the value, in the spelling that equal values share.
fn as_bson(id: &Value) -> Result<Vec<u8>, WireError> {
    let mut bytes = Vec::new();
    bson::encode(&Object::from([("", canonical(id))]), &mut bytes)?;
    Ok(bytes)
}

/// Returns the spelling that all values share which MongoDB takes for equal.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Int32(_) | Value::Int64(_) | Value::Double(_) | Value::Decimal128(_) => {
            number::canonical(value)
        }
        Value::Array(elements) => Value::Array(elements.iter().map(canonical).collect()),
        Value::Object(object) => Value::Object(canonical_object(object)),
        Value::Legacy(legacy) => match &**legacy {
            Legacy::Symbol(text) => Value::String(text.clone()),
            Legacy::CodeWithScope { code, scope } => Value::Legacy(Box::new(Legacy::CodeWithScope {
                code: code.clone(),
                scope: canonical_object(scope),
            })),
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

fn canonical_object(object: &Object) -> Object {
    object.iter().map(|(name, value)| (name, canonical(value))).collect()
}

fn refused(id: &Value) -> WireError {
    let name = match id {
        Value::Array(_) => "array",
        Value::Regex { .. } => "regex",
        _ => "undefined",
    };
    WireError::new(WireErrorKind::InvalidId, 53, format!("The '_id' value cannot be of type {name}"))
}

fn base64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn unbase64(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

pub(crate) fn unhex(text: &str) -> Option<[u8; 12]> {
    let mut bytes = [0; 12];
    if text.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        *byte = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests;
