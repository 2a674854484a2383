//! How items come in the order that is asked for: from an index that has it, or by sorting.
//!
//! Whether an order is allowed depends on the policy alone, so that a query is refused on every partition or on none:
//! one key needs the index of its path, several need a composite index of exactly these. Whether that index is then
//! walked depends on how much of it would have to be.

use armilla_index::KeyRange;
use armilla_index::paths::PathSegment;

use super::composite::{find_order, order_range, texts};
use super::condition::Condition;
use super::conjuncts::Conjuncts;
use super::sets::Indexes;
use super::target::{Scope, Target, single_text};
use super::terms::{Interval, TermSet};
use crate::error::{Error, Result};
use crate::expr::Expr;
use crate::logical::LogicalPlan;
use crate::physical::{Served, Walk};
use crate::source::{Direction, Source, SystemProperty};

/// What a query is told whose order has one key that is not indexed.
const EXCLUDED: &str = "The index path corresponding to the specified order-by item is excluded.";

/// What a query is told whose order has several keys and no index of its own.
const NO_COMPOSITE: &str =
    "The order by query does not have a corresponding composite index that it can be served from.";

/// The order of a plan's items.
pub(super) struct Order {
    keys: Vec<(Target, bool)>,
    /// Whether an index can have it.
    is_indexed: bool,
}

/// A walk through an index, and what it would mean.
pub(super) struct PlannedWalk {
    pub(super) walk: Walk,
    /// The part of the index that it goes through; nothing if there is nothing in it.
    range: Option<Interval>,
    /// How many items come that are not in the index.
    missing_count: u64,
    /// The piece of the conditions that it guarantees.
    pub(super) guaranteed: Option<usize>,
    pub(super) served: Served,
}

impl PlannedWalk {
    /// Returns how many items it would meet, about. That is not known without reading some of the index.
    pub(super) fn entries(&self, indexes: &mut Indexes<'_>) -> Result<u64> {
        let (id, is_composite) = (self.walk.index, self.served.composite);
        let in_index = match &self.range {
            Some(_) if is_composite && !self.walk.is_partial => indexes.estimator.size(id)?,
            Some(range) => indexes.estimator.entries(id, std::slice::from_ref(range), is_composite)?,
            None => 0,
        };
        Ok(self.missing_count + in_index)
    }
}

/// What an order's index says.
pub(super) enum Walkable {
    /// No index can be walked.
    No,
    /// The conditions leave nothing to walk through.
    Nothing,
    /// This one.
    Yes(Box<PlannedWalk>),
}

impl Order {
    /// Returns the order of a plan's items, if they must have one; refuses those that the policy does not allow.
    pub(super) fn of(plan: &LogicalPlan, source: &dyn Source) -> Result<Option<Order>> {
        // Groups are ordered once they are complete.
        if plan.order.is_empty() || plan.grouping.is_some() {
            return Ok(None);
        }
        let scope = Scope::of_item();
        let targets =
            plan.order.iter().map(|key| scope.target(&key.expr).map(|target| (target, key.descending)));
        let keys: Option<Vec<(Target, bool)>> = targets.collect();
        let Some(keys) = keys else {
            return match plan.order.as_slice() {
                [only] if is_allowed(&only.expr, source) => {
                    Ok(Some(Order { keys: Vec::new(), is_indexed: false }))
                }
                [_] => Err(Error::refused(EXCLUDED)),
                _ => Err(Error::refused(NO_COMPOSITE)),
            };
        };
        let is_indexed = match keys.as_slice() {
            [(target, _)] => {
                if !source.is_path_in_policy(&target.segments) {
                    return Err(Error::refused(EXCLUDED));
                }
                // Which element of an array a value is, its index does not tell.
                !target.is_multiple
            }
            keys => {
                if find_order(&source.composites_in_policy(), keys).is_none() {
                    return Err(Error::refused(NO_COMPOSITE));
                }
                true
            }
        };
        Ok(Some(Order { keys, is_indexed }))
    }

