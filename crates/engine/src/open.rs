//! Opening and closing the engine.

mod load;

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use armilla_container::{KNOWN_LOOKUPS_BYTES, KNOWN_NUMBERS_BYTES, KnownNumbers, Limits};
use armilla_env::Env;
use armilla_governor::Policy;
use armilla_kv::{Batch, Family, SpaceId, Store};
use armilla_ledger::Ledger;
use armilla_script::{WorkerStart, Workers};
use bytes::Bytes;
use parking_lot::RwLock;

use crate::among::Among;
use crate::backups::Backups;
use crate::changes::Feeds;
use crate::consistency::Consistency;
use crate::containers::Common;
use crate::containers::ground::Ground;
use crate::engine::{Engine, Shared, WriterLock};
use crate::error::{ErrorKind, Result};
use crate::execution::ScriptTurns;
use crate::limits::{RESHAPES_AT_ONCE_MAX, SCRIPT_SECONDS_MAX, TRANSACTIONS_OPEN_MAX};
use crate::neighbours::Neighbours;
use crate::queries::{QueryLanes, ReadQueries};
use crate::record::{self, ROOT_SPACE, TreeCounters, tag};
use crate::token::TokenMint;
use crate::tree::Writer;
use load::Loader;

/// What an engine can be told.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// The service's limits.
    pub limits: Limits,
    /// The account's consistency level.
    pub consistency: Consistency,
    /// How long a script may run.
    pub script_time: Duration,
    /// How the processes are started in which scripts run.
    pub script_workers: WorkerStart,
    /// Whether throughput is enforced, and whether it may be saved up.
    pub policy: Policy,
    /// Most bytes of memory for where items lie, by their numbers.
    pub known_numbers_bytes: usize,
    /// Most bytes of memory for items that were looked up by equal values.
    pub known_lookups_bytes: usize,
    /// Whether containers are tended: split, re-indexed, swept.
    pub background: bool,
    /// Whether it is recorded what is asked of the account.
    pub records_requests: bool,
}

/// How long one waits who finds no process that keeps the resource tree, before it looks again.
const KEEPER_RETRY_PERIOD: Duration = Duration::from_millis(50);

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions {
            limits: Limits::default(),
            consistency: Consistency::Session,
            script_time: Duration::from_secs(SCRIPT_SECONDS_MAX.into()),
            script_workers: WorkerStart::ThisProgram,
            policy: Policy { enforced: true, burst: false },
            known_numbers_bytes: KNOWN_NUMBERS_BYTES,
            known_lookups_bytes: KNOWN_LOOKUPS_BYTES,
            background: true,
            records_requests: true,
        }
    }
}

impl Engine {
    /// Opens the account that a store holds, or begins a new one.
    pub async fn open(store: Arc<dyn Store>, env: Env, options: EngineOptions) -> Result<Engine> {
        Engine::open_with(store, env, options, true).await
    }

    /// Opens an account that other processes may serve as well. Waits until one of them keeps the resource tree.
    pub async fn open_among(
        among: Arc<Among>,
        store: Arc<dyn Store>,
        env: Env,
        options: EngineOptions,
    ) -> Result<Engine> {
        let records = loop {
            match among.first_copy().await {
                Ok(records) => break records,
                Err(error) if matches!(error.kind, ErrorKind::Unavailable | ErrorKind::OutcomeUnknown) => {
                    tracing::debug!(%error, "the resource tree cannot be read yet");
                    env.clock.sleep(KEEPER_RETRY_PERIOD).await;
                }
                Err(error) => return Err(error),
            }
        };
        let counters = match records.get(&record::key(tag::COUNTERS, b"")) {
            Some(bytes) => TreeCounters::decode(bytes)?,
            None => TreeCounters::default(),
        };
        let writer = Writer::kept(among.clone(), counters);
        let engine = Engine::put_together(store, env, options, Some(among.clone()), records, writer)?.0;
        among.set_engine(&engine);
        among.note_spaces(&engine);
        drop(tokio::spawn(among.clone().drop_leftovers(engine.downgrade())));
        drop(tokio::spawn(among.follow(engine.downgrade())));
        engine.all_containers().iter().for_each(|container| engine.start_background_work(container));
        Ok(engine)
    }

