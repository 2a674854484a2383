//! A policy compiled into a tree of path segments that answers, for a path, whether it is indexed.
//!
//! The more precise path wins: a deeper one over a shallower one, and at the same depth `/?` over `/*`.
//! Walking from the root, that is: the last `/*` met so far decides, unless a `/?` stands exactly at the
//! end. So a walk carries one tree position and one truth value, and where the tree ends, or nothing below
//! a position can change the answer, whole subtrees of an item are taken or skipped unseen.
//!
//! Invariants:
//! * position 0 is the root, and children have higher positions than their parents.
//!
//! Not here: walking items (`terms`).

use crate::paths::{IndexPath, PathEnd, PathSegment, TuplePath};
use crate::policy::{CompositePath, IncludedPath, IndexingMode, IndexingPolicy};

#[cfg(test)]
mod tests;

/// A compiled indexing policy.
#[derive(Debug, Clone)]
pub struct Matcher {
    nodes: Vec<TrieNode>,
    /// What holds where no path of the policy decides.
    root_indexed: bool,
    composites: Vec<Composite>,
}

/// An index over several properties: a composite index, or a tuple path.
#[derive(Debug, Clone)]
pub(crate) struct Composite {
    pub(crate) root: RouteNode,
    /// Whether an item without elements in an array on the way still has an entry, undefined there.
    pub(crate) always: bool,
}

/// The routes of a composite index as a tree: routes through one array see the same element of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct RouteNode {
    /// Which properties of the index, by number, end here.
    pub(crate) ends: Vec<u32>,
    pub(crate) children: Vec<(PathSegment, RouteNode)>,
}

#[derive(Debug, Clone, Default)]
struct TrieNode {
    /// Sorted by name.
    properties: Vec<(Box<str>, u32)>,
    elements: Option<u32>,
    scalar: Option<bool>,
    subtree: Option<bool>,
    /// Whether this position or one below it includes something by name.
    includes_below: bool,
}

/// Where a walk through an item stands in the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// `NO_NODE` where the policy names nothing at or below this place.
    node: u32,
    /// What the deepest `/*` so far says.
    inherited: bool,
}

const NO_NODE: u32 = u32::MAX;

impl Matcher {
    /// Compiles a policy.
    pub fn new(policy: &IndexingPolicy) -> Matcher {
        let mut matcher =
            Matcher { nodes: vec![TrieNode::default()], root_indexed: false, composites: Vec::new() };
        if policy.mode == IndexingMode::None {
            return matcher;
        }
        for path in &policy.included_paths {
            match path {
                IncludedPath::Range(path) => matcher.add(path, true),
                IncludedPath::Tuple(path) => matcher.composites.push(Composite::of_tuple(path)),
            }
        }
        for path in &policy.excluded_paths {
            matcher.add(path, false);
        }
        matcher.root_indexed = matcher.nodes[0].subtree.unwrap_or(false);
        // Children come after their parents, so one pass from the back sees each child finished.
        for index in (0..matcher.nodes.len()).rev() {
            let node = &matcher.nodes[index];
            let own = node.scalar == Some(true) || node.subtree == Some(true);
            let children = node.properties.iter().map(|(_, child)| *child).chain(node.elements);
            let below = children.into_iter().any(|child| matcher.nodes[child as usize].includes_below);
            matcher.nodes[index].includes_below = own || below;
        }
        matcher.composites.extend(policy.composites().iter().map(|paths| Composite::of_paths(paths)));
        matcher
    }

    /// Returns where a walk starts.
    pub fn root(&self) -> Position {
        Position { node: 0, inherited: self.root_indexed }
    }

    /// Returns the position of the member `name` of the object at `position`.
    #[inline]
    pub fn property(&self, position: Position, name: &str) -> Position {
        let Some(node) = self.node(position) else { return position };
        let child = if node.properties.len() <= LINEAR_SEARCH_MAX {
            node.properties.iter().find(|(known, _)| &**known == name)
        } else {
            let found = node.properties.binary_search_by(|(known, _)| (**known).cmp(name));
            found.ok().map(|index| &node.properties[index])
        };
        self.descend(position, child.map(|(_, child)| *child))
    }

    /// Returns the position of the elements of the array at `position`.
    #[inline]
    pub fn elements(&self, position: Position) -> Position {
        match self.node(position) {
            None => position,
            Some(node) => self.descend(position, node.elements),
        }
    }

