//! The vertices at the other ends of edges, as far as edges know them, made once and kept for those who ask again.
//!
//! Most hops go over edges without a look at them. What such a hop needs of the edges of a vertex is made of their items
//! where those have changed, and shared by all traversals in between: the engine keeps it, and knows when it is over.

use std::sync::Arc;

use armilla_engine::plans::Expr;
use armilla_engine::{Item, ItemLookup, ListScope, LookupWork, Made, Taken};
use armilla_gremlin_machine::graph::{Adjacency, Adjacent, Condition, Element, GraphResult};
use armilla_gremlin_value::{Value, Vertex};
use armilla_value::{PartitionKey, Value as Stored};

use super::EngineGraph;
use super::adjacency::{End, Sources};
use super::equals::{by_query, member_path};
use super::lookups::ItemPages;
use crate::elements::{LABEL_DEFAULT, Source};
use crate::layout::members;
use crate::limits::{LOOKUP_ENTRIES_MAX, LOOKUP_TIME_MAX, PAGE_ROWS};
use crate::lowering;
use crate::values;

/// What an edge takes in memory beside its texts, about.
const EDGE_BYTES: usize = size_of::<Neighbour>() + size_of::<Vertex>() + 64;

/// An edge as a hop sees it.
struct Neighbour {
    label: Option<Arc<str>>,
    /// Where the vertex lies at whose edge it is.
    own: Option<Arc<PartitionKey>>,
    /// The vertex at the other end.
    vertex: Arc<Vertex>,
    json_bytes: u64,
}

/// What comes of the edges of some vertices.
pub(super) enum Hop {
    Neighbours(Vec<Adjacent>),
    /// Edges that were found by a query instead.
    Edges(Vec<Item>),
}

/// Neighbours of vertices, page by page.
pub(super) struct NeighbourPages<'g> {
    graph: &'g EngineGraph,
    end: End,
    ids: Vec<Stored>,
    scope: ListScope,
    labels: Vec<Arc<str>>,
    /// What must hold of neighbours: nothing that edges do not know.
    conditions: Vec<Condition>,
    /// What a query would be asked of edges.
    parts: Vec<Expr>,
    /// How many of the ids are done.
    done: usize,
    work: LookupWork,
    instead: Option<ItemPages<'g>>,
}

