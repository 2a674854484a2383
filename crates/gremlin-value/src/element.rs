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
    pub properties: Option<Arc<VertexProperties>>,
    /// The version it was read with, for the graph that read it.
    pub version: Option<Arc<str>>,
}

/// Properties of a vertex: the values of each key, in order.
pub type VertexProperties = Vec<(Arc<str>, Vec<Arc<VertexProperty>>)>;

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

impl Vertex {
    /// Returns the values of a property, of which there is at least one; none if it has no such property.
    pub fn values_of(&self, key: &str) -> Option<&[Arc<VertexProperty>]> {
        let properties = self.properties.as_ref()?;
        let (_, values) = properties.iter().find(|(other, _)| other.as_ref() == key)?;
        if values.is_empty() { None } else { Some(values) }
    }

    /// Returns the vertex without its properties.
    pub fn reference(&self) -> Vertex {
        Vertex {
            id: self.id.clone(),
            label: self.label.clone(),
            partition: self.partition.clone(),
            properties: None,
            version: None,
        }
    }
}

impl Edge {
    /// Returns a property.
    pub fn property(&self, key: &str) -> Option<&Arc<Property>> {
        self.properties.as_ref()?.iter().find(|property| property.key.as_ref() == key)
    }

    /// Returns a reference to the vertex it leaves.
    pub fn out_vertex(&self) -> Vertex {
        Vertex {
            id: self.out_id.clone(),
            label: self.out_label.clone(),
            partition: self.partition.clone(),
            properties: None,
            version: None,
        }
    }

    /// Returns a reference to the vertex it enters.
    pub fn in_vertex(&self) -> Vertex {
        Vertex {
            id: self.in_id.clone(),
            label: self.in_label.clone(),
            partition: self.in_partition.clone(),
            properties: None,
            version: None,
        }
    }
}
