//! Finding documents: which part of the container is looked at, how, and what is asked again.

use std::sync::Arc;

use armilla_engine::plans::{BoundQuery, Window};
use armilla_engine::{ETag, Item, ListScope, Query, QueryRequest};
use armilla_mongo_expression::Environment;
use armilla_mongo_filter::{Filter, Matched, Sort};
use armilla_value::{Object, PartitionKey};
use bytes::Bytes;

use crate::catalog::Collection;
use crate::data::Data;
use crate::documents;
use crate::failure::Result;
use crate::lowering::{Lowered, lower};
use crate::order::Walk;
use crate::pages::{DocumentRows, Shape};

/// Documents to write that are found in an order by an index.
const WALKED_TARGETS_MAX: usize = 1_000;

/// A search for documents of a collection.
#[derive(Clone)]
pub(crate) struct Search {
    pub(crate) filter: Arc<Filter>,
    pub(crate) environment: Arc<Environment>,
    pub(crate) lowered: Arc<Lowered>,
    /// Which of several is written.
    pub(crate) sort: Option<Arc<Sort>>,
}

/// A document that was found and may be written.
pub(crate) struct Target {
    pub(crate) id: String,
    pub(crate) key: PartitionKey,
    /// Its version; none of what a transaction wrote itself.
    pub(crate) etag: Option<ETag>,
    pub(crate) document: Object,
    pub(crate) matched: Matched,
}

impl Search {
    pub(crate) fn new(collection: &Collection, filter: Arc<Filter>, environment: Arc<Environment>) -> Search {
        let lowered = Arc::new(lower(&filter, collection));
        Search { filter, environment, lowered, sort: None }
    }

    /// Returns the logical partition and the ids of all that can match, where they are known.
    pub(crate) fn points(&self) -> Option<(&PartitionKey, &[String])> {
        match (&self.lowered.scope, &self.lowered.ids) {
            (ListScope::PartitionKey(key), Some(ids)) => Some((key, ids)),
            _ => None,
        }
    }

    /// Returns the logical partition that all matches lie in, where it is one.
    pub(crate) fn partition_key(&self) -> Option<&PartitionKey> {
        match &self.lowered.scope {
            ListScope::PartitionKey(key) => Some(key),
            _ => None,
        }
    }

    /// Returns which part of the container is looked at.
    pub(crate) fn scope(&self) -> ListScope {
        match &self.lowered.scope {
            // Without a shard key there is one logical partition, and all that the index knows is of it.
            ListScope::PartitionKey(key) if key.0.is_empty() => ListScope::All,
            scope => scope.clone(),
        }
    }

    /// Returns the filter, if it has to be asked about what the index found.
    pub(crate) fn residual(&self) -> Option<Arc<Filter>> {
        (!self.lowered.is_exact).then(|| self.filter.clone())
    }

    /// Returns the query that finds what can match.
    pub(crate) fn query(&self) -> BoundQuery {
        BoundQuery { filter: self.lowered.condition.clone(), ..BoundQuery::items() }
    }

    /// Returns the index that has the documents in an order, where walking through it may be less work than sorting them:
    /// where some are wanted, and not all.
    pub(crate) fn walk(
        &self,
        collection: &Collection,
        sort: &Arc<Sort>,
        limit: Option<u64>,
    ) -> Option<Arc<Walk>> {
        if limit.is_none() || self.points().is_some() {
            return None;
        }
        Walk::find(collection, &self.filter, sort).map(Arc::new)
    }

    /// Returns the query that finds so many in the order of an index.
    pub(crate) fn walked(&self, walk: &Walk, limit: Option<u64>) -> BoundQuery {
        BoundQuery { order: walk.keys.clone(), window: Window { offset: 0, limit }, ..self.query() }
    }

    /// Says whether a document of the collection could stand elsewhere in an order than in the index.
    pub(crate) async fn has_odd(&self, walk: &Walk, data: &mut Data<'_>) -> Result<bool> {
        let query = Arc::new(BoundQuery {
            filter: Some(walk.odd.clone()),
            window: Window { offset: 0, limit: Some(1) },
            ..BoundQuery::items()
        });
        let form = Arc::new(DocumentRows::new(None, Shape::Nothing, self.environment.clone()));
        let mut continuation = None;
        loop {
            let page = data.query(self.request(&query, &form, Some(1), continuation)).await?;
            match page.continuation {
                _ if page.row_count() > 0 => return Ok(true),
                Some(next) => continuation = Some(next),
                None => return Ok(false),
            }
        }
    }

    /// Returns the request for a page.
    pub(crate) fn request(
        &self,
        query: &Arc<BoundQuery>,
        form: &Arc<DocumentRows>,
        rows_max: Option<usize>,
        continuation: Option<String>,
    ) -> QueryRequest {
        QueryRequest {
            scope: self.scope(),
            rows_max,
            form: Some(form.clone()),
            continuation,
            ..QueryRequest::of(Query::Plan(query.clone()))
        }
    }

