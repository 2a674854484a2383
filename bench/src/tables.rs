//! The Table API beside azurite, the emulator of the storage service: the same requests to both, in one run.
//!
//! ```text
//! insert    one entity, durable where there is a disk, without the entity in the answer
//! get       one entity by its two keys
//! page      the entities of one partition key, 1000 and 100 of them
//! batch     one hundred entities in one change set
//! ```
//!
//! Each is measured over several connections and over one, of the server with its data on disk and every write
//! durable, of azurite in memory and with its file, and of a bare HTTP server that answers with the server's own bytes,
//! which is the ceiling. Requests are byte for byte the same on all sides (the storage service's flavour, SharedKeyLite,
//! minimal metadata), but for the port in the addresses inside of a change set. Sides take turns; the best round counts.

mod azurite;
mod client;
mod connection;
mod requests;
mod side;
mod table;
mod workload;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use armilla_env::Env;
use clap::{Args, ValueEnum};

use crate::place::Place;
use crate::server::Setup;
use azurite::Persistence;
use side::Side;
use table::Line;
use workload::{Case, Entities};

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Who {
    /// The server, with its data on disk
    Armilla,
    /// Azurite with its file
    AzuriteFile,
    /// Azurite in memory
    AzuriteMemory,
    /// An HTTP server that does nothing
    Bare,
}

impl Who {
    fn name(self) -> &'static str {
        match self {
            Who::Armilla => "armilla",
            Who::AzuriteFile => "azurite, file",
            Who::AzuriteMemory => "azurite, memory",
            Who::Bare => "bare HTTP",
        }
    }
}

/// Measures the Table API, beside azurite.
#[derive(Debug, Args)]
pub(crate) struct TableOptions {
    /// Azurite's program for tables, such as node_modules/.bin/azurite-table after `npm install azurite`
    #[arg(long)]
    azurite: Option<PathBuf>,
    /// Entities to load, in thousands: that many have one partition key
    #[arg(long, default_value_t = 20)]
    partitions_of_1000: usize,
    /// Bytes of an entity's JSON
    #[arg(long, default_value_t = 400)]
    entity_bytes: usize,
    /// Numbers of connections
    #[arg(long, value_delimiter = ',', default_value = "16,1")]
    connections: Vec<usize>,
    /// Measure these alone
    #[arg(long, value_delimiter = ',')]
    only: Vec<Case>,
    /// Measure these sides alone; those that cannot be had are left out
    #[arg(long, value_delimiter = ',')]
    side: Vec<Who>,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// How often each measurement is made, in turn with the others
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Megabytes of the server's cache, half for items and half for the store's blocks
    #[arg(long, default_value_t = 128)]
    cache_mb: u32,
    #[command(flatten)]
    place: Place,
}

/// How long the machine rests before a measurement.
const REST: Duration = Duration::from_millis(300);

impl TableOptions {
    fn setup(&self) -> Setup {
        Setup {
            connections: self.connections.iter().copied().max().unwrap_or(1),
            seconds: self.seconds,
            partitions: 1,
            cache_mb: self.cache_mb,
            place: self.place.clone(),
        }
    }

    fn wants(&self, who: Who) -> bool {
        self.side.is_empty() || self.side.contains(&who)
    }

    fn cases(&self) -> Vec<Case> {
        Case::ALL.into_iter().filter(|case| self.only.is_empty() || self.only.contains(case)).collect()
    }

    /// Starts everything that is wanted and can be had, with the entities in it.
    fn start(&self, env: &Env, entities: Entities) -> Result<Vec<Side>> {
        let (setup, cases) = (self.setup(), self.cases());
        let mut sides = Vec::new();
        let mut samples = None;
        // The bare server answers with what the real one says.
        if self.wants(Who::Armilla) || self.wants(Who::Bare) {
            let mut own = Side::armilla(&setup, env, entities)?;
            samples = Some(own.samples(env, &cases)?);
            if self.wants(Who::Armilla) {
                sides.push(own);
            } else {
                own.stop()?;
            }
        }
        for (who, persistence) in
            [(Who::AzuriteFile, Persistence::File), (Who::AzuriteMemory, Persistence::Memory)]
        {
            if let Some(program) = self.azurite.as_ref().filter(|_| self.wants(who)) {
                let mut side = Side::azurite(who, program, persistence, &setup, env, entities)?;
                // What it answers is looked at once as well.
                side.samples(env, &cases)?;
                sides.push(side);
            }
        }
        if let Some(samples) = samples.filter(|_| self.wants(Who::Bare)) {
            sides.push(Side::bare(&setup, entities, &samples)?);
        }
        Ok(sides)
    }
}

/// Measures, prints the table and writes the figures.
pub(crate) fn run(options: &TableOptions) -> Result<()> {
    ensure!(options.partitions_of_1000 > 0, "there must be an entity");
    ensure!(options.connections.iter().all(|count| *count > 0), "there must be a connection");
    let env = Env::system();
    let entities = Entities::new(options.partitions_of_1000, options.entity_bytes)?;
    if options.azurite.is_none() {
        eprintln!("without azurite: {}", azurite::HOW_TO_GET);
    }
    let mut sides = options.start(&env, entities)?;
    let mut lines = Vec::new();
    for connections in &options.connections {
        for case in options.cases() {
            for side in &sides {
                lines.push(Line::new(side.who, case, *connections));
            }
        }
    }
    let rounds = options.rounds.max(1);
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        for line in &mut lines {
            std::thread::sleep(REST);
            let side = sides.iter_mut().find(|side| side.who == line.who).expect("every line has its side");
            line.add(side.measure(&env, line.case, line.connections, options.seconds)?);
        }
    }
    let memory = sides.iter().map(|side| Ok((side.who, side.resident()?))).collect::<Result<Vec<_>>>()?;
    let version = options.azurite.as_deref().map(azurite::version).transpose()?;
    table::print(options, &lines, &memory, version.as_deref());
    options.place.write_figures(&table::figures(options, &lines, &memory, version.as_deref()))?;
    sides.into_iter().try_for_each(Side::stop)
}
