//! Values for property tests.

use proptest::prelude::*;

use crate::{Legacy, Object, Value};

/// Numbers that sit where encodings change their form.
pub(crate) fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-5i64..5).prop_map(Value::Int64),
        any::<i64>().prop_map(Value::Int64),
        any::<i32>().prop_map(Value::Int32),
        // Around the powers of two, where doubles and integers part.
        (50u32..63, -3i64..3, any::<bool>()).prop_map(|(power, step, negative)| {
            let number = (1i64 << power) + step;
            Value::Int64(if negative { -number } else { number })
        }),
        (50u32..65, any::<bool>()).prop_map(|(power, negative)| {
            let number = 2f64.powi(power as i32);
            Value::Double(if negative { -number } else { number })
        }),
        (-1e6f64..1e6).prop_map(Value::Double),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::Double),
        Just(Value::Double(-0.0)),
    ]
}

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{0,3}",
        ".{0,12}",
        // Both sides of the surrogates, zero, what JSON escapes, and names beyond one byte of length.
        proptest::collection::vec(
            prop_oneof![
                Just('\0'),
                Just('\u{1}'),
                Just('"'),
                Just('\\'),
                Just('\n'),
                Just('\u{7f}'),
                Just('\u{d7ff}'),
                Just('\u{e000}'),
                Just('\u{ffff}'),
                Just('\u{10000}'),
                Just('\u{10ffff}'),
                Just('é'),
            ],
            0..6
        )
        .prop_map(|characters| characters.into_iter().collect()),
        Just("n".repeat(254)),
        Just("n".repeat(255)),
        Just(format!("\\{}\"", "n".repeat(300))),
    ]
}

fn tree(leaf: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            object_of(inner).prop_map(Value::Object),
        ]
    })
}

fn object_of(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Object> {
    proptest::collection::vec((text(), inner), 0..6).prop_map(Object::from)
}

/// A value of the types that JSON has.
pub(crate) fn json_value() -> impl Strategy<Value = Value> {
    tree(prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        text().prop_map(Value::String)
    ])
}

/// A value of any type.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    tree(prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        text().prop_map(Value::String),
        decimal(),
        any::<[u8; 12]>().prop_map(Value::ObjectId),
        any::<i64>().prop_map(Value::Date),
        (any::<u8>(), any::<Vec<u8>>()).prop_map(|(subtype, bytes)| Value::Binary { subtype, bytes }),
        (any::<u32>(), any::<u32>()).prop_map(|(seconds, increment)| Value::Timestamp { seconds, increment }),
        (text(), text())
            .prop_map(|(pattern, options)| Value::Regex { pattern: pattern.into(), options: options.into() }),
        Just(Value::MinKey),
        Just(Value::MaxKey),
        legacy(),
        Just(Value::Double(f64::INFINITY)),
        Just(Value::Double(f64::NEG_INFINITY)),
    ])
}

/// A value of the types that BSON deprecated.
pub(crate) fn legacy() -> impl Strategy<Value = Value> {
    let inside = prop_oneof![
        number(),
        decimal(),
        text().prop_map(Value::String),
        any::<i64>().prop_map(Value::Date),
        any::<[u8; 12]>().prop_map(Value::ObjectId),
        text().prop_map(|text| Legacy::Symbol(text).into()),
    ];
    prop_oneof![
        Just(Legacy::Undefined),
        text().prop_map(Legacy::Code),
        text().prop_map(Legacy::Symbol),
        (text(), any::<[u8; 12]>()).prop_map(|(namespace, id)| Legacy::DbPointer { namespace, id }),
        (text(), object_of(tree(inside))).prop_map(|(code, scope)| Legacy::CodeWithScope { code, scope }),
    ]
    .prop_map(Value::from)
}

/// A finite decimal: anywhere, or near integers and doubles.
pub(crate) fn decimal() -> impl Strategy<Value = Value> {
    let near = (any::<bool>(), 0u128..10u128.pow(34), -40i32..5);
    let wide = (any::<bool>(), 0u128..10u128.pow(34), -6176i32..=6111);
    let small = (any::<bool>(), 0u128..30, -2i32..3);
    let huge_int = (any::<bool>(), (1u128 << 53) * 10..(1u128 << 63) * 10 + 40, -1i32..1);
    prop_oneof![near, wide, small, huge_int].prop_map(|(negative, coefficient, exponent)| {
        Value::Decimal128(crate::Decimal::Finite { negative, coefficient, exponent }.to_bytes())
    })
}

/// The root of an item.
pub(crate) fn item() -> impl Strategy<Value = Value> {
    object_of(any_value()).prop_map(Value::Object)
}
