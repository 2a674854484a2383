//! What a query did, counted.

use std::ops::AddAssign;

/// What a query did. Depends on the query and the data alone: not on pages, caches or time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Physical partitions that were opened.
    pub partitions: u64,
    /// Predicates and orders that an index served, counted once per partition.
    pub seeks: u64,
    /// Items loaded because an index named them.
    pub fetched: u64,
    /// Their bytes.
    pub fetched_bytes: u64,
    /// Items loaded by a scan.
    pub scanned: u64,
    /// Their bytes.
    pub scanned_bytes: u64,
    /// Index entries walked that did not lead to an item of the result.
    pub entries: u64,
    /// Rows that went into aggregates.
    pub aggregate_rows: u64,
    /// Rows that joins made.
    pub join_tuples: u64,
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.partitions += other.partitions;
        self.seeks += other.seeks;
        self.fetched += other.fetched;
        self.fetched_bytes += other.fetched_bytes;
        self.scanned += other.scanned;
        self.scanned_bytes += other.scanned_bytes;
        self.entries += other.entries;
        self.aggregate_rows += other.aggregate_rows;
        self.join_tuples += other.join_tuples;
    }
}
