//! From the syntax tree to a bound query: names become slots, parameters become constants, functions are known,
//! and what the language forbids is refused.
//!
//! Every slot has a number of its own in the whole query, nested queries included; slot 0 is the item.

mod computed;
mod expression;
mod grouping;
mod scope;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use armilla_sql::ast::{self, CollectionKind, CountKind, ExprKind, OrderByKind, PathSegment, Selection};
use armilla_sql::{QueryError, Span};
use armilla_value::Value;

use crate::bound::{BoundQuery, BoundSource, OrderKey, Projection, SourceKind, Window};
use crate::error::{Error, ErrorKind, Result};
use crate::expr::{Expr, PathStep};
use crate::limits::{JOINS_MAX, UDF_CALLS_MAX};
use scope::Scope;

pub use computed::ComputedProperty;

/// Counts above this are refused in TOP, OFFSET and LIMIT.
const COUNT_MAX: u64 = u32::MAX as u64;

/// What names in a query can stand for, beside its own aliases.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) parameters: &'a [(String, Value)],
    pub(crate) computed: &'a [ComputedProperty],
    /// Whether `_rid` and the like are added by the server rather than stored in the item.
    pub(crate) system_properties: bool,
}

/// Binds an outermost query.
///
/// Returns the names of the user-defined functions that it calls as well.
pub(crate) fn bind(query: &ast::Query, names: Names<'_>) -> Result<(BoundQuery, Vec<String>)> {
    let mut binder = Binder {
        names,
        slots: 1,
        joins: 0,
        udf_calls: Vec::new(),
        outermost_span: query.span,
        parameters: HashMap::new(),
    };
    let bound = binder.query(query, &Scope::default(), QueryLevel::Outermost)?;
    Ok((bound, binder.udf_calls))
}

/// Where a query stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QueryLevel {
    Outermost,
    /// The first source of the outermost FROM, or of one nested there: it may read the container.
    FirstSource,
    /// Anywhere else.
    Inner,
}

struct Binder<'a> {
    names: Names<'a>,
    /// The next free slot.
    slots: usize,
    joins: usize,
    udf_calls: Vec<String>,
    outermost_span: Span,
    /// Values of parameters, shared by all places that name them.
    parameters: HashMap<String, Arc<Value>>,
}

