//! Projections.
use armilla_mongo_expression::{Environment, Error, Result, Scope, codes};
use armilla_value::Object;

use crate::filter::{Filter, Matched};

/// A projection that was read.
#[derive(Debug, Clone)]
pub struct Projection {}

impl Projection {
    /// Reads the projection of a find.
    pub fn parse(_specification: &Object, _filter: Option<&Filter>, _scope: &Scope) -> Result<Projection> {
        Err(Error::new(codes::NOT_IMPLEMENTED, "projections are not there yet"))
    }

    /// Makes of a document what is asked for. `matched` is what the filter said of it.
    pub fn apply(
        &self,
        _document: &Object,
        _matched: &Matched,
        _environment: &Environment,
    ) -> Result<Object> {
        Ok(Object::new())
    }
}
