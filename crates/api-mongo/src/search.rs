//! Finding documents: which part of the container is looked at, how, and what is asked again.

use std::sync::Arc;

use armilla_engine::plans::BoundQuery;
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
use crate::pages::{DocumentRows, Shape};

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

    /// Returns the filter, if it has to be asked about what the index found.
    pub(crate) fn residual(&self) -> Option<Arc<Filter>> {
        (!self.lowered.is_exact).then(|| self.filter.clone())
    }

    /// Returns the query that finds what can match.
    pub(crate) fn query(&self) -> BoundQuery {
        BoundQuery { filter: self.lowered.condition.clone(), ..BoundQuery::items() }
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
            scope: self.lowered.scope.clone(),
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
        let mut keyed = Vec::new();
        for target in self.unordered_targets(data, collection, usize::MAX).await? {
            keyed.push((sort.key(&target.document)?, target));
        }
        keyed.sort_by(|a, b| sort.compare(&a.0, &b.0));
        Ok(keyed.into_iter().map(|(_, target)| target).take(count_max).collect())
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
