//! Settling writes: what each does to the stored state, checked against the store, the groups on their way to it,
//! and the group so far.
//!
//! A refused write leaves no trace in the group. Everything a write changes goes into the one batch of its
//! group: the item, its number, its entry in the change log, its unique keys, the size of its logical partition,
//! its index entries.
//!
//! Not here: queueing and durability (`committer`), reading the body (`write`). In this folder: what a group does, and
//! how to take it back (`effects`), what it goes on from (`settled`), several writes as one (`transaction`), the same
//! on a snapshot (`draft`), index entries (`index`), taking items over from another partition (`adopt`), bringing items
//! to another layout of the index (`reindex`), how much logical partitions hold and may hold (`sizes`), the change log
//! (`log`), dropping from it (`trim`), items whose time is up (`purge`).

use std::cell::RefCell;

use armilla_index::{self as terms, Leaves};
use armilla_kv::{Family, Result as StoreResult, Snapshot, Space};
use armilla_value::{PartitionKey, Stored, stored};
use bytes::Bytes;

use crate::committer::{Done, Partition, Task};
use crate::container::Plan;
use crate::counters::SizeChange;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::feed::ChangeKind;
use crate::item::{Item, ItemHeader, SYSTEM_PROPERTIES};
use crate::keys::{self, LogicalKey};
use crate::limits::{GROUP_BYTES_MAX, GROUP_RECORDS_MAX};
use crate::moment::Moment;
use crate::patch::Patch;
use crate::throughput::{ReadCost, RequestUnits, Saving, TermCount, Work, measure, price};
use crate::write::{self, Drafted, Intent, ItemAddress, Precondition, PreparedItem, WriteMode};

mod adopt;
mod draft;
mod effects;
mod index;
mod log;
mod purge;
mod reindex;
mod settled;
mod sizes;
mod transaction;
mod trim;

pub(crate) use adopt::{Adopted, AdoptedChange, AdoptedState, AdoptedVersion, Origin};
pub(crate) use draft::{Draft, Reads};
pub(crate) use effects::Effects;
use index::NewVersion;
pub(crate) use index::decode_count;
pub(crate) use log::LogState;
pub(crate) use purge::{DueItem, PurgeTask, Purged};
pub(crate) use settled::{Settled, Touched};
use transaction::Scope;
pub(crate) use transaction::{BatchTask, Step, TransactionTask};
pub(crate) use trim::Trimmed;

/// Bits of an item number that count inside the partition of its birth.
const SEQUENCE_BITS: u32 = 40;

/// What a write did.
#[derive(Clone)]
pub struct Written {
    /// What happened to the item.
    pub kind: ChangeKind,
    /// The item as it is now; for a delete, as it was.
    pub item: Item,
    /// What it cost.
    pub charge: RequestUnits,
    /// Where, and with which commit.
    pub position: Position,
}

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
    settled: &'a Settled,
    /// What the clock showed when the group was begun.
    clock: Moment,
    /// Whether deletes leave entries in the change log also where it keeps the latest versions only: somebody is copying the
    /// partition and would not hear of them.
    logs_removals: bool,
    /// The second by which it is judged whether an item's time is up: a transaction's own while it is settled.
    now: u32,
    effects: Effects,
    /// While a transaction or batch is settled.
    scope: Option<Scope>,
}