impl<'g> NeighbourPages<'g> {
    pub(super) fn new(
        graph: &'g EngineGraph,
        end: End,
        request: &Adjacency,
        sources: &Sources,
        parts: &[Expr],
    ) -> NeighbourPages<'g> {
        NeighbourPages {
            graph,
            end,
            ids: sources.ids().into_iter().map(Stored::from).collect(),
            scope: sources.scope(end),
            labels: request.labels.to_vec(),
            conditions: request.vertex_conditions.clone(),
            parts: parts.to_vec(),
            done: 0,
            work: LookupWork::default(),
            instead: None,
        }
    }

    /// Returns the next of them, which may be none; nothing at the end.
    pub(super) fn next(&mut self, sources: &Sources) -> GraphResult<Option<Hop>> {
        if let Some(pages) = &mut self.instead {
            if let Some(page) = pages.next()? {
                return Ok(Some(Hop::Edges(page)));
            }
            self.instead = None;
        }
        let Some(ids) = self.ids.get(self.done..).filter(|ids| !ids.is_empty()) else { return Ok(None) };
        let lookup = ItemLookup {
            paths: &[member_path(self.end.id_member())],
            values: ids,
            scope: &self.scope,
            items_max: PAGE_ROWS,
            time_max: LOOKUP_TIME_MAX,
            entries_max: LOOKUP_ENTRIES_MAX,
            is_kept: true,
            before: self.work,
        };
        let mut page = Vec::new();
        let make = |items: &[Item]| made_of(self.graph, self.end, items);
        let mut take = |place: usize, made: &Made| {
            let (Some(id), Some(edges)) =
                (ids.get(place).and_then(Stored::as_str), made.downcast_ref::<Vec<Neighbour>>())
            else {
                return Taken::default();
            };
            self.take(id, edges, sources, &mut page)
        };
        let Some(found) = self.graph.store.look_up_made(&lookup, &make, &mut take)? else {
            self.instead = Some(self.by_query(ids));
            self.done = self.ids.len();
            return Ok(Some(Hop::Neighbours(Vec::new())));
        };
        let crowded = ids.get(found.done..=found.done).filter(|_| found.is_crowded);
        self.instead = crowded.map(|crowded| self.by_query(crowded));
        self.work = found.work;
        self.done += found.done + usize::from(found.is_crowded);
        Ok(Some(Hop::Neighbours(page)))
    }

    /// Adds the neighbours that are wanted of a vertex; all edges with a label that is are paid for.
    fn take(&self, id: &str, edges: &[Neighbour], sources: &Sources, page: &mut Vec<Adjacent>) -> Taken {
        let mut taken = Taken::default();
        for edge in edges {
            let has_label =
                || edge.label.as_ref().is_some_and(|label| self.labels.iter().any(|wanted| wanted == label));
            if !self.labels.is_empty() && !has_label() {
                taken.rejected += 1;
                continue;
            }
            taken.items += 1;
            taken.bytes += edge.json_bytes;
            let source = edge.own.as_ref().and_then(|own| sources.find(id, |key| *key == **own));
            let Some(source) = source else { continue };
            if self.conditions.iter().all(|condition| condition.holds_for_vertex(&edge.vertex)) {
                page.push(Adjacent { source, element: Element::Vertex(edge.vertex.clone()) });
            }
        }
        taken
    }

    fn by_query(&self, ids: &[Stored]) -> ItemPages<'g> {
        by_query(self.graph, ids, &self.scope, &|ids| {
            let mut all = vec![lowering::equals_one_of(self.end.id_member(), ids)];
            all.extend(self.parts.iter().cloned());
            lowering::items(lowering::all(all))
        })
    }
}

/// Makes what hops need of edges, and says what it takes in memory.
fn made_of(graph: &EngineGraph, end: End, items: &[Item]) -> (Made, usize) {
    let reader = graph.reader.borrow();
    let layout = &graph.layout;
    let own_name = match end {
        End::Out => layout.partition.as_deref(),
        End::In => Some(members::IN_PARTITION),
    };
    let mut bytes = 0;
    // Most have what the one before has.
    let mut vertex_label: Arc<str> = LABEL_DEFAULT.into();
    let (mut label, mut own): (Option<Arc<str>>, Option<Arc<PartitionKey>>) = (None, None);
    let mut edges: Vec<Neighbour> = Vec::with_capacity(items.len());
    for item in items {
        let root = Source::of(item).root;
        let node = root.get(members::LABEL);
        let text = node.as_ref().and_then(|node| node.as_str());
        if label.as_deref() != text.as_deref() {
            label = text.as_deref().map(Arc::from);
        }
        let partition = own_name.and_then(|name| root.get(name)).and_then(|node| values::of_node(&node));
        let key = layout.key(partition.as_ref());
        if own.as_deref() != key.as_ref() {
            own = key.map(Arc::new);
        }
        let vertex = match end {
            End::Out => reader.vertex_entered(&root, &mut vertex_label),
            End::In => reader.vertex_left(&root, &mut vertex_label),
        };
        bytes += EDGE_BYTES + text_bytes(&vertex.id) + vertex.partition.as_ref().map_or(0, text_bytes);
        let json_bytes = item.json_bytes(graph.store.handle.identity()) as u64;
        edges.push(Neighbour {
            label: label.clone(),
            own: own.clone(),
            vertex: Arc::new(vertex),
            json_bytes,
        });
    }
    (Arc::new(edges), bytes)
}

fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 16,
        _ => 16,
    }
}
