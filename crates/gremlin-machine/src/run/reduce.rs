//! `count`, `sum`, `max`, `min`, `mean` and `fold`, of all that comes and of collections.

use std::sync::Arc;

use armilla_gremlin_value::{Arithmetic, Value};

use super::context::Context;
use super::pipeline::{Input, Operator};
use super::traverser::{Batch, Traverser};
use crate::error::{MachineError, Result};
use crate::step::{Operator as Folding, Reduction, Step};

/// A reduction as far as it got.
#[derive(Debug, Clone)]
enum State {
    Count(u64),
    Number(Option<Value>),
    Mean(Option<Value>, u64),
    List(Vec<Value>),
    Folded(Value),
}

impl State {
    fn new(reduction: &Reduction) -> State {
        match reduction {
            Reduction::Count => State::Count(0),
            Reduction::Sum | Reduction::Maximum | Reduction::Minimum => State::Number(None),
            Reduction::Mean => State::Mean(None, 0),
            Reduction::Fold(None) => State::List(Vec::new()),
            Reduction::Fold(Some((seed, _))) => State::Folded(seed.clone()),
        }
    }

    fn add(&mut self, reduction: &Reduction, value: Value, bulk: u64, cx: &mut Context<'_>) -> Result<()> {
        match self {
            State::Count(count) => *count = count.saturating_add(bulk),
            State::List(values) => {
                for _ in 1..bulk {
                    values.push(value.clone());
                }
                values.push(value);
            }
            State::Folded(folded) => {
                let Reduction::Fold(Some((_, folding))) = reduction else { return Ok(()) };
                *folded = fold_bulk(*folding, folded, &value, bulk, cx)?;
            }
            State::Number(_) | State::Mean(..) if matches!(value, Value::Null) => {}
            State::Number(number) => {
                let next = match (reduction, number.as_ref()) {
                    (Reduction::Sum, before) => {
                        let value = add_up(&value, bulk)?;
                        match before {
                            None => value,
                            Some(before) => before.compute(Arithmetic::Add, &value).map_err(overflow)?,
                        }
                    }
                    (_, None) => value,
                    (Reduction::Maximum, Some(before)) => larger(before, &value),
                    (_, Some(before)) => smaller(before, &value),
                };
                *number = Some(next);
            }
            State::Mean(sum, count) => {
                let value = add_up(&value, bulk)?;
                *sum = Some(match sum.as_ref() {
                    None => value,
                    Some(before) => before.compute(Arithmetic::Add, &value).map_err(overflow)?,
                });
                *count = count.saturating_add(bulk);
            }
        }
        Ok(())
    }

    fn result(self) -> Option<Value> {
        Some(match self {
            State::Count(count) => count_value(count),
            State::Number(number) => number?,
            State::Mean(sum, count) => match sum? {
                Value::BigDecimal(text) => {
                    Value::BigDecimal(text).compute(Arithmetic::Divide, &count_value(count)).ok()?
                }
                sum => Value::Double(sum.as_real()? / count as f64),
            },
            State::List(values) => Value::List(Arc::new(values)),
            State::Folded(value) => value,
        })
    }
}

fn overflow(error: armilla_gremlin_value::ArithmeticError) -> MachineError {
    MachineError::runtime(error.to_string())
}

fn add_up(value: &Value, bulk: u64) -> Result<Value> {
    if !value.is_number() {
        return Err(MachineError::runtime(format!(
            "only numbers can be added up, not a {}",
            value.type_word()
        )));
    }
    Ok(value.multiplied(bulk)?)
}

fn is_nan(value: &Value) -> bool {
    value.as_real().is_some_and(f64::is_nan)
}

/// Returns the larger of two; NaN loses.
fn larger(left: &Value, right: &Value) -> Value {
    if is_nan(left) || (!is_nan(right) && right.order(left).is_gt()) { right.clone() } else { left.clone() }
}

fn smaller(left: &Value, right: &Value) -> Value {
    if is_nan(left) || (!is_nan(right) && right.order(left).is_lt()) { right.clone() } else { left.clone() }
}

