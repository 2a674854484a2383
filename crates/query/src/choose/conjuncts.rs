//! The conditions of a plan, taken apart into what indexes can tell.
//!
//! A condition may become several pieces (`EXISTS` with two tests), and several conditions one piece (`c.x > 1 AND
//! c.x < 5`). A condition need not be checked again if it was understood completely and all its pieces are guaranteed.

use std::collections::{HashMap, HashSet};

use super::condition::{Condition, TermCondition};
use super::predicates::{bind, compile};
use super::sets::Indexes;
use super::target::{Identity, Scope, composite_text, single_text};
use crate::error::Result;
use crate::expr::Expr;
use crate::logical::LogicalPlan;
use crate::physical::Served;

/// The conditions of a plan.
pub(super) struct Conjuncts {
    /// What indexes can tell, each for itself; all must hold.
    pub(super) pieces: Vec<Piece>,
    /// For each condition of the plan's filter, whether the pieces say all of it.
    is_complete: Vec<bool>,
    /// Whether the conditions contradict each other.
    pub(super) is_never: bool,
}

/// One thing that indexes can tell.
pub(super) struct Piece {
    /// What it is: a set of terms, or one of several.
    pub(super) condition: Condition,
    /// Which conditions of the plan's filter it is part of.
    conjuncts: Vec<usize>,
}

impl Conjuncts {
    /// Takes the conditions of a plan apart.
    pub(super) fn new(plan: &LogicalPlan, indexes: &mut Indexes<'_>) -> Result<Conjuncts> {
        let mut conjuncts =
            Conjuncts { pieces: Vec::new(), is_complete: vec![true; plan.filter.len()], is_never: false };
        let mut scope = Scope::of_item();
        for (number, filter) in plan.filter.iter().enumerate() {
            let condition = without_empty(compile(filter, true, &scope), indexes, false)?;
            conjuncts.add(condition.simplified(), Some(number));
        }
        for join in &plan.joins {
            let mut parts = Vec::new();
            bind(&join.source, &mut scope, &mut parts);
            parts.extend(join.filter.iter().map(|filter| compile(filter, true, &scope)));
            conjuncts.add(Condition::all(parts).simplified(), None);
        }
        conjuncts.merge();
        Ok(conjuncts)
    }

    fn add(&mut self, condition: Condition, conjunct: Option<usize>) {
        let parts = match condition {
            Condition::All(parts) => parts,
            other => vec![other],
        };
        for part in parts {
            match part {
                Condition::Always => {}
                Condition::Never => self.is_never = true,
                Condition::Term(_) | Condition::Any(_) => {
                    if let Some(conjunct) = conjunct {
                        self.is_complete[conjunct] &= part.is_exact();
                    }
                    self.pieces.push(Piece { condition: part, conjuncts: conjunct.into_iter().collect() });
                }
                Condition::All(_) | Condition::Unknown => {
                    if let Some(conjunct) = conjunct {
                        self.is_complete[conjunct] = false;
                    }
                }
            }
        }
    }

    /// Makes one piece of all that speak of the same value.
    fn merge(&mut self) {
        let mut known: HashMap<Identity, usize> = HashMap::new();
        let mut merged: Vec<Piece> = Vec::with_capacity(self.pieces.len());
        for piece in std::mem::take(&mut self.pieces) {
            let identity = match &piece.condition {
                Condition::Term(term) => term.target.identity.clone(),
                _ => None,
            };
            let at = identity.as_ref().and_then(|identity| known.get(identity).copied());
            match (at, identity) {
                (Some(at), _) => {
                    let earlier = &mut merged[at];
                    if let (Condition::Term(own), Condition::Term(other)) =
                        (&mut earlier.condition, &piece.condition)
                    {
                        own.intersect(other);
                        self.is_never |= own.set.is_empty();
                    }
                    earlier.conjuncts.extend(piece.conjuncts);
                }
                (None, identity) => {
                    known.extend(identity.map(|identity| (identity, merged.len())));
                    merged.push(piece);
                }
            }
        }
        self.pieces = merged;
    }

    /// Returns the conditions of the pieces.
    pub(super) fn conditions(&self) -> Vec<&Condition> {
        self.pieces.iter().map(|piece| &piece.condition).collect()
    }

    /// Returns everything as one condition.
    pub(super) fn whole(&self) -> Condition {
        Condition::all(self.pieces.iter().map(|piece| piece.condition.clone()))
    }

    /// Returns whether the pieces say all that the filter says.
    pub(super) fn is_all_complete(&self) -> bool {
        self.is_complete.iter().all(|is_complete| *is_complete)
    }

