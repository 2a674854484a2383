//! An account that several processes serve, as one of them sees it.
//!
//! The resource tree is kept by one of them, the *keeper*: the one that has the root space. Every process has a copy of it in
//! memory. Who changes the tree takes the keeper's lock, catches up with what was changed before, checks its own copy, and
//! has the keeper store what is to be written; so every operation that changes something works in every process as it does
//! in one. A change is answered only when every process that serves has it, or has stopped to trust its copy.
//!
//! Invariants:
//! * a copy is trusted for `TREE_LEASE` from the moment before its process last asked the keeper what is new, as long as that
//!   process may serve at all, and no longer;
//! * the keeper answers for a change after each process has asked for what comes behind it, or so long ago that it does not
//!   trust its copy any more, or has been found to have ended;
//! * a keeper that has just begun counts every process as having asked at that moment.
//!
//! In this folder: what the keeper does (`keeper`, asked by way of `answering`), a copy (`copy`, of `records`), what is kept
//! for a connection (`session`), what other processes do for this one beside (`elsewhere`), what one has left behind that has
//! ended (`leftovers`), what they say (`messages`). Not here: how a copy is shown to readers (`tree`), partitions
//! (`container`), who has what (`Peers`), what the engine asks for (`neighbours`).

mod answering;
mod copy;
mod elsewhere;
mod keeper;
mod leftovers;
mod messages;
mod records;
mod session;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use armilla_container::wire::{In, Out, TO_CONTAINER};
use armilla_container::{PeerFuture, Peers, Whereabouts, not_here, only_lets_go};
use armilla_env::Env;
use armilla_kv::{SpaceId, Store};
use armilla_value::rid::ContainerRid;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::task::JoinSet;

use crate::condition;
use crate::engine::{Engine, WeakEngine};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::TREE_LEASE;
use crate::neighbours::{Asked, FarAccount, Neighbours, Nodes, TreeLock, Wish, Written};
use crate::record::ROOT_SPACE;

use keeper::Keeper;
pub(crate) use records::Copied;
use records::TreeCopy;
pub use session::NodeSession;

/// An account among several processes: what there is before, and beside, the engine.
pub struct Among {
    nodes: Arc<dyn Nodes>,
    env: Env,
    keeper: Arc<Keeper>,
    /// For what this process asks of itself.
    own: Arc<NodeSession>,
    engine: OnceLock<WeakEngine>,
    /// The records of the tree, as far as this process has them.
    copy: Mutex<TreeCopy>,
    /// What this process is having stored, as long as one waits for it who shows it then.
    pending: Mutex<Option<Vec<Written>>>,
    /// Locks that this process has asked for.
    locks_asked: AtomicU64,
    /// Until when the copy of the tree is trusted, in microseconds of the clock.
    trusted_until_us: AtomicU64,
    /// All spaces of the account, once they are known.
    spaces: Mutex<Option<Vec<SpaceId>>>,
}

impl Among {
    /// Returns what a process needs that serves an account with others. Others may ask it from here on.
    pub fn new(store: Arc<dyn Store>, env: Env, nodes: Arc<dyn Nodes>) -> Arc<Among> {
        Arc::new(Among {
            keeper: Arc::new(Keeper::new(store, env.clone())),
            nodes,
            env,
            own: Arc::default(),
            engine: OnceLock::new(),
            copy: Mutex::default(),
            pending: Mutex::new(None),
            locks_asked: AtomicU64::new(0),
            trusted_until_us: AtomicU64::new(0),
            spaces: Mutex::new(None),
        })
    }

    pub(crate) fn set_engine(&self, engine: &Engine) {
        let _ = self.engine.set(engine.downgrade());
    }

    fn engine(&self) -> Option<Engine> {
        self.engine.get()?.upgrade()
    }

    /// Answers a request of another process.
    pub fn serve(self: Arc<Self>, session: Arc<NodeSession>, request: Bytes) -> PeerFuture<Bytes> {
        Box::pin(async move {
            match request.first() {
                Some(&TO_CONTAINER) => self.serve_container(&session, request.slice(1..)).await,
                _ => self.serve_tree(&session, request).await,
            }
        })
    }

