//! The container against the real in-memory store: what each operation does, refuses, costs and survives.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod batches;
mod charges;
mod clock_set;
mod faults;
mod feed;
mod feed_beside;
mod feed_carried;
mod feed_model;
mod feed_versions;
mod feeding;
mod history;
mod index;
mod late_store;
mod listing;
mod locks;
mod look_ups;
mod moments;
mod partitions;
mod purge;
mod rebuild;
mod receipts;
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
mod time_to_live;
mod time_to_live_model;
mod transactions;
mod writes;
