//! The store and the engine over it, opened and closed in the right order.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Error, Result, anyhow, bail};
use armilla_api_admin::{AdminApi, AdminApiOptions};
use armilla_api_gremlin::{GremlinApi, GremlinApiOptions};
use armilla_api_mongo::{MongoApi, MongoApiOptions};
use armilla_api_sql::{CrossPartitionQueries, SqlApi, SqlApiOptions};
use armilla_api_table::{Flavour, TableApi, TableApiOptions};
use armilla_engine::{Among, Engine, EngineOptions, WorkerStart};
use armilla_env::Env;
use armilla_explorer::{Explorer, ExplorerOptions};
use armilla_kv::cache::CachedStore;
use armilla_kv::memory::MemoryStore;
use armilla_kv::{Durability, ErrorKind, Store};
use armilla_kv_embedded::{EmbeddedStore, Options};
use armilla_rest_wire::authorization::AccountKeys;
use armilla_rest_wire::authorization::open_id::OpenId;
use armilla_rest_wire::regions::Regions;

use crate::data_dir::DataDir;
use crate::open_id;
use crate::requests::api::{Api, Door, Front, Others, SqlPort};
use crate::settings::options::{CrossPartitionChoice, DurabilityChoice};
use crate::settings::{Data, Settings};

#[cfg_attr(not(feature = "object-storage"), path = "storage/no_objects.rs")]
pub(crate) mod objects;
mod request_record;

/// Everything that is open.
pub(crate) struct Storage {
    folder: Option<DataDir>,
    hold: Option<objects::Hold>,
    store: Arc<dyn Store>,
    engine: Engine,
    tables: OnceLock<TableApi>,
    documents: OnceLock<MongoApi>,
    graphs: OnceLock<GremlinApi>,
    open_id: Option<Arc<OpenId>>,
    request_record_file: Option<PathBuf>,
}

impl Storage {
    /// Opens the data folder, the store in it and the engine over that. Where another process has the store it waits, until
    /// `ending`.
    pub(crate) async fn open(
        settings: &Settings,
        env: &Env,
        ending: impl Future<Output = ()>,
    ) -> Result<Storage> {
        let mut ending = pin!(ending);
        let mut hold = None;
        let (folder, store): (_, Arc<dyn Store>) = match &settings.data {
            Data::Memory => (None, Arc::new(MemoryStore::new())),
            Data::Folder(path) => {
                let mut folder = DataDir::open_or_create(path)?;
                folder.check_store_is_there()?;
                let store = open_store(path, &folder, settings)?;
                folder.note_store()?;
                (Some(folder), store)
            }
            Data::Objects { url, folder: path, node } => {
                let folder = DataDir::open_or_create(path)?;
                folder.check_has_no_store()?;
                let (store, held) = tokio::select! {
                    opened = open_objects(url, &folder, *node, settings, env) => opened?,
                    () = &mut ending => bail!("{url} was not free yet"),
                };
                hold = Some(held);
                (Some(folder), store)
            }
        };
        let options = EngineOptions {
            limits: settings.limits.clone(),
            consistency: settings.consistency,
            script_time: settings.script_time,
            script_workers: WorkerStart::ThisProgram,
            policy: settings.policy,
            records_requests: settings.records_requests,
            known_numbers_bytes: CacheShares::of(settings).numbers,
            known_lookups_bytes: CacheShares::of(settings).lookups,
            ..EngineOptions::default()
        };
        let opened = match hold.as_mut().and_then(objects::Hold::as_node) {
            None => Engine::open(store.clone(), env.clone(), options).await,
            Some(node) => {
                let among = Among::new(store.clone(), env.clone(), node.nodes());
                node.begin(&among);
                tokio::select! {
                    opened = Engine::open_among(among, store.clone(), env.clone(), options) => opened,
                    () = &mut ending => bail!("no node has the resource tree yet"),
                }
            }
        };
        let engine = opened.map_err(|error| anyhow!("cannot open the account: {error}"))?;
        let mut request_record_file = settings.request_record_file.clone();
        if let Some(path) = &request_record_file
            && let Err(error) = request_record::take_back(path, engine.ledger())
        {
            tracing::warn!(
                "the record of requests begins anew and is not kept; the file stays as it is: {error:#}"
            );
            request_record_file = None;
        }
        let open_id = match &settings.open_id {
            Some(settings) => Some(open_id::start(settings, env).await?),
            None => None,
        };
        Ok(Storage {
            folder,
            hold,
            store,
            engine,
            tables: OnceLock::new(),
            documents: OnceLock::new(),
            graphs: OnceLock::new(),
            open_id,
            request_record_file,
        })
    }

