//! What becomes of rows: projected onto a page, compared with those before, put into groups, or handed to the query
//! around.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use armilla_functions::{Datum, fingerprint};
use armilla_value::Value;

use crate::bound::{Projection, Window};
use crate::budget::{Budget, Memory};
use crate::error::{Error, ErrorKind, Result};
use crate::eval::Evaluator;
use crate::frame::Frame;
use crate::row::{Row, RowForm};
use crate::rows::estimated_bytes;

/// What a sink says to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// Go on.
    More,
    /// The row was taken, and the page is full.
    Filled,
    /// The row was not taken, because the page is full.
    Refused,
    /// The row was taken, or is not wanted, and no other is wanted either.
    Complete,
}

/// Takes rows.
pub(super) trait Sink {
    /// A row that is kept for later.
    type Row;

    /// Takes the row of what is bound.
    fn take(&mut self, frame: &Frame<'_>) -> Result<Flow>;

    /// Makes a row to keep; nothing where there is none.
    fn make(&mut self, frame: &Frame<'_>) -> Result<Option<Self::Row>>;

    /// Takes a row that was kept.
    fn give(&mut self, row: Self::Row) -> Result<Flow>;

    /// Returns how many bytes a kept row takes.
    fn row_bytes(row: &Self::Row) -> usize;

    /// Returns what tells a row from others where equal ones are given once.
    fn identity(_: &Self::Row) -> Option<u128> {
        None
    }

    /// Returns how many more rows can be taken, those passed over included; nothing where it is not known.
    fn rows_wanted(&self) -> Option<u64>;

    /// Returns how many bytes of rows can be taken; nothing where it is not known.
    fn bytes_wanted(&self) -> Option<usize> {
        None
    }

    /// Returns whether the walk may be interrupted now.
    fn can_pause(&self) -> bool {
        true
    }

    /// Counts rows that an index answers for.
    fn count(&mut self, _rows: u64) -> Result<()> {
        Err(not_an_aggregate())
    }

    /// Adds a value that an index answers with.
    fn value(&mut self, _value: &Datum<'_>) -> Result<()> {
        Err(not_an_aggregate())
    }

    /// Returns what is evaluated for the first aggregate.
    fn argument(&self) -> Option<&crate::expr::Expr> {
        None
    }
}

fn not_an_aggregate() -> Error {
    Error::new(ErrorKind::Unsupported, "an index alone answers aggregates only")
}

/// Which of the rows are given, and how many there were so far.
pub(super) struct Passage {
    /// Rows so far.
    pub(super) rows: u64,
    /// Rows that are passed over: by an offset, or because earlier pages gave them.
    skip: u64,
    /// Rows after which no other is wanted.
    end: Option<u64>,
}

impl Passage {
    /// Begins a window; `rows` were given before, and `skip_given` says whether they come again.
    pub(super) fn new(window: &Window, rows: u64, skip_given: bool) -> Passage {
        let skip = if skip_given { window.offset.max(rows) } else { window.offset };
        let end = window.limit.map(|limit| window.offset.saturating_add(limit));
        Passage { rows: if skip_given { 0 } else { rows }, skip, end }
    }

    /// Returns whether no row is wanted any more.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_some_and(|end| self.rows >= end)
    }

    fn skips(&self) -> bool {
        self.rows < self.skip
    }
}

/// Most bytes that are made ready for the rows to come when the first one is there.
const FIRST_ROOM_BYTES_MAX: usize = 16 * 1024;

/// A page of rows in the form that was asked for.
pub(super) struct PageSink<'q> {
    evaluator: &'q Evaluator<'q>,
    projection: &'q Projection,
    form: &'q dyn RowForm,
    /// The window.
    pub(super) passage: Passage,
    /// The rows, separated as their form says.
    pub(super) bytes: Vec<u8>,
    /// Where each of them ends.
    pub(super) ends: Vec<u32>,
    rows_max: usize,
    bytes_max: usize,
}

