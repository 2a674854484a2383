//! Looks over the text of a JSON object as far as it takes to import it: that it is one object and nothing else, where
//! its id is and where the components of its partition key are.
//!
//! Names and strings are not decoded, numbers are not read: the server does that. What passes here can stand between
//! other items in the body of a request without being taken for more than one, whatever else is wrong with it.

use std::borrow::Cow;

use armilla_value::{PropertyPath, Value, json};

/// Deepest nesting that is followed; the server's own bound is the same.
const DEPTH_MAX: usize = json::DEPTH_MAX;

/// Where something stands in a text.
pub(crate) type Span = std::ops::Range<usize>;

/// What was found in an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The value of `id`.
    pub(crate) id: Option<Span>,
    /// The values at the paths, in their order.
    pub(crate) values: Vec<Option<Span>>,
}

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// What.
    pub(crate) what: &'static str,
    /// Where, in bytes.
    pub(crate) at: usize,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}

/// Looks over the text of an object.
pub(crate) fn object(text: &[u8], paths: &[PropertyPath]) -> Result<Found, Malformed> {
    let mut scanner = Scanner { bytes: text, at: 0 };
    let mut found = Found { id: None, values: vec![None; paths.len()] };
    let wanted: Vec<(usize, &[String])> =
        paths.iter().enumerate().map(|(index, path)| (index, path.names())).collect();
    if scanner.peek() != Some(b'{') {
        return Err(scanner.malformed("no JSON object"));
    }
    scanner.members(1, |scanner, name, depth| {
        let is_id = name == "id";
        let start = scanner.start();
        scanner.member_value(&name, &wanted, &mut found.values, depth)?;
        if is_id {
            found.id = Some(start..scanner.at);
        }
        Ok(())
    })?;
    match scanner.peek() {
        None => Ok(found),
        Some(_) => Err(scanner.malformed("more than one JSON object")),
    }
}

/// Returns the members of an object that are not named, as one object's text.
pub(crate) fn without(text: &[u8], names: &[&str]) -> Result<Vec<u8>, Malformed> {
    let mut scanner = Scanner { bytes: text, at: 0 };
    let mut kept = Vec::with_capacity(text.len());
    kept.push(b'{');
    if scanner.peek() != Some(b'{') {
        return Err(scanner.malformed("no JSON object"));
    }
    scanner.each_member(1, |scanner, name_span, depth| {
        let name = decoded(&text[name_span.clone()]);
        let start = scanner.start();
        scanner.value(depth)?;
        if name.is_none_or(|name| !names.contains(&name.as_ref())) {
            if kept.len() > 1 {
                kept.push(b',');
            }
            kept.extend_from_slice(&text[name_span]);
            kept.push(b':');
            kept.extend_from_slice(&text[start..scanner.at]);
        }
        Ok(())
    })?;
    kept.push(b'}');
    Ok(kept)
}

