//! Transactions of one logical partition: what scripts and triggers run in, and what a front end may use itself.
//!
//! A transaction is open from [`Engine::begin_transaction`] to [`Transaction::commit`]. It works on a snapshot, sees what
//! it wrote itself, and is stored whole or not at all. It holds no lock: if another writer has changed meanwhile what it
//! read or wrote, its commit fails with [`ErrorKind::Conflict`]. [`Engine::transact`] begins one, runs some work in it,
//! commits, and does all of that again after a conflict; after a few attempts the logical partition is held, so that no
//! other writer can come between. Such work must therefore do nothing that cannot be undone but through its
//! [`Transaction`].
//!
//! What was done is charged when the transaction ends, however it ends; but only for the last attempt of work that was
//! repeated: how often depends on the neighbours, and a charge does not.
//!
//! Not here: batches, whose actions are all known beforehand, so that the committer does them without a snapshot
//! (`batches`); what scripts can reach (`execution`).

use std::sync::Arc;
use std::time::Duration;

use armilla_container::{
    self as container, ChargeMeter, Position, Precondition, ReadCost, Receipt, RequestUnits,
};
use armilla_env::Env;
use armilla_ledger::Act;
use armilla_value::PartitionKey;
use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;

use crate::access::{Access, Action, Caller};
use crate::actions::{ActionDone, ItemAction};
use crate::blocking;
use crate::condition;
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{TRANSACTION_ATTEMPTS_MAX, TRANSACTION_TIME_MAX, TRANSACTIONS_OPEN_MAX};
use crate::queries::{QueryPage, QueryRequest, query_inside};
use crate::resource::ResourceKind;

/// What a transaction gave, once it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transacted<T> {
    /// What the work returned.
    pub value: T,
    /// What all of it cost.
    pub charge: RequestUnits,
    /// Where it is stored, and with which commit.
    pub position: Position,
}

/// What becomes of what a transaction wrote, if all went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It is stored.
    Stored,
    /// It is forgotten: the caller only wanted to know.
    Forgotten,
}

/// A transaction that is open. Dropped without a commit it leaves no trace but its charge.
pub struct Transaction {
    handle: Arc<ContainerHandle>,
    inner: container::Transaction,
    access: Access,
    cost: ReadCost,
    env: Env,
    /// When nothing more can be done in it, on the clock of elapsed time.
    end: Duration,
    /// What was spent beside the reads and writes of items, which `inner` knows.
    beside: RequestUnits,
    spending: Spending,
    /// Counts it among those that are open, if it is one that others may leave open.
    _open: Option<OwnedSemaphorePermit>,
}

/// Takes down what a transaction cost when it ends.
struct Spending {
    meter: ChargeMeter,
    env: Env,
    began: Duration,
    charge: RequestUnits,
    /// Whether another attempt is made, and this one is not charged.
    is_repeated: bool,
}

impl Drop for Spending {
    fn drop(&mut self) {
        if !self.is_repeated {
            let took = self.env.clock.elapsed().saturating_sub(self.began);
            self.meter.spend(self.charge, took);
        }
    }
}

impl Engine {
    /// Begins a transaction of a logical partition. It has to be committed within
    /// [`TRANSACTION_TIME_MAX`](crate::TRANSACTION_TIME_MAX).
    pub async fn begin_transaction(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        partition_key: &PartitionKey,
    ) -> Result<Transaction> {
        let Ok(open) = self.open_transactions().clone().try_acquire_owned() else {
            return Err(Error::new(
                ErrorKind::Unavailable,
                format!("{TRANSACTIONS_OPEN_MAX} transactions are open: commit or drop one, then try again"),
            ));
        };
        let mut transaction = self.begin_attempt(caller, container, partition_key, None).await?;
        transaction._open = Some(open);
        Ok(transaction)
    }

    /// Runs work as one transaction of a logical partition, and again if another writer came between.
    pub async fn transact<T, W>(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        partition_key: &PartitionKey,
        work: W,
    ) -> Result<Transacted<T>>
    where
        T: Send + 'static,
        W: Fn(&mut Transaction) -> Result<T> + Send + Sync + 'static,
    {
        let work = Arc::new(work);
        let run = |mut transaction: Transaction| {
            let work = work.clone();
            blocking::run("transaction", move || {
                let outcome = work(&mut transaction);
                (transaction, outcome)
            })
        };
        let noting = self.noting();
        let done = self.transact_with(caller, container, partition_key, Ending::Stored, run).await;
        if let Some(noting) = noting {
            noting.write(container, Act::Batch, Some(partition_key), &done, |done| (done.charge, 0));
        }
        done
    }

