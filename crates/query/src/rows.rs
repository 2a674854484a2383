//! Rows inside a row: joined sources and subqueries, evaluated by nested loops in the scope of the row around them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use armilla_functions::{Accumulator, Datum, Meter, fingerprint, operators};
use armilla_value::Value;

use crate::bound::{BoundQuery, BoundSource, Grouping, SourceKind};
use crate::error::{Error, Result};
use crate::eval::Evaluator;
use crate::frame::Frame;
use crate::limits::SUBQUERY_ROWS_MAX;
use crate::logical::Join;
use crate::tuples::TupleWalk;

/// Whether to go on.
pub(crate) type Flow = ControlFlow<()>;

/// Takes a row, and says whether to go on.
pub(crate) type OnRow<'r> = dyn FnMut(&Frame<'_>) -> Result<Flow> + 'r;

impl Evaluator<'_> {
    /// Calls `row` for every combination of the joined sources that passes their conditions, in order. Breaks where the
    /// row says so, or where the walk is to pause; where that was is then in the walk.
    pub(crate) fn for_each_tuple(
        &self,
        joins: &[Join],
        frame: &Frame<'_>,
        walk: &mut TupleWalk<'_>,
        row: &mut OnRow<'_>,
    ) -> Result<Flow> {
        self.tuples_below(joins, 0, frame, walk, row)
    }

    fn tuples_below(
        &self,
        joins: &[Join],
        level: usize,
        frame: &Frame<'_>,
        walk: &mut TupleWalk<'_>,
        row: &mut OnRow<'_>,
    ) -> Result<Flow> {
        let Some(join) = joins.get(level) else { return row(frame) };
        let first = walk.first(level);
        let mut next = 0;
        self.each_value(&join.source, frame, &mut |value| {
            let place = next;
            next += 1;
            if first.is_some_and(|first| place < first) {
                return Ok(Flow::Continue(()));
            }
            let mark = self.meter().mark();
            let is_known = first == Some(place);
            walk.enter(level, place, is_known);
            if walk.is_to_pause(self.meter().looks()) {
                return Ok(Flow::Break(()));
            }
            let inner = Frame::with(frame, join.source.slot, value);
            let flow = match self.all_true(&join.filter, &inner)? {
                true => self.tuples_below(joins, level + 1, &inner, walk, row)?,
                false => Flow::Continue(()),
            };
            self.meter().release(mark);
            Ok(flow)
        })
    }

    /// Calls `visit` with every value that a source binds.
    fn each_value(
        &self,
        source: &BoundSource,
        frame: &Frame<'_>,
        visit: &mut dyn FnMut(Datum<'_>) -> Result<Flow>,
    ) -> Result<Flow> {
        match &source.kind {
            // Only the outermost plan reads items.
            SourceKind::Item => Ok(Flow::Continue(())),
            SourceKind::Value(expr) => match self.eval(expr, frame)? {
                Datum::Undefined => Ok(Flow::Continue(())),
                value => visit(value),
            },
            SourceKind::Elements(expr) => self.each_element(&self.eval(expr, frame)?, visit),
            SourceKind::Rows(query) => self.each_row(query, frame, visit),
            SourceKind::RowElements(query) => {
                self.each_row(query, frame, &mut |row| self.each_element(&row, visit))
            }
        }
    }

    fn each_element(
        &self,
        array: &Datum<'_>,
        visit: &mut dyn FnMut(Datum<'_>) -> Result<Flow>,
    ) -> Result<Flow> {
        for element in array.elements() {
            self.step(1)?;
            if visit(element)?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Calls `visit` with every row of a subquery.
    fn each_row(
        &self,
        query: &BoundQuery,
        frame: &Frame<'_>,
        visit: &mut dyn FnMut(Datum<'_>) -> Result<Flow>,
    ) -> Result<Flow> {
        let mut seen = Distinct::new(self.meter());
        let mut deliver = |row: Datum<'_>| -> Result<Flow> {
            if row.is_undefined() || (query.distinct && !seen.add(&row)?) {
                return Ok(Flow::Continue(()));
            }
            visit(row)
        };
        match &query.grouping {
            None => self.each_binding(query, frame, &mut |frame| {
                deliver(self.project_datum(&query.projection, frame)?)
            }),
            Some(grouping) => {
                let mut groups = Groups::new(self.meter());
                let flow = self.each_binding(query, frame, &mut |frame| {
                    groups.add(self, grouping, frame)?;
                    Ok(Flow::Continue(()))
                })?;
                debug_assert!(flow.is_continue());
                for (keys, results) in groups.finish(grouping) {
                    let group = Frame::group(&keys, &results);
                    if deliver(self.project_datum(&query.projection, &group)?)?.is_break() {
                        return Ok(Flow::Break(()));
                    }
                }
                Ok(Flow::Continue(()))
            }
        }
    }

    /// Calls `row` with every combination of the sources that passes the filter.
    fn each_binding(&self, query: &BoundQuery, frame: &Frame<'_>, row: &mut OnRow<'_>) -> Result<Flow> {
        self.bind_sources(&query.sources, frame, &mut |frame| match &query.filter {
            Some(filter) if !self.is_true(filter, frame)? => Ok(Flow::Continue(())),
            _ => {
                self.step(1)?;
                let mark = self.meter().mark();
                let flow = row(frame)?;
                // A callback that keeps something of the row has taken room for it.
                self.meter().release(mark);
                Ok(flow)
            }
        })
    }

    fn bind_sources(&self, sources: &[BoundSource], frame: &Frame<'_>, row: &mut OnRow<'_>) -> Result<Flow> {
        let Some((source, rest)) = sources.split_first() else { return row(frame) };
        self.each_value(source, frame, &mut |value| {
            let inner = Frame::with(frame, source.slot, value);
            self.bind_sources(rest, &inner, row)
        })
    }

    /// Returns all rows of a subquery.
    pub(crate) fn rows(&self, query: &BoundQuery, frame: &Frame<'_>) -> Result<Vec<Value>> {
        let mut rows = Vec::new();
        let mut holding = Holding::new(self.meter());
        let flow = self.each_row(query, frame, &mut |row| {
            if rows.len() == SUBQUERY_ROWS_MAX || !holding.add(estimated_bytes(&row)) {
                return Err(Error::too_large("a subquery gives more rows than fit into memory"));
            }
            rows.extend(row.into_value());
            Ok(Flow::Continue(()))
        })?;
        debug_assert!(flow.is_continue());
        // From here on they are a value like any other.
        let bytes = holding.bytes;
        drop(holding);
        self.take_room(bytes)?;
        Ok(rows)
    }

    /// Returns whether a subquery has a row.
    pub(crate) fn has_row(&self, query: &BoundQuery, frame: &Frame<'_>) -> Result<bool> {
        Ok(self.each_row(query, frame, &mut |_| Ok(Flow::Break(())))?.is_break())
    }

    /// Returns whether every combination of a subquery's sources passes its filter.
    pub(crate) fn all_rows_pass(&self, query: &BoundQuery, frame: &Frame<'_>) -> Result<bool> {
        let Some(filter) = &query.filter else { return Ok(true) };
        let failed = self.bind_sources(&query.sources, frame, &mut |frame| {
            self.step(1)?;
            Ok(if self.is_true(filter, frame)? { Flow::Continue(()) } else { Flow::Break(()) })
        })?;
        Ok(failed.is_continue())
    }
}

/// Roughly how much memory a value takes.
pub(crate) fn estimated_bytes(datum: &Datum<'_>) -> usize {
    const FIXED: usize = 48;
    match datum {
        Datum::Str(text) => FIXED + text.len(),
        // In memory a tree takes several times its text.
        Datum::Node(node) => FIXED + 4 * node.raw().len(),
        Datum::Value(value) => FIXED + value_bytes(value),
        _ => FIXED,
    }
}

pub(crate) fn value_bytes(value: &Value) -> usize {
    const FIXED: usize = 48;
    match value {
        Value::String(text) => FIXED + text.len(),
        Value::Array(elements) => FIXED + elements.iter().map(value_bytes).sum::<usize>(),
        Value::Object(object) => {
            FIXED
                + object.iter().map(|(name, member)| FIXED + name.len() + value_bytes(member)).sum::<usize>()
        }
        _ => FIXED,
    }
}

/// Room that was taken of a meter, and is given back when this is dropped.
struct Holding<'m> {
    meter: &'m Meter<'m>,
    bytes: usize,
}

impl<'m> Holding<'m> {
    fn new(meter: &'m Meter<'m>) -> Holding<'m> {
        Holding { meter, bytes: 0 }
    }

    /// Takes more room. Returns whether there is some.
    fn add(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        self.meter.hold(bytes)
    }
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        self.meter.give_back(self.bytes);
    }
}

