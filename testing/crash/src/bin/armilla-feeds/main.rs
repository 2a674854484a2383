//! Reads change feeds of a real server through splits, merges and kills, and compares what they show with a model.
//!
//! Many histories run side by side, each in a container of its own: random writes, deletes and transactions, items with a
//! time to live, splits and merges, and readers of every scope, mode and start that keep their positions. Meanwhile the
//! server is killed again and again and started on the same folder (`keeper`). What was done is kept in `model`; what a
//! reader may and must be shown is written in `reader`.
//!
//! The steps of a history follow from the seed and its number, so a history that failed can be made again alone. How
//! kills and the server's own work fall between the steps does not follow from the seed.

#![expect(clippy::print_stdout, reason = "the report is what the program is for")]

mod client;
mod feed_request;
mod history;
mod keeper;
mod model;
mod outcome;
mod page;
mod reader;
mod reshapes;
mod scope;
mod spec;
mod writes;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_crash::program::{WorkFolder, run_to_exit};
use armilla_crash::server_process::{Launch, sibling_program};
use armilla_env::{Env, Random};
use clap::Parser;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use crate::client::{Client, Line};
use crate::history::{End, History};
use crate::keeper::{Keeper, Pace};
use crate::outcome::{Tally, summary};
use crate::spec::Spec;

/// The part of the seed from which kills are drawn; histories have their numbers.
const KEEPER_PART: u64 = u64::MAX;

/// How often the state of the run is printed.
const PROGRESS_PERIOD: Duration = Duration::from_secs(5);

/// Lines of a failed history's trace that are printed; all of them are kept in a file.
const TRACE_LINES_SHOWN: usize = 25;

/// Reads change feeds through splits, merges and kills, and compares them with a model.
#[derive(Debug, Parser)]
#[command(name = "armilla-feeds")]
struct Options {
    /// How many histories are made
    #[arg(long, default_value_t = 300)]
    histories: u64,
    /// How many of them at a time
    #[arg(long, default_value_t = 24)]
    parallel: usize,
    /// What the choices follow from [default: from the time]
    #[arg(long)]
    seed: Option<u64>,
    /// Make the history with this number alone
    #[arg(long)]
    only: Option<u64>,
    /// With --only, how many copies of it
    #[arg(long, default_value_t = 1)]
    repeat: u64,
    /// Most readers of a history
    #[arg(long, default_value_t = 8)]
    readers: usize,
    /// Let no item expire
    #[arg(long)]
    no_ttl: bool,
    /// Leave the server alone
    #[arg(long)]
    no_kills: bool,
    /// Least milliseconds before a kill
    #[arg(long, default_value_t = 100)]
    min_ms: u64,
    /// Most milliseconds before a kill
    #[arg(long, default_value_t = 1_500)]
    max_ms: u64,
    /// Percentage of kills that are SIGTERM instead
    #[arg(long, default_value_t = 5)]
    graceful_percent: u64,
    /// Every how many kills the folder is checked
    #[arg(long, default_value_t = 5)]
    check_every: u64,
    /// Go on after a failure
    #[arg(long)]
    keep_going: bool,
    /// The server program [default: armilla beside this program]
    #[arg(long)]
    bin: Option<PathBuf>,
    /// Folder for the data and the server's log; kept [default: a new one, kept after a failure]
    #[arg(long)]
    work_dir: Option<PathBuf>,
    /// A further argument for the server; may be repeated
    #[arg(long = "server-arg", allow_hyphen_values = true)]
    server_arguments: Vec<String>,
}

fn main() -> ExitCode {
    run_to_exit(run(Options::parse()))
}

