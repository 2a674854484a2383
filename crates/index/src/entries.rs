//! The entries of an item: one for every value at an indexed path, and those in composite indexes.
//!
//! Every value has one, scalar or not, elements of arrays under `[]`; the item itself has none. An item that lacks
//! a path which the policy names with `/?`, outside of arrays, has an entry that says so. A composite index has one
//! entry for an item, with undefined where a property is missing or no scalar; with arrays on the way, one for each
//! combination of their elements. A tuple path has one for each element.
//!
//! Arrays and objects are fingerprinted from the inside out while the item is walked, each value once.
//!
//! Invariants:
//! * entries depend on the policy and the item alone, so that those of an old version can be found again;
//! * an index either has all its entries of an item or is named as incomplete.
//!
//! Recursion is bounded by the depth of a stored item, which `armilla_value` bounds.

use armilla_value::{Kind, Node, Value};

use crate::id::IndexId;
use crate::limits::{COMPOSITE_ENTRIES_MAX, COMPOSITE_PROPERTIES_MAX};
use crate::matcher::{Composite, ID, Matcher, Part, Position, RouteNode, TS, is_system};
use crate::paths::PathSegment;
use crate::range::invert;
use crate::term::{self, ArrayHash, ObjectHash};
use crate::terms::LeafPath;
use crate::tree::Tree;

#[cfg(test)]
mod tests;

/// Values of computed properties, by name.
pub type Computed = [(String, Option<Value>)];

/// Calls `visit` with every entry of an item, in no particular order, some perhaps twice: the index, and the term.
///
/// Returns the composite indexes in which the item has more entries than are kept
/// ([`limits::COMPOSITE_ENTRIES_MAX`](crate::limits::COMPOSITE_ENTRIES_MAX)); of those it visits none.
#[must_use]
pub fn visit_entries(
    matcher: &Matcher,
    root: Node<'_>,
    ts: u32,
    computed: &Computed,
    mut visit: impl FnMut(IndexId, &[u8]),
) -> Vec<IndexId> {
    let mut incomplete = Vec::new();
    for part in [Part::Content, Part::Stamp, Part::Computed] {
        incomplete.extend(visit_part(matcher, part, root, ts, computed, &mut visit));
    }
    incomplete
}

/// The same for the entries that depend on the item's content alone, on its time stamp, or on computed properties.
#[must_use]
pub fn visit_part(
    matcher: &Matcher,
    part: Part,
    root: Node<'_>,
    ts: u32,
    computed: &Computed,
    visit: impl FnMut(IndexId, &[u8]),
) -> Vec<IndexId> {
    if !matcher.has_part(part) {
        return Vec::new();
    }
    let scratch = Vec::with_capacity(if part == Part::Content { SCRATCH_BYTES } else { STAMP_BYTES });
    let mut walker = Walker { matcher, scratch, visit };
    match part {
        Part::Content => walker.content(root),
        Part::Stamp => {
            term::push_value(&Value::Int64(i64::from(ts)), &mut walker.scratch);
            walker.emit(IndexId::of_property(TS), 0);
        }
        Part::Computed => walker.computed(computed),
    }
    let item = Item { root, ts, computed };
    let mut incomplete = Vec::new();
    for composite in matcher.routes().iter().filter(|composite| composite.is_served && composite.part == part)
    {
        if !walker.composite(composite, &item) {
            incomplete.push(composite.id);
        }
    }
    incomplete
}

