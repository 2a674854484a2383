//! The store itself: opening, dropping spaces, closing.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use armilla_kv::{CommitLatch, Error, ErrorKind, Result, Space, SpaceId, Store, StoreStats};
use fjall::{AbstractTree, PersistMode};

use crate::failure;
use crate::journal;
use crate::limits::CLOSE_FLUSH_WAIT_MAX;
use crate::open;
use crate::options::Options;
use crate::queue::Priority;
use crate::reclaim;
use crate::records;
use crate::replaced;
use crate::shared::Shared;
use crate::space::EmbeddedSpace;
use crate::time::now;
use crate::writer::Writer;

/// The threads of a store, in the order in which they are stopped.
struct Threads(Vec<JoinHandle<()>>);

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
    /// [`ErrorKind::Corrupt`] if stored bytes fail their checks.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<EmbeddedStore> {
        let (shared, group) = open::open(path.as_ref(), options.clamped())?;
        let shared = Arc::new(shared);
        let threads = Threads::start(&shared, Writer::new(shared.clone(), group))?;
        Ok(EmbeddedStore { shared, threads: Mutex::new(Some(threads)) })
    }

    /// Moves what is buffered into sorted files, so that the next start has nothing to replay.
    fn flush(&self) -> Result<()> {
        let error =
            |error: fjall::Error| Error::new(ErrorKind::Io, format!("closing: {}", failure::message(&error)));
        self.shared.db.persist(PersistMode::SyncAll).map_err(error)?;
        for keyspace in &self.shared.keyspaces {
            keyspace.rotate_memtable().map_err(error)?;
        }
        let started = now();
        loop {
            let is_flushed = self.shared.keyspaces.iter().all(|keyspace| {
                keyspace.tree.sealed_memtable_count() == 0 && keyspace.tree.active_memtable().is_empty()
            });
            if is_flushed {
                return journal::empty(&self.shared.engine_path);
            }
            if started.elapsed() > CLOSE_FLUSH_WAIT_MAX {
                tracing::warn!(
                    "closing without having flushed everything, the next start replays the journal"
                );
                return Ok(());
            }
            // Fails once a worker of the engine has died, and then waiting would not end.
            self.shared.db.persist(PersistMode::Buffer).map_err(error)?;
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

impl Store for EmbeddedStore {
    fn open_space(&self, space: SpaceId) -> Result<Arc<dyn Space>> {
        self.shared.queue.check_open()?;
        let (state, epoch) = self.shared.spaces.open(space)?;
        Ok(Arc::new(EmbeddedSpace {
            shared: self.shared.clone(),
            state,
            epoch,
            latch: CommitLatch::default(),
        }))
    }

    fn drop_space(&self, space: SpaceId) -> Result<()> {
        self.shared.queue.check_open()?;
        self.shared.spaces.mark_dropped(space);
        if self.shared.reclaim.knows(space) {
            return Ok(());
        }
        let record = records::drop_space(space.0);
        self.shared.queue.push(Priority::Client, None, vec![record], 0)?.wait()?;
        self.shared.reclaim.add(space);
        Ok(())
    }

    fn pressure_percent(&self) -> u32 {
        self.shared.pressure_percent()
    }

    fn stats(&self) -> StoreStats {
        self.shared.stats()
    }

    fn close(&self) -> Result<()> {
        let Some(threads) = self.threads.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return Ok(());
        };
        threads.stop(&self.shared)?;
        self.flush()
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
        let (reclaiming, retiring, replacing) = (shared.clone(), shared.clone(), shared.clone());
        let mut threads = Threads(Vec::new());
        let started = spawn("store-reclaim", move || reclaim::run(&reclaiming))
            .map(|thread| threads.0.push(thread))
            .and_then(|()| spawn("store-writer", move || writer.run()))
            .map(|thread| threads.0.push(thread))
            .and_then(|()| spawn("store-retire", move || retiring.retired.run()))
            .map(|thread| threads.0.push(thread))
            .and_then(|()| spawn("store-replaced", move || replaced::run(&replacing)))
            .map(|thread| threads.0.push(thread));
        match started {
            Ok(()) => Ok(threads),
            Err(error) => {
                let _ = threads.stop(shared);
                Err(error)
            }
        }
    }

    fn stop(self, shared: &Shared) -> Result<()> {
        shared.reclaim.stop();
        shared.queue.refuse(closed());
        shared.retired.stop();
        shared.replaced.stop();
        let mut died = false;
        for thread in self.0 {
            died |= thread.join().is_err();
        }
        if died {
            return Err(Error::new(
                ErrorKind::Io,
                "a thread of the store has died, the next start replays the journal",
            ));
        }
        Ok(())
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot start thread {name}: {error}")))
}

fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the store is closed")
}
