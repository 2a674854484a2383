//! What the machine asks of a graph: lookups in batches and pages, writes, and the hooks around a traversal.
//!
//! Calls block. The machine asks for many elements at once and never for one per traverser; what is large comes
//! as [`Pages`], so that memory is bounded and a `limit` stops reading.
//!
//! Invariants:
//! * a lookup yields exactly the elements that satisfy all of its conditions: a graph narrows by what its index
//!   can do and tests the rest itself ([`Condition::holds_for_vertex`], [`Condition::holds_for_edge`]);
//! * a lookup sees the writes that the same traversal made before it;
//! * `begin` is called once before anything else and `finish` once after everything else.
//!
//! Not here: where elements are kept, transactions and partitions, which are the graph's own business.

#![expect(missing_docs, reason = "types are documented; fields whose names say it all are not")]

use std::sync::Arc;
use std::time::Duration;

use armilla_gremlin_value::{Edge, Predicate, Value, Vertex};

/// A graph that traversals run over.
pub trait Graph {
    /// Says what the traversal is going to do. Called once, first.
    fn begin(&self, _begin: &Begin) -> GraphResult<()> {
        Ok(())
    }

    /// Ends the traversal: its writes are kept or, where the graph can, taken back. Called once, last.
    fn finish(&self, _outcome: Outcome) -> GraphResult<()> {
        Ok(())
    }

    /// Says whether to go on; a failure (time is up, the client left) ends the traversal. Called once per batch.
    fn check(&self) -> GraphResult<()> {
        Ok(())
    }

    /// Returns the time since the traversal began, for profiles and `timeLimit`.
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns what was read and written since the traversal began; only grows.
    fn figures(&self) -> Figures {
        Figures::default()
    }

    /// Finds vertices.
    fn vertices<'a>(&'a self, lookup: &Lookup) -> GraphResult<Box<dyn Pages<Arc<Vertex>> + 'a>>;

    /// Finds edges.
    fn edges<'a>(&'a self, lookup: &Lookup) -> GraphResult<Box<dyn Pages<Arc<Edge>> + 'a>>;

    /// Counts vertices, reading none where the graph can.
    fn count_vertices(&self, lookup: &Lookup) -> GraphResult<u64> {
        count(self.vertices(lookup)?)
    }

    /// Counts edges, reading none where the graph can.
    fn count_edges(&self, lookup: &Lookup) -> GraphResult<u64> {
        count(self.edges(lookup)?)
    }

    /// Finds what is adjacent to a batch of vertices.
    ///
    /// The answers come in any order. An edge from a vertex to itself is found twice if both directions are asked.
    /// The same vertex is never twice in one request.
    fn adjacent<'a>(&'a self, request: &Adjacency) -> GraphResult<Box<dyn Pages<Adjacent> + 'a>>;

    /// Counts what is adjacent to each vertex of the request, in its order.
    fn count_adjacent(&self, request: &Adjacency) -> GraphResult<Vec<u64>> {
        let mut counts = vec![0; request.vertices.len()];
        let mut pages = self.adjacent(request)?;
        while let Some(page) = pages.next_page()? {
            for adjacent in page {
                if let Some(count) = counts.get_mut(adjacent.source) {
                    *count += 1;
                }
            }
        }
        Ok(counts)
    }

    /// Reads whole vertices for references to them, in their order; none where there is no such vertex any more.
    ///
    /// A reference has an id, and a partition where it is known.
    fn load_vertices(&self, references: &[Arc<Vertex>]) -> GraphResult<Vec<Option<Arc<Vertex>>>>;

    /// Reads whole edges for references to them, in their order; none where there is no such edge any more.
    fn load_edges(&self, references: &[Arc<Edge>]) -> GraphResult<Vec<Option<Arc<Edge>>>>;

    /// Adds a vertex and returns it with its properties.
    fn add_vertex(&self, vertex: NewVertex) -> GraphResult<Arc<Vertex>>;

    /// Adds an edge and returns it with its properties.
    fn add_edge(&self, edge: NewEdge) -> GraphResult<Arc<Edge>>;

    /// Sets properties of a vertex in order, and returns the vertex as it is then.
    fn set_vertex_properties(
        &self,
        vertex: &Arc<Vertex>,
        properties: &[NewProperty],
    ) -> GraphResult<Arc<Vertex>>;

    /// Sets properties of an edge in order, and returns the edge as it is then.
    fn set_edge_properties(
        &self,
        edge: &Arc<Edge>,
        properties: &[(Arc<str>, Value)],
    ) -> GraphResult<Arc<Edge>>;

    /// Sets properties of a property of a vertex, and returns the vertex as it is then.
    fn set_meta_properties(
        &self,
        vertex: &Arc<Vertex>,
        property_id: &Value,
        properties: &[(Arc<str>, Value)],
    ) -> GraphResult<Arc<Vertex>>;

    /// Drops elements and properties; what is gone already is no error. A vertex takes its edges along.
    fn drop_all(&self, dropped: &[Dropped]) -> GraphResult<()>;
}

