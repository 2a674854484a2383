//! Tests of the two orders: tables in rising order, and the laws of a total order.

use proptest::prelude::*;

use super::*;
use crate::json;
use crate::testing::any_value;

/// Checks that the values, given as Extended JSON, rise; `=` joins equal ones.
#[track_caller]
fn check_rising(compare: fn(&Value, &Value) -> Ordering, groups: &[&str]) {
    let parse = |text: &str| json::parse_extended(text.trim().as_bytes()).unwrap();
    let groups: Vec<Vec<Value>> =
        groups.iter().map(|group| group.split(" = ").map(parse).collect()).collect();
    for (i, left_group) in groups.iter().enumerate() {
        for (j, right_group) in groups.iter().enumerate() {
            for left in left_group {
                for right in right_group {
                    assert_eq!(compare(left, right), i.cmp(&j), "{left:?} against {right:?}");
                }
            }
        }
    }
}

const NUMBERS: &[&str] = &[
    r#"{"$numberDouble":"NaN"} = {"$numberDecimal":"NaN"}"#,
    r#"{"$numberDouble":"-Infinity"} = {"$numberDecimal":"-Infinity"}"#,
    r#"{"$numberDecimal":"-1E+6000"}"#,
    "-1e308",
    "-9223372036854775809",
    r#"-9223372036854775807 = {"$numberDecimal":"-9223372036854775807"}"#,
    "-9007199254740993",
    r#"-9007199254740992 = -9007199254740992.0"#,
    r#"-1 = -1.0 = {"$numberInt":"-1"} = {"$numberDecimal":"-1.00"}"#,
    r#"{"$numberDecimal":"-1E-6000"}"#,
    r#"0 = -0.0 = 0.0 = {"$numberDecimal":"-0E+5"}"#,
    r#"{"$numberDecimal":"1E-6000"}"#,
    "5e-324",
    r#"{"$numberDecimal":"0.1"}"#,
    // The double nearest to one tenth lies just above it.
    r#"0.1 = {"$numberDouble":"0.1"}"#,
    r#"{"$numberDecimal":"0.1000000000000000055511151231257828"}"#,
    "0.5",
    "1",
    "9007199254740992",
    "9007199254740993",
    r#"{"$numberDecimal":"9007199254740993.5"}"#,
    "9007199254740994 = 9007199254740994.0",
    "9223372036854775807",
    r#"9223372036854775808 = {"$numberDecimal":"9223372036854775808"}"#,
    "1e308",
    r#"{"$numberDecimal":"1E+400"}"#,
    r#"{"$numberDouble":"Infinity"} = {"$numberDecimal":"Infinity"}"#,
];

#[test]
fn numbers_compare_exactly_in_both_orders() {
    check_rising(sql_cmp, NUMBERS);
    check_rising(mongo_cmp, NUMBERS);
}

#[test]
fn sql_order() {
    check_rising(
        sql_cmp,
        &[
            "null",
            "false",
            "true",
            "-1e300",
            "0 = -0.0",
            "7",
            r#""""#,
            r#""\u0000""#,
            r#""A""#,
            r#""a""#,
            r#""aa""#,
            "\"\u{d7ff}\"",
            "\"\u{10000}\"",
            "\"\u{e000}\"",
            "\"\u{ffff}\"",
            "[]",
            "[null]",
            "[1] = [1.0]",
            "[1,0]",
            "[2]",
            "{}",
            r#"{"a":1} = {"a":1.0}"#,
            r#"{"a":1,"b":2} = {"b":2,"a":1}"#,
            r#"{"a":2}"#,
            r#"{"b":0}"#,
            r#"{"$minKey":1}"#,
            r#"{"$binary":{"base64":"AA==","subType":"00"}}"#,
            r#"{"$oid":"000000000000000000000000"}"#,
            r#"{"$date":{"$numberLong":"0"}}"#,
            r#"{"$timestamp":{"t":0,"i":1}}"#,
            r#"{"$regularExpression":{"pattern":"a","options":""}}"#,
            r#"{"$dbPointer":{"$ref":"b","$id":{"$oid":"000000000000000000000000"}}}"#,
            r#"{"$dbPointer":{"$ref":"b","$id":{"$oid":"000000000000000000000001"}}}"#,
            // The length of the namespace comes first.
            r#"{"$dbPointer":{"$ref":"aa","$id":{"$oid":"000000000000000000000000"}}}"#,
            r#"{"$code":"a"}"#,
            r#"{"$code":"b"}"#,
            r#"{"$code":"a","$scope":{}}"#,
            r#"{"$code":"a","$scope":{"x":1}} = {"$code":"a","$scope":{"x":{"$numberInt":"1"}}}"#,
            r#"{"$code":"b","$scope":{}}"#,
            r#"{"$symbol":"a"}"#,
            r#"{"$undefined":true}"#,
            r#"{"$maxKey":1}"#,
        ],
    );
}

