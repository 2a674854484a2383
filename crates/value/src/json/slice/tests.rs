use proptest::prelude::*;

use super::*;
use crate::json;
use crate::value::Object;

fn all_elements(text: &str) -> Result<Vec<&str>, Malformed> {
    elements(text.as_bytes())?.map(|part| part.map(|part| std::str::from_utf8(part).unwrap())).collect()
}

fn all_members(text: &str) -> Result<Vec<(String, String)>, Malformed> {
    let owned = |bytes: &[u8]| std::str::from_utf8(bytes).unwrap().to_owned();
    members(text.as_bytes())?
        .map(|member| member.map(|member| (owned(member.name), owned(member.value))))
        .collect()
}

#[test]
fn arrays_are_cut() {
    for (text, expected) in [
        ("[]", &[][..]),
        (" [ ] \n", &[]),
        ("[1]", &["1"]),
        ("\t[ -1.5e+3 , null,true ]", &["-1.5e+3", "null", "true"]),
        (r#"["a,]","\"","\\",""]"#, &[r#""a,]""#, r#""\"""#, r#""\\""#, r#""""#]),
        (r#"[{"a":"}"},[[1],[]]]"#, &[r#"{"a":"}"}"#, "[[1],[]]"]),
        ("[\"\u{e9}\"]", &["\"\u{e9}\""]),
    ] {
        assert_eq!(all_elements(text).unwrap(), expected, "{text}");
    }
}

#[test]
fn objects_are_cut() {
    for (text, expected) in [
        ("{}", &[][..]),
        (r#"{"a":1}"#, &[(r#""a""#, "1")]),
        (
            r#" { "a" : {"b":[1]} , "c\"" : "d" , "a":2 } "#,
            &[(r#""a""#, r#"{"b":[1]}"#), (r#""c\"""#, r#""d""#), (r#""a""#, "2")],
        ),
    ] {
        let expected: Vec<_> =
            expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(all_members(text).unwrap(), expected, "{text}");
    }
}

#[test]
fn members_are_found_by_what_their_names_say() {
    let object = br#"{"a":1,"b\u0063":2,"a":[3],"d":4}"#;
    for (name, expected) in [("a", Some(&b"[3]"[..])), ("bc", Some(b"2")), ("b\\u0063", None), ("e", None)] {
        assert_eq!(member(object, name).unwrap(), expected, "{name}");
    }
    assert!(member(b"[]", "a").is_err());
    assert!(member(br#"{"a":1,}"#, "a").is_err());
}

#[test]
fn other_text_is_refused_at_its_place() {
    for (text, position, word) in [
        ("", 0, "an array"),
        ("{}", 0, "an array"),
        ("[", 1, "a value"),
        ("[1", 2, "a comma"),
        ("[1 2]", 3, "a comma"),
        ("[,1]", 1, "a value"),
        ("[1,]", 3, "a value"),
        ("[]]", 2, "the end"),
        ("[\"a]", 4, "a closing quote"),
        ("[\"a\\", 4, "a closing quote"),
        ("[{\"a\":1]", 8, "a comma"),
        ("[[1]", 4, "a comma"),
        ("[[[1]", 5, "a closing bracket"),
    ] {
        let malformed = all_elements(text).unwrap_err();
        assert_eq!(malformed.position, position, "{text}: {malformed}");
        assert!(malformed.to_string().contains(word), "{text}: {malformed}");
    }
    for text in ["[]", "{", "{1:2}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{\"a\":1}x"] {
        assert!(all_members(text).is_err(), "{text}");
    }
}

/// An iterator that goes on after an error, or after its end, would never let its reader go.
#[test]
fn errors_and_ends_are_the_last() {
    for text in ["[1,,2]", "[1 2]", "[\"", "[]", "[]x"] {
        let parts: Vec<_> = elements(text.as_bytes()).unwrap().take(10).collect();
        assert!(parts.len() <= 2 && parts.iter().rev().skip(1).all(Result::is_ok), "{text}: {parts:?}");
    }
    let mut over = elements(b"[]").unwrap();
    assert_eq!((over.next(), over.next()), (None, None));
    let mut over = members(b"{}").unwrap();
    assert_eq!((over.next(), over.next()), (None, None));
}

#[test]
fn lengths_of_values_in_front() {
    for (text, expected) in [
        (r#"{"a":1} rest"#, Some(7)),
        (r#"{"a":"}\"{"}x"#, Some(12)),
        ("[[1, 2], [3]] [4]", Some(13)),
        ("4", Some(1)),
        ("-1.5e3,", Some(6)),
        (r#""a b" c"#, Some(5)),
        ("[1, 2", None),
        (r#"["a]"#, None),
        ("]", None),
        ("", None),
        (" 1", None),
    ] {
        assert_eq!(value_length(text.as_bytes()).ok(), expected, "{text}");
    }
}

#[test]
fn strings_are_read() {
    for (token, expected) in [
        (&b"\"\""[..], Some("")),
        (b"\"a\\\"\\u00e9\"", Some("a\"\u{e9}")),
        (b"\"\\x\"", None),
        (b"\"\xFF\"", None),
        (b"\"", None),
        (b"1", None),
    ] {
        assert_eq!(string(token).as_deref(), expected, "{token:?}");
    }
}

#[test]
fn brackets_must_match() {
    for text in ["", "1", "{}", r#"{"a":["]",{}]}"#, "[][]"] {
        assert_eq!(check_brackets(text.as_bytes()), Ok(()), "{text}");
    }
    for (text, position) in [("{]", 1), (r#"{"a":[}"#, 6), ("[", 1), ("]", 0), ("{}}", 2), ("[\"", 2)] {
        assert_eq!(check_brackets(text.as_bytes()).unwrap_err().position, position, "{text}");
    }
    let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    assert!(check_brackets(nested(DEPTH_MAX).as_bytes()).is_ok());
    assert_eq!(check_brackets(nested(DEPTH_MAX + 1).as_bytes()).unwrap_err().position, DEPTH_MAX);
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[\\PC\"\\\\{}\\[\\],:]{0,6}".prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec(("[a-c\"{]{0,3}", inner), 0..4).prop_map(|members| {
                let mut object = Object::default();
                for (name, value) in members {
                    object.insert(name, value);
                }
                Value::Object(object)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn parts_are_what_a_reader_finds(values in prop::collection::vec(json_value(), 0..5)) {
        let text = json::to_string(&Value::Array(values.clone()));
        let parts: Vec<Value> =
            elements(text.as_bytes()).unwrap().map(|part| json::parse(part.unwrap()).unwrap()).collect();
        prop_assert_eq!(&parts, &values);
        prop_assert!(check_brackets(text.as_bytes()).is_ok());
        prop_assert_eq!(value_length(text.as_bytes()), Ok(text.len()));
        for value in &values {
            let Value::Object(object) = value else { continue };
            let text = json::to_string(value);
            let found: Vec<_> = members(text.as_bytes()).unwrap().map(Result::unwrap).collect();
            prop_assert_eq!(found.len(), object.len());
            for (found, (expected_name, expected)) in found.iter().zip(object.iter()) {
                prop_assert!(found.is_named(expected_name));
                prop_assert_eq!(&json::parse(found.value).unwrap(), expected);
            }
        }
    }

    #[test]
    fn any_bytes_are_taken_without_panic(text in "[\\[\\]{}\",:\\\\a1 ]{0,40}") {
        let _ = all_members(&text);
        let _ = elements(text.as_bytes()).map(Iterator::count);
        let _ = value_length(text.as_bytes());
        let _ = string(text.as_bytes());
        let _ = check_brackets(text.as_bytes());
    }
}
