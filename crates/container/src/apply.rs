//! Applying writes: what each does to the stored state, checked against the store, the groups on their way to it,
//! and the group so far.
//!
//! A refused write leaves no trace in the group. Everything a write changes goes into the one batch of its
//! group: the item, its number, its entry in the change log, its unique keys, the size of its logical partition,
//! its index entries.
//!
//! Not here: queueing and durability (`committer`), reading the body (`write`). In this folder: what a group does, and
//! how to take it back (`effects`), what it goes on from (`applied`), one write (`write`), several as one (`transaction`), the same
//! on a snapshot (`draft`), index entries (`index`), taking items over from another partition (`copy_in`), bringing items
//! to another layout of the index (`reindex`), how much logical partitions hold and may hold (`sizes`), the change log
//! (`log`), dropping from it (`trim`), expired items (`purge`), receipts (`receipts`), unique keys that come and go
//! (`unique`).

use std::cell::RefCell;
use std::sync::Arc;

use armilla_kv::{Family, Result as StoreResult, Snapshot, Space};
use bytes::Bytes;

use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, Position, Result};
use crate::item::Item;
use crate::item::moment::Moment;
use crate::limits::{GROUP_BYTES_MAX, GROUP_RECORDS_MAX};
use crate::partition::Partition;
use crate::throughput::{ReadCost, Work, price};
use crate::unique::UniqueKeys;
use crate::write::task::{Done, Task};

mod applied;
mod copy_in;
mod draft;
mod effects;
mod index;
mod index_effects;
mod log;
mod log_state;
mod purge;
mod reads;
mod receipts;
mod reindex;
mod scope;
mod sizes;
mod transaction;
mod trim;
mod unique;
mod write;

pub(crate) use applied::{Applied, Touched};
pub(crate) use copy_in::{CopiedChange, CopiedKey, CopiedState, CopiedVersion, Origin};
pub(crate) use draft::Draft;
pub(crate) use effects::Effects;
pub(crate) use index_effects::decode_count;
pub(crate) use log_state::LogState;
pub(crate) use reads::Reads;
use scope::Scope;

/// Where a group reads what it did not write.
#[derive(Clone, Copy)]
enum Base<'a> {
    /// The newest state, for the committer.
    Store(&'a dyn Space),
    /// One moment, for the draft of a transaction, with a memory of the items that were read.
    Snapshot { space: &'a dyn Space, snapshot: &'a dyn Snapshot, lsn: u64, reads: &'a RefCell<Reads> },
}

impl Base<'_> {
    fn get(&self, family: Family, key: &[u8]) -> StoreResult<Option<Bytes>> {
        match self {
            Base::Store(space) => space.get(family, key),
            Base::Snapshot { snapshot, .. } => snapshot.get(family, key),
        }
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> StoreResult<Vec<Option<Bytes>>> {
        match self {
            Base::Store(space) => space.multi_get(family, keys),
            Base::Snapshot { snapshot, .. } => snapshot.multi_get(family, keys),
        }
    }

    fn item(&self, key: &Bytes) -> Result<Option<Item>> {
        let Base::Snapshot { space, snapshot, lsn, .. } = self else {
            return self.get(Family::Item, key)?.map(Item::open).transpose();
        };
        // The newest version may be in a cache, and mostly is the one that the snapshot has.
        let newest = space.get(Family::Item, key)?.map(Item::open).transpose()?;
        match newest {
            Some(item) if item.header().lsn <= *lsn => Ok(Some(item)),
            _ => snapshot.get(Family::Item, key)?.map(Item::open).transpose(),
        }
    }

    fn snapshot(&self) -> StoreResult<Box<dyn Snapshot>> {
        match self {
            Base::Store(space) | Base::Snapshot { space, .. } => space.snapshot(),
        }
    }
}

/// A group of writes that will be committed together, or the draft of a transaction.
pub(crate) struct Group<'a> {
    partition: &'a Partition,
    base: Base<'a>,
    applied: &'a Applied,
    /// What the clock showed when the group was begun.
    clock: Moment,
    /// Whether deletes leave entries in the change log also where it keeps the latest versions only: a split driver copies the
    /// partition and would not hear of them.
    logs_removals: bool,
    /// The second by which it is judged whether an item has expired: a transaction's own while it is applied.
    now: u32,
    effects: Effects,
    /// The unique keys of the moment: what was prepared before may know others.
    unique: Arc<UniqueKeys>,
    /// While a transaction or batch is applied.
    scope: Option<Scope>,
}

