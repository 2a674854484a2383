//! A run: the server and its peers, loading, the workloads one after the other, and what is written in the end.
//!
//! Standard output has the table; what is said on the way goes to standard error.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, ensure};
use armilla_env::Env;
use armilla_report::number;

use crate::armilla::{self, Armilla};
use crate::catalogue::{self, Work, Workload};
use crate::drive::{self, Pace};
use crate::items::Items;
use crate::options::RunOptions;
use crate::place::Place;
use crate::plan::Plan;
use crate::result::{self, Row, RunResult};
use crate::side::{Needs, Side};
use crate::{blog, feed, page, table, time};

/// Request units a second that one physical partition serves.
const PARTITION_RU: u32 = 10_000;

/// How long everything rests before a measurement, so that work in the background of the last one ends.
const REST: Duration = Duration::from_millis(200);

/// Measures, prints the table and writes the files.
pub(crate) fn run(options: &RunOptions, env: Env) -> Result<ExitCode> {
    let items = Items::new(usize::try_from(options.items)?, options.item_bytes as usize, options.seed)?;
    // One thread is enough to keep any server on this machine busy, and takes the least from it.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")?;
    let place = Place::open(options, &env)?;
    let run = Run {
        options,
        workloads: catalogue::workloads(options),
        own: Armilla {
            client: place.client.clone(),
            database: options.database.clone(),
            throughput: throughput(options),
            seed: options.seed,
            connections: usize::from(options.connections),
            items,
        },
        result: RunResult {
            started_at: time::rfc3339(env.clock.now_ms(), 0),
            program: format!("armilla {}", env!("CARGO_PKG_VERSION")),
            settings: settings(options),
            ..RunResult::default()
        },
        env,
    };
    let measured = runtime.block_on(run.measure_and_clean_up(place.is_own()));
    // A connection that never ended would hold us up.
    runtime.shutdown_background();
    let closed = place.close();
    let result = measured?;
    closed?;
    write(options, &result)?;
    Ok(ExitCode::SUCCESS)
}

/// What is under way.
struct Run<'o> {
    options: &'o RunOptions,
    env: Env,
    workloads: Vec<Workload>,
    own: Armilla,
    result: RunResult,
}

impl Run<'_> {
    async fn measure_and_clean_up(mut self, is_own: bool) -> Result<RunResult> {
        let needs_database = self.workloads.iter().any(|workload| workload.work.needs_database());
        if needs_database {
            self.own.make_database(self.options.replace).await?;
        }
        let measured = tokio::select! {
            measured = self.measure() => measured,
            interrupted = interrupted() => Err(interrupted),
        };
        // A temporary folder goes as a whole.
        let is_kept = self.options.keep || (is_own && self.options.data_dir.is_none());
        if needs_database && !is_kept {
            let deleted = self.own.delete_database().await;
            measured?;
            deleted.context("cannot delete the database")?;
        } else {
            measured?;
        }
        Ok(self.result)
    }

    async fn measure(&mut self) -> Result<()> {
        let plans: Vec<Plan> = self.workloads.iter().filter_map(|workload| workload.work.plan()).collect();
        let mut needs = Needs::of(&plans);
        let peers = self.peers(&plans)?;
        needs.items = self.workloads.iter().any(|workload| workload.work.needs_items());
        if needs != Needs::default() {
            self.load(&self.own, needs).await?;
        }
        let described = self.own.describe().await?;
        self.result.settings.push((armilla::NAME.to_owned(), described));
        for peer in &peers {
            self.load(peer.as_ref(), Needs::of(&plans)).await?;
            let described = peer.describe().await?;
            self.result.settings.push((peer.name().to_owned(), described));
        }
        for Workload { name, work } in self.workloads.clone() {
            match work {
                Work::Plan(plan) => self.measure_plan(&name, plan, &peers).await?,
                Work::FeedDrain => {
                    self.begin(&name).await;
                    let rows = feed::drain(&self.own, &self.env, self.pace()).await?;
                    let changes = rows[0].per_second() * rows[0].items_per_operation();
                    let note = format!(
                        "{name}: an operation is a page; {} changes a second",
                        number::short(changes)
                    );
                    self.result.notes.push(note);
                    self.keep(rows, None);
                }
                Work::FeedFollow => {
                    self.begin(&name).await;
                    let rows = feed::follow(&self.own, &self.env, self.pace(), self.options.seed).await?;
                    self.keep(rows, None);
                }
                Work::Blog(version) => {
                    self.begin(&name).await;
                    let connections = usize::from(self.options.connections);
                    let (client, seed) = (&self.own.client, self.options.seed);
                    let (rows, measured) =
                        blog::measure(client, &self.env, self.pace(), connections, seed, version).await?;
                    self.keep(rows, measured.first_failure.as_deref());
                }
            }
        }
        let without = self.workloads.iter().filter(|workload| workload.work.plan().is_none());
        let without: Vec<_> = without.map(|workload| workload.name.as_str()).collect();
        if !without.is_empty() {
            for peer in &peers {
                let note = format!("without a counterpart in {}: {}", peer.name(), without.join(", "));
                self.result.notes.push(note);
            }
        }
        Ok(())
    }

    async fn begin(&self, name: &str) {
        self.env.clock.sleep(REST).await;
        tell(&format!("{name} ..."));
    }

    async fn measure_plan(&mut self, name: &str, plan: Plan, peers: &[Box<dyn Side>]) -> Result<()> {
        let mut answers: Vec<(String, u64)> = Vec::new();
        let sides: Vec<&dyn Side> =
            std::iter::once(&self.own as &dyn Side).chain(peers.iter().map(Box::as_ref)).collect();
        let mut found = Vec::new();
        for side in sides {
            self.env.clock.sleep(REST).await;
            tell(&format!("{name} on {} ...", side.name()));
            if matches!(plan, Plan::Query(_)) {
                answers.push((side.name().to_owned(), answer(side, plan).await?));
            }
            let mut workers = Vec::new();
            for number in 0..usize::from(self.options.connections) {
                workers.push(side.worker(plan, number).await?);
            }
            let measured =
                drive::drive(&self.env, self.pace(), plan.kinds().len(), workers, side.cpu_clock()).await?;
            let rows = result::rows(name, side.name(), plan.kinds(), &measured);
            if plan == Plan::Script {
                verify(side, &rows[0]).await?;
            }
            found.push((rows, measured.first_failure));
        }
        for (rows, first_failure) in found {
            self.keep(rows, first_failure.as_deref());
        }
        let is_same = answers.windows(2).all(|two| two[0].1 == two[1].1);
        ensure!(is_same, "not all sides gave as many rows to {name}: {answers:?}");
        Ok(())
    }

    /// Starts the peers that are asked for and installed.
    fn peers(&mut self, plans: &[Plan]) -> Result<Vec<Box<dyn Side>>> {
        let mut peers: Vec<Box<dyn Side>> = Vec::new();
        if self.options.postgres && !plans.is_empty() {
            match self.postgres()? {
                Some(postgres) => peers.push(postgres),
                None => {
                    self.result.notes.push("PostgreSQL is not installed here: it is left out".to_owned());
                }
            }
        }
        Ok(peers)
    }

    #[cfg(unix)]
    fn postgres(&self) -> Result<Option<Box<dyn Side>>> {
        let programs = self.options.postgres_bin.as_deref();
        let (items, seed) = (&self.own.items, self.options.seed);
        let connections = usize::from(self.options.connections);
        let postgres = crate::postgres::Postgres::start(programs, &self.env, items, seed, connections)?;
        Ok(postgres.map(|postgres| Box::new(postgres) as Box<dyn Side>))
    }

    #[cfg(not(unix))]
    fn postgres(&self) -> Result<Option<Box<dyn Side>>> {
        Ok(None)
    }

    async fn load(&self, side: &dyn Side, needs: Needs) -> Result<()> {
        let count = if needs.items { self.own.items.count() as u64 } else { 0 };
        tell(&format!("loading {} items into {} ...", number::count(count), side.name()));
        let begin = self.env.clock.elapsed();
        side.load(needs).await?;
        let took = self.env.clock.elapsed().saturating_sub(begin);
        tell(&format!("loaded in {}", number::duration(took)));
        Ok(())
    }

    fn pace(&self) -> Pace {
        Pace {
            warm_up: Duration::from_secs_f64(self.options.warm_up),
            window: Duration::from_secs_f64(self.options.seconds),
            rate: self.options.rate,
        }
    }

    fn keep(&mut self, rows: Vec<Row>, first_failure: Option<&str>) {
        // What is true of a kind of operation has been said of the whole.
        for row in rows.iter().filter(|row| row.operation.is_none()) {
            tell(&format!("  {}: {} a second", row.name(), number::short(row.per_second())));
            self.result.notes.extend(table::warnings(row, first_failure));
        }
        self.result.rows.extend(rows);
    }
}

