//! Rows put into groups, and the aggregates over each.
//!
//! Groups come out in the order in which their first row came, unless an order over the keys is asked for. Undefined is
//! a key like any other. Without keys there is one group, also over no rows.

use std::collections::{HashMap, HashSet};

use armilla_functions::{Accumulator, Aggregate, AggregateError, Datum, fingerprint, operators};
use armilla_value::{Value, json};

use super::sink::{ByFingerprint, Flow, SEEN_BYTES, Sink};
use super::sort_key::push_sort_key;
use crate::bound::{Grouping, OrderKey};
use crate::budget::Memory;
use crate::continuation::invalid;
use crate::error::{Error, Result};
use crate::eval::Evaluator;
use crate::expr::Expr;
use crate::frame::Frame;
use crate::limits::{CONTINUATION_AGGREGATES_BYTES_MAX, QUERY_MEMORY_BYTES_MAX};
use crate::rows::estimated_bytes;

/// What a group takes beside its keys.
const GROUP_BYTES: usize = 128;

/// What an accumulator takes beside what it collects.
const ACCUMULATOR_BYTES: usize = 96;

/// What the groups take, as messages say it.
const WHAT: &str = "the groups of GROUP BY";

/// Marks the end of a chain of groups with one fingerprint.
const NO_GROUP: usize = usize::MAX;

/// Groups in the making.
pub(super) struct GroupSink<'q> {
    evaluator: &'q Evaluator<'q>,
    grouping: &'q Grouping,
    memory: &'q Memory,
    groups: Vec<Group>,
    /// The newest group of each fingerprint.
    by_fingerprint: HashMap<u128, usize, ByFingerprint>,
    taken: usize,
    /// Rows that came.
    pub(super) rows: u64,
}

struct Group {
    keys: Vec<Datum<'static>>,
    accumulators: Vec<Accumulator>,
    /// The values that MAKESET has, by aggregate.
    collected: HashMap<usize, HashSet<u128, ByFingerprint>>,
    /// An older group with the same fingerprint.
    next: usize,
}

impl<'q> GroupSink<'q> {
    /// Begins without rows.
    pub(super) fn new(
        evaluator: &'q Evaluator<'q>,
        grouping: &'q Grouping,
        memory: &'q Memory,
    ) -> Result<GroupSink<'q>> {
        let mut sink = GroupSink {
            evaluator,
            grouping,
            memory,
            groups: Vec::new(),
            by_fingerprint: HashMap::default(),
            taken: 0,
            rows: 0,
        };
        if grouping.keys.is_empty() {
            sink.add_group(0, &[], NO_GROUP)?;
        }
        Ok(sink)
    }

    fn add_group(&mut self, hash: u128, keys: &[Datum<'_>], next: usize) -> Result<usize> {
        let bytes = GROUP_BYTES
            + keys.iter().map(estimated_bytes).sum::<usize>()
            + ACCUMULATOR_BYTES * self.grouping.aggregates.len();
        self.memory.take(bytes, WHAT)?;
        self.taken += bytes;
        let number = self.groups.len();
        let accumulators = self
            .grouping
            .aggregates
            .iter()
            .map(|(aggregate, _)| Accumulator::with_budget(*aggregate, QUERY_MEMORY_BYTES_MAX))
            .collect();
        let keys = keys.iter().map(|key| key.clone().into_static()).collect();
        self.groups.push(Group { keys, accumulators, collected: HashMap::new(), next });
        self.by_fingerprint.insert(hash, number);
        Ok(number)
    }

    fn find_group(&mut self, hash: u128, keys: &[Datum<'_>]) -> Result<usize> {
        let newest = self.by_fingerprint.get(&hash).copied().unwrap_or(NO_GROUP);
        let mut number = newest;
        while let Some(group) = self.groups.get(number) {
            if group.keys.iter().zip(keys).all(|(known, key)| operators::order(known, key).is_eq()) {
                return Ok(number);
            }
            number = group.next;
        }
        self.add_group(hash, keys, newest)
    }

    fn add_to(&mut self, number: usize, frame: &Frame<'_>) -> Result<()> {
        self.rows += 1;
        let group = &mut self.groups[number];
        for (place, (aggregate, argument)) in self.grouping.aggregates.iter().enumerate() {
            let value = self.evaluator.eval(argument, frame)?;
            if matches!(aggregate, Aggregate::MakeList | Aggregate::MakeSet) && value.is_defined() {
                let is_set = *aggregate == Aggregate::MakeSet;
                if is_set && !group.collected.entry(place).or_default().insert(fingerprint(&value)) {
                    continue;
                }
                let bytes = estimated_bytes(&value) + if is_set { 2 * SEEN_BYTES } else { 0 };
                self.memory.take(bytes, "the values that aggregates collect")?;
                self.taken += bytes;
            }
            let accumulator = &mut group.accumulators[place];
            let is_extreme = matches!(aggregate, Aggregate::Min | Aggregate::Max);
            let before = if is_extreme { accumulator.weight_bytes() } else { 0 };
            accumulator.add(&value).map_err(aggregate_error)?;
            if is_extreme {
                let grown = accumulator.weight_bytes().saturating_sub(before);
                self.memory.take(grown, "the least and greatest values")?;
                self.taken += grown;
            }
        }
        Ok(())
    }

    /// Hands the groups to a sink, in order. Returns what it said to the last one.
    pub(super) fn hand_to<S: Sink>(self, order: &[OrderKey], sink: &mut S) -> Result<Flow> {
        let mut results: Vec<(Vec<u8>, Vec<Datum<'static>>)> = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let values: Vec<Datum<'static>> = group.accumulators.iter().map(Accumulator::result).collect();
            let mut key = Vec::new();
            push_sort_key(self.evaluator, order, &Frame::group(&group.keys, &values), &mut key)?;
            results.push((key, values));
        }
        let mut places: Vec<usize> = (0..results.len()).collect();
        if !order.is_empty() {
            places.sort_by(|first, second| results[*first].0.cmp(&results[*second].0));
        }
        for place in places {
            match sink.take(&Frame::group(&self.groups[place].keys, &results[place].1))? {
                // Whether there is one more row is known when it comes.
                Flow::More | Flow::Filled => {}
                end => return Ok(end),
            }
        }
        Ok(Flow::More)
    }

    /// Returns the state of aggregates without keys.
    pub(super) fn state(&self) -> Vec<Value> {
        self.groups.iter().flat_map(|group| &group.accumulators).map(Accumulator::state_to_value).collect()
    }

    /// Goes on with the state that an earlier page left.
    pub(super) fn restore(&mut self, state: &[Value]) -> Result<()> {
        let wrong = || invalid("continuation token holds other aggregates than the query");
        if state.len() != self.grouping.aggregates.len() {
            return Err(wrong());
        }
        for ((accumulator, (aggregate, _)), state) in
            self.groups[0].accumulators.iter_mut().zip(&self.grouping.aggregates).zip(state)
        {
            *accumulator =
                Accumulator::from_value(*aggregate, state, QUERY_MEMORY_BYTES_MAX).map_err(|_| wrong())?;
        }
        Ok(())
    }
}

impl Drop for GroupSink<'_> {
    fn drop(&mut self) {
        self.memory.give_back(self.taken);
    }
}

