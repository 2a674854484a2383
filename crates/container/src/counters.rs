//! The counters of a physical partition and the sizes of its logical partitions.

use armilla_kv::{Family, Space};
use bytes::Bytes;

use crate::error::{Error, Result};
use crate::keys;

const FORMAT_VERSION: u8 = 1;

/// The version of the counters of a partition whose batches maintain its index. A program that knows nothing of the
/// index refuses it, rather than to write items without their entries; a partition of such a program has version 1.
const INDEXED_VERSION: u8 = 2;

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
        let mut bytes = Vec::with_capacity(33);
        bytes.push(INDEXED_VERSION);
        for number in [self.lsn, self.sequence, self.items, self.bytes] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.into()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Counters> {
        let [lsn, sequence, items, bytes] = decode_version(bytes, INDEXED_VERSION)
            .or_else(|| decode(bytes))
            .ok_or_else(|| Error::corrupt("a partition's counters are damaged"))?;
        Ok(Counters { lsn, sequence, items, bytes })
    }
}

/// How much one logical partition holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogicalSize {
    /// Live items.
    pub items: u64,
    /// Bytes of live items, keys and values.
    pub bytes: u64,
}

impl LogicalSize {
    pub(crate) fn encode(self) -> Bytes {
        let mut bytes = Vec::with_capacity(17);
        bytes.push(FORMAT_VERSION);
        bytes.extend_from_slice(&self.items.to_be_bytes());
        bytes.extend_from_slice(&self.bytes.to_be_bytes());
        bytes.into()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<LogicalSize> {
        let [items, bytes] =
            decode(bytes).ok_or_else(|| Error::corrupt("the size of a logical partition is damaged"))?;
        Ok(LogicalSize { items, bytes })
    }
}

/// Reads a version byte and some numbers, and nothing else.
pub(crate) fn decode<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    decode_version(bytes, FORMAT_VERSION)
}

fn decode_version<const N: usize>(bytes: &[u8], expected: u8) -> Option<[u64; N]> {
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
