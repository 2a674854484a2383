//! Reading GraphSON of all versions into values.
//!
//! One reader serves them all: a typed value tells its type, and what has none is plain JSON. Elements are in
//! `read_elements.rs`.

use std::sync::Arc;

use armilla_gremlin_value::{Bytecode, Instruction, Map, Predicate, Token, TokenKind, Value};
use base64::Engine;

use super::{numbers, read_elements};
use crate::error::{Fault, short};
use crate::json::Json;
use crate::limits::MAX_VALUE_DEPTH;
use crate::predicates::{self, Takes};
use crate::{time, uuid};

/// Reads a value, typed or plain.
pub(crate) fn value(json: &Json<'_>, depth: usize) -> Result<Value, Fault> {
    if depth > MAX_VALUE_DEPTH {
        return Err(Fault::new(format!("A value is nested deeper than {MAX_VALUE_DEPTH} levels.")));
    }
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(text) => numbers::plain(text),
        Json::Text(text) => Value::String(Arc::from(text.as_ref())),
        Json::Array(items) => Value::List(Arc::new(values(items, depth)?)),
        Json::Object(members) => match type_of(json) {
            Some(name) => return typed(name, json.member("@value").unwrap_or(&Json::Null), depth),
            None => {
                let mut entries = Vec::with_capacity(members.len());
                for (name, member) in members {
                    let member = value(member, depth + 1).map_err(|fault| fault.within(name))?;
                    entries.push((Value::String(Arc::from(name.as_ref())), member));
                }
                Value::Map(Arc::new(Map { entries }))
            }
        },
    })
}

/// Returns the type of a typed value.
fn type_of<'j>(json: &'j Json<'_>) -> Option<&'j str> {
    match json.member("@type") {
        Some(Json::Text(name)) => Some(name),
        _ => None,
    }
}

pub(super) fn values(items: &[Json<'_>], depth: usize) -> Result<Vec<Value>, Fault> {
    items.iter().map(|item| value(item, depth + 1)).collect()
}

/// Returns the items of an array, typed as a list or set or not.
pub(super) fn items<'j, 't>(json: &'j Json<'t>) -> Result<&'j [Json<'t>], Fault> {
    match json {
        Json::Array(items) => Ok(items),
        Json::Null => Ok(&[]),
        Json::Object(_) => match (type_of(json), json.member("@value")) {
            (Some("g:List" | "g:Set"), Some(Json::Array(items))) => Ok(items),
            _ => Err(Fault::new("A list was expected.")),
        },
        _ => Err(Fault::new("A list was expected.")),
    }
}

/// Returns the members of an object, be it plain or a `g:Map` with texts as keys.
pub(crate) fn members<'j, 't>(json: &'j Json<'t>) -> Result<Vec<(&'j str, &'j Json<'t>)>, Fault> {
    match json {
        Json::Null => Ok(Vec::new()),
        Json::Object(members) => match type_of(json) {
            None => Ok(members.iter().map(|(name, member)| (name.as_ref(), member)).collect()),
            Some("g:Map") => {
                let pairs = items(json.member("@value").unwrap_or(&Json::Null))?;
                if pairs.len() % 2 != 0 {
                    return Err(Fault::new("A g:Map has a key without a value."));
                }
                let pair = |pair: &'j [Json<'t>]| match pair {
                    [Json::Text(name), member] => Ok((name.as_ref(), member)),
                    _ => Err(Fault::new("A key is not a string.")),
                };
                pairs.chunks_exact(2).map(pair).collect()
            }
            Some(_) => Err(Fault::new("An object was expected.")),
        },
        _ => Err(Fault::new("An object was expected.")),
    }
}

/// Returns a member of an object that may be a `g:Map`.
pub(crate) fn object_value<'j, 't>(json: &'j Json<'t>, name: &str) -> Option<&'j Json<'t>> {
    members(json).ok()?.into_iter().rev().find(|(key, _)| *key == name).map(|(_, member)| member)
}

