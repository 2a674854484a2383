//! Which node has which partition: the object that all nodes read.

mod wire;

use std::collections::BTreeMap;

use crate::{NodeId, PartitionId};

/// A node as others know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Where it is reached: `host:port`.
    pub address: String,
    /// The version of its program.
    pub version: String,
    /// Whether it is about to end.
    pub is_leaving: bool,
}

/// Where a partition is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A node has it.
    On(NodeId),
    /// No node may have it until this one has adopted an assignment that takes it away, or has ended.
    Leaving {
        /// Who had it.
        node: NodeId,
        /// The first assignment that takes it away.
        since: u64,
    },
}

/// All places. A partition that no node has, or had a moment ago, has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Assignment {
    /// Its number: one more than that of the assignment before.
    pub epoch: u64,
    /// The nodes that there are.
    pub nodes: BTreeMap<NodeId, Node>,
    /// The places of partitions.
    pub places: BTreeMap<PartitionId, Place>,
}

impl Assignment {
    /// Returns the node that has a partition.
    pub fn owner_of(&self, partition: PartitionId) -> Option<&NodeId> {
        match self.places.get(&partition)? {
            Place::On(node) => Some(node),
            Place::Leaving { .. } => None,
        }
    }

    /// Returns the partitions of a node, in the order of their ids.
    pub fn of_node(&self, node: &NodeId) -> impl Iterator<Item = PartitionId> {
        let on_it = move |place: &Place| matches!(place, Place::On(owner) if owner == node);
        self.places.iter().filter(move |(_, place)| on_it(place)).map(|(id, _)| *id)
    }
}