    /// Returns whether a scalar standing at `position` is indexed.
    #[inline]
    pub fn is_scalar_indexed(&self, position: Position) -> bool {
        match self.node(position).and_then(|node| node.scalar) {
            Some(indexed) => indexed,
            None => position.inherited,
        }
    }

    /// Returns whether nothing at or below `position` is indexed.
    #[inline]
    pub fn is_barren(&self, position: Position) -> bool {
        !position.inherited && self.node(position).is_none_or(|node| !node.includes_below)
    }

    /// Returns the names under which alone something at or below `position` can be indexed, with their
    /// positions; nothing where a walk must look at every member.
    #[inline]
    pub(crate) fn only_properties(
        &self,
        position: Position,
    ) -> Option<impl Iterator<Item = (&str, Position)>> {
        let node = self.node(position).filter(|_| !position.inherited)?;
        let children = node.properties.iter();
        Some(children.map(move |(name, child)| (&**name, self.descend(position, Some(*child)))))
    }

    /// Returns whether a scalar at the end of `segments` is indexed.
    pub fn is_path_indexed(&self, segments: &[PathSegment]) -> bool {
        let end = segments.iter().fold(self.root(), |position, segment| match segment {
            PathSegment::Property(name) => self.property(position, name),
            PathSegment::Elements => self.elements(position),
        });
        self.is_scalar_indexed(end)
    }

    /// Returns whether items have entries in composite indexes.
    pub fn has_composites(&self) -> bool {
        !self.composites.is_empty()
    }

    pub(crate) fn composites(&self) -> &[Composite] {
        &self.composites
    }

    #[inline]
    fn node(&self, position: Position) -> Option<&TrieNode> {
        self.nodes.get(position.node as usize)
    }

    #[inline]
    fn descend(&self, position: Position, child: Option<u32>) -> Position {
        match child {
            None => Position { node: NO_NODE, inherited: position.inherited },
            Some(child) => {
                let inherited = self.nodes[child as usize].subtree.unwrap_or(position.inherited);
                Position { node: child, inherited }
            }
        }
    }

    fn add(&mut self, path: &IndexPath, indexed: bool) {
        let end = path.segments().iter().fold(0, |index, segment| self.child(index, segment));
        let node = &mut self.nodes[end as usize];
        match path.end() {
            PathEnd::Scalar => node.scalar = Some(indexed),
            PathEnd::Subtree => node.subtree = Some(indexed),
        }
    }

    fn child(&mut self, index: u32, segment: &PathSegment) -> u32 {
        // At most 3,000 paths of at most 128 segments: far below the reserved number.
        let next = self.nodes.len() as u32;
        let node = &mut self.nodes[index as usize];
        let child = match segment {
            PathSegment::Elements => *node.elements.get_or_insert(next),
            PathSegment::Property(name) => {
                match node.properties.binary_search_by(|(known, _)| (**known).cmp(name)) {
                    Ok(at) => node.properties[at].1,
                    Err(at) => {
                        node.properties.insert(at, (name.as_str().into(), next));
                        next
                    }
                }
            }
        };
        if child == next {
            self.nodes.push(TrieNode::default());
        }
        child
    }
}

/// Up to this many names, comparing them one by one beats a binary search.
const LINEAR_SEARCH_MAX: usize = 8;

impl Composite {
    fn of_paths(paths: &[CompositePath]) -> Composite {
        let mut root = RouteNode::default();
        for (number, path) in (0..).zip(paths) {
            root.add(path.path.segments(), number);
        }
        Composite { root, always: true }
    }

    fn of_tuple(path: &TuplePath) -> Composite {
        let mut root = RouteNode::default();
        for (number, property) in (0..).zip(path.properties()) {
            root.add(&[path.prefix(), property].concat(), number);
        }
        Composite { root, always: false }
    }
}

impl RouteNode {
    fn add(&mut self, segments: &[PathSegment], number: u32) {
        let Some((first, rest)) = segments.split_first() else {
            self.ends.push(number);
            return;
        };
        let at = match self.children.iter().position(|(segment, _)| segment == first) {
            Some(at) => at,
            None => {
                self.children.push((first.clone(), RouteNode::default()));
                self.children.len() - 1
            }
        };
        self.children[at].1.add(rest, number);
    }
}
