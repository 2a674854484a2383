//! Predicates.

use crate::Value;

/// A predicate of `has`, `is` and `where`: of `P` and of `TextP`.
#[derive(Debug, Clone)]
pub struct Predicate {
    pub kind: PredicateKind,
    /// The values it compares with; of `And`, `Or` and `Not` the predicates it joins.
    pub values: Vec<Value>,
}

/// What a predicate asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PredicateKind {
    Eq,
    Neq,
    Lt,
    Lte,
    Gt,
    Gte,
    Inside,
    Outside,
    Between,
    Within,
    Without,
    TypeOf,
    StartingWith,
    NotStartingWith,
    EndingWith,
    NotEndingWith,
    Containing,
    NotContaining,
    Regex,
    NotRegex,
    And,
    Or,
    Not,
}
