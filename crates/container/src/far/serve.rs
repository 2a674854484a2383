//! Answering other processes that ask for partitions of this one.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use armilla_governor::RequestUnits;
use armilla_kv::{Family, Snapshot};
use armilla_value::PartitionKey;
use bytes::Bytes;
use parking_lot::Mutex;

use super::forms::Form;
use super::request::{
    AdmitReply, CommitCall, DraftReply, DraftedForm, GetCall, Head, LockCall, OpenReply, PatchForm, ReadCall,
    Reply, Request, StepForm, ViewGetCall,
};
use super::space::INDEX_RECORDS;
use super::wire::{In, Out, unreadable};
use crate::apply::Reads;
use crate::container::Container;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::item::Stamp;
use crate::item::keys::{self, LogicalKey};
use crate::item::patch::{Condition, Patch};
use crate::limits::{ANSWER_BYTES_MAX, AWAIT_MAX, KEPT_FOR_PEER_MAX, UNWANTED_LOCKS_MAX};
use crate::map::Slot;
use crate::marks::unique_number;
use crate::partition::Partition;
use crate::partition::locks::Pass;
use crate::write::step::BatchStep;
use crate::write::task::{ClaimTask, Claimed, Done, Task, TransactionTask, Unqueued};
use crate::write::{self, Drafted, Intent, ItemAddress};

/// What is kept for one connection of another process, and let go of when that ends.
#[derive(Default)]
pub struct PeerSession {
    views: Mutex<HashMap<u64, Arc<View>>>,
    locks: Mutex<Locks>,
}

/// Logical partitions that another process has locked.
#[derive(Default)]
struct Locks {
    taken: HashMap<u64, Lock>,
    /// What was let go of before it was taken: who asked has gone away meanwhile.
    unwanted: VecDeque<u64>,
}

/// A snapshot that another process reads.
struct View {
    snapshot: Box<dyn Snapshot>,
    /// The space that it is of.
    space: u64,
    /// Behind what reads it.
    _partition: Arc<Partition>,
}

/// A logical partition that another process has locked.
struct Lock {
    partition: Arc<Partition>,
    _pass: Pass,
}

impl PeerSession {
    /// Returns a snapshot that was taken by this connection, of the partition that a request is for.
    fn view(&self, head: &Head, number: u64) -> Served<Arc<View>> {
        let view = self.views.lock().get(&number).cloned();
        view.filter(|view| view.space == head.space).ok_or(Refusal::NotHere)
    }

    fn unlock(&self, lock: u64) {
        let mut locks = self.locks.lock();
        let taken = locks.taken.remove(&lock);
        if taken.is_none() {
            if locks.unwanted.len() >= UNWANTED_LOCKS_MAX {
                locks.unwanted.pop_front();
            }
            locks.unwanted.push_back(lock);
        }
        drop(locks);
        drop(taken);
    }
}

/// Says what a read of a snapshot means that failed: where its tree was closed for another process, the reader begins anew.
fn of_view(error: armilla_kv::Error) -> Refusal {
    match error.kind() {
        armilla_kv::ErrorKind::Closed
        | armilla_kv::ErrorKind::Fenced
        | armilla_kv::ErrorKind::HandleClosed => Refusal::NotHere,
        _ => error.into(),
    }
}

/// Keeps something for a connection under a number.
fn keep<T>(kept: &mut HashMap<u64, T>, number: u64, value: T) -> Result<()> {
    if kept.len() >= KEPT_FOR_PEER_MAX {
        return Err(Error::new(
            ErrorKind::Unavailable,
            format!("another node has {KEPT_FOR_PEER_MAX} snapshots or locks open here, the most"),
        ));
    }
    kept.insert(number, value);
    Ok(())
}

/// Why a request is not done.
enum Refusal {
    Failed(Error),
    NotHere,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        match error.kind {
            ErrorKind::Moved => Refusal::NotHere,
            _ => Refusal::Failed(error),
        }
    }
}

