//! Transactions of clients: one logical partition, as one commit.

use std::time::Duration;

use armilla_engine::Transaction;
use armilla_value::PartitionKey;

use crate::data::Overlay;
use crate::namespace::Namespace;

/// The transaction of a session.
pub(crate) struct Open {
    pub(crate) state: State,
    /// What it has begun in the engine, once a statement has said where.
    pub(crate) work: Option<Work>,
    /// When it began.
    pub(crate) began: Duration,
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
}

/// What is open in the engine.
pub(crate) struct Work {
    pub(crate) namespace: Namespace,
    pub(crate) key: PartitionKey,
    pub(crate) transaction: Transaction,
    /// What it has written.
    pub(crate) written: Overlay,
}

impl Open {
    pub(crate) fn begin(now: Duration) -> Open {
        Open { state: State::Running, work: None, began: now }
    }
}
