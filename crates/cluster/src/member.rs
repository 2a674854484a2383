//! A node among others: its record, and what it does when the assignment changes.

use std::sync::Arc;
use std::time::Duration;

use armilla_env::Env;
use armilla_lease::{Lease, LeaseOptions, RegisterError, Version};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::board::Board;
use crate::limits::LOOKS;
use crate::note::Note;
use crate::ownership::Ownership;
use crate::placement::Partition;
use crate::{NodeId, PartitionId};

/// Who serves partitions in this process.
pub trait Host: Send + Sync {
    /// Stops to serve partitions which another node is about to have: what is asked of them from now on finds that they are
    /// not this node's, and when this returns nothing of them is under way.
    fn release(&self, partitions: Vec<PartitionId>) -> BoxFuture<'_, ()>;

    /// Is told that this node goes by another assignment, and is about to say so in its record.
    fn adopted(&self) {}
}

/// How a node joins.
#[derive(Debug, Clone)]
pub struct MemberOptions {
    /// Where other nodes reach it: `host:port`.
    pub address: String,
    /// The version of its program.
    pub version: String,
    /// For how long its lease is valid.
    pub length: Duration,
}

/// A node that has joined.
pub struct Member {
    board: Board,
    env: Env,
    lease: Lease,
    length: Duration,
    note: Note,
    ownership: Ownership,
    seen: Option<Version>,
    /// What was taken from this node and may be served still.
    lost: Vec<PartitionId>,
    poked: Arc<Notify>,
    words: Arc<Words>,
}

/// What others of the process want a node to say in its record.
#[derive(Default)]
pub struct Words {
    said: Mutex<(bool, Vec<Partition>)>,
    changed: Notify,
}

impl Words {
    /// Asks for the node's partitions to be taken by others. It goes on serving them until they are.
    pub fn leave(&self) {
        self.said.lock().0 = true;
        self.changed.notify_one();
    }

    /// Says what is asked of its partitions.
    pub fn set_loads(&self, loads: Vec<Partition>) {
        let mut said = self.said.lock();
        if said.1 != loads {
            said.1 = loads;
            self.changed.notify_one();
        }
    }
}

impl Member {
    /// Joins: from now on the node may be given partitions.
    ///
    /// What keeps its lease runs on the runtime of the caller: let no other work hold that up.
    pub async fn join(board: Board, options: MemberOptions, env: &Env) -> Result<Member, RegisterError> {
        let MemberOptions { address, version, length } = options;
        let id = NodeId::new(&env.guid());
        let note = Note { address, version, ..Note::default() };
        let lease = LeaseOptions { name: note.address.clone(), length, note: note.encode() };
        let lease = Lease::take(board.nodes.register(id.as_str()), &lease, env, |_| {}).await?;
        let ownership = Ownership::new(id, lease.tenure());
        let (env, poked, words, lost) = (env.clone(), Arc::default(), Arc::default(), Vec::new());
        Ok(Member { board, env, lease, length, note, ownership, seen: None, lost, poked, words })
    }

    /// Returns what says which partitions are this node's.
    pub fn ownership(&self) -> Ownership {
        self.ownership.clone()
    }

    /// Returns what makes this node look at the assignment at once, when it is told that there is another.
    pub fn poke(&self) -> Arc<Notify> {
        self.poked.clone()
    }

    /// Returns what others of the process say to it.
    pub fn words(&self) -> Arc<Words> {
        self.words.clone()
    }

    /// Looks at the assignment, and adopts it if it is another one. Returns whether it was. If it is dropped before it has
    /// ended, the next look does what this one has left.
    pub async fn look(&mut self, host: &dyn Host) -> Result<bool, RegisterError> {
        let Some(posted) = self.board.read(self.seen.as_ref()).await? else { return Ok(false) };
        let epoch = posted.assignment.epoch;
        // What is lost is not this node's from here on; that it has stopped is said afterwards.
        self.lost.extend(self.ownership.see(posted.assignment));
        if !self.lost.is_empty() {
            host.release(self.lost.clone()).await;
            self.lost.clear();
        }
        self.seen = posted.version;
        self.note.adopted = epoch;
        self.lease.set_note(self.note.encode());
        host.adopted();
        Ok(true)
    }

    /// Looks at once, and again and again. Returns when others have found that this node has ended: it has to. It may be
    /// dropped at any moment, and begun again.
    pub async fn run(&mut self, host: &dyn Host) {
        let words = self.words.clone();
        loop {
            let lost = self.lease.lost();
            tokio::select! {
                biased;
                // Also while the object store does not answer.
                () = lost => return,
                looked = self.look(host) => {
                    if let Err(error) = looked {
                        tracing::warn!(%error, "the assignment of partitions to nodes could not be read");
                    }
                }
            }
            self.say();
            tokio::select! {
                biased;
                () = self.lease.lost() => return,
                () = self.poked.notified() => {}
                () = words.changed.notified() => self.say(),
                () = self.env.clock.sleep(self.length / LOOKS) => {}
            }
        }
    }

    /// Says in its record what it was asked to.
    fn say(&mut self) {
        let (is_leaving, loads) = self.words.said.lock().clone();
        if (self.note.is_leaving, &self.note.loads) != (is_leaving, &loads) {
            (self.note.is_leaving, self.note.loads) = (is_leaving, loads);
            self.lease.set_note(self.note.encode());
        }
    }

    /// Ends: from now on nothing is this node's, and others need not wait.
    pub async fn end(self) {
        self.lease.release().await;
    }
}
