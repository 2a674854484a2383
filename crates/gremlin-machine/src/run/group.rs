//! `group` and `groupCount`, as results and as side effects.

use std::sync::Arc;

use armilla_gremlin_value::{Key, Value};

use super::context::{Context, SideEffect};
use super::pipeline::{Input, Operator, Pipeline};
use super::traverser::{Batch, FastMap, Traverser};
use super::values::{by_at, by_values, list, map};
use crate::compile::PathNeed;
use crate::error::Result;
use crate::step::{By, Step, Traversal};

/// Traversers by key, in the order the keys came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Groups {
    places: FastMap<Key, usize>,
    groups: Vec<(Value, Members)>,
    /// The bytes that are held for them.
    held: u64,
}

#[derive(Debug, Clone)]
enum Members {
    /// What a `by` that looks at one traverser made of each.
    Values(Vec<Value>),
    /// For a `by` that looks at all of them.
    Traversers(Batch),
}

/// Numbers by key, in the order the keys came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    places: FastMap<Key, usize>,
    counts: Vec<(Value, u64)>,
}

impl Counts {
    fn add(&mut self, key: Value, bulk: u64) {
        match self.places.get(&Key(key.clone())).and_then(|place| self.counts.get_mut(*place)) {
            Some((_, count)) => *count = count.saturating_add(bulk),
            None => {
                self.places.insert(Key(key.clone()), self.counts.len());
                self.counts.push((key, bulk));
            }
        }
    }

    pub(crate) fn value(&self) -> Value {
        map(self
            .counts
            .iter()
            .map(|(key, count)| (key.clone(), super::reduce::count_value(*count)))
            .collect())
    }
}

impl Groups {
    fn place(&mut self, key: &Value, traversers: bool) -> Option<&mut Members> {
        let place = match self.places.get(&Key(key.clone())) {
            Some(place) => *place,
            None => {
                self.places.insert(Key(key.clone()), self.groups.len());
                let members =
                    if traversers { Members::Traversers(Vec::new()) } else { Members::Values(Vec::new()) };
                self.groups.push((key.clone(), members));
                self.groups.len() - 1
            }
        };
        self.groups.get_mut(place).map(|(_, members)| members)
    }

    fn add<'p>(&mut self, batch: Batch, bys: &'p [By], cx: &mut Context<'p>) -> Result<()> {
        let keys = by_values(by_at(bys, 0), &batch, cx)?;
        match value_by(bys) {
            ValueBy::Each(by) => {
                let values = by_values(by, &batch, cx)?;
                let mut listed = 0;
                self.held += cx.hold_batch(&batch)?;
                for ((traverser, key), value) in batch.into_iter().zip(keys).zip(values) {
                    let Some(key) = key else { continue };
                    cx.look_at(&key)?;
                    // A key whose values yield nothing has an empty list.
                    if let (Some(Members::Values(values)), Some(value)) = (self.place(&key, false), value) {
                        cx.hold(48u64.saturating_mul(traverser.bulk))?;
                        listed += 48u64.saturating_mul(traverser.bulk);
                        for _ in 1..traverser.bulk {
                            values.push(value.clone());
                        }
                        values.push(value);
                    }
                }
                self.held += listed;
            }
            ValueBy::All(_) => {
                self.held += cx.hold_batch(&batch)?;
                for (traverser, key) in batch.into_iter().zip(keys) {
                    let Some(key) = key else { continue };
                    cx.look_at(&key)?;
                    if let Some(Members::Traversers(members)) = self.place(&key, true) {
                        members.push(traverser);
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes the map, for which values are computed of all groups at once.
    pub(crate) fn value<'p>(&self, bys: &'p [By], cx: &mut Context<'p>) -> Result<Value> {
        let child = match value_by(bys) {
            ValueBy::Each(_) => None,
            ValueBy::All(child) => Some(child),
        };
        let mut results: Vec<Option<Value>> = Vec::new();
        if let Some(child) = child {
            results = reduce(child, &self.groups, cx)?;
        }
        let mut entries = Vec::with_capacity(self.groups.len());
        for (at, (key, members)) in self.groups.iter().enumerate() {
            match members {
                Members::Values(values) => entries.push((key.clone(), list(values.clone()))),
                Members::Traversers(_) => {
                    if let Some(Some(value)) = results.get(at) {
                        entries.push((key.clone(), value.clone()));
                    }
                }
            }
        }
        Ok(map(entries))
    }
}

enum ValueBy<'p> {
    Each(&'p By),
    All(&'p Traversal),
}

fn value_by(bys: &[By]) -> ValueBy<'_> {
    static IDENTITY: By = By::Identity;
    match bys.get(1) {
        None => ValueBy::Each(&IDENTITY),
        Some(By::Child(child)) => ValueBy::All(child),
        Some(by) => ValueBy::Each(by),
    }
}

/// Runs a child once for each group, over all of the group's traversers.
fn reduce<'p>(
    child: &'p Traversal,
    groups: &[(Value, Members)],
    cx: &mut Context<'p>,
) -> Result<Vec<Option<Value>>> {
    let mut inputs = Vec::new();
    for (origin, (_, members)) in groups.iter().enumerate() {
        let Members::Traversers(batch) = members else { continue };
        for traverser in batch {
            let mut input = traverser.clone();
            input.origin = origin as u32;
            inputs.push(input);
        }
    }
    let mut results: Vec<Option<Value>> = vec![None; groups.len()];
    let mut pipeline = Pipeline::new(child, groups.len() as u32);
    pipeline.push(inputs);
    for result in pipeline.drain(cx)? {
        let Some(place) = results.get_mut(result.origin as usize) else { continue };
        // Without a barrier every traverser replaces what the one before it made.
        if place.is_none() || !child.has_barrier {
            *place = Some(result.value);
        }
    }
    Ok(results)
}

/// What is grouped: for results one map for each origin, or a side effect.
pub(crate) struct GroupOperator<'p> {
    step: &'p Step,
    bys: &'p [By],
    counts: bool,
    done: bool,
}

impl<'p> GroupOperator<'p> {
    pub(crate) fn new(step: &'p Step, bys: &'p [By], counts: bool) -> GroupOperator<'p> {
        GroupOperator { step, bys, counts, done: false }
    }

