//! The partition map: how the ring of hashed keys is cut into physical partitions.
//!
//! Not here: the partitions themselves (`map`), where to cut a range in two (`cut`).

use armilla_kv::SpaceId;
use armilla_value::{HashVersion, HashedKey, initial_bounds};

/// The version of the map that a container begins with.
pub const FIRST_MAP_VERSION: u64 = 1;

/// One physical partition's arc of the ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// Names the partition in its container; never used twice.
    pub id: u32,
    /// The arc's first hashed key.
    pub min: HashedKey,
    /// The first hashed key beyond the arc.
    pub max: HashedKey,
    /// All partitions it came from, oldest first.
    pub parents: Vec<u32>,
    /// Where it is stored.
    pub space: SpaceId,
    /// The commit number after which its own begin: above all that clients may have seen of whatever had its id
    /// before, so that their session tokens stay good.
    pub lsn_base: u64,
    /// The version of the map in which it first was.
    pub map_version: u64,
    /// Seconds since 1970 UTC when that was.
    pub ts: u32,
}

/// How a container's ring is cut, as of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionMap {
    /// Grows with every change.
    pub version: u64,
    /// Sorted, without gap or overlap, from the start of the ring to its end.
    pub ranges: Vec<Range>,
}

/// Cuts the reachable hash space into equal arcs.
pub fn initial_ranges(
    count: u32,
    version: HashVersion,
    lsn_base: u64,
    ts: u32,
    mut next_space: impl FnMut() -> SpaceId,
) -> Vec<Range> {
    let mut bounds = vec![HashedKey::MIN];
    bounds.extend(initial_bounds(count, version));
    bounds.push(HashedKey::MAX);
    bounds
        .windows(2)
        .enumerate()
        .map(|(id, pair)| Range {
            id: id as u32,
            min: pair[0].clone(),
            max: pair[1].clone(),
            parents: Vec::new(),
            space: next_space(),
            lsn_base,
            map_version: FIRST_MAP_VERSION,
            ts,
        })
        .collect()
}
