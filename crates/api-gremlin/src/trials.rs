//! Which traversals are tried in the task of their connection: those of shapes that were done there, the last few times.
//!
//! Most traversals are done sooner than it takes to hand them to another thread. So one is tried for a moment, in which it
//! can neither wait nor write; what is not done by then is begun again on a thread of its own, and so are the next ones of
//! the same shape. One may have failed because the machine was busy or because of its values, so a shape is tried again
//! after a few traversals, and after twice as many each time that it fails again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::limits::TRIAL_SHAPES_MAX;

/// Bits of a word that count how many traversals are still passed over.
const PASSED_BITS: u32 = 12;
/// Bits above that count failures in a row.
const FAILURES_BITS: u32 = 4;

const PASSED_MASK: u64 = (1 << PASSED_BITS) - 1;
const FAILURES_MASK: u64 = (1 << FAILURES_BITS) - 1;
const SHAPE_MASK: u64 = !0 << (PASSED_BITS + FAILURES_BITS);

/// Most failures in a row that count: from then on one traversal of so many is tried.
const FAILURES_MAX: u64 = 10;

/// Shapes that were not done in the time of a trial: one may take the place of another, and all that comes of it is a
/// trial too many or too few.
///
/// ```text
/// shape 48 bits, failures in a row 4 bits, traversals still passed over 12 bits
/// ```
pub(crate) struct Trials(Box<[AtomicU64]>);

impl Default for Trials {
    fn default() -> Trials {
        Trials((0..TRIAL_SHAPES_MAX).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Trials {
    /// Returns whether the next traversal of a shape is worth it.
    pub(crate) fn is_worth_it(&self, shape: u64) -> bool {
        let place = self.place(shape);
        let known = place.load(Ordering::Relaxed);
        if !is_of(known, shape) || known & PASSED_MASK == 0 {
            return true;
        }
        place.store(known - 1, Ordering::Relaxed);
        false
    }

    /// Notes that one was not done in time.
    pub(crate) fn failed(&self, shape: u64) {
        let place = self.place(shape);
        let known = place.load(Ordering::Relaxed);
        let before = if is_of(known, shape) { known >> PASSED_BITS & FAILURES_MASK } else { 0 };
        let failures = (before + 1).min(FAILURES_MAX);
        place.store(shape & SHAPE_MASK | failures << PASSED_BITS | 1 << failures, Ordering::Relaxed);
    }

    /// Notes that one was done in time.
    pub(crate) fn passed(&self, shape: u64) {
        let place = self.place(shape);
        // Written only where it changes: all traversals of all threads come by here.
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

/// A traversal that is tried.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    /// When it has to be done.
    pub(crate) end: Duration,
    is_over: Arc<AtomicBool>,
}

impl Trial {
    pub(crate) fn until(end: Duration) -> Trial {
        Trial { end, is_over: Arc::default() }
    }

    /// Notes that the traversal cannot be done in it.
    pub(crate) fn give_up(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Says whether it was given up: then nothing that came of it counts.
    pub(crate) fn is_given_up(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_that_fail_are_passed_over_for_longer_and_longer() {
        let (trials, shape) = (Trials::default(), 7 << 40 | 3);
        let passed_over = || (0..5_000).take_while(|_| !trials.is_worth_it(shape)).count();
        assert_eq!(passed_over(), 0);
        for expected in [2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_024] {
            trials.failed(shape);
            assert_eq!(passed_over(), expected);
        }
        trials.passed(shape);
        assert!(trials.is_worth_it(shape));
        trials.failed(shape);
        assert_eq!(passed_over(), 2);
        assert!(trials.is_worth_it(9 << 40 | 3), "another shape of the same place");
    }
}
