//! Sets of terms against the plainest model: which of some terms are in them.

use std::ops::Bound;

use armilla_index::{TermRange, term};
use armilla_value::Value;
use armilla_value::key::class;
use proptest::prelude::*;

use super::{Interval, TermSet, behind, inverted};

fn values() -> Vec<Option<Value>> {
    let text = |text: &str| Some(Value::String(text.to_owned()));
    let mut object = armilla_value::Object::new();
    object.insert("a", Value::Int64(1));
    vec![
        None,
        Some(Value::Null),
        Some(Value::Bool(false)),
        Some(Value::Bool(true)),
        Some(Value::Double(f64::NAN)),
        Some(Value::Int64(-5)),
        Some(Value::Int64(0)),
        Some(Value::Double(0.5)),
        Some(Value::Int64(7)),
        Some(Value::Int64(i64::MAX)),
        text(""),
        text("a"),
        text("a\0b"),
        text("ab"),
        text("b"),
        text(&"b".repeat(255)),
        text(&"b".repeat(256)),
        text(&"b".repeat(300)),
        Some(Value::Array(vec![Value::Int64(1)])),
        Some(Value::Object(object)),
        Some(Value::Date(5)),
        Some(Value::MaxKey),
    ]
}

fn terms() -> Vec<Vec<u8>> {
    values().iter().map(|value| term::of(value.as_ref())).collect()
}

fn holds(set: &TermSet, term: &[u8]) -> bool {
    set.intervals().iter().any(|interval| interval.low[..] <= *term && *term < interval.high[..])
}

fn set() -> impl Strategy<Value = TermSet> {
    let count = values().len();
    let range = (0..count, 0..count, 0..6usize).prop_map(|(one, other, kind)| {
        let values = values();
        let (Some(one), Some(other)) = (&values[one], &values[other]) else {
            return TermSet::undefined();
        };
        let range = match kind {
            0 => TermRange::Equal(one),
            1 => TermRange::Between { lower: Bound::Included(one), upper: Bound::Excluded(other) },
            2 => TermRange::Between { lower: Bound::Excluded(one), upper: Bound::Unbounded },
            3 => TermRange::Between { lower: Bound::Unbounded, upper: Bound::Included(one) },
            4 => TermRange::Prefix(one.as_str().unwrap_or("a")),
            _ => {
                let (one, other) = (term::class_of(one), term::class_of(other));
                TermRange::Classes { first: one.min(other), last: one.max(other) }
            }
        };
        TermSet::of(range).0
    });
    proptest::collection::vec(range, 0..4).prop_map(TermSet::union)
}

fn check_form(set: &TermSet) {
    for interval in set.intervals() {
        assert!(interval.low < interval.high);
    }
    for pair in set.intervals().windows(2) {
        let apart = pair[0].high < pair[1].low;
        let two_points = pair[0].high == pair[1].low && (pair[0].is_point || pair[1].is_point);
        assert!(apart || two_points, "{pair:?}");
    }
}

proptest! {
    #[test]
    fn sets_are_what_their_members_say(one in set(), other in set()) {
        let united = TermSet::union([one.clone(), other.clone()]);
        let common = one.intersection(&other);
        let rest = one.minus(&other);
        let outside = one.complement();
        for set in [&united, &common, &rest, &outside] {
            check_form(set);
        }
        for term in terms() {
            let (in_one, in_other) = (holds(&one, &term), holds(&other, &term));
            prop_assert_eq!(holds(&united, &term), in_one || in_other);
            prop_assert_eq!(holds(&common, &term), in_one && in_other);
            prop_assert_eq!(holds(&rest, &term), in_one && !in_other);
            prop_assert_eq!(holds(&outside, &term), !in_one);
            if let Some(hull) = one.hull() {
                prop_assert!(!in_one || (hull.low <= term && term < hull.high));
            }
        }
        prop_assert_eq!(one.has_undefined(), holds(&one, &[class::UNDEFINED]));
        prop_assert_eq!(TermSet::union([one.clone(), outside]).intervals().first().map(|i| i.low.clone()),
            Some(vec![class::UNDEFINED]));
    }

    #[test]
    fn a_descending_component_holds_the_same_values(one in set()) {
        for interval in one.intervals() {
            let turned = interval.component(&[7], true);
            let straight = interval.component(&[7], false);
            for term in terms() {
                let holds = |interval: &Interval, key: &[u8]| interval.low[..] <= *key && *key < interval.high[..];
                let is_in = holds(interval, &term);
                // Whatever follows, another component or the item's number.
                for rest in [&[0x00][..], &[0xFF; 9]] {
                    let key = [&[7][..], &inverted(&term), rest].concat();
                    prop_assert_eq!(holds(&turned, &key), is_in);
                    let key = [&[7][..], &term, rest].concat();
                    prop_assert_eq!(holds(&straight, &key), is_in);
                }
            }
        }
    }
}

#[test]
fn classes_that_touch_become_one_range() {
    let five = Value::Int64(5);
    let above = TermRange::Between { lower: Bound::Excluded(&five), upper: Bound::Unbounded };
    let ranges = [above, TermRange::STRINGS, TermRange::ARRAYS, TermRange::OBJECTS];
    let set = TermSet::union(ranges.map(|range| TermSet::of(range).0));
    assert_eq!(set.intervals().len(), 1);
    assert_eq!(set.intervals()[0].high, [class::MIN_KEY]);
    let all = TermSet::union([TermSet::undefined(), TermSet::defined()]);
    assert!(all.is_everything() && all.has_all_values() && all.has_undefined() && all.has_structures());
    assert!(TermSet::of(TermRange::NULLS).0.is_points());
    assert!(!TermSet::default().is_points());
}

#[test]
fn what_lies_behind_a_beginning() {
    for (bytes, expected) in
        [(&[1][..], &[2][..]), (&[1, 0xFF], &[2]), (&[1, 2], &[1, 3]), (&[0xFF], &[0xFF, 0xFF])]
    {
        assert_eq!(behind(bytes), expected);
    }
}
