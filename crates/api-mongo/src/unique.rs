//! Unique indexes, and the unique keys of the container that they are.
//!
//! The container's definition is what decides: a key that no index names is shown as an index of its own, and a unique
//! index whose key is not there is not shown. So one that was being made or dropped when the program ended is there or not,
//! as a whole, whatever was written of it last.

use armilla_engine::{ContainerDefinition, Duplicate, UniqueKey};
use armilla_mongo_expression::codes;
use armilla_value::{Object, PropertyPath, Value};

use crate::documents::{shown_name, stored_name};
use crate::failure::{Failure, Result};
use crate::indexes::Index;
use crate::writes::duplicate;

/// Returns the unique keys that indexes ask for.
pub(crate) fn keys(indexes: &[Index]) -> Result<Vec<UniqueKey>> {
    let mut keys: Vec<UniqueKey> = Vec::new();
    for index in indexes.iter().filter(|index| index.is_unique) {
        let key = key(index)?;
        // Where one counts documents that lack all fields, the one that leaves them out asks for less.
        match keys.iter().position(|known| known.is_like(&UniqueKey::new(key.paths.clone(), !key.is_sparse)))
        {
            Some(place) => keys[place].is_sparse = false,
            None if keys.iter().any(|known| known.is_like(&key)) => {}
            None => keys.push(key),
        }
    }
    Ok(keys)
}

fn key(index: &Index) -> Result<UniqueKey> {
    let paths = index.fields.iter().map(|(path, _)| {
        PropertyPath::parse(&path_text(path)).map_err(|_| {
            Failure::new(
                codes::CANNOT_CREATE_INDEX,
                format!("the field '{path}' cannot be that of a unique index"),
            )
        })
    });
    Ok(UniqueKey::new(paths.collect::<Result<_>>()?, index.is_sparse))
}

fn path_text(path: &str) -> String {
    let steps = path.split('.').enumerate().map(|(level, name)| {
        let name = if level == 0 { stored_name(name) } else { name.into() };
        format!("/{}", quoted(&name))
    });
    steps.collect()
}

/// Writes a name as a step of a path.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.is_empty();
    if is_plain {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// Returns the part of a definition that says what is unique, if anything is.
pub(crate) fn policy(indexes: &[Index]) -> Result<Option<Value>> {
    let write = |key: UniqueKey| {
        let paths = key.paths.iter().map(|path| Value::String(path.to_string()));
        let mut members = Object::from([("paths", Value::Array(paths.collect()))]);
        if key.is_sparse {
            members.insert("sparse", true);
        }
        Value::Object(members)
    };
    let keys: Vec<Value> = keys(indexes)?.into_iter().map(write).collect();
    Ok((!keys.is_empty()).then(|| Value::Object(Object::from([("uniqueKeys", Value::Array(keys))]))))
}

/// Returns the keys of a container that its indexes do not ask for: those that it was made with through another API.
pub(crate) fn foreign_keys(definition: &ContainerDefinition, indexes: &[Index]) -> Result<Vec<UniqueKey>> {
    let own = keys(indexes)?;
    let foreign = definition.held_unique_keys().filter(|held| !own.iter().any(|key| key.is_like(held)));
    Ok(foreign.cloned().collect())
}

/// Brings indexes that were kept to the unique keys that there are.
pub(crate) fn reconciled(indexes: Vec<Index>, definition: &ContainerDefinition) -> Vec<Index> {
    let is_held = |index: &Index| {
        let key = key(index);
        // The key of another index may ask for more.
        key.is_ok_and(|key| {
            let stricter = UniqueKey::new(key.paths.clone(), false);
            definition.held_unique_keys().any(|held| held.is_like(&key) || held.is_like(&stricter))
        })
    };
    let mut kept: Vec<Index> =
        indexes.into_iter().filter(|index| !index.is_unique || is_held(index)).collect();
    let missing = foreign_keys(definition, &kept).unwrap_or_default();
    for key in missing {
        let fields = key.paths.iter().map(|path| {
            let mut names = path.names().iter().map(String::as_str);
            let first = names.next().map(shown_name);
            first.into_iter().chain(names).collect::<Vec<_>>().join(".")
        });
        let fields: Vec<String> = fields.collect();
        let name = fields.iter().map(|field| format!("{field}_1")).collect::<Vec<_>>().join("_");
        let mut index = Object::from([
            ("key", Value::Object(fields.iter().map(|field| (field.as_str(), Value::Int32(1))).collect())),
            ("name", Value::String(name)),
            ("unique", Value::Bool(true)),
        ]);
        if key.is_sparse {
            index.insert("sparse", true);
        }
        kept.extend(Index::parse(&index).ok());
    }
    kept
}

/// Says that documents keep a unique index from being made.
pub(crate) fn refusal(namespace: &str, indexes: &[Index], found: Duplicate) -> Failure {
    let is_its = |index: &&Index| index.is_unique && key(index).is_ok_and(|key| key.is_like(&found.key));
    let Some(index) = indexes.iter().find(is_its) else {
        return duplicate(namespace, "unique", Object::new());
    };
    let values = found.values.into_iter().map(|value| value.unwrap_or(Value::Null));
    let key = index.fields.iter().map(|(path, _)| path.clone()).zip(values).collect();
    duplicate(namespace, &index.name, key)
}

#[cfg(test)]
#[path = "unique_tests.rs"]
mod tests;
