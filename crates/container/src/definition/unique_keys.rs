//! `uniqueKeyPolicy`: `{"uniqueKeys": [{"paths": ["/email", "/name"]}, ...]}`.
//!
//! With `"sparse": true`, an extension of ours, items that lack all paths of a key are left out of it.
//!
//! The keys of a container are made with it; how others come and go later is in `unique_change`.
//! Each key has a slot, a number under which its reservations are stored, for as long as there are any:
//! * a key that is being built has one, and every write keeps to it, but items of before may lack their reservations;
//! * a key that was dropped leaves its slot behind, which no other key gets before its reservations are gone.
//!
//! What is stored of a definition says all of this, what clients are shown has nothing of it. A key that was being built
//! when the program ended is read as one that was dropped.

use armilla_index::reader::Field;
use armilla_value::{PropertyPath, Value};

use super::json::{integer, object};
use super::{DefinitionError, limits, property_paths};

/// Values of which a combination may occur once in a logical partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniqueKey {
    /// Where the values stand.
    pub paths: Vec<PropertyPath>,
    /// Whether items that have none of the values are left out, rather than to have nulls.
    pub is_sparse: bool,
    /// The number under which its reservations are stored.
    pub(crate) slot: u8,
    /// Whether items of before it was asked for may lack their reservations.
    pub(crate) is_building: bool,
}

const SPARSE: &str = "sparse";
const SLOT: &str = "slot";
const BUILDING: &str = "building";
const DROPPED: &str = "droppedSlots";

impl UniqueKey {
    /// Returns a key of these values.
    pub fn new(paths: Vec<PropertyPath>, is_sparse: bool) -> UniqueKey {
        UniqueKey { paths, is_sparse, slot: 0, is_building: false }
    }

    /// Returns whether the same is unique by another key, in whatever order it names the values.
    pub fn is_like(&self, other: &UniqueKey) -> bool {
        self.is_sparse == other.is_sparse && self.has_paths_of(other)
    }

    fn has_paths_of(&self, other: &UniqueKey) -> bool {
        self.paths.len() == other.paths.len() && other.paths.iter().all(|path| self.paths.contains(path))
    }
}

/// Reads the keys as clients give them: each has the slot of its position.
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
        let key = UniqueKey { slot: keys.len() as u8, ..read_key(&element)? };
        // The order of paths does not matter for what is unique.
        if keys.iter().any(|other| other.has_paths_of(&key)) {
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
    Ok(UniqueKey::new(paths, is_sparse))
}

/// Reads keys and slots as they are stored.
pub(super) fn read_stored(body: &Field<'_>) -> Result<(Vec<UniqueKey>, Vec<u8>), DefinitionError> {
    let (mut keys, mut dropped) = (Vec::new(), Vec::new());
    let Some(policy) = body.member("uniqueKeyPolicy") else { return Ok((keys, dropped)) };
    if let Some(slots) = policy.member(DROPPED) {
        dropped = slots.elements()?.iter().map(read_slot).collect::<Result<_, _>>()?;
    }
    let elements = policy.member("uniqueKeys").map(|list| list.elements()).transpose()?.unwrap_or_default();
    for (position, element) in elements.iter().enumerate() {
        let slot = match element.member(SLOT) {
            Some(slot) => read_slot(&slot)?,
            None => u8::try_from(position).unwrap_or(u8::MAX),
        };
        let is_building = element.member(BUILDING).is_some_and(|field| *field.value() == Value::Bool(true));
        match is_building {
            // No program goes on with it.
            true => dropped.push(slot),
            false => keys.push(UniqueKey { slot, ..read_key(element)? }),
        }
    }
    let mut slots: Vec<u8> = keys.iter().map(|key| key.slot).chain(dropped.iter().copied()).collect();
    slots.sort_unstable();
    if slots.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(DefinitionError::new("uniqueKeyPolicy", "two unique keys have one slot"));
    }
    Ok((keys, dropped))
}

fn read_slot(field: &Field<'_>) -> Result<u8, DefinitionError> {
    let slot = field.value().as_i64().and_then(|slot| u8::try_from(slot).ok());
    slot.ok_or_else(|| {
        DefinitionError::new(field.path(), format!("'{}' must be a slot, 0 to 255", field.path()))
    })
}

/// Writes the keys that hold, as clients see them; nothing where there are none.
pub(super) fn write<'a>(keys: impl Iterator<Item = &'a UniqueKey>) -> Option<Value> {
    let keys: Vec<Value> = keys.map(|key| object(members(key))).collect();
    (!keys.is_empty()).then(|| object([("uniqueKeys", Value::Array(keys))]))
}

/// Writes keys and slots as they are stored; nothing where there are none.
pub(super) fn write_stored(keys: &[UniqueKey], dropped: &[u8]) -> Option<Value> {
    if keys.is_empty() && dropped.is_empty() {
        return None;
    }
    let write_key = |(position, key): (usize, &UniqueKey)| {
        let slot = (usize::from(key.slot) != position).then(|| (SLOT, integer(key.slot)));
        let building = key.is_building.then_some((BUILDING, Value::Bool(true)));
        object(members(key).into_iter().chain(slot).chain(building))
    };
    let keys = ("uniqueKeys", Value::Array(keys.iter().enumerate().map(write_key).collect()));
    let slots = || (DROPPED, Value::Array(dropped.iter().map(|slot| integer(*slot)).collect()));
    Some(object([keys].into_iter().chain((!dropped.is_empty()).then(slots))))
}

fn members(key: &UniqueKey) -> Vec<(&'static str, Value)> {
    let paths = key.paths.iter().map(|path| Value::String(path.to_string()));
    let mut members = vec![("paths", Value::Array(paths.collect()))];
    members.extend(key.is_sparse.then_some((SPARSE, Value::Bool(true))));
    members
}

/// A replace does not change unique keys; several clients leave them out of one.
pub(super) fn replace(old: &[UniqueKey], new: &[UniqueKey]) -> Result<Vec<UniqueKey>, DefinitionError> {
    let what = |key: &UniqueKey| (key.paths.clone(), key.is_sparse);
    let shown = old.iter().filter(|key| !key.is_building).map(what);
    if new.is_empty() || shown.eq(new.iter().map(what)) {
        Ok(old.to_vec())
    } else {
        Err(DefinitionError::new("uniqueKeyPolicy", "the unique keys of a container cannot be changed"))
    }
}
