//! Deleting all items of a logical partition: hidden at once, taken away in the background with a small part of the
//! throughput.
//!
//! Nothing here runs by itself: the owner of the container keeps what was asked for ([`Container::begin_key_deletion`],
//! [`Container::hide_key`]), calls [`Container::delete_keys_step`], and forgets what is done.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use armilla_governor::{Claim, OperationKind, Priority, RequestUnits};
use armilla_kv::{Family, Scan};
use armilla_value::PartitionKey;
use bytes::Bytes;

use crate::container::Container;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::item::Item;
use crate::item::deleted_keys::{DeletedKey, DeletedKeys};
use crate::limits::{PURGE_STEP_ENTRIES, PURGE_STEP_ITEMS};
use crate::map::Slot;
use crate::partition::Partition;
use crate::throughput::source::Admission;
use crate::throughput::{ReadCost, Work, price};
use crate::write;
use crate::write::task::{Done, DueItem, PurgeTask, Purged, Task, Unqueued};

/// The part of a partition's throughput, one in so many, that deleting in the background may use.
const THROUGHPUT_PART: u64 = 10;

/// A logical partition that is to be deleted: everything up to a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyDeletion {
    /// The last commit whose items go.
    pub lsn: u64,
    /// What it cost to ask.
    pub charge: RequestUnits,
    /// Where it is stored.
    pub position: Position,
}

/// What a step came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeysDeleted {
    /// Items that were taken away.
    pub items: u64,
    /// Logical partitions of which nothing is left, each with the commit up to which it was deleted.
    pub done: Vec<(PartitionKey, u64)>,
    /// How long the next step has to wait; nothing where there is nothing to do.
    pub rest: Option<Duration>,
}

/// What was found in one look.
struct Found {
    due: Vec<DueItem>,
    /// Whether the look came to the end of the logical partition.
    is_end: bool,
    /// Up to where everything was looked at.
    last: Option<Bytes>,
}

impl Container {
    /// Returns up to which commit the items of a logical partition are to go, as of now.
    pub async fn begin_key_deletion(
        &self,
        partition_key: &PartitionKey,
        claim: impl Into<Claim>,
    ) -> Result<KeyDeletion> {
        let compiled = self.compiled();
        let (hashed, logical) = write::locate(&compiled, partition_key)?;
        let (slot, _) = self.route(&hashed)?;
        let bytes = Some(&logical.as_bytes()[..]);
        let admission = Admission::ask(&slot, self.clock(), OperationKind::Write, claim.into(), bytes)?;
        // What was answered before is before it.
        let (served, passed) = self.submit(&compiled, Task::Barrier, &hashed, &logical).await;
        let slot = served.unwrap_or(slot);
        let passed = passed.and_then(|_| self.partition(&slot)?.fresh_position());
        let charge = price(&Work::ReadNothing, ReadCost::Single);
        let position = admission.finish(&slot, bytes, passed, |_| charge)?;
        Ok(KeyDeletion { lsn: position.lsn, charge, position })
    }

    /// Hides the items of a logical partition up to a commit, from now on.
    pub fn hide_key(&self, partition_key: &PartitionKey, lsn: u64) -> Result<()> {
        let (_, logical) = write::locate(&self.compiled(), partition_key)?;
        let logical = logical.as_bytes().clone();
        self.core.compiled.change_deleted_keys(|keys| keys.add(logical, partition_key.clone(), lsn));
        self.core.deletion_wanted.notify_one();
        Ok(())
    }

    /// Forgets a logical partition of which nothing is left.
    pub fn forget_deleted_key(&self, partition_key: &PartitionKey, lsn: u64) -> Result<()> {
        let (_, logical) = write::locate(&self.compiled(), partition_key)?;
        let logical = logical.as_bytes().clone();
        self.core.deletion_cursors.lock().remove(&logical);
        self.core.compiled.change_deleted_keys(|keys| keys.remove(&logical, lsn));
        Ok(())
    }

    /// Returns the logical partitions that are being deleted, each with the commit up to which it is.
    pub fn deleted_keys(&self) -> Vec<(PartitionKey, u64)> {
        let compiled = self.compiled();
        let keys = compiled.deleted_keys().into_iter().flat_map(|keys| keys.iter());
        keys.map(|(_, key)| (key.partition_key.clone(), key.lsn)).collect()
    }

    /// Returns how many logical partitions are being deleted.
    pub fn deleted_key_count(&self) -> usize {
        self.compiled().deleted_keys().map_or(0, DeletedKeys::len)
    }

    /// Waits until there may be something to delete. One waits for it at a time.
    pub async fn deletion_wanted(&self) {
        self.core.deletion_wanted.notified().await;
    }

