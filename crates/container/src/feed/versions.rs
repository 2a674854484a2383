//! Finding the image of the version that a change followed.

use std::ops::Bound;

use armilla_kv::{Family, Snapshot};

use super::{Change, read_log};
use crate::error::Result;
use crate::item::Item;
use crate::item::keys;
use crate::limits::{FEED_WALK_ENTRIES, PAGE_BYTES_MAX};

/// Returns the version before the change at a position, and where its entry lies, if that is still kept.
///
/// It is the last one that its commit wrote of the item, or the last before the change in the same commit. The change
/// names the operation; but operations are given other numbers where two partitions are merged, so that may be another's
/// now, and its own another one of the same commit.
pub(crate) fn find_version(
    snapshot: &dyn Snapshot,
    position: (u64, u16),
    change: &Change,
) -> Result<Option<((u64, u16), Item)>> {
    let Change { previous_lsn: lsn, previous_operation: operation, number, .. } = *change;
    if lsn == 0 {
        return Ok(None);
    }
    if let Some(bytes) = snapshot.get(Family::Feed, &keys::feed_image(lsn, operation))? {
        let item = Item::open(bytes)?;
        let header = item.header();
        let is_named = header.operation == operation || header.shown_operation == Some(operation);
        if header.number == number && is_named && (lsn, operation) < position {
            return Ok(Some(((lsn, operation), item)));
        }
    }
    let mut found = None;
    let mut lower = Bound::Included(keys::feed(lsn, 0));
    let upper = Bound::Included(keys::feed_image(lsn, u16::MAX));
    loop {
        let page = read_log(snapshot, lower, upper.clone(), FEED_WALK_ENTRIES, PAGE_BYTES_MAX)?;
        for entry in page.entries {
            if entry.position >= position {
                return Ok(found);
            }
            if let Some(image) = entry.image.filter(|_| entry.change.number == number) {
                found = Some((entry.position, Item::open(image)?));
            }
        }
        match page.next {
            Some(next) => lower = next,
            None => return Ok(found),
        }
    }
}
