//! Item numbers that indexes name, in ascending order.
//!
//! Entries of one value lie in the order of item numbers already, so they are read as they are, and passed over by
//! seeking. Entries of several values are collected and put in order first, as far as memory allows. AND is a
//! leapfrog over such streams, OR a merge.
//!
//! Invariant: [`NumberStream::seek`] gives the lowest number of the set that is not below the one asked for; it is
//! asked for ascending numbers only.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Bound;

use armilla_index::{KeyRange, NUMBER_BYTES, split_entry};
use bytes::Bytes;

use super::context::Context;
use super::term_filter::TermFilter;
use crate::budget::Held;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{BATCH_ENTRIES, BATCH_ENTRIES_FIRST, NUMBERS_AT_ONCE_MAX, SIDE_BY_SIDE_VALUES_MAX};
use crate::physical::{Begun, IndexRange, IndexSet};
use crate::source::{Direction, Source};

#[cfg(test)]
mod tests;

/// An ascending stream of item numbers.
pub(super) enum NumberStream<'q> {
    /// Those of one value.
    Value(ValueCursor<'q>),
    /// Numbers that were put in order.
    Collected(Collected<'q>),
    /// Those in all streams.
    And(Vec<NumberStream<'q>>),
    /// Those in one of the streams.
    Or(Merge<'q>),
}

/// Numbers that were put in order.
pub(super) struct Collected<'q> {
    numbers: Vec<u64>,
    at: usize,
    /// The memory that they take.
    #[expect(dead_code, reason = "gives the memory back when it is dropped")]
    held: Option<Held<'q>>,
}

/// A stream, and how many entries were looked at in vain to make it.
pub(super) struct OpenedNumbers<'q> {
    pub(super) stream: NumberStream<'q>,
    /// Entries that a condition on the value itself ruled out.
    pub(super) rejected: u64,
}

/// Opens the stream of a set, without numbers below `from`. `None`: there are too many numbers to put in order.
pub(super) fn open_set<'q>(
    context: &'q Context<'q>,
    source: &'q dyn Source,
    set: &IndexSet,
    from: u64,
) -> Result<Option<OpenedNumbers<'q>>> {
    let mut rejected = 0;
    let stream = open(context, source, set, from, &mut rejected)?;
    Ok(stream.map(|stream| OpenedNumbers { stream, rejected }))
}

fn open<'q>(
    context: &'q Context<'q>,
    source: &'q dyn Source,
    set: &IndexSet,
    from: u64,
    rejected: &mut u64,
) -> Result<Option<NumberStream<'q>>> {
    let sets = match set {
        IndexSet::Range(range) => return open_range(context, source, range, from, rejected),
        IndexSet::And(sets) | IndexSet::Or(sets) => sets,
    };
    let mut streams = Vec::with_capacity(sets.len());
    for set in sets {
        match open(context, source, set, from, rejected)? {
            Some(stream) => streams.push(stream),
            None => return Ok(None),
        }
    }
    Ok(Some(match set {
        IndexSet::Or(_) => NumberStream::Or(Merge::new(streams)),
        _ => NumberStream::And(streams),
    }))
}

fn open_range<'q>(
    context: &'q Context<'q>,
    source: &'q dyn Source,
    range: &IndexRange,
    from: u64,
    rejected: &mut u64,
) -> Result<Option<NumberStream<'q>>> {
    let is_plain = range.is_equality && range.term_filter.is_none();
    if is_plain && range.ranges.len() <= SIDE_BY_SIDE_VALUES_MAX {
        return Ok(Some(side_by_side(source, range)));
    }
    let mut filter = TermFilter::new(context.evaluator, range.term_filter.as_ref());
    match collect(source, range, from, context.collected_max, &mut filter)? {
        Some(numbers) => {
            *rejected += filter.rejected;
            let bytes = numbers.len() * size_of::<u64>();
            let held = Some(context.memory.hold(bytes, "the items that an index names")?);
            Ok(Some(NumberStream::Collected(Collected { numbers, at: 0, held })))
        }
        None if is_plain => Ok(Some(side_by_side(source, range))),
        None => Ok(None),
    }
}

