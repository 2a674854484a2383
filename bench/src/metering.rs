//! What it costs to admit, charge and count operations: the calls by themselves, and what share they are of a point read
//! in process and over HTTP.
//!
//! Servers that enforce throughput and that do not are measured in turn, and so is an older program, where one is given
//! that counted nothing at all.

mod calls;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use armilla_crash::server_process::ServerProcess;
use armilla_env::Env;
use armilla_value::{Object, Value};
use clap::Args;

use crate::bare_server::BareServers;
use crate::columns::layout;
use crate::in_process::InProcess;
use crate::items::Items;
use crate::load::{drive, from_pool};
use crate::measure::{Measurement, Phase, measure_in_turn};
use crate::over_http::{loading, pool};
use crate::server::{Ask, Servers, Setup};
use calls::Part;

/// A throughput that no client here can use up, and the option that lets one partition have it.
const PLENTY_RU: &str = "1000000";
const PLENTY: [&str; 4] = ["--throttle", "on", "--physical-partition-ru", PLENTY_RU];

/// The throughput of one partition, where nothing is enforced.
const ONE_PARTITION_RU: &str = "10000";

/// Measures what it costs to admit, charge and count operations.
#[derive(Debug, Args)]
pub(crate) struct MeteringOptions {
    /// Items to load
    #[arg(long, default_value_t = 20_000)]
    items: usize,
    /// Bytes of an item's JSON
    #[arg(long, default_value_t = 400)]
    item_bytes: usize,
    /// How often each measurement is made, in turn with the others; the best one counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// An older server program, to compare with
    #[arg(long)]
    baseline: Option<PathBuf>,
    #[command(flatten)]
    setup: Setup,
}

/// The calls by themselves.
const CALLS: [(&str, Part, bool, usize); 8] = [
    ("clock, read four times", Part::Clock, true, 1),
    ("budget, enforced", Part::Budget, true, 1),
    ("budget, not enforced", Part::Budget, false, 1),
    ("figures", Part::Meter, true, 1),
    ("record of requests, as many as there can be", Part::Record, true, 1),
    ("all, enforced", ALL.0, ALL.1, ALL.2),
    ("all, not enforced", Part::All, false, 1),
    ("all, enforced, 2 threads on one partition", Part::All, true, 2),
];

/// What is set in relation to a point read.
const ALL: (Part, bool, usize) = (Part::All, true, 1);

/// Everything that was measured.
struct Measured {
    calls: Vec<(&'static str, f64)>,
    reads: Vec<Measurement>,
}

impl Measured {
    /// Returns the nanoseconds of all calls of a read.
    fn all_ns(&self) -> f64 {
        let place = CALLS.iter().position(|(_, part, enforced, threads)| (*part, *enforced, *threads) == ALL);
        place.map_or(0.0, |place| self.calls[place].1)
    }

