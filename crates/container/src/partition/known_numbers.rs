//! A bounded memory of which item number has which key, for all containers of an account.
//!
//! An index leads to numbers, and items lie by key. A number belongs to one key for ever, also where the write that it
//! was given to has failed, so nothing here is ever wrong; the item itself may be gone, and another may have its key.
//!
//! Each shard is a ring of bytes with its own lock, in which records lie one behind the other, so that a record takes
//! what it is long and no allocation of its own:
//!
//! ```text
//! container   8 bytes
//! number      8 bytes
//! length      2 bytes
//! key         length bytes, and zeroes up to a multiple of 8
//! ```
//!
//! What is written last takes the place of what was written first. What is asked for while it lies in the older half is
//! written again, so what is in use stays. Beside the ring, a table of buckets leads from numbers to places. A place
//! counts on from lap to lap, so one that was written over since is known to be; and a bucket that is full forgets the
//! record that was written first.

use armilla_value::rid::ContainerRid;
use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

use crate::limits::KNOWN_NUMBERS_SHARDS;

/// Bytes of a record before its key.
const HEADER_BYTES: usize = 18;

/// Records begin at multiples of this.
const UNIT_BYTES: usize = 8;

/// A table has a slot for so many bytes of its ring: half of what a record takes whose id and partition key are short, so
/// that few buckets are full before the ring is.
const BYTES_PER_SLOT: usize = 32;

/// Slots of a bucket: a line of the processor's cache.
const BUCKET_SLOTS: usize = 8;

/// A slot's bits that are the place of a record; those above tell most records apart without a look at them.
const PLACE_BITS: u32 = 48;

/// A record takes at most this part of its ring.
const RECORD_FRACTION: usize = 16;

/// Numbers that follow each other so far lie in one shard: they were given one after the other, and are asked for so.
const NEIGHBOURS_BITS: u32 = 6;

/// Item numbers with their keys.
pub struct KnownNumbers {
    shards: Vec<Mutex<Shard>>,
}

impl KnownNumbers {
    /// Makes a memory of at most so many bytes, which are taken as they are needed.
    pub fn new(bytes_max: usize) -> KnownNumbers {
        let shard = || Mutex::new(Shard::new(bytes_max / KNOWN_NUMBERS_SHARDS));
        KnownNumbers { shards: (0..KNOWN_NUMBERS_SHARDS).map(|_| shard()).collect() }
    }

    /// Looks numbers of a container up; `None` for those not known.
    pub(crate) fn look_up(&self, container: ContainerRid, numbers: &[u64]) -> Vec<Option<Bytes>> {
        // One buffer for all keys, which are parts of it.
        let mut bytes = Vec::new();
        let mut ends = Vec::with_capacity(numbers.len());
        self.each(container, numbers.iter().map(|number| (*number, ())), |shard, record, ()| {
            let is_known = shard.look_up(record, &mut bytes);
            ends.push(is_known.then_some(bytes.len()));
        });
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

    /// Remembers some numbers of a container.
    pub(crate) fn remember<'a>(
        &self,
        container: ContainerRid,
        known: impl IntoIterator<Item = (u64, &'a [u8])>,
    ) {
        self.each(container, known, |shard, record, key| shard.remember(record, key));
    }

    /// Calls `with` for each number and what comes with it, with the shard of the number.
    fn each<T>(
        &self,
        container: ContainerRid,
        numbers: impl IntoIterator<Item = (u64, T)>,
        mut with: impl FnMut(&mut Shard, Record, T),
    ) {
        let container = u64::from_be_bytes(container.to_bytes());
        let mut held: Option<(usize, MutexGuard<'_, Shard>)> = None;
        for (number, more) in numbers {
            let at =
                (spread(container ^ spread(number >> NEIGHBOURS_BITS)) >> 32) as usize % self.shards.len();
            let mut shard = match held.take() {
                Some((held_at, shard)) if held_at == at => shard,
                other => {
                    // Never two at once, or two threads could wait for each other.
                    drop(other);
                    self.shards[at].lock()
                }
            };
            with(&mut shard, Record { container, number }, more);
            held = Some((at, shard));
        }
    }
}

/// Which record.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Record {
    container: u64,
    number: u64,
}

impl Record {
    /// Returns the bits that say where in a table it is.
    fn hash(self) -> u64 {
        spread(self.container.rotate_left(23) ^ spread(self.number))
    }
}

struct Shard {
    /// Empty until something is remembered.
    ring: Vec<u8>,
    /// Places of records by number, with a part of the hash above; zero where there is none.
    table: Vec<u64>,
    /// The length that the ring has then.
    ring_bytes: usize,
    /// The place of the next record, in units since the first lap began. The first unit is left out, so that no place is
    /// zero.
    head: u64,
}

impl Shard {
    fn new(bytes_max: usize) -> Shard {
        // A slot of the table for each so many bytes of the ring.
        let slots = bytes_max / (BYTES_PER_SLOT + size_of::<u64>());
        let buckets = slots / BUCKET_SLOTS;
        let ring_bytes = buckets * BUCKET_SLOTS * BYTES_PER_SLOT;
        Shard { ring: Vec::new(), table: Vec::new(), ring_bytes, head: 1 }
    }

