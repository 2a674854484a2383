//! The items of one source in sort order, from an index that has that order.
//!
//! Two things the index does not give by itself. Of long values it holds only the beginning, so entries that begin
//! alike are gathered and put in order by the items' own values. And entries of equal values come in the direction of
//! the walk, which is not always the direction in which ties are promised; they are gathered and turned round.
//!
//! Not here: merging several sources (`ordered`).

use std::collections::VecDeque;
use std::ops::Bound;

use armilla_index::{IndexId, KeyRange, NUMBER_BYTES};
use bytes::Bytes;

use super::context::Context;
use super::feed::is_further;
use super::missing::Missing;
use super::passing::Passing;
use super::sort_key::{invert, push_sort_key, undefined_key};
use super::start::{Start, Tie};
use crate::bound::OrderKey;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::limits::{BATCH_ENTRIES, BATCH_ENTRIES_FIRST, COLLECTED_NUMBERS_MAX};
use crate::physical::{IndexSet, Walk};
use crate::source::{Direction, Source, SourceItem};

/// Terms beyond this length may hold a value that was cut, and two of them that agree so far may be out of order.
pub(super) const EXACT_TERM_BYTES: usize = 256;

/// So much of a sort key is surely the beginning of a term.
const SURE_KEY_BYTES: usize = 200;

/// An item in sort order.
pub(super) struct WalkStep {
    /// Its sort key.
    pub(super) key: Bytes,
    /// Its number.
    pub(super) number: u64,
    /// The item; nothing where it lies outside of the source's bounds, or is passed over.
    pub(super) item: Option<SourceItem>,
    /// Whether indexes say that it does not belong to the result, so that it was not loaded.
    pub(super) is_passed_over: bool,
}

/// Items in sort order.
pub(super) struct WalkStream<'q> {
    context: &'q Context<'q>,
    source: &'q dyn Source,
    order: &'q [OrderKey],
    /// What is left of the index.
    range: KeyRange,
    direction: Direction,
    /// Whether ties come by descending numbers.
    backwards: bool,
    /// Where to begin, until the first item that is not before it.
    start: Option<Start>,
    missing: Option<Missing<'q>>,
    passing: Passing<'q>,
    undefined_key: Bytes,
    /// Entries that were read ahead.
    entries: VecDeque<Bytes>,
    more_entries: bool,
    /// Items that are not loaded yet.
    pending: VecDeque<(Bytes, u64)>,
    ready: VecDeque<WalkStep>,
    size: usize,
}