pub(crate) fn count_value(count: u64) -> Value {
    Value::Int64(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Makes the traversers of counts, one for each origin.
pub(crate) fn numbers(counts: Vec<u64>, labels: &Arc<[Arc<str>]>, cx: &Context<'_>) -> Batch {
    counts
        .into_iter()
        .enumerate()
        .map(|(origin, count)| {
            let mut traverser = Traverser::new(count_value(count));
            traverser.origin = origin as u32;
            traverser.arrive(labels, cx.path);
            traverser
        })
        .collect()
}

/// Applies an operator as often as a bulk says.
pub(crate) fn fold_bulk(
    folding: Folding,
    left: &Value,
    right: &Value,
    bulk: u64,
    cx: &mut Context<'_>,
) -> Result<Value> {
    let once = |value: &Value| fold(folding, left, value);
    match folding {
        _ if bulk == 0 => Ok(left.clone()),
        Folding::Sum | Folding::Minus if right.is_number() => once(&right.multiplied(bulk)?),
        Folding::Multiply | Folding::Divide | Folding::AddAll => {
            let mut folded = once(right)?;
            for _ in 1..bulk {
                cx.work(1 + super::values::len(&folded) / 8)?;
                folded = fold(folding, &folded, right)?;
            }
            Ok(folded)
        }
        // What is there already changes nothing when it comes again, and what is no number fails the first time.
        _ => once(right),
    }
}

/// Applies an operator of folds and sacks.
pub(crate) fn fold(folding: Folding, left: &Value, right: &Value) -> Result<Value> {
    Ok(match folding {
        Folding::Sum => null_or(left, right, |left, right| left.compute(Arithmetic::Add, right))?,
        Folding::Minus => null_or(left, right, |left, right| left.compute(Arithmetic::Subtract, right))?,
        Folding::Multiply => null_or(left, right, |left, right| left.compute(Arithmetic::Multiply, right))?,
        Folding::Divide => null_or(left, right, |left, right| left.compute(Arithmetic::Divide, right))?,
        Folding::Minimum => smaller(left, right),
        Folding::Maximum => larger(left, right),
        Folding::Assign => right.clone(),
        Folding::And => Value::Bool(truth(left)? && truth(right)?),
        Folding::Or => Value::Bool(truth(left)? || truth(right)?),
        Folding::AddAll => add_all(left, right)?,
    })
}

fn null_or(
    left: &Value,
    right: &Value,
    compute: impl Fn(&Value, &Value) -> std::result::Result<Value, armilla_gremlin_value::ArithmeticError>,
) -> Result<Value> {
    match (left, right) {
        (Value::Null, _) => Ok(right.clone()),
        (_, Value::Null) => Ok(left.clone()),
        _ => Ok(compute(left, right)?),
    }
}

fn truth(value: &Value) -> Result<bool> {
    match value {
        Value::Bool(value) => Ok(*value),
        value => Err(MachineError::runtime(format!("and/or take booleans, not a {}", value.type_word()))),
    }
}

fn add_all(left: &Value, right: &Value) -> Result<Value> {
    match (left, right) {
        (Value::Null, _) => Ok(right.clone()),
        (_, Value::Null) => Ok(left.clone()),
        (Value::Map(left), Value::Map(right)) => {
            super::guard::parts(left.entries.len() as u64 + right.entries.len() as u64)?;
            Ok(super::values::map(super::values::merged_entries(left, right)))
        }
        (Value::Set(left), right) => {
            let right = super::values::items(right)?;
            super::guard::parts(left.len() as u64 + right.len() as u64)?;
            Ok(super::values::set(left.iter().cloned().chain(right).collect()))
        }
        (Value::List(_) | Value::BulkSet(_), right) => {
            super::guard::parts(super::values::len(left).saturating_add(super::values::len(right)))?;
            let mut values = super::values::items(left)?;
            values.extend(super::values::items(right)?);
            Ok(Value::List(Arc::new(values)))
        }
        _ => Err(MachineError::runtime("addAll takes collections and maps")),
    }
}

pub(crate) struct ReduceOperator<'p> {
    step: &'p Step,
    reduction: &'p Reduction,
    done: bool,
}

impl<'p> ReduceOperator<'p> {
    pub(crate) fn new(step: &'p Step, reduction: &'p Reduction) -> ReduceOperator<'p> {
        ReduceOperator { step, reduction, done: false }
    }

    fn reduce(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        let mut states = vec![State::new(self.reduction); input.origins as usize];
        let keeps = matches!(self.reduction, Reduction::Fold(None | Some((_, Folding::AddAll))));
        let mut held = 0;
        while let Some(batch) = input.next(cx)? {
            cx.graph.check()?;
            if keeps {
                let bulk = batch.iter().fold(0, |sum: u64, traverser| sum.saturating_add(traverser.bulk));
                held += cx.hold_batch(&batch)?;
                let listed = 32u64.saturating_mul(bulk);
                cx.hold(listed)?;
                held = held.saturating_add(listed);
            }
            for traverser in batch {
                if let Some(state) = states.get_mut(traverser.origin as usize) {
                    cx.work(1)?;
                    state.add(self.reduction, traverser.value, traverser.bulk, cx)?;
                }
            }
        }
        cx.release(held);
        let mut batch = Vec::with_capacity(states.len());
        for (origin, state) in states.into_iter().enumerate() {
            let Some(value) = state.result() else { continue };
            let mut traverser = Traverser::new(value);
            traverser.origin = origin as u32;
            traverser.arrive(&self.step.labels, cx.path);
            batch.push(traverser);
        }
        Ok(Some(batch))
    }
}

impl<'p> Operator<'p> for ReduceOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        self.reduce(input, cx).map_err(|error| error.at(&self.step.name, self.step.position))
    }

    fn restart(&mut self) {
        self.done = false;
    }
}

/// Reduces a collection.
pub(crate) fn local(reduction: &Reduction, value: &Value, cx: &mut Context<'_>) -> Result<Option<Value>> {
    if let Reduction::Count = reduction {
        return Ok(Some(count_value(super::values::len(value))));
    }
    let mut state = State::new(reduction);
    let mut add = |item: &Value, bulk: u64| {
        cx.work(1)?;
        state.add(reduction, item.clone(), bulk, cx)
    };
    match value {
        Value::Null => return Ok(None),
        Value::Map(map) => map.entries.iter().try_for_each(|(_, item)| add(item, 1))?,
        Value::List(items) | Value::Set(items) => items.iter().try_for_each(|item| add(item, 1))?,
        Value::BulkSet(items) => items.iter().try_for_each(|(item, bulk)| add(item, *bulk))?,
        Value::Path(path) => path.objects.iter().try_for_each(|item| add(item, 1))?,
        value => add(value, 1)?,
    }
    Ok(state.result())
}
