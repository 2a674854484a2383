//! What endless stored procedures cost everybody else: point reads and writes, undisturbed and beside them.
//!
//! The procedures run in the same container, in logical partitions of their own, and are begun again whenever the server
//! has stopped them. All rounds count, not the best: what is looked for is the delay that a neighbour sees.

mod endless;

use std::time::Duration;

use anyhow::{Result, ensure};
use armilla_crash::requests::Target;
use armilla_env::Env;
use armilla_value::{Object, Value, json};
use clap::Args;

use crate::columns::{layout, time};
use crate::items::{CONTAINER, DATABASE, Items};
use crate::load::{Pool, drive, from_pool};
use crate::measure::Latencies;
use crate::over_http::{loading, pool};
use crate::place::Place;
use crate::server::{Ask, Servers, Setup};
use endless::{Endless, PROCEDURE, PROCEDURE_BODY};

/// How long procedures run before anything is measured beside them.
const LEAD: Duration = Duration::from_millis(200);

/// Measures what endless stored procedures cost everybody else.
#[derive(Debug, Args)]
pub(crate) struct NeighbourOptions {
    /// Items to load, of about 400 bytes
    #[arg(long, default_value_t = 20_000)]
    items: usize,
    /// Connections that read or write
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Numbers of endless procedures
    #[arg(long, value_delimiter = ',', default_value = "1,4")]
    procedures: Vec<usize>,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// How often each measurement is made, in turn with the others; all of them count
    #[arg(long, default_value_t = 2)]
    rounds: usize,
    /// Physical partitions of the container
    #[arg(long, default_value_t = 1)]
    partitions: u32,
    /// Megabytes of the server's cache, half for items and half for the store's blocks
    #[arg(long, default_value_t = 64)]
    cache_mb: u32,
    #[command(flatten)]
    place: Place,
}

/// Bytes of an item's JSON.
const ITEM_BYTES: usize = 400;

impl NeighbourOptions {
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

/// The requests of neighbours beside so many procedures.
struct Line {
    requests: &'static str,
    procedures: usize,
    latencies: Latencies,
    took: Duration,
    /// How long procedures took to be stopped.
    stops: Vec<Duration>,
}

impl Line {
    fn new(requests: &'static str, procedures: usize) -> Line {
        Line { requests, procedures, latencies: Latencies::new(), took: Duration::ZERO, stops: Vec::new() }
    }

    fn per_second(&self) -> f64 {
        self.latencies.operations() as f64 / self.took.as_secs_f64()
    }

    fn p99_us(&self) -> f64 {
        self.latencies.quantile_us(0.99)
    }

    /// Returns the shortest, the middle and the longest stop.
    fn stops(&self) -> Option<[Duration; 3]> {
        let mut stops = self.stops.clone();
        stops.sort_unstable();
        Some([*stops.first()?, stops[stops.len() / 2], *stops.last()?])
    }
}

/// Measures, prints the table and writes the figures.
pub(crate) fn run(options: &NeighbourOptions) -> Result<()> {
    ensure!(options.connections > 0, "there must be a connection");
    let (env, setup) = (Env::system(), options.setup());
    let items = Items::new(options.items, ITEM_BYTES)?;
    let servers = Servers::new(&setup, &env)?;
    let server = servers.start("neighbours")?;
    servers.create_container(&server)?;
    let mut procedure = Object::new();
    procedure.insert("id", PROCEDURE);
    procedure.insert("body", PROCEDURE_BODY);
    let target = Target::Procedures(DATABASE, CONTAINER);
    servers.ask(&server, "POST", target, &[], &json::to_string(&Value::Object(procedure)))?;
    eprintln!("loading {} items", options.items);
    drive(&env, server.address, loading(&env, items, options.connections))?;

    let pools: [(&str, Pool); 2] =
        [("reads", pool(&env, items, Ask::Read)), ("writes", pool(&env, items, Ask::Upsert))];
    let mut lines: Vec<Line> = Vec::new();
    for (requests, _) in &pools {
        lines.push(Line::new(requests, 0));
        lines.extend(options.procedures.iter().map(|procedures| Line::new(requests, *procedures)));
    }
    let rounds = options.rounds.max(1);
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        for line in &mut lines {
            eprintln!("  {} beside {} endless procedures ...", line.requests, line.procedures);
            let endless = Endless::begin(&env, server.address, line.procedures);
            std::thread::sleep(LEAD);
            let begin = env.clock.elapsed();
            for (_, pool) in pools.iter().filter(|(requests, _)| *requests == line.requests) {
                let sources = from_pool(&env, pool, options.connections, options.seconds);
                line.latencies.add(&drive(&env, server.address, sources)?);
            }
            line.took += env.clock.elapsed() - begin;
            line.stops.extend(endless.end()?);
        }
    }
    print(options, &lines);
    options.place.write_figures(&figures(options, &lines))?;
    servers.stop(server)
}

