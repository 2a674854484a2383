//! Filters: `PartitionKey eq 'p' and (age gt 30 or not married)`.
//!
//! ```text
//! expression := and ('or' and)*
//! and        := not ('and' not)*
//! not        := 'not' not | primary
//! primary    := '(' expression ')' | operand operator operand | operand      a lone operand is a boolean
//! operator   := eq | ne | gt | ge | lt | le                                  in letters of either case
//! operand    := name | literal                                              at least one of two is a literal
//! ```
//! A filter is used twice: the index narrows ([`Filter::lower`]), the evaluator decides ([`Filter::matches`]).
//!
//! Invariants:
//! * every entity that matches satisfies the lowered condition;
//! * a comparison with a property that is missing, or of another type, is false, and `not` of it is true;
//! * no text gives a panic, deep recursion or more than linear work.
//!
//! Not here: running queries.

mod evaluate;
mod keys;
mod limits;
mod lower;
mod parse;

use std::cmp::Ordering;
use std::fmt;

use crate::edm::EdmValue;

pub(crate) use evaluate::Fields;
pub(crate) use lower::{Lowered, property};

#[cfg(test)]
mod engine_tests;
#[cfg(test)]
mod tests;

/// A condition on entities.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filter {
    root: Condition,
}

/// A filter that is none, and where it stops being one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilterError {
    /// Characters before the place.
    pub(crate) position: usize,
    /// What is wrong there.
    pub(crate) problem: FilterProblem,
}

/// What is wrong with a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterProblem {
    /// Something else stands where this was expected.
    Expected(&'static str),
    /// Two properties are compared.
    NoLiteral,
    /// Parentheses and negations are nested too deep.
    TooDeep,
    /// The text is too long.
    TooLong,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problem {
            FilterProblem::Expected(what) => write!(f, "expected {what}")?,
            FilterProblem::NoLiteral => f.write_str("one side of a comparison must be a literal")?,
            FilterProblem::TooDeep => f.write_str("nested too deep")?,
            FilterProblem::TooLong => f.write_str("the filter is too long")?,
        }
        write!(f, " at position {}", self.position)
    }
}

impl std::error::Error for FilterError {}

/// A condition, or a part of one.
#[derive(Debug, Clone, PartialEq)]
enum Condition {
    /// The same for every entity.
    Constant(bool),
    /// A property compared with a value.
    Compare { name: String, operator: Operator, value: EdmValue },
    /// The opposite.
    Not(Box<Condition>),
    /// Every one of these.
    And(Vec<Condition>),
    /// Any of these.
    Or(Vec<Condition>),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

impl Operator {
    const ALL: [Operator; 6] = [
        Operator::Equal,
        Operator::NotEqual,
        Operator::Greater,
        Operator::GreaterOrEqual,
        Operator::Less,
        Operator::LessOrEqual,
    ];

    fn word(self) -> &'static str {
        match self {
            Operator::Equal => "eq",
            Operator::NotEqual => "ne",
            Operator::Greater => "gt",
            Operator::GreaterOrEqual => "ge",
            Operator::Less => "lt",
            Operator::LessOrEqual => "le",
        }
    }

    /// Returns the operator that says the same with the sides exchanged.
    fn mirrored(self) -> Operator {
        match self {
            Operator::Equal | Operator::NotEqual => self,
            Operator::Greater => Operator::Less,
            Operator::GreaterOrEqual => Operator::LessOrEqual,
            Operator::Less => Operator::Greater,
            Operator::LessOrEqual => Operator::GreaterOrEqual,
        }
    }

    /// Returns the operator that holds where this one does not, among values that have an order.
    fn opposite(self) -> Operator {
        match self {
            Operator::Equal => Operator::NotEqual,
            Operator::NotEqual => Operator::Equal,
            Operator::Greater => Operator::LessOrEqual,
            Operator::GreaterOrEqual => Operator::Less,
            Operator::Less => Operator::GreaterOrEqual,
            Operator::LessOrEqual => Operator::Greater,
        }
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Operator::Equal => order.is_eq(),
            Operator::NotEqual => order.is_ne(),
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
        }
    }
}
