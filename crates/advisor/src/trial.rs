//! Measuring a model: it is built in memory with the real engine, and its operations are done there.
//!
//! Request units are those that the engine charges. Where the sample is a part of the container, queries over more than
//! one logical partition are planned as on the whole, and what they read is charged as often as the part goes into it.
//! What requests of the account were charged there is what they cost: of what the copy says of the same requests after a
//! change, only the difference counts ([`Trial::calibrate`]).

use std::collections::HashMap;
use std::sync::Arc;

use armilla_engine::plans::PricedWork;
use armilla_engine::{
    Caller, Consistency, ContainerDefinition, ContainerHandle, Engine, EngineOptions, Error, ItemBody,
    ItemName, Limits, ListScope, Located, Policy, Precondition, ProcedureOptions, QueryPage, QueryRequest,
    ScriptDefinition, ScriptKind, Throughput, Triggers, WorkerStart, WriteMode,
};
use armilla_env::Env;
use armilla_kv::memory::MemoryStore;
use armilla_ledger::report::ShapeKind;
use armilla_value::{Object, PartitionKey, Value, json};

use crate::facts::Facts;
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
    /// What steps were found to cost.
    costs: HashMap<StepName, Option<Cost>>,
}

/// What a request costs on a copy, on the average.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Cost {
    /// What does not depend on how many items there are, in request units.
    once: f64,
    /// What is read of the sample, in request units.
    each: f64,
    /// How often that is read in the whole.
    growth: f64,
    /// Whether more is read where there are more items: not where one logical partition is asked, or a limit reached.
    is_growing: bool,
    /// Whether it is a query of one logical partition.
    is_keyed: bool,
    /// Rows that it gives.
    rows: f64,
}

impl Cost {
    fn of_one(charge: f64) -> Cost {
        Cost { once: charge, growth: 1.0, ..Cost::default() }
    }

    fn units(&self) -> f64 {
        self.once + self.each * self.growth
    }

    /// Adds a page, of which what it reads is read so often in the whole; partitions are as many there.
    fn add(&mut self, page: &QueryPage, scale: f64) {
        let (mut once, mut each) = (0i64, 0i64);
        for part in page.price() {
            match part.work {
                PricedWork::Partitions | PricedWork::Seeks | PricedWork::Rest => once += part.hundredths,
                _ => each += part.hundredths,
            }
        }
        // The rest can be less than nothing.
        let (once, each) = (once as f64 / 100.0, each as f64 / 100.0);
        let whole = self.each * self.growth + each * scale;
        self.once += once;
        self.each += each;
        self.growth = if self.each > 0.0 { whole / self.each } else { 1.0 };
        self.rows += page.row_count() as f64;
    }

    /// Returns what all of them cost on the average, each as often as its weight says.
    fn mean(costs: &[(Cost, f64)]) -> Option<Cost> {
        let weights: f64 = costs.iter().map(|(_, weight)| weight).sum();
        if weights <= 0.0 {
            return None;
        }
        let mean = |part: fn(&Cost) -> f64| {
            costs.iter().map(|(cost, weight)| part(cost) * weight).sum::<f64>() / weights
        };
        let each = mean(|cost| cost.each);
        let growth = if each > 0.0 { mean(|cost| cost.each * cost.growth) / each } else { 1.0 };
        Some(Cost {
            once: mean(|cost| cost.once),
            each,
            growth,
            is_growing: mean(|cost| f64::from(u8::from(cost.is_growing))) > 0.5,
            is_keyed: mean(|cost| f64::from(u8::from(cost.is_keyed))) > 0.5,
            rows: mean(|cost| cost.rows),
        })
    }
}

/// How what requests were charged in the account compares with what they cost on the copy of the model as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Calibration {
    container: usize,
    kind: ShapeKind,
    found: Cost,
    /// By what what does not depend on how many items there are is to be multiplied.
    once: f64,
    /// By what the rest is.
    each: f64,
    /// How many times as many rows they gave in the account; where rows do not say it, how much more there is.
    rows: f64,
}

impl Calibration {
    /// Compares with what requests of a step's shape were charged, and what they gave.
    fn new(step: &Step, found: Cost) -> Option<Calibration> {
        if step.recorded <= 0.0 || found.units() <= 0.0 {
            return None;
        }
        let (left, each) = (step.recorded - found.once, found.each * found.growth);
        let of_all = step.recorded / found.units();
        let (once, each) = if left > 0.0 && each > 0.0 { (1.0, left / each) } else { (of_all, of_all) };
        let is_condensed = step.facts.as_ref().is_some_and(Facts::is_condensed);
        let is_known = !is_condensed && step.recorded_rows > 0.0 && found.rows > 0.0;
        let rows = if is_known { step.recorded_rows / found.rows } else { found.growth };
        Some(Calibration { container: step.container, kind: step.kind, found, once, each, rows })
    }

