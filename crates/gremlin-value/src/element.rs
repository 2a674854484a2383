//! Elements of a graph.

use std::sync::Arc;

use crate::Value;

/// A vertex.
#[derive(Debug, Clone)]
pub struct Vertex {
    pub id: Value,
    pub label: Arc<str>,
    /// The value of its partition key, where the graph has one and it is known.
    pub partition: Option<Value>,
    /// Its properties by key, in order; none if they were not read.
    pub properties: Option<Arc<Vec<(Arc<str>, Vec<Arc<VertexProperty>>)>>>,
    /// The version it was read with, for the graph that read it.
    pub version: Option<Arc<str>>,
}

/// An edge.
#[derive(Debug, Clone)]
pub struct Edge {
    pub id: Value,
    pub label: Arc<str>,
    /// The value of its partition key, which is that of the vertex it leaves.
    pub partition: Option<Value>,
    pub out_id: Value,
    pub out_label: Arc<str>,
    pub in_id: Value,
    pub in_label: Arc<str>,
    /// The partition of the vertex it enters.
    pub in_partition: Option<Value>,
    pub properties: Option<Arc<Vec<Arc<Property>>>>,
    pub version: Option<Arc<str>>,
}

/// A property of a vertex.
#[derive(Debug, Clone)]
pub struct VertexProperty {
    pub id: Value,
    pub key: Arc<str>,
    pub value: Value,
    /// Its own properties.
    pub properties: Vec<Arc<Property>>,
    /// The vertex it belongs to, without its properties.
    pub vertex: Option<Arc<Vertex>>,
}

/// A property of an edge or of a property.
#[derive(Debug, Clone)]
pub struct Property {
    pub key: Arc<str>,
    pub value: Value,
    /// The edge or vertex property it belongs to, without its properties.
    pub element: Option<Value>,
}

/// The way a traverser went.
#[derive(Debug, Clone, Default)]
pub struct Path {
    /// The labels of each object, as many as objects.
    pub labels: Vec<Vec<Arc<str>>>,
    pub objects: Vec<Value>,
}

/// A tree of paths.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    pub branches: Vec<TreeBranch>,
}

/// A node of a tree and what is below it.
#[derive(Debug, Clone)]
pub struct TreeBranch {
    pub key: Value,
    pub below: Tree,
}
