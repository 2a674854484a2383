//! The engine on the in-memory store: the resource tree, permissions, and what survives a restart.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod concurrency;
mod queries;
mod restart;
mod support;
mod tree;
mod user_functions;