    /// Returns the folder of the certificate, unless nothing is kept.
    pub(crate) fn tls_folder(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(DataDir::tls)
    }

    /// Returns the API of a front end over the engine.
    pub(crate) fn api(
        &self,
        door: Door,
        settings: &Settings,
        regions: &Arc<Regions>,
        env: &Env,
    ) -> Result<Api> {
        match door.front {
            Front::Sql => {
                let sql = self.sql_api(settings, regions, env)?;
                let admin = self.admin_api(settings, regions, env)?;
                let explorer = self.explorer(settings, env)?;
                let others = Others {
                    table: match settings.table_address {
                        Some(_) => Some(self.table_api(settings, env)?.in_flavour(Flavour::Cosmos)),
                        None => None,
                    },
                    gremlin: settings.gremlin_address.map(|_| self.gremlin_api(settings, env)).transpose()?,
                    mongo: settings.mongo_address.map(|_| self.mongo_api(settings, env)).transpose()?,
                };
                Ok(Api::Sql(SqlPort { sql, region: door.region, admin, explorer, others }))
            }
            Front::Table => Ok(Api::Table(self.table_api(settings, env)?.in_flavour(Flavour::Cosmos))),
            Front::StorageTable => {
                Ok(Api::Table(self.table_api(settings, env)?.in_flavour(Flavour::Storage)))
            }
            Front::Mongo => Err(anyhow!("the MongoDB API does not answer requests of HTTP")),
            Front::Gremlin => Ok(Api::Gremlin(self.gremlin_api(settings, env)?)),
        }
    }

    /// Returns the MongoDB API over the engine.
    pub(crate) fn mongo_api(&self, settings: &Settings, env: &Env) -> Result<MongoApi> {
        if let Some(api) = self.documents.get() {
            return Ok(api.clone());
        }
        let keys = std::iter::once(&settings.key).chain(&settings.secondary_key);
        let options = MongoApiOptions {
            keys: keys.cloned().collect(),
            read_only_keys: settings.read_only_key.iter().cloned().collect(),
            advertised: settings.mongo.advertised.clone(),
            set_name: settings.mongo.set_name.clone(),
            waits_when_throttled: settings.mongo.waits_when_throttled,
            test_commands: settings.mongo.test_commands,
            pipeline_time: settings.mongo.pipeline_time,
            ..MongoApiOptions::new(settings.key.as_str())
        };
        let api = MongoApi::new(self.engine.clone(), env.clone(), options);
        let api = api.context("cannot set up the MongoDB API")?;
        Ok(self.documents.get_or_init(|| api).clone())
    }

    /// Returns the Gremlin API over the engine.
    pub(crate) fn gremlin_api(&self, settings: &Settings, env: &Env) -> Result<GremlinApi> {
        if let Some(api) = self.graphs.get() {
            return Ok(api.clone());
        }
        let keys = std::iter::once(&settings.key).chain(&settings.secondary_key);
        let options = GremlinApiOptions {
            keys: keys.cloned().collect(),
            read_only_keys: settings.read_only_key.iter().cloned().collect(),
            is_open: settings.gremlin.is_open,
            dialect: settings.gremlin.dialect,
            graphson2: settings.gremlin.graphson2,
            timeout: settings.gremlin.timeout,
            aliases: settings.gremlin.aliases.clone(),
        };
        let api = GremlinApi::new(self.engine.clone(), env.clone(), options);
        let api = api.context("cannot set up the Gremlin API")?;
        Ok(self.graphs.get_or_init(|| api).clone())
    }

