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
use armilla_env::Env;
use armilla_kv::{Durability, Store};
use armilla_kv_embedded::{EmbeddedStore, Options};
use tokio::runtime::Runtime;

use crate::commands::progress::Telling;
use crate::data_dir::DataDir;
use crate::limits::{CACHE_MB, EXIT_PROBLEMS, LEASE_SECONDS};
use crate::storage::objects::{self, ObjectSettings};
use crate::storage::store_failure;

/// Reads everything in a folder and says what does not agree. Nothing in the folder is changed: its files are read as they
/// are, and then what they hold is read in a copy, which links to those that never change.
pub(crate) fn run(folder: &Path, env: Env) -> Result<ExitCode> {
    let data_dir = DataDir::look_at(folder)?;
    data_dir.check_store_is_there()?;
    if !EmbeddedStore::exists(data_dir.store()) {
        return write_report(&CheckReport::default()).context("cannot write the result");
    }
    let mut telling = Telling::new(&env);
    let findings = EmbeddedStore::inspect(data_dir.store(), &mut |file, bytes| telling.read(file, bytes))
        .map_err(|error| store_failure(folder, &error))?;
    drop(telling);
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

/// The same for what lies in an object store, which no server may have meanwhile: its lease is taken for so long.
pub(crate) fn run_on_objects(url: &str, env: &Env) -> Result<ExitCode> {
    let report = runtime()?.block_on(async {
        let settings = ObjectSettings {
            url,
            lease: Duration::from_secs(LEASE_SECONDS.into()),
            durability: Durability::Strict,
            block_cache_bytes: u64::from(CACHE_MB) * 1024 * 1024,
            disk_cache: None,
            must_exist: true,
        };
        let (store, hold) = objects::open(&settings, env).await?;
        let report = check(store, env.clone()).await;
        hold.release().await;
        report
    })?;
    write_report(&report).context("cannot write the result")
}

/// Reads everything in a store and returns what does not agree.
pub(crate) fn check_store(store: EmbeddedStore, env: Env) -> Result<CheckReport> {
    runtime()?.block_on(check(Arc::new(store), env))
}

fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")
}

async fn check(store: Arc<dyn Store>, env: Env) -> Result<CheckReport> {
    let engine = match Engine::open_at_rest(store, env.clone(), EngineOptions::default()).await {
        Ok(engine) => engine,
        Err(error) if error.kind == ErrorKind::Corrupt => return Ok(damaged(&error)),
        Err(error) => return Err(error).context("cannot open the account"),
    };
    let mut telling = Telling::new(&env);
    let report = armilla_engine::check(&engine, &mut |place, items| telling.checked(place, items));
    drop(telling);
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
