//! Steps on texts and dates, and casts.

use armilla_gremlin_value::{Value, date};

use super::context::Context;
use super::guard::{self, make_each, too_long};
use super::simple::unfit;
use super::traverser::Batch;
use super::values::{items, list};
use crate::error::{MachineError, Result};
use crate::limits;
use crate::step::{Argument, Kind, Scope, Step, TextStep};

pub(crate) fn apply<'p>(step: &'p Step, batch: Batch, cx: &mut Context<'p>) -> Result<Batch> {
    let name = step.name.as_ref();
    match &step.kind {
        Kind::Text { step: what, scope } => make_each(step, batch, cx, |traverser, _| {
            scoped(*scope, &traverser.value, &|value| {
                text(*what, name, value).map_err(|error| match (scope, value) {
                    (Scope::Local, Value::String(_) | Value::Null) | (Scope::Global, _) => error,
                    (Scope::Local, value) => MachineError::runtime(format!(
                        "The {name}(local) step can only take string or list of strings, encountered {}",
                        value.type_word()
                    )),
                })
            })
        }),
        Kind::Substring { from, to, scope } => make_each(step, batch, cx, |traverser, _| {
            scoped(*scope, &traverser.value, &|value| {
                with_text(name, value, |text| Ok(Value::text(substring(text, *from, *to))))
            })
        }),
        Kind::Replace { from, to, scope } => make_each(step, batch, cx, |traverser, _| {
            scoped(*scope, &traverser.value, &|value| match (from, to) {
                (Some(from), Some(to)) => with_text(name, value, |text| replaced(name, text, from, to)),
                _ => Ok(value.clone()),
            })
        }),
        Kind::Split { separator, scope } => make_each(step, batch, cx, |traverser, _| {
            scoped(*scope, &traverser.value, &|value| {
                with_text(name, value, |text| {
                    // The letters and words of a text are no more than its bytes.
                    if text.len() as u64 > limits::VALUE_PARTS_MAX {
                        guard::parts(parts_of(text, separator.as_deref()))?;
                    }
                    let parts: Vec<Value> = match separator.as_deref() {
                        None => text.split_whitespace().map(Value::text).collect(),
                        Some("") => text.chars().map(|letter| Value::text(letter.to_string())).collect(),
                        Some(separator) => text.split(separator).map(Value::text).collect(),
                    };
                    Ok(list(parts))
                })
            })
        }),
        Kind::Concat(parts) => {
            let mut columns: Vec<Vec<Vec<Value>>> = Vec::with_capacity(parts.len());
            for part in parts {
                columns.push(match part {
                    Argument::Value(value) => vec![vec![value.clone()]; batch.len()],
                    Argument::Child(child) => {
                        let firsts = cx.firsts(child, &batch)?.into_iter();
                        firsts.map(|first| first.into_iter().map(|first| first.value).collect()).collect()
                    }
                });
            }
            let mut at = 0;
            make_each(step, batch, cx, |traverser, _| {
                let now = at;
                at += 1;
                let more = columns.iter().filter_map(|column| column.get(now)).flatten();
                let mut joined: Option<String> = None;
                for value in std::iter::once(&traverser.value).chain(more) {
                    match value {
                        Value::Null => {}
                        Value::String(text) => joined.get_or_insert_default().push_str(text),
                        value => {
                            return Err(MachineError::runtime(format!(
                                "String concat() can only take string as argument, encountered {}",
                                value.type_word()
                            )));
                        }
                    }
                    if joined.as_ref().is_some_and(|text| text.len() > limits::TEXT_LEN_MAX) {
                        return Err(too_long(name));
                    }
                }
                Ok(Some(joined.map_or(Value::Null, Value::text)))
            })
        }
        Kind::AsNumber(kind) => {
            make_each(step, batch, cx, |traverser, _| as_number(&traverser.value, kind.as_deref()).map(Some))
        }
        Kind::AsBool => make_each(step, batch, cx, |traverser, _| as_bool(&traverser.value).map(Some)),
        Kind::AsDate => make_each(step, batch, cx, |traverser, _| as_date(&traverser.value).map(Some)),
        Kind::DateAdd { nanoseconds_each, amount } => make_each(step, batch, cx, |traverser, _| {
            let Value::Date { milliseconds, offset_seconds } = traverser.value else {
                return Err(unfit(name, &traverser.value));
            };
            let added = nanoseconds_each.saturating_mul(i128::from(*amount)) / 1_000_000;
            let milliseconds = i128::from(milliseconds) + added;
            match i64::try_from(milliseconds) {
                Ok(milliseconds) => Ok(Some(Value::Date { milliseconds, offset_seconds })),
                Err(_) => Err(MachineError::runtime("dateAdd() leads to no date")),
            }
        }),
        Kind::DateDiff(other) => {
            let others: Vec<Option<Value>> = match other {
                Argument::Value(value) => vec![Some(value.clone()); batch.len()],
                Argument::Child(child) => cx
                    .firsts(child, &batch)?
                    .into_iter()
                    .map(|first| first.map(|first| first.value))
                    .collect(),
            };
            let mut others = others.into_iter();
            make_each(step, batch, cx, |traverser, _| {
                let other = others.next().flatten().unwrap_or(Value::Null);
                let Value::Date { milliseconds, .. } = traverser.value else {
                    return Err(unfit(name, &traverser.value));
                };
                let other = match other {
                    Value::Date { milliseconds, .. } => milliseconds,
                    Value::Null => 0,
                    value => return Err(unfit(name, &value)),
                };
                Ok(Some(Value::Int64(milliseconds.saturating_sub(other))))
            })
        }
        _ => Ok(batch),
    }
}

