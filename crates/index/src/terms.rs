//! The terms of an item under a policy: its indexed leaves, and its entries in composite indexes.
//!
//! A leaf is a scalar together with its path; an element's place in its array is not part of the path, so
//! `["a", "a"]` is one leaf. [`visit_leaves`] hands out each indexed scalar with its path; [`leaves`]
//! reduces them to a sorted set of 64-bit fingerprints, which is what pricing a write needs. System
//! properties (`_ts` and the like) are not in the stored item, hence not among its leaves.
//!
//! Invariants:
//! * equal values have equal fingerprints however they are spelled: `1`, `1.0` and `1e0`, or `"a"` and
//!   `"\u0061"`;
//! * fingerprints are the same on every machine and in every version, since charges follow from them.
//!
//! Recursion is bounded by the depth of a stored item, which `armilla_value` bounds.

use armilla_value::{Kind, Node};

use crate::fingerprint;
use crate::limits;
use crate::matcher::{Composite, Matcher, Position, RouteNode};
use crate::paths::PathSegment;

#[cfg(test)]
mod tests;

/// The path of a leaf, a chain of steps back to the item's root; nothing is copied to make it.
#[derive(Debug, Clone, Copy)]
pub struct LeafPath<'a> {
    fingerprint: u64,
    parent: Option<&'a LeafPath<'a>>,
    /// `None` at the root and for `[]`.
    name: Option<&'a str>,
}

impl<'a> LeafPath<'a> {
    pub(crate) const ROOT: LeafPath<'static> =
        LeafPath { fingerprint: fingerprint::ROOT, parent: None, name: None };

    pub(crate) fn property(parent: &'a LeafPath<'a>, name: &'a str) -> LeafPath<'a> {
        let fingerprint = fingerprint::step(parent.fingerprint, fingerprint::bytes(name.as_bytes()));
        LeafPath { fingerprint, parent: Some(parent), name: Some(name) }
    }

    pub(crate) fn elements(parent: &'a LeafPath<'a>) -> LeafPath<'a> {
        let fingerprint = fingerprint::step(parent.fingerprint, fingerprint::ELEMENTS);
        LeafPath { fingerprint, parent: Some(parent), name: None }
    }

    /// Returns a number that stands for the path: the same path has the same one everywhere.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Returns the steps from the root.
    pub fn segments(&self) -> Vec<PathSegment> {
        let mut segments = Vec::new();
        let mut step = self;
        while let Some(parent) = step.parent {
            segments.push(match step.name {
                Some(name) => PathSegment::Property(name.to_owned()),
                None => PathSegment::Elements,
            });
            step = parent;
        }
        segments.reverse();
        segments
    }
}

/// A sorted set of fingerprints of (path, value) pairs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Leaves(Vec<u64>);

impl Leaves {
    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the fingerprints, in order.
    pub fn fingerprints(&self) -> &[u64] {
        &self.0
    }

    /// Returns how many are in `old` alone, and how many in `new` alone: removed and added.
    pub fn diff(old: &Leaves, new: &Leaves) -> (usize, usize) {
        let (mut at_old, mut at_new, mut shared) = (0, 0, 0);
        while let (Some(left), Some(right)) = (old.0.get(at_old), new.0.get(at_new)) {
            at_old += usize::from(left <= right);
            at_new += usize::from(right <= left);
            shared += usize::from(left == right);
        }
        (old.len() - shared, new.len() - shared)
    }

    fn from_unsorted(mut fingerprints: Vec<u64>) -> Leaves {
        fingerprints.sort_unstable();
        fingerprints.dedup();
        Leaves(fingerprints)
    }
}

/// Returns the distinct indexed leaves of an item.
pub fn leaves(matcher: &Matcher, root: Node<'_>) -> Leaves {
    let mut fingerprints = Vec::with_capacity(LEAVES_EXPECTED);
    visit_leaves(matcher, root, |path, node| {
        fingerprints.push(fingerprint::step(path.fingerprint(), fingerprint::scalar(node)));
    });
    Leaves::from_unsorted(fingerprints)
}

/// Room for this many leaves is made at once, which most items do not outgrow.
const LEAVES_EXPECTED: usize = 32;

