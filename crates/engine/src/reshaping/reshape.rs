//! One split or merge, from the first note in the resource tree to the last byte given back.
//!
//! ```text
//! begin    the tree notes the children's spaces as to be dropped
//! copy     the children are filled; the parents serve
//! close    the parents pause
//! flip     one batch of the tree: the new map, the children's spaces kept, the parents' to be dropped
//! clean up the parents' spaces are dropped when they have no readers any more
//! ```
//! A crash before the flip leaves the parents, one after it the children; the next start drops the others.
//!
//! The lock of the tree's writer is taken before the parents pause, so that they wait for one commit and no more.

use std::sync::Arc;
use std::time::Duration;

use armilla_container::{Closed, PartitionMap, Range, Reshape, Retired};
use armilla_env::Env;
use armilla_kv::SpaceId;
use tokio::sync::watch;

use super::job::Job;
use super::state::Life;
use crate::containers::ContainerHandle;
use crate::engine::{Engine, WeakEngine};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{OUTCOME_RETRY_PERIOD, STAY_PERIOD};
use crate::record::Record;
use crate::tree::{Change, Writer};

/// How a split or merge ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The new map serves.
    Done,
    /// The container was deleted, or the account is being closed.
    Over,
    /// The unique keys of the container were changed meanwhile: it is to be done again.
    Stale,
}

/// What became of the children.
enum Carried {
    /// They serve; what is retired, and how long writers paused.
    Flipped(Vec<Retired>, Duration),
    /// The container or the account went away meanwhile.
    Over,
    /// They lack reservations of unique keys, or have too many.
    Stale,
}

/// Carries out a split or merge.
pub(super) async fn reshape(
    container: &Arc<ContainerHandle>,
    engine: &WeakEngine,
    env: &Env,
    life: &mut watch::Receiver<Life>,
    job: &Job,
) -> Result<Ended> {
    let started = env.clock.elapsed();
    let Some(strong) = engine.upgrade() else { return Ok(Ended::Over) };
    let plan = {
        // Only the wait is given up: a commit that no task waits for could leave numbers that are given twice.
        let Some(writer) = unless_over(life, strong.writer()).await else { return Ok(Ended::Over) };
        let mut writer = writer?;
        if container.is_deleted() {
            return Ok(Ended::Over);
        }
        begin(&strong, &mut writer, container, job).await?
    };
    drop(strong);
    tracing::info!(
        container = container.id(),
        ranges = ?job.parents,
        children = ?plan.children.iter().map(|child| child.id).collect::<Vec<_>>(),
        reason = ?job.reason,
        "physical partitions are being split or merged"
    );
    let carried_out = tokio::select! {
        biased;
        carried_out = carry_out(container, engine, env, life, job, &plan) => carried_out,
        () = stay(container, engine, env, job, &plan) => Ok(Carried::Over),
    };
    let (retired, pause) = match carried_out {
        Ok(Carried::Flipped(retired, pause)) => (retired, pause),
        outcome => {
            let spaces = plan.children.iter().map(|child| child.space).collect();
            give_up(engine, life, spaces).await;
            return outcome.map(|carried| match carried {
                Carried::Stale => Ended::Stale,
                Carried::Over | Carried::Flipped(..) => Ended::Over,
            });
        }
    };
    let (items, bytes) = plan.held(container);
    tracing::info!(
        container = container.id(),
        ranges = ?job.parents,
        items,
        bytes,
        seconds = env.clock.elapsed().saturating_sub(started).as_secs_f64(),
        pause_ms = pause.as_secs_f64() * 1_000.0,
        "physical partitions were split or merged"
    );
    clean_up(container, engine, retired);
    Ok(Ended::Done)
}

/// Does something, unless the container is deleted or the account is closed before it is done.
async fn unless_over<T>(life: &mut watch::Receiver<Life>, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        _ = life.wait_for(|life| *life != Life::Serving) => None,
        done = work => Some(done),
    }
}

/// The map that a split or merge makes.
struct NewMap {
    children: Vec<Range>,
    map: PartitionMap,
}

