//! Items in no order that was asked for: source after source, each as its access finds them.
//!
//! A page can end behind any row, and between any two tuples of an item's joins; the position says how far the current
//! source was read. Sources are counted when
//! they are opened for the first time, items when they are dealt with for the first time, so that the sum over all pages
//! does not depend on where they end.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use super::ahead::{Plans, with_plans};
use super::context::{Context, Counter};
use super::feed::Feed;
use super::index_only;
use super::sink::{Flow, Sink};
use crate::continuation::{ArcProgress, Given, Partial, Segments, Side, Spot, Unordered};
use crate::error::Result;
use crate::frame::Frame;
use crate::limits::{BATCH_ENTRIES, EXPIRY_CHECK_ITEMS};
use crate::logical::LogicalPlan;
use crate::physical::{Access, IndexOnly};
use crate::source::Source;
use crate::tuples::TupleWalk;
use crate::work::Work;

/// How a walk ended.
#[derive(Debug)]
pub(super) enum Outcome<P> {
    /// No row is left, or none is wanted.
    Complete,
    /// Something may be left from here on.
    Stopped(P),
}

/// Walks over the items of all sources and hands their rows to a sink.
pub(super) fn drive<'q, S: Sink>(
    context: &'q Context<'q>,
    plan: &'q LogicalPlan,
    start: Option<&Unordered>,
    sink: &mut S,
) -> Result<Outcome<Unordered>> {
    let mut counter = Counter::default();
    let outcome = with_plans(context, plan, |plans| walk(context, plan, start, plans, &mut counter, sink))?;
    context.tally.add(counter.work, counter.retrieved);
    Ok(outcome)
}

fn walk<'q, S: Sink>(
    context: &'q Context<'q>,
    plan: &'q LogicalPlan,
    start: Option<&Unordered>,
    plans: &mut Plans<'_, '_>,
    counter: &mut Counter,
    sink: &mut S,
) -> Result<Outcome<Unordered>> {
    let mut dealt_with = 0;
    let meter = context.evaluator.meter();
    let mut looks = meter.looks();
    // Set when the page is to end before it is full: what follows only looks whether something is left.
    let mut ending = false;
    for (at, source) in context.sources.iter().enumerate() {
        let source: &'q dyn Source = *source;
        let side = match start {
            Some(start) => start.segments.side_of(&source.bounds())?,
            None => Side::Right,
        };
        let (place, partial) = match side {
            Side::Left => continue,
            Side::Inside(Spot { place, partial }) => (place, *partial),
            Side::Right => (&ArcProgress::Fresh, None),
        };
        if sink.can_pause() && !source.is_admitted() {
            return Ok(Outcome::Stopped(position(start, source, place.clone(), partial)));
        }
        source.visit();
        let physical = plans.take(at)?;
        let is_fresh = *place == ArcProgress::Fresh;
        if is_fresh {
            counter.work.partitions += 1;
            counter.work.seeks += physical.served.len() as u64;
            if let Access::IndexOnly(only) = &physical.access
                && !matches!(only, IndexOnly::Distinct(_))
                && index_only::answer(context, source, only, counter, sink)?
            {
                context.tally.keep_plan(physical);
                continue;
            }
        }
        let mut feed = Feed::open(context, source, &physical.access, place)?;
        if is_fresh {
            counter.work.entries += feed.rejected_at_start;
        }
        let conditions = if feed.checks_all { &plan.filter } else { &physical.residual };
        let class = feed.class;
        let columns = match &physical.access {
            Access::Covered(covered) => &covered.columns[..],
            _ => &[],
        };
        let (items, bytes) = source.totals();
        let average_bytes = u32::try_from(bytes.checked_div(items).unwrap_or(0)).unwrap_or(u32::MAX);
        if conditions.is_empty() {
            feed.expect_all();
        }
        loop {
            let wanted =
                sink.rows_wanted().map_or(BATCH_ENTRIES, |rows| rows.min(BATCH_ENTRIES as u64) as usize);
            if ending {
                if feed.current(1)?.is_some() {
                    let position = position(start, source, feed.place(), partial);
                    context.tally.keep_plan(physical);
                    return Ok(Outcome::Stopped(position));
                }
                counter.work.entries += feed.take_trailing();
                break;
            }
            let Some(candidate) = feed.current(wanted)? else {
                counter.work.entries += feed.take_trailing();
                break;
            };
            let given =
                partial.filter(|partial| partial.number == candidate.number).map(|partial| partial.given);
            if given.is_none() {
                counter.work.entries += candidate.rejected;
            }
            let found = match (&candidate.item, &candidate.values) {
                (Some(item), _) => {
                    counter.look_at(item.json_bytes);
                    Some((Frame::item(source, item), item.json_bytes))
                }
                // Counted like the item that it stands for, as far as that can be told without loading it.
                (None, Some(values)) => Some((Frame::entry(columns, values), average_bytes)),
                (None, None) => None,
            };
            if let Some((frame, json_bytes)) = found {
                let passed = context.evaluator.all_true(conditions, &frame)?;
                if given.is_none() {
                    counter.item(&physical, class, json_bytes, passed);
                }
                context.evaluator.step(item_steps(json_bytes))?;
                if passed {
                    let given = given.unwrap_or_default();
                    match rows_of(context, plan, &frame, given, Pausing::Anywhere, counter, sink)? {
                        Rows::Done => {}
                        // Whether something is left is not looked at: clients count on a full page to be followed by
                        // another, be it an empty one.
                        Rows::Filled => {
                            feed.advance();
                            context.tally.keep_plan(physical);
                            return Ok(Outcome::Stopped(position(start, source, feed.place(), partial)));
                        }
                        Rows::Complete => {
                            context.tally.keep_plan(physical);
                            return Ok(Outcome::Complete);
                        }
                        Rows::Stopped(given) => {
                            let partial = Partial { number: candidate.number, given };
                            let position = position(start, source, feed.place(), Some(partial));
                            context.tally.keep_plan(physical);
                            return Ok(Outcome::Stopped(position));
                        }
                    }
                }
            }
            feed.advance();
            meter.release(0);
            dealt_with += 1;
            // A few items may take as long as many.
            let is_time_to_ask = dealt_with % EXPIRY_CHECK_ITEMS == 0 || meter.looks() != looks;
            looks = meter.looks();
            if is_time_to_ask && (context.expired)(&counter.work) && sink.can_pause() {
                ending = true;
            }
        }
        context.tally.keep_plan(physical);
    }
    Ok(Outcome::Complete)
}