impl<'q> PageSink<'q> {
    /// Begins a page.
    pub(super) fn new(
        evaluator: &'q Evaluator<'q>,
        projection: &'q Projection,
        passage: Passage,
        budget: &Budget<'q>,
    ) -> PageSink<'q> {
        let Budget { form, rows_max, bytes_max, .. } = *budget;
        let (bytes, ends) = (Vec::new(), Vec::new());
        PageSink { evaluator, projection, form, passage, bytes, ends, rows_max: rows_max.max(1), bytes_max }
    }

    /// Returns what makes rows, what they are made of, and how they are written.
    pub(super) fn parts(&self) -> (&'q Evaluator<'q>, &'q Projection, &'q dyn RowForm) {
        (self.evaluator, self.projection, self.form)
    }

    fn row_count(&self) -> usize {
        self.ends.len()
    }

    fn is_full(&self) -> bool {
        self.row_count() >= self.rows_max || (self.row_count() > 0 && self.bytes.len() >= self.bytes_max)
    }

    /// Adds a row that `write` appends; it returns false where there is no row.
    fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<bool>) -> Result<Flow> {
        if self.passage.is_over() {
            return Ok(Flow::Complete);
        }
        if self.is_full() {
            return Ok(Flow::Refused);
        }
        let start = self.bytes.len();
        if self.row_count() > 0 {
            self.bytes.extend_from_slice(self.form.separator());
        }
        if !write(&mut self.bytes)? {
            self.bytes.truncate(start);
            return Ok(Flow::More);
        }
        if self.passage.skips() {
            self.bytes.truncate(start);
            self.passage.rows += 1;
            return Ok(if self.passage.is_over() { Flow::Complete } else { Flow::More });
        }
        if self.row_count() > 0 && self.bytes.len() > self.bytes_max {
            self.bytes.truncate(start);
            // Nothing else may slip in behind a row that was too large.
            self.rows_max = self.row_count();
            return Ok(Flow::Refused);
        }
        if self.ends.is_empty() {
            // Rows are about as long as the first; most pages then need no other room, or little.
            let row_bytes = self.bytes.len() + self.form.separator().len();
            self.bytes.reserve((row_bytes * (self.rows_max - 1)).min(FIRST_ROOM_BYTES_MAX));
        }
        self.ends.push(self.bytes.len() as u32);
        self.passage.rows += 1;
        Ok(if self.passage.is_over() {
            Flow::Complete
        } else if self.is_full() {
            Flow::Filled
        } else {
            Flow::More
        })
    }
}

impl Sink for PageSink<'_> {
    type Row = Vec<u8>;

    fn take(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        let (evaluator, projection, form) = self.parts();
        // A list of fields always makes a row, so there is no need to make one that is passed over.
        if self.passage.skips() && matches!(projection, Projection::Fields(_)) {
            return self.add(|_| Ok(true));
        }
        self.add(|bytes| Row::bound(evaluator, projection, frame).write(form, bytes))
    }

    fn make(&mut self, frame: &Frame<'_>) -> Result<Option<Vec<u8>>> {
        let mut row = Vec::new();
        let is_row = Row::bound(self.evaluator, self.projection, frame).write(self.form, &mut row)?;
        Ok(is_row.then_some(row))
    }

    fn give(&mut self, row: Vec<u8>) -> Result<Flow> {
        self.add(|bytes| {
            bytes.extend_from_slice(&row);
            Ok(true)
        })
    }

    fn row_bytes(row: &Vec<u8>) -> usize {
        row.len()
    }

    fn rows_wanted(&self) -> Option<u64> {
        let skipped = self.passage.skip.saturating_sub(self.passage.rows);
        let rows = skipped.saturating_add((self.rows_max - self.row_count()) as u64);
        Some(match self.passage.end {
            Some(end) => rows.min(end.saturating_sub(self.passage.rows)),
            None => rows,
        })
    }

    fn bytes_wanted(&self) -> Option<usize> {
        (!self.passage.skips()).then(|| self.bytes_max.saturating_sub(self.bytes.len()))
    }
}

/// A page on which equal rows are given once.
pub(super) struct DistinctSink<'q> {
    /// The page.
    pub(super) page: PageSink<'q>,
    seen: Seen<'q>,
}

impl<'q> DistinctSink<'q> {
    /// Begins a page.
    pub(super) fn new(page: PageSink<'q>, memory: &'q Memory) -> DistinctSink<'q> {
        DistinctSink { page, seen: Seen::new(memory) }
    }
}

impl Sink for DistinctSink<'_> {
    type Row = (u128, Vec<u8>);

    fn take(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        let (evaluator, projection, form) = self.page.parts();
        let row = evaluator.project_datum(projection, frame)?;
        if row.is_undefined() || !self.seen.is_new(fingerprint(&row))? {
            return Ok(Flow::More);
        }
        self.page.add(|bytes| Row::of_value(&row).write(form, bytes))
    }

    fn make(&mut self, frame: &Frame<'_>) -> Result<Option<(u128, Vec<u8>)>> {
        let (evaluator, projection, form) = self.page.parts();
        let row = evaluator.project_datum(projection, frame)?;
        let mut bytes = Vec::new();
        Ok(Row::of_value(&row).write(form, &mut bytes)?.then(|| (fingerprint(&row), bytes)))
    }

    fn give(&mut self, (identity, row): (u128, Vec<u8>)) -> Result<Flow> {
        if self.seen.is_new(identity)? { self.page.give(row) } else { Ok(Flow::More) }
    }

    fn row_bytes((_, row): &(u128, Vec<u8>)) -> usize {
        row.len()
    }

    fn identity((identity, _): &(u128, Vec<u8>)) -> Option<u128> {
        Some(*identity)
    }

    fn rows_wanted(&self) -> Option<u64> {
        None
    }

    fn can_pause(&self) -> bool {
        false
    }
}

