//! The bytes of some neighbouring entries of one space.
//!
//! ```text
//! magic "ASEG" (4)  version 1 (1)  space (8)  entries (4)  sum of all other bytes, XXH3 (8)
//! then for each entry:  family (1)  key length (2)  value length (4)  key  value
//! ```
//!
//! Numbers are big-endian. Entries are in the order of their families, then of their keys, without gaps: the next
//! segment of the space goes on where one ends.
//!
//! Where a segment ends depends on the entries alone, and on each by its own key and length: so an entry that changes
//! moves the ends of the segments around it, and those beyond stay what they were.

use std::cmp::Ordering;

use armilla_kv::{Family, KEY_BYTES_MAX, SpaceId, VALUE_BYTES_MAX};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Error, Result};
use crate::frame::SpaceTotals;
use crate::limits::{SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN, SEGMENT_BYTES_SPREAD};

pub(crate) const MAGIC: &[u8; 4] = b"ASEG";
const VERSION: u8 = 1;

/// Where the number of entries and the sum stand.
const ENTRIES_AT: usize = 13;
const SUM_AT: usize = 17;
const HEADER_BYTES: usize = 25;

/// Bytes of an entry besides its key and its value.
const ENTRY_HEADER_BYTES: usize = 7;

/// A segment that is being put together.
pub(crate) struct SegmentWriter {
    bytes: BytesMut,
    entries: u32,
    /// Bytes of keys and values.
    content_bytes: u64,
}

impl SegmentWriter {
    pub(crate) fn new(space: SpaceId) -> SegmentWriter {
        let mut bytes = BytesMut::with_capacity(SEGMENT_BYTES_MIN + SEGMENT_BYTES_SPREAD as usize);
        bytes.put_slice(MAGIC);
        bytes.put_u8(VERSION);
        bytes.put_u64(space.0);
        bytes.put_u32(0);
        bytes.put_u64(0);
        SegmentWriter { bytes, entries: 0, content_bytes: 0 }
    }