    /// Returns how many percent of a read's processor time the calls are.
    fn share_percent(&self, read: &Measurement) -> f64 {
        self.all_ns() / 10.0 / read.per_operation_us(read.cpu)
    }
}

/// A server with the items.
struct Loaded {
    name: &'static str,
    servers: Servers,
    server: ServerProcess,
}

impl Loaded {
    fn start(
        name: &'static str,
        servers: Servers,
        throughput: &str,
        setup: &Setup,
        items: Items,
    ) -> Result<Loaded> {
        let server = servers.start(name)?;
        servers.create_container_of(&server, throughput)?;
        drive(&servers.env, server.address, loading(&servers.env, items, setup.connections))?;
        Ok(Loaded { name, servers, server })
    }
}

/// Measures, prints the table and writes the figures.
pub(crate) fn run(options: &MeteringOptions) -> Result<()> {
    let (env, setup) = (Env::system(), &options.setup);
    let items = Items::new(options.items, options.item_bytes)?;
    let mut calls = Vec::new();
    for (name, part, is_enforced, threads) in CALLS {
        let mut best = f64::INFINITY;
        for _ in 0..options.rounds.max(1) {
            best = calls::measure(&env, part, is_enforced, threads, setup.seconds / 3.0)?.min(best);
        }
        eprintln!("  {name}: {best:.1} ns");
        calls.push((name, best));
    }

    ensure!(setup.connections > 0, "there must be a connection");
    let (engine, _) = InProcess::load(setup, &env, items, None)?;
    let mut enforced = setup.clone();
    enforced.place.server_arguments = PLENTY.map(str::to_owned).to_vec();
    let mut unrecorded = setup.clone();
    unrecorded.place.server_arguments = ["--request-record", "off"].map(str::to_owned).to_vec();
    let mut loaded = vec![
        Loaded::start(
            "HTTP: reads, not recorded",
            Servers::new(&unrecorded, &env)?,
            ONE_PARTITION_RU,
            setup,
            items,
        )?,
        Loaded::start(
            "HTTP: reads, not enforced",
            Servers::new(setup, &env)?,
            ONE_PARTITION_RU,
            setup,
            items,
        )?,
        Loaded::start("HTTP: reads, enforced", Servers::new(&enforced, &env)?, PLENTY_RU, setup, items)?,
    ];
    if let Some(baseline) = &options.baseline {
        let mut older = setup.clone();
        older.place.bin = Some(baseline.clone());
        let servers = Servers::older(&older, &env)?;
        loaded.push(Loaded::start("HTTP: reads, older program", servers, ONE_PARTITION_RU, setup, items)?);
    }
    let bare = BareServers::start(setup, &env, items)?;
    let reads = pool(&env, items, Ask::Read);
    let mut phases: Vec<Phase<'_>> = loaded
        .iter()
        .map(|Loaded { name, server, .. }| {
            let (env, reads) = (&env, &reads);
            let sources = move || from_pool(env, reads, setup.connections, setup.seconds);
            Phase { name, pid: server.pid(), run: Box::new(move || drive(env, server.address, sources())) }
        })
        .collect();
    phases.extend(bare.phases().into_iter().filter(|phase| phase.name == "bare HTTP: reads"));
    phases.extend(engine.phases().into_iter().filter(|phase| phase.name == "engine: reads, 1 thread"));
    let reads = measure_in_turn(&env, &phases, options.rounds.max(1))?;
    drop(phases);
    for Loaded { servers, server, .. } in loaded {
        servers.stop(server)?;
    }
    engine.close()?;

    let measured = Measured { calls, reads };
    print(options, &measured);
    setup.place.write_figures(&figures(options, &measured))
}

fn print(options: &MeteringOptions, measured: &Measured) {
    println!("{} items, {} connections", options.items, options.setup.connections);
    let calls: Vec<_> =
        measured.calls.iter().map(|(name, ns)| [(*name).to_owned(), format!("{ns:.1} ns")]).collect();
    println!("{}", layout(&["calls of one operation", "CPU"].map(str::to_owned), &calls).trim_end());
    println!();
    let headings = ["", "a second", "CPU us/op", "p50 us", "p99 us", "share of the calls"].map(str::to_owned);
    let rows: Vec<_> = measured
        .reads
        .iter()
        .map(|read| {
            [
                read.name.to_owned(),
                format!("{:.0}", read.per_second()),
                format!("{:.2}", read.per_operation_us(read.cpu)),
                format!("{:.1}", read.latencies.quantile_us(0.5)),
                format!("{:.1}", read.latencies.quantile_us(0.99)),
                format!("{:.2} %", measured.share_percent(read)),
            ]
        })
        .collect();
    println!("{}", layout(&headings, &rows).trim_end());
}

fn figures(options: &MeteringOptions, measured: &Measured) -> Value {
    let mut calls = Object::new();
    for (name, ns) in &measured.calls {
        calls.insert(*name, *ns);
    }
    let read = |read: &Measurement| {
        let mut object = Object::new();
        object.insert("name", read.name);
        object.insert("perSecond", read.per_second());
        object.insert("cpuUsPerOperation", read.per_operation_us(read.cpu));
        object.insert("p50Us", read.latencies.quantile_us(0.5));
        object.insert("p99Us", read.latencies.quantile_us(0.99));
        object.insert("callsSharePercent", measured.share_percent(read));
        object
    };
    let mut all = Object::new();
    all.insert("items", options.items as i64);
    all.insert("connections", options.setup.connections as i64);
    all.insert("callsNs", Value::Object(calls));
    all.insert("reads", measured.reads.iter().map(read).collect::<Vec<_>>());
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::measure::Latencies;

    #[test]
    fn shares_are_of_processor_time() {
        let mut latencies = Latencies::new();
        (0..10).for_each(|_| latencies.record(Duration::from_micros(30)));
        let cpu = Duration::from_micros(200);
        let read = Measurement { name: "r", latencies, took: cpu, cpu, client_cpu: None };
        let calls =
            CALLS.iter().map(|(name, part, ..)| (*name, if *part == Part::All { 400.0 } else { 1.0 }));
        let measured = Measured { calls: calls.collect(), reads: Vec::new() };
        // 400 ns of 20 us.
        assert!((measured.share_percent(&read) - 2.0).abs() < 1e-9);
    }
}
