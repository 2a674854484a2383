//! One step of dropping from the change log what is not wanted any more.
//!
//! A step is a task of the committer like a write, so what it drops cannot change under it. It looks at entries that the
//! store has; what is on its way there comes behind them.

use std::ops::Bound;

use armilla_kv::{Family, Snapshot};
use bytes::Bytes;

use super::Group;
use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, Result};
use crate::feed::{Ages, LogEntry, LogPage, find_version, read_log};
use crate::item::Item;
use crate::item::keys;
use crate::limits::{TRANSACTION_WRITES_MAX, TRIM_STEP_BYTES, TRIM_STEP_ENTRIES};
use crate::partition::counters::Counters;
use crate::write::task::Trimmed;

impl Group<'_> {
    /// Drops what is not wanted any more among the next entries of the log.
    pub(super) fn trim(&mut self, compiled: &CompiledDefinition) -> Result<Trimmed> {
        // A split driver that copies the partition reads its log.
        if self.logs_removals {
            return Ok(Trimmed::default());
        }
        let Some(mut state) = self.effects.log.state.clone() else { return Ok(Trimmed::default()) };
        if compiled.keeps_all_versions && state.is_never() {
            // The next write makes a beginning.
            return Ok(Trimmed::default());
        }
        if !compiled.keeps_all_versions && !state.is_never() {
            state.end_complete();
        }
        let snapshot = self.base.snapshot()?;
        let (lsn, operation) = state.trimmed;
        let lower = Bound::Excluded(keys::feed_image(lsn, operation));
        let mut page =
            read_log(snapshot.as_ref(), lower, Bound::Unbounded, TRIM_STEP_ENTRIES, TRIM_STEP_BYTES)?;
        finish_commit(snapshot.as_ref(), &mut page)?;
        let oldest = compiled.oldest_kept(self.now);
        let mut dropped: Vec<(u64, u16)> = Vec::new();
        let mut is_young = false;
        let mut is_cut = page.next.is_some();
        let mut reached = state.trimmed;
        let mut image_bytes = 0;
        let mut ages = Ages::new(snapshot.as_ref(), self.now);
        for entry in &page.entries {
            if image_bytes > TRIM_STEP_BYTES {
                is_cut = true;
                break;
            }
            if let Some(oldest) = oldest
                && ages.written_by(entry.position.0, entry.change.ts)? >= oldest
            {
                is_young = true;
                break;
            }
            match oldest {
                None => {
                    if !self.is_newest(entry)? {
                        dropped.push(entry.position);
                    }
                }
                Some(_) => {
                    if let Some((position, item)) =
                        find_version(snapshot.as_ref(), entry.position, &entry.change)?
                    {
                        image_bytes += item.bytes().len();
                        dropped.push(position);
                    }
                    if entry.change.kind.is_removal()
                        || (state.is_left_over(entry.position.0)
                            && !self.is_newest_anywhere(entry, snapshot.as_ref())?)
                    {
                        dropped.push(entry.position);
                    }
                }
            }
            reached = entry.position;
            if state.has_parts() {
                let definition = &compiled.definition.partition_key;
                let item_key = &entry.change.item_key;
                let hashed = keys::hashed(item_key, definition.version, definition.paths.len())
                    .ok_or_else(|| Error::corrupt("the change log has an item's key that is damaged"))?;
                state.look_at(&hashed, entry.position.0);
            }
        }
        state.trim_to(reached, oldest);
        let mut state = Some(state);
        let mut more = is_cut && !is_young;
        if oldest.is_none() && !is_cut {
            // What deletes left is all seen once the last of it is.
            match stored_lsn(snapshot.as_ref())? >= self.effects.log.removal_lsn {
                true => state = None,
                false => more = true,
            }
        }

        // From here on nothing fails.
        let entries = dropped.len() as u64;
        for (lsn, operation) in dropped {
            self.record(Family::Feed, keys::feed(lsn, operation), None);
            self.record(Family::Feed, keys::feed_image(lsn, operation), None);
        }
        if state != self.effects.log.state {
            self.effects.written = true;
            self.effects.log.set(state);
        }
        Ok(Trimmed { entries, more })
    }

    /// Returns whether an entry is about an item as it will be.
    fn is_newest(&self, entry: &LogEntry) -> Result<bool> {
        if entry.image.is_some() || entry.change.kind.is_removal() {
            return Ok(false);
        }
        let item = self.item(&entry.change.item_key)?;
        Ok(item.is_some_and(|item| item.header().version() == entry.position))
    }

    /// Returns whether an entry is about an item as it is stored: what is on its way may still need it.
    fn is_newest_anywhere(&self, entry: &LogEntry, snapshot: &dyn Snapshot) -> Result<bool> {
        if entry.image.is_some() {
            return Ok(false);
        }
        let stored: Option<Bytes> = snapshot.get(Family::Item, &entry.change.item_key)?;
        let stored = stored.map(Item::open).transpose()?;
        Ok(stored.is_some_and(|item| item.header().version() == entry.position))
    }
}

/// Reads on to the end of the commit that a page ends in, unless that is far away.
fn finish_commit(snapshot: &dyn Snapshot, page: &mut LogPage) -> Result<()> {
    if let (Some(next), Some(last)) = (page.next.clone(), page.entries.last()) {
        let upper = Bound::Included(keys::feed_image(last.position.0, u16::MAX));
        let rest = read_log(snapshot, next, upper, 2 * TRANSACTION_WRITES_MAX, TRIM_STEP_BYTES)?;
        if let Some(last) = rest.entries.last() {
            let (lsn, operation) = last.position;
            page.next = Some(Bound::Excluded(keys::feed_image(lsn, operation)));
        }
        page.entries.extend(rest.entries);
    }
    Ok(())
}

fn stored_lsn(snapshot: &dyn Snapshot) -> Result<u64> {
    match snapshot.get(Family::Meta, keys::COUNTERS)? {
        Some(bytes) => Ok(Counters::decode(&bytes)?.lsn),
        None => Ok(0),
    }
}
