//! Answers that need no item: the index has them.
//!
//! Only where they are exact: every condition is one that an index guarantees, and all entries of the index are those
//! of the items that are asked about, which a part of a partition cannot say.

use armilla_functions::Aggregate;
use armilla_index::{TermRange, split_entry, term};
use armilla_value::Value;
use armilla_value::key::class;

use super::condition::Condition;
use super::conjuncts::Conjuncts;
use super::draft::{Draft, SetDraft};
use super::sets::{Indexes, Want};
use super::target::{Scope, Target, single_text};
use super::terms::TermSet;
use crate::bound::Projection;
use crate::error::Result;
use crate::expr::Expr;
use crate::limits::COLLECTED_NUMBERS_MAX;
use crate::logical::LogicalPlan;
use crate::physical::{IndexOnly, IndexSet, Served};
use crate::source::Direction;

/// Returns the answer that needs no item, if there is one, with the indexes that give it beside those of the filter.
pub(super) fn answer(
    plan: &LogicalPlan,
    conjuncts: &Conjuncts,
    indexes: &mut Indexes<'_>,
) -> Result<Option<(IndexOnly, Vec<Served>)>> {
    if !plan.joins.is_empty() || !conjuncts.is_all_complete() {
        return Ok(None);
    }
    let scope = Scope::of_item();
    if let Some(grouping) = &plan.grouping {
        let ([], [(aggregate, argument)]) = (grouping.keys.as_slice(), grouping.aggregates.as_slice()) else {
            return Ok(None);
        };
        return match (aggregate, argument, scope.target(argument)) {
            (Aggregate::Count, Expr::Constant(_), _) => count(conjuncts, indexes),
            (Aggregate::Count, _, Some(target)) => count_values(target, conjuncts, indexes),
            (Aggregate::Min, _, Some(target)) => extreme(&target, false, conjuncts, indexes),
            (Aggregate::Max, _, Some(target)) => extreme(&target, true, conjuncts, indexes),
            _ => Ok(None),
        };
    }
    if !plan.distinct {
        return Ok(None);
    }
    let (value, shows_missing) = match &plan.projection {
        Projection::Value(value) => (value, false),
        Projection::Fields(fields) => match fields.as_slice() {
            [(_, value)] => (value, true),
            _ => return Ok(None),
        },
    };
    match scope.target(value) {
        Some(target) => distinct(&target, shows_missing, conjuncts, indexes),
        None => Ok(None),
    }
}

type Answer = Result<Option<(IndexOnly, Vec<Served>)>>;

fn count(conjuncts: &Conjuncts, indexes: &mut Indexes<'_>) -> Answer {
    if conjuncts.pieces.is_empty() {
        let is_exact = indexes.source.is_counted();
        return Ok(is_exact.then(|| (IndexOnly::CountAll, Vec::new())));
    }
    count_set(&conjuncts.conditions(), indexes)
}

fn count_set(conditions: &[&Condition], indexes: &mut Indexes<'_>) -> Answer {
    if !indexes.source.is_whole() {
        return Ok(None);
    }
    if let [Condition::Term(term)] = conditions
        && let Some(draft) = indexes.uncounted(term).filter(|draft| draft.is_exact && !draft.repeats())
    {
        // Nothing else could be better, so there is no need to know beforehand how many there are.
        let served = draft.served();
        return Ok(Some((IndexOnly::CountSet(IndexSet::Range(draft.into_range())), vec![served])));
    }
    let Some(choice) = indexes.choose(conditions, Want::Everything)? else { return Ok(None) };
    let needs_no_list = matches!(&choice.set, SetDraft::Range(draft) if !draft.repeats());
    // Estimates may be wrong by a factor.
    let fits = needs_no_list || choice.set.collected() <= COLLECTED_NUMBERS_MAX as u64 / 2;
    if !fits || !choice.guaranteed.iter().all(|guaranteed| *guaranteed) {
        return Ok(None);
    }
    let mut served = Vec::new();
    choice.set.indexes(&mut served);
    Ok(Some((IndexOnly::CountSet(choice.set.into_set()), served)))
}

