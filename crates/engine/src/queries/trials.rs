//! Which queries are worth a trial: those of shapes that were done in its time, the last few times.
//!
//! A query may have failed because the machine was busy, or because its values were rare ones. So a shape that has failed
//! is tried again after a few of its queries, and after twice as many each time that it fails again.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::limits::TRIAL_SHAPES_MAX;

/// Bits of a word that count how many queries are still passed over.
const PASSED_BITS: u32 = 12;

/// Bits above that count failures in a row.
const FAILURES_BITS: u32 = 4;

const PASSED_MASK: u64 = (1 << PASSED_BITS) - 1;
const FAILURES_MASK: u64 = (1 << FAILURES_BITS) - 1;
const SHAPE_MASK: u64 = !0 << (PASSED_BITS + FAILURES_BITS);

/// Most failures in a row that count: from then on one query of so many is tried.
const FAILURES_MAX: u64 = 10;

/// Shapes of queries that were not done in the time of a trial: one may take the place of another, and all that comes of
/// it is a trial too many or too few.
///
/// ```text
/// shape 48 bits, failures in a row 4 bits, queries still passed over 12 bits
/// ```
pub(super) struct Trials(Box<[AtomicU64]>);

impl Default for Trials {
    fn default() -> Trials {
        Trials((0..TRIAL_SHAPES_MAX).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Trials {
    /// Returns whether the next query of a shape is worth it.
    pub(super) fn is_worth_it(&self, shape: u64) -> bool {
        let place = self.place(shape);
        let known = place.load(Ordering::Relaxed);
        if !is_of(known, shape) || known & PASSED_MASK == 0 {
            return true;
        }
        place.store(known - 1, Ordering::Relaxed);
        false
    }

    /// Notes that one was not done in time.
    pub(super) fn failed(&self, shape: u64) {
        let place = self.place(shape);
        let known = place.load(Ordering::Relaxed);
        let before = if is_of(known, shape) { known >> PASSED_BITS & FAILURES_MASK } else { 0 };
        let failures = (before + 1).min(FAILURES_MAX);
        place.store(shape & SHAPE_MASK | failures << PASSED_BITS | 1 << failures, Ordering::Relaxed);
    }

    /// Notes that one was done in time.
    pub(super) fn passed(&self, shape: u64) {
        let place = self.place(shape);
        // Written only where it changes: all queries of all threads come by here.
        if is_of(place.load(Ordering::Relaxed), shape) {
            place.store(0, Ordering::Relaxed);
        }
    }

    fn place(&self, shape: u64) -> &AtomicU64 {
        // Other bits than those that tell shapes of one place apart.
        &self.0[shape as usize % self.0.len()]
    }
}

fn is_of(known: u64, shape: u64) -> bool {
    known != 0 && known & SHAPE_MASK == shape & SHAPE_MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many queries of a shape are passed over until one is tried.
    fn passed_over(trials: &Trials, shape: u64) -> usize {
        std::iter::from_fn(|| (!trials.is_worth_it(shape)).then_some(())).count()
    }

    #[test]
    fn who_fails_again_waits_twice_as_long_and_who_passes_is_forgiven() {
        let trials = Trials::default();
        let shape = 0xDEAD_BEEF_1234_5678;
        assert_eq!(passed_over(&trials, shape), 0);
        for expected in [2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_024, 1_024] {
            trials.failed(shape);
            assert_eq!(passed_over(&trials, shape), expected);
        }
        trials.passed(shape);
        assert_eq!(passed_over(&trials, shape), 0);
        trials.failed(shape);
        assert_eq!(passed_over(&trials, shape), 2);
    }

    #[test]
    fn shapes_of_one_place_do_not_speak_for_each_other() {
        let trials = Trials::default();
        let (one, other) = (1 << 40 | 7, 2 << 40 | 7);
        trials.failed(one);
        assert!(trials.is_worth_it(other));
        trials.passed(other);
        assert!(!trials.is_worth_it(one));
        trials.failed(other);
        assert!(trials.is_worth_it(one), "the other has its place");
    }
}
