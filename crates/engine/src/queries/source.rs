//! A partition of a container as the query engine sees it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use armilla_container::{
    self as container, ContainerIdentity, Item, PartitionReader, Position, RequestUnits,
};
use armilla_env::Clock;
use armilla_governor::{Admitted, Claim};
use armilla_index::paths::PathSegment;
use armilla_index::{IndexId, KeyRange};
use armilla_query::source::{CompositeIndex, Direction};
use armilla_query::{Error, ErrorKind, Result, Source, SourceItem, SystemProperty};
use armilla_value::HashedKey;
use bytes::Bytes;

use super::oversight::Patience;

/// A reader of a partition, as a source of a query.
pub(super) struct ReaderSource {
    reader: Arc<PartitionReader>,
    /// The numbers of items that are passed over as if they were not there. There are some only where one logical
    /// partition is read, so no index alone ever answers for them.
    hidden: HashSet<u64>,
    clock: Arc<dyn Clock>,
    patience: Patience,
    /// How many times more items than there are a plan is chosen for.
    magnification: u64,
    index_ns: AtomicU64,
    load_ns: AtomicU64,
    /// The admission that pays for what is read; none where it is paid for elsewhere.
    gate: Option<Gate>,
    /// Whether the page came to it.
    visited: AtomicBool,
    loaded_items: AtomicU64,
    loaded_bytes: AtomicU64,
}

/// The admission of a query to a partition, which is asked for once.
struct Gate {
    claim: Claim,
    answer: OnceLock<armilla_container::Result<Admitted>>,
}

impl ReaderSource {
    /// Returns a source that has to be admitted.
    pub(super) fn new(
        reader: Arc<PartitionReader>,
        claim: Claim,
        clock: Arc<dyn Clock>,
        patience: Patience,
    ) -> ReaderSource {
        let gate = Gate { claim, answer: OnceLock::new() };
        ReaderSource { gate: Some(gate), ..ReaderSource::without(reader, HashSet::new(), clock, patience) }
    }

    /// Returns a source of one logical partition that passes over some of its items, for a transaction that was admitted
    /// as a whole.
    pub(super) fn without(
        reader: Arc<PartitionReader>,
        hidden: HashSet<u64>,
        clock: Arc<dyn Clock>,
        patience: Patience,
    ) -> ReaderSource {
        debug_assert!(hidden.is_empty() || reader.logical(), "items are hidden in logical partitions only");
        ReaderSource {
            reader,
            hidden,
            clock,
            patience,
            magnification: 1,
            index_ns: AtomicU64::new(0),
            load_ns: AtomicU64::new(0),
            gate: None,
            visited: AtomicBool::new(false),
            loaded_items: AtomicU64::new(0),
            loaded_bytes: AtomicU64::new(0),
        }
    }

    /// Has plans chosen as if there were so many times more items.
    pub(super) fn magnified(self, magnification: u64) -> ReaderSource {
        ReaderSource { magnification, ..self }
    }

    /// Returns whether the partition lets the query in.
    pub(super) fn admit(&self) -> bool {
        let Some(gate) = &self.gate else { return true };
        gate.answer.get_or_init(|| self.reader.admit(gate.claim)).is_ok()
    }

    /// Returns why the partition did not let the query in, if it was asked.
    pub(super) fn refusal(&self) -> Option<&armilla_container::Error> {
        self.gate.as_ref()?.answer.get()?.as_ref().err()
    }

    /// Returns what the partition had left when it let the query in, where that counts.
    pub(super) fn left(&self) -> Option<RequestUnits> {
        self.gate.as_ref()?.answer.get()?.as_ref().ok()?.left
    }

    /// Lets the partition pay.
    pub(super) fn spend(&self, charge: RequestUnits, took: Duration) {
        if let Some(gate) = &self.gate {
            self.reader.spend(gate.claim, charge, took);
        }
    }

    /// Returns whether the page came to it.
    pub(super) fn is_visited(&self) -> bool {
        self.visited.load(Ordering::Relaxed)
    }

