//! Orders, and the keys by which documents are put in order.
//!
//! A path that goes through an array gives a key for each element; the document stands where the first of them does.
//! An empty array comes before null, as undefined does; missing is null.
//!
//! Not here: ties, which the caller breaks; sorting itself.

use std::cmp::Ordering;

use armilla_mongo_expression::{Error, Result};
use armilla_value::{Object, Value, mongo_cmp};

use crate::field_path;
use crate::limits::SORT_KEYS_MAX;
use crate::number::{is_number, truncated};
use crate::text::show_member;
use crate::types::undefined;

const BAD_KEY: i32 = 15974;
const BAD_DIRECTION: i32 = 15975;
const NOT_META: i32 = 17312;
const BAD_META: i32 = 31138;
const NO_TEXT_SCORE: i32 = 40218;
const TOO_MANY_KEYS: i32 = 13103;

/// An order that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sort {
    /// The paths, and which of them from the highest to the lowest.
    pub keys: Vec<(String, bool)>,
}

/// The key of a document in an order.
#[derive(Debug, Clone, PartialEq)]
pub struct SortKey(pub Vec<Value>);

impl Sort {
    /// Reads an order. Without keys it leaves everything as it is.
    pub fn parse(specification: &Object) -> Result<Sort> {
        if specification.len() > SORT_KEYS_MAX {
            return Err(Error::new(TOO_MANY_KEYS, "too many compound keys"));
        }
        let mut keys = Vec::with_capacity(specification.len());
        for (path, direction) in specification.iter() {
            if let Value::Object(object) = direction {
                return Err(refuse_object(object));
            }
            if !is_number(direction) {
                let shown = show_member(path, direction);
                return Err(Error::new(BAD_KEY, format!("Illegal key in $sort specification: {shown}")));
            }
            let is_descending = match truncated(direction) {
                Some(1) => false,
                Some(-1) => true,
                _ => {
                    return Err(Error::new(
                        BAD_DIRECTION,
                        "$sort key ordering must be 1 (for ascending) or -1 (for descending)",
                    ));
                }
            };
            field_path::check(path)?;
            keys.push((path.to_owned(), is_descending));
        }
        Ok(Sort { keys })
    }

    /// Returns the key of a document.
    pub fn key(&self, document: &Object) -> Result<SortKey> {
        let mut key = Vec::with_capacity(self.keys.len());
        for (path, _) in &self.keys {
            match plain(document, path) {
                Plain::Found(value) => key.push(value.clone()),
                Plain::Missing => key.push(Value::Null),
                Plain::InArray => return self.key_through_arrays(document),
            }
        }
        Ok(SortKey(key))
    }

    /// Compares two keys of this order.
    pub fn compare(&self, left: &SortKey, right: &SortKey) -> Ordering {
        for ((_, is_descending), (a, b)) in self.keys.iter().zip(left.0.iter().zip(&right.0)) {
            let order = compare(a, b);
            if order.is_ne() {
                return if *is_descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }

    /// Compares two documents: the same as comparing their keys.
    pub fn compare_documents(&self, left: &Object, right: &Object) -> Result<Ordering> {
        Ok(self.compare(&self.key(left)?, &self.key(right)?))
    }

    fn key_through_arrays(&self, document: &Object) -> Result<SortKey> {
        let paths: Vec<Vec<&str>> = self.keys.iter().map(|(path, _)| path.split('.').collect()).collect();
        let parts = paths.iter().map(|path| Part::Open(path.as_slice())).collect();
        let undefined = undefined();
        let mut first = First { sort: self, undefined: &undefined, key: None };
        first.gather(Some(document), parts)?;
        let key = first.key.unwrap_or_default();
        Ok(SortKey(key.into_iter().cloned().collect()))
    }
}

/// Compares values in the canonical order, the usual types without detour.
#[inline]
fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Int32(a), Value::Int32(b)) => a.cmp(b),
        (Value::Int64(a), Value::Int64(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Value::ObjectId(a), Value::ObjectId(b)) => a.cmp(b),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        _ => mongo_cmp(left, right),
    }
}

fn refuse_object(object: &Object) -> Error {
    match object.iter().next() {
        Some(("$meta", Value::String(what))) if what == "textScore" => {
            Error::new(NO_TEXT_SCORE, "query requires text score metadata, but it is not available")
        }
        Some(("$meta", what)) => {
            Error::new(BAD_META, format!("Illegal $meta sort: {}", show_member("$meta", what)))
        }
        _ => Error::new(NOT_META, "the only expression supported by $sort right now is {$meta: 'textScore'}"),
    }
}

enum Plain<'a> {
    Found(&'a Value),
    Missing,
    InArray,
}

