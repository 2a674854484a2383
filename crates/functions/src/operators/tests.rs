//! Tests of the operators.

use std::cmp::Ordering;

use armilla_value::{Value, key, sql_cmp, sql_cmp_option};
use proptest::prelude::*;

use super::*;
use crate::fingerprint;
use crate::testing::{any_value, datum, json_value, parse_list, reversed, show, with_nodes};

fn truth_text(truth: Option<bool>) -> &'static str {
    match truth {
        None => "undefined",
        Some(true) => "true",
        Some(false) => "false",
    }
}

#[test]
fn equality() {
    let cases = [
        ("undefined", "1", "undefined"),
        ("1", "undefined", "undefined"),
        ("undefined", "undefined", "undefined"),
        ("null", "null", "true"),
        ("null", "undefined", "undefined"),
        // Ours: the documentation says undefined across types.
        ("null", "0", "false"),
        ("1", "'1'", "false"),
        ("true", "1", "false"),
        ("[]", "{}", "false"),
        ("true", "true", "true"),
        ("true", "false", "false"),
        ("1", "1.0", "true"),
        ("0", "-0.0", "true"),
        ("9007199254740993", "9007199254740992.0", "false"),
        ("9223372036854775807", "9223372036854775807", "true"),
        ("NaN", "NaN", "false"),
        ("Infinity", "Infinity", "true"),
        ("{'$numberDecimal':'1.0'}", "1", "true"),
        ("{'$numberDecimal':'NaN'}", "{'$numberDecimal':'NaN'}", "false"),
        ("'a'", "'a'", "true"),
        ("'a'", "'A'", "false"),
        ("[1, 2]", "[1, 2]", "true"),
        ("[1, 2]", "[2, 1]", "false"),
        ("[1, 2]", "[1, 2, 3]", "false"),
        ("[[]]", "[[]]", "true"),
        ("[null]", "[0]", "false"),
        ("{'a': 1, 'b': [2]}", "{'b': [2.0], 'a': 1.0}", "true"),
        ("{'a': 1}", "{'a': 1, 'b': 2}", "false"),
        ("{'a': 1, 'b': 2}", "{'a': 1, 'c': 2}", "false"),
        ("{'a': 1, 'b': 2}", "{'b': 1, 'a': 2}", "false"),
        ("{'a': null}", "{'b': null}", "false"),
        ("{}", "{}", "true"),
        ("{'$oid':'0102030405060708090a0b0c'}", "{'$oid':'0102030405060708090a0b0c'}", "true"),
        ("{'$oid':'0102030405060708090a0b0c'}", "{'$oid':'0102030405060708090a0b0d'}", "false"),
        ("{'$minKey':1}", "{'$maxKey':1}", "false"),
    ];
    for (left, right, expected) in cases {
        let (a, b) = (datum(left), datum(right));
        assert_eq!(show(&compare(Comparison::Equal, &a, &b)), expected, "{left} = {right}");
        assert_eq!(show(&compare(Comparison::Equal, &b, &a)), expected, "{right} = {left}");
        let negated = match expected {
            "true" => "false",
            "false" => "true",
            undefined => undefined,
        };
        assert_eq!(show(&compare(Comparison::NotEqual, &a, &b)), negated, "{left} != {right}");
        // NaN is not a value a set could hold twice.
        if expected != "undefined" && !left.contains("NaN") {
            assert_eq!(same(&a, &b), expected == "true");
        }
    }
    assert!(same(&Datum::Undefined, &Datum::Undefined));
    assert!(same(&Datum::Double(f64::NAN), &Datum::Double(f64::NAN)));
    assert!(same(&datum("{'$numberDecimal':'NaN'}"), &Datum::Double(f64::NAN)));
    assert_eq!(
        equals(&vec![Value::Double(f64::NAN)].into(), &vec![Value::Double(f64::NAN)].into()),
        Some(false)
    );
}