    /// Returns the explorer over the engine.
    fn explorer(&self, settings: &Settings, env: &Env) -> Result<Explorer> {
        let read_write = std::iter::once(&settings.key).chain(&settings.secondary_key);
        let read_only = settings.read_only_key.iter();
        let keys = AccountKeys::new(read_write.map(String::as_str), read_only.map(String::as_str));
        let options = ExplorerOptions {
            keys: keys.context("cannot set up the explorer")?,
            is_key_known: settings.uses_well_known_key(),
            others: armilla_explorer::Others {
                mongo: settings.mongo_address.is_some(),
                gremlin: settings.gremlin_address.is_some(),
                table: settings.table_address.is_some(),
            },
        };
        Ok(Explorer::new(self.engine.clone(), env.clone(), options))
    }

    fn sql_api(&self, settings: &Settings, regions: &Arc<Regions>, env: &Env) -> Result<SqlApi> {
        let options = SqlApiOptions {
            secondary_key: settings.secondary_key.clone(),
            read_only_keys: settings.read_only_key.iter().cloned().collect(),
            date_skew: settings.date_skew,
            open_id: self.open_id.clone(),
            advertised_url: settings.advertised_url.clone(),
            regions: regions.clone(),
            cross_partition_queries: match settings.cross_partition_queries {
                CrossPartitionChoice::Merge => CrossPartitionQueries::Merge,
                CrossPartitionChoice::Plan => CrossPartitionQueries::Plan,
            },
            ..SqlApiOptions::new(settings.key.as_str())
        };
        SqlApi::new(self.engine.clone(), env.clone(), options).context("cannot set up the SQL API")
    }

    fn admin_api(&self, settings: &Settings, regions: &Arc<Regions>, env: &Env) -> Result<AdminApi> {
        let options = AdminApiOptions {
            primary_key: settings.key.clone(),
            secondary_key: settings.secondary_key.clone(),
            read_only_keys: settings.read_only_key.iter().cloned().collect(),
            date_skew: settings.date_skew,
            regions: regions.clone(),
        };
        AdminApi::new(self.engine.clone(), env.clone(), options).context("cannot set up the administration")
    }

    /// Returns the Table API, one for both of its ports: what is changed through one holds for the other at once.
    fn table_api(&self, settings: &Settings, env: &Env) -> Result<&TableApi> {
        if let Some(api) = self.tables.get() {
            return Ok(api);
        }
        let options = TableApiOptions {
            key: settings.key.clone(),
            secondary_key: settings.secondary_key.clone(),
            read_only_keys: settings.read_only_key.iter().cloned().collect(),
            flavour: Flavour::Cosmos,
            // Whoever has a key of their own does not want one beside it that everybody knows.
            storage_emulator_account: settings.uses_well_known_key(),
            open_id: self.open_id.clone(),
            require_auth: true,
            date_skew: Some(settings.date_skew),
        };
        let api = TableApi::new(self.engine.clone(), env.clone(), options);
        let api = api.context("cannot set up the Table API")?;
        Ok(self.tables.get_or_init(|| api))
    }

    /// Returns the store, for its figures.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// Returns the engine, for its figures.
    pub(crate) fn engine(&self) -> Engine {
        self.engine.clone()
    }

    /// Returns what ends when another process has taken the store.
    pub(crate) fn lost(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match &self.hold {
            Some(hold) => Box::pin(hold.lost()),
            None => Box::pin(std::future::pending()),
        }
    }

    /// Returns what ends when somebody asks this node to end, where there are others.
    pub(crate) fn drained(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match &self.hold {
            Some(hold) => hold.drained(),
            None => Box::pin(std::future::pending()),
        }
    }

