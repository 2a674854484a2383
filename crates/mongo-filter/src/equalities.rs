//! What a filter fixes by equality, as upserts begin with.

use armilla_mongo_expression::{Error, Result, codes};
use armilla_value::Value;

use crate::condition::{Condition, Predicate};
use crate::filter::Filter;

impl Filter {
    /// Returns what the filter fixes by equality, path by path in its order, as an upsert begins with.
    ///
    /// A path that is fixed twice, or together with one inside of it, is an error (`NotSingleValueField`).
    pub fn equalities(&self) -> Result<Vec<(String, Value)>> {
        let mut equalities: Vec<(String, Value)> = Vec::new();
        gather(&self.root, &mut equalities)?;
        Ok(equalities)
    }
}

fn gather(condition: &Condition, equalities: &mut Vec<(String, Value)>) -> Result<()> {
    match condition {
        Condition::And(parts) => parts.iter().try_for_each(|part| gather(part, equalities)),
        Condition::Or(parts) => match parts.as_slice() {
            [single] => gather(single, equalities),
            _ => Ok(()),
        },
        Condition::Path { path, predicate } => match predicate {
            Predicate::Eq(value) => add(path.as_str(), value, equalities),
            Predicate::In { values, patterns } => match values.as_slice() {
                [single] if patterns.is_empty() => add(path.as_str(), single, equalities),
                _ => Ok(()),
            },
            Predicate::All(predicates) => match predicates.as_slice() {
                [Predicate::Eq(value)] => add(path.as_str(), value, equalities),
                _ => Ok(()),
            },
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
