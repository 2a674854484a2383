//! What is bounded, and by how much.

/// Nodes of one account.
pub const NODES_MAX: usize = 10_000;

/// Partitions of one account.
pub const PARTITIONS_MAX: usize = 10_000_000;

/// Bytes of an assignment that is read.
pub const ASSIGNMENT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Partitions that are taken from nodes at a time, to have the load even or to let nodes end, in permille of all.
pub(crate) const MOVING_PERMILLE: usize = 10;

/// The least of that bound, for what is taken from nodes that are about to end.
pub const MOVING_MAX: usize = 16;

/// The least of that bound, for what is taken from nodes that go on, to have the load even: nothing hurries, and each one that is
/// on its way keeps requests waiting.
pub(crate) const EVENING_MAX: usize = 2;

/// How uneven the load of two nodes may be before a partition is moved, in percent of what a node has on average.
pub(crate) const UNEVEN_PERCENT: u64 = 10;

/// Bytes of a name, an address, or a version in an assignment.
pub(crate) const TEXT_BYTES_MAX: usize = 512;

/// Into how many parts the length of a lease is cut for looks at records and at the assignment.
pub(crate) const LOOKS: u32 = 6;

/// Nodes that look at the records of all others while they wait for their turn to coordinate: so that what dies together with
/// the coordinator is not waited for twice.
pub(crate) const STANDBYS: usize = 3;

/// Nodes up to which all of them look on: one of several standbys may be the coordinator that dies.
pub(crate) const ALL_LOOK_ON: usize = 8;

/// Records that are read at a time by one who looks at those that changed.
pub(crate) const READS_AT_ONCE: usize = 32;

/// Partitions of whose load a node tells in its record.
pub const LOADS_MAX: usize = 32;
