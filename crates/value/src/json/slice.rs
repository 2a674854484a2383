//! Cuts JSON text into the elements of an array or the members of an object, without reading them.
//!
//! For whoever passes values on as the text that they are, or wants a few members of many: only the ends of values
//! are looked for.
//!
//! Invariants:
//! * any bytes give parts or an error, never a panic, in one pass and without recursion;
//! * a part is a view of the text: nothing is copied;
//! * text that is JSON is cut where JSON says. What is cut out of other text may be no JSON: whoever uses a part
//!   reads it strictly.

use std::borrow::Cow;
use std::fmt;

use super::{DEPTH_MAX, is_whitespace, parse};
use crate::value::Value;

/// Why text cannot be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    /// Where in the text.
    pub position: usize,
    /// What should stand there.
    pub expected: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.position)
    }
}

impl std::error::Error for Malformed {}

/// Returns the elements of an array that takes up a whole text. After an error there are no more.
pub fn elements(text: &[u8]) -> Result<Elements<'_>, Malformed> {
    Parts::begin(text, b'[', "an array").map(Elements)
}

/// Returns the members of an object that takes up a whole text. After an error there are no more.
pub fn members(text: &[u8]) -> Result<Members<'_>, Malformed> {
    Parts::begin(text, b'{', "an object").map(Members)
}

/// Returns the text of the last member of a name; `None` if there is none.
pub fn member<'t>(object: &'t [u8], name: &str) -> Result<Option<&'t [u8]>, Malformed> {
    let mut found = None;
    for member in members(object)? {
        let member = member?;
        if member.is_named(name) {
            found = Some(member.value);
        }
    }
    Ok(found)
}

/// Returns how long the value at the beginning of a text is, which may go on behind it.
pub fn value_length(text: &[u8]) -> Result<usize, Malformed> {
    let mut parts = Parts { text, position: 0, state: State::First };
    parts.value().map(<[u8]>::len)
}

/// Returns what a string token, with its quotes, says; `None` if it is none, or is broken.
pub fn string(token: &[u8]) -> Option<Cow<'_, str>> {
    let inner = token.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if inner.contains(&b'\\') {
        return match parse(token) {
            Ok(Value::String(text)) => Some(Cow::Owned(text)),
            _ => None,
        };
    }
    std::str::from_utf8(inner).ok().map(Cow::Borrowed)
}

/// Checks that brackets close those that were opened, at most [`DEPTH_MAX`] deep: then a text in which values were
/// found to be whole holds just these, wherever it is put.
pub fn check_brackets(text: &[u8]) -> Result<(), Malformed> {
    let mut parts = Parts { text, position: 0, state: State::First };
    let mut open = Vec::new();
    while let Some(byte) = parts.peek() {
        match byte {
            b'"' => {
                parts.string()?;
                continue;
            }
            b'{' | b'[' if open.len() == DEPTH_MAX => return Err(parts.expected("no deeper nesting")),
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' if open.pop() != Some(byte) => {
                return Err(parts.expected("the bracket that was opened last"));
            }
            _ => {}
        }
        parts.position += 1;
    }
    if open.is_empty() { Ok(()) } else { Err(parts.expected("a closing bracket")) }
}

/// One member of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member<'t> {
    /// Its name as it is spelled, with the quotes.
    pub name: &'t [u8],
    /// The text of its value.
    pub value: &'t [u8],
    /// Where the value begins in the text that was cut.
    pub position: usize,
}

impl<'t> Member<'t> {
    /// Returns the name as it stands between the quotes.
    pub fn spelled_name(&self) -> &'t [u8] {
        &self.name[1..self.name.len() - 1]
    }

    /// Says whether this is its name.
    pub fn is_named(&self, name: &str) -> bool {
        let inner = self.spelled_name();
        match inner.contains(&b'\\') {
            true => string(self.name).is_some_and(|own| own == name),
            false => inner == name.as_bytes(),
        }
    }
}

/// The elements of an array, from the first to the last.
#[derive(Debug, Clone)]
pub struct Elements<'t>(Parts<'t>);

impl<'t> Iterator for Elements<'t> {
    type Item = Result<&'t [u8], Malformed>;

    fn next(&mut self) -> Option<Result<&'t [u8], Malformed>> {
        let next = match self.0.step(b']', "a comma or the end of the array") {
            Ok(true) => self.0.value().map(Some),
            Ok(false) => Ok(None),
            Err(malformed) => Err(malformed),
        };
        self.0.noted(next)
    }
}

