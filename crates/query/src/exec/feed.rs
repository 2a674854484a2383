//! The items of one source, in the order in which an access finds them, loaded in batches.
//!
//! A feed can begin at a place of an earlier page, whatever access is chosen now: the place decides the order in
//! which items come, and where the chosen access has another order, everything is looked at and filtered.
//!
//! Batches begin small and grow, so that a page that needs few items loads few.

use std::ops::Bound;

use armilla_functions::Datum;
use armilla_index::{IndexId, KeyRange, split_entry};
use bytes::Bytes;

use super::context::{Class, Context};
use super::distinct_terms::DistinctTerms;
use super::entry_values::EntryValues;
use super::numbers::{NumberStream, damaged, open_set};
use super::term_filter::TermFilter;
use crate::budget::Held;
use crate::continuation::{ArcProgress, Mark, invalid};
use crate::error::Result;
use crate::limits::{BATCH_ENTRIES, BATCH_ENTRIES_FIRST, GATHERED_ENTRIES_MAX, NUMBERS_AT_ONCE_MAX};
use crate::physical::{Access, Covered, IndexOnly, IndexRange, IndexSet};
use crate::source::{Direction, Source, SourceItem};

#[cfg(test)]
mod tests;

/// What an entry whose values are put in order takes in memory, about.
const GATHERED_ENTRY_BYTES: usize = size_of::<Candidate>() + 128;

/// The items of one source.
pub(super) struct Feed<'q> {
    source: &'q dyn Source,
    finder: Finder<'q>,
    /// How its items are counted.
    pub(super) class: Class,
    /// Whether every condition on the item must be checked, because the chosen access could not be used.
    pub(super) checks_all: bool,
    /// Entries that were looked at in vain when the feed was opened.
    pub(super) rejected_at_start: u64,
    batch: Vec<Candidate>,
    at: usize,
    /// Where the batch before ended.
    before: ArcProgress,
    more: bool,
    size: usize,
    loaded: usize,
    /// Entries that were looked at in vain behind the last candidate.
    trailing: u64,
}

/// An item that an access names.
pub(super) struct Candidate {
    /// Its number.
    pub(super) number: u64,
    /// Its key or index entry, where the feed is in that order.
    key: Bytes,
    /// What its index entry holds of it, where that is enough.
    pub(super) values: Option<Vec<Datum<'static>>>,
    /// Entries that were looked at in vain before it.
    pub(super) rejected: u64,
    /// The item itself; nothing where it lies outside of the source's bounds, or where its index entry is enough.
    pub(super) item: Option<SourceItem>,
}

