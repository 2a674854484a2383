//! Drafting a transaction: its writes applied privately on a snapshot, by the code that will apply them for good.
//!
//! So what a draft refuses and charges is what the committer would, and a draft sees its own writes. Nothing of a
//! draft is ever written: the committer does its writes again.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use armilla_kv::Snapshot;
use armilla_kv::Space;
use armilla_value::PartitionKey;
use bytes::Bytes;

use super::applied::Applied;
use super::effects::Effects;
use super::purge::purges_per_write_max;
use super::reads::Reads;
use super::scope::{Scope, check_load};
use super::write::Revision;
use super::{Base, Group};
use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, ErrorKind, Result};
use crate::feed::ChangeKind;
use crate::index::state::IndexState;
use crate::item::Item;
use crate::item::moment::Moment;
use crate::item::patch::Patch;
use crate::limits::{TRANSACTION_BYTES_MAX, TRANSACTION_ENTRY_OPERATIONS_MAX, TRANSACTION_WRITES_MAX};
use crate::partition::Partition;
use crate::partition::counters::Counters;
use crate::throughput::{ReadCost, RequestUnits, Work};
use crate::write::outcome::Written;
use crate::write::{self, Drafted, Intent, ItemAddress, Precondition, PreparedItem, WriteMode};

/// A transaction that is being drafted.
pub(crate) struct Draft {
    partition: Arc<Partition>,
    space: Arc<dyn Space>,
    compiled: Arc<CompiledDefinition>,
    applied: Applied,
    reads: RefCell<Reads>,
    /// Both are here but while a write is applied; a panic then leaves the draft without them, and useless.
    state: Option<(Effects, Scope)>,
    writes: Vec<Intent>,
    /// The numbers of the items that it created.
    created: HashSet<u64>,
    /// The numbers of the items that were there before it and that it deleted.
    deleted: HashSet<u64>,
    cost: ReadCost,
    /// The second by which it is judged whether an item has expired, the same from the start to the commit.
    now: u32,
}

impl Draft {
    pub(crate) fn new(
        partition: Arc<Partition>,
        space: Arc<dyn Space>,
        compiled: Arc<CompiledDefinition>,
        counters: Counters,
        index: IndexState,
        cost: ReadCost,
        now: u32,
    ) -> Draft {
        let reads = RefCell::new(Reads::new(counters.lsn));
        let applied = Applied::new(counters, index);
        let state = Some((applied.begin(), Scope::default()));
        Draft {
            partition,
            space,
            compiled,
            applied,
            reads,
            state,
            writes: Vec::new(),
            created: HashSet::new(),
            deleted: HashSet::new(),
            cost,
            now,
        }
    }

