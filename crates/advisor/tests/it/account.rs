//! An account in memory with a clock of its own, and what is done to it.

use std::sync::Arc;
use std::time::Duration;

use armilla_advisor::{Advice, Finding, Selection, Workshop, advise, gather};
use armilla_engine::{
    Caller, ContainerDefinition, Engine, EngineOptions, ItemBody, ItemName, ListScope, Located, Policy,
    Precondition, ProcedureOptions, QueryRequest, ScriptDefinition, ScriptKind, Throughput, Triggers,
    WorkerStart, WriteMode,
};
use armilla_env::{Env, SimulatedClock};
use armilla_kv::memory::MemoryStore;
use armilla_value::{PartitionKey, Value, json};

pub(crate) const DATABASE: &str = "shop";

pub(crate) struct Account {
    pub(crate) engine: Engine,
    pub(crate) env: Env,
    clock: Arc<SimulatedClock>,
}

impl Account {
    pub(crate) async fn new() -> Account {
        Account::with(EngineOptions::default()).await
    }

    /// An account with a limit or a default of its own.
    pub(crate) async fn with(options: EngineOptions) -> Account {
        let (env, clock) = Env::simulated(7);
        let options = EngineOptions {
            policy: Policy { enforced: false, burst: false },
            background: false,
            script_workers: WorkerStart::Thread(armilla_script_worker::serve),
            ..options
        };
        let engine = Engine::open_at_rest(Arc::new(MemoryStore::new()), env.clone(), options).await.unwrap();
        engine.create_database(&Caller::full(), DATABASE, None).await.unwrap();
        Account { engine, env, clock }
    }

    /// Makes a container with so many physical partitions.
    pub(crate) async fn container(&self, name: &str, key: &str, partitions: u32) {
        self.container_with(
            &format!(r#"{{"id":"{name}","partitionKey":{{"paths":["{key}"]}}}}"#),
            partitions,
        )
        .await;
    }

    pub(crate) async fn container_with(&self, definition: &str, partitions: u32) {
        let definition =
            ContainerDefinition::from_value(&json::parse(definition.as_bytes()).unwrap()).unwrap();
        let throughput = Throughput::Autoscale { max: partitions * 10_000, increment_percent: None };
        self.engine.create_container(&Caller::full(), DATABASE, definition, Some(throughput)).await.unwrap();
    }

    /// Makes a container with so much throughput.
    pub(crate) async fn container_at(&self, name: &str, key: &str, rate: u32) {
        let definition = format!(r#"{{"id":"{name}","partitionKey":{{"paths":["{key}"]}}}}"#);
        let definition =
            ContainerDefinition::from_value(&json::parse(definition.as_bytes()).unwrap()).unwrap();
        let throughput = Some(Throughput::Manual(rate));
        self.engine.create_container(&Caller::full(), DATABASE, definition, throughput).await.unwrap();
    }

    fn handle(&self, container: &str) -> Arc<armilla_engine::ContainerHandle> {
        self.engine.container(DATABASE, container).unwrap().container
    }

    pub(crate) async fn put(&self, container: &str, key: &str, item: &str) {
        self.write(container, WriteMode::Create, key, item).await;
    }

    pub(crate) async fn upsert(&self, container: &str, key: &str, item: &str) {
        self.write(container, WriteMode::Upsert, key, item).await;
    }

    async fn write(&self, container: &str, mode: WriteMode, key: &str, item: &str) {
        let key = PartitionKey::from_json(format!("[{key}]").as_bytes()).unwrap();
        let (handle, none) = (self.handle(container), Triggers::default());
        let body = ItemBody::from(item);
        let (caller, free) = (Caller::full(), Precondition::None);
        let write = self.engine.write_item(&caller, &handle, mode, Some(&key), body, free, &none);
        write.await.unwrap();
    }

    pub(crate) async fn replace(&self, container: &str, key: &str, id: &str, item: &str) {
        let key = PartitionKey::from_json(format!("[{key}]").as_bytes()).unwrap();
        let (handle, none) = (self.handle(container), Triggers::default());
        let body = ItemBody::from(item);
        let (name, free) = (ItemName::Id(id), Precondition::None);
        let caller = Caller::full();
        let write = self.engine.replace_item(&caller, &handle, name, Some(&key), body, free, &none);
        write.await.unwrap();
    }

    /// Creates a procedure and runs it.
    pub(crate) async fn run(&self, container: &str, key: &str, body: &str, arguments: &str) -> f64 {
        let key = PartitionKey::from_json(format!("[{key}]").as_bytes()).unwrap();
        let definition = ScriptDefinition { id: "run".to_owned(), body: body.to_owned(), trigger: None };
        let (caller, kind) = (Caller::full(), ScriptKind::StoredProcedure);
        self.engine.create_script(&caller, DATABASE, container, kind, &definition).await.unwrap();
        let located = Located { container: self.handle(container), by_rid: false };
        let (key, options) = (Some(&key), ProcedureOptions::default());
        let run = self.engine.execute_procedure(&caller, &located, "run", key, arguments.as_bytes(), options);
        run.await.unwrap().charge.hundredths() as f64 / 100.0
    }

    pub(crate) fn read(&self, container: &str, key: &str, id: &str) -> f64 {
        let key = PartitionKey::from_json(format!("[{key}]").as_bytes()).unwrap();
        let handle = self.handle(container);
        let read = self.engine.read_item(&Caller::full(), &handle, ItemName::Id(id), Some(&key), None);
        read.unwrap().charge.hundredths() as f64 / 100.0
    }

    /// Asks a query, to its last page; within one logical partition where its key is given.
    pub(crate) async fn query(
        &self,
        container: &str,
        text: &str,
        parameters: &[(&str, &str)],
        key: Option<&str>,
    ) -> f64 {
        let parameters = parameters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json::parse(value.as_bytes()).unwrap()));
        let mut request = QueryRequest::with_parameters(text, parameters.collect());
        if let Some(key) = key {
            let key = PartitionKey::from_json(format!("[{key}]").as_bytes()).unwrap();
            request.scope = ListScope::PartitionKey(key);
        }
        let handle = self.handle(container);
        let mut charge = 0.0;
        loop {
            let page = self.engine.query_items(&Caller::full(), &handle, request.clone()).await.unwrap();
            charge += page.charge.hundredths() as f64 / 100.0;
            request.continuation = page.continuation;
            if request.continuation.is_none() {
                return charge;
            }
        }
    }

