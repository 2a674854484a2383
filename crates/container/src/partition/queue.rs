//! What waits for a partition's committer.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::gate::Gate;
use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, Result};
use crate::write::task::{Done, Task};

#[derive(Default)]
pub(super) struct Queue {
    pub(super) waiting: VecDeque<Write>,
    /// Whether a committer task is at work and will see what is queued.
    pub(super) running: bool,
    /// How many writes must wait for the committer to be told while groups are on their way.
    pub(super) wanted: usize,
    /// Set when a commit failed or a committer died: the counters may not be what is stored.
    pub(super) broken: bool,
    /// Set when another handle has opened the space: it is that one's now, and nothing is written here any more.
    pub(super) lost: Option<Error>,
    pub(super) gate: Gate,
}

/// A queued write, with whom to tell.
pub(super) struct Write {
    pub(super) task: Task,
    pub(super) compiled: Arc<CompiledDefinition>,
    pub(super) reply: oneshot::Sender<Result<Done>>,
    /// Room in the queue, given back when the write is answered.
    pub(super) _room: OwnedSemaphorePermit,
}
