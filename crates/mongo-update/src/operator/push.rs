//! `$push` with `$each`, `$position`, `$sort` and `$slice`.

use std::cmp::Ordering;

use armilla_mongo_expression::arithmetic::integral;
use armilla_mongo_expression::measure::bson_value_bytes;
use armilla_mongo_expression::{Error, Result, type_name};
use armilla_value::{Object, Value, mongo_cmp};

use crate::context::Context;
use crate::identical::identical;
use crate::operator::number::direction;
use crate::path::element_index;

/// A `$push` that was read. Values are put in first, then the array is sorted, then it is cut.
#[derive(Debug, Clone)]
pub(crate) struct Push {
    values: Vec<Value>,
    position: Option<i64>,
    sort: Option<Sort>,
    slice: Option<i64>,
}

#[derive(Debug, Clone)]
enum Sort {
    /// By whole elements.
    Whole { is_descending: bool },
    /// By members of elements that are objects.
    Members(Vec<(Vec<String>, bool)>),
}

impl Push {
    /// Reads a value, or an object of clauses of which one is `$each`.
    pub(crate) fn parse(operand: &Value) -> Result<Push> {
        let Some(clauses) = operand.as_object().filter(|object| object.contains("$each")) else {
            return Ok(Push { values: vec![operand.clone()], position: None, sort: None, slice: None });
        };
        let mut push = Push { values: Vec::new(), position: None, sort: None, slice: None };
        for (name, value) in clauses.iter() {
            match name {
                "$each" => {
                    let Value::Array(values) = value else {
                        return Err(Error::bad_value(format!(
                            "The argument to $each in $push must be an array but it was of type: {}",
                            type_name(value)
                        )));
                    };
                    push.values = values.clone();
                }
                "$position" => {
                    push.position = Some(integral(value).ok_or_else(|| {
                        Error::bad_value(format!(
                            "The value for $position must be an integer value, not of type: {}",
                            type_name(value)
                        ))
                    })?);
                }
                "$slice" => {
                    push.slice = Some(integral(value).ok_or_else(|| {
                        Error::bad_value(format!(
                            "The value for $slice must be an integer value but was given type: {}",
                            type_name(value)
                        ))
                    })?);
                }
                "$sort" => push.sort = Some(Sort::parse(value)?),
                _ => return Err(Error::bad_value(format!("Unrecognized clause in $push: {name}"))),
            }
        }
        Ok(push)
    }

    /// Returns the values to put in.
    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }

    /// Changes an array; says whether it became another.
    pub(crate) fn apply(&self, elements: &mut Vec<Value>, context: &Context<'_>) -> Result<bool> {
        if self.slice.is_none() {
            for value in &self.values {
                context.count(value)?;
            }
        }
        let before = (self.sort.is_some() || self.slice.is_some()).then(|| elements.clone());
        let at = self.index(elements.len());
        elements.splice(at..at, self.values.iter().cloned());
        if let Some(sort) = &self.sort {
            sort.apply(elements);
        }
        if let Some(slice) = self.slice {
            let kept = usize::try_from(slice.unsigned_abs()).unwrap_or(usize::MAX);
            if slice >= 0 {
                elements.truncate(kept);
            } else {
                elements.drain(..elements.len().saturating_sub(kept));
            }
            // Which of the values were kept is not known any more, only that they are no more than this.
            let bytes = |values: &[Value]| -> usize { values.iter().map(bson_value_bytes).sum() };
            context.count_bytes(bytes(&self.values).min(bytes(elements)))?;
        }
        Ok(match before {
            None => !self.values.is_empty(),
            Some(before) => {
                before.len() != elements.len()
                    || !before.iter().zip(elements.iter()).all(|(old, new)| identical(old, new))
            }
        })
    }

    /// Returns where to put the values in. A negative position counts from the end.
    fn index(&self, length: usize) -> usize {
        match self.position {
            None => length,
            Some(position) => {
                let distance = usize::try_from(position.unsigned_abs()).unwrap_or(usize::MAX);
                if position >= 0 { distance.min(length) } else { length.saturating_sub(distance) }
            }
        }
    }
}

impl Sort {
    fn parse(value: &Value) -> Result<Sort> {
        let wrong = "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields";
        let pattern = match value {
            Value::Object(pattern) => pattern,
            _ => {
                return match direction(value) {
                    Some(is_descending) => Ok(Sort::Whole { is_descending }),
                    None if value.kind().is_number() => {
                        Err(Error::bad_value("The $sort element value must be either 1 or -1"))
                    }
                    None => Err(Error::bad_value(wrong)),
                };
            }
        };
        if pattern.is_empty() {
            return Err(Error::bad_value("The $sort pattern is empty when it should be a set of fields."));
        }
        let mut keys = Vec::with_capacity(pattern.len());
        for (name, value) in pattern.iter() {
            let Some(is_descending) = direction(value) else {
                return Err(Error::bad_value("The $sort element value must be either 1 or -1"));
            };
            if name.is_empty() {
                return Err(Error::bad_value("The $sort field cannot be empty"));
            }
            if name.split('.').any(str::is_empty) {
                return Err(Error::bad_value(format!(
                    "The $sort field is a dotted field but has an empty part: {name}"
                )));
            }
            keys.push((name.split('.').map(str::to_owned).collect(), is_descending));
        }
        Ok(Sort::Members(keys))
    }

    fn apply(&self, elements: &mut [Value]) {
        match self {
            Sort::Whole { is_descending } => {
                elements.sort_by(|left, right| reversed(mongo_cmp(left, right), *is_descending));
            }
            Sort::Members(keys) => elements.sort_by(|left, right| {
                keys.iter()
                    .map(|(path, is_descending)| {
                        reversed(mongo_cmp(member(left, path), member(right, path)), *is_descending)
                    })
                    .find(|order| order.is_ne())
                    .unwrap_or(Ordering::Equal)
            }),
        }
    }
}

fn reversed(order: Ordering, is_descending: bool) -> Ordering {
    if is_descending { order.reverse() } else { order }
}

/// Returns what a path finds in an element, or null. Digits find an element of an array.
fn member<'a>(element: &'a Value, path: &[String]) -> &'a Value {
    let find = |value: &'a Value, name: &String| -> Option<&'a Value> {
        match value {
            Value::Object(object) => Object::get(object, name),
            Value::Array(elements) => elements.get(element_index(name)?),
            _ => None,
        }
    };
    // An element that is an array has no members; only those below an object are looked into.
    if !matches!(element, Value::Object(_)) {
        return &Value::Null;
    }
    path.iter().try_fold(element, find).unwrap_or(&Value::Null)
}