    fn group(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        let origins = input.origins as usize;
        let mut groups: Vec<Groups> = vec![Groups::default(); if self.counts { 0 } else { origins }];
        let mut counts: Vec<Counts> = vec![Counts::default(); if self.counts { origins } else { 0 }];
        let mut held = 0;
        while let Some(batch) = input.next(cx)? {
            cx.graph.check()?;
            if self.counts {
                let keys = by_values(by_at(self.bys, 0), &batch, cx)?;
                let mut added = 0;
                for (traverser, key) in batch.into_iter().zip(keys) {
                    if let (Some(key), Some(counts)) = (key, counts.get_mut(traverser.origin as usize)) {
                        cx.look_at(&key)?;
                        let before = counts.counts.len();
                        counts.add(key, traverser.bulk);
                        added += (counts.counts.len() - before) as u64;
                    }
                }
                cx.hold(added * 200)?;
                held += added * 200;
            } else if let ([only], true) = (groups.as_mut_slice(), origins == 1) {
                only.add(batch, self.bys, cx)?;
            } else {
                for (origin, part) in by_origin(batch) {
                    if let Some(groups) = groups.get_mut(origin as usize) {
                        groups.add(part, self.bys, cx)?;
                    }
                }
            }
        }
        let mut batch = Vec::with_capacity(origins);
        for origin in 0..origins {
            let value = match (groups.get(origin), counts.get(origin)) {
                (Some(groups), _) => groups.value(self.bys, cx)?,
                (_, Some(counts)) => counts.value(),
                _ => continue,
            };
            let mut traverser = Traverser::new(value);
            traverser.origin = origin as u32;
            traverser.arrive(&self.step.labels, cx.path);
            batch.push(traverser);
        }
        cx.release(held + groups.iter().map(|groups| groups.held).sum::<u64>());
        Ok(Some(batch))
    }
}

fn by_origin(batch: Batch) -> Vec<(u32, Batch)> {
    let mut parts: Vec<(u32, Batch)> = Vec::new();
    for traverser in batch {
        match parts.iter_mut().rev().find(|(origin, _)| *origin == traverser.origin) {
            Some((_, part)) => part.push(traverser),
            None => parts.push((traverser.origin, vec![traverser])),
        }
    }
    parts
}

impl<'p> Operator<'p> for GroupOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        self.group(input, cx).map_err(|error| error.at(&self.step.name, self.step.position))
    }

    fn restart(&mut self) {
        self.done = false;
    }
}

/// Adds a batch to the groups of a side effect.
pub(crate) fn add_groups<'p>(
    key: &Arc<str>,
    bys: &'p [By],
    batch: &[Traverser],
    cx: &mut Context<'p>,
) -> Result<()> {
    let mut groups = match cx.side_effect(key) {
        Some(SideEffect::Groups(groups, _)) => std::mem::take(groups),
        _ => Groups::default(),
    };
    let mut batch = batch.to_vec();
    if cx.path == PathNeed::Nothing {
        batch.iter_mut().for_each(|traverser| traverser.path = None);
    }
    let result = groups.add(batch, bys, cx);
    cx.set_side_effect(key, SideEffect::Groups(groups, bys));
    result
}

/// Adds a batch to the counts of a side effect.
pub(crate) fn add_counts<'p>(
    key: &Arc<str>,
    bys: &'p [By],
    batch: &[Traverser],
    cx: &mut Context<'p>,
) -> Result<()> {
    let mut counts = match cx.side_effect(key) {
        Some(SideEffect::Counts(counts)) => std::mem::take(counts),
        _ => Counts::default(),
    };
    let keys = by_values(by_at(bys, 0), batch, cx)?;
    for (traverser, key) in batch.iter().zip(keys) {
        if let Some(key) = key {
            cx.look_at(&key)?;
            counts.add(key, traverser.bulk);
        }
    }
    cx.set_side_effect(key, SideEffect::Counts(counts));
    Ok(())
}