fn only_texts(name: &str, value: &Value) -> MachineError {
    MachineError::runtime(format!(
        "The {name}() step can only take string as argument, encountered {}",
        value.type_word()
    ))
}

/// Applies a function to a value, or to each item of it.
fn scoped(scope: Scope, value: &Value, make: &dyn Fn(&Value) -> Result<Value>) -> Result<Option<Value>> {
    match (scope, value) {
        (Scope::Global, value) => make(value).map(Some),
        (Scope::Local, Value::List(_) | Value::Set(_) | Value::BulkSet(_)) => {
            Ok(Some(list(items(value)?.iter().map(make).collect::<Result<Vec<Value>>>()?)))
        }
        (Scope::Local, value) => make(value).map(Some),
    }
}

fn with_text(name: &str, value: &Value, make: impl Fn(&str) -> Result<Value>) -> Result<Value> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::String(text) => make(text),
        value => Err(only_texts(name, value)),
    }
}

fn text(what: TextStep, name: &str, value: &Value) -> Result<Value> {
    match what {
        TextStep::AsString => match value {
            Value::Null => Err(MachineError::runtime("Can't parse null as String: filter it out before")),
            value => Ok(Value::text(value.to_text(limits::TEXT_LEN_MAX).map_err(|_| too_long(name))?)),
        },
        TextStep::Length => with_text(name, value, |text| {
            Ok(Value::Int32(i32::try_from(text.encode_utf16().count()).unwrap_or(i32::MAX)))
        }),
        TextStep::ToLower => with_text(name, value, |text| Ok(Value::text(text.to_lowercase()))),
        TextStep::ToUpper => with_text(name, value, |text| Ok(Value::text(text.to_uppercase()))),
        TextStep::Trim => with_text(name, value, |text| Ok(Value::text(text.trim()))),
        TextStep::LeftTrim => with_text(name, value, |text| Ok(Value::text(text.trim_start()))),
        TextStep::RightTrim => with_text(name, value, |text| Ok(Value::text(text.trim_end()))),
        TextStep::Reverse => Ok(match value {
            Value::String(text) => Value::text(text.chars().rev().collect::<String>()),
            Value::List(values) | Value::Set(values) => list(values.iter().rev().cloned().collect()),
            Value::Path(_) | Value::BulkSet(_) => list(items(value)?.into_iter().rev().collect()),
            value => value.clone(),
        }),
    }
}

/// Replaces a part of a text, if the result is not too long: it may be as long as both texts multiplied.
fn replaced(name: &str, text: &str, from: &str, to: &str) -> Result<Value> {
    if to.len() > from.len() {
        let found = text.matches(from).count();
        let len = found.saturating_mul(to.len() - from.len()).saturating_add(text.len());
        if len > limits::TEXT_LEN_MAX {
            return Err(too_long(name));
        }
    }
    Ok(Value::text(text.replace(from, to)))
}

/// Says how many parts a text is split into.
fn parts_of(text: &str, separator: Option<&str>) -> u64 {
    let count = match separator {
        None => text.split_whitespace().count(),
        Some("") => text.chars().count(),
        Some(separator) => text.split(separator).count(),
    };
    count as u64
}

/// Cuts a text; places from the end are negative.
fn substring(text: &str, from: i64, to: Option<i64>) -> String {
    let letters: Vec<char> = text.chars().collect();
    let len = letters.len() as i64;
    let place = |at: i64| (if at < 0 { (len + at).max(0) } else { at.min(len) }) as usize;
    let (from, to) = (place(from), to.map_or(letters.len(), place));
    letters.get(from..to).unwrap_or_default().iter().collect()
}

