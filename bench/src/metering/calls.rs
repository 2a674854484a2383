//! What an operation does to be admitted, charged and counted, by itself: the calls of a point read, and nothing else.

use std::sync::{Arc, RwLock};
use std::time::Duration;

use anyhow::{Result, anyhow};
use armilla_crash::process_figures;
use armilla_env::{Clock, Env, Random};
use armilla_governor::{Budget, Meter, OperationKind, Policy, Priority, RequestUnits};
use armilla_ledger::{Act, Ledger, Note, Outcome, Took};
use armilla_value::{Component, PartitionKey};

/// Logical partitions that are counted: more than the sketch of hot ones holds.
const LOGICAL_KEYS: usize = 4_096;

/// Operations between two looks at the time.
const BATCH: u64 = 1_000;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The time of day and the elapsed time, before and after.
    Clock,
    /// The budget alone.
    Budget,
    /// The figures alone.
    Meter,
    /// All of it.
    All,
    /// The record of what was asked: whether the request is written down, and doing so where it is.
    Record,
}

/// A partition with its budget and its figures, as a container holds them.
struct Partition {
    clock: Arc<dyn Clock>,
    budget: RwLock<Arc<Budget>>,
    meter: Meter,
    ledger: Ledger,
    logical: Vec<PartitionKey>,
    keys: Vec<Vec<u8>>,
}

/// Returns the nanoseconds of processor time that a part of the calls takes with so many threads on one partition.
pub(super) fn measure(env: &Env, part: Part, is_enforced: bool, threads: usize, seconds: f64) -> Result<f64> {
    // More than can be spent, so that nothing is refused.
    let rate = RequestUnits::from_hundredths(u64::from(u32::MAX) * 100);
    let policy = Policy { enforced: is_enforced, ..Policy::default() };
    let partition = Partition {
        clock: env.clock.clone(),
        budget: RwLock::new(Arc::new(Budget::new(rate, policy))),
        meter: Meter::new(),
        ledger: Ledger::new(),
        logical: (0..LOGICAL_KEYS)
            .map(|number| PartitionKey(vec![Component::String(format!("customer-{number:06}"))]))
            .collect(),
        // As long as the key of a logical partition usually is.
        keys: (0..LOGICAL_KEYS).map(|number| format!("0123456789abcdef{number:016}").into_bytes()).collect(),
    };
    let end = env.clock.elapsed() + Duration::from_secs_f64(seconds);
    std::thread::scope(|scope| {
        // Not the time that passes, in which other programs have their turns.
        let (partition, pid) = (&partition, std::process::id());
        let before = process_figures::cpu_time(pid)?;
        let working: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || partition.repeat(part, Random::of_part(3, thread as u64), end)))
            .collect();
        let mut operations = 0;
        for worker in working {
            operations += worker.join().map_err(|_| anyhow!("a thread panicked"))??;
        }
        let used = process_figures::cpu_time(pid)?.saturating_sub(before);
        Ok(used.as_secs_f64() * 1e9 / operations.max(1) as f64)
    })
}

impl Partition {
    fn repeat(&self, part: Part, mut random: Random, end: Duration) -> Result<u64> {
        let mut operations = 0;
        while self.clock.elapsed() < end {
            let first = random.index(self.keys.len());
            for offset in 0..BATCH as usize {
                let place = (first + offset) % self.keys.len();
                match part {
                    Part::Record => self.record(&self.logical[place]),
                    part => self.operation(part, &self.keys[place])?,
                }
            }
            operations += BATCH;
        }
        Ok(operations)
    }

    fn operation(&self, part: Part, logical: &[u8]) -> Result<()> {
        let charge = RequestUnits::from_hundredths(100);
        let (has_clock, has_budget) =
            (matches!(part, Part::Clock | Part::All), matches!(part, Part::Budget | Part::All));
        let (mut now_ms, mut began) = (0, Duration::ZERO);
        if has_clock {
            (now_ms, began) = (self.clock.now_ms(), self.clock.elapsed());
        }
        if has_budget {
            let admitted = self.budget().admit(now_ms, Priority::High);
            std::hint::black_box(admitted.map_err(|_| anyhow!("a request was refused"))?);
        }
        let mut took = Duration::ZERO;
        if has_clock {
            took = self.clock.elapsed() - began;
            now_ms = self.clock.now_ms();
        }
        if has_budget {
            self.budget().spend(now_ms, Priority::High, charge);
        }
        if matches!(part, Part::Meter | Part::All) {
            self.meter.record(now_ms, OperationKind::Read, Some(logical), charge, took);
        }
        std::hint::black_box((now_ms, took));
        Ok(())
    }

    /// Notes a point read as the engine does.
    fn record(&self, key: &PartitionKey) {
        let now_ms = self.clock.now_ms();
        let Some(weight) = self.ledger.wants(now_ms) else { return };
        let began = self.clock.elapsed();
        let micros = u64::try_from((self.clock.elapsed() - began).as_micros()).unwrap_or(u64::MAX);
        let took =
            Took { charge: 100, micros, items: 1, rows: 1, bytes: 400, partitions: 1, ..Took::default() };
        let act = Act::Read { id: "an-item-of-some-id" };
        let note = Note { container: 1, act, key: Some(key), took, outcome: Outcome::Done };
        self.ledger.note(now_ms, weight, &note);
    }

    /// A budget may be exchanged while the partition serves.
    fn budget(&self) -> Arc<Budget> {
        self.budget.read().expect("no panic while the budget is held").clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_measured() {
        let env = Env::system();
        for part in [Part::Clock, Part::Budget, Part::Meter, Part::All, Part::Record] {
            for threads in [1, 2] {
                // Processor time is counted in hundredths of a second.
                let ns = measure(&env, part, true, threads, 0.05).unwrap();
                assert!(ns < 1e6, "{part:?} {threads} {ns}");
            }
        }
    }
}
