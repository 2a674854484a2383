//! Reading and writing the items of a collection: directly, or inside of a transaction.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use armilla_engine::{
    ActionDone, Caller, ContainerHandle, Engine, ErrorKind, Item, ItemAction, ItemBody, ItemName, Precondition,
    QueryPage, QueryRequest, RequestUnits, ResourceKind, Transaction, Triggers, WriteMode,
};
use armilla_value::{Object, PartitionKey};

use crate::failure::{Failure, Result};

/// Adds up what a command costs, wherever it is computed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Charges(Arc<AtomicU64>);

impl Charges {
    pub(crate) fn add(&self, charge: RequestUnits) {
        self.0.fetch_add(charge.hundredths(), Ordering::Relaxed);
    }

    /// Returns the sum, and begins anew.
    pub(crate) fn take(&self) -> RequestUnits {
        RequestUnits::from_hundredths(self.0.swap(0, Ordering::Relaxed))
    }
}

/// The items of a container, as one command reaches them.
pub(crate) struct Data<'d> {
    pub(crate) engine: &'d Engine,
    pub(crate) caller: &'d Caller,
    pub(crate) handle: &'d Arc<ContainerHandle>,
    pub(crate) charges: &'d Charges,
    /// The transaction that everything happens in.
    pub(crate) transaction: Option<&'d mut Transaction>,
    /// What it has written itself.
    pub(crate) written: Option<&'d mut Overlay>,
}

/// What a transaction has written itself, by the ids of items; nothing where it deleted them.
pub(crate) type Overlay = BTreeMap<String, Option<Object>>;

impl Data<'_> {
    fn paid<T>(&self, result: armilla_engine::Result<(T, RequestUnits)>) -> armilla_engine::Result<T> {
        match result {
            Ok((value, charge)) => {
                self.charges.add(charge);
                Ok(value)
            }
            Err(error) => {
                self.charges.add(error.charge);
                Err(error)
            }
        }
    }

    /// Returns what the transaction has written, if there is one.
    pub(crate) fn overlay(&self) -> Option<Overlay> {
        self.written.as_deref().cloned()
    }

    /// Notes what a transaction writes, so that its own statements see it.
    pub(crate) fn note(&mut self, id: &str, document: Option<&Object>) {
        if let Some(written) = &mut self.written {
            written.insert(id.to_owned(), document.cloned());
        }
    }

    /// Reads an item.
    pub(crate) fn read(&mut self, key: &PartitionKey, id: &str) -> Result<Option<Item>> {
        let read = match &mut self.transaction {
            None => {
                let read = self.engine.read_item(self.caller, self.handle, ItemName::Id(id), Some(key), None);
                read.map(|read| (read.item, read.charge))
            }
            Some(transaction) => {
                let action = ItemAction::Read { id: id.to_owned(), known: None, precondition: Precondition::None };
                match transaction.act(action) {
                    Ok(ActionDone::Read(read)) => Ok((read.item, read.charge)),
                    Ok(_) => return Err(Failure::new(1, "a read came to nothing")),
                    Err(error) => Err(error),
                }
            }
        };
        match self.paid(read) {
            Ok(item) => Ok(Some(item)),
            Err(error) if error.kind == ErrorKind::NotFound(ResourceKind::Item) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns a page of a query.
    pub(crate) async fn query(&mut self, request: QueryRequest) -> Result<QueryPage> {
        let page = match &mut self.transaction {
            None => self.engine.query_items(self.caller, self.handle, request).await,
            // It computes on this thread, which others must not wait for.
            Some(transaction) => tokio::task::block_in_place(|| transaction.query(&request)),
        };
        let page = page.map(|page| {
            let charge = page.charge;
            (page, charge)
        });
        Ok(self.paid(page)?)
    }

    /// Writes an item.
    pub(crate) async fn put(
        &mut self,
        mode: WriteMode,
        key: &PartitionKey,
        id: &str,
        body: ItemBody,
        precondition: Precondition,
    ) -> armilla_engine::Result<()> {
        let none = Triggers::default();
        let written = match &mut self.transaction {
            Some(transaction) => {
                let id = matches!(mode, WriteMode::Replace | WriteMode::Update).then(|| id.to_owned());
                let done = transaction.act(ItemAction::Put { mode, id, body, precondition });
                done.map(|done| ((), charge_of(&done)))
            }
            None if mode == WriteMode::Update => {
                let written = self.engine.revise_item(self.caller, self.handle, id, key, body, precondition);
                written.await.map(|written| ((), written.charge))
            }
            None if mode == WriteMode::Replace => {
                let name = ItemName::Id(id);
                let written = self.engine.replace_item(
                    self.caller,
                    self.handle,
                    name,
                    Some(key),
                    body,
                    precondition,
                    &none,
                );
                written.await.map(|written| ((), written.charge))
            }
            None => {
                let written =
                    self.engine.write_item(self.caller, self.handle, mode, Some(key), body, precondition, &none);
                written.await.map(|written| ((), written.charge))
            }
        };
        self.paid(written)
    }

    /// Deletes an item.
    pub(crate) async fn delete(
        &mut self,
        key: &PartitionKey,
        id: &str,
        precondition: Precondition,
    ) -> armilla_engine::Result<()> {
        let deleted = match &mut self.transaction {
            Some(transaction) => {
                let done = transaction.act(ItemAction::Delete { id: id.to_owned(), precondition });
                done.map(|done| ((), charge_of(&done)))
            }
            None => {
                let (name, none) = (ItemName::Id(id), Triggers::default());
                let deleted =
                    self.engine.delete_item(self.caller, self.handle, name, Some(key), precondition, &none);
                deleted.await.map(|deleted| ((), deleted.charge))
            }
        };
        self.paid(deleted)
    }
}

fn charge_of(done: &ActionDone) -> RequestUnits {
    match done {
        ActionDone::Written(written) => written.charge,
        ActionDone::Read(read) => read.charge,
        ActionDone::NotModified { charge, .. } => *charge,
    }
}
