//! Finding vertices and edges: by their addresses, by the index, page by page.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use armilla_engine::plans::{Aggregate, BoundQuery, Expr, Grouping, Projection};
use armilla_engine::{Item, ListScope, PathSegment};
use armilla_gremlin_machine::graph::{Condition, ElementId, GraphResult, Lookup, Need, Pages, ReadyPages};
use armilla_gremlin_value::{Edge, PredicateKind, Value, Vertex};
use armilla_value::{PartitionKey, Value as Stored};

use super::equals::{EqualPages, Equals, member_path};
use super::{EngineGraph, known_partition};
use crate::elements::{Reader, Source};
use crate::layout::{self, members};
use crate::limits::{FIRST_PAGE_ROWS, LIST_VALUES_MAX, PAGE_ROWS, SCOPES_MAX};
use crate::lowering::{self, Kind};
use crate::pending::Address;
use crate::values;

/// Where what a lookup asks for can lie.
struct Places {
    /// The logical partitions, where the conditions say which.
    keys: Option<Vec<PartitionKey>>,
    /// The ids, each with its partition where it is known.
    ids: Option<Vec<(Option<PartitionKey>, Arc<str>)>>,
}

/// An element that can be looked for.
pub(super) trait Found: Sized {
    const KIND: Kind;
    fn make(reader: &Reader, source: Source<'_>, need: Need) -> Self;
    fn satisfies(&self, conditions: &[Condition]) -> bool;
    fn address(&self, graph: &EngineGraph) -> Option<Address>;
}

impl Found for Vertex {
    const KIND: Kind = Kind::Vertex;

    fn make(reader: &Reader, source: Source<'_>, need: Need) -> Vertex {
        match need {
            Need::Reference => reader.vertex_reference(source),
            Need::Whole => reader.vertex(source),
        }
    }

    fn satisfies(&self, conditions: &[Condition]) -> bool {
        conditions.iter().all(|condition| condition.holds_for_vertex(self))
    }

    fn address(&self, graph: &EngineGraph) -> Option<Address> {
        graph.vertex_address(self)
    }
}

impl Found for Edge {
    const KIND: Kind = Kind::Edge;

    fn make(reader: &Reader, source: Source<'_>, need: Need) -> Edge {
        match need {
            Need::Reference => reader.edge_reference(source),
            Need::Whole => reader.edge(source),
        }
    }

    fn satisfies(&self, conditions: &[Condition]) -> bool {
        conditions.iter().all(|condition| condition.holds_for_edge(self))
    }