impl<'a> Group<'a> {
    pub(crate) fn new(partition: &'a Partition, space: &'a dyn Space, applied: &'a Applied) -> Group<'a> {
        let effects = applied.begin();
        let now = partition.now_seconds();
        Group {
            partition,
            base: Base::Store(space),
            applied,
            clock: Moment::now(partition.env.clock.as_ref()),
            logs_removals: partition.is_reshaping(),
            now,
            effects,
            unique: partition.definition.get().unique.clone(),
            scope: None,
        }
    }

    /// Returns what the group does.
    pub(crate) fn finish(self) -> Effects {
        self.effects
    }

    /// Returns whether the group should take no further write.
    pub(crate) fn is_full(&self) -> bool {
        self.effects.index.is_full()
            || self.effects.value_bytes >= GROUP_BYTES_MAX
            || self.effects.items.len() + self.effects.records.len() + self.effects.sizes.len()
                >= GROUP_RECORDS_MAX
    }

    /// Returns whether this is the draft of a transaction, which nothing is written of.
    fn is_draft(&self) -> bool {
        matches!(self.base, Base::Snapshot { .. })
    }

    /// Does one task. On `Err` the group is as it was, but for expired items that were in the way.
    pub(crate) fn apply(&mut self, compiled: &CompiledDefinition, task: Task) -> Result<Done> {
        match task {
            Task::Write(intent) => {
                let written = self.write_by_itself(compiled, intent).map_err(|error| self.refused(error))?;
                Ok(Done::Written(Box::new(written)))
            }
            Task::Batch(batch) => {
                self.check_receipts(&batch.logical, &batch.receipts).map_err(|error| self.refused(error))?;
                Ok(Done::Batch(Box::new(self.batch(compiled, *batch))))
            }
            Task::Transaction(transaction) => {
                let done = self.transaction(compiled, *transaction);
                done.map(Done::Committed).map_err(|error| self.refused(error))
            }
            Task::Reindex => self.reindex(compiled).map(|()| Done::Reindexed),
            Task::Trim => self.trim(compiled).map(Done::Trimmed),
            Task::Purge(task) => Ok(Done::Purged(self.purge(*task))),
            Task::DropReceipts(places) => self.drop_receipts(&places).map(Done::ReceiptsDropped),
            Task::Claim(task) => self.claim(compiled, &task).map(|claimed| Done::Claimed(Box::new(claimed))),
            Task::DropReservations(keys) => {
                self.drop_reservations(keys);
                Ok(Done::ReservationsDropped)
            }
            Task::Barrier => Ok(Done::Passed),
        }
    }

    /// Returns where the partition is once the group so far has landed.
    fn position(&self) -> Position {
        Position { range_id: self.partition.range_id, lsn: self.effects.counters.lsn }
    }

    fn refused(&self, error: Error) -> Error {
        error.at(self.position(), price(&Work::Refused, ReadCost::Single))
    }

    /// Returns an item as it is stored, also where it has expired.
    fn item(&self, key: &Bytes) -> Result<Option<Item>> {
        if let Some(known) = self.effects.items.get(key) {
            return Ok(known.clone());
        }
        if let Some((_, known)) = self.applied.items.get(key) {
            return Ok(known.clone());
        }
        self.base.item(key)
    }

    fn look_up(&self, family: Family, key: &Bytes) -> Result<Option<Bytes>> {
        let named = (family, key.clone());
        if let Some(known) = self.effects.records.get(&named) {
            return Ok(known.clone());
        }
        match self.applied.records.get(&named) {
            Some((_, known)) => Ok(known.clone()),
            None => Ok(self.base.get(family, key)?),
        }
    }

    fn record(&mut self, family: Family, key: Bytes, value: Option<Bytes>) {
        self.effects.set_record(family, key, value);
    }
}
