//! What is done for a container in the background: its index kept complete, its partitions split, what has expired
//! or was deleted with its partition key purged, what dropped unique keys left behind removed.

mod task;
mod touch;

use std::sync::Arc;

use crate::containers::ContainerHandle;
use crate::containers::unique_keys;
use crate::engine::Engine;
use crate::{key_deletion, reindexing, reshaping, sweeping};

pub(crate) use task::BackgroundTask;
pub(crate) use touch::Touch;

impl Engine {
    /// Starts the background work of a container, unless the account was opened only to look at it.
    pub(crate) fn start_background_work(&self, container: &Arc<ContainerHandle>) {
        if self.has_background_work() {
            reindexing::start(container, self);
            reshaping::start(container, self);
            sweeping::start(container, self);
            key_deletion::start(container, self);
            unique_keys::start(container, self);
        }
    }
}
