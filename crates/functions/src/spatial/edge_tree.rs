//! The edges of a shape under a binary tree of boxes.
//!
//! Neighbours in a ring are neighbours on the surface, so the tree takes the edges in the order they have: leaf
//! `n` holds the edges from `n * LEAF_EDGES` on. Boxes lie as in a heap: the root at 1, the children of `n` at
//! `2 * n` and `2 * n + 1`, the leaves last, padded with empty boxes to a power of two.

use std::ops::{ControlFlow, Range};

use super::limits::LEAF_EDGES;
use super::surface::{Edge, Surface};
use super::vector::Bounds;
use crate::meter::Meter;

/// Edges that can be searched by place.
pub(crate) struct EdgeTree<'m> {
    edges: Vec<Edge>,
    boxes: Vec<Bounds>,
    leaves: usize,
    /// What searching may take.
    meter: &'m Meter<'m>,
}

const ROOT: usize = 1;

/// What the distances of all edges of one leaf to those of another stand for.
const EDGE_PAIRS_STEPS: u64 = 4 * (LEAF_EDGES * LEAF_EDGES) as u64;

impl<'m> EdgeTree<'m> {
    pub(crate) fn new<S: Surface>(surface: &S, edges: Vec<Edge>, meter: &'m Meter<'m>) -> EdgeTree<'m> {
        let leaves = edges.len().div_ceil(LEAF_EDGES).max(1).next_power_of_two();
        let mut boxes = vec![Bounds::EMPTY; 2 * leaves];
        for (index, edge) in edges.iter().enumerate() {
            let leaf = &mut boxes[leaves + index / LEAF_EDGES];
            *leaf = leaf.union(surface.bounds(edge.from, edge.to));
        }
        for node in (ROOT..leaves).rev() {
            boxes[node] = boxes[2 * node].union(boxes[2 * node + 1]);
        }
        EdgeTree { edges, boxes, leaves, meter }
    }

    pub(crate) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Visits edges of a range until told to stop: all whose box meets the given one, and some more.
    pub(crate) fn visit(
        &self,
        range: &Range<usize>,
        bounds: &Bounds,
        mut visitor: impl FnMut(usize, &Edge) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.visit_below(ROOT, range, bounds, &mut visitor)
    }

    fn visit_below(
        &self,
        node: usize,
        range: &Range<usize>,
        bounds: &Bounds,
        visitor: &mut impl FnMut(usize, &Edge) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if !self.meter.go_on(1) {
            return ControlFlow::Break(());
        }
        let common = self.common(node, range);
        if common.is_empty() || !self.boxes[node].meets(bounds) {
            return ControlFlow::Continue(());
        }
        if self.is_leaf(node) {
            return common.into_iter().try_for_each(|index| visitor(index, &self.edges[index]));
        }
        self.visit_below(2 * node, range, bounds, visitor)?;
        self.visit_below(2 * node + 1, range, bounds, visitor)
    }

    /// Returns an edge of a range that is not empty, near the box as far as boxes tell.
    pub(crate) fn near(&self, range: &Range<usize>, bounds: &Bounds) -> usize {
        let mut node = ROOT;
        while !self.is_leaf(node) {
            let (left, right) = (2 * node, 2 * node + 1);
            let is_right = self.common(left, range).is_empty()
                || !self.common(right, range).is_empty()
                    && self.boxes[right].gap(bounds) < self.boxes[left].gap(bounds);
            node = if is_right { right } else { left };
        }
        self.common(node, range).start
    }

    /// Says whether an edge here meets one there.
    pub(crate) fn meets<S: Surface>(&self, surface: &S, other: &EdgeTree<'_>) -> bool {
        self.meets_below(surface, ROOT, other, ROOT)
    }

    fn meets_below<S: Surface>(
        &self,
        surface: &S,
        node: usize,
        other: &EdgeTree<'_>,
        other_node: usize,
    ) -> bool {
        if !self.meter.go_on(1) || !self.boxes[node].meets(&other.boxes[other_node]) {
            return false;
        }
        match (self.leaf(node), other.leaf(other_node)) {
            (Some(leaf), Some(other_leaf)) => self.edges[leaf]
                .iter()
                .any(|edge| other.edges[other_leaf.clone()].iter().any(|other| surface.meets(edge, other))),
            (None, Some(_)) => {
                (2 * node..2 * node + 2).any(|child| self.meets_below(surface, child, other, other_node))
            }
            (_, None) => (2 * other_node..2 * other_node + 2)
                .any(|child| other.meets_below(surface, child, self, node)),
        }
    }

    /// Returns the least distance between edges here and there that do not meet.
    pub(crate) fn distance<S: Surface>(&self, surface: &S, other: &EdgeTree<'_>) -> f64 {
        self.distance_below(surface, ROOT, other, ROOT, f64::INFINITY)
    }

    fn distance_below<S: Surface>(
        &self,
        surface: &S,
        node: usize,
        other: &EdgeTree<'_>,
        other_node: usize,
        enough: f64,
    ) -> f64 {
        match (self.leaf(node), other.leaf(other_node)) {
            (Some(leaf), Some(other_leaf)) => {
                let mut least = enough;
                if !self.meter.go_on(EDGE_PAIRS_STEPS) {
                    return least;
                }
                for edge in &self.edges[leaf] {
                    for other in &other.edges[other_leaf.clone()] {
                        least = least.min(surface.edge_distance(edge, other, least));
                    }
                }
                least
            }
            // Turns the pair round, so that the tree which is not at its leaves yet, or both in turn, go down.
            (Some(_), None) => other.distance_below(surface, other_node, self, node, enough),
            (None, _) => {
                let gap = |child: usize| self.boxes[child].gap(&other.boxes[other_node]);
                let mut children = [2 * node, 2 * node + 1].map(|child| (gap(child), child));
                if children[1].0 < children[0].0 {
                    children.swap(0, 1);
                }
                children.into_iter().fold(enough, |least, (gap, child)| {
                    if gap.is_finite() && surface.distance_min(gap) < least {
                        other.distance_below(surface, other_node, self, child, least)
                    } else {
                        least
                    }
                })
            }
        }
    }

    fn is_leaf(&self, node: usize) -> bool {
        node >= self.leaves
    }

    /// Returns the edges of a node that is a leaf.
    fn leaf(&self, node: usize) -> Option<Range<usize>> {
        self.is_leaf(node).then(|| self.common(node, &(0..self.edges.len())))
    }

    /// Returns which edges of a range are below a node.
    fn common(&self, node: usize, range: &Range<usize>) -> Range<usize> {
        let level = node.ilog2();
        let leaves_below = self.leaves >> level;
        let first_leaf = (node - (1 << level)) * leaves_below;
        let start = first_leaf * LEAF_EDGES;
        start.max(range.start)..(start + leaves_below * LEAF_EDGES).min(range.end)
    }
}
