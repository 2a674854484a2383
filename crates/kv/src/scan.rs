//! Reading a range, page by page.

use std::ops::Bound;

use bytes::Bytes;

use crate::Family;

/// Which way a scan walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the lower bound up.
    Forward,
    /// From the upper bound down.
    Reverse,
}

/// A range of one family, with the bounds of one page.
#[derive(Debug, Clone)]
pub struct Scan {
    /// The family to read.
    pub family: Family,
    /// Where the range begins, in key order, whichever the direction.
    pub lower: Bound<Bytes>,
    /// Where the range ends.
    pub upper: Bound<Bytes>,
    /// Which way to walk.
    pub direction: Direction,
    /// Most entries in the page; at least 1.
    pub entries_max: usize,
    /// The page ends with the entry that reaches this many bytes, so one entry always fits.
    pub bytes_max: usize,
}

/// One page of a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Keys and values in the order of the walk.
    pub entries: Vec<(Bytes, Bytes)>,
    /// Whether the range may hold more beyond the last entry.
    pub more: bool,
}

impl Scan {
    /// Scans forward over all keys that begin with a prefix.
    pub fn prefix(family: Family, prefix: &[u8]) -> Scan {
        Scan {
            family,
            lower: Bound::Included(Bytes::copy_from_slice(prefix)),
            upper: prefix_end(prefix).map_or(Bound::Unbounded, Bound::Excluded),
            direction: Direction::Forward,
            entries_max: 1_000,
            bytes_max: 4 * 1024 * 1024,
        }
    }

    /// Returns the scan that goes on after the last entry of a page.
    pub fn after(mut self, key: &Bytes) -> Scan {
        match self.direction {
            Direction::Forward => self.lower = Bound::Excluded(key.clone()),
            Direction::Reverse => self.upper = Bound::Excluded(key.clone()),
        }
        self
    }
}

/// Returns the smallest key above every key with this prefix, if there is one.
pub fn prefix_end(prefix: &[u8]) -> Option<Bytes> {
    let last = prefix.iter().rposition(|byte| *byte != 0xFF)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end.into())
}
