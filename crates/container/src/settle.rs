//! Settling writes: what each does to the stored state, checked against the store, the groups on their way to it,
//! and the group so far.
//!
//! A refused write leaves no trace in the group. Everything a write changes goes into the one batch of its
//! group: the item, its number, its entry in the change log, its unique keys, the size of its logical partition,
//! its index entries.
//!
//! Not here: queueing and durability (`committer`), reading the body (`write`), the entries themselves (`index` in
//! this folder), bringing items from one layout of the index to another (`reindex` in this folder).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use armilla_index::{self as terms, Leaves};
use armilla_kv::{Batch, Family, Space};
use armilla_value::{PartitionKey, Stored, stored};
use bytes::Bytes;

use crate::committer::{Done, Partition, Task};
use crate::container::Plan;
use crate::counters::{Counters, LogicalSize};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::feed::{Change, ChangeKind};
use crate::index_state::IndexState;
use crate::item::{HEADER_BYTES, Item, ItemHeader, SYSTEM_PROPERTIES};
use crate::keys;
use crate::limits::KNOWN_ENTRY_COUNTS_MAX;
use crate::patch::Patch;
use crate::throughput::{ReadCost, RequestUnits, TermCount, Work, price};
use crate::write::{self, Intent, ItemAddress, Precondition, PreparedItem, WriteMode};

mod index;
mod reindex;

pub(crate) use index::decode_count;
use index::{ById, IndexEffects, NewVersion};

/// Most sizes of logical partitions that a partition keeps in memory while nothing is on its way.
const KNOWN_SIZES_MAX: usize = 1_024;

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

/// What the committer has settled so far: the counters, and what is not durable yet.
pub(crate) struct Settled {
    counters: Counters,
    index: IndexState,
    /// Numbers of entries that were written lately, as they are or will be, each with the group that did.
    counts: ById<(u64, u64)>,
    /// Items on their way to the store, each with the group that wrote it last.
    items: HashMap<Bytes, (u64, Option<Item>)>,
    /// Other records on their way, each with the group that wrote it last.
    records: HashMap<(Family, Bytes), (u64, Option<Bytes>)>,
    /// Sizes of logical partitions that were written lately, as they are or will be.
    sizes: HashMap<Bytes, LogicalSize>,
    groups: usize,
}

/// The keys that a group wrote, to be forgotten once it has landed.
pub(crate) struct Touched {
    items: Vec<Bytes>,
    records: Vec<(Family, Bytes)>,
}

impl Settled {
    pub(crate) fn new(counters: Counters, index: IndexState) -> Settled {
        Settled {
            counters,
            index,
            counts: ById::default(),
            items: HashMap::new(),
            records: HashMap::new(),
            sizes: HashMap::new(),
            groups: 0,
        }
    }

    /// Returns what is known of the index, as it is or will be.
    pub(crate) fn index(&self) -> &IndexState {
        &self.index
    }

    /// Takes over what a group did, which is now on its way to the store.
    pub(crate) fn absorb(&mut self, effects: Effects, group: u64) -> Touched {
        self.counters = effects.counters;
        self.index = effects.index.state;
        self.counts.extend(effects.index.counts.into_iter().map(|(id, count)| (id, (count.now, group))));
        self.groups += 1;
        self.sizes.extend(effects.sizes.into_iter().map(|(key, (size, _))| (key, size)));
        let mut touched = Touched { items: Vec::with_capacity(effects.items.len()), records: Vec::new() };
        for (key, item) in effects.items {
            touched.items.push(key.clone());
            self.items.insert(key, (group, item));
        }
        for (key, value) in effects.records {
            // Only reservations of unique keys and computed entries are ever looked up again.
            if key.0 == Family::Meta {
                touched.records.push(key.clone());
                self.records.insert(key, (group, value));
            }
        }
        touched
    }

    /// Forgets what the store has now.
    pub(crate) fn landed(&mut self, group: u64, touched: Touched) {
        self.groups -= 1;
        for key in touched.items {
            if let Entry::Occupied(entry) = self.items.entry(key)
                && entry.get().0 == group
            {
                entry.remove();
            }
        }
        for key in touched.records {
            if let Entry::Occupied(entry) = self.records.entry(key)
                && entry.get().0 == group
            {
                entry.remove();
            }
        }
        // What is not stored yet must not be forgotten; what is may be.
        if self.counts.len() > KNOWN_ENTRY_COUNTS_MAX {
            self.counts.retain(|_, (_, last)| *last > group);
        }
        // Sizes that are not stored yet must not be forgotten; once all are, any may be.
        if self.groups == 0 && self.sizes.len() > KNOWN_SIZES_MAX {
            self.sizes.clear();
        }
    }
}

