//! When the operations of an open loop should be sent.
//!
//! An open loop does not wait for answers: operation `n` is due at `n / rate`, whatever became of those before it, and
//! its latency counts from then. So an operation that had to wait for a free connection, because the server was slow,
//! shows the wait, as it would have to a user who came at that moment.
//!
//! Not here: waiting until operations are due (`metronome`).

use std::time::Duration;

/// A steady rate over a warm-up and a window that is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Schedule {
    rate: f64,
    warm_up: Duration,
    window: Duration,
}

impl Schedule {
    /// Returns the schedule of so many operations a second.
    pub(crate) fn new(rate: f64, warm_up: Duration, window: Duration) -> Schedule {
        Schedule { rate, warm_up, window }
    }

    /// Returns how long after the start an operation is due.
    pub(crate) fn due_at(&self, number: u64) -> Duration {
        // Computed from the number and not added up, so that no error grows.
        Duration::from_secs_f64(number as f64 / self.rate)
    }

    /// Returns how many operations are due once so much time has passed since the start.
    pub(crate) fn due_count(&self, elapsed: Duration) -> u64 {
        let elapsed = elapsed.min(self.end());
        let mut count = (elapsed.as_secs_f64() * self.rate) as u64;
        // The product may be rounded to either side of a whole number.
        while self.due_at(count) <= elapsed {
            count += 1;
        }
        while count > 0 && self.due_at(count - 1) > elapsed {
            count -= 1;
        }
        count.min(self.total())
    }

    /// Returns how many operations are due before the end.
    pub(crate) fn total(&self) -> u64 {
        self.before(self.end())
    }

    /// Returns how many operations are due inside of the window.
    pub(crate) fn in_window(&self) -> u64 {
        self.total() - self.before(self.warm_up)
    }

    /// Returns how many operations of the window are among the first so many.
    pub(crate) fn in_window_of(&self, first: u64) -> u64 {
        first.min(self.total()).saturating_sub(self.before(self.warm_up))
    }

    /// Returns when the window ends.
    pub(crate) fn end(&self) -> Duration {
        self.warm_up + self.window
    }

    /// Operations that are due strictly before a moment.
    fn before(&self, moment: Duration) -> u64 {
        let mut count = (moment.as_secs_f64() * self.rate) as u64;
        while self.due_at(count) < moment {
            count += 1;
        }
        while count > 0 && self.due_at(count - 1) >= moment {
            count -= 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn schedule(rate: f64, warm_up_ms: u64, window_ms: u64) -> Schedule {
        Schedule::new(rate, Duration::from_millis(warm_up_ms), Duration::from_millis(window_ms))
    }

    #[test]
    fn operations_are_due_at_even_distances() {
        let schedule = schedule(1_000.0, 500, 2_000);
        for (number, expected_us) in [(0, 0), (1, 1_000), (999, 999_000), (2_499, 2_499_000)] {
            assert_eq!(schedule.due_at(number), Duration::from_micros(expected_us));
        }
        for (elapsed_us, expected) in [
            (0, 1),
            (999, 1),
            (1_000, 2),
            (499_999, 500),
            (500_000, 501),
            (2_499_000, 2_500),
            (2_500_000, 2_500),
            (9_000_000, 2_500),
        ] {
            assert_eq!(schedule.due_count(Duration::from_micros(elapsed_us)), expected, "{elapsed_us}");
        }
        assert_eq!((schedule.total(), schedule.in_window()), (2_500, 2_000));
        for (first, expected) in [(0, 0), (500, 0), (501, 1), (2_499, 1_999), (2_500, 2_000), (9_999, 2_000)]
        {
            assert_eq!(schedule.in_window_of(first), expected, "{first}");
        }
    }

    #[test]
    fn slow_and_fast_rates() {
        for (rate, window_ms, expected) in
            [(0.1, 1_000, 1), (0.1, 10_000, 1), (0.1, 10_001, 2), (3.0, 1_000, 3), (1e6, 100, 100_000)]
        {
            assert_eq!(schedule(rate, 0, window_ms).total(), expected, "{rate} for {window_ms} ms");
        }
    }

    proptest! {
        #[test]
        fn every_operation_is_due_once_its_time_has_come(
            rate in 0.1f64..100_000.0,
            warm_up_ms in 0u64..5_000,
            window_ms in 100u64..20_000,
            part in 0.0f64..1.0,
        ) {
            let schedule = schedule(rate, warm_up_ms, window_ms);
            let elapsed = schedule.end().mul_f64(part);
            let count = schedule.due_count(elapsed);
            prop_assert!(count <= schedule.total());
            prop_assert!(count == 0 || schedule.due_at(count - 1) <= elapsed);
            prop_assert!(count == schedule.total() || schedule.due_at(count) > elapsed);
            prop_assert_eq!(schedule.due_count(schedule.end()), schedule.total());
            prop_assert!(schedule.due_at(schedule.total()) >= schedule.end());
            prop_assert_eq!(schedule.in_window_of(schedule.total()), schedule.in_window());
        }
    }
}
