//! The one thread that writes.
//!
//! It takes everything that has queued up, writes it as one engine batch with one durability wait,
//! publishes the new view, and completes the waiting callers. It is also the only thread that seals
//! memtables, so that it decides, by the options of this run, how much memory and journal they take.
//!
//! Before a commit it waits until the engine's background work has caught up. The engine would wait too,
//! but in steps of 100 ms, after the batch is durable, and without an end if its workers have died.
//!
//! After a failed write it refuses everything until there is room again, and then replaces the engine (`recovery`).
//!
//! Before it comes to waiting it slows down: merging level 0 takes seconds, in which nothing would be written at all.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use armilla_kv::{Durability, Error, ErrorKind, Result};
use fjall::{AbstractTree, OwnedWriteBatch, PersistMode};

use crate::debt::{Debt, permille};
use crate::engine::Engine;
use crate::failure;
use crate::keys::EngineOp;
use crate::limits::{
    COMMIT_STALL_MIN, RELAXED_SYNC_PERIOD, RUN_REST_PERIOD, SEALED_MEMTABLES_MAX, STALL_PATIENCE,
    STALL_POLL_PERIOD, VIEW_RENEWAL_PERIOD,
};
use crate::mark::Mark;
use crate::open::Files;
use crate::options::{KEYSPACES, RECORDS, RUN_KEYSPACES};
use crate::queue::{Job, Next};
use crate::records;
use crate::recovery::{self, Patience};
use crate::runs::{self, INDEX, Runs, SealedRun};
use crate::shared::Shared;
use crate::time::now;

pub(crate) struct Writer {
    shared: Arc<Shared>,
    /// The engine, except while it is being replaced.
    engine: Option<Arc<Engine>>,
    /// The acknowledged mark. Nothing in a copy, which is not opened again, and while the engine is being replaced.
    mark: Option<Mark>,
    /// Number of the newest group.
    group: u64,
    /// Up to which group callers were told that their commits are durable.
    acknowledged: u64,
    /// Whether writes have failed and nothing has helped yet.
    is_troubled: bool,
    patience: Patience,
    /// Bytes written to the journal since each keyspace was sealed last.
    journaled_bytes: [u64; KEYSPACES],
    /// Since when commits wait for a sync, with relaxed durability.
    unsynced_since: Option<Instant>,
    /// Index entries that are not in the tree yet.
    runs: Runs,
}

impl Writer {
    pub(crate) fn new(shared: Arc<Shared>, files: Files) -> Writer {
        let Files { engine, mark, group, runs } = files;
        Writer {
            shared,
            engine: Some(engine),
            mark,
            group,
            acknowledged: group,
            is_troubled: false,
            patience: Patience::default(),
            journaled_bytes: [0; KEYSPACES],
            unsynced_since: None,
            runs,
        }
    }

    /// Writes until the queue is closed and empty. Returns the number of the newest group, unless writes have failed.
    pub(crate) fn run(mut self) -> Option<u64> {
        // If a panic in the engine ends this thread, no caller may wait for it.
        let _guard = FailQueue(self.shared.clone());
        self.begin();
        loop {
            match self.shared.queue.take(self.patience()) {
                Next::Group(group) => self.write(group),
                Next::Idle if self.is_troubled => self.recover(),
                // Only the time for a sync has come, which is done below.
                Next::Idle if self.unsynced_since.is_some() => {}
                Next::Idle => self.tidy_up(),
                Next::Closed => break,
            }
            self.sync_if_due(false);
        }
        self.sync_if_due(true);
        self.land_all();
        if let Some(Err(error)) = self.mark.as_ref().map(Mark::sync) {
            tracing::warn!(%error, "the acknowledged mark may stay behind");
        }
        (!self.is_troubled).then_some(self.group)
    }

    /// Lets merge what was left to be merged. The engine does not know yet what no snapshot needs: see [`Writer::let_forget`].
    fn begin(&mut self) {
        let Some(engine) = self.engine.clone().filter(|_| !self.is_copy()) else { return };
        if engine.keyspaces[..RECORDS].iter().any(|keyspace| keyspace.tree.l0_run_count() > 0) {
            self.let_forget(engine);
            self.shared.background.expect_files();
        }
    }

