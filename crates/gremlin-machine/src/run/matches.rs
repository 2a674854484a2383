//! `match()`: patterns over shared names, tried where their names stand for something.

use std::collections::BTreeMap;
use std::sync::Arc;

use armilla_gremlin_value::Value;

use super::context::Context;
use super::traverser::{Batch, Traverser};
use super::values::map;
use crate::error::{MachineError, Result};
use crate::matching::Pattern;
use crate::step::Step;

/// Most patterns of one `match()`.
const PATTERNS_MAX: usize = 60;

pub(crate) fn run<'p>(
    step: &'p Step,
    patterns: &'p [Pattern],
    batch: Batch,
    cx: &mut Context<'p>,
) -> Result<Batch> {
    if patterns.len() > PATTERNS_MAX {
        return Err(MachineError::runtime(format!("match() takes no more than {PATTERNS_MAX} patterns")));
    }
    let names = names_of(patterns);
    let bound = bound_before(&batch, &names);
    let start = start_of(patterns);
    let mut inputs = batch;
    let mut known: Vec<Arc<str>> = bound;
    if let Some(start) = start
        && !known.contains(&start)
    {
        let labels: Arc<[Arc<str>]> = Arc::from([start.clone()]);
        inputs.iter_mut().for_each(|traverser| bind(traverser, &labels));
        known.push(start);
    }
    // States by the patterns that are left: all with the same ones know the same names.
    let mut states: BTreeMap<u64, Batch> = BTreeMap::new();
    let all = if patterns.len() == 64 { u64::MAX } else { (1u64 << patterns.len()) - 1 };
    states.insert(all, inputs);
    while let Some((left, batch)) = states.pop_last() {
        if left == 0 {
            return Ok(finish(step, &names, batch, cx));
        }
        let mut now_known = known.clone();
        for (at, pattern) in patterns.iter().enumerate() {
            if left & (1 << at) == 0 {
                pattern.ends(&mut |name| now_known.push(name.clone()));
            }
        }
        let next = patterns.iter().enumerate().find(|(at, pattern)| {
            let mut ready = left & (1 << at) != 0;
            pattern.needs(&mut |name| ready &= now_known.contains(name));
            ready
        });
        let Some((at, pattern)) = next else {
            return Err(MachineError::runtime(
                "The provided match pattern is unsolvable: a pattern begins with a name that no other one leads to",
            ));
        };
        let found = walk(pattern, batch, cx)?;
        if !found.is_empty() {
            cx.hold(64 * found.len() as u64)?;
            states.entry(left & !(1 << at)).or_default().extend(found);
        }
    }
    Ok(Vec::new())
}

/// Goes along a pattern; results have their names bound.
fn walk<'p>(pattern: &'p Pattern, batch: Batch, cx: &mut Context<'p>) -> Result<Batch> {
    match pattern {
        Pattern::Walk { start, child, end } => {
            let mut inputs = Vec::with_capacity(batch.len());
            let mut owners = Vec::with_capacity(batch.len());
            for traverser in batch {
                let Some(value) = traverser.last(start).cloned() else { continue };
                inputs.push(Traverser { value, ..traverser.clone() });
                owners.push(traverser);
            }
            let mut found = Vec::new();
            let labels: Option<Arc<[Arc<str>]>> = end.as_ref().map(|end| Arc::from([end.clone()]));
            for result in cx.local(child, inputs)? {
                let Some(owner) = owners.get(result.origin as usize) else { continue };
                let mut next = owner.clone();
                next.bulk = next.bulk.saturating_mul(result.bulk);
                if let (Some(end), Some(labels)) = (end, &labels) {
                    match owner.last(end) {
                        Some(value) if !value.equals(&result.value) => continue,
                        Some(_) => {}
                        None => {
                            next.value = result.value;
                            bind(&mut next, labels);
                        }
                    }
                }
                found.push(next);
            }
            Ok(found)
        }
        Pattern::Not(inner) => {
            let mut kept = Vec::with_capacity(batch.len());
            for traverser in batch {
                if walk(inner, vec![traverser.clone()], cx)?.is_empty() {
                    kept.push(traverser);
                }
            }
            Ok(kept)
        }
        Pattern::And(inner) => {
            let mut batch = batch;
            for pattern in inner {
                batch = walk(pattern, batch, cx)?;
            }
            Ok(batch)
        }
        Pattern::Or(inner) => {
            let mut found = Vec::new();
            for traverser in batch {
                for pattern in inner {
                    let results = walk(pattern, vec![traverser.clone()], cx)?;
                    if !results.is_empty() {
                        found.extend(results);
                        break;
                    }
                }
            }
            Ok(found)
        }
        Pattern::Where { child, .. } => {
            let found = cx.tests(child, &batch)?;
            let mut found = found.into_iter();
            let mut batch = batch;
            batch.retain(|_| found.next().unwrap_or(false));
            Ok(batch)
        }
    }
}

fn bind(traverser: &mut Traverser, labels: &Arc<[Arc<str>]>) {
    let before = traverser.path.take();
    traverser.path = Some(Arc::new(super::traverser::PathNode {
        value: traverser.value.clone(),
        labels: labels.clone(),
        before,
    }));
}

fn finish(step: &Step, names: &[Arc<str>], batch: Batch, cx: &Context<'_>) -> Batch {
    let mut results = Vec::with_capacity(batch.len());
    for mut traverser in batch {
        let entries = names
            .iter()
            .filter_map(|name| Some((Value::String(name.clone()), traverser.last(name)?.clone())))
            .collect();
        traverser.go(map(entries), &step.labels, cx.path);
        results.push(traverser);
    }
    results
}

fn names_of(patterns: &[Pattern]) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = Vec::new();
    for pattern in patterns {
        pattern.names(&mut |name| {
            if !names.contains(name) {
                names.push(name.clone());
            }
        });
    }
    names
}

/// The names that stand for something before the patterns are tried.
fn bound_before(batch: &[Traverser], names: &[Arc<str>]) -> Vec<Arc<str>> {
    let Some(first) = batch.first() else { return Vec::new() };
    names.iter().filter(|name| first.last(name).is_some()).cloned().collect()
}

/// The name that the current object is: one that patterns begin with and none ends with, or the first.
fn start_of(patterns: &[Pattern]) -> Option<Arc<str>> {
    let mut starts = Vec::new();
    let mut ends = Vec::new();
    for pattern in patterns {
        if let Pattern::Walk { start, .. } = pattern {
            starts.push(start.clone());
        }
        if let Pattern::And(inner) | Pattern::Or(inner) = pattern {
            starts.extend(start_of(inner));
        }
        pattern.ends(&mut |name| ends.push(name.clone()));
    }
    let first = starts.first().cloned();
    starts.into_iter().find(|start| !ends.contains(start)).or(first)
}
