//! A bounded memory of records: a ring of bytes, and a table that leads to them by hash.
//!
//! A record takes what it is long and no allocation of its own:
//!
//! ```text
//! length      4 bytes
//! zeros       4 bytes
//! payload     length bytes, and whatever was there before up to a multiple of 8
//! ```
//!
//! What is put last takes the place of what was put first. What its users find in the older half they put again
//! ([`Ring::is_old`]), so what is in use stays. Beside the ring, a table of buckets leads from hashes to places. A place
//! counts on from lap to lap, so one that was written over since is known to be; and a bucket that is full forgets the
//! record that was put first.
//!
//! Most of the time of a look-up is waiting for memory. Who looks up many asks for all of their lines first
//! ([`Ring::touch_slots`], [`Ring::touch_record`]): so they come at once, and not one after the other.

/// Bytes of a record before its payload.
const HEADER_BYTES: usize = 8;

/// Records begin at multiples of this.
const UNIT_BYTES: usize = 8;

/// Slots of a bucket: a line of the processor's cache.
const BUCKET_SLOTS: usize = 8;

/// A slot's bits that are the place of a record; those above tell most records apart without a look at them.
const PLACE_BITS: u32 = 48;

/// A record takes at most this part of its ring.
const RECORD_FRACTION: usize = 16;

/// A ring of records.
#[derive(Debug)]
pub struct Ring {
    /// Empty until something is put.
    bytes: Vec<u8>,
    /// Places of records by hash, with a part of the hash above; zero where there is none.
    table: Vec<u64>,
    /// The length that the ring has then.
    ring_bytes: usize,
    bytes_per_slot: usize,
    /// The place of the next record, in units since the first lap began. The first unit is left out, so that no place is
    /// zero.
    head: u64,
}

/// Where a record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(u64);

impl Ring {
    /// Makes a ring that takes, with its table, at most so many bytes, as soon as something is put. The table has a slot for
    /// each `bytes_per_slot` of the ring: about what the smaller records take.
    pub fn new(bytes_max: usize, bytes_per_slot: usize) -> Ring {
        let slots = bytes_max / (bytes_per_slot + size_of::<u64>());
        let ring_bytes = slots / BUCKET_SLOTS * BUCKET_SLOTS * bytes_per_slot;
        Ring { bytes: Vec::new(), table: Vec::new(), ring_bytes, bytes_per_slot, head: 1 }
    }

    /// Returns the bytes that were taken of the machine.
    pub fn taken_bytes(&self) -> usize {
        self.bytes.capacity() + self.table.capacity() * size_of::<u64>()
    }

    /// Returns the bytes that records have been put into, with their part of the table.
    pub fn used_bytes(&self) -> usize {
        let put = usize::try_from(self.head - 1).unwrap_or(usize::MAX).saturating_mul(UNIT_BYTES);
        let used = put.min(self.ring_bytes);
        used + used.div_ceil(self.bytes_per_slot.max(1)) * size_of::<u64>()
    }

    /// Returns the longest payload.
    pub fn payload_max(&self) -> usize {
        (self.ring_bytes / RECORD_FRACTION / UNIT_BYTES * UNIT_BYTES).saturating_sub(HEADER_BYTES)
    }

    /// Finds the record with a hash that is the one that is meant.
    pub fn find(&self, hash: u64, is_meant: impl Fn(&[u8]) -> bool) -> Option<Place> {
        let candidates = self.candidates(hash)?;
        candidates.map(|(_, place)| place).find(|place| is_meant(self.payload(*place)))
    }

    /// Returns the payload of a record that was found, and nothing was put since.
    pub fn payload(&self, place: Place) -> &[u8] {
        let start = self.offset(place.0);
        let length = self.bytes[start..].first_chunk().map_or(0, |length| u32::from_ne_bytes(*length));
        &self.bytes[start + HEADER_BYTES..start + HEADER_BYTES + length as usize]
    }

    /// Returns whether a record lies in the older half, so that it should be put again to stay.
    pub fn is_old(&self, place: Place) -> bool {
        self.head - place.0 > (self.ring_bytes / UNIT_BYTES / 2) as u64
    }

