//! Places with long keys, and batches that are no larger than they need to be.

use crate::continuation::Mark;
use crate::exec::counting::Counting;
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
        // Full pages are followed by another.
        assert_eq!(all.pages, 40 / rows_max + 1);
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
    let source = Counting::new(&sources[0]);
    let query = compile("SELECT TOP 3 VALUE c.id FROM c");
    let page = Ask::new(&query, &*always(Access::ScanByKey), 100).page(&[&source], None).unwrap();
    assert_eq!(page.row_count(), 3);
    assert!(source.loaded() <= BATCH_ENTRIES_FIRST);
    assert_eq!((page.work.scanned, page.retrieved.items), (3, 3));
}
