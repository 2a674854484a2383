//! The Gremlin API beside TinkerPop's own server with a graph in memory: the same graph, scripts and parameters on each, in
//! one run.
//!
//! ```text
//! V(id)              one vertex by its id, in whichever partition
//! V([pk,id])         one vertex by its address; the peer has no partitions, so it is not asked
//! has(name)          one vertex by an indexed property
//! addV, addE         one new element, durable where there is a disk
//! two hops, count    how many different vertices are two steps away
//! three hops, count  the same for three
//! ```
//!
//! Each is measured with several numbers of connections, right after the load, while others write, and at rest. One client
//! asks both, message for message the same: scripts with bindings in GraphBinary over WebSocket, without TLS and login. A
//! peer that is not there is left out (`bench/peers/gremlin/get.sh` gets it).

mod asker;
mod cases;
mod graphbinary;
mod measure;
mod peer;
mod people;
mod report;
mod side;
mod web_socket;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use armilla_env::Env;
use armilla_workload::State;
use clap::{Args, ValueEnum};

use crate::place::Place;
use crate::server::Setup;
use cases::Case;
use measure::Course;
use people::People;
use report::Report;
use side::Side;

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Who {
    /// The server of our own
    Armilla,
    /// TinkerPop's, with TinkerGraph and an index on the property
    GremlinServer,
}

impl Who {
    const ALL: [Who; 2] = [Who::Armilla, Who::GremlinServer];

    fn name(self) -> &'static str {
        match self {
            Who::Armilla => "armilla",
            Who::GremlinServer => "gremlin-server",
        }
    }

    fn wants(self, case: Case) -> bool {
        match self {
            Who::Armilla => true,
            // It has no partitions.
            Who::GremlinServer => case != Case::Address,
        }
    }
}

/// Measures the Gremlin API, beside TinkerPop's server.
#[derive(Debug, Args)]
pub(crate) struct GremlinOptions {
    /// Folder of the peer, as bench/peers/gremlin/get.sh makes it
    #[arg(long, default_value = "target/gremlin-peers")]
    peers: PathBuf,
    /// Vertices to load, with five times as many edges
    #[arg(long, default_value_t = 50_000)]
    vertices: usize,
    /// Numbers of connections
    #[arg(long, value_delimiter = ',', default_value = "1,16", value_parser = clap::value_parser!(u16).range(1..=512))]
    connections: Vec<u16>,
    /// States of the data in which everything is measured
    #[arg(long, value_delimiter = ',', default_value = "loaded,written,rested")]
    states: Vec<State>,
    /// Vertices that others write in a second in the state written
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
    /// What the parameters are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Megabytes of the server's cache
    #[arg(long, default_value_t = 1_024)]
    cache_mb: u32,
    /// File for the figures as a page of Markdown
    #[arg(long)]
    page: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

impl GremlinOptions {
    fn setup(&self) -> Setup {
        Setup {
            connections: 1,
            seconds: self.seconds,
            partitions: 1,
            cache_mb: self.cache_mb,
            place: self.place.clone(),
        }
    }

    fn course(&self, who: Who, people: &Arc<People>) -> Result<Course> {
        ensure!(self.write_rate > 0.0 && self.write_rate.is_finite(), "others must write something");
        ensure!(self.seconds > 0.0 && self.seconds.is_finite(), "a measurement takes some time");
        let wants = |case: &Case| who.wants(*case) && (self.only.is_empty() || self.only.contains(case));
        Ok(Course {
            people: people.clone(),
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
pub(crate) fn run(options: &GremlinOptions) -> Result<()> {
    let (env, setup) = (Env::system(), options.setup());
    // Peers run in folders of their own.
    let peers = options.peers.canonicalize().unwrap_or_else(|_| options.peers.clone());
    let people = Arc::new(People::new(options.vertices)?);
    let mut report = Report {
        vertices: people.vertices(),
        edges: people.edges(),
        write_rate: options.write_rate,
        seconds: options.seconds,
        ..Report::default()
    };
    for who in Who::ALL.into_iter().filter(|who| options.side.is_empty() || options.side.contains(who)) {
        let course = options.course(who, &people)?;
        let begin = env.clock.elapsed();
        eprintln!("loading {}", who.name());
        let side = match Side::load(who, &env, &setup, &peers, &people) {
            Ok(Some(side)) => side,
            Ok(None) => {
                report.notes.push(format!("{} is not installed: it is left out", who.name()));
                continue;
            }
            // A peer that does not work here takes nothing from the others.
            Err(error) if who == Who::GremlinServer => {
                report.notes.push(format!("{} is left out: {error:#}", who.name()));
                continue;
            }
            Err(error) => return Err(error).with_context(|| format!("cannot load {}", who.name())),
        };
        let took = (env.clock.elapsed() - begin).as_secs_f64();
        eprintln!("  process {}, loaded in {took:.1} s", side.pid());
        measure::measure(&env, &side, &course, &mut report)?;
        let megabytes = side.resident()? >> 20;
        report.notes.push(format!("{}: loaded in {took:.0} s, {megabytes} MB at the end", who.name()));
        side.stop()?;
    }
    println!("{}", report.text());
    if let Some(path) = &options.page {
        std::fs::write(path, report.page()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    options.place.write_figures(&report.figures())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        gremlin: GremlinOptions,
    }

    #[test]
    fn what_is_measured() {
        use clap::Parser as _;
        let course = |arguments: &[&str], who| {
            let line =
                Line::try_parse_from(["gremlin"].iter().chain(arguments)).map_err(anyhow::Error::from)?;
            line.gremlin.course(who, &Arc::new(People::new(line.gremlin.vertices.min(1_000))?))
        };
        let all = course(&[], Who::Armilla).unwrap();
        assert_eq!((all.connections, all.states), (vec![1, 16], State::ALL.to_vec()));
        assert_eq!(all.cases, Case::ALL);
        assert!(!course(&[], Who::GremlinServer).unwrap().cases.contains(&Case::Address));
        assert_eq!(course(&["--only=has,id"], Who::Armilla).unwrap().cases, [Case::Id, Case::Has]);
        for wrong in ["--connections=0", "--states=tired", "--only=none", "--write-rate=0", "--vertices=7"] {
            assert!(course(&[wrong], Who::Armilla).is_err(), "{wrong}");
        }
    }
}
