//! Parts of values: items of collections, properties of elements, and what `by` makes of them.

use std::sync::Arc;

use armilla_gremlin_value::{Map, Token, TokenKind, Value};

use super::context::Context;
use super::traverser::Traverser;
use crate::error::{MachineError, Result};
use crate::step::{By, Column, ElementToken};

/// Returns the items of a collection; of what is none, itself.
///
/// A bulk set says how often it has an item, which may be more often than there is memory for: that is an error.
pub(crate) fn items(value: &Value) -> Result<Vec<Value>> {
    Ok(match value {
        Value::List(values) | Value::Set(values) => values.to_vec(),
        Value::BulkSet(values) => {
            super::guard::parts(len(value))?;
            let repeated = |(value, bulk): &(Value, u64)| std::iter::repeat_n(value.clone(), *bulk as usize);
            values.iter().flat_map(repeated).collect()
        }
        Value::Map(map) => map.entries.iter().map(|entry| Value::Entry(Arc::new(entry.clone()))).collect(),
        Value::Path(path) => path.objects.clone(),
        value => vec![value.clone()],
    })
}

/// Says how many items a value has; what is no collection is one.
pub(crate) fn len(value: &Value) -> u64 {
    match value {
        Value::List(values) | Value::Set(values) => values.len() as u64,
        Value::BulkSet(values) => values.iter().fold(0, |sum: u64, (_, bulk)| sum.saturating_add(*bulk)),
        Value::Map(map) => map.entries.len() as u64,
        Value::Path(path) => path.objects.len() as u64,
        Value::Tree(tree) => tree.branches.len() as u64,
        _ => 1,
    }
}

pub(crate) fn map(entries: Vec<(Value, Value)>) -> Value {
    Value::Map(Arc::new(Map { entries }))
}

pub(crate) fn list(values: Vec<Value>) -> Value {
    Value::List(Arc::new(values))
}

/// Adds the entries of a map to those of another, whose values they replace.
pub(crate) fn merged_entries(left: &Map, right: &Map) -> Vec<(Value, Value)> {
    let mut entries: Vec<(Value, Value)> = Vec::with_capacity(left.entries.len() + right.entries.len());
    let mut places: super::traverser::FastMap<armilla_gremlin_value::Key, usize> = Default::default();
    for (key, value) in left.entries.iter().chain(&right.entries) {
        let place = *places.entry(armilla_gremlin_value::Key(key.clone())).or_insert(entries.len());
        match entries.get_mut(place) {
            Some((_, before)) => *before = value.clone(),
            None => entries.push((key.clone(), value.clone())),
        }
    }
    entries
}

/// Makes a set, of which what is there already is left out.
pub(crate) fn set(values: Vec<Value>) -> Value {
    let mut seen: super::traverser::FastSet<armilla_gremlin_value::Key> = Default::default();
    let kept =
        values.into_iter().filter(|value| seen.insert(armilla_gremlin_value::Key(value.clone()))).collect();
    Value::Set(Arc::new(kept))
}

pub(crate) fn token(kind: TokenKind, word: &str) -> Value {
    Token::find(kind, word).map_or_else(|| Value::text(word), Value::Token)
}

/// Finds an entry of a map by its key.
pub(crate) fn entry<'m>(map: &'m Map, key: &Value) -> Option<&'m Value> {
    map.entries.iter().find(|(other, _)| other.equals(key)).map(|(_, value)| value)
}

/// Finds an entry of a map by a name; `id` and `label` may also be tokens.
pub(crate) fn named<'m>(map: &'m Map, name: &str) -> Option<&'m Value> {
    map.entries
        .iter()
        .find(|(key, _)| match key {
            Value::String(key) => key.as_ref() == name,
            _ => false,
        })
        .map(|(_, value)| value)
}

/// Returns the id, label, key or value of something.
pub(crate) fn token_of(value: &Value, token: ElementToken) -> Result<Value> {
    Ok(match (token, value) {
        (ElementToken::Id, Value::Vertex(vertex)) => vertex.id.clone(),
        (ElementToken::Id, Value::Edge(edge)) => edge.id.clone(),
        (ElementToken::Id, Value::VertexProperty(property)) => property.id.clone(),
        (ElementToken::Label, Value::Vertex(vertex)) => Value::String(vertex.label.clone()),
        (ElementToken::Label, Value::Edge(edge)) => Value::String(edge.label.clone()),
        (ElementToken::Label | ElementToken::Key, Value::VertexProperty(property)) => {
            Value::String(property.key.clone())
        }
        (ElementToken::Key, Value::Property(property)) => Value::String(property.key.clone()),
        (ElementToken::Value, Value::VertexProperty(property)) => property.value.clone(),
        (ElementToken::Value, Value::Property(property)) => property.value.clone(),
        (_, Value::Map(map)) => {
            let word = match token {
                ElementToken::Id => "id",
                ElementToken::Label => "label",
                ElementToken::Key => "key",
                ElementToken::Value => "value",
            };
            let found = entry(map, &self::token(TokenKind::T, word)).or_else(|| named(map, word));
            found.cloned().ok_or_else(|| no_token(value, word))?
        }
        (ElementToken::Id, value) => return Err(no_token(value, "id")),
        (ElementToken::Label, value) => return Err(no_token(value, "label")),
        (ElementToken::Key, value) => return Err(no_token(value, "key")),
        (ElementToken::Value, value) => return Err(no_token(value, "value")),
    })
}

