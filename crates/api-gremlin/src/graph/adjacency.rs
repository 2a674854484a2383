//! What is next to vertices.
//!
//! An edge lies in the logical partition of the vertex that it leaves. So what leaves vertices of one partition is one
//! query in that partition; all else is one query over all of them, for as many vertices as are asked for.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use armilla_engine::plans::{Aggregate, BoundQuery, Expr, Grouping, Projection};
use armilla_engine::{Item, ListScope};
use armilla_gremlin_machine::graph::{
    Adjacency, Adjacent, Condition, Direction, Element, GraphResult, Need, Pages, Wanted,
};
use armilla_gremlin_value::{Edge, Value, Vertex};
use armilla_value::{Component, Kind, PartitionKey, Value as Stored};

use super::EngineGraph;
use super::equals::{EqualPages, Equals, member_path};
use super::lookups::{ItemPages, cut, nothing};
use super::neighbours::{Hop, NeighbourPages};
use crate::elements::{self, LABEL_DEFAULT, Source};
use crate::layout::members;
use crate::limits::LIST_VALUES_MAX;
use crate::lowering::{self, Lowered};
use crate::pending::Address;
use crate::values;

/// The end of an edge at which a vertex of the request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The edge leaves it.
    Out,
    /// The edge enters it.
    In,
}

impl End {
    pub(super) fn id_member(self) -> &'static str {
        match self {
            End::Out => members::OUT_ID,
            End::In => members::IN_ID,
        }
    }

    /// Returns the vertex of the request, and the one at the other end.
    fn vertices(self, edge: &Edge) -> (Vertex, Vertex) {
        let (out, into) = (elements::out_vertex(edge), elements::in_vertex(edge));
        match self {
            End::Out => (out, into),
            End::In => (into, out),
        }
    }
}

fn ends(direction: Direction) -> &'static [End] {
    match direction {
        Direction::Out => &[End::Out],
        Direction::In => &[End::In],
        Direction::Both => &[End::Out, End::In],
    }
}

/// The vertices of a request, by their ids: each with the partition that it lies in, and its place in the request.
#[derive(Default)]
pub(super) struct Sources(HashMap<Arc<str>, Vec<(PartitionKey, usize)>>);

impl Sources {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the place of a vertex whose partition satisfies a condition.
    pub(super) fn find(&self, id: &str, is_key: impl Fn(&PartitionKey) -> bool) -> Option<usize> {
        self.0.get(id)?.iter().find(|(key, _)| is_key(key)).map(|(_, place)| *place)
    }

    /// Returns their ids in order.
    pub(super) fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.0.keys().map(|id| &**id).collect();
        ids.sort_unstable();
        ids
    }

    /// Returns where the edges lie that have them at an end.
    pub(super) fn scope(&self, end: End) -> ListScope {
        let mut keys = self.0.values().flatten().map(|(key, _)| key);
        let first = keys.next();
        match (end, first.filter(|first| keys.all(|key| key == *first))) {
            (End::Out, Some(key)) => ListScope::PartitionKey(key.clone()),
            _ => ListScope::All,
        }
    }

    fn get(&self, address: &Address) -> Option<usize> {
        self.find(&address.id, |key| *key == address.key)
    }
}

/// A query for edges.
struct Search {
    end: End,
    query: BoundQuery,
    scope: ListScope,
}

