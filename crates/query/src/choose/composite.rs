//! Indexes over several properties, for filters and for orders.
//!
//! A filter uses one if it says something of every property: equality of all but the last, whatever of the last. An
//! order uses one that has the same properties in the same sequence, in its own directions or all turned round.
//!
//! Components hold scalars: what is missing, an array or an object is undefined there. So undefined in an index of
//! several properties says less than in that of one, and nothing that touches on it is exact.

use armilla_index::TermRange;
use armilla_index::paths::PathSegment;
use armilla_value::key::class;

use super::condition::{Condition, TermCondition};
use super::draft::{Draft, SetDraft};
use super::sets::{Candidate, Indexes};
use super::target::{Identity, Target, composite_text};
use super::terms::{Interval, TermSet, behind, inverted};
use crate::error::Result;
use crate::source::CompositeIndex;

/// Most ranges of one composite index that a filter is turned into; beyond, other indexes serve it.
const COMPOSITE_RANGES_MAX: usize = 128;

impl Indexes<'_> {
    /// Returns the composite indexes that serve several of some conditions at once.
    pub(super) fn composite_candidates(&mut self, conditions: &[&Condition]) -> Result<Vec<Candidate>> {
        let mut candidates = Vec::new();
        if conditions.len() < 2 || self.composites.is_empty() {
            return Ok(candidates);
        }
        let composites = std::mem::take(&mut self.composites);
        for composite in &composites {
            if let Some((draft, serves)) = draft_of(composite, conditions) {
                let entries = self.estimator.entries(draft.index, &draft.intervals, true)?;
                let set = SetDraft::Range(Draft { entries: Some(entries), ..draft });
                candidates.push(Candidate { set, serves });
            }
        }
        self.composites = composites;
        Ok(candidates)
    }
}

/// Returns the part of a composite index that conditions ask for, and which conditions those are, each with whether it
/// is guaranteed.
fn draft_of(composite: &CompositeIndex, conditions: &[&Condition]) -> Option<(Draft, Vec<(usize, bool)>)> {
    let has_elements = |(path, _): &(Vec<PathSegment>, bool)| path.contains(&PathSegment::Elements);
    let is_multiple = composite.paths.iter().any(has_elements);
    let mut serves = Vec::with_capacity(composite.paths.len());
    let mut prefixes = vec![Vec::new()];
    let mut intervals = Vec::new();
    let mut slot = None;
    for (position, (path, descending)) in composite.paths.iter().enumerate() {
        let is_last = position + 1 == composite.paths.len();
        let fits = |term: &TermCondition| {
            // What must be true of one element is said of one source, and not of this element and that.
            let is_of_source = term.target.identity.as_ref().is_some_and(|identity| {
                !identity.is_in_element() && slot.is_none_or(|slot| slot == identity.slot())
            });
            is_of_source && term.target.segments == *path && term.filter.is_none() && !term.is_implied
        };
        let (number, term) =
            conditions.iter().enumerate().find_map(|(number, condition)| match condition {
                Condition::Term(term) if fits(term) => Some((number, term)),
                _ => None,
            })?;
        slot = term.target.identity.as_ref().map(Identity::slot);
        let is_told = !is_multiple && !term.set.has_undefined() && !term.set.has_structures();
        serves.push((number, term.is_exact && is_told));
        let set = component_set(&term.set);
        if prefixes.len() * set.intervals().len() > COMPOSITE_RANGES_MAX || (!is_last && !set.is_points()) {
            return None;
        }
        let mut longer = Vec::new();
        for prefix in &prefixes {
            for interval in set.intervals() {
                if interval.is_point {
                    longer.push(extended(prefix, &interval.low, *descending));
                } else {
                    intervals.push(interval.component(prefix, *descending));
                }
            }
        }
        prefixes = longer;
    }
    intervals.extend(prefixes.into_iter().map(point));
    let draft = Draft {
        index: composite.id,
        paths: texts(composite),
        intervals: super::terms::merged(intervals),
        filter: None,
        is_exact: serves.iter().all(|(_, is_exact)| *is_exact),
        is_multiple,
        entries: None,
    };
    Some((draft, serves))
}

