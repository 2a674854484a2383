//! The entries of one item as a sorted list, and the difference between two such lists.
//!
//! The entries lie in one buffer, each with room for the item's number behind it, so that a list made before the
//! number is known becomes the keys of a batch by filling the numbers in.
//!
//! Invariants:
//! * a list is sorted by index and term, and has no entry twice;
//! * a list is a function of the item and the layout, its bounds included, so that what was kept of an old version
//!   can be found again.

use std::cmp::Ordering;

use armilla_index::{Computed, IndexId, NUMBER_BYTES, Part, visit_part};
use armilla_value::Node;
use bytes::Bytes;

use crate::error::{Error, Result};
use crate::index::layout::{Crowded, Layout};
use crate::limits::{
    CONTENT_ENTRIES_MAX, CONTENT_ENTRY_BYTES_MAX, EXTRA_ENTRIES_MAX, EXTRA_ENTRY_BYTES_MAX,
    ITEM_CROWDED_INDEXES_MAX,
};

const FORMAT_VERSION: u8 = 1;

/// The buffer of a list may outgrow its bound this many times before the list is given up unsorted.
const OVERFLOW_FACTOR: usize = 4;

/// Entries of one item.
#[derive(Debug, Clone, Default)]
pub(crate) struct EntryList {
    /// Entry after entry: index, term, and room for a number.
    arena: Vec<u8>,
    spans: Vec<Span>,
    /// Indexes in which the item would have more entries than are kept, and has none.
    pub(crate) crowded: Vec<IndexId>,
}

/// Where an entry lies in the buffer, its number included.
#[derive(Debug, Clone, Copy)]
struct Span {
    index: u64,
    start: u32,
    end: u32,
}

impl EntryList {
    /// Returns one part of an item's entries under a layout.
    pub(crate) fn of(layout: &Layout, part: Part, root: Node<'_>, ts: u32, computed: &Computed) -> EntryList {
        let mut list = EntryList::default();
        if !layout.matcher.has_part(part) {
            return list;
        }
        let (entries_max, bytes_max) = match part {
            Part::Content => (CONTENT_ENTRIES_MAX, CONTENT_ENTRY_BYTES_MAX),
            Part::Stamp | Part::Computed => (EXTRA_ENTRIES_MAX, EXTRA_ENTRY_BYTES_MAX),
        };
        if part == Part::Content {
            list.arena.reserve(ARENA_BYTES_EXPECTED);
            list.spans.reserve(ENTRIES_EXPECTED);
        }
        let mut overflown = false;
        list.crowded = visit_part(&layout.matcher, part, root, ts, computed, |index, term| {
            if list.spans.len() >= OVERFLOW_FACTOR * entries_max
                || list.arena.len() >= OVERFLOW_FACTOR * bytes_max
            {
                // Perhaps many are the same.
                if !overflown {
                    list.compact();
                }
                overflown |= list.spans.len() > entries_max || list.arena.len() > bytes_max;
                if overflown && !is_protected(index) {
                    return;
                }
            }
            list.push(index, term);
        });
        list.sort();
        if overflown {
            list.leave_out_all();
        } else {
            list.leave_out_beyond(entries_max, bytes_max);
        }
        list
    }

    /// Returns the lists of several parts as one.
    pub(crate) fn merged(lists: impl IntoIterator<Item = EntryList>) -> EntryList {
        let mut merged = EntryList::default();
        for list in lists {
            let shift = merged.arena.len() as u32;
            merged.arena.extend_from_slice(&list.arena);
            merged.crowded.extend(list.crowded);
            merged.spans.extend(list.spans.iter().map(|span| Span {
                index: span.index,
                start: span.start + shift,
                end: span.end + shift,
            }));
        }
        merged.sort();
        merged
    }

    /// Returns about how much memory the list takes.
    pub(crate) fn bytes(&self) -> usize {
        self.arena.len() + self.spans.len() * size_of::<Span>()
    }

    /// Returns how long the keys of the entries are together, numbers included.
    pub(crate) fn key_bytes(&self) -> u64 {
        self.spans.iter().map(|span| u64::from(span.end - span.start)).sum()
    }