/// Edges as they are found.
enum EdgePages<'g> {
    ByQuery(ItemPages<'g>),
    ByValue(EqualPages<'g>),
    PassedOver(NeighbourPages<'g>),
}

impl EdgePages<'_> {
    fn next(&mut self, sources: &Sources) -> GraphResult<Option<Hop>> {
        match self {
            EdgePages::ByQuery(pages) => Ok(pages.next()?.map(Hop::Edges)),
            EdgePages::ByValue(pages) => Ok(pages.next()?.map(Hop::Edges)),
            EdgePages::PassedOver(pages) => pages.next(sources),
        }
    }
}

impl EngineGraph {
    pub(super) fn find_adjacent<'g>(
        &'g self,
        request: &Adjacency,
    ) -> GraphResult<Box<dyn Pages<Adjacent> + 'g>> {
        let sources = self.sources(&request.vertices);
        if sources.is_empty() || request.limit == Some(0) {
            return Ok(nothing());
        }
        self.write_pending()?;
        let lowered = self.edge_conditions(request);
        // With a limit the store is asked for no more than that.
        let (searches, edge_conditions) = match request.limit {
            None => (self.by_values(request, &sources, &lowered), request.edge_conditions.clone()),
            limit => {
                let inexact = if lowered.is_exact { &[][..] } else { &request.edge_conditions[..] };
                (self.by_queries(self.searches(request, &sources, &lowered), limit), inexact.to_vec())
            }
        };
        Ok(Box::new(AdjacentPages {
            graph: self,
            sources,
            searches,
            edge_conditions,
            vertex_conditions: request.vertex_conditions.clone(),
            want: request.want,
            left: request.limit,
        }))
    }

    fn sources(&self, vertices: &[Arc<Vertex>]) -> Sources {
        let mut sources = Sources::default();
        for (place, vertex) in vertices.iter().enumerate() {
            if let Some(Address { key, id }) = self.vertex_address(vertex) {
                sources.0.entry(id).or_default().push((key, place));
            }
        }
        sources
    }

    fn edge_conditions(&self, request: &Adjacency) -> Lowered {
        let mut lowered = lowering::lower(&request.edge_conditions, lowering::Kind::Edge, &self.layout);
        if !request.labels.is_empty() {
            lowered
                .parts
                .push(lowering::is_one_of(members::LABEL, request.labels.iter().map(|label| &**label)));
        }
        lowered
    }

    fn by_queries(&self, searches: Vec<Search>, limit: Option<u64>) -> VecDeque<(End, EdgePages<'_>)> {
        let pages = searches.into_iter().map(|Search { end, query, scope }| {
            let searches = VecDeque::from([(Arc::new(query), scope)]);
            (end, EdgePages::ByQuery(ItemPages::new(self, searches, limit)))
        });
        pages.collect()
    }

    /// Finds the edges of vertices by the ids of those.
    fn by_values<'g>(
        &'g self,
        request: &Adjacency,
        sources: &Sources,
        lowered: &Lowered,
    ) -> VecDeque<(End, EdgePages<'g>)> {
        // What is written on the way is not to be found, and of what is made of edges it is not known which those are.
        let is_passed_over =
            is_passed_over(request.want, &request.edge_conditions, &request.vertex_conditions)
                && !self.reader.borrow().has_versions;
        let pages = ends(request.direction).iter().map(|end| {
            if is_passed_over {
                let pages = NeighbourPages::new(self, *end, request, sources, &lowered.parts);
                return (*end, EdgePages::PassedOver(pages));
            }
            let (labels, parts) = (request.labels.clone(), lowered.parts.clone());
            let equals = Equals {
                paths: vec![member_path(end.id_member())],
                values: sources.ids().into_iter().map(Stored::from).collect(),
                scope: sources.scope(*end),
                is_kept: true,
                keep: Box::new(move |item| {
                    labels.is_empty() || {
                        let label = Source::of(item).root.get(members::LABEL);
                        let label = label.as_ref().and_then(|label| label.as_str());
                        label.is_some_and(|label| labels.iter().any(|wanted| **wanted == *label))
                    }
                }),
                query: Box::new(move |values| {
                    let mut all = vec![lowering::equals_one_of(end.id_member(), values)];
                    all.extend(parts.iter().cloned());
                    lowering::items(lowering::all(all))
                }),
            };
            (*end, EdgePages::ByValue(EqualPages::new(self, equals)))
        });
        pages.collect()
    }

    /// Returns the queries that find the edges of vertices.
    fn searches(&self, request: &Adjacency, sources: &Sources, lowered: &Lowered) -> Vec<Search> {
        let ids = sources.ids();
        let mut searches = Vec::new();
        for end in ends(request.direction) {
            let scope = sources.scope(*end);
            for ids in ids.chunks(LIST_VALUES_MAX) {
                // Only edges have such a member.
                let mut parts = vec![lowering::is_one_of(end.id_member(), ids.iter().copied())];
                parts.extend(lowered.parts.iter().cloned());
                searches.push(Search {
                    end: *end,
                    query: lowering::items(lowering::all(parts)),
                    scope: scope.clone(),
                });
            }
        }
        searches
    }

    /// Counts what is next to each vertex.
    pub(super) fn count_adjacent_of(&self, request: &Adjacency) -> GraphResult<Vec<u64>> {
        let mut counts = vec![0_u64; request.vertices.len()];
        let lowered = self.edge_conditions(request);
        let is_whole = matches!(request.want, Wanted::Vertices(Need::Whole));
        if !request.vertex_conditions.is_empty() || !lowered.is_exact || is_whole || request.limit.is_some() {
            let mut pages = self.find_adjacent(request)?;
            while let Some(page) = pages.next_page()? {
                for adjacent in page {
                    if let Some(count) = counts.get_mut(adjacent.source) {
                        *count += 1;
                    }
                }
            }
            return Ok(counts);
        }
        let sources = self.sources(&request.vertices);
        if sources.is_empty() {
            return Ok(counts);
        }
        self.write_pending()?;
        for Search { end, query, scope } in self.searches(request, &sources, &lowered) {
            let partition = match end {
                End::Out => self.layout.partition.as_deref(),
                End::In => self.layout.partition.as_ref().map(|_| members::IN_PARTITION),
            };
            let mut keys = vec![lowering::member(end.id_member())];
            keys.extend(partition.map(lowering::member));
            let mut fields = vec![("i".to_owned(), Expr::GroupKey(0)), ("n".to_owned(), Expr::Aggregate(0))];
            if partition.is_some() {
                fields.push(("p".to_owned(), Expr::GroupKey(1)));
            }
            let query = BoundQuery {
                grouping: Some(Grouping {
                    keys,
                    aggregates: vec![(Aggregate::Count, Expr::constant(Stored::Int64(1)))],
                }),
                projection: Projection::Fields(fields),
                ..query
            };
            for row in self.store.values(&Arc::new(query), &scope)? {
                let key = row.get("p").map_or(Component::Undefined, Component::of);
                let Some(id) = row.get("i").and_then(Stored::as_str) else { continue };
                let address = Address { key: PartitionKey(vec![key]), id: id.into() };
                let number =
                    row.get("n").and_then(Stored::as_i64).and_then(|number| u64::try_from(number).ok());
                if let Some(count) = sources.get(&address).and_then(|place| counts.get_mut(place)) {
                    *count += number.unwrap_or(0);
                }
            }
        }
        Ok(counts)
    }
}

