//! Advice before there is a container: items and requests from files.
//!
//! They are brought into an engine in memory as they would be into a server, and the ledger there sees the requests as it
//! sees those of a server: so there is one way to advice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{
    Caller, ContainerDefinition, Engine, EngineOptions, ErrorKind, ItemBody, ItemName, ListScope,
    PageRequest, Policy, Precondition, QueryRequest, Throughput, Triggers, WriteMode,
};
use armilla_env::{Env, SimulatedClock};
use armilla_kv::memory::MemoryStore;
use armilla_ledger::lines::{Asked, Line};
use armilla_value::{PartitionKey, Value, json};

use crate::definitions;
use crate::model::key_at;

/// An account made of files. Its time passes with the requests and not by itself, so that the same files give the same
/// advice.
pub struct Offline {
    engine: Engine,
    clock: Arc<SimulatedClock>,
    containers: BTreeMap<String, Vec<String>>,
    /// The unit of work of the last request.
    caller: Option<String>,
}

/// What lies between two units of work: longer than the ledger takes requests to belong together.
const BETWEEN_UNITS: Duration = Duration::from_millis(1_500);

const SEED: u64 = 1;

/// What is wrong with a file, and in which line.
#[derive(Debug)]
pub struct OfflineError(pub String);

impl std::fmt::Display for OfflineError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for OfflineError {}

impl From<armilla_engine::Error> for OfflineError {
    fn from(error: armilla_engine::Error) -> OfflineError {
        OfflineError(error.to_string())
    }
}

/// The database that containers of files are in.
const DATABASE: &str = "offline";

impl Offline {
    /// Begins an account without containers.
    pub async fn new() -> Result<Offline, OfflineError> {
        let (env, clock) = Env::simulated(SEED);
        let policy = Policy { enforced: false, burst: false };
        let options = EngineOptions { policy, background: false, ..EngineOptions::default() };
        let engine = Engine::open_at_rest(Arc::new(MemoryStore::new()), env, options).await?;
        engine.create_database(&Caller::full(), DATABASE, None).await?;
        Ok(Offline { engine, clock, containers: BTreeMap::new(), caller: None })
    }

    /// Returns the account.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Makes a container with a partition key; `throughput` decides how many physical partitions it has.
    pub async fn create(
        &mut self,
        name: &str,
        key_paths: &[String],
        throughput: u32,
    ) -> Result<(), OfflineError> {
        let definition = ContainerDefinition::from_value(&definitions::container(name, key_paths))
            .map_err(|error| OfflineError(format!("container '{name}': {error}")))?;
        let throughput = Throughput::Manual(throughput);
        self.engine.create_container(&Caller::full(), DATABASE, definition, Some(throughput)).await?;
        self.containers.insert(name.to_owned(), key_paths.to_vec());
        Ok(())
    }

    /// Adds an item, as JSON.
    pub async fn add(&self, container: &str, item: &[u8]) -> Result<(), OfflineError> {
        let value = json::parse(item).map_err(|error| OfflineError(error.to_string()))?;
        let key = self.key(container, &value)?;
        self.write(container, &key, WriteMode::Upsert, item).await?;
        Ok(())
    }

    fn key(&self, container: &str, item: &Value) -> Result<PartitionKey, OfflineError> {
        let paths = self.containers.get(container).ok_or_else(|| {
            let known: Vec<&str> = self.containers.keys().map(String::as_str).collect();
            OfflineError(format!("there is no container '{container}'; there are: {}", known.join(", ")))
        })?;
        key_at(item, paths).ok_or_else(|| OfflineError("the partition key cannot be read".to_owned()))
    }

    async fn write(
        &self,
        container: &str,
        key: &PartitionKey,
        mode: WriteMode,
        item: &[u8],
    ) -> Result<(), OfflineError> {
        let handle = self.engine.container(DATABASE, container)?.container;
        let (free, none) = (Precondition::None, Triggers::default());
        let body = ItemBody::from(item);
        let caller = Caller::full();
        match self.engine.write_item(&caller, &handle, mode, Some(key), body, free, &none).await {
            Ok(_) => Ok(()),
            // A log may repeat what the items have.
            Err(error) if matches!(error.kind, ErrorKind::AlreadyExists(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Does what a line of a log of requests says, as often as it says. What fails as it may have failed where it was
    /// logged, such as a read of what is not there, fails here as well and is noted so.
    pub async fn request(&mut self, line: &Line) -> Result<(), OfflineError> {
        let caller = Caller::full();
        let handle = self
            .engine
            .container(DATABASE, &line.container)
            .map_err(|_| OfflineError(format!("there is no container '{}'", line.container)))?
            .container;
        let key = line.key.as_ref();
        let (free, none) = (Precondition::None, Triggers::default());
        for turn in 0..line.count {
            // Lines that follow each other with the same caller belong together.
            if turn > 0 || line.caller.is_none() || line.caller != self.caller {
                self.clock.advance(BETWEEN_UNITS);
            }
            match &line.asked {
                Asked::Read { id } => {
                    drop(self.engine.read_item(&caller, &handle, ItemName::Id(id), key, None));
                }
                Asked::Query { text, parameters } => {
                    let mut request = QueryRequest::with_parameters(text.clone(), parameters.clone());
                    if let Some(key) = key {
                        request.scope = ListScope::PartitionKey(key.clone());
                    }
                    loop {
                        let page = self.engine.query_items(&caller, &handle, request.clone()).await?;
                        request.continuation = page.continuation;
                        if request.continuation.is_none() {
                            break;
                        }
                    }
                }
                Asked::Create { item } | Asked::Upsert { item } => {
                    let key = self.key(&line.container, item)?;
                    self.write(&line.container, &key, WriteMode::Upsert, json::to_string(item).as_bytes())
                        .await?;
                }
                Asked::Replace { id, item } => {
                    let key = self.key(&line.container, item)?;
                    let (body, name) = (ItemBody::from(json::to_string(item)), ItemName::Id(id));
                    let replaced =
                        self.engine.replace_item(&caller, &handle, name, Some(&key), body, free, &none);
                    drop(replaced.await);
                }
                Asked::Delete { id } => {
                    let name = ItemName::Id(id);
                    drop(self.engine.delete_item(&caller, &handle, name, key, free, &none).await);
                }
                Asked::List => {
                    let request = PageRequest { scope: ListScope::All, items_max: None, continuation: None };
                    drop(self.engine.list_items(&caller, &handle, request));
                }
                Asked::Patch { .. } | Asked::Procedure { .. } | Asked::Changes => {
                    return Err(OfflineError(
                        "patches, procedures and change feeds are not done without a server; leave the line out, or \
                         write what it comes to as a replace"
                            .to_owned(),
                    ));
                }
            }
        }
        self.caller.clone_from(&line.caller);
        Ok(())
    }
}
