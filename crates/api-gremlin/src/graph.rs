//! A graph over the items of a container, as a traversal reaches it.
//!
//! In this folder: finding elements (`lookups`), those with equal values (`equals`), what is next to them (`adjacency`,
//! `neighbours`), writing (`writes`).

mod adjacency;
mod equals;
mod lookups;
mod neighbours;
mod writes;

pub(crate) use writes::Writes;

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use armilla_engine::Item;
use armilla_env::Env;
use armilla_gremlin_machine::graph::{
    Adjacency, Adjacent, Begin, Dropped, Figures, Graph, GraphError, GraphErrorKind, GraphResult, Lookup,
    NewEdge, NewProperty, NewVertex, Outcome, Pages,
};
use armilla_gremlin_value::{Edge, Value, Vertex};
use armilla_value::PartitionKey;
use armilla_value::stored::{Stored, encode_value};

use crate::elements::{self, Reader, Source};
use crate::layout::Layout;
use crate::lowering::Kind;
use crate::pending::{Address, Pending, Write};
use crate::store::Store;
use crate::values;

/// What a caller is told who may read only.
pub(crate) const READ_ONLY: &str = "Insufficient permissions provided in the authorization header for the corresponding \
                                    request. Please retry with another authorization header.";

/// A graph, for one traversal.
pub(crate) struct EngineGraph {
    pub(crate) store: Store,
    pub(crate) layout: Arc<Layout>,
    pub(crate) env: Env,
    /// Whether the caller may write.
    pub(crate) may_write: bool,
    /// Whether a key that occurs twice in one `addV` has two values.
    pub(crate) repeats_are_lists: bool,
    pub(crate) reader: RefCell<Reader>,
    pub(crate) pending: RefCell<Pending>,
}

impl EngineGraph {
    /// Returns where an element lies, if it can lie anywhere.
    fn address(&self, partition: Option<&Value>, id: &Value) -> Option<Address> {
        Some(Address { key: self.layout.key(partition)?, id: values::id_text(id)? })
    }

    fn vertex_address(&self, vertex: &Vertex) -> Option<Address> {
        self.address(vertex.partition.as_ref(), &vertex.id)
    }

    fn edge_address(&self, edge: &Edge) -> Option<Address> {
        self.address(edge.partition.as_ref(), &edge.id)
    }

    /// Reads an element of a kind by its address, as this traversal has written it.
    fn read<T>(
        &self,
        address: &Address,
        kind: Kind,
        make: impl Fn(&Reader, Source<'_>) -> T,
    ) -> GraphResult<Option<T>> {
        let made = |source: Source<'_>| {
            let is_kind = source.is_edge() == (kind == Kind::Edge);
            is_kind.then(|| make(&self.reader.borrow(), source))
        };
        if let Some(write) = self.pending.borrow().get(address) {
            let Some(body) = write.body() else { return Ok(None) };
            return written(body, made);
        }
        let item = self.store.read(&address.key, &address.id)?;
        Ok(item.as_ref().and_then(|item| made(Source::of(item))))
    }

    fn read_vertex(&self, address: &Address) -> GraphResult<Option<Vertex>> {
        self.read(address, Kind::Vertex, |reader, source| reader.vertex(source))
    }

    fn read_edge(&self, address: &Address) -> GraphResult<Option<Edge>> {
        self.read(address, Kind::Edge, |reader, source| reader.edge(source))
    }

    /// Returns the version of an item.
    fn etag(&self, item: &Item) -> armilla_engine::ETag {
        item.etag(self.store.handle.identity())
    }
}

