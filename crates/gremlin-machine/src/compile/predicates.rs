//! The forms of `has` and `where`.

use std::sync::Arc;

use armilla_gremlin_value::{Instruction, Predicate, PredicateKind, Value};

use super::arguments::{self, element_token, unexpected};
use super::{Compiler, of_step};
use crate::error::Result;
use crate::graph::Condition;
use crate::step::{ElementToken, Kind};

impl Compiler<'_> {
    pub(super) fn has(&mut self, instruction: &Instruction) -> Result<Kind> {
        let arguments = instruction.arguments.as_slice();
        match arguments {
            // No element has a property without a name.
            [Value::Null] | [Value::Null, _] => Ok(Kind::Has(vec![Condition::Has("\u{0}".into())])),
            [Value::String(key)] => Ok(Kind::Has(vec![Condition::Has(key.clone())])),
            [key, Value::Traversal(bytecode)] => {
                let child = self.child(bytecode)?;
                match key {
                    Value::String(key) => Ok(Kind::HasChild { key: key.clone(), child }),
                    _ => Err(unexpected(instruction)),
                }
            }
            [key, value] => Ok(Kind::Has(vec![condition(instruction, key, value)?])),
            [label, key, value] => {
                let mut conditions = Vec::with_capacity(2);
                if !matches!(label, Value::Null) {
                    conditions.push(Condition::Label(predicate_of(instruction, label)?));
                }
                if let Value::Traversal(bytecode) = value {
                    let child = self.child(bytecode)?;
                    let Value::String(key) = key else { return Err(unexpected(instruction)) };
                    let has = of_step(instruction, Kind::HasChild { key: key.clone(), child });
                    return Ok(Kind::And(vec![of_step(instruction, Kind::Has(conditions)), has]));
                }
                conditions.push(condition(instruction, key, value)?);
                Ok(Kind::Has(conditions))
            }
            _ => Err(unexpected(instruction)),
        }
    }

    /// Compiles `where` and its forms.
    pub(super) fn where_step(&mut self, instruction: &Instruction) -> Result<Kind> {
        match instruction.arguments.as_slice() {
            [Value::Predicate(predicate)] => Ok(Kind::WherePredicate {
                start: None,
                predicate: predicate.as_ref().clone(),
                bys: Vec::new(),
            }),
            [Value::String(start), Value::Predicate(predicate)] => Ok(Kind::WherePredicate {
                start: Some(start.clone()),
                predicate: predicate.as_ref().clone(),
                bys: Vec::new(),
            }),
            [Value::Traversal(bytecode)] => {
                Ok(Kind::Filter { child: self.child_at(bytecode, true)?, negated: false })
            }
            _ => Err(unexpected(instruction)),
        }
    }
}

/// Returns the condition of `has(key, value)`, where `id` and `label` name what elements always have.
fn condition(instruction: &Instruction, key: &Value, value: &Value) -> Result<Condition> {
    let token = match (key, element_token(key)) {
        (_, Some(token)) => Some(token),
        (Value::String(key), None) => match key.as_ref() {
            "id" => Some(ElementToken::Id),
            "label" => Some(ElementToken::Label),
            _ => None,
        },
        _ => return Err(unexpected(instruction)),
    };
    let predicate = predicate_of(instruction, value)?;
    match (token, key) {
        (Some(ElementToken::Id), _) => Ok(Condition::Id(predicate)),
        (Some(ElementToken::Label), _) => Ok(Condition::Label(predicate)),
        (None, Value::String(key)) => Ok(Condition::Property { key: key.clone(), predicate }),
        _ => Err(unexpected(instruction)),
    }
}

fn predicate_of(instruction: &Instruction, value: &Value) -> Result<Predicate> {
    arguments::predicate(value).ok_or_else(|| unexpected(instruction))
}

/// Returns the predicate of `hasLabel`, `hasKey` and their like: a predicate, or one of the values.
pub(super) fn alternatives(instruction: &Instruction, flatten: bool) -> Result<Predicate> {
    let mut values = Vec::with_capacity(instruction.arguments.len());
    for argument in &instruction.arguments {
        match argument {
            Value::Predicate(predicate) if instruction.arguments.len() == 1 => {
                return Ok(predicate.as_ref().clone());
            }
            Value::Traversal(_) | Value::Predicate(_) => return Err(unexpected(instruction)),
            Value::List(items) | Value::Set(items) if flatten => values.extend(items.iter().cloned()),
            value => values.push(value.clone()),
        }
    }
    Ok(match values.as_slice() {
        [value] => Predicate::equal_to(value.clone()),
        // A list inside would be taken apart, so that the values stay apart.
        _ => Predicate::new(PredicateKind::Within, vec![Value::List(Arc::new(values))]),
    })
}
