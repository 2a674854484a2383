//! The optimiser: rules that change a logical plan without changing its result, one to a file.

mod constants;
mod normalise;
mod placement;

use crate::logical::{Input, LogicalPlan};

pub(crate) use constants::fold_constants;

/// Applies every rule.
pub(crate) fn optimize(mut plan: LogicalPlan) -> LogicalPlan {
    if let Input::Derived { plan: inner, .. } = &mut plan.input {
        let taken = std::mem::replace(&mut **inner, empty());
        **inner = optimize(taken);
    }
    constants::fold(&mut plan);
    normalise::apply(&mut plan);
    placement::apply(&mut plan);
    plan
}

fn empty() -> LogicalPlan {
    LogicalPlan {
        input: Input::Nothing,
        filter: Vec::new(),
        joins: Vec::new(),
        grouping: None,
        order: Vec::new(),
        projection: crate::bound::Projection::Fields(Vec::new()),
        distinct: false,
        window: crate::bound::Window::default(),
    }
}

#[cfg(test)]
mod tests;