    /// Reads the documents whose ids are known.
    pub(crate) async fn read_points(&self, data: &mut Data<'_>) -> Result<Vec<(Item, Object, Matched)>> {
        let Some((key, ids)) = self.points() else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for id in ids {
            if let Some(item) = data.read(key, id).await? {
                let document = documents::of_item(&item);
                if let Some(matched) = self.filter.find(&document, &self.environment)? {
                    found.push((item, document, matched));
                }
            }
        }
        Ok(found)
    }

    /// Finds documents to write, at most so many. In a transaction, as it has written them itself.
    pub(crate) async fn targets(
        &self,
        data: &mut Data<'_>,
        collection: &Collection,
        count_max: usize,
    ) -> Result<Vec<Target>> {
        let Some(sort) = &self.sort else { return self.unordered_targets(data, collection, count_max).await };
        if let Some(targets) = self.walked_targets(data, collection, sort, count_max).await? {
            return Ok(targets);
        }
        let mut keyed = Vec::new();
        for target in self.unordered_targets(data, collection, usize::MAX).await? {
            keyed.push((sort.key(&target.document)?, target));
        }
        keyed.sort_by(|a, b| sort.compare(&a.0, &b.0));
        Ok(keyed.into_iter().map(|(_, target)| target).take(count_max).collect())
    }

    /// Finds the first documents of an order, where an index has them.
    async fn walked_targets(
        &self,
        data: &mut Data<'_>,
        collection: &Collection,
        sort: &Arc<Sort>,
        count_max: usize,
    ) -> Result<Option<Vec<Target>>> {
        // A transaction may have written documents that no index knows yet.
        if data.written.is_some() || count_max > WALKED_TARGETS_MAX {
            return Ok(None);
        }
        let Some(walk) = self.walk(collection, sort, Some(count_max as u64)) else { return Ok(None) };
        if self.has_odd(&walk, data).await? {
            return Ok(None);
        }
        let query = Arc::new(self.walked(&walk, Some(count_max as u64)));
        let form = Arc::new(DocumentRows::new(self.residual(), Shape::Items, self.environment.clone()));
        let mut targets = Vec::new();
        let mut continuation = None;
        loop {
            let page = data.query(self.request(&query, &form, Some(count_max), continuation)).await;
            // Another API may have given the container another policy, which does not have the order.
            let Ok(page) = page else { return Ok(None) };
            form.check()?;
            for row in page.each_row() {
                let Some(item) = Item::from_raw(Bytes::copy_from_slice(row)) else { continue };
                if walk.is_odd(&item) {
                    return Ok(None);
                }
                let document = documents::of_item(&item);
                let matched = self.filter.find(&document, &self.environment)?.unwrap_or_default();
                targets.push(Target {
                    id: documents::id_of_item(&item),
                    key: documents::partition_key_of_item(&item, &collection.shard_key),
                    etag: Some(item.etag(collection.handle.identity())),
                    document,
                    matched,
                });
            }
            match page.continuation {
                Some(next) if targets.len() < count_max => continuation = Some(next),
                _ => return Ok(Some(targets)),
            }
        }
    }

    async fn unordered_targets(
        &self,
        data: &mut Data<'_>,
        collection: &Collection,
        count_max: usize,
    ) -> Result<Vec<Target>> {
        let identity = collection.handle.identity().clone();
        let overlay = data.overlay();
        let target = |item: &Item, document: Object, matched: Matched| {
            let id = documents::id_of_item(item);
            let is_own = overlay.as_ref().is_some_and(|overlay| overlay.contains_key(&id));
            Target {
                key: documents::partition_key_of_item(item, &collection.shard_key),
                etag: (!is_own).then(|| item.etag(&identity)),
                document,
                matched,
                id,
            }
        };
        if self.points().is_some() {
            let found = self.read_points(data).await?;
            let targets = found.into_iter().map(|(item, document, matched)| target(&item, document, matched));
            return Ok(targets.take(count_max).collect());
        }
        let mut targets = Vec::new();
        let query = Arc::new(self.query());
        let form = Arc::new(DocumentRows::new(self.residual(), Shape::Items, self.environment.clone()));
        let mut continuation = None;
        loop {
            let room = if overlay.is_some() { None } else { Some(count_max - targets.len()) };
            let page = data
                .query(self.request(&query, &form, room.map(|room| room.min(1_000)), continuation))
                .await?;
            form.check()?;
            for row in page.each_row() {
                let Some(item) = Item::from_raw(Bytes::copy_from_slice(row)) else { continue };
                let document = documents::of_item(&item);
                // Where the element that matched is told, the filter has to be asked again.
                let matched = self.filter.find(&document, &self.environment)?.unwrap_or_default();
                targets.push(target(&item, document, matched));
            }
            match page.continuation {
                Some(next) if overlay.is_some() || targets.len() < count_max => continuation = Some(next),
                _ => break,
            }
        }
        if let Some(overlay) = overlay.clone() {
            targets.retain(|target| !overlay.contains_key(&target.id));
            for (id, document) in overlay {
                if let Some(document) = document
                    && let Some(matched) = self.filter.find(&document, &self.environment)?
                {
                    let key = documents::partition_key(&document, &collection.shard_key)?;
                    targets.push(Target { id, key, etag: None, document, matched });
                }
            }
        }
        targets.truncate(count_max);
        Ok(targets)
    }
}