    /// Lets the engine look for what no snapshot needs any more. It does so when it seals a memtable that holds something: so
    /// the smallest is given something, and sealed.
    fn let_forget(&mut self, engine: Arc<Engine>) {
        match self.commit(&engine, Vec::new()) {
            Ok(()) => self.seal(&engine, RECORDS),
            Err(error) => {
                drop(engine);
                self.fail(&error);
            }
        }
    }

    /// Returns how long to wait for work before doing the rest.
    fn patience(&self) -> Option<Duration> {
        let engine = match &self.engine {
            Some(engine) if !self.is_troubled => engine,
            _ => return Some(self.patience.period()),
        };
        if let Some(since) = self.unsynced_since {
            return Some(RELAXED_SYNC_PERIOD.saturating_sub(since.elapsed()));
        }
        // A view older than the last flush keeps flushed memory and replaced files alive.
        let viewed = self.shared.view.latest().ok().map(|moment| moment.snapshot.seqno());
        let view_is_old = Some(engine.db.visible_seqno()) != viewed;
        let is_working = self.runs.has_sealed()
            || self.shared.background.jobs() > 0
            || engine.keyspaces.iter().any(|keyspace| keyspace.tree.sealed_memtable_count() > 0);
        if self.runs.is_in_pieces() {
            return Some(RUN_REST_PERIOD);
        }
        (view_is_old || is_working || self.holds_old()).then_some(VIEW_RENEWAL_PERIOD)
    }

    /// Lets the engine forget what only an older view needed, in a pause between commits.
    fn tidy_up(&mut self) {
        let Some(engine) = self.engine.clone() else { return };
        // A worker may have died while nothing was written.
        if let Err(error) = self.check_background(&engine) {
            drop(engine);
            self.fail(&error);
            return;
        }
        if !self.runs.removals().is_empty() {
            drop(engine);
            self.write(Vec::new());
            return;
        }
        self.runs.merge_all();
        self.publish(&engine);
        // There must be no snapshot but the one just published.
        let is_alone = engine.db.supervisor.snapshot_tracker.open_snapshots() <= 1;
        if self.holds_old() && is_alone && !self.is_copy() {
            self.let_forget(engine);
        }
    }

    /// Returns whether memory or files are still there that only an older view may need.
    fn holds_old(&self) -> bool {
        self.shared.retired.is_waiting() || self.shared.replaced.is_waiting()
    }

    fn publish(&self, engine: &Arc<Engine>) {
        self.shared.run_bytes.store(self.runs.bytes(), Ordering::Relaxed);
        self.shared.view.publish(engine, self.runs.set());
    }

    /// Fails if background work has failed.
    fn check_background(&self, engine: &Engine) -> Result<()> {
        engine.check_healthy().map_err(|error| background_failed(failure::message(&error)))?;
        self.shared.background.take_failure().map_or(Ok(()), |why| Err(background_failed(why)))
    }

    fn write(&mut self, group: Vec<Job>) {
        let Some(engine) = self.engine.clone() else {
            let error = Error::new(ErrorKind::Io, "not written: the store opens its files again");
            group.into_iter().for_each(|job| job.completion.complete(Err(error.clone())));
            return;
        };
        if let Err(error) = self.wait_for_background_work(&engine) {
            drop(engine);
            self.fail(&error);
            for job in group {
                job.completion.complete(Err(error.clone()));
            }
            return;
        }
        self.slow_down(&engine, &group);
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
        let removals = self.runs.removals();
        let is_over = !removals.is_empty();
        ops.extend(removals);
        let outcome = if ops.is_empty() { Ok(()) } else { self.commit(&engine, ops) };
        if outcome.is_ok() {
            self.publish(&engine);
            let client_commits = admitted.iter().filter(|(from_client, _)| *from_client).count();
            self.shared.counters.commits.fetch_add(client_commits as u64, Ordering::Relaxed);
        }
        self.shared.spaces.group_over();
        if let Err(error) = &outcome {
            self.fail(error);
        }
        for (_, completion) in admitted {
            completion.complete(outcome.clone());
        }
        if outcome.is_ok() {
            self.seal_memtables(&engine, bytes);
            if is_over {
                // Records and their removals: hardly anything of it reaches a file.
                self.runs.forget_landed().into_iter().for_each(|keyspace| self.seal(&engine, keyspace));
            }
            self.seal_run(&engine);
        }
    }

