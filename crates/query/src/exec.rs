//! Execution: one page of a query's rows.
//!
//! Rows are pushed: an access finds items, conditions are checked, joins multiply, and a sink projects rows onto the
//! page, drops those seen before, or gathers groups. Nothing is kept between pages but the continuation token:
//!
//! | query | the next page |
//! |---|---|
//! | plain | goes on at a place of one source (`unordered`) |
//! | ORDER BY | goes on behind a sort key (`ordered`) |
//! | aggregates without GROUP BY | goes on at a place, with what was gathered so far |
//! | DISTINCT, GROUP BY, derived tables, no FROM | runs again (`pipeline`) and goes on behind the last row (`canonical`) |
//!
//! A page ends early where its time is over: between two items, and between two combinations of an item's joins. Where it
//! cannot end, because groups or distinct rows are not complete or one expression takes its time, it goes on until its
//! watch stops it, which is an error. So no page ends where it began.
//!
//! Invariant: the work that all pages count together is that of a single page with all rows.
//!
//! Not here: choosing how items are found (`choose`), expressions (`eval`), prices.

mod ahead;
mod canonical;
mod context;
mod distinct_terms;
mod entry_values;
mod feed;
mod groups;
mod index_only;
mod missing;
mod number_set;
mod numbers;
mod ordered;
mod passing;
mod pipeline;
mod resume;
mod sink;
mod sort_key;
mod sorted;
mod start;
mod term_filter;
mod unordered;
mod walk;

#[cfg(test)]
mod counting;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use armilla_functions::{Meter, PatternCache};

use self::canonical::CanonicalSink;
use self::context::{Context, Planner, Tally};
use self::groups::GroupSink;
use self::ordered::Beginning;
use self::sink::{DistinctSink, Flow, PageSink, Passage};
use self::unordered::Outcome;
use crate::budget::{Budget, Memory};
use crate::choose::choose;
use crate::compile::CompiledQuery;
use crate::continuation::{Behind, Position, Token, Unordered, invalid};
use crate::error::{Error, Result};
use crate::eval::{Environment, Evaluator};
use crate::limits::COLLECTED_NUMBERS_MAX;
use crate::logical::{Input, LogicalPlan};
use crate::physical::PhysicalPlan;
use crate::source::Source;
use crate::work::Work;

pub use self::context::Retrieved;
pub use self::resume::{ResumeFilter, ResumeValue};

/// One page of rows.
#[derive(Debug, Clone)]
pub struct Page {
    /// The rows in the form that was asked for, with what stands between them.
    pub rows: Vec<u8>,
    /// Where each of them ends in `rows`.
    pub row_ends: Vec<u32>,
    /// Where the next page begins; nothing on the last page.
    pub continuation: Option<String>,
    /// What was done since the query began, this page included.
    pub work: Work,
    /// What was done before this page.
    pub work_before: Work,
    /// Steps of computing since the query began, this page included. Unlike work they depend on the pages.
    pub steps: u64,
    /// Steps before this page.
    pub steps_before: u64,
    /// Items that this page looked at.
    pub retrieved: Retrieved,
    /// How the items of each source were found.
    pub plans: Vec<PhysicalPlan>,
    /// Whether rows with equal sort keys come by descending resource ids.
    pub reverse_scan: bool,
}

impl Page {
    /// Returns how many rows there are.
    pub fn row_count(&self) -> usize {
        self.row_ends.len()
    }
}

/// How a query goes on after a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paging {
    Unordered,
    Ordered,
    Aggregates,
    Rerun,
}

impl Paging {
    fn of(plan: &LogicalPlan) -> Paging {
        match (&plan.input, &plan.grouping) {
            (Input::Items, Some(grouping)) if grouping.keys.is_empty() => Paging::Aggregates,
            (Input::Items, None) if plan.distinct => Paging::Rerun,
            (Input::Items, None) if plan.order.is_empty() => Paging::Unordered,
            (Input::Items, None) => Paging::Ordered,
            _ => Paging::Rerun,
        }
    }
}

impl CompiledQuery {
    /// Returns whether rows come in another order where they do not fit on one page.
    #[cfg(test)]
    pub(crate) fn is_reordered(&self) -> bool {
        Paging::of(&self.plan) == Paging::Rerun && !is_constant(&self.plan)
    }

    /// Returns whether sources are read one after the other, each asked before its turn whether it may be
    /// ([`Source::is_admitted`]); otherwise a page needs them all.
    pub fn reads_in_turn(&self) -> bool {
        matches!(Paging::of(&self.plan), Paging::Unordered | Paging::Aggregates)
    }
}

