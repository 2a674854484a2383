//! Tests of the reader of flat objects.

use armilla_value::{Value, json};
use proptest::prelude::*;

use super::{Malformed, Members, RawString, RawValue, find_special};

fn members(text: &str) -> Result<Vec<(String, String)>, Malformed> {
    let mut members = Members::of(text.as_bytes())?;
    let mut found = Vec::new();
    while let Some(member) = members.next_member()? {
        let mut token = Vec::new();
        member.value.push_token(&mut token);
        found.push((member.name.text.to_owned(), String::from_utf8(token).unwrap()));
    }
    Ok(found)
}

#[test]
fn objects_are_cut() {
    for (text, expected) in [
        ("{}", &[][..]),
        (" { } \n", &[]),
        (r#"{"a":1}"#, &[("a", "1")]),
        (
            "\t{ \"a\" : -1.5e+3 ,\r\n\"b\":null,\"c\":true,\"d\":false }",
            &[("a", "-1.5e+3"), ("b", "null"), ("c", "true"), ("d", "false")],
        ),
        (
            r#"{"a":"x\"}","b\n":{"c":[1,"]"]},"a":[{}],"":""}"#,
            &[("a", r#""x\"}""#), (r"b\n", r#"{"c":[1,"]"]}"#), ("a", "[{}]"), ("", r#""""#)],
        ),
        (r#"{"é😀":"é😀"}"#, &[("é😀", "\"é😀\"")]),
    ] {
        let expected: Vec<_> =
            expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(members(text), Ok(expected), "{text}");
    }
}

#[test]
fn other_text_is_refused() {
    for text in [
        "",
        "1",
        "[]",
        "{",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1",
        "{\"a\":1,}",
        "{,}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1}x",
        "{a:1}",
        "{'a':1}",
        "{\"a\":01}",
        "{\"a\":-}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":1e}",
        "{\"a\":+1}",
        "{\"a\":0x1}",
        "{\"a\":tru}",
        "{\"a\":nul",
        "{\"a\":NaN}",
        "{\"a\":\"x}",
        "{\"a\":\"x\\\"}",
        "{\"a\":\"x\n\"}",
        "{\"a\":\"\\",
        "{\"a\":{}",
        "{\"a\":[1}",
        "\u{feff}{}",
    ] {
        // Brackets of other kinds inside what is stepped over are not looked at, but the end must come.
        assert_eq!(members(text), Err(Malformed), "{text}");
    }
    assert!(Members::of(b"{\"\xFF\":1}").is_err());
}

#[test]
fn numbers_are_told_apart() {
    let value = |text: &str| {
        let text = format!("{{\"a\":{text}}}");
        let mut members = Members::of_text(&text).unwrap();
        match members.next_member().unwrap().unwrap().value {
            RawValue::Integer(_) => "integer",
            RawValue::Fraction(_) => "fraction",
            _ => "other",
        }
    };
    for (text, expected) in [
        ("0", "integer"),
        ("-0", "integer"),
        ("12345678901234567890123", "integer"),
        ("0.0", "fraction"),
        ("1e5", "fraction"),
        ("1E-5", "fraction"),
        ("1.5e5", "fraction"),
        ("\"1\"", "other"),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn escapes_are_resolved() {
    let escaped = |text| RawString { text, is_escaped: true };
    for (text, expected) in [
        (r#"a\"b"#, Some("a\"b")),
        (r"\u0041\/", Some("A/")),
        (r"\ud83d\ude00", Some("😀")),
        (r"\ud83d", None),
        (r"\x", None),
    ] {
        assert_eq!(escaped(text).unescape().as_deref(), expected, "{text}");
    }
    assert!(escaped(r"\u0061").is("a"));
    assert!(!escaped(r"\u0061").is("b"));
    assert!(RawString::plain("a").is("a"));
}

proptest! {
    #[test]
    fn members_are_what_a_reader_finds(
        members_in in prop::collection::btree_map("[a-c\"\\\\é]{0,3}", "[a-c\"\\\\{}\\[\\],:é]{0,20}", 0..5),
        number: f64,
    ) {
        let mut object = armilla_value::Object::new();
        for (name, text) in members_in {
            object.insert(name, Value::String(text));
        }
        object.insert("number".to_owned(), Value::Double(number));
        object.insert("nested".to_owned(), Value::Array(vec![Value::Object(object.clone())]));
        let text = json::to_string(&Value::Object(object.clone()));
        let found = members(&text).unwrap();
        prop_assert_eq!(found.len(), object.len());
        for ((name, value), (expected_name, expected)) in found.iter().zip(object.iter()) {
            let name = json::parse(format!("\"{name}\"").as_bytes()).unwrap();
            prop_assert_eq!(name.as_str(), Some(expected_name));
            prop_assert_eq!(&json::parse(value.as_bytes()).unwrap(), expected);
        }
    }

    #[test]
    fn any_bytes_are_taken_without_panic(bytes: Vec<u8>, near in "[{}\\[\\]\",:\\\\a1 é.e-]{0,30}") {
        for bytes in [&bytes[..], near.as_bytes(), format!("{{\"a\":{near}").as_bytes()] {
            let Ok(mut members) = Members::of(bytes) else { continue };
            while let Ok(Some(member)) = members.next_member() {
                let _ = member.name.unescape();
            }
        }
    }

    #[test]
    fn special_bytes_are_found(bytes in prop::collection::vec(prop_oneof![Just(b'"'), Just(b'\\'), 0_u8..=255], 0..40)) {
        let expected = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(bytes.len());
        prop_assert_eq!(find_special(&bytes, 0), expected);
    }
}
