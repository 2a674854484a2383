//! The MongoDB API beside the SQL API of the same server, other servers of MongoDB's protocol, and PostgreSQL: the same
//! documents and operations on each, in one run.
//!
//! ```text
//! find by _id       one document
//! insertOne         one document, durable where there is a disk, with three secondary indexes
//! updateOne $inc    one document by its _id, durable
//! find 10 by index  ten documents by an indexed member, which lie far apart
//! $group of all     all documents into a hundred groups, with their number and a sum
//! ```
//!
//! Each is measured with several numbers of connections, right after the load, while others write, and at rest. Sides
//! that speak MongoDB's protocol are asked by one client, message for message the same; those that are not installed
//! are left out (`bench/peers/mongo/get.sh` builds them).

mod cases;
mod connection;
mod disk;
mod documents;
mod measure;
mod page;
mod peers;
mod postgres;
mod scram;
mod side;
mod sql;
mod table;
mod wire;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_env::Env;
use armilla_workload::State;
use clap::{Args, ValueEnum};

use crate::place::Place;
use crate::server::Setup;
use cases::Case;
use documents::Documents;
use measure::Course;
use side::Side;
use table::Report;

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Who {
    /// The server, through its MongoDB API
    Armilla,
    /// The same, with writes that may be repeated, as drivers send them unless told not to
    ArmillaRetryable,
    /// The server, through its SQL API
    ArmillaSql,
    /// FerretDB over SQLite, as released
    FerretDb,
    /// FerretDB over SQLite, asking for what its index of _id holds
    FerretDbMended,
    /// mongo-java-server, in memory
    MongoJavaServer,
    /// PostgreSQL, with the documents as jsonb
    Postgres,
}

impl Who {
    const ALL: [Who; 7] = [
        Who::Armilla,
        Who::ArmillaRetryable,
        Who::ArmillaSql,
        Who::FerretDb,
        Who::FerretDbMended,
        Who::MongoJavaServer,
        Who::Postgres,
    ];

    fn name(self) -> &'static str {
        match self {
            Who::Armilla => "armilla",
            Who::ArmillaRetryable => "armilla, retryable",
            Who::ArmillaSql => "armilla, SQL API",
            Who::FerretDb => "FerretDB",
            Who::FerretDbMended => "FerretDB, mended",
            Who::MongoJavaServer => "mongo-java-server",
            Who::Postgres => "PostgreSQL",
        }
    }

    /// Says whether it is another server than our own.
    fn is_peer(self) -> bool {
        !matches!(self, Who::Armilla | Who::ArmillaRetryable | Who::ArmillaSql)
    }

    /// Says which cases differ from those of a side that is measured with all of them.
    fn wants(self, case: Case) -> bool {
        match self {
            Who::ArmillaRetryable => case.is_write(),
            // The mended line is about finding by _id and nothing else.
            Who::FerretDb => case == Case::Find,
            _ => true,
        }
    }

    /// Returns how long it must have done something before it is as fast as it gets.
    fn warm_up(self) -> Duration {
        match self {
            // Its methods are compiled while they run.
            Who::MongoJavaServer => Duration::from_secs(2),
            _ => Duration::ZERO,
        }
    }
}

/// Measures the MongoDB API, beside the SQL API and other servers.
#[derive(Debug, Args)]
pub(crate) struct MongoOptions {
    /// Folder of peers, as bench/peers/mongo/get.sh makes it
    #[arg(long, default_value = "target/mongo-peers")]
    peers: PathBuf,
    /// Documents to load
    #[arg(long, default_value_t = 100_000)]
    items: usize,
    /// Numbers of connections
    #[arg(long, value_delimiter = ',', default_value = "1,16", value_parser = clap::value_parser!(u16).range(1..=512))]
    connections: Vec<u16>,
    /// States of the data in which everything is measured
    #[arg(long, value_delimiter = ',', default_value = "loaded,written,rested")]
    states: Vec<State>,
    /// Documents that others write in a second in the state written
    #[arg(long, default_value_t = 500.0)]
    write_rate: f64,
    /// Measure these alone
    #[arg(long, value_delimiter = ',')]
    only: Vec<Case>,
    /// Measure these sides alone; those that cannot be had are left out
    #[arg(long, value_delimiter = ',')]
    side: Vec<Who>,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// What the operations are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Megabytes of the server's cache [default: enough for all data]
    #[arg(long)]
    cache_mb: Option<u32>,
    /// File for the figures as a page of Markdown
    #[arg(long)]
    page: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

/// Bytes of cache for a document, its index entries included, and megabytes at least.
const CACHE_BYTES_PER_DOCUMENT: usize = 4_096;
const CACHE_MB_MIN: u32 = 256;
const CACHE_MB_MAX: u32 = 8_192;

impl MongoOptions {
    fn setup(&self) -> Setup {
        let enough = u32::try_from(self.items.saturating_mul(CACHE_BYTES_PER_DOCUMENT) >> 20);
        let enough = enough.unwrap_or(u32::MAX).clamp(CACHE_MB_MIN, CACHE_MB_MAX);
        Setup {
            connections: 1,
            seconds: self.seconds,
            partitions: 1,
            cache_mb: self.cache_mb.unwrap_or(enough),
            place: self.place.clone(),
        }
    }

