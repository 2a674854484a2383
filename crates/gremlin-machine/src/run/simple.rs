//! Steps that look at one batch at a time: filters, maps, and side effects without a barrier.

use std::sync::Arc;

use armilla_gremlin_value::{Property, Value, VertexProperty};

use super::context::{Context, SideEffect};
use super::lookup::satisfies;
use super::traverser::{Batch, Traverser, path_of, section};
use super::values::{by_at, by_each, by_values, column_of, items, map, token_of};
use crate::error::{MachineError, Result};
use crate::graph::Condition;
use crate::step::{EdgeEnd, Kind, Step};

/// The work of a test, which may be one of many alternatives.
const TEST_WORK: u64 = 64;

/// Applies a step to a batch.
pub(crate) fn apply<'p>(step: &'p Step, batch: Batch, cx: &mut Context<'p>) -> Result<Batch> {
    match &step.kind {
        Kind::EdgeVertex { end, conditions } => edge_vertex(step, *end, conditions, batch, cx),
        Kind::Has(conditions) => {
            let mut batch = batch;
            if needs_properties(conditions) {
                cx.hydrate(&mut batch)?;
            }
            filter(step, batch, cx, |traverser, _| satisfies(&traverser.value, conditions))
        }
        Kind::HasChild { key, child } => {
            let mut batch = batch;
            cx.hydrate(&mut batch)?;
            let mut inputs = Vec::new();
            let mut owners = Vec::new();
            for (at, traverser) in batch.iter().enumerate() {
                for property in properties_of(&traverser.value, std::slice::from_ref(key))? {
                    inputs.push(Traverser { value: property_value(&property), ..traverser.clone() });
                    owners.push(at);
                }
            }
            let found = cx.tests(child, &inputs)?;
            let mut kept = vec![false; batch.len()];
            for (owner, found) in owners.into_iter().zip(found) {
                if let Some(place) = kept.get_mut(owner) {
                    *place |= found;
                }
            }
            keep(step, batch, kept, cx)
        }
        Kind::HasKey(predicate) => filter(step, batch, cx, |traverser, _| {
            Ok(key_of_property(&traverser.value)
                .is_some_and(|key| predicate.test(&Value::String(key.clone()))))
        }),
        Kind::HasValue(predicate) => filter(step, batch, cx, |traverser, _| {
            Ok(match &traverser.value {
                Value::VertexProperty(property) => predicate.test(&property.value),
                Value::Property(property) => predicate.test(&property.value),
                _ => false,
            })
        }),
        Kind::Is(predicate) => filter(step, batch, cx, |traverser, cx| {
            cx.work(super::guard::work_of(predicate))?;
            Ok(predicate.test(&traverser.value))
        }),
        Kind::Filter { child, negated } => {
            let found = cx.tests(child, &batch)?;
            let kept = found.into_iter().map(|found| found != *negated).collect();
            keep(step, batch, kept, cx)
        }
        Kind::And(children) => {
            let mut batch = batch;
            for child in children {
                if batch.is_empty() {
                    break;
                }
                let found = cx.tests(child, &batch)?;
                let mut found = found.into_iter();
                batch.retain(|_| found.next().unwrap_or(false));
            }
            Ok(labelled(step, batch, cx))
        }
        Kind::Or(children) => {
            let mut kept = vec![false; batch.len()];
            for child in children {
                for (place, found) in kept.iter_mut().zip(cx.tests(child, &batch)?) {
                    *place |= found;
                }
            }
            keep(step, batch, kept, cx)
        }
        Kind::Coin(probability) => {
            let mut kept = Vec::with_capacity(batch.len());
            for mut traverser in batch {
                cx.work(traverser.bulk.min(crate::limits::DRAWS_MAX))?;
                traverser.bulk = super::guard::draw_passing(traverser.bulk, *probability, cx);
                if traverser.bulk > 0 {
                    kept.push(traverser);
                }
            }
            Ok(labelled(step, kept, cx))
        }
        Kind::SimplePath { cyclic, bys, from, to } => {
            let mut kept = Vec::with_capacity(batch.len());
            for traverser in &batch {
                let nodes = section(traverser.nodes(), from.as_ref(), to.as_ref());
                let mut seen: super::traverser::FastSet<armilla_gremlin_value::Key> = Default::default();
                let mut simple = true;
                let mut productive = true;
                for (at, node) in nodes.iter().enumerate() {
                    let value = if bys.is_empty() {
                        Some(node.value.clone())
                    } else {
                        by_each(by_at(bys, at), traverser, vec![node.value.clone()], cx)?.pop().flatten()
                    };
                    match value {
                        Some(value) => simple &= seen.insert(armilla_gremlin_value::Key(value)),
                        None => productive = false,
                    }
                }
                kept.push(productive && simple != *cyclic);
            }
            keep(step, batch, kept, cx)
        }
        Kind::Quantified { quantifier, predicate } => filter(step, batch, cx, |traverser, cx| {
            super::lists::holds(*quantifier, predicate, &traverser.value, cx)
        }),
        Kind::WherePredicate { .. } | Kind::WhereStart(_) | Kind::WhereEnd(_) => {
            super::select::where_step(step, batch, cx)
        }
        Kind::Select { .. } | Kind::SelectChild { .. } => super::select::select(step, batch, cx),
        Kind::Discard => Ok(Vec::new()),
        Kind::Identity => Ok(labelled(step, batch, cx)),
        Kind::Constant(value) => Ok(each(step, batch, cx, |_| value.clone())),
        Kind::Token(token) => {
            try_each(step, batch, cx, |traverser, _| token_of(&traverser.value, *token).map(Some))
        }
        Kind::Values(keys) => properties(step, batch, keys, cx, property_value),
        Kind::Properties(keys) => properties(step, batch, keys, cx, |property| property.clone()),
        Kind::ValueMap { .. } | Kind::ElementMap(_) => super::elements::maps(step, batch, cx),
        Kind::Element => try_each(step, batch, cx, |traverser, _| {
            Ok(match &traverser.value {
                Value::VertexProperty(property) => property.vertex.clone().map(Value::Vertex),
                Value::Property(property) => property.element.clone(),
                value => return Err(unfit("element", value)),
            })
        }),
        Kind::SelectColumn(column) => {
            try_each(step, batch, cx, |traverser, _| column_of(&traverser.value, *column).map(Some))
        }
        Kind::Project { keys, bys } => {
            let mut columns = Vec::with_capacity(keys.len());
            for (at, _) in keys.iter().enumerate() {
                columns.push(by_values(by_at(bys, at), &batch, cx)?.into_iter());
            }
            Ok(each(step, batch, cx, |_| {
                let mut entries = Vec::with_capacity(keys.len());
                for (key, column) in keys.iter().zip(&mut columns) {
                    if let Some(Some(value)) = column.next() {
                        entries.push((Value::String(key.clone()), value));
                    }
                }
                map(entries)
            }))
        }
        Kind::Path { bys, from, to } => try_each(step, batch, cx, |traverser, cx| {
            let nodes = section(traverser.nodes(), from.as_ref(), to.as_ref());
            let mut path = path_of(&nodes);
            if !bys.is_empty() {
                for (at, value) in path.objects.iter_mut().enumerate() {
                    match by_each(by_at(bys, at), traverser, vec![value.clone()], cx)?.pop().flatten() {
                        Some(made) => *value = made,
                        None => return Ok(None),
                    }
                }
            }
            Ok(Some(Value::Path(Arc::new(path))))
        }),
        Kind::Unfold => {
            let mut unfolded = Vec::with_capacity(batch.len());
            for traverser in batch {
                match &traverser.value {
                    Value::BulkSet(values) => {
                        for (value, bulk) in values.iter() {
                            let mut one = traverser.to(value.clone(), &step.labels, cx.path);
                            one.bulk = one.bulk.saturating_mul(*bulk);
                            unfolded.push(one);
                        }
                    }
                    Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Path(_) => {
                        for value in items(&traverser.value)? {
                            unfolded.push(traverser.to(value, &step.labels, cx.path));
                        }
                    }
                    value => unfolded.push(traverser.to(value.clone(), &step.labels, cx.path)),
                }
            }
            Ok(unfolded)
        }
        Kind::Loops(label) => {
            let round = match label {
                None => cx.loops.last(),
                Some(label) => cx.loops.iter().rev().find(|(other, _)| other.as_ref() == Some(label)),
            };
            let Some((_, round)) = round else {
                return Err(MachineError::runtime("loops() stands in no repeat()"));
            };
            let round = Value::Int32(i32::try_from(*round).unwrap_or(i32::MAX));
            Ok(each(step, batch, cx, |_| round.clone()))
        }
        Kind::Math { expression, bys } => super::select::math(step, expression, bys, batch, cx),
        Kind::Format { pattern, bys } => super::select::format(step, pattern, bys, batch, cx),
        Kind::Map(child) => {
            let firsts = cx.firsts(child, &batch)?;
            let mut mapped = Vec::with_capacity(batch.len());
            for (mut traverser, first) in batch.into_iter().zip(firsts) {
                if let Some(first) = first {
                    traverser.go(first.value, &step.labels, cx.path);
                    mapped.push(traverser);
                }
            }
            Ok(mapped)
        }
        Kind::FlatMap(child) => flat_map(step, child, batch, cx),
        Kind::Local(child) => {
            let results = cx.local(child, batch.clone())?;
            Ok(rejoined(step, &batch, results, cx))
        }
        Kind::Coalesce(children) => {
            let mut found: Vec<Batch> = vec![Vec::new(); batch.len()];
            let mut open: Vec<usize> = (0..batch.len()).collect();
            for child in children {
                if open.is_empty() {
                    break;
                }
                let inputs: Batch = open.iter().filter_map(|at| batch.get(*at).cloned()).collect();
                for result in cx.local(child, inputs)? {
                    let place = open.get(result.origin as usize).and_then(|at| found.get_mut(*at));
                    if let Some(place) = place {
                        place.push(result);
                    }
                }
                open.retain(|at| found.get(*at).is_some_and(Vec::is_empty));
            }
            let mut results = Vec::new();
            for (traverser, found) in batch.iter().zip(found) {
                for result in found {
                    let mut next = traverser.to(result.value, &step.labels, cx.path);
                    next.bulk = next.bulk.saturating_mul(result.bulk);
                    next.sack = result.sack;
                    results.push(next);
                }
            }
            Ok(results)
        }
        Kind::Optional(child) => {
            let results = cx.local(child, batch.clone())?;
            let mut found = vec![false; batch.len()];
            for result in &results {
                if let Some(place) = found.get_mut(result.origin as usize) {
                    *place = true;
                }
            }
            let mut joined = rejoined(step, &batch, results, cx);
            let missed =
                batch.into_iter().zip(found).filter(|(_, found)| !found).map(|(traverser, _)| traverser);
            joined.extend(labelled(step, missed.collect(), cx));
            Ok(joined)
        }
        Kind::Match(patterns) => super::matches::run(step, patterns, batch, cx),
        Kind::SideEffect(child) => {
            cx.local(child, batch.clone())?;
            Ok(labelled(step, batch, cx))
        }
        Kind::Aggregate { key, by, .. } => {
            super::side::collect(key, by, &batch, cx)?;
            Ok(labelled(step, batch, cx))
        }
        Kind::Group { key: Some(key), bys } => {
            super::group::add_groups(key, bys, &batch, cx)?;
            Ok(labelled(step, batch, cx))
        }
        Kind::GroupCount { key: Some(key), bys } => {
            super::group::add_counts(key, bys, &batch, cx)?;
            Ok(labelled(step, batch, cx))
        }
        Kind::Tree { key: Some(key), bys } => {
            let mut tree = match cx.side_effect(key) {
                Some(SideEffect::Tree(tree)) => std::mem::take(tree),
                _ => Default::default(),
            };
            super::side::grow(&mut tree, bys, &batch, cx)?;
            cx.set_side_effect(key, SideEffect::Tree(tree));
            Ok(labelled(step, batch, cx))
        }
        Kind::ReadSack => {
            try_each(step, batch, cx, |traverser, _| Ok(traverser.sack.clone().or(Some(Value::Null))))
        }
        Kind::Sack { operator, by, .. } => {
            let values = by_values(by, &batch, cx)?;
            let mut kept = Vec::with_capacity(batch.len());
            for (mut traverser, value) in batch.into_iter().zip(values) {
                if let Some(value) = value {
                    let before = traverser.sack.clone().unwrap_or(Value::Null);
                    let after = super::reduce::fold(*operator, &before, &value)?;
                    if *operator == crate::step::Operator::AddAll {
                        cx.hold(32 * super::values::len(&after))?;
                    }
                    traverser.sack = Some(after);
                    kept.push(traverser);
                }
            }
            Ok(labelled(step, kept, cx))
        }
        Kind::ReduceLocal(_)
        | Kind::DedupLocal
        | Kind::OrderLocal(_)
        | Kind::RangeLocal { .. }
        | Kind::TailLocal(_)
        | Kind::SampleLocal(_)
        | Kind::Index { .. }
        | Kind::Conjoin(_)
        | Kind::List { .. } => super::lists::apply(step, batch, cx),
        Kind::Text { .. }
        | Kind::Substring { .. }
        | Kind::Replace { .. }
        | Kind::Split { .. }
        | Kind::Concat(_)
        | Kind::AsNumber(_)
        | Kind::AsBool
        | Kind::AsDate
        | Kind::DateAdd { .. }
        | Kind::DateDiff(_) => super::texts::apply(step, batch, cx),
        Kind::AddVertex { .. }
        | Kind::AddEdge { .. }
        | Kind::Property(_)
        | Kind::PropertyMap(_)
        | Kind::Drop
        | Kind::Merge(_) => super::mutate::apply(step, batch, cx),
        _ => Err(MachineError::runtime(format!("{}() cannot stand here", step.name))),
    }
}

