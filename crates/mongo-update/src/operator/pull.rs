//! `$pull` and `$pullAll`.

use std::cmp::Ordering;

use armilla_mongo_expression::{Environment, Error, Result, Scope, codes, type_name};
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value, mongo_cmp};

use crate::wrapped::matches_wrapped;

/// Says which elements go.
#[derive(Debug, Clone)]
pub(crate) enum Pull {
    /// Those equal to a value.
    Equal(Value),
    /// Those of a list, which is in the canonical order.
    Listed(Vec<Value>),
    /// Objects that a filter lets through.
    Objects(Filter),
    /// Elements that a condition holds for: a filter over an object with the element as its only member.
    Values(Filter),
}

/// The member that holds an element for [`Pull::Values`].
const ELEMENT: &str = "element";

impl Pull {
    /// Reads the operand of `$pull`.
    pub(crate) fn parse(operand: &Value, scope: &Scope) -> Result<Pull> {
        match operand {
            Value::Object(object) if !is_condition(object) => {
                Ok(Pull::Objects(Filter::parse(object, scope)?))
            }
            Value::Object(_) | Value::Regex { .. } => {
                Ok(Pull::Values(Filter::parse(&Object::from([(ELEMENT, operand.clone())]), scope)?))
            }
            _ => Ok(Pull::Equal(operand.clone())),
        }
    }

    /// Reads the operand of `$pullAll`.
    pub(crate) fn parse_all(operand: &Value) -> Result<Pull> {
        let Value::Array(values) = operand else {
            return Err(Error::new(
                codes::BAD_VALUE,
                format!("$pullAll requires an array argument but was given a {}", type_name(operand)),
            ));
        };
        let mut values = values.clone();
        values.sort_by(mongo_cmp);
        Ok(Pull::Listed(values))
    }

    /// Returns the name of the operator.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Pull::Listed(_) => "$pullAll",
            _ => "$pull",
        }
    }

    /// Takes the elements out; says whether there were any.
    pub(crate) fn apply(&self, elements: &mut Vec<Value>, environment: &Environment) -> Result<bool> {
        let mut goes = Vec::with_capacity(elements.len());
        for element in elements.iter_mut() {
            goes.push(self.matches(element, environment)?);
        }
        let mut goes = goes.into_iter();
        let length = elements.len();
        elements.retain(|_| !goes.next().unwrap_or(false));
        Ok(elements.len() != length)
    }

    fn matches(&self, element: &mut Value, environment: &Environment) -> Result<bool> {
        match (self, &*element) {
            (Pull::Equal(value), _) => Ok(mongo_cmp(element, value) == Ordering::Equal),
            (Pull::Listed(values), _) => {
                Ok(values.binary_search_by(|value| mongo_cmp(value, element)).is_ok())
            }
            (Pull::Objects(filter), Value::Object(object)) => filter.matches(object, environment),
            (Pull::Objects(_), _) => Ok(false),
            (Pull::Values(filter), _) => matches_wrapped(filter, ELEMENT, element, environment),
        }
    }
}

/// Says whether an object is a condition on a value (`{$gt: 1}`), not a filter over members of an object.
fn is_condition(object: &Object) -> bool {
    object.iter().next().is_some_and(|(name, _)| {
        name.starts_with('$')
            && !matches!(
                name,
                "$and"
                    | "$or"
                    | "$nor"
                    | "$expr"
                    | "$where"
                    | "$text"
                    | "$comment"
                    | "$jsonSchema"
                    | "$alwaysTrue"
                    | "$alwaysFalse"
                    | "$sampleRate"
            )
    })
}
