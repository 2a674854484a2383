//! Values, policies and items for property tests.

use armilla_value::{Legacy, Object, Value, json};
use proptest::prelude::*;

use crate::limits::TERM_CONTENT_BYTES_MAX as CUT;
use crate::{IndexingPolicy, Matcher};

pub(crate) fn policy(text: &str) -> IndexingPolicy {
    IndexingPolicy::from_value(&json::parse(text.as_bytes()).unwrap()).unwrap()
}

pub(crate) fn matcher(text: &str) -> Matcher {
    Matcher::new(&policy(text))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c]{0,3}",
        1 => prop::collection::vec(
            prop_oneof![Just('\0'), Just('\u{1}'), Just('\u{d7ff}'), Just('\u{ffff}'), Just('\u{10000}'), Just('é')],
            0..4
        )
        .prop_map(|characters| characters.into_iter().collect::<String>()),
        // Around the cut, with a character or a zero across it.
        1 => (CUT - 3..CUT + 4, prop_oneof![Just(""), Just("é"), Just("\0"), Just("\u{ffff}")], "[ab]{0,2}")
            .prop_map(|(length, middle, end)| format!("{}{middle}{end}", "x".repeat(length))),
    ]
}

pub(crate) fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        3 => (-3i64..4).prop_map(Value::Int64),
        1 => (-3i64..4).prop_map(|number| Value::Double(number as f64 / 2.0)),
        1 => any::<i64>().prop_map(Value::Int64),
        1 => any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::Double),
        1 => prop_oneof![Just(-0.0), Just(9.007199254740993e15), Just(1e300)].prop_map(Value::Double),
        4 => text().prop_map(Value::String),
    ]
}

/// Scalars of every type, those of JSON more often.
pub(crate) fn any_scalar() -> impl Strategy<Value = Value> {
    let bytes = prop_oneof![
        prop::collection::vec(0u8..3, 0..4),
        (CUT - 2..CUT + 3, any::<u8>()).prop_map(|(length, byte)| vec![byte; length]),
    ];
    prop_oneof![
        6 => scalar(),
        1 => prop_oneof![
            Just(Value::MinKey),
            Just(Value::MaxKey),
            Just(Value::Double(f64::NAN)),
            Just(Value::Double(f64::INFINITY)),
            any::<[u8; 12]>().prop_map(Value::ObjectId),
            any::<i64>().prop_map(Value::Date),
            (0u32..3, 0u32..3).prop_map(|(seconds, increment)| Value::Timestamp { seconds, increment }),
            (0u8..2, bytes).prop_map(|(subtype, bytes)| Value::Binary { subtype, bytes }),
            legacy(),
            (text(), text()).prop_map(|(pattern, options)| Value::Regex {
                pattern: pattern.into(),
                options: options.into()
            }),
        ],
    ]
}

/// The types that BSON deprecated.
fn legacy() -> impl Strategy<Value = Value> {
    let scope = prop::collection::vec(("[a-b]", scalar()), 0..3).prop_map(Object::from);
    prop_oneof![
        Just(Legacy::Undefined),
        text().prop_map(Legacy::Code),
        text().prop_map(Legacy::Symbol),
        (text(), 0u8..2).prop_map(|(namespace, byte)| Legacy::DbPointer { namespace, id: [byte; 12] }),
        (text(), scope).prop_map(|(code, scope)| Legacy::CodeWithScope { code, scope }),
    ]
    .prop_map(Value::from)
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    any_scalar().prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            object_of(inner).prop_map(Value::Object),
        ]
    })
}

fn object_of(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Object> {
    prop::collection::vec(("[a-d]", inner), 0..4).prop_map(Object::from)
}

/// The root of an item.
pub(crate) fn item() -> impl Strategy<Value = Value> {
    ("[a-c]{1,2}", prop::collection::vec(("[a-d]", value()), 0..5)).prop_map(|(id, members)| {
        let mut object = Object::from(members);
        object.insert("id", Value::String(id));
        Value::Object(object)
    })
}