#[test]
fn objects_with_many_members_are_equal_in_any_order() {
    for count in [16, 17, 200] {
        let object = |names: &mut dyn Iterator<Item = usize>| {
            let members = names.map(|number| (format!("name {number}"), Value::Int64(number as i64)));
            Datum::from_owned(Value::Object(members.collect()))
        };
        let forward = object(&mut (0..count));
        let backward = object(&mut (0..count).rev());
        assert_eq!(equals(&forward, &backward), Some(true));
        assert_eq!(fingerprint(&forward), fingerprint(&backward));
        let other = object(&mut (1..=count).rev());
        assert_eq!(equals(&forward, &other), Some(false));
    }
}

#[test]
fn order_operators() {
    // Less, less or equal, greater, greater or equal.
    let cases = [
        ("1", "2", "true true false false"),
        ("1", "1.0", "false true false true"),
        ("9007199254740993", "9007199254740992.0", "false false true true"),
        ("'a'", "'b'", "true true false false"),
        ("'Z'", "'a'", "true true false false"),
        ("''", "''", "false true false true"),
        // U+10000 is written with surrogates, which come before U+E000 and up.
        ("'\u{10000}'", "'\u{ffff}'", "true true false false"),
        ("false", "true", "true true false false"),
        ("null", "null", "false true false true"),
        ("{'$numberDecimal':'0.5'}", "1", "true true false false"),
        ("NaN", "1", "false false false false"),
        ("1", "NaN", "false false false false"),
        ("NaN", "NaN", "false false false false"),
        ("-Infinity", "1", "true true false false"),
        ("1", "'1'", "undefined undefined undefined undefined"),
        ("null", "1", "undefined undefined undefined undefined"),
        ("true", "1", "undefined undefined undefined undefined"),
        ("[1]", "[2]", "undefined undefined undefined undefined"),
        ("{}", "{}", "undefined undefined undefined undefined"),
        ("{'$date':{'$numberLong':'-1'}}", "{'$date':{'$numberLong':'1'}}", "true true false false"),
        (
            "{'$oid':'0102030405060708090a0b0c'}",
            "{'$oid':'0102030405060708090a0b0c'}",
            "false true false true",
        ),
        (
            "{'$binary':{'base64':'AAAA','subType':'00'}}",
            "{'$binary':{'base64':'/w==','subType':'00'}}",
            "false false true true",
        ),
        ("{'$timestamp':{'t':1,'i':9}}", "{'$timestamp':{'t':2,'i':0}}", "true true false false"),
        ("{'$symbol':'a'}", "{'$symbol':'b'}", "true true false false"),
        ("{'$minKey':1}", "{'$minKey':1}", "false true false true"),
        ("{'$symbol':'a'}", "{'$code':'b'}", "undefined undefined undefined undefined"),
        ("{'$symbol':'a'}", "'b'", "undefined undefined undefined undefined"),
        ("{'$date':{'$numberLong':'1'}}", "2", "undefined undefined undefined undefined"),
        (
            "{'$date':{'$numberLong':'1'}}",
            "{'$timestamp':{'t':2,'i':0}}",
            "undefined undefined undefined undefined",
        ),
        ("undefined", "1", "undefined undefined undefined undefined"),
        ("undefined", "undefined", "undefined undefined undefined undefined"),
    ];
    for (left, right, expected) in cases {
        let (left, right) = (datum(left), datum(right));
        let operators =
            [Comparison::Less, Comparison::LessOrEqual, Comparison::Greater, Comparison::GreaterOrEqual];
        let found: Vec<_> =
            operators.iter().map(|&operator| show(&compare(operator, &left, &right))).collect();
        assert_eq!(found.join(" "), expected, "{left:?} {right:?}");
    }
}

