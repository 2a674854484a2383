//! What the store, its spaces and its threads share.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use armilla_kv::StoreStats;
use fjall::{AbstractTree, Keyspace};

use crate::background::Background;
use crate::engine::Engine;
use crate::limits::SEALED_MEMTABLES_MAX;
use crate::options::Options;
use crate::queue::Queue;
use crate::reclaim::Reclaim;
use crate::replaced::Replaced;
use crate::retired::Retired;
use crate::spaces::Spaces;
use crate::stats::Counters;
use crate::view::View;
use crate::watch::Watch;

/// One open store.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) spaces: Spaces,
    pub(crate) queue: Queue,
    pub(crate) reclaim: Reclaim,
    pub(crate) retired: Retired,
    pub(crate) replaced: Replaced,
    pub(crate) watch: Watch,
    pub(crate) background: Background,
    /// Bytes that runs take.
    pub(crate) run_bytes: AtomicU64,
    pub(crate) counters: Counters,
    // Dropped in this order: what holds the engine, then whatever must outlive it.
    pub(crate) view: View,
    /// The store's folder.
    pub(crate) folder: PathBuf,
    pub(crate) engine_path: PathBuf,
    pub(crate) keeps: Keeps,
}

/// What a store holds as long as it is open.
pub(crate) enum Keeps {
    /// The lock on its folder.
    Lock(#[expect(dead_code, reason = "held for its lock")] File),
    /// A copy of a folder, which goes with the store, and the lock on the folder. Nothing is kept up for a later start.
    Copy { _copy: tempfile::TempDir, _lock: File },
}

impl Shared {
    /// Returns how near writers are to being held back, in percent.
    pub(crate) fn pressure_percent(&self) -> u32 {
        let of = |count: usize, max: usize| (count * 100 / max) as u32;
        let level_0_runs_max = self.options.level_0_runs_max();
        let of_tree = |keyspace: &Keyspace| {
            let sealed = of(keyspace.tree.sealed_memtable_count(), SEALED_MEMTABLES_MAX);
            sealed.max(of(keyspace.tree.l0_run_count(), level_0_runs_max))
        };
        let Some(engine) = self.view.engine() else { return 0 };
        // They wait for a run that lands once another is full.
        let (run_bytes, run_bytes_max) =
            (self.run_bytes.load(Ordering::Relaxed), self.options.run_bytes_max());
        let of_runs = run_bytes.saturating_sub(run_bytes_max) * 100 / run_bytes_max.max(1);
        engine.keyspaces.iter().map(of_tree).max().unwrap_or(0).max(of_runs as u32)
    }

    pub(crate) fn stats(&self) -> StoreStats {
        let Counters { commits, flushes, stalls } = &self.counters;
        let mut stats = StoreStats {
            commits: commits.load(Ordering::Relaxed),
            flushes: flushes.count(),
            flush_us: flushes.sum_us(),
            flush_max_us: flushes.max_us(),
            stalls: stalls.count(),
            stall_us: stalls.sum_us(),
            stall_max_us: stalls.max_us(),
            queued_bytes: self.queue.bytes(),
            disk_bytes: journal_disk_bytes(&self.engine_path),
            spaces_to_reclaim: self.reclaim.to_reclaim_count(),
            ..StoreStats::default()
        };
        if let Some(engine) = self.view.engine() {
            stats.write_buffer_bytes = self.write_buffer_bytes(&engine);
            stats.block_cache_bytes = engine.db.cache_size();
            stats.disk_bytes += engine.keyspaces.iter().map(Keyspace::disk_space).sum::<u64>();
            stats.background_jobs = self.background.jobs();
        }
        stats
    }

    /// Returns an upper estimate of the bytes in memory that are not yet in sorted files.
    ///
    /// Computed from the state of the trees, because the engine's running count would hold writers back for
    /// ever if it ever missed a flush.
    pub(crate) fn write_buffer_bytes(&self, engine: &Engine) -> u64 {
        let of_tree = |(index, keyspace): (usize, &Keyspace)| {
            let sealed = keyspace.tree.sealed_memtable_count() as u64;
            keyspace.tree.active_memtable().size() + sealed * self.options.memtable_bytes_max(index)
        };
        let in_trees: u64 = engine.keyspaces.iter().enumerate().map(of_tree).sum();
        in_trees + self.run_bytes.load(Ordering::Relaxed)
    }
}

/// Returns the bytes that the journals really take: the engine makes them longer than what they hold.
fn journal_disk_bytes(engine_path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(engine_path) else { return 0 };
    entries
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "jnl"))
        .filter_map(|entry| entry.metadata().ok())
        .map(|metadata| allocated_bytes(&metadata))
        .sum()
}

#[cfg(unix)]
fn allocated_bytes(metadata: &std::fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    metadata.blocks() * 512
}

#[cfg(not(unix))]
fn allocated_bytes(metadata: &std::fs::Metadata) -> u64 {
    metadata.len()
}
