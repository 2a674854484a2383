//! Terms: values as the bytes that stand between the index's id and the item's number in an entry.
//!
//! ```text
//! scalar          its key bytes (`armilla_value::key`), which begin with a class byte and end themselves
//! long scalar     the same with its content cut to 256 bytes, then a 16-byte fingerprint of the whole value
//! array, object   the class byte, then a 16-byte structural fingerprint
//! undefined       04
//! ```
//! Content of 256 bytes is treated as long too, so that a content of exactly 256 bytes tells that a fingerprint
//! follows. So no term is the beginning of another, and terms can stand one after the other.
//!
//! Byte order is `sql_cmp`'s order between scalars, but for two that agree in their first 256 bytes. Equal
//! values have equal terms however they are spelled (`1`, `1.0`; members in any order), and different values have
//! different terms, but for a chance of 2^-128 where a fingerprint is involved.

use armilla_value::key::{self, class};
use armilla_value::{Kind, Legacy, Node, Value, fingerprint};

use crate::limits::TERM_CONTENT_BYTES_MAX as CUT;
use crate::tree::Tree;

#[cfg(test)]
mod tests;

/// Bytes of a fingerprint inside a term.
pub const FINGERPRINT_BYTES: usize = 16;

/// How the content of a string ends.
const END: [u8; 2] = [0x00, 0x01];

/// Appends the term of a value inside a stored item.
pub fn push_node(node: Node<'_>, out: &mut Vec<u8>) {
    push(node, out);
}

/// Appends the term of a value.
pub fn push_value(value: &Value, out: &mut Vec<u8>) {
    push(value, out);
}

/// Appends the term of an absent value.
pub fn push_undefined(out: &mut Vec<u8>) {
    out.push(class::UNDEFINED);
}

/// Appends the term of a value that may be absent.
pub fn push_option(value: Option<&Value>, out: &mut Vec<u8>) {
    match value {
        Some(value) => push_value(value, out),
        None => push_undefined(out),
    }
}

/// Returns the term of a value that may be absent.
pub fn of(value: Option<&Value>) -> Vec<u8> {
    let mut term = Vec::new();
    push_option(value, &mut term);
    term
}

/// Returns whether a term stands for its value by a fingerprint: a long scalar, an array or an object.
pub fn is_cut(term: &[u8]) -> bool {
    scan(term).is_none_or(|scanned| scanned.cut)
}

/// Returns whether the term of a value holds all of it: it is a scalar and not long.
pub fn is_exact_value(value: &Value) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) => false,
        Value::String(text) => text.len() < CUT,
        Value::Binary { bytes, .. } => bytes.len() < CUT,
        Value::Regex { pattern, options } => pattern.len() < CUT && options.len() < CUT,
        Value::Legacy(legacy) => match &**legacy {
            Legacy::Undefined => true,
            Legacy::Code(text) | Legacy::Symbol(text) => text.len() < CUT,
            Legacy::DbPointer { namespace, .. } => namespace.len() < CUT,
            // The scope may be of any size.
            Legacy::CodeWithScope { .. } => false,
        },
        _ => true,
    }
}

/// Returns the value of a term, `Some(None)` for undefined; `None` where the term does not hold its value.
pub fn decode(term: &[u8]) -> Option<Option<Value>> {
    let scanned = scan(term).filter(|scanned| !scanned.cut && scanned.length == term.len())?;
    let (value, length) = key::decode_option(&term[..scanned.length]).ok()?;
    (length == term.len()).then_some(value)
}

/// Returns how long the term at the start of `bytes` is; nothing where there is none.
pub fn length(bytes: &[u8]) -> Option<usize> {
    scan(bytes).map(|scanned| scanned.length)
}

/// Returns the class byte of a value's term.
pub fn class_of(value: &Value) -> u8 {
    match value {
        Value::Null => class::NULL,
        Value::Bool(false) => class::FALSE,
        Value::Bool(true) => class::TRUE,
        Value::Int32(_) | Value::Int64(_) | Value::Double(_) | Value::Decimal128(_) => class::NUMBER,
        Value::String(_) => class::STRING,
        Value::Array(_) => class::ARRAY,
        Value::Object(_) => class::OBJECT,
        Value::MinKey => class::MIN_KEY,
        Value::Binary { .. } => class::BINARY,
        Value::ObjectId(_) => class::OBJECT_ID,
        Value::Date(_) => class::DATE,
        Value::Timestamp { .. } => class::TIMESTAMP,
        Value::Regex { .. } => class::REGEX,
        Value::Legacy(legacy) => match **legacy {
            Legacy::DbPointer { .. } => class::DB_POINTER,
            Legacy::Code(_) => class::CODE,
            Legacy::CodeWithScope { .. } => class::CODE_WITH_SCOPE,
            Legacy::Symbol(_) => class::SYMBOL,
            Legacy::Undefined => class::UNDEFINED_VALUE,
        },
        Value::MaxKey => class::MAX_KEY,
    }
}

