//! The one thread that writes.
//!
//! It takes everything that has queued up, writes it as one engine batch with one durability wait,
//! publishes the new view, and completes the waiting callers. It is also the only thread that seals
//! memtables, so that it decides, by the options of this run, how much memory and journal they take.
//!
//! Before a commit it waits until the engine's background work has caught up. The engine would wait too,
//! but in steps of 100 ms, after the batch is durable, and without an end if its workers have died.
//!
//! Before it comes to that it slows down: merging level 0 takes seconds, in which nothing would be written at all.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use armilla_kv::{Durability, Error, ErrorKind, Result};
use fjall::{AbstractTree, OwnedWriteBatch, PersistMode};

use crate::failure;
use crate::limits::{
    COMMIT_STALL_MIN, RELAXED_SYNC_PERIOD, SEALED_MEMTABLES_MAX, SLOW_BYTES_PER_SECOND, SLOW_PAUSE_MAX,
    SLOW_RUNS_PERCENT, STALL_PATIENCE, STALL_POLL_PERIOD, VIEW_RENEWAL_PERIOD,
};
use crate::options::{KEYSPACES, RECORDS};
use crate::queue::{Job, Next};
use crate::records;
use crate::shared::Shared;
use crate::time::now;

pub(crate) struct Writer {
    shared: Arc<Shared>,
    /// Number of the newest group.
    group: u64,
    /// Bytes written to the journal since each keyspace was sealed last.
    journaled_bytes: [u64; KEYSPACES],
    /// Since when commits wait for a sync, with relaxed durability.
    unsynced_since: Option<Instant>,
}

impl Writer {
    pub(crate) fn new(shared: Arc<Shared>, group: u64) -> Writer {
        Writer { shared, group, journaled_bytes: [0; KEYSPACES], unsynced_since: None }
    }

    /// Writes until the queue is closed and empty.
    pub(crate) fn run(mut self) {
        // If a panic in the engine ends this thread, nobody may wait for it.
        let _guard = FailQueue(self.shared.clone());
        loop {
            match self.shared.queue.take(self.patience()) {
                Next::Group(group) => self.write(group),
                // Only the time for a sync has come, which is looked after below.
                Next::Idle if self.unsynced_since.is_some() => {}
                Next::Idle => self.tidy_up(),
                Next::Closed => break,
            }
            self.sync_if_due(false);
        }
        self.sync_if_due(true);
    }

    /// Returns how long to wait for work before looking after the rest.
    fn patience(&self) -> Option<Duration> {
        if let Some(since) = self.unsynced_since {
            return Some(RELAXED_SYNC_PERIOD.saturating_sub(since.elapsed()));
        }
        // A view older than the last flush keeps flushed memory and replaced files alive.
        let view_is_old = self.shared.db.visible_seqno() != self.shared.view.latest().seqno();
        let db = &self.shared.db;
        (view_is_old || db.outstanding_flushes() > 0 || db.active_compactions() > 0)
            .then_some(VIEW_RENEWAL_PERIOD)
    }

    /// Lets the engine forget what only an older view needed, in a pause between commits.
    fn tidy_up(&self) {
        self.shared.view.publish(&self.shared.db);
        // The engine forgets old versions when it seals a memtable, so seal the smallest.
        if self.shared.retired.is_waiting() {
            self.seal(RECORDS);
        }
    }

    fn write(&mut self, group: Vec<Job>) {
        if let Err(error) = self.wait_for_background_work() {
            self.poison(&error);
            for job in group {
                job.completion.complete(Err(error.clone()));
            }
            return;
        }
        self.slow_down(&group);
        let mut admitted = Vec::with_capacity(group.len());
        let mut ops = Vec::new();
        let mut bytes = 0;
        for job in group {
            let Job { writer, ops: job_ops, bytes: job_bytes, completion } = job;
            let admission = match &writer {
                Some((state, epoch)) => self.shared.spaces.admit(state, *epoch),
                None => Ok(()),
            };
            match admission {
                Ok(()) => {
                    ops.extend(job_ops);
                    bytes += job_bytes as u64;
                    admitted.push((writer.is_some(), completion));
                }
                Err(error) => completion.complete(Err(error)),
            }
        }
        let outcome = if ops.is_empty() { Ok(()) } else { self.commit(ops) };
        if outcome.is_ok() {
            self.shared.view.publish(&self.shared.db);
            let client_commits = admitted.iter().filter(|(from_client, _)| *from_client).count();
            self.shared.counters.commits.fetch_add(client_commits as u64, Ordering::Relaxed);
        }
        self.shared.spaces.group_over();
        if let Err(error) = &outcome {
            self.poison(error);
        }
        for (_, completion) in admitted {
            completion.complete(outcome.clone());
        }
        if outcome.is_ok() {
            self.seal_memtables(bytes);
        }
    }