    async fn serve_container(&self, session: &NodeSession, request: Bytes) -> Bytes {
        const RID_BYTES: usize = 8;
        // What a container asks for may have changed since: no other process is served by an old definition. What was kept for who
        // asks is let go of all the same.
        let Some((rid, rest)) = request.split_first_chunk::<RID_BYTES>() else { return not_here() };
        if !self.is_in_touch() && !only_lets_go(rest) {
            return not_here();
        }
        let container = self.engine().and_then(|engine| {
            let rid = ContainerRid::from_bytes(*rid)?;
            let tree = engine.tree();
            let database = tree.databases.get_by_ordinal(u64::from(rid.database().number()))?;
            database.containers.get_by_ordinal(u64::from(rid.number())).cloned()
        });
        let Some(handle) = container else { return not_here() };
        let conditions =
            |text: &str| condition::compile(text, &handle).map_err(|error| error.message.clone());
        handle.container().serve(&session.containers, request.slice(RID_BYTES..), &conditions).await
    }

    /// Stops to serve partitions that another process is about to have. When this returns, nothing of them is under way.
    pub async fn release(&self, spaces: &[SpaceId]) {
        if spaces.contains(&ROOT_SPACE) {
            self.keeper.release().await;
        }
        let Some(engine) = self.engine() else { return };
        let mut named = vec![ROOT_SPACE];
        let containers = engine.all_containers();
        let mut releasing = JoinSet::new();
        for container in &containers {
            let (container, spaces) = (container.clone(), spaces.to_vec());
            releasing.spawn(async move { container.container().release(&spaces).await });
        }
        while releasing.join_next().await.is_some() {}
        for container in &containers {
            named.extend(container.container().map().ranges.iter().map(|range| range.space));
        }
        // What belongs to no container any more, or not yet, is dropped by who did that.
        for space in spaces.iter().filter(|space| named.contains(space)) {
            if let Err(error) = engine.store().release_space(*space) {
                if error.kind() == armilla_kv::ErrorKind::Closed {
                    // The process ends, and has closed everything.
                    continue;
                }
                tracing::warn!(space = space.0, %error, "a space was not closed cleanly for another node");
            }
        }
    }

    /// Returns all spaces that belong to a container or the tree, once they are known.
    pub fn spaces(&self) -> Option<Vec<SpaceId>> {
        self.spaces.lock().clone()
    }

    /// Returns whether what this process knows of the tree is not too old to be shown.
    pub fn is_trusted(&self) -> bool {
        Neighbours::is_in_touch(self)
    }

    /// Waits until no other process can change the tree in a way that it had begun, and until this one has caught up.
    pub async fn settle(self: Arc<Self>) -> Result<()> {
        let engine = self.engine().ok_or_else(|| unavailable("the node is starting"))?;
        drop(self.take_lock(&engine).await?);
        Ok(())
    }

    /// Returns what was asked of this process's partitions in the last minute, in request units a second.
    pub fn loads(&self) -> Vec<(SpaceId, u64)> {
        let containers = self.engine().map(|engine| engine.all_containers()).unwrap_or_default();
        containers.iter().flat_map(|container| container.container().loads()).collect()
    }

    /// Returns the space of the resource tree, which there always is.
    pub fn root_space() -> SpaceId {
        ROOT_SPACE
    }

    /// Takes note of which spaces there are.
    pub(crate) fn note_spaces(&self, engine: &Engine) {
        let mut spaces = vec![ROOT_SPACE];
        for container in engine.all_containers() {
            spaces.extend(container.container().map().ranges.iter().map(|range| range.space));
        }
        spaces.sort_unstable();
        let mut known = self.spaces.lock();
        let has_more =
            known.as_ref().is_none_or(|known| spaces.iter().any(|space| known.binary_search(space).is_err()));
        *known = Some(spaces);
        drop(known);
        if has_more {
            self.nodes.partitions_added();
        }
    }

