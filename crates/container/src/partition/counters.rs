//! The counters of a physical partition and the sizes of its logical partitions.
//!
//! Invariants:
//! * both are changed by [`SizeChange`]s in the batch that changes what they count, so they are exact at every moment;
//! * a partition with counters of this version has sizes of this version. Older ones are counted anew when the partition
//!   is opened (`recount`).

use armilla_kv::{Family, Space};
use bytes::Bytes;

use crate::error::{Error, Result};
use crate::item::keys;

/// Version 1 was written by programs without an index, version 2 by programs that did not count its bytes, version 3 by
/// programs whose change log kept deletes and had no record of what it holds. Each program refuses what is newer than
/// it, rather than to leave out what it does not know of.
const COUNTERS_VERSION: u8 = 4;

/// The version of counters that has the same numbers.
const LAST_COUNTERS_VERSION: u8 = 3;

/// The versions of counters that have no bytes of the index.
const OLD_COUNTERS_VERSIONS: [u8; 2] = [1, 2];

/// Version 1 had no bytes of the index.
const SIZE_VERSION: u8 = 2;

/// What a partition counts. Stored with every batch, so it always agrees with what the batch wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// The newest commit.
    pub lsn: u64,
    /// Numbers given so far, to items and to drafted versions; some were never used.
    pub sequence: u64,
    /// Live items.
    pub items: u64,
    /// Bytes of live items, keys and values.
    pub bytes: u64,
    /// Bytes of the keys of their index entries.
    pub index_bytes: u64,
}

impl Counters {
    /// Reads the stored counters; a partition that was never written has none and begins at its base.
    pub(crate) fn load(space: &dyn Space, lsn_base: u64) -> Result<Counters> {
        match space.get(Family::Meta, keys::COUNTERS)? {
            Some(bytes) => Counters::decode(&bytes),
            None => Ok(Counters { lsn: lsn_base, ..Counters::default() }),
        }
    }

    pub(crate) fn encode(&self) -> Bytes {
        encode(COUNTERS_VERSION, [self.lsn, self.sequence, self.items, self.bytes, self.index_bytes])
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Counters> {
        let [lsn, sequence, items, bytes, index_bytes] = decode(bytes, COUNTERS_VERSION)
            .ok_or_else(|| Error::corrupt("a partition's counters are damaged"))?;
        Ok(Counters { lsn, sequence, items, bytes, index_bytes })
    }

    /// Reads the counters of a version before this one; `None` if they are of no such version. Those of the first ones
    /// have no bytes of the index.
    pub(crate) fn decode_old(bytes: &[u8]) -> Option<Counters> {
        if let Some([lsn, sequence, items, bytes, index_bytes]) = decode(bytes, LAST_COUNTERS_VERSION) {
            return Some(Counters { lsn, sequence, items, bytes, index_bytes });
        }
        let [lsn, sequence, items, bytes] =
            OLD_COUNTERS_VERSIONS.into_iter().find_map(|version| decode(bytes, version))?;
        Some(Counters { lsn, sequence, items, bytes, index_bytes: 0 })
    }

    /// Returns how much the partition holds.
    pub fn size(&self) -> LogicalSize {
        LogicalSize { items: self.items, bytes: self.bytes, index_bytes: self.index_bytes }
    }

    /// Puts another size in place.
    pub(crate) fn set_size(&mut self, size: LogicalSize) {
        (self.items, self.bytes, self.index_bytes) = (size.items, size.bytes, size.index_bytes);
    }
}

/// How much one logical partition holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogicalSize {
    /// Live items.
    pub items: u64,
    /// Bytes of live items, keys and values.
    pub bytes: u64,
    /// Bytes of the keys of their index entries.
    pub index_bytes: u64,
}

impl LogicalSize {
    /// Returns what counts towards the limit: data and index.
    pub fn total_bytes(&self) -> u64 {
        self.bytes.saturating_add(self.index_bytes)
    }

    pub(crate) fn encode(self) -> Bytes {
        encode(SIZE_VERSION, [self.items, self.bytes, self.index_bytes])
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<LogicalSize> {
        let [items, bytes, index_bytes] = decode(bytes, SIZE_VERSION)
            .ok_or_else(|| Error::corrupt("the size of a logical partition is damaged"))?;
        Ok(LogicalSize { items, bytes, index_bytes })
    }

    /// Returns the size in words.
    pub(crate) fn described(&self) -> String {
        let LogicalSize { items, bytes, index_bytes } = self;
        format!("{items} items in {bytes} bytes, with {index_bytes} bytes of index")
    }

    /// Returns whether a record is of this version, whatever else is in it.
    pub(crate) fn is_current(bytes: &[u8]) -> bool {
        bytes.first() == Some(&SIZE_VERSION)
    }

    /// Returns the size after a change; `None` if that cannot be, because what is stored is wrong.
    pub(crate) fn changed(self, change: &SizeChange) -> Option<LogicalSize> {
        Some(LogicalSize {
            items: self.items.checked_add_signed(change.items)?,
            bytes: self.bytes.checked_add_signed(change.bytes)?,
            index_bytes: self.index_bytes.checked_add_signed(change.index_bytes)?,
        })
    }
}

/// What a write changes about the sizes of its logical and its physical partition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SizeChange {
    items: i64,
    bytes: i64,
    index_bytes: i64,
}

impl SizeChange {
    /// Returns the change where the value of the item with this key goes from one to the other, each with its length,
    /// and the keys of its index entries take `index_bytes` more.
    pub(crate) fn of_item(
        key: &[u8],
        old_value_bytes: Option<usize>,
        new_value_bytes: Option<usize>,
        index_bytes: i64,
    ) -> SizeChange {
        let bytes = |value_bytes: Option<usize>| value_bytes.map_or(0, |bytes| (key.len() + bytes) as i64);
        SizeChange {
            items: i64::from(new_value_bytes.is_some()) - i64::from(old_value_bytes.is_some()),
            bytes: bytes(new_value_bytes) - bytes(old_value_bytes),
            index_bytes,
        }
    }

    /// Returns the change where an item stays as it is, and the keys of its index entries take `index_bytes` more.
    pub(crate) fn of_index(index_bytes: i64) -> SizeChange {
        SizeChange { index_bytes, ..SizeChange::default() }
    }

    /// Returns whether there is more afterwards, of data and index together.
    pub(crate) fn is_growth(&self) -> bool {
        self.bytes + self.index_bytes > 0
    }
}

/// Writes a version byte and some numbers.
fn encode<const N: usize>(version: u8, numbers: [u64; N]) -> Bytes {
    let mut bytes = Vec::with_capacity(1 + 8 * N);
    bytes.push(version);
    for number in numbers {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    bytes.into()
}

/// Reads a version byte and some numbers, and nothing else.
pub(crate) fn decode<const N: usize>(bytes: &[u8], expected: u8) -> Option<[u64; N]> {
    let (version, rest) = bytes.split_first()?;
    if *version != expected || rest.len() != 8 * N {
        return None;
    }
    let mut numbers = [0; N];
    for (number, chunk) in numbers.iter_mut().zip(rest.chunks_exact(8)) {
        *number = u64::from_be_bytes(chunk.try_into().expect("eight bytes"));
    }
    Some(numbers)
}

#[cfg(test)]
mod tests;