    /// Adds an entry. Returns whether the segment ends with it.
    pub(crate) fn add(&mut self, family: Family, key: &[u8], value: &[u8]) -> Result<bool> {
        let (Ok(key_bytes), Ok(value_bytes)) = (u16::try_from(key.len()), u32::try_from(value.len())) else {
            return Err(Error::malformed("a key or a value is longer than the storage contract allows"));
        };
        self.bytes.put_u8(family as u8);
        self.bytes.put_u16(key_bytes);
        self.bytes.put_u32(value_bytes);
        self.bytes.put_slice(key);
        self.bytes.put_slice(value);
        self.entries += 1;
        self.content_bytes += (key.len() + value.len()) as u64;
        Ok(ends_here(self.bytes.len(), key, ENTRY_HEADER_BYTES + key.len() + value.len()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub(crate) fn finish(mut self) -> (Bytes, u64, u64) {
        self.bytes[ENTRIES_AT..SUM_AT].copy_from_slice(&self.entries.to_be_bytes());
        let sum = sum(&self.bytes);
        self.bytes[SUM_AT..HEADER_BYTES].copy_from_slice(&sum.to_be_bytes());
        (self.bytes.freeze(), u64::from(self.entries), self.content_bytes)
    }
}

/// Whether a segment of so many bytes ends with its last entry. Each byte beyond the least is equally likely to be the
/// last, so that long entries do not make longer segments.
fn ends_here(segment_bytes: usize, key: &[u8], entry_bytes: usize) -> bool {
    if segment_bytes >= SEGMENT_BYTES_MAX {
        return true;
    }
    let threshold = (u64::MAX / SEGMENT_BYTES_SPREAD).saturating_mul(entry_bytes as u64);
    segment_bytes >= SEGMENT_BYTES_MIN && xxh3_64(key) < threshold
}

/// Returns the sum of a segment: of all its bytes but the sum itself.
fn sum(bytes: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&bytes[..SUM_AT]);
    hasher.update(&bytes[HEADER_BYTES..]);
    hasher.digest()
}

/// An entry: where it belongs, its key and its value.
pub(crate) type Entry = (Family, Bytes, Bytes);

/// Some neighbouring entries of one space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The space.
    pub space: SpaceId,
    /// How many entries, and how many bytes of keys and values.
    pub totals: SpaceTotals,
    entries: Vec<Entry>,
}

impl Segment {
    /// Reads a segment, and checks everything that can be checked of it.
    pub fn decode(bytes: &Bytes) -> Result<Segment> {
        if bytes.len() < HEADER_BYTES || &bytes[..MAGIC.len()] != MAGIC {
            return Err(Error::malformed("these bytes are no segment"));
        }
        let mut rest = bytes.slice(MAGIC.len()..);
        let version = rest.get_u8();
        if version != VERSION {
            return Err(Error::malformed(format!(
                "the segment has version {version}, this program reads {VERSION}"
            )));
        }
        let (space, count, expected) = (SpaceId(rest.get_u64()), rest.get_u32(), rest.get_u64());
        if sum(bytes) != expected {
            return Err(Error::malformed(format!("a segment of space {} fails its sum", space.0)));
        }
        let broken = |what: &str| Error::malformed(format!("a segment of space {} {what}", space.0));
        let mut totals = SpaceTotals { space, entries: 0, bytes: 0 };
        let mut entries: Vec<Entry> = Vec::new();
        while rest.has_remaining() {
            if rest.remaining() < ENTRY_HEADER_BYTES {
                return Err(broken("ends within an entry"));
            }
            let family = rest.get_u8();
            let family = Family::ALL.iter().find(|known| **known as u8 == family).copied();
            let family = family.ok_or_else(|| broken("names an unknown family"))?;
            let (key_bytes, value_bytes) = (usize::from(rest.get_u16()), rest.get_u32() as usize);
            if key_bytes > KEY_BYTES_MAX || value_bytes > VALUE_BYTES_MAX {
                return Err(broken("has a key or a value that is too long"));
            }
            if rest.remaining() < key_bytes + value_bytes {
                return Err(broken("ends within an entry"));
            }
            let (key, value) = (rest.split_to(key_bytes), rest.split_to(value_bytes));
            let last = entries.last().map(|(family, key, _)| (*family, key));
            if last.is_some_and(|last| last.cmp(&(family, &key)) != Ordering::Less) {
                return Err(broken("has entries that are not in order"));
            }
            totals.entries += 1;
            totals.bytes += (key.len() + value.len()) as u64;
            entries.push((family, key, value));
        }
        if totals.entries != u64::from(count) || entries.is_empty() {
            return Err(broken(&format!("has {} entries and says {count}", totals.entries)));
        }
        Ok(Segment { space, totals, entries })
    }

    /// Returns the part of a segment's bytes that holds its entries: one after the other, those of all segments of a
    /// space are what the space holds, wherever they were cut.
    pub(crate) fn body(bytes: &Bytes) -> &[u8] {
        bytes.get(HEADER_BYTES..).unwrap_or_default()
    }

    pub(crate) fn first(&self) -> Option<(Family, &Bytes)> {
        self.entries.first().map(|(family, key, _)| (*family, key))
    }

    pub(crate) fn last(&self) -> Option<(Family, &Bytes)> {
        self.entries.last().map(|(family, key, _)| (*family, key))
    }

    pub(crate) fn into_entries(self) -> Vec<Entry> {
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment() -> Bytes {
        let mut writer = SegmentWriter::new(SpaceId(7));
        for (family, key, value) in
            [(Family::Meta, &b""[..], &b"counter"[..]), (Family::Meta, b"a", b""), (Family::Item, b"a", b"1")]
        {
            assert!(!writer.add(family, key, value).unwrap());
        }
        writer.finish().0
    }

    #[test]
    fn what_is_written_is_read() {
        let read = Segment::decode(&segment()).unwrap();
        assert_eq!(read.totals, SpaceTotals { space: SpaceId(7), entries: 3, bytes: 10 });
        assert_eq!(read.first(), Some((Family::Meta, &Bytes::new())));
        assert_eq!(read.last(), Some((Family::Item, &Bytes::from("a"))));
        assert_eq!(read.into_entries()[2], (Family::Item, Bytes::from("a"), Bytes::from("1")));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let whole = segment();
        for length in 0..whole.len() {
            assert!(Segment::decode(&whole.slice(..length)).is_err(), "cut to {length}");
        }
        for position in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.to_vec();
                bytes[position] ^= 1 << bit;
                assert!(Segment::decode(&bytes.into()).is_err(), "byte {position}, bit {bit}");
            }
        }
    }

