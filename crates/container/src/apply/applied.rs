//! What a partition's committer goes on from: its counters, and what it has applied and the store does not show yet.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use armilla_kv::Family;
use bytes::Bytes;

use super::effects::{Effects, LastSize};
use super::index_effects::ById;
use super::log_state::LogState;
use crate::index::state::IndexState;
use crate::item::Item;
use crate::limits::{KNOWN_ENTRY_COUNTS_MAX, KNOWN_SIZES_MAX};
use crate::partition::counters::Counters;

/// What the committer has applied so far: the counters, and what is not durable yet.
pub(crate) struct Applied {
    pub(super) counters: Counters,
    pub(super) index: IndexState,
    pub(super) log: LogState,
    /// Numbers of entries that were written lately, as they are or will be, each with the group that did.
    pub(super) counts: ById<(u64, u64)>,
    /// Items on their way to the store, each with the group that wrote it last.
    pub(super) items: HashMap<Bytes, (u64, Option<Item>)>,
    /// Other records on their way, each with the group that wrote it last.
    pub(super) records: HashMap<(Family, Bytes), (u64, Option<Bytes>)>,
    /// Logical partitions that were written lately, by the keys of their size records, each with the group that did.
    sizes: HashMap<Bytes, (LastSize, u64)>,
    /// A commit that is not before the last change of any logical partition that is not among the sizes.
    floor_lsn: u64,
    last_group: u64,
}

/// The keys that a group wrote, to be forgotten once it has landed.
pub(crate) struct Touched {
    items: Vec<Bytes>,
    records: Vec<(Family, Bytes)>,
    /// The earliest time stamp of an item that it wrote.
    pub(crate) earliest_ts: Option<u32>,
}

impl Applied {
    pub(crate) fn new(counters: Counters, index: IndexState) -> Applied {
        Applied {
            floor_lsn: counters.lsn,
            counters,
            index,
            log: LogState::default(),
            counts: ById::default(),
            items: HashMap::new(),
            records: HashMap::new(),
            sizes: HashMap::new(),
            last_group: 0,
        }
    }

    /// Takes note of what the change log holds.
    pub(crate) fn set_log(&mut self, log: LogState) {
        self.log = log;
    }

    /// The same, with what the change log holds.
    pub(crate) fn with_log(self, log: LogState) -> Applied {
        Applied { log, ..self }
    }

    /// Begins a group that goes on from here.
    pub(super) fn begin(&self) -> Effects {
        Effects::new(self.counters.clone(), self.index.clone(), self.log.clone())
    }

    /// Returns the group that was taken over last; later ones have higher numbers.
    pub(crate) fn last_group(&self) -> u64 {
        self.last_group
    }

    /// Returns the newest commit, as it is or will be.
    pub(crate) fn lsn(&self) -> u64 {
        self.counters.lsn
    }

    /// Returns what is known of the index, as it is or will be.
    pub(crate) fn index(&self) -> &IndexState {
        &self.index
    }

    /// Returns the size of a logical partition, if it was written lately.
    pub(super) fn size(&self, key: &Bytes) -> Option<LastSize> {
        self.sizes.get(key).map(|(last, _)| *last)
    }

    /// Returns a commit that is not before the last change of any logical partition that was not written lately.
    pub(super) fn floor_lsn(&self) -> u64 {
        self.floor_lsn
    }

    /// Takes over what a group did, which is now on its way to the store.
    pub(crate) fn absorb(&mut self, effects: Effects, group: u64) -> Touched {
        self.counters = effects.counters;
        self.index = effects.index.state;
        self.log = effects.log;
        self.counts.extend(effects.index.counts.into_iter().map(|(id, count)| (id, (count.now, group))));
        self.last_group = group;
        self.sizes.extend(effects.sizes.into_iter().map(|(key, (size, _))| (key, (size, group))));
        let mut touched = Touched {
            items: Vec::with_capacity(effects.items.len()),
            records: Vec::new(),
            earliest_ts: effects.earliest_ts,
        };
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

    /// Forgets what the store has now: all up to the commit `lsn`.
    pub(crate) fn landed(&mut self, group: u64, lsn: u64, touched: Touched) {
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
        if self.sizes.len() > KNOWN_SIZES_MAX {
            self.sizes.retain(|_, (_, last)| *last > group);
            self.floor_lsn = self.floor_lsn.max(lsn);
        }
    }
}

#[cfg(test)]
mod tests;
