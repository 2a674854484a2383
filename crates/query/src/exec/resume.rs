//! The position in sort order that newer SDKs send in the body of a request.

use armilla_functions::Datum;
use armilla_value::key::class;
use armilla_value::{Object, Value};

use super::sort_key::{push_class_start, push_component, push_sort_key};
use super::start::{Start, Tie, item_of};
use crate::bound::OrderKey;
use crate::error::{Error, Result};
use crate::eval::Evaluator;
use crate::frame::Frame;
use crate::source::Source;

#[cfg(test)]
mod tests;

/// A position in sort order.
#[derive(Debug, Clone, PartialEq)]
pub struct ResumeFilter {
    /// One value for each key of the order.
    pub values: Vec<ResumeValue>,
    /// The item among those with these values, by its number.
    pub number: Option<u64>,
    /// Whether the position is behind what is named, rather than at it.
    pub exclude: bool,
}

/// A value of a position.
#[derive(Debug, Clone, PartialEq)]
pub enum ResumeValue {
    /// There is none.
    Undefined,
    /// Null, a boolean, a number or a string.
    Value(Value),
    /// An array that the client knows by a hash of its own.
    SomeArray,
    /// An object that the client knows by a hash of its own.
    SomeObject,
}

impl ResumeFilter {
    /// Reads a `resumeFilter` as clients send it; `number_of` tells the item number in a resource id.
    pub fn parse(filter: &Value, number_of: impl Fn(&str) -> Option<u64>) -> Result<ResumeFilter> {
        let filter = filter.as_object().ok_or_else(|| malformed("it is no object"))?;
        let values = match filter.get("value") {
            Some(Value::Array(values)) => values,
            _ => return Err(malformed("'value' is no array")),
        };
        let number = match filter.get("rid") {
            None | Some(Value::Null) => None,
            Some(Value::String(rid)) => {
                Some(number_of(rid).ok_or_else(|| malformed("'rid' is no resource id of an item"))?)
            }
            Some(_) => return Err(malformed("'rid' is no string")),
        };
        let exclude = match filter.get("exclude") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(exclude)) => *exclude,
            Some(_) => return Err(malformed("'exclude' is no boolean")),
        };
        let values = values.iter().map(parse_value).collect::<Result<_>>()?;
        Ok(ResumeFilter { values, number, exclude })
    }

    /// Returns where a source begins.
    pub(super) fn start(
        &self,
        evaluator: &Evaluator<'_>,
        order: &[OrderKey],
        source: &dyn Source,
    ) -> Result<Start> {
        if self.values.len() != order.len() {
            return Err(malformed("it has another number of values than ORDER BY has keys"));
        }
        if let (Some(number), true) = (self.number, self.has_hash())
            && let Some(item) = item_of(source, number)?
        {
            // Hashes of clients are not ours, but the item itself tells its values.
            let mut key = Vec::new();
            push_sort_key(evaluator, order, &Frame::item(source, &item), &mut key)?;
            return Ok(Start { key, tie: self.tie() });
        }
        let mut key = Vec::new();
        for (value, OrderKey { descending, .. }) in self.values.iter().zip(order) {
            let class_byte = match value {
                ResumeValue::SomeArray => class::ARRAY,
                ResumeValue::SomeObject => class::OBJECT,
                ResumeValue::Undefined => {
                    push_component(&Datum::Undefined, *descending, order.len() > 1, &mut key);
                    continue;
                }
                ResumeValue::Value(value) => {
                    push_component(&Datum::from_value(value), *descending, order.len() > 1, &mut key);
                    continue;
                }
            };
            if order.len() > 1 {
                push_component(&Datum::Undefined, *descending, true, &mut key);
                continue;
            }
            push_class_start(class_byte, *descending, &mut key);
            return Ok(Start { key, tie: Tie::First });
        }
        Ok(Start { key, tie: self.tie() })
    }

    fn has_hash(&self) -> bool {
        self.values.iter().any(|value| matches!(value, ResumeValue::SomeArray | ResumeValue::SomeObject))
    }

    fn tie(&self) -> Tie {
        match (self.number, self.exclude) {
            (None, false) => Tie::First,
            (None, true) => Tie::Last,
            (Some(number), false) => Tie::At(number),
            (Some(number), true) => Tie::Behind(number),
        }
    }
}

fn parse_value(value: &Value) -> Result<ResumeValue> {
    match value {
        Value::Array(elements) if elements.is_empty() => Ok(ResumeValue::Undefined),
        Value::Object(hash) => parse_hash(hash),
        Value::Array(_) => Err(malformed("a value is an array that is not empty")),
        scalar => Ok(ResumeValue::Value(scalar.clone())),
    }
}

fn parse_hash(hash: &Object) -> Result<ResumeValue> {
    match hash.get("type").and_then(Value::as_str) {
        Some(kind) if kind.eq_ignore_ascii_case("array") => Ok(ResumeValue::SomeArray),
        Some(kind) if kind.eq_ignore_ascii_case("object") => Ok(ResumeValue::SomeObject),
        _ => Err(malformed("a value is an object without a known 'type'")),
    }
}

fn malformed(what: &str) -> Error {
    crate::continuation::invalid(&format!("resume filter is malformed: {what}"))
}
