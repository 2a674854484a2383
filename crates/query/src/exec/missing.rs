//! Items without an entry in an index: they are undefined in what it orders by.
//!
//! The numbers in the index are gathered first, one bit each; all others are missing.

use std::ops::Bound;

use armilla_index::{IndexId, KeyRange, split_entry};

use super::context::Context;
use super::number_set::NumberSet;
use super::numbers::damaged;
use crate::budget::Memory;
use crate::error::Result;
use crate::limits::BATCH_ENTRIES;
use crate::source::{Direction, Source};

/// Item numbers that an index lacks, in order.
pub(super) struct Missing<'q> {
    source: &'q dyn Source,
    index: IndexId,
    memory: &'q Memory,
    backwards: bool,
    /// The numbers in the index, once they are known.
    present: Option<NumberSet<'q>>,
    after: u64,
    /// What is left, the next one last, where numbers come backwards.
    collected: Option<Vec<u64>>,
    is_over: bool,
}

impl<'q> Missing<'q> {
    /// Makes the list of a source; nothing is read yet.
    pub(super) fn new(
        context: &'q Context<'q>,
        source: &'q dyn Source,
        index: IndexId,
        backwards: bool,
    ) -> Missing<'q> {
        let memory = &context.memory;
        Missing { source, index, memory, backwards, present: None, after: 0, collected: None, is_over: false }
    }

    /// Passes over all numbers before one, in the order in which they come.
    pub(super) fn begin_at(&mut self, number: u64) {
        if !self.backwards {
            self.after = number.saturating_sub(1);
        }
    }

    /// Adds up to `numbers_max` numbers. Returns whether there may be more.
    pub(super) fn read(&mut self, numbers_max: usize, out: &mut Vec<u64>) -> Result<bool> {
        if self.is_over {
            return Ok(false);
        }
        if self.present.is_none() {
            self.present = Some(self.gather()?);
        }
        if self.backwards {
            return self.read_backwards(numbers_max, out);
        }
        let mut batch = Vec::new();
        while out.len() < numbers_max && !self.is_over {
            self.next_batch(&mut batch)?;
            out.append(&mut batch);
        }
        Ok(!self.is_over)
    }

    fn read_backwards(&mut self, numbers_max: usize, out: &mut Vec<u64>) -> Result<bool> {
        if self.collected.is_none() {
            let mut all = Vec::new();
            while !self.is_over {
                let before = all.len();
                self.next_batch(&mut all)?;
                self.memory
                    .take((all.len() - before) * size_of::<u64>(), "the items that lack an indexed path")?;
            }
            self.collected = Some(all);
        }
        let collected = self.collected.get_or_insert_default();
        let start = collected.len().saturating_sub(numbers_max);
        out.extend(collected.drain(start..).rev());
        self.memory.give_back(out.len() * size_of::<u64>());
        self.is_over = collected.is_empty();
        Ok(!self.is_over)
    }

    /// Adds the missing ones among the next numbers.
    fn next_batch(&mut self, out: &mut Vec<u64>) -> Result<()> {
        let mut numbers = Vec::with_capacity(BATCH_ENTRIES);
        let more = self.source.numbers(self.after, BATCH_ENTRIES, &mut numbers)?;
        match numbers.last() {
            Some(last) => self.after = *last,
            None => self.is_over = true,
        }
        self.is_over |= !more;
        if let Some(present) = &self.present {
            out.extend(numbers.into_iter().filter(|number| !present.contains(*number)));
        }
        Ok(())
    }

    fn gather(&self) -> Result<NumberSet<'q>> {
        let mut present = NumberSet::new(self.memory);
        let mut range = KeyRange::prefix(&self.index.0.to_be_bytes());
        let mut entries = Vec::with_capacity(BATCH_ENTRIES);
        loop {
            entries.clear();
            let more = self.source.entries(&range, Direction::Forward, BATCH_ENTRIES, &mut entries)?;
            for entry in &entries {
                let (_, _, number) = split_entry(entry).ok_or_else(damaged)?;
                present.insert(number)?;
            }
            match entries.last() {
                Some(last) if more => range.lower = Bound::Excluded(last.clone()),
                _ => return Ok(present),
            }
        }
    }
}

impl Drop for Missing<'_> {
    fn drop(&mut self) {
        let left = self.collected.as_ref().map_or(0, Vec::len);
        self.memory.give_back(left * size_of::<u64>());
    }
}
