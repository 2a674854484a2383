//! Counts are exact where there are few entries, and about right where there are many.

use std::ops::Bound;

use armilla_index::{IndexId, IndexingPolicy, TermRange};
use armilla_value::{Value, json};

use super::{COUNTED_ENTRIES_MAX, Estimator};
use crate::choose::terms::TermSet;
use crate::source::{MemoryOptions, MemorySource};

fn source(count: usize, item: impl Fn(usize) -> String) -> MemorySource {
    let items = (0..count).map(|number| json::parse(item(number).as_bytes()).unwrap()).collect();
    MemorySource::new(items, &IndexingPolicy::default(), MemoryOptions::default()).unwrap()
}

fn estimate(source: &MemorySource, property: &str, range: TermRange<'_>) -> u64 {
    let set = TermSet::of(range).0;
    Estimator::new(source).entries(IndexId::of_property(property), set.intervals(), false).unwrap()
}

#[test]
fn few_entries_are_counted() {
    for count in [0, 1, COUNTED_ENTRIES_MAX - 1, COUNTED_ENTRIES_MAX, COUNTED_ENTRIES_MAX + 1] {
        let source = source(count, |number| format!(r#"{{"x":1,"y":{number}}}"#));
        assert_eq!(estimate(&source, "x", TermRange::Equal(&Value::Int64(1))), count as u64);
        assert_eq!(estimate(&source, "x", TermRange::Equal(&Value::Int64(2))), 0);
        assert_eq!(estimate(&source, "y", TermRange::Defined), count as u64);
        assert_eq!(estimate(&source, "z", TermRange::Defined), 0);
    }
}

#[test]
fn many_entries_are_guessed() {
    let source = source(20_000, |number| {
        // Every third has the value; half of the items have one side by side; numbers and texts are spread evenly.
        let every = number % 3;
        let half = number >= 10_000;
        format!(r#"{{"every":{every},"half":{half},"n":{},"s":"{:05}"}}"#, number as i64 - 10_000, number)
    });
    let within = |estimate: u64, truth: u64| (truth / 2..=truth * 2).contains(&estimate);
    for (property, value, truth) in [
        ("every", Value::Int64(1), 6_667),
        ("half", Value::Bool(true), 10_000),
        ("half", Value::Bool(false), 10_000),
    ] {
        let estimate = estimate(&source, property, TermRange::Equal(&value));
        assert!(within(estimate, truth), "{property}: {estimate} of {truth}");
    }
    let (low, high) = (Value::Int64(-5_000), Value::Int64(3_000));
    for (lower, upper, truth) in [
        (Bound::Included(&low), Bound::Excluded(&high), 8_000),
        (Bound::Included(&low), Bound::Unbounded, 15_000),
        (Bound::Unbounded, Bound::Excluded(&high), 13_000),
    ] {
        let estimate = estimate(&source, "n", TermRange::Between { lower, upper });
        assert!(within(estimate, truth), "{estimate} of {truth}");
    }
    let estimate = estimate(&source, "s", TermRange::Prefix("01"));
    assert!(within(estimate, 1_000), "{estimate} of 1000");
}

#[test]
fn many_values_are_like_the_first_ones() {
    let source = source(3_000, |number| format!(r#"{{"x":{}}}"#, number / 3));
    let values: Vec<Value> = (0..500).map(Value::Int64).collect();
    let set = TermSet::union(values.iter().map(|value| TermSet::of(TermRange::Equal(value)).0));
    let mut estimator = Estimator::new(&source);
    let index = IndexId::of_property("x");
    assert_eq!(estimator.entries(index, set.intervals(), false).unwrap(), 1_500);
    assert!(estimator.probes <= super::SAMPLED_RANGES_MAX);
}
