//! What a filter fixes by equality, as upserts begin with.

use armilla_mongo_expression::{Error, Result, codes};
use armilla_value::Value;

use crate::condition::{Condition, Predicate};
use crate::filter::Filter;

const NOT_EXACT_VALUE_FIELD: i32 = 111;

impl Filter {
    /// Returns what the filter fixes by equality, path by path in its order, as an upsert begins with.
    ///
    /// A path that is fixed twice, or together with one inside of it, is an error (`NotSingleValueField`).
    pub fn equalities(&self) -> Result<Vec<(String, Value)>> {
        let mut equalities: Vec<(String, Value)> = Vec::new();
        gather(&self.root, &mut |path, value| add(path, value, &mut equalities))?;
        Ok(equalities)
    }

    /// Returns the `_id` that the filter fixes, which is all that an upsert by replacement takes from it: what it says
    /// of other paths may contradict itself. An `_id` that is fixed by its members only is an error.
    pub fn id_equality(&self) -> Result<Option<Value>> {
        let mut equalities: Vec<(String, Value)> = Vec::new();
        gather(&self.root, &mut |path, value| {
            if path == "_id" || path.starts_with("_id.") { add(path, value, &mut equalities) } else { Ok(()) }
        })?;
        match equalities.into_iter().next() {
            Some((path, _)) if path != "_id" => Err(Error::new(
                NOT_EXACT_VALUE_FIELD,
                format!("field at '_id' must be exactly specified, field at sub-path '{path}'found"),
            )),
            equality => Ok(equality.map(|(_, value)| value)),
        }
    }
}

/// What is done with a path and the value it must be equal to.
type Visit<'a> = dyn FnMut(&str, &Value) -> Result<()> + 'a;

fn gather(condition: &Condition, visit: &mut Visit<'_>) -> Result<()> {
    match condition {
        Condition::And(parts) => parts.iter().try_for_each(|part| gather(part, visit)),
        Condition::Or(parts) => match parts.as_slice() {
            [single] => gather(single, visit),
            _ => Ok(()),
        },
        Condition::Path { path, predicate } => match predicate {
            Predicate::Eq(value) => visit(path.as_str(), value),
            Predicate::In { values, patterns } => match values.as_slice() {
                [single] if patterns.is_empty() => visit(path.as_str(), single),
                _ => Ok(()),
            },
            // Several values are several equalities of one path, which is refused.
            Predicate::All(predicates) => predicates.iter().try_for_each(|predicate| match predicate {
                Predicate::Eq(value) => visit(path.as_str(), value),
                _ => Ok(()),
            }),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

fn add(path: &str, value: &Value, equalities: &mut Vec<(String, Value)>) -> Result<()> {
    for (other, _) in equalities.iter() {
        let (longer, shorter) =
            if other.len() > path.len() { (other.as_str(), path) } else { (path, other.as_str()) };
        if longer == shorter {
            return Err(Error::new(
                codes::NOT_SINGLE_VALUE_FIELD,
                format!("cannot infer query fields to set, path '{path}' is matched twice"),
            ));
        }
        if longer.strip_prefix(shorter).is_some_and(|rest| rest.starts_with('.')) {
            return Err(Error::new(
                codes::NOT_SINGLE_VALUE_FIELD,
                format!("cannot infer query fields to set, both paths '{path}' and '{other}' are matched"),
            ));
        }
    }
    equalities.push((path.to_owned(), value.clone()));
    Ok(())
}

#[cfg(test)]
#[path = "equalities_tests.rs"]
mod tests;
