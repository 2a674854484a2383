//! Side effects: `aggregate`, `cap`, `inject`, `tree`, `timeLimit`, and merging of traversers.

use std::sync::Arc;
use std::time::Duration;

use armilla_gremlin_value::{Map, Tree, TreeBranch, Value};

use super::context::{Context, SideEffect};
use super::pipeline::{Input, Operator};
use super::traverser::{Batch, Traverser};
use super::values::{by_at, by_each, by_values};
use crate::error::{MachineError, Result};
use crate::limits;
use crate::step::{By, Step};

/// Adds one traverser to another that is like it.
pub(crate) fn merge_into(same: &mut Traverser, other: Traverser, cx: &Context<'_>) -> Result<()> {
    if !cx.one_bulk {
        same.bulk = same.bulk.saturating_add(other.bulk);
    }
    if let (Some(operator), Some(left), Some(right)) =
        (cx.sack_merge, same.sack.as_ref(), other.sack.as_ref())
    {
        same.sack = Some(super::reduce::fold(operator, left, right)?);
    }
    Ok(())
}

/// Collects a batch in a side effect.
pub(crate) fn collect<'p>(
    key: &Arc<str>,
    by: &'p By,
    batch: &[Traverser],
    cx: &mut Context<'p>,
) -> Result<()> {
    let values = by_values(by, batch, cx)?;
    cx.hold_batch(batch)?;
    let mut collected = match cx.side_effect(key) {
        Some(SideEffect::Collected(collected)) => std::mem::take(collected),
        Some(SideEffect::Value(value, operator)) => {
            return collect_into(key, value.clone(), *operator, batch, values, cx);
        }
        _ => Vec::new(),
    };
    for (traverser, value) in batch.iter().zip(values) {
        if let Some(value) = value {
            collected.push((value, traverser.bulk));
        }
    }
    cx.set_side_effect(key, SideEffect::Collected(collected));
    Ok(())
}

/// Collects into a value that the source set, by its operator.
fn collect_into(
    key: &Arc<str>,
    start: Value,
    operator: Option<crate::step::Operator>,
    batch: &[Traverser],
    values: Vec<Option<Value>>,
    cx: &mut Context<'_>,
) -> Result<()> {
    let made: Vec<(Value, u64)> = batch
        .iter()
        .zip(values)
        .filter_map(|(traverser, value)| value.map(|value| (value, traverser.bulk)))
        .collect();
    let operator = operator.unwrap_or(crate::step::Operator::AddAll);
    let result = match operator {
        crate::step::Operator::AddAll | crate::step::Operator::Assign => {
            let made = super::values::items(&Value::BulkSet(Arc::new(made)))?;
            cx.hold(48 * made.len() as u64)?;
            super::reduce::fold(operator, &start, &super::values::list(made))?
        }
        operator => {
            let mut result = start;
            for (value, bulk) in made {
                cx.work(1)?;
                result = super::reduce::fold_bulk(operator, &result, &value, bulk, cx)?;
            }
            result
        }
    };
    cx.set_side_effect(key, SideEffect::Value(result, Some(operator)));
    Ok(())
}

/// Returns what a side effect is now.
pub(crate) fn side_value<'p>(key: &str, cx: &mut Context<'p>) -> Result<Option<Value>> {
    let effect = cx.side_effect(key).cloned();
    Ok(match effect {
        None => None,
        Some(SideEffect::Value(value, _)) => Some(value),
        Some(SideEffect::Collected(values)) => Some(bulk_set(values)),
        Some(SideEffect::Groups(groups, bys)) => Some(groups.value(bys, cx)?),
        Some(SideEffect::Counts(counts)) => Some(counts.value()),
        Some(SideEffect::Tree(tree)) => Some(Value::Tree(Arc::new(tree))),
    })
}

fn bulk_set(values: Vec<(Value, u64)>) -> Value {
    let mut places: super::traverser::FastMap<armilla_gremlin_value::Key, usize> = Default::default();
    let mut merged: Vec<(Value, u64)> = Vec::with_capacity(values.len());
    for (value, bulk) in values {
        let place = *places.entry(armilla_gremlin_value::Key(value.clone())).or_insert(merged.len());
        match merged.get_mut(place) {
            Some((_, sum)) => *sum = sum.saturating_add(bulk),
            None => merged.push((value, bulk)),
        }
    }
    Value::BulkSet(Arc::new(merged))
}

