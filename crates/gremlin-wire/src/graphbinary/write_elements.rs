//! Writing elements of a graph, paths, trees and metrics of GraphBinary.

use std::sync::Arc;

use armilla_gremlin_value::{Edge, Map, Path, Property, Tree, Value, Vertex, VertexProperty};

use super::code;
use super::write::BinaryWriter;
use crate::WireError;

impl BinaryWriter<'_> {
    pub(super) fn vertex(&mut self, vertex: &Vertex) -> Result<(), WireError> {
        self.head(code::VERTEX);
        self.value(&vertex.id)?;
        self.bare_text(&vertex.label)?;
        let Some(properties) = vertex.properties.as_ref().filter(|_| self.sink.with_properties()) else {
            self.null();
            return Ok(());
        };
        self.head(code::LIST);
        self.length(properties.iter().map(|(_, values)| values.len()).sum())?;
        for property in properties.iter().flat_map(|(_, values)| values) {
            self.vertex_property(property)?;
        }
        Ok(())
    }

    pub(super) fn edge(&mut self, edge: &Edge) -> Result<(), WireError> {
        self.head(code::EDGE);
        self.value(&edge.id)?;
        self.bare_text(&edge.label)?;
        self.value(&edge.in_id)?;
        self.bare_text(&edge.in_label)?;
        self.value(&edge.out_id)?;
        self.bare_text(&edge.out_label)?;
        // The graph it belongs to, which is never told.
        self.null();
        match &edge.properties {
            Some(properties) if self.sink.with_properties() => self.properties(properties),
            _ => {
                self.null();
                Ok(())
            }
        }
    }

    fn properties(&mut self, properties: &[Arc<Property>]) -> Result<(), WireError> {
        self.head(code::LIST);
        self.length(properties.len())?;
        properties.iter().try_for_each(|property| self.property(property))
    }

    pub(super) fn vertex_property(&mut self, property: &VertexProperty) -> Result<(), WireError> {
        self.head(code::VERTEX_PROPERTY);
        self.value(&property.id)?;
        self.bare_text(&property.key)?;
        self.value(&property.value)?;
        self.null();
        if property.properties.is_empty() || !self.sink.with_properties() {
            self.null();
            return Ok(());
        }
        self.properties(&property.properties)
    }

    pub(super) fn property(&mut self, property: &Property) -> Result<(), WireError> {
        self.head(code::PROPERTY);
        self.bare_text(&property.key)?;
        self.value(&property.value)?;
        self.null();
        Ok(())
    }

    pub(super) fn path(&mut self, path: &Path) -> Result<(), WireError> {
        self.head(code::PATH);
        self.head(code::LIST);
        self.length(path.labels.len())?;
        for labels in &path.labels {
            self.head(code::SET);
            self.length(labels.len())?;
            for label in labels {
                self.text(label)?;
            }
        }
        self.list(code::LIST, &path.objects)
    }

    /// Writes a tree without its type.
    pub(super) fn tree(&mut self, tree: &Tree) -> Result<(), WireError> {
        self.sink.enter()?;
        self.length(tree.branches.len())?;
        for branch in &tree.branches {
            self.value(&branch.key)?;
            self.tree(&branch.below)?;
        }
        self.sink.leave()
    }

    /// Writes metrics: those of a step have an id, those of a traversal have none.
    pub(super) fn metrics(&mut self, map: &Map) -> Result<(), WireError> {
        let find = |name: &str| {
            let mut entries = map.entries.iter();
            entries
                .find(|(key, _)| matches!(key, Value::String(key) if &**key == name))
                .map(|(_, value)| value)
        };
        let nanoseconds = match find("dur") {
            Some(Value::Double(milliseconds)) => (milliseconds * 1e6).round() as i64,
            Some(Value::Int64(milliseconds)) => milliseconds.saturating_mul(1_000_000),
            Some(Value::Int32(milliseconds)) => i64::from(*milliseconds) * 1_000_000,
            _ => 0,
        };
        if let Some(Value::String(id)) = find("id") {
            self.head(code::METRICS);
            self.bare_text(id)?;
            match find("name") {
                Some(Value::String(name)) => self.bare_text(name)?,
                _ => self.bare_text("")?,
            }
            self.i64(nanoseconds);
            for name in ["counts", "annotations"] {
                match find(name) {
                    Some(Value::Map(map)) => {
                        self.bare_map(map.entries.iter().map(|(key, value)| (key, value)))?
                    }
                    _ => self.length(0)?,
                }
            }
        } else {
            self.head(code::TRAVERSAL_METRICS);
            self.i64(nanoseconds);
        }
        let Some(Value::List(below)) = find("metrics") else { return self.length(0) };
        self.length(below.len())?;
        for item in below.iter() {
            match item {
                // The metrics of a step as a plain map are metrics nonetheless.
                Value::Map(map) | Value::Metrics(map) => {
                    self.sink.enter()?;
                    self.metrics(map)?;
                    self.sink.leave()?;
                }
                other => self.value(other)?,
            }
        }
        Ok(())
    }
}