impl NewMap {
    /// Plans the children of some partitions.
    fn new(map: PartitionMap, job: &Job, ts: u32, mut next_space: impl FnMut() -> SpaceId) -> Result<NewMap> {
        let first = job.parents.first().copied().unwrap_or_default();
        let at = map
            .ranges
            .iter()
            .position(|range| job.parents.contains(&range.id))
            .ok_or_else(|| Error::range_gone(first))?;
        let parents = map.ranges.get(at..at + job.parents.len()).unwrap_or_default();
        if parents.len() != job.parents.len()
            || !parents.iter().all(|parent| job.parents.contains(&parent.id))
        {
            return Err(Error::range_gone(first));
        }
        // Ids grow with time, so their order is that of age.
        let mut ancestors: Vec<u32> =
            parents.iter().flat_map(|parent| parent.parents.iter().copied().chain([parent.id])).collect();
        ancestors.sort_unstable();
        ancestors.dedup();
        let largest =
            map.ranges.iter().flat_map(|range| range.parents.iter().copied().chain([range.id])).max();
        let mut next_id = largest.unwrap_or_default();
        let lsn_base = parents.iter().map(|parent| parent.lsn_base).max().unwrap_or_default();
        let mut bounds = vec![parents[0].min.clone()];
        bounds.extend(job.cut.clone());
        bounds.push(parents[parents.len() - 1].max.clone());
        let mut children = Vec::with_capacity(2);
        for pair in bounds.windows(2) {
            next_id = next_id
                .checked_add(1)
                .ok_or_else(|| Error::invalid("the container has no ids for partition key ranges left"))?;
            children.push(Range {
                id: next_id,
                min: pair[0].clone(),
                max: pair[1].clone(),
                parents: ancestors.clone(),
                space: next_space(),
                lsn_base,
                map_version: map.version + 1,
                ts,
            });
        }
        let mut ranges = map.ranges;
        ranges.splice(at..at + job.parents.len(), children.iter().cloned());
        Ok(NewMap { children, map: PartitionMap { version: map.version + 1, ranges } })
    }

    /// Returns the same on another map, which has the parents.
    fn on(&self, mut map: PartitionMap, job: &Job) -> Result<NewMap> {
        let gone = || Error::range_gone(job.parents.first().copied().unwrap_or_default());
        let at = map.ranges.iter().position(|range| job.parents.contains(&range.id)).ok_or_else(gone)?;
        let count = job.parents.len();
        let found = map.ranges.get(at..at + count).ok_or_else(gone)?;
        if !found.iter().all(|range| job.parents.contains(&range.id)) {
            return Err(gone());
        }
        let version = map.version + 1;
        let mut children = self.children.clone();
        children.iter_mut().for_each(|child| child.map_version = version);
        map.ranges.splice(at..at + count, children.iter().cloned());
        map.version = version;
        Ok(NewMap { children, map })
    }

    /// Returns how much the children hold.
    fn held(&self, container: &ContainerHandle) -> (u64, u64) {
        let figures = container.container().figures();
        let own =
            figures.iter().filter(|figure| self.children.iter().any(|child| child.id == figure.range_id));
        own.fold((0, 0), |(items, bytes), figure| (items + figure.items, bytes + figure.bytes))
    }
}

/// Notes in the tree what is about to be made, so that a crash leaves nothing behind.
async fn begin(
    engine: &Engine,
    writer: &mut Writer,
    container: &ContainerHandle,
    job: &Job,
) -> Result<NewMap> {
    let mut change = Change::begin(writer, engine.env().clock.now_seconds());
    let ts = change.version.ts;
    let plan = NewMap::new(container.container().map(), job, ts, || {
        change.counters.space += 1;
        SpaceId(change.counters.space)
    })?;
    for child in &plan.children {
        change.drop_space(child.space);
    }
    change.commit().await?;
    Ok(plan)
}

/// Keeps parents and children at this process until they are done, where others could be given them.
async fn stay(container: &ContainerHandle, engine: &WeakEngine, env: &Env, job: &Job, plan: &NewMap) {
    loop {
        let Some(among) = engine.upgrade().map(|engine| engine.among().cloned()) else { return };
        let Some(among) = among else { return std::future::pending().await };
        let map = container.container().map();
        let parents = map.ranges.iter().filter(|range| job.parents.contains(&range.id));
        let spaces: Vec<SpaceId> = parents.chain(&plan.children).map(|range| range.space).collect();
        among.nodes().bring(&spaces, &among.nodes().name());
        drop(among);
        env.clock.sleep(STAY_PERIOD).await;
    }
}