    fn address(&self, graph: &EngineGraph) -> Option<Address> {
        graph.edge_address(self)
    }
}

impl EngineGraph {
    pub(super) fn find_vertices<'g>(
        &'g self,
        lookup: &Lookup,
    ) -> GraphResult<Box<dyn Pages<Arc<Vertex>> + 'g>> {
        self.find(lookup)
    }

    pub(super) fn find_edges<'g>(&'g self, lookup: &Lookup) -> GraphResult<Box<dyn Pages<Arc<Edge>> + 'g>> {
        self.find(lookup)
    }

    fn find<'g, T: Found + 'g>(&'g self, lookup: &Lookup) -> GraphResult<Box<dyn Pages<Arc<T>> + 'g>> {
        let places = self.places(lookup);
        let Some(ids) = places.ids else {
            return self.search(lookup, places.keys.as_deref(), None);
        };
        let mut addresses: Vec<Address> = Vec::new();
        let mut elsewhere: Vec<Arc<str>> = Vec::new();
        let mut seen = HashSet::new();
        for (key, id) in ids {
            let keys = match (&key, &places.keys) {
                (Some(key), _) => std::slice::from_ref(key),
                (None, Some(keys)) if keys.len() <= SCOPES_MAX => keys.as_slice(),
                _ => {
                    elsewhere.push(id);
                    continue;
                }
            };
            for key in keys {
                let address = Address { key: key.clone(), id: id.clone() };
                if seen.insert(address.clone()) {
                    addresses.push(address);
                }
            }
        }
        let points = PointPages {
            graph: self,
            addresses: addresses.into(),
            seen,
            conditions: lookup.conditions.clone(),
            need: lookup.need,
            left: lookup.limit,
            rest: match elsewhere.is_empty() {
                true => None,
                false => Some(self.search(lookup, None, Some(elsewhere))?),
            },
        };
        Ok(Box::new(points))
    }

    /// Finds out where what is looked for can lie.
    fn places(&self, lookup: &Lookup) -> Places {
        let whole = |id: &Value| -> Option<(Option<PartitionKey>, Arc<str>)> {
            let key = match &self.layout.partition {
                None => self.layout.key(None),
                Some(_) => None,
            };
            Some((key, values::id_text(id)?))
        };
        let ids = lookup.ids.as_ref().map(|ids| {
            let each = ids.iter().filter_map(|id| match id {
                ElementId::Id(Value::Vertex(vertex)) => Some((
                    known_partition(&self.layout, vertex.partition.as_ref()),
                    values::id_text(&vertex.id)?,
                )),
                ElementId::Id(Value::Edge(edge)) => {
                    Some((known_partition(&self.layout, edge.partition.as_ref()), values::id_text(&edge.id)?))
                }
                ElementId::Id(id) => whole(id),
                // What no element can have is no partition.
                ElementId::InPartition { partition, id } => {
                    Some((Some(self.layout.key(Some(partition))?), values::id_text(id)?))
                }
            });
            each.collect()
        });
        let mut places = Places { keys: None, ids };
        for condition in &lookup.conditions {
            match condition {
                Condition::Property { key, predicate } if self.layout.is_partition(key) => {
                    let values = match predicate.kind {
                        PredicateKind::Eq | PredicateKind::Within => lowering::listed(&predicate.values),
                        _ => continue,
                    };
                    let keys: Vec<PartitionKey> =
                        values.into_iter().filter_map(|value| self.layout.key(Some(value))).collect();
                    if places.keys.as_ref().is_none_or(|known| keys.len() < known.len()) {
                        places.keys = Some(keys);
                    }
                }
                Condition::Id(predicate) if places.ids.is_none() => {
                    if matches!(predicate.kind, PredicateKind::Eq | PredicateKind::Within) {
                        places.ids =
                            Some(lowering::listed(&predicate.values).into_iter().filter_map(whole).collect());
                    }
                }
                _ => {}
            }
        }
        places
    }

    /// Looks for elements with the index.
    fn search<'g, T: Found + 'g>(
        &'g self,
        lookup: &Lookup,
        keys: Option<&[PartitionKey]>,
        ids: Option<Vec<Arc<str>>>,
    ) -> GraphResult<Box<dyn Pages<Arc<T>> + 'g>> {
        self.write_pending()?;
        let lowered = lowering::lower(&lookup.conditions, T::KIND, &self.layout);
        if let Some(equals) = self.equals(lookup, T::KIND, &lowered.parts, keys, ids.as_deref()) {
            return Ok(Box::new(SearchPages {
                graph: self,
                items: FoundItems::ByValue(Box::new(EqualPages::new(self, equals))),
                // All of them: the index has decided about one.
                conditions: lookup.conditions.clone(),
                need: lookup.need,
                left: None,
                _found: std::marker::PhantomData::<fn() -> T>,
            }));
        }
        let queries: Vec<Arc<BoundQuery>> = match ids {
            None => vec![Arc::new(query(T::KIND, &lowered.parts, None))],
            Some(ids) => ids
                .chunks(LIST_VALUES_MAX)
                .map(|ids| Arc::new(query(T::KIND, &lowered.parts, Some(ids))))
                .collect(),
        };
        let scopes = scopes(keys);
        let searches =
            queries.iter().flat_map(|query| scopes.iter().map(move |scope| (query.clone(), scope.clone())));
        let limit = lookup.limit.filter(|_| lowered.is_exact);
        Ok(Box::new(SearchPages {
            graph: self,
            items: FoundItems::ByQuery(ItemPages::new(self, searches.collect(), limit)),
            conditions: if lowered.is_exact { Vec::new() } else { lookup.conditions.clone() },
            need: lookup.need,
            left: lookup.limit,
            _found: std::marker::PhantomData::<fn() -> T>,
        }))
    }

    /// Returns the values by which elements can be looked for without a query: their ids, or those of a property.
    fn equals<'g>(
        &'g self,
        lookup: &Lookup,
        kind: Kind,
        parts: &[Expr],
        keys: Option<&[PartitionKey]>,
        ids: Option<&[Arc<str>]>,
    ) -> Option<Equals<'g>> {
        // With a limit the store is asked for no more than that.
        if lookup.limit.is_some() {
            return None;
        }
        let mut scopes = scopes(keys);
        let scope = scopes.pop().filter(|_| scopes.is_empty())?;
        let (paths, values) = match ids {
            Some(ids) => {
                let mut seen = HashSet::new();
                let each = ids.iter().filter(|id| seen.insert(&***id));
                (vec![member_path(members::ID)], each.map(|id| Stored::from(&**id)).collect())
            }
            None => lookup.conditions.iter().find_map(|condition| self.equal_values(condition, kind))?,
        };
        let has_ids = ids.is_some();
        let parts = parts.to_vec();
        Some(Equals {
            paths,
            values,
            scope,
            is_kept: false,
            keep: Box::new(move |item| Source::of(item).is_edge() == (kind == Kind::Edge)),
            query: Box::new(move |values| {
                let mut parts = parts.clone();
                if has_ids {
                    parts.insert(0, lowering::equals_one_of(members::ID, values));
                }
                parts.push(lowering::is_kind(kind));
                lowering::items(lowering::all(parts))
            }),
        })
    }

    /// Returns the values that a condition asks for, and where elements have them that satisfy it.
    fn equal_values(
        &self,
        condition: &Condition,
        kind: Kind,
    ) -> Option<(Vec<Vec<PathSegment>>, Vec<Stored>)> {
        let Condition::Property { key, predicate } = condition else { return None };
        if predicate.kind != PredicateKind::Eq || !layout::is_free(key) || self.layout.is_partition(key) {
            return None;
        }
        let value = lowering::constant(predicate.values.first()?)?;
        if value.as_f64().is_some_and(f64::is_nan) {
            return None;
        }
        let member = member_path(key);
        if kind == Kind::Edge || &**key == layout::LIFETIME {
            return Some((vec![member], vec![value]));
        }
        let in_list = [&member[..], &[PathSegment::Elements]].concat();
        let in_bag = [&in_list[..], &member_path(members::VALUE)].concat();
        Some((vec![in_bag, member, in_list], vec![value]))
    }

    /// Counts what a lookup asks for without looking at it, where the index can tell.
    pub(super) fn count_by_index(&self, lookup: &Lookup, kind: Kind) -> GraphResult<Option<u64>> {
        let places = self.places(lookup);
        let lowered = lowering::lower(&lookup.conditions, kind, &self.layout);
        if places.ids.is_some() || !lowered.is_exact {
            return Ok(None);
        }
        self.write_pending()?;
        let counted = Arc::new(BoundQuery {
            grouping: Some(Grouping {
                keys: Vec::new(),
                aggregates: vec![(Aggregate::Count, Expr::constant(Stored::Int64(1)))],
            }),
            projection: Projection::Value(Expr::Aggregate(0)),
            ..query(kind, &lowered.parts, None)
        });
        let mut total: u64 = 0;
        for scope in scopes(places.keys.as_deref()) {
            for value in self.store.values(&counted, &scope)? {
                total += value.as_i64().and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
            }
        }
        Ok(Some(lookup.limit.map_or(total, |limit| total.min(limit))))
    }

    /// Reads whole elements for references to them.
    pub(super) fn load<T>(
        &self,
        references: &[Arc<T>],
        name: impl Fn(&T) -> (Option<&Value>, &Value),
        kind: Kind,
        make: impl Fn(&Reader, Source<'_>) -> T + Copy,
    ) -> GraphResult<Vec<Option<Arc<T>>>> {
        let mut loaded = Vec::with_capacity(references.len());
        let mut elsewhere: Vec<Arc<str>> = Vec::new();
        for reference in references {
            let (partition, id) = name(reference);
            let (key, id) = (known_partition(&self.layout, partition), values::id_text(id));
            loaded.push(match (key, id) {
                (Some(key), Some(id)) => self.read(&Address { key, id }, kind, make)?.map(Arc::new),
                (None, Some(id)) => {
                    elsewhere.push(id);
                    None
                }
                _ => None,
            });
        }
        if elsewhere.is_empty() {
            return Ok(loaded);
        }
        // References whose partition is not known are looked for in all of them.
        self.write_pending()?;
        let mut found: HashMap<Arc<str>, Arc<T>> = HashMap::new();
        for ids in elsewhere.chunks(LIST_VALUES_MAX) {
            let searches = VecDeque::from([(Arc::new(query(kind, &[], Some(ids))), ListScope::All)]);
            let mut pages = ItemPages::new(self, searches, None);
            while let Some(items) = pages.next()? {
                for item in &items {
                    let made = make(&self.reader.borrow(), Source::of(item));
                    if let Some(id) = values::id_text(name(&made).1) {
                        found.entry(id).or_insert_with(|| Arc::new(made));
                    }
                }
            }
        }
        for (reference, place) in references.iter().zip(&mut loaded) {
            let (partition, id) = name(reference);
            if place.is_none()
                && known_partition(&self.layout, partition).is_none()
                && let Some(id) = values::id_text(id)
            {
                *place = found.get(&id).cloned();
            }
        }
        Ok(loaded)
    }
}