/// The values that were seen already. Bounded.
pub(crate) struct Distinct<'m> {
    /// By structural fingerprint; a list, because two different values may share one.
    seen: HashMap<u128, Vec<Datum<'static>>>,
    holding: Holding<'m>,
}

impl<'m> Distinct<'m> {
    /// Begins without values.
    pub(crate) fn new(meter: &'m Meter<'m>) -> Distinct<'m> {
        Distinct { seen: HashMap::new(), holding: Holding::new(meter) }
    }

    /// Adds a value. Returns whether it is new.
    pub(crate) fn add(&mut self, value: &Datum<'_>) -> Result<bool> {
        let same = self.seen.entry(fingerprint(value)).or_default();
        if same.iter().any(|known| operators::same(known, value)) {
            return Ok(false);
        }
        if !self.holding.add(64 + estimated_bytes(value)) {
            return Err(Error::too_large(
                "DISTINCT has more different values than fit into memory; narrow the filter",
            ));
        }
        same.push(value.clone().into_static());
        Ok(true)
    }
}

/// Groups and what they have gathered, in the order in which they appeared. Bounded.
pub(crate) struct Groups<'m> {
    groups: Vec<(Vec<Datum<'static>>, Vec<Accumulator>)>,
    by_fingerprint: HashMap<u128, Vec<usize>>,
    holding: Holding<'m>,
}

