//! The engine in process, on the embedded store with the item cache, as the server sets it up.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use armilla_engine::{
    Caller, ContainerHandle, Engine, EngineOptions, ItemName, Precondition, Throughput, Triggers, WriteMode,
};
use armilla_env::{Env, Random};
use armilla_governor::Policy;
use armilla_kv::cache::CachedStore;
use armilla_kv::{Durability, ErrorKind, Store};
use armilla_kv_embedded::{EmbeddedStore, Options as StoreOptions};
use armilla_value::{PartitionKey, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::items::{CONTAINER, DATABASE, Items};
use crate::measure::{Latencies, Measurement, Phase, measure};
use crate::raw_store::join;
use crate::server::{PARTITION_RU, Setup, folder, item_cache_bytes, store_options};

/// An engine that holds the items.
pub(crate) struct InProcess {
    seconds: f64,
    names: Vec<(PartitionKey, String)>,
    workers: Workers,
    runtime: Runtime,
    _folder: TempDir,
}

impl InProcess {
    /// Opens an engine in a new folder and loads the items; `policy` says what is indexed, where that is not all.
    pub(crate) fn load(
        setup: &Setup,
        env: &Env,
        items: Items,
        policy: Option<&str>,
    ) -> Result<(InProcess, Measurement)> {
        let folder = folder(setup)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let engine = open(setup, env, &runtime, &folder.path().join("store"), Durability::Strict)?;
        let definition = definition("/customer", policy);
        let container = runtime.block_on(create(&engine, &definition, setup.partitions))?;
        let workers = Workers { env: env.clone(), engine, container, items, count: setup.connections };
        let loaded = measure(env, "engine: load", std::process::id(), || runtime.block_on(workers.load()))?;
        let names = (0..items.count).map(|index| (items.partition_key(index), items.id(index))).collect();
        Ok((InProcess { seconds: setup.seconds, names, workers, runtime, _folder: folder }, loaded))
    }

    /// Returns what can be measured.
    pub(crate) fn phases(&self) -> Vec<Phase<'_>> {
        let pid = std::process::id();
        let reads = |threads| Box::new(move || self.workers.read(&self.names, threads, self.seconds));
        let writes = |mode| Box::new(move || self.runtime.block_on(self.workers.write(mode, self.seconds)));
        vec![
            Phase { name: "engine: reads, 1 thread", pid, run: reads(1) },
            Phase { name: "engine: reads, 2 threads", pid, run: reads(2) },
            Phase { name: "engine: upserts", pid, run: writes(WriteMode::Upsert) },
            Phase { name: "engine: replaces", pid, run: writes(WriteMode::Replace) },
        ]
    }

    /// Closes the engine.
    pub(crate) fn close(self) -> Result<()> {
        self.runtime.block_on(self.workers.engine.close()).context("cannot close the engine")
    }
}

/// Opens an engine as the server does: on the embedded store, with the item cache.
pub(crate) fn open(
    setup: &Setup,
    env: &Env,
    runtime: &Runtime,
    folder: &Path,
    durability: Durability,
) -> Result<Engine> {
    open_on(store(setup, folder, durability)?, env, runtime)
}

/// Opens the embedded store with the item cache.
pub(crate) fn store(setup: &Setup, folder: &Path, durability: Durability) -> Result<Arc<dyn Store>> {
    let options = StoreOptions { durability, ..store_options(setup) };
    let embedded = open_store(folder, &options)?;
    Ok(Arc::new(CachedStore::new(Arc::new(embedded), usize::try_from(item_cache_bytes(setup))?)))
}

/// Opens the embedded store. One that was closed in this process while its files were merged keeps its folder locked until
/// that is done.
pub(crate) fn open_store(folder: &Path, options: &StoreOptions) -> Result<EmbeddedStore> {
    const LOOKS_MAX: usize = 1_200;
    for _ in 0..LOOKS_MAX {
        match EmbeddedStore::open(folder, options.clone()) {
            Err(error) if error.kind() == ErrorKind::Locked => std::thread::sleep(Duration::from_millis(100)),
            outcome => return Ok(outcome?),
        }
    }
    Ok(EmbeddedStore::open(folder, options.clone())?)
}

/// Opens an engine on a store.
pub(crate) fn open_on(store: Arc<dyn Store>, env: &Env, runtime: &Runtime) -> Result<Engine> {
    // What is measured is what the engine can do, not what it may.
    let policy = Policy { enforced: false, ..Policy::default() };
    let options = EngineOptions { policy, ..EngineOptions::default() };
    Ok(runtime.block_on(Engine::open(store, env.clone(), options))?)
}

