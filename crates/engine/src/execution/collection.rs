//! What a script can reach: the items of its logical partition, through its transaction.

use std::borrow::Cow;

use armilla_container as container;
use armilla_container::{ChangeKind, ETag, Item, Precondition, WriteMode};
use armilla_script::limits::PAGE_SIZE_DEFAULT;
use armilla_script::{
    Collection, CollectionUsage, DocumentName, ErrorCode, FeedPage, FeedRequest, ReadDocument, Refusal,
};
use armilla_value::rid::ItemRid;

use super::{Execution, Touch};
use crate::error::{Error, ErrorKind};
use crate::queries::{QueryRequest, random};

/// What a feed of all items is as a query.
const ALL_ITEMS: &str = "SELECT * FROM c";

impl Collection for Execution {
    fn self_link(&self) -> String {
        self.handle().self_link()
    }

    fn alt_link(&self) -> String {
        format!("dbs/{}/colls/{}", self.handle().database_id(), self.handle().id())
    }

    fn is_closing(&self) -> bool {
        Execution::is_closing(self)
    }

    fn window(&self) -> u64 {
        Execution::window(self)
    }

    fn read(&mut self, document: DocumentName<'_>, known: Option<&str>) -> Result<ReadDocument, Refusal> {
        let id = self.id_of(document)?;
        let found = self.transaction.inner().read(&id);
        self.footprint.reads += 1;
        let Some(item) = self.allowed(found)? else { return Err(not_found(&id)) };
        let etag = item.etag(self.transaction.inner_ref().identity());
        if known.is_some_and(|known| known.trim() == "*" || ETag::parse(known) == Some(etag)) {
            return Ok(ReadDocument::NotModified);
        }
        Ok(ReadDocument::Found(self.text(&item)))
    }

    fn create(&mut self, body: &str) -> Result<String, Refusal> {
        Ok(self.put(WriteMode::Create, None, body, Precondition::None)?.0)
    }

    fn upsert(&mut self, body: &str, etag: Option<&str>) -> Result<(String, bool), Refusal> {
        self.put(WriteMode::Upsert, None, body, precondition(etag))
    }

    fn replace(
        &mut self,
        document: DocumentName<'_>,
        body: &str,
        etag: Option<&str>,
    ) -> Result<String, Refusal> {
        let id = self.id_of(document)?;
        Ok(self.put(WriteMode::Replace, Some(&id), body, precondition(etag))?.0)
    }

    fn delete(&mut self, document: DocumentName<'_>, etag: Option<&str>) -> Result<(), Refusal> {
        let id = self.id_of(document)?;
        let deleted = self.transaction.inner().delete(&id, precondition(etag));
        self.allowed(deleted)?;
        self.footprint.write(Touch::Delete, &id);
        Ok(())
    }

    fn query(&mut self, feed: FeedRequest<'_>) -> Result<FeedPage, Refusal> {
        let FeedRequest { text, parameters, page_size, continuation } = feed;
        let request = QueryRequest {
            rows_max: Some(page_size.unwrap_or(PAGE_SIZE_DEFAULT)),
            continuation: continuation.map(str::to_owned),
            ..QueryRequest::with_parameters(text.unwrap_or(ALL_ITEMS), parameters)
        };
        match self.transaction.query_until(&request, self.closing) {
            Ok(page) => {
                self.footprint.queries += 1;
                self.footprint.rows += page.row_count() as u64;
                let documents = [&b"["[..], &page.rows, b"]"].concat();
                let documents = String::from_utf8(documents).map_err(|_| not_text())?;
                Ok(FeedPage { documents, count: page.row_count(), continuation: page.continuation })
            }
            Err(error) => Err(self.query_refused(error)),
        }
    }

    fn guid(&mut self) -> String {
        self.transaction.env().guid()
    }

    fn random(&mut self) -> f64 {
        random(self.transaction.env())
    }

    fn now_ms(&self) -> u64 {
        self.transaction.env().clock.now_ms().max(0) as u64
    }

    fn usage(&self) -> CollectionUsage {
        // Of the logical partition, whose bound is the one that a script can run into. Every callback is told, so it is
        // found out once.
        let current_bytes = *self.bytes_before.get_or_init(|| {
            let handle = self.handle();
            let container = handle.container();
            let size = match handle.is_fixed() {
                // Its bound is that of the whole container.
                true => container.counters().map(|counters| counters.size()),
                false => container.logical_size(self.transaction.inner_ref().partition_key()),
            };
            size.map_or(0, |size| size.total_bytes())
        });
        CollectionUsage { current_bytes, max_bytes: self.bytes_max }
    }
}

impl Execution {
    fn put(
        &mut self,
        mode: WriteMode,
        id: Option<&str>,
        body: &str,
        precondition: Precondition,
    ) -> Result<(String, bool), Refusal> {
        let written = self.transaction.inner().put(mode, id, body, precondition);
        let written = self.allowed(written)?;
        let is_new = written.kind == ChangeKind::Create;
        let touch = if is_new { Touch::Create } else { Touch::Replace };
        let id = written.item.stored().root().get("id").and_then(|id| id.as_str().map(Cow::into_owned));
        self.footprint.write(touch, id.as_deref().unwrap_or_default());
        Ok((self.text(&written.item), is_new))
    }

