//! Index entries on their way into the tree.
//!
//! Index entries are the bulk of all writes: thirty and more for an item. Put into the engine one by one, each would cost
//! a search in a memtable of hundred thousands. So they go another way, together:
//!
//! * **journal**: what a group of commits does to the index is one record (`record`), in a keyspace of the engine and in the
//!   same batch as everything else of the group;
//! * **memory**: it is a sorted chunk as well (`chunk`). Chunks of about a size are merged into larger ones; all that are
//!   not in the tree yet are the *runs*. Readers see them over the tree (`merge`);
//! * **tree**: a run that is full is written as sorted files (`land`), whole, behind everybody's back. Then its records are
//!   removed, with the next group.
//!
//! After a crash the records that are there make the runs again. A run whose records were not removed yet may be in the
//! tree already; landing it again changes nothing.
//!
//! Records of one run after the other go into two keyspaces in turn. So when the records of a run are removed, its keyspace
//! holds little else, and nothing of them is ever written to a sorted file.
//!
//! Invariants:
//! * the tree has no entry that is newer than one in a run: runs land in the order in which they were filled;
//! * every entry of a run has the sequence number of its last group, so that no sorted file is newer than the newest group.

mod chunk;
mod land;
mod merge;
pub(crate) mod record;
mod tournament;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use armilla_kv::{Error, ErrorKind, Family, Result};
use bytes::Bytes;
use fjall::{Readable as _, Slice};

use crate::engine::Engine;
use crate::failure;
use crate::keys::EngineOp;
use crate::limits::{RUN_CHUNKS_MERGED, RUN_MERGE_BYTES_MAX};
use crate::options::RUN_KEYSPACES;

pub(crate) use chunk::Chunk;
pub(crate) use merge::{Kept, Merge};

/// The keyspace whose entries go by way of runs.
pub(crate) const INDEX: usize = Family::Index as usize;

/// Runs as of one moment.
#[derive(Debug, Default)]
pub(crate) struct RunSet {
    newest_first: Vec<Arc<Chunk>>,
}

impl RunSet {
    /// Returns whether there is nothing in them.
    pub(crate) fn is_empty(&self) -> bool {
        self.newest_first.is_empty()
    }

    /// Returns what became of a key, if runs know of it.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Option<Bytes>> {
        self.newest_first.iter().find_map(|chunk| chunk.get(key))
    }

    /// Returns the chunks, newest first.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &Chunk> + Clone {
        self.newest_first.iter().map(Arc::as_ref)
    }
}

/// Where a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RecordPlace {
    keyspace: usize,
    group: u64,
}

/// A run that is being filled.
#[derive(Debug, Default)]
struct Run {
    oldest_first: Vec<Arc<Chunk>>,
    records: Vec<RecordPlace>,
}

/// A run that is full.
#[derive(Debug)]
pub(crate) struct SealedRun {
    oldest_first: Vec<Arc<Chunk>>,
    records: Vec<RecordPlace>,
    /// The engine's sequence number of the last group.
    sequence: u64,
    has_landed: AtomicBool,
}

impl SealedRun {
    fn newest_first(&self) -> impl Iterator<Item = &Chunk> + Clone {
        self.oldest_first.iter().rev().map(Arc::as_ref)
    }
}

/// The runs, as the thread that writes keeps them.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    active: Run,
    /// Which of the keyspaces takes records.
    turn: usize,
    sealed: Option<Arc<SealedRun>>,
}

impl Runs {
    /// Makes the runs again from their records.
    pub(crate) fn load(engine: &Engine) -> Result<Runs> {
        let snapshot = engine.db.snapshot();
        let mut records = BTreeMap::new();
        for (turn, keyspace) in RUN_KEYSPACES.into_iter().enumerate() {
            for entry in snapshot.iter(&engine.keyspaces[keyspace]) {
                let (key, value) = entry.into_inner().map_err(|error| failure::of_read(&error))?;
                let group = group_of(&key).ok_or_else(|| {
                    let message = format!("the record {:02x?} of index entries names no group", &key[..]);
                    Error::new(ErrorKind::Corrupt, message)
                })?;
                records.insert(group, (turn, value));
            }
        }
        let mut runs = Runs::default();
        for (group, (turn, value)) in records {
            runs.turn = turn;
            runs.push(group, record::read(&value)?);
        }
        Ok(runs)
    }

    /// Returns the write that adds a record.
    pub(crate) fn record(&self, group: u64, record: Vec<u8>) -> EngineOp {
        EngineOp { keyspace: RUN_KEYSPACES[self.turn], key: record_key(group), value: Some(record.into()) }
    }

    /// Adds what a group did, once its record is written.
    pub(crate) fn push(&mut self, group: u64, chunk: Chunk) {
        self.active.records.push(RecordPlace { keyspace: RUN_KEYSPACES[self.turn], group });
        self.active.oldest_first.push(Arc::new(chunk));
        self.active.merge_alike();
    }

    /// Returns what readers see.
    pub(crate) fn set(&self) -> RunSet {
        let sealed = self.sealed.iter().filter(|run| !run.has_landed.load(Ordering::Acquire));
        let older = sealed.flat_map(|run| run.oldest_first.iter().rev());
        RunSet { newest_first: self.active.oldest_first.iter().rev().chain(older).cloned().collect() }
    }

