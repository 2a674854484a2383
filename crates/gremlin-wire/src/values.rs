//! Values alone, in every format.

use armilla_gremlin_value::Value;

use crate::graphbinary::{self, BinaryWriter, Cursor};
use crate::graphson::{self, TypedWriter, UntypedWriter, Version};
use crate::json::Json;
use crate::sink::Sink;
use crate::{Format, Materialize, WireError};

/// Appends a value to a buffer, which may become `bound` bytes long.
///
/// After an error the buffer has a part of the value.
pub fn write_value(
    format: Format,
    value: &Value,
    materialize: Materialize,
    out: &mut Vec<u8>,
    bound: usize,
) -> Result<(), WireError> {
    let sink = Sink::new(out, bound, materialize);
    match format {
        Format::Untyped => UntypedWriter::new(sink).value(value),
        Format::GraphSon2Typed => TypedWriter::new(sink, Version::Two).value(value),
        Format::GraphSon3 => TypedWriter::new(sink, Version::Three).value(value),
        Format::GraphBinary => BinaryWriter::new(sink).value(value),
    }
}

/// Reads bytes that are one value.
pub fn read_value(format: Format, bytes: &[u8]) -> Result<Value, WireError> {
    if format.is_json() {
        return Ok(graphson::value(&Json::parse(bytes)?, 0)?);
    }
    let mut cursor = Cursor::new(bytes);
    let value = graphbinary::value(&mut cursor, 0)?;
    match cursor.is_at_end() {
        true => Ok(value),
        false => Err(WireError::malformed("There are bytes behind the value.")),
    }
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
