//! Sets of items while they are put together: index ranges whose bounds can still be changed.

use std::collections::HashMap;

use armilla_index::IndexId;

use super::terms::{Interval, merged};
use crate::expr::Expr;
use crate::physical::{IndexRange, IndexSet, Served};

/// A part of one index.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) index: IndexId,
    /// The index's paths as a policy writes them.
    pub(super) paths: Vec<String>,
    pub(super) intervals: Vec<Interval>,
    pub(super) filter: Option<Expr>,
    pub(super) is_exact: bool,
    /// Whether an item may have several entries in the index.
    pub(super) is_multiple: bool,
    /// How many entries there are, about; nothing where it does not matter.
    pub(super) entries: Option<u64>,
}

impl Draft {
    /// Returns whether each interval holds one value only.
    pub(super) fn is_equality(&self) -> bool {
        self.intervals.iter().all(|interval| interval.is_point)
    }

    /// Returns whether the entries are those of one value, which are in the order of insertion.
    pub(super) fn is_one_value(&self) -> bool {
        matches!(self.intervals.as_slice(), [only] if only.is_point)
    }

    /// Returns whether an item may be met more than once.
    pub(super) fn repeats(&self) -> bool {
        self.is_multiple && !self.is_one_value()
    }

    pub(super) fn served(&self) -> Served {
        Served { paths: self.paths.clone(), composite: self.paths.len() > 1, precise: self.is_exact }
    }

    pub(super) fn into_range(self) -> IndexRange {
        IndexRange {
            is_equality: self.is_equality(),
            precise: self.is_exact,
            repeats: self.repeats(),
            ranges: self.intervals.iter().map(|interval| interval.key_range(self.index)).collect(),
            index: self.index,
            paths: self.paths,
            term_filter: self.filter,
            estimate: self.entries,
            begun: Vec::new(),
        }
    }
}

/// A set of items that indexes name.
#[derive(Debug, Clone)]
pub(super) enum SetDraft {
    Range(Draft),
    And(Vec<SetDraft>),
    Or(Vec<SetDraft>),
}

impl SetDraft {
    /// Returns about how many entries lead to the set's items.
    pub(super) fn entries(&self) -> u64 {
        match self {
            SetDraft::Range(draft) => draft.entries.unwrap_or_default(),
            SetDraft::And(sets) => sets.iter().map(SetDraft::entries).min().unwrap_or_default(),
            SetDraft::Or(sets) => sets.iter().map(SetDraft::entries).fold(0, u64::saturating_add),
        }
    }

    /// Returns about how many numbers must be collected to have the set in the order of insertion.
    pub(super) fn collected(&self) -> u64 {
        match self {
            SetDraft::Range(draft) if draft.is_one_value() => 0,
            SetDraft::Range(draft) => draft.entries.unwrap_or_default(),
            SetDraft::And(sets) | SetDraft::Or(sets) => {
                sets.iter().map(SetDraft::collected).fold(0, u64::saturating_add)
            }
        }
    }

    /// Returns whether the set has exactly the items that its conditions hold for.
    pub(super) fn is_exact(&self) -> bool {
        match self {
            SetDraft::Range(draft) => draft.is_exact,
            SetDraft::And(sets) | SetDraft::Or(sets) => sets.iter().all(SetDraft::is_exact),
        }
    }

    /// Returns whether entries must be read that may lead nowhere.
    pub(super) fn is_scan(&self) -> bool {
        match self {
            SetDraft::Range(draft) => draft.filter.is_some(),
            SetDraft::And(sets) => sets.first().is_some_and(SetDraft::is_scan),
            SetDraft::Or(sets) => sets.iter().any(SetDraft::is_scan),
        }
    }

    /// Adds every index of the set to a list.
    pub(super) fn indexes(&self, served: &mut Vec<Served>) {
        match self {
            SetDraft::Range(draft) => served.push(draft.served()),
            SetDraft::And(sets) | SetDraft::Or(sets) => sets.iter().for_each(|set| set.indexes(served)),
        }
    }

    /// Returns the set of what is in all sets.
    pub(super) fn all(mut sets: Vec<SetDraft>) -> SetDraft {
        if sets.len() == 1 { sets.remove(0) } else { SetDraft::And(sets) }
    }

    /// Returns the set of what is in one of the sets; ranges of one index become one.
    pub(super) fn any(sets: Vec<SetDraft>) -> SetDraft {
        let mut known: HashMap<IndexId, usize> = HashMap::new();
        let mut all: Vec<SetDraft> = Vec::with_capacity(sets.len());
        for set in sets {
            let mergeable = match &set {
                SetDraft::Range(draft) if draft.filter.is_none() => Some(draft.index),
                _ => None,
            };
            match mergeable.and_then(|index| known.get(&index).copied()) {
                Some(at) => {
                    if let (SetDraft::Range(earlier), SetDraft::Range(draft)) = (&mut all[at], set) {
                        earlier.intervals.extend(draft.intervals);
                        earlier.is_exact &= draft.is_exact;
                        earlier.is_multiple |= draft.is_multiple;
                        let entries = earlier.entries.zip(draft.entries);
                        earlier.entries = entries.map(|(some, more)| some.saturating_add(more));
                    }
                }
                None => {
                    if let Some(index) = mergeable {
                        known.insert(index, all.len());
                    }
                    all.push(set);
                }
            }
        }
        for set in &mut all {
            if let SetDraft::Range(draft) = set {
                draft.intervals = merged(std::mem::take(&mut draft.intervals));
            }
        }
        if all.len() == 1 { all.remove(0) } else { SetDraft::Or(all) }
    }

    pub(super) fn into_set(self) -> IndexSet {
        match self {
            SetDraft::Range(draft) => IndexSet::Range(draft.into_range()),
            SetDraft::And(sets) => IndexSet::And(sets.into_iter().map(SetDraft::into_set).collect()),
            SetDraft::Or(sets) => IndexSet::Or(sets.into_iter().map(SetDraft::into_set).collect()),
        }
    }
}
