//! Cosmos binary JSON to JSON text.
//!
//! The Rust client writes items in this form by default, the .NET client when asked to. A body is the
//! byte `0x80` and one value; a value is a marker byte and what the marker calls for, little-endian.
//! Only requests carry it here: answers are always text, which every client accepts.
//!
//! Invariants:
//! * any bytes give text or an error, never a panic;
//! * the text is well-formed JSON in UTF-8 and no longer than the caller allows, however often the
//!   bytes refer back to one long string;
//! * nesting is bounded, so is the stack.
//!
//! Not here: what makes JSON a valid item (ids, repeated names, depth). The engine reads the text.

mod error;
mod markers;
mod packed;
mod reader;

pub(crate) use error::BinaryJsonError;

/// The first byte of a binary body. No JSON text begins with it.
const PREAMBLE: u8 = 0x80;

/// Whether a body is binary JSON.
pub(crate) fn is_binary(body: &[u8]) -> bool {
    body.first() == Some(&PREAMBLE)
}

/// Turns a binary body into JSON text of bounded length.
pub(crate) fn to_text(body: &[u8], text_bytes_max: usize) -> Result<Vec<u8>, BinaryJsonError> {
    if !is_binary(body) {
        return Err(BinaryJsonError::Malformed { position: 0, reason: "the first byte is not 0x80" });
    }
    reader::read(body, text_bytes_max)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod writer;
