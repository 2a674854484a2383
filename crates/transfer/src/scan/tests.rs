use proptest::prelude::*;

use armilla_value::json::{DEPTH_MAX, slice};
use armilla_value::{Value, json};

use super::*;

fn paths(texts: &[&str]) -> Vec<PropertyPath> {
    texts.iter().map(|text| PropertyPath::parse(text).unwrap()).collect()
}

fn found<'t>(text: &'t str, of: &[&str]) -> (Option<&'t str>, Vec<Option<&'t str>>) {
    let found = object(text.as_bytes(), &paths(of)).unwrap();
    let at = |part: Option<&'t [u8]>| part.map(|part| std::str::from_utf8(part).unwrap());
    (at(found.id), found.values.into_iter().map(at).collect())
}

#[test]
fn ids_and_keys() {
    for (text, of, id, values) in [
        (r#"{"id":"a","k":1}"#, &["/k"][..], Some(r#""a""#), vec![Some("1")]),
        (r#" { "k" : { "x" : [ 1 ] } , "id" : 7 } "#, &["/k"], Some("7"), vec![Some(r#"{ "x" : [ 1 ] }"#)]),
        ("{}", &["/k"], None, vec![None]),
        (
            r#"{"a":{"b":{"c":true},"b2":1}}"#,
            &["/a/b/c", "/a/b2", "/a/x"],
            None,
            vec![Some("true"), Some("1"), None],
        ),
        (r#"{"a":{"b":1},"a":2}"#, &["/a/b"], None, vec![None]),
        (r#"{"a":1,"a":{"b":"\"}"}}"#, &["/a/b"], None, vec![Some(r#""\"}""#)]),
        (r#"{"k":1,"k":2,"id":"x","id":"y"}"#, &["/k"], Some(r#""y""#), vec![Some("2")]),
        (r#"{"\u006b":null,"\u0069d":"z"}"#, &["/k"], Some(r#""z""#), vec![Some("null")]),
        (r#"{"x":{"id":"inner","k":9}}"#, &["/k"], None, vec![None]),
        (r#"{"a":{"b":1}}"#, &["/a", "/a/b"], None, vec![Some(r#"{"b":1}"#), Some("1")]),
    ] {
        assert_eq!(found(text, of), (id, values), "{text}");
    }
}

#[test]
fn what_is_not_one_object() {
    for (text, what) in [
        ("", "an object at byte 0"),
        ("[]", "an object at byte 0"),
        ("7", "an object at byte 0"),
        ("{", "a closing bracket at byte 1"),
        (r#"{"a"}"#, "a colon at byte 4"),
        (r#"{"a":}"#, "a value at byte 5"),
        (r#"{"a":1"#, "a closing bracket at byte 6"),
        (r#"{"a":1}}"#, "the bracket that was opened last at byte 7"),
        (r#"{"a":1},{"b":2}"#, "the end of the text at byte 7"),
        (r#"{"a":1 "b":2}"#, "a comma or the end of the object at byte 7"),
        (r#"{"a":"x}"#, "a closing quote at byte 8"),
        (r#"{"a":"x\"#, "a closing quote at byte 8"),
        (r#"{"a":[1}]"#, "the bracket that was opened last at byte 7"),
        (r#"{"a":[1"#, "a closing bracket at byte 7"),
        (r#"{"a":1,}"#, "a name in quotes at byte 7"),
        (r#"{a:1}"#, "a name in quotes at byte 1"),
    ] {
        let malformed = object(text.as_bytes(), &[]).unwrap_err();
        assert!(malformed.to_string().contains(what), "{text}: {malformed}");
    }
    let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(object(nested(DEPTH_MAX - 1).as_bytes(), &[]).is_ok());
    assert!(object(nested(DEPTH_MAX).as_bytes(), &[]).unwrap_err().to_string().contains("no deeper nesting"));
    let objects = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let path = paths(&[&"/a".repeat(DEPTH_MAX + 1)]);
    assert!(object(objects(DEPTH_MAX).as_bytes(), &path).is_ok());
    assert!(object(objects(DEPTH_MAX + 1).as_bytes(), &path).is_err());
}

#[test]
fn positions_are_those_of_the_whole_text() {
    let malformed = object(br#"{"a":1,"b":{"c":{"d" 1}}}"#, &paths(&["/b/c/d"])).unwrap_err();
    assert_eq!((malformed.position, malformed.expected), (21, "a colon"));
}

#[test]
fn members_are_left_out() {
    for (text, expected) in [
        (r#"{"id":"a","_rid":"x","n":[1,2],"_ts":5}"#, r#"{"id":"a","n":[1,2]}"#),
        (r#"{"_rid":"x","_ts":5}"#, "{}"),
        (r#"{"a":{"_ts":1}}"#, r#"{"a":{"_ts":1}}"#),
        (r#"{"_\u0074s":1,"b":"_ts"}"#, r#"{"b":"_ts"}"#),
        ("{}", "{}"),
    ] {
        let kept = without(text.as_bytes(), &["_rid", "_ts"]).unwrap();
        assert_eq!(std::str::from_utf8(&kept).unwrap(), expected);
    }
}

proptest! {
    /// What passes alone is one element of a list, whatever it is.
    #[test]
    fn what_passes_is_one_value(text in r#"[\[\]{}:,"\\a1 ]{0,24}"#) {
        if object(text.as_bytes(), &[]).is_ok() {
            let own = text.trim();
            prop_assert_eq!(slice::value_length(own.as_bytes()), Ok(own.len()));
        }
    }

    /// Whatever the server would take passes.
    #[test]
    fn every_object_passes(text in r#"\{"k":("[a-z\\"]{0,3}"|-?[0-9]{1,3}|\[\]|\[1,"x"\]|\{"b":null\})(,"id":"[a-z]{0,3}")?\}"#) {
        if let Ok(Value::Object(members)) = json::parse(text.as_bytes()) {
            let found = object(text.as_bytes(), &paths(&["/k"])).unwrap();
            let value = |part: Option<&[u8]>| part.map(|part| json::parse(part).unwrap());
            prop_assert_eq!(value(found.values[0]), members.get("k").cloned());
            prop_assert_eq!(value(found.id), members.get("id").cloned());
        }
    }
}
