//! Transactions of clients: one logical partition, as one commit.
//!
//! A transaction of the engine begins with the first statement that says where. All further ones must be about the same
//! logical partition: what spans several is refused, as the service does.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use armilla_engine::{Caller, ContainerHandle, Transaction};
use armilla_mongo_expression::codes;
use armilla_value::PartitionKey;

use crate::Shared;
use crate::catalog::Collection;
use crate::claims::ClaimSet;
use crate::context::Context;
use crate::data::{Charges, Data, Overlay};
use crate::failure::{Failure, Result};
use crate::hidden::Made;
use crate::namespace::Namespace;
use crate::sessions::SessionId;

/// The transaction of a session.
pub(crate) struct Open {
    pub(crate) state: State,
    /// What it has begun in the engine, once a statement has said where.
    pub(crate) work: Option<Work>,
    /// Where it is to be stored, once that was begun.
    pub(crate) place: Option<Place>,
    /// The collections that it has made.
    pub(crate) made: Vec<Made>,
}

/// How far a transaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Statements are taken.
    Running,
    /// It is stored.
    Committed,
    /// Nothing of it is.
    Aborted,
    /// It was given to be stored, and whether it was is not known, or not yet.
    InDoubt,
}

/// A logical partition of a collection.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) handle: Arc<ContainerHandle>,
    pub(crate) key: PartitionKey,
}

/// What is open in the engine.
pub(crate) struct Work {
    pub(crate) namespace: Namespace,
    pub(crate) place: Place,
    pub(crate) transaction: Transaction,
    /// What it has written.
    pub(crate) written: Overlay,
}

impl Open {
    pub(crate) fn begin() -> Open {
        Open { state: State::Running, work: None, place: None, made: Vec::new() }
    }
}

/// The transaction of a command, taken out of its session until the command is done.
pub(crate) struct Held<'h> {
    shared: &'h Shared,
    place: Option<(SessionId, i64)>,
    pub(crate) open: Option<Open>,
}

impl<'h> Held<'h> {
    /// Takes the transaction that a command is part of, if it is.
    pub(crate) fn of(context: &Context<'h>) -> Result<Held<'h>> {
        let shared: &'h Shared = context.shared;
        let place = context.session.zip(context.number).filter(|_| context.is_in_transaction);
        let Some((session, number)) = place else { return Ok(Held { shared, place: None, open: None }) };
        let taken = shared.sessions.with(session, |session| match session.number() {
            Some(own) if own == number => session.transaction.take(),
            _ => None,
        });
        match taken.flatten() {
            Some(open) if open.state == State::Running => Ok(Held { shared, place, open: Some(open) }),
            other => {
                let state = other.as_ref().map(|open| open.state);
                drop(Held { shared, place, open: other });
                Err(match state {
                    Some(State::Committed) => Failure::new(
                        codes::TRANSACTION_COMMITTED,
                        format!("Transaction with {{ txnNumber: {number} }} has been committed."),
                    ),
                    // Neither is it over for certain, nor must any of it be done again.
                    Some(State::InDoubt) => Failure { labels_are_final: true, ..in_doubt(number) },
                    _ => no_transaction(number),
                })
            }
        }
    }

    /// Returns the items of a collection, inside of the transaction if there is one. `key` is the logical partition that
    /// the statement is about, where it is one.
    pub(crate) async fn data<'d>(
        &'d mut self,
        caller: &'d Caller,
        charges: &'d Charges,
        collection: &'d Collection,
        key: Option<&PartitionKey>,
    ) -> Result<Data<'d>> {
        let engine = &self.shared.engine;
        let (mut transaction, mut written) = (None, None);
        if let Some(open) = &mut self.open {
            let Some(key) = key else {
                return Err(Failure::new(
                    codes::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
                    "a statement of a transaction must say the value of the shard key: transactions are supported \
                     within one logical partition",
                ));
            };
            match &open.work {
                Some(work) if work.namespace != collection.namespace || work.place.key != *key => {
                    return Err(Failure::new(
                        codes::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
                        "transactions are supported within one logical partition of one collection, and this statement \
                         is about another",
                    ));
                }
                Some(_) => {}
                None => {
                    let transaction = engine.begin_transaction(caller, &collection.handle, key).await?;
                    open.work = Some(Work {
                        namespace: collection.namespace.clone(),
                        place: Place { handle: collection.handle.clone(), key: key.clone() },
                        transaction,
                        written: Overlay {
                            documents: Default::default(),
                            claims: ClaimSet::new(
                                self.shared.claims.clone(),
                                self.shared.transaction_count.fetch_add(1, Ordering::Relaxed),
                            ),
                        },
                    });
                }
            }
            if let Some(work) = &mut open.work {
                (transaction, written) = (Some(&mut work.transaction), Some(&mut work.written));
            }
        }
        let patience = self.shared.patience();
        Ok(Data { engine, caller, handle: &collection.handle, charges, transaction, written, patience })
    }

    /// Gives up what the transaction did; returns the collections that it had made.
    pub(crate) fn abort(&mut self) -> Vec<Made> {
        let Some(open) = &mut self.open else { return Vec::new() };
        open.state = State::Aborted;
        open.work = None;
        std::mem::take(&mut open.made)
    }

    /// Notes a collection that the transaction has made.
    pub(crate) fn note_made(&mut self, made: Made) {
        if let Some(open) = &mut self.open {
            open.made.push(made);
        }
    }

    /// Says whether the transaction has made a collection.
    pub(crate) fn has_made(&self, namespace: &Namespace) -> bool {
        self.open.as_ref().is_some_and(|open| open.made.iter().any(|made| made.namespace == *namespace))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let (Some((session, number)), Some(open)) = (self.place, self.open.take()) else { return };
        self.shared.sessions.with(session, |session| {
            if session.number() == Some(number) {
                session.transaction = Some(open);
            }
        });
    }
}

/// Whether a transaction was stored is not known.
pub(crate) fn in_doubt(number: i64) -> Failure {
    Failure {
        is_in_doubt: true,
        ..Failure::new(
            codes::EXCEEDED_TIME_LIMIT,
            format!(
                "it is not known yet whether transaction {number} was stored: send commitTransaction again"
            ),
        )
    }
}

/// There is no such transaction.
pub(crate) fn no_transaction(number: i64) -> Failure {
    Failure::new(
        codes::NO_SUCH_TRANSACTION,
        format!("Given transaction number {number} does not match any in-progress transactions."),
    )
}