    /// Takes away some items of each logical partition that is being deleted.
    pub async fn delete_keys_step(&self) -> Result<KeysDeleted> {
        let mut step = KeysDeleted::default();
        let compiled = self.compiled();
        let Some(keys) = compiled.deleted_keys() else { return Ok(step) };
        let keys: DeletedKeys = keys.clone();
        // Physical partitions that have used their part in this step: other keys of theirs wait for the next one.
        let mut resting = BTreeSet::new();
        for (logical, DeletedKey { partition_key, lsn }) in keys.iter() {
            let (hashed, _) = write::locate(&compiled, partition_key)?;
            let slot = self.map_now().route(&hashed).clone();
            // The process that has it does this, and says when nothing is left.
            let Some(partition) = self.own_partition(&slot)? else { continue };
            if resting.contains(&slot.range.id) {
                continue;
            }
            let rest = self.delete_some(&slot, &partition, logical, *lsn).await?;
            match rest {
                Some((items, rest)) => {
                    step.items += items;
                    step.rest = step.rest.max(Some(rest));
                    if !rest.is_zero() {
                        resting.insert(slot.range.id);
                    }
                }
                None => step.done.push((partition_key.clone(), *lsn)),
            }
        }
        Ok(step)
    }

    /// Takes away some items of one logical partition. Returns how many, and how long its physical partition has to rest;
    /// nothing if none is left.
    async fn delete_some(
        &self,
        slot: &Slot,
        partition: &Arc<Partition>,
        logical: &Bytes,
        lsn: u64,
    ) -> Result<Option<(u64, Duration)>> {
        let clock = self.clock();
        // The children of a split have the same to do.
        if partition.is_reshaping() {
            return Ok(Some((0, RETRY_REST)));
        }
        let Ok(admitted) = slot.budget().admit(clock.now_ms(), Priority::Low) else {
            return Ok(Some((0, RETRY_REST)));
        };
        let after = self.core.deletion_cursors.lock().get(logical).cloned();
        let found = {
            let (partition, logical) = (partition.clone(), logical.clone());
            let look = tokio::task::spawn_blocking(move || look(&partition, &logical, after.as_ref(), lsn));
            look.await.unwrap_or_else(|failure| {
                let message = format!("looking for deleted items was not finished: {failure}");
                Err(Error::new(ErrorKind::Internal, message))
            })?
        };
        if found.due.is_empty() {
            let mut cursors = self.core.deletion_cursors.lock();
            if !found.is_end {
                cursors.extend(found.last.map(|last| (logical.clone(), last)));
                return Ok(Some((0, Duration::ZERO)));
            }
            // Only a look from the beginning to the end says that nothing is left: a split may have copied meanwhile.
            if cursors.remove(logical).is_some() {
                return Ok(Some((0, Duration::ZERO)));
            }
            return Ok(None);
        }
        let rate = slot.budget().rate().hundredths() / THROUGHPUT_PART;
        let share = RequestUnits::from_hundredths(rate.max(1));
        let charge_max = admitted.left.map(|left| left.min(share));
        let began = clock.elapsed();
        let due = found.due;
        let task = PurgeTask { compiled: self.core.compiled.clone(), due, charge_max };
        let purged = match partition.submit(self.compiled(), Task::Purge(Box::new(task)), None).await {
            Ok(Done::Purged(purged)) => purged,
            Ok(_) => return Err(Error::new(ErrorKind::Internal, "a purge was taken for something else")),
            // Others have taken its place, and have the same to do.
            Err(Unqueued::Retired(_)) => return Ok(Some((0, Duration::ZERO))),
            Err(Unqueued::Failed(error)) => return Err(error),
        };
        let Purged { items, charge, .. } = purged;
        let took = clock.elapsed().saturating_sub(began);
        slot.spend(clock, OperationKind::Write, Priority::Low.into(), Some(logical), charge, took);
        let rest = match admitted.left {
            // None of them could go: a transaction holds the logical partition.
            _ if items == 0 => RETRY_REST,
            Some(_) => Duration::from_millis(charge.hundredths().saturating_mul(1_000) / rate.max(1)),
            None => Duration::ZERO,
        };
        Ok(Some((items, rest)))
    }
}

/// How long is waited where nothing could be done.
const RETRY_REST: Duration = Duration::from_secs(1);

/// Looks for items that are gone and still stored.
fn look(partition: &Arc<Partition>, logical: &Bytes, after: Option<&Bytes>, lsn: u64) -> Result<Found> {
    let snapshot = partition.space().snapshot()?;
    let mut scan = Scan::prefix(Family::Item, logical);
    if let Some(after) = after {
        scan = scan.after(after);
    }
    scan.entries_max = PURGE_STEP_ITEMS;
    let mut found = Found { due: Vec::new(), is_end: false, last: None };
    let mut looked_at = 0;
    loop {
        let page = snapshot.scan(&scan)?;
        for (key, value) in &page.entries {
            let item = Item::open(value.clone())?;
            if item.header().lsn <= lsn {
                found.due.push(DueItem { number: item.header().number, key: key.clone() });
            }
        }
        looked_at += page.entries.len();
        found.last = page.entries.last().map(|(key, _)| key.clone()).or(found.last);
        if !page.more {
            found.is_end = true;
            return Ok(found);
        }
        if !found.due.is_empty() || looked_at >= PURGE_STEP_ENTRIES {
            return Ok(found);
        }
        match &found.last {
            Some(last) => scan = scan.after(last),
            None => return Ok(found),
        }
    }
}
