//! What SDKs ask for when they run a query on every partition themselves: a plan of what they have to merge, the
//! text that each partition is to be sent, and the partitions that matter.
//!
//! [`plan`] makes the answer: ranges are sorted and do not overlap.
//!
//! Invariants:
//! * every rewritten text parses and binds, once the client has put a condition in the place of [`FILTER_MARK`];
//! * running it on each range of the plan and merging as the plan says gives what the query gives over one
//!   partition with all the items; where no client can merge so, the query is refused.
//!
//! Not here: running anything, how plans are written, and which statuses and headers tell a client to ask for a plan.

mod features;
mod info;
mod keys;
mod ranges;
mod rewrite;

use armilla_sql::ast;

use crate::bound::{BoundQuery, SourceKind, Window};
use crate::error::Result;
use crate::expr::Expr;

pub use armilla_functions::Aggregate;
pub use armilla_sql::ast::Direction;
pub use features::{Feature, Features};
pub use keys::{KEYS_MAX, KeyScope, PartitionKeyShape, partition_keys};
pub use ranges::QueryRange;
pub use rewrite::FILTER_MARK;

/// What a client is told of aggregates that are not by themselves after VALUE, if it cannot merge these.
const VALUE_AGGREGATES_ONLY: &str =
    "Cross partition query only supports 'VALUE <AggregateFunc>' for aggregates.";

/// The answer to a request for a query plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayPlan {
    /// What the client has to do.
    pub query_info: QueryInfo,
    /// Where it has to send the text; sorted, without overlaps, never empty.
    pub query_ranges: Vec<QueryRange>,
}

/// What a client has to do with the rows of the partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryInfo {
    /// How equal rows of several partitions are found.
    pub distinct_type: DistinctType,
    /// The client stops after this many rows.
    pub top: Option<u64>,
    /// The client passes over this many rows.
    pub offset: Option<u64>,
    /// The client then stops after this many rows.
    pub limit: Option<u64>,
    /// In which direction each column of `orderByItems` is merged.
    pub order_by: Vec<Direction>,
    /// The text of each of these columns, from which clients make conditions to go on from a row.
    pub order_by_expressions: Vec<String>,
    /// The text of each grouping expression.
    pub group_by_expressions: Vec<String>,
    /// The properties of a row that are merged by name, in order of the selection.
    pub group_by_aliases: Vec<String>,
    /// The aggregate after VALUE.
    pub aggregates: Vec<Aggregate>,
    /// How each property of a row is merged; `None` where it is the same in the whole group.
    pub group_by_alias_to_aggregate: Vec<(String, Option<Aggregate>)>,
    /// What each partition is sent; empty for the original text.
    pub rewritten_query: String,
    /// Whether rows are the value of one expression.
    pub has_select_value: bool,
    /// Present if the client has to count the distinct rows: the property that takes the number, empty after VALUE.
    pub distinct_count_alias: Option<String>,
}

/// How equal rows are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistinctType {
    /// They are not looked for.
    None,
    /// They follow one another in the merged order.
    Ordered,
    /// They may be anywhere.
    Unordered,
}

/// Plans a query for a client that merges, which must have been bound without an error.
///
/// Refused is what no client can merge, and what this client cannot merge by the features it knows.
pub fn plan(
    query: &ast::Query,
    bound: &BoundQuery,
    partition_key: &PartitionKeyShape,
    features: Features,
) -> Result<GatewayPlan> {
    let scope = partition_keys(bound, partition_key);
    let query_info = info::query_info(query, bound, &scope)?;
    features.check(&query_info)?;
    // Without FROM there is one row, whatever the partition: it must not come from several.
    let reads_items = !bound.sources.is_empty();
    let query_ranges = if reads_items {
        ranges::query_ranges(&scope, partition_key)
    } else {
        ranges::query_ranges(&KeyScope::Nothing, partition_key)
    };
    Ok(GatewayPlan { query_info, query_ranges })
}

/// Says whether the rows of several partitions, one partition after the other, are something else than the rows of
/// the query.
pub fn needs_merge(bound: &BoundQuery) -> bool {
    bound.distinct
        || bound.grouping.is_some()
        || !bound.order.is_empty()
        || bound.window != Window::default()
        || derives_merged(bound)
}

/// Says whether the first source is a query that needs merging itself.
fn derives_merged(bound: &BoundQuery) -> bool {
    match bound.sources.first().map(|source| &source.kind) {
        Some(SourceKind::Rows(inner) | SourceKind::RowElements(inner)) => needs_merge(inner),
        Some(SourceKind::Item | SourceKind::Value(_) | SourceKind::Elements(_)) | None => false,
    }
}

/// Says whether an expression has an aggregate in it.
fn has_aggregate(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |part| found |= matches!(part, Expr::Aggregate(_)));
    found
}