/// A group of writes that will be committed together.
pub(crate) struct Group<'a> {
    partition: &'a Partition,
    space: &'a dyn Space,
    settled: &'a Settled,
    ts: u32,
    effects: Effects,
}

/// What a group does to the partition.
pub(crate) struct Effects {
    pub(crate) counters: Counters,
    index: IndexEffects,
    /// Items that the group changed, as they will be after it.
    items: HashMap<Bytes, Option<Item>>,
    /// Sizes that the group looked at, as they will be after it, and whether they will differ.
    sizes: HashMap<Bytes, (LogicalSize, bool)>,
    /// The last word of the group on every other key, so that each is written once.
    records: HashMap<(Family, Bytes), Option<Bytes>>,
    written: bool,
}

impl Effects {
    /// Returns the batch, if there is anything to write.
    /// Returns whether what is known of the index changes.
    pub(crate) fn index_changed(&self) -> bool {
        self.index.is_state_changed()
    }

    /// Makes the batch, the first time it is asked for.
    pub(crate) fn batch(&mut self) -> Option<Batch> {
        if !self.written {
            return None;
        }
        let mut batch = Batch::new();
        self.index.write(&mut batch);
        for (key, item) in &self.items {
            match item {
                Some(item) => batch.put(Family::Item, key.clone(), item.bytes().clone()),
                None => batch.delete(Family::Item, key.clone()),
            }
        }
        for (key, (size, changed)) in &self.sizes {
            match changed {
                true if size.items == 0 => batch.delete(Family::Meta, key.clone()),
                true => batch.put(Family::Meta, key.clone(), size.encode()),
                false => {}
            }
        }
        for ((family, key), value) in &self.records {
            match value {
                Some(value) => batch.put(*family, key.clone(), value.clone()),
                None => batch.delete(*family, key.clone()),
            }
        }
        batch.put(Family::Meta, Bytes::from_static(keys::COUNTERS), self.counters.encode());
        Some(batch)
    }
}

