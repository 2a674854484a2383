//! Measuring a model: it is built in memory with the real engine, and its operations are done there.
//!
//! Request units are those that the engine charges. Where the sample is a part of the container, what a query over
//! more than one logical partition reads is charged as often as the part goes into the whole.

use std::collections::HashMap;
use std::sync::Arc;

use armilla_engine::plans::PricedWork;
use armilla_engine::{
    Caller, ContainerDefinition, ContainerHandle, Engine, EngineOptions, Error, ItemBody, ItemName, Limits,
    ListScope, Located, Policy, Precondition, ProcedureOptions, QueryPage, QueryRequest, ScriptDefinition,
    ScriptKind, Throughput, Triggers, WorkerStart, WriteMode,
};
use armilla_env::Env;
use armilla_kv::memory::MemoryStore;
use armilla_ledger::report::ShapeKind;
use armilla_value::{Object, PartitionKey, Value, json};

use crate::limits::{PAGES_MAX, REQUESTS_MEASURED};
use crate::model::{CountedIn, Model, ModelContainer, Operation, Request, Scope, Step};

/// Request units a second of a physical partition on a copy: containers begin with as many partitions as they should.
const PARTITION_RU: u32 = 1_000;

/// The procedure that creates an item and counts it in another one of its logical partition.
const ADD_AND_COUNT: &str = "addAndCount";

/// Its text, as one would write it.
const ADD_AND_COUNT_BODY: &str = r"function addAndCount(hostId, member, item) {
    const collection = getContext().getCollection();
    collection.readDocument(`${collection.getAltLink()}/docs/${hostId}`, (error, host) => {
        if (error) throw error;
        host[member] += 1;
        collection.replaceDocument(host._self, host, (error) => {
            if (error) throw error;
            collection.createDocument(collection.getSelfLink(), item, (error) => {
                if (error) throw error;
            });
        });
    });
}";

/// What copies of a model are built with.
#[derive(Clone)]
pub struct Workshop {
    /// Where time and chance come from.
    pub env: Env,
    /// How what runs scripts is started.
    pub script_workers: WorkerStart,
}

/// A model in memory.
pub struct Trial {
    engine: Engine,
    containers: Vec<Arc<ContainerHandle>>,
    /// How often each container's sample goes into it.
    scales: Vec<f64>,
}

/// What steps have in common that cost the same.
#[derive(PartialEq, Eq, Hash)]
struct StepName {
    container: usize,
    shape: u32,
    kind: ShapeKind,
    entity: Option<String>,
    first: String,
    counted_in: Option<CountedIn>,
}

impl StepName {
    fn of(step: &Step) -> StepName {
        StepName {
            container: step.container,
            shape: step.shape,
            kind: step.kind,
            entity: step.entity.clone(),
            // Steps of one shape may want different sorts of items.
            first: format!("{:?}", step.requests.first()),
            counted_in: step.counted_in.clone(),
        }
    }
}

/// What an operation costs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measured {
    /// What its caller waits for, in request units.
    pub charge: f64,
    /// What is done in the background because of it.
    pub background: f64,
    /// Requests that its caller makes.
    pub requests: f64,
    /// Whether each of its steps was done; otherwise some are as they were charged.
    pub is_whole: bool,
}

impl Trial {
    /// Builds a model in memory.
    pub async fn of(model: &Model, workshop: &Workshop) -> Result<Trial, Error> {
        let limits = Limits { physical_partition_ru: PARTITION_RU, ..Limits::default() };
        let options = EngineOptions {
            limits,
            policy: Policy { enforced: false, burst: false },
            script_workers: workshop.script_workers.clone(),
            background: false,
            ..EngineOptions::default()
        };
        let engine =
            Engine::open_at_rest(Arc::new(MemoryStore::new()), workshop.env.clone(), options).await?;
        let mut trial = Trial { engine, containers: Vec::new(), scales: Vec::new() };
        for (place, container) in model.containers.iter().enumerate() {
            trial.add(container).await?;
            let mut steps = model.operations.iter().flat_map(|operation| &operation.steps);
            if steps.any(|step| step.container == place && step.counted_in.is_some()) {
                trial.add_procedure(container).await?;
            }
        }
        Ok(trial)
    }

    async fn add(&mut self, container: &ModelContainer) -> Result<(), Error> {
        let caller = Caller::full();
        let database = container.name.split_once('/').map_or("trial", |(database, _)| database);
        match self.engine.create_database(&caller, database, None).await {
            Ok(_) => {}
            Err(error) if matches!(error.kind, armilla_engine::ErrorKind::AlreadyExists(_)) => {}
            Err(error) => return Err(error),
        }
        let definition = ContainerDefinition::from_value(&container.definition)
            .map_err(|error| Error::invalid(error.to_string()))?;
        let name = definition.id.clone();
        let throughput = Throughput::Autoscale {
            max: container.partitions.max(1) * PARTITION_RU,
            increment_percent: None,
        };
        let is_fixed = definition.is_fixed();
        let throughput = if is_fixed { Throughput::DEFAULT } else { throughput };
        self.engine.create_container(&caller, database, definition, Some(throughput)).await?;
        let handle = self.engine.container(database, &name)?.container;
        for item in container.items.iter() {
            let Some(key) = container.key_of(item) else { continue };
            let body = ItemBody::from(json::to_string(item));
            let (mode, free, none) = (WriteMode::Upsert, Precondition::None, Triggers::default());
            self.engine.write_item(&caller, &handle, mode, Some(&key), body, free, &none).await?;
        }
        self.containers.push(handle);
        self.scales.push(container.scale);
        Ok(())
    }

