//! Rewrites a JSON text so that no object has one name twice: the last value, at the place of the first.
//!
//! This is the slow way that `encode` takes when it meets a duplicate. Spelling survives, white space does not.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::json::{Fault, JsonErrorKind, Scanner, unescape};
use crate::limits::DEPTH_MAX;

/// Returns the text without duplicate names and without white space.
pub(crate) fn resolve(text: &str) -> Result<String, Fault> {
    let mut resolver = Resolver { scanner: Scanner::new(text), text, out: String::with_capacity(text.len()) };
    resolver.scanner.skip_whitespace();
    resolver.value(1)?;
    resolver.scanner.skip_whitespace();
    if resolver.scanner.peek().is_some() {
        return Err(resolver.scanner.fault(JsonErrorKind::TrailingBytes));
    }
    Ok(resolver.out)
}

struct Resolver<'a> {
    scanner: Scanner<'a>,
    text: &'a str,
    out: String,
}

/// Where a member stands in the text written so far.
struct Member {
    name: Range<usize>,
    value: Range<usize>,
}

impl<'a> Resolver<'a> {
    fn value(&mut self, depth: usize) -> Result<(), Fault> {
        let start = self.scanner.position;
        match self.scanner.peek() {
            Some(b'{') => return self.object(depth),
            Some(b'[') => return self.array(depth),
            Some(b'"') => drop(self.scanner.string()?),
            Some(b'-' | b'0'..=b'9') => drop(self.scanner.number()?),
            Some(b't') => self.scanner.literal("true")?,
            Some(b'f') => self.scanner.literal("false")?,
            Some(b'n') => self.scanner.literal("null")?,
            _ => return Err(self.scanner.expected("a value")),
        }
        self.out.push_str(&self.text[start..self.scanner.position]);
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Result<(), Fault> {
        self.open(depth, '[')?;
        if self.close(b']') {
            self.out.push(']');
            return Ok(());
        }
        loop {
            self.value(depth + 1)?;
            self.scanner.skip_whitespace();
            if self.close(b']') {
                self.out.push(']');
                return Ok(());
            }
            self.scanner.expect(b',', "',' or ']'")?;
            self.scanner.skip_whitespace();
            self.out.push(',');
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), Fault> {
        let start = self.out.len();
        self.open(depth, '{')?;
        if self.close(b'}') {
            self.out.push('}');
            return Ok(());
        }
        let mut members: Vec<Member> = Vec::new();
        let mut indexes: HashMap<Cow<'a, str>, usize> = HashMap::new();
        let mut has_duplicates = false;
        loop {
            let (name, member) = self.member(depth)?;
            match indexes.get(&name) {
                Some(&index) => {
                    members[index].value = member.value;
                    has_duplicates = true;
                }
                None => {
                    indexes.insert(name, members.len());
                    members.push(member);
                }
            }
            self.scanner.skip_whitespace();
            if self.close(b'}') {
                break;
            }
            self.scanner.expect(b',', "',' or '}'")?;
            self.scanner.skip_whitespace();
            self.out.push(',');
        }
        self.out.push('}');
        if has_duplicates {
            self.rebuild(start, &members);
        }
        Ok(())
    }

    fn member(&mut self, depth: usize) -> Result<(Cow<'a, str>, Member), Fault> {
        if self.scanner.peek() != Some(b'"') {
            return Err(self.scanner.expected("a member name"));
        }
        let token = self.scanner.string()?;
        let name_start = self.out.len();
        self.out.push('"');
        self.out.push_str(token.raw);
        self.out.push_str("\":");
        self.scanner.skip_whitespace();
        self.scanner.expect(b':', "':'")?;
        self.scanner.skip_whitespace();
        let value_start = self.out.len();
        self.value(depth + 1)?;
        let name = unescape(token.raw).expect("the scanner has checked the escapes");
        Ok((name, Member { name: name_start..value_start, value: value_start..self.out.len() }))
    }

    /// Writes the object that begins at `start` again, with these members alone.
    fn rebuild(&mut self, start: usize, members: &[Member]) {
        let mut object = String::with_capacity(self.out.len() - start);
        for member in members {
            object.push(if object.is_empty() { '{' } else { ',' });
            object.push_str(&self.out[member.name.clone()]);
            object.push_str(&self.out[member.value.clone()]);
        }
        object.push('}');
        self.out.truncate(start);
        self.out.push_str(&object);
    }

    fn open(&mut self, depth: usize, bracket: char) -> Result<(), Fault> {
        if depth > DEPTH_MAX {
            return Err(self.scanner.fault(JsonErrorKind::TooDeep));
        }
        self.out.push(bracket);
        self.scanner.position += 1;
        self.scanner.skip_whitespace();
        Ok(())
    }

    fn close(&mut self, bracket: u8) -> bool {
        let closes = self.scanner.peek() == Some(bracket);
        self.scanner.position += usize::from(closes);
        closes
    }
}
