//! What is kept for other processes that ask.

use std::sync::Arc;

use armilla_container::PeerSession;

/// What is kept for one connection of another process.
#[derive(Default)]
pub struct NodeSession {
    pub(super) containers: PeerSession,
    /// Gone with the connection.
    pub(super) life: Arc<()>,
}
