//! A side that queries are measured on, and how: the same queries about the same orders go to each.

use std::time::Duration;

use anyhow::{Context as _, Result};
use armilla_env::{Env, Random};
use armilla_workload::{CpuClock, Measured, Pace, State, Worker, drive};
use tokio::runtime::Runtime;

use super::cases::Case;
use super::orders::Orders;
use super::table::{Answer, Line, Measurement, Work};

/// Connections of those who write in the background: enough for 2,000 durable writes a second of a side that takes 16 ms
/// for each.
const WRITE_CONNECTIONS: usize = 32;

/// Streams of choices that one measurement may draw.
const STREAMS_MAX: usize = 1 << 12;

/// How long before each measurement the same is done and not counted, as a part of it.
const WARM_UP_SHARE: f64 = 0.25;

/// What is measured, and how.
#[derive(Debug, Clone)]
pub(super) struct Course {
    pub(super) orders: Orders,
    pub(super) cases: Vec<Case>,
    pub(super) connections: Vec<usize>,
    pub(super) states: Vec<State>,
    pub(super) seconds: f64,
    pub(super) write_rate: f64,
    pub(super) seed: u64,
}

/// Something that holds the orders.
pub(super) trait Side {
    fn name(&self) -> &'static str;

    /// The runtime on which it is asked.
    fn runtime(&self) -> &Runtime;

    /// Opens a connection that asks a query about orders that are drawn.
    fn asker(&self, case: &Case, drawn: Drawn) -> Result<Box<dyn Worker>>;

    /// Opens a connection that writes new versions of orders that are drawn.
    fn writer(&self, drawn: Drawn) -> Result<Box<dyn Worker>>;

    fn cpu_clock(&self) -> Box<dyn CpuClock>;

    /// Asks a query about one order.
    fn answer(&self, case: &Case, index: usize) -> Result<(Answer, Option<Work>)>;

    /// Waits until nothing is done in the background.
    fn rest(&self) -> Result<()>;
}

/// Orders that are drawn, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Drawn {
    pub(super) orders: Orders,
    random: Random,
    sequence: u64,
}

impl Drawn {
    pub(super) fn new(orders: Orders, seed: u64, stream: usize) -> Drawn {
        Drawn { orders, random: Random::of_part(seed, stream as u64), sequence: 0 }
    }

    /// Returns the next order, and how many there were.
    pub(super) fn next(&mut self) -> (usize, u64) {
        self.sequence += 1;
        (self.random.index(self.orders.count), self.sequence)
    }
}

/// Measures everything on a side.
pub(super) fn measure(env: &Env, side: &dyn Side, course: &Course, lines: &mut [Line]) -> Result<()> {
    eprintln!("queries of {}", side.name());
    for (case, line) in course.cases.iter().zip(&mut *lines) {
        let (answer, work) = side
            .answer(case, course.orders.count / 2)
            .with_context(|| format!("query {} on {}", case.name, side.name()))?;
        line.answers.push((side.name(), answer));
        line.work = work.or(line.work.take());
    }
    let mut number = 0;
    for state in &course.states {
        for (case, line) in course.cases.iter().zip(&mut *lines) {
            for connections in &course.connections {
                if *state == State::Rested {
                    side.rest()?;
                }
                let streams = number * STREAMS_MAX;
                number += 1;
                let one = measure_one(env, side, course, case, *state, *connections, streams)
                    .with_context(|| format!("query {} on {}", case.name, side.name()))?;
                eprintln!(
                    "  {}, {connections} connection(s), {}: {:.0} a second, {:.0} us of CPU",
                    case.name,
                    state.name(),
                    one.per_second,
                    one.cpu_us.unwrap_or_default()
                );
                line.measurements.push(one);
            }
        }
    }
    Ok(())
}

fn measure_one(
    env: &Env,
    side: &dyn Side,
    course: &Course,
    case: &Case,
    state: State,
    connections: usize,
    streams: usize,
) -> Result<Measurement> {
    let drawn = |number: usize| Drawn::new(course.orders, course.seed, streams + number);
    let mut askers = Vec::new();
    for number in 0..connections {
        askers.push(side.asker(case, drawn(number))?);
    }
    let mut writers = Vec::new();
    if state == State::Written {
        for number in 0..WRITE_CONNECTIONS {
            writers.push(side.writer(drawn(connections + number))?);
        }
    }
    let window = Duration::from_secs_f64(course.seconds);
    let pace = Pace { warm_up: window.mul_f64(WARM_UP_SHARE), window, rate: None };
    let asking = drive(env, pace, 1, askers, Some(side.cpu_clock()));
    let (asked, written) = side.runtime().block_on(async {
        match writers.is_empty() {
            true => anyhow::Ok((asking.await?, None)),
            false => {
                let pace = Pace { rate: Some(course.write_rate), ..pace };
                let writing = drive(env, pace, 1, writers, None);
                let (asked, written) = tokio::try_join!(asking, writing)?;
                Ok((asked, Some(written)))
            }
        }
    })?;
    for measured in std::iter::once(&asked).chain(&written) {
        if let Some(failure) = &measured.first_failure {
            anyhow::bail!("an operation failed: {failure}");
        }
    }
    let quantiles = asked.quantiles();
    Ok(Measurement {
        side: side.name(),
        connections,
        state,
        per_second: per_second(&asked),
        p50_us: quantiles.p50_us,
        p99_us: quantiles.p99_us,
        cpu_us: asked.cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / asked.operations().max(1) as f64),
        writes_per_second: written.as_ref().map(per_second),
    })
}

fn per_second(measured: &Measured) -> f64 {
    measured.operations() as f64 / measured.took.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_what_is_drawn_and_streams_differ() {
        let drawn = |stream| {
            let mut drawn = Drawn::new(Orders { count: 1_000 }, 3, stream);
            (0..20).map(|_| drawn.next()).collect::<Vec<_>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        assert!(drawn(1).iter().all(|(index, _)| *index < 1_000));
        assert_eq!(drawn(1).last().unwrap().1, 20);
    }
}
