//! A set of numbers kept as ranges.
//!
//! Space ids are given in order and never used twice, so the ids of dropped spaces lie side by side
//! and the set stays small however many spaces come and go.

use std::collections::BTreeMap;

/// A set of numbers, stored as disjoint ranges that do not touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdSet {
    /// First number of each range, with its last.
    ranges: BTreeMap<u64, u64>,
}

/// How the ranges changed when a number was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// First number of the range that now holds the number.
    pub first: u64,
    /// Last number of that range.
    pub last: u64,
    /// First numbers of the ranges that were replaced by it; at most two.
    pub replaced: Vec<u64>,
}

impl IdSet {
    /// Returns whether the number is in the set.
    pub fn contains(&self, id: u64) -> bool {
        self.ranges.range(..=id).next_back().is_some_and(|(_, last)| *last >= id)
    }

    /// Adds a number and says how the ranges changed.
    pub fn insert(&mut self, id: u64) -> Merged {
        self.insert_range(id, id)
    }

    /// Adds all numbers from `first` to `last`, both included.
    pub fn insert_range(&mut self, first: u64, last: u64) -> Merged {
        let mut merged = Merged { first, last, replaced: Vec::new() };
        // A range that ends just before `first` touches it, so begin the search there.
        let from = match self.ranges.range(..=first).next_back() {
            Some((start, end)) if end.saturating_add(1) >= first => *start,
            _ => first,
        };
        let touching: Vec<(u64, u64)> =
            self.ranges.range(from..=last.saturating_add(1)).map(|(start, end)| (*start, *end)).collect();
        for (start, end) in touching {
            self.ranges.remove(&start);
            merged.first = merged.first.min(start);
            merged.last = merged.last.max(end);
            merged.replaced.push(start);
        }
        self.ranges.insert(merged.first, merged.last);
        merged
    }

    /// Returns the ranges in order, first and last number of each.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().map(|(first, last)| (*first, *last))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::IdSet;

    #[test]
    fn touching_ranges_become_one() {
        let mut set = IdSet::default();
        set.insert(5);
        set.insert(7);
        assert_eq!(set.ranges().collect::<Vec<_>>(), [(5, 5), (7, 7)]);
        let merged = set.insert(6);
        assert_eq!((merged.first, merged.last, merged.replaced), (5, 7, vec![5, 7]));
        assert_eq!(set.ranges().collect::<Vec<_>>(), [(5, 7)]);
        set.insert(u64::MAX);
        set.insert(0);
        assert!(set.contains(u64::MAX) && set.contains(0) && !set.contains(4) && !set.contains(8));
    }

    proptest! {
        #[test]
        fn agrees_with_a_set(ids in proptest::collection::vec(0u64..60, 0..80)) {
            let mut set = IdSet::default();
            let mut model = BTreeSet::new();
            for id in ids {
                set.insert(id);
                model.insert(id);
            }
            for id in 0..62 {
                prop_assert_eq!(set.contains(id), model.contains(&id));
            }
            let ranges: Vec<_> = set.ranges().collect();
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
        }
    }
}
