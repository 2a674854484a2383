//! What a group does to its partition, and how to take part of it back.
//!
//! A write that stands by itself is checked before it changes anything. A transaction is many writes of which any may
//! fail: it changes the group as it goes, remembers what was there before, and puts it back if it has to.

use std::collections::HashMap;
use std::sync::Arc;

use armilla_kv::{Batch, Family};
use bytes::Bytes;

use super::index_effects::{ById, IndexEffects, IndexMark};
use super::log_state::LogState;
use crate::feed::Merged;
use crate::feed::trim::TrimState;
use crate::index::layout::Layouts;
use crate::index::state::IndexState;
use crate::item::Item;
use crate::item::keys;
use crate::partition::counters::{Counters, LogicalSize};

/// The size of a logical partition, and the commit that changed one of its items last, or a later one; `None` where
/// that was long ago.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LastSize {
    pub(super) size: LogicalSize,
    pub(super) lsn: Option<u64>,
}

/// What a group does to the partition.
pub(crate) struct Effects {
    pub(crate) counters: Counters,
    pub(super) index: IndexEffects,
    pub(super) log: LogState,
    /// Items that the group changed, as they will be after it.
    pub(super) items: HashMap<Bytes, Option<Item>>,
    /// Sizes that the group looked at, as they will be after it, and whether they will differ.
    pub(super) sizes: HashMap<Bytes, (LastSize, bool)>,
    /// The last word of the group on every other key, so that each is written once.
    pub(super) records: HashMap<(Family, Bytes), Option<Bytes>>,
    /// Bytes of item values, new ones and replaced ones that are kept.
    pub(super) value_bytes: usize,
    pub(super) written: bool,
    /// The earliest time stamp of an item that was written.
    pub(super) earliest_ts: Option<u32>,
    undo: Option<Undo>,
}

/// Keys of a map that were changed, in the order of the changes, each with what was there before.
type Changes<K, V> = Vec<(K, Option<V>)>;

/// What it takes to go back to where a transaction began.
struct Undo {
    counters: Counters,
    index: IndexMark,
    log: LogState,
    value_bytes: usize,
    written: bool,
    items: Changes<Bytes, Option<Item>>,
    sizes: Changes<Bytes, (LastSize, bool)>,
    records: Changes<(Family, Bytes), Option<Bytes>>,
    /// Numbers of entries before the first change of each, and whether the index had a name.
    counts: ById<(u64, bool)>,
}

/// How much a transaction has done, in what a batch of the store counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Load {
    /// Operations of the store for index entries, their counts and names.
    pub(super) entry_operations: usize,
    /// Bytes of values and of keys of index entries.
    pub(super) bytes: usize,
}

impl Effects {
    pub(super) fn new(counters: Counters, index: IndexState, log: LogState) -> Effects {
        Effects {
            counters,
            index: IndexEffects::new(index),
            log: LogState { is_changed: false, ..log },
            items: HashMap::new(),
            sizes: HashMap::new(),
            records: HashMap::new(),
            value_bytes: 0,
            written: false,
            earliest_ts: None,
            undo: None,
        }
    }

    /// Sets the newest commit, the layouts of the index, what the change log holds, and which merge was the last.
    pub(crate) fn seal(
        &mut self,
        lsn: u64,
        layouts: Layouts,
        log: Option<TrimState>,
        merged: Option<Merged>,
    ) {
        self.written = true;
        self.counters.lsn = lsn;
        if log.is_some() {
            self.log.set(log);
        }
        if let Some(merged) = merged {
            self.set_record(Family::Meta, Bytes::from_static(keys::MERGED), Some(merged.encode()));
        }
        self.index.state.layouts = Arc::new(layouts);
        self.index.layouts_changed = true;
    }

    /// Returns whether what is known of the index changes.
    pub(crate) fn index_changed(&self) -> bool {
        self.index.is_state_changed()
    }

    /// Returns the numbers of items that come into being, with their keys.
    pub(crate) fn new_numbers(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.records.iter().filter_map(|((family, number), key)| {
            let number = (*family == Family::Number).then(|| keys::decode_number(number).ok())??;
            Some((number, key.as_deref()?))
        })
    }

