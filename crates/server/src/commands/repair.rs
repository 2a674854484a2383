//! `armilla repair`: saves what can be saved of a damaged data folder.
//!
//! What can be read goes into a new store, what that holds is checked, and then the new store takes the place of the old one,
//! which stays beside under another name. What was lost is told, one a line, by container and item where that is known.
//! A folder that is whole is left as it is.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use armilla_engine::{CheckReport, Engine, EngineOptions};
use armilla_env::Env;
use armilla_kv_embedded::{EmbeddedStore, Loss, Options, Salvaged};

use crate::commands::check::check_store;
use crate::commands::progress::Telling;
use crate::data_dir::DataDir;
use crate::limits::DAMAGED_FOLDERS_MAX;
use crate::limits::EXIT_PROBLEMS;
use crate::storage::store_failure;

/// Repairs a folder.
pub(crate) fn run(folder: &Path, env: Env) -> Result<ExitCode> {
    let mut data_dir = DataDir::open_to_repair(folder)?;
    data_dir.check_store_is_there()?;
    let (store, repaired) = (data_dir.store(), folder.join("store.repaired"));
    // What an interrupted repair left. The originals are where they were.
    if repaired.exists() {
        fs::remove_dir_all(&repaired).with_context(|| format!("cannot remove {}", repaired.display()))?;
    }
    let mut telling = Telling::new(&env);
    let salvaged = EmbeddedStore::salvage(&store, &repaired, &mut |file, bytes| telling.read(file, bytes))
        .map_err(|error| store_failure(folder, &error))?;
    drop(telling);
    let Some(salvaged) = salvaged else {
        writeln!(std::io::stdout(), "repair: {} is whole, nothing was changed", store.display())?;
        return Ok(ExitCode::SUCCESS);
    };
    let lost = rebuild(&repaired, folder, &env)?;
    let opened = EmbeddedStore::open_copy(&repaired, std::env::temp_dir(), Options::default())
        .map_err(|error| store_failure(folder, &error))?;
    let report = check_store(opened, env).context("cannot check what was saved")?;
    let originals = put_in_place(folder, &store, &repaired)?;
    data_dir.note_store()?;
    tell(&salvaged, &lost, &report, &originals).context("cannot write the result")
}

/// Puts the new store in the place of the old one. Returns where the old one is now.
fn put_in_place(folder: &Path, store: &Path, repaired: &Path) -> Result<PathBuf> {
    let free = (1..=DAMAGED_FOLDERS_MAX)
        .map(|number| folder.join(format!("store.damaged-{number}")))
        .find(|path| !path.exists());
    let Some(originals) = free else {
        bail!(
            "there are {DAMAGED_FOLDERS_MAX} folders of earlier repairs in {}: remove some",
            folder.display()
        );
    };
    fs::rename(store, &originals)
        .and_then(|()| fs::rename(repaired, store))
        .with_context(|| format!("cannot put {} in the place of {}", repaired.display(), store.display()))?;
    #[cfg(unix)]
    fs::File::open(folder)
        .and_then(|folder| folder.sync_all())
        .with_context(|| format!("cannot sync {}", folder.display()))?;
    Ok(originals)
}

/// Makes what was saved agree with itself. Returns the items that are known to be lost.
fn rebuild(repaired: &Path, folder: &Path, env: &Env) -> Result<Vec<String>> {
    let store =
        EmbeddedStore::open(repaired, Options::default()).map_err(|error| store_failure(folder, &error))?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")?;
    runtime.block_on(async {
        let engine = Engine::open_at_rest(Arc::new(store), env.clone(), EngineOptions::default())
            .await
            .context("cannot open what was saved")?;
        let mut telling = Telling::new(env);
        let lost = armilla_engine::rebuild(&engine, &mut |place, items| telling.checked(place, items));
        drop(telling);
        engine.close().await?;
        lost.context("cannot make what was saved agree with itself")
    })
}

fn tell(salvaged: &Salvaged, lost: &[String], report: &CheckReport, originals: &Path) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    for finding in &salvaged.findings {
        writeln!(out, "found: store/{finding}")?;
    }
    for loss in &salvaged.losses {
        writeln!(out, "lost: {}", described(loss))?;
    }
    for item in lost {
        writeln!(out, "lost: {}", item.replace('\n', " "))?;
    }
    for problem in &report.problems {
        writeln!(out, "does not agree any more: {}", problem.replace('\n', " "))?;
    }
    let CheckReport { databases, containers, items, .. } = report;
    let is_complete = salvaged.losses.is_empty() && lost.is_empty() && report.problems.is_empty();
    let verdict = if is_complete {
        "nothing that was readable is missing".to_owned()
    } else {
        format!(
            "{} parts of files could not be read, {} items are known to be lost, {} things do not agree",
            salvaged.losses.len(),
            lost.len(),
            report.problems.len()
        )
    };
    writeln!(
        out,
        "repair: saved {} entries: {databases} databases, {containers} containers, {items} items; {verdict}; \
         the originals are in {}",
        salvaged.entries,
        originals.display()
    )?;
    out.flush()?;
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::from(EXIT_PROBLEMS) })
}

fn described(loss: &Loss) -> String {
    let family = loss.family.map_or_else(String::new, |family| format!(" (family {family:?})"));
    let mut text = format!("store/{}{family}: {}", loss.file, loss.what);
    let key = |key: &[u8]| {
        let (space, rest) = key.split_at(key.len().min(8));
        let space = space.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        format!("{} of space {space}", rest.escape_ascii())
    };
    if let Some(after) = &loss.between.0 {
        text.push_str(&format!(", behind key {}", key(after)));
    }
    if let Some(before) = &loss.between.1 {
        text.push_str(&format!(", before key {}", key(before)));
    }
    text
}