/// Returns the definition of the container; without a policy everything is indexed.
pub(crate) fn definition(partition_key: &str, policy: Option<&str>) -> String {
    let policy = policy.map_or(String::new(), |policy| format!(r#","indexingPolicy":{policy}"#));
    format!(
        r#"{{"id":"{CONTAINER}","partitionKey":{{"paths":["{partition_key}"],"kind":"Hash","version":2}}{policy}}}"#
    )
}

/// Makes the database and the container.
pub(crate) async fn create(
    engine: &Engine,
    definition: &str,
    partitions: u32,
) -> Result<Arc<ContainerHandle>> {
    let caller = Caller::full();
    engine.create_database(&caller, DATABASE, None).await?;
    let definition = json::parse(definition.as_bytes()).context("the definition is not JSON")?;
    // Of manual throughput there would be more partitions to begin with.
    let throughput = Throughput::Autoscale { max: partitions * PARTITION_RU, increment_percent: None };
    engine
        .create_container(
            &caller,
            DATABASE,
            armilla_engine::ContainerDefinition::from_value(&definition)
                .map_err(armilla_engine::Error::from)?,
            Some(throughput),
        )
        .await?;
    Ok(engine.container(DATABASE, CONTAINER)?.container)
}

/// Tasks that read and write items of a container.
#[derive(Clone)]
pub(crate) struct Workers {
    pub(crate) env: Env,
    pub(crate) engine: Engine,
    pub(crate) container: Arc<ContainerHandle>,
    pub(crate) items: Items,
    pub(crate) count: usize,
}

impl Workers {
    fn read(&self, names: &[(PartitionKey, String)], threads: u64, seconds: f64) -> Result<Latencies> {
        let end = self.env.clock.elapsed() + Duration::from_secs_f64(seconds);
        std::thread::scope(|scope| {
            let reading: Vec<_> = (0..threads)
                .map(|thread| {
                    scope.spawn(move || {
                        let mut random = Random::of_part(5, thread);
                        let mut latencies = Latencies::new();
                        let caller = Caller::full();
                        let mut begin = self.env.clock.elapsed();
                        while begin < end {
                            let (key, id) = &names[random.index(names.len())];
                            let name = ItemName::Id(id);
                            self.engine.read_item(&caller, &self.container, name, Some(key), None)?;
                            let now = self.env.clock.elapsed();
                            latencies.record(now - begin);
                            begin = now;
                        }
                        Ok(latencies)
                    })
                })
                .collect();
            join(reading)
        })
    }

    async fn load(&self) -> Result<Latencies> {
        let next = Arc::new(AtomicUsize::new(0));
        let count = self.items.count;
        self.run(WriteMode::Create, move |_| {
            let index = next.fetch_add(1, Ordering::Relaxed);
            (index < count).then_some((index, 0))
        })
        .await
    }

    async fn write(&self, mode: WriteMode, seconds: f64) -> Result<Latencies> {
        let clock = self.env.clock.clone();
        let end = clock.elapsed() + Duration::from_secs_f64(seconds);
        let count = self.items.count;
        self.run(mode, move |random| {
            (clock.elapsed() < end).then(|| (random.index(count), random.next_u64()))
        })
        .await
    }

    /// Writes with all tasks until there is nothing more to write: `next` gives the index and the version.
    pub(crate) async fn run(
        &self,
        mode: WriteMode,
        next: impl Fn(&mut Random) -> Option<(usize, u64)> + Clone + Send + 'static,
    ) -> Result<Latencies> {
        let mut tasks = Vec::new();
        for number in 0..self.count {
            let (workers, next) = (self.clone(), next.clone());
            tasks.push(tokio::spawn(async move {
                let mut random = Random::of_part(6, number as u64);
                let mut latencies = Latencies::new();
                while let Some((index, version)) = next(&mut random) {
                    let body = workers.items.body(index, version);
                    let begin = workers.env.clock.elapsed();
                    workers.put(mode, index, body.as_bytes()).await?;
                    latencies.record(workers.env.clock.elapsed() - begin);
                }
                Ok::<_, anyhow::Error>(latencies)
            }));
        }
        let mut all = Latencies::new();
        for task in tasks {
            all.add(&task.await??);
        }
        Ok(all)
    }

    async fn put(&self, mode: WriteMode, index: usize, body: &[u8]) -> Result<()> {
        let key = self.items.partition_key(index);
        let (caller, container) = (Caller::full(), &self.container);
        let triggers = Triggers::default();
        match mode {
            WriteMode::Replace | WriteMode::Update => {
                let id = self.items.id(index);
                let name = ItemName::Id(&id);
                self.engine
                    .replace_item(
                        &caller,
                        container,
                        name,
                        Some(&key),
                        body.into(),
                        Precondition::None,
                        &triggers,
                    )
                    .await?;
            }
            WriteMode::Create | WriteMode::Upsert => {
                self.engine
                    .write_item(
                        &caller,
                        container,
                        mode,
                        Some(&key),
                        body.into(),
                        Precondition::None,
                        &triggers,
                    )
                    .await?;
            }
        }
        Ok(())
    }
}
