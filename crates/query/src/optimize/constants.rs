//! Constant folding: what depends on no row is evaluated once.
//!
//! ```text
//! c.price > 10 * 2        c.price > 20
//! c.name = UPPER("oslo")  c.name = "OSLO"
//! ```
//!
//! Functions of time and chance are left alone, and so are subqueries and user-defined functions. What takes many steps
//! or gives a large value is left alone, too: planning must be quick and small, whatever the text; it is evaluated when
//! the query runs, under its watch.

use std::cell::Cell;

use armilla_functions::{Look, Meter, Stop};

use crate::bound::{BoundQuery, Projection, SourceKind};
use crate::eval::Evaluator;
use crate::expr::{Expr, SubqueryKind};
use crate::frame::Frame;
use crate::limits::{FOLDED_BYTES_MAX, FOLDED_VALUE_BYTES_MAX, FOLDING_STEPS_MAX};
use crate::logical::LogicalPlan;
use crate::rows::value_bytes;

pub(super) fn fold(plan: &mut LogicalPlan) {
    let watch = watch();
    let meter = Meter::new(&watch);
    let folder =
        Folder { evaluator: Evaluator::for_constants(&meter), bytes_left: Cell::new(FOLDED_BYTES_MAX) };
    let mut fold = |expr: &mut Expr| folder.fold(expr);
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

/// Evaluates what it can in an expression.
pub(crate) fn fold_constants(expr: &mut Expr) {
    let watch = watch();
    let meter = Meter::new(&watch);
    let folder =
        Folder { evaluator: Evaluator::for_constants(&meter), bytes_left: Cell::new(FOLDED_BYTES_MAX) };
    folder.fold(expr);
}

/// Ends folding after so many steps, which are as many on every machine.
fn watch() -> impl Fn(u64) -> Look {
    |steps| match FOLDING_STEPS_MAX.checked_sub(steps) {
        Some(left) if left > 0 => Look::GoOn(left),
        _ => Look::Stop(Stop::Steps),
    }
}

struct Folder<'m> {
    evaluator: Evaluator<'m>,
    /// Bytes that values may still take.
    bytes_left: Cell<usize>,
}

impl Folder<'_> {
    fn fold(&self, expr: &mut Expr) {
        if let Expr::Subquery(kind, query) = expr {
            fold_query(query, &mut |inner| self.fold(inner));
            // The rows of ALL are those that its filter refuses, so that its filter has to stay what it is.
            debug_assert!(*kind != SubqueryKind::All || query.order.is_empty());
            return;
        }
        expr.children_mut(&mut |child| self.fold(child));
        if !is_foldable(expr) {
            return;
        }
        let frame = Frame::empty();
        // What fails will fail when the query runs, and say why; what takes long will take its time there.
        let Ok(datum) = self.evaluator.eval_alone(expr, &frame) else { return };
        let folded = match datum.into_value() {
            Some(value) => {
                let bytes = value_bytes(&value);
                let Some(left) = self.bytes_left.get().checked_sub(bytes) else { return };
                if bytes > FOLDED_VALUE_BYTES_MAX {
                    return;
                }
                self.bytes_left.set(left);
                Expr::constant(value)
            }
            None => Expr::Undefined,
        };
        *expr = folded;
    }
}

/// Returns whether an expression has only constant operands, and always the same value.
fn is_foldable(expr: &Expr) -> bool {
    let is_operation = match expr {
        Expr::Call(function, _) => !function.is_volatile(),
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
