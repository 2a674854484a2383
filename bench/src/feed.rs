//! The change feed: how fast it is drained, what followers cost writers, how soon they hear of a write, and how large
//! the log behind it is.
//!
//! ```text
//! drain    all items from the beginning, latest versions: in process beside the raw store's scan of the same items,
//!          over HTTP beside a bare server that sends the same pages; with a cache that holds everything, and with a
//!          small one
//! follow   durable upserts without followers and beside some that wait for changes, as many as go and at a rate, and
//!          the delay from the acknowledged write to its delivery
//! log      records and bytes of the change log after the first load and after all items were overwritten
//! ```
//!
//! There is one physical partition. Of a drain and of upserts without a rate the best round counts, of delays all do.

mod drain;
mod folder;
mod follow;
mod log;
mod page_client;
mod table;

use anyhow::{Result, ensure};
use armilla_env::Env;
use clap::{Args, ValueEnum};

use crate::items::Items;
use crate::place::Place;
use crate::server::Setup;
use drain::Cache;
use folder::DataFolder;
use follow::Following;

/// A part of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Reading everything from the beginning
    Drain,
    /// Writing beside followers
    Follow,
    /// The size of the change log
    Log,
}

/// Measures the change feed.
#[derive(Debug, Args)]
pub(crate) struct FeedOptions {
    /// Items to load
    #[arg(long, default_value_t = 100_000)]
    items: usize,
    /// Bytes of an item's JSON
    #[arg(long, default_value_t = 400)]
    item_bytes: usize,
    /// Write the items in an order that takes no two of one logical partition after each other
    #[arg(long)]
    scattered: bool,
    /// Items in a page of a drain, at most
    #[arg(long, default_value_t = 1_000)]
    page_items: usize,
    /// Megabytes of cache that hold everything, half for items and half for the store's blocks
    #[arg(long, default_value_t = 512)]
    cache_mb: u32,
    /// Megabytes of cache that hold a part of it
    #[arg(long, default_value_t = 16)]
    small_cache_mb: u32,
    /// Connections that write beside followers
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// Numbers of followers
    #[arg(long, value_delimiter = ',', default_value = "0,1,8")]
    followers: Vec<usize>,
    /// Writes a second, where they do not go as fast as they can
    #[arg(long, default_value_t = 1_000.0)]
    writes_per_second: f64,
    /// How often all items are overwritten
    #[arg(long, default_value_t = 10)]
    overwrites: usize,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// How often each measurement is made, in turn with the others
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Measure these parts alone
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    #[command(flatten)]
    place: Place,
}

/// Tasks that load and overwrite items in process.
const LOADING_TASKS: usize = 64;

impl FeedOptions {
    fn setup(&self, cache_mb: u32) -> Setup {
        Setup {
            connections: LOADING_TASKS,
            seconds: self.seconds,
            partitions: 1,
            cache_mb,
            place: self.place.clone(),
        }
    }

    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// Returns the caches of a drain.
    fn caches(&self) -> [Cache; 2] {
        [("in cache", self.cache_mb), ("beyond cache", self.small_cache_mb)]
            .map(|(name, mb)| Cache { name, setup: self.setup(mb) })
    }

    /// Returns what is followed: as many writes as go, then a rate of them.
    fn followings(&self) -> Vec<Following> {
        let at_will = self.followers.iter().map(|followers| Following::new(*followers, 0.0));
        let paced = self.followers.iter().filter(|followers| **followers > 0);
        at_will.chain(paced.map(|followers| Following::new(*followers, self.writes_per_second))).collect()
    }
}

/// Measures, prints the tables and writes the figures.
pub(crate) fn run(options: &FeedOptions) -> Result<()> {
    ensure!(options.connections > 0, "there must be a connection");
    let env = Env::system();
    let items = Items::new(options.items, options.item_bytes)?;
    let (mut drains, mut followings, mut logs) = (Vec::new(), Vec::new(), Vec::new());
    if options.wants(Part::Drain) || options.wants(Part::Follow) {
        let setup = options.setup(options.cache_mb);
        let data = DataFolder::fill(&setup, &env, items, options.scattered)?;
        if options.wants(Part::Drain) {
            drains = drain::measure(options, &env, &data, items)?;
        }
        if options.wants(Part::Follow) {
            followings = options.followings();
            follow::measure(options, &setup, &env, &data, items, &mut followings)?;
        }
    }
    if options.wants(Part::Log) {
        logs = log::measure(options, &env, items)?;
    }
    table::print(options, &drains, &followings, &logs);
    options.place.write_figures(&table::figures(options, &drains, &followings, &logs))
}
