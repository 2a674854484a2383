//! JSON text to the stored form, in one pass and without a tree in between.
//!
//! The pass validates, leaves white space and dropped members out, spells strings with as few escapes as JSON
//! allows, and gathers the skeleton. What stays is copied in runs as long as possible: a text without white
//! space and escapes is copied once. Two rare findings start it again: a duplicate name (the text is first rewritten without duplicates), and a skeleton that outgrows
//! 16-bit positions.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use super::duplicates;
use super::skeleton::{
    NAME_LENGTH_LONG, SkeletonWriter, Slot, TAG_EMPTY, TAG_ESCAPED, TAG_NAME_ESCAPED, TooNarrow, name_hash,
};
use crate::json::{
    Fault, JsonError, JsonErrorKind, Scanner, StringToken, is_whitespace, unescape, validate_utf8,
    write_string,
};
use crate::limits::{DEPTH_MAX, LINEAR_SEARCH_MEMBERS_MAX, NARROW_BYTES_MAX, STORED_TEXT_BYTES_MAX};
use crate::value::Kind;

/// Why something cannot become a stored item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncodeError {
    /// The text is not JSON.
    Json(JsonError),
    /// The root is something else than an object.
    NotAnObject,
    /// Objects and arrays are nested deeper than allowed.
    TooDeep,
    /// The text is longer than positions in the skeleton can say.
    TooLong,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::Json(error) => error.fmt(formatter),
            EncodeError::NotAnObject => formatter.write_str("an item must be an object"),
            EncodeError::TooDeep => write!(formatter, "nested deeper than {DEPTH_MAX} levels"),
            EncodeError::TooLong => formatter.write_str("text too long to be stored"),
        }
    }
}

impl std::error::Error for EncodeError {}

/// Makes the stored form of a JSON text, leaving out the named members of the root.
pub fn encode(text: &[u8], drop_top_level: &[&str]) -> Result<Vec<u8>, EncodeError> {
    if text.len() > STORED_TEXT_BYTES_MAX {
        return Err(EncodeError::TooLong);
    }
    let fail = |fault: Fault| EncodeError::Json(fault.locate(text));
    let mut source = Cow::Borrowed(validate_utf8(text).map_err(fail)?);
    let mut wide = source.len() > NARROW_BYTES_MAX;
    loop {
        match Encoder::new(&source, wide, drop_top_level).run() {
            Ok(item) => return Ok(item),
            Err(Stop::NotAnObject) => return Err(EncodeError::NotAnObject),
            Err(Stop::Fault(fault)) => return Err(fail(fault)),
            Err(Stop::TooNarrow) if wide => return Err(EncodeError::TooLong),
            Err(Stop::TooNarrow) => wide = true,
            Err(Stop::Duplicate) => source = Cow::Owned(duplicates::resolve(&source).map_err(fail)?),
        }
    }
}

enum Stop {
    Fault(Fault),
    NotAnObject,
    Duplicate,
    TooNarrow,
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

impl From<TooNarrow> for Stop {
    fn from(_: TooNarrow) -> Stop {
        Stop::TooNarrow
    }
}

/// A value that has been stepped over: its tag and, where it has one, its entry.
type Scanned = (u8, u32);

struct Encoder<'a, 'd> {
    scanner: Scanner<'a>,
    skeleton: SkeletonWriter,
    out: Vec<u8>,
    /// The source from here to the scanner is kept but not yet copied.
    run_start: usize,
    drop_top_level: &'d [&'d str],
}

