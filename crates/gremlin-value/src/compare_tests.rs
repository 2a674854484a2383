use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::{Key, Map};

fn text(text: &str) -> Value {
    Value::text(text)
}

fn list(values: Vec<Value>) -> Value {
    Value::List(Arc::new(values))
}

#[test]
fn equality_and_equivalence() {
    let nan = Value::Double(f64::NAN);
    // Left, right, equal, equivalent.
    let cases = [
        (Value::Int32(1), Value::Double(1.0), true, false),
        (Value::Int32(1), Value::Int64(1), true, false),
        (Value::Int32(1), Value::Int32(1), true, true),
        (Value::Int32(1), Value::Int32(2), false, false),
        (Value::Float(0.5), Value::Double(0.5), true, false),
        (nan.clone(), nan.clone(), false, true),
        (Value::Null, Value::Null, true, true),
        (Value::Null, Value::Int32(0), false, false),
        (text("1"), Value::Int32(1), false, false),
        (text("a"), text("a"), true, true),
        (Value::Double(0.0), Value::Double(-0.0), true, true),
        (Value::BigDecimal("1.50".into()), Value::Double(1.5), true, false),
        (Value::BigDecimal("1.50".into()), Value::BigDecimal("1.5".into()), true, true),
        (list(vec![Value::Int32(1)]), list(vec![Value::Int64(1)]), true, false),
        (Value::Bool(true), Value::Int32(1), false, false),
        (Value::Int64(i64::MAX), Value::Double(9.223_372_036_854_776e18), false, false),
    ];
    for (left, right, equal, equivalent) in cases {
        assert_eq!(left.equals(&right), equal, "{left:?} = {right:?}");
        assert_eq!(left.equivalent(&right), equivalent, "{left:?} is {right:?}");
    }
}

#[test]
fn comparison_stays_inside_a_family() {
    assert_eq!(Value::Int32(1).compare(&Value::Double(1.5)), Some(Ordering::Less));
    assert_eq!(Value::Int32(1).compare(&text("a")), None);
    assert_eq!(Value::Double(f64::NAN).compare(&Value::Double(f64::NAN)), None);
    assert_eq!(text("a").compare(&text("b")), Some(Ordering::Less));
    assert_eq!(Value::Null.compare(&Value::Int32(1)), None);
}

#[test]
fn order_goes_across_families() {
    let mut values = vec![
        list(vec![Value::Int32(1)]),
        text("b"),
        Value::Double(f64::NAN),
        Value::Double(f64::INFINITY),
        Value::Uuid(1),
        Value::Null,
        Value::Int32(3),
        Value::Bool(true),
        text("B"),
        Value::Date { milliseconds: 1, offset_seconds: 0 },
        Value::Double(2.5),
        Value::Bool(false),
    ];
    values.sort_by(Value::order);
    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
    assert_eq!(
        texts.join(" "),
        "null false true 2.5 3 Infinity NaN 1970-01-01T00:00:00.001Z B b 00000000-0000-0000-0000-000000000001 [1]"
    );
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3i32..3).prop_map(Value::Int32),
        (-3i64..3).prop_map(Value::Int64),
        prop_oneof![Just(f64::NAN), Just(0.0), Just(-0.0), Just(1.0), Just(1.5), Just(f64::INFINITY)]
            .prop_map(Value::Double),
        "[ab]{0,2}".prop_map(Value::text),
        (0i64..3).prop_map(|milliseconds| Value::Date { milliseconds, offset_seconds: 0 }),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|values| Value::List(Arc::new(values))),
            prop::collection::vec(inner.clone(), 0..3).prop_map(|values| Value::Set(Arc::new(values))),
            prop::collection::vec((inner.clone(), inner), 0..3)
                .prop_map(|entries| Value::Map(Arc::new(Map { entries }))),
        ]
    })
}

fn hash_of(value: &Value) -> u64 {
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    Key(value.clone()).hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #[test]
    fn order_is_total(left in values(), middle in values(), right in values()) {
        prop_assert_eq!(left.order(&right), right.order(&left).reverse());
        if left.order(&middle) != Ordering::Greater && middle.order(&right) != Ordering::Greater {
            prop_assert_ne!(left.order(&right), Ordering::Greater);
        }
    }

    #[test]
    fn what_is_equivalent_hashes_alike(left in values(), right in values()) {
        prop_assert!(left.equivalent(&left));
        prop_assert_eq!(left.equivalent(&right), right.equivalent(&left));
        if left.equivalent(&right) {
            prop_assert_eq!(hash_of(&left), hash_of(&right));
        }
    }
}

