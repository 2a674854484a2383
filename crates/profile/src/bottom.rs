//! A sample of different things that does not depend on how often they come: those with the lowest hashes.
//!
//! As many as fit are all of them, and counted exactly. Beyond, how close the hashes lie tells how many there are
//! (Bar-Yossef and others, 2002), and two such samples hold the same things where both hold anything, so that they can
//! be compared. A thing that is kept at the end was kept from when it first came, so that what is noted of it is whole.

use std::collections::BTreeMap;

/// The things with the lowest keys that came, with what is noted of each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bottom<K, T> {
    kept: BTreeMap<K, T>,
    is_cut: bool,
}

impl<K, T> Default for Bottom<K, T> {
    fn default() -> Bottom<K, T> {
        Bottom { kept: BTreeMap::new(), is_cut: false }
    }
}

impl<K: Ord + Copy, T> Bottom<K, T> {
    /// Returns the notes of a thing, which may be new; none if it is not among the lowest.
    pub(crate) fn place(&mut self, key: K, limit: usize) -> Option<&mut T>
    where
        T: Default,
    {
        if self.kept.len() >= limit && !self.kept.contains_key(&key) {
            self.is_cut = true;
            match self.kept.last_key_value() {
                Some((highest, _)) if key < *highest => self.kept.pop_last(),
                _ => return None,
            };
        }
        Some(self.kept.entry(key).or_default())
    }

    /// Drops the highest until no more are kept than these.
    pub(crate) fn shrink(&mut self, limit: usize) {
        while self.kept.len() > limit {
            self.kept.pop_last();
            self.is_cut = true;
        }
    }

    /// Returns what is noted of a thing that is kept.
    pub(crate) fn get(&self, key: K) -> Option<&T> {
        self.kept.get(&key)
    }

    /// Returns how many are kept.
    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Says whether there were more than are kept.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Walks those that are kept, the lowest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        self.kept.iter().map(|(key, noted)| (*key, noted))
    }

    /// Gives up those that are kept, the lowest first.
    pub(crate) fn into_kept(self) -> BTreeMap<K, T> {
        self.kept
    }
}

impl<T> Bottom<u64, T> {
    /// Returns how many different things there were: exact if all are kept, else estimated.
    pub(crate) fn distinct(&self) -> u64 {
        let kept = self.kept.len() as u64;
        match self.kept.last_key_value() {
            Some((highest, _)) if self.is_cut && kept > 1 => {
                let part = (*highest as f64 + 1.0) / 2f64.powi(64);
                (((kept - 1) as f64 / part).round() as u64).max(kept)
            }
            _ => kept,
        }
    }

    /// Returns the hash up to which everything that came is kept.
    pub(crate) fn below(&self) -> u64 {
        match self.kept.last_key_value() {
            Some((highest, _)) if self.is_cut => *highest,
            Some(_) => u64::MAX,
            None if self.is_cut => 0,
            None => u64::MAX,
        }
    }
}

/// How often a value came, and whether in several items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    count: u32,
    /// The item that had it, numbered from 1, or [`SEVERAL`].
    item: u32,
}

const SEVERAL: u32 = u32::MAX;

impl Seen {
    pub(crate) fn add(&mut self, item: u32) {
        self.item = if self.count == 0 || self.item == item { item } else { SEVERAL };
        self.count = self.count.saturating_add(1);
    }

    pub(crate) fn count(self) -> u64 {
        u64::from(self.count)
    }

    pub(crate) fn is_in_several_items(self) -> bool {
        self.item == SEVERAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    fn sample(values: impl Iterator<Item = u64>, limit: usize) -> Bottom<u64, Seen> {
        let mut bottom = Bottom::default();
        for (item, value) in values.enumerate() {
            if let Some(seen) = bottom.place(hash::mix(1, value), limit) {
                Seen::add(seen, item as u32 + 1);
            }
        }
        bottom
    }

    #[test]
    fn as_many_as_fit_are_counted_exactly_and_one_more_is_estimated() {
        for (count, is_cut) in [(0, false), (1, false), (99, false), (100, false), (101, true)] {
            let bottom = sample(0..count, 100);
            assert_eq!(bottom.is_cut(), is_cut, "{count}");
            if !is_cut {
                assert_eq!(bottom.distinct(), count);
                assert_eq!(bottom.below(), u64::MAX);
            }
        }
        for count in [10_000, 1_000_000] {
            let bottom = sample(0..count, 4_096);
            let error = bottom.distinct() as f64 / count as f64 - 1.0;
            assert!(error.abs() < 0.05, "{count}: {error}");
        }
    }

    #[test]
    fn what_is_kept_depends_neither_on_order_nor_on_when_it_was_shrunk() {
        let forward = sample((0..3_000).chain(0..500), 64);
        let backward = sample((0..500).rev().chain((0..3_000).rev()), 64);
        let hashes = |bottom: &Bottom<u64, Seen>| {
            bottom.iter().map(|(hash, seen)| (hash, seen.count())).collect::<Vec<_>>()
        };
        assert_eq!(hashes(&forward), hashes(&backward));
        let mut late = sample((0..3_000).chain(0..500), 1_024);
        late.shrink(64);
        assert_eq!(late, forward);
        assert_eq!(forward.len(), 64);
        assert_eq!(forward.get(forward.below()).map(|seen| seen.count() > 0), Some(true));
    }

    #[test]
    fn a_value_is_in_several_items_only_if_two_have_it() {
        let mut seen = Seen::default();
        seen.add(3);
        seen.add(3);
        assert_eq!((seen.count(), seen.is_in_several_items()), (2, false));
        seen.add(4);
        seen.add(3);
        assert_eq!((seen.count(), seen.is_in_several_items()), (4, true));
    }
}
