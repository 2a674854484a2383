//! Expressions of the MongoDB aggregation language: read once, evaluated for each document.
//!
//! Missing is `None` everywhere, apart from null.
//!
//! Not here: stages (`mongo-pipeline`), filters (`mongo-filter`).

pub mod arithmetic;
pub mod decimal_arithmetic;
pub mod error;
pub mod limits;
pub mod path;
pub mod regex;
mod types;

use armilla_value::{Object, Value};

pub use error::{Error, Result, codes};
pub use types::{
    is_nullish, is_number, is_truthy, type_name, type_name_of, type_number, type_number_of_name,
};

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

/// An expression that was read.
#[derive(Debug, Clone)]
pub struct Expression {}

impl Expression {
    /// Reads an expression.
    pub fn parse(_expression: &Value, _scope: &Scope) -> Result<Expression> {
        Err(Error::new(codes::NOT_IMPLEMENTED, "expressions are not there yet"))
    }

    /// Evaluates it for a document; `None` is a missing value.
    pub fn evaluate(&self, _document: &Object, _environment: &Environment) -> Result<Option<Value>> {
        Ok(None)
    }

    /// Returns the value if it does not depend on a document.
    pub fn as_constant(&self) -> Option<&Value> {
        None
    }
}

/// An accumulator (`$sum`, `$push`, ...) of `$group` that was read: `{$sum: <expression>}`.
#[derive(Debug, Clone)]
pub struct Accumulator {}

/// What an accumulator has gathered of one group so far.
#[derive(Debug, Clone)]
pub struct Gathered {}

impl Accumulator {
    /// Reads the value of a field of `$group`.
    pub fn parse(_field: &str, _specification: &Value, _scope: &Scope) -> Result<Accumulator> {
        Err(Error::new(codes::NOT_IMPLEMENTED, "accumulators are not there yet"))
    }

    /// Begins a group.
    pub fn begin(&self) -> Gathered {
        Gathered {}
    }

    /// Adds a document.
    pub fn add(
        &self,
        _gathered: &mut Gathered,
        _document: &Object,
        _environment: &Environment,
    ) -> Result<()> {
        Ok(())
    }

    /// Returns the result.
    pub fn finish(&self, _gathered: Gathered) -> Result<Option<Value>> {
        Ok(None)
    }
}

impl Gathered {
    /// Returns about how much memory it holds.
    pub fn bytes(&self) -> usize {
        0
    }
}
