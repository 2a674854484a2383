//! Aggregates and GROUP BY: taking aggregates out of the selection, and checking that what is left has one value
//! for each group.
//!
//! The selection is bound twice over: aggregate calls are first given slots of their own, as if each were an alias;
//! afterwards these slots, and everything that equals a grouping expression, are replaced by references to the group.

use armilla_functions::Aggregate;
use armilla_sql::QueryError;
use armilla_sql::ast::{self, ExprKind};

use super::expression::nested_aggregate;
use super::{Binder, Scope};
use crate::bound::Grouping;
use crate::error::Result;
use crate::expr::{Expr, PathStep};
use crate::limits::{AGGREGATES_MAX, GROUP_KEYS_MAX};

impl Binder<'_> {
    /// Binds the expressions of a selection, with how rows are put together if they are.
    pub(super) fn grouped(
        &mut self,
        query: &ast::Query,
        exprs: &[&ast::Expr],
        scope: &Scope<'_>,
    ) -> Result<(Vec<Expr>, Option<Grouping>)> {
        let mut calls = Vec::new();
        for expr in exprs {
            aggregate_calls(expr, &mut calls);
        }
        if calls.is_empty() && query.group_by.is_none() {
            let bound = exprs.iter().map(|expr| self.expression(expr, scope)).collect::<Result<_>>()?;
            return Ok((bound, None));
        }
        let key_count = query.group_by.as_ref().map_or(0, |group_by| group_by.keys.len());
        // Each part of the selection is compared with all of them.
        if key_count > GROUP_KEYS_MAX || calls.len() > AGGREGATES_MAX {
            let message = format!(
                "The query has more grouping expressions or aggregates than the allowed {GROUP_KEYS_MAX} and {AGGREGATES_MAX}."
            );
            return Err(QueryError { code: None, message, span: Some(query.span) }.into());
        }
        let keys = self.group_keys(query, scope)?;
        let mut aggregates = Vec::with_capacity(calls.len());
        let mut slots = Vec::with_capacity(calls.len());
        for call in &calls {
            aggregates.push(self.aggregate(call, scope)?);
            slots.push(self.new_slot());
        }
        let mut next = 0;
        let mut bound = Vec::with_capacity(exprs.len());
        for expr in exprs {
            // Aggregate calls are met in the same order as before; each is replaced by its slot's alias.
            let mut with_aliases = (*expr).clone();
            let mut inner = Scope::inside(scope);
            replace_calls(&mut with_aliases, &mut |expr| {
                let alias = format!("\u{0}{next}");
                inner.add(&alias, slots[next]);
                next += 1;
                expr.kind = ExprKind::Identifier(alias);
            });
            let whole = self.expression(&with_aliases, &inner)?;
            let whole = to_group(whole, &keys, &slots);
            if let Some(reference) = foreign_reference(&whole, scope) {
                let message = format!(
                    "Property reference '{reference}' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause."
                );
                return Err(QueryError::new("SC2102", message, expr.span).into());
            }
            bound.push(whole);
        }
        Ok((bound, Some(Grouping { keys, aggregates })))
    }

    fn group_keys(&mut self, query: &ast::Query, scope: &Scope<'_>) -> Result<Vec<Expr>> {
        let Some(group_by) = &query.group_by else { return Ok(Vec::new()) };
        let mut keys = Vec::with_capacity(group_by.keys.len());
        for key in &group_by.keys {
            let bound = self.expression(key, scope)?;
            let (mut has_reference, mut has_subquery) = (false, false);
            bound.visit(&mut |part| {
                has_reference |= is_reference(part);
                has_subquery |= matches!(part, Expr::Subquery(..));
            });
            if has_subquery || !has_reference {
                let message = if has_subquery {
                    "Subqueries are not allowed in the GROUP BY clause."
                } else {
                    "A GROUP BY expression must contain a property reference."
                };
                let error = QueryError { code: None, message: message.to_owned(), span: Some(key.span) };
                return Err(error.into());
            }
            keys.push(bound);
        }
        Ok(keys)
    }

    fn aggregate(&mut self, call: &ast::Expr, scope: &Scope<'_>) -> Result<(Aggregate, Expr)> {
        let ExprKind::Call { name, args } = &call.kind else {
            return Err(nested_aggregate(call.span));
        };
        let Some(aggregate) = Aggregate::find(&name.text) else {
            return Err(nested_aggregate(call.span));
        };
        let [argument] = &args[..] else {
            let message = format!("The {} function requires 1 argument(s).", name.text.to_ascii_uppercase());
            return Err(QueryError::new("SC2050", message, call.span).into());
        };
        let mut inner = Vec::new();
        aggregate_calls(argument, &mut inner);
        if !inner.is_empty() || has_subquery(argument) {
            return Err(nested_aggregate(call.span));
        }
        Ok((aggregate, self.expression(argument, scope)?))
    }
}

