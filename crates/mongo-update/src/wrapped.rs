//! Filters over one element, which they see as the only member of an object.

use armilla_mongo_expression::{Environment, Result};
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value};

/// Decides about an object with an element as its only member. The element is lent to it: elements may be large.
pub(crate) fn matches_wrapped(
    filter: &Filter,
    name: &str,
    element: &mut Value,
    environment: &Environment,
) -> Result<bool> {
    let wrapped = Object::from([(name, std::mem::replace(element, Value::Null))]);
    let is_match = filter.matches(&wrapped, environment);
    if let Some((_, value)) = wrapped.into_iter().next() {
        *element = value;
    }
    is_match
}
