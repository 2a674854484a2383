//! What a split costs those who read and write meanwhile: point reads and upserts before, during and after the split of
//! the only physical partition, and the same of the merge that undoes it.
//!
//! The ceiling is a bare HTTP server that gets the same requests at the same rate.

pub(crate) mod traffic;

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use armilla_crash::requests::Target;
use armilla_crash::server_process::ServerProcess;
use armilla_env::Env;
use armilla_value::{Object, Value, json};
use clap::Args;

use crate::bare_server::BareServers;
use crate::columns::{layout, time};
use crate::items::{CONTAINER, DATABASE, Items};
use crate::load::drive;
use crate::measure::Latencies;
use crate::over_http::loading;
use crate::place::Place;
use crate::server::{Answered, Ask, Servers, Setup};
use traffic::{Stream, Traffic};

/// How long the server rests after the load, so that work in the background of it ends.
const REST: Duration = Duration::from_secs(5);

/// How long clients are at work before anything counts.
const WARM_UP: Duration = Duration::from_secs(3);

/// How often it is asked how far a split is.
const POLL_PERIOD: Duration = Duration::from_millis(50);

/// Connections that load the items.
const LOADING_CONNECTIONS: usize = 64;

/// Longest time that a split may take.
const SPLIT_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Measures what a split costs those who read and write meanwhile.
#[derive(Debug, Args)]
pub(crate) struct SplitOptions {
    /// Items of the partition
    #[arg(long, default_value_t = 1_000_000)]
    items: usize,
    /// Bytes of an item's JSON
    #[arg(long, default_value_t = 400)]
    item_bytes: usize,
    /// Connections that read, and as many that write
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Reads a second, or 0 for as many as are answered
    #[arg(long, default_value_t = 2_000.0)]
    reads_per_second: f64,
    /// Writes a second, or 0 for as many as are answered
    #[arg(long, default_value_t = 500.0)]
    writes_per_second: f64,
    /// Seconds of the measurements before and after
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// Leave out the merge
    #[arg(long)]
    split_only: bool,
    /// Megabytes of the server's cache, half for items and half for the store's blocks
    #[arg(long, default_value_t = 64)]
    cache_mb: u32,
    #[command(flatten)]
    place: Place,
}

/// What happens, one after the other; the first is not shown.
const PHASES: [&str; 6] = ["warming up", "before", "split", "between", "merge", "after"];
const BEFORE: usize = 1;
const SPLIT: usize = 2;
const BETWEEN: usize = 3;
const MERGE: usize = 4;
const AFTER: usize = 5;

/// Everything that was measured.
struct Measured {
    /// Reads, then writes, each phase by phase, with the bare server's in the end.
    latencies: Vec<Vec<Latencies>>,
    /// How long each phase took.
    took: Vec<Duration>,
    /// How long writers had to wait in the split and in the merge, as the server says.
    pauses_ms: Vec<f64>,
}

impl SplitOptions {
    fn setup(&self) -> Setup {
        Setup {
            connections: LOADING_CONNECTIONS,
            seconds: self.seconds,
            partitions: 1,
            cache_mb: self.cache_mb,
            place: self.place.clone(),
        }
    }

    fn streams(&self) -> [Stream; 2] {
        let stream = |ask, per_second| Stream { ask, connections: self.connections, per_second };
        [stream(Ask::Read, self.reads_per_second), stream(Ask::Upsert, self.writes_per_second)]
    }
}

/// Measures, prints the table and writes the figures.
pub(crate) fn run(options: &SplitOptions) -> Result<()> {
    ensure!(options.connections > 0, "there must be a connection");
    let (env, setup) = (Env::system(), options.setup());
    let items = Items::new(options.items, options.item_bytes)?;
    let servers = Servers::new(&setup, &env)?;
    let server = servers.start("splits")?;
    servers.create_container(&server)?;
    eprintln!("loading {} items", options.items);
    drive(&env, server.address, loading(&env, items, LOADING_CONNECTIONS))?;
    std::thread::sleep(REST);

    let mut measured = measure(options, &env, &servers, &server, items)?;
    let counted = count(&servers, &server)?;
    ensure!(counted == options.items as i64, "there are {counted} items after all that");
    measured.pauses_ms = pauses_ms(&servers.launch("splits").log_since(0)?);
    servers.stop(server)?;

    eprintln!("the bare server");
    let bare = BareServers::start(&setup, &env, items)?;
    let traffic = Traffic::begin(&env, bare.address(), items, &options.streams(), 2);
    let took = pass(&traffic, Duration::from_secs_f64(options.seconds))?;
    for (all, mut own) in measured.latencies.iter_mut().zip(traffic.end()?) {
        all.push(own.swap_remove(BEFORE));
    }
    measured.took.push(took);

    print(options, &measured);
    options.place.write_figures(&figures(options, &measured))
}

