//! Items that have one of some values, found by the index alone; by queries where that cannot be.
//!
//! Most lookups ask for few items by their ids, by the vertices that edges leave or enter, or by a property. To plan a query
//! costs more than to read those. A value with many items is left to a query, which uses all that is asked of them.

use std::sync::Arc;

use armilla_engine::plans::BoundQuery;
use armilla_engine::{Item, ItemLookup, ListScope, LookupWork, PathSegment};
use armilla_gremlin_machine::graph::GraphResult;
use armilla_value::Value as Stored;

use super::EngineGraph;
use super::lookups::ItemPages;
use crate::limits::{LIST_VALUES_MAX, LOOKUP_ENTRIES_MAX, LOOKUP_TIME_MAX, PAGE_ROWS};

/// Makes the query that finds the wanted items of some values.
type MakeQuery<'g> = dyn Fn(&[Stored]) -> BoundQuery + 'g;

/// What is looked up.
pub(super) struct Equals<'g> {
    /// An item is found that has a value at any of these.
    pub(super) paths: Vec<Vec<PathSegment>>,
    pub(super) values: Vec<Stored>,
    pub(super) scope: ListScope,
    /// Whether it is likely to be asked for again.
    pub(super) is_kept: bool,
    /// Says of an item with a value whether it is wanted.
    pub(super) keep: Box<dyn Fn(&Item) -> bool + 'g>,
    /// Finds them where the index alone cannot.
    pub(super) query: Box<MakeQuery<'g>>,
}

/// Items that have one of some values, page by page.
pub(super) struct EqualPages<'g> {
    graph: &'g EngineGraph,
    equals: Equals<'g>,
    /// How many of the values are done.
    done: usize,
    work: LookupWork,
    /// What a query finds instead.
    instead: Option<ItemPages<'g>>,
    /// How many elements this traversal had made before.
    created: u64,
}

impl<'g> EqualPages<'g> {
    pub(super) fn new(graph: &'g EngineGraph, equals: Equals<'g>) -> EqualPages<'g> {
        let created = graph.pending.borrow().created();
        EqualPages { graph, equals, done: 0, work: LookupWork::default(), instead: None, created }
    }

    /// Returns the next items, which may be none; nothing at the end.
    pub(super) fn next(&mut self) -> GraphResult<Option<Vec<Item>>> {
        if let Some(pages) = &mut self.instead {
            if let Some(page) = pages.next()? {
                return Ok(Some(page));
            }
            self.instead = None;
        }
        let Some(values) = self.equals.values.get(self.done..).filter(|values| !values.is_empty()) else {
            return Ok(None);
        };
        let lookup = ItemLookup {
            paths: &self.equals.paths,
            values,
            scope: &self.equals.scope,
            items_max: PAGE_ROWS,
            time_max: LOOKUP_TIME_MAX,
            entries_max: LOOKUP_ENTRIES_MAX,
            is_kept: self.equals.is_kept,
            before: self.work,
        };
        let mut items = Vec::new();
        let Some(found) = self.graph.store.look_up(&lookup, &self.equals.keep, &mut items)? else {
            self.instead = Some(self.by_query(values));
            self.done = self.equals.values.len();
            return Ok(Some(Vec::new()));
        };
        let crowded = values.get(found.done..=found.done).filter(|_| found.is_crowded);
        self.instead = crowded.map(|crowded| self.by_query(crowded));
        self.work = found.work;
        self.done += found.done + usize::from(found.is_crowded);
        super::lookups::forget_new(self.graph, self.created, &mut items);
        Ok(Some(items))
    }

    fn by_query(&self, values: &[Stored]) -> ItemPages<'g> {
        by_query(self.graph, values, &self.equals.scope, &self.equals.query)
    }
}

/// Returns what queries find of some values.
pub(super) fn by_query<'g>(
    graph: &'g EngineGraph,
    values: &[Stored],
    scope: &ListScope,
    query: &MakeQuery<'_>,
) -> ItemPages<'g> {
    let searches = values.chunks(LIST_VALUES_MAX).map(|values| (Arc::new(query(values)), scope.clone()));
    ItemPages::new(graph, searches.collect(), None)
}

/// Returns the path of a member of items.
pub(super) fn member_path(name: &str) -> Vec<PathSegment> {
    vec![PathSegment::Property(name.to_owned())]
}
