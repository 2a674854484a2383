//! The document of an upsert that found none.

use armilla_mongo_expression::{Error, Result, codes, type_name};
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value};

use crate::path::Path;
use crate::replacement::with_id_first;

/// Returns the document that operators begin with: what the filter fixes by equality, in the order of paths.
pub(crate) fn begin(filter: &Filter) -> Result<Object> {
    let mut equalities = filter.equalities()?;
    equalities.sort_by(|left, right| left.0.cmp(&right.0));
    let mut document = Object::new();
    for (path, value) in equalities {
        let path = Path::parse(&path)?;
        let names: Vec<&str> = path.text.split('.').collect();
        if !put(&mut document, &names, value) {
            return Err(Error::new(
                codes::NOT_SINGLE_VALUE_FIELD,
                format!("cannot infer query fields to set, path '{}' is matched twice", path.text),
            ));
        }
    }
    Ok(document)
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
    match id.as_object().and_then(|object| object.iter().find(|(name, _)| name.starts_with('$'))) {
        Some((name, _)) => Err(Error::new(
            codes::DOLLAR_PREFIXED_FIELD_NAME,
            format!("_id fields may not contain '$'-prefixed fields: {name} is not valid for storage."),
        )),
        None => Ok(()),
    }
}

/// Sets a value below objects that are made on the way; says no where something else is there already.
fn put(object: &mut Object, names: &[&str], value: Value) -> bool {
    let (name, rest) = match names {
        [] => return false,
        [name] => return object.insert(*name, value).is_none(),
        [name, rest @ ..] => (*name, rest),
    };
    if !object.contains(name) {
        object.insert(name, Object::new());
    }
    match object.get_mut(name) {
        Some(Value::Object(inner)) => put(inner, rest, value),
        _ => false,
    }
}
