//! Queries, in process and over HTTP, beside PostgreSQL with the same documents and the indexes they need.
//!
//! The items go into the engine in process, the engine is closed, and the same folder is then opened again for the
//! measurements in process and by the server for those over HTTP. Everything is warm, and caches on both sides are
//! large enough for all data. A figure is the median of repeated runs of one query, parsed and planned each time here,
//! and prepared there. A query is read to its end, whatever pages it takes.

mod cases;
mod explained;
mod http;
mod in_process;
mod load;
mod orders;
mod postgres;
mod repeat;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use armilla_env::Env;
use clap::{Args, ValueEnum};

use crate::place::Place;
use crate::server::{Folder, Servers, Setup, folder};
use cases::{Case, cases};
use orders::Orders;
use table::{Line, Table};

/// Whose queries are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Side {
    /// The engine in process
    Engine,
    /// The server over HTTP
    Http,
    /// PostgreSQL
    Postgres,
}

/// Measures queries, beside PostgreSQL with the same items.
#[derive(Debug, Args)]
pub(crate) struct QueryOptions {
    /// Items to load, of about 400 bytes
    #[arg(long, default_value_t = 1_000_000)]
    items: usize,
    /// Measure these queries alone
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Measure these sides alone
    #[arg(long, value_delimiter = ',')]
    side: Vec<Side>,
    /// Seconds in which a query is repeated
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Tasks that write while the items are loaded
    #[arg(long, default_value_t = 64)]
    writers: usize,
    /// Physical partitions of the container
    #[arg(long, default_value_t = 1)]
    partitions: u32,
    /// Megabytes of cache, half for items and half for the store's blocks [default: enough for all data]
    #[arg(long)]
    cache_mb: Option<u32>,
    /// Workers that PostgreSQL may take for one query besides the first; none by default, as here
    #[arg(long, default_value_t = 0)]
    postgres_workers: u32,
    /// Folder with PostgreSQL's programs [default: where Debian puts them, then those of PATH]
    #[arg(long)]
    postgres_bin: Option<PathBuf>,
    /// Keep the loaded items in this folder, and use them if they are there already
    #[arg(long)]
    keep: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

/// Megabytes of cache for so many items: for items and their index entries, twice over, and never little.
fn cache_mb_for(items: usize) -> u32 {
    const BYTES_PER_ITEM: usize = 4_096;
    u32::try_from(items.saturating_mul(BYTES_PER_ITEM) >> 20).unwrap_or(u32::MAX).clamp(256, 8_192)
}

impl QueryOptions {
    fn setup(&self) -> Setup {
        Setup {
            connections: self.writers.max(1),
            seconds: self.seconds,
            partitions: self.partitions,
            cache_mb: self.cache_mb.unwrap_or_else(|| cache_mb_for(self.items)),
            place: self.place.clone(),
        }
    }

    fn wants(&self, side: Side) -> bool {
        self.side.is_empty() || self.side.contains(&side)
    }

    fn wanted_cases(&self, orders: Orders) -> Result<Vec<Case>> {
        let mut all = cases(orders);
        for name in &self.only {
            if !all.iter().any(|case| case.name == name) {
                let names: Vec<_> = all.iter().map(|case| case.name).collect();
                bail!("there is no query {name}, only {}", names.join(", "));
            }
        }
        all.retain(|case| self.only.is_empty() || self.only.iter().any(|name| name == case.name));
        Ok(all)
    }
}

/// Measures, prints the table and writes the figures.
pub(crate) fn run(options: &QueryOptions) -> Result<()> {
    ensure!(options.items > 0, "there must be an item");
    let (env, setup, orders) = (Env::system(), options.setup(), Orders { count: options.items });
    let cases = options.wanted_cases(orders)?;
    let mut lines: Vec<Line> = cases.iter().map(Line::new).collect();
    let mut table = Table::new(options.items, &setup);
    if options.wants(Side::Engine) || options.wants(Side::Http) {
        let kept = match &options.keep {
            Some(path) => {
                std::fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))?;
                Folder::Kept(path.clone())
            }
            None => Folder::Temporary(folder(&setup)?),
        };
        let note = kept.path().join("LOADED");
        let servers = Servers::in_folder(&setup, &env, kept)?;
        load_once(&servers, &setup, orders, &note, &mut table)?;
        if options.wants(Side::Engine) {
            in_process::measure(&servers, &setup, &cases, &mut lines)?;
        }
        if options.wants(Side::Http) {
            http::measure(&servers, &setup, &cases, &mut lines)?;
        }
    }
    if options.wants(Side::Postgres) {
        postgres::measure(options, &setup, &env, orders, &cases, &mut lines, &mut table)?;
    }
    table.print(&lines);
    options.place.write_figures(&table.figures(&lines))?;
    let different: Vec<_> = lines.iter().filter(|line| !line.agrees()).map(|line| line.name).collect();
    ensure!(different.is_empty(), "not all sides gave the same answer to {}", different.join(", "));
    Ok(())
}

/// Loads the items unless a note says that they are there.
fn load_once(servers: &Servers, setup: &Setup, orders: Orders, note: &Path, table: &mut Table) -> Result<()> {
    let expected = format!("{} items in {} physical partition(s)\n", orders.count, setup.partitions);
    match std::fs::read_to_string(note) {
        Ok(text) if text == expected => {
            eprintln!("loaded before: {}", text.trim_end());
            return Ok(());
        }
        Ok(text) => bail!("the folder holds {}, not {}", text.trim_end(), expected.trim_end()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", note.display())),
    }
    table.loaded_per_second = Some(load::load(servers, setup, orders)?);
    std::fs::write(note, expected).with_context(|| format!("cannot write {}", note.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_large_enough() {
        for (items, expected) in
            [(1, 256), (100_000, 390), (1_000_000, 3_906), (100_000_000, 8_192), (usize::MAX, 8_192)]
        {
            assert_eq!(cache_mb_for(items), expected, "{items}");
        }
    }
}
