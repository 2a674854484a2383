//! Expired items: no reader sees them, and they make room for writers.
//!
//! A write of a whole item that finds one under its key, or as the holder of a unique key, takes it away first, in the same
//! group, and goes on as if it had not been there. All others just do not find it. What no writer meets is taken away in the
//! background, by a task of the committer, which looks again at every item that it is told of.
//!
//! Invariants:
//! * an item with a time to live of its own has a record that says when it expires, and no other item has one;
//! * an item goes by itself only if it has expired under the definition of the moment, and never while a transaction locks
//!   its logical partition.
//!
//! Not here: which items there are to take away, and when (`purge` of the container).

use armilla_kv::Family;
use bytes::Bytes;

use super::{Base, Group, copy_in};
use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, ErrorKind, Result};
use crate::feed::ChangeKind;
use crate::item::keys::{self, LogicalKey};
use crate::item::{Item, ItemHeader};
use crate::limits::PURGED_ENTRIES_PER_WRITE_MAX;
use crate::throughput::{ReadCost, RequestUnits, price};
use crate::write::ItemAddress;
use crate::write::task::{DueItem, PurgeTask, Purged};

/// What became of one item.
enum Outcome {
    Gone(RequestUnits),
    /// It lives, or is not there any more.
    Unaffected,
    /// A transaction has locked its logical partition.
    Held,
}

/// Returns how many items one write may have to take away before it.
pub(super) fn purges_per_write_max(compiled: &CompiledDefinition) -> usize {
    match compiled.may_hide() {
        true => 1 + compiled.definition.unique_keys.len(),
        false => 0,
    }
}

