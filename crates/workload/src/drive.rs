//! Drives workers, one a connection, for a warm-up and a window, in a closed or an open loop.
//!
//! In a closed loop a worker begins its next operation when it has the answer to the last one: what the server can do
//! at most with so many connections. In an open loop operations come at a rate of their own (`schedule`), and latencies
//! count from when they were due.
//!
//! Invariants:
//! * what was due or begun during the warm-up is not counted;
//! * an operation that was refused or failed is counted as that, and its time is in no histogram.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use armilla_env::Env;
use parking_lot::Mutex;
use tokio::task::JoinSet;

use crate::cpu::CpuClock;
use crate::limits::{FAILURES_MAX, RETRY_AFTER_MAX};
use crate::metronome::Metronome;
use crate::schedule::Schedule;
use crate::tally::{Quantiles, Tally};

/// A future of something behind a trait.
pub type Future<'f, T> = Pin<Box<dyn std::future::Future<Output = T> + Send + 'f>>;

/// One connection and what it does.
pub trait Worker: Send {
    /// Makes up the next operation and returns its kind; nothing of it counts as latency.
    fn prepare(&mut self) -> usize;

    /// Does what was prepared.
    fn perform(&mut self) -> Future<'_, Result<Answer>>;
}

/// What a side says to an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// It did it.
    Done(Effort),
    /// It has no throughput left.
    Refused {
        /// How long it asked to wait.
        retry_after: Duration,
    },
}

/// What an operation took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effort {
    /// Request units, where the side charges them.
    pub charge: Option<f64>,
    /// Requests, one after the other or at once.
    pub requests: u64,
    /// Items that were read, written or given.
    pub items: u64,
}

impl Effort {
    /// Adds the effort of another request of the same operation.
    pub(crate) fn add(&mut self, other: Effort) {
        self.charge = match (self.charge, other.charge) {
            (None, None) => None,
            (own, other) => Some(own.unwrap_or(0.0) + other.unwrap_or(0.0)),
        };
        self.requests += other.requests;
        self.items += other.items;
    }
}

/// How fast and for how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// How long operations are not counted.
    pub warm_up: Duration,
    /// How long they are.
    pub window: Duration,
    /// Operations a second, of an open loop.
    pub rate: Option<f64>,
}

/// What was measured.
#[derive(Debug)]
pub struct Measured {
    /// By kind of operation.
    pub(crate) kinds: Vec<Tally>,
    /// From the begin of the window to its end, or to the last answer if that came later.
    pub took: Duration,
    /// Operations done in each second of the window.
    pub(crate) by_second: Vec<u64>,
    /// How an open loop went.
    pub(crate) open_loop: Option<OpenLoop>,
    /// What went wrong first.
    pub first_failure: Option<String>,
    /// Processor time that the side used from the end of the warm-up to the last answer, where it tells.
    pub cpu: Option<Duration>,
}

impl Measured {
    /// Returns how many operations were done.
    pub fn operations(&self) -> u64 {
        self.kinds.iter().map(|tally| tally.latencies.count()).sum()
    }

    /// Returns the latencies of all operations.
    pub fn quantiles(&self) -> Quantiles {
        let mut all = Tally::new();
        for tally in &self.kinds {
            all.add(tally);
        }
        all.latencies.quantiles()
    }
}

/// How an open loop went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OpenLoop {
    /// Operations a second that were asked for.
    pub(crate) rate: f64,
    /// Operations that were due in the window.
    pub(crate) due: u64,
    /// Those of them that no connection was free for before the window was over.
    pub(crate) unsent: u64,
    /// The longest time that one was sent after it was due, in microseconds.
    pub(crate) late_max_us: f64,
}

impl OpenLoop {
    /// Whether all but one of a hundred operations were sent.
    pub(crate) fn has_kept_rate(&self) -> bool {
        self.unsent.saturating_mul(100) <= self.due
    }
}

/// What all workers count in.
struct Counts {
    kinds: Vec<Tally>,
    by_second: Vec<u64>,
    last_answer: Duration,
    late_max: Duration,
    failed: u64,
    first_failure: Option<String>,
}

struct Shared {
    env: Env,
    /// When the warm-up began, by the clock's elapsed time.
    start: Duration,
    warm_up: Duration,
    end: Duration,
    counts: Mutex<Counts>,
}