impl<'q> WalkStream<'q> {
    /// Begins a walk.
    pub(super) fn new(
        context: &'q Context<'q>,
        source: &'q dyn Source,
        order: &'q [OrderKey],
        walk: &Walk,
        start: Option<Start>,
    ) -> WalkStream<'q> {
        let backwards = order.first().is_some_and(|key| key.descending);
        let undefined_key = Bytes::from(undefined_key(order));
        let mut missing = walk.adds_missing.then(|| Missing::new(context, source, walk.index, backwards));
        let mut range = walk.range.clone();
        if let Some(start) = &start {
            let natural_ties = (walk.direction == Direction::Reverse) == backwards;
            narrow(&mut range, walk.index, walk.direction, natural_ties, start);
            // In ascending order items without the path come first of all.
            if !backwards && start.key[..] > undefined_key[..] {
                missing = None;
            }
            if let (Some(missing), true) = (&mut missing, start.key[..] == undefined_key[..]) {
                match start.tie {
                    Tie::At(number) | Tie::Behind(number) => missing.begin_at(number),
                    Tie::First | Tie::Last => {}
                }
            }
        }
        WalkStream {
            context,
            source,
            order,
            more_entries: !range.is_empty(),
            range,
            direction: walk.direction,
            backwards,
            start,
            missing,
            passing: Passing::All,
            undefined_key,
            entries: VecDeque::new(),
            pending: VecDeque::new(),
            ready: VecDeque::new(),
            size: BATCH_ENTRIES_FIRST,
        }
    }

    /// Says how many entries will be read, about, so that many can be read at once from the start.
    pub(super) fn expect(&mut self, entries: u64) {
        let entries = usize::try_from(entries).unwrap_or(BATCH_ENTRIES);
        self.size = entries.clamp(BATCH_ENTRIES_FIRST, BATCH_ENTRIES);
    }

    /// Passes over items that are not in a set.
    pub(super) fn pass_over_others(&mut self, set: &IndexSet) {
        self.passing = Passing::Unread(set.clone());
    }

    /// Returns the next item.
    pub(super) fn head(&mut self) -> Result<Option<&WalkStep>> {
        while self.ready.is_empty() {
            if !self.refill()? {
                return Ok(None);
            }
        }
        Ok(self.ready.front())
    }

    /// Takes the next item.
    pub(super) fn pop(&mut self) -> Option<WalkStep> {
        self.ready.pop_front()
    }

    /// Gets more items ready. Returns false at the end.
    fn refill(&mut self) -> Result<bool> {
        let size = self.size;
        self.size = (self.size * 2).min(BATCH_ENTRIES);
        if self.pending.is_empty() && !self.find_more(size)? {
            return Ok(false);
        }
        let count = self.pending.len().min(size);
        let mut numbers: Vec<u64> = self.pending.iter().take(count).map(|(_, number)| *number).collect();
        if count > 0 {
            self.passing.retain(self.context, self.source, &mut numbers)?;
        }
        let mut items = Vec::with_capacity(numbers.len());
        if !numbers.is_empty() {
            self.source.load(&numbers, &mut items)?;
        }
        let mut loaded = numbers.into_iter().zip(items).peekable();
        for (key, number) in self.pending.drain(..count) {
            let item = loaded.next_if(|(next, _)| *next == number);
            let is_passed_over = item.is_none();
            let item = item.and_then(|(_, item)| item);
            self.ready.push_back(WalkStep { key, number, item, is_passed_over });
        }
        Ok(true)
    }

    /// Finds about `size` further items. Returns false at the end.
    fn find_more(&mut self, size: usize) -> Result<bool> {
        let mut steps: Vec<(Bytes, u64)> = Vec::with_capacity(size);
        let missing_first = !self.backwards;
        if missing_first && self.missing.is_some() {
            self.read_missing(size, &mut steps)?;
        }
        while steps.is_empty() && (self.more_entries || !self.entries.is_empty()) {
            self.read_entries(size, &mut steps)?;
        }
        if steps.is_empty() && self.missing.is_some() {
            self.read_missing(size, &mut steps)?;
        }
        let is_over = steps.is_empty() && self.missing.is_none();
        self.drop_before_start(&mut steps);
        self.pending.extend(steps);
        Ok(!is_over)
    }

    fn drop_before_start(&mut self, steps: &mut Vec<(Bytes, u64)>) {
        if let Some(start) = &self.start {
            let first = steps.iter().position(|(key, number)| start.admits(key, *number, self.backwards));
            match first {
                Some(first) => {
                    steps.drain(..first);
                    self.start = None;
                }
                None => steps.clear(),
            }
        }
    }

    fn read_missing(&mut self, size: usize, steps: &mut Vec<(Bytes, u64)>) -> Result<()> {
        let Some(missing) = &mut self.missing else { return Ok(()) };
        let mut numbers = Vec::with_capacity(size);
        if !missing.read(size, &mut numbers)? {
            self.missing = None;
        }
        steps.extend(numbers.into_iter().map(|number| (self.undefined_key.clone(), number)));
        Ok(())
    }

    /// Adds items of the index: about `size` of them, or one run of entries that must be put in order.
    fn read_entries(&mut self, size: usize, steps: &mut Vec<(Bytes, u64)>) -> Result<()> {
        if self.entries.is_empty() {
            self.read_ahead(size)?;
        }
        let natural_ties = (self.direction == Direction::Reverse) == self.backwards;
        while let Some(entry) = self.entries.front() {
            if !natural_ties || term_of(entry).len() > EXACT_TERM_BYTES {
                // A run needs memory of its own: what is ready goes first.
                if steps.is_empty() {
                    self.read_run(steps)?;
                }
                return Ok(());
            }
            let entry = self.entries.pop_front().expect("there is a first entry");
            steps.push((self.key_of(&entry), number_of(&entry)));
        }
        Ok(())
    }

    fn read_ahead(&mut self, size: usize) -> Result<()> {
        let mut entries = Vec::with_capacity(size);
        if self.range.is_empty() {
            self.more_entries = false;
            return Ok(());
        }
        self.more_entries = self.source.entries(&self.range, self.direction, size, &mut entries)?;
        match entries.last() {
            Some(last) => {
                let bound = Bound::Excluded(last.clone());
                match self.direction {
                    Direction::Forward => self.range.lower = bound,
                    Direction::Reverse => self.range.upper = bound,
                }
            }
            None => self.more_entries = false,
        }
        if entries.iter().any(|entry| entry.len() < IndexId::BYTES + NUMBER_BYTES) {
            return Err(super::numbers::damaged());
        }
        self.entries.extend(entries);
        Ok(())
    }

    /// Adds the entries that agree with the first one as far as the index can tell, put in order.
    fn read_run(&mut self, steps: &mut Vec<(Bytes, u64)>) -> Result<()> {
        let Some(first) = self.entries.pop_front() else { return Ok(()) };
        let mut run = vec![first];
        loop {
            if self.entries.is_empty() && self.more_entries {
                self.read_ahead(BATCH_ENTRIES)?;
            }
            match self.entries.front() {
                Some(next) if is_same_run(&run[0], next) => run.extend(self.entries.pop_front()),
                _ => break,
            }
            if run.len() > COLLECTED_NUMBERS_MAX {
                return Err(Error::too_large("too many items have sort keys that begin alike"));
            }
        }
        if term_of(&run[0]).len() <= EXACT_TERM_BYTES {
            run.reverse();
            steps.extend(run.iter().map(|entry| (self.key_of(entry), number_of(entry))));
            return Ok(());
        }
        let mut taken = 0;
        for batch in run.chunks(BATCH_ENTRIES) {
            let numbers: Vec<u64> = batch.iter().map(number_of).collect();
            let mut items = Vec::with_capacity(numbers.len());
            self.source.load(&numbers, &mut items)?;
            for item in items.into_iter().flatten() {
                let mut key = Vec::new();
                let frame = Frame::item(self.source, &item);
                push_sort_key(self.context.evaluator, self.order, &frame, &mut key)?;
                taken += key.len();
                self.context.memory.take(key.len(), "sort keys that begin alike")?;
                steps.push((key.into(), item.number));
            }
        }
        self.context.memory.give_back(taken);
        let backwards = self.backwards;
        steps.sort_by(|(key, number), (other_key, other_number)| {
            let ties = number.cmp(other_number);
            key.cmp(other_key).then(if backwards { ties.reverse() } else { ties })
        });
        Ok(())
    }

    fn key_of(&self, entry: &Bytes) -> Bytes {
        let term = entry.slice(IndexId::BYTES..entry.len() - NUMBER_BYTES);
        match self.direction {
            Direction::Forward => term,
            Direction::Reverse => {
                let mut key = term.to_vec();
                invert(&mut key);
                key.into()
            }
        }
    }
}

