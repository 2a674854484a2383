//! What can be done with one item, as a value: so that it can be done alone, in a batch, or in a transaction.

use armilla_container::{
    BatchStep, ETag, ItemBody, Patch, Position, Precondition, ReadItem, RequestUnits, StepDone, WriteMode,
    Written,
};
use armilla_value::PartitionKey;

use crate::access::{Access, Action};
use crate::condition;
use crate::containers::ContainerHandle;
use crate::error::{Error, Result};

/// Something to be done with one item: alone, in a batch, or in a transaction.
#[derive(Debug, Clone)]
pub enum ItemAction {
    /// Writes a whole item.
    Put {
        /// Which of the three writes of a whole item it is.
        mode: WriteMode,
        /// The item that a replace names.
        id: Option<String>,
        /// The item.
        body: ItemBody,
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

impl ItemAction {
    /// Refuses what the caller may not do.
    pub(crate) fn check(
        &self,
        access: &Access,
        container: &ContainerHandle,
        partition_key: &PartitionKey,
    ) -> Result<()> {
        let (action, id) = match self {
            // A permission for one item cannot be checked against an id that is not read yet; it does not create.
            ItemAction::Put { id, .. } => (Action::Write, id.as_deref()),
            ItemAction::Delete { id, .. } | ItemAction::Patch { id, .. } => (Action::Write, Some(&**id)),
            ItemAction::Read { id, .. } => (Action::Read, Some(&**id)),
            ItemAction::Invalid(_) => return Ok(()),
        };
        access.check_item(action, container.rid(), id, Some(partition_key))
    }

    /// Returns the step that the container does, or says what is wrong with the action.
    pub(crate) fn into_step(self, container: &ContainerHandle) -> Result<BatchStep> {
        Ok(match self {
            ItemAction::Put { mode, id, body, precondition } => {
                BatchStep::Put { mode, id, body, precondition }
            }
            ItemAction::Delete { id, precondition } => BatchStep::Delete { id, precondition },
            ItemAction::Patch { id, patch, condition, precondition } => {
                let patch = condition::conditional(patch, condition.as_deref(), container)?;
                BatchStep::Patch { id, patch, precondition }
            }
            ItemAction::Read { id, known, precondition } => BatchStep::Read { id, known, precondition },
            ItemAction::Invalid(message) => return Err(Error::invalid(message)),
        })
    }
}

impl ActionDone {
    /// Returns the same with what it cost and where it was done.
    pub(crate) fn at(self, position: Position, charge: RequestUnits) -> ActionDone {
        match self {
            ActionDone::Written(written) => ActionDone::Written(Written { position, charge, ..written }),
            ActionDone::Read(read) => ActionDone::Read(ReadItem { position, charge, ..read }),
            ActionDone::NotModified { etag, .. } => ActionDone::NotModified { etag, charge },
        }
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
