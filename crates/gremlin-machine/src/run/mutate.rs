//! Steps that write: `addV`, `addE`, `property`, `drop`; the merges are in `merge`.

use std::sync::Arc;

use armilla_gremlin_value::{Key, Value, Vertex};

use super::context::Context;
use super::simple::unfit;
use super::traverser::{Batch, Traverser};
use crate::error::{MachineError, Result};
use crate::graph::{Dropped, ElementId, Lookup, Need, NewEdge, NewProperty, NewVertex};
use crate::step::{Argument, End, Kind, PropertyKey, PropertySpec, Step};

pub(crate) fn apply<'p>(step: &'p Step, batch: Batch, cx: &mut Context<'p>) -> Result<Batch> {
    match &step.kind {
        Kind::AddVertex { label, properties } => {
            let mut added = Vec::with_capacity(batch.len());
            for traverser in batch {
                for _ in 0..traverser.bulk {
                    let vertex = add_vertex(label.as_ref(), properties, &traverser, cx)?;
                    let mut next = traverser.to(Value::Vertex(vertex), &step.labels, cx.path);
                    next.bulk = 1;
                    added.push(next);
                }
            }
            Ok(added)
        }
        Kind::AddEdge { label, from, to, properties } => {
            let mut added = Vec::with_capacity(batch.len());
            for traverser in batch {
                for _ in 0..traverser.bulk {
                    let edge = add_edge(label, from.as_ref(), to.as_ref(), properties, &traverser, cx)?;
                    let mut next = traverser.to(edge, &step.labels, cx.path);
                    next.bulk = 1;
                    added.push(next);
                }
            }
            Ok(added)
        }
        Kind::Property(specs) => {
            let mut batch = batch;
            for traverser in &mut batch {
                for spec in specs {
                    set_property(spec, traverser, cx)?;
                }
            }
            Ok(super::simple::labelled(step, batch, cx))
        }
        Kind::PropertyMap(argument) => {
            let mut batch = batch;
            for traverser in &mut batch {
                let Some(Value::Map(map)) = argument_value(argument, traverser, cx)? else {
                    return Err(MachineError::runtime("property() needs a map of properties"));
                };
                for (key, value) in &map.entries {
                    let Value::String(key) = key else {
                        return Err(MachineError::runtime("keys of properties are texts"));
                    };
                    let value = match crate::compile::arguments::cardinality_value(value) {
                        Some((cardinality, value)) => {
                            write_property(traverser, Some(cardinality), key, value, Vec::new(), cx)?;
                            continue;
                        }
                        None => value.clone(),
                    };
                    write_property(traverser, None, key, value, Vec::new(), cx)?;
                }
            }
            Ok(super::simple::labelled(step, batch, cx))
        }
        Kind::Drop => {
            let mut dropped = Vec::with_capacity(batch.len());
            for traverser in &batch {
                dropped.extend(dropped_of(&traverser.value)?);
            }
            cx.graph.drop_all(&dropped)?;
            for one in &dropped {
                match one {
                    Dropped::Vertex(vertex) => {
                        cx.vertices.insert(Key(Value::Vertex(vertex.clone())), None);
                    }
                    Dropped::Edge(edge) => {
                        cx.edges.insert(Key(Value::Edge(edge.clone())), None);
                    }
                    // What the graph has now is read again where it is asked for.
                    Dropped::VertexProperty { vertex, .. } | Dropped::MetaProperty { vertex, .. } => {
                        let reference = Arc::new(vertex.reference());
                        let loaded = cx.graph.load_vertices(std::slice::from_ref(&reference))?;
                        if let Some(Some(vertex)) = loaded.into_iter().next() {
                            cx.wrote_vertex(&vertex);
                        }
                    }
                    Dropped::EdgeProperty { edge, .. } => {
                        let loaded = cx.graph.load_edges(std::slice::from_ref(edge))?;
                        if let Some(Some(edge)) = loaded.into_iter().next() {
                            cx.wrote_edge(&edge);
                        }
                    }
                }
            }
            Ok(Vec::new())
        }
        Kind::Merge(merge) => super::merge::apply(step, merge, batch, cx),
        _ => Ok(batch),
    }
}

/// Returns the value of an argument for a traverser; none if a traversal yields nothing.
pub(crate) fn argument_value<'p>(
    argument: &'p Argument,
    traverser: &Traverser,
    cx: &mut Context<'p>,
) -> Result<Option<Value>> {
    match argument {
        Argument::Value(value) => Ok(Some(value.clone())),
        Argument::Child(child) => {
            let first = cx.firsts(child, std::slice::from_ref(traverser))?.pop().flatten();
            Ok(first.map(|first| first.value))
        }
    }
}