/// Calls `visit` with the path of every value of an item that has an entry, some perhaps twice.
pub fn visit_paths(
    matcher: &Matcher,
    root: Node<'_>,
    computed: &Computed,
    mut visit: impl FnMut(&LeafPath<'_>),
) {
    let start = LeafPath::ROOT;
    root.for_each_member(|name, member| {
        if is_system(name) || matcher.computed().iter().any(|computed| computed.name == name) {
            return;
        }
        let position = matcher.property(matcher.root(), name);
        paths_below(matcher, position, &LeafPath::property(&start, name), member, &mut visit);
    });
    for (name, position, value) in indexed_computed(matcher, computed) {
        if let Some(value) = value {
            paths_below(matcher, position, &LeafPath::property(&start, name), value, &mut visit);
        }
    }
}

fn paths_below<T: Tree>(
    matcher: &Matcher,
    position: Position,
    path: &LeafPath<'_>,
    tree: T,
    visit: &mut impl FnMut(&LeafPath<'_>),
) {
    if matcher.is_barren(position) {
        return;
    }
    if matcher.is_scalar_indexed(position) {
        visit(path);
    }
    match tree.kind() {
        Kind::Object => tree.for_each_member(|name, member| {
            let below = matcher.property(position, name);
            paths_below(matcher, below, &LeafPath::property(path, name), member, visit);
        }),
        Kind::Array => {
            let (below, path) = (matcher.elements(position), LeafPath::elements(path));
            tree.for_each_element(|element| paths_below(matcher, below, &path, element, visit));
        }
        _ => {}
    }
}

/// Room for the terms that are being made; most items do not outgrow it.
const SCRATCH_BYTES: usize = 512;

/// Room for the term of a time stamp.
const STAMP_BYTES: usize = 16;

/// Returns the computed properties that the policy names, with their places in it and their values.
fn indexed_computed<'a>(
    matcher: &'a Matcher,
    computed: &'a Computed,
) -> impl Iterator<Item = (&'a str, Position, Option<&'a Value>)> {
    matcher.computed().iter().filter_map(|property| {
        Some((property.name.as_str(), property.position?, computed_value(computed, &property.name)))
    })
}

fn computed_value<'a>(computed: &'a Computed, name: &str) -> Option<&'a Value> {
    computed.iter().find(|(own, _)| own == name).and_then(|(_, value)| value.as_ref())
}

/// What composite indexes take their values from.
struct Item<'a> {
    root: Node<'a>,
    ts: u32,
    computed: &'a Computed,
}

struct Walker<'m, V> {
    matcher: &'m Matcher,
    /// Used as a stack: a function that appends something removes it.
    scratch: Vec<u8>,
    visit: V,
}