    /// Returns what ends once other nodes have taken what this one had, where there are others.
    pub(crate) fn leave(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match &self.hold {
            Some(hold) => hold.leave(),
            None => Box::pin(std::future::ready(())),
        }
    }

    /// Waits for writes on their way and closes the store.
    pub(crate) async fn close(self) -> Result<()> {
        let closed = self.engine.close().await;
        if let Some(path) = &self.request_record_file {
            let report = self.engine.ledger().report(self.engine.env().clock.now_ms());
            if let Err(error) = request_record::leave(path, &report) {
                tracing::error!("the record of requests is lost: {error:#}");
            }
        }
        // Not before: another may open everything as soon as it is given up.
        if let Some(hold) = self.hold {
            hold.release().await;
        }
        closed.map_err(|error| anyhow!("cannot close the store cleanly: {error}"))
    }
}

/// What the memory for caches is divided into: half of it holds items, an eighth where items lie by number, which would
/// take more as blocks, a sixteenth what look-ups have found, and the rest the store's blocks.
struct CacheShares {
    items: usize,
    numbers: usize,
    lookups: usize,
    blocks: u64,
}

impl CacheShares {
    fn of(settings: &Settings) -> CacheShares {
        let whole = settings.cache_bytes;
        let (items, numbers, lookups) = (whole / 2, whole / 8, whole / 16);
        let bytes = |share: u64| usize::try_from(share).unwrap_or(usize::MAX);
        CacheShares {
            items: bytes(items),
            numbers: bytes(numbers),
            lookups: bytes(lookups),
            blocks: whole - items - numbers - lookups,
        }
    }
}

fn durability(settings: &Settings) -> Durability {
    match settings.durability {
        DurabilityChoice::Strict => Durability::Strict,
        DurabilityChoice::Relaxed => Durability::Relaxed,
    }
}

async fn open_objects(
    url: &str,
    folder: &DataDir,
    node: Option<SocketAddr>,
    settings: &Settings,
    env: &Env,
) -> Result<(Arc<dyn Store>, objects::Hold)> {
    let shares = CacheShares::of(settings);
    let copies = folder.copies();
    let chosen = objects::ObjectSettings {
        url,
        lease: settings.lease,
        durability: durability(settings),
        block_cache_bytes: shares.blocks,
        disk_cache: (settings.store_cache_bytes > 0).then_some((&copies, settings.store_cache_bytes)),
        must_exist: false,
    };
    let (store, hold) = match node {
        None => objects::open(&chosen, env).await?,
        Some(address) => objects::join(&chosen, address, settings.key.as_str(), env).await?,
    };
    Ok((Arc::new(CachedStore::new(store, shares.items)), hold))
}

fn open_store(path: &Path, folder: &DataDir, settings: &Settings) -> Result<Arc<dyn Store>> {
    let durability = durability(settings);
    let shares = CacheShares::of(settings);
    let block_cache_bytes = shares.blocks;
    let options =
        Options { durability, block_cache_bytes, ..Options::with_write_buffer(settings.write_buffer_bytes) };
    let store = EmbeddedStore::open(folder.store(), options).map_err(|error| store_failure(path, &error))?;
    Ok(Arc::new(CachedStore::new(Arc::new(store), shares.items)))
}

/// Says what is wrong with a data folder, in words for whoever starts the program.
pub(crate) fn store_failure(path: &Path, error: &armilla_kv::Error) -> Error {
    let folder = path.display();
    match error.kind() {
        ErrorKind::Locked => anyhow!("data folder {folder} is in use by another armilla"),
        ErrorKind::NewerFormat => anyhow!("data folder {folder} was written by a newer armilla: {error}"),
        ErrorKind::Corrupt => anyhow!("data folder {folder} is damaged: {error}"),
        _ => anyhow!("cannot open data folder {folder}: {error}"),
    }
}
