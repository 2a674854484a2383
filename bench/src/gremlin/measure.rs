//! Measuring one side: every case with each number of connections in each state.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use armilla_env::Env;
use armilla_workload::{Measured, Pace, State, drive};

use super::Who;
use super::asker::Drawn;
use super::cases::{Case, Task};
use super::people::People;
use super::report::{Figures, Report, Row};
use super::side::Side;

/// Connections of those who write in the background.
const WRITE_CONNECTIONS: u64 = 16;

/// Streams of choices that one measurement may draw.
const STREAMS_MAX: u64 = 1 << 10;

/// How long before each measurement the same is done and not counted, as a part of it.
const WARM_UP_SHARE: f64 = 0.25;

/// How long everything is done on a side whose methods are compiled while they run, before any of it is measured.
const PEER_WARM_UP: Duration = Duration::from_secs(8);
/// The same before each measurement.
const PEER_WARM_UP_AGAIN: Duration = Duration::from_secs(1);
const PEER_WARM_UP_CONNECTIONS: u64 = 16;

/// What is measured, and how.
#[derive(Debug, Clone)]
pub(super) struct Course {
    pub(super) people: Arc<People>,
    pub(super) cases: Vec<Case>,
    pub(super) connections: Vec<usize>,
    pub(super) states: Vec<State>,
    pub(super) seconds: f64,
    pub(super) write_rate: f64,
    pub(super) seed: u64,
}

/// One measurement.
#[derive(Debug, Clone, Copy)]
struct Turn {
    case: Case,
    state: State,
    connections: u64,
    /// The first stream of its choices.
    stream: u64,
    warm_up: Duration,
    window: Duration,
}

/// Measures everything on a side, and says what could not be measured.
pub(super) fn measure(env: &Env, side: &Side, course: &Course, report: &mut Report) -> Result<()> {
    // Every side begins with the same stream, so that all draw the same.
    let mut stream = 0;
    let window = Duration::from_secs_f64(course.seconds);
    let mut warm_up = window.mul_f64(WARM_UP_SHARE);
    if side.who == Who::GremlinServer {
        warm_up = warm_up.max(PEER_WARM_UP_AGAIN);
        for case in &course.cases {
            stream += STREAMS_MAX;
            let (state, connections) = (State::Loaded, PEER_WARM_UP_CONNECTIONS);
            let turn = Turn {
                case: *case,
                state,
                connections,
                stream,
                warm_up: Duration::ZERO,
                window: PEER_WARM_UP,
            };
            one(env, side, course, turn)?;
        }
    } else {
        stream += STREAMS_MAX * course.cases.len() as u64;
    }
    for state in &course.states {
        for case in &course.cases {
            for connections in &course.connections {
                if *state == State::Rested {
                    side.rest()?;
                }
                stream += STREAMS_MAX;
                let turn = Turn {
                    case: *case,
                    state: *state,
                    connections: *connections as u64,
                    stream,
                    warm_up,
                    window,
                };
                let (who, case, connections, state) = (side.who, *case, *connections, *state);
                let what =
                    format!("{}, {}, {connections} connection(s), {}", who.name(), case.name(), state.name());
                match one(env, side, course, turn) {
                    Ok((figures, failure)) => {
                        let Figures { per_second, cpu_us, .. } = figures;
                        eprintln!("  {what}: {per_second:.0} a second, {cpu_us:.0} us of CPU");
                        report.notes.extend(failure.map(|failure| format!("{what}: {failure}")));
                        report.rows.push(Row { who, case, connections, state, figures });
                    }
                    Err(error) => {
                        eprintln!("  {what}: {error:#}");
                        report.notes.push(format!("{what}: {error:#}"));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Makes one measurement, and says which failure came first, if one did.
fn one(env: &Env, side: &Side, course: &Course, turn: Turn) -> Result<(Figures, Option<String>)> {
    let drawn = |number: u64| Drawn::new(course.people.clone(), course.seed, turn.stream + number);
    let askers = (0..turn.connections).map(|number| side.worker(Task::Measured(turn.case), drawn(number)));
    let askers = askers.collect::<Result<Vec<_>>>()?;
    let writers = match turn.state {
        State::Written => 0..WRITE_CONNECTIONS,
        State::Loaded | State::Rested => 0..0,
    };
    let writers = writers.map(|number| side.worker(Task::Update, drawn(turn.connections + number)));
    let writers = writers.collect::<Result<Vec<_>>>()?;
    let pace = Pace { warm_up: turn.warm_up, window: turn.window, rate: None };
    let asking = drive(env, pace, 1, askers, Some(side.cpu_clock()));
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
    let cpu = asked.cpu.unwrap_or_default();
    let figures = Figures {
        operations,
        per_second: per_second(&asked),
        p50_us: quantiles.p50_us,
        p99_us: quantiles.p99_us,
        cpu_us: cpu.as_secs_f64() * 1e6 / operations.max(1) as f64,
        writes_per_second: written.as_ref().map(per_second),
    };
    Ok((figures, failure.map(|failure| format!("some operations failed, the first by: {failure}"))))
}

fn per_second(measured: &Measured) -> f64 {
    measured.operations() as f64 / measured.took.as_secs_f64()
}
