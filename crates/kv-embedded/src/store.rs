//! The store itself: opening, dropping spaces, closing.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use armilla_kv::{CommitLatch, Error, ErrorKind, Result, Space, SpaceId, Store, StoreSnapshot, StoreStats};
use fjall::{AbstractTree, PersistMode};
use parking_lot::Mutex;

use crate::background;
use crate::examine::{Examined, examine};
use crate::failure;
use crate::format;
use crate::keys::EngineOp;
use crate::limits::{CLOSE_MERGE_WAIT_MAX, MERGE_THREADS, STALL_POLL_PERIOD};
use crate::manifest;
use crate::moment::Moment;
use crate::open::{self, Existing, Opened};
use crate::options::Options;
use crate::queue::Priority;
use crate::reclaim;
use crate::records;
use crate::replaced;
use crate::salvage::{Salvaged, salvage};
use crate::shared::{Keeps, Shared};
use crate::space::EmbeddedSpace;
use crate::survey::{Depth, ENGINE_FOLDER, Finding};
use crate::time::now;
use crate::watch;
use crate::writer::Writer;

/// The threads of a store.
struct Threads {
    /// Returns the number of the newest group, unless writes have failed.
    writer: Option<JoinHandle<Option<u64>>>,
    others: Vec<JoinHandle<()>>,
    /// Those that write sorted files and merge them, which the writer needs to the end.
    background: Vec<JoinHandle<()>>,
}

/// How the threads ended.
struct Stopped {
    /// The number of the newest group, unless writes have failed.
    group: Option<u64>,
    /// Whether files are still being merged.
    is_merging: bool,
}

/// A store in a folder of a local disk. Dropping it closes it.
pub struct EmbeddedStore {
    shared: Arc<Shared>,
    /// The threads, until the store is closed.
    threads: Mutex<Option<Threads>>,
}

impl EmbeddedStore {
    /// Opens the store in a folder, making both if they are not there.
    ///
    /// Fails with [`ErrorKind::Locked`] if another store has the folder open, with
    /// [`ErrorKind::NewerFormat`] if a newer version of the program wrote it, and with
    /// [`ErrorKind::Corrupt`] if anything is missing or damaged; then nothing is changed.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<EmbeddedStore> {
        EmbeddedStore::start(open::open(path.as_ref(), options.clamped())?)
    }

    /// Opens a copy of the store in a folder, of which not a byte is changed. The copy takes little room, in a folder below
    /// `scratch`, and is removed with the store; what is written to it is gone then.
    ///
    /// Fails like [`EmbeddedStore::open`], and with [`ErrorKind::Corrupt`] if there is no store in the folder.
    pub fn open_copy(
        path: impl AsRef<Path>,
        scratch: impl AsRef<Path>,
        options: Options,
    ) -> Result<EmbeddedStore> {
        EmbeddedStore::start(open::open_copy(path.as_ref(), scratch.as_ref(), options.clamped())?)
    }

    /// Reads everything in a folder and returns what is missing or damaged. Nothing is changed. `progress` is told of each
    /// piece of a file that was read, and how long it was.
    pub fn inspect(path: impl AsRef<Path>, progress: &mut dyn FnMut(&str, u64)) -> Result<Vec<Finding>> {
        let path = path.as_ref();
        let _lock = open::lock(path, Existing::Only)?;
        match examine(path, Depth::Everything, progress)? {
            Examined::Damaged(findings) => Ok(findings),
            Examined::New | Examined::Older(_) | Examined::Known(_) => Ok(Vec::new()),
        }
    }

    /// Saves what can be read of a damaged store into a new one in another folder, which must be empty or not be there. The
    /// folder itself stays as it is. Returns nothing, and makes nothing, if it is whole.
    pub fn salvage(
        from: impl AsRef<Path>,
        to: impl AsRef<Path>,
        progress: &mut dyn FnMut(&str, u64),
    ) -> Result<Option<Salvaged>> {
        salvage(from.as_ref(), to.as_ref(), progress)
    }

    /// Returns whether a folder holds a store, be it a damaged one.
    pub fn exists(path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        [format::FILE, manifest::FILE, ENGINE_FOLDER].iter().any(|name| path.join(name).exists())
    }

    /// Writes entries as they are.
    pub(crate) fn write_raw(&self, priority: Priority, ops: Vec<EngineOp>, bytes: usize) -> Result<()> {
        self.shared.queue.push(priority, None, ops, bytes)?.wait()
    }

    fn start(opened: Opened) -> Result<EmbeddedStore> {
        let Opened { shared, files } = opened;
        let shared = Arc::new(shared);
        let threads = Threads::start(&shared, Writer::new(shared.clone(), files))?;
        Ok(EmbeddedStore { shared, threads: Mutex::new(Some(threads)) })
    }

    #[cfg(test)]
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Leaves the files as a crash would, because they still change: large files take a while to be merged. What is being
    /// merged is lost with the process, and made again.
    fn leave(&self) -> Result<()> {
        tracing::info!("closing while sorted files are merged, the next start replays the journal");
        let Some(engine) = self.shared.view.engine() else { return Ok(()) };
        let synced = engine.db.persist(PersistMode::SyncAll);
        synced.map_err(|error| Error::new(ErrorKind::Io, format!("closing: {}", failure::message(&error))))
    }

    /// Moves what is buffered into sorted files, so that the next start has nothing to replay.
    fn flush(&self, group: u64) -> Result<()> {
        let Some(engine) = self.shared.view.engine() else { return Ok(()) };
        let error =
            |error: fjall::Error| Error::new(ErrorKind::Io, format!("closing: {}", failure::message(&error)));
        engine.db.persist(PersistMode::SyncAll).map_err(error)?;
        for keyspace in &engine.keyspaces {
            keyspace.tree.rotate_memtable();
            background::write_memtables(&engine, keyspace)?;
        }
        if !engine.is_flushed() {
            tracing::warn!("closing without having written everything, the next start replays the journal");
            return Ok(());
        }
        watch::close(&self.shared, group)
    }
}

