//! Ranges hold what predicates ask for.

use std::cmp::Ordering;

use armilla_value::sql_cmp;
use proptest::prelude::*;

use super::*;
use crate::testing;

const INDEX: IndexId = IndexId(0xFFFF_FFFF_FFFF_FFFF);

fn is_number(value: &Value) -> bool {
    term::class_of(value) == class::NUMBER
}

fn same_type(left: &Value, right: &Value) -> bool {
    let ordered = |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_)) && !is_nan(value);
    let class = |value| term::class_range(term::class_of(value));
    ordered(left) && ordered(right) && class(left) == class(right)
}

/// What the query language says of a predicate on a value.
fn holds(range: TermRange<'_>, value: Option<&Value>) -> bool {
    let Some(value) = value else { return matches!(range, TermRange::Undefined | TermRange::All) };
    match range {
        TermRange::Equal(other) => !is_nan(other) && sql_cmp(value, other).is_eq(),
        TermRange::Undefined => false,
        TermRange::Between { lower: Bound::Unbounded, upper: Bound::Unbounded } => false,
        TermRange::Between { lower, upper } => {
            let above = match lower {
                Bound::Included(lower) => same_type(value, lower) && sql_cmp(value, lower).is_ge(),
                Bound::Excluded(lower) => same_type(value, lower) && sql_cmp(value, lower).is_gt(),
                Bound::Unbounded => true,
            };
            let below = match upper {
                Bound::Included(upper) => same_type(value, upper) && sql_cmp(value, upper).is_le(),
                Bound::Excluded(upper) => same_type(value, upper) && sql_cmp(value, upper).is_lt(),
                Bound::Unbounded => true,
            };
            above && below
        }
        TermRange::Prefix(prefix) => value.as_str().is_some_and(|text| text.starts_with(prefix)),
        TermRange::Classes { first, last } => (first..=last).contains(&term::class_of(value)),
        TermRange::Defined | TermRange::All => true,
    }
}

/// Checks one predicate on one value in a single index, and in composite indexes of both directions.
fn check(range: TermRange<'_>, value: Option<&Value>) {
    let expected = holds(range, value);
    let term = term::of(value);
    let span = range.span(INDEX);
    let found = span.range.contains(&entry_key(INDEX, &term, 7));
    let what = || format!("{range:?} {value:?} {span:?}");
    assert!(found || !expected, "lost: {}", what());
    assert!(!span.precise || found == expected, "not precise: {}", what());
    assert_eq!(range.matches(&term), found, "{}", what());
    if matches!(value, Some(Value::Array(_) | Value::Object(_))) {
        return;
    }
    for descending in [[false, false], [false, true], [true, true]] {
        let first = Value::from("k");
        let mut key = Vec::new();
        for (component, descending) in [Some(&first), value].into_iter().zip(descending) {
            let start = key.len();
            term::push_option(component, &mut key);
            if descending {
                invert(&mut key[start..]);
            }
        }
        assert_eq!(
            composite_terms_of(&key, &descending),
            Some(vec![term::of(Some(&first)), term.clone()]),
            "{}",
            what()
        );
        let span = composite_span(INDEX, &descending, &[Some(&first)], Some(range));
        let found = span.range.contains(&entry_key(INDEX, &key, 7));
        assert!(found || !expected, "lost in a composite: {}", what());
        assert!(!span.precise || found == expected, "not precise in a composite: {}", what());
        let other = Value::from("other");
        let elsewhere = composite_span(INDEX, &descending, &[Some(&other)], Some(range));
        assert!(!elsewhere.range.contains(&entry_key(INDEX, &key, 7)), "{}", what());
        let all = composite_span(INDEX, &descending, &[Some(&first)], None);
        assert!(all.precise && all.range.contains(&entry_key(INDEX, &key, 7)));
    }
}

#[test]
fn entries_are_split_again() {
    let key = entry_key(IndexId(1), b"term", 2);
    assert_eq!(split_entry(&key), Some((IndexId(1), &b"term"[..], 2)));
    assert_eq!(split_entry(&key[..16]).map(|entry| entry.1.len()), Some(0));
    assert_eq!(split_entry(&key[..15]), None);
}

