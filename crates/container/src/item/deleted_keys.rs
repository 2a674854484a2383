//! Logical partitions all of whose items were deleted at one moment, and are still stored.
//!
//! For each of them it is known up to which commit its items are gone. No reader sees those, and they make room for
//! writers, as expired items do; what is written later has a later commit, and lives.

use std::collections::BTreeMap;
use std::ops::Bound;

use armilla_value::PartitionKey;
use bytes::Bytes;

use crate::item::Item;

/// The deleted logical partitions of a container, by the beginning of their items' keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeletedKeys(BTreeMap<Bytes, DeletedKey>);

/// One of them.
#[derive(Debug, Clone)]
pub(crate) struct DeletedKey {
    pub(crate) partition_key: PartitionKey,
    /// The last commit whose items are gone.
    pub(crate) lsn: u64,
}

impl DeletedKeys {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether an item is gone, by its key.
    pub(crate) fn hide(&self, key: &[u8], item: &Item) -> bool {
        // No logical partition's keys begin with another's: what begins the key is the last that is not behind it.
        let before = (Bound::Unbounded, Bound::Included(key));
        let nearest = self.0.range::<[u8], _>(before).next_back();
        nearest.is_some_and(|(logical, deleted)| key.starts_with(logical) && item.header().lsn <= deleted.lsn)
    }

    /// Adds one, or moves the commit of one on.
    pub(crate) fn add(&mut self, logical: Bytes, partition_key: PartitionKey, lsn: u64) {
        let known = self.0.entry(logical).or_insert(DeletedKey { partition_key, lsn });
        known.lsn = known.lsn.max(lsn);
    }

    /// Takes one away of which nothing is stored any more, unless it was deleted anew meanwhile.
    pub(crate) fn remove(&mut self, logical: &Bytes, lsn: u64) {
        if self.0.get(logical).is_some_and(|known| known.lsn == lsn) {
            self.0.remove(logical);
        }
    }

    /// Returns all of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Bytes, &DeletedKey)> {
        self.0.iter()
    }
}
