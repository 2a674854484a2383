//! Clearing away what is not wanted any more, in the background and in small steps: expired items, and what a
//! change log holds too long, and receipts that are over.
//!
//! Nothing here runs by itself: the owner of the container waits for [`Container::sweep_wanted`] and calls
//! [`Container::sweep_step`]. Between steps everything is whole.
//!
//! In this folder: taking expired items away (`purge`), where it is kept which they are (`due`), taking away all items of a
//! logical partition (`key_deletion`), dropping receipts (`receipts`).

use std::ops::Bound;
use std::sync::Arc;

use armilla_kv::Family;

use crate::compiled_definition::CompiledDefinition;
use crate::container::Container;
use crate::error::{ErrorKind, Result};
use crate::feed::trim::TrimState;
use crate::feed::{Ages, read_log};
use crate::item::keys;
use crate::partition::Partition;
use crate::write::task::Trimmed;

pub(crate) mod due;
pub(crate) mod key_deletion;
pub(crate) mod purge;
pub(crate) mod receipts;

/// What a step came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Items that were purged because they had expired.
    pub purged: u64,
    /// Entries that were dropped from change logs.
    pub trimmed: u64,
    /// Receipts that were dropped because they were over, or too many.
    pub receipts: u64,
    /// Whether there is more to do now.
    pub more: bool,
    /// Whether there will be something to do as time passes.
    pub periodic: bool,
}

impl Container {
    /// Waits until there may be something to sweep: another definition, a partition that was opened, the end of a split
    /// or merge. One waits for it at a time.
    pub async fn sweep_wanted(&self) {
        self.core.sweep_wanted.notified().await;
    }

    /// Clears away some of what is not wanted any more in each partition. Only opens partitions if time alone makes
    /// something unwanted.
    pub async fn sweep_step(&self) -> Result<Swept> {
        let compiled = self.compiled();
        let periodic = compiled.keeps_all_versions || compiled.definition.default_ttl.is_some();
        let mut swept = Swept { periodic, ..Swept::default() };
        for slot in &self.map_now().slots {
            let partition = match slot.opened() {
                // What another process has by now is its own to sweep.
                Some(partition) if !partition.is_held() => continue,
                Some(partition) => partition,
                None if periodic => match self.own_partition(slot)? {
                    Some(partition) => partition,
                    None => continue,
                },
                None => continue,
            };
            let Trimmed { entries, more } = trim_partition(&compiled, &partition).await?;
            swept.trimmed += entries;
            swept.more |= more;
            let dropped = receipts::drop_some(&compiled, &partition).await?;
            swept.receipts += dropped.receipts;
            swept.more |= dropped.more;
            swept.periodic |= dropped.periodic;
        }
        let (purged, more) = self.purge_step().await?;
        swept.purged = purged;
        swept.more |= more;
        Ok(swept)
    }
}

async fn trim_partition(compiled: &Arc<CompiledDefinition>, partition: &Arc<Partition>) -> Result<Trimmed> {
    if partition.is_reshaping() || !has_something_to_trim(compiled, partition)? {
        return Ok(Trimmed::default());
    }
    match partition.trim(compiled.clone()).await {
        // Others have taken its place, and have the same to do.
        Err(error) if error.kind == ErrorKind::Conflict => Ok(Trimmed::default()),
        done => done,
    }
}

/// Returns whether a step would do something: it is asked every second, and a step takes its place among the writes.
fn has_something_to_trim(compiled: &CompiledDefinition, partition: &Partition) -> Result<bool> {
    let space = partition.space();
    let Some(state) = TrimState::load(|key| space.get(Family::Meta, key))? else { return Ok(false) };
    let Some(oldest) = compiled.oldest_kept(partition.now_seconds()) else { return Ok(true) };
    if state.is_never() {
        return Ok(false);
    }
    let (lsn, operation) = state.trimmed;
    let lower = Bound::Excluded(keys::feed_image(lsn, operation));
    let snapshot = space.snapshot()?;
    let page = read_log(snapshot.as_ref(), lower, Bound::Unbounded, 1, 1)?;
    let Some(entry) = page.entries.first() else { return Ok(false) };
    let mut ages = Ages::new(snapshot.as_ref(), partition.now_seconds());
    Ok(ages.written_by(entry.position.0, entry.change.ts)? < oldest)
}