impl From<armilla_kv::Error> for Refusal {
    fn from(error: armilla_kv::Error) -> Refusal {
        Error::from(error).into()
    }
}

impl From<Unqueued> for Refusal {
    fn from(unqueued: Unqueued) -> Refusal {
        match unqueued {
            Unqueued::Failed(error) => error.into(),
            Unqueued::Retired(_) => Refusal::NotHere,
        }
    }
}

type Served<T> = std::result::Result<T, Refusal>;

/// Makes the condition of a patch of its text.
pub type Conditions<'a> = &'a (dyn Fn(&str) -> std::result::Result<Condition, String> + Send + Sync);

fn reply<T: Form>(served: Served<T>) -> Bytes {
    let reply = match served {
        Ok(done) => Reply::Done(done),
        Err(Refusal::Failed(error)) => Reply::Failed(error),
        Err(Refusal::NotHere) => Reply::NotHere,
    };
    let mut out = Out::with_capacity(1_024);
    reply.write(&mut out);
    out.finish()
}

/// Returns what is said of a container that is not here.
pub fn not_here() -> Bytes {
    reply::<()>(Err(Refusal::NotHere))
}

impl Container {
    /// Answers another process that asks for one of the container's partitions. `session` is what is kept for the
    /// connection that the request came by.
    pub async fn serve(&self, session: &PeerSession, request: Bytes, conditions: Conditions<'_>) -> Bytes {
        let mut request = In::new(request);
        let read = Head::read(&mut request)
            .and_then(|head| Ok((head, Request::read(&mut request)?)))
            .and_then(|read| request.end().map(|()| read));
        let (head, request) = match read {
            Ok(read) => read,
            Err(error) => return reply::<()>(Err(error.into())),
        };
        match request {
            // What is kept is let go of wherever the partition is by now.
            Request::Close(view) => {
                drop(session.views.lock().remove(&view));
                return reply(Ok(()));
            }
            Request::Unlock(lock) => {
                session.unlock(lock);
                return reply(Ok(()));
            }
            // A snapshot that was taken here stays what it is.
            Request::ViewGet(ViewGetCall { view, family, keys }) => {
                return reply(session.view(&head, view).and_then(|view| {
                    values(&keys, |keys| view.snapshot.multi_get(family, keys).map_err(of_view))
                }));
            }
            Request::ViewScan(call) => {
                let scanned = session
                    .view(&head, call.view)
                    .and_then(|view| view.snapshot.scan(&call.scan).map_err(of_view));
                return reply(scanned);
            }
            _ => {}
        }
        let slot = match self.slot_here(&head) {
            Ok(slot) => slot,
            Err(refusal) => return reply::<()>(Err(refusal)),
        };
        match request {
            Request::Read(call) => reply(self.serve_read(&call)),
            Request::Put(call) => {
                if let Err(refusal) = self.check_here(&call.partition_key) {
                    return reply::<()>(Err(refusal));
                }
                let id = call.id.as_deref();
                let written = self.write_item(
                    call.mode,
                    &call.partition_key,
                    id,
                    call.body,
                    call.precondition,
                    call.claim,
                );
                reply(written.await.map_err(Refusal::from))
            }
            Request::Delete(call) => {
                if let Err(refusal) = self.check_here(&call.partition_key) {
                    return reply::<()>(Err(refusal));
                }
                let (key, id) = (&call.partition_key, &call.id);
                reply(self.delete_item(key, id, call.precondition, call.claim).await.map_err(Refusal::from))
            }
            Request::Patch(call) => {
                let patch =
                    self.check_here(&call.partition_key).and_then(|()| Ok(patch(call.patch, conditions)?));
                let patch = match patch {
                    Ok(patch) => patch,
                    Err(refusal) => return reply::<()>(Err(refusal)),
                };
                let (key, id) = (&call.partition_key, &call.id);
                let patched = self.patch_item(key, id, patch, call.precondition, call.claim);
                reply(patched.await.map_err(Refusal::from))
            }
            Request::Batch(call) => {
                if let Err(refusal) = self.check_here(&call.partition_key) {
                    return reply::<()>(Err(refusal));
                }
                let steps = call.steps.into_iter().map(|form| step(form, conditions)).collect();
                let (key, receipts) = (&call.partition_key, call.receipts);
                let done = self.batch_with_receipts(key, steps, receipts, call.cost, call.claim);
                reply(done.await.map_err(Refusal::from))
            }
            Request::Commit(call) => reply(self.serve_commit(session, &slot, call).await),
            Request::Admit(call) => reply(self.serve_admit(&slot, call.claim, call.logical.as_deref())),
            Request::Spend(call) => {
                let logical = call.logical.as_deref();
                slot.spend(self.clock(), call.kind, call.claim, logical, call.charge, call.took);
                reply(Ok(()))
            }
            Request::Barrier => reply(self.serve_task(&slot, Task::Barrier).await.map(|_| ())),
            Request::Claim(call) => {
                let task = Task::Claim(ClaimTask { slots: call.slots.to_vec(), after: call.after });
                reply(self.serve_task(&slot, task).await.and_then(|done| match done {
                    Done::Claimed(claimed) => Ok(*claimed),
                    _ => Err(Refusal::Failed(unreadable())),
                }))
            }
            Request::DropReservations(keys) => {
                reply(self.serve_task(&slot, Task::DropReservations(keys)).await.map(|_| ()))
            }
            Request::Get(GetCall { family, keys }) => {
                reply(self.partition_here(&slot).and_then(|partition| {
                    values(&keys, |keys| Ok(partition.space().multi_get(family, keys)?))
                }))
            }
            Request::Open => reply(self.serve_open(session, &slot)),
            Request::Lock(call) => reply(self.serve_lock(session, &slot, call).await),
            Request::Await(lsn) => reply(self.serve_await(&slot, lsn).await),
            Request::Draft => reply(self.partition_here(&slot).and_then(|partition| {
                let Drafted { stamp, moment, .. } = partition.draft_version()?;
                Ok(DraftReply { number: stamp.number(), moment, opening: partition.mark() })
            })),
            Request::Close(_) | Request::Unlock(_) | Request::ViewGet(_) | Request::ViewScan(_) => {
                reply::<()>(Err(Refusal::NotHere))
            }
        }
    }

