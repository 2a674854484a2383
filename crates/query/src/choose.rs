//! Chooses how the items of one partition are found.
//!
//! ```text
//! LogicalPlan --predicates--> conditions on index terms --sets--> the cheapest set of items
//!                                                       --order--> an index to walk, or a sort
//!                                                       --only---> an answer without items
//! ```
//!
//! Invariants:
//! * whatever is chosen, what it finds and the residual conditions let through is what a scan of all items would:
//!   a condition is left out of the residual only where the access guarantees it;
//! * planning reads a bounded number of index entries (`estimate`);
//! * refusals depend on the query and the policy alone, never on data (`order`).
//!
//! Not here: walking what was chosen (`exec`).

mod composite;
mod condition;
mod conjuncts;
mod covered;
mod draft;
mod estimate;
mod functions;
mod only;
mod order;
mod predicates;
mod sets;
mod target;
mod terms;

use crate::error::Result;
use crate::expr::{Expr, PathStep};
use crate::limits::{COLLECTED_NUMBERS_MAX, ORDERED_NUMBERS_MAX, PAGE_ROWS_DEFAULT};
use crate::logical::{Input, LogicalPlan};
use crate::physical::{Access, IndexSet, PhysicalPlan, Served};
use crate::source::Source;
use condition::Condition;
use conjuncts::Conjuncts;
use draft::SetDraft;
use estimate::COUNTED_ENTRIES_MAX;
use order::{Order, PlannedWalk, Walkable};
use sets::{Choice, Indexes, Want};
use target::Scope;

#[cfg(test)]
mod tests;

/// So many items are scanned in the time in which one is loaded through an index.
const SCANNED_PER_LOADED: u64 = 4;

/// Logical partitions of so few items are scanned: to read what indexes say of them would take as long.
const LOGICAL_SCANNED_MAX: u64 = 128;

/// A sort is worth it where it looks at so many times fewer items than a walk...
const WALKED_PER_SORTED: u64 = 4;

/// ...and costs no more: in request units an item that is loaded weighs as much as so many entries that are passed by. A
/// query would not be expected to cost more because a partition is small.
const WALKED_PER_LOADED: u64 = 50;

/// Chooses how the items of one partition are found.
///
/// # Errors
///
/// Orders that the indexing policy does not allow are refused, on every partition alike.
pub fn choose(plan: &LogicalPlan, source: &dyn Source) -> Result<PhysicalPlan> {
    match &plan.input {
        Input::Derived { plan, .. } => return choose(plan, source),
        Input::Nothing => return Ok(of_nothing(plan.filter.clone())),
        Input::Items => {}
    }
    let order = Order::of(plan, source)?;
    let mut indexes = Indexes::new(source);
    let conjuncts = Conjuncts::new(plan, &mut indexes)?;
    if conjuncts.is_never {
        return Ok(of_nothing(Vec::new()));
    }
    let (served, missing) = conjuncts.indexes(&mut indexes);
    let is_told = conjuncts.is_told(&mut indexes);
    let chooser = Chooser { plan, source, conjuncts: &conjuncts, served, missing, is_told };
    if order.is_none()
        && let Some((only, used)) = only::answer(plan, &conjuncts, &mut indexes)?
    {
        return Ok(chooser.finish(Access::IndexOnly(only), &[], used));
    }
    if let Some(order) = &order
        && let Some(walk) = chooser.clear_walk(order, &mut indexes)?
    {
        let guaranteed = vec![true; conjuncts.pieces.len()];
        return Ok(chooser.finish(Access::Walk(walk.walk), &guaranteed, vec![walk.served]));
    }
    let found = chooser.unordered(&mut indexes)?;
    let Some(order) = order else {
        let Found { access, guaranteed, used, .. } = chooser.covered(found, &indexes);
        return Ok(chooser.finish_found(access, &guaranteed, used));
    };
    chooser.ordered(&order, found, &mut indexes)
}

