//! What a transaction or batch has done so far, and how much it may.

use std::collections::HashSet;

use bytes::Bytes;

use super::effects::Load;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{TRANSACTION_BYTES_MAX, TRANSACTION_WRITES_MAX};
use crate::throughput::{ReadCost, RequestUnits, Saving, Tally, Work, measure};

/// What a transaction has done so far.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(super) writes: u16,
    /// Keys of items that were read or written.
    pub(super) known: HashSet<Bytes>,
    pub(super) tally: Tally,
}

impl Scope {
    /// Returns what was done so far costs, reads and refusals included.
    pub(super) fn charge(&self) -> RequestUnits {
        self.tally.total()
    }

    pub(super) fn add(&mut self, work: &Work, cost: ReadCost) -> RequestUnits {
        let tally = measure(work, cost, Saving::None);
        self.tally += tally;
        tally.total()
    }
}

/// Refuses what would make a transaction larger than a batch of the store can take along with the group before it.
/// A write by itself is as large as it is.
pub(super) fn check_load(writes: u16, load: Load, entry_operations_max: usize) -> Result<()> {
    let too_large = |what: String| Err(Error::new(ErrorKind::ItemTooLarge, what));
    if usize::from(writes) > TRANSACTION_WRITES_MAX {
        return too_large(format!("the transaction has more than {TRANSACTION_WRITES_MAX} writes"));
    }
    if writes > 1 && load.entry_operations > entry_operations_max {
        return too_large(format!(
            "the transaction changes too many index entries: {} changes, the limit is {entry_operations_max}",
            load.entry_operations
        ));
    }
    if writes > 1 && load.bytes > TRANSACTION_BYTES_MAX {
        return too_large(format!(
            "the transaction writes {} bytes, the limit is {TRANSACTION_BYTES_MAX} bytes",
            load.bytes
        ));
    }
    Ok(())
}
