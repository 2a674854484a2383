//! The container against the real in-memory store: what each operation does, refuses, costs and survives.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod batches;
mod charges;
mod faults;
mod history;
mod holds;
mod index;
mod late_store;
mod listing;
mod partitions;
mod reindex;
mod serial;
mod support;
mod transactions;
mod writes;