impl Store for EmbeddedStore {
    fn open_space(&self, space: SpaceId) -> Result<Arc<dyn Space>> {
        self.shared.queue.check_not_closed()?;
        let (state, epoch) = self.shared.spaces.open(space)?;
        Ok(Arc::new(EmbeddedSpace {
            shared: self.shared.clone(),
            state,
            epoch,
            latch: CommitLatch::default(),
        }))
    }

    fn drop_space(&self, space: SpaceId) -> Result<()> {
        self.shared.queue.check_not_closed()?;
        self.shared.spaces.mark_dropped(space);
        if self.shared.reclaim.knows(space) {
            return Ok(());
        }
        let record = records::drop_space(space.0);
        self.shared.queue.push(Priority::Client, None, vec![record], 0)?.wait()?;
        self.shared.reclaim.add(space);
        Ok(())
    }

    fn snapshot_all(&self) -> Result<Box<dyn StoreSnapshot>> {
        Ok(Box::new(Moment::new(&self.shared)?))
    }

    fn pressure_percent(&self) -> u32 {
        self.shared.pressure_percent()
    }

    fn trouble(&self) -> Option<String> {
        self.shared.queue.trouble()
    }

    fn stats(&self) -> StoreStats {
        self.shared.stats()
    }

    fn close(&self) -> Result<()> {
        let Some(threads) = self.threads.lock().take() else {
            return Ok(());
        };
        let Stopped { group, is_merging } = threads.stop(&self.shared)?;
        match (group, &self.shared.keeps) {
            // A copy is not opened again.
            (_, Keeps::Copy { .. }) => Ok(()),
            (Some(_), Keeps::Lock(_)) if is_merging => self.leave(),
            (Some(group), Keeps::Lock(_)) => self.flush(group),
            (None, Keeps::Lock(_)) => Err(Error::new(
                ErrorKind::Io,
                "writes have failed and could not go on, the next start replays the journal",
            )),
        }
    }
}

impl Drop for EmbeddedStore {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::warn!(%error, "closing the store failed");
        }
    }
}

