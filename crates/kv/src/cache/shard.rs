//! One part of the cache, with its own lock and its own share of the bytes.
//!
//! A record of its ring is an item:
//!
//! ```text
//! space       8 bytes
//! length      4 bytes, of the key
//! key, value
//! ```

use std::collections::HashMap;

use bytes::Bytes;
use parking_lot::{RwLock, RwLockReadGuard};

use crate::SpaceId;
use crate::ring::{Place, Ring};

/// Bytes of a record before its key.
const HEADER_BYTES: usize = 12;

/// Bytes of a ring for each slot of its table: half of what a very small item takes, so that few buckets are full before
/// the ring is.
const BYTES_PER_SLOT: usize = 64;

/// An item's key, with its hash.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'k> {
    space: [u8; 8],
    key: &'k [u8],
    hash: u64,
}

impl<'k> Name<'k> {
    pub(super) fn new(space: SpaceId, key: &'k [u8]) -> Name<'k> {
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        // It need not resist an attacker: keys that collide take each other's place, and nothing else.
        let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(FACTOR);
        let (words, rest) = key.as_chunks::<8>();
        let mut hash = mix(key.len() as u64, space.0);
        for word in words {
            hash = mix(hash, u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            hash = mix(hash, u64::from_le_bytes(word));
        }
        // The high bits of a product are the good ones: they have to come down.
        let hash = (hash ^ hash >> 32).wrapping_mul(FACTOR);
        Name { space: space.0.to_be_bytes(), key, hash: hash ^ hash >> 29 }
    }

    /// Returns which of some shards is that of the item.
    pub(super) fn shard(&self, shards: usize) -> usize {
        (self.hash >> 32) as usize % shards
    }

    fn is_of(&self, record: &[u8]) -> bool {
        let (header, rest) = record.split_at(HEADER_BYTES.min(record.len()));
        header == self.header() && rest.starts_with(self.key)
    }

    fn header(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(&self.space);
        header[8..].copy_from_slice(&(self.key.len() as u32).to_ne_bytes());
        header
    }

    fn value_at(&self) -> usize {
        HEADER_BYTES + self.key.len()
    }
}

/// What a reader finds.
#[derive(Debug)]
pub(super) enum Found<V> {
    /// The newest value.
    Hit(V),
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
}

pub(super) struct Inner {
    ring: Ring,
    /// Commits on their way by the hashes of their keys. Keys with one hash are taken for one key, which only means that less
    /// is cached.
    marks: HashMap<u64, Marks>,
    /// Grows with every mark set or taken away.
    stamp: u64,
}

/// Commits of one key that are on their way.
struct Marks {
    count: usize,
    /// Whether there were ever two at once: then the cache does not know which came last.
    overlapped: bool,
}

impl Shard {
    pub(super) fn new(bytes_max: usize) -> Shard {
        let ring = Ring::new(bytes_max, BYTES_PER_SLOT);
        Shard { inner: RwLock::new(Inner { ring, marks: HashMap::new(), stamp: 0 }) }
    }

    pub(super) fn bytes(&self) -> usize {
        self.inner.read().ring.used_bytes()
    }

    /// Keeps writers away while items are looked up.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read()
    }

    /// Leaves what a reader found, unless a commit has touched the shard since its look-up.
    pub(super) fn insert_read(&self, name: Name<'_>, value: &Bytes, stamp: u64) {
        let mut inner = self.inner.write();
        if inner.stamp == stamp {
            inner.put(name, value);
        }
    }

    /// Sees to it that an item that is in use stays, if it is still there.
    pub(super) fn renew(&self, name: Name<'_>) {
        let mut inner = self.inner.write();
        let Some(place) = inner.find(name) else { return };
        if inner.ring.is_old(place) {
            let record = inner.ring.payload(place).to_vec();
            inner.ring.put(name.hash, &[&record], |record| name.is_of(record));
        }
    }

    /// Says that a commit of this key is on its way.
    pub(super) fn mark(&self, name: Name<'_>) {
        let mut inner = self.inner.write();
        inner.stamp += 1;
        inner.ring.remove(name.hash, |record| name.is_of(record));
        let marks = inner.marks.entry(name.hash).or_insert(Marks { count: 0, overlapped: false });
        marks.count += 1;
        marks.overlapped |= marks.count > 1;
    }

    /// Says that a commit of this key has ended, with the value that is now the newest if that is known.
    pub(super) fn unmark(&self, name: Name<'_>, value: Option<&Bytes>) {
        let mut inner = self.inner.write();
        inner.stamp += 1;
        let Some(marks) = inner.marks.get_mut(&name.hash) else { return };
        marks.count -= 1;
        if marks.count > 0 {
            return;
        }
        let overlapped = marks.overlapped;
        inner.marks.remove(&name.hash);
        if let Some(value) = value.filter(|_| !overlapped) {
            inner.put(name, value);
        }
    }

    pub(super) fn remove_space(&self, space: SpaceId) {
        let space = space.0.to_be_bytes();
        self.inner.write().ring.retain(|record| !record.starts_with(&space));
    }
}

impl Inner {
    /// Asks for the memory that says where an item is. What is returned means nothing.
    pub(super) fn touch_slots(&self, name: Name<'_>) -> u64 {
        self.ring.touch_slots(name.hash)
    }

    /// Asks for the memory that an item begins with. What is returned means nothing.
    pub(super) fn touch_record(&self, name: Name<'_>) -> u64 {
        self.ring.touch_record(name.hash)
    }

    /// Looks an item up. `take` gets its value, and whether it should be [renewed](Shard::renew) to stay.
    pub(super) fn lookup<V>(&self, name: Name<'_>, take: impl FnOnce(&[u8], bool) -> V) -> Found<V> {
        if !self.marks.is_empty() && self.marks.contains_key(&name.hash) {
            return Found::PassBy;
        }
        match self.find(name) {
            Some(place) => {
                let value = &self.ring.payload(place)[name.value_at()..];
                Found::Hit(take(value, self.ring.is_old(place)))
            }
            None => Found::Miss { stamp: self.stamp },
        }
    }

    fn find(&self, name: Name<'_>) -> Option<Place> {
        self.ring.find(name.hash, |record| name.is_of(record))
    }

    fn put(&mut self, name: Name<'_>, value: &[u8]) {
        self.ring.put(name.hash, &[&name.header(), name.key, value], |record| name.is_of(record));
    }
}