fn term_of(entry: &Bytes) -> &[u8] {
    &entry[IndexId::BYTES..entry.len() - NUMBER_BYTES]
}

fn number_of(entry: &Bytes) -> u64 {
    entry.last_chunk::<NUMBER_BYTES>().map_or(0, |number| u64::from_be_bytes(*number))
}

fn is_same_run(first: &Bytes, next: &Bytes) -> bool {
    let (first, next) = (term_of(first), term_of(next));
    if first.len() > EXACT_TERM_BYTES && next.len() > EXACT_TERM_BYTES {
        first[..EXACT_TERM_BYTES] == next[..EXACT_TERM_BYTES]
    } else {
        first == next
    }
}

/// Leaves out what surely lies before the start.
fn narrow(range: &mut KeyRange, index: IndexId, direction: Direction, natural_ties: bool, start: &Start) {
    let is_sure = start.key.len() <= SURE_KEY_BYTES;
    let mut prefix = index.0.to_be_bytes().to_vec();
    prefix.extend_from_slice(&start.key[..start.key.len().min(SURE_KEY_BYTES)]);
    if direction == Direction::Reverse {
        invert(&mut prefix[IndexId::BYTES..]);
    }
    let tie = match start.tie {
        _ if !is_sure => Tie::First,
        Tie::At(_) | Tie::Behind(_) if !natural_ties => Tie::First,
        tie => tie,
    };
    let same = KeyRange::prefix(&prefix);
    let entry = |number: u64| Bytes::from([&prefix[..], &number.to_be_bytes()].concat());
    match direction {
        Direction::Forward => {
            let lower = match tie {
                Tie::First => same.lower,
                Tie::At(number) => Bound::Included(entry(number)),
                Tie::Behind(number) => Bound::Excluded(entry(number)),
                Tie::Last => match same.upper {
                    Bound::Excluded(key) | Bound::Included(key) => Bound::Included(key),
                    Bound::Unbounded => {
                        *range = KeyRange::empty();
                        return;
                    }
                },
            };
            if is_further(&lower, &range.lower) {
                range.lower = lower;
            }
        }
        Direction::Reverse => {
            let upper = match tie {
                Tie::First => same.upper,
                Tie::At(number) => Bound::Included(entry(number)),
                Tie::Behind(number) => Bound::Excluded(entry(number)),
                Tie::Last => match same.lower {
                    Bound::Included(key) | Bound::Excluded(key) => Bound::Excluded(key),
                    Bound::Unbounded => {
                        *range = KeyRange::empty();
                        return;
                    }
                },
            };
            if is_lower(&upper, &range.upper) {
                range.upper = upper;
            }
        }
    }
}

/// Returns whether one upper bound is below another.
fn is_lower(first: &Bound<Bytes>, second: &Bound<Bytes>) -> bool {
    match (first, second) {
        (Bound::Unbounded, _) => false,
        (_, Bound::Unbounded) => true,
        (Bound::Excluded(first), Bound::Included(second)) => first <= second,
        (
            Bound::Included(first) | Bound::Excluded(first),
            Bound::Included(second) | Bound::Excluded(second),
        ) => first < second,
    }
}
