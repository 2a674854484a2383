//! Constant folding: what depends on no row is evaluated once.
//!
//! ```text
//! c.price > 10 * 2        c.price > 20
//! c.name = UPPER("oslo")  c.name = "OSLO"
//! ```
//!
//! Functions of time and chance are left alone, and so are subqueries and user-defined functions.

use crate::bound::{BoundQuery, Projection, SourceKind};
use crate::eval::Evaluator;
use crate::expr::{Expr, SubqueryKind};
use crate::frame::Frame;
use crate::logical::LogicalPlan;

pub(super) fn fold(plan: &mut LogicalPlan) {
    let evaluator = Evaluator::for_constants();
    let mut fold = |expr: &mut Expr| fold_expr(expr, &evaluator);
    plan.filter.iter_mut().for_each(&mut fold);
    for join in &mut plan.joins {
        fold_source(&mut join.source.kind, &mut fold);
        join.filter.iter_mut().for_each(&mut fold);
    }
    if let Some(grouping) = &mut plan.grouping {
        grouping.keys.iter_mut().for_each(&mut fold);
        grouping.aggregates.iter_mut().for_each(|(_, argument)| fold(argument));
    }
    fold_projection(&mut plan.projection, &mut fold);
}

fn fold_source(kind: &mut SourceKind, fold: &mut dyn FnMut(&mut Expr)) {
    match kind {
        SourceKind::Item => {}
        SourceKind::Value(expr) | SourceKind::Elements(expr) => fold(expr),
        SourceKind::Rows(query) | SourceKind::RowElements(query) => fold_query(query, fold),
    }
}

fn fold_query(query: &mut BoundQuery, fold: &mut dyn FnMut(&mut Expr)) {
    query.sources.iter_mut().for_each(|source| fold_source(&mut source.kind, fold));
    query.filter.iter_mut().for_each(&mut *fold);
    if let Some(grouping) = &mut query.grouping {
        grouping.aggregates.iter_mut().for_each(|(_, argument)| fold(argument));
    }
    fold_projection(&mut query.projection, fold);
}

fn fold_projection(projection: &mut Projection, fold: &mut dyn FnMut(&mut Expr)) {
    match projection {
        Projection::Value(expr) => fold(expr),
        Projection::Fields(fields) => fields.iter_mut().for_each(|(_, expr)| fold(expr)),
    }
}

fn fold_expr(expr: &mut Expr, evaluator: &Evaluator<'_>) {
    if let Expr::Subquery(kind, query) = expr {
        fold_query(query, &mut |inner| fold_expr(inner, evaluator));
        // The rows of ALL are those that its filter refuses, so that its filter has to stay what it is.
        debug_assert!(*kind != SubqueryKind::All || query.order.is_empty());
        return;
    }
    expr.children_mut(&mut |child| fold_expr(child, evaluator));
    if !is_foldable(expr) {
        return;
    }
    let frame = Frame::empty();
    let folded = match evaluator.eval(expr, &frame) {
        Ok(datum) => match datum.into_value() {
            Some(value) => Expr::Constant(value),
            None => Expr::Undefined,
        },
        // What fails will fail when the query runs, and say why.
        Err(_) => return,
    };
    *expr = folded;
}

/// Returns whether an expression has only constant operands, and always the same value.
fn is_foldable(expr: &Expr) -> bool {
    let is_operation = match expr {
        Expr::Call(function, _) => function.is_deterministic(),
        Expr::Undefined
        | Expr::Constant(_)
        | Expr::Slot(_)
        | Expr::Path { .. }
        | Expr::System(_)
        | Expr::Computed { .. }
        | Expr::DocumentId
        | Expr::Udf(..)
        | Expr::Subquery(..)
        | Expr::Let { .. }
        | Expr::GroupKey(_)
        | Expr::Aggregate(_) => false,
        _ => true,
    };
    let mut all_constant = true;
    expr.children(&mut |child| all_constant &= child.as_constant().is_some());
    is_operation && all_constant
}
