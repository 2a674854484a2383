//! What indexes can tell of a condition: a tree of sets of index terms.
//!
//! Every node stands for at least the items for which the condition holds. Where it stands for exactly those, it is
//! *exact*, and the condition need not be checked again.

use std::collections::HashMap;

use super::target::{Identity, Target};
use super::terms::TermSet;
use crate::expr::Expr;

/// What indexes can tell of a condition.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    /// It holds for every item.
    Always,
    /// It holds for none.
    Never,
    /// It holds where a value is in a set.
    Term(TermCondition),
    /// It holds where all of them do.
    All(Vec<Condition>),
    /// It holds where one of them does.
    Any(Vec<Condition>),
    /// No index tells.
    Unknown,
}

/// That a value is in a set of terms.
#[derive(Debug, Clone)]
pub(super) struct TermCondition {
    /// Which value.
    pub(super) target: Target,
    /// Which terms.
    pub(super) set: TermSet,
    /// A further condition, on the value in the term alone.
    pub(super) filter: Option<Expr>,
    /// Whether it is exactly what is asked for.
    pub(super) is_exact: bool,
    /// Whether the query does not ask for it: it follows from what rows are made of.
    pub(super) is_implied: bool,
}

impl Condition {
    /// Makes the condition that a value is in a set.
    pub(super) fn term(target: Target, set: TermSet, is_exact: bool) -> Condition {
        if set.is_empty() {
            return Condition::Never;
        }
        // That some element has a value in the set does not say that the one in question has.
        let is_exact = is_exact && !target.is_multiple;
        Condition::on_entries(target, set, is_exact)
    }

    /// Makes the condition that an item has an entry in a set.
    pub(super) fn on_entries(target: Target, set: TermSet, is_exact: bool) -> Condition {
        if set.is_empty() {
            return Condition::Never;
        }
        if set.is_everything() {
            return if is_exact { Condition::Always } else { Condition::Unknown };
        }
        Condition::Term(TermCondition { target, set, filter: None, is_exact, is_implied: false })
    }

    /// Makes the condition that a value is in a set and satisfies a further condition.
    pub(super) fn filtered(target: Target, set: TermSet, filter: Expr) -> Condition {
        if set.is_empty() {
            return Condition::Never;
        }
        let filter = Some(filter);
        Condition::Term(TermCondition { target, set, filter, is_exact: false, is_implied: false })
    }

    /// Makes the condition that a row can be made of an item.
    pub(super) fn implied(target: Target) -> Condition {
        let set = TermSet::defined();
        Condition::Term(TermCondition { target, set, filter: None, is_exact: false, is_implied: true })
    }