#[test]
fn undefined_sorts_first() {
    assert_eq!(sql_cmp_option(None, None), Ordering::Equal);
    assert_eq!(sql_cmp_option(None, Some(&Value::Null)), Ordering::Less);
    assert_eq!(sql_cmp_option(Some(&Value::Null), None), Ordering::Greater);
}

#[test]
fn mongo_order() {
    check_rising(
        mongo_cmp,
        &[
            r#"{"$minKey":1}"#,
            r#"{"$undefined":true}"#,
            "null",
            "-1",
            r#"2 = 2.0 = {"$numberDecimal":"2.0"}"#,
            r#""a" = {"$symbol":"a"}"#,
            r#"{"$symbol":"aa"}"#,
            r#""ab""#,
            "\"\u{e000}\"",
            "\"\u{10000}\"",
            "{}",
            // The class of the value comes before the name.
            r#"{"b":1}"#,
            r#"{"b":1,"a":1}"#,
            r#"{"a":"x"}"#,
            r#"{"a":{}}"#,
            "[]",
            "[1]",
            "[1,2]",
            r#"["a"]"#,
            r#"{"$binary":{"base64":"AA==","subType":"00"}}"#,
            r#"{"$binary":{"base64":"AA==","subType":"05"}}"#,
            r#"{"$binary":{"base64":"AAA=","subType":"00"}}"#,
            r#"{"$oid":"000000000000000000000000"}"#,
            r#"{"$oid":"000000000000000000000001"}"#,
            "false",
            "true",
            r#"{"$date":{"$numberLong":"-1"}}"#,
            r#"{"$date":{"$numberLong":"1"}}"#,
            r#"{"$timestamp":{"t":1,"i":9}}"#,
            r#"{"$timestamp":{"t":2,"i":0}}"#,
            r#"{"$regularExpression":{"pattern":"a","options":"i"}}"#,
            r#"{"$regularExpression":{"pattern":"b","options":""}}"#,
            r#"{"$dbPointer":{"$ref":"b","$id":{"$oid":"000000000000000000000000"}}}"#,
            r#"{"$dbPointer":{"$ref":"b","$id":{"$oid":"000000000000000000000001"}}}"#,
            // The length of the namespace comes first.
            r#"{"$dbPointer":{"$ref":"aa","$id":{"$oid":"000000000000000000000000"}}}"#,
            r#"{"$code":"a"}"#,
            r#"{"$code":"b"}"#,
            r#"{"$code":"a","$scope":{}}"#,
            r#"{"$code":"a","$scope":{"x":1}} = {"$code":"a","$scope":{"x":{"$numberInt":"1"}}}"#,
            r#"{"$code":"b","$scope":{}}"#,
            r#"{"$maxKey":1}"#,
        ],
    );
}

proptest! {
    #[test]
    fn both_orders_are_total(a in any_value(), b in any_value(), c in any_value()) {
        for compare in [sql_cmp, mongo_cmp] {
            prop_assert_eq!(compare(&a, &a), Ordering::Equal);
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
                prop_assert!(compare(&a, &c).is_le());
            }
        }
    }

    #[test]
    fn strings_compare_by_utf16_units(a in crate::testing::text(), b in crate::testing::text()) {
        prop_assert_eq!(utf16_cmp(&a, &b), a.encode_utf16().cmp(b.encode_utf16()));
    }
}