/// Lets clients warm up, then counts for some time; returns how long that was.
fn pass(traffic: &Traffic, duration: Duration) -> Result<Duration> {
    std::thread::sleep(WARM_UP);
    traffic.enter(BEFORE);
    std::thread::sleep(duration);
    Ok(duration)
}

fn measure(
    options: &SplitOptions,
    env: &Env,
    servers: &Servers,
    server: &ServerProcess,
    items: Items,
) -> Result<Measured> {
    let duration = Duration::from_secs_f64(options.seconds);
    let traffic = Traffic::begin(env, server.address, items, &options.streams(), PHASES.len());
    let mut took = vec![WARM_UP, pass(&traffic, duration)?];
    for (phase, rest) in [(SPLIT, BETWEEN), (MERGE, AFTER)] {
        if phase == MERGE && options.split_only {
            took.extend([Duration::ZERO; 2]);
            continue;
        }
        eprintln!("{} ...", PHASES[phase]);
        traffic.enter(phase);
        took.push(reshape(env, servers, server, phase == MERGE, &traffic)?);
        eprintln!("{}: {:.1} s", PHASES[phase], took[phase].as_secs_f64());
        traffic.enter(rest);
        std::thread::sleep(duration);
        took.push(duration);
    }
    Ok(Measured { latencies: traffic.end()?, took, pauses_ms: Vec::new() })
}

