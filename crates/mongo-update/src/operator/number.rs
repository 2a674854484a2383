//! `$inc`, `$mul` and `$bit`.

use armilla_mongo_expression::{Error, Result, arithmetic, codes, type_name};
use armilla_value::{Decimal, Value, mongo_cmp};

use crate::context::Context;
use crate::path::Path;
use crate::render::{render, render_member};

/// Which of the two arithmetical operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberOperator {
    /// `$inc`.
    Increment,
    /// `$mul`.
    Multiply,
}

/// One of the steps of a `$bit`.
#[derive(Debug, Clone)]
pub(crate) struct BitStep {
    operation: BitOperation,
    operand: Value,
}

#[derive(Debug, Clone, Copy)]
enum BitOperation {
    And,
    Or,
    Xor,
}

/// Checks the operand of an arithmetical operator; `verb` is how messages call what it does.
pub(crate) fn parse(verb: &str, path: &Path, operand: &Value) -> Result<Value> {
    if operand.kind().is_number() {
        return Ok(operand.clone());
    }
    let text = render_member(&path.text, operand);
    Err(Error::new(codes::TYPE_MISMATCH, format!("Cannot {verb} with non-numeric argument: {{{text}}}")))
}

/// Computes the new value of a number. Integers widen, and what no 64-bit integer holds is refused.
pub(crate) fn apply(
    operator: NumberOperator,
    value: &Value,
    operand: &Value,
    context: &Context<'_>,
) -> Result<Value> {
    let name = match operator {
        NumberOperator::Increment => "$inc",
        NumberOperator::Multiply => "$mul",
    };
    if !value.kind().is_number() {
        return Err(Error::new(
            codes::TYPE_MISMATCH,
            format!(
                "Cannot apply {name} to a value of non-numeric type. {{{}}} has the field '{}' of non-numeric type {}",
                context.id_text(),
                context.last_name(),
                type_name(value),
            ),
        ));
    }
    let result = match operator {
        NumberOperator::Increment => arithmetic::checked_add(value, operand),
        NumberOperator::Multiply => arithmetic::checked_multiply(value, operand),
    };
    result.map_err(|_| {
        Error::bad_value(format!(
            "Failed to apply {name} operations to current value (({}){}) for document {{{}}}",
            match value {
                Value::Int32(_) => "NumberInt",
                _ => "NumberLong",
            },
            render(value),
            context.id_text(),
        ))
    })
}

/// Returns the value where there was none: the operand, or zero of its type.
pub(crate) fn create(operator: NumberOperator, operand: &Value) -> Value {
    match (operator, operand) {
        (NumberOperator::Increment, operand) => operand.clone(),
        (NumberOperator::Multiply, Value::Int32(_)) => Value::Int32(0),
        (NumberOperator::Multiply, Value::Int64(_)) => Value::Int64(0),
        (NumberOperator::Multiply, Value::Double(_)) => Value::Double(0.0),
        (NumberOperator::Multiply, _) => {
            Value::Decimal128(Decimal::Finite { negative: false, coefficient: 0, exponent: 0 }.to_bytes())
        }
    }
}

/// Reads the operand of `$bit`.
pub(crate) fn parse_bit(operand: &Value) -> Result<Vec<BitStep>> {
    let Value::Object(object) = operand else {
        return Err(Error::bad_value(format!(
            "The $bit modifier is not compatible with a {}. You must pass in an embedded document: {{$bit: {{field: \
             {{and/or/xor: #}}}}",
            type_name(operand)
        )));
    };
    let mut steps = Vec::with_capacity(object.len());
    for (name, operand) in object.iter() {
        let text = render_member(name, operand);
        let operation = match name {
            "and" => BitOperation::And,
            "or" => BitOperation::Or,
            "xor" => BitOperation::Xor,
            _ => {
                return Err(Error::bad_value(format!(
                    "The $bit modifier only supports 'and', 'or', and 'xor', not '{name}' which is an unknown \
                     operator: {{{text}}}"
                )));
            }
        };
        if !matches!(operand, Value::Int32(_) | Value::Int64(_)) {
            return Err(Error::bad_value(format!(
                "The $bit modifier field must be an Integer(32/64 bit); a '{}' is not supported here: {{{text}}}",
                type_name(operand)
            )));
        }
        steps.push(BitStep { operation, operand: operand.clone() });
    }
    if steps.is_empty() {
        return Err(Error::bad_value(
            "You must pass in at least one bitwise operation. The format is: {$bit: {field: {and/or/xor: #}}",
        ));
    }
    Ok(steps)
}

/// Computes the new value of an integer.
pub(crate) fn apply_bit(steps: &[BitStep], value: &Value, context: &Context<'_>) -> Result<Value> {
    if !matches!(value, Value::Int32(_) | Value::Int64(_)) {
        return Err(Error::bad_value(format!(
            "Cannot apply $bit to a value of non-integral type.{{{}}} has the field {} of non-integer type {}",
            context.id_text(),
            context.last_name(),
            type_name(value),
        )));
    }
    Ok(steps.iter().fold(value.clone(), |value, step| step.apply(&value)))
}

/// Returns the value where there was none: as if zero had been there.
pub(crate) fn create_bit(steps: &[BitStep]) -> Value {
    steps.iter().fold(Value::Int32(0), |value, step| step.apply(&value))
}

impl BitStep {
    fn apply(&self, value: &Value) -> Value {
        if let (Value::Int32(left), Value::Int32(right)) = (value, &self.operand) {
            return Value::Int32(self.operation.apply(i64::from(*left), i64::from(*right)) as i32);
        }
        match (value.as_i64(), self.operand.as_i64()) {
            (Some(left), Some(right)) => Value::Int64(self.operation.apply(left, right)),
            _ => value.clone(),
        }
    }
}

impl BitOperation {
    fn apply(self, left: i64, right: i64) -> i64 {
        match self {
            BitOperation::And => left & right,
            BitOperation::Or => left | right,
            BitOperation::Xor => left ^ right,
        }
    }
}

/// Says whether a number of any type is 1 or -1, and which.
pub(crate) fn direction(value: &Value) -> Option<bool> {
    if !value.kind().is_number() {
        return None;
    }
    [(1, false), (-1, true)]
        .into_iter()
        .find(|(number, _)| mongo_cmp(value, &Value::Int32(*number)).is_eq())
        .map(|(_, is_descending)| is_descending)
}
