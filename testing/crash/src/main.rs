//! Kills a real server again and again while it is written to, and compares what it then serves with a model
//! of what it had acknowledged.
//!
//! One data folder lives through all rounds. Each round: writers at work, SIGKILL at a random moment,
//! `armilla check`, restart, everything read back. What must hold is written in `model` (items), `ledger`
//! (commit numbers), `bank` (transactions) and `tree` (databases and containers).
//!
//! With `--splits` physical partitions are split and merged all the time besides, and the server is killed at the steps
//! of that (`aim`): then the partition map must be whole (`map`), each split completed or gone without a trace, and walks
//! through all items go on where they were (`walker`).
//!
//! Choices come from a seed; how they interleave with the server does not, so a failure repeats with its
//! seed often, not always.

#![expect(clippy::print_stdout, reason = "the report is what the program is for")]

mod aim;
mod ballast;
mod bank;
mod bank_requests;
mod banking;
mod content;
mod folder;
mod ledger;
mod model;
mod outcome;
mod round;
mod setup;
mod splitting;
mod stop;
mod surveyor;
mod teller;
mod tree;
mod tree_model;
mod verify;
mod walker;
mod writer;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use armilla_crash::program::{WorkFolder, run_to_exit};
use armilla_crash::server_process::{Launch, sibling_program};
use armilla_env::{Env, Random};
use clap::Parser;

use crate::aim::Aim;
use crate::outcome::Summary;
use crate::round::{Clients, World};
use crate::splitting::PARTITION_BYTES;

/// Kills a server while it is written to, and checks that it lost nothing.
#[derive(Debug, Parser)]
#[command(name = "armilla-crash")]
struct Options {
    /// How often the server is killed
    #[arg(long, default_value_t = 200)]
    rounds: u64,
    /// Connections that write
    #[arg(long, default_value_t = 16)]
    writers: usize,
    /// Connections that write by stored procedures, transactional batches and triggers
    #[arg(long, default_value_t = 6)]
    tellers: usize,
    /// The server program [default: armilla beside this program]
    #[arg(long)]
    bin: Option<PathBuf>,
    /// What the choices follow from [default: from the time]
    #[arg(long)]
    seed: Option<u64>,
    /// Least milliseconds of writing before the kill
    #[arg(long, default_value_t = 50)]
    min_ms: u64,
    /// Most milliseconds of writing before the kill
    #[arg(long, default_value_t = 1_500)]
    max_ms: u64,
    /// Percentage of rounds that end with SIGTERM instead, after which nothing may be in doubt but what
    /// was cut off
    #[arg(long, default_value_t = 5)]
    graceful_percent: u64,
    /// Split and merge physical partitions all the time, and kill the server at the steps of that
    #[arg(long)]
    splits: bool,
    /// With --splits, items that nobody changes and every split has to copy
    #[arg(long, default_value_t = 3_000)]
    ballast: usize,
    /// Folder for the data and the server's log; kept [default: a new one, kept after a failure]
    #[arg(long)]
    work_dir: Option<PathBuf>,
    /// Object store that the account lies in, under a prefix that is empty: s3://bucket/prefix, file:///folder
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// A further argument for the server; may be repeated
    #[arg(long = "server-arg", allow_hyphen_values = true)]
    server_arguments: Vec<String>,
}

fn main() -> ExitCode {
    run_to_exit(run(Options::parse()))
}

/// Runs all rounds; returns whether all of them passed.
async fn run(options: Options) -> Result<bool> {
    ensure!(options.writers > 0, "there must be a writer");
    ensure!(options.min_ms <= options.max_ms, "--min-ms is more than --max-ms");
    let env = Env::system();
    let seed = options.seed.unwrap_or_else(|| env.clock.now_ms().unsigned_abs());
    let work_folder = WorkFolder::make(options.work_dir.as_deref())?;
    let work_dir = work_folder.path();
    let launch = Launch {
        binary: options.bin.clone().map_or_else(sibling_program, Ok)?,
        data_dir: work_dir.join("data"),
        log: work_dir.join("server.log"),
        arguments: server_arguments(&options),
        store: options.store.clone(),
    };
    let ballast = options.splits.then_some(options.ballast);
    let clients = Clients { writers: options.writers, tellers: options.tellers, ballast };
    let Clients { writers, tellers, .. } = clients;
    let folder = work_dir.display();
    println!("seed {seed}, {} rounds, {writers} writers, {tellers} tellers, {folder}", options.rounds);
    let mut summary = Summary::default();
    let mut world = World::new(launch, env, seed, clients).await?;
    for round in 0..options.rounds {
        let mut random = Random::of_part(seed, round);
        let plan = round::Plan {
            round,
            write_ms: options.min_ms + random.below(options.max_ms - options.min_ms + 1),
            aim: options.splits.then(|| Aim::choose(&mut random)),
            graceful: random.percent(options.graceful_percent),
            kill_while_starting_ms: random.percent(12).then(|| random.below(60)),
            check_in_place: random.percent(50),
        };
        let report = world.play(&plan).await.with_context(|| format!("round {round} with seed {seed}"));
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                summary.failed(&[format!("{error:#}")]);
                break;
            }
        };
        println!("{report}");
        summary.add(&report);
        if !report.differences.is_empty() {
            summary.failed(&report.differences);
            break;
        }
    }
    if summary.is_passed() {
        let differences = world.finish(options.rounds).await?;
        if !differences.is_empty() {
            summary.failed(&differences);
        }
    }
    let passed = summary.print(seed);
    if !passed {
        work_folder.keep();
    }
    Ok(passed)
}

/// Returns the arguments of the server: nothing is refused for want of request units, which is measured elsewhere.
fn server_arguments(options: &Options) -> Vec<String> {
    let mut arguments = vec!["--throttle".to_owned(), "off".to_owned()];
    if options.splits {
        arguments.extend(["--physical-partition-bytes".to_owned(), PARTITION_BYTES.to_string()]);
    }
    arguments.extend_from_slice(&options.server_arguments);
    arguments
}