/// How the next items are found.
enum Finder<'q> {
    /// There are none.
    Nothing,
    /// One item.
    Point(SourceItem),
    /// All, by number.
    Numbers { after: u64 },
    /// Those of a set, by number.
    Set { stream: NumberStream<'q>, next: u64 },
    /// All, by key.
    Keys { after: Option<Bytes> },
    /// Those of a range of an index, in its order.
    Entries(EntryCursor<'q>),
    /// Index entries that hold enough of their items, by number.
    Gathered { candidates: std::vec::IntoIter<Candidate>, _held: Held<'q> },
    /// One item for each value of an index.
    DistinctTerms(DistinctTerms<'q>),
}

impl<'q> Feed<'q> {
    /// Opens a source at a place, with the access that was chosen for it.
    pub(super) fn open(
        context: &'q Context<'q>,
        source: &'q dyn Source,
        access: &Access,
        place: &ArcProgress,
    ) -> Result<Feed<'q>> {
        let mut rejected_at_start = 0;
        let finder = match place {
            ArcProgress::Fresh => by_access(context, source, access, &mut rejected_at_start)?,
            ArcProgress::Number(after) => by_number(context, source, access, *after)?,
            ArcProgress::Key(mark) => Some(Finder::Keys { after: key_behind(source, mark)? })
                .filter(|_| matches!(innermost(access), Access::ScanByKey)),
            ArcProgress::Entry(mark) => by_entry(context, source, access, mark)?,
        };
        let checks_all = finder.is_none();
        let finder = match (finder, place) {
            (Some(finder), _) => finder,
            (None, ArcProgress::Number(after)) => Finder::Numbers { after: *after },
            (None, ArcProgress::Key(mark)) => Finder::Keys { after: key_behind(source, mark)? },
            (None, ArcProgress::Entry(mark)) => any_order_by_entry(context, source, access, mark)?,
            (None, ArcProgress::Fresh) => Finder::Keys { after: None },
        };
        let class = match &finder {
            Finder::Numbers { .. } | Finder::Keys { .. } if source.is_logical() => Class::Logical,
            Finder::Numbers { .. } | Finder::Keys { .. } => Class::Scanned,
            _ => Class::Fetched,
        };
        let before = match (&finder, place) {
            (_, place) if *place != ArcProgress::Fresh => place.clone(),
            (Finder::Keys { .. }, _) => ArcProgress::Key(Mark::new(&[], 0)),
            (Finder::Entries(cursor), _) => ArcProgress::Entry(Mark::new(&cursor.index.0.to_be_bytes(), 0)),
            _ => ArcProgress::Number(0),
        };
        Ok(Feed {
            source,
            more: !matches!(finder, Finder::Nothing),
            finder,
            class,
            checks_all,
            rejected_at_start,
            batch: Vec::new(),
            at: 0,
            before,
            size: BATCH_ENTRIES_FIRST,
            loaded: 0,
            trailing: 0,
        })
    }

    /// Returns the next candidate; `wanted` says how many more are likely to be needed.
    pub(super) fn current(&mut self, wanted: usize) -> Result<Option<&Candidate>> {
        while self.at == self.batch.len() {
            if !self.more {
                return Ok(None);
            }
            self.refill(wanted)?;
        }
        Ok(self.batch.get(self.at))
    }

    /// Says that every item is wanted, so that many can be loaded at once from the start.
    pub(super) fn expect_all(&mut self) {
        self.size = BATCH_ENTRIES;
    }

    /// Goes on to the candidate behind the current one.
    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    /// Returns the place behind the last candidate that was dealt with.
    pub(super) fn place(&self) -> ArcProgress {
        match self.at.checked_sub(1).and_then(|last| self.batch.get(last)) {
            Some(candidate) => self.place_of(candidate),
            None => self.before.clone(),
        }
    }

    /// Returns how many entries were looked at in vain behind the last candidate, once.
    pub(super) fn take_trailing(&mut self) -> u64 {
        std::mem::take(&mut self.trailing)
    }

    fn place_of(&self, candidate: &Candidate) -> ArcProgress {
        match &self.finder {
            Finder::Keys { .. } => ArcProgress::Key(Mark::new(&candidate.key, candidate.number)),
            Finder::Entries(_) => ArcProgress::Entry(Mark::new(&candidate.key, candidate.number)),
            _ => ArcProgress::Number(candidate.number),
        }
    }

    fn refill(&mut self, wanted: usize) -> Result<()> {
        self.before = self.place();
        self.batch.clear();
        self.at = 0;
        // What is loaded in vain is at most a quarter of what was needed, or a few.
        let size = self.size.min(wanted.max(BATCH_ENTRIES_FIRST).max(self.loaded / 4));
        self.size = (self.size * 2).min(BATCH_ENTRIES);
        match &mut self.finder {
            Finder::Nothing => self.more = false,
            Finder::Point(item) => {
                let item = item.clone();
                self.batch.push(Candidate::of(item.number, Some(item)));
                self.more = false;
            }
            Finder::Numbers { after } => {
                let mut numbers = Vec::with_capacity(size);
                self.more = self.source.numbers(*after, size, &mut numbers)?;
                match numbers.last() {
                    Some(last) => *after = *last,
                    None => self.more = false,
                }
                load(self.source, &numbers, &mut self.batch)?;
            }
            Finder::Set { stream, next } => {
                let mut numbers = Vec::with_capacity(size);
                self.more = stream.read(*next, size, &mut numbers)?;
                if let Some(last) = numbers.last() {
                    *next = last.saturating_add(1);
                }
                load(self.source, &numbers, &mut self.batch)?;
            }
            Finder::Keys { after } => {
                let mut items = Vec::with_capacity(size);
                self.more = self.source.scan(after.as_deref(), size, &mut items)?;
                match items.last() {
                    Some((key, _)) => *after = Some(key.clone()),
                    None => self.more = false,
                }
                self.batch.extend(items.into_iter().map(|(key, item)| Candidate {
                    number: item.number,
                    key,
                    values: None,
                    rejected: 0,
                    item: Some(item),
                }));
            }
            Finder::Gathered { candidates, .. } => {
                self.batch.extend(candidates.by_ref().take(size));
                self.more = candidates.len() > 0;
                load_lacking(self.source, &mut self.batch)?;
            }
            Finder::Entries(cursor) => {
                self.more = cursor.read(size, &mut self.batch)?;
                load_lacking(self.source, &mut self.batch)?;
                self.trailing = if self.more { 0 } else { cursor.filter.rejected };
            }
            Finder::DistinctTerms(terms) => {
                let mut items = Vec::new();
                self.more = terms.read(size, &mut items)?;
                self.batch.extend(items.into_iter().map(|item| Candidate::of(item.number, Some(item))));
            }
        }
        self.loaded += self.batch.len();
        Ok(())
    }
}

impl Candidate {
    fn of(number: u64, item: Option<SourceItem>) -> Candidate {
        Candidate { number, key: Bytes::new(), values: None, rejected: 0, item }
    }
}

fn load(source: &dyn Source, numbers: &[u64], batch: &mut Vec<Candidate>) -> Result<()> {
    let mut items = Vec::with_capacity(numbers.len());
    if !numbers.is_empty() {
        source.load(numbers, &mut items)?;
    }
    batch.extend(numbers.iter().zip(items).map(|(number, item)| Candidate::of(*number, item)));
    Ok(())
}

/// Loads the items of candidates whose index entries are not enough.
fn load_lacking(source: &dyn Source, batch: &mut [Candidate]) -> Result<()> {
    let mut lacking: Vec<&mut Candidate> =
        batch.iter_mut().filter(|candidate| candidate.values.is_none()).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let numbers: Vec<u64> = lacking.iter().map(|candidate| candidate.number).collect();
    let mut items = Vec::with_capacity(numbers.len());
    source.load(&numbers, &mut items)?;
    for (candidate, item) in lacking.iter_mut().zip(items) {
        candidate.item = item;
    }
    Ok(())
}

/// Returns what an access looks at before it is put in order.
fn innermost(access: &Access) -> &Access {
    match access {
        Access::Sort(inner) => innermost(inner),
        other => other,
    }
}

/// Returns how an access finds items from the start; `None`: it cannot.
fn by_access<'q>(
    context: &'q Context<'q>,
    source: &'q dyn Source,
    access: &Access,
    rejected: &mut u64,
) -> Result<Option<Finder<'q>>> {
    Ok(match innermost(access) {
        Access::Nothing => Some(Finder::Nothing),
        Access::Point { id } => Some(source.point(id)?.map_or(Finder::Nothing, Finder::Point)),
        Access::ScanByNumber => Some(Finder::Numbers { after: 0 }),
        Access::ScanByKey => Some(Finder::Keys { after: None }),
        Access::Stream(range) if !range.repeats => {
            Some(Finder::Entries(EntryCursor::new(context, source, range, None)))
        }
        Access::Covered(covered) if covered.by_number => gather(context, source, covered, 0)?,
        Access::Covered(covered) => {
            let cursor = EntryCursor::new(context, source, &covered.range, None);
            Some(Finder::Entries(cursor.with_values(covered)))
        }
        // An item that an index names twice is given once, which takes the order of numbers.
        Access::Stream(range) => set_finder(context, source, &IndexSet::Range(range.clone()), 0, rejected)?,
        Access::Set(set) => set_finder(context, source, set, 0, rejected)?,
        Access::IndexOnly(IndexOnly::Distinct(range)) => {
            Some(Finder::DistinctTerms(DistinctTerms::new(source, range)))
        }
        Access::Walk(_) | Access::Sort(_) | Access::IndexOnly(_) => None,
    })
}

