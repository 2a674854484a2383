//! Collections without order, put in one: so that two of them are compared part by part.
//!
//! A set or a map is sorted once for a comparison, not once for each pair of parts that is looked at: what a comparison
//! takes grows with the parts of both sides (and the levels they are on), never with their product.
//!
//! Not here: which values are the same or come first (`compare`).

use std::cmp::Ordering;
use std::convert::Infallible;
use std::sync::Arc;

use crate::compare::{Mode, linear};
use crate::sorting::sort_by;
use crate::{Map, Path, Tree, TreeBranch, Value};

/// Returns the value with all sets, maps and trees in it sorted; none if there is none in it.
pub(crate) fn canonical(value: &Value, mode: Mode) -> Option<Value> {
    Some(match value {
        Value::List(values) => Value::List(Arc::new(parts(values, mode)?)),
        Value::Path(path) => {
            let objects = parts(&path.objects, mode)?;
            Value::Path(Arc::new(Path { labels: path.labels.clone(), objects }))
        }
        Value::Entry(entry) => {
            let (key, value) = (canonical(&entry.0, mode), canonical(&entry.1, mode));
            if key.is_none() && value.is_none() {
                return None;
            }
            Value::Entry(Arc::new((
                key.unwrap_or_else(|| entry.0.clone()),
                value.unwrap_or_else(|| entry.1.clone()),
            )))
        }
        Value::Property(property) => {
            let value = canonical(&property.value, mode)?;
            Value::Property(Arc::new(crate::Property { value, ..property.as_ref().clone() }))
        }
        Value::Set(values) => {
            let values = parts(values, mode).unwrap_or_else(|| values.to_vec());
            Value::Set(Arc::new(sorted(values, |left, right| linear(left, right, mode))))
        }
        Value::BulkSet(values) => {
            let values = values.iter().map(|(value, bulk)| (part(value, mode), *bulk)).collect();
            Value::BulkSet(Arc::new(sorted(values, |left: &(Value, u64), right| {
                linear(&left.0, &right.0, mode).then_with(|| left.1.cmp(&right.1))
            })))
        }
        Value::Map(map) => Value::Map(Arc::new(canonical_map(map, mode))),
        Value::Metrics(map) => Value::Metrics(Arc::new(canonical_map(map, mode))),
        Value::Tree(tree) => Value::Tree(Arc::new(canonical_tree(tree, mode))),
        _ => return None,
    })
}

fn part(value: &Value, mode: Mode) -> Value {
    canonical(value, mode).unwrap_or_else(|| value.clone())
}

/// Returns the parts with those changed that have to be; none if none has.
fn parts(values: &[Value], mode: Mode) -> Option<Vec<Value>> {
    let mut changed: Option<Vec<Value>> = None;
    for (at, value) in values.iter().enumerate() {
        if let Some(sorted) = canonical(value, mode) {
            let values = changed.get_or_insert_with(|| values.to_vec());
            if let Some(place) = values.get_mut(at) {
                *place = sorted;
            }
        }
    }
    changed
}

fn canonical_map(map: &Map, mode: Mode) -> Map {
    let entries = map.entries.iter().map(|(key, value)| (part(key, mode), part(value, mode))).collect();
    let entries = sorted(entries, |left: &(Value, Value), right| {
        linear(&left.0, &right.0, mode).then_with(|| linear(&left.1, &right.1, mode))
    });
    Map { entries }
}

fn canonical_tree(tree: &Tree, mode: Mode) -> Tree {
    let branches = tree
        .branches
        .iter()
        .map(|branch| TreeBranch { key: part(&branch.key, mode), below: canonical_tree(&branch.below, mode) })
        .collect();
    let branches = sorted(branches, |left: &TreeBranch, right| linear(&left.key, &right.key, mode));
    Tree { branches }
}

fn sorted<T>(values: Vec<T>, compare: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    match sort_by::<T, Infallible>(values, &mut |left, right| Ok(compare(left, right))) {
        Ok(values) => values,
    }
}
