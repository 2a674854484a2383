//! Conditions are checked as soon as everything they read is bound.
//!
//! ```text
//! FROM c JOIN t IN c.tags WHERE c.a = 1 AND t.b = 2
//!
//! c, c.a = 1; then t, t.b = 2
//! ```
//!
//! No condition may fail, so that checking one earlier cannot make a query fail that would not have: scalar
//! subqueries can fail, and conditions with one stay where they are; so do user-defined functions.

use crate::expr::{Expr, SubqueryKind};
use crate::logical::{Input, LogicalPlan};

pub(super) fn apply(plan: &mut LogicalPlan) {
    let input_slot = match plan.input {
        Input::Nothing => None,
        Input::Items => Some(0),
        Input::Derived { slot, .. } => Some(slot),
    };
    let slots: Vec<usize> = plan.joins.iter().map(|join| join.source.slot).collect();
    for position in (0..plan.joins.len()).rev() {
        let conditions = std::mem::take(&mut plan.joins[position].filter);
        for condition in conditions {
            // The last join that the condition reads, or none where it reads the input alone.
            let mut needs = None;
            condition.slots(&mut |slot| {
                let join = slots.iter().position(|known| *known == slot);
                needs = needs.max(join);
            });
            if may_fail(&condition) || needs == Some(position) {
                plan.joins[position].filter.push(condition);
            } else if let Some(join) = needs {
                plan.joins[join].filter.push(condition);
            } else if input_slot.is_some() {
                plan.filter.push(condition);
            } else {
                plan.joins[0].filter.push(condition);
            }
        }
    }
}

fn may_fail(condition: &Expr) -> bool {
    let mut found = false;
    condition.visit(&mut |part| {
        found |= matches!(part, Expr::Udf(..) | Expr::Subquery(SubqueryKind::Scalar, _));
    });
    found
}
