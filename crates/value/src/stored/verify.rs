//! The full check of a stored item: walks text and skeleton side by side, and trusts neither.

use std::collections::HashSet;

use super::item::Corrupt;
use super::node::Node;
use super::skeleton::{
    NAME_LENGTH_LONG, TAG_EMPTY, TAG_ESCAPED, TAG_KIND, TAG_LEGACY, TAG_NAME_ESCAPED, has_entry, name_hash,
};
use crate::json::{self, Fault, JsonErrorKind, Scanner, unescape, validate_utf8};
use crate::limits::DEPTH_MAX;
use crate::value::Kind;

pub(super) fn verify(text: &[u8], skeleton: &[u8], root: Node<'_>, has_legacy: bool) -> Result<(), Corrupt> {
    let text = validate_utf8(text).map_err(|_| Corrupt { what: "text is not UTF-8" })?;
    let mut verifier = Verifier { scanner: Scanner::new(text), entry_bytes: 0, has_legacy: false };
    verifier.value(root, 1)?;
    if verifier.scanner.peek().is_some() {
        return Err(Corrupt { what: "text after the root" });
    }
    if verifier.entry_bytes != skeleton.len() {
        return Err(Corrupt { what: "skeleton has bytes that belong to nothing" });
    }
    ensure(verifier.has_legacy == has_legacy, "flag of the deprecated types")
}

struct Verifier<'a> {
    scanner: Scanner<'a>,
    /// Skeleton bytes accounted for so far.
    entry_bytes: usize,
    /// Whether a value of a type that BSON deprecated was met.
    has_legacy: bool,
}

fn ensure(holds: bool, what: &'static str) -> Result<(), Corrupt> {
    if holds { Ok(()) } else { Err(Corrupt { what }) }
}

impl From<Fault> for Corrupt {
    fn from(fault: Fault) -> Corrupt {
        Corrupt {
            what: if fault.kind == JsonErrorKind::TooDeep { "nested too deep" } else { "text is not JSON" },
        }
    }
}

impl Verifier<'_> {
    fn value(&mut self, node: Node<'_>, depth: usize) -> Result<(), Corrupt> {
        ensure(self.scanner.position == node.start as usize, "value position")?;
        match node.kind() {
            Kind::Object => self.object(node, depth)?,
            Kind::Array => self.array(node, depth)?,
            Kind::String => {
                ensure(self.scanner.peek() == Some(b'"'), "kind of value")?;
                let token = self.scanner.string()?;
                ensure(token.escaped == (node.tag & TAG_ESCAPED != 0), "escape mark of a string")?;
            }
            kind => {
                ensure(node.tag & TAG_ESCAPED == 0, "unknown mark")?;
                ensure(kind != Kind::Legacy || node.tag & TAG_KIND == 0, "unknown mark")?;
                self.has_legacy |= kind == Kind::Legacy;
                self.scalar(node, kind)?;
            }
        }
        ensure(self.scanner.position == node.end as usize, "value length")
    }

    fn scalar(&mut self, node: Node<'_>, kind: Kind) -> Result<(), Corrupt> {
        match self.scanner.peek() {
            Some(b'{') => {
                let value = json::parse_written(node.raw_bytes()).ok_or(Corrupt { what: "wrapper" })?;
                ensure(
                    value.kind() == kind && kind != Kind::Int32 && kind != Kind::Int64,
                    "kind of wrapper",
                )?;
                // Wrappers are only ever written here, so their spelling is fixed.
                ensure(json::to_string(&value) == node.raw(), "spelling of a wrapper")?;
                self.scanner.position = node.end as usize;
                Ok(())
            }
            Some(b'n') => {
                self.scanner.literal("null")?;
                ensure(kind == Kind::Null, "kind of value")
            }
            Some(b't') => {
                self.scanner.literal("true")?;
                ensure(kind == Kind::Bool, "kind of value")
            }
            Some(b'f') => {
                self.scanner.literal("false")?;
                ensure(kind == Kind::Bool, "kind of value")
            }
            Some(b'-' | b'0'..=b'9') => {
                let token = self.scanner.number()?;
                let fits = match kind {
                    Kind::Int32 => token.kind == Kind::Int64 && token.raw.parse::<i32>().is_ok(),
                    _ => token.kind == kind,
                };
                ensure(fits, "kind of number")
            }
            _ => Err(Corrupt { what: "text is not JSON" }),
        }
    }

    fn object(&mut self, node: Node<'_>, depth: usize) -> Result<(), Corrupt> {
        self.open(node, depth, b'{')?;
        let mut names = HashSet::new();
        let mut count = 0;
        for (name, value) in node.members() {
            if count > 0 {
                self.scanner.expect(b',', "','")?;
            }
            let tables = node.tables().ok_or(Corrupt { what: "entry" })?;
            let (position, length) =
                node.name_span(&tables, count).ok_or(Corrupt { what: "name position" })?;
            ensure(self.scanner.position == position as usize, "name position")?;
            ensure(self.scanner.peek() == Some(b'"'), "name position")?;
            let token = self.scanner.string()?;
            ensure(token.raw.len() == length as usize, "name length")?;
            let stored_length = usize::from(tables.name_lengths[count]);
            ensure(stored_length == token.raw.len().min(usize::from(NAME_LENGTH_LONG)), "name length")?;
            ensure(token.escaped == (tables.tags[count] & TAG_NAME_ESCAPED != 0), "escape mark of a name")?;
            ensure(unescape(token.raw).as_deref() == Some(name.as_ref()), "name")?;
            ensure(tables.hashes[count] == name_hash(name.as_bytes()), "name hash")?;
            ensure(names.insert(name), "one name twice")?;
            self.scanner.expect(b':', "':'")?;
            self.value(value, depth + 1)?;
            count += 1;
        }
        self.close(node, count, b'}')
    }

    fn array(&mut self, node: Node<'_>, depth: usize) -> Result<(), Corrupt> {
        self.open(node, depth, b'[')?;
        let mut count = 0;
        for element in node.elements() {
            if count > 0 {
                self.scanner.expect(b',', "','")?;
            }
            ensure(element.tag & TAG_NAME_ESCAPED == 0, "unknown mark")?;
            self.value(element, depth + 1)?;
            count += 1;
        }
        self.close(node, count, b']')
    }

    fn open(&mut self, node: Node<'_>, depth: usize, bracket: u8) -> Result<(), Corrupt> {
        ensure(depth <= DEPTH_MAX, "nested too deep")?;
        self.scanner.expect(bracket, "a bracket")?;
        if let Some(tables) = node.tables() {
            let links = tables.tags.iter().filter(|&&tag| has_entry(tag)).count();
            let width = tables.positions.len().checked_div(tables.count).unwrap_or(0);
            let count_bytes = if tables.count < 255 { 1 } else { 5 };
            self.entry_bytes += count_bytes
                + tables.hashes.len()
                + tables.tags.len()
                + tables.name_lengths.len()
                + tables.positions.len()
                + links * width;
            ensure(
                tables
                    .tags
                    .iter()
                    .all(|tag| tag & !(TAG_KIND | TAG_EMPTY | TAG_NAME_ESCAPED | TAG_LEGACY) == 0),
                "unknown mark",
            )
        } else {
            ensure(node.tag & TAG_EMPTY != 0, "entry")
        }
    }

    fn close(&mut self, node: Node<'_>, count: usize, bracket: u8) -> Result<(), Corrupt> {
        ensure(count == node.len(), "member of an object or array")?;
        Ok(self.scanner.expect(bracket, "a bracket")?)
    }
}
