//! Conditions in a form that the choice of an index understands.
//!
//! ```text
//! WHERE (a AND b) AND true    [a, b]
//! 5 < c.x                     c.x > 5
//! c.x BETWEEN 1 AND 5         stays, it is one range
//! ```

use armilla_functions::operators::Comparison;

use crate::expr::Expr;
use crate::logical::LogicalPlan;

pub(super) fn apply(plan: &mut LogicalPlan) {
    flatten(&mut plan.filter);
    for join in &mut plan.joins {
        flatten(&mut join.filter);
    }
}

/// Splits conjunctions, drops what is always true, and puts constants on the right.
fn flatten(conditions: &mut Vec<Expr>) {
    let mut flat = Vec::with_capacity(conditions.len());
    for condition in conditions.drain(..) {
        split(condition, &mut flat);
    }
    flat.iter_mut().for_each(constants_right);
    *conditions = flat;
}

fn split(condition: Expr, flat: &mut Vec<Expr>) {
    match condition {
        // A row stays if the whole is true, and then every part is.
        Expr::And(parts) => parts.into_iter().for_each(|part| split(part, flat)),
        Expr::Constant(value) if value.as_bool() == Some(true) => {}
        other => flat.push(other),
    }
}

fn constants_right(expr: &mut Expr) {
    expr.children_mut(&mut constants_right);
    if let Expr::Compare(operator, left, right) = expr
        && left.as_constant().is_some()
        && right.as_constant().is_none()
    {
        std::mem::swap(left, right);
        *operator = mirrored(*operator);
    }
}

fn mirrored(operator: Comparison) -> Comparison {
    match operator {
        Comparison::Equal | Comparison::NotEqual => operator,
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
    }
}