impl Binder<'_> {
    fn query(&mut self, query: &ast::Query, outer: &Scope<'_>, place: QueryLevel) -> Result<BoundQuery> {
        if place != QueryLevel::Outermost {
            refuse_in_subquery(query)?;
        }
        let mut scope = Scope::inside(outer);
        let mut sources = Vec::new();
        if let Some(from) = &query.from {
            self.joins += from.sources.len() - 1;
            if self.joins > JOINS_MAX {
                return Err(QueryError {
                    code: None,
                    message: format!(
                        "The query exceeded the maximum number of joins. The allowed limit is {JOINS_MAX}."
                    ),
                    span: Some(from.span),
                }
                .into());
            }
            for (position, source) in from.sources.iter().enumerate() {
                let place = if position == 0 { place } else { QueryLevel::Inner };
                self.source(source, &mut scope, place, &mut sources)?;
            }
        }
        let filter = match &query.filter {
            Some(filter) => Some(self.expression(filter, &scope)?),
            None => None,
        };
        let (projection, grouping) = self.selection(query, &scope, &sources)?;
        let order = self.order(query, &scope, &sources, grouping.as_ref())?;
        Ok(BoundQuery {
            sources,
            filter,
            grouping,
            order,
            projection,
            distinct: query.distinct,
            window: self.window(query)?,
        })
    }

    fn new_slot(&mut self) -> usize {
        let slot = self.slots;
        self.slots += 1;
        slot
    }

    fn source(
        &mut self,
        source: &ast::Source,
        scope: &mut Scope<'_>,
        place: QueryLevel,
        sources: &mut Vec<BoundSource>,
    ) -> Result<()> {
        let iterates = matches!(source.kind, ast::SourceKind::Iterate { .. });
        let collection = source.collection();
        let alias = source.alias();
        if let Some(alias) = alias
            && scope.is_own(&alias.text)
        {
            return Err(QueryError {
                code: None,
                message: format!("The input alias '{}' is specified multiple times.", alias.text),
                span: Some(alias.span),
            }
            .into());
        }
        match &collection.kind {
            CollectionKind::Query(inner) => {
                let inner_place = match place {
                    QueryLevel::Outermost | QueryLevel::FirstSource => QueryLevel::FirstSource,
                    QueryLevel::Inner => QueryLevel::Inner,
                };
                let inner = Box::new(self.query(inner, scope, inner_place)?);
                let kind = if iterates { SourceKind::RowElements(inner) } else { SourceKind::Rows(inner) };
                self.add(alias, kind, scope, sources);
            }
            CollectionKind::Path { root, segments } => {
                let known = scope.find(&root.text);
                let may_be_container = place != QueryLevel::Inner && sources.is_empty();
                let slot = match known {
                    // In the outermost FROM the first name is the container whatever it is called.
                    Some(slot) if place != QueryLevel::Outermost => slot,
                    _ if may_be_container => 0,
                    Some(slot) => slot,
                    None => return Err(unresolved(&root.text, root.span)),
                };
                let is_container = slot == 0 && known != Some(0) && may_be_container;
                if is_container {
                    sources.push(BoundSource { slot: 0, kind: SourceKind::Item });
                    if segments.is_empty() && !iterates {
                        if let Some(alias) = alias {
                            scope.add(&alias.text, 0);
                        }
                        return Ok(());
                    }
                }
                let steps: Vec<PathStep> = segments
                    .iter()
                    .map(|segment| match segment {
                        PathSegment::Name(name) => PathStep::Name(name.text.clone()),
                        PathSegment::Index(index) => PathStep::Element(*index),
                    })
                    .collect();
                let path = self.path(slot, steps);
                let kind = if iterates { SourceKind::Elements(path) } else { SourceKind::Value(path) };
                self.add(alias, kind, scope, sources);
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        alias: Option<&ast::Name>,
        kind: SourceKind,
        scope: &mut Scope<'_>,
        sources: &mut Vec<BoundSource>,
    ) {
        let slot = self.new_slot();
        if let Some(alias) = alias {
            scope.add(&alias.text, slot);
        }
        sources.push(BoundSource { slot, kind });
    }

    fn selection(
        &mut self,
        query: &ast::Query,
        scope: &Scope<'_>,
        sources: &[BoundSource],
    ) -> Result<(Projection, Option<crate::bound::Grouping>)> {
        match &query.selection {
            Selection::Star => {
                if let Some(group_by) = &query.group_by {
                    let message = "'SELECT *' is not allowed with GROUP BY.";
                    return Err(QueryError::new("SC2041", message, group_by.span).into());
                }
                let count = query.from.as_ref().map_or(0, |from| from.sources.len());
                let (1, Some(source)) = (count, sources.last()) else {
                    let message = match count {
                        0 => "'SELECT *' is not valid if FROM clause is omitted.",
                        _ => "'SELECT *' is only valid with a single input set.",
                    };
                    return Err(QueryError {
                        code: None,
                        message: message.to_owned(),
                        span: Some(query.selection_span),
                    }
                    .into());
                };
                Ok((Projection::Value(Expr::Slot(source.slot)), None))
            }
            Selection::Value(expr) => {
                let (mut exprs, grouping) = self.grouped(query, &[expr], scope)?;
                Ok((Projection::Value(exprs.remove(0)), grouping))
            }
            Selection::List(items) => {
                let exprs: Vec<&ast::Expr> = items.iter().map(|item| &item.expr).collect();
                let (exprs, grouping) = self.grouped(query, &exprs, scope)?;
                let mut fields: Vec<(String, Expr)> = Vec::with_capacity(items.len());
                let mut unnamed = 0;
                let mut known = HashSet::with_capacity(items.len());
                for (item, expr) in items.iter().zip(exprs) {
                    let name = match item.name() {
                        Some(name) => name.to_owned(),
                        None => {
                            unnamed += 1;
                            format!("${unnamed}")
                        }
                    };
                    if !known.insert(name.clone()) {
                        return Err(QueryError {
                            code: None,
                            message: format!("The property name '{name}' is specified multiple times."),
                            span: Some(item.alias.as_ref().map_or(item.expr.span, |alias| alias.span)),
                        }
                        .into());
                    }
                    fields.push((name, expr));
                }
                Ok((Projection::Fields(fields), grouping))
            }
        }
    }

    fn order(
        &mut self,
        query: &ast::Query,
        scope: &Scope<'_>,
        sources: &[BoundSource],
        grouping: Option<&crate::bound::Grouping>,
    ) -> Result<Vec<OrderKey>> {
        let Some(order_by) = &query.order_by else { return Ok(Vec::new()) };
        let items = match &order_by.kind {
            OrderByKind::Items(items) => items,
            OrderByKind::Rank { call, .. } => return Err(self.rank(query, call)),
        };
        let mut keys = Vec::with_capacity(items.len());
        for item in items {
            if let ExprKind::Call { name, .. } = &item.expr.kind
                && name.text.eq_ignore_ascii_case("VectorDistance")
            {
                return Err(unsupported("ordering by VectorDistance"));
            }
            let expr = self.expression(&item.expr, scope)?;
            let descending = item.direction == ast::Direction::Descending;
            if let Some(grouping) = grouping {
                // Without groups there is one row, which is in any order.
                if grouping.keys.is_empty() {
                    continue;
                }
                let Some(key) = grouping.keys.iter().position(|key| *key == expr) else {
                    return Err(QueryError {
                        code: None,
                        message: "ORDER BY with GROUP BY or aggregates is supported over grouping expressions only."
                            .to_owned(),
                        span: Some(item.expr.span),
                    }
                    .into());
                };
                keys.push(OrderKey { expr: Expr::GroupKey(key), descending });
                continue;
            }
            let expr = document_path(expr, sources).map_err(|problem| match problem {
                NoDocumentPath::Correlated => QueryError {
                    code: None,
                    message: "Order-by over correlated collections is not supported.".to_owned(),
                    span: Some(item.expr.span),
                },
                NoDocumentPath::NoPath => QueryError::new(
                    "2206",
                    "Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path.",
                    item.expr.span,
                ),
            })?;
            keys.push(OrderKey { expr, descending });
        }
        Ok(keys)
    }

    /// Says what is wrong with ORDER BY RANK, which is nothing but that it is not built yet, if it is well formed.
    fn rank(&self, query: &ast::Query, call: &ast::Expr) -> Error {
        let name = match &call.kind {
            ExprKind::Call { name, .. } => name.text.to_ascii_lowercase(),
            _ => String::new(),
        };
        let order_span = query.order_by.as_ref().map_or(query.span, |order_by| order_by.span);
        if !matches!(name.as_str(), "fulltextscore" | "vectordistance" | "rrf") {
            let message = "The ORDER BY RANK clause must be followed by a VectorDistance and/or a FullTextScore function call.";
            return QueryError::new("SC2221", message, order_span).into();
        }
        if let Some(from) = &query.from {
            let first = &from.sources[0];
            if matches!(first.kind, ast::SourceKind::Iterate { .. }) {
                let message =
                    "The FROM clause with the IN operator is not allowed with the ORDER BY RANK clause.";
                return QueryError::new("SC2223", message, first.span).into();
            }
            if let Some(join) = from.sources.get(1) {
                let message = "The JOIN operator is not allowed with the ORDER BY RANK clause.";
                return QueryError::new("SC2224", message, join.span).into();
            }
            if matches!(first.collection().kind, CollectionKind::Query(_)) {
                let message = "Subqueries in the FROM clause are not allowed with the ORDER BY RANK clause.";
                return QueryError::new("SC2225", message, first.span).into();
            }
        }
        unsupported("ORDER BY RANK")
    }

    fn window(&mut self, query: &ast::Query) -> Result<Window> {
        if let (Some(top), Some(_)) = (&query.top, &query.offset_limit) {
            return Err(QueryError {
                code: None,
                message: "TOP cannot be used together with OFFSET LIMIT.".to_owned(),
                span: Some(top.span),
            }
            .into());
        }
        if let Some(top) = &query.top {
            let refused = || {
                let message = "The count value provided for a TOP clause must be an integer.";
                Error::from(QueryError::new("SC2060", message, top.span))
            };
            let count = self.count(&top.count)?.filter(|count| *count <= COUNT_MAX).ok_or_else(refused)?;
            return Ok(Window { offset: 0, limit: Some(count) });
        }
        let Some(clause) = &query.offset_limit else { return Ok(Window::default()) };
        let mut checked = |count: &ast::Count, code: &'static str, word: &str| -> Result<u64> {
            self.count(count)?.filter(|count| *count <= COUNT_MAX).ok_or_else(|| {
                let message = format!("The {word} count value exceeds the maximum allowed value.");
                QueryError::new(code, message, clause.span).into()
            })
        };
        let offset = checked(&clause.offset, "SC2062", "OFFSET")?;
        let limit = checked(&clause.limit, "SC2061", "LIMIT")?;
        Ok(Window { offset, limit: Some(limit) })
    }

    /// Returns a count, or nothing if it is no integer from 0 on.
    fn count(&mut self, count: &ast::Count) -> Result<Option<u64>> {
        Ok(match &count.kind {
            CountKind::Integer(integer) => Some(*integer),
            CountKind::Double(_) => None,
            CountKind::Parameter(name) => {
                let value = self.parameter(name, count.span)?;
                let whole = value.as_i64().or_else(|| {
                    value
                        .as_f64()
                        .filter(|number| number.fract() == 0.0 && number.abs() < 9e15)
                        .map(|number| number as i64)
                });
                whole.and_then(|integer| u64::try_from(integer).ok())
            }
        })
    }

    fn parameter(&mut self, name: &str, span: Span) -> Result<Arc<Value>> {
        if self.parameters.is_empty() {
            // Of two with one name the first counts.
            for (name, value) in self.names.parameters.iter().rev() {
                self.parameters.insert(name.clone(), Arc::new(value.clone()));
            }
        }
        match self.parameters.get(name) {
            Some(value) => Ok(value.clone()),
            None => Err(QueryError {
                code: Some("SC2001"),
                message: format!("Parameter '{name}' is used in the query but not supplied with it."),
                span: Some(span),
            }
            .into()),
        }
    }

    fn count_udf_call(&mut self, name: &str) -> Result<()> {
        self.udf_calls.push(name.to_owned());
        if self.udf_calls.len() <= UDF_CALLS_MAX {
            return Ok(());
        }
        let message = format!(
            "The SQL query exceeded the maximum number of user-defined function calls. The allowed limit is {UDF_CALLS_MAX}."
        );
        Err(QueryError::new("SC3005", message, self.outermost_span).into())
    }
}

