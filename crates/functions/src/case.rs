//! Letter case, by the simple mappings of Unicode: one character to one, whatever the language.
//!
//! Rust's own mappings are the full ones, which may give several characters (`ß` to `SS`). Where they do, the
//! simple mapping is the character itself, but for the few that the tables here name.

use std::borrow::Cow;

use crate::limits::SCAN_NEEDLE_BYTES_MAX;

/// Maps a text to lower case.
pub(crate) fn lower<'a>(text: &Cow<'a, str>) -> Cow<'a, str> {
    if text.is_ascii() {
        if !text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return text.clone();
        }
        return Cow::Owned(text.to_ascii_lowercase());
    }
    Cow::Owned(text.chars().map(lower_character).collect())
}

/// Maps a text to upper case.
pub(crate) fn upper<'a>(text: &Cow<'a, str>) -> Cow<'a, str> {
    if text.is_ascii() {
        if !text.bytes().any(|byte| byte.is_ascii_lowercase()) {
            return text.clone();
        }
        return Cow::Owned(text.to_ascii_uppercase());
    }
    Cow::Owned(text.chars().map(upper_character).collect())
}

/// Says whether two texts are equal but for letter case.
pub(crate) fn equals(left: &str, right: &str) -> bool {
    if left.is_ascii() && right.is_ascii() {
        return left.eq_ignore_ascii_case(right);
    }
    left.chars().map(lower_character).eq(right.chars().map(lower_character))
}

/// Says whether a text begins with another but for letter case.
pub(crate) fn starts_with(text: &str, start: &str) -> bool {
    begins(text.chars(), start.chars())
}

/// Says whether a text ends with another but for letter case.
pub(crate) fn ends_with(text: &str, end: &str) -> bool {
    begins(text.chars().rev(), end.chars().rev())
}

fn begins(mut text: impl Iterator<Item = char>, mut start: impl Iterator<Item = char>) -> bool {
    start.all(|wanted| {
        text.next().is_some_and(|own| own == wanted || lower_character(own) == lower_character(wanted))
    })
}

/// Says whether a text contains another but for letter case.
pub(crate) fn contains(text: &str, part: &str) -> bool {
    if part.len() <= SCAN_NEEDLE_BYTES_MAX && text.is_ascii() && part.is_ascii() {
        let (text, part) = (text.as_bytes(), part.as_bytes());
        let Some(&first) = part.first() else {
            return true;
        };
        return text
            .windows(part.len())
            .any(|window| window[0].eq_ignore_ascii_case(&first) && window.eq_ignore_ascii_case(part));
    }
    lower(&Cow::Borrowed(text)).contains(&*lower(&Cow::Borrowed(part)))
}

fn lower_character(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    match character {
        // The full mapping keeps the dot as a character of its own.
        '\u{130}' => 'i',
        _ => single(character.to_lowercase()).unwrap_or(character),
    }
}

fn upper_character(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_uppercase();
    }
    single(character.to_uppercase()).unwrap_or_else(|| match character {
        // Greek vowels with an iota below: the simple mapping keeps the iota.
        '\u{1F80}'..='\u{1F87}' | '\u{1F90}'..='\u{1F97}' | '\u{1FA0}'..='\u{1FA7}' => {
            char::from_u32(character as u32 + 8).unwrap_or(character)
        }
        '\u{1FB3}' => '\u{1FBC}',
        '\u{1FC3}' => '\u{1FCC}',
        '\u{1FF3}' => '\u{1FFC}',
        _ => character,
    })
}

fn single(mut mapped: impl ExactSizeIterator<Item = char>) -> Option<char> {
    if mapped.len() == 1 { mapped.next() } else { None }
}
