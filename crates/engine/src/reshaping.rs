//! Splitting and merging the physical partitions of each container, in the background.
//!
//! One task per container, which sleeps until there is a reason: throughput that needs more partitions, a partition
//! that has grown too large, or a command. A container is reshaped by one of them at a time, and an account by
//! [`RESHAPES_AT_ONCE_MAX`](crate::limits::RESHAPES_AT_ONCE_MAX). What throughput or size ask for, and fails, is tried
//! again after a while; a command is not.
//!
//! Invariants:
//! * the map in the resource tree, the one that a container serves by, and the children's data never disagree: see
//!   `reshape`;
//! * a task keeps no engine alive: it takes hold of one only for as long as a step of it takes.
//!
//! Not here: copying items (`container`), carrying out one split or merge (`reshape`), commands (`commands`).

mod commands;
mod job;
mod reshape;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use armilla_env::Env;
use tokio::sync::{Notify, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::containers::ContainerHandle;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{FAILURE_CHARACTERS_MAX, RESHAPE_RETRY_PERIOD};
use crate::open::{Engine, WeakEngine};
use job::{Job, Reason};
use reshape::{Ended, reshape};

/// What becomes of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
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
    task: Mutex<Option<JoinHandle<()>>>,
    /// Drop what the retired partitions held, each once nobody reads it any more.
    clean_ups: Mutex<JoinSet<()>>,
    state: Mutex<State>,
    /// Told when there may be something to do.
    wake: Notify,
}

#[derive(Default)]
struct State {
    /// How many partitions the throughput asks for.
    partitions_wanted: usize,
    /// Whether no partition can be cut any further, so that there cannot be more of them.
    is_uncuttable: bool,
    /// A command that waits for its turn.
    command: Option<Job>,
    /// The partitions that are being reshaped, or are next.
    busy: Vec<u32>,
    /// When what failed is tried again, on the clock of elapsed time.
    retry_at: Option<Duration>,
    /// A partition that has grown too large and could not be split yet.
    oversized: Option<u32>,
    /// Partitions of which the log says already that they cannot be cut.
    warned_of: HashSet<u32>,
    /// Why the last one was given up.
    failed: Option<String>,
}

impl Default for Reshaping {
    fn default() -> Reshaping {
        Reshaping {
            life: watch::Sender::new(Life::Serving),
            task: Mutex::default(),
            clean_ups: Mutex::default(),
            state: Mutex::default(),
            wake: Notify::new(),
        }
    }
}

impl Reshaping {
    /// Starts looking after a container.
    pub(crate) fn start(container: &Arc<ContainerHandle>, engine: &Engine) {
        let own = container.reshaping();
        let (life, env) = (own.life.subscribe(), engine.env().clone());
        let task = tokio::spawn(look_after(container.clone(), engine.downgrade(), env, life));
        *own.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
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
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the task that splits partitions has failed");
        }
        let mut clean_ups =
            std::mem::take(&mut *self.clean_ups.lock().unwrap_or_else(PoisonError::into_inner));
        clean_ups.shutdown().await;
    }

    /// Returns whether a partition is being reshaped, or is next.
    pub(crate) fn is_busy(&self, range_id: u32) -> bool {
        self.state().busy.contains(&range_id)
    }

    /// Returns why the last split or merge was given up, unless one went through since.
    pub(crate) fn failed(&self) -> Option<String> {
        self.state().failed.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a command, which is carried out as soon as it can be.
    fn command(&self, job: Job) -> Result<()> {
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
}

impl ContainerHandle {
    /// Says how many partitions the throughput asks for.
    pub(crate) fn want_partitions(&self, count: u32) {
        // A container without a key of its own is one partition by its nature.
        let count = if self.is_fixed() { 1 } else { count as usize };
        let own = self.reshaping();
        let mut state = own.state();
        state.partitions_wanted = count;
        state.is_uncuttable = false;
        state.retry_at = None;
        drop(state);
        own.wake.notify_one();
    }

    /// Returns whether partitions are still being made for the throughput.
    pub(crate) fn is_pending(&self) -> bool {
        let count = self.container().map().ranges.len();
        let state = self.reshaping().state();
        count < state.partitions_wanted && !state.is_uncuttable
    }
}

async fn look_after(
    container: Arc<ContainerHandle>,
    engine: WeakEngine,
    env: Env,
    mut life: watch::Receiver<Life>,
) {
    loop {
        let next = tokio::select! {
            _ = life.wait_for(|life| *life != Life::Serving) => return,
            next = job::next(&container, &env) => next,
        };
        let Some(job) = next else { continue };
        let Some(turns) = engine.upgrade().map(|engine| engine.reshape_turns()) else { return };
        let turn = tokio::select! {
            _ = life.wait_for(|life| *life != Life::Serving) => return,
            turn = turns.acquire_owned() => turn.expect("the semaphore is never closed"),
        };
        let ended = reshape(&container, &engine, &env, &mut life, &job).await;
        drop(turn);
        let mut state = container.reshaping().state();
        match ended {
            // Its partitions are not busy since the flip, and a command may have made others so.
            Ok(Ended::Done) => {
                state.failed = None;
                state.retry_at = None;
            }
            Ok(Ended::Over) => return,
            Err(error) => {
                tracing::warn!(container = container.id(), ranges = ?job.parents, %error, "a split or merge was given up");
                let reason: String = error.message.chars().take(FAILURE_CHARACTERS_MAX).collect();
                state.busy.clear();
                state.failed = Some(reason);
                if job.reason != Reason::Command {
                    state.retry_at = Some(env.clock.elapsed() + RESHAPE_RETRY_PERIOD);
                    state.oversized = job.parents.first().copied().filter(|_| job.reason == Reason::Size);
                }
            }
        }
    }
}
