//! Writes runs into the tree, and merges the sorted files that come of it.
//!
//! Two threads: one lands the run that is full, one merges. They hold the engine for one piece of work at a time, so that
//! it can be replaced.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use armilla_kv::Result;
use fjall::AbstractTree;
use lsm_tree::{InternalValue, ValueType};
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::merge::{Kept, Merge, Met};
use super::{INDEX, SealedRun};
use crate::engine::Engine;
use crate::failure;
use crate::priority::stand_back;
use crate::shared::Shared;

/// What is to be landed and merged.
#[derive(Default)]
pub(crate) struct Landing {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    /// The run that is to be landed.
    run: Option<(Arc<Engine>, Arc<SealedRun>)>,
    /// Whether one is being landed.
    is_landing: bool,
    /// Whether there are new sorted files.
    has_files: bool,
    is_merging: bool,
    /// Why a run could not be landed, or files not be merged.
    failure: Option<String>,
    stopping: bool,
}

impl Landing {
    /// Takes on a run.
    pub(crate) fn begin(&self, engine: Arc<Engine>, run: Arc<SealedRun>) {
        self.lock().run = Some((engine, run));
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

    /// Says why something could not be landed or merged, once.
    pub(crate) fn take_failure(&self) -> Option<String> {
        self.lock().failure.take()
    }

    /// Returns how many pieces of work are under way.
    pub(crate) fn jobs(&self) -> u64 {
        let inner = self.lock();
        u64::from(inner.is_landing || inner.run.is_some()) + u64::from(inner.is_merging)
    }

    /// Ends the threads once what they do is done.
    pub(crate) fn stop(&self) {
        self.lock().stopping = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    fn next_run(&self) -> Option<(Arc<Engine>, Arc<SealedRun>)> {
        let mut inner = self.lock();
        loop {
            if let Some(run) = inner.run.take() {
                inner.is_landing = true;
                return Some(run);
            }
            if inner.stopping {
                return None;
            }
            self.changed.wait(&mut inner);
        }
    }

    fn wait_for_files(&self) -> bool {
        let mut inner = self.lock();
        self.changed.wait_while(&mut inner, |inner| !inner.has_files && !inner.stopping);
        inner.is_merging = std::mem::take(&mut inner.has_files) && !inner.stopping;
        inner.is_merging
    }
}

/// Lands runs until told to stop.
pub(crate) fn run(shared: &Shared) {
    while let Some((engine, run)) = shared.landing.next_run() {
        let landed = land(&engine, &run);
        drop(engine);
        let mut inner = shared.landing.lock();
        inner.is_landing = false;
        match landed {
            Ok(()) => {
                run.has_landed.store(true, Ordering::Release);
                inner.has_files = true;
            }
            Err(error) => inner.failure = Some(error.to_string()),
        }
        drop(inner);
        shared.landing.changed.notify_all();
        shared.replaced.expect_news();
        shared.watch.expect_news();
    }
}

/// Writes a run into the tree.
pub(crate) fn land(engine: &Engine, run: &SealedRun) -> Result<()> {
    let tree = &engine.keyspaces[INDEX].tree;
    let of_tree = |error: lsm_tree::Error| failure::of_read(&error.into());
    let lock = tree.get_flush_lock();
    let oldest_needed = engine.db.supervisor.snapshot_tracker.get_seqno_safe_to_gc();
    // What an older program has put into the memtable is older than the run.
    if !tree.active_memtable().is_empty() {
        tree.rotate_memtable();
    }
    tree.flush(&lock, oldest_needed).map_err(of_tree)?;
    let mut merge = Merge::of_chunks(run.newest_first(), Kept::Everything);
    let entries = std::iter::from_fn(|| match merge.next_met()? {
        Ok(Met::InRun(chunk, at)) => {
            let (key, value) = chunk.shared_entry(at);
            let kind = if value.is_some() { ValueType::Value } else { ValueType::Tombstone };
            let value = value.unwrap_or_default();
            Some(Ok(InternalValue::from_components(key, value, run.sequence, kind)))
        }
        Ok(Met::InTree(..)) | Err(_) => None,
    });
    if let Some((tables, files)) = tree.flush_to_tables(entries).map_err(of_tree)? {
        tree.register_tables(&tables, files.as_deref(), None, &[], oldest_needed).map_err(of_tree)?;
    }
    Ok(())
}

/// Merges sorted files until told to stop.
pub(crate) fn run_merging(shared: &Shared) {
    stand_back();
    loop {
        if !shared.landing.wait_for_files() {
            if shared.landing.lock().stopping {
                return;
            }
            continue;
        }
        while let Some(engine) = shared.view.engine().filter(|engine| !engine.is_retired()) {
            match merge(&engine) {
                Ok(true) if !shared.landing.lock().stopping => {}
                Ok(_) => break,
                Err(error) => {
                    shared.landing.lock().failure = Some(error.to_string());
                    break;
                }
            }
            shared.replaced.expect_news();
            shared.watch.expect_news();
        }
        shared.landing.lock().is_merging = false;
    }
}

/// Merges some sorted files. Returns whether there were any to be merged.
fn merge(engine: &Engine) -> Result<bool> {
    let keyspace = &engine.keyspaces[INDEX];
    let before = keyspace.tree.current_version().id();
    let oldest_needed = engine.db.supervisor.snapshot_tracker.get_seqno_safe_to_gc();
    let strategy = keyspace.config.compaction_strategy.clone();
    keyspace.tree.compact(strategy, oldest_needed).map_err(|error| failure::of_read(&error.into()))?;
    Ok(keyspace.tree.current_version().id() != before)
}