    fn commit(&mut self, mut ops: Vec<crate::keys::EngineOp>) -> Result<()> {
        // Neighbours in a memtable are found faster one after the other. A stable sort: of two writes of one key the later
        // one must stay the later one.
        ops.sort_by(|left, right| (left.keyspace, &left.key).cmp(&(right.keyspace, &right.key)));
        let mode = match self.shared.options.durability {
            Durability::Strict => PersistMode::SyncAll,
            // Never without a mode: the engine would keep the last 8 KiB in its own memory.
            Durability::Relaxed => PersistMode::Buffer,
        };
        let group = self.group + 1;
        let mut batch =
            OwnedWriteBatch::with_capacity(self.shared.db.clone(), ops.len() + 1).durability(Some(mode));
        for op in ops.into_iter().chain([records::group(group)]) {
            let keyspace = &self.shared.keyspaces[op.keyspace];
            match op.value {
                Some(value) => batch.insert(keyspace, op.key, value),
                None => batch.remove(keyspace, op.key),
            }
        }
        let started = now();
        let outcome = batch.commit();
        let took = started.elapsed();
        match self.shared.options.durability {
            Durability::Strict => self.shared.counters.flushes.add(took),
            Durability::Relaxed => {
                self.unsynced_since.get_or_insert(started);
            }
        }
        if took > COMMIT_STALL_MIN {
            self.shared.counters.stalls.add(took);
        }
        match outcome {
            Ok(()) => {
                self.group = group;
                Ok(())
            }
            // Said before the engine writes anything: one of its workers has died.
            Err(error @ fjall::Error::Poisoned) => Err(Error::new(
                ErrorKind::Io,
                format!("nothing was written, restart the program: {}", failure::message(&error)),
            )),
            Err(error) => Err(Error::new(
                ErrorKind::OutcomeUnknown,
                format!(
                    "writing failed, the data may or may not be there after a restart: {}",
                    failure::message(&error)
                ),
            )),
        }
    }

    /// Waits while a commit would be held back by the engine, or would take more memory than allowed.
    fn wait_for_background_work(&self) -> Result<()> {
        if !self.must_wait() {
            return Ok(());
        }
        let started = now();
        let mut nudged = started;
        while self.must_wait() {
            std::thread::sleep(STALL_POLL_PERIOD);
            if nudged.elapsed() > STALL_PATIENCE {
                self.work_along().map_err(|error| {
                    let message =
                        format!("background work failed, restart the program: {}", failure::message(&error));
                    Error::new(ErrorKind::Io, message)
                })?;
                nudged = now();
            }
        }
        self.shared.counters.stalls.add(started.elapsed());
        Ok(())
    }

    /// Holds a group back for a moment if level 0 of a family is filling up faster than it is merged.
    fn slow_down(&self, group: &[Job]) {
        let runs = self.shared.keyspaces.iter().map(|keyspace| keyspace.tree.l0_run_count()).max();
        let bytes = group.iter().map(|job| job.bytes as u64).sum();
        let pause = pause(bytes, runs.unwrap_or(0), self.shared.options.level_0_runs_max());
        if pause > Duration::ZERO {
            std::thread::sleep(pause);
            self.shared.counters.stalls.add(pause);
        }
    }

    /// Does a piece of the background work, in case the engine has lost the message that asks for it.
    fn work_along(&self) -> fjall::Result<()> {
        // Fails once a worker of the engine has died, and then waiting would not end.
        self.shared.db.persist(PersistMode::Buffer)?;
        let level_0_runs_max = self.shared.options.level_0_runs_max();
        let oldest_needed = self.shared.db.supervisor.snapshot_tracker.get_seqno_safe_to_gc();
        for keyspace in &self.shared.keyspaces {
            if keyspace.tree.sealed_memtable_count() > 0 {
                let lock = keyspace.tree.get_flush_lock();
                keyspace.tree.flush(&lock, oldest_needed)?;
            }
            if keyspace.tree.l0_run_count() >= level_0_runs_max {
                keyspace.tree.compact(keyspace.config.compaction_strategy.clone(), oldest_needed)?;
            }
        }
        Ok(())
    }

    fn must_wait(&self) -> bool {
        let level_0_runs_max = self.shared.options.level_0_runs_max();
        let held_back = self.shared.keyspaces.iter().any(|keyspace| {
            keyspace.tree.sealed_memtable_count() >= SEALED_MEMTABLES_MAX
                || keyspace.tree.l0_run_count() >= level_0_runs_max
        });
        held_back || {
            // Only what is being flushed can shrink: without it, waiting would not end.
            let sealed =
                self.shared.keyspaces.iter().any(|keyspace| keyspace.tree.sealed_memtable_count() > 0);
            sealed && self.shared.write_buffer_bytes() > self.shared.options.write_buffer_bytes
        }
    }

