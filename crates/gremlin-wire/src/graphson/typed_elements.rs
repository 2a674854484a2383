//! Writing elements of a graph, paths and trees with types.

use armilla_gremlin_value::{Edge, Path, Property, Tree, Value, Vertex, VertexProperty};

use super::typed::TypedWriter;
use crate::WireError;

impl TypedWriter<'_> {
    fn head(&mut self, name: &str, id: &Value, label: &str) -> Result<(), WireError> {
        self.open(name);
        self.sink.raw(br#"{"id":"#);
        self.value(id)?;
        self.sink.raw(br#","label":"#);
        self.text(label);
        Ok(())
    }

    pub(super) fn vertex(&mut self, vertex: &Vertex) -> Result<(), WireError> {
        self.head("g:Vertex", &vertex.id, &vertex.label)?;
        if let Some(properties) = vertex.properties.as_ref().filter(|_| self.sink.with_properties()) {
            self.sink.raw(br#","properties":{"#);
            for (at, (key, values)) in properties.iter().enumerate() {
                self.comma(at);
                self.text(key);
                self.sink.raw(b":[");
                for (at, property) in values.iter().enumerate() {
                    self.comma(at);
                    self.vertex_property(property, None)?;
                }
                self.sink.byte(b']');
            }
            self.sink.byte(b'}');
        }
        self.sink.raw(b"}}");
        Ok(())
    }

    pub(super) fn edge(&mut self, edge: &Edge) -> Result<(), WireError> {
        self.head("g:Edge", &edge.id, &edge.label)?;
        self.sink.raw(br#","inVLabel":"#);
        self.text(&edge.in_label);
        self.sink.raw(br#","outVLabel":"#);
        self.text(&edge.out_label);
        self.sink.raw(br#","inV":"#);
        self.value(&edge.in_id)?;
        self.sink.raw(br#","outV":"#);
        self.value(&edge.out_id)?;
        if let Some(properties) = edge.properties.as_ref().filter(|_| self.sink.with_properties()) {
            self.sink.raw(br#","properties":{"#);
            for (at, property) in properties.iter().enumerate() {
                self.comma(at);
                self.text(&property.key);
                self.sink.byte(b':');
                self.property(property)?;
            }
            self.sink.byte(b'}');
        }
        self.sink.raw(b"}}");
        Ok(())
    }

    /// Writes a property of a vertex, with the id of the vertex where it does not stand inside of it.
    pub(super) fn vertex_property(
        &mut self,
        property: &VertexProperty,
        vertex: Option<&Vertex>,
    ) -> Result<(), WireError> {
        self.head("g:VertexProperty", &property.id, &property.key)?;
        self.sink.raw(br#","value":"#);
        self.value(&property.value)?;
        if let Some(vertex) = vertex {
            self.sink.raw(br#","vertex":"#);
            self.value(&vertex.id)?;
        }
        if !property.properties.is_empty() && self.sink.with_properties() {
            self.sink.raw(br#","properties":{"#);
            for (at, meta) in property.properties.iter().enumerate() {
                self.comma(at);
                self.text(&meta.key);
                self.sink.byte(b':');
                self.value(&meta.value)?;
            }
            self.sink.byte(b'}');
        }
        self.sink.raw(b"}}");
        Ok(())
    }

    pub(super) fn property(&mut self, property: &Property) -> Result<(), WireError> {
        self.open("g:Property");
        self.sink.raw(br#"{"key":"#);
        self.text(&property.key);
        self.sink.raw(br#","value":"#);
        self.value(&property.value)?;
        self.sink.raw(b"}}");
        Ok(())
    }

    pub(super) fn path(&mut self, path: &Path) -> Result<(), WireError> {
        self.open("g:Path");
        self.sink.raw(br#"{"labels":"#);
        self.open_list("g:List");
        for (at, labels) in path.labels.iter().enumerate() {
            self.comma(at);
            self.open_list("g:Set");
            for (at, label) in labels.iter().enumerate() {
                self.comma(at);
                self.text(label);
            }
            self.close_list();
        }
        self.close_list();
        self.sink.raw(br#","objects":"#);
        self.list("g:List", &path.objects)?;
        self.sink.raw(b"}}");
        Ok(())
    }

    pub(super) fn tree(&mut self, tree: &Tree) -> Result<(), WireError> {
        self.sink.enter()?;
        self.open("g:Tree");
        self.sink.byte(b'[');
        for (at, branch) in tree.branches.iter().enumerate() {
            self.comma(at);
            self.sink.raw(br#"{"key":"#);
            self.value(&branch.key)?;
            self.sink.raw(br#","value":"#);
            self.tree(&branch.below)?;
            self.sink.byte(b'}');
        }
        self.sink.raw(b"]}");
        self.sink.leave()
    }
}