#[test]
fn ranges_of_neighbouring_indexes_do_not_touch() {
    let all = TermRange::All.span(IndexId(5)).range;
    for (index, inside) in [(4, false), (5, true), (6, false)] {
        for term in [&[class::UNDEFINED][..], &[0xFF; 20]] {
            assert_eq!(all.contains(&entry_key(IndexId(index), term, 0)), inside);
        }
    }
    assert!(!KeyRange::empty().contains(b""));
    assert!(KeyRange::empty().is_empty());
    assert!(!all.is_empty());
}

#[test]
fn tables() {
    let values: Vec<Value> = vec![
        Value::Null,
        Value::Bool(false),
        Value::Bool(true),
        Value::Double(f64::NAN),
        Value::Double(f64::NEG_INFINITY),
        Value::Int64(-1),
        Value::Int64(0),
        Value::Double(0.5),
        Value::Double(f64::INFINITY),
        Value::from(""),
        Value::from("a"),
        Value::from("a\0"),
        Value::from("b"),
        Value::String("x".repeat(CUT - 1)),
        Value::String("x".repeat(CUT)),
        Value::String("x".repeat(CUT + 1)),
        Value::Array(Vec::new()),
        Value::Array(vec![Value::Int64(1)]),
        Value::Object(Default::default()),
        Value::Date(5),
        Value::MaxKey,
    ];
    let mut ranges = vec![
        TermRange::Undefined,
        TermRange::Defined,
        TermRange::All,
        TermRange::NULLS,
        TermRange::BOOLEANS,
        TermRange::NUMBERS,
        TermRange::STRINGS,
        TermRange::ARRAYS,
        TermRange::OBJECTS,
        TermRange::PRIMITIVES,
        TermRange::Between { lower: Bound::Unbounded, upper: Bound::Unbounded },
    ];
    for value in &values {
        ranges.push(TermRange::Equal(value));
        if let Some(text) = value.as_str() {
            ranges.push(TermRange::Prefix(text));
        }
        let bounds = [Bound::Included(value), Bound::Excluded(value)];
        for bound in bounds {
            ranges.push(TermRange::Between { lower: bound, upper: Bound::Unbounded });
            ranges.push(TermRange::Between { lower: Bound::Unbounded, upper: bound });
            for other in &values {
                ranges.push(TermRange::Between { lower: bound, upper: Bound::Included(other) });
            }
        }
    }
    for range in ranges {
        check(range, None);
        values.iter().for_each(|value| check(range, Some(value)));
    }
    assert!(is_number(&Value::Double(f64::NAN)));
}

proptest! {
    #[test]
    fn random_predicates(
        value in prop::option::of(testing::value()),
        low in testing::value(),
        high in testing::value(),
        kind in 0..7,
    ) {
        let range = match kind {
            0 => TermRange::Equal(&low),
            1 => TermRange::Between { lower: Bound::Included(&low), upper: Bound::Unbounded },
            2 => TermRange::Between { lower: Bound::Excluded(&low), upper: Bound::Unbounded },
            3 => TermRange::Between { lower: Bound::Unbounded, upper: Bound::Included(&high) },
            4 => TermRange::Between { lower: Bound::Unbounded, upper: Bound::Excluded(&high) },
            5 => TermRange::Between { lower: Bound::Excluded(&low), upper: Bound::Excluded(&high) },
            _ => TermRange::Prefix(low.as_str().unwrap_or("x")),
        };
        check(range, value.as_ref());
        // Values that meet the bounds.
        check(range, Some(&low));
        check(range, Some(&high));
    }

    #[test]
    fn composite_terms_are_ordered_by_component(
        left in prop::array::uniform3(prop::option::of(testing::scalar())),
        right in prop::array::uniform3(prop::option::of(testing::scalar())),
        descending in prop::array::uniform3(any::<bool>()),
    ) {
        let long = |value: &Option<Value>| value.as_ref().is_some_and(|value| !term::is_exact_value(value));
        prop_assume!(!left.iter().chain(&right).any(long));
        let key = |values: &[Option<Value>; 3]| {
            let mut key = Vec::new();
            for (value, descending) in values.iter().zip(descending) {
                let start = key.len();
                term::push_option(value.as_ref(), &mut key);
                if descending {
                    invert(&mut key[start..]);
                }
            }
            key
        };
        let expected = left.iter().zip(&right).zip(descending).map(|((left, right), descending)| {
            let order = armilla_value::sql_cmp_option(left.as_ref(), right.as_ref());
            if descending { order.reverse() } else { order }
        });
        let expected = expected.fold(Ordering::Equal, Ordering::then);
        prop_assert_eq!(key(&left).cmp(&key(&right)), expected);
    }
}
