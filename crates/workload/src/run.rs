//! A run: the server and its peers, loading, the workloads one after the other, and what is written in the end.
//!
//! Standard output has the table; what is said on the way goes to standard error.
//!
//! Not here: one measurement (`measuring`), which there are (`measurements`).

mod measuring;

use armilla_client::Throughput;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use armilla_env::Env;
use armilla_report::number;

use crate::armilla::{self, Armilla, FOLLOWED};
use crate::catalogue::{self, Work};
use crate::circumstances::State;
use crate::items::Items;
use crate::limits::WRITE_CONNECTIONS;
use crate::measurements::{self, Measurement, measurements};
use crate::options::RunOptions;
use crate::place::Place;
use crate::plan::Plan;
use crate::queries::PostgresIndexes;
use crate::result::{self, RunResult};
use crate::side::{Needs, Side};
use crate::{page, table, time};
use measuring::{Answers, Outcome};

/// Request units a second that one physical partition serves.
const PARTITION_RU: u32 = 10_000;

/// Measures, prints the table and writes the files.
pub(crate) fn run(options: &RunOptions, env: Env) -> Result<ExitCode> {
    let items = Items::new(usize::try_from(options.items)?, options.item_bytes as usize, options.seed)?;
    // One thread is enough to keep any server on this machine busy, and takes the least from it.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")?;
    let place = Place::open(options, &env)?;
    let run = Run {
        options,
        measurements: measurements(options),
        own: Armilla {
            client: place.client.clone(),
            database: options.database.clone(),
            throughput: throughput(options),
            seed: options.seed,
            connections: connections_max(options),
            items,
        },
        answers: Answers::default(),
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
    measurements: Vec<Measurement>,
    own: Armilla,
    answers: Answers,
    result: RunResult,
}

impl Run<'_> {
    async fn measure_and_clean_up(mut self, is_own: bool) -> Result<RunResult> {
        let needs_database = self.works().any(Work::needs_database);
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
        result::put_in_order(&mut self.result.rows);
        Ok(self.result)
    }

    /// Measures what is wanted right after the load of each side, then, in turn, what is wanted later.
    async fn measure(&mut self) -> Result<()> {
        let plans: Vec<Plan> = self.works().filter_map(Work::plan).collect();
        let peers = self.peers(&plans)?;
        self.load_own(&plans).await?;
        let (first, later): (Vec<_>, Vec<_>) = self
            .measurements
            .clone()
            .into_iter()
            .partition(|measurement| measurement.turn.circumstances.state == State::Loaded);
        for measurement in &first {
            let outcome = self.measure_own(measurement).await?;
            self.keep(outcome)?;
        }
        for peer in &peers {
            // Not before, or the server would have had all the time that this takes to tidy up.
            self.load(peer.as_ref(), self.needs(&plans)).await?;
            let (described, indexes) = (peer.describe().await?, peer.indexes().await?);
            self.describe(peer.name(), described, indexes);
            for measurement in &first {
                self.measure_peer(peer.as_ref(), measurement).await?;
            }
        }
        for measurement in &later {
            self.rest(&self.own, measurement).await?.into_iter().for_each(|note| self.note(note));
            let outcome = self.measure_own(measurement).await?;
            self.keep(outcome)?;
            for peer in &peers {
                self.rest(peer.as_ref(), measurement).await?.into_iter().for_each(|note| self.note(note));
                self.measure_peer(peer.as_ref(), measurement).await?;
            }
        }
        self.say_what_was_left_out(&peers);
        table::spared(&self.result.rows).into_iter().for_each(|note| self.note(note));
        Ok(())
    }

    fn works(&self) -> impl Iterator<Item = Work> {
        self.measurements.iter().map(|measurement| measurement.workload.work)
    }

    fn needs(&self, plans: &[Plan]) -> Needs {
        let mut needs = Needs::of(plans);
        needs.items |= self
            .measurements
            .iter()
            .any(|measurement| measurement.turn.circumstances.state == State::Written);
        needs
    }

    async fn load_own(&mut self, plans: &[Plan]) -> Result<()> {
        let mut needs = self.needs(plans);
        needs.items |= self.works().any(Work::needs_items);
        if needs != Needs::default() {
            self.load(&self.own, needs).await?;
        }
        if self.works().any(|work| work == Work::FeedFollow) {
            self.own.make_container(FOLLOWED).await?;
        }
        let indexes = if needs.items { self.own.indexes().await? } else { Vec::new() };
        let described = self.own.describe().await?;
        self.describe(armilla::NAME, described, indexes);
        Ok(())
    }

    fn describe(&mut self, side: &str, described: String, indexes: Vec<String>) {
        self.result.settings.push((side.to_owned(), described));
        if !indexes.is_empty() {
            self.result.indexes.push((side.to_owned(), indexes));
        }
    }

    async fn rest(&self, side: &dyn Side, measurement: &Measurement) -> Result<Option<String>> {
        if measurement.turn.circumstances.state != State::Rested {
            return Ok(None);
        }
        tell(&format!("waiting until {} rests ...", side.name()));
        let said = side.rest(&self.env).await.with_context(|| format!("{} does not rest", side.name()))?;
        Ok(said.map(|said| format!("rested, {}: {said}", side.name())))
    }

    async fn measure_peer(&mut self, peer: &dyn Side, measurement: &Measurement) -> Result<()> {
        if let Work::Plan(plan) = measurement.workload.work {
            let outcome = self.measure_plan(peer, plan, measurement).await?;
            self.keep(outcome)?;
        }
        Ok(())
    }

    /// Starts the peers that are asked for and installed.
    fn peers(&mut self, plans: &[Plan]) -> Result<Vec<Box<dyn Side>>> {
        let mut peers: Vec<Box<dyn Side>> = Vec::new();
        let wanted = [
            (self.options.postgres, PostgresIndexes::Chosen),
            (self.options.postgres_gin, PostgresIndexes::Everything),
        ];
        for (_, indexes) in wanted.into_iter().filter(|(is_wanted, _)| *is_wanted && !plans.is_empty()) {
            match self.postgres(indexes)? {
                Some(postgres) => peers.push(postgres),
                None => self.note("PostgreSQL is not installed here: it is left out".to_owned()),
            }
        }
        Ok(peers)
    }

    #[cfg(unix)]
    fn postgres(&self, indexes: PostgresIndexes) -> Result<Option<Box<dyn Side>>> {
        let programs = self.options.postgres_bin.as_deref();
        let (items, seed) = (&self.own.items, self.options.seed);
        let connections = connections_max(self.options) + WRITE_CONNECTIONS;
        let postgres =
            crate::postgres::Postgres::start(programs, &self.env, indexes, items, seed, connections)?;
        Ok(postgres.map(|postgres| Box::new(postgres) as Box<dyn Side>))
    }

    #[cfg(not(unix))]
    fn postgres(&self, _: PostgresIndexes) -> Result<Option<Box<dyn Side>>> {
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

    fn keep(&mut self, outcome: Outcome) -> Result<()> {
        // What is true of a kind of operation has been said of the whole.
        for row in outcome.rows.iter().filter(|row| row.operation.is_none()) {
            tell(&format!("  {}: {} a second", row.name(), number::short(row.per_second())));
            let warnings = table::warnings(row, outcome.first_failure.as_deref());
            self.result.notes.extend(warnings);
        }
        outcome.note.into_iter().for_each(|note| self.note(note));
        if let (Some(answer), Some(row)) = (outcome.answer, outcome.rows.first()) {
            self.answers.compare(&row.workload, &row.side, answer)?;
        }
        self.result.rows.extend(outcome.rows);
        Ok(())
    }

    /// Adds a sentence for people, once.
    fn note(&mut self, note: String) {
        if !self.result.notes.contains(&note) {
            self.result.notes.push(note);
        }
    }

    fn say_what_was_left_out(&mut self, peers: &[Box<dyn Side>]) {
        let mut without: Vec<String> = Vec::new();
        for Measurement { workload, .. } in &self.measurements {
            if workload.work.plan().is_none() && !without.contains(&workload.name) {
                without.push(workload.name.clone());
            }
        }
        if !without.is_empty() {
            for peer in peers {
                self.note(format!("without a counterpart in {}: {}", peer.name(), without.join(", ")));
            }
        }
        if self.options.states.contains(&State::Written) {
            let workloads = catalogue::workloads(self.options);
            let left_out = workloads.iter().filter(|one| measurements::is_left_out(one.work, State::Written));
            let left_out: Vec<_> = left_out.map(|one| one.name.as_str()).collect();
            if !left_out.is_empty() {
                self.note(format!("not measured in the state written: {}", left_out.join(", ")));
            }
        }
    }
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
fn throughput(options: &RunOptions) -> Throughput {
    match options.throughput {
        Some(units) => Throughput::Manual(units),
        // Of manual throughput there would be more partitions to begin with.
        None => Throughput::Autoscale(options.partitions.saturating_mul(PARTITION_RU)),
    }
}

/// The most connections that are measured at once.
fn connections_max(options: &RunOptions) -> usize {
    usize::from(options.connections.iter().copied().max().unwrap_or(1))
}

/// What was set, for whoever reads the result.
fn settings(options: &RunOptions) -> Vec<(String, String)> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let rate = options.rate.map_or("none, a closed loop".to_owned(), |rate| rate.to_string());
    [
        ("cores", cores.to_string()),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("connections", listed(&measurements::connections(options), u16::to_string)),
        ("states", listed(&measurements::states(options), |state| state.name().to_owned())),
        ("writeRate", options.write_rate.to_string()),
        ("seconds", options.seconds.to_string()),
        ("warmUp", options.warm_up.to_string()),
        ("rate", rate),
        ("readPercent", options.read_percent.to_string()),
        ("items", options.items.to_string()),
        ("itemBytes", options.item_bytes.to_string()),
        ("partitions", options.partitions.to_string()),
        ("throughput", throughput(options).units().to_string()),
        ("seed", options.seed.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

fn listed<T>(values: &[T], text: impl Fn(&T) -> String) -> String {
    values.iter().map(text).collect::<Vec<_>>().join(",")
}

/// Prints the table and writes the files.
fn write(options: &RunOptions, result: &RunResult) -> Result<()> {
    let mut out = table::table(&result.rows).to_text();
    for line in table::index_lines(&result.indexes).iter().chain(&result.notes) {
        out.push_str(line);
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
