//! The committer of a physical partition: the one place where its writes get their order.
//!
//! Writers queue what they prepared. The committer takes all that waits, settles each write against the store and
//! the writes before it, gives it its LSN, and hands the group to the store as one batch. It need not wait for that
//! batch before it settles the next group: what is on its way is kept in an overlay. It does so once as many writes
//! wait as are on their way, so that groups stay large while the disk is kept busy. So commit order is LSN order is
//! feed order, hot keys are batched rather than locked, and a write that is refused costs its neighbours nothing.
//!
//! Invariants:
//! * groups reach the store in the order in which they were settled, and are answered in that order;
//! * a write is answered `Ok` only after its batch is durable, and so are those of all writes before it;
//! * if a batch fails, everything settled behind it fails too (the store sees to that, see `kv`), and the partition
//!   reads its counters again before it goes on.
//!
//! A batch or transaction is one task like a write, however many writes it has. Writers of a logical partition that a
//! transaction holds wait before they queue, so that the queue is never full of them. So do all writers while the
//! partition is closed, which it is for a moment when others are about to take its place; once they have, whoever
//! waited gets back what it came with, to take it there.
//!
//! Not here: what a task does to the stored state (`settle`), who may queue (`holds`).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use armilla_env::Env;
use armilla_kv::{self as kv, Family, Space, SpaceId, Store};
use bytes::Bytes;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot, watch};

use crate::batch::{BatchDone, BatchFailed};
use crate::container::Plan;
use crate::counters::Counters;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::holds::{Holds, Pass, PassKind};
use crate::index_state::IndexState;
use crate::item::{ContainerIdentity, Item};
use crate::keys::{self, LogicalKey};
use crate::known_numbers::KnownNumbers;
use crate::layout::{Layout, Layouts};
use crate::limits::{
    GROUP_BYTES_MAX, GROUP_WRITES_MAX, GROUPS_ON_THEIR_WAY_MAX, Limits, QUEUE_KIB_MAX, REINDEX_STEP_ITEMS,
    TRIM_STEP_BYTES,
};
use crate::moment::Moments;
use crate::purge::DueCursor;
use crate::ranges::Range;
use crate::recount;
use crate::settle::{
    BatchTask, Group, LogState, PurgeTask, Purged, Settled, Touched, TransactionTask, Trimmed, Written,
    item_number,
};
use crate::trim::TrimState;
use crate::write::Intent;

mod adopt;
mod gate;
mod moments;

pub(crate) use adopt::Landing;
pub(crate) use gate::{Gate, Growth, Never, Unqueued};

/// One physical partition: its space in the store and its committer.
pub(crate) struct Partition {
    pub(crate) range_id: u32,
    pub(crate) identity: Arc<ContainerIdentity>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) env: Env,
    store: Arc<dyn Store>,
    space_id: SpaceId,
    lsn_base: u64,
    space: RwLock<Arc<dyn Space>>,
    /// The newest durable commit.
    lsn: AtomicU64,
    /// The same, for those who wait for it.
    commits: watch::Sender<u64>,
    /// How many numbers were given: never less than is stored, and never less than it was.
    sequence: AtomicU64,
    /// Gives versions their moments.
    moments: Moments,
    /// What the running committer goes on from; nobody else takes this.
    settled: Mutex<Settled>,
    /// What is known of the index, for everybody else.
    index: RwLock<IndexState>,
    /// The layout that a partition without any takes.
    first_layout: Arc<Layout>,
    /// The layouts that were read last, so that they are parsed once.
    known_layouts: Mutex<Option<(Bytes, Arc<Layouts>)>>,
    pub(crate) known_numbers: KnownNumbers,
    /// Where to go on looking for items whose time is up.
    pub(crate) due: DueCursor,
    queue: Mutex<Queue>,
    holds: Arc<Holds>,
    /// Tells the committer that writes have come while it waits for the store.
    arrived: Notify,
    room: Arc<Semaphore>,
    /// Whether tasks are taken; changed with the queue locked.
    gate: watch::Sender<Gate>,
    /// What is stored, as of the newest durable commit.
    totals: RwLock<Counters>,
    /// How large the partition may become before somebody is told.
    pub(crate) growth: Growth,
    /// While others are being made to take its place.
    pub(crate) reshaping: Mutex<Option<Arc<AtomicU8>>>,
    /// Dropped with the partition, which tells whoever waits until nobody uses it any more.
    gone: Mutex<Option<oneshot::Sender<Never>>>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Write>,
    /// Whether a committer task is at work and will see what is queued.
    running: bool,
    /// How many writes must wait for the committer to be told while groups are on their way.
    wanted: usize,
    /// Set when a commit failed or a committer died: the counters may not be what is stored.
    broken: bool,
    /// Set when somebody else has opened the space: it is theirs now, and nothing is written here any more.
    lost: Option<Error>,
    gate: Gate,
}