fn query(kind: Kind, parts: &[Expr], ids: Option<&[Arc<str>]>) -> BoundQuery {
    let mut parts = parts.to_vec();
    if let Some(ids) = ids {
        parts.insert(0, lowering::is_one_of(members::ID, ids.iter().map(|id| &**id)));
    }
    parts.push(lowering::is_kind(kind));
    lowering::items(lowering::all(parts))
}

fn scopes(keys: Option<&[PartitionKey]>) -> Vec<ListScope> {
    match keys {
        Some(keys) if keys.len() <= SCOPES_MAX => {
            let mut seen = HashSet::new();
            keys.iter().filter(|key| seen.insert(*key)).cloned().map(ListScope::PartitionKey).collect()
        }
        _ => vec![ListScope::All],
    }
}

/// Items that queries find, page by page.
pub(super) struct ItemPages<'g> {
    graph: &'g EngineGraph,
    searches: VecDeque<(Arc<BoundQuery>, ListScope)>,
    continuation: Option<String>,
    rows: usize,
    /// How many elements this traversal had made before: what it makes meanwhile is not found.
    created: u64,
}

impl<'g> ItemPages<'g> {
    pub(super) fn new(
        graph: &'g EngineGraph,
        searches: VecDeque<(Arc<BoundQuery>, ListScope)>,
        limit: Option<u64>,
    ) -> ItemPages<'g> {
        let wanted = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(FIRST_PAGE_ROWS);
        let created = graph.pending.borrow().created();
        ItemPages { graph, searches, continuation: None, rows: wanted.clamp(1, PAGE_ROWS), created }
    }

    /// Returns the next items, which may be none; nothing at the end.
    pub(super) fn next(&mut self) -> GraphResult<Option<Vec<Item>>> {
        let Some((query, scope)) = self.searches.front() else { return Ok(None) };
        let page = self.graph.store.items(query, scope, self.rows, self.continuation.take())?;
        self.rows = (self.rows * 4).clamp(FIRST_PAGE_ROWS, PAGE_ROWS);
        match page.continuation {
            Some(next) => self.continuation = Some(next),
            None => {
                self.searches.pop_front();
            }
        }
        let mut items = page.items;
        forget_new(self.graph, self.created, &mut items);
        Ok(Some(items))
    }
}