/// Makes the error of a value that a step cannot work with.
pub(crate) fn unfit(name: &str, value: &Value) -> MachineError {
    MachineError::runtime(format!("{name}() cannot work with a {}", value.type_word()))
}

pub(crate) fn labelled(step: &Step, mut batch: Batch, cx: &Context<'_>) -> Batch {
    if !step.labels.is_empty() {
        batch.iter_mut().for_each(|traverser| traverser.label(&step.labels, cx.path));
    }
    batch
}

pub(crate) fn keep(step: &Step, mut batch: Batch, kept: Vec<bool>, cx: &Context<'_>) -> Result<Batch> {
    let mut kept = kept.into_iter();
    batch.retain(|_| kept.next().unwrap_or(false));
    Ok(labelled(step, batch, cx))
}

fn filter<'p>(
    step: &Step,
    batch: Batch,
    cx: &mut Context<'p>,
    mut test: impl FnMut(&Traverser, &mut Context<'p>) -> Result<bool>,
) -> Result<Batch> {
    let mut kept = Vec::with_capacity(batch.len());
    for traverser in batch {
        cx.work(TEST_WORK)?;
        if test(&traverser, cx)? {
            kept.push(traverser);
        }
    }
    Ok(labelled(step, kept, cx))
}

pub(crate) fn each(
    step: &Step,
    mut batch: Batch,
    cx: &Context<'_>,
    mut make: impl FnMut(&Traverser) -> Value,
) -> Batch {
    for traverser in &mut batch {
        let value = make(traverser);
        traverser.go(value, &step.labels, cx.path);
    }
    batch
}

