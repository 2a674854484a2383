//! The unique keys of a container as writes keep to them: an item's values, and the reservations that stand for these.
//!
//! Invariants:
//! * what an item has of a key is found by the key's slot, so values that were worked out under other keys are never taken
//!   for those of these;
//! * one set of keys is one [`Arc`](std::sync::Arc): where two are the same one, nothing changed in between, not even
//!   there and back.
//!
//! Not here: how keys come and go (`definition`, `unique_build`), what a write does to reservations (`apply`).

use armilla_value::{Node, PartitionKey, Value, key};
use bytes::Bytes;

use crate::definition::{PartitionKeyDefinition, UniqueKey};
use crate::item::keys::{self, LogicalKey};

/// The unique keys that writes keep to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UniqueKeys {
    keys: Vec<UniqueKey>,
}

/// An item's values of one unique key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UniqueValues {
    pub(crate) slot: u8,
    values: Vec<u8>,
    /// Whether items of before the key was asked for may lack their reservations.
    pub(crate) is_building: bool,
}

impl UniqueKeys {
    pub(crate) fn new(keys: &[UniqueKey]) -> UniqueKeys {
        UniqueKeys { keys: keys.to_vec() }
    }

    /// Returns an item's values of each key, but for those that leave it out.
    pub(crate) fn values(&self, root: Node<'_>) -> Vec<UniqueValues> {
        self.keys.iter().filter_map(|key| values(key, root)).collect()
    }

    /// Returns an item's values of the keys with some slots.
    pub(crate) fn values_of(&self, slots: &[u8], root: Node<'_>) -> Vec<UniqueValues> {
        let keys = self.keys.iter().filter(|key| slots.contains(&key.slot));
        keys.filter_map(|key| values(key, root)).collect()
    }

    /// Returns how many keys have values of an item.
    pub(crate) fn count(&self, root: Node<'_>) -> usize {
        match self.keys.iter().any(|key| key.is_sparse) {
            true => self.values(root).len(),
            false => self.keys.len(),
        }
    }

    /// Returns the position of the key with a slot, from 1, for messages.
    pub(crate) fn shown(&self, slot: u8) -> usize {
        self.keys.iter().position(|key| key.slot == slot).map_or(0, |position| position + 1)
    }

    /// Returns the key with a slot.
    pub(crate) fn get(&self, slot: u8) -> Option<&UniqueKey> {
        self.keys.iter().find(|key| key.slot == slot)
    }
}

impl UniqueValues {
    /// Returns the key of the reservation of these values in a logical partition.
    pub(crate) fn reservation(&self, logical: &LogicalKey) -> Bytes {
        keys::unique(logical, self.slot, &self.values)
    }
}

/// Returns the slot that a reservation belongs to, if it can be read.
pub(crate) fn slot_of(reservation: &[u8], definition: &PartitionKeyDefinition) -> Option<u8> {
    let (_, rest) = keys::split_item_key(reservation.get(1..)?, definition.version, definition.paths.len())?;
    let (_, used) = PartitionKey::from_key_bytes(rest).ok()?;
    rest.get(used).copied()
}

/// Encodes an item's values of one unique key. A missing value counts as null, so only one item of a logical
/// partition may lack it; unless it lacks all of them, and the key leaves out such items.
fn values(unique: &UniqueKey, root: Node<'_>) -> Option<UniqueValues> {
    let mut values = Vec::new();
    let mut is_empty = true;
    for path in &unique.paths {
        match root.get_path(path.names()) {
            Some(node) => {
                is_empty = false;
                key::encode_node(node, &mut values);
            }
            None => key::encode_value(&Value::Null, &mut values),
        }
    }
    if is_empty && unique.is_sparse {
        return None;
    }
    if values.len() > UNIQUE_VALUE_BYTES_MAX {
        // Equal values still give equal keys, and different ones differ but for a chance of 2^-128.
        values = armilla_value::fingerprint(&values).to_be_bytes().to_vec();
    }
    Some(UniqueValues { slot: unique.slot, values, is_building: unique.is_building })
}

/// Longest unique-key value that is stored as it is; a longer one is stored as its fingerprint.
const UNIQUE_VALUE_BYTES_MAX: usize = 1_024;