/// Collects the aggregate calls of an expression, those of subqueries excepted, from left to right; not those inside
/// another one.
fn aggregate_calls<'a>(expr: &'a ast::Expr, calls: &mut Vec<&'a ast::Expr>) {
    if is_aggregate_call(expr) {
        calls.push(expr);
        return;
    }
    children(expr, &mut |child| aggregate_calls(child, calls));
}

fn is_aggregate_call(expr: &ast::Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { name, .. } if Aggregate::find(&name.text).is_some())
}

fn has_subquery(expr: &ast::Expr) -> bool {
    let mut found = matches!(
        expr.kind,
        ExprKind::Subquery(_)
            | ExprKind::Exists(_)
            | ExprKind::ArrayQuery(_)
            | ExprKind::All(_)
            | ExprKind::First(_)
            | ExprKind::Last(_)
    );
    children(expr, &mut |child| found |= has_subquery(child));
    found
}

fn children<'a>(expr: &'a ast::Expr, visit: &mut dyn FnMut(&'a ast::Expr)) {
    match &expr.kind {
        ExprKind::Literal(_)
        | ExprKind::Parameter(_)
        | ExprKind::Identifier(_)
        | ExprKind::Subquery(_)
        | ExprKind::Exists(_)
        | ExprKind::ArrayQuery(_)
        | ExprKind::All(_)
        | ExprKind::First(_)
        | ExprKind::Last(_) => {}
        ExprKind::Member { object, .. } => visit(object),
        ExprKind::Index { object, index } => {
            visit(object);
            visit(index);
        }
        ExprKind::Unary { operand, .. } => visit(operand),
        ExprKind::Binary { left, right, .. } | ExprKind::Coalesce { left, right } => {
            visit(left);
            visit(right);
        }
        ExprKind::And(parts) | ExprKind::Or(parts) | ExprKind::Array(parts) => parts.iter().for_each(visit),
        ExprKind::Conditional { condition, then, otherwise } => {
            visit(condition);
            visit(then);
            visit(otherwise);
        }
        ExprKind::In { value, list, .. } => {
            visit(value);
            list.iter().for_each(visit);
        }
        ExprKind::Like { value, pattern, .. } => {
            visit(value);
            visit(pattern);
        }
        ExprKind::Between { value, low, high, .. } => {
            visit(value);
            visit(low);
            visit(high);
        }
        ExprKind::Call { args, .. } | ExprKind::UdfCall { args, .. } => args.iter().for_each(visit),
        ExprKind::Object(members) => members.iter().for_each(|member| visit(&member.value)),
        ExprKind::Let { value, body, .. } => {
            visit(value);
            visit(body);
        }
    }
}

