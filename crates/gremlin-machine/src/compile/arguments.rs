//! Arguments of instructions, taken apart by what steps expect.

use std::sync::Arc;

use armilla_gremlin_value::{Bytecode, Instruction, Predicate, Token, TokenKind, Value};

use crate::error::{MachineError, Result};
use crate::graph::Cardinality;
use crate::step::{Column, ElementToken, Operator, Pop, Scope, Sorting};

/// The instruction that a value with a cardinality is, as drivers send it.
const CARDINALITY_VALUE: &str = "CardinalityValueTraversal";

/// Makes the error of arguments that a step does not take.
pub(crate) fn unexpected(instruction: &Instruction) -> MachineError {
    let types: Vec<&str> = instruction.arguments.iter().map(type_name).collect();
    MachineError::compile(format!(
        "Unable to bind to method '{}', with arguments of type: ({})",
        instruction.name,
        types.join(",")
    ))
    .at(&instruction.name, instruction.position)
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "Boolean",
        Value::Int32(_) => "Int32",
        Value::Int64(_) => "Int64",
        Value::Double(_) => "Double",
        Value::String(_) => "String",
        Value::List(_) | Value::Set(_) => "List",
        Value::Map(_) => "Map",
        Value::Token(token) => token.kind.name(),
        Value::Predicate(_) => "P",
        Value::Traversal(_) => "GraphTraversal",
        _ => "Object",
    }
}

pub(crate) fn token(value: &Value, kind: TokenKind) -> Option<&'static str> {
    match value {
        Value::Token(Token { kind: other, word }) if *other == kind => Some(word),
        _ => None,
    }
}

pub(crate) fn scope(value: &Value) -> Option<Scope> {
    Some(if token(value, TokenKind::Scope)? == "local" { Scope::Local } else { Scope::Global })
}

pub(crate) fn sorting(value: &Value) -> Option<Sorting> {
    Some(match token(value, TokenKind::Order)? {
        "asc" => Sorting::Ascending,
        "desc" => Sorting::Descending,
        _ => Sorting::Shuffled,
    })
}

pub(crate) fn pop(value: &Value) -> Option<Pop> {
    Some(match token(value, TokenKind::Pop)? {
        "first" => Pop::First,
        "last" => Pop::Last,
        "all" => Pop::All,
        _ => Pop::Mixed,
    })
}

pub(crate) fn column(value: &Value) -> Option<Column> {
    Some(if token(value, TokenKind::Column)? == "keys" { Column::Keys } else { Column::Values })
}

pub(crate) fn element_token(value: &Value) -> Option<ElementToken> {
    Some(match token(value, TokenKind::T)? {
        "id" => ElementToken::Id,
        "label" => ElementToken::Label,
        "key" => ElementToken::Key,
        _ => ElementToken::Value,
    })
}

pub(crate) fn operator(value: &Value) -> Option<Operator> {
    Some(match token(value, TokenKind::Operator)? {
        "sum" | "sumLong" => Operator::Sum,
        "minus" => Operator::Minus,
        "mult" => Operator::Multiply,
        "div" => Operator::Divide,
        "min" => Operator::Minimum,
        "max" => Operator::Maximum,
        "assign" => Operator::Assign,
        "and" => Operator::And,
        "or" => Operator::Or,
        _ => Operator::AddAll,
    })
}

pub(crate) fn cardinality(value: &Value) -> Option<Cardinality> {
    Some(match token(value, TokenKind::Cardinality)? {
        "single" => Cardinality::Single,
        "list" => Cardinality::List,
        _ => Cardinality::Set,
    })
}

/// Takes `list('x')` apart.
pub(crate) fn cardinality_value(value: &Value) -> Option<(Cardinality, Value)> {
    let Value::Traversal(bytecode) = value else { return None };
    match bytecode.sources.as_slice() {
        [source] if &*source.name == CARDINALITY_VALUE && bytecode.steps.is_empty() => {
            match source.arguments.as_slice() {
                [token, value] => Some((cardinality(token)?, value.clone())),
                _ => None,
            }
        }
        _ => None,
    }
}

pub(crate) fn child(value: &Value) -> Option<&Arc<Bytecode>> {
    match value {
        Value::Traversal(bytecode) => Some(bytecode),
        _ => None,
    }
}

/// Returns a predicate, or the one that a value equals this.
pub(crate) fn predicate(value: &Value) -> Option<Predicate> {
    match value {
        Value::Predicate(predicate) => Some(predicate.as_ref().clone()),
        Value::Traversal(_) => None,
        value => Some(Predicate::equal_to(value.clone())),
    }
}

/// Returns texts, of which null is left out.
pub(crate) fn texts(instruction: &Instruction, values: &[Value]) -> Result<Vec<Arc<str>>> {
    let mut texts = Vec::with_capacity(values.len());
    for value in values {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Null => {}
            Value::List(items) | Value::Set(items) => texts.extend(self::texts(instruction, items)?),
            _ => return Err(unexpected(instruction)),
        }
    }
    Ok(texts)
}

/// Returns a number of things, of which a negative one is an error unless it is -1, which is no bound.
pub(crate) fn amount(instruction: &Instruction, value: &Value) -> Result<Option<u64>> {
    match value.as_integer() {
        Some(-1) => Ok(None),
        Some(amount) if amount >= 0 => Ok(Some(amount as u64)),
        Some(amount) => {
            Err(MachineError::compile(format!("{}() takes no negative number: {amount}", instruction.name))
                .at(&instruction.name, instruction.position))
        }
        None => Err(unexpected(instruction)),
    }
}
