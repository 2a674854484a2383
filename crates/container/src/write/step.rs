//! What a batch is made of.

use crate::error::Error;
use crate::item::ETag;
use crate::item::patch::Patch;
use crate::write::body::ItemBody;
use crate::write::{Precondition, WriteMode};

/// One step of a batch.
#[derive(Clone)]
pub enum BatchStep {
    /// Writes a whole item.
    Put {
        /// How.
        mode: WriteMode,
        /// The item that a replace names.
        id: Option<String>,
        /// The item.
        body: ItemBody,
        /// What must hold of the stored item.
        precondition: Precondition,
    },
    /// Deletes an item.
    Delete {
        /// Which.
        id: String,
        /// What must hold of it.
        precondition: Precondition,
    },
    /// Changes parts of an item.
    Patch {
        /// Which.
        id: String,
        /// How.
        patch: Patch,
        /// What must hold of it.
        precondition: Precondition,
    },
    /// Reads an item.
    Read {
        /// Which.
        id: String,
        /// The version that the caller holds already, if it asks for another only.
        known: Option<ETag>,
        /// What must hold of it.
        precondition: Precondition,
    },
    /// Fails with this error when its turn comes: what the caller found wrong with the step before.
    Fail(Error),
}