/// Reads what is about to be written.
fn written<T>(
    body: &armilla_value::Object,
    make: impl FnOnce(Source<'_>) -> Option<T>,
) -> GraphResult<Option<T>> {
    let bytes = encode_value(&armilla_value::Value::Object(body.clone()), &[]).map_err(|error| {
        GraphError::new(GraphErrorKind::Refused, format!("the element cannot be stored: {error}"))
    })?;
    let stored = Stored::open(&bytes)
        .map_err(|_| GraphError::new(GraphErrorKind::Refused, "the element cannot be read back"))?;
    Ok(make(Source { root: stored.root(), item: None }))
}

/// Says whether a write will have made an item.
fn is_there(write: &Write) -> bool {
    write.body().is_some()
}

/// Returns the logical partition of a reference, if it is known.
fn known_partition(layout: &Layout, partition: Option<&Value>) -> Option<PartitionKey> {
    match (&layout.partition, partition) {
        (Some(_), None) => None,
        (_, partition) => layout.key(partition),
    }
}

impl Graph for EngineGraph {
    fn begin(&self, begin: &Begin) -> GraphResult<()> {
        if begin.writes && !self.may_write {
            return Err(GraphError::new(GraphErrorKind::ReadOnly, READ_ONLY));
        }
        if let Some(name) = elements::unknown_system_property(&begin.system_properties) {
            return Err(GraphError::new(
                GraphErrorKind::Refused,
                format!(
                    "system property '{name}' cannot be shown: ask for _ts, _etag, inVPartition or outVPartition"
                ),
            ));
        }
        let mut reader = self.reader.borrow_mut();
        reader.has_versions = begin.writes;
        reader.system_properties.clone_from(&begin.system_properties);
        Ok(())
    }

    fn finish(&self, outcome: Outcome) -> GraphResult<()> {
        match outcome {
            // What is tried leaves its writes to who tries it, who can wait for them.
            Outcome::Done if self.store.deadline.trial.is_some() => Ok(()),
            Outcome::Done => self.write_pending(),
            // What is not written yet need not be.
            Outcome::Failed => {
                self.pending.borrow_mut().take();
                Ok(())
            }
        }
    }

    fn check(&self) -> GraphResult<()> {
        self.store.deadline.check()
    }

    fn elapsed(&self) -> Duration {
        self.store.deadline.elapsed()
    }

    fn figures(&self) -> Figures {
        Figures { time: self.store.deadline.elapsed(), ..self.store.figures.get() }
    }

    fn vertices<'a>(&'a self, lookup: &Lookup) -> GraphResult<Box<dyn Pages<Arc<Vertex>> + 'a>> {
        self.find_vertices(lookup)
    }

    fn edges<'a>(&'a self, lookup: &Lookup) -> GraphResult<Box<dyn Pages<Arc<Edge>> + 'a>> {
        self.find_edges(lookup)
    }

    fn count_vertices(&self, lookup: &Lookup) -> GraphResult<u64> {
        match self.count_by_index(lookup, Kind::Vertex)? {
            Some(count) => Ok(count),
            None => count(self.vertices(lookup)?),
        }
    }

    fn count_edges(&self, lookup: &Lookup) -> GraphResult<u64> {
        match self.count_by_index(lookup, Kind::Edge)? {
            Some(count) => Ok(count),
            None => count(self.edges(lookup)?),
        }
    }

    fn adjacent<'a>(&'a self, request: &Adjacency) -> GraphResult<Box<dyn Pages<Adjacent> + 'a>> {
        self.find_adjacent(request)
    }

    fn count_adjacent(&self, request: &Adjacency) -> GraphResult<Vec<u64>> {
        self.count_adjacent_of(request)
    }

    fn load_vertices(&self, references: &[Arc<Vertex>]) -> GraphResult<Vec<Option<Arc<Vertex>>>> {
        self.load(
            references,
            |vertex| (vertex.partition.as_ref(), &vertex.id),
            Kind::Vertex,
            |reader, source| reader.vertex(source),
        )
    }

    fn load_edges(&self, references: &[Arc<Edge>]) -> GraphResult<Vec<Option<Arc<Edge>>>> {
        self.load(
            references,
            |edge| (edge.partition.as_ref(), &edge.id),
            Kind::Edge,
            |reader, source| reader.edge(source),
        )
    }

    fn add_vertex(&self, vertex: NewVertex) -> GraphResult<Arc<Vertex>> {
        self.make_vertex(vertex).map(Arc::new)
    }

    fn add_edge(&self, edge: NewEdge) -> GraphResult<Arc<Edge>> {
        self.make_edge(edge).map(Arc::new)
    }

    fn set_vertex_properties(
        &self,
        vertex: &Arc<Vertex>,
        properties: &[NewProperty],
    ) -> GraphResult<Arc<Vertex>> {
        let address = self.addressed(self.vertex_address(vertex))?;
        self.change(&address, Kind::Vertex, vertex.version.as_deref(), |writer, body| {
            for property in properties {
                writer.set_vertex_property(body, property)?;
            }
            Ok(true)
        })?;
        self.reread_vertex(&address)
    }

    fn set_edge_properties(
        &self,
        edge: &Arc<Edge>,
        properties: &[(Arc<str>, Value)],
    ) -> GraphResult<Arc<Edge>> {
        let address = self.addressed(self.edge_address(edge))?;
        self.change(&address, Kind::Edge, edge.version.as_deref(), |writer, body| {
            for (name, value) in properties {
                writer.set_edge_property(body, name, value)?;
            }
            Ok(true)
        })?;
        match self.read_edge(&address)? {
            Some(edge) => Ok(Arc::new(edge)),
            None => Err(self.vanished(&address)),
        }
    }

    fn set_meta_properties(
        &self,
        vertex: &Arc<Vertex>,
        property_id: &Value,
        properties: &[(Arc<str>, Value)],
    ) -> GraphResult<Arc<Vertex>> {
        let address = self.addressed(self.vertex_address(vertex))?;
        self.change(&address, Kind::Vertex, vertex.version.as_deref(), |writer, body| {
            writer.set_meta(body, property_id, properties)
        })?;
        self.reread_vertex(&address)
    }

    fn drop_all(&self, dropped: &[Dropped]) -> GraphResult<()> {
        self.drop_elements(dropped)
    }
}

fn count<T>(mut pages: Box<dyn Pages<T> + '_>) -> GraphResult<u64> {
    let mut count = 0;
    while let Some(page) = pages.next_page()? {
        count += page.len() as u64;
    }
    Ok(count)
}