    /// Returns what a step costs that was found to cost so much on a copy.
    fn units(&self, step: &Step, cost: &Cost) -> f64 {
        if step.kind != self.kind {
            return cost.units();
        }
        let is_alike = cost.is_growing == self.found.is_growing && cost.is_keyed == self.found.is_keyed;
        if is_alike && step.container == self.container {
            return cost.once * self.once + cost.each * cost.growth * self.each;
        }
        // A logical partition of the copy has what the sample had of it: what was a part of the rows still is.
        let often = if self.found.is_growing && cost.is_keyed { self.rows } else { cost.growth };
        cost.once + cost.each * often
    }
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
        // Reads are charged as in the account.
        let consistency = if model.is_strong { Consistency::Strong } else { Consistency::Session };
        let options = EngineOptions {
            limits,
            consistency,
            policy: Policy { enforced: false, burst: false },
            script_workers: workshop.script_workers.clone(),
            background: false,
            ..EngineOptions::default()
        };
        let engine =
            Engine::open_at_rest(Arc::new(MemoryStore::new()), workshop.env.clone(), options).await?;
        let mut trial = Trial { engine, containers: Vec::new(), scales: Vec::new(), costs: HashMap::new() };
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

    /// Compares what the requests of a model cost on its copy with what they were charged in the account, and has the model
    /// say what to make of what is measured of it and of those that are made from it.
    pub async fn calibrate(&mut self, model: &mut Model) {
        // Of one shape the account knows the average.
        let mut shapes: HashMap<(usize, u32), Vec<(Cost, f64)>> = HashMap::new();
        let snapshot = model.clone();
        for operation in &snapshot.operations {
            for step in &operation.steps {
                if let Some(cost) = self.cost(&snapshot, step).await {
                    let weight = operation.per_second * step.times;
                    shapes.entry((step.container, step.shape)).or_default().push((cost, weight));
                }
            }
        }
        for step in model.operations.iter_mut().flat_map(|operation| &mut operation.steps) {
            let costs = shapes.get(&(step.container, step.shape));
            step.calibration = costs.and_then(|costs| Calibration::new(step, Cost::mean(costs)?));
        }
    }

    /// Measures every operation of the model that this was built from.
    pub async fn measure(&mut self, model: &Model) -> Vec<Measured> {
        let mut all = Vec::with_capacity(model.operations.len());
        for operation in &model.operations {
            all.push(self.operation(model, operation).await);
        }
        all
    }

    async fn operation(&mut self, model: &Model, operation: &Operation) -> Measured {
        let mut measured = Measured { is_whole: true, ..Measured::default() };
        for step in &operation.steps {
            let cost = self.cost(model, step).await;
            measured.is_whole &= cost.is_some();
            let charge = match (&cost, &step.calibration) {
                (Some(cost), Some(calibration)) => calibration.units(step, cost),
                (Some(cost), None) => cost.units(),
                (None, _) => step.recorded,
            };
            match step.in_background {
                true => measured.background += step.times * charge,
                false => {
                    measured.charge += step.times * charge;
                    measured.requests += step.times;
                }
            }
        }
        measured
    }

    /// Returns what a step costs, which is found out once.
    async fn cost(&mut self, model: &Model, step: &Step) -> Option<Cost> {
        let name = StepName::of(step);
        if let Some(cost) = self.costs.get(&name) {
            return *cost;
        }
        let cost = self.step(model, step).await;
        self.costs.insert(name, cost);
        cost
    }

