//! Latencies counted in fixed classes, cheap to add to and ready for the usual metrics format.

use std::time::Duration;

/// Upper bounds of the classes in microseconds, each inclusive; what took longer is counted beyond the last.
pub const BOUNDS_US: [u64; 24] = [
    5, 10, 20, 30, 50, 100, 200, 300, 500, 1_000, 2_000, 3_000, 5_000, 10_000, 20_000, 30_000, 50_000,
    100_000, 200_000, 300_000, 500_000, 1_000_000, 3_000_000, 10_000_000,
];

/// How many operations took how long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Histogram {
    /// One more than there are bounds: the last counts what is beyond them.
    counts: [u64; BOUNDS_US.len() + 1],
    sum_us: u64,
}

impl Histogram {
    /// Returns one that has counted so many in each class, and so many microseconds together.
    pub fn of_counts(counts: [u64; BOUNDS_US.len() + 1], sum_us: u64) -> Histogram {
        Histogram { counts, sum_us }
    }

    /// Returns how many operations were counted in each class; the last is beyond all bounds.
    pub fn counts(&self) -> &[u64; BOUNDS_US.len() + 1] {
        &self.counts
    }

    /// Counts one operation.
    pub fn record(&mut self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let class = BOUNDS_US.partition_point(|bound| *bound < us);
        self.counts[class] = self.counts[class].saturating_add(1);
        self.sum_us = self.sum_us.saturating_add(us);
    }

    /// Adds what another histogram counted.
    pub fn merge(&mut self, other: &Histogram) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count = count.saturating_add(more);
        }
        self.sum_us = self.sum_us.saturating_add(other.sum_us);
    }

    /// Returns how many operations were counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count))
    }

    /// Returns how long all of them took together, in microseconds.
    pub fn sum_us(&self) -> u64 {
        self.sum_us
    }

    /// Returns each bound in microseconds with how many operations took that long or less.
    pub fn cumulative(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        BOUNDS_US.iter().zip(&self.counts).scan(0_u64, |sum, (bound, count)| {
            *sum = sum.saturating_add(*count);
            Some((*bound, *sum))
        })
    }

    /// Returns an estimate of the time within which this fraction (0 to 1) of the operations ended, in
    /// microseconds; none if there were no operations. Within a class time is taken to be spread evenly.
    pub fn quantile_us(&self, fraction: f64) -> Option<u64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let rank = (fraction.clamp(0.0, 1.0) * count as f64).ceil().max(1.0);
        let (mut below, mut lower) = (0_u64, 0_u64);
        for (bound, in_class) in BOUNDS_US.into_iter().zip(self.counts) {
            if in_class > 0 && (below + in_class) as f64 >= rank {
                let part = (rank - below as f64) / in_class as f64;
                return Some(lower + (part * (bound - lower) as f64).round() as u64);
            }
            below += in_class;
            lower = bound;
        }
        Some(lower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bound_belongs_to_its_class_and_one_more_to_the_next() {
        for (class, bound) in BOUNDS_US.into_iter().enumerate() {
            for (us, expected) in [(bound, class), (bound + 1, class + 1)] {
                let mut histogram = Histogram::default();
                histogram.record(Duration::from_micros(us));
                assert_eq!(histogram.counts.iter().position(|count| *count == 1), Some(expected), "{us} us");
            }
        }
        assert!(BOUNDS_US.is_sorted_by(|low, high| low < high));
    }

    #[test]
    fn quantiles_lie_in_the_class_of_their_rank() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile_us(0.5), None);
        for us in 1..=100 {
            histogram.record(Duration::from_micros(us));
        }
        assert_eq!((histogram.count(), histogram.sum_us()), (100, 5_050));
        for (fraction, expected) in
            [(-1.0, 1), (0.0, 1), (0.5, 50), (0.75, 75), (0.99, 99), (1.0, 100), (7.0, 100)]
        {
            assert_eq!(histogram.quantile_us(fraction), Some(expected), "{fraction}");
        }
        assert_eq!(histogram.quantile_us(f64::NAN), Some(1));
        let mut slow = Histogram::default();
        slow.record(Duration::MAX);
        assert_eq!(slow.quantile_us(0.5), Some(10_000_000), "what is beyond the last bound is shown as it");
        slow.merge(&histogram);
        assert_eq!(slow.count(), 101);
        assert_eq!(slow.sum_us(), u64::MAX);
    }

    #[test]
    fn cumulative_counts_end_with_all_that_is_within_the_bounds() {
        let mut histogram = Histogram::default();
        for us in [5, 5, 6, 10_000_001] {
            histogram.record(Duration::from_micros(us));
        }
        let cumulative: Vec<_> = histogram.cumulative().collect();
        assert_eq!(cumulative[..2], [(5, 2), (10, 3)]);
        assert_eq!(cumulative.last(), Some(&(10_000_000, 3)));
        assert_eq!(histogram.count(), 4);
    }
}
