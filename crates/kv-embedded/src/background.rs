//! What happens behind everybody's back: memory is written to sorted files, and sorted files are merged.
//!
//! One thread writes what is full, runs of index entries and memtables of the families; others merge, and stand back behind
//! whatever callers wait for. The engine has workers for both, of which one turns in a busy loop while the others have more
//! than enough to do, and none can be told what matters more. So it has a single one here, which turns over the journal
//! (`Writer::seal`).
//!
//! Threads hold the engine for one piece of work at a time, so that it can be replaced.

use std::cmp::Reverse;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use armilla_kv::{Error, ErrorKind, Result};
use fjall::compaction::Leveled;
use fjall::{AbstractTree, Keyspace};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::engine::Engine;
use crate::failure;
use crate::limits::{LEVEL_1_BYTES, MERGE_REST_PERIOD, MERGE_SMALL_BYTES, MERGED_BELOW_MAX, MERGED_FILES};
use crate::priority::stand_back;
use crate::runs::SealedRun;
use crate::shared::Shared;

/// What is to be done.
#[derive(Default)]
pub(crate) struct Background {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    /// The run that is to be landed.
    run: Option<(Arc<Engine>, Arc<SealedRun>)>,
    /// Whether there are sealed memtables.
    has_memtables: bool,
    /// Whether something is being written.
    is_writing: bool,
    /// Grows with every sorted file that comes.
    files: u64,
    /// Threads that merge.
    merging: u64,
    /// Why something could not be written or merged.
    failure: Option<String>,
    stopping: bool,
}

/// What is written next.
enum Next {
    Run(Arc<Engine>, Arc<SealedRun>),
    Memtables,
}

impl Background {
    /// Takes on a run.
    pub(crate) fn land(&self, engine: Arc<Engine>, run: Arc<SealedRun>) {
        self.lock().run = Some((engine, run));
        self.changed.notify_all();
    }

    /// Says that memtables were sealed.
    pub(crate) fn expect_memtables(&self) {
        self.lock().has_memtables = true;
        self.changed.notify_all();
    }

    /// Says that there may be files to be merged.
    pub(crate) fn expect_files(&self) {
        self.lock().files += 1;
        self.changed.notify_all();
    }

    /// Forgets everything about an engine that is to be replaced.
    pub(crate) fn clear(&self) {
        let mut inner = self.lock();
        let run = inner.run.take();
        inner.failure = None;
        drop(inner);
        // Outside the lock: the last reference to an engine ends it.
        drop(run);
    }

    /// Says why something could not be written or merged, once.
    pub(crate) fn take_failure(&self) -> Option<String> {
        self.lock().failure.take()
    }

    /// Returns how many pieces of work are under way or waiting.
    pub(crate) fn jobs(&self) -> u64 {
        let inner = self.lock();
        let writes = inner.is_writing || inner.has_memtables || inner.run.is_some();
        u64::from(writes) + inner.merging
    }

    /// Ends the threads once what they do is done.
    pub(crate) fn stop(&self) {
        self.lock().stopping = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    fn next(&self) -> Option<Next> {
        let mut inner = self.lock();
        inner.is_writing = false;
        loop {
            if inner.stopping {
                return None;
            }
            let memtables = std::mem::take(&mut inner.has_memtables).then_some(Next::Memtables);
            // Memtables first: the journal is not given back before they are written.
            if let Some(next) =
                memtables.or_else(|| inner.run.take().map(|(engine, run)| Next::Run(engine, run)))
            {
                inner.is_writing = true;
                return Some(next);
            }
            self.changed.wait(&mut inner);
        }
    }

    fn note(&self, outcome: Result<()>) {
        let mut inner = self.lock();
        match outcome {
            Ok(()) => inner.files += 1,
            Err(error) => inner.failure = Some(error.to_string()),
        }
        drop(inner);
        self.changed.notify_all();
    }

    /// Waits until there are more files than were seen before, for a while if that is said. Nothing when it is time to stop.
    fn next_merge(&self, seen: &mut u64, patience: Option<Duration>) -> Option<Merging> {
        let mut inner = self.lock();
        let is_waiting = |inner: &mut Inner| inner.files == *seen && !inner.stopping;
        match patience {
            None => self.changed.wait_while(&mut inner, is_waiting),
            Some(patience) => {
                self.changed.wait_while_for(&mut inner, is_waiting, patience);
            }
        }
        if inner.stopping {
            return None;
        }
        inner.merging += 1;
        let is_new = std::mem::replace(seen, inner.files) != inner.files;
        Some(if is_new { Merging::Needed } else { Merging::Everything })
    }
}

/// What is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Merging {
    /// What the engine's strategy asks for.
    Needed,
    /// Whatever makes reading cheaper: there is nothing else to do.
    Everything,
}

