//! Walks a query's tree in the order in which it is printed, to change what is in it.

use armilla_sql::ast::{
    CollectionKind, CountKind, Expr, ExprKind, OrderByKind, Query, Selection, SourceKind,
};

/// What is done where.
pub(super) trait Visitor {
    /// Changes an expression; tells whether to go on with what is inside of it.
    fn expr(&mut self, expr: &mut Expr) -> bool;

    /// Changes the number of TOP, OFFSET or LIMIT.
    fn count(&mut self, count: &mut CountKind);
}

/// Walks a query.
pub(super) fn query<V: Visitor>(query: &mut Query, visitor: &mut V) {
    if let Some(top) = &mut query.top {
        visitor.count(&mut top.count.kind);
    }
    match &mut query.selection {
        Selection::Star => {}
        Selection::Value(value) => expr(value, visitor),
        Selection::List(items) => items.iter_mut().for_each(|item| expr(&mut item.expr, visitor)),
    }
    clauses(query, visitor);
}

/// Walks a query from its FROM on.
pub(super) fn clauses<V: Visitor>(query: &mut Query, visitor: &mut V) {
    for source in query.from.iter_mut().flat_map(|from| &mut from.sources) {
        let (SourceKind::Iterate { collection, .. } | SourceKind::Bind { collection, .. }) = &mut source.kind;
        if let CollectionKind::Query(inner) = &mut collection.kind {
            self::query(inner, visitor);
        }
    }
    if let Some(filter) = &mut query.filter {
        expr(filter, visitor);
    }
    for key in query.group_by.iter_mut().flat_map(|group_by| &mut group_by.keys) {
        expr(key, visitor);
    }
    match query.order_by.as_mut().map(|order_by| &mut order_by.kind) {
        None => {}
        Some(OrderByKind::Items(items)) => items.iter_mut().for_each(|item| expr(&mut item.expr, visitor)),
        Some(OrderByKind::Rank { call, .. }) => expr(call, visitor),
    }
    if let Some(offset_limit) = &mut query.offset_limit {
        visitor.count(&mut offset_limit.offset.kind);
        visitor.count(&mut offset_limit.limit.kind);
    }
}

/// Walks an expression.
pub(super) fn expr<V: Visitor>(expr: &mut Expr, visitor: &mut V) {
    if !visitor.expr(expr) {
        return;
    }
    match &mut expr.kind {
        ExprKind::Literal(_) | ExprKind::Parameter(_) | ExprKind::Identifier(_) => {}
        ExprKind::Member { object: inner, .. } | ExprKind::Unary { operand: inner, .. } => {
            self::expr(inner, visitor);
        }
        ExprKind::Index { object: first, index: second }
        | ExprKind::Binary { left: first, right: second, .. }
        | ExprKind::Coalesce { left: first, right: second }
        | ExprKind::Like { value: first, pattern: second, .. }
        | ExprKind::Let { value: first, body: second, .. } => {
            self::expr(first, visitor);
            self::expr(second, visitor);
        }
        ExprKind::Conditional { condition: first, then: second, otherwise: third }
        | ExprKind::Between { value: first, low: second, high: third, .. } => {
            self::expr(first, visitor);
            self::expr(second, visitor);
            self::expr(third, visitor);
        }
        ExprKind::In { value, list, .. } => {
            self::expr(value, visitor);
            list.iter_mut().for_each(|candidate| self::expr(candidate, visitor));
        }
        ExprKind::And(parts)
        | ExprKind::Or(parts)
        | ExprKind::Array(parts)
        | ExprKind::Call { args: parts, .. }
        | ExprKind::UdfCall { args: parts, .. } => {
            parts.iter_mut().for_each(|part| self::expr(part, visitor));
        }
        ExprKind::Object(members) => {
            members.iter_mut().for_each(|member| self::expr(&mut member.value, visitor));
        }
        ExprKind::Subquery(inner)
        | ExprKind::Exists(inner)
        | ExprKind::ArrayQuery(inner)
        | ExprKind::All(inner)
        | ExprKind::First(inner)
        | ExprKind::Last(inner) => query(inner, visitor),
    }
}
