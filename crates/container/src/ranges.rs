//! The partition map: how the ring of hashed keys is cut into physical partitions.

use armilla_kv::SpaceId;
use armilla_value::{HashVersion, HashedKey, initial_bounds};

use crate::limits::Limits;

/// One physical partition's arc of the ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// Names the partition in its container; never used twice.
    pub id: u32,
    /// The arc's first hashed key.
    pub min: HashedKey,
    /// The first hashed key beyond the arc.
    pub max: HashedKey,
    /// The partitions it came from, oldest first.
    pub parents: Vec<u32>,
    /// Where it is stored.
    pub space: SpaceId,
    /// The commit number after which its own begin: above all that clients may have seen of whatever had its id
    /// before, so that their session tokens stay good.
    pub lsn_base: u64,
}

/// Returns how many physical partitions a throughput asks for.
pub(crate) fn partition_count(throughput: u32, limits: &Limits) -> u32 {
    throughput.div_ceil(limits.physical_partition_ru).clamp(1, limits.physical_partitions_max)
}

/// Cuts the reachable hash space into equal arcs, as many as the throughput asks for.
pub fn initial_ranges(
    throughput: u32,
    version: HashVersion,
    limits: &Limits,
    lsn_base: u64,
    mut next_space: impl FnMut() -> SpaceId,
) -> Vec<Range> {
    let count = partition_count(throughput, limits);
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
        })
        .collect()
}
