//! How unique keys come and go after a container was made.
//!
//! A key that is wanted is being built first: every write keeps to it, and the items of before get their reservations. Once
//! all have them it holds. A key that is not wanted any more leaves its slot behind, until its reservations are removed.
//!
//! Not here: reading and writing keys (`unique_keys`), building them (`unique_build` of the crate).

use super::{ContainerDefinition, DefinitionError, UniqueKey, limits};

impl ContainerDefinition {
    /// Returns the unique keys that hold, without those that are being built.
    pub fn held_unique_keys(&self) -> impl Iterator<Item = &UniqueKey> {
        self.unique_keys.iter().filter(|key| !key.is_building)
    }

    /// Returns the definition in which keys that are wanted and missing are being built. Those that are there and not
    /// wanted stay so long.
    pub fn building_unique_keys(&self, wanted: &[UniqueKey]) -> Result<ContainerDefinition, DefinitionError> {
        let mut building = self.clone();
        for key in wanted {
            if building.unique_keys.iter().any(|known| known.is_like(key)) {
                continue;
            }
            let refused = |message: String| DefinitionError::new("uniqueKeyPolicy", message);
            if key.paths.is_empty() || key.paths.len() > limits::UNIQUE_KEY_PATHS_MAX {
                let (count, max) = (key.paths.len(), limits::UNIQUE_KEY_PATHS_MAX);
                return Err(refused(format!("a unique key has {count} paths; it must have 1 to {max}")));
            }
            let used =
                building.unique_keys.iter().map(|key| key.slot).chain(self.dropped_slots.iter().copied());
            let used: Vec<u8> = used.collect();
            let free = (0..=u8::MAX).find(|slot| !used.contains(slot));
            let Some(slot) = free.filter(|_| building.unique_keys.len() < limits::UNIQUE_KEYS_MAX) else {
                let max = limits::UNIQUE_KEYS_MAX;
                return Err(refused(format!("a container has at most {max} unique keys: drop one first")));
            };
            building.unique_keys.push(UniqueKey { slot, is_building: true, ..key.clone() });
        }
        Ok(building)
    }

    /// Returns the definition with the keys that are wanted, once all of them are built; what others leave behind is to be
    /// removed.
    pub fn with_unique_keys(&self, wanted: &[UniqueKey]) -> ContainerDefinition {
        let mut changed = self.clone();
        let is_wanted = |key: &UniqueKey| wanted.iter().any(|wanted| wanted.is_like(key));
        changed
            .dropped_slots
            .extend(self.unique_keys.iter().filter(|key| !is_wanted(key)).map(|key| key.slot));
        changed.unique_keys.retain(is_wanted);
        changed.unique_keys.iter_mut().for_each(|key| key.is_building = false);
        changed
    }

    /// Returns the definition without the keys that are being built; what they leave behind is to be removed.
    pub fn without_building_keys(&self) -> ContainerDefinition {
        let held: Vec<UniqueKey> = self.held_unique_keys().cloned().collect();
        self.with_unique_keys(&held)
    }

    /// Returns whether a key is being built.
    pub fn is_building(&self) -> bool {
        self.unique_keys.iter().any(|key| key.is_building)
    }

    /// Returns the slots of keys that were dropped, whose reservations are to be removed.
    pub fn dropped_slots(&self) -> &[u8] {
        &self.dropped_slots
    }

    /// Returns whether a slot may have any number of reservations: its key is being built, or was dropped.
    pub(crate) fn is_unfinished(&self, slot: u8) -> bool {
        self.dropped_slots.contains(&slot)
            || self.unique_keys.iter().any(|key| key.slot == slot && key.is_building)
    }

    /// Returns the definition without slots of which no reservation is left.
    pub fn without_slots(&self, swept: &[u8]) -> ContainerDefinition {
        let mut changed = self.clone();
        changed.dropped_slots.retain(|slot| !swept.contains(slot));
        changed
    }
}

#[cfg(test)]
#[path = "unique_change_tests.rs"]
mod tests;