/// The keys of a group and the results of its aggregates.
pub(crate) type GroupRow = (Vec<Datum<'static>>, Vec<Datum<'static>>);

impl<'m> Groups<'m> {
    /// Begins without groups.
    pub(crate) fn new(meter: &'m Meter<'m>) -> Groups<'m> {
        Groups { groups: Vec::new(), by_fingerprint: HashMap::new(), holding: Holding::new(meter) }
    }

    /// Adds a row to its group.
    pub(crate) fn add(
        &mut self,
        evaluator: &Evaluator<'_>,
        grouping: &Grouping,
        frame: &Frame<'_>,
    ) -> Result<()> {
        let mut keys = Vec::with_capacity(grouping.keys.len());
        let mut hash = 0u128;
        for key in &grouping.keys {
            let key = evaluator.eval(key, frame)?;
            hash = hash.rotate_left(7).wrapping_mul(0x0100_0193) ^ fingerprint(&key);
            keys.push(key);
        }
        let number = self.find_or_add(hash, &keys, grouping)?;
        for ((_, argument), accumulator) in grouping.aggregates.iter().zip(&mut self.groups[number].1) {
            let value = evaluator.eval(argument, frame)?;
            let before = accumulator.weight_bytes();
            accumulator.add(&value).map_err(|error| Error::too_large(error.to_string()))?;
            if !self.holding.add(accumulator.weight_bytes().saturating_sub(before)) {
                return Err(Error::too_large("the values that aggregates collect take too much memory"));
            }
        }
        Ok(())
    }

    fn find_or_add(&mut self, hash: u128, keys: &[Datum<'_>], grouping: &Grouping) -> Result<usize> {
        let candidates = self.by_fingerprint.entry(hash).or_default();
        let found = candidates.iter().copied().find(|number| same_keys(&self.groups[*number].0, keys));
        if let Some(number) = found {
            return Ok(number);
        }
        let bytes = 128 + keys.iter().map(estimated_bytes).sum::<usize>() + 96 * grouping.aggregates.len();
        if !self.holding.add(bytes) {
            return Err(Error::too_large("GROUP BY has more groups than fit into memory; narrow the filter"));
        }
        let number = self.groups.len();
        candidates.push(number);
        let keys = keys.iter().map(|key| key.clone().into_static()).collect();
        self.groups.push((keys, accumulators(grouping)));
        Ok(number)
    }

    /// Returns the groups. Without keys there is one, also if there were no rows.
    pub(crate) fn finish(self, grouping: &Grouping) -> Vec<GroupRow> {
        let mut groups = self.groups;
        if groups.is_empty() && grouping.keys.is_empty() {
            groups.push((Vec::new(), accumulators(grouping)));
        }
        groups
            .into_iter()
            .map(|(keys, accumulators)| (keys, accumulators.iter().map(Accumulator::result).collect()))
            .collect()
    }
}

fn accumulators(grouping: &Grouping) -> Vec<Accumulator> {
    grouping.aggregates.iter().map(|(aggregate, _)| Accumulator::new(*aggregate)).collect()
}

fn same_keys(known: &[Datum<'_>], keys: &[Datum<'_>]) -> bool {
    known.iter().zip(keys).all(|(left, right)| operators::same(left, right))
}
