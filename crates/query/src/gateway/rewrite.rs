//! The texts that partitions are sent, from which clients can merge.
//!
//! Before and after, for each kind of query:
//!
//! ```text
//! SELECT c.a FROM c ORDER BY c.x
//!     SELECT c._rid, [{"item": c.x}] AS orderByItems, {"a": c.a} AS payload
//!     FROM c WHERE ({filter}) ORDER BY c.x
//! SELECT VALUE AVG(c.x) FROM c
//!     SELECT VALUE [{"item": {"sum": SUM(c.x), "count": COUNT(c.x)}}] FROM c
//! SELECT MIN(c.x) AS a FROM c
//!     SELECT {"a": {"item": MIN(c.x), "item2": {"min": MIN(c.x), "count": COUNT(c.x)}}} AS payload FROM c
//! SELECT c.k FROM c GROUP BY c.k
//!     SELECT [{"item": c.k}] AS groupByItems, {"k": c.k} AS payload FROM c GROUP BY c.k
//! ```

use armilla_functions::Aggregate;
use armilla_sql::Span;
use armilla_sql::ast::{
    CollectionKind, Count, CountKind, Expr, ExprKind, Literal, Name, ObjectMember, OffsetLimit, Query,
    SelectItem, Selection, Source, SourceKind, Top,
};

use super::info::Column;

/// What clients replace by a condition in the text of an ordered query, `true` to begin with.
pub const FILTER_MARK: &str = "{documentdb-formattableorderbyquery-filter}";

/// The largest count that a query may have.
const COUNT_MAX: u64 = u32::MAX as u64;