fn side_by_side<'q>(source: &'q dyn Source, range: &IndexRange) -> NumberStream<'q> {
    let value = |(at, value): (usize, &KeyRange)| {
        NumberStream::Value(ValueCursor::new(source, value.clone(), begun(range, at)))
    };
    let mut values: Vec<NumberStream<'q>> = range.ranges.iter().enumerate().map(value).collect();
    match values.len() {
        1 => values.remove(0),
        _ => NumberStream::Or(Merge::new(values)),
    }
}

/// Returns what was read of a part of an index already.
fn begun(range: &IndexRange, at: usize) -> Option<&Begun> {
    range.begun.get(at)?.as_ref()
}

/// Returns the numbers of a part of an index, sorted and each once. `None`: there are too many.
fn collect(
    source: &dyn Source,
    index: &IndexRange,
    from: u64,
    numbers_max: usize,
    filter: &mut TermFilter<'_>,
) -> Result<Option<Vec<u64>>> {
    let mut numbers = Vec::new();
    let mut entries = Vec::new();
    if !filter.is_present() {
        for (at, range) in index.ranges.iter().enumerate() {
            let mut range = range.clone();
            if let Some(begun) = begun(index, at) {
                numbers.extend_from_slice(&begun.numbers);
                match &begun.last {
                    None => continue,
                    Some(last) => range.lower = Bound::Excluded(last.clone()),
                }
            }
            let room = (numbers_max + 1).saturating_sub(numbers.len());
            let last = source.entry_numbers(&range, room, &mut numbers)?;
            if last.is_some() || numbers.len() > numbers_max {
                return Ok(None);
            }
        }
        numbers.retain(|number| *number >= from);
        numbers.sort_unstable();
        numbers.dedup();
        return Ok(Some(numbers));
    }
    for range in &index.ranges {
        let mut range = range.clone();
        let mut size = BATCH_ENTRIES_FIRST;
        while !range.is_empty() {
            entries.clear();
            let more = source.entries(&range, Direction::Forward, size, &mut entries)?;
            for entry in &entries {
                let (_, term, number) = split_entry(entry).ok_or_else(damaged)?;
                if number >= from && filter.admits(term)? {
                    numbers.push(number);
                }
            }
            if numbers.len() > numbers_max {
                return Ok(None);
            }
            match entries.last() {
                Some(last) if more => range.lower = Bound::Excluded(last.clone()),
                _ => break,
            }
            size = (size * 2).min(BATCH_ENTRIES);
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(Some(numbers))
}

impl NumberStream<'_> {
    /// Returns the lowest number that is not below `at_least`.
    pub(super) fn seek(&mut self, at_least: u64) -> Result<Option<u64>> {
        match self {
            NumberStream::Value(cursor) => cursor.seek(at_least),
            NumberStream::Collected(Collected { numbers, at, .. }) => {
                *at += gallop(&numbers[*at..], at_least);
                Ok(numbers.get(*at).copied())
            }
            NumberStream::And(streams) => {
                let mut candidate = at_least;
                loop {
                    let before = candidate;
                    for stream in streams.iter_mut() {
                        match stream.seek(candidate)? {
                            Some(number) => candidate = number,
                            None => return Ok(None),
                        }
                    }
                    // All gave what they were asked for: the first one's number is in every stream.
                    if candidate == before && !streams.is_empty() {
                        return Ok(Some(candidate));
                    }
                    if streams.is_empty() {
                        return Ok(None);
                    }
                }
            }
            NumberStream::Or(merge) => merge.seek(at_least),
        }
    }

    /// Adds up to `numbers_max` numbers from `at_least` on to `out`. Returns whether there may be more.
    pub(super) fn read(&mut self, at_least: u64, numbers_max: usize, out: &mut Vec<u64>) -> Result<bool> {
        let mut next = at_least;
        for _ in 0..numbers_max {
            match self.seek(next)? {
                Some(number) => {
                    out.push(number);
                    match number.checked_add(1) {
                        Some(following) => next = following,
                        None => return Ok(false),
                    }
                }
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// Returns how many of some sorted numbers are below `at_least`, looking near the start first.
fn gallop(numbers: &[u64], at_least: u64) -> usize {
    let mut step = 1;
    while step < numbers.len() && numbers[step - 1] < at_least {
        step *= 2;
    }
    let start = step / 2;
    let end = step.min(numbers.len());
    start + numbers[start..end].partition_point(|number| *number < at_least)
}

/// The entries of one value.
pub(super) struct ValueCursor<'q> {
    source: &'q dyn Source,
    range: KeyRange,
    /// What all entries begin with, known from the first one.
    prefix: Option<Bytes>,
    numbers: Vec<u64>,
    at: usize,
    more: bool,
    size: usize,
}

impl<'q> ValueCursor<'q> {
    fn new(source: &'q dyn Source, range: KeyRange, begun: Option<&Begun>) -> ValueCursor<'q> {
        let more = !range.is_empty();
        // Entries of one value lie behind what they begin with, which is then the lower bound.
        let prefix = match &range.lower {
            Bound::Included(lower) if range == KeyRange::prefix(lower) => Some(lower.clone()),
            _ => None,
        };
        let cursor = ValueCursor {
            source,
            range,
            prefix,
            numbers: Vec::new(),
            at: 0,
            more,
            size: BATCH_ENTRIES_FIRST,
        };
        match begun {
            None => cursor,
            Some(Begun { numbers, last }) => {
                let (numbers, size) = (numbers.clone(), numbers.len().max(BATCH_ENTRIES_FIRST));
                ValueCursor { numbers, more: last.is_some(), size, ..cursor }
            }
        }
    }

    fn seek(&mut self, at_least: u64) -> Result<Option<u64>> {
        loop {
            self.at += gallop(&self.numbers[self.at..], at_least);
            if let Some(number) = self.numbers.get(self.at) {
                return Ok(Some(*number));
            }
            if !self.more {
                return Ok(None);
            }
            // A caller that asks for a number beyond the next one passes over entries: read few at a time.
            let skips = self.numbers.last().is_some_and(|last| last.checked_add(1) != Some(at_least));
            self.size = if skips { BATCH_ENTRIES_FIRST } else { (self.size * 2).min(NUMBERS_AT_ONCE_MAX) };
            self.refill(at_least)?;
        }
    }

    fn refill(&mut self, at_least: u64) -> Result<()> {
        if self.prefix.is_none() {
            // All entries of one value begin alike, as the first one does.
            let mut first = Vec::new();
            self.source.entries(&self.range, Direction::Forward, 1, &mut first)?;
            let Some(first) = first.first() else {
                self.more = false;
                return Ok(());
            };
            self.prefix = Some(first.slice(..first.len() - NUMBER_BYTES));
        }
        if let Some(prefix) = &self.prefix {
            let mut lower = Vec::with_capacity(prefix.len() + NUMBER_BYTES);
            lower.extend_from_slice(prefix);
            lower.extend_from_slice(&at_least.to_be_bytes());
            self.range.lower = Bound::Included(lower.into());
        }
        self.numbers.clear();
        self.at = 0;
        if self.range.is_empty() {
            self.more = false;
            return Ok(());
        }
        self.more = self.source.entry_numbers(&self.range, self.size, &mut self.numbers)?.is_some();
        Ok(())
    }
}

/// A merge of streams.
pub(super) struct Merge<'q> {
    streams: Vec<NumberStream<'q>>,
    /// The next number of each stream that was begun and is not at its end.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    begun: bool,
}

impl<'q> Merge<'q> {
    fn new(streams: Vec<NumberStream<'q>>) -> Merge<'q> {
        let heads = BinaryHeap::with_capacity(streams.len());
        Merge { streams, heads, begun: false }
    }

    fn seek(&mut self, at_least: u64) -> Result<Option<u64>> {
        if !self.begun {
            self.begun = true;
            for (index, stream) in self.streams.iter_mut().enumerate() {
                if let Some(number) = stream.seek(at_least)? {
                    self.heads.push(Reverse((number, index)));
                }
            }
        }
        while let Some(Reverse((number, index))) = self.heads.peek().copied() {
            if number >= at_least {
                return Ok(Some(number));
            }
            self.heads.pop();
            if let Some(number) = self.streams[index].seek(at_least)? {
                self.heads.push(Reverse((number, index)));
            }
        }
        Ok(None)
    }
}

/// Makes an error about an entry that is none.
pub(super) fn damaged() -> Error {
    Error::new(ErrorKind::Source, "an index entry is damaged")
}