fn set(values: Vec<Value>) -> Value {
    Value::Set(Arc::new(values))
}

#[test]
fn sets_and_maps_are_the_same_in_any_order() {
    let map = |entries: Vec<(Value, Value)>| Value::Map(Arc::new(Map { entries }));
    let (one, real, two) = (Value::Int32(1), Value::Double(1.0), Value::Int32(2));
    // Left, right, equal, equivalent.
    let cases = [
        (set(vec![one.clone(), two.clone()]), set(vec![two.clone(), one.clone()]), true, true),
        (set(vec![one.clone(), two.clone()]), set(vec![two.clone(), real.clone()]), true, false),
        (set(vec![one.clone(), real.clone()]), set(vec![real.clone(), one.clone()]), true, true),
        (set(vec![one.clone(), one.clone()]), set(vec![one.clone(), two.clone()]), false, false),
        (set(vec![Value::Double(f64::NAN)]), set(vec![Value::Double(f64::NAN)]), false, true),
        (
            map(vec![(set(vec![one.clone(), two.clone()]), one.clone()), (two.clone(), real.clone())]),
            map(vec![(two.clone(), real.clone()), (set(vec![two.clone(), one.clone()]), one.clone())]),
            true,
            true,
        ),
        (
            map(vec![(one.clone(), two.clone()), (two.clone(), one.clone())]),
            map(vec![(one.clone(), one), (two.clone(), two)]),
            false,
            false,
        ),
    ];
    for (left, right, equal, equivalent) in cases {
        assert_eq!(left.equals(&right), equal, "{left:?} = {right:?}");
        assert_eq!(left.equivalent(&right), equivalent, "{left:?} is {right:?}");
    }
}

/// Sets of 30,000 that differ in one value took 30,000 times 30,000 steps, and maps of maps a power of that.
#[test]
#[expect(clippy::disallowed_methods, reason = "what it takes is what is tested")]
fn comparing_large_sets_and_deep_maps_takes_no_square() {
    let began = std::time::Instant::now();
    let numbers = |last: i64| set((0..30_000).chain([last]).map(Value::Int64).collect());
    assert!(!numbers(-1).equals(&numbers(-2)));
    assert!(!numbers(-1).equivalent(&numbers(-2)));
    assert_ne!(numbers(-1).order(&numbers(-2)), Ordering::Equal);
    let deep = |leaf: i32| {
        let mut value = Value::Int32(leaf);
        for level in 0..12 {
            let entries = vec![(value.clone(), Value::Int32(level)), (list(vec![value]), Value::Null)];
            value = Value::Map(Arc::new(Map { entries }));
        }
        value
    };
    assert!(deep(1).equals(&deep(1)));
    assert_eq!(deep(1).order(&deep(2)), Ordering::Less);
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
}

#[test]
fn decimals_and_collections_hash_apart() {
    let values: Vec<Value> = (0..1000)
        .flat_map(|at| {
            let number = Value::Int32(at);
            let entries = vec![(number.clone(), number.clone())];
            [
                Value::BigDecimal(format!("{at}.5").into()),
                set(vec![number.clone()]),
                Value::Map(Arc::new(Map { entries })),
                Value::Int64(i64::from(at)),
                number,
            ]
        })
        .collect();
    let hashes: std::collections::HashSet<u64> = values.iter().map(hash_of).collect();
    assert_eq!(hashes.len(), values.len());
    assert_eq!(hash_of(&Value::BigDecimal("1.50".into())), hash_of(&Value::BigDecimal("15e-1".into())));
}

#[test]
fn tokens_order_among_texts() {
    let token = |word| Value::Token(crate::Token::find(crate::TokenKind::T, word).unwrap());
    let ordered = [text("age"), text("id"), token("id"), token("label"), text("name")];
    for (at, left) in ordered.iter().enumerate() {
        for (other, right) in ordered.iter().enumerate() {
            assert_eq!(left.order(right), at.cmp(&other), "{left} and {right}");
        }
    }
}
