//! One part of the cache, with its own lock, its own share of the bytes, and its own clock hand.
//!
//! Entries are evicted by second chance: the hand walks over the entries in a circle and removes the first
//! that was not read since it came by last.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// An entry takes at most this fraction of its shard.
const ENTRY_FRACTION: usize = 16;

/// What an entry costs beside its key and its value: its place in the map and in the ring.
const ENTRY_OVERHEAD_BYTES: usize = 160;

/// What a reader finds.
pub(super) enum Lookup {
    /// The newest value.
    Hit(Bytes),
    /// Nothing. What the store says may be left here with the stamp.
    Miss {
        /// The state of the shard at the look-up.
        stamp: u64,
    },
    /// A commit of this key is on its way: ask the store and leave nothing.
    PassBy,
}

pub(super) struct Shard {
    inner: RwLock<Inner>,
    bytes_max: usize,
}

#[derive(Default)]
struct Inner {
    /// Positions in the ring.
    positions: HashMap<Arc<[u8]>, usize>,
    ring: Vec<Option<Entry>>,
    /// Empty positions of the ring.
    free: Vec<usize>,
    hand: usize,
    bytes: usize,
    marks: HashMap<Arc<[u8]>, Marks>,
    /// Grows with every mark set or taken away.
    stamp: u64,
}

struct Entry {
    key: Arc<[u8]>,
    value: Bytes,
    /// Whether it was read since the hand came by.
    used: AtomicBool,
}

/// Commits of one key that are on their way.
struct Marks {
    count: usize,
    /// Whether there were ever two at once: then the cache does not know which came last.
    overlapped: bool,
}

impl Shard {
    pub(super) fn new(bytes_max: usize) -> Shard {
        Shard { inner: RwLock::default(), bytes_max }
    }

    pub(super) fn bytes(&self) -> usize {
        self.read().bytes
    }

    pub(super) fn lookup(&self, key: &[u8]) -> Lookup {
        let inner = self.read();
        if !inner.marks.is_empty() && inner.marks.contains_key(key) {
            return Lookup::PassBy;
        }
        match inner.positions.get(key).and_then(|position| inner.ring[*position].as_ref()) {
            Some(entry) => {
                // Written only when it changes: readers of a hot entry share its cache line.
                if !entry.used.load(Ordering::Relaxed) {
                    entry.used.store(true, Ordering::Relaxed);
                }
                Lookup::Hit(entry.value.clone())
            }
            None => Lookup::Miss { stamp: inner.stamp },
        }
    }

    /// Leaves what a reader found, unless a commit has touched the shard since its look-up.
    pub(super) fn insert_read(&self, key: &[u8], value: &Bytes, stamp: u64) {
        if !self.fits(key, value) {
            return;
        }
        // The value may be a slice of a whole block of the store: the cache counts and keeps its own bytes.
        let (key, value) = (Arc::from(key), Bytes::copy_from_slice(value));
        let mut inner = self.write();
        if inner.stamp == stamp {
            inner.insert(key, value, self.bytes_max);
        }
    }

    /// Says that a commit of this key is on its way.
    pub(super) fn mark(&self, key: &Arc<[u8]>) {
        let mut inner = self.write();
        inner.stamp += 1;
        inner.remove(key);
        let marks = inner.marks.entry(key.clone()).or_insert(Marks { count: 0, overlapped: false });
        marks.count += 1;
        marks.overlapped |= marks.count > 1;
    }

    /// Says that a commit of this key has ended, with the value that is now the newest if that is known.
    pub(super) fn unmark(&self, key: Arc<[u8]>, value: Option<Bytes>) {
        let value = value.filter(|value| self.fits(&key, value)).map(|value| Bytes::copy_from_slice(&value));
        let mut inner = self.write();
        inner.stamp += 1;
        let Some(marks) = inner.marks.get_mut(&key) else { return };
        marks.count -= 1;
        if marks.count > 0 {
            return;
        }
        let overlapped = marks.overlapped;
        inner.marks.remove(&key);
        if let Some(value) = value.filter(|_| !overlapped) {
            inner.insert(key, value, self.bytes_max);
        }
    }

    pub(super) fn remove_prefix(&self, prefix: &[u8]) {
        let mut inner = self.write();
        let keys: Vec<Arc<[u8]>> =
            inner.positions.keys().filter(|key| key.starts_with(prefix)).cloned().collect();
        for key in keys {
            inner.remove(&key);
        }
    }

    fn fits(&self, key: &[u8], value: &Bytes) -> bool {
        cost(key, value) <= self.bytes_max / ENTRY_FRACTION
    }

    // The maps stay usable if a thread died while it held the lock, and losing entries is always allowed.
    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write()
    }
}

impl Inner {
    fn insert(&mut self, key: Arc<[u8]>, value: Bytes, bytes_max: usize) {
        self.remove(&key);
        let cost = cost(&key, &value);
        while self.bytes + cost > bytes_max && self.evict() {}
        self.bytes += cost;
        let entry = Entry { key: key.clone(), value, used: AtomicBool::new(false) };
        let position = match self.free.pop() {
            Some(position) => {
                self.ring[position] = Some(entry);
                position
            }
            None => {
                self.ring.push(Some(entry));
                self.ring.len() - 1
            }
        };
        self.positions.insert(key, position);
    }

    fn remove(&mut self, key: &[u8]) {
        if let Some(position) = self.positions.remove(key)
            && let Some(entry) = self.ring[position].take()
        {
            self.bytes -= cost(&entry.key, &entry.value);
            self.free.push(position);
        }
    }

    /// Moves the hand to an entry that was not used lately and removes it. Returns whether there was one.
    fn evict(&mut self) -> bool {
        if self.positions.is_empty() {
            return false;
        }
        loop {
            self.hand = (self.hand + 1) % self.ring.len();
            let Some(entry) = &self.ring[self.hand] else { continue };
            if !entry.used.swap(false, Ordering::Relaxed) {
                let key = entry.key.clone();
                self.remove(&key);
                return true;
            }
        }
    }
}

fn cost(key: &[u8], value: &Bytes) -> usize {
    key.len() + value.len() + ENTRY_OVERHEAD_BYTES
}