impl<V: FnMut(IndexId, &[u8])> Walker<'_, V> {
    fn content(&mut self, root: Node<'_>) {
        let matcher = self.matcher;
        let start = LeafPath::ROOT;
        let position = matcher.root();
        if let Some(properties) = matcher.only_properties(position) {
            // Asking for the few names of the policy beats looking at every member of the item.
            for (name, below) in properties {
                if let Some(member) = root.get(name) {
                    self.top_level(name, below, &start, member);
                }
            }
        } else {
            root.for_each_member(|name, member| {
                self.top_level(name, matcher.property(position, name), &start, member);
            });
        }
        if !matcher.is_scalar_indexed(matcher.property(position, ID))
            && let Some(id) = root.get(ID)
        {
            term::push_node(id, &mut self.scratch);
            self.emit(IndexId::of_property(ID), 0);
        }
        for path in matcher.explicit().iter().filter(|path| !path.is_computed) {
            if root.get_path(&path.names).is_none() {
                self.undefined(path.id);
            }
        }
    }

    fn top_level(&mut self, name: &str, below: Position, start: &LeafPath<'_>, member: Node<'_>) {
        let matcher = self.matcher;
        let hidden = || is_system(name) || matcher.computed().iter().any(|computed| computed.name == name);
        if !matcher.is_barren(below) && !hidden() {
            self.walk(below, &LeafPath::property(start, name), member, false);
        }
    }

    fn computed(&mut self, computed: &Computed) {
        let start = LeafPath::ROOT;
        for (name, position, value) in indexed_computed(self.matcher, computed) {
            if let Some(value) = value {
                self.walk(position, &LeafPath::property(&start, name), value, false);
            }
        }
        for path in self.matcher.explicit().iter().filter(|path| path.is_computed) {
            let value = computed_value(computed, &path.names[0]);
            let below =
                |value| path.names[1..].iter().try_fold(value, |value: &Value, name| value.member(name));
            if value.and_then(below).is_none() {
                self.undefined(path.id);
            }
        }
    }

    fn undefined(&mut self, id: IndexId) {
        term::push_undefined(&mut self.scratch);
        self.emit(id, 0);
    }

    /// Hands out the term that stands behind `start`, and removes it.
    fn emit(&mut self, id: IndexId, start: usize) {
        (self.visit)(id, &self.scratch[start..]);
        self.scratch.truncate(start);
    }

    /// Visits the entries of a value and of all below it. Returns its structural fingerprint if it is wanted.
    fn walk<T: Tree>(&mut self, position: Position, path: &LeafPath<'_>, tree: T, wanted: bool) -> u128 {
        let matcher = self.matcher;
        if matcher.is_barren(position) {
            return if wanted { term::structural(tree, &mut self.scratch) } else { 0 };
        }
        let id = IndexId(path.fingerprint());
        let indexed = matcher.is_scalar_indexed(position);
        let kind = tree.kind();
        if !matches!(kind, Kind::Array | Kind::Object) {
            if !indexed && !wanted {
                return 0;
            }
            let start = self.scratch.len();
            term::push_scalar(tree, &mut self.scratch);
            if indexed {
                (self.visit)(id, &self.scratch[start..]);
            }
            if wanted {
                return term::take_fingerprint(start, &mut self.scratch);
            }
            self.scratch.truncate(start);
            return 0;
        }
        let inner_wanted = indexed || wanted;
        let hash = if kind == Kind::Array {
            self.array(position, path, tree, inner_wanted)
        } else {
            self.object(position, path, tree, inner_wanted)
        };
        if indexed {
            let start = self.scratch.len();
            term::push_structural(kind, hash, &mut self.scratch);
            self.emit(id, start);
        }
        hash
    }

    fn array<T: Tree>(&mut self, position: Position, path: &LeafPath<'_>, tree: T, wanted: bool) -> u128 {
        let (below, path) = (self.matcher.elements(position), LeafPath::elements(path));
        if !wanted {
            tree.for_each_element(|element| {
                self.walk(below, &path, element, false);
            });
            return 0;
        }
        let mut hash = ArrayHash::begin(&mut self.scratch);
        tree.for_each_element(|element| {
            let element = self.walk(below, &path, element, true);
            hash.add(element, &mut self.scratch);
        });
        hash.end(&mut self.scratch)
    }

    fn object<T: Tree>(&mut self, position: Position, path: &LeafPath<'_>, tree: T, wanted: bool) -> u128 {
        let matcher = self.matcher;
        if !wanted {
            if let Some(properties) = matcher.only_properties(position) {
                for (name, below) in properties {
                    if let Some(member) = tree.member(name) {
                        self.walk(below, &LeafPath::property(path, name), member, false);
                    }
                }
                return 0;
            }
            tree.for_each_member(|name, member| {
                self.walk(matcher.property(position, name), &LeafPath::property(path, name), member, false);
            });
            return 0;
        }
        let mut hash = ObjectHash::default();
        tree.for_each_member(|name, member| {
            let below = matcher.property(position, name);
            let member = self.walk(below, &LeafPath::property(path, name), member, true);
            hash.add(name, member, &mut self.scratch);
        });
        hash.end(&mut self.scratch)
    }

    /// Visits the entries in a composite index. Returns whether those were all; if not, there were none.
    fn composite(&mut self, composite: &Composite, item: &Item<'_>) -> bool {
        let mut combinations = Combinations { matcher: self.matcher, composite, values: &mut self.scratch };
        let Some(all) = combinations.of_item(item) else {
            self.scratch.clear();
            return false;
        };
        for combination in &all {
            let start = self.scratch.len();
            for (component, descending) in combination.0.iter().zip(&composite.descending) {
                let from = self.scratch.len();
                match component {
                    Span { length: 0, .. } => term::push_undefined(&mut self.scratch),
                    Span { start, length } => {
                        let start = *start as usize;
                        self.scratch.extend_from_within(start..start + *length as usize);
                    }
                }
                if *descending {
                    invert(&mut self.scratch[from..]);
                }
            }
            self.emit(composite.id, start);
        }
        self.scratch.clear();
        true
    }
}