/// Fills the children and puts them in their parents' place.
async fn carry_out(
    container: &Arc<ContainerHandle>,
    engine: &WeakEngine,
    env: &Env,
    life: &mut watch::Receiver<Life>,
    job: &Job,
    plan: &NewMap,
) -> Result<Carried> {
    if let Some(among) = engine.upgrade().and_then(|engine| engine.among().cloned()) {
        let children: Vec<SpaceId> = plan.children.iter().map(|child| child.space).collect();
        match unless_over(life, among.have_here(children)).await {
            None => return Ok(Carried::Over),
            Some(had) => had?,
        }
    }
    let begun = container.container().reshape_once_here(&job.parents, plan.children.clone());
    let mut copying: Reshape = match unless_over(life, begun).await {
        None => return Ok(Carried::Over),
        Some(Err(error)) => return failed(container, error),
        Some(Ok(copying)) => copying,
    };
    match unless_over(life, copying.copy()).await {
        None => return Ok(Carried::Over),
        Some(Err(error)) => return failed(container, error),
        Some(Ok(())) => {}
    }
    let Some(strong) = engine.upgrade() else { return Ok(Carried::Over) };
    let Some(writer) = unless_over(life, strong.writer()).await else { return Ok(Carried::Over) };
    let mut writer = writer?;
    // A caller that deletes it says so before it lets go of the writer.
    if container.is_deleted() {
        return Ok(Carried::Over);
    }
    // They change with the writer locked.
    if copying.is_stale() {
        return Ok(Carried::Stale);
    }
    let paused = env.clock.elapsed();
    let closed = match unless_over(life, copying.close()).await {
        None => return Ok(Carried::Over),
        Some(Err(error)) => return failed(container, error),
        Some(Ok(closed)) => closed,
    };
    let retired = flip(&strong, container, &mut writer, life, plan, job, closed).await?;
    let pause = env.clock.elapsed().saturating_sub(paused);
    Ok(retired.map_or(Carried::Over, |retired| Carried::Flipped(retired, pause)))
}

/// Tells a failure from what is left of a container that was just deleted: its spaces may go before `life` says so.
fn failed(container: &ContainerHandle, error: armilla_container::Error) -> Result<Carried> {
    if container.is_deleted() { Ok(Carried::Over) } else { Err(error.into()) }
}

/// Stores the new map and lets the container serve by it.
async fn flip(
    engine: &Engine,
    container: &ContainerHandle,
    writer: &mut Writer,
    life: &mut watch::Receiver<Life>,
    plan: &NewMap,
    job: &Job,
    closed: Closed,
) -> Result<Option<Vec<Retired>>> {
    // Others may have split other partitions of the container since this began.
    let plan = &plan.on(container.container().map(), job)?;
    let old = container.container().map();
    let mut change = Change::begin(writer, engine.env().clock.now_seconds());
    change.put(container.record_key(), container.record(&plan.map));
    for child in &plan.children {
        change.keep_space(child.space);
    }
    for parent in old.ranges.iter().filter(|range| job.parents.contains(&range.id)) {
        change.drop_space(parent.space);
    }
    let stored = match change.commit().await {
        Ok(()) => true,
        // Another engine has the account now: nothing was written, and the parents cannot write either.
        Err(error) if error.kind == ErrorKind::RangeGone => return Err(error),
        Err(error) => match outcome(engine, container, writer, life, plan).await {
            Some(true) => true,
            Some(false) => return Err(error),
            None => {
                // No caller may write to the parents before it is known whether they are still the partitions of the
                // container, and it is not going to be known before the next start.
                std::mem::forget(closed);
                return Ok(None);
            }
        },
    };
    debug_assert!(stored, "what was not stored has been given up");
    let retired = closed.flip(plan.map.version);
    // A caller that sees the new map may ask for the next split.
    container.reshaping().state().busy.clear();
    Ok(Some(retired))
}

