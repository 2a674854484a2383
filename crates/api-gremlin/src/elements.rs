//! Items as vertices and edges.
//!
//! Both forms in which properties of vertices are stored are read: lists of `{id, _value, _meta}`, and plain values. What
//! is neither (an object, a null) is no property, and stays in the item when that is written.
//!
//! Not here: what is written (`bodies`).

use std::sync::Arc;

use armilla_engine::{ContainerIdentity, Item};
use armilla_gremlin_value::{Edge, Property, Value, Vertex, VertexProperty};
use armilla_value::Kind;
use armilla_value::stored::Node;

use crate::layout::{LIFETIME, Layout, members};
use crate::values;

/// The label of what has none.
pub(crate) const LABEL_DEFAULT: &str = "vertex";
/// The same of edges.
pub(crate) const EDGE_LABEL_DEFAULT: &str = "edge";

/// Properties of the server that a traversal may ask to see.
const SYSTEM_NAMES: [&str; 2] = ["_ts", "_etag"];

/// The same of edges, for where their ends lie.
const IN_PARTITION_NAME: &str = "inVPartition";
const OUT_PARTITION_NAME: &str = "outVPartition";

/// Makes elements of items.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    pub(crate) layout: Arc<Layout>,
    /// What items need to show their versions.
    pub(crate) identity: ContainerIdentity,
    /// Whether elements are given the version that they were read with.
    pub(crate) has_versions: bool,
    /// Properties of the server that are shown.
    pub(crate) system_properties: Vec<Arc<str>>,
}

/// An item, or what is about to become one.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    pub(crate) root: Node<'s>,
    /// Where it is stored already.
    pub(crate) item: Option<&'s Item>,
}

impl<'s> Source<'s> {
    pub(crate) fn of(item: &'s Item) -> Source<'s> {
        Source { root: item.stored().root(), item: Some(item) }
    }

    /// Says whether it is an edge: only edges have the member that says so.
    pub(crate) fn is_edge(&self) -> bool {
        self.root.get(members::IS_EDGE).is_some()
    }
}

/// Returns the name of a property of the server that cannot be shown, if there is one.
pub(crate) fn unknown_system_property(names: &[Arc<str>]) -> Option<&Arc<str>> {
    let is_known =
        |name: &str| SYSTEM_NAMES.contains(&name) || [IN_PARTITION_NAME, OUT_PARTITION_NAME].contains(&name);
    names.iter().find(|name| !is_known(name))
}

impl Reader {
    /// Returns the vertex that an item is, with all of its properties.
    pub(crate) fn vertex(&self, source: Source<'_>) -> Vertex {
        let root = source.root;
        let mut vertex = self.vertex_reference(source);
        let owner = Arc::new(vertex.clone());
        let mut properties: Vec<(Arc<str>, Vec<Arc<VertexProperty>>)> = Vec::new();
        for (name, node) in root.members() {
            if name.starts_with('_') || [members::ID, members::LABEL].contains(&&*name) {
                continue;
            }
            let key: Arc<str> = Arc::from(&*name);
            let found = self.vertex_properties(&owner, &key, &node);
            if !found.is_empty() {
                properties.push((key, found));
            }
        }
        for (key, value) in self.shown(source) {
            let id = derived_id(&owner.id, &key);
            let property = VertexProperty {
                id,
                key: key.clone(),
                value,
                properties: Vec::new(),
                vertex: Some(owner.clone()),
            };
            properties.push((key, vec![Arc::new(property)]));
        }
        vertex.properties = Some(Arc::new(properties));
        vertex
    }

    /// Returns a reference to the vertex that an item is.
    pub(crate) fn vertex_reference(&self, source: Source<'_>) -> Vertex {
        let root = &source.root;
        Vertex {
            id: id_of(root, members::ID),
            label: text_of(root, members::LABEL).unwrap_or_else(|| LABEL_DEFAULT.into()),
            partition: self.partition_of(root),
            properties: None,
            version: self.version_of(source),
        }
    }

    fn partition_of(&self, root: &Node<'_>) -> Option<Value> {
        values::of_node(&root.get(self.layout.partition.as_deref()?)?)
    }

    fn version_of(&self, source: Source<'_>) -> Option<Arc<str>> {
        let item = source.item.filter(|_| self.has_versions)?;
        Some(item.etag(&self.identity).to_string().into())
    }

    fn vertex_properties(
        &self,
        owner: &Arc<Vertex>,
        key: &Arc<str>,
        node: &Node<'_>,
    ) -> Vec<Arc<VertexProperty>> {
        let plain = |value: Value, place: usize| {
            let id = match place {
                0 => derived_id(&owner.id, key),
                place => derived_id(&owner.id, &format!("{key}|{place}")),
            };
            Arc::new(VertexProperty {
                id,
                key: key.clone(),
                value,
                properties: Vec::new(),
                vertex: Some(owner.clone()),
            })
        };
        if node.kind() != Kind::Array || self.layout.is_partition(key) || &**key == LIFETIME {
            return values::of_node(node).map(|value| plain(value, 0)).into_iter().collect();
        }
        let elements = node.elements().enumerate();
        elements
            .filter_map(|(place, element)| match element.kind() {
                Kind::Object => {
                    let value = values::of_node(&element.get(members::VALUE)?)?;
                    let id = element.get(members::ID).and_then(|id| values::of_node(&id));
                    let id = id.unwrap_or_else(|| derived_id(&owner.id, &format!("{key}|{place}")));
                    let properties =
                        element.get(members::META).map(|meta| flat_properties(&meta)).unwrap_or_default();
                    let vertex = Some(owner.clone());
                    Some(Arc::new(VertexProperty { id, key: key.clone(), value, properties, vertex }))
                }
                _ => values::of_node(&element).map(|value| plain(value, place)),
            })
            .collect()
    }

