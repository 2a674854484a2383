//! The container against the real in-memory store: what each operation does, refuses, costs and survives.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod charges;
mod faults;
mod history;
mod index;
mod late_store;
mod listing;
mod partitions;
mod reindex;
mod support;
mod writes;