    /// Returns the values of a path of what the first physical partition has.
    pub(crate) async fn keys_of_first_partition(&self, container: &str, member: &str) -> Vec<String> {
        let handle = self.handle(container);
        let first = handle.ranges(&Caller::full()).unwrap().ranges.into_iter().next().unwrap();
        let mut request =
            QueryRequest::with_parameters(format!("SELECT VALUE c.{member} FROM c"), Vec::new());
        request.scope = ListScope::Range { id: Some(first.id), min: None, max: None };
        let page = self.engine.query_items(&Caller::full(), &handle, request).await.unwrap();
        assert!(page.continuation.is_none());
        let rows = String::from_utf8(page.rows).unwrap();
        rows.split(',').map(|row| row.trim_matches('"').to_owned()).collect()
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }

    /// Forgets what was asked so far: it was the loading.
    pub(crate) fn begin(&self) {
        // Of a second in which much is done not everything is written down.
        self.pass(Duration::from_secs(60));
        self.engine.ledger().forget();
    }

    pub(crate) async fn advice(&self) -> Advice {
        self.advice_by(|_| true).await
    }

    /// What is advised by those items of the sample alone that are kept.
    pub(crate) async fn advice_by(&self, keep: impl Fn(&Value) -> bool) -> Advice {
        let script_workers = WorkerStart::Thread(armilla_script_worker::serve);
        let workshop = Workshop { env: self.env.clone(), script_workers };
        let mut evidence = gather(&self.engine, &Caller::full(), &Selection::default()).await.unwrap();
        evidence.containers.iter_mut().for_each(|container| container.sample.retain(&keep));
        advise(&evidence, &workshop).await.unwrap()
    }
}

/// Returns the findings of a rule.
pub(crate) fn found<'a>(advice: &'a Advice, rule: &str) -> Vec<&'a Finding> {
    advice.findings.iter().filter(|finding| finding.rule == rule).collect()
}

/// Returns the only finding of a rule.
pub(crate) fn only<'a>(advice: &'a Advice, rule: &str) -> &'a Finding {
    let findings = found(advice, rule);
    assert_eq!(findings.len(), 1, "{rule}: {:#?}", advice.findings);
    findings[0]
}

/// Returns what all findings are called.
pub(crate) fn rules(advice: &Advice) -> Vec<&'static str> {
    advice.findings.iter().map(|finding| finding.rule).collect()
}

pub(crate) fn text(value: &Value) -> String {
    json::to_string(value)
}

pub(crate) const HOUR: Duration = Duration::from_secs(3_600);
pub(crate) const DAY: Duration = Duration::from_secs(24 * 3_600);
