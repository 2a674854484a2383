//! `range`, `tail`, `sample`, `dedup`, `order` and `barrier`.

use std::cmp::Ordering;
use std::collections::VecDeque;

use armilla_gremlin_value::{Key, Value};

use super::context::Context;
use super::pipeline::{Input, Operator};
use super::traverser::{Batch, FastMap, FastSet, Traverser};
use super::values::{by_at, by_values};
use crate::error::Result;
use crate::step::{By, Sorting, Step};

pub(crate) struct RangeOperator<'p> {
    step: &'p Step,
    low: u64,
    high: Option<u64>,
    seen: Vec<u64>,
}

impl<'p> RangeOperator<'p> {
    pub(crate) fn new(step: &'p Step, low: u64, high: Option<u64>) -> RangeOperator<'p> {
        RangeOperator { step, low, high, seen: Vec::new() }
    }
}

impl<'p> Operator<'p> for RangeOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        self.seen.resize(input.origins as usize, 0);
        loop {
            if self.is_done() {
                return Ok(None);
            }
            let Some(batch) = input.next(cx)? else { return Ok(None) };
            let mut kept = Vec::with_capacity(batch.len());
            for mut traverser in batch {
                let Some(seen) = self.seen.get_mut(traverser.origin as usize) else { continue };
                let from = (*seen).max(self.low);
                let end = seen.saturating_add(traverser.bulk);
                let to = self.high.map_or(end, |high| end.min(high));
                *seen = end;
                if to > from {
                    traverser.bulk = to - from;
                    traverser.label(&self.step.labels, cx.path);
                    kept.push(traverser);
                }
            }
            if !kept.is_empty() {
                return Ok(Some(kept));
            }
        }
    }

    fn restart(&mut self) {
        self.seen.iter_mut().for_each(|seen| *seen = 0);
    }

    fn is_done(&self) -> bool {
        self.high.is_some_and(|high| !self.seen.is_empty() && self.seen.iter().all(|seen| *seen >= high))
    }
}

pub(crate) struct TailOperator<'p> {
    step: &'p Step,
    amount: u64,
    done: bool,
}

impl<'p> TailOperator<'p> {
    pub(crate) fn new(step: &'p Step, amount: u64) -> TailOperator<'p> {
        TailOperator { step, amount, done: false }
    }
}

impl<'p> Operator<'p> for TailOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let mut tails: Vec<(VecDeque<Traverser>, u64)> = vec![Default::default(); input.origins as usize];
        while let Some(batch) = input.next(cx)? {
            for traverser in batch {
                let Some((tail, bulk)) = tails.get_mut(traverser.origin as usize) else { continue };
                *bulk = bulk.saturating_add(traverser.bulk);
                tail.push_back(traverser);
                while let Some(first) = tail.front_mut() {
                    let beyond = bulk.saturating_sub(self.amount);
                    if beyond == 0 {
                        break;
                    }
                    if first.bulk <= beyond {
                        *bulk = bulk.saturating_sub(first.bulk);
                        tail.pop_front();
                    } else {
                        first.bulk -= beyond;
                        *bulk = bulk.saturating_sub(beyond);
                    }
                }
            }
        }
        let mut batch: Batch = tails.into_iter().flat_map(|(tail, _)| tail).collect();
        batch.iter_mut().for_each(|traverser| traverser.label(&self.step.labels, cx.path));
        Ok(Some(batch))
    }

    fn restart(&mut self) {
        self.done = false;
    }
}

pub(crate) struct SampleOperator<'p> {
    step: &'p Step,
    amount: u64,
    by: Option<&'p By>,
    done: bool,
}

impl<'p> SampleOperator<'p> {
    pub(crate) fn new(step: &'p Step, amount: u64, by: Option<&'p By>) -> SampleOperator<'p> {
        SampleOperator { step, amount, by, done: false }
    }
}

