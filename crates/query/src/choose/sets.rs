//! From conditions to sets of items: which indexes are asked, and which conditions are left to be checked.
//!
//! Of conditions that must all hold, the one with the fewest entries drives; others join it where they are worth their
//! own reading, and are checked on items where they are not.

use std::collections::HashMap;

use armilla_index::IndexId;
use armilla_index::paths::PathSegment;

use super::condition::{Condition, TermCondition};
use super::draft::{Draft, SetDraft};
use super::estimate::Estimator;
use super::target::single_text;
use crate::error::Result;
use crate::limits::ORDERED_NUMBERS_MAX;
use crate::source::{CompositeIndex, Source};

/// Up to this many entries, loading the items is cheaper than reading another index too.
const LONE_ENTRIES_MAX: u64 = 16;

/// A further set joins if it has at most so many times the entries of the one that drives.
const JOINED_ENTRIES_RATIO: u64 = 8;

/// A further set joins if it has at most one in so many of all items.
const JOINED_PART: u64 = 2;

/// What the query does not ask for is looked at only if it has at most one in so many of all items.
const IMPLIED_PART: u64 = 4;

/// What a partition's indexes can serve.
pub(super) struct Indexes<'s> {
    pub(super) source: &'s dyn Source,
    pub(super) estimator: Estimator<'s>,
    paths: HashMap<Vec<PathSegment>, PathFacts>,
    pub(super) composites: Vec<CompositeIndex>,
    /// Items of the physical partition that a plan is chosen for.
    pub(super) item_count: u64,
}

/// What is known of the index of a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathFacts {
    pub(super) index: IndexId,
    pub(super) is_usable: bool,
    pub(super) has_undefined: bool,
}

/// How much of a conjunction is to be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// What is worth it.
    Cheapest,
    /// Every condition, so that no item need be looked at.
    Everything,
}

/// What was chosen to serve a conjunction.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) set: SetDraft,
    /// For each condition, whether the set guarantees it.
    pub(super) guaranteed: Vec<bool>,
}

/// A set that serves some of the conditions.
pub(super) struct Candidate {
    pub(super) set: SetDraft,
    /// Which conditions, and whether it guarantees them.
    pub(super) serves: Vec<(usize, bool)>,
}

