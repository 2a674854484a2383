//! How far the partitions of a container got that goes: one that is made later begins behind it, so that tokens of sessions
//! that have seen the old one are no promise that the new one cannot keep.
//!
//! Partitions of other processes are asked before the tree is locked, since that may take its time, and they go on
//! meanwhile: so what they say is exceeded by far. Where one cannot be asked, what it can have reached is.
//!
//! Not here: where that is kept (`TreeCounters`).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use armilla_value::rid::ContainerRid;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::ContainerHandle;
use crate::blocking;
use crate::engine::Engine;

/// How long partitions are asked, all together.
const ASK_PATIENCE: Duration = Duration::from_secs(20);

/// Containers that are asked at the same time.
const ASKED_AT_ONCE_MAX: usize = 16;

/// More commits than a partition can do between being asked and knowing that it was deleted, which is a few minutes at most.
const COMMITS_MEANWHILE: u64 = 1 << 30;

/// More commits than a partition can have done since its container was made: a decade of three thousand a second.
const COMMITS_EVER: u64 = 1 << 40;

/// How far containers got, as far as that had to be asked.
pub(crate) struct Newest {
    /// Of containers whose partitions may be those of other processes; nothing where all are here, and are looked at when
    /// it is wanted.
    asked: Option<HashMap<ContainerRid, u64>>,
}

impl Newest {
    /// Returns a commit that no commit of a container is behind.
    pub(crate) fn bound_of(&self, container: &ContainerHandle) -> u64 {
        let bound = match &self.asked {
            Some(asked) => asked.get(&container.rid()).map(|lsn| lsn.saturating_add(COMMITS_MEANWHILE)),
            // One whose partitions cannot be read can still be deleted.
            None => container.newest_lsn().ok(),
        };
        bound.unwrap_or_else(|| {
            let ranges = container.container().map().ranges;
            let base = ranges.iter().map(|range| range.lsn_base).max().unwrap_or_default();
            base.saturating_add(COMMITS_EVER)
        })
    }
}

impl Engine {
    /// Asks how far containers got, where their partitions may be those of other processes.
    pub(crate) async fn ask_newest(&self, containers: &[Arc<ContainerHandle>]) -> Newest {
        if self.among().is_none() {
            return Newest { asked: None };
        }
        let places = Arc::new(Semaphore::new(ASKED_AT_ONCE_MAX));
        let mut asking = JoinSet::new();
        for container in containers {
            let (container, places) = (container.clone(), places.clone());
            asking.spawn(async move {
                let _place = places.acquire_owned().await;
                let rid = container.rid();
                (rid, blocking::run("look for the newest commit", move || container.newest_lsn()).await)
            });
        }
        let mut asked = HashMap::new();
        let patience = self.env().clock.sleep(ASK_PATIENCE);
        tokio::pin!(patience);
        loop {
            let answer = tokio::select! {
                biased;
                answer = asking.join_next() => answer,
                () = &mut patience => None,
            };
            match answer {
                None => break,
                Some(Ok((rid, Ok(Ok(lsn))))) => drop(asked.insert(rid, lsn)),
                Some(Ok((rid, Ok(Err(error)) | Err(error)))) => {
                    tracing::info!(container = %rid, %error, "how far a container got is not known");
                }
                Some(Err(error)) => tracing::error!(%error, "a container could not be asked how far it got"),
            }
        }
        Newest { asked: Some(asked) }
    }
}