#[test]
fn logic_tables() {
    let values = [Some(true), Some(false), None];
    let table = |operator: fn(Option<bool>, Option<bool>) -> Option<bool>| -> String {
        let cells = values.iter().flat_map(|&left| values.iter().map(move |&right| (left, right)));
        cells.map(|(left, right)| truth_text(operator(left, right)).chars().next().unwrap()).collect()
    };
    assert_eq!(table(and), "tfufffufu");
    assert_eq!(table(or), "ttttfutuu");
    assert_eq!(values.map(not), [Some(false), Some(true), None]);
    for operand in ["1", "'true'", "null", "[true]", "undefined"] {
        assert_eq!(truth(&datum(operand)), None, "{operand}");
        assert_eq!(show(&unary(Unary::Not, datum(operand))), "undefined");
    }
}

#[test]
fn arithmetic_table() {
    use Arithmetic::*;
    let cases = [
        (Add, "1", "2", "3"),
        (Add, "0.1", "0.2", "0.30000000000000004"),
        (Add, "9007199254740993", "0", "9007199254740992"),
        (Subtract, "1", "2.5", "-1.5"),
        (Multiply, "3", "4", "12"),
        (Multiply, "1e308", "10", "\"Infinity\""),
        (Divide, "7", "2", "3.5"),
        (Divide, "1", "0", "\"Infinity\""),
        (Divide, "-1", "0", "\"-Infinity\""),
        (Divide, "0", "0", "\"NaN\""),
        (Remainder, "7", "3", "1"),
        (Remainder, "-7", "3", "-1"),
        (Remainder, "7", "-3", "1"),
        (Remainder, "5.5", "2", "1.5"),
        (Remainder, "1", "0", "\"NaN\""),
        (BitAnd, "100", "1000", "96"),
        (BitOr, "100", "1000", "1004"),
        (BitXor, "100", "1000", "908"),
        (BitAnd, "1.9", "3.9", "1"),
        (BitOr, "-1.9", "0", "-1"),
        (BitOr, "4294967296", "0", "0"),
        (BitOr, "4294967297", "0", "1"),
        (BitOr, "2147483648", "0", "-2147483648"),
        (BitOr, "-2147483649", "0", "2147483647"),
        (BitOr, "1e300", "0", "0"),
        (BitOr, "NaN", "0", "0"),
        (BitOr, "Infinity", "3", "3"),
        (ShiftLeft, "100", "2", "400"),
        (ShiftLeft, "1", "31", "-2147483648"),
        (ShiftLeft, "1", "32", "1"),
        (ShiftLeft, "1", "33", "2"),
        (ShiftLeft, "1", "-1", "-2147483648"),
        (ShiftRight, "100", "2", "25"),
        (ShiftRight, "-8", "1", "-4"),
        (ShiftRightZeroFill, "100", "0", "100"),
        (ShiftRightZeroFill, "-1", "0", "4294967295"),
        (ShiftRightZeroFill, "-1", "28", "15"),
        (Add, "{'$numberDecimal':'1.5'}", "1", "2.5"),
    ];
    for (operator, left, right, expected) in cases {
        assert_eq!(
            show(&arithmetic(operator, &datum(left), &datum(right))),
            expected,
            "{operator:?} {left} {right}"
        );
    }
    for operator in [Add, Subtract, Multiply, Divide, Remainder, BitAnd, BitOr, BitXor, ShiftLeft] {
        for operand in ["undefined", "null", "true", "'1'", "[1]", "{}"] {
            assert!(arithmetic(operator, &datum(operand), &datum("1")).is_undefined());
            assert!(arithmetic(operator, &datum("1"), &datum(operand)).is_undefined());
        }
    }
}

#[test]
fn unary_table() {
    use Unary::*;
    let cases = [
        (Minus, "5", "-5"),
        (Minus, "-2.5", "2.5"),
        // Exact, because the sign of an integer literal is this operator.
        (Minus, "9007199254740993", "-9007199254740993"),
        (Minus, "-9223372036854775808", "9223372036854776000"),
        (Minus, "0", "0"),
        (Plus, "9007199254740993", "9007199254740993"),
        (Plus, "'5'", "undefined"),
        (Plus, "null", "undefined"),
        (Minus, "'5'", "undefined"),
        (Minus, "true", "undefined"),
        (Minus, "undefined", "undefined"),
        (BitNot, "0", "-1"),
        (BitNot, "130679749712577953", "-1022657953"),
        (BitNot, "'1'", "undefined"),
        (Not, "true", "false"),
        (Not, "false", "true"),
    ];
    for (operator, operand, expected) in cases {
        assert_eq!(show(&unary(operator, datum(operand))), expected, "{operator:?} {operand}");
    }
}

