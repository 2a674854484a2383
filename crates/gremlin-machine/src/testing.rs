//! A graph in memory, for tests: as simple as it can be, so that it is right.

mod data;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use armilla_gremlin_value::{Edge, Property, Value, Vertex, VertexProperty};

use crate::graph::{
    Adjacency, Adjacent, Cardinality, Direction, Dropped, Element, ElementId, Figures, Graph, GraphError,
    GraphErrorKind, GraphResult, Lookup, Need, NewEdge, NewProperty, NewVertex, Outcome, Pages, ReadyPages,
    Wanted,
};

pub use data::{classic, crew, modern, sink};

/// Elements of a page.
const PAGE_LEN: usize = 100;

/// A graph in memory.
#[derive(Debug, Default)]
pub struct MemoryGraph {
    vertices: RefCell<Vec<Arc<Vertex>>>,
    edges: RefCell<Vec<Arc<Edge>>>,
    next_id: Cell<u64>,
    figures: Cell<Figures>,
    outcome: Cell<Option<Outcome>>,
    checks_left: Cell<Option<u64>>,
}

impl MemoryGraph {
    /// Returns how the last traversal ended.
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome.get()
    }

    /// Lets traversals go on for a number of checks, and then says that their time is up.
    pub fn end_after(&self, checks: u64) {
        self.checks_left.set(Some(checks));
    }

    /// Returns how many lookups were made.
    pub fn lookups(&self) -> u64 {
        self.figures.get().operations
    }

    /// Returns how many elements were read.
    pub fn items(&self) -> u64 {
        self.figures.get().items
    }

    fn count(&self, items: usize) {
        let mut figures = self.figures.get();
        figures.operations += 1;
        figures.items += items as u64;
        figures.partitions += 1;
        self.figures.set(figures);
    }

    fn new_id(&self) -> Value {
        self.next_id.set(self.next_id.get() + 1);
        Value::text(format!("new-{}", self.next_id.get()))
    }

    /// Makes ids of properties that order as they were made.
    fn new_property_id(&self) -> Value {
        self.next_id.set(self.next_id.get() + 1);
        Value::text(format!("property-{:08}", self.next_id.get()))
    }

    fn find_vertex(&self, id: &Value) -> Option<Arc<Vertex>> {
        let id = id.as_id_text();
        self.vertices.borrow().iter().find(|vertex| vertex.id.equals(&id)).cloned()
    }

    fn replace_vertex(&self, vertex: Vertex) -> Arc<Vertex> {
        let vertex = Arc::new(vertex);
        let mut vertices = self.vertices.borrow_mut();
        if let Some(place) = vertices.iter_mut().find(|other| other.id.equals(&vertex.id)) {
            *place = vertex.clone();
        }
        vertex
    }

    fn replace_edge(&self, edge: Edge) -> Arc<Edge> {
        let edge = Arc::new(edge);
        let mut edges = self.edges.borrow_mut();
        if let Some(place) = edges.iter_mut().find(|other| other.id.equals(&edge.id)) {
            *place = edge.clone();
        }
        edge
    }

    fn matching_vertices(&self, lookup: &Lookup) -> Vec<Arc<Vertex>> {
        let vertices = self.vertices.borrow();
        let found = vertices.iter().filter(|vertex| {
            named(lookup.ids.as_deref(), &vertex.id)
                && lookup.conditions.iter().all(|condition| condition.holds_for_vertex(vertex))
        });
        found.take(limit(lookup.limit)).map(|vertex| shown(vertex, lookup.need)).collect()
    }

    fn matching_edges(&self, lookup: &Lookup) -> Vec<Arc<Edge>> {
        let edges = self.edges.borrow();
        let found = edges.iter().filter(|edge| {
            named(lookup.ids.as_deref(), &edge.id)
                && lookup.conditions.iter().all(|condition| condition.holds_for_edge(edge))
        });
        found.take(limit(lookup.limit)).map(|edge| shown_edge(edge, lookup.need)).collect()
    }

    fn found_adjacent(&self, request: &Adjacency) -> Vec<Adjacent> {
        let ids = request.vertices.iter().enumerate();
        let places: HashMap<&str, usize> =
            ids.filter_map(|(source, vertex)| Some((vertex.id.as_str()?, source))).collect();
        let place = |id: &Value| id.as_str().and_then(|id| places.get(id).copied());
        let mut by_source: Vec<Vec<Adjacent>> = vec![Vec::new(); request.vertices.len()];
        for edge in self.edges.borrow().iter() {
            let labelled = request.labels.is_empty() || request.labels.contains(&edge.label);
            if !labelled || !request.edge_conditions.iter().all(|condition| condition.holds_for_edge(edge)) {
                continue;
            }
            let out = if request.direction == Direction::In { None } else { place(&edge.out_id) };
            let into = if request.direction == Direction::Out { None } else { place(&edge.in_id) };
            for (source, other) in [(out, &edge.in_id), (into, &edge.out_id)] {
                let Some(source) = source else { continue };
                let element = match request.want {
                    Wanted::Edges(need) => Element::Edge(shown_edge(edge, need)),
                    Wanted::Vertices(need) => {
                        let Some(whole) = self.find_vertex(other) else { continue };
                        let mut conditions = request.vertex_conditions.iter();
                        if !conditions.all(|condition| condition.holds_for_vertex(&whole)) {
                            continue;
                        }
                        Element::Vertex(shown(&whole, need))
                    }
                };
                if let Some(found) = by_source.get_mut(source) {
                    found.push(Adjacent { source, element });
                }
            }
        }
        let mut found: Vec<Adjacent> = by_source.into_iter().flatten().collect();
        found.truncate(limit(request.limit));
        found
    }
}

