//! The embedded store alone: the ceiling of reads and writes.
//!
//! A write here is what the engine stores for one item, record by record: the item, its number, its entry in
//! the change log, the size of its logical partition, and once for a group the counters. A group takes all
//! writes that wait, as the engine's committer does, but checks nothing and reads nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use armilla_env::{Env, Random};
use armilla_kv::{Batch, Family, Space, SpaceId, Store as _};
use armilla_kv_embedded::EmbeddedStore;
use armilla_value::{HashVersion, hashed_key, stored};
use bytes::Bytes;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};

use crate::items::Items;
use crate::measure::{Latencies, Measurement, Phase, measure};
use crate::report::Report;
use crate::server::{Setup, folder, store_options};

/// Lengths of the engine's records.
const ITEM_HEADER_BYTES: usize = 28;
const FEED_FIXED_BYTES: usize = 26;
const SIZE_BYTES: usize = 17;
const COUNTER_BYTES: usize = 33;

/// Writes that a group takes at most, as in the engine.
const GROUP_WRITES_MAX: usize = 1_024;

/// The space of the one partition.
const SPACE: SpaceId = SpaceId(1);

/// A store that holds the items.
pub(crate) struct RawStore {
    env: Env,
    seconds: f64,
    writers: Writers,
    runtime: Runtime,
    store: EmbeddedStore,
    _folder: TempDir,
}

impl RawStore {
    /// Opens a store in a new folder and loads the items.
    pub(crate) fn load(setup: &Setup, env: &Env, items: Items) -> Result<(RawStore, Measurement)> {
        let folder = folder(setup)?;
        let store = EmbeddedStore::open(folder.path().join("store"), store_options(setup))?;
        let keys = Arc::new((0..items.count).map(|index| Keys::of(items, index)).collect());
        let writers = Writers {
            env: env.clone(),
            space: store.open_space(SPACE)?,
            items,
            keys,
            count: setup.connections,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let own = std::process::id();
        let loaded = measure(env, "raw store: creates", own, || runtime.block_on(writers.create()))?;
        let raw =
            RawStore { env: env.clone(), seconds: setup.seconds, writers, runtime, store, _folder: folder };
        Ok((raw, loaded))
    }

    /// Returns what can be measured.
    pub(crate) fn phases(&self) -> Vec<Phase<'_>> {
        let pid = std::process::id();
        let gets = |threads| Box::new(move || self.get(threads));
        vec![
            Phase { name: "raw store: gets, 1 thread", pid, run: gets(1) },
            Phase { name: "raw store: gets, 2 threads", pid, run: gets(2) },
            Phase {
                name: "raw store: replaces",
                pid,
                run: Box::new(|| self.runtime.block_on(self.writers.replace(self.seconds))),
            },
        ]
    }

    /// Closes the store and says how it flushed.
    pub(crate) fn close(self, report: &mut Report) -> Result<()> {
        let stats = self.store.stats();
        let wait_us = stats.flush_us as f64 / stats.flushes.max(1) as f64;
        report.figure("raw store: mean durability wait", wait_us / 1e3, "ms");
        let writes = self.writers.keys.iter().map(|keys| keys.lsn.load(Ordering::Relaxed)).max();
        report.figure(
            "raw store: writes in one group",
            writes.unwrap_or(0) as f64 / stats.commits.max(1) as f64,
            "",
        );
        self.store.close().context("cannot close the store")
    }

    /// Closes the store without a word about it.
    pub(crate) fn discard(self) -> Result<()> {
        self.store.close().context("cannot close the store")
    }

    fn get(&self, threads: u64) -> Result<Latencies> {
        let (env, space, keys) = (&self.env, &self.writers.space, &self.writers.keys);
        let end = env.clock.elapsed() + Duration::from_secs_f64(self.seconds);
        std::thread::scope(|scope| {
            let reading: Vec<_> = (0..threads)
                .map(|thread| {
                    scope.spawn(move || {
                        let mut random = Random::of_part(3, thread);
                        let mut latencies = Latencies::new();
                        let mut begin = env.clock.elapsed();
                        while begin < end {
                            let found = space.get(Family::Item, &keys[random.index(keys.len())].item)?;
                            let now = env.clock.elapsed();
                            latencies.record(now - begin);
                            begin = now;
                            found.context("an item is missing")?;
                        }
                        Ok(latencies)
                    })
                })
                .collect();
            join(reading)
        })
    }
}

/// The store keys of one item.
struct Keys {
    item: Bytes,
    size: Bytes,
    /// The commit that wrote it last.
    lsn: AtomicU64,
}

impl Keys {
    fn of(items: Items, index: usize) -> Keys {
        let partition_key = items.partition_key(index);
        let mut logical = hashed_key(&partition_key, HashVersion::V2).as_bytes().to_vec();
        partition_key.key_bytes(&mut logical);
        let size = [&[1], logical.as_slice()].concat();
        logical.extend_from_slice(items.id(index).as_bytes());
        Keys { item: logical.into(), size: size.into(), lsn: AtomicU64::new(0) }
    }
}

/// Adds up what threads measured.
pub(crate) fn join(threads: Vec<std::thread::ScopedJoinHandle<'_, Result<Latencies>>>) -> Result<Latencies> {
    let mut all = Latencies::new();
    for thread in threads {
        all.add(&thread.join().map_err(|_| anyhow!("a thread panicked"))??);
    }
    Ok(all)
}

/// One write that waits for its group.
struct Write {
    index: usize,
    value: Bytes,
    is_new: bool,
    done: oneshot::Sender<()>,
}

/// Writers and the committer that groups them.
struct Writers {
    env: Env,
    space: Arc<dyn Space>,
    items: Items,
    keys: Arc<Vec<Keys>>,
    count: usize,
}

