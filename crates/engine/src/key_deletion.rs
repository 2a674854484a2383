//! Deleting all items of a logical partition.
//!
//! Up to a thousand items, or as many as one transaction has room for, are gone at one moment. A larger logical partition
//! goes in several such steps, between which others can see what is left; a request that is cut off leaves the rest, and
//! can be sent again.

use std::sync::Arc;

use armilla_container::{Position, Precondition, RequestUnits};
use armilla_value::{PartitionKey, json};

use crate::access::{Action, Caller};
use crate::actions::ItemAction;
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::queries::QueryRequest;
use crate::transactions::Transaction;

/// Items that one step deletes at most.
const STEP_ITEMS: usize = 1_000;

/// What deleting all items of a logical partition came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyDeleted {
    /// How many items there were.
    pub items: u64,
    /// What it cost.
    pub charge: RequestUnits,
    /// Where it is stored.
    pub position: Position,
}

impl Engine {
    /// Deletes all items of a logical partition, which must be named by its whole key.
    pub async fn delete_partition_key(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        partition_key: &PartitionKey,
    ) -> Result<KeyDeleted> {
        caller.access.check_item(Action::Write, container.rid(), None, Some(partition_key))?;
        if !container.definition().partition_key.is_whole(partition_key) {
            return Err(Error::new(
                ErrorKind::PartitionKeyMismatch,
                "all items of a logical partition can be deleted, not those of the beginning of a key: give a value \
                 for each of the key's paths",
            ));
        }
        let (mut items, mut charge) = (0, RequestUnits::ZERO);
        loop {
            let step = self.transact(caller, container, partition_key, delete_step).await?;
            let (deleted, is_last) = step.value;
            items += deleted;
            charge += step.charge;
            if is_last {
                return Ok(KeyDeleted { items, charge, position: step.position });
            }
        }
    }
}

/// Deletes as many items as one transaction may. Returns how many, and whether that were all.
fn delete_step(transaction: &mut Transaction) -> Result<(u64, bool)> {
    let mut ids =
        QueryRequest { rows_max: Some(STEP_ITEMS), ..QueryRequest::new("SELECT VALUE c.id FROM c") };
    loop {
        let page = transaction.query(&ids)?;
        let deleted = delete_all(transaction, &page.rows)?;
        match page.continuation {
            None => return Ok((deleted.items, !deleted.is_full)),
            // A page may end before it has found anything, such as among items that have expired.
            Some(next) if deleted.items == 0 => ids.continuation = Some(next),
            Some(_) => return Ok((deleted.items, false)),
        }
    }
}

/// What became of a list of items.
struct Deleted {
    items: u64,
    /// Whether the transaction has no room for the rest of them.
    is_full: bool,
}

/// Deletes the items with these ids, which are JSON between commas.
fn delete_all(transaction: &mut Transaction, ids: &[u8]) -> Result<Deleted> {
    let list = json::parse(&[b"[", ids, b"]"].concat()).ok();
    let unreadable = || Error::new(ErrorKind::Internal, "the ids of a logical partition cannot be read");
    let list = list.as_ref().and_then(|list| list.as_array()).ok_or_else(unreadable)?;
    let mut items = 0;
    for id in list {
        if items > 0 && transaction.inner_ref().is_full() {
            return Ok(Deleted { items, is_full: true });
        }
        let id = id.as_str().ok_or_else(unreadable)?.to_owned();
        transaction.act(ItemAction::Delete { id, precondition: Precondition::None })?;
        items += 1;
    }
    Ok(Deleted { items, is_full: false })
}
