//! What was asked in each of the last hours.

use std::collections::BTreeMap;

use crate::limits::HOURS;
use crate::report::Tally;
use crate::room::Room;

/// The tallies of hours that had any requests, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Hours {
    cells: Vec<(i64, Tally)>,
}

const CELL_BYTES: usize = size_of::<(i64, Tally)>();

/// Returns the hour of a time, since 1970.
pub(crate) fn hour_of(now_ms: i64) -> i64 {
    now_ms.div_euclid(3_600_000)
}

impl Hours {
    pub(crate) fn add(&mut self, hour: i64, tally: &Tally, room: &Room) {
        if let Some((last, own)) = self.cells.last_mut()
            && *last == hour
        {
            return own.add(tally);
        }
        match self.cells.binary_search_by_key(&hour, |(own, _)| *own) {
            Ok(place) => self.cells[place].1.add(tally),
            Err(place) => self.insert(place, hour, tally, room),
        }
    }

    fn insert(&mut self, place: usize, hour: i64, tally: &Tally, room: &Room) {
        if self.cells.last().is_some_and(|(last, _)| hour <= last - HOURS) {
            return;
        }
        let gone = self.cells.iter().take_while(|(own, _)| *own <= hour - HOURS).count();
        self.cells.drain(..gone);
        let mut place = place.saturating_sub(gone);
        if self.cells.len() == self.cells.capacity() {
            if room.take(CELL_BYTES) {
                self.cells.reserve_exact(1);
            } else if place > 0 {
                // The oldest makes room.
                self.cells.remove(0);
                place -= 1;
            } else {
                return;
            }
        }
        self.cells.insert(place, (hour, *tally));
    }

    /// Returns the hours of the last day.
    pub(crate) fn told(&self, now_ms: i64) -> BTreeMap<i64, Tally> {
        let begin = hour_of(now_ms) - HOURS;
        self.cells.iter().filter(|(hour, _)| *hour > begin).copied().collect()
    }

    pub(crate) fn give_back(&self, room: &Room) {
        room.give(self.cells.capacity() * CELL_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::Rooms;

    const ONE: Tally = Tally {
        count: 1,
        charge: 0,
        micros: 0,
        micros_max: 0,
        items: 0,
        entries: 0,
        rows: 0,
        bytes: 0,
        partitions: 0,
        keyed: 0,
        ranged: 0,
        throttled: 0,
        refused: 0,
    };

    fn counts(hours: &Hours, now: i64) -> Vec<(i64, u64)> {
        hours.told(now * 3_600_000).into_iter().map(|(hour, tally)| (hour, tally.count)).collect()
    }

    #[test]
    fn hours_roll() {
        let rooms = Rooms::new();
        let mut hours = Hours::default();
        for hour in 0..100 {
            for _ in 0..=hour {
                hours.add(hour, &ONE, &rooms.hours);
            }
        }
        let expected: Vec<(i64, u64)> = (76..100).map(|hour| (hour, hour as u64 + 1)).collect();
        assert_eq!(counts(&hours, 99), expected);
        assert_eq!(counts(&hours, 121), [(98, 99), (99, 100)]);
        assert!(counts(&hours, 123).is_empty());
        // A clock that was a little behind, and one that was far.
        hours.add(98, &ONE, &rooms.hours);
        hours.add(1, &ONE, &rooms.hours);
        assert_eq!(counts(&hours, 121), [(98, 100), (99, 100)]);
        hours.add(200, &ONE, &rooms.hours);
        hours.add(180, &ONE, &rooms.hours);
        assert_eq!(counts(&hours, 200), [(180, 1), (200, 1)]);
        hours.give_back(&rooms.hours);
        assert_eq!(rooms.hours.used(), 0);
    }

    #[test]
    fn without_room_the_oldest_hour_goes() {
        let rooms = Rooms::new();
        let mut hours = Hours::default();
        hours.add(1, &ONE, &rooms.hours);
        hours.add(2, &ONE, &rooms.hours);
        while rooms.hours.take(1_000) || rooms.hours.take(1) {}
        hours.add(4, &ONE, &rooms.hours);
        assert_eq!(counts(&hours, 4), [(2, 1), (4, 1)]);
        hours.add(1, &ONE, &rooms.hours);
        assert_eq!(counts(&hours, 4), [(2, 1), (4, 1)]);
        hours.add(3, &ONE, &rooms.hours);
        assert_eq!(counts(&hours, 4), [(3, 1), (4, 1)]);
        let mut others = Hours::default();
        others.add(4, &ONE, &rooms.hours);
        assert!(counts(&others, 4).is_empty());
    }
}
