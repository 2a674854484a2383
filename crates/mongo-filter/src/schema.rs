//! `$jsonSchema`: the subset of draft 4 that the server knows, with `bsonType`.

use armilla_mongo_expression::{Error, Result, codes};
use armilla_value::{Object, Value};

/// A schema that was read.
#[derive(Debug, Clone)]
pub struct Schema {}

impl Schema {
    /// Reads a schema.
    pub fn parse(_schema: &Value) -> Result<Schema> {
        Err(Error::new(codes::NOT_IMPLEMENTED, "schemas are not there yet"))
    }

    /// Says whether a document is as the schema wants it.
    pub fn matches(&self, _document: &Object) -> Result<bool> {
        Ok(false)
    }
}
