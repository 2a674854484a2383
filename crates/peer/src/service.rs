//! What a node does for others.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;

/// Serves the calls of other nodes.
pub trait Service: Send + Sync + 'static {
    /// What is kept for one connection of another node; dropped when the connection ends.
    type Session: Send + Sync + 'static;

    /// Returns what is kept for a new connection. The other node has proved by then that it is one.
    fn open(&self) -> Self::Session;

    /// Answers a request. Every call is a task of its own; it is dropped when the caller gives the call up, or when the
    /// connection ends. The answer of what was only told to this node goes nowhere, and that task is not dropped.
    fn call(self: Arc<Self>, session: Arc<Self::Session>, request: Bytes) -> BoxFuture<'static, Bytes>;
}
