//! A query with every name resolved, still in the shape of its clauses.

use armilla_functions::Aggregate;

use crate::expr::Expr;

/// The slot of the item.
pub const ITEM_SLOT: usize = 0;

/// A bound query, outermost or nested.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundQuery {
    /// What binds slots, from left to right; empty without FROM.
    pub sources: Vec<BoundSource>,
    /// Which rows stay.
    pub filter: Option<Expr>,
    /// How rows are put together, where there is a GROUP BY or an aggregate.
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

impl BoundQuery {
    /// Returns the query for all items as they are.
    pub fn items() -> BoundQuery {
        BoundQuery {
            sources: vec![BoundSource { slot: ITEM_SLOT, kind: SourceKind::Item }],
            filter: None,
            grouping: None,
            order: Vec::new(),
            projection: Projection::Value(Expr::Slot(ITEM_SLOT)),
            distinct: false,
            window: Window::default(),
        }
    }

    /// Calls `visit` with every expression in the query, and with those inside of each, subqueries included.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr)) {
        fn each(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
            expr.visit(&mut |part| {
                visit(part);
                if let Expr::Subquery(_, query) = part {
                    query.visit(visit);
                }
            });
        }
        for source in &self.sources {
            match &source.kind {
                SourceKind::Item => {}
                SourceKind::Value(expr) | SourceKind::Elements(expr) => each(expr, visit),
                SourceKind::Rows(query) | SourceKind::RowElements(query) => query.visit(visit),
            }
        }
        self.filter.iter().for_each(|filter| each(filter, visit));
        if let Some(grouping) = &self.grouping {
            grouping.keys.iter().for_each(|key| each(key, visit));
            grouping.aggregates.iter().for_each(|(_, argument)| each(argument, visit));
        }
        self.order.iter().for_each(|key| each(&key.expr, visit));
        match &self.projection {
            Projection::Value(expr) => each(expr, visit),
            Projection::Fields(fields) => fields.iter().for_each(|(_, expr)| each(expr, visit)),
        }
    }

    /// Calls `visit` with every slot that the query reads and does not bind itself.
    pub fn slots(&self, visit: &mut dyn FnMut(usize)) {
        let own: Vec<usize> = self.sources.iter().map(|source| source.slot).collect();
        let mut outer = |slot: usize| {
            if !own.contains(&slot) {
                visit(slot);
            }
        };
        for source in &self.sources {
            match &source.kind {
                SourceKind::Item => {}
                SourceKind::Value(expr) | SourceKind::Elements(expr) => expr.slots(&mut outer),
                SourceKind::Rows(query) | SourceKind::RowElements(query) => query.slots(&mut outer),
            }
        }
        self.filter.iter().for_each(|filter| filter.slots(&mut outer));
        if let Some(grouping) = &self.grouping {
            grouping.keys.iter().for_each(|key| key.slots(&mut outer));
            grouping.aggregates.iter().for_each(|(_, argument)| argument.slots(&mut outer));
        }
        self.order.iter().for_each(|key| key.expr.slots(&mut outer));
        match &self.projection {
            Projection::Value(expr) => expr.slots(&mut outer),
            Projection::Fields(fields) => fields.iter().for_each(|(_, expr)| expr.slots(&mut outer)),
        }
    }
}

/// Something that binds a slot.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundSource {
    /// The slot.
    pub slot: usize,
    /// What is bound to it.
    pub kind: SourceKind,
}

/// What a source binds.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceKind {
    /// The items of the container.
    Item,
    /// The value of an expression, where it is defined.
    Value(Expr),
    /// Each element of an array.
    Elements(Expr),
    /// Each row of a query.
    Rows(Box<BoundQuery>),
    /// Each element of each row of a query that is an array.
    RowElements(Box<BoundQuery>),
}

/// How rows are put together.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouping {
    /// Rows with equal keys are one group; without keys all rows are one, also if there are none.
    pub keys: Vec<Expr>,
    /// What is gathered from each group.
    pub aggregates: Vec<(Aggregate, Expr)>,
}

/// One key of an order.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderKey {
    /// By what.
    pub expr: Expr,
    /// From the highest to the lowest.
    pub descending: bool,
}

/// What is made of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Projection {
    /// The value itself; no row where it is undefined.
    Value(Expr),
    /// An object of what is defined.
    Fields(Vec<(String, Expr)>),
}

/// Which of the results are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// How many are passed over.
    pub offset: u64,
    /// How many are given at most.
    pub limit: Option<u64>,
}
