//! Rows in sort order, merged from all sources.
//!
//! A source gives its items in order from an index, or its rows are put in order in memory; the latter share one sorted
//! run. Ties come by source, then by item number: descending where the first key is.
//!
//! A position is a sort key and an item's number, so it does not matter how a source found its rows before.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use bytes::Bytes;

use super::ahead::with_plans;
use super::context::{Class, Context, Counter};
use super::feed::Feed;
use super::resume::ResumeFilter;
use super::sink::{Flow, Sink};
use super::sort_key::push_sort_key;
use super::sorted::{RowKey, SortedRows};
use super::start::{Start, Tie, item_of};
use super::unordered::{Outcome, Pausing, Rows, item_steps, rows_of};
use super::walk::WalkStream;
use crate::continuation::{ArcProgress, Given, Mark, Ordered, Segments, Side, Tied};
use crate::error::Result;
use crate::frame::Frame;
use crate::limits::{BATCH_ENTRIES, EXPIRY_CHECK_ITEMS};
use crate::logical::LogicalPlan;
use crate::physical::{Access, IndexSet, PhysicalPlan};
use crate::source::Source;
use crate::tuples::TupleWalk;

/// So many numbers are read from an index in the time in which one item is loaded.
const NUMBERS_PER_LOADED: u64 = 5;

/// Where an ordered walk begins.
#[derive(Clone, Copy, Default)]
pub(super) struct Beginning<'a> {
    /// Where the page before ended.
    pub(super) token: Option<&'a Ordered>,
    /// Where the client says it is.
    pub(super) resume: Option<&'a ResumeFilter>,
}

/// Walks over the rows of all sources in sort order and hands them to a sink.
pub(super) fn drive<'q, S: Sink>(
    context: &'q Context<'q>,
    plan: &'q LogicalPlan,
    beginning: Beginning<'_>,
    sink: &mut S,
) -> Result<Outcome<Ordered>> {
    let mut counter = Counter::default();
    context.sources.iter().for_each(|source| source.visit());
    let places = 0..context.sources.len();
    let physical: Vec<PhysicalPlan> =
        with_plans(context, plan, |plans| places.map(|at| plans.take(at)).collect::<Result<_>>())?;
    let mut merge = Merge { context, plan, physical: &physical, beginning, token_key: None };
    merge.token_key = merge.find_token_key()?;
    let outcome = merge.run(&mut counter, sink)?;
    context.tally.add(counter.work, counter.retrieved);
    for plan in physical {
        context.tally.keep_plan(plan);
    }
    Ok(outcome)
}

struct Merge<'q, 'm> {
    context: &'q Context<'q>,
    plan: &'q LogicalPlan,
    physical: &'m [PhysicalPlan],
    beginning: Beginning<'m>,
    /// The sort key that the token stands for, where it could be found out.
    token_key: Option<Vec<u8>>,
}

/// The row that was dealt with last.
struct Last {
    key: Bytes,
    place: usize,
    tied: Tied,
}

/// The next item of a walk: its sort key, and its source.
type Head = Reverse<(Bytes, usize)>;

