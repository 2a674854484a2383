//! Whether a partition that was opened is still this process's, where several share an account.

use std::sync::Arc;

use armilla_kv::{SpaceId, Store};

use crate::peers::{Peers, Whereabouts};

/// What a partition was opened under.
pub(crate) struct Holding {
    peers: Arc<dyn Peers>,
    store: Arc<dyn Store>,
    space: SpaceId,
    since: u64,
}

impl Holding {
    pub(crate) fn new(peers: Arc<dyn Peers>, store: Arc<dyn Store>, space: SpaceId, since: u64) -> Holding {
        Holding { peers, store, space, since }
    }

    /// Returns whether this process has had the partition since, and may say so still. One that has not must not open it:
    /// that would take it from the process that has it now, whose answers are good until then.
    pub(crate) fn holds(&self) -> bool {
        let is_here = |place| matches!(place, Whereabouts::Here { since } if since <= self.since);
        self.store.is_current() && is_here(self.peers.find(self.space))
    }
}
