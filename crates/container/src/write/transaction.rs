//! Transactions over one logical partition, for callers that compute between reads and writes: scripts and triggers.
//!
//! A transaction reads one moment of its logical partition, and sees its own writes over it. Its writes reach the
//! committer together, with all that was read; if any of that has changed meanwhile, the commit fails with
//! [`ErrorKind::Conflict`], nothing is written, and the caller runs it again. From the attempt
//! [`OPTIMISTIC_ATTEMPTS_MAX`] on, a transaction locks its logical partition, so that no other writer can change it.
//!
//! What the caller is shown of a written item holds once the transaction is committed: its number, its etag and its
//! time stamp are fixed when the write is drafted.

use std::collections::HashSet;
use std::sync::Arc;

use armilla_governor::{Claim, OperationKind};
use armilla_value::PartitionKey;
use bytes::Bytes;

use crate::apply::Draft;
use crate::compiled_definition::CompiledDefinition;
use crate::container::Container;
use crate::definition::ContainerDefinition;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::item::keys::LogicalKey;
use crate::item::patch::Patch;
use crate::item::{ContainerIdentity, Item};
use crate::partition::Partition;
use crate::partition::at_peer::Hold;
use crate::read::reader::PartitionReader;
use crate::read::receipts::find_receipt;
use crate::receipt::{Receipt, check_receipts};
use crate::throughput::source::ChargeMeter;
use crate::throughput::{ReadCost, RequestUnits};
use crate::write::body::ItemBody;
use crate::write::outcome::Written;
use crate::write::task::TransactionTask;
use crate::write::{self, ItemAddress, Precondition, WriteMode};

/// Attempts of a transaction that trust that no other writer comes in between; later ones keep others out.
pub const OPTIMISTIC_ATTEMPTS_MAX: u32 = 2;

/// A transaction over one logical partition. What it costs is not taken down by itself: its owner says it. Dropping it lets go of everything; nothing was written.
pub struct Transaction {
    partition: Arc<Partition>,
    meter: ChargeMeter,
    compiled: Arc<CompiledDefinition>,
    partition_key: PartitionKey,
    logical: LogicalKey,
    reader: Arc<PartitionReader>,
    draft: Draft,
    has_writes: bool,
    receipts: Vec<Receipt>,
    /// The container, to be told that there is something to sweep.
    container: Container,
    hold: Option<Hold>,
}

impl Container {
    /// Begins a transaction over a logical partition that holds no lock, however long it lives: it waits until no other
    /// transaction has one. Its commit may fail as often as others come between.
    pub async fn begin_unlocked(
        &self,
        partition_key: &PartitionKey,
        cost: ReadCost,
        claim: impl Into<Claim>,
    ) -> Result<Transaction> {
        let mut begun = self.begin(partition_key, 0, cost, claim).await?;
        // It came when others were waiting, and has waited for its turn; what it reads is what there was then.
        begun.hold = None;
        Ok(begun)
    }

    /// Begins a transaction over a logical partition. `attempt` counts from 0 how often the caller has run it in vain.
    /// As long as a late attempt lives, other writers of the logical partition wait, so its owner must not wait for
    /// one of them.
    pub async fn begin(
        &self,
        partition_key: &PartitionKey,
        attempt: u32,
        cost: ReadCost,
        claim: impl Into<Claim>,
    ) -> Result<Transaction> {
        let claim = claim.into();
        let mut turn = self.turn();
        loop {
            match self.begin_settled(partition_key, attempt, cost, claim).await {
                Err(error) if error.kind == ErrorKind::Moved && self.core.peers.is_some() => {
                    self.await_move(&mut turn, error).await?;
                }
                begun => return begun,
            }
        }
    }