    /// Returns the partition that a request is for, if it is this process's.
    fn slot_here(&self, head: &Head) -> Served<Arc<Slot>> {
        let map = self.map_now();
        let slot = map.find(head.range_id).filter(|slot| slot.range.space.0 == head.space);
        let slot = slot.ok_or(Refusal::NotHere)?;
        if self.own_partition(slot)?.is_none() {
            return Err(Refusal::NotHere);
        }
        Ok(slot.clone())
    }

    fn partition_here(&self, slot: &Slot) -> Served<Arc<Partition>> {
        self.own_partition(slot)?.ok_or(Refusal::NotHere)
    }

    /// Refuses what leads to a partition of another process: it is not to go in a circle.
    fn check_here(&self, partition_key: &PartitionKey) -> Served<()> {
        let Ok((hashed, _)) = write::locate(&self.compiled(), partition_key) else { return Ok(()) };
        let slot = self.map_now().route(&hashed).clone();
        self.partition_here(&slot).map(|_| ())
    }

    fn serve_read(&self, call: &ReadCall) -> Served<crate::ReadItem> {
        self.check_here(&call.partition_key)?;
        let (key, id) = (&call.partition_key, &call.id);
        Ok(self.read_item(key, id, call.known, &call.session, call.cost, call.claim)?)
    }

    fn serve_admit(
        &self,
        slot: &Arc<Slot>,
        claim: armilla_governor::Claim,
        logical: Option<&[u8]>,
    ) -> Served<AdmitReply> {
        let partition = self.partition_here(slot)?;
        let left: Option<RequestUnits> = slot.admit(self.clock(), claim, logical)?.left;
        Ok(AdmitReply { left, position: partition.position() })
    }

