//! Batches of actions in one logical partition, all or nothing.
//!
//! The container's committer does them one after the other in one commit, so no transaction with a snapshot is needed,
//! and no other writer comes between.
//!
//! Not here: many actions at once, each on its own (`bulk`).

use std::sync::Arc;

use armilla_container::{BatchDone, BatchFailed, BatchStep, Position, Receipt, RequestUnits};
use armilla_ledger::Act;
use armilla_value::PartitionKey;

use crate::access::Caller;
use crate::actions::{ActionDone, ItemAction};
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::items::required;
use crate::limits::BATCH_ACTIONS_MAX;

/// What became of a batch.
pub struct BatchAnswer {
    /// One for each action, in their order. Where a batch as a whole failed, one has the failure and all others are
    /// [`ErrorKind::FailedDependency`].
    pub results: Vec<Result<ActionDone>>,
    /// What all of it cost.
    pub charge: RequestUnits,
    /// How far the partition is, if it was one.
    pub position: Option<Position>,
}

/// Refuses a batch without actions, and one with too many.
pub(crate) fn check_count(count: usize) -> Result<()> {
    match count {
        0 => Err(Error::invalid("Batch request has no operations.")),
        1..=BATCH_ACTIONS_MAX => Ok(()),
        _ => Err(Error::invalid("Batch request has more operations than what is supported.")),
    }
}

pub(crate) fn failed_dependency() -> Error {
    Error::new(ErrorKind::FailedDependency, "another action of the batch failed, so this one was not done")
}

impl Engine {
    /// Does some actions in one logical partition, in order, all or none of them.
    ///
    /// A batch with an action that the caller may not do is refused as a whole.
    pub async fn execute_batch(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        partition_key: Option<&PartitionKey>,
        actions: Vec<ItemAction>,
    ) -> Result<BatchAnswer> {
        self.execute_batch_with_receipts(caller, container, partition_key, actions, Vec::new()).await
    }

    /// The same, and leaves receipts with what is done (`receipts`). If there is one with the same key in the logical
    /// partition, nothing is done, and the batch as a whole fails with [`ErrorKind::Conflict`].
    pub async fn execute_batch_with_receipts(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        partition_key: Option<&PartitionKey>,
        actions: Vec<ItemAction>,
        receipts: Vec<Receipt>,
    ) -> Result<BatchAnswer> {
        let cost = caller.read_cost(self.consistency())?;
        let partition_key = required(partition_key)?;
        let count = actions.len();
        check_count(count)?;
        for action in &actions {
            action.check(&caller.access, container, partition_key)?;
        }
        let mut found_wrong: Vec<Option<Error>> = Vec::with_capacity(count);
        let mut steps = Vec::with_capacity(count);
        for action in actions {
            let step = action.into_step(container);
            let wrong = step.as_ref().err().cloned();
            steps.push(step.unwrap_or_else(|error| {
                BatchStep::Fail(armilla_container::Error::new(
                    armilla_container::ErrorKind::Invalid,
                    error.message,
                ))
            }));
            found_wrong.push(wrong);
        }
        let inner = container.container();
        let noting = self.noting();
        let done = inner.batch_with_receipts(partition_key, steps, receipts, cost, caller.claim).await;
        let done = done.map_err(|error| container.translate(error));
        if let Some(noting) = noting {
            noting.write(container, Act::Batch, Some(partition_key), &done, |done| match done {
                Ok(BatchDone { charge, .. }) | Err(BatchFailed { charge, .. }) => (*charge, 0),
            });
        }
        match done? {
            Ok(BatchDone { steps, charge, position }) => {
                let results = steps.into_iter().map(|step| Ok(step.into())).collect();
                Ok(BatchAnswer { results, charge, position: Some(position) })
            }
            Err(BatchFailed { step, error, charge, position }) => {
                let mut results: Vec<Result<ActionDone>> =
                    (0..count).map(|_| Err(failed_dependency())).collect();
                let error = container.translate(error);
                // The container knows of what was wrong before only that something was.
                let kind = found_wrong[step].as_ref().map_or(error.kind, |wrong| wrong.kind);
                results[step] = Err(Error { kind, ..error });
                Ok(BatchAnswer { results, charge, position: Some(position) })
            }
        }
    }
}
