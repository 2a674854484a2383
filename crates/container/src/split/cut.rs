//! Where to cut a range of hashed keys in two: in the middle of its arc, or of its bytes.
//!
//! Arcs are measured in the space that hashes can reach, because that is where items are: a quarter of all numbers at
//! each level of a hierarchical key, and the 32-bit hashes of version 1. A cut is a hashed key, or what hashed keys may
//! begin with, so that items that share one are always on the same side.
//!
//! Not here: who decides to cut (the owner of the container), and doing it (`split`).

use std::ops::Bound;

use armilla_kv::{Family, Scan};
use armilla_value::{HashVersion, HashedKey, hash_start_v1};

use super::elsewhere;
use crate::container::Container;
use crate::error::{Error, ErrorKind, Result};
use crate::item::keys;
use crate::map::Slot;
use crate::partition::counters::LogicalSize;

/// What a cut makes equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutBy {
    /// The widths of both arcs, in the space that hashes can reach.
    Arc,
    /// The bytes of both halves.
    Bytes,
}

impl Container {
    /// Returns where to cut a range in two, if it can be cut: never through one hashed key. By bytes, it reads the sizes
    /// of all logical partitions of the range, which takes its time.
    pub fn split_point(&self, range_id: u32, by: CutBy) -> Result<Option<HashedKey>> {
        let map = self.map_now();
        let slot = map.find(range_id).ok_or_else(|| {
            Error::new(
                ErrorKind::RangeGone,
                format!("range {range_id} is not a partition of this container any more"),
            )
        })?;
        match by {
            CutBy::Arc => {
                let (version, levels) = self.hashing();
                Ok(middle(&slot.range.min, &slot.range.max, version, levels))
            }
            CutBy::Bytes => self.middle_of_bytes(slot),
        }
    }

    /// Returns the range with the widest arc of those that can be cut; of several the one with the lowest id.
    pub fn widest_range(&self) -> Option<u32> {
        let (version, levels) = self.hashing();
        let map = self.map_now();
        let ranges = map.slots.iter().map(|slot| &slot.range);
        let widths: Vec<(f64, u32)> = ranges
            .filter(|range| middle(&range.min, &range.max, version, levels).is_some())
            .map(|range| (part_of_ring(&width(&range.min, &range.max, version, levels)), range.id))
            .collect();
        let widest = widths.iter().map(|(width, _)| *width).fold(0.0, f64::max);
        // Halves and other parts of one arc differ by the last of their hashes.
        let is_as_wide = |(width, _): &&(f64, u32)| *width >= widest * (1.0 - WIDTH_TOLERANCE);
        widths.iter().filter(is_as_wide).map(|(_, id)| *id).min()
    }

    fn hashing(&self) -> (HashVersion, usize) {
        let definition = &self.compiled().definition.partition_key;
        (definition.version, definition.paths.len())
    }

    fn middle_of_bytes(&self, slot: &Slot) -> Result<Option<HashedKey>> {
        let (version, levels) = self.hashing();
        let partition = self.partition(slot)?;
        if partition.far.is_some() {
            return Err(elsewhere(slot.range.id));
        }
        let snapshot = partition.space().snapshot()?;
        let half = partition.totals().size().total_bytes() / 2;
        let mut middle = Middle::new(half);
        let mut scan = Scan::prefix(Family::Meta, &[keys::SIZE_TAG]);
        loop {
            let page = snapshot.scan(&scan)?;
            for (key, value) in &page.entries {
                let hashed = keys::hashed(&key[1..], version, levels)
                    .ok_or_else(|| Error::corrupt("the size of a logical partition has a damaged key"))?;
                let size = LogicalSize::decode(value)?;
                if let Some(cut) = middle.add(hashed, size.total_bytes()) {
                    return Ok(Some(cut));
                }
            }
            match page.entries.last() {
                Some((key, _)) if page.more => scan.lower = Bound::Excluded(key.clone()),
                _ => return Ok(middle.finish()),
            }
        }
    }
}

/// Finds the cut between hashed keys that leaves about half of the bytes before it.
struct Middle {
    half: u64,
    /// The hashed key that is being added up, and what lies before it.
    current: Option<HashedKey>,
    before: u64,
    bytes: u64,
}

impl Middle {
    fn new(half: u64) -> Middle {
        Middle { half, current: None, before: 0, bytes: 0 }
    }