impl<'a, 'd> Encoder<'a, 'd> {
    fn new(text: &'a str, wide: bool, drop_top_level: &'d [&'d str]) -> Encoder<'a, 'd> {
        let skeleton = SkeletonWriter::new(wide, text.len());
        let out = skeleton.begin_item(text.len() + text.len() / 3 + 64);
        Encoder { scanner: Scanner::new(text), skeleton, out, run_start: 0, drop_top_level }
    }

    fn run(mut self) -> Result<Vec<u8>, Stop> {
        self.skip_whitespace();
        if self.scanner.peek() != Some(b'{') {
            // Broken text is reported as such, even where it would not be an object.
            let (_, _) = self.value(1)?;
            self.end()?;
            return Err(Stop::NotAnObject);
        }
        let (tag, mut root) = self.object(1)?;
        self.end()?;
        self.flush();
        if tag & TAG_EMPTY != 0 {
            root = self.skeleton.close_object(0)?;
        }
        Ok(self.skeleton.finish_item(self.out, root))
    }

    fn end(&mut self) -> Result<(), Stop> {
        self.skip_whitespace();
        if self.scanner.peek().is_some() {
            return Err(self.scanner.fault(JsonErrorKind::TrailingBytes).into());
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Scanned, Stop> {
        match self.scanner.peek() {
            Some(b'"') => {
                let source = self.scanner.position;
                let token = self.scanner.string()?;
                let (_, escaped) = self.respell(source, token);
                Ok((Kind::String as u8 | if escaped { TAG_ESCAPED } else { 0 }, 0))
            }
            Some(b'-' | b'0'..=b'9') => Ok((self.scanner.number()?.kind as u8, 0)),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b't') => self.literal("true", Kind::Bool),
            Some(b'f') => self.literal("false", Kind::Bool),
            Some(b'n') => self.literal("null", Kind::Null),
            _ => Err(self.scanner.expected("a value").into()),
        }
    }

    fn literal(&mut self, word: &'static str, kind: Kind) -> Result<Scanned, Stop> {
        self.scanner.literal(word)?;
        Ok((kind as u8, 0))
    }

    fn array(&mut self, depth: usize) -> Result<Scanned, Stop> {
        self.open(depth)?;
        if self.close(b']') {
            return Ok((Kind::Array as u8 | TAG_EMPTY, 0));
        }
        let base = self.skeleton.slots.len();
        loop {
            let position = self.position();
            let (tag, link) = self.value(depth + 1)?;
            self.skeleton.slots.push(Slot { position, link, source: 0, name_length: 0, hash: 0, tag });
            self.skip_whitespace();
            if self.close(b']') {
                return Ok((Kind::Array as u8, self.skeleton.close_array(base)?));
            }
            self.scanner.expect(b',', "',' or ']'")?;
            self.skip_whitespace();
        }
    }

    fn object(&mut self, depth: usize) -> Result<Scanned, Stop> {
        self.open(depth)?;
        if self.close(b'}') {
            return Ok((Kind::Object as u8 | TAG_EMPTY, 0));
        }
        let base = self.skeleton.slots.len();
        let mut seen = None;
        loop {
            if self.scanner.peek() != Some(b'"') {
                return Err(self.scanner.expected("a member name").into());
            }
            let source = self.scanner.position;
            let position = self.position();
            let name = self.scanner.string()?;
            let (hash, dropped) = self.look_at_name(name, depth);
            if dropped {
                self.drop_member(source, base)?;
            } else {
                if self.is_duplicate(base, name, hash, &mut seen) {
                    return Err(Stop::Duplicate);
                }
                let (name_length, name_escaped) = self.respell(source, name);
                self.skip_whitespace();
                self.scanner.expect(b':', "':'")?;
                self.skip_whitespace();
                let (tag, link) = self.value(depth + 1)?;
                self.skeleton.slots.push(Slot {
                    position,
                    link,
                    source: source as u32,
                    name_length: name_length.min(usize::from(NAME_LENGTH_LONG)) as u8,
                    hash,
                    tag: tag | if name_escaped { TAG_NAME_ESCAPED } else { 0 },
                });
            }
            self.skip_whitespace();
            if self.close(b'}') {
                if self.skeleton.slots.len() == base {
                    return Ok((Kind::Object as u8 | TAG_EMPTY, 0));
                }
                return Ok((Kind::Object as u8, self.skeleton.close_object(base)?));
            }
            self.scanner.expect(b',', "',' or '}'")?;
            if dropped && self.skeleton.slots.len() == base {
                // Nothing is kept yet, so the comma separates nothing.
                self.run_start = self.scanner.position;
            }
            self.skip_whitespace();
        }
    }

    /// Keeps a string token that began at `source`, with no more escapes than it needs: one client escapes
    /// everything beyond ASCII, and an item's size must not depend on that. Returns the length of its content
    /// and whether escapes remain.
    fn respell(&mut self, source: usize, token: StringToken<'_>) -> (usize, bool) {
        if !token.escaped {
            return (token.raw.len(), false);
        }
        self.out.extend_from_slice(&self.scanner.bytes()[self.run_start..source]);
        let start = self.out.len();
        write_string(&name_text(token), &mut self.out);
        self.run_start = self.scanner.position;
        let content = &self.out[start + 1..self.out.len() - 1];
        (content.len(), content.contains(&b'\\'))
    }

    /// Returns a name's hash, and whether its member is one to drop.
    fn look_at_name(&self, name: StringToken<'_>, depth: usize) -> (u8, bool) {
        let text = name_text(name);
        let dropped = depth == 1 && self.drop_top_level.contains(&text.as_ref());
        (name_hash(text.as_bytes()), dropped)
    }

    /// Steps over the rest of a member whose name began at `source`, and leaves all of it out.
    fn drop_member(&mut self, source: usize, base: usize) -> Result<(), Stop> {
        self.out.extend_from_slice(&self.scanner.bytes()[self.run_start..source]);
        if self.skeleton.slots.len() > base {
            // The comma in front; the one behind, if any, takes its place.
            self.out.pop();
        }
        let mark = self.skeleton.mark();
        self.scanner.skip_whitespace();
        self.scanner.expect(b':', "':'")?;
        self.run_start = self.scanner.position;
        self.skip_whitespace();
        let length = self.out.len();
        self.value(2)?;
        self.out.truncate(length);
        self.skeleton.reset(mark);
        self.run_start = self.scanner.position;
        Ok(())
    }

    fn is_duplicate(
        &self,
        base: usize,
        name: StringToken<'a>,
        hash: u8,
        seen: &mut Option<HashSet<Cow<'a, str>>>,
    ) -> bool {
        let slots = &self.skeleton.slots[base..];
        if slots.len() < LINEAR_SEARCH_MEMBERS_MAX {
            return slots
                .iter()
                .any(|slot| slot.hash == hash && name_text(self.name_at(slot)) == name_text(name));
        }
        let seen =
            seen.get_or_insert_with(|| slots.iter().map(|slot| name_text(self.name_at(slot))).collect());
        !seen.insert(name_text(name))
    }

    fn name_at(&self, slot: &Slot) -> StringToken<'a> {
        let mut scanner = self.scanner.at(slot.source as usize);
        scanner.string().expect("the name was scanned before")
    }

    fn open(&mut self, depth: usize) -> Result<(), Stop> {
        if depth > DEPTH_MAX {
            return Err(self.scanner.fault(JsonErrorKind::TooDeep).into());
        }
        self.scanner.position += 1;
        self.skip_whitespace();
        Ok(())
    }

    fn close(&mut self, bracket: u8) -> bool {
        let closes = self.scanner.peek() == Some(bracket);
        self.scanner.position += usize::from(closes);
        closes
    }

    /// Returns the position in the kept text of what stands at the scanner.
    fn position(&self) -> u32 {
        let kept = self.out.len() - self.skeleton.header_bytes();
        (kept + self.scanner.position - self.run_start) as u32
    }

    fn flush(&mut self) {
        self.out.extend_from_slice(&self.scanner.bytes()[self.run_start..self.scanner.position]);
        self.run_start = self.scanner.position;
    }

    fn skip_whitespace(&mut self) {
        if self.scanner.peek().is_some_and(is_whitespace) {
            self.flush();
            self.scanner.skip_whitespace();
            self.run_start = self.scanner.position;
        }
    }
}

fn name_text(name: StringToken<'_>) -> Cow<'_, str> {
    if name.escaped {
        unescape(name.raw).expect("the scanner has checked the escapes")
    } else {
        Cow::Borrowed(name.raw)
    }
}
