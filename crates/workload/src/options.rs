//! What can be said on the command line.

use std::path::PathBuf;

use armilla_client::ServerOptions;
use clap::{Args, Subcommand, ValueEnum};

use crate::circumstances::State;
use crate::items::Items;
use crate::limits::{
    CONNECTIONS_MAX, ITEM_BYTES_MAX, ITEMS_MAX, PARTITIONS_MAX, RATE_MAX, RATE_MIN, SECONDS_MAX, SECONDS_MIN,
};
use crate::queries::Query;

/// Everything that can be set for a benchmark.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct BenchOptions {
    #[command(subcommand)]
    pub(crate) command: Option<BenchCommand>,

    #[command(flatten)]
    pub(crate) run: RunOptions,
}

/// What to do instead of measuring.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Describe the workloads
    List,
    /// Compare two results, each written with --json
    ///
    /// Exit code 0: compared. 2: with --fail-if-slower, something is. 1: it could not.
    Compare(CompareOptions),
}

/// A workload on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkloadChoice {
    /// Reads single items by id and partition key
    PointRead,
    /// Writes new versions of single items
    Write,
    /// Reads and writes single items, see --read-percent
    Mixed,
    /// Asks queries, one after the other, see --queries
    Query,
    /// Calls a stored procedure that writes two items in a transaction
    Script,
    /// Drains the change feed, then follows it while others write
    Feed,
    /// Does what a blog does, against what `armilla demo blog --keep` has loaded
    Blog,
    /// All of them but blog
    All,
}

/// Everything that can be set when measuring.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunOptions {
    /// What to measure, one after the other
    #[arg(value_name = "WORKLOAD", required = true)]
    pub(crate) workloads: Vec<WorkloadChoice>,

    /// Seconds of each measurement
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    pub(crate) seconds: f64,

    /// Seconds before each measurement in which the same is done and not counted
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = warm_up)]
    pub(crate) warm_up: f64,

    /// Operations a second: an open loop, in which latency counts from when an operation was due [default: a
    /// closed loop, in which each connection sends its next operation after the answer to the last]
    #[arg(long, value_name = "OPERATIONS", value_parser = rate)]
    pub(crate) rate: Option<f64>,

    /// Connections to each side; everything is measured with each of several numbers
    #[arg(
        long,
        value_name = "COUNT",
        value_delimiter = ',',
        default_value = "16",
        value_parser = clap::value_parser!(u16).range(1..=i64::from(CONNECTIONS_MAX))
    )]
    pub(crate) connections: Vec<u16>,

    /// States of the data in which everything is measured, in this order
    #[arg(long, value_name = "STATE", value_delimiter = ',', default_value = "loaded")]
    pub(crate) states: Vec<State>,

    /// Writes a second of others in the state written, over connections of their own
    #[arg(long, value_name = "OPERATIONS", default_value = "2000", value_parser = rate)]
    pub(crate) write_rate: f64,

    /// Reads of a hundred operations of the workload mixed
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 80,
        value_parser = clap::value_parser!(u8).range(0..=100)
    )]
    pub(crate) read_percent: u8,

    /// Queries of the workload query [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) queries: Vec<Query>,

    /// Versions of the data model of the workload blog
    #[arg(
        long,
        value_name = "VERSION",
        value_delimiter = ',',
        default_value = "1,2,3",
        value_parser = clap::value_parser!(u8).range(1..=3)
    )]
    pub(crate) blog_versions: Vec<u8>,

    /// Items to load before
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 20_000,
        value_parser = clap::value_parser!(u64).range(1..=ITEMS_MAX),
        help_heading = "Data"
    )]
    pub(crate) items: u64,

    /// Bytes of an item's JSON
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 800,
        value_parser = clap::value_parser!(u32).range(Items::LEAST_BYTES as i64..=i64::from(ITEM_BYTES_MAX)),
        help_heading = "Data"
    )]
    pub(crate) item_bytes: u32,

    /// Physical partitions of the container: it gets the throughput that gives it so many
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(PARTITIONS_MAX)),
        help_heading = "Data"
    )]
    pub(crate) partitions: u32,

    /// Request units a second of the container; what is beyond them is refused, also by a server of our own
    /// [default: those of its physical partitions]
    #[arg(
        long,
        value_name = "RU",
        value_parser = clap::value_parser!(u32).range(400..),
        conflicts_with = "partitions",
        help_heading = "Data"
    )]
    pub(crate) throughput: Option<u32>,

    /// What data and operations are drawn from
    #[arg(long, value_name = "NUMBER", default_value_t = 1, help_heading = "Data")]
    pub(crate) seed: u64,

    /// Database that is made, and deleted in the end
    #[arg(long, value_name = "NAME", default_value = "armilla-bench", help_heading = "Data")]
    pub(crate) database: String,

    /// Delete that database first if it is there
    #[arg(long, help_heading = "Data")]
    pub(crate) replace: bool,

    /// Leave the database there in the end
    #[arg(long, help_heading = "Data")]
    pub(crate) keep: bool,

    /// Write the result to this file as JSON, for `armilla bench compare` and other programs
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,

    /// Write the result to this file as a page with plots
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,

    /// Measure PostgreSQL as well, with the same items as JSONB, in a server of our own where it is installed
    #[arg(long, help_heading = "Peers")]
    pub(crate) postgres: bool,

    /// Measure a second PostgreSQL as well, with one GIN index of everything in the documents instead of an index for each
    /// query
    #[arg(long, requires = "postgres", help_heading = "Peers")]
    pub(crate) postgres_gin: bool,

    /// Folder with PostgreSQL's programs [default: where Debian puts them, then those of PATH]
    #[arg(long, value_name = "FOLDER", requires = "postgres", help_heading = "Peers")]
    pub(crate) postgres_bin: Option<PathBuf>,

    /// Data folder of the server of our own, which is kept [default: a temporary one]
    #[arg(long, value_name = "FOLDER", conflicts_with = "endpoint", help_heading = "Server")]
    pub(crate) data_dir: Option<PathBuf>,

    /// An argument for the server of our own, such as --server-arg=--durability=relaxed
    #[arg(
        long = "server-arg",
        value_name = "ARGUMENT",
        allow_hyphen_values = true,
        conflicts_with = "endpoint",
        help_heading = "Server"
    )]
    pub(crate) server_arguments: Vec<String>,

    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