pub(crate) struct AggregateOperator<'p> {
    step: &'p Step,
    key: &'p Arc<str>,
    by: &'p By,
    done: bool,
}

impl<'p> AggregateOperator<'p> {
    pub(crate) fn new(step: &'p Step, key: &'p Arc<str>, by: &'p By) -> AggregateOperator<'p> {
        AggregateOperator { step, key, by, done: false }
    }
}

impl<'p> Operator<'p> for AggregateOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let (mut all, held) = input.all(cx)?;
        collect(self.key, self.by, &all, cx)?;
        cx.release(held);
        all.iter_mut().for_each(|traverser| traverser.label(&self.step.labels, cx.path));
        Ok(Some(all))
    }

    fn restart(&mut self) {
        self.done = false;
    }
}

fn unknown(key: &Arc<str>) -> MachineError {
    MachineError::runtime(format!(
        "The side-effect key does not exist in the side-effects: {key}; collect it with aggregate() or its like"
    ))
}

/// Steps that collect all of their input in a side effect before they give it on.
pub(crate) struct CollectOperator<'p> {
    step: &'p Step,
    done: bool,
}

impl<'p> CollectOperator<'p> {
    pub(crate) fn new(step: &'p Step) -> CollectOperator<'p> {
        CollectOperator { step, done: false }
    }
}

impl<'p> Operator<'p> for CollectOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let (all, held) = input.all(cx)?;
        cx.release(held);
        super::simple::apply(self.step, all, cx)
            .map(Some)
            .map_err(|error| error.at(&self.step.name, self.step.position))
    }

    fn restart(&mut self) {
        self.done = false;
    }
}

pub(crate) struct CapOperator<'p> {
    step: &'p Step,
    keys: &'p [Arc<str>],
    done: bool,
}

impl<'p> CapOperator<'p> {
    pub(crate) fn new(step: &'p Step, keys: &'p [Arc<str>]) -> CapOperator<'p> {
        CapOperator { step, keys, done: false }
    }
}

impl<'p> Operator<'p> for CapOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        while input.next(cx)?.is_some() {}
        let mut batch = Vec::with_capacity(input.origins as usize);
        let value = match self.keys {
            [key] => side_value(key, cx)?.ok_or_else(|| unknown(key))?,
            keys => {
                let mut entries = Vec::with_capacity(keys.len());
                for key in keys {
                    let value = side_value(key, cx)?.ok_or_else(|| unknown(key))?;
                    entries.push((Value::String(key.clone()), value));
                }
                Value::Map(Arc::new(Map { entries }))
            }
        };
        for origin in 0..input.origins {
            let mut traverser = Traverser::new(value.clone());
            traverser.origin = origin;
            traverser.arrive(&self.step.labels, cx.path);
            batch.push(traverser);
        }
        Ok(Some(batch))
    }

    fn restart(&mut self) {
        self.done = false;
    }
}

pub(crate) struct InjectOperator<'p> {
    step: &'p Step,
    values: &'p [Value],
    start: bool,
    injected: bool,
}

impl<'p> InjectOperator<'p> {
    pub(crate) fn new(step: &'p Step, values: &'p [Value], start: bool) -> InjectOperator<'p> {
        InjectOperator { step, values, start, injected: false }
    }
}

