//! Tells why a document does not match, as `errInfo` of a write that a validator refuses has it.

use armilla_mongo_expression::{Environment, Result};
use armilla_value::{Object, Value};

use crate::condition::{Condition, Predicate};
use crate::filter::Filter;

impl Filter {
    /// Returns which parts of the filter a document does not fulfil: the `details` of a failed validation.
    pub fn failure(&self, document: &Object, environment: &Environment) -> Result<Object> {
        describe(&self.root, document, environment)
    }
}

fn describe(condition: &Condition, document: &Object, environment: &Environment) -> Result<Object> {
    let named = |name: &str, reason: &str| Object::from([("operatorName", name), ("reason", reason)]);
    Ok(match condition {
        Condition::And(parts) => clauses("$and", parts, document, environment, false)?,
        Condition::Or(parts) => clauses("$or", parts, document, environment, false)?,
        Condition::Nor(parts) => clauses("$nor", parts, document, environment, true)?,
        Condition::Schema(schema) => Object::from([
            ("operatorName", Value::from("$jsonSchema")),
            ("schemaRulesNotSatisfied", Value::Array(schema.failures(document)?)),
        ]),
        Condition::Path { path, predicate } => {
            let mut about = named(operator(predicate), reason(predicate));
            about.insert("path", path.as_str());
            if let Some(value) = path.components().first().and_then(|first| document.get(&first.name)) {
                about.insert("consideredValue", value.clone());
            }
            about
        }
        Condition::Expression(_) => named("$expr", "expression did not match"),
        Condition::SampleRate(_) => named("$sampleRate", "expression did not match"),
        Condition::AlwaysTrue => named("$alwaysTrue", "expression always evaluates to true"),
        Condition::AlwaysFalse => named("$alwaysFalse", "expression always evaluates to false"),
    })
}

fn clauses(
    name: &str,
    parts: &[Condition],
    document: &Object,
    environment: &Environment,
    wanted: bool,
) -> Result<Object> {
    let mut clauses = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        if part.matches(document, environment)? == wanted {
            let mut clause = Object::from([("index", Value::Int32(index as i32))]);
            clause.insert("details", describe(part, document, environment)?);
            clauses.push(Value::Object(clause));
        }
    }
    let list = if wanted { "clausesSatisfied" } else { "clausesNotSatisfied" };
    Ok(Object::from([("operatorName", Value::from(name)), (list, Value::Array(clauses))]))
}

fn operator(predicate: &Predicate) -> &'static str {
    match predicate {
        Predicate::Eq(_) => "$eq",
        Predicate::Lt(_) => "$lt",
        Predicate::Lte(_) => "$lte",
        Predicate::Gt(_) => "$gt",
        Predicate::Gte(_) => "$gte",
        Predicate::In { .. } => "$in",
        Predicate::Exists(_) => "$exists",
        Predicate::Type(_) => "$type",
        Predicate::Regex(_) => "$regex",
        Predicate::Mod { .. } => "$mod",
        Predicate::Size(_) => "$size",
        Predicate::All(_) => "$all",
        Predicate::ElemMatchObject(_) | Predicate::ElemMatchValue(_) => "$elemMatch",
        Predicate::Bits { .. } => "$bits",
        Predicate::GeoWithin(_) => "$geoWithin",
        Predicate::GeoIntersects(_) => "$geoIntersects",
        Predicate::Near(_) => "$near",
        Predicate::Not(_) => "$not",
    }
}

fn reason(predicate: &Predicate) -> &'static str {
    match predicate {
        Predicate::Eq(_) | Predicate::Lt(_) | Predicate::Lte(_) | Predicate::Gt(_) | Predicate::Gte(_) => {
            "comparison failed"
        }
        Predicate::In { .. } => "no matching value found in array",
        Predicate::Exists(true) => "path does not exist",
        Predicate::Exists(false) => "path does exist",
        Predicate::Type(_) => "type did not match",
        Predicate::Regex(_) => "regular expression did not match",
        Predicate::Mod { .. } => "$mod did not evaluate to expected remainder",
        Predicate::Size(_) => "array length was not equal to given size",
        Predicate::All(_) => "array did not contain all specified values",
        Predicate::ElemMatchObject(_) | Predicate::ElemMatchValue(_) => {
            "array did not satisfy the child predicate"
        }
        Predicate::Not(_) => "child expression matched",
        _ => "expression did not match",
    }
}