    /// Returns the keys of index entries that come or go.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &[u8]> {
        self.index.keys.iter().map(|(key, _)| &key[..])
    }

    /// Returns the numbers of items that are written; of those that go, all entries go.
    pub(crate) fn written_numbers(&self) -> impl Iterator<Item = u64> {
        self.items.values().flatten().map(|item| item.header().number)
    }

    /// Makes the batch, if there is anything to write, the first time it is asked for.
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
        for (key, (last, changed)) in &self.sizes {
            match changed {
                true if last.size.items == 0 => batch.delete(Family::Meta, key.clone()),
                true => batch.put(Family::Meta, key.clone(), last.size.encode()),
                false => {}
            }
        }
        for ((family, key), value) in &self.records {
            match value {
                Some(value) => batch.put(*family, key.clone(), value.clone()),
                None => batch.delete(*family, key.clone()),
            }
        }
        if self.log.is_changed {
            let key = Bytes::from_static(keys::TRIM_STATE);
            match &self.log.state {
                Some(state) => batch.put(Family::Meta, key, state.encode()),
                None => batch.delete(Family::Meta, key),
            }
        }
        batch.put(Family::Meta, Bytes::from_static(keys::COUNTERS), self.counters.encode());
        Some(batch)
    }

    /// Takes note of the time stamp of an item that is written.
    pub(super) fn note_ts(&mut self, ts: u32) {
        self.earliest_ts = Some(self.earliest_ts.map_or(ts, |earliest| earliest.min(ts)));
    }

    pub(super) fn set_item(&mut self, key: Bytes, item: Option<Item>) {
        match &mut self.undo {
            None => {
                self.items.insert(key, item);
            }
            Some(undo) => {
                let before = self.items.insert(key.clone(), item);
                undo.items.push((key, before));
            }
        }
    }

    /// Sets the size of a logical partition, and the commit that changes one of its items, if there is one.
    pub(super) fn set_size(&mut self, key: Bytes, size: LogicalSize, lsn: Option<u64>) {
        let before = self.sizes.get(&key).copied();
        let (known, changed) = before.unwrap_or_default();
        let last = LastSize { size, lsn: lsn.or(known.lsn) };
        let changed = changed || size != known.size;
        if let Some(undo) = &mut self.undo {
            undo.sizes.push((key.clone(), before));
        }
        self.sizes.insert(key, (last, changed));
    }

    pub(super) fn set_record(&mut self, family: Family, key: Bytes, value: Option<Bytes>) {
        let named = (family, key);
        match &mut self.undo {
            None => {
                self.records.insert(named, value);
            }
            Some(undo) => {
                let before = self.records.insert(named.clone(), value);
                undo.records.push((named, before));
            }
        }
    }

    /// Takes note that the number of entries of an index is about to change.
    pub(super) fn note_count(&mut self, id: u64) {
        if let Some(undo) = &mut self.undo
            && let Some(count) = self.index.counts.get(&id)
        {
            undo.counts.entry(id).or_insert_with(|| (count.now, count.name.is_some()));
        }
    }

    /// Begins to remember what is there before each change.
    pub(super) fn mark(&mut self) {
        self.undo = Some(Undo {
            counters: self.counters.clone(),
            index: self.index.mark(),
            log: self.log.clone(),
            value_bytes: self.value_bytes,
            written: self.written,
            items: Vec::new(),
            sizes: Vec::new(),
            records: Vec::new(),
            counts: ById::default(),
        });
    }

    /// Returns how much was done since the mark.
    pub(super) fn load_since_mark(&self) -> Load {
        let Some(undo) = &self.undo else { return Load::default() };
        let (keys, key_bytes) = self.index.since(&undo.index);
        Load {
            // Each index may have a count and a name to write.
            entry_operations: keys + 2 * undo.counts.len(),
            bytes: key_bytes + self.value_bytes - undo.value_bytes,
        }
    }

    /// Returns how much was done in all.
    pub(super) fn load(&self) -> Load {
        let (keys, key_bytes) = self.index.all();
        Load { entry_operations: keys + 2 * self.index.counts.len(), bytes: key_bytes + self.value_bytes }
    }

    /// Stays with what was done since the mark.
    pub(super) fn keep(&mut self) {
        self.undo = None;
    }

    /// Goes back to the mark.
    pub(super) fn roll_back(&mut self) {
        let Some(undo) = self.undo.take() else { return };
        self.counters = undo.counters;
        self.log = undo.log;
        self.value_bytes = undo.value_bytes;
        self.written = undo.written;
        restore(&mut self.items, undo.items);
        restore(&mut self.sizes, undo.sizes);
        restore(&mut self.records, undo.records);
        self.index.roll_back(undo.index, undo.counts);
    }
}

/// Puts back what was there before, the last change first.
fn restore<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, changes: Changes<K, V>) {
    for (key, before) in changes.into_iter().rev() {
        match before {
            Some(value) => map.insert(key, value),
            None => map.remove(&key),
        };
    }
}
