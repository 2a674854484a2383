//! Queries: joins the query engine to containers, and runs it over any other list of documents.
//!
//! Execution is synchronous and bounded by a page's budget; it runs on threads that may block, so that sockets are never
//! kept waiting by a scan. Who may compute when: `lanes`. What ends a page that does not end by itself, and one that
//! no caller waits for: `oversight`.

mod admission;
mod explain;
mod functions;
mod lanes;
mod metrics;
mod oversight;
mod read;
mod request;
mod scope;
mod source;
mod trials;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use armilla_container::definition::GeospatialType;
use armilla_container::{
    ContainerDefinition, Item, Position, QueryWork, ReadCost, RequestUnits, SessionToken, Transaction,
    query_charge,
};
use armilla_env::Env;
use armilla_governor::Claim;
use armilla_index::IndexingPolicy;
use armilla_query::gateway::{self, Features, GatewayPlan, PartitionKeyShape};
use armilla_query::limits::{PAGE_BYTES_MAX, PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX};
use armilla_query::source::{MemoryOptions, MemorySource};
use armilla_query::{
    Budget, CompileOptions, CompiledQuery, Environment, JsonRows, NoUserFunctions, Page, ResumeFilter, Row,
    Source, UserFunctions, Work, continuation_cuts, execute,
};
use armilla_value::Value;

use crate::access::{Action, Caller};
use crate::blocking;
use crate::computed;
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Detail, Error, ErrorKind, Result};
use crate::limits::{FUNCTION_GRACE, MOVE_PERIOD, MOVED_PAGE_PATIENCE, PAGE_PATIENCE, PAGE_TIME_MAX};

use admission::Admission;
use functions::ContainerFunctions;
use source::ReaderSource;

use lanes::Turn;
use metrics::Times;
use oversight::{Cancellation, Oversight, Patience};

pub use explain::{Explanation, PartitionPlan};
pub(crate) use lanes::QueryLanes;
pub use metrics::QueryMetrics;
pub(crate) use read::ReadQueries;
use request::Priced;
pub use request::{Query, QueryPage, QueryRequest};

/// Threads that help a query beside its own, where there are cores that no other query uses.
const HELPERS_MAX: usize = 3;

impl Engine {
    /// Returns a page of a query over a container's items.
    pub async fn query_items(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        request: QueryRequest,
    ) -> Result<QueryPage> {
        let Some(noting) = self.noting() else {
            return self.query_unnoted(caller, container, Arc::new(request.seen_by(&caller.access))).await;
        };
        let request = Arc::new(request.seen_by(&caller.access));
        let page = self.query_unnoted(caller, container, request.clone()).await;
        noting.query(container, &request, &page);
        page
    }

    async fn query_unnoted(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        request: Arc<QueryRequest>,
    ) -> Result<QueryPage> {
        let cost = caller.read_cost(self.consistency())?;
        caller.access.check_item(Action::Read, container.rid(), None, request.partition_key())?;
        let (handle, session, env) = (container.clone(), caller.session.clone(), self.env().clone());
        let claim = caller.claim;
        let page = || {
            self.in_turn(&request.query, |helpers| {
                let (handle, request, env) = (handle.clone(), request.clone(), env.clone());
                let asker = Asker { session: session.clone(), cost, claim, helpers };
                move |turn: &Turn, cancellation: &Cancellation| {
                    query(&handle, &request, &asker, &env, turn, cancellation)
                }
            })
        };
        let Some(among) = self.among() else { return page().await };
        // Where a partition goes from one process to another, the page is begun anew.
        let clock = &self.env().clock;
        let began = clock.elapsed();
        loop {
            match page().await {
                Err(error)
                    if error.is_moved && clock.elapsed().saturating_sub(began) < MOVED_PAGE_PATIENCE => {}
                outcome => return outcome,
            }
            tokio::select! {
                () = among.nodes().changed() => {}
                () = clock.sleep(MOVE_PERIOD) => {}
            }
        }
    }