impl<'p> Operator<'p> for InjectOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if !std::mem::replace(&mut self.injected, true) {
            let mut batch = Vec::with_capacity(self.values.len());
            // The sack of the source is what new traversers begin with.
            let first =
                if self.start { input.next(cx)?.and_then(|batch| batch.into_iter().next()) } else { None };
            for origin in 0..input.origins {
                for value in self.values {
                    let mut traverser = first.clone().unwrap_or_else(|| Traverser::new(Value::Null));
                    traverser.origin = origin;
                    traverser.go(value.clone(), &self.step.labels, cx.path);
                    batch.push(traverser);
                }
            }
            if !self.start && input.is_fed_directly() {
                // In a child what came in is there already when values are injected.
                if let Some(mut first) = input.next(cx)? {
                    first.iter_mut().for_each(|traverser| traverser.label(&self.step.labels, cx.path));
                    first.append(&mut batch);
                    batch = first;
                }
            }
            return Ok(Some(batch));
        }
        let Some(mut batch) = input.next(cx)? else { return Ok(None) };
        batch.iter_mut().for_each(|traverser| traverser.label(&self.step.labels, cx.path));
        Ok(Some(batch))
    }
}

/// Adds ways to a tree.
pub(crate) fn grow<'p>(
    tree: &mut Tree,
    bys: &'p [By],
    batch: &[Traverser],
    cx: &mut Context<'p>,
) -> Result<()> {
    for traverser in batch {
        let nodes = traverser.nodes();
        let mut at = &mut *tree;
        for (depth, node) in nodes.into_iter().enumerate() {
            if depth + 2 > limits::VALUE_DEPTH_MAX {
                return Err(MachineError::runtime(format!(
                    "tree() takes ways of no more than {} objects: repeat() less often, or return path()",
                    limits::VALUE_DEPTH_MAX - 2
                )));
            }
            cx.work(1 + at.branches.len() as u64 / 4)?;
            let made = by_each(by_at(bys, depth), traverser, vec![node.value.clone()], cx)?;
            let Some(Some(key)) = made.into_iter().next() else { break };
            let place = match at.branches.iter().position(|branch| branch.key.equivalent(&key)) {
                Some(place) => place,
                None => {
                    cx.hold(128)?;
                    at.branches.push(TreeBranch { key, below: Tree::default() });
                    at.branches.len() - 1
                }
            };
            match at.branches.get_mut(place) {
                Some(branch) => at = &mut branch.below,
                None => break,
            }
        }
    }
    Ok(())
}

pub(crate) struct TreeOperator<'p> {
    step: &'p Step,
    bys: &'p [By],
    done: bool,
}

impl<'p> TreeOperator<'p> {
    pub(crate) fn new(step: &'p Step, bys: &'p [By]) -> TreeOperator<'p> {
        TreeOperator { step, bys, done: false }
    }
}

impl<'p> Operator<'p> for TreeOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let mut trees: Vec<Tree> = vec![Tree::default(); input.origins as usize];
        while let Some(batch) = input.next(cx)? {
            for traverser in batch {
                if let Some(tree) = trees.get_mut(traverser.origin as usize) {
                    grow(tree, self.bys, std::slice::from_ref(&traverser), cx)?;
                }
            }
        }
        let batch = trees.into_iter().enumerate().map(|(origin, tree)| {
            let mut traverser = Traverser::new(Value::Tree(Arc::new(tree)));
            traverser.origin = origin as u32;
            traverser.arrive(&self.step.labels, cx.path);
            traverser
        });
        Ok(Some(batch.collect()))
    }

    fn restart(&mut self) {
        self.done = false;
    }
}

pub(crate) struct TimeLimitOperator {
    milliseconds: u64,
    began: Option<Duration>,
}

impl TimeLimitOperator {
    pub(crate) fn new(milliseconds: u64) -> TimeLimitOperator {
        TimeLimitOperator { milliseconds, began: None }
    }
}

impl<'p> Operator<'p> for TimeLimitOperator {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        let now = cx.graph.elapsed();
        let began = *self.began.get_or_insert(now);
        if now.saturating_sub(began) >= Duration::from_millis(self.milliseconds) && self.milliseconds > 0 {
            return Ok(None);
        }
        input.next(cx)
    }
}

pub(crate) struct FailOperator<'p> {
    pub(crate) message: Option<&'p Arc<str>>,
}

impl<'p> Operator<'p> for FailOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        while let Some(batch) = input.next(cx)? {
            if !batch.is_empty() {
                let message = self.message.map_or("fail() step triggered", |message| message.as_ref());
                return Err(MachineError::new(crate::error::ErrorKind::Fail, message));
            }
        }
        Ok(None)
    }
}
