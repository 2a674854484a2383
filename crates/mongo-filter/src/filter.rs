//! A filter as a whole: reading it, and deciding about documents.

mod matching;

use armilla_mongo_expression::{Environment, Result, Scope};
use armilla_value::{Object, Value};

use crate::condition::{Condition, Predicate};
use crate::geo::Near;
use crate::parse::{Reader, is_operators};
use crate::path::Subject;

/// A filter that was read.
#[derive(Debug, Clone)]
pub struct Filter {
    /// What must hold.
    pub root: Condition,
}

/// What a match tells an update or a projection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matched {
    /// The index of the first element that matched, for the positional `$`.
    pub position: Option<usize>,
}

impl Filter {
    /// Reads a filter.
    pub fn parse(query: &Object, scope: &Scope) -> Result<Filter> {
        Ok(Filter { root: Reader::new(scope).condition(query)? })
    }

    /// Decides about a document.
    pub fn matches(&self, document: &Object, environment: &Environment) -> Result<bool> {
        self.root.matches(document, environment)
    }

    /// Decides about a document, and says where in an array it matched.
    pub fn find(&self, document: &Object, environment: &Environment) -> Result<Option<Matched>> {
        let mut matched = Matched::default();
        let is_match =
            self.root.matches_with(Subject::Document(document), environment, Some(&mut matched))?;
        Ok(is_match.then_some(matched))
    }

    /// Decides about a single value, as `$pull` and `arrayFilters` ask: the condition's paths begin at the value, and
    /// the empty path is the value itself.
    ///
    /// Where the value is an array, its elements are looked at as a path would.
    pub fn matches_value(&self, value: &Value, environment: &Environment) -> Result<bool> {
        self.root.matches_with(Subject::Value(value), environment, None)
    }

    /// Says whether an object holds operators (`{$gt: 1}`) rather than being a value or a query.
    pub fn is_operators(object: &Object) -> bool {
        is_operators(object, false)
    }

    /// Reads the operators of a value (`{$gt: 1}`, as `$pull` takes them), for [`Filter::matches_value`].
    pub fn parse_operators(operators: &Object, scope: &Scope) -> Result<Filter> {
        Ok(Filter { root: Reader::new(scope).operators(operators)? })
    }

    /// Returns the `$near` of the filter, by which what is found has to be ordered.
    pub fn near(&self) -> Option<&Near> {
        near(&self.root)
    }
}

fn near(condition: &Condition) -> Option<&Near> {
    match condition {
        Condition::And(parts) => parts.iter().find_map(near),
        Condition::Path { predicate: Predicate::Near(near), .. } => Some(near),
        _ => None,
    }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
