//! Stores beside each other: durable commits of what an item's write makes, and reads, on the embedded store, on a store of
//! objects in a folder and, with `--url`, elsewhere, and on SlateDB itself at the same places.
//!
//! A program of its own, so that the others are built without SlateDB.

#![expect(clippy::print_stdout, reason = "the report is what the program is for")]

mod measure;
mod sides;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;

use crate::measure::{Figures, measure};
use crate::sides::Side;

/// Items that are there before reads are measured.
const LOADED: u64 = 20_000;

/// Compares stores.
#[derive(Debug, Parser)]
struct Options {
    /// An object store to measure as well, under an empty prefix: s3://bucket/prefix
    #[arg(long)]
    url: Option<String>,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Rounds; the sides take turns, and the median of each counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let mut sides = vec![
        Side::embedded(&folder.path().join("embedded"))?,
        Side::slate("objects in a folder", &format!("file://{}", folder.path().join("objects").display()))?,
        runtime.block_on(Side::raw("SlateDB in a folder", &folder.path().join("raw")))?,
    ];
    if let Some(url) = &options.url {
        sides.push(Side::slate("objects at the URL", &format!("{url}/objects"))?);
        sides.push(runtime.block_on(Side::raw_at("SlateDB at the URL", url))?);
    }
    let sides: Vec<Arc<Side>> = sides.into_iter().map(Arc::new).collect();
    for side in &sides {
        runtime.block_on(side.load(LOADED))?;
    }
    let time = Duration::from_secs(options.seconds);
    println!("{:24} {:22} {:>12} {:>12} {:>12} {:>12}", "operation", "side", "a second", "p50", "p99", "CPU");
    for (name, clients, is_write) in [
        ("commit, 1 client", 1, true),
        ("commit, 16 clients", 16, true),
        ("commit, 64 clients", 64, true),
        ("get, 2 clients", 2, false),
    ] {
        let mut figures: Vec<Vec<Figures>> = vec![Vec::new(); sides.len()];
        for _ in 0..options.rounds {
            for (side, figures) in sides.iter().zip(&mut figures) {
                figures.push(runtime.block_on(measure(side.clone(), clients, is_write, LOADED, time))?);
            }
        }
        for (side, figures) in sides.iter().zip(figures) {
            println!("{name:24} {:22} {}", side.name, Figures::median(figures));
        }
    }
    Ok(())
}
