//! The engine, open: one instance of it, which can be replaced by another over the same files.
//!
//! After a write has failed the engine takes no more, for good. So an instance lives until then, is dropped with everything
//! that refers to its files, and is followed by another (`writer::recover`). No reader holds on to an instance longer
//! than for one operation, except for the view at which readers read, which is replaced first.
//!
//! Invariant: never are there two instances at a time. The old one may still delete files by names that the new one gives
//! again.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use armilla_kv::{Error, ErrorKind, Family, Result};
use fjall::{AbstractTree, CompressionType, Database, Keyspace, OwnedWriteBatch, PersistMode};
use parking_lot::{Mutex, MutexGuard};

use crate::failure;
use crate::moment::Readers;
use crate::options::{KEYSPACE_NAMES, KEYSPACES, Options, RECORDS, layout};
use crate::records;
use crate::view;

/// An open engine.
pub(crate) struct Engine {
    // Dropped in this order: what refers to the engine, then the engine.
    pub(crate) keyspaces: [Keyspace; KEYSPACES],
    pub(crate) db: Database,
    is_retired: AtomicBool,
    /// What reads its files beside the engine, for backups.
    moments: Mutex<Vec<Weak<Readers>>>,
}

/// How the engine works in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Background {
    /// It flushes and merges.
    Working,
    /// It does nothing, so that no sorted file comes or goes.
    Resting,
}

impl Engine {
    /// Opens the engine in its folder, which was found to be whole, or makes both. Returns it with the records it holds.
    pub(crate) fn open(
        engine_path: &Path,
        options: &Options,
        background: Background,
    ) -> Result<(Engine, records::Loaded)> {
        let (db, keyspaces) = open_database(engine_path, options, background)?;
        check_groups(&keyspaces, engine_path)?;
        let mut loaded = records::load(&db.snapshot(), &keyspaces[RECORDS])?;
        if loaded.group.is_none() {
            write_first_group(&db, &keyspaces)?;
            loaded.group = Some(0);
        }
        Ok((Engine { keyspaces, db, is_retired: AtomicBool::new(false), moments: Mutex::default() }, loaded))
    }

    pub(crate) fn family(&self, family: Family) -> &Keyspace {
        &self.keyspaces[family as usize]
    }

    /// Returns whether everything written is in sorted files.
    pub(crate) fn is_flushed(&self) -> bool {
        self.keyspaces.iter().all(|keyspace| {
            keyspace.tree.sealed_memtable_count() == 0 && keyspace.tree.active_memtable().is_empty()
        })
    }

    /// Returns the sequence number up to which no reader needs what was replaced.
    pub(crate) fn oldest_needed(&self) -> u64 {
        self.db.supervisor.snapshot_tracker.get_seqno_safe_to_gc()
    }

    /// Fails if one of the engine's workers has died or a write has failed: it takes no more writes then.
    pub(crate) fn check_healthy(&self) -> fjall::Result<()> {
        self.db.persist(PersistMode::Buffer)
    }

    /// Says that the instance is to go, so that no caller begins to use it, and ends the readers that hold its files
    /// for long.
    pub(crate) fn retire(&self) {
        self.is_retired.store(true, Ordering::Release);
        let moments = std::mem::take(&mut *self.moments());
        moments.iter().filter_map(Weak::upgrade).for_each(|readers| readers.end());
    }

    /// Remembers who reads the files for long.
    pub(crate) fn keep(&self, readers: &Arc<Readers>) -> Result<()> {
        let mut moments = self.moments();
        if self.is_retired() {
            return Err(view::ended());
        }
        moments.retain(|kept| kept.strong_count() > 0);
        moments.push(Arc::downgrade(readers));
        Ok(())
    }

    fn moments(&self) -> MutexGuard<'_, Vec<Weak<Readers>>> {
        self.moments.lock()
    }

    pub(crate) fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Acquire)
    }
}

fn open_database(
    engine_path: &Path,
    options: &Options,
    background: Background,
) -> Result<(Database, [Keyspace; KEYSPACES])> {
    let worker_threads = match background {
        // It turns over the journal. The rest is done elsewhere (`background`).
        Background::Working => 1,
        Background::Resting => 0,
    };
    // The engine asserts in places where damaged files can lead it. A panic there is a finding about the
    // files, not about this process.
    let opened = std::panic::catch_unwind(AssertUnwindSafe(|| -> fjall::Result<_> {
        let db = Database::builder(engine_path)
            .cache_size(options.block_cache_bytes)
            .max_journaling_size(options.journal_bytes_max)
            .max_cached_files(Some(options.cached_files_max))
            .worker_threads_unchecked(worker_threads)
            // A replay compresses every long value again to compare sums, which costs as much as the replay
            // itself and binds the journal to one version of the compressor.
            .journal_compression(CompressionType::None)
            .open()?;
        let mut keyspaces = Vec::with_capacity(KEYSPACES);
        for (index, name) in KEYSPACE_NAMES.iter().enumerate() {
            keyspaces.push(db.keyspace(name, || layout(index))?);
        }
        Ok((db, keyspaces))
    }));
    let (db, keyspaces) = match opened {
        Ok(opened) => opened.map_err(|error| failure::of_open(&error, engine_path))?,
        Err(_) => {
            let message = format!("the engine gave up on the files in {}", engine_path.display());
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
    };
    let keyspaces: [Keyspace; KEYSPACES] =
        keyspaces.try_into().map_err(|_| Error::new(ErrorKind::Corrupt, "the engine lost a keyspace"))?;
    Ok((db, keyspaces))
}

/// Checks that no keyspace holds anything newer than the newest group: see [`records::GROUP`].
fn check_groups(keyspaces: &[Keyspace; KEYSPACES], path: &Path) -> Result<()> {
    let newest_group = records::group_sequence(&keyspaces[RECORDS])?;
    for (keyspace, name) in keyspaces.iter().zip(KEYSPACE_NAMES) {
        let newest_entry = keyspace.tree.get_highest_persisted_seqno();
        if newest_entry > newest_group {
            return Err(Error::new(
                ErrorKind::Corrupt,
                format!(
                    "the journal in {} ends before data that family {name} already holds",
                    path.display()
                ),
            ));
        }
    }
    Ok(())
}

fn write_first_group(db: &Database, keyspaces: &[Keyspace; KEYSPACES]) -> Result<()> {
    let first = records::group(0);
    let mut batch = OwnedWriteBatch::with_capacity(db.clone(), 1).durability(Some(PersistMode::SyncAll));
    batch.insert(&keyspaces[RECORDS], first.key, first.value.unwrap_or_default());
    batch.commit().map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot write to the new store: {}", failure::message(&error)))
    })
}
