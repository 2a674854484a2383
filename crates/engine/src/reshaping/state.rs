//! What is known of the splits and merges of one container: what is asked for, what is under way, what failed.

use std::collections::HashSet;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use super::job::Job;
use crate::background::BackgroundTask;
use crate::error::{Error, ErrorKind, Result};

/// What becomes of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// It serves.
    Serving,
    /// It was deleted: what is half-made goes with it.
    Deleted,
    /// The account is being closed: the next start sees to what is half-made.
    Closing,
}

/// The task of one container.
pub(crate) struct Reshaping {
    life: watch::Sender<Life>,
    task: BackgroundTask,
    /// Drop what the retired partitions held, each once it has no reader any more.
    pub(super) clean_ups: Mutex<JoinSet<()>>,
    state: Mutex<State>,
    /// Told when there may be something to do.
    pub(super) wake: Notify,
}

#[derive(Default)]
pub(super) struct State {
    /// How many partitions the throughput asks for.
    pub(super) partitions_wanted: usize,
    /// Whether no partition can be cut any further, so that there cannot be more of them.
    pub(super) is_uncuttable: bool,
    /// A command that waits for its turn.
    pub(super) command: Option<Job>,
    /// The partitions that are being reshaped, or are next.
    pub(super) busy: Vec<u32>,
    /// When what failed is tried again, on the clock of elapsed time.
    pub(super) retry_at: Option<Duration>,
    /// A partition that has grown too large and could not be split yet.
    pub(super) oversized: Option<u32>,
    /// Partitions of which the log says already that they cannot be cut.
    pub(super) warned_of: HashSet<u32>,
    /// Why the last one was given up.
    pub(super) failed: Option<String>,
}

impl Default for Reshaping {
    fn default() -> Reshaping {
        Reshaping {
            life: watch::Sender::new(Life::Serving),
            task: BackgroundTask::default(),
            clean_ups: Mutex::default(),
            state: Mutex::default(),
            wake: Notify::new(),
        }
    }
}

impl Reshaping {
    /// Returns what tells what becomes of the container.
    pub(super) fn life(&self) -> watch::Receiver<Life> {
        self.life.subscribe()
    }

    /// Returns the task that splits and merges.
    pub(super) fn task(&self) -> &BackgroundTask {
        &self.task
    }

    /// Says that the container was deleted.
    pub(crate) fn container_deleted(&self) {
        self.life.send_if_modified(|life| {
            let serves = *life == Life::Serving;
            if serves {
                *life = Life::Deleted;
            }
            serves
        });
    }

    /// Tells the task to end.
    pub(crate) fn stop(&self) {
        self.life.send_replace(Life::Closing);
    }

    /// Tells the task to end and waits until it has.
    pub(crate) async fn stopped(&self) {
        self.stop();
        self.task.stopped().await;
        let mut clean_ups = std::mem::take(&mut *self.clean_ups.lock());
        clean_ups.shutdown().await;
    }

    /// Returns whether a partition is being reshaped, or is next.
    pub(crate) fn is_busy(&self, range_id: u32) -> bool {
        self.state().busy.contains(&range_id)
    }

    /// Returns the partitions that are being reshaped, or are next.
    pub(crate) fn busy(&self) -> Vec<u32> {
        self.state().busy.clone()
    }

    /// Returns why the last split or merge was given up, unless one went through since.
    pub(crate) fn failed(&self) -> Option<String> {
        self.state().failed.clone()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Takes a command, which is carried out as soon as it can be.
    pub(super) fn command(&self, job: Job) -> Result<()> {
        if *self.life.borrow() != Life::Serving {
            return Err(Error::new(ErrorKind::Unavailable, "the container is being closed"));
        }
        let mut state = self.state();
        if !state.busy.is_empty() || state.command.is_some() {
            return Err(Error::locked(
                "a physical partition of the container is being split or merged already",
            ));
        }
        state.busy = job.parents.clone();
        state.failed = None;
        state.command = Some(job);
        drop(state);
        self.wake.notify_one();
        Ok(())
    }

    /// Has the task look whether there is something to do.
    pub(crate) fn look_again(&self) {
        self.wake.notify_one();
    }

    /// Says how many partitions the throughput asks for.
    pub(crate) fn want_partitions(&self, count: usize) {
        let mut state = self.state();
        state.partitions_wanted = count;
        state.is_uncuttable = false;
        state.retry_at = None;
        drop(state);
        self.wake.notify_one();
    }

    /// Returns whether more partitions than these are to be made for the throughput.
    pub(crate) fn is_pending(&self, partitions: usize) -> bool {
        let state = self.state();
        partitions < state.partitions_wanted && !state.is_uncuttable
    }
}