    async fn begin_settled(
        &self,
        partition_key: &PartitionKey,
        attempt: u32,
        cost: ReadCost,
        claim: Claim,
    ) -> Result<Transaction> {
        let compiled = self.compiled();
        let (hashed, logical) = write::locate(&compiled, partition_key)?;
        let bytes = logical.as_bytes();
        let (mut slot, mut partition) = self.route(&hashed)?;
        slot.admit(self.clock(), claim, Some(bytes))?;
        let hold = loop {
            if attempt < OPTIMISTIC_ATTEMPTS_MAX && !partition.is_locked(&logical) {
                break None;
            }
            match partition.hold(&compiled, &logical).await? {
                Some(hold) => break Some(hold),
                // Others have taken its place: the logical partition lies in one of them.
                None => (slot, partition) = self.route(&hashed)?,
            }
        };
        let clock = self.core.env.clock.clone();
        let meter = ChargeMeter::new(slot.clone(), clock, OperationKind::Script, claim, Some(bytes.clone()));
        let (reader, draft) = self.draft_on(&compiled, &slot, &logical, hashed, cost)?;
        Ok(Transaction {
            partition,
            meter,
            compiled,
            partition_key: partition_key.clone(),
            logical,
            reader: Arc::new(reader),
            draft,
            has_writes: false,
            receipts: Vec::new(),
            container: self.clone(),
            hold,
        })
    }
}

/// A transaction whose partition has gone to another process has written nothing, and is run again there.
fn run_again(error: Error) -> Error {
    match error.kind {
        ErrorKind::Moved => Error { kind: ErrorKind::Conflict, ..error },
        _ => error,
    }
}

impl Transaction {
    /// Returns what items need to know to show themselves.
    pub fn identity(&self) -> &ContainerIdentity {
        &self.partition.identity
    }

    /// Returns the container's definition when the transaction began.
    pub fn definition(&self) -> &ContainerDefinition {
        &self.compiled.definition
    }

    /// Returns the partition key of the logical partition.
    pub fn partition_key(&self) -> &PartitionKey {
        &self.partition_key
    }

    /// Returns what takes down the cost of the transaction, for after it has ended.
    pub fn meter(&self) -> ChargeMeter {
        self.meter.clone()
    }

    /// Reads an item, as this transaction left it if it wrote it.
    pub fn read(&mut self, id: &str) -> Result<Option<Item>> {
        let key = self.logical.item(id);
        self.draft.read(self.reader.snapshot(), &key).map_err(|error| self.placed(error))
    }

    /// Returns the id of the item with a number, if there is one in the logical partition; this transaction's own
    /// are among them.
    pub fn id_of(&mut self, number: u64) -> Result<Option<String>> {
        let key = match self.draft.own_key(number) {
            Some(key) => Some(key),
            None => self.reader.item_key_of(number)?,
        };
        let id = match key {
            Some(key) => self.id_in(&key, number)?,
            None => None,
        };
        if id.is_none() {
            // What is missing has no key by which its absence could be noted.
            self.draft.see_whole();
        }
        Ok(id)
    }

    fn id_in(&mut self, key: &Bytes, number: u64) -> Result<Option<String>> {
        let Some(id) = key.strip_prefix(&self.logical.as_bytes()[..]) else { return Ok(None) };
        // The key outlives its item: another may have it now.
        let item = self.draft.item(self.reader.snapshot(), key).map_err(|error| self.placed(error))?;
        Ok(item
            .filter(|item| item.header().number == number)
            .map(|_| String::from_utf8_lossy(id).into_owned()))
    }

    /// Writes a whole item. `id` is the item that a replace names. What is returned shows the item as
    /// it will be; its commit is not known yet.
    pub fn put(
        &mut self,
        mode: WriteMode,
        id: Option<&str>,
        body: impl Into<ItemBody>,
        precondition: Precondition,
    ) -> Result<Written> {
        let written = self.put_prepared(mode, id, &body.into(), precondition);
        self.written(written)
    }

    fn put_prepared(
        &mut self,
        mode: WriteMode,
        id: Option<&str>,
        body: &ItemBody,
        precondition: Precondition,
    ) -> Result<Written> {
        let drafted = self.draft.drafted()?;
        let limits = &self.partition.limits;
        let item = write::prepare_drafted(&self.compiled, limits, id, body, &self.partition_key, drafted)
            .map_err(|error| self.draft.refuse(error))?;
        self.draft.put(self.reader.snapshot(), mode, item, precondition)
    }

