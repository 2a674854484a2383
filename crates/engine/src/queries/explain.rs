//! Explaining a query: how it would be answered, before anything is read for it, and what its page did and cost.
//!
//! The price of a page is not made here: [`QueryPage::price`] takes apart what was charged.

use std::sync::Arc;

use armilla_env::Env;
use armilla_query::logical::{Input, LogicalPlan};
use armilla_query::physical::PhysicalPlan;
use armilla_query::{Source, choose};

use super::lanes::Turn;
use super::oversight::{Cancellation, Patience};
use super::request::QueryRequest;
use super::source::ReaderSource;
use super::{Asker, Prepared, bad_query, scope};
use crate::access::{Action, Caller};
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::Result;
use crate::limits::{PAGE_PATIENCE, PAGE_TIME_MAX};

/// How a query is answered.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// What is done with rows, from where they begin.
    pub plan: LogicalPlan,
    /// How items are found in each physical partition that the query is about, or part of one.
    pub partitions: Vec<PartitionPlan>,
}

/// How items are found in a physical partition.
#[derive(Debug, Clone)]
pub struct PartitionPlan {
    /// The partition's id.
    pub range_id: u32,
    /// How many items it has, as far as the query is about them; about as many where only a part of it is meant.
    pub item_count: u64,
    /// How they are found.
    pub plan: PhysicalPlan,
}

impl Engine {
    /// Returns how a query would be answered now. Nothing is read for it but what is needed to choose, and nothing is
    /// charged.
    pub async fn explain(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        request: QueryRequest,
    ) -> Result<Explanation> {
        let request = request.seen_by(&caller.access);
        caller.access.check_item(Action::Read, container.rid(), None, request.partition_key())?;
        let cost = caller.read_cost(self.consistency())?;
        let (handle, env, request) = (container.clone(), self.env().clone(), Arc::new(request));
        let (session, claim) = (caller.session.clone(), caller.claim);
        self.in_turn(&request.query, |_| {
            let (handle, request, env) = (handle.clone(), request.clone(), env.clone());
            let asker = Asker { session: session.clone(), cost, claim, helpers: 0 };
            move |_: &Turn, cancellation: &Cancellation| {
                explain(&handle, &request, &asker, &env, cancellation)
            }
        })
        .await
    }
}

fn explain(
    handle: &ContainerHandle,
    request: &QueryRequest,
    asker: &Asker,
    env: &Env,
    cancellation: &Cancellation,
) -> Result<Explanation> {
    let refused = |error| bad_query(request.query.text(), error);
    let started = env.clock.elapsed();
    let patience = Patience { end: started + PAGE_TIME_MAX, cancellation: cancellation.clone() };
    let prepared = Prepared::new(handle, request, env, started + PAGE_PATIENCE, patience)?;
    let container = handle.container();
    let scopes = scope::narrow(&prepared.definition, container, request, &prepared.compiled)?;
    let plan = prepared.compiled.plan.clone();
    let mut partitions = Vec::new();
    for scope in &scopes.scopes {
        let readers = scope::readers(container, scope, &asker.session, &[]);
        for reader in readers.map_err(|error| handle.translate(error))? {
            let patience = prepared.patience.clone();
            let source = ReaderSource::new(Arc::new(reader), asker.claim, env.clock.clone(), patience);
            let source = source.magnified(request.magnification);
            partitions.push(PartitionPlan {
                range_id: source.range_id(),
                item_count: source.item_count(),
                plan: choose(innermost(&plan), &source).map_err(refused)?,
            });
        }
    }
    Ok(Explanation { plan, partitions })
}

/// Returns the plan that reads items.
fn innermost(plan: &LogicalPlan) -> &LogicalPlan {
    match &plan.input {
        Input::Derived { plan, .. } => innermost(plan),
        Input::Nothing | Input::Items => plan,
    }
}
