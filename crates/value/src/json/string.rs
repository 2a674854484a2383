//! Strings inside JSON text: finding their end, eight bytes at a time, and resolving their escapes.

use std::borrow::Cow;

use super::error::{Fault, JsonErrorKind};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Returns the position of the first quote, backslash or control character at or after `from`.
pub(crate) fn find_special(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(chunk) = bytes.get(at..at + 8) {
        let word = u64::from_le_bytes(chunk.try_into().expect("the range is eight bytes long"));
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        // Each term flags the bytes it looks for; a wrong flag can only stand above a right one, so the
        // lowest flag is right.
        let flags = ((quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash)
            | (word.wrapping_sub(ONES * 0x20) & !word))
            & HIGHS;
        if flags != 0 {
            return at + (flags.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while at < bytes.len() && !matches!(bytes[at], b'"' | b'\\' | 0..0x20) {
        at += 1;
    }
    at
}

/// Finds the closing quote of the string whose content begins at `start`; says whether it has escapes.
pub(crate) fn scan(bytes: &[u8], start: usize) -> Result<(usize, bool), Fault> {
    let mut at = find_special(bytes, start);
    if bytes.get(at) == Some(&b'"') {
        return Ok((at, false));
    }
    loop {
        match bytes.get(at) {
            None => return Err(Fault { kind: JsonErrorKind::UnexpectedEnd, offset: bytes.len() }),
            Some(b'"') => return Ok((at, true)),
            Some(b'\\') => at = escape(bytes, at)?.1,
            Some(_) => return Err(Fault { kind: JsonErrorKind::ControlCharacter, offset: at }),
        }
        at = find_special(bytes, at);
    }
}

/// Reads the escape at `at`; returns its character and the position after it.
fn escape(bytes: &[u8], at: usize) -> Result<(char, usize), Fault> {
    let character = match bytes.get(at + 1) {
        None => return Err(Fault { kind: JsonErrorKind::UnexpectedEnd, offset: bytes.len() }),
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(bytes, at),
        Some(_) => return Err(Fault { kind: JsonErrorKind::InvalidEscape, offset: at }),
    };
    Ok((character, at + 2))
}

fn unicode_escape(bytes: &[u8], at: usize) -> Result<(char, usize), Fault> {
    let first = code_unit(bytes, at)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, at + 6));
    }
    let lone = Fault { kind: JsonErrorKind::LoneSurrogate, offset: at };
    if first >= 0xDC00 || bytes.get(at + 6..at + 8) != Some(b"\\u") {
        return Err(lone);
    }
    let second = code_unit(bytes, at + 6)?;
    if !(0xDC00..0xE000).contains(&second) {
        return Err(lone);
    }
    let character = char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)).ok_or(lone)?;
    Ok((character, at + 12))
}

/// Reads the four digits of the `\u` escape at `at`.
fn code_unit(bytes: &[u8], at: usize) -> Result<u32, Fault> {
    let mut unit = 0;
    for offset in at + 2..at + 6 {
        let Some(&byte) = bytes.get(offset) else {
            return Err(Fault { kind: JsonErrorKind::UnexpectedEnd, offset: bytes.len() });
        };
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Err(Fault { kind: JsonErrorKind::InvalidEscape, offset: at });
        };
        unit = unit << 4 | digit;
    }
    Ok(unit)
}

/// Returns the text that the content of a string token stands for; `None` where an escape is broken.
pub(crate) fn unescape(raw: &str) -> Option<Cow<'_, str>> {
    let bytes = raw.as_bytes();
    let mut text = String::with_capacity(raw.len());
    let mut run_start = 0;
    while let Some(length) = raw.get(run_start..)?.find('\\') {
        let at = run_start + length;
        text.push_str(&raw[run_start..at]);
        let (character, after) = escape(bytes, at).ok()?;
        text.push(character);
        run_start = after;
    }
    if run_start == 0 {
        return Some(Cow::Borrowed(raw));
    }
    text.push_str(&raw[run_start..]);
    Some(Cow::Owned(text))
}
