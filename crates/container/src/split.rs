//! Puts other physical partitions in the place of some, while these keep serving: one in two (a split), two in one (a
//! merge).
//!
//! The children are filled from a snapshot of each parent, then catch up with what was written meanwhile, again and
//! again until little is left. Then the parents are closed for a moment: writers wait, what was queued lands, the last
//! changes are taken over. Once the caller has stored the new map, the container's own map is replaced, and every task that
//! waited is routed to a child.
//!
//! Invariants:
//! * the parents are whole and untouched until the map is replaced: giving up at any moment before costs nothing but
//!   the copy, and dropping a [`Reshape`] or [`Closed`] is how to give up;
//! * an item lies in the child whose range holds its hashed key, with the number, times, etag and commit that it had;
//! * every entry of a parent's change log that a reader may want is in the child of its item, under its own commit
//!   number, so what was read of a parent up to a commit need not be read again;
//! * the first commit of a child is behind all of its parents'.
//!
//! Not here: what is copied and how (`copy`), when to split and where (`cut`, and the owner of the container), what
//! survives a crash (the caller, which stores the map).

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use armilla_kv::{Batch, Family, RangeClone, Snapshot, SpaceId};
use bytes::Bytes;
use tokio::sync::oneshot;

use crate::container::Container;
use crate::error::{Error, ErrorKind, Result};
use crate::feed::Merged;
use crate::feed::trim::TrimState;
use crate::index::layout::Layout;
use crate::item::keys;
use crate::limits::{CATCH_UP_LEFT_MAX, CATCH_UP_PACED_ROUNDS_MAX, CATCH_UP_ROUNDS_MAX};
use crate::map::ranges::Range;
use crate::map::{Map, Slot};
use crate::partition::{Gate, Landing, Never, Partition};
use crate::unique::UniqueKeys;

mod copy;
pub(crate) mod cut;

use copy::{Child, Copy, Pace, on_blocking_thread};

/// A split or merge on its way. Dropping it gives it up: the parents go on as before.
pub struct Reshape {
    container: Container,
    parents: Vec<Parent>,
    ranges: Vec<Range>,
    /// Once the copy has begun.
    children: Option<Arc<[Child]>>,
    /// The layout of the children's index.
    layout: Option<Arc<Layout>>,
    /// The unique keys of which the children have reservations.
    unique: Option<Arc<UniqueKeys>>,
    percent: Arc<AtomicU8>,
}

/// A partition that is to be replaced.
struct Parent {
    slot: Arc<Slot>,
    partition: Arc<Partition>,
    /// The commit up to which everything was copied.
    copied_lsn: u64,
    /// What its change log held then beside the newest versions.
    log: Option<TrimState>,
    /// The last merge among its ancestors.
    merged: Option<Merged>,
}

/// A split or merge whose children have everything, while the parents' writers wait. Dropping it gives it up: they go
/// on as before.
pub struct Closed {
    reshape: Reshape,
    children: Vec<(Range, Arc<Partition>)>,
}

/// A partition that others have taken the place of.
pub struct Retired {
    /// Where it is stored.
    pub space: SpaceId,
    gone: oneshot::Receiver<Never>,
}

/// How far a copy may be, in percent, before it is caught up with.
const COPIED_PERCENT: u64 = 97;

/// The first byte of a mark of parents.
const GIVEN_WAY_FORMAT: u8 = 1;

/// How far it is once little is left.
const CAUGHT_UP_PERCENT: u8 = 99;

impl Container {
    /// Begins to put `children` in the place of `parents`: neighbours in the map, given in their order, as the children
    /// are. The children's spaces are empty, and their ids are new.
    ///
    /// Fails with [`ErrorKind::RangeGone`] for a parent that is not there, with [`ErrorKind::Conflict`] for one that is
    /// being replaced already, and with [`ErrorKind::Invalid`] if the children do not cover what the parents do.
    pub fn reshape(&self, parents: &[u32], children: Vec<Range>) -> Result<Reshape> {
        let map = self.map_now();
        let slots = neighbours(&map, parents)?;
        check_cover(&map, &slots, &children)?;
        let percent = Arc::new(AtomicU8::new(0));
        let mut reshape = Reshape {
            container: self.clone(),
            parents: Vec::new(),
            ranges: children,
            children: None,
            layout: None,
            unique: None,
            percent: percent.clone(),
        };
        for slot in slots {
            let partition = self.own_partition(&slot)?.ok_or_else(|| elsewhere(slot.range.id))?;
            {
                let mut reshaping = partition.reshaping.lock();
                if reshaping.is_some() {
                    return Err(Error::new(
                        ErrorKind::Conflict,
                        format!("range {} is being split or merged already", slot.range.id),
                    ));
                }
                *reshaping = Some(percent.clone());
            }
            // From here on dropping the reshape takes the mark away again.
            reshape.parents.push(Parent { slot, partition, copied_lsn: 0, log: None, merged: None });
        }
        Ok(reshape)
    }

