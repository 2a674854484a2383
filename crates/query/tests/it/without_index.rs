//! A source that hides its indexes, so that every query over it is a scan.

use armilla_index::paths::PathSegment;
use armilla_index::{IndexId, KeyRange};
use armilla_query::source::{CompositeIndex, Direction, MemorySource};
use armilla_query::{Result, Source, SourceItem, SystemProperty};
use armilla_value::HashedKey;
use bytes::Bytes;

/// A source without indexes. What the policy allows stays allowed, as while an index is being built.
pub(crate) struct WithoutIndex<'s>(pub(crate) &'s MemorySource);

impl Source for WithoutIndex<'_> {
    fn range_id(&self) -> u32 {
        self.0.range_id()
    }

    fn bounds(&self) -> (HashedKey, HashedKey) {
        self.0.bounds()
    }

    fn is_whole(&self) -> bool {
        self.0.is_whole()
    }

    fn is_logical(&self) -> bool {
        self.0.is_logical()
    }

    fn item_count(&self) -> u64 {
        self.0.item_count()
    }

    fn totals(&self) -> (u64, u64) {
        self.0.totals()
    }

    fn is_path_usable(&self, _: &[PathSegment]) -> bool {
        false
    }

    fn is_path_in_policy(&self, path: &[PathSegment]) -> bool {
        self.0.is_path_in_policy(path)
    }

    fn has_undefined_entries(&self, _: &[PathSegment]) -> bool {
        false
    }

    fn composites(&self) -> Vec<CompositeIndex> {
        Vec::new()
    }

    fn composites_in_policy(&self) -> Vec<CompositeIndex> {
        self.0.composites_in_policy()
    }

    fn index_entries(&self, _: IndexId) -> Result<u64> {
        panic!("no index is usable, so none is counted")
    }

    fn entries(&self, _: &KeyRange, _: Direction, _: usize, _: &mut Vec<Bytes>) -> Result<bool> {
        panic!("no index is usable, so none is read")
    }

    fn load(&self, numbers: &[u64], out: &mut Vec<Option<SourceItem>>) -> Result<()> {
        self.0.load(numbers, out)
    }

    fn scan(
        &self,
        after: Option<&[u8]>,
        items_max: usize,
        out: &mut Vec<(Bytes, SourceItem)>,
    ) -> Result<bool> {
        self.0.scan(after, items_max, out)
    }

    fn numbers(&self, after: u64, numbers_max: usize, out: &mut Vec<u64>) -> Result<bool> {
        self.0.numbers(after, numbers_max, out)
    }

    fn point(&self, id: &str) -> Result<Option<SourceItem>> {
        self.0.point(id)
    }

    fn system(&self, item: &SourceItem, property: SystemProperty) -> String {
        self.0.system(item, property)
    }

    fn write_json(&self, item: &SourceItem, out: &mut Vec<u8>) {
        self.0.write_json(item, out);
    }
}
