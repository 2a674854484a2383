//! Counting operations and their latencies.

use std::time::Duration;

use anyhow::Result;
use armilla_crash::process_figures;
use armilla_env::Env;
use hdrhistogram::Histogram;

/// Latencies from a nanosecond to a minute, to three digits.
const LATENCY_NS_MAX: u64 = 60_000_000_000;
const DIGITS: u8 = 3;

/// Latencies of one thread or task, later of all of them.
pub(crate) struct Latencies(Histogram<u64>);

impl Latencies {
    pub(crate) fn new() -> Latencies {
        Latencies(Histogram::new_with_bounds(1, LATENCY_NS_MAX, DIGITS).expect("the bounds are valid"))
    }

    pub(crate) fn record(&mut self, latency: Duration) {
        self.0.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(LATENCY_NS_MAX));
    }

    pub(crate) fn add(&mut self, other: &Latencies) {
        self.0.add(&other.0).expect("all have the same bounds");
    }

    pub(crate) fn operations(&self) -> u64 {
        self.0.len()
    }

    /// Returns a quantile in microseconds.
    pub(crate) fn quantile_us(&self, quantile: f64) -> f64 {
        self.0.value_at_quantile(quantile) as f64 / 1_000.0
    }

    pub(crate) fn max_us(&self) -> f64 {
        self.0.max() as f64 / 1_000.0
    }
}

/// One line of the report.
pub(crate) struct Measurement {
    pub(crate) name: &'static str,
    pub(crate) latencies: Latencies,
    pub(crate) took: Duration,
    /// Processor time of the process that did the work.
    pub(crate) cpu: Duration,
    /// Processor time of the client, where that is another process.
    pub(crate) client_cpu: Option<Duration>,
}

impl Measurement {
    pub(crate) fn per_second(&self) -> f64 {
        self.latencies.operations() as f64 / self.took.as_secs_f64()
    }

    /// Returns microseconds of some processor time for each operation.
    pub(crate) fn per_operation_us(&self, cpu: Duration) -> f64 {
        cpu.as_secs_f64() * 1e6 / self.latencies.operations().max(1) as f64
    }
}

/// Measures what a closure does; `pid` is the process whose work it is.
pub(crate) fn measure(
    env: &Env,
    name: &'static str,
    pid: u32,
    work: impl FnOnce() -> Result<Latencies>,
) -> Result<Measurement> {
    eprintln!("  {name} ...");
    let own = std::process::id();
    let (cpu_before, own_before) = (process_figures::cpu_time(pid)?, process_figures::cpu_time(own)?);
    let begin = env.clock.elapsed();
    let latencies = work()?;
    let took = env.clock.elapsed() - begin;
    let cpu = process_figures::cpu_time(pid)? - cpu_before;
    let client_cpu = process_figures::cpu_time(own)? - own_before;
    let measurement =
        Measurement { name, latencies, took, cpu, client_cpu: (pid != own).then_some(client_cpu) };
    eprintln!("  {name}: {:.0} a second", measurement.per_second());
    Ok(measurement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let mut latencies = Latencies::new();
        for microseconds in 1..=1_000 {
            latencies.record(Duration::from_micros(microseconds));
        }
        assert_eq!(latencies.operations(), 1_000);
        assert!((latencies.quantile_us(0.5) - 500.0).abs() < 5.0);
        assert!((latencies.quantile_us(0.99) - 990.0).abs() < 5.0);
        latencies.record(Duration::from_secs(3_600));
        assert!(latencies.max_us() > 59e6);
        let mut sum = Latencies::new();
        sum.add(&latencies);
        sum.add(&latencies);
        assert_eq!(sum.operations(), 2_002);
    }
}
