//! The committer of a physical partition: the one place where its writes get their order.
//!
//! Writers queue what they prepared. The committer takes all that waits, applies each write against the store and
//! the writes before it, gives it its LSN, and hands the group to the store as one batch. It need not wait for that
//! batch before it applies the next group: what is on its way is kept in an overlay. It does so once as many writes
//! wait as are on their way, so that groups stay large while the disk is kept busy. So commit order is LSN order is
//! feed order, hot keys are batched rather than locked, and a write that is refused costs its neighbours nothing.
//!
//! Invariants:
//! * groups reach the store in the order in which they were applied, and are answered in that order;
//! * a write is answered `Ok` only after its batch is durable, and so are those of all writes before it;
//! * if a batch fails, everything applied behind it fails too (the store sees to that, see `kv`), and the partition
//!   reads its counters again before it goes on.
//!
//! A batch or transaction is one task like a write, however many writes it has. Writers of a logical partition that a
//! transaction holds wait before they queue, so that the queue is never full of them. So do all writers while the
//! partition is closed, which it is for a moment when others are about to take its place; once they have, each task that
//! waited gets back what it came with, to take it there.
//!
//! Not here: what a task does to the stored state (`apply`), who may queue (`locks`).

use std::collections::VecDeque;
use std::sync::Arc;

use armilla_kv as kv;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::queue::Write;
use super::{Gate, Partition};
use crate::apply::{Group, Touched};
use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, ErrorKind, Result};
use crate::item::keys::LogicalKey;
use crate::limits::{GROUP_BYTES_MAX, GROUP_WRITES_MAX, GROUPS_ON_THEIR_WAY_MAX, QUEUE_KIB_MAX};
use crate::partition::counters::Counters;
use crate::partition::locks::{Pass, PassKind};
use crate::write::task::{Done, Task, Trimmed, Unqueued};

impl Partition {
    /// Queues one step of a re-indexing and waits until it is durable.
    pub(crate) async fn reindex(self: &Arc<Self>, compiled: Arc<CompiledDefinition>) -> Result<()> {
        self.submit(compiled, Task::Reindex, None).await?;
        Ok(())
    }

    /// Queues one step of trimming the change log and waits until it is durable.
    pub(crate) async fn trim(self: &Arc<Self>, compiled: Arc<CompiledDefinition>) -> Result<Trimmed> {
        match self.submit(compiled, Task::Trim, None).await? {
            Done::Trimmed(trimmed) => Ok(trimmed),
            _ => Err(Error::new(ErrorKind::Internal, "a step of trimming was taken for something else")),
        }
    }

    /// Waits until everything that was queued before has landed.
    pub(crate) async fn pass_barrier(self: &Arc<Self>, compiled: Arc<CompiledDefinition>) -> Result<()> {
        self.submit(compiled, Task::Barrier, None).await?;
        Ok(())
    }

    /// Keeps all others from writing to a logical partition, and waits until everything before has landed. Returns
    /// nothing if others have taken the place of this partition.
    pub(crate) async fn lock(
        self: &Arc<Self>,
        compiled: &Arc<CompiledDefinition>,
        logical: &LogicalKey,
    ) -> Result<Option<Pass>> {
        let Some(pass) = self.join(logical, PassKind::Lock).await else { return Ok(None) };
        match self.submit(compiled.clone(), Task::Barrier, None).await {
            Ok(_) => Ok(Some(pass)),
            Err(Unqueued::Retired(_)) => Ok(None),
            Err(Unqueued::Failed(error)) => Err(error),
        }
    }

    /// Waits for leave to write to a logical partition, unless others take the place of this partition.
    async fn join(&self, logical: &LogicalKey, kind: PassKind) -> Option<Pass> {
        let mut gate = self.gate.subscribe();
        tokio::select! {
            biased;
            pass = self.locks.join(logical, kind) => Some(pass),
            _ = gate.wait_for(|gate| *gate == Gate::Retired) => None,
        }
    }