/// Returns how an access finds items behind a number; `None`: it cannot.
fn by_number<'q>(
    context: &'q Context<'q>,
    source: &'q dyn Source,
    access: &Access,
    after: u64,
) -> Result<Option<Finder<'q>>> {
    let Some(from) = after.checked_add(1) else { return Ok(Some(Finder::Nothing)) };
    let mut ignored = 0;
    Ok(match innermost(access) {
        Access::Nothing => Some(Finder::Nothing),
        Access::Point { id } => {
            let item = source.point(id)?.filter(|item| item.number >= from);
            Some(item.map_or(Finder::Nothing, Finder::Point))
        }
        Access::ScanByNumber => Some(Finder::Numbers { after }),
        Access::Set(set) => set_finder(context, source, set, from, &mut ignored)?,
        Access::Covered(covered) => gather(context, source, covered, from)?,
        Access::Stream(range) => {
            set_finder(context, source, &IndexSet::Range(range.clone()), from, &mut ignored)?
        }
        _ => None,
    })
}

/// Returns the entries of a range with what they hold, in the order of numbers from `from` on. Where there are more than
/// was thought, the items themselves are looked at instead.
fn gather<'q>(
    context: &'q Context<'q>,
    source: &'q dyn Source,
    covered: &Covered,
    from: u64,
) -> Result<Option<Finder<'q>>> {
    let mut cursor = EntryCursor::new(context, source, &covered.range, None).with_values(covered);
    let mut gathered = Vec::new();
    let mut more = true;
    while more {
        if gathered.len() > GATHERED_ENTRIES_MAX {
            let set = IndexSet::Range(IndexRange { is_equality: false, ..covered.range.clone() });
            return set_finder(context, source, &set, from, &mut 0);
        }
        more = cursor.read(NUMBERS_AT_ONCE_MAX, &mut gathered)?;
        gathered.retain(|candidate| candidate.number >= from);
    }
    gathered.sort_unstable_by_key(|candidate| candidate.number);
    let held = context.memory.hold(gathered.len() * GATHERED_ENTRY_BYTES, "the values of index entries")?;
    Ok(Some(Finder::Gathered { candidates: gathered.into_iter(), _held: held }))
}