    /// Computes a page when it is its turn, unless no caller waits for it any more. `prepare` makes what computes it,
    /// and is told how many threads may help; it is asked again where the page has to be begun anew.
    async fn in_turn<W, T>(&self, query: &Query, prepare: impl Fn(usize) -> W) -> Result<T>
    where
        T: Send + 'static,
        W: FnOnce(&Turn, &Cancellation) -> Result<T> + Send + 'static,
    {
        let cancellation = Cancellation::default();
        // Dropped with this future, be it done or not.
        let _waiting = cancellation.on_drop();
        let (calls_functions, shape) = (query.names_functions(), query.shape());
        let lanes = self.query_lanes(calls_functions);
        // A function runs in another process, and may wait for it.
        let mut turn = if calls_functions { lanes.newcomer().await } else { lanes.trial(shape).await };
        loop {
            let work = prepare(self.idle_cores().min(HELPERS_MAX));
            let (is_trial, cancellation) = (turn.is_trial(), cancellation.clone());
            let run = move || {
                let outcome = work(&turn, &cancellation);
                let again = match &outcome {
                    Ok(_) => None,
                    Err(_) if turn.is_tried() => Some(Again::AsNewcomer),
                    Err(_) => turn.is_postponed().then_some(Again::AsLong),
                };
                (again, outcome)
            };
            let (again, outcome) = match is_trial {
                true => blocking::run_here("query", run).await?,
                false => blocking::run("query", run).await?,
            };
            turn = match again {
                None => {
                    if is_trial {
                        lanes.trial_passed(shape);
                    }
                    return outcome;
                }
                Some(Again::AsNewcomer) => {
                    lanes.trial_failed(shape);
                    lanes.newcomer().await
                }
                Some(Again::AsLong) => lanes.long().await,
            };
        }
    }

    /// Returns what a client needs to run a query on every partition by itself.
    pub fn query_plan(
        &self,
        caller: &Caller,
        container: &ContainerHandle,
        text: &str,
        parameters: &[(String, Value)],
        features: Features,
    ) -> Result<GatewayPlan> {
        // A plan tells nothing of the items, so a caller that may read some of them may have it.
        caller.access.check_container(Action::Read, container.rid())?;
        let refused = |error| bad_query(text, error);
        let definition = container.definition();
        let computed = computed::readable(&definition);
        let options = CompileOptions { parameters, computed: &computed, system_properties: true };
        let read = container.read_queries().read(text).map_err(refused)?;
        let compiled = CompiledQuery::of(read, options).map_err(refused)?;
        let shape = scope::partition_key_shape(&definition);
        merging_plan(&compiled, &shape, features).map_err(refused)
    }

    /// Returns a page of a query over documents that are no items: databases, containers, offers and the like.
    pub async fn query_documents(&self, documents: Vec<Value>, request: QueryRequest) -> Result<QueryPage> {
        let (request, documents, env) = (Arc::new(request), Arc::new(documents), self.env().clone());
        self.in_turn(&request.query, |_| {
            let (request, documents, env) = (request.clone(), documents.clone(), env.clone());
            move |turn: &Turn, cancellation: &Cancellation| {
                query_list(&documents, &request, &env, turn, cancellation)
            }
        })
        .await
    }

    /// Returns how much of a changed indexing policy is carried out, from 0 to 100.
    pub fn index_progress(&self, container: &ContainerHandle) -> Result<u8> {
        container.container().index_progress().map_err(|error| container.translate(error))
    }
}

/// Returns what a client with some features needs to merge the results of several partitions.
fn merging_plan(
    compiled: &CompiledQuery,
    shape: &PartitionKeyShape,
    features: Features,
) -> armilla_query::Result<GatewayPlan> {
    let Some(read) = &compiled.read else {
        return Err(armilla_query::Error::refused("a query without a text is merged here, or not at all"));
    };
    gateway::plan(&read.ast, &compiled.bound, shape, features)
}

/// How a page that was stopped is begun again.
enum Again {
    AsNewcomer,
    AsLong,
}

/// Who asks, as far as a query wants to know.
struct Asker {
    session: SessionToken,
    cost: ReadCost,
    claim: Claim,
    /// How many threads beside its own it may use.
    helpers: usize,
}