    /// Queues a task and waits until it is durable or refused. If a transaction has locked the logical partition that it is
    /// for, it waits before it takes any room in the queue; a holder's own tasks name none.
    pub(crate) async fn submit(
        self: &Arc<Self>,
        compiled: Arc<CompiledDefinition>,
        task: Task,
        logical: Option<&LogicalKey>,
    ) -> std::result::Result<Done, Unqueued> {
        if let Some(far) = &self.far {
            return Partition::submit_far(far, task).await;
        }
        let kib = task.bytes().div_ceil(1024).min(QUEUE_KIB_MAX) as u32;
        let is_locked = || logical.filter(|logical| self.locks.is_locked(logical));
        let mut pass = None;
        let (reply, answer) = oneshot::channel();
        let (start, tell) = loop {
            if pass.is_none()
                && let Some(logical) = is_locked()
            {
                match self.join(logical, PassKind::Write).await {
                    Some(given) => pass = Some(given),
                    None => return Err(Unqueued::Retired(Box::new(task))),
                }
            }
            let room = self.room.clone().acquire_many_owned(kib).await.expect("the queue is never closed");
            {
                let mut queue = self.queue.lock();
                match queue.gate {
                    // A transaction may have come while this task waited for room, which it gives back then.
                    Gate::Open if pass.is_none() && is_locked().is_some() => continue,
                    Gate::Open => {
                        queue.waiting.push_back(Write { task, compiled, reply, _room: room });
                        break (
                            !std::mem::replace(&mut queue.running, true),
                            queue.waiting.len() == queue.wanted,
                        );
                    }
                    Gate::Closed => {}
                    Gate::Retired => return Err(Unqueued::Retired(Box::new(task))),
                }
            }
            drop(room);
            // The split driver that closed the partition opens it again or retires it, and lives as long as it is closed.
            let _ = self.gate.subscribe().wait_for(|gate| *gate != Gate::Closed).await;
        };
        drop(pass);
        if start {
            // A task of its own, because the caller may go away in the middle and the others' writes must go on.
            tokio::spawn(run(self.clone()));
        } else if tell {
            self.arrived.notify_one();
        }
        let answer = answer.await.unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::OutcomeUnknown, "the write's fate is unknown: its committer stopped"))
        });
        answer.map_err(Unqueued::Failed)
    }

    /// Takes the next group if enough writes wait for one. If none wait and nothing is on its way, the committer
    /// ends.
    fn next_group(&self, writes_on_their_way: usize) -> Option<Vec<Write>> {
        let mut queue = self.queue.lock();
        queue.wanted = writes_on_their_way.clamp(1, GROUP_WRITES_MAX);
        if queue.waiting.len() < queue.wanted {
            queue.running = writes_on_their_way > 0;
            return None;
        }
        let mut bytes = 0;
        let mut count = 0;
        for write in &queue.waiting {
            if count == GROUP_WRITES_MAX || (count > 0 && bytes + write.task.bytes() > GROUP_BYTES_MAX) {
                break;
            }
            bytes += write.task.bytes();
            count += 1;
        }
        Some(queue.waiting.drain(..count).collect())
    }

    /// Applies a group and hands it to the store. What would make the group too large goes back to the queue.
    fn start(&self, writes: Vec<Write>, number: u64) -> OnItsWay {
        let space = self.space();
        let mut applied = self.applied();
        let mut group = Group::new(self, space.as_ref(), &applied);
        let mut outcomes = Vec::with_capacity(writes.len());
        let mut rest = writes.into_iter();
        for Write { task, compiled, reply, _room } in rest.by_ref() {
            outcomes.push(Outcome { reply, result: group.apply(&compiled, task), _room });
            if group.is_full() {
                break;
            }
        }
        let mut effects = group.finish();
        // Before it lands: what was written last is likely to be asked for next.
        self.remember_keys(effects.new_numbers());
        let counters = effects.counters.clone();
        // What has no commit number of its own counts for the next one: readers of this one may have seen it or not.
        let noted_lsn = if counters.lsn > applied.lsn() { counters.lsn } else { counters.lsn + 1 };
        self.lookups.note(noted_lsn, effects.entries(), effects.written_numbers());
        let committed = effects.batch().map(|batch| space.commit(batch));
        let index_changed = effects.index_changed();
        let touched = applied.absorb(effects, number);
        if index_changed {
            self.set_index(applied.index().clone(), counters.lsn);
        }
        drop(applied);
        if rest.len() > 0 {
            let mut queue = self.queue.lock();
            rest.rev().for_each(|write| queue.waiting.push_front(write));
        }
        OnItsWay { number, counters, committed, touched, outcomes }
    }

    /// Answers a group that has landed, or did not.
    fn finish(&self, group: OnItsWay, committed: kv::Result<()>) {
        let OnItsWay { number, counters, touched, outcomes, .. } = group;
        match committed {
            Ok(()) => {
                let lsn = counters.lsn;
                self.set_lsn(lsn);
                self.set_totals(counters);
                self.due.note_landed(touched.earliest_ts);
                self.applied().landed(number, lsn, touched);
                for Outcome { reply, result, _room } in outcomes {
                    // A writer that went away does not need its answer.
                    let _ = reply.send(result);
                }
            }
            Err(error) => {
                // Numbers were given to what was not written; another process may give them again.
                self.known_numbers.forget_all();
                let failure = Error { position: Some(self.position()), ..Error::from(error.clone()) };
                let first = {
                    let mut queue = self.queue.lock();
                    if error.kind() == kv::ErrorKind::Fenced {
                        queue.lost = Some(failure.clone());
                    }
                    !std::mem::replace(&mut queue.broken, true)
                };
                if error.kind() == kv::ErrorKind::SpaceDropped {
                    // Deleted while its writers were at work, which is no failure.
                    tracing::debug!(range_id = self.range_id, "a group came after its partition was deleted");
                } else if first {
                    tracing::error!(range_id = self.range_id, %error, "a group commit failed");
                }
                for Outcome { reply, result, _room } in outcomes {
                    // What was refused stays refused; what was to be written shares the batch's fate.
                    let _ = reply.send(result.and_then(|_| Err(failure.clone())));
                }
            }
        }
    }

    /// Waits until nothing is queued or being committed.
    pub(crate) async fn drain(&self) {
        let all = self.room.acquire_many(QUEUE_KIB_MAX as u32).await;
        drop(all);
    }
}

