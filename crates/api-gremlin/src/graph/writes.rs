//! Writing elements: gathered, and done before what they change is looked for.
//!
//! What a traversal writes in one logical partition between two lookups is one commit. A property is set under the version
//! that the traversal has read: if another has written the element meanwhile, the traversal fails.

use std::sync::Arc;

use armilla_engine::{ActionDone, ETag, Error, ErrorKind, RequestUnits, ResourceKind, Triggers, WriteMode};
use armilla_gremlin_machine::graph::{
    Adjacency, Direction, Dropped, Element, GraphError, GraphErrorKind, GraphResult, Need, NewEdge,
    NewVertex, Wanted,
};
use armilla_gremlin_value::{Edge, Value, Vertex};
use armilla_value::{Object, PartitionKey, Value as Stored};
use tokio::task::JoinSet;

use super::adjacency::shown_id;
use super::{EngineGraph, READ_ONLY, is_there, known_partition};
use crate::bodies::{BodyError, EdgeParts, Writer};
use crate::elements::LABEL_DEFAULT;
use crate::limits::{BATCH_WRITES_MAX, BATCHES_AT_ONCE_MAX, WRITES_GATHERED_MAX};
use crate::lowering::Kind;
use crate::pending::{Address, Group, Write};
use crate::store::{self, Charges};
use crate::values;

/// What a client is told whose element is there already.
const CONFLICT: &str = "Conflicting request to resource has been attempted. Retry to avoid conflicts.";

/// What became of writes: of each that was done, its version; and what the last one failed with.
struct Written {
    done: Vec<(Address, Option<ETag>)>,
    charge: RequestUnits,
    operations: usize,
    failed: Option<Error>,
}

impl EngineGraph {
    fn writer<'w>(&'w self, new_id: &'w dyn Fn() -> String) -> Writer<'w> {
        Writer { layout: &self.layout, new_id, repeats_are_lists: self.repeats_are_lists }
    }

    fn new_id(&self) -> String {
        let mut bytes = [0; 16];
        self.env.entropy.fill(&mut bytes);
        // A random UUID, as the standard marks it.
        let bits = u128::from_be_bytes(bits_of_version_4(bytes));
        values::uuid_text(bits)
    }

    fn may_write(&self) -> GraphResult<()> {
        if self.may_write { Ok(()) } else { Err(GraphError::new(GraphErrorKind::ReadOnly, READ_ONLY)) }
    }

    pub(super) fn addressed(&self, address: Option<Address>) -> GraphResult<Address> {
        address.ok_or_else(|| refused("an element needs an id that is a text or a number"))
    }

    pub(super) fn vanished(&self, address: &Address) -> GraphError {
        missing(&address.id)
    }

    pub(super) fn reread_vertex(&self, address: &Address) -> GraphResult<Arc<Vertex>> {
        match self.read_vertex(address)? {
            Some(vertex) => Ok(Arc::new(vertex)),
            None => Err(self.vanished(address)),
        }
    }

    pub(super) fn make_vertex(&self, vertex: NewVertex) -> GraphResult<Vertex> {
        self.may_write()?;
        let id = self.id_or_new(vertex.id.as_ref())?;
        let label = vertex.label.as_deref().unwrap_or(LABEL_DEFAULT);
        let new_id = || self.new_id();
        let body = self.writer(&new_id).vertex(&id, label, &vertex.properties).map_err(body_error)?;
        let partition =
            self.layout.partition.as_deref().and_then(|name| body.get(name)).and_then(values::of_stored);
        let address = self.addressed(self.address(partition.as_ref(), &Value::String(id)))?;
        self.create(&address, body)?;
        match self.read_vertex(&address)? {
            Some(vertex) => Ok(vertex),
            None => Err(self.vanished(&address)),
        }
    }