/// Writes what is full until told to stop.
pub(crate) fn run_writing(shared: &Shared) {
    while let Some(next) = shared.background.next() {
        let outcome = caught(|| match next {
            Next::Run(engine, run) => run.land(&engine),
            Next::Memtables => match shared.view.engine() {
                Some(engine) => {
                    engine.keyspaces.iter().try_for_each(|keyspace| write_memtables(&engine, keyspace))
                }
                None => Ok(()),
            },
        });
        shared.background.note(outcome);
        shared.replaced.expect_news();
        shared.watch.expect_news();
    }
}

/// Works. The engine asserts in places where damaged files can lead it: a thread that died of that would be missed only by
/// the writers that wait for it, for ever.
fn caught(work: impl FnOnce() -> Result<()>) -> Result<()> {
    let died = |_| Err(Error::new(ErrorKind::Corrupt, "the engine gave up on its files"));
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(died)
}

/// Writes the sealed memtables of a keyspace.
pub(crate) fn write_memtables(engine: &Engine, keyspace: &Keyspace) -> Result<()> {
    let lock = keyspace.tree.get_flush_lock();
    let written = keyspace.tree.flush(&lock, engine.oldest_needed());
    written.map(|_| ()).map_err(|error| failure::of_background(&error.into()))
}

/// Merges sorted files until told to stop. One of the threads merges more than needed in a pause of everybody else.
pub(crate) fn run_merging(shared: &Shared, merges_in_pauses: bool) {
    stand_back();
    let commits = || shared.counters.commits.load(Ordering::Relaxed);
    let (mut seen, mut has_rested, mut commits_before) = (0, false, 0);
    loop {
        let patience = (merges_in_pauses && !has_rested).then_some(MERGE_REST_PERIOD);
        let Some(merging) = shared.background.next_merge(&mut seen, patience) else { return };
        let is_pause = std::mem::replace(&mut commits_before, commits()) == commits_before;
        let outcome = match merging {
            Merging::Everything if !is_pause => Ok(()),
            merging => {
                has_rested = merging == Merging::Everything;
                caught(|| merge_all(shared, merging))
            }
        };
        let mut inner = shared.background.lock();
        inner.merging -= 1;
        if let Err(error) = outcome {
            inner.failure = Some(error.to_string());
        }
    }
}

/// Merges until there is nothing to be merged: first the family that is the nearest to holding writers back.
fn merge_all(shared: &Shared, merging: Merging) -> Result<()> {
    while let Some(engine) = shared.view.engine().filter(|engine| !engine.is_retired()) {
        let mut keyspaces: Vec<&Keyspace> = engine.keyspaces.iter().collect();
        keyspaces.sort_by_key(|keyspace| Reverse(keyspace.tree.l0_run_count()));
        let mut is_merged = false;
        for keyspace in keyspaces {
            if shared.background.is_stopping() || engine.is_retired() {
                return Ok(());
            }
            is_merged = merge(&engine, keyspace, merging)?;
            if is_merged {
                break;
            }
        }
        if !is_merged {
            return Ok(());
        }
        shared.replaced.expect_news();
        shared.watch.expect_news();
    }
    Ok(())
}