/// What a committer does.
#[expect(clippy::large_enum_variant, reason = "nearly every task is a write")]
pub(crate) enum Task {
    /// One write.
    Write(Intent),
    /// Steps that belong together.
    Batch(Box<BatchTask>),
    /// A drafted transaction.
    Transaction(Box<TransactionTask>),
    /// One step of a re-indexing.
    Reindex,
    /// One step of dropping what is not wanted any more from the change log.
    Trim,
    /// Taking away items whose time is up.
    Purge(Box<PurgeTask>),
    /// Nothing: it is answered once everything before it has landed.
    Barrier,
}

/// What a committer did.
pub(crate) enum Done {
    Written(Box<Written>),
    Batch(Box<std::result::Result<BatchDone, BatchFailed>>),
    Committed(Position),
    Reindexed,
    Trimmed(Trimmed),
    Purged(Purged),
    Passed,
}

impl Task {
    fn bytes(&self) -> usize {
        match self {
            Task::Write(intent) => intent.bytes(),
            Task::Batch(batch) => batch.bytes(),
            Task::Transaction(transaction) => transaction.bytes(),
            Task::Barrier => 0,
            Task::Purge(purge) => purge.bytes(),
            Task::Reindex => REINDEX_STEP_ITEMS * 1024,
            Task::Trim => TRIM_STEP_BYTES,
        }
    }
}

/// A queued write, with whom to tell.
struct Write {
    task: Task,
    plan: Arc<Plan>,
    reply: oneshot::Sender<Result<Done>>,
    /// Room in the queue, given back when the write is answered.
    _room: OwnedSemaphorePermit,
}

impl Partition {
    /// Opens the partition's space, which fences whoever had it before.
    pub(crate) fn open(
        store: Arc<dyn Store>,
        range: &Range,
        identity: Arc<ContainerIdentity>,
        limits: Arc<Limits>,
        env: Env,
        first_layout: Arc<Layout>,
        grown: Arc<Notify>,
    ) -> Result<Partition> {
        let space = store.open_space(range.space)?;
        recount::bring_up_to_date(space.as_ref(), range, &first_layout)?;
        let counters = Counters::load(space.as_ref(), range.lsn_base)?;
        let decode = |bytes: &Bytes| Layouts::decode(bytes).map(Arc::new);
        let get = |family, key: &[u8]| space.get(family, key);
        let index = IndexState::load(get, decode, &counters, &first_layout)?;
        let log = LogState::new(TrimState::load(|key| space.get(Family::Meta, key))?);
        let growth = Growth::new(grown, limits.physical_partition_bytes);
        Ok(Partition {
            range_id: range.id,
            identity,
            limits,
            env,
            store,
            space_id: range.space,
            lsn_base: range.lsn_base,
            lsn: AtomicU64::new(counters.lsn),
            commits: watch::Sender::new(counters.lsn),
            sequence: AtomicU64::new(counters.sequence),
            moments: Moments::default(),
            space: RwLock::new(space),
            totals: RwLock::new(counters.clone()),
            settled: Mutex::new(Settled::new(counters, index.clone()).with_log(log)),
            index: RwLock::new(index),
            first_layout,
            known_layouts: Mutex::default(),
            known_numbers: KnownNumbers::default(),
            due: DueCursor::default(),
            queue: Mutex::default(),
            holds: Arc::default(),
            arrived: Notify::new(),
            room: Arc::new(Semaphore::new(QUEUE_KIB_MAX)),
            gate: watch::Sender::default(),
            growth,
            reshaping: Mutex::default(),
            gone: Mutex::default(),
        })
    }

    pub(crate) fn space(&self) -> Arc<dyn Space> {
        self.space.read().expect("no panic while the space is held").clone()
    }

    /// Returns where the partition is now.
    pub(crate) fn position(&self) -> Position {
        Position { range_id: self.range_id, lsn: self.lsn.load(Ordering::Acquire) }
    }

