//! `armilla check`: verifies a data folder that no server uses.
//!
//! Progress goes to standard error; problems, one per line, and the summary go to standard output.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use armilla_engine::{CheckReport, Engine, EngineOptions, ErrorKind};
use armilla_env::Env;
use armilla_kv_embedded::{EmbeddedStore, Options};

use crate::data_dir::DataDir;
use crate::limits::PROGRESS_PERIOD;
use crate::storage::store_failure;

/// The exit code when something stored does not agree.
const EXIT_PROBLEMS: u8 = 2;

/// Reads everything in a folder and says what does not agree.
pub(crate) fn run(folder: &Path, env: Env) -> Result<ExitCode> {
    let data_dir = DataDir::open(folder)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")?;
    let report = runtime.block_on(check(folder, &data_dir, env))?;
    write_report(&report).context("cannot write the result")
}

async fn check(folder: &Path, data_dir: &DataDir, env: Env) -> Result<CheckReport> {
    let store = match EmbeddedStore::open(data_dir.store(), Options::default()) {
        Ok(store) => Arc::new(store),
        Err(error) if error.kind() == armilla_kv::ErrorKind::Corrupt => return Ok(damaged(&error)),
        Err(error) => return Err(store_failure(folder, &error)),
    };
    let engine = match Engine::open_at_rest(store, env.clone(), EngineOptions::default()).await {
        Ok(engine) => engine,
        Err(error) if error.kind == ErrorKind::Corrupt => return Ok(damaged(&error)),
        Err(error) => return Err(error).context("cannot open the account"),
    };
    let mut shown = None;
    let report = armilla_engine::check(&engine, &mut |place, items| {
        let now = env.clock.elapsed();
        if shown.is_none_or(|shown| now - shown >= PROGRESS_PERIOD) {
            shown = Some(now);
            // Progress is for people; that nobody reads it is no reason to stop.
            let _ = writeln!(std::io::stderr(), "checking {place}: {items} items");
        }
    });
    engine.close().await?;
    report.context("the check broke off")
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
