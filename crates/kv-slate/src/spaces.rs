//! The spaces of a store: opening, writing, dropping.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use armilla_kv::{Durability, Error, ErrorKind, Result};
use parking_lot::{Mutex, RwLock};
use slatedb::db_cache::DbCache;
use slatedb::{CheckpointCreateResult, Settings};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::failure;
use crate::figures::Figures;
use crate::limits::{GATHER_PART, GATHER_TIME_MAX, REST_LOOKS};
use crate::log::Log;
use crate::place::Place;
use crate::queue::{Job, Queue, Writer};
use crate::tree::Tree;
use crate::view::View;
use crate::waiting::answer;

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
    /// Whether it was closed because another process is about to have it.
    is_released: AtomicBool,
    /// What is known of its tree while that is closed because nothing asked for it.
    resting: Mutex<Option<Resting>>,
    /// How often in a row it was found unused.
    idle_looks: AtomicU32,
    /// Views of all spaces that still read it, dropped or not.
    pub(crate) pins: AtomicUsize,
}

/// A tree that is closed until it is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Resting {
    epoch: u64,
    pub(crate) sorted_bytes: u64,
}

impl SpaceState {
    fn new(id: u64) -> SpaceState {
        SpaceState {
            id,
            queue: Queue::new(id),
            tree: RwLock::new(None),
            turn: tokio::sync::Mutex::new(()),
            is_dropped: AtomicBool::new(false),
            is_released: AtomicBool::new(false),
            resting: Mutex::new(None),
            idle_looks: AtomicU32::new(0),
            pins: AtomicUsize::new(0),
        }
    }

    pub(crate) fn is_dropped(&self) -> bool {
        self.is_dropped.load(Ordering::Acquire)
    }

    pub(crate) fn is_released(&self) -> bool {
        self.is_released.load(Ordering::Acquire)
    }

    /// Waits until no other task writes, opens, drops or closes it.
    pub(crate) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Returns its tree, if it is open.
    pub(crate) fn tree(&self) -> Option<Arc<Tree>> {
        self.tree.read().clone()
    }

    /// Returns what is known of its tree, if that rests.
    pub(crate) fn resting(&self) -> Option<Resting> {
        *self.resting.lock()
    }

