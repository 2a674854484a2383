//! `$addToSet` and `$pop`, and sets of values in the canonical order.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use armilla_mongo_expression::{Error, Result, codes, type_name};
use armilla_value::{Value, mongo_cmp};

use crate::context::Context;
use crate::render::render_object;

/// A value that is compared in the canonical order, so that 1 and 1.0 are one.
pub(crate) struct Ordered<'a>(pub(crate) &'a Value);

impl Ord for Ordered<'_> {
    fn cmp(&self, other: &Ordered<'_>) -> Ordering {
        mongo_cmp(self.0, other.0)
    }
}

impl PartialOrd for Ordered<'_> {
    fn partial_cmp(&self, other: &Ordered<'_>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered<'_> {
    fn eq(&self, other: &Ordered<'_>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered<'_> {}

/// The values of an `$addToSet`, each once.
#[derive(Debug, Clone)]
pub(crate) struct AddToSet {
    values: Vec<Value>,
}

impl AddToSet {
    /// Reads a value, or the values of `$each`.
    pub(crate) fn parse(operand: &Value) -> Result<AddToSet> {
        let each = operand
            .as_object()
            .filter(|object| object.iter().next().is_some_and(|(name, _)| name == "$each"));
        let Some(object) = each else {
            return Ok(AddToSet { values: vec![operand.clone()] });
        };
        let values = match object.get("$each") {
            Some(Value::Array(values)) => values,
            other => {
                return Err(Error::new(
                    codes::TYPE_MISMATCH,
                    format!(
                        "The argument to $each in $addToSet must be an array but it was of type {}",
                        other.map_or("missing", type_name)
                    ),
                ));
            }
        };
        if object.len() > 1 {
            return Err(Error::bad_value(format!(
                "Found unexpected fields after $each in $addToSet: {}",
                render_object(object)
            )));
        }
        let mut seen = BTreeSet::new();
        let kept = values.iter().filter(|value| seen.insert(Ordered(value))).cloned().collect();
        Ok(AddToSet { values: kept })
    }

    /// Returns the values.
    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }

    /// Adds those that are not there; says whether there were any.
    pub(crate) fn apply(&self, elements: &mut Vec<Value>, context: &Context<'_>) -> Result<bool> {
        let new: Vec<Value> = if let [value] = self.values.as_slice() {
            let is_there = elements.iter().any(|element| mongo_cmp(element, value).is_eq());
            if is_there { Vec::new() } else { vec![value.clone()] }
        } else {
            // A set, because both lists may be long.
            let present: BTreeSet<Ordered<'_>> = elements.iter().map(Ordered).collect();
            self.values.iter().filter(|value| !present.contains(&Ordered(value))).cloned().collect()
        };
        for value in &new {
            context.count(value)?;
        }
        let is_changed = !new.is_empty();
        elements.extend(new);
        Ok(is_changed)
    }
}

/// Takes the first or the last element away; says whether there was one.
pub(crate) fn pop(elements: &mut Vec<Value>, first: bool) -> bool {
    if elements.is_empty() {
        return false;
    }
    if first {
        elements.remove(0);
    } else {
        elements.pop();
    }
    true
}
