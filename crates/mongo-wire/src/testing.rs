//! Values for tests.

use armilla_value::{Legacy, Object, Value, json};
use proptest::prelude::*;

/// Reads canonical Extended JSON; a plain integer is a 64-bit one.
#[track_caller]
pub(crate) fn object(text: &str) -> Object {
    match json::parse_extended(text.as_bytes()).unwrap() {
        Value::Object(object) => object,
        other => panic!("not an object: {other:?}"),
    }
}

/// Returns the BSON of Extended JSON.
#[track_caller]
pub(crate) fn bson(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    crate::bson::encode(&object(text), &mut out).unwrap();
    out
}

/// Reads bytes in hexadecimal, white space between them ignored.
#[track_caller]
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    assert_eq!(digits.len() % 2, 0);
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c$._]{0,4}", "[^\u{0}]{0,12}", Just("é\u{10000}\u{ffff}".to_owned())]
}

/// Text in which every character may come.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![text(), ".{0,6}", Just("a\0b\"\\\n".to_owned())]
}

/// Any scalar that BSON has.
pub(crate) fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i32>().prop_map(Value::Int32),
        any::<i64>().prop_map(Value::Int64),
        any::<f64>().prop_filter("equal to itself", |number| !number.is_nan()).prop_map(Value::Double),
        (any::<bool>(), any::<u64>(), -6176i32..=6111).prop_map(|(negative, coefficient, exponent)| {
            let decimal =
                armilla_value::Decimal::Finite { negative, coefficient: coefficient.into(), exponent };
            Value::Decimal128(decimal.to_bytes())
        }),
        any_text().prop_map(Value::String),
        any::<[u8; 12]>().prop_map(Value::ObjectId),
        any::<i64>().prop_map(Value::Date),
        (any::<u8>(), proptest::collection::vec(any::<u8>(), 0..9))
            .prop_map(|(subtype, bytes)| Value::Binary { subtype, bytes }),
        (any::<u32>(), any::<u32>()).prop_map(|(seconds, increment)| Value::Timestamp { seconds, increment }),
        (text(), prop_oneof!["", "i", "im", "msx"])
            .prop_map(|(pattern, options)| Value::Regex { pattern: pattern.into(), options: options.into() }),
        Just(Value::MinKey),
        Just(Value::MaxKey),
        legacy().prop_map(|legacy| Value::Legacy(Box::new(legacy))),
    ]
}

fn legacy() -> impl Strategy<Value = Legacy> {
    prop_oneof![
        Just(Legacy::Undefined),
        any_text().prop_map(Legacy::Code),
        any_text().prop_map(Legacy::Symbol),
        (text(), any::<[u8; 12]>()).prop_map(|(namespace, id)| Legacy::DbPointer { namespace, id }),
        (text(), text(), any::<i64>()).prop_map(|(code, name, number)| {
            Legacy::CodeWithScope { code, scope: Object::from([(name, number)]) }
        }),
    ]
}

/// Any object that BSON can carry.
pub(crate) fn any_object() -> impl Strategy<Value = Object> {
    let tree = scalar().prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            proptest::collection::vec((text(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into())),
        ]
    });
    proptest::collection::vec((text(), tree), 0..8).prop_map(Object::from)
}
