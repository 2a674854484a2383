//! Where the partitions of a container are, of several processes, and what follows from it.
//!
//! Not here: how another process is asked (`far`).

use std::sync::Arc;
use std::time::Duration;

use armilla_kv::{Batch, Family, SpaceId};
use armilla_value::PartitionKey;
use bytes::Bytes;
use parking_lot::MutexGuard;

use crate::container::Container;
use crate::error::{Error, ErrorKind, Result};
use crate::far::Far;
use crate::far::forms::Form;
use crate::far::link::{FarError, LOOK_PAUSE, wait, wait_in_turn};
use crate::far::request::Request;
use crate::item::keys;
use crate::limits::{MOVE_PATIENCE, OPENING_LOOK_PERIOD, RELEASE_PATIENCE};
use crate::map::Slot;
use crate::partition::holding::Holding;
use crate::partition::{Gate, Partition};
use crate::peers::{Peer, Peers, Whereabouts};
use crate::turn::Turn;
use crate::write;

impl Container {
    /// Returns the partition of a slot, here or as another process has it.
    pub(crate) fn partition_of(&self, peers: &dyn Peers, slot: &Slot) -> Result<Arc<Partition>> {
        match peers.find(slot.range.space) {
            Whereabouts::Here { since } => {
                slot.set_far(None);
                self.open_here(slot, since)
            }
            Whereabouts::At(peer) => self.partition_at(slot, peer),
            Whereabouts::Nowhere => Err(nowhere()),
        }
    }

    fn partition_at(&self, slot: &Slot, peer: Arc<dyn Peer>) -> Result<Arc<Partition>> {
        if let Some(known) = slot.far()
            && known.far.as_ref().is_some_and(|far| far.is_at(peer.as_ref()))
        {
            return Ok(known);
        }
        let core = &self.core;
        let partition = Arc::new(Partition::at_peer(
            Far::new(peer, self.identity().rid, &slot.range),
            core.store.clone(),
            &slot.range,
            self.shared_identity().clone(),
            core.limits.clone(),
            core.env.clone(),
            core.compiled.clone(),
            self.compiled().layout.clone(),
            core.grown.clone(),
            core.known_numbers.clone(),
        )?);
        slot.set_far(Some(partition.clone()));
        Ok(partition)
    }

