//! Handles and snapshots of one space.

use std::ops::ControlFlow;
use std::sync::Arc;

use armilla_kv::{
    Batch, CommitFuture, CommitLatch, Direction, Family, Page, Result, Scan, Snapshot, Space, SpaceId,
    check_batch,
};
use bytes::Bytes;
use fjall::Readable;

use crate::completion::Waiting;
use crate::engine::Engine;
use crate::failure;
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
        get(&moment.engine, &moment.snapshot, self.state.id, family, key)
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.state.check_reachable()?;
        let moment = self.shared.view.latest()?;
        keys.iter().map(|key| get(&moment.engine, &moment.snapshot, self.state.id, family, key)).collect()
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
        let (snapshot, engine) = self.moment.get()?;
        get(&engine, snapshot, self.state.id, family, key)
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.state.check_reachable()?;
        let (snapshot, engine) = self.moment.get()?;
        keys.iter().map(|key| get(&engine, snapshot, self.state.id, family, key)).collect()
    }

    fn scan(&self, scan: &Scan) -> Result<Page> {
        self.state.check_reachable()?;
        let space = self.state.id;
        let range = (keys::lower(space, &scan.lower), keys::upper(space, &scan.upper));
        if is_empty(&range) {
            return Ok(Page::default());
        }
        let (snapshot, engine) = self.moment.get()?;
        let entries = snapshot.range(engine.family(scan.family), range);
        match scan.direction {
            Direction::Forward => page(entries, scan),
            Direction::Reverse => page(entries.rev(), scan),
        }
    }

    fn visit_keys(&self, scan: &Scan, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        self.state.check_reachable()?;
        let space = self.state.id;
        let range = (keys::lower(space, &scan.lower), keys::upper(space, &scan.upper));
        if is_empty(&range) {
            return Ok(());
        }
        let (snapshot, engine) = self.moment.get()?;
        let entries = snapshot.range(engine.family(scan.family), range);
        match scan.direction {
            Direction::Forward => each_key(entries, visit),
            Direction::Reverse => each_key(entries.rev(), visit),
        }
    }
}

fn each_key(
    entries: impl Iterator<Item = fjall::Guard>,
    visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<()> {
    for entry in entries {
        let key = entry.key().map_err(|error| failure::of_read(&error))?;
        if visit(&key[keys::SPACE_PREFIX_BYTES.min(key.len())..]).is_break() {
            break;
        }
    }
    Ok(())
}

fn get(
    engine: &Engine,
    moment: &fjall::Snapshot,
    space: SpaceId,
    family: Family,
    key: &[u8],
) -> Result<Option<Bytes>> {
    let value = keys::with_prefixed(space, key, |key| moment.get(engine.family(family), key));
    Ok(value.map_err(|error| failure::of_read(&error))?.map(Bytes::from))
}

/// Returns whether no key can lie in a range. The engine's behaviour for inverted bounds is not documented.
pub(crate) fn is_empty(range: &(std::ops::Bound<Vec<u8>>, std::ops::Bound<Vec<u8>>)) -> bool {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    match range {
        (Included(lower), Included(upper)) => lower > upper,
        (Included(lower) | Excluded(lower), Excluded(upper)) | (Excluded(lower), Included(upper)) => {
            lower >= upper
        }
        (Unbounded, _) | (_, Unbounded) => false,
    }
}

fn page(entries: impl Iterator<Item = fjall::Guard>, scan: &Scan) -> Result<Page> {
    let mut page = Page::default();
    let mut bytes = 0;
    for entry in entries {
        if page.entries.len() >= scan.entries_max.max(1) || bytes >= scan.bytes_max.max(1) {
            page.more = true;
            break;
        }
        let (key, value) = entry.into_inner().map_err(|error| failure::of_read(&error))?;
        let key = keys::stripped(key);
        bytes += key.len() + value.len();
        page.entries.push((key, value.into()));
    }
    Ok(page)
}