/// Returns how many times longer the slowest hundredth takes than undisturbed.
fn p99_ratio(line: &Line, lines: &[Line]) -> Option<f64> {
    let undisturbed = lines.iter().find(|own| own.requests == line.requests && own.procedures == 0)?;
    (line.procedures > 0).then(|| line.p99_us() / undisturbed.p99_us())
}

const HEADINGS: [&str; 8] = ["", "a second", "p50", "p99", "p99.9", "max", "p99 ratio", "stopped after"];

fn print(options: &NeighbourOptions, lines: &[Line]) {
    println!(
        "{} connections, {} items, endless procedures in other logical partitions of the same container",
        options.connections, options.items
    );
    let cells: Vec<_> = lines
        .iter()
        .map(|line| {
            let name = match line.procedures {
                0 => format!("{}, undisturbed", line.requests),
                1 => format!("{} beside 1 procedure", line.requests),
                count => format!("{} beside {count} procedures", line.requests),
            };
            let stops = line.stops().map(|stops| stops.map(|stop| format!("{:.2}", stop.as_secs_f64())));
            [
                name,
                format!("{:.0}", line.per_second()),
                time(line.latencies.quantile_us(0.5)),
                time(line.p99_us()),
                time(line.latencies.quantile_us(0.999)),
                time(line.latencies.max_us()),
                p99_ratio(line, lines).map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
                stops.map_or("-".to_owned(), |stops| {
                    format!("{} s ({} stops)", stops.join("/"), line.stops.len())
                }),
            ]
        })
        .collect();
    println!("{}", layout(&HEADINGS.map(str::to_owned), &cells).trim_end());
}

fn figures(options: &NeighbourOptions, lines: &[Line]) -> Value {
    let line = |line: &Line| {
        let mut object = Object::new();
        object.insert("requests", line.requests);
        object.insert("procedures", line.procedures as i64);
        object.insert("perSecond", line.per_second());
        object.insert("p50Us", line.latencies.quantile_us(0.5));
        object.insert("p99Us", line.p99_us());
        object.insert("p999Us", line.latencies.quantile_us(0.999));
        object.insert("maxUs", line.latencies.max_us());
        object.insert("p99Ratio", p99_ratio(line, lines));
        object.insert("stops", line.stops.len() as i64);
        if let Some([shortest, middle, longest]) = line.stops() {
            object.insert("shortestStopSeconds", shortest.as_secs_f64());
            object.insert("medianStopSeconds", middle.as_secs_f64());
            object.insert("longestStopSeconds", longest.as_secs_f64());
        }
        object
    };
    let mut all = Object::new();
    all.insert("items", options.items as i64);
    all.insert("connections", options.connections as i64);
    all.insert("seconds", options.seconds);
    all.insert("rounds", options.rounds as i64);
    all.insert("partitions", i64::from(options.partitions));
    all.insert("measurements", lines.iter().map(line).collect::<Vec<_>>());
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_the_same_requests() {
        let mut lines = [Line::new("reads", 0), Line::new("writes", 0), Line::new("writes", 4)];
        for (line, ms) in lines.iter_mut().zip([1, 10, 25]) {
            line.latencies.record(Duration::from_millis(ms));
        }
        assert_eq!(p99_ratio(&lines[0], &lines), None);
        let ratio = p99_ratio(&lines[2], &lines).unwrap();
        assert!((ratio - 2.5).abs() < 0.01, "{ratio}");
    }

    #[test]
    fn stops_are_sorted() {
        let mut line = Line::new("reads", 1);
        assert_eq!(line.stops(), None);
        line.stops = [5, 7, 6].map(Duration::from_secs).to_vec();
        assert_eq!(line.stops(), Some([5, 6, 7].map(Duration::from_secs)));
    }
}
