//! Counting operations: latencies in histograms, charges, refusals, failures.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::limits::LATENCY_MAX;

/// Significant digits of a latency.
const DIGITS: u8 = 3;

/// The percentiles of a curve, from the median to the slowest of ten thousand.
pub(crate) const CURVE_PERCENTILES: [f64; 15] =
    [1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.8, 99.9, 99.95, 99.99];

/// Latencies, in nanoseconds.
#[derive(Debug, Clone)]
pub(crate) struct Latencies(Histogram<u64>);

impl Latencies {
    /// Returns none.
    pub(crate) fn new() -> Latencies {
        Latencies(
            Histogram::new_with_bounds(1, nanoseconds(LATENCY_MAX), DIGITS).expect("the bounds are valid"),
        )
    }

    /// Counts one; what is beyond the largest counts as the largest.
    pub(crate) fn record(&mut self, latency: Duration) {
        self.0.saturating_record(nanoseconds(latency.min(LATENCY_MAX)).max(1));
    }

    /// Counts all of another.
    pub(crate) fn add(&mut self, other: &Latencies) {
        self.0.add(&other.0).expect("all have the same bounds");
    }

    /// Returns how many there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns the figures of all.
    pub(crate) fn quantiles(&self) -> Quantiles {
        let at = |percentile: f64| self.percentile_us(percentile);
        Quantiles {
            mean_us: self.0.mean() / 1_000.0,
            p50_us: at(50.0),
            p90_us: at(90.0),
            p99_us: at(99.0),
            p999_us: at(99.9),
            max_us: self.0.max() as f64 / 1_000.0,
        }
    }

    /// Returns percentiles with their latencies in microseconds, as far as there are enough latencies to tell.
    pub(crate) fn curve(&self) -> Vec<(f64, f64)> {
        // A little less, since a percentile such as 99.9 is not that number exactly.
        const ONE: f64 = 0.999;
        let count = self.count() as f64;
        CURVE_PERCENTILES
            .into_iter()
            .filter(|percentile| count * (100.0 - percentile) / 100.0 >= ONE)
            .map(|percentile| (percentile, self.percentile_us(percentile)))
            .collect()
    }

    fn percentile_us(&self, percentile: f64) -> f64 {
        // A bucket answers with its highest value, which may lie above all that were counted.
        self.0.value_at_percentile(percentile).min(self.0.max()) as f64 / 1_000.0
    }
}

/// What is said of many latencies, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quantiles {
    /// The mean.
    pub mean_us: f64,
    /// Half are below.
    pub p50_us: f64,
    /// Nine of ten are below.
    pub p90_us: f64,
    /// All but one of a hundred are below.
    pub p99_us: f64,
    /// All but one of a thousand are below.
    pub p999_us: f64,
    /// The longest.
    pub max_us: f64,
}

/// What became of operations of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    /// From the moment when an operation was due, or began where there is no schedule, to its answer.
    pub(crate) latencies: Latencies,
    /// From the moment when an operation was sent to its answer.
    pub(crate) services: Latencies,
    /// What they were charged, where the side charges anything.
    pub(crate) charge: Option<f64>,
    /// Requests that they took.
    pub(crate) requests: u64,
    /// Items that they read, wrote or were given.
    pub(crate) items: u64,
    /// Operations that were refused for want of throughput.
    pub(crate) refused: u64,
    /// Operations that failed.
    pub(crate) failed: u64,
}

impl Tally {
    /// Returns that of no operation.
    pub(crate) fn new() -> Tally {
        Tally {
            latencies: Latencies::new(),
            services: Latencies::new(),
            charge: None,
            requests: 0,
            items: 0,
            refused: 0,
            failed: 0,
        }
    }

    /// Counts all operations of another.
    pub(crate) fn add(&mut self, other: &Tally) {
        self.latencies.add(&other.latencies);
        self.services.add(&other.services);
        self.charge = match (self.charge, other.charge) {
            (None, None) => None,
            (own, other) => Some(own.unwrap_or(0.0) + other.unwrap_or(0.0)),
        };
        self.requests += other.requests;
        self.items += other.items;
        self.refused += other.refused;
        self.failed += other.failed;
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_known_latencies() {
        let mut latencies = Latencies::new();
        for microseconds in 1..=1_000 {
            latencies.record(Duration::from_micros(microseconds));
        }
        assert_eq!(latencies.count(), 1_000);
        let quantiles = latencies.quantiles();
        for (found, expected) in [
            (quantiles.p50_us, 500.0),
            (quantiles.p90_us, 900.0),
            (quantiles.p99_us, 990.0),
            (quantiles.p999_us, 999.0),
            (quantiles.max_us, 1_000.0),
            (quantiles.mean_us, 500.5),
        ] {
            assert!((found - expected).abs() <= expected * 0.002, "{found} and {expected}");
        }
        let curve = latencies.curve();
        assert_eq!(curve.last().map(|point| point.0), Some(99.9));
        assert!(curve.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1));
    }

    #[test]
    fn latencies_at_the_bounds() {
        for (latency, expected_us) in [
            (Duration::ZERO, 0.001),
            (Duration::from_nanos(1), 0.001),
            (LATENCY_MAX, 600e6),
            (LATENCY_MAX + Duration::from_secs(1), 600e6),
            (Duration::MAX, 600e6),
        ] {
            let mut latencies = Latencies::new();
            latencies.record(latency);
            let found = latencies.quantiles().max_us;
            assert!((found - expected_us).abs() <= expected_us * 0.002, "{latency:?}: {found}");
        }
        assert_eq!(Latencies::new().quantiles(), Quantiles::default());
        assert!(Latencies::new().curve().is_empty());
    }

    #[test]
    fn tallies_add_up() {
        let mut one = Tally::new();
        one.latencies.record(Duration::from_micros(10));
        one.charge = Some(1.5);
        (one.requests, one.items, one.refused, one.failed) = (1, 2, 3, 4);
        let mut sum = Tally::new();
        sum.add(&Tally::new());
        assert_eq!(sum.charge, None);
        sum.add(&one);
        sum.add(&one);
        assert_eq!(sum.charge, Some(3.0));
        assert_eq!(
            (sum.latencies.count(), sum.requests, sum.items, sum.refused, sum.failed),
            (2, 2, 4, 6, 8)
        );
    }
}
