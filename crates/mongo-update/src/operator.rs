//! The operators: what each makes of the value at its path, and of no value there.

mod array;
mod number;
mod pull;
mod push;
mod rename;

use armilla_mongo_expression::{Error, Result, Scope, arithmetic, codes, type_name};
use armilla_value::{Value, mongo_cmp};

use crate::context::Context;
use crate::depth::depth;
use crate::identical::identical;
use crate::path::Path;
use crate::render::{render, render_member};

pub(crate) use array::AddToSet;
pub(crate) use number::{BitStep, NumberOperator};
pub(crate) use pull::Pull;
pub(crate) use push::Push;
pub(crate) use rename::Rename;

/// What happens to a value at the end of a path.
#[derive(Debug, Clone)]
pub(crate) enum Operator {
    /// `$set`.
    Set(Value),
    /// `$setOnInsert`: as `$set`, but only in the document of an upsert.
    SetOnInsert(Value),
    /// `$unset`.
    Unset,
    /// `$inc` and `$mul`.
    Number(NumberOperator, Value),
    /// `$bit`.
    Bit(Vec<BitStep>),
    /// `$min`.
    Minimum(Value),
    /// `$max`.
    Maximum(Value),
    /// `$currentDate`, as a date.
    CurrentDate,
    /// `$currentDate`, as a timestamp.
    CurrentTimestamp,
    /// The path that `$rename` takes a value from; the index is that of the rename in its update.
    RenameSource(usize),
    /// The path that `$rename` moves a value to.
    RenameTarget(usize),
    /// `$push`.
    Push(Box<Push>),
    /// `$addToSet`.
    AddToSet(AddToSet),
    /// `$pop` of the first or else of the last element.
    Pop {
        /// Of the first.
        first: bool,
    },
    /// `$pull` and `$pullAll`.
    Pull(Box<Pull>),
}

/// What became of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is what it was.
    Unchanged,
    /// It is another.
    Changed,
    /// It is to be taken away.
    Removed,
}

impl Outcome {
    fn changed(is_changed: bool) -> Outcome {
        if is_changed { Outcome::Changed } else { Outcome::Unchanged }
    }
}

/// Says whether a name is that of an operator (besides `$rename`, which has two paths and is read by [`Rename`]).
pub(crate) fn is_operator(name: &str) -> bool {
    matches!(
        name,
        "$set"
            | "$setOnInsert"
            | "$unset"
            | "$inc"
            | "$mul"
            | "$bit"
            | "$min"
            | "$max"
            | "$currentDate"
            | "$push"
            | "$addToSet"
            | "$pop"
            | "$pull"
            | "$pullAll"
    )
}

impl Operator {
    /// Reads what an operator is asked to do at a path.
    pub(crate) fn parse(name: &str, path: &Path, operand: &Value, scope: &Scope) -> Result<Operator> {
        Ok(match name {
            "$set" => Operator::Set(operand.clone()),
            "$setOnInsert" => Operator::SetOnInsert(operand.clone()),
            "$unset" => Operator::Unset,
            "$inc" => Operator::Number(NumberOperator::Increment, number::parse("increment", path, operand)?),
            "$mul" => Operator::Number(NumberOperator::Multiply, number::parse("multiply", path, operand)?),
            "$bit" => Operator::Bit(number::parse_bit(operand)?),
            "$min" => Operator::Minimum(operand.clone()),
            "$max" => Operator::Maximum(operand.clone()),
            "$currentDate" => parse_current_date(operand)?,
            "$push" => Operator::Push(Box::new(Push::parse(operand)?)),
            "$addToSet" => Operator::AddToSet(AddToSet::parse(operand)?),
            "$pop" => Operator::Pop { first: parse_pop(path, operand)? },
            "$pull" => Operator::Pull(Box::new(Pull::parse(operand, scope)?)),
            "$pullAll" => Operator::Pull(Box::new(Pull::parse_all(operand)?)),
            _ => return Err(unknown_modifier(name)),
        })
    }

