//! `valueMap`, `propertyMap` and `elementMap`.

use std::sync::Arc;

use armilla_gremlin_value::{TokenKind, Value};

use super::context::Context;
use super::simple::{properties_of, try_each, unfit};
use super::traverser::Batch;
use super::values::{by_at, by_each, list, map, token};
use crate::error::Result;
use crate::step::{By, Kind, MapTokens, Step};

pub(crate) fn maps<'p>(step: &'p Step, mut batch: Batch, cx: &mut Context<'p>) -> Result<Batch> {
    cx.hydrate(&mut batch)?;
    match &step.kind {
        Kind::ValueMap { keys, tokens, bys, properties } => try_each(step, batch, cx, |traverser, cx| {
            let mut entries = tokens_of(&traverser.value, *tokens);
            for (key, values) in grouped(&traverser.value, keys)? {
                let single = matches!(traverser.value, Value::Edge(_) | Value::VertexProperty(_));
                let values: Vec<Value> =
                    if *properties { values } else { values.iter().map(plain).collect() };
                let value = match (single, values) {
                    (true, mut values) => values.pop().unwrap_or(Value::Null),
                    (false, values) => list(values),
                };
                let value = if bys.is_empty() {
                    value
                } else {
                    let by: &'p By = by_at(bys, 0);
                    match by_each(by, traverser, vec![value], cx)?.pop().flatten() {
                        Some(value) => value,
                        None => continue,
                    }
                };
                entries.push((Value::String(key), value));
            }
            Ok(Some(map(entries)))
        }),
        Kind::ElementMap(keys) => try_each(step, batch, cx, |traverser, _| {
            let all = MapTokens { id: true, label: true, key: true, value: true };
            let mut entries = tokens_of(&traverser.value, all);
            if let Value::Edge(edge) = &traverser.value {
                for (direction, id, label) in
                    [("IN", &edge.in_id, &edge.in_label), ("OUT", &edge.out_id, &edge.out_label)]
                {
                    let end = vec![
                        (token(TokenKind::T, "id"), id.clone()),
                        (token(TokenKind::T, "label"), Value::String(label.clone())),
                    ];
                    entries.push((token(TokenKind::Direction, direction), map(end)));
                }
            }
            for (key, values) in grouped(&traverser.value, keys)? {
                if let Some(last) = values.last() {
                    entries.push((Value::String(key), plain(last)));
                }
            }
            Ok(Some(map(entries)))
        }),
        _ => Ok(batch),
    }
}

fn plain(property: &Value) -> Value {
    match property {
        Value::VertexProperty(property) => property.value.clone(),
        Value::Property(property) => property.value.clone(),
        value => value.clone(),
    }
}

/// Returns properties by key, in order.
fn grouped(value: &Value, keys: &[Arc<str>]) -> Result<Vec<(Arc<str>, Vec<Value>)>> {
    if !matches!(value, Value::Vertex(_) | Value::Edge(_) | Value::VertexProperty(_) | Value::Property(_)) {
        return Err(unfit("valueMap", value));
    }
    let mut groups: Vec<(Arc<str>, Vec<Value>)> = Vec::new();
    for property in properties_of(value, keys)? {
        let key = match &property {
            Value::VertexProperty(property) => property.key.clone(),
            Value::Property(property) => property.key.clone(),
            _ => continue,
        };
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, values)) => values.push(property),
            None => groups.push((key, vec![property])),
        }
    }
    Ok(groups)
}

fn tokens_of(value: &Value, tokens: MapTokens) -> Vec<(Value, Value)> {
    let mut entries = Vec::new();
    let (id, label) = match value {
        Value::Vertex(vertex) => (&vertex.id, Some(&vertex.label)),
        Value::Edge(edge) => (&edge.id, Some(&edge.label)),
        Value::VertexProperty(property) => (&property.id, None),
        _ => return entries,
    };
    if tokens.id {
        entries.push((token(TokenKind::T, "id"), id.clone()));
    }
    if let (true, Some(label)) = (tokens.label, label) {
        entries.push((token(TokenKind::T, "label"), Value::String(label.clone())));
    }
    if let Value::VertexProperty(property) = value {
        if tokens.key {
            entries.push((token(TokenKind::T, "key"), Value::String(property.key.clone())));
        }
        if tokens.value {
            entries.push((token(TokenKind::T, "value"), property.value.clone()));
        }
    }
    entries
}
