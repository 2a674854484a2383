//! Building unique keys over the items that are there, and removing what dropped ones leave behind, in small steps between
//! the writes of clients.
//!
//! A key is built after the definition says so: from then on every write keeps to it, so all that is left is to give the
//! items of before their reservations, partition by partition. Where two of them have the same values the key cannot be.
//! A partition that takes the place of others is built anew, since its items came in any order.
//!
//! Not here: storing what is to be built and that it is (the caller), what a step does (`apply`).

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use armilla_kv::{Family, Scan};
use armilla_value::Value;
use bytes::Bytes;

use crate::container::Container;
use crate::definition::UniqueKey;
use crate::error::{Error, ErrorKind, Result};
use crate::item::{Item, keys};
use crate::limits::DROP_STEP_RESERVATIONS;
use crate::partition::Partition;
use crate::unique;
use crate::write::task::{ClaimTask, Claimed, Done, Task, Unqueued};

/// How long is waited for a transaction that has locked a logical partition.
const HELD_PERIOD: Duration = Duration::from_millis(20);

/// Values that two items have, of a unique key that was to be.
#[derive(Debug, Clone)]
pub struct Duplicate {
    /// The key.
    pub key: UniqueKey,
    /// What stands at its paths in one of the items.
    pub values: Vec<Option<Value>>,
}

/// What became of one partition.
enum Outcome {
    Whole,
    Retired,
    Duplicate(Box<Duplicate>),
}

impl Container {
    /// Returns whether every physical partition is among those that are done.
    pub fn all_done(&self, done: &BTreeSet<u32>) -> bool {
        self.map_now().slots.iter().all(|slot| done.contains(&slot.range.id))
    }

    /// Gives items their reservations of the keys that are being built, in all partitions but those that are done, which
    /// it adds to. Returns the values that two items have, if there are any: then nothing more is done.
    pub async fn build_unique_keys(&self, done: &mut BTreeSet<u32>) -> Result<Option<Duplicate>> {
        loop {
            let map = self.map_now();
            let Some(slot) = map.slots.iter().find(|slot| !done.contains(&slot.range.id)) else {
                return Ok(None);
            };
            let partition = self.partition(slot)?;
            match self.build_partition(&partition).await? {
                Outcome::Whole => {
                    done.insert(slot.range.id);
                }
                // Others have taken its place, or are about to.
                Outcome::Retired => tokio::task::yield_now().await,
                Outcome::Duplicate(duplicate) => return Ok(Some(*duplicate)),
            }
        }
    }

    async fn build_partition(&self, partition: &Arc<Partition>) -> Result<Outcome> {
        if !self.is_past_barrier(partition).await? {
            return Ok(Outcome::Retired);
        }
        let compiled = self.compiled();
        let building = compiled.definition.unique_keys.iter().filter(|key| key.is_building);
        let slots: Vec<u8> = building.map(|key| key.slot).collect();
        let mut after = None;
        loop {
            let task = Task::Claim(ClaimTask { slots: slots.clone(), after });
            let claimed = match partition.submit(self.compiled(), task, None).await {
                Ok(Done::Claimed(claimed)) => *claimed,
                Ok(_) => return Err(mistaken()),
                Err(Unqueued::Retired(_)) => return Ok(Outcome::Retired),
                Err(Unqueued::Failed(error)) => return Err(error),
            };
            match claimed {
                Claimed::Next(last) => after = Some(last),
                Claimed::Held(last) => {
                    after = last;
                    self.core.env.clock.sleep(HELD_PERIOD).await;
                }
                Claimed::All => return Ok(Outcome::Whole),
                Claimed::Taken(slot, item) => {
                    let key = compiled.unique.get(slot).cloned().ok_or_else(mistaken)?;
                    return Ok(Outcome::Duplicate(Box::new(duplicate(key, &item))));
                }
            }
            tokio::task::yield_now().await;
        }
    }

    /// Removes the reservations of dropped keys, in all partitions but those that are done, which it adds to.
    pub async fn drop_reservations(&self, slots: &[u8], done: &mut BTreeSet<u32>) -> Result<()> {
        loop {
            let map = self.map_now();
            let Some(slot) = map.slots.iter().find(|slot| !done.contains(&slot.range.id)) else {
                return Ok(());
            };
            let partition = self.partition(slot)?;
            if self.drop_in_partition(&partition, slots).await? {
                done.insert(slot.range.id);
            }
        }
    }

    /// Returns whether all of them are gone; not where others took the place of the partition.
    async fn drop_in_partition(&self, partition: &Arc<Partition>, slots: &[u8]) -> Result<bool> {
        if !self.is_past_barrier(partition).await? {
            return Ok(false);
        }
        let mut after = None;
        loop {
            let (container, looking, dropped) = (self.clone(), partition.clone(), slots.to_vec());
            let look = tokio::task::spawn_blocking(move || container.look(&looking, &dropped, after));
            let found = look.await.unwrap_or_else(|failure| {
                let message = format!("looking for reservations was not finished: {failure}");
                Err(Error::new(ErrorKind::Internal, message))
            });
            let (found, next) = found?;
            if !found.is_empty() {
                match partition.submit(self.compiled(), Task::DropReservations(found), None).await {
                    Ok(_) => {}
                    Err(Unqueued::Retired(_)) => return Ok(false),
                    Err(Unqueued::Failed(error)) => return Err(error),
                }
            }
            match next {
                Some(next) => after = Some(next),
                None => return Ok(true),
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits until everything has landed that was applied before the definition changed. Returns whether the partition
    /// still serves.
    async fn is_past_barrier(&self, partition: &Arc<Partition>) -> Result<bool> {
        match partition.submit(self.compiled(), Task::Barrier, None).await {
            Ok(_) => Ok(true),
            Err(Unqueued::Retired(_)) => Ok(false),
            Err(Unqueued::Failed(error)) => Err(error),
        }
    }

    /// Returns the reservations of some slots among the next ones, and behind which to go on, if there are more.
    fn look(
        &self,
        partition: &Partition,
        slots: &[u8],
        after: Option<Bytes>,
    ) -> Result<(Vec<Bytes>, Option<Bytes>)> {
        let mut scan = Scan::prefix(Family::Meta, &[keys::UNIQUE_TAG]);
        if let Some(after) = after {
            scan.lower = Bound::Excluded(after);
        }
        scan.entries_max = DROP_STEP_RESERVATIONS;
        let page = partition.space().snapshot()?.scan(&scan)?;
        let next = page.entries.last().filter(|_| page.more).map(|(key, _)| key.clone());
        let definition = self.definition();
        let is_dropped = |key: &Bytes| {
            unique::slot_of(key, &definition.partition_key).is_some_and(|slot| slots.contains(&slot))
        };
        let found = page.entries.into_iter().map(|(key, _)| key).filter(is_dropped).collect();
        Ok((found, next))
    }
}

fn duplicate(key: UniqueKey, item: &Item) -> Duplicate {
    let root = item.stored().root();
    let values = key.paths.iter().map(|path| Some(root.get_path(path.names())?.to_value())).collect();
    Duplicate { key, values }
}

fn mistaken() -> Error {
    Error::new(ErrorKind::Internal, "a step of building a unique key was taken for something else")
}