    /// Begins the same, and waits for parents that are still on their way to this process, or are just being opened.
    pub async fn reshape_once_here(&self, parents: &[u32], children: Vec<Range>) -> Result<Reshape> {
        let mut turn = self.turn();
        loop {
            match self.reshape(parents, children.clone()) {
                Err(error) if error.kind == ErrorKind::Moved => self.await_move(&mut turn, error).await?,
                begun => return begun,
            }
        }
    }
}

/// The refusal to reshape what another process has.
fn elsewhere(range_id: u32) -> Error {
    Error::new(
        ErrorKind::Moved,
        format!(
            "range {range_id} is another node's: splits and merges are carried out by the node that has the partitions"
        ),
    )
}

fn neighbours(map: &Map, parents: &[u32]) -> Result<Vec<Arc<Slot>>> {
    let gone = |id: &u32| {
        Error::new(ErrorKind::RangeGone, format!("range {id} is not a partition of this container any more"))
    };
    let places: Vec<usize> =
        parents.iter().map(|id| map.place_of(*id).ok_or_else(|| gone(id))).collect::<Result<_>>()?;
    let is_run = places.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    if places.is_empty() || !is_run {
        return Err(Error::invalid("the partitions to be replaced are not neighbours, in their order"));
    }
    Ok(places.into_iter().map(|place| map.slots[place].clone()).collect())
}

fn check_cover(map: &Map, parents: &[Arc<Slot>], children: &[Range]) -> Result<()> {
    let (Some(first), Some(last)) = (children.first(), children.last()) else {
        return Err(Error::invalid("there is nothing to put in the place of the partitions"));
    };
    let covers = parents.first().is_some_and(|parent| parent.range.min == first.min)
        && parents.last().is_some_and(|parent| parent.range.max == last.max)
        && children.windows(2).all(|pair| pair[0].max == pair[1].min)
        && children.iter().all(|child| child.min < child.max);
    if !covers {
        return Err(Error::invalid("the new ranges do not cover what those have that they are to replace"));
    }
    let mut used: HashSet<u32> = map.slots.iter().map(|slot| slot.range.id).collect();
    used.extend(map.slots.iter().flat_map(|slot| slot.range.parents.iter().copied()));
    let mut spaces: HashSet<SpaceId> = map.slots.iter().map(|slot| slot.range.space).collect();
    if !children.iter().all(|child| used.insert(child.id) && spaces.insert(child.space)) {
        return Err(Error::invalid("the id or the space of a new range was used before"));
    }
    Ok(())
}

impl Reshape {
    /// Copies what the parents have, while they serve, until little is left. After a failure there is nothing to do but
    /// to begin anew, with other spaces.
    pub async fn copy(&mut self) -> Result<()> {
        if self.children.is_some() {
            return Err(Error::invalid("a copy that was begun cannot be begun again"));
        }
        self.finish_reindexing().await?;
        // From here on no delete is applied that does not know of the copy.
        for parent in &self.parents {
            parent.partition.pass_barrier(self.container.compiled()).await?;
        }
        let mut cloned = self.clone_items().await?;
        self.open_children().await?;
        let pace = Pace::GiveWay;
        let mut copies = Vec::with_capacity(self.parents.len());
        let mut total = 0;
        for place in 0..self.parents.len() {
            let copy = self.begin_copy(place, cloned.take())?;
            total += copy.items_total();
            copies.push(copy);
        }
        let mut done = 0;
        for (place, copy) in copies.into_iter().enumerate() {
            let percent = self.percent.clone();
            let lsn = copy.lsn();
            self.parents[place].note(&copy)?;
            done += copy
                .run_whole(pace, |items| {
                    let so_far = (done + items).min(total);
                    let share = (so_far * COPIED_PERCENT).checked_div(total).unwrap_or(COPIED_PERCENT);
                    percent.store(share as u8, Ordering::Relaxed);
                })
                .await?;
            self.parents[place].copied_lsn = lsn;
        }
        self.catch_up_nearly().await?;
        self.percent.store(CAUGHT_UP_PERCENT, Ordering::Relaxed);
        Ok(())
    }

