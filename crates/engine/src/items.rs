//! Items of a container: permissions, sessions and addresses, on top of what `container` does with them.

mod written;

use std::borrow::Cow;
use std::sync::Arc;

use armilla_container::{
    ChangeKind, ETag, IdRange, Item, ItemBody, ItemPage, ListRequest, ListScope, Patch, Precondition,
    ReadCost, ReadItem, RequestUnits, Work, WriteMode, Written, price,
};
use armilla_ledger::Act;
use armilla_value::rid::ItemRid;
use armilla_value::{PartitionKey, extract};

use crate::access::{Access, Action, Caller};
use crate::condition;
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::noting::text_of;
use crate::triggers::{TriggeredWrite, Triggers};

pub use written::ItemWritten;

/// How a request names an item.
#[derive(Debug, Clone, Copy)]
pub enum ItemName<'a> {
    /// By its id.
    Id(&'a str),
    /// By its resource id.
    Rid(ItemRid),
}

/// A page of items that is asked for.
#[derive(Debug, Clone)]
pub struct PageRequest {
    /// Which items.
    pub scope: ListScope,
    /// At most how many of them; `None` leaves it to the server.
    pub items_max: Option<usize>,
    /// Where the page before ended.
    pub continuation: Option<String>,
}

/// Items in a page when the caller leaves it to the server.
pub(crate) const PAGE_ITEMS_DEFAULT: usize = 100;

impl Engine {
    /// Reads an item. `known` is the version that the caller holds already, if it asks for another only.
    pub fn read_item(
        &self,
        caller: &Caller,
        container: &ContainerHandle,
        name: ItemName<'_>,
        partition_key: Option<&PartitionKey>,
        known: Option<ETag>,
    ) -> Result<ReadItem> {
        let Some(noting) = self.noting() else {
            return self.read_unnoted(caller, container, name, partition_key, known);
        };
        let read = self.read_unnoted(caller, container, name, partition_key, known);
        if let ItemName::Id(id) = name {
            noting.read(container, partition_key, id, &read);
        }
        read
    }

    fn read_unnoted(
        &self,
        caller: &Caller,
        container: &ContainerHandle,
        name: ItemName<'_>,
        partition_key: Option<&PartitionKey>,
        known: Option<ETag>,
    ) -> Result<ReadItem> {
        let cost = caller.read_cost(self.consistency())?;
        match name {
            ItemName::Id(id) => {
                let partition_key = required(partition_key)?;
                caller.access.check_item(Action::Read, container.rid(), Some(id), Some(partition_key))?;
                let (session, claim) = (&caller.session, caller.claim);
                let read = container.container().read_item(partition_key, id, known, session, cost, claim);
                read.map_err(|error| container.translate(error))
            }
            ItemName::Rid(rid) => {
                let found = read_by_number(container, rid, caller, cost)?;
                let (partition_key, id) = item_address(container, &found);
                caller.access.check_item(Action::Read, container.rid(), Some(&id), Some(&partition_key))?;
                if known == Some(found.item.etag(container.identity())) {
                    let charge = price(&Work::ReadNothing, cost);
                    let unchanged = Error::new(ErrorKind::NotModified, "the item did not change");
                    return Err(Error { charge, position: Some(found.position), ..unchanged });
                }
                Ok(found)
            }
        }
    }

    /// Creates an item, or creates or replaces one.
    #[expect(clippy::too_many_arguments, reason = "they are what a write request consists of")]
    pub async fn write_item(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        mode: WriteMode,
        partition_key: Option<&PartitionKey>,
        body: ItemBody,
        precondition: Precondition,
        triggers: &Triggers,
    ) -> Result<ItemWritten> {
        let partition_key = required(partition_key)?;
        // A permission for one item cannot be checked against an id that is not read yet; it does not create.
        caller.access.check_item(Action::Write, container.rid(), None, Some(partition_key))?;
        if !triggers.is_empty() {
            let write = TriggeredWrite::Put { mode, id: None, body, precondition };
            let done = self.write_with_triggers(caller, container, partition_key, triggers, write);
            // Large, and rare: it is not to make the futures of all writes large.
            return Box::pin(done).await;
        }
        let noted = self.noting().map(|noting| (noting, body.clone()));
        let changing = match mode {
            WriteMode::Upsert => self.changing_by(container, partition_key, &body),
            WriteMode::Create | WriteMode::Replace | WriteMode::Update => None,
        };
        let written = container
            .container()
            .write_item(mode, partition_key, None, body, precondition, caller.claim)
            .await
            .map(ItemWritten::from)
            .map_err(|error| container.translate(error));
        if let (Some((id, changing)), Ok(written)) = (changing, &written) {
            changing.done(self, container, partition_key, &id, &written.item);
        }
        if let Some((noting, body)) = noted {
            // What was there before has not made the container larger.
            let replaced = written.as_ref().ok().filter(|written| written.kind == ChangeKind::Replace);
            let id = replaced.and_then(|written| id_of(&written.item));
            let act = match &id {
                Some(id) => Act::Replace { id },
                None => Act::Create { item: text_of(&body) },
            };
            noting.write(container, act, Some(partition_key), &written, written_bytes);
        }
        written
    }