fn limit(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

fn named(ids: Option<&[ElementId]>, id: &Value) -> bool {
    let Some(ids) = ids else { return true };
    ids.iter().any(|named| match named {
        ElementId::Id(named) | ElementId::InPartition { id: named, .. } => {
            named.as_id_text().equals(&id.as_id_text())
        }
    })
}

fn shown(vertex: &Arc<Vertex>, need: Need) -> Arc<Vertex> {
    match need {
        Need::Whole => vertex.clone(),
        Need::Reference => Arc::new(vertex.reference()),
    }
}

fn shown_edge(edge: &Arc<Edge>, need: Need) -> Arc<Edge> {
    match need {
        Need::Whole => edge.clone(),
        Need::Reference => Arc::new(Edge { properties: None, ..edge.as_ref().clone() }),
    }
}

impl Graph for MemoryGraph {
    fn check(&self) -> GraphResult<()> {
        match self.checks_left.get() {
            Some(0) => Err(GraphError::new(GraphErrorKind::TimedOut, "The time of the traversal is up")),
            left => {
                self.checks_left.set(left.map(|left| left - 1));
                Ok(())
            }
        }
    }

    fn finish(&self, outcome: Outcome) -> GraphResult<()> {
        self.outcome.set(Some(outcome));
        Ok(())
    }

    fn figures(&self) -> Figures {
        self.figures.get()
    }

    fn vertices<'a>(&'a self, lookup: &Lookup) -> GraphResult<Box<dyn Pages<Arc<Vertex>> + 'a>> {
        let found = self.matching_vertices(lookup);
        self.count(found.len());
        Ok(Box::new(ReadyPages::new(found, PAGE_LEN)))
    }

    fn edges<'a>(&'a self, lookup: &Lookup) -> GraphResult<Box<dyn Pages<Arc<Edge>> + 'a>> {
        let found = self.matching_edges(lookup);
        self.count(found.len());
        Ok(Box::new(ReadyPages::new(found, PAGE_LEN)))
    }

    fn count_vertices(&self, lookup: &Lookup) -> GraphResult<u64> {
        self.count(0);
        Ok(self.matching_vertices(lookup).len() as u64)
    }

    fn count_edges(&self, lookup: &Lookup) -> GraphResult<u64> {
        self.count(0);
        Ok(self.matching_edges(lookup).len() as u64)
    }

    fn adjacent<'a>(&'a self, request: &Adjacency) -> GraphResult<Box<dyn Pages<Adjacent> + 'a>> {
        let found = self.found_adjacent(request);
        self.count(found.len());
        Ok(Box::new(ReadyPages::new(found, PAGE_LEN)))
    }

    fn count_adjacent(&self, request: &Adjacency) -> GraphResult<Vec<u64>> {
        self.count(0);
        let mut counts = vec![0; request.vertices.len()];
        for adjacent in self.found_adjacent(request) {
            if let Some(count) = counts.get_mut(adjacent.source) {
                *count += 1;
            }
        }
        Ok(counts)
    }

    fn load_vertices(&self, references: &[Arc<Vertex>]) -> GraphResult<Vec<Option<Arc<Vertex>>>> {
        self.count(references.len());
        Ok(references.iter().map(|reference| self.find_vertex(&reference.id)).collect())
    }

    fn load_edges(&self, references: &[Arc<Edge>]) -> GraphResult<Vec<Option<Arc<Edge>>>> {
        self.count(references.len());
        let edges = self.edges.borrow();
        Ok(references
            .iter()
            .map(|reference| edges.iter().find(|edge| edge.id.equals(&reference.id)).cloned())
            .collect())
    }

    fn add_vertex(&self, vertex: NewVertex) -> GraphResult<Arc<Vertex>> {
        let id = vertex.id.map_or_else(|| self.new_id(), |id| id.as_id_text());
        if self.find_vertex(&id).is_some() {
            return Err(GraphError::new(
                GraphErrorKind::Storage,
                "Conflicting request to resource has been attempted.",
            ));
        }
        let label = vertex.label.unwrap_or_else(|| "vertex".into());
        let added = Vertex { id, label, partition: None, properties: Some(Arc::default()), version: None };
        let added = Arc::new(added);
        self.vertices.borrow_mut().push(added.clone());
        self.set_vertex_properties(&added, &vertex.properties)
    }

    fn add_edge(&self, edge: NewEdge) -> GraphResult<Arc<Edge>> {
        let id = edge.id.map_or_else(|| self.new_id(), |id| id.as_id_text());
        let properties = edge
            .properties
            .into_iter()
            .map(|(key, value)| Arc::new(Property { key, value, element: None }))
            .collect();
        let added = Arc::new(Edge {
            id,
            label: edge.label,
            partition: None,
            out_id: edge.out_vertex.id.clone(),
            out_label: edge.out_vertex.label.clone(),
            in_id: edge.in_vertex.id.clone(),
            in_label: edge.in_vertex.label.clone(),
            in_partition: None,
            properties: Some(Arc::new(properties)),
            version: None,
        });
        self.edges.borrow_mut().push(added.clone());
        Ok(added)
    }

    fn set_vertex_properties(&self, vertex: &Arc<Vertex>, new: &[NewProperty]) -> GraphResult<Arc<Vertex>> {
        let Some(now) = self.find_vertex(&vertex.id) else {
            return Err(GraphError::new(GraphErrorKind::Storage, "Resource Not Found"));
        };
        let mut properties = now.properties.as_deref().cloned().unwrap_or_default();
        for property in new {
            let meta = property.meta.iter().map(|(key, value)| {
                Arc::new(Property { key: key.clone(), value: value.clone(), element: None })
            });
            let added = Arc::new(VertexProperty {
                id: self.new_property_id(),
                key: property.key.clone(),
                value: property.value.clone(),
                properties: meta.collect(),
                vertex: Some(Arc::new(now.reference())),
            });
            let place = match properties.iter().position(|(key, _)| *key == property.key) {
                Some(place) => place,
                None => {
                    properties.push((property.key.clone(), Vec::new()));
                    properties.len() - 1
                }
            };
            if matches!(property.value, Value::Null) {
                properties.remove(place);
                continue;
            }
            let Some((_, values)) = properties.get_mut(place) else { continue };
            match property.cardinality.unwrap_or(Cardinality::Single) {
                Cardinality::Single => *values = vec![added],
                Cardinality::List => values.push(added),
                Cardinality::Set => {
                    values.retain(|value| !value.value.equals(&added.value));
                    values.push(added);
                }
            }
        }
        Ok(self.replace_vertex(Vertex { properties: Some(Arc::new(properties)), ..now.as_ref().clone() }))
    }

    fn set_edge_properties(&self, edge: &Arc<Edge>, new: &[(Arc<str>, Value)]) -> GraphResult<Arc<Edge>> {
        let mut properties = edge.properties.as_deref().cloned().unwrap_or_default();
        for (key, value) in new {
            properties.retain(|property| property.key != *key);
            if !matches!(value, Value::Null) {
                properties.push(Arc::new(Property { key: key.clone(), value: value.clone(), element: None }));
            }
        }
        Ok(self.replace_edge(Edge { properties: Some(Arc::new(properties)), ..edge.as_ref().clone() }))
    }

    fn set_meta_properties(
        &self,
        vertex: &Arc<Vertex>,
        property_id: &Value,
        new: &[(Arc<str>, Value)],
    ) -> GraphResult<Arc<Vertex>> {
        let Some(now) = self.find_vertex(&vertex.id) else {
            return Err(GraphError::new(GraphErrorKind::Storage, "Resource Not Found"));
        };
        let mut properties = now.properties.as_deref().cloned().unwrap_or_default();
        for value in properties.iter_mut().flat_map(|(_, values)| values) {
            if value.id.equals(property_id) {
                let changed = Arc::make_mut(value);
                for (key, value) in new {
                    changed.properties.retain(|property| property.key != *key);
                    let property = Property { key: key.clone(), value: value.clone(), element: None };
                    changed.properties.push(Arc::new(property));
                }
            }
        }
        Ok(self.replace_vertex(Vertex { properties: Some(Arc::new(properties)), ..now.as_ref().clone() }))
    }

    fn drop_all(&self, dropped: &[Dropped]) -> GraphResult<()> {
        for one in dropped {
            match one {
                Dropped::Vertex(vertex) => {
                    self.vertices.borrow_mut().retain(|other| !other.id.equals(&vertex.id));
                    self.edges
                        .borrow_mut()
                        .retain(|edge| !edge.out_id.equals(&vertex.id) && !edge.in_id.equals(&vertex.id));
                }
                Dropped::Edge(edge) => self.edges.borrow_mut().retain(|other| !other.id.equals(&edge.id)),
                Dropped::VertexProperty { vertex, id, .. } => {
                    let Some(now) = self.find_vertex(&vertex.id) else { continue };
                    let mut properties = now.properties.as_deref().cloned().unwrap_or_default();
                    properties.iter_mut().for_each(|(_, values)| values.retain(|value| !value.id.equals(id)));
                    properties.retain(|(_, values)| !values.is_empty());
                    self.replace_vertex(Vertex {
                        properties: Some(Arc::new(properties)),
                        ..now.as_ref().clone()
                    });
                }
                Dropped::EdgeProperty { edge, key } => {
                    let now = self.edges.borrow().iter().find(|other| other.id.equals(&edge.id)).cloned();
                    let Some(now) = now else { continue };
                    let mut properties = now.properties.as_deref().cloned().unwrap_or_default();
                    properties.retain(|property| property.key != *key);
                    self.replace_edge(Edge {
                        properties: Some(Arc::new(properties)),
                        ..now.as_ref().clone()
                    });
                }
                Dropped::MetaProperty { vertex, property_id, key, .. } => {
                    let Some(now) = self.find_vertex(&vertex.id) else { continue };
                    let mut properties = now.properties.as_deref().cloned().unwrap_or_default();
                    for value in properties.iter_mut().flat_map(|(_, values)| values) {
                        if value.id.equals(property_id) {
                            Arc::make_mut(value).properties.retain(|property| property.key != *key);
                        }
                    }
                    self.replace_vertex(Vertex {
                        properties: Some(Arc::new(properties)),
                        ..now.as_ref().clone()
                    });
                }
            }
        }
        Ok(())
    }
}

