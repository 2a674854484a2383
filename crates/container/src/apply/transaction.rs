//! Applying several writes of one logical partition as one: all of them with one commit number, or none.
//!
//! Two kinds come here. A batch is a list of steps that the caller wants done in order; it reads and checks here, so
//! nothing can come in between. A transaction was drafted on a snapshot; here it is checked that what it read is still
//! so, and then its writes are applied again. That they come out as they were drafted follows from the check, and is
//! checked once more by their not being refused.
//!
//! Not here: drafting (`draft` in this folder), keeping others out while a transaction runs (`locks`).

use super::Group;
use super::scope::{Scope, check_load};
use super::write::not_found;
use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::item::keys::{self, LogicalKey};
use crate::limits::{TRANSACTION_ENTRY_OPERATIONS_MAX, TRANSACTION_REPLAY_ENTRY_OPERATIONS_MAX};
use crate::receipt::Receipt;
use crate::throughput::{ReadCost, RequestUnits, Work, price};
use crate::write;
use crate::write::outcome::{BatchDone, BatchFailed, ReadItem, StepDone};
use crate::write::task::{BatchTask, PreparedStep, TransactionTask};

impl Group<'_> {
    /// Does the steps of a batch, all or none.
    pub(super) fn batch(
        &mut self,
        compiled: &CompiledDefinition,
        batch: BatchTask,
    ) -> std::result::Result<BatchDone, BatchFailed> {
        self.effects.mark();
        self.scope = Some(Scope::default());
        let mut steps = Vec::with_capacity(batch.steps.len());
        let mut charge = RequestUnits::ZERO;
        for (position, step) in batch.steps.into_iter().enumerate() {
            match self.step(compiled, step, batch.cost) {
                Ok((done, step_charge)) => {
                    charge += step_charge;
                    steps.push(done);
                }
                Err(error) => {
                    self.effects.roll_back();
                    self.scope = None;
                    let place = self.position();
                    let error = Error { position: Some(place), ..error };
                    charge += error.charge;
                    return Err(BatchFailed { step: position, error, charge, position: place });
                }
            }
        }
        if let Err(error) = self.leave_all(&batch.logical, batch.receipts, TRANSACTION_ENTRY_OPERATIONS_MAX) {
            self.effects.roll_back();
            self.scope = None;
            let (error, place) = (self.refused(error), self.position());
            charge += error.charge;
            return Err(BatchFailed { step: steps.len().saturating_sub(1), error, charge, position: place });
        }
        self.effects.keep();
        self.scope = None;
        Ok(BatchDone { steps, charge, position: self.position() })
    }

    fn step(
        &mut self,
        compiled: &CompiledDefinition,
        step: PreparedStep,
        cost: ReadCost,
    ) -> Result<(StepDone, RequestUnits)> {
        match step {
            PreparedStep::Write(intent) => {
                let written = self.write_by_itself(compiled, intent).and_then(|written| {
                    let writes = self.scope.as_ref().map_or(0, |scope| scope.writes);
                    check_load(writes, self.effects.load_since_mark(), TRANSACTION_ENTRY_OPERATIONS_MAX)?;
                    Ok(written)
                });
                let written = written.map_err(|error| self.refused(error))?;
                let charge = written.charge;
                Ok((StepDone::Written(written), charge))
            }
            PreparedStep::Read { address, known, precondition } => {
                let nothing = price(&Work::ReadNothing, cost);
                let Some(item) = self.live_item(compiled, &address.key)? else {
                    return Err(not_found(&address).at(self.position(), nothing));
                };
                if let Some(scope) = &mut self.scope {
                    scope.known.insert(address.key.clone());
                }
                self.check(&item, precondition).map_err(write::refused)?;
                let etag = item.etag(&self.partition.identity);
                if known == Some(etag) {
                    return Ok((StepDone::NotModified { etag, charge: nothing }, nothing));
                }
                let item_bytes = item.json_bytes(&self.partition.identity);
                let charge = price(&Work::Read { item_bytes }, cost);
                let read = ReadItem { item, charge, position: self.position() };
                Ok((StepDone::Read(read), charge))
            }
            PreparedStep::Fail(error) => Err(write::refused(error)),
        }
    }

    /// Applies the writes of a transaction, if what it read is still so. Items that had not expired for its draft are
    /// still there for it, unless they were taken away meanwhile.
    pub(super) fn transaction(
        &mut self,
        compiled: &CompiledDefinition,
        transaction: TransactionTask,
    ) -> Result<Position> {
        let now = std::mem::replace(&mut self.now, transaction.now);
        let applied = self.apply_transaction(compiled, transaction);
        self.now = now;
        applied
    }

    fn apply_transaction(
        &mut self,
        compiled: &CompiledDefinition,
        transaction: TransactionTask,
    ) -> Result<Position> {
        self.validate(compiled, &transaction)?;
        self.check_receipts(&transaction.logical, &transaction.receipts)?;
        self.effects.mark();
        self.scope = Some(Scope::default());
        let mut applied = Ok(());
        for intent in transaction.writes {
            applied = self.write_by_itself(compiled, intent).map_err(as_conflict).and_then(|_| {
                let writes = self.scope.as_ref().map_or(0, |scope| scope.writes);
                check_load(writes, self.effects.load_since_mark(), TRANSACTION_REPLAY_ENTRY_OPERATIONS_MAX)
            });
            if applied.is_err() {
                break;
            }
        }
        if applied.is_ok() {
            let (logical, receipts) = (transaction.logical, transaction.receipts);
            applied = self.leave_all(&logical, receipts, TRANSACTION_REPLAY_ENTRY_OPERATIONS_MAX);
        }
        self.scope = None;
        match applied {
            Ok(()) => self.effects.keep(),
            Err(_) => self.effects.roll_back(),
        }
        applied.map(|()| self.position())
    }

    /// Leaves the receipts of a transaction or batch, which then is no larger than it may be.
    fn leave_all(
        &mut self,
        logical: &LogicalKey,
        receipts: Vec<Receipt>,
        entry_operations_max: usize,
    ) -> Result<()> {
        if receipts.is_empty() {
            return Ok(());
        }
        self.leave_receipts(logical, receipts)?;
        let writes = self.scope.as_ref().map_or(0, |scope| scope.writes);
        // A write by itself may be as large as it is, but is far from the bounds where there are receipts.
        check_load(writes, self.effects.load_since_mark(), entry_operations_max)
    }

    /// Checks that what a transaction read is what there is now, with all that was applied before it.
    fn validate(&self, compiled: &CompiledDefinition, transaction: &TransactionTask) -> Result<()> {
        let TransactionTask { reads, logical, is_locked, .. } = transaction;
        let size_key = keys::size(logical);
        let known = match self.effects.sizes.get(&size_key) {
            Some((last, _)) => Some(*last),
            None => self.applied.size(&size_key),
        };
        let written_lately = known.and_then(|last| last.lsn);
        let last_change_lsn = written_lately.unwrap_or(self.applied.floor_lsn());
        if last_change_lsn <= reads.lsn() {
            return Ok(());
        }
        // If it is not known when the logical partition changed last, it may have been long ago, and was if all
        // others were kept out.
        let may_have_changed = written_lately.is_some() || !is_locked;
        if reads.is_whole() && may_have_changed {
            return Err(conflict());
        }
        for (key, version) in reads.items() {
            if self.live_item(compiled, key)?.map(|item| item.header().version()) != version {
                return Err(conflict());
            }
        }
        Ok(())
    }
}

pub(super) fn conflict() -> Error {
    Error::new(ErrorKind::Conflict, "another writer changed what the transaction read; run it again")
}

/// What was drafted and is refused now was refused because something changed that the transaction depends on.
fn as_conflict(error: Error) -> Error {
    match error.kind {
        ErrorKind::Unavailable
        | ErrorKind::Corrupt
        | ErrorKind::Internal
        | ErrorKind::RangeGone
        | ErrorKind::OutcomeUnknown => error,
        _ => conflict(),
    }
}