    /// Returns how many items were loaded, and their bytes.
    pub(super) fn loaded(&self) -> (u64, u64) {
        (self.loaded_items.load(Ordering::Relaxed), self.loaded_bytes.load(Ordering::Relaxed))
    }

    fn shows(&self, item: &Item) -> bool {
        self.hidden.is_empty() || !self.hidden.contains(&item.header().number)
    }

    /// Returns how long index entries were read, and how long items were loaded.
    pub(super) fn times(&self) -> (Duration, Duration) {
        let read = |nanoseconds: &AtomicU64| Duration::from_nanos(nanoseconds.load(Ordering::Relaxed));
        (read(&self.index_ns), read(&self.load_ns))
    }

    /// Reads, unless the query's time is over: whatever loops over what is read ends with that.
    fn timed<T>(&self, sum: &AtomicU64, work: impl FnOnce() -> armilla_container::Result<T>) -> Result<T> {
        let started = self.clock.elapsed();
        self.patience.check(started)?;
        let outcome = work();
        let took = self.clock.elapsed().saturating_sub(started);
        sum.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
        outcome.map_err(unreadable)
    }

    pub(super) fn position(&self) -> Position {
        self.reader.position()
    }

    fn identity(&self) -> &ContainerIdentity {
        self.reader.identity()
    }

    fn source_item(&self, item: &Item) -> SourceItem {
        let (bytes, stored_at) = item.raw();
        self.loaded_items.fetch_add(1, Ordering::Relaxed);
        self.loaded_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        SourceItem {
            number: item.header().number,
            ts: item.header().ts,
            json_bytes: item.json_bytes(self.identity()) as u32,
            stored_at: stored_at as u32,
            bytes: bytes.clone(),
        }
    }

    fn item(item: &SourceItem) -> Item {
        Item::from_raw(item.bytes.clone()).expect("the bytes are those of an item that was read")
    }
}

impl Source for ReaderSource {
    fn range_id(&self) -> u32 {
        self.reader.range_id()
    }

    fn bounds(&self) -> (HashedKey, HashedKey) {
        self.reader.bounds()
    }

    fn is_admitted(&self) -> bool {
        self.admit()
    }

    fn visit(&self) {
        self.visited.store(true, Ordering::Relaxed);
    }

    fn is_whole(&self) -> bool {
        self.reader.is_whole()
    }

    fn is_logical(&self) -> bool {
        self.reader.logical()
    }

    fn key_text(&self, path: &[PathSegment]) -> Option<&str> {
        self.reader.key_text(path)
    }

    fn item_count(&self) -> u64 {
        self.reader.item_count().saturating_sub(self.hidden.len() as u64)
    }

    fn is_counted(&self) -> bool {
        self.reader.is_counted()
    }

    fn totals(&self) -> (u64, u64) {
        self.reader.totals()
    }

    fn magnification(&self) -> u64 {
        self.magnification
    }

    fn is_path_usable(&self, path: &[PathSegment]) -> bool {
        self.reader.usable().is_path_usable(path)
    }

    fn is_path_in_policy(&self, path: &[PathSegment]) -> bool {
        self.reader.policy().is_path_indexed(path)
    }

    fn has_undefined_entries(&self, path: &[PathSegment]) -> bool {
        self.reader.usable().has_undefined_entries(path)
    }

    fn composites(&self) -> Vec<CompositeIndex> {
        self.reader.usable().composites().into_iter().map(composite).collect()
    }

    fn composites_in_policy(&self) -> Vec<CompositeIndex> {
        self.reader.policy().composites().iter().cloned().map(composite).collect()
    }

    fn index_entries(&self, id: IndexId) -> Result<u64> {
        self.reader.index_entries(id).map_err(unreadable)
    }

    fn entries(
        &self,
        range: &KeyRange,
        direction: Direction,
        entries_max: usize,
        out: &mut Vec<Bytes>,
    ) -> Result<bool> {
        let direction = match direction {
            Direction::Forward => armilla_kv::Direction::Forward,
            Direction::Reverse => armilla_kv::Direction::Reverse,
        };
        let read = || self.reader.entries(range, direction, entries_max, out);
        self.timed(&self.index_ns, read)
    }