    fn not_open(&self) -> Error {
        Error::new(ErrorKind::Io, format!("space {} is not open: open it again", self.id))
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

    /// Returns the tree of a space for a reader, who may have to wait until it is open again.
    pub(crate) fn readable(self: &Arc<Shared>, space: &Arc<SpaceState>) -> Result<Arc<Tree>> {
        if space.is_dropped() {
            return Err(failure::dropped(space.id));
        }
        match space.tree() {
            Some(tree) => Ok(tree),
            None if space.is_released() => Err(failure::released(space.id)),
            None if space.resting().is_some() => answer(&self.runtime, self.clone().wake(space.clone())),
            None => Err(space.not_open()),
        }
    }

    /// Has something written soon that was added to a queue.
    pub(crate) fn see_to(self: &Arc<Shared>, space: &Arc<SpaceState>) {
        if space.tree().is_some() {
            return;
        }
        let (shared, space) = (self.clone(), space.clone());
        self.runtime.spawn(async move {
            if let Err(error) = shared.clone().wake(space.clone()).await {
                shared.fail(space.queue.take_all(), || error.clone());
            }
        });
    }

    /// Opens a tree again that rests.
    async fn wake(self: Arc<Shared>, space: Arc<SpaceState>) -> Result<Arc<Tree>> {
        let _turn = space.turn.lock().await;
        if let Some(tree) = space.tree() {
            // What was added meanwhile is for this one.
            space.queue.wake();
            return Ok(tree);
        }
        let resting = space.resting().ok_or_else(|| space.not_open())?;
        // Where another process has had it meanwhile, what this one's handles know of it is old. Nor is it taken from one
        // that gets it while this is on its way.
        if let Err(error) = self.open_tree(&space, Some(resting.epoch)).await {
            if error.kind() == ErrorKind::Fenced {
                *space.resting.lock() = None;
                return Err(failure::fenced(space.id));
            }
            return Err(error);
        }
        space.queue.wake();
        space.tree().ok_or_else(|| space.not_open())
    }

    /// Closes the tree of a space that nothing has asked for in a while.
    pub(crate) async fn let_rest(&self, space: &SpaceState) {
        let Some(tree) = space.tree() else { return };
        if tree.was_used() {
            space.idle_looks.store(0, Ordering::Relaxed);
            return;
        }
        if space.idle_looks.fetch_add(1, Ordering::Relaxed) < REST_LOOKS {
            return;
        }
        let Ok(_turn) = space.turn.try_lock() else { return };
        {
            let mut open = space.tree.write();
            // The space has it, its writer, and this.
            if open.as_ref().is_none_or(|open| !Arc::ptr_eq(open, &tree)) || Arc::strong_count(&tree) > 3 {
                return;
            }
            *space.resting.lock() = Some(Resting { epoch: tree.epoch(), sorted_bytes: tree.sorted_bytes() });
            *open = None;
        }
        // Whoever adds something from here on finds that it rests; who did before is seen here.
        if space.queue.len() > 0 {
            *space.tree.write() = Some(tree);
            *space.resting.lock() = None;
            return;
        }
        space.queue.wake();
        if let Err(error) = tree.close().await {
            tracing::warn!(space = space.id, %error, "a tree that rests did not close cleanly");
        }
    }

    /// Opens a space for a handle, which is the only one that may write from then on.
    pub(crate) async fn open_space(self: Arc<Shared>, id: u64) -> Result<(Arc<SpaceState>, Arc<Writer>)> {
        let space = self.state(id);
        let _turn = space.turn.lock().await;
        self.open_tree(&space, None).await?;
        let (generation, left) = space.queue.take_over();
        self.fail(left, || failure::fenced(id));
        Ok((space.clone(), Arc::new(Writer { generation, is_closed: AtomicBool::new(false) })))
    }

    /// Keeps the moment of a space as it is now for so long, and returns what names it, with the view of it. Writers wait
    /// while it is begun, and not until it is stored.
    pub(crate) async fn checkpoint(
        self: &Arc<Shared>,
        id: u64,
        lifetime: Duration,
    ) -> Result<(CheckpointCreateResult, View)> {
        let space = self.state(id);
        let (tree, begun, view) = {
            let _turn = space.turn.lock().await;
            self.open_tree(&space, space.resting().map(|resting| resting.epoch)).await?;
            let tree = space.tree().ok_or_else(|| space.not_open())?;
            let (begun, snapshot) = tree.begin_checkpoint(lifetime).await?;
            let view = View::of(self, &space, &tree, snapshot);
            (tree, begun, view)
        };
        let stored = Tree::stored(begun).await?;
        drop(tree);
        Ok((stored, view))
    }

    /// Opens the tree of a space for a reader of all spaces; its handles stay as they are.
    pub(crate) async fn open_for_reading(self: &Arc<Shared>, id: u64) -> Result<Arc<SpaceState>> {
        let space = self.state(id);
        let _turn = space.turn.lock().await;
        self.open_tree(&space, space.resting().map(|resting| resting.epoch)).await?;
        Ok(space.clone())
    }

    /// Opens a tree unless it is open; with an epoch only where no process has had it since. The caller has the turn.
    async fn open_tree(self: &Arc<Shared>, space: &Arc<SpaceState>, epoch: Option<u64>) -> Result<()> {
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
        let tree = Arc::new(Tree::open(self, space.id, epoch).await?);
        *space.tree.write() = Some(tree.clone());
        *space.resting.lock() = None;
        space.idle_looks.store(0, Ordering::Relaxed);
        self.runtime.spawn(write_groups(self.clone(), space.clone(), tree));
        Ok(())
    }

    /// Writes the next group of a space, if anything waits. The caller has the turn.
    async fn write_group(&self, space: &SpaceState, tree: &Arc<Tree>) -> Option<Put> {
        let mut group = space.queue.take_group();
        if group.is_empty() {
            return None;
        }
        let began = now();
        let outcome = tree.write(&mut group, self.durability).await;
        match outcome {
            Ok(snapshot) => {
                let _moment = self.moments.read();
                tree.publish(snapshot);
                drop(_moment);
                let ended = now();
                let put = Put { batches: group.len(), took: ended.saturating_duration_since(began), ended };
                self.figures.flushed(put.batches, put.took);
                for job in group {
                    self.release(&job);
                    job.complete(Ok(()));
                }
                Some(put)
            }
            Err(error) => {
                tracing::warn!(space = space.id, %error, "a space is closed because it could not be written");
                // The tree is not to be trusted any more: opening the space again shows what was written.
                *space.tree.write() = None;
                let left = space.queue.take_all();
                self.fail(group, || error.clone());
                self.fail(left, || failure::handle_closed(space.id));
                None
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
        *space.resting.lock() = None;
        let Some(tree) = space.tree() else { return Ok(()) };
        while self.write_group(space, &tree).await.is_some() {}
        *space.tree.write() = None;
        tree.close().await
    }

    /// Closes the tree of a space that another process is about to open.
    pub(crate) async fn release_space(self: Arc<Shared>, id: u64) -> Result<()> {
        let Some(space) = self.spaces.lock().remove(&id) else { return Ok(()) };
        space.is_released.store(true, Ordering::Release);
        self.close_space(&space, failure::fenced(id)).await
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

/// A group that was put into the object store.
#[derive(Clone, Copy)]
pub(crate) struct Put {
    batches: usize,
    took: Duration,
    pub(crate) ended: Instant,
}

/// Writes what comes for a tree, as long as it is the tree of its space.
async fn write_groups(shared: Arc<Shared>, space: Arc<SpaceState>, tree: Arc<Tree>) {
    let mut last = None;
    let mut log = Log::of(&shared, &tree);
    loop {
        space.queue.arrived().await;
        if let Some(last) = last {
            gather(&space.queue, last).await;
        }
        let _turn = space.turn.lock().await;
        let is_current = space.tree().is_some_and(|current| Arc::ptr_eq(&current, &tree));
        if !is_current {
            // What arrived is for the tree that came after this one.
            space.queue.wake();
            return;
        }
        last = shared.write_group(&space, &tree).await;
        if let Some(put) = &last {
            log.count(put, &shared, &tree);
        }
    }
}

/// Waits a moment for those whose batches were in the last put and who are about to come again: a put that begins without
/// them is half as full, and they wait for the whole of it before their own begins.
async fn gather(queue: &Queue, last: Put) {
    let until = last.ended + (last.took / GATHER_PART).min(GATHER_TIME_MAX);
    while queue.len() < last.batches {
        if tokio::time::timeout_at(until.into(), queue.arrived()).await.is_err() {
            return;
        }
    }
}

/// The time by which waits for the object store are measured.
#[expect(clippy::disallowed_methods, reason = "it measures the machine, and decides nothing")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
