//! `armilla bench`: named workloads against a server, in a closed or an open loop, beside peers where they are
//! installed.
//!
//! A workload draws operations from a seed (`plan`); a side does them (`side`): the server over HTTP, or a
//! peer of it with the same items; the driver measures. Results are a table, a file of JSON that can be compared with
//! another, and a page.
//!
//! Invariants:
//! * latency in an open loop counts from when an operation was due, so a slow server cannot hide behind its own
//!   slowness;
//! * nothing here grows with the time that a server lets us wait.
//!
//! The project's own measurements use its driver, too.
//!
//! Not here: what the project measures for itself beside the ceilings of a machine (`bench`).

mod armilla;
mod background;
mod blog;
mod catalogue;
mod circumstances;
mod compare;
mod cpu;
mod drive;
mod feed;
mod items;
mod limits;
mod measurements;
mod metronome;
mod options;
mod page;
mod place;
mod plan;
#[cfg(unix)]
mod postgres;
#[cfg(unix)]
pub mod postgres_server;
#[cfg(unix)]
mod process_times;
mod queries;
mod result;
mod run;
mod schedule;
mod side;
mod table;
mod tally;
mod time;
mod words;

use std::process::ExitCode;

use anyhow::{Result, ensure};
use armilla_env::Env;

pub use circumstances::State;
pub use cpu::CpuClock;
#[cfg(unix)]
pub use cpu::FamilyCpu;
pub use drive::{Answer, Effort, Future, Measured, Pace, Worker, drive};
pub use options::BenchOptions;
use options::{BenchCommand, CompareOptions};
pub use tally::Quantiles;

/// The exit code of a comparison that found something slower.
const SLOWER: u8 = 2;

/// Measures, lists or compares, as the options say.
pub fn run(options: &BenchOptions, env: Env) -> Result<ExitCode> {
    match &options.command {
        None => run::run(&options.run, env),
        Some(BenchCommand::List) => {
            run::print(&catalogue::description());
            Ok(ExitCode::SUCCESS)
        }
        Some(BenchCommand::Compare(options)) => compare_files(options),
    }
}

fn compare_files(options: &CompareOptions) -> Result<ExitCode> {
    let (before, after) = (result::read(&options.before)?, result::read(&options.after)?);
    let comparison = compare::compare(&before, &after);
    ensure!(
        !comparison.lines.is_empty(),
        "the two results have nothing in common: no workload with as many connections in the same state"
    );
    run::print(&comparison.table().to_text());
    for note in comparison.notes() {
        run::print(&format!("{note}\n"));
    }
    let slower = options.fail_if_slower.map(|percent| comparison.slower(percent)).unwrap_or_default();
    for sentence in &slower {
        run::print(&format!("slower: {sentence}\n"));
    }
    Ok(if slower.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(SLOWER) })
}
