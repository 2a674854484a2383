//! Copies of a store's folder to look at, which leave the folder as it is.
//!
//! Sorted files never change, so a copy only links to them; what the engine may change is copied: its lists, and of the
//! journals what they hold. So a copy takes little room and time, whatever the store holds. Where links cannot be made, the
//! sorted files are copied too.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use armilla_kv::Result;
use tempfile::TempDir;

use crate::failure;
use crate::sorted;
use crate::survey::{ENGINE_FOLDER, ENGINE_MARKER, Survey};

/// Copies a folder that was found to be whole into a new one below `scratch`. Returns it with the engine's folder in it.
pub(crate) fn make(folder: &Path, scratch: &Path, survey: &Survey) -> Result<(TempDir, PathBuf)> {
    let copy = tempfile::Builder::new()
        .prefix("armilla-copy-")
        .tempdir_in(scratch)
        .map_err(|error| failure::of_file("make a folder in", scratch, &error))?;
    let engine_path = copy.path().join(ENGINE_FOLDER);
    // Links are followed from where they lie.
    let folder = std::path::absolute(folder).map_err(|error| failure::of_file("find", folder, &error))?;
    fill(&folder.join(ENGINE_FOLDER), &engine_path, survey)
        .map_err(|error| failure::of_file("copy what is needed to", copy.path(), &error))?;
    Ok((copy, engine_path))
}

fn fill(from: &Path, to: &Path, survey: &Survey) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    std::fs::copy(from.join(ENGINE_MARKER), to.join(ENGINE_MARKER))?;
    File::create(to.join("lock"))?;
    for family in &survey.families {
        let name = format!("keyspaces/{}", family.id);
        let (from, to) = (from.join(&name), to.join(&name));
        std::fs::create_dir_all(to.join("tables"))?;
        let list = format!("v{}", family.version);
        std::fs::copy(from.join("current"), to.join("current"))?;
        std::fs::copy(from.join(&list), to.join(&list))?;
        for table in &family.tables {
            link(&sorted::table_path(&from, table.id), &sorted::table_path(&to, table.id))?;
        }
    }
    for journal in &survey.journals {
        let mut from = File::open(&journal.path)?.take(journal.end);
        let mut to = File::create(to.join(format!("{}.jnl", journal.id)))?;
        std::io::copy(&mut from, &mut to)?;
        to.flush()?;
    }
    Ok(())
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::copy(from, to).map(|_| ())
}
