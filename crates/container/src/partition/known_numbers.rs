//! A bounded memory of which item number has which key.
//!
//! A number belongs to one key for ever, so nothing here is ever wrong; the item itself may be gone. Two
//! generations: what was asked for lately is in the young one, and when that is full the old one is forgotten.

use std::collections::HashMap;

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

use crate::limits::KNOWN_NUMBERS_MAX;

/// Item numbers with their keys.
#[derive(Default)]
pub(crate) struct KnownNumbers(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    young: HashMap<u64, Bytes>,
    old: HashMap<u64, Bytes>,
}

impl KnownNumbers {
    /// Looks numbers up; `None` for those not known.
    pub(crate) fn look_up(&self, numbers: &[u64]) -> Vec<Option<Bytes>> {
        let mut generations = self.lock();
        numbers.iter().map(|number| generations.look_up(*number)).collect()
    }

    /// Remembers some.
    pub(crate) fn remember<'a>(&self, known: impl IntoIterator<Item = (u64, &'a Bytes)>) {
        let mut generations = self.lock();
        for (number, key) in known {
            // A copy, so that a short key does not keep a page alive that it was read from.
            generations.insert(number, Bytes::copy_from_slice(key));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.0.lock()
    }
}

impl Generations {
    fn look_up(&mut self, number: u64) -> Option<Bytes> {
        if let Some(key) = self.young.get(&number) {
            return Some(key.clone());
        }
        let key = self.old.remove(&number)?;
        self.insert(number, key.clone());
        Some(key)
    }

    fn insert(&mut self, number: u64, key: Bytes) {
        if self.young.len() >= KNOWN_NUMBERS_MAX / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(number, key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_keeps_what_is_used() {
        let known = KnownNumbers::default();
        let key = |number: u64| Bytes::copy_from_slice(&number.to_be_bytes());
        for number in 0..10 * KNOWN_NUMBERS_MAX as u64 {
            known.remember([(number, &key(number))]);
            assert_eq!(known.look_up(&[0, u64::MAX]), [Some(key(0)), None]);
            let generations = known.lock();
            assert!(generations.young.len() + generations.old.len() <= KNOWN_NUMBERS_MAX);
        }
        assert_eq!(known.look_up(&[1]), [None]);
    }
}
