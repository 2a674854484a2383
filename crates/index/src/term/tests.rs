//! Terms keep the order and the equality of values, and tell what they hold.

use armilla_value::{Object, json, sql_cmp, stored};
use expect_test::expect;
use proptest::prelude::*;

use super::*;
use crate::testing;

fn term(value: &Value) -> Vec<u8> {
    of(Some(value))
}

fn string(length: usize) -> Value {
    Value::String("x".repeat(length))
}

/// What of a value the term's order can tell.
fn cut(value: &Value) -> Value {
    match value {
        Value::Binary { subtype, bytes } => {
            Value::Binary { subtype: *subtype, bytes: bytes[..bytes.len().min(CUT)].to_vec() }
        }
        Value::Legacy(legacy) => {
            let start =
                |text: &str| String::from_utf8_lossy(&text.as_bytes()[..text.len().min(CUT)]).into_owned();
            Value::from(match &**legacy {
                Legacy::Undefined => Legacy::Undefined,
                Legacy::Code(text) => Legacy::Code(start(text)),
                Legacy::Symbol(text) => Legacy::Symbol(start(text)),
                Legacy::CodeWithScope { code, .. } => {
                    Legacy::CodeWithScope { code: start(code), scope: Object::new() }
                }
                Legacy::DbPointer { namespace, .. } if namespace.len() >= CUT => {
                    Legacy::DbPointer { namespace: start(namespace), id: [0; 12] }
                }
                pointer => pointer.clone(),
            })
        }
        other => other.clone(),
    }
}

