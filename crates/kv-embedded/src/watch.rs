//! Keeps the manifest up with the engine, behind everybody's back.
//!
//! The engine flushes and merges by itself. This thread looks now and then at which lists of sorted files and which journals
//! there are, and writes what has changed. It reads the same files as the next start will, not the engine's memory, and it
//! never hurries: a manifest that is behind asks for less than there is, and files that it does not know yet are read whole
//! at the next start.

use std::path::Path;

use armilla_kv::Result;
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::journal::{self, JournalReader};
use crate::limits::{WATCH_LOOKS_IN_VAIN_MAX, WATCH_PERIOD};
use crate::manifest::{self, Family, Journal, Manifest, Sealed, State, Table};
use crate::shared::Shared;
use crate::sorted::{self, Readable};

/// Tells the thread when to look, and keeps what it wrote last.
pub(crate) struct Watch {
    inner: Mutex<Inner>,
    changed: Condvar,
}

struct Inner {
    /// What was written last. Nothing in a copy, whose manifest is not read.
    manifest: Option<Manifest>,
    has_news: bool,
    stopping: bool,
}

impl Watch {
    pub(crate) fn new(manifest: Option<Manifest>) -> Watch {
        Watch {
            inner: Mutex::new(Inner { manifest, has_news: true, stopping: false }),
            changed: Condvar::new(),
        }
    }

    /// Says that the engine will have something to do.
    pub(crate) fn expect_news(&self) {
        self.lock().has_news = true;
        self.changed.notify_one();
    }

    /// Ends the thread.
    pub(crate) fn stop(&self) {
        self.lock().stopping = true;
        self.changed.notify_one();
    }

