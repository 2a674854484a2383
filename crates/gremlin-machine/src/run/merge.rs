//! `mergeV` and `mergeE`: find by a map, or add what the map says.

use std::sync::Arc;

use armilla_gremlin_value::{Map, Predicate, TokenKind, Value, Vertex};

use super::context::Context;
use super::mutate::{argument_value, lookup_id, vertex_of, write_property};
use super::traverser::{Batch, Traverser};
use crate::compile::arguments::{cardinality_value, element_token, token};
use crate::error::{MachineError, Result};
use crate::graph::{
    Adjacency, Cardinality, Condition, Direction, Element, Lookup, Need, NewEdge, NewProperty, NewVertex,
    Wanted,
};
use crate::step::{Argument, ElementToken, MergeStep, Step};

/// A map of a merge, taken apart.
#[derive(Debug, Default, Clone)]
struct Wish {
    id: Option<Value>,
    label: Option<Arc<str>>,
    out_vertex: Option<Value>,
    in_vertex: Option<Value>,
    properties: Vec<(Arc<str>, Value, Option<Cardinality>)>,
    /// The values of a partition that are searched.
    partition: Option<(Arc<str>, Vec<Value>)>,
}

pub(crate) fn apply<'p>(
    step: &'p Step,
    merge: &'p MergeStep,
    batch: Batch,
    cx: &mut Context<'p>,
) -> Result<Batch> {
    let mut results = Vec::with_capacity(batch.len());
    for traverser in batch {
        for value in one(merge, &traverser, cx)? {
            let mut next = traverser.to(value, &step.labels, cx.path);
            next.bulk = 1;
            results.push(next);
        }
    }
    Ok(results)
}

fn one<'p>(merge: &'p MergeStep, traverser: &Traverser, cx: &mut Context<'p>) -> Result<Vec<Value>> {
    let search = match &merge.search {
        None => Some(traverser.value.clone()),
        Some(argument) => argument_value(argument, traverser, cx)?,
    };
    let map = match search {
        Some(Value::Map(map)) => map,
        Some(Value::Null) | None => Arc::new(Map::default()),
        Some(value) => {
            return Err(MachineError::runtime(format!(
                "a merge searches by a map, not by a {}",
                value.type_word()
            )));
        }
    };
    let mut wish = wish_of(&map, merge.edges, "mergeV() and mergeE()")?;
    if merge.edges {
        wish.out_vertex = end(wish.out_vertex, merge, traverser, cx)?;
        wish.in_vertex = end(wish.in_vertex, merge, traverser, cx)?;
    }
    wish.partition = merge.partition.as_ref().map(|(key, read, _)| (key.clone(), read.clone()));
    let found = if merge.edges { find_edges(&wish, cx)? } else { find_vertices(&wish, cx)? };
    if found.is_empty() {
        return create(merge, wish, traverser, cx).map(|value| vec![value]);
    }
    let mut results = Vec::with_capacity(found.len());
    for value in found {
        let mut at = Traverser { value, ..traverser.clone() };
        if let Some(on_match) = &merge.on_match {
            let map = match argument_value(on_match, &at, cx)? {
                Some(Value::Map(map)) => map,
                Some(Value::Null) | None => Arc::default(),
                Some(_) => return Err(MachineError::runtime("option(onMatch) needs a map")),
            };
            for (key, value) in &map.entries {
                let Value::String(key) = key else {
                    return Err(MachineError::runtime(
                        "option(onMatch) expects keys of properties: ids and labels cannot change",
                    ));
                };
                let (cardinality, value) = match cardinality_value(value) {
                    Some((cardinality, value)) => (Some(cardinality), value),
                    None => (merge.match_cardinality, value.clone()),
                };
                visible(key)?;
                write_property(&mut at, cardinality, key, value, Vec::new(), cx)?;
            }
        }
        results.push(at.value);
    }
    Ok(results)
}

fn wish_of(map: &Map, edges: bool, what: &str) -> Result<Wish> {
    let mut wish = Wish::default();
    for (key, value) in &map.entries {
        let direction = token(key, TokenKind::Direction);
        match (key, element_token(key), direction) {
            (_, Some(ElementToken::Id), _) => {
                if matches!(value, Value::Null) {
                    return Err(MachineError::runtime(format!("{what} take no null as an id")));
                }
                wish.id = Some(value.clone());
            }
            (_, Some(ElementToken::Label), _) => match value {
                Value::String(label) => {
                    visible(label)?;
                    wish.label = Some(label.clone());
                }
                _ => {
                    return Err(MachineError::runtime(format!(
                        "{what} expect T.label value to be of String"
                    )));
                }
            },
            (_, _, Some("OUT")) if edges => wish.out_vertex = Some(value.clone()),
            (_, _, Some("IN")) if edges => wish.in_vertex = Some(value.clone()),
            (Value::String(key), ..) => {
                visible(key)?;
                let (cardinality, value) = match cardinality_value(value) {
                    Some((cardinality, value)) => (Some(cardinality), value),
                    None => (None, value.clone()),
                };
                wish.properties.push((key.clone(), value, cardinality));
            }
            _ => {
                return Err(MachineError::runtime(format!(
                    "{what} expect keys to be a String, T.id, T.label{}",
                    if edges { ", Direction.OUT or Direction.IN" } else { "" }
                )));
            }
        }
    }
    Ok(wish)
}