fn as_number(value: &Value, kind: Option<&str>) -> Result<Value> {
    let number = match value {
        Value::Null => return Ok(Value::Null),
        Value::String(text) => parse_number(text)?,
        Value::Bool(value) => Value::Int32(i32::from(*value)),
        Value::Date { milliseconds, .. } => Value::Int64(*milliseconds),
        value if value.is_number() => value.clone(),
        Value::List(_) => return Err(MachineError::runtime("Can't parse type ArrayList as number.")),
        value => {
            return Err(MachineError::runtime(format!("Can't parse type {} as number.", value.type_word())));
        }
    };
    let Some(kind) = kind else { return Ok(number) };
    let real = number.as_real().unwrap_or(f64::NAN);
    // Fractions are cut off on the way to integers.
    let integer = match &number {
        Value::BigInteger(value) => Some(*value),
        number => match number.as_integer() {
            Some(value) => Some(i128::from(value)),
            None if real.is_finite() && real.abs() < 1.7e38 => Some(real.trunc() as i128),
            None => None,
        },
    };
    let lost = || {
        MachineError::runtime(format!(
            "Can't convert number of type {} to {} due to overflow.",
            class_name(number.type_word()),
            class_name(kind)
        ))
    };
    let integer = || integer.ok_or_else(lost);
    Ok(match kind {
        "BYTE" => Value::Byte(i8::try_from(integer()?).map_err(|_| lost())?),
        "SHORT" => Value::Int16(i16::try_from(integer()?).map_err(|_| lost())?),
        "INT" => Value::Int32(i32::try_from(integer()?).map_err(|_| lost())?),
        "LONG" => Value::Int64(i64::try_from(integer()?).map_err(|_| lost())?),
        "BIGINT" => Value::BigInteger(integer()?),
        "FLOAT" => {
            let float = real as f32;
            if float.is_infinite() && real.is_finite() {
                return Err(lost());
            }
            Value::Float(float)
        }
        "DOUBLE" => Value::Double(real),
        "BIGDECIMAL" => match &number {
            Value::BigDecimal(_) => number,
            number => Value::BigDecimal(number.to_string().into()),
        },
        "NUMBER" => number,
        kind => {
            return Err(MachineError::runtime(format!(
                "asNumber() requires a numeric type token, got {kind}"
            )));
        }
    })
}

/// Returns how drivers name a type of numbers.
fn class_name(word: &str) -> &str {
    match word {
        "INT" => "Integer",
        "SHORT" => "Short",
        "BYTE" => "Byte",
        "LONG" => "Long",
        "FLOAT" => "Float",
        "DOUBLE" => "Double",
        "BIGINT" => "BigInteger",
        "BIGDECIMAL" => "BigDecimal",
        word => word,
    }
}

fn parse_number(text: &str) -> Result<Value> {
    let trimmed = text.trim();
    if let Some(digits) = trimmed.strip_prefix("0x").or_else(|| trimmed.strip_prefix("0X"))
        && let Ok(value) = i64::from_str_radix(digits, 16)
    {
        return Ok(i32::try_from(value).map_or(Value::Int64(value), Value::Int32));
    }
    if let Ok(value) = trimmed.parse::<i32>() {
        return Ok(Value::Int32(value));
    }
    if let Ok(value) = trimmed.parse::<i64>() {
        return Ok(Value::Int64(value));
    }
    if let Ok(value) = trimmed.parse::<i128>() {
        return Ok(Value::BigInteger(value));
    }
    let is_decimal = trimmed.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match trimmed.parse::<f64>() {
        Ok(value) if is_decimal => Ok(Value::Double(value)),
        _ => Err(MachineError::runtime(format!("Can't parse string '{text}' as number."))),
    }
}

fn as_bool(value: &Value) -> Result<Value> {
    Ok(match value {
        Value::Bool(_) => value.clone(),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Value::Bool(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Value::Bool(false),
        value if value.is_number() => {
            let real = value.as_real().unwrap_or(f64::NAN);
            Value::Bool(real != 0.0 && !real.is_nan())
        }
        Value::Null => return Err(MachineError::runtime("Can't parse null as Boolean.")),
        Value::String(text) => {
            return Err(MachineError::runtime(format!("Can't parse {text} as Boolean.")));
        }
        value => {
            return Err(MachineError::runtime(format!("Can't parse {} as Boolean.", value.type_word())));
        }
    })
}

fn as_date(value: &Value) -> Result<Value> {
    let wrong = || MachineError::runtime("Can't parse the value as a date: use ISO 8601 or milliseconds");
    match value {
        Value::Date { .. } => Ok(value.clone()),
        Value::String(text) => {
            let (milliseconds, offset_seconds) = date::from_text(text).ok_or_else(wrong)?;
            Ok(Value::Date { milliseconds, offset_seconds })
        }
        Value::Byte(_) | Value::Int16(_) | Value::Int32(_) | Value::Int64(_) | Value::BigInteger(_) => {
            let milliseconds = value.as_integer().ok_or_else(wrong)?;
            Ok(Value::Date { milliseconds, offset_seconds: 0 })
        }
        _ => Err(wrong()),
    }
}
