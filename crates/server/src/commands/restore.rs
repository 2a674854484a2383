//! `armilla restore`: a data folder from a backup.
//!
//! The backup is verified before anything is made, and what was made is read back and compared before the folder
//! becomes one that a server takes. Progress goes to standard error, the result to standard output.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use armilla_backup::{Folder, Manifest};
use armilla_env::Env;
use armilla_kv::Store as _;
use armilla_kv_embedded::{EmbeddedStore, Options};

use crate::commands::backup::{bytes, count, read_all, tell_problems};
use crate::commands::backup_options::RestoreOptions;
use crate::commands::progress::Telling;
use crate::data_dir::{DataDir, NewDataDir};
use crate::limits::{EXIT_PROBLEMS, RESTORE_WRITE_BUFFER_BYTES};
use crate::storage::store_failure;

/// Carries out the command.
pub(crate) fn run(options: &RestoreOptions, env: &Env) -> Result<ExitCode> {
    let start = env.clock.elapsed();
    let folder = Folder::open(&options.from)?;
    let backup = folder.find(options.backup.as_deref())?.clone();
    // Before the long work, and again when it is made.
    DataDir::check_new(&options.data_dir)?;
    let mut verified = read_all(&folder, std::slice::from_ref(&backup), env)?;
    let Some(manifest) = verified.whole.pop() else {
        tell_problems(&verified)?;
        let message = format!(
            "restore: backup {} is damaged, nothing was made; `armilla backup list` shows others",
            backup.name
        );
        writeln!(std::io::stdout(), "{message}").context("cannot write the result")?;
        return Ok(ExitCode::from(EXIT_PROBLEMS));
    };
    let new = DataDir::begin_new(&options.data_dir)?;
    write(&folder, &manifest, &new, options, env).with_context(|| {
        format!(
            "the restore broke off, and {} is not complete: empty it and restore again",
            options.data_dir.display()
        )
    })?;
    new.finish()?;
    let seconds = env.clock.elapsed().saturating_sub(start).as_secs_f64();
    let (entries, content) = manifest.totals();
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "restored backup {} to {}: {} spaces, {} entries, {}, verified, in {seconds:.1} s",
        manifest.name,
        options.data_dir.display(),
        count(manifest.spaces.len() as u64),
        count(entries),
        bytes(content)
    )
    .and_then(|()| out.flush())
    .context("cannot write the result")?;
    Ok(ExitCode::SUCCESS)
}

fn write(
    folder: &Folder,
    manifest: &Manifest,
    new: &NewDataDir,
    options: &RestoreOptions,
    env: &Env,
) -> Result<()> {
    let open = || {
        let tuned = Options::with_write_buffer(RESTORE_WRITE_BUFFER_BYTES);
        EmbeddedStore::open(new.store(), tuned).map_err(|error| store_failure(&options.data_dir, &error))
    };
    let close = |store: EmbeddedStore| {
        store.close().map_err(|error| anyhow!("cannot close the new store cleanly: {error}"))
    };
    let entries_total = manifest.totals().0;
    let total = count(entries_total);
    let mut telling = Telling::new(env);
    let store = open()?;
    armilla_backup::restore(folder, manifest, &store, &mut |entries| {
        telling.tell_part(entries, entries_total, || {
            format!("restoring: {} of {total} entries", count(entries))
        });
    })?;
    close(store)?;
    // As the server is going to find it.
    let store = open()?;
    armilla_backup::compare(manifest, &store, &mut |entries| {
        telling.tell_part(entries, entries_total, || {
            format!("comparing: {} of {total} entries", count(entries))
        });
    })?;
    close(store)
}
