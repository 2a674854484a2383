//! The document of an upsert that found none.

use armilla_mongo_expression::{Environment, Error, Result, codes, type_name};
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value};

use crate::apply::Run;
use crate::array_filter::ArrayFilters;
use crate::context::Context;
use crate::operator::Operator;
use crate::path::Path;
use crate::replacement::{dollar_prefixed, with_id_first};
use crate::tree::Node;

/// Returns the document that operators begin with: what the filter fixes by equality, in the order of paths.
pub(crate) fn begin(filter: &Filter) -> Result<Object> {
    // Setting paths in a new document is what an update does, so the same tree serves.
    let mut tree = Node::new();
    for (path, value) in filter.equalities()? {
        let path = Path::of_names(&path)?;
        tree.add(&path, Operator::Set(value)).map_err(|_| {
            Error::new(
                codes::NOT_SINGLE_VALUE_FIELD,
                format!("cannot infer query fields to set, path '{}' is matched twice", path.text),
            )
        })?;
    }
    let environment = Environment::default();
    let filters = ArrayFilters::default();
    let context = Context::new(&environment, true, &[], None);
    let mut run = Run { context, position: None, filters: &filters };
    Ok(run.apply_document(&tree, Object::new())?.0)
}

/// Returns the `_id` that the filter fixes, which is all that a replacement takes from it.
pub(crate) fn begin_replacement(filter: &Filter) -> Result<Object> {
    Ok(filter.equalities()?.into_iter().filter(|(path, _)| path == "_id").collect())
}

/// Puts `_id` first and checks that it may be one.
pub(crate) fn finish(document: Object) -> Result<Object> {
    let Some(id) = document.get("_id") else {
        return Ok(document);
    };
    check_id(id)?;
    if document.iter().next().is_some_and(|(name, _)| name == "_id") {
        return Ok(document);
    }
    let id = id.clone();
    Ok(with_id_first(id, document))
}

fn check_id(id: &Value) -> Result<()> {
    if matches!(id, Value::Array(_) | Value::Regex { .. }) || type_name(id) == "undefined" {
        return Err(Error::new(
            codes::INVALID_ID_FIELD,
            format!("The '_id' value cannot be of type {}", type_name(id)),
        ));
    }
    match id {
        Value::Object(object) => check_names(object, "_id"),
        _ => Ok(()),
    }
}

/// Refuses names with dollars at any depth of an `_id`.
fn check_names(object: &Object, path: &str) -> Result<()> {
    for (name, value) in object.iter() {
        let path = format!("{path}.{name}");
        if name.starts_with('$') {
            return Err(dollar_prefixed(name, &path));
        }
        match value {
            Value::Object(inner) => check_names(inner, &path)?,
            Value::Array(elements) => {
                for inner in elements.iter().filter_map(Value::as_object) {
                    check_names(inner, &path)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}