/// Returns the first and last class byte of the type that a class byte belongs to: booleans have two.
pub fn class_range(class_byte: u8) -> (u8, u8) {
    match class_byte {
        class::FALSE | class::TRUE => (class::FALSE, class::TRUE),
        other => (other, other),
    }
}

/// Appends a term.
pub(crate) fn push<T: Tree>(tree: T, out: &mut Vec<u8>) {
    match tree.kind() {
        Kind::Array | Kind::Object => {
            let hash = structural(tree, out);
            push_structural(tree.kind(), hash, out);
        }
        _ => push_scalar(tree, out),
    }
}

/// Appends the term of an array or object whose structural fingerprint is known.
pub(crate) fn push_structural(kind: Kind, hash: u128, out: &mut Vec<u8>) {
    out.push(if kind == Kind::Array { class::ARRAY } else { class::OBJECT });
    out.extend_from_slice(&hash.to_be_bytes());
}

/// Appends the term of a scalar.
#[inline]
pub(crate) fn push_scalar<T: Tree>(tree: T, out: &mut Vec<u8>) {
    match tree.kind() {
        Kind::String => push_string(&tree.text().unwrap_or_default(), out),
        Kind::Binary | Kind::Regex | Kind::Legacy => push_other(&tree.to_value(), out),
        _ => tree.push_key(out),
    }
}

/// Appends the term of a string.
#[inline]
pub(crate) fn push_string(text: &str, out: &mut Vec<u8>) {
    if text.len() < CUT {
        key::encode_string(text, out);
        return;
    }
    push_cut_content(text, out);
    out.extend_from_slice(&END);
    push_fingerprint(text.as_bytes(), out);
}

/// Appends the class byte and the first 256 bytes of a long string, escaped, without an end.
pub(crate) fn push_cut_content(text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    // Encoding wants whole characters; what stands behind the cut goes again.
    let whole = (CUT..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    key::encode_string(&text[..whole], out);
    let mut at = start + 1;
    for _ in 0..CUT {
        // Zero is the only byte that takes two.
        at += 1 + usize::from(out[at] == 0);
    }
    out.truncate(at);
}

fn push_other(value: &Value, out: &mut Vec<u8>) {
    let start = out.len();
    match value {
        Value::Binary { subtype, bytes } if bytes.len() >= CUT => {
            out.push(class::BINARY);
            out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
            out.push(*subtype);
            out.extend_from_slice(&bytes[..CUT]);
            push_fingerprint(bytes, out);
        }
        Value::Regex { pattern, options } if !is_exact_value(value) => {
            out.push(class::REGEX);
            for part in [pattern, options] {
                key::escape(&part.as_bytes()[..part.len().min(CUT)], out);
            }
            let mut whole = Vec::new();
            key::encode_value(value, &mut whole);
            push_fingerprint(&whole, out);
        }
        Value::Legacy(legacy) if !is_exact_value(value) => {
            out.push(class_of(value));
            match &**legacy {
                Legacy::Code(text) | Legacy::Symbol(text) | Legacy::CodeWithScope { code: text, .. } => {
                    key::escape(&text.as_bytes()[..text.len().min(CUT)], out);
                }
                Legacy::DbPointer { namespace, .. } => {
                    out.extend_from_slice(&(namespace.len() as u32).to_be_bytes());
                    out.extend_from_slice(&namespace.as_bytes()[..namespace.len().min(CUT)]);
                }
                Legacy::Undefined => {}
            }
            let mut whole = Vec::new();
            key::encode_value(value, &mut whole);
            push_fingerprint(&whole, out);
        }
        value => key::encode_value(value, out),
    }
    debug_assert!(out.len() > start, "every value has a term");
}

fn push_fingerprint(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&fingerprint(bytes).to_be_bytes());
}

/// Returns the structural fingerprint of a value; `scratch` is as it was afterwards.
pub(crate) fn structural<T: Tree>(tree: T, scratch: &mut Vec<u8>) -> u128 {
    match tree.kind() {
        Kind::Array => {
            let mut hash = ArrayHash::begin(scratch);
            tree.for_each_element(|element| {
                let element = structural(element, scratch);
                hash.add(element, scratch);
            });
            hash.end(scratch)
        }
        Kind::Object => {
            let mut hash = ObjectHash::default();
            tree.for_each_member(|name, member| {
                let member = structural(member, scratch);
                hash.add(name, member, scratch);
            });
            hash.end(scratch)
        }
        _ => {
            let start = scratch.len();
            push_scalar(tree, scratch);
            take_fingerprint(start, scratch)
        }
    }
}

