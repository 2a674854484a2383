//! Reading values of GraphBinary. Elements are in `read_elements.rs`.

use std::sync::Arc;

use armilla_gremlin_value::{Bytecode, Instruction, Map, Token, Value};

use super::{Cursor, TOKENS, code, decimal, read_elements};
use crate::error::{Fault, short};
use crate::graphson::simple_name;
use crate::limits::MAX_VALUE_DEPTH;
use crate::predicates;
use crate::time::{Civil, MAX_OFFSET_SECONDS};

/// How many items a list gets room for at once, whatever its length claims.
const MAX_ROOM: usize = 256;

/// Reads a value with its type.
pub(crate) fn value(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Fault> {
    if depth > MAX_VALUE_DEPTH {
        return Err(Fault::new(format!("A value is nested deeper than {MAX_VALUE_DEPTH} levels.")));
    }
    let code = cursor.u8()?;
    if code == code::CUSTOM {
        let name = cursor.str()?;
        return Err(Fault::refused(format!("Custom types are not supported: '{}'.", short(name))));
    }
    match cursor.u8()? {
        0 | 2 if code != code::NULL => bare(cursor, code, depth),
        1 => Ok(Value::Null),
        flag => Err(Fault::new(format!("A value has an unknown flag, {flag}."))),
    }
}

fn bare(cursor: &mut Cursor<'_>, code: u8, depth: usize) -> Result<Value, Fault> {
    Ok(match code {
        code::INT => Value::Int32(cursor.i32()?),
        code::LONG => Value::Int64(cursor.i64()?),
        code::STRING => Value::String(cursor.string()?),
        code::DATE | code::TIMESTAMP => Value::Date { milliseconds: cursor.i64()?, offset_seconds: 0 },
        code::CLASS => {
            Value::Strategy { name: Arc::from(simple_name(cursor.str()?)), configuration: Arc::default() }
        }
        code::DOUBLE => Value::Double(cursor.f64()?),
        code::FLOAT => Value::Float(cursor.f32()?),
        code::LIST => Value::List(Arc::new(list(cursor, depth)?)),
        code::SET => Value::Set(Arc::new(list(cursor, depth)?)),
        code::MAP => Value::Map(Arc::new(bare_map(cursor, depth)?)),
        code::UUID => Value::Uuid(cursor.uuid()?),
        code::EDGE => read_elements::edge(cursor, depth)?,
        code::PATH => read_elements::path(cursor, depth)?,
        code::PROPERTY => read_elements::property(cursor, depth)?,
        code::GRAPH => return Err(Fault::refused("Graphs as arguments are not supported.")),
        code::VERTEX => read_elements::vertex(cursor, depth)?,
        code::VERTEX_PROPERTY => read_elements::vertex_property(cursor, depth)?,
        code::BINDING => {
            cursor.str()?;
            value(cursor, depth + 1)?
        }
        code::BYTECODE => {
            let steps = instructions(cursor, depth)?;
            let sources = instructions(cursor, depth)?;
            Value::Traversal(Arc::new(Bytecode { sources, steps }))
        }
        code::LAMBDA => {
            return Err(Fault::refused("Lambdas are not supported; write the traversal with steps instead."));
        }
        code::P | code::TEXT_P => predicate(cursor, depth)?,
        code::TRAVERSER => return Err(Fault::refused("Traversers as arguments are not supported.")),
        code::BIG_DECIMAL => {
            let scale = cursor.i32()?;
            Value::BigDecimal(decimal::join(decimal::read_integer(cursor)?, scale)?)
        }
        code::BIG_INTEGER => Value::BigInteger(decimal::read_integer(cursor)?),
        code::BYTE => Value::Byte(cursor.i8()?),
        code::BYTE_BUFFER => {
            let length = cursor.length()?;
            Value::Bytes(Arc::from(cursor.take(length)?))
        }
        code::SHORT => Value::Int16(cursor.i16()?),
        code::BOOLEAN => Value::Bool(cursor.u8()? != 0),
        code::TRAVERSAL_STRATEGY => strategy(cursor, depth)?,
        code::BULK_SET => {
            let mut items = Vec::new();
            for _ in 0..cursor.length()? {
                let item = value(cursor, depth + 1)?;
                let count = u64::try_from(cursor.i64()?);
                items.push((item, count.map_err(|_| Fault::new("A count of a bulk set is negative."))?));
            }
            Value::BulkSet(Arc::new(items))
        }
        code::TREE => Value::Tree(Arc::new(read_elements::tree(cursor, depth)?)),
        code::METRICS => read_elements::metrics(cursor, depth)?,
        code::TRAVERSAL_METRICS => read_elements::traversal_metrics(cursor, depth)?,
        code::CHAR => Value::Char(cursor.char()?),
        code::DURATION => {
            let (seconds, nanoseconds) = (cursor.i64()?, cursor.i32()?);
            Value::Duration(i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds))
        }
        code::INSTANT => {
            let (seconds, nanoseconds) = (cursor.i64()?, cursor.i32()?);
            let milliseconds = i128::from(seconds) * 1000 + i128::from(nanoseconds) / 1_000_000;
            let milliseconds =
                i64::try_from(milliseconds).map_err(|_| Fault::new("A date is too far away."))?;
            Value::Date { milliseconds, offset_seconds: 0 }
        }
        code::LOCAL_DATE | code::LOCAL_DATE_TIME | code::OFFSET_DATE_TIME => date(cursor, code)?,
        _ => return token(cursor, code, depth),
    })
}

