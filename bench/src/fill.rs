//! Writing more and more: whether the last items are written as fast as the first, how long any writer waits, and what
//! memory and disk it takes.
//!
//! The engine is in this process, every path of every item is indexed, and every write is durable. Items are written in
//! parts, one after the other without a pause, so that each part has its own figures.

use std::path::PathBuf;

use anyhow::Result;
use armilla_crash::process_figures;
use armilla_engine::WriteMode;
use armilla_env::Env;
use armilla_kv::Durability;
use armilla_value::{Object, Value};
use clap::Args;

use crate::columns::{layout, time};
use crate::in_process::{Workers, create, definition, open};
use crate::items::Items;
use crate::measure::{Measurement, measure};
use crate::memory_profile::{Watch, folder_bytes};
use crate::place::Place;
use crate::server::{Setup, folder};

/// Measures whether the last items are written as fast as the first.
#[derive(Debug, Args)]
pub(crate) struct FillOptions {
    /// Items to write; ids have eight digits
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    items: u32,
    /// Bytes of an item's JSON
    #[arg(long, default_value_t = 400)]
    item_bytes: usize,
    /// Parts that have figures of their own
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    parts: u32,
    /// Tasks that write
    #[arg(long, default_value_t = 64)]
    writers: usize,
    /// Megabytes of cache
    #[arg(long, default_value_t = 128)]
    cache_mb: u32,
    /// Folder in which the data folder is made; must be on a disk [default: the system's for temporary files]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// File for the figures as JSON
    #[arg(long)]
    json: Option<PathBuf>,
}

/// One part of the items.
struct Part {
    items: usize,
    measurement: Measurement,
    resident: u64,
    disk: u64,
}

/// Measures, prints the table and writes the figures.
pub(crate) fn run(options: &FillOptions) -> Result<()> {
    let env = Env::system();
    let setup = Setup {
        connections: options.writers,
        seconds: 0.0,
        partitions: 1,
        cache_mb: options.cache_mb,
        place: Place::without_server(options.dir.clone(), options.json.clone()),
    };
    let items = Items::new(options.items as usize, options.item_bytes)?;
    let folder = folder(&setup)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let engine = open(&setup, &env, &runtime, &folder.path().join("store"), Durability::Strict)?;
    let container = runtime.block_on(create(&engine, &definition("/customer", None), 1))?;
    let workers = Workers { env: env.clone(), engine, container, items, count: options.writers };
    let own = std::process::id();
    let watch = Watch::start(&env, own);
    let mut parts = Vec::new();
    for part in 0..options.parts as usize {
        let end_of = |part: usize| items.count * part / options.parts as usize;
        let next = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(end_of(part)));
        let end = end_of(part + 1);
        let give = move |_: &mut _| {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            (index < end).then_some((index, 0))
        };
        let measurement =
            measure(&env, "a part", own, || runtime.block_on(workers.run(WriteMode::Create, give)))?;
        let resident = process_figures::memory(own)?.resident;
        let disk = folder_bytes(folder.path());
        parts.push(Part { items: end, measurement, resident, disk });
    }
    let highest = watch.stop();
    runtime.block_on(workers.engine.close())?;
    print(options, &parts, highest);
    setup.place.write_figures(&figures(options, &parts, highest))
}

/// Returns the rate of the last part of that of the first.
fn last_of_first(parts: &[Part]) -> Option<f64> {
    Some(parts.last()?.measurement.per_second() / parts.first()?.measurement.per_second())
}

/// Returns the longest that any writer has waited, in microseconds.
fn longest_wait_us(parts: &[Part]) -> f64 {
    parts.iter().map(|part| part.measurement.latencies.max_us()).fold(0.0, f64::max)
}

fn print(options: &FillOptions, parts: &[Part], highest: u64) {
    println!(
        "{} items of {} bytes, every path indexed, durable, {} writers, {} MB of cache",
        options.items, options.item_bytes, options.writers, options.cache_mb
    );
    let names =
        ["up to item", "a second", "CPU us/op", "p50", "p99.9", "longest wait", "MB resident", "MB on disk"];
    let rows: Vec<_> = parts
        .iter()
        .map(|part| {
            let Part { items, measurement, resident, disk } = part;
            let latencies = &measurement.latencies;
            [
                items.to_string(),
                format!("{:.0}", measurement.per_second()),
                format!("{:.1}", measurement.per_operation_us(measurement.cpu)),
                time(latencies.quantile_us(0.5)),
                time(latencies.quantile_us(0.999)),
                time(latencies.max_us()),
                (resident >> 20).to_string(),
                (disk >> 20).to_string(),
            ]
        })
        .collect();
    println!("{}", layout(&names.map(str::to_owned), &rows).trim_end());
    if let Some(ratio) = last_of_first(parts) {
        println!("last part of the first: {ratio:.2} of its rate");
    }
    println!("longest wait of any writer: {}", time(longest_wait_us(parts)));
    println!("highest memory: {} MB", highest >> 20);
}

fn figures(options: &FillOptions, parts: &[Part], highest: u64) -> Value {
    let part = |part: &Part| {
        let mut object = Object::new();
        object.insert("upToItem", part.items as i64);
        object.insert("perSecond", part.measurement.per_second());
        object.insert("cpuUsPerOperation", part.measurement.per_operation_us(part.measurement.cpu));
        object.insert("p50Us", part.measurement.latencies.quantile_us(0.5));
        object.insert("p999Us", part.measurement.latencies.quantile_us(0.999));
        object.insert("longestWaitUs", part.measurement.latencies.max_us());
        object.insert("residentBytes", part.resident as i64);
        object.insert("diskBytes", part.disk as i64);
        object
    };
    let mut all = Object::new();
    all.insert("items", i64::from(options.items));
    all.insert("itemBytes", options.item_bytes as i64);
    all.insert("writers", options.writers as i64);
    all.insert("cacheMb", i64::from(options.cache_mb));
    all.insert("lastOfFirst", last_of_first(parts));
    all.insert("longestWaitUs", longest_wait_us(parts));
    all.insert("highestMemoryBytes", highest as i64);
    all.insert("parts", parts.iter().map(part).collect::<Vec<_>>());
    Value::Object(all)
}
