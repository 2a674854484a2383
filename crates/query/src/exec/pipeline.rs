//! Running a plan from its start, until it ends or its sink wants no more: what cannot go on from a position.
//!
//! Grouped and distinct results, derived tables and queries without FROM are run again for every page; which rows are
//! passed over then is not decided here (`canonical`).

use super::context::{Context, Counter};
use super::groups::GroupSink;
use super::ordered::{self, Beginning, sort_item};
use super::sink::{DerivedSink, Flow, Sink};
use super::sort_key::push_sort_key;
use super::sorted::SortedRows;
use super::unordered::{self, Outcome, Pausing, Rows, rows_of};
use crate::continuation::Given;
use crate::error::Result;
use crate::frame::Frame;
use crate::logical::{Input, LogicalPlan};
use crate::work::Work;

/// Runs a plan and hands its rows, grouped where it says so, to a sink. Returns whether something may be left.
pub(super) fn run<'q, S: Sink>(
    context: &'q Context<'q>,
    plan: &'q LogicalPlan,
    sink: &mut S,
) -> Result<bool> {
    let Some(grouping) = &plan.grouping else {
        return run_rows(context, plan, !plan.order.is_empty(), sink);
    };
    let mut groups = GroupSink::new(context.evaluator, grouping, &context.memory)?;
    run_rows(context, plan, false, &mut groups)?;
    count_aggregate_rows(context, &groups);
    Ok(groups.hand_to(&plan.order, sink)? == Flow::Refused)
}

/// Counts the rows that went into aggregates.
pub(super) fn count_aggregate_rows(context: &Context<'_>, groups: &GroupSink<'_>) {
    context.tally.add(Work { aggregate_rows: groups.rows, ..Work::default() }, Default::default());
}

/// Hands the rows of a plan's input to a sink. Returns whether something may be left.
fn run_rows<'q, S: Sink>(
    context: &'q Context<'q>,
    plan: &'q LogicalPlan,
    in_order: bool,
    sink: &mut S,
) -> Result<bool> {
    match &plan.input {
        Input::Items if in_order => {
            let outcome = ordered::drive(context, plan, Beginning::default(), sink)?;
            Ok(matches!(outcome, Outcome::Stopped(_)))
        }
        Input::Items => {
            let outcome = unordered::drive(context, plan, None, sink)?;
            Ok(matches!(outcome, Outcome::Stopped(_)))
        }
        Input::Nothing | Input::Derived { .. } => {
            let mut counter = Counter::default();
            let left = if in_order {
                run_sorted(context, plan, &mut counter, sink)?
            } else {
                let mut end = Flow::More;
                let given = Given::default();
                each_input(context, plan, &mut |frame| {
                    let flow =
                        match rows_of(context, plan, frame, given, Pausing::Nowhere, &mut counter, sink)? {
                            // Whether there is one more row is known when it comes.
                            Rows::Done | Rows::Filled => Flow::More,
                            Rows::Complete => Flow::Complete,
                            Rows::Stopped(_) => Flow::Refused,
                        };
                    end = flow;
                    Ok(flow)
                })?;
                end == Flow::Refused
            };
            context.tally.add(counter.work, counter.retrieved);
            Ok(left)
        }
    }
}

/// Puts the rows of an input that is no container in order. Returns whether something may be left.
fn run_sorted<'q, S: Sink>(
    context: &'q Context<'q>,
    plan: &'q LogicalPlan,
    counter: &mut Counter,
    sink: &mut S,
) -> Result<bool> {
    let rows_max = sink.rows_wanted().map(|rows| rows.saturating_add(1));
    let mut sorted = SortedRows::new(&context.memory, rows_max, sink.bytes_wanted());
    // Ties stay in the order of the input, whatever the direction.
    let backwards = ordered::is_backwards(plan);
    let mut number = 0u64;
    let mut key = Vec::new();
    each_input(context, plan, &mut |frame| {
        key.clear();
        push_sort_key(context.evaluator, &plan.order, frame, &mut key)?;
        let tie = if backwards { !number } else { number };
        number += 1;
        let tuples = sort_item(context, plan, frame, 0, tie, &key, 0, true, &mut sorted, sink)?;
        counter.work.join_tuples += tuples;
        Ok(Flow::More)
    })?;
    while let Some((_, row)) = sorted.pop_first() {
        match sink.give(row)? {
            Flow::More | Flow::Filled => {}
            Flow::Complete => return Ok(false),
            Flow::Refused => return Ok(true),
        }
    }
    Ok(sorted.forgot)
}

/// Calls `row` with each row of an input that is no container, as far as the plan's filter admits it.
fn each_input<'q>(
    context: &'q Context<'q>,
    plan: &'q LogicalPlan,
    row: &mut dyn FnMut(&Frame<'_>) -> Result<Flow>,
) -> Result<()> {
    let empty = Frame::empty();
    match &plan.input {
        Input::Nothing => {
            if context.evaluator.all_true(&plan.filter, &empty)? {
                row(&empty)?;
            }
        }
        Input::Derived { slot, plan: inner } => {
            let mut consumer = |value: armilla_functions::Datum<'_>| -> Result<Flow> {
                let frame = Frame::with(&empty, *slot, value);
                if !context.evaluator.all_true(&plan.filter, &frame)? {
                    return Ok(Flow::More);
                }
                Ok(match row(&frame)? {
                    Flow::More | Flow::Filled => Flow::More,
                    Flow::Refused | Flow::Complete => Flow::Complete,
                })
            };
            let distinct = inner.distinct.then_some(&context.memory);
            let mut sink = DerivedSink::new(
                context.evaluator,
                &inner.projection,
                &inner.window,
                distinct,
                &mut consumer,
            );
            if !sink.is_over() {
                run(context, inner, &mut sink)?;
            }
        }
        Input::Items => {}
    }
    Ok(())
}
