//! `$bucket`: groups by ranges of a value.

use armilla_mongo_expression::{Environment, Error, Expression, Result, Scope};
use armilla_value::{Object, Value, mongo_cmp};

use crate::arguments::{object_or, shown, type_name};
use crate::dependencies::{Fields, Needs};
use crate::stages::group::{Group, output};

/// The ranges of `$bucket`.
#[derive(Debug, Clone)]
pub struct Boundaries {
    value: Expression,
    /// Ascending; each begins a range that the next ends.
    bounds: Vec<Value>,
    /// The group of values outside all ranges.
    default: Option<Value>,
}

impl Boundaries {
    /// Returns the range of a document: its lower bound.
    pub(crate) fn of(&self, document: &Object, environment: &Environment) -> Result<Value> {
        let value = self.value.evaluate(document, environment)?;
        // A missing value is below everything, and so below the lowest bound.
        let range = value
            .as_ref()
            .map_or(0, |value| self.bounds.partition_point(|bound| mongo_cmp(bound, value).is_le()));
        if range > 0 && range < self.bounds.len() {
            return Ok(self.bounds[range - 1].clone());
        }
        self.default.clone().ok_or_else(|| {
            Error::new(
                40066,
                "$switch could not find a matching branch for an input, and no default was specified.",
            )
        })
    }
}

/// Reads the arguments. The caller orders the groups by their bounds.
pub(crate) fn parse(argument: &Value, scope: &Scope) -> Result<(Group, Needs)> {
    let object = object_or(argument, 40201, || {
        format!("Argument to $bucket stage must be an object, but found type: {}.", type_name(argument))
    })?;
    if let Some((name, _)) =
        object.iter().find(|(name, _)| !matches!(*name, "groupBy" | "boundaries" | "default" | "output"))
    {
        return Err(Error::new(40197, format!("Unrecognized option to $bucket: {name}.")));
    }
    let (Some(group_by), Some(boundaries)) = (object.get("groupBy"), object.get("boundaries")) else {
        return Err(Error::new(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified."));
    };
    let value = group_by_expression(group_by, scope).ok_or_else(|| {
        Error::new(
            40202,
            format!(
                "The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: {}.",
                shown(group_by)
            ),
        )
    })??;
    let Value::Array(boundaries) = boundaries else {
        return Err(Error::new(
            40200,
            format!(
                "The $bucket 'boundaries' field must be an array, but found type: {}.",
                type_name(boundaries)
            ),
        ));
    };
    let mut bounds: Vec<Value> = Vec::with_capacity(boundaries.len());
    for boundary in boundaries {
        bounds.push(constant(boundary, scope)?.ok_or_else(|| {
            Error::new(
                40191,
                format!(
                    "The $bucket 'boundaries' field must be an array of constant values, but found value: {}.",
                    shown(boundary)
                ),
            )
        })?);
    }
    if bounds.len() < 2 {
        return Err(Error::new(
            40192,
            format!(
                "The $bucket 'boundaries' field must have at least 2 values, but found {} value(s).",
                bounds.len()
            ),
        ));
    }
    for (index, pair) in bounds.windows(2).enumerate() {
        if !is_same_class(&pair[0], &pair[1]) {
            return Err(Error::new(
                40193,
                format!(
                    "All values in the 'boundaries' option to $bucket must have the same type. \
                     Found conflicting types {} and {}.",
                    type_name(&pair[0]),
                    type_name(&pair[1])
                ),
            ));
        }
        if mongo_cmp(&pair[0], &pair[1]).is_ge() {
            return Err(Error::new(
                40194,
                format!(
                    "The 'boundaries' option to $bucket must be sorted, but elements {index} and {} are not in \
                     ascending order ({} is not less than {}).",
                    index + 1,
                    shown(&pair[0]),
                    shown(&pair[1])
                ),
            ));
        }
    }
    let default = match object.get("default") {
        None => None,
        Some(default) => Some(constant(default, scope)?.ok_or_else(|| {
            Error::new(
                40195,
                format!(
                    "The $bucket 'default' field must be a constant expression, but found: {}.",
                    shown(default)
                ),
            )
        })?),
    };
    if let Some(default) = &default {
        let (lowest, highest) = (&bounds[0], &bounds[bounds.len() - 1]);
        if mongo_cmp(default, lowest).is_ge() && mongo_cmp(default, highest).is_lt() {
            return Err(Error::new(
                40199,
                "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to \
                 the highest boundary.",
            ));
        }
    }
    let fields = output(object.get("output"), 40196, "$bucket", scope)?;
    let mut needs = Fields::none().expression(group_by);
    if let Some(Value::Object(output)) = object.get("output") {
        needs = needs.expressions(output);
    }
    Ok((Group::by_boundaries(Boundaries { value, bounds, default }, fields), Needs::closed(needs)))
}

/// Reads `groupBy`, which must be a path or an expression with an operator.
pub(crate) fn group_by_expression(value: &Value, scope: &Scope) -> Option<Result<Expression>> {
    let is_expression = match value {
        Value::String(text) => text.starts_with('$'),
        Value::Object(object) => object.iter().next().is_some_and(|(name, _)| name.starts_with('$')),
        _ => false,
    };
    is_expression.then(|| Expression::parse(value, scope))
}

fn constant(value: &Value, scope: &Scope) -> Result<Option<Value>> {
    Ok(Expression::parse(value, scope)?.as_constant().cloned())
}

fn is_same_class(left: &Value, right: &Value) -> bool {
    left.kind() == right.kind() || (left.kind().is_number() && right.kind().is_number())
}
