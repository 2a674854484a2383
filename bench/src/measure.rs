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

/// One thing that is measured several times.
pub(crate) struct Phase<'a> {
    pub(crate) name: &'static str,
    /// The process whose work it is.
    pub(crate) pid: u32,
    pub(crate) run: Box<dyn Fn() -> Result<Latencies> + 'a>,
}

/// How long the machine rests before a measurement, so that work in the background of the last one ends.
const REST: Duration = Duration::from_millis(500);

/// Measures all phases in turn, several times, and returns the best of each.
///
/// What else happens on a machine only ever makes things slower, so the best is nearest to the truth; and
/// taking turns gives a ceiling and what is compared with it the same chances.
pub(crate) fn measure_in_turn(env: &Env, phases: &[Phase<'_>], rounds: usize) -> Result<Vec<Measurement>> {
    let mut best: Vec<Measurement> = Vec::new();
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        for (index, phase) in phases.iter().enumerate() {
            std::thread::sleep(REST);
            let measurement = measure(env, phase.name, phase.pid, &phase.run)?;
            match best.get_mut(index) {
                None => best.push(measurement),
                Some(known) if known.per_second() < measurement.per_second() => *known = measurement,
                Some(_) => {}
            }
        }
    }
    Ok(best)
}

/// Measures what a closure does; `pid` is the process whose work it is.
pub(crate) fn measure(
    env: &Env,
    name: &'static str,
    pid: u32,
    work: impl FnOnce() -> Result<Latencies>,
) -> Result<Measurement> {
    let own = std::process::id();
    let mut measurement = measure_with(env, name, || process_figures::cpu_time(pid), work)?;
    if pid == own {
        measurement.client_cpu = None;
    }
    Ok(measurement)
}

/// Measures what a closure makes other processes do; `cpu_time` says how much time they have used.
pub(crate) fn measure_with(
    env: &Env,
    name: &'static str,
    cpu_time: impl Fn() -> Result<Duration>,
    work: impl FnOnce() -> Result<Latencies>,
) -> Result<Measurement> {
    eprintln!("  {name} ...");
    let own = std::process::id();
    let (cpu_before, own_before) = (cpu_time()?, process_figures::cpu_time(own)?);
    let begin = env.clock.elapsed();
    let latencies = work()?;
    let took = env.clock.elapsed() - begin;
    let cpu = cpu_time()?.saturating_sub(cpu_before);
    let client_cpu = process_figures::cpu_time(own)? - own_before;
    let measurement = Measurement { name, latencies, took, cpu, client_cpu: Some(client_cpu) };
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

    #[test]
    fn the_best_of_all_rounds_counts() {
        let env = Env::system();
        let calls = std::cell::Cell::new(0u64);
        let run = Box::new(|| {
            calls.set(calls.get() + 1);
            let mut latencies = Latencies::new();
            for _ in 0..if calls.get() == 2 { 1_000_000 } else { 1 } {
                latencies.record(Duration::from_micros(1));
            }
            Ok(latencies)
        });
        let phases = [Phase { name: "x", pid: std::process::id(), run }];
        let best = measure_in_turn(&env, &phases, 3).unwrap();
        assert_eq!(best.len(), 1);
        assert_eq!(best[0].latencies.operations(), 1_000_000);
        assert_eq!(calls.get(), 3);
    }
}