    /// Returns how many levels of nesting it may add below its path.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Operator::Set(value)
            | Operator::SetOnInsert(value)
            | Operator::Minimum(value)
            | Operator::Maximum(value) => depth(value),
            Operator::Push(push) => push.values().iter().map(depth).max().unwrap_or(0) + 1,
            Operator::AddToSet(add) => add.values().iter().map(depth).max().unwrap_or(0) + 1,
            _ => 0,
        }
    }

    /// Changes the value that is there.
    pub(crate) fn change(&self, value: &mut Value, context: &Context<'_>) -> Result<Outcome> {
        match self {
            Operator::Set(new) => set(value, new, context),
            Operator::SetOnInsert(new) if context.is_insert => set(value, new, context),
            Operator::SetOnInsert(_) => Ok(Outcome::Unchanged),
            Operator::Unset | Operator::RenameSource(_) => Ok(match self {
                Operator::RenameSource(index) if context.renamed(*index).is_none() => Outcome::Unchanged,
                _ => Outcome::Removed,
            }),
            Operator::Number(operator, operand) => {
                let result = number::apply(*operator, value, operand, context)?;
                set(value, &result, context)
            }
            Operator::Bit(steps) => {
                let result = number::apply_bit(steps, value, context)?;
                set(value, &result, context)
            }
            Operator::Minimum(new) if mongo_cmp(new, value).is_lt() => set(value, new, context),
            Operator::Maximum(new) if mongo_cmp(new, value).is_gt() => set(value, new, context),
            Operator::Minimum(_) | Operator::Maximum(_) => Ok(Outcome::Unchanged),
            Operator::CurrentDate | Operator::CurrentTimestamp => set(value, &self.now(context), context),
            Operator::RenameTarget(index) => match context.renamed(*index) {
                Some(new) => set(value, new, context),
                None => Ok(Outcome::Unchanged),
            },
            Operator::Push(push) => match value {
                Value::Array(elements) => Ok(Outcome::changed(push.apply(elements, context)?)),
                other => Err(Error::bad_value(format!(
                    "The field '{}' must be an array but is of type {} in document {{{}}}",
                    context.path(),
                    type_name(other),
                    context.id_text(),
                ))),
            },
            Operator::AddToSet(add) => match value {
                Value::Array(elements) => Ok(Outcome::changed(add.apply(elements, context)?)),
                other => Err(Error::bad_value(format!(
                    "Cannot apply $addToSet to non-array field. Field named '{}' has non-array type {}",
                    context.last_name(),
                    type_name(other),
                ))),
            },
            Operator::Pop { first } => match value {
                Value::Array(elements) => Ok(Outcome::changed(array::pop(elements, *first))),
                other => Err(Error::new(
                    codes::TYPE_MISMATCH,
                    format!(
                        "Path '{}' contains an element of non-array type '{}'",
                        context.path(),
                        type_name(other)
                    ),
                )),
            },
            Operator::Pull(pull) => match value {
                Value::Array(elements) => Ok(Outcome::changed(pull.apply(elements, context.environment)?)),
                _ => Err(Error::bad_value(format!("Cannot apply {} to a non-array value", pull.name()))),
            },
        }
    }

    /// Returns the value to put where there is none; `None` leaves it so.
    pub(crate) fn create(&self, context: &Context<'_>) -> Result<Option<Value>> {
        let kept = |new: &Value| -> Result<Option<Value>> {
            context.count(new)?;
            Ok(Some(new.clone()))
        };
        match self {
            Operator::Set(new) | Operator::Minimum(new) | Operator::Maximum(new) => kept(new),
            Operator::SetOnInsert(new) if context.is_insert => kept(new),
            Operator::SetOnInsert(_) => Ok(None),
            Operator::Number(operator, operand) => Ok(Some(number::create(*operator, operand))),
            Operator::Bit(steps) => Ok(Some(number::create_bit(steps))),
            Operator::CurrentDate | Operator::CurrentTimestamp => Ok(Some(self.now(context))),
            Operator::RenameTarget(index) => Ok(context.renamed(*index).cloned()),
            Operator::Push(push) => {
                let mut elements = Vec::new();
                push.apply(&mut elements, context)?;
                Ok(Some(Value::Array(elements)))
            }
            Operator::AddToSet(add) => {
                let mut elements = Vec::new();
                add.apply(&mut elements, context)?;
                Ok(Some(Value::Array(elements)))
            }
            Operator::Unset | Operator::RenameSource(_) | Operator::Pop { .. } | Operator::Pull(_) => {
                Ok(None)
            }
        }
    }

    /// Says whether it insists, although it creates nothing, that its path could be created.
    pub(crate) fn needs_viable_path(&self) -> bool {
        matches!(self, Operator::Pop { .. } | Operator::Pull(_))
    }

    fn now(&self, context: &Context<'_>) -> Value {
        let (seconds, increment) = context.environment.cluster_time;
        match self {
            Operator::CurrentTimestamp => Value::Timestamp { seconds, increment },
            _ => Value::Date(context.environment.now_ms),
        }
    }
}

/// Refuses a name that is not that of an operator.
pub(crate) fn unknown_modifier(name: &str) -> Error {
    Error::new(
        codes::FAILED_TO_PARSE,
        format!(
            "Unknown modifier: {name}. Expected a valid update modifier or pipeline-style update specified as an array"
        ),
    )
}

fn set(value: &mut Value, new: &Value, context: &Context<'_>) -> Result<Outcome> {
    if identical(value, new) {
        return Ok(Outcome::Unchanged);
    }
    context.count(new)?;
    *value = new.clone();
    Ok(Outcome::Changed)
}

fn parse_current_date(operand: &Value) -> Result<Operator> {
    let object = match operand {
        // The server looks at the type only, so that false means the date as well.
        Value::Bool(_) => return Ok(Operator::CurrentDate),
        Value::Object(object) => object,
        other => {
            return Err(Error::bad_value(format!(
                "{} is not valid type for $currentDate. Please use a boolean ('true') or a $type expression \
                 ({{$type: 'timestamp/date'}}).",
                type_name(other)
            )));
        }
    };
    let mut operator = None;
    for (name, value) in object.iter() {
        if name != "$type" {
            return Err(Error::bad_value(format!("Unrecognized $currentDate option: {name}")));
        }
        operator = match value.as_str() {
            Some("date") => Some(Operator::CurrentDate),
            Some("timestamp") => Some(Operator::CurrentTimestamp),
            _ => None,
        };
    }
    operator.ok_or_else(|| {
        Error::bad_value(
            "The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: \
             'date/timestamp'}}}",
        )
    })
}

/// Reads the operand of `$pop` and says whether it means the first element.
fn parse_pop(path: &Path, operand: &Value) -> Result<bool> {
    if !operand.kind().is_number() {
        let text = render_member(&path.text, operand);
        return Err(Error::new(codes::FAILED_TO_PARSE, format!("Expected a number in: {text}")));
    }
    match arithmetic::integral(operand) {
        Some(1) => Ok(false),
        Some(-1) => Ok(true),
        Some(_) => Err(Error::new(
            codes::FAILED_TO_PARSE,
            format!("$pop expects 1 or -1, found: {}", render(operand)),
        )),
        None => {
            let text = render_member(&path.text, operand);
            Err(Error::new(codes::FAILED_TO_PARSE, format!("Expected an integer: {text}")))
        }
    }
}
