//! The graphs that features run on.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use armilla_gremlin_machine::graph::{Cardinality, Graph, NewEdge, NewProperty, NewVertex};
use armilla_gremlin_machine::testing::{MemoryGraph, classic, crew, modern, sink};
use armilla_gremlin_value::{Value, Vertex};

use crate::json::{self, Json};

/// Makes graphs by their names.
pub(crate) struct Graphs {
    /// Read once, since no scenario changes it.
    grateful: Option<Rc<MemoryGraph>>,
}

impl Graphs {
    /// Finds the large graph beside the features: in their folder, or where their archive has it.
    pub(crate) fn of(features: &Path) -> Graphs {
        let name = "grateful-dead-v3.json";
        let mut places: Vec<PathBuf> = vec![features.join(name)];
        if let Some(above) = features.parent().and_then(Path::parent) {
            places.push(above.join("structure/io/graphson").join(name));
        }
        let found = places.iter().find(|place| place.is_file());
        Graphs { grateful: found.map(|place| Rc::new(read(place))) }
    }

    /// Makes a graph; none if its data are not there.
    pub(crate) fn make(&self, name: &str) -> Result<Rc<MemoryGraph>, String> {
        Ok(match name {
            "modern" => Rc::new(modern()),
            "classic" => Rc::new(classic()),
            "crew" => Rc::new(crew()),
            "sink" => Rc::new(sink()),
            "empty" => Rc::new(MemoryGraph::default()),
            "grateful" => self.grateful.clone().ok_or("grateful-dead-v3.json is not beside the features")?,
            _ => return Err(format!("no graph {name}")),
        })
    }
}

/// An edge of a file: its id, the vertex it leaves, its label, the vertex it enters, and its properties.
type ReadEdge = (Value, Value, String, Value, Vec<(String, Value)>);

/// Reads a graph of which each line is a vertex with its edges, in GraphSON 3.
fn read(place: &Path) -> MemoryGraph {
    let text = std::fs::read_to_string(place).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
    let graph = MemoryGraph::default();
    let mut edges: Vec<ReadEdge> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let vertex = json::parse(line).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
        let id = vertex.get("id").map(scalar).unwrap_or(Value::Null);
        let mut properties = Vec::new();
        for (key, values) in vertex.get("properties").map(Json::entries).unwrap_or_default() {
            for value in typed_items(values) {
                properties.push(NewProperty {
                    cardinality: Some(Cardinality::List),
                    key: key.as_str().into(),
                    value: value.get("value").map(scalar).unwrap_or(Value::Null),
                    meta: Vec::new(),
                });
            }
        }
        for (label, list) in vertex.get("outE").map(Json::entries).unwrap_or_default() {
            for edge in typed_items(list) {
                let into = edge.get("inV").map(scalar).unwrap_or(Value::Null);
                let properties = edge.get("properties").map(Json::entries).unwrap_or_default();
                let properties = properties.iter().map(|(key, value)| (key.clone(), scalar(value))).collect();
                let own = edge.get("id").map(scalar).unwrap_or(Value::Null);
                edges.push((own, id.clone(), label.clone(), into, properties));
            }
        }
        let label = match vertex.get("label") {
            Some(Json::Text(label)) => Some(label.as_str().into()),
            _ => None,
        };
        graph.add_vertex(NewVertex { id: Some(id), label, properties }).expect("it is added");
    }
    let reference = |id: &Value| {
        let label = "".into();
        let vertex = Vertex { id: id.as_id_text(), label, partition: None, properties: None, version: None };
        graph.load_vertices(&[vertex.into()]).ok().and_then(|mut found| found.pop().flatten())
    };
    for (id, out, label, into, properties) in edges {
        let (Some(out_vertex), Some(in_vertex)) = (reference(&out), reference(&into)) else { continue };
        let properties = properties.into_iter().map(|(key, value)| (key.into(), value)).collect();
        let label = label.into();
        // An edge and a vertex of this file may have one id, and never meet.
        graph
            .add_edge(NewEdge { id: Some(id), label, out_vertex, in_vertex, properties })
            .expect("it is added");
    }
    graph
}

fn typed_items(json: &Json) -> &[Json] {
    json.get("@value").unwrap_or(json).items()
}

fn scalar(json: &Json) -> Value {
    match json {
        Json::Text(text) => Value::text(text.as_str()),
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(text) => text.parse().map_or(Value::Null, Value::Double),
        Json::Map(_) => match (json.get("@type"), json.get("@value")) {
            (Some(Json::Text(kind)), Some(Json::Number(text))) => match kind.as_str() {
                "g:Int32" => text.parse().map_or(Value::Null, Value::Int32),
                "g:Int64" => text.parse().map_or(Value::Null, Value::Int64),
                "g:Float" => text.parse().map_or(Value::Null, Value::Float),
                _ => text.parse().map_or(Value::Null, Value::Double),
            },
            _ => Value::Null,
        },
        Json::Null | Json::List(_) => Value::Null,
    }
}