    /// Puts conditions together of which all must hold; what can be seen at once is.
    pub(super) fn all(conditions: impl IntoIterator<Item = Condition>) -> Condition {
        let mut all = Vec::new();
        for condition in conditions {
            match condition {
                Condition::Always => {}
                Condition::Never => return Condition::Never,
                // The first list is taken over whole: long chains nest to the left.
                Condition::All(inner) if all.is_empty() => all = inner,
                Condition::All(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        match all.len() {
            0 => Condition::Always,
            1 => all.remove(0),
            _ => Condition::All(all),
        }
    }

    /// Puts conditions together of which one must hold.
    pub(super) fn any(conditions: impl IntoIterator<Item = Condition>) -> Condition {
        let mut any = Vec::new();
        for condition in conditions {
            match condition {
                Condition::Never => {}
                Condition::Always => return Condition::Always,
                Condition::Unknown => return Condition::Unknown,
                Condition::Any(inner) if any.is_empty() => any = inner,
                Condition::Any(inner) => any.extend(inner),
                other => any.push(other),
            }
        }
        match any.len() {
            0 => Condition::Never,
            1 => any.remove(0),
            _ => Condition::Any(any),
        }
    }

    /// Returns whether it holds exactly where the original condition does.
    pub(super) fn is_exact(&self) -> bool {
        match self {
            Condition::Always | Condition::Never => true,
            Condition::Unknown => false,
            Condition::Term(term) => term.is_exact,
            Condition::All(parts) | Condition::Any(parts) => parts.iter().all(Condition::is_exact),
        }
    }

    /// Returns whether it asks for single values.
    pub(super) fn is_equality(&self) -> bool {
        matches!(self, Condition::Term(term) if term.set.is_points() && term.filter.is_none())
    }

    /// Puts sets of the same value together, from the inside out.
    pub(super) fn simplified(self) -> Condition {
        match self {
            Condition::All(parts) => {
                let parts: Vec<Condition> = parts.into_iter().map(Condition::simplified).collect();
                // What is inside may have become one of these.
                match Condition::all(parts) {
                    Condition::All(parts) => Condition::all(intersected(parts)),
                    other => other,
                }
            }
            Condition::Any(parts) => {
                let parts: Vec<Condition> = parts.into_iter().map(Condition::simplified).collect();
                match Condition::any(parts) {
                    Condition::Any(parts) => Condition::any(united(parts)),
                    other => other,
                }
            }
            other => other,
        }
    }

    /// Returns the values of a target with which the condition may hold.
    pub(super) fn values_of(&self, identity: &Identity) -> TermSet {
        match self {
            Condition::Always | Condition::Unknown => TermSet::everything(),
            Condition::Never => TermSet::default(),
            Condition::Term(term) if term.target.identity.as_ref() == Some(identity) => term.set.clone(),
            Condition::Term(_) => TermSet::everything(),
            Condition::All(parts) => parts
                .iter()
                .fold(TermSet::everything(), |set, part| set.intersection(&part.values_of(identity))),
            Condition::Any(parts) => TermSet::union(parts.iter().map(|part| part.values_of(identity))),
        }
    }

    /// Calls `visit` with every set of terms inside.
    pub(super) fn visit_terms<'c>(&'c self, visit: &mut impl FnMut(&'c TermCondition)) {
        match self {
            Condition::Always | Condition::Never | Condition::Unknown => {}
            Condition::Term(term) => visit(term),
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().for_each(|part| part.visit_terms(visit));
            }
        }
    }
}

impl TermCondition {
    /// Takes in another condition on the same value that must hold too.
    pub(super) fn intersect(&mut self, other: &TermCondition) {
        self.set = self.set.intersection(&other.set);
        self.is_exact &= other.is_exact;
        self.is_implied &= other.is_implied;
        self.filter = match (self.filter.take(), &other.filter) {
            (Some(own), Some(other)) => Some(Expr::And(vec![own, other.clone()])),
            (own, other) => own.or_else(|| other.clone()),
        };
    }
}

/// Puts those sets together that are of one and the same value.
fn intersected(parts: Vec<Condition>) -> Vec<Condition> {
    let mut known: HashMap<Identity, usize> = HashMap::new();
    let mut all: Vec<Condition> = Vec::with_capacity(parts.len());
    for part in parts {
        let Condition::Term(term) = part else {
            all.push(part);
            continue;
        };
        let Some(identity) = term.target.identity.clone() else {
            all.push(Condition::Term(term));
            continue;
        };
        match known.get(&identity) {
            Some(at) => {
                if let Condition::Term(earlier) = &mut all[*at] {
                    earlier.intersect(&term);
                }
            }
            None => {
                known.insert(identity, all.len());
                all.push(Condition::Term(term));
            }
        }
    }
    for part in &mut all {
        if matches!(part, Condition::Term(term) if term.set.is_empty()) {
            *part = Condition::Never;
        }
    }
    all
}

/// Puts those sets together that are of one index: an item that is in one of them is in the index's entries of both.
fn united(parts: Vec<Condition>) -> Vec<Condition> {
    let mut known: HashMap<Vec<armilla_index::paths::PathSegment>, usize> = HashMap::new();
    let mut sets: Vec<Vec<TermSet>> = Vec::with_capacity(parts.len());
    let mut all: Vec<Condition> = Vec::with_capacity(parts.len());
    for part in parts {
        let Condition::Term(mut term) = part else {
            sets.push(Vec::new());
            all.push(part);
            continue;
        };
        let at = if term.filter.is_some() { None } else { known.get(&term.target.segments).copied() };
        match at {
            Some(at) => {
                sets[at].push(std::mem::take(&mut term.set));
                if let Condition::Term(earlier) = &mut all[at] {
                    earlier.is_exact &= term.is_exact;
                    earlier.is_implied &= term.is_implied;
                    earlier.target.is_multiple |= term.target.is_multiple;
                    if earlier.target.identity != term.target.identity {
                        earlier.target.identity = None;
                    }
                }
            }
            None => {
                if term.filter.is_none() {
                    known.insert(term.target.segments.clone(), all.len());
                }
                sets.push(Vec::new());
                all.push(Condition::Term(term));
            }
        }
    }
    for (part, mut sets) in all.iter_mut().zip(sets) {
        if let Condition::Term(term) = part
            && !sets.is_empty()
        {
            sets.push(std::mem::take(&mut term.set));
            term.set = TermSet::union(sets);
            if term.set.is_everything() {
                *part = if term.is_exact { Condition::Always } else { Condition::Unknown };
            }
        }
    }
    all
}
