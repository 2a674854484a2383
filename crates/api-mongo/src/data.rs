//! Reading and writing the items of a collection: directly, or inside of a transaction.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use armilla_engine::{
    ActionDone, Caller, ContainerHandle, Engine, Error, ErrorKind, Item, ItemAction, ItemBody, ItemLookup,
    ItemName, Moment, Precondition, QueryPage, QueryRequest, Receipt, RequestUnits, ResourceKind,
    Transaction, Triggers, WriteMode,
};
use armilla_env::{Clock, SleepFuture};
use armilla_value::{Object, PartitionKey};

use crate::claims::ClaimSet;
use crate::failure::Result;

/// Adds up what a command costs, wherever it is computed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Charges {
    hundredths: Arc<AtomicU64>,
    /// The moment of the last write, in ticks.
    written: Arc<AtomicU64>,
    has_written: Arc<AtomicBool>,
}

impl Charges {
    pub(crate) fn add(&self, charge: RequestUnits) {
        self.hundredths.fetch_add(charge.hundredths(), Ordering::Relaxed);
    }

    /// Returns the sum, and begins anew.
    pub(crate) fn take(&self) -> RequestUnits {
        RequestUnits::from_hundredths(self.hundredths.swap(0, Ordering::Relaxed))
    }

    /// Notes when something was written.
    pub(crate) fn wrote(&self, moment: Moment) {
        self.written.fetch_max(moment.ticks(), Ordering::Relaxed);
    }

    /// Notes that something was stored.
    pub(crate) fn stored(&self) {
        self.has_written.store(true, Ordering::Relaxed);
    }

    /// Says whether anything was stored, outside of a transaction.
    pub(crate) fn has_written(&self) -> bool {
        self.has_written.load(Ordering::Relaxed)
    }

    /// Notes what actions wrote.
    pub(crate) fn did(&self, done: &ActionDone) {
        if let ActionDone::Written(written) = done {
            self.wrote(written.item.moment());
        }
    }

    /// Returns when the last write was, if there was one.
    pub(crate) fn last_write(&self) -> Option<Moment> {
        Some(self.written.load(Ordering::Relaxed)).filter(|ticks| *ticks > 0).map(Moment::from_ticks)
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
    /// How long an operation waits where the throughput is spent, and on which clock.
    pub(crate) patience: Option<&'d dyn Clock>,
}

/// How long operations wait at most where the throughput is spent, if they do.
const PATIENCE_MAX: Duration = Duration::from_secs(60);

/// What a transaction has written itself.
pub(crate) struct Overlay {
    /// By the ids of items; nothing where it deleted them.
    pub(crate) documents: BTreeMap<String, Option<Object>>,
    /// What no other transaction may write meanwhile.
    pub(crate) claims: ClaimSet,
}

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
    pub(crate) fn overlay(&self) -> Option<BTreeMap<String, Option<Object>>> {
        self.written.as_deref().map(|written| written.documents.clone())
    }

    /// Makes sure that no other transaction writes a document meanwhile.
    pub(crate) fn claim(&mut self, id: &str) -> Result<()> {
        match &mut self.written {
            Some(written) => written.claims.claim(&self.handle.rid().to_string(), id),
            None => Ok(()),
        }
    }

    /// Notes what a transaction writes, so that its own statements see it.
    pub(crate) fn note(&mut self, id: &str, document: Option<&Object>) {
        if let Some(written) = &mut self.written {
            written.documents.insert(id.to_owned(), document.cloned());
        }
    }

    /// Says how long to wait before an operation that the throughput was not enough for is tried again, if at all.
    fn pause<T>(&self, result: &armilla_engine::Result<T>, waited: &mut Duration) -> Option<SleepFuture> {
        let clock = self.patience?;
        let error = result.as_ref().err().filter(|error| error.kind == ErrorKind::Throttled)?;
        let wait = error.retry_after.unwrap_or(Duration::from_millis(10)).max(Duration::from_millis(1));
        if *waited + wait > PATIENCE_MAX {
            return None;
        }
        *waited += wait;
        Some(clock.sleep(wait))
    }

    /// Reads an item.
    pub(crate) async fn read(&mut self, key: &PartitionKey, id: &str) -> Result<Option<Item>> {
        let mut waited = Duration::ZERO;
        loop {
            let read = self.read_once(key, id);
            match self.pause(&read, &mut waited) {
                Some(pause) => pause.await,
                None => return Ok(read?),
            }
        }
    }

