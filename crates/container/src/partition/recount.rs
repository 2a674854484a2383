//! Counting a partition anew that was written by a program which counted less, and bringing its records up to date.
//!
//! Such a partition is known by the version of its counters. All its items are walked once, when it is opened and before
//! any reader sees it; the sizes of its logical partitions are replaced as they are found, and the counters, in their
//! new version, come last. So a crash in the middle leaves a partition that is counted anew by the next opening.
//!
//! It takes about as long as reading all items and working out their index entries, and memory for one page of items and
//! one batch of sizes. What is damaged is passed over as far as possible: finding damage is the business of `check`, and
//! the rest of the partition stays usable.

use std::sync::Arc;

use armilla_index::Part;
use armilla_kv::{Batch, Family, Scan, Snapshot, Space, block_on};
use bytes::Bytes;
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::error::{Error, Result};
use crate::feed::trim::TrimState;
use crate::index::entries::EntryList;
use crate::index::layout::{Layout, Layouts};
use crate::index::state::IndexState;
use crate::item::Item;
use crate::item::keys::{self, LogicalKey};
use crate::limits::RECOUNT_BATCH_SIZES;
use crate::map::ranges::Range;
use crate::partition::counters::{Counters, LogicalSize, SizeChange};

/// Counts a partition anew if it has to be. `wanted` is the layout of its container's index.
pub(crate) fn bring_up_to_date(space: &dyn Space, range: &Range, wanted: &Arc<Layout>) -> Result<()> {
    let Some(record) = space.get(Family::Meta, keys::COUNTERS)? else { return Ok(()) };
    let Some(counters) = Counters::decode_old(&record) else { return Ok(()) };
    let run = || recount(space, range.id, counters, wanted);
    match Handle::try_current() {
        // Other tasks move to another thread.
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(run)
        }
        _ => run(),
    }
}

/// Counts a partition, whatever it has been counted as before.
pub(crate) fn recount(
    space: &dyn Space,
    range_id: u32,
    mut counters: Counters,
    wanted: &Arc<Layout>,
) -> Result<()> {
    tracing::info!(range_id, items = counters.items, "counting the sizes of a partition of an older version");
    let snapshot = space.snapshot()?;
    let get = |family, key: &[u8]| snapshot.get(family, key);
    let decode = |bytes: &Bytes| Layouts::decode(bytes).map(Arc::new);
    let index = IndexState::load(get, decode, &counters, wanted)?;
    let mut recount = Recount {
        space,
        snapshot: snapshot.as_ref(),
        range_id,
        index,
        total: LogicalSize::default(),
        current: None,
        batch: Batch::new(),
    };
    recount.items()?;
    let mut batch = recount.left_over()?;
    let total = recount.total;
    if (counters.items, counters.bytes) != (total.items, total.bytes) {
        let (items, bytes) = (counters.items, counters.bytes);
        tracing::warn!(range_id, items, bytes, ?total, "the counters were wrong and are put right");
    }
    counters.set_size(total);
    // Deletes were kept for ever, and of older versions it is not known from where on they are all there.
    let entry = snapshot.scan(&Scan { entries_max: 1, ..Scan::prefix(Family::Feed, b"") })?;
    if !entry.entries.is_empty() {
        batch.put(Family::Meta, Bytes::from_static(keys::TRIM_STATE), TrimState::never().encode());
    }
    batch.put(Family::Meta, Bytes::from_static(keys::COUNTERS), counters.encode());
    block_on(space.commit(batch))?;
    tracing::info!(range_id, ?total, "counted the sizes of a partition");
    Ok(())
}

struct Recount<'a> {
    space: &'a dyn Space,
    snapshot: &'a dyn Snapshot,
    range_id: u32,
    index: IndexState,
    /// What all items take.
    total: LogicalSize,
    /// The logical partition that the items being read belong to, and what it holds so far.
    current: Option<(LogicalKey, LogicalSize)>,
    batch: Batch,
}