fn typed(name: &str, json: &Json<'_>, depth: usize) -> Result<Value, Fault> {
    Ok(match name {
        "g:Int32" => Value::Int32(numbers::integer(json, name)?),
        "g:Int64" => Value::Int64(numbers::integer(json, name)?),
        "g:Double" => Value::Double(numbers::fraction(json, name)?),
        "g:Float" => Value::Float(numbers::fraction(json, name)?),
        "gx:Int16" => Value::Int16(numbers::integer(json, name)?),
        "gx:Byte" => Value::Byte(numbers::integer(json, name)?),
        "gx:BigInteger" => Value::BigInteger(numbers::integer(json, name)?),
        "gx:BigDecimal" => numbers::decimal(json)?,
        "g:UUID" => Value::Uuid(parsed(json, name, uuid::parse_uuid)?),
        "g:Date" | "g:Timestamp" => {
            Value::Date { milliseconds: numbers::integer(json, name)?, offset_seconds: 0 }
        }
        "gx:OffsetDateTime" | "gx:ZonedDateTime" | "gx:Instant" | "gx:LocalDateTime" | "gx:LocalDate" => {
            let (milliseconds, offset_seconds) = parsed(json, name, time::parse_date)?;
            Value::Date { milliseconds, offset_seconds }
        }
        "gx:Duration" => Value::Duration(parsed(json, name, time::parse_duration)?),
        "gx:Char" => Value::Char(parsed(json, name, |text| text.parse().ok())?),
        "gx:ByteBuffer" => {
            let decode = |text: &str| base64::engine::general_purpose::STANDARD.decode(text).ok();
            Value::Bytes(Arc::from(parsed(json, name, decode)?))
        }
        "g:List" => Value::List(Arc::new(values(items(json)?, depth)?)),
        "g:Set" => Value::Set(Arc::new(values(items(json)?, depth)?)),
        "g:BulkSet" => bulk_set(items(json)?, depth)?,
        "g:Map" => Value::Map(Arc::new(flat_map(items(json)?, depth)?)),
        "g:P" | "g:TextP" => Value::Predicate(Arc::new(predicate(json, depth)?)),
        "g:Bytecode" => Value::Traversal(Arc::new(bytecode(json, depth)?)),
        "g:Binding" => {
            let Some(bound) = json.member("value") else {
                return Err(Fault::new("A g:Binding has no value."));
            };
            return value(bound, depth + 1);
        }
        "g:Lambda" => {
            return Err(Fault::refused("Lambdas are not supported; write the traversal with steps instead."));
        }
        "g:Class" => Value::Strategy {
            name: parsed(json, name, |text| Some(Arc::from(simple_name(text))))?,
            configuration: Arc::default(),
        },
        "g:Metrics" | "g:TraversalMetrics" => match value(json, depth + 1)? {
            Value::Map(map) => Value::Metrics(map),
            _ => return Err(Fault::new(format!("The value of {name} is not an object."))),
        },
        "g:Vertex" => read_elements::vertex(json, depth)?,
        "g:Edge" => read_elements::edge(json, depth)?,
        "g:VertexProperty" => Value::VertexProperty(Arc::new(read_elements::vertex_property(json, depth)?)),
        "g:Property" => Value::Property(Arc::new(read_elements::property(json, depth)?)),
        "g:Path" => read_elements::path(json, depth)?,
        "g:Tree" => Value::Tree(Arc::new(read_elements::tree(json, depth)?)),
        _ => return token_or_strategy(name, json, depth),
    })
}

/// Reads a value whose JSON is a text of its own form.
fn parsed<T>(json: &Json<'_>, name: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, Fault> {
    let Json::Text(text) = json else {
        return Err(Fault::new(format!("The value of {name} is not a string.")));
    };
    parse(text)
        .ok_or_else(|| Fault::new(format!("The value of {name} is not of its form: '{}'.", short(text))))
}