fn set_finder<'q>(
    context: &'q Context<'q>,
    source: &'q dyn Source,
    set: &IndexSet,
    from: u64,
    rejected: &mut u64,
) -> Result<Option<Finder<'q>>> {
    Ok(open_set(context, source, set, from)?.map(|opened| {
        *rejected += opened.rejected;
        Finder::Set { stream: opened.stream, next: from }
    }))
}

/// Returns how an access finds items behind an entry of the index that it reads; `None`: it reads no such index, or
/// others too.
fn by_entry<'q>(
    context: &'q Context<'q>,
    source: &'q dyn Source,
    access: &Access,
    mark: &Mark,
) -> Result<Option<Finder<'q>>> {
    match innermost(access) {
        Access::Nothing => Ok(Some(Finder::Nothing)),
        Access::Stream(range) | Access::Set(IndexSet::Range(range)) if reads(range, mark) => {
            Ok(Some(Finder::Entries(EntryCursor::behind(context, source, range, mark)?)))
        }
        Access::Covered(covered) if reads(&covered.range, mark) => {
            let cursor = EntryCursor::behind(context, source, &covered.range, mark)?;
            Ok(Some(Finder::Entries(cursor.with_values(covered))))
        }
        _ => Ok(None),
    }
}

/// Returns how items behind an entry are found where the access that is chosen now reads other indexes, too.
///
/// Every item that the query wants has an entry in the index that was read before; so what is left of that index
/// names all that is left.
fn any_order_by_entry<'q>(
    context: &'q Context<'q>,
    source: &'q dyn Source,
    access: &Access,
    mark: &Mark,
) -> Result<Finder<'q>> {
    fn find<'a>(set: &'a IndexSet, mark: &Mark) -> Option<&'a IndexRange> {
        match set {
            IndexSet::Range(range) => Some(range).filter(|range| reads(range, mark)),
            IndexSet::And(sets) => sets.iter().find_map(|set| find(set, mark)),
            // One branch alone would lose what the others find.
            IndexSet::Or(_) => None,
        }
    }
    if let Access::Set(set) = innermost(access)
        && let Some(range) = find(set, mark)
    {
        return Ok(Finder::Entries(EntryCursor::behind(context, source, range, mark)?));
    }
    let index = mark.bytes.first_chunk().map(|id| IndexId(u64::from_be_bytes(*id)));
    let index = index.ok_or_else(|| invalid("continuation token names no index"))?;
    if source.index_entries(index)? == 0 && source.item_count() > 0 {
        return Err(invalid("the index that the query was reading is gone; start the query again"));
    }
    let whole = IndexRange {
        index,
        paths: Vec::new(),
        ranges: vec![KeyRange::prefix(&index.0.to_be_bytes())],
        is_equality: false,
        precise: false,
        repeats: false,
        term_filter: None,
        estimate: None,
        begun: Vec::new(),
    };
    Ok(Finder::Entries(EntryCursor::behind(context, source, &whole, mark)?))
}

fn reads(range: &IndexRange, mark: &Mark) -> bool {
    !range.repeats && mark.bytes.starts_with(&range.index.0.to_be_bytes())
}

/// Returns the key behind which a scan goes on; nothing at the start.
fn key_behind(source: &dyn Source, mark: &Mark) -> Result<Option<Bytes>> {
    let start = (!mark.bytes.is_empty()).then(|| Bytes::copy_from_slice(&mark.bytes));
    if !mark.is_cut {
        return Ok(start);
    }
    // Of the items whose keys begin so, one was the last; where it is gone, they are given again rather than lost.
    let mut after = start.clone();
    loop {
        let mut items = Vec::with_capacity(BATCH_ENTRIES);
        let more = source.scan(after.as_deref(), BATCH_ENTRIES, &mut items)?;
        for (key, item) in &items {
            if !key.starts_with(&mark.bytes) {
                return Ok(start);
            }
            if item.number == mark.number {
                return Ok(Some(key.clone()));
            }
        }
        match items.last() {
            Some((key, _)) if more => after = Some(key.clone()),
            _ => return Ok(start),
        }
    }
}