    /// Adds what lies at the next hashed key. Returns the cut once it is known.
    fn add(&mut self, hashed: HashedKey, bytes: u64) -> Option<HashedKey> {
        if self.current.as_ref() == Some(&hashed) {
            self.bytes += bytes;
            return None;
        }
        // Cutting here leaves everything before; cutting before the last key leaves what lay before that one.
        let (here, there) = (self.before + self.bytes, self.before);
        if self.current.is_some() && here >= self.half {
            let over = here - self.half;
            let under = self.half.saturating_sub(there);
            return if there > 0 && under < over { self.current.take() } else { Some(hashed) };
        }
        self.before = here;
        self.bytes = bytes;
        self.current = Some(hashed);
        None
    }

    /// Returns the cut if half of the bytes lie at the last key: before it, if anything is.
    fn finish(self) -> Option<HashedKey> {
        self.current.filter(|_| self.before > 0)
    }
}

/// How many hashes of version 1 there are.
const HASHES_V1: u64 = 1 << 32;

/// How many numbers a hash can be at each level of a key.
const HASHES: u128 = 1 << 126;

/// Returns the hashed key in the middle of an arc; `None` where nothing lies between its bounds.
fn middle(min: &HashedKey, max: &HashedKey, version: HashVersion, levels: usize) -> Option<HashedKey> {
    let is_inside = |cut: &HashedKey| min < cut && cut < max;
    if version == HashVersion::V1 {
        let (first, end) = (first_hash_v1(min), first_hash_v1(max));
        let middle = (first + end) / 2;
        // As the first cuts of a container: the last hash of the lower half, which is where the upper one begins.
        let cut = hash_start_v1(u32::try_from(middle.checked_sub(1)?).ok()?);
        return Some(cut).filter(is_inside);
    }
    let (low, high) = (digits(min, levels), digits(max, levels));
    (1..=low.len()).find_map(|count| {
        let mut carry = 0;
        let mut middle = Vec::with_capacity(count);
        for (low, high) in low.iter().zip(&high).take(count) {
            let sum = low + high + carry * HASHES;
            middle.push(sum / 2);
            carry = sum % 2;
        }
        // The bytes may differ where the numbers do not: nothing lies before a bound of zeros.
        let cut: Vec<u8> = middle.iter().flat_map(|digit| digit.to_be_bytes()).collect();
        (middle[..] > low[..count]).then(|| HashedKey::from_bytes(&cut)).filter(is_inside)
    })
}

/// Returns how wide an arc is, as a number that can be compared with others of the same container.
fn width(min: &HashedKey, max: &HashedKey, version: HashVersion, levels: usize) -> Vec<u128> {
    if version == HashVersion::V1 {
        return vec![u128::from(first_hash_v1(max) - first_hash_v1(min))];
    }
    let (low, high) = (digits(min, levels), digits(max, levels));
    let mut difference = Vec::with_capacity(low.len());
    let mut borrow = 0;
    for (low, high) in low.iter().zip(&high).rev() {
        let (low, high) = (low + borrow, *high);
        borrow = u128::from(high < low);
        difference.push(high + borrow * HASHES - low);
    }
    difference.reverse();
    difference
}

/// Arcs whose widths differ by less than this part are of the same width.
const WIDTH_TOLERANCE: f64 = 1.0 / 65_536.0;

/// Returns a width in about whole levels of hashes: beyond the first digit there is little left of it.
fn part_of_ring(width: &[u128]) -> f64 {
    width.iter().rev().fold(0.0, |below, digit| (*digit as f64 + below) / HASHES as f64)
}

/// Returns the lowest hash of version 1 whose keys are not below a bound.
fn first_hash_v1(bound: &HashedKey) -> u64 {
    let is_below = |hash: u64| u32::try_from(hash).is_ok_and(|hash| hash_start_v1(hash) < *bound);
    let (mut low, mut high) = (0, HASHES_V1);
    while low < high {
        let middle = (low + high) / 2;
        if is_below(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Returns a bound as a number with a digit for each level. What no hash can reach counts as the highest that one can.
fn digits(bound: &HashedKey, levels: usize) -> Vec<u128> {
    let mut digits = vec![0; levels.max(1)];
    for (digit, chunk) in digits.iter_mut().zip(bound.as_bytes().chunks(16)) {
        let mut bytes = [0; 16];
        bytes[..chunk.len()].copy_from_slice(chunk);
        *digit = u128::from_be_bytes(bytes).min(HASHES - 1);
    }
    digits
}

#[cfg(test)]
mod tests;