fn label_of(value: Value, what: &str) -> Result<Arc<str>> {
    match value {
        Value::String(label) if !label.is_empty() => Ok(label),
        value => {
            Err(MachineError::runtime(format!("the label of {what} is a text, not a {}", value.type_word())))
        }
    }
}

fn add_vertex<'p>(
    label: Option<&'p Argument>,
    specs: &'p [PropertySpec],
    traverser: &Traverser,
    cx: &mut Context<'p>,
) -> Result<Arc<Vertex>> {
    let mut new = NewVertex::default();
    if let Some(label) = label {
        let Some(value) = argument_value(label, traverser, cx)? else {
            return Err(MachineError::runtime("the traversal for the label of addV() yields nothing"));
        };
        new.label = Some(label_of(value, "a vertex")?);
    }
    for spec in specs {
        let Some(value) = argument_value(&spec.value, traverser, cx)? else { continue };
        match &spec.key {
            PropertyKey::Id => new.id = Some(value),
            PropertyKey::Label => new.label = Some(label_of(value, "a vertex")?),
            PropertyKey::Name(key) => {
                let mut meta = Vec::with_capacity(spec.meta.len());
                for (key, value) in &spec.meta {
                    if let Some(value) = argument_value(value, traverser, cx)? {
                        meta.push((key.clone(), value));
                    }
                }
                new.properties.push(NewProperty {
                    cardinality: spec.cardinality,
                    key: key.clone(),
                    value,
                    meta,
                });
            }
            PropertyKey::Child(_) => {}
        }
    }
    let vertex = cx.graph.add_vertex(new)?;
    cx.wrote_vertex(&vertex);
    Ok(vertex)
}

/// Finds the vertex at an end of a new edge.
fn end_of<'p>(end: Option<&'p End>, traverser: &Traverser, cx: &mut Context<'p>) -> Result<Arc<Vertex>> {
    let value = match end {
        // What is not named is the vertex that the traverser is at; no other value stands for one here.
        None => match &traverser.value {
            Value::Vertex(_) => traverser.value.clone(),
            _ => Value::Null,
        },
        Some(End::Label(label)) => {
            match super::select::find(traverser, &Value::String(label.clone()), None, cx)? {
                Some(value) => value,
                None => Value::String(label.clone()),
            }
        }
        Some(End::Id(id)) => id.clone(),
        Some(End::Child(child)) => match cx.firsts(child, std::slice::from_ref(traverser))?.pop().flatten() {
            Some(first) => first.value,
            None => {
                return Err(MachineError::runtime(
                    "The traversal for an end of the edge yields no vertex: give addE() two vertices that exist",
                ));
            }
        },
    };
    vertex_of(value, cx)
}

/// Returns the vertex that a value is or names.
pub(crate) fn vertex_of(value: Value, cx: &mut Context<'_>) -> Result<Arc<Vertex>> {
    match value {
        Value::Vertex(vertex) => Ok(vertex),
        Value::Null
        | Value::Edge(_)
        | Value::Map(_)
        | Value::VertexProperty(_)
        | Value::Property(_)
        | Value::Path(_) => {
            Err(MachineError::runtime("AddE should follow by a Vertex: an end of an edge must be a vertex"))
        }
        id => {
            let mut ids = Vec::new();
            super::lookup::element_ids(&id, false, true, &mut ids)?;
            let lookup =
                Lookup { ids: Some(ids), conditions: Vec::new(), limit: Some(1), need: Need::Reference };
            let mut pages = cx.graph.vertices(&lookup)?;
            while let Some(page) = pages.next_page()? {
                if let Some(vertex) = page.into_iter().next() {
                    return Ok(vertex);
                }
            }
            Err(MachineError::runtime(format!("there is no vertex {id} for an end of the edge")))
        }
    }
}

fn add_edge<'p>(
    label: &'p Argument,
    from: Option<&'p End>,
    to: Option<&'p End>,
    specs: &'p [PropertySpec],
    traverser: &Traverser,
    cx: &mut Context<'p>,
) -> Result<Value> {
    let Some(label) = argument_value(label, traverser, cx)? else {
        return Err(MachineError::runtime("the traversal for the label of addE() yields nothing"));
    };
    let mut label = label_of(label, "an edge")?;
    let out_vertex = end_of(from, traverser, cx)?;
    let in_vertex = end_of(to, traverser, cx)?;
    let mut id = None;
    let mut properties: Vec<(Arc<str>, Value)> = Vec::with_capacity(specs.len());
    for spec in specs {
        let Some(value) = argument_value(&spec.value, traverser, cx)? else { continue };
        match &spec.key {
            PropertyKey::Id => id = Some(value),
            PropertyKey::Label => label = label_of(value, "an edge")?,
            PropertyKey::Name(key) => match properties.iter_mut().find(|(other, _)| other == key) {
                Some((_, place)) => *place = value,
                None => properties.push((key.clone(), value)),
            },
            PropertyKey::Child(_) => {}
        }
    }
    let edge = cx.graph.add_edge(NewEdge { id, label, out_vertex, in_vertex, properties })?;
    cx.wrote_edge(&edge);
    Ok(Value::Edge(edge))
}