    /// Replaces an item.
    #[expect(clippy::too_many_arguments, reason = "they are what a write request consists of")]
    pub async fn replace_item(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        name: ItemName<'_>,
        partition_key: Option<&PartitionKey>,
        body: ItemBody,
        precondition: Precondition,
        triggers: &Triggers,
    ) -> Result<ItemWritten> {
        let (partition_key, id) = self.resolve(caller, container, name, partition_key)?;
        // A permission for one item is not one for another that it is to become.
        let every = caller.access.check_item(Action::Write, container.rid(), None, Some(&partition_key));
        if let Err(refusal) = every
            && body.id().is_some_and(|new| new != id)
        {
            return Err(refusal);
        }
        if !triggers.is_empty() {
            check_triggers(caller, container, &partition_key)?;
            let (mode, body) = (WriteMode::Replace, body);
            let write = TriggeredWrite::Put { mode, id: Some(id), body, precondition };
            let done = self.write_with_triggers(caller, container, &partition_key, triggers, write);
            // Large, and rare: it is not to make the futures of all writes large.
            return Box::pin(done).await;
        }
        let (noting, changing) = (self.noting(), self.changing(container, &partition_key, &id));
        let written = container
            .container()
            .write_item(WriteMode::Replace, &partition_key, Some(&id), body, precondition, caller.claim)
            .await
            .map(ItemWritten::from)
            .map_err(|error| container.translate(error));
        if let (Some(changing), Ok(written)) = (changing, &written) {
            changing.done(self, container, &partition_key, &id, &written.item);
        }
        if let Some(noting) = noting {
            noting.write(container, Act::Replace { id: &id }, Some(&partition_key), &written, written_bytes);
        }
        written
    }

    /// Writes what changes to parts of an item made of it: like a replace, but the change log tells it apart. No trigger runs.
    pub async fn revise_item(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        id: &str,
        partition_key: &PartitionKey,
        body: ItemBody,
        precondition: Precondition,
    ) -> Result<Written> {
        caller.access.check_item(Action::Write, container.rid(), Some(id), Some(partition_key))?;
        let (noting, changing) = (self.noting(), self.changing(container, partition_key, id));
        let written = container
            .container()
            .write_item(WriteMode::Update, partition_key, Some(id), body, precondition, caller.claim)
            .await
            .map_err(|error| container.translate(error));
        if let (Some(changing), Ok(written)) = (changing, &written) {
            changing.done(self, container, partition_key, id, &written.item);
        }
        if let Some(noting) = noting {
            noting.write(container, Act::Patch { id }, Some(partition_key), &written, revised_bytes);
        }
        written
    }

    /// Deletes an item.
    pub async fn delete_item(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        name: ItemName<'_>,
        partition_key: Option<&PartitionKey>,
        precondition: Precondition,
        triggers: &Triggers,
    ) -> Result<ItemWritten> {
        let (partition_key, id) = self.resolve(caller, container, name, partition_key)?;
        if !triggers.is_empty() {
            check_triggers(caller, container, &partition_key)?;
            let write = TriggeredWrite::Delete { id, precondition };
            let done = self.write_with_triggers(caller, container, &partition_key, triggers, write);
            // Large, and rare: it is not to make the futures of all writes large.
            return Box::pin(done).await;
        }
        let noting = self.noting();
        let written = container
            .container()
            .delete_item(&partition_key, &id, precondition, caller.claim)
            .await
            .map(ItemWritten::from)
            .map_err(|error| container.translate(error));
        if let Some(noting) = noting {
            noting.write(container, Act::Delete { id: &id }, Some(&partition_key), &written, written_bytes);
        }
        written
    }

    /// Changes parts of an item, if a condition holds for it: `FROM c WHERE ...`, as in a query.
    #[expect(clippy::too_many_arguments, reason = "they are what a patch request consists of")]
    pub async fn patch_item(
        &self,
        caller: &Caller,
        container: &ContainerHandle,
        name: ItemName<'_>,
        partition_key: Option<&PartitionKey>,
        patch: Patch,
        condition: Option<&str>,
        precondition: Precondition,
    ) -> Result<Written> {
        let (partition_key, id) = self.resolve(caller, container, name, partition_key)?;
        let patch = condition::conditional(patch, condition, container)?;
        let (noting, changing) = (self.noting(), self.changing(container, &partition_key, &id));
        let written = container
            .container()
            .patch_item(&partition_key, &id, patch, precondition, caller.claim)
            .await
            .map_err(|error| container.translate(error));
        if let (Some(changing), Ok(written)) = (changing, &written) {
            changing.done(self, container, &partition_key, &id, &written.item);
        }
        if let Some(noting) = noting {
            noting.write(container, Act::Patch { id: &id }, Some(&partition_key), &written, revised_bytes);
        }
        written
    }

