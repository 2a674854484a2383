//! A policy compiled into a tree of path segments that answers, for a path, whether it is indexed.
//!
//! The more precise path wins: a deeper one over a shallower one, and at the same depth `/?` over `/*`.
//! Walking from the root, that is: the last `/*` met so far decides, unless a `/?` stands exactly at the
//! end. So a walk carries one tree position and one truth value, and where the tree ends, or nothing below
//! a position can change the answer, whole subtrees of an item are taken or skipped unseen.
//!
//! What users are charged for and what has entries differ in a few places: `id` and `_ts` always have entries, the
//! other system properties never; a computed property takes the place of a stored one and has entries only where
//! the policy names it; and items that lack a path named with `/?` have an entry that says so. Positions know the
//! policy alone; the functions that take whole paths, and [`Matcher::composites`], know the entries.
//!
//! Invariants:
//! * position 0 is the root, and children have higher positions than their parents.
//!
//! Not here: walking items (`terms`, `entries`).

use crate::id::IndexId;
use crate::paths::{IndexPath, PathEnd, PathSegment, TuplePath};
use crate::policy::{CompositePath, IncludedPath, IndexingMode, IndexingPolicy, SortOrder};

#[cfg(test)]
mod tests;

/// A compiled indexing policy.
#[derive(Debug, Clone)]
pub struct Matcher {
    nodes: Vec<TrieNode>,
    /// What holds where no path of the policy decides.
    root_indexed: bool,
    /// Whether there is an index at all.
    has_entries: bool,
    composites: Vec<Composite>,
    /// What [`Matcher::composites`] shows: those of `composites` that are served.
    shown: Vec<CompositeIndex>,
    /// Paths at which items without a value have an entry too.
    explicit: Vec<ExplicitPath>,
    /// Every computed property.
    computed: Vec<ComputedName>,
}

/// What an entry depends on beside the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The stored item alone.
    Content,
    /// The item's time stamp too, which is known only when it is committed.
    Stamp,
    /// Computed properties too, and perhaps the time stamp.
    Computed,
}