impl Sink for GroupSink<'_> {
    type Row = ();

    fn take(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        let number = match &self.grouping.keys[..] {
            [] => 0,
            [only] => {
                let key = self.evaluator.eval(only, frame)?;
                self.find_group(fingerprint(&key), std::slice::from_ref(&key))?
            }
            several => {
                let mut keys = Vec::with_capacity(several.len());
                let mut hash = 0u128;
                for key in several {
                    let key = self.evaluator.eval(key, frame)?;
                    hash = hash.rotate_left(29).wrapping_mul(0x2545_F491_4F6C_DD1D) ^ fingerprint(&key);
                    keys.push(key);
                }
                self.find_group(hash, &keys)?
            }
        };
        self.add_to(number, frame)?;
        Ok(Flow::More)
    }

    fn make(&mut self, frame: &Frame<'_>) -> Result<Option<()>> {
        self.take(frame)?;
        Ok(None)
    }

    fn give(&mut self, (): ()) -> Result<Flow> {
        Ok(Flow::More)
    }

    fn row_bytes((): &()) -> usize {
        0
    }

    fn rows_wanted(&self) -> Option<u64> {
        None
    }

    fn can_pause(&self) -> bool {
        // Only what is small fits into a token.
        let bytes: usize = self.state().iter().map(|state| json::to_string(state).len()).sum();
        self.grouping.keys.is_empty() && bytes <= CONTINUATION_AGGREGATES_BYTES_MAX
    }

    fn count(&mut self, rows: u64) -> Result<()> {
        self.rows += rows;
        for accumulator in &mut self.groups[0].accumulators {
            accumulator.add_count(rows);
        }
        Ok(())
    }

    fn value(&mut self, value: &Datum<'_>) -> Result<()> {
        self.rows += 1;
        for accumulator in &mut self.groups[0].accumulators {
            accumulator.add(value).map_err(aggregate_error)?;
        }
        Ok(())
    }

    fn argument(&self) -> Option<&Expr> {
        self.grouping.aggregates.first().map(|(_, argument)| argument)
    }
}

fn aggregate_error(error: AggregateError) -> Error {
    Error::too_large(error.to_string())
}
