//! A store in memory: the model that every other store is compared with, and the product's `--memory` mode.
//!
//! Each space is five copy-on-write trees behind one lock. A snapshot clones five pointers. A commit
//! changes the trees in place, or copies the few nodes that a living snapshot shares. Readers hold the
//! lock for one lookup; scans run on snapshots and hold no lock at all.
//!
//! A commit is done when [`Space::commit`] returns, so its future is always ready. Nothing survives the
//! process: "durable" here means "visible".
//!
//! Keys and values are copied on the way in, so that a small value never keeps the large buffer alive
//! that it was cut from.

mod tree;

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::id_set::IdSet;
use crate::{
    Batch, CommitFuture, CommitLatch, Error, ErrorKind, Family, Op, Page, RangeClone, Result, Scan, Snapshot,
    Space, SpaceId, Store, StoreSnapshot, StoreStats, check_batch,
};
use tree::Tree;

/// A store that keeps everything in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    shared: Arc<Shared>,
    spaces: Mutex<Spaces>,
    clones: bool,
}

#[derive(Debug, Default)]
struct Shared {
    closed: AtomicBool,
    commits: AtomicU64,
}

#[derive(Debug, Default)]
struct Spaces {
    open: HashMap<SpaceId, Arc<SpaceState>>,
    dropped: IdSet,
}

#[derive(Debug)]
struct SpaceState {
    id: SpaceId,
    /// Set under the lock of `data`, so that no commit runs across the change.
    dropped: AtomicBool,
    data: RwLock<Data>,
}

#[derive(Debug, Default)]
struct Data {
    /// Number of the newest handle; older ones may not write.
    epoch: u64,
    families: [Tree; Family::ALL.len()],
}

struct MemorySpace {
    shared: Arc<Shared>,
    state: Arc<SpaceState>,
    epoch: u64,
    latch: CommitLatch,
}

struct MemorySnapshot {
    /// Whose drop makes it unreachable; nothing where it is part of a view of the whole store.
    state: Option<Arc<SpaceState>>,
    families: [Tree; Family::ALL.len()],
}

struct MemoryStoreSnapshot(BTreeMap<SpaceId, [Tree; Family::ALL.len()]>);

impl MemoryStore {
    /// Returns an empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// Returns an empty store that makes new spaces of ranges of others, as stores do that need not copy for it.
    pub fn cloning() -> MemoryStore {
        MemoryStore { clones: true, ..MemoryStore::default() }
    }

    fn spaces(&self) -> MutexGuard<'_, Spaces> {
        self.spaces.lock()
    }
}

impl Store for MemoryStore {
    fn open_space(&self, space: SpaceId) -> Result<Arc<dyn Space>> {
        if self.shared.closed.load(Ordering::Acquire) {
            return Err(closed());
        }
        let mut spaces = self.spaces();
        if spaces.dropped.contains(space.0) {
            return Err(dropped(space));
        }
        let state = spaces.open.entry(space).or_insert_with(|| Arc::new(SpaceState::new(space))).clone();
        let epoch = {
            let mut data = state.write();
            data.epoch += 1;
            data.epoch
        };
        Ok(Arc::new(MemorySpace { shared: self.shared.clone(), state, epoch, latch: CommitLatch::default() }))
    }

    fn drop_space(&self, space: SpaceId) -> Result<()> {
        if self.shared.closed.load(Ordering::Acquire) {
            return Err(closed());
        }
        let removed = {
            let mut spaces = self.spaces();
            spaces.dropped.insert(space.0);
            spaces.open.remove(&space)
        };
        if let Some(state) = removed {
            let families = {
                let mut data = state.write();
                state.dropped.store(true, Ordering::Release);
                std::mem::take(&mut data.families)
            };
            // Outside the lock: freeing a large tree takes a while.
            drop(families);
        }
        Ok(())
    }

    fn clone_ranges(&self, from: SpaceId, clones: &[RangeClone]) -> Result<Option<Box<dyn Snapshot>>> {
        if !self.clones {
            return Ok(None);
        }
        let state = self.spaces().open.get(&from).cloned().ok_or_else(|| dropped(from))?;
        let families = state.read().families.clone();
        let snapshot = MemorySnapshot { state: Some(state), families };
        for RangeClone { space, family, lower, upper } in clones {
            let batch = {
                let mut scan =
                    Scan { lower: lower.clone(), upper: upper.clone(), ..Scan::prefix(*family, b"") };
                scan.entries_max = usize::MAX;
                scan.bytes_max = usize::MAX;
                let mut batch = Batch::new();
                snapshot
                    .scan(&scan)?
                    .entries
                    .into_iter()
                    .for_each(|(key, value)| batch.put(*family, key, value));
                batch
            };
            self.open_space(*space)?;
            let made = self.spaces().open.get(space).cloned().ok_or_else(|| dropped(*space))?;
            let mut data = made.write();
            for op in batch.into_ops() {
                if let Op::Put { family, key, value } = op {
                    data.families[family as usize].insert(key, value);
                }
            }
        }
        Ok(Some(Box::new(snapshot)))
    }