    /// Puts a record, given in parts, in the place of the one with the same hash that is meant. One that is too long is left
    /// out.
    pub fn put(&mut self, hash: u64, parts: &[&[u8]], is_meant: impl Fn(&[u8]) -> bool) {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let Ok(stored_length) = u32::try_from(length) else { return };
        if self.payload_max() == 0 || length > self.payload_max() {
            return;
        }
        if self.bytes.is_empty() {
            self.bytes = vec![0; self.ring_bytes];
            self.table = vec![0; self.ring_bytes / self.bytes_per_slot];
        }
        // Looked for before the record is written, which may lie where it did.
        let slot = self.slot_for(hash, is_meant);
        let units = (HEADER_BYTES + length).div_ceil(UNIT_BYTES);
        if self.offset(self.head) + units * UNIT_BYTES > self.ring_bytes {
            // A record lies in one piece, so what is left of the lap stays empty.
            self.head += ((self.ring_bytes - self.offset(self.head)) / UNIT_BYTES) as u64;
        }
        let place = self.head;
        if place + units as u64 >= 1 << PLACE_BITS {
            // After some hundred days of putting nothing else.
            self.table.fill(0);
            self.head = 1;
            return;
        }
        let mut at = self.offset(place);
        self.bytes[at..at + 4].copy_from_slice(&stored_length.to_ne_bytes());
        at += HEADER_BYTES;
        for part in parts {
            self.bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        self.head += units as u64;
        self.table[slot] = tag_of(hash) << PLACE_BITS | place;
    }

    /// Forgets the record with a hash that is meant.
    pub fn remove(&mut self, hash: u64, is_meant: impl Fn(&[u8]) -> bool) {
        let found = self
            .candidates(hash)
            .and_then(|mut all| all.find(|(_, place)| is_meant(self.payload(*place))).map(|(slot, _)| slot));
        if let Some(slot) = found {
            self.table[slot] = 0;
        }
    }

    /// Forgets all records but some.
    pub fn retain(&mut self, is_kept: impl Fn(&[u8]) -> bool) {
        for slot in 0..self.table.len() {
            let place = place_of(self.table[slot]);
            if self.is_there(place) && !is_kept(self.payload(place)) {
                self.table[slot] = 0;
            }
        }
    }

    /// Asks for the memory that says where the record with a hash is. What is returned means nothing.
    pub fn touch_slots(&self, hash: u64) -> u64 {
        self.table.get(self.bucket(hash)).copied().unwrap_or(0)
    }

    /// Asks for the memory that the record with a hash begins with. What is returned means nothing.
    pub fn touch_record(&self, hash: u64) -> u64 {
        let candidates = self.candidates(hash).into_iter().flatten();
        candidates.map(|(_, place)| u64::from(self.bytes[self.offset(place.0)])).sum()
    }

    /// Returns the records that may have a hash, each with its slot.
    fn candidates(&self, hash: u64) -> Option<impl Iterator<Item = (usize, Place)>> {
        let bucket = self.bucket(hash);
        let slots = self.table.get(bucket..bucket + BUCKET_SLOTS)?;
        let tag = tag_of(hash);
        let is_candidate = move |slot: &u64| tag_of(*slot) == tag && self.is_there(place_of(*slot));
        let numbered = slots.iter().enumerate().filter(move |(_, slot)| is_candidate(slot));
        Some(numbered.map(move |(at, slot)| (bucket + at, place_of(*slot))))
    }

    /// Returns the slot of the record that is meant, or else of the one in its bucket that was put first.
    fn slot_for(&self, hash: u64, is_meant: impl Fn(&[u8]) -> bool) -> usize {
        let own = self
            .candidates(hash)
            .and_then(|mut all| all.find(|(_, place)| is_meant(self.payload(*place))).map(|(slot, _)| slot));
        own.unwrap_or_else(|| {
            let bucket = self.bucket(hash);
            let all = bucket..bucket + BUCKET_SLOTS;
            all.min_by_key(|slot| place_of(self.table[*slot]).0).unwrap_or(bucket)
        })
    }

    /// Returns the first slot of the bucket of a hash.
    fn bucket(&self, hash: u64) -> usize {
        let buckets = (self.table.len() / BUCKET_SLOTS) as u64;
        // The low half of the hash, spread over all buckets.
        ((u64::from(hash as u32) * buckets) >> 32) as usize * BUCKET_SLOTS
    }

    fn offset(&self, place: u64) -> usize {
        (place % (self.ring_bytes / UNIT_BYTES) as u64) as usize * UNIT_BYTES
    }

    /// Returns whether what was put at a place is still there.
    fn is_there(&self, place: Place) -> bool {
        place.0 > 0 && self.head - place.0 <= (self.ring_bytes / UNIT_BYTES) as u64
    }
}

fn tag_of(word: u64) -> u64 {
    word >> PLACE_BITS
}

fn place_of(slot: u64) -> Place {
    Place(slot & ((1 << PLACE_BITS) - 1))
}

#[cfg(test)]
mod tests;
