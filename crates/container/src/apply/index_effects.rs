//! The entries of the index that come and go with a group, what is counted about them, and how to take it back.
//!
//! Not here: which entries those are (`index` in this folder).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use armilla_index::IndexId;
use armilla_kv::{Batch, Family};
use bytes::Bytes;

use crate::error::{Error, Result};
use crate::index::state::IndexState;
use crate::item::keys;
use crate::limits::{GROUP_ENTRIES_MAX, GROUP_ENTRY_BYTES_MAX};
use crate::partition::counters;

const COUNT_VERSION: u8 = 1;

/// Index ids are hashes already.
#[derive(Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }
}

pub(super) type ById<T> = HashMap<u64, T, BuildHasherDefault<IdHasher>>;

/// The number of entries of an index.
pub(super) struct Count {
    pub(super) before: u64,
    pub(super) now: u64,
    /// What to call the index, if it had no entry before.
    pub(super) name: Option<String>,
}

/// What a group does to the index.
pub(crate) struct IndexEffects {
    pub(super) state: IndexState,
    pub(super) layouts_changed: bool,
    pub(super) progress_changed: bool,
    pub(super) crowded_changed: bool,
    pub(super) counts: ById<Count>,
    /// Keys in the order of the writes, and whether each comes or goes.
    pub(super) keys: Vec<(Bytes, bool)>,
    pub(super) key_bytes: usize,
    /// Whether some key may be among them twice.
    pub(super) repeats: bool,
    /// Keys that a draft only counts.
    pub(super) drafted_keys: usize,
}

/// Where a transaction began.
pub(super) struct IndexMark {
    state: IndexState,
    layouts_changed: bool,
    progress_changed: bool,
    crowded_changed: bool,
    keys: usize,
    key_bytes: usize,
    repeats: bool,
    drafted_keys: usize,
}

impl IndexEffects {
    pub(super) fn new(state: IndexState) -> IndexEffects {
        IndexEffects {
            layouts_changed: !state.is_stored,
            progress_changed: false,
            crowded_changed: false,
            state,
            counts: ById::default(),
            keys: Vec::new(),
            key_bytes: 0,
            repeats: false,
            drafted_keys: 0,
        }
    }

    pub(super) fn mark(&self) -> IndexMark {
        IndexMark {
            state: self.state.clone(),
            layouts_changed: self.layouts_changed,
            progress_changed: self.progress_changed,
            crowded_changed: self.crowded_changed,
            keys: self.keys.len(),
            key_bytes: self.key_bytes,
            repeats: self.repeats,
            drafted_keys: self.drafted_keys,
        }
    }

    /// Returns how many keys came or went since the mark, and their bytes.
    pub(super) fn since(&self, mark: &IndexMark) -> (usize, usize) {
        let keys = self.keys.len() - mark.keys + self.drafted_keys - mark.drafted_keys;
        (keys, self.key_bytes - mark.key_bytes)
    }

    /// Returns how many keys come or go, and their bytes.
    pub(super) fn all(&self) -> (usize, usize) {
        (self.keys.len() + self.drafted_keys, self.key_bytes)
    }

    /// Goes back to the mark; `counts` are the numbers of entries that changed since, as they were, and whether each
    /// index had a name.
    pub(super) fn roll_back(&mut self, mark: IndexMark, counts: ById<(u64, bool)>) {
        self.state = mark.state;
        self.layouts_changed = mark.layouts_changed;
        self.progress_changed = mark.progress_changed;
        self.crowded_changed = mark.crowded_changed;
        self.keys.truncate(mark.keys);
        self.key_bytes = mark.key_bytes;
        self.repeats = mark.repeats;
        self.drafted_keys = mark.drafted_keys;
        for (id, (now, had_name)) in counts {
            if let Some(count) = self.counts.get_mut(&id) {
                count.now = now;
                if !had_name {
                    count.name = None;
                }
            }
        }
    }

    /// Returns whether the group should take no further write.
    pub(super) fn is_full(&self) -> bool {
        self.keys.len() >= GROUP_ENTRIES_MAX || self.key_bytes >= GROUP_ENTRY_BYTES_MAX
    }

    /// Returns whether the state differs from what it was.
    pub(super) fn is_state_changed(&self) -> bool {
        self.layouts_changed || self.progress_changed || self.crowded_changed
    }

    /// Moves what is to be written into a batch.
    pub(super) fn write(&mut self, batch: &mut Batch) {
        if self.repeats {
            // The last word on each key; sorting keeps the order of equal ones.
            self.keys.sort_by(|left, right| left.0.cmp(&right.0));
            self.keys.reverse();
            self.keys.dedup_by(|later, earlier| later.0 == earlier.0);
        }
        for (key, comes) in std::mem::take(&mut self.keys) {
            if comes {
                batch.put(Family::Index, key, Bytes::new());
            } else {
                batch.delete(Family::Index, key);
            }
        }
        self.write_counts(batch);
        if self.layouts_changed {
            batch.put(Family::Meta, Bytes::from_static(keys::INDEX_LAYOUTS), self.state.layouts.encode());
            self.state.is_stored = true;
        }
        if self.progress_changed {
            let key = Bytes::from_static(keys::INDEX_PROGRESS);
            match &self.state.progress {
                Some(progress) => batch.put(Family::Meta, key, progress.encode()),
                None => batch.delete(Family::Meta, key),
            }
        }
        if self.crowded_changed {
            let key = Bytes::from_static(keys::INDEX_CROWDED);
            if self.state.crowded.is_empty() {
                batch.delete(Family::Meta, key);
            } else {
                batch.put(Family::Meta, key, self.state.crowded.encode());
            }
        }
    }

    fn write_counts(&self, batch: &mut Batch) {
        // Keys and values are small and many: one buffer holds them all.
        const RECORD_BYTES: usize = 18;
        let changed = || self.counts.iter().filter(|(_, count)| count.now != count.before);
        let mut buffer = Vec::with_capacity(changed().count() * RECORD_BYTES);
        for (id, count) in changed() {
            buffer.extend_from_slice(&keys::index_count(IndexId(*id)));
            buffer.push(COUNT_VERSION);
            buffer.extend_from_slice(&count.now.to_be_bytes());
        }
        let buffer = Bytes::from(buffer);
        for (position, (id, count)) in changed().enumerate() {
            let record = buffer.slice(position * RECORD_BYTES..(position + 1) * RECORD_BYTES);
            let key = record.slice(..RECORD_BYTES / 2);
            if count.now > 0 {
                batch.put(Family::Meta, key, record.slice(RECORD_BYTES / 2..));
            } else {
                batch.delete(Family::Meta, key);
            }
            let name_key = || Bytes::copy_from_slice(&keys::index_name(IndexId(*id)));
            if count.before == 0 {
                let name = count.name.clone().unwrap_or_default();
                batch.put(Family::Meta, name_key(), name.into_bytes());
            } else if count.now == 0 {
                batch.delete(Family::Meta, name_key());
            }
        }
    }
}

/// Reads the record of an index's number of entries.
pub(crate) fn decode_count(bytes: &[u8]) -> Result<u64> {
    let [count] = counters::decode(bytes, COUNT_VERSION)
        .ok_or_else(|| Error::corrupt("the number of entries of an index is damaged"))?;
    Ok(count)
}
