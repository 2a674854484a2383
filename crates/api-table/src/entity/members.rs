//! Cuts the text of a JSON object into its members, without making a tree of it.
//!
//! Both requests and items are flat objects of scalars, read member by member. An object or an array inside is
//! stepped over.
//!
//! Invariants:
//! * any bytes give members or [`Malformed`], never a panic, in one pass and without recursion;
//! * numbers, literals and the ends of strings are strictly JSON's; escapes are checked by whoever resolves them, and
//!   the inside of what is stepped over is not checked at all.

use std::borrow::Cow;

use armilla_value::{Value, json};

/// The text is not a JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// A string between its quotes, as it is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawString<'a> {
    /// What stands between the quotes.
    pub(crate) text: &'a str,
    /// Whether there are escapes in it.
    pub(crate) is_escaped: bool,
}

/// One member of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member<'a> {
    /// Its name.
    pub(crate) name: RawString<'a>,
    /// Its value.
    pub(crate) value: RawValue<'a>,
}

/// The value of a member, as it is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RawValue<'a> {
    /// A string.
    String(RawString<'a>),
    /// A number spelled without point and exponent.
    Integer(&'a str),
    /// Any other number.
    Fraction(&'a str),
    /// True or false.
    Boolean(bool),
    /// Null.
    Null,
    /// An object, with its brackets.
    Object(&'a str),
    /// An array, with its brackets.
    Array(&'a str),
}

impl<'a> RawString<'a> {
    /// Returns a string that has no escapes.
    pub(crate) fn plain(text: &'a str) -> RawString<'a> {
        RawString { text, is_escaped: false }
    }

    /// Returns the text it stands for; `None` where an escape is broken.
    pub(crate) fn unescape(self) -> Option<Cow<'a, str>> {
        if !self.is_escaped {
            return Some(Cow::Borrowed(self.text));
        }
        let mut token = Vec::with_capacity(self.text.len() + 2);
        self.push_token(&mut token);
        match json::parse(&token) {
            Ok(Value::String(text)) => Some(Cow::Owned(text)),
            _ => None,
        }
    }

    /// Says whether it stands for a text.
    pub(crate) fn is(self, text: &str) -> bool {
        if self.is_escaped { self.unescape().is_some_and(|own| own == text) } else { self.text == text }
    }

    /// Appends it with its quotes, as it is spelled.
    pub(crate) fn push_token(self, out: &mut Vec<u8>) {
        out.push(b'"');
        out.extend_from_slice(self.text.as_bytes());
        out.push(b'"');
    }
}

impl<'a> RawValue<'a> {
    /// Returns a string.
    pub(crate) fn string(self) -> Option<RawString<'a>> {
        match self {
            RawValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// Appends the value as it is spelled.
    pub(crate) fn push_token(self, out: &mut Vec<u8>) {
        match self {
            RawValue::String(text) => text.push_token(out),
            RawValue::Integer(text)
            | RawValue::Fraction(text)
            | RawValue::Object(text)
            | RawValue::Array(text) => out.extend_from_slice(text.as_bytes()),
            RawValue::Boolean(true) => out.extend_from_slice(b"true"),
            RawValue::Boolean(false) => out.extend_from_slice(b"false"),
            RawValue::Null => out.extend_from_slice(b"null"),
        }
    }
}

/// The members of one object, from the first to the last.
///
/// Reading is inlined into the loops around it: a member is too large for registers, and copying it from call to call
/// takes longer than finding it.
pub(crate) struct Members<'a> {
    text: &'a str,
    at: usize,
    is_first: bool,
}

impl<'a> Members<'a> {
    /// Begins with the object that a text holds.
    pub(crate) fn of(text: &'a [u8]) -> Result<Members<'a>, Malformed> {
        Members::of_text(std::str::from_utf8(text).map_err(|_| Malformed)?)
    }

    /// Begins with the object that a text holds.
    pub(crate) fn of_text(text: &'a str) -> Result<Members<'a>, Malformed> {
        let mut members = Members { text, at: 0, is_first: true };
        members.skip_whitespace();
        members.take(b'{')?;
        Ok(members)
    }

    /// Returns the next member; behind the last one, nothing but white space may follow.
    #[inline(always)]
    pub(crate) fn next_member(&mut self) -> Result<Option<Member<'a>>, Malformed> {
        self.skip_whitespace();
        let is_first = std::mem::replace(&mut self.is_first, false);
        if self.peek() == Some(b'}') {
            self.at += 1;
            self.skip_whitespace();
            return if self.at == self.text.len() { Ok(None) } else { Err(Malformed) };
        }
        if !is_first {
            self.take(b',')?;
            self.skip_whitespace();
        }
        let name = self.string()?;
        self.skip_whitespace();
        self.take(b':')?;
        self.skip_whitespace();
        let value = self.value()?;
        Ok(Some(Member { name, value }))
    }

    #[inline(always)]
    fn value(&mut self) -> Result<RawValue<'a>, Malformed> {
        match self.peek() {
            Some(b'"') => self.string().map(RawValue::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true", RawValue::Boolean(true)),
            Some(b'f') => self.literal("false", RawValue::Boolean(false)),
            Some(b'n') => self.literal("null", RawValue::Null),
            Some(b'{') => self.nested().map(RawValue::Object),
            Some(b'[') => self.nested().map(RawValue::Array),
            _ => Err(Malformed),
        }
    }

    #[inline(always)]
    fn string(&mut self) -> Result<RawString<'a>, Malformed> {
        self.take(b'"')?;
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut is_escaped = false;
        loop {
            self.at = find_special(bytes, self.at);
            match bytes.get(self.at) {
                Some(b'"') => {
                    let text = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(RawString { text, is_escaped });
                }
                Some(b'\\') => {
                    is_escaped = true;
                    // What stands behind a backslash ends no string.
                    self.at += 2;
                }
                _ => return Err(Malformed),
            }
        }
    }

    fn number(&mut self) -> Result<RawValue<'a>, Malformed> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let whole = self.digits()?;
        if whole > 1 && self.text.as_bytes()[self.at - whole] == b'0' {
            return Err(Malformed);
        }
        let mut is_integer = true;
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
            is_integer = false;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
            is_integer = false;
        }
        let text = &self.text[start..self.at];
        Ok(if is_integer { RawValue::Integer(text) } else { RawValue::Fraction(text) })
    }

    /// Steps over at least one digit, and returns how many there were.
    fn digits(&mut self) -> Result<usize, Malformed> {
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err(Malformed) } else { Ok(count) }
    }

    fn literal(&mut self, text: &str, value: RawValue<'a>) -> Result<RawValue<'a>, Malformed> {
        if !self.text.as_bytes()[self.at..].starts_with(text.as_bytes()) {
            return Err(Malformed);
        }
        self.at += text.len();
        Ok(value)
    }

    /// Steps over an object or an array: to the bracket that closes the first one.
    fn nested(&mut self) -> Result<&'a str, Malformed> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') => depth -= 1,
                Some(_) => {}
                None => return Err(Malformed),
            }
            self.at += 1;
            if depth == 0 {
                // Brackets are ASCII, so these are boundaries of characters.
                return Ok(&self.text[start..self.at]);
            }
        }
    }

    #[inline(always)]
    fn skip_whitespace(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    #[inline(always)]
    fn take(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.peek() != Some(byte) {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// Returns where the next quote, backslash or control character stands at or behind `from`, eight bytes at a time.
#[inline]
fn find_special(bytes: &[u8], from: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let mut at = from;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        // The lowest flag is right: a wrong one can only stand above a right one.
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

#[cfg(test)]
mod tests;
