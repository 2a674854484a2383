//! Frames: which format a message has, and where its payload begins.
//!
//! A binary message begins with the length of a mime type and the mime type; a text message is JSON as a whole.
//! Answers have no such head: they are sent as the payload alone, in a message of the same kind.

use crate::WireError;
use crate::error::short;
use crate::request::scan_id;

/// A format of answers; the format of a request follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// JSON without types, in the shape that the service answers with.
    Untyped,
    /// GraphSON 2.0 with types.
    GraphSon2Typed,
    /// GraphSON 3.0.
    GraphSon3,
    /// GraphBinary 1.0.
    GraphBinary,
}

/// What is answered to GraphSON 2.0, which the mime type alone does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GraphSon2 {
    /// As the service: without types.
    #[default]
    Untyped,
    /// As TinkerPop: with types.
    Typed,
}

const JSON: &str = "application/json";
const GRAPHSON1: &str = "application/vnd.gremlin-v1.0+json";
const GRAPHSON2: &str = "application/vnd.gremlin-v2.0+json";
const GRAPHSON3: &str = "application/vnd.gremlin-v3.0+json";
const GRAPHBINARY: &str = "application/vnd.graphbinary-v1.0";

impl Format {
    /// Returns the format that a mime type asks for.
    pub fn of_mime(mime: &str, graphson2: GraphSon2) -> Option<Format> {
        let mut parts = mime.split(';').map(str::trim);
        let name = parts.next()?;
        let untyped = parts.any(|part| part.eq_ignore_ascii_case("types=false"));
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is(GRAPHBINARY) {
            return Some(Format::GraphBinary);
        }
        let format = if is(JSON) || is(GRAPHSON1) {
            Format::Untyped
        } else if is(GRAPHSON2) {
            match graphson2 {
                GraphSon2::Untyped => Format::Untyped,
                GraphSon2::Typed => Format::GraphSon2Typed,
            }
        } else if is(GRAPHSON3) {
            Format::GraphSon3
        } else {
            return None;
        };
        Some(if untyped { Format::Untyped } else { format })
    }

    /// Returns the mime type of answers in this format.
    pub fn mime(self) -> &'static str {
        match self {
            Format::Untyped => JSON,
            Format::GraphSon2Typed => GRAPHSON2,
            Format::GraphSon3 => GRAPHSON3,
            Format::GraphBinary => GRAPHBINARY,
        }
    }

    /// Returns whether payloads are JSON.
    pub fn is_json(self) -> bool {
        self != Format::GraphBinary
    }
}

/// A message that was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'m> {
    /// The format to answer in.
    pub format: Format,
    /// The request itself.
    pub payload: &'m [u8],
}

impl<'m> Frame<'m> {
    /// Opens a binary message.
    pub fn binary(message: &'m [u8], graphson2: GraphSon2) -> Result<Frame<'m>, WireError> {
        let Some((length, rest)) = message.split_first() else {
            return Err(WireError::malformed(
                "The message is empty; it begins with the length of its mime type.",
            ));
        };
        let Some((mime, payload)) = rest.split_at_checked(usize::from(*length)) else {
            return Err(
                WireError::malformed("The message ends within its mime type.").with_id(scan_id(message))
            );
        };
        let mime = String::from_utf8_lossy(mime);
        match Format::of_mime(&mime, graphson2) {
            Some(format) => Ok(Frame { format, payload }),
            None => Err(WireError::malformed(format!(
                "The serializer '{}' is not supported; use {GRAPHSON2}, {GRAPHSON3} or {GRAPHBINARY}.",
                short(&mime)
            ))
            .with_id(scan_id(payload))),
        }
    }

    /// Opens a text message.
    pub fn text(message: &'m str) -> Frame<'m> {
        Frame { format: Format::Untyped, payload: message.as_bytes() }
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