    /// The same for work that decides itself where it runs.
    pub(crate) async fn transact_with<T, F>(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        partition_key: &PartitionKey,
        ending: Ending,
        run: impl Fn(Transaction) -> F,
    ) -> Result<Transacted<T>>
    where
        F: Future<Output = Result<(Transaction, Result<T>)>>,
    {
        let mut attempt = 0;
        loop {
            let transaction = self.begin_attempt(caller, container, partition_key, Some(attempt)).await?;
            let (transaction, outcome) = run(transaction).await?;
            let (mut spending, finished) = transaction.finish(outcome, ending).await;
            match finished {
                Err(error) if error.kind == ErrorKind::Conflict && attempt + 1 < TRANSACTION_ATTEMPTS_MAX => {
                    spending.is_repeated = true;
                    attempt += 1;
                }
                finished => return finished,
            }
        }
    }

    /// Begins a transaction for the given time, counted from 0: from the container's bound on, an attempt keeps others
    /// out. Without a time it never does, because it may be open for long.
    async fn begin_attempt(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        partition_key: &PartitionKey,
        attempt: Option<u32>,
    ) -> Result<Transaction> {
        let cost = caller.read_cost(self.consistency())?;
        let began = self.env().clock.elapsed();
        let (inner, claim) = (container.container(), caller.claim);
        let begun = match attempt {
            Some(attempt) => inner.begin(partition_key, attempt, cost, claim).await,
            None => inner.begin_unlocked(partition_key, cost, claim).await,
        };
        let inner = begun.map_err(|error| container.translate(error))?;
        let spending = Spending {
            meter: inner.meter(),
            env: self.env().clone(),
            began,
            charge: RequestUnits::ZERO,
            is_repeated: false,
        };
        Ok(Transaction {
            handle: container.clone(),
            inner,
            access: caller.access.clone(),
            cost,
            env: self.env().clone(),
            end: began + TRANSACTION_TIME_MAX,
            beside: RequestUnits::ZERO,
            spending,
            _open: None,
        })
    }
}

impl Transaction {
    /// Does an action that the caller may do. One that fails has done nothing; the transaction goes on without it.
    pub fn act(&mut self, action: ItemAction) -> Result<ActionDone> {
        self.check_time()?;
        action.check(&self.access, &self.handle, self.inner.partition_key())?;
        let before = self.charge();
        let done = self.act_inside(action);
        let charge = self.note_charge();
        // What the action cost, whatever the container's draft has put into its own account of it.
        let cost = charge.saturating_sub(before);
        match done {
            Ok(done) => Ok(done.at(self.inner.position(), cost)),
            Err(error) => Err(Error { charge: cost, ..error }),
        }
    }

    fn act_inside(&mut self, action: ItemAction) -> Result<ActionDone> {
        let written = match action {
            ItemAction::Put { mode, id, body, precondition } => {
                self.inner.put(mode, id.as_deref(), body, precondition)
            }
            ItemAction::Delete { id, precondition } => self.inner.delete(&id, precondition),
            ItemAction::Patch { id, patch, condition, precondition } => {
                let patch = condition::conditional(patch, condition.as_deref(), &self.handle)?;
                self.inner.patch(&id, &patch, precondition)
            }
            ItemAction::Read { id, known, precondition } => return self.read(&id, known, precondition),
            ItemAction::Invalid(message) => return Err(Error::invalid(message)),
        };
        written.map(ActionDone::Written).map_err(|error| self.handle.translate(error))
    }

    fn read(
        &mut self,
        id: &str,
        known: Option<container::ETag>,
        precondition: Precondition,
    ) -> Result<ActionDone> {
        let found = self.inner.read(id).map_err(|error| self.handle.translate(error))?;
        let Some(item) = found else {
            return Err(Error::not_found(ResourceKind::Item, id));
        };
        let identity = self.inner.identity();
        if !precondition.holds_for(&item, identity) {
            return Err(Error::precondition_failed());
        }
        let (etag, charge) = (item.etag(identity), RequestUnits::ZERO);
        if known == Some(etag) {
            return Ok(ActionDone::NotModified { etag, charge });
        }
        Ok(ActionDone::Read(container::ReadItem { item, charge, position: self.inner.position() }))
    }

