//! Tests of data: their forms, navigation and text.

use armilla_value::Value;
use proptest::prelude::*;

use super::*;
use crate::operators::same;
use crate::testing::{any_value, datum, json_value, parse_list, show, with_nodes};

#[test]
fn invariant_scalars_have_their_own_variants() {
    let values = parse_list("null, true, 1, 1.5, 'a', [1], {'a': 1}, {'$oid':'000000000000000000000000'}");
    let shapes = |data: &[Datum<'_>]| -> String {
        data.iter()
            .map(|datum| match datum {
                Datum::Undefined => 'u',
                Datum::Null => 'n',
                Datum::Bool(_) => 'b',
                Datum::Int(_) => 'i',
                Datum::Double(_) => 'd',
                Datum::Str(_) => 's',
                Datum::Node(_) | Datum::Value(_) => 'v',
            })
            .collect()
    };
    with_nodes(&values, |data| assert_eq!(shapes(data), "nbidsvvv"));
    let borrowed: Vec<_> = values.iter().flatten().map(Datum::from_value).collect();
    assert_eq!(shapes(&borrowed), "nbidsvvv");
    let owned: Vec<_> = values.iter().flatten().cloned().map(Datum::from_owned).collect();
    assert_eq!(shapes(&owned), "nbidsvvv");
    let kinds: Vec<_> = owned.iter().map(Datum::kind).collect();
    use DatumKind as K;
    assert_eq!(kinds, [K::Null, K::Bool, K::Number, K::Number, K::String, K::Array, K::Object, K::Other]);
}