    fn count_entries(&self, range: &KeyRange) -> Result<u64> {
        self.timed(&self.index_ns, || self.reader.count_entries(range, u64::MAX))
    }

    fn entry_numbers(
        &self,
        range: &KeyRange,
        numbers_max: usize,
        out: &mut Vec<u64>,
    ) -> Result<Option<Bytes>> {
        let read = || self.reader.entry_numbers(range, numbers_max, out);
        self.timed(&self.index_ns, read)
    }

    fn load(&self, numbers: &[u64], out: &mut Vec<Option<SourceItem>>) -> Result<()> {
        let mut items = Vec::with_capacity(numbers.len());
        self.timed(&self.load_ns, || self.reader.load(numbers, &mut items))?;
        let shown = |item: &Option<Item>| {
            item.as_ref().filter(|item| self.shows(item)).map(|item| self.source_item(item))
        };
        out.extend(items.iter().map(shown));
        Ok(())
    }

    fn scan(
        &self,
        after: Option<&[u8]>,
        items_max: usize,
        out: &mut Vec<(Bytes, SourceItem)>,
    ) -> Result<bool> {
        let (mut after, first) = (after.map(Bytes::copy_from_slice), out.len());
        loop {
            let mut items = Vec::new();
            let read = || self.reader.scan(after.as_deref(), items_max, &mut items);
            let more = self.timed(&self.load_ns, read)?;
            let last = items.last().map(|(key, _)| key.clone());
            let shown = items.into_iter().filter(|(_, item)| self.shows(item));
            out.extend(shown.map(|(key, item)| (key, self.source_item(&item))));
            match last {
                // A page of hidden ones alone would look like the end.
                Some(last) if more && out.len() == first => after = Some(last),
                _ => return Ok(more),
            }
        }
    }

    fn numbers(&self, after: u64, numbers_max: usize, out: &mut Vec<u64>) -> Result<bool> {
        let (mut after, first) = (after, out.len());
        loop {
            let start = out.len();
            let more = self.reader.numbers(after, numbers_max, out).map_err(unreadable)?;
            after = out.last().copied().unwrap_or(after).max(after);
            let mut kept = start;
            for at in start..out.len() {
                if !self.hidden.contains(&out[at]) {
                    out[kept] = out[at];
                    kept += 1;
                }
            }
            out.truncate(kept);
            // A page of hidden ones alone would look like the end.
            if out.len() > first || !more {
                return Ok(more);
            }
        }
    }

    fn point(&self, id: &str) -> Result<Option<SourceItem>> {
        let item = self.reader.point(id).map_err(unreadable)?;
        Ok(item.filter(|item| self.shows(item)).map(|item| self.source_item(&item)))
    }

    fn system(&self, item: &SourceItem, property: SystemProperty) -> String {
        let item = Self::item(item);
        let identity = self.identity();
        match property {
            SystemProperty::Rid => item.rid(identity).to_string(),
            SystemProperty::SelfLink => item.self_link(identity),
            SystemProperty::Etag => item.etag(identity).to_string(),
            SystemProperty::Attachments => "attachments/".to_owned(),
            SystemProperty::Ts => item.header().ts.to_string(),
        }
    }

    fn write_json(&self, item: &SourceItem, out: &mut Vec<u8>) {
        Self::item(item).write_json(self.identity(), out);
    }
}

fn composite(index: armilla_index::CompositeIndex) -> CompositeIndex {
    let armilla_index::CompositeIndex { id, paths, is_tuple } = index;
    CompositeIndex { id, paths, is_tuple }
}

fn unreadable(error: armilla_container::Error) -> Error {
    let kind = match error.kind {
        container::ErrorKind::Moved => ErrorKind::Moved,
        _ => ErrorKind::Source,
    };
    Error::new(kind, error.message)
}