    /// Returns a number that no other lock has that this process asks for.
    fn next_lock(&self) -> u64 {
        self.locks_asked.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn trust(&self, since: Duration) {
        let until = u64::try_from((since + TREE_LEASE).as_micros()).unwrap_or(u64::MAX);
        self.trusted_until_us.fetch_max(until, Ordering::AcqRel);
    }

    /// Asks the keeper, wherever it is. Fails with [`ErrorKind::Unavailable`] where it was not asked, and with
    /// [`ErrorKind::OutcomeUnknown`] where it is not known whether it has done what it was asked for.
    async fn ask_keeper(self: &Arc<Self>, request: Bytes, patience: Duration) -> Result<In> {
        let answer = match self.nodes.find(ROOT_SPACE) {
            Whereabouts::Here { .. } => self.clone().serve(self.own.clone(), request).await,
            Whereabouts::At(peer) => peer.call(request, patience).await.map_err(|error| match error {
                armilla_container::PeerError::NotSent(why) => unavailable(&why),
                armilla_container::PeerError::Unknown(why) => Error::new(
                    ErrorKind::OutcomeUnknown,
                    format!("the node that keeps the resource tree has not answered: {why}"),
                ),
            })?,
            Whereabouts::Nowhere => return Err(unavailable("no node has it at present")),
        };
        messages::read_answer(answer)
    }

    fn tell_keeper(self: &Arc<Self>, request: Bytes) {
        match self.nodes.find(ROOT_SPACE) {
            Whereabouts::Here { .. } => {
                let (among, session) = (self.clone(), self.own.clone());
                drop(tokio::spawn(async move { among.serve(session, request).await }));
            }
            Whereabouts::At(peer) => peer.tell(request),
            Whereabouts::Nowhere => {}
        }
    }
}

impl Neighbours for Among {
    fn nodes(&self) -> &dyn Nodes {
        self.nodes.as_ref()
    }

    fn peers(&self) -> Arc<dyn Peers> {
        self.nodes.clone()
    }

    fn is_in_touch(&self) -> bool {
        let now = u64::try_from(self.env.clock.elapsed().as_micros()).unwrap_or(u64::MAX);
        now < self.trusted_until_us.load(Ordering::Acquire) && self.nodes.is_valid()
    }

    fn lock_tree(self: Arc<Self>) -> Asked<Result<TreeLock>> {
        Box::pin(async move {
            let engine = self.engine().ok_or_else(|| unavailable("the node is starting"))?;
            self.take_lock(&engine).await
        })
    }

    fn store(self: Arc<Self>, lock: u64, records: Vec<Written>) -> Asked<Result<u64>> {
        Box::pin(async move { self.have_stored(lock, records).await })
    }

    fn look_up(self: Arc<Self>, key: Bytes) -> Asked<Result<Option<Bytes>>> {
        Box::pin(async move { self.read_stored(&key).await })
    }

    fn tree_changed(&self) {
        if let Some(engine) = self.engine() {
            self.note_spaces(&engine);
        }
    }

    fn have_reshaped(self: Arc<Self>, spaces: Vec<SpaceId>, wish: Wish) -> Asked<Result<bool>> {
        Box::pin(async move { self.send_wish(&spaces, &wish).await })
    }

    fn have_here(self: Arc<Self>, spaces: Vec<SpaceId>) -> Asked<Result<()>> {
        Box::pin(async move { self.gather(&spaces).await })
    }

    fn far_figures(self: Arc<Self>) -> Asked<FarAccount> {
        Box::pin(async move { self.ask_for_figures().await })
    }
}

fn unavailable(why: &str) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        format!("the node that keeps the resource tree cannot be asked: {why}"),
    )
}

/// Begins a request.
fn request(kind: u8) -> Out {
    let mut out = Out::with_capacity(256);
    out.u8(kind);
    out
}
