//! The engine on the in-memory store: the resource tree, permissions, and what survives a restart.

mod access;
mod concurrency;
mod restart;
mod support;
mod tree;