    /// Returns a page of items.
    pub fn list_items(
        &self,
        caller: &Caller,
        container: &ContainerHandle,
        request: PageRequest,
    ) -> Result<ItemPage> {
        let request = self.list_request(caller, container, request)?;
        let noting = self.noting();
        let page = container.container().list_items(&request).map_err(|error| container.translate(error));
        if let Some(noting) = noting {
            let key = match &request.scope {
                ListScope::PartitionKey(key) => Some(key),
                ListScope::All | ListScope::Range { .. } => None,
            };
            noting.page(container, Act::List, key, &page, |page| (page.charge, page.items.len() as u64));
        }
        page
    }

    /// Returns a page of items of one logical partition in the order of their ids.
    pub fn list_items_by_id(
        &self,
        caller: &Caller,
        container: &ContainerHandle,
        request: PageRequest,
        ids: &IdRange,
    ) -> Result<ItemPage> {
        let request = self.list_request(caller, container, request)?;
        container.container().list_items_by_id(&request, ids).map_err(|error| container.translate(error))
    }

    /// Finds out which items a caller means who wants a page, and whether they may read them.
    fn list_request(
        &self,
        caller: &Caller,
        container: &ContainerHandle,
        request: PageRequest,
    ) -> Result<ListRequest> {
        let cost = caller.read_cost(self.consistency())?;
        let mut scope = request.scope;
        if let (Access::Granted(grant), ListScope::All) = (&caller.access, &scope)
            && let Some(partition_key) = &grant.partition_key
        {
            // All that a permission for one logical partition can see is that partition.
            scope = ListScope::PartitionKey(partition_key.clone());
        }
        let partition_key = match &scope {
            ListScope::PartitionKey(partition_key) => Some(partition_key),
            ListScope::All | ListScope::Range { .. } => None,
        };
        caller.access.check_item(Action::Read, container.rid(), None, partition_key)?;
        Ok(ListRequest {
            scope,
            items_max: request.items_max.unwrap_or(PAGE_ITEMS_DEFAULT),
            continuation: request.continuation,
            session: caller.session.clone(),
            cost,
            claim: caller.claim,
        })
    }

    /// Finds out which item a write means and whether the caller may write it.
    fn resolve(
        &self,
        caller: &Caller,
        container: &ContainerHandle,
        name: ItemName<'_>,
        partition_key: Option<&PartitionKey>,
    ) -> Result<(PartitionKey, String)> {
        let (partition_key, id) = match name {
            ItemName::Id(id) => (required(partition_key)?.clone(), id.to_owned()),
            ItemName::Rid(rid) => {
                let cost = self.consistency().read_cost();
                item_address(container, &read_by_number(container, rid, caller, cost)?)
            }
        };
        caller.access.check_item(Action::Write, container.rid(), Some(&id), Some(&partition_key))?;
        Ok((partition_key, id))
    }
}

/// What a write cost, and the bytes of what it left.
fn written_bytes(written: &ItemWritten) -> (RequestUnits, u64) {
    revised_bytes(&written.written)
}

fn revised_bytes(written: &Written) -> (RequestUnits, u64) {
    (written.charge, written.item.stored().text_bytes().len() as u64)
}

fn read_by_number(
    container: &ContainerHandle,
    rid: ItemRid,
    caller: &Caller,
    cost: ReadCost,
) -> Result<ReadItem> {
    let (session, claim) = (&caller.session, caller.claim);
    let found = container.container().read_item_by_number(rid.number(), None, session, cost, claim);
    found.map_err(|error| caller.access.hide_missing(container.translate(error)))
}

/// Returns the partition key and the id of an item that was found by its number.
pub(crate) fn item_address(container: &ContainerHandle, found: &ReadItem) -> (PartitionKey, String) {
    let root = found.item.stored().root();
    let partition_key = extract(root, &container.definition().partition_key.paths);
    (partition_key, id_of(&found.item).unwrap_or_default())
}

/// Returns the id that an item has.
fn id_of(item: &Item) -> Option<String> {
    item.stored().root().get("id")?.as_str().map(Cow::into_owned)
}

/// Refuses triggers to those who may write one item only: a trigger may write every item with the same partition key.
fn check_triggers(caller: &Caller, container: &ContainerHandle, partition_key: &PartitionKey) -> Result<()> {
    caller.access.check_item(Action::Write, container.rid(), None, Some(partition_key))
}

/// Refuses a request without a partition key.
pub(crate) fn required(partition_key: Option<&PartitionKey>) -> Result<&PartitionKey> {
    partition_key.ok_or_else(|| {
        Error::new(ErrorKind::Invalid, "PartitionKey value must be supplied for this operation")
    })
}
