//! `armilla import`: a file's records into a container.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use armilla_client::{Client, Router, Session, Throughput};
use armilla_env::Env;
use armilla_value::{Object, Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use crate::groups::{Entry, Groups, Request};
use crate::limits::{
    FILL_WAIT, HANDFULS_WAITING_MAX, RECORDS_AT_ONCE, RECORDS_AT_ONCE_BYTES, REQUESTS_WAITING_MAX,
    STATE_PERIOD, THROTTLE_PATIENCE,
};
use crate::options::{ImportOptions, check};
use crate::progress::{Step, progress};
use crate::records::{Content, Record, Source};
use crate::rejects::{Reject, Rejects};
use crate::sending::{Board, Counts, Sending, SharedBoard};
use crate::shape::{Item, Rejected, Shape};
use crate::state::State;
use crate::tracker::{Position, Tracker};
use crate::{input, records};

/// The exit code of an import that rejected records.
const SOME_REJECTED: u8 = 2;

/// Imports, and tells what became of the records.
pub fn import(options: &ImportOptions, env: Env) -> Result<ExitCode> {
    check(options)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    let (summary, ended) = runtime.block_on(async {
        let mut import = Import::prepare(options, env).await?;
        let ended = import.run().await;
        Ok::<_, Error>((import.summary(), ended))
    })?;
    runtime.shutdown_background();
    match ended {
        Ok(()) => {
            let _ = writeln!(std::io::stdout(), "{}", summary.text());
            Ok(if summary.counts.rejected == 0 { ExitCode::SUCCESS } else { ExitCode::from(SOME_REJECTED) })
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "armilla: before it stopped: {}", summary.text());
            Err(error)
        }
    }
}

/// What became of all records.
struct Summary {
    read: u64,
    skipped: u64,
    counts: Counts,
}

impl Summary {
    fn text(&self) -> String {
        let Summary { read, skipped, counts } = self;
        let Counts { created, replaced, there_already, rejected, .. } = counts;
        let imported = counts.imported();
        let mut text = format!(
            "read {read} records: imported {imported} (created {created}, replaced {replaced}, there already \
             {there_already}), rejected {rejected}, skipped {skipped}"
        );
        let open = read.saturating_sub(imported + rejected + skipped);
        if open > 0 {
            text.push_str(&format!(", not done {open}"));
        }
        text
    }
}

/// A record that was looked at.
struct Prepared {
    number: u64,
    line: u64,
    /// The position behind it.
    behind: Position,
    /// The index of its range and the item, or why it is none.
    outcome: Result<(usize, Item), Rejected>,
}

/// What the reading thread hands on.
enum Handful {
    Records(Vec<Prepared>),
    /// So many records were done by an earlier run.
    Skipped(u64),
    Failed(Error),
}

/// An import that is under way.
struct Import<'o> {
    options: &'o ImportOptions,
    env: Env,
    board: SharedBoard,
    handfuls: Receiver<Handful>,
    connections: Vec<(Sender<Request>, JoinHandle<Result<()>>)>,
    groups: Groups,
    progress: armilla_report::Progress,
    state: Option<PathBuf>,
    kept: Position,
    bytes_read: Arc<AtomicU64>,
    bytes: Option<u64>,
    start: Duration,
    read: u64,
    skipped: u64,
}