    /// Returns what a request of a step costs on the average; nothing where none can be done.
    async fn step(&self, model: &Model, step: &Step) -> Option<Cost> {
        let container = model.containers.get(step.container)?;
        let handle = self.containers.get(step.container)?;
        let mut costs = Vec::new();
        match step.kind {
            ShapeKind::Create | ShapeKind::Replace | ShapeKind::Patch => {
                let items: Vec<&Value> =
                    container.items_of(step.entity.as_deref()).take(REQUESTS_MEASURED).collect();
                for item in items {
                    let charge = match &step.counted_in {
                        Some(counted_in) => self.add_and_count(container, handle, item, counted_in).await,
                        None => self.write(container, handle, item, step.kind).await,
                    };
                    costs.push(Cost::of_one(charge.ok()?));
                }
            }
            ShapeKind::Read => {
                for request in step.requests.iter().take(REQUESTS_MEASURED) {
                    if let Request::Read { key, id } = request {
                        // What is not in the sample cannot be read.
                        costs.extend(self.read(handle, key, id).ok().map(Cost::of_one));
                    }
                }
                // Where nothing could be, as where the request was made up, items of its sort are.
                if costs.is_empty() {
                    for item in container.items_of(step.entity.as_deref()).take(REQUESTS_MEASURED) {
                        let id = item.get("id").and_then(Value::as_str)?;
                        costs.push(Cost::of_one(self.read(handle, &container.key_of(item)?, id).ok()?));
                    }
                }
            }
            _ => {
                for request in step.requests.iter().take(REQUESTS_MEASURED) {
                    let Request::Query { text, parameters, scope, rows_max } = request else { continue };
                    let request = QueryRequest::with_parameters(text.clone(), parameters.clone());
                    let request = QueryRequest { rows_max: *rows_max, ..request };
                    let scale = self.scales[step.container];
                    costs.extend(self.query(handle, request, scope, scale, step).await.ok());
                }
            }
        }
        let costs: Vec<(Cost, f64)> = costs.into_iter().map(|cost| (cost, 1.0)).collect();
        Cost::mean(&costs)
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
    ) -> Result<Cost, Error> {
        let caller = Caller::full();
        let request = QueryRequest { magnification: scale.round().max(1.0) as u64, ..request };
        let mut cost = Cost { growth: 1.0, ..Cost::default() };
        match scope {
            Scope::Key(key) => {
                let request = QueryRequest { scope: ListScope::PartitionKey(key.clone()), ..request };
                self.pages(handle, request).await?.iter().for_each(|page| cost.add(page, 1.0));
                cost.is_keyed = true;
            }
            Scope::Every => {
                let limited = step.facts.as_ref().and_then(|facts| facts.rows_max);
                let pages = self.pages(handle, request).await?;
                let rows: usize = pages.iter().map(QueryPage::row_count).sum();
                // A query that ends with its limit ends there in the whole as well.
                cost.is_growing = limited.is_none_or(|limit| (rows as u64) < limit);
                let scale = if cost.is_growing { scale } else { 1.0 };
                pages.iter().for_each(|page| cost.add(page, scale));
            }
            Scope::EachPartition => {
                let (mut asked, mut filled) = (0, 0);
                for range in handle.ranges(&caller)?.ranges {
                    let scope = ListScope::Range { id: Some(range.id), min: None, max: None };
                    let request = QueryRequest { scope, ..request.clone() };
                    let page = self.engine.query_items(&caller, handle, request.clone()).await?;
                    let full = request.rows_max.is_some_and(|most| page.row_count() >= most);
                    cost.add(&page, if full { 1.0 } else { scale });
                    (asked, filled) = (asked + 1, filled + usize::from(full));
                }
                cost.is_growing = filled * 2 <= asked;
            }
        }
        Ok(cost)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A query that was charged 20 request units and gave so many rows.
    fn step(text: &str, recorded_rows: f64) -> Step {
        Step {
            times: 1.0,
            container: 0,
            shape: 0,
            kind: ShapeKind::Query,
            requests: Vec::new(),
            entity: None,
            facts: Facts::of(text),
            link: None,
            recorded: 20.0,
            recorded_rows,
            calibration: None,
            in_background: false,
            counted_in: None,
        }
    }

    #[test]
    fn a_copy_by_key_has_as_much_more_as_the_rows_say_or_as_the_whole_has() {
        let found = Cost { once: 10.0, each: 2.0, growth: 5.0, is_growing: true, is_keyed: false, rows: 1.0 };
        let keyed = Cost { once: 3.0, each: 1.0, growth: 1.0, is_growing: false, is_keyed: true, rows: 1.0 };
        let list = "SELECT * FROM c WHERE c.userId = @user";
        let count = "SELECT VALUE COUNT(1) FROM c WHERE c.userId = @user";
        let groups = "SELECT c.type FROM c WHERE c.userId = @user GROUP BY c.type";
        for (text, rows, often) in [(list, 4.0, 4.0), (list, 0.0, 5.0), (count, 1.0, 5.0), (groups, 1.0, 5.0)]
        {
            let before = step(text, rows);
            let calibration = Calibration::new(&before, found).unwrap();
            assert_eq!(calibration.units(&before, &found), 20.0, "{text}");
            let after = Step { container: 1, ..before };
            assert_eq!(calibration.units(&after, &keyed), 3.0 + often, "{text}");
        }
    }
}