    /// Returns an item's JSON as clients see it.
    pub(crate) fn text(&self, item: &Item) -> String {
        let mut text = Vec::new();
        item.write_json(self.transaction.inner_ref().identity(), &mut text);
        String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    fn id_of(&mut self, document: DocumentName<'_>) -> Result<String, Refusal> {
        let rid = match document {
            DocumentName::Id(id) => return Ok(id.to_owned()),
            DocumentName::Rid(rid) => rid,
        };
        let number = ItemRid::parse(rid).filter(|item| item.container() == self.handle().rid());
        let Some(number) = number.map(ItemRid::number) else { return Err(not_found(rid)) };
        let found = self.transaction.inner().id_of(number);
        self.allowed(found)?.ok_or_else(|| not_found(rid))
    }

    /// Turns a failure into what a script is told of it. One that the script cannot have caused, nor can do anything
    /// about, ends the whole execution, whatever the script makes of it.
    fn allowed<T>(&mut self, result: container::Result<T>) -> Result<T, Refusal> {
        use container::ErrorKind as Kind;
        result.map_err(|error| {
            let code = match error.kind {
                Kind::ItemNotFound => ErrorCode::NotFound,
                Kind::ItemExists | Kind::UniqueKeyTaken => ErrorCode::Conflict,
                Kind::PreconditionFailed | Kind::NotModified => ErrorCode::PreconditionFailed,
                Kind::LogicalPartitionFull => ErrorCode::Forbidden,
                Kind::ItemTooLarge => ErrorCode::RequestEntityTooLarge,
                Kind::PartitionKeyMismatch | Kind::Invalid => ErrorCode::BadRequest,
                // What was read is old: the whole transaction is run again.
                Kind::Conflict
                | Kind::RangeGone
                | Kind::FeedExpired
                | Kind::Throttled
                | Kind::SessionNotAvailable
                | Kind::OutcomeUnknown
                | Kind::Unavailable
                | Kind::Moved
                | Kind::Corrupt
                | Kind::Internal => {
                    let message = error.message.clone();
                    let error = self.handle().translate(error);
                    self.broken.get_or_insert(error);
                    return Refusal { code: ErrorCode::InternalServerError, message };
                }
            };
            Refusal { code, message: error.message }
        })
    }

    fn query_refused(&mut self, error: Error) -> Refusal {
        let code = match error.kind {
            ErrorKind::BadQuery | ErrorKind::Invalid | ErrorKind::QueryTimeout => ErrorCode::BadRequest,
            // The rest is nothing that a query can be refused for.
            ErrorKind::NotFound(_)
            | ErrorKind::OwnerNotFound(_)
            | ErrorKind::AlreadyExists(_)
            | ErrorKind::UniqueKeyTaken
            | ErrorKind::PreconditionFailed
            | ErrorKind::NotModified
            | ErrorKind::LogicalPartitionFull
            | ErrorKind::TooLarge
            | ErrorKind::PartitionKeyMismatch
            | ErrorKind::ContainerReplaced
            | ErrorKind::FailedDependency
            | ErrorKind::Conflict
            | ErrorKind::ScriptInvalid
            | ErrorKind::ScriptFailed(_)
            | ErrorKind::ScriptTimeout
            | ErrorKind::TransactionExpired
            | ErrorKind::ScriptResultTooLarge
            | ErrorKind::QueryNeedsPlan
            | ErrorKind::CrossPartition
            | ErrorKind::FeedExpired
            | ErrorKind::Forbidden
            | ErrorKind::NotData
            | ErrorKind::BeyondRole
            | ErrorKind::Unauthenticated
            | ErrorKind::RangeGone
            | ErrorKind::Throttled
            | ErrorKind::Locked
            | ErrorKind::SessionNotAvailable
            | ErrorKind::OutcomeUnknown
            | ErrorKind::Unavailable
            | ErrorKind::Corrupt
            | ErrorKind::Internal => {
                self.broken.get_or_insert(error.clone());
                ErrorCode::InternalServerError
            }
        };
        Refusal { code, message: error.message }
    }
}

fn precondition(etag: Option<&str>) -> Precondition {
    match etag.map(str::trim) {
        None => Precondition::None,
        Some("*") => Precondition::Exists,
        Some(etag) => Precondition::Version(ETag::parse(etag)),
    }
}

fn not_found(name: &str) -> Refusal {
    let message = format!("entity with the specified id does not exist in the system: '{name}'");
    Refusal { code: ErrorCode::NotFound, message }
}

fn not_text() -> Refusal {
    Refusal { code: ErrorCode::InternalServerError, message: "the result is not text".to_owned() }
}
