//! Constants of `with()`: their values are what TinkerPop defines.

use std::sync::Arc;

use armilla_gremlin_value::Value;

enum Constant {
    Text(&'static str),
    Number(i32),
}

const CONSTANTS: [(&str, &[(&str, Constant)]); 6] = [
    (
        "WithOptions",
        &[
            ("tokens", Constant::Text("~tinkerpop.valueMap.tokens")),
            ("none", Constant::Number(0)),
            ("ids", Constant::Number(1)),
            ("labels", Constant::Number(2)),
            ("keys", Constant::Number(4)),
            ("values", Constant::Number(8)),
            ("all", Constant::Number(15)),
            ("indexer", Constant::Text("~tinkerpop.index.indexer")),
            ("list", Constant::Number(0)),
            ("map", Constant::Number(1)),
        ],
    ),
    (
        "IO",
        &[
            ("reader", Constant::Text("~tinkerpop.io.reader")),
            ("writer", Constant::Text("~tinkerpop.io.writer")),
            ("gryo", Constant::Text("gryo")),
            ("graphson", Constant::Text("graphson")),
            ("graphml", Constant::Text("graphml")),
        ],
    ),
    (
        "ShortestPath",
        &[
            ("target", Constant::Text("~tinkerpop.shortestPath.target")),
            ("edges", Constant::Text("~tinkerpop.shortestPath.edges")),
            ("distance", Constant::Text("~tinkerpop.shortestPath.distance")),
            ("maxDistance", Constant::Text("~tinkerpop.shortestPath.maxDistance")),
            ("includeEdges", Constant::Text("~tinkerpop.shortestPath.includeEdges")),
        ],
    ),
    (
        "PageRank",
        &[
            ("edges", Constant::Text("~tinkerpop.pageRank.edges")),
            ("times", Constant::Text("~tinkerpop.pageRank.times")),
            ("propertyName", Constant::Text("~tinkerpop.pageRank.propertyName")),
        ],
    ),
    (
        "PeerPressure",
        &[
            ("edges", Constant::Text("~tinkerpop.peerPressure.edges")),
            ("times", Constant::Text("~tinkerpop.peerPressure.times")),
            ("propertyName", Constant::Text("~tinkerpop.peerPressure.propertyName")),
        ],
    ),
    (
        "ConnectedComponent",
        &[
            ("component", Constant::Text("gremlin.connectedComponentVertexProgram.component")),
            ("edges", Constant::Text("~tinkerpop.connectedComponent.edges")),
            ("propertyName", Constant::Text("~tinkerpop.connectedComponent.propertyName")),
        ],
    ),
];

/// Returns whether a class has constants.
pub(crate) fn is_class(class: &str) -> bool {
    CONSTANTS.iter().any(|(other, _)| *other == class)
}

/// Finds a constant of a class.
pub(crate) fn find(class: &str, word: &str) -> Option<Value> {
    let (_, words) = CONSTANTS.iter().find(|(other, _)| *other == class)?;
    words.iter().find(|(other, _)| *other == word).map(|(_, constant)| match constant {
        Constant::Text(text) => Value::String(Arc::from(*text)),
        Constant::Number(number) => Value::Int32(*number),
    })
}
