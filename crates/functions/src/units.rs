//! Strings by UTF-16 code unit, which is how the language counts, over UTF-8 text.
//!
//! A cut in the middle of a surrogate pair leaves half a character, for which UTF-8 has no form: it becomes
//! U+FFFD, which is one unit too, so that lengths come out right.

use std::borrow::Cow;

/// Counts the units of a text.
pub(crate) fn length(text: &str) -> usize {
    // Every lead byte begins one unit, and a second one where the character takes four bytes.
    text.bytes().map(|byte| usize::from(byte as i8 >= -0x40) + usize::from(byte >= 0xF0)).sum()
}

/// Where a unit is in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnitPosition {
    /// Position of the character, in bytes.
    pub(crate) byte: usize,
    /// Set where the unit is the second half of the character.
    pub(crate) inside: bool,
}

/// Finds a unit; beyond the last one is the end of the text.
pub(crate) fn place(text: &str, unit: usize) -> UnitPosition {
    if text.is_ascii() {
        return UnitPosition { byte: unit.min(text.len()), inside: false };
    }
    let mut before = 0;
    for (byte, character) in text.char_indices() {
        if before == unit {
            return UnitPosition { byte, inside: false };
        }
        before += character.len_utf16();
        if before > unit {
            return UnitPosition { byte, inside: true };
        }
    }
    UnitPosition { byte: text.len(), inside: false }
}

/// Returns the units from one position to another; both may be beyond the end.
pub(crate) fn cut<'a>(text: &Cow<'a, str>, start: usize, end: usize) -> Cow<'a, str> {
    const HALF: &str = "\u{FFFD}";
    if start >= end {
        return Cow::Borrowed("");
    }
    let (start, end) = (place(text, start), place(text, end));
    if !start.inside && !end.inside {
        return slice(text, start.byte, end.byte);
    }
    let mut kept = String::with_capacity(end.byte - start.byte + HALF.len());
    let mut from = start.byte;
    if start.inside {
        kept.push_str(HALF);
        from += text[from..].chars().next().map_or(0, char::len_utf8);
    }
    kept.push_str(&text[from..end.byte]);
    if end.inside {
        kept.push_str(HALF);
    }
    Cow::Owned(kept)
}

/// Returns a part of a text between two byte positions, borrowed where the text is.
pub(crate) fn slice<'a>(text: &Cow<'a, str>, start: usize, end: usize) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..end]),
        Cow::Owned(text) => Cow::Owned(text[start..end].to_owned()),
    }
}