impl<'a> Group<'a> {
    pub(crate) fn new(partition: &'a Partition, space: &'a dyn Space, settled: &'a Settled) -> Group<'a> {
        let effects = Effects::new(settled);
        let now = partition.now_seconds();
        Group {
            partition,
            base: Base::Store(space),
            settled,
            clock: Moment::now(partition.env.clock.as_ref()),
            logs_removals: partition.is_reshaping(),
            now,
            effects,
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

    /// Does one task. On `Err` the group is as it was, but for items whose time was up and that were in the way.
    pub(crate) fn settle(&mut self, plan: &Plan, task: Task) -> Result<Done> {
        match task {
            Task::Write(intent) => {
                let written = self.write_by_itself(plan, intent).map_err(|error| self.refused(error))?;
                Ok(Done::Written(Box::new(written)))
            }
            Task::Batch(batch) => Ok(Done::Batch(Box::new(self.batch(plan, *batch)))),
            Task::Transaction(transaction) => {
                let done = self.transaction(plan, *transaction);
                done.map(Done::Committed).map_err(|error| self.refused(error))
            }
            Task::Reindex => self.reindex(plan).map(|()| Done::Reindexed),
            Task::Trim => self.trim(plan).map(Done::Trimmed),
            Task::Purge(task) => Ok(Done::Purged(self.purge(*task))),
            Task::Barrier => Ok(Done::Passed),
        }
    }

    fn write_by_itself(&mut self, plan: &Plan, intent: Intent) -> Result<Written> {
        match intent {
            Intent::Put { mode, item, precondition } => self.put(plan, mode, item, precondition),
            Intent::Delete { address, precondition } => self.delete(plan, &address, precondition),
            Intent::Patch { address, partition_key, patch, precondition } => {
                self.patch(plan, &address, &partition_key, &patch, precondition)
            }
        }
    }

    /// Returns where the partition is once the group so far has landed.
    fn position(&self) -> Position {
        Position { range_id: self.partition.range_id, lsn: self.effects.counters.lsn }
    }

    fn refused(&self, error: Error) -> Error {
        error.at(self.position(), price(&Work::Refused, ReadCost::Single))
    }

    fn put(
        &mut self,
        plan: &Plan,
        mode: WriteMode,
        item: PreparedItem,
        precondition: Precondition,
    ) -> Result<Written> {
        let old = match mode {
            WriteMode::Replace => self.live_item(plan, &item.address.key)?,
            WriteMode::Create | WriteMode::Upsert => self.live_item_or_room(plan, &item.address)?,
        };
        match (mode, &old) {
            (WriteMode::Replace, None) => return Err(not_found(&item.address)),
            (WriteMode::Create, Some(_)) if precondition != Precondition::Missing => {
                return Err(Error::new(
                    ErrorKind::ItemExists,
                    "entity with the specified id already exists in the system",
                ));
            }
            _ => {}
        }
        if let Some(old) = &old {
            self.check(old, precondition)?;
        }
        self.write(plan, old, item, 0)
    }

    fn patch(
        &mut self,
        plan: &Plan,
        address: &ItemAddress,
        partition_key: &PartitionKey,
        patch: &Patch,
        precondition: Precondition,
    ) -> Result<Written> {
        let old = self.live_item(plan, &address.key)?.ok_or_else(|| not_found(address))?;
        self.check(&old, precondition)?;
        if !patch.applies_to(&old) {
            return Err(Error::new(
                ErrorKind::PreconditionFailed,
                "operation cannot be performed because the condition of the patch does not hold for the item",
            ));
        }
        patch.check_targets(&plan.definition.partition_key.paths)?;
        let patched = patch.apply(old.stored().root().to_value())?;
        let encoded = stored::encode_value(&patched, &SYSTEM_PROPERTIES)
            .map_err(|error| Error::invalid(format!("the patched item is not valid: {error}")))?;
        let item = write::prepare_stored(plan, &self.partition.limits, &encoded, partition_key, None)?;
        self.write(plan, Some(old), item, patch.len())
    }

    fn delete(&mut self, plan: &Plan, address: &ItemAddress, precondition: Precondition) -> Result<Written> {
        let old = self.live_item(plan, &address.key)?.ok_or_else(|| not_found(address))?;
        self.check(&old, precondition)?;
        let work = self.work_of_delete(plan, &old);
        let position = self.remove(plan, ChangeKind::Delete, &address.logical, &address.key, &old)?;
        let charge = self.charge(&work, &address.key);
        Ok(Written { kind: ChangeKind::Delete, item: old, charge, position })
    }

    /// Returns what it takes to delete an item.
    fn work_of_delete(&self, plan: &Plan, old: &Item) -> Work {
        let root = old.stored().root();
        let terms = TermCount {
            leaves: terms::leaves(plan.matcher(), root).len(),
            entries: plan.definition.unique_keys.len() + terms::composite_entries(plan.matcher(), root),
            partition_key: !plan.partition_key_is_id,
        };
        Work::Delete { item_bytes: old.json_bytes(&self.partition.identity), terms }
    }

    /// Takes an item away with all that is stored about it. A failure leaves everything as it was.
    fn remove(
        &mut self,
        plan: &Plan,
        kind: ChangeKind,
        logical: &LogicalKey,
        key: &Bytes,
        old: &Item,
    ) -> Result<Position> {
        let header = *old.header();
        let ts = self.partition.next_moment(self.clock, Some(old))?.second();
        let index_change = self.index_change(header.number, Some(old), None)?;
        let change = SizeChange::of_item(key, Some(old.bytes().len()), None, index_change.growth());
        let resized = self.resized(keys::size(logical), change)?;

        // From here on nothing fails.
        self.note_repeat(key);
        let layout = self.effects.index.state.layout_of(header.number).clone();
        self.change_index(index_change, &layout, None);
        for (constraint, values) in write::unique_keys(plan, old.stored().root()).iter().enumerate() {
            self.record(Family::Meta, keys::unique(logical, constraint as u8, values), None);
        }
        self.record(Family::Number, keys::number(header.number), None);
        self.change_expiry(Some(&header), None);
        let (position, _) = self.log(plan, kind, Some(old), header.number, key.clone(), ts);
        self.resize(resized, Some(position.lsn));
        self.effects.set_item(key.clone(), None);
        Ok(position)
    }

    /// Writes a new version of an item whose preconditions hold.
    fn write(
        &mut self,
        plan: &Plan,
        old: Option<Item>,
        prepared: PreparedItem,
        patch_operations: usize,
    ) -> Result<Written> {
        let PreparedItem { address, mut value, leaves, composites, entries, computed, unique, ttl, drafted } =
            prepared;
        let entries_before = self.effects.index.all().0;
        let old_unique = match &old {
            Some(old) => write::unique_keys(plan, old.stored().root()),
            None => Vec::new(),
        };
        for (constraint, values) in unique.iter().enumerate() {
            if old_unique.get(constraint) == Some(values) {
                continue;
            }
            let key = keys::unique(&address.logical, constraint as u8, values);
            if let Some(holder) = self.look_up(Family::Meta, &key)?
                && holder != address.id.as_bytes()
                && !self.make_room_of(plan, &address.logical, &holder, entries_before)?
            {
                return Err(Error::new(
                    ErrorKind::UniqueKeyTaken,
                    format!(
                        "unique index constraint violation: another item of the logical partition has the \
                         same values of unique key {}",
                        constraint + 1
                    ),
                ));
            }
        }
        let number = match (&old, drafted.and_then(|drafted| drafted.number)) {
            (Some(old), _) => old.header().number,
            (None, Some(number)) => number,
            (None, None) => self.partition.reserve_number()?,
        };
        let stamp = drafted.map(|drafted| drafted.stamp);
        let moment = self.moment(old.as_ref(), drafted)?;
        let ts = moment.second();
        let mut header = ItemHeader {
            lsn: 0,
            operation: 0,
            number,
            ts,
            second_ticks: Some(moment.ticks_of_second()),
            ttl,
            stamp,
            shown_operation: None,
        };
        let encoded = Stored::open(&value[header.bytes_len()..])
            .map_err(|_| Error::new(ErrorKind::Internal, "an item just encoded cannot be read"))?;
        let new = NewVersion {
            root: encoded.root(),
            ts,
            computed: &computed,
            content: Some((entries, &plan.layout)),
        };
        let index_change = self.index_change(number, old.as_ref(), Some(new))?;
        let old_bytes = old.as_ref().map(|old| old.bytes().len());
        let change = SizeChange::of_item(&address.key, old_bytes, Some(value.len()), index_change.growth());
        let resized = self.resized(keys::size(&address.logical), change)?;
        self.check_room(plan, &resized)?;

        // From here on nothing fails.
        self.note_repeat(&address.key);
        let layout = self.effects.index.state.layout_of(number).clone();
        self.change_index(index_change, &layout, Some((encoded.root(), &computed)));
        if layout.has_computed {
            let built = self.effects.index.state.is_built(number);
            self.note_computed(plan, built);
        }
        self.use_number(number);
        if let Some(stamp) = stamp {
            self.use_number(stamp.number());
        }
        if old.is_none() {
            self.record(Family::Number, keys::number(number), Some(address.key.clone()));
        }
        self.change_expiry(old.as_ref().map(Item::header), Some(&header));
        self.effects.note_ts(ts);
        let mut changed_entries = 0;
        for constraint in 0..unique.len().max(old_unique.len()) {
            let (before, after) = (old_unique.get(constraint), unique.get(constraint));
            if before == after {
                continue;
            }
            if let Some(values) = before {
                changed_entries += 1;
                self.record(Family::Meta, keys::unique(&address.logical, constraint as u8, values), None);
            }
            if let Some(values) = after {
                changed_entries += 1;
                let key = keys::unique(&address.logical, constraint as u8, values);
                self.record(Family::Meta, key, Some(Bytes::copy_from_slice(address.id.as_bytes())));
            }
        }
        let kind = if old.is_some() { ChangeKind::Replace } else { ChangeKind::Create };
        let (position, operation) = self.log(plan, kind, old.as_ref(), number, address.key.clone(), ts);
        self.resize(resized, Some(position.lsn));
        self.effects.value_bytes += value.len();
        header.lsn = position.lsn;
        header.operation = operation;
        header.write(&mut value);
        let item = Item::open(value.into())?;
        let new_bytes = item.json_bytes(&self.partition.identity);
        let work = match &old {
            None => Work::Create {
                item_bytes: new_bytes,
                terms: TermCount {
                    leaves: leaves.len(),
                    entries: changed_entries + composites.len(),
                    partition_key: !plan.partition_key_is_id,
                },
            },
            Some(old) => {
                let root = old.stored().root();
                let old_leaves = terms::leaves(plan.matcher(), root);
                let (removed, added) = Leaves::diff(&old_leaves, &leaves);
                let old_composites = terms::composite_terms(plan.matcher(), root);
                let (composites_removed, composites_added) = Leaves::diff(&old_composites, &composites);
                Work::Replace {
                    old_bytes: old.json_bytes(&self.partition.identity),
                    new_bytes,
                    terms: TermCount {
                        leaves: removed + added,
                        entries: changed_entries + composites_removed + composites_added,
                        partition_key: false,
                    },
                    patch_operations,
                }
            }
        };
        let charge = self.charge(&work, &address.key);
        self.effects.set_item(address.key, Some(item.clone()));
        Ok(Written { kind, item, charge, position })
    }

    /// Returns the moment of a new version: the one that was drafted, unless it may not follow what it replaces, which the
    /// draft finds out and its commit then need not.
    fn moment(&self, old: Option<&Item>, drafted: Option<Drafted>) -> Result<Moment> {
        match drafted {
            Some(drafted) if old.is_none_or(|old| drafted.moment.may_follow(old.moment())) => {
                Ok(drafted.moment)
            }
            _ => self.partition.next_moment(self.clock, old),
        }
    }

    /// Returns what a write costs, and takes note that the transaction knows the item from now on.
    fn charge(&mut self, work: &Work, key: &Bytes) -> RequestUnits {
        let Some(scope) = &mut self.scope else { return price(work, ReadCost::Single) };
        let saving = if scope.known.insert(key.clone()) { Saving::Shared } else { Saving::Known };
        let tally = measure(work, ReadCost::Single, saving);
        scope.tally += tally;
        tally.total()
    }

    /// Sees to it that a number is never given again.
    fn use_number(&mut self, number: u64) {
        if let Some(sequence) = sequence_in(self.partition.range_id, number) {
            self.effects.counters.sequence = self.effects.counters.sequence.max(sequence);
        }
    }

    /// Gives the write its place in the order of commits and writes it into the change log. The writes of a
    /// transaction have one commit number, and count inside it.
    fn log(
        &mut self,
        plan: &Plan,
        kind: ChangeKind,
        old: Option<&Item>,
        number: u64,
        item_key: Bytes,
        ts: u32,
    ) -> (Position, u16) {
        self.effects.written = true;
        let operation = match &mut self.scope {
            None => 0,
            Some(scope) => {
                scope.writes += 1;
                scope.writes - 1
            }
        };
        if operation == 0 {
            self.effects.counters.lsn += 1;
        }
        let position = self.position();
        let change = log::change_of(kind, ts, number, item_key, old);
        self.log_change(plan.keeps_all_versions, (position.lsn, operation), change, old);
        (position, operation)
    }

    /// Takes note if an item is written that this group has written before.
    fn note_repeat(&mut self, key: &Bytes) {
        if self.effects.items.contains_key(key) {
            self.index_repeats();
        }
    }

    fn check(&self, old: &Item, precondition: Precondition) -> Result<()> {
        let holds = match precondition {
            Precondition::None | Precondition::Exists => true,
            Precondition::Missing => false,
            Precondition::Version(etag) => etag == Some(old.etag(&self.partition.identity)),
            Precondition::WrittenAt(moment) => moment == old.moment(),
        };
        if holds {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::PreconditionFailed,
            "operation cannot be performed because one of the specified precondition is not met",
        ))
    }

    /// Returns an item as it is stored, also where its time is up.
    fn item(&self, key: &Bytes) -> Result<Option<Item>> {
        if let Some(known) = self.effects.items.get(key) {
            return Ok(known.clone());
        }
        if let Some((_, known)) = self.settled.items.get(key) {
            return Ok(known.clone());
        }
        self.base.item(key)
    }

    fn look_up(&self, family: Family, key: &Bytes) -> Result<Option<Bytes>> {
        let named = (family, key.clone());
        if let Some(known) = self.effects.records.get(&named) {
            return Ok(known.clone());
        }
        match self.settled.records.get(&named) {
            Some((_, known)) => Ok(known.clone()),
            None => Ok(self.base.get(family, key)?),
        }
    }

    fn record(&mut self, family: Family, key: Bytes, value: Option<Bytes>) {
        self.effects.set_record(family, key, value);
    }
}

/// Returns the number that a partition gives as its `sequence`th; `None` once it has no more.
pub(crate) fn item_number(range_id: u32, sequence: u64) -> Option<u64> {
    (sequence >> SEQUENCE_BITS == 0).then_some(u64::from(range_id) << SEQUENCE_BITS | sequence)
}

/// Returns which number of a partition a number is, if it was given there.
pub(crate) fn sequence_in(range_id: u32, number: u64) -> Option<u64> {
    let is_given_here = number >> SEQUENCE_BITS == u64::from(range_id);
    is_given_here.then_some(number & ((1 << SEQUENCE_BITS) - 1))
}

fn not_found(address: &ItemAddress) -> Error {
    Error::new(
        ErrorKind::ItemNotFound,
        format!("entity with the specified id does not exist in the system: '{}'", address.id),
    )
}