/// Executes a query for one page.
///
/// `sources` are in ring order and do not overlap. A `continuation` that an earlier page gave is good for the same
/// sources, for what they were split into, and for a part of them.
pub fn execute(
    query: &CompiledQuery,
    sources: &[&dyn Source],
    budget: &Budget<'_>,
    continuation: Option<&str>,
    resume: Option<&ResumeFilter>,
    environment: &Environment<'_>,
) -> Result<Page> {
    let planner: Planner<'_> = &choose;
    let (memory, collected_max) = (Memory::new(), COLLECTED_NUMBERS_MAX);
    Request { query, sources, budget, continuation, resume, environment, planner, memory, collected_max }
        .execute()
}

/// Everything that makes a page.
struct Request<'r> {
    query: &'r CompiledQuery,
    sources: &'r [&'r dyn Source],
    budget: &'r Budget<'r>,
    continuation: Option<&'r str>,
    resume: Option<&'r ResumeFilter>,
    environment: &'r Environment<'r>,
    planner: Planner<'r>,
    memory: Memory,
    collected_max: usize,
}

impl Request<'_> {
    fn execute(self) -> Result<Page> {
        let Request {
            query,
            sources,
            budget,
            continuation,
            resume,
            environment,
            planner,
            memory,
            collected_max,
        } = self;
        let plan = &query.plan;
        let token = continuation.map(|text| Token::decode(text, query.fingerprint)).transpose()?;
        if resume.is_some() && (plan.order.is_empty() || Paging::of(plan) != Paging::Ordered) {
            return Err(Error::refused("a resume filter is only for queries with ORDER BY"));
        }
        let patterns = PatternCache::new();
        let meter = Meter::new(budget.watch);
        let evaluator = Evaluator::new(environment, &patterns, &meter);
        let context = Context {
            evaluator: &evaluator,
            sources,
            planner,
            helpers: budget.helpers,
            expired: budget.expired,
            memory,
            collected_max,
            tally: Tally::default(),
        };
        let rows_before = token.as_ref().map_or(0, |token| token.rows);
        let work_before = token.as_ref().map_or_else(Work::default, |token| token.work);
        let steps_before = token.as_ref().map_or(0, |token| token.steps);
        let paging = Paging::of(plan);
        let begin = || {
            let counts_rows = matches!(&token, Some(Token { position: Position::Rerun, .. }));
            let passage = Passage::new(&plan.window, rows_before, counts_rows);
            PageSink::new(&evaluator, &plan.projection, passage, budget)
        };
        let whole = match paging {
            _ if begin().passage.is_over() => Some(begin()),
            // What fits on one page comes as it is found. Rows in an order of which only some are wanted do not: where
            // the last of them is known differs, and what a query costs must not depend on its pages.
            Paging::Rerun
                if token.is_none()
                    && !is_constant(plan)
                    && (plan.order.is_empty() || plan.window.limit.is_none()) =>
            {
                let (page, is_left) = run_as_found(&context, plan, begin())?;
                (!is_left).then_some(page)
            }
            _ => None,
        };
        let (page, position) = match whole {
            Some(page) => (page, None),
            None => {
                context.tally.reset();
                run(&context, plan, paging, token.as_ref(), resume, begin())?
            }
        };
        let (counted, retrieved, plans) = context.tally.finish();
        let mut work = work_before;
        let mut steps = meter.steps();
        if paging == Paging::Rerun {
            work = higher(counted, work_before);
            steps = steps.max(steps_before);
        } else {
            work += counted;
            steps = steps.saturating_add(steps_before);
        }
        let rows = page.passage.rows.max(rows_before);
        let continuation =
            position.map(|position| Token { work, steps, rows, position }.encode(query.fingerprint));
        Ok(Page {
            rows: page.bytes,
            row_ends: page.ends,
            continuation,
            work,
            work_before,
            steps,
            steps_before,
            retrieved,
            plans,
            reverse_scan: paging == Paging::Ordered && ordered::is_backwards(plan),
        })
    }
}