impl<'p> Operator<'p> for SampleOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let (all, held) = input.all(cx)?;
        cx.release(held);
        let weights: Vec<Option<f64>> = match self.by {
            None => vec![Some(1.0); all.len()],
            Some(by) => by_values(by, &all, cx)?
                .into_iter()
                .map(|value| value.and_then(|value| value.as_real()))
                .collect(),
        };
        let mut drawn = 0;
        let mut groups: Vec<Vec<(f64, Traverser)>> = vec![Vec::new(); input.origins as usize];
        for (traverser, weight) in all.into_iter().zip(weights) {
            let (Some(group), Some(weight)) = (groups.get_mut(traverser.origin as usize), weight) else {
                continue;
            };
            let draws = traverser.bulk.min(self.amount);
            cx.hold(128u64.saturating_mul(draws))?;
            drawn += 128 * draws;
            for _ in 0..draws {
                cx.work(1)?;
                // The largest draws of u^(1/w) are a sample by weight without replacement.
                let draw = if weight > 0.0 { cx.draw_real().powf(1.0 / weight) } else { -1.0 };
                let mut one = traverser.clone();
                one.bulk = 1;
                group.push((draw, one));
            }
        }
        cx.release(drawn);
        let mut batch = Vec::new();
        for group in groups {
            let mut group = cx.sort(group, 1, |left, right| right.0.total_cmp(&left.0))?;
            group.truncate(usize::try_from(self.amount).unwrap_or(usize::MAX));
            batch.extend(group.into_iter().map(|(_, traverser)| traverser));
        }
        batch.iter_mut().for_each(|traverser: &mut Traverser| traverser.label(&self.step.labels, cx.path));
        Ok(Some(batch))
    }

    fn restart(&mut self) {
        self.done = false;
    }
}

pub(crate) struct DedupOperator<'p> {
    step: &'p Step,
    labels: &'p [std::sync::Arc<str>],
    bys: &'p [By],
    seen: FastSet<(u32, Key)>,
}

impl<'p> DedupOperator<'p> {
    pub(crate) fn new(step: &'p Step, labels: &'p [std::sync::Arc<str>], bys: &'p [By]) -> DedupOperator<'p> {
        DedupOperator { step, labels, bys, seen: FastSet::default() }
    }

    fn keys(&self, batch: &[Traverser], cx: &mut Context<'p>) -> Result<Vec<Option<Value>>> {
        if self.labels.is_empty() {
            return by_values(by_at(self.bys, 0), batch, cx);
        }
        let mut keys = Vec::with_capacity(batch.len());
        for traverser in batch {
            let mut parts = Vec::with_capacity(self.labels.len());
            for (at, label) in self.labels.iter().enumerate() {
                let Some(value) = traverser.last(label).cloned() else { continue };
                let by = by_at(self.bys, if self.bys.len() > 1 { at } else { 0 });
                let made = super::values::by_each(by, traverser, vec![value], cx)?;
                parts.extend(made.into_iter().flatten());
            }
            keys.push((parts.len() == self.labels.len()).then(|| super::values::list(parts)));
        }
        Ok(keys)
    }
}

impl<'p> Operator<'p> for DedupOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        loop {
            let Some(mut batch) = input.next(cx)? else { return Ok(None) };
            let mut kept = Vec::with_capacity(batch.len());
            let plain = self.labels.is_empty() && self.bys.is_empty();
            let keys = if plain { Vec::new() } else { self.keys(&batch, cx)? };
            let mut held = 0;
            for (at, mut traverser) in batch.drain(..).enumerate() {
                let key =
                    if plain { Some(key_of(&traverser.value)) } else { keys.get(at).cloned().flatten() };
                let Some(key) = key else { continue };
                cx.look_at(&key)?;
                if self.seen.insert((traverser.origin, Key(key))) {
                    held += 96;
                    traverser.bulk = 1;
                    traverser.label(&self.step.labels, cx.path);
                    kept.push(traverser);
                }
            }
            cx.hold(held)?;
            if !kept.is_empty() {
                return Ok(Some(kept));
            }
        }
    }
}

/// What is kept of a value to know it again: of elements a reference is enough.
fn key_of(value: &Value) -> Value {
    value.clone()
}

pub(crate) struct OrderOperator<'p> {
    step: &'p Step,
    bys: &'p [(By, Sorting)],
    done: bool,
}

impl<'p> OrderOperator<'p> {
    pub(crate) fn new(step: &'p Step, bys: &'p [(By, Sorting)]) -> OrderOperator<'p> {
        OrderOperator { step, bys, done: false }
    }
}

impl<'p> Operator<'p> for OrderOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let (all, held) = input.all(cx)?;
        cx.release(held);
        let mut batch =
            sorted(all, self.bys, cx).map_err(|error| error.at(&self.step.name, self.step.position))?;
        batch.iter_mut().for_each(|traverser| traverser.label(&self.step.labels, cx.path));
        Ok(Some(batch))
    }

    fn restart(&mut self) {
        self.done = false;
    }
}

