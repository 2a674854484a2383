//! The engine on the in-memory store: the resource tree, permissions, and what survives a restart.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod backups;
mod batches;
mod bson_values;
mod bulk;
mod changes;
mod concurrency;
mod extended_types;
mod key_deletion;
mod look_ups;
mod offers;
mod procedures;
mod queries;
mod reshaping;
mod reshaping_faults;
mod restart;
mod script_bounds;
mod scripts;
mod serializability;
mod source_documents;
mod support;
mod sweeping;
mod throughput;
mod time_to_live;
mod transactions;
mod tree;
mod triggers;
mod unique_keys;
mod user_functions;