/// Everything that can be set when comparing.
#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    /// The result before
    #[arg(value_name = "BEFORE.json")]
    pub(crate) before: PathBuf,

    /// The result after
    #[arg(value_name = "AFTER.json")]
    pub(crate) after: PathBuf,

    /// End with 2 if something is slower by more than so many percent
    ///
    /// In a closed loop that is fewer operations a second; in an open loop a longer median latency, or a rate that is
    /// no longer kept; and for the kinds of operations of a workload a longer median latency.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) fail_if_slower: Option<f64>,
}

fn number_in(text: &str, least: f64, most: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("not a number from {least} to {most}")),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    number_in(text, SECONDS_MIN, SECONDS_MAX)
}

fn warm_up(text: &str) -> Result<f64, String> {
    number_in(text, 0.0, SECONDS_MAX)
}

fn rate(text: &str) -> Result<f64, String> {
    number_in(text, RATE_MIN, RATE_MAX)
}

fn percent(text: &str) -> Result<f64, String> {
    number_in(text, 0.0, 1_000.0)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        bench: BenchOptions,
    }

    fn parse(arguments: &[&str]) -> Result<BenchOptions, String> {
        let all = ["bench"].iter().chain(arguments);
        Line::try_parse_from(all).map(|line| line.bench).map_err(|error| error.to_string())
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Line::command().debug_assert();
    }

    #[test]
    fn several_workloads() {
        let options = parse(&["point-read", "write", "--seconds", "0.5", "--rate", "100"]).unwrap();
        assert_eq!(options.run.workloads, [WorkloadChoice::PointRead, WorkloadChoice::Write]);
        assert_eq!((options.run.seconds, options.run.rate), (0.5, Some(100.0)));
        assert!(options.command.is_none());
        let options = parse(&["query", "--queries", "range,by-key", "--blog-versions", "2"]).unwrap();
        assert_eq!(options.run.queries, [Query::Range, Query::ByKey]);
        assert_eq!(options.run.blog_versions, [2]);
        let options = parse(&["all", "--server-arg=--cache-mb=8", "--server-arg", "--memory"]).unwrap();
        assert_eq!(options.run.server_arguments, ["--cache-mb=8", "--memory"]);
    }

    #[test]
    fn circumstances() {
        for (arguments, connections, states, write_rate) in [
            (vec![], vec![16], vec![State::Loaded], 2_000.0),
            (vec!["--connections", "1,16"], vec![1, 16], vec![State::Loaded], 2_000.0),
            (
                vec!["--connections=8", "--states", "written,rested", "--write-rate", "50"],
                vec![8],
                vec![State::Written, State::Rested],
                50.0,
            ),
        ] {
            let options = parse(&[&["write"], &arguments[..]].concat()).unwrap().run;
            assert_eq!(options.connections, connections, "{arguments:?}");
            assert_eq!((options.states, options.write_rate), (states, write_rate), "{arguments:?}");
        }
    }

    #[test]
    fn other_things_than_measuring() {
        assert!(matches!(parse(&["list"]).unwrap().command, Some(BenchCommand::List)));
        let options = parse(&["compare", "a", "b", "--fail-if-slower", "5"]).unwrap();
        let Some(BenchCommand::Compare(compare)) = options.command else { panic!("{options:?}") };
        assert_eq!((compare.before, compare.after), ("a".into(), "b".into()));
        assert_eq!(compare.fail_if_slower, Some(5.0));
    }

    #[test]
    fn values_at_their_bounds_and_past_them() {
        for (name, good, bad) in [
            ("--seconds", vec!["0.1", "86400"], vec!["0", "0.09", "86401", "x", "NaN"]),
            ("--warm-up", vec!["0", "1.5"], vec!["-1", "inf"]),
            ("--rate", vec!["0.1", "1000000"], vec!["0", "1000001", "-5"]),
            ("--connections", vec!["1", "1024", "1,16"], vec!["0", "1025", "1,0", "1,", "16;1"]),
            (
                "--states",
                vec!["loaded", "rested,written,loaded"],
                vec!["resting", "loaded,", "loaded rested"],
            ),
            ("--write-rate", vec!["0.1", "1000000"], vec!["0", "1000001"]),
            ("--read-percent", vec!["0", "100"], vec!["101"]),
            ("--items", vec!["1", "100000000"], vec!["0", "100000001"]),
            ("--item-bytes", vec!["300", "2000000"], vec!["299", "2000001"]),
            ("--partitions", vec!["1", "1000"], vec!["0", "1001"]),
            ("--throughput", vec!["400"], vec!["399"]),
            ("--blog-versions", vec!["1", "3"], vec!["0", "4"]),
            ("--queries", vec!["count"], vec!["counts"]),
        ] {
            for value in good {
                assert!(parse(&["all", &format!("{name}={value}")]).is_ok(), "{name} {value}");
            }
            for value in bad {
                assert!(parse(&["all", &format!("{name}={value}")]).is_err(), "{name} {value}");
            }
        }
    }

    #[test]
    fn command_lines_that_make_no_sense() {
        for arguments in [
            vec![],
            vec!["no-such-workload"],
            vec!["compare", "a"],
            vec!["write", "--postgres-bin", "x"],
            vec!["write", "--postgres-gin"],
            vec!["write", "--data-dir", "x", "--endpoint", "http://localhost:1/"],
            vec!["write", "--partitions", "2", "--throughput", "400"],
            vec!["compare", "a", "b", "--fail-if-slower", "-1"],
        ] {
            assert!(parse(&arguments).is_err(), "{arguments:?}");
        }
    }
}