/// Finds out whether a new map was stored of which the store could not say so. Returns nothing where the account is
/// closed before it is known.
async fn outcome(
    engine: &Engine,
    container: &ContainerHandle,
    writer: &mut Writer,
    life: &mut watch::Receiver<Life>,
    plan: &NewMap,
) -> Option<bool> {
    loop {
        let read = writer.look_up(&container.record_key()).await.and_then(|bytes| {
            let Some(bytes) = bytes else { return Ok(false) };
            let map = Record::decode(&bytes, "a container")?.map(0)?;
            Ok(plan.children.iter().any(|child| map.ranges.iter().any(|range| range.id == child.id)))
        });
        match read {
            Ok(stored) => return Some(stored),
            // Taken over by another engine, which reads for itself what is stored.
            Err(error) if error.kind == ErrorKind::RangeGone => return Some(false),
            Err(error) => {
                tracing::warn!(container = container.id(), %error, "it is not known yet whether a split was stored");
            }
        }
        let wait = engine.env().clock.sleep(OUTCOME_RETRY_PERIOD);
        tokio::select! {
            _ = life.wait_for(|life| *life == Life::Closing) => return None,
            () = wait => {}
        }
    }
}

/// Drops what was made in vain. Where the account is being closed, the next start does.
async fn give_up(engine: &WeakEngine, life: &mut watch::Receiver<Life>, spaces: Vec<SpaceId>) {
    let Some(engine) = engine.upgrade() else { return };
    let dropped = tokio::select! {
        biased;
        _ = life.wait_for(|life| *life == Life::Closing) => return,
        dropped = engine.drop_spaces(&spaces) => dropped,
    };
    if let Err(error) = dropped {
        tracing::warn!(%error, "what a split made in vain could not be dropped; the next start does");
    }
}

/// Drops what retired partitions held, in the background, once it has no reader any more.
fn clean_up(container: &ContainerHandle, engine: &WeakEngine, retired: Vec<Retired>) {
    let clean_ups = &container.reshaping().clean_ups;
    let mut clean_ups = clean_ups.lock();
    // Those that are done are forgotten.
    while clean_ups.try_join_next().is_some() {}
    for retired in retired {
        let engine = engine.clone();
        clean_ups.spawn(async move {
            let space = retired.space;
            retired.released().await;
            let Some(engine) = engine.upgrade() else { return };
            if let Err(error) = engine.drop_spaces(&[space]).await {
                tracing::warn!(space = space.0, %error, "a retired partition could not be dropped; the next start does");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use armilla_container::CutBy;
    use armilla_kv::memory::MemoryStore;
    use armilla_value::json;

    use super::super::job::Reason;
    use super::super::next::cut;
    use super::*;
    use crate::{Caller, EngineOptions};

    #[tokio::test]
    async fn spaces_that_go_with_their_container_are_no_failure() {
        let (env, _) = Env::simulated(1);
        let engine =
            Engine::open(Arc::new(MemoryStore::new()), env.clone(), EngineOptions::default()).await.unwrap();
        engine.create_database(&Caller::full(), "d", None).await.unwrap();
        let definition = json::parse(br#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#).unwrap();
        engine
            .create_container(
                &Caller::full(),
                "d",
                armilla_container::ContainerDefinition::from_value(&definition).unwrap(),
                None,
            )
            .await
            .unwrap();
        let container = engine.container("d", "c").unwrap().container;
        let job =
            Job { reason: Reason::Command, parents: vec![0], cut: cut(&container, 0, CutBy::Arc).unwrap() };
        let mut spaces = 100..;
        let plan =
            NewMap::new(container.container().map(), &job, 0, || SpaceId(spaces.next().unwrap())).unwrap();
        // Its spaces are gone, and the split has not been told yet.
        let (_serving, mut life) = watch::channel(Life::Serving);
        engine.drop_spaces(&[SpaceId(100), SpaceId(101)]).await.unwrap();
        let weak = engine.downgrade();
        let failed = carry_out(&container, &weak, &env, &mut life, &job, &plan).await;
        assert!(failed.is_err(), "a container that is there has lost its spaces");
        container.mark_deleted();
        let over = carry_out(&container, &weak, &env, &mut life, &job, &plan).await;
        assert!(matches!(over, Ok(Carried::Over)));
    }
}