    /// Does something to the draft.
    fn with<T>(
        &mut self,
        snapshot: &dyn Snapshot,
        change: impl FnOnce(&mut Group<'_>, &CompiledDefinition) -> Result<T>,
    ) -> Result<T> {
        let lost = || Error::new(ErrorKind::Internal, "the transaction is not usable after a panic");
        let (effects, scope) = self.state.take().ok_or_else(lost)?;
        let lsn = self.reads.borrow().lsn();
        let mut group = Group {
            base: Base::Snapshot { space: self.space.as_ref(), snapshot, lsn, reads: &self.reads },
            applied: &self.applied,
            clock: Moment::now(self.partition.env.clock.as_ref()),
            logs_removals: false,
            now: self.now,
            effects,
            unique: self.compiled.unique.clone(),
            scope: Some(scope),
            partition: &self.partition,
        };
        let done = change(&mut group, &self.compiled);
        let Group { effects, scope, .. } = group;
        self.state = Some((effects, scope.unwrap_or_default()));
        done
    }

    /// Returns an item as the transaction sees it, its own writes included.
    pub(crate) fn item(&mut self, snapshot: &dyn Snapshot, key: &Bytes) -> Result<Option<Item>> {
        self.with(snapshot, |group, compiled| group.live_item(compiled, key))
    }

    /// The same, charged.
    pub(crate) fn read(&mut self, snapshot: &dyn Snapshot, key: &Bytes) -> Result<Option<Item>> {
        let cost = self.cost;
        self.with(snapshot, |group, compiled| {
            let item = group.live_item(compiled, key)?;
            let work = match &item {
                Some(item) => Work::Read { item_bytes: item.json_bytes(&group.partition.identity) },
                None => Work::ReadNothing,
            };
            if let Some(scope) = &mut group.scope {
                scope.add(&work, cost);
                scope.known.insert(key.clone());
            }
            Ok(item)
        })
    }

    /// Makes what a version needs that is shown before it is committed.
    pub(crate) fn drafted(&self) -> Result<Drafted> {
        self.partition.draft_version()
    }

    pub(crate) fn put(
        &mut self,
        snapshot: &dyn Snapshot,
        mode: WriteMode,
        mut item: PreparedItem,
        precondition: Precondition,
    ) -> Result<Written> {
        let copy = item.clone();
        let written =
            self.write(snapshot, |group, compiled| group.put(compiled, mode, copy, precondition))?;
        if let Some(drafted) = &mut item.drafted {
            drafted.moment = written.item.moment();
            if written.kind == ChangeKind::Create {
                drafted.number = Some(written.item.header().number);
                self.created.insert(written.item.header().number);
            }
        }
        // Preconditions were about versions that may be this transaction's own, and what they held of is checked.
        self.writes.push(Intent::Put { mode, item, precondition });
        Ok(written)
    }

    /// Changes parts of an item. What is committed is the item that came out.
    pub(crate) fn patch(
        &mut self,
        snapshot: &dyn Snapshot,
        address: &ItemAddress,
        partition_key: &PartitionKey,
        patch: &Patch,
        precondition: Precondition,
    ) -> Result<Written> {
        let drafted = Some(self.drafted()?);
        let mut patched = None;
        let written = self.write(snapshot, |group, compiled| {
            let (old, item) =
                group.patched(compiled, address, partition_key, patch, precondition, drafted)?;
            patched = Some(item.clone());
            group.write(compiled, Some(old), item, Revision::Parts(patch.len()))
        })?;
        let mut item = patched.expect("a patch that was written was prepared");
        if let Some(drafted) = &mut item.drafted {
            drafted.moment = written.item.moment();
        }
        self.writes.push(Intent::Put { mode: WriteMode::Update, item, precondition });
        Ok(written)
    }

    pub(crate) fn delete(
        &mut self,
        snapshot: &dyn Snapshot,
        address: ItemAddress,
        precondition: Precondition,
    ) -> Result<Written> {
        let written =
            self.write(snapshot, |group, compiled| group.delete(compiled, &address, precondition))?;
        self.writes.push(Intent::Delete { address, precondition });
        let number = written.item.header().number;
        if !self.created.remove(&number) {
            self.deleted.insert(number);
        }
        Ok(written)
    }

    fn write(
        &mut self,
        snapshot: &dyn Snapshot,
        write: impl FnOnce(&mut Group<'_>, &CompiledDefinition) -> Result<Written>,
    ) -> Result<Written> {
        let written = self.with(snapshot, |group, compiled| {
            let before = group.scope.as_ref().map(|scope| (scope.writes, scope.tally));
            group.effects.mark();
            let written = write(group, compiled).and_then(|written| {
                let writes = group.scope.as_ref().map_or(0, |scope| scope.writes);
                check_load(writes, group.effects.load(), TRANSACTION_ENTRY_OPERATIONS_MAX)?;
                Ok(written)
            });
            match &written {
                Ok(_) => group.effects.keep(),
                Err(_) => {
                    group.effects.roll_back();
                    if let (Some(scope), Some((writes, tally))) = (&mut group.scope, before) {
                        (scope.writes, scope.tally) = (writes, tally);
                    }
                }
            }
            written
        });
        written.map_err(|error| {
            // The items that hold the unique key, or fill the partition, are not among those that were noted.
            if matches!(error.kind, ErrorKind::UniqueKeyTaken | ErrorKind::LogicalPartitionFull) {
                self.see_whole();
            }
            self.refuse(error)
        })
    }

    /// Charges a refused write.
    pub(crate) fn refuse(&mut self, error: Error) -> Error {
        let error = write::refused(error);
        if let Some((_, scope)) = &mut self.state
            && error.charge != RequestUnits::ZERO
        {
            scope.add(&Work::Refused, ReadCost::Single);
        }
        error
    }

    /// Takes note that the transaction may have seen anything of its logical partition.
    pub(crate) fn see_whole(&mut self) {
        self.reads.borrow_mut().see_whole();
    }

    /// Returns the key of an item that this transaction created, by its number.
    pub(crate) fn own_key(&self, number: u64) -> Option<Bytes> {
        let (effects, _) = self.state.as_ref()?;
        let has_number =
            |item: &Option<Item>| item.as_ref().is_some_and(|item| item.header().number == number);
        effects.items.iter().find(|(_, item)| has_number(item)).map(|(key, _)| key.clone())
    }

    /// Returns the numbers of the items that were there before this transaction and that it deleted.
    pub(crate) fn deleted(&self) -> &HashSet<u64> {
        &self.deleted
    }

    /// Returns whether no further write should be begun. There is room left for one of an ordinary size.
    pub(crate) fn is_full(&self) -> bool {
        const FULL_PERCENT: usize = 75;
        let Some((effects, scope)) = &self.state else { return true };
        let load = effects.load();
        usize::from(scope.writes) + purges_per_write_max(&self.compiled) >= TRANSACTION_WRITES_MAX
            || load.entry_operations >= TRANSACTION_ENTRY_OPERATIONS_MAX / 100 * FULL_PERCENT
            || load.bytes >= TRANSACTION_BYTES_MAX / 100 * FULL_PERCENT
    }

    /// Returns how many further writes there is room for in any case, if they are of an ordinary size.
    pub(crate) fn writes_left(&self) -> usize {
        const FAR_PERCENT: usize = 40;
        let Some((effects, scope)) = &self.state else { return 0 };
        let load = effects.load();
        let is_far = load.entry_operations < TRANSACTION_ENTRY_OPERATIONS_MAX / 100 * FAR_PERCENT
            && load.bytes < TRANSACTION_BYTES_MAX / 100 * FAR_PERCENT;
        let left = TRANSACTION_WRITES_MAX.saturating_sub(scope.writes.into());
        if is_far { left / (1 + purges_per_write_max(&self.compiled)) } else { 0 }
    }

    pub(crate) fn charge(&self) -> RequestUnits {
        self.state.as_ref().map_or(RequestUnits::ZERO, |(_, scope)| scope.charge())
    }

    /// Returns the second by which it is judged whether an item has expired.
    pub(crate) fn now(&self) -> u32 {
        self.now
    }

    /// Returns the writes, and what was read.
    pub(crate) fn finish(self) -> (Vec<Intent>, Reads) {
        (self.writes, self.reads.into_inner())
    }
}