    fn read_once(&mut self, key: &PartitionKey, id: &str) -> armilla_engine::Result<Option<Item>> {
        let read = match &mut self.transaction {
            None => {
                let read = self.engine.read_item(self.caller, self.handle, ItemName::Id(id), Some(key), None);
                read.map(|read| (read.item, read.charge))
            }
            Some(transaction) => {
                let action =
                    ItemAction::Read { id: id.to_owned(), known: None, precondition: Precondition::None };
                match transaction.act(action) {
                    Ok(ActionDone::Read(read)) => Ok((read.item, read.charge)),
                    Ok(_) => Err(armilla_engine::Error::new(ErrorKind::Internal, "a read came to nothing")),
                    Err(error) => Err(error),
                }
            }
        };
        match self.paid(read) {
            Ok(item) => Ok(Some(item)),
            Err(error) if error.kind == ErrorKind::NotFound(ResourceKind::Item) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Looks up all items of a value that are wanted; nothing where the index cannot find them, or knows too many.
    pub(crate) async fn look_up(
        &mut self,
        lookup: &ItemLookup<'_>,
        keep: &(dyn Fn(&Item) -> bool + Sync),
    ) -> Result<Option<Vec<Item>>> {
        let mut waited = Duration::ZERO;
        loop {
            let mut items = Vec::new();
            let found = self.engine.look_up_items(self.caller, self.handle, lookup, keep, &mut items);
            let found = self.paid(found.map(|found| match found {
                Some(found) => (found.done == lookup.values.len(), found.charge),
                None => (false, RequestUnits::ZERO),
            }));
            match self.pause(&found, &mut waited) {
                Some(pause) => pause.await,
                None => return Ok(found?.then_some(items)),
            }
        }
    }

    /// Returns a page of a query.
    pub(crate) async fn query(&mut self, request: QueryRequest) -> Result<QueryPage> {
        let mut waited = Duration::ZERO;
        loop {
            let page = self.query_once(request.clone()).await;
            match self.pause(&page, &mut waited) {
                Some(pause) => pause.await,
                None => return Ok(page?),
            }
        }
    }

    async fn query_once(&mut self, request: QueryRequest) -> armilla_engine::Result<QueryPage> {
        let page = match &mut self.transaction {
            None => self.engine.query_items(self.caller, self.handle, request).await,
            // It computes on this thread, which others must not wait for.
            Some(transaction) => tokio::task::block_in_place(|| transaction.query(&request)),
        };
        let page = page.map(|page| {
            let charge = page.charge;
            (page, charge)
        });
        self.paid(page)
    }

    /// Writes an item, and leaves a receipt with it if there is one.
    pub(crate) async fn put(
        &mut self,
        mode: WriteMode,
        key: &PartitionKey,
        id: &str,
        body: ItemBody,
        precondition: Precondition,
        receipt: Option<Receipt>,
    ) -> armilla_engine::Result<()> {
        let id = matches!(mode, WriteMode::Replace | WriteMode::Update).then(|| id.to_owned());
        self.act(key, ItemAction::Put { mode, id, body, precondition }, receipt).await
    }

    /// Deletes an item, likewise.
    pub(crate) async fn delete(
        &mut self,
        key: &PartitionKey,
        id: &str,
        precondition: Precondition,
        receipt: Option<Receipt>,
    ) -> armilla_engine::Result<()> {
        self.act(key, ItemAction::Delete { id: id.to_owned(), precondition }, receipt).await
    }

    async fn act(
        &mut self,
        key: &PartitionKey,
        action: ItemAction,
        receipt: Option<Receipt>,
    ) -> armilla_engine::Result<()> {
        let mut waited = Duration::ZERO;
        loop {
            // Only who may try again needs a copy.
            let again = self.patience.map(|_| (action.clone(), receipt.clone()));
            let (now, left) = match again {
                Some(again) => again,
                None => return self.act_once(key, action, receipt).await,
            };
            let done = Box::pin(self.act_once(key, now, left)).await;
            match self.pause(&done, &mut waited) {
                Some(pause) => pause.await,
                None => return done,
            }
        }
    }

    async fn act_once(
        &mut self,
        key: &PartitionKey,
        action: ItemAction,
        receipt: Option<Receipt>,
    ) -> armilla_engine::Result<()> {
        if let Some(transaction) = &mut self.transaction {
            let done = transaction.act(action).map(|done| ((), charge_of(&done)));
            return self.paid(done);
        }
        let none = Triggers::default();
        let (engine, caller, handle) = (self.engine, self.caller, self.handle);
        let written = match (receipt, action) {
            (Some(receipt), action) => {
                let answer = engine.execute_batch_with_receipts(
                    caller,
                    handle,
                    Some(key),
                    vec![action],
                    vec![receipt],
                );
                match answer.await {
                    Ok(mut answer) => match answer.results.pop() {
                        Some(Err(error)) => Err(Error { charge: answer.charge, ..error }),
                        Some(Ok(done)) => {
                            self.charges.did(&done);
                            Ok(((), answer.charge))
                        }
                        None => Ok(((), answer.charge)),
                    },
                    Err(error) => Err(error),
                }
            }
            (None, ItemAction::Put { mode: WriteMode::Update, id, body, precondition }) => {
                let id = id.unwrap_or_default();
                let written = engine.revise_item(caller, handle, &id, key, body, precondition);
                written.await.map(|written| {
                    self.charges.wrote(written.item.moment());
                    ((), written.charge)
                })
            }
            (None, ItemAction::Put { mode: WriteMode::Replace, id, body, precondition }) => {
                let id = id.unwrap_or_default();
                let name = ItemName::Id(&id);
                let written = engine.replace_item(caller, handle, name, Some(key), body, precondition, &none);
                written.await.map(|written| {
                    self.charges.wrote(written.item.moment());
                    ((), written.charge)
                })
            }
            (None, ItemAction::Put { mode, body, precondition, .. }) => {
                let written = engine.write_item(caller, handle, mode, Some(key), body, precondition, &none);
                written.await.map(|written| {
                    self.charges.wrote(written.item.moment());
                    ((), written.charge)
                })
            }
            (None, ItemAction::Delete { id, precondition }) => {
                let deleted =
                    engine.delete_item(caller, handle, ItemName::Id(&id), Some(key), precondition, &none);
                deleted.await.map(|deleted| ((), deleted.charge))
            }
            (None, _) => Err(Error::new(ErrorKind::Internal, "what is written is no write")),
        };
        if written.is_ok() {
            self.charges.stored();
        }
        self.paid(written)
    }
}

fn charge_of(done: &ActionDone) -> RequestUnits {
    match done {
        ActionDone::Written(written) => written.charge,
        ActionDone::Read(read) => read.charge,
        ActionDone::NotModified { charge, .. } => *charge,
    }
}
