//! What is known of sizes while groups are on their way.

use std::sync::Arc;

use super::*;
use crate::index::layout::{Crowded, Layout, Layouts};
use crate::partition::counters::LogicalSize;

fn applied() -> Applied {
    let layouts = Arc::new(Layouts::of(Arc::new(Layout::nothing())));
    let crowded = Arc::new(Crowded::default());
    let index = IndexState { layouts, progress: None, crowded, is_stored: true };
    Applied::new(Counters::default(), index)
}

fn key(number: usize) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}

fn size(items: u64) -> LogicalSize {
    LogicalSize { items, bytes: 10 * items, index_bytes: 0 }
}

/// Takes over a group that sets these sizes.
fn absorb(
    applied: &mut Applied,
    group: u64,
    keys: impl Iterator<Item = usize>,
    items: u64,
    lsn: Option<u64>,
) -> Touched {
    let mut effects = applied.begin();
    for number in keys {
        // As a group does that looks at a size before it changes it.
        let known = applied.size(&key(number)).unwrap_or_default();
        effects.sizes.insert(key(number), (known, false));
        effects.set_size(key(number), size(items), lsn);
    }
    applied.absorb(effects, group)
}

#[test]
fn a_size_is_known_until_it_is_stored() {
    let mut applied = applied();
    let first = absorb(&mut applied, 1, 0..KNOWN_SIZES_MAX + 1, 1, Some(10));
    // A re-indexing changes a size and writes no item; it has no commit number of its own.
    let second = absorb(&mut applied, 2, 7..8, 2, None);
    let third = absorb(&mut applied, 3, 8..9, 3, Some(11));
    assert_eq!((applied.last_group(), applied.floor_lsn()), (3, 0));
    applied.landed(1, 10, first);
    assert_eq!(applied.floor_lsn(), 10);
    assert_eq!(applied.size(&key(6)), None);
    assert_eq!(applied.size(&key(7)), Some(LastSize { size: size(2), lsn: Some(10) }));
    assert_eq!(applied.size(&key(8)), Some(LastSize { size: size(3), lsn: Some(11) }));
    // As long as there are few, nothing is forgotten.
    applied.landed(2, 10, second);
    applied.landed(3, 11, third);
    assert_eq!(applied.size(&key(8)), Some(LastSize { size: size(3), lsn: Some(11) }));
    let fourth = absorb(&mut applied, 4, 10..KNOWN_SIZES_MAX + 20, 1, None);
    applied.landed(4, 11, fourth);
    assert_eq!((applied.size(&key(8)), applied.size(&key(10))), (None, None));
    assert_eq!(applied.floor_lsn(), 11);
}

#[test]
fn what_a_re_indexing_looks_at_counts_as_not_written() {
    let mut applied = applied();
    absorb(&mut applied, 1, 0..1, 1, None);
    assert_eq!(applied.size(&key(0)), Some(LastSize { size: size(1), lsn: None }));
    absorb(&mut applied, 2, 0..1, 2, Some(5));
    absorb(&mut applied, 3, 0..1, 3, None);
    assert_eq!(applied.size(&key(0)), Some(LastSize { size: size(3), lsn: Some(5) }));
}