impl<'o> Import<'o> {
    /// Makes sure that everything is there, and starts reading.
    async fn prepare(options: &'o ImportOptions, env: Env) -> Result<Import<'o>> {
        let client = Client::new(&options.server, env.clone())?;
        let mut session = client.session().patience(THROTTLE_PATIENCE);
        if !options.create.is_empty() {
            create(&mut session, options).await?;
        }
        let router =
            Router::of(&mut session, &options.database, &options.container).await.map_err(|failure| {
                if failure.is(404) {
                    anyhow!(
                        "there is no container {} in a database {}: --create PATH makes it",
                        options.container,
                        options.database
                    )
                } else {
                    failure.into()
                }
            })?;
        let state = match &options.resume {
            Some(path) => State::read(path, &options.database, &options.container)?,
            None => None,
        };
        let from = state.map(|state| state.position).unwrap_or_default();
        let opened = input::open(&options.file, options.gzip)?;
        let source = records::open(opened.bytes, &options.file, options.format, options.delimiter)?;
        let shape = Shape::new(
            router.rule().clone(),
            options.id_from.clone(),
            options.partition_key_from.clone(),
            options.infer,
            options.delimiter,
            source.columns(),
        )?;
        let rejects = Rejects::open(options.rejects.as_deref(), from.records)?;
        let board =
            SharedBoard::new(Board { tracker: Tracker::new(from), rejects, counts: Counts::default() });
        let ranges = router.ranges().len();
        let (sender, handfuls) = channel(HANDFULS_WAITING_MAX);
        std::thread::spawn(move || read(source, &shape, &router, from, &sender));
        let mut connections = Vec::new();
        for _ in 0..options.connections {
            let sending = Sending {
                session: client.session().patience(THROTTLE_PATIENCE),
                env: env.clone(),
                database: options.database.clone(),
                container: options.container.clone(),
                mode: options.mode,
                board: board.clone(),
            };
            let (sender, requests) = channel(REQUESTS_WAITING_MAX);
            connections.push((sender, tokio::spawn(sending.run(requests))));
        }
        Ok(Import {
            options,
            board,
            handfuls,
            groups: Groups::new(connections.len(), ranges),
            connections,
            progress: progress(options.progress),
            state: options.resume.clone(),
            kept: from,
            bytes_read: opened.read,
            bytes: opened.length,
            start: env.clock.elapsed(),
            read: 0,
            skipped: 0,
            env,
        })
    }

    /// Imports everything, and keeps how far it came however it ends.
    async fn run(&mut self) -> Result<()> {
        let dispatched = self.dispatch().await;
        let mut ended = Ok(());
        for (sender, connection) in self.connections.drain(..) {
            drop(sender);
            let joined = connection.await.context("a connection broke off").and_then(|ended| ended);
            ended = ended.and(joined);
        }
        let step = self.step();
        self.progress.finish(&step.shown("imported"));
        // What a connection says is why nothing more could be handed to it.
        let ended = match (ended, dispatched) {
            (Err(error), _) | (Ok(()), Err(error)) => Err(error),
            (Ok(()), Ok(())) => Ok(()),
        };
        let kept = self.keep();
        ended.and(kept)
    }

    async fn dispatch(&mut self) -> Result<()> {
        let mut full = Vec::new();
        let mut state_at = self.start;
        let clock = self.env.clock.clone();
        loop {
            let handful = tokio::select! {
                handful = self.handfuls.recv() => handful,
                () = clock.sleep(FILL_WAIT) => {
                    // Nothing comes for a while: what there is need not wait.
                    self.groups.take_all(&mut full);
                    Some(Handful::Records(Vec::new()))
                }
            };
            match handful {
                Some(Handful::Records(records)) => self.take(records, &mut full)?,
                Some(Handful::Skipped(count)) => {
                    self.skipped = count;
                    self.read += count;
                }
                Some(Handful::Failed(error)) => {
                    // Everything before it counts.
                    self.groups.take_all(&mut full);
                    self.hand_out(&mut full).await?;
                    return Err(error);
                }
                None => {
                    self.groups.take_all(&mut full);
                    return self.hand_out(&mut full).await;
                }
            }
            self.hand_out(&mut full).await?;
            let now = clock.elapsed();
            if now.saturating_sub(state_at) >= STATE_PERIOD {
                state_at = now;
                tokio::task::block_in_place(|| self.keep())?;
            }
            let step = self.step();
            self.progress.show(now, || step.shown("imported"));
        }
    }

    /// Takes records on.
    fn take(&mut self, records: Vec<Prepared>, full: &mut Vec<Request>) -> Result<()> {
        self.read += records.len() as u64;
        let mut board = self.board.lock();
        for Prepared { number, line, behind, outcome } in records {
            board.tracker.begin(behind);
            match outcome {
                Ok((range, item)) => self.groups.push(range, Entry { number, line, item }, full),
                Err(Rejected { why, text }) => {
                    board.reject(&Reject { record: number, line, why: &why, status: None, text: &text })?;
                }
            }
        }
        Ok(())
    }

    async fn hand_out(&self, full: &mut Vec<Request>) -> Result<()> {
        for request in full.drain(..) {
            let (connection, _) = &self.connections[request.connection];
            if connection.send(request).await.is_err() {
                bail!("a connection broke off");
            }
        }
        Ok(())
    }

    /// Keeps how far it is, if that is further than before.
    fn keep(&mut self) -> Result<()> {
        let mut board = self.board.lock();
        let position = board.tracker.done();
        // First what was rejected before the position, then the position.
        board.rejects.sync()?;
        drop(board);
        if let Some(path) = &self.state
            && (position != self.kept || !path.exists())
        {
            let ImportOptions { database, container, .. } = self.options;
            let state = State { database: database.clone(), container: container.clone(), position };
            state.write(path)?;
            self.kept = position;
        }
        Ok(())
    }

    fn step(&self) -> Step {
        let items = self.board.lock().counts.imported();
        let read = self.bytes_read.load(Ordering::Relaxed) as f64;
        let part = self.bytes.filter(|bytes| *bytes > 0).map(|bytes| read / bytes as f64);
        let elapsed = self.env.clock.elapsed().saturating_sub(self.start);
        Step { items, part, elapsed }
    }

    fn summary(&self) -> Summary {
        Summary { read: self.read, skipped: self.skipped, counts: self.board.lock().counts }
    }
}

/// Makes the database and the container, unless they are there.
async fn create(session: &mut Session, options: &ImportOptions) -> Result<()> {
    session.create_database(&options.database).await?;
    let mut key = Object::default();
    let paths = options.create.iter().map(|path| Value::String(path.clone())).collect();
    key.insert("paths", Value::Array(paths));
    key.insert("kind", if options.create.len() > 1 { "MultiHash" } else { "Hash" });
    key.insert("version", 2);
    let mut definition = Object::default();
    definition.insert("id", options.container.as_str());
    definition.insert("partitionKey", Value::Object(key));
    let throughput = options.throughput.map(Throughput::Manual);
    let definition = json::to_string(&Value::Object(definition));
    session.create_container(&options.database, definition, throughput).await?;
    Ok(())
}

/// Reads records and hands them on, until there are no more or nobody takes them.
fn read(
    mut source: Box<dyn Source>,
    shape: &Shape,
    router: &Router,
    from: Position,
    sender: &Sender<Handful>,
) {
    let read = read_all(source.as_mut(), shape, router, from, sender);
    if let Err(error) = read {
        // Whoever does not take it has a reason of its own to stop.
        let _ = sender.blocking_send(Handful::Failed(error));
    }
}

fn read_all(
    source: &mut dyn Source,
    shape: &Shape,
    router: &Router,
    from: Position,
    sender: &Sender<Handful>,
) -> Result<()> {
    let mut at = Position::default();
    while at.records < from.records {
        let record = source.next()?;
        let record = record.with_context(|| {
            format!(
                "the input has {} records, but {} were done already: it is another one",
                at.records, from.records
            )
        })?;
        at = at.behind(bytes(&record));
    }
    ensure!(
        at.fingerprint == from.fingerprint,
        "the first {} records of the input are not those that were done already: it is another one",
        from.records
    );
    if from.records > 0 && sender.blocking_send(Handful::Skipped(from.records)).is_err() {
        return Ok(());
    }
    let mut records = Vec::with_capacity(RECORDS_AT_ONCE);
    let mut length = 0;
    let mut failure = None;
    loop {
        let record = match source.next() {
            Ok(record) => record,
            Err(error) => {
                failure = Some(error);
                None
            }
        };
        let is_end = record.is_none();
        if let Some(record) = record {
            at = at.behind(bytes(&record));
            length += bytes(&record).len();
            let line = record.line;
            let outcome = shape.item(at.records, record).map(|item| (router.index_of(&item.key), item));
            records.push(Prepared { number: at.records, line, behind: at, outcome });
        }
        if is_end || records.len() == RECORDS_AT_ONCE || length >= RECORDS_AT_ONCE_BYTES {
            length = 0;
            let handful = std::mem::replace(&mut records, Vec::with_capacity(RECORDS_AT_ONCE));
            if sender.blocking_send(Handful::Records(handful)).is_err() {
                return Ok(());
            }
        }
        if is_end {
            return failure.map_or(Ok(()), Err);
        }
    }
}

/// What a record is known by.
fn bytes(record: &Record) -> &[u8] {
    match &record.content {
        Content::Json(text) | Content::Unusable { text, .. } => text,
        Content::Row(row) => row.as_slice(),
    }
}

/// Whether a path stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_add_up() {
        let counts = Counts { created: 5, replaced: 3, there_already: 2, rejected: 4, throttled: 9 };
        assert_eq!(
            Summary { read: 21, skipped: 7, counts }.text(),
            "read 21 records: imported 10 (created 5, replaced 3, there already 2), rejected 4, skipped 7"
        );
        assert!(Summary { read: 22, skipped: 7, counts }.text().ends_with("skipped 7, not done 1"));
    }
}
