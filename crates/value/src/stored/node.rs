//! Reading a stored item through its skeleton.
//!
//! A node is a value inside a stored item: a few numbers and two slices, copied freely. Whatever the bytes are,
//! a child lies inside its parent, siblings do not overlap, and a child's entry comes before its parent's; a
//! node for which that does not hold is not handed out. So every walk ends, after work in proportion to the
//! text times its depth.

use std::borrow::Cow;

use super::item::read_width;
use super::skeleton::{
    COUNT_LONG, NAME_LENGTH_LONG, TAG_ESCAPED, TAG_NAME_ESCAPED, has_entry, kind_of, name_hash,
};
use crate::json;
use crate::value::{Kind, Object, Value};

/// One value inside a stored item.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    text: &'a [u8],
    skeleton: &'a [u8],
    /// The value's text is `text[start..end]`.
    pub(super) start: u32,
    pub(super) end: u32,
    /// Position of the entry, for an object or array that has one.
    pub(super) entry: u32,
    pub(super) tag: u8,
    wide: bool,
}

/// The tables of one object or array, cut out of the skeleton.
#[derive(Clone, Copy)]
pub(super) struct Tables<'a> {
    pub(super) count: usize,
    /// Empty for an array.
    pub(super) hashes: &'a [u8],
    pub(super) tags: &'a [u8],
    /// Empty for an array.
    pub(super) name_lengths: &'a [u8],
    pub(super) positions: &'a [u8],
    /// The links, and whatever comes after them.
    pub(super) links: &'a [u8],
}

const NO_TABLES: Tables<'static> =
    Tables { count: 0, hashes: &[], tags: &[], name_lengths: &[], positions: &[], links: &[] };

