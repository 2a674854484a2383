//! The engine that cases are run against, in memory and with a clock that stands still.
//!
//! All calls of the engine are here. Throughput is metered but not enforced: where time stands still, none comes back.
//! Queries and plans go through the operations that the APIs use. Plans are also made over the same items in a source
//! of the query engine's own, which its tests use: what they show holds of containers only if both give the same.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use armilla_engine::{
    Caller, ContainerDefinition, ContainerHandle, Detail, Engine, EngineOptions, Error, ErrorKind, ListScope,
    Policy, Precondition, QueryRequest, RangeInfo, RangeMap, RangeStatus, ScriptDefinition, ScriptKind,
    Throughput, Triggers, WorkerStart, WriteMode,
};
use armilla_env::{Clock, Env};
use armilla_index::IndexingPolicy;
use armilla_kv::memory::MemoryStore;
use armilla_query::source::{MemoryOptions, MemorySource};
use armilla_query::{CompileOptions, CompiledQuery, choose, explain};
use armilla_value::{Component, Object, PartitionKey, PropertyPath, Value, json};

use crate::rows::without_system_properties;
use crate::script::{Case, ContainerStep};

const DATABASE: &str = "queries";

/// Request units a second that give one physical partition.
const UNITS_PER_RANGE: u32 = 10_000;

/// How long a split or merge is given.
const RESHAPE_TIME_MAX: Duration = Duration::from_secs(30);

/// How often somebody looks whether it is done.
const RESHAPE_POLL: Duration = Duration::from_micros(200);

/// An account of its own.
pub(crate) struct Account {
    engine: Engine,
    caller: Caller,
    container_count: std::cell::Cell<usize>,
}

/// A container with its items.
pub(crate) struct Target {
    engine: Engine,
    caller: Caller,
    handle: Arc<ContainerHandle>,
}

/// A statement that is asked.
#[derive(Clone, Copy)]
pub(crate) struct Statement<'a> {
    pub(crate) text: &'a str,
    pub(crate) parameters: &'a [(String, Value)],
    pub(crate) key: Option<&'a str>,
}

impl<'a> From<&'a Case> for Statement<'a> {
    fn from(case: &'a Case) -> Statement<'a> {
        Statement { text: &case.text, parameters: &case.parameters, key: case.key.as_deref() }
    }
}

/// A page of rows.
pub(crate) struct Rows {
    pub(crate) rows: Vec<Value>,
    pub(crate) continuation: Option<String>,
    /// What all of the query costs up to here, but for the least that each page costs.
    pub(crate) charge_hundredths: u64,
}

/// A refusal, as clients would be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: Option<String>,
    pub(crate) place: Option<(u64, u64)>,
    pub(crate) message: String,
}

impl Account {
    pub(crate) async fn new() -> Result<Account> {
        let (env, _clock) = Env::simulated(1);
        let options = EngineOptions {
            policy: Policy { enforced: false, burst: false },
            // A program of tests cannot be its own worker.
            script_workers: WorkerStart::Thread(armilla_script_worker::serve),
            ..EngineOptions::default()
        };
        let engine = Engine::open(Arc::new(MemoryStore::new()), env, options).await?;
        let caller = Caller::full();
        engine.create_database(&caller, DATABASE, None).await?;
        Ok(Account { engine, caller, container_count: std::cell::Cell::new(0) })
    }

    /// Makes a container with this many physical partitions, and its items.
    pub(crate) async fn container(&self, step: &ContainerStep, range_count: usize) -> Result<Target> {
        let id = format!("{}-{}", step.name, self.container_count.get());
        self.container_count.set(self.container_count.get() + 1);
        let throughput = Throughput::Autoscale {
            max: UNITS_PER_RANGE * u32::try_from(range_count)?,
            increment_percent: None,
        };
        let refused = |error: Error| anyhow!("line {}: the container is refused: {error}", step.line);
        let definition = ContainerDefinition::from_value(&definition(&id, step));
        let definition = definition.map_err(|error| refused(error.into()))?;
        self.engine
            .create_container(&self.caller, DATABASE, definition, Some(throughput))
            .await
            .map_err(refused)?;
        let handle = self.engine.container(DATABASE, &id)?.container;
        let ranges = handle.ranges(&self.caller)?.ranges.len();
        if ranges != range_count {
            bail!("{throughput:?} gives {ranges} physical partitions, not {range_count}");
        }
        for (name, body) in step.functions.iter().flat_map(Value::as_object).flat_map(Object::iter) {
            let body = body.as_str().with_context(|| format!("line {}: {name} is no text", step.line))?;
            let function = ScriptDefinition { id: name.to_owned(), body: body.to_owned(), trigger: None };
            self.engine
                .create_script(&self.caller, DATABASE, &id, ScriptKind::UserDefinedFunction, &function)
                .await
                .map_err(|error| anyhow!("line {}: the function {name} is refused: {error}", step.line))?;
        }
        let paths = key_paths(step)?;
        for (line, item) in &step.items {
            let key = partition_key(item, &paths);
            let body = json::to_string(item);
            self.engine
                .write_item(
                    &self.caller,
                    &handle,
                    WriteMode::Create,
                    Some(&key),
                    body.as_bytes().into(),
                    Precondition::None,
                    &Triggers::default(),
                )
                .await
                .map_err(|error| anyhow!("line {line}: the item is refused: {error}"))?;
        }
        Ok(Target { engine: self.engine.clone(), caller: self.caller.clone(), handle })
    }
}