impl Writers {
    async fn create(&self) -> Result<Latencies> {
        let next = Arc::new(AtomicUsize::new(0));
        let count = self.items.count;
        self.run(true, move |_| {
            let index = next.fetch_add(1, Ordering::Relaxed);
            (index < count).then_some(index)
        })
        .await
    }

    async fn replace(&self, seconds: f64) -> Result<Latencies> {
        let clock = self.env.clock.clone();
        let end = clock.elapsed() + Duration::from_secs_f64(seconds);
        let count = self.items.count;
        self.run(false, move |random| (clock.elapsed() < end).then(|| random.index(count))).await
    }

    async fn run(
        &self,
        is_new: bool,
        next: impl Fn(&mut Random) -> Option<usize> + Clone + Send + 'static,
    ) -> Result<Latencies> {
        let (sender, receiver) = mpsc::channel(GROUP_WRITES_MAX);
        let committer = tokio::spawn(commit(self.space.clone(), self.keys.clone(), receiver));
        let mut writers = Vec::new();
        for number in 0..self.count {
            let (sender, next, env, items) = (sender.clone(), next.clone(), self.env.clone(), self.items);
            writers.push(tokio::spawn(async move {
                let mut random = Random::of_part(4, number as u64);
                let mut latencies = Latencies::new();
                while let Some(index) = next(&mut random) {
                    let value = stored_value(items, index)?;
                    let begin = env.clock.elapsed();
                    let (done, waiting) = oneshot::channel();
                    let write = Write { index, value, is_new, done };
                    sender.send(write).await.map_err(|_| anyhow!("the committer stopped"))?;
                    waiting.await.context("the committer stopped")?;
                    latencies.record(env.clock.elapsed() - begin);
                }
                Ok::<_, anyhow::Error>(latencies)
            }));
        }
        drop(sender);
        let mut all = Latencies::new();
        for writer in writers {
            all.add(&writer.await??);
        }
        committer.await??;
        Ok(all)
    }
}

/// Commits groups until there are no more writers.
async fn commit(
    space: Arc<dyn Space>,
    keys: Arc<Vec<Keys>>,
    mut writes: mpsc::Receiver<Write>,
) -> Result<()> {
    // Commit numbers go on where the phase before ended.
    let mut lsn = keys.iter().map(|keys| keys.lsn.load(Ordering::Relaxed)).max().unwrap_or(0);
    let mut group = Vec::new();
    while writes.recv_many(&mut group, GROUP_WRITES_MAX).await > 0 {
        let mut batch = Batch::new();
        let mut last: HashMap<usize, usize> = HashMap::with_capacity(group.len());
        for (position, write) in group.iter().enumerate() {
            last.insert(write.index, position);
        }
        for (position, write) in group.iter().enumerate() {
            lsn += 1;
            // Of two writes of one item in a group, the store sees the second alone.
            if last[&write.index] == position {
                put(&mut batch, &keys[write.index], write, lsn);
            }
        }
        batch.put(Family::Meta, Bytes::from_static(&[0]), vec![1; COUNTER_BYTES]);
        space.commit(batch).await?;
        for write in group.drain(..) {
            // A writer that went away does not need its answer.
            let _ = write.done.send(());
        }
    }
    Ok(())
}

fn put(batch: &mut Batch, keys: &Keys, write: &Write, lsn: u64) {
    let feed_key = |lsn: u64| [&lsn.to_be_bytes() as &[u8], &[0, 0]].concat();
    let old_lsn = keys.lsn.swap(lsn, Ordering::Relaxed);
    batch.put(Family::Item, keys.item.clone(), write.value.clone());
    if write.is_new {
        // A replacement of the same length leaves the size of its logical partition as it was.
        batch.put(Family::Meta, keys.size.clone(), vec![1; SIZE_BYTES]);
        let number = (write.index as u64 + 1).to_be_bytes();
        batch.put(Family::Number, number.to_vec(), keys.item.clone());
    } else {
        batch.delete(Family::Feed, feed_key(old_lsn));
    }
    let mut change = vec![1; FEED_FIXED_BYTES];
    change.extend_from_slice(&keys.item);
    batch.put(Family::Feed, feed_key(lsn), change);
}

/// Returns the value under which the engine stores an item.
fn stored_value(items: Items, index: usize) -> Result<Bytes> {
    let mut value = vec![1; ITEM_HEADER_BYTES];
    value.extend(stored::encode(items.body(index, 0).as_bytes(), &[]).map_err(|error| anyhow!("{error}"))?);
    Ok(value.into())
}

#[cfg(test)]
mod tests {
    use armilla_kv::memory::MemoryStore;

    use super::*;

    #[tokio::test]
    async fn writes_leave_the_records_of_their_items() {
        let store = MemoryStore::new();
        let space = store.open_space(SPACE).unwrap();
        let items = Items::new(25, 400).unwrap();
        let keys: Arc<Vec<Keys>> = Arc::new((0..items.count).map(|index| Keys::of(items, index)).collect());
        let writers = Writers { env: Env::system(), space: space.clone(), items, keys, count: 4 };
        assert_eq!(writers.create().await.unwrap().operations(), 25);
        writers.replace(0.05).await.unwrap();
        let count = |family| {
            let scan = armilla_kv::Scan::prefix(family, b"");
            space.snapshot().unwrap().scan(&scan).unwrap().entries.len()
        };
        assert_eq!(count(Family::Item), 25);
        assert_eq!(count(Family::Number), 25);
        // One entry of the change log for each live item.
        assert_eq!(count(Family::Feed), 25);
        // The counters and three logical partitions.
        assert_eq!(count(Family::Meta), 4);
    }
}