impl<'q> Merge<'q, '_> {
    fn run<S: Sink>(&self, counter: &mut Counter, sink: &mut S) -> Result<Outcome<Ordered>> {
        let (context, plan) = (self.context, self.plan);
        let backwards = is_backwards(plan);
        let rows_max = sink.rows_wanted().map(|rows| rows.saturating_add(1));
        let mut sorted = SortedRows::new(&context.memory, rows_max, sink.bytes_wanted());
        let mut walks: Vec<Option<WalkStream<'q>>> = Vec::with_capacity(context.sources.len());
        let mut heads: BinaryHeap<Head> = BinaryHeap::new();
        for (place, (source, physical)) in context.sources.iter().zip(self.physical).enumerate() {
            let source: &'q dyn Source = *source;
            if self.beginning.token.is_none() {
                counter.work.partitions += 1;
                counter.work.seeks += physical.served.len() as u64;
            }
            let start = self.start(source, backwards)?;
            if let Access::Walk(planned) = &physical.access {
                let mut walk =
                    WalkStream::new(context, source, &plan.order, planned, start.map(|start| start.0));
                // Each source is taken to give as many of the rows as the others.
                let expected = rows_max.map_or(u64::MAX, |rows| {
                    let share = rows.div_ceil(context.sources.len() as u64);
                    share.saturating_mul(planned.entries_per_item)
                });
                if plan.joins.is_empty() {
                    walk.expect(expected);
                }
                let is_less = |set: &&IndexSet| set.estimate() / NUMBERS_PER_LOADED <= expected;
                if let Some(set) = planned.passing.as_ref().filter(is_less) {
                    walk.pass_over_others(set);
                }
                if let Some(step) = walk.head()? {
                    heads.push(Reverse((step.key.clone(), place)));
                }
                walks.push(Some(walk));
            } else {
                self.sort_source(place, source, physical, start, counter, &mut sorted, sink)?;
                walks.push(None);
            }
        }
        let mut last: Option<Last> = None;
        let mut dealt_with = 0;
        let meter = context.evaluator.meter();
        let mut looks = meter.looks();
        let mut ending = false;
        loop {
            let from_walk = match (heads.peek(), sorted.first()) {
                (Some(Reverse((key, place))), Some(row)) => (&key[..], *place) < (&row.key[..], row.source),
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            if ending {
                break;
            }
            let flow = if from_walk {
                let Some(Reverse((_, place))) = heads.pop() else { break };
                let Some(walk) = &mut walks[place] else { break };
                let flow = self.take_step(place, walk, counter, sink, &mut last)?;
                if let Some(step) = walk.head()? {
                    heads.push(Reverse((step.key.clone(), place)));
                }
                flow
            } else {
                let Some((row_key, row)) = sorted.pop_first() else { break };
                let flow = sink.give(row)?;
                if flow != Flow::Refused {
                    last = Some(self.last_of_row(row_key, backwards));
                }
                flow
            };
            match flow {
                Flow::More => {}
                Flow::Filled => ending = true,
                Flow::Complete => return Ok(Outcome::Complete),
                Flow::Refused => return Ok(self.stopped(last)),
            }
            meter.release(0);
            dealt_with += 1;
            let is_time_to_ask = dealt_with % EXPIRY_CHECK_ITEMS == 0 || meter.looks() != looks;
            looks = meter.looks();
            if is_time_to_ask && (context.expired)(&counter.work) && sink.can_pause() {
                ending = true;
            }
        }
        // Unlike those of a scan, the last page has no continuation, be it full or not: clients count on both.
        if heads.is_empty() && sorted.is_empty() { Ok(Outcome::Complete) } else { Ok(self.stopped(last)) }
    }

    fn stopped(&self, last: Option<Last>) -> Outcome<Ordered> {
        let Some(Last { key, place, tied }) = last else {
            // A page takes at least one row before it is full.
            return self.beginning.token.cloned().map_or(Outcome::Complete, Outcome::Stopped);
        };
        // Of the items with the same sort key, earlier pages gave some in what is right of this source, too.
        let before = self
            .beginning
            .token
            .filter(|_| self.token_key.as_deref() == Some(&key[..]))
            .map(|token| &token.ties);
        let ties = Segments::advanced(before, self.context.sources[place].bounds(), tied);
        let Mark { bytes, is_cut, .. } = Mark::new(&key, tied.number);
        Outcome::Stopped(Ordered { key: bytes, is_cut, ties })
    }

    /// Deals with the next item of a walk.
    fn take_step<S: Sink>(
        &self,
        place: usize,
        walk: &mut WalkStream<'q>,
        counter: &mut Counter,
        sink: &mut S,
        last: &mut Option<Last>,
    ) -> Result<Flow> {
        let source = self.context.sources[place];
        let Some(step) = walk.pop() else { return Ok(Flow::More) };
        let mut unfinished = None;
        let mut flow = Flow::More;
        if step.is_passed_over {
            counter.work.entries += 1;
        }
        if let Some(item) = &step.item {
            let given = self.given_by(source, step.number)?;
            let frame = Frame::item(source, item);
            let passed = self.context.evaluator.all_true(&self.physical[place].residual, &frame)?;
            counter.look_at(item.json_bytes);
            self.context.evaluator.step(item_steps(item.json_bytes))?;
            if given.is_none() {
                counter.item(&self.physical[place], Class::Walked, item.json_bytes, passed);
            }
            if passed {
                let given = given.unwrap_or_default();
                match rows_of(self.context, self.plan, &frame, given, Pausing::Anywhere, counter, sink)? {
                    Rows::Done => {}
                    Rows::Filled => flow = Flow::Filled,
                    Rows::Complete => flow = Flow::Complete,
                    Rows::Stopped(given) => {
                        unfinished = Some(given);
                        flow = Flow::Refused;
                    }
                }
            }
        }
        *last = Some(Last { key: step.key, place, tied: Tied { number: step.number, given: unfinished } });
        Ok(flow)
    }

    fn last_of_row(&self, row: RowKey, backwards: bool) -> Last {
        // With joins there may be more rows of the same item.
        let given =
            (!self.plan.joins.is_empty()).then_some(Given { rows: row.index + 1, ..Given::default() });
        let tied = Tied { number: row.number(backwards), given };
        Last { key: row.key.into(), place: row.source, tied }
    }

    /// Returns what an item has given in earlier pages, where it was not done with.
    fn given_by(&self, source: &dyn Source, number: u64) -> Result<Option<Given>> {
        let Some(token) = self.beginning.token else { return Ok(None) };
        Ok(match token.ties.side_of(&source.bounds())? {
            Side::Inside(tied) if tied.number == number => tied.given,
            _ => None,
        })
    }

    /// Returns where a source begins, and how many rows of the item there were given before.
    fn start(&self, source: &dyn Source, backwards: bool) -> Result<Option<(Start, u64)>> {
        let (from_token, given) = match self.beginning.token {
            None => (None, 0),
            Some(token) => {
                let (start, given) = self.start_of_token(token, source)?;
                (Some(start), given)
            }
        };
        let from_filter = match self.beginning.resume {
            None => None,
            Some(resume) => Some(resume.start(self.context.evaluator, &self.plan.order, source)?),
        };
        let further = Start::further(from_token.clone(), from_filter, backwards);
        Ok(further.map(|start| {
            let given = if Some(&start) == from_token.as_ref() { given } else { 0 };
            (start, given)
        }))
    }

    fn start_of_token(&self, token: &Ordered, source: &dyn Source) -> Result<(Start, u64)> {
        let side = token.ties.side_of(&source.bounds())?;
        let Some(key) = &self.token_key else {
            // The row is gone: those whose keys begin alike are given again rather than lost.
            return Ok((Start { key: token.key.clone(), tie: Tie::First }, 0));
        };
        let (tie, given) = match side {
            Side::Left => (Tie::Last, 0),
            Side::Inside(Tied { number, given: None }) => (Tie::Behind(*number), 0),
            Side::Inside(Tied { number, given: Some(given) }) => (Tie::At(*number), given.rows),
            Side::Right => (Tie::First, 0),
        };
        Ok((Start { key: key.clone(), tie }, given))
    }

    /// Returns the sort key that the token stands for: where it was cut, from the item itself.
    fn find_token_key(&self) -> Result<Option<Vec<u8>>> {
        let Some(token) = self.beginning.token else { return Ok(None) };
        if !token.is_cut {
            return Ok(Some(token.key.clone()));
        }
        let Some((_, last)) = token.ties.0.first() else { return Ok(None) };
        for source in self.context.sources {
            if let Some(item) = item_of(*source, last.number)? {
                let mut key = Vec::new();
                let frame = Frame::item(*source, &item);
                push_sort_key(self.context.evaluator, &self.plan.order, &frame, &mut key)?;
                return Ok(Some(key).filter(|key| key.starts_with(&token.key)));
            }
        }
        Ok(None)
    }

    /// Puts the rows of a source in order.
    #[expect(clippy::too_many_arguments, reason = "the parts of one walk, each owned by the caller")]
    fn sort_source<S: Sink>(
        &self,
        place: usize,
        source: &'q dyn Source,
        physical: &PhysicalPlan,
        start: Option<(Start, u64)>,
        counter: &mut Counter,
        sorted: &mut SortedRows<'_, S::Row>,
        sink: &mut S,
    ) -> Result<()> {
        let (context, plan) = (self.context, self.plan);
        let backwards = is_backwards(plan);
        // A later page sorts again, which is not counted again.
        let counts = self.beginning.token.is_none();
        let mut feed = Feed::open(context, source, &physical.access, &ArcProgress::Fresh)?;
        if counts {
            counter.work.entries += feed.rejected_at_start;
        }
        let conditions = if feed.checks_all { &plan.filter } else { &physical.residual };
        let class = feed.class;
        let mut key = Vec::new();
        while let Some(candidate) = feed.current(BATCH_ENTRIES)? {
            if counts {
                counter.work.entries += candidate.rejected;
            }
            if let Some(item) = &candidate.item {
                let frame = Frame::item(source, item);
                let passed = context.evaluator.all_true(conditions, &frame)?;
                counter.look_at(item.json_bytes);
                context.evaluator.step(item_steps(item.json_bytes))?;
                if counts {
                    counter.item(physical, class, item.json_bytes, passed);
                }
                if passed {
                    key.clear();
                    push_sort_key(context.evaluator, &plan.order, &frame, &mut key)?;
                    let number = candidate.number;
                    let admitted =
                        start.as_ref().is_none_or(|(start, _)| start.admits(&key, number, backwards));
                    let skipped = match &start {
                        Some((start, given)) if start.tie == Tie::At(number) && start.key == key => *given,
                        _ => 0,
                    };
                    let tuples = sort_item(
                        context, plan, &frame, place, number, &key, skipped, admitted, sorted, sink,
                    )?;
                    if counts {
                        counter.work.join_tuples += tuples;
                    }
                }
            }
            context.evaluator.meter().release(0);
            feed.advance();
        }
        if counts {
            counter.work.entries += feed.take_trailing();
        }
        Ok(())
    }
}