    async fn add_procedure(&self, container: &ModelContainer) -> Result<(), Error> {
        let (database, _) = container.name.split_once('/').unwrap_or(("trial", ""));
        let handle = &self.containers[self.containers.len() - 1];
        let definition = ScriptDefinition {
            id: ADD_AND_COUNT.to_owned(),
            body: ADD_AND_COUNT_BODY.to_owned(),
            trigger: None,
        };
        let (caller, kind) = (Caller::full(), ScriptKind::StoredProcedure);
        self.engine.create_script(&caller, database, handle.id(), kind, &definition).await?;
        Ok(())
    }

    /// Measures every operation of the model that this was built from.
    pub async fn measure(&self, model: &Model) -> Vec<Measured> {
        let mut known: HashMap<StepName, Option<f64>> = HashMap::new();
        let mut all = Vec::with_capacity(model.operations.len());
        for operation in &model.operations {
            all.push(self.operation(model, operation, &mut known).await);
        }
        all
    }

    async fn operation(
        &self,
        model: &Model,
        operation: &Operation,
        known: &mut HashMap<StepName, Option<f64>>,
    ) -> Measured {
        let mut measured = Measured { is_whole: true, ..Measured::default() };
        for step in &operation.steps {
            let name = StepName::of(step);
            let charge = match known.get(&name) {
                Some(charge) => *charge,
                None => {
                    let charge = self.step(model, step).await;
                    known.insert(name, charge);
                    charge
                }
            };
            measured.is_whole &= charge.is_some();
            let charge = step.times * charge.unwrap_or(step.recorded);
            match step.in_background {
                true => measured.background += charge,
                false => {
                    measured.charge += charge;
                    measured.requests += step.times;
                }
            }
        }
        measured
    }

    /// Returns what a request of a step costs on the average; nothing where none can be done.
    async fn step(&self, model: &Model, step: &Step) -> Option<f64> {
        let container = model.containers.get(step.container)?;
        let handle = self.containers.get(step.container)?;
        let mut charges = Vec::new();
        match step.kind {
            ShapeKind::Create | ShapeKind::Replace | ShapeKind::Patch => {
                let items: Vec<&Value> =
                    container.items_of(step.entity.as_deref()).take(REQUESTS_MEASURED).collect();
                for item in items {
                    let charge = match &step.counted_in {
                        Some(counted_in) => self.add_and_count(container, handle, item, counted_in).await,
                        None => self.write(container, handle, item, step.kind).await,
                    };
                    charges.push(charge.ok()?);
                }
            }
            // One that was made up reads an item of its sort.
            ShapeKind::Read if step.requests.is_empty() => {
                for item in container.items_of(step.entity.as_deref()).take(REQUESTS_MEASURED) {
                    let id = item.get("id").and_then(Value::as_str)?;
                    charges.push(self.read(handle, &container.key_of(item)?, id).ok()?);
                }
            }
            _ => {
                for request in step.requests.iter().take(REQUESTS_MEASURED) {
                    let charge = match request {
                        Request::Read { key, id } => self.read(handle, key, id),
                        Request::Query { text, parameters, scope, rows_max } => {
                            let request = QueryRequest::with_parameters(text.clone(), parameters.clone());
                            let request = QueryRequest { rows_max: *rows_max, ..request };
                            self.query(handle, request, scope, self.scales[step.container], step).await
                        }
                    };
                    // What is not in the sample cannot be read.
                    charges.extend(charge.ok());
                }
            }
        }
        let count = charges.len();
        (count > 0).then(|| charges.iter().sum::<f64>() / count as f64)
    }

    fn read(&self, handle: &ContainerHandle, key: &PartitionKey, id: &str) -> Result<f64, Error> {
        let read = self.engine.read_item(&Caller::full(), handle, ItemName::Id(id), Some(key), None)?;
        Ok(units(read.charge.hundredths()))
    }

    async fn write(
        &self,
        container: &ModelContainer,
        handle: &Arc<ContainerHandle>,
        item: &Value,
        kind: ShapeKind,
    ) -> Result<f64, Error> {
        let caller = Caller::full();
        let key = container.key_of(item).ok_or_else(|| Error::invalid("an item has no partition key"))?;
        let (free, none) = (Precondition::None, Triggers::default());
        if kind == ShapeKind::Create {
            // Taken away again.
            let (again, id) = renamed(item);
            let key = container.key_of(&again).unwrap_or(key);
            let body = ItemBody::from(json::to_string(&again));
            let write =
                self.engine.write_item(&caller, handle, WriteMode::Create, Some(&key), body, free, &none);
            let charge = write.await?.charge;
            let name = ItemName::Id(&id);
            self.engine.delete_item(&caller, handle, name, Some(&key), free, &none).await?;
            return Ok(units(charge.hundredths()));
        }
        let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
        let body = ItemBody::from(json::to_string(&touched(item)));
        let name = ItemName::Id(id);
        let write = self.engine.replace_item(&caller, handle, name, Some(&key), body, free, &none);
        Ok(units(write.await?.charge.hundredths()))
    }

