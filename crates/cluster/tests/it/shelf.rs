//! A model of partitions over an object store, as SlateDB writes them: a log of numbered objects, each made only if it is not
//! there. One who opens a log adds an object to it, so that the next write of whoever had it open before fails.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use armilla_cluster::{Host, Ownership, PartitionId};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _, PutMode, PutPayload};
use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;

/// A fault that is put in on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bug {
    /// A write is acknowledged before it is durable.
    EarlyAck,
    /// No one who opens a log stops those who write to it.
    NoFence,
    /// The lease is measured by a clock that stands still while the process is paused.
    WrongClock,
}

/// What became of a write.
pub(crate) enum Outcome {
    Done(u64),
    NotKnown,
    NotMine,
}

/// The partitions that a node has open.
pub(crate) struct Shelf {
    pub(crate) ownership: Ownership,
    objects: Arc<dyn ObjectStore>,
    open: Mutex<BTreeMap<PartitionId, Arc<Part>>>,
    opening: AsyncMutex<()>,
    bug: Option<Bug>,
}

/// An open partition.
struct Part {
    /// Where the next value goes; nothing once it is not known what became of one.
    next: AsyncMutex<Option<u64>>,
    /// Up to where the log is shown.
    shown: AtomicU64,
}

impl Shelf {
    pub(crate) fn new(ownership: Ownership, objects: Arc<dyn ObjectStore>, bug: Option<Bug>) -> Shelf {
        Shelf { ownership, objects, open: Mutex::default(), opening: AsyncMutex::default(), bug }
    }

    /// Reads a partition: how far its log is.
    pub(crate) async fn read(&self, id: PartitionId) -> Option<u64> {
        let part = self.part(id).await?;
        self.ownership.is_mine(id).then(|| part.shown.load(Ordering::Relaxed))
    }

    /// Writes a value.
    pub(crate) async fn write(&self, id: PartitionId, value: u64) -> Outcome {
        let Some(part) = self.part(id).await else { return Outcome::NotMine };
        let mut next = part.next.lock().await;
        let Some(at) = *next else { return Outcome::NotMine };
        if self.bug == Some(Bug::EarlyAck) {
            *next = Some(at + 1);
            part.shown.fetch_max(at, Ordering::Relaxed);
            let objects = self.objects.clone();
            tokio::spawn(async move { put(&*objects, id, at, value, PutMode::Create).await });
            return Outcome::Done(at);
        }
        let mode = match self.bug {
            Some(Bug::NoFence) => PutMode::Overwrite,
            _ => PutMode::Create,
        };
        // If this is dropped, it is not known what becomes of it.
        *next = None;
        match put(&*self.objects, id, at, value, mode).await {
            Ok(()) => {
                *next = Some(at + 1);
                part.shown.fetch_max(at, Ordering::Relaxed);
                Outcome::Done(at)
            }
            Err(error) => {
                self.close(id, &part);
                match error {
                    Error::AlreadyExists { .. } => Outcome::NotMine,
                    _ => Outcome::NotKnown,
                }
            }
        }
    }

    fn close(&self, id: PartitionId, part: &Arc<Part>) {
        let mut open = self.open.lock();
        if open.get(&id).is_some_and(|now| Arc::ptr_eq(now, part)) {
            open.remove(&id);
        }
    }

    async fn part(&self, id: PartitionId) -> Option<Arc<Part>> {
        let find = || self.open.lock().get(&id).cloned();
        if !self.ownership.is_mine(id) {
            return None;
        }
        if let Some(part) = find() {
            return Some(part);
        }
        let _one_at_a_time = self.opening.lock().await;
        if let Some(part) = find() {
            return Some(part);
        }
        let part = Arc::new(self.open_log(id).await?);
        // It may have been taken from this node meanwhile.
        if !self.ownership.is_mine(id) {
            return None;
        }
        self.open.lock().insert(id, part.clone());
        Some(part)
    }

    async fn open_log(&self, id: PartitionId) -> Option<Part> {
        loop {
            let mut next = 1;
            let folder = folder(id);
            let mut listed = self.objects.list(Some(&folder));
            while let Some(meta) = listed.next().await {
                let position: u64 = meta.ok()?.location.filename()?.parse().unwrap();
                next = next.max(position + 1);
            }
            if self.bug == Some(Bug::NoFence) {
                return Some(Part { next: AsyncMutex::new(Some(next)), shown: AtomicU64::new(next - 1) });
            }
            match put(&*self.objects, id, next, 0, PutMode::Create).await {
                Ok(()) => {
                    return Some(Part { next: AsyncMutex::new(Some(next + 1)), shown: AtomicU64::new(next) });
                }
                // What was on its way has arrived.
                Err(Error::AlreadyExists { .. }) => {}
                Err(_) => return None,
            }
        }
    }
}

impl Host for Shelf {
    fn release(&self, partitions: Vec<PartitionId>) -> BoxFuture<'_, ()> {
        let mut open = self.open.lock();
        open.retain(|id, _| !partitions.contains(id));
        Box::pin(std::future::ready(()))
    }
}

fn folder(id: PartitionId) -> Path {
    Path::from("logs").join(id.to_string())
}

async fn put(
    objects: &dyn ObjectStore,
    id: PartitionId,
    position: u64,
    value: u64,
    mode: PutMode,
) -> object_store::Result<()> {
    let (path, payload) = (folder(id).join(position.to_string()), PutPayload::from(value.to_string()));
    objects.put_opts(&path, payload, mode.into()).await.map(drop)
}

/// Returns what lies at each position of each log.
pub(crate) async fn logs(objects: &dyn ObjectStore) -> BTreeMap<PartitionId, BTreeMap<u64, u64>> {
    let mut logs: BTreeMap<PartitionId, BTreeMap<u64, u64>> = BTreeMap::new();
    let mut listed = objects.list(Some(&Path::from("logs")));
    while let Some(meta) = listed.next().await {
        let location = meta.unwrap().location;
        let parts: Vec<String> = location.parts().map(|part| part.as_ref().to_owned()).collect();
        let bytes = objects.get(&location).await.unwrap().bytes().await.unwrap();
        let value = std::str::from_utf8(&bytes).unwrap().parse().unwrap();
        let log = logs.entry(PartitionId(parts[1].parse().unwrap())).or_default();
        log.insert(parts[2].parse().unwrap(), value);
    }
    logs
}
