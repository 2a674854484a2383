//! Reads of a moment that is past, outside of transactions: `readConcern: {level: "snapshot"}`.
//!
//! What was is the present with later changes undone: the feed of a collection that this API made has every version, and
//! what each change replaced. The present is read first and the feed after it, so that a change that comes between the
//! two is undone like all others.
//!
//! Invariants:
//! * a document that changed after the moment is shown as its first change after it found it, or not at all;
//! * the first read of a moment remembers where the feed was, so that further ones of that collection see the very same.
//!
//! Where the feed was is remembered for the collection that was read first, and for a while. Elsewhere changes are placed
//! by their time. Of a delete only the second is known: one in the second of the moment lies before it unless a change
//! that came earlier does not.
//!
//! Not here: reads inside of transactions (`transactions`), which have a snapshot of the engine's.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use armilla_engine::{Caller, ChangeKind, FeedMode, FeedPage, FeedPageRequest, FeedStart, ListScope};
use armilla_mongo_expression::codes;
use armilla_mongo_filter::{Matched, Sort};
use armilla_mongo_wire::bson;
use armilla_value::{Object, PartitionKey};
use parking_lot::Mutex;

use crate::Shared;
use crate::catalog::Collection;
use crate::cluster_time::ClusterTime;
use crate::data::{Charges, Data};
use crate::documents;
use crate::failure::{Failure, Result};
use crate::limits::{SNAPSHOTS_REMEMBERED_MAX, SORT_BYTES_MAX};
use crate::search::Search;

/// Changes that are read at a time.
const PAGE_CHANGES: usize = 500;

/// The moment that a command reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) at: ClusterTime,
    /// Whether the command chose the moment itself: it is now.
    pub(crate) is_new: bool,
}

/// Where feeds were at moments that clients read.
#[derive(Default)]
pub(crate) struct Remembered {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    tokens: HashMap<(String, ClusterTime), String>,
    order: VecDeque<(String, ClusterTime)>,
}

impl Remembered {
    fn keep(&self, rid: String, at: ClusterTime, token: String) {
        let mut inner = self.inner.lock();
        let key = (rid, at);
        if inner.tokens.insert(key.clone(), token).is_none() {
            inner.order.push_back(key);
        }
        while inner.order.len() > SNAPSHOTS_REMEMBERED_MAX {
            if let Some(oldest) = inner.order.pop_front() {
                inner.tokens.remove(&oldest);
            }
        }
    }

    fn find(&self, rid: &str, at: ClusterTime) -> Option<String> {
        self.inner.lock().tokens.get(&(rid.to_owned(), at)).cloned()
    }
}

/// Who reads, and at whose cost.
pub(crate) struct Reader<'r> {
    pub(crate) shared: &'r Arc<Shared>,
    pub(crate) caller: &'r Caller,
    pub(crate) charges: &'r Charges,
}