/// Calls `visit` with every indexed scalar of an item, in no particular order; a value that occurs twice
/// under one path comes twice.
pub fn visit_leaves<'n>(matcher: &Matcher, root: Node<'n>, mut visit: impl FnMut(&LeafPath<'_>, Node<'n>)) {
    walk(matcher, matcher.root(), &LeafPath::ROOT, root, &mut visit);
}

fn walk<'n>(
    matcher: &Matcher,
    position: Position,
    path: &LeafPath<'_>,
    node: Node<'n>,
    visit: &mut impl FnMut(&LeafPath<'_>, Node<'n>),
) {
    match node.kind() {
        Kind::Object => {
            if let Some(properties) = matcher.only_properties(position) {
                // Asking for the few names of the policy beats looking at every member of the item.
                for (name, below) in properties.filter(|(_, below)| !matcher.is_barren(*below)) {
                    if let Some(member) = node.get(name) {
                        walk(matcher, below, &LeafPath::property(path, name), member, visit);
                    }
                }
                return;
            }
            for (name, member) in node.members() {
                let below = matcher.property(position, &name);
                if !matcher.is_barren(below) {
                    walk(matcher, below, &LeafPath::property(path, &name), member, visit);
                }
            }
        }
        Kind::Array => {
            let below = matcher.elements(position);
            if matcher.is_barren(below) {
                return;
            }
            let path = LeafPath::elements(path);
            for element in node.elements() {
                walk(matcher, below, &path, element, visit);
            }
        }
        _ if matcher.is_scalar_indexed(position) => visit(path, node),
        _ => {}
    }
}

/// Returns how many distinct entries an item has in composite indexes and under tuple paths.
pub fn composite_entries(matcher: &Matcher, root: Node<'_>) -> usize {
    if matcher.has_composites() { composite_terms(matcher, root).len() } else { 0 }
}

/// Returns the fingerprints of an item's entries in composite indexes and under tuple paths.
///
/// A composite index has one entry for an item, with undefined where a property is missing or no scalar;
/// with arrays on the way, one for each combination of their elements. A tuple path has one for each
/// element.
pub fn composite_terms(matcher: &Matcher, root: Node<'_>) -> Leaves {
    let mut fingerprints = Vec::new();
    for (number, composite) in (0..).zip(matcher.routes()) {
        let entries = combinations(composite, &composite.root, Some(root));
        fingerprints.extend(entries.into_iter().map(|entry| fingerprint::step(number, entry)));
    }
    Leaves::from_unsorted(fingerprints)
}

/// Returns one fingerprint for each combination of values at the ends of the routes below `route`.
///
/// The values of a combination are added up, each mixed with its property's number first, so that the
/// order in which routes are visited does not matter.
fn combinations(composite: &Composite, route: &RouteNode, node: Option<Node<'_>>) -> Vec<u64> {
    let value = match node {
        Some(node) if !matches!(node.kind(), Kind::Object | Kind::Array) => fingerprint::scalar(node),
        _ => fingerprint::UNDEFINED,
    };
    let own = |sum: u64, number: &u32| sum.wrapping_add(fingerprint::step(u64::from(*number), value));
    let mut sums = vec![route.ends.iter().fold(0, own)];
    for (segment, child) in &route.children {
        let below = match segment {
            PathSegment::Property(name) => {
                combinations(composite, child, node.and_then(|node| node.get(name)))
            }
            PathSegment::Elements => element_combinations(composite, child, node),
        };
        let product = sums.iter().flat_map(|sum| below.iter().map(|part| sum.wrapping_add(*part)));
        sums = product.take(limits::COMPOSITE_ENTRIES_MAX).collect();
    }
    sums
}

fn element_combinations(composite: &Composite, route: &RouteNode, node: Option<Node<'_>>) -> Vec<u64> {
    let mut all = Vec::new();
    if let Some(array) = node.filter(|node| node.kind() == Kind::Array) {
        for element in array.elements() {
            all.extend(combinations(composite, route, Some(element)));
            if all.len() >= limits::COMPOSITE_ENTRIES_MAX {
                all.truncate(limits::COMPOSITE_ENTRIES_MAX);
                break;
            }
        }
    }
    if all.is_empty() && composite.always { combinations(composite, route, None) } else { all }
}
