//! Tests of the stored form: text, skeleton, reading, corruption.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::json::{self, JsonErrorKind};
use crate::limits::{DEPTH_MAX, LINEAR_SEARCH_MEMBERS_MAX, NARROW_BYTES_MAX};
use crate::testing::{item, json_value};
use crate::value::{Kind, Legacy, Object, Value};

#[track_caller]
fn check_text(text: &str, drop_top_level: &[&str], stored_text: &str) {
    let bytes = encode(text.as_bytes(), drop_top_level).unwrap();
    let stored = Stored::open(&bytes).unwrap();
    assert_eq!(stored.text(), stored_text, "{text}");
    stored.verify().unwrap_or_else(|corrupt| panic!("{text}: {corrupt}"));
    assert_eq!(stored.root().to_value(), json::parse(stored_text.as_bytes()).unwrap());
}

#[test]
fn white_space_goes_and_spelling_stays() {
    let cases = [
        ("{}", "{}"),
        (" { } ", "{}"),
        ("\n{ \"a\" : [ 1 , 2 ] ,\t\"b\" : { } , \"c\":[ ] }\r\n", r#"{"a":[1,2],"b":{},"c":[]}"#),
        (
            r#"{"n":1.500,"e":1E2,"z":-0,"u":"\u0041\/","big":18446744073709551615}"#,
            r#"{"n":1.500,"e":1E2,"z":-0,"u":"A/","big":18446744073709551615}"#,
        ),
        ("{\"s\":\"a  b\",\"\\u0061 \":null}", "{\"s\":\"a  b\",\"a \":null}"),
        // Escapes that JSON does not ask for go: what one client escapes, another does not.
        (r#"{"\u00e9":"\u00e9\ud83d\ude00\n\u0000\u001f\"\\"}"#, r#"{"é":"é😀\n\u0000\u001f\"\\"}"#),
        (r#"{ "a\u0062" : "\u0063" , "d":1}"#, r#"{"ab":"c","d":1}"#),
    ];
    for (text, stored) in cases {
        check_text(text, &[], stored);
    }
}

#[test]
fn named_members_of_the_root_are_dropped() {
    let cases = [
        (r#"{"_a":1}"#, "{}"),
        (r#"{"_a":1,"b":2}"#, r#"{"b":2}"#),
        (r#"{"b":2,"_a":1}"#, r#"{"b":2}"#),
        (r#"{"b":2,"_a":1,"c":3}"#, r#"{"b":2,"c":3}"#),
        (r#"{"_a":1,"_b":{"x":[1, {}]},"c":3,"_a":[ ],"_b":0}"#, r#"{"c":3}"#),
        (
            r#"{ "b" : 2 , "_a" : [ 1 , { "q" : 1 } ] , "_b" : 1 , "c" : { "_a" : 1 } }"#,
            r#"{"b":2,"c":{"_a":1}}"#,
        ),
        (r#"{"\u005fa":1,"c":{"d":[]}}"#, r#"{"c":{"d":[]}}"#),
        (r#"{"c":[{"_a":1}],"_a":{"x":1,"x":2}}"#, r#"{"c":[{"_a":1}]}"#),
        (r#"{"_a" :1 , "_b": 2}"#, "{}"),
    ];
    for (text, stored) in cases {
        check_text(text, &["_a", "_b"], stored);
    }
}

#[test]
fn the_last_duplicate_wins_in_the_text_too() {
    let cases = [
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        (r#"{"a":1,"b":2,"\u0061":1.50}"#, r#"{"a":1.50,"b":2}"#),
        (
            r#"{"x":[{"a":1, "a":{"b":[1],"b":[ 2 ]}}],"x":[{"c":1,"a":1,"c":{}}]}"#,
            r#"{"x":[{"c":{},"a":1}]}"#,
        ),
        (r#"{"":1,"":2,"b":"\n"}"#, r#"{"":2,"b":"\n"}"#),
    ];
    for (text, stored) in cases {
        check_text(text, &[], stored);
    }
    for count in
        [LINEAR_SEARCH_MEMBERS_MAX - 1, LINEAR_SEARCH_MEMBERS_MAX, LINEAR_SEARCH_MEMBERS_MAX + 1, 300]
    {
        for repeated in [0, count - 1] {
            let members: String = (0..count).map(|index| format!("\"n{index}\":{index},")).collect();
            let kept = members
                .replace(&format!("\"n{repeated}\":{repeated},"), &format!("\"n{repeated}\":\"new\","));
            let kept = kept.strip_suffix(',').unwrap();
            check_text(&format!("{{{members}\"n{repeated}\":\"new\"}}"), &[], &format!("{{{kept}}}"));
        }
    }
}

#[test]
fn duplicates_in_hostile_texts_take_linear_time() {
    let members: String = (0..200_000).map(|index| format!("\"n{index}\":{index},")).collect();
    let bytes = encode(format!("{{{members}\"n0\":7}}").as_bytes(), &["n1"]).unwrap();
    let root = Stored::open(&bytes).unwrap().root();
    assert_eq!(root.len(), 199_999);
    assert_eq!(root.get("n0").unwrap().as_i64(), Some(7));
    assert_eq!(root.get("n199999").unwrap().as_i64(), Some(199_999));
    assert!(root.get("n1").is_none());
    assert_eq!(root.members().count(), 199_999);
    // A duplicate at every level is copied once per level.
    let deep = (1..DEPTH_MAX)
        .fold(format!("[{}0]", "0,".repeat(10_000)), |inner, _| format!(r#"{{"a":0,"a":{inner}}}"#));
    let bytes = encode(deep.as_bytes(), &[]).unwrap();
    assert_eq!(Stored::open(&bytes).unwrap().text().len(), 20_003 + 6 * (DEPTH_MAX - 1));
}

#[test]
fn texts_that_are_refused() {
    let cases = [
        ("[]", "an item must be an object"),
        ("1", "an item must be an object"),
        ("[1", "unexpected end of text at line 1 column 3"),
        ("", "unexpected end of text at line 1 column 1"),
        ("{\"a\":1}x", "text after the value at line 1 column 8"),
        ("{\"a\":}", "expected a value at line 1 column 6"),
        ("{\"a\":1,}", "expected a member name at line 1 column 8"),
        ("{\"a\":1,\"a\":2,\n!}", "expected a member name at line 2 column 1"),
        ("{\"_a\":!}", "expected a value at line 1 column 7"),
        ("{\"_a\" 1}", "expected ':' at line 1 column 7"),
        ("{\"a\":1e400}", "number too large for a double at line 1 column 6"),
        ("\u{feff}{}", "byte-order mark before the text at line 1 column 1"),
    ];
    for (text, message) in cases {
        assert_eq!(encode(text.as_bytes(), &["_a"]).unwrap_err().to_string(), message, "{text}");
    }
    let EncodeError::Json(error) = encode(b"{\"a\":\"\xFF\"}", &[]).unwrap_err() else {
        panic!("a JSON error")
    };
    assert_eq!((error.kind, error.offset), (JsonErrorKind::InvalidUtf8, 6));
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let deepest = nested(DEPTH_MAX);
    check_text(&deepest, &[], &deepest);
    let EncodeError::Json(error) = encode(nested(DEPTH_MAX + 1).as_bytes(), &[]).unwrap_err() else {
        panic!("a JSON error")
    };
    assert_eq!(error.kind, JsonErrorKind::TooDeep);
    // The slow way has the same bound.
    let twice = format!(r#"{{"x":1,"x":{}}}"#, nested(DEPTH_MAX));
    assert!(matches!(encode(twice.as_bytes(), &[]), Err(EncodeError::Json(_))));
    let value = json::parse(deepest.as_bytes()).unwrap();
    assert!(encode_value(&value, &[]).is_ok());
    let deeper = Value::Object(Object::from([("a", value)]));
    assert_eq!(encode_value(&deeper, &[]), Err(EncodeError::TooDeep));
    assert_eq!(encode_value(&Value::Null, &[]), Err(EncodeError::NotAnObject));
}

#[track_caller]
fn check_bytes(text: &str, expected: Expect) {
    let bytes = encode(text.as_bytes(), &[]).unwrap();
    let shown: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    expected.assert_eq(&shown.join(" "));
}

/// A change here is a change of the format on disk: it needs a new version.
#[test]
fn bytes_are_as_documented() {
    check_bytes("{}", expect!["01 00 02 00 7B 7D 00 00 00"]);
    check_bytes(
        r#"{"a":[1,"\n"],"\u0062":{},"c":{"d":null}}"#,
        expect![
            "01 00 24 00 7B 22 61 22 3A 5B 31 2C 22 5C 6E 22 5D 2C 22 62 22 3A 7B 7D 2C 22 63 22 3A 7B 22 64 22 3A 6E 75 6C 6C 7D 7D 02 03 16 06 00 08 00 01 C1 00 01 1A 00 03 E6 84 22 0E 1F 0F 01 01 01 01 00 0E 00 15 00 00 00 07 00 0D 00"
        ],
    );
}

#[test]
fn name_hashes_are_as_documented() {
    let cases = [
        ("", 0x00),
        ("a", 0xE6),
        ("ab", 0x31),
        ("abc", 0x5E),
        ("abcd", 0x63),
        ("0123456", 0x58),
        ("01234567", 0x88),
        ("customerId", 0x8C),
    ];
    for (name, hash) in cases {
        assert_eq!(skeleton::name_hash(name.as_bytes()), hash, "{name}");
    }
}

/// The form that version 1 was released with stays readable.
#[test]
fn version_1_bytes_are_read() {
    let bytes = b"\x01\x00\x07\x00{\"a\":1}\x01\xE6\x03\x01\x01\x00\x00\x00";
    let stored = Stored::open(bytes).unwrap();
    stored.verify().unwrap();
    assert_eq!(stored.root().get("a").unwrap().as_i64(), Some(1));
}

#[test]
fn members_are_found() {
    let text = r#"{"id":"x","n":5,"d":-2.5,"t":true,"f":false,"z":null,"e":"a\"\u00e9","o":{"p":{"q":[10,[20],{"r":30}]}},"a b":1,"\u0063":2,"":3,"l":[],"m":{}}"#;
    let bytes = encode(text.as_bytes(), &[]).unwrap();
    let stored = Stored::open(&bytes).unwrap();
    let root = stored.root();
    assert_eq!(root.get("id").unwrap().as_str().unwrap(), "x");
    assert_eq!(root.get("n").unwrap().as_i64(), Some(5));
    assert_eq!(root.get("n").unwrap().as_f64(), Some(5.0));
    assert_eq!(root.get("d").unwrap().as_f64(), Some(-2.5));
    assert_eq!(root.get("d").unwrap().as_i64(), None);
    assert_eq!(root.get("t").unwrap().as_bool(), Some(true));
    assert_eq!(root.get("f").unwrap().as_bool(), Some(false));
    assert!(root.get("z").unwrap().is_null());
    assert_eq!(root.get("e").unwrap().as_str().unwrap(), "a\"é");
    assert_eq!(root.get("e").unwrap().raw(), r#""a\"é""#);
    assert_eq!(root.get("a b").unwrap().raw(), "1");
    assert_eq!(root.get("c").unwrap().raw(), "2");
    assert_eq!(root.get("").unwrap().raw(), "3");
    assert!(root.get("\\u0063").is_none() && root.get("q").is_none());
    let path = |names: &[&str]| root.get_path(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
    let list = path(&["o", "p", "q"]).unwrap();
    assert_eq!((list.kind(), list.len(), list.raw()), (Kind::Array, 3, r#"[10,[20],{"r":30}]"#));
    assert_eq!(
        list.elements().map(|element| element.raw()).collect::<Vec<_>>(),
        ["10", "[20]", r#"{"r":30}"#]
    );
    assert_eq!(list.element(2).unwrap().get("r").unwrap().as_i64(), Some(30));
    assert_eq!(list.element(1).unwrap().element(0).unwrap().as_i64(), Some(20));
    assert!(list.element(3).is_none() && list.get("0").is_none() && path(&["o", "x", "q"]).is_none());
    assert!(path(&[]).is_some());
    for (name, kind) in [("l", Kind::Array), ("m", Kind::Object)] {
        let empty = root.get(name).unwrap();
        assert!(empty.kind() == kind && empty.is_empty());
        assert_eq!((empty.members().count(), empty.elements().count()), (0, 0));
    }
    let names: Vec<_> = root.members().map(|(name, _)| name.into_owned()).collect();
    assert_eq!(names, ["id", "n", "d", "t", "f", "z", "e", "o", "a b", "c", "", "l", "m"]);
}

#[test]
fn the_skeleton_is_small() {
    let text = r#"{"id":"order-000000184213","customerId":"customer-0004711","status":"shipped","total":1284.75,"currency":"EUR","lines":4,"priority":false,"created":"2024-05-17T09:31:22.118Z","note":"leave at the door, please","tags":["fragile","gift","express"],"address":{"street":"Karl Johans gate 22","city":"Oslo","zip":"0026"},"weight":12.5,"coupon":null,"channel":"web","revision":17}"#;
    let bytes = encode(text.as_bytes(), &[]).unwrap();
    assert!(bytes.len() - text.len() < 120, "{}", bytes.len() - text.len());
}

/// Texts at the bound of 16-bit positions and one past it; and short texts whose skeleton is what is too long.
#[test]
fn wide_positions_begin_where_they_must() {
    for length in [NARROW_BYTES_MAX - 1, NARROW_BYTES_MAX, NARROW_BYTES_MAX + 1] {
        let frame = r#"{"a":"","b":[{"c":1}]}"#.len();
        let text = format!(r#"{{"a":"{}","b":[{{"c":1}}]}}"#, "x".repeat(length - frame));
        assert_eq!(text.len(), length);
        let value = json::parse(text.as_bytes()).unwrap();
        for bytes in [encode(text.as_bytes(), &[]).unwrap(), encode_value(&value, &[]).unwrap()] {
            assert_eq!(bytes[1] == 1, length > NARROW_BYTES_MAX, "{length}");
            let stored = Stored::open(&bytes).unwrap();
            stored.verify().unwrap();
            assert_eq!(
                stored.root().get("b").unwrap().element(0).unwrap().get("c").unwrap().as_i64(),
                Some(1)
            );
        }
    }
    let text = format!(r#"{{"l":[{}[7]]}}"#, "[0],".repeat(10_000));
    let bytes = encode(text.as_bytes(), &[]).unwrap();
    assert!(text.len() < NARROW_BYTES_MAX && bytes[1] == 1);
    let stored = Stored::open(&bytes).unwrap();
    stored.verify().unwrap();
    assert_eq!(
        stored.root().get("l").unwrap().element(10_000).unwrap().element(0).unwrap().as_i64(),
        Some(7)
    );
}

#[test]
fn long_names_and_long_objects() {
    for length in [253, 254, 255, 256, 1000] {
        for name in [
            "n".repeat(length),
            format!("{}\\\\", "n".repeat(length - 2)),
            format!("\\\"{}", "n".repeat(length - 2)),
        ] {
            let text = format!(r#"{{"a":1,"{name}":{{"x":[1]}},"b":2}}"#);
            check_text(&text, &[], &text);
            let bytes = encode(text.as_bytes(), &[]).unwrap();
            let root = Stored::open(&bytes).unwrap().root();
            let plain = json::parse(format!("\"{name}\"").as_bytes()).unwrap();
            assert_eq!(root.get(plain.as_str().unwrap()).unwrap().raw(), r#"{"x":[1]}"#);
        }
    }
    for count in [254, 255, 256] {
        let members: Vec<String> = (0..count).map(|index| format!(r#""n{index}":[{index}]"#)).collect();
        let text = format!("{{{}}}", members.join(","));
        check_text(&text, &[], &text);
        let elements: Vec<String> = (0..count).map(|index| format!("[{index}]")).collect();
        let text = format!(r#"{{"l":[{}]}}"#, elements.join(","));
        check_text(&text, &[], &text);
    }
}

#[test]
fn numbers_get_their_types() {
    let cases = [
        ("0", Kind::Int64),
        ("-0", Kind::Double),
        ("1.0", Kind::Double),
        ("9223372036854775807", Kind::Int64),
        ("-9223372036854775808", Kind::Int64),
        ("9223372036854775808", Kind::Double),
        ("1e2", Kind::Double),
    ];
    for (number, kind) in cases {
        let bytes = encode(format!(r#"{{"n":{number}}}"#).as_bytes(), &[]).unwrap();
        let node = Stored::open(&bytes).unwrap().root().get("n").unwrap();
        assert_eq!((node.kind(), node.raw()), (kind, number));
        assert_eq!(node.to_value(), json::parse(number.as_bytes()).unwrap());
    }
}

#[test]
fn scalars_that_json_lacks_keep_their_type() {
    let value = json::parse_extended(
        br#"{"o":{"$oid":"0102030405060708090a0b0c"},"i":{"$numberInt":"5"},"d":{"$numberDouble":"NaN"},"m":{"$minKey":1}}"#,
    )
    .unwrap();
    let Value::Object(mut object) = value else { panic!("an object") };
    // An object that only looks like a wrapper stays one.
    object.insert("like", Object::from([("$oid", "0102030405060708090a0b0c")]));
    let bytes = encode_value(&Value::Object(object), &["m"]).unwrap();
    let stored = Stored::open(&bytes).unwrap();
    stored.verify().unwrap();
    assert_eq!(
        stored.text(),
        r#"{"o":{"$oid":"0102030405060708090a0b0c"},"i":5,"d":{"$numberDouble":"NaN"},"like":{"$oid":"0102030405060708090a0b0c"}}"#
    );
    let root = stored.root();
    assert_eq!(root.get("o").unwrap().to_value(), Value::ObjectId([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]));
    assert!(root.get("o").unwrap().get("$oid").is_none());
    assert_eq!(root.get("i").unwrap().kind(), Kind::Int32);
    assert!(root.get("d").unwrap().as_f64().unwrap().is_nan());
    assert_eq!(root.get("like").unwrap().kind(), Kind::Object);
    assert!(root.get("like").unwrap().get("$oid").is_some());
}

#[test]
fn bytes_that_are_no_item() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "too short"),
        (b"\x01", "too short"),
        (b"\x02\x00\x02\x00{}\x00\x00\x00", "unknown version"),
        (b"\x01\x04\x02\x00{}\x00\x00\x00", "unknown flags"),
        (b"\x01\x00\x02", "too short"),
        (b"\x01\x00\x09\x00{}\x00\x00\x00", "text length"),
        (b"\x01\x00\x02\x00{}\x00", "too short"),
        (b"\x01\x00\x02\x00{}\x00\x01\x00", "root"),
        (b"\x01\x00\x02\x00[]\x00\x00\x00", "root"),
        (b"\x01\x01\x02\x00\x00\x00{}\x00\x00\x00", "too short"),
    ];
    for (bytes, what) in cases {
        assert_eq!(Stored::open(bytes).err(), Some(Corrupt { what }), "{bytes:02X?}");
    }
}

/// Reads everything there is to read.
fn walk(node: Node<'_>) -> usize {
    let _ = (
        node.raw(),
        node.as_str(),
        node.as_i64(),
        node.as_f64(),
        node.as_bool(),
        node.len(),
        node.to_value(),
    );
    let _ = (node.get("a"), node.get("id"), node.element(0), node.element(usize::MAX));
    1 + node.members().map(|(_, child)| walk(child)).sum::<usize>() + node.elements().map(walk).sum::<usize>()
}

fn nested(levels: usize, inside: Value) -> Object {
    (0..levels).fold(Object::from([("a", inside)]), |inside, _| Object::from([("a", inside)]))
}

/// Types that BSON deprecated came after the first items were stored: a bit of the tag tells them.
#[test]
fn deprecated_types() {
    let values: [Value; 5] = [
        Legacy::Undefined.into(),
        Legacy::Code("c".into()).into(),
        Legacy::CodeWithScope { code: "c".into(), scope: nested(2, Value::Int32(1)) }.into(),
        Legacy::Symbol("s".into()).into(),
        Legacy::DbPointer { namespace: "d.c".into(), id: [9; 12] }.into(),
    ];
    for value in values {
        let root = Value::Object(Object::from([
            ("n\n", value.clone()),
            ("list", Value::Array(vec![value.clone(), Value::Null])),
        ]));
        let bytes = encode_value(&root, &[]).unwrap();
        let stored = Stored::open(&bytes).unwrap();
        assert_eq!(stored.verify(), Ok(()), "{value:?}");
        assert_eq!(stored.root().to_value(), root);
        let node = stored.root().get("n\n").unwrap();
        assert_eq!((node.kind(), node.len(), node.get("$code").is_none()), (Kind::Legacy, 0, true));
        assert_eq!(stored.text(), json::to_string(&root));
    }
    let bytes = encode_value(&Value::Object(Object::from([("u", Legacy::Undefined)])), &[]).unwrap();
    let skeleton = &bytes[bytes.len() - 8..];
    assert_eq!((bytes[1], skeleton[2]), (2, 0x40), "{skeleton:02X?}");
    // Without the flag an older program would read it as something else.
    let mut unmarked = bytes.clone();
    unmarked[1] = 0;
    assert!(Stored::open(&unmarked).unwrap().verify().is_err());
}

/// An object in a scope that is spelled as a wrapper is one when it is read again; others stay what they were, and the
/// text is the same in any case.
#[test]
fn scopes_hold_any_object() {
    let texts = [
        r#"{"$oid":"ABABABABABABABABABABABAB"}"#,
        r#"{"$numberLong":"5"}"#,
        r#"{"$numberInt":"5"}"#,
        r#"{"$date":{"$numberLong":"5"}}"#,
        r#"{"$minKey":{"$numberLong":"1"}}"#,
        r#"{"$scope":{},"$code":"x"}"#,
        r#"{"$code":1,"$scope":{"a":{"$code":1,"$scope":{}}}}"#,
        r#"{"$code":"x","$scope":{"a":{"$oid":"ABABABABABABABABABABABAB"}}}"#,
    ];
    for text in texts {
        let scope = Object::from([("a", json::parse(text.as_bytes()).unwrap())]);
        let root = Value::Object(Object::from([("c", Legacy::CodeWithScope { code: String::new(), scope })]));
        let bytes = encode_value(&root, &[]).unwrap();
        let stored = Stored::open(&bytes).unwrap();
        assert_eq!(stored.verify(), Ok(()), "{text}");
        assert_eq!(json::to_string(&stored.root().to_value()), stored.text(), "{text}");
    }
    // As deep as can be, each level a wrapper that turns out to be none.
    let mut scope = Object::from([("$scope", Object::new())]);
    for _ in 0..DEPTH_MAX - 8 {
        scope = Object::from([("$scope", Value::Object(scope)), ("$code", Value::from(""))]);
    }
    let root = Value::Object(Object::from([("c", Legacy::CodeWithScope { code: String::new(), scope })]));
    let bytes = encode_value(&root, &[]).unwrap();
    assert_eq!(Stored::open(&bytes).unwrap().root().to_value(), root);
}

#[test]
fn scopes_are_bounded_in_depth() {
    for inside in
        [Value::Null, Value::Date(0), Legacy::DbPointer { namespace: "n".into(), id: [0; 12] }.into()]
    {
        let mut refused = 0;
        for levels in DEPTH_MAX - 12..DEPTH_MAX + 2 {
            let code = Legacy::CodeWithScope { code: String::new(), scope: nested(levels, inside.clone()) };
            let root = Value::Object(Object::from([("c", code)]));
            match encode_value(&root, &[]) {
                Ok(bytes) => assert_eq!(Stored::open(&bytes).unwrap().root().to_value(), root, "{levels}"),
                Err(error) => {
                    assert_eq!(error, EncodeError::TooDeep);
                    refused += 1;
                }
            }
        }
        assert!((2..10).contains(&refused), "{refused}");
    }
}

proptest! {
    #[test]
    fn values_round_trip(value in item()) {
        let bytes = encode_value(&value, &[]).unwrap();
        let stored = Stored::open(&bytes).unwrap();
        prop_assert_eq!(stored.verify(), Ok(()));
        prop_assert_eq!(stored.root().to_value(), value.clone());
        prop_assert_eq!(stored.text(), json::to_string(&value));
        for (name, member) in value.as_object().unwrap().iter() {
            prop_assert_eq!(&stored.root().get(name).unwrap().to_value(), member);
        }
    }

    /// Text and value give the same bytes, white space or not, but for integers that only BSON has.
    #[test]
    fn texts_round_trip(value in json_value(), space in "[ \t\r\n]{0,2}") {
        let value = Value::Object(Object::from([("x", value)]));
        let text = json::to_string(&value);
        let plain = json::parse(text.as_bytes()).unwrap();
        let bytes = encode(text.as_bytes(), &[]).unwrap();
        prop_assert_eq!(&bytes, &encode_value(&plain, &[]).unwrap());
        let stored = Stored::open(&bytes).unwrap();
        prop_assert_eq!(stored.verify(), Ok(()));
        let spaced = format!("{space}{{{space}\"x\"{space}:{space}{}{space}}}{space}", &text[5..text.len() - 1]);
        prop_assert_eq!(encode(spaced.as_bytes(), &[]).unwrap(), bytes);
    }

    #[test]
    fn encoding_agrees_with_parsing(text in r#"\{("[ab]":([12]|"[ab]"|\[1?\]|\{\}|x)[,}]){0,4}"#, drop: bool) {
        let names: &[&str] = if drop { &["a"] } else { &[] };
        match (encode(text.as_bytes(), names), json::parse(text.as_bytes())) {
            (Ok(bytes), Ok(mut value)) => {
                if drop {
                    value.as_object_mut().unwrap().remove("a");
                }
                prop_assert_eq!(Stored::open(&bytes).unwrap().verify(), Ok(()));
                prop_assert_eq!(Stored::open(&bytes).unwrap().text(), json::to_string(&value));
            }
            (Err(EncodeError::Json(ours)), Err(theirs)) => prop_assert_eq!(ours, theirs),
            (ours, theirs) => prop_assert!(false, "{:?} {:?}", ours, theirs),
        }
    }

    #[test]
    fn corrupt_bytes_are_read_without_panic(
        value in item(),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut: prop::sample::Index,
    ) {
        let mut bytes = encode_value(&value, &[]).unwrap();
        for (place, flip) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= flip;
        }
        for bytes in [&bytes[..], &bytes[..cut.index(bytes.len())]] {
            if let Ok(stored) = Stored::open(bytes) {
                let _ = (stored.text(), stored.verify());
                // Siblings never overlap, so the walk cannot be longer than the text.
                prop_assert!(walk(stored.root()) <= stored.text_bytes().len());
            }
        }
    }

    /// Whatever passes the full check reads as its text says, as far as JSON can tell.
    #[test]
    fn verified_bytes_are_right(value in item(), place: prop::sample::Index, flip in 1u8..) {
        let mut bytes = encode_value(&value, &[]).unwrap();
        let place = place.index(bytes.len());
        bytes[place] ^= flip;
        if let Ok(stored) = Stored::open(&bytes) && stored.verify().is_ok() {
            let text = stored.text();
            prop_assert_eq!(json::to_string(&json::parse(text.as_bytes()).unwrap()), json::to_string(&json::parse(json::to_string(&stored.root().to_value()).as_bytes()).unwrap()));
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
        for version in [0u8, 1] {
            let bytes = [&[1, version], &bytes[..]].concat();
            if let Ok(stored) = Stored::open(&bytes) {
                walk(stored.root());
            }
        }
    }
}
