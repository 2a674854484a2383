//! Looks at the records of all nodes, finds those that have ended, and posts the next assignment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use armilla_env::Env;
use armilla_lease::{Lease, LeaseOptions, Record, RegisterError, Standing, Version};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream;
use tokio::sync::Notify;

use crate::assignment::Assignment;
use crate::board::{Board, Posted};
use crate::limits::{ALL_LOOK_ON, LOOKS, NODES_MAX, PARTITIONS_MAX, READS_AT_ONCE, STANDBYS};
use crate::next::{Living, Pins, next};
use crate::note::Note;
use crate::ownership::Ownership;
use crate::placement::Partition;
use crate::{NodeId, PartitionId};

/// Says which partitions there are.
pub trait Roll: Send + Sync {
    /// Returns all of them. One who does not know yet says those of the assignment that there is.
    fn partitions<'a>(
        &'a self,
        current: &'a Assignment,
    ) -> BoxFuture<'a, Result<Vec<Partition>, RegisterError>>;

    /// Returns where some of them are to be.
    fn pins(&self) -> Pins {
        Pins::new()
    }

    /// Returns which of these nodes cannot be asked for anything at this moment. They are given nothing: what is on its way
    /// to one that has just died is served by none until its lease is over. It is a guess, and may be wrong either way.
    fn silent(&self, _nodes: Vec<(NodeId, String)>) -> BoxFuture<'_, BTreeSet<NodeId>> {
        Box::pin(std::future::ready(BTreeSet::new()))
    }

    /// Is told that there is another assignment.
    fn posted(&self) {}
}

/// One who may coordinate. It learns about nodes before, so that it need not wait when its turn comes.
pub struct Coordinator {
    board: Board,
    env: Env,
    length: Duration,
    node: Ownership,
    nodes: BTreeMap<String, Known>,
    posted: Posted,
    poked: Arc<Notify>,
}

/// What is known of a node.
struct Known {
    /// What the list said when it was read.
    mark: String,
    record: Record,
    version: Version,
    standing: Standing,
    is_quiet: bool,
}

impl Coordinator {
    /// Returns one for a node, which knows nothing yet. `length` is that of its own lease.
    pub fn new(board: Board, node: Ownership, length: Duration, env: &Env) -> Coordinator {
        let (nodes, posted) = (BTreeMap::new(), Posted::default());
        Coordinator { board, env: env.clone(), length, node, nodes, posted, poked: Arc::default() }
    }

    /// Returns what makes it look at everything at once, if it coordinates.
    pub fn poke(&self) -> Arc<Notify> {
        self.poked.clone()
    }

    /// Waits for its turn, and coordinates until another does; again and again, until `ended`, and then gives its turn up.
    pub async fn run(mut self, roll: &dyn Roll, ended: impl Future<Output = ()>) {
        tokio::pin!(ended);
        loop {
            let taken = tokio::select! {
                biased;
                () = &mut ended => return,
                taken = self.turn() => taken,
            };
            match taken {
                Ok(lease) => {
                    tracing::info!(term = lease.term(), "this node coordinates");
                    tokio::select! {
                        biased;
                        () = &mut ended => return lease.release().await,
                        () = self.coordinate(&lease, roll) => {}
                    }
                    tracing::info!("another node coordinates");
                }
                Err(error) => {
                    tracing::warn!(%error, "the lease of the coordinator could not be read");
                    self.env.clock.sleep(self.length / LOOKS).await;
                }
            }
        }
    }

    /// Waits until no other coordinates. The first few learn about the nodes meanwhile.
    async fn turn(&mut self) -> Result<Lease, RegisterError> {
        self.give_way().await?;
        let (env, length, register) = (self.env.clone(), self.length, self.board.coordinator.clone());
        let options = LeaseOptions { name: self.node.node().to_string(), length, note: String::new() };
        let taken = Lease::take(register, &options, &env, |_| {});
        tokio::pin!(taken);
        loop {
            tokio::select! {
                biased;
                taken = &mut taken => return taken,
                () = env.clock.sleep(length / LOOKS) => self.look_on().await,
            }
        }
    }

