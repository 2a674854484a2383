//! What a node may do, asked at every operation.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use armilla_lease::Tenure;
use parking_lot::RwLock;

use crate::assignment::{Assignment, Node, Place};
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
    /// With the assignment by which each was given to this node.
    mine: HashMap<PartitionId, u64>,
}

impl Ownership {
    pub(crate) fn new(me: NodeId, tenure: Tenure) -> Ownership {
        Ownership { me, tenure, view: Arc::default() }
    }

    /// Returns the name of this node.
    pub fn node(&self) -> &NodeId {
        &self.me
    }

    /// Returns what says whether this node may act at all.
    pub fn tenure(&self) -> Tenure {
        self.tenure.clone()
    }

    /// Returns whether this node has a partition, and no other can have it yet. What is in memory may be shown if it was
    /// asked before it was looked at.
    pub fn is_mine(&self, partition: PartitionId) -> bool {
        self.since(partition).is_some()
    }

    /// Returns the assignment by which this node was given a partition that it has, and no other can have yet.
    pub fn since(&self, partition: PartitionId) -> Option<u64> {
        if self.tenure.is_valid() { self.view.read().mine.get(&partition).copied() } else { None }
    }

    /// Returns the node that has a partition, as far as this one knows.
    pub fn owner_of(&self, partition: PartitionId) -> Option<(NodeId, Node)> {
        let view = self.view.read();
        let id = view.assignment.owner_of(partition)?;
        Some((id.clone(), view.assignment.nodes.get(id)?.clone()))
    }

    /// Returns the nodes that there are, as far as this one knows.
    pub fn nodes(&self) -> Vec<(NodeId, Node)> {
        let view = self.view.read();
        view.assignment.nodes.iter().map(|(id, node)| (id.clone(), node.clone())).collect()
    }

    /// Returns how many partitions each node has, as far as this one knows.
    pub fn counts(&self) -> BTreeMap<NodeId, usize> {
        let view = self.view.read();
        let mut counts = BTreeMap::new();
        for place in view.assignment.places.values() {
            if let Place::On(node) = place {
                *counts.entry(node.clone()).or_default() += 1;
            }
        }
        counts
    }

    /// Returns the partitions that this node has.
    pub fn mine(&self) -> Vec<PartitionId> {
        let mut mine: Vec<PartitionId> = self.view.read().mine.keys().copied().collect();
        mine.sort_unstable();
        mine
    }

    /// Returns whether this node has nothing, and no partition is on its way from it to another, as far as it knows.
    pub fn has_given_all(&self) -> bool {
        let view = self.view.read();
        let is_from_here = |place: &Place| matches!(place, Place::Leaving { node, .. } if *node == self.me);
        view.mine.is_empty() && !view.assignment.places.values().any(is_from_here)
    }

    /// Returns how many nodes stand before this one in the assignment, if it is there.
    pub(crate) fn rank(&self) -> Option<usize> {
        self.view.read().assignment.nodes.keys().position(|id| *id == self.me)
    }

    /// Goes by another assignment from now on. Returns what it takes from this node.
    pub(crate) fn see(&self, assignment: Assignment) -> Vec<PartitionId> {
        // Only one thread of the node goes by another assignment.
        let before = self.view.read().clone();
        let epoch = assignment.epoch;
        let since = |id: PartitionId| (id, before.mine.get(&id).copied().unwrap_or(epoch));
        let mine = assignment.of_node(&self.me).map(since).collect();
        let view = Arc::new(View { assignment, mine });
        *self.view.write() = view.clone();
        let mut lost: Vec<PartitionId> =
            before.mine.keys().filter(|id| !view.mine.contains_key(id)).copied().collect();
        lost.sort_unstable();
        lost
    }
}