    /// Returns what tells of the newest durable commit.
    pub(crate) fn watch_commits(&self) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }

    fn set_lsn(&self, lsn: u64) {
        self.lsn.store(lsn, Ordering::Release);
        self.commits.send_replace(lsn);
    }

    /// Reads an item by its key.
    pub(crate) fn read(&self, key: &[u8]) -> Result<Option<Item>> {
        self.space().get(Family::Item, key)?.map(Item::open).transpose()
    }

    /// Reads the key of the item with a number.
    pub(crate) fn read_number(&self, number: u64) -> Result<Option<Bytes>> {
        Ok(self.space().get(Family::Number, &keys::number(number))?)
    }

    /// Returns what is known of the index; what is on its way to the store counts.
    pub(crate) fn index(&self) -> IndexState {
        self.index.read().expect("no panic while the index state is held").clone()
    }

    /// Returns the layouts that a record holds.
    pub(crate) fn layouts(&self, bytes: &Bytes) -> Result<Arc<Layouts>> {
        let mut known = self.known_layouts.lock().expect("no panic while layouts are read");
        if let Some((known_bytes, layouts)) = &*known
            && known_bytes == bytes
        {
            return Ok(layouts.clone());
        }
        let layouts = Arc::new(Layouts::decode(bytes)?);
        *known = Some((Bytes::copy_from_slice(bytes), layouts.clone()));
        Ok(layouts)
    }

    /// Returns the time, as items have it.
    pub(crate) fn now_seconds(&self) -> u32 {
        u32::try_from(self.env.clock.now_seconds()).unwrap_or(0)
    }

    /// Gives a number that nobody else gets. It is for ever once something with it is committed.
    pub(crate) fn reserve_number(&self) -> Result<u64> {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed) + 1;
        item_number(self.range_id, sequence)
            .ok_or_else(|| Error::new(ErrorKind::Unavailable, "the partition has no item numbers left"))
    }

    /// Queues one step of a re-indexing and waits until it is durable.
    pub(crate) async fn reindex(self: &Arc<Self>, plan: Arc<Plan>) -> Result<()> {
        self.submit(plan, Task::Reindex, None).await?;
        Ok(())
    }

    /// Queues one step of trimming the change log and waits until it is durable.
    pub(crate) async fn trim(self: &Arc<Self>, plan: Arc<Plan>) -> Result<Trimmed> {
        match self.submit(plan, Task::Trim, None).await? {
            Done::Trimmed(trimmed) => Ok(trimmed),
            _ => Err(Error::new(ErrorKind::Internal, "a step of trimming was taken for something else")),
        }
    }

    /// Waits until everything that was queued before has landed.
    pub(crate) async fn pass_barrier(self: &Arc<Self>, plan: Arc<Plan>) -> Result<()> {
        self.submit(plan, Task::Barrier, None).await?;
        Ok(())
    }

    /// Returns whether writers of a logical partition have to wait.
    pub(crate) fn is_held(&self, logical: &LogicalKey) -> bool {
        self.holds.is_held(logical)
    }

    /// Keeps all others from writing to a logical partition, and waits until everything before has landed. Returns
    /// nothing if others have taken the place of this partition.
    pub(crate) async fn hold(
        self: &Arc<Self>,
        plan: &Arc<Plan>,
        logical: &LogicalKey,
    ) -> Result<Option<Pass>> {
        let Some(pass) = self.join(logical, PassKind::Hold).await else { return Ok(None) };
        match self.submit(plan.clone(), Task::Barrier, None).await {
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
            pass = self.holds.join(logical, kind) => Some(pass),
            _ = gate.wait_for(|gate| *gate == Gate::Retired) => None,
        }
    }

    /// Queues a task and waits until it is durable or refused. If somebody holds the logical partition that it is
    /// for, it waits before it takes any room in the queue; a holder's own tasks name none.
    pub(crate) async fn submit(
        self: &Arc<Self>,
        plan: Arc<Plan>,
        task: Task,
        logical: Option<&LogicalKey>,
    ) -> std::result::Result<Done, Unqueued> {
        let kib = task.bytes().div_ceil(1024).min(QUEUE_KIB_MAX) as u32;
        let is_held = || logical.filter(|logical| self.holds.is_held(logical));
        let mut pass = None;
        let (reply, answer) = oneshot::channel();
        let (start, tell) = loop {
            if pass.is_none()
                && let Some(logical) = is_held()
            {
                match self.join(logical, PassKind::Write).await {
                    Some(given) => pass = Some(given),
                    None => return Err(Unqueued::Retired(Box::new(task))),
                }
            }
            let room = self.room.clone().acquire_many_owned(kib).await.expect("the queue is never closed");
            {
                let mut queue = self.queue.lock().expect("no panic while the queue is held");
                match queue.gate {
                    // Somebody may have come while this one waited for room, which it gives back then.
                    Gate::Open if pass.is_none() && is_held().is_some() => continue,
                    Gate::Open => {
                        queue.waiting.push_back(Write { task, plan, reply, _room: room });
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
            // Whoever closed the partition opens it again or retires it, and lives as long as it is closed.
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

    /// Opens, closes or retires the partition. A retired one stays retired.
    pub(crate) fn set_gate(&self, gate: Gate) {
        let mut queue = self.queue.lock().expect("no panic while the queue is held");
        if queue.gate != Gate::Retired {
            queue.gate = gate;
            self.gate.send_replace(gate);
        }
    }

    /// Returns what tells when nobody uses the partition any more: it fails then.
    pub(crate) fn watch_end(&self) -> oneshot::Receiver<Never> {
        let (sender, receiver) = oneshot::channel();
        *self.gone.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    /// Returns what is stored, as of the newest durable commit.
    pub(crate) fn totals(&self) -> Counters {
        self.totals.read().expect("no panic while the totals are held").clone()
    }

    fn set_totals(&self, counters: Counters) {
        self.growth.note(counters.size().total_bytes());
        *self.totals.write().expect("no panic while the totals are held") = counters;
    }

    /// Returns whether others are being made to take the partition's place.
    pub(crate) fn is_reshaping(&self) -> bool {
        self.reshaping.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Takes the next group if enough writes wait for one. If none wait and nothing is on its way, the committer
    /// ends.
    fn next_group(&self, writes_on_their_way: usize) -> Option<Vec<Write>> {
        let mut queue = self.queue.lock().expect("no panic while the queue is held");
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

    /// Returns what the running committer goes on from. A panic may have left it half changed, but then the
    /// partition is broken and puts another in its place.
    fn settled(&self) -> MutexGuard<'_, Settled> {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.queue.lock().expect("no panic while the queue is held").broken
    }

    /// Reads the stored counters again after a commit that failed, and fences off whatever was behind it.
    pub(crate) fn reload(&self) -> Result<()> {
        if let Some(lost) = &self.queue.lock().expect("no panic while the queue is held").lost {
            return Err(lost.clone());
        }
        let space = self.store.open_space(self.space_id)?;
        let counters = Counters::load(space.as_ref(), self.lsn_base)?;
        let get = |family, key: &[u8]| space.get(family, key);
        let index = IndexState::load(get, |bytes| self.layouts(bytes), &counters, &self.first_layout)?;
        let log = LogState::new(TrimState::load(|key| space.get(Family::Meta, key))?);
        self.set_lsn(counters.lsn);
        self.sequence.fetch_max(counters.sequence, Ordering::Relaxed);
        *self.index.write().expect("no panic while the index state is held") = index.clone();
        *self.space.write().expect("no panic while the space is held") = space;
        self.set_totals(counters.clone());
        *self.settled() = Settled::new(counters, index).with_log(log);
        self.queue.lock().expect("no panic while the queue is held").broken = false;
        Ok(())
    }

    /// Settles a group and hands it to the store. What would make the group too large goes back to the queue.
    fn start(&self, writes: Vec<Write>, number: u64) -> OnItsWay {
        let space = self.space();
        let mut settled = self.settled();
        let mut group = Group::new(self, space.as_ref(), &settled);
        let mut outcomes = Vec::with_capacity(writes.len());
        let mut rest = writes.into_iter();
        for Write { task, plan, reply, _room } in rest.by_ref() {
            outcomes.push(Outcome { reply, result: group.settle(&plan, task), _room });
            if group.is_full() {
                break;
            }
        }
        let mut effects = group.finish();
        let counters = effects.counters.clone();
        let committed = effects.batch().map(|batch| space.commit(batch));
        let index_changed = effects.index_changed();
        let touched = settled.absorb(effects, number);
        if index_changed {
            *self.index.write().expect("no panic while the index state is held") = settled.index().clone();
        }
        drop(settled);
        if rest.len() > 0 {
            let mut queue = self.queue.lock().expect("no panic while the queue is held");
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
                self.settled().landed(number, lsn, touched);
                for Outcome { reply, result, _room } in outcomes {
                    // A writer that went away does not need its answer.
                    let _ = reply.send(result);
                }
            }
            Err(error) => {
                let failure = Error { position: Some(self.position()), ..Error::from(error.clone()) };
                let first = {
                    let mut queue = self.queue.lock().expect("no panic while the queue is held");
                    if error.kind() == kv::ErrorKind::Fenced {
                        queue.lost = Some(failure.clone());
                    }
                    !std::mem::replace(&mut queue.broken, true)
                };
                if first {
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
    let mut number = partition.settled().last_group();
    loop {
        // After a failure nothing is settled before all that was on its way has been answered.
        let may_settle = !partition.is_broken() || on_their_way.is_empty();
        if may_settle && on_their_way.len() < GROUPS_ON_THEIR_WAY_MAX {
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
            // It was settled on top of what failed.
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
            let mut queue = self.partition.queue.lock().expect("no panic while the queue is held");
            queue.running = false;
            queue.broken = true;
            // Their senders go with them, which tells the writers.
            queue.waiting.clear();
        }
    }
}
