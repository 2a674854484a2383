//! Queries through the engine, in process.

use std::sync::Arc;

use anyhow::{Context, Result};
use armilla_engine::{Caller, ContainerHandle, Engine, QueryRequest, RequestUnits};
use armilla_kv::Durability;
use tokio::runtime::Runtime;

use super::cases::Case;
use super::load::SERVER;
use super::repeat::{median_us, timed_us};
use super::table::{Answer, Line, OwnFigures};
use crate::in_process::open;
use crate::items::{CONTAINER, DATABASE};
use crate::server::{Servers, Setup};

/// Rows in a page: the most there may be.
pub(super) const PAGE_ROWS: usize = 10_000;

/// Measures all queries in process.
pub(super) fn measure(servers: &Servers, setup: &Setup, cases: &[Case], lines: &mut [Line]) -> Result<()> {
    let env = &servers.env;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let store = servers.launch(SERVER).data_dir.join("store");
    let engine = open(setup, env, &runtime, &store, Durability::Strict)?;
    let container = engine.container(DATABASE, CONTAINER)?.container;
    eprintln!("queries in process");
    for (case, line) in cases.iter().zip(lines) {
        let mut last = None;
        let ask = || {
            let (us, read) = timed_us(env, || read_all(&runtime, &engine, &container, case))?;
            last = Some(read);
            Ok(us)
        };
        let us = median_us(env, setup.seconds, ask).with_context(|| format!("query {}", case.name))?;
        let (answer, mut figures) = last.context("a query was never run")?;
        figures.us = us;
        eprintln!("  {}: {} rows, {us:.0} us", case.name, answer.rows);
        line.answers.push(("engine", answer));
        line.own = Some(figures);
    }
    runtime.block_on(engine.close()).context("cannot close the engine")
}

/// Runs a query to its end.
fn read_all(
    runtime: &Runtime,
    engine: &Engine,
    container: &Arc<ContainerHandle>,
    case: &Case,
) -> Result<(Answer, OwnFigures)> {
    let caller = Caller::full();
    let mut request = QueryRequest { rows_max: Some(PAGE_ROWS), ..QueryRequest::new(case.text.as_str()) };
    let mut answer = Answer::default();
    let mut figures = OwnFigures::default();
    let mut charge = RequestUnits::ZERO;
    loop {
        let page = runtime.block_on(engine.query_items(&caller, container, request.clone()))?;
        answer.rows += page.row_count();
        if case.is_number {
            answer.number = std::str::from_utf8(&page.rows)?.parse().ok().or(answer.number);
        }
        charge += page.charge;
        figures.pages += 1;
        figures.items_loaded += page.metrics.retrieved_count;
        // Counted from the first page on. What led to an item is counted with the items.
        figures.entries = page.work.entries + page.work.fetched;
        if page.continuation.is_none() {
            break;
        }
        request.continuation = page.continuation;
    }
    figures.hundredths_of_units = charge.hundredths();
    Ok((answer, figures))
}
