//! Filters, projections and sort keys of the MongoDB query language.
//!
//! A filter is read once into a tree, which front ends may look at to find an index, and decides about each document.
//!
//! Not here: finding documents; expressions (`mongo-expression`), updates (`mongo-update`).

use std::cmp::Ordering;

use armilla_mongo_expression::{Environment, Error, Result, Scope, codes};
use armilla_value::{Object, Value};

/// A filter that was read.
#[derive(Debug, Clone)]
pub struct Filter {
    /// What must hold.
    pub root: Condition,
}

/// A part of a filter.
#[derive(Debug, Clone)]
pub enum Condition {
    /// All of them; none is true.
    And(Vec<Condition>),
    /// One of them.
    Or(Vec<Condition>),
}

/// What a match tells an update or a projection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matched {
    /// The index of the first element that matched, for the positional `$`.
    pub position: Option<usize>,
}

impl Filter {
    /// Reads a filter.
    pub fn parse(_query: &Object, _scope: &Scope) -> Result<Filter> {
        Err(Error::new(codes::NOT_IMPLEMENTED, "filters are not there yet"))
    }

    /// Decides about a document.
    pub fn matches(&self, _document: &Object, _environment: &Environment) -> Result<bool> {
        Ok(false)
    }

    /// Decides about a document, and says where in an array it matched.
    pub fn find(&self, _document: &Object, _environment: &Environment) -> Result<Option<Matched>> {
        Ok(None)
    }

    /// Decides about a single value, as `$pull` and `arrayFilters` ask: the condition's paths begin at the value.
    pub fn matches_value(&self, _value: &Value, _environment: &Environment) -> Result<bool> {
        Ok(false)
    }

    /// Returns what the filter fixes by equality, path by path, as an upsert begins with.
    pub fn equalities(&self) -> Result<Vec<(String, Value)>> {
        Ok(Vec::new())
    }
}

/// A projection that was read.
#[derive(Debug, Clone)]
pub struct Projection {}

impl Projection {
    /// Reads the projection of a find.
    pub fn parse(_specification: &Object, _filter: Option<&Filter>, _scope: &Scope) -> Result<Projection> {
        Err(Error::new(codes::NOT_IMPLEMENTED, "projections are not there yet"))
    }

    /// Makes of a document what is asked for. `matched` is what the filter said of it.
    pub fn apply(&self, _document: &Object, _matched: &Matched, _environment: &Environment) -> Result<Object> {
        Ok(Object::new())
    }
}

/// An order that was read.
#[derive(Debug, Clone)]
pub struct Sort {
    /// The paths, and which of them from the highest to the lowest.
    pub keys: Vec<(String, bool)>,
}

/// The key of a document in an order.
#[derive(Debug, Clone, PartialEq)]
pub struct SortKey(pub Vec<Value>);

impl Sort {
    /// Reads an order.
    pub fn parse(_specification: &Object) -> Result<Sort> {
        Err(Error::new(codes::NOT_IMPLEMENTED, "orders are not there yet"))
    }

    /// Returns the key of a document.
    pub fn key(&self, _document: &Object) -> Result<SortKey> {
        Ok(SortKey(Vec::new()))
    }

    /// Compares two keys of this order.
    pub fn compare(&self, _left: &SortKey, _right: &SortKey) -> Ordering {
        Ordering::Equal
    }
}