#[test]
fn concatenation() {
    let cases = [
        ("'a'", "'b'", "\"ab\""),
        ("''", "''", "\"\""),
        ("'a'", "''", "\"a\""),
        ("'a'", "null", "undefined"),
        ("1", "'a'", "undefined"),
        ("undefined", "'a'", "undefined"),
    ];
    for (left, right, expected) in cases {
        assert_eq!(show(&concat(&datum(left), &datum(right))), expected);
    }
    let half = "x".repeat(RESULT_BYTES_MAX / 2);
    assert!(concat(&half.as_str().into(), &half.as_str().into()).is_string());
    assert!(concat(&half.as_str().into(), &format!("{half}x").into()).is_undefined());
}

#[test]
fn in_between_like_index() {
    let list: Vec<Datum<'_>> = parse_list("1, 'a', null, [1], undefined")
        .into_iter()
        .map(|v| v.map(Datum::from_owned).into())
        .collect();
    let cases = [
        ("1.0", "true"),
        ("'a'", "true"),
        ("null", "true"),
        ("[1]", "true"),
        ("2", "false"),
        ("true", "false"),
        ("undefined", "undefined"),
    ];
    for (operand, expected) in cases {
        assert_eq!(truth_text(is_in(&datum(operand), &list)), expected, "{operand}");
    }

    let cases = [
        ("5", "1", "5", "true"),
        ("1", "1", "5", "true"),
        ("6", "1", "5", "false"),
        ("'b'", "'a'", "'c'", "true"),
        ("true", "false", "true", "true"),
        ("50", "'a'", "10", "false"),
        ("5", "'a'", "10", "undefined"),
        ("'b'", "1", "5", "undefined"),
        ("undefined", "1", "5", "undefined"),
        ("5", "undefined", "1", "false"),
        ("[1]", "[0]", "[2]", "undefined"),
    ];
    for (operand, low, high, expected) in cases {
        assert_eq!(
            truth_text(between(&datum(operand), &datum(low), &datum(high))),
            expected,
            "{operand} between {low} and {high}"
        );
    }

    let cases = [
        ("'abc'", "'a%'", None, "true"),
        ("'abc'", "'b%'", None, "false"),
        ("'20%'", "'20!%'", Some('!'), "true"),
        ("'200'", "'20!%'", Some('!'), "false"),
        ("1", "'a%'", None, "undefined"),
        ("'abc'", "null", None, "undefined"),
        ("undefined", "'%'", None, "undefined"),
    ];
    for (operand, pattern, escape, expected) in cases {
        assert_eq!(truth_text(like(&datum(operand), &datum(pattern), escape, &Meter::unlimited())), expected);
    }

    let cases = [
        ("[10, 20]", "0", "10"),
        ("[10, 20]", "1.0", "20"),
        ("[10, 20]", "2", "undefined"),
        ("[10, 20]", "-1", "undefined"),
        ("[10, 20]", "0.5", "undefined"),
        ("[10, 20]", "'0'", "undefined"),
        ("[10, 20]", "null", "undefined"),
        ("[10, 20]", "undefined", "undefined"),
        ("{'a': 1}", "'a'", "1"),
        ("{'a': 1}", "'b'", "undefined"),
        ("{'0': 1}", "0", "undefined"),
        ("'text'", "0", "undefined"),
        ("null", "'a'", "undefined"),
    ];
    for (collection, key, expected) in cases {
        assert_eq!(show(&index(datum(collection), &datum(key))), expected, "{collection}[{key}]");
    }
}