/// Fills a page. Returns it, and where the next one begins.
fn run<'q>(
    context: &'q Context<'q>,
    plan: &'q LogicalPlan,
    paging: Paging,
    token: Option<&Token>,
    resume: Option<&ResumeFilter>,
    mut page: PageSink<'q>,
) -> Result<(PageSink<'q>, Option<Position>)> {
    let foreign = || invalid("continuation token does not fit the query");
    match paging {
        Paging::Unordered => {
            let start = match token.map(|token| &token.position) {
                None => None,
                Some(Position::Unordered(position)) if position.aggregates.is_empty() => Some(position),
                Some(_) => return Err(foreign()),
            };
            let position = match unordered::drive(context, plan, start, &mut page)? {
                Outcome::Complete => None,
                Outcome::Stopped(position) => Some(Position::Unordered(position)),
            };
            Ok((page, position))
        }
        Paging::Ordered => {
            let token = match token.map(|token| &token.position) {
                None => None,
                Some(Position::Ordered(position)) => Some(position),
                Some(_) => return Err(foreign()),
            };
            let position = match ordered::drive(context, plan, Beginning { token, resume }, &mut page)? {
                Outcome::Complete => None,
                Outcome::Stopped(position) => Some(Position::Ordered(position)),
            };
            Ok((page, position))
        }
        Paging::Aggregates => {
            let start = match token.map(|token| &token.position) {
                None => None,
                Some(Position::Unordered(position)) => Some(position),
                Some(_) => return Err(foreign()),
            };
            run_aggregates(context, plan, start, page)
        }
        Paging::Rerun if is_constant(plan) => {
            // Its rows come in the same order each time, so it is enough to count those that were given.
            let (page, is_left) = run_as_found(context, plan, page)?;
            Ok((page, is_left.then_some(Position::Rerun)))
        }
        Paging::Rerun => {
            let start = match token.map(|token| &token.position) {
                None | Some(Position::Rerun) => None,
                Some(Position::Behind(behind)) => Some(behind.clone()),
                Some(_) => return Err(foreign()),
            };
            run_again(context, plan, start, page)
        }
    }
}

/// Runs a plan from its start, passing over the rows that earlier pages gave.
fn run_again<'q>(
    context: &'q Context<'q>,
    plan: &'q LogicalPlan,
    start: Option<Behind>,
    page: PageSink<'q>,
) -> Result<(PageSink<'q>, Option<Position>)> {
    let mut sink = CanonicalSink::new(page, &plan.order, plan.distinct, start, &context.memory);
    pipeline::run(context, plan, &mut sink)?;
    sink.finish()
}

/// Returns whether a plan reads no items at all.
fn is_constant(plan: &LogicalPlan) -> bool {
    match &plan.input {
        Input::Nothing => true,
        Input::Items => false,
        Input::Derived { plan, .. } => is_constant(plan),
    }
}

/// Runs a plan from its start, and gives its rows as they are found. Returns whether something is left.
fn run_as_found<'q>(
    context: &'q Context<'q>,
    plan: &'q LogicalPlan,
    mut page: PageSink<'q>,
) -> Result<(PageSink<'q>, bool)> {
    if plan.distinct {
        let mut sink = DistinctSink::new(page, &context.memory);
        let is_left = pipeline::run(context, plan, &mut sink)?;
        return Ok((sink.page, is_left));
    }
    let is_left = pipeline::run(context, plan, &mut page)?;
    Ok((page, is_left))
}

/// Gathers aggregates over all rows; a page may end before all were seen, without a row.
fn run_aggregates<'q>(
    context: &'q Context<'q>,
    plan: &'q LogicalPlan,
    start: Option<&Unordered>,
    mut page: PageSink<'q>,
) -> Result<(PageSink<'q>, Option<Position>)> {
    let Some(grouping) = &plan.grouping else { return Ok((page, None)) };
    let mut groups = GroupSink::new(context.evaluator, grouping, &context.memory)?;
    if let Some(start) = start {
        groups.restore(&start.aggregates)?;
    }
    let outcome = unordered::drive(context, plan, start, &mut groups)?;
    pipeline::count_aggregate_rows(context, &groups);
    if let Outcome::Stopped(mut position) = outcome {
        position.aggregates = groups.state();
        return Ok((page, Some(Position::Unordered(position))));
    }
    let flow = groups.hand_to(&[], &mut page)?;
    debug_assert!(flow != Flow::Refused, "a page has room for one row");
    Ok((page, None))
}

/// Returns the higher of two counts, field by field: data may have changed since the page before.
fn higher(first: Work, second: Work) -> Work {
    Work {
        partitions: first.partitions.max(second.partitions),
        seeks: first.seeks.max(second.seeks),
        fetched: first.fetched.max(second.fetched),
        fetched_bytes: first.fetched_bytes.max(second.fetched_bytes),
        scanned: first.scanned.max(second.scanned),
        scanned_bytes: first.scanned_bytes.max(second.scanned_bytes),
        entries: first.entries.max(second.entries),
        aggregate_rows: first.aggregate_rows.max(second.aggregate_rows),
        join_tuples: first.join_tuples.max(second.join_tuples),
    }
}
