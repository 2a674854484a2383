//! `armilla check`: verifies a data folder that no server uses.
//!
//! Progress goes to standard error; problems, one per line, and the summary go to standard output.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use armilla_engine::{CheckReport, Engine, EngineOptions, ErrorKind};
use armilla_env::{Clock, Env};
use armilla_kv_embedded::{EmbeddedStore, Options};

use crate::data_dir::DataDir;
use crate::limits::{EXIT_PROBLEMS, PROGRESS_PERIOD};
use crate::storage::store_failure;

/// Reads everything in a folder and says what does not agree. Nothing in the folder is changed: its files are read as they
/// are, and then what they hold is read in a copy, which links to those that never change.
pub(crate) fn run(folder: &Path, env: Env) -> Result<ExitCode> {
    let data_dir = DataDir::look_at(folder)?;
    data_dir.check_store_is_there()?;
    if !EmbeddedStore::exists(data_dir.store()) {
        return write_report(&CheckReport::default()).context("cannot write the result");
    }
    let mut progress = Progress::new(&env);
    let findings = EmbeddedStore::inspect(data_dir.store(), &mut |file, bytes| progress.read(file, bytes))
        .map_err(|error| store_failure(folder, &error))?;
    if !findings.is_empty() {
        let problems = findings.iter().map(|finding| format!("store/{finding}")).collect();
        return write_report(&CheckReport { problems, ..CheckReport::default() })
            .context("cannot write the result");
    }
    let scratch = std::env::temp_dir();
    let report = match EmbeddedStore::open_copy(data_dir.store(), scratch, Options::default()) {
        Ok(store) => check_store(store, env)?,
        Err(error) if error.kind() == armilla_kv::ErrorKind::Corrupt => damaged(&error),
        Err(error) => return Err(store_failure(folder, &error)),
    };
    write_report(&report).context("cannot write the result")
}

/// Reads everything in a store and returns what does not agree.
pub(crate) fn check_store(store: EmbeddedStore, env: Env) -> Result<CheckReport> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")?;
    runtime.block_on(check(store, env))
}

async fn check(store: EmbeddedStore, env: Env) -> Result<CheckReport> {
    let engine = match Engine::open_at_rest(Arc::new(store), env.clone(), EngineOptions::default()).await {
        Ok(engine) => engine,
        Err(error) if error.kind == ErrorKind::Corrupt => return Ok(damaged(&error)),
        Err(error) => return Err(error).context("cannot open the account"),
    };
    let mut progress = Progress::new(&env);
    let report = armilla_engine::check(&engine, &mut |place, items| progress.checked(place, items));
    engine.close().await?;
    report.context("the check broke off")
}

/// Tells people how far a check is. That nobody reads it is no reason to stop.
pub(crate) struct Progress {
    clock: Arc<dyn Clock>,
    shown: Option<Duration>,
    bytes: u64,
}

impl Progress {
    pub(crate) fn new(env: &Env) -> Progress {
        Progress { clock: env.clock.clone(), shown: None, bytes: 0 }
    }

    /// So many more bytes were read, these of a file.
    pub(crate) fn read(&mut self, file: &str, bytes: u64) {
        self.bytes += bytes;
        let read = self.bytes;
        self.show(|| format!("reading {file}: {read} bytes so far"));
    }

    /// So many items were checked somewhere.
    pub(crate) fn checked(&mut self, place: &str, items: u64) {
        self.show(|| format!("checking {place}: {items} items"));
    }

    fn show(&mut self, line: impl FnOnce() -> String) {
        let now = self.clock.elapsed();
        if self.shown.is_none_or(|shown| now - shown >= PROGRESS_PERIOD) {
            self.shown = Some(now);
            let _ = writeln!(std::io::stderr(), "{}", line());
        }
    }
}

/// Data that cannot even be opened is a finding: it is what a check is for.
fn damaged(error: &dyn std::error::Error) -> CheckReport {
    CheckReport { problems: vec![error.to_string()], ..CheckReport::default() }
}

fn write_report(report: &CheckReport) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    for problem in &report.problems {
        writeln!(out, "{}", problem.replace('\n', " "))?;
    }
    let CheckReport { databases, containers, partitions, items, bytes, problems } = report;
    let verdict = match problems.len() {
        0 => "OK".to_owned(),
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    };
    writeln!(
        out,
        "check: {databases} databases, {containers} containers, {partitions} partitions, {items} items, \
         {bytes} bytes: {verdict}"
    )?;
    out.flush()?;
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_PROBLEMS) })
}