/// Has the partition split, or the two merged, and waits until that is done; returns how long it took.
fn reshape(
    env: &Env,
    servers: &Servers,
    server: &ServerProcess,
    is_merge: bool,
    traffic: &Traffic,
) -> Result<Duration> {
    let before = servers.partitions(server)?;
    let begin = env.clock.elapsed();
    if is_merge {
        let ids: Vec<_> = before.partitions.iter().map(|partition| format!("\"{}\"", partition.id)).collect();
        let body = format!(r#"{{"ranges":[{}]}}"#, ids.join(","));
        servers.ask(server, "POST", Target::Merge(DATABASE, CONTAINER), &[], &body)?;
    } else {
        servers.ask(server, "POST", Target::Split(DATABASE, CONTAINER), &[], "{}")?;
    }
    let mut told = 0;
    loop {
        std::thread::sleep(POLL_PERIOD);
        let state = servers.partitions(server)?;
        let took = env.clock.elapsed() - begin;
        if state.map_version > before.map_version && !state.is_splitting() {
            return Ok(took);
        }
        if let Some(why) = state.failed.filter(|_| state.partitions.iter().all(|own| !own.is_splitting)) {
            bail!("it was given up: {why}");
        }
        if traffic.has_failed() || took > SPLIT_TIMEOUT {
            bail!("clients failed, or it takes too long");
        }
        let percent = state.partitions.iter().filter_map(|own| own.percent).max().unwrap_or(0);
        if percent >= told + 10 {
            told = percent;
            eprintln!("  {percent} % after {:.1} s", took.as_secs_f64());
        }
    }
}

/// Counts the items by a query.
fn count(servers: &Servers, server: &ServerProcess) -> Result<i64> {
    let headers = [
        ("x-ms-documentdb-isquery", "True"),
        ("x-ms-documentdb-query-enablecrosspartition", "True"),
        ("x-ms-max-item-count", "-1"),
    ];
    let body = r#"{"query":"SELECT VALUE COUNT(1) FROM c"}"#;
    let mut sum = 0;
    let mut continuation = String::new();
    loop {
        let mut headers = headers.to_vec();
        if !continuation.is_empty() {
            headers.push(("x-ms-continuation", &continuation));
        }
        let Answered { headers, body } =
            servers.ask(server, "POST", Target::Items(DATABASE, CONTAINER), &headers, body)?;
        let page = json::parse(&body).context("a page of a query")?;
        let rows = page.get("Documents").and_then(Value::as_array).context("a page has no rows")?;
        sum += rows.iter().filter_map(Value::as_i64).sum::<i64>();
        match headers.into_iter().find(|(name, _)| name == "x-ms-continuation") {
            Some((_, next)) if !next.is_empty() => continuation = next,
            _ => return Ok(sum),
        }
    }
}

/// Finds how long the server says that writers had to wait.
fn pauses_ms(log: &str) -> Vec<f64> {
    const FIELD: &str = "pause_ms=";
    let number = |rest: &str| {
        let end = rest.find(|character: char| !(character.is_ascii_digit() || character == '.'));
        rest[..end.unwrap_or(rest.len())].parse().ok()
    };
    log.match_indices(FIELD).filter_map(|(at, _)| number(&log[at + FIELD.len()..])).collect()
}

const HEADINGS: [&str; 7] = ["", "a second", "p50", "p99", "p99.9", "max", "p99 / before"];

fn print(options: &SplitOptions, measured: &Measured) {
    let load =
        |rate: f64| if rate > 0.0 { format!("{rate:.0} a second") } else { "as many as go".to_owned() };
    println!(
        "{} items of {} bytes in one partition; {} connections read ({}), {} write ({})",
        options.items,
        options.item_bytes,
        options.connections,
        load(options.reads_per_second),
        options.connections,
        load(options.writes_per_second)
    );
    let mut rows = Vec::new();
    for (requests, phases) in ["reads", "writes"].iter().zip(&measured.latencies) {
        let before = phases[BEFORE].quantile_us(0.99);
        for (phase, latencies) in phases.iter().enumerate().skip(BEFORE) {
            if latencies.operations() == 0 {
                continue;
            }
            let p99 = latencies.quantile_us(0.99);
            rows.push([
                format!("{requests}, {}", PHASES.get(phase).unwrap_or(&"bare HTTP server")),
                format!("{:.0}", latencies.operations() as f64 / measured.took[phase].as_secs_f64()),
                time(latencies.quantile_us(0.5)),
                time(p99),
                time(latencies.quantile_us(0.999)),
                time(latencies.max_us()),
                format!("{:.2}", p99 / before),
            ]);
        }
    }
    println!("{}", layout(&HEADINGS.map(str::to_owned), &rows).trim_end());
    for (phase, pause) in [SPLIT, MERGE].into_iter().zip(measured.pauses_ms.iter().map(Some).chain([None; 2]))
    {
        if measured.took[phase].is_zero() {
            continue;
        }
        let pause = pause.map_or("unknown".to_owned(), |pause| format!("{pause:.1} ms"));
        println!("{}: {:.1} s, pause {pause}", PHASES[phase], measured.took[phase].as_secs_f64());
    }
}

fn figures(options: &SplitOptions, measured: &Measured) -> Value {
    let mut measurements = Vec::new();
    for (requests, phases) in ["reads", "writes"].iter().zip(&measured.latencies) {
        let before = phases[BEFORE].quantile_us(0.99);
        for (phase, latencies) in phases.iter().enumerate().skip(BEFORE) {
            if latencies.operations() == 0 {
                continue;
            }
            let mut object = Object::new();
            object.insert("requests", *requests);
            object.insert("phase", *PHASES.get(phase).unwrap_or(&"bare HTTP server"));
            object.insert("seconds", measured.took[phase].as_secs_f64());
            object.insert("operations", latencies.operations() as i64);
            for (name, quantile) in [("p50Us", 0.5), ("p99Us", 0.99), ("p999Us", 0.999)] {
                object.insert(name, latencies.quantile_us(quantile));
            }
            object.insert("maxUs", latencies.max_us());
            object.insert("p99Ratio", latencies.quantile_us(0.99) / before);
            measurements.push(object);
        }
    }
    let mut all = Object::new();
    all.insert("items", options.items as i64);
    all.insert("itemBytes", options.item_bytes as i64);
    all.insert("connections", options.connections as i64);
    all.insert("readsPerSecond", options.reads_per_second);
    all.insert("writesPerSecond", options.writes_per_second);
    all.insert("measurements", measurements);
    all.insert("pausesMs", measured.pauses_ms.iter().map(|pause| Value::from(*pause)).collect::<Vec<_>>());
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_found_in_the_log() {
        let log = "INFO x seconds=1.5 pause_ms=12.25 y\nINFO pause_ms=3\nWARN pause_ms=\n";
        assert_eq!(pauses_ms(log), [12.25, 3.0]);
        assert!(pauses_ms("INFO nothing\n").is_empty());
    }
}