/// Merges some sorted files of a keyspace. Returns whether there were any to be merged.
fn merge(engine: &Engine, keyspace: &Keyspace, merging: Merging) -> Result<bool> {
    let before = keyspace.tree.current_version().id();
    let strategy = match merging {
        Merging::Needed => Arc::new(needed(keyspace)),
        Merging::Everything => {
            let runs_min = if keyspace.disk_space() <= MERGE_SMALL_BYTES { 1 } else { 2 };
            if keyspace.tree.l0_run_count() < runs_min {
                return Ok(false);
            }
            Arc::new(Leveled::default().with_l0_threshold(1))
        }
    };
    let merged = keyspace.tree.compact(strategy, engine.oldest_needed());
    merged.map_err(|error| failure::of_background(&error.into()))?;
    Ok(keyspace.tree.current_version().id() != before)
}

/// Returns when files are merged while there is other work: once there are a few in level 0, or more where the level below
/// is large. All of that level is written anew each time, so that a few small files would cost many times their size.
fn needed(keyspace: &Keyspace) -> Leveled {
    let version = keyspace.tree.current_version();
    let mut levels = version.iter_levels();
    let (bytes, files) = levels.next().map_or((0, 0), |level| (level.size(), level.table_count() as u64));
    let below = levels.map(|level| level.size()).find(|bytes| *bytes > 0).unwrap_or(0);
    let file_bytes = (bytes / files.max(1)).max(1);
    let files = (below / (MERGED_BELOW_MAX * file_bytes)).clamp(MERGED_FILES.0, MERGED_FILES.1);
    // The engine takes the product of both for the size of the level below.
    Leveled::default().with_l0_threshold(files as u8).with_table_target_size(LEVEL_1_BYTES / files)
}

#[cfg(test)]
mod tests {
    use armilla_kv::{Batch, Family, SpaceId, Store as _, block_on};

    use super::*;
    use crate::options::Options;
    use crate::store::EmbeddedStore;

    const WRITE_BUFFER_BYTES: u64 = 1024 * 1024;

    #[test]
    fn work_that_dies_has_failed() {
        let damaged = || -> Result<()> { panic!("assertion of the engine") };
        assert_eq!(caught(damaged).unwrap_err().kind(), ErrorKind::Corrupt);
        assert!(caught(|| Ok(())).is_ok());
    }

    /// Readers would look into every one of them.
    #[test]
    fn a_pause_leaves_one_run_of_sorted_files() {
        let folder = tempfile::tempdir().unwrap();
        let store =
            EmbeddedStore::open(folder.path(), Options::with_write_buffer(WRITE_BUFFER_BYTES)).unwrap();
        let space = store.open_space(SpaceId(1)).unwrap();
        for number in 0..60_u64 {
            let mut batch = Batch::new();
            batch.put(
                Family::Item,
                number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes().to_vec(),
                vec![1; 50_000],
            );
            for term in 0..500_u64 {
                let key = (number * 500 + term).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                batch.put(Family::Index, [&[7; 24][..], &key.to_be_bytes()].concat(), "");
            }
            block_on(space.commit(batch)).unwrap();
        }
        let engine = store.shared().view.engine().unwrap();
        let runs = || -> Vec<usize> {
            let families = [Family::Item, Family::Index].map(|family| engine.family(family));
            families.iter().map(|keyspace| keyspace.tree.l0_run_count()).collect()
        };
        let has_files =
            || [Family::Item, Family::Index].map(|family| engine.family(family).tree.table_count() > 0);
        for _ in 0..1_500 {
            if runs().iter().all(|count| *count == 0)
                && has_files() == [true; 2]
                && store.stats().background_jobs == 0
            {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{:?} runs are left in level 0, files: {:?}", runs(), has_files());
    }
}