/// The members of an object, from the first to the last.
#[derive(Debug, Clone)]
pub struct Members<'t>(Parts<'t>);

impl<'t> Members<'t> {
    fn step(&mut self) -> Result<Option<Member<'t>>, Malformed> {
        let parts = &mut self.0;
        if !parts.step(b'}', "a comma or the end of the object")? {
            return Ok(None);
        }
        if parts.peek() != Some(b'"') {
            return Err(parts.expected("a name in quotes"));
        }
        let name = parts.value()?;
        parts.skip_whitespace();
        parts.take(b':', "a colon")?;
        parts.skip_whitespace();
        let position = parts.position;
        Ok(Some(Member { name, value: parts.value()?, position }))
    }
}

impl<'t> Iterator for Members<'t> {
    type Item = Result<Member<'t>, Malformed>;

    fn next(&mut self) -> Option<Result<Member<'t>, Malformed>> {
        let next = self.step();
        self.0.noted(next)
    }
}

/// A position in an array or an object.
#[derive(Debug, Clone)]
struct Parts<'t> {
    text: &'t [u8],
    position: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Behind the opening bracket.
    First,
    /// Behind a part.
    Later,
    /// Behind everything, or behind an error.
    Over,
}

impl<'t> Parts<'t> {
    fn begin(text: &'t [u8], bracket: u8, expected: &'static str) -> Result<Parts<'t>, Malformed> {
        let mut parts = Parts { text, position: 0, state: State::First };
        parts.skip_whitespace();
        parts.take(bracket, expected)?;
        Ok(parts)
    }

    /// Makes what an iterator returns of a step.
    fn noted<T>(&mut self, next: Result<Option<T>, Malformed>) -> Option<Result<T, Malformed>> {
        if !matches!(next, Ok(Some(_))) {
            self.state = State::Over;
        }
        next.transpose()
    }

    /// Steps to the next part; `false` if there is none. At the end nothing but white space may follow.
    fn step(&mut self, bracket: u8, expected: &'static str) -> Result<bool, Malformed> {
        let state = std::mem::replace(&mut self.state, State::Later);
        if state == State::Over {
            return Ok(false);
        }
        self.skip_whitespace();
        if self.peek() == Some(bracket) {
            self.position += 1;
            self.skip_whitespace();
            return if self.peek().is_none() { Ok(false) } else { Err(self.expected("the end of the text")) };
        }
        if state == State::Later {
            self.take(b',', expected)?;
            self.skip_whitespace();
        }
        Ok(true)
    }

    /// Steps over one value and returns its text.
    fn value(&mut self) -> Result<&'t [u8], Malformed> {
        let start = self.position;
        match self.peek() {
            Some(b'"') => self.string()?,
            Some(b'{' | b'[') => self.nested()?,
            _ => {
                let is_scalar =
                    |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                self.position += self.rest().iter().take_while(|byte| is_scalar(byte)).count();
                if self.position == start {
                    return Err(self.expected("a value"));
                }
            }
        }
        Ok(&self.text[start..self.position])
    }

    /// Steps over an object or an array: to the bracket that closes the first one.
    fn nested(&mut self) -> Result<(), Malformed> {
        let mut depth = 0_usize;
        loop {
            let is_special = |byte: &u8| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']');
            let Some(next) = self.rest().iter().position(is_special) else {
                self.position = self.text.len();
                return Err(self.expected("a closing bracket"));
            };
            self.position += next;
            match self.text[self.position] {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                _ => depth -= 1,
            }
            self.position += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Steps over a string.
    fn string(&mut self) -> Result<(), Malformed> {
        self.position += 1;
        loop {
            let rest = self.rest();
            let Some(next) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) else {
                self.position = self.text.len();
                return Err(self.expected("a closing quote"));
            };
            if rest[next] == b'"' {
                self.position += next + 1;
                return Ok(());
            }
            // What stands behind a backslash ends no string. It may be the end of the text.
            self.position = (self.position + next + 2).min(self.text.len());
        }
    }

    fn skip_whitespace(&mut self) {
        self.position += self.rest().iter().take_while(|byte| is_whitespace(**byte)).count();
    }

    fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), Malformed> {
        if self.peek() != Some(byte) {
            return Err(self.expected(expected));
        }
        self.position += 1;
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.position).copied()
    }

    fn rest(&self) -> &'t [u8] {
        &self.text[self.position..]
    }

    fn expected(&self, expected: &'static str) -> Malformed {
        Malformed { position: self.position, expected }
    }
}

#[cfg(test)]
mod tests;