    /// Opens an account to look at it: nothing is split and no index is completed, whatever throughput, sizes and
    /// policies ask for.
    pub async fn open_at_rest(store: Arc<dyn Store>, env: Env, options: EngineOptions) -> Result<Engine> {
        Engine::open_with(store, env, options, false).await
    }

    async fn open_with(
        store: Arc<dyn Store>,
        env: Env,
        options: EngineOptions,
        background: bool,
    ) -> Result<Engine> {
        let space = store.open_space(ROOT_SPACE)?;
        let secret_key = record::key(tag::SECRET, b"");
        if space.get(Family::Meta, &secret_key)?.is_none() {
            let mut secret = [0u8; 32];
            env.entropy.fill(&mut secret);
            let mut batch = Batch::new();
            batch.put(Family::Meta, secret_key, Bytes::copy_from_slice(&secret));
            space.commit(batch).await?;
        }
        let records = record::read_all(&*space.snapshot()?)?;
        let writer = Writer::own(store.clone(), space, TreeCounters::default());
        let options = EngineOptions { background, ..options };
        let (engine, to_drop) = Engine::put_together(store, env, options, None, records, writer)?;
        if !to_drop.is_empty() {
            engine.drop_spaces(&to_drop).await?;
        }
        engine.all_containers().iter().for_each(|container| engine.start_background_work(container));
        Ok(engine)
    }

    /// Puts an engine together from the records of its tree. Returns the spaces that are still to be dropped, too.
    fn put_together(
        store: Arc<dyn Store>,
        env: Env,
        options: EngineOptions,
        among: Option<Arc<dyn Neighbours>>,
        records: BTreeMap<Bytes, Bytes>,
        mut writer: Writer,
    ) -> Result<(Engine, Vec<SpaceId>)> {
        let limits = Arc::new(options.limits);
        let secret = records.get(&record::key(tag::SECRET, b"")).cloned().unwrap_or_default();
        let common = Common {
            script_workers: Workers::new(options.script_workers),
            read_queries: ReadQueries::default(),
        };
        let known_numbers = KnownNumbers::new(options.known_numbers_bytes);
        let known_numbers = Arc::new(known_numbers.with_lookups(options.known_lookups_bytes));
        let mut loader = Loader::new(Ground {
            store: store.clone(),
            env: env.clone(),
            limits: limits.clone(),
            policy: options.policy,
            common: common.clone(),
            known_numbers: known_numbers.clone(),
            peers: among.as_ref().map(|among| among.peers()),
        });
        for (key, value) in &records {
            loader.load(key, value)?;
        }
        let to_drop = std::mem::take(&mut loader.to_drop);
        let (tree, counters) = loader.finish()?;
        writer.counters = counters;
        let ledger = Arc::new(Ledger::new());
        ledger.set_on(options.records_requests);
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let engine = Engine {
            shared: Arc::new(Shared {
                store,
                env,
                limits,
                known_numbers,
                consistency: options.consistency,
                tokens: TokenMint::new(&secret),
                tree: RwLock::new(tree),
                writer: WriterLock::new(writer),
                cores,
                query_lanes: QueryLanes::new(cores),
                function_lanes: QueryLanes::of_functions(cores),
                script_turns: ScriptTurns::of_account(),
                common,
                feeds: Feeds::default(),
                backups: Backups::default(),
                script_time: options.script_time,
                policy: options.policy,
                ledger,
                background: options.background,
                among,
                open_transactions: Arc::new(tokio::sync::Semaphore::new(TRANSACTIONS_OPEN_MAX)),
                reshape_turns: Arc::new(tokio::sync::Semaphore::new(RESHAPES_AT_ONCE_MAX)),
            }),
        };
        Ok((engine, to_drop))
    }

    /// Waits for writes on their way, then closes the store.
    pub async fn close(&self) -> Result<()> {
        self.end_waits();
        self.backups().end_all();
        // A split may hold the writer until it knows what became of it, or until this.
        self.all_containers().iter().for_each(|container| container.reshaping().stop());
        let _writer = self.shared.writer.lock().await;
        for container in self.all_containers() {
            container.reshaping().stopped().await;
            container.reindexing().stopped().await;
            container.end();
            container.sweeping().stopped().await;
            container.container().drain().await;
        }
        self.script_workers().rest();
        Ok(self.shared.store.close()?)
    }
}
