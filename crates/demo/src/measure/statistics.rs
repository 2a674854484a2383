//! Percentiles of latencies.

use std::time::Duration;

/// Latencies, sorted.
#[derive(Debug, Clone)]
pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    /// Takes samples; nothing if there are none.
    pub(crate) fn of(mut samples: Vec<Duration>) -> Option<Latencies> {
        samples.sort_unstable();
        (!samples.is_empty()).then_some(Latencies(samples))
    }

    /// Returns how many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the latency that this share of all does not exceed.
    pub(crate) fn percentile(&self, percent: f64) -> Duration {
        let rank = (percent / 100.0 * self.0.len() as f64).ceil() as usize;
        self.0[rank.clamp(1, self.0.len()) - 1]
    }

    /// Returns the median.
    pub(crate) fn p50(&self) -> Duration {
        self.percentile(50.0)
    }

    /// Returns what one of a hundred exceeds.
    pub(crate) fn p99(&self) -> Duration {
        self.percentile(99.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles() {
        let ms = Duration::from_millis;
        let hundred = Latencies::of((1..=100).rev().map(ms).collect()).unwrap();
        for (percent, expected) in
            [(0.0, 1), (1.0, 1), (50.0, 50), (50.5, 51), (99.0, 99), (99.1, 100), (100.0, 100)]
        {
            assert_eq!(hundred.percentile(percent), ms(expected), "{percent}");
        }
        let one = Latencies::of(vec![ms(7)]).unwrap();
        assert_eq!((one.p50(), one.p99(), one.count()), (ms(7), ms(7), 1));
        assert!(Latencies::of(Vec::new()).is_none());
    }
}
