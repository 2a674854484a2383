//! Tests of JSON.

use proptest::prelude::*;

use super::*;

#[test]
fn texts_are_read() {
    let cases = [
        ("null", Json::Null),
        (" true ", Json::Bool(true)),
        ("-0.5e+3", Json::Number("-0.5e+3")),
        ("\"a\"", Json::Text("a".into())),
        (r#""\u00e9\n\ud83d\ude00\/""#, Json::Text("é\n😀/".into())),
        (r#""\ud83dx""#, Json::Text("\u{fffd}x".into())),
        (r#""\ud83d\u0041""#, Json::Text("\u{fffd}A".into())),
        ("[]", Json::Array(vec![])),
        ("[1,[ ] ]", Json::Array(vec![Json::Number("1"), Json::Array(vec![])])),
        (
            "{\"a\":1 , \"a\":2}",
            Json::Object(vec![("a".into(), Json::Number("1")), ("a".into(), Json::Number("2"))]),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(Json::parse(text.as_bytes()).unwrap(), expected, "{text}");
    }
}

#[test]
fn other_texts_are_refused() {
    let cases = [
        "",
        "nul",
        "01",
        "1.",
        ".5",
        "-",
        "1e",
        "+1",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\n\"",
        "[",
        "[1",
        "[1,]",
        "{",
        "{a:1}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "1 2",
        "NaN",
        "\u{feff}1",
        "\"\\u12é3\"",
    ];
    for text in cases {
        assert!(Json::parse(text.as_bytes()).is_err(), "{text}");
    }
    assert!(Json::parse(b"\"\xff\"").is_err());
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(Json::parse(nested(MAX_JSON_DEPTH).as_bytes()).is_ok());
    assert!(Json::parse(nested(MAX_JSON_DEPTH + 1).as_bytes()).is_err());
    assert!(Json::parse("[".repeat(1_000_000).as_bytes()).is_err());
}

#[test]
fn numbers_are_written_as_json_has_them() {
    let doubles = [(0.1, "0.1"), (1.0, "1.0"), (-0.0, "-0.0"), (1e300, "1e300"), (5e-324, "5e-324")];
    for (number, expected) in doubles {
        let mut out = Vec::new();
        write_double(&mut out, number);
        assert_eq!(std::str::from_utf8(&out).unwrap(), expected);
        assert!(is_number(expected));
    }
    for number in [0, 7, -7, 10, i64::MAX, i64::MIN] {
        let mut out = Vec::new();
        write_integer(&mut out, number);
        assert_eq!(std::str::from_utf8(&out).unwrap(), number.to_string());
    }
    let mut out = Vec::new();
    write_float(&mut out, 0.1);
    write_double(&mut out, f64::NEG_INFINITY);
    write_float(&mut out, f32::NAN);
    assert_eq!(out, b"0.1\"-Infinity\"\"NaN\"");
}

proptest! {
    #[test]
    fn texts_come_back(text in any::<String>()) {
        let mut out = Vec::new();
        write_text(&mut out, &text);
        prop_assert_eq!(Json::parse(&out).unwrap(), Json::Text(text.into()));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]{}\",:\\\\u0-9a-fe.+ -]{0,60}") {
        let _ = Json::parse(text.as_bytes());
    }
}
