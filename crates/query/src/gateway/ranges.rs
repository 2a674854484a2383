//! Ranges of effective partition keys, as plans list them.

use armilla_value::{HashedKey, PartitionKey, hashed_key, prefix_range};

use super::keys::{KeyScope, PartitionKeyShape};

/// A range of effective partition keys; its start is part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryRange {
    /// The start.
    pub min: HashedKey,
    /// The end.
    pub max: HashedKey,
    /// Whether the end is part of the range, as it is of one that is a single point.
    pub is_max_inclusive: bool,
}

impl QueryRange {
    /// All keys.
    pub const ALL: QueryRange =
        QueryRange { min: HashedKey::MIN, max: HashedKey::MAX, is_max_inclusive: false };

    fn point(key: HashedKey) -> QueryRange {
        QueryRange { min: key.clone(), max: key, is_max_inclusive: true }
    }
}

/// Returns the ranges, sorted and without overlaps.
///
/// Where nothing can match there is still one range, the start of the ring: clients need somewhere to send the
/// query, for an aggregate of nothing is a row too.
pub(super) fn query_ranges(scope: &KeyScope, partition_key: &PartitionKeyShape) -> Vec<QueryRange> {
    let range = |key: &PartitionKey| {
        if key.0.len() == partition_key.paths.len() {
            QueryRange::point(hashed_key(key, partition_key.version))
        } else {
            let (min, max) = prefix_range(key);
            QueryRange { min, max, is_max_inclusive: false }
        }
    };
    let mut ranges: Vec<QueryRange> = match scope {
        KeyScope::All => return vec![QueryRange::ALL],
        KeyScope::Nothing => return vec![QueryRange::point(HashedKey::MIN)],
        KeyScope::Keys(keys) | KeyScope::Prefixes(keys) => keys.iter().map(range).collect(),
    };
    ranges.sort_by(|left, right| (&left.min, &left.max).cmp(&(&right.min, &right.max)));
    // Two keys may have one hash. A prefix and what is below it never stand side by side.
    ranges.dedup();
    ranges
}