    /// Returns how far it is, in percent.
    pub fn percent(&self) -> u8 {
        self.percent.load(Ordering::Relaxed)
    }

    /// Closes the parents and takes over the rest. Their writers wait from here on, until [`Closed::flip`].
    pub async fn close(mut self) -> Result<Closed> {
        if self.children.is_none() {
            self.copy().await?;
        }
        // Time may have passed since the copy.
        self.catch_up_nearly().await?;
        for parent in &self.parents {
            parent.partition.set_gate(Gate::Closed);
        }
        for parent in &self.parents {
            parent.partition.drain().await;
        }
        let partitions: Vec<Arc<Partition>> =
            self.parents.iter().map(|parent| parent.partition.clone()).collect();
        on_blocking_thread(move || {
            // After a commit whose fate was not known, it is not known what the store has before it is opened again.
            partitions.iter().filter(|partition| partition.is_broken()).try_for_each(|broken| broken.reload())
        })
        .await?;
        for place in 0..self.parents.len() {
            self.catch_up(place, Pace::Hurry).await?;
        }
        self.give_way().await?;
        let children = self.seal().await?;
        Ok(Closed { reshape: self, children })
    }

    /// Leaves a mark in the parents, where another process may have them before the new map is stored: it is not to write to
    /// them then before it knows what became of that. One that has them already makes this fail.
    async fn give_way(&self) -> Result<()> {
        if self.container.core.peers.is_none() {
            return Ok(());
        }
        for parent in &self.parents {
            let mut batch = Batch::new();
            batch.put(
                Family::Meta,
                Bytes::from_static(keys::GIVEN_WAY),
                Bytes::from_static(&[GIVEN_WAY_FORMAT]),
            );
            parent.partition.space().commit(batch).await?;
        }
        Ok(())
    }

    /// Parents have one layout of the index while they are copied.
    async fn finish_reindexing(&self) -> Result<()> {
        for parent in &self.parents {
            loop {
                let compiled = self.container.compiled();
                if !compiled.needs_reindex(&parent.partition.index()) {
                    break;
                }
                parent.partition.reindex(compiled).await?;
            }
        }
        Ok(())
    }

    /// Returns the layout that items of all parents have, given that of some.
    fn joined_layout(&self, known: Option<Arc<Layout>>) -> Result<Arc<Layout>> {
        let mut joined = known;
        for parent in &self.parents {
            let layouts = parent.partition.index().layouts;
            let next = match joined {
                None => Some(layouts.target.clone()),
                Some(joined) => joined.joined(&layouts.target),
            };
            joined = next.filter(|_| layouts.built.is_none());
            if joined.is_none() {
                return Err(Error::new(
                    ErrorKind::Unavailable,
                    format!("the index of range {} is being made anew", parent.slot.range.id),
                ));
            }
        }
        joined.ok_or_else(|| Error::new(ErrorKind::Internal, "a reshape has no parents"))
    }

    async fn open_children(&mut self) -> Result<()> {
        let layout = self.joined_layout(None)?;
        self.unique = Some(self.container.compiled().unique.clone());
        let (container, ranges, first_layout) = (self.container.clone(), self.ranges.clone(), layout.clone());
        let children = on_blocking_thread(move || {
            let open = |range: &Range| Child::open(&container, range, first_layout.clone());
            ranges.iter().map(open).collect::<Result<Vec<Child>>>()
        })
        .await?;
        self.layout = Some(layout);
        self.children = Some(children.into());
        Ok(())
    }

