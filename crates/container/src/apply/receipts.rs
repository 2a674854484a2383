//! Leaving receipts with a commit, dropping them, and taking them over from another partition.
//!
//! A receipt is two records: what it says, under its key; and its place in the order of commits, by which the oldest are
//! found, and what a split has not copied yet. Both come and go together.

use armilla_kv::Family;
use bytes::Bytes;

use super::Group;
use super::transaction::conflict;
use crate::error::Result;
use crate::item::keys::{self, LogicalKey};
use crate::receipt::{Receipt, StoredReceipt, encode_last_second};

impl Group<'_> {
    /// Refuses what was done before: a receipt of it is there.
    pub(super) fn check_receipts(&self, logical: &LogicalKey, receipts: &[Receipt]) -> Result<()> {
        for receipt in receipts {
            let record = keys::receipt(receipt.key(), logical.as_bytes());
            if self.stored_receipt(&record)?.is_some_and(|stored| !stored.is_over(self.clock.second())) {
                return Err(conflict());
            }
        }
        Ok(())
    }

    /// Leaves receipts of the transaction or batch that is being applied, all of whose writes are.
    pub(super) fn leave_receipts(&mut self, logical: &LogicalKey, receipts: Vec<Receipt>) -> Result<()> {
        if receipts.is_empty() {
            return Ok(());
        }
        // A split driver asks for what came behind a commit, so this needs one, also without writes.
        if self.scope.as_ref().is_none_or(|scope| scope.writes == 0) {
            self.effects.counters.lsn += 1;
            self.effects.written = true;
        }
        let lsn = self.effects.counters.lsn;
        for receipt in receipts {
            let record = keys::receipt(receipt.key(), logical.as_bytes());
            let stored = StoredReceipt::new(lsn, self.clock.second(), receipt.outcome().clone());
            self.effects.value_bytes += receipt.bytes();
            self.partition.receipts.note_one();
            self.set_receipt(record, &stored)?;
        }
        Ok(())
    }

    /// Takes over a receipt from another partition.
    pub(super) fn copy_receipt_in(&mut self, record: Bytes, stored: &StoredReceipt) -> Result<()> {
        self.effects.value_bytes += record.len() + stored.outcome.len();
        self.set_receipt(record, stored)
    }

    /// Drops receipts by their places in the order of commits.
    pub(super) fn drop_receipts(&mut self, places: &[Bytes]) -> Result<u64> {
        // A split driver that copies the partition has them, too; the children have the same to do.
        if self.logs_removals {
            return Ok(0);
        }
        let mut dropped = Vec::with_capacity(places.len());
        for place in places {
            let (lsn, record) = keys::decode_receipt_place(place)?;
            let is_its_own = self.stored_receipt(&record)?.is_some_and(|stored| stored.lsn == lsn);
            dropped.push((place.clone(), is_its_own.then_some(record)));
        }

        // From here on nothing fails.
        self.effects.written |= !dropped.is_empty();
        let count = dropped.len() as u64;
        for (place, record) in dropped {
            self.record(Family::Meta, place, None);
            if let Some(record) = record {
                self.record(Family::Meta, record, None);
            }
        }
        Ok(count)
    }

    fn set_receipt(&mut self, record: Bytes, stored: &StoredReceipt) -> Result<()> {
        if let Some(old) = self.stored_receipt(&record)? {
            self.record(Family::Meta, keys::receipt_place(old.lsn, &record), None);
        }
        let place = keys::receipt_place(stored.lsn, &record);
        self.record(Family::Meta, place, Some(encode_last_second(stored.last_second)));
        self.record(Family::Meta, record, Some(stored.encode()));
        Ok(())
    }

    fn stored_receipt(&self, record: &Bytes) -> Result<Option<StoredReceipt>> {
        self.look_up(Family::Meta, record)?.map(|bytes| StoredReceipt::decode(&bytes)).transpose()
    }
}