/// Follows a path that meets no array.
fn plain<'a>(document: &'a Object, path: &str) -> Plain<'a> {
    let mut object = document;
    let mut rest = path;
    loop {
        let (name, further) = match rest.split_once('.') {
            Some((name, further)) => (name, Some(further)),
            None => (rest, None),
        };
        match (object.get(name), further) {
            (None, _) => return Plain::Missing,
            (Some(Value::Array(_)), _) => return Plain::InArray,
            (Some(value), None) => return Plain::Found(value),
            (Some(Value::Object(inner)), Some(further)) => {
                object = inner;
                rest = further;
            }
            (Some(_), Some(_)) => return Plain::Missing,
        }
    }
}

/// A part of a key while it is made.
#[derive(Clone, Copy)]
enum Part<'a, 'p> {
    /// Known.
    Fixed(&'a Value),
    /// Still to be found along these names.
    Open(&'p [&'p str]),
}

/// Where names lead.
enum Reached<'a, 'p> {
    Value(&'a Value),
    /// An array, and the names that are left.
    Array(&'a Vec<Value>, &'p [&'p str]),
}

/// The first of the keys that were seen.
struct First<'a, 's> {
    sort: &'s Sort,
    undefined: &'a Value,
    key: Option<Vec<&'a Value>>,
}

impl<'a> First<'a, '_> {
    /// Makes all keys of an object; those of one array go together, so that two arrays side by side are refused.
    fn gather(&mut self, object: Option<&'a Object>, mut parts: Vec<Part<'a, '_>>) -> Result<()> {
        let mut array: Option<&'a Vec<Value>> = None;
        let mut through_array = vec![false; parts.len()];
        for (part, is_through) in parts.iter_mut().zip(&mut through_array) {
            let Part::Open(names) = *part else { continue };
            match follow(object, names) {
                Reached::Value(value) => *part = Part::Fixed(value),
                Reached::Array(elements, rest) => {
                    if array.is_some_and(|other| !std::ptr::eq(other, elements)) {
                        return Err(Error::bad_value("cannot sort with keys that are parallel arrays"));
                    }
                    array = Some(elements);
                    *is_through = true;
                    *part = Part::Open(rest);
                }
            }
        }
        let Some(elements) = array else {
            self.offer(parts);
            return Ok(());
        };
        if elements.is_empty() {
            for (part, is_through) in parts.iter_mut().zip(&through_array) {
                if *is_through {
                    let is_leaf = matches!(part, Part::Open([]));
                    *part = Part::Fixed(if is_leaf { self.undefined } else { &Value::Null });
                }
            }
            self.offer(parts);
            return Ok(());
        }
        for element in elements {
            let mut own = parts.clone();
            for (part, is_through) in own.iter_mut().zip(&through_array) {
                if *is_through && matches!(part, Part::Open([])) {
                    *part = Part::Fixed(element);
                }
            }
            self.gather(element.as_object(), own)?;
        }
        Ok(())
    }

    fn offer(&mut self, parts: Vec<Part<'a, '_>>) {
        let key: Vec<&'a Value> = parts
            .into_iter()
            .map(|part| match part {
                Part::Fixed(value) => value,
                Part::Open(_) => &Value::Null,
            })
            .collect();
        let is_first = self.key.as_ref().is_none_or(|best| {
            for ((_, is_descending), (a, b)) in self.sort.keys.iter().zip(key.iter().zip(best)) {
                let order = compare(a, b);
                if order.is_ne() {
                    return order.is_lt() != *is_descending;
                }
            }
            false
        });
        if is_first {
            self.key = Some(key);
        }
    }
}

fn follow<'a, 'p>(object: Option<&'a Object>, names: &'p [&'p str]) -> Reached<'a, 'p> {
    let Some((name, mut rest)) = names.split_first() else { return Reached::Value(&Value::Null) };
    let mut value = object.and_then(|object| object.get(name));
    loop {
        match (value, rest.split_first()) {
            (None, _) => return Reached::Value(&Value::Null),
            (Some(Value::Array(elements)), next) => {
                // A number that is a place in the array goes into that element alone.
                let place = next.and_then(|(name, further)| Some((name.parse::<usize>().ok()?, further)));
                match place.and_then(|(index, further)| Some((elements.get(index)?, further))) {
                    Some((element, further)) => {
                        value = Some(element);
                        rest = further;
                    }
                    None => return Reached::Array(elements, rest),
                }
            }
            (Some(found), None) => return Reached::Value(found),
            (Some(Value::Object(inner)), Some((name, further))) => {
                value = inner.get(name);
                rest = further;
            }
            (Some(_), Some(_)) => return Reached::Value(&Value::Null),
        }
    }
}

#[cfg(test)]
#[path = "sort_tests.rs"]
mod tests;