    /// Returns whether nothing is kept of the item and nothing is left out.
    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.crowded.is_empty()
    }

    /// Returns every entry's index and its index with the term.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (IndexId, &[u8])> {
        self.spans.iter().map(|span| (IndexId(span.index), self.unnumbered(span)))
    }

    /// Returns the keys of the entries of the item with this number.
    pub(crate) fn into_keys(mut self, number: u64) -> impl Iterator<Item = Bytes> {
        self.number(number);
        let (arena, spans) = (Bytes::from(self.arena), self.spans);
        spans.into_iter().map(move |span| arena.slice(span.start as usize..span.end as usize))
    }

    fn number(&mut self, number: u64) {
        for span in &self.spans {
            let end = span.end as usize;
            self.arena[end - NUMBER_BYTES..end].copy_from_slice(&number.to_be_bytes());
        }
    }

    #[inline]
    fn push(&mut self, index: IndexId, term: &[u8]) {
        let start = self.arena.len() as u32;
        self.arena.extend_from_slice(&index.0.to_be_bytes());
        self.arena.extend_from_slice(term);
        self.arena.extend_from_slice(&[0; NUMBER_BYTES]);
        self.spans.push(Span { index: index.0, start, end: self.arena.len() as u32 });
    }

    fn unnumbered(&self, span: &Span) -> &[u8] {
        &self.arena[span.start as usize..span.end as usize - NUMBER_BYTES]
    }

    fn term(&self, span: &Span) -> &[u8] {
        &self.unnumbered(span)[IndexId::BYTES..]
    }

    fn sort(&mut self) {
        let mut spans = std::mem::take(&mut self.spans);
        spans.sort_unstable_by(|left, right| {
            left.index.cmp(&right.index).then_with(|| self.term(left).cmp(self.term(right)))
        });
        spans.dedup_by(|left, right| left.index == right.index && self.term(left) == self.term(right));
        self.spans = spans;
    }

    /// Removes what is there twice, from the buffer too.
    fn compact(&mut self) {
        self.sort();
        let mut arena = Vec::with_capacity(self.arena.len());
        for span in &mut self.spans {
            let start = arena.len() as u32;
            arena.extend_from_slice(&self.arena[span.start as usize..span.end as usize]);
            (span.start, span.end) = (start, arena.len() as u32);
        }
        self.arena = arena;
    }

    fn leave_out_all(&mut self) {
        self.spans.retain(|span| is_protected(IndexId(span.index)));
        self.crowded = vec![Crowded::EVERY];
    }

    /// Leaves out whole indexes, the largest first, until the rest is within the bounds.
    fn leave_out_beyond(&mut self, entries_max: usize, bytes_max: usize) {
        if self.crowded.len() > ITEM_CROWDED_INDEXES_MAX {
            return self.leave_out_all();
        }
        let mut entries = self.spans.len();
        let mut bytes: usize = self.spans.iter().map(|span| (span.end - span.start) as usize).sum();
        if entries <= entries_max && bytes <= bytes_max {
            return;
        }
        let mut indexes: Vec<(usize, usize, u64)> = self
            .spans
            .chunk_by(|left, right| left.index == right.index)
            .filter(|run| !is_protected(IndexId(run[0].index)))
            .map(|run| {
                (run.iter().map(|span| (span.end - span.start) as usize).sum(), run.len(), run[0].index)
            })
            .collect();
        indexes.sort_unstable();
        while entries > entries_max || bytes > bytes_max {
            if self.crowded.len() == ITEM_CROWDED_INDEXES_MAX {
                return self.leave_out_all();
            }
            let Some((index_bytes, index_entries, index)) = indexes.pop() else { break };
            bytes -= index_bytes;
            entries -= index_entries;
            self.crowded.push(IndexId(index));
        }
        let crowded = &self.crowded;
        self.spans.retain(|span| !crowded.contains(&IndexId(span.index)));
    }

    /// Writes the list as a record.
    pub(crate) fn encode(&self) -> Bytes {
        let mut bytes = vec![FORMAT_VERSION, self.crowded.len() as u8];
        for index in &self.crowded {
            bytes.extend_from_slice(&index.0.to_be_bytes());
        }
        for span in &self.spans {
            let entry = self.unnumbered(span);
            bytes.extend_from_slice(&(entry.len() as u16).to_be_bytes());
            bytes.extend_from_slice(entry);
        }
        bytes.into()
    }

    /// Reads a list from its record.
    pub(crate) fn decode(bytes: &[u8]) -> Result<EntryList> {
        EntryList::decode_checked(bytes)
            .ok_or_else(|| Error::corrupt("the computed entries of an item are damaged"))
    }

    fn decode_checked(bytes: &[u8]) -> Option<EntryList> {
        let [FORMAT_VERSION, crowded, rest @ ..] = bytes else { return None };
        let (crowded, mut rest) = rest.split_at_checked(8 * usize::from(*crowded))?;
        let mut list = EntryList::default();
        for index in crowded.as_chunks::<8>().0 {
            list.crowded.push(IndexId(u64::from_be_bytes(*index)));
        }
        while let Some((length, after)) = rest.split_first_chunk() {
            let (entry, after) = after.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
            let (index, term) = entry.split_first_chunk()?;
            list.push(IndexId(u64::from_be_bytes(*index)), term);
            rest = after;
        }
        let sorted = list.spans.is_sorted_by(|left, right| list.unnumbered(left) < list.unnumbered(right));
        (rest.is_empty() && sorted).then_some(list)
    }
}