    pub(super) fn make_edge(&self, edge: NewEdge) -> GraphResult<Edge> {
        self.may_write()?;
        let out_vertex = self.with_partition(&edge.out_vertex)?;
        let in_vertex = self.with_partition(&edge.in_vertex)?;
        let id = self.id_or_new(edge.id.as_ref())?;
        let new_id = || self.new_id();
        let parts = EdgeParts {
            id: &id,
            label: &edge.label,
            out_id: &shown_id(&out_vertex.id),
            out_label: &out_vertex.label,
            out_partition: out_vertex.partition.as_ref(),
            in_id: &shown_id(&in_vertex.id),
            in_label: &in_vertex.label,
            in_partition: in_vertex.partition.as_ref(),
        };
        let body = self.writer(&new_id).edge(&parts, &edge.properties).map_err(body_error)?;
        let address =
            self.addressed(self.address(out_vertex.partition.as_ref(), &Value::String(id.clone())))?;
        self.create(&address, body)?;
        match self.read_edge(&address)? {
            Some(edge) => Ok(edge),
            None => Err(self.vanished(&address)),
        }
    }

    /// Finds out where a vertex lies, if its reference does not say.
    fn with_partition(&self, vertex: &Arc<Vertex>) -> GraphResult<Arc<Vertex>> {
        // An item without the partition key may be a vertex, too: then it was read, and has a version or properties.
        let was_read = vertex.version.is_some() || vertex.properties.is_some();
        if was_read || known_partition(&self.layout, vertex.partition.as_ref()).is_some() {
            return Ok(vertex.clone());
        }
        use armilla_gremlin_machine::graph::Graph as _;
        match self.load_vertices(std::slice::from_ref(vertex))?.pop().flatten() {
            Some(vertex) => Ok(vertex),
            None => Err(missing(&shown_id(&vertex.id))),
        }
    }

    fn id_or_new(&self, id: Option<&Value>) -> GraphResult<Arc<str>> {
        match id {
            None => Ok(self.new_id().into()),
            Some(id) => match values::id_text(id) {
                Some(text) if !text.is_empty() => Ok(text),
                _ => Err(refused("an element needs an id that is a text or a number")),
            },
        }
    }

    fn create(&self, address: &Address, body: Object) -> GraphResult<()> {
        {
            let mut pending = self.pending.borrow_mut();
            if pending.get(address).is_some_and(is_there) {
                return Err(store::failure(Error::new(
                    ErrorKind::AlreadyExists(ResourceKind::Item),
                    CONFLICT,
                )));
            }
            pending.put(address.clone(), Write::Create(body));
        }
        self.write_if_many()
    }