/// A group that the store has and has not answered for yet.
struct OnItsWay {
    number: u64,
    counters: Counters,
    /// `None` where every write of the group was refused.
    committed: Option<kv::CommitFuture>,
    touched: Touched,
    outcomes: Vec<Outcome>,
}

/// What became of a write, to be told once its group has landed.
struct Outcome {
    reply: oneshot::Sender<Result<Done>>,
    result: Result<Done>,
    _room: OwnedSemaphorePermit,
}

async fn run(partition: Arc<Partition>) {
    let mut guard = RunGuard { partition: &partition, ended: false };
    let mut on_their_way: VecDeque<OnItsWay> = VecDeque::new();
    let mut writes_on_their_way = 0;
    let mut number = partition.applied().last_group();
    loop {
        // After a failure nothing is applied before all that was on its way has been answered.
        let may_apply = !partition.is_broken() || on_their_way.is_empty();
        if may_apply && on_their_way.len() < GROUPS_ON_THEIR_WAY_MAX {
            match partition.next_group(writes_on_their_way) {
                Some(writes) => {
                    if partition.is_broken()
                        && let Err(error) = partition.reload()
                    {
                        for write in writes {
                            let _ = write.reply.send(Err(error.clone()));
                        }
                        continue;
                    }
                    number += 1;
                    let group = partition.start(writes, number);
                    writes_on_their_way += group.outcomes.len();
                    on_their_way.push_back(group);
                    continue;
                }
                None if on_their_way.is_empty() => break,
                None => {}
            }
        }
        let takes_more = on_their_way.len() < GROUPS_ON_THEIR_WAY_MAX && !partition.is_broken();
        let oldest = on_their_way.front_mut().expect("the loop ends when nothing is on its way");
        let committed = match &mut oldest.committed {
            // It was applied on top of what failed.
            None if partition.is_broken() => Err(nothing_before_stands()),
            None => Ok(()),
            Some(future) => {
                tokio::select! {
                    biased;
                    committed = future.as_mut() => committed,
                    () = partition.arrived.notified(), if takes_more => continue,
                }
            }
        };
        let landed = on_their_way.pop_front().expect("it was there a moment ago");
        writes_on_their_way -= landed.outcomes.len();
        partition.finish(landed, committed);
    }
    guard.ended = true;
}

fn nothing_before_stands() -> kv::Error {
    kv::Error::new(kv::ErrorKind::HandleClosed, "a commit before this one failed")
}

/// Sees to it that a committer that dies (a bug) or is dropped (the runtime stops) leaves the partition usable:
/// the next writer starts a new one, which reads the counters again before it trusts them.
struct RunGuard<'a> {
    partition: &'a Partition,
    ended: bool,
}

impl Drop for RunGuard<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let mut queue = self.partition.queue.lock();
            queue.running = false;
            queue.broken = true;
            // Their senders go with them, which tells the writers.
            queue.waiting.clear();
        }
    }
}
