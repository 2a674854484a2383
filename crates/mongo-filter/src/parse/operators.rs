//! Reads the operators of a path.

use std::sync::Arc;

use armilla_mongo_expression::{Error, Result, codes, is_truthy};
use armilla_value::{Object, Value, mongo_cmp};

use super::{Reader, is_operators};
use crate::condition::{BitsTest, Predicate};
use crate::geo;
use crate::number::{integer, is_nan, is_number, to_f64, truncated};
use crate::pattern::Pattern;
use crate::text::show_member;
use crate::types::{TypeSet, is_undefined};

const OPTIONS_TWICE: i32 = 51075;

/// Operators that stand without a path: an `$elemMatch` that begins with one is about objects.
const TOP_LEVEL: [&str; 10] = [
    "$and",
    "$or",
    "$nor",
    "$expr",
    "$jsonSchema",
    "$comment",
    "$where",
    "$text",
    "$alwaysTrue",
    "$alwaysFalse",
];

impl Reader<'_> {
    /// Reads all operators of a path.
    pub(super) fn predicates(self, path: &str, operators: &Object) -> Result<Vec<Predicate>> {
        let reader = self.deeper()?;
        let mut predicates = Vec::with_capacity(operators.len());
        for (name, operand) in operators.iter() {
            if let Some(predicate) = reader.predicate(path, name, operand, operators)? {
                predicates.push(predicate);
            }
        }
        Ok(predicates)
    }

    fn predicate(
        self,
        path: &str,
        name: &str,
        operand: &Value,
        operators: &Object,
    ) -> Result<Option<Predicate>> {
        if let Some(test) = BitsTest::from_operator(name) {
            return Ok(Some(Predicate::Bits { test, positions: bit_positions(name, operand)? }));
        }
        Ok(Some(match name {
            "$eq" => Predicate::Eq(comparable(name, path, operand)?),
            "$ne" => match operand {
                Value::Regex { .. } => return Err(Error::bad_value("Can't have regex as arg to $ne.")),
                _ => Predicate::Not(vec![Predicate::Eq(comparable(name, path, operand)?)]),
            },
            "$gt" => Predicate::Gt(comparable(name, path, operand)?),
            "$gte" => Predicate::Gte(comparable(name, path, operand)?),
            "$lt" => Predicate::Lt(comparable(name, path, operand)?),
            "$lte" => Predicate::Lte(comparable(name, path, operand)?),
            "$in" => list(name, operand)?,
            "$nin" => Predicate::Not(vec![list(name, operand)?]),
            "$exists" => Predicate::Exists(is_truthy(Some(operand))),
            "$type" => Predicate::Type(TypeSet::parse(path, operand)?),
            "$mod" => modulo(operand)?,
            "$size" => size(operand)?,
            "$regex" => regex(operand, operators.get("$options"))?,
            "$options" if operators.contains("$regex") => return Ok(None),
            "$options" => return Err(Error::bad_value("$options needs a $regex")),
            "$not" => self.negation(path, operand)?,
            "$all" => self.all(path, operand)?,
            "$elemMatch" => self.element(path, operand)?,
            "$comment" => return Ok(None),
            "$geoWithin" | "$within" => Predicate::GeoWithin(Arc::new(geo::parse_within(operand)?)),
            "$geoIntersects" => Predicate::GeoIntersects(Arc::new(geo::parse_intersects(operand)?)),
            "$near" | "$nearSphere" | "$geoNear" => {
                if !self.allows_near {
                    return Err(Error::bad_value("geo $near must be top-level expr"));
                }
                Predicate::Near(Arc::new(geo::parse_near(path, name, operators)?))
            }
            // They belong to $near, which reads them.
            "$maxDistance" | "$minDistance" | "$uniqueDocs"
                if ["$near", "$nearSphere", "$geoNear"].iter().any(|near| operators.contains(near)) =>
            {
                return Ok(None);
            }
            _ => return Err(Error::bad_value(format!("unknown operator: {name}"))),
        }))
    }

    fn negation(self, path: &str, operand: &Value) -> Result<Predicate> {
        Ok(Predicate::Not(match operand {
            Value::Regex { pattern, options } => vec![Predicate::Regex(Pattern::new(pattern, options)?)],
            Value::Object(operators) if operators.is_empty() => {
                return Err(Error::bad_value("$not cannot be empty"));
            }
            Value::Object(operators) => self.without_near().predicates(path, operators)?,
            _ => return Err(Error::bad_value("$not needs a regex or a document")),
        }))
    }

    fn all(self, path: &str, operand: &Value) -> Result<Predicate> {
        let Value::Array(elements) = operand else { return Err(Error::bad_value("$all needs an array")) };
        let is_element_match = |element: &Value| match element {
            Value::Object(object) => object.iter().next().is_some_and(|(name, _)| name == "$elemMatch"),
            _ => false,
        };
        let are_element_matches = elements.first().is_some_and(is_element_match);
        let mut predicates = Vec::with_capacity(elements.len());
        for element in elements {
            if are_element_matches {
                let inner = element.as_object().filter(|_| is_element_match(element));
                let Some(inner) = inner.and_then(|object| object.get("$elemMatch")) else {
                    return Err(Error::bad_value("$all/$elemMatch has to be consistent"));
                };
                predicates.push(self.deeper()?.element(path, inner)?);
                continue;
            }
            predicates.push(match element {
                Value::Object(object) if is_operators(object, false) => {
                    return Err(Error::bad_value("no $ expressions in $all"));
                }
                Value::Regex { pattern, options } => Predicate::Regex(Pattern::new(pattern, options)?),
                value => Predicate::Eq(comparable("$all", path, value)?),
            });
        }
        Ok(Predicate::All(predicates))
    }

    fn element(self, path: &str, operand: &Value) -> Result<Predicate> {
        let Value::Object(object) = operand else {
            return Err(Error::bad_value("$elemMatch needs an Object"));
        };
        let first = object.iter().next().map_or("", |(name, _)| name);
        let is_about_values = is_operators(object, true) && !TOP_LEVEL.contains(&first);
        if is_about_values {
            return Ok(Predicate::ElemMatchValue(self.nested().predicates(path, object)?));
        }
        Ok(Predicate::ElemMatchObject(Box::new(self.nested().condition(object)?)))
    }
}

