//! Tests of key bytes: known forms, order, round trips.

use proptest::prelude::*;

use super::*;
use crate::json;
use crate::stored::Stored;
use crate::testing::{any_value, decimal, item, json_value, number};
use crate::value::Value;
use crate::{mongo_cmp, sql_cmp, stored};

fn bytes_of(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    encode_value(value, &mut out);
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

#[test]
fn known_forms() {
    let cases = [
        ("null", "08"),
        ("false", "0C"),
        ("true", "0D"),
        ("0", "108000"),
        ("-0.0", "108000"),
        ("1", "10BFF0"),
        ("1.0", "10BFF0"),
        (r#"{"$numberDecimal":"1.00"}"#, "10BFF0"),
        ("5", "10C014"),
        ("-1", "104010"),
        (r#"{"$numberDouble":"NaN"}"#, "100000"),
        (r#""""#, "180001"),
        (r#""a\u0000b""#, "186100FF620001"),
        ("\"\u{e000}\"", "18F880800001"),
        ("\"\u{10000}\"", "18F09080800001"),
        ("[]", "2000"),
        ("[null,[]]", "2008200000"),
        ("{}", "2800"),
        (r#"{"b":null,"a":true}"#, "28 18610001 0D 18620001 08 00"),
        (r#"{"$minKey":1}"#, "30"),
        (r#"{"$binary":{"base64":"AQI=","subType":"05"}}"#, "3100000002050102"),
        (r#"{"$oid":"0102030405060708090a0b0c"}"#, "320102030405060708090A0B0C"),
        (r#"{"$date":{"$numberLong":"-1"}}"#, "337FFFFFFFFFFFFFFF"),
        (r#"{"$timestamp":{"t":1,"i":2}}"#, "340000000100000002"),
        (r#"{"$regularExpression":{"pattern":"a","options":"i"}}"#, "35610001690001"),
        (
            r#"{"$dbPointer":{"$ref":"d.c","$id":{"$oid":"0102030405060708090a0b0c"}}}"#,
            "36 00000003 642E63 0102030405060708090A0B0C",
        ),
        (r#"{"$code":"a\u0000"}"#, "37 6100FF 0001"),
        (r#"{"$code":"a","$scope":{"b":null}}"#, "38 610001 28 18620001 08 00"),
        (r#"{"$symbol":"a"}"#, "39 610001"),
        (r#"{"$undefined":true}"#, "3A"),
        (r#"{"$maxKey":1}"#, "3F"),
    ];
    for (text, form) in cases {
        let value = json::parse_extended(text.as_bytes()).unwrap();
        let form = form.replace(' ', "");
        assert_eq!(hex(&bytes_of(&value)), form, "{text}");
    }
    // Integers stay short where doubles hold them, and grow by two bytes where not.
    assert_eq!(bytes_of(&Value::Int64(1_000_000)).len(), 5);
    assert_eq!(bytes_of(&Value::Int64((1 << 53) + 1)).len(), 12);
    assert_eq!(bytes_of(&Value::Int64(i64::MAX)).len(), 12);
    let mut out = Vec::new();
    encode_undefined(&mut out);
    assert_eq!(decode_option(&out), Ok((None, 1)));
}

#[test]
fn numbers_decode_to_the_plainest_type() {
    let cases = [
        (Value::Double(5.0), Value::Int64(5)),
        (Value::Int32(5), Value::Int64(5)),
        (Value::Double(-0.0), Value::Int64(0)),
        (Value::Double(0.5), Value::Double(0.5)),
        (Value::Double(1e300), Value::Double(1e300)),
        (Value::Int64(i64::MIN), Value::Int64(i64::MIN)),
        (Value::Int64(i64::MIN + 1), Value::Int64(i64::MIN + 1)),
        (Value::Int64(i64::MAX), Value::Int64(i64::MAX)),
        (Value::Double(f64::NEG_INFINITY), Value::Double(f64::NEG_INFINITY)),
    ];
    for (value, decoded) in cases {
        let bytes = bytes_of(&value);
        assert_eq!(decode(&bytes), Ok((decoded, bytes.len())));
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| [vec![class::ARRAY; depth], vec![END; depth]].concat();
    assert!(decode(&nested(crate::limits::DEPTH_MAX)).is_ok());
    assert!(decode(&nested(crate::limits::DEPTH_MAX + 1)).is_err());
}

proptest! {
    #[test]
    fn byte_order_is_sql_order(a in any_value(), b in any_value()) {
        prop_assert_eq!(bytes_of(&a).cmp(&bytes_of(&b)), sql_cmp(&a, &b), "{:?} {:?}", a, b);
    }

    #[test]
    fn byte_order_is_sql_order_for_json(a in json_value(), b in json_value()) {
        prop_assert_eq!(bytes_of(&a).cmp(&bytes_of(&b)), sql_cmp(&a, &b), "{:?} {:?}", a, b);
    }

    #[test]
    fn numbers_of_all_types_keep_one_order(
        a in prop_oneof![number(), decimal()],
        b in prop_oneof![number(), decimal()],
    ) {
        let order = bytes_of(&a).cmp(&bytes_of(&b));
        prop_assert_eq!(order, sql_cmp(&a, &b), "{} {}", json::to_string(&a), json::to_string(&b));
        prop_assert_eq!(order, mongo_cmp(&a, &b));
    }

    /// Decimals next to a double or an integer, where the order hangs on the last digit.
    #[test]
    fn close_numbers_keep_their_order(base in number(), digits in 15usize..34, step in -2i64..3) {
        let Some(double) = base.as_f64() else { return Ok(()) };
        let near = format!("{double:.*e}", digits - 1);
        let Ok(crate::Decimal::Finite { negative, coefficient, exponent }) = near.parse() else { return Ok(()) };
        let coefficient = coefficient.saturating_add_signed(i128::from(step));
        let near = Value::Decimal128(crate::Decimal::Finite { negative, coefficient, exponent }.to_bytes());
        for other in [base, Value::Double(double), Value::Double(double.next_up()), Value::Double(double.next_down())] {
            prop_assert_eq!(bytes_of(&near).cmp(&bytes_of(&other)), sql_cmp(&near, &other), "{:?} {:?}", near, other);
        }
    }

    #[test]
    fn values_come_back_equal(value in any_value(), after: [u8; 3]) {
        let mut bytes = bytes_of(&value);
        let length = bytes.len();
        bytes.extend_from_slice(&after);
        let (decoded, taken) = decode(&bytes).unwrap();
        prop_assert_eq!(taken, length);
        prop_assert!(sql_cmp(&decoded, &value).is_eq(), "{:?} {:?}", decoded, value);
        prop_assert_eq!(bytes_of(&decoded), &bytes[..length]);
        prop_assert!(decode(&bytes[..length - 1]).is_err());
    }

    #[test]
    fn nodes_encode_as_their_values(value in item()) {
        let stored = stored::encode_value(&value, &[]).unwrap();
        let mut out = Vec::new();
        encode_node(Stored::open(&stored).unwrap().root(), &mut out);
        prop_assert_eq!(out, bytes_of(&value));
    }

    #[test]
    fn escaped_bytes_round_trip_and_keep_order(a: Vec<u8>, b: Vec<u8>) {
        let escaped = |bytes: &[u8]| {
            let mut out = Vec::new();
            escape(bytes, &mut out);
            out
        };
        prop_assert_eq!(escaped(&a).cmp(&escaped(&b)), a.cmp(&b));
        let joined = [escaped(&a), escaped(&b)].concat();
        let (first, rest) = unescape(&joined).unwrap();
        prop_assert_eq!(first, a);
        prop_assert_eq!(unescape(rest), Some((b, &[][..])));
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes: Vec<u8>, first in 0u8..0x40) {
        let _ = decode(&bytes);
        let _ = decode(&[&[first], &bytes[..]].concat());
    }
}
