//! Field paths as the aggregation language follows them.
//!
//! A path through an array gives the array of what its objects have there; elements that are no objects, and those
//! that lack the field, give nothing. A number in a path is a name like any other and never selects an element.
//!
//! Not here: the paths of filters, which do otherwise (`mongo-filter`).

use std::borrow::Cow;

use armilla_value::{Object, Value};

use crate::error::{Error, Result};

/// A path that was read: its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(Box<[Box<str>]>);

impl Path {
    /// Reads a path without a dollar, such as `a.b.c`.
    pub fn parse(text: &str) -> Result<Path> {
        if text.is_empty() {
            return Err(Error::new(40352, "FieldPath cannot be constructed with empty string"));
        }
        if text.ends_with('.') {
            return Err(Error::new(40353, "FieldPath must not end with a '.'."));
        }
        let names: Box<[Box<str>]> = text.split('.').map(Box::from).collect();
        names.iter().try_for_each(|name| check_name(name))?;
        if names.len() > crate::limits::DEPTH_MAX {
            return Err(Error::new(crate::codes::OVERFLOW, "FieldPath is too long"));
        }
        Ok(Path(names))
    }

    /// Returns what is there, starting in an object.
    pub fn get<'a>(&self, object: &'a Object) -> Option<Cow<'a, Value>> {
        follow(object, &self.0)
    }

    /// Returns what is there, starting in a value.
    pub fn get_in<'a>(&self, value: &'a Value) -> Option<Cow<'a, Value>> {
        enter(value, &self.0)
    }

    /// Returns the names.
    pub fn names(&self) -> &[Box<str>] {
        &self.0
    }
}

/// Checks one name of a path, or of a field that an expression makes.
pub fn check_name(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::new(15998, "FieldPath field names may not be empty strings."));
    }
    if name.starts_with('$') {
        return Err(Error::new(
            16410,
            "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
        ));
    }
    if name.contains('\0') {
        return Err(Error::new(16411, "FieldPath field names may not contain '\\0'."));
    }
    Ok(())
}

/// Returns what is at a path (without a dollar) of an object.
pub fn get<'a>(object: &'a Object, path: &str) -> Option<Cow<'a, Value>> {
    if !path.contains('.') {
        return object.get(path).map(Cow::Borrowed);
    }
    let names: Vec<&str> = path.split('.').collect();
    follow(object, &names)
}

fn follow<'a, N: AsRef<str>>(object: &'a Object, names: &[N]) -> Option<Cow<'a, Value>> {
    let (first, rest) = names.split_first()?;
    let value = object.get(first.as_ref())?;
    if rest.is_empty() { Some(Cow::Borrowed(value)) } else { enter(value, rest) }
}

fn enter<'a, N: AsRef<str>>(value: &'a Value, names: &[N]) -> Option<Cow<'a, Value>> {
    match value {
        Value::Object(object) => follow(object, names),
        Value::Array(elements) => Some(Cow::Owned(Value::Array(
            elements
                .iter()
                .filter_map(|element| follow(element.as_object()?, names))
                .map(Cow::into_owned)
                .collect(),
        ))),
        _ => None,
    }
}
