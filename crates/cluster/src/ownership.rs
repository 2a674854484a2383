//! What a node may do, asked at every operation.

use std::collections::HashSet;
use std::sync::Arc;

use armilla_lease::Tenure;
use parking_lot::RwLock;

use crate::assignment::{Assignment, Node};
use crate::{NodeId, PartitionId};

/// Says, at any moment, which partitions are this node's, and where others are. Clones are of the same node.
#[derive(Clone)]
pub struct Ownership {
    me: NodeId,
    tenure: Tenure,
    view: Arc<RwLock<Arc<View>>>,
}

/// What was read last.
#[derive(Default)]
struct View {
    assignment: Assignment,
    mine: HashSet<PartitionId>,
}

impl Ownership {
    pub(crate) fn new(me: NodeId, tenure: Tenure) -> Ownership {
        Ownership { me, tenure, view: Arc::default() }
    }

    /// Returns the name of this node.
    pub fn node(&self) -> &NodeId {
        &self.me
    }

    /// Returns whether this node has a partition, and no other can have it yet. What is in memory may be shown if it was
    /// asked before it was looked at.
    pub fn is_mine(&self, partition: PartitionId) -> bool {
        self.tenure.is_valid() && self.view.read().mine.contains(&partition)
    }

    /// Returns the node that has a partition, as far as this one knows.
    pub fn owner_of(&self, partition: PartitionId) -> Option<(NodeId, Node)> {
        let view = self.view.read();
        let id = view.assignment.owner_of(partition)?;
        Some((id.clone(), view.assignment.nodes.get(id)?.clone()))
    }

    /// Returns the partitions that this node has.
    pub fn mine(&self) -> Vec<PartitionId> {
        let mut mine: Vec<PartitionId> = self.view.read().mine.iter().copied().collect();
        mine.sort_unstable();
        mine
    }

    /// Returns how many nodes stand before this one in the assignment, if it is there.
    pub(crate) fn rank(&self) -> Option<usize> {
        self.view.read().assignment.nodes.keys().position(|id| *id == self.me)
    }

    /// Goes by another assignment from now on. Returns what it takes from this node.
    pub(crate) fn see(&self, assignment: Assignment) -> Vec<PartitionId> {
        let mine = assignment.of_node(&self.me).collect();
        let view = Arc::new(View { assignment, mine });
        let before = std::mem::replace(&mut *self.view.write(), view.clone());
        let mut lost: Vec<PartitionId> = before.mine.difference(&view.mine).copied().collect();
        lost.sort_unstable();
        lost
    }
}
