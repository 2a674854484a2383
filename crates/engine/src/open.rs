//! Opening and closing the engine.

use std::collections::HashSet;
use std::num::NonZero;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use std::time::Duration;

use armilla_container::{
    Container, ContainerDefinition, ContainerIdentity, Limits, SharedBudgets, ThroughputSource,
};
use armilla_env::Env;
use armilla_governor::Policy;
use armilla_kv::{Batch, Family, Scan, SpaceId, Store};
use armilla_script::{WorkerStart, Workers};
use armilla_value::rid::{ContainerRid, DatabaseRid, PermissionRid, UserRid};
use bytes::Bytes;

use crate::backups::Backups;
use crate::changes::Feeds;
use crate::computed;
use crate::consistency::Consistency;
use crate::containers::ContainerHandle;
use crate::error::{Error, ErrorKind, Result};
use crate::execution::ScriptTurns;
use crate::limits::{RESHAPES_AT_ONCE_MAX, SCRIPT_SECONDS_MAX};
use crate::offers::Offer;
use crate::permissions::Permission;
use crate::queries::QueryLanes;
use crate::record::{self, Record, TreeCounters, tag};
use crate::reindexing::Reindexing;
use crate::reshaping::Reshaping;
use crate::scripts::{self, ScriptKind, StoredScript};
use crate::sweeping::Sweeping;
use crate::throughput::Throughput;
use crate::token::TokenMint;
use crate::tree::{Children, Database, Tree, User, Writer};

/// The space of the resource tree.
pub(crate) const ROOT_SPACE: SpaceId = SpaceId(0);

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
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions {
            limits: Limits::default(),
            consistency: Consistency::Session,
            script_time: Duration::from_secs(SCRIPT_SECONDS_MAX.into()),
            script_workers: WorkerStart::ThisProgram,
            policy: Policy { enforced: true, burst: false },
        }
    }
}

/// An account: its resource tree and all operations on it. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    store: Arc<dyn Store>,
    env: Env,
    limits: Arc<Limits>,
    consistency: Consistency,
    tokens: TokenMint,
    tree: RwLock<Tree>,
    writer: tokio::sync::Mutex<Writer>,
    /// How many threads the machine runs at the same time.
    cores: usize,
    /// The places of queries.
    query_lanes: QueryLanes,
    /// Those of queries with user-defined functions.
    function_lanes: QueryLanes,
    /// Scripts that may, which are not to take the turns of queries.
    script_turns: ScriptTurns,
    script_workers: Workers,
    /// What the readers of change feeds share.
    feeds: Feeds,
    /// Backups that are being read.
    backups: Backups,
    script_time: Duration,
    policy: Policy,
    /// Whether containers are tended.
    background: bool,
    /// Splits and merges that may be carried out at the same time.
    reshape_turns: Arc<tokio::sync::Semaphore>,
}

/// An engine that may have been dropped meanwhile.
#[derive(Clone)]
pub(crate) struct WeakEngine(Weak<Shared>);

impl WeakEngine {
    /// Takes hold of the engine, if there still is one.
    pub(crate) fn upgrade(&self) -> Option<Engine> {
        self.0.upgrade().map(|shared| Engine { shared })
    }
}