/// What is next to vertices, page by page.
struct AdjacentPages<'g> {
    graph: &'g EngineGraph,
    sources: Sources,
    searches: VecDeque<(End, EdgePages<'g>)>,
    /// What the index may not have decided.
    edge_conditions: Vec<Condition>,
    vertex_conditions: Vec<Condition>,
    want: Wanted,
    left: Option<u64>,
}

impl Pages<Adjacent> for AdjacentPages<'_> {
    fn next_page(&mut self) -> GraphResult<Option<Vec<Adjacent>>> {
        loop {
            if self.left == Some(0) {
                return Ok(None);
            }
            let Some((end, pages)) = self.searches.front_mut() else { return Ok(None) };
            let end = *end;
            let items = match pages.next(&self.sources)? {
                None => {
                    self.searches.pop_front();
                    continue;
                }
                Some(Hop::Neighbours(mut page)) => {
                    cut(&mut page, &mut self.left);
                    return Ok(Some(page));
                }
                Some(Hop::Edges(items)) => items,
            };
            if is_passed_over(self.want, &self.edge_conditions, &self.vertex_conditions) {
                let mut page = self.passed_over(end, &items);
                cut(&mut page, &mut self.left);
                return Ok(Some(page));
            }
            let mut found = Vec::with_capacity(items.len());
            let is_whole = self.want == Wanted::Edges(Need::Whole) || !self.edge_conditions.is_empty();
            {
                let reader = self.graph.reader.borrow();
                for item in &items {
                    let source = Source::of(item);
                    let edge = if is_whole { reader.edge(source) } else { reader.edge_reference(source) };
                    if self.edge_conditions.iter().all(|condition| condition.holds_for_edge(&edge)) {
                        found.push(edge);
                    }
                }
            }
            let mut page = self.adjacent(end, found)?;
            cut(&mut page, &mut self.left);
            return Ok(Some(page));
        }
    }
}