    /// Returns the walk through the order's index.
    pub(super) fn walk(&self, conjuncts: &Conjuncts, indexes: &mut Indexes<'_>) -> Result<Walkable> {
        if !self.is_indexed {
            return Ok(Walkable::No);
        }
        match self.keys.as_slice() {
            [(target, descending)] => single(target, *descending, conjuncts, indexes),
            keys => composite(keys, conjuncts, indexes),
        }
    }
}

/// Returns whether items may be sorted by a property that has no index.
fn is_allowed(expr: &Expr, source: &dyn Source) -> bool {
    match expr {
        // The policy excludes it unless it is asked not to.
        Expr::System(SystemProperty::Etag) => {
            source.is_path_in_policy(&[PathSegment::Property(SystemProperty::Etag.name().to_owned())])
        }
        _ => true,
    }
}

fn single(
    target: &Target,
    descending: bool,
    conjuncts: &Conjuncts,
    indexes: &mut Indexes<'_>,
) -> Result<Walkable> {
    let facts = indexes.facts(&target.segments);
    let (Some(identity), true) = (&target.identity, facts.is_usable) else { return Ok(Walkable::No) };
    let values = conjuncts.whole().values_of(identity);
    if values.is_empty() {
        return Ok(Walkable::Nothing);
    }
    // How many lack the value matters only if they belong to the result.
    let missing_count = match values.has_undefined() && !facts.has_undefined {
        true => indexes.item_count.saturating_sub(indexes.estimator.size(facts.index)?),
        false => 0,
    };
    let adds_missing = missing_count > 0;
    let in_index =
        if facts.has_undefined { values.clone() } else { values.intersection(&TermSet::defined()) };
    let range = in_index.hull();
    let paths = vec![single_text(&target.segments)];
    let piece = conjuncts.piece_of(identity);
    // One range of values, all of which may come, is what the condition says.
    let is_whole_condition = in_index.intervals().len() <= 1;
    let guaranteed = piece.filter(|(_, term)| is_whole_condition && term.is_exact && term.filter.is_none());
    Ok(Walkable::Yes(Box::new(PlannedWalk {
        served: Served { paths: paths.clone(), composite: false, precise: true },
        walk: Walk {
            index: facts.index,
            paths,
            direction: if descending { Direction::Reverse } else { Direction::Forward },
            range: range.as_ref().map_or_else(KeyRange::empty, |range| range.key_range(facts.index)),
            adds_missing,
            is_partial: !in_index.has_all_values(),
            entries_per_item: 1,
            passing: None,
        },
        range,
        missing_count,
        guaranteed: guaranteed.map(|(number, _)| number),
    })))
}

fn composite(keys: &[(Target, bool)], conjuncts: &Conjuncts, indexes: &mut Indexes<'_>) -> Result<Walkable> {
    // The policy may ask for an index that is not complete yet.
    let Some(index) = find_order(&indexes.composites, keys) else { return Ok(Walkable::No) };
    let descending: Vec<bool> = index.composite.paths.iter().map(|(_, descending)| *descending).collect();
    let Some(range) = order_range(&conjuncts.whole(), keys, &descending) else {
        return Ok(Walkable::Nothing);
    };
    let all: Option<Interval> = order_range(&Condition::Always, keys, &descending);
    let is_partial = all.is_none_or(|all| all.low != range.low || all.high != range.high);
    let id = index.composite.id;
    let paths = texts(&index.composite);
    Ok(Walkable::Yes(Box::new(PlannedWalk {
        served: Served { paths: paths.clone(), composite: true, precise: true },
        walk: Walk {
            index: id,
            paths,
            direction: if index.is_reversed { Direction::Reverse } else { Direction::Forward },
            range: range.key_range(id),
            adds_missing: false,
            is_partial,
            entries_per_item: 1,
            passing: None,
        },
        range: Some(range),
        missing_count: 0,
        guaranteed: None,
    })))
}
