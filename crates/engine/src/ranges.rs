//! The partition map of a container, as clients see it.

use armilla_container::ETag;
use armilla_value::rid::{ChildKind, ChildRid};

use crate::access::{Action, Caller};
use crate::containers::ContainerHandle;
use crate::error::Result;
use crate::record::Version;
use crate::resource::{ResourceKind, etag};

/// The partition map of a container.
#[derive(Debug, Clone, PartialEq)]
pub struct RangeMap {
    /// Grows with every change of the map.
    pub version: u64,
    /// The physical partitions, in the order of their ranges.
    pub ranges: Vec<RangeInfo>,
}

/// What a physical partition is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeStatus {
    /// It serves.
    Online,
    /// It serves, and is being split or merged with another.
    Splitting,
}

/// One physical partition, as clients see it.
#[derive(Debug, Clone, PartialEq)]
pub struct RangeInfo {
    /// Names it in its container.
    pub id: u32,
    /// Its first hashed key, in hexadecimal.
    pub min: String,
    /// The first hashed key beyond it, in hexadecimal.
    pub max: String,
    /// The partitions it came from, oldest first.
    pub parents: Vec<u32>,
    /// The version of the map in which it first was.
    pub since: u64,
    /// What it is doing.
    pub status: RangeStatus,
    /// Its resource id.
    pub rid: String,
    /// Its link.
    pub self_link: String,
    /// Its version.
    pub etag: ETag,
    /// Seconds since 1970 UTC when it was made.
    pub ts: u32,
    /// Its newest commit.
    pub lsn: u64,
    /// Its share of the container's throughput.
    pub throughput_fraction: f64,
}

impl ContainerHandle {
    /// Returns the partition map.
    pub fn ranges(&self, caller: &Caller) -> Result<RangeMap> {
        caller.access.check_container(Action::Read, self.rid())?;
        let (map, positions) = loop {
            let map = self.container().map();
            let positions = self.container().known_positions().map_err(|error| self.translate(error))?;
            let agree = map.ranges.iter().map(|range| range.id).eq(positions.iter().map(|at| at.range_id));
            // The map may change in between.
            if agree {
                break (map, positions);
            }
        };
        let count = map.ranges.len() as f64;
        let ranges = map.ranges.into_iter().zip(positions).map(|(range, position)| {
            let rid = ChildRid::new(self.rid(), ChildKind::PartitionKeyRange, u64::from(range.id) + 1)
                .expect("range ids have 32 bits")
                .to_string();
            let version = Version { number: u64::from(range.id) + 1, ts: range.ts };
            RangeInfo {
                id: range.id,
                min: range.min.to_hex(),
                max: range.max.to_hex(),
                since: range.map_version,
                status: self.range_status(range.id),
                parents: range.parents,
                self_link: format!("{}pkranges/{rid}/", self.self_link()),
                rid,
                etag: etag(ResourceKind::Container, version),
                ts: range.ts,
                lsn: position.lsn,
                throughput_fraction: 1.0 / count,
            }
        });
        Ok(RangeMap { version: map.version, ranges: ranges.collect() })
    }

    /// Returns what a physical partition is doing.
    pub(crate) fn range_status(&self, range_id: u32) -> RangeStatus {
        match self.reshaping().is_busy(range_id) {
            true => RangeStatus::Splitting,
            false => RangeStatus::Online,
        }
    }
}
