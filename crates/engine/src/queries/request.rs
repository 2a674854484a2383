//! What a query asks for, and what it is answered with.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use armilla_container::{
    ListScope, Position, PricedPart, QueryWork, ReadCost, RequestUnits, query_charge, query_price,
};
use armilla_query::bound::BoundQuery;
use armilla_query::expr::Expr;
use armilla_query::physical::PhysicalPlan;
use armilla_query::{CompileOptions, CompiledQuery, ComputedProperty, RowForm, Work};
use armilla_value::{PartitionKey, Value};

use super::metrics::QueryMetrics;
use super::read::ReadQueries;
use crate::access::Access;

/// A query: a text of the query language, or what such a text comes to, made by a front end of its own.
#[derive(Debug, Clone)]
pub enum Query {
    /// A text.
    Text {
        /// The text.
        text: String,
        /// Its parameters, their names with the `@`.
        parameters: Vec<(String, Value)>,
    },
    /// A query without a text. Who makes it bounds its height.
    Plan(Arc<BoundQuery>),
}

impl Query {
    /// Returns the text, where there is one.
    pub(super) fn text(&self) -> &str {
        match self {
            Query::Text { text, .. } => text,
            Query::Plan(_) => "",
        }
    }

    /// Compiles it. Texts that were read before are in `known`.
    pub(super) fn compile(
        &self,
        known: Option<&ReadQueries>,
        computed: &[ComputedProperty],
        system_properties: bool,
    ) -> armilla_query::Result<CompiledQuery> {
        match self {
            Query::Text { text, parameters } => {
                let options = CompileOptions { parameters, computed, system_properties };
                match known {
                    Some(known) => CompiledQuery::of(known.read(text)?, options),
                    None => CompiledQuery::new(text, options),
                }
            }
            Query::Plan(bound) => Ok(CompiledQuery::from_bound(BoundQuery::clone(bound))),
        }
    }

    /// Says whether user-defined functions may be called. A text is not read for it: what calls none and looks so all
    /// the same has other neighbours, and nothing else.
    pub(super) fn names_functions(&self) -> bool {
        match self {
            Query::Text { text, .. } => {
                text.as_bytes().windows(3).any(|word| word.eq_ignore_ascii_case(b"udf"))
            }
            Query::Plan(bound) => {
                let mut found = false;
                bound.visit(&mut |expr| found |= matches!(expr, Expr::Udf(..)));
                found
            }
        }
    }

    /// Returns what queries have in common that differ in their values alone.
    pub(super) fn shape(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        match self {
            Query::Text { text, .. } => text.hash(&mut hasher),
            Query::Plan(bound) => bound.visit(&mut |expr| {
                std::mem::discriminant(expr).hash(&mut hasher);
                if let Expr::Path { slot, steps } = expr {
                    (slot, steps).hash(&mut hasher);
                }
            }),
        }
        hasher.finish()
    }
}

/// A page of a query's results that is asked for.
#[derive(Clone)]
pub struct QueryRequest {
    /// The query.
    pub query: Query,
    /// Which part of the container it is about.
    pub scope: ListScope,
    /// Whether it may be sent to more than one logical partition.
    pub cross_partition: bool,
    /// Whether results of several partitions are put together here; otherwise the caller is told to do it.
    pub merge: bool,
    /// At most how many rows; `None` leaves it to the server.
    pub rows_max: Option<usize>,
    /// How rows are written; `None` for JSON, joined by commas.
    pub form: Option<Arc<dyn RowForm>>,
    /// Where the page before ended.
    pub continuation: Option<String>,
    /// Where an ordered query begins, as some clients say it.
    pub resume_filter: Option<Value>,
    /// How many times more items than there are its plan is chosen for. On a sample, that is the plan of the whole.
    pub magnification: u64,
}

impl QueryRequest {
    /// Makes a request for the first page of a query over all partitions.
    pub fn new(text: impl Into<String>) -> QueryRequest {
        QueryRequest::of(Query::Text { text: text.into(), parameters: Vec::new() })
    }

