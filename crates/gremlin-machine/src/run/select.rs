//! What labels stand for: `select`, `where`, `math` and `format`.

use std::sync::Arc;

use armilla_gremlin_value::{Predicate, Value};

use super::context::Context;
use super::side::side_value;
use super::simple::{keep, try_each};
use super::traverser::{Batch, Traverser};
use super::values::{by_at, by_each, entry, list, map};
use crate::error::{MachineError, Result};
use crate::limits;
use crate::math::Expression;
use crate::step::{By, Kind, Pop, Step};

/// Finds what a name stands for: an entry of the map it is at, a label of the way, or a side effect.
pub(crate) fn find<'p>(
    traverser: &Traverser,
    name: &Value,
    pop: Option<Pop>,
    cx: &mut Context<'p>,
) -> Result<Option<Value>> {
    if let Value::Map(map) = &traverser.value
        && let Some(value) = entry(map, name)
    {
        return Ok(Some(value.clone()));
    }
    let Some(label) = name.as_str() else { return Ok(None) };
    if let Some(value) = side_value(label, cx)? {
        return Ok(Some(value));
    }
    Ok(match pop.unwrap_or(Pop::Last) {
        Pop::Last => traverser.last(label).cloned(),
        Pop::First => traverser.all(label).first().map(|value| (*value).clone()),
        Pop::All => {
            let all: Vec<Value> = traverser.all(label).into_iter().cloned().collect();
            if all.is_empty() { None } else { Some(list(all)) }
        }
        Pop::Mixed => {
            let mut all: Vec<Value> = traverser.all(label).into_iter().cloned().collect();
            match all.len() {
                0 => None,
                1 => all.pop(),
                _ => Some(list(all)),
            }
        }
    })
}

pub(crate) fn select<'p>(step: &'p Step, batch: Batch, cx: &mut Context<'p>) -> Result<Batch> {
    match &step.kind {
        Kind::Select { pop, keys, bys } => {
            if let [key] = keys.as_slice() {
                return select_one(step, &Value::String(key.clone()), *pop, bys, batch, cx);
            }
            try_each(step, batch, cx, |traverser, cx| {
                let mut entries = Vec::with_capacity(keys.len());
                for (at, key) in keys.iter().enumerate() {
                    // A name that is given again has the entry that it has.
                    if keys.get(..at).is_some_and(|before| before.contains(key)) {
                        continue;
                    }
                    let name = Value::String(key.clone());
                    let Some(value) = find(traverser, &name, *pop, cx)? else { return Ok(None) };
                    match by_each(by_at(bys, at), traverser, vec![value], cx)?.pop().flatten() {
                        Some(value) => entries.push((name, value)),
                        None => return Ok(None),
                    }
                }
                Ok(Some(map(entries)))
            })
        }
        Kind::SelectChild { pop, child, bys } => {
            let names = cx.firsts(child, &batch)?;
            let mut names = names.into_iter();
            try_each(step, batch, cx, |traverser, cx| {
                let Some(Some(name)) = names.next() else { return Ok(None) };
                let Some(value) = find(traverser, &name.value, *pop, cx)? else { return Ok(None) };
                Ok(by_each(by_at(bys, 0), traverser, vec![value], cx)?.pop().flatten())
            })
        }
        _ => Ok(batch),
    }
}

fn select_one<'p>(
    step: &'p Step,
    name: &Value,
    pop: Option<Pop>,
    bys: &'p [By],
    batch: Batch,
    cx: &mut Context<'p>,
) -> Result<Batch> {
    let mut inputs = Vec::with_capacity(batch.len());
    let mut owners = Vec::with_capacity(batch.len());
    for traverser in batch {
        if let Some(value) = find(&traverser, name, pop, cx)? {
            inputs.push(Traverser { value, ..traverser.clone() });
            owners.push(traverser);
        }
    }
    let values = super::values::by_values(by_at(bys, 0), &inputs, cx)?;
    let mut selected = Vec::with_capacity(owners.len());
    for (mut traverser, value) in owners.into_iter().zip(values) {
        if let Some(value) = value {
            traverser.go(value, &step.labels, cx.path);
            selected.push(traverser);
        }
    }
    Ok(selected)
}

pub(crate) fn where_step<'p>(step: &'p Step, batch: Batch, cx: &mut Context<'p>) -> Result<Batch> {
    match &step.kind {
        Kind::WhereStart(label) => {
            let name = Value::String(label.clone());
            let mut found = Vec::with_capacity(batch.len());
            for mut traverser in batch {
                // Only the value is another one: the way stays what it was.
                if let Some(value) = find(&traverser, &name, None, cx)? {
                    traverser.value = value;
                    found.push(traverser);
                }
            }
            Ok(found)
        }
        Kind::WhereEnd(labels) => {
            let mut kept = Vec::with_capacity(batch.len());
            for traverser in &batch {
                let mut holds = true;
                for label in labels.iter() {
                    holds &= traverser.last(label).is_some_and(|value| value.equals(&traverser.value));
                }
                kept.push(holds);
            }
            keep(step, batch, kept, cx)
        }
        Kind::WherePredicate { start, predicate, bys } => {
            let mut kept = Vec::with_capacity(batch.len());
            for traverser in &batch {
                kept.push(where_holds(traverser, start.as_ref(), predicate, bys, cx)?);
            }
            keep(step, batch, kept, cx)
        }
        _ => Ok(batch),
    }
}

