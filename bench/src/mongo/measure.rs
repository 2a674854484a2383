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
    // Streams begin where no other side draws, so that all sides draw the same.
    let mut streams = 0;
    let mut slow = Vec::new();
    for case in &course.cases {
        streams += STREAMS_MAX;
        let once = once(env, side, course, *case, streams);
        match once {
            Ok(figures) if figures.p50_us > SLOW.as_secs_f64() * 1e6 => {
                notes.push(format!(
                    "{}, {}: once, by one connection, since it takes {:.1} s",
                    side.who.name(),
                    case.name(),
                    figures.p50_us / 1e6
                ));
                slow.push(*case);
                let state = course.states.first().copied().unwrap_or(State::Loaded);
                rows.push(Row { who: side.who, case: *case, connections: 1, state, figures });
            }
            Ok(_) => {}
            Err(error) => {
                notes.push(format!("{}, {}: {error:#}", side.who.name(), case.name()));
                slow.push(*case);
            }
        }
    }
    for state in &course.states {
        for case in course.cases.iter().filter(|case| !slow.contains(case)) {
            for connections in &course.connections {
                if *state == State::Rested {
                    side.rest()?;
                }
                streams += STREAMS_MAX;
                let measured = one(env, side, course, *case, *state, *connections, streams);
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

/// Does a case twice and measures the second time.
fn once(env: &Env, side: &Side, course: &Course, case: Case, stream: u64) -> Result<Figures> {
    let mut worker = side.worker(Task::Measured(case), Drawn::new(course.documents, course.seed, stream))?;
    let mut figures = Figures::default();
    for _ in 0..2 {
        worker.prepare();
        let (begin, cpu) = (env.clock.elapsed(), side.cpu_time()?);
        side.runtime.block_on(worker.perform())?;
        let took = (env.clock.elapsed() - begin).as_secs_f64();
        let cpu = side.cpu_time()?.saturating_sub(cpu).as_secs_f64();
        let us = took * 1e6;
        figures = Figures {
            operations: 1,
            per_second: 1.0 / took,
            p50_us: us,
            p99_us: us,
            cpu_us: cpu * 1e6,
            writes_per_second: None,
        };
    }
    Ok(figures)
}

fn one(
    env: &Env,
    side: &Side,
    course: &Course,
    case: Case,
    state: State,
    connections: usize,
    streams: u64,
) -> Result<(Figures, Option<String>)> {
    let drawn = |number: u64| Drawn::new(course.documents, course.seed, streams + number);
    let mut askers = Vec::new();
    for number in 0..connections as u64 {
        askers.push(side.worker(Task::Measured(case), drawn(number))?);
    }
    let mut writers = Vec::new();
    if state == State::Written {
        for number in 0..WRITE_CONNECTIONS {
            writers.push(side.worker(Task::Replace, drawn(connections as u64 + number))?);
        }
    }
    let window = Duration::from_secs_f64(course.seconds);
    let warm_up = window.mul_f64(WARM_UP_SHARE).max(side.who.warm_up());
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
        cpu_us: asked.cpu.unwrap_or_default().as_secs_f64() * 1e6 / operations.max(1) as f64,
        writes_per_second: written.as_ref().map(per_second),
    };
    Ok((figures, failure.map(|failure| format!("some operations failed, the first by: {failure}"))))
}

fn per_second(measured: &Measured) -> f64 {
    measured.operations() as f64 / measured.took.as_secs_f64()
}
