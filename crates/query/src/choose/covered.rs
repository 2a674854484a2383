//! Aggregates whose values stand in the index entries that the filter leads to, so that no item is loaded for them.
//!
//! Either they ask for nothing but the value that the filter speaks of, which its index has; or an index of several
//! properties begins with that value and has the others behind it. What an entry does not hold, because it is long or no
//! scalar, is read from its item.
//!
//! Only where every entry is of an item that is asked about, which a part of a partition cannot say.

use armilla_functions::Aggregate;
use armilla_index::paths::PathSegment;

use super::composite::texts;
use super::condition::{Condition, TermCondition};
use super::conjuncts::Conjuncts;
use super::sets::Indexes;
use super::target::Identity;
use super::terms::Interval;
use crate::bound::Grouping;
use crate::expr::{Expr, PathStep};
use crate::logical::LogicalPlan;
use crate::physical::{Column, Covered, IndexRange};
use crate::source::CompositeIndex;

/// Returns the range whose entries hold what is asked for, instead of one whose entries lead to all items of the result
/// and to no others. `by_number` says whether these would come in the order of insertion.
pub(super) fn instead_of(
    range: &IndexRange,
    by_number: bool,
    plan: &LogicalPlan,
    conjuncts: &Conjuncts,
    indexes: &Indexes<'_>,
) -> Option<Covered> {
    if range.repeats || range.term_filter.is_some() || !plan.joins.is_empty() || !indexes.source.is_whole() {
        return None;
    }
    let asked = asked_for(plan.grouping.as_ref()?)?;
    let [piece] = conjuncts.pieces.as_slice() else { return None };
    let Condition::Term(term) = &piece.condition else { return None };
    let identity = term.target.identity.as_ref().filter(|identity| identity.slot() == 0)?;
    if term.target.is_multiple || range.paths.len() != 1 {
        return None;
    }
    if asked.iter().all(|steps| *steps == identity.steps()) {
        let columns = vec![Column { steps: identity.steps().to_vec(), descending: false }];
        // Entries of one value are in that order already.
        let by_number = by_number && !(range.is_equality && range.ranges.len() == 1);
        return Some(Covered { range: range.clone(), columns, by_number });
    }
    let covers = |composite: &&CompositeIndex| covers(composite, term, &asked);
    let composite = indexes.composites.iter().find(covers)?;
    let range = of_composite(composite, term, range);
    Some(Covered { range, columns: columns(composite, identity), by_number })
}

/// Returns the paths below the item that aggregates are made of; nothing where they take more than that, or depend on the
/// order of rows.
fn asked_for(grouping: &Grouping) -> Option<Vec<&[PathStep]>> {
    let depends_on_order =
        |aggregate: &Aggregate| matches!(aggregate, Aggregate::MakeList | Aggregate::MakeSet);
    if grouping.aggregates.iter().any(|(aggregate, _)| depends_on_order(aggregate)) {
        return None;
    }
    let mut paths = Vec::new();
    let exprs = grouping.keys.iter().chain(grouping.aggregates.iter().map(|(_, argument)| argument));
    exprs.into_iter().all(|expr| add_paths(expr, &mut paths)).then_some(paths)
}

/// Adds the paths of an expression. Returns whether it asks for nothing else of the item.
fn add_paths<'e>(expr: &'e Expr, paths: &mut Vec<&'e [PathStep]>) -> bool {
    match expr {
        Expr::Undefined | Expr::Constant(_) => true,
        Expr::Path { slot: 0, steps } => {
            paths.push(steps);
            steps.iter().all(|step| matches!(step, PathStep::Name(_)))
        }
        Expr::Unary(_, operand) | Expr::Not(operand) => add_paths(operand, paths),
        Expr::Compare(_, left, right)
        | Expr::Arithmetic(_, left, right)
        | Expr::Concat(left, right)
        | Expr::Coalesce(left, right) => add_paths(left, paths) && add_paths(right, paths),
        Expr::Conditional(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().all(|part| add_paths(part, paths))
        }
        Expr::And(parts) | Expr::Or(parts) => parts.iter().all(|part| add_paths(part, paths)),
        Expr::Call(_, arguments) => arguments.iter().all(|argument| add_paths(argument, paths)),
        // Rarely aggregated, and not worth telling what they may ask for.
        _ => false,
    }
}

/// Returns whether an index begins with the value of a condition, and has all that is asked for behind it.
fn covers(composite: &CompositeIndex, term: &TermCondition, asked: &[&[PathStep]]) -> bool {
    let has = |steps: &[PathStep]| composite.paths.iter().any(|(path, _)| is_path(path, steps));
    let is_plain =
        !composite.is_tuple && composite.paths.iter().all(|(path, _)| !path.contains(&PathSegment::Elements));
    // What is undefined there may be an array or an object, and items of which nothing is defined have no entry.
    let is_told = !term.set.has_undefined() && !term.set.has_structures();
    let begins = composite.paths.first().is_some_and(|(path, _)| *path == term.target.segments);
    is_plain && is_told && begins && asked.iter().all(|steps| has(steps))
}

fn is_path(path: &[PathSegment], steps: &[PathStep]) -> bool {
    let is_same = |(segment, step): (&PathSegment, &PathStep)| match (segment, step) {
        (PathSegment::Property(property), PathStep::Name(name)) => property == name,
        _ => false,
    };
    path.len() == steps.len() && path.iter().zip(steps).all(is_same)
}

/// Returns the part of a composite index that a condition on its first property is.
fn of_composite(composite: &CompositeIndex, term: &TermCondition, range: &IndexRange) -> IndexRange {
    let descending = composite.paths[0].1;
    let mut intervals: Vec<Interval> =
        term.set.intervals().iter().map(|interval| interval.component(&[], descending)).collect();
    if descending {
        intervals.reverse();
    }
    IndexRange {
        index: composite.id,
        paths: texts(composite),
        ranges: intervals.iter().map(|interval| interval.key_range(composite.id)).collect(),
        is_equality: false,
        begun: Vec::new(),
        ..range.clone()
    }
}

fn columns(composite: &CompositeIndex, first: &Identity) -> Vec<Column> {
    let column = |(path, descending): &(Vec<PathSegment>, bool)| {
        // One with elements covers nothing.
        let name = |segment: &PathSegment| match segment {
            PathSegment::Property(name) => Some(PathStep::Name(name.clone())),
            PathSegment::Elements => None,
        };
        Column { steps: path.iter().filter_map(name).collect(), descending: *descending }
    };
    let columns: Vec<Column> = composite.paths.iter().map(column).collect();
    debug_assert_eq!(columns[0].steps, first.steps(), "it begins with what the filter speaks of");
    columns
}
