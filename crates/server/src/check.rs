//! `armilla check`: verifies a data folder that no server uses.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use armilla_engine::{CheckReport, Engine, EngineOptions};
use armilla_env::Env;
use armilla_kv_embedded::{EmbeddedStore, Options};

use crate::data_dir::DataDir;

/// The exit code when something stored does not agree.
const EXIT_PROBLEMS: u8 = 2;

/// Reads everything in a folder and says what does not agree.
pub(crate) fn run(folder: &Path, env: Env) -> Result<ExitCode> {
    let data_dir = DataDir::open(folder)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")?;
    let report = runtime.block_on(async {
        let store = Arc::new(EmbeddedStore::open(data_dir.store(), Options::default())?);
        let engine = Engine::open(store, env, EngineOptions::default()).await?;
        let report = armilla_engine::check(&engine, &mut |place, items| {
            // Progress is for people; that nobody reads it is no reason to stop.
            let _ = writeln!(std::io::stderr(), "checking {place}: {items} items");
        })?;
        engine.close().await?;
        anyhow::Ok(report)
    })?;
    write_report(&report).context("cannot write the result")
}

fn write_report(report: &CheckReport) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    for problem in &report.problems {
        writeln!(out, "{problem}")?;
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
