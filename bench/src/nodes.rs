//! What it costs that an account lies in an object store, and that several nodes share it.
//!
//! The same reads and writes of random items go to four *sides*, which are measured in turn:
//!
//! ```text
//! embedded    one server on a folder
//! objects     one server on an object store
//! local       two nodes on an object store, of which each is asked for what it has
//! forwarded   the same two nodes, of which each is asked for what the other has
//! ```
//!
//! Processor time is that of all processes of a side, so that of `forwarded` has what both nodes do. The state `written` has
//! other clients' writes in its processor time; at the same rate on every side.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use armilla_crash::process_figures;
use armilla_crash::requests::{Composer, Target};
use armilla_crash::server_process::ServerProcess;
use armilla_env::{Env, Random};
use armilla_value::{HashVersion, HashedKey, Object, Value, hashed_key, json};
use clap::Args;

use crate::columns::{layout, time};
use crate::items::{CONTAINER, DATABASE, Items};
use crate::load::{Pool, drive, from_pool};
use crate::measure::{Latencies, Measurement, measure_with};
use crate::over_http::loading;
use crate::place::Place;
use crate::server::{Ask, PARTITION_RU, Servers, Setup, write_request};
use crate::splits::traffic::{Stream, Traffic};

/// Requests that are made and signed ahead of a measurement.
const POOL_REQUESTS_MAX: usize = 32_768;

/// Connections that load items, and those that write while reads are measured.
const LOADING_CONNECTIONS: usize = 32;
const WRITING_CONNECTIONS: usize = 4;

/// How long servers rest before the state `rested`.
const REST: Duration = Duration::from_secs(10);

/// How long it may take until both nodes have about as many partitions.
const EVEN_TIMEOUT: Duration = Duration::from_secs(60);
const EVEN_PERIOD: Duration = Duration::from_millis(200);

/// Measures an account in an object store, and one that two nodes share, beside one in a folder.
#[derive(Debug, Args)]
pub(crate) struct NodeOptions {
    /// Items of each account
    #[arg(long, default_value_t = 20_000)]
    items: usize,
    /// Bytes of an item's JSON
    #[arg(long, default_value_t = 400)]
    item_bytes: usize,
    /// Physical partitions of each container
    #[arg(long, default_value_t = 4)]
    partitions: u32,
    /// Connections of each measurement
    #[arg(long, value_delimiter = ',', default_value = "1,16")]
    connections: Vec<usize>,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// How often each is made, in turn with the others; the one in the middle by processor time counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Writes a second of other clients in the state `written`
    #[arg(long, default_value_t = 200.0)]
    write_rate: f64,
    /// Megabytes of each server's cache
    #[arg(long, default_value_t = 64)]
    cache_mb: u32,
    /// An object store: a URL whose last part is a prefix that nothing lies under yet [default: a folder]
    #[arg(long)]
    store: Option<String>,
    #[command(flatten)]
    place: Place,
}

/// The state in which data are when they are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Loaded,
    Written,
    Rested,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            State::Loaded => "loaded",
            State::Written => "written",
            State::Rested => "rested",
        }
    }
}

/// A server, and what it has to do for a side.
struct Asked {
    address: SocketAddr,
    reads: Pool,
    writes: Pool,
}

/// Something that is measured beside the others.
struct Side {
    name: &'static str,
    asked: Vec<Asked>,
    /// The processes that do its work.
    pids: Vec<u32>,
}

/// One line of the table.
struct Line {
    side: &'static str,
    state: State,
    ask: Ask,
    connections: usize,
    measurement: Measurement,
}

