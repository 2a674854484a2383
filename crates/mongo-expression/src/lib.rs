//! Expressions of the MongoDB aggregation language: read once, evaluated for each document.
//!
//! Missing is `None` everywhere, apart from null.
//!
//! Not here: stages (`mongo-pipeline`), filters (`mongo-filter`).

pub mod arithmetic;
pub mod decimal_arithmetic;
pub mod error;
pub mod limits;
pub mod measure;
pub mod path;
pub mod regex;

mod accumulator;
mod date;
mod functions;
mod parse;
mod tree;
mod types;

use std::borrow::Cow;

use armilla_value::{Object, Value};

pub use accumulator::{Accumulator, Gathered, is_accumulator};
pub use date::arithmetic::Unit;
pub use error::{Error, Result, codes};
pub use types::{
    is_nullish, is_number, is_truthy, is_undefined, type_name, type_name_of, type_number, type_number_of_name,
};

use tree::{Budget, Frame, Node};

/// What `$$DESCEND` is.
pub const REDACT_DESCEND: &str = "descend";
/// What `$$PRUNE` is.
pub const REDACT_PRUNE: &str = "prune";
/// What `$$KEEP` is.
pub const REDACT_KEEP: &str = "keep";

/// What an expression can see besides the document: the same for all documents of one command.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `$$NOW`, in milliseconds since 1970.
    pub now_ms: i64,
    /// `$$CLUSTER_TIME`: seconds and increment.
    pub cluster_time: (u32, u32),
    /// `$$USER_ROLES`.
    pub user_roles: Vec<Value>,
    /// The values of `let`, by name without dollars. Each name in it was in the [`Scope`] at reading.
    pub variables: Object,
    /// Seed of what `$rand` and `$sample` draw.
    pub seed: u64,
}

/// What names an expression may use when it is read: the variables of `let` and of stages around it.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Names without dollars.
    pub variables: Vec<String>,
}

impl Scope {
    /// Returns the scope with more variables, whose names are checked as those that a user defines.
    pub fn with<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Scope> {
        let mut scope = self.clone();
        for name in names {
            parse::check_variable_name(name)?;
            if !scope.variables.iter().any(|known| known == name) {
                scope.variables.push(name.to_owned());
            }
        }
        Ok(scope)
    }
}

/// An expression that was read.
#[derive(Debug, Clone)]
pub struct Expression {
    node: Node,
}

impl Expression {
    /// Reads an expression.
    pub fn parse(expression: &Value, scope: &Scope) -> Result<Expression> {
        Ok(Expression { node: parse::Parser::new(scope).operand(expression)? })
    }

    /// Returns the expression that has always this value.
    pub fn constant(value: Value) -> Expression {
        Expression { node: Node::Constant(value) }
    }

    /// Evaluates it for a document; `None` is a missing value.
    pub fn evaluate(&self, document: &Object, environment: &Environment) -> Result<Option<Value>> {
        self.evaluate_with(document, environment, &[])
    }

    /// Evaluates it with further variables, which hide those of the environment that have the same names. Their names
    /// were in the [`Scope`] at reading.
    pub fn evaluate_with(
        &self,
        document: &Object,
        environment: &Environment,
        extra: &[(&str, Value)],
    ) -> Result<Option<Value>> {
        let budget = Budget::default();
        let frame =
            Frame { root: document, current: document, environment, extra, locals: None, budget: &budget };
        Ok(self.node.evaluate_checked(&frame)?.map(Cow::into_owned))
    }

    /// Evaluates it for a part of a document, as `$redact` does: field paths begin at `current`, `$$ROOT` is `root`.
    pub fn evaluate_within(
        &self,
        root: &Object,
        current: &Object,
        environment: &Environment,
    ) -> Result<Option<Value>> {
        let budget = Budget::default();
        let frame = Frame { root, current, environment, extra: &[], locals: None, budget: &budget };
        Ok(self.node.evaluate_checked(&frame)?.map(Cow::into_owned))
    }

    /// Evaluates it without copying what is in the document already: for keys of groups and orders.
    pub fn evaluate_borrowed<'a>(
        &'a self,
        document: &'a Object,
        environment: &'a Environment,
    ) -> Result<Option<Cow<'a, Value>>> {
        let budget = Budget::default();
        let frame = Frame {
            root: document,
            current: document,
            environment,
            extra: &[],
            locals: None,
            budget: &budget,
        };
        self.node.evaluate_checked(&frame)
    }

    /// Evaluates it and says whether the result counts as true.
    pub fn is_true(&self, document: &Object, environment: &Environment) -> Result<bool> {
        Ok(is_truthy(self.evaluate_borrowed(document, environment)?.as_deref()))
    }

    /// Returns the value if it does not depend on a document.
    pub fn as_constant(&self) -> Option<&Value> {
        match &self.node {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the names of the path if it is nothing but a field path into the document.
    pub fn as_path(&self) -> Option<&path::Path> {
        match &self.node {
            Node::Current(path) | Node::Root(path) => path.as_ref(),
            _ => None,
        }
    }
}

/// Adds units of time to a date, which may be negative; nothing where the result is out of range. The time zone is one
/// of the names of the database or a distance from UTC.
pub fn add_to_date(ms: i64, unit: Unit, amount: i64, timezone: Option<&str>) -> Result<Option<i64>> {
    let zone = timezone.map_or(Ok(date::zone::Zone::UTC), date::zone::Zone::parse)?;
    Ok(date::arithmetic::add(ms, unit, amount, &zone))
}

#[cfg(test)]
mod tests;
