//! Verifying receipts: each has its place in the order of commits, and says the same as that.

use armilla_kv::Family;
use bytes::Bytes;

use super::{Check, shown};
use crate::error::Result;
use crate::item::keys;
use crate::receipt::{StoredReceipt, decode_last_second};

impl Check<'_> {
    /// Looks at the place of a receipt, and at the receipt.
    pub(super) fn receipt(&mut self, place: &Bytes, value: &Bytes) -> Result<()> {
        let name = format!("the receipt with the place {}", shown(place));
        let (lsn, record, last_second) = match (keys::decode_receipt_place(place), decode_last_second(value))
        {
            (Ok((lsn, record)), Ok(last_second)) => (lsn, record, last_second),
            (Err(error), _) | (_, Err(error)) => {
                self.problem(format!("{name}: {error}"));
                return Ok(());
            }
        };
        let stored = self.snapshot.get(Family::Meta, &record)?.map(|bytes| StoredReceipt::decode(&bytes));
        match stored {
            None => self.problem(format!("{name} is not there")),
            Some(Err(error)) => self.problem(format!("{name}: {error}")),
            Some(Ok(stored)) if (stored.lsn, stored.last_second) != (lsn, last_second) => {
                self.problem(format!("{name} says that commit {} left it", stored.lsn));
            }
            Some(Ok(_)) => {}
        }
        if lsn > self.counters.lsn {
            let newest = self.counters.lsn;
            self.problem(format!("{name}: its commit {lsn} is newer than the counters' {newest}"));
        }
        let definition = &self.compiled.definition.partition_key;
        let logical = keys::logical_of_receipt(&record)?;
        let hashed = keys::hashed(&logical, definition.version, definition.paths.len());
        if hashed.is_none_or(|hashed| hashed < self.range.min || hashed >= self.range.max) {
            self.problem(format!("{name} lies outside the partition's range"));
        }
        Ok(())
    }
}
