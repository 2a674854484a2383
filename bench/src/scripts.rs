//! Transactions: an item put in and counted in another one of its logical partition, in several ways.
//!
//! As a stored procedure, as a transactional batch, as two requests that are no transaction, and as a PL/pgSQL function
//! of PostgreSQL: all durable, with as many connections, in turn in the same run. Once no two connections meet, and once
//! all of them count in the same item. In the end every side must have as many entries as were acknowledged, and the
//! counters must say so.

mod http;
mod postgres;
mod table;
mod workload;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use armilla_env::Env;
use clap::Args;

use crate::place::Place;
use crate::server::Setup;
use http::OverHttp;
use postgres::Postgres;
use table::Line;
use workload::{Case, Spread, Table, Way, Workload};

/// How long the machine rests before a measurement, so that work in the background of the last one ends.
const REST: Duration = Duration::from_millis(500);

/// Measures stored procedures and transactional batches, beside PostgreSQL.
#[derive(Debug, Args)]
pub(crate) struct ScriptOptions {
    /// Connections to either side
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// Logical partitions that each connection has for itself, where no two of them meet
    #[arg(long, default_value_t = 64)]
    keys_per_connection: usize,
    /// Bytes of an entry's JSON
    #[arg(long, default_value_t = 400)]
    entry_bytes: usize,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// How often each measurement is made, in turn with the others; the best one counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Physical partitions of the container
    #[arg(long, default_value_t = 1)]
    partitions: u32,
    /// Megabytes of the server's cache, half for items and half for the store's blocks
    #[arg(long, default_value_t = 64)]
    cache_mb: u32,
    /// Leave PostgreSQL out
    #[arg(long)]
    without_postgres: bool,
    /// Folder with PostgreSQL's programs [default: where Debian puts them, then those of PATH]
    #[arg(long)]
    postgres_bin: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

impl ScriptOptions {
    fn setup(&self) -> Setup {
        Setup {
            connections: self.connections,
            seconds: self.seconds,
            partitions: self.partitions,
            cache_mb: self.cache_mb,
            place: self.place.clone(),
        }
    }
}

/// Measures, prints the table and writes the figures.
pub(crate) fn run(options: &ScriptOptions) -> Result<()> {
    let ScriptOptions { connections, keys_per_connection, entry_bytes, .. } = *options;
    ensure!(connections > 0 && keys_per_connection > 0, "there must be a connection and a logical partition");
    let (env, setup) = (Env::system(), options.setup());
    let workload = Workload { connections, keys_per_connection, entry_bytes };
    let own = OverHttp::start(&setup, &env, workload)?;
    let postgres = match options.without_postgres {
        true => None,
        false => Postgres::start(options.postgres_bin.as_deref(), &setup, &env, workload)?,
    };
    let settings = postgres.as_ref().map(Postgres::settings).transpose()?;
    let mut lines: Vec<Line> = Spread::ALL
        .into_iter()
        .flat_map(|spread| Way::ALL.map(|way| Case { way, spread }))
        .filter(|case| matches!(case.way, Way::Own(_)) || postgres.is_some())
        .map(Line::new)
        .collect();
    let rounds = options.rounds.max(1);
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        for line in &mut lines {
            std::thread::sleep(REST);
            // Ids begin with the number of a round, and the two spreads share a table.
            let number = 2 * round + usize::from(line.case.spread == Spread::Hot);
            match (line.case.way, &postgres) {
                (Way::Own(requests), _) => {
                    let (measurement, charge) = own.measure(line.case, requests, number)?;
                    line.add(measurement, Some(charge));
                }
                (Way::Postgres(table), Some(postgres)) => {
                    line.add(postgres.measure(line.case, table, number)?, None);
                }
                (Way::Postgres(_), None) => {}
            }
        }
    }
    let entries = |of: &dyn Fn(Way) -> usize| {
        lines.iter().map(|line| line.operations * of(line.case.way) as u64).sum::<u64>()
    };
    own.verify(entries(&|way| match way {
        Way::Own(requests) => requests.entries(),
        Way::Postgres(_) => 0,
    }))?;
    if let Some(postgres) = &postgres {
        for table in [Table::Plain, Table::Indexed] {
            postgres.verify(table, entries(&|way| usize::from(way == Way::Postgres(table))))?;
        }
    }
    table::print(options, &lines, settings.as_deref());
    options.place.write_figures(&table::figures(options, &lines, settings.as_deref()))?;
    own.stop()
}
