//! Queries, in process and over HTTP, beside PostgreSQL with the same documents and the indexes they need.
//!
//! The items are loaded into the engine in process, which is closed; each side is then measured on a copy of that
//! folder, so that none finds what another has tidied up. A query asks for something else each time, drawn from a seed,
//! with each number of connections, in each state: as the load left it, while others write, and at rest. It is parsed
//! and planned each time here, and prepared there, and read to its end, whatever pages it takes. Caches on both sides
//! are large enough for all data.

mod cases;
mod explained;
mod folders;
mod http;
mod in_process;
mod load;
mod orders;
mod postgres;
mod repeat;
pub(crate) mod resting;
mod side;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use armilla_env::Env;
use armilla_workload::State;
use clap::{Args, ValueEnum};

use crate::place::Place;
use crate::server::{Folder, Servers, Setup, folder};
use cases::{Case, cases};
use http::Http;
use in_process::InProcess;
use load::SERVER;
use orders::Orders;
use postgres::Postgres;
use side::Course;
use table::{Line, Table};

/// Whose queries are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SideChoice {
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
    side: Vec<SideChoice>,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Connections, and tasks in process, that ask at once; everything is measured with each of several numbers
    #[arg(long, value_delimiter = ',', default_value = "1,16", value_parser = clap::value_parser!(u16).range(1..=64))]
    connections: Vec<u16>,
    /// States of the data in which everything is measured
    #[arg(long, value_delimiter = ',', default_value = "loaded,written,rested")]
    states: Vec<State>,
    /// Items that others write in a second in the state written
    #[arg(long, default_value_t = 2_000.0)]
    write_rate: f64,
    /// What the values of queries are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
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

    fn wants(&self, side: SideChoice) -> bool {
        self.side.is_empty() || self.side.contains(&side)
    }

    fn course(&self) -> Result<Course> {
        ensure!(self.items > 0, "there must be an item");
        ensure!(self.write_rate > 0.0 && self.write_rate.is_finite(), "others must write something");
        Ok(Course {
            orders: Orders { count: self.items },
            cases: self.wanted_cases()?,
            connections: self.connections.iter().map(|count| usize::from(*count)).collect(),
            states: State::ALL.into_iter().filter(|state| self.states.contains(state)).collect(),
            seconds: self.seconds,
            write_rate: self.write_rate,
            seed: self.seed,
        })
    }

    fn wanted_cases(&self) -> Result<Vec<Case>> {
        let mut all = cases();
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

/// Measures, prints the tables and writes the figures.
pub(crate) fn run(options: &QueryOptions) -> Result<()> {
    let (env, setup, course) = (Env::system(), options.setup(), options.course()?);
    let mut lines: Vec<Line> = course.cases.iter().map(Line::new).collect();
    let mut table = Table::new(options.items, &setup, options.write_rate);
    if options.wants(SideChoice::Engine) || options.wants(SideChoice::Http) {
        measure_own(options, &setup, &env, &course, &mut lines, &mut table)?;
    }
    if options.wants(SideChoice::Postgres) {
        measure_postgres(options, &setup, &env, &course, &mut lines, &mut table)?;
    }
    table.print(&lines);
    options.place.write_figures(&table.figures(&lines))?;
    let different: Vec<_> = lines.iter().filter(|line| !line.agrees()).map(|line| line.case.name).collect();
    ensure!(different.is_empty(), "not all sides gave the same answer to {}", different.join(", "));
    Ok(())
}

fn measure_own(
    options: &QueryOptions,
    setup: &Setup,
    env: &Env,
    course: &Course,
    lines: &mut [Line],
    table: &mut Table,
) -> Result<()> {
    let kept = match &options.keep {
        Some(path) => {
            std::fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))?;
            Folder::Kept(path.clone())
        }
        None => Folder::Temporary(folder(setup)?),
    };
    let note = kept.path().join("LOADED");
    let loading = Servers::in_folder(setup, env, kept)?;
    load_once(&loading, setup, course.orders, &note, table)?;
    let loaded = loading.launch(SERVER).data_dir;
    if options.wants(SideChoice::Engine) {
        let copy = folder(setup)?;
        folders::copy(&loaded, &copy.path().join(SERVER))?;
        let engine = InProcess::open(setup, env, &copy.path().join(SERVER).join("store"), course.orders)?;
        side::measure(env, &engine, course, lines)?;
        engine.close()?;
    }
    if options.wants(SideChoice::Http) {
        let servers = Servers::new(setup, env)?;
        folders::copy(&loaded, &servers.launch(SERVER).data_dir)?;
        let http = Http { servers: &servers, server: servers.start(SERVER)?, orders: course.orders };
        side::measure(env, &http, course, lines)?;
        servers.stop(http.server)?;
    }
    Ok(())
}

fn measure_postgres(
    options: &QueryOptions,
    setup: &Setup,
    env: &Env,
    course: &Course,
    lines: &mut [Line],
    table: &mut Table,
) -> Result<()> {
    let Some(postgres) = Postgres::load(options, setup, env, course)? else {
        eprintln!("PostgreSQL is not installed: it is left out");
        return Ok(());
    };
    table.postgres = Some(postgres.settings()?);
    table.postgres_indexes = postgres.indexes()?;
    side::measure(env, &postgres, course, lines)?;
    for (case, line) in course.cases.iter().zip(lines) {
        line.postgres = Some(postgres.explain(case, course).with_context(|| format!("query {}", case.name))?);
    }
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

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        queries: QueryOptions,
    }

    #[test]
    fn what_is_measured() {
        use clap::Parser as _;
        let course = |arguments: &[&str]| {
            let line =
                Line::try_parse_from(["queries"].iter().chain(arguments)).map_err(anyhow::Error::from)?;
            line.queries.course()
        };
        let all = course(&[]).unwrap();
        assert_eq!((all.connections, all.states), (vec![1, 16], State::ALL.to_vec()));
        assert_eq!((all.cases.len(), all.write_rate, all.seed), (cases().len(), 2_000.0, 1));
        let some =
            course(&["--connections=4", "--states", "rested,loaded", "--only", "range", "--seed=7"]).unwrap();
        assert_eq!((some.connections, some.states), (vec![4], vec![State::Loaded, State::Rested]));
        assert_eq!((some.cases[0].name, some.cases.len(), some.seed), ("range", 1, 7));
        for wrong in ["--connections=0", "--states=tired", "--only=none", "--write-rate=0", "--items=0"] {
            assert!(course(&[wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn caches_are_large_enough() {
        for (items, expected) in
            [(1, 256), (100_000, 390), (1_000_000, 3_906), (100_000_000, 8_192), (usize::MAX, 8_192)]
        {
            assert_eq!(cache_mb_for(items), expected, "{items}");
        }
    }
}