/// Makes a vertex of a data set; each value may have properties of its own.
pub(crate) fn put_vertex(graph: &MemoryGraph, id: u32, label: &str, properties: &[(&str, Value)]) {
    let properties = properties
        .iter()
        .map(|(key, value)| NewProperty {
            cardinality: Some(Cardinality::List),
            key: (*key).into(),
            value: value.clone(),
            meta: Vec::new(),
        })
        .collect();
    let vertex = NewVertex { id: Some(Value::text(id.to_string())), label: Some(label.into()), properties };
    // Ids of data sets are different, so that nothing can fail.
    let _ = graph.add_vertex(vertex);
}

/// Makes an edge of a data set.
pub(crate) fn put_edge(
    graph: &MemoryGraph,
    id: u32,
    out: u32,
    label: &str,
    into: u32,
    properties: &[(&str, Value)],
) {
    let find = |id: u32| graph.find_vertex(&Value::text(id.to_string()));
    let (Some(out_vertex), Some(in_vertex)) = (find(out), find(into)) else { return };
    let properties: BTreeMap<Arc<str>, Value> =
        properties.iter().map(|(key, value)| ((*key).into(), value.clone())).collect();
    let edge = NewEdge {
        id: Some(Value::text(id.to_string())),
        label: label.into(),
        out_vertex,
        in_vertex,
        properties: properties.into_iter().collect(),
    };
    let _ = graph.add_edge(edge);
}
