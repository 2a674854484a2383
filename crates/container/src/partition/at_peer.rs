//! A partition that another process has, as this one sees it: what it holds is asked for, and nothing of it is kept.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Partition;
use super::counters::Counters;
use super::known_numbers::KnownNumbers;
use crate::compiled_definition::{CompiledDefinition, CurrentDefinition};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::far::Far;
use crate::far::link::FarError;
use crate::far::request::{
    ClaimCall, CommitCall, DraftReply, DraftedForm, Flag, LockCall, ReadForm, Request, VersionForm,
};
use crate::far::space::FarSpace;
use crate::index::layout::Layout;
use crate::index::state::IndexState;
use crate::item::ContainerIdentity;
use crate::item::keys::{self, LogicalKey};
use crate::item::moment::Moment;
use crate::item::new_header_bytes;
use crate::limits::Limits;
use crate::map::ranges::Range;
use crate::partition::locks::Pass;
use crate::write::task::{Claimed, Done, Task, TransactionTask, Unqueued};
use crate::write::{Drafted, Intent};
use armilla_env::Env;
use armilla_kv::{Family, Store};
use armilla_value::PartitionKey;
use bytes::Bytes;
use tokio::sync::Notify;

/// What keeps others from writing to a logical partition. Dropping it lets them.
pub(crate) enum Hold {
    /// In a partition of this process.
    Here(#[expect(dead_code, reason = "it is held, and not looked at")] Pass),
    /// In one of another.
    There(FarHold),
}

/// A lock that another process has taken for this one.
pub(crate) struct FarHold {
    far: Arc<Far>,
    lock: u64,
}

impl Drop for FarHold {
    fn drop(&mut self) {
        self.far.tell(&Request::Unlock(self.lock));
    }
}

impl Partition {
    /// Returns a partition of another process.
    #[expect(clippy::too_many_arguments, reason = "a partition is made of so many things, in one place")]
    pub(crate) fn at_peer(
        far: Far,
        store: Arc<dyn Store>,
        range: &Range,
        identity: Arc<ContainerIdentity>,
        limits: Arc<Limits>,
        env: Env,
        definition: Arc<CurrentDefinition>,
        first_layout: Arc<Layout>,
        grown: Arc<Notify>,
        known_numbers: Arc<KnownNumbers>,
    ) -> Result<Partition> {
        let far = Arc::new(far);
        let counters = Counters { lsn: range.lsn_base, ..Counters::default() };
        let nothing = |_, _: &[u8]| Ok(None);
        let unread = |_: &Bytes| Err(Error::new(ErrorKind::Internal, "nothing was read"));
        let index = IndexState::load(nothing, unread, &counters, &first_layout)?;
        let space = Arc::new(FarSpace::new(far.clone()));
        let partition = Partition::assemble(
            store,
            range,
            space,
            counters,
            index,
            identity,
            limits,
            env,
            definition,
            first_layout,
            grown,
            known_numbers,
        );
        Ok(Partition { far: Some(far), ..partition })
    }

    /// Returns where the partition is at this moment. One of another process is asked.
    pub(crate) fn fresh_position(&self) -> Result<Position> {
        if self.far.is_some() {
            let counters = Counters::load(self.space().as_ref(), self.lsn_base)?;
            self.note_lsn(counters.lsn);
        }
        Ok(self.position())
    }

    /// Returns what is known of the index at this moment. Another process is asked.
    pub(crate) fn fresh_index(&self, compiled: &CompiledDefinition) -> Result<IndexState> {
        if self.far.is_none() {
            return Ok(self.index());
        }
        let snapshot = self.space().snapshot()?;
        let counters = match snapshot.get(Family::Meta, keys::COUNTERS)? {
            Some(bytes) => Counters::decode(&bytes)?,
            None => Counters { lsn: self.lsn_base, ..Counters::default() },
        };
        let get = |family, key: &[u8]| snapshot.get(family, key);
        IndexState::load(get, |bytes| self.layouts(bytes), &counters, &compiled.layout)
    }

    /// Takes note of a commit that another process has told of.
    pub(crate) fn note_lsn(&self, lsn: u64) {
        self.lsn.fetch_max(lsn, Ordering::AcqRel);
    }

    /// Waits until there is a commit behind one.
    pub(crate) async fn wait_beyond(&self, lsn: u64) {
        match &self.far {
            None => {
                // Where the partition is gone, so is its place in the map.
                let _ = self.watch_commits().wait_for(|newest| *newest > lsn).await;
            }
            Some(far) => loop {
                match far.ask::<u64>(&Request::Await(lsn)).await {
                    Ok(newest) => {
                        self.note_lsn(newest);
                        if newest > lsn {
                            return;
                        }
                    }
                    // Who waits looks for itself, and finds out where the partition is.
                    Err(_) => return,
                }
            },
        }
    }