pub(crate) fn try_each<'p>(
    step: &Step,
    batch: Batch,
    cx: &mut Context<'p>,
    mut make: impl FnMut(&Traverser, &mut Context<'p>) -> Result<Option<Value>>,
) -> Result<Batch> {
    let mut made = Vec::with_capacity(batch.len());
    for mut traverser in batch {
        cx.work(1)?;
        if let Some(value) = make(&traverser, cx)? {
            traverser.go(value, &step.labels, cx.path);
            made.push(traverser);
        }
    }
    Ok(made)
}

fn flat_map<'p>(
    step: &'p Step,
    child: &'p crate::step::Traversal,
    batch: Batch,
    cx: &mut Context<'p>,
) -> Result<Batch> {
    let mut results = Vec::new();
    for result in cx.local(child, batch.clone())? {
        let Some(traverser) = batch.get(result.origin as usize) else { continue };
        let mut next = traverser.to(result.value, &step.labels, cx.path);
        next.bulk = next.bulk.saturating_mul(result.bulk);
        next.sack = result.sack;
        results.push(next);
    }
    Ok(results)
}

/// Gives results of a local child the origin and bulk of their inputs; they keep their own way.
fn rejoined(step: &Step, batch: &[Traverser], results: Batch, cx: &Context<'_>) -> Batch {
    let mut joined = Vec::with_capacity(results.len());
    for mut result in results {
        let Some(traverser) = batch.get(result.origin as usize) else { continue };
        result.origin = traverser.origin;
        result.bulk = result.bulk.saturating_mul(traverser.bulk);
        result.label(&step.labels, cx.path);
        joined.push(result);
    }
    joined
}