impl<'a> Group<'a> {
    pub(crate) fn new(partition: &'a Partition, space: &'a dyn Space, settled: &'a Settled) -> Group<'a> {
        let ts = u32::try_from(partition.env.clock.now_seconds()).unwrap_or(0);
        let effects = Effects {
            counters: settled.counters.clone(),
            index: IndexEffects::new(settled.index.clone()),
            items: HashMap::new(),
            sizes: HashMap::new(),
            records: HashMap::new(),
            written: false,
        };
        Group { partition, space, settled, ts, effects }
    }

    /// Returns what the group does.
    pub(crate) fn finish(self) -> Effects {
        self.effects
    }

    /// Returns whether the group should take no further write.
    pub(crate) fn is_full(&self) -> bool {
        self.effects.index.is_full()
    }

    /// Does one task. On `Err` the group is as it was.
    pub(crate) fn settle(&mut self, plan: &Plan, task: Task) -> Result<Done> {
        let written = |written| Done::Written(Box::new(written));
        let settled = match task {
            Task::Write(Intent::Put { mode, item, precondition }) => {
                self.put(plan, mode, item, precondition).map(written)
            }
            Task::Write(Intent::Delete { address, precondition }) => {
                self.delete(plan, &address, precondition).map(written)
            }
            Task::Write(Intent::Patch { address, partition_key, patch, precondition }) => {
                self.patch(plan, &address, &partition_key, &patch, precondition).map(written)
            }
            Task::Reindex => return self.reindex(plan).map(|()| Done::Reindexed),
        };
        settled.map_err(|error| {
            let position = Position { range_id: self.partition.range_id, lsn: self.effects.counters.lsn };
            error.at(position, price(&Work::Refused, ReadCost::Single))
        })
    }

    fn put(
        &mut self,
        plan: &Plan,
        mode: WriteMode,
        item: PreparedItem,
        precondition: Precondition,
    ) -> Result<Written> {
        let old = self.item(&item.address.key)?;
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
        let old = self.item(&address.key)?.ok_or_else(|| not_found(address))?;
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
        let item = write::prepare_stored(plan, &self.partition.limits, &encoded, partition_key)?;
        self.write(plan, Some(old), item, patch.len())
    }

    fn delete(&mut self, plan: &Plan, address: &ItemAddress, precondition: Precondition) -> Result<Written> {
        let old = self.item(&address.key)?.ok_or_else(|| not_found(address))?;
        self.check(&old, precondition)?;
        let leaves = terms::leaves(plan.matcher(), old.stored().root());
        let unique = write::unique_keys(plan, old.stored().root());
        let terms = TermCount {
            leaves: leaves.len(),
            entries: unique.len() + terms::composite_entries(plan.matcher(), old.stored().root()),
            partition_key: !plan.partition_key_is_id,
        };
        let size_key = keys::size(&address.logical);
        let mut size = self.size(&size_key)?;
        let number = old.header().number;
        let index_change = self.index_change(number, Some(&old), None)?;

        // From here on nothing fails.
        self.note_repeat(&address.key);
        let layout = self.effects.index.state.layout_of(number).clone();
        self.change_index(index_change, &layout, None);
        let bytes = (address.key.len() + old.bytes().len()) as u64;
        size.items -= 1;
        size.bytes -= bytes;
        self.set_size(size_key, size);
        self.effects.counters.items -= 1;
        self.effects.counters.bytes -= bytes;
        for (constraint, values) in unique.iter().enumerate() {
            self.record(Family::Meta, keys::unique(&address.logical, constraint as u8, values), None);
        }
        let header = *old.header();
        self.record(Family::Number, keys::number(header.number), None);
        let position = self.log(plan, ChangeKind::Delete, Some(&old), header.number, address.key.clone());
        self.effects.items.insert(address.key.clone(), None);
        let work = Work::Delete { item_bytes: old.json_bytes(&self.partition.identity), terms };
        Ok(Written { kind: ChangeKind::Delete, item: old, charge: price(&work, ReadCost::Single), position })
    }

    /// Writes a new version of an item whose preconditions hold.
    fn write(
        &mut self,
        plan: &Plan,
        old: Option<Item>,
        prepared: PreparedItem,
        patch_operations: usize,
    ) -> Result<Written> {
        let PreparedItem { address, mut value, leaves, composites, entries, computed, unique, ttl } =
            prepared;
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
        let old_bytes = old.as_ref().map_or(0, |old| (address.key.len() + old.bytes().len()) as u64);
        let new_bytes = (address.key.len() + value.len()) as u64;
        let size_key = keys::size(&address.logical);
        let mut size = self.size(&size_key)?;
        let size_after = size.bytes - old_bytes + new_bytes;
        let size_max = self.partition.limits.logical_partition_bytes_max;
        if size_after > size_max && new_bytes > old_bytes {
            return Err(Error::new(
                ErrorKind::LogicalPartitionFull,
                format!(
                    "partition key reached maximum size of {}: it holds {} bytes in {} items",
                    readable_size(size_max),
                    size.bytes,
                    size.items
                ),
            ));
        }
        if old.is_none() && self.effects.counters.sequence >> SEQUENCE_BITS != 0 {
            return Err(Error::new(ErrorKind::Unavailable, "the partition has no item numbers left"));
        }

        let number = match &old {
            Some(old) => old.header().number,
            None => item_number(self.partition.range_id, self.effects.counters.sequence + 1),
        };
        let encoded = Stored::open(&value[HEADER_BYTES..])
            .map_err(|_| Error::new(ErrorKind::Internal, "an item just encoded cannot be read"))?;
        let new = NewVersion {
            root: encoded.root(),
            ts: self.ts,
            computed: &computed,
            content: Some((entries, &plan.layout)),
        };
        let index_change = self.index_change(number, old.as_ref(), Some(new))?;

        // From here on nothing fails.
        self.note_repeat(&address.key);
        let layout = self.effects.index.state.layout_of(number).clone();
        self.change_index(index_change, &layout, Some((encoded.root(), &computed)));
        if layout.has_computed {
            let built = self.effects.index.state.is_built(number);
            self.note_computed(plan, built);
        }
        if old.is_none() {
            self.effects.counters.sequence += 1;
            self.effects.counters.items += 1;
            size.items += 1;
            self.record(Family::Number, keys::number(number), Some(address.key.clone()));
        }
        size.bytes = size_after;
        self.set_size(size_key, size);
        self.effects.counters.bytes = self.effects.counters.bytes - old_bytes + new_bytes;
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
        let position = self.log(plan, kind, old.as_ref(), number, address.key.clone());
        let header = ItemHeader { lsn: position.lsn, operation: 0, number, ts: self.ts, ttl };
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
        self.effects.items.insert(address.key, Some(item.clone()));
        Ok(Written { kind, item, charge: price(&work, ReadCost::Single), position })
    }

    /// Gives the write its commit number and writes it into the change log.
    fn log(
        &mut self,
        plan: &Plan,
        kind: ChangeKind,
        old: Option<&Item>,
        number: u64,
        item_key: Bytes,
    ) -> Position {
        self.effects.written = true;
        self.effects.counters.lsn += 1;
        let lsn = self.effects.counters.lsn;
        if let Some(old) = old
            && !plan.keeps_all_versions
        {
            self.record(Family::Feed, keys::feed(old.header().lsn, old.header().operation), None);
        }
        let change = Change {
            kind,
            ts: self.ts,
            number,
            previous_lsn: old.map_or(0, |old| old.header().lsn),
            item_key,
            previous: old.filter(|_| plan.keeps_all_versions).map(|old| old.bytes().clone()),
        };
        self.record(Family::Feed, keys::feed(lsn, 0), Some(change.encode()));
        Position { range_id: self.partition.range_id, lsn }
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
        };
        if holds {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::PreconditionFailed,
            "operation cannot be performed because one of the specified precondition is not met",
        ))
    }

    fn item(&self, key: &Bytes) -> Result<Option<Item>> {
        if let Some(known) = self.effects.items.get(key) {
            return Ok(known.clone());
        }
        if let Some((_, known)) = self.settled.items.get(key) {
            return Ok(known.clone());
        }
        self.space.get(Family::Item, key)?.map(Item::open).transpose()
    }

    fn set_size(&mut self, key: Bytes, size: LogicalSize) {
        let (before, changed) = self.effects.sizes.get(&key).copied().unwrap_or_default();
        self.effects.sizes.insert(key, (size, changed || size != before));
    }

    fn size(&mut self, key: &Bytes) -> Result<LogicalSize> {
        if let Some((known, _)) = self.effects.sizes.get(key) {
            return Ok(*known);
        }
        let size = match self.settled.sizes.get(key) {
            Some(known) => *known,
            None => self.stored_size(key)?,
        };
        self.effects.sizes.insert(key.clone(), (size, false));
        Ok(size)
    }

    fn stored_size(&self, key: &Bytes) -> Result<LogicalSize> {
        match self.space.get(Family::Meta, key)? {
            Some(bytes) => LogicalSize::decode(&bytes),
            None => Ok(LogicalSize::default()),
        }
    }

    fn look_up(&self, family: Family, key: &Bytes) -> Result<Option<Bytes>> {
        let named = (family, key.clone());
        if let Some(known) = self.effects.records.get(&named) {
            return Ok(known.clone());
        }
        match self.settled.records.get(&named) {
            Some((_, known)) => Ok(known.clone()),
            None => Ok(self.space.get(family, key)?),
        }
    }

    fn record(&mut self, family: Family, key: Bytes, value: Option<Bytes>) {
        self.effects.records.insert((family, key), value);
    }
}

/// Returns the number of the item that was the `sequence`th to be born in a partition.
fn item_number(range_id: u32, sequence: u64) -> u64 {
    u64::from(range_id) << SEQUENCE_BITS | sequence
}

fn not_found(address: &ItemAddress) -> Error {
    Error::new(
        ErrorKind::ItemNotFound,
        format!("entity with the specified id does not exist in the system: '{}'", address.id),
    )
}

fn readable_size(bytes: u64) -> String {
    const GIB: u64 = 1 << 30;
    if bytes >= GIB && bytes.is_multiple_of(GIB) {
        format!("{} GB", bytes / GIB)
    } else {
        format!("{bytes} bytes")
    }
}