    /// Goes on from a manifest that was written elsewhere.
    pub(crate) fn set(&self, manifest: Manifest) {
        self.lock().manifest = Some(manifest);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    /// Waits for the next look. Returns whether there is to be one.
    fn wait(&self, looks_in_vain: &mut u32) -> bool {
        let mut inner = self.lock();
        if *looks_in_vain >= WATCH_LOOKS_IN_VAIN_MAX {
            self.changed.wait_while(&mut inner, |inner| !inner.has_news && !inner.stopping);
        }
        self.changed.wait_while_for(&mut inner, |inner| !inner.stopping, WATCH_PERIOD);
        if std::mem::take(&mut inner.has_news) {
            *looks_in_vain = 0;
        }
        !inner.stopping
    }
}

/// Renews the manifest until told to stop.
pub(crate) fn run(shared: &Shared) {
    let mut looks_in_vain = 0;
    while shared.watch.wait(&mut looks_in_vain) {
        let Some(before) = shared.watch.lock().manifest.clone() else { return };
        // While the engine is replaced, its files are looked at by the thread that replaces it.
        if shared.view.engine().is_none() {
            continue;
        }
        match look(&shared.engine_path, &before) {
            Ok(now) if now == before => looks_in_vain += 1,
            Ok(now) => {
                looks_in_vain = 0;
                // Not under the lock: no thread waits for a disk there.
                match manifest::write(&shared.folder, &now) {
                    Ok(()) => shared.watch.set(now),
                    Err(error) => tracing::warn!(%error, "the manifest stays behind"),
                }
            }
            // A file went while it was looked at. The next look finds what took its place.
            Err(problem) => tracing::debug!(problem, "the engine's files are changing"),
        }
    }
}

/// Writes that everything up to a group is in sorted files, and then empties the journals.
pub(crate) fn close(shared: &Shared, group: u64) -> Result<()> {
    let Some(before) = shared.watch.lock().manifest.clone() else { return Ok(()) };
    // Merging may still go on, so a look can miss a file that has just gone.
    let looked = (0..5).find_map(|_| look(&shared.engine_path, &before).ok());
    let Some(mut now) = looked else {
        tracing::warn!("the manifest stays behind: the engine's files do not stay as they are");
        return Ok(());
    };
    now.flushed_group = group;
    let families = now.families.iter().filter(|family| family.id != 0);
    now.flushed_sequence = families.filter_map(|family| family.newest_sequence).max().unwrap_or(0);
    manifest::write(&shared.folder, &now)?;
    journal::empty(&shared.engine_path)?;
    let ids = journal::list(&shared.engine_path)?;
    now.journals = ids.into_iter().map(|(id, _)| Journal { id, sealed: None }).collect();
    now.state = State::Closed;
    manifest::write(&shared.folder, &now)?;
    shared.watch.set(now);
    Ok(())
}

/// Returns the manifest of what is there now.
fn look(engine_path: &Path, before: &Manifest) -> Readable<Manifest> {
    let mut now = Manifest { state: State::Open, ..before.clone() };
    for family in &mut now.families {
        look_at_family(engine_path, family)?;
    }
    look_at_journals(engine_path, &mut now)?;
    Ok(now)
}

fn look_at_family(engine_path: &Path, family: &mut Family) -> Readable<()> {
    let folder = engine_path.join("keyspaces").join(family.id.to_string());
    let list = sorted::read_list(&folder).map_err(|(file, problem)| format!("{file}: {problem}"))?;
    if list.version == family.version {
        return Ok(());
    }
    let known = std::mem::take(&mut family.tables);
    family.newest_sequence = None;
    for listed in list.tables {
        let ending = sorted::read_ending(&sorted::table_path(&folder, listed.id))?;
        let is_listed = |table: &&Table| (table.id, table.sum) == (listed.id, listed.sum);
        // What a known file was like when it was new stays true, whatever became of it.
        family.tables.push(known.iter().find(is_listed).copied().unwrap_or(Table {
            id: listed.id,
            sum: listed.sum,
            bytes: ending.bytes,
            tail_sum: ending.sum,
        }));
        let newest = ending.newest_sequence.saturating_add(listed.base_sequence);
        family.newest_sequence = family.newest_sequence.max(Some(newest));
    }
    family.version = list.version;
    Ok(())
}

fn look_at_journals(engine_path: &Path, now: &mut Manifest) -> Readable<()> {
    let journals = journal::list(engine_path).map_err(|error| error.to_string())?;
    let known = std::mem::take(&mut now.journals);
    let newest = journals.last().map(|(id, _)| *id);
    for (position, (id, path)) in journals.into_iter().enumerate() {
        let sealed_before =
            known.iter().find(|journal| journal.id == id).and_then(|journal| journal.sealed.clone());
        let sealed = match sealed_before {
            None if Some(id) != newest => read_sealed(&path)?,
            sealed => sealed,
        };
        let is_new_oldest = position == 0 && known.first().is_some_and(|oldest| oldest.id != id);
        if is_new_oldest && let Some(first) = first_batch(&path)? {
            now.flushed_group = first.group.saturating_sub(1);
            now.flushed_sequence = first.sequence.saturating_sub(1);
        }
        now.journals.push(Journal { id, sealed });
    }
    Ok(())
}

fn first_batch(path: &Path) -> Readable<Option<journal::BatchFound>> {
    JournalReader::open(path).and_then(|mut reader| reader.next_batch(None)).map_err(sorted::said)
}

fn read_sealed(path: &Path) -> Readable<Option<Sealed>> {
    let mut reader = JournalReader::open(path).map_err(sorted::said)?;
    let mut batches = None;
    let mut newest = None;
    while let Some(batch) = reader.next_batch(newest).map_err(sorted::said)? {
        batches = Some((batches.map_or(batch.group, |(first, _)| first), batch.group));
        newest = Some(batch);
    }
    let newest_sequences = reader.newest_sequences().iter().map(|(id, sequence)| (*id, *sequence)).collect();
    Ok(batches.map(|(first_group, last_group)| Sealed { first_group, last_group, newest_sequences }))
}