    /// Adds the key of a number to `out`, if it is known.
    fn look_up(&mut self, record: Record, out: &mut Vec<u8>) -> bool {
        let Some(place) = self.find(record) else { return false };
        let start = out.len();
        out.extend_from_slice(self.key_at(place));
        if self.is_old(place) {
            self.append(record, &out[start..]);
        }
        true
    }

    fn remember(&mut self, record: Record, key: &[u8]) {
        match self.find(record) {
            Some(place) if !self.is_old(place) => {}
            _ => self.append(record, key),
        }
    }

    fn find(&self, record: Record) -> Option<u64> {
        if self.table.is_empty() {
            return None;
        }
        let hash = record.hash();
        let slots = &self.table[self.bucket(hash)];
        let places = slots.iter().filter(|slot| tag_of(**slot) == tag_of(hash)).map(|slot| place_of(*slot));
        places.filter(|place| self.is_there(*place)).find(|place| self.record_at(*place) == record)
    }

    fn append(&mut self, record: Record, key: &[u8]) {
        let bytes = HEADER_BYTES + key.len();
        let units = bytes.div_ceil(UNIT_BYTES);
        if units * UNIT_BYTES > self.ring_bytes / RECORD_FRACTION {
            return;
        }
        let Ok(length) = u16::try_from(key.len()) else { return };
        if self.ring.is_empty() {
            self.ring = vec![0; self.ring_bytes];
            self.table = vec![0; self.ring_bytes / BYTES_PER_SLOT];
        }
        if self.offset(self.head) + units * UNIT_BYTES > self.ring_bytes {
            // A record lies in one piece, so what is left of the lap stays empty.
            self.head += ((self.ring_bytes - self.offset(self.head)) / UNIT_BYTES) as u64;
        }
        let place = self.head;
        if place + units as u64 >= 1 << PLACE_BITS {
            // After some hundred days of writing nothing else.
            self.table.fill(0);
            self.head = 1;
            return;
        }
        let start = self.offset(place);
        self.ring[start..start + 8].copy_from_slice(&record.container.to_ne_bytes());
        self.ring[start + 8..start + 16].copy_from_slice(&record.number.to_ne_bytes());
        self.ring[start + 16..start + HEADER_BYTES].copy_from_slice(&length.to_ne_bytes());
        self.ring[start + HEADER_BYTES..start + bytes].copy_from_slice(key);
        self.head += units as u64;
        self.note(record, place);
    }

    /// Puts a place into the table: instead of the one that the record had, or of the one that was written first.
    fn note(&mut self, record: Record, place: u64) {
        let hash = record.hash();
        let bucket = self.bucket(hash);
        let is_same = |slot: u64| {
            tag_of(slot) == tag_of(hash)
                && self.is_there(place_of(slot))
                && self.record_at(place_of(slot)) == record
        };
        let slots = &self.table[bucket.clone()];
        let own = slots.iter().position(|slot| is_same(*slot));
        let first = || (0..BUCKET_SLOTS).min_by_key(|at| place_of(slots[*at])).unwrap_or_default();
        let at = bucket.start + own.unwrap_or_else(first);
        self.table[at] = tag_of(hash) << PLACE_BITS | place;
    }

    fn bucket(&self, hash: u64) -> std::ops::Range<usize> {
        let buckets = self.table.len() / BUCKET_SLOTS;
        let bucket = hash as u32 as usize % buckets;
        bucket * BUCKET_SLOTS..(bucket + 1) * BUCKET_SLOTS
    }

    fn offset(&self, place: u64) -> usize {
        (place % (self.ring_bytes / UNIT_BYTES) as u64) as usize * UNIT_BYTES
    }

    /// Returns whether what was written at a place is still there.
    fn is_there(&self, place: u64) -> bool {
        place > 0 && self.head - place <= (self.ring_bytes / UNIT_BYTES) as u64
    }

    fn is_old(&self, place: u64) -> bool {
        self.head - place > (self.ring_bytes / UNIT_BYTES / 2) as u64
    }

    fn record_at(&self, place: u64) -> Record {
        let start = self.offset(place);
        let word = |at: usize| {
            let bytes = self.ring[at..at + 8].first_chunk().expect("a record has two words");
            u64::from_ne_bytes(*bytes)
        };
        Record { container: word(start), number: word(start + 8) }
    }

    fn key_at(&self, place: u64) -> &[u8] {
        let start = self.offset(place);
        let length = [self.ring[start + 16], self.ring[start + 17]];
        let key = start + HEADER_BYTES;
        &self.ring[key..key + usize::from(u16::from_ne_bytes(length))]
    }
}

fn tag_of(word: u64) -> u64 {
    word >> PLACE_BITS
}

fn place_of(slot: u64) -> u64 {
    slot & ((1 << PLACE_BITS) - 1)
}

/// Spreads numbers that the server gives; no client chooses them.
fn spread(word: u64) -> u64 {
    let word = (word ^ word >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    word ^ word >> 29
}

#[cfg(test)]
mod tests;