/// Where the term of a component stands; of length 0 where it is undefined.
#[derive(Clone, Copy, Default)]
struct Span {
    start: u32,
    length: u32,
}

/// One value for each component, as far as it is known.
#[derive(Clone, Copy, Default)]
struct Combination([Span; COMPOSITE_PROPERTIES_MAX]);

/// Makes the combinations of an item's values in one composite index.
struct Combinations<'a> {
    matcher: &'a Matcher,
    composite: &'a Composite,
    values: &'a mut Vec<u8>,
}

impl Combinations<'_> {
    /// Returns the combinations; nothing where there are too many.
    fn of_item(&mut self, item: &Item<'_>) -> Option<Vec<Combination>> {
        let mut all = vec![Combination::default()];
        let ts = Value::Int64(i64::from(item.ts));
        let is_computed = |name: &str| self.matcher.computed().iter().any(|computed| computed.name == name);
        for (segment, route) in &self.composite.root.children {
            let below = match segment {
                // An item is an object: it has no elements.
                PathSegment::Elements => self.elements::<Node<'_>>(route, None),
                PathSegment::Property(name) if name == TS => self.at(route, Some(&ts)),
                PathSegment::Property(name) if is_computed(name) => {
                    self.at(route, computed_value(item.computed, name))
                }
                PathSegment::Property(name) => self.at(route, item.root.get(name)),
            };
            all = product(&all, &below?)?;
        }
        Some(all)
    }

    /// Returns the combinations of what ends at or below `route`, which stands at `tree`.
    fn at<T: Tree>(&mut self, route: &RouteNode, tree: Option<T>) -> Option<Vec<Combination>> {
        let mut own = Combination::default();
        if let Some(scalar) = tree.filter(|tree| tree.is_scalar() && !route.ends.is_empty()) {
            let start = self.values.len();
            term::push_scalar(scalar, self.values);
            let span = Span { start: start as u32, length: (self.values.len() - start) as u32 };
            for component in &route.ends {
                own.0[*component as usize] = span;
            }
        }
        let mut all = vec![own];
        for (segment, child) in &route.children {
            let below = match segment {
                PathSegment::Property(name) => self.at(child, tree.and_then(|tree| tree.member(name))),
                PathSegment::Elements => self.elements(child, tree),
            };
            all = product(&all, &below?)?;
        }
        Some(all)
    }

    fn elements<T: Tree>(&mut self, route: &RouteNode, tree: Option<T>) -> Option<Vec<Combination>> {
        let mut all = Some(Vec::new());
        if let Some(array) = tree.filter(|tree| tree.kind() == Kind::Array) {
            array.for_each_element(|element| {
                let Some(known) = &mut all else { return };
                match self.at(route, Some(element)) {
                    Some(below) if known.len() + below.len() <= COMPOSITE_ENTRIES_MAX => known.extend(below),
                    _ => all = None,
                }
            });
        }
        match all {
            Some(all) if all.is_empty() && self.composite.always => self.at::<T>(route, None),
            all => all,
        }
    }
}

/// Returns every pair put together; nothing where there are too many.
fn product(left: &[Combination], right: &[Combination]) -> Option<Vec<Combination>> {
    if left.len() * right.len() > COMPOSITE_ENTRIES_MAX {
        return None;
    }
    let pairs = left.iter().flat_map(|one| right.iter().map(move |other| (one, other)));
    Some(
        pairs
            .map(|(one, other)| {
                let mut both = *one;
                for (own, other) in both.0.iter_mut().zip(&other.0) {
                    if other.length > 0 {
                        *own = *other;
                    }
                }
                both
            })
            .collect(),
    )
}
