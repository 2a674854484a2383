//! A bounded cache of items in front of any store.
//!
//! It holds newest values of [`Family::Item`] only. Other families, absent keys, and everything read through
//! snapshots pass it by.
//!
//! A reader never gets an older value than the store would have given it:
//!
//! * A commit marks its keys before it goes to the store. From then until its outcome is known, readers of
//!   these keys pass the cache by, because the store may show the new value at any moment.
//! * When the commit has succeeded, its values take the place of the old ones, unless commits of one key
//!   overlapped: then the cache does not know which came last, and the key is left out.
//! * A reader that missed may leave what it found only if no commit has touched the shard in between.
//! * A commit whose future is dropped still runs. Its future is kept, and looked at by later calls, until its
//!   outcome is known; so long its keys are passed by.
//! * After [`ErrorKind::OutcomeUnknown`] the batch may show up at any time, so the whole space is passed by
//!   until it is opened again.
//!
//! The cache must see every commit: two caches on one store, or one in front of a space that another process
//! has taken over, would serve old values.

mod shard;

use std::collections::HashMap;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

use crate::{
    Batch, CommitFuture, ErrorKind, Family, Op, RangeClone, Result, Snapshot, Space, SpaceId, Store,
    StoreSnapshot, StoreStats,
};
use shard::{Found, Name, Shard};

/// Smallest shard; fewer and larger ones waste less on entries that are too large for a share.
const SHARD_BYTES_MIN: usize = 4 * 1024 * 1024;

/// Most shards.
const SHARDS_MAX: usize = 64;

/// Most items that are looked up at once, while nothing is written to their shards.
const LOOKUPS_AT_ONCE: usize = 128;

/// A value up to this long is copied into a piece of memory together with others that were looked up at once.
const SMALL_VALUE_BYTES: usize = 16 * 1024;

/// A store with a cache of items in front of it.
pub struct CachedStore {
    inner: Arc<dyn Store>,
    cache: Arc<Cache>,
    spaces: Mutex<HashMap<SpaceId, Arc<SpaceState>>>,
}

struct Cache {
    shards: Vec<Shard>,
    hits: AtomicU64,
    misses: AtomicU64,
    /// Commits whose futures were dropped before their outcome was known.
    orphans: Mutex<Vec<Running>>,
    orphan_count: AtomicUsize,
}

/// What all handles of one space share.
#[derive(Default)]
struct SpaceState {
    dropped: AtomicBool,
    /// Counts openings of the space.
    generation: AtomicU64,
    /// The newest generation that has a commit with an unknown outcome.
    doubtful_generation: AtomicU64,
}

struct CachedSpace {
    id: SpaceId,
    generation: u64,
    inner: Arc<dyn Space>,
    state: Arc<SpaceState>,
    cache: Arc<Cache>,
}

/// Keys of a commit that is on its way, with their new values.
type Marked = Vec<(Bytes, Option<Bytes>)>;

/// What is found of an item, with a copy of it.
type Lookup = Found<Bytes>;

/// A commit that is on its way.
struct Running {
    future: CommitFuture,
    marked: Marked,
    space: SpaceId,
    generation: u64,
    state: Arc<SpaceState>,
}

struct CachedCommit {
    cache: Arc<Cache>,
    /// Nothing once the outcome is known.
    running: Option<Running>,
}

impl CachedStore {
    /// Puts a cache of at most `bytes_max` bytes in front of a store.
    pub fn new(inner: Arc<dyn Store>, bytes_max: usize) -> CachedStore {
        let shards = (bytes_max / SHARD_BYTES_MIN).clamp(1, SHARDS_MAX).next_power_of_two().min(SHARDS_MAX);
        let cache = Cache {
            shards: (0..shards).map(|_| Shard::new(bytes_max / shards)).collect(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            orphans: Mutex::default(),
            orphan_count: AtomicUsize::new(0),
        };
        CachedStore { inner, cache: Arc::new(cache), spaces: Mutex::default() }
    }

    fn spaces(&self) -> MutexGuard<'_, HashMap<SpaceId, Arc<SpaceState>>> {
        self.spaces.lock()
    }
}

impl Store for CachedStore {
    fn open_space(&self, space: SpaceId) -> Result<Arc<dyn Space>> {
        let inner = self.inner.open_space(space)?;
        let state = self.spaces().entry(space).or_default().clone();
        // After the store has taken the space over: commits of older handles can no longer show up.
        let generation = state.generation.fetch_add(1, Ordering::AcqRel) + 1;
        // What was remembered of it may be from before another process had it.
        self.cache.forget_space(space);
        Ok(Arc::new(CachedSpace { id: space, generation, inner, state, cache: self.cache.clone() }))
    }

    fn drop_space(&self, space: SpaceId) -> Result<()> {
        if let Some(state) = self.spaces().remove(&space) {
            state.dropped.store(true, Ordering::Release);
        }
        let outcome = self.inner.drop_space(space);
        self.cache.forget_space(space);
        outcome
    }