/// Refuses names that hide.
fn visible(name: &str) -> Result<()> {
    match name.starts_with('~') {
        true => Err(MachineError::runtime(format!("Property key can not be a hidden key: {name}"))),
        false => Ok(()),
    }
}

/// Resolves an end of an edge: a vertex, an id, a map of a vertex, or `Merge.outV` and `Merge.inV`.
fn end<'p>(
    value: Option<Value>,
    merge: &'p MergeStep,
    traverser: &Traverser,
    cx: &mut Context<'p>,
) -> Result<Option<Value>> {
    let Some(value) = value else { return Ok(None) };
    let option: Option<&'p Argument> = match token(&value, TokenKind::Merge) {
        Some("outV") => merge.out_vertex.as_ref(),
        Some("inV") => merge.in_vertex.as_ref(),
        _ => None,
    };
    let value = match option {
        Some(argument) => argument_value(argument, traverser, cx)?
            .ok_or_else(|| MachineError::runtime("an option of mergeE() for an end yields no vertex"))?,
        None => value,
    };
    if let Value::Map(map) = &value {
        let wish = wish_of(map, false, "options of mergeE()")?;
        return match find_vertices(&wish, cx)?.into_iter().next() {
            Some(found) => Ok(Some(found)),
            None => Err(MachineError::runtime("mergeE() finds no vertex for an end of the edge")),
        };
    }
    Ok(Some(value))
}

fn conditions_of(wish: &Wish) -> Vec<Condition> {
    let mut conditions = Vec::new();
    if let Some(label) = &wish.label {
        conditions.push(Condition::Label(Predicate::equal_to(Value::String(label.clone()))));
    }
    for (key, value, _) in &wish.properties {
        let predicate = Predicate::equal_to(value.clone());
        conditions.push(Condition::Property { key: key.clone(), predicate });
    }
    if let Some((key, read)) = &wish.partition {
        conditions.push(crate::compile::property_within(key, read.clone()));
    }
    conditions
}

fn find_vertices(wish: &Wish, cx: &mut Context<'_>) -> Result<Vec<Value>> {
    let ids = wish.id.as_ref().map(|id| vec![lookup_id(id)]);
    let lookup = Lookup { ids, conditions: conditions_of(wish), limit: None, need: Need::Whole };
    let mut found = Vec::new();
    let mut pages = cx.graph.vertices(&lookup)?;
    while let Some(page) = pages.next_page()? {
        found.extend(page.into_iter().map(Value::Vertex));
    }
    Ok(found)
}

fn find_edges(wish: &Wish, cx: &mut Context<'_>) -> Result<Vec<Value>> {
    let out = wish.out_vertex.clone().map(|value| existing(value, cx)).transpose()?;
    let into = wish.in_vertex.clone().map(|value| existing(value, cx)).transpose()?;
    let mut conditions = conditions_of(wish);
    let mut found = Vec::new();
    match (out, into) {
        (None, None) => {
            let ids = wish.id.as_ref().map(|id| vec![lookup_id(id)]);
            let lookup = Lookup { ids, conditions, limit: None, need: Need::Whole };
            let mut pages = cx.graph.edges(&lookup)?;
            while let Some(page) = pages.next_page()? {
                found.extend(page.into_iter().map(Value::Edge));
            }
        }
        (out, into) => {
            if let Some(id) = &wish.id {
                conditions.push(Condition::Id(Predicate::equal_to(id.clone())));
            }
            // An end that was named and is not there leaves nothing to find.
            let (Some(start), direction) = (match (&out, &into) {
                (Some(out), _) => (out.clone(), Direction::Out),
                (None, Some(into)) => (into.clone(), Direction::In),
                (None, None) => (None, Direction::Out),
            }) else {
                return Ok(found);
            };
            let request = Adjacency {
                vertices: vec![start],
                direction,
                labels: Vec::new(),
                edge_conditions: conditions,
                vertex_conditions: Vec::new(),
                want: Wanted::Edges(Need::Whole),
                limit: None,
            };
            let mut pages = cx.graph.adjacent(&request)?;
            while let Some(page) = pages.next_page()? {
                for adjacent in page {
                    let Element::Edge(edge) = adjacent.element else { continue };
                    let fits = match &into {
                        Some(Some(into)) => {
                            Value::Vertex(Arc::new(edge.in_vertex())).equals(&Value::Vertex(into.clone()))
                        }
                        Some(None) => false,
                        None => true,
                    };
                    if fits {
                        found.push(Value::Edge(edge));
                    }
                }
            }
        }
    }
    Ok(found)
}

