//! What a client has to do for a query.

use armilla_functions::Aggregate;
use armilla_sql::ast::{self, Direction, OrderByKind, Selection};

use super::keys::KeyScope;
use super::rewrite;
use super::{DistinctType, QueryInfo, derives_merged, has_aggregate};
use crate::bound::{BoundQuery, Projection, SourceKind};
use crate::error::{Error, Result};
use crate::expr::Expr;

/// One value of a selection.
pub(super) struct Column<'a> {
    /// Its name; empty after VALUE.
    pub(super) name: String,
    /// The text.
    pub(super) expr: &'a ast::Expr,
    /// What the text means.
    bound: &'a Expr,
    /// The aggregate, if that is what it is.
    pub(super) aggregate: Option<Aggregate>,
}

pub(super) fn query_info(query: &ast::Query, bound: &BoundQuery, scope: &KeyScope) -> Result<QueryInfo> {
    let columns = columns(query, bound)?;
    let has_select_value = matches!(query.selection, Selection::Value(_));
    let mut info = QueryInfo {
        distinct_type: DistinctType::None,
        top: None,
        offset: None,
        limit: None,
        order_by: Vec::new(),
        order_by_expressions: Vec::new(),
        group_by_expressions: Vec::new(),
        group_by_aliases: Vec::new(),
        aggregates: Vec::new(),
        group_by_alias_to_aggregate: Vec::new(),
        rewritten_query: String::new(),
        has_select_value,
        distinct_count_alias: None,
    };
    if let Some(inner) = distinct_count(query, bound)
        && !scope.is_single()
    {
        refuse_window_of_one(bound)?;
        info.distinct_type = DistinctType::Unordered;
        info.distinct_count_alias = columns.first().map(|column| column.name.clone());
        info.rewritten_query = inner.to_string();
        return Ok(info);
    }
    if derives_merged(bound) && !scope.is_single() {
        return Err(Error::refused(
            "A query over the rows of a subquery with DISTINCT, GROUP BY or aggregates is only supported within one \
             partition key.",
        ));
    }
    if query.top.is_some() {
        info.top = bound.window.limit;
    }
    let distinct_groups = bound.distinct && hides_group_keys(bound, &columns);
    // One logical partition needs no merging. The client cuts off rows after TOP all the same.
    if scope.is_single() && (distinct_groups || (bound.grouping.is_none() && !bound.distinct)) {
        return Ok(info);
    }
    // Clients do not agree whether equal rows are looked for before or after groups are merged.
    if distinct_groups {
        return Err(Error::refused(
            "DISTINCT with GROUP BY is only supported within one partition key, or if all grouping expressions are \
             selected.",
        ));
    }
    if query.offset_limit.is_some() {
        info.offset = Some(bound.window.offset);
        info.limit = bound.window.limit;
    }
    if bound.grouping.is_some() {
        // Some clients merge groups without regard to their order.
        if !bound.order.is_empty() {
            return Err(Error::refused("'ORDER BY' is not supported with 'GROUP BY' by clients that merge."));
        }
        group(query, &columns, &mut info);
        info.rewritten_query = rewrite::grouped(query, &columns).to_string();
        return Ok(info);
    }
    let (keys, directions) = order_keys(query);
    info.distinct_type = distinct_type(bound, &columns);
    info.rewritten_query = if keys.is_empty() {
        unordered(query, &info)
    } else {
        let source = first_source(query).ok_or_else(correlated)?;
        limited(rewrite::ordered(query, source, &columns, &keys), &info).to_string()
    };
    info.order_by = directions;
    info.order_by_expressions = keys.iter().map(ToString::to_string).collect();
    Ok(info)
}

/// Returns the values of the selection; none for `*`.
fn columns<'a>(query: &'a ast::Query, bound: &'a BoundQuery) -> Result<Vec<Column<'a>>> {
    let values: Vec<(String, &ast::Expr, &Expr)> = match (&query.selection, &bound.projection) {
        (Selection::Value(expr), Projection::Value(bound)) => vec![(String::new(), expr, bound)],
        (Selection::List(items), Projection::Fields(fields)) => {
            let value = |(item, field): (&'a ast::SelectItem, &'a (String, Expr))| {
                (field.0.clone(), &item.expr, &field.1)
            };
            items.iter().zip(fields).map(value).collect()
        }
        _ => Vec::new(),
    };
    let column = |(name, expr, value): (String, &'a ast::Expr, &'a Expr)| {
        let aggregate = match (value, &bound.grouping) {
            (Expr::Aggregate(number), Some(grouping)) => {
                grouping.aggregates.get(*number).map(|(kind, _)| *kind)
            }
            _ => None,
        };
        if aggregate.is_none() && has_aggregate(value) {
            return Err(Error::refused("Compositions of aggregates and other expressions are not allowed."));
        }
        Ok(Column { name, expr, bound: value, aggregate })
    };
    values.into_iter().map(column).collect()
}