impl Drop for Shared {
    /// Ends the background tasks of an engine that was not closed.
    fn drop(&mut self) {
        if let Ok(tree) = self.tree.get_mut() {
            for container in tree.databases.iter().flat_map(|database| database.containers.iter()) {
                container.reindexing().stop();
                container.reshaping().stop();
                container.end();
            }
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
        let script_workers = Workers::new(options.script_workers);
        let mut loader = Loader::new(&store, &env, &limits, options.policy, &script_workers);
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
                consistency: options.consistency,
                tokens: TokenMint::new(&secret),
                tree: RwLock::new(tree),
                writer: tokio::sync::Mutex::new(writer),
                cores,
                query_lanes: QueryLanes::new(cores),
                function_lanes: QueryLanes::of_functions(cores),
                script_turns: ScriptTurns::of_account(),
                script_workers,
                feeds: Feeds::default(),
                backups: Backups::default(),
                script_time: options.script_time,
                policy: options.policy,
                background,
                reshape_turns: Arc::new(tokio::sync::Semaphore::new(RESHAPES_AT_ONCE_MAX)),
            }),
        };
        if !to_drop.is_empty() {
            engine.drop_spaces(&to_drop).await?;
        }
        engine.all_containers().iter().for_each(|container| engine.tend(container));
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
        self.shared.script_workers.rest();
        Ok(self.shared.store.close()?)
    }

    /// Returns the account's consistency level.
    pub fn consistency(&self) -> Consistency {
        self.shared.consistency
    }

    /// Returns the limits in force.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// Gives the bytes of deleted containers back to the store. The resource tree does not name them any more.
    pub(crate) async fn drop_spaces(&self, spaces: &[SpaceId]) -> Result<()> {
        let mut batch = Batch::new();
        for space in spaces {
            self.shared.store.drop_space(*space)?;
            batch.delete(Family::Meta, record::key(tag::SPACE_TO_DROP, &space.0.to_be_bytes()));
        }
        let mut writer = self.shared.writer.lock().await;
        let committed = writer.space.commit(batch).await;
        writer.reopen_after(&committed)?;
        Ok(committed?)
    }

    pub(crate) fn downgrade(&self) -> WeakEngine {
        WeakEngine(Arc::downgrade(&self.shared))
    }

    /// Returns all containers of all databases.
    pub(crate) fn all_containers(&self) -> Vec<Arc<ContainerHandle>> {
        self.tree().databases.iter().flat_map(|database| database.containers.iter().cloned()).collect()
    }

    /// Starts what is done for a container in the background.
    pub(crate) fn tend(&self, container: &Arc<ContainerHandle>) {
        if self.shared.background {
            Reindexing::start(container, self.env());
            Reshaping::start(container, self);
            Sweeping::start(container, self.env());
        }
    }

    /// Returns the one who changes the tree, if nobody does just now.
    pub(crate) fn idle_writer(&self) -> Option<tokio::sync::MutexGuard<'_, Writer>> {
        self.shared.writer.try_lock().ok()
    }

    pub(crate) fn reshape_turns(&self) -> Arc<tokio::sync::Semaphore> {
        self.shared.reshape_turns.clone()
    }

    pub(crate) fn policy(&self) -> Policy {
        self.shared.policy
    }

    /// Returns the budgets of a database with throughput.
    pub(crate) fn shared_budgets(&self, throughput: u32) -> SharedBudgets {
        SharedBudgets::new(throughput, self.limits(), self.policy())
    }

    pub(crate) fn env(&self) -> &Env {
        &self.shared.env
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.shared.store
    }

    pub(crate) fn limits_arc(&self) -> &Arc<Limits> {
        &self.shared.limits
    }

    pub(crate) fn tokens(&self) -> &TokenMint {
        &self.shared.tokens
    }

    pub(crate) fn tree(&self) -> RwLockReadGuard<'_, Tree> {
        self.shared.tree.read().expect("no panic while the tree is held")
    }

    pub(crate) fn tree_mut(&self) -> RwLockWriteGuard<'_, Tree> {
        self.shared.tree.write().expect("no panic while the tree is held")
    }

    /// Returns the places of a query.
    pub(crate) fn query_lanes(&self, calls_functions: bool) -> &QueryLanes {
        if calls_functions { &self.shared.function_lanes } else { &self.shared.query_lanes }
    }

    /// Returns how many cores no query runs on.
    pub(crate) fn idle_cores(&self) -> usize {
        self.shared.cores.saturating_sub(self.shared.query_lanes.computing())
    }

    pub(crate) fn script_workers(&self) -> &Workers {
        &self.shared.script_workers
    }

    pub(crate) fn feeds(&self) -> &Feeds {
        &self.shared.feeds
    }

    pub(crate) fn backups(&self) -> &Backups {
        &self.shared.backups
    }

    pub(crate) fn script_turns(&self) -> &ScriptTurns {
        &self.shared.script_turns
    }

    /// Returns how long a script may run.
    pub(crate) fn script_time(&self) -> Duration {
        self.shared.script_time
    }

    pub(crate) async fn writer(&self) -> tokio::sync::MutexGuard<'_, Writer> {
        self.shared.writer.lock().await
    }
}

/// Puts the tree together from its records, which come in the order of their keys: containers (`k`) after
/// databases (`d`), scripts (`f`, `r`, `t`) before or after containers, permissions (`p`) before users (`u`).
struct Loader {
    store: Arc<dyn Store>,
    env: Env,
    limits: Arc<Limits>,
    policy: Policy,
    script_workers: Workers,
    tree: Tree,
    counters: TreeCounters,
    scripts: Vec<StoredScript>,
    permissions: Vec<Permission>,
    to_drop: Vec<SpaceId>,
}

impl Loader {
    fn new(
        store: &Arc<dyn Store>,
        env: &Env,
        limits: &Arc<Limits>,
        policy: Policy,
        script_workers: &Workers,
    ) -> Loader {
        Loader {
            store: store.clone(),
            env: env.clone(),
            limits: limits.clone(),
            policy,
            script_workers: script_workers.clone(),
            tree: Tree::default(),
            counters: TreeCounters::default(),
            scripts: Vec::new(),
            permissions: Vec::new(),
            to_drop: Vec::new(),
        }
    }

