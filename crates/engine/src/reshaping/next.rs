//! What is to be done next: whether a partition must be split, and where.

use std::sync::Arc;

use armilla_container::CutBy;
use armilla_env::Env;
use armilla_value::HashedKey;

use super::job::{Job, Reason};
use crate::containers::ContainerHandle;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::RESHAPE_RETRY_PERIOD;

/// Waits until there may be something to do. Returns nothing where a second look shows that there is not; the
/// partitions of what is returned are marked as busy.
pub(super) async fn next(container: &Arc<ContainerHandle>, env: &Env) -> Option<Job> {
    let own = container.reshaping();
    let woken = own.wake.notified();
    let retry_in = {
        let mut state = own.state();
        if let Some(job) = state.command.take() {
            return Some(job);
        }
        state.retry_at.map(|at| at.saturating_sub(env.clock.elapsed()))
    };
    let is_own =
        |range_id: Option<u32>| range_id.is_none_or(|range_id| container.container().has_here(range_id));
    let is_patient = retry_in.is_some_and(|wait| !wait.is_zero());
    if !is_patient {
        own.state().retry_at = None;
        if container.is_pending() && !is_own(container.container().widest_range()) {
            // The node does it that has the partition.
            own.state().retry_at = Some(env.clock.elapsed() + RESHAPE_RETRY_PERIOD);
            return None;
        }
        if container.is_pending() {
            return found(container, env, by_throughput(container));
        }
        let oversized = own.state().oversized.take();
        if let Some(range_id) = oversized {
            return found(container, env, by_size(container, range_id).await);
        }
    }
    let retried = async {
        match retry_in.filter(|_| is_patient) {
            Some(wait) => env.clock.sleep(wait).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = woken => None,
        () = retried => None,
        range_id = container.container().oversized(), if !is_patient => {
            found(container, env, by_size(container, range_id).await)
        }
    }
}

/// Marks the partitions of a job as busy. What cannot even be looked at is tried again like what failed.
fn found(container: &ContainerHandle, env: &Env, job: Result<Option<Job>>) -> Option<Job> {
    let mut state = container.reshaping().state();
    match job {
        Ok(Some(job)) => {
            // A command may have come meanwhile: it is first, and this comes up again.
            if state.command.is_some() {
                state.oversized = job.parents.first().copied().filter(|_| job.reason == Reason::Size);
                return None;
            }
            state.busy = job.parents.clone();
            Some(job)
        }
        Ok(None) => None,
        Err(_) if container.is_deleted() => None,
        Err(error) => {
            tracing::warn!(container = container.id(), %error, "it could not be found out where to split");
            state.retry_at = Some(env.clock.elapsed() + RESHAPE_RETRY_PERIOD);
            None
        }
    }
}

/// Finds the partition that is split next because the throughput needs more of them: the widest.
fn by_throughput(container: &ContainerHandle) -> Result<Option<Job>> {
    let widest = container.container().widest_range();
    let cut = match widest {
        Some(range_id) => cut(container, range_id, CutBy::Arc)?.map(|cut| (range_id, cut)),
        None => None,
    };
    let Some((range_id, cut)) = cut else {
        container.reshaping().state().is_uncuttable = true;
        tracing::warn!(
            container = container.id(),
            "no physical partition can be split any further: the throughput cannot be served in full"
        );
        return Ok(None);
    };
    Ok(Some(Job { reason: Reason::Throughput, parents: vec![range_id], cut: Some(cut) }))
}

/// Finds out where a partition is split that has grown too large.
async fn by_size(container: &Arc<ContainerHandle>, range_id: u32) -> Result<Option<Job>> {
    let handle = container.clone();
    // All of the partition's sizes are looked at.
    let cut = tokio::task::spawn_blocking(move || cut(&handle, range_id, CutBy::Bytes)).await;
    let cut = cut.map_err(|failure| Error::new(ErrorKind::Internal, failure.to_string()))?;
    match cut {
        Ok(Some(cut)) => Ok(Some(Job { reason: Reason::Size, parents: vec![range_id], cut: Some(cut) })),
        Ok(None) => {
            if !container.is_fixed() && container.reshaping().state().warned_of.insert(range_id) {
                tracing::warn!(
                    container = container.id(),
                    range_id,
                    "the physical partition is too large and cannot be split: one partition key holds all of it"
                );
            }
            Ok(None)
        }
        // It was split by another job meanwhile.
        Err(error) if error.kind == ErrorKind::RangeGone => Ok(None),
        Err(error) => {
            container.reshaping().state().oversized = Some(range_id);
            Err(error)
        }
    }
}

/// Returns where a partition can be cut.
pub(super) fn cut(container: &ContainerHandle, range_id: u32, by: CutBy) -> Result<Option<HashedKey>> {
    container.container().split_point(range_id, by).map_err(|error| container.translate(error))
}
