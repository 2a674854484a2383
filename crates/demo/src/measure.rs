//! Measures the ten operations in each version, over HTTP, as a client would do them.
//!
//! One operation at a time. The requests that an operation has to wait for go one after the other; those that do not
//! depend on each other go over several connections at once, as an application awaits them together. What an
//! operation costs is the sum of what all its requests cost.
//!
//! Queries come before commands, because commands change the data that queries are measured on.
//!
//! Not here: what is published, and how close it has to be (`figures`).

mod application;
mod commands;
mod estimate;
mod feed;
mod lists;
mod statistics;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use armilla_client::{Client, Session};
use armilla_env::Env;

use crate::fan::Fan;
use crate::figures::Operation;
use crate::items::Version;
use crate::limits::CELL_TIME_MAX;
use crate::model;
use crate::options::BlogOptions;
use crate::progress;
use crate::shape::{Shape, Totals};
use application::Application;
pub(crate) use estimate::FanOut;
pub(crate) use statistics::Latencies;

/// What was measured of an operation in a version.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) operation: Operation,
    pub(crate) version: Version,
    pub(crate) latencies: Latencies,
    /// Request units, on average.
    pub(crate) charge: f64,
    /// What it would be with as many physical partitions as the published figures fit; nothing where the number of
    /// partitions does not matter.
    pub(crate) charge_at_published: Option<f64>,
    /// Requests, on average.
    pub(crate) requests: f64,
}

/// All that was measured.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) cells: Vec<Cell>,
    /// Physical partitions of the container of posts.
    pub(crate) partitions: u32,
    /// What its queries cost where, of the versions that fan out.
    pub(crate) fan_outs: Vec<FanOut>,
    /// What there is more of than before, by version.
    pub(crate) added: [Totals; 3],
}

/// What one operation took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) charge: f64,
    pub(crate) requests: u32,
    /// How often a request was refused for its rate.
    pub(crate) throttled: u32,
}

impl Spent {
    fn add(&mut self, done: &armilla_client::Done) {
        self.charge += done.charge;
        self.requests += 1;
        self.throttled += done.throttled;
    }

    fn merge(&mut self, other: Spent) {
        self.charge += other.charge;
        self.requests += other.requests;
        self.throttled += other.throttled;
    }
}

/// How long to wait until a partition's second is over.
const SECOND: Duration = Duration::from_millis(1_100);

/// Measures everything.
pub(crate) async fn run(
    client: &Client,
    shape: &Arc<Shape>,
    options: &BlogOptions,
    env: &Env,
) -> Result<Measured> {
    let BlogOptions { rounds, connections, .. } = *options;
    let is_wanted = |operation: &Operation| options.only.is_empty() || options.only.contains(operation);
    let mut fan_outs = Vec::new();
    let mut cells = Vec::new();
    let mut added = [Totals::default(); 3];
    let mut session = client.session();
    let posts = model::posts(Version::V1);
    let partitions = session.ranges(posts.database, posts.container).await?.len() as u32;
    let queries = [Operation::Q1, Operation::Q2, Operation::Q3, Operation::Q4, Operation::Q5, Operation::Q6];
    let commands = [Operation::C1, Operation::C2, Operation::C3, Operation::C4];
    for version in Version::ALL {
        let mut application = application(client, shape, version, connections, &mut session, env).await?;
        if version != Version::V3 {
            fan_outs.push(application.fan_out().await?);
        }
        for operation in queries.into_iter().filter(is_wanted) {
            cells.push(measure(&mut application, operation, rounds, env).await?);
        }
    }
    for version in Version::ALL {
        let mut application = application(client, shape, version, connections, &mut session, env).await?;
        for operation in commands.into_iter().filter(is_wanted) {
            cells.push(measure(&mut application, operation, rounds, env).await?);
        }
        added[version as usize] = application.added;
    }
    for cell in &mut cells {
        let fan_out = fan_outs.iter().find(|fan_out| fan_out.version == cell.version);
        cell.charge_at_published = fan_out.and_then(|fan_out| fan_out.at_published(cell));
    }
    cells.sort_by_key(|cell| Operation::ALL.iter().position(|operation| *operation == cell.operation));
    Ok(Measured { cells, partitions, fan_outs, added })
}

async fn application(
    client: &Client,
    shape: &Arc<Shape>,
    version: Version,
    connections: u32,
    session: &mut Session,
    env: &Env,
) -> Result<Application> {
    let posts = model::posts(version);
    let ranges = session.ranges(posts.database, posts.container).await?;
    let ranges = ranges.into_iter().map(|range| range.id).collect();
    let fan = Fan::new(client, connections as usize);
    Ok(Application::new(version, fan, shape.clone(), ranges, env.clone()))
}

/// Measures one operation.
async fn measure(
    application: &mut Application,
    operation: Operation,
    rounds: u32,
    env: &Env,
) -> Result<Cell> {
    let version = application.version();
    let named = || format!("{} of {}", operation.name(), version.name());
    // A few rounds until everything is where it is used.
    let warm_up = (rounds / 10).clamp(1, 20);
    for _ in 0..warm_up {
        application.perform(operation).await.with_context(named)?;
    }
    let until = env.clock.elapsed() + CELL_TIME_MAX;
    let mut samples = Vec::with_capacity(rounds as usize);
    let mut total = Spent::default();
    while samples.len() < rounds as usize {
        let start = env.clock.elapsed();
        let spent = application.perform(operation).await.with_context(named)?;
        let end = env.clock.elapsed();
        if spent.throttled > 0 {
            // That was waiting for throughput, which is not what is measured.
            env.clock.sleep(SECOND).await;
        } else {
            samples.push(end.saturating_sub(start));
            total.merge(spent);
        }
        if end >= until {
            break;
        }
    }
    let latencies = Latencies::of(samples).with_context(|| {
        format!("{} was refused for its rate in every round: it needs more throughput", named())
    })?;
    let count = latencies.count() as f64;
    let cell = Cell {
        operation,
        version,
        charge: total.charge / count,
        charge_at_published: None,
        requests: f64::from(total.requests) / count,
        latencies,
    };
    progress::say(&format!(
        "measured {} {}: {:.3} ms, {:.2} RU",
        version.name(),
        operation.name(),
        cell.latencies.p50().as_secs_f64() * 1_000.0,
        cell.charge
    ));
    Ok(cell)
}