    /// Returns the edge that an item is, with all of its properties.
    pub(crate) fn edge(&self, source: Source<'_>) -> Edge {
        let mut edge = self.edge_reference(source);
        let root = source.root;
        let owner = Value::Edge(Arc::new(edge.clone()));
        let is_property = |name: &str| {
            !name.starts_with('_')
                && ![members::ID, members::LABEL].contains(&name)
                && !self.layout.is_partition(name)
        };
        let mut properties: Vec<Arc<Property>> = Vec::new();
        for (name, node) in root.members() {
            if is_property(&name)
                && let Some(value) = values::of_node(&node)
            {
                properties.push(Arc::new(Property {
                    key: Arc::from(&*name),
                    value,
                    element: Some(owner.clone()),
                }));
            }
        }
        let mut shown = self.shown(source);
        for name in &self.system_properties {
            match &**name {
                IN_PARTITION_NAME => {
                    shown.extend(edge.in_partition.clone().map(|value| (name.clone(), value)))
                }
                OUT_PARTITION_NAME => shown.extend(edge.partition.clone().map(|value| (name.clone(), value))),
                _ => {}
            }
        }
        for (key, value) in shown {
            properties.push(Arc::new(Property { key, value, element: Some(owner.clone()) }));
        }
        edge.properties = Some(Arc::new(properties));
        edge
    }

    /// Returns a reference to the edge that an item is.
    pub(crate) fn edge_reference(&self, source: Source<'_>) -> Edge {
        let root = source.root;
        let label = |name: &str| text_of(&root, name).unwrap_or_else(|| LABEL_DEFAULT.into());
        Edge {
            id: id_of(&root, members::ID),
            label: text_of(&root, members::LABEL).unwrap_or_else(|| EDGE_LABEL_DEFAULT.into()),
            partition: self.partition_of(&root),
            out_id: id_of(&root, members::OUT_ID),
            out_label: label(members::OUT_LABEL),
            in_id: id_of(&root, members::IN_ID),
            in_label: label(members::IN_LABEL),
            in_partition: root.get(members::IN_PARTITION).and_then(|node| values::of_node(&node)),
            properties: None,
            version: self.version_of(source),
        }
    }

    /// Returns the vertex that an edge enters, as far as the edge knows it. `label` is shared where it is the same.
    pub(crate) fn vertex_entered(&self, edge: &Node<'_>, label: &mut Arc<str>) -> Vertex {
        Vertex {
            id: id_of(edge, members::IN_ID),
            label: shared_label(edge, members::IN_LABEL, label),
            partition: edge.get(members::IN_PARTITION).and_then(|node| values::of_node(&node)),
            properties: None,
            version: None,
        }
    }

    /// Returns the vertex that an edge leaves, likewise.
    pub(crate) fn vertex_left(&self, edge: &Node<'_>, label: &mut Arc<str>) -> Vertex {
        Vertex {
            id: id_of(edge, members::OUT_ID),
            label: shared_label(edge, members::OUT_LABEL, label),
            partition: self.partition_of(edge),
            properties: None,
            version: None,
        }
    }

    /// Returns the properties of the server that are shown.
    fn shown(&self, source: Source<'_>) -> Vec<(Arc<str>, Value)> {
        let Some(item) = source.item else { return Vec::new() };
        let value = |name: &str| match name {
            "_ts" => Some(Value::Int64(i64::from(item.header().ts))),
            "_etag" => Some(Value::String(format!("\"{}\"", item.etag(&self.identity)).into())),
            _ => None,
        };
        self.system_properties.iter().filter_map(|name| Some((name.clone(), value(name)?))).collect()
    }
}

/// Returns the vertex that an edge leaves, as far as the edge knows it.
pub(crate) fn out_vertex(edge: &Edge) -> Vertex {
    Vertex {
        id: edge.out_id.clone(),
        label: edge.out_label.clone(),
        partition: edge.partition.clone(),
        properties: None,
        version: None,
    }
}

/// Returns the vertex that an edge enters, likewise.
pub(crate) fn in_vertex(edge: &Edge) -> Vertex {
    Vertex {
        id: edge.in_id.clone(),
        label: edge.in_label.clone(),
        partition: edge.in_partition.clone(),
        properties: None,
        version: None,
    }
}

/// Returns the id of a property that is stored without one.
pub(crate) fn derived_id(owner: &Value, name: &str) -> Value {
    let owner = values::id_text(owner);
    Value::String(format!("{}|{name}", owner.as_deref().unwrap_or_default()).into())
}

fn flat_properties(node: &Node<'_>) -> Vec<Arc<Property>> {
    let members = node.members();
    members
        .filter_map(|(name, node)| {
            let value = values::of_node(&node)?;
            Some(Arc::new(Property { key: Arc::from(&*name), value, element: None }))
        })
        .collect()
}

fn shared_label(edge: &Node<'_>, name: &str, label: &mut Arc<str>) -> Arc<str> {
    let own = edge.get(name);
    let own = own.as_ref().and_then(Node::as_str);
    let own = own.as_deref().unwrap_or(LABEL_DEFAULT);
    if **label != *own {
        *label = own.into();
    }
    label.clone()
}

fn text_of(root: &Node<'_>, name: &str) -> Option<Arc<str>> {
    Some(Arc::from(&*root.get(name)?.as_str()?))
}

fn id_of(root: &Node<'_>, name: &str) -> Value {
    root.get(name).and_then(|node| values::of_node(&node)).unwrap_or_else(|| Value::String("".into()))
}
