//! JSON: a small tree that borrows what is read, and pieces that are written straight into bytes.
//!
//! Numbers keep their text and objects their order, since typed GraphSON has integers beyond 64 bits, decimals, and
//! maps whose order is kept.

use std::borrow::Cow;
use std::io::Write;

use crate::error::Fault;
use crate::limits::MAX_JSON_DEPTH;

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json<'t> {
    Null,
    Bool(bool),
    /// A number as it was written.
    Number(&'t str),
    Text(Cow<'t, str>),
    Array(Vec<Json<'t>>),
    Object(Vec<(Cow<'t, str>, Json<'t>)>),
}

impl<'t> Json<'t> {
    /// Reads a text that is one value.
    pub(crate) fn parse(bytes: &'t [u8]) -> Result<Json<'t>, Fault> {
        let text = std::str::from_utf8(bytes).map_err(|_| Fault::new("The message is not UTF-8."))?;
        let mut parser = Parser { text, at: 0, depth: 0 };
        let value = parser.value()?;
        parser.skip_space();
        match parser.at == text.len() {
            true => Ok(value),
            false => Err(parser.fault("the end of the message")),
        }
    }

    /// Returns a member of an object; the last one if there are several.
    pub(crate) fn member(&self, name: &str) -> Option<&Json<'t>> {
        match self {
            Json::Object(members) => {
                members.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn fault(&self, expected: &str) -> Fault {
        Fault::new(format!("The message is not JSON: expected {expected} at byte {}.", self.at))
    }

    fn slice(&self, from: usize, to: usize) -> Result<&'t str, Fault> {
        self.text.get(from..to).ok_or_else(|| self.fault("a character"))
    }

    fn value(&mut self) -> Result<Json<'t>, Fault> {
        self.skip_space();
        match self.peek() {
            Some(b'"') => self.string().map(Json::Text),
            Some(b'{') => self.nested(Parser::object),
            Some(b'[') => self.nested(Parser::array),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.fault("a value")),
        }
    }

    fn nested(&mut self, read: fn(&mut Parser<'t>) -> Result<Json<'t>, Fault>) -> Result<Json<'t>, Fault> {
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_JSON_DEPTH {
            return Err(Fault::new(format!("The message is nested deeper than {MAX_JSON_DEPTH} levels.")));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn word(&mut self, word: &str, value: Json<'t>) -> Result<Json<'t>, Fault> {
        match self.text.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            true => {
                self.at += word.len();
                Ok(value)
            }
            false => Err(self.fault("a value")),
        }
    }

    /// Reads what is between members: a comma (true) or the end (false).
    fn more(&mut self, end: u8) -> Result<bool, Fault> {
        self.skip_space();
        let next = self.peek();
        if next != Some(b',') && next != Some(end) {
            return Err(self.fault(if end == b']' { "',' or ']'" } else { "',' or '}'" }));
        }
        self.at += 1;
        Ok(next == Some(b','))
    }

    fn ends_at_once(&mut self, end: u8) -> bool {
        self.skip_space();
        let ends = self.peek() == Some(end);
        self.at += usize::from(ends);
        ends
    }

    fn array(&mut self) -> Result<Json<'t>, Fault> {
        let mut items = Vec::new();
        if !self.ends_at_once(b']') {
            loop {
                items.push(self.value()?);
                if !self.more(b']')? {
                    break;
                }
            }
        }
        Ok(Json::Array(items))
    }

    fn object(&mut self) -> Result<Json<'t>, Fault> {
        let mut members = Vec::new();
        if !self.ends_at_once(b'}') {
            loop {
                self.skip_space();
                if self.peek() != Some(b'"') {
                    return Err(self.fault("a name in quotes"));
                }
                let name = self.string()?;
                self.skip_space();
                if self.peek() != Some(b':') {
                    return Err(self.fault("':'"));
                }
                self.at += 1;
                members.push((name, self.value()?));
                if !self.more(b'}')? {
                    break;
                }
            }
        }
        Ok(Json::Object(members))
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == from { Err(self.fault("a digit")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<Json<'t>, Fault> {
        let from = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        self.slice(from, self.at).map(Json::Number)
    }

    /// Reads a string; the quote it begins with is next.
    fn string(&mut self) -> Result<Cow<'t, str>, Fault> {
        self.at += 1;
        let from = self.at;
        self.skip_plain();
        let plain = self.slice(from, self.at)?;
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(plain));
        }
        let mut text = plain.to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => {
                    self.at += 1;
                    let escaped = self.escape()?;
                    text.push(escaped);
                }
                _ => return Err(self.fault("the end of a string")),
            }
            let from = self.at;
            self.skip_plain();
            text.push_str(self.slice(from, self.at)?);
        }
    }

    fn skip_plain(&mut self) {
        while self.peek().is_some_and(|byte| byte != b'"' && byte != b'\\' && byte >= b' ') {
            self.at += 1;
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let Some(letter) = self.peek() else { return Err(self.fault("an escape")) };
        self.at += 1;
        Ok(match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err(self.fault("an escape")),
        })
    }

    fn unicode(&mut self) -> Result<char, Fault> {
        let first = self.hex()?;
        // A half without its partner is no character: it becomes the replacement character.
        if (0xd800..0xdc00).contains(&first)
            && self.text.get(self.at..).is_some_and(|rest| rest.starts_with("\\u"))
        {
            let behind = self.at;
            self.at += 2;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = behind;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let digits =
            self.text.get(self.at..self.at + 4).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
        let digits = digits.ok_or_else(|| self.fault("four hexadecimal digits"))?;
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| self.fault("four hexadecimal digits"))
    }
}

/// Writes a string in quotes.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte >= b' ' && *byte != b'"' && *byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => {
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

/// Writes an integer.
pub(crate) fn write_integer(out: &mut Vec<u8>, number: i64) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// Writes a number with a fraction; what JSON has no number for is a string, as Java writes it.
pub(crate) fn write_double(out: &mut Vec<u8>, number: f64) {
    if number.is_finite() {
        let _ = write!(out, "{number:?}");
    } else {
        write_not_finite(out, number);
    }
}

/// Writes the shortest text of a number of 32 bits.
pub(crate) fn write_float(out: &mut Vec<u8>, number: f32) {
    if number.is_finite() {
        let _ = write!(out, "{number:?}");
    } else {
        write_not_finite(out, f64::from(number));
    }
}

fn write_not_finite(out: &mut Vec<u8>, number: f64) {
    let text = match (number.is_nan(), number > 0.0) {
        (true, _) => "\"NaN\"",
        (_, true) => "\"Infinity\"",
        _ => "\"-Infinity\"",
    };
    out.extend_from_slice(text.as_bytes());
}

/// Returns whether a text is a number of JSON.
pub(crate) fn is_number(text: &str) -> bool {
    let mut parser = Parser { text, at: 0, depth: 0 };
    matches!(parser.peek(), Some(b'-' | b'0'..=b'9')) && parser.number().is_ok() && parser.at == text.len()
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