#[test]
fn total_order_of_types() {
    let ascending = [
        "undefined",
        "null",
        "false",
        "true",
        "NaN",
        "-Infinity",
        "-1",
        "0",
        "{'$numberDecimal':'0.5'}",
        "9007199254740992.0",
        "9007199254740993",
        "Infinity",
        "''",
        "'a'",
        "'\u{10000}'",
        "'\u{ffff}'",
        "[]",
        "[null]",
        "[1]",
        "[1, 0]",
        "{}",
        "{'a': 1}",
        "{'b': 0}",
        "{'$minKey':1}",
        "{'$oid':'0102030405060708090a0b0c'}",
    ];
    for (i, left) in ascending.iter().enumerate() {
        for (j, right) in ascending.iter().enumerate() {
            assert_eq!(order(&datum(left), &datum(right)), i.cmp(&j), "{left} {right}");
        }
    }
    assert_eq!(order(&datum("0"), &datum("-0.0")), Ordering::Equal);
}

fn key_bytes(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    key::encode_value(value, &mut bytes);
    bytes
}

proptest! {
    #[test]
    fn order_agrees_with_values_and_key_bytes(left in any_value(), right in any_value()) {
        let expected = sql_cmp(&left, &right);
        prop_assert_eq!(order(&Datum::from_value(&left), &Datum::from_value(&right)), expected);
        prop_assert_eq!(key_bytes(&left).cmp(&key_bytes(&right)), expected);
        prop_assert_eq!(
            order(&Datum::Undefined, &Datum::from_value(&right)),
            sql_cmp_option(None, Some(&right))
        );
        with_nodes(&[Some(left.clone()), Some(right.clone())], |data| {
            prop_assert_eq!(order(&data[0], &data[1]), expected);
            prop_assert_eq!(order(&data[0], &Datum::from_value(&right)), expected);
            prop_assert_eq!(order(&Datum::from_value(&left), &data[1]), expected);
            Ok(())
        })?;
    }

    #[test]
    fn equality_order_and_fingerprints_agree(left in any_value(), right in any_value()) {
        let other = reversed(&left);
        let (a, b) = (Datum::from_value(&left), Datum::from_value(&right));
        prop_assert_eq!(same(&a, &b), order(&a, &b).is_eq());
        prop_assert_eq!(same(&a, &b), fingerprint(&a) == fingerprint(&b));
        prop_assert!(same(&a, &Datum::from_value(&other)));
        prop_assert_eq!(fingerprint(&a), fingerprint(&Datum::from_value(&other)));
        with_nodes(&[Some(left.clone()), Some(right.clone()), Some(other)], |data| {
            prop_assert_eq!(fingerprint(&data[0]), fingerprint(&a));
            prop_assert_eq!(fingerprint(&data[2]), fingerprint(&a));
            prop_assert_eq!(same(&data[0], &b), same(&a, &b));
            prop_assert_eq!(equals(&data[0], &data[1]), equals(&a, &b));
            prop_assert_eq!(equals(&data[0], &b), equals(&a, &b));
            Ok(())
        })?;
    }

    #[test]
    fn json_values_equal_themselves(value in json_value()) {
        let (forward, backward) = (Datum::from_value(&value), reversed(&value));
        prop_assert_eq!(equals(&forward, &Datum::from_value(&backward)), Some(true));
    }

    #[test]
    fn comparisons_agree_with_the_order(left in json_value(), right in json_value()) {
        let (left, right) = (Datum::from_owned(left), Datum::from_owned(right));
        if let Some(less) = compare_truth(Comparison::Less, &left, &right) {
            prop_assert_eq!(less, order(&left, &right).is_lt());
            prop_assert_eq!(compare_truth(Comparison::GreaterOrEqual, &left, &right), Some(!less));
        }
    }

    #[test]
    fn integers_modulo_two_to_the_32(number in any::<i64>()) {
        let double = number as f64;
        prop_assert_eq!(to_int32(double), (double as i128) as i32);
    }
}