    /// Returns a page of a query over the logical partition: over what it held when the transaction began, but for what
    /// the transaction has deleted since. Its own writes are not among the rows, as in a script.
    pub fn query(&mut self, request: &QueryRequest) -> Result<QueryPage> {
        self.check_time()?;
        let key = self.inner.partition_key().clone();
        self.access.check_item(Action::Read, self.handle.rid(), None, Some(&key))?;
        let page = self.query_until(request, self.end);
        self.note_charge();
        page
    }

    /// The same for those who have checked everything, up to a deadline.
    pub(crate) fn query_until(&mut self, request: &QueryRequest, deadline: Duration) -> Result<QueryPage> {
        let page = query_inside(&self.handle, request, &mut self.inner, self.cost, &self.env, deadline);
        self.beside += match &page {
            Ok(page) => page.charge,
            Err(error) => error.charge,
        };
        page
    }

    /// Leaves a receipt with what the transaction writes (`receipts`). The commit fails with [`ErrorKind::Conflict`] if
    /// another one has left a receipt with this key in the logical partition, so work that is run again should begin with
    /// [`Transaction::find_receipt`].
    pub fn leave_receipt(&mut self, receipt: Receipt) -> Result<()> {
        self.check_time()?;
        let key = self.inner.partition_key();
        self.access.check_item(Action::Write, self.handle.rid(), None, Some(key))?;
        self.inner.leave_receipt(receipt).map_err(|error| self.handle.translate(error))
    }

    /// Returns what the receipt with a key says, if there was one in the logical partition when the transaction began.
    pub fn find_receipt(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let partition_key = self.inner.partition_key();
        self.access.check_item(Action::Read, self.handle.rid(), None, Some(partition_key))?;
        self.inner.find_receipt(key).map_err(|error| self.handle.translate(error))
    }

    /// Returns what was done so far costs.
    pub fn charge(&self) -> RequestUnits {
        self.beside + self.inner.charge()
    }

    /// Returns where the logical partition was when the transaction began.
    pub fn position(&self) -> Position {
        self.inner.position()
    }

    /// Stores what was done, all or nothing. Fails with [`ErrorKind::Conflict`] if what was read or written has changed
    /// meanwhile; then all of it can be tried again.
    pub async fn commit(self) -> Result<Transacted<()>> {
        self.check_time()?;
        self.finish(Ok(()), Ending::Stored).await.1
    }

    /// Stores what was done if it went well, or forgets it.
    async fn finish<T>(self, outcome: Result<T>, ending: Ending) -> (Spending, Result<Transacted<T>>) {
        let (charge, position) = (self.charge(), self.inner.position());
        let Transaction { handle, inner, mut spending, .. } = self;
        spending.charge = charge;
        let charged =
            |error: Error| Error { charge, position: Some(error.position.unwrap_or(position)), ..error };
        let finished = match outcome {
            Ok(value) if ending == Ending::Forgotten => Ok(Transacted { value, charge, position }),
            Ok(value) => match inner.commit().await {
                Ok(position) => Ok(Transacted { value, charge, position }),
                Err(error) => Err(charged(handle.translate(error))),
            },
            Err(error) => Err(charged(error)),
        };
        (spending, finished)
    }

    /// Returns the transaction of the container, for what checks and counts by itself.
    pub(crate) fn inner(&mut self) -> &mut container::Transaction {
        &mut self.inner
    }

    /// Returns it to look at.
    pub(crate) fn inner_ref(&self) -> &container::Transaction {
        &self.inner
    }

    pub(crate) fn handle(&self) -> &Arc<ContainerHandle> {
        &self.handle
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// Adds the price of something that was done beside reads and writes of items.
    pub(crate) fn spend(&mut self, work: &container::Work) {
        self.beside += container::price(work, self.cost);
    }

    /// Takes down what a transaction costs that may be dropped any time.
    fn note_charge(&mut self) -> RequestUnits {
        self.spending.charge = self.charge();
        self.spending.charge
    }

    fn check_time(&self) -> Result<()> {
        if self.env.clock.elapsed() < self.end {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::TransactionExpired,
            format!(
                "the transaction was open for more than {} s: begin it again",
                TRANSACTION_TIME_MAX.as_secs()
            ),
        ))
    }
}