/// Returns the text of an ordered query, without the clauses that limit it.
pub(super) fn ordered(query: &Query, first_source: &Source, columns: &[Column<'_>], keys: &[&Expr]) -> Query {
    let alias = first_source.alias().map(|alias| Expr::from(ExprKind::Identifier(alias.text.clone())));
    let rid = match &alias {
        Some(alias) if is_container(first_source) => {
            let member = ExprKind::Member { object: Box::new(alias.clone()), name: Name::new("_rid") };
            SelectItem { expr: member.into(), alias: None, parenthesised: false }
        }
        _ => no_rid(),
    };
    let payload = match (&query.selection, alias) {
        (Selection::Star, Some(alias)) => alias,
        _ => payload(query, columns),
    };
    // A row that is undefined is none, but an undefined payload would be one without it.
    let defined = match &query.selection {
        Selection::Value(value) => {
            Some(ExprKind::Call { name: Name::new("IS_DEFINED"), args: vec![value.clone()] }.into())
        }
        Selection::Star | Selection::List(_) => None,
    };
    Query {
        selection: Selection::List(vec![rid, named(items(keys), "orderByItems"), named(payload, "payload")]),
        filter: Some(formattable_filter(query.filter.as_ref(), defined)),
        ..unlimited(query)
    }
}

/// Returns the text of a grouped or aggregated query, without the clauses that limit or order it.
pub(super) fn grouped(query: &Query, columns: &[Column<'_>]) -> Query {
    let payload = payload(query, columns);
    let selection = match (&query.group_by, &query.selection) {
        (Some(group_by), _) => {
            let keys: Vec<&Expr> = group_by.keys.iter().collect();
            Selection::List(vec![named(items(&keys), "groupByItems"), named(payload, "payload")])
        }
        (None, Selection::Value(_)) => Selection::Value(payload),
        (None, Selection::Star | Selection::List(_)) => Selection::List(vec![named(payload, "payload")]),
    };
    Query { selection, order_by: None, ..unlimited(query) }
}

/// Returns the query without DISTINCT, TOP and OFFSET LIMIT.
pub(super) fn unlimited(query: &Query) -> Query {
    Query { distinct: false, top: None, offset_limit: None, ..query.clone() }
}

/// Makes a query end after so many rows, in the words of the original.
pub(super) fn with_top(query: Query, count: u64) -> Query {
    let top = Top { count: integer(count), span: Span::default() };
    Query { top: Some(top), ..query }
}

/// Makes a query give the rows that a client needs to pass over some and then take some.
pub(super) fn with_limit(query: Query, offset: u64, limit: u64) -> Query {
    let limit = integer(offset.saturating_add(limit).min(COUNT_MAX));
    let clause = OffsetLimit { offset: integer(0), limit, span: Span::default() };
    Query { offset_limit: Some(clause), ..query }
}

fn integer(count: u64) -> Count {
    Count { kind: CountKind::Integer(count), span: Span::default() }
}

/// Returns what clients make a row of.
fn payload(query: &Query, columns: &[Column<'_>]) -> Expr {
    let value = |column: &Column<'_>| match column.aggregate {
        Some(aggregate) => partial(aggregate, column.expr),
        None => column.expr.clone(),
    };
    match (&query.selection, columns) {
        (Selection::Value(_), [column]) if column.aggregate.is_some() => {
            ExprKind::Array(vec![value(column)]).into()
        }
        (Selection::Value(_), [column]) => value(column),
        _ => object(columns.iter().map(|column| (column.name.clone(), value(column)))),
    }
}

/// Returns the resource id of rows that have none: one client insists on a text.
fn no_rid() -> SelectItem {
    named(ExprKind::Literal(Literal::String(String::new())).into(), "_rid")
}

/// Says whether a source of the outermost FROM is the items themselves.
fn is_container(source: &Source) -> bool {
    match &source.kind {
        SourceKind::Iterate { .. } => false,
        SourceKind::Bind { collection, .. } => {
            matches!(&collection.kind, CollectionKind::Path { segments, .. } if segments.is_empty())
        }
    }
}

/// Returns what clients merge the results of an aggregate from.
fn partial(aggregate: Aggregate, call: &Expr) -> Expr {
    let of_argument = |aggregate: Aggregate| -> Expr {
        let args = match &call.kind {
            ExprKind::Call { args, .. } => args.clone(),
            _ => Vec::new(),
        };
        ExprKind::Call { name: Name::new(aggregate.name()), args }.into()
    };
    let with_count = |name: &str, aggregate: Aggregate| {
        object([
            (name.to_owned(), of_argument(aggregate)),
            ("count".to_owned(), of_argument(Aggregate::Count)),
        ])
    };
    let item = |value: Expr| ("item".to_owned(), value);
    // Some clients read the one, some the other.
    let both = |name: &str| object([item(call.clone()), ("item2".to_owned(), with_count(name, aggregate))]);
    match aggregate {
        Aggregate::Avg => object([item(with_count("sum", Aggregate::Sum))]),
        Aggregate::Min => both("min"),
        Aggregate::Max => both("max"),
        Aggregate::Count | Aggregate::Sum | Aggregate::CountIf | Aggregate::MakeList | Aggregate::MakeSet => {
            object([item(call.clone())])
        }
    }
}

/// Returns `[{"item": a}, {"item": b}]`.
fn items(exprs: &[&Expr]) -> Expr {
    let item = |expr: &&Expr| object([("item".to_owned(), (*expr).clone())]);
    ExprKind::Array(exprs.iter().map(item).collect()).into()
}

fn object(members: impl IntoIterator<Item = (String, Expr)>) -> Expr {
    let member = |(name, value)| ObjectMember { name: Name::new(name), value };
    ExprKind::Object(members.into_iter().map(member).collect()).into()
}

fn named(expr: Expr, name: &str) -> SelectItem {
    SelectItem { expr, alias: Some(Name::new(name)), parenthesised: false }
}

/// Returns the conditions together with the mark, which is in parentheses for any condition to take its place.
fn formattable_filter(filter: Option<&Expr>, defined: Option<Expr>) -> Expr {
    let mark = ExprKind::Identifier(format!("({FILTER_MARK})")).into();
    let mut parts: Vec<Expr> = filter.cloned().into_iter().chain([mark]).chain(defined).collect();
    if parts.len() == 1 { parts.remove(0) } else { ExprKind::And(parts).into() }
}
