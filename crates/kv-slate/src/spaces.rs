//! The spaces of a store: opening, writing, dropping.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use armilla_kv::{Durability, Error, ErrorKind, Result};
use parking_lot::{Mutex, RwLock};
use slatedb::Settings;
use slatedb::db_cache::DbCache;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::failure;
use crate::figures::Figures;
use crate::place::Place;
use crate::queue::{Job, Queue, Writer};
use crate::tree::Tree;

/// What all parts of a store share.
pub(crate) struct Shared {
    pub(crate) place: Place,
    pub(crate) settings: Settings,
    pub(crate) cache: Arc<dyn DbCache>,
    pub(crate) durability: Durability,
    pub(crate) queue_bytes_max: usize,
    pub(crate) runtime: Handle,
    pub(crate) figures: Figures,
    pub(crate) spaces: Mutex<HashMap<u64, Arc<SpaceState>>>,
    /// Held by those who publish, and alone by who wants one moment of all spaces.
    pub(crate) moments: RwLock<()>,
    /// Dropped spaces of which something may be left.
    pub(crate) reclaiming: Mutex<BTreeSet<u64>>,
    pub(crate) reclaim: Notify,
    pub(crate) is_closed: AtomicBool,
}

/// A space as all its handles know it.
pub(crate) struct SpaceState {
    pub(crate) id: u64,
    pub(crate) queue: Queue,
    tree: RwLock<Option<Arc<Tree>>>,
    /// Held by who writes, opens, drops or closes.
    turn: tokio::sync::Mutex<()>,
    is_dropped: AtomicBool,
    /// Views of all spaces that still read it, dropped or not.
    pub(crate) pins: AtomicUsize,
}

impl SpaceState {
    fn new(id: u64) -> SpaceState {
        SpaceState {
            id,
            queue: Queue::new(id),
            tree: RwLock::new(None),
            turn: tokio::sync::Mutex::new(()),
            is_dropped: AtomicBool::new(false),
            pins: AtomicUsize::new(0),
        }
    }

    pub(crate) fn is_dropped(&self) -> bool {
        self.is_dropped.load(Ordering::Acquire)
    }

    /// Returns its tree, if it is open.
    pub(crate) fn tree(&self) -> Option<Arc<Tree>> {
        self.tree.read().clone()
    }

    /// Returns its tree for a reader.
    pub(crate) fn readable(&self) -> Result<Arc<Tree>> {
        if self.is_dropped() {
            return Err(failure::dropped(self.id));
        }
        let not_open = || Error::new(ErrorKind::Io, format!("space {} is not open: open it again", self.id));
        self.tree().ok_or_else(not_open)
    }
}

impl Shared {
    /// Returns the state of a space, which may be neither open nor there.
    pub(crate) fn state(&self, id: u64) -> Arc<SpaceState> {
        self.spaces.lock().entry(id).or_insert_with(|| Arc::new(SpaceState::new(id))).clone()
    }

    pub(crate) fn check_open(&self) -> Result<()> {
        match self.is_closed.load(Ordering::Acquire) {
            true => Err(failure::closed()),
            false => Ok(()),
        }
    }

    /// Opens a space for a handle, which is the only one that may write from then on.
    pub(crate) async fn open_space(self: Arc<Shared>, id: u64) -> Result<(Arc<SpaceState>, Arc<Writer>)> {
        let space = self.state(id);
        let _turn = space.turn.lock().await;
        self.open_tree(&space).await?;
        let (generation, left) = space.queue.take_over();
        self.fail(left, || failure::fenced(id));
        Ok((space.clone(), Arc::new(Writer { generation, is_closed: AtomicBool::new(false) })))
    }

    /// Opens the tree of a space for a reader of all spaces; its handles stay as they are.
    pub(crate) async fn open_for_reading(self: &Arc<Shared>, id: u64) -> Result<Arc<SpaceState>> {
        let space = self.state(id);
        let _turn = space.turn.lock().await;
        self.open_tree(&space).await?;
        Ok(space.clone())
    }