impl<'s> Indexes<'s> {
    /// Makes the view of a source's indexes.
    pub(super) fn new(source: &'s dyn Source) -> Indexes<'s> {
        Indexes {
            source,
            estimator: Estimator::new(source),
            paths: HashMap::new(),
            composites: source.composites(),
            item_count: source.totals().0.saturating_mul(source.magnification()),
        }
    }

    /// Returns what is known of the index of a path.
    pub(super) fn facts(&mut self, segments: &[PathSegment]) -> PathFacts {
        if let Some(facts) = self.paths.get(segments) {
            return *facts;
        }
        let facts = PathFacts {
            index: IndexId::of_path(segments),
            is_usable: self.source.is_path_usable(segments),
            has_undefined: self.source.has_undefined_entries(segments),
        };
        self.paths.insert(segments.to_vec(), facts);
        facts
    }

    /// Returns whether an index serves a set of terms.
    pub(super) fn serves(&mut self, term: &TermCondition) -> bool {
        let facts = self.facts(&term.target.segments);
        // Items that lack the value are named by the index only where they have entries that say so.
        let names_all = !term.set.has_undefined() || (facts.has_undefined && !term.target.is_multiple);
        facts.is_usable && names_all
    }

    /// Returns whether no item of the physical partition has an entry in the index of a path.
    pub(super) fn is_empty(&mut self, segments: &[PathSegment]) -> Result<bool> {
        let facts = self.facts(segments);
        Ok(facts.is_usable && self.estimator.size(facts.index)? == 0)
    }

    /// Returns the part of an index that a set of terms is, with how many entries there are.
    pub(super) fn draft(&mut self, term: &TermCondition) -> Result<Option<Draft>> {
        let Some(draft) = self.uncounted(term) else { return Ok(None) };
        let entries = self.estimator.entries(draft.index, &draft.intervals, false)?;
        Ok(Some(Draft { entries: Some(entries), ..draft }))
    }

    /// Returns the part of an index that a set of terms is. Nothing is read for it.
    pub(super) fn uncounted(&mut self, term: &TermCondition) -> Option<Draft> {
        self.serves(term).then(|| Draft {
            index: self.facts(&term.target.segments).index,
            paths: vec![single_text(&term.target.segments)],
            intervals: term.set.intervals().to_vec(),
            filter: term.filter.clone(),
            is_exact: term.is_exact,
            is_multiple: term.target.is_multiple,
            entries: None,
        })
    }

    /// Returns the set of items that a condition may hold for.
    fn set(&mut self, condition: &Condition) -> Result<Option<SetDraft>> {
        match condition {
            Condition::Always | Condition::Never | Condition::Unknown => Ok(None),
            Condition::Term(term) => Ok(self.draft(term)?.map(SetDraft::Range)),
            Condition::All(parts) => {
                let parts: Vec<&Condition> = parts.iter().collect();
                let Some(Choice { mut set, guaranteed }) = self.choose(&parts, Want::Cheapest)? else {
                    return Ok(None);
                };
                if !guaranteed.iter().all(|guaranteed| *guaranteed) {
                    set.make_inexact();
                }
                Ok(Some(set))
            }
            Condition::Any(parts) => {
                let mut sets = Vec::with_capacity(parts.len());
                for part in parts {
                    match self.set(part)? {
                        Some(set) => sets.push(set),
                        None => return Ok(None),
                    }
                }
                Ok(Some(SetDraft::any(sets)))
            }
        }
    }

    /// Chooses the sets that serve conditions of which all must hold; nothing where none can be served.
    pub(super) fn choose(&mut self, conditions: &[&Condition], want: Want) -> Result<Option<Choice>> {
        let mut candidates = self.composite_candidates(conditions)?;
        let mut numbers: Vec<usize> = (0..conditions.len()).collect();
        // Single values are the likeliest to be few.
        numbers.sort_by_key(|number| !conditions[*number].is_equality());
        for number in numbers {
            let has_few = |candidate: &Candidate| candidate.set.entries() <= LONE_ENTRIES_MAX;
            if want == Want::Cheapest && candidates.iter().any(has_few) {
                break;
            }
            let condition = conditions[number];
            let Some(set) = self.set(condition)? else { continue };
            let is_implied = matches!(condition, Condition::Term(term) if term.is_implied);
            if is_implied && set.entries().saturating_mul(IMPLIED_PART) > self.item_count {
                continue;
            }
            let is_exact = set.is_exact() && condition.is_exact();
            candidates.push(Candidate { set, serves: vec![(number, is_exact)] });
        }
        // Composite indexes come first, so that they win where the numbers say nothing.
        candidates.sort_by_key(|candidate| candidate.cost());
        let mut guaranteed = vec![false; conditions.len()];
        let mut served = vec![false; conditions.len()];
        let mut sets: Vec<SetDraft> = Vec::new();
        for candidate in candidates {
            if candidate.serves.iter().all(|(number, _)| served[*number]) {
                continue;
            }
            let joins = match (sets.first(), want) {
                (None, _) | (_, Want::Everything) => true,
                (Some(driver), Want::Cheapest) => self.is_worth_joining(driver, &candidate.set),
            };
            if !joins {
                continue;
            }
            for (number, is_exact) in candidate.serves {
                served[number] = true;
                guaranteed[number] |= is_exact;
            }
            sets.push(candidate.set);
        }
        Ok((!sets.is_empty()).then(|| Choice { set: SetDraft::all(sets), guaranteed }))
    }

    fn is_worth_joining(&self, driver: &SetDraft, set: &SetDraft) -> bool {
        let (driver_entries, entries) = (driver.entries(), set.entries());
        if driver_entries <= LONE_ENTRIES_MAX {
            return false;
        }
        let is_selective = entries.saturating_mul(JOINED_PART) <= self.item_count;
        let is_near = entries <= driver_entries.saturating_mul(JOINED_ENTRIES_RATIO);
        match set {
            // Its entries are in the order of the numbers, so that others could be jumped over; but a jump costs as much
            // as loading several items.
            SetDraft::Range(draft) if draft.is_one_value() && draft.filter.is_none() => {
                is_selective && is_near
            }
            set => is_selective && !set.is_scan() && is_near && set.collected() <= ORDERED_NUMBERS_MAX as u64,
        }
    }
}

impl Candidate {
    /// Returns what it costs to let this one drive, in items loaded.
    fn cost(&self) -> u64 {
        let entries = self.set.entries();
        // Of entries that are only looked at, most do not lead to an item; but all must be looked at.
        if self.set.is_scan() { entries.saturating_add(1) } else { entries }
    }
}

impl SetDraft {
    /// Says that the set may have items for which the conditions do not hold.
    fn make_inexact(&mut self) {
        match self {
            SetDraft::Range(draft) => draft.is_exact = false,
            SetDraft::And(sets) | SetDraft::Or(sets) => sets.iter_mut().for_each(SetDraft::make_inexact),
        }
    }
}
