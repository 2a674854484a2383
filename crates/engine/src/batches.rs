//! Batches of actions in one logical partition, all or nothing.
//!
//! The container's committer does them one after the other in one commit, so no transaction with a snapshot is needed,
//! and nobody comes between.
//!
//! Not here: many actions at once, each on its own (`bulk`).

use std::sync::Arc;

use armilla_container::{
    BatchDone, BatchFailed, BatchStep, ETag, Patch, Position, Precondition, ReadItem, RequestUnits, StepDone,
    WriteMode, Written,
};
use armilla_value::PartitionKey;
use bytes::Bytes;

use crate::access::{Action, Caller};
use crate::condition;
use crate::containers::ContainerHandle;
use crate::error::{Error, ErrorKind, Result};
use crate::items::required;
use crate::limits::BATCH_ACTIONS_MAX;
use crate::open::Engine;

/// One action of a batch.
#[derive(Debug, Clone)]
pub enum BatchAction {
    /// Writes a whole item.
    Put {
        /// Which of the three writes of a whole item it is.
        mode: WriteMode,
        /// The item that a replace names.
        id: Option<String>,
        /// The item, as JSON.
        body: Bytes,
        /// What must hold.
        precondition: Precondition,
    },
    /// Deletes an item.
    Delete {
        /// Which.
        id: String,
        /// What must hold.
        precondition: Precondition,
    },
    /// Changes parts of an item.
    Patch {
        /// Which.
        id: String,
        /// How.
        patch: Patch,
        /// What must hold for the item: `FROM c WHERE ...`, as in a query.
        condition: Option<String>,
        /// What must hold for its version.
        precondition: Precondition,
    },
    /// Reads an item.
    Read {
        /// Which.
        id: String,
        /// The version that the caller holds already.
        known: Option<ETag>,
        /// What must hold.
        precondition: Precondition,
    },
    /// Was found wrong before it got here, and is refused with this message when its turn comes.
    Invalid(String),
}

/// An action that went through.
pub enum ActionDone {
    /// An item was written.
    Written(Written),
    /// An item was read.
    Read(ReadItem),
    /// An item is still the version that the caller holds.
    NotModified {
        /// That version.
        etag: ETag,
        /// What it cost to find out.
        charge: RequestUnits,
    },
}

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

impl BatchAction {
    /// Refuses what the caller may not do.
    fn check(
        &self,
        caller: &Caller,
        container: &ContainerHandle,
        partition_key: &PartitionKey,
    ) -> Result<()> {
        let (action, id) = match self {
            // A permission for one item cannot be checked against an id that is not read yet; it does not create.
            BatchAction::Put { id, .. } => (Action::Write, id.as_deref()),
            BatchAction::Delete { id, .. } | BatchAction::Patch { id, .. } => (Action::Write, Some(&**id)),
            BatchAction::Read { id, .. } => (Action::Read, Some(&**id)),
            BatchAction::Invalid(_) => return Ok(()),
        };
        caller.access.check_item(action, container.rid(), id, Some(partition_key))
    }

    /// Returns the step that the container does, or says what is wrong with the action.
    fn into_step(self, container: &ContainerHandle) -> Result<BatchStep> {
        Ok(match self {
            BatchAction::Put { mode, id, body, precondition } => {
                BatchStep::Put { mode, id, body, precondition }
            }
            BatchAction::Delete { id, precondition } => BatchStep::Delete { id, precondition },
            BatchAction::Patch { id, patch, condition, precondition } => {
                let patch = match condition {
                    Some(text) => patch.only_if(condition::compile(&text, container)?),
                    None => patch,
                };
                BatchStep::Patch { id, patch, precondition }
            }
            BatchAction::Read { id, known, precondition } => BatchStep::Read { id, known, precondition },
            BatchAction::Invalid(message) => return Err(Error::invalid(message)),
        })
    }
}

impl From<StepDone> for ActionDone {
    fn from(done: StepDone) -> ActionDone {
        match done {
            StepDone::Written(written) => ActionDone::Written(written),
            StepDone::Read(read) => ActionDone::Read(read),
            StepDone::NotModified { etag, charge } => ActionDone::NotModified { etag, charge },
        }
    }
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
        actions: Vec<BatchAction>,
    ) -> Result<BatchAnswer> {
        let cost = caller.read_cost(self.consistency())?;
        let partition_key = required(partition_key)?;
        let count = actions.len();
        check_count(count)?;
        for action in &actions {
            action.check(caller, container, partition_key)?;
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
        let done = container.container().batch(partition_key, steps, cost, caller.priority).await;
        match done.map_err(|error| container.translate(error))? {
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
