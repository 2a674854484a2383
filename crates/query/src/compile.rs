//! From text to an optimised logical plan.

use std::sync::Arc;

use armilla_sql::{QueryError, ast};
use armilla_value::{Value, fingerprint, json};

use crate::bind::{ComputedProperty, Names, bind};
use crate::bound::BoundQuery;
use crate::error::Result;
use crate::expr::Expr;
use crate::logical::LogicalPlan;
use crate::optimize::optimize;

/// What a query is compiled against.
#[derive(Clone, Copy)]
pub struct CompileOptions<'a> {
    /// Values of parameters, their names with the `@`.
    pub parameters: &'a [(String, Value)],
    /// Computed properties of the container.
    pub computed: &'a [ComputedProperty],
    /// Whether `_rid` and the like are added by the server rather than stored in the item.
    pub system_properties: bool,
}

/// A text that was read. What comes of it with which parameters, in which container, is another matter.
#[derive(Debug)]
pub struct ReadQuery {
    /// The text.
    pub text: String,
    /// The syntax tree.
    pub ast: ast::Query,
    /// An ordered query without its filter, as text.
    unfiltered: Option<String>,
}

impl ReadQuery {
    /// Reads a text.
    pub fn new(text: &str) -> Result<ReadQuery> {
        let ast = armilla_sql::parse(text).map_err(QueryError::from)?;
        let unfiltered =
            ast.order_by.is_some().then(|| ast::Query { filter: None, ..ast.clone() }.to_string());
        Ok(ReadQuery { text: text.to_owned(), ast, unfiltered })
    }
}

/// A query ready to be executed, any number of times.
#[derive(Debug, Clone)]
pub struct CompiledQuery {
    /// What it was read from; nothing where the query came without a text.
    pub read: Option<Arc<ReadQuery>>,
    /// The plan before it was optimised, for `EXPLAIN`.
    pub bound: BoundQuery,
    /// The plan.
    pub plan: LogicalPlan,
    /// The user-defined functions that it calls.
    pub functions: Vec<String>,
    /// Stands for text and parameters, the filter of an ordered query excepted: a continuation token is good for one
    /// query only.
    pub fingerprint: u64,
}

impl CompiledQuery {
    /// Compiles a query.
    pub fn new(text: &str, options: CompileOptions<'_>) -> Result<CompiledQuery> {
        CompiledQuery::of(Arc::new(ReadQuery::new(text)?), options)
    }

    /// Compiles a query whose text was read before.
    pub fn of(read: Arc<ReadQuery>, options: CompileOptions<'_>) -> Result<CompiledQuery> {
        let names = Names {
            parameters: options.parameters,
            computed: options.computed,
            system_properties: options.system_properties,
        };
        let (bound, functions) = bind(&read.ast, names)?;
        let plan = optimize(LogicalPlan::new(bound.clone()));
        // A position in sort order is good whatever the filter says, and some clients change theirs from page to
        // page, narrowing it to what is left.
        let text = read.unfiltered.as_ref().unwrap_or(&read.text);
        let fingerprint = query_fingerprint(text, options.parameters);
        Ok(CompiledQuery { read: Some(read), bound, plan, functions, fingerprint })
    }

    /// Compiles a query that was made without a text. The caller that makes one bounds its height.
    pub fn from_bound(bound: BoundQuery) -> CompiledQuery {
        let mut functions = Vec::new();
        bound.visit(&mut |expr| {
            if let Expr::Udf(name, _) = expr {
                functions.push(name.clone());
            }
        });
        let plan = optimize(LogicalPlan::new(bound.clone()));
        let fingerprint = query_fingerprint(&LogicalPlan::new(bound.clone()).to_string(), &[]);
        CompiledQuery { read: None, bound, plan, functions, fingerprint }
    }
}

fn query_fingerprint(text: &str, parameters: &[(String, Value)]) -> u64 {
    let mut bytes = text.as_bytes().to_vec();
    for (name, value) in parameters {
        bytes.push(0);
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(0);
        json::write(value, &mut bytes);
    }
    fingerprint(&bytes) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint_of(text: &str) -> u64 {
        let options = CompileOptions { parameters: &[], computed: &[], system_properties: true };
        CompiledQuery::new(text, options).unwrap().fingerprint
    }

    /// A client resumed an ordered query with the token of the page before and a filter of its own, and was told that
    /// the token belongs to another query.
    #[test]
    fn the_filter_of_an_ordered_query_may_change_between_pages() {
        let order = "ORDER BY c.n";
        let first = fingerprint_of(&format!("SELECT TOP 5 c.id FROM c WHERE c.n > 18 {order}"));
        assert_eq!(first, fingerprint_of(&format!("SELECT TOP 5 c.id FROM c WHERE c.n > 24 {order}")));
        assert_ne!(first, fingerprint_of("SELECT TOP 5 c.id FROM c WHERE c.n > 18 ORDER BY c.m"));
        assert_ne!(
            fingerprint_of("SELECT * FROM c WHERE c.n > 18"),
            fingerprint_of("SELECT * FROM c WHERE c.n > 24")
        );
    }
}
