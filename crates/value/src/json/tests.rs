//! Tests of JSON text: what is taken, what is refused and where, and round trips.

use proptest::prelude::*;

use super::*;
use crate::testing::{any_value, json_value};
use crate::value::{Legacy, Object, Value};

#[test]
fn values_that_are_taken() {
    let cases: &[(&str, Value)] = &[
        ("null", Value::Null),
        (" \t\r\n true ", Value::Bool(true)),
        ("false", Value::Bool(false)),
        ("0", Value::Int64(0)),
        ("-0", Value::Double(-0.0)),
        ("-0.0", Value::Double(-0.0)),
        ("0e5", Value::Double(0.0)),
        ("1.0", Value::Double(1.0)),
        ("1E+2", Value::Double(100.0)),
        ("1e-400", Value::Double(0.0)),
        ("123456789012345678", Value::Int64(123_456_789_012_345_678)),
        ("9223372036854775807", Value::Int64(i64::MAX)),
        ("-9223372036854775808", Value::Int64(i64::MIN)),
        ("9223372036854775808", Value::Double(9_223_372_036_854_775_808.0)),
        ("18446744073709551615", Value::Double(18_446_744_073_709_551_615.0)),
        ("1.7976931348623157e308", Value::Double(f64::MAX)),
        (r#""""#, "".into()),
        (r#""\"\\\/\b\f\n\r\t\u0041\u00e9""#, "\"\\/\u{8}\u{c}\n\r\tAé".into()),
        (r#""\ud83d\ude00 \uD83D\uDE00 😀""#, "😀 😀 😀".into()),
        (r#""\u0000\uffff\udbff\udfff""#, "\0\u{ffff}\u{10ffff}".into()),
        ("[ ]", Value::Array(vec![])),
        ("[ 1 , \"a\" ]", Value::Array(vec![1.into(), "a".into()])),
        ("{ }", Object::new().into()),
        (
            r#"{ "b" : 1 , "a" : { } }"#,
            Object::from([("b", Value::from(1)), ("a", Object::new().into())]).into(),
        ),
        (r#"{"a":1,"b":2,"\u0061":3}"#, Object::from([("a", 3), ("b", 2)]).into()),
        (r#"{"$oid":"000000000000000000000000"}"#, Object::from([("$oid", "0".repeat(24))]).into()),
    ];
    for (text, value) in cases {
        let read = parse(text.as_bytes()).unwrap();
        // Debug tells -0 from 0.
        assert_eq!(format!("{read:?}"), format!("{value:?}"), "{text}");
    }
}

#[test]
fn texts_that_are_refused() {
    let cases: &[(&[u8], &str, usize)] = &[
        (b"", "unexpected end of text at line 1 column 1", 0),
        (b" ", "unexpected end of text at line 1 column 2", 1),
        (b"[1", "unexpected end of text at line 1 column 3", 2),
        (b"[1,]", "expected a value at line 1 column 4", 3),
        (b"[1 2]", "expected ',' or ']' at line 1 column 4", 3),
        (b"{\"a\" 1}", "expected ':' at line 1 column 6", 5),
        (b"{\"a\":1,}", "expected a member name at line 1 column 8", 7),
        (b"{a:1}", "expected a member name at line 1 column 2", 1),
        (b"{\"a\":1 \"b\":2}", "expected ',' or '}' at line 1 column 8", 7),
        (b"{\n  \"a\": x\n}", "expected a value at line 2 column 8", 9),
        ("[\"é\", x]".as_bytes(), "expected a value at line 1 column 7", 7),
        (b"nul", "expected a value at line 1 column 1", 0),
        (b"True", "expected a value at line 1 column 1", 0),
        (b"NaN", "expected a value at line 1 column 1", 0),
        (b"Infinity", "expected a value at line 1 column 1", 0),
        (b"-Infinity", "invalid number at line 1 column 2", 1),
        (b"1 2", "text after the value at line 1 column 3", 2),
        (b"nullx", "text after the value at line 1 column 5", 4),
        (b"{}\0", "text after the value at line 1 column 3", 2),
        (b"01", "invalid number at line 1 column 1", 0),
        (b"-", "unexpected end of text at line 1 column 2", 1),
        (b"-01", "invalid number at line 1 column 2", 1),
        (b"[1.]", "invalid number at line 1 column 4", 3),
        (b"[.5]", "expected a value at line 1 column 2", 1),
        (b"[+1]", "expected a value at line 1 column 2", 1),
        (b"[1e]", "invalid number at line 1 column 4", 3),
        (b"[1e+]", "invalid number at line 1 column 5", 4),
        (b"[0x1]", "expected ',' or ']' at line 1 column 3", 2),
        (b"[1e309]", "number too large for a double at line 1 column 2", 1),
        (b"-1e309", "number too large for a double at line 1 column 1", 0),
        (b"\"a", "unexpected end of text at line 1 column 3", 2),
        (b"\"a\nb\"", "control character in a string at line 1 column 3", 2),
        (b"\"123456789\x1f\"", "control character in a string at line 1 column 11", 10),
        (b"\"\0\"", "control character in a string at line 1 column 2", 1),
        (b"\"\\x\"", "invalid escape in a string at line 1 column 2", 1),
        (b"\"\\u12g4\"", "invalid escape in a string at line 1 column 2", 1),
        (b"\"\\u+123\"", "invalid escape in a string at line 1 column 2", 1),
        (b"\"\\u12", "unexpected end of text at line 1 column 6", 5),
        (b"\"\\", "unexpected end of text at line 1 column 3", 2),
        (b"\"\\ud83d\"", "lone surrogate in a string at line 1 column 2", 1),
        (b"\"\\ud83dx\"", "lone surrogate in a string at line 1 column 2", 1),
        (b"\"\\ud83d\\u0041\"", "lone surrogate in a string at line 1 column 2", 1),
        (b"\"\\ude00\\ud83d\"", "lone surrogate in a string at line 1 column 2", 1),
        (b"\xEF\xBB\xBF{}", "byte-order mark before the text at line 1 column 1", 0),
        (b"\"a\xFF\"", "invalid UTF-8 at line 1 column 3", 2),
        (b"\"\xED\xA0\x80\"", "invalid UTF-8 at line 1 column 2", 1),
        (b"'a'", "expected a value at line 1 column 1", 0),
        (b"[1] // no", "text after the value at line 1 column 5", 4),
        (b"\x0B1", "expected a value at line 1 column 1", 0),
    ];
    for (text, message, offset) in cases {
        let error = parse(text).unwrap_err();
        assert_eq!(error.to_string(), *message, "{}", String::from_utf8_lossy(text));
        assert_eq!(error.offset, *offset, "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn large_numbers_without_exponent() {
    let digits = |count: usize| "9".repeat(count);
    assert!(matches!(parse(digits(308).as_bytes()), Ok(Value::Double(_))));
    assert_eq!(parse(digits(309).as_bytes()).unwrap_err().kind, JsonErrorKind::NumberTooLarge);
    assert!(matches!(parse(format!("1{}", "0".repeat(308)).as_bytes()), Ok(Value::Double(_))));
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(nested(DEPTH_MAX).as_bytes()).is_ok());
    let error = parse(nested(DEPTH_MAX + 1).as_bytes()).unwrap_err();
    assert_eq!((error.kind, error.offset), (JsonErrorKind::TooDeep, DEPTH_MAX));
    assert!(error.to_string().contains(&DEPTH_MAX.to_string()));
    let objects = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert!(parse(objects(DEPTH_MAX).as_bytes()).is_ok());
    assert!(parse(objects(DEPTH_MAX + 1).as_bytes()).is_err());
    // However deep, the text is refused without using up the stack.
    assert_eq!(parse("[".repeat(1_000_000).as_bytes()).unwrap_err().kind, JsonErrorKind::TooDeep);
}

#[test]
fn many_members_take_linear_time() {
    let text = many_members();
    let Value::Object(object) = parse(text.as_bytes()).unwrap() else { panic!("an object") };
    assert_eq!(object.len(), 200_000);
    assert_eq!(object.iter().next(), Some(("n0", &Value::Int64(7))));
}

fn many_members() -> String {
    let members: String = (0..200_000).map(|index| format!("\"n{index}\":{index},")).collect();
    format!("{{{members}\"n0\":7}}")
}

#[test]
fn numbers_as_written() {
    let cases = [
        (Value::Int32(-1), "-1"),
        (Value::Int64(i64::MIN), "-9223372036854775808"),
        (Value::Double(1.0), "1.0"),
        (Value::Double(-0.0), "-0.0"),
        (Value::Double(0.1), "0.1"),
        (Value::Double(1e15), "1000000000000000.0"),
        (Value::Double(1e16), "1e16"),
        (Value::Double(1e300), "1e300"),
        (Value::Double(1.5e-7), "1.5e-7"),
        (Value::Double(f64::MAX), "1.7976931348623157e308"),
        (Value::Double(5e-324), "5e-324"),
        (Value::Double(f64::NAN), r#"{"$numberDouble":"NaN"}"#),
        (Value::Double(f64::INFINITY), r#"{"$numberDouble":"Infinity"}"#),
        (Value::Double(f64::NEG_INFINITY), r#"{"$numberDouble":"-Infinity"}"#),
    ];
    for (value, text) in cases {
        assert_eq!(to_string(&value), text);
    }
}

#[test]
fn strings_as_written() {
    let mut out = Vec::new();
    write_string("a\"\\/\u{8}\u{c}\n\r\t\0\u{1f}\u{7f}é😀", &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}é😀\"");
}

#[test]
fn extended_json_both_ways() {
    let cases = [
        (Value::ObjectId([0xAB; 12]), r#"{"$oid":"abababababababababababab"}"#),
        (Value::Date(-5), r#"{"$date":{"$numberLong":"-5"}}"#),
        (
            Value::Decimal128("1.10".parse::<crate::Decimal>().unwrap().to_bytes()),
            r#"{"$numberDecimal":"1.10"}"#,
        ),
        (
            Value::Binary { subtype: 4, bytes: vec![0xFB, 0xFF] },
            r#"{"$binary":{"base64":"+/8=","subType":"04"}}"#,
        ),
        (Value::Timestamp { seconds: u32::MAX, increment: 1 }, r#"{"$timestamp":{"t":4294967295,"i":1}}"#),
        (
            Value::Regex { pattern: "a\"b".into(), options: "i".into() },
            r#"{"$regularExpression":{"pattern":"a\"b","options":"i"}}"#,
        ),
        (Value::MinKey, r#"{"$minKey":1}"#),
        (Value::MaxKey, r#"{"$maxKey":1}"#),
        (Legacy::Undefined.into(), r#"{"$undefined":true}"#),
        (Legacy::Code("f(\"a\")".into()).into(), r#"{"$code":"f(\"a\")"}"#),
        (
            Legacy::CodeWithScope {
                code: "x".into(),
                scope: Object::from([
                    ("n", Value::Int32(1)),
                    ("l", Value::Int64(2)),
                    ("d", Value::Double(3.0)),
                    ("o", Object::from([("t", Value::Date(5))]).into()),
                    ("s", Legacy::CodeWithScope { code: "y".into(), scope: Object::new() }.into()),
                ]),
            }
            .into(),
            r#"{"$code":"x","$scope":{"n":{"$numberInt":"1"},"l":2,"d":3.0,"o":{"t":{"$date":{"$numberLong":"5"}}},"s":{"$code":"y","$scope":{}}}}"#,
        ),
        (Legacy::Symbol("s".into()).into(), r#"{"$symbol":"s"}"#),
        (
            Legacy::DbPointer { namespace: "d.c".into(), id: [0xAB; 12] }.into(),
            r#"{"$dbPointer":{"$ref":"d.c","$id":{"$oid":"abababababababababababab"}}}"#,
        ),
    ];
    for (value, text) in cases {
        assert_eq!(to_string(&value), text);
        assert_eq!(parse_extended(text.as_bytes()).unwrap(), value);
        assert_eq!(parse(text.as_bytes()).unwrap(), Value::Object(extended_object(&value).unwrap()));
        let nested = format!(r#"{{"a":[{text}]}}"#);
        assert_eq!(to_string(&parse_extended(nested.as_bytes()).unwrap()), nested);
    }
    assert_eq!(extended_object(&Value::from(1)), None);
    assert_eq!(parse_extended(br#"{"$numberInt":"5"}"#).unwrap(), Value::Int32(5));
    assert_eq!(parse_extended(br#"{"$numberLong":"5"}"#).unwrap(), Value::Int64(5));
    assert_eq!(parse_extended(br#"{"$numberDouble":"5"}"#).unwrap(), Value::Double(5.0));
}

#[test]
fn almost_extended_json_stays_an_object() {
    let texts = [
        r#"{"$oid":"ababababababababababab"}"#,
        r#"{"$oid":"+babababababababababababa"}"#,
        r#"{"$oid":5}"#,
        r#"{"$oid":"abababababababababababab","x":1}"#,
        r#"{"$date":5}"#,
        r#"{"$date":{"$numberLong":5}}"#,
        r#"{"$date":{"$numberLong":"5","x":1}}"#,
        r#"{"$numberLong":"+5"}"#,
        r#"{"$numberInt":"2147483648"}"#,
        r#"{"$numberDouble":"inf"}"#,
        r#"{"$numberDecimal":"x"}"#,
        r#"{"$binary":{"base64":"+/8","subType":"04"}}"#,
        r#"{"$binary":{"base64":"+/8=","subType":"104"}}"#,
        r#"{"$binary":{"base64":"+/8="}}"#,
        r#"{"$timestamp":{"t":-1,"i":1}}"#,
        r#"{"$timestamp":{"t":1,"i":4294967296}}"#,
        r#"{"$minKey":1.0}"#,
        r#"{"$maxKey":2}"#,
        r#"{"$unknown":1}"#,
        r#"{"$undefined":false}"#,
        r#"{"$undefined":1}"#,
        r#"{"$code":1}"#,
        r#"{"$code":1,"$scope":{}}"#,
        r#"{"$code":"x","$scope":[]}"#,
        r#"{"$code":"x","$scope":{},"x":1}"#,
        r#"{"$scope":{}}"#,
        r#"{"$symbol":null}"#,
        r#"{"$dbPointer":{"$ref":"d.c"}}"#,
        r#"{"$dbPointer":{"$ref":"d.c","$id":"abababababababababababab"}}"#,
        r#"{"$dbPointer":{"$ref":"d.c","$id":{"$oid":"ab"}}}"#,
    ];
    for text in texts {
        let value = parse_extended(text.as_bytes()).unwrap();
        assert!(matches!(value, Value::Object(_)), "{text}");
    }
}

proptest! {
    #[test]
    fn plain_values_round_trip(value in json_value()) {
        let text = to_string(&value);
        let read = parse(text.as_bytes()).unwrap();
        prop_assert_eq!(to_string(&read), text);
        prop_assert!(crate::sql_cmp(&read, &value).is_eq());
    }

    #[test]
    fn extended_values_round_trip(value in any_value()) {
        let text = to_string(&value);
        let read = parse_extended(text.as_bytes()).unwrap();
        prop_assert_eq!(to_string(&read), text);
        prop_assert!(crate::mongo_cmp(&read, &value).is_eq());
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes: Vec<u8>, text in r#"[\[\]{}",:\\ux0-9a-fA-F.eE+\- tnrsl]{0,40}"#) {
        let _ = parse(&bytes);
        let _ = parse(text.as_bytes());
    }
}

#[test]
fn typed_text_tells_integers_of_32_bits() {
    for (text, expected) in [
        ("5", "Int32(5)"),
        ("-5", "Int32(-5)"),
        ("2147483647", "Int32(2147483647)"),
        ("2147483648", "Int64(2147483648)"),
        ("-2147483649", "Int64(-2147483649)"),
        ("9223372036854775808", "Double(9.223372036854776e18)"),
        ("5.0", "Double(5.0)"),
        ("5e0", "Double(5.0)"),
        ("-0", "Double(-0.0)"),
        (r#"{"$numberInt":"5"}"#, "Int32(5)"),
        (r#"{"$numberLong":"5"}"#, "Int64(5)"),
        (r#"{"$numberDouble":"5"}"#, "Double(5.0)"),
        (r#"{"$timestamp":{"t":5,"i":6}}"#, "Timestamp { seconds: 5, increment: 6 }"),
        (r#"{"$date":{"$numberLong":"5"}}"#, "Date(5)"),
        (r#"{"$minKey":1}"#, "MinKey"),
        ("[5,[5]]", "Array([Int32(5), Array([Int32(5)])])"),
    ] {
        assert_eq!(format!("{:?}", parse_typed(text.as_bytes()).unwrap()), expected, "{text}");
    }
    // What is no wrapper is an object, with types inside.
    for text in [r#"{"$minKey":2}"#, r#"{"$oid":5}"#, r#"{"$numberInt":5}"#, r#"{"a":5}"#] {
        let Value::Object(object) = parse_typed(text.as_bytes()).unwrap() else { panic!("{text}") };
        assert!(matches!(object.iter().next(), Some((_, Value::Int32(_)))), "{text}");
    }
    let scope = parse_typed(br#"{"$code":"f","$scope":{"a":1,"b":{"$numberInt":"1"}}}"#).unwrap();
    let expected = Object::from([("a", Value::Int64(1)), ("b", Value::Int32(1))]);
    let Value::Legacy(legacy) = &scope else { panic!("{scope:?}") };
    assert_eq!(**legacy, Legacy::CodeWithScope { code: "f".into(), scope: expected });
    assert!(parse_typed(b"[1").is_err());
}