fn no_token(value: &Value, word: &str) -> MachineError {
    MachineError::runtime(format!("a {} has no {word}", value.type_word()))
}

/// Returns the first value of a property of an element, or an entry of a map.
pub(crate) fn property_of(value: &Value, key: &str) -> Result<Option<Value>> {
    Ok(match value {
        Value::Vertex(vertex) => {
            vertex.values_of(key).and_then(|values| values.first()).map(|property| property.value.clone())
        }
        Value::Edge(edge) => edge.property(key).map(|property| property.value.clone()),
        Value::VertexProperty(property) => property
            .properties
            .iter()
            .find(|property| property.key.as_ref() == key)
            .map(|property| property.value.clone()),
        Value::Map(map) => named(map, key).cloned(),
        Value::Entry(found) => {
            // An entry of a map is addressed by its parts.
            match key {
                "key" | "keys" => Some(found.0.clone()),
                "value" | "values" => Some(found.1.clone()),
                _ => None,
            }
        }
        Value::Null => None,
        value => {
            return Err(MachineError::runtime(format!(
                "by(\"{key}\") needs an element or a map, not a {}",
                value.type_word()
            )));
        }
    })
}

pub(crate) fn column_of(value: &Value, column: Column) -> Result<Value> {
    Ok(match (value, column) {
        (Value::Map(map), Column::Keys) => {
            Value::Set(Arc::new(map.entries.iter().map(|(key, _)| key.clone()).collect()))
        }
        (Value::Map(map), Column::Values) => {
            list(map.entries.iter().map(|(_, value)| value.clone()).collect())
        }
        (Value::Entry(entry), Column::Keys) => entry.0.clone(),
        (Value::Entry(entry), Column::Values) => entry.1.clone(),
        (Value::Path(path), Column::Keys) => list(
            path.labels
                .iter()
                .map(|labels| {
                    Value::Set(Arc::new(labels.iter().map(|label| Value::String(label.clone())).collect()))
                })
                .collect(),
        ),
        (Value::Path(path), Column::Values) => list(path.objects.clone()),
        (value, _) => {
            return Err(MachineError::runtime(format!(
                "keys and values need a map or a path, not a {}",
                value.type_word()
            )));
        }
    })
}

/// Returns what a `by` makes of each input; none where it yields nothing.
pub(crate) fn by_values<'p>(
    by: &'p By,
    inputs: &[Traverser],
    cx: &mut Context<'p>,
) -> Result<Vec<Option<Value>>> {
    let mut values = made_by(by, inputs, cx)?;
    if cx.productive_by {
        values.iter_mut().for_each(|value| *value = Some(value.take().unwrap_or(Value::Null)));
    }
    Ok(values)
}

fn made_by<'p>(by: &'p By, inputs: &[Traverser], cx: &mut Context<'p>) -> Result<Vec<Option<Value>>> {
    match by {
        By::Identity => Ok(inputs.iter().map(|input| Some(input.value.clone())).collect()),
        By::Token(token) => inputs.iter().map(|input| token_of(&input.value, *token).map(Some)).collect(),
        By::Column(column) => inputs.iter().map(|input| column_of(&input.value, *column).map(Some)).collect(),
        By::Key(key) => {
            let mut values: Vec<Value> = inputs.iter().map(|input| input.value.clone()).collect();
            let mut places: Vec<&mut Value> = values.iter_mut().collect();
            cx.hydrate_values(&mut places)?;
            values.iter().map(|value| property_of(value, key)).collect()
        }
        By::Child(child) => {
            Ok(cx.firsts(child, inputs)?.into_iter().map(|first| first.map(|first| first.value)).collect())
        }
    }
}

/// Returns what a `by` makes of values that a traverser has on its way.
pub(crate) fn by_each<'p>(
    by: &'p By,
    of: &Traverser,
    values: Vec<Value>,
    cx: &mut Context<'p>,
) -> Result<Vec<Option<Value>>> {
    let inputs: Vec<Traverser> = values
        .into_iter()
        .map(|value| Traverser { value, bulk: 1, origin: 0, path: of.path.clone(), sack: of.sack.clone() })
        .collect();
    by_values(by, &inputs, cx)
}

/// Returns the `by` for a place, which go round.
pub(crate) fn by_at(bys: &[By], at: usize) -> &By {
    static IDENTITY: By = By::Identity;
    if bys.is_empty() { &IDENTITY } else { bys.get(at % bys.len()).unwrap_or(&IDENTITY) }
}
