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
//! In this folder: what is done next (`next`), carrying out one split or merge (`reshape`), commands (`commands`). Not here:
//! copying items (`container`).

mod commands;
mod job;
mod next;
mod reshape;
mod state;

use std::sync::Arc;

use armilla_env::Env;
use tokio::sync::watch;

use crate::containers::ContainerHandle;
use crate::engine::{Engine, WeakEngine};
use crate::limits::{FAILURE_CHARACTERS_MAX, RESHAPE_RETRY_PERIOD};
use job::Reason;
use reshape::{Ended, reshape};
use state::Life;

pub(crate) use state::Reshaping;

/// Starts what splits the partitions of a container when there is a reason.
pub(crate) fn start(container: &Arc<ContainerHandle>, engine: &Engine) {
    let (env, own) = (engine.env().clone(), container.reshaping());
    let (handle, engine, life) = (container.clone(), engine.downgrade(), own.life());
    own.task().start(|_| look_after(handle, engine, env, life));
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
            next = next::next(&container, &env) => next,
        };
        let Some(job) = next else { continue };
        let Some(turns) = engine.upgrade().map(|engine| engine.reshape_turns()) else { return };
        let turn = tokio::select! {
            _ = life.wait_for(|life| *life != Life::Serving) => return,
            turn = turns.acquire_owned() => turn.expect("the semaphore is never closed"),
        };
        let ended = loop {
            match reshape(&container, &engine, &env, &mut life, &job).await {
                Ok(Ended::Stale) => {}
                ended => break ended,
            }
        };
        drop(turn);
        let mut state = container.reshaping().state();
        match ended {
            // Its partitions are not busy since the flip, and a command may have made others so.
            Ok(Ended::Done) => {
                state.failed = None;
                state.retry_at = None;
            }
            Ok(Ended::Over | Ended::Stale) => return,
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