/// Returns the paths of a composite index as metrics write them.
pub(super) fn texts(composite: &CompositeIndex) -> Vec<String> {
    composite.paths.iter().map(|(path, descending)| composite_text(path, *descending)).collect()
}

fn extended(prefix: &[u8], term: &[u8], descending: bool) -> Vec<u8> {
    if descending { [prefix, &inverted(term)].concat() } else { [prefix, term].concat() }
}

fn point(term: Vec<u8>) -> Interval {
    Interval { high: behind(&term), low: term, is_point: true }
}

/// Returns the terms that a component has for values of a set.
fn component_set(set: &TermSet) -> TermSet {
    if !set.has_structures() {
        return set.clone();
    }
    let structures = TermRange::Classes { first: class::ARRAY, last: class::OBJECT };
    TermSet::union([set.minus(&TermSet::of(structures).0), TermSet::undefined()])
}

/// A composite index that an order can be read from.
pub(super) struct OrderIndex {
    /// The index.
    pub(super) composite: CompositeIndex,
    /// Whether it is read from its end.
    pub(super) is_reversed: bool,
}

/// Finds the index of an order.
pub(super) fn find_order(composites: &[CompositeIndex], keys: &[(Target, bool)]) -> Option<OrderIndex> {
    composites.iter().find_map(|composite| {
        if composite.is_tuple || composite.paths.len() != keys.len() {
            return None;
        }
        let mut pairs = composite.paths.iter().zip(keys);
        if !pairs.all(|((path, _), (target, _))| !target.is_multiple && *path == target.segments) {
            return None;
        }
        let turned = |((_, index), (_, key)): (&(Vec<PathSegment>, bool), &(Target, bool))| index != key;
        let turned_count = composite.paths.iter().zip(keys).filter(|pair| turned(*pair)).count();
        let is_reversed = turned_count == keys.len();
        (is_reversed || turned_count == 0).then(|| OrderIndex { composite: composite.clone(), is_reversed })
    })
}

/// Returns the one range of a composite index that holds every item for which the condition may hold; nothing where
/// there is none.
pub(super) fn order_range(
    condition: &Condition,
    keys: &[(Target, bool)],
    descending: &[bool],
) -> Option<Interval> {
    let identities: Vec<&Identity> = keys.iter().filter_map(|(target, _)| target.identity.as_ref()).collect();
    hull(condition, &identities, descending)
}

fn hull(condition: &Condition, identities: &[&Identity], descending: &[bool]) -> Option<Interval> {
    match condition {
        // The ways to go on behind a position are such a list: from here, or from the next value of the first key.
        Condition::Any(parts) => {
            let hulls = parts.iter().filter_map(|part| hull(part, identities, descending));
            hulls.reduce(|one, other| Interval {
                low: one.low.min(other.low),
                high: one.high.max(other.high),
                is_point: false,
            })
        }
        Condition::All(parts) => {
            let whole = of_components(condition, identities, descending)?;
            let lists = parts.iter().filter(|part| matches!(part, Condition::Any(_)));
            lists.into_iter().try_fold(whole, |range, part| {
                let part = hull(part, identities, descending)?;
                let (low, high) = (range.low.max(part.low), range.high.min(part.high));
                (low < high).then_some(Interval { low, high, is_point: false })
            })
        }
        other => of_components(other, identities, descending),
    }
}

/// Returns the range from what is known of each component by itself: as long as it is one value, and one further.
fn of_components(condition: &Condition, identities: &[&Identity], descending: &[bool]) -> Option<Interval> {
    let mut prefix = Vec::new();
    for (identity, descending) in identities.iter().zip(descending) {
        let set = component_set(&condition.values_of(identity));
        let range = set.hull()?;
        if !range.is_point {
            return Some(range.component(&prefix, *descending));
        }
        prefix = extended(&prefix, &range.low, *descending);
    }
    Some(point(prefix))
}