fn needs_properties(conditions: &[Condition]) -> bool {
    conditions.iter().any(|condition| !matches!(condition, Condition::Id(_) | Condition::Label(_)))
}

fn edge_vertex<'p>(
    step: &Step,
    end: EdgeEnd,
    conditions: &[Condition],
    batch: Batch,
    cx: &mut Context<'p>,
) -> Result<Batch> {
    let mut found = Vec::with_capacity(batch.len());
    for traverser in batch {
        let Value::Edge(edge) = &traverser.value else { return Err(unfit(&step.name, &traverser.value)) };
        let edge = edge.clone();
        let out = || Value::Vertex(Arc::new(edge.out_vertex()));
        let into = || Value::Vertex(Arc::new(edge.in_vertex()));
        match end {
            EdgeEnd::Out => found.push(traverser.to(out(), &step.labels, cx.path)),
            EdgeEnd::In => found.push(traverser.to(into(), &step.labels, cx.path)),
            EdgeEnd::Both => {
                found.push(traverser.to(out(), &step.labels, cx.path));
                found.push(traverser.to(into(), &step.labels, cx.path));
            }
            EdgeEnd::Other => {
                let from =
                    traverser.path.as_ref().and_then(|node| node.before.as_ref()).map(|node| &node.value);
                let from_id = match from {
                    Some(Value::Vertex(vertex)) => Value::Vertex(vertex.clone()),
                    _ => {
                        return Err(MachineError::runtime(
                            "otherV() needs an edge that was reached from a vertex, as by bothE()",
                        ));
                    }
                };
                let other = if out().equals(&from_id) { into() } else { out() };
                found.push(traverser.to(other, &step.labels, cx.path));
            }
        }
    }
    if !conditions.is_empty() {
        if needs_properties(conditions) {
            cx.hydrate(&mut found)?;
        }
        let mut kept = Vec::with_capacity(found.len());
        for traverser in found {
            if satisfies(&traverser.value, conditions)? {
                kept.push(traverser);
            }
        }
        return Ok(kept);
    }
    Ok(found)
}

