//! Opening a folder: lock, format, journals, engine, records.

use std::fs::{File, TryLockError};
use std::panic::AssertUnwindSafe;
use std::path::Path;

use armilla_kv::{Error, ErrorKind, Result};
use fjall::{AbstractTree, CompressionType, Database, Keyspace, OwnedWriteBatch, PersistMode};

use crate::failure;
use crate::format;
use crate::journal;
use crate::options::{KEYSPACE_NAMES, KEYSPACES, Options, RECORDS, layout};
use crate::priority::Workers;
use crate::queue::Queue;
use crate::reclaim::Reclaim;
use crate::records;
use crate::replaced::Replaced;
use crate::retired::Retired;
use crate::shared::Shared;
use crate::spaces::Spaces;
use crate::stats::Counters;
use crate::view::View;

/// Folder of the engine inside the store's folder.
const ENGINE_FOLDER: &str = "fjall";

/// File that the engine writes last when it makes a database.
const ENGINE_MARKER: &str = "version";

const LOCK_FILE: &str = "store.lock";

/// Opens a folder. Returns the store and the number of its newest group.
pub(crate) fn open(path: &Path, options: Options) -> Result<(Shared, u64)> {
    std::fs::create_dir_all(path).map_err(|error| failure::of_file("make the folder", path, &error))?;
    let lock = lock(path)?;
    let engine_path = path.join(ENGINE_FOLDER);
    let written_with = format::read(path)?;
    let exists = engine_path
        .join(ENGINE_MARKER)
        .try_exists()
        .map_err(|error| failure::of_file("look into", &engine_path, &error))?;
    let journaled = match (written_with, exists) {
        (Some(durability), true) => journal::repair(&engine_path, durability)?,
        (None, true) => {
            let message = format!("{} holds data but no format file", path.display());
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        (_, false) => {
            remove_unfinished(&engine_path)?;
            None
        }
    };
    if written_with != Some(options.durability) {
        format::write(path, options.durability)?;
    }
    let workers = Workers::now();
    let (db, keyspaces) = open_engine(&engine_path, &options)?;
    workers.let_new_ones_stand_back(options.worker_threads);
    check_groups(&keyspaces, path)?;
    let loaded = records::load(&db.snapshot(), &keyspaces[RECORDS])?;
    let group = match (loaded.group, journaled) {
        // A sorted file may hold the newest group's record while the rest of that group is in the journal alone.
        (Some(group), Some(journaled)) if journaled < group => {
            return Err(Error::new(
                ErrorKind::Corrupt,
                format!("the journal in {} ends at group {journaled}, before group {group}", path.display()),
            ));
        }
        (Some(group), _) => group,
        (None, _) => write_first_group(&db, &keyspaces)?,
    };
    let shared = Shared {
        spaces: Spaces::new(loaded.dropped),
        queue: Queue::new(options.queue_bytes_max),
        reclaim: Reclaim::new(loaded.to_reclaim, loaded.gone),
        retired: Retired::default(),
        replaced: Replaced::default(),
        counters: Counters::default(),
        view: View::new(&db),
        options,
        keyspaces,
        db,
        engine_path,
        _lock: lock,
    };
    Ok((shared, group))
}

fn lock(path: &Path) -> Result<File> {
    let lock_path = path.join(LOCK_FILE);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&lock_path)
        .map_err(|error| failure::of_file("open", &lock_path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = format!("the store in {} is open in another process", path.display());
            Err(Error::new(ErrorKind::Locked, message))
        }
        Err(TryLockError::Error(error)) => Err(failure::of_file("lock", &lock_path, &error)),
    }
}

/// Removes what an interrupted first start left behind: the engine would stumble over its own files.
fn remove_unfinished(engine_path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(engine_path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(failure::of_file("clear the unfinished folder", engine_path, &error))
        }
        _ => Ok(()),
    }
}

fn open_engine(engine_path: &Path, options: &Options) -> Result<(Database, [Keyspace; KEYSPACES])> {
    // The engine asserts in places where damaged files can lead it. A panic there is a finding about the
    // files, not about this process.
    let opened = std::panic::catch_unwind(AssertUnwindSafe(|| -> fjall::Result<_> {
        let db = Database::builder(engine_path)
            .cache_size(options.block_cache_bytes)
            .max_journaling_size(options.journal_bytes_max)
            .max_cached_files(Some(options.cached_files_max))
            .worker_threads(options.worker_threads)
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

fn write_first_group(db: &Database, keyspaces: &[Keyspace; KEYSPACES]) -> Result<u64> {
    let first = records::group(0);
    let mut batch = OwnedWriteBatch::with_capacity(db.clone(), 1).durability(Some(PersistMode::SyncAll));
    batch.insert(&keyspaces[RECORDS], first.key, first.value.unwrap_or_default());
    batch.commit().map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot write to the new store: {}", failure::message(&error)))
    })?;
    Ok(0)
}