fn comparable(name: &str, path: &str, operand: &Value) -> Result<Value> {
    if is_undefined(operand) {
        return Err(Error::bad_value("cannot compare to undefined"));
    }
    if matches!(operand, Value::Regex { .. }) && !matches!(name, "$eq" | "$all") {
        return Err(Error::bad_value(format!("Can't have RegEx as arg to predicate over field '{path}'.")));
    }
    Ok(operand.clone())
}

fn list(name: &str, operand: &Value) -> Result<Predicate> {
    let Value::Array(elements) = operand else {
        return Err(Error::bad_value(format!("{name} needs an array")));
    };
    let (mut values, mut patterns) = (Vec::with_capacity(elements.len()), Vec::new());
    for element in elements {
        match element {
            Value::Object(object) if is_operators(object, false) => {
                return Err(Error::bad_value(format!("cannot nest $ under {name}")));
            }
            Value::Regex { pattern, options } => patterns.push(Pattern::new(pattern, options)?),
            value if is_undefined(value) => {
                return Err(Error::bad_value("InMatchExpression equality cannot be undefined"));
            }
            value => values.push(value.clone()),
        }
    }
    values.sort_by(mongo_cmp);
    values.dedup_by(|later, earlier| mongo_cmp(later, earlier).is_eq());
    Ok(Predicate::In { values, patterns })
}