/// Sorts traversers by what their `by`s yield; those for which one yields nothing are left out.
pub(crate) fn sorted<'p>(batch: Batch, bys: &'p [(By, Sorting)], cx: &mut Context<'p>) -> Result<Batch> {
    let mut rows: Vec<(Vec<Value>, Traverser)> = Vec::with_capacity(batch.len());
    let mut columns = Vec::with_capacity(bys.len().max(1));
    for (by, sorting) in bys {
        columns.push(match sorting {
            Sorting::Shuffled => batch.iter().map(|_| Some(Value::Int64(cx.draw() as i64 >> 1))).collect(),
            _ => by_values(by, &batch, cx)?,
        });
    }
    if bys.is_empty() {
        columns.push(by_values(&By::Identity, &batch, cx)?);
    }
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    for traverser in batch {
        let keys: Vec<Option<Value>> = columns.iter_mut().map(|column| column.next().flatten()).collect();
        if keys.iter().all(Option::is_some) {
            rows.push((keys.into_iter().flatten().collect(), traverser));
        }
    }
    let work = rows.iter().flat_map(|(keys, _)| keys).any(Value::is_collection);
    let rows = cx.sort(rows, if work { 64 } else { 1 }, |left, right| {
        left.1.origin.cmp(&right.1.origin).then_with(|| compare_rows(&left.0, &right.0, bys))
    })?;
    Ok(rows.into_iter().map(|(_, traverser)| traverser).collect())
}

fn compare_rows(left: &[Value], right: &[Value], bys: &[(By, Sorting)]) -> Ordering {
    for (at, (left, right)) in left.iter().zip(right).enumerate() {
        let order = left.order(right);
        let order = match bys.get(at) {
            Some((_, Sorting::Descending)) => order.reverse(),
            _ => order,
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

pub(crate) struct BarrierOperator<'p> {
    step: &'p Step,
    normalise_sacks: bool,
    /// How many it waits for, if not for all.
    size: Option<usize>,
    waiting: Batch,
    done: bool,
}

impl<'p> BarrierOperator<'p> {
    pub(crate) fn new(step: &'p Step, normalise_sacks: bool, size: Option<usize>) -> BarrierOperator<'p> {
        BarrierOperator { step, normalise_sacks, size, waiting: Vec::new(), done: false }
    }

    /// Gives on what came together up to a number of traversers.
    fn some(
        &mut self,
        size: usize,
        input: &mut Input<'_, 'p>,
        cx: &mut Context<'p>,
    ) -> Result<Option<Batch>> {
        while self.waiting.len() < size {
            let Some(batch) = input.next(cx)? else { break };
            self.waiting.extend(batch);
        }
        let rest = self.waiting.split_off(size.min(self.waiting.len()));
        let batch = std::mem::replace(&mut self.waiting, rest);
        if batch.is_empty() {
            return Ok(None);
        }
        let mut batch = merged(batch, cx)?;
        batch.iter_mut().for_each(|traverser| traverser.label(&self.step.labels, cx.path));
        Ok(Some(batch))
    }
}

impl<'p> Operator<'p> for BarrierOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if let Some(size) = self.size {
            return self.some(size, input, cx);
        }
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let (all, held) = input.all(cx)?;
        cx.release(held);
        let mut all = merged(all, cx)?;
        if self.normalise_sacks {
            let sum: f64 = all.iter().map(|traverser| sack_of(traverser) * traverser.bulk as f64).sum();
            for traverser in &mut all {
                traverser.sack = Some(Value::Double(sack_of(traverser) / sum));
            }
        }
        all.iter_mut().for_each(|traverser| traverser.label(&self.step.labels, cx.path));
        Ok(Some(all))
    }

    fn restart(&mut self) {
        self.done = false;
        self.waiting.clear();
    }
}

fn sack_of(traverser: &Traverser) -> f64 {
    traverser.sack.as_ref().and_then(Value::as_real).unwrap_or(0.0)
}

/// Makes one traverser of those that are alike.
pub(crate) fn merged(batch: Batch, cx: &mut Context<'_>) -> Result<Batch> {
    if !cx.merges || batch.len() < 2 {
        return Ok(batch);
    }
    // Where only labelled places are kept, traversers with one way behind them are alike.
    let mut places: FastMap<(u32, usize, Key), usize> = FastMap::default();
    let mut merged: Batch = Vec::with_capacity(batch.len());
    for traverser in batch {
        cx.look_at(&traverser.value)?;
        let key = (traverser.origin, traverser.way(), Key(traverser.value.clone()));
        match places.get(&key).and_then(|place| merged.get_mut(*place)) {
            Some(same) => super::side::merge_into(same, traverser, cx)?,
            None => {
                places.insert(key, merged.len());
                merged.push(traverser);
            }
        }
    }
    Ok(merged)
}