/// Measures, prints the table and writes the figures.
pub(crate) fn run(options: &NodeOptions) -> Result<()> {
    ensure!(
        options.rounds > 0 && !options.connections.contains(&0),
        "there must be a round and a connection"
    );
    let env = Env::system();
    let items = Items::new(options.items, options.item_bytes)?;
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let store = options.store.clone().unwrap_or_else(|| format!("file://{}", folder.path().display()));
    let store = store.trim_end_matches('/').to_owned();

    let flags = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let (own, shared) = (format!("{store}/alone"), format!("{store}/shared"));
    let node = ["--store", &shared, "--node", "127.0.0.1:0"];
    let (embedded, first) = start(options, &env, "embedded", flags(&[]))?;
    let (objects, second) = start(options, &env, "objects", flags(&["--store", &own]))?;
    let (nodes, third) = start(options, &env, "node-1", flags(&node))?;
    let (more_nodes, fourth) = start(options, &env, "node-2", flags(&node))?;
    for (servers, server) in [(&embedded, &first), (&objects, &second), (&nodes, &third)] {
        servers.create_container_of(server, &(options.partitions * PARTITION_RU).to_string())?;
    }
    let owners = owners(&env, &nodes, &third)?;
    for (name, server) in [("embedded", &first), ("objects", &second), ("nodes", &third)] {
        eprintln!("loading {} items: {name}", options.items);
        drive(&env, server.address, loading(&env, items, LOADING_CONNECTIONS))?;
    }

    let everything = |_: &HashedKey| true;
    let of = |address: SocketAddr, is_mine: &dyn Fn(&HashedKey) -> bool| -> Result<Asked> {
        Ok(Asked {
            address,
            reads: pool(&env, items, Ask::Read, is_mine)?,
            writes: pool(&env, items, Ask::Upsert, is_mine)?,
        })
    };
    let (here, there) = (|key: &HashedKey| owners.is_first(key), |key: &HashedKey| !owners.is_first(key));
    let both = vec![third.pid(), fourth.pid()];
    let sides = [
        Side { name: "embedded", asked: vec![of(first.address, &everything)?], pids: vec![first.pid()] },
        Side { name: "objects", asked: vec![of(second.address, &everything)?], pids: vec![second.pid()] },
        Side {
            name: "local",
            asked: vec![of(third.address, &here)?, of(fourth.address, &there)?],
            pids: both.clone(),
        },
        Side {
            name: "forwarded",
            asked: vec![of(third.address, &there)?, of(fourth.address, &here)?],
            pids: both,
        },
    ];
    let mut lines = Vec::new();
    for state in [State::Loaded, State::Written, State::Rested] {
        if state == State::Rested {
            std::thread::sleep(REST);
        }
        for connections in &options.connections {
            for ask in [Ask::Read, Ask::Upsert] {
                // Writes are measured by themselves.
                if state != State::Written || ask == Ask::Read {
                    lines.extend(in_turn(options, &env, items, &sides, state, *connections, ask)?);
                }
            }
        }
    }
    ensure!(
        owners == self::owners(&env, &nodes, &third)?,
        "partitions went to other nodes meanwhile: the figures of `local` and `forwarded` mean nothing"
    );
    for (servers, server) in [(embedded, first), (objects, second), (nodes, third), (more_nodes, fourth)] {
        servers.stop(server)?;
    }
    print(options, &store, &lines);
    options.place.write_figures(&figures(options, &store, &lines))
}

fn start(
    options: &NodeOptions,
    env: &Env,
    name: &str,
    flags: Vec<String>,
) -> Result<(Servers, ServerProcess)> {
    let mut place = options.place.clone();
    place.server_arguments.splice(0..0, flags);
    let setup = Setup {
        connections: LOADING_CONNECTIONS,
        seconds: options.seconds,
        partitions: options.partitions,
        cache_mb: options.cache_mb,
        place,
    };
    let servers = Servers::new(&setup, env)?;
    let server = servers.start(name)?;
    Ok((servers, server))
}

/// Which keys the first of two nodes has: where its ranges begin and end.
#[derive(Debug, Default, PartialEq, Eq)]
struct Owners(Vec<(HashedKey, HashedKey)>);

impl Owners {
    fn is_first(&self, key: &HashedKey) -> bool {
        self.0.iter().any(|(min, max)| min <= key && key.cmp_bounds(max).is_lt())
    }
}

/// Waits until two nodes have about as many partitions of the container, and returns what the first has.
fn owners(env: &Env, servers: &Servers, first: &ServerProcess) -> Result<Owners> {
    let begin = env.clock.elapsed();
    loop {
        let nodes = servers.ask(first, "GET", Target::Nodes, &[], "")?;
        let partitions = servers.ask(first, "GET", Target::Partitions, &[], "")?;
        let read = |body: &[u8]| json::parse(body).context("an answer is no JSON");
        let (all, own) = split(&read(&nodes.body)?, &read(&partitions.body)?)?;
        if 2 * own.0.len() == all || 2 * own.0.len() == all + 1 || 2 * own.0.len() + 1 == all {
            return Ok(own);
        }
        ensure!(
            env.clock.elapsed() - begin < EVEN_TIMEOUT,
            "one node has {} of {all} partitions",
            own.0.len()
        );
        std::thread::sleep(EVEN_PERIOD);
    }
}