impl Group<'_> {
    /// Returns an item as readers see it: nothing where it has expired. A transaction has read it then.
    pub(super) fn live_item(&self, compiled: &CompiledDefinition, key: &Bytes) -> Result<Option<Item>> {
        let item = self.item(key)?.filter(|item| !self.is_hidden(compiled, key, item));
        self.note_read(key, item.as_ref());
        Ok(item)
    }

    /// The same for who wants to put something there: an expired item is taken away.
    pub(super) fn live_item_or_room(
        &mut self,
        compiled: &CompiledDefinition,
        address: &ItemAddress,
    ) -> Result<Option<Item>> {
        let item = self.item(&address.key)?;
        let Some(expired) = item.as_ref().filter(|item| self.is_hidden(compiled, &address.key, item)) else {
            self.note_read(&address.key, item.as_ref());
            return Ok(item);
        };
        self.note_read(&address.key, None);
        let kind = self.kind_of_end(compiled, expired);
        self.remove(compiled, kind, &address.logical, &address.key, expired)?;
        Ok(None)
    }

    /// Takes away the item that has a unique key, if it has expired. Returns whether it did. `entries_before` is how many
    /// index entries the group had changed before the write began.
    pub(super) fn make_room_of(
        &mut self,
        compiled: &CompiledDefinition,
        logical: &LogicalKey,
        holder: &[u8],
        entries_before: usize,
    ) -> Result<bool> {
        let Some(id) = std::str::from_utf8(holder).ok().filter(|_| compiled.may_hide()) else {
            return Ok(false);
        };
        let Some((key, item)) = self.hidden_holder(compiled, logical, id.as_bytes())? else {
            return Ok(false);
        };
        self.note_read(&key, None);
        self.take_away(compiled, logical, &key, &item)?;
        // Several large items could be more than a batch of the store takes, with the write behind them.
        let purged_entries = self.effects.index.all().0 - entries_before;
        if self.scope.is_none() && purged_entries > PURGED_ENTRIES_PER_WRITE_MAX {
            return Err(Error::new(
                ErrorKind::Unavailable,
                "expired items with many index entries were in the way; they are removed, try again",
            ));
        }
        Ok(true)
    }

    /// Returns the item that holds a reservation, with its key, if no reader sees it any more.
    pub(super) fn hidden_holder(
        &self,
        compiled: &CompiledDefinition,
        logical: &LogicalKey,
        holder: &[u8],
    ) -> Result<Option<(Bytes, Item)>> {
        let Some(id) = std::str::from_utf8(holder).ok().filter(|_| compiled.may_hide()) else {
            return Ok(None);
        };
        let key = logical.item(id);
        let item = self.item(&key)?.filter(|item| self.is_hidden(compiled, &key, item));
        Ok(item.map(|item| (key, item)))
    }

    /// Takes away an item that no reader sees any more.
    pub(super) fn take_away(
        &mut self,
        compiled: &CompiledDefinition,
        logical: &LogicalKey,
        key: &Bytes,
        item: &Item,
    ) -> Result<()> {
        let kind = self.kind_of_end(compiled, item);
        self.remove(compiled, kind, logical, key, item)?;
        Ok(())
    }

    pub(super) fn is_hidden(&self, compiled: &CompiledDefinition, key: &[u8], item: &Item) -> bool {
        compiled.may_hide() && compiled.expiry(self.now).hides(key, item)
    }

    /// Returns as what a hidden item goes: it has expired, or was deleted with its logical partition.
    fn kind_of_end(&self, compiled: &CompiledDefinition, item: &Item) -> ChangeKind {
        match compiled.expiry(self.now).is_over(item) {
            true => ChangeKind::Expire,
            false => ChangeKind::Delete,
        }
    }

    /// Takes note, in the draft of a transaction, of what it saw of the state that it began with.
    fn note_read(&self, key: &Bytes, item: Option<&Item>) {
        if let Base::Snapshot { reads, .. } = &self.base
            && !self.effects.items.contains_key(key)
        {
            reads.borrow_mut().note(key, item);
        }
    }

    /// Puts the record in place that says when an item expires, where one version takes the place of another.
    pub(super) fn change_expiry(&mut self, old: Option<&ItemHeader>, new: Option<&ItemHeader>) {
        let record = |header: &ItemHeader| Some(keys::expiry(header.own_expiry()?, header.number));
        let (before, after) = (old.and_then(record), new.and_then(record));
        if before == after {
            return;
        }
        if let Some(before) = before {
            self.record(Family::Meta, before, None);
        }
        if let Some(after) = after {
            self.record(Family::Meta, after, Some(Bytes::new()));
        }
    }

    /// Takes expired items away, as many as fit the group.
    pub(super) fn purge(&mut self, task: PurgeTask) -> Purged {
        let compiled = task.compiled.get();
        let mut purged = Purged { items: 0, charge: RequestUnits::ZERO, dealt_with: 0 };
        let mut is_whole = true;
        for due in &task.due {
            if self.is_full() || task.charge_max.is_some_and(|charge_max| purged.charge >= charge_max) {
                break;
            }
            match self.purge_item(&compiled, due) {
                Ok(Outcome::Gone(charge)) => {
                    purged.items += 1;
                    purged.charge += charge;
                }
                Ok(Outcome::Unaffected) => {}
                Ok(Outcome::Held) => is_whole = false,
                // Others took the place of the partition, or its container was deleted: all of it is gone.
                Err(error) if error.kind == ErrorKind::RangeGone => {
                    tracing::debug!(
                        range_id = self.partition.range_id,
                        "what has expired went with its partition"
                    );
                    break;
                }
                // What is damaged stays, and does not keep the others from going.
                Err(error) => {
                    let (range_id, number) = (self.partition.range_id, due.number);
                    tracing::error!(range_id, number, %error, "an expired item cannot be removed");
                }
            }
            purged.dealt_with += usize::from(is_whole);
        }
        purged
    }

    fn purge_item(&mut self, compiled: &CompiledDefinition, due: &DueItem) -> Result<Outcome> {
        let Some(item) = self.item(&due.key)? else { return Ok(Outcome::Unaffected) };
        if item.header().number != due.number || !self.is_hidden(compiled, &due.key, &item) {
            return Ok(Outcome::Unaffected);
        }
        let (logical, _) = copy_in::place(&due.key, &item)?;
        if self.partition.is_locked(&logical) {
            return Ok(Outcome::Held);
        }
        let charge = price(&self.work_of_delete(compiled, &item), ReadCost::Single);
        let kind = self.kind_of_end(compiled, &item);
        self.remove(compiled, kind, &logical, &due.key, &item)?;
        Ok(Outcome::Gone(charge))
    }
}
