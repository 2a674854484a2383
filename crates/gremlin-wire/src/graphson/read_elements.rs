//! Reading elements of a graph, paths and trees from GraphSON.

use std::sync::Arc;

use armilla_gremlin_value::{Edge, Path, Property, Tree, TreeBranch, Value, Vertex, VertexProperty};

use super::read::{items, members, value};
use crate::error::Fault;
use crate::json::Json;
use crate::limits::MAX_VALUE_DEPTH;

fn required(json: &Json<'_>, name: &str, depth: usize) -> Result<Value, Fault> {
    match json.member(name) {
        Some(member) => value(member, depth + 1).map_err(|fault| fault.within(name)),
        None => Err(Fault::new(format!("An element has no '{name}'."))),
    }
}

fn text(json: &Json<'_>, name: &str, otherwise: &str) -> Result<Arc<str>, Fault> {
    match json.member(name) {
        Some(Json::Text(text)) => Ok(Arc::from(text.as_ref())),
        None | Some(Json::Null) => Ok(Arc::from(otherwise)),
        Some(_) => Err(Fault::new(format!("'{name}' is not a string."))),
    }
}

pub(super) fn vertex(json: &Json<'_>, depth: usize) -> Result<Value, Fault> {
    let properties = match json.member("properties") {
        None => None,
        Some(properties) => {
            let mut by_key = Vec::new();
            for (key, list) in members(properties)? {
                let mut read = Vec::new();
                for item in items(list)? {
                    match value(item, depth + 1)? {
                        Value::VertexProperty(property) => read.push(property),
                        _ => {
                            return Err(
                                Fault::new("A property of a vertex is not a g:VertexProperty.").within(key)
                            );
                        }
                    }
                }
                by_key.push((Arc::from(key), read));
            }
            Some(Arc::new(by_key))
        }
    };
    Ok(Value::Vertex(Arc::new(Vertex {
        id: required(json, "id", depth)?,
        label: text(json, "label", "vertex")?,
        partition: None,
        properties,
        version: None,
    })))
}

pub(super) fn edge(json: &Json<'_>, depth: usize) -> Result<Value, Fault> {
    let properties = match json.member("properties") {
        None => None,
        Some(properties) => {
            let mut read = Vec::new();
            for (key, item) in members(properties)? {
                // The property as a whole, or its value alone as the specification of GraphSON 2 has it.
                read.push(match value(item, depth + 1)? {
                    Value::Property(property) => property,
                    value => Arc::new(Property { key: Arc::from(key), value, element: None }),
                });
            }
            Some(Arc::new(read))
        }
    };
    Ok(Value::Edge(Arc::new(Edge {
        id: required(json, "id", depth)?,
        label: text(json, "label", "edge")?,
        partition: None,
        out_id: required(json, "outV", depth)?,
        out_label: text(json, "outVLabel", "vertex")?,
        in_id: required(json, "inV", depth)?,
        in_label: text(json, "inVLabel", "vertex")?,
        in_partition: None,
        properties,
        version: None,
    })))
}

pub(super) fn vertex_property(json: &Json<'_>, depth: usize) -> Result<VertexProperty, Fault> {
    let mut properties = Vec::new();
    if let Some(json) = json.member("properties") {
        for (key, item) in members(json)? {
            let value = value(item, depth + 1).map_err(|fault| fault.within(key))?;
            properties.push(Arc::new(Property { key: Arc::from(key), value, element: None }));
        }
    }
    let vertex = match json.member("vertex") {
        None | Some(Json::Null) => None,
        Some(id) => Some(Arc::new(Vertex {
            id: value(id, depth + 1)?,
            label: Arc::from("vertex"),
            partition: None,
            properties: None,
            version: None,
        })),
    };
    Ok(VertexProperty {
        id: required(json, "id", depth)?,
        key: text(json, "label", "")?,
        value: required(json, "value", depth)?,
        properties,
        vertex,
    })
}

pub(super) fn property(json: &Json<'_>, depth: usize) -> Result<Property, Fault> {
    let element = match json.member("element") {
        None | Some(Json::Null) => None,
        Some(element) => Some(value(element, depth + 1)?),
    };
    Ok(Property { key: text(json, "key", "")?, value: required(json, "value", depth)?, element })
}

pub(super) fn path(json: &Json<'_>, depth: usize) -> Result<Value, Fault> {
    let mut labels = Vec::new();
    for list in items(json.member("labels").unwrap_or(&Json::Null))? {
        let label = |label: &Json<'_>| match label {
            Json::Text(text) => Ok(Arc::from(text.as_ref())),
            _ => Err(Fault::new("A label of a path is not a string.")),
        };
        labels.push(items(list)?.iter().map(label).collect::<Result<_, _>>()?);
    }
    let objects = items(json.member("objects").unwrap_or(&Json::Null))?;
    let objects = objects.iter().map(|item| value(item, depth + 1)).collect::<Result<Vec<_>, _>>()?;
    if labels.len() != objects.len() {
        return Err(Fault::new("A g:Path has another number of labels than of objects."));
    }
    Ok(Value::Path(Arc::new(Path { labels, objects })))
}

pub(super) fn tree(json: &Json<'_>, depth: usize) -> Result<Tree, Fault> {
    if depth > MAX_VALUE_DEPTH {
        return Err(Fault::new(format!("A tree is deeper than {MAX_VALUE_DEPTH} levels.")));
    }
    let mut branches = Vec::new();
    for branch in items(json)? {
        let below = match branch.member("value") {
            None => Tree::default(),
            Some(below) => tree(below.member("@value").unwrap_or(below), depth + 1)?,
        };
        branches.push(TreeBranch { key: required(branch, "key", depth)?, below });
    }
    Ok(Tree { branches })
}
