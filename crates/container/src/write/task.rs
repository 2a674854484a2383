//! What is queued for a committer, and what it answers.

use std::sync::Arc;

use bytes::Bytes;

use crate::apply::Reads;
use crate::compiled_definition::CurrentDefinition;
use crate::error::{Error, ErrorKind, Position};
use crate::item::keys::LogicalKey;
use crate::item::{ETag, Item};
use crate::limits::{CLAIM_STEP_ITEMS, REINDEX_STEP_ITEMS, TRIM_STEP_BYTES};
use crate::receipt::Receipt;
use crate::throughput::{ReadCost, RequestUnits};
use crate::write::outcome::{BatchDone, BatchFailed, Written};
use crate::write::{Intent, ItemAddress, Precondition};

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
    /// Taking away expired items.
    Purge(Box<PurgeTask>),
    /// Dropping receipts, by their places in the order of commits.
    DropReceipts(Vec<Bytes>),
    /// One step of giving items their reservations of unique keys that are being built.
    Claim(ClaimTask),
    /// Removing reservations of unique keys that were dropped.
    DropReservations(Vec<Bytes>),
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
    /// So many.
    ReceiptsDropped(u64),
    Claimed(Box<Claimed>),
    ReservationsDropped,
    Passed,
}

/// What became of a task that was not done.
pub(crate) enum Unqueued {
    /// Other partitions have taken the place of this one: the task, as it was.
    Retired(Box<Task>),
    /// It failed.
    Failed(Error),
}

impl From<Unqueued> for Error {
    fn from(unqueued: Unqueued) -> Error {
        match unqueued {
            Unqueued::Failed(error) => error,
            Unqueued::Retired(_) => Error::new(
                ErrorKind::Conflict,
                "the partition was replaced by others meanwhile; run it again",
            ),
        }
    }
}

impl Task {
    /// Returns about how much memory the task holds while it waits.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Task::Write(intent) => intent.bytes(),
            Task::Batch(batch) => batch.bytes(),
            Task::Transaction(transaction) => transaction.bytes(),
            Task::Barrier => 0,
            Task::Purge(purge) => purge.bytes(),
            Task::Claim(_) => CLAIM_STEP_ITEMS * 1024,
            Task::DropReservations(keys) => keys.iter().map(|key| 64 + key.len()).sum(),
            Task::DropReceipts(places) => places.iter().map(|place| 64 + place.len()).sum(),
            Task::Reindex => REINDEX_STEP_ITEMS * 1024,
            Task::Trim => TRIM_STEP_BYTES,
        }
    }
}

/// One step of a batch, prepared.
#[expect(clippy::large_enum_variant, reason = "nearly every step is a write")]
pub(crate) enum PreparedStep {
    Write(Intent),
    Read { address: ItemAddress, known: Option<ETag>, precondition: Precondition },
    Fail(Error),
}

/// A batch on its way to the committer.
pub(crate) struct BatchTask {
    pub(crate) steps: Vec<PreparedStep>,
    pub(crate) cost: ReadCost,
    pub(crate) logical: LogicalKey,
    pub(crate) receipts: Vec<Receipt>,
}

impl BatchTask {
    /// Returns about how much memory the batch holds while it waits.
    pub(crate) fn bytes(&self) -> usize {
        const FIXED: usize = 256;
        let steps = self.steps.iter().map(|step| match step {
            PreparedStep::Write(intent) => intent.bytes(),
            PreparedStep::Read { .. } | PreparedStep::Fail(_) => FIXED,
        });
        steps.sum::<usize>() + self.receipts.iter().map(Receipt::bytes).sum::<usize>()
    }
}

/// A transaction on its way to the committer.
pub(crate) struct TransactionTask {
    pub(crate) writes: Vec<Intent>,
    pub(crate) reads: Reads,
    pub(crate) logical: LogicalKey,
    /// Whether all others were kept out of the logical partition since before it was read.
    pub(crate) is_locked: bool,
    /// The second by which its draft judged whether an item has expired.
    pub(crate) now: u32,
    pub(crate) receipts: Vec<Receipt>,
}

impl TransactionTask {
    /// Returns about how much memory the transaction holds while it waits.
    pub(crate) fn bytes(&self) -> usize {
        let receipts = self.receipts.iter().map(Receipt::bytes).sum::<usize>();
        self.writes.iter().map(Intent::bytes).sum::<usize>() + self.reads.bytes() + receipts
    }
}

/// Unique keys that are being built, and behind which item to go on.
pub(crate) struct ClaimTask {
    pub(crate) slots: Vec<u8>,
    pub(crate) after: Option<Bytes>,
}

/// What one step of building unique keys came to.
pub(crate) enum Claimed {
    /// All items behind this one are left.
    Next(Bytes),
    /// A transaction has locked the logical partition of an item that is in the way; all behind this one are left.
    Held(Option<Bytes>),
    /// No item is left.
    All,
    /// An item has the same values of the key with this slot as another.
    Taken(u8, Item),
}

/// Expired items, on their way to the committer.
pub(crate) struct PurgeTask {
    /// What decides when the task's turn comes: the definition may have changed meanwhile.
    pub(crate) compiled: Arc<CurrentDefinition>,
    pub(crate) due: Vec<DueItem>,
    /// What it may cost, where that counts: it ends with the item that spends the last of it.
    pub(crate) charge_max: Option<RequestUnits>,
}

impl PurgeTask {
    /// Returns about how much memory the task holds while it waits.
    pub(crate) fn bytes(&self) -> usize {
        const FIXED: usize = 256;
        self.due.iter().map(|due| FIXED + due.key.len()).sum()
    }
}

/// An expired item, or one that was a moment ago.
pub(crate) struct DueItem {
    pub(crate) number: u64,
    pub(crate) key: Bytes,
}

/// What became of expired items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Purged {
    /// How many are gone.
    pub(crate) items: u64,
    /// What that cost.
    pub(crate) charge: RequestUnits,
    /// How many of them, from the first on, need not be looked at again.
    pub(crate) dealt_with: usize,
}

/// What a step came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Trimmed {
    /// Entries that were dropped.
    pub(crate) entries: u64,
    /// Whether there may be more to drop now.
    pub(crate) more: bool,
}