/// An index over several properties, for those who look for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompositeIndex {
    /// Which index.
    pub id: IndexId,
    /// Its paths, and whether each is descending.
    pub paths: Vec<(Vec<PathSegment>, bool)>,
    /// Whether it is a tuple path: one entry for each array element, none for an item without elements.
    pub is_tuple: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct ExplicitPath {
    pub(crate) id: IndexId,
    /// The names on the way.
    pub(crate) names: Vec<String>,
    pub(crate) is_computed: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct ComputedName {
    pub(crate) name: String,
    /// Where its value stands in the policy, if the policy names it.
    pub(crate) position: Option<Position>,
}

/// The time stamp's name.
pub const TS: &str = "_ts";

/// System properties that have no entries: a query that names one looks at the items.
const UNSERVED: [&str; 4] = ["_rid", "_self", "_etag", "_attachments"];

/// Returns whether a member of the item itself belongs to the server.
pub(crate) fn is_system(name: &str) -> bool {
    name.starts_with('_') && (name == TS || UNSERVED.contains(&name))
}

/// An index over several properties: a composite index, or a tuple path.
#[derive(Debug, Clone)]
pub(crate) struct Composite {
    pub(crate) id: IndexId,
    pub(crate) root: RouteNode,
    /// Whether an item without elements in an array on the way still has an entry, undefined there.
    pub(crate) always: bool,
    /// Whether each component is descending.
    pub(crate) descending: Vec<bool>,
    pub(crate) part: Part,
    /// Whether it has entries: not if it needs a system property that has none.
    pub(crate) is_served: bool,
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
    /// Compiles a policy for a container without computed properties.
    pub fn new(policy: &IndexingPolicy) -> Matcher {
        Matcher::with_computed(policy, &[])
    }

    /// Compiles a policy for a container with computed properties of these names.
    pub fn with_computed(policy: &IndexingPolicy, computed: &[&str]) -> Matcher {
        let mut matcher = Matcher {
            nodes: vec![TrieNode::default()],
            root_indexed: false,
            has_entries: false,
            composites: Vec::new(),
            shown: Vec::new(),
            explicit: Vec::new(),
            computed: Vec::new(),
        };
        if policy.mode == IndexingMode::None {
            return matcher;
        }
        matcher.has_entries = true;
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
        matcher.computed = computed.iter().map(|name| matcher.computed_name(name)).collect();
        matcher.place_composites(policy, computed);
        matcher.place_explicit(policy, computed);
        matcher
    }

    /// Finds where the policy names a computed property; a wildcard above it does not count.
    fn computed_name(&self, name: &str) -> ComputedName {
        let child = self.nodes[0].properties.iter().find(|(known, _)| &**known == name);
        let position = child.map(|(_, child)| Position {
            node: *child,
            inherited: self.nodes[*child as usize].subtree == Some(true),
        });
        let position = position.filter(|position| !self.is_barren(*position));
        ComputedName { name: name.to_owned(), position }
    }

    fn place_composites(&mut self, policy: &IndexingPolicy, computed: &[&str]) {
        let tuples = policy.included_paths.iter().filter_map(|path| match path {
            IncludedPath::Tuple(path) => Some(CompositeIndex::of_tuple(path)),
            IncludedPath::Range(_) => None,
        });
        let composites = policy.composites().iter().map(|paths| CompositeIndex::of_paths(paths));
        for (composite, index) in self.composites.iter_mut().zip(tuples.chain(composites)) {
            let names = || index.paths.iter().filter_map(|(path, _)| first_name(path));
            composite.is_served = !names().any(|name| UNSERVED.contains(&name));
            composite.part = if names().any(|name| computed.contains(&name)) {
                Part::Computed
            } else if names().any(|name| name == TS) {
                Part::Stamp
            } else {
                Part::Content
            };
            // The same index twice is one.
            if self.shown.iter().any(|earlier| earlier.id == index.id) {
                composite.is_served = false;
            }
            if composite.is_served {
                self.shown.push(index);
            }
        }
    }

    fn place_explicit(&mut self, policy: &IndexingPolicy, computed: &[&str]) {
        for path in &policy.included_paths {
            let IncludedPath::Range(path) = path else { continue };
            let names: Option<Vec<String>> = path
                .segments()
                .iter()
                .map(|segment| match segment {
                    PathSegment::Property(name) => Some(name.clone()),
                    PathSegment::Elements => None,
                })
                .collect();
            let Some(names) = names.filter(|_| path.end() == PathEnd::Scalar) else { continue };
            let first = names[0].as_str();
            // Every item has these two; the others of the system have no entries.
            if is_system(first) || (first == ID && names.len() == 1) {
                continue;
            }
            let is_computed = computed.contains(&first);
            self.explicit.push(ExplicitPath { id: IndexId::of_path(path.segments()), names, is_computed });
        }
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

    /// Returns whether values at the end of `segments` have entries.
    ///
    /// `id` and `_ts` always have, the other system properties never; a computed property has where the policy
    /// names it, and hides a stored one of its name. The item itself has none.
    pub fn is_path_indexed(&self, segments: &[PathSegment]) -> bool {
        let Some((first, rest)) = segments.split_first() else { return false };
        let start = match first {
            PathSegment::Elements => Some(self.elements(self.root())),
            PathSegment::Property(name) if name == ID && rest.is_empty() => return self.has_entries,
            PathSegment::Property(name) if is_system(name) => {
                return self.has_entries && name == TS && rest.is_empty();
            }
            PathSegment::Property(name) => {
                match self.computed.iter().find(|computed| computed.name == *name) {
                    Some(computed) => computed.position,
                    None => Some(self.property(self.root(), name)),
                }
            }
        };
        let Some(start) = start else { return false };
        let end = rest.iter().fold(start, |position, segment| match segment {
            PathSegment::Property(name) => self.property(position, name),
            PathSegment::Elements => self.elements(position),
        });
        self.is_scalar_indexed(end)
    }

    /// Returns whether every item has an entry at the end of `segments`, one that lacks the path included.
    pub fn has_undefined_entries(&self, segments: &[PathSegment]) -> bool {
        if let [PathSegment::Property(name)] = segments
            && (name == ID || name == TS)
        {
            return self.has_entries;
        }
        let same =
            |path: &&ExplicitPath| {
                path.names.len() == segments.len()
                    && path.names.iter().zip(segments).all(
                        |(name, segment)| matches!(segment, PathSegment::Property(other) if other == name),
                    )
            };
        self.explicit.iter().any(|path| same(&path))
    }

    /// Returns whether a path leads into a computed property.
    pub fn is_computed(&self, segments: &[PathSegment]) -> bool {
        first_name(segments).is_some_and(|name| self.computed.iter().any(|computed| computed.name == name))
    }

    /// Returns the composite indexes and tuple paths that have entries.
    pub fn composites(&self) -> &[CompositeIndex] {
        &self.shown
    }

    /// Returns the names of the computed properties that have entries.
    pub fn indexed_computed(&self) -> impl Iterator<Item = &str> {
        let in_composite = |name: &str| {
            let mut paths = self.shown.iter().flat_map(|index| &index.paths);
            paths.any(|(path, _)| first_name(path) == Some(name))
        };
        let computed = self.computed.iter();
        computed
            .filter(move |computed| computed.position.is_some() || in_composite(&computed.name))
            .map(|computed| computed.name.as_str())
    }

    /// Returns whether items have entries that depend on more than the stored item.
    pub fn has_part(&self, part: Part) -> bool {
        match part {
            Part::Content | Part::Stamp => self.has_entries,
            Part::Computed => self.indexed_computed().next().is_some(),
        }
    }

    /// Returns whether items have entries in composite indexes.
    pub fn has_composites(&self) -> bool {
        !self.composites.is_empty()
    }

    /// Returns whether there is an index at all.
    pub fn has_entries(&self) -> bool {
        self.has_entries
    }

    pub(crate) fn routes(&self) -> &[Composite] {
        &self.composites
    }

    pub(crate) fn explicit(&self) -> &[ExplicitPath] {
        &self.explicit
    }

    pub(crate) fn computed(&self) -> &[ComputedName] {
        &self.computed
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
        let descending = paths.iter().map(|path| path.order == SortOrder::Descending).collect();
        Composite::new(IndexId::of_composite(paths), root, true, descending)
    }

    fn of_tuple(path: &TuplePath) -> Composite {
        let mut root = RouteNode::default();
        for (number, property) in (0..).zip(path.properties()) {
            root.add(&[path.prefix(), property].concat(), number);
        }
        Composite::new(IndexId::of_tuple(path), root, false, vec![false; path.properties().len()])
    }

    fn new(id: IndexId, root: RouteNode, always: bool, descending: Vec<bool>) -> Composite {
        Composite { id, root, always, descending, part: Part::Content, is_served: true }
    }
}

impl CompositeIndex {
    fn of_paths(paths: &[CompositePath]) -> CompositeIndex {
        let path =
            |path: &CompositePath| (path.path.segments().to_vec(), path.order == SortOrder::Descending);
        CompositeIndex {
            id: IndexId::of_composite(paths),
            paths: paths.iter().map(path).collect(),
            is_tuple: false,
        }
    }

    fn of_tuple(tuple: &TuplePath) -> CompositeIndex {
        let path = |property: &Vec<PathSegment>| ([tuple.prefix(), property].concat(), false);
        CompositeIndex {
            id: IndexId::of_tuple(tuple),
            paths: tuple.properties().iter().map(path).collect(),
            is_tuple: true,
        }
    }
}

/// The name under which every item is found.
pub(crate) const ID: &str = "id";

fn first_name(path: &[PathSegment]) -> Option<&str> {
    match path.first() {
        Some(PathSegment::Property(name)) => Some(name),
        _ => None,
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