    /// Changes parts of an item.
    pub fn patch(&mut self, id: &str, patch: &Patch, precondition: Precondition) -> Result<Written> {
        let written = self.patch_drafted(id, patch, precondition);
        self.written(written)
    }

    fn patch_drafted(&mut self, id: &str, patch: &Patch, precondition: Precondition) -> Result<Written> {
        let address = ItemAddress::new(&self.compiled, &self.partition_key, id)?;
        self.draft.patch(self.reader.snapshot(), &address, &self.partition_key, patch, precondition)
    }

    /// Deletes an item.
    pub fn delete(&mut self, id: &str, precondition: Precondition) -> Result<Written> {
        let written = ItemAddress::new(&self.compiled, &self.partition_key, id)
            .and_then(|address| self.draft.delete(self.reader.snapshot(), address, precondition));
        self.written(written)
    }

    fn written(&mut self, written: Result<Written>) -> Result<Written> {
        match written {
            Ok(written) => {
                self.has_writes = true;
                Ok(Written { position: self.position(), ..written })
            }
            Err(error) => Err(self.placed(error)),
        }
    }

    fn placed(&self, error: Error) -> Error {
        Error { position: Some(self.position()), ..run_again(error) }
    }

    /// Leaves a receipt with what the transaction writes: both are stored, or neither. The commit fails with
    /// [`ErrorKind::Conflict`] if another one has left a receipt with this key in the logical partition.
    pub fn leave_receipt(&mut self, receipt: Receipt) -> Result<()> {
        self.receipts.push(receipt);
        check_receipts(&self.receipts).map_err(|error| {
            self.receipts.pop();
            self.placed(error)
        })
    }

    /// Returns what the receipt with a key says, if there was one when the transaction began.
    pub fn find_receipt(&self, key: &[u8]) -> Result<Option<Bytes>> {
        find_receipt(self.reader.snapshot(), &self.logical, key, self.partition.now_seconds())
            .map_err(|error| self.placed(error))
    }

    /// Returns the logical partition as the transaction found it, without its own writes. All of it counts as read.
    pub fn snapshot(&mut self) -> Arc<PartitionReader> {
        self.draft.see_whole();
        self.reader.clone()
    }

    /// Returns the numbers of the items of the snapshot that this transaction deleted.
    pub fn deleted(&self) -> &HashSet<u64> {
        self.draft.deleted()
    }

    /// Returns whether no further write should be begun, because the transaction is near its bounds on writes, index
    /// entries and bytes.
    pub fn is_full(&self) -> bool {
        self.draft.is_full()
    }

    /// Returns how many further writes of an ordinary size there is room for in any case; none once its bounds are no
    /// longer far.
    pub fn writes_left(&self) -> usize {
        self.draft.writes_left()
    }

    /// Returns what was read and written so far costs, refused writes included.
    pub fn charge(&self) -> RequestUnits {
        self.draft.charge()
    }

    /// Returns where the logical partition was when the transaction began.
    pub fn position(&self) -> Position {
        self.reader.position()
    }

    /// Commits what was written, all or nothing. Fails with [`ErrorKind::Conflict`] if what was read has changed.
    pub async fn commit(self) -> Result<Position> {
        let position = self.position();
        if !self.has_writes && self.receipts.is_empty() {
            return Ok(position);
        }
        let Transaction {
            partition, compiled, partition_key, logical, draft, hold, receipts, container, ..
        } = self;
        let has_receipts = !receipts.is_empty();
        let now = draft.now();
        let (writes, reads) = draft.finish();
        let is_locked = hold.is_some();
        let task = TransactionTask { writes, reads, logical, is_locked, now, receipts };
        let committed = partition.commit(compiled, &partition_key, task, hold.as_ref()).await;
        // Not before the answer: others wait until all of this is over.
        drop(hold);
        if has_receipts {
            container.core.sweep_wanted.notify_one();
        }
        committed.map_err(run_again)
    }
}
