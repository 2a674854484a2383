//! Receipts of writes: how one who lost the answer learns whether a write was done, and what came of it.
//!
//! A batch or transaction leaves a receipt under a key that its owner makes up; both are stored, or neither. Asked for again
//! under that key, after a restart as well, a front end answers from the receipt instead of writing twice. Asking costs
//! nothing.
//!
//! Not here: leaving them (`batches`, `transactions`), how long they live (`container`).

use std::sync::Arc;

use armilla_value::PartitionKey;
use bytes::Bytes;

use crate::access::{Action, Caller};
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::Result;

impl Engine {
    /// Returns what the receipt with a key says that was left in a logical partition.
    pub fn find_receipt(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        partition_key: &PartitionKey,
        key: &[u8],
    ) -> Result<Option<Bytes>> {
        caller.access.check_item(Action::Read, container.rid(), None, Some(partition_key))?;
        container.container().find_receipt(partition_key, key).map_err(|error| container.translate(error))
    }

    /// Returns what the receipt with a key says, whichever logical partition it was left in; of several, one of them. Asks
    /// every physical partition.
    pub fn find_receipt_anywhere(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        key: &[u8],
    ) -> Result<Option<Bytes>> {
        caller.access.check_item(Action::Read, container.rid(), None, None)?;
        container.container().find_receipt_anywhere(key).map_err(|error| container.translate(error))
    }
}
