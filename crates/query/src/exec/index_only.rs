//! Aggregates that the index alone answers.
//!
//! They are counted like the items that they stand for, since the service's published figures for COUNT are those of
//! listing the items.

use std::ops::Bound;

use armilla_functions::Datum;
use armilla_index::{IndexId, KeyRange, split_entry, term};

use super::context::{Context, Counter};
use super::numbers::{damaged, open_set};
use super::sink::Sink;
use super::start::item_of;
use super::term_filter::TermFilter;
use super::walk::EXACT_TERM_BYTES;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::limits::{BATCH_ENTRIES, COLLECTED_NUMBERS_MAX};
use crate::physical::{IndexOnly, IndexRange, IndexSet};
use crate::source::{Direction, Source};

/// Answers from the index of one source. Returns false where it cannot.
pub(super) fn answer<'q, S: Sink>(
    context: &'q Context<'q>,
    source: &'q dyn Source,
    only: &IndexOnly,
    counter: &mut Counter,
    sink: &mut S,
) -> Result<bool> {
    let rows = match only {
        IndexOnly::CountAll => source.item_count(),
        IndexOnly::CountSet(IndexSet::Range(range)) if !range.repeats => {
            count_entries(context, source, range)?
        }
        IndexOnly::CountPath(range) => count_entries(context, source, range)?,
        IndexOnly::CountSet(set) => {
            let Some(mut opened) = open_set(context, source, set, 0)? else { return Ok(false) };
            let (mut rows, mut next) = (0, 0);
            while let Some(number) = opened.stream.seek(next)? {
                rows += 1;
                next = number.checked_add(1).ok_or_else(damaged)?;
            }
            rows
        }
        IndexOnly::Extreme { index, highest } => {
            extreme(context, source, index, *highest, counter, sink)?;
            return Ok(true);
        }
        IndexOnly::Distinct(_) => return Ok(false),
    };
    let (items, bytes) = source.totals();
    counter.work.fetched += rows;
    counter.work.fetched_bytes += rows * bytes.checked_div(items).unwrap_or(0);
    sink.count(rows)?;
    Ok(true)
}

/// Counts the entries of a range, which name different items.
fn count_entries(context: &Context<'_>, source: &dyn Source, range: &IndexRange) -> Result<u64> {
    if range.term_filter.is_none() {
        return range.ranges.iter().map(|range| source.count_entries(range)).sum();
    }
    let mut filter = TermFilter::new(context.evaluator, range.term_filter.as_ref());
    let mut count = 0;
    let mut entries = Vec::new();
    for range in &range.ranges {
        let mut range = range.clone();
        while !range.is_empty() {
            entries.clear();
            let more = source.entries(&range, Direction::Forward, BATCH_ENTRIES, &mut entries)?;
            for entry in &entries {
                let (_, term, _) = split_entry(entry).ok_or_else(damaged)?;
                count += u64::from(filter.admits(term)?);
            }
            match entries.last() {
                Some(last) if more => range.lower = Bound::Excluded(last.clone()),
                _ => break,
            }
        }
    }
    Ok(count)
}

/// Adds the value at one end of an index.
fn extreme<S: Sink>(
    context: &Context<'_>,
    source: &dyn Source,
    range: &IndexRange,
    highest: bool,
    counter: &mut Counter,
    sink: &mut S,
) -> Result<()> {
    let ends: &[Direction] = if highest {
        &[Direction::Reverse]
    } else {
        // An array or object, which would be at the other end, leaves MIN without a result.
        &[Direction::Forward, Direction::Reverse]
    };
    for direction in ends {
        counter.work.entries += u64::from(add_end(context, source, range, *direction, sink)?);
    }
    Ok(())
}

/// Adds the value at the end that a direction begins with. Returns whether there is one.
fn add_end<S: Sink>(
    context: &Context<'_>,
    source: &dyn Source,
    range: &IndexRange,
    direction: Direction,
    sink: &mut S,
) -> Result<bool> {
    let mut ranges: Vec<_> = range.ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
    // The nearest last.
    if direction == Direction::Forward {
        ranges.reverse();
    }
    let mut entries = Vec::new();
    while let Some(range) = ranges.last_mut() {
        entries.clear();
        if !range.is_empty() {
            source.entries(range, direction, 1, &mut entries)?;
        }
        let Some(entry) = entries.first() else {
            ranges.pop();
            continue;
        };
        let (_, term, number) = split_entry(entry).ok_or_else(damaged)?;
        let value = if source.is_whole() { term::decode(term) } else { None };
        if let Some(value) = value {
            sink.value(&value.map_or(Datum::Undefined, Datum::from_owned))?;
            return Ok(true);
        }
        // The term does not hold the value, or the entry may be of an item outside of the bounds.
        let Some(argument) = sink.argument().cloned() else {
            return Err(Error::refused("an index alone answers aggregates only"));
        };
        let numbers = if term.len() > EXACT_TERM_BYTES {
            // Of long values the index knows the order of their beginnings only.
            numbers_with(source, &entry[..IndexId::BYTES + EXACT_TERM_BYTES])?
        } else {
            vec![number]
        };
        let mut found = false;
        for number in numbers {
            if let Some(item) = item_of(source, number)? {
                let frame = Frame::item(source, &item);
                sink.value(&context.evaluator.eval(&argument, &frame)?)?;
                found = true;
            }
        }
        if found {
            return Ok(true);
        }
        match direction {
            Direction::Forward => range.lower = Bound::Excluded(entry.clone()),
            Direction::Reverse => range.upper = Bound::Excluded(entry.clone()),
        }
    }
    Ok(false)
}

/// Returns the numbers of all entries with a beginning.
fn numbers_with(source: &dyn Source, prefix: &[u8]) -> Result<Vec<u64>> {
    let mut range = KeyRange::prefix(prefix);
    let mut numbers = Vec::new();
    let mut entries = Vec::new();
    loop {
        entries.clear();
        let more = source.entries(&range, Direction::Forward, BATCH_ENTRIES, &mut entries)?;
        for entry in &entries {
            numbers.push(split_entry(entry).ok_or_else(damaged)?.2);
        }
        if numbers.len() > COLLECTED_NUMBERS_MAX {
            return Err(Error::too_large("too many items have values that begin alike"));
        }
        match entries.last() {
            Some(last) if more => range.lower = Bound::Excluded(last.clone()),
            _ => return Ok(numbers),
        }
    }
}
