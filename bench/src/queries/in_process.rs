//! Queries through the engine, in process.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use armilla_engine::{
    Caller, ContainerHandle, Engine, Precondition, QueryRequest, RequestUnits, Triggers, WriteMode,
};
use armilla_env::Env;
use armilla_kv::{Durability, Store};
use armilla_workload::{Answer as Performed, CpuClock, Effort, FamilyCpu, Future, Worker};
use tokio::runtime::Runtime;

use super::cases::{Case, Parameter, named};
use super::orders::Orders;
use super::resting::wait_for_rest;
use super::side::{Drawn, Side};
use super::table::{Answer, Work};
use crate::in_process::{open_on, store};
use crate::items::{CONTAINER, DATABASE};
use crate::server::Setup;

/// Rows in a page: the most there may be.
pub(super) const PAGE_ROWS: usize = 10_000;

/// An engine with the orders.
pub(super) struct InProcess {
    env: Env,
    orders: Orders,
    runtime: Runtime,
    store: Arc<dyn Store>,
    engine: Engine,
    container: Arc<ContainerHandle>,
}

impl InProcess {
    /// Opens an engine on a folder that holds the orders.
    pub(super) fn open(
        setup: &Setup,
        env: &Env,
        folder: &std::path::Path,
        orders: Orders,
    ) -> Result<InProcess> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let store = store(setup, folder, Durability::Strict)?;
        let engine = open_on(store.clone(), env, &runtime)?;
        let container = engine.container(DATABASE, CONTAINER)?.container;
        Ok(InProcess { env: env.clone(), orders, runtime, store, engine, container })
    }

    pub(super) fn close(self) -> Result<()> {
        self.runtime.block_on(self.engine.close()).context("cannot close the engine")
    }
}

impl Side for InProcess {
    fn name(&self) -> &'static str {
        "engine"
    }

    fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    fn asker(&self, case: &Case, drawn: Drawn) -> Result<Box<dyn Worker>> {
        let (engine, container) = (self.engine.clone(), self.container.clone());
        Ok(Box::new(Asker { engine, container, case: *case, drawn, asked: Vec::new() }))
    }

    fn writer(&self, drawn: Drawn) -> Result<Box<dyn Worker>> {
        let (engine, container) = (self.engine.clone(), self.container.clone());
        Ok(Box::new(Writer { engine, container, drawn, prepared: (0, 0) }))
    }

    /// The time of this whole process, what asks included.
    fn cpu_clock(&self) -> Box<dyn CpuClock> {
        Box::new(FamilyCpu::of(std::process::id()))
    }

    fn answer(&self, case: &Case, index: usize) -> Result<(Answer, Option<Work>)> {
        let asked = case.parameters(self.orders, index);
        let reading = read_all(&self.engine, &self.container, case, &asked);
        let (answer, work) = self.runtime.block_on(reading)?;
        Ok((answer, Some(work)))
    }

    fn rest(&self) -> Result<()> {
        wait_for_rest(&self.env, || Ok(self.store.stats().background_jobs))
    }
}

/// Asks a query.
struct Asker {
    engine: Engine,
    container: Arc<ContainerHandle>,
    case: Case,
    drawn: Drawn,
    asked: Vec<Parameter>,
}

impl Worker for Asker {
    fn prepare(&mut self) -> usize {
        let (index, _) = self.drawn.next();
        self.asked = self.case.parameters(self.drawn.orders, index);
        0
    }

    fn perform(&mut self) -> Future<'_, Result<Performed>> {
        Box::pin(async {
            let (answer, work) = read_all(&self.engine, &self.container, &self.case, &self.asked).await?;
            let charge = Some(work.hundredths_of_units as f64 / 100.0);
            Ok(Performed::Done(Effort { charge, requests: work.pages as u64, items: answer.rows as u64 }))
        })
    }
}

/// Writes new versions of orders.
struct Writer {
    engine: Engine,
    container: Arc<ContainerHandle>,
    drawn: Drawn,
    prepared: (usize, u64),
}

impl Worker for Writer {
    fn prepare(&mut self) -> usize {
        self.prepared = self.drawn.next();
        0
    }

    fn perform(&mut self) -> Future<'_, Result<Performed>> {
        Box::pin(async {
            let (orders, (index, version)) = (self.drawn.orders, self.prepared);
            let (body, key) = (orders.body(index, version), orders.partition_key(index));
            let (caller, triggers) = (Caller::full(), Triggers::default());
            let mode = WriteMode::Upsert;
            let body = body.as_bytes().into();
            self.engine
                .write_item(&caller, &self.container, mode, Some(&key), body, Precondition::None, &triggers)
                .await?;
            Ok(Performed::Done(Effort { charge: None, requests: 1, items: 1 }))
        })
    }
}

/// Runs a query to its end.
async fn read_all(
    engine: &Engine,
    container: &Arc<ContainerHandle>,
    case: &Case,
    parameters: &[Parameter],
) -> Result<(Answer, Work)> {
    let caller = Caller::full();
    let request = QueryRequest::with_parameters(case.text, named(parameters));
    let mut request = QueryRequest { rows_max: Some(PAGE_ROWS), ..request };
    let mut answer = Answer::default();
    let mut work = Work::default();
    let mut charge = RequestUnits::ZERO;
    loop {
        let page = engine.query_items(&caller, container, request.clone()).await?;
        answer.rows += page.row_count();
        if case.is_number {
            answer.number = std::str::from_utf8(&page.rows)?.parse().ok().or(answer.number);
        }
        charge += page.charge;
        work.pages += 1;
        work.items_loaded += page.metrics.retrieved_count;
        // Counted from the first page on. What led to an item is counted with the items.
        work.entries = page.work.entries + page.work.fetched;
        if page.continuation.is_none() {
            break;
        }
        request.continuation = page.continuation;
    }
    work.hundredths_of_units = charge.hundredths();
    Ok((answer, work))
}