fn set_property<'p>(spec: &'p PropertySpec, traverser: &mut Traverser, cx: &mut Context<'p>) -> Result<()> {
    let Some(value) = argument_value(&spec.value, traverser, cx)? else { return Ok(()) };
    let key = match &spec.key {
        PropertyKey::Name(key) => key.clone(),
        PropertyKey::Child(child) => {
            match cx.firsts(child, std::slice::from_ref(traverser))?.pop().flatten().map(|first| first.value)
            {
                Some(Value::String(key)) => key,
                _ => {
                    return Err(MachineError::runtime(
                        "the traversal for the key of property() yields no text",
                    ));
                }
            }
        }
        PropertyKey::Id | PropertyKey::Label => {
            return Err(MachineError::runtime("the id and the label of an element cannot be changed"));
        }
    };
    let mut meta = Vec::with_capacity(spec.meta.len());
    for (key, value) in &spec.meta {
        if let Some(value) = argument_value(value, traverser, cx)? {
            meta.push((key.clone(), value));
        }
    }
    write_property(traverser, spec.cardinality, &key, value, meta, cx)
}

/// Sets a property of the element that a traverser is at.
pub(crate) fn write_property(
    traverser: &mut Traverser,
    cardinality: Option<crate::graph::Cardinality>,
    key: &Arc<str>,
    value: Value,
    meta: Vec<(Arc<str>, Value)>,
    cx: &mut Context<'_>,
) -> Result<()> {
    cx.hydrate_values(&mut [&mut traverser.value])?;
    match &traverser.value {
        Value::Vertex(vertex) => {
            let property = NewProperty { cardinality, key: key.clone(), value, meta };
            let vertex = cx.graph.set_vertex_properties(vertex, &[property])?;
            cx.wrote_vertex(&vertex);
            traverser.value = Value::Vertex(vertex);
        }
        Value::Edge(edge) => {
            if cardinality.is_some_and(|cardinality| cardinality != crate::graph::Cardinality::Single) {
                return Err(MachineError::runtime(
                    "Property cardinality can only be set for a Vertex but the traversal encountered Edge for key: "
                        .to_owned()
                        + key,
                ));
            }
            let edge = cx.graph.set_edge_properties(edge, &[(key.clone(), value)])?;
            cx.wrote_edge(&edge);
            traverser.value = Value::Edge(edge);
        }
        Value::VertexProperty(property) => {
            let Some(vertex) = property.vertex.clone() else {
                return Err(unfit("property", &traverser.value));
            };
            let written = cx.graph.set_meta_properties(&vertex, &property.id, &[(key.clone(), value)])?;
            let reference = Arc::new(written.reference());
            let now = written
                .values_of(&property.key)
                .unwrap_or_default()
                .iter()
                .find(|other| other.id.equals(&property.id))
                .map(|other| {
                    let other = other.as_ref().clone();
                    armilla_gremlin_value::VertexProperty { vertex: Some(reference), ..other }
                });
            cx.wrote_vertex(&written);
            if let Some(now) = now {
                traverser.value = Value::VertexProperty(Arc::new(now));
            }
        }
        value => return Err(unfit("property", value)),
    }
    Ok(())
}

fn dropped_of(value: &Value) -> Result<Option<Dropped>> {
    Ok(Some(match value {
        Value::Vertex(vertex) => Dropped::Vertex(vertex.clone()),
        Value::Edge(edge) => Dropped::Edge(edge.clone()),
        Value::VertexProperty(property) => match &property.vertex {
            Some(vertex) => Dropped::VertexProperty {
                vertex: vertex.clone(),
                key: property.key.clone(),
                id: property.id.clone(),
            },
            None => return Err(unfit("drop", value)),
        },
        Value::Property(property) => match &property.element {
            Some(Value::Edge(edge)) => {
                Dropped::EdgeProperty { edge: edge.clone(), key: property.key.clone() }
            }
            Some(Value::VertexProperty(of)) => match &of.vertex {
                Some(vertex) => Dropped::MetaProperty {
                    vertex: vertex.clone(),
                    property_key: of.key.clone(),
                    property_id: of.id.clone(),
                    key: property.key.clone(),
                },
                None => return Err(unfit("drop", value)),
            },
            _ => return Err(unfit("drop", value)),
        },
        value => return Err(unfit("drop", value)),
    }))
}

/// Makes the id of a lookup.
pub(crate) fn lookup_id(value: &Value) -> ElementId {
    ElementId::Id(value.clone())
}