    /// Returns the conditions that must still be checked when some pieces are guaranteed.
    pub(super) fn residual(&self, filter: &[Expr], guaranteed: &[bool]) -> Vec<Expr> {
        let mut must_check: Vec<bool> = self.is_complete.iter().map(|is_complete| !is_complete).collect();
        for (piece, guaranteed) in self.pieces.iter().zip(guaranteed) {
            for conjunct in &piece.conjuncts {
                must_check[*conjunct] |= !guaranteed;
            }
        }
        let kept = filter.iter().zip(must_check).filter(|(_, must_check)| *must_check);
        kept.map(|(condition, _)| condition.clone()).collect()
    }

    /// Returns the piece that speaks of a value.
    pub(super) fn piece_of(&self, identity: &Identity) -> Option<(usize, &TermCondition)> {
        self.pieces.iter().enumerate().find_map(|(number, piece)| match &piece.condition {
            Condition::Term(term) if term.target.identity.as_ref() == Some(identity) => Some((number, term)),
            _ => None,
        })
    }

    /// Returns every index that serves one of the conditions, whether or not it was worth asking, and every index that
    /// would if it existed.
    pub(super) fn indexes(&self, indexes: &mut Indexes<'_>) -> (Vec<Served>, Vec<Served>) {
        let (mut served, mut missing) = (Vec::new(), Vec::new());
        for piece in &self.pieces {
            let mut terms = Vec::new();
            piece.condition.visit_terms(&mut |term| terms.push(term));
            let all_served = terms.iter().all(|term| indexes.serves(term));
            let is_exact = piece.condition.is_exact();
            // A long list has the same few paths again and again.
            let mut seen = HashSet::new();
            terms.retain(|term| !term.is_implied && seen.insert(&term.target.segments));
            for term in terms {
                let single = Served {
                    paths: vec![single_text(&term.target.segments)],
                    composite: false,
                    precise: is_exact,
                };
                if all_served {
                    add(&mut served, single);
                } else if !indexes.facts(&term.target.segments).is_usable {
                    add(&mut missing, single);
                }
            }
        }
        missing.extend(self.composite_suggestion());
        (served, missing)
    }

    /// Returns whether indexes tell of every item whether the whole filter holds for it.
    pub(super) fn is_told(&self, indexes: &mut Indexes<'_>) -> bool {
        self.is_all_complete()
            && self.pieces.iter().filter(|piece| !piece.conjuncts.is_empty()).all(|piece| {
                let mut is_served = true;
                piece.condition.visit_terms(&mut |term| is_served &= indexes.serves(term));
                is_served && piece.condition.is_exact()
            })
    }

    /// Returns the composite index that would serve the filter: equal values first, then one range.
    fn composite_suggestion(&self) -> Option<Served> {
        let terms = self.pieces.iter().filter_map(|piece| match &piece.condition {
            Condition::Term(term)
                if !term.is_implied && !term.target.is_multiple && term.filter.is_none() =>
            {
                Some(term)
            }
            _ => None,
        });
        let (equal, ranges): (Vec<&TermCondition>, Vec<&TermCondition>) =
            terms.partition(|term| term.set.is_points());
        let properties_max = armilla_index::limits::COMPOSITE_PROPERTIES_MAX;
        let paths: Vec<String> = equal
            .iter()
            .chain(ranges.first())
            .take(properties_max)
            .map(|term| composite_text(&term.target.segments, false))
            .collect();
        (paths.len() >= 2).then_some(Served { paths, composite: true, precise: true })
    }
}

/// Leaves out those alternatives that ask for elements of arrays where no item has any: what may be a value or an element
/// of one then is as cheap as what must be a value.
fn without_empty(condition: Condition, indexes: &mut Indexes<'_>, is_alternative: bool) -> Result<Condition> {
    match condition {
        Condition::Any(parts) => {
            let parts = parts.into_iter().map(|part| without_empty(part, indexes, true));
            Ok(Condition::any(parts.collect::<Result<Vec<_>>>()?))
        }
        Condition::All(parts) => {
            let parts = parts.into_iter().map(|part| without_empty(part, indexes, is_alternative));
            Ok(Condition::all(parts.collect::<Result<Vec<_>>>()?))
        }
        Condition::Term(term) if is_alternative && term.target.is_multiple => {
            let is_empty = indexes.serves(&term) && indexes.is_empty(&term.target.segments)?;
            Ok(if is_empty { Condition::Never } else { Condition::Term(term) })
        }
        other => Ok(other),
    }
}

fn add(list: &mut Vec<Served>, served: Served) {
    if !list.iter().any(|known| known.paths == served.paths) {
        list.push(served);
    }
}
