//! One SlateDB, and what of it readers see.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use armilla_kv::{Durability, Op, Result};
use parking_lot::RwLock;
use slatedb::config::{CheckpointOptions, CheckpointScope, FlushOptions, FlushType};
use slatedb::{CheckpointCreateResult, CheckpointHandle, Db, DbSnapshot, WriteBatch};

use crate::failure;
use crate::figures::TreeFigures;
use crate::keys::tree_key;
use crate::queue::Job;
use crate::spaces::Shared;

/// An open tree.
pub(crate) struct Tree {
    db: Db,
    /// What readers see: everything in it lies in the object store.
    published: RwLock<Arc<DbSnapshot>>,
    memory_bytes: Arc<AtomicI64>,
    /// Whether it was asked for since that was last looked at.
    is_used: AtomicBool,
    /// Whether what is in memory is being put into a sorted file.
    pub(crate) is_sorting: AtomicBool,
}

impl Tree {
    /// Opens the tree of a space, or makes it, and fences every process that had it. With an epoch it is opened only where
    /// none has had it since, and otherwise fails as fenced, which leaves the other what it has.
    pub(crate) async fn open(shared: &Shared, id: u64, epoch: Option<u64>) -> Result<Tree> {
        let memory_bytes = Arc::new(AtomicI64::new(0));
        let figures =
            TreeFigures { memory_bytes: memory_bytes.clone(), stalls: shared.figures.stalls.clone() };
        let mut db = Db::builder(shared.place.space(id), shared.place.objects().clone());
        if let Some(epoch) = epoch {
            db = db.with_expected_epoch(epoch);
        }
        let db = db
            .with_settings(shared.settings.clone())
            .with_db_cache(shared.cache.clone(), id)
            .with_metrics_recorder(Arc::new(figures))
            .build()
            .await
            .map_err(|error| failure::of_read(&error))?;
        let published = db.snapshot().map_err(|error| failure::of_read(&error))?;
        let (is_used, is_sorting) = (AtomicBool::new(true), AtomicBool::new(false));
        Ok(Tree { db, published: RwLock::new(published), memory_bytes, is_used, is_sorting })
    }

    /// Asks the object store whether it is still this process that has the tree.
    pub(crate) async fn is_own(&self) -> bool {
        self.db.refresh_manifest().await.is_ok() && self.db.status().close_reason.is_none()
    }

    /// Returns how often a process has opened the tree to write.
    pub(crate) fn epoch(&self) -> u64 {
        self.db.manifest().writer_epoch()
    }

    /// Returns whether it was read or written since this was last asked.
    pub(crate) fn was_used(&self) -> bool {
        self.is_used.swap(false, Ordering::Relaxed)
    }

    /// Returns what readers see.
    pub(crate) fn published(&self) -> Arc<DbSnapshot> {
        self.is_used.store(true, Ordering::Relaxed);
        self.published.read().clone()
    }

    /// Writes batches as one, and returns what readers are to see once they are durable.
    pub(crate) async fn write(&self, group: &mut [Job], durability: Durability) -> Result<Arc<DbSnapshot>> {
        self.is_used.store(true, Ordering::Relaxed);
        let mut batch = WriteBatch::new();
        for op in group.iter_mut().flat_map(|job| job.ops.drain(..)) {
            match op {
                Op::Put { family, key, value } => batch.put_bytes(tree_key(family, &key), value),
                Op::Delete { family, key } => batch.delete(tree_key(family, &key)),
            }
        }
        if !batch.is_empty() {
            let written = self.db.write(batch).await.map_err(|error| failure::of_write(&error))?;
            if durability == Durability::Strict {
                self.db.flush().await.map_err(|error| failure::of_write(&error))?;
                written.await_durable().await.map_err(|error| failure::of_write(&error))?;
            }
        }
        self.db.snapshot().map_err(|error| failure::of_write(&error))
    }

    /// Returns whether there was something in the log when it was opened.
    pub(crate) fn was_replayed(&self) -> bool {
        let status = self.db.status();
        status.durable_seq > status.current_manifest.last_l0_seq()
    }

    /// Puts what is in memory into a sorted file. Writers go on meanwhile.
    pub(crate) async fn sort(&self) -> Result<()> {
        let options = FlushOptions { flush_type: FlushType::MemTable };
        self.db.flush_with_options(options).await.map_err(|error| failure::of_read(&error))
    }

    /// Begins to keep the moment that it is at, for so long, and returns what readers of that moment see. The caller has the
    /// turn.
    pub(crate) async fn begin_checkpoint(
        &self,
        lifetime: Duration,
    ) -> Result<(CheckpointHandle, Arc<DbSnapshot>)> {
        self.is_used.store(true, Ordering::Relaxed);
        let options = CheckpointOptions { lifetime: Some(lifetime), ..CheckpointOptions::default() };
        let begun = self.db.begin_checkpoint(CheckpointScope::All, &options).await;
        let begun = begun.map_err(|error| failure::of_read(&error))?;
        Ok((begun, self.db.snapshot().map_err(|error| failure::of_read(&error))?))
    }

    /// Waits until a moment is kept. Returns what names it.
    pub(crate) async fn stored(begun: CheckpointHandle) -> Result<CheckpointCreateResult> {
        begun.wait().await.map_err(|error| failure::of_read(&error))
    }

    /// Shows readers what was written.
    pub(crate) fn publish(&self, snapshot: Arc<DbSnapshot>) {
        *self.published.write() = snapshot;
    }

    /// Puts what is in memory into the object store, and ends.
    pub(crate) async fn close(&self) -> Result<()> {
        self.db.close().await.map_err(|error| failure::of_read(&error))
    }

    /// Returns the bytes that are not in sorted files yet.
    pub(crate) fn memory_bytes(&self) -> u64 {
        u64::try_from(self.memory_bytes.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Returns the bytes of its sorted files.
    pub(crate) fn sorted_bytes(&self) -> u64 {
        self.db.manifest().all_sst_views().map(|view| view.estimate_size()).sum()
    }
}