    fn commit(&mut self, engine: &Engine, ops: Vec<EngineOp>) -> Result<()> {
        let group = self.group + 1;
        let (of_index, mut ops): (Vec<_>, Vec<_>) = ops.into_iter().partition(|op| op.keyspace == INDEX);
        let mut added = None;
        if !of_index.is_empty() {
            let (record, chunk) = runs::written(of_index);
            ops.push(self.runs.record(group, record));
            added = Some(chunk);
        }
        // Neighbours in a memtable are found faster one after the other. A stable sort: of two writes of one key the later
        // one must stay the later one.
        ops.sort_by(|left, right| (left.keyspace, &left.key).cmp(&(right.keyspace, &right.key)));
        let mode = match self.shared.options.durability {
            Durability::Strict => PersistMode::SyncAll,
            // Never without a mode: the engine would keep the last 8 KiB in its own memory.
            Durability::Relaxed => PersistMode::Buffer,
        };
        let mut batch =
            OwnedWriteBatch::with_capacity(engine.db.clone(), ops.len() + 1).durability(Some(mode));
        for op in ops.into_iter().chain([records::group(group)]) {
            let keyspace = &engine.keyspaces[op.keyspace];
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
                if let Some(chunk) = added {
                    self.runs.push(group, chunk);
                }
                match self.shared.options.durability {
                    // Noted before any caller is told.
                    Durability::Strict => self.acknowledge(),
                    Durability::Relaxed => Ok(()),
                }
            }
            // Said before the engine writes anything: one of its workers has died.
            Err(error @ fjall::Error::Poisoned) => {
                Err(Error::new(ErrorKind::Io, format!("nothing was written: {}", failure::message(&error))))
            }
            Err(error) => Err(unknown(&failure::message(&error))),
        }
    }

    /// Notes that everything up to the newest group is durable.
    fn acknowledge(&mut self) -> Result<()> {
        if let Some(mark) = &self.mark {
            mark.note(self.group).map_err(|error| unknown(&format!("the acknowledged mark: {error}")))?;
        }
        self.acknowledged = self.group;
        Ok(())
    }

    /// Waits while a commit would be held back by the engine, or would take more memory than allowed.
    fn wait_for_background_work(&self, engine: &Engine) -> Result<()> {
        if !self.must_wait(engine) {
            return Ok(());
        }
        let started = now();
        let mut looked = started;
        while self.must_wait(engine) {
            std::thread::sleep(STALL_POLL_PERIOD);
            if let Some(why) = self.shared.background.take_failure() {
                return Err(background_failed(why));
            }
            if looked.elapsed() > STALL_PATIENCE {
                // Fails once a worker of the engine has died, and then waiting would not end.
                self.check_background(engine)?;
                looked = now();
            }
        }
        self.shared.counters.stalls.add(started.elapsed());
        Ok(())
    }

    /// Holds a group back for a moment if writing is getting ahead of the work behind it.
    fn slow_down(&self, engine: &Engine, group: &[Job]) {
        let pause = self.debt(engine).pause(group.iter().map(|job| job.bytes as u64).sum());
        if pause > Duration::ZERO {
            std::thread::sleep(pause);
            self.shared.counters.stalls.add(pause);
        }
    }

    fn debt(&self, engine: &Engine) -> Debt {
        let options = &self.shared.options;
        let mut debt = Debt::default();
        for (index, keyspace) in engine.keyspaces.iter().enumerate() {
            let runs = keyspace.tree.l0_run_count() as u64;
            let level_0 = permille(runs, options.level_0_runs_max() as u64);
            debt.level_0_permille = debt.level_0_permille.max(level_0);
            let sealed = keyspace.tree.sealed_memtable_count() as u64;
            if sealed > 0 {
                let size_max = options.memtable_bytes_max(index);
                let size = sealed * size_max + keyspace.tree.active_memtable().size().min(size_max);
                let memtables = permille(size, SEALED_MEMTABLES_MAX as u64 * size_max);
                debt.memtables_permille = debt.memtables_permille.max(memtables);
            }
        }
        if self.runs.is_landing() {
            debt.run_permille = permille(self.runs.active_bytes(), options.run_bytes_max());
        }
        debt
    }

    fn must_wait(&self, engine: &Engine) -> bool {
        let level_0_runs_max = self.shared.options.level_0_runs_max();
        let held_back = engine.keyspaces.iter().any(|keyspace| {
            keyspace.tree.sealed_memtable_count() >= SEALED_MEMTABLES_MAX
                || keyspace.tree.l0_run_count() >= level_0_runs_max
        });
        let is_run_full = self.runs.active_bytes() >= self.shared.options.run_bytes_max();
        held_back || (is_run_full && self.runs.is_landing()) || {
            // Only what is being flushed can shrink: without it, waiting would not end.
            let sealed = engine.keyspaces.iter().any(|keyspace| keyspace.tree.sealed_memtable_count() > 0);
            sealed && self.shared.write_buffer_bytes(engine) > self.shared.options.write_buffer_bytes
        }
    }

    /// Seals the memtables that are full, and those that keep an old journal alive.
    fn seal_memtables(&mut self, engine: &Engine, bytes: u64) {
        for (index, keyspace) in engine.keyspaces.iter().enumerate() {
            self.journaled_bytes[index] += bytes;
            // Records of runs are sealed with their removals.
            if RUN_KEYSPACES.contains(&index) {
                continue;
            }
            let size = keyspace.tree.active_memtable().size();
            let is_full = size > self.shared.options.memtable_bytes_max(index);
            let holds_journal =
                size > 0 && self.journaled_bytes[index] > self.shared.options.journal_bytes_max / 2;
            if !is_full && !holds_journal {
                continue;
            }
            self.journaled_bytes[index] = 0;
            self.seal(engine, index);
        }
    }

    /// Seals the run that is being filled if it is full, or keeps an old journal alive.
    fn seal_run(&mut self, engine: &Arc<Engine>) {
        let is_full = self.runs.active_bytes() > self.shared.options.run_bytes_max();
        let holds_journal = self.journaled_bytes[INDEX] > self.shared.options.journal_bytes_max / 2;
        let is_free = self.runs.is_active() && !self.runs.has_sealed() && !self.is_copy();
        if !is_free || !(is_full || holds_journal) || !self.sync_before_sealing(engine) {
            return;
        }
        self.journaled_bytes[INDEX] = 0;
        match self.sealed_run(engine) {
            Ok(run) => self.shared.background.land(engine.clone(), run),
            // The next commit will meet the same error and report it.
            Err(error) => tracing::warn!(%error, "cannot seal a run of index entries"),
        }
    }

    fn sealed_run(&mut self, engine: &Engine) -> Result<Arc<SealedRun>> {
        let sequence = records::group_sequence(&engine.keyspaces[RECORDS])?;
        let missing = || Error::new(ErrorKind::Corrupt, "the record of the newest group is gone");
        Ok(self.runs.seal(sequence.ok_or_else(missing)?))
    }

    /// Returns whether nothing that is written is kept.
    fn is_copy(&self) -> bool {
        self.mark.is_none()
    }

    /// Puts all index entries into the tree, so that no record of them is left when the store is opened again.
    fn land_all(&mut self) {
        let Some(engine) = self.engine.clone().filter(|_| !self.is_troubled && !self.is_copy()) else {
            return;
        };
        while self.runs.is_landing() {
            if let Err(error) = self.check_background(&engine) {
                drop(engine);
                return self.fail(&error);
            }
            std::thread::sleep(STALL_POLL_PERIOD);
        }
        self.write(Vec::new());
        if !self.runs.is_active() {
            return;
        }
        let landed = self.sealed_run(&engine).and_then(|run| run.land(&engine));
        match landed {
            Ok(()) => self.write(Vec::new()),
            Err(error) => tracing::warn!(%error, "index entries stay in their records until the next start"),
        }
    }

    fn seal(&self, engine: &Engine, index: usize) {
        if self.is_copy() || !self.sync_before_sealing(engine) {
            return;
        }
        if index != RECORDS {
            let tree = &engine.keyspaces[index].tree;
            let memtable = tree.active_memtable();
            if tree.rotate_memtable().is_none() {
                return;
            }
            self.shared.retired.add(memtable);
            self.shared.background.expect_memtables();
        }
        // The engine's own way, which turns over the journal if it is long, removes journals that are not needed any more,
        // and forgets old versions of all families. Of its own records there is next to nothing.
        match engine.keyspaces[RECORDS].rotate_memtable() {
            Ok(true) => {
                self.shared.replaced.expect_news();
                self.shared.watch.expect_news();
            }
            Ok(false) => {}
            // The data is safe in the journal; the next commit will meet the same error and report it.
            Err(error) => tracing::warn!(error = failure::message(&error), "cannot seal a memtable"),
        }
    }

    /// With relaxed durability, syncs what was written: a loss of power must not leave sorted files that are newer than the
    /// journal. Returns whether that went well.
    fn sync_before_sealing(&self, engine: &Engine) -> bool {
        if self.unsynced_since.is_none() {
            return true;
        }
        // The next sync meets the same error and reports it.
        let synced = engine.db.persist(PersistMode::SyncAll);
        synced.inspect_err(|error| tracing::warn!(error = failure::message(error), "cannot sync")).is_ok()
    }

    /// With relaxed durability, syncs what was written some time ago.
    fn sync_if_due(&mut self, at_once: bool) {
        let Some(since) = self.unsynced_since else { return };
        if !at_once && since.elapsed() < RELAXED_SYNC_PERIOD {
            return;
        }
        self.unsynced_since = None;
        let Some(engine) = self.engine.clone().filter(|_| !self.is_troubled) else { return };
        let started = now();
        let synced = engine.db.persist(PersistMode::SyncAll);
        drop(engine);
        match synced {
            Ok(()) => {
                self.shared.counters.flushes.add(started.elapsed());
                if let Err(error) = self.acknowledge() {
                    self.fail(&error);
                }
            }
            Err(error) => self.fail(&Error::new(ErrorKind::Io, failure::message(&error))),
        }
    }

    /// Refuses all commits until something has helped: after a failed write the engine takes no more.
    fn fail(&mut self, error: &Error) {
        tracing::error!(%error, "the store takes no writes until it could open its files again");
        if !self.is_troubled {
            self.patience.failed();
        }
        self.is_troubled = true;
        // What was written since the last sync is as uncertain as after any crash.
        self.unsynced_since = None;
        self.suspend(&error.to_string());
    }

    fn suspend(&self, why: &str) {
        let trouble = Error::new(
            ErrorKind::Io,
            format!(
                "not written: the store takes no writes until there is room again or the cause is gone: {why}"
            ),
        );
        for job in self.shared.queue.suspend(trouble.clone()) {
            job.completion.complete(Err(trouble.clone()));
        }
    }

    /// Replaces the engine, if there is room again.
    fn recover(&mut self) {
        if let Err(error) = recovery::check_room(&self.shared) {
            self.suspend(&format!("there is not enough room: {error}"));
            self.patience.attempt_failed();
            return;
        }
        // As long as the files are not whole, the old instance is the best there is to read from.
        if let Err(error) = recovery::check_files(&self.shared) {
            self.suspend(&error.to_string());
            self.patience.attempt_failed();
            return;
        }
        self.shared.view.clear();
        self.mark = None;
        if let Some(engine) = self.engine.take() {
            recovery::let_go(&self.shared, engine);
        }
        // A copy has no mark, and no manifest to open it by.
        match recovery::reopen(&self.shared, Some(self.acknowledged)) {
            Ok(Files { engine, mark, group, runs }) => {
                self.runs = runs;
                self.publish(&engine);
                (self.engine, self.mark) = (Some(engine), mark);
                (self.group, self.acknowledged) = (group, group);
                self.journaled_bytes = [0; KEYSPACES];
                self.is_troubled = false;
                self.patience.recovered();
                self.shared.queue.accept();
                tracing::info!(group, "the store takes writes again");
                self.begin();
            }
            Err(error) => {
                tracing::error!(%error, "the store could not open its files again");
                self.suspend(&error.to_string());
                self.patience.attempt_failed();
            }
        }
    }
}

fn unknown(why: &str) -> Error {
    Error::new(
        ErrorKind::OutcomeUnknown,
        format!("writing failed, the data may or may not be there later: {why}"),
    )
}

fn background_failed(why: String) -> Error {
    Error::new(ErrorKind::Io, format!("background work failed: {why}"))
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