    fn snapshot_all(&self) -> Result<Box<dyn StoreSnapshot>> {
        // No space comes or goes while this is held, and none is written to while all are: a commit locks one of them
        // and waits for no other.
        let spaces = self.spaces();
        let held: Vec<_> = spaces.open.iter().map(|(id, state)| (*id, state.read())).collect();
        let families = held.iter().map(|(id, data)| (*id, data.families.clone()));
        Ok(Box::new(MemoryStoreSnapshot(families.collect())))
    }

    fn stats(&self) -> StoreStats {
        let states: Vec<_> = self.spaces().open.values().cloned().collect();
        let bytes =
            states.iter().map(|state| state.read().families.iter().map(Tree::bytes).sum::<u64>()).sum();
        StoreStats {
            commits: self.shared.commits.load(Ordering::Relaxed),
            write_buffer_bytes: bytes,
            ..StoreStats::default()
        }
    }

    fn close(&self) -> Result<()> {
        self.shared.closed.store(true, Ordering::Release);
        Ok(())
    }
}

impl SpaceState {
    fn new(id: SpaceId) -> SpaceState {
        SpaceState { id, dropped: AtomicBool::new(false), data: RwLock::default() }
    }

    /// A panic while a batch is applied cannot happen half-way in safe code that only allocates, so a
    /// poisoned lock still guards whole batches.
    fn read(&self) -> RwLockReadGuard<'_, Data> {
        self.data.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Data> {
        self.data.write()
    }

    fn check_reachable(&self) -> Result<()> {
        if self.dropped.load(Ordering::Acquire) { Err(dropped(self.id)) } else { Ok(()) }
    }
}

impl MemorySpace {
    fn apply(&self, batch: Batch) -> Result<()> {
        check_batch(&batch)?;
        let ops: Vec<Op> = batch.into_ops().into_iter().map(own).collect();
        let mut data = self.state.write();
        self.state.check_reachable()?;
        if self.shared.closed.load(Ordering::Acquire) {
            return Err(closed());
        }
        if data.epoch != self.epoch {
            return Err(Error::new(
                ErrorKind::Fenced,
                format!("space {} was opened again after this handle was made", self.state.id.0),
            ));
        }
        self.latch.check()?;
        for op in ops {
            match op {
                Op::Put { family, key, value } => data.families[family as usize].insert(key, value),
                Op::Delete { family, key } => data.families[family as usize].remove(&key),
            }
        }
        self.shared.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl Space for MemorySpace {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        let data = self.state.read();
        self.state.check_reachable()?;
        Ok(data.families[family as usize].get(key).cloned())
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        let data = self.state.read();
        self.state.check_reachable()?;
        let tree = &data.families[family as usize];
        Ok(keys.iter().map(|key| tree.get(key).cloned()).collect())
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let data = self.state.read();
        self.state.check_reachable()?;
        Ok(Box::new(MemorySnapshot { state: Some(self.state.clone()), families: data.families.clone() }))
    }

    fn commit(&self, batch: Batch) -> CommitFuture {
        Box::pin(std::future::ready(self.latch.pass(self.apply(batch))))
    }
}

impl MemorySnapshot {
    fn check_reachable(&self) -> Result<()> {
        self.state.as_ref().map_or(Ok(()), |state| state.check_reachable())
    }
}

impl StoreSnapshot for MemoryStoreSnapshot {
    fn spaces(&self) -> Result<Vec<SpaceId>> {
        let holds = |families: &[Tree]| families.iter().any(|tree| !tree.is_empty());
        Ok(self.0.iter().filter(|(_, families)| holds(&families[..])).map(|(id, _)| *id).collect())
    }

    fn space(&self, space: SpaceId) -> Result<Box<dyn Snapshot>> {
        let families = self.0.get(&space).cloned().unwrap_or_default();
        Ok(Box::new(MemorySnapshot { state: None, families }))
    }
}

impl Snapshot for MemorySnapshot {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        self.check_reachable()?;
        Ok(self.families[family as usize].get(key).cloned())
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.check_reachable()?;
        let tree = &self.families[family as usize];
        Ok(keys.iter().map(|key| tree.get(key).cloned()).collect())
    }

    fn scan(&self, scan: &Scan) -> Result<Page> {
        self.check_reachable()?;
        let mut page = Page::default();
        let mut bytes = 0;
        self.families[scan.family as usize].walk(
            &scan.lower,
            &scan.upper,
            scan.direction,
            &mut |key, value| {
                if page.entries.len() >= scan.entries_max.max(1) || bytes >= scan.bytes_max.max(1) {
                    page.more = true;
                    return ControlFlow::Break(());
                }
                bytes += key.len() + value.len();
                page.entries.push((key.clone(), value.clone()));
                ControlFlow::Continue(())
            },
        );
        Ok(page)
    }
}

fn own(op: Op) -> Op {
    match op {
        Op::Put { family, key, value } => {
            Op::Put { family, key: Bytes::copy_from_slice(&key), value: Bytes::copy_from_slice(&value) }
        }
        delete @ Op::Delete { .. } => delete,
    }
}

fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the store is closed")
}

fn dropped(space: SpaceId) -> Error {
    Error::new(ErrorKind::SpaceDropped, format!("space {} was dropped", space.0))
}
