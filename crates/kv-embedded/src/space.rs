//! Handles and snapshots of one space.

use std::ops::ControlFlow;
use std::sync::Arc;

use armilla_kv::{
    Batch, CommitFuture, CommitLatch, Family, Page, Result, Scan, Snapshot, Space, check_batch,
};
use bytes::Bytes;

use crate::completion::Waiting;
use crate::keys;
use crate::limits::OP_OVERHEAD_BYTES;
use crate::queue::Priority;
use crate::shared::Shared;
use crate::spaces::SpaceState;
use crate::view::HeldMoment;

pub(crate) struct EmbeddedSpace {
    pub(crate) shared: Arc<Shared>,
    pub(crate) state: Arc<SpaceState>,
    pub(crate) epoch: u64,
    pub(crate) latch: CommitLatch,
}

struct EmbeddedSnapshot {
    // Held so that the files stay as long as there is a reader.
    _shared: Arc<Shared>,
    state: Arc<SpaceState>,
    moment: HeldMoment,
}

impl EmbeddedSpace {
    fn enqueue(&self, batch: Batch) -> Result<Waiting> {
        check_batch(&batch)?;
        self.state.check_reachable()?;
        if let Err(closed) = self.latch.check() {
            // The caller of a handle that was fenced as well must hear of that.
            self.shared.spaces.check_current(&self.state, self.epoch)?;
            return Err(closed);
        }
        let bytes = batch.bytes() + batch.ops().len() * OP_OVERHEAD_BYTES;
        let ops = keys::engine_ops(self.state.id, batch);
        self.shared.queue.push(Priority::Client, Some((self.state.clone(), self.epoch)), ops, bytes)
    }
}

impl Space for EmbeddedSpace {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        self.state.check_reachable()?;
        let moment = self.shared.view.latest()?;
        moment.sight().get(self.state.id, family, key)
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.state.check_reachable()?;
        let moment = self.shared.view.latest()?;
        let sight = moment.sight();
        keys.iter().map(|key| sight.get(self.state.id, family, key)).collect()
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.state.check_reachable()?;
        Ok(Box::new(EmbeddedSnapshot {
            _shared: self.shared.clone(),
            state: self.state.clone(),
            moment: self.shared.view.latest()?.hold(),
        }))
    }

    fn commit(&self, batch: Batch) -> CommitFuture {
        // What fails later, on the writer's side, fails for all that come after it there: a fence, a drop, and
        // an engine that could not write.
        match self.latch.pass(self.enqueue(batch)) {
            Ok(waiting) => Box::pin(waiting),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

impl Snapshot for EmbeddedSnapshot {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        self.state.check_reachable()?;
        self.moment.get()?.get(self.state.id, family, key)
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.state.check_reachable()?;
        let sight = self.moment.get()?;
        keys.iter().map(|key| sight.get(self.state.id, family, key)).collect()
    }

    fn scan(&self, scan: &Scan) -> Result<Page> {
        self.state.check_reachable()?;
        self.moment.get()?.page(self.state.id, scan)
    }

    fn visit_keys(&self, scan: &Scan, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        self.state.check_reachable()?;
        self.moment.get()?.visit_keys(self.state.id, scan, visit)
    }
}
