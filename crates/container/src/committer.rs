//! The committer of a physical partition: the one place where its writes get their order.
//!
//! Writers queue what they prepared. The committer takes all that waits, settles each write against the store
//! and the writes before it in the same group, gives it its LSN, and writes one store batch with one
//! durability wait for the whole group. So commit order is LSN order is feed order, hot keys are batched rather
//! than locked, and a write that is refused costs its neighbours nothing.
//!
//! Invariants:
//! * at most one group of a partition is being committed at any time;
//! * a write is answered `Ok` only after its batch is durable;
//! * counters in memory move only after the batch that stores them is durable.
//!
//! Not here: what a single write does to the stored state (`settle`).

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use armilla_env::Env;
use armilla_kv::{self as kv, Family, Space, SpaceId, Store};
use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::container::Plan;
use crate::counters::{Counters, LogicalSize};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::item::{ContainerIdentity, Item};
use crate::keys;
use crate::limits::{GROUP_BYTES_MAX, GROUP_WRITES_MAX, Limits, QUEUE_KIB_MAX};
use crate::ranges::Range;
use crate::settle::{Group, Written};
use crate::write::Intent;

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
    /// Only the running committer takes this.
    counters: Mutex<Counters>,
    /// Sizes of logical partitions as stored, for those that were written lately. Only the running committer
    /// takes this.
    sizes: Mutex<HashMap<Bytes, LogicalSize>>,
    queue: Mutex<Queue>,
    room: Arc<Semaphore>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Write>,
    /// Whether a committer task is at work and will see what is queued.
    running: bool,
    /// Set when a committer died: the counters may not be what is stored.
    broken: bool,
}

/// A queued write, with whom to tell.
struct Write {
    intent: Intent,
    plan: Arc<Plan>,
    reply: oneshot::Sender<Result<Written>>,
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
    ) -> Result<Partition> {
        let space = store.open_space(range.space)?;
        let counters = Counters::load(space.as_ref(), range.lsn_base)?;
        Ok(Partition {
            range_id: range.id,
            identity,
            limits,
            env,
            store,
            space_id: range.space,
            lsn_base: range.lsn_base,
            lsn: AtomicU64::new(counters.lsn),
            space: RwLock::new(space),
            counters: Mutex::new(counters),
            sizes: Mutex::default(),
            queue: Mutex::default(),
            room: Arc::new(Semaphore::new(QUEUE_KIB_MAX)),
        })
    }

    pub(crate) fn space(&self) -> Arc<dyn Space> {
        self.space.read().expect("no panic while the space is held").clone()
    }

    /// Returns where the partition is now.
    pub(crate) fn position(&self) -> Position {
        Position { range_id: self.range_id, lsn: self.lsn.load(Ordering::Acquire) }
    }

    /// Reads an item by its key.
    pub(crate) fn read(&self, key: &[u8]) -> Result<Option<Item>> {
        self.space().get(Family::Item, key)?.map(Item::open).transpose()
    }

    /// Reads the key of the item with a number.
    pub(crate) fn read_number(&self, number: u64) -> Result<Option<Bytes>> {
        Ok(self.space().get(Family::Number, &keys::number(number))?)
    }

    /// Queues a write and waits until it is durable or refused.
    pub(crate) async fn submit(self: &Arc<Self>, plan: Arc<Plan>, intent: Intent) -> Result<Written> {
        let kib = intent.bytes().div_ceil(1024).min(QUEUE_KIB_MAX) as u32;
        let room = self.room.clone().acquire_many_owned(kib).await.expect("the queue is never closed");
        let (reply, answer) = oneshot::channel();
        let start = {
            let mut queue = self.queue.lock().expect("no panic while the queue is held");
            queue.waiting.push_back(Write { intent, plan, reply, _room: room });
            !std::mem::replace(&mut queue.running, true)
        };
        if start {
            // A task of its own, because the caller may go away in the middle and the others' writes must go on.
            tokio::spawn(run(self.clone()));
        }
        answer.await.unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::OutcomeUnknown, "the write's fate is unknown: its committer stopped"))
        })
    }

    /// Takes the next group, or says that there is none and the committer may end.
    fn next_group(&self) -> Option<Vec<Write>> {
        let mut queue = self.queue.lock().expect("no panic while the queue is held");
        let mut bytes = 0;
        let mut count = 0;
        for write in &queue.waiting {
            if count == GROUP_WRITES_MAX || (count > 0 && bytes + write.intent.bytes() > GROUP_BYTES_MAX) {
                break;
            }
            bytes += write.intent.bytes();
            count += 1;
        }
        if count == 0 {
            queue.running = false;
            return None;
        }
        Some(queue.waiting.drain(..count).collect())
    }

    /// Reads the stored counters again after a commit whose fate is unknown, and fences that commit off.
    fn reload(&self) -> Result<()> {
        let space = self.store.open_space(self.space_id)?;
        let counters = Counters::load(space.as_ref(), self.lsn_base)?;
        self.lsn.store(counters.lsn, Ordering::Release);
        *self.space.write().expect("no panic while the space is held") = space;
        *self.counters.lock().expect("no panic while the counters are held") = counters;
        self.sizes.lock().expect("no panic while the sizes are held").clear();
        self.queue.lock().expect("no panic while the queue is held").broken = false;
        Ok(())
    }

    async fn commit(&self, writes: Vec<Write>) {
        let broken = self.queue.lock().expect("no panic while the queue is held").broken;
        if broken && let Err(error) = self.reload() {
            answer_all(writes, &error);
            return;
        }
        let space = self.space();
        let counters = self.counters.lock().expect("no panic while the counters are held").clone();
        let known_sizes = std::mem::take(&mut *self.sizes.lock().expect("no panic while the sizes are held"));
        let mut group = Group::new(self, space.as_ref(), counters, known_sizes);
        let mut outcomes = Vec::with_capacity(writes.len());
        for Write { intent, plan, reply, _room } in writes {
            outcomes.push((reply, group.settle(&plan, intent), _room));
        }
        let (counters, batch, sizes) = group.finish();
        let committed = match batch {
            Some(batch) => space.commit(batch).await,
            None => Ok(()),
        };
        match committed {
            Ok(()) => {
                self.lsn.store(counters.lsn, Ordering::Release);
                *self.counters.lock().expect("no panic while the counters are held") = counters;
                *self.sizes.lock().expect("no panic while the sizes are held") = sizes;
                for (reply, outcome, _room) in outcomes {
                    // A writer that went away does not need its answer.
                    let _ = reply.send(outcome);
                }
            }
            Err(error) => {
                if error.kind() == kv::ErrorKind::OutcomeUnknown {
                    self.queue.lock().expect("no panic while the queue is held").broken = true;
                }
                tracing::error!(range_id = self.range_id, %error, "a group commit failed");
                let position = self.position();
                for (reply, outcome, _room) in outcomes {
                    // What was refused stays refused; what was to be written shares the batch's fate.
                    let outcome = outcome.and_then(|_| {
                        let mut error = Error::from(error.clone());
                        error.position = Some(position);
                        Err(error)
                    });
                    let _ = reply.send(outcome);
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

fn answer_all(writes: Vec<Write>, error: &Error) {
    for write in writes {
        let _ = write.reply.send(Err(error.clone()));
    }
}

async fn run(partition: Arc<Partition>) {
    let mut guard = RunGuard { partition: &partition, ended: false };
    while let Some(group) = partition.next_group() {
        partition.commit(group).await;
    }
    guard.ended = true;
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