/// Returns the vertex that a value is or names; none if there is none.
fn existing(value: Value, cx: &mut Context<'_>) -> Result<Option<Arc<Vertex>>> {
    if let Value::Vertex(vertex) = &value {
        let loaded = cx.graph.load_vertices(std::slice::from_ref(vertex))?;
        return Ok(loaded.into_iter().next().flatten());
    }
    let lookup = Lookup {
        ids: Some(vec![lookup_id(&value)]),
        conditions: Vec::new(),
        limit: Some(1),
        need: Need::Reference,
    };
    let mut pages = cx.graph.vertices(&lookup)?;
    while let Some(page) = pages.next_page()? {
        if let Some(vertex) = page.into_iter().next() {
            return Ok(Some(vertex));
        }
    }
    Ok(None)
}

fn create<'p>(
    merge: &'p MergeStep,
    search: Wish,
    traverser: &Traverser,
    cx: &mut Context<'p>,
) -> Result<Value> {
    let mut wish = search;
    if let Some(on_create) = &merge.on_create {
        let map = match argument_value(on_create, traverser, cx)? {
            Some(Value::Map(map)) => map,
            Some(Value::Null) | None => Arc::default(),
            Some(_) => return Err(MachineError::runtime("option(onCreate) needs a map")),
        };
        let mut more = wish_of(&map, merge.edges, "option(onCreate)")?;
        more.out_vertex = end(more.out_vertex, merge, traverser, cx)?;
        more.in_vertex = end(more.in_vertex, merge, traverser, cx)?;
        for (.., cardinality) in &mut more.properties {
            *cardinality = cardinality.or(merge.create_cardinality);
        }
        override_by(&mut wish, more)?;
    }
    if let Some((key, _, Some(write))) = &merge.partition {
        wish.properties.push((key.clone(), write.clone(), None));
    }
    if merge.edges {
        let not = |end: &str| {
            MachineError::runtime(format!(
                "{end} Vertex not specified - edge cannot be created: name it in mergeE()"
            ))
        };
        let out = wish.out_vertex.ok_or_else(|| not("Out"))?;
        let into = wish.in_vertex.ok_or_else(|| not("In"))?;
        let Some(label) = wish.label.or_else(|| Some("edge".into())) else { return Ok(Value::Null) };
        let out_vertex = end_of(out, cx)?;
        let in_vertex = end_of(into, cx)?;
        let properties = wish.properties.into_iter().map(|(key, value, _)| (key, value)).collect();
        let edge = cx.graph.add_edge(NewEdge { id: wish.id, label, out_vertex, in_vertex, properties })?;
        cx.wrote_edge(&edge);
        return Ok(Value::Edge(edge));
    }
    let properties = wish
        .properties
        .into_iter()
        .map(|(key, value, cardinality)| NewProperty { cardinality, key, value, meta: Vec::new() })
        .collect();
    let vertex = cx.graph.add_vertex(NewVertex { id: wish.id, label: wish.label, properties })?;
    cx.wrote_vertex(&vertex);
    Ok(Value::Vertex(vertex))
}

fn end_of(value: Value, cx: &mut Context<'_>) -> Result<Arc<Vertex>> {
    vertex_of(value, cx).map_err(|error| MachineError {
        message: format!("Vertex id could not be resolved from mergeE: {}", error.message),
        ..error
    })
}

/// Says whether two ends of edges, which are vertices or their ids, are the same.
fn same_end(left: &Value, right: &Value) -> bool {
    let id = |value: &Value| match value {
        Value::Vertex(vertex) => vertex.id.as_id_text(),
        value => value.as_id_text(),
    };
    id(left).equals(&id(right))
}

/// Adds what `onCreate` says, which may not contradict what was searched for.
fn override_by(wish: &mut Wish, more: Wish) -> Result<()> {
    let contradiction =
        || MachineError::runtime("option(onCreate) cannot override values from merge() argument");
    match (&wish.id, more.id) {
        (Some(before), Some(id)) if !before.equals(&id) => return Err(contradiction()),
        (None, Some(id)) => wish.id = Some(id),
        _ => {}
    }
    match (&wish.label, more.label) {
        (Some(before), Some(label)) if *before != label => return Err(contradiction()),
        (None, Some(label)) => wish.label = Some(label),
        _ => {}
    }
    for (before, now) in [(&wish.out_vertex, &more.out_vertex), (&wish.in_vertex, &more.in_vertex)] {
        if let (Some(before), Some(now)) = (before, now)
            && !same_end(before, now)
        {
            return Err(contradiction());
        }
    }
    wish.out_vertex = wish.out_vertex.take().or(more.out_vertex);
    wish.in_vertex = wish.in_vertex.take().or(more.in_vertex);
    for (key, value, cardinality) in more.properties {
        match wish.properties.iter_mut().find(|(other, ..)| *other == key) {
            Some(place) => {
                place.1 = value;
                place.2 = cardinality;
            }
            None => wish.properties.push((key, value, cardinality)),
        }
    }
    Ok(())
}
