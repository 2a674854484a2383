//! Computed properties: a name and the query that computes it from an item.

use std::sync::Arc;

use armilla_functions::Function;
use armilla_sql::QueryError;
use armilla_sql::ast::{self, Selection};

use super::{Names, bind};
use crate::bound::Projection;
use crate::error::{Error, Result};
use crate::expr::Expr;
use crate::optimize::fold_constants;

/// A computed property of a container.
#[derive(Debug, Clone, PartialEq)]
pub struct ComputedProperty {
    /// Its name.
    pub name: String,
    /// How it is computed from the item in slot 0.
    pub expr: Arc<Expr>,
}

impl ComputedProperty {
    /// Reads the definition of a computed property: `SELECT VALUE <expression> FROM <root>` and nothing else.
    pub fn new(name: &str, text: &str) -> Result<ComputedProperty> {
        let query = armilla_sql::parse(text).map_err(QueryError::from)?;
        let refused = |what: &str| {
            Err(Error::refused(format!("the query of the computed property '{name}' must not have {what}")))
        };
        let clauses = [
            (query.filter.is_some(), "WHERE"),
            (query.group_by.is_some(), "GROUP BY"),
            (query.order_by.is_some(), "ORDER BY"),
            (query.top.is_some(), "TOP"),
            (query.distinct, "DISTINCT"),
            (query.offset_limit.is_some(), "OFFSET LIMIT"),
        ];
        if let Some((_, clause)) = clauses.into_iter().find(|(present, _)| *present) {
            return refused(clause);
        }
        let Selection::Value(_) = &query.selection else {
            return Err(Error::refused(format!(
                "the query of the computed property '{name}' must have the form SELECT VALUE <expression> FROM <root>"
            )));
        };
        let Some(from) = &query.from else { return refused("no FROM") };
        if from.sources.len() != 1 {
            return refused("JOIN");
        }
        if !is_root(&from.sources[0]) {
            return refused("a FROM clause other than the root of the item");
        }
        let names = Names { parameters: &[], computed: &[], system_properties: true };
        let (bound, _) = bind(&query, names)?;
        if bound.grouping.is_some() {
            return refused("aggregates");
        }
        let Projection::Value(expr) = bound.projection else { return refused("a list of properties") };
        let mut problem = None;
        expr.visit(&mut |part| {
            let found = match part {
                Expr::Subquery(..) => "subqueries",
                Expr::Udf(..) => "user-defined functions",
                // An item is indexed before the server has given it these.
                Expr::System(_) | Expr::Slot(0) | Expr::DocumentId => "properties that the server adds",
                Expr::Call(function, _) if function.is_volatile() => "non-deterministic functions",
                Expr::Call(function, _) if is_spatial(*function) => "spatial functions",
                _ => return,
            };
            problem.get_or_insert(found);
        });
        match problem {
            Some(what) => refused(what),
            None => {
                let mut expr = expr;
                fold_constants(&mut expr);
                Ok(ComputedProperty { name: name.to_owned(), expr: Arc::new(expr) })
            }
        }
    }
}

fn is_root(source: &ast::Source) -> bool {
    match &source.kind {
        ast::SourceKind::Iterate { .. } => false,
        ast::SourceKind::Bind { collection, .. } => {
            matches!(&collection.kind, ast::CollectionKind::Path { segments, .. } if segments.is_empty())
        }
    }
}

fn is_spatial(function: Function) -> bool {
    function.name().starts_with("ST_")
}