    async fn serve_task(&self, slot: &Slot, task: Task) -> Served<Done> {
        Ok(self.partition_here(slot)?.submit(self.compiled(), task, None).await?)
    }

    fn serve_open(&self, session: &PeerSession, slot: &Slot) -> Served<OpenReply> {
        let partition = self.partition_here(slot)?;
        let snapshot = partition.space().snapshot()?;
        let counters = snapshot.get(Family::Meta, keys::COUNTERS)?;
        let records = INDEX_RECORDS.map(Bytes::from_static);
        let index = snapshot.multi_get(Family::Meta, &records)?;
        // The other process keeps the number alone, also when the connection has become another.
        let view = unique_number(&self.core.env);
        let space = slot.range.space.0;
        keep(&mut session.views.lock(), view, Arc::new(View { snapshot, space, _partition: partition }))?;
        Ok(OpenReply { view, counters, index })
    }

    async fn serve_lock(&self, session: &PeerSession, slot: &Slot, call: LockCall) -> Served<()> {
        let partition = self.partition_here(slot)?;
        let logical = LogicalKey::from_bytes(call.logical);
        let pass = partition.lock(&self.compiled(), &logical).await?.ok_or(Refusal::NotHere)?;
        let mut locks = session.locks.lock();
        if let Some(place) = locks.unwanted.iter().position(|unwanted| *unwanted == call.lock) {
            locks.unwanted.remove(place);
            return Err(Refusal::NotHere);
        }
        Ok(keep(&mut locks.taken, call.lock, Lock { partition, _pass: pass })?)
    }

    async fn serve_await(&self, slot: &Slot, lsn: u64) -> Served<u64> {
        let partition = self.partition_here(slot)?;
        let mut newest = partition.watch_commits();
        drop(partition);
        tokio::select! {
            biased;
            _ = newest.wait_for(|newest| *newest > lsn) => {}
            () = self.core.env.clock.sleep(AWAIT_MAX) => {}
        }
        let newest = *newest.borrow();
        Ok(newest)
    }

    async fn serve_commit(&self, session: &PeerSession, slot: &Slot, call: CommitCall) -> Served<Position> {
        let partition = self.partition_here(slot)?;
        let compiled = self.compiled();
        let (_, logical) = write::locate(&compiled, &call.partition_key)?;
        if let Some(lock) = call.lock {
            let locks = session.locks.lock();
            // It was let go of with the connection by which it was taken, or the partition has been elsewhere since.
            if !locks.taken.get(&lock).is_some_and(|lock| Arc::ptr_eq(&lock.partition, &partition)) {
                return Err(Refusal::Failed(Error::new(
                    ErrorKind::Conflict,
                    "the transaction has lost its lock; run it again",
                )));
            }
        }
        let mut writes = Vec::with_capacity(call.writes.len());
        for drafted in call.writes {
            // Numbers of another opening may have been given to other items.
            if let DraftedForm::Put { opening, .. } = &drafted
                && *opening != partition.mark()
            {
                return Err(Refusal::Failed(Error::new(
                    ErrorKind::Conflict,
                    "the partition has been at another node since the transaction began; run it again",
                )));
            }
            writes.push(self.redrafted(&call.partition_key, drafted)?);
        }
        let version = |form: super::request::VersionForm| -> Result<(u64, u16)> {
            Ok((form.lsn, u16::try_from(form.operation).map_err(|_| unreadable())?))
        };
        let mut items = HashMap::with_capacity(call.reads.len());
        for read in call.reads {
            items.insert(read.key, read.version.map(version).transpose()?);
        }
        let is_locked = call.lock.is_some();
        let task = TransactionTask {
            writes,
            reads: Reads::of_parts(call.lsn, call.is_whole.0, items),
            logical: logical.clone(),
            is_locked,
            now: u32::try_from(call.now).map_err(|_| Refusal::Failed(unreadable()))?,
            receipts: call.receipts,
        };
        let has_receipts = !task.receipts.is_empty();
        let gate = (!is_locked).then_some(&logical);
        let done = partition.submit(compiled, Task::Transaction(Box::new(task)), gate).await?;
        if has_receipts {
            self.core.sweep_wanted.notify_one();
        }
        match done {
            Done::Committed(position) => Ok(position),
            _ => Err(Refusal::Failed(unreadable())),
        }
    }

