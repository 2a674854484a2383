//! Workloads with the ceilings of the machine beside them, measured in one run.
//!
//! A figure alone says little: what counts is how much of the ceiling is left. So the raw store does the same
//! reads and writes, and a bare HTTP server of the same stack returns the same bytes to the same client:
//!
//! ```text
//! start    the server on an empty folder
//! raw      the embedded store alone: gets, and group commits of the records that an item write makes
//! bare     an HTTP server that does nothing, over loopback
//! engine   the engine, in process
//! http     the server, over loopback: load, reads, upserts, replaces
//! ```
//!
//! Other commands measure something else: `queries` and `scripts`, with PostgreSQL beside them, `index-cost`, with
//! the raw store beside it, `nodes`, with a server on a folder, `neighbours` and `splits`, with the same requests undisturbed, `metering`, with an older
//! program if there is one, `skew`, with the throughput that should be given, `feed`, with the raw store and a bare
//! HTTP server beside it, `import`, with bulk requests in process, `tables`, with azurite and a bare HTTP server, `mongo`, with the SQL API
//! and other servers of MongoDB's protocol, and `gremlin`, with TinkerPop's server.
//! `fill` writes until the disk is full of it, `instructions` counts those of a request, and `performance` draws how figures change with the number of items.
//!
//! Servers enforce no throughput, but for what is measured of that.
//!
//! Client and server share the machine, as the ceilings do. Measurements are made in turn, several times, and
//! the best of each counts.

#![expect(clippy::print_stdout, reason = "the report is what the program is for")]
#![expect(clippy::print_stderr, reason = "progress goes to standard error, so that the report can be piped")]

mod bare_server;
mod columns;
mod feed;
mod fill;
mod gremlin;
mod import;
mod in_process;
mod index_cost;
mod instructions;
mod items;
mod load;
mod many_containers;
mod measure;
mod memory_profile;
mod metering;
mod mongo;
mod neighbours;
mod nodes;
mod over_http;
mod performance;
mod place;
mod queries;
mod raw_store;
mod report;
mod scripts;
mod server;
mod skew;
mod splits;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use armilla_env::Env;
use clap::{Parser, Subcommand, ValueEnum};

use crate::bare_server::BareServers;
use crate::feed::FeedOptions;
use crate::fill::FillOptions;
use crate::gremlin::GremlinOptions;
use crate::import::ImportOptions;
use crate::in_process::InProcess;
use crate::index_cost::IndexCostOptions;
use crate::instructions::InstructionOptions;
use crate::items::Items;
use crate::measure::measure_in_turn;
use crate::metering::MeteringOptions;
use crate::mongo::MongoOptions;
use crate::neighbours::NeighbourOptions;
use crate::nodes::NodeOptions;
use crate::over_http::OverHttp;
use crate::performance::PerformanceOptions;
use crate::queries::QueryOptions;
use crate::raw_store::RawStore;
use crate::report::Report;
use crate::scripts::ScriptOptions;
use crate::server::{Servers, Setup};
use crate::skew::SkewOptions;
use crate::splits::SplitOptions;
use crate::tables::TableOptions;

// The server's allocator, so that the ceilings have what the server has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A part of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Starting on an empty folder
    Start,
    /// The embedded store alone
    Raw,
    /// An HTTP server that does nothing
    Bare,
    /// The engine in process
    Engine,
    /// The server over HTTP
    Http,
}

/// Measures reads and writes beside the ceilings of the machine.
#[derive(Debug, Parser)]
#[command(name = "armilla-bench", args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    /// Items to load [default: 100000; with --memory-profile 1000000]
    #[arg(long)]
    items: Option<usize>,
    /// Bytes of an item's JSON
    #[arg(long, default_value_t = 400)]
    item_bytes: usize,
    /// How often each measurement is made, in turn with the others; the best one counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Measure these parts alone
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Instead: make that many empty containers, restart, and see what they cost
    #[arg(long)]
    containers: Option<usize>,
    /// Instead: load many items and see what memory the server takes
    #[arg(long)]
    memory_profile: bool,
    #[command(flatten)]
    setup: Setup,
    /// Be the bare HTTP server, with the answer in this file
    #[arg(long, hide = true)]
    bare_server: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What is measured instead of reads and writes.
