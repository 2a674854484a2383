//! One split or merge that is to be carried out, and why.

use armilla_value::HashedKey;

/// A split or merge that is to be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) reason: Reason,
    /// The partition that is split, or the two that become one.
    pub(super) parents: Vec<u32>,
    /// Where a split cuts.
    pub(super) cut: Option<HashedKey>,
}

/// Why partitions are reshaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// Somebody asked for it.
    Command,
    /// The throughput needs more partitions.
    Throughput,
    /// The partition has grown too large.
    Size,
}
