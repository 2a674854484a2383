//! What indexed paths cost writes: durable creates in process with more and more of them, beside the raw store.
//!
//! The raw store puts the same items with the records that every item has, and no index entry. What is compared is
//! measured in turn, several times, each time in a new folder, and the best of each counts.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use armilla_env::Env;
use armilla_value::{Object, Value};
use clap::Args;

use crate::in_process::InProcess;
use crate::items::{FLAT_PROPERTIES, Items, flat_property};
use crate::measure::Measurement;
use crate::place::Place;
use crate::raw_store::RawStore;
use crate::server::Setup;

/// Measures what indexed paths cost writes.
#[derive(Debug, Args)]
pub(crate) struct IndexCostOptions {
    /// Items to create
    #[arg(long, default_value_t = 100_000)]
    items: usize,
    /// Numbers of indexed paths
    #[arg(long, value_delimiter = ',', default_value = "0,5,15,30")]
    paths: Vec<usize>,
    /// Tasks that write
    #[arg(long, default_value_t = 64)]
    writers: usize,
    /// How often each measurement is made, in turn with the others; the best one counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Physical partitions of the container
    #[arg(long, default_value_t = 1)]
    partitions: u32,
    /// Megabytes of cache, half for items and half for the store's blocks
    #[arg(long, default_value_t = 64)]
    cache_mb: u32,
    /// Folder in which data folders are made; must be on a disk [default: the system's for temporary files]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// File for the figures as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

impl IndexCostOptions {
    fn setup(&self) -> Setup {
        Setup {
            connections: self.writers,
            seconds: 0.0,
            partitions: self.partitions,
            cache_mb: self.cache_mb,
            place: Place::without_server(self.dir.clone(), self.json.clone()),
        }
    }
}

/// One line of the table: without a number of paths it is the raw store's.
struct Line {
    paths: Option<usize>,
    best: Option<Measurement>,
}

/// Measures, prints the table and writes the figures.
pub(crate) fn run(options: &IndexCostOptions) -> Result<()> {
    for paths in &options.paths {
        ensure!(*paths <= FLAT_PROPERTIES, "an item has {FLAT_PROPERTIES} paths, not {paths}");
    }
    let (env, setup, items) = (Env::system(), options.setup(), Items::flat(options.items)?);
    let mut lines: Vec<Line> = std::iter::once(None)
        .chain(options.paths.iter().copied().map(Some))
        .map(|paths| Line { paths, best: None })
        .collect();
    let rounds = options.rounds.max(1);
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        for line in &mut lines {
            let measurement = create(&setup, &env, items, line.paths)?;
            if line.best.as_ref().is_none_or(|best| best.per_second() < measurement.per_second()) {
                line.best = Some(measurement);
            }
        }
    }
    print(options, &lines);
    setup.place.write_figures(&figures(options, &lines))
}

/// Creates all items in a new folder.
fn create(setup: &Setup, env: &Env, items: Items, paths: Option<usize>) -> Result<Measurement> {
    match paths {
        None => {
            let (raw, measurement) = RawStore::load(setup, env, items)?;
            raw.discard()?;
            Ok(measurement)
        }
        Some(paths) => {
            eprintln!("  {paths} paths");
            let (engine, measurement) = InProcess::load(setup, env, items, Some(&policy(paths)))?;
            engine.close()?;
            Ok(measurement)
        }
    }
}

/// Returns a policy that indexes the first so many properties.
fn policy(paths: usize) -> String {
    let included: Vec<_> =
        (0..paths).map(|path| format!(r#"{{"path":"/{}/?"}}"#, flat_property(path))).collect();
    format!(
        r#"{{"indexingMode":"consistent","automatic":true,"includedPaths":[{}],"excludedPaths":[{{"path":"/*"}}]}}"#,
        included.join(",")
    )
}

fn raw_per_second(lines: &[Line]) -> Option<f64> {
    lines.iter().find(|line| line.paths.is_none())?.best.as_ref().map(Measurement::per_second)
}

fn print(options: &IndexCostOptions, lines: &[Line]) {
    println!(
        "durable creates, {} items, {} writers, {} physical partition(s)",
        options.items, options.writers, options.partitions
    );
    println!(
        "{:<12} {:>10} {:>10} {:>9} {:>9} {:>11}",
        "paths", "a second", "of raw", "p50 us", "p99 us", "CPU us/op"
    );
    let raw = raw_per_second(lines);
    for (line, best) in lines.iter().filter_map(|line| Some((line, line.best.as_ref()?))) {
        let name = line.paths.map_or_else(|| "raw store".to_owned(), |paths| paths.to_string());
        let ratio = raw.map_or(String::new(), |raw| format!("{:.2}", best.per_second() / raw));
        println!(
            "{name:<12} {:>10.0} {ratio:>10} {:>9.0} {:>9.0} {:>11.1}",
            best.per_second(),
            best.latencies.quantile_us(0.5),
            best.latencies.quantile_us(0.99),
            best.per_operation_us(best.cpu),
        );
    }
}

fn figures(options: &IndexCostOptions, lines: &[Line]) -> Value {
    let raw = raw_per_second(lines);
    let line = |(line, best): (&Line, &Measurement)| {
        let mut object = Object::new();
        object.insert("paths", line.paths.map(|paths| paths as i64));
        object.insert("perSecond", best.per_second());
        object.insert("ofRawStore", raw.map(|raw| best.per_second() / raw));
        object.insert("p50Us", best.latencies.quantile_us(0.5));
        object.insert("p99Us", best.latencies.quantile_us(0.99));
        object.insert("cpuUsPerOperation", best.per_operation_us(best.cpu));
        object
    };
    let measured = lines.iter().filter_map(|line| Some((line, line.best.as_ref()?)));
    let mut all = Object::new();
    all.insert("items", options.items as i64);
    all.insert("writers", options.writers as i64);
    all.insert("partitions", i64::from(options.partitions));
    all.insert("rounds", options.rounds as i64);
    all.insert("measurements", measured.map(line).collect::<Vec<_>>());
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;

    #[test]
    fn policies_name_so_many_paths() {
        for paths in [0, 1, FLAT_PROPERTIES] {
            let policy = json::parse(policy(paths).as_bytes()).unwrap();
            assert_eq!(policy.get("includedPaths").unwrap().as_array().unwrap().len(), paths);
        }
    }
}
