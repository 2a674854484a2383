//! One item for each value of an index: what DISTINCT needs of a path, without looking at every item.
//!
//! Equal values lie side by side; where a whole batch of entries has one value, the rest of it is passed over by
//! seeking.

use std::ops::Bound;

use armilla_index::{KeyRange, NUMBER_BYTES, split_entry};
use bytes::Bytes;

use super::numbers::damaged;
use super::start::item_of;
use crate::error::Result;
use crate::limits::{BATCH_ENTRIES, BATCH_ENTRIES_FIRST};
use crate::physical::IndexRange;
use crate::source::{Direction, Source, SourceItem};

/// One item for each value of an index.
pub(super) struct DistinctTerms<'q> {
    source: &'q dyn Source,
    /// What is left, the nearest last.
    ranges: Vec<KeyRange>,
    size: usize,
}

impl<'q> DistinctTerms<'q> {
    /// Begins at the lowest value.
    pub(super) fn new(source: &'q dyn Source, range: &IndexRange) -> DistinctTerms<'q> {
        let ranges = range.ranges.iter().rev().filter(|range| !range.is_empty()).cloned().collect();
        DistinctTerms { source, ranges, size: BATCH_ENTRIES_FIRST }
    }

    /// Adds about `items_max` items. Returns whether there may be more.
    pub(super) fn read(&mut self, items_max: usize, out: &mut Vec<SourceItem>) -> Result<bool> {
        let mut entries: Vec<Bytes> = Vec::new();
        while out.len() < items_max {
            let Some(range) = self.ranges.last_mut() else { return Ok(false) };
            if range.is_empty() {
                self.ranges.pop();
                continue;
            }
            entries.clear();
            let more = self.source.entries(range, Direction::Forward, self.size, &mut entries)?;
            self.size = (self.size * 2).min(BATCH_ENTRIES);
            let mut named = Vec::with_capacity(entries.len());
            for entry in &entries {
                let (_, _, number) = split_entry(entry).ok_or_else(damaged)?;
                named.push((&entry[..entry.len() - NUMBER_BYTES], number));
            }
            let values = || named.chunk_by(|(one, _), (other, _)| one == other);
            // The first item of each value, all at once.
            let firsts: Vec<u64> = values().map(|same| same[0].1).collect();
            let mut items = Vec::with_capacity(firsts.len());
            self.source.load(&firsts, &mut items)?;
            let mut known: Option<&[u8]> = None;
            for (same, mut item) in values().zip(items) {
                // An item outside of the bounds says nothing about the value: another one may be inside.
                for (_, number) in &same[1..] {
                    if item.is_some() {
                        break;
                    }
                    item = item_of(self.source, *number)?;
                }
                if let Some(item) = item {
                    out.push(item);
                    known = Some(same[0].0);
                }
            }
            match (entries.last(), known) {
                (Some(last), Some(value)) if more && last.starts_with(value) => {
                    let behind = KeyRange::prefix(value).upper;
                    range.lower = match behind {
                        Bound::Excluded(key) | Bound::Included(key) => Bound::Included(key),
                        Bound::Unbounded => Bound::Excluded(last.clone()),
                    };
                }
                (Some(last), _) if more => range.lower = Bound::Excluded(last.clone()),
                _ => {
                    self.ranges.pop();
                }
            }
        }
        Ok(!self.ranges.is_empty())
    }
}