/// Returns the text of a string token; nothing if it is none.
pub(crate) fn decoded(token: &[u8]) -> Option<Cow<'_, str>> {
    let inner = token.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if inner.contains(&b'\\') {
        return match json::parse(token) {
            Ok(Value::String(text)) => Some(Cow::Owned(text)),
            _ => None,
        };
    }
    std::str::from_utf8(inner).ok().map(Cow::Borrowed)
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Scanner<'t> {
    fn malformed(&self, what: &'static str) -> Malformed {
        Malformed { what, at: self.at }
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Where the next value begins.
    fn start(&mut self) -> usize {
        self.peek();
        self.at
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Malformed> {
        if self.peek() != Some(byte) {
            return Err(self.malformed(what));
        }
        self.at += 1;
        Ok(())
    }

    /// Goes through the members of an object, whose names are decoded.
    fn members(
        &mut self,
        depth: usize,
        mut visit: impl FnMut(&mut Self, Cow<'t, str>, usize) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.each_member(depth, |scanner, span, depth| {
            // A name that cannot be decoded is none that is looked for.
            let name = decoded(&scanner.bytes[span]).unwrap_or_default();
            visit(scanner, name, depth)
        })
    }

    /// Goes through the members of an object; the scanner stands before the value.
    fn each_member(
        &mut self,
        depth: usize,
        mut visit: impl FnMut(&mut Self, Span, usize) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        if depth > DEPTH_MAX {
            return Err(self.malformed("nested too deeply"));
        }
        self.expect(b'{', "no object")?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let start = self.start();
            if self.bytes.get(start) != Some(&b'"') {
                return Err(self.malformed("no name of a member"));
            }
            self.string()?;
            let name = start..self.at;
            self.expect(b':', "no colon behind a name")?;
            visit(self, name, depth)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                None => return Err(self.malformed("cut off")),
                Some(_) => return Err(self.malformed("neither a comma nor the end of an object")),
            }
        }
    }

    /// Steps over the value of a member, and notes where the values are that are wanted.
    fn member_value(
        &mut self,
        name: &str,
        wanted: &[(usize, &[String])],
        values: &mut [Option<Span>],
        depth: usize,
    ) -> Result<(), Malformed> {
        if !wanted.iter().any(|(_, names)| names.first().is_some_and(|first| first == name)) {
            return self.value(depth);
        }
        let start = self.start();
        let mut inner: Vec<(usize, &[String])> = Vec::new();
        let mut here = Vec::new();
        for (index, names) in wanted {
            match names.split_first() {
                Some((first, rest)) if first == name => {
                    // A name that comes twice has the value of the last.
                    values[*index] = None;
                    if rest.is_empty() { here.push(*index) } else { inner.push((*index, rest)) }
                }
                _ => {}
            }
        }
        if !inner.is_empty() && self.peek() == Some(b'{') {
            self.members(depth + 1, |scanner, name, depth| {
                scanner.member_value(&name, &inner, values, depth)
            })?;
        } else {
            self.value(depth)?;
        }
        for index in here {
            values[index] = Some(start..self.at);
        }
        Ok(())
    }

    /// Steps over a value.
    fn value(&mut self, depth: usize) -> Result<(), Malformed> {
        match self.peek() {
            None => Err(self.malformed("cut off")),
            Some(b'"') => self.string(),
            Some(b'{' | b'[') => self.nested(depth),
            Some(_) => self.word(),
        }
    }

    /// Steps over a number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<(), Malformed> {
        let rest = &self.bytes[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.malformed("no value"));
        }
        self.at += length;
        Ok(())
    }

    /// Steps over a string, at whose first quote the scanner stands.
    fn string(&mut self) -> Result<(), Malformed> {
        self.at += 1;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(length) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) else {
                self.at = self.bytes.len();
                return Err(self.malformed("cut off in a string"));
            };
            // A backslash takes the next byte along, whatever it is.
            let is_end = rest[length] == b'"';
            self.at += length + if is_end { 1 } else { 2 };
            if is_end {
                return Ok(());
            }
        }
    }

    /// Steps over an object or array without recursion: brackets must match and names must have values, since what
    /// is let through here stands between other items.
    fn nested(&mut self, depth: usize) -> Result<(), Malformed> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.peek() {
                None => return Err(self.malformed("cut off")),
                Some(b'"') => self.string()?,
                Some(bracket @ (b'{' | b'[')) => {
                    if depth + open.len() >= DEPTH_MAX {
                        return Err(self.malformed("nested too deeply"));
                    }
                    open.push(bracket);
                    self.at += 1;
                    continue;
                }
                Some(bracket @ (b'}' | b']')) => {
                    let expected = if bracket == b'}' { b'{' } else { b'[' };
                    if open.pop() != Some(expected) {
                        return Err(self.malformed("a bracket that closes another"));
                    }
                    self.at += 1;
                }
                Some(b',' | b':') => {
                    self.at += 1;
                    continue;
                }
                Some(_) => self.word()?,
            }
            if open.is_empty() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
