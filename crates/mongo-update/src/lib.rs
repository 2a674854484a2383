//! The MongoDB update language: replacements, operators, pipelines, upserts.

use armilla_mongo_expression::{Environment, Error, Result, Scope, codes};
use armilla_mongo_filter::{Filter, Matched};
use armilla_value::{Object, Value};

/// An update that was read.
#[derive(Debug, Clone)]
pub struct Update {}

/// What an update made of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Updated {
    /// The document as it is now.
    pub document: Object,
    /// Whether it is another than before.
    pub is_modified: bool,
}

impl Update {
    /// Reads an update: a replacement, operators, or a pipeline. `constants` are the `c` of a pipeline.
    pub fn parse(_update: &Value, _array_filters: Option<&[Value]>, _constants: Option<&Object>, _scope: &Scope) -> Result<Update> {
        Err(Error::new(codes::NOT_IMPLEMENTED, "updates are not there yet"))
    }

    /// Says whether it replaces the document as a whole.
    pub fn is_replacement(&self) -> bool {
        false
    }

    /// Applies it to a document that was found.
    pub fn apply(&self, _document: &Object, _matched: &Matched, _environment: &Environment) -> Result<Updated> {
        Err(Error::new(codes::NOT_IMPLEMENTED, "updates are not there yet"))
    }

    /// Makes the document of an upsert that found none; without `_id` where nothing says what it is.
    pub fn insert(&self, _filter: &Filter, _environment: &Environment) -> Result<Object> {
        Err(Error::new(codes::NOT_IMPLEMENTED, "updates are not there yet"))
    }
}

/// Tells how one version of a document became another, as change streams say it
/// (`updatedFields`, `removedFields`, `truncatedArrays`).
pub fn describe(_before: &Object, _after: &Object) -> Object {
    Object::new()
}