#[derive(Debug, Subcommand)]
enum Command {
    /// Measures queries, beside PostgreSQL with the same items
    Queries(QueryOptions),
    /// Measures what indexed paths cost writes, beside the store alone
    IndexCost(IndexCostOptions),
    /// Measures stored procedures and transactional batches, beside PostgreSQL
    Scripts(ScriptOptions),
    /// Measures what endless stored procedures cost everybody else
    Neighbours(NeighbourOptions),
    /// Measures an account in an object store, and one that two nodes share, beside one in a folder
    Nodes(NodeOptions),
    /// Measures what a split costs those who read and write meanwhile
    Splits(SplitOptions),
    /// Measures what it costs to admit, charge and count operations
    Metering(MeteringOptions),
    /// Measures what is given of a throughput, by an even key and by a hot one
    Skew(SkewOptions),
    /// Measures the change feed: draining it, following it, and the size of the log
    Feed(FeedOptions),
    /// Measures whether the last of many items are written as fast as the first
    Fill(FillOptions),
    /// Measures `armilla import`, beside bulk requests in process
    Import(ImportOptions),
    /// Measures the Table API, beside azurite
    Tables(TableOptions),
    /// Measures the MongoDB API, beside the SQL API and other servers of MongoDB's protocol
    Mongo(MongoOptions),
    /// Measures the Gremlin API, beside TinkerPop's server
    Gremlin(GremlinOptions),
    /// Counts the instructions of requests, where valgrind is installed
    Instructions(InstructionOptions),
    /// Measures workloads over more and more items, and draws plots of it
    Performance(PerformanceOptions),
}

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match (&options.command, &options.bare_server) {
        (Some(Command::Queries(options)), _) => queries::run(options),
        (Some(Command::IndexCost(options)), _) => index_cost::run(options),
        (Some(Command::Scripts(options)), _) => scripts::run(options),
        (Some(Command::Neighbours(options)), _) => neighbours::run(options),
        (Some(Command::Nodes(options)), _) => nodes::run(options),
        (Some(Command::Splits(options)), _) => splits::run(options),
        (Some(Command::Metering(options)), _) => metering::run(options),
        (Some(Command::Skew(options)), _) => skew::run(options),
        (Some(Command::Feed(options)), _) => feed::run(options),
        (Some(Command::Fill(options)), _) => fill::run(options),
        (Some(Command::Import(options)), _) => import::run(options),
        (Some(Command::Tables(options)), _) => tables::run(options),
        (Some(Command::Mongo(options)), _) => mongo::run(options),
        (Some(Command::Gremlin(options)), _) => gremlin::run(options),
        (Some(Command::Instructions(options)), _) => instructions::run(options),
        (Some(Command::Performance(options)), _) => performance::run(options),
        (None, Some(answer)) => bare_server::serve(answer),
        (None, None) => run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("armilla-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let env = Env::system();
    let count = options.items.unwrap_or(if options.memory_profile { 1_000_000 } else { 100_000 });
    let items = Items::new(count, options.item_bytes)?;
    let mut report = Report::new(options, count);
    if let Some(containers) = options.containers {
        let servers = Servers::new(&options.setup, &env)?;
        many_containers::measure(&servers, containers, &mut report)?;
    } else if options.memory_profile {
        let servers = Servers::new(&options.setup, &env)?;
        memory_profile::measure(&options.setup, &servers, &items, &mut report)?;
    } else {
        measure_parts(options, &env, &items, &mut report)?;
    }
    report.print();
    options.setup.place.write_figures(&report.figures())
}

fn measure_parts(options: &Options, env: &Env, items: &Items, report: &mut Report) -> Result<()> {
    let setup = &options.setup;
    let wants = |part: Part| options.only.is_empty() || options.only.contains(&part);
    if wants(Part::Start) {
        over_http::measure_start(&Servers::new(setup, env)?, report)?;
    }
    let mut raw = None;
    if wants(Part::Raw) {
        let (loaded, measurement) = RawStore::load(setup, env, *items)?;
        report.add(measurement);
        raw = Some(loaded);
    }
    let mut engine = None;
    if wants(Part::Engine) {
        let (loaded, measurement) = InProcess::load(setup, env, *items, None)?;
        report.add(measurement);
        engine = Some(loaded);
    }
    let http = if wants(Part::Http) { Some(OverHttp::load(setup, env, *items, report)?) } else { None };
    let bare = if wants(Part::Bare) { Some(BareServers::start(setup, env, *items)?) } else { None };

    let mut phases = Vec::new();
    phases.extend(raw.iter().flat_map(RawStore::phases));
    phases.extend(bare.iter().flat_map(BareServers::phases));
    phases.extend(engine.iter().flat_map(InProcess::phases));
    phases.extend(http.iter().flat_map(OverHttp::phases));
    // What is compared is measured one after the other.
    phases.sort_by_key(|phase| report::place(phase.name));
    let (reads, writes): (Vec<_>, Vec<_>) =
        phases.into_iter().partition(|phase| phase.name.contains("reads") || phase.name.contains("gets"));
    for (phases, memory) in [(reads, "memory after the reads"), (writes, "memory after the writes")] {
        for measurement in measure_in_turn(env, &phases, options.rounds.max(1))? {
            report.add(measurement);
        }
        if let Some(http) = &http {
            report.memory(memory, http.resident()?);
        }
    }
    report.add_ratios();
    drop(bare);
    if let Some(http) = http {
        http.stop()?;
    }
    if let Some(engine) = engine {
        engine.close()?;
    }
    match raw {
        Some(raw) => raw.close(report),
        None => Ok(()),
    }
}
