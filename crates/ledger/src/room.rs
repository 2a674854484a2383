//! What a part of the ledger may hold, over all containers: taken before something is kept, given back when it goes.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use crate::limits::{
    CHANGES_BYTES_MAX, CONTAINERS_MAX, EXAMPLES_BYTES_MAX, HOURS_BYTES_MAX, ITEMS_BYTES_MAX, KEYS_BYTES_MAX,
    SHAPE_TEXTS_BYTES_MAX, SHAPES_MAX,
};

/// A bound that several threads use up.
#[derive(Debug)]
pub(crate) struct Room {
    used: AtomicUsize,
    most: usize,
}

impl Room {
    const fn new(most: usize) -> Room {
        Room { used: AtomicUsize::new(0), most }
    }

    /// Takes some if there is as much left.
    pub(crate) fn take(&self, amount: usize) -> bool {
        self.take_below(amount, self.most)
    }

    /// Takes some if there is as much left without `kept_back` parts in a hundred.
    pub(crate) fn take_but(&self, kept_back: usize, amount: usize) -> bool {
        self.take_below(amount, self.most / 100 * (100 - kept_back))
    }

    fn take_below(&self, amount: usize, most: usize) -> bool {
        let after = |used: usize| used.checked_add(amount).filter(|after| *after <= most);
        self.used.fetch_update(Relaxed, Relaxed, after).is_ok()
    }

    pub(crate) fn give(&self, amount: usize) {
        self.used.fetch_sub(amount, Relaxed);
    }

    /// Gives `before` back and takes `after`, or does neither.
    pub(crate) fn exchange(&self, before: usize, after: usize) -> bool {
        match after.checked_sub(before) {
            Some(more) => self.take(more),
            None => {
                self.give(before - after);
                true
            }
        }
    }

    pub(crate) fn used(&self) -> usize {
        self.used.load(Relaxed)
    }
}

/// The rooms of a ledger, and what else its shards share.
#[derive(Debug)]
pub(crate) struct Rooms {
    /// Containers, by their number.
    pub(crate) containers: Room,
    /// Shapes, by their number.
    pub(crate) shapes: Room,
    /// The rest by bytes.
    pub(crate) texts: Room,
    pub(crate) hours: Room,
    pub(crate) examples: Room,
    pub(crate) keys: Room,
    pub(crate) changes: Room,
    pub(crate) items: Room,
    /// What the next new shape is named.
    pub(crate) next_shape: AtomicU32,
}

impl Rooms {
    pub(crate) const fn new() -> Rooms {
        Rooms {
            containers: Room::new(CONTAINERS_MAX),
            shapes: Room::new(SHAPES_MAX),
            texts: Room::new(SHAPE_TEXTS_BYTES_MAX),
            hours: Room::new(HOURS_BYTES_MAX),
            examples: Room::new(EXAMPLES_BYTES_MAX),
            keys: Room::new(KEYS_BYTES_MAX),
            changes: Room::new(CHANGES_BYTES_MAX),
            items: Room::new(ITEMS_BYTES_MAX),
            next_shape: AtomicU32::new(1),
        }
    }

    /// Returns the bytes of what is held, without containers and shapes, which are of one size each.
    pub(crate) fn bytes(&self) -> usize {
        [&self.texts, &self.hours, &self.examples, &self.keys, &self.changes, &self.items]
            .map(Room::used)
            .iter()
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_gives_up_to_its_bound() {
        let room = Room::new(100);
        assert!(!room.take_but(25, 76));
        assert!(room.take_but(25, 75));
        assert!(!room.take_but(25, 1));
        assert!(room.take(25));
        assert!(!room.take(1));
        assert!(!room.exchange(10, 11));
        assert!(room.exchange(10, 9));
        assert!(room.exchange(9, 10));
        assert!(!room.take(usize::MAX));
        room.give(100);
        assert_eq!(room.used(), 0);
    }
}