    /// Makes a request for the first page of a query with parameters over all partitions.
    pub fn with_parameters(text: impl Into<String>, parameters: Vec<(String, Value)>) -> QueryRequest {
        QueryRequest::of(Query::Text { text: text.into(), parameters })
    }

    /// Narrows it to what a caller can see at all: with a permission for one logical partition, that partition.
    pub(super) fn seen_by(mut self, access: &Access) -> QueryRequest {
        if let (Access::Granted(grant), ListScope::All) = (access, &self.scope)
            && let Some(partition_key) = &grant.partition_key
        {
            self.scope = ListScope::PartitionKey(partition_key.clone());
        }
        self
    }

    /// Returns the logical partition that it is about, where it names one.
    pub(crate) fn partition_key(&self) -> Option<&PartitionKey> {
        match &self.scope {
            ListScope::PartitionKey(partition_key) => Some(partition_key),
            ListScope::All | ListScope::Range { .. } => None,
        }
    }

    /// Makes a request for the first page of a query over all partitions.
    pub fn of(query: Query) -> QueryRequest {
        QueryRequest {
            query,
            scope: ListScope::All,
            cross_partition: true,
            merge: true,
            rows_max: None,
            form: None,
            continuation: None,
            resume_filter: None,
            magnification: 1,
        }
    }
}

/// A page of a query's results.
#[derive(Debug, Clone)]
pub struct QueryPage {
    /// The rows in the form that was asked for, with what stands between them.
    pub rows: Vec<u8>,
    /// Where each of them ends in `rows`.
    pub row_ends: Vec<u32>,
    /// Where the next page begins, if there is one.
    pub continuation: Option<String>,
    /// What the page cost.
    pub charge: RequestUnits,
    /// How far the partitions are that were read.
    pub positions: Vec<Position>,
    /// What the query counted up to the end of this page.
    pub work: Work,
    /// What the charge is made of.
    pub(super) priced: Priced,
    /// What the page did.
    pub metrics: QueryMetrics,
    /// How the items of each partition were found.
    pub plans: Vec<PhysicalPlan>,
    /// Whether the rows are in an order that the query asked for.
    pub is_ordered: bool,
    /// Whether an index was read backwards, so that equal rows come in descending order of resource ids.
    pub reverse_scan: bool,
}

/// What a charge is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Priced {
    pub(super) before: QueryWork,
    pub(super) after: QueryWork,
    pub(super) cost: ReadCost,
}

impl QueryPage {
    /// Returns what the charge is made of: the shares add up to it exactly.
    pub fn price(&self) -> Vec<PricedPart> {
        query_price(&self.priced.before, &self.priced.after, self.priced.cost)
    }

    /// Returns what all of the query up to the end of this page would cost on one page.
    pub fn charge_so_far(&self) -> RequestUnits {
        query_charge(&QueryWork::default(), &self.priced.after, self.priced.cost)
    }

    /// Returns how many rows there are.
    pub fn row_count(&self) -> usize {
        self.row_ends.len()
    }

    /// Returns how many items this page read, and how many index entries it walked beside them: without those of the
    /// pages before it.
    pub(crate) fn read_counts(&self) -> (u64, u64) {
        let Priced { before, after, .. } = &self.priced;
        let items = (after.fetched + after.scanned).saturating_sub(before.fetched + before.scanned);
        (items, after.entries.saturating_sub(before.entries))
    }

    /// Returns the rows one by one, where they are JSON.
    pub(crate) fn json_rows(&self) -> impl Iterator<Item = &[u8]> {
        // A comma stands before each but the first.
        let starts = std::iter::once(0).chain(self.row_ends.iter().map(|end| *end as usize + 1));
        starts.zip(&self.row_ends).filter_map(|(start, end)| self.rows.get(start..*end as usize))
    }

    /// Returns the rows one by one, where the form puts nothing between them.
    pub fn each_row(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.row_ends.iter().map(|end| *end as usize));
        starts.zip(&self.row_ends).filter_map(|(start, end)| self.rows.get(start..*end as usize))
    }
}