impl<'a> Node<'a> {
    pub(super) fn root(text: &'a [u8], skeleton: &'a [u8], entry: u32, wide: bool) -> Node<'a> {
        Node { text, skeleton, start: 0, end: text.len() as u32, entry, tag: Kind::Object as u8, wide }
    }

    /// Returns the type.
    pub fn kind(&self) -> Kind {
        kind_of(self.tag)
    }

    /// Returns the value's JSON text; empty only where the stored bytes are corrupt.
    pub fn raw(&self) -> &'a str {
        std::str::from_utf8(self.raw_bytes()).unwrap_or_default()
    }

    pub(super) fn raw_bytes(&self) -> &'a [u8] {
        self.text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// Returns the member of that name, if this is an object that has one.
    pub fn get(&self, name: &str) -> Option<Node<'a>> {
        if self.kind() != Kind::Object {
            return None;
        }
        let tables = self.tables()?;
        let hash = name_hash(name.as_bytes());
        let mut from = 0;
        while let Some(step) = tables.hashes[from..].iter().position(|&own| own == hash) {
            let index = from + step;
            if let Some((position, length)) = self.name_span(&tables, index)
                && self.name_is(&tables, index, position, length, name)
            {
                let links_before = count_links(&tables.tags[..index], tables.tags[index]);
                return self.member_value(&tables, index, position, length, links_before);
            }
            from = index + 1;
        }
        None
    }

    /// Walks from here down the named members.
    pub fn get_path(&self, path: &[String]) -> Option<Node<'a>> {
        path.iter().try_fold(*self, |node, name| node.get(name))
    }

    /// Returns the element at that index, if this is an array that long.
    pub fn element(&self, index: usize) -> Option<Node<'a>> {
        if self.kind() != Kind::Array {
            return None;
        }
        let tables = self.tables()?;
        let tag = *tables.tags.get(index)?;
        self.element_value(&tables, index, count_links(&tables.tags[..index], tag))
    }

    /// Returns the number of members or elements; of a scalar, 0.
    pub fn len(&self) -> usize {
        self.tables().map_or(0, |tables| tables.count)
    }

    /// Says whether there are no members or elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Walks the members of an object in order; of anything else, there are none.
    pub fn members(&self) -> Members<'a> {
        let tables = if self.kind() == Kind::Object { self.tables() } else { None };
        Members { node: *self, tables: tables.unwrap_or(NO_TABLES), index: 0, links: 0 }
    }

    /// Walks the elements of an array in order; of anything else, there are none.
    pub fn elements(&self) -> Elements<'a> {
        let tables = if self.kind() == Kind::Array { self.tables() } else { None };
        Elements { node: *self, tables: tables.unwrap_or(NO_TABLES), index: 0, links: 0 }
    }

    /// Says whether this is null.
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// Returns a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if self.kind() != Kind::Bool {
            return None;
        }
        match self.raw_bytes() {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// Returns the text of a string, borrowed where it has no escapes.
    pub fn as_str(&self) -> Option<Cow<'a, str>> {
        if self.kind() != Kind::String {
            return None;
        }
        let raw = self.raw_bytes().strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let raw = std::str::from_utf8(raw).ok()?;
        if self.tag & TAG_ESCAPED == 0 { Some(Cow::Borrowed(raw)) } else { json::unescape(raw) }
    }

    /// Returns the number if it is a 32-bit or 64-bit integer, or a double with an integral value in that range.
    pub fn as_i64(&self) -> Option<i64> {
        match self.kind() {
            Kind::Int32 | Kind::Int64 => parse_integer(self.raw_bytes()),
            Kind::Double => crate::number::integral(self.as_f64()?),
            _ => None,
        }
    }

    /// Returns a 32-bit, 64-bit or double number as the nearest double.
    pub fn as_f64(&self) -> Option<f64> {
        match self.kind() {
            Kind::Int32 | Kind::Int64 => parse_integer(self.raw_bytes()).map(|number| number as f64),
            Kind::Double => match self.wrapped() {
                Some(value) => value.as_f64(),
                None => self.raw().parse().ok(),
            },
            _ => None,
        }
    }

    /// Returns the value that an Extended JSON wrapper in the text stands for.
    fn wrapped(&self) -> Option<Value> {
        if self.raw_bytes().first() == Some(&b'{') { json::parse_written(self.raw_bytes()) } else { None }
    }

    /// Returns a copy as a tree; what corruption made unreadable becomes null or is left out.
    pub fn to_value(&self) -> Value {
        self.try_to_value().unwrap_or(Value::Null)
    }

    fn try_to_value(&self) -> Option<Value> {
        Some(match self.kind() {
            Kind::Null => Value::Null,
            Kind::Bool => Value::Bool(self.as_bool()?),
            Kind::Int32 => Value::Int32(i32::try_from(self.as_i64()?).ok()?),
            Kind::Int64 => Value::Int64(self.as_i64()?),
            Kind::Double => Value::Double(self.as_f64()?),
            Kind::String => Value::String(self.as_str()?.into_owned()),
            Kind::Array => Value::Array(self.elements().map(|element| element.to_value()).collect()),
            Kind::Object => {
                let members: Vec<_> =
                    self.members().map(|(name, value)| (name.into_owned(), value.to_value())).collect();
                Value::Object(Object::from(members))
            }
            kind => self.wrapped().filter(|value| value.kind() == kind)?,
        })
    }

    pub(super) fn tables(&self) -> Option<Tables<'a>> {
        if !has_entry(self.tag) {
            return None;
        }
        let entry = self.skeleton.get(self.entry as usize..)?;
        let (count, entry) = match *entry.first()? {
            COUNT_LONG => {
                let count = u32::from_le_bytes(*entry.get(1..)?.first_chunk()?);
                (count as usize, &entry[5..])
            }
            count => (usize::from(count), &entry[1..]),
        };
        let width = if self.wide { 4 } else { 2 };
        let name_bytes = if self.kind() == Kind::Object { count } else { 0 };
        let (hashes, entry) = entry.split_at_checked(name_bytes)?;
        let (tags, entry) = entry.split_at_checked(count)?;
        let (name_lengths, entry) = entry.split_at_checked(name_bytes)?;
        let (positions, links) = entry.split_at_checked(count.checked_mul(width)?)?;
        Some(Tables { count, hashes, tags, name_lengths, positions, links })
    }

    /// Returns where the name at an index begins (at its quote) and how long it is between the quotes.
    pub(super) fn name_span(&self, tables: &Tables<'a>, index: usize) -> Option<(u32, u32)> {
        let position = read_width(tables.positions, index, self.wide)?;
        let length = match *tables.name_lengths.get(index)? {
            NAME_LENGTH_LONG => self.find_name_end(position)?,
            length => u32::from(length),
        };
        Some((position, length))
    }

    /// Looks for the end of a name that is too long for the skeleton to say.
    fn find_name_end(&self, position: u32) -> Option<u32> {
        let name = self.text.get(position as usize + 1..self.end as usize)?;
        let mut at = usize::from(NAME_LENGTH_LONG);
        // An escape may straddle the place where the search may begin, so look at escapes from the start.
        if name.get(..at)?.contains(&b'\\') {
            at = 0;
        }
        loop {
            match *name.get(at)? {
                b'"' => return u32::try_from(at).ok(),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
    }

    fn name_is(&self, tables: &Tables<'a>, index: usize, position: u32, length: u32, name: &str) -> bool {
        let start = position as usize + 1;
        let Some(raw) = self.text.get(start..start + length as usize) else {
            return false;
        };
        if tables.tags[index] & TAG_NAME_ESCAPED == 0 {
            return raw == name.as_bytes();
        }
        std::str::from_utf8(raw).ok().and_then(json::unescape).is_some_and(|own| own == name)
    }

    fn member_value(
        &self,
        tables: &Tables<'a>,
        index: usize,
        position: u32,
        length: u32,
        links_before: usize,
    ) -> Option<Node<'a>> {
        if position <= self.start {
            return None;
        }
        // The name, its quotes and the colon.
        let start = position.checked_add(length)?.checked_add(3)?;
        self.child(tables, index, start, links_before)
    }

    fn element_value(&self, tables: &Tables<'a>, index: usize, links_before: usize) -> Option<Node<'a>> {
        let start = read_width(tables.positions, index, self.wide)?;
        if start <= self.start {
            return None;
        }
        self.child(tables, index, start, links_before)
    }

    /// Makes the node of a value that begins at `start`; it ends before the next comma or bracket.
    fn child(&self, tables: &Tables<'a>, index: usize, start: u32, links_before: usize) -> Option<Node<'a>> {
        let after = if index + 1 < tables.count {
            read_width(tables.positions, index + 1, self.wide)?
        } else {
            self.end
        };
        let end = after.checked_sub(1)?;
        if start >= end || end >= self.end {
            return None;
        }
        let tag = *tables.tags.get(index)?;
        let entry = if has_entry(tag) {
            read_width(tables.links, links_before, self.wide).filter(|&link| link < self.entry)?
        } else {
            0
        };
        Some(Node { start, end, entry, tag, ..*self })
    }
}

/// Counts the links before that of a value; where the value has none, the count is not needed.
fn count_links(tags_before: &[u8], tag: u8) -> usize {
    if has_entry(tag) { tags_before.iter().filter(|&&tag| has_entry(tag)).count() } else { 0 }
}

fn parse_integer(digits: &[u8]) -> Option<i64> {
    // Short numbers, which most are, cannot overflow.
    let (negative, body) = match digits.strip_prefix(b"-") {
        Some(body) => (true, body),
        None => (false, digits),
    };
    if body.is_empty() || body.len() > 18 {
        return std::str::from_utf8(digits).ok()?.parse().ok();
    }
    let mut number = 0i64;
    for &digit in body {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(digit - b'0');
    }
    Some(if negative { -number } else { number })
}

/// The members of an object, in order.
#[derive(Clone)]
pub struct Members<'a> {
    node: Node<'a>,
    tables: Tables<'a>,
    index: usize,
    links: usize,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Node<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let index = self.index;
        let tag = *self.tables.tags.get(index)?;
        let (position, length) = self.node.name_span(&self.tables, index)?;
        let value = self.node.member_value(&self.tables, index, position, length, self.links)?;
        let start = position as usize + 1;
        let raw = std::str::from_utf8(self.node.text.get(start..start + length as usize)?).ok()?;
        let name = if tag & TAG_NAME_ESCAPED == 0 { Cow::Borrowed(raw) } else { json::unescape(raw)? };
        self.index += 1;
        self.links += usize::from(has_entry(tag));
        Some((name, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.tables.count - self.index))
    }
}

/// The elements of an array, in order.
#[derive(Clone)]
pub struct Elements<'a> {
    node: Node<'a>,
    tables: Tables<'a>,
    index: usize,
    links: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        let tag = *self.tables.tags.get(self.index)?;
        let value = self.node.element_value(&self.tables, self.index, self.links)?;
        self.index += 1;
        self.links += usize::from(has_entry(tag));
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.tables.count - self.index))
    }
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?} {}", self.kind(), self.raw())
    }
}