fn flat_map(items: &[Json<'_>], depth: usize) -> Result<Map, Fault> {
    if !items.len().is_multiple_of(2) {
        return Err(Fault::new("A g:Map has a key without a value."));
    }
    let mut entries = Vec::with_capacity(items.len() / 2);
    for pair in items.chunks_exact(2) {
        if let [key, item] = pair {
            let read = match key {
                Json::Text(name) => value(item, depth + 1).map_err(|fault| fault.within(name))?,
                _ => value(item, depth + 1)?,
            };
            entries.push((value(key, depth + 1)?, read));
        }
    }
    Ok(Map { entries })
}

fn bulk_set(items: &[Json<'_>], depth: usize) -> Result<Value, Fault> {
    let mut members = Vec::with_capacity(items.len() / 2);
    for pair in items.chunks(2) {
        let [item, count] = pair else { return Err(Fault::new("A g:BulkSet has a value without a count.")) };
        let count = match value(count, depth + 1)? {
            Value::Int32(count) => u64::try_from(count).ok(),
            Value::Int64(count) => u64::try_from(count).ok(),
            _ => None,
        };
        let count = count.ok_or_else(|| Fault::new("A count of a g:BulkSet is not an integer from 0 on."))?;
        members.push((value(item, depth + 1)?, count));
    }
    Ok(Value::BulkSet(Arc::new(members)))
}

fn predicate(json: &Json<'_>, depth: usize) -> Result<Predicate, Fault> {
    let (Some(Json::Text(name)), Some(operand)) = (json.member("predicate"), json.member("value")) else {
        return Err(Fault::new("A predicate needs 'predicate' and 'value'."));
    };
    let Some((kind, takes)) = predicates::find(name) else {
        return Err(Fault::new(format!("The predicate '{}' is not known.", short(name))));
    };
    let values = match takes {
        Takes::One | Takes::Predicate => vec![value(operand, depth + 1)?],
        Takes::Two | Takes::Any | Takes::Predicates => match items(operand) {
            Ok(items) => values(items, depth)?,
            // One value without a list around it is what some drivers write for `within(x)`.
            Err(_) => vec![value(operand, depth + 1)?],
        },
    };
    predicates::checked(kind, values)
        .ok_or_else(|| Fault::new(format!("The predicate '{name}' has the wrong number or kind of values.")))
}

fn bytecode(json: &Json<'_>, depth: usize) -> Result<Bytecode, Fault> {
    let read = |name: &str| match json.member(name) {
        None => Ok(Vec::new()),
        Some(list) => items(list)
            .and_then(|list| list.iter().map(|item| instruction(item, depth)).collect())
            .map_err(|fault| fault.within(name)),
    };
    if !matches!(json, Json::Object(_)) {
        return Err(Fault::new("The value of g:Bytecode is not an object."));
    }
    Ok(Bytecode { sources: read("source")?, steps: read("step")? })
}

fn instruction(json: &Json<'_>, depth: usize) -> Result<Instruction, Fault> {
    match items(json)?.split_first() {
        Some((Json::Text(name), arguments)) => {
            let arguments = values(arguments, depth).map_err(|fault| fault.within(name))?;
            Ok(Instruction { name: Arc::from(name.as_ref()), arguments, position: None })
        }
        _ => Err(Fault::new("An instruction is a list that begins with the name of a step.")),
    }
}

/// Reads what is named after an enumeration or after a strategy.
fn token_or_strategy(name: &str, json: &Json<'_>, depth: usize) -> Result<Value, Fault> {
    let unknown = || Fault::new(format!("Unknown GraphSON type encountered: {}.", short(name)));
    let word = name.strip_prefix("g:").ok_or_else(unknown)?;
    if let Some((kind, ..)) = TokenKind::ALL.iter().find(|(_, other, _)| other.eq_ignore_ascii_case(word)) {
        return parsed(json, name, |text| Token::find(*kind, text)).map(Value::Token);
    }
    // Older drivers send the configuration alone, newer ones the name of the class beside it.
    let (full_name, configuration) = match (json.member("fqcn"), json.member("conf")) {
        (Some(Json::Text(full_name)), conf) => (full_name.as_ref(), conf.unwrap_or(&Json::Null)),
        _ if word.ends_with("Strategy") => (word, json),
        _ => return Err(unknown()),
    };
    let mut configured = Vec::new();
    for (key, item) in members(configuration)? {
        configured.push((Arc::from(key), value(item, depth + 1).map_err(|fault| fault.within(key))?));
    }
    Ok(Value::Strategy { name: Arc::from(simple_name(full_name)), configuration: Arc::new(configured) })
}

/// Returns the name of a class without its package.
pub(crate) fn simple_name(full_name: &str) -> &str {
    full_name.rsplit(['.', '$']).next().unwrap_or(full_name)
}