fn position(
    start: Option<&Unordered>,
    source: &dyn Source,
    place: ArcProgress,
    partial: Option<Partial>,
) -> Unordered {
    let before = start.map(|start| &start.segments);
    let segments = Segments::advanced(before, source.bounds(), Spot { place, partial });
    Unordered { segments, aggregates: Vec::new() }
}

/// How the rows of an item ended.
pub(super) enum Rows {
    /// All were taken.
    Done,
    /// All were taken, and the page is full.
    Filled,
    /// No other row is wanted.
    Complete,
    /// The page is full, and there are more.
    Stopped(Given),
}

/// What looking at an item stands for.
pub(super) fn item_steps(json_bytes: u32) -> u64 {
    1 + u64::from(json_bytes) / 1_024
}

/// Where a page may end before it is full.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pausing {
    /// Between any two tuples, if the sink lets it.
    Anywhere,
    /// Nowhere, because the next page would not find the place again.
    Nowhere,
}

/// Hands the rows of an item to a sink, those excepted that it has given before.
pub(super) fn rows_of<S: Sink>(
    context: &Context<'_>,
    plan: &LogicalPlan,
    frame: &Frame<'_>,
    given: Given,
    pausing: Pausing,
    counter: &mut Counter,
    sink: &mut S,
) -> Result<Rows> {
    if plan.joins.is_empty() {
        if given.rows > 0 {
            return Ok(Rows::Done);
        }
        return Ok(match sink.take(frame)? {
            Flow::More => Rows::Done,
            Flow::Filled => Rows::Filled,
            Flow::Refused => Rows::Stopped(Given::default()),
            Flow::Complete => Rows::Complete,
        });
    }
    // Where it is known which tuple comes next, the rows before it do not come again.
    let follows_path = !given.path.is_empty();
    let rows_skipped = if follows_path { 0 } else { given.rows };
    let rows = Cell::new(if follows_path { given.rows } else { 0 });
    let sink = RefCell::new(sink);
    let pause = |tuples: u64| {
        let mut work = counter.work;
        work += Work { join_tuples: tuples, ..Work::default() };
        pausing == Pausing::Anywhere
            && rows.get() >= rows_skipped
            && (context.expired)(&work)
            && sink.borrow().can_pause()
    };
    let mut walk = TupleWalk::new(given.path, context.evaluator.meter().looks(), &pause);
    let mut end = Flow::More;
    let broken = context.evaluator.for_each_tuple(&plan.joins, frame, &mut walk, &mut |frame| {
        if rows.get() >= rows_skipped {
            match sink.borrow_mut().take(frame)? {
                Flow::More => {}
                // Whether the item has one more row is known when it comes.
                Flow::Filled => end = Flow::Filled,
                flow => {
                    end = flow;
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        rows.set(rows.get() + 1);
        Ok(ControlFlow::Continue(()))
    })?;
    let (path, tuples) = (walk.path, walk.tuples);
    let (new_tuples, all_tuples) = match follows_path {
        true => (tuples, given.tuples.saturating_add(tuples)),
        false => (tuples.saturating_sub(given.tuples), tuples.max(given.tuples)),
    };
    counter.work.join_tuples += new_tuples;
    Ok(match (broken, end) {
        (_, Flow::Complete) => Rows::Complete,
        (ControlFlow::Break(()), _) => Rows::Stopped(Given { rows: rows.get(), tuples: all_tuples, path }),
        (_, Flow::Filled) => Rows::Filled,
        _ => Rows::Done,
    })
}