impl Target {
    /// Asks for a page.
    pub(crate) async fn page(
        &self,
        statement: Statement<'_>,
        rows_max: usize,
        continuation: Option<String>,
    ) -> Result<std::result::Result<Rows, Refusal>> {
        let mut request = request(statement)?;
        request.rows_max = Some(rows_max);
        request.continuation = continuation;
        let page = match self.engine.query_items(&self.caller, &self.handle, request).await {
            Ok(page) => page,
            Err(error) => return Ok(Err(refusal(&error))),
        };
        let text = [b"[", page.rows.as_slice(), b"]"].concat();
        let rows = json::parse(&text)
            .with_context(|| format!("the rows are no JSON: {}", String::from_utf8_lossy(&page.rows)))?;
        let Value::Array(rows) = rows else { bail!("the rows are no list") };
        if rows.len() != page.row_count() {
            bail!("the page says that it has {} rows and has {}", page.row_count(), rows.len());
        }
        if rows.len() > rows_max {
            bail!("the page has {} rows where {rows_max} were asked for", rows.len());
        }
        Ok(Ok(Rows {
            rows: rows.into_iter().map(without_system_properties).collect(),
            charge_hundredths: page.charge_so_far().hundredths(),
            continuation: page.continuation,
        }))
    }
}

impl Target {
    /// Returns how a statement is answered from what the container has stored in its only physical partition.
    pub(crate) async fn plan(&self, statement: Statement<'_>) -> Result<String> {
        let explained = self.engine.explain(&self.caller, &self.handle, request(statement)?).await?;
        let text = match explained.partitions.as_slice() {
            // Where nothing is to be read no partition is asked; one that is would say the same.
            [] => format!("{}Nothing", explained.plan),
            [partition] => explain(&explained.plan, &partition.plan),
            partitions => bail!("the plan is one of {} partitions", partitions.len()),
        };
        Ok(text.trim_end().to_owned())
    }

    /// Returns the physical partitions, in the order of their ranges.
    pub(crate) fn partitions(&self) -> Result<Vec<RangeInfo>> {
        Ok(self.map()?.ranges)
    }

    /// Splits a physical partition, or the widest, at a hashed key or in the middle, and waits until that is done.
    pub(crate) async fn split(&self, range_id: Option<u32>, at: Option<&str>) -> Result<()> {
        let before = self.map()?.version;
        let mut wait = Wait::new();
        while let Err(error) = self.engine.split(&self.caller, DATABASE, self.handle.id(), range_id, at).await
        {
            wait.for_turn(error).await?;
        }
        self.reshaped(before, wait).await
    }

    /// Merges two neighbouring physical partitions, and waits until that is done.
    pub(crate) async fn merge(&self, range_ids: [u32; 2]) -> Result<()> {
        let before = self.map()?.version;
        let mut wait = Wait::new();
        while let Err(error) = self.engine.merge(&self.caller, DATABASE, self.handle.id(), range_ids).await {
            wait.for_turn(error).await?;
        }
        self.reshaped(before, wait).await
    }

    fn map(&self) -> Result<RangeMap> {
        Ok(self.handle.ranges(&self.caller)?)
    }

    async fn reshaped(&self, version_before: u64, mut wait: Wait) -> Result<()> {
        loop {
            let map = self.map()?;
            if map.version != version_before {
                return Ok(());
            }
            if map.ranges.iter().all(|range| range.status == RangeStatus::Online)
                && let Some(reason) = self.failure()?
            {
                bail!("a split or merge was given up: {reason}");
            }
            wait.a_little().await?;
        }
    }

    fn failure(&self) -> Result<Option<String>> {
        let figures = self.engine.partitions(&self.caller)?;
        Ok(figures.into_iter().find(|one| one.container == self.handle.id()).and_then(|one| one.failed))
    }
}

