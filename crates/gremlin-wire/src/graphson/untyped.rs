//! Writing values without types, in the shape that the service answers with.

use std::borrow::Cow;
use std::io::Write;

use armilla_gremlin_value::{Edge, Instruction, Path, Property, Tree, Value, Vertex, VertexProperty};
use base64::Engine;

use crate::json::{self, is_number};
use crate::limits::MAX_KEY_BYTES;
use crate::predicates::{self, Takes};
use crate::sink::Sink;
use crate::{WireError, time, uuid};

/// Writes values without types.
#[derive(Debug)]
pub(crate) struct UntypedWriter<'b> {
    sink: Sink<'b>,
}

impl<'b> UntypedWriter<'b> {
    pub(crate) fn new(sink: Sink<'b>) -> UntypedWriter<'b> {
        UntypedWriter { sink }
    }

    /// Writes a value.
    pub(crate) fn value(&mut self, value: &Value) -> Result<(), WireError> {
        self.sink.enter()?;
        self.write(value)?;
        self.sink.leave()
    }

    /// Writes a traverser: a value and how often it came.
    pub(crate) fn traverser(&mut self, value: &Value, bulk: u64) -> Result<(), WireError> {
        self.sink.raw(br#"{"bulk":"#);
        json::write_integer(self.sink.out, i64::try_from(bulk).unwrap_or(i64::MAX));
        self.member("value", value)?;
        self.sink.byte(b'}');
        Ok(())
    }

    fn text(&mut self, text: &str) {
        json::write_text(self.sink.out, text);
    }

    fn comma(&mut self, at: usize) {
        if at > 0 {
            self.sink.byte(b',');
        }
    }

    /// Writes a member that is not the first; its name needs no escapes.
    fn member(&mut self, name: &str, value: &Value) -> Result<(), WireError> {
        self.name(name);
        self.value(value)
    }

    fn name(&mut self, name: &str) {
        self.sink.raw(b",\"");
        self.sink.raw(name.as_bytes());
        self.sink.raw(b"\":");
    }

    fn write(&mut self, value: &Value) -> Result<(), WireError> {
        let out = &mut *self.sink.out;
        match value {
            Value::Null => self.sink.raw(b"null"),
            Value::Bool(true) => self.sink.raw(b"true"),
            Value::Bool(false) => self.sink.raw(b"false"),
            Value::Byte(number) => json::write_integer(out, i64::from(*number)),
            Value::Int16(number) => json::write_integer(out, i64::from(*number)),
            Value::Int32(number) => json::write_integer(out, i64::from(*number)),
            Value::Int64(number) => json::write_integer(out, *number),
            Value::BigInteger(number) => {
                let _ = write!(out, "{number}");
            }
            Value::Float(number) => json::write_float(out, *number),
            Value::Double(number) => json::write_double(out, *number),
            Value::BigDecimal(number) if is_number(number) => self.sink.raw(number.as_bytes()),
            Value::BigDecimal(text) | Value::String(text) => self.text(text),
            Value::Char(letter) => self.text(letter.encode_utf8(&mut [0; 4])),
            Value::Uuid(id) => {
                out.push(b'"');
                uuid::write_uuid(out, *id);
                out.push(b'"');
            }
            Value::Date { milliseconds, .. } => json::write_integer(out, *milliseconds),
            Value::Duration(nanoseconds) => self.text(&time::duration_text(*nanoseconds)),
            Value::Bytes(bytes) => self.text(&base64::engine::general_purpose::STANDARD.encode(bytes)),
            Value::List(items) | Value::Set(items) => self.list(items)?,
            Value::BulkSet(items) => {
                self.sink.byte(b'[');
                let repeated = items.iter().flat_map(|(item, count)| (0..*count).map(move |_| item));
                for (at, item) in repeated.enumerate() {
                    self.comma(at);
                    self.value(item)?;
                }
                self.sink.byte(b']');
            }
            Value::Map(map) | Value::Metrics(map) => {
                self.map(map.entries.iter().map(|(key, value)| (key, value)))?;
            }
            Value::Entry(entry) => self.map(std::iter::once((&entry.0, &entry.1)))?,
            Value::Vertex(vertex) => self.vertex(vertex)?,
            Value::Edge(edge) => self.edge(edge)?,
            Value::VertexProperty(property) => self.vertex_property(property, Place::Alone)?,
            Value::Property(property) => self.property(property)?,
            Value::Path(path) => self.path(path)?,
            Value::Tree(tree) => self.tree(tree)?,
            Value::Token(token) => self.text(token.word),
            Value::Predicate(predicate) => {
                self.sink.raw(br#"{"predicate":"#);
                self.text(predicates::name(predicate.kind));
                self.name("value");
                match (predicates::takes(predicate.kind), predicate.values.as_slice()) {
                    (Takes::One | Takes::Predicate, [value]) => self.value(value)?,
                    (_, values) => self.list(values)?,
                }
                self.sink.byte(b'}');
            }
            Value::Traversal(bytecode) => {
                self.sink.raw(br#"{"source":"#);
                self.instructions(&bytecode.sources)?;
                self.name("step");
                self.instructions(&bytecode.steps)?;
                self.sink.byte(b'}');
            }
            Value::Strategy { name, configuration } => {
                self.sink.raw(br#"{"fqcn":"#);
                self.text(name);
                self.name("conf");
                self.entries(configuration.iter().map(|(key, value)| (Cow::Borrowed(&**key), value)))?;
                self.sink.byte(b'}');
            }
        }
        Ok(())
    }

    fn list(&mut self, items: &[Value]) -> Result<(), WireError> {
        self.sink.byte(b'[');
        for (at, item) in items.iter().enumerate() {
            self.comma(at);
            self.value(item)?;
        }
        self.sink.byte(b']');
        Ok(())
    }

    fn entries<'v>(
        &mut self,
        entries: impl Iterator<Item = (Cow<'v, str>, &'v Value)>,
    ) -> Result<(), WireError> {
        self.sink.byte(b'{');
        for (at, (key, value)) in entries.enumerate() {
            self.comma(at);
            self.text(&key);
            self.sink.byte(b':');
            self.value(value)?;
        }
        self.sink.byte(b'}');
        Ok(())
    }

    fn map<'v>(&mut self, entries: impl Iterator<Item = (&'v Value, &'v Value)>) -> Result<(), WireError> {
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

    fn instructions(&mut self, instructions: &[Instruction]) -> Result<(), WireError> {
        self.sink.byte(b'[');
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

    fn head(&mut self, id: &Value, label: &str) -> Result<(), WireError> {
        self.sink.raw(br#"{"id":"#);
        self.value(id)?;
        self.name("label");
        self.text(label);
        Ok(())
    }

    fn vertex(&mut self, vertex: &Vertex) -> Result<(), WireError> {
        self.head(&vertex.id, &vertex.label)?;
        self.sink.raw(br#","type":"vertex""#);
        if let Some(properties) = self.shown(vertex.properties.as_deref()) {
            self.sink.raw(br#","properties":{"#);
            for (at, (key, values)) in properties.iter().enumerate() {
                self.comma(at);
                self.text(key);
                self.sink.raw(b":[");
                for (at, property) in values.iter().enumerate() {
                    self.comma(at);
                    self.vertex_property(property, Place::InVertex)?;
                }
                self.sink.byte(b']');
            }
            self.sink.byte(b'}');
        }
        self.sink.byte(b'}');
        Ok(())
    }

    /// Returns properties that are written: the shape leaves out an empty list.
    fn shown<'v, T>(&self, properties: Option<&'v Vec<T>>) -> Option<&'v Vec<T>> {
        properties.filter(|list| self.sink.with_properties() && !list.is_empty())
    }

    fn edge(&mut self, edge: &Edge) -> Result<(), WireError> {
        self.head(&edge.id, &edge.label)?;
        self.sink.raw(br#","type":"edge","inVLabel":"#);
        self.text(&edge.in_label);
        self.name("outVLabel");
        self.text(&edge.out_label);
        self.member("inV", &edge.in_id)?;
        self.member("outV", &edge.out_id)?;
        if let Some(properties) = self.shown(edge.properties.as_deref()) {
            self.flat_properties(properties)?;
        }
        self.sink.byte(b'}');
        Ok(())
    }

    fn flat_properties(&mut self, properties: &[std::sync::Arc<Property>]) -> Result<(), WireError> {
        self.name("properties");
        self.entries(properties.iter().map(|property| (Cow::Borrowed(&*property.key), &property.value)))
    }

    fn vertex_property(&mut self, property: &VertexProperty, place: Place) -> Result<(), WireError> {
        self.sink.raw(br#"{"id":"#);
        self.value(&property.id)?;
        self.member("value", &property.value)?;
        if place == Place::Alone {
            self.name("label");
            self.text(&property.key);
        }
        if let Some(properties) = self.shown(Some(&property.properties)) {
            self.flat_properties(properties)?;
        }
        self.sink.byte(b'}');
        Ok(())
    }

    fn property(&mut self, property: &Property) -> Result<(), WireError> {
        self.sink.raw(br#"{"key":"#);
        self.text(&property.key);
        self.member("value", &property.value)?;
        self.sink.byte(b'}');
        Ok(())
    }

    fn path(&mut self, path: &Path) -> Result<(), WireError> {
        self.sink.raw(br#"{"labels":["#);
        for (at, labels) in path.labels.iter().enumerate() {
            self.comma(at);
            self.sink.byte(b'[');
            for (at, label) in labels.iter().enumerate() {
                self.comma(at);
                self.text(label);
            }
            self.sink.byte(b']');
        }
        self.sink.byte(b']');
        self.name("objects");
        self.list(&path.objects)?;
        self.sink.byte(b'}');
        Ok(())
    }

    fn tree(&mut self, tree: &Tree) -> Result<(), WireError> {
        self.sink.enter()?;
        self.sink.byte(b'{');
        for (at, branch) in tree.branches.iter().enumerate() {
            self.comma(at);
            let key = key_text(&branch.key, &self.sink)?;
            self.text(&key);
            self.sink.raw(br#":{"key":"#);
            self.value(&branch.key)?;
            self.name("value");
            self.tree(&branch.below)?;
            self.sink.byte(b'}');
        }
        self.sink.byte(b'}');
        self.sink.leave()
    }
}

/// Where a property of a vertex stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the vertex, under its key.
    InVertex,
    /// As a result of its own, which tells its key.
    Alone,
}

/// Returns the text of a key where JSON has no other: of an element its id, of a collection its JSON.
pub(super) fn key_text<'v>(key: &'v Value, around: &Sink<'_>) -> Result<Cow<'v, str>, WireError> {
    Ok(match key {
        Value::String(text) | Value::BigDecimal(text) => Cow::Borrowed(text),
        Value::Token(token) => Cow::Borrowed(token.word),
        Value::Vertex(vertex) => return key_text(&vertex.id, around),
        Value::Edge(edge) => return key_text(&edge.id, around),
        Value::VertexProperty(property) => return key_text(&property.id, around),
        Value::Property(property) => Cow::Borrowed(&property.key),
        Value::Char(letter) => Cow::Owned(letter.to_string()),
        Value::Uuid(id) => Cow::Owned(uuid::uuid_text(*id)),
        Value::Duration(nanoseconds) => Cow::Owned(time::duration_text(*nanoseconds)),
        Value::Bytes(bytes) => Cow::Owned(base64::engine::general_purpose::STANDARD.encode(bytes)),
        other => {
            let mut out = Vec::new();
            UntypedWriter::new(around.inside(&mut out, MAX_KEY_BYTES)).value(other)?;
            let text = String::from_utf8_lossy(&out);
            // Numbers that JSON writes as strings are no longer quoted within one.
            Cow::Owned(
                text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&text).to_owned(),
            )
        }
    })
}
