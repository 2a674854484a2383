//! How much logical partitions hold, and the physical one, as a group leaves them; and how much they may hold.
//!
//! Every change of an item or of its index entries goes through [`Group::resized`] and [`Group::resize`], which keep the
//! size of the logical partition and the counters of the physical one in step.

use armilla_kv::Family;
use bytes::Bytes;

use super::Group;
use super::effects::LastSize;
use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, ErrorKind, Result};
use crate::partition::counters::{LogicalSize, SizeChange};

/// A change of sizes that was worked out and can be.
#[must_use]
pub(super) struct Resized {
    key: Bytes,
    change: SizeChange,
    /// The logical partition before and after the change.
    before: LogicalSize,
    after: LogicalSize,
    /// The physical partition after the change.
    total: LogicalSize,
}

impl Group<'_> {
    /// Works out the sizes after a change in the logical partition whose size has this key.
    pub(super) fn resized(&mut self, key: Bytes, change: SizeChange) -> Result<Resized> {
        let before = self.size(&key)?;
        let wrong = || {
            Error::corrupt("the size of a logical partition, or the counters, are less than what is there")
        };
        let after = before.changed(&change).ok_or_else(wrong)?;
        let total = self.effects.counters.size().changed(&change).ok_or_else(wrong)?;
        Ok(Resized { key, change, before, after, total })
    }

    /// Refuses a change that makes a logical partition larger than it may be. What does not make it grow is never
    /// refused, so that a client can make room. A container without a partition key counts as a whole.
    pub(super) fn check_room(&self, compiled: &CompiledDefinition, resized: &Resized) -> Result<()> {
        let limits = &self.partition.limits;
        let is_fixed = compiled.definition.is_fixed();
        let (before, after, max) = if is_fixed {
            (self.effects.counters.size(), resized.total, limits.fixed_container_bytes)
        } else {
            (resized.before, resized.after, limits.logical_partition_bytes_max)
        };
        if after.total_bytes() <= max || !resized.change.is_growth() {
            return Ok(());
        }
        let what = if is_fixed { "the container without a partition key" } else { "it" };
        Err(Error::new(
            ErrorKind::LogicalPartitionFull,
            format!(
                "partition key reached maximum size of {}: {what} holds {}",
                readable_size(max),
                before.described()
            ),
        ))
    }

    /// Does what was worked out; nothing else was resized meanwhile. `lsn` is the commit that changes an item of the
    /// logical partition, if one does.
    pub(super) fn resize(&mut self, resized: Resized, lsn: Option<u64>) {
        self.effects.counters.set_size(resized.total);
        self.effects.set_size(resized.key, resized.after, lsn);
    }

    fn size(&mut self, key: &Bytes) -> Result<LogicalSize> {
        if let Some((known, _)) = self.effects.sizes.get(key) {
            return Ok(known.size);
        }
        let last = match self.applied.size(key) {
            Some(known) => known,
            None => LastSize { size: self.stored_size(key)?, lsn: None },
        };
        self.effects.sizes.insert(key.clone(), (last, false));
        Ok(last.size)
    }

    fn stored_size(&self, key: &Bytes) -> Result<LogicalSize> {
        match self.base.get(Family::Meta, key)? {
            Some(bytes) => LogicalSize::decode(&bytes),
            None => Ok(LogicalSize::default()),
        }
    }
}

/// Returns a size in the largest unit of which it is a whole number.
fn readable_size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} bytes"),
    }
}
