//! The container against the real in-memory store: what each operation does, refuses, costs and survives.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod charges;
mod faults;
mod history;
mod listing;
mod partitions;
mod support;
mod writes;
