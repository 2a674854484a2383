//! Places in a query text: byte ranges inside, UTF-16 offsets towards clients.

/// A range of bytes of the query text, end exclusive.
///
/// All spans are equal to one another, so that syntax trees compare by what they say.
/// Compare `start` and `end` where places matter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}

impl Span {
    /// Makes the range from `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// Returns the range from the start of this one to the end of `last`.
    pub fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end }
    }
}

/// A range of UTF-16 code units of the query text, end exclusive: what error locations on the wire mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Utf16Span {
    /// The first code unit.
    pub start: usize,
    /// The code unit after the last one.
    pub end: usize,
}

/// Converts a byte range of `text` to UTF-16 offsets.
///
/// Offsets past the end count as the end, and one inside a character counts as the start of that character.
pub fn utf16_span(text: &str, span: Span) -> Utf16Span {
    Utf16Span { start: utf16_offset(text, span.start), end: utf16_offset(text, span.end) }
}

fn utf16_offset(text: &str, byte_offset: usize) -> usize {
    let byte_offset = text.floor_char_boundary(byte_offset);
    text[..byte_offset].encode_utf16().count()
}