/// Runs a query over documents that are no items.
fn query_list(
    documents: &[Value],
    request: &QueryRequest,
    env: &Env,
    turn: &Turn,
    cancellation: &Cancellation,
) -> Result<QueryPage> {
    let refused = |error| bad_query(request.query.text(), error);
    let started = env.clock.elapsed();
    let compiled = request.query.compile(None, &[], false).map_err(refused)?;
    let memory = MemoryOptions { system_properties: false, ..MemoryOptions::default() };
    let source =
        MemorySource::new(documents.to_vec(), &IndexingPolicy::default(), memory).map_err(refused)?;
    let patience = Patience { end: started + PAGE_TIME_MAX, cancellation: cancellation.clone() };
    let oversight = Oversight::new(&*env.clock, &patience, Some(turn));
    let world = World {
        geometry: false,
        functions: &NoUserFunctions,
        env,
        deadline: started + PAGE_PATIENCE,
        spent: &|_| false,
        helpers: 0,
        oversight: &oversight,
    };
    let page = run(&compiled, &[&source], request, None, &world).map_err(refused)?;
    let ending = Ending { cost: ReadCost::Single, env, started, times: Times::default() };
    Ok(finish(page, &compiled, Vec::new(), ending))
}

/// Runs a query over the partitions it is about.
fn query(
    handle: &ContainerHandle,
    request: &QueryRequest,
    asker: &Asker,
    env: &Env,
    turn: &Turn,
    cancellation: &Cancellation,
) -> Result<QueryPage> {
    let refused = |error| bad_query(request.query.text(), error);
    let started = env.clock.elapsed();
    let patience = Patience { end: started + PAGE_TIME_MAX, cancellation: cancellation.clone() };
    let prepared = Prepared::new(handle, request, env, started + PAGE_PATIENCE, patience)?;
    let container = handle.container();
    let (definition, compiled) = (&prepared.definition, &prepared.compiled);
    let scopes = scope::narrow(definition, container, request, compiled)?;
    let spans = scopes.spans_partitions || scopes.spans_keys;
    if !request.merge && spans && gateway::needs_merge(&compiled.bound) {
        let shape = scope::partition_key_shape(definition);
        let plan = merging_plan(compiled, &shape, Features::ALL).map_err(refused)?;
        let detail = Some(Box::new(Detail::Plan(Box::new(plan))));
        let message = "the caller has to put the results of several partitions together";
        return Err(Error { detail, ..Error::new(ErrorKind::QueryNeedsPlan, message) });
    }
    // A token speaks of parts of the ring; where partitions were merged since, they are read in those parts.
    let cuts = match &request.continuation {
        Some(token) => continuation_cuts(token, compiled.fingerprint).map_err(refused)?,
        None => Vec::new(),
    };
    let mut sources = Vec::new();
    for scope in &scopes.scopes {
        let readers = scope::readers(container, scope, &asker.session, &cuts);
        let readers = readers.map_err(|error| handle.translate(error))?;
        let source = |reader| {
            let (clock, patience) = (env.clock.clone(), prepared.patience.clone());
            ReaderSource::new(Arc::new(reader), asker.claim, clock, patience).magnified(request.magnification)
        };
        sources.extend(readers.into_iter().map(source));
    }
    let extent = Extent { cost: asker.cost, helpers: asker.helpers, turn: Some(turn) };
    prepared.answer(handle, sources, request, extent, env)
}

/// Runs a query of a script in its logical partition: over what its transaction's snapshot holds, but for what the
/// script has deleted since. A page ends at the deadline, as far as it is.
pub(crate) fn query_inside(
    handle: &ContainerHandle,
    request: &QueryRequest,
    transaction: &mut Transaction,
    cost: ReadCost,
    env: &Env,
    deadline: Duration,
) -> Result<QueryPage> {
    let deadline = deadline.min(env.clock.elapsed() + PAGE_PATIENCE);
    // A script ends at its deadline, too; only a row that does not come to its end is cut off.
    let patience = Patience { end: deadline + FUNCTION_GRACE, cancellation: Cancellation::default() };
    let prepared = Prepared::new(handle, request, env, deadline, patience)?;
    // One row, wherever it is made.
    let is_constant = prepared.compiled.bound.sources.is_empty();
    let mut sources = Vec::new();
    if !is_constant {
        let deleted = transaction.deleted().clone();
        let patience = prepared.patience.clone();
        sources.push(ReaderSource::without(transaction.snapshot(), deleted, env.clock.clone(), patience));
    }
    let page = prepared.answer(handle, sources, request, Extent { cost, helpers: 0, turn: None }, env);
    // What the script has read and written so far is of where the partition was: all of it is run again.
    page.map_err(|error| if error.is_moved { Error { kind: ErrorKind::Conflict, ..error } } else { error })
}

/// A query that was read, with what it needs of its container.
struct Prepared {
    started: Duration,
    compile: Duration,
    definition: Arc<ContainerDefinition>,
    compiled: CompiledQuery,
    functions: ContainerFunctions,
    /// When a page ends as far as it is.
    deadline: Duration,
    /// When it ends wherever it is.
    patience: Patience,
}