/// What comes in bounded pages, and stops being read when it is dropped.
pub trait Pages<T> {
    /// Returns the next page, which may be empty; none at the end.
    fn next_page(&mut self) -> GraphResult<Option<Vec<T>>>;
}

/// What a traversal is going to do.
#[derive(Debug, Clone, Default)]
pub struct Begin {
    /// Whether it has steps that write.
    pub writes: bool,
    /// The system properties that it wants to see as properties (`ProjectionStrategy`), such as `_ts`.
    pub system_properties: Vec<Arc<str>>,
}

/// How a traversal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It ran to its end, or its reader wanted no more of it.
    Done,
    /// It failed.
    Failed,
}

/// What was read and written.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// Operations on the store.
    pub operations: u64,
    /// Items read or written.
    pub items: u64,
    /// Bytes of these items.
    pub bytes: u64,
    /// Physical partitions asked, over all operations.
    pub partitions: u64,
    pub request_units: f64,
    pub time: Duration,
}

/// Which vertices or edges to find.
#[derive(Debug, Clone, Default)]
pub struct Lookup {
    /// Only these, if given; an empty list finds nothing. The same element is found once, however often it is named.
    pub ids: Option<Vec<ElementId>>,
    /// All of these must hold.
    pub conditions: Vec<Condition>,
    /// No more than this many.
    pub limit: Option<u64>,
    pub need: Need,
}

/// How an element is named.
#[derive(Debug, Clone)]
pub enum ElementId {
    /// By its id, in whichever partition. Ids compare as text.
    Id(Value),
    /// By its partition and its id.
    InPartition { partition: Value, id: Value },
}

/// How much of an element is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Need {
    /// Its id, label and partition; of an edge also its ends. Its properties may be absent.
    Reference,
    /// All of it.
    #[default]
    Whole,
}

/// A condition on an element.
#[derive(Debug, Clone)]
pub enum Condition {
    /// On its id, as text.
    Id(Predicate),
    Label(Predicate),
    /// Any value of the property satisfies the predicate. The property may be the partition key's.
    Property {
        key: Arc<str>,
        predicate: Predicate,
    },
    /// It has the property.
    Has(Arc<str>),
    /// It does not have the property.
    HasNot(Arc<str>),
}

/// Direction of edges, seen from a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    Out,
    In,
    Both,
}

/// What is asked of the neighbourhood of a batch of vertices.
#[derive(Debug, Clone)]
pub struct Adjacency {
    /// Where to start; references are enough. No vertex is in here twice.
    pub vertices: Vec<Arc<Vertex>>,
    pub direction: Direction,
    /// Only edges with one of these labels; all if empty.
    pub labels: Vec<Arc<str>>,
    /// Conditions on the edges.
    pub edge_conditions: Vec<Condition>,
    /// Conditions on the vertices at the other end; empty if edges are asked.
    pub vertex_conditions: Vec<Condition>,
    pub want: Wanted,
    /// No more than this many in all.
    pub limit: Option<u64>,
}

/// What to find of a neighbourhood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The edges; a reference to an edge has its ends but perhaps no properties.
    Edges(Need),
    /// The vertices at the other end. References need no reading of vertices: edges know the ids, labels and
    /// partitions of both ends. Whole vertices that do not exist are left out.
    Vertices(Need),
}

/// An edge or a vertex next to a vertex of the request.
#[derive(Debug, Clone)]
pub struct Adjacent {
    /// The index in [`Adjacency::vertices`] of the vertex it was reached from.
    pub source: usize,
    /// A vertex or an edge, as asked.
    pub element: Element,
}

/// A vertex or an edge.
#[derive(Debug, Clone)]
pub enum Element {
    Vertex(Arc<Vertex>),
    Edge(Arc<Edge>),
}

/// A vertex to add.
#[derive(Debug, Clone, Default)]
pub struct NewVertex {
    /// A new one is made if there is none.
    pub id: Option<Value>,
    /// `vertex` if there is none.
    pub label: Option<Arc<str>>,
    /// In order; the partition key's is among them.
    pub properties: Vec<NewProperty>,
}

/// An edge to add.
#[derive(Debug, Clone)]
pub struct NewEdge {
    /// A new one is made if there is none.
    pub id: Option<Value>,
    pub label: Arc<str>,
    /// The vertex it leaves.
    pub out_vertex: Arc<Vertex>,
    /// The vertex it enters.
    pub in_vertex: Arc<Vertex>,
    pub properties: Vec<(Arc<str>, Value)>,
}

