//! A bounded memory of the items that values of an index lead to, for all containers of an account.
//!
//! To find the entries of a value is dear where the store has them in many files, and what is asked for again and again is
//! found so again and again. So what a look-up has found is kept with the commit up to which it was read, and a partition
//! notes for every value of such an index, and for every item, which commit has changed it last. What was found stands for
//! a reader if nothing of it was changed after the earlier of the two moments.
//!
//! Invariants:
//! * a change is noted before the store has it, so no reader that sees the change takes what was found before it;
//! * notes are kept by hashes: two that share one make a look-up read again that need not have, never the other way round;
//! * what is kept, expired items included, is judged by each reader anew.
//!
//! Not here: finding what is not known (`read::reader`), which indexes are worth it (those that are asked).

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use armilla_index::{IndexId, split_entry};
use bytes::Bytes;
use parking_lot::Mutex;

use crate::item::Item;
use crate::limits::{LOOKUP_BYTES_MAX, LOOKUP_CHANGES, LOOKUP_INDEXES_MAX, LOOKUP_SHARDS};

/// What an entry takes in memory beside its bytes, about.
const ENTRY_BYTES: usize = 160;

/// Items with their keys, as they were found.
pub(crate) struct Found {
    /// Each key with its item behind it. One piece of memory, so that nothing else is kept with it.
    bytes: Bytes,
    items: Box<[Place]>,
}

/// Where an item lies among others.
struct Place {
    key_end: u32,
    item_end: u32,
}

impl Found {
    /// Puts items together; nothing where they are too large to be kept.
    fn new(items: &[(Bytes, Item)]) -> Option<Found> {
        let length: usize = items.iter().map(|(key, item)| key.len() + item.raw().0.len()).sum();
        if length > LOOKUP_BYTES_MAX {
            return None;
        }
        let mut bytes = Vec::with_capacity(length);
        let mut places = Vec::with_capacity(items.len());
        for (key, item) in items {
            bytes.extend_from_slice(key);
            let key_end = bytes.len() as u32;
            bytes.extend_from_slice(item.raw().0);
            places.push(Place { key_end, item_end: bytes.len() as u32 });
        }
        Some(Found { bytes: bytes.into(), items: places.into() })
    }

    /// Returns each item with its key.
    pub(crate) fn items(&self) -> impl Iterator<Item = (&[u8], Item)> {
        let mut start = 0;
        self.items.iter().filter_map(move |place| {
            let (key_end, item_end) = (place.key_end as usize, place.item_end as usize);
            let key = &self.bytes[start..key_end];
            start = item_end;
            Some((key, Item::from_raw(self.bytes.slice(key_end..item_end))?))
        })
    }

    fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.items.len() * size_of::<Place>()
    }
}

/// What a caller has made of the items of a value, which is kept in their place.
pub type Made = Arc<dyn Any + Send + Sync>;

/// What is kept of a value.
#[derive(Clone)]
pub(crate) enum Kept {
    Items(Arc<Found>),
    Made(Made),
}

/// The memory.
pub(crate) struct KnownLookups {
    shards: Vec<Mutex<Shard>>,
    shard_bytes_max: usize,
    hasher: RandomState,
    partitions: AtomicU64,
}

#[derive(Default)]
struct Shard {
    entries: HashMap<u64, Entry, BuildHasherDefault<Hashed>>,
    /// All of them, those first that are to go first unless they were used.
    queue: VecDeque<u64>,
    bytes: usize,
}

struct Entry {
    partition: u64,
    prefix: Box<[u8]>,
    /// The commit up to which it was read.
    lsn: u64,
    kept: Kept,
    /// The numbers of the items.
    numbers: Arc<[u64]>,
    bytes: usize,
    is_used: bool,
}

