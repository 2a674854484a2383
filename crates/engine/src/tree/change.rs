//! Changing the resource tree: one change at a time, stored before it is shown.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use armilla_kv::{self as kv, Batch, Family, Op, Space, SpaceId, Store};
use bytes::Bytes;
use tokio::sync::MutexGuard;

use crate::error::{Error, ErrorKind, Result};
use crate::neighbours::{Neighbours, TreeLock, Written};
use crate::record::{self, ROOT_SPACE, TreeCounters, Version, tag};

/// The one who changes the tree. There is one, behind a lock.
pub(crate) struct Writer {
    pub(crate) counters: TreeCounters,
    place: Place,
}

/// Where the tree is stored.
enum Place {
    /// In a store of this process.
    Own { store: Arc<dyn Store>, space: Arc<dyn Space> },
    /// With a process that keeps it for all.
    Kept { among: Arc<dyn Neighbours>, lock: Option<TreeLock> },
}

/// The right to change the tree.
pub(crate) struct WriterGuard<'e>(MutexGuard<'e, Writer>);

impl<'e> WriterGuard<'e> {
    /// Takes hold of the writer, with what keeps other processes from changing the tree.
    pub(crate) fn new(mut writer: MutexGuard<'e, Writer>, with: Option<TreeLock>) -> WriterGuard<'e> {
        if let Place::Kept { lock, .. } = &mut writer.place {
            *lock = with;
        }
        WriterGuard(writer)
    }
}

impl Drop for WriterGuard<'_> {
    fn drop(&mut self) {
        if let Place::Kept { lock, among } = &mut self.0.place {
            *lock = None;
            among.tree_changed();
        }
    }
}

impl Deref for WriterGuard<'_> {
    type Target = Writer;

    fn deref(&self) -> &Writer {
        &self.0
    }
}

impl DerefMut for WriterGuard<'_> {
    fn deref_mut(&mut self) -> &mut Writer {
        &mut self.0
    }
}

impl Writer {
    /// Returns one that writes to a store of this process.
    pub(crate) fn own(store: Arc<dyn Store>, space: Arc<dyn Space>, counters: TreeCounters) -> Writer {
        Writer { counters, place: Place::Own { store, space } }
    }

    /// Returns one that has a keeper write.
    pub(crate) fn kept(among: Arc<dyn Neighbours>, counters: TreeCounters) -> Writer {
        Writer { counters, place: Place::Kept { among, lock: None } }
    }

    /// Returns the space of the tree, if it is this process alone that has it.
    pub(crate) fn space(&self) -> Option<&Arc<dyn Space>> {
        match &self.place {
            Place::Own { space, .. } => Some(space),
            Place::Kept { .. } => None,
        }
    }

    /// Stores something.
    pub(crate) async fn store(&mut self, batch: Batch) -> Result<()> {
        match &mut self.place {
            Place::Own { store, space } => {
                let committed = space.commit(batch).await;
                // A failed commit closes its handle. Another engine may have taken the space over.
                if committed.as_ref().is_err_and(|error| error.kind() != kv::ErrorKind::Fenced) {
                    *space = store.open_space(ROOT_SPACE)?;
                }
                Ok(committed?)
            }
            Place::Kept { among, lock } => {
                let lock = lock
                    .as_ref()
                    .ok_or_else(|| Error::new(ErrorKind::Internal, "the tree is changed without its lock"))?;
                let records: Vec<Written> = batch
                    .ops()
                    .iter()
                    .map(|op| match op {
                        Op::Put { key, value, .. } => (key.clone(), Some(value.clone())),
                        Op::Delete { key, .. } => (key.clone(), None),
                    })
                    .collect();
                among.clone().store(lock.number, records).await?;
                Ok(())
            }
        }
    }

    /// Reads a record as it is stored. What was on its way to the store has landed before, or never does.
    pub(crate) async fn look_up(&mut self, key: &Bytes) -> Result<Option<Bytes>> {
        match &mut self.place {
            Place::Own { store, space } => {
                *space = store.open_space(ROOT_SPACE)?;
                Ok(space.get(Family::Meta, key)?)
            }
            Place::Kept { among, .. } => among.clone().look_up(key.clone()).await,
        }
    }

    /// Returns the version that the next change has.
    pub(crate) fn next_version(&self, now_seconds: i64) -> Version {
        Version { number: self.counters.version + 1, ts: u32::try_from(now_seconds).unwrap_or(0) }
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
        // Whatever becomes of it, its numbers are not given again.
        self.writer.counters = self.counters;
        self.writer.store(self.batch).await
    }
}