/// Returns the query whose distinct rows are counted, if that is what a query does and all that it does.
fn distinct_count<'a>(query: &'a ast::Query, bound: &BoundQuery) -> Option<&'a ast::Query> {
    let [source] = &bound.sources[..] else { return None };
    let SourceKind::Rows(inner) = &source.kind else { return None };
    let counts = match &bound.grouping {
        Some(grouping) => {
            grouping.keys.is_empty()
                && matches!(grouping.aggregates[..], [(Aggregate::Count, Expr::Constant(_))])
        }
        None => false,
    };
    let is_only_value = match &bound.projection {
        Projection::Value(_) => true,
        Projection::Fields(fields) => fields.len() == 1,
    };
    let merges_as_distinct = inner.distinct && inner.grouping.is_none() && !derives_merged(inner);
    if !(counts && is_only_value && bound.filter.is_none() && merges_as_distinct) {
        return None;
    }
    match &first_source(query)?.collection().kind {
        ast::CollectionKind::Query(inner) => Some(inner),
        ast::CollectionKind::Path { .. } => None,
    }
}

/// Refuses to cut off the one row of a distinct count, which clients would do before they count.
fn refuse_window_of_one(bound: &BoundQuery) -> Result<()> {
    if bound.window.offset == 0 && bound.window.limit != Some(0) {
        return Ok(());
    }
    Err(Error::refused("TOP or OFFSET LIMIT must not leave out the number of distinct rows."))
}

fn order_keys(query: &ast::Query) -> (Vec<&ast::Expr>, Vec<Direction>) {
    match query.order_by.as_ref().map(|order_by| &order_by.kind) {
        Some(OrderByKind::Items(items)) => items.iter().map(|item| (&item.expr, item.direction)).unzip(),
        // The binder refuses RANK as yet.
        Some(OrderByKind::Rank { .. }) | None => (Vec::new(), Vec::new()),
    }
}

fn group(query: &ast::Query, columns: &[Column<'_>], info: &mut QueryInfo) {
    let group_by = query.group_by.as_ref();
    info.group_by_expressions =
        group_by.map_or_else(Vec::new, |group_by| group_by.keys.iter().map(ToString::to_string).collect());
    if info.has_select_value {
        info.aggregates = columns.iter().filter_map(|column| column.aggregate).collect();
    } else {
        info.group_by_aliases = columns.iter().map(|column| column.name.clone()).collect();
        info.group_by_alias_to_aggregate =
            columns.iter().map(|column| (column.name.clone(), column.aggregate)).collect();
    }
}

/// Says whether groups may give equal rows: those that show their keys are distinct anyway.
fn hides_group_keys(bound: &BoundQuery, columns: &[Column<'_>]) -> bool {
    let key_count = bound.grouping.as_ref().map_or(0, |grouping| grouping.keys.len());
    !(0..key_count).all(|key| columns.iter().any(|column| *column.bound == Expr::GroupKey(key)))
}

/// Equal rows follow one another if they consist of the first keys of the order.
fn distinct_type(bound: &BoundQuery, columns: &[Column<'_>]) -> DistinctType {
    if !bound.distinct {
        return DistinctType::None;
    }
    let is_projected = |key: &Expr| columns.iter().any(|column| column.bound == key);
    let first_keys =
        bound.order.iter().map(|key| &key.expr).take_while(|key| is_projected(key)).collect::<Vec<_>>();
    let is_ordered = !columns.is_empty() && columns.iter().all(|column| first_keys.contains(&column.bound));
    if is_ordered { DistinctType::Ordered } else { DistinctType::Unordered }
}

/// Returns the text for partitions where there is nothing to merge but duplicates and counts; empty if the original
/// will do.
fn unordered(query: &ast::Query, info: &QueryInfo) -> String {
    let is_limited = query.top.is_some() || query.offset_limit.is_some();
    match info.distinct_type {
        // Rows of a partition that others have too would count.
        DistinctType::Ordered | DistinctType::Unordered if is_limited => {
            ast::Query { distinct: true, ..rewrite::unlimited(query) }.to_string()
        }
        DistinctType::None if query.offset_limit.is_some() => {
            limited(rewrite::unlimited(query), info).to_string()
        }
        DistinctType::None | DistinctType::Ordered | DistinctType::Unordered => String::new(),
    }
}

/// Lets a partition end where the client will, unless it gives rows that the client leaves out.
fn limited(query: ast::Query, info: &QueryInfo) -> ast::Query {
    if info.distinct_type != DistinctType::None {
        return query;
    }
    match (info.top, info.offset, info.limit) {
        (Some(top), _, _) => rewrite::with_top(query, top),
        (None, Some(offset), Some(limit)) => rewrite::with_limit(query, offset, limit),
        _ => query,
    }
}

fn first_source(query: &ast::Query) -> Option<&ast::Source> {
    query.from.as_ref()?.sources.first()
}

fn correlated() -> Error {
    Error::refused("Order-by over correlated collections is not supported.")
}
