//! Items that this API keeps for itself: each kind in a container of its own of the database `admin`, made with the first
//! item, and each item in a logical partition of its own.
//!
//! Not here: what is kept, and how long what was read is believed (`catalog`, `users`).

use std::sync::Arc;

use armilla_engine::{
    Caller, ContainerDefinition, ContainerHandle, ETag, Engine, Error, ErrorKind, ItemName, ListScope,
    PageRequest, Precondition, ResourceKind, Triggers, WriteMode,
};
use armilla_value::{Component, Object, PartitionKey, Value, json};

use crate::failure::Result;

/// The database of what is kept.
const DATABASE: &str = "admin";

/// The items of one kind.
pub(crate) struct Kept {
    engine: Engine,
    container: &'static str,
    is_shared: bool,
}

impl Kept {
    /// Returns what keeps items in a container.
    pub(crate) fn new(engine: Engine, container: &'static str) -> Kept {
        let is_shared = engine.node_figures().is_some();
        Kept { engine, container, is_shared }
    }

    /// Says whether other processes change the items as well, so that what was read may be old.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Reads all items, one after the other, each with its version.
    pub(crate) fn read(&self, mut each: impl FnMut(Value, ETag) -> Result<()>) -> Result<()> {
        let Some(container) = found(self.engine.container(DATABASE, self.container))? else { return Ok(()) };
        let mut continuation = None;
        loop {
            let request = PageRequest { scope: ListScope::All, items_max: None, continuation };
            let page = self.engine.list_items(&Caller::full(), &container.container, request)?;
            for item in &page.items {
                each(item.stored().root().to_value(), item.etag(container.container.identity()))?;
            }
            match page.continuation {
                Some(next) => continuation = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// Reads an item with its version, if it is there.
    pub(crate) fn read_one(&self, id: &str) -> Result<Option<(Value, ETag)>> {
        let Some(located) = found(self.engine.container(DATABASE, self.container))? else { return Ok(None) };
        let (key, caller, name) = (partition_key(id), Caller::full(), ItemName::Id(id));
        let read = found(self.engine.read_item(&caller, &located.container, name, Some(&key), None))?;
        Ok(read.map(|read| {
            let version = read.item.etag(located.container.identity());
            (read.item.stored().root().to_value(), version)
        }))
    }

    /// Writes an item, whether or not it is there; its body has this id.
    pub(crate) async fn write(&self, id: &str, body: Object) -> Result<()> {
        self.write_over(id, body, Precondition::None).await?;
        Ok(())
    }

    /// Writes an item over one of which this holds; returns its version.
    pub(crate) async fn write_over(
        &self,
        id: &str,
        body: Object,
        precondition: Precondition,
    ) -> armilla_engine::Result<ETag> {
        let container = self.container().await?;
        let key = partition_key(id);
        let (caller, none) = (Caller::full(), Triggers::default());
        let body = Value::Object(body).into();
        let written = self
            .engine
            .write_item(&caller, &container, WriteMode::Upsert, Some(&key), body, precondition, &none)
            .await?;
        Ok(written.item.etag(container.identity()))
    }

    /// Removes an item, if it is there.
    pub(crate) async fn remove(&self, id: &str) -> Result<()> {
        let Some(located) = found(self.engine.container(DATABASE, self.container))? else { return Ok(()) };
        let (key, caller, none) = (partition_key(id), Caller::full(), Triggers::default());
        let name = ItemName::Id(id);
        let deleted =
            self.engine.delete_item(&caller, &located.container, name, Some(&key), Precondition::None, &none);
        match deleted.await {
            Err(error) if error.kind != ErrorKind::NotFound(ResourceKind::Item) => Err(error.into()),
            _ => Ok(()),
        }
    }

    async fn container(&self) -> armilla_engine::Result<Arc<ContainerHandle>> {
        let name = self.container;
        match self.engine.container(DATABASE, name) {
            Err(error) if matches!(error.kind, ErrorKind::NotFound(_) | ErrorKind::OwnerNotFound(_)) => {}
            located => return located.map(|located| located.container),
        }
        let caller = Caller::full();
        unless_existing(self.engine.create_database(&caller, DATABASE, None).await)?;
        let text =
            format!(r#"{{"id":"{name}","partitionKey":{{"paths":["/id"],"kind":"Hash","version":2}}}}"#);
        let value = json::parse(text.as_bytes()).ok();
        let definition = value.and_then(|value| ContainerDefinition::from_value(&value).ok());
        let definition = definition.ok_or_else(|| {
            Error::new(ErrorKind::Internal, format!("the container '{name}' has no definition"))
        })?;
        unless_existing(self.engine.create_container(&caller, DATABASE, definition, None).await)?;
        Ok(self.engine.container(DATABASE, name)?.container)
    }
}

fn partition_key(id: &str) -> PartitionKey {
    PartitionKey(vec![Component::String(id.to_owned())])
}

/// Takes what is not there for nothing.
pub(crate) fn found<T>(result: armilla_engine::Result<T>) -> Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind, ErrorKind::NotFound(_) | ErrorKind::OwnerNotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Takes what is there already for made.
pub(crate) fn existing<T>(result: armilla_engine::Result<T>) -> Result<()> {
    Ok(unless_existing(result)?)
}

fn unless_existing<T>(result: armilla_engine::Result<T>) -> armilla_engine::Result<()> {
    match result {
        Err(error) if !matches!(error.kind, ErrorKind::AlreadyExists(_)) => Err(error),
        _ => Ok(()),
    }
}