    fn course(&self, who: Who) -> Result<Course> {
        ensure!(self.write_rate > 0.0 && self.write_rate.is_finite(), "others must write something");
        ensure!(self.seconds > 0.0 && self.seconds.is_finite(), "a measurement takes some time");
        let wants = |case: &Case| who.wants(*case) && (self.only.is_empty() || self.only.contains(case));
        Ok(Course {
            documents: Documents::new(self.items)?,
            cases: Case::ALL.into_iter().filter(wants).collect(),
            connections: self.connections.iter().map(|count| usize::from(*count)).collect(),
            states: State::ALL.into_iter().filter(|state| self.states.contains(state)).collect(),
            seconds: self.seconds,
            write_rate: self.write_rate,
            seed: self.seed,
        })
    }
}

/// Measures, prints the tables and writes the figures.
pub(crate) fn run(options: &MongoOptions) -> Result<()> {
    let (env, setup) = (Env::system(), options.setup());
    // Peers run in folders of their own.
    let peers = options.peers.canonicalize().unwrap_or_else(|_| options.peers.clone());
    let mut report = Report::new(options.items, options.write_rate, options.seconds);
    for who in Who::ALL.into_iter().filter(|who| options.side.is_empty() || options.side.contains(who)) {
        let course = options.course(who)?;
        if course.cases.is_empty() {
            continue;
        }
        let sync_before = disk::sync_time(&env, &setup)?;
        eprintln!("loading {}", who.name());
        let side = match Side::load(who, &env, &setup, &peers, course.documents) {
            Ok(Some(side)) => side,
            Ok(None) => {
                report.notes.push(format!("{} is not installed: it is left out", who.name()));
                continue;
            }
            // A peer that does not work here takes nothing from the others.
            Err(error) if who.is_peer() => {
                report.notes.push(format!("{} is left out: {error:#}", who.name()));
                continue;
            }
            Err(error) => return Err(error).with_context(|| format!("cannot load {}", who.name())),
        };
        measure::measure(&env, &side, &course, &mut report.rows, &mut report.notes)?;
        report.memory.push((who, side.resident()?));
        report.syncs.push((who, sync_before, disk::sync_time(&env, &setup)?));
        side.stop()?;
    }
    println!("{}", report.text());
    if let Some(path) = &options.page {
        std::fs::write(path, page::page(&report))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    options.place.write_figures(&report.figures())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        mongo: MongoOptions,
    }

    #[test]
    fn what_is_measured() {
        use clap::Parser as _;
        let course = |arguments: &[&str], who| {
            let line =
                Line::try_parse_from(["mongo"].iter().chain(arguments)).map_err(anyhow::Error::from)?;
            line.mongo.course(who)
        };
        let all = course(&[], Who::Armilla).unwrap();
        assert_eq!((all.connections, all.states), (vec![1, 16], State::ALL.to_vec()));
        assert_eq!((all.cases, all.documents.count), (Case::ALL.to_vec(), 100_000));
        assert_eq!(course(&[], Who::ArmillaRetryable).unwrap().cases, [Case::Insert, Case::Increment]);
        assert_eq!(course(&["--only=find,equal"], Who::FerretDb).unwrap().cases, [Case::Find]);
        for wrong in ["--connections=0", "--states=tired", "--only=none", "--write-rate=0", "--items=7"] {
            assert!(course(&[wrong], Who::Armilla).is_err(), "{wrong}");
        }
    }
}
