//! Places in a query text.

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
