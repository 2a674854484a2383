//! Writing values of GraphBinary. Elements are in `write_elements.rs`.

use armilla_gremlin_value::{Bytecode, Instruction, Value};

use super::{TOKENS, code, decimal};
use crate::sink::Sink;
use crate::time::Civil;
use crate::{WireError, predicates};

/// Writes values of GraphBinary.
#[derive(Debug)]
pub(crate) struct BinaryWriter<'b> {
    pub(super) sink: Sink<'b>,
}

impl<'b> BinaryWriter<'b> {
    pub(crate) fn new(sink: Sink<'b>) -> BinaryWriter<'b> {
        BinaryWriter { sink }
    }

    /// Writes a value with its type.
    pub(crate) fn value(&mut self, value: &Value) -> Result<(), WireError> {
        self.sink.enter()?;
        self.write(value)?;
        self.sink.leave()
    }

    /// Writes a traverser: a value and how often it came.
    pub(crate) fn traverser(&mut self, value: &Value, bulk: u64) -> Result<(), WireError> {
        self.head(code::TRAVERSER);
        self.i64(i64::try_from(bulk).unwrap_or(i64::MAX));
        self.value(value)
    }

    /// Writes a type and the flag of a value that is there.
    pub(super) fn head(&mut self, code: u8) {
        self.sink.raw(&[code, 0]);
    }

    /// Writes the flag of a value that is there and whose type is known.
    pub(crate) fn flag(&mut self) {
        self.sink.byte(0);
    }

    /// Begins a list of so many values.
    pub(crate) fn list_head(&mut self, count: usize) -> Result<(), WireError> {
        self.head(code::LIST);
        self.length(count)
    }

    pub(super) fn null(&mut self) {
        self.sink.raw(&[code::NULL, 1]);
    }

    pub(crate) fn i32(&mut self, number: i32) {
        self.sink.raw(&number.to_be_bytes());
    }

    pub(super) fn i64(&mut self, number: i64) {
        self.sink.raw(&number.to_be_bytes());
    }

    pub(crate) fn length(&mut self, length: usize) -> Result<(), WireError> {
        let too_long =
            || WireError::unserializable("A result has a list or string too long for GraphBinary.");
        self.i32(i32::try_from(length).map_err(|_| too_long())?);
        Ok(())
    }

    /// Writes a string without its type.
    pub(crate) fn bare_text(&mut self, text: &str) -> Result<(), WireError> {
        self.length(text.len())?;
        self.sink.raw(text.as_bytes());
        Ok(())
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<(), WireError> {
        self.head(code::STRING);
        self.bare_text(text)
    }

    fn write(&mut self, value: &Value) -> Result<(), WireError> {
        match value {
            Value::Null => self.null(),
            Value::Bool(value) => self.sink.raw(&[code::BOOLEAN, 0, u8::from(*value)]),
            Value::Byte(number) => self.sink.raw(&[code::BYTE, 0, number.to_be_bytes()[0]]),
            Value::Int16(number) => {
                self.head(code::SHORT);
                self.sink.raw(&number.to_be_bytes());
            }
            Value::Int32(number) => {
                self.head(code::INT);
                self.i32(*number);
            }
            Value::Int64(number) => {
                self.head(code::LONG);
                self.i64(*number);
            }
            Value::BigInteger(number) => {
                self.head(code::BIG_INTEGER);
                decimal::write_integer(self.sink.out, *number);
            }
            Value::Float(number) => {
                self.head(code::FLOAT);
                self.sink.raw(&number.to_be_bytes());
            }
            Value::Double(number) => {
                self.head(code::DOUBLE);
                self.sink.raw(&number.to_be_bytes());
            }
            Value::BigDecimal(text) => {
                let Some((unscaled, scale)) = decimal::split(text) else {
                    return Err(WireError::unserializable(format!(
                        "The decimal '{text}' is beyond GraphBinary's."
                    )));
                };
                self.head(code::BIG_DECIMAL);
                self.i32(scale);
                decimal::write_integer(self.sink.out, unscaled);
            }
            Value::Char(letter) => {
                self.head(code::CHAR);
                self.sink.raw(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Value::String(text) => self.text(text)?,
            Value::Uuid(id) => {
                self.head(code::UUID);
                self.sink.raw(&id.to_be_bytes());
            }
            Value::Date { milliseconds, offset_seconds } => self.date(*milliseconds, *offset_seconds),
            Value::Duration(nanoseconds) => {
                let seconds = i64::try_from(nanoseconds.div_euclid(1_000_000_000));
                let seconds = seconds.map_err(|_| WireError::unserializable("A duration is too long."))?;
                self.head(code::DURATION);
                self.i64(seconds);
                self.i32(nanoseconds.rem_euclid(1_000_000_000) as i32);
            }
            Value::Bytes(bytes) => {
                self.head(code::BYTE_BUFFER);
                self.length(bytes.len())?;
                self.sink.raw(bytes);
            }
            Value::List(items) => self.list(code::LIST, items)?,
            Value::Set(items) => self.list(code::SET, items)?,
            Value::BulkSet(items) => {
                self.head(code::BULK_SET);
                self.length(items.len())?;
                for (item, count) in items.iter() {
                    self.value(item)?;
                    self.i64(i64::try_from(*count).unwrap_or(i64::MAX));
                }
            }
            Value::Map(map) => {
                self.head(code::MAP);
                self.bare_map(map.entries.iter().map(|(key, value)| (key, value)))?;
            }
            Value::Entry(entry) => {
                self.head(code::MAP);
                self.bare_map(std::iter::once((&entry.0, &entry.1)))?;
            }
            Value::Vertex(vertex) => self.vertex(vertex)?,
            Value::Edge(edge) => self.edge(edge)?,
            Value::VertexProperty(property) => self.vertex_property(property)?,
            Value::Property(property) => self.property(property)?,
            Value::Path(path) => self.path(path)?,
            Value::Tree(tree) => {
                self.head(code::TREE);
                self.tree(tree)?;
            }
            Value::Token(token) => {
                let code =
                    TOKENS.iter().find(|(kind, _)| *kind == token.kind).map_or(code::NULL, |(_, code)| *code);
                self.head(code);
                self.text(token.word)?;
            }
            Value::Predicate(predicate) => {
                self.head(if predicates::is_text(predicate.kind) { code::TEXT_P } else { code::P });
                self.bare_text(predicates::name(predicate.kind))?;
                self.items(&predicate.values)?;
            }
            Value::Traversal(bytecode) => self.bytecode(bytecode)?,
            Value::Strategy { name, configuration } => {
                self.head(code::TRAVERSAL_STRATEGY);
                self.bare_text(name)?;
                self.length(configuration.len())?;
                for (key, value) in configuration.iter() {
                    self.text(key)?;
                    self.value(value)?;
                }
            }
            Value::Metrics(map) => self.metrics(map)?,
        }
        Ok(())
    }

    fn date(&mut self, milliseconds: i64, offset_seconds: i32) {
        let civil = Civil::at(milliseconds, offset_seconds);
        self.head(code::OFFSET_DATE_TIME);
        // Milliseconds of 64 bits stay within years of 32 bits.
        self.i32(civil.year as i32);
        self.sink.raw(&[civil.month, civil.day]);
        self.i64(civil.ms_of_day * 1_000_000);
        self.i32(offset_seconds);
    }

    pub(super) fn list(&mut self, code: u8, items: &[Value]) -> Result<(), WireError> {
        self.head(code);
        self.items(items)
    }

    pub(super) fn items(&mut self, items: &[Value]) -> Result<(), WireError> {
        self.length(items.len())?;
        items.iter().try_for_each(|item| self.value(item))
    }

    pub(super) fn bare_map<'v>(
        &mut self,
        entries: impl ExactSizeIterator<Item = (&'v Value, &'v Value)>,
    ) -> Result<(), WireError> {
        self.length(entries.len())?;
        for (key, value) in entries {
            self.value(key)?;
            self.value(value)?;
        }
        Ok(())
    }

    fn bytecode(&mut self, bytecode: &Bytecode) -> Result<(), WireError> {
        self.head(code::BYTECODE);
        self.instructions(&bytecode.steps)?;
        self.instructions(&bytecode.sources)
    }

    fn instructions(&mut self, instructions: &[Instruction]) -> Result<(), WireError> {
        self.length(instructions.len())?;
        for instruction in instructions {
            self.bare_text(&instruction.name)?;
            self.items(&instruction.arguments)?;
        }
        Ok(())
    }
}
