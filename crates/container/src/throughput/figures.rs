//! Figures of physical partitions: how large they are, what they serve, how far a split is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use armilla_governor::{Figures, History, RequestUnits};
use armilla_kv::SpaceId;
use armilla_value::PartitionKey;

use crate::container::Container;
use crate::item::keys;
use crate::map::Slot;
use crate::partition::Partition;
use crate::partition::counters::Counters;
use crate::split::cut::CutBy;

/// Figures of one physical partition.
#[derive(Debug, Clone)]
pub struct PartitionFigures {
    /// The partition.
    pub range_id: u32,
    /// Live items.
    pub items: u64,
    /// Their bytes, keys and values.
    pub bytes: u64,
    /// Bytes of their index entries.
    pub index_bytes: u64,
    /// The newest commit.
    pub lsn: u64,
    /// Request units a second that it may serve; where the budget is shared, others draw on it too.
    pub rate: RequestUnits,
    /// What it served.
    pub governor: Figures,
    /// The logical partitions that cost most in the last minute, by their estimated charge.
    pub hottest: Vec<(PartitionKey, RequestUnits)>,
    /// How far a split or merge of it is, in percent, while there is one.
    pub reshaping: Option<u8>,
}

impl Container {
    /// Returns the figures of the partitions that were opened.
    pub fn figures(&self) -> Vec<PartitionFigures> {
        let definition = &self.compiled().definition.partition_key;
        let logical = |bytes: &[u8]| {
            let (_, rest) = keys::split_item_key(bytes, definition.version, definition.paths.len())?;
            PartitionKey::from_key_bytes(rest).ok().map(|(key, _)| key)
        };
        let now_ms = self.clock().now_ms();
        let figures = |(slot, partition): (&Arc<Slot>, Arc<Partition>)| {
            let totals = partition.totals();
            let rate = slot.budget().rate();
            let governor = slot.meter.figures(now_ms, rate);
            let reshaping = partition.reshaping.lock();
            PartitionFigures {
                range_id: slot.range.id,
                items: totals.items,
                bytes: totals.bytes,
                index_bytes: totals.index_bytes,
                lsn: totals.lsn,
                rate,
                hottest: governor
                    .hottest
                    .iter()
                    .filter_map(|hot| Some((logical(&hot.logical)?, hot.charge)))
                    .collect(),
                governor,
                reshaping: reshaping.as_ref().map(|percent| percent.load(Ordering::Relaxed)),
            }
        };
        self.map_now().opened().map(figures).collect()
    }

    /// Returns what the partitions that were opened have served lately, by their ranges.
    pub fn histories(&self) -> Vec<(u32, History)> {
        let now_ms = self.clock().now_ms();
        let history = |(slot, _): (&Arc<Slot>, Arc<Partition>)| (slot.range.id, slot.meter.history(now_ms));
        self.map_now().opened().map(history).collect()
    }

    /// Returns what was asked of each partition that was opened in the last minute, in request units a second, with where it
    /// is stored.
    pub fn loads(&self) -> Vec<(SpaceId, u64)> {
        const MINUTE_HUNDREDTHS: u64 = 60 * 100;
        let now_ms = self.clock().now_ms();
        let load = |(slot, _): (&Arc<Slot>, Arc<Partition>)| {
            let minute = slot.meter.figures(now_ms, slot.budget().rate()).last_minute;
            (slot.range.space, minute.charge.hundredths() / MINUTE_HUNDREDTHS)
        };
        self.map_now().opened().map(load).collect()
    }

    /// Returns what a partition holds, if it was opened, without a look at the store.
    pub fn partition_usage(&self, range_id: u32) -> Option<Counters> {
        self.map_now().find(range_id)?.opened().map(|partition| partition.totals())
    }

    /// Waits until a partition that was opened holds more than it should and could be cut, and returns its range. Asked
    /// again, it names the same one only after it grew by an eighth.
    pub async fn oversized(&self) -> u32 {
        loop {
            let told = self.core.grown.notified();
            for (range_id, bytes, partition) in self.beyond_their_size() {
                partition.growth.acknowledge(bytes);
                drop(partition);
                let container = self.clone();
                let cut = tokio::task::spawn_blocking(move || container.split_point(range_id, CutBy::Bytes));
                match cut.await {
                    Ok(Ok(Some(_))) => return range_id,
                    // All of it has one hashed key, or it was replaced meanwhile.
                    Ok(Ok(None)) => tracing::warn!(
                        range_id,
                        bytes,
                        "a partition is larger than it should be and cannot be split: it has one key"
                    ),
                    Ok(Err(error)) => tracing::warn!(range_id, %error, "a partition's sizes cannot be read"),
                    Err(error) => tracing::error!(range_id, %error, "looking for a place to split failed"),
                }
            }
            told.await;
        }
    }

    fn beyond_their_size(&self) -> Vec<(u32, u64, Arc<Partition>)> {
        let map = self.map_now();
        let sized = map
            .opened()
            .map(|(slot, partition)| (slot.range.id, partition.totals().size().total_bytes(), partition));
        sized
            .filter(|(_, bytes, partition)| partition.growth.is_beyond(*bytes) && !partition.is_reshaping())
            .collect()
    }
}