/// Room for an item's content: most do not outgrow it.
const ARENA_BYTES_EXPECTED: usize = 1_024;
const ENTRIES_EXPECTED: usize = 32;

/// Returns whether an index is never left out.
fn is_protected(index: IndexId) -> bool {
    index == IndexId::of_property("id") || index == IndexId::of_property("_ts")
}

/// What a write does to the index.
#[derive(Debug, Default)]
pub(crate) struct EntryChange {
    /// Keys, and whether each comes or goes.
    pub(crate) keys: Vec<(Bytes, bool)>,
    /// By how much the number of entries of each index changes; an index may come more than once.
    pub(crate) counts: Vec<(IndexId, i64)>,
    pub(crate) crowded_added: Vec<IndexId>,
    pub(crate) crowded_removed: Vec<IndexId>,
    /// Bytes of the keys that come.
    bytes_added: usize,
    /// Bytes of the keys that go.
    bytes_removed: usize,
}

impl EntryChange {
    /// Returns how long all its keys are together.
    pub(crate) fn key_bytes(&self) -> usize {
        self.bytes_added + self.bytes_removed
    }

    /// Returns by how many bytes the keys of the item's entries become more.
    pub(crate) fn growth(&self) -> i64 {
        self.bytes_added as i64 - self.bytes_removed as i64
    }

    /// Adds what turns the entries of the item with this number from `old` into `new`.
    pub(crate) fn add(&mut self, mut old: EntryList, mut new: EntryList, number: u64) {
        old.number(number);
        new.number(number);
        self.crowded_removed.append(&mut old.crowded);
        self.crowded_added.append(&mut new.crowded);
        let (old_arena, new_arena) = (Bytes::from(old.arena), Bytes::from(new.arena));
        let key = |arena: &Bytes, span: &Span| arena.slice(span.start as usize..span.end as usize);
        let (mut olds, mut news) = (old.spans.iter().peekable(), new.spans.iter().peekable());
        self.keys.reserve(new.spans.len());
        loop {
            let order = match (olds.peek(), news.peek()) {
                (None, None) => return,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(left), Some(right)) => left.index.cmp(&right.index).then_with(|| {
                    // Both end with the same number.
                    old_arena[left.start as usize..left.end as usize]
                        .cmp(&new_arena[right.start as usize..right.end as usize])
                }),
            };
            if order.is_le()
                && let Some(span) = olds.next()
                && order.is_lt()
            {
                self.bytes_removed += (span.end - span.start) as usize;
                self.keys.push((key(&old_arena, span), false));
                self.count(span.index, -1);
            }
            if order.is_ge()
                && let Some(span) = news.next()
                && order.is_gt()
            {
                self.bytes_added += (span.end - span.start) as usize;
                self.keys.push((key(&new_arena, span), true));
                self.count(span.index, 1);
            }
        }
    }

    fn count(&mut self, index: u64, by: i64) {
        match self.counts.last_mut() {
            Some((last, change)) if last.0 == index => *change += by,
            _ => self.counts.push((IndexId(index), by)),
        }
    }
}

#[cfg(test)]
mod tests;