    /// Seals the memtables that are full, and those that keep an old journal alive.
    fn seal_memtables(&mut self, bytes: u64) {
        for (index, keyspace) in self.shared.keyspaces.iter().enumerate() {
            self.journaled_bytes[index] += bytes;
            let size = keyspace.tree.active_memtable().size();
            let is_full = size > self.shared.options.memtable_bytes_max(index);
            let holds_journal =
                size > 0 && self.journaled_bytes[index] > self.shared.options.journal_bytes_max / 2;
            if !is_full && !holds_journal {
                continue;
            }
            self.journaled_bytes[index] = 0;
            self.seal(index);
        }
    }

    fn seal(&self, index: usize) {
        let keyspace = &self.shared.keyspaces[index];
        let memtable = keyspace.tree.active_memtable();
        match keyspace.rotate_memtable() {
            Ok(true) => {
                self.shared.retired.add(memtable);
                self.shared.replaced.expect_news();
            }
            Ok(false) => {}
            // The data is safe in the journal; the next commit will meet the same error and report it.
            Err(error) => tracing::warn!(error = failure::message(&error), "cannot seal a memtable"),
        }
    }

    /// With relaxed durability, syncs what was written some time ago.
    fn sync_if_due(&mut self, at_once: bool) {
        let Some(since) = self.unsynced_since else { return };
        if !at_once && since.elapsed() < RELAXED_SYNC_PERIOD {
            return;
        }
        self.unsynced_since = None;
        let started = now();
        match self.shared.db.persist(PersistMode::SyncAll) {
            Ok(()) => self.shared.counters.flushes.add(started.elapsed()),
            Err(error) => self.poison(&Error::new(ErrorKind::Io, failure::message(&error))),
        }
    }

    /// Refuses all later commits: after a failed write the engine's state on disk is not known.
    fn poison(&self, error: &Error) {
        tracing::error!(%error, "the store stops accepting writes");
        self.shared.queue.refuse(Error::new(
            ErrorKind::Io,
            format!("an earlier write failed and the store takes no more, restart the program: {error}"),
        ));
        for job in self.shared.queue.drain() {
            job.completion.complete(Err(Error::new(
                ErrorKind::Io,
                format!("not written, restart the program: {error}"),
            )));
        }
    }
}

/// Returns how long to hold back a group of so many bytes, with so many runs in level 0.
fn pause(bytes: u64, runs: usize, runs_max: usize) -> Duration {
    let (runs, runs_max) = (runs as u64, runs_max as u64);
    let slow_from = runs_max * SLOW_RUNS_PERCENT / 100;
    if runs < slow_from || runs_max <= slow_from {
        return Duration::ZERO;
    }
    let (fast, slow) = SLOW_BYTES_PER_SECOND;
    let steps = (runs_max - slow_from).min(runs - slow_from);
    let rate = fast - (fast - slow) * steps / (runs_max - slow_from);
    Duration::from_micros(bytes.saturating_mul(1_000_000) / rate).min(SLOW_PAUSE_MAX)
}

/// Fails what is queued when the writer thread ends, however it ends.
struct FailQueue(Arc<Shared>);

impl Drop for FailQueue {
    fn drop(&mut self) {
        self.0.queue.refuse(Error::new(ErrorKind::Io, "the writer has stopped, restart the program"));
        for job in self.0.queue.drain() {
            job.completion.complete(Err(Error::new(ErrorKind::Io, "not written, the writer has stopped")));
        }
        self.0.spaces.group_over();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_are_slowed_down_before_they_have_to_wait() {
        const MEGABYTE: u64 = 1024 * 1024;
        let milliseconds = |bytes, runs, runs_max| pause(bytes, runs, runs_max).as_millis();
        // Nothing while level 0 is short, and hardly anything for a small write ever.
        assert_eq!((milliseconds(MEGABYTE, 12, 26), milliseconds(MEGABYTE, 3, 8)), (0, 0));
        assert!(pause(1_024, 25, 26) < Duration::from_millis(1));
        // More and more as it fills up, within a bound.
        let pauses: Vec<u128> = (4..=8).map(|runs| milliseconds(MEGABYTE, runs, 8)).collect();
        assert_eq!(pauses, [10, 13, 20, 37, 250]);
        assert_eq!(pause(u64::MAX, 8, 8), SLOW_PAUSE_MAX);
        assert_eq!(pause(MEGABYTE, 0, 0), Duration::ZERO);
    }
}
