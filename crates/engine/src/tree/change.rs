//! Changing the resource tree: one change at a time, stored before it is shown.

use std::sync::Arc;

use armilla_kv::{self as kv, Batch, Family, Space, SpaceId, Store};
use bytes::Bytes;

use crate::error::Result;
use crate::record::{self, ROOT_SPACE, TreeCounters, Version, tag};

/// The one who changes the tree. There is one, behind a lock.
pub(crate) struct Writer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) space: Arc<dyn Space>,
    pub(crate) counters: TreeCounters,
}

impl Writer {
    /// A failed commit closes its handle: opens the space again, unless another engine has taken it over.
    pub(crate) fn reopen_after(&mut self, committed: &kv::Result<()>) -> Result<()> {
        if committed.as_ref().is_err_and(|error| error.kind() != kv::ErrorKind::Fenced) {
            self.reopen()?;
        }
        Ok(())
    }

    /// Returns the version that the next change has.
    pub(crate) fn next_version(&self, now_seconds: i64) -> Version {
        Version { number: self.counters.version + 1, ts: u32::try_from(now_seconds).unwrap_or(0) }
    }

    /// Opens the space again. What was on its way to it lands before, or never.
    pub(crate) fn reopen(&mut self) -> Result<()> {
        self.space = self.store.open_space(ROOT_SPACE)?;
        Ok(())
    }
}

/// A change of the tree that is being put together. Dropped without [`Change::commit`] it leaves no trace.
pub(crate) struct Change<'w> {
    writer: &'w mut Writer,
    pub(crate) counters: TreeCounters,
    pub(crate) version: Version,
    batch: Batch,
}

impl<'w> Change<'w> {
    pub(crate) fn begin(writer: &'w mut Writer, now_seconds: i64) -> Change<'w> {
        let version = writer.next_version(now_seconds);
        let mut counters = writer.counters.clone();
        counters.version = version.number;
        Change { writer, counters, version, batch: Batch::new() }
    }

    pub(crate) fn put(&mut self, key: Bytes, value: Bytes) {
        self.batch.put(Family::Meta, key, value);
    }

    pub(crate) fn delete(&mut self, key: Bytes) {
        self.batch.delete(Family::Meta, key);
    }

    /// Notes how far a container got that goes.
    pub(crate) fn raise_lsn_floor(&mut self, newest_lsn: u64) {
        self.counters.lsn_floor = self.counters.lsn_floor.max(newest_lsn);
    }

    /// Notes that a space is to be dropped, so that a crash before it is dropped changes nothing.
    pub(crate) fn drop_space(&mut self, space: SpaceId) {
        self.put(record::key(tag::SPACE_TO_DROP, &space.0.to_be_bytes()), Bytes::new());
    }

    /// Takes such a note back.
    pub(crate) fn keep_space(&mut self, space: SpaceId) {
        self.delete(record::key(tag::SPACE_TO_DROP, &space.0.to_be_bytes()));
    }

    pub(crate) async fn commit(mut self) -> Result<()> {
        self.batch.put(Family::Meta, record::key(tag::COUNTERS, b""), self.counters.encode());
        let committed = self.writer.space.commit(self.batch).await;
        // Whatever became of it, its numbers are not given again.
        self.writer.counters = self.counters;
        self.writer.reopen_after(&committed)?;
        Ok(committed?)
    }
}
