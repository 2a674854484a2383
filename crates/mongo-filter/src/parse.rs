//! Reads filters.

mod operators;

pub(crate) use operators::count;

use std::sync::Arc;

use armilla_mongo_expression::{Error, Expression, Result, Scope, codes};
use armilla_value::{Object, Value};

use crate::condition::{Condition, Predicate};
use crate::limits::DEPTH_MAX;
use crate::path::Path;
use crate::pattern::Pattern;
use crate::schema::Schema;

/// What a filter may use where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    scope: &'a Scope,
    depth: usize,
    /// Whether `$near` may stand here, which orders what is found.
    allows_near: bool,
    /// Whether this is inside of `$elemMatch`, where whole-document operators have no place.
    is_nested: bool,
}

impl<'a> Reader<'a> {
    /// Begins with a filter at the top.
    pub(crate) fn new(scope: &'a Scope) -> Reader<'a> {
        Reader { scope, depth: 0, allows_near: true, is_nested: false }
    }

    fn deeper(self) -> Result<Reader<'a>> {
        if self.depth >= DEPTH_MAX {
            return Err(Error::new(codes::OVERFLOW, "exceeded maximum query tree depth"));
        }
        Ok(Reader { depth: self.depth + 1, ..self })
    }

    fn without_near(self) -> Reader<'a> {
        Reader { allows_near: false, ..self }
    }

    fn nested(self) -> Reader<'a> {
        Reader { is_nested: true, allows_near: false, ..self }
    }

    /// Reads a filter.
    pub(crate) fn condition(self, query: &Object) -> Result<Condition> {
        let reader = self.deeper()?;
        let mut parts = Vec::with_capacity(query.len());
        for (name, value) in query.iter() {
            match name.strip_prefix('$') {
                Some(_) => parts.extend(reader.top_level(name, value)?),
                None => reader.field(name, value, &mut parts)?,
            }
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => Condition::And(parts),
        })
    }

    /// Reads operators that are about the value itself.
    pub(crate) fn operators(self, operators: &Object) -> Result<Condition> {
        let path = Path::new("");
        let predicates = self.without_near().predicates("", operators)?;
        let about = |predicate| Condition::Path { path: path.clone(), predicate };
        Ok(Condition::And(predicates.into_iter().map(about).collect()))
    }

    fn top_level(self, name: &str, value: &Value) -> Result<Option<Condition>> {
        Ok(Some(match name {
            "$and" => Condition::And(self.conditions(name, value)?),
            "$or" => Condition::Or(self.without_near().conditions(name, value)?),
            "$nor" => Condition::Nor(self.without_near().conditions(name, value)?),
            "$comment" => return Ok(None),
            "$expr" => Condition::Expression(Box::new(Expression::parse(value, self.scope)?)),
            "$jsonSchema" => Condition::Schema(Arc::new(Schema::parse(value)?)),
            "$alwaysTrue" => always(name, value, Condition::AlwaysTrue)?,
            "$alwaysFalse" => always(name, value, Condition::AlwaysFalse)?,
            "$sampleRate" => sample_rate(value)?,
            "$where" => return Err(Error::new(codes::COMMAND_NOT_SUPPORTED, "$where is not supported")),
            "$text" => return Err(Error::new(codes::COMMAND_NOT_SUPPORTED, "$text is not supported")),
            "$not" => {
                return Err(Error::bad_value(
                    "unknown top level operator: $not. If you are trying to negate an entire expression, use $nor.",
                ));
            }
            // A reference to a document of another collection is a value, not operators.
            "$ref" | "$id" | "$db" if self.is_nested => {
                let mut parts = Vec::new();
                self.field(name, value, &mut parts)?;
                return Ok(Some(Condition::And(parts)));
            }
            _ => {
                return Err(Error::bad_value(format!(
                    "unknown top level operator: {name}. If you have a field name that starts with a '$' symbol, consider using $getField or $setField."
                )));
            }
        }))
    }

    fn conditions(self, name: &str, value: &Value) -> Result<Vec<Condition>> {
        let Value::Array(elements) = value else {
            return Err(Error::bad_value(format!("{name} must be an array")));
        };
        if elements.is_empty() {
            return Err(Error::bad_value("$and/$or/$nor must be a nonempty array"));
        }
        elements
            .iter()
            .map(|element| match element {
                Value::Object(query) => self.condition(query),
                _ => Err(Error::bad_value("$or/$and/$nor entries need to be full objects")),
            })
            .collect()
    }

    /// Reads a member that names a path.
    fn field(self, name: &str, value: &Value, parts: &mut Vec<Condition>) -> Result<()> {
        let path = Path::new(name);
        let predicates = match value {
            Value::Object(operators) if is_operators(operators, false) => self.predicates(name, operators)?,
            Value::Regex { pattern, options } => vec![Predicate::Regex(Pattern::new(pattern, options)?)],
            value if crate::types::is_undefined(value) => {
                return Err(Error::bad_value("cannot compare to undefined"));
            }
            value => vec![Predicate::Eq(value.clone())],
        };
        parts.extend(
            predicates.into_iter().map(|predicate| Condition::Path { path: path.clone(), predicate }),
        );
        Ok(())
    }
}

fn always(name: &str, value: &Value, condition: Condition) -> Result<Condition> {
    match crate::number::integer(value) {
        Some(1) => Ok(condition),
        _ => Err(Error::new(codes::FAILED_TO_PARSE, format!("{name} must be an integer value of 1"))),
    }
}

fn sample_rate(value: &Value) -> Result<Condition> {
    let Some(rate) = crate::number::to_f64(value) else {
        return Err(Error::bad_value("argument to $sampleRate must be a numeric type"));
    };
    if !(0.0..=1.0).contains(&rate) {
        return Err(Error::bad_value("numeric argument to $sampleRate must be in [0, 1]"));
    }
    Ok(Condition::SampleRate(rate))
}

/// Says whether an object holds operators rather than being a value. A reference (`$ref`, `$id`) is a value.
pub(crate) fn is_operators(object: &Object, allows_incomplete_reference: bool) -> bool {
    let Some((first, _)) = object.iter().next() else { return false };
    if !first.starts_with('$') {
        return false;
    }
    let (has_collection, has_id, has_database) =
        (object.contains("$ref"), object.contains("$id"), object.contains("$db"));
    let is_reference = if allows_incomplete_reference {
        has_collection || has_id || has_database
    } else {
        has_collection && has_id
    };
    !is_reference
}