/// Takes the rows of a derived table, to be handed on.
pub(super) type OnDatum<'c> = dyn FnMut(Datum<'_>) -> Result<Flow> + 'c;

/// The rows of a derived table, handed to the query around it.
pub(super) struct DerivedSink<'q, 'c> {
    evaluator: &'q Evaluator<'q>,
    projection: &'q Projection,
    passage: Passage,
    seen: Option<Seen<'q>>,
    consumer: &'c mut OnDatum<'c>,
}

impl<'q, 'c> DerivedSink<'q, 'c> {
    /// Hands rows to a consumer.
    pub(super) fn new(
        evaluator: &'q Evaluator<'q>,
        projection: &'q Projection,
        window: &Window,
        distinct: Option<&'q Memory>,
        consumer: &'c mut OnDatum<'c>,
    ) -> DerivedSink<'q, 'c> {
        let passage = Passage::new(window, 0, false);
        DerivedSink { evaluator, projection, passage, seen: distinct.map(Seen::new), consumer }
    }

    /// Returns whether no row is wanted at all.
    pub(super) fn is_over(&self) -> bool {
        self.passage.is_over()
    }

    fn pass(
        passage: &mut Passage,
        seen: &mut Option<Seen<'_>>,
        consumer: &mut OnDatum<'_>,
        row: Datum<'_>,
    ) -> Result<Flow> {
        if passage.is_over() {
            return Ok(Flow::Complete);
        }
        if row.is_undefined() {
            return Ok(Flow::More);
        }
        if let Some(seen) = seen
            && !seen.is_new(fingerprint(&row))?
        {
            return Ok(Flow::More);
        }
        let skips = passage.skips();
        passage.rows += 1;
        let flow = if skips { Flow::More } else { consumer(row)? };
        Ok(if passage.is_over() { Flow::Complete } else { flow })
    }
}

impl Sink for DerivedSink<'_, '_> {
    type Row = Value;

    fn take(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        let row = self.evaluator.project_datum(self.projection, frame)?;
        DerivedSink::pass(&mut self.passage, &mut self.seen, self.consumer, row)
    }

    fn make(&mut self, frame: &Frame<'_>) -> Result<Option<Value>> {
        Ok(self.evaluator.project_datum(self.projection, frame)?.into_value())
    }

    fn give(&mut self, row: Value) -> Result<Flow> {
        DerivedSink::pass(&mut self.passage, &mut self.seen, self.consumer, Datum::from_owned(row))
    }

    fn row_bytes(row: &Value) -> usize {
        estimated_bytes(&Datum::from_value(row))
    }

    fn rows_wanted(&self) -> Option<u64> {
        match &self.seen {
            Some(_) => None,
            None => self.passage.end.map(|end| end.saturating_sub(self.passage.rows)),
        }
    }

    fn can_pause(&self) -> bool {
        false
    }
}

/// Fingerprints are as good as random already.
#[derive(Default)]
pub(super) struct FingerprintHasher(u64);

impl Hasher for FingerprintHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, fingerprint: u128) {
        self.0 = fingerprint as u64 ^ (fingerprint >> 64) as u64;
    }
}

/// How tables keyed by fingerprints hash.
pub(super) type ByFingerprint = BuildHasherDefault<FingerprintHasher>;

/// Bytes that a fingerprint takes in a set, with the room that the set keeps free.
pub(super) const SEEN_BYTES: usize = 40;

/// The rows that were given already, by fingerprint.
pub(super) struct Seen<'q> {
    fingerprints: HashSet<u128, ByFingerprint>,
    memory: &'q Memory,
    taken: usize,
}

impl<'q> Seen<'q> {
    pub(super) fn new(memory: &'q Memory) -> Seen<'q> {
        Seen { fingerprints: HashSet::default(), memory, taken: 0 }
    }

    pub(super) fn is_new(&mut self, fingerprint: u128) -> Result<bool> {
        let is_new = self.fingerprints.insert(fingerprint);
        if is_new {
            self.memory.take(SEEN_BYTES, "the different rows of DISTINCT")?;
            self.taken += SEEN_BYTES;
        }
        Ok(is_new)
    }
}

impl Drop for Seen<'_> {
    fn drop(&mut self) {
        self.memory.give_back(self.taken);
    }
}
