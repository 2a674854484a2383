//! Opening and closing the engine.

mod load;

use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use armilla_container::{KNOWN_LOOKUPS_BYTES, KNOWN_NUMBERS_BYTES, KnownNumbers, Limits};
use armilla_env::Env;
use armilla_governor::Policy;
use armilla_kv::{Batch, Family, Scan, Store};
use armilla_script::{WorkerStart, Workers};
use bytes::Bytes;
use parking_lot::RwLock;

use crate::backups::Backups;
use crate::changes::Feeds;
use crate::consistency::Consistency;
use crate::containers::Common;
use crate::engine::{Engine, Shared, WriterLock};
use crate::error::Result;
use crate::execution::ScriptTurns;
use crate::limits::{RESHAPES_AT_ONCE_MAX, SCRIPT_SECONDS_MAX, TRANSACTIONS_OPEN_MAX};
use crate::queries::{QueryLanes, ReadQueries};
use crate::record::{self, ROOT_SPACE, tag};
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
}

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
        }
    }
}

impl Engine {
    /// Opens the account that a store holds, or begins a new one.
    pub async fn open(store: Arc<dyn Store>, env: Env, options: EngineOptions) -> Result<Engine> {
        Engine::open_with(store, env, options, true).await
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
        let limits = Arc::new(options.limits);
        let space = store.open_space(ROOT_SPACE)?;
        let secret_key = record::key(tag::SECRET, b"");
        let secret = match space.get(Family::Meta, &secret_key)? {
            Some(secret) => secret,
            None => {
                let mut secret = [0u8; 32];
                env.entropy.fill(&mut secret);
                let secret = Bytes::copy_from_slice(&secret);
                let mut batch = Batch::new();
                batch.put(Family::Meta, secret_key, secret.clone());
                space.commit(batch).await?;
                secret
            }
        };
        let snapshot = space.snapshot()?;
        let common = Common {
            script_workers: Workers::new(options.script_workers),
            read_queries: ReadQueries::default(),
        };
        let known_numbers = KnownNumbers::new(options.known_numbers_bytes);
        let known_numbers = Arc::new(known_numbers.with_lookups(options.known_lookups_bytes));
        let mut loader = Loader::new(&store, &env, &limits, options.policy, &common, &known_numbers);
        let mut scan = Scan::prefix(Family::Meta, b"");
        loop {
            let page = snapshot.scan(&scan)?;
            for (key, value) in &page.entries {
                loader.load(key, value)?;
            }
            match page.entries.last() {
                Some((key, _)) if page.more => scan = scan.after(key),
                _ => break,
            }
        }
        let to_drop = std::mem::take(&mut loader.to_drop);
        let (tree, counters) = loader.finish()?;
        let writer = Writer { store: store.clone(), space, counters };
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
                background,
                open_transactions: Arc::new(tokio::sync::Semaphore::new(TRANSACTIONS_OPEN_MAX)),
                reshape_turns: Arc::new(tokio::sync::Semaphore::new(RESHAPES_AT_ONCE_MAX)),
            }),
        };
        if !to_drop.is_empty() {
            engine.drop_spaces(&to_drop).await?;
        }
        engine.all_containers().iter().for_each(|container| engine.start_background_work(container));
        Ok(engine)
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
