//! The logical keys that cost the most in the last minute, found in bounded space.
//!
//! Space-Saving (Metwally, Agrawal, El Abbadi 2005): a fixed number of keys is counted; a key that is not
//! among them takes the place of the smallest and starts from its count, which is noted as what the key may
//! be overestimated by. So the true charge lies between `charge - overestimate` and `charge`, and a key with
//! more than one part in [`HOT_KEYS_COUNTED`] of all charge is never missed.
//!
//! Age: one sketch per clock minute; the one before counts for the part of it that is still within the last
//! sixty seconds.

use crate::limits::{HOT_KEY_BYTES_MAX, HOT_KEYS_COUNTED, HOT_KEYS_MAX, MINUTE_WINDOWS};
use crate::units::RequestUnits;

/// A logical key that cost much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotKey {
    /// The key, as it was recorded.
    pub logical: Vec<u8>,
    /// What it cost in the last minute: an estimate that is never too low for what was counted.
    pub charge: RequestUnits,
    /// How much of that may belong to other keys.
    pub overestimate: RequestUnits,
    /// How many of its requests were refused in the last minute, as far as they were counted.
    pub refused: u64,
}

/// The hottest keys of the last minute.
#[derive(Debug, Default)]
pub(crate) struct HotKeys {
    minute: i64,
    current: Sketch,
    before: Sketch,
}

impl HotKeys {
    pub(crate) fn record(&mut self, second: i64, logical: &[u8], charge: RequestUnits) {
        self.advance(second);
        self.current.add(logical, charge.hundredths());
    }

    pub(crate) fn refused(&mut self, second: i64, logical: &[u8]) {
        self.advance(second);
        self.current.refuse(logical);
    }

    /// The hottest keys, the hottest first. A key of which more than half is a guess is left out: where many
    /// keys cost alike, none is hot.
    pub(crate) fn hottest(&mut self, second: i64) -> Vec<HotKey> {
        self.advance(second);
        let gone = second.rem_euclid(MINUTE).unsigned_abs();
        let still = |amount: u64| {
            let minute = MINUTE.unsigned_abs();
            u64::try_from(u128::from(amount) * u128::from(minute - gone) / u128::from(minute))
                .unwrap_or(amount)
        };
        let mut keys: Vec<(&[u8], Count)> = Vec::with_capacity(2 * HOT_KEYS_COUNTED);
        keys.extend(self.current.counts());
        for (key, count) in self.before.counts() {
            let aged = Count {
                charge: still(count.charge),
                overestimate: still(count.overestimate),
                refused: still(count.refused),
            };
            match keys.iter_mut().find(|(known, _)| *known == key) {
                Some((_, known)) => known.add(aged),
                None => keys.push((key, aged)),
            }
        }
        keys.retain(|(_, count)| count.charge > 0 && count.overestimate <= count.charge / 2);
        keys.sort_by(|(one, one_count), (other, other_count)| {
            other_count.charge.cmp(&one_count.charge).then_with(|| one.cmp(other))
        });
        keys.truncate(HOT_KEYS_MAX);
        keys.into_iter()
            .map(|(key, count)| HotKey {
                logical: key.to_vec(),
                charge: RequestUnits::from_hundredths(count.charge),
                overestimate: RequestUnits::from_hundredths(count.overestimate),
                refused: count.refused,
            })
            .collect()
    }

    fn advance(&mut self, second: i64) {
        let minute = second.div_euclid(MINUTE);
        if minute == self.minute {
            return;
        }
        if minute == self.minute.saturating_add(1) {
            std::mem::swap(&mut self.current, &mut self.before);
        } else {
            self.before.clear();
        }
        self.current.clear();
        self.minute = minute;
    }
}

const MINUTE: i64 = MINUTE_WINDOWS as i64;

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    charge: u64,
    overestimate: u64,
    refused: u64,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.charge = self.charge.saturating_add(other.charge);
        self.overestimate = self.overestimate.saturating_add(other.overestimate);
        self.refused = self.refused.saturating_add(other.refused);
    }
}

/// Columns rather than rows: a lookup walks the hashes alone, a replacement the charges alone.
#[derive(Debug, Default)]
struct Sketch {
    hashes: Vec<u64>,
    charges: Vec<u64>,
    overestimates: Vec<u64>,
    refusals: Vec<u64>,
    /// Longer than the other columns after a clear: the buffers are used again.
    keys: Vec<Vec<u8>>,
}

impl Sketch {
    fn add(&mut self, key: &[u8], charge: u64) {
        if charge == 0 || key.len() > HOT_KEY_BYTES_MAX {
            return;
        }
        let hash = hash(key);
        if let Some(place) = self.find(hash, key) {
            self.charges[place] = self.charges[place].saturating_add(charge);
            return;
        }
        if self.hashes.len() < HOT_KEYS_COUNTED {
            let place = self.hashes.len();
            self.hashes.push(hash);
            self.charges.push(charge);
            self.overestimates.push(0);
            self.refusals.push(0);
            match self.keys.get_mut(place) {
                Some(buffer) => refill(buffer, key),
                None => self.keys.push(key.to_vec()),
            }
            return;
        }
        let place = smallest(&self.charges);
        let least = self.charges[place];
        self.hashes[place] = hash;
        self.charges[place] = least.saturating_add(charge);
        self.overestimates[place] = least;
        self.refusals[place] = 0;
        refill(&mut self.keys[place], key);
    }

    fn refuse(&mut self, key: &[u8]) {
        if let Some(place) = self.find(hash(key), key) {
            self.refusals[place] = self.refusals[place].saturating_add(1);
        }
    }

    fn find(&self, hash: u64, key: &[u8]) -> Option<usize> {
        let mut from = 0;
        while let Some(next) = self.hashes[from..].iter().position(|known| *known == hash) {
            let place = from + next;
            if self.keys[place] == key {
                return Some(place);
            }
            from = place + 1;
        }
        None
    }

    fn counts(&self) -> impl Iterator<Item = (&[u8], Count)> {
        (0..self.hashes.len()).map(|place| {
            let count = Count {
                charge: self.charges[place],
                overestimate: self.overestimates[place],
                refused: self.refusals[place],
            };
            (self.keys[place].as_slice(), count)
        })
    }

    fn clear(&mut self) {
        self.hashes.clear();
        self.charges.clear();
        self.overestimates.clear();
        self.refusals.clear();
    }
}

/// Makes `buffer` hold `key`, in the memory it has.
fn refill(buffer: &mut Vec<u8>, key: &[u8]) {
    buffer.clear();
    buffer.extend_from_slice(key);
}

/// Place of the smallest value, the first among equals.
fn smallest(values: &[u64]) -> usize {
    // Two plain walks: each is vectorised, one that carries the place along is not.
    let least = values.iter().copied().min().unwrap_or(0);
    values.iter().position(|value| *value == least).unwrap_or(0)
}

/// Mixes eight bytes at a time. Keys are compared as well, so a bad hash costs time alone.
fn hash(key: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |hash: u64, word: u64| {
        let wide = u128::from(hash ^ word).wrapping_mul(u128::from(FACTOR));
        (wide as u64) ^ ((wide >> 64) as u64)
    };
    let (words, rest) = key.as_chunks::<8>();
    let mut hash = words
        .iter()
        .fold(FACTOR.wrapping_mul(key.len() as u64 + 1), |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    hash = mix(hash, u64::from_le_bytes(last));
    mix(hash, FACTOR)
}

#[cfg(test)]
mod tests;
