//! The logical plan: what is to be done, in the order in which it is done, without how items are found.
//!
//! Rows flow through: input, item filter, joins (each with the conditions that can be checked once it is bound),
//! grouping, order, projection, distinct, window.

use std::fmt;

use crate::bound::{BoundQuery, BoundSource, Grouping, OrderKey, Projection, SourceKind, Window};
use crate::expr::Expr;

/// A logical plan.
#[derive(Debug, Clone, PartialEq)]
pub struct LogicalPlan {
    /// Where rows begin.
    pub input: Input,
    /// Conditions on what the input binds; all must hold.
    pub filter: Vec<Expr>,
    /// Further sources, each in the scope of those before.
    pub joins: Vec<Join>,
    /// How rows are put together.
    pub grouping: Option<Grouping>,
    /// By what rows are ordered.
    pub order: Vec<OrderKey>,
    /// What is made of a row.
    pub projection: Projection,
    /// Whether equal results are given once.
    pub distinct: bool,
    /// Which of the results are given.
    pub window: Window,
}

/// Where rows begin.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// One row without any value.
    Nothing,
    /// The items of the container, in slot 0.
    Items,
    /// The rows of another plan.
    Derived {
        /// The slot that takes each row.
        slot: usize,
        /// The plan.
        plan: Box<LogicalPlan>,
    },
}

/// A further source.
#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    /// What it binds.
    pub source: BoundSource,
    /// Conditions that can be checked once it is bound.
    pub filter: Vec<Expr>,
}

/// The slot of a row whose elements a source iterates; the row itself has no name.
const ROW_SLOT: usize = usize::MAX - 2;

impl LogicalPlan {
    /// Makes a plan from a bound query.
    pub fn new(query: BoundQuery) -> LogicalPlan {
        let mut sources = query.sources.into_iter();
        let mut joins = Vec::new();
        let input = match sources.next() {
            None => Input::Nothing,
            Some(BoundSource { kind: SourceKind::Item, .. }) => Input::Items,
            Some(BoundSource { slot, kind: SourceKind::Rows(inner) }) if reads_items(&inner) => {
                Input::Derived { slot, plan: Box::new(LogicalPlan::new(*inner)) }
            }
            Some(BoundSource { slot, kind: SourceKind::RowElements(inner) }) if reads_items(&inner) => {
                let kind = SourceKind::Elements(Expr::Slot(ROW_SLOT));
                joins.push(Join { source: BoundSource { slot, kind }, filter: Vec::new() });
                Input::Derived { slot: ROW_SLOT, plan: Box::new(LogicalPlan::new(*inner)) }
            }
            Some(first) => {
                joins.push(Join { source: first, filter: Vec::new() });
                Input::Nothing
            }
        };
        joins.extend(sources.map(|source| Join { source, filter: Vec::new() }));
        let mut plan = LogicalPlan {
            input,
            filter: Vec::new(),
            joins,
            grouping: query.grouping,
            order: query.order,
            projection: query.projection,
            distinct: query.distinct,
            window: query.window,
        };
        // Rows are filtered once everything is bound; the optimiser moves conditions forward.
        if let Some(filter) = query.filter {
            match plan.joins.last_mut() {
                Some(join) => join.filter.push(filter),
                None => plan.filter.push(filter),
            }
        }
        plan
    }

    /// Returns whether rows can be given one after the other, each as soon as its item is seen.
    pub fn is_streaming(&self) -> bool {
        self.grouping.is_none() && !matches!(self.input, Input::Derived { .. })
    }
}

/// Returns whether a nested query begins with the container's items.
fn reads_items(query: &BoundQuery) -> bool {
    match query.sources.first().map(|source| &source.kind) {
        Some(SourceKind::Item) => true,
        Some(SourceKind::Rows(inner) | SourceKind::RowElements(inner)) => reads_items(inner),
        _ => false,
    }
}

impl fmt::Display for LogicalPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::explain::logical(self, 0, f)
    }
}
