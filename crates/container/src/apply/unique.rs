//! Unique keys that come and go: reservations for the items of before, and removing those of a key that was dropped.
//!
//! While a key is being built, two items of before may have the same values. So a reservation is taken back only by the
//! item that holds it, and what decides is the step here that comes to the second of them.
//!
//! Not here: which steps there are (`unique_build`), what a write checks and reserves (`write`).

use std::ops::Bound;

use armilla_kv::{Family, Scan};
use bytes::Bytes;

use super::{Group, copy_in};
use crate::compiled_definition::CompiledDefinition;
use crate::error::Result;
use crate::item::Item;
use crate::item::keys::LogicalKey;
use crate::limits::CLAIM_STEP_ITEMS;
use crate::unique::UniqueValues;
use crate::write::task::{ClaimTask, Claimed};

/// What became of one item.
enum Outcome {
    Claimed,
    /// A transaction has locked its logical partition.
    Held,
    /// Another has the same values of the key with this slot.
    Taken(u8),
}

impl Group<'_> {
    /// Returns the reservations that go with an item's values. Of keys that are being built, it may not hold its own.
    pub(super) fn given_back(
        &self,
        logical: &LogicalKey,
        item_key: &[u8],
        values: &[UniqueValues],
    ) -> Result<Vec<Bytes>> {
        let id = item_key.get(logical.as_bytes().len()..).unwrap_or_default();
        let mut given_back = Vec::with_capacity(values.len());
        for values in values {
            let reservation = values.reservation(logical);
            if !values.is_building || self.look_up(Family::Meta, &reservation)?.as_deref() == Some(id) {
                given_back.push(reservation);
            }
        }
        Ok(given_back)
    }

    /// Reserves what the next items have of keys that are being built.
    pub(super) fn claim(&mut self, compiled: &CompiledDefinition, task: &ClaimTask) -> Result<Claimed> {
        let mut scan = Scan::prefix(Family::Item, b"");
        if let Some(after) = &task.after {
            scan.lower = Bound::Excluded(after.clone());
        }
        scan.entries_max = CLAIM_STEP_ITEMS;
        let page = self.base.snapshot()?.scan(&scan)?;
        let mut last = task.after.clone();
        let count = page.entries.len();
        for (place, (key, value)) in page.entries.into_iter().enumerate() {
            let is_on_its_way =
                self.effects.items.contains_key(&key) || self.applied.items.contains_key(&key);
            let item = match is_on_its_way {
                true => self.item(&key)?,
                false => Some(Item::open(value)?),
            };
            if let Some(item) = item {
                match self.claim_item(compiled, &task.slots, &key, &item)? {
                    Outcome::Claimed => {}
                    Outcome::Held => return Ok(Claimed::Held(last)),
                    Outcome::Taken(slot) => return Ok(Claimed::Taken(slot, item)),
                }
            }
            if self.is_full() && (page.more || place + 1 < count) {
                return Ok(Claimed::Next(key));
            }
            last = Some(key);
        }
        Ok(match last {
            Some(last) if page.more => Claimed::Next(last),
            _ => Claimed::All,
        })
    }

    fn claim_item(
        &mut self,
        compiled: &CompiledDefinition,
        slots: &[u8],
        key: &Bytes,
        item: &Item,
    ) -> Result<Outcome> {
        let (logical, id) = copy_in::place(key, item)?;
        for values in self.unique.clone().values_of(slots, item.stored().root()) {
            let reservation = values.reservation(&logical);
            match self.look_up(Family::Meta, &reservation)? {
                Some(holder) if holder == id => continue,
                Some(holder) => {
                    let is_hidden = self.is_hidden(compiled, key, item);
                    let held_by = self.hidden_holder(compiled, &logical, &holder)?;
                    if !is_hidden && held_by.is_none() {
                        return Ok(Outcome::Taken(values.slot));
                    }
                    if self.partition.is_locked(&logical) {
                        return Ok(Outcome::Held);
                    }
                    if is_hidden {
                        // With it goes all that it has reserved so far.
                        self.take_away(compiled, &logical, key, item)?;
                        return Ok(Outcome::Claimed);
                    }
                    if let Some((holder_key, holder)) = held_by {
                        self.take_away(compiled, &logical, &holder_key, &holder)?;
                    }
                }
                None => {}
            }
            self.effects.written = true;
            self.record(Family::Meta, reservation, Some(id.clone()));
        }
        Ok(Outcome::Claimed)
    }

    /// Removes reservations, by their keys.
    pub(super) fn drop_reservations(&mut self, keys: Vec<Bytes>) {
        self.effects.written |= !keys.is_empty();
        for key in keys {
            self.record(Family::Meta, key, None);
        }
    }
}