/// Counts the items that have a value.
fn count_values(target: Target, conjuncts: &Conjuncts, indexes: &mut Indexes<'_>) -> Answer {
    if target.is_multiple || !indexes.source.is_whole() || !indexes.facts(&target.segments).is_usable {
        return Ok(None);
    }
    let has_value = Condition::term(target.clone(), TermSet::defined(), true);
    if conjuncts.pieces.is_empty() {
        let draft = draft(&target, &TermSet::defined(), indexes);
        let served = draft.served();
        return Ok(Some((IndexOnly::CountPath(draft.into_range()), vec![served])));
    }
    match Condition::all([conjuncts.whole(), has_value]).simplified() {
        Condition::All(parts) => count_set(&parts.iter().collect::<Vec<_>>(), indexes),
        Condition::Never => Ok(None),
        only => count_set(&[&only], indexes),
    }
}

/// Returns the values of a target that the conditions leave, where they speak of nothing else.
fn values(target: &Target, conjuncts: &Conjuncts, indexes: &mut Indexes<'_>) -> Option<TermSet> {
    let identity = target.identity.as_ref()?;
    if target.is_multiple || !indexes.source.is_whole() || !indexes.facts(&target.segments).is_usable {
        return None;
    }
    if conjuncts.pieces.is_empty() {
        return Some(TermSet::everything());
    }
    let (_, term) = conjuncts.piece_of(identity).filter(|_| conjuncts.pieces.len() == 1)?;
    (term.is_exact && term.filter.is_none()).then(|| term.set.clone())
}

/// Returns the values of a set that MIN and MAX compare, if there are no others in the index.
fn plain_values(target: &Target, set: &TermSet, indexes: &mut Indexes<'_>) -> Result<Option<TermSet>> {
    let index = indexes.facts(&target.segments).index;
    let plain = TermSet::of(TermRange::Classes { first: class::UNDEFINED, last: class::STRING }).0;
    for other in set.minus(&plain).intervals() {
        if indexes.estimator.extreme(index, other, Direction::Forward)?.is_some() {
            return Ok(None);
        }
    }
    Ok(Some(set.intersection(&plain)))
}

fn extreme(target: &Target, highest: bool, conjuncts: &Conjuncts, indexes: &mut Indexes<'_>) -> Answer {
    let Some(set) = values(target, conjuncts, indexes) else { return Ok(None) };
    let set = set.intersection(&TermSet::defined());
    let Some(set) = plain_values(target, &set, indexes)? else { return Ok(None) };
    let [interval] = set.intervals() else { return Ok(None) };
    let direction = if highest { Direction::Reverse } else { Direction::Forward };
    let index = indexes.facts(&target.segments).index;
    let entry = indexes.estimator.extreme(index, interval, direction)?;
    // The rest of a long text stands in the item, and so does its place among others that begin so.
    let is_cut = entry.as_deref().and_then(split_entry).is_some_and(|(_, found, _)| term::is_cut(found));
    if is_cut {
        return Ok(None);
    }
    let draft = draft(target, &set, indexes);
    let served = draft.served();
    Ok(Some((IndexOnly::Extreme { index: draft.into_range(), highest }, vec![served])))
}

fn distinct(
    target: &Target,
    shows_missing: bool,
    conjuncts: &Conjuncts,
    indexes: &mut Indexes<'_>,
) -> Answer {
    let Some(mut set) = values(target, conjuncts, indexes) else { return Ok(None) };
    let facts = indexes.facts(&target.segments);
    if !shows_missing {
        set = set.intersection(&TermSet::defined());
    } else if set.has_undefined() && !facts.has_undefined {
        if indexes.estimator.size(facts.index)? < indexes.item_count {
            return Ok(None);
        }
        set = set.intersection(&TermSet::defined());
    }
    if set.is_empty() {
        return Ok(None);
    }
    let draft = draft(target, &set, indexes);
    let served = draft.served();
    Ok(Some((IndexOnly::Distinct(draft.into_range()), vec![served])))
}

/// Returns the part of an index that some values are. What is done with it is done however many there are.
fn draft(target: &Target, set: &TermSet, indexes: &mut Indexes<'_>) -> Draft {
    Draft {
        index: indexes.facts(&target.segments).index,
        paths: vec![single_text(&target.segments)],
        intervals: set.intervals().to_vec(),
        filter: None,
        is_exact: true,
        is_multiple: false,
        entries: None,
    }
}

/// Returns the one text that a value must be.
pub(super) fn only_text(set: &TermSet) -> Option<String> {
    let [only] = set.intervals() else { return None };
    match term::decode(&only.low)? {
        Some(Value::String(text)) if only.is_point => Some(text),
        _ => None,
    }
}
