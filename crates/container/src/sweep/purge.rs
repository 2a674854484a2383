//! Taking away expired items, in the background and in small steps, with what is left of the budget.
//!
//! No reader sees such items any more, so there is no hurry: each step is one task of low priority for a partition's
//! committer, which pays for the deletes, and a partition without budget waits for a better moment.
//!
//! Which items are due is found in two places. Those with a time to live of their own have records in the order in which
//! they expire. All others live as long as the container says; they are found by their time stamps, in the index of
//! `_ts`, so that another default needs no other records. A cursor in memory keeps those out of the way that have a longer
//! time of their own.
//!
//! Nothing here runs by itself: the owner of the container calls [`Container::purge_step`].
//!
//! Not here: what taking an item away does, and looking at it once more (`apply`).

use std::ops::Bound;
use std::sync::Arc;

use armilla_governor::{OperationKind, Priority};
use armilla_index::{KeyRange, split_entry};
use armilla_kv::{Family, Scan, Snapshot};
use bytes::Bytes;

use crate::compiled_definition::CompiledDefinition;
use crate::container::Container;
use crate::error::{Error, ErrorKind, Result};
use crate::index::layout::Usable;
use crate::index::state::IndexState;
use crate::item::Item;
use crate::item::expiry::Expiry;
use crate::item::keys;
use crate::limits::{PURGE_LOADED_ITEMS, PURGE_STEP_ENTRIES, PURGE_STEP_ITEMS};
use crate::map::Slot;
use crate::partition::Partition;
use crate::partition::counters::Counters;
use crate::sweep::due::{behind, due_records, due_stamps, has_all_stamps};
use crate::write::task::{Done, DueItem, PurgeTask, Purged, Task, Unqueued};

/// What was found in one look.
#[derive(Default)]
struct Found {
    due: Vec<DueItem>,
    /// How many of them have a time to live of their own. They come first.
    own_count: usize,
    /// The entries of the others.
    entries: Vec<Bytes>,
    /// How far the index of `_ts` was looked through.
    from: Option<Bytes>,
    /// Whether there may be more.
    more: bool,
}

impl Found {
    /// Returns where to look from the next time, if so many of the items were dealt with.
    fn next_start(mut self, dealt_with: usize) -> Option<Bytes> {
        match dealt_with.checked_sub(self.own_count) {
            Some(place) if place < self.entries.len() => Some(self.entries.swap_remove(place)),
            Some(_) => self.from,
            // Those with a time of their own were first.
            None => self.entries.into_iter().next().or(self.from),
        }
    }
}

