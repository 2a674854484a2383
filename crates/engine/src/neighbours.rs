//! What the engine asks of the other processes that serve its account, where there are several.
//!
//! Not here: how they are asked (`among`).

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use armilla_container::{PartitionFigures, Peer, Peers};
use armilla_kv::SpaceId;
use armilla_value::HashedKey;
use armilla_value::rid::ContainerRid;
use bytes::Bytes;

use crate::error::Result;

/// Something that other processes are asked for.
pub(crate) type Asked<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A record that was written, or removed.
pub(crate) type Written = (Bytes, Option<Bytes>);

/// What all other processes tell of their partitions.
pub(crate) type FarAccount = HashMap<ContainerRid, FarFigures>;

/// What an account has to know of those who serve it.
pub trait Nodes: Peers {
    /// Returns the name of this process, which no other has.
    fn name(&self) -> String;

    /// Returns the names of all that serve, as far as this one knows.
    fn living(&self) -> Vec<String>;

    /// Takes note that there are partitions which no process has yet.
    fn partitions_added(&self);

    /// Returns whether this process may act at all: whether no other can think that it has ended.
    fn is_valid(&self) -> bool;

    /// Has partitions be at a process for a while, whatever is even.
    fn bring(&self, spaces: &[SpaceId], to: &str);

    /// Returns all that serve, as far as this one knows.
    fn table(&self) -> Vec<NodeStatus>;

    /// Returns a way to ask one of them, by its name; nothing where it is this one, or none of them.
    fn peer(&self, name: &str) -> Option<Arc<dyn Peer>>;

    /// Returns what went between them.
    fn figures(&self) -> NodeFigures;

    /// Asks one of them to end, by its name, once others have taken what it has.
    fn drain(&self, name: &str);
}

/// What a process knows of the others, and what went between them since it began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeFigures {
    /// All processes.
    pub nodes: Vec<NodeStatus>,
    /// Requests that others were asked to do.
    pub asked: u64,
    /// Those that had no answer.
    pub unanswered: u64,
    /// Requests that were done for others.
    pub answered: u64,
}

/// One of the processes that serve an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeStatus {
    /// Its name, which no other has.
    pub name: String,
    /// Where others reach it.
    pub address: String,
    /// The version of its program.
    pub version: String,
    /// How many partitions it has.
    pub partitions: usize,
    /// Whether it is this one.
    pub is_self: bool,
}

/// The other processes, as the engine asks them.
pub(crate) trait Neighbours: Send + Sync + 'static {
    /// Returns who they are.
    fn nodes(&self) -> &dyn Nodes;

    /// Returns who serves what.
    fn peers(&self) -> Arc<dyn Peers>;

    /// Returns whether the copy of the resource tree may be shown.
    fn is_in_touch(&self) -> bool;

    /// Waits until no other process changes the tree, and catches up with what they have changed.
    fn lock_tree(self: Arc<Self>) -> Asked<Result<TreeLock>>;

    /// Has a change stored under a lock. Returns its number.
    fn store(self: Arc<Self>, lock: u64, records: Vec<Written>) -> Asked<Result<u64>>;

    /// Returns a record as it is stored now.
    fn look_up(self: Arc<Self>, key: Bytes) -> Asked<Result<Option<Bytes>>>;

    /// Takes note that the tree may name other spaces by now.
    fn tree_changed(&self);

    /// Has partitions split or merged by the process that has them, if that is another one; where several have them, they
    /// are brought together before. Returns false where it is this one.
    fn have_reshaped(self: Arc<Self>, spaces: Vec<SpaceId>, wish: Wish) -> Asked<Result<bool>>;

    /// Has new spaces given to this process, which is about to make partitions of them.
    fn have_here(self: Arc<Self>, spaces: Vec<SpaceId>) -> Asked<Result<()>>;

    /// Asks all others what their partitions do and hold. One that does not answer is left out.
    fn far_figures(self: Arc<Self>) -> Asked<FarAccount>;
}

/// The right to change the tree, given back when it is dropped.
pub(crate) struct TreeLock {
    /// What this process calls it.
    pub(crate) number: u64,
    give_back: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl TreeLock {
    pub(crate) fn new(number: u64, give_back: impl FnOnce() + Send + Sync + 'static) -> TreeLock {
        TreeLock { number, give_back: Some(Box::new(give_back)) }
    }
}

impl Drop for TreeLock {
    fn drop(&mut self) {
        if let Some(give_back) = self.give_back.take() {
            give_back();
        }
    }
}

/// A split or merge that is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) container: ContainerRid,
    pub(crate) parents: Vec<u32>,
    pub(crate) cut: Option<HashedKey>,
}

/// What a process tells of its partitions of a container.
#[derive(Default)]
pub(crate) struct FarFigures {
    pub(crate) figures: Vec<PartitionFigures>,
    /// Those that are being split or merged, or are next.
    pub(crate) busy: Vec<u32>,
    /// Why the last split or merge was given up there.
    pub(crate) failed: Option<String>,
}
