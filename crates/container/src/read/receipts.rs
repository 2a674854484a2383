//! Finding receipts.

use armilla_kv::{Family, Scan, Snapshot};
use armilla_value::PartitionKey;
use bytes::Bytes;

use crate::container::Container;
use crate::error::Result;
use crate::item::keys::{self, LogicalKey};
use crate::receipt::{StoredReceipt, check_key};
use crate::write;

/// Finds a receipt in a snapshot.
pub(crate) fn find_receipt(
    snapshot: &dyn Snapshot,
    logical: &LogicalKey,
    key: &[u8],
    now: u32,
) -> Result<Option<Bytes>> {
    check_key(key)?;
    let record = snapshot.get(Family::Meta, &keys::receipt(key, logical.as_bytes()))?;
    let stored = record.map(|bytes| StoredReceipt::decode(&bytes)).transpose()?;
    Ok(stored.filter(|stored| !stored.is_over(now)).map(|stored| stored.outcome))
}

impl Container {
    /// Returns what the receipt with a key says that was left in a logical partition.
    pub fn find_receipt(&self, partition_key: &PartitionKey, key: &[u8]) -> Result<Option<Bytes>> {
        self.settled(|| self.find_settled_receipt(partition_key, key))
    }

    fn find_settled_receipt(&self, partition_key: &PartitionKey, key: &[u8]) -> Result<Option<Bytes>> {
        let (hashed, logical) = write::locate(&self.compiled(), partition_key)?;
        let (_, partition) = self.route(&hashed)?;
        let snapshot = partition.space().snapshot()?;
        find_receipt(snapshot.as_ref(), &logical, key, partition.now_seconds())
    }

    /// Returns what the receipt with a key says, whichever logical partition it was left in; of several, one of them. Asks
    /// every physical partition.
    pub fn find_receipt_anywhere(&self, key: &[u8]) -> Result<Option<Bytes>> {
        check_key(key)?;
        self.settled(|| self.find_settled_receipt_anywhere(key))
    }

    fn find_settled_receipt_anywhere(&self, key: &[u8]) -> Result<Option<Bytes>> {
        for slot in &self.map_now().slots {
            let partition = self.partition(slot)?;
            let (now, snapshot) = (partition.now_seconds(), partition.space().snapshot()?);
            let mut scan = Scan::prefix(Family::Meta, &keys::receipt(key, b""));
            scan.entries_max = FOUND_AT_ONCE;
            loop {
                let page = snapshot.scan(&scan)?;
                for (_, value) in &page.entries {
                    let stored = StoredReceipt::decode(value)?;
                    if !stored.is_over(now) {
                        return Ok(Some(stored.outcome));
                    }
                }
                match page.entries.last() {
                    Some((last, _)) if page.more => scan = scan.after(last),
                    _ => break,
                }
            }
        }
        Ok(None)
    }
}

/// Receipts with one key that are read at once: there is one, if its owner does not use keys twice.
const FOUND_AT_ONCE: usize = 8;