/// The entries of an index, in its order.
struct EntryCursor<'q> {
    source: &'q dyn Source,
    index: IndexId,
    /// What is left, the nearest last.
    ranges: Vec<KeyRange>,
    filter: TermFilter<'q>,
    /// Takes from entries what they hold, where that is wanted.
    values: Option<EntryValues>,
    entries: Vec<Bytes>,
}

impl<'q> EntryCursor<'q> {
    fn new(
        context: &'q Context<'q>,
        source: &'q dyn Source,
        range: &IndexRange,
        from: Option<Bound<Bytes>>,
    ) -> EntryCursor<'q> {
        let mut ranges: Vec<KeyRange> = range.ranges.iter().rev().cloned().collect();
        if let Some(from) = from {
            for range in &mut ranges {
                if is_further(&from, &range.lower) {
                    range.lower = from.clone();
                }
            }
        }
        ranges.retain(|range| !range.is_empty());
        let filter = TermFilter::new(context.evaluator, range.term_filter.as_ref());
        EntryCursor { source, index: range.index, ranges, filter, values: None, entries: Vec::new() }
    }

    fn behind(
        context: &'q Context<'q>,
        source: &'q dyn Source,
        range: &IndexRange,
        mark: &Mark,
    ) -> Result<EntryCursor<'q>> {
        let bytes = Bytes::copy_from_slice(&mark.bytes);
        if !mark.is_cut {
            return Ok(EntryCursor::new(context, source, range, Some(Bound::Excluded(bytes))));
        }
        // As with keys: where the entry is gone, those that begin alike are given again rather than lost.
        let mut part = KeyRange::prefix(&bytes);
        let start = part.lower.clone();
        let mut entries = Vec::new();
        while !part.is_empty() {
            entries.clear();
            let more = source.entries(&part, Direction::Forward, BATCH_ENTRIES, &mut entries)?;
            let number = mark.number.to_be_bytes();
            if let Some(entry) = entries.iter().find(|entry| entry.ends_with(&number)) {
                let from = Bound::Excluded(entry.clone());
                return Ok(EntryCursor::new(context, source, range, Some(from)));
            }
            match entries.last() {
                Some(last) if more => part.lower = Bound::Excluded(last.clone()),
                _ => break,
            }
        }
        Ok(EntryCursor::new(context, source, range, Some(start)))
    }

    /// Takes from entries what they hold.
    fn with_values(self, covered: &Covered) -> EntryCursor<'q> {
        EntryCursor { values: Some(EntryValues::new(&covered.columns)), ..self }
    }

    /// Adds up to `entries_max` candidates, without their items. Returns whether there may be more.
    fn read(&mut self, entries_max: usize, batch: &mut Vec<Candidate>) -> Result<bool> {
        // Nothing is loaded for entries that are enough.
        let entries_max = if self.values.is_some() { NUMBERS_AT_ONCE_MAX } else { entries_max };
        while let Some(range) = self.ranges.last_mut() {
            self.entries.clear();
            let more = self.source.entries(range, Direction::Forward, entries_max, &mut self.entries)?;
            for entry in &self.entries {
                let (_, term, number) = split_entry(entry).ok_or_else(damaged)?;
                if self.filter.admits(term)? {
                    let rejected = std::mem::take(&mut self.filter.rejected);
                    let values = self.values.as_mut().and_then(|values| values.of(term));
                    batch.push(Candidate { number, key: entry.clone(), values, rejected, item: None });
                }
            }
            match self.entries.last() {
                Some(last) if more => range.lower = Bound::Excluded(last.clone()),
                _ => {
                    self.ranges.pop();
                }
            }
            if !batch.is_empty() {
                break;
            }
        }
        Ok(!self.ranges.is_empty())
    }
}

/// Returns whether one lower bound is further on than another.
pub(super) fn is_further(first: &Bound<Bytes>, second: &Bound<Bytes>) -> bool {
    match (first, second) {
        (Bound::Unbounded, _) => false,
        (_, Bound::Unbounded) => true,
        (Bound::Excluded(first), Bound::Included(second)) => first >= second,
        (
            Bound::Included(first) | Bound::Excluded(first),
            Bound::Included(second) | Bound::Excluded(second),
        ) => first > second,
    }
}
