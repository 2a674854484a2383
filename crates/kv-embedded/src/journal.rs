//! Checks the engine's journals before the engine reads them.
//!
//! The engine takes the first bytes that it cannot read for the end of the journal and goes on without a
//! word, although whole commits may follow; if only a sum is wrong, it refuses to start, although a loss of
//! power in the middle of the last write looks just like that. So this module looks first, without changing anything:
//!
//! * Bytes that are no batch at the end of the newest journal are what a crash leaves behind, if no caller was told of
//!   what they were to be: `compare` knows that from the acknowledged mark.
//! * Bytes that are no batch and have whole batches behind them are damage. Every commit waited until those
//!   before it were durable, so a crash cannot leave such a hole. (With relaxed durability it can; then the
//!   journal is cut off at the hole, which takes back a suffix of the commits, as promised.)
//! * Every batch carries the number of its group ([`records::GROUP`]). A number that is missing between two
//!   others, in one journal or between two, is damage.
//!
//! The layout of a journal is the engine's: see `reader`.
//!
//! [`records::GROUP`]: crate::records::GROUP

mod reader;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use armilla_kv::{Durability, Error, ErrorKind, Result};

use crate::failure;
pub(crate) use reader::{BatchFound, JournalReader};

/// What a journal holds.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) id: u64,
    pub(crate) path: PathBuf,
    /// Its first and its last batch, up to the first bytes that are none.
    pub(crate) batches: Option<(BatchFound, BatchFound)>,
    /// Where the last of them ends.
    pub(crate) end: u64,
    /// The newest sequence number in them of each family, by the engine's number of the family.
    pub(crate) newest_sequences: BTreeMap<u64, u64>,
    /// What follows them.
    pub(crate) rest: Rest,
    /// What is wrong with it, whatever is known otherwise.
    pub(crate) damage: Option<String>,
}

/// What lies behind the last batch of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Nothing, or zeros.
    Nothing,
    /// Bytes that are no batch.
    Torn,
    /// Bytes that are no batch, and at this place a batch.
    Hole(u64),
}

/// Reads all journals, from the oldest to the newest.
pub(crate) fn inspect(engine_path: &Path, written_with: Durability) -> Result<Vec<Found>> {
    let journals = list(engine_path)?;
    let mut found: Vec<Found> = Vec::new();
    let mut newest: Option<BatchFound> = None;
    for (position, (id, path)) in journals.iter().enumerate() {
        let is_last = position + 1 == journals.len();
        let one = inspect_one(*id, path, is_last, written_with, newest)
            .map_err(|error| failure::of_file("read the journal", path, &error))?;
        newest = one.batches.map(|(_, last)| last).or(newest);
        found.push(one);
    }
    Ok(found)
}

fn inspect_one(
    id: u64,
    path: &Path,
    is_last: bool,
    written_with: Durability,
    mut newest: Option<BatchFound>,
) -> std::io::Result<Found> {
    let mut reader = JournalReader::open(path)?;
    let mut batches: Option<(BatchFound, BatchFound)> = None;
    let mut damage = None;
    while let Some(batch) = reader.next_batch(newest)? {
        if let Some(before) = newest.filter(|before| batch.group != before.group + 1) {
            damage.get_or_insert(format!("group {} follows group {}", batch.group, before.group));
        }
        batches = Some((batches.map_or(batch, |(first, _)| first), batch));
        newest = Some(batch);
    }
    let end = reader.end_of_batches();
    let rest = if reader.is_zero_from(end)? {
        Rest::Nothing
    } else {
        reader.find_batch_after(end, newest)?.map_or(Rest::Torn, Rest::Hole)
    };
    match rest {
        Rest::Torn if !is_last => {
            damage.get_or_insert(format!("no batch at byte {end}, and another journal follows"));
        }
        Rest::Hole(found) if written_with == Durability::Strict || !is_last => {
            damage.get_or_insert(format!("no batch at byte {end}, but one at byte {found}"));
        }
        _ => {}
    }
    let newest_sequences = reader.newest_sequences().clone();
    Ok(Found { id, path: path.to_path_buf(), batches, end, newest_sequences, rest, damage })
}

/// Cuts off what a crash left at the end of the newest journal.
pub(crate) fn cut_torn_end(journals: &[Found]) -> Result<()> {
    let Some(newest) = journals.last() else { return Ok(()) };
    let (path, end) = (newest.path.display(), newest.end);
    match newest.rest {
        Rest::Nothing => return Ok(()),
        Rest::Torn => tracing::info!(%path, end, "an unfinished write at the end of the journal is cut off"),
        Rest::Hole(found) => {
            tracing::warn!(%path, end, found, "commits behind a hole in the journal are taken back");
        }
    }
    cut(&newest.path, end)
}

/// Takes back what lies behind a group, of which no caller was told.
pub(crate) fn cut_after(engine_path: &Path, group: u64) -> Result<()> {
    for (_, path) in list(engine_path)? {
        let unreadable = |error: std::io::Error| failure::of_file("read the journal", &path, &error);
        let mut reader = JournalReader::open(&path).map_err(unreadable)?;
        let mut before = None;
        let end = loop {
            let end = reader.end_of_batches();
            match reader.next_batch(before).map_err(unreadable)? {
                Some(batch) if batch.group <= group => before = Some(batch),
                Some(_) => break Some(end),
                None => break (!reader.is_zero_from(end).map_err(unreadable)?).then_some(end),
            }
        };
        if let Some(end) = end {
            cut(&path, end)?;
        }
    }
    Ok(())
}

fn cut(path: &Path, end: u64) -> Result<()> {
    let cut = File::options().write(true).open(path).and_then(|file| {
        file.set_len(end)?;
        file.sync_all()
    });
    cut.map_err(|error| failure::of_file("cut off the end of the journal", path, &error))
}

/// Empties the journals of an engine whose data is all in sorted files, so that the next start reads nothing.
///
/// The engine itself would read and skip up to 64 MiB. The files must stay, or it would begin to count anew.
pub(crate) fn empty(engine_path: &Path) -> Result<()> {
    // From the oldest on: if this is interrupted, what is left is still a suffix of the history.
    list(engine_path)?.iter().try_for_each(|(_, path)| empty_one(path))
}

fn empty_one(path: &Path) -> Result<()> {
    let emptied = File::options().write(true).open(path).and_then(|file| {
        file.set_len(0)?;
        file.sync_all()
    });
    match emptied {
        // The engine removes journals that it needs no more, in the background: this one is emptier than empty.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        emptied => emptied.map_err(|error| failure::of_file("empty the journal", path, &error)),
    }
}

/// Returns the journals with their numbers, from the oldest to the newest.
pub(crate) fn list(engine_path: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let unreadable = |error: std::io::Error| failure::of_file("list", engine_path, &error);
    let mut journals = Vec::new();
    for entry in std::fs::read_dir(engine_path).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "jnl") {
            let number =
                path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse::<u64>().ok());
            let Some(number) = number else {
                let message = format!("{} is not the name of a journal", path.display());
                return Err(Error::new(ErrorKind::Corrupt, message));
            };
            journals.push((number, path));
        }
    }
    journals.sort_unstable();
    Ok(journals)
}

#[cfg(test)]
mod tests;
