//! How fast `armilla import` writes the lines of a file, beside bulk requests with the same items in process: what is
//! between the two is reading the file, HTTP, and a second process on the same machine.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use armilla_engine::{BulkOperation, Caller, ContainerHandle, Engine, ItemAction, Precondition, WriteMode};
use armilla_env::Env;
use armilla_kv::Durability;
use armilla_value::{Object, Value};
use clap::Args;

use crate::columns::layout;
use crate::in_process::{create, definition, open};
use crate::items::{CONTAINER, DATABASE, Items};
use crate::place::Place;
use crate::server::{Servers, Setup, folder};

/// Actions of a bulk request: as many as the importer puts into one.
const BULK_ACTIONS: usize = 100;

/// Measures `armilla import`, beside bulk requests in process.
#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// Lines of the file, an item each
    #[arg(long, default_value_t = 1_000_000)]
    lines: usize,
    /// Bytes of an item's JSON
    #[arg(long, default_value_t = 400)]
    item_bytes: usize,
    /// Connections of the importer, and bulk requests at once in process
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// How often each is measured, in turn; the best counts
    #[arg(long, default_value_t = 2)]
    rounds: usize,
    /// Physical partitions of the container
    #[arg(long, default_value_t = 1)]
    partitions: u32,
    /// Megabytes of the cache, half for items and half for the store's blocks
    #[arg(long, default_value_t = 64)]
    cache_mb: u32,
    #[command(flatten)]
    place: Place,
}

impl ImportOptions {
    fn setup(&self) -> Setup {
        Setup {
            connections: self.connections,
            seconds: 0.0,
            partitions: self.partitions,
            cache_mb: self.cache_mb,
            place: self.place.clone(),
        }
    }

    fn per_second(&self, took: Duration) -> f64 {
        self.lines as f64 / took.as_secs_f64()
    }
}

/// Measures, prints the table and writes the figures.
pub(crate) fn run(options: &ImportOptions) -> Result<()> {
    ensure!(options.connections > 0 && options.rounds > 0, "there must be a connection and a round");
    let (env, setup) = (Env::system(), options.setup());
    let items = Items::new(options.lines, options.item_bytes)?;
    let input = folder(&setup)?;
    let file = input.path().join("items.jsonl");
    write_lines(items, &file)?;
    let (mut engine, mut import) = (0.0_f64, 0.0_f64);
    for round in 0..options.rounds {
        eprintln!("round {} of {}", round + 1, options.rounds);
        eprintln!("  bulk requests in process ...");
        engine = engine.max(options.per_second(in_process(&setup, &env, items)?));
        eprintln!("  armilla import ...");
        import = import.max(options.per_second(imported(&setup, &env, options.lines, &file)?));
    }
    let ratio = import / engine;
    let headings = ["", "items/s", "of in process"].map(str::to_owned);
    let rows = [
        ["bulk requests in process".to_owned(), format!("{engine:.0}"), String::new()],
        ["armilla import".to_owned(), format!("{import:.0}"), format!("{ratio:.2}")],
    ];
    print!("{}", layout(&headings, &rows));
    let mut figures = Object::new();
    figures.insert("lines", options.lines as f64);
    figures.insert("inProcessPerSecond", engine);
    figures.insert("importPerSecond", import);
    figures.insert("ratio", ratio);
    options.place.write_figures(&Value::from(figures))
}

fn write_lines(items: Items, path: &Path) -> Result<()> {
    let mut out = BufWriter::new(File::create(path).context("cannot make the file of lines")?);
    for index in 0..items.count {
        writeln!(out, "{}", items.body(index, 0))?;
    }
    out.flush().context("cannot write the file of lines")
}

/// Writes all items by bulk requests to an engine of its own, and returns how long that took.
fn in_process(setup: &Setup, env: &Env, items: Items) -> Result<Duration> {
    let folder = folder(setup)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let engine = open(setup, env, &runtime, &folder.path().join("store"), Durability::Strict)?;
    let container = runtime.block_on(create(&engine, &definition("/customer", None), setup.partitions))?;
    let begin = env.clock.elapsed();
    runtime.block_on(async {
        let next = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..setup.connections)
            .map(|_| tokio::spawn(bulk(engine.clone(), container.clone(), items, next.clone())))
            .collect();
        for task in tasks {
            task.await??;
        }
        Ok::<_, anyhow::Error>(())
    })?;
    let took = env.clock.elapsed() - begin;
    runtime.block_on(engine.close())?;
    Ok(took)
}

/// Upserts the next items, a hundred at a time, until there are no more.
async fn bulk(
    engine: Engine,
    container: Arc<ContainerHandle>,
    items: Items,
    next: Arc<AtomicUsize>,
) -> Result<()> {
    loop {
        let first = next.fetch_add(BULK_ACTIONS, Ordering::Relaxed);
        if first >= items.count {
            return Ok(());
        }
        let operations = (first..items.count.min(first + BULK_ACTIONS)).map(|index| BulkOperation {
            partition_key: items.partition_key(index),
            action: ItemAction::Put {
                mode: WriteMode::Upsert,
                id: None,
                body: items.body(index, 0).into_bytes().into(),
                precondition: Precondition::None,
            },
        });
        let answer =
            engine.execute_bulk(&Caller::full(), &container, None, operations.collect(), true).await?;
        for result in answer.results {
            result?;
        }
    }
}

/// Lets the program import the file into a server of its own, and returns how long that took, process and all.
fn imported(setup: &Setup, env: &Env, lines: usize, file: &Path) -> Result<Duration> {
    let servers = Servers::new(setup, env)?;
    let server = servers.start("import")?;
    servers.create_container(&server)?;
    let begin = env.clock.elapsed();
    let output = Command::new(servers.launch("import").binary)
        .args(["import", "--database", DATABASE, "--container", CONTAINER, "--progress", "off"])
        .args(["--connections", &setup.connections.to_string()])
        .args(["--endpoint", &format!("http://{}/", server.address)])
        .arg(file)
        .stdin(Stdio::null())
        .output()
        .context("cannot run the importer")?;
    let took = env.clock.elapsed() - begin;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the importer ended with {}: {said}", output.status);
    let held: u64 = servers.partitions(&server)?.partitions.iter().map(|partition| partition.items).sum();
    ensure!(held == lines as u64, "the server holds {held} items of {lines}: {said}");
    servers.stop(server)?;
    Ok(took)
}
