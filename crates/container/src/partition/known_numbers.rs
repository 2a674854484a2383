//! A bounded memory of which item number has which key, for all containers of an account.
//!
//! An index leads to numbers, and items lie by key. A number belongs to one key for ever, also where the write that it
//! was given to has failed, so nothing here is ever wrong; the item itself may be gone, and another may have its key.
//!
//! A record is:
//!
//! ```text
//! container   8 bytes
//! number      8 bytes
//! key
//! ```

use std::hint::black_box;
use std::sync::Arc;

use armilla_kv::ring::Ring;
use armilla_value::rid::ContainerRid;
use bytes::Bytes;
use parking_lot::{RwLock, RwLockReadGuard};

use super::lookups::KnownLookups;
use crate::limits::{KNOWN_NUMBERS_AT_ONCE, KNOWN_NUMBERS_SHARDS};

/// Bytes of a record before its key.
const HEADER_BYTES: usize = 16;

/// Bytes of a ring for each slot of its table: half of what a record takes whose id and partition key are short, so that few
/// buckets are full before the ring is.
const BYTES_PER_SLOT: usize = 32;

/// Numbers that follow each other so far lie in one shard: they were given one after the other, and are asked for so.
const NEIGHBOURS_BITS: u32 = 6;

/// Item numbers with their keys, and what look-ups have found (`lookups`).
pub struct KnownNumbers {
    shards: Vec<RwLock<Ring>>,
    lookups: Arc<KnownLookups>,
}

impl KnownNumbers {
    /// Makes a memory of at most so many bytes, which are taken as they are needed.
    pub fn new(bytes_max: usize) -> KnownNumbers {
        let shard = || RwLock::new(Ring::new(bytes_max / KNOWN_NUMBERS_SHARDS, BYTES_PER_SLOT));
        let shards = (0..KNOWN_NUMBERS_SHARDS).map(|_| shard()).collect();
        KnownNumbers { shards, lookups: Arc::new(KnownLookups::new(0)) }
    }

    /// The same, with so many bytes beside it for items that were found by values of indexes.
    pub fn with_lookups(self, bytes_max: usize) -> KnownNumbers {
        KnownNumbers { lookups: Arc::new(KnownLookups::new(bytes_max)), ..self }
    }

    pub(crate) fn lookups(&self) -> &Arc<KnownLookups> {
        &self.lookups
    }

    /// Forgets everything.
    pub(crate) fn forget_all(&self) {
        self.shards.iter().for_each(|shard| shard.write().retain(|_| false));
    }

    /// Looks numbers of a container up; `None` for those not known.
    pub(crate) fn look_up(&self, container: ContainerRid, numbers: &[u64]) -> Vec<Option<Bytes>> {
        // One piece of memory for all keys, which are parts of it.
        let mut bytes = Vec::new();
        let mut ends = Vec::with_capacity(numbers.len());
        for some in numbers.chunks(KNOWN_NUMBERS_AT_ONCE) {
            let records: Vec<Record> = some.iter().map(|number| Record::new(container, *number)).collect();
            self.look_up_at_once(&records, &mut bytes, &mut ends);
        }
        let bytes = Bytes::from(bytes);
        let mut start = 0;
        let key = |end: Option<usize>| {
            end.map(|end| {
                let key = bytes.slice(start..end);
                start = end;
                key
            })
        };
        ends.into_iter().map(key).collect()
    }

    /// Adds the keys of some records to `bytes`, and where each ends to `ends`; `None` for those not known.
    ///
    /// Nothing is written to their shards meanwhile, so that all memory can be asked for before any is waited for. Who writes
    /// holds one shard at a time, and who reads takes them in one order, so no thread waits in a circle.
    fn look_up_at_once(&self, records: &[Record], bytes: &mut Vec<u8>, ends: &mut Vec<Option<usize>>) {
        let mut is_asked = [false; KNOWN_NUMBERS_SHARDS];
        records.iter().for_each(|record| is_asked[record.shard()] = true);
        let held: Vec<Option<RwLockReadGuard<'_, Ring>>> = self
            .shards
            .iter()
            .zip(is_asked)
            .map(|(shard, is_asked)| is_asked.then(|| shard.read()))
            .collect();
        let ring = |record: &Record| held[record.shard()].as_deref().expect("it is held");
        let touch = |sum: u64, touched: u64| sum.wrapping_add(touched);
        black_box(records.iter().map(|record| ring(record).touch_slots(record.hash)).fold(0, touch));
        black_box(records.iter().map(|record| ring(record).touch_record(record.hash)).fold(0, touch));
        let mut old = Vec::new();
        for record in records {
            let ring = ring(record);
            let found = ring.find(record.hash, |payload| record.is_of(payload));
            ends.push(found.map(|place| {
                if ring.is_old(place) {
                    old.push(record);
                }
                let key = &ring.payload(place)[HEADER_BYTES..];
                if bytes.is_empty() {
                    // Keys of one container are about as long as each other.
                    bytes.reserve(key.len() * records.len());
                }
                bytes.extend_from_slice(key);
                bytes.len()
            }));
        }
        drop(held);
        for record in old {
            record.renew(&mut self.shards[record.shard()].write());
        }
    }

    /// Remembers some numbers of a container.
    pub(crate) fn remember<'a>(
        &self,
        container: ContainerRid,
        known: impl IntoIterator<Item = (u64, &'a [u8])>,
    ) {
        for (number, key) in known {
            let record = Record::new(container, number);
            record.remember(&mut self.shards[record.shard()].write(), key);
        }
    }
}

/// Which record.
#[derive(Debug, Clone, Copy)]
struct Record {
    name: [u8; HEADER_BYTES],
    /// Where in a table it is.
    hash: u64,
    shard: usize,
}

impl Record {
    fn new(container: ContainerRid, number: u64) -> Record {
        let container = container.to_bytes();
        let mut name = [0; HEADER_BYTES];
        name[..8].copy_from_slice(&container);
        name[8..].copy_from_slice(&number.to_ne_bytes());
        let container = u64::from_be_bytes(container);
        let neighbours = spread(container ^ spread(number >> NEIGHBOURS_BITS));
        Record {
            name,
            hash: spread(container.rotate_left(23) ^ spread(number)),
            shard: (neighbours >> 32) as usize % KNOWN_NUMBERS_SHARDS,
        }
    }

    fn shard(&self) -> usize {
        self.shard
    }

    fn is_of(&self, payload: &[u8]) -> bool {
        payload.starts_with(&self.name)
    }

    fn remember(&self, ring: &mut Ring, key: &[u8]) {
        match ring.find(self.hash, |payload| self.is_of(payload)) {
            Some(place) if !ring.is_old(place) => {}
            _ => ring.put(self.hash, &[&self.name, key], |payload| self.is_of(payload)),
        }
    }

    /// Sees to it that a record that is in use stays.
    fn renew(&self, ring: &mut Ring) {
        let Some(place) = ring.find(self.hash, |payload| self.is_of(payload)) else { return };
        let key = ring.payload(place)[HEADER_BYTES..].to_vec();
        self.remember(ring, &key);
    }
}

/// Spreads numbers that the server gives; no client chooses them.
fn spread(word: u64) -> u64 {
    let word = (word ^ word >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    word ^ word >> 29
}

#[cfg(test)]
mod tests;
