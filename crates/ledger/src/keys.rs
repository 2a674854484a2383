//! The logical partitions of a container that cost the most.

use armilla_value::PartitionKey;

use crate::hash;
use crate::heaviest::Heaviest;
use crate::limits::{FIRST_COUNTED, KEY_BYTES_MAX, KEYS_COUNTED};
use crate::report::KeyTally;
use crate::room::Room;
use crate::sizes;

/// The keys of a container, by what they cost.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    heaviest: Heaviest<Counted>,
}

#[derive(Debug)]
struct Counted {
    key: PartitionKey,
    count: u64,
}

/// What is kept free for the first keys of containers, in a hundred.
const KEPT_BACK: usize = 50;

impl Keys {
    /// What is held that no room counts.
    pub(crate) const SPARE_BYTES: usize = Heaviest::<Counted>::SPARE_BYTES;

    /// Counts requests to a key, and what they cost.
    pub(crate) fn count(&mut self, key: &PartitionKey, count: u64, charge: u64, room: &Room) {
        self.add(KeyFigures { key, count, charge, overestimate: 0 }, room);
    }

    /// Counts what an earlier report says.
    pub(crate) fn restore(&mut self, told: &KeyTally, room: &Room) {
        let KeyTally { key, count, charge, overestimate } = told;
        self.add(KeyFigures { key, count: *count, charge: *charge, overestimate: *overestimate }, room);
    }

    fn add(&mut self, figures: KeyFigures<'_>, room: &Room) {
        let KeyFigures { key, count, charge, overestimate } = figures;
        let hash = hash::key(key);
        if let Some(place) = self.heaviest.find(hash, |own| own.key == *key) {
            let counted = self.heaviest.add(place, charge);
            counted.count = counted.count.saturating_add(count);
            return;
        }
        if charge == 0 || key.bytes_len() > KEY_BYTES_MAX || size_of_val(&*key.0) > KEY_BYTES_MAX {
            return;
        }
        let has_place = self.heaviest.len() < KEYS_COUNTED;
        let kept_back = if self.heaviest.len() < FIRST_COUNTED { 0 } else { KEPT_BACK };
        if has_place && room.take_but(kept_back, bytes(key)) {
            self.heaviest.push(hash, charge, overestimate, Counted { key: key.clone(), count });
            return;
        }
        let Some(place) = self.heaviest.lightest() else { return };
        let before = self.heaviest.at(place).0;
        if room.exchange(bytes(&before.key), bytes(key)) {
            // It may have been asked as often as the one before it.
            let count = before.count.saturating_add(count);
            self.heaviest.replace(place, hash, charge, Counted { key: key.clone(), count });
        }
    }

    /// Returns the keys, the dearest first.
    pub(crate) fn told(&self) -> Vec<KeyTally> {
        let told = self.heaviest.iter().map(|(counted, charge, overestimate)| KeyTally {
            key: counted.key.clone(),
            count: counted.count,
            charge,
            overestimate,
        });
        let mut told: Vec<KeyTally> = told.collect();
        told.sort_by_cached_key(|tally| (std::cmp::Reverse(tally.charge), tally.key.to_json()));
        told
    }

    pub(crate) fn give_back(&self, room: &Room) {
        room.give(self.heaviest.iter().map(|(counted, ..)| bytes(&counted.key)).sum());
    }
}

struct KeyFigures<'k> {
    key: &'k PartitionKey,
    count: u64,
    charge: u64,
    overestimate: u64,
}

fn bytes(key: &PartitionKey) -> usize {
    Heaviest::<Counted>::ENTRY_BYTES + sizes::key(key)
}

#[cfg(test)]
mod tests {
    use armilla_value::Component;

    use super::*;
    use crate::room::Rooms;

    fn key(text: &str) -> PartitionKey {
        PartitionKey(vec![Component::String(text.to_owned())])
    }

    #[test]
    fn the_dearest_keys_are_found_among_many() {
        let rooms = Rooms::new();
        let mut keys = Keys::default();
        for at in 0..20_000_u32 {
            keys.count(&key(&format!("cold {at}")), 1, 10, &rooms.keys);
            if at % 4 == 0 {
                keys.count(&key("hot"), 1, 100, &rooms.keys);
            }
        }
        let told = keys.told();
        assert_eq!(told.len(), KEYS_COUNTED);
        let hot = &told[0];
        assert_eq!(hot.key, key("hot"));
        assert!(hot.charge >= 500_000 && hot.charge - hot.overestimate <= 500_000, "{hot:?}");
        assert!(hot.count >= 5_000, "{hot:?}");
        keys.give_back(&rooms.keys);
        assert_eq!(rooms.keys.used(), 0);
    }

    #[test]
    fn long_keys_are_left_out() {
        let rooms = Rooms::new();
        let mut keys = Keys::default();
        keys.count(&key(&"x".repeat(KEY_BYTES_MAX + 1)), 1, 10, &rooms.keys);
        assert!(keys.told().is_empty());
        keys.count(&key(&"x".repeat(KEY_BYTES_MAX)), 1, 10, &rooms.keys);
        assert_eq!(keys.told().len(), 1);
    }

    #[test]
    fn every_container_has_its_first_keys() {
        let rooms = Rooms::new();
        let counted: Vec<usize> = (0..800)
            .map(|_| {
                let mut keys = Keys::default();
                for at in 0..100 {
                    keys.count(&key(&format!("a key of some length {at}")), 1, 10, &rooms.keys);
                }
                keys.told().len()
            })
            .collect();
        assert_eq!(counted[0], KEYS_COUNTED);
        assert_eq!(counted[500], FIRST_COUNTED);
    }
}