    /// Prepares a write of a transaction that was drafted by another process.
    fn redrafted(&self, partition_key: &PartitionKey, drafted: DraftedForm) -> Result<Intent> {
        let compiled = self.compiled();
        Ok(match drafted {
            DraftedForm::Put { mode, content, stamp, moment, number, opening, keeps_types, precondition } => {
                let drafted = Drafted { stamp: Stamp::new(stamp), moment, number, opening };
                let item =
                    write::prepare_stored(&compiled, self.limits(), &content, partition_key, Some(drafted))?;
                Intent::Put { mode, item: write::PreparedItem { keeps_types, ..item }, precondition }
            }
            DraftedForm::Delete { id, precondition } => {
                Intent::Delete { address: ItemAddress::new(&compiled, partition_key, &id)?, precondition }
            }
        })
    }
}

/// Reads the values of keys: as many as one answer has room for, and one at least.
fn values(
    keys: &[Bytes],
    read: impl Fn(&[Bytes]) -> Served<Vec<Option<Bytes>>>,
) -> Served<Vec<Option<Bytes>>> {
    const AT_ONCE: usize = 64;
    let mut values = Vec::with_capacity(keys.len());
    let mut bytes = 0;
    for some in keys.chunks(AT_ONCE) {
        for value in read(some)? {
            let length = value.as_ref().map_or(0, Bytes::len);
            if !values.is_empty() && bytes + length > ANSWER_BYTES_MAX {
                return Ok(values);
            }
            bytes += length;
            values.push(value);
        }
    }
    Ok(values)
}

fn patch(form: PatchForm, conditions: Conditions<'_>) -> Result<Patch> {
    let PatchForm { patch, condition } = form;
    match condition {
        None => Ok(patch),
        Some(text) => {
            let condition = conditions(&text).map_err(Error::invalid)?;
            Ok(patch.only_if(&text, condition))
        }
    }
}

fn step(form: StepForm, conditions: Conditions<'_>) -> BatchStep {
    match form {
        StepForm::Put { mode, id, body, precondition } => BatchStep::Put { mode, id, body, precondition },
        StepForm::Delete { id, precondition } => BatchStep::Delete { id, precondition },
        StepForm::Patch { id, patch: form, precondition } => match patch(form, conditions) {
            Ok(patch) => BatchStep::Patch { id, patch, precondition },
            Err(error) => BatchStep::Fail(error),
        },
        StepForm::Read { id, known, precondition } => BatchStep::Read { id, known, precondition },
        StepForm::Fail(error) => BatchStep::Fail(error),
    }
}

impl Form for Claimed {
    fn write(&self, out: &mut Out) {
        match self {
            Claimed::Next(key) => {
                out.u8(0);
                key.write(out);
            }
            Claimed::Held(key) => {
                out.u8(1);
                key.write(out);
            }
            Claimed::All => out.u8(2),
            Claimed::Taken(slot, item) => {
                out.u8(3);
                out.u8(*slot);
                item.write(out);
            }
        }
    }

    fn read(from: &mut In) -> Result<Claimed> {
        Ok(match from.u8()? {
            0 => Claimed::Next(from.bytes()?),
            1 => Claimed::Held(Option::read(from)?),
            2 => Claimed::All,
            3 => {
                let slot = from.u8()?;
                Claimed::Taken(slot, Form::read(from)?)
            }
            _ => return Err(unreadable()),
        })
    }
}