fn key_of_property(value: &Value) -> Option<&Arc<str>> {
    match value {
        Value::VertexProperty(property) => Some(&property.key),
        Value::Property(property) => Some(&property.key),
        _ => None,
    }
}

fn property_value(property: &Value) -> Value {
    match property {
        Value::VertexProperty(property) => property.value.clone(),
        Value::Property(property) => property.value.clone(),
        value => value.clone(),
    }
}

/// Returns the properties of an element, of some keys or of all.
pub(crate) fn properties_of(value: &Value, keys: &[Arc<str>]) -> Result<Vec<Value>> {
    let wanted = |key: &Arc<str>| keys.is_empty() || keys.contains(key);
    Ok(match value {
        Value::Vertex(vertex) => {
            let mut found = Vec::new();
            let reference = Arc::new(vertex.reference());
            for (key, values) in vertex.properties.iter().flat_map(|properties| properties.iter()) {
                if wanted(key) {
                    found.extend(values.iter().map(|property| {
                        if property.vertex.is_some() {
                            return Value::VertexProperty(property.clone());
                        }
                        Value::VertexProperty(Arc::new(VertexProperty {
                            vertex: Some(reference.clone()),
                            ..property.as_ref().clone()
                        }))
                    }));
                }
            }
            found
        }
        Value::Edge(edge) => {
            let properties = edge.properties.iter().flat_map(|properties| properties.iter());
            properties
                .filter(|property| wanted(&property.key))
                .map(|property| owned(property, value))
                .collect()
        }
        Value::VertexProperty(property) => {
            let properties = property.properties.iter();
            properties
                .filter(|property| wanted(&property.key))
                .map(|property| owned(property, value))
                .collect()
        }
        Value::Property(_) => Vec::new(),
        value => return Err(unfit("properties", value)),
    })
}

fn owned(property: &Arc<Property>, element: &Value) -> Value {
    if property.element.is_some() {
        return Value::Property(property.clone());
    }
    Value::Property(Arc::new(Property { element: Some(element.clone()), ..property.as_ref().clone() }))
}

fn properties<'p>(
    step: &Step,
    mut batch: Batch,
    keys: &[Arc<str>],
    cx: &mut Context<'p>,
    make: impl Fn(&Value) -> Value,
) -> Result<Batch> {
    cx.hydrate(&mut batch)?;
    let mut found = Vec::with_capacity(batch.len());
    for traverser in &batch {
        match (&traverser.value, keys) {
            // The usual case needs no property objects.
            (Value::Vertex(vertex), [key]) if step.name.as_ref() == "values" => {
                for property in vertex.values_of(key).unwrap_or_default() {
                    found.push(traverser.to(property.value.clone(), &step.labels, cx.path));
                }
            }
            (value, keys) => {
                // Keys that are given choose the order.
                let all = properties_of(value, keys)?;
                if keys.len() > 1 {
                    for key in keys {
                        for property in all.iter().filter(|property| key_of_property(property) == Some(key)) {
                            found.push(traverser.to(make(property), &step.labels, cx.path));
                        }
                    }
                } else {
                    for property in &all {
                        found.push(traverser.to(make(property), &step.labels, cx.path));
                    }
                }
            }
        }
    }
    Ok(found)
}