/// Calls `replace` with every aggregate call, in the order of [`aggregate_calls`].
fn replace_calls(expr: &mut ast::Expr, replace: &mut dyn FnMut(&mut ast::Expr)) {
    if is_aggregate_call(expr) {
        replace(expr);
        return;
    }
    match &mut expr.kind {
        ExprKind::Literal(_)
        | ExprKind::Parameter(_)
        | ExprKind::Identifier(_)
        | ExprKind::Subquery(_)
        | ExprKind::Exists(_)
        | ExprKind::ArrayQuery(_)
        | ExprKind::All(_)
        | ExprKind::First(_)
        | ExprKind::Last(_) => {}
        ExprKind::Member { object, .. } => replace_calls(object, replace),
        ExprKind::Index { object, index } => {
            replace_calls(object, replace);
            replace_calls(index, replace);
        }
        ExprKind::Unary { operand, .. } => replace_calls(operand, replace),
        ExprKind::Binary { left, right, .. } | ExprKind::Coalesce { left, right } => {
            replace_calls(left, replace);
            replace_calls(right, replace);
        }
        ExprKind::And(parts) | ExprKind::Or(parts) | ExprKind::Array(parts) => {
            parts.iter_mut().for_each(|part| replace_calls(part, replace));
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            replace_calls(condition, replace);
            replace_calls(then, replace);
            replace_calls(otherwise, replace);
        }
        ExprKind::In { value, list, .. } => {
            replace_calls(value, replace);
            list.iter_mut().for_each(|part| replace_calls(part, replace));
        }
        ExprKind::Like { value, pattern, .. } => {
            replace_calls(value, replace);
            replace_calls(pattern, replace);
        }
        ExprKind::Between { value, low, high, .. } => {
            replace_calls(value, replace);
            replace_calls(low, replace);
            replace_calls(high, replace);
        }
        ExprKind::Call { args, .. } | ExprKind::UdfCall { args, .. } => {
            args.iter_mut().for_each(|part| replace_calls(part, replace));
        }
        ExprKind::Object(members) => {
            members.iter_mut().for_each(|member| replace_calls(&mut member.value, replace));
        }
        ExprKind::Let { value, body, .. } => {
            replace_calls(value, replace);
            replace_calls(body, replace);
        }
    }
}

/// Replaces grouping expressions and aggregate slots by references to the group.
fn to_group(mut expr: Expr, keys: &[Expr], slots: &[usize]) -> Expr {
    replace_in(&mut expr, &mut |part| {
        if let Some(key) = keys.iter().position(|key| key == part) {
            return Some(Expr::GroupKey(key));
        }
        match part {
            Expr::Slot(slot) => slots.iter().position(|known| known == slot).map(Expr::Aggregate),
            // A member of an aggregate's result, which was bound as a path below its slot.
            Expr::Path { slot, steps } => {
                let number = slots.iter().position(|known| known == slot)?;
                Some(steps.iter().fold(Expr::Aggregate(number), |object, step| match step {
                    PathStep::Name(name) => Expr::Member { object: Box::new(object), name: name.clone() },
                    PathStep::Element(index) => Expr::Index {
                        object: Box::new(object),
                        index: Box::new(Expr::constant(armilla_value::Value::Int64(*index as i64))),
                    },
                }))
            }
            _ => None,
        }
    });
    expr
}

/// Replaces the outermost parts that `replace` has a replacement for.
pub(crate) fn replace_in(expr: &mut Expr, replace: &mut dyn FnMut(&Expr) -> Option<Expr>) {
    if let Some(replacement) = replace(expr) {
        *expr = replacement;
        return;
    }
    expr.children_mut(&mut |child| replace_in(child, replace));
}

fn is_reference(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Slot(_) | Expr::Path { .. } | Expr::System(_) | Expr::Computed { .. } | Expr::DocumentId
    )
}

/// Returns the text of a reference to a single row, which a group does not have.
fn foreign_reference(expr: &Expr, scope: &Scope<'_>) -> Option<String> {
    let mut found = None;
    expr.visit(&mut |part| {
        let name_of = |slot: usize| scope.name_of(slot).unwrap_or("c").to_owned();
        let text = match part {
            Expr::Slot(slot) => name_of(*slot),
            Expr::Path { slot, steps } => steps.iter().fold(name_of(*slot), |path, step| match step {
                PathStep::Name(name) => format!("{path}.{name}"),
                PathStep::Element(index) => format!("{path}[{index}]"),
            }),
            Expr::System(property) => format!("{}.{}", name_of(0), property.name()),
            Expr::Computed { name, .. } => format!("{}.{name}", name_of(0)),
            Expr::DocumentId => format!("DOCUMENTID({})", name_of(0)),
            Expr::Subquery(..) => "(subquery)".to_owned(),
            _ => return,
        };
        found.get_or_insert(text);
    });
    found
}
