//! `$unionWith`: the documents of another collection after these.

use std::sync::Arc;

use armilla_mongo_expression::Result;
use armilla_value::Value;

use crate::arguments::{failed, known_members, type_name, wrong_type};
use crate::parse::{Place, Reading};
use crate::run::{Context, deferred, run_stages};
use crate::{Documents, Pipeline, Stage};

/// `$unionWith` as it was read.
#[derive(Debug, Clone)]
pub struct UnionWith {
    /// The other collection, unless its pipeline brings documents itself.
    pub collection: Option<String>,
    /// What is made of its documents.
    pub pipeline: Pipeline,
}

impl UnionWith {
    /// Reads the arguments.
    pub(crate) fn parse(argument: &Value, reading: &Reading<'_>) -> Result<UnionWith> {
        let object = match argument {
            Value::String(collection) => {
                return Ok(UnionWith { collection: Some(collection.clone()), pipeline: Pipeline::default() });
            }
            Value::Object(object) => object,
            other => {
                return Err(failed(format!(
                    "the $unionWith stage specification must be an object or string, but found {}",
                    type_name(other)
                )));
            }
        };
        known_members("$unionWith", object, &["coll", "pipeline"])?;
        let collection = match object.get("coll") {
            None => None,
            Some(Value::String(name)) => Some(name.clone()),
            Some(other) => return Err(wrong_type("$unionWith", "coll", other, "string")),
        };
        let pipeline = match object.get("pipeline") {
            None => Pipeline::default(),
            Some(Value::Array(stages)) => reading.inside(Place::Union)?.pipeline(stages)?,
            Some(other) => return Err(wrong_type("$unionWith", "pipeline", other, "array")),
        };
        if collection.is_none() && !matches!(pipeline.stages.first(), Some(Stage::Documents(_))) {
            return Err(failed(
                "$unionWith stage without explicit collection must have a pipeline with $documents as first stage",
            ));
        }
        Ok(UnionWith { collection, pipeline })
    }
}

/// Runs it; the other collection is opened when these documents have ended.
pub(crate) fn run(union: Arc<UnionWith>, input: Documents, context: &Context) -> Documents {
    let context = context.clone();
    Box::new(input.chain(deferred(move || {
        let documents = match &union.collection {
            None => Box::new(std::iter::empty()),
            Some(collection) => {
                let filter = union.pipeline.first_filter();
                context.outside.documents(None, collection, filter)?
            }
        };
        run_stages(&union.pipeline.stages, documents, &context)
    })))
}