/// Returns how many rows a side has for a query about the same item as every other side.
async fn answer(side: &dyn Side, plan: Plan) -> Result<u64> {
    let mut worker = side.worker(plan, usize::from(u16::MAX)).await?;
    worker.prepare();
    match worker.perform().await? {
        drive::Answer::Done(effort) => Ok(effort.items),
        drive::Answer::Refused { .. } => Err(anyhow!("{} has no throughput left for a query", side.name())),
    }
}

/// Checks that the counters of the workload `script` say what is there, and that nothing acknowledged is missing.
async fn verify(side: &dyn Side, row: &Row) -> Result<()> {
    let left = side.count_entries().await?;
    ensure!(
        left.entries == left.counted && left.entries >= row.operations,
        "{} acknowledged {} transactions and has {} entries, of which {} are counted",
        side.name(),
        row.operations,
        left.entries,
        left.counted
    );
    Ok(())
}

/// Waits for a signal to end.
async fn interrupted() -> anyhow::Error {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return anyhow!("stopped by a signal");
        }
    }
    let _ = tokio::signal::ctrl_c().await;
    anyhow!("stopped by a signal")
}

/// Request units a second of the container.
fn throughput(options: &RunOptions) -> u32 {
    options.throughput.unwrap_or(options.partitions.saturating_mul(PARTITION_RU))
}

/// What was set, for whoever reads the result.
fn settings(options: &RunOptions) -> Vec<(String, String)> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let rate = options.rate.map_or("none, a closed loop".to_owned(), |rate| rate.to_string());
    [
        ("cores", cores.to_string()),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("connections", options.connections.to_string()),
        ("seconds", options.seconds.to_string()),
        ("warmUp", options.warm_up.to_string()),
        ("rate", rate),
        ("readPercent", options.read_percent.to_string()),
        ("items", options.items.to_string()),
        ("itemBytes", options.item_bytes.to_string()),
        ("partitions", options.partitions.to_string()),
        ("throughput", throughput(options).to_string()),
        ("seed", options.seed.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// Prints the table and writes the files.
fn write(options: &RunOptions, result: &RunResult) -> Result<()> {
    let mut out = table::table(&result.rows).to_text();
    for note in &result.notes {
        out.push_str(note);
        out.push('\n');
    }
    print(&out);
    if let Some(path) = &options.json {
        result::write(path, result)?;
    }
    if let Some(path) = &options.report {
        std::fs::write(path, page::render(result))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Prints to standard output. That nobody reads it is no failure.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Says something to whoever started the command. That nobody reads it is no reason to stop.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