    /// Returns whether this node looks at the records of all others while it waits for its turn.
    fn is_standby(&self) -> bool {
        self.node.nodes().len() <= ALL_LOOK_ON || self.node.rank().is_some_and(|rank| rank < STANDBYS)
    }

    /// Waits until nobody of those has taken the turn for so long that they must have ended too: one that has not looked on
    /// would have to wait for the leases of all that died with the coordinator.
    async fn give_way(&self) -> Result<(), RegisterError> {
        let mut seen: Option<Version> = None;
        let mut since = self.env.clock.elapsed();
        loop {
            let read = self.board.coordinator.read().await?;
            let now = self.env.clock.elapsed();
            let Some((_, version)) = read else { return Ok(()) };
            if seen.as_ref() != Some(&version) {
                (seen, since) = (Some(version), now);
            }
            if self.is_standby() || now.saturating_sub(since) > self.length * 2 {
                return Ok(());
            }
            self.env.clock.sleep(self.length / LOOKS).await;
        }
    }

    async fn look_on(&mut self) {
        if !self.is_standby() {
            return;
        }
        if let Err(error) = self.look().await {
            tracing::warn!(%error, "the records of nodes could not be read");
        }
    }

    async fn coordinate(&mut self, lease: &Lease, roll: &dyn Roll) {
        loop {
            if let Err(error) = self.round(roll).await {
                tracing::warn!(%error, "partitions could not be assigned to nodes");
            }
            tokio::select! {
                biased;
                () = lease.lost() => return,
                () = self.poked.notified() => {}
                () = self.env.clock.sleep(self.length / LOOKS) => {}
            }
        }
    }

    /// Looks at everything once, and posts the next assignment if there is one. Returns its number.
    pub async fn round(&mut self, roll: &dyn Roll) -> Result<Option<u64>, RegisterError> {
        // First: a node that it names and whose record is not there afterwards has ended, and has not just come.
        if let Some(posted) = self.board.read(self.posted.version.as_ref()).await? {
            self.posted = posted;
        }
        self.look().await?;
        self.bury().await;
        let mut partitions = roll.partitions(&self.posted.assignment).await?;
        let pins = roll.pins();
        // What is only about to become a partition is one as long as somebody wants it at a node.
        let known: BTreeSet<PartitionId> = partitions.iter().map(|partition| partition.id).collect();
        let new = pins.keys().filter(|id| !known.contains(id));
        partitions.extend(new.map(|id| Partition { id: *id, load: 0 }));
        if partitions.len() > PARTITIONS_MAX {
            let many =
                format!("there are {} partitions, and at most {PARTITIONS_MAX} can be", partitions.len());
            return Err(RegisterError::Unknown(many));
        }
        let mut living = self.living();
        // What a node says of a partition that it has lost meanwhile is as good.
        let told = living.values().flat_map(|node| &node.note.loads);
        let loads: BTreeMap<_, _> = told.map(|partition| (partition.id, partition.load)).collect();
        for partition in &mut partitions {
            partition.load = loads.get(&partition.id).copied().unwrap_or(partition.load);
        }
        let current = &self.posted.assignment;
        let mut after = next(current, &living, &partitions, &pins);
        if after.as_ref().is_some_and(|after| after.places != current.places) {
            let addresses = living.iter().map(|(id, node)| (id.clone(), node.note.address.clone()));
            for silent in roll.silent(addresses.collect()).await {
                living.entry(silent).and_modify(|node| node.is_quiet = true);
            }
            after = next(current, &living, &partitions, &pins);
        }
        let Some(after) = after else {
            self.sweep().await;
            return Ok(None);
        };
        let epoch = after.epoch;
        // Where another was faster, or the answer was lost, the next round reads what is there.
        self.posted = self.board.post(self.posted.version.as_ref(), after).await?;
        roll.posted();
        Ok(Some(epoch))
    }

