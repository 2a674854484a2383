//! What can be told to `armilla demo`.

use std::path::PathBuf;

use armilla_client::ServerOptions;
use clap::{Args, Subcommand};

use crate::figures::{Operation, PUBLISHED_PARTITIONS};
use crate::limits::{CONNECTIONS_MAX, LIVE_MAX, PARTITIONS_MAX, ROUNDS_MAX, USERS_MAX};

/// Everything that can be set for a demonstration.
#[derive(Debug, Args)]
pub struct DemoOptions {
    #[command(subcommand)]
    pub(crate) demo: Demo,
}

/// What is demonstrated.
#[derive(Debug, Subcommand)]
pub(crate) enum Demo {
    /// A blog platform in three versions of its data model: what each costs, beside the published figures
    ///
    /// Creates the databases blog-v1, blog-v2 and blog-v3 (those of these names that are there are removed), fills them from a seed, runs the change-feed workers that
    /// keep versions 2 and 3 in step, measures ten operations in each version, lets clients write while the workers
    /// run, and compares every copy with its source. Without --endpoint it starts a server of its own and stops it,
    /// unless --serve says to leave it up.
    /// Exit code 0: done. 2: request units miss a bar, or a copy is not in step. 1: it could not.
    Blog(Box<BlogOptions>),
    /// The change-feed workers of the blog platform by themselves, until SIGTERM or SIGINT
    ///
    /// They go on where the last ones ended, however they ended. Exit code 0: ended by a signal or by --drain.
    /// 1: they could not go on.
    BlogWorker(WorkerOptions),
}

/// What can be set for the blog.
#[derive(Debug, Args)]
pub(crate) struct BlogOptions {
    /// Users beside the one that is measured; each writes 27.5 posts with 12.5 comments and 50 likes, on average
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(USERS_MAX)))]
    pub(crate) users: u32,

    /// What all data is made from
    #[arg(long, value_name = "NUMBER", default_value_t = 20_190_523)]
    pub(crate) seed: u64,

    /// Physical partitions of the containers of posts; the published figures fit 67
    #[arg(long, value_name = "NUMBER", default_value_t = PUBLISHED_PARTITIONS, value_parser = clap::value_parser!(u32).range(1..=i64::from(PARTITIONS_MAX)))]
    pub(crate) partitions: u32,

    /// Connections that load, and over which an operation's follow-up requests go
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=i64::from(CONNECTIONS_MAX)))]
    pub(crate) connections: u32,

    /// How often each operation is measured
    #[arg(long, value_name = "NUMBER", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=i64::from(ROUNDS_MAX)))]
    pub(crate) rounds: u32,

    /// Measure these operations alone, such as Q3,Q6
    #[arg(long, value_name = "OPERATIONS", value_delimiter = ',', value_parser = operation)]
    pub(crate) only: Vec<Operation>,

    /// Writes of the live phase, in which clients write while the workers run; 0 leaves it out
    #[arg(long, value_name = "NUMBER", default_value_t = 500, value_parser = clap::value_parser!(u32).range(0..=i64::from(LIVE_MAX)))]
    pub(crate) live: u32,

    /// Leave out comparing every copy with its source
    #[arg(long)]
    pub(crate) no_check: bool,

    /// In the middle of the live phase, kill the server and the workers (SIGKILL) and start them again; not with
    /// --endpoint
    #[arg(long, conflicts_with = "endpoint")]
    pub(crate) kill: bool,

    /// Several numbers of users, one after another, each in a folder of its own; instead of --users
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', conflicts_with_all = ["endpoint", "users"], value_parser = clap::value_parser!(u32).range(1..=i64::from(USERS_MAX)))]
    pub(crate) scale: Vec<u32>,

    /// Folder for the data of the server that is started [default: a temporary one]; with --scale it gets a folder for
    /// each number
    #[arg(long, value_name = "FOLDER", conflicts_with = "endpoint")]
    pub(crate) data_dir: Option<PathBuf>,

    /// Keep the databases, and the temporary folder, afterwards
    #[arg(long)]
    pub(crate) keep: bool,

    /// Take what an earlier run with --keep has loaded, with the same --users and --seed, instead of loading
    #[arg(long)]
    pub(crate) reuse: bool,

    /// The server that is started acknowledges writes before they would survive the loss of power
    #[arg(long, conflicts_with = "endpoint")]
    pub(crate) relaxed: bool,

    /// Instead of measuring, leave the loaded account up with its workers, and say where the explorer shows it, until
    /// SIGTERM or SIGINT
    #[arg(long, conflicts_with_all = ["endpoint", "config", "scale", "rounds", "only", "live", "no_check", "kill", "report", "json"])]
    pub(crate) serve: bool,

    /// Write a report with plots
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,

    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

fn operation(name: &str) -> Result<Operation, String> {
    let found = Operation::ALL.into_iter().find(|operation| operation.name().eq_ignore_ascii_case(name));
    found.ok_or_else(|| "one of C1, C2, C3, C4, Q1, Q2, Q3, Q4, Q5, Q6 is wanted".to_owned())
}

/// What can be set for the workers.
#[derive(Debug, Args)]
pub(crate) struct WorkerOptions {
    /// End once nothing is new
    #[arg(long)]
    pub(crate) drain: bool,

    /// Connections over which copies are written
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=i64::from(CONNECTIONS_MAX)))]
    pub(crate) connections: u32,

    #[command(flatten)]
    pub(crate) server: ServerOptions,
}