/// Returns how many partitions the container has that some node has, and where those lie of the node that was asked.
fn split(nodes: &Value, partitions: &Value) -> Result<(usize, Owners)> {
    let list = |value: &Value, name: &str| -> Result<Vec<Value>> {
        Ok(value.get(name).and_then(Value::as_array).with_context(|| format!("there is no {name}"))?.to_vec())
    };
    let is_self = |node: &Value| node.get("self").and_then(Value::as_bool) == Some(true);
    let nodes = list(nodes, "nodes")?;
    let own = nodes.iter().find(|node| is_self(node)).and_then(|node| node.get("name")?.as_str());
    let own = own.context("the server is not one of several nodes")?;
    let containers = list(partitions, "containers")?;
    let is_ours = |container: &&Value| {
        let is = |name, value| container.get(name).and_then(Value::as_str) == Some(value);
        is("database", DATABASE) && is("container", CONTAINER)
    };
    let container = containers.iter().find(is_ours).context("the server says nothing of the container")?;
    let (mut all, mut ranges) = (0, Owners::default());
    for partition in list(container, "partitions")? {
        let text = |name| partition.get(name).and_then(Value::as_str);
        let bound = |name| text(name).and_then(HashedKey::from_hex).context("a partition has no bounds");
        all += usize::from(text("node").is_some());
        if text("node") == Some(own) {
            ranges.0.push((bound("minInclusive")?, bound("maxExclusive")?));
        }
    }
    Ok((all, ranges))
}

/// Makes requests about random items of some partitions, signed.
fn pool(env: &Env, items: Items, ask: Ask, is_wanted: &dyn Fn(&HashedKey) -> bool) -> Result<Pool> {
    let mut composer = Composer::new(env);
    let mut random = Random::of_part(11, ask as u64);
    let wanted: Vec<usize> = (0..items.count)
        .filter(|index| is_wanted(&hashed_key(&items.partition_key(*index), HashVersion::V2)))
        .collect();
    ensure!(!wanted.is_empty(), "a node has no item");
    let request = |number: usize| {
        let mut out = Vec::with_capacity(1_024);
        let index = wanted[random.index(wanted.len())];
        write_request(&mut composer, &mut out, ask, items, index, number as u64 + 1);
        out
    };
    Ok(Arc::new((0..items.count.min(POOL_REQUESTS_MAX)).map(request).collect()))
}

/// Measures all sides in turn, several times; of each the one in the middle counts.
fn in_turn(
    options: &NodeOptions,
    env: &Env,
    items: Items,
    sides: &[Side],
    state: State,
    connections: usize,
    ask: Ask,
) -> Result<Vec<Line>> {
    eprintln!("{ask:?}, {}, {connections} connections", state.word());
    let mut found: Vec<Vec<Measurement>> = sides.iter().map(|_| Vec::new()).collect();
    for _ in 0..options.rounds {
        for (side, found) in sides.iter().zip(&mut found) {
            let writing = (state == State::Written).then(|| {
                let per_second = options.write_rate;
                let stream = Stream { ask: Ask::Upsert, connections: WRITING_CONNECTIONS, per_second };
                Traffic::begin(env, side.asked[0].address, items, &[stream], 1)
            });
            found.push(side.measure(env, options.seconds, connections, ask)?);
            if let Some(writing) = writing {
                writing.end()?;
            }
        }
    }
    let middle = |mut measurements: Vec<Measurement>| {
        measurements.sort_by_key(|one| one.cpu.as_nanos() / u128::from(one.latencies.operations().max(1)));
        measurements.swap_remove(measurements.len() / 2)
    };
    let line = |(side, found): (&Side, _)| Line {
        side: side.name,
        state,
        ask,
        connections,
        measurement: middle(found),
    };
    Ok(sides.iter().zip(found).map(line).collect())
}

impl Side {
    fn measure(&self, env: &Env, seconds: f64, connections: usize, ask: Ask) -> Result<Measurement> {
        let cpu_time = || self.pids.iter().map(|pid| process_figures::cpu_time(*pid)).sum();
        measure_with(env, self.name, cpu_time, || {
            // One connection asks one server, and the next time the other; more are divided.
            let parts = self.asked.len().min(connections);
            let seconds = seconds * parts as f64 / self.asked.len() as f64;
            let mut all = Latencies::new();
            for turn in self.asked.chunks(parts) {
                let running: Vec<_> = turn
                    .iter()
                    .map(|asked| {
                        let pool = if ask == Ask::Read { &asked.reads } else { &asked.writes };
                        let sources = from_pool(env, pool, connections / parts, seconds);
                        let (env, address) = (env.clone(), asked.address);
                        std::thread::spawn(move || drive(&env, address, sources))
                    })
                    .collect();
                for one in running {
                    all.add(&one.join().map_err(|_| anyhow::anyhow!("a client panicked"))??);
                }
            }
            Ok(all)
        })
    }
}

