//! Measuring one side: every case with each number of connections in each state.

use std::time::Duration;

use anyhow::Result;
use armilla_env::Env;
use armilla_workload::{Measured, Pace, State, drive};

use super::cases::{Case, Task};
use super::documents::{Documents, Drawn};
use super::side::Side;
use super::table::{Figures, Row};

/// Connections of those who write in the background.
const WRITE_CONNECTIONS: u64 = 16;

/// Streams of choices that one measurement may draw.
const STREAMS_MAX: u64 = 1 << 10;

/// How long before each measurement the same is done and not counted, as a part of it.
const WARM_UP_SHARE: f64 = 0.25;

/// What takes longer than this alone is done once, by one connection in the first state, and no more.
const SLOW: Duration = Duration::from_secs(1);

/// What takes longer than this is not warmed up: of what began before a measurement a good part would count as its
/// processor time.
const LONG: Duration = Duration::from_millis(20);

/// What is measured, and how.
#[derive(Debug, Clone)]
pub(super) struct Course {
    pub(super) documents: Documents,
    pub(super) cases: Vec<Case>,
    pub(super) connections: Vec<usize>,
    pub(super) states: Vec<State>,
    pub(super) seconds: f64,
    pub(super) write_rate: f64,
    pub(super) seed: u64,
}

/// Measures everything on a side, and says what could not be measured.
pub(super) fn measure(
    env: &Env,
    side: &Side,
    course: &Course,
    rows: &mut Vec<Row>,
    notes: &mut Vec<String>,
) -> Result<()> {
    // Every side begins with the same stream, so that all draw the same.
    let mut streams = 0;
    let mut wanted = Vec::new();
    for case in &course.cases {
        streams += STREAMS_MAX;
        let what = format!("{}, {}", side.who.name(), case.name());
        match once(env, side, course, *case, streams) {
            Ok(figures) if figures.p50_us > us(SLOW) => {
                let seconds = figures.p50_us / 1e6;
                notes.push(format!("{what}: once, by one connection, since it takes {seconds:.1} s"));
                let state = course.states.first().copied().unwrap_or(State::Loaded);
                rows.push(Row { who: side.who, case: *case, connections: 1, state, figures });
            }
            Ok(figures) => wanted.push((*case, figures.p50_us > us(LONG))),
            Err(error) => notes.push(format!("{what}: {error:#}")),
        }
    }
    for state in &course.states {
        for (case, is_long) in &wanted {
            for connections in &course.connections {
                if *state == State::Rested {
                    side.rest()?;
                }
                streams += STREAMS_MAX;
                let turn = Turn {
                    case: *case,
                    is_long: *is_long,
                    state: *state,
                    connections: *connections,
                    streams,
                };
                let measured = one(env, side, course, turn);
                let what = format!(
                    "{}, {}, {connections} connection(s), {}",
                    side.who.name(),
                    case.name(),
                    state.name()
                );
                match measured {
                    Ok((figures, failure)) => {
                        eprintln!(
                            "  {what}: {:.0} a second, {:.0} us of CPU",
                            figures.per_second, figures.cpu_us
                        );
                        notes.extend(failure.map(|failure| format!("{what}: {failure}")));
                        let (who, case, connections, state) = (side.who, *case, *connections, *state);
                        rows.push(Row { who, case, connections, state, figures });
                    }
                    Err(error) => {
                        eprintln!("  {what}: {error:#}");
                        notes.push(format!("{what}: {error:#}"));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Does a case twice and measures the second time, unless the first was enough.
fn once(env: &Env, side: &Side, course: &Course, case: Case, stream: u64) -> Result<Figures> {
    let mut worker = side.worker(Task::Measured(case), Drawn::new(course.documents, course.seed, stream))?;
    let mut figures = Figures::default();
    for _ in 0..2 {
        worker.prepare();
        let (begin, cpu) = (env.clock.elapsed(), side.cpu_time()?);
        side.runtime.block_on(worker.perform())?;
        let took = env.clock.elapsed() - begin;
        figures = Figures {
            operations: 1,
            per_second: 1.0 / took.as_secs_f64(),
            p50_us: us(took),
            p99_us: us(took),
            cpu_us: us(side.cpu_time()?.saturating_sub(cpu)),
            writes_per_second: None,
        };
        if took > SLOW {
            break;
        }
    }
    Ok(figures)
}

/// One measurement.
#[derive(Debug, Clone, Copy)]
struct Turn {
    case: Case,
    is_long: bool,
    state: State,
    connections: usize,
    streams: u64,
}

/// Makes one measurement, and says which failure came first, if one did.
fn one(env: &Env, side: &Side, course: &Course, turn: Turn) -> Result<(Figures, Option<String>)> {
    let drawn = |number: u64| Drawn::new(course.documents, course.seed, turn.streams + number);
    let connections = turn.connections as u64;
    let mut askers = Vec::new();
    for number in 0..connections {
        askers.push(side.worker(Task::Measured(turn.case), drawn(number))?);
    }
    let mut writers = Vec::new();
    if turn.state == State::Written {
        for number in 0..WRITE_CONNECTIONS {
            writers.push(side.worker(Task::Replace, drawn(connections + number))?);
        }
    }
    let window = Duration::from_secs_f64(course.seconds);
    let warm_up =
        if turn.is_long { Duration::ZERO } else { window.mul_f64(WARM_UP_SHARE).max(side.who.warm_up()) };
    let pace = Pace { warm_up, window, rate: None };
    let asking = drive(env, pace, 1, askers, Some(side.cpu_clock()?));
    let (asked, written) = side.runtime.block_on(async {
        if writers.is_empty() {
            return anyhow::Ok((asking.await?, None));
        }
        let pace = Pace { rate: Some(course.write_rate), ..pace };
        let writing = drive(env, pace, 1, writers, None);
        let (asked, written) = tokio::try_join!(asking, writing)?;
        Ok((asked, Some(written)))
    })?;
    let failures = [Some(&asked), written.as_ref()];
    let failure = failures.into_iter().flatten().find_map(|measured| measured.first_failure.clone());
    let quantiles = asked.quantiles();
    let operations = asked.operations();
    let figures = Figures {
        operations,
        per_second: per_second(&asked),
        p50_us: quantiles.p50_us,
        p99_us: quantiles.p99_us,
        cpu_us: us(asked.cpu.unwrap_or_default()) / operations.max(1) as f64,
        writes_per_second: written.as_ref().map(per_second),
    };
    Ok((figures, failure.map(|failure| format!("some operations failed, the first by: {failure}"))))
}

fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn per_second(measured: &Measured) -> f64 {
    measured.operations() as f64 / measured.took.as_secs_f64()
}