fn regex(operand: &Value, options: Option<&Value>) -> Result<Predicate> {
    let options = match options {
        None => None,
        Some(Value::String(options)) => Some(options.as_str()),
        Some(_) => return Err(Error::bad_value("$options has to be a string")),
    };
    Ok(Predicate::Regex(match operand {
        Value::String(pattern) => Pattern::new(pattern, options.unwrap_or_default())?,
        Value::Regex { options: own, .. } if !own.is_empty() && options.is_some() => {
            return Err(Error::new(OPTIONS_TWICE, "options set in both $regex and $options"));
        }
        Value::Regex { pattern, options: own } => Pattern::new(pattern, options.unwrap_or(own))?,
        _ => return Err(Error::bad_value("$regex has to be a string")),
    }))
}

fn modulo(operand: &Value) -> Result<Predicate> {
    let Value::Array(elements) = operand else {
        return Err(Error::bad_value("malformed mod, needs to be an array"));
    };
    let [divisor, remainder] = elements.as_slice() else {
        let which = if elements.len() < 2 { "not enough" } else { "too many" };
        return Err(Error::bad_value(format!("malformed mod, {which} elements")));
    };
    let number = |what: &str, value: &Value| {
        if !is_number(value) {
            return Err(Error::bad_value(format!("malformed mod, {what} not a number")));
        }
        truncated(value).ok_or_else(|| {
            let shown = if is_nan(value) || to_f64(value).is_some_and(f64::is_infinite) {
                "Unable to coerce NaN/Inf to integral type"
            } else {
                "Out of bounds coercing to integral value"
            };
            Error::bad_value(format!("malformed mod, {what} value is invalid :: caused by :: {shown}"))
        })
    };
    let (divisor, remainder) = (number("divisor", divisor)?, number("remainder", remainder)?);
    if divisor == 0 {
        return Err(Error::bad_value("divisor cannot be 0"));
    }
    Ok(Predicate::Mod { divisor, remainder })
}

/// Reads a number that is whole and not below zero, with the server's words for what is not.
pub(crate) fn count(name: &str, operand: &Value) -> std::result::Result<u64, String> {
    let shown = show_member(name, operand);
    if !is_number(operand) {
        return Err(format!("Expected a number in: {shown}"));
    }
    if is_nan(operand) {
        return Err(format!("Expected an integer, but found NaN in: {shown}"));
    }
    match integer(operand) {
        Some(number) => {
            u64::try_from(number).map_err(|_| format!("Expected a non-negative number in: {shown}"))
        }
        None if truncated(operand).is_none() => Err(format!("Cannot represent as a 64-bit integer: {shown}")),
        None => Err(format!("Expected an integer: {shown}")),
    }
}

fn size(operand: &Value) -> Result<Predicate> {
    match count("$size", operand) {
        Ok(size) => Ok(Predicate::Size(size)),
        Err(reason) => Err(Error::bad_value(format!("Failed to parse $size. {reason}"))),
    }
}

fn bit_positions(name: &str, operand: &Value) -> Result<Vec<u32>> {
    let mut positions = match operand {
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .map(|(index, element)| {
                count(&index.to_string(), element)
                    .and_then(|position| {
                        i32::try_from(position).map(|position| position as u32).map_err(|_| {
                            format!(
                                "bit positions cannot be represented as a 32-bit signed integer: {position}"
                            )
                        })
                    })
                    .map_err(|reason| Error::bad_value(format!("Failed to parse bit position. {reason}")))
            })
            .collect::<Result<Vec<u32>>>()?,
        Value::Binary { bytes, .. } => bytes
            .iter()
            .enumerate()
            .flat_map(|(place, byte)| {
                (0..8u32).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| place as u32 * 8 + bit)
            })
            .collect(),
        number if is_number(number) => {
            let mask = count(name, number).map_err(|reason| Error::new(codes::FAILED_TO_PARSE, reason))?;
            (0..64).filter(|bit| mask >> bit & 1 == 1).collect()
        }
        other => {
            return Err(Error::bad_value(format!(
                "value takes an Array, a number, or a BinData but received: {}",
                show_member(name, other)
            )));
        }
    };
    positions.sort_unstable();
    positions.dedup();
    Ok(positions)
}
