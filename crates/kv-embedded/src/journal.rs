//! Checks the engine's journals before the engine reads them.
//!
//! The engine takes the first bytes that it cannot read for the end of the journal and goes on without a
//! word, although whole commits may follow; if only a sum is wrong, it refuses to start, although a loss of
//! power in the middle of the last write looks just like that. So this module decides first:
//!
//! * Bytes that are no batch at the end of the newest journal are what a crash leaves behind: they are cut off.
//! * Bytes that are no batch and have whole batches behind them are damage. Every commit waited until those
//!   before it were durable, so a crash cannot leave such a hole. (With relaxed durability it can; then the
//!   journal is cut off at the hole, which takes back a suffix of the commits, as promised.)
//! * Every batch carries the number of its group ([`records::GROUP`]). A number that is missing between two
//!   others, in one journal or between two, is damage.
//!
//! What stays undetected: damage in the very last batch, which looks like a torn write, and the loss of a
//! whole tail, unless data behind it has already reached sorted files: `open` compares the group at which the
//! journals end with the newest that the sorted files know. Where no batch at all is left there is nothing to
//! compare: journals without batches are also what a clean close leaves.
//!
//! The layout of a journal is the engine's: see `reader`.
//!
//! [`records::GROUP`]: crate::records::GROUP

mod reader;

use std::fs::File;
use std::path::{Path, PathBuf};

use armilla_kv::{Durability, Error, ErrorKind, Result};

use crate::failure;
use reader::{BatchFound, JournalReader};

/// Checks all journals and cuts off what a crash left at the end of the newest. Returns the number of the last
/// group in them, or nothing if they hold none.
pub(crate) fn repair(engine_path: &Path, written_with: Durability) -> Result<Option<u64>> {
    let journals = list(engine_path)?;
    let mut newest: Option<BatchFound> = None;
    for (position, path) in journals.iter().enumerate() {
        let is_last = position + 1 == journals.len();
        check(path, is_last, written_with, &mut newest).map_err(|error| match error {
            Failure::Io(error) => failure::of_file("read the journal", path, &error),
            Failure::Damaged(how) => {
                Error::new(ErrorKind::Corrupt, format!("the journal {} is damaged: {how}", path.display()))
            }
        })?;
    }
    Ok(newest.map(|batch| batch.group))
}

/// Empties the journals of an engine whose data is all in sorted files, so that the next start reads nothing.
///
/// The engine itself would read and skip up to 64 MiB. The files must stay, or it would begin to count anew.
pub(crate) fn empty(engine_path: &Path) -> Result<()> {
    // From the oldest on: if this is interrupted, what is left is still a suffix of the history.
    list(engine_path)?.iter().try_for_each(|path| empty_one(path))
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

enum Failure {
    Io(std::io::Error),
    Damaged(String),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::Io(error)
    }
}

fn check(
    path: &Path,
    is_last: bool,
    written_with: Durability,
    newest: &mut Option<BatchFound>,
) -> std::result::Result<(), Failure> {
    let mut reader = JournalReader::open(path)?;
    while let Some(batch) = reader.next_batch(*newest)? {
        if let Some(before) = newest.filter(|before| batch.group != before.group + 1) {
            let (from, to) = (before.group, batch.group);
            return Err(Failure::Damaged(format!("group {to} follows group {from}")));
        }
        *newest = Some(batch);
    }
    let end = reader.end_of_batches();
    if reader.is_zero_from(end)? {
        return Ok(());
    }
    if !is_last {
        return Err(Failure::Damaged(format!("no batch at byte {end}, and another journal follows")));
    }
    if let Some(found) = reader.find_batch_after(end, *newest)? {
        if written_with == Durability::Strict {
            return Err(Failure::Damaged(format!("no batch at byte {end}, but one at byte {found}")));
        }
        tracing::warn!(path = %path.display(), end, found, "commits behind a hole in the journal are taken back");
    } else {
        tracing::info!(path = %path.display(), end, "an unfinished write at the end of the journal is cut off");
    }
    let file = File::options().write(true).open(path)?;
    file.set_len(end)?;
    file.sync_all()?;
    Ok(())
}

/// Returns the journals from the oldest to the newest.
fn list(engine_path: &Path) -> Result<Vec<PathBuf>> {
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
    Ok(journals.into_iter().map(|(_, path)| path).collect())
}

#[cfg(test)]
mod tests;