    fn release_space(&self, space: SpaceId) -> Result<()> {
        let outcome = self.inner.release_space(space);
        // What another writes is not seen here.
        if let Some(state) = self.spaces().remove(&space) {
            state.dropped.store(true, Ordering::Release);
        }
        self.cache.forget_space(space);
        outcome
    }

    fn clone_ranges(&self, from: SpaceId, clones: &[RangeClone]) -> Result<Option<Box<dyn Snapshot>>> {
        self.inner.clone_ranges(from, clones)
    }

    fn snapshot_all(&self) -> Result<Box<dyn StoreSnapshot>> {
        self.inner.snapshot_all()
    }

    fn pressure_percent(&self) -> u32 {
        self.inner.pressure_percent()
    }

    fn is_current(&self) -> bool {
        self.inner.is_current()
    }

    fn trouble(&self) -> Option<String> {
        self.inner.trouble()
    }

    fn stats(&self) -> StoreStats {
        StoreStats {
            item_cache_bytes: self.cache.shards.iter().map(|shard| shard.bytes() as u64).sum(),
            item_cache_hits: self.cache.hits.load(Ordering::Relaxed),
            item_cache_misses: self.cache.misses.load(Ordering::Relaxed),
            ..self.inner.stats()
        }
    }

    fn close(&self) -> Result<()> {
        self.inner.close()
    }
}

impl SpaceState {
    /// Returns whether the cache may be used for this space.
    fn is_cached(&self) -> bool {
        let generation = self.generation.load(Ordering::Acquire);
        !self.dropped.load(Ordering::Acquire) && self.doubtful_generation.load(Ordering::Acquire) < generation
    }
}

impl Space for CachedSpace {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        if family != Family::Item || !self.state.is_cached() {
            return self.inner.get(family, key);
        }
        match self.cache.lookup(self.id, key) {
            Found::Hit(value) => Ok(Some(value)),
            Found::PassBy => self.inner.get(family, key),
            Found::Miss { stamp } => {
                let value = self.inner.get(family, key)?;
                if let Some(value) = &value {
                    self.leave(key, value, stamp);
                }
                Ok(value)
            }
        }
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        if family != Family::Item || !self.state.is_cached() {
            return self.inner.multi_get(family, keys);
        }
        let mut values = vec![None; keys.len()];
        let mut missed = Vec::new();
        let mut position = 0;
        for some in keys.chunks(LOOKUPS_AT_ONCE) {
            self.cache.lookup_all(self.id, some, |found| {
                match found {
                    Found::Hit(value) => values[position] = Some(value),
                    Found::PassBy => missed.push((position, None)),
                    Found::Miss { stamp } => missed.push((position, Some(stamp))),
                }
                position += 1;
            });
        }
        if missed.is_empty() {
            return Ok(values);
        }
        let missed_keys: Vec<Bytes> = missed.iter().map(|(position, _)| keys[*position].clone()).collect();
        for ((position, stamp), value) in missed.into_iter().zip(self.inner.multi_get(family, &missed_keys)?)
        {
            if let (Some(stamp), Some(value)) = (stamp, &value) {
                self.leave(&keys[position], value, stamp);
            }
            values[position] = value;
        }
        Ok(values)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.inner.snapshot()
    }

    fn commit(&self, batch: Batch) -> CommitFuture {
        self.cache.look_after_orphans();
        let mut marked = Marked::new();
        for op in batch.ops() {
            match op {
                Op::Put { family: Family::Item, key, value } => {
                    marked.push((key.clone(), Some(value.clone())));
                }
                Op::Delete { family: Family::Item, key } => marked.push((key.clone(), None)),
                _ => {}
            }
        }
        if marked.is_empty() {
            return self.inner.commit(batch);
        }
        for (key, _) in &marked {
            let name = Name::new(self.id, key);
            self.cache.shard(name).mark(name);
        }
        let future = self.inner.commit(batch);
        let (space, generation, state) = (self.id, self.generation, self.state.clone());
        let running = Running { future, marked, space, generation, state };
        Box::pin(CachedCommit { cache: self.cache.clone(), running: Some(running) })
    }
}

impl CachedSpace {
    /// Leaves a value that was read from the store, unless a commit came in between.
    fn leave(&self, key: &[u8], value: &Bytes, stamp: u64) {
        if self.state.is_cached() {
            let name = Name::new(self.id, key);
            self.cache.shard(name).insert_read(name, value, stamp);
        }
    }
}

impl Cache {
    fn shard(&self, name: Name<'_>) -> &Shard {
        &self.shards[name.shard(self.shards.len())]
    }

    fn lookup(&self, space: SpaceId, key: &[u8]) -> Lookup {
        let name = Name::new(space, key);
        let shard = self.shard(name);
        let mut is_old = false;
        let found = shard.read().lookup(name, |value, old| {
            is_old = old;
            Bytes::copy_from_slice(value)
        });
        if is_old {
            shard.renew(name);
        }
        self.count(&found);
        found
    }