    /// Changes an element, which must be as the traversal has read it. Nothing is written where nothing changes.
    pub(super) fn change(
        &self,
        address: &Address,
        kind: Kind,
        version: Option<&str>,
        change: impl FnOnce(&Writer<'_>, &mut Object) -> Result<bool, BodyError>,
    ) -> GraphResult<()> {
        self.may_write()?;
        let new_id = || self.new_id();
        let writer = self.writer(&new_id);
        let planned = self.pending.borrow().get(address).cloned();
        let (mut body, etag) = match planned {
            Some(Write::Delete) => return Err(self.vanished(address)),
            Some(Write::Create(body) | Write::Overwrite(body)) => (body, None),
            Some(Write::Replace(body, etag)) => (body, Some(etag)),
            None => {
                let Some(item) = self.store.read(&address.key, &address.id)? else {
                    return Err(self.vanished(address));
                };
                let etag = self.etag(&item);
                let own = self.pending.borrow().done(address).and_then(|done| done.etag);
                let read = match own {
                    Some(own) => Some(own),
                    None => version.and_then(ETag::parse),
                };
                if read.is_some_and(|read| read != etag) {
                    return Err(store::failure(Error::new(
                        ErrorKind::PreconditionFailed,
                        "another has written the element since it was read",
                    )));
                }
                match item.stored().root().to_value() {
                    Stored::Object(body) => (body, Some(etag)),
                    _ => return Err(self.vanished(address)),
                }
            }
        };
        if body.contains(crate::layout::members::IS_EDGE) != (kind == Kind::Edge) {
            return Err(self.vanished(address));
        }
        if !change(&writer, &mut body).map_err(body_error)? {
            return Ok(());
        }
        let write = match etag {
            Some(etag) => Write::Replace(body, etag),
            None => Write::Create(body),
        };
        self.replace_pending(address, write);
        self.write_if_many()
    }

    fn replace_pending(&self, address: &Address, write: Write) {
        let mut pending = self.pending.borrow_mut();
        let is_new = matches!(pending.get(address), Some(Write::Create(_) | Write::Overwrite(_)));
        let write = match write {
            // The place that it has says what it is; only the body changes.
            Write::Create(body) if is_new => Write::Replace(body, ETag::new(0, 0, 0, 0)),
            write => write,
        };
        pending.put(address.clone(), write);
    }

    pub(super) fn drop_elements(&self, dropped: &[Dropped]) -> GraphResult<()> {
        self.may_write()?;
        let vertices: Vec<Arc<Vertex>> = dropped
            .iter()
            .filter_map(|dropped| match dropped {
                Dropped::Vertex(vertex) => Some(vertex.clone()),
                _ => None,
            })
            .collect();
        if !vertices.is_empty() {
            self.drop_vertices(vertices)?;
        }
        for dropped in dropped {
            match dropped {
                Dropped::Vertex(_) => {}
                Dropped::Edge(edge) => self.delete(self.edge_address(edge))?,
                Dropped::VertexProperty { vertex, id, .. } => {
                    let address = self.addressed(self.vertex_address(vertex))?;
                    self.forgiving(self.change(
                        &address,
                        Kind::Vertex,
                        vertex.version.as_deref(),
                        |writer, body| writer.drop_vertex_property(body, id),
                    ))?;
                }
                Dropped::EdgeProperty { edge, key } => {
                    let address = self.addressed(self.edge_address(edge))?;
                    self.forgiving(self.change(
                        &address,
                        Kind::Edge,
                        edge.version.as_deref(),
                        |writer, body| Ok(writer.drop_edge_property(body, key)),
                    ))?;
                }
                Dropped::MetaProperty { vertex, property_id, key, .. } => {
                    let address = self.addressed(self.vertex_address(vertex))?;
                    self.forgiving(self.change(
                        &address,
                        Kind::Vertex,
                        vertex.version.as_deref(),
                        |writer, body| Ok(writer.drop_meta(body, property_id, key)),
                    ))?;
                }
            }
        }
        Ok(())
    }

    /// What is gone already need not be dropped.
    fn forgiving(&self, outcome: GraphResult<()>) -> GraphResult<()> {
        match outcome {
            Err(error) if engine_kind(&error) == Some(ErrorKind::NotFound(ResourceKind::Item)) => Ok(()),
            outcome => outcome,
        }
    }

    /// Drops vertices with all edges that leave or enter them.
    fn drop_vertices(&self, vertices: Vec<Arc<Vertex>>) -> GraphResult<()> {
        let mut seen = std::collections::HashSet::new();
        let mut vertices = vertices;
        vertices.retain(|vertex| self.vertex_address(vertex).is_some_and(|address| seen.insert(address)));
        let request = Adjacency {
            vertices: vertices.clone(),
            direction: Direction::Both,
            labels: Vec::new(),
            edge_conditions: Vec::new(),
            vertex_conditions: Vec::new(),
            want: Wanted::Edges(Need::Reference),
            limit: None,
        };
        let mut edges: Vec<Address> = Vec::new();
        let mut pages = self.find_adjacent(&request)?;
        while let Some(page) = pages.next_page()? {
            for adjacent in page {
                if let Element::Edge(edge) = adjacent.element {
                    edges.extend(self.edge_address(&edge));
                }
            }
            self.store.deadline.check()?;
        }
        drop(pages);
        for address in edges {
            self.delete(Some(address))?;
        }
        for vertex in &vertices {
            self.delete(self.vertex_address(vertex))?;
        }
        Ok(())
    }

    fn delete(&self, address: Option<Address>) -> GraphResult<()> {
        let Some(address) = address else { return Ok(()) };
        self.pending.borrow_mut().put(address, Write::Delete);
        self.write_if_many()
    }

    fn write_if_many(&self) -> GraphResult<()> {
        if self.pending.borrow().len() < WRITES_GATHERED_MAX { Ok(()) } else { self.write_pending() }
    }

    /// Does what was gathered: each logical partition's writes as one, as far as they fit into one.
    pub(super) fn write_pending(&self) -> GraphResult<()> {
        if self.pending.borrow().len() == 0 {
            return Ok(());
        }
        self.store.deadline.check_may_wait()?;
        self.store.deadline.check()?;
        let batches = batches(self.pending.borrow_mut().take());
        let doing = Doing::of(self);
        for some in chunks(batches) {
            let mut failed = None;
            for written in self.store.runtime.block_on(doing.run(some)) {
                self.store.count(written.charge, written.operations, 0);
                let mut pending = self.pending.borrow_mut();
                for (address, etag) in written.done {
                    pending.note(address, etag);
                }
                failed = failed.or(written.failed);
            }
            if let Some(error) = failed {
                return Err(store::failure(error));
            }
        }
        Ok(())
    }

    /// Returns the writes that a traversal which was tried has left, if there are any.
    pub(crate) fn into_writes(self) -> Option<Writes> {
        let doing = Doing::of(&self);
        let batches = batches(self.pending.into_inner().take());
        (!batches.is_empty()).then_some(Writes { doing, batches })
    }
}

/// Writes of a traversal that has ended.
pub(crate) struct Writes {
    doing: Doing,
    batches: Vec<Group>,
}

impl Writes {
    /// Does them.
    pub(crate) async fn run(self, charges: &Charges) -> GraphResult<()> {
        for some in chunks(self.batches) {
            let mut failed = None;
            for written in self.doing.run(some).await {
                charges.add(written.charge);
                failed = failed.or(written.failed);
            }
            if let Some(error) = failed {
                return Err(store::failure(error));
            }
        }
        Ok(())
    }
}

/// Does writes away from the traversal's thread.
#[derive(Clone)]
struct Doing {
    engine: armilla_engine::Engine,
    caller: armilla_engine::Caller,
    handle: Arc<armilla_engine::ContainerHandle>,
}

impl Doing {
    fn of(graph: &EngineGraph) -> Doing {
        let store = &graph.store;
        Doing { engine: store.engine.clone(), caller: store.caller.clone(), handle: store.handle.clone() }
    }