/// What a page may use.
struct Extent<'t> {
    cost: ReadCost,
    /// How many other threads may help.
    helpers: usize,
    /// Its place among other queries, where it has one.
    turn: Option<&'t Turn>,
}

impl Prepared {
    fn new(
        handle: &ContainerHandle,
        request: &QueryRequest,
        env: &Env,
        deadline: Duration,
        patience: Patience,
    ) -> Result<Prepared> {
        let refused = |error| bad_query(request.query.text(), error);
        let started = env.clock.elapsed();
        let definition = handle.container().definition();
        let computed = computed::readable(&definition);
        let compiled =
            request.query.compile(Some(handle.read_queries()), &computed, true).map_err(refused)?;
        let compile = env.clock.elapsed().saturating_sub(started);
        let functions =
            ContainerFunctions::find(handle, &compiled.functions, env, deadline, &patience.cancellation)
                .map_err(refused)?;
        Ok(Prepared { started, compile, definition, compiled, functions, deadline, patience })
    }

    fn answer(
        &self,
        handle: &ContainerHandle,
        sources: Vec<ReaderSource>,
        request: &QueryRequest,
        extent: Extent<'_>,
        env: &Env,
    ) -> Result<QueryPage> {
        let Extent { cost, helpers, turn } = extent;
        let refused = |error| bad_query(request.query.text(), error);
        let positions = sources.iter().map(ReaderSource::position).collect();
        let resume = match &request.resume_filter {
            Some(value) => Some(scope::resume_filter(value).map_err(refused)?),
            None => None,
        };
        let admission = Admission::new(&sources, request.continuation.is_none(), cost);
        if !self.compiled.reads_in_turn() {
            admission.ask_all(handle)?;
        }
        let function_places = self.compiled.functions.len();
        let oversight = Oversight::new(&*env.clock, &self.patience, turn);
        let spent = |work: &Work| admission.is_spent(&counted(work, oversight.steps(), function_places));
        let views: Vec<&dyn Source> = sources.iter().map(|source| source as &dyn Source).collect();
        let geometry = self.definition.geospatial == GeospatialType::Geometry;
        let (functions, deadline) = (&self.functions, self.deadline);
        let world =
            World { geometry, functions, env, deadline, spent: &spent, helpers, oversight: &oversight };
        let page = match run(&self.compiled, &views, request, resume.as_ref(), &world) {
            Ok(page) => page,
            Err(error) if error.kind == armilla_query::ErrorKind::Postponed => return Err(refused(error)),
            Err(error) => {
                // What failed was computed all the same.
                let charge = failure_charge(oversight.steps(), cost);
                admission.spend(charge, env.clock.elapsed().saturating_sub(self.started));
                return Err(Error { charge, ..refused(error) });
            }
        };
        // A page that ended before its first partition has nothing to show, and goes on nowhere else.
        if page.row_count() == 0
            && page.work == page.work_before
            && let Some(refusal) = admission.refusal(handle)
        {
            return Err(refusal);
        }
        let mut times = Times { compile: self.compile, ..Times::default() };
        for source in &sources {
            let (index, load) = source.times();
            times.index += index;
            times.load += load;
        }
        let ending = Ending { cost, env, started: self.started, times };
        let page = finish(page, &self.compiled, positions, ending);
        admission.spend(page.charge, env.clock.elapsed().saturating_sub(self.started));
        Ok(page)
    }
}

/// What a query sees beside its sources.
struct World<'w> {
    geometry: bool,
    functions: &'w dyn UserFunctions,
    env: &'w Env,
    /// When a page ends as far as it is.
    deadline: Duration,
    /// Whether it has used what it may, having done this.
    spent: &'w dyn Fn(&Work) -> bool,
    /// How many other threads may help.
    helpers: usize,
    /// Watches over it.
    oversight: &'w Oversight<'w>,
}

