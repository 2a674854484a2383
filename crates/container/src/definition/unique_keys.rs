//! `uniqueKeyPolicy`: `{"uniqueKeys": [{"paths": ["/email", "/name"]}, ...]}`.
//!
//! With `"sparse": true`, an extension of ours, items that lack all paths of a key are left out of it.

use armilla_index::reader::Field;
use armilla_value::{PropertyPath, Value};

use super::json::object;
use super::{DefinitionError, limits, property_paths};

/// Values of which a combination may occur once in a logical partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniqueKey {
    /// Where the values stand.
    pub paths: Vec<PropertyPath>,
    /// Whether items that have none of the values are left out, rather than to have nulls.
    pub is_sparse: bool,
}

const SPARSE: &str = "sparse";

pub(super) fn read(body: &Field<'_>) -> Result<Vec<UniqueKey>, DefinitionError> {
    let Some(policy) = body.member("uniqueKeyPolicy") else { return Ok(Vec::new()) };
    policy.expect_object()?;
    let Some(list) = policy.member("uniqueKeys") else { return Ok(Vec::new()) };
    let elements = list.elements()?;
    if elements.len() > limits::UNIQUE_KEYS_MAX {
        let message = format!(
            "the container has {} unique keys, more than the {} allowed",
            elements.len(),
            limits::UNIQUE_KEYS_MAX
        );
        return Err(DefinitionError::new(list.path(), message));
    }
    let mut keys: Vec<UniqueKey> = Vec::new();
    for element in elements {
        let key = read_key(&element)?;
        // The order of paths does not matter for what is unique.
        let same = |other: &UniqueKey| {
            other.paths.len() == key.paths.len() && other.paths.iter().all(|path| key.paths.contains(path))
        };
        if keys.iter().any(same) {
            let message = format!("the unique key at '{}' is given more than once", element.path());
            return Err(DefinitionError::new(element.path(), message));
        }
        keys.push(key);
    }
    Ok(keys)
}

fn read_key(element: &Field<'_>) -> Result<UniqueKey, DefinitionError> {
    element.expect_object()?;
    let is_sparse = match element.member(SPARSE) {
        None => false,
        Some(field) => match field.value() {
            Value::Bool(is_sparse) => *is_sparse,
            _ => {
                let message = format!("'{}' must be true or false", field.path());
                return Err(DefinitionError::new(field.path(), message));
            }
        },
    };
    let list = element.required("paths")?;
    let elements = list.elements()?;
    if elements.is_empty() || elements.len() > limits::UNIQUE_KEY_PATHS_MAX {
        let message = format!(
            "the unique key at '{}' has {} paths; it must have 1 to {}",
            element.path(),
            elements.len(),
            limits::UNIQUE_KEY_PATHS_MAX
        );
        return Err(DefinitionError::new(list.path(), message));
    }
    let mut paths = Vec::new();
    for element in elements {
        let text = element.text()?;
        let path = property_paths::parse(text).map_err(|position| {
            let message = format!(
                "the unique key path '{text}' could not be accepted, failed near position '{position}'; it \
                 must name a property, without wildcards"
            );
            DefinitionError::new(element.path(), message)
        })?;
        if paths.contains(&path) {
            let message = format!("the unique key path '{text}' is given more than once in one key");
            return Err(DefinitionError::new(element.path(), message));
        }
        paths.push(path);
    }
    Ok(UniqueKey { paths, is_sparse })
}

pub(super) fn write(keys: &[UniqueKey]) -> Value {
    let write_key = |key: &UniqueKey| {
        let paths = key.paths.iter().map(|path| Value::String(path.to_string()));
        let paths = ("paths", Value::Array(paths.collect()));
        let sparse = key.is_sparse.then_some((SPARSE, Value::Bool(true)));
        object([paths].into_iter().chain(sparse))
    };
    object([("uniqueKeys", Value::Array(keys.iter().map(write_key).collect()))])
}

/// Unique keys are made with the container; several clients leave them out of a replace.
pub(super) fn replace(old: &[UniqueKey], new: &[UniqueKey]) -> Result<Vec<UniqueKey>, DefinitionError> {
    if new.is_empty() || new == old {
        Ok(old.to_vec())
    } else {
        Err(DefinitionError::new("uniqueKeyPolicy", "the unique keys of a container cannot be changed"))
    }
}