    /// Does some batches at once.
    async fn run(&self, batches: Vec<Group>) -> Vec<Written> {
        // Mostly there is one, which needs no task.
        let batches = match <[Group; 1]>::try_from(batches) {
            Ok([batch]) => return vec![self.clone().batch(batch).await],
            Err(batches) => batches,
        };
        let mut tasks = JoinSet::new();
        for batch in batches {
            tasks.spawn(self.clone().batch(batch));
        }
        let mut outcomes = Vec::new();
        while let Some(outcome) = tasks.join_next().await {
            outcomes.push(outcome.unwrap_or_else(|_| Written {
                done: Vec::new(),
                charge: RequestUnits::ZERO,
                operations: 0,
                failed: Some(Error::new(ErrorKind::Internal, "a write could not be done")),
            }));
        }
        outcomes
    }

    async fn batch(self, (key, mut writes): Group) -> Written {
        let mut written =
            Written { done: Vec::new(), charge: RequestUnits::ZERO, operations: writes.len(), failed: None };
        if let [(_, Write::Create(_))] = writes.as_slice()
            && let Some((id, Write::Create(body))) = writes.pop()
        {
            self.create(key, id, body, &mut written).await;
            return written;
        }
        // What is to be dropped may be gone already: then nothing of the batch was done, and the rest is done again, still
        // as one. Each round has less to do than the one before.
        while !writes.is_empty() {
            let actions = writes.iter().map(|(id, write)| write.clone().action(id)).collect();
            let answer = self.engine.execute_batch(&self.caller, &self.handle, Some(&key), actions).await;
            let results = match answer {
                Ok(answer) => {
                    written.charge += answer.charge;
                    answer.results
                }
                Err(error) => {
                    written.charge += error.charge;
                    written.failed = Some(told(error));
                    return written;
                }
            };
            let mut vanished = Vec::new();
            let mut done = Vec::new();
            for (index, ((id, write), result)) in writes.iter().zip(results).enumerate() {
                match result {
                    Ok(result) => {
                        done.push((Address { key: key.clone(), id: id.clone() }, self.etag(&result)));
                    }
                    Err(error) if error.kind == ErrorKind::FailedDependency => {}
                    Err(error)
                        if matches!(write, Write::Delete)
                            && error.kind == ErrorKind::NotFound(ResourceKind::Item) =>
                    {
                        vanished.push(index);
                    }
                    Err(error) => written.failed = Some(told(error)),
                }
            }
            if vanished.is_empty() || written.failed.is_some() {
                written.done.extend(done);
                return written;
            }
            for index in vanished.into_iter().rev() {
                let (id, _) = writes.remove(index);
                written.done.push((Address { key: key.clone(), id }, None));
            }
        }
        written
    }