impl Recount<'_> {
    fn items(&mut self) -> Result<()> {
        let mut scan = Scan::prefix(Family::Item, b"");
        loop {
            let page = self.snapshot.scan(&scan)?;
            for (key, value) in &page.entries {
                self.item(key, value)?;
            }
            match page.entries.last() {
                Some((key, _)) if page.more => scan = scan.after(key),
                _ => break,
            }
        }
        self.end_logical_partition(None)?;
        self.commit()
    }

    fn item(&mut self, key: &Bytes, value: &Bytes) -> Result<()> {
        let (logical, index_bytes) = match self.read(key, value) {
            Ok((logical, index_bytes, expiry)) => {
                self.note_expiry(expiry)?;
                (Some(logical), index_bytes)
            }
            Err(error) => {
                tracing::error!(range_id = self.range_id, %error, "an item cannot be counted as it should");
                (None, 0)
            }
        };
        let change = SizeChange::of_item(key, None, Some(value.len()), index_bytes);
        self.total = added(self.total, &change)?;
        let Some(logical) = logical else { return Ok(()) };
        if self.current.as_ref().is_none_or(|(current, _)| *current != logical) {
            self.end_logical_partition(Some(logical))?;
        }
        if let Some((_, size)) = &mut self.current {
            *size = added(*size, &change)?;
        }
        Ok(())
    }

    /// Writes the record of an item with a time to live of its own.
    fn note_expiry(&mut self, record: Option<Bytes>) -> Result<()> {
        let Some(record) = record else { return Ok(()) };
        self.batch.put(Family::Meta, record, Bytes::new());
        self.commit_if_full()
    }

    /// Returns which logical partition an item belongs to, how much its index entries take, and the key of the record of
    /// its time to live, if it has one of its own.
    fn read(&self, key: &Bytes, value: &Bytes) -> Result<(LogicalKey, i64, Option<Bytes>)> {
        let item = Item::open(value.clone())?;
        let root = item.stored().root();
        let logical = root
            .get("id")
            .and_then(|id| id.as_str())
            .and_then(|id| LogicalKey::of_item(key, &id))
            .ok_or_else(|| Error::corrupt("an item's id is not the one in its key"))?;
        let header = item.header();
        let layout = self.index.layout_of(header.number);
        let part = |part| EntryList::of(layout, part, root, header.ts, &[]);
        let mut lists = [part(Part::Content), part(Part::Stamp), EntryList::default()];
        if layout.has_computed
            && let Some(record) = self.snapshot.get(Family::Meta, &keys::computed(header.number))?
        {
            lists[2] = EntryList::decode(&record)?;
        }
        let expiry = header.own_expiry().map(|last_second| keys::expiry(last_second, header.number));
        Ok((logical, lists.iter().map(EntryList::key_bytes).sum::<u64>() as i64, expiry))
    }

    fn end_logical_partition(&mut self, next: Option<LogicalKey>) -> Result<()> {
        let ended = std::mem::replace(&mut self.current, next.map(|key| (key, LogicalSize::default())));
        let Some((logical, size)) = ended else { return Ok(()) };
        self.batch.put(Family::Meta, keys::size(&logical), size.encode());
        self.commit_if_full()
    }

    fn commit_if_full(&mut self) -> Result<()> {
        if self.batch.ops().len() < RECOUNT_BATCH_SIZES {
            return Ok(());
        }
        self.commit()
    }

    fn commit(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        if batch.ops().is_empty() {
            return Ok(());
        }
        Ok(block_on(self.space.commit(batch))?)
    }

    /// Removes sizes of logical partitions that are not there; the last few of them by the batch that is returned.
    fn left_over(&mut self) -> Result<Batch> {
        let snapshot = self.space.snapshot()?;
        let mut scan = Scan::prefix(Family::Meta, &[keys::SIZE_TAG]);
        loop {
            let page = snapshot.scan(&scan)?;
            for (key, record) in &page.entries {
                if !LogicalSize::is_current(record) {
                    self.batch.delete(Family::Meta, key.clone());
                }
            }
            if self.batch.ops().len() >= RECOUNT_BATCH_SIZES {
                self.commit()?;
            }
            match page.entries.last() {
                Some((key, _)) if page.more => scan = scan.after(key),
                _ => return Ok(std::mem::take(&mut self.batch)),
            }
        }
    }
}

fn added(size: LogicalSize, change: &SizeChange) -> Result<LogicalSize> {
    size.changed(change).ok_or_else(|| Error::corrupt("a size is larger than can be"))
}
