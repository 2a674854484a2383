//! One write: what it finds, what it demands, and everything that changes with it.

use std::sync::Arc;

use armilla_index::{self as terms, Leaves};
use armilla_kv::Family;
use armilla_value::{PartitionKey, Stored, stored};
use bytes::Bytes;

use super::Group;
use super::index::NewVersion;
use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::feed::ChangeKind;
use crate::item::keys::{self, LogicalKey};
use crate::item::moment::Moment;
use crate::item::number::sequence_in;
use crate::item::patch::Patch;
use crate::item::{Item, ItemHeader, SYSTEM_PROPERTIES, new_header_bytes};
use crate::partition::counters::SizeChange;
use crate::throughput::{ReadCost, RequestUnits, Saving, TermCount, Work, measure, price};
use crate::write::outcome::Written;
use crate::write::{self, Drafted, Intent, ItemAddress, Precondition, PreparedItem, WriteMode};

/// How a new version of an item came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Revision {
    /// All of it was given.
    Whole,
    /// Parts of the one before were changed: by so many operations of a patch, where it was one.
    Parts(usize),
}

impl Revision {
    fn operations(self) -> usize {
        match self {
            Revision::Whole => 0,
            Revision::Parts(operations) => operations,
        }
    }
}

impl Group<'_> {
    pub(super) fn write_by_itself(
        &mut self,
        compiled: &CompiledDefinition,
        intent: Intent,
    ) -> Result<Written> {
        match intent {
            Intent::Put { mode, item, precondition } => self.put(compiled, mode, item, precondition),
            Intent::Rename { from, item, precondition } => self.rename(compiled, &from, item, precondition),
            Intent::Delete { address, precondition } => self.delete(compiled, &address, precondition),
            Intent::Patch { address, partition_key, patch, precondition } => {
                self.patch(compiled, &address, &partition_key, &patch, precondition)
            }
        }
    }

    pub(super) fn put(
        &mut self,
        compiled: &CompiledDefinition,
        mode: WriteMode,
        item: PreparedItem,
        precondition: Precondition,
    ) -> Result<Written> {
        let old = match mode {
            WriteMode::Replace | WriteMode::Update => self.live_item(compiled, &item.address.key)?,
            WriteMode::Create | WriteMode::Upsert => self.live_item_or_room(compiled, &item.address)?,
        };
        match (mode, &old) {
            (WriteMode::Replace | WriteMode::Update, None) => return Err(not_found(&item.address)),
            (WriteMode::Create, Some(_)) if precondition != Precondition::Missing => {
                return Err(Error::new(
                    ErrorKind::ItemExists,
                    "entity with the specified id already exists in the system",
                ));
            }
            _ => {}
        }
        let mut item = item;
        if let Some(old) = &old {
            self.check(old, precondition)?;
            if item.keeps_types {
                item = write::keep_types(compiled, &self.partition.limits, old, item)?;
            }
        }
        let how = if mode == WriteMode::Update { Revision::Parts(0) } else { Revision::Whole };
        self.write(compiled, old, item, how)
    }

    /// Replaces an item by one with another id: the one goes, the other comes, or nothing happens.
    fn rename(
        &mut self,
        compiled: &CompiledDefinition,
        from: &ItemAddress,
        item: PreparedItem,
        precondition: Precondition,
    ) -> Result<Written> {
        // In a batch, who takes everything back takes this back, too.
        let is_alone = self.scope.is_none();
        if is_alone {
            self.effects.mark();
        }
        let renamed = self.delete(compiled, from, precondition).and_then(|deleted| {
            let item = match item.keeps_types {
                true => write::keep_types(compiled, &self.partition.limits, &deleted.item, item)?,
                false => item,
            };
            let created = self.put(compiled, WriteMode::Create, item, Precondition::None)?;
            let charge = deleted.charge + created.charge;
            Ok(Written { kind: ChangeKind::Replace, charge, ..created })
        });
        match &renamed {
            _ if !is_alone => {}
            Ok(_) => self.effects.keep(),
            Err(_) => self.effects.roll_back(),
        }
        renamed
    }

    fn patch(
        &mut self,
        compiled: &CompiledDefinition,
        address: &ItemAddress,
        partition_key: &PartitionKey,
        patch: &Patch,
        precondition: Precondition,
    ) -> Result<Written> {
        let (old, item) = self.patched(compiled, address, partition_key, patch, precondition, None)?;
        self.write(compiled, Some(old), item, Revision::Parts(patch.len()))
    }

    /// Returns an item that may be patched, and what it becomes.
    pub(super) fn patched(
        &mut self,
        compiled: &CompiledDefinition,
        address: &ItemAddress,
        partition_key: &PartitionKey,
        patch: &Patch,
        precondition: Precondition,
        drafted: Option<Drafted>,
    ) -> Result<(Item, PreparedItem)> {
        let old = self.live_item(compiled, &address.key)?.ok_or_else(|| not_found(address))?;
        self.check(&old, precondition)?;
        if !patch.applies_to(&old) {
            return Err(Error::new(
                ErrorKind::PreconditionFailed,
                "operation cannot be performed because the condition of the patch does not hold for the item",
            ));
        }
        patch.check_targets(&compiled.definition.partition_key.paths)?;
        let is_typed = compiled.definition.has_extended_types();
        let patched = patch.apply(old.stored().root().to_value(), is_typed)?;
        let encoded = stored::encode_value(&patched, &SYSTEM_PROPERTIES)
            .map_err(|error| Error::invalid(format!("the patched item is not valid: {error}")))?;
        let item = write::prepare_stored(compiled, &self.partition.limits, &encoded, partition_key, drafted)?;
        Ok((old, item))
    }

    pub(super) fn delete(
        &mut self,
        compiled: &CompiledDefinition,
        address: &ItemAddress,
        precondition: Precondition,
    ) -> Result<Written> {
        let old = self.live_item(compiled, &address.key)?.ok_or_else(|| not_found(address))?;
        self.check(&old, precondition)?;
        let work = self.work_of_delete(compiled, &old);
        let position = self.remove(compiled, ChangeKind::Delete, &address.logical, &address.key, &old)?;
        let charge = self.charge(&work, &address.key);
        Ok(Written { kind: ChangeKind::Delete, item: old, charge, position })
    }

    /// Returns what it takes to delete an item.
    pub(super) fn work_of_delete(&self, compiled: &CompiledDefinition, old: &Item) -> Work {
        let root = old.stored().root();
        let terms = TermCount {
            leaves: terms::leaves(compiled.matcher(), root).len(),
            entries: self.unique.count(root) + terms::composite_entries(compiled.matcher(), root),
            partition_key: !compiled.partition_key_is_id,
        };
        Work::Delete { item_bytes: old.json_bytes(&self.partition.identity), terms }
    }

    /// Takes an item away with all that is stored about it. A failure leaves everything as it was.
    pub(super) fn remove(
        &mut self,
        compiled: &CompiledDefinition,
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
        let given_back = self.given_back(logical, key, &self.unique.values(old.stored().root()))?;

        // From here on nothing fails.
        self.note_repeat(key);
        let layout = self.effects.index.state.layout_of(header.number).clone();
        self.change_index(index_change, &layout, None);
        for reservation in given_back {
            self.record(Family::Meta, reservation, None);
        }
        self.record(Family::Number, keys::number(header.number), None);
        self.change_expiry(Some(&header), None);
        let position = self.log_removal(compiled, kind, key.clone(), old, ts);
        self.resize(resized, Some(position.lsn));
        self.effects.set_item(key.clone(), None);
        Ok(position)
    }

    /// Writes a new version of an item whose preconditions hold.
    pub(super) fn write(
        &mut self,
        compiled: &CompiledDefinition,
        old: Option<Item>,
        prepared: PreparedItem,
        revision: Revision,
    ) -> Result<Written> {
        let PreparedItem {
            address,
            mut value,
            leaves,
            composites,
            entries,
            computed,
            unique,
            ttl,
            drafted,
            ..
        } = prepared;
        let entries_before = self.effects.index.all().0;
        let unique = match Arc::ptr_eq(&self.unique, &compiled.unique) {
            true => unique,
            // Keys came or went since it was prepared.
            false => {
                let content = Stored::open(&value[new_header_bytes(drafted.is_some())..])
                    .map_err(|_| Error::new(ErrorKind::Internal, "an item just encoded cannot be read"))?;
                self.unique.values(content.root())
            }
        };
        let old_unique = match &old {
            Some(old) => self.unique.values(old.stored().root()),
            None => Vec::new(),
        };
        for values in unique.iter().filter(|values| !old_unique.contains(values)) {
            let key = values.reservation(&address.logical);
            if let Some(holder) = self.look_up(Family::Meta, &key)?
                && holder != address.id.as_bytes()
                && !self.make_room_of(compiled, &address.logical, &holder, entries_before)?
            {
                return Err(Error::new(
                    ErrorKind::UniqueKeyTaken,
                    format!(
                        "unique index constraint violation: another item of the logical partition has the \
                         same values of unique key {}",
                        self.unique.shown(values.slot)
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
            content: Some((entries, &compiled.layout)),
        };
        let index_change = self.index_change(number, old.as_ref(), Some(new))?;
        let old_bytes = old.as_ref().map(|old| old.bytes().len());
        let change = SizeChange::of_item(&address.key, old_bytes, Some(value.len()), index_change.growth());
        let resized = self.resized(keys::size(&address.logical), change)?;
        self.check_room(compiled, &resized)?;
        let mut changed = old_unique.clone();
        changed.retain(|values| !unique.contains(values));
        let given_back = self.given_back(&address.logical, &address.key, &changed)?;

        // From here on nothing fails.
        self.note_repeat(&address.key);
        let layout = self.effects.index.state.layout_of(number).clone();
        self.change_index(index_change, &layout, Some((encoded.root(), &computed)));
        if layout.has_computed {
            let built = self.effects.index.state.is_built(number);
            self.note_computed(compiled, built);
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
        for reservation in given_back {
            changed_entries += 1;
            self.record(Family::Meta, reservation, None);
        }
        for values in unique.iter().filter(|values| !old_unique.contains(values)) {
            changed_entries += 1;
            let holder = Bytes::copy_from_slice(address.id.as_bytes());
            self.record(Family::Meta, values.reservation(&address.logical), Some(holder));
        }
        let kind = if old.is_some() { ChangeKind::Replace } else { ChangeKind::Create };
        let (position, operation) = self.next_position();
        self.resize(resized, Some(position.lsn));
        self.effects.value_bytes += value.len();
        header.lsn = position.lsn;
        header.operation = operation;
        header.write(&mut value);
        let item = Item::open(value.into())?;
        self.log_version(compiled, address.key.clone(), old.as_ref(), &item, revision);
        let new_bytes = item.json_bytes(&self.partition.identity);
        let work = match &old {
            None => Work::Create {
                item_bytes: new_bytes,
                terms: TermCount {
                    leaves: leaves.len(),
                    entries: changed_entries + composites.len(),
                    partition_key: !compiled.partition_key_is_id,
                },
            },
            Some(old) => {
                let root = old.stored().root();
                let old_leaves = terms::leaves(compiled.matcher(), root);
                let (removed, added) = Leaves::diff(&old_leaves, &leaves);
                let old_composites = terms::composite_terms(compiled.matcher(), root);
                let (composites_removed, composites_added) = Leaves::diff(&old_composites, &composites);
                Work::Replace {
                    old_bytes: old.json_bytes(&self.partition.identity),
                    new_bytes,
                    terms: TermCount {
                        leaves: removed + added,
                        entries: changed_entries + composites_removed + composites_added,
                        partition_key: false,
                    },
                    patch_operations: revision.operations(),
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
    pub(super) fn charge(&mut self, work: &Work, key: &Bytes) -> RequestUnits {
        let Some(scope) = &mut self.scope else { return price(work, ReadCost::Single) };
        let saving = if scope.known.insert(key.clone()) { Saving::Shared } else { Saving::Known };
        let tally = measure(work, ReadCost::Single, saving);
        scope.tally += tally;
        tally.total()
    }

    /// Sees to it that a number is never given again.
    pub(super) fn use_number(&mut self, number: u64) {
        if let Some(sequence) = sequence_in(self.partition.range_id, number) {
            self.effects.counters.sequence = self.effects.counters.sequence.max(sequence);
        }
    }

    /// Takes note if an item is written that this group has written before.
    pub(super) fn note_repeat(&mut self, key: &Bytes) {
        if self.effects.items.contains_key(key) {
            self.index_repeats();
        }
    }

    pub(super) fn check(&self, old: &Item, precondition: Precondition) -> Result<()> {
        if precondition.holds_for(old, &self.partition.identity) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::PreconditionFailed,
            "operation cannot be performed because one of the specified precondition is not met",
        ))
    }
}

pub(super) fn not_found(address: &ItemAddress) -> Error {
    Error::new(
        ErrorKind::ItemNotFound,
        format!("entity with the specified id does not exist in the system: '{}'", address.id),
    )
}