/// Fingerprints what stands behind `start` and removes it.
pub(crate) fn take_fingerprint(start: usize, scratch: &mut Vec<u8>) -> u128 {
    let hash = fingerprint(&scratch[start..]);
    scratch.truncate(start);
    hash
}

/// The structural fingerprint of an array, made from those of its elements in order.
pub(crate) struct ArrayHash {
    start: usize,
}

impl ArrayHash {
    pub(crate) fn begin(scratch: &mut Vec<u8>) -> ArrayHash {
        let start = scratch.len();
        scratch.push(class::ARRAY);
        ArrayHash { start }
    }

    pub(crate) fn add(&mut self, element: u128, scratch: &mut Vec<u8>) {
        scratch.extend_from_slice(&element.to_be_bytes());
    }

    pub(crate) fn end(self, scratch: &mut Vec<u8>) -> u128 {
        take_fingerprint(self.start, scratch)
    }
}

/// The structural fingerprint of an object, made from those of its members in any order: they are added up.
#[derive(Default)]
pub(crate) struct ObjectHash {
    sum: u128,
    count: u64,
}

impl ObjectHash {
    pub(crate) fn add(&mut self, name: &str, member: u128, scratch: &mut Vec<u8>) {
        let start = scratch.len();
        scratch.extend_from_slice(&member.to_be_bytes());
        scratch.extend_from_slice(name.as_bytes());
        self.sum = self.sum.wrapping_add(take_fingerprint(start, scratch));
        self.count += 1;
    }

    pub(crate) fn end(self, scratch: &mut Vec<u8>) -> u128 {
        let start = scratch.len();
        scratch.push(class::OBJECT);
        scratch.extend_from_slice(&self.sum.to_be_bytes());
        scratch.extend_from_slice(&self.count.to_be_bytes());
        take_fingerprint(start, scratch)
    }
}

struct Scanned {
    length: usize,
    /// Whether a fingerprint stands for the value.
    cut: bool,
}

/// Looks where the term at the start of `bytes` ends.
fn scan(bytes: &[u8]) -> Option<Scanned> {
    let body = bytes.get(1..)?;
    let (content, cut) = match bytes[0] {
        class::UNDEFINED
        | class::NULL
        | class::FALSE
        | class::TRUE
        | class::MIN_KEY
        | class::MAX_KEY
        | class::UNDEFINED_VALUE => (0, false),
        class::NUMBER => {
            // The first byte is whole; of the others, the low bit says whether more follow.
            let last = body.get(1..)?.iter().position(|byte| byte & 1 == 0)?;
            (last + 2, false)
        }
        class::STRING => {
            let (length, content) = escaped(body)?;
            (length, content == CUT)
        }
        class::ARRAY | class::OBJECT => (0, true),
        class::BINARY => {
            let length = u32::from_be_bytes(*body.first_chunk()?) as usize;
            (5 + length.min(CUT), length >= CUT)
        }
        class::OBJECT_ID => (12, false),
        class::DATE | class::TIMESTAMP => (8, false),
        class::REGEX => {
            let (pattern_length, pattern) = escaped(body)?;
            let (options_length, options) = escaped(&body[pattern_length..])?;
            (pattern_length + options_length, pattern == CUT || options == CUT)
        }
        class::CODE | class::SYMBOL => {
            let (length, content) = escaped(body)?;
            (length, content == CUT)
        }
        class::CODE_WITH_SCOPE => (escaped(body)?.0, true),
        class::DB_POINTER => {
            let length = u32::from_be_bytes(*body.first_chunk()?) as usize;
            if length >= CUT { (4 + CUT, true) } else { (4 + length + 12, false) }
        }
        _ => return None,
    };
    let length = 1 + content + if cut { FINGERPRINT_BYTES } else { 0 };
    (length <= bytes.len()).then_some(Scanned { length, cut })
}

/// Returns how many bytes escaped content takes with its end, and how many it stands for.
fn escaped(bytes: &[u8]) -> Option<(usize, usize)> {
    let (mut at, mut content) = (0, 0);
    loop {
        let zero = at + bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        content += zero - at;
        match *bytes.get(zero + 1)? {
            0xFF => content += 1,
            0x01 => return Some((zero + 2, content)),
            _ => return None,
        }
        at = zero + 2;
    }
}
