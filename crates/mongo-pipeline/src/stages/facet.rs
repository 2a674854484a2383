//! `$facet`: pipelines side by side over the same documents, their results in one.

use std::sync::Arc;

use armilla_mongo_expression::{Error, Result};
use armilla_value::{Object, Value};

use crate::arguments::type_name;
use crate::limits::STAGE_BYTES_MAX;
use crate::memory::{Budget, check_depth, object_bytes};
use crate::parse::{Place, Reading};
use crate::path::check_name;
use crate::run::{Context, deferred, run_stages};
use crate::{Documents, Pipeline};

/// Reads the arguments.
pub(crate) fn parse(argument: &Value, reading: &Reading<'_>) -> Result<Vec<(String, Pipeline)>> {
    let object = argument
        .as_object()
        .filter(|object| !object.is_empty())
        .ok_or_else(|| Error::new(40169, "the $facet specification must be a non-empty object"))?;
    let mut facets = Vec::with_capacity(object.len());
    for (name, stages) in object.iter() {
        check_name(name)?;
        let Value::Array(stages) = stages else {
            return Err(Error::new(
                40170,
                format!("arguments to $facet must be arrays, {name} is type {}", type_name(stages)),
            ));
        };
        if let Some(stage) = stages.iter().find(|stage| stage.as_object().is_none()) {
            return Err(Error::new(
                40171,
                format!(
                    "elements of arrays in $facet spec must be non-empty objects, {name} argument contained an element of type {}",
                    type_name(stage)
                ),
            ));
        }
        facets.push((name.to_owned(), reading.inside(Place::Facet)?.pipeline(stages)?));
    }
    Ok(facets)
}

/// Runs it.
pub(crate) fn run(facets: Arc<Vec<(String, Pipeline)>>, input: Documents, context: &Context) -> Documents {
    let context = context.clone();
    deferred(move || {
        let mut budget = Budget::new("$facet");
        let mut documents = Vec::new();
        for document in input {
            let document = document?;
            budget.take(object_bytes(&document))?;
            documents.push(document);
        }
        let documents = Arc::new(documents);
        let mut result = Object::with_capacity(facets.len());
        let mut bytes = 0;
        for (name, pipeline) in facets.iter() {
            let mut elements = Vec::new();
            for document in run_stages(&pipeline.stages, replay(&documents), &context)? {
                let document = document?;
                context.outside.check()?;
                bytes += object_bytes(&document);
                if bytes > STAGE_BYTES_MAX {
                    return Err(Error::new(
                        4031700,
                        format!(
                            "document constructed by $facet is {bytes} bytes, which exceeds the limit of {STAGE_BYTES_MAX} bytes"
                        ),
                    ));
                }
                elements.push(Value::Object(document));
            }
            let elements = Value::Array(elements);
            check_depth(&elements)?;
            result.insert(name.as_str(), elements);
        }
        Ok(Box::new(std::iter::once(Ok(result))) as Documents)
    })
}

/// Gives documents that are held once more.
pub(crate) fn replay(documents: &Arc<Vec<Object>>) -> Documents {
    let documents = Arc::clone(documents);
    let mut index = 0;
    Box::new(std::iter::from_fn(move || {
        let document = documents.get(index)?.clone();
        index += 1;
        Some(Ok(document))
    }))
}