fn run(
    compiled: &CompiledQuery,
    sources: &[&dyn Source],
    request: &QueryRequest,
    resume: Option<&ResumeFilter>,
    world: &World<'_>,
) -> armilla_query::Result<Page> {
    let World { geometry, functions, env, deadline, spent, helpers, oversight } = *world;
    let expired = |work: &Work| env.clock.elapsed() >= deadline || spent(work);
    let rows_max = request.rows_max.unwrap_or(PAGE_ROWS_DEFAULT).clamp(1, PAGE_ROWS_MAX);
    let watch = |steps| oversight.look(steps);
    let form = request.form.as_deref().unwrap_or(&JsonRows);
    let budget =
        Budget { rows_max, form, bytes_max: PAGE_BYTES_MAX, expired: &expired, helpers, watch: &watch };
    let ticks = || env.clock.now_ms().saturating_mul(10_000);
    let random = || random(env);
    let environment =
        Environment { now_ticks: ticks(), current_ticks: &ticks, random: &random, geometry, functions };
    execute(compiled, sources, &budget, request.continuation.as_deref(), resume, &environment)
}

/// Returns a random number between 0 and 1.
pub(crate) fn random(env: &Env) -> f64 {
    let mut bytes = [0; 8];
    env.entropy.fill(&mut bytes);
    // 53 bits, as many as a double holds there.
    (u64::from_le_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64
}

/// What is known of a page beside its rows.
struct Ending<'e> {
    cost: ReadCost,
    env: &'e Env,
    started: Duration,
    times: Times,
}

fn finish(page: Page, compiled: &CompiledQuery, positions: Vec<Position>, ending: Ending<'_>) -> QueryPage {
    let Ending { cost, env, started, times } = ending;
    let before = counted(&page.work_before, page.steps_before, compiled.functions.len());
    let after = counted(&page.work, page.steps, compiled.functions.len());
    let charge = query_charge(&before, &after, cost);
    let metrics = QueryMetrics::new(&page, env.clock.elapsed().saturating_sub(started), times);
    QueryPage {
        plans: page.plans,
        rows: page.rows,
        row_ends: page.row_ends,
        continuation: page.continuation,
        charge,
        positions,
        work: page.work,
        priced: Priced { before, after, cost },
        metrics,
        is_ordered: !compiled.plan.order.is_empty(),
        reverse_scan: page.reverse_scan,
    }
}

/// Adds to what a query counted the calls of user-defined functions: one for each place where one stands in the text
/// and each item or row that was looked at. How many there really were depends on plans and pages.
fn counted(work: &Work, steps: u64, function_places: usize) -> QueryWork {
    let looked_at = work.fetched + work.scanned + work.entries + work.join_tuples;
    QueryWork {
        partitions: work.partitions,
        seeks: work.seeks,
        fetched: work.fetched,
        fetched_bytes: work.fetched_bytes,
        scanned: work.scanned,
        scanned_bytes: work.scanned_bytes,
        entries: work.entries,
        aggregate_rows: work.aggregate_rows,
        join_tuples: work.join_tuples,
        function_calls: function_places as u64 * looked_at,
        steps,
    }
}

/// Returns what a query costs that failed after so many steps; nothing where it failed at once.
fn failure_charge(steps: u64, cost: ReadCost) -> RequestUnits {
    let one = QueryWork { partitions: 1, ..QueryWork::default() };
    let charge = query_charge(&QueryWork::default(), &QueryWork { steps, ..one }, cost);
    let usual = query_charge(&QueryWork::default(), &one, cost);
    if charge > usual { charge } else { RequestUnits::ZERO }
}

/// Says what is wrong with a query.
pub(crate) fn bad_query(text: &str, error: armilla_query::Error) -> Error {
    use armilla_query::ErrorKind as Kind;
    let armilla_query::Error { kind, message } = error;
    match kind {
        Kind::Invalid(errors) => {
            let detail = Detail::QueryErrors { text: text.to_owned(), errors };
            Error { detail: Some(Box::new(detail)), ..Error::new(ErrorKind::BadQuery, message) }
        }
        Kind::Refused => Error::new(ErrorKind::BadQuery, message),
        Kind::TooLarge | Kind::Continuation | Kind::Unsupported => Error::invalid(message),
        Kind::TimedOut => Error::new(ErrorKind::QueryTimeout, message),
        Kind::Moved => Error { is_moved: true, ..Error::new(ErrorKind::Unavailable, message) },
        Kind::Source | Kind::Cancelled | Kind::Postponed => Error::new(ErrorKind::Unavailable, message),
    }
}

/// Returns the item that a row is, where it is a whole one.
pub fn row_item(row: &Row<'_>) -> Option<Item> {
    Item::from_raw(row.item()?.bytes.clone())
}
