//! Decides whether conditions hold.

use std::cmp::Ordering;

use armilla_mongo_expression::{Environment, Result};
use armilla_value::{Object, Value, mongo_cmp};

use super::Matched;
use crate::condition::{BitsTest, Condition, Predicate};
use crate::number::{integer, is_nan, truncated};
use crate::path::{Leaf, Path, Subject, walk};
use crate::types::{class, is_undefined};

/// What a value that is no document has.
static NOTHING: Object = Object::new();

impl Condition {
    /// Decides about a document.
    pub fn matches(&self, document: &Object, environment: &Environment) -> Result<bool> {
        self.matches_with(Subject::Document(document), environment, None)
    }

    pub(super) fn matches_with(
        &self,
        subject: Subject<'_>,
        environment: &Environment,
        mut matched: Option<&mut Matched>,
    ) -> Result<bool> {
        match self {
            Condition::And(parts) => {
                for part in parts {
                    if !part.matches_with(subject, environment, matched.as_deref_mut())? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Or(parts) => {
                // Which branch matched is not told, so that neither is where: unless all are one, or a list of values.
                let is_told = matched.is_some() && is_list(parts);
                for part in parts {
                    let matched = if is_told { matched.as_deref_mut() } else { None };
                    if part.matches_with(subject, environment, matched)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::Nor(parts) => Ok(!any(parts, subject, environment)?),
            Condition::Path { path, predicate } => {
                predicate.matches_path(subject, path, environment, matched)
            }
            Condition::Expression(expression) => {
                expression.is_true(subject.document().unwrap_or(&NOTHING), environment)
            }
            Condition::Schema(schema) => schema.matches(subject.document().unwrap_or(&NOTHING)),
            Condition::SampleRate(rate) => {
                Ok(draw(subject.document().unwrap_or(&NOTHING), environment.seed) < *rate)
            }
            Condition::AlwaysTrue => Ok(true),
            Condition::AlwaysFalse => Ok(false),
        }
    }
}

/// Says whether alternatives are a single one, or values of one path as `$in` has them.
fn is_list(parts: &[Condition]) -> bool {
    match parts {
        [_] => true,
        [first, rest @ ..] => {
            let path = equality_path(first);
            path.is_some() && rest.iter().all(|part| equality_path(part) == path)
        }
        [] => false,
    }
}

fn equality_path(condition: &Condition) -> Option<&str> {
    match condition {
        Condition::Path { path, predicate: Predicate::Eq(_) } => Some(path.as_str()),
        _ => None,
    }
}

fn any(parts: &[Condition], subject: Subject<'_>, environment: &Environment) -> Result<bool> {
    for part in parts {
        if part.matches_with(subject, environment, None)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Draws a number from 0 to 1 that depends on the document's key and the seed, so that asking twice gives the same.
fn draw(document: &Object, seed: u64) -> f64 {
    let mut state = seed ^ 0x9E37_79B9_7F4A_7C15;
    let key = document.get("_id").map(armilla_value::json::to_string).unwrap_or_default();
    for byte in key.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    }
    state ^= state >> 30;
    state = state.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state ^= state >> 27;
    state = state.wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^= state >> 31;
    (state >> 11) as f64 / (1u64 << 53) as f64
}

impl Predicate {
    /// Decides about what a path reaches in a document.
    fn matches_path(
        &self,
        subject: Subject<'_>,
        path: &Path,
        environment: &Environment,
        mut matched: Option<&mut Matched>,
    ) -> Result<bool> {
        let leaf = match self {
            Predicate::Not(predicates) => {
                for predicate in predicates {
                    if !predicate.matches_path(subject, path, environment, None)? {
                        return Ok(true);
                    }
                }
                return Ok(false);
            }
            Predicate::All(predicates) => {
                for predicate in predicates {
                    if !predicate.matches_path(subject, path, environment, matched.as_deref_mut())? {
                        return Ok(false);
                    }
                }
                return Ok(!predicates.is_empty());
            }
            Predicate::Exists(false) => {
                return Ok(!Predicate::Exists(true).matches_path(subject, path, environment, None)?);
            }
            Predicate::Size(_) | Predicate::Exists(_) => Leaf::Whole,
            Predicate::ElemMatchObject(_) | Predicate::ElemMatchValue(_) => {
                return walk(subject, path, Leaf::Whole, &mut |value, place| {
                    let Some(index) = self.matching_element(value, environment)? else { return Ok(false) };
                    if let Some(matched) = matched.as_deref_mut() {
                        matched.position = place.or(Some(index));
                    }
                    Ok(true)
                });
            }
            _ => Leaf::Elements,
        };
        walk(subject, path, leaf, &mut |value, place| {
            let is_match = self.matches_element(value, environment)?;
            if is_match
                && place.is_some()
                && let Some(matched) = matched.as_deref_mut()
            {
                matched.position = place;
            }
            Ok(is_match)
        })
    }

    /// Decides about one value, which arrays are too.
    pub(crate) fn matches_element(&self, value: Option<&Value>, environment: &Environment) -> Result<bool> {
        Ok(match self {
            Predicate::Eq(operand) => compares(value, operand, Ordering::is_eq, true),
            Predicate::Lt(operand) => compares(value, operand, Ordering::is_lt, false),
            Predicate::Lte(operand) => compares(value, operand, Ordering::is_le, true),
            Predicate::Gt(operand) => compares(value, operand, Ordering::is_gt, false),
            Predicate::Gte(operand) => compares(value, operand, Ordering::is_ge, true),
            Predicate::In { values, patterns } => {
                let sought = match value {
                    Some(value) if !is_undefined(value) => value,
                    _ => &Value::Null,
                };
                if values.binary_search_by(|own| mongo_cmp(own, sought)).is_ok() {
                    return Ok(true);
                }
                for pattern in patterns {
                    if pattern.matches(sought)? {
                        return Ok(true);
                    }
                }
                false
            }
            Predicate::Exists(wanted) => value.is_some() == *wanted,
            Predicate::Type(types) => value.is_some_and(|value| types.contains(value)),
            Predicate::Regex(pattern) => match value {
                Some(value) => pattern.matches(value)?,
                None => false,
            },
            Predicate::Mod { divisor, remainder } => value
                .and_then(truncated)
                // The lowest number divided by -1 overflows, and leaves nothing.
                .is_some_and(|number| number.checked_rem(*divisor).unwrap_or(0) == *remainder),
            Predicate::Size(size) => match value {
                Some(Value::Array(elements)) => elements.len() as u64 == *size,
                _ => false,
            },
            Predicate::All(predicates) => {
                for predicate in predicates {
                    if !predicate.matches_element(value, environment)? {
                        return Ok(false);
                    }
                }
                !predicates.is_empty()
            }
            Predicate::ElemMatchObject(_) | Predicate::ElemMatchValue(_) => {
                self.matching_element(value, environment)?.is_some()
            }
            Predicate::Bits { test, positions } => {
                value.is_some_and(|value| bits_match(*test, positions, value))
            }
            Predicate::GeoWithin(region) => value.is_some_and(|value| region.contains(value)),
            Predicate::GeoIntersects(shape) => value.is_some_and(|value| shape.intersects(value)),
            Predicate::Near(near) => value.is_some_and(|value| near.distance_of(value).is_some()),
            Predicate::Not(predicates) => {
                for predicate in predicates {
                    if !predicate.matches_element(value, environment)? {
                        return Ok(true);
                    }
                }
                false
            }
        })
    }

    /// Returns the place of the first element of an array for which an `$elemMatch` holds.
    pub(crate) fn matching_element(
        &self,
        value: Option<&Value>,
        environment: &Environment,
    ) -> Result<Option<usize>> {
        let Some(Value::Array(elements)) = value else { return Ok(None) };
        for (index, element) in elements.iter().enumerate() {
            let holds = match self {
                Predicate::ElemMatchObject(condition) => match element {
                    Value::Object(object) => condition.matches(object, environment)?,
                    Value::Array(inner) => condition.matches(&numbered(inner), environment)?,
                    _ => false,
                },
                Predicate::ElemMatchValue(predicates) => {
                    let mut holds = true;
                    for predicate in predicates {
                        holds = holds && predicate.matches_element(Some(element), environment)?;
                    }
                    holds
                }
                other => other.matches_element(Some(element), environment)?,
            };
            if holds {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}

/// Returns an array as the object that BSON makes of it, with places for names.
fn numbered(elements: &[Value]) -> Object {
    elements.iter().enumerate().map(|(index, element)| (index.to_string(), element.clone())).collect()
}

/// Compares a value with an operand of a filter: inside a class only, where NaN is equal to itself and in no order.
fn compares(
    value: Option<&Value>,
    operand: &Value,
    accepts: fn(Ordering) -> bool,
    accepts_equal: bool,
) -> bool {
    // The usual types without detour.
    match (value, operand) {
        (Some(Value::Int32(own)), Value::Int32(operand)) => return accepts(own.cmp(operand)),
        (Some(Value::Int64(own)), Value::Int64(operand)) => return accepts(own.cmp(operand)),
        (Some(Value::String(own)), Value::String(operand)) => {
            return accepts(own.as_bytes().cmp(operand.as_bytes()));
        }
        (Some(Value::ObjectId(own)), Value::ObjectId(operand)) => return accepts(own.cmp(operand)),
        (Some(Value::Date(own)), Value::Date(operand)) => return accepts(own.cmp(operand)),
        _ => {}
    }
    let value = match value {
        Some(value) if class(value) == class(operand) => value,
        other => {
            let is_nothing = other.is_none_or(is_undefined);
            return match operand {
                Value::Null => is_nothing && accepts_equal,
                Value::MinKey => accepts(Ordering::Greater),
                Value::MaxKey => accepts(Ordering::Less),
                _ => false,
            };
        }
    };
    match (is_nan(value), is_nan(operand)) {
        (false, false) => accepts(mongo_cmp(value, operand)),
        (left, right) => left && right && accepts_equal,
    }
}

fn bits_match(test: BitsTest, positions: &[u32], value: &Value) -> bool {
    let is_set: &dyn Fn(u32) -> bool = match value {
        Value::Binary { bytes, .. } => &move |position| {
            bytes.get(position as usize / 8).is_some_and(|byte| byte >> (position % 8) & 1 == 1)
        },
        number => {
            let Some(number) = integer(number) else { return false };
            // A number goes on to the left with its sign.
            &move |position| number >> position.min(63) & 1 == 1
        }
    };
    match test {
        BitsTest::AllSet => positions.iter().all(|position| is_set(*position)),
        BitsTest::AllClear => !positions.iter().any(|position| is_set(*position)),
        BitsTest::AnySet => positions.iter().any(|position| is_set(*position)),
        BitsTest::AnyClear => !positions.iter().all(|position| is_set(*position)),
    }
}
