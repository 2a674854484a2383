//! `uniqueKeyPolicy`: `{"uniqueKeys": [{"paths": ["/email", "/name"]}, ...]}`.

use armilla_index::reader::Field;
use armilla_value::{PropertyPath, Value};

use super::json::object;
use super::{DefinitionError, limits, property_paths};

pub(super) fn read(body: &Field<'_>) -> Result<Vec<Vec<PropertyPath>>, DefinitionError> {
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
    let mut keys: Vec<Vec<PropertyPath>> = Vec::new();
    for element in elements {
        let key = read_key(&element)?;
        // The order of paths does not matter for what is unique.
        let same = |other: &Vec<PropertyPath>| {
            other.len() == key.len() && other.iter().all(|path| key.contains(path))
        };
        if keys.iter().any(same) {
            let message = format!("the unique key at '{}' is given more than once", element.path());
            return Err(DefinitionError::new(element.path(), message));
        }
        keys.push(key);
    }
    Ok(keys)
}

fn read_key(element: &Field<'_>) -> Result<Vec<PropertyPath>, DefinitionError> {
    element.expect_object()?;
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
    Ok(paths)
}

pub(super) fn write(keys: &[Vec<PropertyPath>]) -> Value {
    let write_key = |key: &Vec<PropertyPath>| {
        let paths = key.iter().map(|path| Value::String(path.to_string()));
        object([("paths", Value::Array(paths.collect()))])
    };
    object([("uniqueKeys", Value::Array(keys.iter().map(write_key).collect()))])
}

/// Unique keys are made with the container; several clients leave them out of a replace.
pub(super) fn replace(
    old: &[Vec<PropertyPath>],
    new: &[Vec<PropertyPath>],
) -> Result<Vec<Vec<PropertyPath>>, DefinitionError> {
    if new.is_empty() || new == old {
        Ok(old.to_vec())
    } else {
        Err(DefinitionError::new("uniqueKeyPolicy", "the unique keys of a container cannot be changed"))
    }
}
