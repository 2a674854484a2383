//! Opening stored bytes.

use std::fmt;

use super::node::Node;
use super::skeleton::{FLAG_LEGACY, FLAG_WIDE, VERSION};
use super::verify;

/// Stored bytes that do not have the form they should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrupt {
    /// What does not fit.
    pub what: &'static str,
}

impl fmt::Display for Corrupt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "stored item is corrupt: {}", self.what)
    }
}

impl std::error::Error for Corrupt {}

/// A stored item, read in place.
#[derive(Clone, Copy)]
pub struct Stored<'a> {
    text: &'a [u8],
    skeleton: &'a [u8],
    root: u32,
    wide: bool,
    legacy: bool,
}

impl<'a> Stored<'a> {
    /// Opens stored bytes after a few cheap checks: version, flags, lengths.
    ///
    /// Whatever else is wrong with the bytes shows as missing members, never as a panic; see [`Stored::verify`].
    pub fn open(bytes: &'a [u8]) -> Result<Stored<'a>, Corrupt> {
        let corrupt = |what| Corrupt { what };
        let (&[version, flags], rest) = bytes.split_first_chunk().ok_or(corrupt("too short"))?;
        if version != VERSION {
            return Err(corrupt("unknown version"));
        }
        if flags & !(FLAG_WIDE | FLAG_LEGACY) != 0 {
            return Err(corrupt("unknown flags"));
        }
        let wide = flags & FLAG_WIDE != 0;
        let width = if wide { 4 } else { 2 };
        let text_length = read_width(rest, 0, wide).ok_or(corrupt("too short"))?;
        let (text, rest) =
            rest[width..].split_at_checked(text_length as usize).ok_or(corrupt("text length"))?;
        let skeleton_length = rest.len().checked_sub(width).ok_or(corrupt("too short"))?;
        let (skeleton, trailer) = rest.split_at(skeleton_length);
        let root = read_width(trailer, 0, wide).ok_or(corrupt("too short"))?;
        if root as usize >= skeleton.len() || text.first() != Some(&b'{') || text.last() != Some(&b'}') {
            return Err(corrupt("root"));
        }
        Ok(Stored { text, skeleton, root, wide, legacy: flags & FLAG_LEGACY != 0 })
    }

    /// Returns the JSON text; empty where the bytes are not UTF-8, which only corruption can bring about.
    pub fn text(&self) -> &'a str {
        std::str::from_utf8(self.text).unwrap_or_default()
    }

    /// Returns the JSON text without checking its encoding, for copying it out.
    pub fn text_bytes(&self) -> &'a [u8] {
        self.text
    }

    /// Returns the number of bytes that the skeleton takes beside the text.
    pub fn skeleton_bytes(&self) -> usize {
        self.skeleton.len()
    }

    /// Returns the root object.
    pub fn root(&self) -> Node<'a> {
        Node::root(self.text, self.skeleton, self.root, self.wide)
    }

    /// Checks everything: that the text is JSON and that the skeleton says of it what is so.
    pub fn verify(&self) -> Result<(), Corrupt> {
        verify::verify(self.text, self.skeleton, self.root(), self.legacy)
    }
}

/// Reads the number at an index of a table of positions.
pub(crate) fn read_width(table: &[u8], index: usize, wide: bool) -> Option<u32> {
    if wide {
        let at = index.checked_mul(4)?;
        table.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    } else {
        let at = index.checked_mul(2)?;
        table.get(at..)?.first_chunk().map(|bytes| u32::from(u16::from_le_bytes(*bytes)))
    }
}