/// Adds the rows of an item to those that are put in order. Returns how many tuples its joins made.
#[expect(clippy::too_many_arguments, reason = "the parts of one walk, each owned by the caller")]
pub(super) fn sort_item<S: Sink>(
    context: &Context<'_>,
    plan: &LogicalPlan,
    frame: &Frame<'_>,
    place: usize,
    number: u64,
    key: &[u8],
    skipped: u64,
    admitted: bool,
    sorted: &mut SortedRows<'_, S::Row>,
    sink: &mut S,
) -> Result<u64> {
    let backwards = is_backwards(plan);
    let mut index = 0;
    let mut add = |frame: &Frame<'_>| -> Result<ControlFlow<()>> {
        let row_index = index;
        index += 1;
        if !admitted || row_index < skipped {
            return Ok(ControlFlow::Continue(()));
        }
        if !sorted.has_room(key, place) {
            sorted.forget_one();
        } else if let Some(row) = sink.make(frame)? {
            let bytes = S::row_bytes(&row);
            let identity = S::identity(&row);
            let row_key = RowKey::new(key.to_vec(), place, number, row_index, backwards);
            sorted.insert(row_key, row, bytes, identity)?;
        }
        Ok(ControlFlow::Continue(()))
    };
    let mut walk = TupleWalk::whole();
    if plan.joins.is_empty() {
        let _ = add(frame)?;
    } else {
        let _ = context.evaluator.for_each_tuple(&plan.joins, frame, &mut walk, &mut add)?;
    }
    Ok(walk.tuples)
}

/// Returns whether ties come by descending numbers.
pub(super) fn is_backwards(plan: &LogicalPlan) -> bool {
    plan.order.first().is_some_and(|key| key.descending)
}