    /// Creates an item like another one and counts it, in one transaction that is forgotten in the end.
    async fn add_and_count(
        &self,
        container: &ModelContainer,
        handle: &Arc<ContainerHandle>,
        item: &Value,
        counted_in: &CountedIn,
    ) -> Result<f64, Error> {
        let no_key = || Error::invalid("an item has no partition key");
        let key = container.key_of(item).ok_or_else(no_key)?;
        let mut hosts = container.items_of(Some(&counted_in.entity));
        let host = hosts.find(|host| container.key_of(host).as_ref() == Some(&key));
        let host = host.and_then(|host| host.get("id")).ok_or_else(no_key)?;
        let member = Value::String(counted_in.member.clone());
        let arguments = json::to_string(&Value::Array(vec![host.clone(), member, renamed(item).0]));
        let located = Located { container: handle.clone(), by_rid: false };
        let options = ProcedureOptions { rehearses: true, ..ProcedureOptions::default() };
        let caller = Caller::full();
        let done = self.engine.execute_procedure(
            &caller,
            &located,
            ADD_AND_COUNT,
            Some(&key),
            arguments.as_bytes(),
            options,
        );
        Ok(units(done.await?.charge.hundredths()))
    }

    async fn query(
        &self,
        handle: &Arc<ContainerHandle>,
        request: QueryRequest,
        scope: &Scope,
        scale: f64,
        step: &Step,
    ) -> Result<f64, Error> {
        let caller = Caller::full();
        let mut charge = 0.0;
        match scope {
            Scope::Key(key) => {
                let request = QueryRequest { scope: ListScope::PartitionKey(key.clone()), ..request };
                for page in self.pages(handle, request).await? {
                    charge += units(page.charge.hundredths());
                }
            }
            Scope::Every => {
                let limited = step.facts.as_ref().and_then(|facts| facts.rows_max);
                let pages = self.pages(handle, request).await?;
                let rows: usize = pages.iter().map(QueryPage::row_count).sum();
                // A query that ends with its limit ends there in the whole as well.
                let scale = if limited.is_some_and(|limit| rows as u64 >= limit) { 1.0 } else { scale };
                charge += pages.iter().map(|page| scaled(page, scale)).sum::<f64>();
            }
            Scope::EachPartition => {
                for range in handle.ranges(&caller)?.ranges {
                    let scope = ListScope::Range { id: Some(range.id), min: None, max: None };
                    let request = QueryRequest { scope, ..request.clone() };
                    let page = self.engine.query_items(&caller, handle, request.clone()).await?;
                    let full = request.rows_max.is_some_and(|most| page.row_count() >= most);
                    charge += scaled(&page, if full { 1.0 } else { scale });
                }
            }
        }
        Ok(charge)
    }

    async fn pages(
        &self,
        handle: &Arc<ContainerHandle>,
        mut request: QueryRequest,
    ) -> Result<Vec<QueryPage>, Error> {
        let caller = Caller::full();
        let mut pages = Vec::new();
        loop {
            let page = self.engine.query_items(&caller, handle, request.clone()).await?;
            request.continuation = page.continuation.clone();
            pages.push(page);
            if request.continuation.is_none() || pages.len() >= PAGES_MAX {
                return Ok(pages);
            }
        }
    }
}

/// Returns what a page costs where there is more of everything that it reads, and as many partitions.
fn scaled(page: &QueryPage, scale: f64) -> f64 {
    let parts = page.price().into_iter().map(|part| {
        let often = match part.work {
            PricedWork::Partitions | PricedWork::Seeks | PricedWork::Rest => 1.0,
            _ => scale,
        };
        part.hundredths as f64 * often
    });
    parts.sum::<f64>() / 100.0
}

fn units(hundredths: u64) -> f64 {
    hundredths as f64 / 100.0
}

/// Returns an item under another id, and that id.
fn renamed(item: &Value) -> (Value, String) {
    let mut again = item.clone();
    let id = format!("{}-0", item.get("id").and_then(Value::as_str).unwrap_or("trial"));
    if let Value::Object(object) = &mut again {
        object.insert("id", Value::String(id.clone()));
    }
    (again, id)
}

/// Returns an item with one member changed, as most writes change one: the first number that is no key, else none.
fn touched(item: &Value) -> Value {
    let Value::Object(object) = item else { return item.clone() };
    let mut changed = Object::with_capacity(object.len());
    let mut is_done = false;
    for (name, value) in object.iter() {
        let value = match value {
            Value::Int64(number) if !is_done => {
                is_done = true;
                Value::Int64(number.wrapping_add(1))
            }
            value => value.clone(),
        };
        changed.insert(name, value);
    }
    Value::Object(changed)
}
