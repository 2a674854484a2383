//! Splits and merges for tests: children of ranges, and the whole way from a begin to a flip.

use std::sync::atomic::{AtomicU64, Ordering};

use armilla_container::{Closed, Container, CutBy, Error, Range, Reshape, Retired};
use armilla_kv::SpaceId;
use armilla_value::HashedKey;

/// Spaces of children have numbers from here on.
const CHILD_SPACES: u64 = 1_000;

/// Spaces of children where some were given up before have numbers from here on, none twice.
static NEXT_SPACE: AtomicU64 = AtomicU64::new(1_000_000);

/// Returns the ranges that take the place of some neighbours, cut at these keys.
pub(crate) fn children(container: &Container, parents: &[u32], cuts: &[HashedKey]) -> Vec<Range> {
    let map = container.map();
    let parents: Vec<&Range> =
        parents.iter().map(|id| map.ranges.iter().find(|range| range.id == *id).unwrap()).collect();
    let used = map.ranges.iter().flat_map(|range| range.parents.iter().chain([&range.id]));
    let next = 1 + used.max().unwrap();
    let mut ancestors: Vec<u32> =
        parents.iter().flat_map(|range| range.parents.iter().chain([&range.id]).copied()).collect();
    ancestors.sort_unstable();
    ancestors.dedup();
    let mut bounds = vec![parents[0].min.clone()];
    bounds.extend_from_slice(cuts);
    bounds.push(parents[parents.len() - 1].max.clone());
    let range = |(place, pair): (usize, &[HashedKey])| {
        let id = next + place as u32;
        Range {
            id,
            min: pair[0].clone(),
            max: pair[1].clone(),
            parents: ancestors.clone(),
            space: SpaceId(CHILD_SPACES + u64::from(id)),
            lsn_base: 0,
            map_version: map.version + 1,
            ts: 0,
        }
    };
    bounds.windows(2).enumerate().map(range).collect()
}

/// The same, in spaces that were not used before, also where others were given up.
fn children_anew(container: &Container, parents: &[u32], cuts: &[HashedKey]) -> Vec<Range> {
    let mut ranges = children(container, parents, cuts);
    ranges.iter_mut().for_each(|range| range.space = SpaceId(NEXT_SPACE.fetch_add(1, Ordering::Relaxed)));
    ranges
}

/// Begins the split of a range where others may have been given up.
pub(crate) fn begin_split_anew(container: &Container, range_id: u32, by: CutBy) -> Result<Reshape, Error> {
    let cut = container.split_point(range_id, by)?.expect("it can be cut");
    container.reshape(&[range_id], children_anew(container, &[range_id], &[cut]))
}

/// Begins the merge of two neighbours where others may have been given up.
pub(crate) fn begin_merge_anew(container: &Container, ids: [u32; 2]) -> Result<Reshape, Error> {
    container.reshape(&ids, children_anew(container, &ids, &[]))
}

/// Begins the split of a range.
pub(crate) fn begin_split(container: &Container, range_id: u32, by: CutBy) -> Result<Reshape, Error> {
    let cut = container.split_point(range_id, by)?.expect("it can be cut");
    container.reshape(&[range_id], children(container, &[range_id], &[cut]))
}

/// Begins the merge of two neighbours.
pub(crate) fn begin_merge(container: &Container, ids: [u32; 2]) -> Result<Reshape, Error> {
    container.reshape(&ids, children(container, &ids, &[]))
}

pub(crate) async fn finish(container: &Container, mut reshape: Reshape) -> Result<Vec<Retired>, Error> {
    reshape.copy().await?;
    let closed: Closed = reshape.close().await?;
    Ok(closed.flip(container.map().version + 1))
}

pub(crate) async fn split(container: &Container, range_id: u32, by: CutBy) -> Result<Vec<Retired>, Error> {
    finish(container, begin_split(container, range_id, by)?).await
}

pub(crate) async fn merge(container: &Container, ids: [u32; 2]) -> Result<Vec<Retired>, Error> {
    finish(container, begin_merge(container, ids)?).await
}

pub(crate) fn ids(container: &Container) -> Vec<u32> {
    container.map().ranges.iter().map(|range| range.id).collect()
}