/// Keys that are hashes already.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl KnownLookups {
    /// Makes a memory of at most so many bytes, about.
    pub(crate) fn new(bytes_max: usize) -> KnownLookups {
        KnownLookups {
            shards: (0..LOOKUP_SHARDS).map(|_| Mutex::default()).collect(),
            shard_bytes_max: bytes_max / LOOKUP_SHARDS,
            hasher: RandomState::new(),
            partitions: AtomicU64::new(0),
        }
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        &self.shards[(hash >> 32) as usize % self.shards.len()]
    }
}

impl Shard {
    fn put(&mut self, hash: u64, entry: Entry, bytes_max: usize) {
        self.bytes += entry.bytes;
        match self.entries.insert(hash, entry) {
            Some(before) => self.bytes -= before.bytes,
            None => self.queue.push_back(hash),
        }
        while self.bytes > bytes_max {
            let Some(oldest) = self.queue.pop_front() else { return };
            match self.entries.get_mut(&oldest) {
                Some(entry) if entry.is_used => {
                    entry.is_used = false;
                    self.queue.push_back(oldest);
                }
                Some(_) => {
                    if let Some(gone) = self.entries.remove(&oldest) {
                        self.bytes -= gone.bytes;
                    }
                }
                None => {}
            }
        }
    }
}

/// What a partition has of the memory, and which commits have changed what is in it.
pub(crate) struct Lookups {
    known: Arc<KnownLookups>,
    /// Which partition: a number that no other has had, whatever range it is of.
    partition: u64,
    indexes: [AtomicU64; LOOKUP_INDEXES_MAX],
    /// The first commit up to which something may have been read that is kept, for each index.
    floors: [AtomicU64; LOOKUP_INDEXES_MAX],
    /// The last commits that changed something, by hashes. There are none as long as no look-up was made.
    changes: OnceLock<Box<[AtomicU64]>>,
}

impl Lookups {
    pub(crate) fn new(known: Arc<KnownLookups>) -> Lookups {
        Lookups {
            partition: known.partitions.fetch_add(1, Ordering::Relaxed),
            known,
            indexes: [const { AtomicU64::new(0) }; LOOKUP_INDEXES_MAX],
            floors: [const { AtomicU64::new(u64::MAX) }; LOOKUP_INDEXES_MAX],
            changes: OnceLock::new(),
        }
    }

    /// Returns what is known of a value's items, for a reader of a commit.
    pub(crate) fn find(&self, prefix: &[u8], lsn: u64) -> Option<Kept> {
        let changes = self.changes.get()?;
        let hash = self.hash(prefix);
        let (kept, numbers, both) = {
            let mut shard = self.known.shard(hash).lock();
            let entry = shard.entries.get_mut(&hash)?;
            if entry.partition != self.partition || *entry.prefix != *prefix {
                return None;
            }
            entry.is_used = true;
            (entry.kept.clone(), entry.numbers.clone(), entry.lsn.min(lsn))
        };
        let floor = self.floors[self.place_of(prefix)?].load(Ordering::Acquire);
        let stands = |hash: u64| change(changes, hash).load(Ordering::Acquire) <= both;
        let all_stand =
            floor <= both && stands(hash) && numbers.iter().all(|number| stands(hash_of(*number)));
        all_stand.then_some(kept)
    }

    /// Keeps what was found for a value by a reader of a commit. `newest` is asked where changes of the index are not noted
    /// yet: it returns a commit up to which all are durable, or one that is not there yet.
    pub(crate) fn keep(&self, prefix: &[u8], lsn: u64, items: &[(Bytes, Item)], newest: impl Fn() -> u64) {
        if self.watch(prefix, lsn, newest)
            && let Some(found) = Found::new(items)
        {
            let bytes = found.memory_bytes();
            self.put(prefix, lsn, Kept::Items(Arc::new(found)), bytes, numbers_of(items));
        }
    }

