//! Dropping receipts that are over, and the oldest where a physical partition has too many.
//!
//! They lie in the order of commits, which is that of time but for a while after a merge, or after a clock was set: then
//! some stay longer than they should, which no reader sees.

use std::sync::Arc;

use armilla_kv::{Family, Scan, Snapshot};
use bytes::Bytes;

use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, ErrorKind, Result};
use crate::item::keys;
use crate::limits::{RECEIPT_STEP_RECORDS, RECEIPTS_COUNTED_AT_ONCE};
use crate::partition::Partition;
use crate::receipt::decode_last_second;
use crate::write::task::{Done, Task, Unqueued};

/// Where there are too many, one in so many of those that there may be goes, too.
const SPARE_PART: u64 = 8;

/// What was found in one look.
pub(crate) struct Found {
    places: Vec<Bytes>,
    /// Whether there are any at all.
    any: bool,
    /// Whether there may be more to drop now.
    more: bool,
}

/// What a step came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Dropped {
    pub(crate) receipts: u64,
    /// Whether there may be more to drop now.
    pub(crate) more: bool,
    /// Whether there will be something to drop as time passes.
    pub(crate) periodic: bool,
}

/// Drops some receipts of a partition, if there are any to be dropped.
pub(super) async fn drop_some(
    compiled: &Arc<CompiledDefinition>,
    partition: &Arc<Partition>,
) -> Result<Dropped> {
    let looking = partition.clone();
    let look = tokio::task::spawn_blocking(move || look(&looking));
    let found = look.await.unwrap_or_else(|failure| {
        let message = format!("looking for receipts was not finished: {failure}");
        Err(Error::new(ErrorKind::Internal, message))
    })?;
    let Found { places, any, more } = found;
    if places.is_empty() || partition.is_reshaping() {
        return Ok(Dropped { receipts: 0, more: false, periodic: any });
    }
    match partition.submit(compiled.clone(), Task::DropReceipts(places), None).await {
        Ok(Done::ReceiptsDropped(receipts)) => {
            partition.receipts.note_dropped(receipts);
            Ok(Dropped { receipts, more: more && receipts > 0, periodic: any })
        }
        Ok(_) => Err(Error::new(ErrorKind::Internal, "dropping receipts was taken for something else")),
        // Others have taken its place, and have the same to do.
        Err(Unqueued::Retired(_)) => Ok(Dropped { periodic: any, ..Dropped::default() }),
        Err(Unqueued::Failed(error)) => Err(error),
    }
}

/// Looks for receipts to be dropped.
fn look(partition: &Partition) -> Result<Found> {
    let snapshot = partition.space().snapshot()?;
    let mut scan = Scan::prefix(Family::Meta, &[keys::RECEIPT_PLACE_TAG]);
    scan.entries_max = RECEIPT_STEP_RECORDS;
    let page = snapshot.scan(&scan)?;
    let any = !page.entries.is_empty();
    let too_many = if any { too_many(partition, snapshot.as_ref())? } else { 0 };
    let now = partition.now_seconds();
    let mut places = Vec::new();
    for (key, value) in &page.entries {
        if places.len() as u64 >= too_many && decode_last_second(value)? >= now {
            break;
        }
        places.push(key.clone());
    }
    let more = page.more && places.len() == page.entries.len();
    Ok(Found { places, any, more })
}

/// Returns how many have to go because there are too many. That are some more than are too many, so that it need not be
/// counted again soon.
fn too_many(partition: &Partition, snapshot: &dyn Snapshot) -> Result<u64> {
    let (known, max) = (&partition.receipts, partition.limits.receipts_max);
    let before = known.most();
    if before <= max {
        return Ok(0);
    }
    let mut count = 0;
    let mut scan = Scan::prefix(Family::Meta, &[keys::RECEIPT_PLACE_TAG]);
    scan.entries_max = RECEIPTS_COUNTED_AT_ONCE;
    loop {
        let page = snapshot.scan(&scan)?;
        count += page.entries.len() as u64;
        match page.entries.last() {
            Some((last, _)) if page.more => scan = scan.after(last),
            _ => break,
        }
    }
    known.note_counted(before, count);
    Ok(if count > max { count - max + max / SPARE_PART } else { 0 })
}