impl AdjacentPages<'_> {
    /// Makes the vertices at the other ends of edges, without making edges first.
    fn passed_over(&self, end: End, items: &[Item]) -> Vec<Adjacent> {
        let reader = self.graph.reader.borrow();
        let layout = &self.graph.layout;
        let own_partition = match end {
            End::Out => layout.partition.as_deref(),
            End::In => Some(members::IN_PARTITION),
        };
        let mut page = Vec::with_capacity(items.len());
        // Most have the label of the one before.
        let mut label: Arc<str> = LABEL_DEFAULT.into();
        for item in items {
            let root = Source::of(item).root;
            let Some(id) = root.get(end.id_member()) else { continue };
            let partition = own_partition.and_then(|name| root.get(name));
            let source = id.as_str().and_then(|id| {
                self.sources.find(&id, |key| match (key.0.as_slice(), &partition) {
                    ([Component::String(text)], Some(node)) if node.kind() == Kind::String => {
                        node.as_str().is_some_and(|own| *own == **text)
                    }
                    _ => {
                        layout.key(partition.as_ref().and_then(values::of_node).as_ref()).as_ref()
                            == Some(key)
                    }
                })
            });
            let Some(source) = source else { continue };
            let vertex = match end {
                End::Out => reader.vertex_entered(&root, &mut label),
                End::In => reader.vertex_left(&root, &mut label),
            };
            if self.vertex_conditions.iter().all(|condition| condition.holds_for_vertex(&vertex)) {
                page.push(Adjacent { source, element: Element::Vertex(Arc::new(vertex)) });
            }
        }
        page
    }

    /// Makes what is wanted of the edges of a page.
    fn adjacent(&self, end: End, edges: Vec<Edge>) -> GraphResult<Vec<Adjacent>> {
        let mut page = Vec::with_capacity(edges.len());
        let mut whole: HashMap<Address, Option<Arc<Vertex>>> = HashMap::new();
        let is_read = self.want == Wanted::Vertices(Need::Whole)
            || self.vertex_conditions.iter().any(is_about_properties);
        for edge in edges {
            let (own, other) = end.vertices(&edge);
            let Some(address) = self.graph.vertex_address(&own) else { continue };
            let Some(source) = self.sources.get(&address) else { continue };
            let element = match self.want {
                Wanted::Edges(_) => Element::Edge(Arc::new(edge)),
                Wanted::Vertices(_) => {
                    let vertex = match is_read {
                        false => Some(Arc::new(other)),
                        true => match self.graph.vertex_address(&other) {
                            None => None,
                            Some(address) => match whole.get(&address) {
                                Some(known) => known.clone(),
                                None => {
                                    let vertex = self.graph.read_vertex(&address)?.map(Arc::new);
                                    whole.insert(address, vertex.clone());
                                    vertex
                                }
                            },
                        },
                    };
                    let Some(vertex) = vertex else { continue };
                    if !self.vertex_conditions.iter().all(|condition| condition.holds_for_vertex(&vertex)) {
                        continue;
                    }
                    Element::Vertex(vertex)
                }
            };
            page.push(Adjacent { source, element });
        }
        Ok(page)
    }
}

/// Says whether nothing but the other ends of edges is wanted, and of those nothing but what edges know.
fn is_passed_over(want: Wanted, edge_conditions: &[Condition], vertex_conditions: &[Condition]) -> bool {
    want == Wanted::Vertices(Need::Reference)
        && edge_conditions.is_empty()
        && !vertex_conditions.iter().any(is_about_properties)
}

/// Says whether a condition asks for more of a vertex than its edges know.
fn is_about_properties(condition: &Condition) -> bool {
    !matches!(condition, Condition::Id(_) | Condition::Label(_))
}

/// Returns the text of an id, for orders and messages.
pub(super) fn shown_id(id: &Value) -> Arc<str> {
    values::id_text(id).unwrap_or_else(|| "".into())
}