#[test]
fn output_text() {
    let cases: &[(Datum<'_>, &str)] = &[
        (Datum::Undefined, ""),
        (Datum::Null, "null"),
        (Datum::Bool(true), "true"),
        (Datum::Bool(false), "false"),
        (Datum::Int(0), "0"),
        (Datum::Int(i64::MIN), "-9223372036854775808"),
        (Datum::Int(i64::MAX), "9223372036854775807"),
        (Datum::Double(3.0), "3"),
        (Datum::Double(-3.0), "-3"),
        (Datum::Double(0.0), "0"),
        (Datum::Double(-0.0), "0"),
        (Datum::Double(0.1), "0.1"),
        (Datum::Double(-2.5), "-2.5"),
        (Datum::Double(15_779_342_456_789_124.0), "15779342456789124"),
        (Datum::Double(9_007_199_254_740_991.0), "9007199254740991"),
        (Datum::Double(36_028_797_018_963_968.0), "36028797018963968"),
        (Datum::Double(-9_223_372_036_854_775_808.0), "-9223372036854776000"),
        (Datum::Double(1e20), "100000000000000000000"),
        (Datum::Double(1e21), "1e21"),
        (Datum::Double(-1.5e300), "-1.5e300"),
        (Datum::Double(1e-6), "0.000001"),
        (Datum::Double(1.5e-7), "1.5e-7"),
        (Datum::Double(f64::MAX), "1.7976931348623157e308"),
        (Datum::Double(5e-324), "5e-324"),
        (Datum::Double(f64::NAN), "\"NaN\""),
        (Datum::Double(f64::INFINITY), "\"Infinity\""),
        (Datum::Double(f64::NEG_INFINITY), "\"-Infinity\""),
        (Datum::text("a\"\\\n\u{1}é"), r#""a\"\\\n\u0001é""#),
        (datum("[1.0, [2.5], {'a': 3.0, 'b': null}]"), r#"[1,[2.5],{"a":3,"b":null}]"#),
        (vec![Value::Double(f64::NAN), Value::Int32(4)].into(), r#"["NaN",4]"#),
        (datum("{'$oid':'0102030405060708090a0b0c'}"), r#"{"$oid":"0102030405060708090a0b0c"}"#),
    ];
    for (datum, expected) in cases {
        assert_eq!(datum.to_json(), *expected);
    }
    // What is stored is shown as it was written.
    let bytes = armilla_value::stored::encode(br#"{"a": [1.0, 1e2, "x"]}"#, &[]).unwrap();
    let root = Datum::from_node(armilla_value::Stored::open(&bytes).unwrap().root());
    assert_eq!(root.to_json(), r#"{"a":[1.0,1e2,"x"]}"#);
    assert_eq!(root.member("a").element(1).to_json(), "100");
}

#[test]
fn into_value_makes_whole_doubles_integers() {
    let cases = [
        (Datum::Double(3.0), Some(Value::Int64(3))),
        (Datum::Double(-0.0), Some(Value::Int64(0))),
        (Datum::Double(9_007_199_254_740_992.0), Some(Value::Int64(1 << 53))),
        (Datum::Double(9_007_199_254_740_994.0), Some(Value::Double(9_007_199_254_740_994.0))),
        (Datum::Double(0.5), Some(Value::Double(0.5))),
        (Datum::Double(f64::INFINITY), Some(Value::Double(f64::INFINITY))),
        (Datum::Undefined, None),
    ];
    for (datum, expected) in cases {
        assert_eq!(datum.to_value(), expected);
        assert_eq!(datum.into_value(), expected);
    }
}

#[test]
fn numbers() {
    let cases = [
        ("1", Some(1.0), Some(1), Some(1)),
        ("1.0", Some(1.0), Some(1), Some(1)),
        ("1.5", Some(1.5), None, None),
        ("9223372036854775807", Some(INT64_END), Some(i64::MAX), Some(i64::MAX)),
        ("9223372036854775808", Some(INT64_END), None, Some(i64::MAX)),
        ("-9223372036854775808.0", Some(-INT64_END), Some(i64::MIN), Some(i64::MIN)),
        ("-1e300", Some(-1e300), None, Some(i64::MIN)),
        ("Infinity", Some(f64::INFINITY), None, None),
        ("{'$numberDecimal':'2.50'}", Some(2.5), None, None),
        ("'1'", None, None, None),
        ("null", None, None, None),
        ("true", None, None, None),
        ("[1]", None, None, None),
        ("undefined", None, None, None),
    ];
    for (text, double, integer, saturated) in cases {
        let datum = datum(text);
        assert_eq!(datum.as_f64(), double, "{text}");
        assert_eq!(datum.as_i64(), integer, "{text}");
        assert_eq!(datum.as_i64_saturated(), saturated, "{text}");
    }
    assert!(Datum::Double(f64::NAN).as_i64().is_none());
}

#[test]
fn navigation_in_every_form() {
    let values = parse_list("{'a': {'b': [10, 'x', null]}, 'c': 1}, [1, [2]], 'text', null");
    let check = |data: &[Datum<'_>]| {
        let object = &data[0];
        assert_eq!(show(&object.member("a").member("b").element(1)), "\"x\"");
        assert_eq!(show(&object.clone().into_member("a").into_member("b").into_element(0)), "10");
        assert_eq!(show(&object.member("zz")), "undefined");
        assert_eq!(show(&object.clone().into_member("zz")), "undefined");
        assert_eq!(show(&object.element(0)), "undefined");
        assert_eq!(show(&object.clone().into_element(0)), "undefined");
        assert_eq!((object.object_len(), object.array_len()), (Some(2), None));
        let names: Vec<_> = object.members().map(|(name, _)| name.into_owned()).collect();
        assert_eq!(names, ["a", "c"]);
        let taken: Vec<_> =
            object.clone().into_members().map(|(name, value)| format!("{name}={}", show(&value))).collect();
        assert_eq!(taken, [r#"a={"b":[10,"x",null]}"#, "c=1"]);
        let array = &data[1];
        assert_eq!((array.object_len(), array.array_len()), (None, Some(2)));
        assert_eq!(show(&array.element(1).element(0)), "2");
        assert_eq!(show(&array.element(2)), "undefined");
        assert_eq!(show(&array.clone().into_element(2)), "undefined");
        assert_eq!(show(&array.member("a")), "undefined");
        assert_eq!(array.elements().map(|element| show(&element)).collect::<Vec<_>>(), ["1", "[2]"]);
        assert_eq!(array.clone().into_elements().map(|e| show(&e)).collect::<Vec<_>>(), ["1", "[2]"]);
        assert_eq!(array.elements().size_hint().1, Some(2));
        for scalar in &data[2..] {
            assert_eq!(show(&scalar.member("a")), "undefined");
            assert_eq!(show(&scalar.element(0)), "undefined");
            assert_eq!(scalar.elements().count() + scalar.members().count(), 0);
            assert_eq!(scalar.clone().into_elements().count() + scalar.clone().into_members().count(), 0);
            assert_eq!((scalar.object_len(), scalar.array_len()), (None, None));
        }
    };
    with_nodes(&values, check);
    check(&values.iter().flatten().map(Datum::from_value).collect::<Vec<_>>());
    check(&values.iter().flatten().cloned().map(Datum::from_owned).collect::<Vec<_>>());
}

proptest! {
    #[test]
    fn every_form_holds_the_same(value in any_value()) {
        let owned = Datum::from_owned(value.clone());
        prop_assert!(same(&owned, &Datum::from_value(&value)));
        prop_assert!(same(&owned, &owned.borrowed()));
        prop_assert!(same(&owned, &owned.clone().into_static()));
        prop_assert!(same(&owned, &Datum::from_owned(owned.to_value().unwrap())));
        with_nodes(&[Some(value)], |data| {
            prop_assert!(same(&owned, &data[0]));
            prop_assert!(same(&owned, &data[0].clone().into_static()));
            Ok(())
        })?;
    }

    #[test]
    fn output_text_reads_back_equal(value in json_value()) {
        let owned = Datum::from_owned(value.clone());
        let read = armilla_value::json::parse(owned.to_json().as_bytes()).unwrap();
        prop_assert!(same(&owned, &Datum::from_value(&read)));
        with_nodes(&[Some(value)], |data| {
            let read = armilla_value::json::parse(data[0].to_json().as_bytes()).unwrap();
            prop_assert!(same(&owned, &Datum::from_value(&read)));
            Ok(())
        })?;
    }

    #[test]
    fn integers_as_text(number in any::<i64>()) {
        prop_assert_eq!(Datum::Int(number).to_json(), number.to_string());
    }

    #[test]
    fn doubles_as_text(number in any::<f64>()) {
        prop_assume!(number.is_finite());
        prop_assert_eq!(Datum::Double(number).to_json().parse::<f64>().unwrap(), number);
    }
}