    async fn create(&self, key: PartitionKey, id: Arc<str>, body: Object, written: &mut Written) {
        let (engine, caller, none) = (&self.engine, &self.caller, Triggers::default());
        let body = Stored::Object(body).into();
        let create = engine.write_item(
            caller,
            &self.handle,
            WriteMode::Create,
            Some(&key),
            body,
            armilla_engine::Precondition::None,
            &none,
        );
        match create.await {
            Ok(done) => {
                written.charge += done.charge;
                written.done.push((Address { key, id }, Some(done.item.etag(self.handle.identity()))));
            }
            Err(error) => {
                written.charge += error.charge;
                written.failed = Some(told(error));
            }
        }
    }

    fn etag(&self, done: &ActionDone) -> Option<ETag> {
        match done {
            ActionDone::Written(written) => Some(written.item.etag(self.handle.identity())),
            _ => None,
        }
    }
}

/// Cuts the writes of each logical partition into those that are done as one.
fn batches(groups: Vec<Group>) -> Vec<Group> {
    let mut batches: Vec<Group> = Vec::new();
    for (key, mut writes) in groups {
        while writes.len() > BATCH_WRITES_MAX {
            let rest = writes.split_off(BATCH_WRITES_MAX);
            batches.push((key.clone(), writes));
            writes = rest;
        }
        batches.push((key, writes));
    }
    batches
}

/// Cuts batches into those that are done at once.
fn chunks(batches: Vec<Group>) -> Vec<Vec<Group>> {
    let mut cut = Vec::new();
    let mut batches = batches.into_iter().peekable();
    while batches.peek().is_some() {
        cut.push(batches.by_ref().take(BATCHES_AT_ONCE_MAX).collect());
    }
    cut
}

/// Returns a failure with the words that clients know.
fn told(error: Error) -> Error {
    match error.kind {
        ErrorKind::AlreadyExists(_) => Error { message: CONFLICT.to_owned(), ..error },
        _ => error,
    }
}

fn missing(id: &str) -> GraphError {
    let message =
        format!("Resource Not Found: no element has the id '{id}' any more: another may have dropped it");
    store::failure(Error::new(ErrorKind::NotFound(ResourceKind::Item), message))
}

fn body_error(error: BodyError) -> GraphError {
    GraphError::new(GraphErrorKind::Refused, error.0)
}

fn refused(message: &str) -> GraphError {
    GraphError::new(GraphErrorKind::Refused, message)
}

/// Returns the kind of the engine's failure that is the cause of one of the graph, if it is.
pub(crate) fn engine_kind(error: &GraphError) -> Option<ErrorKind> {
    let cause = error.cause.as_ref()?;
    cause.downcast_ref::<Error>().map(|error| error.kind)
}

fn bits_of_version_4(mut bytes: [u8; 16]) -> [u8; 16] {
    bytes[6] = (bytes[6] & 0x0F) | 0x40;
    bytes[8] = (bytes[8] & 0x3F) | 0x80;
    bytes
}