/// Runs workers until the window is over, and reads the side's clock of processor time at the window's ends.
pub async fn drive(
    env: &Env,
    pace: Pace,
    kind_count: usize,
    workers: Vec<Box<dyn Worker>>,
    cpu_clock: Option<Box<dyn CpuClock>>,
) -> Result<Measured> {
    let start = env.clock.elapsed();
    let seconds = pace.window.as_secs_f64().ceil() as usize;
    let shared = Arc::new(Shared {
        env: env.clone(),
        start,
        warm_up: pace.warm_up,
        end: pace.warm_up + pace.window,
        counts: Mutex::new(Counts {
            kinds: (0..kind_count).map(|_| Tally::new()).collect(),
            by_second: vec![0; seconds],
            last_answer: Duration::ZERO,
            late_max: Duration::ZERO,
            failed: 0,
            first_failure: None,
        }),
    });
    let schedule = pace.rate.map(|rate| Schedule::new(rate, pace.warm_up, pace.window));
    let metronome = match schedule {
        Some(schedule) => Some(Arc::new(Metronome::start(env, schedule, start)?)),
        None => None,
    };
    let mut running = JoinSet::new();
    for worker in workers {
        let shared = shared.clone();
        match (&metronome, schedule) {
            (Some(metronome), Some(schedule)) => {
                running.spawn(open_loop(shared, metronome.clone(), schedule, worker))
            }
            _ => running.spawn(closed_loop(shared, worker)),
        };
    }
    // A set of its own, so that it is given up together with the workers where one of them fails.
    let mut reading = JoinSet::new();
    if let Some(cpu_clock) = cpu_clock {
        reading.spawn(read_behind_warm_up(env.clone(), pace.warm_up, cpu_clock));
    }
    while let Some(ended) = running.join_next().await {
        ended.context("a connection ended unexpectedly")??;
    }
    let cpu = match reading.join_next().await {
        Some(begun) => {
            let (mut cpu_clock, begun) = begun.context("reading the processor time ended unexpectedly")?;
            // Less than before is another process: the server was started again meanwhile.
            cpu_clock.read().await.zip(begun).and_then(|(ended, begun)| ended.checked_sub(begun))
        }
        None => None,
    };
    let mut counts = shared.counts.lock();
    let open_loop = match (schedule, &metronome) {
        (Some(schedule), Some(metronome)) => Some(OpenLoop {
            rate: pace.rate.unwrap_or_default(),
            due: schedule.in_window(),
            unsent: schedule.in_window() - schedule.in_window_of(metronome.taken()),
            late_max_us: counts.late_max.as_secs_f64() * 1e6,
        }),
        _ => None,
    };
    Ok(Measured {
        kinds: std::mem::take(&mut counts.kinds),
        took: counts.last_answer.max(shared.end) - shared.warm_up,
        by_second: std::mem::take(&mut counts.by_second),
        open_loop,
        first_failure: counts.first_failure.take(),
        cpu,
    })
}

/// Reads a clock of processor time when the warm-up is over.
async fn read_behind_warm_up(
    env: Env,
    warm_up: Duration,
    mut cpu_clock: Box<dyn CpuClock>,
) -> (Box<dyn CpuClock>, Option<Duration>) {
    env.clock.sleep(warm_up).await;
    let begun = cpu_clock.read().await;
    (cpu_clock, begun)
}

async fn closed_loop(shared: Arc<Shared>, mut worker: Box<dyn Worker>) -> Result<()> {
    loop {
        let kind = worker.prepare();
        let begin = shared.now();
        if begin >= shared.end {
            return Ok(());
        }
        let answer = worker.perform().await;
        shared.settle(kind, begin, begin, answer).await?;
    }
}

async fn open_loop(
    shared: Arc<Shared>,
    metronome: Arc<Metronome>,
    schedule: Schedule,
    mut worker: Box<dyn Worker>,
) -> Result<()> {
    loop {
        // Made up ahead, so that nothing but the sending comes after the moment when it is due.
        let kind = worker.prepare();
        let Some((due, sent)) = shared.next_due(&metronome, &schedule).await else { return Ok(()) };
        let answer = worker.perform().await;
        shared.settle(kind, due, sent, answer).await?;
    }
}

impl Shared {
    /// Waits for the next operation; returns when it was due and when it is sent.
    async fn next_due(&self, metronome: &Metronome, schedule: &Schedule) -> Option<(Duration, Duration)> {
        loop {
            let due = schedule.due_at(metronome.next().await?);
            let now = self.now();
            // What fell behind during the warm-up is left out, or a rate that is far too high would be measured by
            // what is not counted.
            if due >= self.warm_up || now < self.warm_up {
                return Some((due, now));
            }
        }
    }

    /// The time since the warm-up began.
    fn now(&self) -> Duration {
        self.env.clock.elapsed().saturating_sub(self.start)
    }

    /// Counts what became of an operation, and waits where the server asks for it.
    async fn settle(&self, kind: usize, due: Duration, sent: Duration, answer: Result<Answer>) -> Result<()> {
        let now = self.now();
        let retry_after = {
            let mut counts = self.counts.lock();
            counts.count(self, kind, due, sent, now, answer)?
        };
        if let Some(retry_after) = retry_after {
            let left = self.end.saturating_sub(now);
            self.env.clock.sleep(retry_after.min(RETRY_AFTER_MAX).min(left)).await;
        }
        Ok(())
    }
}

impl Counts {
    /// Counts an answer and returns how long to wait.
    fn count(
        &mut self,
        shared: &Shared,
        kind: usize,
        due: Duration,
        sent: Duration,
        now: Duration,
        answer: Result<Answer>,
    ) -> Result<Option<Duration>> {
        let is_counted = due >= shared.warm_up;
        let tally = self.kinds.get_mut(kind).expect("workers know their kinds");
        match answer {
            Ok(Answer::Done(effort)) => {
                if is_counted {
                    tally.latencies.record(now.saturating_sub(due));
                    tally.services.record(now.saturating_sub(sent));
                    if let Some(charge) = effort.charge {
                        *tally.charge.get_or_insert(0.0) += charge;
                    }
                    tally.requests += effort.requests;
                    tally.items += effort.items;
                    self.last_answer = self.last_answer.max(now);
                    self.late_max = self.late_max.max(sent.saturating_sub(due));
                    let second = (now - shared.warm_up).as_secs() as usize;
                    if let Some(count) = self.by_second.get_mut(second) {
                        *count += 1;
                    }
                }
                Ok(None)
            }
            Ok(Answer::Refused { retry_after }) => {
                tally.refused += u64::from(is_counted);
                Ok(Some(retry_after))
            }
            Err(error) => {
                tally.failed += u64::from(is_counted);
                self.failed += 1;
                let message = format!("{error:#}").replace('\n', " ");
                if self.failed > FAILURES_MAX {
                    bail!("more than {FAILURES_MAX} operations failed, the last with: {message}");
                }
                self.first_failure.get_or_insert(message);
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests;