impl Threads {
    fn start(shared: &Arc<Shared>, writer: Writer) -> Result<Threads> {
        let (reclaiming, retiring) = (shared.clone(), shared.clone());
        let (replacing, watching) = (shared.clone(), shared.clone());
        let writing = shared.clone();
        let mut threads = Threads { writer: None, others: Vec::new(), background: Vec::new() };
        let started = spawn("store-reclaim", move || reclaim::run(&reclaiming))
            .map(|thread| threads.others.push(thread))
            .and_then(|()| spawn("store-writer", move || writer.run()))
            .map(|thread| threads.writer = Some(thread))
            .and_then(|()| spawn("store-retire", move || retiring.retired.run()))
            .map(|thread| threads.others.push(thread))
            .and_then(|()| spawn("store-replaced", move || replaced::run(&replacing)))
            .map(|thread| threads.others.push(thread))
            .and_then(|()| spawn("store-watch", move || watch::run(&watching)))
            .map(|thread| threads.others.push(thread))
            .and_then(|()| spawn("store-write", move || background::run_writing(&writing)))
            .map(|thread| threads.background.push(thread))
            .and_then(|()| threads.start_merging(shared));
        match started {
            Ok(()) => Ok(threads),
            Err(error) => {
                let _ = threads.stop(shared);
                Err(error)
            }
        }
    }

    fn start_merging(&mut self, shared: &Arc<Shared>) -> Result<()> {
        // In a copy no sorted file comes or goes.
        if matches!(shared.keeps, Keeps::Copy { .. }) {
            return Ok(());
        }
        for number in 0..MERGE_THREADS {
            let merging = shared.clone();
            let run = move || background::run_merging(&merging, number == 0);
            self.background.push(spawn("store-merge", run)?);
        }
        Ok(())
    }

    /// Stops all threads, but for those that merge and take long.
    fn stop(self, shared: &Shared) -> Result<Stopped> {
        shared.reclaim.stop();
        shared.queue.refuse(closed());
        shared.retired.stop();
        shared.replaced.stop();
        shared.watch.stop();
        let mut died = false;
        for thread in self.others {
            died |= thread.join().is_err();
        }
        let written = self.writer.map(JoinHandle::join);
        shared.background.stop();
        let deadline = now() + CLOSE_MERGE_WAIT_MAX;
        let mut is_merging = false;
        for thread in self.background {
            while !thread.is_finished() && now() < deadline {
                std::thread::sleep(STALL_POLL_PERIOD);
            }
            // The lock on the folder is held as long as one of them runs.
            match thread.is_finished() {
                true => died |= thread.join().is_err(),
                false => is_merging = true,
            }
        }
        match written {
            Some(Ok(group)) if !died => Ok(Stopped { group, is_merging }),
            None if !died => Ok(Stopped { group: None, is_merging }),
            _ => Err(Error::new(
                ErrorKind::Io,
                "a thread of the store has died, the next start replays the journal",
            )),
        }
    }
}

fn spawn<T: Send + 'static>(name: &str, run: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot start thread {name}: {error}")))
}

fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the store is closed")
}

#[cfg(test)]
mod tests {
    use armilla_kv::{Batch, Family, block_on};

    use super::*;

    /// A server that is asked to end has ten seconds.
    #[test]
    fn closing_does_not_wait_for_long_merges_and_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(folder.path(), Options::default()).unwrap();
        let mut batch = Batch::new();
        Family::ALL.into_iter().for_each(|family| batch.put(family, "key", "value"));
        block_on(store.open_space(SpaceId(1)).unwrap().commit(batch)).unwrap();
        let long_merge = spawn("store-merge", || std::thread::sleep(3 * CLOSE_MERGE_WAIT_MAX)).unwrap();
        store.threads.lock().as_mut().unwrap().background.push(long_merge);
        let started = now();
        store.close().unwrap();
        assert!(started.elapsed() < 2 * CLOSE_MERGE_WAIT_MAX, "{:?}", started.elapsed());
        drop(store);
        let store = EmbeddedStore::open(folder.path(), Options::default()).unwrap();
        let space = store.open_space(SpaceId(1)).unwrap();
        for family in Family::ALL {
            assert_eq!(space.get(family, b"key").unwrap().as_deref(), Some(&b"value"[..]), "{family:?}");
        }
    }
}