/// Why an expression is no path below the item.
enum NoDocumentPath {
    Correlated,
    NoPath,
}

/// Returns an ORDER BY item as a path below the item.
fn document_path(expr: Expr, sources: &[BoundSource]) -> std::result::Result<Expr, NoDocumentPath> {
    match expr {
        Expr::Path { slot: 0, .. } | Expr::System(_) | Expr::Computed { .. } => Ok(expr),
        Expr::Path { slot, steps } => {
            // An alias of a path below the item only shortens that path.
            let source = sources.iter().find(|source| source.slot == slot);
            match source.map(|source| &source.kind) {
                Some(SourceKind::Value(Expr::Path { slot: 0, steps: above })) => {
                    Ok(Expr::Path { slot: 0, steps: [&above[..], &steps].concat() })
                }
                _ => Err(NoDocumentPath::Correlated),
            }
        }
        Expr::Slot(slot) if slot != 0 => {
            let source = sources.iter().find(|source| source.slot == slot);
            match source.map(|source| &source.kind) {
                Some(SourceKind::Value(path @ Expr::Path { slot: 0, .. })) => Ok(path.clone()),
                _ => Err(NoDocumentPath::Correlated),
            }
        }
        _ => Err(NoDocumentPath::NoPath),
    }
}

fn refuse_in_subquery(query: &ast::Query) -> Result<()> {
    let refused = |code, message: &str, span| Err(QueryError::new(code, message, span).into());
    if let Some(order_by) = &query.order_by {
        return match order_by.kind {
            OrderByKind::Items(_) => {
                refused("SC2202", "'ORDER BY' is not supported in subqueries.", order_by.span)
            }
            OrderByKind::Rank { .. } => {
                refused("SC2228", "The ORDER BY RANK clause is not supported in subqueries.", order_by.span)
            }
        };
    }
    if let Some(top) = &query.top {
        return refused("SC2203", "'TOP' is not supported in subqueries.", top.span);
    }
    if let Some(clause) = &query.offset_limit {
        return refused("SC2204", "'OFFSET LIMIT' clause is not supported in subqueries.", clause.span);
    }
    Ok(())
}

fn unresolved(name: &str, span: Span) -> Error {
    QueryError::new("SC2001", format!("Identifier '{name}' could not be resolved."), span).into()
}

fn unsupported(what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{what} is not supported yet"))
}

#[cfg(test)]
mod tests;