    /// Reads the records that have changed.
    async fn look(&mut self) -> Result<(), RegisterError> {
        let listed = self.board.nodes.list().await?;
        if listed.len() > NODES_MAX {
            let many = format!("there are {} records of nodes, and at most {NODES_MAX} can be", listed.len());
            return Err(RegisterError::Unknown(many));
        }
        let changed: Vec<_> = listed
            .iter()
            .filter(|listed| self.nodes.get(&listed.name).is_none_or(|known| known.mark != listed.mark))
            .cloned()
            .collect();
        let registers = self.board.nodes.clone();
        let read = stream::iter(changed).map(|listed| {
            let register = registers.register(&listed.name);
            async move { (listed, register.read().await) }
        });
        let read: Vec<_> = read.buffer_unordered(READS_AT_ONCE).collect().await;
        // No record was read later than now.
        let now = self.env.clock.elapsed();
        let is_there = |name: &String| listed.binary_search_by(|one| one.name.cmp(name)).is_ok();
        self.nodes.retain(|name, _| is_there(name));
        for (listed, read) in read {
            let (bytes, version) = match read {
                Ok(Some(found)) => found,
                // One that was removed meanwhile is not in the next list.
                Ok(None) => continue,
                // What was known of it is old, and not wrong.
                Err(error) if self.nodes.contains_key(&listed.name) => {
                    tracing::info!(node = listed.name, %error, "the record of a node could not be read");
                    continue;
                }
                // One of which nothing is known must not be taken for one that has ended.
                Err(error) => return Err(error),
            };
            let Some(record) = Record::decode(&bytes) else {
                return Err(RegisterError::Unknown(format!("the record of node {} is damaged", listed.name)));
            };
            let standing =
                self.nodes.remove(&listed.name).map_or_else(Standing::default, |known| known.standing);
            let known = Known { mark: listed.mark, record, version, standing, is_quiet: false };
            self.nodes.insert(listed.name, known);
        }
        for known in self.nodes.values_mut() {
            let length = known.record.length;
            let left = known.standing.left(&known.version, length, now);
            known.is_quiet = left < length / 2;
        }
        Ok(())
    }

    /// Marks the records of nodes that must have stopped, so that they cannot go on.
    async fn bury(&mut self) {
        let now = self.env.clock.elapsed();
        for (name, known) in &mut self.nodes {
            let is_over = known.standing.left(&known.version, known.record.length, now).is_zero();
            if known.record.is_released || !is_over {
                continue;
            }
            let ended = known.record.ended();
            match self.board.nodes.register(name).replace(Some(&known.version), ended.encode()).await {
                Ok(version) => {
                    tracing::warn!(
                        node = name,
                        holder = known.record.holder,
                        "a node has ended without a word"
                    );
                    (known.record, known.version) = (ended, version);
                }
                Err(RegisterError::Other) => tracing::info!(node = name, "a node that was quiet goes on"),
                Err(RegisterError::Unknown(why)) => {
                    tracing::warn!(
                        node = name,
                        why,
                        "the record of a node that has ended could not be written"
                    );
                }
            }
        }
    }

    /// Removes the records of nodes that have ended and that the assignment does not name.
    async fn sweep(&mut self) {
        let named = &self.posted.assignment.nodes;
        let over: Vec<String> = self
            .nodes
            .iter()
            .filter(|(name, known)| known.record.is_released && !named.contains_key(&NodeId::new(name)))
            .map(|(name, _)| name.clone())
            .collect();
        for name in over {
            match self.board.nodes.remove(&name).await {
                Ok(()) => drop(self.nodes.remove(&name)),
                Err(error) => {
                    tracing::warn!(node = name, %error, "the record of a node could not be removed")
                }
            }
        }
    }

    fn living(&self) -> BTreeMap<NodeId, Living> {
        let living = self.nodes.iter().filter(|(_, known)| !known.record.is_released);
        living
            .map(|(name, known)| {
                let living = Living { note: Note::decode(&known.record.note), is_quiet: known.is_quiet };
                (NodeId::new(name), living)
            })
            .collect()
    }
}