fn token(cursor: &mut Cursor<'_>, code: u8, depth: usize) -> Result<Value, Fault> {
    let Some((kind, _)) = TOKENS.iter().find(|(_, other)| *other == code) else {
        return Err(Fault::new(format!("Unknown GraphBinary type encountered: 0x{code:02x}.")));
    };
    let Value::String(word) = value(cursor, depth + 1)? else {
        return Err(Fault::new(format!("A word of {} is not a string.", kind.name())));
    };
    match Token::find(*kind, &word) {
        Some(token) => Ok(Value::Token(token)),
        None => Err(Fault::new(format!("{} has no '{}'.", kind.name(), short(&word)))),
    }
}

fn date(cursor: &mut Cursor<'_>, code: u8) -> Result<Value, Fault> {
    let mut civil =
        Civil { year: i64::from(cursor.i32()?), month: cursor.u8()?, day: cursor.u8()?, ms_of_day: 0 };
    if code != code::LOCAL_DATE {
        civil.ms_of_day = cursor.i64()?.div_euclid(1_000_000);
    }
    let offset_seconds = if code == code::OFFSET_DATE_TIME { cursor.i32()? } else { 0 };
    if offset_seconds.unsigned_abs() > MAX_OFFSET_SECONDS.unsigned_abs() {
        return Err(Fault::new("The offset of a date is more than 18 hours."));
    }
    match civil.milliseconds(offset_seconds) {
        Some(milliseconds) => Ok(Value::Date { milliseconds, offset_seconds }),
        None => Err(Fault::new("There is no such date.")),
    }
}

pub(super) fn list(cursor: &mut Cursor<'_>, depth: usize) -> Result<Vec<Value>, Fault> {
    let length = cursor.length()?;
    let mut items = Vec::with_capacity(length.min(MAX_ROOM));
    for _ in 0..length {
        items.push(value(cursor, depth + 1)?);
    }
    Ok(items)
}

/// Reads a map without its type and flag.
pub(crate) fn bare_map(cursor: &mut Cursor<'_>, depth: usize) -> Result<Map, Fault> {
    let length = cursor.length()?;
    let mut entries = Vec::with_capacity(length.min(MAX_ROOM));
    for _ in 0..length {
        let key = value(cursor, depth + 1)?;
        let item = value(cursor, depth + 1);
        let item = match &key {
            Value::String(name) => item.map_err(|fault| fault.within(name))?,
            _ => item?,
        };
        entries.push((key, item));
    }
    Ok(Map { entries })
}

fn instructions(cursor: &mut Cursor<'_>, depth: usize) -> Result<Vec<Instruction>, Fault> {
    let length = cursor.length()?;
    let mut instructions = Vec::with_capacity(length.min(MAX_ROOM));
    for _ in 0..length {
        let name = cursor.string()?;
        let arguments = list(cursor, depth).map_err(|fault| fault.within(&name))?;
        instructions.push(Instruction { name, arguments, position: None });
    }
    Ok(instructions)
}

fn predicate(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Fault> {
    let name = cursor.str()?;
    let mut values = list(cursor, depth)?;
    let Some((kind, takes)) = predicates::find(name) else {
        return Err(Fault::new(format!("The predicate '{}' is not known.", short(name))));
    };
    // Drivers write the values of `within` one by one, or as one collection.
    if takes == predicates::Takes::Any
        && let [Value::List(items) | Value::Set(items)] = values.as_slice()
    {
        values = items.to_vec();
    }
    match predicates::checked(kind, values) {
        Some(predicate) => Ok(Value::Predicate(Arc::new(predicate))),
        None => Err(Fault::new(format!("The predicate '{name}' has the wrong number or kind of values."))),
    }
}

fn strategy(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Fault> {
    let name = Arc::from(simple_name(cursor.str()?));
    let mut configuration = Vec::new();
    for (key, value) in bare_map(cursor, depth)?.entries {
        let Value::String(key) = key else {
            return Err(Fault::new(format!("A key of the configuration of {name} is not a string.")));
        };
        configuration.push((key, value));
    }
    Ok(Value::Strategy { name, configuration: Arc::new(configuration) })
}