    /// Looks several items up, and hands each over in their order.
    ///
    /// Their shards are kept from changing meanwhile, so that all memory can be asked for before any is waited for. Writers
    /// hold one shard at a time, and readers take them in one order, so no thread waits in a circle.
    fn lookup_all(&self, space: SpaceId, keys: &[Bytes], mut take: impl FnMut(Lookup)) {
        let [_, _, ..] = keys else {
            keys.iter().for_each(|key| take(self.lookup(space, key)));
            return;
        };
        let count = self.shards.len();
        let names: Vec<Name<'_>> = keys.iter().map(|key| Name::new(space, key)).collect();
        let mut is_asked = [false; SHARDS_MAX];
        names.iter().for_each(|name| is_asked[name.shard(count)] = true);
        let held: Vec<_> = self
            .shards
            .iter()
            .zip(is_asked)
            .map(|(shard, is_asked)| is_asked.then(|| shard.read()))
            .collect();
        let shard = |name: &Name<'_>| held[name.shard(count)].as_ref().expect("it is held");
        black_box(names.iter().fold(0, |sum: u64, name| sum.wrapping_add(shard(name).touch_slots(*name))));
        black_box(names.iter().fold(0, |sum: u64, name| sum.wrapping_add(shard(name).touch_record(*name))));
        // One piece of memory for all small values, which are parts of it.
        let mut bytes = Vec::new();
        let mut old = Vec::new();
        let mut all = Vec::with_capacity(names.len());
        for name in &names {
            all.push(shard(name).lookup(*name, |value, is_old| {
                if is_old {
                    old.push(*name);
                }
                if value.len() > SMALL_VALUE_BYTES {
                    return Copied::Alone(Bytes::copy_from_slice(value));
                }
                if bytes.is_empty() {
                    // Items that are asked for together are about as long as each other.
                    bytes.reserve((value.len() * names.len()).min(SMALL_VALUE_BYTES * 4));
                }
                let start = bytes.len();
                bytes.extend_from_slice(value);
                Copied::Together(start..bytes.len())
            }));
        }
        drop(held);
        old.into_iter().for_each(|name| self.shard(name).renew(name));
        let bytes = Bytes::from(bytes);
        for found in all {
            let found = match found {
                Found::Hit(Copied::Alone(value)) => Found::Hit(value),
                Found::Hit(Copied::Together(range)) => Found::Hit(bytes.slice(range)),
                Found::Miss { stamp } => Found::Miss { stamp },
                Found::PassBy => Found::PassBy,
            };
            self.count(&found);
            take(found);
        }
    }

    fn count(&self, found: &Lookup) {
        let counter = if matches!(found, Found::Hit(_)) { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        if matches!(found, Found::PassBy) {
            self.look_after_orphans();
        }
    }

    fn forget_space(&self, space: SpaceId) {
        for shard in &self.shards {
            shard.remove_space(space);
        }
    }

    /// Ends the marks of a commit whose outcome is known.
    fn finish(&self, running: Running, outcome: &Result<()>) {
        if let Err(error) = outcome
            && error.kind() == ErrorKind::OutcomeUnknown
        {
            running.state.doubtful_generation.fetch_max(running.generation, Ordering::AcqRel);
        }
        let may_insert = outcome.is_ok() && running.state.is_cached();
        for (key, value) in &running.marked {
            let name = Name::new(running.space, key);
            self.shard(name).unmark(name, value.as_ref().filter(|_| may_insert));
        }
    }

    /// Looks whether dropped commits have ended.
    fn look_after_orphans(&self) {
        if self.orphan_count.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut orphans = self.orphans.lock();
        let mut context = Context::from_waker(Waker::noop());
        let mut index = 0;
        while index < orphans.len() {
            match orphans[index].future.as_mut().poll(&mut context) {
                Poll::Ready(outcome) => self.finish(orphans.swap_remove(index), &outcome),
                Poll::Pending => index += 1,
            }
        }
        self.orphan_count.store(orphans.len(), Ordering::Release);
    }
}

impl Future for CachedCommit {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let running = self.running.as_mut().expect("a future is not polled after it is ready");
        match running.future.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(outcome) => {
                if let Some(running) = self.running.take() {
                    self.cache.finish(running, &outcome);
                }
                Poll::Ready(outcome)
            }
        }
    }
}

impl Drop for CachedCommit {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            let mut orphans = self.cache.orphans.lock();
            orphans.push(running);
            self.cache.orphan_count.store(orphans.len(), Ordering::Release);
            drop(orphans);
            self.cache.look_after_orphans();
        }
    }
}

/// The copy of a value that was looked up with others.
enum Copied {
    Alone(Bytes),
    /// A part of the memory of all of them.
    Together(std::ops::Range<usize>),
}

#[cfg(test)]
mod tests;
