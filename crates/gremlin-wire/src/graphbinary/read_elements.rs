//! Reading elements of a graph, paths, trees and metrics from GraphBinary.

use std::sync::Arc;

use armilla_gremlin_value::{Edge, Map, Path, Property, Tree, TreeBranch, Value, Vertex, VertexProperty};

use super::Cursor;
use super::read::{bare_map, list, value};
use crate::error::Fault;
use crate::limits::MAX_VALUE_DEPTH;

/// Reads the properties of an element, which some writers leave out.
fn properties(cursor: &mut Cursor<'_>, depth: usize) -> Result<Option<Vec<Value>>, Fault> {
    match value(cursor, depth + 1)? {
        Value::Null => Ok(None),
        Value::List(items) => Ok(Some(Arc::unwrap_or_clone(items))),
        _ => Err(Fault::new("The properties of an element are not a list.")),
    }
}

fn plain_properties(items: Vec<Value>) -> Result<Vec<Arc<Property>>, Fault> {
    let property = |item| match item {
        Value::Property(property) => Ok(property),
        _ => Err(Fault::new("A property is not a Property.")),
    };
    items.into_iter().map(property).collect()
}

pub(super) fn vertex(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Fault> {
    let id = value(cursor, depth + 1)?;
    let label = cursor.string()?;
    let properties = match properties(cursor, depth)? {
        None => None,
        Some(items) => {
            let mut by_key: Vec<(Arc<str>, Vec<Arc<VertexProperty>>)> = Vec::new();
            for item in items {
                let Value::VertexProperty(property) = item else {
                    return Err(Fault::new("A property of a vertex is not a VertexProperty."));
                };
                // Those of one key follow each other.
                match by_key.last_mut().filter(|(key, _)| *key == property.key) {
                    Some((_, values)) => values.push(property),
                    None => by_key.push((property.key.clone(), vec![property])),
                }
            }
            Some(Arc::new(by_key))
        }
    };
    Ok(Value::Vertex(Arc::new(Vertex { id, label, partition: None, properties, version: None })))
}

pub(super) fn edge(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Fault> {
    let id = value(cursor, depth + 1)?;
    let label = cursor.string()?;
    let (in_id, in_label) = (value(cursor, depth + 1)?, cursor.string()?);
    let (out_id, out_label) = (value(cursor, depth + 1)?, cursor.string()?);
    value(cursor, depth + 1)?;
    let properties = properties(cursor, depth)?.map(plain_properties).transpose()?.map(Arc::new);
    Ok(Value::Edge(Arc::new(Edge {
        id,
        label,
        partition: None,
        out_id,
        out_label,
        in_id,
        in_label,
        in_partition: None,
        properties,
        version: None,
    })))
}

pub(super) fn vertex_property(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Fault> {
    let id = value(cursor, depth + 1)?;
    let key = cursor.string()?;
    let item = value(cursor, depth + 1)?;
    let vertex = match value(cursor, depth + 1)? {
        Value::Vertex(vertex) => Some(vertex),
        _ => None,
    };
    let properties = plain_properties(properties(cursor, depth)?.unwrap_or_default())?;
    Ok(Value::VertexProperty(Arc::new(VertexProperty { id, key, value: item, properties, vertex })))
}

pub(super) fn property(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Fault> {
    let key = cursor.string()?;
    let item = value(cursor, depth + 1)?;
    let element = match value(cursor, depth + 1)? {
        Value::Null => None,
        element => Some(element),
    };
    Ok(Value::Property(Arc::new(Property { key, value: item, element })))
}

pub(super) fn path(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Fault> {
    let wrong = || Fault::new("A path is not a list of labels and a list of objects.");
    let Value::List(lists) = value(cursor, depth + 1)? else { return Err(wrong()) };
    let Value::List(objects) = value(cursor, depth + 1)? else { return Err(wrong()) };
    let mut labels = Vec::with_capacity(lists.len());
    for list in lists.iter() {
        let (Value::Set(list) | Value::List(list)) = list else { return Err(wrong()) };
        let label = |label: &Value| match label {
            Value::String(label) => Ok(label.clone()),
            _ => Err(wrong()),
        };
        labels.push(list.iter().map(label).collect::<Result<_, _>>()?);
    }
    if labels.len() != objects.len() {
        return Err(Fault::new("A path has another number of labels than of objects."));
    }
    Ok(Value::Path(Arc::new(Path { labels, objects: Arc::unwrap_or_clone(objects) })))
}

pub(super) fn tree(cursor: &mut Cursor<'_>, depth: usize) -> Result<Tree, Fault> {
    if depth > MAX_VALUE_DEPTH {
        return Err(Fault::new(format!("A tree is deeper than {MAX_VALUE_DEPTH} levels.")));
    }
    let mut branches = Vec::new();
    for _ in 0..cursor.length()? {
        let key = value(cursor, depth + 1)?;
        branches.push(TreeBranch { key, below: tree(cursor, depth + 1)? });
    }
    Ok(Tree { branches })
}

/// Returns nanoseconds as the milliseconds that metrics have elsewhere.
fn milliseconds(nanoseconds: i64) -> Value {
    Value::Double(nanoseconds as f64 / 1e6)
}

fn entry(name: &str, value: Value) -> (Value, Value) {
    (Value::String(Arc::from(name)), value)
}

/// Reads the metrics of a step.
pub(super) fn metrics(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Fault> {
    let id = Value::String(cursor.string()?);
    let name = Value::String(cursor.string()?);
    let duration = milliseconds(cursor.i64()?);
    let counts = bare_map(cursor, depth)?;
    let annotations = bare_map(cursor, depth)?;
    let below = list(cursor, depth)?;
    let mut entries = vec![entry("dur", duration), entry("counts", Value::Map(Arc::new(counts)))];
    entries.push(entry("name", name));
    entries.push(entry("annotations", Value::Map(Arc::new(annotations))));
    entries.push(entry("id", id));
    entries.push(entry("metrics", Value::List(Arc::new(below))));
    Ok(Value::Metrics(Arc::new(Map { entries })))
}

/// Reads the metrics of a traversal.
pub(super) fn traversal_metrics(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Fault> {
    let duration = milliseconds(cursor.i64()?);
    let steps = list(cursor, depth)?;
    let entries = vec![entry("dur", duration), entry("metrics", Value::List(Arc::new(steps)))];
    Ok(Value::Metrics(Arc::new(Map { entries })))
}