    /// Returns the partition of a slot if it is this process's.
    pub(crate) fn own_partition(&self, slot: &Slot) -> Result<Option<Arc<Partition>>> {
        let Some(peers) = &self.core.peers else { return self.open_here(slot, 0).map(Some) };
        match peers.find(slot.range.space) {
            Whereabouts::Here { since } => {
                slot.set_far(None);
                self.open_here(slot, since).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Returns what a partition is opened under, where several processes share the account.
    pub(crate) fn holding(&self, space: SpaceId, since: u64) -> Option<Holding> {
        let peers = self.core.peers.as_ref()?;
        Some(Holding::new(peers.clone(), self.core.store.clone(), space, since))
    }

    /// Begins to open a partition, which one thread does at a time. With others, the one that does may have to ask them: who
    /// comes meanwhile is not to keep a thread from it, and looks again.
    pub(crate) fn begin_opening<'s>(&self, slot: &'s Slot) -> Result<MutexGuard<'s, ()>> {
        match &self.core.peers {
            None => Ok(slot.opening.lock()),
            Some(_) => slot
                .opening
                .try_lock()
                .ok_or_else(|| Error::new(ErrorKind::Moved, "the partition is being opened: try again")),
        }
    }

    /// Closes the store of a partition that turned out to be another process's when it was opened.
    pub(crate) fn let_go_of(&self, slot: &Slot) -> Error {
        if let Err(error) = self.core.store.release_space(slot.range.space) {
            tracing::debug!(range_id = slot.range.id, %error, "a partition of another node was not closed cleanly");
        }
        nowhere()
    }

    /// Returns whether a range is a partition of this process.
    pub fn has_here(&self, range_id: u32) -> bool {
        let Some(peers) = &self.core.peers else { return true };
        let space = self.map_now().find(range_id).map(|slot| slot.range.space);
        space.is_some_and(|space| matches!(peers.find(space), Whereabouts::Here { .. }))
    }

    /// Returns whether a partition is open in this process.
    pub fn has_opened(&self, range_id: u32) -> bool {
        self.map_now().find(range_id).is_some_and(|slot| slot.opened().is_some())
    }

    /// Does something that only reads, again where a partition turns out to be on its way from one process to another.
    pub(crate) fn settled<T>(&self, work: impl FnMut() -> Result<T>) -> Result<T> {
        self.settled_within(MOVE_PATIENCE, work)
    }

    /// The same, for what waits less long.
    pub(crate) fn settled_within<T>(
        &self,
        patience: Duration,
        mut work: impl FnMut() -> Result<T>,
    ) -> Result<T> {
        let Some(peers) = &self.core.peers else { return work() };
        let turn = self.turn();
        loop {
            match work() {
                Err(error) if error.kind == ErrorKind::Moved => turn.check_within(patience, error)?,
                done => return done,
            }
            wait_in_turn(changed(peers.as_ref()))?;
        }
    }

    /// Has something done by the process that has a logical partition, if that is another one; waits where the partition is
    /// on its way. Returns nothing where it is this process that has it.
    pub(crate) async fn done_elsewhere<T: Form>(
        &self,
        partition_key: &PartitionKey,
        turn: &mut Turn,
        request: impl Fn() -> Request,
    ) -> Option<Result<T>> {
        let peers = self.core.peers.as_ref()?;
        loop {
            // A key that leads nowhere is found wrong with the rest of the request.
            let (hashed, _) = write::locate(&self.compiled(), partition_key).ok()?;
            let slot = self.map_now().route(&hashed).clone();
            let error = match peers.find(slot.range.space) {
                Whereabouts::Here { .. } => return None,
                Whereabouts::Nowhere => nowhere(),
                Whereabouts::At(peer) => match self.partition_at(&slot, peer) {
                    Err(error) => return Some(Err(error)),
                    Ok(partition) => {
                        let far = partition.far.clone()?;
                        // In a box, so that the futures of writes here are not larger for it.
                        match Box::pin(far.ask(&request())).await {
                            Err(error @ FarError::Moved(_)) => error.into(),
                            done => return Some(done.map_err(FarError::of_write)),
                        }
                    }
                },
            };
            if let Err(error) = self.await_move(turn, error).await {
                return Some(Err(error));
            }
        }
    }

    /// Waits a little for a partition that is on its way from one process to another. Returns the failure for which to give
    /// up where that has taken too long.
    pub(crate) async fn await_move(&self, turn: &mut Turn, error: Error) -> Result<()> {
        turn.check(error)?;
        if let Some(peers) = &self.core.peers {
            changed(peers.as_ref()).await;
        }
        Ok(())
    }

    /// Lets go of what is known of a partition since this process had it before, if it was not told to.
    pub(crate) fn forget_old(&self, slot: &Slot) {
        let Some(old) = slot.take_opened() else { return };
        old.set_gate(Gate::Retired);
        let space = slot.range.space;
        if let Err(error) = self.core.store.release_space(space) {
            tracing::debug!(space = space.0, %error, "a partition that another node has had was not closed cleanly");
        }
    }

    /// Finds out what became of a split or merge that another process was about to finish when it had the partition: either
    /// others have taken the partition's place, or it is still there and they never will.
    pub(crate) fn settle_map(&self, slot: &Slot, partition: &Partition) -> Result<()> {
        let Some(peers) = &self.core.peers else { return Ok(()) };
        let space = partition.space();
        if space.get(Family::Meta, keys::GIVEN_WAY)?.is_none() {
            return Ok(());
        }
        wait(peers.settle()).map_err(|why| Error::new(ErrorKind::Moved, why))?;
        if self.map_now().find(slot.range.id).is_none() {
            return Err(Error::new(ErrorKind::Moved, "others have taken the partition's place"));
        }
        let mut batch = Batch::new();
        batch.delete(Family::Meta, Bytes::from_static(keys::GIVEN_WAY));
        Ok(wait(space.commit(batch))?)
    }

    /// Returns under what this process may serve a new partition that it has made, if it may.
    pub(crate) fn may_serve(&self, space: SpaceId) -> Option<u64> {
        let Some(peers) = &self.core.peers else { return Some(0) };
        match peers.find(space) {
            Whereabouts::Here { since } => Some(since),
            _ => None,
        }
    }

    /// Stops to serve those of some spaces that are partitions of this container, which another process is about to have:
    /// what waits is sent there, and what is under way is over when this returns.
    pub async fn release(&self, spaces: &[SpaceId]) {
        let mut leaving = Vec::new();
        for slot in &self.map_now().slots {
            if !spaces.contains(&slot.range.space) {
                continue;
            }
            // From here on it is not opened again. Who opens it may have to ask others first, and is waited for without
            // keeping a thread.
            let partition = loop {
                if let Some(_opening) = slot.opening.try_lock() {
                    break slot.take_opened();
                }
                self.core.env.clock.sleep(OPENING_LOOK_PERIOD).await;
            };
            let Some(partition) = partition else { continue };
            partition.set_gate(Gate::Closed);
            leaving.push(partition);
        }
        if leaving.is_empty() {
            return;
        }
        for partition in &leaving {
            partition.drain().await;
        }
        let gone = leaving.into_iter().map(|partition| {
            let gone = partition.watch_end();
            partition.set_gate(Gate::Retired);
            gone
        });
        let gone: Vec<_> = gone.collect();
        let all_gone = async {
            for gone in gone {
                let _ = gone.await;
            }
        };
        // Readers may go on with what they have seen so far, for a while.
        tokio::select! {
            () = all_gone => {}
            () = self.core.env.clock.sleep(RELEASE_PATIENCE) => {}
        }
    }
}

/// Waits until something may have changed, and a moment in any case.
async fn changed(peers: &dyn Peers) {
    let pause = tokio::time::timeout(LOOK_PAUSE, peers.changed());
    let _ = pause.await;
    tokio::task::yield_now().await;
}

fn nowhere() -> Error {
    Error::new(ErrorKind::Moved, "no node serves the partition at present")
}
