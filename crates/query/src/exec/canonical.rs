//! Rows in an order that depends on the rows alone, so that a page can go on where another ended although partitions
//! were split or merged in between: by sort key, and equal ones by fingerprint.
//!
//! For results that have no place among items to go on from: distinct rows, groups, rows of derived tables. They are
//! made anew for every page, and those up to the last one given are passed over. What fits on one page need not come
//! this way.

use std::collections::BinaryHeap;

use armilla_functions::fingerprint;

use super::sink::{Flow, PageSink, Seen, Sink};
use super::sort_key::push_sort_key;
use crate::bound::OrderKey;
use crate::budget::Memory;
use crate::continuation::{Behind, Position};
use crate::error::Result;
use crate::frame::Frame;
use crate::limits::CONTINUATION_KEY_BYTES_MAX;
use crate::row::Row;

/// What a row takes beside its content.
const ROW_BYTES: usize = 64;

/// A row, with what says where it stands.
pub(super) struct CanonicalRow {
    key: Vec<u8>,
    identity: u128,
    bytes: Vec<u8>,
    /// Whether equal rows are given once.
    is_distinct: bool,
}

/// A page whose rows come in their own order. They are handed to it in sort order.
pub(super) struct CanonicalSink<'q> {
    /// The page.
    page: PageSink<'q>,
    order: &'q [OrderKey],
    /// Where the page before ended.
    start: Option<Behind>,
    seen: Option<Seen<'q>>,
    memory: &'q Memory,
    taken: usize,
    /// The sort key of the rows that are held back, until all with that key are known.
    key: Vec<u8>,
    /// Those of them that come first: as many as the page may take, and one more.
    held: BinaryHeap<(u128, Vec<u8>)>,
    /// The last row that was given, or passed over because an earlier page gave it.
    last: Option<Behind>,
    /// How the page ended, if it has.
    end: Option<Flow>,
}

impl<'q> CanonicalSink<'q> {
    /// Begins a page.
    pub(super) fn new(
        page: PageSink<'q>,
        order: &'q [OrderKey],
        is_distinct: bool,
        start: Option<Behind>,
        memory: &'q Memory,
    ) -> CanonicalSink<'q> {
        CanonicalSink {
            page,
            order,
            last: start.clone(),
            start,
            seen: is_distinct.then(|| Seen::new(memory)),
            memory,
            taken: 0,
            key: Vec::new(),
            held: BinaryHeap::new(),
            end: None,
        }
    }

    /// Gives what is held back. Returns the page, and where the next one begins if there is one.
    pub(super) fn finish(mut self) -> Result<(PageSink<'q>, Option<Position>)> {
        if self.end.is_none() {
            self.release()?;
        }
        let position = (self.end == Some(Flow::Refused)).then(|| match self.last.take() {
            Some(last) if last.key.len() <= CONTINUATION_KEY_BYTES_MAX => Position::Behind(last),
            // The rows before it are counted.
            _ => Position::Rerun,
        });
        self.memory.give_back(self.taken);
        Ok((self.page, position))
    }

    fn add(&mut self, row: CanonicalRow) -> Result<Flow> {
        if let Some(end) = self.end {
            return Ok(end);
        }
        if let Some(seen) = &mut self.seen
            && !seen.is_new(row.identity)?
        {
            return Ok(Flow::More);
        }
        if row.key != self.key {
            self.release()?;
            if let Some(end) = self.end {
                return Ok(end);
            }
            self.key.clone_from(&row.key);
        }
        if self.was_given(&row) {
            return Ok(Flow::More);
        }
        let bytes = row.bytes.len() + ROW_BYTES;
        self.memory.take(bytes, "the rows of a page")?;
        self.taken += bytes;
        self.held.push((row.identity, row.bytes));
        let wanted = self.page.rows_wanted().map_or(usize::MAX, |rows| rows.saturating_add(1) as usize);
        if self.held.len() > wanted
            && let Some((_, row)) = self.held.pop()
        {
            let bytes = row.len() + ROW_BYTES;
            self.memory.give_back(bytes);
            self.taken -= bytes;
        }
        Ok(Flow::More)
    }

    /// Returns whether an earlier page gave a row; of equal rows it may have given some.
    fn was_given(&mut self, row: &CanonicalRow) -> bool {
        let Some(start) = &mut self.start else { return false };
        match (&row.key, row.identity).cmp(&(&start.key, start.identity)) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal if start.repeats > 0 => {
                start.repeats -= 1;
                true
            }
            _ => false,
        }
    }

    /// Gives the rows that are held back.
    fn release(&mut self) -> Result<()> {
        for (identity, row) in std::mem::take(&mut self.held).into_sorted_vec() {
            let bytes = row.len() + ROW_BYTES;
            self.memory.give_back(bytes);
            self.taken -= bytes;
            let flow = self.page.give(row)?;
            if flow != Flow::Refused {
                let repeats = match &self.last {
                    Some(last) if last.key == self.key && last.identity == identity => last.repeats + 1,
                    _ => 1,
                };
                self.last = Some(Behind { key: self.key.clone(), identity, repeats });
            }
            match flow {
                // Whether there is one more row is known when it comes.
                Flow::More | Flow::Filled => {}
                end => {
                    self.end = Some(end);
                    break;
                }
            }
        }
        Ok(())
    }

    fn row(&self, frame: &Frame<'_>) -> Result<Option<CanonicalRow>> {
        let (evaluator, projection, form) = self.page.parts();
        let row = evaluator.project_datum(projection, frame)?;
        let (mut key, mut bytes) = (Vec::new(), Vec::new());
        if !Row::of_value(&row).write(form, &mut bytes)? {
            return Ok(None);
        }
        push_sort_key(evaluator, self.order, frame, &mut key)?;
        Ok(Some(CanonicalRow { key, identity: fingerprint(&row), bytes, is_distinct: self.seen.is_some() }))
    }
}

impl Sink for CanonicalSink<'_> {
    type Row = CanonicalRow;

    fn take(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        match self.row(frame)? {
            Some(row) => self.add(row),
            None => Ok(Flow::More),
        }
    }

    fn make(&mut self, frame: &Frame<'_>) -> Result<Option<CanonicalRow>> {
        self.row(frame)
    }

    fn give(&mut self, row: CanonicalRow) -> Result<Flow> {
        self.add(row)
    }

    fn row_bytes(row: &CanonicalRow) -> usize {
        row.key.len() + row.bytes.len()
    }

    fn identity(row: &CanonicalRow) -> Option<u128> {
        row.is_distinct.then_some(row.identity)
    }

    fn rows_wanted(&self) -> Option<u64> {
        None
    }

    fn can_pause(&self) -> bool {
        false
    }
}
