//! Steps on collections: local slices, order and reductions, and the steps that join two lists.

use std::sync::Arc;

use armilla_gremlin_value::{Key, Predicate, Value};

use super::context::Context;
use super::guard::{self, make_each};
use super::traverser::{Batch, FastSet, Traverser};
use super::values::{items, list, map, merged_entries, set};
use crate::error::{MachineError, Result};
use crate::limits;
use crate::step::{Argument, By, Column, Kind, ListStep, Quantifier, Sorting, Step};

pub(crate) fn apply<'p>(step: &'p Step, batch: Batch, cx: &mut Context<'p>) -> Result<Batch> {
    match &step.kind {
        Kind::ReduceLocal(reduction) => {
            make_each(step, batch, cx, |traverser, cx| super::reduce::local(reduction, &traverser.value, cx))
        }
        Kind::DedupLocal => make_each(step, batch, cx, |traverser, _| {
            Ok(Some(match &traverser.value {
                Value::List(values) | Value::Set(values) => set(values.to_vec()),
                Value::BulkSet(values) => set(values.iter().map(|(value, _)| value.clone()).collect()),
                value => value.clone(),
            }))
        }),
        Kind::OrderLocal(bys) => {
            make_each(step, batch, cx, |traverser, cx| order_local(traverser, bys, cx).map(Some))
        }
        Kind::RangeLocal { low, high } => {
            make_each(step, batch, cx, |traverser, _| slice(&traverser.value, *low, *high))
        }
        Kind::TailLocal(amount) => make_each(step, batch, cx, |traverser, _| {
            let len = super::values::len(&traverser.value);
            slice(&traverser.value, len.saturating_sub(*amount), None)
        }),
        Kind::SampleLocal(amount) => make_each(step, batch, cx, |traverser, cx| {
            let mut values = match &traverser.value {
                value @ (Value::List(_) | Value::Set(_) | Value::BulkSet(_) | Value::Map(_)) => items(value)?,
                value => return Ok(Some(value.clone())),
            };
            while values.len() as u64 > *amount {
                let at = (cx.draw() % values.len() as u64) as usize;
                values.swap_remove(at);
            }
            Ok(Some(rebuilt(&traverser.value, values)))
        }),
        Kind::Index { map: as_map } => make_each(step, batch, cx, |traverser, _| {
            let values = items(&traverser.value)?;
            let index = |at: usize| Value::Int32(i32::try_from(at).unwrap_or(i32::MAX));
            Ok(Some(if *as_map {
                map(values.into_iter().enumerate().map(|(at, value)| (index(at), value)).collect())
            } else {
                list(values.into_iter().enumerate().map(|(at, value)| list(vec![value, index(at)])).collect())
            }))
        }),
        Kind::Conjoin(separator) => make_each(step, batch, cx, |traverser, _| {
            let values = incoming("conjoin", &traverser.value)?;
            let mut joined = String::new();
            for (at, value) in values.iter().filter(|value| !matches!(value, Value::Null)).enumerate() {
                let separator = if at == 0 { "" } else { separator.as_ref() };
                let room = limits::TEXT_LEN_MAX - joined.len();
                let room = room.checked_sub(separator.len()).ok_or_else(|| guard::too_long("conjoin"))?;
                joined.push_str(separator);
                joined.push_str(&value.to_text(room).map_err(|_| guard::too_long("conjoin"))?);
            }
            Ok(Some(Value::text(joined)))
        }),
        Kind::List { step: what, other } => {
            let others: Vec<Option<Value>> = match other {
                Argument::Value(value) => vec![Some(value.clone()); batch.len()],
                Argument::Child(child) => cx
                    .firsts(child, &batch)?
                    .into_iter()
                    .map(|first| first.map(|first| first.value))
                    .collect(),
            };
            let mut others = others.into_iter();
            let by_child = matches!(other, Argument::Child(_));
            make_each(step, batch, cx, |traverser, cx| {
                let Some(Some(other)) = others.next() else {
                    return Err(MachineError::runtime(format!(
                        "{}() needs a list as its argument",
                        step.name
                    )));
                };
                cx.work(super::values::len(&traverser.value).saturating_add(super::values::len(&other)))?;
                join(*what, &step.name, &traverser.value, &other, by_child).map(Some)
            })
        }
        _ => Ok(batch),
    }
}

/// Says whether a predicate holds for all items of a collection, for any, or for none; of what is none it does not.
pub(crate) fn holds(
    quantifier: Quantifier,
    predicate: &Predicate,
    value: &Value,
    cx: &mut Context<'_>,
) -> Result<bool> {
    // How often an item occurs changes nothing.
    let items: Vec<&Value> = match value {
        Value::List(items) | Value::Set(items) => items.iter().collect(),
        Value::BulkSet(items) => items.iter().map(|(item, _)| item).collect(),
        _ => return Ok(false),
    };
    let deciding = quantifier != Quantifier::All;
    for item in items {
        cx.work(guard::work_of(predicate))?;
        if predicate.test(item) == deciding {
            return Ok(quantifier == Quantifier::Any);
        }
    }
    Ok(quantifier != Quantifier::Any)
}

/// Makes a collection of the same kind from other items.
fn rebuilt(value: &Value, values: Vec<Value>) -> Value {
    match value {
        Value::Set(_) => Value::Set(Arc::new(values)),
        Value::Map(_) => map(values
            .into_iter()
            .filter_map(|value| match value {
                Value::Entry(entry) => Some((entry.0.clone(), entry.1.clone())),
                _ => None,
            })
            .collect()),
        Value::Path(path) => {
            let labels = vec![Vec::new(); values.len()];
            let _ = path;
            Value::Path(Arc::new(armilla_gremlin_value::Path { labels, objects: values }))
        }
        _ => list(values),
    }
}

