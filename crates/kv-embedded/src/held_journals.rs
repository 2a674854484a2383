//! Gives back the blocks of journals that are not needed any more where no writer waits for it.
//!
//! The engine removes such a journal on the thread that writes, with all callers behind it, and a file system takes tens of
//! milliseconds to give back so large a file, for which its syncs wait. It does so when the file has no name any more and is
//! not open: so every journal is held open here, and what the engine has removed is given back piece by piece, on another
//! thread.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::journal;
use crate::limits::{JOURNAL_PIECE_BYTES, JOURNAL_PIECE_REST};

/// Journals that are held open, by their numbers.
#[derive(Default)]
pub(crate) struct HeldJournals(BTreeMap<u64, Held>);

struct Held {
    path: PathBuf,
    file: File,
}

impl HeldJournals {
    /// Takes hold of new journals, and gives back those that were removed. Where something stands in the way, removing them
    /// takes its time.
    pub(crate) fn look(&mut self, engine_path: &Path) {
        // Where an open file cannot be removed, holding it would keep it for ever.
        if !cfg!(unix) {
            return;
        }
        let removed = self.0.extract_if(.., |_, held| held.is_removed());
        removed.for_each(|(_, held)| held.give_back());
        for (number, path) in journal::list(engine_path).unwrap_or_default() {
            if !self.0.contains_key(&number)
                && let Ok(file) = File::options().write(true).open(&path)
            {
                self.0.insert(number, Held { path, file });
            }
        }
    }
}

impl Held {
    /// Returns whether the file has no name any more.
    fn is_removed(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| names(&metadata) == Some(0))
    }

    fn give_back(self) {
        // What a file says of itself is not enough to cut it: its folder has to say the same.
        if !matches!(self.path.try_exists(), Ok(false)) {
            return;
        }
        let mut length = self.file.metadata().map_or(0, |metadata| metadata.len());
        while length > JOURNAL_PIECE_BYTES {
            length -= JOURNAL_PIECE_BYTES;
            if self.file.set_len(length).is_err() {
                return;
            }
            std::thread::sleep(JOURNAL_PIECE_REST);
        }
    }
}

/// Returns how many names a file has, where the system says so.
#[cfg(unix)]
fn names(metadata: &std::fs::Metadata) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    Some(metadata.nlink())
}

#[cfg(not(unix))]
fn names(_: &std::fs::Metadata) -> Option<u64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn removed_journals_are_given_back_at_the_next_look() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["0.jnl", "7.jnl", "lock"] {
            std::fs::write(path(name), vec![1; 3 * JOURNAL_PIECE_BYTES as usize / 2]).unwrap();
        }
        let held_now = |held: &HeldJournals| held.0.keys().copied().collect::<Vec<_>>();
        let mut held = HeldJournals::default();
        held.look(folder.path());
        assert_eq!(held_now(&held), [0, 7]);
        let same = File::open(path("0.jnl")).unwrap();
        std::fs::remove_file(path("0.jnl")).unwrap();
        std::fs::write(path("8.jnl"), "x").unwrap();
        held.look(folder.path());
        assert_eq!(held_now(&held), [7, 8]);
        assert_eq!(same.metadata().unwrap().len(), JOURNAL_PIECE_BYTES / 2);
        // What has a name keeps its bytes.
        assert_eq!(std::fs::metadata(path("7.jnl")).unwrap().len(), 3 * JOURNAL_PIECE_BYTES / 2);
        held.look(&path("gone"));
        assert_eq!(held_now(&held), [7, 8]);
    }
}