    fn load(&mut self, key: &Bytes, value: &Bytes) -> Result<()> {
        let damaged =
            || Error::new(ErrorKind::Corrupt, format!("the tree has a record with the unknown key {key:?}"));
        let (tag, rest) = key.split_first().ok_or_else(damaged)?;
        let text = || std::str::from_utf8(rest).ok();
        match *tag {
            tag::COUNTERS => self.counters = TreeCounters::decode(value)?,
            tag::SECRET => {}
            tag::DATABASE => {
                let rid = text().and_then(DatabaseRid::parse).ok_or_else(damaged)?;
                let record = Record::decode(value, "a database")?;
                let id = record.text("id")?;
                let database = Database {
                    rid,
                    id: id.clone(),
                    version: record.version()?,
                    shared: None,
                    containers: Children::default(),
                    users: Children::default(),
                };
                self.tree.databases.insert(&id, u64::from(rid.number()), database);
            }
            tag::CONTAINER => {
                let rid = text().and_then(ContainerRid::parse).ok_or_else(damaged)?;
                let record = Record::decode(value, "a container")?;
                let definition =
                    ContainerDefinition::from_value(record.get("definition")?).map_err(|error| {
                        Error::new(
                            ErrorKind::Corrupt,
                            format!("the definition of container {rid}: {}", error.message),
                        )
                    })?;
                let id = definition.id.clone();
                let evaluator = computed::evaluator(&definition);
                let version = record.version()?;
                let container = Container::open(
                    self.store.clone(),
                    self.env.clone(),
                    self.limits.clone(),
                    ContainerIdentity::new(rid),
                    definition,
                    evaluator,
                    record.map(version.ts)?,
                    // Offers are read later.
                    ThroughputSource::Own(Throughput::DEFAULT.max()),
                    self.policy,
                );
                let database =
                    self.tree.database_mut(rid.database()).ok_or_else(|| orphan("container", rid))?;
                let handle = ContainerHandle::new(
                    rid,
                    &id,
                    &database.id,
                    version,
                    container,
                    &self.limits,
                    self.script_workers.clone(),
                );
                database.containers.insert(&id, u64::from(rid.number()), Arc::new(handle));
            }
            tag::USER_FUNCTION | tag::STORED_PROCEDURE | tag::TRIGGER => {
                let kind = ScriptKind::of_record_tag(*tag).ok_or_else(damaged)?;
                let rid = text().and_then(|text| scripts::parse_rid(kind, text)).ok_or_else(damaged)?;
                self.scripts.push(StoredScript::decode(kind, rid, value)?);
            }
            tag::OFFER => {
                let ordinal = u32::from_be_bytes(rest.try_into().map_err(|_| damaged())?);
                self.tree.offers.insert(ordinal, Offer::decode(ordinal, value)?);
            }
            tag::USER => {
                let rid = text().and_then(UserRid::parse).ok_or_else(damaged)?;
                let record = Record::decode(value, "a user")?;
                let id = record.text("id")?;
                let user = User {
                    rid,
                    id: id.clone(),
                    version: record.version()?,
                    permissions: Children::default(),
                };
                let database = self.tree.database_mut(rid.database()).ok_or_else(|| orphan("user", rid))?;
                database.users.insert(&id, u64::from(rid.number()), user);
            }
            tag::PERMISSION => {
                let rid = text().and_then(PermissionRid::parse).ok_or_else(damaged)?;
                self.permissions.push(Permission::decode(rid, value)?);
            }
            tag::SPACE_TO_DROP => {
                self.to_drop.push(SpaceId(u64::from_be_bytes(rest.try_into().map_err(|_| damaged())?)));
            }
            _ => return Err(damaged()),
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(Tree, TreeCounters)> {
        for permission in std::mem::take(&mut self.permissions) {
            let rid = permission.rid;
            let user_rid = rid.user();
            let user = self
                .tree
                .database_mut(user_rid.database())
                .and_then(|database| database.users.by_ordinal_mut(u64::from(user_rid.number())))
                .ok_or_else(|| orphan("permission", rid))?;
            let id = permission.id.clone();
            user.permissions.insert(&id, rid.number(), permission);
        }
        for script in std::mem::take(&mut self.scripts) {
            let rid = script.rid;
            let container_rid = rid.container();
            let container = self
                .tree
                .database_mut(container_rid.database())
                .and_then(|database| database.containers.get_by_ordinal(u64::from(container_rid.number())))
                .ok_or_else(|| orphan(script.kind.noun(), rid))?;
            let id = script.id.clone();
            container.scripts().of_mut(script.kind).insert(&id, rid.number(), script);
        }
        self.supply();
        Ok((self.tree, self.counters))
    }

    /// Gives containers the throughput that the offers say.
    fn supply(&mut self) {
        let owners: HashSet<&str> = self.tree.offers.values().map(|offer| &*offer.resource_rid).collect();
        for database in self.tree.databases.iter() {
            if owners.contains(&*database.rid.to_string()) {
                let sharing = database
                    .containers
                    .iter()
                    .filter(|container| !owners.contains(&*container.rid().to_string()));
                sharing.for_each(|container| container.share());
            }
        }
        let now_ms = self.env.clock.now_ms();
        let offers: Vec<Offer> = self.tree.offers.values().cloned().collect();
        for offer in offers {
            let database =
                DatabaseRid::parse(&offer.resource_rid).and_then(|rid| self.tree.database_mut(rid));
            if let Some(database) = database {
                let budgets = SharedBudgets::new(offer.throughput.max(), &self.limits, self.policy);
                database.shared = Some(Arc::new(budgets));
            }
            self.tree.supply(&offer, &self.limits, now_ms);
        }
    }
}

fn orphan(kind: &str, rid: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the {kind} {rid} lies in nothing"))
}