/// Slices a collection; of what is none, itself.
fn slice(value: &Value, low: u64, high: Option<u64>) -> Result<Option<Value>> {
    if !matches!(value, Value::List(_) | Value::Set(_) | Value::BulkSet(_) | Value::Map(_) | Value::Path(_)) {
        return Ok(Some(value.clone()));
    }
    let values = items(value)?;
    let low = usize::try_from(low).unwrap_or(usize::MAX).min(values.len());
    let high =
        high.map_or(values.len(), |high| usize::try_from(high).unwrap_or(usize::MAX).min(values.len()));
    if let Value::Path(path) = value {
        let labels = path.labels.get(low..high).unwrap_or_default().to_vec();
        let objects = path.objects.get(low..high).unwrap_or_default().to_vec();
        return Ok(Some(Value::Path(Arc::new(armilla_gremlin_value::Path { labels, objects }))));
    }
    let kept = values.get(low..high).unwrap_or_default().to_vec();
    Ok(Some(rebuilt(value, kept)))
}

fn order_local<'p>(traverser: &Traverser, bys: &'p [(By, Sorting)], cx: &mut Context<'p>) -> Result<Value> {
    let value = &traverser.value;
    if !matches!(value, Value::List(_) | Value::Set(_) | Value::BulkSet(_) | Value::Map(_) | Value::Path(_)) {
        return Ok(value.clone());
    }
    let batch: Batch = items(value)?
        .into_iter()
        .map(|item| Traverser { value: item, bulk: 1, origin: 0, path: traverser.path.clone(), sack: None })
        .collect();
    static BY_KEYS: [(By, Sorting); 1] = [(By::Column(Column::Keys), Sorting::Ascending)];
    let bys = if bys.is_empty() && matches!(value, Value::Map(_)) { &BY_KEYS } else { bys };
    let sorted = super::ordering::sorted(batch, bys, cx)?;
    let sorted: Vec<Value> = sorted.into_iter().map(|traverser| traverser.value).collect();
    Ok(match value {
        Value::Map(_) => rebuilt(value, sorted),
        _ => list(sorted),
    })
}

/// Returns the items of a list that comes to a step.
fn incoming(name: &str, value: &Value) -> Result<Vec<Value>> {
    match value {
        Value::List(_) | Value::Set(_) | Value::BulkSet(_) | Value::Path(_) => items(value),
        Value::Null => Err(MachineError::runtime(format!(
            "Incoming traverser for {name} step can't be null: fold() before it"
        ))),
        value => Err(MachineError::runtime(format!(
            "{name} step can only take an array or an Iterable type for incoming traversers, encountered {}",
            value.type_word()
        ))),
    }
}

/// Returns the items of the list that a step has as its argument.
fn given(name: &str, value: &Value, by_child: bool) -> Result<Vec<Value>> {
    let message = match (value, by_child) {
        (Value::List(_) | Value::Set(_) | Value::BulkSet(_) | Value::Path(_), _) => return items(value),
        (Value::Null, true) => {
            format!("traversal argument for {name} step must yield an iterable type, not null")
        }
        (value, true) => format!(
            "traversal argument for {name} step must yield an iterable type, encountered {}",
            value.type_word()
        ),
        (Value::Null, false) => format!("Argument provided for {name} step can't be null"),
        (value, false) => format!(
            "{name} step can only take an array or an Iterable as an argument, encountered {}",
            value.type_word()
        ),
    };
    Err(MachineError::runtime(message))
}

fn join(what: ListStep, name: &str, left: &Value, right: &Value, by_child: bool) -> Result<Value> {
    if let (ListStep::Merge, Value::Map(left), Value::Map(right)) = (what, left, right) {
        return Ok(map(merged_entries(left, right)));
    }
    let (left, right) = (incoming(name, left)?, given(name, right, by_child)?);
    let keys = |values: &[Value]| values.iter().cloned().map(Key).collect::<FastSet<Key>>();
    Ok(match what {
        ListStep::Combine => list(left.into_iter().chain(right).collect()),
        ListStep::Merge => set(left.into_iter().chain(right).collect()),
        ListStep::Difference => {
            let right = keys(&right);
            set(left.into_iter().filter(|value| !right.contains(&Key(value.clone()))).collect())
        }
        ListStep::Intersect => {
            let right = keys(&right);
            set(left.into_iter().filter(|value| right.contains(&Key(value.clone()))).collect())
        }
        ListStep::Disjunct => {
            let (in_left, in_right) = (keys(&left), keys(&right));
            let only_left = left.into_iter().filter(|value| !in_right.contains(&Key(value.clone())));
            let only_right = right.into_iter().filter(|value| !in_left.contains(&Key(value.clone())));
            set(only_left.chain(only_right).collect())
        }
        ListStep::Product => {
            // A pair is a list of two.
            guard::parts((left.len() as u64).saturating_mul(right.len() as u64).saturating_mul(3))?;
            let mut pairs = Vec::with_capacity(left.len() * right.len());
            for left in &left {
                pairs.extend(right.iter().map(|right| list(vec![left.clone(), right.clone()])));
            }
            list(pairs)
        }
    })
}
