//! Going on after a failed write, without a restart.
//!
//! The engine takes no writes once one has failed, be it that the disk was full or that there was no descriptor left, and it
//! cannot be told otherwise. So when there is room again its instance is replaced by a new one over the same files. Until
//! then readers go on with the old one, which still holds everything in memory; while it is replaced they are told to come
//! again.
//!
//! What happened to the batch that failed is not known: its caller was told so. The journal is cut off behind the last
//! group that was acknowledged, because bytes that the system has failed to write once may seem to be there and be gone
//! after a loss of power. (With relaxed durability whatever is whole stays, as after any crash.)
//!
//! Invariant: nothing acknowledged is lost. It is in the journal, which was synced, or in sorted files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use armilla_kv::{Durability, Result};

use crate::engine::Engine;
use crate::examine::{Examined, examine, refusal};
use crate::journal;
use crate::limits::{
    RECOVERY_FREE_BYTES, RECOVERY_FREE_DESCRIPTORS, RECOVERY_PERIOD_MAX, RECOVERY_PERIOD_MIN,
    RECOVERY_POLL_PERIOD, RECOVERY_TRUST_PERIOD,
};
use crate::open::{self, Files};
use crate::shared::Shared;
use crate::survey::Depth;
use crate::time::now;

/// When to try again.
#[derive(Debug)]
pub(crate) struct Patience {
    period: Duration,
    recovered_at: Option<Instant>,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { period: RECOVERY_PERIOD_MIN, recovered_at: None }
    }
}

impl Patience {
    /// Returns how long to wait before the next attempt.
    pub(crate) fn period(&self) -> Duration {
        self.period
    }

    /// Notes that writes have failed.
    pub(crate) fn failed(&mut self) {
        match self.recovered_at.take() {
            // The cause was not what it seemed to be: something that a new instance does not cure.
            Some(at) if at.elapsed() < RECOVERY_TRUST_PERIOD => self.attempt_failed(),
            _ => self.period = RECOVERY_PERIOD_MIN,
        }
    }

    /// Notes that an attempt did not help.
    pub(crate) fn attempt_failed(&mut self) {
        self.period = (self.period * 2).min(RECOVERY_PERIOD_MAX);
    }

    /// Notes that writes go on.
    pub(crate) fn recovered(&mut self) {
        self.recovered_at = Some(now());
    }
}

/// Fails while there is not enough room on the disk, or not enough descriptors, for the engine to go on.
pub(crate) fn check_room(shared: &Shared) -> std::io::Result<()> {
    let buffered = shared.view.engine().map_or(0, |engine| shared.write_buffer_bytes(&engine));
    let probe = shared.folder.join("store.probe");
    let outcome = occupy(&probe, buffered + RECOVERY_FREE_BYTES).and_then(|_file| {
        let descriptors: std::io::Result<Vec<File>> =
            (0..RECOVERY_FREE_DESCRIPTORS).map(|_| File::open(&shared.folder)).collect();
        descriptors.map(|_| ())
    });
    match std::fs::remove_file(&probe) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => outcome.and(Err(error)),
        _ => outcome,
    }
}

#[cfg(target_os = "linux")]
fn occupy(path: &Path, bytes: u64) -> std::io::Result<File> {
    use rustix::fs::{FallocateFlags, fallocate};
    let file = File::create(path)?;
    match fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        // Not every file system can promise room without writing.
        Err(rustix::io::Errno::OPNOTSUPP) => fill(&file, bytes)?,
        outcome => outcome?,
    }
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn occupy(path: &Path, bytes: u64) -> std::io::Result<File> {
    let file = File::create(path)?;
    fill(&file, bytes)?;
    Ok(file)
}

fn fill(mut file: &File, bytes: u64) -> std::io::Result<()> {
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), bytes), &mut file)?;
    file.sync_all()
}

/// Fails if the files could not be opened. What is seen while the engine still works may be half of something: then a
/// later attempt sees more.
pub(crate) fn check_files(shared: &Shared) -> Result<()> {
    match examine(&shared.folder, Depth::Known, &mut |_, _| {})? {
        Examined::Damaged(findings) => Err(refusal(&shared.folder, &findings)),
        Examined::New => Err(refusal(&shared.folder, &[])),
        Examined::Older(_) | Examined::Known(_) => Ok(()),
    }
}

/// Waits until no thread uses an instance of the engine any more, and drops it. No view of it may be published.
pub(crate) fn let_go(shared: &Shared, engine: Arc<Engine>) {
    engine.retire();
    shared.background.clear();
    shared.replaced.expect_news();
    shared.retired.clear();
    let mut engine = Some(engine);
    while let Some(left) = engine.take() {
        // Readers hold it for one operation each, and none can begin another.
        match Arc::try_unwrap(left) {
            Ok(last) => drop(last),
            Err(shared_still) => {
                engine = Some(shared_still);
                std::thread::sleep(RECOVERY_POLL_PERIOD);
            }
        }
    }
}

/// Opens the files again, of which no instance is open.
pub(crate) fn reopen(shared: &Shared, acknowledged: Option<u64>) -> Result<Files> {
    if let (Durability::Strict, Some(group)) = (shared.options.durability, acknowledged) {
        journal::cut_after(&shared.engine_path, group)?;
    }
    let (files, _records, manifest) = open::open_files(&shared.folder, &shared.options)?;
    shared.watch.set(manifest);
    shared.watch.expect_news();
    Ok(files)
}
