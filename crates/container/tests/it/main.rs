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
mod recount;
mod reindex;
mod reshape;
mod reshape_faults;
mod reshape_model;
mod reshaping;
mod serial;
mod size_history;
mod sizes;
mod support;
mod throttling;
mod transactions;
mod writes;
