//! What is at one path: counted value by value, told at the end.
//!
//! Also here: how paths are written. Names are joined by `/`, what lies in an array is at `[]`, and a name that would be
//! taken for something else is in quotes, as paths of partition keys have it.

use armilla_value::Value;

use crate::bottom::{Bottom, Seen};
use crate::describe::{is_date, is_guid};
use crate::hash;
use crate::limits::{DISTINCT_EXACT_MAX, LENGTHS_MAX, MOST_COUNTED, MOST_VALUE_BYTES_MAX};
use crate::most::Most;
use crate::profile::{Lengths, PathProfile};
use crate::quantiles::Quantiles;
use crate::sketches::PathSketch;

/// What one entry of a tree takes at most.
pub(crate) const ENTRY_BYTES: usize = 32;

/// Appends a name to a path.
pub(crate) fn push_name(path: &mut String, name: &str) {
    path.push('/');
    if name.is_empty() || name.starts_with('"') || name.contains('/') || name == "[]" {
        path.push('"');
        for character in name.chars() {
            if matches!(character, '"' | '\\') {
                path.push('\\');
            }
            path.push(character);
        }
        path.push('"');
    } else {
        path.push_str(name);
    }
}

/// What is known of a value when everything below it was looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure {
    pub(crate) hash: u64,
    /// Its bytes as JSON.
    pub(crate) bytes: u64,
}

/// The item that is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    /// Its number, from 1.
    pub(crate) number: u32,
    /// The hash of its id.
    pub(crate) id: Option<u64>,
    /// What tells it from other items: the hash of its id, or of its text where it has none.
    pub(crate) key: u64,
}

/// What was seen at a path.
#[derive(Debug, Default)]
pub(crate) struct PathState {
    told: PathProfile,
    item: u32,
    different: Bottom<u64, Seen>,
    most: Most,
    lengths: Quantiles,
    own_ids: u64,
}

impl PathState {
    pub(crate) fn record(&mut self, value: &Value, measure: Measure, visit: &Visit, level: u32) {
        let told = &mut self.told;
        told.items += u64::from(self.item != visit.number);
        self.item = visit.number;
        told.values += 1;
        told.bytes += measure.bytes;
        told.bytes_max = told.bytes_max.max(measure.bytes);
        match value {
            Value::Null => told.nulls += 1,
            Value::Bool(_) => told.booleans += 1,
            Value::Int32(_) | Value::Int64(_) | Value::Double(_) | Value::Decimal128(_) => told.numbers += 1,
            Value::Object(_) => told.objects += 1,
            Value::Array(elements) => {
                told.arrays += 1;
                self.lengths.add(elements.len() as u64, lengths_max(level));
            }
            Value::String(text) => {
                told.texts += 1;
                told.dates += u64::from(is_date(text));
                told.guids += u64::from(is_guid(text));
            }
            Value::Date(_) => {
                told.texts += 1;
                told.dates += 1;
            }
            _ => told.texts += 1,
        }
        self.own_ids += u64::from(visit.id == Some(measure.hash));
        if let Some(seen) = self.different.place(measure.hash, distinct_max(level)) {
            seen.add(visit.number);
        }
        let bytes = usize::try_from(measure.bytes).unwrap_or(usize::MAX);
        let is_nested = matches!(value, Value::Null | Value::Object(_) | Value::Array(_));
        if !is_nested && bytes <= MOST_VALUE_BYTES_MAX {
            self.most.add(measure.hash, value, bytes, most_counted(level));
        }
    }

    /// Keeps less.
    pub(crate) fn shrink(&mut self, level: u32) {
        self.different.shrink(distinct_max(level));
        self.most.shrink(most_counted(level));
        self.lengths.shrink(lengths_max(level));
    }

    /// Returns the bytes that grow with what comes, at most.
    pub(crate) fn cost(&self) -> usize {
        (self.different.len() + self.lengths.len()) * ENTRY_BYTES + self.most.cost()
    }

    pub(crate) fn finish(self) -> (PathProfile, PathSketch) {
        let mut told = self.told;
        let different = self.different;
        told.distinct = different.distinct();
        told.most = self.most.best(|hash| different.get(hash).map(|seen| seen.count()));
        told.lengths = (told.arrays > 0).then(|| Lengths {
            p50: self.lengths.at(0.5),
            p99: self.lengths.at(0.99),
            max: self.lengths.max(),
        });
        told.repeated = repeated(&different).min(told.objects);
        let below = different.below();
        let hashes = different.into_kept().into_keys().filter(|hash| hash::is_link(*hash)).collect();
        (told, PathSketch { hashes, below, own_ids: self.own_ids })
    }
}

/// How many objects came in several items: exact if all different values are kept, else estimated from those that are.
fn repeated(different: &Bottom<u64, Seen>) -> u64 {
    let objects =
        different.iter().filter(|(hash, seen)| hash::is_object(*hash) && seen.is_in_several_items());
    let count: u64 = objects.map(|(_, seen)| seen.count()).sum();
    if !different.is_cut() || different.len() == 0 {
        return count;
    }
    (count as f64 * different.distinct() as f64 / different.len() as f64).round() as u64
}

fn distinct_max(level: u32) -> usize {
    DISTINCT_EXACT_MAX >> level
}

fn most_counted(level: u32) -> usize {
    (MOST_COUNTED >> level).max(2)
}

fn lengths_max(level: u32) -> usize {
    (LENGTHS_MAX >> level).max(16)
}

#[cfg(test)]
mod tests {
    use armilla_value::PropertyPath;

    use super::*;

    #[test]
    fn names_that_would_be_taken_for_something_else_are_in_quotes() {
        for (name, expected) in [
            ("city", "/city"),
            ("first name", "/first name"),
            ("", "/\"\""),
            ("a/b", "/\"a/b\""),
            ("[]", "/\"[]\""),
            ("\"x\\", "/\"\\\"x\\\\\""),
            ("x\"", "/x\""),
        ] {
            let mut path = String::new();
            push_name(&mut path, name);
            assert_eq!(path, expected);
            assert_eq!(PropertyPath::parse(&path).unwrap().names(), [name]);
        }
    }
}
