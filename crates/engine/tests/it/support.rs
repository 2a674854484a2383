//! An engine on a memory store with simulated time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_engine::{
    Access, Answer, Caller, ContainerDefinition, ContainerHandle, Content, Engine, EngineOptions, Error,
    ErrorKind, ItemName, ItemWritten, Limits, OfferChange, OfferContent, PermissionDefinition, Policy,
    Precondition, ProcedureDone, ProcedureOptions, QueryRequest, RangeStatus, ReadItem, Resource,
    ScriptDefinition, ScriptKind, Throughput, TriggerRule, Triggers, WorkerStart, WriteMode,
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
    /// An account whose throughput is not enforced, because its clock stands still.
    pub(crate) async fn new() -> Fixture {
        Fixture::with_options(unthrottled()).await
    }

    pub(crate) async fn with_options(options: EngineOptions) -> Fixture {
        Fixture::on_store(Arc::new(MemoryStore::new()), options).await
    }

    pub(crate) async fn on_store(store: Arc<dyn Store>, options: EngineOptions) -> Fixture {
        let (env, clock) = Env::simulated(1);
        let engine = Engine::open(store.clone(), env.clone(), options).await.unwrap();
        Fixture { engine, store, env, clock, caller: Caller::full() }
    }

    /// Lets the splits that throughput asks for, and those that were begun, come to their end.
    pub(crate) async fn until_whole(&self, container: &str) {
        self.until(|fixture| {
            let containers = fixture.engine.partitions(&fixture.caller).unwrap();
            let found = containers.iter().find(|figures| figures.container == container).unwrap();
            !found.pending && found.partitions.iter().all(|range| range.status == RangeStatus::Online)
        })
        .await;
    }

    /// Waits until something holds; time passes meanwhile.
    pub(crate) async fn until(&self, holds: impl Fn(&Fixture) -> bool) {
        for _ in 0..20_000 {
            if holds(self) {
                return;
            }
            self.clock.advance(Duration::from_millis(10));
            // Tasks run, and so do threads that may block.
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_micros(100))).await.unwrap();
        }
        let figures = self.engine.partitions(&self.caller).unwrap();
        panic!("it does not come to hold: {figures:#?}");
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
        self.reopen_with(unthrottled()).await
    }

    pub(crate) async fn reopen_with(self, options: EngineOptions) -> Fixture {
        let engine = Engine::open(self.store.clone(), self.env.clone(), options).await.unwrap();
        Fixture { engine, ..self }
    }

    pub(crate) fn container(&self, id: &str) -> Arc<ContainerHandle> {
        self.engine.container("d", id).unwrap().container
    }

    /// Creates a script in the container `c`.
    pub(crate) async fn script(&self, kind: ScriptKind, id: &str, body: &str) -> Result<Resource, Error> {
        let definition = script(id, body);
        Ok(self.engine.create_script(&self.caller, "d", "c", kind, &definition).await?.value)
    }

    pub(crate) async fn procedure(&self, id: &str, body: &str) {
        self.script(ScriptKind::StoredProcedure, id, body).await.unwrap();
    }

    pub(crate) async fn trigger(&self, id: &str, time: &str, operation: &str, body: &str) {
        let trigger = Some(TriggerRule::parse(time, operation).unwrap());
        let definition = ScriptDefinition { trigger, ..script(id, body) };
        self.engine.create_script(&self.caller, "d", "c", ScriptKind::Trigger, &definition).await.unwrap();
    }

    /// Runs a stored procedure of the container `c`.
    pub(crate) async fn run(
        &self,
        procedure: &str,
        key: &str,
        arguments: &str,
    ) -> Result<ProcedureDone, Error> {
        let located = self.engine.container("d", "c").unwrap();
        let key = partition_key(key);
        let (caller, arguments) = (&self.caller, arguments.as_bytes());
        self.engine
            .execute_procedure(
                caller,
                &located,
                procedure,
                Some(&key),
                arguments,
                ProcedureOptions::default(),
            )
            .await
    }

    /// Stores a procedure of its own for a text, and runs it.
    pub(crate) async fn run_text(
        &self,
        body: &str,
        key: &str,
        arguments: &str,
    ) -> Result<ProcedureDone, Error> {
        let kind = ScriptKind::StoredProcedure;
        let definition = script("text", body);
        self.engine.upsert_script(&self.caller, "d", "c", kind, &definition).await?;
        self.run("text", key, arguments).await
    }

    /// Writes an item of the container `c`.
    pub(crate) async fn put(
        &self,
        mode: WriteMode,
        key: &str,
        body: &str,
        triggers: &Triggers,
    ) -> Result<ItemWritten, Error> {
        let (container, key, body) = (self.container("c"), partition_key(key), body.as_bytes());
        let none = Precondition::None;
        self.engine.write_item(&self.caller, &container, mode, Some(&key), body.into(), none, triggers).await
    }

    pub(crate) async fn upsert(&self, key: &str, body: &str) {
        self.put(WriteMode::Upsert, key, body, &Triggers::default()).await.unwrap();
    }

    /// Returns an item of the container `c` as clients see it, if it is there.
    pub(crate) fn item(&self, key: &str, id: &str) -> Option<Value> {
        match self.read_item(&self.caller, "c", id, key) {
            Ok(read) => Some(self.shown(&read.item)),
            Err(error) => {
                assert!(matches!(error.kind, ErrorKind::NotFound(_)), "{error}");
                None
            }
        }
    }

    /// Returns an item as clients see it.
    pub(crate) fn shown(&self, item: &armilla_engine::Item) -> Value {
        let mut text = Vec::new();
        item.write_json(self.container("c").identity(), &mut text);
        json::parse(&text).unwrap()
    }

    /// Returns the rows of a query over all of the container `c`, joined by commas.
    pub(crate) async fn query(&self, text: &str) -> String {
        let request = QueryRequest { rows_max: Some(1_000), ..QueryRequest::new(text) };
        let page = self.engine.query_items(&self.caller, &self.container("c"), request).await.unwrap();
        String::from_utf8(page.rows).unwrap()
    }

    /// Returns a caller with a permission.
    pub(crate) async fn granted(&self, user: &str, permission: &str) -> Caller {
        // A user may have one permission for a resource.
        let _ = self.engine.create_user(&self.caller, "d", user).await;
        let permission = self
            .engine
            .create_permission(&self.caller, "d", user, &permitted(&value(permission)), None)
            .await
            .unwrap();
        let token = token(&permission.value);
        Caller { access: Access::Granted(self.engine.authorize_token(&token).unwrap()), ..Caller::full() }
    }

    /// Lets simulated time pass until the guard is dropped.
    pub(crate) fn moving_time(&self) -> MovingTime {
        self.moving_time_by(Duration::from_millis(100))
    }

    /// The same with as much for each millisecond.
    pub(crate) fn moving_time_by(&self, step: Duration) -> MovingTime {
        let is_over = Arc::new(AtomicBool::new(false));
        let (clock, seen) = (self.clock.clone(), is_over.clone());
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                clock.advance(step);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        MovingTime { is_over, thread: Some(thread) }
    }

    pub(crate) async fn create_container(&self, id: &str) -> Result<Answer<Resource>, Error> {
        let definition = value(&format!(r#"{{"id":"{id}","partitionKey":{{"paths":["/pk"]}}}}"#));
        self.engine.create_container(&self.caller, "d", defined(&definition), None).await
    }

    pub(crate) async fn create_item(
        &self,
        caller: &Caller,
        container: &str,
        id: &str,
        key: &str,
    ) -> Result<ItemWritten, Error> {
        let located = self.engine.container("d", container)?;
        let body = format!(r#"{{"id":"{id}","pk":"{key}"}}"#);
        let partition_key = partition_key(key);
        self.engine
            .write_item(
                caller,
                &located.container,
                WriteMode::Create,
                Some(&partition_key),
                body.as_bytes().into(),
                Precondition::None,
                &Triggers::default(),
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

/// Time that passes, a hundred times as fast.
pub(crate) struct MovingTime {
    is_over: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for MovingTime {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// The usual options, with throughput that is metered and not enforced.
pub(crate) fn unthrottled() -> EngineOptions {
    EngineOptions { policy: Policy { enforced: false, burst: false }, ..usual() }
}

/// The usual options, but for how scripts run: a test program cannot be its own worker.
pub(crate) fn usual() -> EngineOptions {
    EngineOptions {
        script_workers: WorkerStart::Thread(armilla_script_worker::serve),
        limits: Limits { initial_partition_ru: 10_000, ..Limits::default() },
        ..EngineOptions::default()
    }
}

pub(crate) fn script(id: &str, body: &str) -> ScriptDefinition {
    ScriptDefinition { id: id.to_owned(), body: body.to_owned(), trigger: None }
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

/// Reads a container's definition.
pub(crate) fn defined(definition: &Value) -> ContainerDefinition {
    ContainerDefinition::from_value(definition).unwrap()
}

/// Reads what a permission is to be, in the words of the service.
pub(crate) fn permitted(definition: &Value) -> PermissionDefinition {
    let text = |name: &str| definition.get(name).unwrap().as_str().unwrap();
    let key = definition.get("resourcePartitionKey");
    let key = key.map(|key| PartitionKey::from_json(json::to_string(key).as_bytes()).unwrap());
    PermissionDefinition {
        id: text("id").to_owned(),
        mode: text("permissionMode").to_owned(),
        resource_link: text("resource").to_owned(),
        partition_key: key,
    }
}

/// Returns the token of a permission.
pub(crate) fn token(permission: &Resource) -> String {
    let Content::Permission(content) = &permission.content else { panic!("{permission:?}") };
    content.token.clone()
}

/// Returns what an offer says.
pub(crate) fn offered(offer: &Resource) -> OfferContent {
    let Content::Offer(content) = &offer.content else { panic!("{offer:?}") };
    content.clone()
}

/// Returns the change that sets manual throughput.
pub(crate) fn manual(throughput: u32) -> OfferChange {
    OfferChange::Set(Throughput::Manual(throughput))
}