const HEADINGS: [&str; 7] = ["", "a second", "p50", "p99", "CPU us/op", "CPU of embedded", "CPU of local"];

/// Returns the processor time of an operation beside that of another side in the same state.
fn ratio(lines: &[Line], line: &Line, side: &str) -> f64 {
    let is_same = |other: &&Line| {
        (other.state, other.ask, other.connections) == (line.state, line.ask, line.connections)
    };
    let cpu = |line: &Line| line.measurement.per_operation_us(line.measurement.cpu);
    let other = lines.iter().filter(is_same).find(|other| other.side == side);
    other.map_or(f64::NAN, |other| cpu(line) / cpu(other))
}

fn word(ask: Ask) -> &'static str {
    if ask == Ask::Read { "read" } else { "write" }
}

fn print(options: &NodeOptions, store: &str, lines: &[Line]) {
    let scheme = store.split("://").next().unwrap_or_default();
    println!(
        "{} items of {} bytes in {} partitions, caches of {} MB, object store {scheme}://",
        options.items, options.item_bytes, options.partitions, options.cache_mb
    );
    let rows: Vec<_> = lines
        .iter()
        .map(|line| {
            let own = &line.measurement;
            [
                format!("{}, {}, {}: {}", word(line.ask), line.state.word(), line.connections, line.side),
                format!("{:.0}", own.per_second()),
                time(own.latencies.quantile_us(0.5)),
                time(own.latencies.quantile_us(0.99)),
                format!("{:.1}", own.per_operation_us(own.cpu)),
                format!("{:.2}", ratio(lines, line, "embedded")),
                format!("{:.2}", ratio(lines, line, "local")),
            ]
        })
        .collect();
    println!("{}", layout(&HEADINGS.map(str::to_owned), &rows).trim_end());
}

fn figures(options: &NodeOptions, store: &str, lines: &[Line]) -> Value {
    let line = |line: &Line| {
        let own = &line.measurement;
        let mut object = Object::new();
        object.insert("side", line.side);
        object.insert("state", line.state.word());
        object.insert("operation", word(line.ask));
        object.insert("connections", line.connections as i64);
        object.insert("operations", own.latencies.operations() as i64);
        object.insert("perSecond", own.per_second());
        for (name, quantile) in [("p50Us", 0.5), ("p99Us", 0.99), ("p999Us", 0.999)] {
            object.insert(name, own.latencies.quantile_us(quantile));
        }
        object.insert("cpuUsPerOperation", own.per_operation_us(own.cpu));
        object
    };
    let mut all = Object::new();
    all.insert("items", options.items as i64);
    all.insert("itemBytes", options.item_bytes as i64);
    all.insert("partitions", i64::from(options.partitions));
    all.insert("cacheMb", i64::from(options.cache_mb));
    all.insert("store", store);
    all.insert("measurements", lines.iter().map(line).collect::<Vec<Object>>());
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_read_from_what_a_node_says() {
        let nodes = r#"{"nodes":[{"name":"a","self":false},{"name":"b","self":true}]}"#;
        let partitions = r#"{"containers":[{"database":"x","container":"items","partitions":[]},
            {"database":"bench","container":"items","partitions":[
            {"minInclusive":"","maxExclusive":"20","node":"b"},{"minInclusive":"20","maxExclusive":"30","node":"a"},
            {"minInclusive":"30","maxExclusive":"38","node":null},{"minInclusive":"38","maxExclusive":"FF","node":"b"}]}]}"#;
        let read = |text: &str| json::parse(text.as_bytes()).unwrap();
        let (all, owners) = split(&read(nodes), &read(partitions)).unwrap();
        assert_eq!((all, owners.0.len()), (3, 2));
        for (key, expected) in
            [("00", true), ("1F", true), ("20", false), ("31", false), ("38", true), ("3F", true)]
        {
            assert_eq!(owners.is_first(&HashedKey::from_hex(key).unwrap()), expected, "{key}");
        }
        assert!(split(&read(r#"{"nodes":[]}"#), &read(partitions)).is_err());
        assert!(split(&read(nodes), &read(r#"{"containers":[]}"#)).is_err());
    }
}
