//! Helpers for tests: data from a short notation, in each form they can have, and random values.

use armilla_value::{Legacy, Object, Stored, Value, json, stored};
use proptest::prelude::*;

use crate::datum::Datum;

/// Reads one argument: JSON with single quotes allowed, `undefined`, or a number that is not finite.
#[track_caller]
pub(crate) fn parse(text: &str) -> Option<Value> {
    match text.trim() {
        "undefined" => None,
        "NaN" => Some(Value::Double(f64::NAN)),
        "Infinity" => Some(Value::Double(f64::INFINITY)),
        "-Infinity" => Some(Value::Double(f64::NEG_INFINITY)),
        other => match json::parse_extended(other.replace('\'', "\"").as_bytes()) {
            Ok(value) => Some(value),
            Err(error) => panic!("{other}: {error}"),
        },
    }
}

/// Reads arguments separated by commas.
#[track_caller]
pub(crate) fn parse_list(text: &str) -> Vec<Option<Value>> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let (mut depth, mut quote, mut escaped) = (0, None, false);
    let mut parts = vec![String::new()];
    for character in text.chars() {
        match (quote, character) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().unwrap().push(character);
    }
    parts.iter().map(|part| parse(part)).collect()
}

/// Reads one datum.
#[track_caller]
pub(crate) fn datum(text: &str) -> Datum<'static> {
    parse(text).map_or(Datum::Undefined, Datum::from_owned)
}

/// Returns the JSON text of a datum, `undefined` included.
pub(crate) fn show(datum: &Datum<'_>) -> String {
    if datum.is_undefined() { "undefined".to_owned() } else { datum.to_json() }
}

/// Lends the stored form of some values, each as an item's member.
pub(crate) fn with_nodes<T>(values: &[Option<Value>], use_them: impl FnOnce(&[Datum<'_>]) -> T) -> T {
    let members = values
        .iter()
        .enumerate()
        .filter_map(|(index, value)| value.clone().map(|value| (index.to_string(), value)));
    let bytes = stored::encode_value(&Value::Object(members.collect::<Object>()), &[]).unwrap();
    let root = Datum::from_node(Stored::open(&bytes).unwrap().root());
    let data: Vec<Datum<'_>> =
        (0..values.len()).map(|index| root.clone().into_member(&index.to_string())).collect();
    use_them(&data)
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-3i64..3).prop_map(Value::Int64),
        (-3i32..3).prop_map(|number| Value::Double(f64::from(number))),
        any::<i64>().prop_map(Value::Int64),
        any::<i32>().prop_map(Value::Int32),
        // Around the powers of two, where doubles and integers part.
        (50u32..63, -3i64..3, any::<bool>()).prop_map(|(power, step, negative)| {
            let number = (1i64 << power) + step;
            Value::Int64(if negative { -number } else { number })
        }),
        (50i32..65, any::<bool>()).prop_map(|(power, negative)| {
            Value::Double(if negative { -2f64.powi(power) } else { 2f64.powi(power) })
        }),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::Double),
        Just(Value::Double(-0.0)),
    ]
}

/// Short texts that often share something, some beyond ASCII.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[abAB]{0,4}", "[a\u{e9}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{1f600}\"\\\\\n]{0,4}", ".{0,8}",]
}

fn tree(leaf: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            proptest::collection::vec(("[abc]{0,2}", inner), 0..5)
                .prop_map(|members| Value::Object(Object::from(members))),
        ]
    })
}

/// A value of the types that JSON has.
pub(crate) fn json_value() -> impl Strategy<Value = Value> {
    tree(prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        text().prop_map(Value::String),
    ])
}

/// A value of any type, numbers that are not finite among them.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let decimal = (any::<bool>(), 0u128..40, -2i32..2).prop_map(|(negative, coefficient, exponent)| {
        let decimal = armilla_value::Decimal::Finite { negative, coefficient, exponent };
        Value::Decimal128(decimal.to_bytes())
    });
    tree(prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        number(),
        text().prop_map(Value::String),
        decimal,
        (-2i64..2).prop_map(Value::Date),
        Just(Value::ObjectId([7; 12])),
        Just(Value::MinKey),
        prop_oneof![
            Just(Legacy::Undefined),
            text().prop_map(Legacy::Symbol),
            text().prop_map(Legacy::Code),
            text().prop_map(|code| Legacy::CodeWithScope { scope: [(code.clone(), 1)].into(), code }),
        ]
        .prop_map(Value::from),
        Just(Value::Double(f64::INFINITY)),
        Just(Value::Double(f64::NAN)),
    ])
}

/// Returns the same value with the members of all its objects in reverse order.
pub(crate) fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(elements) => Value::Array(elements.iter().map(reversed).collect()),
        Value::Object(object) => {
            object.iter().rev().map(|(name, value)| (name, reversed(value))).collect::<Object>().into()
        }
        scalar => scalar.clone(),
    }
}