    /// Opens a tree unless it is open. The caller has the turn.
    async fn open_tree(self: &Arc<Shared>, space: &Arc<SpaceState>) -> Result<()> {
        self.check_open()?;
        if space.is_dropped() {
            return Err(failure::dropped(space.id));
        }
        // Another process may have taken it over, of which this one learns when it asks.
        if let Some(tree) = space.tree()
            && tree.is_own().await
        {
            return Ok(());
        }
        if self.place.has(&self.place.dropped(space.id)).await? {
            space.is_dropped.store(true, Ordering::Release);
            return Err(failure::dropped(space.id));
        }
        let tree = Arc::new(Tree::open(self, space.id).await?);
        *space.tree.write() = Some(tree.clone());
        self.runtime.spawn(write_groups(self.clone(), space.clone(), tree));
        Ok(())
    }

    /// Writes the next group of a space. The caller has the turn. Returns whether there may be more.
    async fn write_group(&self, space: &SpaceState, tree: &Arc<Tree>) -> bool {
        let mut group = space.queue.take_group();
        if group.is_empty() {
            return false;
        }
        let began = now();
        let outcome = tree.write(&mut group, self.durability).await;
        match outcome {
            Ok(snapshot) => {
                let _moment = self.moments.read();
                tree.publish(snapshot);
                drop(_moment);
                self.figures.flushed(group.len(), now().saturating_duration_since(began));
                for job in group {
                    self.release(&job);
                    job.complete(Ok(()));
                }
                true
            }
            Err(error) => {
                tracing::warn!(space = space.id, %error, "a space is closed because it could not be written");
                // The tree is not to be trusted any more: opening the space again shows what was written.
                *space.tree.write() = None;
                let left = space.queue.take_all();
                self.fail(group, || error.clone());
                self.fail(left, || failure::handle_closed(space.id));
                false
            }
        }
    }

    /// Makes a space unreachable for ever. Its objects are deleted later.
    pub(crate) async fn drop_space(self: Arc<Shared>, id: u64) -> Result<()> {
        let space = self.state(id);
        let _turn = space.turn.lock().await;
        self.check_open()?;
        if space.is_dropped() {
            return Ok(());
        }
        if self.place.has(&self.place.dropped(id)).await? {
            space.is_dropped.store(true, Ordering::Release);
            return Ok(());
        }
        self.place.mark(&self.place.dropping(id), "").await?;
        self.place.mark(&self.place.dropped(id), "").await?;
        space.is_dropped.store(true, Ordering::Release);
        space.queue.refuse(failure::dropped(id));
        self.fail(space.queue.take_all(), || failure::dropped(id));
        self.reclaiming.lock().insert(id);
        self.reclaim.notify_one();
        Ok(())
    }

    /// Closes the tree of a space, after everything that waits was written.
    pub(crate) async fn close_space(&self, space: &SpaceState, why: Error) -> Result<()> {
        space.queue.refuse(why);
        let _turn = space.turn.lock().await;
        let Some(tree) = space.tree() else { return Ok(()) };
        while self.write_group(space, &tree).await {}
        *space.tree.write() = None;
        tree.close().await
    }

    /// Counts bytes that wait, unless there are too many. An empty queue takes any.
    pub(crate) fn admit(&self, bytes: usize) -> Result<()> {
        let (queued, bytes) = (&self.figures.queued_bytes, bytes as u64);
        let before = queued.fetch_add(bytes, Ordering::Relaxed);
        if before > 0 && before + bytes > self.queue_bytes_max as u64 {
            queued.fetch_sub(bytes, Ordering::Relaxed);
            let most = self.queue_bytes_max;
            let message = format!("{before} bytes are waiting to be written, the most is {most}");
            return Err(Error::new(ErrorKind::Io, message));
        }
        Ok(())
    }

    fn release(&self, job: &Job) {
        self.figures.queued_bytes.fetch_sub(job.bytes as u64, Ordering::Relaxed);
    }

    fn fail(&self, jobs: impl IntoIterator<Item = Job>, why: impl Fn() -> Error) {
        for job in jobs {
            self.release(&job);
            job.complete(Err(why()));
        }
    }
}

/// Writes what comes for a tree, as long as it is the tree of its space.
async fn write_groups(shared: Arc<Shared>, space: Arc<SpaceState>, tree: Arc<Tree>) {
    loop {
        space.queue.arrived().await;
        let _turn = space.turn.lock().await;
        let is_current = space.tree().is_some_and(|current| Arc::ptr_eq(&current, &tree));
        if !is_current {
            // What arrived is for the tree that came after this one.
            space.queue.wake();
            return;
        }
        shared.write_group(&space, &tree).await;
    }
}

/// The time by which waits for the object store are measured.
#[expect(clippy::disallowed_methods, reason = "it measures the machine, and decides nothing")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