impl Reader<'_> {
    /// Finds the documents that matched at a moment, in the order of a sort if there is one.
    pub(crate) async fn find(
        &self,
        collection: &Collection,
        search: &Search,
        sort: Option<&Sort>,
        snapshot: Snapshot,
    ) -> Result<Vec<(Object, Matched)>> {
        let definition = collection.handle.definition();
        if definition.change_feed_retention_minutes.is_none() {
            return Err(Failure::new(
                codes::SNAPSHOT_UNAVAILABLE,
                "the collection keeps no earlier versions, so that it is read as of now only: collections that are made \
                 by the MongoDB API, or with a change feed of all versions, keep them",
            ));
        }
        let rid = collection.handle.rid().to_string();
        let start = self.start(collection, &rid, snapshot).await?;
        let mut data = Data {
            engine: &self.shared.engine,
            caller: self.caller,
            handle: &collection.handle,
            charges: self.charges,
            transaction: None,
            written: None,
            patience: self.shared.patience(),
        };
        let present = search.targets(&mut data, collection, usize::MAX).await?;
        let undone = self.undone(collection, start, snapshot.at).await?;
        let mut found = Vec::with_capacity(present.len());
        for target in present {
            if !undone.contains_key(&(target.key, target.id)) {
                found.push((target.document, target.matched));
            }
        }
        for document in undone.into_values().flatten() {
            if let Some(matched) = search.filter.find(&document, &search.environment)? {
                found.push((document, matched));
            }
        }
        if let Some(sort) = sort {
            let mut keyed = Vec::with_capacity(found.len());
            for (document, matched) in found {
                keyed.push((sort.key(&document)?, document, matched));
            }
            keyed.sort_by(|a, b| sort.compare(&a.0, &b.0));
            found = keyed.into_iter().map(|(_, document, matched)| (document, matched)).collect();
        }
        Ok(found)
    }

    /// Returns where the feed was at the moment.
    async fn start(&self, collection: &Collection, rid: &str, snapshot: Snapshot) -> Result<FeedStart> {
        if let Some(token) = self.shared.snapshots.find(rid, snapshot.at) {
            return Ok(FeedStart::Token(token));
        }
        if !snapshot.is_new {
            return Ok(FeedStart::Time(snapshot.at.seconds));
        }
        let FeedPage { token, .. } = self.page(collection, FeedStart::Now).await?;
        self.shared.snapshots.keep(rid.to_owned(), snapshot.at, token.clone());
        Ok(FeedStart::Token(token))
    }

    async fn page(&self, collection: &Collection, start: FeedStart) -> Result<FeedPage> {
        let request = FeedPageRequest {
            mode: FeedMode::AllVersions,
            scope: ListScope::All,
            start,
            modified_since: None,
            items_max: Some(PAGE_CHANGES),
            wait: None,
        };
        match self.shared.engine.change_feed(self.caller, &collection.handle, request).await {
            Ok(answer) => {
                self.charges.add(answer.page.charge);
                Ok(answer.page)
            }
            Err(error) => {
                self.charges.add(error.charge);
                let failure = Failure::from(error);
                Err(match failure.code {
                    codes::CHANGE_STREAM_HISTORY_LOST => Failure::new(
                        codes::SNAPSHOT_TOO_OLD,
                        "the versions of that moment are not kept any more: read a later one",
                    ),
                    _ => failure,
                })
            }
        }
    }

    /// Returns the documents that changed after a moment as they were at it; nothing where they were not there.
    async fn undone(
        &self,
        collection: &Collection,
        mut start: FeedStart,
        at: ClusterTime,
    ) -> Result<HashMap<(PartitionKey, String), Option<Object>>> {
        let by_time = matches!(start, FeedStart::Time(_));
        let mut undone = HashMap::new();
        let mut bytes = 0;
        let mut is_past = !by_time;
        loop {
            let FeedPage { changes, token, is_end, .. } = self.page(collection, start).await?;
            let is_end = is_end || changes.is_empty();
            for change in changes {
                let is_after = match &change.item {
                    Some(item) => ClusterTime::from(item.moment()) > at,
                    None => change.ts > at.seconds || is_past,
                };
                if by_time && !is_after {
                    continue;
                }
                is_past = true;
                // As the present has it: the feed writes keys of collections without a shard key in another way.
                let Some(known) = change.item.as_ref().or(change.previous.as_ref()) else {
                    return Err(not_kept());
                };
                let key = (
                    documents::partition_key_of_item(known, &collection.shard_key),
                    documents::id_of_item(known),
                );
                if undone.contains_key(&key) {
                    continue;
                }
                let before = match (change.kind, &change.previous) {
                    (ChangeKind::Create, _) => None,
                    (_, Some(previous)) => Some(documents::of_item(previous)),
                    (_, None) => return Err(not_kept()),
                };
                bytes += before.as_ref().map_or(0, bson::encoded_bytes);
                if bytes > SORT_BYTES_MAX {
                    return Err(Failure::new(
                        codes::SNAPSHOT_TOO_OLD,
                        format!(
                            "more than {SORT_BYTES_MAX} bytes have changed since that moment: read a later one"
                        ),
                    ));
                }
                undone.insert(key, before);
            }
            if is_end {
                return Ok(undone);
            }
            start = FeedStart::Token(token);
        }
    }
}

fn not_kept() -> Failure {
    Failure::new(codes::SNAPSHOT_UNAVAILABLE, "a document has changed since and what it was is not kept")
}