/// Takes away what the traversal has made since it had made so many elements.
pub(super) fn forget_new(graph: &EngineGraph, created: u64, items: &mut Vec<Item>) {
    if graph.pending.borrow().created() <= created {
        return;
    }
    items.retain(|item| {
        let reference = graph.reader.borrow().vertex_reference(Source::of(item));
        let Some(address) = graph.vertex_address(&reference) else { return true };
        let done = graph.pending.borrow().done(&address);
        done.and_then(|done| done.created).is_none_or(|at| at < created)
    });
}

/// Items as they are found.
enum FoundItems<'g> {
    ByQuery(ItemPages<'g>),
    ByValue(Box<EqualPages<'g>>),
}

impl FoundItems<'_> {
    fn next(&mut self) -> GraphResult<Option<Vec<Item>>> {
        match self {
            FoundItems::ByQuery(pages) => pages.next(),
            FoundItems::ByValue(pages) => pages.next(),
        }
    }
}

/// Elements that queries find.
struct SearchPages<'g, T> {
    graph: &'g EngineGraph,
    items: FoundItems<'g>,
    /// What the index did not decide.
    conditions: Vec<Condition>,
    need: Need,
    left: Option<u64>,
    _found: std::marker::PhantomData<fn() -> T>,
}

impl<T: Found> Pages<Arc<T>> for SearchPages<'_, T> {
    fn next_page(&mut self) -> GraphResult<Option<Vec<Arc<T>>>> {
        if self.left == Some(0) {
            return Ok(None);
        }
        let Some(items) = self.items.next()? else { return Ok(None) };
        let reader = self.graph.reader.borrow();
        let mut found = Vec::with_capacity(items.len());
        // Conditions may be about properties.
        let need = if self.conditions.is_empty() { self.need } else { Need::Whole };
        for item in &items {
            let element = T::make(&reader, Source::of(item), need);
            if element.satisfies(&self.conditions) {
                found.push(Arc::new(element));
            }
        }
        cut(&mut found, &mut self.left);
        Ok(Some(found))
    }
}