/// Waiting for splits and merges, on a clock that does not stand still.
struct Wait {
    clock: Arc<dyn Clock>,
    began: Duration,
}

impl Wait {
    fn new() -> Wait {
        let clock = Env::system().clock;
        Wait { began: clock.elapsed(), clock }
    }

    /// Waits for the end of the split or merge before, if that is what a refusal is about.
    async fn for_turn(&mut self, error: Error) -> Result<()> {
        match error.kind {
            ErrorKind::Locked => self.a_little().await,
            _ => Err(error.into()),
        }
    }

    async fn a_little(&mut self) -> Result<()> {
        if self.clock.elapsed().saturating_sub(self.began) > RESHAPE_TIME_MAX {
            bail!("a split or merge takes longer than {RESHAPE_TIME_MAX:?}");
        }
        self.clock.sleep(RESHAPE_POLL).await;
        Ok(())
    }
}

fn request(statement: Statement<'_>) -> Result<QueryRequest> {
    let mut request = QueryRequest::with_parameters(statement.text, statement.parameters.to_vec());
    if let Some(key) = statement.key {
        request.scope = ListScope::PartitionKey(PartitionKey::from_json(key.as_bytes())?);
    }
    Ok(request)
}

/// Returns how a statement is answered from the items of a container in the query engine's own source, all in one
/// partition.
pub(crate) fn plan(step: &ContainerStep, statement: Statement<'_>) -> Result<String> {
    let policy = match &step.policy {
        Some(policy) => IndexingPolicy::from_value(policy).map_err(|error| anyhow!("{error:?}"))?,
        None => IndexingPolicy::default(),
    };
    let items = step.items.iter().map(|(_, item)| item.clone()).collect();
    let options = MemoryOptions { partition_key: key_paths(step)?, ..MemoryOptions::default() };
    let mut source = MemorySource::new(items, &policy, options)?;
    if let Some(key) = statement.key {
        source = source.logical(&PartitionKey::from_json(key.as_bytes())?);
    }
    let options = CompileOptions { parameters: statement.parameters, computed: &[], system_properties: true };
    let compiled = CompiledQuery::new(statement.text, options)?;
    let physical = choose(&compiled.plan, &source)?;
    Ok(explain(&compiled.plan, &physical).trim_end().to_owned())
}

fn definition(id: &str, step: &ContainerStep) -> Value {
    let kind = if step.key_paths.len() > 1 { "MultiHash" } else { "Hash" };
    let key = Object::from([
        ("paths", Value::from(step.key_paths.clone())),
        ("kind", kind.into()),
        ("version", 2.into()),
    ]);
    let mut definition = Object::from([("id", Value::from(id)), ("partitionKey", key.into())]);
    if let Some(policy) = &step.policy {
        definition.insert("indexingPolicy", policy.clone());
    }
    if let Some(computed) = &step.computed {
        definition.insert("computedProperties", computed.clone());
    }
    definition.into()
}

fn key_paths(step: &ContainerStep) -> Result<Vec<PropertyPath>> {
    step.key_paths
        .iter()
        .map(|path| {
            PropertyPath::parse(path).map_err(|error| anyhow!("line {}: {path}: {error:?}", step.line))
        })
        .collect()
}

fn partition_key(item: &Value, paths: &[PropertyPath]) -> PartitionKey {
    let component = |path: &PropertyPath| {
        let found = path.names().iter().try_fold(item, |value, name| value.get(name));
        match found {
            None | Some(Value::Array(_) | Value::Object(_)) => Component::Undefined,
            Some(scalar) => Component::of(scalar),
        }
    };
    PartitionKey(paths.iter().map(component).collect())
}

/// Reads an error as a client would.
fn refusal(error: &Error) -> Refusal {
    let status = match error.kind {
        ErrorKind::BadQuery | ErrorKind::CrossPartition | ErrorKind::Invalid => 400,
        _ => 500,
    };
    let plain = |message: String| Refusal { status, code: None, place: None, message };
    if error.kind != ErrorKind::BadQuery {
        return plain(match status {
            400 => error.message.clone(),
            _ => format!("{:?}: {}", error.kind, error.message),
        });
    }
    let Some(Detail::QueryErrors { text, errors }) = error.detail.as_deref() else {
        return plain(error.message.clone());
    };
    let Some(first) = errors.first() else { return plain(error.message.clone()) };
    // Clients count in UTF-16.
    let offset = |byte: usize| text[..text.floor_char_boundary(byte)].encode_utf16().count() as u64;
    Refusal {
        status,
        code: first.code.map(str::to_owned),
        place: first.span.map(|span| (offset(span.start), offset(span.end))),
        message: first.message.clone(),
    }
}
