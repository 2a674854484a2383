//! Writing values with types: GraphSON 2.0 and 3.0. Elements are in `typed_elements.rs`.

use std::io::Write;

use armilla_gremlin_value::{Bytecode, Instruction, Map, Predicate, Value};
use base64::Engine;

use super::untyped::key_text;
use crate::json::{self, is_number};
use crate::predicates::{self, Takes};
use crate::sink::Sink;
use crate::{WireError, time, uuid};

/// A version of typed GraphSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// Collections have no types, and keys of maps are texts.
    Two,
    /// Collections have types, and keys of maps are values.
    Three,
}

/// Writes values with types.
#[derive(Debug)]
pub(crate) struct TypedWriter<'b> {
    pub(super) sink: Sink<'b>,
    pub(super) version: Version,
}

impl<'b> TypedWriter<'b> {
    pub(crate) fn new(sink: Sink<'b>, version: Version) -> TypedWriter<'b> {
        TypedWriter { sink, version }
    }

    /// Writes a value.
    pub(crate) fn value(&mut self, value: &Value) -> Result<(), WireError> {
        self.sink.enter()?;
        self.write(value)?;
        self.sink.leave()
    }

    /// Writes a traverser: a value and how often it came.
    pub(crate) fn traverser(&mut self, value: &Value, bulk: u64) -> Result<(), WireError> {
        self.sink.raw(br#"{"@type":"g:Traverser","@value":{"bulk":"#);
        self.long(i64::try_from(bulk).unwrap_or(i64::MAX));
        self.sink.raw(br#","value":"#);
        self.value(value)?;
        self.sink.raw(b"}}");
        Ok(())
    }

    /// Begins a typed value; `}` ends it.
    pub(super) fn open(&mut self, name: &str) {
        self.sink.raw(br#"{"@type":""#);
        self.sink.raw(name.as_bytes());
        self.sink.raw(br#"","@value":"#);
    }

    pub(super) fn text(&mut self, text: &str) {
        json::write_text(self.sink.out, text);
    }

    fn long(&mut self, number: i64) {
        self.integer("g:Int64", number);
    }

    fn integer(&mut self, name: &str, number: i64) {
        self.open(name);
        json::write_integer(self.sink.out, number);
        self.sink.byte(b'}');
    }

    fn typed_text(&mut self, name: &str, text: &str) {
        self.open(name);
        self.text(text);
        self.sink.byte(b'}');
    }

    fn write(&mut self, value: &Value) -> Result<(), WireError> {
        match value {
            Value::Null => self.sink.raw(b"null"),
            Value::Bool(true) => self.sink.raw(b"true"),
            Value::Bool(false) => self.sink.raw(b"false"),
            Value::Byte(number) => self.integer("gx:Byte", i64::from(*number)),
            Value::Int16(number) => self.integer("gx:Int16", i64::from(*number)),
            Value::Int32(number) => self.integer("g:Int32", i64::from(*number)),
            Value::Int64(number) => self.long(*number),
            Value::BigInteger(number) => {
                self.open("gx:BigInteger");
                let _ = write!(self.sink.out, "{number}}}");
            }
            Value::Float(number) => {
                self.open("g:Float");
                json::write_float(self.sink.out, *number);
                self.sink.byte(b'}');
            }
            Value::Double(number) => {
                self.open("g:Double");
                json::write_double(self.sink.out, *number);
                self.sink.byte(b'}');
            }
            Value::BigDecimal(number) => {
                self.open("gx:BigDecimal");
                match is_number(number) {
                    true => self.sink.raw(number.as_bytes()),
                    false => self.text(number),
                }
                self.sink.byte(b'}');
            }
            Value::Char(letter) => self.typed_text("gx:Char", letter.encode_utf8(&mut [0; 4])),
            Value::String(text) => self.text(text),
            Value::Uuid(id) => {
                self.open("g:UUID");
                self.sink.byte(b'"');
                uuid::write_uuid(self.sink.out, *id);
                self.sink.raw(b"\"}");
            }
            Value::Date { milliseconds, offset_seconds } => self.date(*milliseconds, *offset_seconds),
            Value::Duration(nanoseconds) => {
                self.typed_text("gx:Duration", &time::duration_text(*nanoseconds))
            }
            Value::Bytes(bytes) => {
                self.typed_text("gx:ByteBuffer", &base64::engine::general_purpose::STANDARD.encode(bytes));
            }
            Value::List(items) => self.list("g:List", items)?,
            Value::Set(items) => self.list("g:Set", items)?,
            Value::BulkSet(items) => self.bulk_set(items)?,
            Value::Map(map) => self.map(map)?,
            Value::Entry(entry) => self.entries(std::iter::once((&entry.0, &entry.1)))?,
            Value::Vertex(vertex) => self.vertex(vertex)?,
            Value::Edge(edge) => self.edge(edge)?,
            Value::VertexProperty(property) => self.vertex_property(property, property.vertex.as_deref())?,
            Value::Property(property) => self.property(property)?,
            Value::Path(path) => self.path(path)?,
            Value::Tree(tree) => self.tree(tree)?,
            Value::Token(token) => {
                self.sink.raw(br#"{"@type":"g:"#);
                self.sink.raw(token.kind.name().as_bytes());
                self.sink.raw(br#"","@value":"#);
                self.text(token.word);
                self.sink.byte(b'}');
            }
            Value::Predicate(predicate) => self.predicate(predicate)?,
            Value::Traversal(bytecode) => self.bytecode(bytecode)?,
            Value::Strategy { name, configuration } => {
                // Clients name strategies as they like.
                self.sink.raw(br#"{"@type":"#);
                self.text(&format!("g:{name}"));
                self.sink.raw(br#","@value":{"fqcn":"#);
                self.text(name);
                self.sink.raw(br#","conf":{"#);
                for (at, (key, value)) in configuration.iter().enumerate() {
                    self.comma(at);
                    self.text(key);
                    self.sink.byte(b':');
                    self.value(value)?;
                }
                self.sink.raw(b"}}}");
            }
            Value::Metrics(map) => {
                let is_step =
                    map.entries.iter().any(|(key, _)| matches!(key, Value::String(key) if &**key == "id"));
                self.open(if is_step { "g:Metrics" } else { "g:TraversalMetrics" });
                self.map(map)?;
                self.sink.byte(b'}');
            }
        }
        Ok(())
    }

    /// Writes a date: one without an offset is a `g:Date` for readers of version 2, who know no other.
    fn date(&mut self, milliseconds: i64, offset_seconds: i32) {
        match self.version == Version::Two && offset_seconds == 0 {
            true => self.integer("g:Date", milliseconds),
            false => self.typed_text("gx:OffsetDateTime", &time::date_text(milliseconds, offset_seconds)),
        }
    }

    pub(super) fn comma(&mut self, at: usize) {
        if at > 0 {
            self.sink.byte(b',');
        }
    }

    /// Begins a collection, with its type where the version has it.
    pub(super) fn open_list(&mut self, name: &str) {
        if self.version == Version::Three {
            self.open(name);
        }
        self.sink.byte(b'[');
    }

    pub(super) fn close_list(&mut self) {
        self.sink.raw(if self.version == Version::Three { b"]}" } else { b"]" });
    }

    pub(super) fn list(&mut self, name: &str, items: &[Value]) -> Result<(), WireError> {
        self.open_list(name);
        self.items(items)?;
        self.close_list();
        Ok(())
    }

    pub(super) fn items(&mut self, items: &[Value]) -> Result<(), WireError> {
        for (at, item) in items.iter().enumerate() {
            self.comma(at);
            self.value(item)?;
        }
        Ok(())
    }

    fn bulk_set(&mut self, items: &[(Value, u64)]) -> Result<(), WireError> {
        self.open_list("g:BulkSet");
        let mut written = 0;
        for (item, count) in items {
            // Version 2 has no such set: a list with every value as often as it occurs.
            let times = if self.version == Version::Three { 1 } else { *count };
            for _ in 0..times {
                self.comma(written);
                self.value(item)?;
                written += 1;
            }
            if self.version == Version::Three {
                self.sink.byte(b',');
                self.long(i64::try_from(*count).unwrap_or(i64::MAX));
            }
        }
        self.close_list();
        Ok(())
    }

    /// Writes the map alone.
    pub(crate) fn map(&mut self, map: &Map) -> Result<(), WireError> {
        self.entries(map.entries.iter().map(|(key, value)| (key, value)))
    }

    fn entries<'v>(
        &mut self,
        entries: impl Iterator<Item = (&'v Value, &'v Value)>,
    ) -> Result<(), WireError> {
        if self.version == Version::Three {
            self.open_list("g:Map");
            for (at, (key, value)) in entries.enumerate() {
                self.comma(at);
                self.value(key)?;
                self.sink.byte(b',');
                self.value(value)?;
            }
            self.close_list();
            return Ok(());
        }
        self.sink.byte(b'{');
        for (at, (key, value)) in entries.enumerate() {
            self.comma(at);
            let key = key_text(key, &self.sink)?;
            self.text(&key);
            self.sink.byte(b':');
            self.value(value)?;
        }
        self.sink.byte(b'}');
        Ok(())
    }

    fn predicate(&mut self, predicate: &Predicate) -> Result<(), WireError> {
        self.open(if predicates::is_text(predicate.kind) { "g:TextP" } else { "g:P" });
        self.sink.raw(br#"{"predicate":"#);
        self.text(predicates::name(predicate.kind));
        self.sink.raw(br#","value":"#);
        match (predicates::takes(predicate.kind), predicate.values.as_slice()) {
            (Takes::One | Takes::Predicate, [value]) => self.value(value)?,
            (Takes::Any, values) => self.list("g:List", values)?,
            (_, values) => {
                self.sink.byte(b'[');
                self.items(values)?;
                self.sink.byte(b']');
            }
        }
        self.sink.raw(b"}}");
        Ok(())
    }

    fn bytecode(&mut self, bytecode: &Bytecode) -> Result<(), WireError> {
        self.open("g:Bytecode");
        self.sink.byte(b'{');
        if !bytecode.sources.is_empty() {
            self.instructions("source", &bytecode.sources)?;
            self.comma(bytecode.steps.len());
        }
        if !bytecode.steps.is_empty() {
            self.instructions("step", &bytecode.steps)?;
        }
        self.sink.raw(b"}}");
        Ok(())
    }

    fn instructions(&mut self, name: &str, instructions: &[Instruction]) -> Result<(), WireError> {
        self.text(name);
        self.sink.raw(b":[");
        for (at, instruction) in instructions.iter().enumerate() {
            self.comma(at);
            self.sink.byte(b'[');
            self.text(&instruction.name);
            for argument in &instruction.arguments {
                self.sink.byte(b',');
                self.value(argument)?;
            }
            self.sink.byte(b']');
        }
        self.sink.byte(b']');
        Ok(())
    }
}