    /// Has the store make the children of what there is of items, where it can without copying them. Returns the moment that
    /// they show. Items of several parents may have to change on the way, so those are copied.
    async fn clone_items(&self) -> Result<Option<Arc<dyn Snapshot>>> {
        let [parent] = &self.parents[..] else { return Ok(None) };
        let definition = &self.container.compiled().definition.partition_key;
        let key = |hashed: &_| keys::from_hashed(hashed, definition.version, definition.paths.len());
        let last = self.ranges.len().saturating_sub(1);
        let clone = |(place, range): (usize, &Range)| {
            let lower = match place {
                0 => Bound::Unbounded,
                // One whose keys begin nowhere has none.
                _ => Bound::Included(key(&range.min)?),
            };
            let upper = match key(&range.max).filter(|_| place < last) {
                Some(upper) => Bound::Excluded(upper),
                None => Bound::Unbounded,
            };
            Some(RangeClone { space: range.space, family: Family::Item, lower, upper })
        };
        let clones: Vec<RangeClone> = self.ranges.iter().enumerate().filter_map(clone).collect();
        let (store, from) = (self.container.core.store.clone(), parent.slot.range.space);
        let cloned = on_blocking_thread(move || Ok(store.clone_ranges(from, &clones)?)).await?;
        Ok(cloned.map(Arc::from))
    }

    fn begin_copy(&self, place: usize, cloned: Option<Arc<dyn Snapshot>>) -> Result<Copy> {
        let (Some(children), Some(layout)) = (&self.children, &self.layout) else {
            return Err(Error::new(ErrorKind::Internal, "a copy begins before its children are there"));
        };
        let parent = &self.parents[place];
        let (container, several) = (self.container.clone(), self.parents.len() > 1);
        let (children, layout) = (children.clone(), layout.clone());
        Copy::begin(container, &parent.slot, &parent.partition, cloned, children, layout, several)
    }

    /// Takes over what was written to a parent since it was copied. Returns how many changes that were.
    async fn catch_up(&mut self, place: usize, pace: Pace) -> Result<usize> {
        let copy = self.begin_copy(place, None)?;
        let lsn = copy.lsn();
        self.parents[place].note(&copy)?;
        let changes = copy.run_changes(self.parents[place].copied_lsn, pace).await?;
        self.parents[place].copied_lsn = lsn;
        Ok(changes)
    }

    async fn catch_up_nearly(&mut self) -> Result<()> {
        for round in 0..CATCH_UP_ROUNDS_MAX {
            let pace = if round < CATCH_UP_PACED_ROUNDS_MAX { Pace::GiveWay } else { Pace::Hurry };
            let mut changes = 0;
            for place in 0..self.parents.len() {
                changes += self.catch_up(place, pace).await?;
            }
            if changes <= CATCH_UP_LEFT_MAX {
                break;
            }
        }
        Ok(())
    }

    /// Returns from where on the change log of a child, whose commits go on at `lsn`, has all versions, where that counts.
    fn joined_log(&self, child: &Range, lsn: u64) -> Option<TrimState> {
        let has_all = |parent: &Parent| parent.log.as_ref().is_some_and(|log| !log.is_never());
        if !self.container.compiled().keeps_all_versions && !self.parents.iter().any(has_all) {
            return None;
        }
        let mut parts = Vec::new();
        let mut logs = Vec::new();
        for parent in &self.parents {
            let range = &parent.slot.range;
            let (min, max) = ((&range.min).max(&child.min), (&range.max).min(&child.max));
            if min >= max {
                continue;
            }
            // A log that has only the newest versions lacks nothing that comes behind its last commit.
            let log = parent.log.clone().filter(|log| !log.is_never());
            let log = log.unwrap_or_else(|| TrimState::complete_after(parent.copied_lsn));
            parts.extend(log.parts(min, max).unwrap_or_default());
            logs.push(log);
        }
        Some(TrimState::joined(parts, &logs, lsn))
    }

    /// Returns whether unique keys came or went since the copy began: then the children lack reservations, or have too
    /// many, and there is nothing to do but to begin anew.
    pub fn is_stale(&self) -> bool {
        let now = self.container.compiled().unique.clone();
        self.unique.as_ref().is_some_and(|copied| !Arc::ptr_eq(copied, &now))
    }

    fn check_unique_keys(&self) -> Result<()> {
        match self.is_stale() {
            false => Ok(()),
            true => Err(Error::new(
                ErrorKind::Unavailable,
                "the unique keys of the container were changed while its partitions were copied; do it again",
            )),
        }
    }

