//! Tests of ids: the spelling of each type, equal values, and the way back.

use armilla_value::mongo_cmp;
use proptest::prelude::*;

use super::*;
use crate::testing::{any_object, object, scalar};

/// Returns the value of a member `v` in Extended JSON.
#[track_caller]
fn value(text: &str) -> Value {
    object(&format!(r#"{{"v":{text}}}"#)).remove("v").unwrap()
}

#[test]
fn every_type_has_its_spelling() {
    for (text, expected) in [
        (r#"{"$oid":"56e1fc72e0c917e9c4714161"}"#, "56e1fc72e0c917e9c4714161"),
        (r#""plain""#, "plain"),
        (r#""with space.and:more, é""#, "with space.and:more, é"),
        (r#""56e1fc72e0c917e9c4714161""#, "~sNTZlMWZjNzJlMGM5MTdlOWM0NzE0MTYx"),
        (r#""56E1FC72E0C917E9C4714161""#, "~sNTZFMUZDNzJFMEM5MTdFOUM0NzE0MTYx"),
        (r#""56e1fc72e0c917e9c471416g""#, "56e1fc72e0c917e9c471416g"),
        (r#""~n1""#, "~sfm4x"),
        (r#""a/b""#, "~sYS9i"),
        (r#""a\\b""#, "~sYVxi"),
        (r#""?""#, "~sPw"),
        (r##""#""##, "~sIw"),
        (r#""""#, "~s"),
        (r#"{"$symbol":"plain"}"#, "plain"),
        ("null", "~0"),
        ("true", "~b1"),
        ("false", "~b0"),
        (r#"{"$numberInt":"1"}"#, "~n1"),
        ("1", "~n1"),
        ("1.0", "~n1"),
        ("-0.0", "~n0"),
        (r#"{"$numberDecimal":"1.00"}"#, "~n1"),
        (r#"{"$numberDecimal":"-0E+10"}"#, "~n0"),
        (r#"{"$numberDecimal":"1E+2"}"#, "~n100"),
        ("9007199254740993", "~n9007199254740993"),
        (r#"{"$numberDecimal":"9007199254740993"}"#, "~n9007199254740993"),
        ("9007199254740992.0", "~n9007199254740992"),
        ("-9223372036854775808", "~n-9223372036854775808"),
        ("9223372036854775808.0", "~n9.223372036854776e18"),
        (r#"{"$numberDecimal":"9223372036854775808"}"#, "~n9.223372036854776e18"),
        ("0.5", "~n0.5"),
        (r#"{"$numberDecimal":"0.50"}"#, "~n0.5"),
        ("0.1", "~n0.1"),
        ("1e300", "~n1e300"),
        (r#"{"$numberDouble":"NaN"}"#, "~nNaN"),
        (r#"{"$numberDecimal":"NaN"}"#, "~nNaN"),
        (r#"{"$numberDouble":"-Infinity"}"#, "~n-Infinity"),
        (r#"{"$numberDecimal":"Infinity"}"#, "~nInfinity"),
        (r#"{"$date":{"$numberLong":"-5"}}"#, "~d-5"),
        (r#"{"$binary":{"base64":"//8=","subType":"04"}}"#, "~x04-__8"),
        (r#"{"$timestamp":{"t":1,"i":2}}"#, "~t1-2"),
        (r#"{"$minKey":1}"#, "~kmin"),
        (r#"{"$maxKey":1}"#, "~kmax"),
        (r#"{"$code":"x"}"#, "~vDQAAAA0AAgAAAHgAAA"),
        ("{}", "~oBQAAAAA"),
        (r#"{"a":1}"#, "~oEAAAABJhAAEAAAAAAAAAAA"),
        (r#"{"a":1.0}"#, "~oEAAAABJhAAEAAAAAAAAAAA"),
    ] {
        let id = item_id(&value(text)).unwrap();
        assert_eq!(id, expected, "{text}");
        assert!(mongo_cmp(&value_of(&id).unwrap(), &value(text)).is_eq(), "{text}");
    }
}

#[test]
fn a_decimal_that_is_no_double_keeps_its_digits() {
    let tenth = value(r#"{"$numberDecimal":"0.1"}"#);
    let same = value(r#"{"$numberDecimal":"0.1000"}"#);
    assert_eq!(item_id(&tenth), item_id(&same));
    let id = item_id(&tenth).unwrap();
    assert!(id.starts_with("~n") && id.ends_with('m'), "{id}");
    assert_ne!(id, item_id(&value("0.1")).unwrap());
    assert!(mongo_cmp(&value_of(&id).unwrap(), &tenth).is_eq());
}

#[test]
fn a_container_of_another_api_has_strings_that_look_like_object_ids() {
    let object_id = value(r#"{"$oid":"56e1fc72e0c917e9c4714161"}"#);
    let text = value(r#""56e1fc72e0c917e9c4714161""#);
    assert_eq!(item_id_in(Origin::Rest, &object_id).unwrap(), "~i56e1fc72e0c917e9c4714161");
    assert_eq!(item_id_in(Origin::Rest, &text).unwrap(), "56e1fc72e0c917e9c4714161");
    assert_eq!(value_in(Origin::Rest, "~i56e1fc72e0c917e9c4714161"), Some(object_id));
    assert_eq!(value_in(Origin::Rest, "56e1fc72e0c917e9c4714161"), Some(text));
    assert_eq!(value_of("~i56e1fc72e0c917e9c4714161"), None);
}

#[test]
fn three_types_are_refused() {
    for (text, name) in [
        ("[1]", "array"),
        (r#"{"$regularExpression":{"pattern":"a","options":""}}"#, "regex"),
        (r#"{"$undefined":true}"#, "undefined"),
    ] {
        let error = item_id(&value(text)).unwrap_err();
        assert_eq!((error.kind, error.code), (WireErrorKind::InvalidId, 53));
        assert_eq!(error.message, format!("The '_id' value cannot be of type {name}"));
        assert_eq!(error.code_name(), "InvalidIdField");
        assert!(candidates(&value(text)).is_err());
    }
    // Inside of a document they may be.
    assert!(item_id(&value(r#"{"a":[1]}"#)).is_ok());
}

#[test]
fn what_is_too_long_is_hashed() {
    let longest = "x".repeat(ITEM_ID_BYTES_MAX);
    assert_eq!(item_id(&Value::from(longest.as_str())).unwrap(), longest);
    let beyond = item_id(&Value::from(format!("{longest}x"))).unwrap();
    assert!(beyond.starts_with("~h") && beyond.len() == 66);
    assert_eq!(value_of(&beyond), None);
    assert_ne!(beyond, item_id(&Value::from(format!("{longest}y"))).unwrap());
    // Base64 makes four of three bytes: 765 bytes and the two in front are still within the bound.
    let spelled = |count: usize| item_id(&Value::from("/".repeat(count))).unwrap();
    assert!(spelled(765).starts_with("~s") && spelled(765).len() == 1022);
    assert!(spelled(766).starts_with("~h"));
    let bytes = |count: usize| item_id(&Value::Binary { subtype: 0, bytes: vec![1; count] }).unwrap();
    assert!(bytes(763).starts_with("~x00-") && bytes(764).starts_with("~h"));

    let document = |text_bytes: usize| Object::from([("a", "t".repeat(text_bytes))]);
    let at = ITEM_ID_DOCUMENT_BYTES_MAX - crate::bson::encoded_bytes(&document(0));
    assert!(item_id(&document(at).into()).unwrap().starts_with("~o"));
    let hashed = item_id(&document(at + 1).into()).unwrap();
    assert!(hashed.starts_with("~h"));
    // Numbers of all types are one in a hash too.
    let numbers =
        |number: Value| Object::from([("a", Value::from("t".repeat(at + 1))), ("n", number)]).into();
    assert_eq!(item_id(&numbers(Value::Int32(5))), item_id(&numbers(Value::Double(5.0))));
}

#[test]
fn a_string_may_be_the_id_of_an_item_of_a_rest_client() {
    let of = |text: &str| candidates(&Value::from(text)).unwrap();
    assert_eq!(of("a"), ["a"]);
    assert_eq!(of("a/b"), ["~sYS9i", "a/b"]);
    assert_eq!(of("~n1"), ["~sfm4x", "~n1"]);
    assert_eq!(of(""), ["~s"]);
    assert_eq!(of(&"x".repeat(ITEM_ID_BYTES_MAX + 1)).len(), 1);
    assert_eq!(candidates(&Value::Int32(1)).unwrap(), ["~n1"]);
}

#[test]
fn only_what_is_written_is_read() {
    for id in [
        "~",
        "~b",
        "~b2",
        "~00",
        "~n",
        "~n+1",
        "~n01",
        "~n1.0",
        "~n1e0",
        "~ninf",
        "~nnan",
        "~n1m",
        "~n0.5m",
        "~d",
        "~d+1",
        "~dx",
        "~t1",
        "~t01-2",
        "~x4-",
        "~x04",
        "~xFF-",
        "~sYQ",
        "~s!",
        "~o",
        "~oBQAAAA",
        "~v",
        "~kmid",
        "~h00",
        "~z",
        "~é",
        "~i56e1fc72e0c917e9c4714161",
    ] {
        assert_eq!(value_of(id), None, "{id}");
    }
    // A REST client's id may be anything; read as a string it is itself.
    assert_eq!(value_of("a/b"), None);
    assert_eq!(value_of("56E1FC72E0C917E9C4714161"), None);
}

proptest! {
    #[test]
    fn equal_values_and_only_they_share_an_id(
        left in prop_oneof![scalar(), any_object().prop_map(Value::Object), numbers()],
        right in prop_oneof![scalar(), any_object().prop_map(Value::Object), numbers()],
    ) {
        if let (Ok(a), Ok(b)) = (item_id(&left), item_id(&right)) {
            prop_assert_eq!(a == b, mongo_cmp(&left, &right).is_eq());
            prop_assert!(is_legal(&a));
            if !a.starts_with("~h") {
                prop_assert!(mongo_cmp(&value_of(&a).unwrap(), &left).is_eq());
            }
        }
    }

    #[test]
    fn random_ids_do_no_harm(id in "~?[a-z0]?.{0,30}") {
        for origin in [Origin::Mongo, Origin::Rest] {
            if let Some(value) = value_in(origin, &id) {
                prop_assert_eq!(item_id_in(origin, &value).unwrap(), id.clone());
            }
        }
    }
}

/// Numbers that are often equal across types.
fn numbers() -> impl Strategy<Value = Value> {
    (-20i64..20, 0usize..6).prop_map(|(number, form)| match form {
        0 => Value::Int32(number as i32),
        1 => Value::Int64(number),
        2 => Value::Double(number as f64),
        3 => Value::Double(number as f64 / 2.0),
        4 => Value::Decimal128(format!("{number}.50").parse::<armilla_value::Decimal>().unwrap().to_bytes()),
        _ => Value::Decimal128(format!("{number}E1").parse::<armilla_value::Decimal>().unwrap().to_bytes()),
    })
}
