//! Orders.
use std::cmp::Ordering;

use armilla_mongo_expression::{Error, Result, codes};
use armilla_value::{Object, Value};

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
