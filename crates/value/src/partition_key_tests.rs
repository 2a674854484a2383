//! Tests of partition keys: headers, extraction, key bytes.

use proptest::prelude::*;

use super::*;
use crate::stored::{Stored, encode};
use crate::utf16::utf16_cmp;

fn component() -> impl Strategy<Value = Component> {
    prop_oneof![
        Just(Component::Undefined),
        Just(Component::Null),
        any::<bool>().prop_map(Component::Bool),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Component::Number),
        (-3i8..3).prop_map(|number| Component::Number(f64::from(number))),
        crate::testing::text().prop_map(Component::String),
    ]
}

#[test]
fn headers() {
    let cases: &[(&str, &str)] = &[
        ("[]", "[]"),
        ("[ ]", "[]"),
        (r#"["x"]"#, r#"["x"]"#),
        (r#"["t", {}, 1]"#, r#"["t",{},1]"#),
        ("[null,true,false]", "[null,true,false]"),
        ("[42]", "[42]"),
        ("[42.0]", "[42]"),
        ("[1.5]", "[1.5]"),
        ("[-0.0]", "[-0.0]"),
        ("[1e300]", "[1e300]"),
        ("[9007199254740993]", "[9007199254740992]"),
        ("[9223372036854775807]", "[9.223372036854776e18]"),
        ("[\"\u{e9}\"]", r#"["\u00e9"]"#),
        (r#"["\u00e9\ud83d\ude00\n\u0001\""]"#, r#"["\u00e9\ud83d\ude00\n\u0001\""]"#),
        ("[\"\u{7f}\"]", r#"["\u007f"]"#),
    ];
    for (header, written) in cases {
        let key = PartitionKey::from_json(header.as_bytes()).unwrap();
        assert_eq!(key.to_json(), *written, "{header}");
        assert_eq!(PartitionKey::from_json(written.as_bytes()).unwrap(), key);
    }
}

#[test]
fn headers_that_are_none() {
    let cases = [
        ("", "partition key: unexpected end of text at line 1 column 1"),
        ("\"x\"", "partition key must be an array"),
        ("{}", "partition key must be an array"),
        (r#"["x",{"a":1}]"#, "partition key component 1 must be a scalar or an empty object"),
        ("[[]]", "partition key component 0 must be a scalar or an empty object"),
        (r#"["\ud800"]"#, "partition key: lone surrogate in a string at line 1 column 3"),
    ];
    for (header, message) in cases {
        assert_eq!(PartitionKey::from_json(header.as_bytes()).unwrap_err().to_string(), message, "{header}");
    }
}

#[test]
fn extraction_walks_objects_alone() {
    let item = encode(
        br#"{"s":"x","n":5,"d":5.0,"big":9007199254740993,"t":true,"z":null,"o":{"p":{"q":"deep"},"a b":1},"l":[{"p":1}],"e":{}}"#,
        &[],
    )
    .unwrap();
    let root = Stored::open(&item).unwrap().root();
    let cases = [
        ("/s", Component::String("x".into())),
        ("/n", Component::Number(5.0)),
        ("/d", Component::Number(5.0)),
        ("/big", Component::Number(9_007_199_254_740_992.0)),
        ("/t", Component::Bool(true)),
        ("/z", Component::Null),
        ("/o", Component::Undefined),
        ("/o/p/q", Component::String("deep".into())),
        ("/o/\"a b\"", Component::Number(1.0)),
        ("/l", Component::Undefined),
        ("/l/p", Component::Undefined),
        ("/l/0/p", Component::Undefined),
        ("/s/x", Component::Undefined),
        ("/e/x", Component::Undefined),
        ("/missing", Component::Undefined),
    ];
    for (path, component) in cases {
        let paths = [PropertyPath::parse(path).unwrap(), PropertyPath::parse("/s").unwrap()];
        let expected = PartitionKey(vec![component, Component::String("x".into())]);
        assert_eq!(extract(root, &paths), expected, "{path}");
    }
}

#[test]
fn numbers_are_told_apart_by_bits() {
    assert_ne!(Component::Number(0.0), Component::Number(-0.0));
    assert_eq!(Component::Number(f64::NAN), Component::Number(f64::NAN));
    let key =
        PartitionKey(vec![Component::String("é".into()), Component::Null, Component::String("ab".into())]);
    assert_eq!(key.bytes_len(), 4);
}

fn class(component: &Component) -> u8 {
    match component {
        Component::Undefined => 0,
        Component::Null => 1,
        Component::Bool(_) => 2,
        Component::Number(_) => 3,
        Component::String(_) => 4,
    }
}

proptest! {
    #[test]
    fn key_bytes_round_trip_and_end_themselves(components in proptest::collection::vec(component(), 0..4)) {
        let key = PartitionKey(components);
        let mut bytes = Vec::new();
        key.key_bytes(&mut bytes);
        let length = bytes.len();
        bytes.extend_from_slice(&[0, 0xFF, 7]);
        prop_assert_eq!(PartitionKey::from_key_bytes(&bytes), Ok((key.clone(), length)));
        prop_assert!(PartitionKey::from_key_bytes(&bytes[..length - 1]).is_err());
        prop_assert_eq!(PartitionKey::from_json(key.to_json().as_bytes()), Ok(key));
    }

    #[test]
    fn key_bytes_keep_the_order(a in component(), b in component()) {
        let bytes = |component: &Component| {
            let mut out = Vec::new();
            PartitionKey(vec![component.clone()]).key_bytes(&mut out);
            out
        };
        let order = match (&a, &b) {
            (Component::String(a), Component::String(b)) => utf16_cmp(a, b),
            (Component::Number(a), Component::Number(b)) => a.total_cmp(b),
            (Component::Bool(a), Component::Bool(b)) => a.cmp(b),
            _ => class(&a).cmp(&class(&b)),
        };
        prop_assert_eq!(bytes(&a).cmp(&bytes(&b)), order);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
        let _ = PartitionKey::from_key_bytes(&bytes);
        let _ = PartitionKey::from_json(&bytes);
    }
}

#[test]
fn numbers_of_every_type_are_one_key() {
    let decimal = |text: &str| Value::Decimal128(text.parse::<crate::Decimal>().unwrap().to_bytes());
    for (value, expected) in [
        (Value::Int32(1), Component::Number(1.0)),
        (Value::Double(1.0), Component::Number(1.0)),
        (decimal("1"), Component::Number(1.0)),
        (decimal("1.00"), Component::Number(1.0)),
        (decimal("-2.5"), Component::Number(-2.5)),
        // No double is a tenth.
        (decimal("0.1"), Component::Undefined),
        (decimal("NaN"), Component::Undefined),
    ] {
        assert_eq!(Component::of(&value), expected, "{value:?}");
    }
}

/// Object ids and dates had all the undefined key, so that a container keyed by either was one logical partition.
#[test]
fn object_ids_and_dates_are_keys_of_their_own() {
    let oid = r#"{"$oid":"0102030405060708090a0b0c"}"#;
    let date = r#"{"$date":{"$numberLong":"-5"}}"#;
    for (value, text) in
        [(Value::ObjectId([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), oid), (Value::Date(-5), date)]
    {
        let component = Component::of(&value);
        assert_eq!(component, Component::String(text.to_owned()));
        let item = Value::Object(crate::Object::from([("k", value)]));
        let encoded = crate::stored::encode_value(&item, &[]).unwrap();
        let stored = crate::Stored::open(&encoded).unwrap();
        let paths = [PropertyPath::parse("/k").unwrap()];
        assert_eq!(extract(stored.root(), &paths), PartitionKey(vec![component.clone()]));
        // A request may name it as items show it, or as the string that it is.
        let shown = PartitionKey::from_json(format!("[{text}]").as_bytes()).unwrap();
        assert_eq!(shown, PartitionKey(vec![component]));
        assert_eq!(PartitionKey::from_json(shown.to_json().as_bytes()).unwrap(), shown);
    }
    for other in [r#"[{"$oid":"x"}]"#, r#"[{"a":1}]"#, r#"[{"$minKey":1}]"#, "[[1]]"] {
        assert!(PartitionKey::from_json(other.as_bytes()).is_err(), "{other}");
    }
}
