//! Writing skeleton entries: the tables of one object or array at a time, children before parents.

use crate::limits::NARROW_BYTES_MAX;
use crate::value::Kind;

pub(crate) const VERSION: u8 = 1;
pub(crate) const FLAG_WIDE: u8 = 1;
/// Some value has a type that BSON deprecated: a program that does not know these must not read the item.
pub(crate) const FLAG_LEGACY: u8 = 2;

pub(crate) const TAG_KIND: u8 = 0x0F;
/// A string with escapes.
pub(crate) const TAG_ESCAPED: u8 = 0x10;
/// An object or array without members, which has no entry.
pub(crate) const TAG_EMPTY: u8 = 0x10;
/// A name with escapes.
pub(crate) const TAG_NAME_ESCAPED: u8 = 0x20;

/// A value of a type that BSON deprecated; the bits of the kind are zero.
pub(crate) const TAG_LEGACY: u8 = 0x40;

/// The name is as long as this or longer.
pub(crate) const NAME_LENGTH_LONG: u8 = 255;
/// The count follows in four bytes.
pub(crate) const COUNT_LONG: u8 = 255;

/// Says whether a value with this tag has an entry of its own, and so a link.
pub(crate) fn has_entry(tag: u8) -> bool {
    tag & TAG_KIND >= Kind::Array as u8 && tag & (TAG_EMPTY | TAG_LEGACY) == 0
}

/// Returns the tag of a value of this kind.
pub(crate) fn tag_of(kind: Kind) -> u8 {
    if kind == Kind::Legacy { TAG_LEGACY } else { kind as u8 }
}

/// Returns the kind that a tag tells.
pub(crate) fn kind_of(tag: u8) -> Kind {
    if tag & TAG_LEGACY != 0 { Kind::Legacy } else { Kind::ALL[usize::from(tag & TAG_KIND)] }
}

/// Hashes a name, its escapes resolved, to the byte that the skeleton keeps.
pub(crate) fn name_hash(name: &[u8]) -> u8 {
    let (first, last) = match *name {
        [] => (0, 0),
        [a] => (u64::from(a), 0),
        [a, b] => (u64::from(a), u64::from(b)),
        [a, b, c] => (u64::from(a), u64::from(b) | u64::from(c) << 8),
        [a, b, c, d, ..] if name.len() < 8 => {
            let tail = name.last_chunk::<4>().copied().unwrap_or_default();
            (u64::from(u32::from_le_bytes([a, b, c, d])), u64::from(u32::from_le_bytes(tail)))
        }
        _ => (
            u64::from_le_bytes(name.first_chunk().copied().unwrap_or_default()),
            u64::from_le_bytes(name.last_chunk().copied().unwrap_or_default()),
        ),
    };
    let mixed = first ^ last.rotate_left(29) ^ (name.len() as u64).rotate_left(17);
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

/// One member or element of an entry being gathered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    /// Position in the text of the name, or of the value of an array's element.
    pub(crate) position: u32,
    /// The child's entry, where it has one.
    pub(crate) link: u32,
    /// Position of the name in the source text, to find duplicates.
    pub(crate) source: u32,
    pub(crate) name_length: u8,
    pub(crate) hash: u8,
    pub(crate) tag: u8,
}

/// A 16-bit position would not do: start again with 32 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TooNarrow;

/// Gathers slots and writes entries.
///
/// The slots form a stack: those of an object lie above those of its parents, and leave when it closes.
pub(crate) struct SkeletonWriter {
    wide: bool,
    /// Whether some value has a type that BSON deprecated.
    pub(crate) has_legacy: bool,
    pub(crate) slots: Vec<Slot>,
    entries: Vec<u8>,
}

impl SkeletonWriter {
    pub(crate) fn new(wide: bool, text_length_hint: usize) -> SkeletonWriter {
        SkeletonWriter {
            wide,
            has_legacy: false,
            slots: Vec::with_capacity(32),
            entries: Vec::with_capacity((text_length_hint / 3).clamp(64, 1 << 20)),
        }
    }

    pub(crate) fn is_wide(&self) -> bool {
        self.wide
    }

    /// Returns the place to come back to when what follows is dropped.
    pub(crate) fn mark(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn reset(&mut self, mark: usize) {
        self.entries.truncate(mark);
    }

    /// Writes the entry of an object whose slots begin at `base`, and returns its position.
    pub(crate) fn close_object(&mut self, base: usize) -> Result<u32, TooNarrow> {
        let link = self.begin(base)?;
        let slots = &self.slots[base..];
        self.entries.extend(slots.iter().map(|slot| slot.hash));
        self.entries.extend(slots.iter().map(|slot| slot.tag));
        self.entries.extend(slots.iter().map(|slot| slot.name_length));
        self.finish(base);
        Ok(link)
    }

    /// Writes the entry of an array whose slots begin at `base`, and returns its position.
    pub(crate) fn close_array(&mut self, base: usize) -> Result<u32, TooNarrow> {
        let link = self.begin(base)?;
        self.entries.extend(self.slots[base..].iter().map(|slot| slot.tag));
        self.finish(base);
        Ok(link)
    }

    fn begin(&mut self, base: usize) -> Result<u32, TooNarrow> {
        let position = self.entries.len();
        if !self.wide && position > NARROW_BYTES_MAX {
            return Err(TooNarrow);
        }
        let count = self.slots.len() - base;
        if count < usize::from(COUNT_LONG) {
            self.entries.push(count as u8);
        } else {
            self.entries.push(COUNT_LONG);
            self.entries.extend_from_slice(&(count as u32).to_le_bytes());
        }
        u32::try_from(position).map_err(|_| TooNarrow)
    }

    fn finish(&mut self, base: usize) {
        let slots = &self.slots[base..];
        let links = slots.iter().filter(|slot| has_entry(slot.tag)).map(|slot| slot.link);
        if self.wide {
            self.entries.extend(slots.iter().flat_map(|slot| slot.position.to_le_bytes()));
            self.entries.extend(links.flat_map(u32::to_le_bytes));
        } else {
            self.entries.reserve(slots.len() * 2);
            for slot in slots {
                self.entries.extend_from_slice(&(slot.position as u16).to_le_bytes());
            }
            for link in links {
                self.entries.extend_from_slice(&(link as u16).to_le_bytes());
            }
        }
        self.slots.truncate(base);
    }

    /// Appends a number of the width that positions have.
    pub(crate) fn push_width(&self, number: u32, out: &mut Vec<u8>) {
        if self.wide {
            out.extend_from_slice(&number.to_le_bytes());
        } else {
            out.extend_from_slice(&(number as u16).to_le_bytes());
        }
    }

    /// Begins an item: version, flags and room for the length of the text.
    pub(crate) fn begin_item(&self, capacity: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(capacity);
        out.extend_from_slice(&[VERSION, if self.wide { FLAG_WIDE } else { 0 }]);
        self.push_width(0, &mut out);
        out
    }

    /// Ends an item: puts the length of the text in its place, and appends the skeleton and its root.
    pub(crate) fn finish_item(self, mut out: Vec<u8>, root: u32) -> Vec<u8> {
        let header = self.header_bytes();
        let text_length = (out.len() - header) as u32;
        if self.has_legacy {
            out[1] |= FLAG_LEGACY;
        }
        out[2..header].copy_from_slice(&text_length.to_le_bytes()[..header - 2]);
        out.extend_from_slice(&self.entries);
        self.push_width(root, &mut out);
        out
    }

    /// Returns the number of bytes before the text.
    pub(crate) fn header_bytes(&self) -> usize {
        if self.wide { 6 } else { 4 }
    }
}