/// A property of a vertex to set.
#[derive(Debug, Clone)]
pub struct NewProperty {
    /// The graph's own choice, which is single, if there is none.
    pub cardinality: Option<Cardinality>,
    pub key: Arc<str>,
    pub value: Value,
    /// Its own properties.
    pub meta: Vec<(Arc<str>, Value)>,
}

/// How many values a property has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cardinality {
    /// One: setting replaces.
    Single,
    /// Many: setting adds.
    List,
    /// Many different ones: setting adds what is not there; what is there gets the new meta properties.
    Set,
}

/// Something to drop.
#[derive(Debug, Clone)]
pub enum Dropped {
    Vertex(Arc<Vertex>),
    Edge(Arc<Edge>),
    /// One value of a property of a vertex, by its id.
    VertexProperty {
        vertex: Arc<Vertex>,
        key: Arc<str>,
        id: Value,
    },
    EdgeProperty {
        edge: Arc<Edge>,
        key: Arc<str>,
    },
    /// A property of a property of a vertex.
    MetaProperty {
        vertex: Arc<Vertex>,
        property_key: Arc<str>,
        property_id: Value,
        key: Arc<str>,
    },
}

/// What a graph answers.
pub type GraphResult<T> = Result<T, GraphError>;

/// A failure of a graph.
#[derive(Debug)]
pub struct GraphError {
    pub kind: GraphErrorKind,
    pub message: String,
    /// What the graph's owner needs to tell its client more, passed through untouched.
    pub cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphErrorKind {
    /// The store refused or failed; see the cause.
    Storage,
    /// The traversal asked for something that this graph does not do, or with values that it refuses.
    Refused,
    /// The time is up.
    TimedOut,
    /// The client left, or the server ends.
    Cancelled,
    /// The caller may not write.
    ReadOnly,
}

impl GraphError {
    /// Makes an error without a cause.
    pub fn new(kind: GraphErrorKind, message: impl Into<String>) -> GraphError {
        GraphError { kind, message: message.into(), cause: None }
    }
}

impl std::fmt::Display for GraphError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for GraphError {}

impl Condition {
    /// Says whether it holds for a vertex, whose properties must have been read unless it asks for id or label.
    pub fn holds_for_vertex(&self, vertex: &Vertex) -> bool {
        match self {
            Condition::Id(predicate) => id_satisfies(predicate, &vertex.id),
            Condition::Label(predicate) => predicate.test(&Value::String(vertex.label.clone())),
            Condition::Property { key, predicate } => vertex
                .values_of(key)
                .is_some_and(|values| values.iter().any(|property| predicate.test(&property.value))),
            Condition::Has(key) => vertex.values_of(key).is_some(),
            Condition::HasNot(key) => vertex.values_of(key).is_none(),
        }
    }

    /// Says whether it holds for an edge, whose properties must have been read unless it asks for id or label.
    pub fn holds_for_edge(&self, edge: &Edge) -> bool {
        match self {
            Condition::Id(predicate) => id_satisfies(predicate, &edge.id),
            Condition::Label(predicate) => predicate.test(&Value::String(edge.label.clone())),
            Condition::Property { key, predicate } => {
                edge.property(key).is_some_and(|property| predicate.test(&property.value))
            }
            Condition::Has(key) => edge.property(key).is_some(),
            Condition::HasNot(key) => edge.property(key).is_none(),
        }
    }
}

/// Says whether an id satisfies a predicate; both sides compare as text.
pub(crate) fn id_satisfies(predicate: &Predicate, id: &Value) -> bool {
    predicate.as_text().test(&id.as_id_text())
}

fn count<T>(mut pages: Box<dyn Pages<T> + '_>) -> GraphResult<u64> {
    let mut count = 0;
    while let Some(page) = pages.next_page()? {
        count += page.len() as u64;
    }
    Ok(count)
}

/// Pages over what is in memory already.
pub struct ReadyPages<T> {
    items: std::vec::IntoIter<T>,
    page_len: usize,
}

impl<T> ReadyPages<T> {
    /// Cuts items into pages of no more than the length.
    pub fn new(items: Vec<T>, page_len: usize) -> ReadyPages<T> {
        ReadyPages { items: items.into_iter(), page_len: page_len.max(1) }
    }
}

impl<T> Pages<T> for ReadyPages<T> {
    fn next_page(&mut self) -> GraphResult<Option<Vec<T>>> {
        let page: Vec<T> = self.items.by_ref().take(self.page_len).collect();
        Ok(if page.is_empty() { None } else { Some(page) })
    }
}