    /// Makes the children durable as they are to be, and opens them as those who will serve.
    async fn seal(&mut self) -> Result<Vec<(Range, Arc<Partition>)>> {
        self.check_unique_keys()?;
        let layout = self.joined_layout(self.layout.clone())?;
        let children = self.children.take().ok_or_else(|| {
            Error::new(ErrorKind::Internal, "a reshape is closed before its children are there")
        })?;
        let lsn = self.parents.iter().map(|parent| parent.copied_lsn).max().unwrap_or(0) + 1;
        // No task writes to the parents any more, and what they wrote may be ahead of the clock.
        let latest = self.parents.iter().map(|parent| parent.partition.latest_moment()).max();
        let latest = latest.expect("a reshape has parents");
        let merged = match &self.parents[..] {
            [parent] => parent.merged,
            _ => Some(Merged { lsn, ts: latest.second() }),
        };
        let seal = |(child, range): (&Child, &Range)| {
            child.partition.seal(lsn, layout.clone(), self.joined_log(range, lsn), merged)
        };
        let landings: Vec<Landing> = children.iter().zip(&self.ranges).map(seal).collect();
        for (child, landing) in children.iter().zip(landings) {
            child.partition.land(landing).await?;
        }
        let (container, ranges) = (self.container.clone(), std::mem::take(&mut self.ranges));
        on_blocking_thread(move || {
            let open = |range: Range| {
                let partition = container.open_partition(&range, layout.clone())?;
                partition.skip_moments(latest);
                Ok((range, Arc::new(partition)))
            };
            ranges.into_iter().map(open).collect()
        })
        .await
    }
}

impl Parent {
    /// Takes note of what a copy knows of the change log.
    fn note(&mut self, copy: &Copy) -> Result<()> {
        self.log = copy.log().cloned();
        self.merged = copy.merged()?;
        Ok(())
    }
}

impl Drop for Reshape {
    fn drop(&mut self) {
        for parent in &self.parents {
            parent.partition.set_gate(Gate::Open);
            *parent.partition.reshaping.lock() = None;
        }
        self.container.core.reindex_wanted.notify_waiters();
        self.container.core.grown.notify_waiters();
        self.container.core.sweep_wanted.notify_one();
    }
}

impl Closed {
    /// Puts the children in the place of the parents, once the new map is stored: the old one, with the parents replaced.
    /// Tasks that waited are routed again.
    pub fn flip(mut self, map_version: u64) -> Vec<Retired> {
        let core = self.reshape.container.core.clone();
        let source = core.source.lock();
        let mut current = core.map.write();
        let first = self.reshape.parents.first().expect("a reshape has parents").slot.range.id;
        let place = current.place_of(first).expect("no other driver replaces what is being replaced");
        let children = std::mem::take(&mut self.children).into_iter().map(|(mut range, partition)| {
            range.map_version = map_version;
            let slot = Slot::new(range, core.policy);
            match self.reshape.container.may_serve(slot.range.space) {
                Some(since) => {
                    let container = &self.reshape.container;
                    partition.hold_under(container.holding(slot.range.space, since));
                    slot.set_opened(since, partition);
                }
                // Another process was given it: it opens it anew.
                None => {
                    partition.set_gate(Gate::Retired);
                    if let Err(error) = core.store.release_space(slot.range.space) {
                        tracing::debug!(%error, "a new partition was not closed cleanly for another node");
                    }
                }
            }
            Arc::new(slot)
        });
        let mut slots = current.slots.clone();
        slots.splice(place..place + self.reshape.parents.len(), children);
        let map = Map { version: map_version, slots };
        map.assert_whole();
        source.apply(&map, &core.limits, core.env.clock.now_ms());
        *current = Arc::new(map);
        drop(current);
        core.map_version.send_replace(map_version);
        drop(source);
        let retire = |parent: &Parent| {
            let gone = parent.partition.watch_end();
            parent.partition.set_gate(Gate::Retired);
            Retired { space: parent.slot.range.space, gone }
        };
        self.reshape.percent.store(100, Ordering::Relaxed);
        self.reshape.parents.iter().map(retire).collect()
    }
}

impl Retired {
    /// Waits until the last reader of the partition is gone.
    pub async fn released(self) {
        // Nothing is ever sent: the other end goes with the partition.
        let _ = self.gone.await;
    }
}