fn of_nothing(residual: Vec<Expr>) -> PhysicalPlan {
    PhysicalPlan {
        access: Access::Nothing,
        residual,
        served: Vec::new(),
        missing: Vec::new(),
        rejects_by_index: false,
    }
}

/// How items are found, whatever their order.
struct Found {
    access: Access,
    /// For each piece of the conditions, whether the access guarantees it.
    guaranteed: Vec<bool>,
    /// Indexes that are asked.
    used: Vec<Served>,
    /// What it costs, in items loaded through an index.
    cost: u64,
    /// How many items it finds, about.
    found_count: u64,
}

struct Chooser<'p> {
    plan: &'p LogicalPlan,
    source: &'p dyn Source,
    conjuncts: &'p Conjuncts,
    /// Indexes that could serve a condition.
    served: Vec<Served>,
    missing: Vec<Served>,
    /// Whether indexes could tell of every item whether the filter holds.
    is_told: bool,
}

impl Chooser<'_> {
    /// Returns how many items there are to be found. Samples have logical partitions whole.
    fn item_count(&self) -> u64 {
        let often = if self.source.is_logical() { 1 } else { self.source.magnification() };
        self.source.item_count().saturating_mul(often)
    }

    /// Chooses how items are found without regard to their order.
    fn unordered(&self, indexes: &mut Indexes<'_>) -> Result<Found> {
        if let Some(point) = self.point() {
            return Ok(point);
        }
        let item_count = self.item_count();
        if self.source.is_logical() {
            if item_count <= LOGICAL_SCANNED_MAX {
                return Ok(self.scan(item_count));
            }
            // From so many entries on, it is scanned anyway.
            indexes.estimator.count_to(item_count / SCANNED_PER_LOADED);
        }
        let Some(Choice { set, guaranteed }) =
            indexes.choose(&self.conjuncts.conditions(), Want::Cheapest)?
        else {
            return Ok(self.scan(item_count));
        };
        let entries = set.entries();
        let streamed = match &set {
            SetDraft::Range(draft) => !draft.repeats() && !draft.is_one_value(),
            SetDraft::And(_) | SetDraft::Or(_) => false,
        };
        let is_worse_than_scan = if self.source.is_logical() {
            // The index is that of all logical partitions; the scan is one short read.
            entries.saturating_mul(SCANNED_PER_LOADED) >= item_count
        } else {
            let is_most = entries.saturating_mul(SCANNED_PER_LOADED) > item_count;
            entries > COUNTED_ENTRIES_MAX as u64 && is_most && !set.is_scan()
        };
        // Estimates may be wrong by a factor.
        let is_too_long = !streamed && set.collected() > COLLECTED_NUMBERS_MAX as u64 / 2;
        if is_worse_than_scan || is_too_long {
            return Ok(self.scan(item_count.min(entries)));
        }
        let mut used = Vec::new();
        set.indexes(&mut used);
        let access = match set {
            SetDraft::Range(draft) if streamed && entries > ORDERED_NUMBERS_MAX as u64 => {
                Access::Stream(draft.into_range())
            }
            set => {
                let mut set = set.into_set();
                indexes.estimator.hand_over(&mut set);
                Access::Set(set)
            }
        };
        Ok(Found { access, guaranteed, used, cost: entries, found_count: entries.min(item_count) })
    }

    /// Takes values from index entries instead of the items that they lead to, where that is all that is asked for.
    fn covered(&self, found: Found, indexes: &Indexes<'_>) -> Found {
        let is_exact = !found.guaranteed.contains(&false)
            && self.conjuncts.residual(&self.plan.filter, &found.guaranteed).is_empty();
        let (range, by_number) = match &found.access {
            Access::Set(IndexSet::Range(range)) if is_exact => (range, true),
            Access::Stream(range) if is_exact => (range, false),
            _ => return found,
        };
        match covered::instead_of(range, by_number, self.plan, self.conjuncts, indexes) {
            // What it serves stays what it was: the price of a filter does not depend on what is read for it.
            Some(covered) => Found { access: Access::Covered(covered), ..found },
            None => found,
        }
    }

    /// Returns the read of one item, where its id is known.
    fn point(&self) -> Option<Found> {
        if !self.source.is_logical() {
            return None;
        }
        let id = Expr::Path { slot: 0, steps: vec![PathStep::Name("id".to_owned())] };
        let identity = Scope::of_item().target(&id)?.identity?;
        let (piece, term) = self.conjuncts.piece_of(&identity)?;
        let id = only::only_text(&term.set)?;
        let mut guaranteed = vec![false; self.conjuncts.pieces.len()];
        guaranteed[piece] = term.is_exact && term.filter.is_none();
        Some(Found { access: Access::Point { id }, guaranteed, used: Vec::new(), cost: 1, found_count: 1 })
    }

    fn scan(&self, found_count: u64) -> Found {
        let item_count = self.item_count();
        // Few enough items are put in the order in which they were made.
        let is_small = item_count <= ORDERED_NUMBERS_MAX as u64;
        Found {
            access: if is_small { Access::ScanByNumber } else { Access::ScanByKey },
            guaranteed: self.conjuncts.conditions().into_iter().map(|piece| self.is_of_key(piece)).collect(),
            used: Vec::new(),
            cost: item_count.div_ceil(SCANNED_PER_LOADED),
            found_count,
        }
    }

    /// Returns whether a condition holds for all items of the logical partition, because it asks for the text that its key
    /// is.
    fn is_of_key(&self, condition: &Condition) -> bool {
        let Condition::Term(term) = condition else { return false };
        let is_plain = term.is_exact && term.filter.is_none() && !term.target.is_multiple;
        is_plain
            && self
                .source
                .key_text(&term.target.segments)
                .is_some_and(|text| only::only_text(&term.set).is_some_and(|only| only == text))
    }

    /// Returns the walk through the order's index if it is clear that nothing else can be better: all that it meets belongs
    /// to the result, and so many of them are wanted and no more. Nothing has to be estimated then, which would take
    /// longer than the walk.
    fn clear_walk(&self, order: &Order, indexes: &mut Indexes<'_>) -> Result<Option<PlannedWalk>> {
        // The index of a logical partition has the entries of the others as well.
        if self.rows_wanted().is_none() || self.source.is_logical() {
            return Ok(None);
        }
        let Walkable::Yes(planned) = order.walk(self.conjuncts, indexes)? else { return Ok(None) };
        let guaranteed: Vec<bool> =
            (0..self.conjuncts.pieces.len()).map(|piece| planned.guaranteed == Some(piece)).collect();
        let is_clear = !guaranteed.contains(&false)
            && self.conjuncts.residual(&self.plan.filter, &guaranteed).is_empty();
        Ok(is_clear.then_some(*planned))
    }

    /// Chooses between walking through the order's index and sorting what is found otherwise.
    fn ordered(self, order: &Order, found: Found, indexes: &mut Indexes<'_>) -> Result<PhysicalPlan> {
        indexes.estimator.count_to(u64::MAX);
        let planned = match order.walk(self.conjuncts, indexes)? {
            Walkable::Nothing => return Ok(of_nothing(Vec::new())),
            Walkable::Yes(planned) => planned,
            Walkable::No => {
                let access = Access::Sort(Box::new(found.access));
                return Ok(self.finish_found(access, &found.guaranteed, found.used));
            }
        };
        let entries = planned.entries(indexes)?;
        let walked = self.walked(entries, &found, indexes.item_count);
        if self.is_sort_better(walked, &found) {
            // That sorting is less work does not make the order cost more: its index would serve it.
            let mut used = found.used;
            used.push(planned.served);
            let access = Access::Sort(Box::new(found.access));
            return Ok(self.finish_found(access, &found.guaranteed, used));
        }
        let PlannedWalk { mut walk, served, guaranteed: piece, .. } = *planned;
        let mut guaranteed = vec![false; self.conjuncts.pieces.len()];
        if let Some(piece) = piece {
            guaranteed[piece] = true;
        }
        if guaranteed.contains(&false) {
            walk.entries_per_item = (indexes.item_count / found.found_count.max(1)).max(1);
            walk.passing = self.passing(found, entries);
        }
        Ok(self.finish(Access::Walk(walk), &guaranteed, vec![served]))
    }

    /// Returns a set to pass over items with, instead of loading them to see that they do not belong to the result.
    fn passing(&self, found: Found, entries: u64) -> Option<IndexSet> {
        let is_selective = found.found_count.saturating_mul(2) <= entries;
        let is_small = found.cost <= ORDERED_NUMBERS_MAX as u64;
        let Access::Set(set) = found.access else { return None };
        let is_usable = self.is_told && self.source.is_whole() && !set.has_term_filter();
        (is_selective && is_small && is_usable).then_some(set)
    }

    /// Returns how many rows are wanted, where the query says so.
    fn rows_wanted(&self) -> Option<u64> {
        let window = self.plan.window;
        match window.limit {
            // Rows that are given once may take many that are not.
            Some(limit) if !self.plan.distinct => Some(window.offset.saturating_add(limit)),
            _ => None,
        }
    }

    /// Returns about how many entries a walk meets.
    fn walked(&self, entries: u64, found: &Found, items_in_index: u64) -> u64 {
        let Some(wanted) = self.rows_wanted() else { return entries };
        let per_row = u128::from(items_in_index) / u128::from(found.found_count.max(1));
        let walked = u128::from(wanted) * per_row.max(1);
        entries.min(u64::try_from(walked).unwrap_or(u64::MAX))
    }

    fn is_sort_better(&self, walked: u64, found: &Found) -> bool {
        if matches!(found.access, Access::Point { .. }) {
            return true;
        }
        let rows = self.rows_wanted().map_or(found.found_count, |wanted| wanted.min(found.found_count));
        // Each page sorts anew.
        let sort = found.cost.saturating_mul(rows / PAGE_ROWS_DEFAULT as u64 + 1);
        let sort_price = sort.saturating_mul(WALKED_PER_LOADED);
        let walk_price = walked.saturating_add(rows.saturating_mul(WALKED_PER_LOADED));
        sort.saturating_mul(WALKED_PER_SORTED) < walked && sort_price <= walk_price
    }

    /// Makes the plan of an access that may be a scan.
    fn finish_found(self, access: Access, guaranteed: &[bool], used: Vec<Served>) -> PhysicalPlan {
        let is_scan = |access: &Access| matches!(access, Access::ScanByNumber | Access::ScanByKey);
        let scans = match &access {
            Access::Sort(inner) => is_scan(inner),
            access => is_scan(access),
        };
        if scans && !self.source.is_logical() {
            let residual = self.conjuncts.residual(&self.plan.filter, guaranteed);
            let missing = self.missing;
            return PhysicalPlan { access, residual, served: used, missing, rejects_by_index: false };
        }
        self.finish(access, guaranteed, used)
    }

    /// Makes the plan of an access that indexes serve.
    fn finish(self, access: Access, guaranteed: &[bool], used: Vec<Served>) -> PhysicalPlan {
        let residual = match access {
            Access::IndexOnly(_) => Vec::new(),
            _ => self.conjuncts.residual(&self.plan.filter, guaranteed),
        };
        let mut served = self.served;
        let mut missing = self.missing;
        for index in used {
            if index.composite {
                // It takes the place of the indexes of its properties.
                let singles: Vec<String> = index.paths.iter().map(|path| single_of(path)).collect();
                served.retain(|other| other.composite || !singles.contains(&other.paths[0]));
                missing.retain(|other| !other.composite && !singles.contains(&other.paths[0]));
            }
            if !served.iter().any(|other| other.paths == index.paths) {
                served.push(index);
            }
        }
        PhysicalPlan { access, residual, served, missing, rejects_by_index: self.is_told }
    }
}

/// Returns the index of a property of a composite index: `/a/?` for `/a ASC`.
fn single_of(path: &str) -> String {
    let path = path.strip_suffix(" ASC").or_else(|| path.strip_suffix(" DESC")).unwrap_or(path);
    format!("{path}/?")
}