/// Makes all histories; returns whether all of them passed.
async fn run(options: Options) -> Result<bool> {
    ensure!(options.parallel > 0, "there must be a history at a time");
    ensure!(options.min_ms <= options.max_ms, "--min-ms is more than --max-ms");
    let env = Env::system();
    let seed = options.seed.unwrap_or_else(|| env.clock.now_ms().unsigned_abs());
    let work_folder = WorkFolder::make(options.work_dir.as_deref())?;
    let work_dir = work_folder.path();
    let mut arguments = vec!["--throttle".to_owned(), "off".to_owned()];
    arguments.extend_from_slice(&options.server_arguments);
    let launch = Launch {
        binary: options.bin.clone().map_or_else(sibling_program, Ok)?,
        data_dir: work_dir.join("data"),
        log: work_dir.join("server.log"),
        arguments,
        store: None,
    };
    println!(
        "seed {seed}, {} histories, {} at a time, {}",
        options.histories,
        options.parallel,
        work_dir.display()
    );

    let is_over = Arc::new(AtomicBool::new(false));
    let (line, line_seen) = watch::channel(Line::Down);
    let (done, is_done) = oneshot::channel();
    let keeper = Keeper {
        launch,
        env: env.clone(),
        random: Random::of_part(seed, KEEPER_PART),
        pace: Pace {
            has_kills: !options.no_kills,
            min_ms: options.min_ms,
            max_ms: options.max_ms,
            graceful_percent: options.graceful_percent,
            check_every: options.check_every,
        },
        line,
        is_over: is_over.clone(),
    };
    let keeping = tokio::spawn(keeper.keep(is_done));
    let report = make_histories(&options, seed, &env, &line_seen, &is_over, work_dir).await?;
    // The keeper has left already if something was wrong with the server.
    let _ = done.send(());
    let ordeal = keeping.await?;
    for difference in &ordeal.differences {
        println!("DIFFERENCE: {difference}");
    }
    println!("{}", summary(&report.tally, &ordeal));
    let failed = report.failed + u64::from(!ordeal.differences.is_empty());
    if failed > 0 {
        println!("failed with --seed {seed}");
        work_folder.keep();
    }
    let broken_off = report.broken_off;
    println!("{} histories passed, {failed} failed, {broken_off} broken off", report.passed);
    Ok(failed == 0)
}

/// What became of all histories.
#[derive(Debug, Default)]
struct Report {
    tally: Tally,
    passed: u64,
    failed: u64,
    /// Those that were not made to their end because another failed.
    broken_off: u64,
}

async fn make_histories(
    options: &Options,
    seed: u64,
    env: &Env,
    line: &watch::Receiver<Line>,
    is_over: &Arc<AtomicBool>,
    work_dir: &Path,
) -> Result<Report> {
    let mut left: Box<dyn Iterator<Item = (u64, u64)>> = match options.only {
        Some(number) => Box::new((0..options.repeat).map(move |copy| (number, copy))),
        None => Box::new((0..options.histories).map(|number| (number, 0))),
    };
    let mut report = Report::default();
    let mut making = JoinSet::new();
    let begin = env.clock.elapsed();
    let mut printed = begin;
    loop {
        while making.len() < options.parallel && !is_over.load(Ordering::Relaxed) {
            let Some((number, copy)) = left.next() else { break };
            let client = Client::new(line.clone(), is_over.clone(), env);
            let mut spec = Spec::draw(seed, number, copy);
            spec.default_ttl = spec.default_ttl.filter(|_| !options.no_ttl);
            making.spawn(History::run(spec, options.readers, client));
        }
        let Some(made) = making.join_next().await else { break };
        let end = made.context("a history ended with a panic")?;
        report.tally.add(&end.tally);
        match &end.wrong {
            Some(wrong) => {
                report.failed += 1;
                print_failure(&end, wrong, seed, work_dir)?;
                if !options.keep_going {
                    is_over.store(true, Ordering::Relaxed);
                }
            }
            None if end.is_whole => report.passed += 1,
            None => report.broken_off += 1,
        }
        let now = env.clock.elapsed();
        if now - printed >= PROGRESS_PERIOD {
            printed = now;
            let Tally { acknowledged, changes, splits, merges, .. } = report.tally;
            println!(
                "{:>4} s: {} histories, {acknowledged} writes, {changes} changes read, {splits} splits, {merges} merges",
                (now - begin).as_secs(),
                report.passed
            );
        }
    }
    Ok(report)
}

fn print_failure(end: &End, wrong: &str, seed: u64, work_dir: &Path) -> Result<()> {
    let number = end.spec.number;
    let file = work_dir.join(format!("{}.trace", end.spec.container));
    std::fs::write(&file, end.trace.join("\n"))
        .with_context(|| format!("cannot write {}", file.display()))?;
    println!("DIFFERENCE in history {number}: {wrong}");
    for line in &end.trace[end.trace.len().saturating_sub(TRACE_LINES_SHOWN)..] {
        println!("    {line}");
    }
    println!("all that it did is in {}", file.display());
    println!("once more, alone: armilla-feeds --seed {seed} --only {number} --no-kills");
    println!("and with kills: armilla-feeds --seed {seed} --only {number} --repeat 50");
    Ok(())
}
