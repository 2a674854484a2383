//! The scanner under every reader of JSON text: it recognises one token at a time and builds nothing.
//!
//! Invariant: the text has passed [`validate_utf8`], so token ranges cut it at character boundaries.

use super::error::{Fault, JsonErrorKind};
use super::number;
use super::string;
use crate::value::Kind;

/// A position in a text that is valid UTF-8.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    pub(crate) position: usize,
}

/// The content of a string token, without its quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StringToken<'a> {
    pub(crate) raw: &'a str,
    pub(crate) escaped: bool,
}

/// A number token and the type it gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberToken<'a> {
    pub(crate) raw: &'a str,
    /// `Int64` or `Double`.
    pub(crate) kind: Kind,
}

/// Checks the encoding of a text once, before it is scanned.
pub(crate) fn validate_utf8(text: &[u8]) -> Result<&str, Fault> {
    if text.starts_with(b"\xEF\xBB\xBF") {
        return Err(Fault { kind: JsonErrorKind::ByteOrderMark, offset: 0 });
    }
    std::str::from_utf8(text)
        .map_err(|error| Fault { kind: JsonErrorKind::InvalidUtf8, offset: error.valid_up_to() })
}

pub(crate) fn is_whitespace(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { text, position: 0 }
    }

    /// Returns a scanner of the same text that stands somewhere else.
    pub(crate) fn at(&self, position: usize) -> Scanner<'a> {
        Scanner { text: self.text, position }
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes().get(self.position).copied()
    }

    pub(crate) fn fault(&self, kind: JsonErrorKind) -> Fault {
        Fault { kind, offset: self.position }
    }

    /// Says what stands here instead of what was expected.
    pub(crate) fn expected(&self, what: &'static str) -> Fault {
        self.fault(if self.position < self.text.len() {
            JsonErrorKind::Expected(what)
        } else {
            JsonErrorKind::UnexpectedEnd
        })
    }

    pub(crate) fn skip_whitespace(&mut self) {
        while self.peek().is_some_and(is_whitespace) {
            self.position += 1;
        }
    }

    /// Steps over one byte that has to be there.
    pub(crate) fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Fault> {
        if self.peek() != Some(byte) {
            return Err(self.expected(what));
        }
        self.position += 1;
        Ok(())
    }

    /// Steps over `true`, `false` or `null`.
    pub(crate) fn literal(&mut self, word: &'static str) -> Result<(), Fault> {
        if !self.bytes()[self.position..].starts_with(word.as_bytes()) {
            return Err(self.expected("a value"));
        }
        self.position += word.len();
        Ok(())
    }

    /// Steps over a string, at whose opening quote the scanner stands.
    pub(crate) fn string(&mut self) -> Result<StringToken<'a>, Fault> {
        let start = self.position + 1;
        let (end, escaped) = string::scan(self.bytes(), start)?;
        self.position = end + 1;
        Ok(StringToken { raw: &self.text[start..end], escaped })
    }

    /// Steps over a number, at whose first byte the scanner stands.
    pub(crate) fn number(&mut self) -> Result<NumberToken<'a>, Fault> {
        let start = self.position;
        let (end, kind) = number::scan(self.text, start)?;
        self.position = end;
        Ok(NumberToken { raw: &self.text[start..end], kind })
    }
}
