//! Turns of merges: an entity is merged by one request at a time, so that none of them loses the race for ever.
//!
//! A merge reads an entity and replaces the version that it read. Replaces and writes through other APIs do not wait for
//! a turn; a merge that they come between is done again.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};

use armilla_value::rid::ContainerRid;
use tokio::sync::{Mutex, MutexGuard};

use crate::limits::MERGE_STRIPES;

/// The turns, spread over the entities.
pub(crate) struct Merges {
    stripes: Vec<Mutex<()>>,
    hasher: RandomState,
}

impl Merges {
    pub(crate) fn new() -> Merges {
        let stripes = (0..MERGE_STRIPES).map(|_| Mutex::new(())).collect();
        Merges { stripes, hasher: RandomState::new() }
    }

    /// Waits for the turn of some entities of one partition.
    pub(crate) async fn turn<'k>(
        &self,
        table: ContainerRid,
        partition_key: &str,
        row_keys: impl Iterator<Item = &'k str>,
    ) -> Vec<MutexGuard<'_, ()>> {
        let stripes: BTreeSet<usize> = row_keys
            .map(|row_key| {
                (self.hasher.hash_one((table, partition_key, row_key)) % MERGE_STRIPES as u64) as usize
            })
            .collect();
        // Everybody takes them in the same order, so nobody waits in a circle.
        let mut guards = Vec::with_capacity(stripes.len());
        for stripe in stripes {
            guards.push(self.stripes[stripe].lock().await);
        }
        guards
    }
}