/// Stored entries are made of these bytes: they must not change.
#[test]
fn bytes_stay() {
    let values = ["null", "true", "1", r#""a\u0000b""#, "[1,2]", r#"{"a":1,"b":[]}"#];
    let mut shown = String::new();
    for text in values {
        let term = term(&json::parse(text.as_bytes()).unwrap());
        let bytes: String = term.iter().map(|byte| format!("{byte:02x}")).collect();
        shown.push_str(&format!("{text} {bytes}\n"));
    }
    let long = term(&Value::String("x".repeat(CUT)));
    let end: String = long[CUT..].iter().map(|byte| format!("{byte:02x}")).collect();
    shown.push_str(&format!("long ..{end}\n"));
    expect![[r#"
        null 08
        true 0d
        1 10bff0
        "a\u0000b" 186100ff620001
        [1,2] 20f1970c3b4199a15a391b1dc9f8454884
        {"a":1,"b":[]} 2873b168b0e71de104ba97cbdde85c4151
        long ..780001c879a8d886e08f42999d66ac06d6c718
    "#]]
    .assert_eq(&shown);
    assert_eq!(of(None), [class::UNDEFINED]);
}

#[test]
fn long_scalars_are_cut_at_the_bound() {
    for (length, is_long) in [(CUT - 1, false), (CUT, true), (CUT + 1, true), (100_000, true)] {
        let binary = Value::Binary { subtype: 0, bytes: vec![7; length] };
        let regex = Value::Regex { pattern: "p".repeat(length).into(), options: "".into() };
        let symbol = Legacy::Symbol("p".repeat(length)).into();
        let code = Legacy::Code("p".repeat(length)).into();
        let pointer = Legacy::DbPointer { namespace: "p".repeat(length), id: [1; 12] }.into();
        for value in [string(length), binary, regex, symbol, code, pointer] {
            let term = term(&value);
            assert_eq!(is_cut(&term), is_long, "{length}");
            assert_eq!(is_exact_value(&value), !is_long, "{length}");
            assert_eq!(decode(&term).is_none(), is_long, "{length}");
            assert!(term.len() <= CUT + 2 * FINGERPRINT_BYTES, "{}", term.len());
        }
    }
    // The worst case: every byte escaped.
    assert_eq!(term(&Value::String("\0".repeat(10_000))).len(), 1 + 2 * CUT + 2 + FINGERPRINT_BYTES);
}

#[test]
fn long_strings_differ_behind_the_cut() {
    let long = |end: &str| term(&Value::String(format!("{}{end}", "x".repeat(CUT))));
    assert_ne!(long("a"), long("b"));
    assert_ne!(long(""), long("a"));
    assert_eq!(long("a")[..CUT], long("b")[..CUT]);
}

#[test]
fn equal_structures_have_equal_terms() {
    let same = [
        (r#"[1,2]"#, r#"[1.0,2e0]"#),
        (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#),
        (r#"{"a":0}"#, r#"{"a":-0.0}"#),
        (r#"[{"a":[{"b":1,"c":2}]}]"#, r#"[{"a":[{"c":2,"b":1.0}]}]"#),
        (r#"["\u0061"]"#, r#"["a"]"#),
    ];
    for (left, right) in same {
        let parse = |text: &str| term(&json::parse(text.as_bytes()).unwrap());
        assert_eq!(parse(left), parse(right), "{left} {right}");
    }
    let different = [
        "[]",
        "{}",
        "[[]]",
        "[{}]",
        r#"{"a":[]}"#,
        "[null]",
        "[1,2]",
        "[2,1]",
        "[1]",
        "[1,1]",
        r#"["1"]"#,
        r#"{"a":1}"#,
        r#"{"b":1}"#,
        r#"{"a":1,"b":1}"#,
        r#"{"a":{"b":1}}"#,
        r#"{"ab":1}"#,
    ];
    let terms: std::collections::HashSet<_> =
        different.iter().map(|text| term(&json::parse(text.as_bytes()).unwrap())).collect();
    assert_eq!(terms.len(), different.len());
}

proptest! {
    #[test]
    fn order_is_that_of_values(left in testing::any_scalar(), right in testing::any_scalar()) {
        let (left_term, right_term) = (term(&left), term(&right));
        let order = sql_cmp(&left, &right);
        prop_assert_eq!(left_term == right_term, order.is_eq(), "{:?} {:?}", &left, &right);
        let regex = matches!((&left, &right), (Value::Regex { .. }, Value::Regex { .. }));
        let told = is_exact_value(&left) || is_exact_value(&right) || sql_cmp(&cut(&left), &cut(&right)).is_ne();
        let same_start = match (&left, &right) {
            (Value::String(left), Value::String(right)) => {
                left.len() >= CUT && right.len() >= CUT && left.as_bytes()[..CUT] == right.as_bytes()[..CUT]
            }
            _ => !told || regex,
        };
        if !same_start {
            prop_assert_eq!(left_term.cmp(&right_term), order, "{:?} {:?}", &left, &right);
        }
    }

    #[test]
    fn nodes_and_values_have_the_same_terms(item in testing::item()) {
        let bytes = stored::encode_value(&item, &[]).unwrap();
        let root = stored::Stored::open(&bytes).unwrap().root();
        for (name, member) in root.members() {
            let mut from_node = vec![9];
            push_node(member, &mut from_node);
            let value = item.as_object().unwrap().get(&name).unwrap();
            prop_assert_eq!(&from_node[1..], &term(value)[..], "{:?}", value);
        }
    }

    #[test]
    fn equality_is_that_of_values(left in testing::value(), right in testing::value()) {
        prop_assert_eq!(term(&left) == term(&right), sql_cmp(&left, &right).is_eq(), "{:?} {:?}", left, right);
    }

    #[test]
    fn terms_end_themselves(values in prop::collection::vec(testing::value(), 1..5)) {
        let mut bytes = Vec::new();
        let mut lengths = Vec::new();
        for value in &values {
            let start = bytes.len();
            push_value(value, &mut bytes);
            lengths.push(bytes.len() - start);
        }
        let mut rest = &bytes[..];
        for (value, expected) in values.iter().zip(lengths) {
            prop_assert_eq!(length(rest), Some(expected));
            let (own, after) = rest.split_at(expected);
            prop_assert_eq!(is_cut(own), !is_exact_value(value));
            match decode(own) {
                None => prop_assert!(!is_exact_value(value)),
                Some(decoded) => prop_assert!(sql_cmp(&decoded.unwrap(), value).is_eq()),
            }
            rest = after;
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(prop_oneof![Just(0u8), Just(0xFF), Just(0x18), any::<u8>()], 0..40)) {
        let _ = (length(&bytes), is_cut(&bytes), decode(&bytes));
    }
}
