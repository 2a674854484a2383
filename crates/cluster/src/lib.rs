//! Which node has which partition, of several processes over one object store.
//!
//! Every process that serves is a *node*. It has a lease on a record of its own ([`Member`]), and the record says where the
//! node is reached and which *assignment* it has adopted. The assignment is one object that says of every partition which
//! node has it ([`Assignment`]). A *coordinator*, one of the nodes, looks at all records and replaces the assignment by the
//! next one ([`Coordinator`], [`next`]).
//!
//! Invariants:
//! * a node acts as the owner of a partition only while its own lease is valid and the assignment that it has adopted gives
//!   it the partition ([`Ownership::is_mine`]);
//! * an assignment gives a partition that one node had to another only if the first has ended, or has adopted an assignment
//!   that takes the partition away;
//! * a node writes that it has adopted an assignment after it has stopped to serve what that takes away;
//! * assignments are one sequence: each replaces the very one that its writer has seen.
//!
//! So no partition has two owners, whatever the coordinator knows or does not know: that a node has ended, and what it has
//! adopted, stays true for ever, and a coordinator that slept, or two at a time, can only be refused or be right. No two clocks
//! are compared.
//!
//! Not here: what a partition is, how one is opened, moved or written (the fence of the store is what stops a write that its
//! owner sent before it lost the partition), how nodes speak to each other.

mod assignment;
mod board;
mod coordinator;
mod limits;
mod member;
mod next;
mod note;
mod ownership;
mod placement;

use std::fmt;
use std::sync::Arc;

pub use assignment::{Assignment, Node, Place};
pub use board::Board;
pub use coordinator::{Coordinator, Roll};
pub use limits::{ASSIGNMENT_BYTES_MAX, LOADS_MAX, MOVING_MAX, NODES_MAX, PARTITIONS_MAX};
pub use member::{Host, Member, MemberOptions, Words};
pub use next::{Living, Pins, next};
pub use note::Note;
pub use ownership::Ownership;
pub use placement::{Move, Partition, place};

/// A node: a process from its start to its end. The same machine has another id the next time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(Arc<str>);

impl NodeId {
    /// Returns the id of a name, which no other process has or will have.
    pub fn new(name: &str) -> NodeId {
        NodeId(name.into())
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is given to one node at a time. An id is never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartitionId(pub u64);

impl fmt::Display for PartitionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