    /// The same for what was made of the items, which takes so many bytes.
    pub(crate) fn keep_made(
        &self,
        prefix: &[u8],
        lsn: u64,
        items: &[(Bytes, Item)],
        (made, bytes): (&Made, usize),
        newest: impl Fn() -> u64,
    ) {
        if bytes <= LOOKUP_BYTES_MAX && self.watch(prefix, lsn, newest) {
            self.put(prefix, lsn, Kept::Made(made.clone()), bytes, numbers_of(items));
        }
    }

    fn put(&self, prefix: &[u8], lsn: u64, kept: Kept, bytes: usize, numbers: Arc<[u64]>) {
        let entry = Entry {
            partition: self.partition,
            prefix: prefix.into(),
            lsn,
            bytes: bytes + prefix.len() + size_of_val(&*numbers) + ENTRY_BYTES,
            kept,
            numbers,
            is_used: false,
        };
        let hash = self.hash(prefix);
        self.known.shard(hash).lock().put(hash, entry, self.known.shard_bytes_max);
    }

    /// Sees to it that changes of an index are noted; false where what was read up to a commit cannot be kept.
    fn watch(&self, prefix: &[u8], lsn: u64, newest: impl Fn() -> u64) -> bool {
        if self.known.shard_bytes_max == 0 {
            return false;
        }
        self.changes.get_or_init(|| (0..LOOKUP_CHANGES).map(|_| AtomicU64::new(0)).collect());
        let Some(place) = self.place_of(prefix).or_else(|| self.claim(prefix)) else { return false };
        let floor = &self.floors[place];
        if floor.load(Ordering::Acquire) > lsn {
            // Writers that commit from now on note it; what was committed before has to be there.
            floor.fetch_min(newest(), Ordering::AcqRel);
        }
        floor.load(Ordering::Acquire) <= lsn
    }

    fn place_of(&self, prefix: &[u8]) -> Option<usize> {
        let id = index_of(prefix)?;
        self.indexes.iter().position(|index| index.load(Ordering::Acquire) == id)
    }

    fn claim(&self, prefix: &[u8]) -> Option<usize> {
        let id = index_of(prefix)?;
        let is_claimed =
            |index: &AtomicU64| match index.compare_exchange(0, id, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => true,
                Err(other) => other == id,
            };
        self.indexes.iter().position(is_claimed)
    }

    /// Notes what a commit is about to change: entries of the index that come or go, and items.
    pub(crate) fn note<'c>(
        &self,
        lsn: u64,
        entries: impl Iterator<Item = &'c [u8]>,
        items: impl Iterator<Item = u64>,
    ) {
        let Some(changes) = self.changes.get() else { return };
        let note = |hash: u64| change(changes, hash).fetch_max(lsn, Ordering::AcqRel);
        for entry in entries {
            if let Some((index, term, _)) = split_entry(entry)
                && self.indexes.iter().any(|watched| watched.load(Ordering::Acquire) == index.0)
            {
                note(self.hash(&entry[..IndexId::BYTES + term.len()]));
            }
        }
        items.for_each(|number| {
            note(hash_of(number));
        });
    }

    fn hash(&self, prefix: &[u8]) -> u64 {
        let mut hasher = self.known.hasher.build_hasher();
        hasher.write_u64(self.partition);
        hasher.write(prefix);
        hasher.finish()
    }
}

fn numbers_of(items: &[(Bytes, Item)]) -> Arc<[u64]> {
    items.iter().map(|(_, item)| item.header().number).collect()
}

/// Spreads numbers of items; no client chooses them.
fn hash_of(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32)
}

fn change(changes: &[AtomicU64], hash: u64) -> &AtomicU64 {
    &changes[hash as usize % changes.len()]
}

fn index_of(prefix: &[u8]) -> Option<u64> {
    // No index has this name, or it is not worth it.
    prefix.first_chunk().map(|id| u64::from_be_bytes(*id)).filter(|id| *id != 0)
}

#[cfg(test)]
#[path = "lookups_tests.rs"]
mod tests;
