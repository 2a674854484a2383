//! Places with long keys, and batches that are no larger than they need to be.

use crate::continuation::Mark;
use crate::exec::testing::*;
use crate::limits::{BATCH_ENTRIES_FIRST, CONTINUATION_KEY_BYTES_MAX};
use crate::physical::Access;
use crate::source::Source;

use super::*;

/// Items whose keys agree in more bytes than a token holds.
fn items_with_long_keys() -> Vec<armilla_value::Value> {
    let long = "k".repeat(2 * CONTINUATION_KEY_BYTES_MAX);
    (0..40).map(|number| value(&format!(r#"{{"id":"{number:02}","pk":"{long}","n":{number}}}"#))).collect()
}

#[test]
fn scans_go_on_behind_keys_that_were_cut() {
    let items = items_with_long_keys();
    let sources = sources(&items, 1);
    let query = compile("SELECT VALUE c.id FROM c");
    for rows_max in [1, 3, 40] {
        let all = Ask::new(&query, &*always(Access::ScanByKey), rows_max).all(&lend(&sources));
        assert_eq!(all.rows.len(), 40);
        assert_eq!(all.pages, 40usize.div_ceil(rows_max));
    }
    let source: &dyn Source = &sources[0];
    let mut scanned = Vec::new();
    source.scan(None, 40, &mut scanned).unwrap();
    let mark = Mark::new(&scanned[7].0, scanned[7].1.number);
    assert!(mark.is_cut);
    assert_eq!(key_behind(source, &mark).unwrap().unwrap(), scanned[7].0);
    // With the item gone, those that begin alike come again.
    let gone = Mark { number: 999, ..mark };
    assert_eq!(key_behind(source, &gone).unwrap().unwrap(), gone.bytes);
}

#[test]
fn a_page_of_few_rows_loads_few_items() {
    let items = items(1_000);
    let sources = sources(&items, 1);
    let source = Counting { inner: &sources[0], loaded: Default::default() };
    let query = compile("SELECT TOP 3 VALUE c.id FROM c");
    let page = Ask::new(&query, &*always(Access::ScanByKey), 100).page(&[&source], None).unwrap();
    assert_eq!(page.row_count(), 3);
    assert!(source.loaded.load(std::sync::atomic::Ordering::Relaxed) <= BATCH_ENTRIES_FIRST);
    assert_eq!((page.work.scanned, page.retrieved.items), (3, 3));
}

/// Counts the items that are asked for.
struct Counting<'s> {
    inner: &'s dyn Source,
    loaded: std::sync::atomic::AtomicUsize,
}

impl Source for Counting<'_> {
    fn range_id(&self) -> u32 {
        self.inner.range_id()
    }
    fn bounds(&self) -> (armilla_value::HashedKey, armilla_value::HashedKey) {
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
    fn is_path_usable(&self, path: &[armilla_index::paths::PathSegment]) -> bool {
        self.inner.is_path_usable(path)
    }
    fn has_undefined_entries(&self, path: &[armilla_index::paths::PathSegment]) -> bool {
        self.inner.has_undefined_entries(path)
    }
    fn composites(&self) -> Vec<crate::source::CompositeIndex> {
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
        self.inner.entries(range, direction, entries_max, out)
    }
    fn load(&self, numbers: &[u64], out: &mut Vec<Option<SourceItem>>) -> Result<()> {
        self.inner.load(numbers, out)
    }
    fn scan(
        &self,
        after: Option<&[u8]>,
        items_max: usize,
        out: &mut Vec<(Bytes, SourceItem)>,
    ) -> Result<bool> {
        self.loaded.fetch_add(items_max, std::sync::atomic::Ordering::Relaxed);
        self.inner.scan(after, items_max, out)
    }
    fn numbers(&self, after: u64, numbers_max: usize, out: &mut Vec<u64>) -> Result<bool> {
        self.inner.numbers(after, numbers_max, out)
    }
    fn point(&self, id: &str) -> Result<Option<SourceItem>> {
        self.inner.point(id)
    }
    fn system(&self, item: &SourceItem, property: crate::source::SystemProperty) -> String {
        self.inner.system(item, property)
    }
    fn write_json(&self, item: &SourceItem, out: &mut Vec<u8>) {
        self.inner.write_json(item, out);
    }
}
