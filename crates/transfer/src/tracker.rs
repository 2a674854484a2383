//! Which records are done, in the order of the input.
//!
//! Records are done in any order; what counts for going on later is up to where all of them are.

use std::collections::VecDeque;

use armilla_value::fingerprint;

/// How far an import is: so many records from the beginning are done, and these they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// How many records are done.
    pub(crate) records: u64,
    /// A fingerprint of all of them.
    pub(crate) fingerprint: u64,
}

impl Position {
    /// Returns the position behind the next record.
    pub(crate) fn behind(self, record: &[u8]) -> Position {
        let hash = fingerprint(record) as u64;
        Position {
            records: self.records + 1,
            fingerprint: (self.fingerprint.rotate_left(7) ^ hash).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        }
    }
}

/// Records that are under way.
#[derive(Debug)]
pub(crate) struct Tracker {
    done: Position,
    /// Behind `done`, in order: the position behind each record, and whether that is done.
    open: VecDeque<(Position, bool)>,
}

impl Tracker {
    /// Starts behind records that were done before.
    pub(crate) fn new(done: Position) -> Tracker {
        Tracker { done, open: VecDeque::new() }
    }

    /// Takes the next record on; what is told is the position behind it.
    pub(crate) fn begin(&mut self, behind: Position) {
        self.open.push_back((behind, false));
    }

    /// Ends a record, by its number from 1.
    pub(crate) fn end(&mut self, number: u64) {
        let first = self.done.records + 1;
        if let Some(index) = number.checked_sub(first)
            && let Some(record) = self.open.get_mut(index as usize)
        {
            record.1 = true;
        }
        while let Some((behind, true)) = self.open.front() {
            self.done = *behind;
            self.open.pop_front();
        }
    }

    /// Returns up to where all records are done.
    pub(crate) fn done(&self) -> Position {
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn done_is_what_has_no_gap_before_it() {
        let start = Position { records: 10, fingerprint: 7 };
        let mut tracker = Tracker::new(start);
        let mut behind = vec![start];
        for number in 0..4u8 {
            behind.push(behind[number as usize].behind(&[number]));
            tracker.begin(behind[number as usize + 1]);
        }
        for (ended, expected) in [(12, 0), (14, 0), (11, 2), (11, 2), (13, 4), (99, 4), (1, 4)] {
            tracker.end(ended);
            assert_eq!(tracker.done(), behind[expected], "{ended}");
        }
    }

    #[test]
    fn positions_know_what_was_before_them() {
        let of = |records: &[&str]| {
            records.iter().fold(Position::default(), |at, record| at.behind(record.as_bytes()))
        };
        let two = of(&["a", "b"]);
        assert_eq!(two.records, 2);
        assert_eq!(of(&["a", "b"]), two);
        for other in [&["b", "a"][..], &["ab", ""], &["a", "c"]] {
            assert_ne!(of(other), two);
        }
    }
}
