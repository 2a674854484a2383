//! The small graphs of TinkerPop's documentation.

use armilla_gremlin_value::Value;

use super::{MemoryGraph, put_edge, put_vertex};
use crate::graph::{Cardinality, Graph, NewProperty, NewVertex};

fn text(text: &str) -> Value {
    Value::text(text)
}

/// Returns the "modern" graph: four people and two pieces of software.
pub fn modern() -> MemoryGraph {
    let graph = MemoryGraph::default();
    put_vertex(&graph, 1, "person", &[("name", text("marko")), ("age", Value::Int32(29))]);
    put_vertex(&graph, 2, "person", &[("name", text("vadas")), ("age", Value::Int32(27))]);
    put_vertex(&graph, 3, "software", &[("name", text("lop")), ("lang", text("java"))]);
    put_vertex(&graph, 4, "person", &[("name", text("josh")), ("age", Value::Int32(32))]);
    put_vertex(&graph, 5, "software", &[("name", text("ripple")), ("lang", text("java"))]);
    put_vertex(&graph, 6, "person", &[("name", text("peter")), ("age", Value::Int32(35))]);
    for (id, out, label, into, weight) in [
        (7, 1, "knows", 2, 0.5),
        (8, 1, "knows", 4, 1.0),
        (9, 1, "created", 3, 0.4),
        (10, 4, "created", 5, 1.0),
        (11, 4, "created", 3, 0.4),
        (12, 6, "created", 3, 0.2),
    ] {
        put_edge(&graph, id, out, label, into, &[("weight", Value::Double(weight))]);
    }
    graph
}

/// Returns the "classic" graph: the modern one without labels of vertices.
pub fn classic() -> MemoryGraph {
    let graph = MemoryGraph::default();
    for (id, name, key, value) in [
        (1, "marko", "age", Value::Int32(29)),
        (2, "vadas", "age", Value::Int32(27)),
        (3, "lop", "lang", text("java")),
        (4, "josh", "age", Value::Int32(32)),
        (5, "ripple", "lang", text("java")),
        (6, "peter", "age", Value::Int32(35)),
    ] {
        put_vertex(&graph, id, "vertex", &[("name", text(name)), (key, value)]);
    }
    for (id, out, label, into, weight) in [
        (7, 1, "knows", 2, 0.5f32),
        (8, 1, "knows", 4, 1.0),
        (9, 1, "created", 3, 0.4),
        (10, 4, "created", 5, 1.0),
        (11, 4, "created", 3, 0.4),
        (12, 6, "created", 3, 0.2),
    ] {
        put_edge(&graph, id, out, label, into, &[("weight", Value::Float(weight))]);
    }
    graph
}

/// Returns the "sink" graph: edges from vertices to themselves and between two others.
pub fn sink() -> MemoryGraph {
    let graph = MemoryGraph::default();
    for (id, label, name) in [(1000, "loops", "loop"), (1001, "message", "a"), (1002, "message", "b")] {
        put_vertex(&graph, id, label, &[("name", text(name))]);
    }
    put_edge(&graph, 3000, 1000, "self", 1000, &[]);
    put_edge(&graph, 3001, 1001, "link", 1002, &[]);
    put_edge(&graph, 3002, 1001, "link", 1002, &[]);
    graph
}

/// A place, and the years from and to which a person was there.
type Location = (&'static str, i32, Option<i32>);

/// Returns the "crew" graph: people whose locations have times.
pub fn crew() -> MemoryGraph {
    let graph = MemoryGraph::default();
    let people: [(u32, &str, &[Location]); 4] = [
        (
            1,
            "marko",
            &[
                ("san diego", 1997, Some(2001)),
                ("santa cruz", 2001, Some(2004)),
                ("brussels", 2004, Some(2005)),
                ("santa fe", 2005, None),
            ],
        ),
        (
            7,
            "stephen",
            &[("centreville", 1990, Some(2000)), ("dulles", 2000, Some(2006)), ("purcellville", 2006, None)],
        ),
        (
            8,
            "matthias",
            &[
                ("bremen", 2004, Some(2007)),
                ("baltimore", 2007, Some(2011)),
                ("oakland", 2011, Some(2014)),
                ("seattle", 2014, None),
            ],
        ),
        (
            9,
            "daniel",
            &[("spremberg", 1982, Some(2005)), ("kaiserslautern", 2005, Some(2009)), ("aachen", 2009, None)],
        ),
    ];
    for (id, name, locations) in people {
        let mut properties = vec![NewProperty {
            cardinality: Some(Cardinality::Single),
            key: "name".into(),
            value: text(name),
            meta: Vec::new(),
        }];
        for (place, start, end) in locations {
            let mut meta = vec![("startTime".into(), Value::Int32(*start))];
            meta.extend(end.map(|end| ("endTime".into(), Value::Int32(end))));
            let cardinality = Some(Cardinality::List);
            properties.push(NewProperty { cardinality, key: "location".into(), value: text(place), meta });
        }
        let id = Some(text(&id.to_string()));
        let _ = graph.add_vertex(NewVertex { id, label: Some("person".into()), properties });
    }
    put_vertex(&graph, 10, "software", &[("name", text("gremlin"))]);
    put_vertex(&graph, 11, "software", &[("name", text("tinkergraph"))]);
    for (id, out, label, into, key, value) in [
        (13, 1, "develops", 10, "since", 2009),
        (14, 1, "develops", 11, "since", 2010),
        (15, 1, "uses", 10, "skill", 4),
        (16, 1, "uses", 11, "skill", 5),
        (17, 7, "develops", 10, "since", 2010),
        (18, 7, "develops", 11, "since", 2011),
        (19, 7, "uses", 10, "skill", 5),
        (20, 7, "uses", 11, "skill", 4),
        (21, 8, "develops", 10, "since", 2012),
        (22, 8, "uses", 10, "skill", 3),
        (23, 8, "uses", 11, "skill", 3),
        (24, 9, "uses", 10, "skill", 5),
        (25, 9, "uses", 11, "skill", 3),
    ] {
        put_edge(&graph, id, out, label, into, &[(key, Value::Int32(value))]);
    }
    put_edge(&graph, 26, 10, "traverses", 11, &[]);
    graph
}
