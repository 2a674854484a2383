//! An engine on a memory store with simulated time.

use std::sync::Arc;

use armilla_engine::{
    Answer, Caller, Engine, EngineOptions, Error, ErrorKind, ItemName, Precondition, ReadItem, Resource,
    WriteMode, Written,
};
use armilla_env::{Env, SimulatedClock};
use armilla_kv::Store;
use armilla_kv::memory::MemoryStore;
use armilla_value::{PartitionKey, Value, json};

pub(crate) struct Fixture {
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) env: Env,
    pub(crate) clock: Arc<SimulatedClock>,
    pub(crate) caller: Caller,
}

impl Fixture {
    pub(crate) async fn new() -> Fixture {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let (env, clock) = Env::simulated(1);
        let engine = Engine::open(store.clone(), env.clone(), EngineOptions::default()).await.unwrap();
        Fixture { engine, store, env, clock, caller: Caller::full() }
    }

    /// One with the database `d` and the container `c`, keyed by `/pk`.
    pub(crate) async fn with_container() -> Fixture {
        let fixture = Fixture::new().await;
        fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
        fixture.create_container("c").await.unwrap();
        fixture
    }

    /// The same account, opened again.
    pub(crate) async fn reopen(self) -> Fixture {
        let engine =
            Engine::open(self.store.clone(), self.env.clone(), EngineOptions::default()).await.unwrap();
        Fixture { engine, ..self }
    }

    pub(crate) async fn create_container(&self, id: &str) -> Result<Answer<Resource>, Error> {
        let definition = value(&format!(r#"{{"id":"{id}","partitionKey":{{"paths":["/pk"]}}}}"#));
        self.engine.create_container(&self.caller, "d", &definition, None).await
    }

    pub(crate) async fn create_item(
        &self,
        caller: &Caller,
        container: &str,
        id: &str,
        key: &str,
    ) -> Result<Written, Error> {
        let located = self.engine.container("d", container)?;
        let body = format!(r#"{{"id":"{id}","pk":"{key}"}}"#);
        let partition_key = partition_key(key);
        self.engine
            .write_item(
                caller,
                &located.container,
                WriteMode::Create,
                Some(&partition_key),
                body.as_bytes(),
                Precondition::None,
            )
            .await
    }

    pub(crate) fn read_item(
        &self,
        caller: &Caller,
        container: &str,
        id: &str,
        key: &str,
    ) -> Result<ReadItem, Error> {
        let located = self.engine.container("d", container)?;
        self.engine.read_item(caller, &located.container, ItemName::Id(id), Some(&partition_key(key)), None)
    }
}

pub(crate) fn partition_key(key: &str) -> PartitionKey {
    PartitionKey::from_json(format!(r#"["{key}"]"#).as_bytes()).unwrap()
}

pub(crate) fn value(text: &str) -> Value {
    json::parse(text.as_bytes()).unwrap()
}

#[track_caller]
pub(crate) fn refused<T>(result: Result<T, Error>, kind: ErrorKind) -> Error {
    match result {
        Ok(_) => panic!("expected {kind:?}, it went through"),
        Err(error) => {
            assert_eq!(error.kind, kind, "{error}");
            error
        }
    }
}