    /// Gives a version that is drafted its stamp and its moment.
    pub(crate) fn draft_version(&self) -> Result<Drafted> {
        let DraftReply { number, moment, opening } = match &self.far {
            None => DraftReply {
                number: self.reserve_number()?,
                moment: self.next_moment(Moment::now(self.env.clock.as_ref()), None)?,
                // It is committed to this opening, or not at all.
                opening: 0,
            },
            Some(far) => far.ask_here(&Request::Draft)?,
        };
        Ok(Drafted { stamp: crate::item::Stamp::new(number), moment, number: None, opening })
    }

    /// Keeps all others from writing to a logical partition, and waits until everything before has landed. Returns
    /// nothing if others have taken the place of this one.
    pub(crate) async fn hold(
        self: &Arc<Self>,
        compiled: &Arc<CompiledDefinition>,
        logical: &LogicalKey,
    ) -> Result<Option<Hold>> {
        let Some(far) = &self.far else {
            return Ok(self.lock(compiled, logical).await?.map(Hold::Here));
        };
        // From here on it is let go of, whatever becomes of this: who asks may go away at any moment.
        let hold = FarHold { far: far.clone(), lock: far.next_lock() };
        match far.ask(&Request::Lock(LockCall { lock: hold.lock, logical: logical.as_bytes().clone() })).await
        {
            Ok(()) => Ok(Some(Hold::There(hold))),
            Err(FarError::Failed(error)) => Err(error),
            Err(FarError::Moved(why) | FarError::Unknown(why)) => Err(Error::new(ErrorKind::Moved, why)),
        }
    }

    /// Commits a transaction.
    pub(crate) async fn commit(
        self: &Arc<Self>,
        compiled: Arc<CompiledDefinition>,
        partition_key: &PartitionKey,
        task: TransactionTask,
        hold: Option<&Hold>,
    ) -> Result<Position> {
        let Some(far) = &self.far else {
            let gate = hold.is_none().then(|| task.logical.clone());
            return match self.submit(compiled, Task::Transaction(Box::new(task)), gate.as_ref()).await? {
                Done::Committed(position) => Ok(position),
                _ => Err(Error::new(ErrorKind::Internal, "a transaction was taken for something else")),
            };
        };
        let lock = match hold {
            Some(Hold::There(held)) => Some(held.lock),
            _ => None,
        };
        let call = commit_call(partition_key, task, lock)?;
        let position: Position = far.ask(&Request::Commit(call)).await.map_err(FarError::of_write)?;
        self.note_lsn(position.lsn);
        Ok(position)
    }

    /// Has another process do a task of building or dropping unique keys.
    pub(super) async fn submit_far(far: &Far, task: Task) -> std::result::Result<Done, Unqueued> {
        let failed = |error: FarError| Unqueued::Failed(error.of_write());
        match task {
            Task::Barrier => {
                far.ask::<()>(&Request::Barrier).await.map_err(failed)?;
                Ok(Done::Passed)
            }
            Task::Claim(claim) => {
                let call = ClaimCall { slots: claim.slots.into(), after: claim.after };
                let claimed: Claimed = far.ask(&Request::Claim(call)).await.map_err(failed)?;
                Ok(Done::Claimed(Box::new(claimed)))
            }
            Task::DropReservations(keys) => {
                far.ask::<()>(&Request::DropReservations(keys)).await.map_err(failed)?;
                Ok(Done::ReservationsDropped)
            }
            _ => Err(Unqueued::Failed(Error::new(
                ErrorKind::Moved,
                "another process has the partition, and does this by itself",
            ))),
        }
    }
}

/// Writes down a transaction for another process, which prepares its writes anew.
fn commit_call(partition_key: &PartitionKey, task: TransactionTask, lock: Option<u64>) -> Result<CommitCall> {
    let writes = task.writes.into_iter().map(|intent| match intent {
        Intent::Put { mode, item, precondition } => {
            let drafted = item
                .drafted
                .ok_or_else(|| Error::new(ErrorKind::Internal, "a write of a transaction was not drafted"))?;
            Ok(DraftedForm::Put {
                mode,
                content: Bytes::copy_from_slice(&item.value[new_header_bytes(true)..]),
                stamp: drafted.stamp.number(),
                moment: drafted.moment,
                number: drafted.number,
                opening: drafted.opening,
                keeps_types: item.keeps_types,
                precondition,
            })
        }
        Intent::Delete { address, precondition } => Ok(DraftedForm::Delete { id: address.id, precondition }),
        Intent::Rename { .. } | Intent::Patch { .. } => {
            Err(Error::new(ErrorKind::Internal, "a transaction has a write that it does not draft"))
        }
    });
    let reads = task.reads.items().map(|(key, version)| ReadForm {
        key: key.clone(),
        version: version.map(|(lsn, operation)| VersionForm { lsn, operation: operation.into() }),
    });
    Ok(CommitCall {
        partition_key: partition_key.clone(),
        writes: writes.collect::<Result<_>>()?,
        lsn: task.reads.lsn(),
        is_whole: Flag(task.reads.is_whole()),
        reads: reads.collect(),
        lock,
        now: task.now.into(),
        receipts: task.receipts,
    })
}
