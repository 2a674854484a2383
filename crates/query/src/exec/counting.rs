//! A source that counts what is read of it.

use std::sync::atomic::{AtomicUsize, Ordering};

use armilla_index::paths::PathSegment;
use armilla_index::{IndexId, KeyRange};
use armilla_value::HashedKey;
use bytes::Bytes;

use crate::error::Result;
use crate::source::{CompositeIndex, Direction, Source, SourceItem, SystemProperty};

/// Counts the items and the index entries that are asked for.
pub(super) struct Counting<'s> {
    inner: &'s dyn Source,
    loaded: AtomicUsize,
    entries: AtomicUsize,
}

impl<'s> Counting<'s> {
    pub(super) fn new(inner: &'s dyn Source) -> Counting<'s> {
        Counting { inner, loaded: AtomicUsize::new(0), entries: AtomicUsize::new(0) }
    }

    /// Returns how many items were asked for.
    pub(super) fn loaded(&self) -> usize {
        self.loaded.load(Ordering::Relaxed)
    }

    /// Returns how many index entries were read.
    pub(super) fn entries_read(&self) -> usize {
        self.entries.load(Ordering::Relaxed)
    }
}

impl Source for Counting<'_> {
    fn range_id(&self) -> u32 {
        self.inner.range_id()
    }
    fn bounds(&self) -> (HashedKey, HashedKey) {
        self.inner.bounds()
    }
    fn is_whole(&self) -> bool {
        self.inner.is_whole()
    }
    fn is_logical(&self) -> bool {
        self.inner.is_logical()
    }
    fn item_count(&self) -> u64 {
        self.inner.item_count()
    }
    fn totals(&self) -> (u64, u64) {
        self.inner.totals()
    }

    fn magnification(&self) -> u64 {
        self.inner.magnification()
    }
    fn is_path_usable(&self, path: &[PathSegment]) -> bool {
        self.inner.is_path_usable(path)
    }
    fn has_undefined_entries(&self, path: &[PathSegment]) -> bool {
        self.inner.has_undefined_entries(path)
    }
    fn composites(&self) -> Vec<CompositeIndex> {
        self.inner.composites()
    }
    fn index_entries(&self, id: IndexId) -> Result<u64> {
        self.inner.index_entries(id)
    }
    fn entries(
        &self,
        range: &KeyRange,
        direction: Direction,
        entries_max: usize,
        out: &mut Vec<Bytes>,
    ) -> Result<bool> {
        let before = out.len();
        let more = self.inner.entries(range, direction, entries_max, out)?;
        self.entries.fetch_add(out.len() - before, Ordering::Relaxed);
        Ok(more)
    }
    fn load(&self, numbers: &[u64], out: &mut Vec<Option<SourceItem>>) -> Result<()> {
        self.loaded.fetch_add(numbers.len(), Ordering::Relaxed);
        self.inner.load(numbers, out)
    }
    fn scan(
        &self,
        after: Option<&[u8]>,
        items_max: usize,
        out: &mut Vec<(Bytes, SourceItem)>,
    ) -> Result<bool> {
        self.loaded.fetch_add(items_max, Ordering::Relaxed);
        self.inner.scan(after, items_max, out)
    }
    fn numbers(&self, after: u64, numbers_max: usize, out: &mut Vec<u64>) -> Result<bool> {
        self.inner.numbers(after, numbers_max, out)
    }
    fn point(&self, id: &str) -> Result<Option<SourceItem>> {
        self.inner.point(id)
    }
    fn system(&self, item: &SourceItem, property: SystemProperty) -> String {
        self.inner.system(item, property)
    }
    fn write_json(&self, item: &SourceItem, out: &mut Vec<u8>) {
        self.inner.write_json(item, out);
    }
}
