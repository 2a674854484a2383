//! Deletes files that compaction has replaced, and journals, where no reader or writer waits for it.
//!
//! The engine keeps a list of versions, each with the files of one family at some moment, for the snapshots that may
//! read them. It forgets old versions while it holds the lock that every reader and the writer need, and the files that
//! nothing else refers to are deleted there and then: after a snapshot of minutes, that of a split for one, these were
//! hundreds, and all readers and the writer stood still for seconds.
//!
//! So this module takes hold of every version it sees. It lets the engine forget the old ones, few at a time, while it
//! still has them itself, and only then lets go of them, on a thread of its own.
//!
//! Invariant: what is let go of here the engine has forgotten before, so no file is deleted under its lock; except
//! those that came and went between two looks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fjall::{AbstractTree, Keyspace};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::engine::Engine;
use crate::failure;
use crate::held_journals::HeldJournals;
use crate::limits::{REPLACED_POLL_MAX, REPLACED_POLL_MIN, REPLACED_REST_MAX, REPLACED_VERSIONS_PER_STEP};
use crate::options::{KEYSPACES, RECORDS};
use crate::shared::Shared;
use crate::time::now;

/// Tells the thread when to look.
#[derive(Default)]
pub(crate) struct Replaced {
    inner: Mutex<Inner>,
    changed: Condvar,
    /// Versions that are to be forgotten, of families that callers write.
    waiting: AtomicUsize,
}

#[derive(Default)]
struct Inner {
    /// The engine has begun work that will replace files.
    has_news: bool,
    stopping: bool,
}

/// The versions of one family, oldest first.
#[derive(Default)]
struct Seen(VecDeque<Version>);

/// What was seen of an instance of the engine.
struct SeenOf {
    families: [Seen; KEYSPACES],
    // Behind the versions, so that it goes after them: the thread that replaces the instance waits for this.
    engine: Arc<Engine>,
}

struct Version {
    id: u64,
    /// An upper bound of the number at which the next version took its place, once one has.
    replaced_at: Option<u64>,
    /// Keeps the files.
    _files: Box<dyn Send>,
}

impl Replaced {
    /// Says that the engine will have something to do, and so files to replace.
    pub(crate) fn expect_news(&self) {
        self.lock().has_news = true;
        self.changed.notify_one();
    }

    /// Ends the thread, and lets go of everything.
    pub(crate) fn stop(&self) {
        self.lock().stopping = true;
        self.changed.notify_one();
    }

    /// Returns whether old files wait for the engine to notice that no snapshot needs them.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    /// Waits for the next look. Returns whether there is to be one.
    fn wait(&self, waiting: usize, found_something: bool, period: &mut std::time::Duration) -> bool {
        let mut inner = self.lock();
        *period = if found_something { REPLACED_POLL_MIN } else { (*period * 2).min(REPLACED_POLL_MAX) };
        if inner.stopping {
            return false;
        }
        // Nothing new and nothing old: only work of the engine can change that.
        let is_idle = waiting == 0 && *period == REPLACED_POLL_MAX && !inner.has_news;
        if is_idle {
            self.changed.wait_while(&mut inner, |inner| !inner.has_news && !inner.stopping);
        } else {
            self.changed.wait_while_for(&mut inner, |inner| !inner.stopping, *period);
        }
        if inner.has_news {
            inner.has_news = false;
            *period = REPLACED_POLL_MIN;
        }
        !inner.stopping
    }
}

/// Takes hold of new versions of all families, and lets go of old ones, until told to stop.
pub(crate) fn run(shared: &Shared) {
    let mut seen: Option<SeenOf> = None;
    let mut journals = HeldJournals::default();
    let mut period = REPLACED_POLL_MIN;
    let mut found_something = false;
    loop {
        let waiting_in = |families: &[Seen]| families.iter().map(|seen| seen.0.len().saturating_sub(1)).sum();
        let waiting = seen.as_ref().map_or(0, |seen| waiting_in(&seen.families));
        let of_callers = seen.as_ref().map_or(0, |seen| waiting_in(&seen.families[..RECORDS]));
        shared.replaced.waiting.store(of_callers, Ordering::Relaxed);
        if !shared.replaced.wait(waiting, found_something, &mut period) {
            return;
        }
        found_something = false;
        journals.look(&shared.engine_path);
        if seen.as_ref().is_some_and(|seen| seen.engine.is_retired()) {
            seen = None;
        }
        if seen.is_none() {
            let Some(engine) = shared.view.engine() else { continue };
            seen = Some(SeenOf { families: std::array::from_fn(|_| Seen::default()), engine });
        }
        let Some(SeenOf { families, engine }) = &mut seen else { continue };
        for (keyspace, seen) in engine.keyspaces.iter().zip(families) {
            found_something |= seen.look(engine, keyspace);
            found_something |= seen.forget(engine, keyspace);
        }
    }
}

impl Seen {
    /// Takes hold of the newest version. Returns whether it is new.
    fn look(&mut self, engine: &Engine, keyspace: &Keyspace) -> bool {
        let newest = keyspace.tree.current_version();
        if self.0.back().is_some_and(|last| last.id == newest.id()) {
            return false;
        }
        if let Some(last) = self.0.back_mut() {
            last.replaced_at = Some(engine.db.supervisor.seqno.get());
        }
        self.0.push_back(Version { id: newest.id(), replaced_at: None, _files: Box::new(newest) });
        true
    }

    /// Lets the engine forget a few versions that no snapshot needs, then lets go of them. Returns whether there were any.
    fn forget(&mut self, engine: &Engine, keyspace: &Keyspace) -> bool {
        let oldest_needed = engine.db.supervisor.snapshot_tracker.get_seqno_safe_to_gc();
        let is_free = |version: &&Version| version.replaced_at.is_some_and(|at| at < oldest_needed);
        let count = self.0.iter().take_while(is_free).count().min(REPLACED_VERSIONS_PER_STEP);
        let Some(replaced_at) = count.checked_sub(1).and_then(|last| self.0[last].replaced_at) else {
            return false;
        };
        // Forgotten is what was replaced before a number: so one more than that of the last.
        let forgotten = keyspace
            .tree
            .get_version_history_lock()
            .maintenance(&keyspace.tree.tree_config().path, replaced_at + 1);
        if let Err(error) = forgotten {
            // Only the lists of files are left behind, which the next start removes.
            tracing::debug!(error = %failure::message(&fjall::Error::Storage(error)), "cannot forget old versions");
        }
        for version in self.0.drain(..count) {
            let started = now();
            drop(version);
            // Deleting large files is work for the file system that everybody's syncs wait for.
            std::thread::sleep(started.elapsed().min(REPLACED_REST_MAX));
        }
        true
    }
}
