//! The physical plan: how the items of one physical partition are found.
//!
//! Chosen for each partition from what its index holds. Not here: choosing it (`choose`), walking it (`exec`).

use armilla_index::{IndexId, KeyRange};
use bytes::Bytes;

use crate::expr::{Expr, PathStep};
use crate::source::Direction;

/// How the items of one partition are found, and what is left to check on each.
#[derive(Debug, Clone, PartialEq)]
pub struct PhysicalPlan {
    /// How items are found.
    pub access: Access,
    /// Conditions on the item that the access does not guarantee.
    pub residual: Vec<Expr>,
    /// What indexes serve, for prices, metrics and `EXPLAIN`.
    pub served: Vec<Served>,
    /// Indexes that would have helped, had they existed.
    pub missing: Vec<Served>,
    /// Whether indexes tell exactly which items the residual rejects, so that they would have been passed over had it
    /// been worth asking them: for prices.
    pub rejects_by_index: bool,
}

/// One predicate or order that an index serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The index's paths as a policy writes them: `/a/?`, or `/a ASC` and `/b DESC`.
    pub paths: Vec<String>,
    /// Whether it is a composite index.
    pub composite: bool,
    /// Whether the index gives exactly the items that are asked for.
    pub precise: bool,
}

/// How items are found.
#[derive(Debug, Clone, PartialEq)]
pub enum Access {
    /// There are none: the conditions contradict each other.
    Nothing,
    /// One item of the logical partition, by its id.
    Point {
        /// The id.
        id: String,
    },
    /// Every item in the order of insertion, for partitions small enough.
    ScanByNumber,
    /// Every item in the order of keys.
    ScanByKey,
    /// What indexes name, in the order of insertion.
    Set(IndexSet),
    /// What a large range of one index names, in the order of the index.
    Stream(IndexRange),
    /// What a range of one index names, where the entries hold all that is asked for.
    Covered(Covered),
    /// Every item in the order that is asked for, from an index.
    Walk(Walk),
    /// What another access finds, put in the order that is asked for.
    Sort(Box<Access>),
    /// The answer to aggregates or DISTINCT, from an index alone.
    IndexOnly(IndexOnly),
}

/// A set of items that indexes name.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexSet {
    /// Those of one index.
    Range(IndexRange),
    /// Those in all of the sets; the first is thought to be the smallest.
    And(Vec<IndexSet>),
    /// Those in one of the sets.
    Or(Vec<IndexSet>),
}

impl IndexSet {
    /// Returns about how many entries must be read to have all of it.
    pub(crate) fn estimate(&self) -> u64 {
        match self {
            IndexSet::Range(range) => range.estimate.unwrap_or_default(),
            IndexSet::And(sets) | IndexSet::Or(sets) => {
                sets.iter().map(IndexSet::estimate).fold(0, u64::saturating_add)
            }
        }
    }

    /// Whether some of its ranges has a condition on the indexed value itself.
    pub(crate) fn has_term_filter(&self) -> bool {
        match self {
            IndexSet::Range(range) => range.term_filter.is_some(),
            IndexSet::And(sets) | IndexSet::Or(sets) => sets.iter().any(IndexSet::has_term_filter),
        }
    }
}

/// A part of one index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexRange {
    /// Which index.
    pub index: IndexId,
    /// Its paths as a policy writes them.
    pub paths: Vec<String>,
    /// Sorted and disjoint ranges of entries.
    pub ranges: Vec<KeyRange>,
    /// Whether each of the ranges holds one value only, so that its entries are in the order of insertion.
    pub is_equality: bool,
    /// Whether every entry is of an item that the condition holds for.
    pub precise: bool,
    /// Whether an item may have several entries.
    pub repeats: bool,
    /// A condition on the indexed value itself, which is in slot [`TERM_SLOT`].
    pub term_filter: Option<Expr>,
    /// How many entries there are, as far as it was worth counting; nothing where it does not matter.
    pub estimate: Option<u64>,
    /// For each of the ranges what was read of it to count its entries; empty where nothing was.
    pub begun: Vec<Option<Begun>>,
}

/// The beginning of a range of index entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// The numbers of the items, in the order of the entries.
    pub numbers: Vec<u64>,
    /// The entry behind which there may be more.
    pub last: Option<Bytes>,
}

/// A range of an index whose entries hold what aggregates ask for.
#[derive(Debug, Clone, PartialEq)]
pub struct Covered {
    /// The range.
    pub range: IndexRange,
    /// The values of an entry, in its order.
    pub columns: Vec<Column>,
    /// Whether they are put in the order of insertion, as the items themselves would come: sums of fractions depend on it.
    pub by_number: bool,
}

/// A value that the entries of an index hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Where the item has it.
    pub steps: Vec<PathStep>,
    /// Whether the index has it from the highest to the lowest.
    pub descending: bool,
}

/// The slot of the indexed value in a condition that is checked on index entries alone.
pub const TERM_SLOT: usize = usize::MAX;

/// A walk through an index that gives items in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Walk {
    /// Which index.
    pub index: IndexId,
    /// Its paths as a policy writes them.
    pub paths: Vec<String>,
    /// Which way it is read.
    pub direction: Direction,
    /// The part of the index that can matter.
    pub range: KeyRange,
    /// Whether items without an entry may exist and belong to the result: they are undefined in every key, come
    /// first in ascending order and last in descending.
    pub adds_missing: bool,
    /// Whether ranges other than `range` were left out because a condition excludes them.
    pub is_partial: bool,
    /// About how many entries are read for each item of the result.
    pub entries_per_item: u64,
    /// A set that every item of the result is in, so that the others can be passed over without being loaded, where
    /// that is less work. Only where `rejects_by_index`, and in whole partitions.
    pub passing: Option<IndexSet>,
}

/// An answer that needs no item.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexOnly {
    /// The number of items, which the partition keeps.
    CountAll,
    /// The number of items in a set.
    CountSet(IndexSet),
    /// The number of entries of an index that are defined: COUNT of a path.
    CountPath(IndexRange),
    /// The lowest or the highest value of an index.
    Extreme {
        /// Which index.
        index: IndexRange,
        /// The highest instead of the lowest.
        highest: bool,
    },
    /// The distinct values of an index.
    Distinct(IndexRange),
}