impl Container {
    /// Takes away expired items: one bounded step in every partition that has some and has budget left. Returns
    /// how many are gone, and whether another step at once would find more. Partitions are opened for it, if the container
    /// has a time to live.
    pub async fn purge_step(&self) -> Result<(u64, bool)> {
        let (mut purged, mut more) = (0, false);
        if self.compiled().default_ttl().is_none() {
            return Ok((purged, more));
        }
        let mut failure = None;
        for slot in &self.map_now().slots {
            match self.purge_partition(slot).await {
                Ok((items, has_more)) => {
                    purged += items;
                    more |= has_more;
                }
                // One that cannot do its work does not keep the others from theirs.
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok((purged, more)), Err)
    }

    async fn purge_partition(&self, slot: &Arc<Slot>) -> Result<(u64, bool)> {
        let Some(partition) = self.own_partition(slot)? else { return Ok((0, false)) };
        // What is about to be replaced is not worth it: the children have the same to do.
        if partition.is_reshaping() {
            return Ok((0, false));
        }
        let Ok(_turn) = partition.due.turn.try_lock() else { return Ok((0, false)) };
        let compiled = self.compiled();
        let found = {
            let (partition, slot, compiled) = (partition.clone(), slot.clone(), compiled.clone());
            let look = tokio::task::spawn_blocking(move || look(&partition, &slot, &compiled));
            look.await.unwrap_or_else(|failure| {
                let message = format!("looking for expired items was not finished: {failure}");
                Err(Error::new(ErrorKind::Internal, message))
            })?
        };
        if found.due.is_empty() {
            let more = found.more;
            partition.due.end(found.from);
            return Ok((0, more));
        }
        let (clock, began) = (self.clock(), self.clock().elapsed());
        let Ok(admitted) = slot.budget().admit(clock.now_ms(), Priority::Low) else { return Ok((0, false)) };
        let Found { due, own_count, entries, from, more } = found;
        let due_count = due.len();
        let task = PurgeTask { compiled: self.core.compiled.clone(), due, charge_max: admitted.left };
        let purged = match partition.submit(compiled, Task::Purge(Box::new(task)), None).await {
            Ok(Done::Purged(purged)) => purged,
            Ok(_) => return Err(Error::new(ErrorKind::Internal, "a purge was taken for something else")),
            // Others have taken its place, and have the same to do.
            Err(Unqueued::Retired(_)) => return Ok((0, false)),
            Err(Unqueued::Failed(error)) => return Err(error),
        };
        let Purged { items, charge, dealt_with } = purged;
        if items > 0 {
            let took = clock.elapsed().saturating_sub(began);
            slot.spend(clock, OperationKind::Write, Priority::Low.into(), None, charge, took);
        }
        let found = Found { due: Vec::new(), own_count, entries, from, more };
        partition.due.end(found.next_start(dealt_with));
        // If none could be taken away, the next step would find the same ones.
        Ok((items, items > 0 && (more || dealt_with < due_count)))
    }
}

/// Looks for expired items.
fn look(partition: &Partition, slot: &Slot, compiled: &CompiledDefinition) -> Result<Found> {
    let expiry = compiled.expiry(partition.now_seconds());
    let from = partition.due.begin();
    let snapshot = partition.space().snapshot()?;
    let snapshot = snapshot.as_ref();
    let mut found = Found { from, ..Found::default() };
    let mut records = due_records(&expiry);
    records.entries_max = PURGE_STEP_ITEMS;
    let page = snapshot.scan(&records)?;
    let numbers = page.entries.iter().map(|(key, _)| Ok(keys::decode_expiry(key)?.1));
    let numbers: Vec<u64> = numbers.collect::<Result<_>>()?;
    for (number, key) in numbers.iter().zip(item_keys(snapshot, &numbers)?) {
        // One without an item is left over, which is for `check` to find.
        found.due.extend(key.map(|key| DueItem { number: *number, key }));
    }
    found.own_count = found.due.len();
    found.more = page.more;
    let Some(mut range) = due_stamps(&expiry).filter(|_| !page.more) else { return Ok(found) };
    if !has_all_stamps(&usable(partition, slot, compiled, snapshot)?) {
        return Ok(found);
    }
    if let Some(from) = &found.from {
        range.lower = Bound::Included(from.clone());
    }
    if !range.is_empty() {
        look_through_stamps(snapshot, &expiry, range, &mut found)?;
    }
    Ok(found)
}

fn look_through_stamps(
    snapshot: &dyn Snapshot,
    expiry: &Expiry,
    range: KeyRange,
    found: &mut Found,
) -> Result<()> {
    let mut scan = Scan::prefix(Family::Index, b"");
    (scan.lower, scan.upper) = (range.lower, range.upper);
    scan.entries_max = PURGE_LOADED_ITEMS;
    let mut looked_at = 0;
    loop {
        let page = snapshot.scan(&scan)?;
        let damaged = || Error::corrupt("an index entry is cut short");
        let number = |(entry, _): &(Bytes, Bytes)| Ok(split_entry(entry).ok_or_else(damaged)?.2);
        let numbers: Vec<u64> = page.entries.iter().map(number).collect::<Result<_>>()?;
        // An entry without an item is left over, which is for `check` to find.
        let keys: Vec<Bytes> =
            item_keys(snapshot, &numbers)?.into_iter().map(Option::unwrap_or_default).collect();
        let items = snapshot.multi_get(Family::Item, &keys)?;
        for (((entry, _), key), value) in page.entries.iter().zip(keys).zip(items) {
            if found.due.len() == PURGE_STEP_ITEMS {
                found.more = true;
                return Ok(());
            }
            found.from = Some(behind(entry));
            let Some(Ok(item)) = value.map(Item::open) else { continue };
            if item.header().own_expiry().is_none() && expiry.is_over(&item) {
                found.due.push(DueItem { number: item.header().number, key });
                found.entries.push(entry.clone());
            }
        }
        looked_at += page.entries.len();
        match page.entries.last() {
            Some((last, _)) if page.more => scan = scan.after(last),
            _ => return Ok(()),
        }
        if looked_at >= PURGE_STEP_ENTRIES {
            found.more = true;
            return Ok(());
        }
    }
}

/// Returns the keys of the items with some numbers.
fn item_keys(snapshot: &dyn Snapshot, numbers: &[u64]) -> Result<Vec<Option<Bytes>>> {
    let numbers: Vec<Bytes> = numbers.iter().map(|number| keys::number(*number)).collect();
    Ok(snapshot.multi_get(Family::Number, &numbers)?)
}

/// Returns which indexes are complete.
fn usable(
    partition: &Partition,
    slot: &Slot,
    compiled: &CompiledDefinition,
    snapshot: &dyn Snapshot,
) -> Result<Usable> {
    let counters = match snapshot.get(Family::Meta, keys::COUNTERS)? {
        Some(bytes) => Counters::decode(&bytes)?,
        None => Counters { lsn: slot.range.lsn_base, ..Counters::default() },
    };
    let get = |family, key: &[u8]| snapshot.get(family, key);
    let state = IndexState::load(get, |bytes| partition.layouts(bytes), &counters, &compiled.layout)?;
    Ok(Usable::new(&compiled.layout, &state.layouts, state.crowded, compiled.evaluates()))
}

#[cfg(test)]
mod tests;