fn where_holds<'p>(
    traverser: &Traverser,
    start: Option<&Arc<str>>,
    predicate: &Predicate,
    bys: &'p [By],
    cx: &mut Context<'p>,
) -> Result<bool> {
    let left = match start {
        None => Some(traverser.value.clone()),
        Some(start) => find(traverser, &Value::String(start.clone()), None, cx)?,
    };
    let Some(left) = left else { return Ok(false) };
    let Some(left) = by_each(by_at(bys, 0), traverser, vec![left], cx)?.pop().flatten() else {
        return Ok(false);
    };
    let mut at = 0;
    let Some(predicate) = resolved(traverser, predicate, bys, &mut at, cx)? else { return Ok(false) };
    Ok(predicate.test(&left))
}

/// Puts what names stand for in the place of the names; none if one stands for nothing.
fn resolved<'p>(
    traverser: &Traverser,
    predicate: &Predicate,
    bys: &'p [By],
    at: &mut usize,
    cx: &mut Context<'p>,
) -> Result<Option<Predicate>> {
    let mut values = Vec::with_capacity(predicate.values.len());
    for value in &predicate.values {
        match value {
            Value::Predicate(inner) => {
                let Some(inner) = resolved(traverser, inner, bys, at, cx)? else { return Ok(None) };
                values.push(Value::Predicate(Arc::new(inner)));
            }
            Value::List(names) | Value::Set(names) => {
                let mut items = Vec::with_capacity(names.len());
                for name in names.iter() {
                    let Some(value) = resolved_one(traverser, name, bys, at, cx)? else { return Ok(None) };
                    items.push(value);
                }
                values.push(list(items));
            }
            name => {
                let Some(value) = resolved_one(traverser, name, bys, at, cx)? else { return Ok(None) };
                values.push(value);
            }
        }
    }
    // A collection that one name stands for is taken apart by `within`.
    if let [value @ Value::BulkSet(_)] = values.as_slice() {
        let items = super::values::items(value)?;
        values = vec![list(items)];
    }
    Ok(Some(Predicate::new(predicate.kind, values)))
}

fn resolved_one<'p>(
    traverser: &Traverser,
    name: &Value,
    bys: &'p [By],
    at: &mut usize,
    cx: &mut Context<'p>,
) -> Result<Option<Value>> {
    let Some(value) = find(traverser, name, None, cx)? else { return Ok(None) };
    *at += 1;
    Ok(by_each(by_at(bys, *at), traverser, vec![value], cx)?.pop().flatten())
}

pub(crate) fn math<'p>(
    step: &'p Step,
    expression: &Expression,
    bys: &'p [By],
    batch: Batch,
    cx: &mut Context<'p>,
) -> Result<Batch> {
    try_each(step, batch, cx, |traverser, cx| {
        let mut numbers = Vec::with_capacity(expression.names.len());
        for (at, name) in expression.names.iter().enumerate() {
            let value = match name.as_ref() {
                "_" => Some(traverser.value.clone()),
                _ => find(traverser, &Value::String(name.clone()), None, cx)?,
            };
            let Some(value) = value else { return Ok(None) };
            let Some(value) = by_each(by_at(bys, at), traverser, vec![value], cx)?.pop().flatten() else {
                return Ok(None);
            };
            match value.as_real() {
                Some(number) => numbers.push(number),
                None => {
                    return Err(MachineError::runtime(format!(
                        "The variable {name} for math() step must resolve to a Number - it is instead of type {}",
                        value.type_word()
                    )));
                }
            }
        }
        Ok(Some(Value::Double(expression.compute(&numbers))))
    })
}

/// Fills the names of a pattern, `%{name}`; `%{_}` takes the next `by`.
pub(crate) fn format<'p>(
    step: &'p Step,
    pattern: &str,
    bys: &'p [By],
    mut batch: Batch,
    cx: &mut Context<'p>,
) -> Result<Batch> {
    cx.hydrate(&mut batch)?;
    super::guard::make_each(step, batch, cx, |traverser, cx| {
        let mut text = String::with_capacity(pattern.len());
        let mut rest = pattern;
        let mut at = 0;
        while let Some(start) = rest.find("%{") {
            let Some(len) = rest.get(start..).and_then(|rest| rest.find('}')) else { break };
            text.push_str(rest.get(..start).unwrap_or(""));
            let name = rest.get(start + 2..start + len).unwrap_or("");
            rest = rest.get(start + len + 1..).unwrap_or("");
            let value = if name == "_" {
                let made =
                    by_each(by_at(bys, at), traverser, vec![traverser.value.clone()], cx)?.pop().flatten();
                at += 1;
                made
            } else {
                let property = match &traverser.value {
                    Value::Vertex(_) | Value::Edge(_) | Value::VertexProperty(_) => {
                        super::values::property_of(&traverser.value, name)?
                    }
                    _ => None,
                };
                match property {
                    Some(value) => Some(value),
                    None => find(traverser, &Value::text(name), None, cx)?,
                }
            };
            let Some(value) = value else { return Ok(None) };
            let room = limits::TEXT_LEN_MAX.saturating_sub(text.len());
            text.push_str(&value.to_text(room).map_err(|_| super::guard::too_long("format"))?);
        }
        text.push_str(rest);
        Ok(Some(Value::text(text)))
    })
}