    /// Returns how many bytes of memory the run takes that is being filled.
    pub(crate) fn active_bytes(&self) -> u64 {
        self.active.oldest_first.iter().map(|chunk| chunk.bytes()).sum()
    }

    /// Returns how many bytes of memory all runs take.
    pub(crate) fn bytes(&self) -> u64 {
        let sealed = self.sealed.iter().flat_map(|run| &run.oldest_first).map(|chunk| chunk.bytes());
        self.active_bytes() + sealed.sum::<u64>()
    }

    /// Returns whether the run that is being filled has something in it.
    pub(crate) fn is_active(&self) -> bool {
        !self.active.oldest_first.is_empty()
    }

    /// Returns whether a full run has not landed yet.
    pub(crate) fn is_landing(&self) -> bool {
        self.sealed.as_ref().is_some_and(|run| !run.has_landed.load(Ordering::Acquire))
    }

    /// Returns whether a full run is there, be it in the tree or not.
    pub(crate) fn has_sealed(&self) -> bool {
        self.sealed.is_some()
    }

    /// Seals the run that is being filled, whose last group has that sequence number. No other may be sealed.
    pub(crate) fn seal(&mut self, sequence: u64) -> Arc<SealedRun> {
        debug_assert!(self.sealed.is_none(), "one run lands at a time");
        let Run { oldest_first, records } = std::mem::take(&mut self.active);
        let run = Arc::new(SealedRun { oldest_first, records, sequence, has_landed: AtomicBool::new(false) });
        self.turn = 1 - self.turn;
        self.sealed = Some(run.clone());
        run
    }

    /// Returns the writes that remove the records of a run that has landed.
    pub(crate) fn removals(&self) -> Vec<EngineOp> {
        let landed = self.sealed.iter().filter(|run| run.has_landed.load(Ordering::Acquire));
        let records = landed.flat_map(|run| &run.records);
        records
            .map(|RecordPlace { keyspace, group }| EngineOp {
                keyspace: *keyspace,
                key: record_key(*group),
                value: None,
            })
            .collect()
    }

    /// Lets go of a run whose records are removed. Returns the keyspaces that held them.
    pub(crate) fn forget_landed(&mut self) -> Vec<usize> {
        let Some(run) = self.sealed.take_if(|run| run.has_landed.load(Ordering::Acquire)) else {
            return Vec::new();
        };
        RUN_KEYSPACES
            .into_iter()
            .filter(|keyspace| run.records.iter().any(|record| record.keyspace == *keyspace))
            .collect()
    }

    /// Returns whether the run that is being filled consists of several chunks.
    pub(crate) fn is_in_pieces(&self) -> bool {
        self.active.oldest_first.len() > 1
    }

    /// Makes one chunk of the run that is being filled.
    pub(crate) fn merge_all(&mut self) {
        if self.is_in_pieces() {
            self.active.merge_newest(self.active.oldest_first.len());
        }
    }
}

impl Run {
    /// Merges the newest chunks where so many are of about a size.
    fn merge_alike(&mut self) {
        while let Some(newest) = self.oldest_first.last() {
            let size = size_class(newest.bytes());
            let alike = self.oldest_first.iter().rev().take_while(|chunk| size_class(chunk.bytes()) <= size);
            let (count, bytes) =
                alike.fold((0, 0), |(count, bytes), chunk| (count + 1, bytes + chunk.bytes()));
            if count < RUN_CHUNKS_MERGED || bytes > RUN_MERGE_BYTES_MAX {
                return;
            }
            self.merge_newest(count);
        }
    }

    fn merge_newest(&mut self, count: usize) {
        let newest = self.oldest_first.split_off(self.oldest_first.len() - count);
        let merged = Chunk::merged(newest.iter().rev().map(Arc::as_ref));
        self.oldest_first.push(Arc::new(merged));
    }
}

/// Returns a number that is the same for sizes of about the same.
fn size_class(bytes: u64) -> u32 {
    bytes.max(1).ilog(RUN_CHUNKS_MERGED as u64)
}

fn record_key(group: u64) -> Slice {
    group.to_be_bytes().into()
}

/// Returns which group a record is of, by its key.
pub(crate) fn group_of(key: &[u8]) -> Option<u64> {
    key.try_into().ok().map(u64::from_be_bytes)
}

/// What a group does to the index: its record, and the same as a chunk.
pub(crate) fn written(mut ops: Vec<EngineOp>) -> (Vec<u8>, Chunk) {
    // A stable sort: of two writes of one key the later one must stay the later one.
    ops.sort_by(|left, right| left.key.cmp(&right.key));
    let bytes: usize =
        ops.iter().map(|op| op.key.len() + op.value.as_ref().map_or(0, |value| value.len())).sum();
    let mut record = record::RecordWriter::with_capacity(bytes);
    let mut chunk = chunk::ChunkBuilder::with_capacity(ops.len(), bytes + ops.len() * 8);
    for (at, op) in ops.iter().enumerate() {
        if ops.get(at + 1).is_some_and(|next| next.key == op.key) {
            continue;
        }
        record.push(&op.key, op.value.as_deref());
        chunk.push(&op.key, op.value.as_deref());
    }
    (record.finish(), chunk.finish())
}

#[cfg(test)]
mod tests;
