//! Transactional batches: a list of steps on one logical partition, done in order, all or none.
//!
//! A batch needs no snapshot and no retry: its steps are applied one after the other by the committer, with nothing in
//! between, so each sees those before it.

use armilla_governor::{Claim, OperationKind};
use armilla_value::PartitionKey;

use crate::compiled_definition::CompiledDefinition;
use crate::container::Container;
use crate::error::{Error, ErrorKind, Result};
use crate::far::request::{BatchCall, Request, StepForm};
use crate::receipt::{Receipt, check_receipts};
use crate::throughput::ReadCost;
use crate::throughput::source::Admission;
use crate::write::outcome::{BatchDone, BatchFailed};
use crate::write::step::BatchStep;
use crate::write::task::{BatchTask, Done, PreparedStep, Task};
use crate::write::{self, Intent, ItemAddress};

impl Container {
    /// Does some steps on one logical partition in order, all or none. The outer error is of the batch as a whole:
    /// it could not be routed, or its commit failed.
    pub async fn batch(
        &self,
        partition_key: &PartitionKey,
        steps: Vec<BatchStep>,
        cost: ReadCost,
        claim: impl Into<Claim>,
    ) -> Result<std::result::Result<BatchDone, BatchFailed>> {
        self.batch_with_receipts(partition_key, steps, Vec::new(), cost, claim).await
    }

    /// The same, and leaves receipts with what is done. If one with the same key is there, nothing is done, and the batch
    /// as a whole fails with [`ErrorKind::Conflict`].
    pub async fn batch_with_receipts(
        &self,
        partition_key: &PartitionKey,
        steps: Vec<BatchStep>,
        receipts: Vec<Receipt>,
        cost: ReadCost,
        claim: impl Into<Claim>,
    ) -> Result<std::result::Result<BatchDone, BatchFailed>> {
        check_receipts(&receipts)?;
        let claim = claim.into();
        if self.core.peers.is_none() {
            return self.batch_here(partition_key, steps, receipts, cost, claim).await;
        }
        let mut turn = self.turn();
        loop {
            let far = || {
                let (partition_key, receipts) = (partition_key.clone(), receipts.clone());
                let steps = steps.iter().cloned().map(StepForm::of).collect();
                Request::Batch(BatchCall { partition_key, steps, receipts, cost, claim })
            };
            if let Some(done) = self.done_elsewhere(partition_key, &mut turn, far).await {
                return done;
            }
            match self.batch_here(partition_key, steps.clone(), receipts.clone(), cost, claim).await {
                Err(error) if error.kind == ErrorKind::Moved => self.await_move(&mut turn, error).await?,
                done => return done,
            }
        }
    }

    async fn batch_here(
        &self,
        partition_key: &PartitionKey,
        steps: Vec<BatchStep>,
        receipts: Vec<Receipt>,
        cost: ReadCost,
        claim: Claim,
    ) -> Result<std::result::Result<BatchDone, BatchFailed>> {
        let has_receipts = !receipts.is_empty();
        let compiled = self.compiled();
        let (hashed, logical) = write::locate(&compiled, partition_key)?;
        let (slot, _) = self.route(&hashed)?;
        let bytes = Some(&logical.as_bytes()[..]);
        let admission = Admission::ask(&slot, self.clock(), OperationKind::Write, claim, bytes)?;
        let prepare =
            |step| self.prepare_step(&compiled, partition_key, step).unwrap_or_else(PreparedStep::Fail);
        let steps = steps.into_iter().map(prepare).collect();
        let task = Task::Batch(Box::new(BatchTask { steps, cost, logical: logical.clone(), receipts }));
        let (slot, done) = self.submit(&compiled, task, &hashed, &logical).await;
        let done = done.and_then(|done| match done {
            Done::Batch(done) => Ok(*done),
            _ => Err(Error::new(ErrorKind::Internal, "a batch was taken for something else")),
        });
        if has_receipts {
            self.core.sweep_wanted.notify_one();
        }
        let Some(slot) = slot else { return done };
        admission.finish(&slot, bytes, done, |done| match done {
            Ok(done) => done.charge,
            Err(failed) => failed.charge,
        })
    }

    fn prepare_step(
        &self,
        compiled: &CompiledDefinition,
        partition_key: &PartitionKey,
        step: BatchStep,
    ) -> Result<PreparedStep> {
        Ok(match step {
            BatchStep::Put { mode, id, body, precondition } => {
                let (limits, id) = (self.limits(), id.as_deref());
                PreparedStep::Write(write::prepare_put(
                    compiled,
                    limits,
                    mode,
                    id,
                    &body,
                    partition_key,
                    precondition,
                )?)
            }
            BatchStep::Delete { id, precondition } => {
                let address = ItemAddress::new(compiled, partition_key, &id)?;
                PreparedStep::Write(Intent::Delete { address, precondition })
            }
            BatchStep::Patch { id, patch, precondition } => {
                let address = ItemAddress::new(compiled, partition_key, &id)?;
                let partition_key = partition_key.clone();
                PreparedStep::Write(Intent::Patch { address, partition_key, patch, precondition })
            }
            BatchStep::Read { id, known, precondition } => {
                let address = ItemAddress::new(compiled, partition_key, &id)?;
                PreparedStep::Read { address, known, precondition }
            }
            BatchStep::Fail(error) => PreparedStep::Fail(error),
        })
    }
}