    #[test]
    fn what_a_right_sum_does_not_excuse() {
        let resummed = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = segment().to_vec();
            change(&mut bytes);
            let right = sum(&bytes);
            bytes[SUM_AT..HEADER_BYTES].copy_from_slice(&right.to_be_bytes());
            Segment::decode(&bytes.into()).unwrap_err().to_string()
        };
        for (change, expected) in [
            (
                &(|bytes: &mut Vec<u8>| bytes[4] = 2) as &dyn Fn(&mut Vec<u8>),
                "version 2, this program reads 1",
            ),
            (&|bytes| bytes[16] = 4, "has 3 entries and says 4"),
            (&|bytes| bytes[HEADER_BYTES] = 9, "unknown family"),
            (&|bytes| bytes[HEADER_BYTES] = 4, "not in order"),
            (&|bytes| bytes[HEADER_BYTES + 1] = 0x40, "ends within an entry"),
            (&|bytes| bytes[HEADER_BYTES + 1] = 0x41, "too long"),
            (&|bytes| bytes.truncate(HEADER_BYTES), "has 0 entries and says 3"),
            (&|bytes| bytes.push(0), "ends within an entry"),
        ] {
            let message = resummed(change);
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn segments_end_between_their_bounds() {
        let value = vec![0; 1_000];
        let mut lengths = Vec::new();
        let mut writer = SegmentWriter::new(SpaceId(1));
        for number in 0..200_000_u32 {
            if writer.add(Family::Item, &number.to_be_bytes(), &value).unwrap() {
                lengths.push(std::mem::replace(&mut writer, SegmentWriter::new(SpaceId(1))).finish().0.len());
            }
        }
        assert!(lengths.iter().all(|length| *length >= SEGMENT_BYTES_MIN));
        assert!(lengths.iter().all(|length| *length < SEGMENT_BYTES_MAX + 1_100));
        let mean = lengths.iter().sum::<usize>() / lengths.len();
        assert!((700_000..1_400_000).contains(&mean), "{mean}");
        // One entry that is longer than a whole segment ends it.
        let mut writer = SegmentWriter::new(SpaceId(1));
        assert!(writer.add(Family::Item, b"", &vec![0; SEGMENT_BYTES_MAX]).unwrap());
        let mut writer = SegmentWriter::new(SpaceId(1));
        assert!(
            writer
                .add(Family::Item, b"", &vec![0; SEGMENT_BYTES_MAX - HEADER_BYTES - ENTRY_HEADER_BYTES])
                .unwrap()
        );
    }

    #[test]
    fn the_longest_segment_fits_a_frame_and_a_file() {
        let mut writer = SegmentWriter::new(SpaceId(1));
        // Keys that end no segment by themselves.
        let keys = (0..u32::MAX).map(u32::to_be_bytes).filter(|key| xxh3_64(key) > u64::MAX / 2);
        let value = crate::tests::noise(1, VALUE_BYTES_MAX);
        for key in keys {
            let left = SEGMENT_BYTES_MAX - 1 - writer.bytes.len();
            let length = (left - ENTRY_HEADER_BYTES - key.len()).min(10_000);
            assert!(!writer.add(Family::Item, &key, &value[..length]).unwrap());
            if SEGMENT_BYTES_MAX - 1 - writer.bytes.len() < 1_000 {
                break;
            }
        }
        assert!(writer.add(Family::Item, &[0xFF; KEY_BYTES_MAX], &value).unwrap());
        let bytes = writer.finish().0;
        assert!(bytes.len() > SEGMENT_BYTES_MAX + VALUE_BYTES_MAX);
        assert!(bytes.len() <= crate::FRAME_BYTES_MAX);
        assert!(crate::folder::compress(&bytes).len() as u64 <= crate::limits::SEGMENT_FILE_BYTES_MAX);
        assert_eq!(
            Segment::decode(&bytes).unwrap().last(),
            Some((Family::Item, &vec![0xFF; KEY_BYTES_MAX].into()))
        );
    }
}
