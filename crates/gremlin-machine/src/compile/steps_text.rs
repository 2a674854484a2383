//! Steps on texts, lists and dates, and casts.

use armilla_gremlin_value::{Instruction, TokenKind, Value};

use super::Compiler;
use super::arguments::{scope, token, unexpected};
use crate::error::{MachineError, Result};
use crate::step::{Argument, Kind, ListStep, Scope, TextStep};

impl Compiler<'_> {
    pub(super) fn text_step(&mut self, instruction: &Instruction) -> Result<Option<Kind>> {
        let (of, arguments) = match instruction.arguments.as_slice() {
            [first, rest @ ..] if scope(first).is_some() => (scope(first).unwrap_or(Scope::Global), rest),
            rest => (Scope::Global, rest),
        };
        let text = |step| Kind::Text { step, scope: of };
        let name = instruction.name.as_ref();
        let kind = match (name, arguments) {
            ("asString", []) => text(TextStep::AsString),
            ("length", []) => text(TextStep::Length),
            ("toLower", []) => text(TextStep::ToLower),
            ("toUpper", []) => text(TextStep::ToUpper),
            ("trim", []) => text(TextStep::Trim),
            ("lTrim", []) => text(TextStep::LeftTrim),
            ("rTrim", []) => text(TextStep::RightTrim),
            ("reverse", []) => text(TextStep::Reverse),
            ("substring", [from]) => {
                Kind::Substring { from: integer(instruction, from)?, to: None, scope: of }
            }
            ("substring", [from, to]) => Kind::Substring {
                from: integer(instruction, from)?,
                to: Some(integer(instruction, to)?),
                scope: of,
            },
            ("replace", [from, to]) => Kind::Replace {
                from: from.as_str().map(Into::into),
                to: to.as_str().map(Into::into),
                scope: of,
            },
            ("split", [separator]) => {
                Kind::Split { separator: separator.as_str().map(Into::into), scope: of }
            }
            ("concat", arguments) => {
                let mut parts = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    if !matches!(argument, Value::String(_) | Value::Null | Value::Traversal(_)) {
                        return Err(unexpected(instruction));
                    }
                    parts.push(self.argument(argument)?);
                }
                Kind::Concat(parts)
            }
            ("conjoin", [Value::String(text)]) => Kind::Conjoin(text.clone()),
            ("conjoin", [Value::Null]) => {
                return Err(MachineError::compile("Input delimiter to conjoin step can't be null."));
            }
            ("format", [Value::String(pattern)]) => {
                Kind::Format { pattern: pattern.clone(), bys: Vec::new() }
            }
            ("combine", [other]) => self.list(ListStep::Combine, other)?,
            ("difference", [other]) => self.list(ListStep::Difference, other)?,
            ("disjunct", [other]) => self.list(ListStep::Disjunct, other)?,
            ("intersect", [other]) => self.list(ListStep::Intersect, other)?,
            ("merge", [other]) => self.list(ListStep::Merge, other)?,
            ("product", [other]) => self.list(ListStep::Product, other)?,
            ("asNumber", []) => Kind::AsNumber(None),
            ("asNumber", [kind]) => match token(kind, TokenKind::GType) {
                Some(word) => Kind::AsNumber(Some(word.into())),
                None => return Err(unexpected(instruction)),
            },
            ("asBool", []) => Kind::AsBool,
            ("asDate", []) => Kind::AsDate,
            ("dateAdd", [unit, amount]) => {
                let nanoseconds_each = match token(unit, TokenKind::Dt) {
                    Some("second") => 1_000_000_000,
                    Some("minute") => 60_000_000_000,
                    Some("hour") => 3_600_000_000_000,
                    Some("day") => 86_400_000_000_000,
                    _ => return Err(unexpected(instruction)),
                };
                Kind::DateAdd { nanoseconds_each, amount: integer(instruction, amount)? }
            }
            ("dateDiff", [other]) => Kind::DateDiff(self.argument(other)?),
            (
                "asString" | "length" | "toLower" | "toUpper" | "trim" | "lTrim" | "rTrim" | "reverse"
                | "substring" | "replace" | "split" | "conjoin" | "format" | "combine" | "difference"
                | "disjunct" | "intersect" | "merge" | "product" | "asNumber" | "asBool" | "asDate"
                | "dateAdd" | "dateDiff",
                _,
            ) => return Err(unexpected(instruction)),
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    fn list(&mut self, step: ListStep, other: &Value) -> Result<Kind> {
        let other: Argument = self.argument(other)?;
        Ok(Kind::List { step, other })
    }
}

fn integer(instruction: &Instruction, value: &Value) -> Result<i64> {
    value.as_integer().ok_or_else(|| unexpected(instruction))
}