/// Elements whose addresses are known, then those that are looked for by their ids alone.
struct PointPages<'g, T> {
    graph: &'g EngineGraph,
    addresses: VecDeque<Address>,
    /// What was named by its address is not found again.
    seen: HashSet<Address>,
    conditions: Vec<Condition>,
    need: Need,
    left: Option<u64>,
    rest: Option<Box<dyn Pages<Arc<T>> + 'g>>,
}

impl<T: Found> Pages<Arc<T>> for PointPages<'_, T> {
    fn next_page(&mut self) -> GraphResult<Option<Vec<Arc<T>>>> {
        if self.left == Some(0) {
            return Ok(None);
        }
        let mut found = Vec::new();
        if self.addresses.is_empty() {
            let Some(rest) = &mut self.rest else { return Ok(None) };
            let Some(mut page) = rest.next_page()? else { return Ok(None) };
            page.retain(|element| {
                self.seen.is_empty()
                    || element.address(self.graph).is_none_or(|address| !self.seen.contains(&address))
            });
            cut(&mut page, &mut self.left);
            return Ok(Some(page));
        }
        let need = if self.conditions.is_empty() { self.need } else { Need::Whole };
        for address in self.addresses.drain(..self.addresses.len().min(PAGE_ROWS)) {
            let made = self.graph.read(&address, T::KIND, |reader, source| T::make(reader, source, need))?;
            if let Some(element) = made
                && element.satisfies(&self.conditions)
            {
                found.push(Arc::new(element));
                if self.left.is_some_and(|left| found.len() as u64 >= left) {
                    break;
                }
            }
        }
        cut(&mut found, &mut self.left);
        Ok(Some(found))
    }
}

/// Cuts a page to what is left of a limit.
pub(super) fn cut<T>(page: &mut Vec<T>, left: &mut Option<u64>) {
    if let Some(left) = left {
        let length = usize::try_from(*left).unwrap_or(usize::MAX).min(page.len());
        page.truncate(length);
        *left -= length as u64;
    }
}

/// Returns pages of nothing.
pub(super) fn nothing<'g, T: 'g>() -> Box<dyn Pages<T> + 'g> {
    Box::new(ReadyPages::new(Vec::new(), 1))
}
